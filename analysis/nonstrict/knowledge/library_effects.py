"""What calls of torch (besides its operators), NumPy and popular logging libraries do besides computing a value.

Sources: the PyTorch 2.13 documentation (reproducibility notes, torch.random, torch.backends, torch.cuda, torch.utils)
and the measurements of the project's test cases on torch 2.13.0 for what its guards watch; the NumPy 2 reference
(numpy.random, input and output); the API references of tqdm, rich, wandb, mlflow, TensorBoard, absl, loguru, requests.

Entries are those of `nonstrict.knowledge.stdlib_effects`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nonstrict.knowledge.stdlib_effects import Entries

TORCH_CALLS: Entries = (
    ("torch-state", "seeds torch's random generator", "torch", "manual_seed seed random.manual_seed random.seed"),
    ("torch-state", "seeds torch's random generator", "torch.cuda", "manual_seed manual_seed_all seed seed_all"),
    ("torch-state", "seeds torch's random generator", "torch", "mps.manual_seed mps.seed xpu.manual_seed xpu.seed"),
    ("torch-state", "seeds torch's random generator", "torch", "xpu.manual_seed_all xpu.seed_all mtia.manual_seed"),
    ("torch-state", "sets torch's random state", "torch", "set_rng_state random.set_rng_state cuda.set_rng_state"),
    ("torch-state", "sets torch's random state", "torch", "cuda.set_rng_state_all mps.set_rng_state xpu.set_rng_state"),
    ("torch-state", "sets torch's random state", "torch.random", "fork_rng"),
    ("torch-state", "changes torch's default dtype", "torch", "set_default_dtype set_default_tensor_type"),
    ("torch-state", "changes torch's default device", "torch", "set_default_device"),
    ("torch-state", "changes torch's number of threads", "torch", "set_num_threads set_num_interop_threads"),
    ("torch-state", "changes torch's deterministic mode", "torch", "use_deterministic_algorithms"),
    ("torch-state", "changes torch's deterministic mode", "torch", "set_deterministic_debug_mode"),
    ("torch-state", "changes torch's matmul precision", "torch", "set_float32_matmul_precision"),
    ("torch-state", "changes torch's denormal mode", "torch", "set_flush_denormal"),
    ("torch-state", "changes torch's warning mode", "torch", "set_warn_always"),
    ("torch-state", "changes torch's print options", "torch", "set_printoptions"),
    ("torch-state", "enters inference mode", "torch", "inference_mode autograd.inference_mode"),
    ("torch-state", "enters inference mode", "torch.autograd.grad_mode", "inference_mode"),
    ("torch-state", "changes autograd's anomaly mode", "torch.autograd", "set_detect_anomaly"),
    ("torch-state", "changes autograd's anomaly mode", "torch.autograd.anomaly_mode", "set_detect_anomaly"),
    (
        "torch-state",
        "changes autocast's state",
        "torch",
        "set_autocast_enabled set_autocast_dtype set_autocast_gpu_dtype",
    ),
    ("torch-state", "changes autocast's state", "torch", "set_autocast_cpu_dtype set_autocast_cache_enabled"),
    ("torch-state", "changes autocast's state", "torch", "set_autocast_cpu_enabled clear_autocast_cache"),
    ("torch-state", "changes the current device", "torch.cuda", "set_device set_stream set_sync_debug_mode init"),
    ("torch-state", "changes the current device", "torch.accelerator", "set_device_index set_stream"),
    ("torch-state", "changes CUDA's memory", "torch.cuda", "empty_cache set_per_process_memory_fraction ipc_collect"),
    ("torch-state", "changes CUDA's memory", "torch.cuda", "reset_peak_memory_stats reset_accumulated_memory_stats"),
    ("torch-state", "changes CUDA's memory", "torch.cuda", "memory.empty_cache memory.reset_peak_memory_stats"),
    ("torch-state", "changes a backend's settings", "torch.backends", "cuda.enable_flash_sdp cuda.enable_math_sdp"),
    ("torch-state", "changes a backend's settings", "torch.backends", "cuda.enable_mem_efficient_sdp"),
    ("torch-state", "changes a backend's settings", "torch.backends", "cuda.enable_cudnn_sdp cudnn.set_flags"),
    ("torch-state", "changes a backend's settings", "torch.backends", "cuda.preferred_linalg_library"),
    ("torch-state", "changes a backend's settings", "torch.backends", "cuda.preferred_blas_library mkldnn.set_flags"),
    ("torch-state", "changes torch's compiler", "torch", "compiler.set_stance compiler.reset _dynamo.reset"),
    ("torch-state", "changes torch's compiler", "torch._logging", "set_logs"),
    ("torch-state", "changes torch's process groups", "torch.distributed", "init_process_group destroy_process_group"),
    ("torch-state", "changes torch's process groups", "torch.distributed", "new_group init_device_mesh"),
    (
        "torch-state",
        "changes multiprocessing's settings",
        "torch.multiprocessing",
        "set_start_method set_sharing_strategy",
    ),
    ("torch-guarded", "switches gradient mode", "torch", "no_grad enable_grad set_grad_enabled"),
    ("torch-guarded", "switches gradient mode", "torch.autograd", "no_grad enable_grad set_grad_enabled"),
    ("torch-guarded", "switches gradient mode", "torch.autograd.grad_mode", "no_grad enable_grad set_grad_enabled"),
    ("torch-guarded", "enters autocast", "torch", "autocast amp.autocast cuda.amp.autocast cpu.amp.autocast"),
    ("torch-guarded", "enters autocast", "torch.amp.autocast_mode", "autocast"),
    ("torch-guarded", "reads guarded torch state", "torch", "is_grad_enabled get_default_dtype is_autocast_enabled"),
    (
        "torch-guarded",
        "reads guarded torch state",
        "torch",
        "get_autocast_dtype get_autocast_gpu_dtype get_num_threads",
    ),
    ("torch-guarded", "reads guarded torch state", "torch", "get_float32_matmul_precision is_autocast_cpu_enabled"),
    ("torch-guarded", "reads guarded torch state", "torch", "are_deterministic_algorithms_enabled"),
    ("torch-guarded", "reads guarded torch state", "torch", "is_deterministic_algorithms_warn_only_enabled"),
    ("torch-query", "asks whether inference mode is on", "torch", "is_inference_mode_enabled"),
    (
        "torch-query",
        "asks whether code is being compiled",
        "torch.compiler",
        "is_compiling is_dynamo_compiling is_exporting",
    ),
    ("torch-query", "asks whether code is being compiled", "torch", "_dynamo.is_compiling _utils.is_compiling"),
    ("torch-query", "asks whether code is being compiled", "torch._dynamo.external_utils", "is_compiling"),
    ("torch-query", "reads torch's random state", "torch", "get_rng_state random.get_rng_state cuda.get_rng_state"),
    ("torch-query", "reads torch's random state", "torch", "initial_seed random.initial_seed cuda.initial_seed"),
    ("torch-guarded", "waits for the device", "torch", "cuda.synchronize accelerator.synchronize mps.synchronize"),
    ("torch-guarded", "waits for the device", "torch", "xpu.synchronize cpu.synchronize mtia.synchronize"),
    ("torch-query", "reads the device's memory", "torch.cuda", "memory_allocated max_memory_allocated memory_reserved"),
    ("torch-query", "reads the device's memory", "torch.cuda", "max_memory_reserved memory_stats memory_summary"),
    ("torch-query", "reads the device's memory", "torch.cuda", "memory_snapshot mem_get_info memory_usage utilization"),
    ("torch-query", "reads the device's memory", "torch.cuda", "temperature power_draw clock_rate memory_cached"),
    (
        "torch-query",
        "reads the device's memory",
        "torch.cuda.memory",
        "memory_allocated max_memory_allocated mem_get_info",
    ),
    ("torch-query", "reads the device's memory", "torch.accelerator", "memory_allocated memory_stats memory_reserved"),
    ("io", "writes to a file", "torch", "save serialization.save jit.save export.save onnx.export"),
    ("io", "reads a file", "torch", "load serialization.load jit.load export.load from_file"),
    ("io", "downloads from the network", "torch.hub", "load load_state_dict_from_url download_url_to_file list help"),
    ("stdout", "writes to standard output", "torch.distributed", "breakpoint"),
    ("native", "builds and loads native code", "torch.utils.cpp_extension", "load load_inline"),
    ("native", "loads native code", "torch", "ops.load_library classes.load_library"),
    ("pointer", "hands out the tensor's memory", "torch", "to_dlpack utils.dlpack.to_dlpack"),
    ("hook", "registers a hook for all modules", "torch.nn.modules.module", "register_module_forward_hook"),
    ("hook", "registers a hook for all modules", "torch.nn.modules.module", "register_module_forward_pre_hook"),
    ("hook", "registers a hook for all modules", "torch.nn.modules.module", "register_module_full_backward_hook"),
    ("hook", "registers a hook for all modules", "torch.nn.modules.module", "register_module_backward_hook"),
    ("hook", "registers hooks for saved tensors", "torch.autograd.graph", "saved_tensors_hooks"),
    ("process", "starts processes", "torch.multiprocessing", "spawn start_processes Process Pool"),
)

TORCH_METHODS: Entries = (
    ("pointer", "reads a pointer", "torch.Tensor", "data_ptr __dlpack__ __cuda_array_interface__"),
    ("pointer", "reads a pointer", "torch.UntypedStorage", "data_ptr"),
    ("pointer", "reads a pointer", "torch.TypedStorage", "data_ptr"),
    ("pointer", "resizes the tensor's storage", "torch.UntypedStorage", "resize_"),
    ("pointer", "resizes the tensor's storage", "torch.TypedStorage", "resize_"),
    ("hook", "registers a hook on a tensor", "torch.Tensor", "register_hook register_post_accumulate_grad_hook"),
    ("hook", "registers a hook on a module", "torch.nn.Module", "register_forward_hook register_forward_pre_hook"),
    ("hook", "registers a hook on a module", "torch.nn.Module", "register_full_backward_hook register_backward_hook"),
    ("hook", "registers a hook on a module", "torch.nn.Module", "register_full_backward_pre_hook"),
    ("hook", "registers a hook on a module", "torch.nn.Module", "register_state_dict_pre_hook"),
    ("hook", "registers a hook on a module", "torch.nn.Module", "register_load_state_dict_post_hook"),
    ("escape", "formats the tensor's value", "torch.Tensor", "__format__ __repr__ __str__"),
    ("escape", "copies the tensor's data through Python", "torch.Tensor", "__deepcopy__ __reduce_ex__ __array__"),
    ("torch-state", "seeds a torch generator", "torch.Generator", "manual_seed seed set_state set_offset"),
    ("torch-query", "reads the state of a torch generator", "torch.Generator", "get_state initial_seed get_offset"),
    ("torch-query", "asks how far the device is", "torch.cuda.Event", "query elapsed_time"),
    ("torch-query", "asks how far the device is", "torch.cuda.Stream", "query"),
    ("torch-guarded", "waits for the device", "torch.cuda.Event", "synchronize record wait"),
    ("torch-guarded", "waits for the device", "torch.cuda.Stream", "synchronize wait_stream wait_event"),
    ("io", "writes a TensorBoard event", "torch.utils.tensorboard.SummaryWriter", "add_scalar add_scalars add_tensor"),
    ("io", "writes a TensorBoard event", "torch.utils.tensorboard.SummaryWriter", "add_histogram add_histogram_raw"),
    ("io", "writes a TensorBoard event", "torch.utils.tensorboard.SummaryWriter", "add_image add_images add_video"),
    ("io", "writes a TensorBoard event", "torch.utils.tensorboard.SummaryWriter", "add_figure add_audio add_text"),
    ("io", "writes a TensorBoard event", "torch.utils.tensorboard.SummaryWriter", "add_graph add_embedding add_mesh"),
    ("io", "writes a TensorBoard event", "torch.utils.tensorboard.SummaryWriter", "add_pr_curve add_hparams flush"),
    ("io", "writes a TensorBoard event", "torch.utils.tensorboard.SummaryWriter", "close add_image_with_boxes"),
)

_NUMPY_DRAWS = (
    "beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric integers "
    "laplace logistic lognormal logseries multinomial multivariate_hypergeometric multivariate_normal "
    "negative_binomial "
    "noncentral_chisquare noncentral_f normal pareto permutation permuted poisson power rand randint randn random "
    "random_integers random_sample ranf rayleigh sample shuffle standard_cauchy standard_exponential standard_gamma "
    "standard_normal standard_t triangular uniform vonmises wald weibull zipf tomaxint"
)

NUMPY_CALLS: Entries = (
    ("random", "draws a random number with NumPy", "numpy.random", _NUMPY_DRAWS + " get_state"),
    ("seed", "seeds NumPy's random generator", "numpy.random", "seed set_state set_bit_generator"),
    (
        "escape",
        "reads the tensor's data into NumPy",
        "numpy",
        "array asarray asanyarray ascontiguousarray asfortranarray",
    ),
    (
        "escape",
        "reads the tensor's data into NumPy",
        "numpy",
        "copy asarray_chkfinite matrix asmatrix frombuffer fromiter",
    ),
    (
        "escape",
        "reads the tensor's value",
        "numpy",
        "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 bool_",
    ),
    (
        "escape",
        "reads the tensor's value",
        "numpy",
        "uint32 uint64 complex64 complex128 float_ int_ isscalar array2string",
    ),
    ("io", "writes to a file", "numpy", "save savez savez_compressed savetxt"),
    ("io", "reads a file", "numpy", "load loadtxt genfromtxt fromfile memmap lib.format.open_memmap"),
    ("environ-write", "changes NumPy's settings", "numpy", "seterr seterrcall setbufsize set_printoptions"),
)

NUMPY_METHODS: Entries = (
    ("random", "draws a random number with NumPy", "numpy.random.Generator", _NUMPY_DRAWS + " spawn"),
    ("random", "draws a random number with NumPy", "numpy.random.RandomState", _NUMPY_DRAWS + " get_state"),
    ("seed", "seeds NumPy's random generator", "numpy.random.RandomState", "seed set_state"),
    ("io", "writes to a file", "numpy.ndarray", "tofile dump"),
    ("pointer", "reads a pointer", "numpy.ndarray", "ctypes.data_as __array_interface__"),
)

_WRITER = "torch.utils.tensorboard.SummaryWriter"
_LEVELS = "trace debug info success warning warn error critical exception fatal log"

LIBRARY_CALLS: Entries = (
    (
        "progress",
        "shows a progress bar",
        "tqdm",
        "tqdm trange auto.tqdm auto.trange notebook.tqdm std.tqdm rich.tqdm write",
    ),
    ("progress", "shows a progress bar", "tqdm.tqdm", "write"),
    ("stdout", "writes to standard output", "rich", "print inspect print_json"),
    ("progress", "shows a progress bar", "rich.progress", "track Progress"),
    ("stdout", "writes to standard output", "rich.pretty", "pprint"),
    ("stdout", "writes to standard output", "click", "echo secho echo_via_pager prompt confirm progressbar"),
    ("stdout", "writes to standard output", "typer", "echo secho prompt confirm"),
    ("stdout", "writes to standard output", "termcolor", "cprint"),
    ("stdout", "writes to standard output", "icecream", "ic"),
    (
        "io",
        "logs to Weights & Biases",
        "wandb",
        "log init finish save watch alert log_artifact summary.update",
    ),
    (
        "io",
        "logs to MLflow",
        "mlflow",
        "log_metric log_metrics log_param log_params log_artifact log_artifacts log_dict",
    ),
    ("io", "logs to MLflow", "mlflow", "log_figure log_image log_text log_table start_run end_run set_tag set_tags"),
    ("io", "logs to MLflow", "mlflow", "set_experiment set_tracking_uri pytorch.log_model autolog"),
    ("io", "logs to Comet", "comet_ml", "log_metric log_metrics Experiment start"),
    ("io", "logs to Neptune", "neptune", "init init_run log_metric"),
    ("io", "logs to ClearML", "clearml", "Task.init Logger.current_logger"),
    (
        "log",
        "writes a log record",
        "absl.logging",
        "debug info warning warn error fatal exception log vlog log_first_n",
    ),
    ("log", "writes a log record", "absl.logging", "log_every_n log_every_n_seconds log_if"),
    ("io", "configures logging", "absl.logging", "set_verbosity set_stderrthreshold use_absl_handler"),
    ("log", "writes a log record", "loguru.logger", _LEVELS),
    ("io", "configures logging", "loguru.logger", "add remove configure enable disable complete level"),
    ("io", "sends a request over the network", "requests", "get post put patch delete head options request Session"),
    ("io", "sends a request over the network", "httpx", "get post put patch delete head options request stream Client"),
    ("io", "sends a request over the network", "urllib3", "request PoolManager"),
    ("io", "downloads from the network", "huggingface_hub", "hf_hub_download snapshot_download login upload_file"),
    ("io", "opens a file", "h5py", "File"),
    ("io", "opens a file", "safetensors", "safe_open"),
    ("io", "reads a file", "safetensors.torch", "load_file load_model"),
    ("io", "writes to a file", "safetensors.torch", "save_file save_model"),
    ("io", "writes to a file", "joblib", "dump"),
    ("io", "reads a file", "joblib", "load"),
    ("io", "reads a file", "yaml", "load safe_load load_all safe_load_all"),
    ("io", "reads a file", "pandas", "read_csv read_parquet read_json read_excel read_pickle read_table read_sql"),
    ("io", "reads a file", "PIL.Image", "open"),
    ("io", "reads a file", "cv2", "imread VideoCapture imdecode"),
    ("io", "writes to a file", "cv2", "imwrite VideoWriter imshow"),
    ("io", "reads a file", "torchvision.io", "read_image read_video read_file decode_image"),
    ("io", "writes to a file", "torchvision.utils", "save_image"),
    ("io", "reads a file", "torchaudio", "load info"),
    ("io", "writes to a file", "torchaudio", "save"),
    ("io", "draws or saves a figure", "matplotlib.pyplot", "plot show savefig figure imshow imsave hist scatter bar"),
    ("io", "draws or saves a figure", "matplotlib.pyplot", "subplots title xlabel ylabel close draw pause legend"),
    ("identity", "reads the state of the machine", "psutil", "cpu_percent virtual_memory Process pids net_io_counters"),
)

LIBRARY_METHODS: Entries = (
    ("stdout", "writes to standard output", "rich.console.Console", "print log print_json rule status input out"),
    ("progress", "shows a progress bar", "rich.progress.Progress", "update advance add_task start stop"),
    (
        "progress",
        "shows a progress bar",
        "tqdm.tqdm",
        "update set_description set_postfix set_postfix_str refresh close write",
    ),
    ("progress", "shows a progress bar", "tqdm.tqdm", "set_description_str reset display clear"),
    ("log", "writes a log record", "loguru.logger", _LEVELS),
    ("log", "writes a log record", "loguru.Logger", _LEVELS),
    ("log", "writes a log record", "structlog.BoundLogger", _LEVELS),
    ("io", "logs to Weights & Biases", "wandb.Run", "log finish save log_artifact alert"),
    ("io", "logs to Weights & Biases", "wandb.sdk.wandb_run.Run", "log finish save log_artifact alert"),
    ("io", "logs to MLflow", "mlflow.MlflowClient", "log_metric log_param log_artifact set_tag log_batch"),
    (
        "io",
        "sends a request over the network",
        "requests.Session",
        "get post put patch delete head options request send",
    ),
    ("io", "sends a request over the network", "httpx.Client", "get post put patch delete head options request send"),
)

SAME_LIBRARY_METHODS: dict[str, tuple[str, ...]] = {
    "tensorboardX.SummaryWriter": (_WRITER,),
    "torch.utils.tensorboard.writer.SummaryWriter": (_WRITER,),
    "torch.nn.Parameter": ("torch.Tensor",),
    "torch.nn.parameter.Parameter": ("torch.Tensor",),
    "torch.nn.Buffer": ("torch.Tensor",),
    "tqdm.auto.tqdm": ("tqdm.tqdm",),
    "tqdm.std.tqdm": ("tqdm.tqdm",),
    "tqdm.notebook.tqdm": ("tqdm.tqdm",),
    "torch.Event": ("torch.cuda.Event",),
    "torch.Stream": ("torch.cuda.Stream",),
    "torch.nn.modules.module.Module": ("torch.nn.Module",),
    "torch.storage.UntypedStorage": ("torch.UntypedStorage",),
    "torch.storage.TypedStorage": ("torch.TypedStorage",),
}

# Packages of native functions: a traced tensor given to any function of theirs leaves what torch can trace.
NATIVE_PACKAGES: dict[str, str] = {
    "numpy": "computes in NumPy",
    "scipy": "computes in SciPy",
    "cv2": "computes in OpenCV",
    "sklearn": "computes in scikit-learn",
    "numba": "computes in Numba",
    "pandas": "computes in pandas",
    "cupy": "computes in CuPy",
    "skimage": "computes in scikit-image",
    "PIL": "computes in Pillow",
    "jax": "computes in JAX",
    "tensorflow": "computes in TensorFlow",
}

# Names in those packages that take no data: types, settings, constants and helpers of shapes.
_EXCEPTIONS = (
    "numpy.dtype numpy.ndarray numpy.generic numpy.finfo numpy.iinfo numpy.errstate numpy.newaxis numpy.shape",
    "numpy.ndim numpy.size numpy.broadcast_shapes numpy.result_type numpy.promote_types numpy.can_cast",
    "numpy.issubdtype numpy.geterr numpy.printoptions numpy.random.default_rng numpy.random.Generator",
    "numpy.random.RandomState",
    "numpy.random.PCG64 numpy.random.SeedSequence numpy.random.MT19937 numpy.random.Philox numpy.vectorize numpy.ufunc",
    "numpy.s_ numpy.index_exp numpy.testing numpy.typing numba.jit numba.njit numba.prange jax.jit",
)
NATIVE_EXCEPTIONS = frozenset(name for names in _EXCEPTIONS for name in names.split())

# Attributes whose assignment changes torch's global state: everything below these modules.
SETTINGS_MODULES: tuple[str, ...] = (
    "torch.backends.",
    "torch._dynamo.config.",
    "torch._inductor.config.",
    "torch._functorch.config.",
    "torch.fx.experimental._config.",
    "torch._logging.",
)

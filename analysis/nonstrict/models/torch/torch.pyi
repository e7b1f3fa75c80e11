"""What torch does besides its operators: its documentation, its source and measurements, all of torch 2.13."""

from logging import Logger

from torch import cuda

from nonstrict.models import does
from nonstrict.models.terms import submodule, surrounds

sets_options = does.torch_state("changes a setting of torch")
switches_gradients = does.torch_guarded("switches gradient mode")

@does.torch_guarded("reads guarded torch state")
def are_deterministic_algorithms_enabled(): ...

get_autocast_dtype = get_autocast_gpu_dtype = get_default_dtype = are_deterministic_algorithms_enabled
get_float32_matmul_precision = get_num_threads = is_autocast_cpu_enabled = are_deterministic_algorithms_enabled
is_autocast_enabled = is_deterministic_algorithms_warn_only_enabled = are_deterministic_algorithms_enabled
is_grad_enabled = are_deterministic_algorithms_enabled

@does.torch_state("changes autocast's state")
def clear_autocast_cache(*args): ...

set_autocast_cache_enabled = set_autocast_cpu_dtype = set_autocast_cpu_enabled = clear_autocast_cache
set_autocast_dtype = set_autocast_enabled = set_autocast_gpu_dtype = clear_autocast_cache
set_autocast_ipu_dtype = set_autocast_ipu_enabled = set_autocast_xla_dtype = clear_autocast_cache
set_autocast_xla_enabled = clear_autocast_cache

@does.io("reads a file")
def from_file(*args): ...

load = from_file

@does.torch_query("reads torch's random state")
def get_rng_state(): ...

initial_seed = get_rng_state

@does.torch_query("checks whether inference mode is on")
def is_inference_mode_enabled(*args): ...
@does.torch_state("seeds torch's random generator")
def manual_seed(seed): ...

seed = manual_seed

@does.io("writes to a file")
def save(obj, f, pickle_module, pickle_protocol): ...
@does.torch_state("changes torch's default device")
def set_default_device(device): ...
@does.torch_state("changes torch's default dtype")
def set_default_dtype(d): ...

set_default_tensor_type = set_default_dtype

@does.torch_state("changes torch's deterministic mode")
def set_deterministic_debug_mode(debug_mode): ...

use_deterministic_algorithms = set_deterministic_debug_mode

@does.torch_state("changes torch's matmul precision")
def set_float32_matmul_precision(precision): ...
@does.torch_state("changes torch's denormal mode")
def set_flush_denormal(*args): ...
@does.torch_state("changes torch's number of threads")
def set_num_interop_threads(*args): ...

set_num_threads = set_num_interop_threads

@does.torch_state("changes torch's print options")
def set_printoptions(precision, threshold, edgeitems, linewidth): ...
@does.torch_state("sets torch's random state")
def set_rng_state(new_state): ...
@does.torch_state("changes torch's warning mode")
def set_warn_always(b): ...
@does.pointer("hands out the tensor's memory")
def to_dlpack(*args): ...

class Generator:
    @does.torch_query("reads the state of a torch generator")
    def get_offset(self, *args): ...
    get_state = initial_seed = get_offset
    @does.torch_state("seeds a torch generator")
    def manual_seed(self, *args): ...
    seed = set_offset = set_state = manual_seed

class Tensor:
    @does.escape("copies the tensor's data through Python")
    def __array__(self, dtype): ...
    __deepcopy__ = __reduce_ex__ = __array__
    @does.pointer
    def __cuda_array_interface__(self, *args): ...
    __dlpack__ = data_ptr = __cuda_array_interface__
    @does.escape("formats the tensor's value")
    def __format__(self, format_spec): ...
    __repr__ = __str__ = __format__
    @does.hook("registers a hook on a tensor")
    def register_hook(self, hook): ...
    register_post_accumulate_grad_hook = register_hook

class TypedStorage:
    @does.pointer
    def data_ptr(self): ...
    @does.storage("resizes the tensor's storage")
    def resize_(self, size): ...

class UntypedStorage:
    @does.pointer
    def data_ptr(self, *args): ...
    @does.storage("resizes the storage of a tensor")
    def resize_(self, *args): ...
    _resize_ = resize_
    @does.storage("writes into the storage of a tensor")
    def copy_(self, source, non_blocking): ...
    fill_ = copy_
    @does.storage("copies the storage of a tensor")
    def clone(self): ...
    @does.storage("reads the storage of a tensor")
    def tolist(self): ...

@submodule
class _dynamo:
    @surrounds
    class error_on_graph_break: ...

    decorators.error_on_graph_break = error_on_graph_break
    @submodule
    class config:
        @sets_options
        def __setattr__(name, value): ...

    _inductor.config = _functorch.config = config
    @does.torch_query("checks whether code is being compiled")
    def is_compiling(): ...
    @does.torch_state("changes torch's compiler")
    def reset(): ...

@submodule
class _logging:
    @sets_options
    def __setattr__(name, value): ...
    def getArtifactLogger(module_qname, artifact_name) -> Logger: ...
    @does.torch_state("changes torch's compiler")
    def set_logs(): ...

@submodule
class _utils:
    @does.torch_query("checks whether code is being compiled")
    def is_compiling(): ...

@submodule
class accelerator:
    @does.torch_query("reads the device's memory")
    def memory_allocated(device_index): ...
    memory_reserved = memory_stats = memory_allocated
    @does.torch_state("changes the current device")
    def set_device_index(device): ...
    set_stream = set_device_index
    @does.torch_guarded("waits for the device")
    def synchronize(device): ...

@does.torch_guarded("enters autocast")
@surrounds
class autocast: ...

@submodule
class autograd:
    @submodule
    class graph:
        @does.hook("registers hooks for saved tensors")
        class saved_tensors_hooks: ...

    @does.torch_state("changes autograd's anomaly mode")
    class set_detect_anomaly: ...

@submodule
class backends:
    @sets_options
    def __setattr__(name, value): ...

    @submodule
    class cuda:
        @does.torch_state("changes a backend's settings")
        def enable_cudnn_sdp(enabled): ...
        enable_flash_sdp = enable_math_sdp = enable_mem_efficient_sdp = preferred_blas_library = enable_cudnn_sdp
        preferred_linalg_library = enable_cudnn_sdp

    @submodule
    class cudnn:
        @does.torch_state("changes a backend's settings")
        def set_flags(enabled, benchmark, benchmark_limit, deterministic): ...

    @submodule
    class mkldnn:
        @does.torch_state("changes a backend's settings")
        def set_flags(enabled, deterministic, allow_tf32, fp32_precision): ...

@submodule
class classes:
    @does.native("loads native code")
    def load_library(path): ...

@submodule
class compiler:
    @does.torch_query("checks whether code is being compiled")
    def is_compiling(): ...
    is_dynamo_compiling = is_exporting = is_compiling
    @does.torch_state("changes torch's compiler")
    def reset(): ...
    set_stance = reset

@submodule
class cpu:
    @does.torch_guarded("waits for the device")
    def synchronize(device): ...

@switches_gradients
class enable_grad: ...

@submodule
class export:
    @does.io("reads a file")
    def load(f): ...
    @does.io("writes to a file")
    def save(ep, f): ...

@submodule
class hub:
    @does.io("downloads from the network")
    def download_url_to_file(url, dst, hash_prefix, progress): ...
    help = list = load = load_state_dict_from_url = download_url_to_file

@does.torch_state("enters inference mode")
@surrounds
class inference_mode: ...

@submodule
class jit:
    @does.io("reads a file")
    def load(f, map_location, extra_files, restore_shapes): ...
    @does.io("writes to a file")
    def save(m, f, extra_files): ...

@submodule
class mps:
    @does.torch_state("seeds torch's random generator")
    def manual_seed(seed): ...
    seed = manual_seed
    @does.torch_state("sets torch's random state")
    def set_rng_state(new_state, device): ...
    @does.torch_guarded("waits for the device")
    def synchronize(): ...

@submodule
class mtia:
    @does.torch_state("seeds torch's random generator")
    def manual_seed(seed): ...
    @does.torch_guarded("waits for the device")
    def synchronize(device): ...

@submodule
class multiprocessing:
    @does.process("starts processes")
    def Pool(processes, initializer, initargs, maxtasksperchild): ...
    spawn = start_processes = Pool
    @does.torch_state("changes multiprocessing's settings")
    def set_sharing_strategy(new_strategy): ...
    set_start_method = set_sharing_strategy

    @does.process("starts processes")
    class Process: ...

@switches_gradients
class no_grad: ...

@submodule
class onnx:
    @does.io("writes to a file")
    def export(model, args, f): ...

@submodule
class ops:
    @does.native("loads native code")
    def load_library(path): ...

@submodule
class random:
    @does.torch_state("sets torch's random state")
    def fork_rng(devices, enabled, caller, devices_kw): ...
    @does.torch_state("seeds torch's random generator")
    def manual_seed(seed): ...

@switches_gradients
class set_grad_enabled: ...

@submodule
class xpu:
    @does.torch_state("seeds torch's random generator")
    def manual_seed(seed): ...
    manual_seed_all = seed = seed_all = manual_seed
    @does.torch_state("sets torch's random state")
    def set_rng_state(new_state, device): ...
    @does.torch_guarded("waits for the device")
    def synchronize(device): ...

Event = cuda.Event
Stream = cuda.Stream

storage.TypedStorage = TypedStorage
storage.UntypedStorage = UntypedStorage
_dynamo.external_utils.is_compiling = _dynamo.is_compiling
_dynamo.config.__setattr__ = _inductor.config.__setattr__ = _functorch.config.__setattr__ = (
    fx.experimental._config.__setattr__
) = backends.__setattr__
amp.autocast = amp.autocast_mode.autocast = cpu.amp.autocast = autocast
set_anomaly_enabled = autograd.anomaly_mode.set_detect_anomaly = autograd.set_detect_anomaly
autograd.enable_grad = autograd.grad_mode.enable_grad = enable_grad
autograd.grad_mode.inference_mode = autograd.inference_mode = inference_mode
autograd.grad_mode.no_grad = autograd.no_grad = no_grad
autograd.grad_mode.set_grad_enabled = autograd.set_grad_enabled = set_grad_enabled
random.get_rng_state = get_rng_state
random.initial_seed = initial_seed
serialization.load = load
random.seed = seed
random.set_rng_state = set_rng_state
serialization.save = save

@submodule
class profiler:
    @surrounds
    class record_function: ...

autograd.profiler.record_function = profiler.record_function

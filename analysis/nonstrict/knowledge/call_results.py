"""What calls of the standard library, NumPy and some helpers of torch return, as far as kinds are distinguished.

Source: the pages of the Python 3.14 documentation of each module, and the NumPy 2 reference.
"""

from __future__ import annotations

#: The classes of what methods make.
METHOD_RESULTS = {
    "argparse.ArgumentParser.parse_args": "argparse.Namespace",
    "argparse.ArgumentParser.parse_intermixed_args": "argparse.Namespace",
}

#: The methods of `nn.Module` that return the module itself: those annotated `-> Self` in torch 2.13, and the methods of
#: its containers that do (`Sequential.append`, `ModuleList.extend`).
MODULE_SELF = frozenset(
    {"append", "apply", "bfloat16", "cpu", "cuda", "double", "eval", "extend", "float", "half", "ipu", "mtia"}
    | {"requires_grad_", "share_memory", "to", "to_empty", "train", "type", "xpu"}
)

_UTILS = "torch.nn.utils"
#: Functions that return the module that they are given first, changed in place. Measured on torch 2.13.
GIVEN_MODULE = frozenset(
    {
        *(f"{_UTILS}.{prefix}{name}_norm" for prefix in ("", "remove_") for name in ("weight", "spectral")),
        *(f"{_UTILS}.parametrizations.{name}" for name in ("weight_norm", "spectral_norm", "orthogonal")),
        *(f"{_UTILS}.parametrize.{name}" for name in ("register_parametrization", "remove_parametrizations")),
        *(f"{_UTILS}.prune.{name}" for name in ("identity", "l1_unstructured", "ln_structured", "random_unstructured")),
        f"{_UTILS}.prune.remove",
        "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
        "torch.distributed.fsdp.fully_shard",
        "torch.distributed.tensor.distribute_module",
        "torch.distributed.tensor.parallel.parallelize_module",
    }
)

# kind -> dotted names of functions and classes whose calls give it.
RESULTS: dict[str, str] = {
    "list": "builtins.dir builtins.list builtins.sorted collections.UserList difflib.get_close_matches gc.get_objects "
    "glob.glob heapq.nlargest heapq.nsmallest inspect.stack os.listdir random.choices random.sample "
    "re.findall re.split shlex.split statistics.multimode textwrap.wrap traceback.format_stack "
    "traceback.format_tb typing.List",
    "dict": "builtins.dict builtins.globals builtins.locals builtins.vars collections.UserDict dataclasses.asdict "
    "inspect.getcallargs logging.getLevelNamesMapping os.environ.copy tomllib.load tomllib.loads "
    "types.MappingProxyType typing.Dict typing.get_type_hints urllib.parse.parse_qs weakref.WeakKeyDictionary "
    "weakref.WeakValueDictionary",
    "set": "builtins.frozenset builtins.set logging.getHandlerNames typing.Set weakref.WeakSet",
    "tuple": "builtins.divmod builtins.tuple dataclasses.astuple math.frexp math.modf os.get_terminal_size "
    "os.path.split os.path.splitdrive os.path.splitext os.times random.getstate shutil.disk_usage "
    "struct.unpack struct.unpack_from sys.exc_info time.gmtime time.localtime typing.get_args",
    "number": "binascii.crc32 bisect.bisect bisect.bisect_left bisect.bisect_right builtins.abs builtins.complex "
    "builtins.float builtins.hash builtins.id builtins.int builtins.len builtins.ord builtins.pow "
    "builtins.round builtins.sum ctypes.addressof ctypes.sizeof "
    "multiprocessing.cpu_count operator.index operator.length_hint os.cpu_count os.getpid os.getppid "
    "os.getuid os.open os.path.getatime os.path.getctime os.path.getmtime os.path.getsize "
    "os.process_cpu_count random.betavariate random.binomialvariate random.expovariate random.gammavariate "
    "random.gauss random.getrandbits random.lognormvariate random.normalvariate random.paretovariate "
    "random.randint random.random random.randrange random.triangular random.uniform random.vonmisesvariate "
    "random.weibullvariate secrets.randbelow secrets.randbits statistics.fmean statistics.mean "
    "statistics.median statistics.pstdev statistics.pvariance statistics.stdev statistics.variance "
    "struct.calcsize sys.getrecursionlimit sys.getrefcount sys.getsizeof threading.active_count "
    "threading.get_ident threading.get_native_id time.mktime time.monotonic time.monotonic_ns "
    "time.perf_counter time.perf_counter_ns time.process_time time.process_time_ns time.thread_time "
    "time.thread_time_ns time.time time.time_ns timeit.default_timer timeit.timeit uuid.getnode zlib.adler32 "
    "zlib.crc32",
    "bool": "builtins.all builtins.any builtins.bool builtins.callable builtins.hasattr builtins.isinstance "
    "builtins.issubclass dataclasses.is_dataclass filecmp.cmp fnmatch.fnmatch hmac.compare_digest "
    "inspect.isbuiltin inspect.isclass inspect.iscoroutinefunction inspect.isfunction inspect.isgenerator "
    "inspect.ismethod inspect.ismodule keyword.iskeyword math.isclose math.isfinite math.isinf math.isnan "
    "operator.contains operator.is_ operator.is_not operator.not_ operator.truth os.access os.isatty "
    "os.path.exists os.path.isabs os.path.isdir os.path.isfile os.path.islink os.path.ismount os.path.lexists "
    "os.path.samefile secrets.compare_digest",
    "string": "builtins.ascii builtins.bin builtins.chr builtins.format builtins.hex builtins.input builtins.oct "
    "builtins.repr builtins.str getpass.getpass getpass.getuser html.escape html.unescape inspect.getdoc "
    "inspect.getsource json.dumps locale.getpreferredencoding logging.getLevelName os.environ.get os.getcwd "
    "os.getenv os.getlogin os.path.abspath os.path.basename os.path.commonpath os.path.commonprefix "
    "os.path.dirname os.path.expanduser os.path.expandvars os.path.join os.path.normcase os.path.normpath "
    "os.path.realpath os.path.relpath os.readlink os.strerror platform.machine platform.node "
    "platform.platform platform.processor platform.python_version platform.release platform.system "
    "pprint.pformat re.escape re.sub secrets.token_hex secrets.token_urlsafe shlex.join shlex.quote "
    "shutil.which socket.gethostname string.capwords subprocess.getoutput sys.intern tempfile.gettempdir "
    "tempfile.mkdtemp tempfile.mktemp textwrap.dedent textwrap.fill textwrap.indent textwrap.shorten "
    "time.asctime time.ctime time.strftime traceback.format_exc unicodedata.normalize urllib.parse.quote "
    "urllib.parse.unquote urllib.parse.urlencode urllib.parse.urljoin",
    "bytes": "base64.b64decode base64.b64encode base64.urlsafe_b64encode binascii.hexlify binascii.unhexlify "
    "builtins.bytes builtins.memoryview bz2.compress ctypes.string_at gzip.compress gzip.decompress "
    "lzma.compress marshal.dumps os.fsencode os.getrandom os.read os.urandom pickle.dumps random.randbytes "
    "secrets.token_bytes struct.pack subprocess.check_output zlib.compress zlib.decompress",
    "bytearray": "builtins.bytearray",
    "array": "array.array",
    "deque": "collections.deque typing.Deque",
    "defaultdict": "collections.defaultdict typing.DefaultDict",
    "OrderedDict": "collections.OrderedDict typing.OrderedDict",
    "Counter": "collections.Counter typing.Counter",
    "ChainMap": "collections.ChainMap typing.ChainMap",
    "range": "builtins.range",
    "slice": "builtins.slice",
    "class": "abc.ABCMeta builtins.type collections.namedtuple dataclasses.make_dataclass enum.Enum types.new_class "
    "typing.NamedTuple typing.NewType typing.TypeVar",
    "iterator": "builtins.enumerate builtins.filter builtins.iter builtins.map builtins.reversed builtins.zip "
    "csv.DictReader csv.reader glob.iglob heapq.merge itertools.accumulate itertools.batched itertools.chain "
    "itertools.chain.from_iterable itertools.combinations itertools.combinations_with_replacement "
    "itertools.compress itertools.count itertools.cycle itertools.dropwhile itertools.filterfalse "
    "itertools.groupby itertools.islice itertools.pairwise itertools.permutations itertools.product "
    "itertools.repeat itertools.starmap itertools.takewhile itertools.zip_longest os.fwalk os.scandir os.walk "
    "re.finditer",
    # iterating gives what the argument holds: the API references of tqdm and rich
    "progress-bar": "rich.progress.track tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.rich.tqdm tqdm.std.tqdm tqdm.tqdm",
    "file": "builtins.open bz2.BZ2File bz2.open codecs.open gzip.GzipFile gzip.open io.BufferedReader "
    "io.BufferedWriter io.BytesIO io.FileIO io.StringIO io.TextIOWrapper io.open io.open_code lzma.LZMAFile "
    "lzma.open os.fdopen os.popen tempfile.NamedTemporaryFile tempfile.SpooledTemporaryFile "
    "tempfile.TemporaryFile urllib.request.urlopen",
    "path": "importlib.resources.files pathlib.Path pathlib.Path.cwd pathlib.Path.home pathlib.PosixPath "
    "pathlib.PurePath pathlib.PurePosixPath pathlib.PureWindowsPath pathlib.WindowsPath",
    "lock": "_thread.allocate_lock asyncio.Lock asyncio.Semaphore multiprocessing.Lock multiprocessing.RLock "
    "multiprocessing.Semaphore threading.BoundedSemaphore threading.Condition threading.Lock threading.RLock "
    "threading.Semaphore",
    "event": "asyncio.Event multiprocessing.Event threading.Barrier threading.Event",
    "thread": "threading.Thread threading.Timer threading.current_thread threading.main_thread",
    "thread-local": "threading.local",
    "executor": "concurrent.futures.InterpreterPoolExecutor concurrent.futures.ProcessPoolExecutor "
    "concurrent.futures.ThreadPoolExecutor concurrent.futures.process.ProcessPoolExecutor "
    "concurrent.futures.thread.ThreadPoolExecutor multiprocessing.Pool multiprocessing.pool.Pool "
    "multiprocessing.pool.ThreadPool",
    "process": "multiprocessing.Process multiprocessing.current_process subprocess.Popen",
    "queue": "asyncio.Queue multiprocessing.JoinableQueue multiprocessing.Queue multiprocessing.SimpleQueue "
    "queue.LifoQueue queue.PriorityQueue queue.Queue queue.SimpleQueue",
    "socket": "socket.create_connection socket.create_server socket.socket",
    "logger": "logging.Logger logging.LoggerAdapter logging.RootLogger logging.getLogger multiprocessing.get_logger "
    "structlog.get_logger torch._logging.getArtifactLogger",
    "context-variable": "contextvars.ContextVar",
    "weak-reference": "weakref.WeakMethod weakref.proxy weakref.ref",
    "random-generator": "numpy.random.Generator numpy.random.RandomState numpy.random.default_rng random.Random "
    "random.SystemRandom secrets.SystemRandom",
    "module": "builtins.__import__ importlib.import_module importlib.reload importlib.util.module_from_spec "
    "types.ModuleType",
    "namespace": "argparse.Namespace types.SimpleNamespace",
    "object": "argparse.ArgumentParser builtins.object datetime.date datetime.date.today datetime.datetime "
    "datetime.datetime.now datetime.datetime.today datetime.datetime.utcnow datetime.time datetime.timedelta "
    "decimal.Decimal fractions.Fraction inspect.signature re.compile re.fullmatch re.match re.search uuid.UUID "
    "uuid.uuid1 uuid.uuid4 torch.utils.tensorboard.SummaryWriter torch.utils.tensorboard.writer.SummaryWriter "
    "tensorboardX.SummaryWriter",
    "function": "functools.cache functools.cmp_to_key functools.lru_cache functools.partial functools.partialmethod "
    "functools.singledispatch functools.wraps operator.attrgetter operator.itemgetter operator.methodcaller",
    "context-manager": "contextlib.ExitStack contextlib.chdir contextlib.closing contextlib.nullcontext "
    "contextlib.redirect_stderr contextlib.redirect_stdout contextlib.suppress decimal.localcontext "
    "warnings.catch_warnings",
    # of floating-point numbers: torch/nn/utils/clip_grad.py and convert_parameters.py of torch 2.13
    "tensor": "torch.nn.utils.clip_grad.clip_grad_norm_ "
    "torch.nn.utils.clip_grad_norm_ torch.nn.utils.convert_parameters.parameters_to_vector "
    "torch.nn.utils.get_total_norm torch.nn.utils.parameters_to_vector",
    "none": "bisect.insort bisect.insort_left bisect.insort_right builtins.delattr builtins.exec builtins.print "
    "builtins.setattr gc.disable gc.enable heapq.heapify heapq.heappush json.dump logging.basicConfig "
    "logging.critical logging.debug logging.error logging.exception logging.info logging.log logging.warning "
    "os.chdir os.makedirs os.mkdir os.putenv os.remove os.rename os.rmdir os.unlink os.unsetenv pickle.dump "
    "pprint.pprint random.seed random.shuffle sys.setrecursionlimit time.sleep traceback.print_exc "
    "warnings.filterwarnings warnings.simplefilter warnings.warn",
}

# math functions give numbers, except those that RESULTS lists.
MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist erf erfc exp exp2 expm1 fabs "
    "factorial floor fma fmod fsum gamma gcd hypot isqrt lcm ldexp lgamma log log10 log1p log2 nextafter perm pow prod "
    "radians remainder sin sinh sqrt sumprod tan tanh trunc ulp"
)

# NumPy names that give something other than an array.
NUMPY_RESULTS: dict[str, str] = {
    "numpy": "ndarray",
    "tuple": "meshgrid nonzero shape unravel_index",
    "bool": "allclose array_equal array_equiv can_cast isscalar issubdtype iterable may_share_memory shares_memory",
    "number": "bool_ complex128 complex64 float16 float32 float64 float_ int16 int32 int64 int8 int_ ndim size uint16 "
    "uint32 uint64 uint8",
    "string": "array2string array_repr array_str base_repr binary_repr format_float_positional",
    "none": "copyto fill_diagonal place put putmask save savetxt savez savez_compressed set_printoptions seterr",
    "dtype": "common_type dtype min_scalar_type promote_types result_type",
    "list": "array_split dsplit hsplit split vsplit",
    "object": "errstate finfo iinfo nditer printoptions vectorize",
}

"""The tables of effects: what they say, and that every name in them exists."""

from __future__ import annotations

import importlib
import re
import warnings

import pytest

from nonstrict.knowledge import call_results, library_effects, stdlib_effects
from nonstrict.knowledge.effects import (
    MUTATING_METHODS,
    OUTPUTS,
    assignment_effect,
    call_effect,
    call_result,
    method_effect,
)

KINDS = {
    *OUTPUTS,
    "io",
    "environ-read",
    "environ-write",
    "draw",
    "random",
    "seed",
    "clock",
    "identity",
    "thread",
    "process",
    "exit",
    "pointer",
    "native",
    "escape",
    "hook",
    "torch-state",
    "torch-query",
    "torch-guarded",
}

# Names of other versions of Python or of other systems than the one that runs the tests.
ELSEWHERE = re.compile(
    r"os\.(memfd_create|eventfd|getenvb|listdrives|listvolumes|listmounts|lchmod|chflags|lchflags|startfile|reload_environ"
    r"|process_cpu_count|posix_openpt|plock|gettid|chroot|splice|copy_file_range|getrandom)|os\.path\.(isjunction|isdevdrive)"
    r"|ctypes\.(WinDLL|OleDLL|windll\..*)|select\.kqueue|uuid\.uuid[678]|time\.clock|threading\.settrace_all_threads"
    r"|_thread\.start_joinable_thread|concurrent\.futures\.InterpreterPoolExecutor|random\.binomialvariate"
    r"|multiprocessing\.Connection|tomllib\..*|math\.(fma|sumprod|cbrt|exp2)|itertools\.batched|contextlib\.chdir"
    r"|ctypes\.(from_address)|pathlib\.(WindowsPath|PosixPath)|logging\.(getHandlerNames|getLevelNamesMapping)"
    r"|sys\.(__stdout__|stdout|stderr|__stderr__|stdin)\..*|pathlib\.Path\..*|asyncio\.Runner|imaplib\.IMAP4_stream"
    r"|sys\.set_int_max_str_digits|ssl\.wrap_socket|builtins\.(exit|quit|breakpoint)|os\.setpriority|resource\..*"
    r"|locale\..*|sqlite3\..*|dbm\..*|curses\..*|bz2\..*|lzma\..*|ctypes\.util\..*"
)


def resolve(name):
    """The object with this dotted name; raises AttributeError or ImportError."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:count]))
        except (ImportError, TypeError):
            # Some objects of torch pretend to be packages.
            continue
        for part in parts[count:]:
            value = getattr(value, part)
        return value
    raise ImportError(name)


def exists(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            resolve(name)
        except (ImportError, AttributeError):
            return False
    return True


def names_in(table):
    return [f"{owner}.{name}" for _, _, owner, names in table for name in names.split()]


def test_every_standard_library_name_exists():
    missing = [name for name in names_in(stdlib_effects.CALLS) if not exists(name) and not ELSEWHERE.fullmatch(name)]
    assert missing == []


def test_every_result_name_exists():
    names = {name for names in call_results.RESULTS.values() for name in names.split()}
    names = {
        name
        for name in names
        if not name.startswith(("structlog.", "numpy.", "rich.", "tqdm.")) and "SummaryWriter" not in name
    }
    assert sorted(name for name in names if not exists(name) and not ELSEWHERE.fullmatch(name)) == []
    assert [name for name in call_results.MATH.split() if not exists(f"math.{name}")] in ([], ["fma", "sumprod"])


def test_every_torch_and_numpy_name_exists():
    pytest.importorskip("torch")
    names = names_in(library_effects.TORCH_CALLS) + names_in(library_effects.NUMPY_CALLS)
    gone = {"numpy.float_", "numpy.asfarray", "numpy.set_printoptions"} | {"numpy.random.random_integers"}
    gone |= {f"numpy.random.{name}" for name in ("integers", "permuted", "multivariate_hypergeometric", "tomaxint")}
    gone |= {"numpy.int_", "numpy.seterrcall"}
    assert [name for name in names if not exists(name) and name not in gone] == []


def test_every_method_name_exists():
    tables = stdlib_effects.METHODS + library_effects.TORCH_METHODS
    tables = [row for row in tables if "." in row[2] and "tensorboard" not in row[2]]
    missing = [name for name in names_in(tables) if not exists(name)]
    known = re.compile(
        r"random\.Random\.binomialvariate|pathlib\.Path\.(walk|is_junction|copy.*|move.*|lchmod|is_mount)|multiprocessing\..*|csv\.writer\..*"
    )
    assert [name for name in missing if not known.fullmatch(name)] == []


def test_kinds_are_those_of_the_contract():
    tables = stdlib_effects.CALLS + stdlib_effects.METHODS + library_effects.TORCH_CALLS + library_effects.TORCH_METHODS
    tables += library_effects.NUMPY_CALLS + library_effects.NUMPY_METHODS
    tables += library_effects.LIBRARY_CALLS + library_effects.LIBRARY_METHODS
    assert {kind for kind, *_ in tables} <= KINDS


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("builtins.print", "stdout"),
        ("builtins.open", "io"),
        ("logging.info", "log"),
        ("warnings.warn", "stderr"),
        ("os.environ.get", "environ-read"),
        ("os.putenv", "environ-write"),
        ("random.random", "draw"),
        ("random.seed", "seed"),
        ("numpy.random.rand", "random"),
        ("numpy.random.seed", "seed"),
        ("time.time", "clock"),
        ("datetime.datetime.now", "clock"),
        ("uuid.uuid4", "identity"),
        ("os.urandom", "random"),
        ("os.getpid", "identity"),
        ("threading.Thread", "thread"),
        ("concurrent.futures.ThreadPoolExecutor", "thread"),
        ("subprocess.run", "process"),
        ("ctypes.cast", "pointer"),
        ("copy.deepcopy", "escape"),
        ("numpy.asarray", "escape"),
        ("numpy.sin", "native"),
        ("scipy.ndimage.gaussian_filter", "native"),
        ("torch.manual_seed", "torch-state"),
        ("torch.inference_mode", "torch-state"),
        ("torch.no_grad", "torch-guarded"),
        ("torch.is_grad_enabled", "torch-guarded"),
        ("torch.is_inference_mode_enabled", "torch-query"),
        ("torch.save", "io"),
        ("torch.Tensor.data_ptr", "pointer"),
        ("pathlib.Path.read_text", "io"),
        ("wandb.log", "io"),
        ("loguru.logger.info", "log"),
        ("tqdm.tqdm", "progress"),
    ],
)
def test_effects_of_calls(name, kind):
    found = call_effect(name)
    assert found is not None
    assert found.kind == kind
    assert found.what


PURE = (
    "builtins.len builtins.isinstance math.pi json.loads os.path.join copy.copy functools.partial itertools.count "
    "torch.add torch.rand torch.nn.Linear numpy.float32.dtype numpy.finfo threading.Lock collections.deque uuid.uuid5 "
    "torch.cuda.is_available numpy torch.device logging.getLogger random.Random re.match contextlib.nullcontext"
)


@pytest.mark.parametrize("name", [name for name in PURE.split() if name != "numpy.float32.dtype"])
def test_calls_without_effect(name):
    assert call_effect(name) is None


def test_clock_with_an_argument_is_pure():
    found = call_effect("time.localtime")
    assert found is not None
    assert found.pure_with == 1


@pytest.mark.parametrize(
    ("owner", "method", "kind"),
    [
        ("logging.Logger", "info", "log"),
        ("logger", "warning", "log"),
        ("file", "write", "io"),
        ("io.TextIOWrapper", "write", "io"),
        ("random.Random", "random", "draw"),
        ("random-generator", "normal", "random"),
        ("random-generator", "shuffle", "random"),
        ("numpy.random.Generator", "normal", "random"),
        ("pathlib.PosixPath", "write_text", "io"),
        ("executor", "submit", "thread"),
        ("torch.nn.Parameter", "data_ptr", "pointer"),
        ("torch.nn.Module", "register_forward_hook", "hook"),
        ("tensorboardX.SummaryWriter", "add_scalar", "io"),
        ("rich.console.Console", "print", "stdout"),
    ],
)
def test_effects_of_methods(owner, method, kind):
    found = method_effect(owner, method)
    assert found is not None
    assert found.kind == kind


def test_methods_without_effect():
    for owner, method in (("threading.Lock", "acquire"), ("logging.Logger", "isEnabledFor"), ("unknown.Class", "info")):
        assert method_effect(owner, method) is None


def test_assignments():
    found = assignment_effect("torch.backends.cudnn.benchmark")
    assert found is not None
    assert found.kind == "torch-state"
    assert assignment_effect("torch.nn.functional.relu") is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("builtins.sorted", "list"),
        ("builtins.dict", "dict"),
        ("collections.deque", "deque"),
        ("time.time", "number"),
        ("builtins.open", "file"),
        ("logging.getLogger", "logger"),
        ("threading.Lock", "lock"),
        ("math.sqrt", "number"),
        ("numpy.zeros", "numpy"),
        ("numpy.float32", "number"),
        ("numpy.random.default_rng", "random-generator"),
        ("importlib.import_module", "module"),
        ("itertools.count", "iterator"),
        ("my.module.function", None),
        ("builtins.str", "string"),
        ("builtins.isinstance", "bool"),
        ("numpy.random.rand", "numpy"),
        ("numpy.ndarray", "numpy"),
    ],
)
def test_results(name, kind):
    assert call_result(name) == kind


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("list", "builtins.list"),
        ("dict", "builtins.dict"),
        ("set", "builtins.set"),
        ("bytearray", "builtins.bytearray"),
        ("deque", "collections.deque"),
        ("Counter", "collections.Counter"),
        ("OrderedDict", "collections.OrderedDict"),
        ("defaultdict", "collections.defaultdict"),
        ("ChainMap", "collections.ChainMap"),
        ("array", "array.array"),
    ],
)
def test_mutating_methods_exist_and_are_complete(kind, path):
    cls = resolve(path)
    own = {name for name in MUTATING_METHODS[kind] if name not in ("resize", "clear")}
    assert {name for name in own if not hasattr(cls, name)} == set()
    assert all(name in own for name in ("append", "pop", "update", "add", "__setitem__") if hasattr(cls, name))

"""Constructs made by going through modules: every public function and class, and the methods of common objects.

A call is written with one list of arguments after the other; those that plain Python accepts count.
"""

# ruff: noqa: SIM905 -- long lists of names read better as text

from __future__ import annotations

import importlib
import inspect
import io
import sys
import types
import warnings
from typing import TYPE_CHECKING, Any

from graph_breaks import surroundings
from graph_breaks.reading import Construct
from nonstrict.knowledge.operators import torch_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDARD = """
abc argparse array asyncio atexit base64 binascii bisect builtins bz2 calendar cmath codecs collections colorsys
concurrent.futures configparser contextlib contextvars copy cProfile csv ctypes dataclasses datetime decimal difflib
enum errno fnmatch fractions functools gc getpass glob graphlib gzip hashlib heapq hmac html importlib
importlib.util inspect io ipaddress itertools json keyword locale logging logging.handlers lzma marshal math
mimetypes multiprocessing numbers operator os os.path pathlib pickle pkgutil platform pprint queue random re reprlib
resource sched secrets select selectors shelve shlex shutil signal socket sqlite3 stat statistics string
struct subprocess sys tarfile tempfile textwrap threading time timeit traceback tracemalloc types
typing unicodedata unittest.mock urllib.parse urllib.request uuid warnings weakref zipfile zlib
""".split()

TORCH = """
torch torch.accelerator torch.amp torch.autograd torch.autograd.forward_ad torch.autograd.functional
torch.autograd.grad_mode torch.autograd.graph torch.autograd.profiler torch.backends torch.backends.cpu
torch.backends.cuda torch.backends.cudnn torch.backends.mkl torch.backends.mkldnn torch.backends.mps
torch.backends.openmp torch.backends.opt_einsum torch.compiler torch.cpu torch.cuda torch.cuda.amp torch.cuda.nvtx
torch.cuda.random torch.distributed torch.distributions torch.export torch.fft torch.func torch.futures torch.fx
torch.hub torch.jit torch.library torch.linalg torch.masked torch.mps torch.multiprocessing torch.nested torch.nn
torch.nn.attention torch.nn.functional torch.nn.init torch.nn.parallel torch.nn.parameter torch.nn.utils
torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.utils.prune torch.nn.utils.rnn
torch.nn.utils.stateless torch.optim torch.optim.lr_scheduler torch.overrides torch.profiler torch.random
torch.signal.windows torch.sparse torch.special torch.testing torch.utils torch.utils.checkpoint torch.utils.data
torch.utils.dlpack torch.utils.hooks torch.xpu
""".split()

NUMPY = "numpy numpy.fft numpy.linalg numpy.random numpy.testing".split()

# Functions whose call would reach beyond the process, end it, or wait; Dynamo's own rules are asked about them instead.
HARMFUL = frozenset(
    """
abort _exit fork forkpty kill killpg popen system remove unlink rmdir removedirs rename renames replace truncate
ftruncate chroot chdir fchdir chmod fchmod lchmod chown fchown lchown mkfifo mknod link symlink setuid setgid seteuid
setegid setreuid setregid setresuid setresgid setgroups initgroups setpgid setpgrp setsid setpriority nice sync
pidfd_open register_at_fork login_tty startfile unshare setns umask reboot posix_openpt memfd_create dup2 close
closerange sendfile wait wait3 wait4 waitid waitpid tcsetpgrp lockf posix_spawn posix_spawnp pause sigwait
sigwaitinfo sigtimedwait raise_signal alarm setitimer pthread_kill rmtree move copytree make_archive unpack_archive
disk_usage exit quit input breakpoint help getpass urlopen urlretrieve create_connection create_server gethostbyname
gethostbyaddr gethostbyname_ex getaddrinfo getfqdn getnameinfo sethostname socketpair fromfd run call check_call
check_output getoutput getstatusoutput Popen Pool Manager Process freeze_support settrace setprofile set_trace main
setrlimit prlimit init_process_group destroy_process_group barrier new_group load_state_dict_from_url
download_url_to_file
""".split()
)

VALUES = (
    *("", "3", "1.5", "'abc'", "b'abc'", "[3, 1, 2]", "{'a': 1}", "helper", "Holder", "holder", "3, 2", "1.5, 2.5"),
    *("'a', 'abc'", "'a', 'b', 'abc'", "[1, 2], 2", "2, [1, 2]", "helper, [1, 2]", "[1, 2], helper", "b'abc', b'a'"),
    *("'abc', 1", "3, 'abc'", "holder, 'count'", "1, 2, 3", "[1, 2], [3, 4]", "None", "ValueError()", "Point(1)"),
    *("'i', 1", "'i', [1]", "'i', b'abcd'", "io.StringIO('a')", "io.BytesIO(b'abc')", "[1], TEXT", "DATE", "Color"),
    *("'A', ['b']", "'A', 'b'", "PATTERN, 'abc'", "2020, 1", "2020, 1, 1", "[[1], [2]]", "helper, 1", "x"),
)
TENSORS = (
    *("", "x", "x, y", "x, 0", "x, 1.5", "m", "m, m", "n", "n, n", "mask", "3", "3, 3", "0, 3", "[x, y]", "[m, m]"),
    *("x, 0, n", "x, 0, n, y", "x, n", "x, mask, y", "mask, x, y", "x, y, x", "m, x", "m, x, x", "images", "images, 2"),
    *("images, images", "images, IMAGE_WEIGHT", "x, [3]", "m, [0, 1]", "m, 0, 1", "m, LENGTHS % 3", "[3]", "(3,), 1.0"),
    *("x.to(torch.complex64)", "x, 'abc'", "'cpu'", "'abc'", "1.5", "0.0, 1.0", "True", "helper", "torch.sin", "NET"),
    *("torch.sin, x", "torch.sin, (x,)", "helper, x", "lambda v: v.sum(), x", "NET, x", "NET, (x,)", "[PARAMETER]"),
    *("PARAMETERS_WITH_GRAD, 1.0", "OPTIMIZER", "OPTIMIZER, 1", "torch.float32", "torch.float32, torch.int32", "None"),
    *(
        "nn.ReLU()",
        "[nn.ReLU()]",
        "NET.linear, 'weight'",
        "DATASET",
        "[1, 2]",
        "torch.device('cpu')",
        "3, 3, 3",
        "4, 1",
    ),
    *("images[0]", "x, 1.5, 2.5", "x, 3, 1", "'i,i->', x, y", "images, [2, 2]", "x, torch.float64", "m, n, 'mean'"),
    *("images[0, 0], images[0, 0], images[0, 0]", "n, m", "(1, 3), (3, 1)", "[x], [y]", "RNG_STATE"),
)

ARRAYS = (
    *("", "ARRAY", "x.numpy()", "ARRAY, ARRAY", "x.numpy(), y.numpy()", "ARRAY, 0", "x.numpy(), 0", "ARRAY, 1.5"),
    *("m.numpy()", "np.eye(3)", "m.numpy(), m.numpy()", "m.numpy(), x.numpy()", "3", "3, 3", "0, 3", "0.0, 1.0"),
    *("ARRAY, 1, 2", "x.numpy(), 1, 2", "[ARRAY, ARRAY]", "[x.numpy(), y.numpy()]", "ARRAY > 1, ARRAY, ARRAY"),
    *("ARRAY, (3,)", "ARRAY, [1]", "n.numpy()", "n.numpy(), n.numpy()", "ARRAY, 'float64'", "'float32'", "(3, 3)"),
)

# Objects whose methods are called: receiver -> expressions that give one.
PLAIN_RECEIVERS = {
    "str": ("'abc'",),
    "bytes": ("b'abc'",),
    "int": ("number",),
    "float": ("real",),
    "list": ("[3, 1, 2]",),
    "tuple": ("(3, 1, 2)",),
    "dict": ("{'a': 1}",),
    "set": ("{1, 2, 3}",),
    "frozenset": ("frozenset([1, 2])",),
    "range": ("range(3)",),
    "deque": ("collections.deque([1, 2])",),
    "collections.OrderedDict": ("collections.OrderedDict(abc=1)",),
    "collections.defaultdict": ("collections.defaultdict(list)",),
    "collections.Counter": ("collections.Counter('abc')",),
    "datetime.datetime": ("DATE",),
    "datetime.timedelta": ("DELTA",),
    "decimal.Decimal": ("DECIMAL",),
    "fractions.Fraction": ("FRACTION",),
    "pathlib.Path": ("PATH", "pathlib.Path('.')"),
    "re.Pattern": ("PATTERN",),
    "re.Match": ("re.match('a', 'abc')",),
    "random.Random": ("RANDOM",),
    "io.StringIO": ("TEXT",),
    "io.BytesIO": ("BUFFER",),
    "file": ("FILE",),
    "threading.local": ("LOCAL",),
    "contextvars.ContextVar": ("CONTEXT_VARIABLE",),
    "Event": ("EVENT",),
    "Thread": ("THREAD",),
    "Queue": ("QUEUE",),
    "uuid.UUID": ("UUID",),
}
TENSOR_RECEIVERS = {
    "Tensor": ("x", "(x * 2)", "m", "(m * 2)", "n", "g", "mask", "images", "x.to(torch.complex64)"),
    "Module": ("NET",),
    "Optimizer": ("OPTIMIZER",),
    "LRScheduler": ("SCHEDULER",),
    "Generator": ("TORCH_GENERATOR",),
    "torch.Size": ("x.shape",),
    "torch.device": ("torch.device('cpu')",),
    "numpy.ndarray": ("x.numpy()", "m.numpy()"),
    "numpy.random.Generator": ("NUMPY_GENERATOR",),
}
# Classes whose class methods and static methods are swept as functions.
OPENED = "datetime.datetime datetime.date pathlib.Path decimal.Decimal fractions.Fraction uuid.UUID itertools.chain"


def swept(known: set[str]) -> list[Construct]:
    """Constructs of all modules and receivers above, without those of `known` keys."""
    found: dict[str, Construct] = {}
    for names, ways in ((STANDARD, VALUES), (TORCH, TENSORS), (NUMPY, (*ARRAYS, *VALUES))):
        for module in names:
            for name in public_callables(module):
                found[f"call:{name}"] = _call(name, ways)
                if torch_kind(name) == "context-manager":
                    codes = tuple(f"with {name}({arguments}):\n    x = x + 1" for arguments in ways)
                    found[f"with:{name}"] = Construct(f"with:{name}", codes, swept=True)
    for owner in OPENED.split():
        for name in _class_functions(owner):
            found[f"call:{name}"] = _call(name, VALUES)
    for receivers, ways in ((PLAIN_RECEIVERS, VALUES), (TENSOR_RECEIVERS, TENSORS)):
        for receiver, expressions in receivers.items():
            for name in _methods(expressions[0]):
                # All receivers with the same arguments first: an input of the region and an intermediate may differ.
                codes = tuple(f"{value}.{name}({arguments})" for arguments in ways for value in expressions)
                key = f"method:{receiver}.{name}"
                found[key] = Construct(key, codes, swept=True, harmful=name in HARMFUL)
    return [construct for key, construct in sorted(found.items()) if key not in known]


def _call(name: str, ways: tuple[str, ...]) -> Construct:
    harmful = name.rpartition(".")[2] in HARMFUL or name.startswith(("os.exec", "os.spawn", "os.sched_"))
    codes = tuple(f"{name}({arguments})" for arguments in ways)
    return Construct(f"call:{name}", codes, swept=True, harmful=harmful)


def public_callables(module_name: str) -> Iterator[str]:
    """Dotted names of the functions and classes that a module offers; exceptions and re-exports left out."""
    module = importlib.import_module(module_name)
    listed: list[str] = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    for name in sorted(set(listed)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(module, name, None)
        if not callable(value) or isinstance(value, types.ModuleType) or _is_exception(value) or name.startswith("_"):
            continue
        if hasattr(module, "__all__") or _belongs(value, module_name):
            yield f"{module_name}.{name}"


def _is_exception(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def _belongs(value: Any, module_name: str) -> bool:
    """Whether a value is at home in a module: in C parts of it (`_heapq`, `posix`) too, but in no other public one."""
    home = str(getattr(value, "__module__", None) or module_name)
    same = home.partition(".")[0].lstrip("_") == module_name.partition(".")[0]
    return same or home not in {*STANDARD, *NUMPY, "typing"}


def _class_functions(owner: str) -> Iterator[str]:
    module, _, name = owner.rpartition(".")
    cls: Any = getattr(importlib.import_module(module), name)
    for member in dir(cls):
        function = getattr(cls, member)
        if not member.startswith("_") and (inspect.ismethod(function) or inspect.isbuiltin(function)):
            yield f"{owner}.{member}"


def _methods(expression: str) -> list[str]:
    arguments = {name: make() for name, make in surroundings.ARGUMENTS.items() if name != "file"}
    names = {**sys.modules, **vars(surroundings), **arguments, "FILE": io.TextIOWrapper(io.BytesIO())}
    value = eval(expression, names)  # noqa: S307 -- the expressions of this file
    members = [name for name in dir(type(value)) if not name.startswith("_")]
    return [name for name in members if callable(getattr(type(value), name, None))]

"""Our own models: each can be read, names only what there is, and lets an editor find what it imports."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from pathlib import Path

import pytest

import nonstrict.models
from nonstrict.models import stubs
from nonstrict.models.library import SHIPPED, module_of

FOLDER = Path(nonstrict.models.__file__).parent
MODELS = sorted(FOLDER.glob("*/*.pyi"))
#: Those of what is installed where the tests run.
HERE = [path for path in MODELS if path.parent.name != "libraries" or path.name.startswith("numpy")]


def module_of_path(path):
    return module_of(str(path))


#: Names of other versions of Python and NumPy, of other systems, of classes without a public name, and of packages that
#: are not installed here.
ELSEWHERE = re.compile(
    r"_thread\.start_joinable_thread|array\.array\.clear|builtins\.bytearray\.resize|csv\.writer\.\w+|itertools\.batched"
    r"|concurrent\.futures\.InterpreterPoolExecutor|ctypes\.(OleDLL|WinDLL|windll.*)|logging\.get(HandlerNames|LevelNamesMapping)"
    r"|io\.IOBase\.\w+|math\.(cbrt|exp2|fma|sumprod)|multiprocessing\.(Connection|Queue)(\.\w+)?"
    r"|os\.(chflags|gettid|lchflags|lchmod|list(drives|mounts|volumes)|process_cpu_count|reload_environ|startfile)"
    r"|os\.path\.is(devdrive|junction)|pathlib\.Path\.(copy|copy_into|is_junction|move|move_into|walk)"
    r"|random\.(Random\.)?binomialvariate|select\.kqueue|threading\.settrace_all_threads|time\.clock|uuid\.uuid[678]"
    r"|numpy\.(complex_|float_|ndarray\.itemset|random\.(integers|multivariate_hypergeometric|permuted|tomaxint))"
    r"|torch\.nn\.Module\.(append|extend)|torch\.utils\.tensorboard.*"
)


def exists(name):
    parts = name.split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for count in range(len(parts), 0, -1):
            try:
                value = importlib.import_module(".".join(parts[:count]))
            except (ImportError, TypeError):
                continue
            for part in parts[count:]:
                if not hasattr(value, part):
                    return False
                value = getattr(value, part)
            return True
    return False


def names_of(path):
    module = module_of(str(path))
    entries = stubs.read(str(path), path.read_text(encoding="utf-8"), module)
    private = (key for key in entries if any(part.startswith("_") and part[1] != "_" for part in key.split(".")))
    return {f"{module}.{key}" for key in entries} - {f"{module}.{key}" for key in private}


@pytest.mark.parametrize("path", MODELS, ids=module_of_path)
def test_every_name_can_be_asked_for(path):
    unknown = [name for name in sorted(names_of(path)) if SHIPPED.find(name) is None]
    assert [name for name in unknown if SHIPPED.canonical(name) == name] == []


@pytest.mark.parametrize(
    "path",
    [path for path in MODELS if path.parent.name != "libraries" or path.name.startswith("numpy")],
    ids=module_of_path,
)
def test_every_name_of_python_numpy_and_torch_exists(path):
    missing = [name for name in sorted(names_of(path)) if not ELSEWHERE.fullmatch(name) and not exists(name)]
    assert missing == []


def test_every_function_of_numpy_that_takes_a_place_for_its_result_writes_there():
    numpy = pytest.importorskip("numpy")
    for prefix, module in (("numpy", numpy), ("numpy.linalg", numpy.linalg), ("numpy.fft", numpy.fft)):
        functions = {name: value for name, value in vars(module).items() if name[0] != "_" and inspect.isroutine(value)}
        taking = [name for name, value in functions.items() if "out" in _parameters(value)]
        assert taking
        for name in taking:
            known = SHIPPED.called(f"{prefix}.{name}")
            assert known is not None, name
            assert [one.name for one in known.changes] == ["out"], name


def _parameters(function):
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}

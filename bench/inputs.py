"""How often the search for inputs finds arguments: functions and modules of torch, labelled cases, other projects.

    python bench/inputs.py [--half tuned|held] [--show] [--seconds 3] [--without PART] GROUP[=FOLDER] ...

Groups: functional, modules, refs, cases; `package=FOLDER/NAME` takes the functions of a package, `classes=FOLDER/NAME`
the `forward` of its modules. Names are split in halves by a hash: the search was tuned on one, the other says what that
is worth. Files are executed statement by statement, what cannot be imported is replaced, and each search runs in a
process of its own. `--without` leaves out what guides the search: `annotations`, `body` (what is done with
parameters), `checks` (conditions that failed), `messages` (texts of errors). The code searched runs: give only what may
run here, best in `unshare -rn`.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import inspect
import json
import os
import resource
import signal
import sys
import tempfile
import types
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "analysis"))

import torch  # noqa: E402
import torch._dynamo  # noqa: E402  # pyright: ignore[reportUnusedImport]  # as the process has that searches: its import takes seconds

from nonstrict_agent.inputs import body, exploring, search, source, stated, usage  # noqa: E402

Subject = tuple[str, Callable[..., Any], dict[str, object]]
_OTHER_MACHINES = ("cuda", "mps", "quantized", "nccl", "distributed", "cudnn", "triton", "xla", "npu", "hpu")
_NOT_FUNCTIONS = frozenset(
    {
        "assert_int_or_pair",
        "boolean_dispatch",
        "broadcast_shapes",
        "handle_torch_function",
        "has_torch_function",
        "has_torch_function_unary",
        "has_torch_function_variadic",
        "overload",
    }
)
_NOT_TENSORS = (
    "load",
    "save",
    "convert",
    "download",
    "register",
    "test",
    "main",
    "build",
    "create",
    "make",
    "get_model",
    "init_",
)


class _Missing(types.ModuleType):
    """Stands for what cannot be imported: a base class, a decorator, an annotation."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(name)

    def __call__(self, *args: Any, **_kwargs: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) else _Missing("called")

    def __getitem__(self, _key: object) -> Any:
        return self

    def __or__(self, other: object) -> Any:
        return other

    __ror__ = __or__

    def __mro_entries__(self, _bases: object) -> tuple[type, ...]:
        return (torch.nn.Module,) if "odel" in self.__name__ or "Layer" in self.__name__ else (object,)


def loaded(path: Path, package: str) -> dict[str, object]:
    """The namespace of a file, executed statement by statement; what fails is left out."""
    module = types.ModuleType(f"{package}.{path.stem}" if package else path.stem)
    module.__file__ = str(path)
    namespace = vars(module)
    namespace["__package__"] = package
    sys.modules[module.__name__] = module
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        try:
            exec(compile(ast.Module([node], []), str(path), "exec", dont_inherit=True, flags=1 << 24), namespace)  # noqa: S102
        except BaseException:  # noqa: BLE001
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for each in node.names:
                    fields: dict[str, Any] = {**vars(node), "names": [each]}
                    one = ast.copy_location(type(node)(**fields), node)
                    try:
                        exec(compile(ast.Module([one], []), str(path), "exec", flags=1 << 24), namespace)  # noqa: S102
                    except BaseException:  # noqa: BLE001
                        bound = each.asname or each.name.partition(".")[0]
                        namespace.setdefault(bound, _Missing(bound))
    return namespace


def functional() -> Iterator[Subject]:
    """Public functions of torch.nn.functional and torch.functional."""
    import torch.functional

    for module in (torch.nn.functional, torch.functional):
        for name, value in sorted(vars(module).items()):
            plain = inspect.isfunction(value) or inspect.isbuiltin(value)
            own = getattr(value, "__module__", None) in {module.__name__, "torch._C._nn", "torch._jit_internal", None}
            if plain and own and not name.startswith("_") and name not in _NOT_FUNCTIONS:
                yield f"{module.__name__}.{name}", value, vars(module)


def modules() -> Iterator[Subject]:
    """The `forward` of the modules of torch.nn."""
    for name in sorted(torch.nn.modules.__all__):
        cls = getattr(torch.nn, name)
        abstract = inspect.getsource(cls.forward).find("NotImplementedError") >= 0 if hasattr(cls, "forward") else True
        if not abstract and cls.forward is not torch.nn.Module.forward and "Lazy" not in name and "Sync" not in name:
            yield f"nn.{name}.forward", cls.forward, {**vars(torch.nn), **vars(sys.modules[cls.__module__])}


def refs() -> Iterator[Subject]:
    """The public functions of torch._refs, half of which have no annotation that says Tensor."""
    module: Any = importlib.import_module("torch._refs")
    for name in sorted(module.__all__):
        value = getattr(module, name)
        if inspect.isfunction(value) and not name.startswith("_"):
            yield f"refs.{name}", value, vars(module)


def cases(folder: str) -> Iterator[Subject]:
    """Marked functions and compiled regions of the labelled cases: all functions of theirs but `main`."""
    for path in sorted(Path(folder).glob("*.py")):
        namespace = loaded(path, "")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                marks = " ".join(ast.unparse(each) for each in node.decorator_list)
                found = _qualified(tree, node, namespace)
                if ("nonstrict" in marks or "compile" in marks) and callable(found):
                    yield f"{path.stem}.{node.name}", found, namespace


def _qualified(tree: ast.Module, node: ast.FunctionDef, namespace: dict[str, object]) -> Any:
    if node in tree.body:
        return namespace.get(node.name)
    for each in tree.body:
        if isinstance(each, ast.ClassDef) and node in each.body:
            return inspect.getattr_static(namespace.get(each.name), node.name, None)
    return None


def package(folder: str, *, classes: bool) -> Iterator[Subject]:
    """Top-level functions that take tensors, or the forwards of modules, of the files of a package."""
    root = Path(folder)
    value: Any
    base = root
    while (base.parent / "__init__.py").exists():
        base = base.parent
    sys.path.insert(0, str(base.parent))
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if "torch" not in text or any(
            word in str(path).lower() for word in (*_OTHER_MACHINES, "test", "convert_", "tokeniz", "flax", "tf_")
        ):
            continue
        names = ".".join(path.relative_to(base.parent).parent.parts)
        if int(hashlib.sha1(str(path.name).encode()).hexdigest(), 16) % _SHARE and root.name == "models":  # noqa: S324
            continue
        namespace = loaded(path, names)
        for name, value in sorted(namespace.items()):
            own = getattr(value, "__module__", None) == namespace["__name__"]
            if (
                own
                and classes
                and isinstance(value, type)
                and issubclass(value, torch.nn.Module)
                and "forward" in vars(value)
            ):
                yield f"{path.stem}.{name}.forward", vars(value)["forward"], namespace
            function = cast("Any", value)
            if own and not classes and inspect.isfunction(function) and _takes_tensors(name, function):
                yield f"{path.stem}.{name}", function, namespace


_SHARE = 12  # of the model files of transformers, one in so many


def _takes_tensors(name: str, function: Callable[..., Any]) -> bool:
    if name.lstrip("_").startswith(_NOT_TENSORS) or any(word in name for word in _OTHER_MACHINES):
        return False
    tree = source.tree_of(function)
    if tree is None or inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        return False
    stated = [str(each.annotation) for each in inspect.signature(function).parameters.values()]
    usages = {each: usage.Usage() for each in inspect.signature(function).parameters}
    body.read(function, usages, 0)
    return any("Tensor" in each for each in stated) or any(each.tensor > 1.5 for each in usages.values())


def searched(subject: Subject, seconds: float) -> dict[str, Any]:
    """The outcome of one search, in a process of its own."""
    name, function, namespace = subject
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(int(seconds * 4) + 5)
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        for each in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), each)
        try:
            result = search.find_inputs(function, namespace=namespace, seconds=seconds, variants=1)
            answer = {**result._asdict(), "found": isinstance(result, search.Found)}
        except BaseException as error:  # noqa: BLE001
            answer = {
                "found": False,
                "reason": f"SEARCH FAILED {type(error).__name__}: {error}",
                "tries": 0,
                "seconds": 0.0,
            }
        os.write(writing, json.dumps(answer)[:60000].encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    answer = (
        json.loads(text) if text else {"found": False, "reason": "crashed or hung", "tries": 0, "seconds": seconds * 4}
    )
    return {"name": name, **answer}


def _nothing(*_arguments: object, **_options: object) -> tuple[()]:
    return ()


#: What the search is guided by, and how each is left out.
_PARTS: dict[str, tuple[Any, str, Any]] = {
    "annotations": (stated, "read", lambda *_: None),
    "body": (body, "read", _nothing),
    "checks": (exploring, "demanded", _nothing),
    "messages": (exploring, "repairs", _nothing),
}


def half_of(name: str) -> str:
    """Which half a name belongs to."""
    return "tuned" if hashlib.sha1(name.encode()).digest()[0] & 1 else "held"  # noqa: S324


def subjects(group: str) -> Iterator[Subject]:
    """The functions of a group."""
    kind, _, folder = group.partition("=")
    if kind == "cases":
        return cases(folder or str(ROOT / "tests" / "corpus" / "cases"))
    if kind in {"package", "classes"}:
        return package(folder, classes=kind == "classes")
    return {"functional": functional, "modules": modules, "refs": refs}[kind]()


def main() -> None:
    """Prints, for each group and half, the share found, and tries and seconds of the median and the slowest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="+")
    parser.add_argument("--half", choices=("tuned", "held"))
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--without", action="append", choices=sorted(_PARTS), default=[])
    options = parser.parse_args()
    for part in options.without:
        owner, name, none = _PARTS[part]
        setattr(owner, name, none)
    torch.set_num_threads(1)
    os.chdir(tempfile.mkdtemp())
    for group in options.groups:
        chosen = sorted(subjects(group), key=lambda each: hashlib.sha1(each[0].encode()).digest())[: options.most]  # noqa: S324
        results: dict[str, list[dict[str, Any]]] = {"tuned": [], "held": []}
        for subject in chosen:
            half = half_of(subject[0])
            if options.half in {None, half}:
                results[half].append(searched(subject, options.seconds))
        for half, rows in results.items():
            _print(group, half, rows, show=options.show)


def _print(group: str, half: str, rows: list[dict[str, Any]], *, show: bool) -> None:
    if not rows:
        return
    found = [row for row in rows if row["found"]]
    tries, seconds = sorted(row["tries"] for row in found) or [0], sorted(row["seconds"] for row in found) or [0.0]
    lacks = Counter(row["lacks"] or "good" for row in found)
    tries_text = f"tries: median {tries[len(tries) // 2]}, most {tries[-1]}"
    seconds_text = f"seconds: median {seconds[len(seconds) // 2]:.3f}, most {seconds[-1]:.1f}"
    share = f"{len(found)}/{len(rows)} = {len(found) / len(rows):.0%}"
    print(f"{group.rpartition('/')[2]:14} {half:6} {share}  {dict(lacks)}  {tries_text}  {seconds_text}", flush=True)
    for row in rows if show else ():
        if not row["found"] or row["lacks"]:
            print(f"    {row['name']}: {row.get('reason') or row.get('lacks')}"[:230])


if __name__ == "__main__":
    main()

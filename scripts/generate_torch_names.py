"""Asks the installed torch what its public names are and writes `analysis/nonstrict/knowledge/data/torch_names.json`.

Run with an environment that has torch: `python scripts/generate_torch_names.py`. Kinds come from the objects, what
classes of `torch.nn` do from their source.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import pkgutil
import types
import warnings
from pathlib import Path
from typing import Any

import torch
from module_sources import ModuleFacts, module_facts

DATA = Path(__file__).resolve().parent.parent / "analysis/nonstrict/knowledge/data"

# Packages whose modules are no public interface for user code, or that cannot be imported without more software.
SKIPPED = (
    "torch._",
    "torch.testing",
    "torch.onnx",
    "torch.utils.tensorboard",
    "torch.utils.benchmark",
    "torch.utils.model_dump",
    "torch.utils.bottleneck",
    "torch.utils.serialization",
    "torch.utils.jit",
    "torch.utils.hipify",
    "torch.utils.data.datapipes.gen_pyi",
    "torch.utils._",
    "torch.ao",
    "torch.quantization",
    "torch.distributed.elastic",
    "torch.distributed.run",
    "torch.distributed.launch",
    "torch.distributed.argparse_util",
    "torch.distributed.benchmarks",
    "torch.distributed._",
    "torch.package",
    "torch.jit.",
    "torch.fx.passes",
    "torch.fx.experimental.migrate_gradual_types",
    "torch.fx.experimental.unification",
    "torch.contrib",
    "torch.nn.quantized",
    "torch.nn.quantizable",
    "torch.nn.qat",
    "torch.nn.intrinsic",
    "torch.nn.backends",
    "torch.backends._",
    "torch.cuda._",
    "torch.xpu._",
    "torch.mtia._",
    "torch.multiprocessing.",
)
# Private modules that the marker APIs and their users name.
INCLUDED = (
    "torch._dynamo",
    "torch._dynamo.decorators",
    "torch._dynamo.external_utils",
    "torch._higher_order_ops",
    "torch._functorch.aot_autograd",
    "torch._functorch.vmap",
    "torch._tensor",
    "torch._ops",
    "torch._library",
    "torch._C._functorch",
    "torch._VF",
    "torch.utils._pytree",
    "torch.utils._python_dispatch",
    "torch.utils._cxx_pytree",
    "torch._subclasses.fake_tensor",
    "torch._subclasses",
)


def modules() -> dict[str, types.ModuleType]:
    """Public modules of torch by name; those that need software which is not installed are left out."""
    found: dict[str, types.ModuleType] = {"torch": torch}
    names = [info.name for info in pkgutil.walk_packages(torch.__path__, "torch.", onerror=lambda _: None)]
    names = [name for name in names if not name.startswith(SKIPPED) and "._" not in name]
    for name in sorted({*names, *INCLUDED}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[name] = importlib.import_module(name)
            except (ImportError, AttributeError, RuntimeError, AssertionError, OSError):
                continue
    return found


def kind_of(value: Any) -> str | None:
    """The kind of one public object, in the words of `nonstrict.knowledge.operators.torch_kind`."""
    if isinstance(value, types.ModuleType):
        return "module" if value.__name__.startswith("torch") else None
    if isinstance(value, type):
        return class_kind(value)
    if isinstance(value, torch.dtype):
        return "dtype"
    if callable(value):
        home = str(getattr(value, "__module__", None) or "torch")
        if not home.startswith("torch"):
            return None
        wrapped = getattr(value, "__wrapped__", None)
        code = getattr(value, "__code__", None)
        is_manager = wrapped is not None and code is not None and code.co_filename.endswith("contextlib.py")
        return "context-manager" if is_manager else "function"
    return "constant"


def class_kind(value: type) -> str | None:
    """The kind of a class; None for one that torch only imports."""
    if not value.__module__.startswith("torch"):
        return None
    bases: list[tuple[type, str]] = [
        (torch.nn.Module, "nn-module-class"),
        (torch.Tensor, "tensor-class"),
        (torch.autograd.Function, "autograd-function"),
        (torch.Generator, "generator-class"),
        (torch.optim.Optimizer, "optimizer-class"),
        (BaseException, "exception"),
    ]
    named = next((word for base, word in bases if issubclass(value, base)), None)
    if named is not None:
        return named
    if hasattr(value, "__enter__") and hasattr(value, "__exit__"):
        return "context-manager"
    return "class"


def public_names(module: types.ModuleType) -> dict[str, Any]:
    """Members that user code may name: not private, besides the few private modules of `INCLUDED`."""
    listed: set[str] = set(getattr(module, "__all__", ()))
    names = {name for name in dir(module) if not name.startswith("_")} | listed
    if module is torch:
        names |= {"_dynamo", "_check", "_C", "_assert", "_assert_async", "_VF", "_foreach_add", "_inductor"}
        names |= {name for name in dir(torch) if name.startswith(("_check", "_foreach_"))}
    found: dict[str, Any] = {}
    for name in sorted(names):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[name] = getattr(module, name)
            except (AttributeError, RuntimeError, ImportError):
                continue
    return found


def all_names(found: dict[str, types.ModuleType]) -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
    """Kinds of names by module, and for each class or function of torch's own all dotted names that it has."""
    table: dict[str, dict[str, list[str]]] = {}
    spellings: dict[int, list[str]] = {}
    keep: list[Any] = []
    for module_name, module in found.items():
        for name, value in public_names(module).items():
            kind = kind_of(value)
            if kind is None or (kind == "constant" and module_name.startswith("torch._")):
                continue
            table.setdefault(module_name, {}).setdefault(kind, []).append(name)
            if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
                keep.append(value)
                spellings.setdefault(id(value), []).append(f"{module_name}.{name}")
    names = {
        module: {kind: " ".join(sorted(n)) for kind, n in sorted(kinds.items())} for module, kinds in table.items()
    }
    groups = {min(names_of, key=rank): names_of for names_of in spellings.values() if len(names_of) > 1}
    return names, groups


def rank(name: str) -> tuple[bool, int, int, str]:
    """Order of preference among names of one object: public paths first, then `torch.nn`-like short ones."""
    return ("._" in name, name.count("."), len(name), name)


def nn_classes(aliases: dict[str, str]) -> dict[str, list[Any]]:
    """Encoded facts of every module class of `torch.nn`, by documented name."""
    rows: dict[str, list[Any]] = {}
    facts: dict[type, ModuleFacts] = {}
    for package in ("torch.nn", "torch.nn.modules", "torch.nn.utils", "torch.nn.parallel"):
        home: Any = importlib.import_module(package)
        for info in [None, *pkgutil.iter_modules(home.__path__, package + ".")]:
            module: Any = home if info is None else importlib.import_module(info.name)
            for name, value in vars(module).items():
                if inspect.isclass(value) and issubclass(value, torch.nn.Module) and not name.startswith("__"):
                    full = f"{module.__name__}.{name}"
                    rows[aliases.get(full, full)] = list(module_facts(value, facts).encoded())
    return dict(sorted(rows.items()))


def one_per_line(rows: dict[str, Any]) -> str:
    """A JSON object with one entry a line, so that a change of torch shows as a readable difference."""
    lines = (f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in sorted(rows.items()))
    return "{\n" + ",\n".join(lines) + "\n}"


def document() -> str:
    """The whole data file."""
    names, groups = all_names(modules())
    aliases = {other: best for best, others in groups.items() for other in others if other != best}
    parts = {
        "torch": json.dumps(torch.__version__.split("+")[0]),
        "names": one_per_line(names),
        "aliases": one_per_line(aliases),
        "modules": one_per_line(nn_classes(aliases)),
    }
    return "{\n" + ",\n".join(f'"{key}": {value}' for key, value in parts.items()) + "\n}\n"


def main() -> None:
    """Writes the data file, or the file named by `--output`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=DATA / "torch_names.json")
    output: Path = parser.parse_args().output
    text = document()
    json.loads(text)
    output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

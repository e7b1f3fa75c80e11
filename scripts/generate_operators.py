"""Asks the installed torch what its operators do and writes `analysis/nonstrict/knowledge/data/operators.json`.

Run with an environment that has torch: `python scripts/generate_operators.py`. Sources, in this order: torch's operator
schemas and tags (mutation, aliasing, randomness, data dependence), its type stubs (what Python gets back), and
measurements (`operator_probes.py`, `operator_results.py`) for what neither states.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import array_functions as arrays
import operator_floats as floats
import operator_probes as probes
import operator_results as results
import operator_shapes as shapes
import operator_values as values
import torch
from operator_stubs import annotation_kind, stub_returns

DATA = Path(__file__).resolve().parent.parent / "analysis/nonstrict/knowledge/data"
STUBS = Path(torch.__file__).parent

# Modules whose functions are operators: what they hold is a table of functions of tensors.
FUNCTION_MODULES = (
    "torch",
    "torch.functional",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.linalg",
    "torch.fft",
    "torch.special",
    "torch.sparse",
    "torch.signal.windows",
    "torch.nested",
    "torch.masked",
)

# Members of torch.Tensor that hand tensor data to Python in C, without an operator whose tag would say so.
# Source: torch/csrc/autograd/python_variable_methods.cpp and torch/_tensor.py.
READS_DATA = frozenset(
    {"numpy", "tolist", "__array__", "__bool__", "__int__", "__float__", "__index__", "__complex__", "__contains__"}
    | {"__nonzero__", "__long__", "__cuda_array_interface__"}
)
# Methods that change what a tensor is and are not run, as they change the process: `probes.UNSAFE`.
MOVES_MEMORY = frozenset({"share_memory_"})


@dataclass
class Row:
    """What is known of one operator; the field names are those of `nonstrict.knowledge.operators.Operator`."""

    returns: str = "other"
    dim_returns: str = ""
    mutates: set[int] = field(default_factory=set[int])
    flags: set[str] = field(default_factory=set[str])
    dynamic_arity: int = 0
    dtype: str = ""
    dim: int = 0
    keepdim: int = 0
    sizes: set[int] = field(default_factory=set[int])

    def encoded(self) -> list[Any]:
        """The row as stored, as `nonstrict.knowledge.operators` decodes it, empty tails cut."""
        flags = "".join(letter for name, letter in FLAGS.items() if name in self.flags)
        returns, dim_returns = ("other" if kind == "value" else kind for kind in (self.returns, self.dim_returns))
        row: list[Any] = [returns, flags, sorted(self.mutates), dim_returns, self.dynamic_arity, self.dtype]
        row += [self.dim, self.keepdim, sorted(self.sizes)]
        while len(row) > 1 and not row[-1]:
            row.pop()
        return row


FLAGS = {
    "out": "o",
    "views": "v",
    "random": "r",
    "data_dependent": "d",
    "dynamic_shape": "s",
    "metadata": "m",
    "reduces": "a",
    "inplace": "i",
    "pointwise": "p",
    "floating": "f",
    "keeps_shape": "k",
    "sized": "z",
    "spread": "e",
    "pairs": "t",
    "joins": "j",
    "casts": "c",
    "lays_out": "l",
    "permutes": "P",
    "rebinds": "b",
    "reshapes": "h",
    "detaches": "D",
    "folds": "F",
    "folds_tensors": "T",
    "keeps_values": "V",
    "takes_sizes": "S",
    "specializes": "N",
    "of_data": "O",
    "uninitialised": "u",
    "settles": "I",
    "changes": "C",
}


def schema_return_kind(schema: Any) -> str:
    """The kind of value that an operator schema returns to Python."""
    names = [str(returned.type) for returned in schema.returns]
    if not names:
        return "none"
    if len(names) > 1:
        return "tensors" if all("Tensor" in name for name in names) else "other"
    if names[0] == "Tensor":
        return "tensor"
    if "Tensor" in names[0]:
        return "tensors"
    if names[0] == "bool":
        return "bool"
    if names[0] in {"int", "float", "SymInt", "SymFloat", "number", "complex"}:
        return "number"
    return "size" if names[0] in {"List[int]", "List[SymInt]"} else "other"


def is_out_variant(schema: Any) -> bool:
    """Whether a schema is the `out=` form: it writes keyword-only arguments."""
    return any(a.kwarg_only and a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)


def tensor_schemas(name: str) -> list[Any]:
    """The schemas of `aten::name` that take or make tensors, without those of TorchScript's lists and strings."""
    chosen: list[Any] = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        types = [str(argument.type) for argument in schema.arguments]
        holds = any("Tensor" in kind for kind in (*types, *(str(r.type) for r in schema.returns)))
        if holds and not any(kind in {"t", "List[t]", "List[Tensor]"} for kind in types[:1] if name in LIST_METHODS):
            chosen.append(schema)
    return chosen


LIST_METHODS = frozenset({"add_", "append", "copy", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"})


def schema_row(name: str) -> Row | None:
    """What the schemas and tags of `aten::name` say, or None where torch has no such operator."""
    schemas = tensor_schemas(name)
    if not schemas:
        return None
    row = Row()
    plain = [schema for schema in schemas if not is_out_variant(schema)]
    if len(plain) < len(schemas):
        row.flags.add("out")
    for schema in plain:
        add_schema_effects(row, schema)
    add_tags(row, name)
    if plain:
        row.returns = schema_return_kind(plain[0])
        with_dim = [schema for schema in plain if any(a.name == "dim" for a in schema.arguments)]
        if with_dim and schema_return_kind(with_dim[0]) != row.returns:
            row.dim_returns = schema_return_kind(with_dim[0])
    return row


TAGS: dict[Any, str] = {
    torch.Tag.nondeterministic_seeded: "random",
    torch.Tag.data_dependent_output: "data_dependent",
    torch.Tag.dynamic_output_shape: "dynamic_shape",
}


def add_tags(row: Row, name: str) -> None:
    """Adds what the tags of the overloads say.

    Where only some overloads have results of a size that depends on data, `dynamic_arity` is the number of arguments
    of the shortest of them: `torch.where(condition)`, as against `torch.where(condition, a, b)`.
    """
    packet = getattr(torch.ops.aten, name, None)
    overloads = [getattr(packet, overload) for overload in packet.overloads()] if packet is not None else []
    for overload in overloads:
        row.flags.update(flag for tag, flag in TAGS.items() if tag in overload.tags)
    plain = [overload for overload in overloads if not is_out_variant(overload._schema)]
    dynamic = [overload for overload in plain if torch.Tag.dynamic_output_shape in overload.tags]
    if dynamic and len(dynamic) < len(plain):
        row.dynamic_arity = min(sum(not a.has_default_value() for a in o._schema.arguments) for o in dynamic)
        row.flags.discard("dynamic_shape")


def add_schema_effects(row: Row, schema: Any) -> None:
    """Adds the mutated positions and the aliasing of one schema to `row`."""
    first = schema.arguments[0].alias_info if schema.arguments else None
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            row.mutates.add(position)
        if argument.name == "keepdim" and not argument.kwarg_only:
            row.keepdim = position
    if first is not None and any(f"({name.rpartition('::')[2]}" in returned_text(schema) for name in first.before_set):
        row.flags.add("views")
    if [one.name for one in schema.returns] == ["values", "indices"]:
        row.flags.add("pairs")


def returned_text(schema: Any) -> str:
    """The part of a schema after the arrow: the aliases of lists of tensors stand only in the text."""
    return str(schema).rpartition("->")[2]


def python_row(function: Any, rows: dict[str, Row]) -> Row:
    """What the source of a Python function says: its annotation, its `out`/`inplace`, the operators that it calls."""
    row = Row()
    try:
        signature = inspect.signature(function)
        source = textwrap.dedent(inspect.getsource(function))
    except (TypeError, ValueError, OSError):
        return row
    annotation = signature.return_annotation
    row.returns = annotation_kind(annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))
    row.flags.update({"out", "inplace"} & set(signature.parameters))
    positional = [one.name for one in signature.parameters.values() if one.kind is not one.KEYWORD_ONLY]
    row.keepdim = positional.index("keepdim") if "keepdim" in positional else 0
    if function.__name__.endswith("_") and not function.__name__.startswith("_"):
        row.mutates.add(0)
        row.flags.add("views")
    for callee in called_names(source):
        known = rows.get(callee)
        if known is not None:
            row.flags |= known.flags & {"random", "dynamic_shape"}
    return row


def called_names(source: str) -> set[str]:
    """Last components of the dotted names under torch's own modules that `source` calls."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            base = ast.unparse(node.func.value)
            if base in {"torch", "_VF", "torch._VF", "torch._C._nn", "self", "input", "tensor"}:
                names.add(node.func.attr)
    return names


def boolean_dispatch_targets(function: Any) -> list[Any]:
    """The two functions behind one made by `torch._jit_internal.boolean_dispatch` (`F.max_pool2d`, `torch.unique`)."""
    from torch._jit_internal import boolean_dispatched

    entry: Any = boolean_dispatched.get(function) if inspect.isfunction(function) else None
    return [entry["if_false"], entry["if_true"]] if entry else []


def operator_row(function: Any, name: str, stubs: dict[str, list[tuple[str, bool, bool]]]) -> Row:
    """Everything known about one function or method of torch, measured where nothing states it."""
    builtin = getattr(function, "__name__", name)
    targets = boolean_dispatch_targets(function) if callable(function) else []
    in_python = inspect.isfunction(function)
    row = None if in_python else schema_row(builtin)
    if row is None:
        row = python_row(targets[0] if targets else function, SCHEMA_ROWS) if in_python else Row()
        # A window function and a distribution may share a name.
        is_window = str(getattr(function, "__module__", "")).startswith("torch.signal")
        by_name = schema_row(name) if in_python and not is_window else None
        if by_name is not None:
            row.flags |= by_name.flags - {"out"}
            row.returns = by_name.returns if row.returns == "other" else row.returns
            row.mutates |= by_name.mutates
            row.dynamic_arity = by_name.dynamic_arity
    for target in targets[1:]:
        other = python_row(target, SCHEMA_ROWS)
        row.flags |= other.flags
    if not in_python or row.returns == "other":
        apply_stub(row, stubs.get(name, []))
    return row


def apply_stub(row: Row, overloads: list[tuple[str, bool, bool]]) -> None:
    """Corrects the kind of the result by the stub, which knows what Python gets."""
    if not overloads:
        return
    if any(out for _, _, out in overloads):
        row.flags.add("out")
    kinds = [kind for kind, _, _ in overloads if kind != "other"]
    if not kinds:
        return
    kinds = [kind for kind in kinds if kind != "none"] or kinds
    row.returns = max(kinds, key=lambda kind: (kinds.count(kind), kind == "tensor"))
    with_dim = [kind for kind, dim, _ in overloads if dim and kind not in ("other", row.returns)]
    row.dim_returns = with_dim[0] if with_dim else ""


class _SchemaRows(dict[str, Row]):
    """Rows of operators by bare name, read from the schemas on demand."""

    def __missing__(self, name: str) -> Row:
        row = schema_row(name) or Row()
        self[name] = row
        return row

    def get(self, key: str, default: Any = None) -> Any:
        """The row of `key`, from the schemas."""
        return self[key] if default is None else default


SCHEMA_ROWS = _SchemaRows()


def measured(row: Row, function: Any, name: str, *, method: bool) -> None:
    """Adds to `row` what only a run on fake tensors shows."""
    schemas = [schema for schema in tensor_schemas(name) if not is_out_variant(schema)]
    seen = probes.probe(function, schemas, writes=bool(row.mutates) or name.endswith("_"), method=method)
    row.flags |= seen.flags
    if "dynamic_shape" not in row.flags:
        row.dynamic_arity = row.dynamic_arity or seen.dynamic_arity
    if row.dynamic_arity:
        row.flags.discard("dynamic_shape")
    if row.returns in ("tensor", "tensors") and seen.returns != row.returns:
        # The bare call gives something else than the usual one: `x.type()` is a string.
        row.flags.discard("metadata")
    row.mutates |= seen.mutates
    # What refused every sample so far is not asked again: some operators crash the process on unsuitable ones. One that
    # needs nothing but its tensor has only missed its options: `clamp` wants one of two bounds.
    bare = not seen.returns and row.returns == "tensor" and probes.calls(function, schemas, method=method) == [[]]
    asked = seen.returns in ("tensor", "tensors") or bare
    few = method and row.returns == "tensor" and not row.mutates
    dtypes = results.dtypes(function, schemas, method=method) if asked or few else results.Dtypes()
    if not method and row.returns == "tensor" and not dtypes.rule and not dtypes.floating:
        dtypes = results.of_sizes(function, schemas)
    row.dtype = dtypes.rule
    if dtypes.floating and not row.mutates:
        row.flags.add("floating")
    if asked and shapes.is_pointwise(function, schemas, method=method):
        row.flags.add("pointwise")
    if (asked or few) and not row.mutates and shapes.keeps_shape(function, schemas, method=method):
        row.flags.add("keeps_shape")
    if row.returns == "other" and seen.returns:
        row.returns = seen.returns
    if row.returns == "tensor" and not row.mutates and "views" not in row.flags:
        row.flags |= shapes.takes_sizes(function, schemas, method=method)
        row.sizes = set[int]() if method else shapes.later_sizes(function, schemas)
    row.flags |= values.flags(function, schemas, row.flags, method=method, in_place=row.mutates or name.endswith("_"))
    if row.returns in ("tensor", "tensors") and not row.mutates and "views" not in row.flags:
        row.dim = shapes.reduced_dimension(function, schemas)


def methods() -> dict[str, Row]:
    """Rows of every callable member of `torch.Tensor`."""
    stubs = stub_returns(STUBS / "_C/__init__.pyi", "TensorBase")
    rows: dict[str, Row] = {}
    for name in sorted(dir(torch.Tensor)):
        member = inspect.getattr_static(torch.Tensor, name)
        if isinstance(member, (property, staticmethod, classmethod)) or name in OBJECT_MEMBERS:
            continue
        member = getattr(torch.Tensor, name)
        if not callable(member):
            continue
        row = operator_row(member, name, stubs)
        measured(row, member, getattr(member, "__name__", name), method=True)
        if name in READS_DATA:
            row.flags.add("data_dependent")
        if name in MOVES_MEMORY:
            row.flags.add("rebinds")
        rows[name] = row
    # A tensor is moved to an accelerator as it is to the processor; not every machine has one to ask.
    rows["cuda"].flags |= rows["cpu"].flags
    rows["cuda"].dtype = rows["cpu"].dtype
    return rows


OBJECT_MEMBERS = frozenset(dir(object)) - {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"}


def functions(known: dict[str, Row]) -> dict[str, Row]:
    """Rows of every public function of the modules that hold operators, and of torch's operators behind an underscore.

    `known` are those of the methods: of a function that is also one, what was measured of the method is true as well.

    Custom optimizers and quantised layers are written with these: `_foreach_add_`, `_int_mm`, `_scaled_mm`.
    """
    stubs = stub_returns(STUBS / "_C/_VariableFunctions.pyi")
    nn_stubs = stub_returns(STUBS / "_C/_nn.pyi")
    rows: dict[str, Row] = {}
    for module_name in FUNCTION_MODULES:
        module: Any = sys.modules[module_name]
        for name in sorted(vars(module)):
            function = getattr(module, name)
            if name.startswith("_") and not (module_name == "torch" and is_internal_operator(name, function)):
                continue
            if isinstance(function, type) or not callable(function) or not is_operator(function):
                continue
            chosen = stubs if module_name == "torch" else nn_stubs if module_name == "torch.nn.functional" else {}
            row = operator_row(function, name, chosen)
            # Operators behind an underscore do not check what they are given: samples crash the process.
            if not name.startswith("_"):
                measured(row, function, getattr(function, "__name__", name), method=False)
            if module_name == "torch" and inspect.isbuiltin(function) and name in known:
                row.flags |= known[name].flags & values.OF_BOTH
                row.dtype = row.dtype or (known[name].dtype if "views" in row.flags else "")
            rows[f"{module_name}.{name}"] = row
    return rows


def is_internal_operator(name: str, function: Any) -> bool:
    """Whether a member of `torch` whose name begins with an underscore is an operator in C, not one for tests."""
    return inspect.isbuiltin(function) and not name.startswith(("__", "_test", "_foobar", "_print"))


def is_operator(function: Any) -> bool:
    """Whether a member of a function module is a function of tensors rather than a helper imported there."""
    if inspect.isbuiltin(function):
        if function.__name__ in MAKERS:
            return True
        return bool(tensor_schemas(function.__name__)) or hasattr(torch.Tensor, function.__name__)
    home = str(getattr(function, "__module__", ""))
    if home == "torch" and inspect.isfunction(function):
        return any("Tensor" in str(note) for note in function.__annotations__.values())
    if home == "torch._jit_internal":
        return bool(boolean_dispatch_targets(function))
    return inspect.isfunction(function) and home.startswith(HOMES)


# Functions in C that make tensors from Python values and have no schema; their stubs say what they return.
MAKERS = frozenset(
    name
    for name, overloads in stub_returns(STUBS / "_C/_VariableFunctions.pyi").items()
    if any(kind == "tensor" for kind, _, _ in overloads)
)

HOMES = (
    "torch.functional",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.sparse",
    "torch.signal",
    "torch.nested",
    "torch.masked",
)


def attributes() -> dict[str, str]:
    """Kinds of the properties of `torch.Tensor`, measured on sample tensors, by the stub where they are unset."""
    samples = [torch.ones(2, 3), torch.ones(2, 3, dtype=torch.complex64), torch.ones(2, requires_grad=True)]
    (samples[2] * 2).sum().backward()
    samples.append(samples[2] * 2)
    kinds: dict[str, str] = {}
    for name in sorted(dir(torch.Tensor)):
        member = inspect.getattr_static(torch.Tensor, name)
        if not (isinstance(member, property) or inspect.isgetsetdescriptor(member)) or name.startswith("__"):
            continue
        kinds[name] = probes.attribute_kind(samples, name)
    return kinds


def render(rows: dict[str, Any]) -> str:
    """A JSON object with one entry a line, so that a change of torch shows as a readable difference."""
    lines = (f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in sorted(rows.items()))
    return "{\n" + ",\n".join(lines) + "\n}"


def document(anew: bool) -> str:
    """The whole data file; what becomes of numbers is measured `anew`, or as it was."""
    import numpy as np

    members = sorted(set(dir(torch.Tensor)) - probes.common_members())
    of_tensors = methods()
    of_all = functions(of_tensors)
    parts = {
        "torch": json.dumps(torch.__version__.split("+")[0]),
        "flags": json.dumps({letter: name for name, letter in FLAGS.items()}),
        "methods": render({name: row.encoded() for name, row in of_tensors.items()}),
        "functions": render({name: row.encoded() for name, row in of_all.items()}),
        "attributes": render(attributes()),
        "floats": render(floats.described(of_all, of_tensors, tensor_schemas) if anew else floats.stored(DATA)),
        "tensor_only": json.dumps(" ".join(members)),
        "shared_with_arrays": json.dumps(" ".join(name for name in members if hasattr(np.ndarray, name))),
        "sizeless": json.dumps(" ".join(values.sizeless_members())),
        "module_members": json.dumps(" ".join(name for name in dir(torch.nn.Module()) if not name.startswith("_"))),
        "arrays": json.dumps(arrays.described()),
    }
    return "{\n" + ",\n".join(f'"{key}": {value}' for key, value in parts.items()) + "\n}\n"


def main() -> None:
    """Writes the data file, or the file named by `--output`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=DATA / "operators.json")
    parser.add_argument("--floats", action="store_true", help="measure what becomes of numbers too: ten minutes")
    options = parser.parse_args()
    text = document(options.floats)
    json.loads(text)
    Path(options.output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""What torch's own operators, tensor members, public names and modules do.

Every answer comes from `data/operators.json` and `data/torch_names.json`, which `scripts/generate_operators.py` and
`scripts/generate_torch_names.py` make by asking torch: schemas, tags, stubs, source and runs on fake tensors.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from nonstrict.knowledge.devices import EXTENSIONS, is_extension_property
from nonstrict.knowledge.store import data_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_Given = TypeVar("_Given")
_NUMBER = re.compile(r"\d+")
#: The dtypes of real floating-point numbers with which torch computes.
FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
#: Properties that are tensors of their own.
_OTHER_MEMORY = frozenset({"grad", "_grad"})
#: A position that no argument has.
_NOWHERE = 1 << 30
#: Those of whole numbers and of truth values.
WHOLE = frozenset({"int64", "int32", "int16", "int8", "uint8", "bool"})


class Operator(NamedTuple):
    """One function or tensor method of torch.

    `mutates` holds the positions of arguments written in place (0 is the first, or self). `returns` is one of
    `tensor`, `tensors`, `number`, `bool`, `size`, `none`, `other`; `dim_returns` is what a call that names `dim` gives
    instead, empty where it is the same. `views`: the result may alias argument 0 (also true for in-place operators).
    `reduces`: without further arguments the result has no dimensions. `metadata`: the data of argument 0 is not read.
    `dynamic_shape`: the size of the result depends on data, in every form; `dynamic_arity` is set instead where only
    the form with that many arguments does (`torch.where(condition)`: 1). `data_dependent`: a tensor is read by Python.
    `inplace`: it has a parameter `inplace` that, when true, writes argument 0. `pointwise`: the result always has the
    shape to which the tensors among the arguments are broadcast. `keeps_shape`: every result has the shape of argument
    0, whatever the further arguments are. `sized`: argument 0, of a method the one behind its receiver, is the shape of
    what it makes; `spread`: the sizes may also be given one by one. `sizes`: the positions behind numbers at which
    others take that shape, one for each number of them: `torch.randint`. `dim`: the position of the dimension over
    which it reduces, 0 where it does not: no result has that dimension. `keepdim`: that of the argument of this name, 0
    where it is given by name, if at all. `pairs`: it gives values and their indices, maybe only
    if it is told a dimension. `dtypes` is asked by `result_dtype`, `floating` by
    `gives_floating`. `joins`: argument 0 is a list of tensors, and the result of the dtype to which they are promoted.

    Of memory: `casts`: the result is argument 0 itself where it has the dtype and the device that are asked for, else a
    copy; `lays_out`: it shares the memory of argument 0 where the layout of this allows, else it is a copy; `permutes`:
    it is a view with the dimensions in another order; `rebinds`: a method that changes what its tensor is, not what it
    holds; `reshapes`: such a one after which the tensor may have another shape; `uninitialised`: the result holds what
    the memory held.
    Of values: `keeps_values`: those of the result are those of argument 0; `of_data`: it makes a tensor of numbers;
    `settles`: of its own result it makes the same again; `changes`: it always makes something else; `folds`: the tracer
    knows the results of one element for tensors of one element, or numbers, that it knows, `folds_tensors`: it
    does where nothing but tensors is given; `takes_sizes`: numbers that
    are given are sizes of the result, or say how many there are; `specializes`: it wants to know such a number.
    `detaches`: no gradient flows from a floating-point result to argument 0.
    Of a Python `float` that is an input of Dynamo's graph: `floats` says for some parameters what becomes of it
    (`lowers`).
    """

    mutates: tuple[int, ...] = ()
    out: bool = False
    returns: str = "other"
    views: bool = False
    random: bool = False
    data_dependent: bool = False
    dynamic_shape: bool = False
    metadata: bool = False
    reduces: bool = False
    inplace: bool = False
    pointwise: bool = False
    floating: bool = False
    keeps_shape: bool = False
    sized: bool = False
    spread: bool = False
    pairs: bool = False
    joins: bool = False
    casts: bool = False
    lays_out: bool = False
    permutes: bool = False
    rebinds: bool = False
    reshapes: bool = False
    detaches: bool = False
    folds: bool = False
    folds_tensors: bool = False
    keeps_values: bool = False
    takes_sizes: bool = False
    specializes: bool = False
    of_data: bool = False
    uninitialised: bool = False
    settles: bool = False
    changes: bool = False
    dim_returns: str = ""
    dynamic_arity: int = 0
    dtypes: str = ""
    dim: int = 0
    keepdim: int = 0
    sizes: tuple[int, ...] = ()
    floats: str = ""

    def lowers(self, given: int | str) -> str:
        """What AOTAutograd makes of a `float` that is given by position (0 is the first argument) or by name.

        `tensorified`: a tensor stands for it. `specialized`: it becomes a constant, and Dynamo does not know. `known`:
        Dynamo takes it for a constant before, but for what is computed of it that is as `specialized`. "" where that
        was not measured.
        """
        for one in self.floats.split():
            parameter, _, kind = one.partition(":")
            name, _, position = parameter.partition("@")
            if given in (name, int(position) if position else name):
                return kind
        return ""

    def keeping(self, given: Sequence[_Given], named: Mapping[str, _Given], default: _Given) -> _Given:
        """The argument of a call that says whether the dimension stays, with size one.

        `given` are the positional arguments, the first one included. Source of the second name:
        `numpy_compatibility_arg_names` in torch/csrc/utils/python_arg_parser.cpp.
        """
        by_position = given[self.keepdim] if 0 < self.keepdim < len(given) else default
        return named.get("keepdim", named.get("keepdims", by_position))

    def result_dtype(self, of: str, given: int = 1, named: Iterable[str] = (), at: int = -1) -> str:
        """The dtype of a result, the first argument being of dtype `of`; "" where torch does not say.

        `given` is the number of positional arguments, the first one included; `named` are the keywords, each of which
        may be one that changes the dtype. `at` chooses one of the results of a call that gives several. A dtype that is
        no name of one, as `of` may be, is that of something which is not known. `default` is the default dtype.
        """
        single, several, switches = _dtypes_told(self.dtypes)
        told = several if at >= 0 else single
        if at >= len(told) or not told or (switches and _is_switched(switches, given, named)):
            return ""
        rule, whole = told[max(at, 0)]
        if rule == "promoted" or (rule in ("same", "floats") and of.startswith("complex")):
            return ""  # a norm of complex numbers is none; operators were asked with real ones
        if rule == "truths":
            return of if of == "uint8" else "bool"
        if rule == "same" or (rule == "floats" and of in FLOATS):
            return of
        return (whole if of in WHOLE else "") if rule == "floats" else rule

    def gives_floating(self, given: int = 1, named: Iterable[str] = ()) -> bool:
        """Whether the result is floating-point, or complex, whatever the dtypes of the arguments are.

        That is also said of what takes nothing else (`softmax`). `given` and `named` are those of `result_dtype`.
        """
        return self.floating and not _is_switched(_dtypes_told(self.dtypes)[2], given, named)

    @property
    def promotes(self) -> bool:
        """Whether the result has the dtype to which torch promotes those of the tensors and numbers of a call."""
        return _dtypes_told(self.dtypes)[0] == (("promoted", ""),)

    @property
    def like(self) -> bool:
        """Whether it makes another tensor like argument 0, whose data it does not read: `zeros_like`."""
        return self.metadata and self.keeps_shape and self.dtypes.startswith("same")

    @property
    def itself_or_copy(self) -> bool:
        """Whether it gives argument 0 itself or a copy, and never a view that is another object: `contiguous`."""
        return self.casts or (self.lays_out and self.keeps_shape)

    @property
    def cuts_gradients(self) -> bool:
        """Whether no gradient flows behind it: it detaches, or gives whole numbers, or numbers of Python."""
        python = self.data_dependent and self.returns not in ("tensor", "tensors")
        return self.detaches or python or self.result_dtype("float32") in WHOLE

    @property
    def may_undo(self) -> bool:
        """Whether it may undo what was computed of its elements, as it brings several to one: `floor`, `clamp`, `sort`.

        The whole may then be the same for its own result: `x.add(7).clamp(0, 1)`.
        """
        moves = self.keeps_values or self.views
        return self.settles and (self.pointwise or self.keeps_shape) and not moves

    @property
    def tells_form(self) -> bool:
        """Whether it gives Python sizes, or how many there are, of which no data is read: `size`, `numel`."""
        return self.metadata and self.returns in ("number", "size")

    @property
    def broadcasts(self) -> bool:
        """Whether it computes each element from those of several tensors, or numbers, in their place: `add`."""
        return self.pointwise and not (self.keeps_shape or self.mutates or self.views)

    @property
    def cuts(self) -> bool:
        """Whether its results are the pieces of argument 0, whose memory they share: `chunk`, `unbind`."""
        return self.views and self.returns == "tensors"


_Rules: TypeAlias = "tuple[tuple[str, str], ...]"


@cache
def _dtypes_told(column: str) -> tuple[_Rules, _Rules, tuple[tuple[str, int], ...]]:
    """What the column `dtypes` says of a single result, and of several: (rule, dtype for whole numbers).

    Last, the arguments that change the dtype, each with the position at which it may stand: `dtype@2`.
    """
    rules, _, switches = column.partition("/")
    told = [rule.split(",") for rule in rules.split("|")] if rules else []
    single = next((rule for rule in told if len(rule) == 1), list[str]())
    several = next((rule for rule in told if len(rule) > 1), list[str]())
    names = (switch.partition("@") for switch in switches.split(",") if switch)
    return _ruled(single), _ruled(several), tuple((name, int(at) if at else _NOWHERE) for name, _, at in names)


def _ruled(rules: Iterable[str]) -> _Rules:
    return tuple((rule, whole) for rule, _, whole in (told.partition(":") for told in rules))


def _is_switched(switches: tuple[tuple[str, int], ...], given: int, named: Iterable[str]) -> bool:
    """Whether a call gives one of the arguments that change the dtype: `dtype@2`, which may stand third."""
    return any(name in named or given > at for name, at in switches)


class PassedAttribute(NamedTuple):
    """An attribute of a module that its forward gives an operator, by position or by name: `p` of `nn.Dropout`."""

    name: str
    operator: str
    at: int | str


class ModuleClass(NamedTuple):
    """One class of `torch.nn`.

    `mode_dependent`: its forward, or a module that it makes, reads `training`. `mode_argument` is the constructor
    argument that switches this off when it is 0, False or None (`dropout` of an LSTM), at `mode_position` among the
    positional arguments (-1: not known); `mode_default` says whether it depends on the mode without that argument.
    `stateful`: its forward sets plain attributes. `parameters` and `buffers` are the names of those that instances
    register for themselves, with `#` for the number of a layer (`weight_ih_l#`).
    `keeps` are the attributes in which they keep an argument of the constructor that they call, `copies` those in which
    they keep a list of copies of one, each with its position. `drops` is the function that its forward is, if that is
    given `p` and `training` of the module: `torch.nn.functional.dropout`. `passes` are the attributes that its forward
    gives operators. `sized` are the arguments of the constructor that decide on the sizes of its parameters, each with
    its position.
    """

    name: str
    mode_dependent: bool = False
    has_parameters: bool = False
    container: bool = False
    stateful: bool = False
    mode_argument: str = ""
    mode_position: int = -1
    mode_default: bool = False
    parameters: frozenset[str] = frozenset()
    buffers: frozenset[str] = frozenset()
    keeps: tuple[tuple[str, int], ...] = ()
    copies: tuple[tuple[str, int], ...] = ()
    drops: str = ""
    passes: tuple[PassedAttribute, ...] = ()
    sized: tuple[tuple[str, int], ...] = ()

    def registers(self, name: str) -> str:
        """What an instance registers for itself under a name: `parameter`, `buffer`, or "" for nothing."""
        numbered = _NUMBER.sub("#", name)
        if numbered in self.parameters:
            return "parameter"
        return "buffer" if numbered in self.buffers else ""


def tensor_method(name: str) -> Operator | None:
    """The method `torch.Tensor.NAME`; None where there is none (properties are in `tensor_attribute`).

    What an extension adds to move a tensor to its device does what `cuda` does.
    """
    return _operator("methods", "cuda" if name in EXTENSIONS else name)


def reshapes(name: str) -> bool:
    """Whether a tensor may have another shape behind a method of this name, which works in place: `squeeze_`."""
    method = tensor_method(name)
    return method is not None and method.reshapes


def rebinds(name: str) -> bool:
    """Whether a method of this name changes what its tensor is, and not what it holds: `requires_grad_`, `squeeze_`."""
    method = tensor_method(name)
    return method is not None and method.rebinds


def torch_function(qualname: str) -> Operator | None:
    """The function of torch with this dotted name, in any of its public spellings.

    `torch.add`, `torch.nn.functional.relu`, `torch.functional.norm`, `torch.ops.aten.add.Tensor`, `torch.Tensor.add_`
    and `torch._C._nn.gelu` are all answered. None for everything that is not a function of tensors.
    """
    if not qualname.startswith("torch."):
        return None
    found = _operator("functions", qualname)
    return found if found is not None else _by_other_spelling(qualname)


@cache
def _by_other_spelling(qualname: str) -> Operator | None:
    if qualname.startswith("torch.Tensor."):
        return tensor_method(qualname[len("torch.Tensor.") :])
    if qualname.startswith(("torch.ops.aten.", "torch.ops.prims.")):
        name = qualname.split(".")[3]
        return _first("torch." + name, "torch.nn.functional." + name) or _aten(name) or tensor_method(name)
    for prefix in ("torch._VF.", "torch._C._VariableFunctions.", "torch._C._nn.", "torch._refs."):
        if qualname.startswith(prefix):
            name = qualname[len(prefix) :]
            return _first("torch." + name, "torch.nn.functional." + name) or _aten(name)
    return None


def _first(*names: str) -> Operator | None:
    return next((found for found in (_operator("functions", name) for name in names) if found is not None), None)


def _aten(name: str) -> Operator | None:
    """An operator that Python reaches under another name: `linalg_det` is `torch.linalg.det`."""
    head, _, tail = name.partition("_")
    return _operator("functions", f"torch.{head}.{tail}") if tail else None


def tensor_attribute(name: str) -> str | None:
    """The kind of value of a property of `torch.Tensor`; None where it has no such property.

    One of `tensor`, `size`, `dtype`, `device`, `layout`, `bool`, `number`, `string`, `other`.
    """
    return "bool" if is_extension_property(name) else data_file("operators.json")["attributes"].get(name)


def is_view_attribute(name: str) -> bool:
    """Whether a property of `torch.Tensor` of this name is a tensor in the same memory: `T`, `data`."""
    return tensor_attribute(name) == "tensor" and name not in _OTHER_MEMORY


def is_sizeless_member(name: str) -> bool:
    """Whether a member of a tensor tells nothing of its sizes but their number: an attribute, or a method's result."""
    return name in _members("sizeless")


def is_module_member(name: str) -> bool:
    """Whether every `nn.Module` has a public attribute of this name."""
    return name in _members("module_members")


def is_tensor_only_member(name: str) -> bool:
    """Whether having this member is evidence that a value is a tensor.

    False for every name that the built-in types, common containers, files, loggers, random generators, `nn.Module`,
    optimizers and torch's small value types have too. NumPy arrays share some: see `is_array_member`.
    """
    return name in _members("tensor_only")


def is_array_member(name: str) -> bool:
    """Whether a tensor-only member (`is_tensor_only_member`) is also one of `numpy.ndarray`."""
    return name in _members("shared_with_arrays")


def torch_kind(qualname: str) -> str | None:
    """What a public name of torch is; None for a name that torch does not have.

    One of `function`, `class`, `module`, `tensor-class`, `nn-module-class`, `optimizer-class`, `dtype`, `constant`,
    `context-manager` (a class or function used with `with`), `generator-class`, `autograd-function`, `exception`.
    """
    if qualname == "torch":
        return "module"
    if not qualname.startswith("torch."):
        return None
    module, _, name = qualname.rpartition(".")
    return _names_of(module).get(name)


def canonical_name(qualname: str) -> str:
    """The documented name of a torch class or function given by another public path, else `qualname` itself.

    `torch.nn.modules.linear.Linear` is `torch.nn.Linear`.
    """
    return _aliases().get(qualname, qualname)


#: The class that all modules are of: an instance of which nothing else is known may be any module.
BASE_MODULE = "torch.nn.Module"
#: All its names.
BASE_MODULES = frozenset({BASE_MODULE, "torch.nn.modules.module.Module", "torch.nn.modules.Module"})


def nn_module(qualname: str) -> ModuleClass | None:
    """The class of `torch.nn` with this name, public (`torch.nn.Dropout`) or by its module; None for others."""
    if not qualname.startswith("torch."):
        return None
    return _module_class(canonical_name(qualname))


_DECODED: dict[tuple[str, str], Operator | None] = {}


def _operator(table: str, name: str) -> Operator | None:
    key = (table, name)
    if key not in _DECODED:
        row = data_file("operators.json")[table].get(name)
        floats = data_file("operators.json")["floats"].get(f"torch.Tensor.{name}" if table == "methods" else name, "")
        _DECODED[key] = None if row is None else _decode(row)._replace(floats=floats)
    return _DECODED[key]


def _decode(row: list[Any]) -> Operator:
    # Rows are stored without their empty tails.
    empty = ["", "", (), "", 0, "", 0, 0, ()]
    returns, flags, mutates, dim_returns, arity, dtypes, dim, keepdim, sizes = row + empty[len(row) :]
    names: dict[str, str] = data_file("operators.json")["flags"]
    set_flags = {names[letter]: True for letter in flags}
    told: dict[str, Any] = {"returns": returns, "dim_returns": dim_returns, "dynamic_arity": arity, "dtypes": dtypes}
    at = {"dim": dim, "keepdim": keepdim, "sizes": tuple(sizes)}
    return Operator(mutates=tuple(mutates), **dict[str, Any](at), **told, **dict[str, Any](set_flags))


@cache
def _members(key: str) -> frozenset[str]:
    return frozenset(data_file("operators.json")[key].split())


@cache
def _names_of(module: str) -> dict[str, str]:
    """Names in one module of torch with their kinds."""
    kinds: dict[str, str] = data_file("torch_names.json")["names"].get(module, {})
    return {name: kind for kind, names in kinds.items() for name in names.split()}


@cache
def _aliases() -> dict[str, str]:
    return data_file("torch_names.json")["aliases"]


@cache
def _module_class(name: str) -> ModuleClass | None:
    row: list[Any] | None = data_file("torch_names.json")["modules"].get(name)
    if row is None:
        return None
    flags, argument, position, default, parameters, buffers, keeps, drops, passes, sized = row + [""] * (10 - len(row))
    of_argument = (argument, position, default)
    held = [(one.partition("=")[0], one.partition("=")[2]) for one in keeps.split()]
    sizes = tuple((one.partition("=")[0], int(one.partition("=")[2])) for one in sized.split())
    itself = tuple((kept, int(position)) for kept, position in held if position.isdigit())
    copies = tuple((kept, int(position[:-1])) for kept, position in held if position.endswith("*"))
    owned = (frozenset(parameters.split()), frozenset(buffers.split()), itself, copies, drops, _passed(passes), sizes)
    return ModuleClass(name, "t" in flags, "p" in flags, "c" in flags, "s" in flags, *of_argument, *owned)


def _passed(row: str) -> tuple[PassedAttribute, ...]:
    """`p=torch.nn.functional.dropout@1 inplace=torch.nn.functional.dropout@3`, as it is stored."""
    told = (re.fullmatch(r"(\w+)=([\w.]+)@(\w+)", one) for one in row.split())
    return tuple(PassedAttribute(m[1], m[2], int(m[3]) if m[3].isdecimal() else m[3]) for m in told if m)

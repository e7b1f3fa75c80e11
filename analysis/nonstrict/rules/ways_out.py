"""The cheapest right way out of a graph break, by construct: what NST701 advises."""

from __future__ import annotations

import enum

from nonstrict.models.entries import OUTPUTS, Doing
from nonstrict.models.library import SHIPPED


class _Use(enum.Enum):
    """What a construct is used for, as the cheapest way out of it."""

    MESSAGE = "log outside the region, or guard it with `if not torch.compiler.is_compiling()`"
    CLOCK = "read the clock outside the region and pass the value"
    CHANCE = "use `torch.rand`, or draw outside the region and pass the value"
    SETTING = "set it once, before the compiled function is called"
    MADE = "build it once, outside the region (a module in `__init__`)"
    QUESTION = "do it outside the region and pass the result"
    EXCHANGE = "do it outside the region and pass the result, or return what is to be written"


#: What the functions of a module are used for, whatever each of them does.
_OF_MODULES: dict[str, _Use | None] = {
    **dict.fromkeys(("absl.logging", "logging", "loguru", "tqdm", "traceback", "warnings"), _Use.MESSAGE),
    **dict.fromkeys(("datetime", "time", "timeit"), _Use.CLOCK),
    **dict.fromkeys(("numpy.random", "os.urandom", "random", "secrets", "uuid"), _Use.CHANCE),
    **dict.fromkeys(("torch.backends", "torch.cuda", "torch.random"), _Use.SETTING),
    **dict.fromkeys(("torch.nn", "torch.optim"), _Use.MADE),
    **dict.fromkeys(("torch.nn.functional", "torch.nn.init", "torch.nn.parallel", "torch.nn.utils"), None),
    **dict.fromkeys(("gc", "inspect", "sys", "types"), _Use.QUESTION),
    **dict.fromkeys(("csv", "glob", "io", "json", "os", "pathlib", "pickle", "shutil", "socket"), _Use.EXCHANGE),
    **dict.fromkeys(("subprocess", "tempfile"), _Use.EXCHANGE),
    **dict.fromkeys(("builtins.globals", "builtins.eval", "builtins.exec", "builtins.compile"), _Use.QUESTION),
}
_OF_EFFECTS = {
    **dict.fromkeys(OUTPUTS, _Use.MESSAGE),
    Doing.CLOCK: _Use.CLOCK,
    **dict.fromkeys((Doing.DRAW, Doing.RANDOM, Doing.SEED), _Use.CHANCE),
    **dict.fromkeys((Doing.TORCH_STATE, Doing.ENVIRON_WRITE), _Use.SETTING),
    **dict.fromkeys((Doing.TORCH_QUERY, Doing.ENVIRON_READ, Doing.IDENTITY), _Use.QUESTION),
    **dict.fromkeys((Doing.IO, Doing.PROCESS, Doing.PROGRAM, Doing.THREAD), _Use.EXCHANGE),
}

_ELEMENT = "use `index_select` or `gather` with an index of one element: `x.index_select(0, place.view(1))`"
_DRAWN = "draw outside the region and pass the value, or draw a tensor and choose with `torch.where`"
_CHOICE = "choose by `index_select` among stacked tensors, compute all and weight them, or choose outside the region"
_RECURRENT = (
    "call the layer outside the region, or use its cell (`nn.LSTMCell`) in a loop; "
    "`torch._dynamo.config.allow_rnn = True` is experimental"
)
_BRANCH = "return the new values from both branches, and assign them after `torch.cond`"
_MESSAGE = "let the message lambda capture only numbers and strings, bound before the call"
#: Dynamo then prints at the end of the graph (`DebuggingVariable` in `torch/_dynamo/variables/misc.py` of torch 2.13).
_PRINTED = (
    "print outside the region, guard it with `if not torch.compiler.is_compiling()`, or add `print` to "
    "`torch._dynamo.config.reorderable_logging_functions`"
)
_CHECKPOINT = "return the new values from the checkpointed function, and assign them after `checkpoint`"
#: Advice for constructs that are no plain call, by key.
_STATEMENTS = {
    "disabled-call:module": "call it before or after the compiled function, or compile it with the rest",
    "stmt:module-backward-hook": "call the module outside the region; hooks of the compiled module itself run outside",
    "disabled-call": "call it before or after the compiled function, or replace `disable` by `nonstrict_trace` if the "
    "function is pure",
    "stmt:raise": "raise outside the region, or remove the call of a function that always raises",
    "stmt:if-tensor": "use `torch.where` or `torch.cond`, or decide outside the region",
    "stmt:if-tensor-literal": "branch on the Python number before it becomes a tensor",
    "stmt:numpy-branch": "decide outside the region and pass a Python number; arrays are traced as tensors",
    "stmt:rnn-call": _RECURRENT,
    "stmt:lstm-call": _RECURRENT,
    "stmt:gru-call": _RECURRENT,
    "stmt:generator-region": "compile the function that iterates, or one that returns a list",
    "stmt:environ-write": "set it once, before the compiled function is called",
    "stmt:range-data-size": "keep the selected elements in a tensor and compute on all of them at once",
    "stmt:cond-branch-global": _BRANCH,
    "stmt:cond-branch-append": _BRANCH,
    "stmt:cond-branch-attribute": _BRANCH,
    **dict.fromkeys(("stmt:check-message-tensor", "stmt:check-message-item", "stmt:check-message-module"), _MESSAGE),
    "stmt:checkpoint-global": _CHECKPOINT,
    "stmt:checkpoint-append": _CHECKPOINT,
    "stmt:checkpoint-attribute": _CHECKPOINT,
    "stmt:checkpoint-attribute-tensor": _CHECKPOINT,
    "stmt:deprecated-call": "call its replacement",
    "stmt:class-definition": "define the class at the top of the module",
    "stmt:await": "await outside the region and pass the result",
    "stmt:data-ptr-arithmetic": "wrap what needs the address in a `torch.library.custom_op` with a `register_fake`",
    "stmt:percent-format-tensor": "format outside the region; return the tensor",
    "stmt:tensor-data-assign": "use `copy_` under `torch.no_grad()`, or assign outside the region",
    **dict.fromkeys(("stmt:tensor-subscript-scalar", "stmt:tensor-subscript-scalar-write"), _ELEMENT),
    "stmt:tensor-slice-tensor": "choose with a mask, as `torch.arange(n) < count`, or pass the bound as a number",
    "stmt:mask-augmented": "use `torch.where(mask, changed, x)`",
    **dict.fromkeys(
        ("stmt:if-random", "stmt:for-range-random", "stmt:random-number-arithmetic", "stmt:random-negative"), _DRAWN
    ),
    **dict.fromkeys(("stmt:tensor-subscript-random", "stmt:tensor-slice-random", "stmt:list-subscript-random"), _DRAWN),
    "arg:copy.deepcopy:holding-tensors": "make a new object with clones of its tensors, or copy outside the region",
    "stmt:list-subscript-item": _CHOICE,
    "stmt:list-subscript-tensor-argument": _CHOICE,
    "stmt:list-subscript-tensor": _CHOICE,
    "stmt:dict-subscript-item": _CHOICE,
    "call:torch._dynamo.graph_break": "remove the call",
    "method:Optimizer.step": "call it outside the region, or compile it by itself: torch breaks the graph before "
    "and after it",
    "method:Optimizer.zero_grad": "call it outside the region",
    "method:Tensor.backward": "compile the forward pass and call `backward()` on what it returns",
    "call:torch.autograd.grad": "differentiate outside the region, or use `torch.func.grad`",
    "call:torch.equal": "compare with `(a == b).all()` and keep the result a tensor",
    "call:torch.allclose": "compare with `torch.isclose(a, b).all()` and keep the result a tensor",
    "method:Tensor.tolist": "keep the values in a tensor, or convert outside the region",
    **dict.fromkeys(("call:builtins.print", "arg:builtins.print:tensor"), _PRINTED),
    "arg:builtins.sorted:tensors": "use `torch.stack(...).sort()`",
}


def way_out(key: str) -> str:
    """What to do about a construct, by its key in the table; "" if its reason (`break_reasons`) says as much."""
    known = _STATEMENTS.get(key)
    if known is not None:
        return known
    use = _use(key)
    if use is not None:
        return use.value
    if key.startswith("method:Module.register_"):
        return "register the hook before the module is compiled"
    if "deepcopy" in key or key.startswith("call:copy."):
        return "copy outside the region (`clone()` for a tensor)"
    return ""


def is_message(key: str) -> bool:
    """Whether a construct only tells people something, so that a program computes the same without it."""
    return _use(key) is _Use.MESSAGE


def is_effect(key: str) -> bool:
    """Whether a construct is called for what it does outside the program, so that a caller can do it as well."""
    return _use(key) in (_Use.MESSAGE, _Use.EXCHANGE, _Use.SETTING)


def _use(key: str) -> _Use | None:
    """What a construct is used for: by the effect of what is called, or by the module that it is from."""
    _, name, given = [*key.split(":"), "", ""][:3]
    effect = SHIPPED.effect(name)
    if given == "requires_grad=True":
        return _Use.MADE
    if effect is not None and effect.doing in OUTPUTS:
        return _Use.MESSAGE
    module = name
    while module:
        if module in _OF_MODULES:
            return _OF_MODULES[module]
        module = module.rpartition(".")[0]
    return _OF_EFFECTS.get(effect.doing) if effect is not None else None

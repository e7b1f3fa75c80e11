"""What torch's reasons for a graph break mean to a user, and the way out that holds for all constructs of a reason.

Keys are torch's ids; what ends a compilation without one is keyed by the type of the exception. `ways_out` knows more
of single constructs, and is asked first. What no construct of the measured table breaks with is in `break_families`.
"""

from __future__ import annotations

from typing import NamedTuple


class Reason(NamedTuple):
    """What a reason means, as sentences, and what to do, as a clause without a full stop."""

    meaning: str
    way: str


_OPERATOR = "wrap it in a `torch.library.custom_op` with a `register_fake`, or call it outside the region"
_OUTSIDE = "do it outside the region and pass the result"
_IN_TENSORS = "keep the value a tensor and choose with `torch.where`, or decide outside the region"
_AS_ARGUMENT = "make it outside the region and pass it as an argument"
_GRADIENTS = "set `requires_grad` before the region is called, or `detach()` what it returns"
_NUMPY = "use the function of torch that computes the same, or convert with `torch.from_numpy` outside the region"
_RETURNED = "return what is to change, and change it after the call"
_RANDOM = "draw with torch's default generator (`torch.manual_seed` outside the region), or pass what is drawn"
_WITH_TENSORS = "use the function of torch instead (`torch.sin(x)` for `math.sin(x)`), or convert outside the region"
_LIST = "make a list of it outside the region, and pass the list"

REASONS = {
    "GB0001": Reason(
        "`as_subclass` was called with a class that does not dispatch to torch: Dynamo does not model it.",
        "call `as_subclass` outside the region",
    ),
    "GB0003": Reason(
        "`torch.compile` was applied to a generator function. Dynamo compiles what runs to a `return`.",
        "compile the function that iterates, or one that returns a list",
    ),
    "GB0007": Reason(
        "The region calls a function that Dynamo does not trace: one that is written in C, or one on Dynamo's list of "
        "functions to skip. Python calls it between two graphs.",
        "call it outside the region and pass the result, or wrap your own kernel in a `torch.library.custom_op`",
    ),
    "GB0008": Reason(
        "The region calls a Python function that is on Dynamo's list of functions to skip, mostly for its module.",
        _OUTSIDE,
    ),
    "GB0013": Reason(
        "The handle of a hook (`RemovableHandle`) came into the region, which Dynamo cannot rebuild.",
        "register and remove hooks outside the region",
    ),
    "GB0014": Reason(
        "`nn.RNN`, `nn.LSTM` and `nn.GRU` are not traced by default.",
        "call the layer outside the region, or use its cell (`nn.LSTMCell`) in a loop",
    ),
    "GB0025": Reason(
        "The code calls `torch._dynamo.graph_break()`, or code of torch does, as optimizers around their step.",
        "remove the call, or compile without `fullgraph=True`",
    ),
    "GB0033": Reason(
        "An operator returns a Python value that follows from the data of a tensor. At trace time there is no data.",
        "compare in tensors, as `(a == b).all()`, and keep the result a tensor",
    ),
    "GB0036": Reason(
        "The shape of what an operator returns follows from the data of a tensor, and Dynamo has no symbol for it.",
        "call it outside the region, or use an operator whose result has a fixed shape",
    ),
    "GB0045": Reason(
        "The region asks a tensor for `is_inference()`, which Dynamo does not answer.",
        "ask outside the region, and use `torch.no_grad` in place of `torch.inference_mode`",
    ),
    "GB0046": Reason(
        "The region asks `torch.is_inference_mode_enabled()`, which Dynamo does not answer.",
        "ask outside the region, and use `torch.no_grad` in place of `torch.inference_mode`",
    ),
    "GB0055": Reason(
        "An operator of torch gets an argument that cannot stand in a graph: a `torch.Generator`, a function, an "
        "object of a class of yours.",
        "pass tensors and plain numbers; draw with the default generator, or make what is passed outside the region",
    ),
    "GB0056": Reason(
        "`.data` of a tensor that the region itself made is assigned.",
        "use `copy_` under `torch.no_grad()`, or bind the new tensor to the name",
    ),
    "GB0059": Reason(
        "A builtin function is called with arguments that Dynamo has no rule for, often a tensor: it would need the "
        "data of the tensor, or write something.",
        "call it outside the region, or use the function of torch that takes tensors",
    ),
    "GB0067": Reason(
        "The body of a higher-order operator (`torch.cond`, `checkpoint`, `torch.func`) changes something outside of "
        "it. Such a body has to be a function of its arguments.",
        _RETURNED,
    ),
    "GB0069": Reason(
        "A module that the region imports is not there.",
        "import at the top of the file, with the fallback there",
    ),
    "GB0082": Reason(
        "The function holds a statement that Dynamo does not execute: `await`, `async with`, `async for`, `del` of a "
        "global, `except*`.",
        "move the statement out of the region",
    ),
    "GB0083": Reason(
        "A module with a backward hook is called. Such hooks need compiled autograd.",
        "call the module outside the region, or set `torch._dynamo.config.compiled_autograd = True`",
    ),
    "GB0087": Reason(
        "An operator cannot run with fake tensors, by which Dynamo learns the shapes of results.",
        _OPERATOR,
    ),
    "GB0088": Reason(
        "The code raises an exception while it is traced, and nothing in the compiled function handles it.",
        "run the code in eager mode to see what raises; where the exception is intended, raise it outside the region",
    ),
    "GB0090": Reason("An operator has no fake kernel, so that the shape of its result is not known.", _OPERATOR),
    "GB0098": Reason(
        "The region calls a function that `torch.compiler.disable` was applied to.",
        "call it before or after the compiled function, or replace `disable` by `nonstrict_trace` if it is pure",
    ),
    "GB0099": Reason(
        "The region calls a function that `torch.compiler.disable(recursive=False)` was applied to.",
        "call it before or after the compiled function, or replace `disable` by `nonstrict_trace` if it is pure",
    ),
    "GB0107": Reason(
        "`Tensor.random_` is not traced.",
        "use `torch.randint` or `torch.randint_like`, or fill the tensor outside the region",
    ),
    "GB0108": Reason(
        "`retain_grad()` is called on a tensor in a graph that AOTAutograd takes apart.",
        "return the tensor and call `retain_grad()` outside, or ask `torch.autograd.grad` for its gradient",
    ),
    "GB0109": Reason(
        "`tolist()` of a tensor that holds no integers needs its data.",
        "keep the values in a tensor, or convert outside the region",
    ),
    "GB0116": Reason(
        "An object was made while tracing that Dynamo has no model of.",
        _AS_ARGUMENT,
    ),
    "GB0117": Reason(
        "A method of a tensor or module is called that Dynamo cannot run on a fake tensor, such as `share_memory_()`.",
        "call it once, before the region is called",
    ),
    "GB0123": Reason(
        "`backward()` is called in the region. Dynamo compiles the forward pass; the backward pass is made from it.",
        "compile the forward pass and call `backward()` on what it returns",
    ),
    "GB0124": Reason(
        "`.item()`, or `int()` or `float()` of a tensor, needs its data. Where the graph may break, torch breaks it.",
        f"{_IN_TENSORS}, or set `torch._dynamo.config.capture_scalar_outputs = True`",
    ),
    "GB0125": Reason("`requires_grad_()` changes a tensor that comes from outside the region.", _GRADIENTS),
    "GB0134": Reason(
        "`itertools.groupby`, here below a function of the standard library, gets what Dynamo cannot iterate.",
        _OUTSIDE,
    ),
    "GB0142": Reason(
        "A `with` block uses a context manager that Dynamo does not model: a lock, an event loop, a manager of yours.",
        "enter it around the call of the region",
    ),
    "GB0147": Reason(
        "Dynamo has no rule for a function or class that is called, most often a class written in C.",
        _OUTSIDE,
    ),
    "GB0148": Reason(
        "The call changes a tensor's storage or a module in a way that only works outside of graphs.",
        "do it before or after the region is called",
    ),
    "GB0156": Reason(
        "Dynamo does not know a method of an object that the region uses: a file, a lock, a thread, a parser, a queue.",
        "use the object outside the region; pass tensors and plain values in, and return what it should receive",
    ),
    "GB0157": Reason("An attribute of a NumPy array is read that `torch._numpy` does not have.", _NUMPY),
    "GB0158": Reason("A method of a NumPy array is called that `torch._numpy` does not have.", _NUMPY),
    "GB0170": Reason(
        "An `if`, `while`, `and`, `not` or `assert` decides on the data of a tensor. At trace time there is none, so "
        "both ways stay open.",
        "use `torch.where` or `torch.cond`, or decide outside the region",
    ),
    "GB0180": Reason(
        "`dataclasses.fields` is asked of what Dynamo cannot take apart.",
        "ask once, outside the region, and keep the names",
    ),
    "GB0193": Reason(
        "A builtin fails while Dynamo evaluates it: `max` or `min` of tensors with a key, `dir()`.",
        "use `torch.max`, `torch.argmax` or `torch.stack(...).max()`, or call it outside the region",
    ),
    "GB0206": Reason("`requires_grad` of a tensor is assigned in the region.", _GRADIENTS),
    "GB0207": Reason(
        "`sorted` or `list.sort` compares values that follow from the data of tensors.",
        "use `torch.stack(...).sort()`, or sort outside the region",
    ),
    "GB0208": Reason(
        "A function of torch, NumPy or `math` that gives a plain Python value is called with a tensor, or a function "
        "of torch that computes nothing.",
        f"{_WITH_TENSORS}; query tensors outside the region",
    ),
    "GB0213": Reason(
        "An operator of Python is applied to a value that is an input of the graph, as a number that is drawn.",
        "draw outside the region and pass the value, or draw a tensor",
    ),
    "GB0225": Reason(
        "A tensor is made with `requires_grad=True`: a leaf of autograd cannot be made inside a graph.",
        _AS_ARGUMENT,
    ),
    "GB0078": Reason(
        "`nonstrict_trace` is applied inside a region, to a function that is defined there.",
        "define and mark the function at the top of the module",
    ),
    "GB0236": Reason(
        "A marked function gets an argument of a class that is not registered with pytrees.",
        "register the class outside the region (`torch.utils._pytree.register_dataclass`), or pass its parts",
    ),
    "GB0238": Reason(
        "A marked function gets an object of a class that is registered as a constant, and the region made it.",
        "make the object outside the region",
    ),
    "GB0251": Reason(
        "A marked function returns an object of a class that is not registered with pytrees. Torch says the same where "
        "the function raises an exception while it is traced: then the reason is lost.",
        "register the class outside the region or return its parts; if the function returns nothing such, look for "
        "what raises in it: an address, a value taken out of a tensor, a check",
    ),
    "GB3840": Reason(
        "A function that `leaf_function` was applied to has no fake.",
        "add a `register_fake` that returns an empty tensor of the right shape and dtype",
    ),
    "GB0242": Reason("An operator writes to an `out=` tensor that is not contiguous.", "pass a contiguous `out=`"),
    "GB0246": Reason(
        "`one_hot` without `num_classes` returns a shape that follows from the data.", "give it `num_classes`"
    ),
    "GB0247": Reason(
        "An operator would resize its `out=` tensor.", "give `out=` the shape of the result, or leave it out"
    ),
    "GB0262": Reason(
        "A context manager of `contextlib` is used that Dynamo does not model, such as `redirect_stdout`.",
        "enter it around the call of the region",
    ),
    "GB0264": Reason(
        "A parameter, and so a layer, is made in the region. Parameters live longer than a call.",
        "build it once, outside the region (a module in `__init__`)",
    ),
    "GB0277": Reason(
        "A sparse tensor comes into the region, or is made in it.",
        "compute with sparse tensors outside the region, or make them dense before",
    ),
    "GB0284": Reason(
        "The code calls `torch._dynamo.step_unsupported()`, which is for tests of torch.",
        "remove the call",
    ),
    "GB0291": Reason(
        "A method of a `logging.Logger` is called. It writes, which a graph does not do.",
        "log outside the region, or guard it with `if not torch.compiler.is_compiling()`",
    ),
    "GB0294": Reason("A function of NumPy is called that `torch._numpy` does not have.", _NUMPY),
    "GB0299": Reason(
        "A method of a constant, such as a compiled pattern, is called with arguments that are none.",
        _OUTSIDE,
    ),
    "GB0363": Reason(
        "A `torch.Generator` or another opaque object is made in the region.",
        _AS_ARGUMENT,
    ),
    "GB0374": Reason(
        "A sparse tensor is made in the region.",
        "make it outside the region, and compute with it there",
    ),
    "GB0467": Reason(
        "An attribute of an object is set that Dynamo does not follow: a module object, a class written in C.",
        "set it outside the region",
    ),
    "GB0569": Reason(
        "`repr()` of a tensor, also in an f-string with `!r`, needs its data.", "format outside the region"
    ),
    "GB0808": Reason(
        "An operator is applied to an object whose class is written in C, such as a `datetime` or a `Decimal`.",
        "compute it outside the region, and pass a number",
    ),
    "GB0811": Reason("The region iterates an object that Dynamo cannot step through, such as an open file.", _LIST),
    "GB4198": Reason(
        "`copy.deepcopy` meets a tensor.",
        "copy outside the region (`clone()` for a tensor)",
    ),
    "GB4297": Reason(
        "The code calls `torch._dynamo.skip_frame()`: all of the function runs in eager.",
        "remove the call",
    ),
    "GB4315": Reason(
        "An operator raises an error when Dynamo runs it with fake tensors: mostly shapes or dtypes that do not fit, "
        "or data that is needed.",
        "see whether it fails in eager code too; correct the shapes, or do it outside the region",
    ),
    "GB4347": Reason("`next()` is called on an iterator that was made outside the region.", _LIST),
    "GB4413": Reason(
        "The body of a higher-order operator (`torch.cond`, `checkpoint`) sets an attribute of an object outside of it "
        "and does not set it back.",
        _RETURNED,
    ),
    "GB4841": Reason(
        "A function of the root logger is called (`logging.info`), or an object of which Dynamo cannot tell the type.",
        "log outside the region, or guard it with `if not torch.compiler.is_compiling()`",
    ),
    "GB5976": Reason(
        "Addresses of two tensors are compared. A fake tensor has none.",
        "compare outside the region and pass the answer",
    ),
    "GB6215": Reason(
        "A function compares an attribute of a logger that Dynamo cannot resolve, as `logging.getLogger` does.",
        "get the logger at the top of the module",
    ),
    "GB7324": Reason(
        "A tensor on which the region called `requires_grad_()` is returned: outside it would be no leaf of autograd.",
        _GRADIENTS,
    ),
    "GB7650": Reason("A method of a `torch.Generator` is called, which reads or changes its state.", _RANDOM),
    "GB8977": Reason(
        "A class is defined in the region, by a `class` statement, a decorator or a library.",
        "define the class at the top of the module",
    ),
    "GB9158": Reason(
        "The message of `torch._check` captures a tensor, a module or a number that follows from data.",
        "let the message lambda capture only numbers and strings, bound before the call",
    ),
    "GB9186": Reason(
        "`torch.autograd.grad` is called in the region.",
        "differentiate outside the region, or use `torch.func.grad`",
    ),
    "AssertionError": Reason(
        "The region calls a function of torch that must not be traced, such as `mark_dynamic` or `set_stance`, or what "
        "guards ask of changes while it is traced.",
        "call it before the region is called",
    ),
    "GuardOnDataDependentSymNode": Reason(
        "A decision needs the value of a number or size that follows from the data of a tensor: a symbol without a "
        "value (`u0`) at trace time.",
        "keep it in tensors (`torch.sin` for `math.sin`), state the condition with `torch._check`, or do it outside "
        "the region",
    ),
    "IndexError": Reason(
        "A tensor is indexed with a number that follows from data, among other indices.",
        "use `index_select` or `gather` with an index of one element",
    ),
    "InternalTorchDynamoError": Reason(
        "Dynamo itself failed: a mistake of torch, met with a construct that it does not expect.",
        "write the construct another way or move it out of the region, and report it to torch",
    ),
    "PendingUnbackedSymbolNotFound": Reason(
        "An operator made a size that follows from data, and it is not in the shape of its result.",
        "use the function of torch in place of NumPy's, or call it outside the region",
    ),
}


def reason_of(identifier: str) -> Reason:
    """What a reason for a break means: by torch's id, or by the type of an exception that ends a compilation.

    >>> reason_of("GB0003").way
    'compile the function that iterates, or one that returns a list'
    """
    from nonstrict.rules.break_families import family_of

    return REASONS.get(identifier) or family_of(identifier)

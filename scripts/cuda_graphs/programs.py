"""The programs that are measured: a region that runs with CUDA graphs, and what calls it.

Each is what a user could write. `DEVICE` is the GPU, `OTHER` a second one; both are given.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_IMPORTS = "import torch\nfrom torch import nn\n\n"
_MODE, _BACKEND = 'mode="reduce-overhead"', 'backend="cudagraphs"'
_COMPILED = f"@torch.compile({_MODE})\n"
#: How often a region is called that is called with the same thing again and again: warmed up, recorded, run.
CALLS = 4
#: What varies from call to call.
SIZES = (5, 6, 7, 8)
#: What a program `needs` that uses `OTHER`.
TWO_GPUS = "two GPUs"


class Program(NamedTuple):
    """One program: what it is about, what is done there, and its text; what it `needs` that only a GPU has."""

    group: str
    name: str
    text: str
    needs: str = ""

    @property
    def key(self) -> str:
        """What the table calls it."""
        return f"{self.group}/{self.name}"


def programs() -> Iterator[Program]:
    """All programs."""
    yield from _changed()
    yield from _made_on_cpu()
    yield from _varying()
    yield from _operators()
    for program in (*_changed(), *_made_on_cpu(), *_operators()):
        if program.group == "operators" and program.name not in _OF_BACKEND:
            continue
        text = program.text.replace(_MODE, _BACKEND)
        yield program._replace(group=f"{program.group}, {_BACKEND}", text=text)
    yield from _options()
    yield from _overwritten()


# -- what a region changes in place -----------------------------------------------------------------------------------

_CHANGE = "{0}.add_(1)\n    return {0} * x"
_MODULE = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {set}

    def forward(self, x):
        {change}
        return {of} * x

model = Model()
region = torch.compile(model, mode="reduce-overhead")
"""
_OF_KEPT = f"def region(x):\n    {_CHANGE.format('kept')}\n"
_CACHE = """\
class Cache:
    def __init__(self):
        self.kept = torch.zeros(4, device=DEVICE)

cache = Cache()

"""
_LAYER = "layer = nn.BatchNorm1d(4, device=DEVICE)\n\n"
_HOLDER = """\
class Holder:
    def __init__(self):
        self.layer = layer

holder = Holder()

"""
#: Where a tensor lives that a region changes in place: the text in front of the calls, and what they pass.
_PLACES = {
    "argument": (f"{_COMPILED}def region(x, kept):\n    {_CHANGE.format('kept')}\n", "region(x, kept)"),
    "entry of an argument": (
        f"{_COMPILED}def region(x, kept):\n    {_CHANGE.format('kept[0]')}\n",
        "region(x, [kept])",
    ),
    "view of an argument": (
        f"{_COMPILED}def region(x, kept):\n    kept[0].add_(1)\n    return kept * x\n",
        "region(x, kept)",
    ),
    "argument with a static address": (
        f"torch._dynamo.mark_static_address(kept)\n\n{_COMPILED}def region(x, kept):\n    {_CHANGE.format('kept')}\n",
        "region(x, kept)",
    ),
    "global": (f"{_COMPILED}{_OF_KEPT}", "region(x)"),
    "variable of the enclosing function": (
        f"def made(kept):\n{textwrap.indent(_COMPILED + _OF_KEPT, '    ')}    return region\n\nregion = made(kept)\n",
        "region(x)",
    ),
    "attribute of the module": (
        _MODULE.format(set="self.kept = torch.zeros(4, device=DEVICE)", change="self.kept.add_(1)", of="self.kept"),
        "region(x)",
    ),
    "buffer": (
        _MODULE.format(
            set='self.register_buffer("kept", torch.zeros(4, device=DEVICE))',
            change="self.kept.add_(1)",
            of="self.kept",
        ),
        "region(x)",
    ),
    "parameter": (
        _MODULE.format(
            set="self.kept = nn.Parameter(torch.zeros(4, device=DEVICE))",
            change="self.kept.add_(1)",
            of="self.kept",
        ),
        "region(x)",
    ),
    "entry of a list of the module": (
        _MODULE.format(
            set="self.kept = [torch.zeros(4, device=DEVICE)]", change="self.kept[0].add_(1)", of="self.kept[0]"
        ),
        "region(x)",
    ),
    "attribute of an object": (
        f"{_CACHE}{_COMPILED}def region(x, cache):\n    {_CHANGE.format('cache.kept')}\n",
        "region(x, cache)",
    ),
    "parameter that is an argument": (
        f"kept = nn.Parameter(kept)\n\n{_COMPILED}def region(x, kept):\n    {_CHANGE.format('kept')}\n",
        "region(x, kept)",
    ),
    "tensor of a module that is an argument": (
        f"{_LAYER}{_COMPILED}def region(x, layer):\n    {_CHANGE.format('layer.running_mean')}\n",
        "region(x, layer)",
    ),
    "tensor of a module that an object holds": (
        f"{_LAYER}{_HOLDER}{_COMPILED}def region(x, holder):\n    {_CHANGE.format('holder.layer.running_mean')}\n",
        "region(x, holder)",
    ),
    "statistics of a layer": (
        'model = nn.BatchNorm1d(4, device=DEVICE)\nregion = torch.compile(model, mode="reduce-overhead")\n',
        "region(x.expand(2, 4))",
    ),
}


def _changed() -> Iterator[Program]:
    kept = "kept = torch.zeros(4, device=DEVICE)\n"
    for name, (region, call) in _PLACES.items():
        yield _repeated("changed in place", name, f"{kept}{region}", call)
    two = (
        f"{_COMPILED}def first(x):\n    return x + 1\n\n{_COMPILED}def region(kept):\n    kept.add_(1)\n"
        "    return kept * 2\n"
    )
    calls = "torch.compiler.cudagraph_mark_step_begin()\nregion(first(x))"
    yield _repeated("changed in place", "result of another region", two, calls, needs="memory")
    yield _repeated(
        "changed in place",
        "what the region made",
        f"{_COMPILED}def region(x):\n    y = x * 2\n    y.add_(1)\n    return y\n",
        "region(x)",
    )


# -- tensors on the CPU -----------------------------------------------------------------------------------------------

#: What is on the CPU: the body of a region of `x` and `other`, and `other`.
_ON_CPU = {
    "made and moved": ("return x + torch.ones(4).to(x.device)", ""),
    "list made and moved": ("return x + torch.tensor([1.0, 2.0, 3.0, 4.0]).to(x.device)", ""),
    "drawn and moved": ("return x + torch.randn(4).to(x.device)", ""),
    "computed and moved": ("return x + torch.arange(4).float().cumsum(0).to(x.device)", ""),
    "number as a tensor": ("return x * torch.tensor(2.0)", ""),
    "index made": ("return x[torch.tensor([0, 1])]", ""),
    "index made and moved": ("return x[torch.tensor([0, 1]).to(x.device)]", ""),
    "index made of numbers on the device": ("return x[torch.tensor([0, 1], device=x.device)]", ""),
    "index that counts": ("return x[torch.arange(2)]", ""),
    "index of an assignment": ("y = x.clone()\n    y[torch.tensor([0, 1])] = 0\n    return y * 2", ""),
    "permutation as index": ("return x[torch.randperm(4)]", ""),
    "list as index": ("return x[[0, 1]]", ""),
    "index made on the device": ("return x[torch.arange(2, device=x.device)]", ""),
    "copied back": ("return (x * 2).cpu()", ""),
    "copied back and forth": ("return x + (x * 2).cpu().sin().to(x.device)", ""),
    "drawn on the device": ("return x + torch.randn(4, device=x.device)", ""),
    "made on the device": ("return x + torch.ones(4, device=x.device)", ""),
    "argument of no dimensions": ("return x * other", "torch.tensor(2.0)"),
    "argument, moved": ("return x * other.to(x.device)", "torch.ones(4)"),
    "argument as index": ("return x[other]", "torch.tensor([0, 1])"),
    "argument that is not used": ("return x * 2", "torch.ones(4)"),
    "argument, computed with apart": ("return x * 2, other.sin()", "torch.ones(4)"),
    "argument in pinned memory, moved": ("return x * other.to(x.device, non_blocking=True)", "torch.ones(4)"),
}


#: What draws on the CPU, by its name.
_DRAWING = {
    "torch.rand": "torch.rand(4)",
    "torch.randn": "torch.randn(4)",
    "torch.randint": "torch.randint(9, (4,))",
    "torch.randperm": "torch.randperm(4)",
    "torch.normal": "torch.normal(0.0, 1.0, (4,))",
}


def _made_on_cpu() -> Iterator[Program]:
    for name, (body, other) in _ON_CPU.items():
        given = f"other = {other}\n" if other else ""
        region = f"{_COMPILED}def region(x{', other' if other else ''}):\n    {body}\n"
        yield _repeated("on the CPU", name, f"{given}{region}", f"region(x{', other' if other else ''})")
    scale = "scale = torch.tensor(2.0)\n\n"
    of_global = f"{scale}{_COMPILED}def region(x):\n    return x * scale\n"
    yield _repeated("on the CPU", "global of no dimensions", of_global, "region(x)")
    for name, value, use in (
        ("attribute of the module, of no dimensions", "torch.tensor(2.0)", "self.kept"),
        ("attribute of the module, moved", "torch.ones(4)", "self.kept.to(x.device)"),
    ):
        module = _MODULE.format(set=f"self.kept = {value}", change="x = x * 2", of=use)
        yield _repeated("on the CPU", name, module, "region(x)")
    for name, made in _DRAWING.items():
        drawing = f"{_COMPILED}def region(x):\n    return x + {made}.to(x.device)\n"
        yield _repeated("on the CPU", f"drawn by {name}", drawing, "region(x)")
    everything = f"{_COMPILED}def region(x):\n    return x * 2\n"
    yield _repeated("on the CPU", "everything", everything, "region(x.cpu())")


# -- what varies ------------------------------------------------------------------------------------------------------


def _varying() -> Iterator[Program]:
    body = "def region(x, number):\n    return x * number + 1\n"
    for options in ("", "dynamic=True", "dynamic=False"):
        compiled = f'@torch.compile(mode="reduce-overhead"{", " + options if options else ""})\n'
        said = f", {options}" if options else ""
        yield _looped(f"size{said}", f"{compiled}{body}", "region(torch.ones(size, device=DEVICE), 2)")
        yield _looped(f"int{said}", f"{compiled}{body}", "region(torch.ones(4, device=DEVICE), size)")
        yield _looped(f"float{said}", f"{compiled}{body}", "region(torch.ones(4, device=DEVICE), size + 0.5)")
    last = f"{_COMPILED}{body}\nsizes = ({SIZES[0]}, {SIZES[0]}, {SIZES[1]})\n"
    yield _repeated("varies", "two sizes", last, "for size in sizes:\n    region(torch.ones(size, device=DEVICE), 2)")
    marked = f"{_COMPILED}{body}"
    call = "x = torch.ones(size, device=DEVICE)\n    torch._dynamo.mark_dynamic(x, 0)\n    region(x, 2)"
    yield _looped("size, mark_dynamic", marked, call)
    skipping = "import torch._inductor.config\ntorch._inductor.config.triton.cudagraph_skip_dynamic_graphs = True\n\n"
    yield _looped("size, skip_dynamic_graphs", f"{skipping}{marked}", "region(torch.ones(size, device=DEVICE), 2)")


# -- operators --------------------------------------------------------------------------------------------------------

_CONFIG = "import torch._dynamo.config\ntorch._dynamo.config.{} = True\n\n"
_CUSTOM = """\
@torch.library.custom_op("programs::{name}", mutates_args=(){tags})
def {name}(x: torch.Tensor) -> torch.Tensor:
    return x.sin()

@{name}.register_fake
def _(x):
    return torch.empty_like(x)

"""
#: Those that are measured with a backend, too.
_OF_BACKEND = frozenset(
    {
        "a custom operator",
        "a custom operator with the tag cudagraph_unsafe",
        "assignment through a mask",
        "assignment through indices",
        "torch.cond",
        "two devices",
    }
)
#: What a region does with `x`: what stands in front of it, and the body.
_BODIES = {
    "a custom operator": (_CUSTOM.format(name="sine", tags=""), "return sine(x) * 2"),
    "a custom operator with the tag cudagraph_unsafe": (
        _CUSTOM.format(name="unsafe", tags=", tags=(torch.Tag.cudagraph_unsafe,)"),
        "return unsafe(x) * 2",
    ),
    "assignment through a mask": ("", "y = x.clone()\n    y[x > 0] = 0\n    return y * 2"),
    "assignment through indices": ("", "y = x.clone()\n    y[torch.arange(2, device=x.device)] = 0\n    return y * 2"),
    "selection by a mask": (_CONFIG.format("capture_dynamic_output_shape_ops"), "return x[x > 0] * 2"),
    "nonzero": (_CONFIG.format("capture_dynamic_output_shape_ops"), "return x.nonzero() * 2"),
    "item": (_CONFIG.format("capture_scalar_outputs"), "return x * x.sum().item()"),
    "torch.cond": (
        "",
        "return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,)) * 2",
    ),
    "while_loop": (
        "from torch._higher_order_ops import while_loop\n\n",
        "return while_loop(lambda x: x.sum() < 9, lambda x: (x + 1,), (x,))[0] * 2",
    ),
    "multinomial": ("", "return torch.multinomial(x, 2) * 2"),
    "number that is returned": (_CONFIG.format("capture_scalar_outputs"), "return x * 2, x.sum().item()"),
    "where": ("", "return torch.where(x.sum() > 0, x.sin(), x.cos()) * 2"),
    "dropout": ("", "return torch.nn.functional.dropout(x, 0.5) * 2"),
    "rand_like": ("", "return torch.rand_like(x) * x"),
    "sort": ("", "return x.sort().values * 2"),
    "matrix product": ("", "return x.view(2, 2) @ x.view(2, 2)"),
    "attention": (
        "",
        "q = x.view(1, 1, 2, 2)\n    return torch.nn.functional.scaled_dot_product_attention(q, q, q)",
    ),
    "a graph break": ("", "y = x.sin()\n    torch._dynamo.graph_break()\n    return y.cos()"),
    "two devices": ("", "return (x * 2).to(OTHER) + 1"),
    "data assigned": ("", "x.data = x * 2\n    return x + 1"),
    "data changed by an operator": ("", "x.data *= 2\n    return x + 1"),
}


def _operators() -> Iterator[Program]:
    for name, (before, body) in _BODIES.items():
        needs = TWO_GPUS if "OTHER" in body else ""
        text = f"{before}{_COMPILED}def region(x):\n    {body}\n"
        yield _repeated("operators", name, text, "region(x)", needs=needs)
    layer = 'layer = nn.Linear(4, 4, device=DEVICE)\nregion = torch.compile(layer, mode="reduce-overhead")\n'
    yield _repeated("operators", "a layer", layer, "region(x)")
    backward = "region(x).sum().backward()"
    yield _repeated("operators", "a layer, with its backward pass", layer, backward, needs="autograd", training=True)


# -- options ----------------------------------------------------------------------------------------------------------

_OPTIONS = (
    "",
    'mode="default"',
    'mode="reduce-overhead"',
    'mode="max-autotune"',
    'mode="max-autotune-no-cudagraphs"',
    'options={"triton.cudagraphs": True}',
    'options={"triton.cudagraphs": False}',
    'backend="cudagraphs"',
)


def _options() -> Iterator[Program]:
    body = "def region(x):\n    return x * 2\n"
    for options in _OPTIONS:
        yield _repeated("options", options or "none", f"@torch.compile({options})\n{body}", "region(x)")
    config = "import torch._inductor.config\ntorch._inductor.config.triton.cudagraphs = True\n\n"
    yield _repeated("options", "config.triton.cudagraphs", f"{config}@torch.compile\n{body}", "region(x)")
    for option in ("cpp_wrapper = True", "graph_partition = False"):
        text = f"import torch._inductor.config\ntorch._inductor.config.{option}\n\n{_COMPILED}"
        yield _repeated("options", f"config.{option}", f"{text}{body}", "region(x)")
        drawing = "def region(x):\n    return x + torch.randn(4).to(x.device)\n"
        yield _repeated("options", f"config.{option}, drawn and moved", f"{text}{drawing}", "region(x)")


# -- results that are kept --------------------------------------------------------------------------------------------

_MARK = "cudagraph_mark_step_begin"
_DOUBLE = f"{_COMPILED}def region(x):\n    return x * 2\n\n{_COMPILED}def second(x):\n    return x + 1\n"
#: What is done with results: of the `n`th of some calls, and what that should hold.
_COLLECTED = {
    "in a list": ("region(x + n)", "(x + n) * 2"),
    "in a list, cloned": ("region(x + n).clone()", "(x + n) * 2"),
    "in a list, on the CPU": ("region(x + n).cpu()", "((x + n) * 2).cpu()"),
    "in a list, computed with": ("region(x + n) + 1", "(x + n) * 2 + 1"),
    "in a list, detached": ("region(x + n).detach()", "(x + n) * 2"),
    "in a list, a view": ("region(x + n)[:2]", "((x + n) * 2)[:2]"),
    "given to another region": ("second(region(x + n)).clone()", "(x + n) * 2 + 1"),
}
_EACH = "found = []\nfor n in range(4):\n{}\nreturn found, [(x + n) * 2 for n in range(4)]"
#: The same in other texts, in functions of `x` that return what results hold at the end, and what they should.
_KEPT = {
    "in a list, after calls before": (
        "for _ in range(4):\n    region(x)\n" + _EACH.format("    found.append(region(x + n))")
    ),
    "in a list, in one step": f"torch.compiler.{_MARK}()\n" + _EACH.format("    found.append(region(x + n))"),
    "in a list, in a step each": _EACH.format(f"    torch.compiler.{_MARK}()\n    found.append(region(x + n))"),
    "in a variable, until the next call": _EACH.format("    y = region(x + n)\n    found.append(y * 1)"),
    "in a variable, beyond the next call": _EACH.format(
        "    y = region(x + n)\n    region(x)\n    found.append(y.clone())"
    ),
    "in a variable, beyond a call of another region": _EACH.format(
        "    y = region(x + n)\n    second(x)\n    found.append(y.clone())"
    ),
    "given to the same region": "for _ in range(4):\n    x = region(x)\nreturn [x.clone()], [torch.full_like(x, 16)]",
    "given to the same region, cloned": (
        "for _ in range(4):\n    x = region(x).clone()\nreturn [x], [torch.full_like(x, 16)]"
    ),
}


def _overwritten() -> Iterator[Program]:
    collected = {
        name: f"kept = [{call} for n in range(4)]\nreturn kept, [{should} for n in range(4)]"
        for name, (call, should) in _COLLECTED.items()
    }
    for name, body in (collected | _KEPT).items():
        text = f"{_DOUBLE}\ndef kept(x):\n{textwrap.indent(body, '    ')}\n"
        call = "RESULT = kept(torch.ones(4, device=DEVICE))\n"
        yield Program("results kept", name, f"{_IMPORTS}{text}\nwith torch.no_grad():\n    {call}", needs="memory")


# -- texts ------------------------------------------------------------------------------------------------------------


def _repeated(group: str, name: str, before: str, call: str, *, needs: str = "", training: bool = False) -> Program:
    """A program that calls a region with the same things again and again."""
    loop = f"for _ in range({CALLS}):\n{textwrap.indent(call, '    ')}\n"
    text = loop if training else f"with torch.no_grad():\n{textwrap.indent(loop, '    ')}"
    return Program(group, name, f"{_IMPORTS}x = torch.ones(4, device=DEVICE)\n{before}\n{text}", needs)


def _looped(name: str, before: str, call: str) -> Program:
    """A program that calls a region with one size after the other, each of them several times."""
    sizes = f"for size in {SIZES} * {CALLS}:\n    {call}\n"
    return Program("varies", name, f"{_IMPORTS}{before}\nwith torch.no_grad():\n{textwrap.indent(sizes, '    ')}")

"""What crosses the boundary: classes are registered, `None` is left out, constants are made outside of regions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.findings import Applicability
from tests.fixes.programs import check, unmended
from tests.fixes.projects import mended

if TYPE_CHECKING:
    from pathlib import Path

# -- classes that nothing registers -----------------------------------------------------------------------------------

BATCH = """\
from dataclasses import dataclass

import torch


@dataclass
class Batch:
    values: torch.Tensor
    scale: float = 0.5


@torch._dynamo.nonstrict_trace
def normalise(batch):
    return batch.values * batch.scale


@torch.compile(fullgraph=True)
def step(x):
    return normalise(Batch(x, 0.5))
"""


def test_a_dataclass_is_registered(tmp_path: Path):
    registration = "\n\ntorch.utils._pytree.register_dataclass(Batch)\n"
    after = BATCH.replace("    scale: float = 0.5\n", f"    scale: float = 0.5\n{registration}")
    assert check(tmp_path, "NST501", BATCH, after, Applicability.SAFE) == ["Register `Batch` with `register_dataclass`"]


def test_a_class_in_another_file_is_registered_there(tmp_path: Path):
    definition = (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Batch:\n    values: object\n    scale: float\n"
    )
    model = BATCH[: BATCH.index("@dataclass")] + BATCH[BATCH.index("@torch") :]
    model = model.replace("from dataclasses import dataclass", "from batches import Batch")
    result = mended(tmp_path, {"batches.py": definition, "model.py": model}, {"NST501"})
    assert result.before == ["NST501"]
    assert result.after == []
    assert result.files["model.py"] == model
    assert result.files["batches.py"] == (
        "from dataclasses import dataclass\n\nimport torch\n\n\n@dataclass\nclass Batch:\n    values: object\n"
        "    scale: float\n\n\ntorch.utils._pytree.register_dataclass(Batch)\n"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The object that torch rebuilds would be another one.
        (
            "    scale: float = 0.5\n",
            "    scale: float\n\n    def __post_init__(self):\n        self.scale = self.scale * 2\n",
        ),
        ("    scale: float = 0.5\n", "    scale: float = dataclasses.field(init=False)\n"),
    ],
)
def test_a_dataclass_that_loses_something_is_not_registered(tmp_path: Path, old: str, new: str):
    unmended(
        tmp_path, "NST501", BATCH.replace(old, new).replace("import torch\n", "import dataclasses\nimport torch\n")
    )


def test_a_dataclass_that_holds_what_torch_refuses_is_not_registered(tmp_path: Path):
    text = BATCH.replace("scale: float = 0.5", "scale: set").replace("Batch(x, 0.5)", "Batch(x, {1, 2})")
    unmended(tmp_path, "NST501", text.replace("* batch.scale", "* len(batch.scale)"))


def test_a_value_without_tensors_is_registered_as_a_constant(tmp_path: Path):
    before = """\
import torch
from torch.utils import _pytree


class Window:
    def __init__(self, size):
        self.size = size

    def __eq__(self, other):
        return isinstance(other, Window) and other.size == self.size

    def __hash__(self):
        return hash(self.size)


window = Window(2)


@torch._dynamo.nonstrict_trace
def crop(x, window):
    return x[: window.size]


@torch.compile(fullgraph=True)
def step(x):
    return crop(x, window) + 1
"""
    after = before.replace("\n\nwindow = Window", "\n\n_pytree.register_constant(Window)\n\n\nwindow = Window")
    check(tmp_path, "NST501", before, after, Applicability.SAFE)


SCALER = """\
import torch


class Scaler:
    def __init__(self, factor):
        self.factor = factor
        self.offset = 1

    @torch._dynamo.nonstrict_trace
    def scale(self, x):
        return x * self.factor + self.offset


scaler = Scaler(2)


@torch.compile(fullgraph=True)
def step(x):
    return scaler.scale(x)
"""


def test_another_class_is_taken_apart_attribute_by_attribute(tmp_path: Path):
    functions = """\
def _flatten_scaler(scaler):
    return [scaler.factor, scaler.offset], None


def _unflatten_scaler(values, _):
    scaler = Scaler.__new__(Scaler)
    scaler.factor, scaler.offset = values
    return scaler


torch.utils._pytree.register_pytree_node(Scaler, _flatten_scaler, _unflatten_scaler)


"""
    check(tmp_path, "NST501", SCALER, SCALER.replace("scaler = Scaler(2)", f"{functions}scaler = Scaler(2)"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Scaler:", "class Scaler(dict):"),
        ("        self.offset = 1\n", "        self.offset = 1\n\n    def prepare(self):\n        self.ready = True\n"),
        ("    def __init__", '    __slots__ = ("factor", "offset")\n\n    def __init__'),
        ("self.offset = 1", "self.offset = {1}"),
    ],
)
def test_a_class_whose_attributes_are_not_all_known_is_not_registered(tmp_path: Path, old: str, new: str):
    unmended(tmp_path, "NST501", SCALER.replace(old, new))


# -- None -------------------------------------------------------------------------------------------------------------

MASKED = """\
import torch


@torch._dynamo.nonstrict_trace
def masked(x, mask=None, scale=2):
    return x * scale if mask is None else x * mask


@torch.compile(fullgraph=True)
def step(x):
    return masked({})
"""


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("x, None", "x"),
        ("x, None, 3", "x, scale=3"),
        ("x, mask=None, scale=3", "x, scale=3"),
        ("x, scale=3, mask=None", "x, scale=3"),
    ],
)
def test_none_is_left_out_where_it_is_the_default(tmp_path: Path, given: str, left: str):
    check(tmp_path, "NST501", MASKED.format(given), MASKED.format(left), Applicability.SAFE)


def test_none_stays_where_it_is_something_else(tmp_path: Path):
    unmended(tmp_path, "NST501", MASKED.format("x, None").replace("mask=None", "mask=1"))


def test_what_is_changed_in_place_is_returned(tmp_path: Path):
    text = """\
import torch


@torch._dynamo.nonstrict_trace
def halve(x):
    {}


@torch.compile(fullgraph=True)
def step(x):
    y = x + 1
    halve(y)
    return y
"""
    check(tmp_path, "NST502", text.format("x.mul_(0.5)"), text.format("return x.mul_(0.5)"))
    several = "x.mul_(0.5)\n    if x.ndim > 1:\n        x.neg_()"
    check(tmp_path, "NST502", text.format(several), text.format(f"{several}\n    return x"))
    unmended(tmp_path, "NST502", text.format("x = x * 2"))


ATTENTION = """\
import torch


@torch._dynamo.nonstrict_trace
def attention(x):
    return {}


@torch.compile(fullgraph=True)
def step(x):
    {} = attention(x)
    return out
"""


@pytest.mark.parametrize(
    ("returned", "target", "left", "name"),
    [("x * 2, None", "out, _", "x * 2", "out"), ("None, x * 2, x", "_, out, y", "x * 2, x", "out, y")],
)
def test_a_part_of_the_result_that_nothing_reads_is_dropped(
    tmp_path: Path, returned: str, target: str, left: str, name: str
):
    check(tmp_path, "NST502", ATTENTION.format(returned, target), ATTENTION.format(left, name))


def test_a_part_of_the_result_stays_where_a_call_may_read_it(tmp_path: Path):
    unmended(tmp_path, "NST502", ATTENTION.format("x * 2, None", "out"))
    unmended(
        tmp_path, "NST502", ATTENTION.format("x * 2, None", "out, weights").replace("return out", "return weights")
    )
    unmended(tmp_path, "NST502", ATTENTION.format("x * 2, None", "out, _") + "\n\nkept = [attention]\n")


NAMED = """\
from typing import NamedTuple

import torch


class Parts(NamedTuple):
    real: torch.Tensor
    imag: torch.Tensor


@torch._dynamo.nonstrict_trace
def split(x){}:
    return {}


@torch.compile(fullgraph=True)
def step(x):
    parts = {}
    return parts.real * parts.imag
"""


def test_a_named_tuple_is_made_outside(tmp_path: Path):
    before = NAMED.format(" -> Parts", "Parts(x * 2, x + 1)", "split(x)")
    check(tmp_path, "NST502", before, NAMED.format(" -> tuple", "x * 2, x + 1", "Parts(*split(x))"))
    unmended(tmp_path, "NST502", NAMED.format("", "Parts(x * 2, imag=x + 1)", "split(x)"))
    unmended(tmp_path, "NST502", before + "\n\nkept = [split]\n")


# -- registrations that lose something --------------------------------------------------------------------------------


def test_a_dropped_field_is_registered(tmp_path: Path):
    text = BATCH.replace("@torch._dynamo", "torch.utils._pytree.register_dataclass({})\n\n\n@torch._dynamo")
    before = text.format('Batch, field_names=["values"], drop_field_names=["scale"]')
    check(tmp_path, "NST504", before, text.format('Batch, field_names=["values", "scale"]'), Applicability.SAFE)


CONSTANT = """\
import torch
from torch.utils import _pytree


class Layer:
    def __init__(self, index, gain):
        self.index = index
        self.gain = gain

    def __eq__(self, other):
        return isinstance(other, Layer) and other.index == self.index{}

    def __hash__(self):
        return hash(self.index)


_pytree.register_constant(Layer)

layer = Layer(1, 2.0)


@torch._dynamo.nonstrict_trace
def scaled(x, layer):
    return x * layer.gain


@torch.compile(fullgraph=True)
def step(x):
    return scaled(x, layer)
"""


def test_a_field_that_eq_leaves_out_is_compared(tmp_path: Path):
    check(tmp_path, "NST504", CONSTANT.format(""), CONSTANT.format(" and other.gain == self.gain"))


def test_conditions_are_written_below_one_another_where_a_line_is_too_short(tmp_path: Path):
    parts = ["isinstance(other, Layer)", "other.index == self.index", "other.index + self.index == 2 * self.index"]
    compared = "return isinstance(other, Layer) and other.index == self.index"
    before = CONSTANT.format("").replace(compared, f"return {' and '.join(parts)}")
    added = [*parts[1:], "other.gain == self.gain"]
    lines = ["return (", f"    {parts[0]}", *(f"    and {part}" for part in added), ")"]
    check(tmp_path, "NST504", before, CONSTANT.format("").replace(compared, "\n        ".join(lines)))


def test_a_constant_that_is_changed_is_taken_apart_instead(tmp_path: Path):
    changing = "\n\ndef louder():\n    layer.gain = 3.0\n"
    before = CONSTANT.format(" and other.gain == self.gain") + changing
    result = mended(tmp_path, {"model.py": before}, {"NST504"})
    assert result.before == ["NST504"]
    assert result.after == []
    assert result.titles == ["Register `Layer` with `register_pytree_node`"]
    assert "register_constant" not in result.files["model.py"]
    assert "_pytree.register_pytree_node(Layer, _flatten_layer, _unflatten_layer)" in result.files["model.py"]


def test_a_frozen_dataclass_is_no_constant(tmp_path: Path):
    before = BATCH.replace("@dataclass", "@dataclass(frozen=True)").replace("values: torch.Tensor", "values: int")
    before = before.replace("@torch._dynamo", "torch.utils._pytree.register_constant(Batch)\n\n\n@torch._dynamo")
    before = before.replace("(batch)", "(x, batch)").replace("batch.values", "x").replace("Batch(x, 0.5))", "batch)")
    before = before.replace("(Batch)\n", "(Batch)\n\nbatch = Batch(1, 0.5)\n").replace(
        "normalise(batch)", "normalise(x, batch)"
    )
    check(tmp_path, "NST504", before, before.replace("register_constant", "register_dataclass"))


IMAGE = """\
import torch
from torch.utils import _pytree


class Image:
    def __init__(self, pixels, scale):
        self.pixels = pixels
        self.scale = scale


{}_pytree.register_pytree_node(Image, {})
image = Image(torch.ones(3), 3.0)


@torch._dynamo.nonstrict_trace
def bright(image):
    return image.pixels * image.scale


@torch.compile(fullgraph=True)
def step(x):
    return bright(image) + x
"""


def test_functions_that_leave_out_an_attribute_are_replaced(tmp_path: Path):
    functions = """\
def _flatten(image):
    return [image.pixels], None


def _unflatten(values, _):
    return Image(values[0], 1.0)


"""
    kept = """\
def _flatten_image(image):
    return [image.pixels, image.scale], None


def _unflatten_image(values, _):
    image = Image.__new__(Image)
    image.pixels, image.scale = values
    return image


"""
    before = IMAGE.format(functions, "_flatten, _unflatten")
    check(tmp_path, "NST504", before, IMAGE.format(kept, "_flatten_image, _unflatten_image"))


# -- constants that regions make --------------------------------------------------------------------------------------


def test_a_constant_is_made_outside(tmp_path: Path):
    text = CONSTANT.format(" and other.gain == self.gain").replace("\nlayer = Layer(1, 2.0)\n", "")
    before = text.replace("scaled(x, layer)", "scaled(x, Layer(1, 2.0))", 2).replace(
        "def scaled(x, Layer(1, 2.0))", "def scaled(x, layer)"
    )
    after = text.replace("@torch.compile", "layer = Layer(1, 2.0)\n\n\n@torch.compile")
    check(tmp_path, "NST503", before, after, Applicability.SAFE)
    unmended(tmp_path, "NST503", before.replace("Layer(1, 2.0)", "Layer(1, x.ndim)"))


def test_the_comment_of_a_constant_goes_with_it(tmp_path: Path):
    text = CONSTANT.format(" and other.gain == self.gain").replace("\nlayer = Layer(1, 2.0)\n", "")
    made = "layer = Layer(1, 2.0)  # as trained\n"
    before = text.replace("    return scaled(x, layer)", f"    {made}    return scaled(x, layer)")
    after = text.replace("@torch.compile", f"{made}\n\n@torch.compile")
    check(tmp_path, "NST503", before, after, Applicability.SAFE)

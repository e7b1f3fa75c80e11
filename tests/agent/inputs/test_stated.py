"""Annotations are read alike as objects and as strings, whether or not their names can be imported."""

from __future__ import annotations

import collections.abc
import typing
from typing import Any

import pytest
import torch

from nonstrict_agent.inputs import body
from nonstrict_agent.inputs.stated import Sizes, Type, read
from nonstrict_agent.inputs.usage import Usage

NAMES = {"torch": torch, "Tensor": torch.Tensor}


@pytest.mark.parametrize(
    ("text", "annotation"),
    [
        ("torch.Tensor", torch.Tensor),
        ("typing.Optional[Tensor]", typing.Optional[torch.Tensor]),  # noqa: UP045
        ("Tensor | None", typing.Union[torch.Tensor, None]),  # noqa: UP007
        ("list[Tensor]", list[torch.Tensor]),
        ("Dict[str, Tensor]", dict[str, torch.Tensor]),
        ("Literal['a', 2]", typing.Literal["a", 2]),
        ("Callable[[Tensor, int], Tensor]", collections.abc.Callable[[torch.Tensor, int], torch.Tensor]),
        ("Any", Any),
    ],
)
def test_strings_are_read_as_objects_are(text: str, annotation: object) -> None:
    names = {**NAMES, "typing": typing}
    assert read(text, names) == read(annotation, names)


@pytest.mark.parametrize("text", ["Optional[Missing]", "Missing | None"])
def test_names_that_are_missing_keep_their_place(text: str) -> None:
    stated = read(text, {})
    assert stated is not None
    assert [each.name for each in stated.args] == ["Missing", "None"]


@pytest.mark.parametrize("text", ["Float[Tensor, 'batch seq 4']", "jaxtyping.Float[torch.Tensor, 'batch seq 4']"])
def test_jaxtyping_is_read_without_jaxtyping(text: str) -> None:
    assert read(text, {}) == Type("Tensor", dims="batch seq 4", dtype="float32")


def test_jaxtyping_objects_are_read_by_their_attributes() -> None:
    class Int: ...

    class Annotated:
        dim_str = "b 3"
        dtype = Int

    assert read(Annotated, {}) == Type("Tensor", dims="b 3", dtype="int64")


def test_sizes_are_consistent() -> None:
    sizes = Sizes()
    first, second = sizes.shape("batch seq dim 4"), sizes.shape("*rest dim seq+1 #batch _ k=7")
    assert first[0] == 2
    assert first[3] == 4
    assert len(set(first[:3])) == 3
    assert second[1:4] == [first[2], first[1] + 1, 2]
    assert second[5] == 7


def test_uses_are_read_from_the_body() -> None:
    def helper(z: Any) -> Any:
        return z.shape[2]

    def function(x: Any, config: Any, batch: Any, f: Any, mode: Any, xs: Any, n: Any, y: Any = None) -> Any:
        _b, _c, _h, _w = x.shape
        if mode == "fast" or y is None:
            return f(x, config.inner.size)
        for each in xs:
            each.relu()
        x[:, batch["index"]] += config.scale
        return [helper(y) for _ in range(n)]

    names = ["x", "config", "batch", "f", "mode", "xs", "n", "y"]
    read_of = {name: Usage() for name in names}
    body.read(function, read_of)
    assert read_of["x"].ranks[0] == 4
    assert set(read_of["config"].attributes) == {"inner", "scale"}
    assert set(read_of["config"].attributes["inner"].attributes) == {"size"}
    assert read_of["batch"].keys["index"].index
    assert read_of["f"].called == 2
    assert read_of["mode"].strings == ["fast"]
    assert read_of["xs"].element is not None
    assert read_of["n"].integer > 0
    assert read_of["y"].none

"""Which calls that the schema of an operator allows its fake does not take, asked without a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

HEAD = """\
import functools
import torch

lib = torch.library.Library("asked", "DEF")

def refuse(*given, **named):
    raise RuntimeError("no arguments are good enough")
"""


def asked(project: Project, text: str) -> dict[str, Any]:
    """What is refused, by the own name of an operator."""
    text = HEAD + text
    answer = project.perform({**project.job(text), "kind": "fakes"})
    assert answer["failure"] == ""
    assert all(path.endswith("model.py") for path, _ in (one["fake"] for one in answer["operators"]))
    return {one["name"].partition("::")[2]: one["refused"] for one in answer["operators"]}


def test_every_way_to_register_a_fake_is_asked(project: Project) -> None:
    text = """
lib.define("meta(Tensor x, Tensor y) -> Tensor")
lib.impl("meta", refuse, "CPU")

@torch.library.impl("asked::meta", "Meta")
def meta(x):
    return x

lib.define("declared(Tensor x, Tensor y) -> Tensor")

@torch.library.register_fake("asked::declared")
def declared(x):
    return x

@torch.library.custom_op("asked::defined", mutates_args=())
def defined(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    raise RuntimeError

@defined.register_fake
def of_defined(x):
    return x

lib.define("bare(Tensor x) -> Tensor")
"""
    told = "a call with all 2 arguments: TypeError: {}() takes 1 positional argument but 2 were given"
    names = {"meta": "meta", "declared": "declared", "defined": "of_defined"}
    assert asked(project, text) == {operator: told.format(name) for operator, name in names.items()}


def test_calls_are_those_of_the_dispatcher(project: Project) -> None:
    text = """
lib.define("some(Tensor x, Tensor? y=None, int n=1, *, float scale=1.0) -> Tensor")

@torch.library.register_fake("asked::some")
def some(x, y, n=1, *, scale=1.0):
    return x

lib.define("last(Tensor x, Tensor? y=None, *, float scale=1.0) -> Tensor")

@torch.library.register_fake("asked::last")
def last(x, other=None):
    return x

lib.define("keyword(Tensor x, *, float scale) -> Tensor")

@torch.library.register_fake("asked::keyword")
def keyword(x, factor):
    return x
"""
    assert asked(project, text) == {
        "some": "a call with 1 of 4 arguments, the last `x`: "
        "TypeError: some() missing 1 required positional argument: 'y'",
        "last": "a call with 2 of 3 arguments, the last `scale`: "
        "TypeError: last() got an unexpected keyword argument 'scale'",
        "keyword": "a call with all 2 arguments: TypeError: keyword() got an unexpected keyword argument 'scale'",
    }


def test_a_fake_that_takes_everything(project: Project) -> None:
    text = """
def around(function):
    @functools.wraps(function)
    def inner(*given):
        return function(given[0])
    return inner

lib.define("around(Tensor x, Tensor y, int n=1) -> Tensor")

@torch.library.register_fake("asked::around")
@around
def wrapped(x):
    return x

lib.define("other_names(Tensor x, Tensor? y=None) -> Tensor")

@torch.library.register_fake("asked::other_names")
def other_names(a, b=None):
    return a

def with_keys(keys, x):
    return x

lib.define("keys(Tensor x) -> Tensor")
lib.impl("keys", with_keys, "Meta", with_keyset=True)
"""
    assert asked(project, text) == {"around": "", "other_names": ""}

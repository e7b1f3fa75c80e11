"""Facts about NumPy's functions, as `nonstrict.knowledge.arrays` answers them."""

from __future__ import annotations

import pytest

from nonstrict.knowledge.arrays import drawn, is_sized, keeps_shape


@pytest.mark.parametrize("name", ["sin", "abs", "exp", "flip", "clip", "sort", "copy", "square", "cbrt"])
def test_functions_that_keep_the_shape(name: str):
    assert keeps_shape(name)


@pytest.mark.parametrize("name", ["sum", "cumsum", "transpose", "ravel", "trim_zeros", "add", "nowhere"])
def test_functions_that_do_not(name: str):
    assert not keeps_shape(name)


def test_functions_of_sizes():
    assert all(map(is_sized, ("ones", "zeros", "empty", "full")))
    assert not any(map(is_sized, ("array", "arange", "eye", "zeros_like")))


@pytest.mark.parametrize(
    ("name", "told"),
    [("rand", (0, "float")), ("exponential", (1, "float")), ("randint", (2, "int")), ("poisson", (1, "int"))],
)
def test_what_is_drawn(name: str, told: tuple[int, str]):
    assert drawn(name) == told


@pytest.mark.parametrize("name", ["shuffle", "permutation", "choice", "seed", "multinomial"])
def test_what_is_no_number(name: str):
    assert drawn(name) is None

"""What makes the elements of a tensor lie in another order, or apart, as far as the text tells."""

from __future__ import annotations

import ast

import pytest

from nonstrict.facts.layouts import rearranged


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x", ""),
        ("x.T", "T"),
        ("x.t()", "t"),
        ("x.transpose(0, 1)", "transpose"),
        ("x.permute(1, 0)", "permute"),
        ("x[:, 0]", "(:, 0)"),
        ("x[::2]", "::2"),
        ("x[2:4]", ""),
        ("x[0]", ""),
        ("x[:, ...]", ""),
        ("x.relu()", ""),
        ("x.shape", ""),
    ],
)
def test_what_is_rearranged(text: str, told: str):
    expression = ast.parse(text, mode="eval").body
    assert rearranged(lambda node: "", expression) == told

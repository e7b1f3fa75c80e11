"""Whatever a file holds, a check of it ends with a result, and what it finds lies inside the file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from nonstrict.text.decode import normalised
from tests.properties.texts import NAMES, PIECES, TEXTS, corpus, mutations, run, splices

if TYPE_CHECKING:
    from nonstrict.check.run import CheckResult


def inside(result: CheckResult, text: str) -> None:
    """Rows and columns count from 1; an end may stand one behind the last character."""
    lines = normalised(text).split("\n")
    for found in result.diagnostics:
        for place in [found.location, *(related.location for related in found.related)]:
            assert 1 <= place.row <= place.end_row <= len(lines)
            assert 1 <= place.column <= len(lines[place.row - 1]) + 1
            assert 1 <= place.end_column <= len(lines[place.end_row - 1]) + 1
            assert (place.row, place.column) <= (place.end_row, place.end_column)


@settings(max_examples=250, deadline=None)
@given(NAMES, TEXTS)
def test_any_text(name: str, text: str) -> None:
    result = run(name, text)
    assert result.failures or result.files == 1


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_findings_lie_inside_any_marked_text(text: str) -> None:
    whole = "import torch\nW = torch.ones(3)\n@torch._dynamo.nonstrict_trace\ndef marked(x):\n    " + text
    whole = whole.replace("\0", "").replace("\ufeff", "").replace("# coding: latin-1", "")
    inside(run("a.py", whole), whole)


@settings(max_examples=150, deadline=None)
@given(
    NAMES,
    st.one_of(
        st.binary(max_size=200),
        st.tuples(st.binary(max_size=30), TEXTS).map(lambda pair: pair[0] + pair[1].encode("utf-8", "replace")),
    ),
)
def test_any_bytes(name: str, data: bytes) -> None:
    run(name, data)


@settings(max_examples=250, deadline=None)
@given(mutations())
def test_findings_lie_inside_any_mutated_program(text: str) -> None:
    text = text.replace("\0", "").replace("\ufeff", "").replace("# coding: latin-1", "")
    result = run("a.py", text)
    assert not result.failures
    inside(result, text)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(corpus()), st.lists(st.tuples(st.integers(0, 5000), st.binary(min_size=1, max_size=4)), max_size=5)
)
def test_any_mutated_bytes(text: str, changes: list[tuple[int, bytes]]) -> None:
    data = text.encode()
    for at, part in changes:
        data = data[:at] + part + data[at + len(part) :]
    run("a.py", data)


@settings(max_examples=250, deadline=None)
@given(splices())
def test_findings_lie_inside_any_spliced_program(text: str) -> None:
    result = run("a.py", text)
    assert not result.failures
    inside(result, text)


JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10), st.sampled_from(corpus()[:20])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["cells", "cell_type", "source", "metadata", "worksheets", "nbformat", "code"]),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(JSON, st.lists(JSON, max_size=3).map(lambda cells: {"cells": cells, "nbformat": 4})))
def test_any_json_as_a_notebook(value: object) -> None:
    run("a.ipynb", json.dumps(value))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["code", "markdown", "raw", 3]), st.one_of(TEXTS, st.lists(TEXTS))), max_size=4)
)
def test_any_cells(cells: list[tuple[object, object]]) -> None:
    content = {"cells": [{"cell_type": kind, "source": source} for kind, source in cells]}
    result = run("a.ipynb", json.dumps(content))
    for found in result.diagnostics:
        assert found.location.cell is None or 1 <= found.location.cell <= len(cells)

"""Which pages a text is answered with, and which places it names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonstrict.explain.cleaning import cleaned
from nonstrict.explain.library import identifiers, library, named, page, whole
from nonstrict.explain.messages import Message, guard_topic, messages
from nonstrict.explain.nearest import nearest
from nonstrict.explain.templates import PLACE


def told(text: str) -> list[Message]:
    return messages(cleaned(text))


def pages(text: str) -> list[tuple[str, ...]]:
    return [one.pages for one in told(text)]


def test_every_page_can_be_named_and_shown():
    for name in identifiers():
        assert named(name) == name
        assert whole(name).startswith("# ")
        assert page(name).title
    assert named("global-tensor-capture") == "NST101"
    assert named("gb0059") == "GB0059"
    assert named("GB9998") is None


def test_every_text_is_answered_with_its_page():
    """Each text alone, as torch would print it: with the page that it is of, or one of its rules."""
    known = library()
    for template, owners in zip(known.templates, known.owners, strict=True):
        found = {name for one in told(template.text.replace(PLACE, "value")) for name in one.pages}
        rules = {code for name in owners for code in page(name).rules}
        assert found & ({*owners} | rules), template.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html", [("GB0059",)]),
        ("is GB0059 bad?", [("GB0059",)]),
        ("It breaks the graph (GB0059)\nat two places (GB0007, GB0059)", [("GB0059", "GB0007")]),
        ("Graph break GB0059 at\nthe second line", [("GB0059",)]),
        ("Disk: 10 GB0012 used", []),
        ("Volumes:\nGB0012 used, GB0007 free", []),
        ("warning[NST701] graph-break", [("NST701",)]),
        ("/runs/NST701/model.py and GB9998", []),
        ("Unsupported: Tensor.tolist() with non-integer tensor", [("GB0109",)]),
        ("torch._dynamo hit config.recompile_limit (8)", [("NST803",)]),
        ("torch._dynamo hit config.accumulated_recompile_limit (256)", [("given-up",)]),
        ("Invalid input type for nonstrict_trace-ed function\n gb/gb0236.html", [("NST501",)]),
        ("tensor 'x' size mismatch at index 0. expected 3, actual 4", [("guard-size",)]),
        ("L['self'].step == 3", [("guard-value",)]),
        ("___check_type_id(L['x'], 94024), type=<class 'a.B'>", [("guard-type",)]),
        ("RuntimeError: mat1 and mat2 shapes cannot be multiplied", []),
    ],
)
def test_short_texts(text: str, expected: list[tuple[str, ...]]):
    assert pages(text) == expected


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("KeyError: key not found in dict", "GB0196"),
        ("main.cl:12:5: error: Unsupported function call", "GB0147"),
        ("2024-05-01 ERROR: Import failure", "GB0069"),
        ("npm warn config: proxy not set", "GB0205"),
        ("polars.exceptions.ComputeError: Unsupported method call", "GB0156"),
        ("ComputeError: Unsupported context manager", "GB0142"),
        ("NotImplementedError: This abstract method must be implemented", "GB0118"),
    ],
)
def test_texts_of_other_programs_are_a_guess(text: str, guess: str):
    assert pages(text) == []
    assert guess in nearest(text)


@pytest.mark.parametrize(
    "text",
    [
        "Import failure",
        "Unsupported: Import failure",
        "torch._dynamo.exc.Unsupported: Import failure",
        "FAILED a.py::test - torch._dynamo.exc.Unsupported: Import failure",
        "Graph Break Reason: Import failure",
        "V0130 10:00:00.0 1 torch/_dynamo/x.py:1] [0/0] [__graph_breaks] Import failure",
        "cannot trace: Import failure\n  Explanation: no such module",
    ],
)
def test_a_short_name_of_a_break_in_a_form_of_torch(text: str):
    assert pages(text) == [("GB0069",)]


@pytest.mark.parametrize(
    ("guard", "topic"),
    [
        ("self.step == 3", "guard-value"),
        ("len(self.items) == 3", "guard-length"),
        ("module.training == True", "guard-training"),
        ("2 <= x.size()[0] <= 5", "guard-range"),
        ("x.size()[0] != y.size()[0]", "guard-range"),
        ("x is y", "guard-object"),
        ("something else", ""),
    ],
)
def test_kinds_of_guards(guard: str, topic: str):
    assert guard_topic(guard) == topic


def test_what_is_said_twice_of_a_place_is_answered_once():
    one = "Graph break in user code at /job/a.py:5\nGraph Break Reason: x\n\nImport failure\n"
    other = one.replace("a.py:5", "a.py:9")
    assert [[(place.path, place.line) for place in told.places] for told in told(one + other + one)] == [
        [("/job/a.py", 5)], [("/job/a.py", 9)],
    ]  # fmt: skip


def test_the_guard_of_the_newest_code_counts():
    text = (
        "Recompiling function f in /job/a.py:2\n    triggered by the following guard failure(s):\n"
        "    - 0/1: L['n'] == 3    # return x * n  # a.py:4 in f\n"
        '    - User stack trace:\n    -   File "/job/a.py", line 4, in f\n    -     return x * n\n'
        "    - 0/0: tensor 'x' size mismatch at index 0. expected 3, actual 4\n"
    )
    (message,) = told(text)
    assert (message.pages, message.guard and message.guard.sources) == (("guard-value",), (("n",),))
    assert [(one.path, one.line, one.text) for one in message.places] == [("/job/a.py", 4, "return x * n")]


def test_the_nearest_pages_share_words():
    assert "GB0170" in nearest("data dependent branching detected somewhere")
    assert nearest("cannot open the door") == []
    assert nearest("") == []


@given(st.text(st.characters(max_codepoint=0x2FF) | st.sampled_from("\n \x1b['\"{}():/")))
def test_no_text_fails(text: str):
    messages(cleaned(text))
    nearest(text)


@given(st.lists(st.sampled_from([one.text for one in library().templates]), max_size=4), st.text(max_size=30))
def test_no_mixture_of_texts_fails(texts: list[str], between: str):
    messages(cleaned(between.join(texts)))

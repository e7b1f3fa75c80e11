"""Changes of a program that mean nothing change nothing of what is found but where it stands."""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.properties.texts import Told, corpus, diagnostics, notebook, programs, statement_rows, told, top_level_rows

#: Programs with a variable of a function that can be renamed, as (text, names).
_NAME = re.compile(r"[A-Za-z_]\w*")


def moved(row: int, at: int) -> int:
    return row + (row >= at)


def shifted(found: list[Told], at: int) -> list[Told]:
    """What is found once a line stands before row `at`."""
    return sorted(
        each._replace(
            place=(None, moved(each.place[1], at), each.place[2], moved(each.place[3], at), each.place[4]),
            related=tuple(sorted((cell, moved(row, at), column) for cell, row, column in each.related)),
        )
        for each in found
    )


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_a_comment_line_shifts_what_stands_below_it_by_one_row(data: st.DataObject) -> None:
    text = data.draw(programs())
    row = data.draw(st.sampled_from([1, *statement_rows(text)]))
    comment = data.draw(st.sampled_from(["# a comment", "    # indented", "", "# Ü😀", "\t#", "#"]))
    lines = text.split("\n")
    changed = "\n".join([*lines[: row - 1], comment, *lines[row - 1 :]])
    assert told("a.py", changed) == shifted(told("a.py", text), row)


def local_names(text: str) -> list[str]:
    """Variables of functions that can be renamed in the whole text without changing what the program does."""
    tree = ast.parse(text)
    stored: set[str] = set()
    taken: set[str] = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if isinstance(node, ast.FunctionDef):
                stored |= {
                    inner.id
                    for inner in ast.walk(node)
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
                }
                taken.add(node.name)
            taken |= {inner.arg for inner in ast.walk(node.args) if isinstance(inner, ast.arg)}
        elif isinstance(node, ast.ClassDef):
            taken |= {inner.id for part in node.body for inner in ast.walk(part) if isinstance(inner, ast.Name)}
            taken.add(node.name)
        elif isinstance(node, ast.Attribute):
            taken.add(node.attr)
        elif isinstance(node, ast.keyword):
            taken.add(node.arg or "")
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            taken |= set(node.names)
        elif isinstance(node, ast.alias):
            taken |= {node.name.split(".")[0], node.asname or ""}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            taken |= set(_NAME.findall(node.value))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for statement in tree.body:
        if not isinstance(statement, functions):
            taken |= {inner.id for inner in ast.walk(statement) if isinstance(inner, ast.Name)}
    return sorted(stored - taken)


def renamed(text: str, old: str, new: str) -> str:
    """The text with a name replaced by one of the same length wherever it is a token."""
    assert len(old) == len(new)
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string == old:
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = line[:column] + new + line[column + len(old) :]
    return "\n".join(lines)


RENAMABLE = [
    (text, names) for text in corpus() if "f'" not in text and 'f"' not in text and (names := local_names(text))
]


def test_there_is_something_to_rename() -> None:
    assert len(RENAMABLE) > 40


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_name_of_a_local_variable_means_nothing(data: st.DataObject) -> None:
    text, names = data.draw(st.sampled_from(RENAMABLE))
    old = data.draw(st.sampled_from(names))
    letters = st.sampled_from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
    new = data.draw(st.text(letters, min_size=len(old), max_size=len(old)))
    assume(not re.search(rf"\b{new}\b", text) and new not in dir(builtins) and new.isidentifier())
    changed = renamed(text, old, new)
    assume(changed != text)
    try:
        ast.parse(changed)
    except SyntaxError:
        assume(False)  # a keyword
    assert told("a.py", changed) == told("a.py", text)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_a_notebook_of_the_pieces_of_a_script_has_its_findings(data: st.DataObject) -> None:
    text = data.draw(programs())
    starts = [1, *data.draw(st.sets(st.sampled_from(top_level_rows(text)), max_size=6))]
    starts = sorted(set(starts))
    lines = text.split("\n")
    pieces = [
        "\n".join(lines[start - 1 : end - 1]) for start, end in zip(starts, [*starts[1:], len(lines) + 1], strict=True)
    ]
    in_cells: list[Told] = []
    for found in told("a.ipynb", notebook(pieces)):
        cell, row, column, end_row, end_column = found.place
        assert cell is not None
        assert row <= pieces[cell - 1].count("\n") + 1
        above = starts[cell - 1] - 1
        in_cells.append(
            found._replace(
                place=(None, row + above, column, end_row + above, end_column),
                related=tuple(
                    sorted((None, starts[(at or 1) - 1] - 1 + line, start) for at, line, start in found.related)
                ),
            )
        )
    assert sorted(in_cells) == told("a.py", text)


@settings(max_examples=120, deadline=None)
@given(programs(), st.sampled_from(["\r\n", "\r"]))
def test_line_ends_mean_nothing(text: str, end: str) -> None:
    assert [(found.location, found.message) for found in diagnostics("a.py", text.replace("\n", end))] == [
        (found.location, found.message) for found in diagnostics("a.py", text)
    ]


@settings(max_examples=60, deadline=None)
@given(programs())
def test_a_mark_of_byte_order_means_nothing(text: str) -> None:
    assert told("a.py", "\ufeff" + text) == told("a.py", text)


@settings(max_examples=60, deadline=None)
@given(programs())
def test_a_page_with_the_program_in_a_fence_has_its_findings(text: str) -> None:
    page = f"# Title\n\n```python\n{text}\n```\n"
    expected = told("a.py", text)
    for row in (1, 1, 1):
        expected = shifted(expected, row)
    assert told("a.md", page) == expected

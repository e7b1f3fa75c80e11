"""What of a file can be run to see what torch makes of it: its tests, and what it does as a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.testing import is_test_file, tests_in
from nonstrict.facts.execution import is_main_guard
from nonstrict.program.domain.effects import span_of
from nonstrict.text.source import SourceKind, parsed

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from nonstrict.findings import Location
    from nonstrict_server.engine import Engine


class Runnable(NamedTuple):
    """A test, whose `selector` is what pytest takes behind the path of its file; "" for the file as a script."""

    selector: str
    where: Location


def runnables(engine: Engine, path: str) -> Iterator[Runnable]:
    """Those of a file that has to do with something marked or compiled; in the thread of the analysis."""
    source = engine.source(path)
    if source is None or source.kind is not SourceKind.PYTHON or not engine.is_involved(path):
        return
    tree = parsed(source)[1]
    found = [("", node) for node in tree.body if is_main_guard(node)]
    found += tests_in(tree) if is_test_file(path) else []
    for selector, node in found:
        span = span_of(path, 0, node)
        yield Runnable(selector, source.locate(span._replace(line=_first_line(node))))


def _first_line(node: ast.stmt) -> int:
    """The line of a statement, or of the first decorator above it."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min((node.lineno, *(one.lineno for one in decorators)))

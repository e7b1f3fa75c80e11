"""Text that lost its line breaks, split into statements: where one can only end, and where a comment must."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.text.repair import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>\#)
  | (?P<string>[rRbBuUfF]{0,2}(?:\"\"\"(?:[^\\"]|\\.|\"(?!\"\"))*\"\"\"
      | \'\'\'(?:[^\\']|\\.|\'(?!\'\'))*\'\'\'
      | \"(?:[^\\"\n]|\\.)*\" | \'(?:[^\\'\n]|\\.)*\'))
  | (?P<number>\.?\d[\w.]*)
  | (?P<name>[^\W\d]\w*)
  | (?P<op>\.\.\.|:=|.)
    """,
    re.VERBOSE | re.DOTALL,
)

HEADERS = frozenset({"def", "class", "if", "elif", "else", "for", "while", "with", "try", "except", "finally"})
_VALUES = frozenset({"None", "True", "False"})
_COMPLETE = frozenset({"pass", "break", "continue"})
_JOINING = frozenset({"and", "or", "is", "in", "as"})
_OPENERS = frozenset({"return", "raise", "yield"})
# Keywords that can only begin a statement, or an expression that cannot follow another one.
_STARTERS = frozenset(
    {
        *{"def", "class", "return", "raise", "pass", "break", "continue", "while", "with", "try", "except", "finally"},
        *{"elif", "global", "nonlocal", "del", "assert", "async", "for", "lambda", "await", "yield"},
        *_VALUES,
    }
)
_KEYWORDS = _STARTERS | _JOINING | {"if", "else", "not", "import", "from"}
# After one of these words, a call or keyword within a comment is still prose: "a call to f(x)".
_PROSE = frozenset(
    {
        *{"a", "an", "and", "are", "be", "by", "call", "called", "calling", "calls", "can", "for", "from", "if", "in"},
        *{"is", "its", "like", "must", "no", "not", "of", "on", "or", "see", "should", "that", "the", "this", "to"},
        *{"use", "using", "via", "when", "which", "will", "with", "would", "your", "our", "their", "we", "you", "it"},
    }
)
_DECORATOR = re.compile(r"@\s*[^\W\d][\w.]*")
_CANDIDATE = re.compile(r"(?<=\s)(?:@(?=\w)|[^\W\d])")
_LOOSE = re.compile(r"\w\s+\(|\.\s|\w\.\s*$")
_MAX_CANDIDATES = 2000
_MAX_LENGTH = 20_000
_MAX_LOOK_AHEAD = 1000


class Statement(NamedTuple):
    """A logical line: offsets of its text with a comment behind it, the end of its code, its first word.

    `primary` is True behind a `>>>` prompt, False behind `...`, None where there are no prompts.
    """

    start: int
    end: int
    code_end: int
    word: str
    header: bool
    primary: bool | None = None


class _Scan(NamedTuple):
    """The end of one statement's code, and whether it opens a block."""

    end: int
    word: str
    header: bool


def split(text: str, prompts: dict[int, bool] | None = None) -> list[Statement]:
    """Split a text without line breaks into statements; what is no Python comes out as statements that do not parse.

    `prompts` maps offsets where a line is known to begin to whether it began with `>>>`.
    """
    if len(text) > _MAX_LENGTH:
        return []
    prompts = prompts or {}
    breaks = sorted(prompts)
    statements: list[Statement] = []
    position = 0
    while (position := _skip(text, position)) < len(text):
        primary = _primary(prompts, breaks, position)
        if text[position] == "#":
            position = _comment_end(text, position, breaks)
            continue
        scan = _scan(text, position, breaks)
        end = _skip(text, scan.end)
        if end < len(text) and text[end] == "#" and not _crosses(scan.end, end, breaks):
            end = _comment_end(text, end, breaks)
        else:
            end = scan.end
        if end <= position:
            return []
        last = len(text[:end].rstrip())
        statements.append(Statement(position, last, scan.end, scan.word, scan.header, primary))
        position = end
    return statements


def _primary(prompts: dict[int, bool], breaks: Sequence[int], position: int) -> bool | None:
    """Whether the prompt before an offset is a `>>>`; None where there are no prompts."""
    index = bisect_right(breaks, position)
    return prompts[breaks[index - 1]] if index else None


def _crosses(start: int, end: int, breaks: Sequence[int]) -> bool:
    """Whether a line is known to begin between two offsets."""
    index = bisect_left(breaks, start)
    return index < len(breaks) and breaks[index] <= end


def _skip(text: str, position: int) -> int:
    while position < len(text) and (text[position].isspace() or text[position] == ";"):
        position += 1
    return position


def _tokens(text: str, position: int) -> list[tuple[str, str, int]]:
    """A few (kind, text, start) tokens from an offset on, spaces left out; for looking ahead."""
    found: list[tuple[str, str, int]] = []
    for match in _TOKEN.finditer(text, position):
        if match.lastgroup != "space":
            found.append((match.lastgroup or "", match.group(), match.start()))
        if len(found) == 2:
            break
    return found


def _scan(text: str, position: int, breaks: Sequence[int]) -> _Scan:  # noqa: C901 - one automaton, one place
    """Find the end of the statement that starts at an offset."""
    depth, lambdas, end = 0, 0, position
    word, previous, operand = "", "", False
    header = imported = False
    for match in _TOKEN.finditer(text, position):
        kind, token = match.lastgroup, match.group()
        if kind == "space":
            continue
        if depth == 0 and match.start() > position:
            if kind == "comment" or token == ";" or _crosses(end, match.start(), breaks):
                break
            if previous in _COMPLETE or (
                _starts(text, match, previous, operand=operand, first=word, imported=imported)
            ):
                break
        elif kind == "comment":
            break
        if not word:
            word = token
        if token in {"def", "for", "with"} and previous == "async":
            word = token
        header = word in HEADERS
        end = match.end()
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
            if depth < 0:
                break
        elif depth == 0 and token == "lambda":
            lambdas += 1
        elif depth == 0 and token == ":":
            if lambdas:
                lambdas -= 1
            elif header:
                return _Scan(end, word, header=True)
        imported = imported or token == "import"
        operand = kind in {"string", "number"} or token in {")", "]", "}", "..."} or token in _VALUES
        operand = operand or (kind == "name" and token not in _KEYWORDS)
        previous = token
    return _Scan(end, word, header=False)


def _starts(text: str, match: re.Match[str], previous: str, *, operand: bool, first: str, imported: bool) -> bool:
    """Whether a token at depth 0, not the first of its statement, begins the next one."""
    kind, token = match.lastgroup, match.group()
    if token == "@":
        return (operand or previous in _OPENERS) and _decorates(text, match.start())
    if not operand:
        return previous in _OPENERS and token in _STARTERS - _VALUES - {"lambda", "await", "yield"}
    if kind == "name" and token in _KEYWORDS:
        return _keyword_starts(text, match, first=first, imported=imported)
    if kind == "string":
        return previous[-1:] not in {'"', "'"}
    return kind in {"name", "number"} or token in {"{", "~", "..."}


def _keyword_starts(text: str, match: re.Match[str], *, first: str, imported: bool) -> bool:
    """Whether a keyword behind an operand begins a statement."""
    token = match.group()
    if token in _STARTERS:
        return True
    following = _tokens(text, match.end())
    after = following[0][1] if following else ""
    if token == "else":
        return after == ":"
    if token == "not":
        return after != "in"
    if token == "import":
        return first != "from" or imported
    if token == "from":
        return first not in {"raise", "yield"}
    return token == "if" and not _ternary(text, match.end())


def _ternary(text: str, position: int) -> bool:
    """Whether the `if` before an offset belongs to `a if b else c`: an `else` without a colon comes before a colon."""
    depth = 0
    for match in _TOKEN.finditer(text, position, position + _MAX_LOOK_AHEAD):
        token = match.group()
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
            if depth < 0:
                return False
        elif depth == 0 and (token in {":", "#"} or token in _OPENERS):
            return False
        elif depth == 0 and token == "else":
            following = _tokens(text, match.end())
            return not following or following[0][1] != ":"
    return False


def _decorates(text: str, position: int) -> bool:
    """Whether the `@` at an offset begins a decorator: a dotted name, perhaps called, then what is decorated."""
    found = _DECORATOR.match(text, position)
    if found is None:
        return False
    end = found.end()
    if text[end : end + 1] == "(":
        depth = 0
        for match in _TOKEN.finditer(text, end, end + _MAX_LOOK_AHEAD):
            depth += (match.group() in {"(", "[", "{"}) - (match.group() in {")", "]", "}"})
            if depth == 0:
                end = match.end()
                break
    following = _tokens(text, end)
    return bool(following) and following[0][1] in {"def", "class", "async", "@", "#", ">>>"}


def _comment_end(text: str, start: int, breaks: Sequence[int]) -> int:
    """The offset at which the comment that starts at `start` must end: a prompt, or what reads as a statement."""
    index = bisect_right(breaks, start)
    if index < len(breaks):
        return breaks[index]
    for count, match in enumerate(_CANDIDATE.finditer(text, start)):
        if count > _MAX_CANDIDATES:
            break
        if _is_statement(text, start, match.start()):
            return match.start()
    return len(text)


def _is_statement(text: str, comment: int, position: int) -> bool:
    """Whether what stands at an offset within a comment reads as a statement that another one, or nothing, follows."""
    scan = _scan(text, position, ())
    first = _tree(text[position : scan.end], scan)
    if first is None or isinstance(first, (ast.Pass, ast.Break, ast.Continue)):
        return False
    words = text[comment:position].split()
    before = words[-1].lower().strip("(\"'`") if words else ""
    strong = scan.header or text[position] == "@" or isinstance(first, (ast.Assign, ast.AugAssign, ast.AnnAssign))
    if not strong and (before in _PROSE or _is_prose(first) or _LOOSE.search(text[position : scan.end])):
        return False
    following = _skip(text, scan.end)
    if following >= len(text) or text[following] == "#":
        return True
    then = _scan(text, following, ())
    second = _tree(text[following : then.end], then)
    return second is not None and not _is_prose(second)


def _is_prose(statement: ast.stmt) -> bool:
    """Whether a statement that parses is more likely words: a bare name, a comparison of names, a lone keyword."""
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, (ast.Call, ast.Await, ast.Yield, ast.YieldFrom))
    if isinstance(statement, ast.AnnAssign):
        return statement.value is None
    return False


def _tree(code: str, scan: _Scan) -> ast.stmt | None:
    """The tree of one statement, or of a header given a body; None when it does not parse."""
    if code.startswith("@"):
        code += "\ndef _(): pass"
    elif scan.header:
        before = {"elif": "if _: pass\n", "else": "if _: pass\n", "except": "try: pass\n", "finally": "try: pass\n"}
        code = before.get(scan.word, "") + code + " pass"
    module = parse(code)
    return module.body[0] if module is not None and len(module.body) == 1 else None

"""Code that lost its line breaks and indentation, restored where only one reading is likely; else left alone."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from nonstrict.text.repair import parse
from nonstrict.text.statements import Statement, split

_PROMPT = re.compile(r"(?<!\S)(?:>>>|\.\.\.)(?!\S)")
_NAME = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)")
_METHOD = re.compile(r"def\s+\w+\s*\(\s*(?:self|cls)\b")
_METHOD_DECORATOR = re.compile(r"@(?:property|staticmethod|classmethod|\w+\.setter)\b")
_ENDS = frozenset({"return", "raise", "break", "continue"})
_CLAUSES = {
    "elif": frozenset({"if", "elif"}),
    "else": frozenset({"if", "elif", "for", "while", "except"}),
    "except": frozenset({"try", "except"}),
    "finally": frozenset({"try", "except", "else"}),
}
_INDENT = 4
_MAX_STEPS = 20_000
_NESTED_BLOCKS = 20


class Line(NamedTuple):
    """A restored line: its indentation in columns, and the offsets of its text in the collapsed text."""

    indent: int
    start: int
    end: int


class _Block(NamedTuple):
    """An open block: the word of its header, and the name of what it defines."""

    word: str
    name: str = ""


class _Step(NamedTuple):
    """The search at one statement: the blocks that are open before it, and the depths not tried yet, best last."""

    stack: tuple[_Block, ...]
    depths: list[int]


def restored(text: str) -> list[Line] | None:
    """The lines of a text that lost its line breaks, or None when no reading of it parses.

    With `>>>` and `...` prompts in it, the text is a session and the prompts say where lines begin.
    """
    prompts = {match.end(): match.group() == ">>>" for match in _PROMPT.finditer(text)} if ">>>" in text else {}
    bare = _PROMPT.sub("   ", text) if prompts else text
    statements = split(bare, prompts)
    depths = _depths(bare, statements) if statements else None
    if depths is None:
        return None
    lines = [Line(depth * _INDENT, item.start, item.end) for depth, item in zip(depths, statements, strict=True)]
    code = "\n".join(" " * line.indent + bare[line.start : line.end] for line in lines)
    tree = parse(code + "\n")
    if tree is None or any(_is_words(statement) for statement in tree.body[:-1]):
        return None
    return lines


def _is_words(statement: ast.stmt) -> bool:
    """Whether a statement that shows nothing and does nothing is rather a sentence that happens to parse."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, (ast.Name, ast.Compare, ast.Tuple))


def _depths(text: str, statements: list[Statement]) -> list[int] | None:
    """A depth for each statement: the most likely reading that leaves no `return` outside a function."""
    if not _allowed(statements[0], statements[0], (), 0):
        return None
    steps = [_Step((), [0])]
    chosen: list[int] = []
    for _ in range(_MAX_STEPS):
        index = len(steps) - 1
        if not steps[-1].depths:
            steps.pop()
            if not chosen:
                return None
            chosen.pop()
            continue
        depth = steps[-1].depths.pop()
        stack = steps[-1].stack[:depth]
        item = statements[index]
        if item.header:
            named = _NAME.match(text, item.start)
            stack = (*stack, _Block(item.word, named.group(1) if named else ""))
        chosen.append(depth)
        if index + 1 == len(statements):
            return chosen
        steps.append(_Step(stack, _options(text, statements, index + 1, stack, depth)))
    return None


def _options(text: str, statements: list[Statement], index: int, stack: tuple[_Block, ...], depth: int) -> list[int]:
    """The depths at which a statement may stand, the likeliest last."""
    item, before = statements[index], statements[index - 1]
    if before.header:
        options = [len(stack)]
    elif before.word == "@":
        options = [depth] if item.word in {"@", "def", "class", "async"} else []
    elif item.word in _CLAUSES:
        options = [at for at, block in enumerate(stack) if block.word in _CLAUSES[item.word]]
    else:
        limit = len(stack) - 1 if before.word in _ENDS else len(stack)
        options = _ordered(text, statements, index, stack, list(range(limit + 1)))
    return [at for at in options if _allowed(item, before, stack, at)]


def _allowed(item: Statement, before: Statement, stack: tuple[_Block, ...], at: int) -> bool:
    if at > _NESTED_BLOCKS:
        return False
    words = [block.word for block in stack[:at]]
    if item.word == "return" and "def" not in words:
        return False
    if item.word in {"break", "continue"} and not {"for", "while"} & set(words):
        return False
    if item.primary is None:
        return True
    if item.primary:
        return at == 0
    return at > 0 or before.word == "@" or item.word in _CLAUSES


def _ordered(
    text: str, statements: list[Statement], index: int, stack: tuple[_Block, ...], options: list[int]
) -> list[int]:
    """Order the depths by likelihood, the likeliest last."""
    item, before = statements[index], statements[index - 1]
    words = [block.word for block in stack]
    favourite = options[-1] if options else 0
    if item.word in {"@", "def", "class", "async"}:
        is_method = _is_method(text, statements, index)
        favourite = words.index("class") + 1 if is_method and "class" in words else 0
        return _first(favourite, options[::-1])
    if before.word in _ENDS:
        # What ends the last branch ends the function with it.
        ends_function = words[-1:] == ["else"] and item.word != "return"
        if ends_function and "def" in words:
            favourite = len(words) - 1 - words[::-1].index("def")
        if words[-2:] == ["class", "def"]:
            # Behind a method come more methods, which are handled above, or the end of the class.
            favourite = len(words) - 2
    elif item.word == "return" and "def" in words:
        favourite = len(words) - words[::-1].index("def")
    elif words[-1:] in (["except"], ["finally"]):
        favourite = len(words) - 1
    else:
        favourite = _left_definition(text[item.start : item.code_end], stack, favourite)
    return _first(favourite, options)


def _left_definition(code: str, stack: tuple[_Block, ...], stay: int) -> int:
    """The depth of the function that a statement calls by name: it is over then, unless it is recursive."""
    for at, block in enumerate(stack):
        if block.name and re.search(rf"\b{re.escape(block.name)}\s*\(", code):
            return at
    return stay


def _is_method(text: str, statements: list[Statement], index: int) -> bool:
    """Whether a definition, or the one below these decorators, takes `self` or is decorated as only methods are."""
    while statements[index].word == "@":
        if _METHOD_DECORATOR.match(text, statements[index].start):
            return True
        index += 1
        if index == len(statements):
            return False
    return _METHOD.search(text[statements[index].start : statements[index].code_end]) is not None


def _first(favourite: int, options: list[int]) -> list[int]:
    """The options with the favourite last, from where it is taken first."""
    return [*(at for at in options if at != favourite), favourite] if favourite in options else options

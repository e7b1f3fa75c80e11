"""Ways to write a program that change nothing of what it means: layout, comments, names, and more code around it.

Every transformation takes the text of a program, with LF ends, and a source of choices; those of layout keep its tree.
"""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import re
import tokenize
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    Transformation = Callable[[str, Random], str]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LAYOUT = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER)
_UNICODE = ("größe", "模型", "переменная", "ñandú_1")
_WORD = re.compile(r"\w+")


class _Cut(NamedTuple):
    """A range of a text, in characters, and what takes its place."""

    start: int
    end: int
    text: str


class Text:
    """A program with its tokens and its tree, and the offsets of both."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.lines = code.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
        self.tree = ast.parse(code)
        self.nodes = list(ast.walk(self.tree))

    def at(self, position: tuple[int, int]) -> int:
        """The offset of a row and a column in characters."""
        return self._starts[position[0] - 1] + position[1]

    def bounds(self, node: ast.stmt | ast.expr | ast.arg | ast.alias | ast.keyword) -> tuple[int, int]:
        """The range of a node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._of_bytes(node.lineno, node.col_offset), self._of_bytes(node.end_lineno, node.end_col_offset)

    def _of_bytes(self, row: int, column: int) -> int:
        return self._starts[row - 1] + len(self.lines[row - 1].encode()[:column].decode())

    def with_cuts(self, cuts: list[_Cut]) -> str:
        """The text with replacements, those that overlap an earlier one left out."""
        parts: list[str] = []
        position = 0
        for start, end, new in sorted(cuts):
            if start >= position:
                parts += (self.code[position:start], new)
                position = end
        return "".join((*parts, self.code[position:]))

    @property
    def formatted(self) -> set[ast.AST]:
        """The nodes in f-strings, whose places are not known before Python 3.12."""
        return {inner for node in self.nodes if isinstance(node, ast.JoinedStr) for inner in ast.walk(node)}


# -- layout -----------------------------------------------------------------------------------------------------------


def indentation(code: str, choices: Random) -> str:
    """Two blanks, three or tabs for each level."""
    text = Text(code)
    unit = choices.choice(["  ", "\t", "   ", "        "])
    depth, starts_line = 0, True
    cuts: list[_Cut] = []
    for token in text.tokens:
        depth += (token.type == tokenize.INDENT) - (token.type == tokenize.DEDENT)
        if token.type not in _LAYOUT and starts_line:
            cuts.append(_Cut(text.at((token.start[0], 0)), text.at(token.start), unit * depth))
            starts_line = False
        starts_line = starts_line or token.type == tokenize.NEWLINE
    return text.with_cuts(cuts)


def comments(code: str, choices: Random) -> str:
    """Comments behind statements and on lines of their own, and blank lines."""
    text = Text(code)
    cuts: list[_Cut] = []
    for number, (before, token) in enumerate(pairwise(text.tokens)):
        if token.type == tokenize.NEWLINE and choices.random() < 0.3:
            mark = choices.choice(["#", "# ", "# type: ignore ", "# noqa ", "# é "])
            behind = choices.choice(["", "\n", "\n\n# alone ", "\n    # indented "])
            cut = behind + (str(number) if behind.strip() else "")
            tail = "" if before.type == tokenize.COMMENT else f"  {mark}{number}"
            cuts.append(_Cut(text.at(token.start), text.at(token.start), tail + cut))
    return text.with_cuts(cuts)


def breaks(code: str, choices: Random) -> str:
    """Line breaks in brackets, some with comments before them."""
    text = Text(code)
    cuts: list[_Cut] = []
    depth = 0
    for number, (token, behind) in enumerate(pairwise(text.tokens)):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        inside = depth and token.type == tokenize.OP and behind.type not in (tokenize.NL, tokenize.COMMENT)
        if inside and choices.random() < 0.2:
            comment = choices.choice(["", "", f"  # in {number}"])
            indent = " " * choices.randint(0, 9)
            cuts.append(_Cut(text.at(token.end), text.at(behind.start), f"{comment}\n{indent}"))
    return text.with_cuts(cuts)


def commas(code: str, choices: Random) -> str:
    """Commas behind the last argument and the last parameter."""
    text = Text(code)
    ends: set[int] = set()
    for node in text.nodes:
        if isinstance(node, ast.Call) and node not in text.formatted:
            given = [*node.args, *(one.value for one in node.keywords)]
            if given and not any(isinstance(one, ast.GeneratorExp) for one in given):
                ends.add(text.bounds(node)[1] - 1)
    significant = [token for token in text.tokens if token.type not in _LAYOUT]
    cuts = [
        _Cut(text.at(before.end), text.at(before.end), choices.choice([",", " ,"]))
        for before, token in pairwise(significant)
        if text.at(token.start) in ends and before.string != "," and choices.random() < 0.5
    ]
    return text.with_cuts(cuts)


def parentheses(code: str, choices: Random) -> str:
    """Parentheses around expressions."""
    text = Text(code)
    kinds = (ast.Name, ast.Call, ast.Attribute, ast.BinOp, ast.Compare, ast.Subscript, ast.Constant, ast.Tuple)
    fields = [
        value
        for node in text.nodes
        if isinstance(node, (ast.Return, ast.Assign, ast.BinOp, ast.Call, ast.keyword, ast.Attribute, ast.Compare))
        for _, found in ast.iter_fields(node)
        for value in (found if isinstance(found, list) else [found])
    ]
    cuts: list[_Cut] = []
    for node in fields:
        loaded = isinstance(node, kinds) and not isinstance(getattr(node, "ctx", None), ast.Store)
        if loaded and node not in text.formatted and choices.random() < 0.1:
            start, end = text.bounds(node)
            cuts.append(_Cut(start, end, f"({text.code[start:end]})"))
    return text.with_cuts(cuts)


def semicolons(code: str, choices: Random) -> str:
    """Two statements in one line, or one with a semicolon behind it."""
    text = Text(code)
    cuts: list[_Cut] = []
    for block in _blocks(text):
        for one, other in pairwise(block):
            start, end = text.bounds(one)[1], text.bounds(other)[0]
            between = text.code[start:end]
            if _is_simple(one) and _is_simple(other) and not between.strip() and "\n" in between:
                cuts += [_Cut(start, end, "; ")] if choices.random() < 0.15 else []
        last = text.bounds(block[-1])[1]
        if _is_simple(block[-1]) and text.code[last : last + 1] == "\n" and choices.random() < 0.1:
            cuts.append(_Cut(last, last, ";"))
    return text.with_cuts(cuts)


def one_liners(code: str, choices: Random) -> str:
    """`def f(x): return x` where the body is one statement, and `if x: return y`."""
    text = Text(code)
    cuts: list[_Cut] = []
    for node in text.nodes:
        body = getattr(node, "body", None)
        if isinstance(node, (*_FUNCTIONS, ast.If, ast.With, ast.For)) and body is not None and len(body) == 1:
            start = text.bounds(body[0])[0]
            head = text.code[:start].rstrip()
            if _is_simple(body[0]) and head.endswith(":") and "\n" in text.code[len(head) : start]:
                cuts += [_Cut(len(head), start, " ")] if choices.random() < 0.5 else []
    return text.with_cuts(cuts)


# -- names and code ---------------------------------------------------------------------------------------------------


def names(code: str, choices: Random) -> str:
    """Another name for a function, a variable or a parameter, some not of ASCII."""
    text = Text(code)
    defined = {node.name for node in text.nodes if isinstance(node, _FUNCTIONS)}
    defined |= {node.id for node in text.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    defined |= {node.arg for node in text.nodes if isinstance(node, ast.arg)}
    taken = {node.attr for node in text.nodes if isinstance(node, ast.Attribute)} | {"main", "self", "cls"}
    taken |= {part for node in text.nodes if isinstance(node, ast.alias) for part in _WORD.findall(node.name)}
    taken |= {node.arg for node in text.nodes if isinstance(node, ast.keyword) and node.arg}
    strings = [token.string for token in text.tokens if token.type == tokenize.STRING]
    taken |= {word for string in strings for word in _WORD.findall(string)}
    taken |= _method_names(text)
    free = sorted(name for name in defined - taken if not hasattr(builtins, name))
    if not free:
        return code
    old = choices.choice(free)
    new = choices.choice([*_UNICODE, f"{old}_", "x" * 60, f"_{old}"])
    if keyword.iskeyword(new) or re.search(rf"\b{new}\b", code):
        return code
    return text.with_cuts(
        [
            _Cut(text.at(token.start), text.at(token.end), new)
            for token in text.tokens
            if token.type == tokenize.NAME and token.string == old
        ]
    )


def docstrings(code: str, choices: Random) -> str:
    """Docstrings of functions that have none."""
    text = Text(code)
    cuts: list[_Cut] = []
    for node in text.nodes:
        if isinstance(node, _FUNCTIONS) and ast.get_docstring(node) is None and choices.random() < 0.4:
            start = text.bounds(node.body[0])[0]
            line_start = text.code.rfind("\n", 0, start) + 1
            indent = text.code[line_start:start]
            if not indent.strip() and indent and not getattr(node.body[0], "decorator_list", None):
                written = choices.choice(['"""Say what."""', "'''One.\n\nTwo # no comment\n'''", 'r"x"'])
                cuts.append(_Cut(start, start, f"{written}\n{indent}"))
    return text.with_cuts(cuts)


def decorators(code: str, choices: Random) -> str:
    """One more decorator, which returns what it is given, on some functions of the module."""
    text = Text(code)
    cuts: list[_Cut] = []
    for node in text.tree.body:
        if isinstance(node, _FUNCTIONS) and choices.random() < 0.3:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            cuts.append(_Cut(text.at((first, 0)), text.at((first, 0)), "@_as_it_is\n"))
    made = text.with_cuts(cuts)
    return _behind_imports(made, "def _as_it_is(given):\n    return given\n\n") if cuts else code


def callers(code: str, choices: Random) -> str:
    """More calls of a function of the module: by keyword, with stars, through another name, in other scopes."""
    text = Text(code)
    functions = [node for node in text.tree.body if isinstance(node, ast.FunctionDef) and node.name != "main"]
    if not functions:
        return code
    node = choices.choice(functions)
    parameters = [*node.args.posonlyargs, *node.args.args]
    called, values = node.name, [one.arg for one in parameters]
    only = len(node.args.posonlyargs)
    given = ", ".join([*values[:only], *(f"{one}={one}" for one in values[only:])])
    plain = ", ".join(values)
    rest = [one.arg for one in node.args.kwonlyargs]
    given = (
        ", ".join([given, *(f"{one}={one}" for one in rest)]) if given else ", ".join(f"{one}={one}" for one in rest)
    )
    written = choices.choice(
        [
            f"def more({', '.join([*values, *rest])}):\n    return {called}({given})\n",
            f"def more({', '.join(values)}):\n    def inner():\n        return {called}({plain})\n    return inner\n",
            f"def more(*given, **named):\n    return {called}(*given, **named)\n",
            f"def more({', '.join(values)}):\n    return [{called}({plain}) for _ in range(2)]\n",
            f"more = lambda {plain}: {called}({plain})\n",
            f"more = {called}\n\n\ndef most({', '.join(values)}):\n    return more({plain})\n",
            f"class More:\n    def call({', '.join(['self', *values])}):\n        return {called}({plain})\n",
        ]
    )
    return f"{code.rstrip()}\n\n\n{written}"


def surroundings(code: str, choices: Random) -> str:
    """Code before and behind: constants, a main block, functions that do not matter."""
    if choices.random() < 0.5 and "__name__" not in code and "def main(" in code:
        code = f'{code.rstrip()}\n\n\nif __name__ == "__main__":\n    main()\n'
    if choices.random() < 0.5:
        code = f"{code.rstrip()}\nUNUSED = 1  # the last\n"
    if choices.random() < 0.5:
        code = _behind_imports(code, choices.choice(["LIMIT = 3\n", "\n\nclass Empty:\n    pass\n\n\n", "# before\n"]))
    return code


# -- ends -------------------------------------------------------------------------------------------------------------


def ends(code: str, choices: Random) -> str:
    """CRLF, or no end of the last line; the last step, as it leaves no LF."""
    code = choices.choice([code, code, code.rstrip("\n")])
    return choices.choice([code, code.replace("\n", "\r\n"), "\ufeff" + code])


LAYOUT: tuple[Transformation, ...] = (*(indentation, comments, breaks, commas, parentheses, semicolons, one_liners),)
CODE: tuple[Transformation, ...] = (names, docstrings, decorators, callers, surroundings)


def _method_names(text: Text) -> set[str]:
    classes = [node for node in text.nodes if isinstance(node, ast.ClassDef)]
    return {getattr(one, "name", "") for node in classes for one in node.body} | {node.name for node in classes}


def _blocks(text: Text) -> Iterator[list[ast.stmt]]:
    for node in text.nodes:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def _is_simple(statement: ast.stmt) -> bool:
    return not hasattr(statement, "body") and not isinstance(statement, ast.Match)


def _behind_imports(code: str, added: str) -> str:
    """The text with more code behind the imports at its head."""
    body = ast.parse(code).body
    head = [one for one in body if isinstance(one, (ast.Import, ast.ImportFrom))]
    if not head or head != [one for one in body[: body.index(head[-1]) + 1] if one in head]:
        return code
    lines = code.split("\n")
    row = head[-1].end_lineno or 0
    if ";" in lines[row - 1]:
        return code
    return "\n".join([*lines[:row], added.rstrip("\n"), *lines[row:]])

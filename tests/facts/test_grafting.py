"""An edit is read by parsing what it touched: the trees are those of a whole parse, and the others are kept."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from nonstrict.facts.grafting import grafted
from nonstrict.facts.outline import Outline

METHODS = "\n".join(
    f"    @property\n    def m{number}(self, x):\n        '''Text.'''\n        return (x +\n            {number})\n\n"
    f"    value{number} = {number}\n"
    for number in range(12)
)
CLASS = f"@decorated\nclass Long(Base, key=1):\n    '''Text.'''\n\n{METHODS}"
MODULE = f"import os\n\n{CLASS}\n\ndef after(x):\n    return x\n\n\nLAST = after(1)\n"


def tree(text: str) -> ast.ClassDef:
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.ClassDef)
    return node


def dumped(node: ast.AST) -> str:
    return ast.dump(node, include_attributes=True)


def test_one_method_is_parsed_and_the_others_are_kept() -> None:
    before = tree(CLASS)
    new = CLASS.replace("            7)", "            700 * x)")
    made = grafted(before, CLASS, new)
    assert made is not None
    assert dumped(made) == dumped(tree(new))
    assert sum(one is not other for one, other in zip(made.body, before.body, strict=True)) == 1
    assert dumped(before) == dumped(tree(CLASS))


def test_what_was_found_out_about_the_class_is_forgotten() -> None:
    before = tree(CLASS)
    before.__dict__["_fact"] = 1
    made = grafted(before, CLASS, CLASS.replace("            7)", "            8)"))
    assert made is not None
    assert "_fact" not in made.__dict__


def test_edits_that_are_no_ones_method() -> None:
    before = tree(CLASS)
    for old, new in [
        ("value7 = 7", "value7 = 8"),
        ("class Long(Base", "class Long(Best"),
        ("    value3 = 3", "    value3 = 3\n"),
        ("            7)", "            7"),
        ("            7)", "            7) \\"),
        ("    def m7(self, x):", "    def m7(self, x): pass"),
        ("        return (x +\n            7)", "        return x\n    other = 1"),
        ("        return (x +\n            7)", "        return '''\n            7)"),
    ]:
        assert old in CLASS
        assert grafted(before, CLASS, CLASS.replace(old, new)) is None, new


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_an_outline_that_takes_over_is_one_made_afresh(data: st.DataObject) -> None:
    text = MODULE
    known = Outline(text)
    assert known.parses()
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        typed = data.draw(
            st.sampled_from(["x", " ", "\n", "(", ")", "'''", '"', "#", "def ", "    ", "\\", "@a\n", ""])
        )
        text = text[:at] + typed + text[at + data.draw(st.integers(0, 3)) :]
        made = Outline(text)
        made.take_over(known)
        fresh = Outline(text)
        assert made.parses() == fresh.parses()
        if fresh.parses():
            ast.parse(text)
            assert dumped(made.shell) == dumped(fresh.shell)
            pairs = [(one.node(), other.node()) for one, other in zip(made.chunks, fresh.chunks, strict=True)]
            assert all(one and other and dumped(one) == dumped(other) for one, other in pairs)
            assert len({id(one) for one, _ in pairs}) == len(pairs)
        known = made


def test_an_outline_that_parses_is_of_a_text_that_does() -> None:
    for path in sorted(Path(ast.__file__).parent.glob("[a-d]*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        outline = Outline(text)
        if outline.parses():
            ast.parse(text)

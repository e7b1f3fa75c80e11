"""The rounds of fixes: what is made together, what is taken back, and that it ends. The analysis looks for words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.fixing import Fixed, fix
from nonstrict.check.run import CheckResult
from nonstrict.findings import Applicability, Diagnostic, LocatedEdit, LocatedFix, Location, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nonstrict.text.source import Source

    #: What is written in place of a word.
    Mend = Callable[[str], str | None]

WORD = re.compile(r"\b[a-z]+_(?:error|warning)\b")


class Words:
    """Finds words that end in `_error` or `_warning`, and has each replaced by what `mend` gives for it."""

    def __init__(self, folder: Path, mend: Mend, **files: str) -> None:
        self.folder = folder
        self.mend = mend
        self.rounds = 0
        self.paths = {name: str(folder / f"{name}.py") for name in files}
        for name, text in files.items():
            (folder / f"{name}.py").write_text(text, encoding="utf-8")

    def examine(self, overlays: Mapping[str, Source]) -> CheckResult:
        self.rounds += 1
        found: list[Diagnostic] = []
        for path in self.paths.values():
            text = overlays[path].text if path in overlays else Path(path).read_text(encoding="utf-8")
            for row, line in enumerate(text.split("\n"), 1):
                for word in WORD.finditer(line):
                    severity = Severity.ERROR if word[0].endswith("error") else Severity.WARNING
                    where = Location(path, row, word.start() + 1, row, word.end() + 1)
                    found.append(Diagnostic("NST101", "n", severity, where, word[0]))
        return CheckResult(tuple(found), len(self.paths), (), dict(overlays))

    def propose(self, result: CheckResult) -> Iterator[tuple[Diagnostic, LocatedFix]]:
        for finding in result.diagnostics:
            text = self.mend(finding.message)
            if text is not None:
                edits = (LocatedEdit(finding.location, text),)
                yield finding, LocatedFix(f"Mend {finding.message}", Applicability.SAFE, edits)

    def fixed(self) -> Fixed:
        return fix(self.examine, self.propose)

    def texts(self, done: Fixed) -> dict[str, str]:
        names = {path: name for name, path in self.paths.items()}
        return {names[change.path]: change.after.decode() for change in done.changes}


def test_everything_that_is_apart_is_made_in_one_round(tmp_path: Path):
    words = Words(tmp_path, lambda _: "fine", a="a_error\n\nb_error, c_error\n", b="x = d_error\n", c="fine\n")
    done = words.fixed()
    assert words.texts(done) == {"a": "fine\n\nfine, fine\n", "b": "x = fine\n"}
    assert (words.rounds, len(done.fixed), done.mistakes) == (2, 4, ())
    assert done.result.diagnostics == ()


def test_nothing_to_do_costs_one_analysis(tmp_path: Path):
    words = Words(tmp_path, lambda _: None, a="a_error\n")
    done = words.fixed()
    assert (words.rounds, done.changes, done.fixed) == (1, (), ())
    assert len(done.result.diagnostics) == 1


def test_what_a_fix_leads_to_is_fixed_too(tmp_path: Path):
    words = Words(tmp_path, {"a_error": "b_warning", "b_warning": "fine"}.get, a="\na_error\n")
    assert words.texts(words.fixed()) == {"a": "\nfine\n"}


def test_the_same_fix_of_two_findings_is_made_once(tmp_path: Path):
    words = Words(tmp_path, lambda _: None, a="a_error\nb_error\n")
    first = Location(words.paths["a"], 1, 1, 3, 1)

    def propose(result: CheckResult) -> Iterator[tuple[Diagnostic, LocatedFix]]:
        for finding in result.diagnostics:
            yield finding, LocatedFix("Mend", Applicability.SAFE, (LocatedEdit(first, "fine\n"),))

    done = fix(words.examine, propose)
    assert words.texts(done) == {"a": "fine\n"}
    assert len(done.fixed) == 2


def test_fixes_that_touch_are_made_one_after_the_other(tmp_path: Path):
    words = Words(tmp_path, lambda _: None, a="a_error, b_error\n")

    def propose(result: CheckResult) -> Iterator[tuple[Diagnostic, LocatedFix]]:
        for finding in result.diagnostics:
            top = LocatedEdit(Location(finding.location.path, 1, 1, 1, 1), "import x\n")
            yield finding, LocatedFix("Mend", Applicability.SAFE, (top, LocatedEdit(finding.location, "fine")))

    # The import stands where the first word does; neither is lost.
    done = fix(words.examine, propose)
    assert words.texts(done) == {"a": "import x\nimport x\nfine, fine\n"}


@pytest.mark.parametrize(
    ("text", "reason"), [("(", "does not parse"), ("a_error", "leaves the finding"), ("c_error", "new error")]
)
def test_a_fix_that_breaks_its_promise_is_taken_back(tmp_path: Path, text: str, reason: str):
    mend = {"a_error": text, "b_error": "fine"}.get
    words = Words(tmp_path, mend, a="b_error\nx = a_error\nb_error\n", b="b_error\n")
    done = words.fixed()
    assert words.texts(done) == {"a": "fine\nx = a_error\nfine\n", "b": "fine\n"}
    (mistake,) = done.mistakes
    assert mistake.startswith(f"{words.paths['a']}:2:5: the fix of NST101 (Mend a_error)")
    assert reason in mistake
    assert mistake.endswith("This is a bug of nonstrict; please report it.")
    assert len(done.fixed) == 3


def test_a_culprit_among_many_is_found_soon(tmp_path: Path):
    mend = {f"{letter}_error": "fine" for letter in "abcdefghijklmnopqrstuvwxyz"} | {"q_error": "worse_error"}
    text = "".join(f"{letter}_error\n" for letter in "abcdefghijklmnopqrstuvwxyz")
    words = Words(tmp_path, mend.get, a=text)
    done = words.fixed()
    assert words.texts(done)["a"].count("fine") == 25
    assert len(done.mistakes) == 1
    assert words.rounds < 16


def test_a_warning_in_place_of_an_error_is_allowed(tmp_path: Path):
    words = Words(tmp_path, {"a_error": "b_warning"}.get, a="a_error\n")
    done = words.fixed()
    assert (words.texts(done), done.mistakes) == ({"a": "b_warning\n"}, ())


def test_what_a_mended_place_does_in_another_function_is_no_new_error(tmp_path: Path):
    """A place is told of one of the functions that reach it, until that one is mended."""
    words = Words(tmp_path, lambda _: "fine_error", a="a_error\n")
    others: list[str] = []

    def examine(overlays: Mapping[str, Source]) -> CheckResult:
        result = words.examine(overlays)
        reached = "m" if overlays else "n"
        return result._replace(
            diagnostics=tuple(
                one._replace(function=reached, others=tuple((other, one.location) for other in others))
                for one in result.diagnostics
            )
        )

    def propose(result: CheckResult) -> Iterator[tuple[Diagnostic, LocatedFix]]:
        return (told for told in words.propose(result) if told[0].function == "n")

    assert fix(examine, propose).mistakes
    others.append("m")
    done = fix(examine, propose)
    assert (words.texts(done), done.mistakes) == ({"a": "fine_error\n"}, ())
    assert fix(words.examine, words.propose).mistakes


def test_fixes_that_undo_each_other_end(tmp_path: Path):
    words = Words(tmp_path, {"a_warning": "b_warning", "b_warning": "a_warning"}.get, a="a_warning\n")
    done = words.fixed()
    assert words.rounds < 10
    assert any("leads back" in mistake for mistake in done.mistakes)


def test_endless_work_is_given_up(tmp_path: Path):
    words = Words(tmp_path, lambda word: f"x{word}" if len(word) < 500 else "fine", a="a_warning\n")

    def propose(result: CheckResult) -> Iterator[tuple[Diagnostic, LocatedFix]]:
        for finding in result.diagnostics:
            yield finding, LocatedFix("More", Applicability.SAFE, (LocatedEdit(finding.location, "x, a_warning"),))

    done = fix(words.examine, propose)
    assert "after 100 rounds" in done.mistakes[-1]
    assert words.rounds == 101


def test_files_that_are_not_on_the_disk(tmp_path: Path):
    words = Words(tmp_path, lambda _: "fine", a="")
    path = str(tmp_path / "a.py")
    (tmp_path / "a.py").unlink()

    def examine(overlays: Mapping[str, Source]) -> CheckResult:
        from nonstrict.text.source import source_from_bytes

        return words.examine({path: source_from_bytes(path, b"a_error\r\n"), **overlays})

    (change,) = fix(examine, words.propose, {path: b"a_error\r\n"}).changes
    assert (change.before, change.after) == (b"a_error\r\n", b"fine\r\n")


def test_a_fix_of_several_files_is_made_in_all_or_none(tmp_path: Path):
    words = Words(tmp_path, lambda _: None, a="a_error\n", b="b_error\n", c="c_error\n")
    texts = {"a_error": ("fine", "fine"), "c_error": ("fine", "(")}

    def propose(result: CheckResult) -> Iterator[tuple[Diagnostic, LocatedFix]]:
        others = {one.message: one for one in result.diagnostics}
        for name, (here, there) in texts.items():
            if name in others:
                edits = [LocatedEdit(others[name].location, here)]
                top = Location(words.paths["b"], 1, 1, 1, 1)
                edits.append(LocatedEdit(others["b_error"].location if there == "fine" else top, there))
                yield others[name], LocatedFix("Mend", Applicability.SAFE, tuple(edits))

    done = fix(words.examine, propose)
    assert words.texts(done) == {"a": "fine\n", "b": "fine\n"}
    (mistake,) = done.mistakes
    assert "c.py:1:1" in mistake


def test_a_character_that_the_file_cannot_hold_is_no_bug(tmp_path: Path):
    words = Words(tmp_path, {"a_error": "é", "b_error": "fine"}.get, a="# coding: ascii\na_error\nb_error\n")
    done = words.fixed()
    assert words.texts(done) == {"a": "# coding: ascii\na_error\nfine\n"}
    (mistake,) = done.mistakes
    assert mistake.endswith("is encoded in ascii, which lacks a character that is to be written.")

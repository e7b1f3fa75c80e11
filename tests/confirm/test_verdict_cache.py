"""Verdicts kept between runs: they hold while everything that the experiments loaded is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from nonstrict.confirm.programs import Program, program_of
from nonstrict.confirm.verdict_cache import VerdictCache
from nonstrict.findings import Outcome, Status, Subject, Verdict
from tests.confirm.making import suspect

CIRCUMSTANCES = ("/usr/bin/python3", "2.13", "cpu", False)
VERDICT = Verdict(
    Status.CONFIRMED,
    evidence="call 2: eager 3, compiled 2",
    outcomes=(Outcome("aot_eager", "silent-wrong"), Outcome("inductor", "error", "detail")),
    torch="2.13.0",
    python="3.11",
    device="cpu",
    seconds=1.5,
    files=("would write log.txt",),
)
ONE, TWO = suspect(), suspect("NST501", number=4)


def program(tmp_path: Path, text: str = "x = 1\n") -> Program:
    made = program_of(str(tmp_path / "model.py"), text, str(tmp_path), {})
    assert made is not None
    return made


def cache(tmp_path: Path, *more: object, enabled: bool = True) -> VerdictCache:
    return VerdictCache(str(tmp_path / "cache"), (*CIRCUMSTANCES, *more), enabled=enabled)


def test_what_is_kept_comes_back_as_it_was(tmp_path: Path):
    verdicts = {0: VERDICT, 4: Verdict(Status.INCONCLUSIVE, "insensitive")}
    cache(tmp_path).store(program(tmp_path), [ONE, TWO], verdicts, ())
    assert cache(tmp_path).load(program(tmp_path), [ONE, TWO]) == verdicts


def test_what_verdicts_rest_on_is_kept_with_them(tmp_path: Path):
    """Of what another experiment kept nothing is known: an editor has to expect that it was the whole file."""
    other = tmp_path / "other.py"
    other.write_text("y = 1\n")
    verdicts = {0: VERDICT, 4: Verdict(Status.INCONCLUSIVE, "insensitive")}
    kept = {0: frozenset({2, 0}), 4: None}
    cache(tmp_path).store(program(tmp_path), [ONE, TWO], verdicts, [str(other)], kept)
    recalled = cache(tmp_path).recall(program(tmp_path), [ONE._replace(number=7), TWO])
    assert recalled is not None
    assert recalled.verdicts == {7: VERDICT, 4: verdicts[4]}
    assert recalled.kept == {7: frozenset({0, 2})}
    assert recalled.files == (str(other),)


def test_numbers_are_those_of_the_run_that_asks(tmp_path: Path):
    """A finding in another file shifts the numbers, and changes nothing of this one."""
    cache(tmp_path).store(program(tmp_path), [ONE], {0: VERDICT}, ())
    assert cache(tmp_path).load(program(tmp_path), [ONE._replace(number=9)]) == {9: VERDICT}


@pytest.mark.parametrize(
    "asked",
    [
        ONE._replace(code="NST102"),
        ONE._replace(lines=frozenset({9})),
        ONE._replace(function="other"),
        ONE._replace(subject=Subject("global", "SCALE")),
    ],
    ids=["code", "line", "function", "subject"],
)
def test_another_question(asked: object, tmp_path: Path):
    cache(tmp_path).store(program(tmp_path), [ONE], {0: VERDICT}, ())
    assert cache(tmp_path).load(program(tmp_path), [asked]) is None  # pyright: ignore[reportArgumentType]


def test_another_text(tmp_path: Path):
    cache(tmp_path).store(program(tmp_path), [ONE], {0: VERDICT}, ())
    assert cache(tmp_path).load(program(tmp_path, "x = 2\n"), [ONE]) is None


def test_other_circumstances(tmp_path: Path):
    cache(tmp_path).store(program(tmp_path), [ONE], {0: VERDICT}, ())
    assert cache(tmp_path, "cuda").load(program(tmp_path), [ONE]) is None


def test_an_unsaved_buffer(tmp_path: Path):
    cache(tmp_path).store(program(tmp_path), [ONE], {0: VERDICT}, ())
    edited = program(tmp_path)._replace(overlays={"/project/other.py": "y = 1"})
    assert cache(tmp_path).load(edited, [ONE]) is None


def test_a_file_that_was_loaded_and_has_changed(tmp_path: Path):
    helper = tmp_path / "helper.py"
    helper.write_text("y = 1\n")
    cache(tmp_path).store(program(tmp_path), [ONE], {0: VERDICT}, [str(helper)])
    assert cache(tmp_path).load(program(tmp_path), [ONE]) == {0: VERDICT}
    helper.write_text("y = 2\n")
    assert cache(tmp_path).load(program(tmp_path), [ONE]) is None
    helper.write_text("y = 1\n")
    assert cache(tmp_path).load(program(tmp_path), [ONE]) == {0: VERDICT}
    helper.unlink()
    assert cache(tmp_path).load(program(tmp_path), [ONE]) is None


def test_the_file_itself_counts_by_its_text(tmp_path: Path):
    """An editor asks about a buffer that is not saved."""
    path = tmp_path / "model.py"
    path.write_text("saved\n")
    cache(tmp_path).store(program(tmp_path), [ONE], {0: VERDICT}, [str(path)])
    path.write_text("saved again\n")
    assert cache(tmp_path).load(program(tmp_path), [ONE]) == {0: VERDICT}


@pytest.mark.parametrize(
    "reason", ["timeout", "crash", "memory", "processes", "sandbox", "tampered", "dead", "cancelled"]
)
def test_what_may_be_otherwise_next_time_is_not_kept(reason: str, tmp_path: Path):
    verdicts = {0: VERDICT, 4: Verdict(Status.INCONCLUSIVE, reason)}
    cache(tmp_path).store(program(tmp_path), [ONE, TWO], verdicts, ())
    assert cache(tmp_path).load(program(tmp_path), [ONE, TWO]) is None


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"files": {}, "verdicts": []}', '{"files": {}, "verdicts": [{}]}']
)
def test_a_broken_file_is_no_answer(content: str, tmp_path: Path):
    cache(tmp_path).store(program(tmp_path), [ONE], {0: VERDICT}, ())
    (file,) = Path(tmp_path / "cache").iterdir()
    file.write_text(content)
    assert cache(tmp_path).load(program(tmp_path), [ONE]) is None


def test_a_cache_that_is_off(tmp_path: Path):
    cache(tmp_path, enabled=False).store(program(tmp_path), [ONE], {0: VERDICT}, ())
    assert not (tmp_path / "cache").exists()
    cache(tmp_path).store(program(tmp_path), [ONE], {0: VERDICT}, ())
    assert cache(tmp_path, enabled=False).load(program(tmp_path), [ONE]) is None


def test_a_place_that_cannot_be_written(tmp_path: Path):
    (tmp_path / "cache").write_text("a file")
    cache(tmp_path).store(program(tmp_path), [ONE], {0: VERDICT}, ())
    assert cache(tmp_path).load(program(tmp_path), [ONE]) is None

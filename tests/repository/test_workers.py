"""The benchmark of several workers: which settings it compares, and that it tells verdicts which differ."""

from __future__ import annotations

from bench.workers import Run, Setting, differing, page, settings_of

SAME = Run(10.0, {("a.py", 3, "NST101"): "confirmed"})
OTHER = Run(30.0, {("a.py", 3, "NST101"): "refuted"})


def test_no_worker_is_without_a_job():
    assert settings_of([1, 2, 4, 8], 8, 2) == [
        Setting(None, 1),
        Setting(None, 2),
        Setting(8, 1),
        Setting(8, 2),
        Setting(8, 4),
        Setting(8, 8),
    ]
    assert settings_of([1, 4], 2, 8) == [Setting(None, 1), Setting(None, 4), Setting(2, 1)]


def test_verdicts_that_differ_are_told():
    alike = {Setting(None, 1): [SAME, SAME], Setting(8, 4): [SAME]}
    assert differing(alike) == []
    assert differing({**alike, Setting(8, 1): [OTHER]}) == ["a.py:3 NST101"]
    assert differing({**alike, Setting(8, 1): [Run(1.0, {})]}) == ["a.py:3 NST101"]


def test_the_page():
    text = page({Setting(None, 1): [SAME], Setting(8, 1): [OTHER], Setting(8, 4): [SAME]}, 2, 0.5, "examples")
    assert "The 1 verdicts were the same each time." not in text
    assert text.splitlines()[-4:] == [
        "| jobs | 1 worker | 4 workers |",
        "|---|---|---|",
        "| default | 10 s, 1.00x |  |",
        "| `-j 8` | 30 s, 3.00x | 10 s, 1.00x |",
    ]

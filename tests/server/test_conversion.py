"""Diagnostics of the analysis as those of the protocol, and reports of them."""

from __future__ import annotations

import json

from lsprotocol import converters
from lsprotocol import types as lsp

from nonstrict.findings import (
    Diagnostic,
    Location,
    Outcome,
    RelatedLocation,
    Severity,
    Status,
    Verdict,
)
from nonstrict.text.source import source_from_bytes
from nonstrict_server.conversion import converted, message_of, with_verdict
from nonstrict_server.documents import Documents
from nonstrict_server.reports import Report, Reports

VERDICT = Verdict(
    Status.CONFIRMED,
    evidence="eager 3, compiled 2",
    outcomes=(Outcome("inductor", "silent-wrong"),),
    torch="2.13.0",
    device="cpu",
)
FOUND = Diagnostic(
    code="NST101",
    name="global-tensor-capture",
    severity=Severity.ERROR,
    location=Location("/w/a.py", 2, 9, 2, 10),
    message="`f` captures global tensor `W`",
    note="inductor refuses to compile it",
    help="pass `W` as an argument",
    function="f",
    marker="nonstrict",
    related=(RelatedLocation(Location("/w/a.py", 1, 2, 1, 3), "`f` is marked here"),),
    links=1,
)


def test_everything_that_an_editor_can_show():
    shown = converted(FOUND, (1, 8, 1, 9), [("file:///w/a.py", (0, 1, 0, 2))])
    assert shown.range == lsp.Range(lsp.Position(1, 8), lsp.Position(1, 9))
    assert (shown.severity, shown.code, shown.source) == (lsp.DiagnosticSeverity.Error, "NST101", "nonstrict")
    assert (
        shown.message
        == "`f` captures global tensor `W`\nnote: inductor refuses to compile it\nhelp: pass `W` as an argument"
    )
    assert shown.code_description is not None
    assert shown.code_description.href.endswith("/global-tensor-capture.md")
    assert shown.related_information is not None
    assert [(one.location.uri, one.message) for one in shown.related_information] == [
        ("file:///w/a.py", "`f` is marked here")
    ]
    assert shown.data == {"name": "global-tensor-capture", "function": "f", "marker": "nonstrict"}


def test_severities_and_tags():
    for severity, expected in ((Severity.NOTE, 3), (Severity.WARNING, 2), (Severity.ERROR, 1)):
        assert converted(FOUND._replace(severity=severity), (0, 0, 0, 0)).severity == expected
    assert converted(FOUND._replace(code="NST902"), (0, 0, 0, 0)).tags == [lsp.DiagnosticTag.Unnecessary]
    assert converted(FOUND._replace(code="NST604"), (0, 0, 0, 0)).tags == [lsp.DiagnosticTag.Deprecated]


def test_a_verdict_has_a_line_of_its_own():
    lines = message_of(with_verdict(FOUND, VERDICT)).split("\n")
    assert lines[3] == "[confirmed] on torch 2.13.0 / cpu / inductor: eager 3, compiled 2"
    unsure = with_verdict(FOUND, Verdict(Status.INCONCLUSIVE, "inputs"))
    assert message_of(unsure).split("\n")[3].startswith("[inconclusive: no inputs] no inputs were found for `f`")
    assert unsure.severity is Severity.ERROR


def test_a_refuted_finding_counts_less():
    assert with_verdict(FOUND, Verdict(Status.REFUTED)).severity is Severity.WARNING
    assert with_verdict(FOUND, None) is FOUND


def reports(documents: Documents, *, related: bool = True) -> Reports:
    return Reports(documents, converters.get_converter(), related=related)


def report_of(code: str, *found: Diagnostic, encoding: str = "utf-16") -> Report:
    source = source_from_bytes("/w/a.py", code.encode())
    return reports(Documents(encoding, "/w")).of("/w/a.py", None, found, lambda _: source)


def test_a_report_is_known_by_what_it_says():
    report = report_of("#\ny = x * W\n", FOUND)
    assert report == report_of("# other text\ny = x * W\n", FOUND)
    assert report.identity != report_of("#\ny = x * W\n", with_verdict(FOUND, VERDICT)).identity
    assert report.identity != report_of("#\ny = x * W\n", FOUND, FOUND._replace(code="NST201")).identity
    assert report_of("#\n").items == ""
    (item,) = json.loads(f"[{report.items}]")
    assert item["range"] == {"start": {"line": 1, "character": 8}, "end": {"line": 1, "character": 9}}
    assert item["codeDescription"]["href"].startswith("https://")


def test_the_text_before_a_finding_counts_even_if_the_finding_is_the_same():
    maker = reports(Documents("utf-16", "/w"))
    ranges = []
    for code in ("#\né = x * W\n", '#\n"😀"  *  W\n'):
        source = source_from_bytes("/w/a.py", code.encode())
        report = maker.of("/w/a.py", None, (FOUND,), lambda _, source=source: source)
        ranges.append(json.loads(f"[{report.items}]")[0]["range"]["start"]["character"])
    assert ranges == [8, 9]


def test_clients_that_show_no_related_places_get_none():
    report = reports(Documents("utf-16", "/w"), related=False).of("/w/a.py", None, (FOUND,), lambda _: None)
    assert "relatedInformation" not in json.loads(report.items)


def test_a_finding_in_a_notebook_that_is_not_open_says_where_it_is():
    found = FOUND._replace(location=Location("/w/n.ipynb", 2, 9, 2, 10, 3), related=())
    report = reports(Documents("utf-16", "/w")).of("/w/n.ipynb", None, (found,), lambda _: None)
    item = json.loads(report.items)
    assert item["message"].startswith("cell 3, line 2: ")
    assert item["range"]["start"] == {"line": 0, "character": 0}

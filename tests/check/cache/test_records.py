"""What the analysis says, as JSON and back."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonstrict.check.cache.places import Places
from nonstrict.check.cache.records import Unknown, read, written
from nonstrict.coverage import Looked, Option, Region
from nonstrict.events import Event, Read
from nonstrict.findings import Applicability as Trust
from nonstrict.findings import Cause, Edit, Finding, Fix, Output, Rebinding, Related, Severity, Span, Subject, Verdict

HERE = Places("/home/one/project", ["/home/one/env/lib"])
THERE = Places("/srv/ci", ["/opt/python/lib"])

texts = st.text(max_size=8)
spans = st.builds(
    Span, st.sampled_from(["a.py", "/home/one/project/b.py", "/home/one/env/lib/torch/x.py"]), *[st.integers()] * 4
)
related = st.builds(Related, spans, texts) | st.builds(Rebinding, spans, texts)
causes = st.builds(
    Cause,
    st.sampled_from(Event),
    st.none() | st.sampled_from(Read),
    st.none() | st.builds(Subject, texts, texts, st.lists(texts).map(tuple)),
    st.sampled_from([Output.NONE, Output.STDOUT, Output.ANYWHERE]),
)
fixes = st.builds(Fix, texts, st.sampled_from(Trust), st.lists(st.builds(Edit, spans, texts), max_size=2).map(tuple))
findings = st.builds(
    Finding,
    *(texts, st.sampled_from(Severity), spans, texts, texts, texts, texts, texts),
    st.lists(related, max_size=3).map(tuple),
    st.integers(),
    st.none() | causes,
    st.lists(fixes, max_size=2).map(tuple),
    *[st.booleans()] * 3,
)


@given(findings)
def test_a_finding_is_the_same_again(finding: Finding):
    told = json.loads(json.dumps(written(finding, HERE)))
    again = read(told, HERE)
    assert again == finding
    assert list(map(type, again.related)) == list(map(type, finding.related))


def test_another_machine_has_its_own_paths():
    span = Span("/home/one/env/lib/torch/x.py", 1, 0, 1, 1)
    assert read(written(span, HERE), THERE).path == "/opt/python/lib/torch/x.py"
    assert read(written(span._replace(path="/home/one/project/a.py"), HERE), THERE).path == "/srv/ci/a.py"
    assert read(written(span._replace(path="/home/one/a.py"), HERE), THERE).path == "/srv/a.py"
    assert read(written(span._replace(path="a.py"), HERE), THERE).path == "a.py"


def test_regions_are_the_same_again():
    span = Span("a.py", 1, 0, 1, 1)
    region = Region(
        span, span, "f", span, options=(Option("mode", "x"), Option("n", 1.5, entries=(Option("a"),))), graphs=(1, 2)
    )
    looked = Looked((region,), frozenset({span, span._replace(line=2)}))
    assert read(json.loads(json.dumps(written(looked, HERE))), HERE) == looked


def test_what_is_not_kept_is_refused():
    with pytest.raises(Unknown):
        written((object(),), HERE)
    with pytest.raises(Unknown):
        written(Verdict, HERE)
    with pytest.raises(LookupError):
        read(["Popen", "true"], HERE)
    with pytest.raises(LookupError):
        read(["Nothing.", 1], HERE)


@pytest.mark.parametrize("path", ["/home/one/project/../b.py", "/home/one/project//c.py", "/home/one/project/./d.py"])
def test_a_path_is_kept_by_what_it_means(path: str):
    assert HERE.shared(path) == HERE.shared(os.path.normpath(path))
    assert HERE.here(HERE.shared(path)) == os.path.normpath(path)

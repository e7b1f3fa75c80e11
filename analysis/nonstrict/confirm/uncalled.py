"""Why a driver called no region, and what that says of a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.confirm.applications import ASKED
from nonstrict.confirm.devices import needs_gpu
from nonstrict.confirm.judging import Judgement, needed, of_application, refused_by_eager, why_raised
from nonstrict.confirm.sensitivity import executed
from nonstrict.findings import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.confirm.suspects import Suspect


def without_calls(suspect: Suspect, eager: Mapping[str, Any], control: Mapping[str, Any]) -> Judgement:
    """The judgement where a driver calls no region."""
    told_of = needed(eager, control)
    if told_of:
        return unanswered("needs", told_of)
    refused = refused_by_eager(suspect, eager)
    if refused is not None:
        return refused
    if suspect.experiment in ASKED and (told := of_application(suspect, control, {})).status is not Status.INCONCLUSIVE:
        return told
    stop: Mapping[str, Any] = eager.get("stop") or {}
    ended = not eager.get("failure") and not eager["calls"] and stop.get("kind") == "end"
    if ended and suspect.path == suspect.file and executed(suspect, control):
        return unanswered("not-compiled")
    return unanswered(*_why_no_calls(eager if not eager["calls"] else control))


def _why_no_calls(trace: Mapping[str, Any]) -> tuple[str, str]:
    """Why a driver never called a region: the reason, and a sentence."""
    if trace.get("failure"):
        told = str(trace["failure"])
        return ("needs-cuda" if needs_gpu(told) else str(trace.get("reason", "load"))), told
    stop: Mapping[str, Any] = trace.get("stop") or {}
    if stop.get("kind") == "raised":
        return why_raised(stop["error"])
    return "line-not-reached", ""


def unanswered(reason: str, detail: str = "") -> Judgement:
    """No answer, and why."""
    return Judgement(Status.INCONCLUSIVE, reason, detail, ())

"""What tells recorded calls apart, and what is left out of them because it is data or too much."""

from __future__ import annotations

import json
from typing import Any

#: Longer texts and bytes are data, not settings (characters).
LONGEST_TEXT = 512


def signature(call: Any) -> str:
    """Equal for calls that differ in observed ranges only."""
    return json.dumps(_without_ranges(call), sort_keys=True)


def structure(call: Any) -> str:
    """Equal for calls that also differ in sizes of dimensions, numbers and texts, but not in flags or types."""
    return json.dumps(_outline(call), sort_keys=True)


def trimmed(spec: Any) -> Any:
    """The specification without long texts and bytes, which become `unknown`."""
    if isinstance(spec, list):
        return [trimmed(item) for item in spec]
    if not isinstance(spec, dict):
        return spec
    if len(str(spec.get("value", ""))) > LONGEST_TEXT:
        return {"kind": "unknown", "class": "builtins:str"}
    if len(spec.get("base64") or "") > LONGEST_TEXT:
        return {"kind": "unknown", "class": "builtins:bytes"}
    return {key: trimmed(value) for key, value in spec.items()}


def _without_ranges(spec: Any) -> Any:
    if isinstance(spec, list):
        return [_without_ranges(item) for item in spec]
    if isinstance(spec, dict):
        drop = ("low", "high") if spec.get("kind") in {"tensor", "array"} else ()
        return {key: _without_ranges(value) for key, value in spec.items() if key not in drop}
    return spec


def _outline(spec: Any) -> Any:
    if isinstance(spec, list):
        return [_outline(item) for item in spec]
    if not isinstance(spec, dict):
        return spec
    kind = spec.get("kind")
    if kind in {"tensor", "array"}:
        kept = {key: value for key, value in spec.items() if key not in {"low", "high", "strides", "shape"}}
        return {**kept, "dimensions": len(spec.get("shape") or ())}
    if kind == "literal" and not isinstance(spec.get("value"), bool):
        return {"kind": kind, "type": type(spec.get("value")).__name__}
    return {key: _outline(value) for key, value in spec.items()}

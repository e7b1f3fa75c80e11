"""Holds values against the schemas that are shipped, without their room for fields that they do not name."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from nonstrict import schemas


def schema(name: str) -> dict[str, Any]:
    return json.loads(schemas.text_of(name))


def closed(part: Any) -> Any:
    """A schema that refuses fields that it does not name: what a command writes is to be documented."""
    if isinstance(part, list):
        return [closed(one) for one in part]
    if not isinstance(part, dict):
        return part
    made = {key: closed(value) for key, value in part.items()}
    return {**made, "additionalProperties": False} if "properties" in made and "type" in made else made


def mistakes(name: str, value: Any) -> list[str]:
    """What is wrong with a value, fields that are not documented included."""
    validator = jsonschema.Draft202012Validator(closed(schema(name)))
    return [f"{one.json_path}: {one.message}" for one in validator.iter_errors(value)]

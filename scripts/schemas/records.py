"""Schemas of what commands write: made of the types in `nonstrict.report.record_types`."""

from __future__ import annotations

import inspect
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints, is_typeddict

from nonstrict.report.record_types import Form, OneOf

#: A part of a schema.
Schema = dict[str, Any]

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def schema_of(hint: Any, definitions: dict[str, Schema]) -> Schema:
    """The schema of a type; those of the records in it are added to the definitions, and referred to."""
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if hint is Any:
        return {}
    if is_typeddict(hint):
        name = hint.__name__.removesuffix("Record")
        if name not in definitions:
            definitions[name] = {}  # a record may hold itself
            definitions[name] = _object(hint, definitions)
        return {"$ref": f"#/$defs/{name}"}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _described(schema_of(arguments[0], definitions), arguments[1:])
    if origin is UnionType:
        return _either([schema_of(one, definitions) for one in arguments])
    if origin is list:
        return {"type": "array", "items": schema_of(arguments[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(arguments[1], definitions)}
    raise TypeError(f"no schema is known for {hint}")


def _object(record: Any, definitions: dict[str, Schema]) -> Schema:
    hints = get_type_hints(record, include_extras=True)
    return {
        "description": " ".join((inspect.getdoc(record) or "").split()),
        "type": "object",
        "properties": {name: schema_of(hint, definitions) for name, hint in hints.items()},
        "required": [name for name in hints if name in record.__required_keys__],
    }


def _described(schema: Schema, notes: tuple[object, ...]) -> Schema:
    """A schema with what is said beside a type."""
    for note in notes:
        if isinstance(note, OneOf):
            schema = {**schema, "enum": list(note.words)}
        elif isinstance(note, Form):
            schema = {**schema, "format": note.name}
        elif isinstance(note, str):
            schema = {"description": note, **schema}
    return schema


def _either(schemas: list[Schema]) -> Schema:
    """What is one of several; plain types side by side."""
    if all(set(one) == {"type"} for one in schemas):
        return {"type": [one["type"] for one in schemas]}
    return {"anyOf": schemas}

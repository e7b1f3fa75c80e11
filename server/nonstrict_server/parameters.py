"""What clients hand over without types: parameters of our own requests, arguments of commands, data of items."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from lsprotocol import types as lsp

from nonstrict_server.protocol import InvalidParamsError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The largest number that the protocol knows.
_MOST = 2**31 - 1


def field_of(value: object, name: str) -> object:
    """A field of parameters, which are a table or an object with attributes; None if there is none."""
    if isinstance(value, dict):
        return cast("dict[str, object]", value).get(name)
    return getattr(value, name, None)


def address_of(params: object) -> str:
    """The address of a document in the field `uri`.

    Raises:
        InvalidParamsError: there is none.
    """
    uri = field_of(params, "uri")
    if not isinstance(uri, str) or not uri:
        raise InvalidParamsError("`uri` has to be the address of a document")
    return uri


def position_of(value: object) -> lsp.Position:
    """The position with a `line` and a `character`.

    Raises:
        InvalidParamsError: it is none.
    """
    return lsp.Position(_number(value, "line"), _number(value, "character"))


def text_of(arguments: Sequence[object], index: int, meaning: str) -> str:
    """The text at a place of a list, empty if it is not there.

    Raises:
        InvalidParamsError: there is something else.
    """
    value = arguments[index] if index < len(arguments) else None
    if value is not None and not isinstance(value, str):
        raise InvalidParamsError(f"argument {index + 1} has to be {meaning}")
    return value or ""


def _number(value: object, name: str) -> int:
    number = field_of(value, name)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= _MOST:
        raise InvalidParamsError(f"a position needs a number as its `{name}`")
    return number

"""From the bytes of a file to text as Python reads it: byte order marks, cookies, line ends, what is not a text."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

# The expressions of the `tokenize` module, which follow PEP 263.
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:[#\r\n]|$)")
_LINE_END = re.compile(rb"\r\n|\r|\n")

_SAMPLE = 8192
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_SURROGATE = re.compile("[\ud800-\udfff]")

_NUL = "a NUL byte: Python refuses such a file; remove it"


class Flaw(NamedTuple):
    """Something wrong at one place of a text: character offsets into the decoded text, the end exclusive."""

    start: int
    end: int
    message: str


class Decoded(NamedTuple):
    """A decoded file: its text with the line ends that it has, and what was wrong with its bytes."""

    text: str
    flaws: tuple[Flaw, ...]


class NotTextError(ValueError):
    """The bytes are no text; the message says what they look like instead."""


class Encoded(NamedTuple):
    """The text of a file, and how its bytes came about: `codec`, behind a byte order mark if it is `marked`."""

    text: str
    codec: str
    marked: bool

    def bytes_of(self, text: str) -> bytes | None:
        """Another text as bytes in the same encoding; None if there are characters that it lacks."""
        try:
            data = text.encode(self.codec)
        except UnicodeError:
            return None
        return codecs.BOM_UTF8 + data if self.marked else data


def lossless(data: bytes) -> Encoded | None:
    """The text of a source file as it stands; None if its bytes cannot be had back from it."""
    marked = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if marked else data
    codec, complaint = _encoding(body, marked=marked)
    codec = "utf-8" if codec == "utf-8-sig" else codec
    try:
        encoded = Encoded(body.decode(codec), codec, marked)
    except (UnicodeError, LookupError, ValueError, TypeError):
        return None
    return encoded if not complaint and encoded.bytes_of(encoded.text) == data else None


def decode(data: bytes) -> Decoded:
    """Decode a source file as Python does, replacing what cannot be decoded and saying so.

    Raises `NotTextError` for binary data and for UTF-16 and UTF-32, which Python does not read either.
    """
    if b"\0" not in data and not data.startswith(codecs.BOM_UTF8) and _cookie_line(data) is None:
        try:
            return Decoded(data.decode(), ())
        except UnicodeDecodeError:
            pass
    return _decode_carefully(data)


def given(text: str) -> Decoded:
    """A text that somebody else decoded, an editor: what it says about its encoding does not matter any more."""
    nul = text.find("\0")
    flaws = (Flaw(nul, nul + 1, _NUL),) if nul >= 0 else ()
    return Decoded(without_surrogates(text.removeprefix("\ufeff")), flaws)


def normalised(text: str) -> str:
    """The text with every line end (CR LF and lone CR) written as LF, as Python's tokenizer sees it."""
    if "\r" in text:
        return text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def without_surrogates(text: str) -> str:
    """The text with lone surrogates, which no file can hold and `ast` refuses, written as replacement characters."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _cookie_line(data: bytes) -> bytes | None:
    """The line among the first two that holds an encoding cookie, or None."""
    head = data[:400]
    if b"coding" not in head:
        return None
    lines = _LINE_END.split(head, maxsplit=2)[:2]
    if _COOKIE.match(lines[0]):
        return lines[0]
    if len(lines) > 1 and _BLANK.match(lines[0]) and _COOKIE.match(lines[1]):
        return lines[1]
    return None


def _decode_carefully(data: bytes) -> Decoded:
    """Decode with a byte order mark, a cookie, NUL bytes or bytes that are wrong."""
    _refuse_binary(data)
    marked = data.startswith(codecs.BOM_UTF8)
    if marked:
        data = data[len(codecs.BOM_UTF8) :]
    encoding, complaint = _encoding(data, marked=marked)
    text, flaws = _decode_with(data, encoding)
    if complaint:
        flaws = [Flaw(0, len(text.split("\n", 1)[0]), complaint), *flaws]
    nul = text.find("\0")
    if nul >= 0:
        flaws.append(Flaw(nul, nul + 1, _NUL))
    if _looks_binary(text):
        raise NotTextError("not a text file")
    return Decoded(without_surrogates(text), tuple(flaws))


def _refuse_binary(data: bytes) -> None:
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise NotTextError("encoded in UTF-32, which Python does not read; save it as UTF-8")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise NotTextError("encoded in UTF-16, which Python does not read; save it as UTF-8")
    sample = data[:_SAMPLE]
    if sample.count(b"\0") * 20 > len(sample):
        raise NotTextError("not a text file")


def _looks_binary(text: str) -> bool:
    sample = text[:_SAMPLE]
    return len(sample) >= 16 and len(_CONTROL.findall(sample)) * 5 > len(sample)


def _encoding(data: bytes, *, marked: bool) -> tuple[str, str]:
    """The encoding that the file declares, and a complaint where Python would refuse the declaration."""
    line = _cookie_line(data)
    cookie = _COOKIE.match(line) if line is not None else None
    if line is None or cookie is None:
        return "utf-8", ""
    name = cookie.group(1).decode("ascii", "replace")
    try:
        same = line.decode(name, "replace").startswith("#") or line[:1] != b"#"
        canonical = codecs.lookup(name).name
    except (LookupError, ValueError, TypeError):
        return "utf-8", f"unknown encoding `{name}`: declare one that Python has, or save the file as UTF-8"
    if marked and canonical not in {"utf-8", "utf-8-sig"}:
        return "utf-8", f"the file starts with a UTF-8 mark but declares `{name}`: remove one of the two"
    if not same:
        return "utf-8", f"`{name}` cannot be the encoding of a Python file: save the file as UTF-8"
    return canonical, ""


def _decode_with(data: bytes, encoding: str) -> tuple[str, list[Flaw]]:
    try:
        return data.decode(encoding), []
    except UnicodeDecodeError as error:
        start = len(data[: error.start].decode(encoding, "replace"))
        message = (
            f"not valid {encoding.upper()}: save the file as UTF-8, or declare its encoding in the first line"
            " (`# -*- coding: latin-1 -*-`)"
        )
        return data.decode(encoding, "replace"), [Flaw(start, start + 1, message)]
    except (UnicodeError, LookupError, ValueError, TypeError):
        message = f"cannot be decoded as {encoding.upper()}: save the file as UTF-8"
        text = data.decode("utf-8", "replace")
        return text, [Flaw(0, min(1, len(text)), message)]

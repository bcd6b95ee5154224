"""Documents by other people: limits on their size, depth and length, and readers that enforce them.

The parsers of TOML and JSON recurse at every bracket and take quadratic time for long numbers and keys. So the text is
scanned once, in linear time, before it is parsed.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DomainError
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_TEXT: Final = 2_000_000
"""Bytes of a text, a spec or a report; the longest text of the guide has 60 000."""

MOST_DATA: Final = 20 * 2**20
"""Bytes of a data table: a file, an upload or a file named in a spec; Streamlit shows it as 20 MB."""

MOST_DEPTH: Final = 64
"""Depth of nested brackets, and parts of a dotted key."""

MOST_DIGITS: Final = 300
"""Digits of a number and letters of a bare key; every integer with this many digits is a finite double."""

MOST_INLINE: Final = 10_000
"""Characters of a paragraph, heading, cell or formula of Markdown, whose parser takes quadratic time in the worst case."""

_TOML: Final = re.compile(r'"""|\'\'\'|["\'#\[\]{}.,=\n]|[0-9A-Za-z_+-]+')
_JSON: Final = re.compile(r'"|[\[\]{}\n]|[0-9]+')
_STRING: Final = re.compile(r'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"')
_TEXT: Final = re.compile(r'[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+"{3,5}', re.DOTALL)
_RAW: Final = re.compile(r"[^']*+(?:'(?!'')[^']*+)*+'{3,5}")
_STRINGS: Final = {'"': _STRING, '"""': _TEXT, "'": re.compile(r"[^'\n]*+'"), "'''": _RAW}


class DocumentError(DomainError):
    """A document exceeds a bound, in line `line`, counted from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def bytes_of(path: Path, most: int = MOST_DATA) -> bytes:
    """Return the content of a file.

    Raises
    ------
    DomainError
        If it is not a file, cannot be read, or has more than `most` bytes; more are never read.
    """
    name = repr(str(path)[-80:])
    if not path.is_file():
        msg = f"There is no file {name}."
        raise DomainError(msg)
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        msg = f"The file {name} cannot be read: {error.strerror}."
        raise DomainError(msg) from None
    if len(data) > most:
        msg = f"The file {name} has more than {grouped(most)} bytes, the most that are read."
        raise DomainError(msg)
    return data


def text_of(path: Path, most: int = MOST_TEXT) -> str:
    """Return the text of a file in UTF-8 of at most `most` bytes, without a byte-order mark."""
    data = bytes_of(path, most)
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        msg = f"{path.name} is not a text in UTF-8: line {line} has the byte {data[error.start]:02x}; save it in UTF-8."
        raise DomainError(msg) from None


def toml_of(text: str) -> dict[str, Any]:
    """Return a TOML text as a table.

    Raises
    ------
    DocumentError
        If it is too long or too deep, or contains a number or key that is too long.
    tomllib.TOMLDecodeError
        If it is not TOML.
    """
    _check_length(text)
    _check_toml(text)
    return tomllib.loads(text)


def json_of(text: str, most: int = MOST_DATA) -> Any:
    """Return a JSON text as Python values; NaN, infinity and numbers too large for a double are refused.

    Raises
    ------
    DocumentError
        If it is too long or too deep, or contains a number that is too long.
    json.JSONDecodeError
        If it is not JSON.
    """
    _check_length(text, most)
    _check_json(text)
    return json.loads(text, parse_constant=_no_number, parse_float=_finite)


def _no_number(name: str) -> float:
    msg = f"{name} is not a number of JSON"
    raise ValueError(msg)


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        msg = f"{digits[:40]} is too large for a number"
        raise ValueError(msg)
    return value


def _check_length(text: str, most: int = MOST_TEXT) -> None:
    if len(text) > most:
        msg = f"The text has {grouped(len(text))} characters; at most {grouped(most)} are read."
        raise DocumentError(msg, 1)


def _check_toml(text: str) -> None:
    """Check the brackets, keys and numbers outside strings and comments; an unclosed string is left to the parser."""
    depth = parts = 0
    line = 1
    for sign, at in _toml_tokens(text):
        if sign == "\n":
            line += 1
        if sign in "[{":
            depth += 1
        elif sign in "]}":
            depth = max(0, depth - 1)
        if sign == ".":
            parts += 1
        elif sign in "\n,=[]{}":
            parts = 0
        elif len(sign) > MOST_DIGITS and sign[0] not in "\"'":
            msg = f"a number or a key has {grouped(len(sign))} characters; at most {MOST_DIGITS} are read."
            raise DocumentError(msg, line)
        if depth > MOST_DEPTH or parts >= MOST_DEPTH:
            msg = f"brackets or keys are nested more than {MOST_DEPTH} deep."
            raise DocumentError(msg, line)
        if sign[0] in "\"'":
            line += text.count("\n", at, at + len(sign))


def _toml_tokens(text: str) -> Iterator[tuple[str, int]]:
    """Yield the tokens of a TOML text with their positions: brackets, dots, words, line ends, and whole strings."""
    at = 0
    while match := _TOML.search(text, at):  # a sign of the text each round
        sign, start, at = match[0], match.start(), match.end()
        if sign == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
            continue
        if sign[0] in "\"'":
            string = _STRINGS[sign].match(text, at)
            if string is None:
                return
            at = string.end()
            sign = text[start:at]
        yield sign, start


def _check_json(text: str) -> None:
    depth, line, at = 0, 1, 0
    while match := _JSON.search(text, at):  # a sign of the text each round
        sign, at = match[0], match.end()
        if sign == '"':
            string = _STRING.match(text, at)
            if string is None:
                return  # the parser reports where
            at = string.end()
        elif sign == "\n":
            line += 1
        elif sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
        elif len(sign) > MOST_DIGITS:
            msg = f"a number has {grouped(len(sign))} digits; at most {MOST_DIGITS} are read."
            raise DocumentError(msg, line)
        if depth > MOST_DEPTH:
            msg = f"brackets are nested more than {MOST_DEPTH} deep."
            raise DocumentError(msg, line)

"""Formulas: LaTeX becomes MathML, which browsers show and read aloud without a script."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

from latex2mathml.converter import convert

from dpcore.core.errors import DpcoreError
from dpcore.language.problems import quoted

# MathML Core has no attribute for alphabets: a script N is a character of its own
_ALPHABETS: Final = {
    "script": "MATHEMATICAL SCRIPT",
    "bold": "MATHEMATICAL BOLD",
    "double-struck": "MATHEMATICAL DOUBLE-STRUCK",
    "italic": "MATHEMATICAL ITALIC",
}
_OLD: Final = {  # letters that Unicode had before it got the alphabets
    "MATHEMATICAL SCRIPT CAPITAL B": "ℬ",
    "MATHEMATICAL SCRIPT CAPITAL E": "ℰ",
    "MATHEMATICAL SCRIPT CAPITAL F": "ℱ",
    "MATHEMATICAL SCRIPT CAPITAL H": "ℋ",
    "MATHEMATICAL SCRIPT CAPITAL I": "ℐ",
    "MATHEMATICAL SCRIPT CAPITAL L": "ℒ",
    "MATHEMATICAL SCRIPT CAPITAL M": "ℳ",
    "MATHEMATICAL SCRIPT CAPITAL R": "ℛ",
    "MATHEMATICAL DOUBLE-STRUCK CAPITAL C": "ℂ",
    "MATHEMATICAL DOUBLE-STRUCK CAPITAL N": "ℕ",
    "MATHEMATICAL DOUBLE-STRUCK CAPITAL P": "ℙ",
    "MATHEMATICAL DOUBLE-STRUCK CAPITAL Q": "ℚ",
    "MATHEMATICAL DOUBLE-STRUCK CAPITAL R": "ℝ",
    "MATHEMATICAL DOUBLE-STRUCK CAPITAL Z": "ℤ",
}
_VARIANT: Final = re.compile(r'<(mi|mn|mo) mathvariant="([a-z-]+)">([^<&])</\1>')
_BAR: Final = re.compile(r'<mo(?: stretchy="false")?>(?=&#x0007C;</mo>)')  # of an absolute value, not of a relation
_REWRITTEN: Final = ((re.compile(r"\\operatorname\s*\*"), r"\\operatorname"), (re.compile(r"\\tag\{[^{}]*\}"), ""))


@cache
def mathml(latex: str, *, display: bool = False) -> str:
    """Return a formula as MathML.

    Raises
    ------
    DpcoreError
        If the formula cannot be shown; it names the formula and the command.
    """
    text = latex.strip()
    for pattern, new in _REWRITTEN:
        text = pattern.sub(new, text)
    try:
        markup = convert(text, display="block" if display else "inline")
    except Exception as error:  # the converter has no single error for a wrong formula
        reason = f"{type(error).__name__} {error}".strip()
        msg = f"The formula {quoted(latex, 80)} is not LaTeX that can be shown: {reason}."
        raise DpcoreError(msg) from error
    unknown = re.search(r"\\[A-Za-z]+", markup)
    if unknown:
        msg = f"The formula {quoted(latex, 80)} has the unknown command {unknown[0]}."
        raise DpcoreError(msg)
    return _BAR.sub('<mo lspace="0" rspace="0" stretchy="false">', _VARIANT.sub(_letter, markup))


def _letter(match: re.Match[str]) -> str:
    """Return a letter of a mathematical alphabet as its own character."""
    tag, variant, letter = match.groups()
    alphabet = _ALPHABETS.get(variant)
    if alphabet is None:
        return match[0]
    kind = "DIGIT" if letter.isdigit() else "CAPITAL" if letter.isupper() else "SMALL"
    name = unicodedata.name(letter, "").rsplit(" ", maxsplit=1)[-1]
    full = f"{alphabet} {kind} {name}"
    try:
        return f"<{tag}>{_OLD.get(full) or unicodedata.lookup(full)}</{tag}>"
    except KeyError:
        return match[0]

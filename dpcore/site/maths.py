"""Formulas: LaTeX becomes MathML, which browsers show and read aloud without a script."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from html import escape, unescape
from typing import Final

from latex2mathml.converter import convert

from dpcore.core.errors import DpcoreError
from dpcore.language.problems import quoted
from dpcore.site.latex import EquationRows, check, mark, outermost, without_tag

# MathML Core has no attribute for alphabets: a script N is a character of its own
_ALPHABETS: Final = {
    "script": "MATHEMATICAL SCRIPT",
    "bold": "MATHEMATICAL BOLD",
    "double-struck": "MATHEMATICAL DOUBLE-STRUCK",
    "italic": "MATHEMATICAL ITALIC",
    "bold-italic": "MATHEMATICAL BOLD ITALIC",
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
_VARIANT: Final = re.compile(r'<(mi|mn|mo) mathvariant="([a-z-]+)">(&#x[0-9A-Fa-f]+;|[^<&])</\1>')
_BAR: Final = re.compile(r'<mo(?: stretchy="false")?>(?=&#x0007C;</mo>)')  # of an absolute value, not of a relation
_STAR: Final = re.compile(r"\\operatorname\s*\*")
_WHOLE: Final = re.compile(r"<math[^>]*><mrow>(.*)</mrow></math>", re.DOTALL)
_CODE: Final = re.compile(r"&#x([0-9A-Fa-f]+);")
_ARG: Final = re.compile(r"\\arg\s*\\(max|min)(?![A-Za-z])")


@cache
def formula(latex: str, *, display: bool = False) -> tuple[str, str]:
    r"""Return a formula as MathML, and its number: the text of ``\tag``, empty if it has none.

    Raises
    ------
    DpcoreError
        If the formula cannot be shown; it names the formula and what is wrong with it.
    """
    latex = _ARG.sub(r"\\mathrm{arg\\,\1}", latex)
    check(latex)
    text, environments = outermost(latex)
    text, tag = without_tag(text)
    if (tag or any("".join(rows.tags) for rows in environments)) and not display:
        msg = rf"The formula {quoted(latex, 80)} has \tag, but only a displayed formula ($$) has a number."
        raise DpcoreError(msg)
    markup = _converted(text, latex, "block" if display else "inline")
    for number, rows in enumerate(environments):
        place = f"<mtext>{mark(number)[6:-1]}</mtext>"
        markup = markup.replace(place, _table(rows, latex))
    return markup, tag


def _converted(text: str, latex: str, display: str) -> str:
    try:
        markup = convert(_STAR.sub(r"\\operatorname", text.strip()), display=display)
    except Exception as error:  # the converter has no single error for a wrong formula
        reason = f"{type(error).__name__} {error}".strip()
        msg = f"The formula {quoted(latex, 80)} is not LaTeX that can be shown: {reason}."
        raise DpcoreError(msg) from error
    unknown = re.search(r"\\[A-Za-z]+", markup)
    if unknown:
        msg = f"The formula {quoted(latex, 80)} has the unknown command {unknown[0]}."
        raise DpcoreError(msg)
    spaced = _BAR.sub('<mo lspace="0" rspace="0" stretchy="false">', _VARIANT.sub(_letter, markup))
    return shortened(spaced)


def shortened(markup: str) -> str:
    """Return MathML as short as HTML allows: without the namespace, and with characters in place of their numbers."""
    plain = markup.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "").replace(' display="inline"', "")
    return _CODE.sub(lambda match: match[0] if chr(int(match[1], 16)) in "<>&" else chr(int(match[1], 16)), plain)


def _table(rows: EquationRows, latex: str) -> str:
    """Return the rows of an environment as a table of MathML; the numbers of rows are its last column."""
    lines = []
    numbered = any(rows.tags)
    width = max(len(row) for row in rows.cells)
    for row, tag in zip(rows.cells, rows.tags, strict=True):
        cells = []
        for column in range(width):
            inner = _inner(row[column], latex) if column < len(row) and row[column].strip() else ""
            cells.append(f'<mtd class="{rows.side(column)}" columnalign="{rows.side(column)}">{inner}</mtd>')
        if numbered:
            cells.append(f'<mtd class="number"><mtext>{f"({escape(tag)})" if tag else ""}</mtext></mtd>')
        lines.append(f"<mtr>{''.join(cells)}</mtr>")
    return f'<mtable class="rows" displaystyle="true">{"".join(lines)}</mtable>'


def _inner(cell: str, latex: str) -> str:
    """Return one cell; an empty symbol first keeps the space around a sign such as = that it starts with."""
    text, environments = outermost(cell)
    markup = _converted(text, latex, "block")
    for number, rows in enumerate(environments):
        markup = markup.replace(f"<mtext>{mark(number)[6:-1]}</mtext>", _table(rows, latex))
    match = _WHOLE.fullmatch(markup)
    return f"<mi></mi>{match[1] if match else markup}"


def _letter(match: re.Match[str]) -> str:
    """Return a letter of a mathematical alphabet as its own character."""
    tag, variant, letter = match.groups()
    alphabet = _ALPHABETS.get(variant)
    if alphabet is None:
        return match[0]
    letter = unescape(letter)
    kind = "DIGIT" if letter.isdigit() else "CAPITAL" if letter.isupper() else "SMALL"
    name = unicodedata.name(letter, "").rsplit(" ", maxsplit=1)[-1]
    full = f"{alphabet} {kind} {name}"
    try:
        return f"<{tag}>{_OLD.get(full) or unicodedata.lookup(full)}</{tag}>"
    except KeyError:
        return match[0]

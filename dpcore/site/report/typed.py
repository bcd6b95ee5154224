"""Numbers that somebody typed instead of computing: in a claim they must be checked, in a sentence they are noted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dpcore.site.dialect import values_in
from dpcore.site.mistakes import without_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpcore.site.markdown import Text
    from dpcore.site.report.document import Document
    from dpcore.site.report.numbers import TextValues

_NUMBER: Final = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RELATION: Final = r"(?:=|≤|≥|<|>|\\leq?\b|\\geq?\b|\\lt\b|\\gt\b)"
_STATED: Final = re.compile(
    rf"{_RELATION}\s*(?P<compared>{_NUMBER})|(?<![\w.])(?P<share>{_NUMBER})(?=\s*\\?%)"
    rf"|(?<![\w.])(?<![A-Z][a-z]{{3}} )(?<![a-z]{{4}} )(?P<broken>\d*\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.]*\w)"
)
_PRIVACY: Final = re.compile(
    rf"(?:[εδμρ]|\\(?:var)?epsilon|\\delta|\\mu|\\rho)\s*{_RELATION}\s*{_NUMBER}(?![\d.]*\w|\s*\^|\s*/\s*[\\A-Za-z])"
)


def unchecked(text: str, conditions: list[str]) -> str:
    """Return a number of a claim's text that none of its conditions has, or an empty text.

    Parameters
    ----------
    text : str
        What the claim says; its computed values are left out.
    conditions : list of str
        What is required.

    Returns
    -------
    str
        The number as it was typed. Only those count that look measured: after a relation, with a fraction, an exponent or a
        percent sign.
    """
    known = {float(number) for one in conditions for number in re.findall(_NUMBER, one)}
    for match in _STATED.finditer(_without_values(text)):
        number = match["compared"] or match["share"] or match["broken"]
        if not known & {float(number), float(number) / 100 if match["share"] else float(number)}:
            return number
    return ""


def typed_statements(document: Document) -> Iterator[str]:
    """Yield a note, with file and line, for each statement of privacy in the sentences of a report whose number was typed.

    Parameters
    ----------
    document : Document
        The report; one without computed values has nothing that could change.

    Yields
    ------
    str
        The note and its remedy.
    """
    if not document.front.values and not document.values.entries:
        return
    texts = [(document.text.line, document.summary)]
    kinds = ("inline", "math_block", "math_block_label")
    texts += [(token.meta.get("line", 1), token.content) for token in document.text.tokens if token.type in kinds]
    texts += [(spec.line_of("caption"), str(spec.get("caption", ""))) for spec in document.text.figures]
    for line, text in texts:
        plain = without_code(_without_values(text))
        for match in _PRIVACY.finditer(plain):
            at = line + plain.count("\n", 0, match.start())
            number = re.findall(_NUMBER, match[0])[-1]
            if float(number) == 0:  # the range of a parameter, as in "for every ε > 0"
                continue
            yield (
                f"{document.source.name}, line {at}: '{match[0]}' is typed and will not follow the data; "
                f"compute it, or write {{{{ {number} }}}} for a number that is given."
            )


def check_braces(text: Text, values: TextValues) -> None:
    """Refuse a named value between single braces, which would be printed as it is.

    Parameters
    ----------
    text : Text
        The text of a report.
    values : TextValues
        Its named values.
    """
    if not values.scope.values:
        return
    names = "|".join(map(re.escape, values.scope.values))
    single = re.compile(rf"(?<![{{\w\\])\{{[ \t]*({names})[ \t]*\}}(?!\}})")
    places = [(text.line, without_code(text.summary))]
    for token in text.tokens:
        line = token.meta.get("line", 1)
        places += [
            (child.meta.get("line", line), child.content) for child in token.children or [] if child.type == "text"
        ]
    for line, words in places:
        if match := single.search(words):
            message = f"{match[0]!r} is not computed; write {{{{ {match[1]} }}}}."
            raise values.problem(message, line)


def _without_values(text: str) -> str:
    """Return a text in which every computed value is a letter, so that it is not taken for a typed number."""
    parts, at = [], 0
    for match in values_in(text):
        parts += [text[at : match.start()], "x"]
        at = match.end()
    return "".join(parts) + text[at:]

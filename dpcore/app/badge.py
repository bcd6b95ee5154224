"""The badge that shows the kind of a number: exact, an upper or lower bound, an approximation.

The library says it in words, in parentheses after the number: "ε is at most 3.611 (exact)". On a page the words become a
badge in the same place. The word is in the badge, so the colour only repeats it. Captions are pale and keep the words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dpcore.core.certainty import BRACKET, CERTIFIED
from dpcore.core.kinds import WORDS

if TYPE_CHECKING:
    import pandas as pd

COLOURS: Final = {
    WORDS["exact"]: "green",
    CERTIFIED: "green",
    BRACKET: "blue",
    WORDS["upper"]: "blue",
    WORDS["lower"]: "violet",
    WORDS["approximate"]: "orange",
    "simulation": "gray",
}
"""The words that become badges. A certified number lies between two numbers and has a proof to take
away; a bracket only has the two numbers; see `dpcore.core.certainty`."""
_KIND: Final = re.compile(rf"(?:an? )?({'|'.join(COLOURS)})(s?)\b(?:\\?:)? ?(.*)", re.DOTALL)
_PARENTHESES: Final = re.compile(r" ?\(([^()]*)\)")


def badge(word: str) -> str:
    """Return the badge of a kind, in Markdown."""
    return f":{COLOURS[word]}-badge[{word}]"


def marked(text: str) -> str:
    """Return Markdown with the kinds of numbers as badges; anything else in the parentheses stays.

    Consecutive numbers of one kind share the badge after the last one; every line has its own badges.

    Examples
    --------
    >>> marked("at most 14 of 100 (exact), 15 by Basic (upper bound)")
    'at most 14 of 100 :green-badge[exact], 15 by Basic :blue-badge[upper bound]'
    >>> marked("3 for k = 1 (KOV, exact) and 9 for k = 2 (KOV, exact)")
    '3 for k = 1 (KOV) and 9 for k = 2 (KOV) :green-badge[exact]'
    """
    return "\n".join(map(_marked_line, text.split("\n")))


def _marked_line(text: str) -> str:
    places = [(found, *_split(found[1])) for found in _PARENTHESES.finditer(text)]
    kinds = [place for place in places if place[1]]
    for at, (found, word, before, after) in reversed(list(enumerate(kinds))):
        shared = at + 1 < len(kinds) and kinds[at + 1][1] == word
        parts = [f"({before})" if before else "", "" if shared else badge(word), f"({after})" if after else ""]
        text = text[: found.start()] + "".join(f" {part}" for part in parts if part) + text[found.end() :]
    return text


def is_marked(text: str) -> bool:
    """Whether a text in Markdown has a badge."""
    return "-badge[" in text


def of_table(table: pd.DataFrame) -> str:
    """Return the badge for a table whose numbers are all of one kind; empty if they are not."""
    kinds = set(table["kind"]) - {"none"} if "kind" in table else set()
    word = WORDS.get(kinds.pop(), "") if len(kinds) == 1 else ""
    return badge(word) if word in COLOURS else ""


def _split(inside: str) -> tuple[str, str, str]:
    """Return the kind named in parentheses and the text before and after it; empty without a kind."""
    parts = re.split(r"([,;] )", inside)
    for at in range(0, len(parts), 2):
        match = _KIND.fullmatch(parts[at])
        if match:
            after = match[3] + "".join(parts[at + 1 :])
            return match[1], "".join(parts[: at - 1]) if at else "", after.lstrip(",; ")
    return "", "", ""

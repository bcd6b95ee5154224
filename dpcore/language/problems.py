"""Errors with a place: one line for a terminal, two lines with a caret for a page."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from dpcore.core.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.core.errors import DpcoreError

EXCERPT = 60


class PlacedError(ParseError):
    """A text that is not an expression, with the place where reading stopped.

    Parameters
    ----------
    text : str
        The whole text.
    start : int
        Index of the first character that does not fit.
    reason : str
        What is wrong, without a full stop.
    hint : str, default ""
        What was expected or which name is near; empty if there is nothing to add.
    """

    def __init__(self, text: str, start: int, reason: str, hint: str = "") -> None:
        self.text = text
        self.start = start
        self.reason = reason
        self.hint = hint
        message = f"{reason} at {place(text, start)}{': ' if hint else ''}{hint}"
        super().__init__(message if message.endswith("?") else f"{message}.")

    def __reduce__(self) -> tuple[type[PlacedError], tuple[str, int, str, str]]:
        """Rebuild from the parts, so that the error can travel between processes."""
        return type(self), (self.text, self.start, self.reason, self.hint)

    @property
    def pointer(self) -> str:
        """The text, or an excerpt of it, with a caret under the place."""
        return caret(self.text, self.start)


def place(text: str, start: int) -> str:
    """Return a position in words: the column, and the line if the text has several."""
    before = text[:start]
    column = start - (before.rfind("\n") + 1) + 1
    return f"line {before.count(chr(10)) + 1}, column {column}" if "\n" in text else f"column {column}"


def caret(text: str, start: int) -> str:
    """Return at most 60 characters of the text around `start` and a caret below that character."""
    first = max(0, min(start - EXCERPT // 2, len(text) + 1 - EXCERPT))
    excerpt = "".join(c if c.isprintable() else " " for c in text[first : first + EXCERPT])
    return f"{excerpt}\n{' ' * (start - first)}^"


def pointer(error: DpcoreError) -> str:
    """Return two lines that show the place of an error of `dpcore.language.parse`.

    Parameters
    ----------
    error : DpcoreError
        What was raised.

    Returns
    -------
    str
        The text and a caret under the place; empty if the error has no place.
    """
    if isinstance(error, PlacedError):
        return error.pointer
    return next((note for note in getattr(error, "__notes__", ()) if note.endswith("^")), "")


def quoted(text: str, longest: int = 30) -> str:
    """Quote a piece of input on one line: shortened, with control characters written as escapes."""
    return repr(text if len(text) <= longest else text[:longest] + "...")


def nearest(name: str, candidates: Iterable[str]) -> str:
    """Return the candidate nearest to a misspelt name, as a question; empty if none is near."""
    by_lower = {candidate.lower(): candidate for candidate in candidates}
    close = get_close_matches(name[:EXCERPT].lower(), by_lower, n=1, cutoff=0.6)
    return f"did you mean {by_lower[close[0]]}?" if close else ""

"""The index of the search box: each word of the site with the sections that have it, as a script that opens from disk.

A section starts at a heading with an id. The words of titles and headings are found in the list of sections itself, so the
index holds the words of the texts only. Numbers count where they name a place (Theorem 4.1), not in tables.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from dpcore.site.figures import compact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ARTICLE: Final = re.compile(r"<article>(.*?)</article>", re.DOTALL)
_TITLE: Final = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
_LEAD: Final = re.compile(r'<p class="lead">(.*?)</p>', re.DOTALL)
_HEADING: Final = re.compile(r'<h[2-4] id="([^"]+)">(.*?)</h[2-4]>', re.DOTALL)
_FIGURE: Final = re.compile(r'<figure class="figure" id="([^"]+)" aria-label="([^"]*)">')
_DROPPED: Final = re.compile(r"<(script|style|details|pre|svg)\b.*?</\1>", re.DOTALL)
_TAG: Final = re.compile(r"<[^>]+>")
_WORD: Final = re.compile(r"[^\W\d_](?:\w*\w)?(?:'[a-z]+)?")
_PLACE: Final = re.compile(
    r"\b(?:theorem|section|figure|lemma|proposition|corollary|table|example|definition|question|algorithm|equation)s? "
    r"(\d+(?:\.\d+)*)"
)
STOP: Final = frozenset(
    [
        "a",
        "about",
        "all",
        "also",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "but",
        "by",
        "can",
        "does",
        "each",
        "for",
        "from",
        "had",
        "has",
        "have",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "may",
        "more",
        "most",
        "must",
        "no",
        "not",
        "of",
        "on",
        "one",
        "only",
        "or",
        "other",
        "same",
        "so",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "two",
        "under",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whose",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)
DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
LONGEST: Final = 28  # characters of a word; longer ones are paths and digests


class FoundSection(NamedTuple):
    """A part of a page that a search can lead to."""

    path: str
    anchor: str
    title: str
    words: frozenset[str]


def folded(text: str) -> str:
    """Return a text in lower case without accents, as the search box reads it: Rényi is found by renyi."""
    return "".join(sign for sign in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(sign))


def words_of(text: str) -> frozenset[str]:
    """Return the words that a search can find in a plain text.

    Greek letters are words; names with underscores count as a whole and by their parts.
    """
    lower = folded(text)
    words: set[str] = set()
    for match in _WORD.finditer(lower):
        word = match[0]
        parts = {word, *word.split("_")}
        words |= {one for one in parts if len(one) > 1 or (one and not one.isascii())}
    words |= {match[1] for match in _PLACE.finditer(lower)}
    return frozenset(word for word in words if word not in STOP and len(word) <= LONGEST)


def plain(markup: str) -> str:
    """Return the text of a piece of HTML, without scripts, code blocks and folded tables."""
    return " ".join(html.unescape(_TAG.sub(" ", _DROPPED.sub(" ", markup))).split())


def name_of(markup: str) -> str:
    """Return a heading as plain text, with formulas closed up."""
    return " ".join(html.unescape(_TAG.sub("", markup)).split())


def sections_of(path: str, page: str) -> list[FoundSection]:
    """Return the sections of a page: the part before the first heading, then one for each heading and figure.

    The folder of a page is a word of all its sections, so "errata theorem 29" finds that theorem's row.
    """
    folder = words_of(path.rpartition("/")[0])
    title, body = _TITLE.search(page), _ARTICLE.search(page)
    if title is None or body is None:
        return []
    lead = _LEAD.search(page)
    marks = sorted(
        (match.start(), match[1], name_of(match[2]))
        for pattern in (_HEADING, _FIGURE)
        for match in pattern.finditer(body[1])
    )
    ends = [*(mark[0] for mark in marks), len(body[1])]
    own = f"{plain(lead[1]) if lead else ''} {plain(body[1][: ends[0]])}"
    sections = [FoundSection(path, "", name_of(title[1]), words_of(own) | folder)]
    for (start, anchor, name), end in zip(marks, ends[1:], strict=True):
        sections.append(FoundSection(path, anchor, name, words_of(plain(body[1][start:end])) | folder))
    return sections


def index_of(pages: Mapping[str, str]) -> str:
    """Return the index of all pages as a script.

    Parameters
    ----------
    pages : mapping of str to str
        The HTML of each page by its path.

    Returns
    -------
    str
        A script that sets ``dpcoreIndex`` to an object: ``pages`` as pairs of path and title, ``sections`` as lists of
        anchor and title for each page in turn, and ``words``: the words in order, each as the number of characters it
        shares with the one before, the rest, and the numbers of its sections.
    """
    by_page = [(path, sections_of(path, page)) for path, page in pages.items()]
    by_page = [(path, sections) for path, sections in by_page if sections]
    places: dict[str, list[int]] = defaultdict(list)
    number = 0
    for _, sections in by_page:
        for section in sections:
            for word in (
                section.words - words_of(section.title) - (words_of(sections[0].title) if section.anchor else set())
            ):
                places[word].append(number)
            number += 1
    lines, before = [], ""
    for word in sorted(places):
        shared = _shared(before, word)
        lines.append(f"{DIGITS[shared]}{word[shared:]} {_steps(places[word])}")
        before = word
    facts = {
        "pages": [[path, sections[0].title] for path, sections in by_page],
        "sections": [[item for one in sections[1:] for item in (one.anchor, one.title)] for _, sections in by_page],
        "words": "\n".join(lines),
    }
    return f"window.dpcoreIndex={compact(facts)};\n"


def _shared(before: str, word: str) -> int:
    """Return how many characters two words have in common at the start, at most 35."""
    count = 0
    while (
        count < min(len(before), len(word), len(DIGITS) - 1) and before[count] == word[count]
    ):  # takes one character per pass
        count += 1
    return count


def _steps(numbers: Iterable[int]) -> str:
    """Return ascending numbers by their differences: one digit of 36 for small ones, a comma before longer ones."""
    out, last = [], -1
    for number in numbers:
        step, last = number - last, number
        digits = _base36(step)
        out.append(digits if len(digits) == 1 else f",{digits}" if len(digits) == 2 else f";{digits:0>4}")
    return "".join(out)


def _base36(number: int) -> str:
    digits = ""
    while True:  # takes one digit per pass
        number, rest = divmod(number, 36)
        digits = DIGITS[rest] + digits
        if number == 0:
            return digits

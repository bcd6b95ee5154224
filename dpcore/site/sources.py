"""From a source to dpcore: every statement, figure and table of the sources, with the command, page, figure and erratum that serve it.

A file of the folder has the name of its `source`, a list `items` (place, subject, references) and a list `left` (place,
subject, reason): nothing of a source is missing without a reason. Figures and errata that name the same place are added
by themselves. References are those of texts (`dpcore.specs.references`); one that leads nowhere fails the build.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.registry import value_text
from dpcore.labs import errata
from dpcore.site.pages import Page, section_files
from dpcore.specs import SpecError, load
from dpcore.specs.reading import source_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from dpcore.site.compose import Composer
    from dpcore.site.config import Section
    from dpcore.specs import Spec

KINDS: Final = {
    "theorem": r"Theorems?",
    "lemma": r"Lemmas?",
    "proposition": r"Propositions?",
    "corollary": r"Corollar(?:y|ies)",
    "definition": r"Definitions?",
    "remark": r"Remarks?",
    "example": r"Examples?",
    "figure": r"Figures?",
    "table": r"Tables?",
    "algorithm": r"Algorithms?",
    "section": r"Sections?",
    "appendix": r"Appendix",
    "fallacy": r"DP Fallacy",
}
_NUMBER: Final = r"(?:[IVX]+(?:-[A-Z]\d?)?|[A-Z]?\.?\d+(?:\.\d+)*|[A-Z])\b"
_GROUP: Final = re.compile(
    "|".join(
        f"(?P<{kind}>{words}) (?P<{kind}_numbers>{_NUMBER}(?:(?:, | and | to |, and ){_NUMBER})*)"
        for kind, words in KINDS.items()
    )
    + r"|(?P<equation>)(?P<equation_numbers>\(\d+(?:\.\d+)?\)(?:(?:, | and | to )\(\d+(?:\.\d+)?\))*)"
)
_STEP: Final = re.compile(r"(, and | and | to |, )")


@dataclass(frozen=True)
class SourceItem:
    """A statement, figure or table of a source.

    Attributes
    ----------
    place, subject : str
        Where it is, and what it is about in our words.
    see : tuple of str
        References to what serves it here.
    reason : str
        Why nothing does; empty if something does.
    """

    place: str
    subject: str
    see: tuple[str, ...] = ()
    reason: str = ""


def numbers(place: str) -> set[tuple[str, str]]:
    """Return the kinds and numbers that a place names.

    Examples
    --------
    >>> sorted(numbers("Corollaries 4 and 58"))
    [('corollary', '4'), ('corollary', '58')]
    >>> sorted(numbers("Theorems 6.3.4 to 6.3.6, proof"))
    [('theorem', '6.3.4'), ('theorem', '6.3.5'), ('theorem', '6.3.6')]
    """
    named: set[tuple[str, str]] = set()
    for match in _GROUP.finditer(place):
        kind = next(name for name, value in match.groupdict().items() if value is not None and "_" not in name)
        parts = _STEP.split(match[f"{kind}_numbers"])
        for place_of, number in enumerate(parts[::2]):
            if place_of and parts[2 * place_of - 1] == " to ":
                named |= {(kind, one) for one in _between(parts[2 * place_of - 2], number)}
            named.add((kind, number.strip("()")))
    return named


def _between(first: str, last: str) -> list[str]:
    """Return the numbers from one to another that differ in their last part."""
    head, _, low = first.strip("()").rpartition(".")
    _, _, high = last.strip("()").rpartition(".")
    if not (low.isdigit() and high.isdigit()):
        return []
    return [f"{head}.{number}" if head else str(number) for number in range(int(low), int(high) + 1)]


def read_source(file: Path) -> tuple[str, list[SourceItem]]:
    """Return the name of a source and its items, as the file lists them."""
    facts = load(source_text(file), file.name)
    source = facts.get("source")
    names = [one.name for one in errata.sources()]
    if source not in names:
        msg = f"{file.name}: source is one of {', '.join(names)}, got {value_text(source)}."
        raise SpecError(msg)
    items = [SourceItem(row[0], row[1], tuple(row[2:])) for row in _rows(facts, "items", file.name, 3)]
    left = [SourceItem(row[0], row[1], (), row[2]) for row in _rows(facts, "left", file.name, 3)]
    return str(source), [*items, *left]


def _rows(facts: Mapping[str, Any], key: str, file: str, least: int) -> list[list[str]]:
    rows = facts.get(key, [])
    for row in rows:
        if not isinstance(row, list) or len(row) < least or not all(isinstance(one, str) for one in row):
            msg = f"{file}: each of {key} is a list of at least {least} texts: place, subject, references, got {value_text(row)}."
            raise SpecError(msg)
    return list(rows)


def with_places(source: str, items: Iterable[SourceItem], figures: Iterable[Spec]) -> list[SourceItem]:
    """Return items with the figures and errata that name the same place."""
    title = next(one.title for one in errata.sources() if one.name == source)
    drawn = [
        (f"figure:{one.name}", numbers(str(one.get("place", "")))) for one in figures if one.get("source") == title
    ]
    rows = [(f"erratum:{row.name}", numbers(row.place)) for row in errata.rows(source=source)]
    full = []
    for item in items:
        own = numbers(item.place)
        more = [target for target, place in (*drawn, *rows) if own & place and target not in item.see]
        full.append(SourceItem(item.place, item.subject, (*item.see, *more), item.reason))
    return full


def source_pages(section: Section, figures: Sequence[Spec]) -> list[Page]:
    """Return a page for each file of the section's folder."""
    pages = []
    for file in section_files(section, ".toml"):
        source, items = read_source(file)
        pages.append(_page(section.name, source, with_places(source, items, figures), file.name))
    return pages


def _page(section: str, source: str, items: Sequence[SourceItem], file: str) -> Page:
    facts = next(one for one in errata.sources() if one.name == source)
    served = sum(bool(item.see) for item in items)
    return Page(
        f"{section}/{source}.html",
        section,
        facts.title,
        f"{served} statements, figures and tables of {facts.reference}, and where dpcore has them.",
        repr(items),
        (),
        lambda composer: _compose(composer, items, file),
        items=tuple(items),
    )


def _compose(composer: Composer, items: Sequence[SourceItem], file: str) -> str:
    composer.writer.file = file
    served = [(item, [composer.named(target) for target in item.see]) for item in items if item.see]
    left = [item for item in items if not item.see]
    return str(composer.html("source.html", served=served, left=left))

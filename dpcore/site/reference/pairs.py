"""The pages of the utility pairs and of the labs, from what their classes declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.labs import LABS
from dpcore.regions.tradeoff import literal
from dpcore.site.pages import Page
from dpcore.site.places import SitePlace
from dpcore.site.reference.origin import source_words
from dpcore.utility import PAIRS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.site.compose import Composer

PAIRS_LEAD = """
A pair is a query with the mechanism that answers it. `dpcore utility NAME` prints its error in closed form and simulated;
`dpcore utility NAME --data FILE --column C` does so for a table of your own. In Python `dpcore.utility.pair(NAME)` returns it.
"""
LABS_LEAD = """
A lab looks at one claim of the thesis on statistical foundations: what was printed, what is true, and why it matters.
`dpcore lab NAME` prints both; in Python `dpcore.labs.lab(NAME)` returns it.
"""


def pair_page(section: str) -> Page:
    """Return the page of all pairs of query and mechanism."""
    pairs = {name: PAIRS[name] for name in sorted(PAIRS)}
    words = {name: one.title for name, one in pairs.items()}
    return _page(
        section,
        "pairs",
        "Queries and mechanisms",
        "How far private answers are off: every pair of a query and a mechanism.",
        "pair",
        words,
        lambda c: _pairs(c, pairs),
    )


def lab_page(section: str) -> Page:
    """Return the page of all labs."""
    labs = {name: LABS[name] for name in LABS}
    words = {name: one.title for name, one in labs.items()}
    return _page(
        section,
        "labs",
        "Labs",
        "Every lab: its claim, the corrected formula, its parameters.",
        "lab",
        words,
        lambda c: _labs(c, labs),
    )


def _page(section: str, stem: str, title: str, summary: str, kind: str, words: Mapping[str, str], make: Any) -> Page:
    path = f"{section}/{stem}.html"
    places = tuple(SitePlace(kind, name, path, name, f"{text[:1].upper()}{text[1:]}") for name, text in words.items())
    return Page(path, section, title, summary, repr(words), (), make, "Tools", places)


def _pairs(composer: Composer, pairs: Mapping[str, Any]) -> str:
    parts = [composer.md(PAIRS_LEAD)]
    for name, one in pairs.items():
        parts.append(composer.heading(f"`{name}`: {one.title}", name=name))
        measures = [(measure.label, measure.unit, measure.meaning) for measure in one().measures]
        parts.append(
            _thing(
                composer, one, f"dpcore utility {name} --epsilon 0.5,1", measures=measures, assumptions=one.assumptions
            )
        )
    return "".join(parts)


def _labs(composer: Composer, labs: Mapping[str, Any]) -> str:
    parts = [composer.md(LABS_LEAD)]
    for name, one in labs.items():
        parts.append(composer.heading(f"`{name}`: {one.title}", name=name))
        parts.append(
            _thing(
                composer,
                one,
                f"dpcore lab {name}",
                place=one.place,
                assumptions=one.assumptions,
                related=composer.related(f"lab:{name}"),
            )
        )
    return "".join(parts)


def _thing(composer: Composer, one: Any, command: str, **more: Any) -> Any:
    values: dict[str, Any] = {"measures": (), "assumptions": "", "place": "", "related": (), **more}
    defaults = one()
    facts = [
        {
            "name": parameter.name,
            "domain": parameter.domain_words,
            "default": literal(getattr(defaults, _field(defaults, parameter.name))),
            "meaning": parameter.meaning,
        }
        for parameter in one.parameters()
    ]
    return composer.html(
        "pair.html", one=one, parameters=facts, command=command, source=source_words(composer, one), **values
    )


def _field(thing: Any, name: str) -> str:
    return name if hasattr(thing, name) else f"{name}_"

"""The composition theorems as a page, from their records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.site.pages import Page
from dpcore.theorems import THEOREMS

if TYPE_CHECKING:
    from dpcore.site.compose import Composer


def theorem_page(section: str) -> Page:
    """Return the page of all theorems."""
    return Page(
        f"{section}/theorems.html",
        section,
        "Theorems",
        "Every composition theorem and conversion: what it says, what it needs, who proved it.",
        repr([(t.name, t.title, t.formula) for t in THEOREMS]),
        (),
        _compose,
        "The language",
    )


def _compose(composer: Composer) -> str:
    parts = []
    for theorem in THEOREMS:
        parts.append(composer.heading(theorem.title))
        parts.append(composer.html("theorem.html", theorem=theorem))
    return "".join(parts)

"""The page of the theorems, from their records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore import theorems
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
        "All composition theorems and conversions: what they say, what they assume, who proved them.",
        repr([(t.name, t.title, t.formula) for t in THEOREMS]),
        (),
        _compose,
        "The language",
    )


def _compose(composer: Composer) -> str:
    parts = []
    for theorem in THEOREMS:
        parts.append(composer.heading(theorem.title))
        parts.append(composer.html("theorem.html", theorem=theorem, python=_python(theorem)))
    return "".join(parts)


def _python(theorem: theorems.Theorem) -> str:
    """Return the name of the theorem in Python: its function, or its record."""
    name = theorem.function.__name__ if theorem.function is not None else ""
    if not name and theorem.route is not None:
        name = f"{theorem.route.source}_to_{theorem.route.target}"
    return f"dpcore.theorems.{name}" if name in theorems.__all__ else f'dpcore.theorems.theorem("{theorem.name}")'

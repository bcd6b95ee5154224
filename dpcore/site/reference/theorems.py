"""The page of the theorems, from their records."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from dpcore import theorems
from dpcore.site.pages import Page
from dpcore.site.places import SitePlace
from dpcore.site.reference.origin import source_of_module
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
        tuple(SitePlace("theorem", t.name, f"{section}/theorems.html", t.name, t.title) for t in THEOREMS),
    )


def _compose(composer: Composer) -> str:
    parts = []
    for theorem in THEOREMS:
        parts.append(composer.heading(theorem.title, name=theorem.name))
        parts.append(
            composer.html(
                "theorem.html",
                theorem=theorem,
                python=_python(theorem),
                guide=composer.place("section", theorem.name),
                source=source_of_module(composer, theorem_module(theorem.name)),
            )
        )
    return "".join(parts)


def theorem_module(name: str) -> str:
    """Return the module of a theorem: the file that has its name, or the one that holds its record."""
    modules = (info.name for info in pkgutil.iter_modules(theorems.__path__))
    for module in modules:
        record = getattr(importlib.import_module(f"{theorems.__name__}.{module}"), "THEOREM", None)
        if record is not None and record.name == name:
            return f"{theorems.__name__}.{module}"
    return theorems.__name__


def _python(theorem: theorems.Theorem) -> str:
    """Return the name of the theorem in Python: its function, or its record."""
    name = theorem.function.__name__ if theorem.function is not None else ""
    if not name and theorem.route is not None:
        name = f"{theorem.route.source}_to_{theorem.route.target}"
    return f"dpcore.theorems.{name}" if name in theorems.__all__ else f'dpcore.theorems.theorem("{theorem.name}")'

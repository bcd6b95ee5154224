"""Generated reference pages: names of the language, theorems, command line, figure specs and the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.site.reference.commands import command_page
from dpcore.site.reference.kinds import kinds_page
from dpcore.site.reference.library import library_pages
from dpcore.site.reference.names import language_page, name_pages
from dpcore.site.reference.pairs import lab_page, pair_page
from dpcore.site.reference.theorems import theorem_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.site.config import Section
    from dpcore.site.pages import Page
    from dpcore.site.reference.commands import Command


def reference_pages(section: Section, commands: Sequence[Command] = ()) -> list[Page]:
    """Return all pages of the reference in order; the command line is included if `commands` describes it."""
    name = section.name
    return [
        language_page(name),
        *name_pages(name),
        theorem_page(name),
        *([command_page(name, commands)] if commands else []),
        kinds_page(name),
        pair_page(name),
        lab_page(name),
        *library_pages(name),
    ]

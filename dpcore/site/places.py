"""Where everything that has a name is on the site, so that texts can refer to it by name."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.core.errors import DomainError
from dpcore.specs.references import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.specs.references import Reference


@dataclass(frozen=True)
class SitePlace:
    """Something that has a name, and where it is.

    Attributes
    ----------
    kind : str
        One of `dpcore.specs.references.KINDS`, or ``section`` for a part of a text that explains a name.
    name : str
        Its name.
    path, anchor : str
        Its page, and the id on that page; empty for the page itself.
    words : str
        What a link to it says, as Markdown.
    """

    kind: str
    name: str
    path: str
    anchor: str = ""
    words: str = ""

    @property
    def address(self) -> str:
        """The path with the anchor."""
        return f"{self.path}#{self.anchor}" if self.anchor else self.path


class Directory:
    """All places of a site by kind and name."""

    def __init__(self, places: Iterable[SitePlace]) -> None:
        self.places: dict[tuple[str, str], SitePlace] = {}
        for place in places:
            self.places.setdefault((place.kind, place.name), place)

    def get(self, kind: str, name: str) -> SitePlace | None:
        """Return the place of a thing, or None."""
        return self.places.get((kind, name))

    def find(self, reference: Reference) -> SitePlace:
        """Return the place that a reference means.

        Raises
        ------
        DomainError
            If there is no such thing; it names the nearest ones.
        """
        kinds = (reference.kind,) if reference.kind else KINDS
        for kind in kinds:
            place = self.places.get((kind, reference.name))
            if place is not None:
                return place
        names = sorted({name for kind, name in self.places if kind in kinds})
        near = difflib.get_close_matches(reference.name, names, 3, cutoff=0.5)
        hint = (
            f"did you mean {', '.join(near)}?" if near else f"a reference names one of these kinds: {', '.join(KINDS)}."
        )
        what = f"{reference.kind} " if reference.kind else "thing "
        msg = f"[[{reference.name}]] refers to a {what}that the site does not have; {hint}"
        raise DomainError(msg)

    def of_code(self, text: str) -> SitePlace | None:
        """Return what a piece of code names: a name of the language, a theorem, a command or a function; None if nothing."""
        if text.startswith("dpcore ") and (command := self.get("command", text.split()[1])):
            return command
        name = text.split("(", 1)[0] if text.endswith("()") else text
        for kind in ("name", "theorem", "function", "pair"):
            if place := self.get(kind, name):
                return place
        return None

"""Where the sources are wrong, counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import call, draws


@enter
@dataclass(frozen=True, kw_only=True)
class ErrataDrawer(Drawer):
    """The errata of all sources, or of one source or kind."""

    kind: ClassVar[str] = "errata"
    meaning: ClassVar[str] = "how many places of each source are wrong, and in which way"

    source: str | None = fields.text(default=None, words="the name of a source")
    of: str | None = fields.text(default=None, words="a kind of mistake: false, misprint, reading or note")

    def __post_init__(self) -> None:
        """Check both names."""
        from dpcore.labs.errata import KINDS, sources  # noqa: PLC0415  only this figure needs the labs

        if self.source is not None:
            fields.one_of(self.source, tuple(source.name for source in sources()))
        if self.of is not None:
            fields.one_of(self.of, tuple(KINDS))

    def recipe(self) -> Any:
        """Return the bars."""
        rows = call("dpcore.labs.errata:rows", source=self.source, kind=self.of)
        return draws("dpcore.charts.errata:errata_figure", rows)

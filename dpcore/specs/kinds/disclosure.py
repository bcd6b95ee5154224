"""A disclosure check of a table: classes by size, counts after PRAM, neighbours after noise, and regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.specs import fields
from dpcore.specs.base import enter
from dpcore.specs.kinds.own_data import TableDrawer
from dpcore.specs.recipes import File, Variable, call, draws


@dataclass(frozen=True, kw_only=True)
class ProtectionDrawer(TableDrawer):
    """A table, and what is done to it before it is released."""

    quasi: tuple[str, ...] = fields.texts(words="columns that an attacker may know")
    generalise: str | None = fields.text(default=None, words="rules such as age:10, zip:2*")
    suppress: int = fields.integer(1, low=1)
    pram: str | None = fields.text(default=None, words="a column whose answers are changed at random")
    keep: float | None = fields.rate()
    matrix: str | None = fields.text(default=None, words="a CSV file with the transition matrix of PRAM")
    categories: str | None = fields.text(default=None, words="the declared answers of that column, with commas")
    noise: tuple[str, ...] = fields.texts(words="noise on columns, such as k-noise age:2.5 or k-PRAM age:5@19")

    @property
    def data(self) -> Variable:
        """The table as texts."""
        return Variable("data", call("dpcore.files.microdata:read_microdata", self.sheet))

    @property
    def plan(self) -> Variable:
        """What is done to it."""
        options = self.options("generalise", "suppress", "pram", "categories", "noise", matrix="keep")
        if self.matrix is not None:
            sheet = call("dpcore.files.sheet:open_csv", File(self.matrix, self.folder))
            options["matrix"] = call("dpcore.files.matrices:read_matrix", sheet)
        quasi = (self.quasi,) if self.quasi else ()
        return Variable("plan", call("dpcore.planner.disclosure:protection", self.data, *quasi, **options))


@enter
@dataclass(frozen=True, kw_only=True)
class DisclosureDrawer(ProtectionDrawer):
    """Records by the size of their class."""

    kind: ClassVar[str] = "disclosure"
    meaning: ClassVar[str] = "records by the size of their class in some columns, as read and as released"

    sensitive: tuple[str, ...] = fields.texts(words="columns that an attacker wants to learn")
    small: int = fields.integer(5, low=1)

    def recipe(self) -> Any:
        """Return the figure of the classes."""
        return draws("dpcore.charts.disclosure:class_figure", self.data, self.plan, *self._sensitive)

    def table(self) -> Any:
        """Return the measures of both tables."""
        options = self.options("small")
        return call("dpcore.planner.disclosure:check", self.data, self.plan, *self._sensitive, **options)

    @property
    def _sensitive(self) -> tuple[tuple[str, ...], ...]:
        return (self.sensitive,) if self.sensitive else ()


@enter
@dataclass(frozen=True, kw_only=True)
class PramDrawer(ProtectionDrawer):
    """Counts of a column before and after PRAM."""

    kind: ClassVar[str] = "pram"
    meaning: ClassVar[str] = "counts of a column before and after PRAM, and the error of the corrected counts"

    def recipe(self) -> Any:
        """Return the figure of the counts."""
        return draws("dpcore.charts.disclosure:pram_figure", self.data, self.plan)

    def table(self) -> Any:
        """Return the counts of every category."""
        return call("dpcore.planner.disclosure:pram_frame", self.data, self.plan)


@enter
@dataclass(frozen=True, kw_only=True)
class ColumnNoiseDrawer(ProtectionDrawer):
    """Records near each value of a column with noise."""

    kind: ClassVar[str] = "column_noise"
    meaning: ClassVar[str] = "how many records are near each value of a column, before and after k-noise or k-PRAM"

    def recipe(self) -> Any:
        """Return the figure of the neighbours."""
        return draws("dpcore.charts.disclosure:noise_figure", self.data, self.plan)


@enter
@dataclass(frozen=True, kw_only=True)
class ProtectionRegionDrawer(ProtectionDrawer):
    """What one released value tells."""

    kind: ClassVar[str] = "protection_region"
    meaning: ClassVar[str] = "what one released value of PRAM, k-noise or k-PRAM reveals about the true one"

    shift: float = fields.above_zero(1.0)

    def recipe(self) -> Any:
        """Return the figure of the regions."""
        return draws("dpcore.charts.disclosure:protection_region_figure", self.plan, **self.options("shift"))

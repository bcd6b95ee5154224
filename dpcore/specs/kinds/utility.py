"""A query with its mechanism on some data: the error of its answers, its region, one release, and its bounds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from dpcore.core.errors import DomainError
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import File, Method, Variable, call, draws
from dpcore.utility import pair
from dpcore.utility.bounds import SIDES
from dpcore.utility.reading import OTHERS, OUTSIDE

OF_A_FILE = ("column", "delimiter", "outside", "categories", "others")


@dataclass(frozen=True, kw_only=True)
class QueryDrawer(Drawer):
    """A query with its mechanism."""

    utility: str = fields.text(words="a name that dpcore utility --list lists")
    parameters: dict[str, Any] = fields.mapping()

    @property
    def query(self) -> Variable:
        """The pair of query and mechanism."""
        return Variable("query", call("dpcore.utility:pair", self.utility, **self.parameters))

    def about(self) -> dict[str, Any]:
        """Return the parameters of the pair as well, with their defaults."""
        return {**super().about(), "parameters": asdict(pair(self.utility, **self.parameters))}


@dataclass(frozen=True, kw_only=True)
class ErrorDrawer(QueryDrawer):
    """The error of a query's answers."""

    moves: str | None = fields.text(default=None)
    measure: str | None = fields.text(default=None)

    def errors(self, data: Any, releases: int | None, seed: int | None) -> Any:
        """Return the figure of the error on some data as one parameter changes."""
        options = {"parameter": self.moves, "measure": self.measure, "releases": releases, "seed": seed}
        return draws("dpcore.charts.pairs:pair_figure", self.query, data, **options)


@dataclass(frozen=True, kw_only=True)
class DataDrawer(QueryDrawer):
    """A query on a sample, on a column of a file, or on made-up data."""

    uses_files: ClassVar[bool] = True

    sample: str | None = fields.text(default=None, words="a sample such as ages.age")
    file: str | None = fields.text(default=None, words="a CSV file")
    delimiter: str | None = fields.text(default=None, words="what separates the fields of the file")
    column: str | None = fields.text(default=None, words="a column of the file; its first by default")
    n: int | None = fields.integer(None, low=1)
    lower: float | None = fields.number(None)
    upper: float | None = fields.number(None)
    outside: str = fields.choice(*OUTSIDE)
    categories: str | None = fields.text(default=None, words="answers, separated by commas")
    others: str = fields.choice(*OTHERS)
    folder: Path = field(default_factory=Path)

    def __post_init__(self) -> None:
        """Check that at most one source is given for the data, and that its options fit it."""
        if self.file is not None and self.sample is not None:
            msg = "The data are either a sample or a file; give one of them."
            raise DomainError(msg)
        described = self.options(*OF_A_FILE) if self.file is None else {}
        if described:
            msg = f"{next(iter(described))} describes a file; name the file with file."
            raise DomainError(msg)

    @property
    def reading(self) -> Any:
        """The column of the file, read."""
        sheet = call("dpcore.files.sheet:open_csv", File(str(self.file), self.folder), **self.options("delimiter"))
        options = self.options("lower", "upper", "outside", "categories", "others")
        column = () if self.column is None else (self.column,)
        return call("dpcore.utility.reading:read_column", Variable("sheet", sheet), *column, **options)

    @property
    def data(self) -> Variable:
        """The data."""
        if self.file is not None:
            return Variable("data", self._part(Method(self.reading, "dataset"), n=self.n))
        bounds = {"low": self.lower, "high": self.upper}
        if self.sample is not None:
            return Variable("data", call("dpcore.utility.samples:sample", self.sample, n=self.n, **bounds))
        example = Method(self.query, "example", () if self.n is None else (self.n,))
        return Variable("data", self._part(example, **bounds))

    def _part(self, data: Any, **cut: Any) -> Any:
        """Return a part of the data, or all of them."""
        used = any(value is not None for value in cut.values())
        return call("dpcore.utility.samples:part", data, **cut) if used else data


@enter
@dataclass(frozen=True, kw_only=True)
class UtilityDrawer(DataDrawer, ErrorDrawer):
    """The error of answers as a parameter changes."""

    kind: ClassVar[str] = "utility"
    meaning: ClassVar[str] = "the error of a query with its mechanism, closed form beside simulation"

    releases: int | None = fields.integer(None, high=10**6)
    seed: int | None = fields.integer(None)

    def recipe(self) -> Any:
        """Return the figure of the pair on its data."""
        return self.errors(self.data, self.releases, self.seed)


@enter
@dataclass(frozen=True, kw_only=True)
class UtilityRegionDrawer(DataDrawer):
    """The region of a query with its mechanism."""

    kind: ClassVar[str] = "utility_region"
    meaning: ClassVar[str] = (
        "the privacy region of a query with its mechanism: for all data, for these data, and as stated"
    )

    def recipe(self) -> Any:
        """Return the figure of the regions."""
        return draws("dpcore.charts.pairs:pair_region_figure", self.query, self.data)


@enter
@dataclass(frozen=True, kw_only=True)
class ReleaseDrawer(DataDrawer):
    """One release."""

    kind: ClassVar[str] = "release"
    meaning: ClassVar[str] = "one simulated release of a query with its mechanism, beside the true answer"

    seed: int | None = fields.integer(None)

    def recipe(self) -> Any:
        """Return the figure of the release."""
        return draws("dpcore.charts.releases:release_figure", self.query, self.data, seed=self.seed)


@enter
@dataclass(frozen=True, kw_only=True)
class BoundsDrawer(DataDrawer):
    """The error as a public bound moves."""

    kind: ClassVar[str] = "bounds"
    meaning: ClassVar[str] = "the error of a query as one public bound of its data moves: bias, noise and their total"

    side: str = fields.choice(*SIDES)
    measure: str | None = fields.text(default=None)

    def recipe(self) -> Any:
        """Return the figure of the trade-off."""
        options = {"side": self.side, "measure": self.measure}
        return draws("dpcore.charts.bounds:bound_figure", self.query, self.data, **options)

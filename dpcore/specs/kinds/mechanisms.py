"""One answer: its noise, its error, and the live charts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from dpcore.charts.live import FAMILIES, SLIDERS
from dpcore.core.errors import DomainError
from dpcore.language import parse
from dpcore.mechanisms.base import Mechanism
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import File, Method, Variable, call, draws
from dpcore.utility import pair


@enter
@dataclass(frozen=True, kw_only=True)
class NoiseDrawer(Drawer):
    """The densities of one noisy answer and the attacker's threshold."""

    kind: ClassVar[str] = "noise"
    meaning: ClassVar[str] = "the noise of a mechanism on two neighbouring datasets, and the attacker's threshold"

    mechanism: str = fields.expression()
    rate: float | None = fields.rate()
    threshold: float | None = fields.number(None)
    window: tuple[float, ...] | None = fields.numbers(None)
    without: float | None = fields.number(None)
    observed: float | None = fields.number(None)

    def __post_init__(self) -> None:
        """Check that it is a mechanism and that at most one test is given."""
        if not isinstance(parse(self.mechanism), Mechanism):
            msg = f"mechanism must be a mechanism with noise, such as laplace(1), got {self.mechanism!r}."
            raise DomainError(msg)
        if self.rate is not None and self.threshold is not None:
            msg = "rate and threshold say the same in two ways; give one of them."
            raise DomainError(msg)
        if self.window is not None and len(self.window) != 2:
            msg = f"window is the smallest and the largest answer, got {len(self.window)} numbers."
            raise DomainError(msg)

    def recipe(self) -> Any:
        """Return the noise figure at one test."""
        mechanism = call("dpcore.language:parse", self.mechanism)
        pair = call("dpcore.audit.threshold:pair_of", mechanism, without=self.without)
        if self.threshold is not None:
            test = Method(pair, "at", (self.threshold,))
        else:
            test = Method(pair, "at_rate", (0.05 if self.rate is None else self.rate,))
        return draws("dpcore.charts.noise:noise_figure", test, window=self.window, observed=self.observed)


@dataclass(frozen=True, kw_only=True)
class ErrorDrawer(Drawer):
    """A query with its mechanism, and the error of its answers."""

    utility: str = fields.text(words="a name that dpcore utility --list lists")
    parameters: dict[str, Any] = fields.mapping()
    moves: str | None = fields.text(default=None)
    measure: str | None = fields.text(default=None)

    @property
    def query(self) -> Variable:
        """The pair of query and mechanism."""
        return Variable("query", call("dpcore.utility:pair", self.utility, **self.parameters))

    def errors(self, data: Any, releases: int | None, seed: int | None) -> Any:
        """Return the figure of the error on some data as one parameter changes."""
        options = {"parameter": self.moves, "measure": self.measure, "releases": releases, "seed": seed}
        return draws("dpcore.charts.pairs:pair_figure", self.query, data, **options)

    def about(self) -> dict[str, Any]:
        """Return the parameters of the pair as well, with their defaults."""
        return {**super().about(), "parameters": asdict(pair(self.utility, **self.parameters))}


@enter
@dataclass(frozen=True, kw_only=True)
class UtilityDrawer(ErrorDrawer):
    """The error of answers as a parameter changes."""

    kind: ClassVar[str] = "utility"
    meaning: ClassVar[str] = "the error of a query with its mechanism, closed form beside simulation"
    uses_files: ClassVar[bool] = True

    releases: int | None = fields.integer(None, high=10**6)
    seed: int | None = fields.integer(None)
    file: str | None = fields.text(default=None, words="a CSV file")
    column: str | None = fields.text(default=None)
    lower: float | None = fields.number(None)
    upper: float | None = fields.number(None)
    categories: str | None = fields.text(default=None, words="answers, separated by commas")
    folder: Path = field(default_factory=Path)

    def recipe(self) -> Any:
        """Return the figure of the pair on its example data or on a file."""
        options = self.options("column", "lower", "upper", "categories")
        if self.file is None:
            if options:
                msg = f"{next(iter(options))} describes a file; name the file with file."
                raise DomainError(msg)
            data: Any = Method(self.query, "example", ())
        else:
            data = call("dpcore.specs.helpers:dataset_of", File(self.file, self.folder), **options)
        return self.errors(data, self.releases, self.seed)


@enter
@dataclass(frozen=True, kw_only=True)
class LiveDrawer(Drawer):
    """Curves with sliders that work in the browser."""

    kind: ClassVar[str] = "live"
    meaning: ClassVar[str] = "curves with sliders for ε, δ, η and μ that work in the page itself"

    families: tuple[str, ...] = fields.choices(lambda: tuple(FAMILIES), default=("dp",))
    view: str = fields.choice("region", "profile")
    epsilon: float | None = fields.number(None, low=SLIDERS["epsilon"].low, high=SLIDERS["epsilon"].high)
    delta: float | None = fields.number(None, low=0.0, high=SLIDERS["delta"].high)
    eta: float | None = fields.rate()
    mu: float | None = fields.number(None, low=SLIDERS["mu"].low, high=SLIDERS["mu"].high)

    def recipe(self) -> Any:
        """Return the live figure."""
        start = {name: getattr(self, name) for name in SLIDERS}
        return draws("dpcore.charts.live:live_figure", list(self.families), view=self.view, **start)

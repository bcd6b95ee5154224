"""k mechanisms by every theorem: as regions, as a table, and as k grows; and the limit they run into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.composition import TITLES
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import Variable, call, draws

NAMES = tuple(TITLES)


def _ways(mechanism: str, k: int, theorems: tuple[str, ...], **options: float | None) -> Variable:
    given = {name: value for name, value in options.items() if value is not None}
    found = call("dpcore.composition:ways", mechanism, k, **given)
    return Variable("found", call("dpcore.specs.helpers:only", found, list(theorems)) if theorems else found)


@enter
@dataclass(frozen=True, kw_only=True)
class CompositionDrawer(Drawer):
    """Every theorem's region of k mechanisms."""

    kind: ClassVar[str] = "composition"
    meaning: ClassVar[str] = "what every composition theorem says about k mechanisms, as regions"

    mechanism: str = fields.expression()
    k: int = fields.integer(low=1)
    theorems: tuple[str, ...] = fields.choices(lambda: NAMES)
    slack: float | None = fields.number(None, low=0.0, high=1.0, low_open=True)
    delta: float | None = fields.number(None, low=0.0, high=1.0)
    axes: str = fields.choice("fdp", "thesis")
    log: bool = fields.flag()
    fill: bool = fields.flag(default=True)

    def recipe(self) -> Any:
        """Return the composition figure."""
        found = _ways(self.mechanism, self.k, self.theorems, slack=self.slack, delta=self.delta)
        options: dict[str, Any] = {"axes": self.axes} if self.axes != "fdp" else {}
        options |= {"log": True} if self.log else {}
        options |= {} if self.fill else {"filled": False}
        return draws("dpcore.charts:composition_figure", found, **options)


@enter
@dataclass(frozen=True, kw_only=True)
class TheoremsDrawer(Drawer):
    """A table of statements under the profiles of every theorem."""

    kind: ClassVar[str] = "theorems"
    meaning: ClassVar[str] = "the (ε, δ) statements of every theorem about k mechanisms, under their profiles"

    mechanism: str = fields.expression()
    k: int = fields.integer(low=1)
    theorems: tuple[str, ...] = fields.choices(lambda: NAMES)
    slack: float | None = fields.number(None, low=0.0, high=1.0, low_open=True)
    delta: float | None = fields.number(None, low=0.0, high=1.0)
    epsilon_max: float | None = fields.number(None, low=0.0, low_open=True)

    def recipe(self) -> Any:
        """Return the profiles with the table of statements."""
        found = _ways(self.mechanism, self.k, self.theorems, slack=self.slack, delta=self.delta)
        figure = draws("dpcore.charts:composition_profile", found, delta=self.delta, epsilon_max=self.epsilon_max)
        return call("dataclasses:replace", figure, table=call("dpcore.composition:statements", found))


@enter
@dataclass(frozen=True, kw_only=True)
class LadderDrawer(Drawer):
    """Epsilon of every theorem as k grows."""

    kind: ClassVar[str] = "ladder"
    meaning: ClassVar[str] = "ε of every theorem as the number of mechanisms grows"

    mechanism: str = fields.expression()
    delta: float = fields.number(1e-6, low=0.0, high=1.0)
    k: tuple[float, ...] | None = fields.numbers(None)
    theorems: tuple[str, ...] = fields.choices(lambda: NAMES)
    mark: int | None = fields.integer(None, low=1)

    def recipe(self) -> Any:
        """Return the ladder figure."""
        counts = {} if self.k is None else {"ks": [int(k) if k == int(k) else k for k in self.k]}
        frame = Variable("frame", call("dpcore.composition:ladder", self.mechanism, self.delta, **counts))
        titles = [TITLES[name] for name in self.theorems] or None
        return draws("dpcore.charts:ladder_figure", frame, delta=self.delta, k=self.mark, titles=titles)


@enter
@dataclass(frozen=True, kw_only=True)
class LimitDrawer(Drawer):
    """k copies beside their Gaussian limit."""

    kind: ClassVar[str] = "limit"
    meaning: ClassVar[str] = "k copies of a mechanism beside their Gaussian limit and its proved band"

    mechanism: str = fields.expression()
    k: int = fields.integer(low=1)
    axes: str = fields.choice("fdp", "thesis")
    log: bool = fields.flag()

    def recipe(self) -> Any:
        """Return the figure of the central limit."""
        row = call("dpcore.composition.convergence:copies", self.mechanism, self.k)
        options: dict[str, Any] = {"axes": self.axes} if self.axes != "fdp" else {}
        options |= {"log": True} if self.log else {}
        return draws("dpcore.charts.central_limit:limit_figure", row, **options)

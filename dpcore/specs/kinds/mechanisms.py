"""One answer: its noise, its error, and the live charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.charts.live import FAMILIES, SLIDERS
from dpcore.core.errors import DomainError
from dpcore.language import parse
from dpcore.mechanisms.base import Mechanism
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import Method, call, draws


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

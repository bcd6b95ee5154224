"""Laplace noise cut to the interval of possible answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.domains import REAL
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.core.registry import SCALE, SENSITIVITY, Oracle, Parameter, register
from dpcore.curves.bounded_laplace import BoundedLaplaceCurve
from dpcore.mechanisms.base import SLIGHTLY, Claim, Mechanism, TwoAnswers, check_noise
from dpcore.mechanisms.law import Law
from dpcore.regions.guarantees import DP, three_point
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray

LOWER = Parameter("lower", low=-1e50, high=1e50, label="lower", meaning="smallest possible answer", example=0.0)
UPPER = Parameter("upper", low=-1e50, high=1e50, label="upper", meaning="largest possible answer", example=10.0)


@register(
    "bounded_laplace",
    title="Laplace noise cut to an interval",
    group="mechanism",
    symbol=r"L^{[\ell,u]}_b",
    formula=r"p(x\mid m)=\frac{e^{-|x-m|/b}}{b\,C(m)},\quad C(m)=2-e^{-(m-\ell)/b}-e^{-(u-m)/b},\ x\in[\ell,u]",
    meaning="Laplace noise conditioned on the answer staying between its bounds; the region covers the worst pair.",
    assumptions="The true answer lies in [lower, upper] and moves by at most the sensitivity.",
    reference="Holohan, Antonatos, Braghin, Mac Aonghusa 2020",
    kind="upper",
    oracles=(
        Oracle(
            (1.0, 0.0, 1.0, 1.0),
            "epsilon",
            0.0,
            1.0,
            1e-6,
            "the only pair is (0, 1): normalisers are equal, the largest loss is sensitivity / scale",
        ),
        Oracle((1.0, 0.0, 60.0, 1.0), "delta", 0.0, 1 - math.exp(-0.5), 1e-8, "a wide interval: the Laplace mechanism"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class BoundedLaplace(Mechanism):
    """Truncated Laplace noise around an answer in [lower, upper]."""

    scale: float = SCALE.field()
    lower: float = LOWER.field()
    upper: float = UPPER.field()
    sensitivity: float = SENSITIVITY.field()
    offered: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the fields and their order."""
        super().__post_init__()
        if self.lower >= self.upper:
            msg = f"lower must be below upper, got {numeral(self.lower)} and {numeral(self.upper)}."
            raise DomainError(msg)

    def _pair(self) -> Curve:
        if math.isinf(self.scale):
            return three_point(0.0, 0.0, 1.0)
        return BoundedLaplaceCurve((self.upper - self.lower) / self.scale, self.sensitivity / self.scale)

    @property
    def law(self) -> CutLaw:
        """Law of the release when the true answer is in the middle of the interval."""
        return CutLaw(self, (self.lower + self.upper) / 2)

    @property
    def move(self) -> float:
        """The sensitivity, at most the whole interval."""
        return min(self.sensitivity, self.upper - self.lower)

    def answers(self, without: float | None = None) -> TwoAnswers:
        """Return the pair of answers at the upper end by default, otherwise from `without` upwards."""
        check_noise(self.text, self.scale)
        start = self.upper - self.move if without is None else float(without)
        note = "The picture shows the pair of answers at the upper end; the region covers every pair in the interval."
        return TwoAnswers(CutLaw(self, start), CutLaw(self, start + self.move), note=note)

    def attack(self) -> None:
        """Return nothing: no single pair of answers is the worst at every rate, so audits draw from the curve."""
        return

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the density of the release at x when the true answer is `shift`."""
        return CutLaw(self, shift).density(x)

    def survival(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the tail inside the interval."""
        return CutLaw(self, shift).above(x)

    def claim(self) -> Claim:
        """Return the epsilon of the noise before the cut, a claim that can be false."""
        epsilon = self.sensitivity / self.scale
        low, high = (float(bound[0]) for bound in self.delta_bounds(np.array([epsilon * (1 + SLIGHTLY)])))
        holds = True if high <= 0.0 else False if low > 0.0 else None
        if holds is False:
            loss = outward(self.curve.max_loss, 4, up=False)
            words = (
                f"The claim fails: noise of scale sensitivity / ε gives ε = {nearest(epsilon, 5)} only while nothing is cut. After the "
                f"cut to the interval the largest loss is {loss} (rounded down)."
            )
        else:
            words = f"The claim of ε = {nearest(epsilon, 5)} holds: the interval leaves no worse pair of answers."
        return Claim(DP(epsilon), holds, words)


class CutLaw(Law):
    """Laplace noise around one true answer, cut to the interval."""

    symmetric = False
    log_concave = True

    def __init__(self, mechanism: BoundedLaplace, answer: float) -> None:
        self.scale, self.low, self.high = mechanism.scale, mechanism.lower, mechanism.upper
        self.centre = REAL.but(name="The true answer", low=self.low, high=self.high).check(answer)
        sides = (-math.expm1(-(end / self.scale)) for end in (answer - self.low, self.high - answer))
        self._norm = sum(sides)

    def density(self, x: FloatArray) -> FloatArray:
        """Return the density inside the interval, 0 outside."""
        x = np.asarray(x, dtype=np.float64)
        inside = (x >= self.low) & (x <= self.high)
        if math.isinf(self.scale):
            return np.where(inside, 1.0 / (self.high - self.low), 0.0)
        return np.where(inside, np.exp(-np.abs(x - self.centre) / self.scale) / (self.scale * self._norm), 0.0)

    def above(self, x: FloatArray) -> FloatArray:
        """Return the tail inside the interval."""
        x = np.clip(np.asarray(x, dtype=np.float64), self.low, self.high)
        if math.isinf(self.scale):
            return np.asarray((self.high - x) / (self.high - self.low), dtype=np.float64)
        return self._beyond_distance(x - self.centre, self.high - self.centre)

    def below(self, x: FloatArray) -> FloatArray:
        """Return the lower tail inside the interval: the upper one of the mirrored interval."""
        x = np.clip(np.asarray(x, dtype=np.float64), self.low, self.high)
        if math.isinf(self.scale):
            return np.asarray((x - self.low) / (self.high - self.low), dtype=np.float64)
        return self._beyond_distance(self.centre - x, self.centre - self.low)

    def _beyond_distance(self, distance: FloatArray, end: float) -> FloatArray:
        """Return the probability of more than `distance` from the answer towards an end at distance `end`."""
        b = self.scale
        far = np.exp(-np.maximum(distance, 0.0) / b) - np.exp(-end / b)
        near = -np.expm1(-np.maximum(-distance, 0.0) / b)
        return np.asarray((far + near) / self._norm, dtype=np.float64)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return releases: a side of the answer, and a distance cut to it.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        if math.isinf(self.scale):
            return rng.uniform(self.low, self.high, size)
        left, right = ((self.centre - self.low) / self.scale, (self.high - self.centre) / self.scale)
        uniform = rng.random(size)
        even = left == right
        up = rng.choice([-1.0, 1.0], size) > 0 if even else rng.random(size) * self._norm < -math.expm1(-right)
        distance = -np.log1p(uniform * np.where(up, math.expm1(-right), math.expm1(-left))) * self.scale
        return np.asarray(self.centre + np.where(up, distance, -distance), dtype=np.float64)

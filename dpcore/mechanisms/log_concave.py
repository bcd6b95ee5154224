r"""Any log-concave noise, described by Python functions.

With the distribution function F of the noise and an answer that moves by D, the likelihood ratio rises with the output, so
the best test rejects above a threshold and

.. math:: \beta(\alpha) = F(F^{-1}(1-\alpha) - D).

That is one direction. For asymmetric noise the other one is its inverse, and since the sign of the move may differ from
query to query, the closure of both is published and composed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.registry import SENSITIVITY, value_text
from dpcore.curves.combined import ByBeta
from dpcore.regions.algebra import Loose
from dpcore.regions.custom import CustomRegion

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import Bounds, Curve, FloatArray

    BoolArray = NDArray[np.bool_]

Function = Callable[[Any], Any]

_RELATIVE = 1e-12  # relative error that every cdf is assumed to have: a few library calls; brackets are wider by it
_ABSOLUTE = 1e-15  # its absolute error above 1/2, where doubles are spaced by 1.1e-16
_WORST = 1e-6  # a quantile that misses cdf by more is taken for a mistake; up to it, brackets are widened by 4 times the miss
# The first fence whose gains are certainly lower ends the search. It is too far by at most this factor: there a gain is lower by
# the square of the factor times the error of F, which is the width of a bracket near the largest loss, where delta is small.
_WIDER, _FENCES = 2.0**0.5, 39
# Where the functions are checked: 1 % steps in the middle and 5 per power of ten in both tails.
_RATES = np.concatenate((np.geomspace(1e-6, 0.04, 25), np.linspace(0.05, 0.95, 91), 1 - np.geomspace(0.04, 1e-6, 25)))


def log_concave(
    cdf: Function,
    quantile: Function,
    sensitivity: float = 1.0,
    label: Any = "log-concave noise",
    *,
    symmetric: bool = False,
    survival: Function | None = None,
    survival_quantile: Function | None = None,
) -> LogConcaveRegion:
    """Return the region of an answer plus log-concave noise; it can be drawn and simulated.

    Parameters
    ----------
    cdf : Function
        F(x) = P(noise <= x), of a number or an array; assumed right to 1e-12 of its value, and to 1e-15 above 1/2.
    quantile : Function
        F^-1(u) for u in [0, 1]; +-inf at the ends of unbounded noise.
    sensitivity : float, default 1
        How far the answer moves, in (0, inf).
    label : object, default "log-concave noise"
        The name of the region; it has no expression and cannot be linked.
    symmetric : bool, default False
        Whether the noise is symmetric around its median; then small rates keep all their digits.
    survival, survival_quantile : Function, optional
        1 - F and F^-1(1 - u) as separate functions, for the digits of asymmetric noise.

    Returns
    -------
    LogConcaveRegion
        The region.

    Raises
    ------
    DomainError
        If F does not rise from 0 to 1, the quantile is not its inverse, the noise is not log-concave (the region is not
        convex) or not symmetric although stated so, each checked on a grid.

    References
    ----------
    Dong, Roth, Su (2022), Proposition A.3: log-concave noise and its trade-off function.
    """
    move = SENSITIVITY.check(sensitivity)
    if not isinstance(label, str) or not label.strip():
        msg = f"label must be a text, got {value_text(label)}."
        raise DomainError(msg)
    noise = Noise(cdf, quantile, survival, survival_quantile, symmetric=symmetric)
    curve = Shifted(noise, move)
    _check_convex(curve, label)
    return LogConcaveRegion(curve, label) if curve.symmetric else AsymmetricRegion(curve, label)


@dataclass(frozen=True, eq=False, repr=False)
class LogConcaveRegion(CustomRegion):
    """The region of an answer plus the noise of a `Shifted` curve."""

    source: Shifted

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the density of the noisy answer when the true one is `shift`: the slope of F, by a central difference.

        The step is 1e-4 of the distance between the quartiles; relative error about 1e-8, more where log F bends sharply.
        """
        return self.source.noise.slope(np.asarray(x, dtype=np.float64) - shift)

    def survival(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the probability that the noisy answer exceeds x when the true answer is `shift`."""
        return self.source.noise.tail(np.asarray(x, dtype=np.float64) - shift)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noise: F^-1 of uniform numbers.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        return self.source.noise.draws(np.maximum(rng.random(size), 2.0**-54))


@dataclass(frozen=True, eq=False, repr=False)
class AsymmetricRegion(LogConcaveRegion, Loose):
    """The region of an answer plus asymmetric noise: the closure composes, one fixed sign of all moves is attained."""

    why_loose: ClassVar[str] = "the sign of the move may differ from query to query"

    def attained(self) -> Curve | None:
        """Return the pair in which every answer moves up."""
        return self.source


class Noise:
    """The functions of a noise, each rounded down or up by its error."""

    def __init__(
        self,
        cdf: Function,
        quantile: Function,
        survival: Function | None,
        survival_quantile: Function | None,
        *,
        symmetric: bool,
    ) -> None:
        self._cdf = _vectorised(cdf, "cdf")
        self._quantile = _vectorised(quantile, "quantile")
        self.symmetric = bool(symmetric)
        self.centre = float(self._call(self._quantile, np.array([0.5]), "quantile")[0])
        self._survival = None if survival is None else _vectorised(survival, "survival")
        self._upper = None if survival_quantile is None else _vectorised(survival_quantile, "survival_quantile")
        self.accuracy = _RELATIVE
        self.accuracy = max(_RELATIVE, 4 * self._check())

    @staticmethod
    def _call(function: Function, x: FloatArray, name: str) -> FloatArray:
        with np.errstate(all="ignore"):
            value = np.asarray(function(x), dtype=np.float64)
        if value.shape != x.shape or np.isnan(value).any():
            at = x[np.isnan(value)][:1] if value.shape == x.shape else x[:1]
            msg = f"{name} must give one number for each number, got {value_text(value)} at {value_text(at.tolist())}."
            raise DomainError(msg)
        return value

    def _check(self) -> float:
        """Return by how much cdf and quantile fail to be inverse to each other, relative to the smaller tail."""
        x = self._call(self._quantile, _RATES, "quantile")
        back = self._call(self._cdf, x, "cdf")
        if np.any(np.diff(x) < 0) or np.any(np.diff(back) < 0) or back.min() < 0 or back.max() > 1:
            msg = "cdf and quantile must rise, and cdf must stay in [0, 1]."
            raise DomainError(msg)
        off = np.abs(back - _RATES) / np.minimum(_RATES, 1 - _RATES)
        worst = int(np.argmax(off))
        if off[worst] > _WORST:
            msg = (
                f"quantile must be the inverse of cdf to {nearest(_WORST)}; "
                f"cdf(quantile({nearest(_RATES[worst])})) is {nearest(back[worst])}."
            )
            raise DomainError(msg)
        if self.symmetric:
            self._check_mirror(x, back)
        if self._survival is not None:
            self._check_other(1 - self._call(self._survival, x, "survival") - back, "1 - survival", "cdf")
        if self._upper is not None:
            again = self._call(self._cdf, self._call(self._upper, _RATES, "survival_quantile"), "cdf")
            self._check_other(again - (1 - _RATES), "cdf(survival_quantile(u))", "1 - u")
        return float(np.where(_RATES <= 0.5, off, np.abs(back - _RATES) - _ABSOLUTE).max())

    def _check_mirror(self, x: FloatArray, back: FloatArray) -> None:
        mirrored = self._call(self._cdf, 2 * self.centre - x, "cdf")
        worst = int(np.argmax(np.abs(mirrored - (1 - back))))
        if abs(mirrored[worst] - (1 - back[worst])) > 1e-9:
            msg = (
                f"The noise is not symmetric around its median {nearest(self.centre)}: cdf is {nearest(back[worst])} at {nearest(x[worst])} "
                f"and {nearest(mirrored[worst])} at the mirrored place; leave symmetric out."
            )
            raise DomainError(msg)

    @staticmethod
    def _check_other(gap: FloatArray, first: str, second: str) -> None:
        if np.abs(gap).max() > 1e-9:
            msg = f"{first} must equal {second}; they differ by {nearest(np.abs(gap).max(), 2)}."
            raise DomainError(msg)

    def below(self, x: FloatArray, side: int) -> FloatArray:
        """Return F(x), low (side 0) or high (side 1)."""
        return self._widened(self._call(self._cdf, x, "cdf"), np.isinf(x), side)

    def above(self, x: FloatArray, side: int) -> FloatArray:
        """Return 1 - F(x), low or high."""
        if self.symmetric:
            return self.below(2 * self.centre - x, side)
        if self._survival is not None:
            return self._widened(self._call(self._survival, x, "survival"), np.isinf(x), side)
        return np.asarray(1.0 - self.below(x, 1 - side), dtype=np.float64)

    def _widened(self, value: FloatArray, sure: BoolArray, side: int) -> FloatArray:
        """Return the value moved down or up by its error, except where it is sure."""
        off = np.where(value <= 0.5, self.accuracy * value, self._absolute)
        moved = np.minimum(value + off, 1.0) if side else np.maximum(value - off, 0.0)
        return np.where(sure, value, moved)

    @property
    def _absolute(self) -> float:
        return max(_ABSOLUTE, self.accuracy if self.accuracy > _RELATIVE else 0.0)

    def tail(self, x: FloatArray) -> FloatArray:
        """Return 1 - F(x), the middle of its two sides."""
        return np.asarray(0.5 * (self.above(x, 0) + self.above(x, 1)), dtype=np.float64)

    def slope(self, x: FloatArray) -> FloatArray:
        """Return F' by a central difference, taken on the smaller tail."""
        quarter = self._call(self._quantile, np.array([0.25, 0.75]), "quantile")
        step = 1e-4 * float(quarter[1] - quarter[0])
        low, high = (0.5 * (self.below(x + move, 0) + self.below(x + move, 1)) for move in (-step, step))
        right = self.tail(x - step) - self.tail(x + step)
        return np.asarray(np.maximum(np.where(x > self.centre, right, high - low), 0.0) / (2 * step), dtype=np.float64)

    def draws(self, rate: FloatArray) -> FloatArray:
        """Return F^-1 of the rates."""
        return self._call(self._quantile, rate, "quantile")

    def place_below(self, rate: FloatArray, side: int) -> FloatArray:
        """Return F^-1(rate), low or high."""
        if self.symmetric:
            return self._mirrored(rate, side)
        return self._call(self._quantile, self._widened(rate, _ends(rate), side), "quantile")

    def place_above(self, rate: FloatArray, side: int) -> FloatArray:
        """Return F^-1(1 - rate), low or high."""
        if self.symmetric:
            return np.asarray(2 * self.centre - self._mirrored(rate, 1 - side), dtype=np.float64)
        if self._upper is not None:
            return self._call(self._upper, self._widened(rate, _ends(rate), 1 - side), "survival_quantile")
        return self._call(self._quantile, self._widened(1.0 - rate, _ends(rate), side), "quantile")

    def _mirrored(self, rate: FloatArray, side: int) -> FloatArray:
        """Return F^-1(rate) of symmetric noise from the lower half of F^-1, where a rate has all its digits."""
        upper = rate > 0.5
        tail = np.where(upper, 1.0 - rate, rate)
        off = np.where(upper == bool(side), -self.accuracy, self.accuracy)
        place = self._call(self._quantile, np.minimum(tail * (1.0 + off), 0.5), "quantile")
        return np.asarray(np.where(upper, 2 * self.centre - place, place), dtype=np.float64)


def _ends(rate: FloatArray) -> BoolArray:
    return np.asarray((rate == 0) | (rate == 1), dtype=np.bool_)


class Shifted(ByBeta):
    """Noise against the same noise moved up by `move` (or, mirrored, down)."""

    def __init__(self, noise: Noise, move: float, *, mirrored: bool = False) -> None:
        self.noise, self.move, self.mirrored = noise, move, mirrored
        self.symmetric = noise.symmetric
        self.q_inf, self.p_inf = (float(self._power(np.zeros(1), 0, flip)[0]) for flip in (False, True))
        self.method = "log-concave noise"

    def _power(self, alpha: FloatArray, side: int, flip: bool = False) -> FloatArray:
        """Return 1 - F(F^-1(1 - alpha) - D), or F(F^-1(alpha) + D) for the mirrored noise."""
        if self.mirrored != flip:
            return self.noise.below(self.noise.place_below(alpha, side) + self.move, side)
        return self.noise.above(self.noise.place_above(alpha, 1 - side) - self.move, side)

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the true-positive rate."""
        alpha = np.asarray(alpha, dtype=np.float64)
        return self._power(alpha, 0), self._power(alpha, 1)

    def _beta(self, alpha: FloatArray, side: int) -> FloatArray:
        if self.mirrored:
            return self.noise.above(self.noise.place_below(alpha, 1 - side) + self.move, side)
        return self.noise.below(self.noise.place_above(alpha, side) - self.move, side)

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return F(F^-1(1 - alpha) - D)."""
        alpha = np.asarray(alpha, dtype=np.float64)
        return self._beta(alpha, 0), self._beta(alpha, 1)

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the bracket by duality."""
        with np.errstate(over="ignore"):
            return super().delta_bounds(epsilon)

    def inverse(self) -> Shifted:
        """Return the pair exchanged: the noise mirrored."""
        return self if self.symmetric else Shifted(self.noise, self.move, mirrored=not self.mirrored)

    def _fence(self, u: FloatArray, epsilon: FloatArray) -> Bounds:
        """Bracket the largest gain around -log alpha = u; the bounds of the power include the rounding of the functions.

        A fence with a reach for each side is the closer one beside a kink, one with the same reach where the gain is smooth or the
        optimum is at the edge.
        """
        lower, upper = super()._fence(u, epsilon)
        below, above = self._even_fence(u, epsilon)
        lower = np.maximum(lower, below)
        return lower, np.asarray(np.clip(np.fmin(upper, above), lower, 1.0), dtype=np.float64)

    def _even_fence(self, u: FloatArray, epsilon: FloatArray) -> Bounds:
        """Return the same from the first pair of points, equally far on both sides, whose gains are certainly lower."""
        floor = self.q_inf
        lower = np.maximum(self._gain(u, epsilon, 0), floor)
        upper = np.full(u.size, np.nan)
        reach = np.full(u.size, 1e-6)
        for _ in range(_FENCES):
            points = [u + reach, u, np.maximum(u - reach, 0.0)]
            safe = [self._gain(x, epsilon, 0) for x in points]
            free = [self._gain(x, epsilon, 1) for x in points]
            x = [np.exp(-t) for t in points]
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                left = free[1] + (free[1] - safe[2]) / (x[2] - x[1]) * (x[1] - x[0])
                right = free[1] + (free[1] - safe[0]) / (x[1] - x[0]) * (x[2] - x[1])
            ceiling = np.maximum(free[1], np.maximum(left, right))
            fenced = (safe[1] >= free[0]) & (safe[1] >= free[2]) & np.isfinite(ceiling)
            upper = np.where(np.isnan(upper) & fenced, ceiling, upper)
            lower = np.maximum(lower, np.maximum.reduce(safe))
            if not np.isnan(upper).any():
                break
            reach = np.minimum(reach * _WIDER, 0.5)
        # an optimum at the very edge: power(alpha) <= power(edge) there, and delta <= q_inf + the rest
        edge = self._edge(u, epsilon)
        upper = np.where(np.isnan(upper), edge, upper)
        return lower, np.asarray(np.clip(upper, lower, 1.0), dtype=np.float64)

    def _edge(self, u: FloatArray, epsilon: FloatArray) -> FloatArray:
        """Return a ceiling for an optimum that could not be fenced in: the largest power of any alpha up to this one."""
        top = self._power(np.exp(-np.maximum(u - 0.5, 0.0)), 1)
        return np.asarray(np.where(epsilon == 0.0, top, np.maximum(top, self.q_inf)), dtype=np.float64)


def _vectorised(function: Any, name: str) -> Function:
    """Return the function on arrays, wrapped if it takes single numbers only."""
    if not callable(function):
        msg = f"{name} must be a function of one number, got {value_text(function)}."
        raise DomainError(msg)
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(function(np.array([0.25, 0.5])), dtype=np.float64)
    except (TypeError, ValueError):
        return np.vectorize(function, otypes=[np.float64])
    return function if value.shape == (2,) else np.vectorize(function, otypes=[np.float64])


def _check_convex(curve: Shifted, label: str) -> None:
    """Refuse noise whose threshold tests are not the best ones: its F(F^-1(1 - a) - D) is not convex."""
    beta = np.mean(curve.beta_bounds(_RATES), axis=0)
    slope = np.diff(beta) / np.diff(_RATES)
    room = 1e-6 * (1 + np.abs(slope[1:])) + 4 * curve.noise.accuracy / np.diff(_RATES)[1:]
    worst = int(np.argmax(slope[:-1] - slope[1:] - room))
    if slope[worst] - slope[worst + 1] > room[worst]:
        msg = (
            f"The noise of {label} is not log-concave: its trade-off bends the wrong way near alpha = "
            f"{nearest(_RATES[worst + 1], 3)}."
        )
        raise DomainError(msg)

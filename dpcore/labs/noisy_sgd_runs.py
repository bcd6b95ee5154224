r"""Runs of noisy gradient descent on ridge regression.

Ridge regression needs bounded gradients for any privacy at all. Here the residual is clipped, which makes the loss a
Huber loss plus :math:`\lambda\theta_1^2/2`: still convex and smooth, with the ridge solution as its minimum as long as
no residual there reaches the clip.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import numeral
from dpcore.core.registry import Parameter
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.labs.noisy_sgd import Schedule

    FloatArray = NDArray[np.float64]

PENALTY = Parameter("penalty", low=0.0, high=100.0, label="λ", meaning="weight of the squared slope")
_MOVES_AT_ONCE = 200_000  # steps times runs between two checks of the clock
_RESIDUALS_AT_ONCE = 1_000_000  # 8 MB per array


class Objective(Protocol):
    """A sum of convex, smooth losses with a known minimum."""

    @property
    def dimension(self) -> int:
        """Number of parameters."""

    @property
    def records(self) -> int:
        """Number of records."""

    @property
    def smoothness(self) -> float:
        """L; rates up to 1/(4L) are covered by the convergence bound."""

    @property
    def sensitivity(self) -> float:
        """D: how far one gradient can move in l1 norm when its record is replaced."""

    @property
    def best(self) -> FloatArray:
        """The minimum in closed form."""

    @property
    def spread(self) -> float:
        """Mean squared norm of the gradients of single records at the minimum."""

    def gradients(self, parameters: FloatArray, index: NDArray[np.int64]) -> FloatArray:
        """Return the gradients of the chosen records, one row per run."""

    def excess(self, parameters: FloatArray) -> FloatArray:
        """Return by how much the mean loss exceeds its minimum, one number per run."""


@dataclass(frozen=True)
class Ridge:
    """A line through points (v, u), both in [-1, 1], with residuals clipped and a penalty on the slope."""

    v: tuple[float, ...]
    u: tuple[float, ...]
    penalty: float = 0.1
    clip: float = 1.0

    def __post_init__(self) -> None:
        """Check ranges, and that clipping leaves the minimum where the closed form puts it."""
        object.__setattr__(self, "penalty", PENALTY.check(self.penalty))
        good = len(self.v) == len(self.u) >= 2 and all(-1.0 <= x <= 1.0 for x in (*self.v, *self.u))
        if not good:
            msg = "v and u must be equally many numbers in [-1, 1], at least two."
            raise DomainError(msg)
        widest = float(np.abs(self.residuals(self.best[None])).max())
        if not widest < self.clip:
            msg = f"clip must be above the largest residual of the ridge line, {outward(widest, 6)}, got {numeral(self.clip)}."
            raise DomainError(msg)

    dimension = 2

    @property
    def records(self) -> int:
        """Number of points."""
        return len(self.v)

    @Lazy
    def points(self) -> tuple[FloatArray, FloatArray]:
        """The two coordinates as arrays."""
        return np.array(self.v), np.array(self.u)

    @property
    def smoothness(self) -> float:
        """At most 1 + v^2 + penalty."""
        return 2.0 + self.penalty

    @property
    def sensitivity(self) -> float:
        """A clipped residual c gives the gradient c (1, v): two of them differ by at most 4 clip in l1 norm."""
        return 4.0 * self.clip

    @Lazy
    def best(self) -> FloatArray:
        r"""The ridge line (7.9): slope :math:`S_{uv}/(S_{vv}+\lambda)` with 1/n moments, through the mean point."""
        v, u = self.points
        slope = float(np.mean((v - v.mean()) * (u - u.mean())) / (v.var() + self.penalty))
        return np.array([float(u.mean() - slope * v.mean()), slope])

    def residuals(self, parameters: FloatArray) -> FloatArray:
        """Return u - intercept - slope v, one row per run."""
        v, u = self.points
        return np.asarray(u - parameters[:, :1] - parameters[:, 1:] * v, dtype=np.float64)

    @property
    def spread(self) -> float:
        """Mean squared norm of the gradients at the ridge line."""
        rows = self.gradients(np.repeat(self.best[None], self.records, axis=0), np.arange(self.records))
        return float(np.mean(np.sum(rows * rows, axis=1)))

    def gradients(self, parameters: FloatArray, index: NDArray[np.int64]) -> FloatArray:
        """Return -clipped residual (1, v) + (0, penalty slope)."""
        v, u = self.points[0][index], self.points[1][index]
        pull = np.clip(u - parameters[:, 0] - parameters[:, 1] * v, -self.clip, self.clip)
        return np.column_stack([-pull, -pull * v + self.penalty * parameters[:, 1]])

    def value(self, parameters: FloatArray) -> FloatArray:
        """Return the mean Huber loss plus penalty, one number per run; some runs at a time, to keep memory small."""
        huber = np.empty(len(parameters))
        chunk = max(1, _RESIDUALS_AT_ONCE // self.records)
        for start in range(0, len(parameters), chunk):
            checkpoint(start / len(parameters))
            size = np.abs(self.residuals(parameters[start : start + chunk]))
            each = np.where(size <= self.clip, size * size / 2.0, self.clip * (size - self.clip / 2.0))
            huber[start : start + chunk] = each.mean(axis=1)
        return np.asarray(huber + self.penalty * parameters[:, 1] ** 2 / 2.0, dtype=np.float64)

    def excess(self, parameters: FloatArray) -> FloatArray:
        """Return the mean loss above that of the ridge line."""
        least = self.value(self.best[None])
        return np.asarray(self.value(parameters) - least, dtype=np.float64)


def points(n: int, rng: Generator, penalty: float = 0.1) -> Ridge:
    """Return n made-up points about the line 0.2 + 0.5 v, off by at most 0.2."""
    v = rng.uniform(-1.0, 1.0, n)
    u = 0.2 + 0.5 * v + rng.uniform(-0.2, 0.2, n)
    return Ridge(tuple(v.tolist()), tuple(u.tolist()), penalty)


def run(
    problem: Objective,
    plan: Schedule,
    rng: Generator,
    replications: int,
    marks: Iterable[int],
    *,
    noisy: bool = True,
) -> dict[int, FloatArray]:
    """Return the weighted average of the iterates before step N, from 0, for each N of `marks`; a row per run.

    Parameters
    ----------
    plan : Schedule
        Rates and noise; its `gradient` should be the sensitivity of the problem for its privacy to mean anything.
    marks : iterable of int
        Numbers of steps, each at most `plan.steps`.
    noisy : bool, default True
        False leaves the privacy noise out, to see what it costs.
    """
    most = 2.0 / problem.smoothness
    if plan.rate > most:
        msg = f"rate must be at most {outward(most, 6, up=False)} for this problem, or its steps run away, got {numeral(plan.rate)}."
        raise DomainError(msg)
    stops = set(marks)
    theta = np.zeros((replications, problem.dimension))
    total = np.zeros_like(theta)
    out: dict[int, FloatArray] = {}
    last, often = min(plan.steps, max(stops)), min(500, max(1, _MOVES_AT_ONCE // replications))
    for t in range(last):
        if t % often == 0:
            checkpoint(t / last)
        rate = plan.rates[t]
        total += rate * theta
        if t + 1 in stops:
            out[t + 1] = total / plan.sums[t]
        move = problem.gradients(theta, rng.integers(0, problem.records, replications))
        if noisy:
            move = move + plan.noise[t] * rng.laplace(size=theta.shape)
        theta = theta - rate * move
    return out

"""How far off an answer is: from the exact law of its noise, and from moving values into the bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.kinds import EXACT
from dpcore.mechanisms.law import least
from dpcore.planner.release.choices import ChoiceKind, purpose
from dpcore.planner.release.kinds import CellKind
from dpcore.planner.release.noise import CellNoise
from dpcore.planner.release.plan import MISS

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.mechanisms.law import Law
    from dpcore.planner.release.noise import ChoiceNoise
    from dpcore.planner.release.plan import PlanAnswer, ReleasePlan
    from dpcore.planner.release.table import PlanTable

    FloatArray = NDArray[np.float64]

_DRAWS: Final = 200_000  # gives a standard error of about 0.3 % in a 95 % half-width
_SEED: Final = 95
_ROUNDING: Final = 1e-12  # relative: smaller differences come from adding the same values in two ways
_STRATA: Final = 20_000  # equally likely values of one noise: gives an error of 1e-4 in a half-width
_GRID: Final = 500  # the same for both noises at once, for the mean error


@dataclass(frozen=True, eq=False)
class AnswerError:
    """How far off one answer is.

    Attributes
    ----------
    expected : float
        Mean absolute error of one number, by noise alone.
    halfwidth : float
        One number is off by more than this, by noise alone, in at most 5 of 100 releases.
    halfwidth_all : float
        The same for all numbers of the answer at once.
    kind : str
        ``exact`` from the law of the noise, ``approximate`` if it was integrated or simulated.
    truth, clipped : ndarray
        The true numbers, from the values as they came and from those moved into the bounds.
    """

    expected: float
    halfwidth: float
    halfwidth_all: float
    kind: str
    truth: FloatArray
    clipped: FloatArray

    @property
    def bias(self) -> float:
        """The largest difference that moving values into the bounds makes, with its sign."""
        difference = self.clipped - self.truth
        difference[np.abs(difference) <= _ROUNDING * np.abs(self.truth)] = 0.0
        return float(difference[int(np.argmax(np.abs(difference)))])


def answer_error(plan: ReleasePlan, answer: PlanAnswer, data: PlanTable, noise: CellNoise | ChoiceNoise) -> AnswerError:
    """Return how far off an answer is.

    Parameters
    ----------
    plan : ReleasePlan
        What is public.
    answer : PlanAnswer
        The answer.
    data : PlanTable
        The table.
    noise : CellNoise or ChoiceNoise
        Its noise.
    """
    kind = answer.type
    if isinstance(kind, ChoiceKind):
        mean, wide = kind.errors(plan, answer, data, noise.value)
        return AnswerError(mean, wide, wide, EXACT, kind.truth(plan, answer, data), kind.clipped(plan, answer, data))
    if not isinstance(kind, CellKind) or not isinstance(noise, CellNoise):
        raise TypeError(answer.kind)
    cells, clipped, truth = cell_facts(plan, answer, data)
    law = noise.law
    count = len(kind.labels(plan, answer))
    if cells.size == count:
        factor = kind.per_cell(plan, answer)
        every = 1.0 - (1.0 - MISS) ** (1.0 / count)
        wide, wide_all = factor * law.reach(MISS), factor * law.reach(every)
        return AnswerError(factor * law.absolute_deviation, wide, wide_all, EXACT, truth, clipped)
    if cells.size == 2 and cells.sum() > 0:
        unit = kind.whole(plan, answer)
        mean, wide = (unit * number for number in _share_error(law, cells))
    else:
        errors = np.abs(releases(plan, answer, data, noise, np.random.default_rng(_SEED), _DRAWS) - clipped)[:, 0]
        mean, wide = float(errors.mean()), float(np.quantile(errors, 1.0 - MISS))
    return AnswerError(mean, wide, wide, "approximate", truth, clipped)


def cell_facts(plan: ReleasePlan, answer: PlanAnswer, data: PlanTable) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return an answer's cells, and its numbers from clipped and from original values; computed once per table."""
    kind = answer.type
    if not isinstance(kind, CellKind):
        raise TypeError(answer.kind)

    def make() -> tuple[FloatArray, FloatArray, FloatArray]:
        cells = kind.table(plan, answer, data)
        return cells, kind.estimate(plan, answer, cells), kind.truth(plan, answer, data)

    return data.cached((plan.relation, plan.rows, *purpose(plan, answer)), make)


def _share_error(law: Law, cells: FloatArray) -> tuple[float, float]:
    """Return mean error and 95 % half-width of (U + Z) / (U + V + Z + Z'), clipped to [0, 1], Z and Z' drawn from the law.

    With W = U + V and s = U / W, the share is above s + t exactly if (1 - s - t) Z > t W + (s + t) Z', and below s - t
    exactly if (1 - s + t) Z < -t W + (s - t) Z', where W + Z + Z' > 0; given Z', both are tails of the law. Z' runs
    through equally likely values.
    """
    whole = float(cells.sum())
    s = float(cells[0]) / whole
    other = law.quantile(1.0 - (np.arange(_STRATA) + 0.5) / _STRATA)

    def missed(t: float) -> float:
        chance = 0.0
        if s + t < 1.0:
            chance += float(law.above((t * whole + (s + t) * other) / (1.0 - s - t)).mean())
        if s - t > 0.0:
            chance += float(law.below((-t * whole + (s - t) * other) / (1.0 - s + t)).mean())
        return chance

    wide = least(lambda t: missed(t) <= MISS, 0.0, 1.0)
    values = law.quantile(1.0 - (np.arange(_GRID) + 0.5) / _GRID)
    first, second = np.meshgrid(cells[0] + values, cells[1] + values)
    total = first + second
    shares = np.divide(first, total, out=np.full_like(total, 0.5), where=total > 0)
    return float(np.abs(np.clip(shares, 0.0, 1.0) - s).mean()), wide


def releases(
    plan: ReleasePlan,
    answer: PlanAnswer,
    data: PlanTable,
    noise: CellNoise | ChoiceNoise,
    rng: Generator,
    count: int,
) -> FloatArray:
    """Return simulated releases, one row each; for simulation only."""
    kind = answer.type
    if isinstance(kind, ChoiceKind):
        return kind.draw(plan, answer, data, noise.value, rng, count)[:, None]
    if not isinstance(kind, CellKind) or not isinstance(noise, CellNoise):
        raise TypeError(answer.kind)
    cells = cell_facts(plan, answer, data)[0]
    drawn = np.asarray(noise.law.sample(rng, count * cells.size), dtype=np.float64)
    return kind.estimate(plan, answer, cells + drawn.reshape(count, cells.size))

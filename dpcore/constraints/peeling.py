"""The peeling: the factors of a product one by one, smallest first, from the weights of its levels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.constraints.levels import Levels, Sums
from dpcore.core.effort import checkpoint
from dpcore.core.numerals import nearest

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

    Factors = tuple[tuple[float, int], ...]

FOUND, STOP = "found", "stop"
_WHOLE = 1e-6  # how far a weight may be from a whole number: far above rounding, far below 1
_SURE = 0.3  # error of a weight above which it could belong to another whole number
_MOST_FACTORS = 2_000  # copies of one factor


class Peeled(NamedTuple):
    """The result of one run: factors, the rows of its steps, and what contradicts a product, if anything."""

    factors: Factors
    steps: list[tuple[object, ...]]
    against: str
    sure: bool  # whether rounding errors are too small to change a weight by one copy


def peel(levels: Levels) -> Peeled:
    """Find the factors one by one, smallest first, until nothing is left or a contradiction appears.

    If the weights are too uncertain, one factor is tried for the whole rest; the deltas then decide.
    """
    factors: list[tuple[float, int]] = []
    steps: list[tuple[object, ...]] = []
    sums, rest, sure, against = Sums.empty(), levels.top, True, ""
    while not against:  # explains one more level per round, or finds a contradiction
        checkpoint(1.0 - rest / levels.top)
        explained, missing = sums.at(levels.drop, levels.same)
        at = _first_unexplained(levels, explained)
        sure = sure and bool(np.all(levels.error[: levels.error.size if at is None else at + 1] <= _SURE))
        if missing.size and (at is None or missing[0] < levels.drop[at] - levels.same):
            drop, ways = float(missing[0]), float(sums.at(missing[:1], levels.same)[0][0])
            loss = levels.top - 2.0 * drop
            against = f"The factors found need a corner at loss {nearest(loss)}; the region has none there."
            steps.append((len(steps) + 1, loss, drop, 0.0, ways, -ways, drop, 0, rest, f"{STOP}: {against}"))
            break
        if at is None:
            break
        level = Level(levels.top, *(float(v[at]) for v in (levels.drop, levels.weight, explained, levels.error)))
        against = level.against(rest, levels.same)
        row = (len(steps) + 1, level.loss, level.drop, level.weight, level.explained, level.excess, level.drop)
        if against:
            steps.append((*row, 0, rest, f"{STOP}: {against}"))
            break
        epsilon = levels.refined(level.drop, level.copies)
        factors.append((epsilon, level.copies))
        rest = max(0.0, levels.top - math.fsum(e * copies for e, copies in factors))
        rest = rest if rest > levels.same else 0.0
        steps.append((*row, level.copies, rest, FOUND))
        sums = sums.with_copies(epsilon, level.copies, levels.same)
    if rest > 0.0 and not sure:
        factors.append((levels.refined(rest, 1), 1))
    return Peeled(() if against and sure else tuple(sorted(factors)), steps, against, sure)


def _first_unexplained(levels: Levels, explained: FloatArray) -> int | None:
    """Return the first level whose weight differs from the explained one by more than its error."""
    unexplained = np.flatnonzero(np.abs(levels.weight - explained) > levels.error + _WHOLE * (explained > 0))
    return int(unexplained[0]) if unexplained.size else None


class Level(NamedTuple):
    """A level that the factors so far do not explain: the next factor, or a contradiction."""

    top: float
    drop: float
    weight: float
    explained: float
    error: float

    @property
    def loss(self) -> float:
        """The loss of the level."""
        return self.top - 2.0 * self.drop

    @property
    def excess(self) -> float:
        """The weight that is not explained."""
        return self.weight - self.explained

    @property
    def copies(self) -> int:
        """The excess as a whole number."""
        return round(max(-1.0, min(self.excess, 1e9)))

    def against(self, rest: float, same: float) -> str:
        """Return what contradicts `copies` factors `drop`, or an empty text."""
        share = f", {nearest(self.explained, 7)} of which the factors found explain" if self.explained else ""
        weighs = f"In units of q e^(-loss/2), loss {nearest(self.loss)} weighs {nearest(self.weight, 7)} times the largest loss{share}."
        if self.excess < 0:
            return f"{weighs} Sign patterns cannot cancel, so in a product it would not weigh less than that."
        if self.copies < 1 or abs(self.excess - self.copies) > max(self.error, _WHOLE):
            return f"{weighs} In a product this counts sign patterns; {nearest(self.excess, 7)} is no whole number."
        if self.copies * self.drop > rest + same or self.copies > _MOST_FACTORS:
            return (
                f"{weighs} That takes ε = {nearest(self.drop)} {_times(self.copies)}, "
                f"but of the largest loss only {nearest(rest)} is left."
            )
        return ""


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"

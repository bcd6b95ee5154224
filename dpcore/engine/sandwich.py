"""Certified delta of a product of curves from their profiles alone, between two lattice products.

Each curve is replaced by a lattice measure above and one below it (`sandwich_measure`); both products are computed by
tilted transforms (`sandwich_fold`), whose error bounds widen the bracket. The width falls with the square of the step;
a coarse first step predicts the necessary one, which is used if its work stays within a bound. Steps divide the losses
at which a profile has a corner, since a corner inside a cell costs a width proportional to the step; a largest loss with
much mass before it is put where a line under the profile loses least.

The steps form one fixed sequence, and which of them an epsilon uses follows from its own brackets and from counted work:
no answer depends on the clock, on other epsilons or on earlier questions. Lattices are cached in a store that is bounded
in bytes (`lattice_store`); whether one is still there changes the time of an answer, never the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core import effort
from dpcore.core.errors import BudgetError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.core.question import remark, shared
from dpcore.engine.lattice_store import STORE
from dpcore.engine.sandwich_fold import LONGEST, Fold
from dpcore.engine.sandwich_measure import Corner, Profile, corners, pair, reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

_COARSE, _COARSEST = 4096, 256
"""Losses of the first lattice, and fewest, if the profiles are expensive or the tolerance is large."""

_ROUGH = 1e-2
"""Tolerance from which the first lattice has the fewest losses: its width falls with their square."""

_FINEST = 1 << 18
"""Most losses of one lattice measure: with its transforms about 130 MB during its computation."""

_WORK = 1e7
"""Most work for one epsilon, in points of a transform: about a second, and as much for the values between which it is found."""

_PER_SECOND, _ROUNDS = 1e7, 4.0
"""Points of transforms in a second, and work of an epsilon over that of a delta: for the time stated in a refusal."""

_EACH = 3.0
"""Values of a profile for each loss of a lattice."""

_FIRST = 0.5
"""Largest share of the work that the first lattice may take."""

_HOPELESS = 1.5
"""Factor between the allowed and the necessary step above which the tolerance is given up: the prediction is right to less."""

_MODERATE, _MODERATE_LENGTH = 1 << 16, 1 << 20
"""Losses of the lattice that is used then, and its longest transform: the last octave costs most and gains a factor of four."""

_STAGES = 20
"""Lattices tried for one epsilon: this bounds the loop."""

_LEVELS = 10.0 ** -np.array([10.0, 20, 30, 40, 60, 80, 120, 160, 220, 270, 318])
"""Deltas for which the ends of a lattice are chosen, one after the other until the mass beyond them no longer matters."""


class _Lattice:
    """The two products on one lattice."""

    def __init__(self, parts: Sequence[tuple[Profile, int]], ends: list[tuple[float, float]], h: float) -> None:
        self.h = h
        pairs = []
        self.work = 0.0
        for n, ((profile, k), (low, high)) in enumerate(zip(parts, ends, strict=True)):
            pairs.append((pair(profile, h, low, high), k))
            self.work += _EACH * profile.work * (high - low) / h
            effort.checkpoint((n + 1) / (len(parts) + 1))
        self.inner = Fold([(both[0], k) for both, k in pairs], h)
        self.outer = Fold([(both[1], k) for both, k in pairs], h)
        self.longest = max(law.mass.size for law in self.outer.laws)

    @property
    def weight(self) -> int:
        """Bytes it holds."""
        return self.inner.weight + self.outer.weight

    def bounds(self, epsilon: FloatArray, tolerance: float) -> _Brackets:
        """Return the brackets of delta and the work they took; far below the losses delta is 1 without a transform."""
        floor = self.inner.floor(epsilon)
        open_ = floor < 1.0 - 0.5 * tolerance
        ones, zeros = np.ones(epsilon.size), np.zeros(epsilon.size)
        out = _Brackets(floor, ones, zeros, zeros.copy(), np.zeros(epsilon.size, dtype=np.bool_))
        if open_.any():
            for side, values in zip(out, self._transformed(epsilon[open_], tolerance), strict=True):
                side[open_] = values
        return out

    def _transformed(self, epsilon: FloatArray, tolerance: float) -> _Brackets:
        """Return `bounds` from the transforms."""
        above, below = self.outer.delta(epsilon, 0.05 * tolerance), self.inner.delta(epsilon, 0.05 * tolerance)
        upper = np.nan_to_num(np.minimum(above.value + above.error, 1.0), nan=1.0)
        # after an overflow nothing is known here
        lower = np.nan_to_num(np.clip(below.value - below.error, 0.0, upper), nan=0.0)
        length = np.maximum(above.length, below.length)
        return _Brackets(lower, upper, above.points + below.points, length, above.cramped | below.cramped)


class _Brackets(NamedTuple):
    """Brackets on one lattice; points of the transforms for each, the longest one, and whether it is too short."""

    lower: FloatArray
    upper: FloatArray
    points: FloatArray
    length: FloatArray
    cramped: NDArray[np.bool_]


class _Search:
    """The state of each epsilon: its bracket, the lattice to try next, and the work spent on it."""

    def __init__(self, size: int) -> None:
        self.lower, self.upper = np.zeros(size), np.ones(size)
        self.level, self.finer = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        self.spent = np.zeros(size)
        self.open = np.ones(size, dtype=np.bool_)
        self.settled = np.zeros(size, dtype=np.bool_)

    def groups(self) -> Iterator[tuple[int, int, IntArray]]:
        """Yield level, step and the epsilons still open there."""
        index = np.flatnonzero(self.open)
        for level, finer in sorted(set(zip(self.level[index].tolist(), self.finer[index].tolist(), strict=True))):
            yield level, finer, index[(self.level[index] == level) & (self.finer[index] == finer)]


class Sandwich:
    """The product of k copies of each curve.

    Parameters
    ----------
    parts : sequence of tuple of (Profile, int)
        Pairs (curve, k).
    """

    def __init__(self, parts: Sequence[tuple[Profile, int]]) -> None:
        self.parts = list(parts)
        self.count = sum(k for _, k in parts)
        self.infinite = float(-np.expm1(sum(k * np.log1p(-min(p.q_inf, 1.0 - 1e-16)) for p, k in parts)))
        self.cells = self._cells()
        self._ends_cache: dict[tuple[int, float], list[tuple[float, float]]] = {}
        self._owner = STORE.owner(self)

    def _cells(self) -> int:
        """Return the losses of the first lattice; refuse profiles so expensive that even a coarse one is too much."""
        each = _EACH * sum(profile.work for profile, _ in self.parts)
        cells = int(min(_COARSE, _FIRST * _WORK / each))
        if cells < _COARSEST:
            msg = (
                f"A product of these regions needs about {nearest(_COARSEST * each, 2)} operations for a first coarse lattice; "
                f"{nearest(_FIRST * _WORK, 2)} are allowed. A lattice fine enough for most tolerances would take at least about "
                f"{nearest(max(_COARSE * each / _PER_SECOND, 1.0), 2)} s. Groups and intersections of composed regions are the expensive ones."
            )
            raise BudgetError(msg)
        return cells

    def delta_bounds(self, epsilon: FloatArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
        """Return the narrowest feasible (lower, upper) for epsilons >= 0; it may be wider than the tolerance."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        search = _Search(epsilon.size)
        for stage in range(_STAGES):
            if not search.open.any():
                break
            for level, finer, index in search.groups():
                effort.checkpoint(stage / _STAGES)
                lattice = self._lattice(level, finer, tolerance)
                brackets = lattice.bounds(epsilon[index], tolerance)
                effort.spend(lattice.work + float(np.sum(brackets.points)))
                STORE.store(self._owner, (level, finer, tolerance), lattice, lattice.weight)
                self._advance(search, index, lattice, brackets, tolerance)
        self._remark(search, tolerance)
        return np.minimum(search.lower, search.upper), search.upper

    @staticmethod
    def _remark(search: _Search, tolerance: float) -> None:
        """Keep how long the tolerance would take where it was not reached: the work grows with the root of the width."""
        width = 1.0 - search.lower / np.maximum(search.upper, 1e-300)
        wide = np.flatnonzero(width > tolerance)
        if wide.size:
            remark(float(np.max(_ROUNDS * search.spent[wide] * np.sqrt(width[wide] / tolerance))) / _PER_SECOND)

    def _advance(
        self, search: _Search, index: IntArray, lattice: _Lattice, brackets: _Brackets, tolerance: float
    ) -> None:
        """Adopt the brackets of a lattice, and choose the next one of each epsilon, or none."""
        lower, upper = np.maximum(search.lower[index], brackets.lower), np.minimum(search.upper[index], brackets.upper)
        search.lower[index], search.upper[index] = lower, upper
        search.spent[index] += lattice.work + brackets.points
        cramped = brackets.cramped
        # very many copies: the product was longer than a transform may be, and a coarser lattice is the last one
        search.finer[index[cramped]] -= 4
        short = ~cramped & self._too_short(search, index, lattice, brackets, tolerance)
        rest = ~cramped & ~short
        finished = rest & ((upper - lower <= tolerance * upper) | search.settled[index])
        search.settled[index[cramped]] = True
        more = np.flatnonzero(rest & ~finished)
        if more.size:
            width = (upper - lower)[more] / upper[more]
            steps = self._finer(lattice, brackets, more, width, search.spent[index[more]], tolerance)
            search.finer[index[more]] += steps
            finished[more[steps == 0]] = True
        search.open[index[finished]] = False

    # ---- ranges and steps ------------------------------------------------------------------------------------

    def _ends(self, level: int, tolerance: float) -> list[tuple[float, float]]:
        """Return the losses of each curve beyond which its mass does not matter for the deltas of a level."""
        key = (level, tolerance)
        if key not in self._ends_cache:
            share = 1e-3 * tolerance / self.count
            highest = max(share * float(_LEVELS[level]), float(_LEVELS[-1]))
            self._ends_cache[key] = [
                (-reach(p.inverse(), 1e-2 * share, discounted=True), reach(p, highest, discounted=False))
                for p, _ in self.parts
            ]
        return self._ends_cache[key]

    def _too_short(
        self, search: _Search, index: IntArray, lattice: _Lattice, brackets: _Brackets, tolerance: float
    ) -> NDArray[np.bool_]:
        """Return where the mass beyond the lattice matters, and lower the level of the next one there."""
        cut = lattice.outer.infinite - self.infinite
        level = search.level[index]
        short = (cut > 0.02 * tolerance * brackets.upper) & (level < _LEVELS.size - 1) & ~brackets.cramped
        if short.any():
            least = 0.1 * (brackets.lower[short] - self.infinite * (1.0 - 1e-12))
            suitable = np.searchsorted(-_LEVELS, -np.maximum(least, float(_LEVELS[-1])))
            following = np.where(least > 0, np.maximum(suitable, level[short] + 1), level[short] + 2)
            search.level[index[short]] = np.minimum(following, _LEVELS.size - 1)
            search.finer[index[short]] = 0
        return np.asarray(short, dtype=np.bool_)

    def _finer(
        self,
        lattice: _Lattice,
        brackets: _Brackets,
        at: IntArray,
        width: FloatArray,
        spent: FloatArray,
        tolerance: float,
    ) -> IntArray:
        """Return by how many half octaves to lower the step: as predicted for the tolerance, or as allowed, or 0.

        If no allowed step would come near the tolerance, a moderate lattice is the last one.
        """
        work = lattice.work + brackets.points[at]
        least = np.maximum(lattice.longest / _FINEST, brackets.length[at] / LONGEST)
        least = np.maximum(least, work / np.maximum(_WORK - spent, 1e-9))
        target = np.sqrt(0.5 * tolerance / width)
        moderate = np.maximum(lattice.longest / _MODERATE, brackets.length[at] / _MODERATE_LENGTH)
        ratio = np.where(target > least / _HOPELESS, np.clip(target, 1.0 / 256.0, 0.7), moderate)
        steps = np.ceil(-2.0 * np.log2(np.minimum(ratio, 1.0)) - 1e-9)
        allowed = np.floor(-2.0 * np.log2(np.minimum(least, 1.0)) + 1e-9)
        return np.minimum(steps, allowed).astype(np.int64)

    @Lazy
    def _corners(self) -> list[Corner]:
        """Return the corners of all profiles, losses without their sign, the heaviest first."""
        every: list[Corner] = []
        for (profile, k), (low, high) in zip(self.parts, self._ends(0, 1e-6), strict=True):
            every += [one._replace(loss=abs(one.loss), mass=k * one.mass) for one in corners(profile, low, high)]
        return sorted(every, key=lambda one: -one.mass)

    def _snapped(self, h: float) -> float:
        """Return a step near h of which the main corner is a multiple and the others nearly are."""
        wide = [corner for corner in self._corners if corner.loss >= h]
        if not wide:
            return h
        loss, weight, after, blur = (np.array(column) for column in zip(*wide, strict=True))
        least = int(np.ceil(loss[0] / h))
        count = least + np.arange(min(4000, least // 4 + 1))
        # an atom just after its lattice point, even one at the end of the losses, is kept whole on both sides
        after = after + np.maximum(1e-6, blur / h)
        step = loss[0] / (count + after[0])
        place = loss[None, :] / step[:, None] - after
        cost = (place - np.floor(place)) @ weight
        return float(step[int(np.argmin(np.round(cost, 9)))])

    # ---- lattices --------------------------------------------------------------------------------------------

    def _lattice(self, level: int, finer: int, tolerance: float) -> _Lattice:
        """Return the lattice of a level and a step, from the store or computed again."""
        name = level, finer, tolerance
        stored = STORE.get(self._owner, name)
        if isinstance(stored, _Lattice):
            return stored
        return shared((self, *name), lambda: self._new_lattice(level, finer, tolerance))

    def _new_lattice(self, level: int, finer: int, tolerance: float) -> _Lattice:
        ends = self._ends(level, tolerance)
        cells = self.cells if tolerance < _ROUGH else _COARSEST
        coarse = max(high - low for low, high in ends) / cells
        return _Lattice(self.parts, ends, self._snapped(coarse * 2.0 ** (-0.5 * finer)))

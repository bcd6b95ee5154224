"""Certified delta of a product of curves known by their profiles alone, between two lattice products.

Each curve is replaced by a lattice measure above and one below it (`sandwich_measure`); both products are computed by
tilted transforms (`sandwich_fold`), whose error bounds widen the bracket. The width falls with the square of the step;
from a coarse first step the needed one is predicted, and taken as long as the lattice stays small. Steps divide the
losses at which a profile has a corner, since a corner inside a cell costs a width proportional to the step.
"""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpcore import limits
from dpcore.engine.sandwich_fold import LONGEST, Fold
from dpcore.engine.sandwich_measure import Profile, kinks, pair, reach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

_COARSE = 4096
_FINEST = 1 << 19
_SECONDS = 5.0
_PER_POINT = 5e-7
_WORTH = 0.8
_HOPELESS = 20.0
_MODERATE = 1 << 16
_STAGES, _COARSER = 20, 2.0
_SMALLEST = 1e-318


class _Lattice:
    """The two products on one lattice."""

    def __init__(self, parts: Sequence[tuple[Profile, int]], ends: list[tuple[float, float]], h: float) -> None:
        self.h = h
        begun = time.thread_time()
        pairs = []
        for n, ((profile, k), (low, high)) in enumerate(zip(parts, ends, strict=True)):
            pairs.append((pair(profile, h, low, high), k))
            limits.checkpoint((n + 1) / (len(parts) + 1))
        self.seconds = time.thread_time() - begun
        self.inner = Fold([(both[0], k) for both, k in pairs], h)
        self.outer = Fold([(both[1], k) for both, k in pairs], h)

    @property
    def cramped(self) -> bool:
        """Whether a product of very many copies was longer than a transform may be: then nothing is known of it."""
        return any(window.outside >= 1.0 for fold in (self.outer, self.inner) for window in fold.windows)

    def bounds(self, epsilon: FloatArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
        """Return (lower, upper) of delta."""
        high, above = self.outer.delta(epsilon, 0.05 * tolerance)
        low, below = self.inner.delta(epsilon, 0.05 * tolerance)
        upper = np.nan_to_num(np.minimum(high + above, 1.0), nan=1.0)
        lower = np.clip(low - below, 0.0, upper)
        # an overflow means that nothing is known here
        return np.nan_to_num(lower, nan=0.0), upper


class Sandwich:
    """The product of k copies of each curve; lattices are kept for later calls.

    Parameters
    ----------
    parts : pairs (curve, k).
    """

    def __init__(self, parts: Sequence[tuple[Profile, int]]) -> None:
        self.parts = list(parts)
        self.count = sum(k for _, k in parts)
        self.infinite = float(-np.expm1(sum(k * np.log1p(-min(p.q_inf, 1.0 - 1e-16)) for p, k in parts)))
        self.level = 1e-10
        self._lattices: list[_Lattice] = []
        self.spent = 0.0
        self._known_ends: dict[tuple[float, float], list[tuple[float, float]]] = {}

    def delta_bounds(self, epsilon: FloatArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
        """Return the narrowest (lower, upper) reached for epsilons >= 0; wider than the tolerance where it must be."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        lower, upper = np.zeros(epsilon.size), np.ones(epsilon.size)
        open_ = np.arange(epsilon.size)
        for _ in range(_STAGES):
            lattice = self._lattices[-1] if self._lattices else self._build(self._coarse(tolerance), tolerance)
            begun = time.thread_time()
            low, high = lattice.bounds(epsilon[open_], tolerance)
            self.spent += time.thread_time() - begun
            lower[open_], upper[open_] = np.maximum(lower[open_], low), np.minimum(upper[open_], high)
            if lattice.cramped:
                self._build(_COARSER * lattice.h, tolerance)
                continue
            if self._too_short(lattice, low, high, tolerance):
                continue
            width = upper - lower
            open_ = np.flatnonzero(width > tolerance * upper)
            if open_.size == 0:
                break
            h = self._next(lattice, width[open_] / upper[open_], tolerance)
            if h == 0.0:
                break
            self._build(h, tolerance)
        return np.minimum(lower, upper), upper

    # ---- ranges and steps ------------------------------------------------------------------------------------

    def _ends(self, tolerance: float) -> list[tuple[float, float]]:
        """Return the losses of each curve beyond which its mass does not matter at the deltas met so far."""
        key = (self.level, tolerance)
        if key not in self._known_ends:
            share = 1e-3 * tolerance / self.count
            highest = max(share * self.level, _SMALLEST)
            self._known_ends[key] = [
                (-reach(p.inverse(), 1e-2 * share, discounted=True), reach(p, highest, discounted=False))
                for p, _ in self.parts
            ]
        return self._known_ends[key]

    def _too_short(self, lattice: _Lattice, lower: FloatArray, upper: FloatArray, tolerance: float) -> bool:
        """Whether the mass beyond the lattice is felt; then lower the level the next one is built for."""
        cut = lattice.outer.infinite - self.infinite
        if cut <= 0.02 * tolerance * float(np.min(upper)) or self.level <= _SMALLEST:
            return False
        least = 0.1 * (float(np.min(lower)) - self.infinite * (1.0 - 1e-12))
        self.level = max(min(least, 1e-2 * self.level) if least > 0 else self.level * 1e-30, _SMALLEST)
        self._lattices.clear()
        return True

    def _coarse(self, tolerance: float) -> float:
        return max(high - low for low, high in self._ends(tolerance)) / _COARSE

    def _next(self, lattice: _Lattice, width: FloatArray, tolerance: float) -> float:
        """Return the step predicted to reach the tolerance, or the smallest one allowed, or 0 where neither helps.

        Widths that no allowed step would bring near the tolerance are not worked for, beyond a moderate lattice.
        """
        longest = max(law.mass.size for law in lattice.outer.laws)
        lengths = [window.length for fold in (lattice.outer, lattice.inner) for window in fold.windows]
        work = lattice.seconds + _PER_POINT * sum(lengths)
        least = max(longest / _FINEST, max(lengths, default=1) / LONGEST, work / max(_SECONDS - self.spent, 1e-9))
        needed = np.sqrt(0.5 * tolerance / width)
        within = needed[needed > least / _HOPELESS]
        if within.size:
            ratio = max(float(np.clip(within.min(), 1.0 / 256.0, 0.7)), least)
        else:
            ratio = max(least, longest / _MODERATE)
        return lattice.h * ratio if ratio < _WORTH else 0.0

    @cached_property
    def _corners(self) -> list[tuple[float, float]]:
        """Absolute losses and weights of the corners of all profiles."""
        found: list[tuple[float, float]] = []
        for (profile, k), (low, high) in zip(self.parts, self._ends(1e-6), strict=True):
            found += [(abs(loss), k * mass) for loss, mass in kinks(profile, low, high)]
        return sorted(found, key=lambda item: -item[1])

    def _snapped(self, h: float) -> float:
        """Return a step near h of which the main corner is a multiple and the others nearly are."""
        corners = [corner for corner in self._corners if corner[0] >= h]
        if not corners:
            return h
        loss, weight = (np.array(column) for column in zip(*corners, strict=True))
        least = int(np.ceil(loss[0] / h))
        count = least + np.arange(min(4000, least // 4 + 1))
        # a corner just after its lattice point, even one at the end of the losses, is kept whole on both sides
        step = loss[0] / (count + 1e-6)
        place = loss[None, :] / step[:, None]
        cost = (place - np.floor(place)) @ weight
        return float(step[int(np.argmin(np.round(cost, 9)))])

    def _build(self, h: float, tolerance: float) -> _Lattice:
        lattice = _Lattice(self.parts, self._ends(tolerance), self._snapped(h))
        self.spent += lattice.seconds
        self._lattices.append(lattice)
        del self._lattices[:-1]
        return lattice

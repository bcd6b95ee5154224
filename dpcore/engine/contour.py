"""Certified delta(eps) of a product of parts from their moment generating functions, for any number of repetitions.

The work per epsilon does not grow with the number of repetitions: each value is a contour integral through a saddle
point (`contour_table`), summed by the trapezoidal rule (`contour_sum`) with certified bounds for its step and its
cut (`contour_plan`). Values of epsilon within a few standard deviations of the tilted loss share their nodes
(`contour_lines`).

References
----------
.. [1] R. Lugannani and S. Rice, Saddle point approximation for the distribution of the sum of independent random
   variables, Advances in Applied Probability 12 (1980), 475-490.
.. [2] L. N. Trefethen and J. A. C. Weideman, The exponentially convergent trapezoidal rule, SIAM Review 56 (2014),
   385-458.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.engine.contour_atoms import Atomic
from dpcore.engine.contour_cells import log_kappas
from dpcore.engine.contour_lines import LONG, ContourLines
from dpcore.engine.contour_local import REACH, Local, Stretch, expansions
from dpcore.engine.contour_outline import Outline, outline
from dpcore.engine.contour_product import Factor
from dpcore.engine.contour_share import (
    KERNEL_D,
    KERNEL_I,
    KERNEL_N,
    LOG_HUGE,
    LOG_TINY,
    NOTHING,
    TINY,
    Share,
    tighten,
    tighten_short,
)
from dpcore.engine.contour_sum import UNIT, Room, long_sums

if TYPE_CHECKING:
    from dpcore.engine.contour_plan import Bucket
    from dpcore.engine.contour_product import FloatArray
    from dpcore.engine.contour_share import Four, Index

    Bounds = tuple[FloatArray, FloatArray]

__all__ = ["Atomic", "Contour", "Factor"]

_HOPELESS = 4
"""A refinement that would need this many times the allowed nodes is not started."""

_LEVELS = 48
"""Most lines of one bucket, from coarse to fine: 0.7^48 is below one node in the longest line."""

_SLACK = 1e-9  # relative, of a tabulated log M, beyond the bound of its rounding


class Contour(ContourLines):
    """Privacy profile of a product of parts, each described by its moment generating function.

    Parameters
    ----------
    factors : sequence of tuple of (Factor, int)
        Parts and how often each occurs, independent of each other.
    tolerance : float
        Relative width to aim at. It is reached unless eps is an atom of parts without decay or the rounding of k log M
        forbids it; the bracket is certified either way.
    exchanged : Contour, optional
        The contour of the exchanged pairs, if there is one; it shares its saddle points.
    fine : bool, default False
        Whether a line serves only values of eps that differ by a small factor: with a narrow core and far jumps, values of
        very different size lie within a few standard deviations of the tilted loss.
    """

    def delta_bounds(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds of delta at each epsilon; 0 is perfect privacy, 1 none."""
        return self.two_sided(epsilon)[0]

    def two_sided(self, epsilon: FloatArray) -> tuple[Bounds, Bounds]:
        """Return bounds of delta and of 1 - delta; a small 1 - delta keeps its digits where the kernel I is used."""
        shape = np.shape(epsilon)
        eps = np.ravel(np.asarray(epsilon, dtype=np.float64))
        product = self.product
        if product.delta_inf >= 1:
            return (np.ones(shape), np.ones(shape)), (np.zeros(shape), np.zeros(shape))
        lower, upper = self._simple_bounds(eps)
        rest_lower, rest_upper = np.maximum(1.0 - upper - UNIT, 0.0), 1.0 - lower + UNIT
        inside = (eps > product.min_loss) & (eps < product.max_loss) & np.isfinite(eps)
        if inside.any():
            at = slice(None) if inside.all() else np.flatnonzero(inside)
            (low, high), (rest_low, rest_high) = self._integrals(eps[at])
            lower[at] = np.maximum(lower[at], low * (1 - 4 * UNIT))
            upper[at] = np.minimum(upper[at], high * (1 + 4 * UNIT))
            rest_lower[at] = np.maximum(rest_lower[at], rest_low * (1 - 4 * UNIT))
            rest_upper[at] = np.minimum(rest_upper[at], rest_high * (1 + 4 * UNIT))
        # if masses do not add up to 1 exactly, the two formulas for delta may differ by a rounding error
        return (
            ((np.minimum(lower, upper) + 0.0).reshape(shape), np.maximum(lower, upper).reshape(shape)),
            (np.minimum(rest_lower, rest_upper).reshape(shape), np.maximum(rest_lower, rest_upper).reshape(shape)),
        )

    def ceiling(self, epsilon: FloatArray) -> FloatArray:
        """Return an upper bound of delta at epsilon >= 0 at almost no cost: Chernoff's, at the saddle points."""
        c, log_m = self.branches[KERNEL_D].c, self.branches[KERNEL_D].log_m
        top = log_m + log_kappas(c) + _SLACK * (1.0 + np.abs(log_m)) + self._table_error
        with np.errstate(over="ignore"):
            bound = (top[:, None] - c[:, None] * epsilon).min(axis=0, initial=0.0)
        tail = np.exp(np.maximum(bound + 1e-9, -745.0)) + TINY
        return np.asarray(np.minimum(self.product.delta_inf * (1 + 8 * UNIT) + tail, 1.0), dtype=np.float64)

    @Lazy
    def _table_error(self) -> FloatArray:
        """Bound the rounding of log M(c) at the exponents of the table that lead to an upper bound."""
        return np.asarray(2.0 * UNIT * self.product.cumulant_rounding(self.branches[KERNEL_D].c), dtype=np.float64)

    def outline(self) -> Outline | None:
        """Return the saddle point approximation of the whole profile."""
        return outline(self.branches, self.product, self._crossings)

    def expanded(self, grid: FloatArray) -> Local | None:
        """Return the profile around an even grid of eps >= 0 inside the losses; None if short lines are not enough.

        Every value within half a step is on the line of its grid point, whose excess is bounded that far.
        """
        half = REACH * float(grid[-1] - grid[0]) / (grid.size - 1)
        assigned = self._assign(grid, LONG, self._line_cache())
        shares = [self._begun(bucket, index, grid[index]) for bucket, index in assigned]
        for share in shares:
            inside = share.eps[0] - half >= share.bucket.low and share.eps[-1] + half <= share.bucket.high
            if share.least is not NOTHING or share.bucket.kind == KERNEL_N or not inside:
                return None
        if any(share.bucket.lines[0].without_atoms for share in shares):
            return None
        self._fill([share.bucket for share in shares])
        stretches = [Stretch(share.bucket.lines[0], share.eps, share.bucket.low, share.bucket.high) for share in shares]
        expanded = expansions(stretches, half)
        if expanded is None:
            return None
        series, errors = expanded
        facts = []
        for share, (line, *_), error in zip(shares, stretches, errors, strict=True):
            facts.append((line.c, line.log_scale, *share.margins(error), *share.base))
        columns = np.repeat(np.array(facts).T, [share.eps.size for share in shares], axis=1)
        return Local(grid, np.concatenate(series, axis=1), columns)

    def _all_above(self, eps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bracket 1 - e^eps M(-1): never above delta, and equal to it when all finite losses are above eps."""
        shift = self.product.log_finite0
        x = np.minimum(np.maximum(eps + shift, -800.0), 700.0)
        value = -np.expm1(x)
        margin = 4 * UNIT * np.abs(value)
        if shift:
            margin += UNIT * np.exp(x) * (2 * np.abs(x) + 8 * abs(shift))
        return np.asarray(value - margin, dtype=np.float64), np.asarray(value + margin, dtype=np.float64)

    def _simple_bounds(self, eps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bracket delta from the ends of the losses alone; exact outside the finite losses."""
        product = self.product
        low, high = self._all_above(eps)
        lower = np.maximum(product.delta_inf * (1 - 8 * UNIT), low)
        with np.errstate(invalid="ignore"):  # inf - inf, replaced at once
            room = np.where(eps >= product.max_loss, 0.0, product.max_loss - eps)
        upper = np.where(eps <= product.min_loss, high, product.delta_inf * (1 + 8 * UNIT) + room)
        return np.minimum(np.maximum(lower, 0.0), 1.0), np.minimum(np.maximum(upper, 0.0), 1.0)

    def _base(self, kind: int, eps: FloatArray) -> Four:
        """Bracket the base to which the kernel is added (delta_inf for D, 1 for -I, 1 - e^eps M(-1) for N), and 1 minus it."""
        product = self.product
        if kind == KERNEL_I:
            return 1.0, 1.0, 0.0, 0.0
        if kind == KERNEL_D:
            low, high = product.delta_inf * (1 - 8 * UNIT), product.delta_inf * (1 + 8 * UNIT)
            return low, high, 1.0 - high, 1.0 - low
        x = eps + product.log_finite0
        value = np.exp(np.clip(x, -745.0, 700.0))
        margin = UNIT * value * (4 + 2 * np.abs(x) + 8 * abs(product.log_finite0)) + TINY
        return *self._all_above(eps), value - margin, value + margin

    def _integrals(self, eps: FloatArray) -> tuple[Bounds, Bounds]:
        """Bracket delta and 1 - delta inside the finite losses by Chernoff's bound and, where that is wide, the contour."""
        cache = self._line_cache()
        shares = [self._begun(bucket, index, eps[index]) for bucket, index in self._assign(eps, self._width, cache)]
        work = [share for share in shares if share.todo is not None]
        self._fill([share.bucket for share in work])
        for number, share in enumerate(work):
            checkpoint(number / len(work))
            if share.bucket.lines and not share.bucket.lines[0].smoothing:
                tighten_short(share, self._atoms if share.bucket.lines[0].without_atoms else None)
            else:
                self._long(share, cache.room)
        out = np.empty((4, eps.size))
        for share in shares:
            low, high, rest_low, rest_high = share.base
            least, most = share.least, share.most
            out[:, share.index] = low + least, high + most, rest_low - most, rest_high - least
        return (out[0], out[1]), (out[2], out[3])

    def _begun(self, bucket: Bucket, index: Index, eps: FloatArray) -> Share:
        """Return Chernoff's bracket in one bucket, and which of its values need the contour."""
        base = self._base(bucket.kind, eps)
        if self._wholly_open(bucket) and bucket.low <= eps[0] <= eps[-1] <= bucket.high:
            return Share(bucket, index, eps, base, NOTHING, NOTHING, slice(None))
        log_bound = bucket.log_bound - bucket.c * eps
        bound = 1.01 * np.exp(np.minimum(np.maximum(log_bound, -745.0), 700.0)) + TINY
        none = np.zeros(eps.size)
        open_ = (log_bound >= LOG_TINY) & (eps >= bucket.low) & (eps <= bucket.high)
        if bucket.kind != KERNEL_I:
            open_ &= bound > 1e-3 * self.tolerance * base[0]
        least, most = (-bound, none) if bucket.kind == KERNEL_I else (none, bound)
        todo = slice(None) if open_.all() else np.flatnonzero(open_) if open_.any() else None
        return Share(bucket, index, eps, base, least, most, todo)

    def _wholly_open(self, bucket: Bucket) -> bool:
        """Return whether Chernoff's bound alone is too wide everywhere in a bucket that has or can have a short line."""
        ends = [bucket.log_bound - bucket.c * bucket.low, bucket.log_bound - bucket.c * bucket.high]
        if not (min(ends) >= LOG_TINY and max(ends) <= LOG_HUGE):
            return False
        enough = 0.0 if bucket.kind == KERNEL_I else self.product.delta_inf if bucket.kind == KERNEL_D else 1.0
        line = self._line(bucket, 0)
        return math.exp(min(ends)) > 1e-3 * self.tolerance * enough and line is not None and not line.smoothing

    def _long(self, share: Share, room: Room) -> None:
        """Tighten the brackets of one bucket by smoothed sums, finer and finer until they are narrow enough."""
        bucket, level, shrink = share.bucket, 0, 1.0
        index = np.arange(share.eps.size)[share.todo]
        low, high = (np.broadcast_to(side, share.eps.shape) for side in share.base[:2])
        # every line smooths by at most 0.7 of the one before until it has as many nodes as allowed, so `_LEVELS` suffice
        while index.size and level < _LEVELS and (line := self._line(bucket, level, shrink)) is not None:
            x = share.eps[index]
            kernel, correction, error = long_sums(self.product, line, x, room)
            scale = np.exp(np.clip(line.log_scale - line.c * x, -745.0, 700.0))
            below, above = (0.0, line.excess) if bucket.kind == KERNEL_I else (line.excess, 0.0)
            result = scale * (kernel - correction - error - below) - TINY, scale * (kernel + error + above) + TINY
            if self._atoms is not None:
                add, take = self._atoms.corrections(x, line.smoothing)
                result = result[0] + add, result[1] - take
            tighten(share, index, result)
            upper = high[index] + share.most[index]
            width = (upper - low[index] - share.least[index]) / upper
            finer = np.minimum(0.7, 0.7 * self.tolerance / np.maximum(width, 1e-300))
            # values that no line can serve do not hold up the others
            open_ = (width > self.tolerance) & (line.count < _HOPELESS * self._cap * finer)
            index, shrink, level = index[open_], float(finer[open_].min(initial=1.0)), level + 1

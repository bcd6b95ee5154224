"""Certified delta(eps) of a product of parts from their moment generating functions, for any number of repetitions.

The work per epsilon does not grow with the number of repetitions: each value is a contour integral through a saddle
point (`contour_table`), summed by the trapezoidal rule (`contour_sum`) with certified bounds for its step and its
cut (`contour_plan`). Values of epsilon within two standard deviations of the tilted loss share their nodes.

References
----------
.. [1] R. Lugannani and S. Rice, Saddle point approximation for the distribution of the sum of independent random
   variables, Advances in Applied Probability 12 (1980), 475-490.
.. [2] L. N. Trefethen and J. A. C. Weideman, The exponentially convergent trapezoidal rule, SIAM Review 56 (2014),
   385-458.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.core.question import shared
from dpcore.engine.contour_atoms import Atomic, Atoms, is_split, product_atoms
from dpcore.engine.contour_cells import BucketPlace, fine_cells, log_kappas
from dpcore.engine.contour_local import REACH, Local, Stretch, expansions
from dpcore.engine.contour_outline import Outline, outline
from dpcore.engine.contour_plan import SPREAD, Bucket, Line, fading_line, plain_line, smooth_line, windows
from dpcore.engine.contour_product import Factor, TransformProduct
from dpcore.engine.contour_share import (
    KERNEL_D,
    KERNEL_I,
    KERNEL_N,
    LOG_HUGE,
    NOTHING,
    TINY,
    LineCache,
    Share,
    tighten,
    tighten_short,
)
from dpcore.engine.contour_sum import UNIT, Room, evaluate_classes, long_sums
from dpcore.engine.contour_table import Branch, crossings, mirrored, saddle_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpcore.engine.contour_product import FloatArray
    from dpcore.engine.contour_share import Four, Index, Name

    Bounds = tuple[FloatArray, FloatArray]

__all__ = ["Atomic", "Contour", "Factor"]

_WIDTH, _NARROW, _LONG = 4.0, 2.0, 6.0
"""Standard deviations of the tilted loss covered by one line, by one line of so many parts that rounding counts, and by one
line of a grid, whose values need fewer digits."""

_SPARE = 0.2
"""Standard deviations by which a line reaches beyond either end: more than half a step of the grids of `Contour.expanded`."""

_FARTHEST = 2.0**52
"""Lines counted on one branch. So far out nothing is left but Chernoff's bound, that of the last line for all."""

_FINE_NODES, _PLAIN_NODES, _MOST_PLAIN = 512, 4000, 60_000
"""Most nodes without smoothing: for nearly full precision, and for the tolerance with and without digits in reserve."""

_NODES_FINE = 8000, 60_000, 300_000
"""The same for a fine contour: its lines serve few values, and smoothing would need many more nodes."""

_CLASSES = (220, 1000, _PLAIN_NODES + 8, _MOST_PLAIN + 8, _NODES_FINE[2] + 8)
"""Short lines of similar node counts are evaluated together."""

_WORK, _LONGEST = 10_000_000, 1_000_000
"""Most evaluations of one part's transform spent on one line, and most nodes of it."""

_HOPELESS = 4
"""A refinement that would need this many times the allowed nodes is not started."""

_AIM = 0.3
"""Share of the tolerance that a smoothed line aims at: an epsilon is several times as wide as the deltas it comes from."""

_LEVELS = 48
"""Most lines of one bucket, from coarse to fine: 0.7^48 is below one node in `_LONGEST`."""

_FINER = 3
"""Decades by which the accuracy of a refined line grows at most."""

_BUCKETS = 4096
"""Most lines cached during one question."""

_ACCURACY, _DIGITS = 1e-13, 1e-6
"""Accuracy of a line that costs little: this share of the tolerance, and at most nearly full precision."""

_ENDS = np.array(((0.0, -1.0, -math.inf), (math.inf, 0.0, -1.0)))  # of the interval of c of each kernel
_SLACK = 1e-9  # relative, of a tabulated log M, beyond the bound of its rounding
_LOG_TINY = -700.0  # logarithm below which a bound is too close to the smallest doubles for a contour


class Contour:
    """Privacy profile of a product of parts, each described by its moment generating function.

    Parameters
    ----------
    factors : sequence of tuple of (Factor, int)
        Parts and how often each occurs, independent of each other.
    tolerance : float
        Relative width to aim at. It is reached unless eps is an atom of parts without decay or the rounding of k log M
        forbids it; the bracket is certified in any case.
    exchanged : Contour, optional
        The contour of the exchanged pairs, if there is one; it shares its saddle points.
    fine : bool, default False
        Whether a line serves only values of eps that differ by a small factor: with a narrow core and far jumps, values of
        very different size lie within a few standard deviations of the tilted loss.
    """

    def __init__(
        self,
        factors: Sequence[tuple[Factor, int]],
        tolerance: float,
        exchanged: Contour | None = None,
        *,
        fine: bool = False,
    ) -> None:
        self.product = TransformProduct(factors)
        self.tolerance, self.fine = tolerance, fine
        self._exchanged = exchanged

    @Lazy
    def branches(self) -> tuple[Branch, Branch, Branch]:
        """Saddle points on the three intervals."""
        return mirrored(self._exchanged.branches) if self._exchanged is not None else saddle_table(self.product)

    @Lazy
    def _crossings(self) -> tuple[float, float]:
        """Return the epsilons between which the kernel I is used; N below, D above."""
        return crossings(self.branches, symmetric=self.product.symmetric)

    @Lazy
    def _starts(self) -> list[tuple[float, float]]:
        """Return where the lines of each branch start, and where they end at the latest, in standard deviations."""
        low, high = self._crossings
        ends = (high, math.inf), (low, high), (-math.inf, low)
        return [
            (float(start), float(end))
            for start, end in (np.interp(at, b.epsilon, b.steps) for b, at in zip(self.branches, ends, strict=True))
        ]

    @Lazy
    def _atoms(self) -> Atoms | None:
        return product_atoms(self.product.parts)

    @Lazy
    def _split(self) -> bool:
        return all(is_split(part) for part, _ in self.product.parts)

    def _without_atoms(self, bucket: Bucket, accuracy: float) -> Line | None:
        """Return a line of a product of split parts without the sums of their atoms, whose part is a finite sum."""
        known = self._split and self._atoms is not None and self._atoms.has_kernel(bucket.kind)
        return plain_line(self.product, bucket, accuracy, _MOST_PLAIN, without_atoms=True) if known else None

    @Lazy
    def _width(self) -> float:
        """Return the standard deviations covered by one line: at its ends the kernel is smaller and rounding matters more."""
        return _WIDTH if UNIT * self.product.rounding < 1e-3 * self.tolerance else _NARROW

    @Lazy
    def _cap(self) -> int:
        """Most nodes of one line."""
        return min(_LONGEST, max(_PLAIN_NODES, _WORK // max(1, len(self.product.parts))))

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
        assigned = self._assign(grid, _LONG, self._line_cache())
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
        open_ = (log_bound >= _LOG_TINY) & (eps >= bucket.low) & (eps <= bucket.high)
        if bucket.kind != KERNEL_I:
            open_ &= bound > 1e-3 * self.tolerance * base[0]
        least, most = (-bound, none) if bucket.kind == KERNEL_I else (none, bound)
        todo = slice(None) if open_.all() else np.flatnonzero(open_) if open_.any() else None
        return Share(bucket, index, eps, base, least, most, todo)

    def _wholly_open(self, bucket: Bucket) -> bool:
        """Return whether Chernoff's bound alone is too wide everywhere in a bucket that has or can have a short line."""
        ends = [bucket.log_bound - bucket.c * bucket.low, bucket.log_bound - bucket.c * bucket.high]
        if not (min(ends) >= _LOG_TINY and max(ends) <= LOG_HUGE):
            return False
        enough = 0.0 if bucket.kind == KERNEL_I else self.product.delta_inf if bucket.kind == KERNEL_D else 1.0
        line = self._line(bucket, 0)
        return math.exp(min(ends)) > 1e-3 * self.tolerance * enough and line is not None and not line.smoothing

    def _fill(self, buckets: list[Bucket]) -> None:
        """Compute the first line of each bucket and the terms of the short ones, those of similar length together."""
        lines = [line for bucket in buckets if (line := self._line(bucket, 0)) is not None]
        new = [line for line in lines if not line.smoothing and line.terms is None]
        evaluate_classes(self.product, new, _CLASSES)

    def _line_cache(self) -> LineCache:
        """Return the lines of this question.

        The nodes of a line depend on all values of a question: cached any longer it would make the last digits of an
        answer depend on earlier questions.
        """
        return shared(self, LineCache)

    def _assign(self, eps: FloatArray, width: float, cache: LineCache) -> list[tuple[Bucket, Index]]:
        """Sort the values of eps into buckets of a width; return these with the places of their values.

        A bucket always covers its whole width, so that the same value of eps has the same line in every question. The
        bucket of a grid covers its values and a little more, and is made again in full if more is needed.
        """
        if len(cache.buckets) > _BUCKETS:
            cache.buckets.clear()
            cache.room = Room()
        order = None if (eps[1:] >= eps[:-1]).all() else np.argsort(eps, kind="stable")
        ascending = eps if order is None else eps[order]
        low, high = np.searchsorted(ascending, self._crossings).tolist()
        assigned: list[tuple[Name, Bucket | None, Index]] = []
        new: list[BucketPlace] = []
        for kind, begin, end in ((KERNEL_N, 0, low), (KERNEL_I, low, high), (KERNEL_D, high, eps.size)):
            if begin == end:
                continue
            for name, bucket, part in self._sorted(kind, ascending[begin:end], width, new, cache.buckets):
                index = slice(begin + part.start, begin + part.stop)
                assigned.append((name, bucket, index if order is None else order[index]))
        buckets = self._prepare(new)
        cache.buckets.update(buckets)
        return [(bucket or buckets[name], index) for name, bucket, index in assigned]

    def _sorted(
        self, kind: int, eps: FloatArray, width: float, new: list[BucketPlace], buckets: dict[Name, Bucket]
    ) -> Iterator[tuple[Name, Bucket | None, slice]]:
        """Yield the buckets of ascending values on one branch, each with its part of them; add missing ones to `new`."""
        branch = self.branches[kind]
        steps = np.interp(eps, branch.epsilon, branch.steps) - self._starts[kind][0]
        position = np.floor(np.minimum(steps / width, _FARTHEST)).astype(np.int64)
        if self.fine:
            yield from fine_cells(branch, self._starts[kind][0], (kind, eps, position, width), new, buckets)
            return
        cuts = (position[1:] != position[:-1]).nonzero()[0] + 1 if position[0] != position[-1] else ()
        for begin, end in pairwise((0, *cuts, eps.size)):
            at, first, last = int(position[begin]), float(eps[begin]), float(eps[end - 1])
            name = kind, at, width
            bucket = buckets.get(name)
            if bucket is not None and (width != _LONG or bucket.low <= first <= last <= bucket.high):
                yield name, bucket, slice(begin, end)
                continue
            if width == _LONG and bucket is None and branch.epsilon[0] < first <= last < branch.epsilon[-1]:
                new.append(BucketPlace(name, float(steps[begin]), float(steps[end - 1])))
            else:
                new.append(BucketPlace(name, at * width, (at + 1) * width))
            yield name, None, slice(begin, end)

    def _prepare(self, places: list[BucketPlace]) -> dict[Name, Bucket]:
        """Choose the line of each new bucket and evaluate M at all real points of its certificate in one call."""
        if not places:
            return {}
        kinds = np.array([place.name[0] for place in places])
        columns = [
            self._positions(kind, [p for p in places if p.name[0] == kind]) for kind in dict.fromkeys(kinds.tolist())
        ]
        c, low, high, slope = columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)
        pole = c * (c + 1)
        curvature = np.maximum(slope, (2 * pole + 1) / pole**2)
        points = c[:, None] + np.sqrt(60.0 / curvature)[:, None] * SPREAD
        points = np.minimum(np.maximum(points, _ENDS[0, kinds, None]), _ENDS[1, kinds, None])
        values = self.product.cumulants(points.ravel())[0].reshape(points.shape)
        apart = (points - c[:, None])[:, 1:]
        with np.errstate(invalid="ignore"):
            bounds = values + log_kappas(points) + self.product.table_error(points, values)
            ratio = bounds[:, 1:] - values[:, :1]
            ratio -= apart * np.where(apart > 0, low[:, None], high[:, None])
        rows = np.array((c, values[:, 0], bounds[:, 0], low, high, curvature)).T.tolist()
        buckets = [
            Bucket(place.name[0], row[0], row[1], row[2], row[3], row[4], row[5], (one, other))
            for place, row, one, other in zip(places, rows, apart, ratio, strict=True)
        ]
        for bucket in buckets:
            bucket.relative = self._relative(bucket)
        accuracy = [self._fine(bucket, place.name[2]) for place, bucket in zip(places, buckets, strict=True)]
        target = np.array([share * bucket.size for share, bucket in zip(accuracy, buckets, strict=True)])
        plans = (column.tolist() for column in windows(apart, ratio, target))
        for bucket, *plan in zip(buckets, accuracy, *plans, strict=True):
            bucket.plan = plan[0], plan[1], plan[2]
        return {place.name: bucket for place, bucket in zip(places, buckets, strict=True)}

    def _fine(self, bucket: Bucket, width: float) -> float:
        """Return the accuracy of a line that costs little; a small 1 - delta may need it in relative terms.

        At the ends of a wide line the kernel is smaller than in its middle by about e^(-width^2/8).
        """
        least = max(_ACCURACY, _DIGITS * self.tolerance) * math.exp(min(0.0, _WIDTH**2 - width**2) / 8)
        return least * (1.0 if bucket.kind == KERNEL_I else bucket.relative)

    def _positions(self, kind: int, places: list[BucketPlace]) -> FloatArray:
        """Return c, the ends of epsilon and the slope of epsilon in c of some buckets of one branch."""
        branch, product = self.branches[kind], self.product
        (start, end), top = self._starts[kind], float(branch.steps[-1])
        edges = [(place.first + start - _SPARE, min(place.last + start, end) + _SPARE) for place in places]
        first, last = np.array(edges).T
        middle = np.minimum(0.5 * (first + last), top)
        c = np.interp(middle, branch.steps, branch.c)
        low, high = np.interp((first, last), branch.steps, branch.epsilon)
        if kind == KERNEL_D and math.isfinite(product.max_loss):
            high[last >= top] = product.max_loss
        if kind == KERNEL_N and math.isfinite(product.min_loss):
            low[first <= 0] = product.min_loss
        slope = branch.slope[branch.steps[1:-1].searchsorted(middle)]
        for at, place in enumerate(places):
            if place.ends is not None:
                low[at], high[at] = place.ends
        return np.array((c, low, high, slope))

    def _relative(self, bucket: Bucket) -> float:
        """Estimate delta over the kernel, at least 1: a small kernel needs that much less relative accuracy."""
        eps = bucket.low if bucket.c > 0 else bucket.high  # where the kernel is largest
        log_kernel = bucket.log_m - bucket.c * eps + math.log(bucket.size)
        kernel = math.exp(min(0.0, max(_LOG_TINY, log_kernel)))
        base = (self.product.delta_inf, 0.5, -math.expm1(min(0.0, eps + self.product.log_finite0)))[bucket.kind]
        return min(1e10, max(1.0, base / kernel))

    def _line(self, bucket: Bucket, level: int, shrink: float = 1.0) -> Line | None:
        """Return the nodes of one level: plain ones if they converge, otherwise smoothed, finer from level to level."""
        if level < len(bucket.lines):
            return bucket.lines[level]
        product, relative = self.product, bucket.relative
        cap = self._cap
        target = self.tolerance * relative
        coarse = min(0.02 * target, 1e-2)
        if level == 0:
            s = math.sqrt(min(_AIM * target * bucket.size / bucket.density, 0.1 / bucket.curvature))
            few, some, most = _NODES_FINE if self.fine else (_FINE_NODES, _PLAIN_NODES, _MOST_PLAIN)
            line = (
                plain_line(product, bucket, bucket.plan[0], few)
                # lattice laws never fade on their own: many plain nodes would reach the tolerance, a few smoothed ones do
                or (None if self.fine else fading_line(product, bucket, s, 0.05 * coarse, cap))
                or self._without_atoms(bucket, 0.05 * coarse)
                # a loss far from normal can be much rarer than its saddle point estimate: keep digits in reserve
                or plain_line(product, bucket, 1e-5 * coarse, some)
                or plain_line(product, bucket, 0.02 * coarse, most)
                or plain_line(product, bucket, 2.5 * coarse, most)
                # a narrow core with far jumps, or atoms, would need a million smoothed nodes: its bracket stays wide
                or (None if self.fine or self._split else smooth_line(product, bucket, s, 0.05 * coarse, cap))
            )
        elif bucket.lines[-1].count < cap:
            # the kernel may be much smaller than estimated: then the omitted nodes, not the smoothing, make the bracket wide
            s = max(shrink, 0.1) * bucket.lines[-1].smoothing
            accuracy = 0.05 * coarse * 0.1 ** min(level, _FINER)
            line = fading_line(product, bucket, s, accuracy, cap) or smooth_line(product, bucket, s, accuracy, cap)
        else:
            line = None
        if line is not None:
            bucket.lines.append(line)
        return line

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

"""The lines of a certified contour integral: which values of epsilon share one, and where its nodes are.

A bucket is a stretch of a branch, a few standard deviations of the tilted loss long (`contour_cells`); all its values are
integrals along one line (`contour_plan`), which is refined where a value needs it.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.lazy import Lazy
from dpcore.core.question import shared
from dpcore.engine.contour_atoms import Atoms, is_split, product_atoms
from dpcore.engine.contour_cells import BucketPlace, fine_cells, log_kappas
from dpcore.engine.contour_plan import SPREAD, Bucket, Line, fading_line, plain_line, smooth_line, windows
from dpcore.engine.contour_product import Factor, TransformProduct
from dpcore.engine.contour_share import KERNEL_D, KERNEL_I, KERNEL_N, LOG_TINY, LineCache
from dpcore.engine.contour_sum import UNIT, Room, evaluate_classes
from dpcore.engine.contour_table import Branch, crossings, mirrored, saddle_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpcore.engine.contour_product import FloatArray
    from dpcore.engine.contour_share import Index, Name

_WIDTH, _NARROW, LONG = 4.0, 2.0, 6.0
"""Standard deviations of the tilted loss covered by one line, by one line of enough parts for rounding to count, and by
one line of a grid, whose values need fewer digits."""

_SPARE = 0.2
"""Standard deviations by which a line reaches beyond either end: more than half a step of the grids of `Contour.expanded`."""

_FARTHEST = 2.0**52
"""Most lines on one branch. Farther out only Chernoff's bound is left, and that of the last line serves all values."""

_FINE_NODES, _PLAIN_NODES, _MOST_PLAIN = 512, 4000, 60_000
"""Most nodes without smoothing: for nearly full precision, and for the tolerance with and without digits in reserve."""

_NODES_FINE = 8000, 60_000, 300_000
"""The same for a fine contour: its lines serve few values, and smoothing would need many more nodes."""

_CLASSES = (220, 1000, _PLAIN_NODES + 8, _MOST_PLAIN + 8, _NODES_FINE[2] + 8)
"""Short lines of similar node counts are evaluated together."""

_WORK, _LONGEST = 10_000_000, 1_000_000
"""Most evaluations of one part's transform spent on one line, and most nodes of it."""

_AIM = 0.3
"""Share of the tolerance that a smoothed line aims at: an epsilon is several times as wide as the deltas it comes from."""

_FINER = 3
"""Decades by which the accuracy of a refined line grows at most."""

_BUCKETS = 4096
"""Most lines cached during one question."""

_ACCURACY, _DIGITS = 1e-13, 1e-6
"""Accuracy of a line that costs little: this share of the tolerance, and at most nearly full precision."""

_ENDS = np.array(((0.0, -1.0, -math.inf), (math.inf, 0.0, -1.0)))  # ends of the interval of c of each kernel


class ContourLines:
    """The saddle points of a product of parts, and the lines through them.

    Parameters
    ----------
    factors : sequence of tuple of (Factor, int)
        Parts and how often each occurs, independent of each other.
    tolerance : float
        Relative width to aim at.
    exchanged : ContourLines, optional
        Those of the exchanged pairs, if there are any; they share their saddle points.
    fine : bool, default False
        Whether a line serves only values of eps that differ by a small factor: with a narrow core and far jumps, values of
        very different size lie within a few standard deviations of the tilted loss.
    """

    def __init__(
        self,
        factors: Sequence[tuple[Factor, int]],
        tolerance: float,
        exchanged: ContourLines | None = None,
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

    @Lazy
    def _width(self) -> float:
        """Return the standard deviations covered by one line: at its ends the kernel is smaller and rounding matters more."""
        return _WIDTH if UNIT * self.product.rounding < 1e-3 * self.tolerance else _NARROW

    @Lazy
    def _cap(self) -> int:
        """Most nodes of one line."""
        return min(_LONGEST, max(_PLAIN_NODES, _WORK // max(1, len(self.product.parts))))

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
            if bucket is not None and (width != LONG or bucket.low <= first <= last <= bucket.high):
                yield name, bucket, slice(begin, end)
                continue
            if width == LONG and bucket is None and branch.epsilon[0] < first <= last < branch.epsilon[-1]:
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
        kernel = math.exp(min(0.0, max(LOG_TINY, log_kernel)))
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

    def _without_atoms(self, bucket: Bucket, accuracy: float) -> Line | None:
        """Return a line of a product of split parts without the sums of their atoms, whose part is a finite sum."""
        known = self._split and self._atoms is not None and self._atoms.has_kernel(bucket.kind)
        return plain_line(self.product, bucket, accuracy, _MOST_PLAIN, without_atoms=True) if known else None

    def _fill(self, buckets: list[Bucket]) -> None:
        """Compute the first line of each bucket and the terms of the short ones, those of similar length together."""
        lines = [line for bucket in buckets if (line := self._line(bucket, 0)) is not None]
        new = [line for line in lines if not line.smoothing and line.terms is None]
        evaluate_classes(self.product, new, _CLASSES)

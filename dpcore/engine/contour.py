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
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpcore.engine.contour_atoms import Atomic, Atoms, product_atoms
from dpcore.engine.contour_plan import SPREAD, Bucket, Line, plain_line, smooth_line
from dpcore.engine.contour_sum import UNIT, Room, evaluate_terms, long_sums, short_sums
from dpcore.engine.contour_table import (
    Branch,
    Factor,
    Outline,
    Product,
    branch_values,
    mirrored,
    outline,
    saddle_table,
)
from dpcore.limits import checkpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpcore.engine.contour_table import FloatArray

    Bounds = tuple[FloatArray, FloatArray]

__all__ = ["Atomic", "Contour", "Factor", "delta_bounds"]

_WIDTH = 2.0
"""Standard deviations of the tilted loss covered by one line."""

_FINE_NODES, _PLAIN_NODES, _MOST_PLAIN = 512, 4000, 60_000
"""Most nodes without smoothing: for nearly full precision, for the tolerance asked with digits in hand, and without."""

_CLASSES = (100, 220, 520, _PLAIN_NODES + 8, _MOST_PLAIN + 8)
"""Short lines of similar node counts are evaluated together."""

_WORK = 10_000_000
"""Most evaluations of one part's transform spent on one line."""

_LONGEST = 1_000_000
"""Most nodes of one line."""

_HOPELESS = 4
"""A refinement that would need this many times the nodes allowed is not begun."""

_BUCKETS = 4096
"""Lines kept for later calls."""

_ACCURACY = 1e-13
_D, _I, _N = 0, 1, 2
_ENDS = ((0.0, math.inf), (-1.0, 0.0), (-math.inf, -1.0))
_TINY = 1e-321
_LOG_TINY = -700.0


def delta_bounds(
    factors: Sequence[tuple[Factor, int]], epsilon: FloatArray, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Bracket delta(eps) of a product; see `Contour`, which keeps its tables for further calls.

    Parameters
    ----------
    factors : parts and how often each occurs.
    epsilon : values of eps, any real numbers, infinities included.
    tolerance : relative width asked, (upper - lower) <= tolerance * upper.

    Returns
    -------
    Lower and upper bounds, certified whether or not the width asked was reached.
    """
    return Contour(factors, tolerance).delta_bounds(epsilon)


class Contour:
    """Privacy profile of a product of parts, each known by its moment generating function.

    Parameters
    ----------
    factors : parts and how often each occurs, independent of each other.
    tolerance : relative width asked of a bracket. It is reached unless eps sits on an atom of parts without decay
        or the rounding of k log M forbids it; the bracket returned is certified all the same.
    exchanged : the contour of the exchanged pairs where there is one; it shares its saddle points.
    """

    def __init__(
        self, factors: Sequence[tuple[Factor, int]], tolerance: float, exchanged: Contour | None = None
    ) -> None:
        self.product = Product(factors)
        self.tolerance = tolerance
        self._exchanged = exchanged
        self._buckets: dict[tuple[int, int], Bucket] = {}
        self._room = Room()

    @cached_property
    def branches(self) -> tuple[Branch, Branch, Branch]:
        """Saddle points on the three intervals."""
        return mirrored(self._exchanged.branches) if self._exchanged is not None else saddle_table(self.product)

    @cached_property
    def _atoms(self) -> Atoms | None:
        return product_atoms(self.product.parts)

    @cached_property
    def _cap(self) -> int:
        """Most nodes of one line."""
        return min(_LONGEST, max(_PLAIN_NODES, _WORK // max(1, len(self.product.parts))))

    def delta_bounds(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds of delta at each epsilon; 0 is perfect privacy, 1 none."""
        return self.two_sided(epsilon)[0]

    def two_sided(self, epsilon: FloatArray) -> tuple[Bounds, Bounds]:
        """Return bounds of delta and of 1 - delta, the latter with digits of its own where the kernel I serves."""
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
        # masses that do not add up to 1 exactly may put the two formulas for delta a rounding error apart
        return (
            ((np.minimum(lower, upper) + 0.0).reshape(shape), np.maximum(lower, upper).reshape(shape)),
            (np.minimum(rest_lower, rest_upper).reshape(shape), np.maximum(rest_lower, rest_upper).reshape(shape)),
        )

    @cached_property
    def _chernoff(self) -> Bounds:
        """A few exponents c > 0, and log(kappa(c) M(c)) of those that are known."""
        c = np.geomspace(0.5, 40.0, 24)
        with np.errstate(over="ignore", invalid="ignore"):
            values, error = self.product.exponent(c[:, None].astype(np.complex128))
            top = values.real[:, 0] + 2 * UNIT * error[:, 0] + _log_kappas(c)
        known = np.isfinite(top)
        return c[known], top[known]

    def ceiling(self, epsilon: FloatArray) -> FloatArray:
        """Return an upper bound of delta at epsilon >= 0 for almost nothing: Chernoff's, at a few exponents."""
        c, top = self._chernoff
        bound = (top[:, None] - np.multiply.outer(c, epsilon)).min(axis=0, initial=0.0)
        grown = np.exp(np.maximum(bound + 1e-9, -745.0)) + _TINY
        return np.asarray(np.minimum(self.product.delta_inf * (1 + 8 * UNIT) + grown, 1.0), dtype=np.float64)

    def outline(self) -> Outline | None:
        """Return the saddle point approximation of the whole profile."""
        return outline(self.branches, self.product)

    def _all_above(self, eps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bracket 1 - e^eps M(-1): never above delta, and equal to it when all finite losses are above eps."""
        shift = self.product.log_finite0
        x = np.clip(eps + shift, -800.0, 700.0)
        value = -np.expm1(x)
        wobble = 4 * UNIT * np.abs(value)
        if shift:
            wobble += UNIT * np.exp(x) * (2 * np.abs(x) + 8 * abs(shift))
        return np.asarray(value - wobble, dtype=np.float64), np.asarray(value + wobble, dtype=np.float64)

    def _simple_bounds(self, eps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bracket delta from the ends of the losses alone; exact outside the finite losses."""
        product = self.product
        low, high = self._all_above(eps)
        lower = np.maximum(product.delta_inf * (1 - 8 * UNIT), low)
        with np.errstate(invalid="ignore"):  # inf - inf, replaced at once
            room = np.where(eps >= product.max_loss, 0.0, product.max_loss - eps)
        upper = np.where(eps <= product.min_loss, high, product.delta_inf * (1 + 8 * UNIT) + room)
        return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)

    def _base(self, kind: NDArray[np.int64], eps: FloatArray) -> tuple[Bounds, Bounds]:
        """Bracket what the kernel is added to (delta_inf for D, 1 for -I, 1 - e^eps M(-1) for N), and 1 minus that."""
        product = self.product
        low = np.array((product.delta_inf * (1 - 8 * UNIT), 1.0, 0.0))[kind]
        high = np.array((product.delta_inf * (1 + 8 * UNIT), 1.0, 0.0))[kind]
        left = kind == _N
        if not left.any():
            return (low, high), (1.0 - high, 1.0 - low)
        low[left], high[left] = self._all_above(eps[left])
        rest_low, rest_high = 1.0 - high, 1.0 - low
        x = eps[left] + product.log_finite0
        value = np.exp(np.clip(x, -745.0, 700.0))
        wobble = UNIT * value * (4 + 2 * np.abs(x) + 8 * abs(product.log_finite0)) + _TINY
        rest_low[left], rest_high[left] = value - wobble, value + wobble
        return (low, high), (rest_low, rest_high)

    def _integrals(self, eps: FloatArray) -> tuple[Bounds, Bounds]:
        """Bracket delta and 1 - delta inside the finite losses by Chernoff's bound and, where that is wide, the contour."""
        buckets, member = self._assign(eps)
        kinds, c, log_bound, first, last = np.array([(b.kind, b.c, b.log_bound, b.low, b.high) for b in buckets]).T[
            :, member
        ]
        kind = kinds.astype(np.int64)
        log_bound = log_bound - c * eps
        bound = 1.01 * np.exp(np.clip(log_bound, -745.0, 700.0)) + _TINY
        base, rest = self._base(kind, eps)
        middle = kind == _I
        added = np.where(middle, -bound, 0.0), np.where(middle, 0.0, bound)
        enough = (~middle & (bound <= 1e-3 * self.tolerance * base[0])) | (log_bound < _LOG_TINY)
        todo = np.flatnonzero(~enough & (eps >= first) & (eps <= last))
        used = np.bincount(member[todo], minlength=len(buckets)).tolist()
        sizes = _classes([self._line(bucket, 0) if n else None for bucket, n in zip(buckets, used, strict=True)], used)
        size_of = sizes[member[todo]]
        work = sorted(set(sizes.tolist()) - {0})
        for done, size in enumerate(work):
            checkpoint(done / len(work))
            chosen = todo[size_of == size]
            places = np.flatnonzero(sizes == size)
            if size in _CLASSES:
                rank = np.zeros(len(buckets), dtype=np.intp)
                rank[places] = np.arange(places.size)
                result = self._short([buckets[at] for at in places.tolist()], rank[member[chosen]], eps[chosen])
                _tighten(added, chosen, result)
            else:
                for at in places.tolist():
                    self._long(buckets[at], chosen[member[chosen] == at], eps, base, added)
        least, most = added
        return (base[0] + least, base[1] + most), (rest[0] - most, rest[1] - least)

    def _assign(self, eps: FloatArray) -> tuple[list[Bucket], NDArray[np.intp]]:
        """Sort the values of eps into buckets; return these and each value's place in their list."""
        chosen = np.argmin(branch_values(self.branches, eps), axis=0)
        buckets: list[Bucket] = []
        member = np.zeros(eps.size, dtype=np.intp)
        if len(self._buckets) > _BUCKETS:
            self._buckets.clear()
            self._room = Room()
        for kind, branch in enumerate(self.branches):
            index = np.flatnonzero(chosen == kind)
            if not index.size:
                continue
            position = (np.interp(eps[index], branch.epsilon, branch.steps) / _WIDTH).astype(np.int64)
            start = int(position.min())
            position -= start
            if int(position.max()) < _BUCKETS:
                count = np.bincount(position)
                places = np.flatnonzero(count)
                inverse = (np.cumsum(count > 0) - 1)[position]
            else:
                places, inverse = np.unique(position, return_inverse=True)
            names = (places + start).tolist()
            self._prepare(kind, branch, [at for at in names if (kind, at) not in self._buckets])
            member[index] = len(buckets) + inverse
            buckets += [self._buckets[kind, at] for at in names]
        return buckets, member

    def _prepare(self, kind: int, branch: Branch, places: list[int]) -> None:
        """Choose the line of each new bucket and evaluate M at all real points its certificate needs, in one call."""
        if not places:
            return
        product = self.product
        edges = _WIDTH * np.array(places, dtype=np.float64)
        middle = np.minimum(edges + 0.5 * _WIDTH, branch.steps[-1])
        c = np.interp(middle, branch.steps, branch.c)
        low = np.interp(edges, branch.steps, branch.epsilon)
        high = np.interp(edges + _WIDTH, branch.steps, branch.epsilon)
        if kind == _D and math.isfinite(product.max_loss):
            high[edges + _WIDTH >= branch.steps[-1]] = product.max_loss
        if kind == _N and math.isfinite(product.min_loss):
            low[edges <= 0] = product.min_loss
        segment = np.clip(np.searchsorted(branch.steps, middle) - 1, 0, branch.c.size - 2)
        slope = (branch.epsilon[segment + 1] - branch.epsilon[segment]) / (branch.c[segment + 1] - branch.c[segment])
        curvature = np.maximum(slope, 1 / c**2 + 1 / (c + 1) ** 2)
        others = np.clip(c[:, None] + np.sqrt(60.0 / curvature)[:, None] * SPREAD, *_ENDS[kind])
        points = np.concatenate((c[:, None], others), axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            values = product.log_mgf(points.ravel() + 0j).real.reshape(points.shape)
        margin = 1e-6 * (high - low)
        low, high = low - margin, high + margin
        apart = others - c[:, None]
        with np.errstate(invalid="ignore"):
            ratio = _log_kappas(others) + values[:, 1:] - values[:, :1]
            ratio -= apart * np.where(apart > 0, low[:, None], high[:, None])
        images = np.stack((apart, ratio, 0.5 * apart * (others + c[:, None] + 1)), axis=2).tolist()
        columns = np.stack((c, values[:, 0], values[:, 0] + _log_kappas(c), low, high, curvature), axis=1).tolist()
        for row, at in enumerate(places):
            c_, log_m, log_bound, first, last, bend = columns[row]
            bucket = Bucket(kind, c_, log_m, log_bound, first, last, bend, images[row])
            bucket.relative = self._relative(bucket)
            self._buckets[kind, at] = bucket

    def _relative(self, bucket: Bucket) -> float:
        """Estimate delta over the kernel, at least 1: a small kernel needs that much less relative accuracy."""
        eps = bucket.low if bucket.c > 0 else bucket.high  # where the kernel is largest
        log_kernel = bucket.log_m - bucket.c * eps + math.log(bucket.size)
        kernel = math.exp(min(0.0, max(_LOG_TINY, log_kernel)))
        base = (self.product.delta_inf, 0.5, -math.expm1(min(0.0, eps + self.product.log_finite0)))[bucket.kind]
        return min(1e10, max(1.0, base / kernel))

    def _line(self, bucket: Bucket, level: int, shrink: float = 1.0) -> Line | None:
        """Return the nodes of one level: plain ones if they converge, else smoothed, finer from level to level."""
        if level < len(bucket.lines):
            return bucket.lines[level]
        product, relative = self.product, bucket.relative
        cap = self._cap
        wanted = self.tolerance * relative
        coarse = min(0.02 * wanted, 1e-2)
        if level == 0:
            s = math.sqrt(min(0.4 * wanted * bucket.size / bucket.density, 0.1 / bucket.curvature))
            # 1 - delta may be asked to full relative accuracy, however small
            fine = _ACCURACY if bucket.kind == _I else _ACCURACY * relative
            line = (
                plain_line(product, bucket, fine, _FINE_NODES)
                # a loss far from normal can be much rarer than the saddle point estimate says: keep digits in hand
                or plain_line(product, bucket, 1e-5 * coarse, _PLAIN_NODES)
                or plain_line(product, bucket, 2.5 * coarse, _MOST_PLAIN)
                or smooth_line(product, bucket, s, coarse, cap)
            )
        elif bucket.lines[-1].count < shrink * _HOPELESS * cap and bucket.lines[-1].count < cap:
            line = smooth_line(product, bucket, max(shrink, 0.1) * bucket.lines[-1].smoothing, coarse, cap)
        else:
            line = None
        if line is not None:
            bucket.lines.append(line)
        return line

    def _short(self, buckets: list[Bucket], rank: NDArray[np.intp], eps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the kernel adds to delta at eps[j], in buckets[rank[j]], at least and at most."""
        lines = [bucket.lines[0] for bucket in buckets]
        new = [line for line in lines if line.terms is None]
        if new:
            evaluate_terms(self.product, new, max(line.count for line in new))
        kernel, error = short_sums(lines, rank, eps)
        c, log_scale, excess, kind = np.array(
            [(line.c, line.log_scale, line.excess, bucket.kind) for line, bucket in zip(lines, buckets, strict=True)]
        ).T[:, rank]
        middle = kind == _I
        scale = np.exp(np.clip(log_scale - c * eps, -745.0, 700.0))
        below, above = np.where(middle, 0.0, excess), np.where(middle, excess, 0.0)
        return scale * (kernel - error - below) - _TINY, scale * (kernel + error + above) + _TINY

    def _long(
        self,
        bucket: Bucket,
        index: NDArray[np.intp],
        eps: FloatArray,
        base: Bounds,
        added: Bounds,
    ) -> None:
        """Tighten the brackets of one bucket by smoothed sums, finer and finer until they are narrow enough."""
        level, shrink = 0, 1.0
        while index.size and (line := self._line(bucket, level, shrink)) is not None:
            x = eps[index]
            kernel, correction, error = long_sums(self.product, line, x, self._room)
            scale = np.exp(np.clip(line.log_scale - line.c * x, -745.0, 700.0))
            below, above = (0.0, line.excess) if bucket.kind == _I else (line.excess, 0.0)
            result = scale * (kernel - correction - error - below) - _TINY, scale * (kernel + error + above) + _TINY
            if self._atoms is not None:
                add, take = self._atoms.corrections(x, line.smoothing)
                result = result[0] + add, result[1] - take
            _tighten(added, index, result)
            upper = base[1][index] + added[1][index]
            width = (upper - base[0][index] - added[0][index]) / upper
            shrink = min(0.7, 0.7 * self.tolerance / max(float(width.max()), 1e-300))
            index = index[width > self.tolerance]
            level += 1


def _classes(lines: list[Line | None], used: list[int]) -> NDArray[np.int64]:
    """Return the class of each short line, one above all classes for the others, and 0 for buckets not used."""
    out = np.where(np.array(used) > 0, _CLASSES[-1] + 1, 0)
    for at, line in enumerate(lines):
        if line is not None and not line.smoothing:
            out[at] = next(size for size in _CLASSES if line.count <= size)
    return out


def _log_kappas(c: FloatArray) -> FloatArray:
    """Return `log_kappa` of each exponent."""
    b = np.maximum(np.maximum(c, -1 - c), 1e-300)
    return np.asarray(b * np.log(b) - (1 + b) * np.log1p(b), dtype=np.float64)


def _tighten(bracket: Bounds, index: NDArray[np.intp], other: Bounds) -> None:
    """Intersect the brackets at `index` with others."""
    lower, upper = bracket
    lower[index] = np.maximum(lower[index], other[0])
    upper[index] = np.minimum(upper[index], other[1])

r"""The law of a sum of many independent integers, every mass with its own relative accuracy.

One Fourier transform gives each mass only to 1e-16 of the largest. Tilting moves the largest mass anywhere: with
:math:`K(\theta) = \sum_r k_r \log E\,e^{\theta X_r}`, the law with masses proportional to :math:`m_j e^{\theta j}` has
its mean at :math:`K'(\theta)` and

.. math:: m_j = m^{(\theta)}_j \, e^{K(\theta) - \theta j} .

A sequence of tilts covers the whole law; each gives the masses within about three standard deviations of its mean, where
the floor of the transform is amplified by no more than e^5. At the two ends of the support, where a tilted law is no
longer bell-shaped, the first thousand masses come from a recurrence with positive terms instead.

Errors are multiplied by k, so everything is centred at a mean: the exponent K and the logarithm of the transform are
log1p of small sums in which the linear term, known exactly, is separate from :math:`e^y - 1 - y` and
:math:`\sin z - z`. `lattice_rounding` proves how far every mass can be off; a law beyond `MOST_UNITS` is refused.
"""

from __future__ import annotations

from itertools import pairwise
from math import gcd, log, pi, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core import effort
from dpcore.core.rounding import UNIT
from dpcore.engine import lattice_rounding
from dpcore.engine.lattice_parts import (
    BITS,
    CELLS,
    IRREGULAR,
    Irregular,
    LatticePart,
    excess_sin,
    lattice_part,
    leading,
    log_mean_exp,
    tilted,
)
from dpcore.engine.lattice_rounding import FINE, NodeErrors, TiltedPart, additions
from dpcore.engine.mixture_rounding import LIBRARY
from dpcore.engine.sandwich_rounding import transform_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

_REACH = 3.2
"""Standard deviations to either side for which one tilt is trusted: e^(3.2^2/2) = 170 amplifies 16 log2(N) units to 5e-12."""
_END = 1024
"""Largest number of masses at an end of the support that come from the recurrence, if values are neighbours."""
_NOISE = 4e-15
"""A tilted mass below this share of the largest is rounding: the transform of a value that never occurs."""
_CHUNK = 1 << 13
"""Nodes of a transform at once."""
_MANY_VALUES, _FEW_COPIES = 1 << 10, 10_000
"""With more values and fewer copies a part is transformed at once: the k-th power of a transform right to 1e-16 is enough."""
_GAPS = 12
"""Differences of values whose damping is counted; fewer only leave out fewer nodes."""
_WIDEST = 1 << 15
"""Largest value of a part whose damping is counted: beyond it the count would cost more than it saves."""
_TAIL = 55.0
"""Masses beyond the length of a transform wrap around; together they are below e^-55."""
_MOST_TILTS = 10_000
"""Tilts on one side of the middle; a law that is bell-shaped down to e^-700 has a few hundred."""
_OVERLAP = 8
"""Positions that two windows both compute, to be compared."""
_OFTEN = 60.0
"""Expected number of copies from which a value counts for the period: rarer ones hardly damp the peaks of the others."""
_AGREE = 1e-10
"""Relative difference of two windows, and of the total from one, above which none is trusted."""
MOST_UNITS = 5e5
"""Largest proved error of a law, in units of 2^-53: 5.6e-11. A number called exact may be off by 1e-10."""


class _Tilt(NamedTuple):
    """The law tilted by theta: its cumulant K around the untilted centre, and its mean and deviation around that."""

    theta: float
    cumulant: float
    mean: float
    sigma: float


class _Sum:
    """The sum of all parts, with positions counted from 0, the smallest value."""

    def __init__(self, parts: Sequence[tuple[IntArray, FloatArray, int]]) -> None:
        self.parts = [lattice_part(*part) for part in parts]
        self.span = sum(int(index[-1]) * k for index, _, k in parts)
        whole = sum(part.centre * part.k for part in self.parts)
        self.origin = whole >> BITS
        self.rest = (whole - (self.origin << BITS)) / 2.0**BITS

    def cumulant(self, theta: FloatArray) -> FloatArray:
        """Return log E e^(theta (X - centre)) for several tilts."""
        return np.asarray(sum((part.k * log_mean_exp(part, theta) for part in self.parts), np.zeros_like(theta)))

    def tilt(self, theta: float) -> _Tilt:
        """Return the law tilted by theta."""
        mean = variance = 0.0
        for part in self.parts:
            weight = self.weights(part, theta)
            first = float(weight @ part.offset)
            mean += part.k * first
            variance += part.k * float(weight @ (part.offset - first) ** 2)
        return _Tilt(theta, float(self.cumulant(np.array([theta]))[0]), mean, sqrt(variance))

    @staticmethod
    def weights(part: LatticePart, theta: float) -> FloatArray:
        """Return the probabilities of one copy of a part under the tilt."""
        return np.asarray(tilted(part, theta)[0], dtype=np.float64)

    def cumulant_units(self, theta: float) -> float:
        """Bound the error of `cumulant` at one tilt, in units of 2^-53."""
        total = size = 0.0
        for part in self.parts:
            value = float(log_mean_exp(part, np.array([theta]))[0])
            with np.errstate(over="ignore", under="ignore"):
                own = lattice_rounding.cumulant_units(theta * part.offset, part.weight, theta * part.slip, value)
            total += part.k * (own + abs(value))
            size += part.k * abs(value)
        return lattice_rounding.SECOND * (total + len(self.parts) * size)

    def towards(self, target: float, start: _Tilt) -> _Tilt:
        """Return a tilt whose mean is near `target` (counted from the centre), by Newton steps within a bracket."""
        tilt = start
        inner, outer = start.theta, float("inf") if target > start.mean else -float("inf")
        for _ in range(200):
            if abs(tilt.mean - target) <= 0.05 * (tilt.sigma + 1.0):
                break
            if (tilt.mean < target) == (target > start.mean):
                inner = tilt.theta
            else:
                outer = tilt.theta
            # far out, where hardly anything varies, Newton's step is meaningless: there the tilt doubles
            most = 0.5 + abs(tilt.theta - start.theta)
            step = (target - tilt.mean) / max(tilt.sigma**2, 1e-300)
            theta = tilt.theta + min(most, max(-most, step))
            if abs(outer) < float("inf") and not min(inner, outer) < theta < max(inner, outer):
                theta = 0.5 * (inner + outer)
            tilt = self.tilt(theta)
        return tilt

    def level(self, tilt: _Tilt) -> float:
        """Return the logarithm of the mass near the mean of a tilt, by the normal approximation."""
        return tilt.cumulant - tilt.theta * tilt.mean - log(max(1.0, 2.5 * tilt.sigma))

    def scale(self, tilt: _Tilt, position: IntArray) -> FloatArray:
        """Return K(theta) - theta j, the logarithm of the factor of a tilted mass at position j."""
        return np.asarray(tilt.cumulant - tilt.theta * ((position - self.origin) - self.rest), dtype=np.float64)

    def scale_units(self, tilt: _Tilt, position: IntArray, scale: FloatArray) -> FloatArray:
        """Bound the relative error of e^scale, in units of 2^-53."""
        moved = np.abs(tilt.theta * ((position - self.origin) - self.rest))
        return np.asarray(
            self.cumulant_units(tilt.theta) + 2.0 * moved + np.abs(scale) + LIBRARY + 2.0, dtype=np.float64
        )

    def window(self, tilt: _Tilt, low: int, high: int) -> tuple[FloatArray, FloatArray]:
        """Return the masses at low..high by one transform of the tilted law, and bounds of their errors in units of 2^-53."""
        around = self.origin + round(tilt.mean + self.rest)
        length = self._length(tilt, max(high - around, around - low))
        effort.claim(64.0 * length, f"A transform of length {length}")
        transform, nodes = (self._whole if self._wide else self._nodes)(tilt.theta, length, around)
        raw = np.fft.irfft(transform, length)
        units = lattice_rounding.window_units(nodes, _both(np.abs(transform)), length, transform_units(length))
        position = np.arange(low, high + 1, dtype=np.int64)
        mass = raw[(position - around) % length]
        noise = max(_NOISE * float(raw.max()), units * UNIT)
        lost = mass < noise
        mass[lost] = 0.0
        scale = self.scale(tilt, position)
        factor = np.exp(scale)
        error = factor * np.where(lost, units + noise / UNIT, units + mass * self.scale_units(tilt, position, scale))
        return np.asarray(mass * factor), np.asarray(error)

    @property
    def _wide(self) -> bool:
        values, copies = max(part.offset.size for part in self.parts), sum(part.k for part in self.parts)
        return values > _MANY_VALUES and copies <= _FEW_COPIES

    def _whole(self, theta: float, length: int, around: int) -> tuple[NDArray[np.complex128], float]:
        """Return the transform at all nodes from those of the parts, and the sum of its errors; values beyond the length wrap around.

        In extended precision: an error of one copy is multiplied by their number.
        """
        total = np.ones(length // 2 + 1, dtype=np.clongdouble)
        log_size, units = np.zeros(total.size), np.zeros(total.size)
        for part in self.parts:
            place = np.rint(part.offset - part.offset[0]).astype(np.int64) % length
            weight, own = tilted(part, theta)
            folded = np.zeros(length, dtype=np.longdouble)
            np.add.at(folded, place, weight)
            one = np.fft.rfft(folded)
            wrong = FINE * (transform_units(length, 1 + part.top // length) + additions(place.size)) + float(
                own @ weight
            )
            size = np.maximum(np.abs(one).astype(np.float64), 1e-300) + wrong * UNIT
            log_size += part.k * np.log(size)
            units += part.k * (wrong / size + 3.0 * FINE)
            for bit in bin(part.k)[:1:-1]:
                if bit == "1":
                    total *= one
                one *= one
            effort.checkpoint(0.0)
        turn = np.arange(total.size) * (around % length) % length
        errors = np.exp(np.minimum(log_size, 0.0)) * (units + 2.0 * LIBRARY + 24.0)
        return np.asarray(total * np.exp(2j * pi / length * turn), dtype=np.complex128), _both(errors)

    def _nodes(self, theta: float, length: int, around: int) -> tuple[NDArray[np.complex128], float]:
        """Return the transform at the nodes where it is not negligible, and the sum of its errors over all nodes in units."""
        transform = np.zeros(length // 2 + 1, dtype=np.complex128)
        errors = np.zeros(transform.size)
        damping = self._damping(theta)
        copies = [self._copy(part, theta) for part in self.parts]
        period = self._period(theta)
        values = max(part.offset.size for part in self.parts)
        chunk = max(1, min(_CHUNK, CELLS // (4 * values)))
        for start in range(0, transform.size, chunk):
            effort.checkpoint()
            node = np.arange(start, min(transform.size, start + chunk))
            t = np.asarray(2.0 * pi / length * node, dtype=np.float64)
            lost = sum((rate * np.sin(0.5 * gap * t) ** 2 for gap, rate in damping), np.zeros_like(t))
            relevant = lost < _TAIL
            if relevant.any():
                at = node[relevant]
                transform[at], errors[at] = self._transform(copies, period, (at, length), around)
        return transform, _both(errors)

    @staticmethod
    def _copy(part: LatticePart, theta: float) -> TiltedPart:
        """Return one copy of a part under a tilt."""
        fine, units = tilted(part, theta)
        weight = np.asarray(fine, dtype=np.float64)
        shift = round(float(fine @ part.offset) * 2.0**BITS)
        offset = part.offset - shift / 2.0**BITS
        mean = float((fine * offset).sum())
        away = weight * np.abs(offset)
        blur = float(away @ (units + FINE * (2.0 + additions(offset.size)))) + abs(mean)
        distance = np.rint(part.offset - part.offset[np.argmax(weight)]).astype(np.int64)
        return TiltedPart(weight, offset, shift, mean, blur, float(away @ np.abs(offset)), distance, offset.size)

    def _length(self, tilt: _Tilt, extent: int) -> int:
        """Return a length at which the masses that wrap into a stretch of `extent` are below e^-55, by Chernoff's bound."""
        s = np.array([5.0, 8.0, 10.5, 14.0, -5.0, -8.0, -10.5, -14.0]) / tilt.sigma
        rise = self.cumulant(tilt.theta + s) - tilt.cumulant - s * tilt.mean
        distance = (rise + _TAIL) / np.abs(s)
        reach = max(float(distance[:4].min()), float(distance[4:].min()))
        return fast_length(int(min(self.span + 1, reach + extent + 2)) + 1)

    def _damping(self, theta: float) -> list[tuple[int, float]]:
        """Return pairs (gap g, rate a) with |E e^(itX)| <= exp(-sum of a sin^2(g t / 2)) under the tilt.

        For one copy 1 - |E e^(itX)|^2 is the sum of 4 v_i v_j sin^2(t (x_i - x_j) / 2) over all pairs of values; any
        of them make a bound. Where it is below e^-55 the transform need not be computed.
        """
        rates: dict[int, float] = {}
        for part in self.parts:
            if part.top > _WIDEST:
                continue
            dense = np.zeros(part.top + 1)
            dense[np.rint(part.offset - part.offset[0]).astype(np.int64)] = self.weights(part, theta)
            for gap in np.unique(np.rint(np.geomspace(1, part.top, _GAPS))).astype(int).tolist():
                rate = 2.0 * part.k * float(dense[gap:] @ dense[:-gap])
                rates[gap] = rates.get(gap, 0.0) + rate
        return [(gap, rate) for gap, rate in rates.items() if rate > 0.0]

    def _period(self, theta: float) -> int:
        """Return the greatest common divisor of the differences between all frequent values.

        If it is G > 1, the transform is large not only near t = 0 but near every multiple of 2 pi / G.
        """
        period = 0
        for part in self.parts:
            often = np.flatnonzero(part.k * self.weights(part, theta) > _OFTEN)
            period = gcd(period, *np.diff(np.rint(part.offset[often])).astype(np.int64).tolist())
        return period or 1

    def _transform(
        self, copies: list[TiltedPart], period: int, nodes: tuple[IntArray, int], around: int
    ) -> tuple[NDArray[np.complex128], FloatArray]:
        """Return E e^(-it (X - around)) under the tilt, at t = 2 pi node / length, and bounds of its errors in units.

        Near the peak at 2 pi m / G put t = 2 pi m / G + u. All frequent values have the phase of the most frequent one
        there, so for one copy E e^(itX) is an exactly known phase times one plus a small sum in u.
        """
        node, length = nodes
        peak = np.rint(node * period / length).astype(np.int64)
        u = 2.0 * pi * (node * period - peak * length) / (length * period)
        real, phase, phases = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
        errors = NodeErrors(u, period, len(copies))
        whole = common = 0
        for part, one in zip(self.parts, copies, strict=True):
            weight = one.weight
            whole += (part.centre + one.shift) * part.k
            common += part.k * round(float(part.offset[np.argmax(weight)]) + part.centre / 2.0**BITS)
            z = u[:, None] * one.offset
            turn = 2.0 * pi / period * (peak[:, None] * one.distance % period)
            cos = -2.0 * (np.sin(0.5 * (z + turn)) ** 2 * weight).sum(axis=1)
            sine = np.where(turn == 0.0, excess_sin(z), np.sin(z + turn) - z)
            sin = (sine * weight).sum(axis=1) + u * one.mean
            with np.errstate(divide="ignore"):  # a transform of size 0 has the logarithm -inf, and is 0 again below
                real += part.k * 0.5 * np.log1p(np.maximum(2.0 * cos + cos * cos + sin * sin, -1.0))
            own = part.k * np.arctan2(sin, 1.0 + cos)
            phase += own
            phases += np.abs(own)
            errors.add(one, part.k, cos, sin)
        central = u * ((whole - (around << BITS)) / 2.0**BITS)
        turned = 2.0 * pi / period * (peak * ((common - around) % period) % period)
        phase += central
        phase += turned
        phases += np.abs(central) + turned
        return np.asarray(np.exp(real) * np.exp(-1j * phase)), errors.total(phases)

    def end_size(self, *, upper: bool) -> int:
        """Return how many outermost masses the recurrence gives: those where few copies differ from the end value."""
        part = max(self.parts, key=lambda part: part.k)
        gap = round(float(part.offset[-1] - part.offset[-2] if upper else part.offset[1] - part.offset[0]))
        inside = (self.span - self.origin if upper else self.origin) // 4
        return max(_OVERLAP, min(_END * gap, 8 * _END, part.k // 4 * gap, inside))

    def end(self, tilt: _Tilt, count: int, *, upper: bool) -> tuple[FloatArray, FloatArray]:
        """Return the outermost `count` masses of one end, outermost first, and bounds of their errors in units of 2^-53."""
        start = self.towards((self.span if upper else 0) - self.origin + (-0.35 if upper else 0.35) * count, tilt)
        total, units = np.ones(1), 0.0
        for part in self.parts:
            fine, own = tilted(part, start.theta)
            weight = np.asarray(fine, dtype=np.float64)
            distance = np.rint(part.offset[-1] - part.offset if upper else part.offset - part.offset[0])
            order = np.argsort(distance)
            distance, weight = distance[order].astype(np.int64), weight[order]
            first, more = leading(distance, weight, float(own.max()) + 1.0, part.k, count)
            units += more + min(total.size, count) + 1.0
            total = np.convolve(total, first)[:count]
        inward = np.arange(count, dtype=np.int64)
        position = self.span - inward if upper else inward
        with np.errstate(divide="ignore", invalid="ignore"):
            scale, log_total = self.scale(start, position), np.log(total)
            mass = np.asarray(np.exp(log_total + scale))
            sizes = (LIBRARY + 1.0) * np.abs(log_total) + np.abs(scale) + units
            error = mass * (sizes + self.scale_units(start, position, scale))
        return mass, np.where(mass > 0.0, error, 0.0)


def fast_length(least: int) -> int:
    """Return an even length of at least `least` with small prime factors, for a transform."""
    power = 1 << max(1, (least - 1).bit_length())
    return next((n for n in (5 * power // 8, 3 * power // 4) if n >= least and n % 2 == 0), power)


def _both(half: FloatArray) -> float:
    """Return the sum over all frequencies of a real transform from that of the half that is stored; its ends count twice at most."""
    return 2.0 * float(half.sum())


def _walk(law: _Sum, level: float, direction: int, middle: _Tilt) -> tuple[list[_Tilt], bool]:
    """Return the tilts beyond the middle one, outward, and whether the end of the support must follow."""
    edge = float(law.span - law.origin if direction > 0 else -law.origin)
    end = law.end_size(upper=direction > 0)
    tilts: list[_Tilt] = []
    tilt = middle
    while law.level(tilt) >= level:  # every round moves outward by a positive distance, and adds a tilt
        if len(tilts) >= _MOST_TILTS:
            raise Irregular(IRREGULAR)
        if abs(edge - tilt.mean) <= end + _REACH * tilt.sigma:
            return tilts, True
        limit = edge - direction * 0.5 * end
        jump = 2.0 * _REACH * tilt.sigma + 2.0
        while True:  # the jump falls by a fifth each round and is refused below 0.01
            target = tilt.mean + direction * jump
            target = min(target, limit) if direction > 0 else max(target, limit)
            following = law.towards(target, tilt)
            distance = direction * (following.mean - tilt.mean)
            allowed = _REACH * (tilt.sigma + following.sigma) + 2.0
            # between bell shapes the tilt changes by distance / variance; more means that something narrow lies between
            turn = abs(following.theta - tilt.theta) * min(tilt.sigma, following.sigma)
            if 0.0 < distance <= 1.02 * allowed and turn <= 3.0 * _REACH:
                break
            jump = min(0.8 * jump, allowed)
            if jump < 0.01:
                raise Irregular(IRREGULAR)
        tilt = following
        tilts.append(tilt)
        effort.checkpoint(0.0)
    return tilts, False


def width(parts: Sequence[tuple[IntArray, FloatArray, int]], level: float) -> int:
    """Return a bound of the number of positions from the first to the last mass above e^level (Chernoff)."""
    law = _Sum(parts)
    theta = np.geomspace(1e-6, 700.0, 91)
    above = (law.cumulant(theta) - level) / theta
    below = (law.cumulant(-theta) - level) / theta
    up = min(float(law.span - law.origin), float(above.min()))
    down = min(float(law.origin), float(below.min()))
    return int(up + down) + 1


def _write(out: FloatArray, at: int, law: tuple[FloatArray, FloatArray], shared: int) -> None:
    """Write masses and errors to their place; the first `shared` of them (the last, if negative) exist already and must agree."""
    (mass, error), (masses, errors) = law, out
    place = slice(at, at + mass.size)
    old, new = (masses[place][:shared], mass[:shared]) if shared >= 0 else (masses[place][shared:], mass[shared:])
    largest = max(float(old.max(initial=0.0)), float(new.max(initial=0.0)))
    if largest > 1e-300 and float(np.abs(old - new).max()) > _AGREE * largest:
        raise Irregular(IRREGULAR)
    masses[place], errors[place] = mass, error


def sum_law(parts: Sequence[tuple[IntArray, FloatArray, int]], level: float) -> tuple[int, FloatArray, float]:
    """Return (first position, masses, units) of the sum of k copies of each part.

    Parameters
    ----------
    parts : sequence of tuple of (ndarray of int, ndarray of float, int)
        Triples (values from 0 ascending, weights, k); the greatest common divisor of all values is one.
    level : float
        Logarithm of the smallest mass that is listed.

    Returns
    -------
    tuple of (int, ndarray of float, float)
        The first position, the masses from there on, and how far a sum of them from either end on can be off, in units of 2^-53 of it.
    """
    law = _Sum(parts)
    middle = law.tilt(0.0)
    down, low_end = _walk(law, level, -1, middle)
    up, high_end = _walk(law, level, 1, middle)
    tilts = [*reversed(down), middle, *up]
    # a boundary between two tilts lies equally many of their own standard deviations from both
    bounds = [
        law.origin + round(a.mean + law.rest + (b.mean - a.mean) * a.sigma / (a.sigma + b.sigma))
        for a, b in pairwise(tilts)
    ]
    first = max(0, law.origin + round(tilts[0].mean - _REACH * tilts[0].sigma) - 1)
    last = min(law.span, law.origin + round(tilts[-1].mean + _REACH * tilts[-1].sigma) + 1)
    lower = min(law.span + 1, max(law.end_size(upper=False), first + _OVERLAP)) if low_end else 0
    upper = min(law.span + 1, max(law.end_size(upper=True), law.span - last + _OVERLAP)) if high_end else 0
    start = 0 if low_end else min(first, law.span + 1 - upper)
    stop = law.span if high_end else max(last, lower - 1)
    effort.claim(56.0 * (stop - start + 1), f"A lattice law of {stop - start + 1} losses")
    out = np.zeros((2, stop - start + 1))
    edges = [first, *[bound + 1 for bound in bounds], last + 1]
    # neighbours are both computed at a few positions, a small part of a standard deviation, and compared there
    shared = [0, *[max(1, min(_OVERLAP, int(0.2 * min(a.sigma, b.sigma)))) for a, b in pairwise(tilts)], 0]
    with np.errstate(under="ignore"):
        for n, tilt in enumerate(tilts):
            low, high = max(first, edges[n] - shared[n]), min(last, edges[n + 1] - 1 + shared[n + 1])
            if low <= high:
                _write(out, low - start, law.window(tilt, low, high), 2 * shared[n])
            effort.checkpoint((n + 1) / len(tilts))
        if lower:
            _write(out, 0, law.end(tilts[0], lower, upper=False), -_OVERLAP)
        if upper:
            mass, error = law.end(tilts[-1], upper, upper=True)
            _write(out, out.shape[1] - upper, (mass[::-1], error[::-1]), _OVERLAP)
    units = lattice_rounding.tail_units(*out)
    if abs(float(out[0].sum()) - 1.0) > _AGREE or not units <= MOST_UNITS:
        raise Irregular(IRREGULAR)
    return start, out[0], units

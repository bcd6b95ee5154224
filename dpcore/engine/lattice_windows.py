r"""The law of a sum of many independent integers, every mass with its own relative accuracy.

One Fourier transform gives each mass only to 1e-16 of the largest. Tilting moves the largest mass anywhere: with
:math:`K(\theta) = \sum_r k_r \log E\,e^{\theta X_r}`, the law with masses proportional to :math:`m_j e^{\theta j}` has
its mean at :math:`K'(\theta)` and

.. math:: m_j = m^{(\theta)}_j \, e^{K(\theta) - \theta j} .

A sequence of tilts covers the whole law; each gives the masses within about four standard deviations of its mean, where
the floor of the transform is amplified by no more than e^9. At the two ends of the support, where a tilted law is no
longer bell-shaped, the first thousand masses come from a recurrence with positive terms instead.

Errors are multiplied by k, so everything is centred at a mean: the exponent K and the logarithm of the transform are
log1p of small sums in which the linear term, known exactly, is separate from :math:`e^y - 1 - y` and
:math:`\sin z - z`.
"""

from __future__ import annotations

from itertools import pairwise
from math import exp, gcd, log, log1p, pi, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core import effort
from dpcore.core.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

_BITS = 26
"""Means are rounded to so many binary places: differences from them and k times them are then exact."""
_REACH = 4.2
"""Standard deviations to either side for which one tilt is trusted: e^(4.2^2/2) = 7000 amplifies the floor to 1e-12."""
_END = 1024
"""Largest number of masses at an end of the support that come from the recurrence, if values are neighbours."""
_NOISE = 4e-15
"""A tilted mass below this share of the largest is rounding: the transform of a value that never occurs."""
_CHUNK, _CELLS = 1 << 13, 1 << 20
"""Nodes of a transform and numbers of a matrix at once, 8 MB."""
_MANY_VALUES, _FEW_COPIES = 1 << 10, 10_000
"""With more values and fewer copies a part is transformed at once: the k-th power of a transform right to 1e-16 is enough."""
_GAPS = 12
"""Differences of values whose damping is counted; fewer only leave out fewer nodes."""
_WIDEST = 1 << 15
"""Largest value of a part whose damping is counted: beyond it the count would cost more than it saves."""
_TAIL = 55.0
"""Masses beyond the length of a transform wrap around; together they are below e^-55."""
_PLACES = 1200
"""Binary places of an exact mean: more than the 1074 of the smallest double."""
_MOST_TILTS = 10_000
"""Tilts on one side of the middle; a law of bell shapes down to e^-700 has some hundreds of them."""
_OVERLAP = 8
"""Positions that two windows both compute, to be compared."""
_OFTEN = 60.0
"""Expected number of copies from which a value counts for the period: rarer ones hardly damp the peaks of the others."""
_AGREE = 1e-10
"""Relative difference of two windows, and of the total from one, above which none is trusted."""
_IRREGULAR = "The law of this sum on a lattice is too irregular for the method of tilted transforms."


class Irregular(BudgetError):
    """Two tilts disagree about the same masses: a tilted law is not bell-shaped, and neither can be trusted."""


class _Part(NamedTuple):
    """k copies of an integer with values ``centre + offset`` (centre: a rounded mean, `slip`: mean - centre)."""

    offset: FloatArray
    weight: FloatArray
    k: int
    centre: int
    slip: float

    @property
    def top(self) -> int:
        """Largest value; the smallest is 0."""
        return round(float(self.offset[-1] - self.offset[0]))


def _excess_exp(y: FloatArray) -> FloatArray:
    """Return e^y - 1 - y >= 0 without cancellation."""
    series = np.zeros_like(y)
    small = np.where(np.abs(y) < 0.7, y, 0.0)
    for n in range(17, 2, -1):
        series = small / n * (1.0 + series)
    with np.errstate(over="ignore"):
        return np.where(np.abs(y) < 0.7, 0.5 * small * small * (1.0 + series), np.expm1(y) - y)


def _excess_sin(z: FloatArray) -> FloatArray:
    """Return sin z - z without cancellation."""
    small = np.where(np.abs(z) < 1.0, z, 0.0)
    square = small * small
    series = np.zeros_like(z)
    for n in range(19, 4, -2):
        series = -square / (n * (n - 1)) * (1.0 + series)
    return np.where(np.abs(z) < 1.0, -small * square / 6.0 * (1.0 + series), np.sin(z) - z)


def _part(index: IntArray, weight: FloatArray, k: int) -> _Part:
    """Return one part; its mean is computed in integer multiples of 2^-1200, which represent every double exactly."""
    fraction, power = np.frexp(weight)
    digits = np.ldexp(fraction, 53).astype(np.int64).tolist()
    shifts = (power.astype(np.int64) + (_PLACES - 53)).tolist()
    fixed = [d << s if s >= 0 else d >> -s for d, s in zip(digits, shifts, strict=True)]
    total = sum(fixed)
    moment = sum(f * i for f, i in zip(fixed, index.tolist(), strict=True))
    centre = (moment << _BITS) // total
    slip = ((moment << _BITS) - centre * total) / total / 2.0**_BITS
    normal = np.array([f / total for f in fixed])
    return _Part(index - centre / 2.0**_BITS, normal, k, centre, slip)


def _log_mean_exp(part: _Part, theta: FloatArray) -> FloatArray:
    """Return log E e^(theta (X - centre)) for one copy, a few tilts at a time."""
    rows = max(1, _CELLS // part.offset.size)
    return np.concatenate([_some_log_mean_exp(part, theta[i : i + rows]) for i in range(0, theta.size, rows)])


def _some_log_mean_exp(part: _Part, theta: FloatArray) -> FloatArray:
    """Return the same at once; log1p of a small number while the tilt is small."""
    exponent = theta[:, None] * part.offset
    weighted = exponent + np.log(part.weight)
    largest = weighted.max(axis=1)
    with np.errstate(under="ignore"):
        small = _excess_exp(np.minimum(exponent, 30.0)) @ part.weight + theta * part.slip
        large = largest + np.log(np.exp(weighted - largest[:, None]).sum(axis=1))
    return np.where(exponent.max(axis=1) < 30.0, np.log1p(small), large)


class _Tilt(NamedTuple):
    """The law tilted by theta: its cumulant K around the untilted centre, and its mean and deviation around that."""

    theta: float
    cumulant: float
    mean: float
    sigma: float


class _Sum:
    """The sum of all parts, with positions counted from 0, the smallest value."""

    def __init__(self, parts: Sequence[tuple[IntArray, FloatArray, int]]) -> None:
        self.parts = [_part(*part) for part in parts]
        self.span = sum(int(index[-1]) * k for index, _, k in parts)
        whole = sum(part.centre * part.k for part in self.parts)
        self.origin = whole >> _BITS
        self.rest = (whole - (self.origin << _BITS)) / 2.0**_BITS

    def cumulant(self, theta: FloatArray) -> FloatArray:
        """Return log E e^(theta (X - centre)) for several tilts."""
        return np.asarray(sum((part.k * _log_mean_exp(part, theta) for part in self.parts), np.zeros_like(theta)))

    def tilt(self, theta: float) -> _Tilt:
        """Return the law tilted by theta."""
        mean = variance = 0.0
        for part in self.parts:
            tilted = self.weights(part, theta)
            first = float(tilted @ part.offset)
            mean += part.k * first
            variance += part.k * float(tilted @ (part.offset - first) ** 2)
        return _Tilt(theta, float(self.cumulant(np.array([theta]))[0]), mean, sqrt(variance))

    @staticmethod
    def weights(part: _Part, theta: float) -> FloatArray:
        """Return the probabilities of one copy of a part under the tilt."""
        exponent = theta * part.offset + np.log(part.weight)
        with np.errstate(under="ignore"):
            raw = np.exp(exponent - exponent.max())
            return np.asarray(raw / raw.sum(), dtype=np.float64)

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

    def window(self, tilt: _Tilt, low: int, high: int) -> FloatArray:
        """Return the masses at low..high by one transform of the tilted law."""
        around = self.origin + round(tilt.mean + self.rest)
        length = self._length(tilt, max(high - around, around - low))
        effort.claim(64.0 * length, f"A transform of length {length}")
        transform = self._whole(tilt.theta, length, around) if self._wide else self._nodes(tilt.theta, length, around)
        raw = np.fft.irfft(transform, length)
        position = np.arange(low, high + 1, dtype=np.int64)
        tilted = raw[(position - around) % length]
        tilted[tilted < _NOISE * raw.max()] = 0.0
        return np.asarray(tilted * np.exp(self.scale(tilt, position)))

    @property
    def _wide(self) -> bool:
        values, copies = max(part.offset.size for part in self.parts), sum(part.k for part in self.parts)
        return values > _MANY_VALUES and copies <= _FEW_COPIES

    def _whole(self, theta: float, length: int, around: int) -> NDArray[np.complex128]:
        """Return the transform at all nodes from those of the parts; values beyond the length wrap around."""
        total = np.ones(length // 2 + 1, dtype=np.complex128)
        for part in self.parts:
            place = np.rint(part.offset - part.offset[0]).astype(np.int64) % length
            one = np.fft.rfft(np.bincount(place, weights=self.weights(part, theta), minlength=length))
            for bit in bin(part.k)[:1:-1]:
                if bit == "1":
                    total *= one
                one *= one
            effort.checkpoint(0.0)
        turn = np.arange(total.size) * (around % length) % length
        return np.asarray(total * np.exp(2j * pi / length * turn), dtype=np.complex128)

    def _nodes(self, theta: float, length: int, around: int) -> NDArray[np.complex128]:
        """Return the transform at the nodes where it is not negligible."""
        transform = np.zeros(length // 2 + 1, dtype=np.complex128)
        damping = self._damping(theta)
        values = max(part.offset.size for part in self.parts)
        chunk = max(1, min(_CHUNK, _CELLS // (4 * values)))
        for start in range(0, transform.size, chunk):
            effort.checkpoint()
            node = np.arange(start, min(transform.size, start + chunk))
            t = np.asarray(2.0 * pi / length * node, dtype=np.float64)
            lost = sum((rate * np.sin(0.5 * gap * t) ** 2 for gap, rate in damping), np.zeros_like(t))
            relevant = lost < _TAIL
            if relevant.any():
                transform[node[relevant]] = self._transform(theta, node[relevant], length, around)
        return transform

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

    def _transform(self, theta: float, node: IntArray, length: int, around: int) -> NDArray[np.complex128]:
        """Return E e^(-it (X - around)) under the tilt, at t = 2 pi node / length.

        Near the peak at 2 pi m / G put t = 2 pi m / G + u. All frequent values have the phase of the most frequent one
        there, so for one copy E e^(itX) is an exactly known phase times one plus a small sum in u.
        """
        period = self._period(theta)
        peak = np.rint(node * period / length).astype(np.int64)
        u = 2.0 * pi * (node * period - peak * length) / (length * period)
        real, phase = np.zeros_like(u), np.zeros_like(u)
        whole = common = 0
        for part in self.parts:
            weight = self.weights(part, theta)
            shift = round(float(weight @ part.offset) * 2.0**_BITS)
            offset = part.offset - shift / 2.0**_BITS
            distance = np.rint(part.offset - part.offset[np.argmax(weight)]).astype(np.int64)
            whole += (part.centre + shift) * part.k
            common += part.k * round(float(part.offset[np.argmax(weight)]) + part.centre / 2.0**_BITS)
            z = u[:, None] * offset
            turn = 2.0 * pi / period * (peak[:, None] * distance % period)
            cos = -2.0 * (np.sin(0.5 * (z + turn)) ** 2 @ weight)
            sine = np.where(turn == 0.0, _excess_sin(z), np.sin(z + turn) - z)
            sin = sine @ weight + u * float(weight @ offset)
            with np.errstate(divide="ignore"):  # a transform of size 0 has the logarithm -inf, and is 0 again below
                real += part.k * 0.5 * np.log1p(np.maximum(2.0 * cos + cos * cos + sin * sin, -1.0))
            phase += part.k * np.arctan2(sin, 1.0 + cos)
        phase += u * ((whole - (around << _BITS)) / 2.0**_BITS)
        phase += 2.0 * pi / period * (peak * ((common - around) % period) % period)
        return np.asarray(np.exp(real) * np.exp(-1j * phase))

    def end_size(self, *, upper: bool) -> int:
        """Return how many outermost masses the recurrence gives: those where few copies differ from the end value."""
        part = max(self.parts, key=lambda part: part.k)
        gap = round(float(part.offset[-1] - part.offset[-2] if upper else part.offset[1] - part.offset[0]))
        inside = (self.span - self.origin if upper else self.origin) // 4
        return max(_OVERLAP, min(_END * gap, 8 * _END, part.k // 4 * gap, inside))

    def end(self, tilt: _Tilt, count: int, *, upper: bool) -> FloatArray:
        """Return the outermost `count` masses of one end, outermost first."""
        start = self.towards((self.span if upper else 0) - self.origin + (-0.35 if upper else 0.35) * count, tilt)
        total = np.ones(1)
        for part in self.parts:
            weight = self.weights(part, start.theta)
            distance = np.rint(part.offset[-1] - part.offset if upper else part.offset - part.offset[0])
            order = np.argsort(distance)
            distance, weight = distance[order].astype(np.int64), weight[order]
            total = np.convolve(total, _leading(distance, weight, part.k, count))[:count]
        inward = np.arange(count, dtype=np.int64)
        position = self.span - inward if upper else inward
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(np.log(total) + self.scale(start, position)))


def fast_length(least: int) -> int:
    """Return an even length of at least `least` with small prime factors, for a transform."""
    power = 1 << max(1, (least - 1).bit_length())
    return next((n for n in (5 * power // 8, 3 * power // 4) if n >= least and n % 2 == 0), power)


def _leading(distance: IntArray, weight: FloatArray, k: int, count: int) -> FloatArray:
    """Return the first coefficients of (sum of w_i x^(d_i))^k, d_0 = 0, positive terms only.

    For n <= k the coefficients obey n w_0 b_n = sum over i > 0 of (d_i (k + 1) - n) w_i b_(n - d_i), which follows from
    the derivative of the power; fewer copies are multiplied out.
    """
    if k <= count:
        dense = np.zeros(count)
        dense[distance[distance < count]] = weight[distance < count]
        result = np.ones(1)
        for bit in bin(k)[2:]:
            result = np.convolve(result, result)[:count]
            if bit == "1":
                result = np.convolve(result, dense)[:count]
        return np.asarray(np.append(result, np.zeros(count - result.size)))
    rest, away = weight[1:], distance[1:]
    inside = away < count
    rest, away = rest[inside], away[inside]
    lead = int(away.max(initial=0))
    padded = np.zeros(lead + count)
    padded[lead] = exp(k * log1p(-float(weight[1:].sum())))
    share, reach = rest / weight[0], (away * (k + 1.0)) * rest / weight[0]
    for n in range(1, count):
        padded[lead + n] = (reach - n * share) @ padded[lead + n - away] / n
    return np.asarray(padded[lead:])


def _walk(law: _Sum, level: float, direction: int, middle: _Tilt) -> tuple[list[_Tilt], bool]:
    """Return the tilts beyond the middle one, outward, and whether the end of the support must follow."""
    edge = float(law.span - law.origin if direction > 0 else -law.origin)
    end = law.end_size(upper=direction > 0)
    tilts: list[_Tilt] = []
    tilt = middle
    while law.level(tilt) >= level:  # every round moves outward by a positive distance, and adds a tilt
        if len(tilts) >= _MOST_TILTS:
            raise Irregular(_IRREGULAR)
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
                raise Irregular(_IRREGULAR)
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


def _write(out: FloatArray, at: int, mass: FloatArray, shared: int) -> None:
    """Write masses to their place; the first `shared` of them (the last, if negative) exist already and must agree."""
    place = slice(at, at + mass.size)
    old, new = (out[place][:shared], mass[:shared]) if shared >= 0 else (out[place][shared:], mass[shared:])
    largest = max(float(old.max(initial=0.0)), float(new.max(initial=0.0)))
    if largest > 1e-300 and float(np.abs(old - new).max()) > _AGREE * largest:
        raise Irregular(_IRREGULAR)
    out[place] = mass


def sum_law(parts: Sequence[tuple[IntArray, FloatArray, int]], level: float) -> tuple[int, FloatArray]:
    """Return (first position, masses) of the sum of k copies of each part.

    Parameters
    ----------
    parts : sequence of tuple of (ndarray of int, ndarray of float, int)
        Triples (values from 0 ascending, weights, k); the greatest common divisor of all values is one.
    level : float
        Logarithm of the smallest mass that is listed.

    Returns
    -------
    tuple of (int, ndarray of float)
        The first position and the masses from there on.
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
    effort.claim(40.0 * (stop - start + 1), f"A lattice law of {stop - start + 1} losses")
    out = np.zeros(stop - start + 1)
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
            _write(out, out.size - upper, law.end(tilts[-1], upper, upper=True)[::-1], _OVERLAP)
    if abs(float(out.sum()) - 1.0) > _AGREE:
        raise Irregular(_IRREGULAR)
    return start, out

r"""Delta of a product of lattice measures, by Fourier transforms tilted to the epsilon.

With M_i(t) = sum q e^(tL) and the tilted laws q e^(tL) / M_i(t), whose k-fold convolution m comes from one transform,

.. math:: \delta(\varepsilon) = q_\infty + e^{\sum k_i\log M_i(t) - t\varepsilon}
          \sum_{L > \varepsilon} m_L\,e^{-t(L-\varepsilon)}(1 - e^{-(L-\varepsilon)}).

At the saddle point t of the exponent the sum is over the middle of a bell, so an error of 1e-16 in m is one of about
1e-16 in delta however small that is. One transform serves all epsilons near its own.

Bounds. The mass outside the length, which wraps around, is bounded by Chernoff; roundings of the transforms, the weights, the
exponent and the sums are counted (`sandwich_rounding`, with the proof).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from dpcore.core import effort
from dpcore.core.errors import BudgetError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.engine import profile
from dpcore.engine.lattice_windows import fast_length
from dpcore.engine.mixture_rounding import PAIRS
from dpcore.engine.sandwich_measure import UNIT, Measure
from dpcore.engine.sandwich_rounding import exponent_units, kernel, transform_units, value_units, weight_units
from dpcore.engine.tilted_masses import folded, log_mean, tilted, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

_Number = TypeVar("_Number", np.float64, np.complex128)

LONGEST = 1 << 21
"""Longest transform: 130 MB and a third of a second or so; a longer product gets a coarser lattice."""

_POINT_BYTES = 64.0  # bytes of a point of a transform, with its masses and their profile

_BINS, _TILTS = 2048, 240
"""Bins of a law and tilts of the table for the search of a saddle point, which only affects the width of a bracket."""

_FAR = 700.0  # an exponent of e near the largest double
_STRETCH, _REACH = 4.0, 4.5
"""Standard deviations of the tilted loss whose epsilons share a window, and its reach to either side."""

_SECOND = 1.01  # factor for terms of second order and the roundings of the bounds

_DOUBLES = 600.0
"""A window ends where its tilt amounts to e^600: larger factors exceed doubles, and those masses would be lost."""

_CACHED = 32_000_000
"""Bytes of windows cached by one product."""

_HALVINGS = 80
"""Most halvings of a tilt. The exponent is at most tilt times the largest loss of the product, which is at most cells
times copies times the step, and no tilt exceeds 30 over the step: 2^80 is beyond 30 x 2^19 cells x 10^9 copies."""

_TAIL = 42.0
"""Logarithm of the mass that may wrap around a transform: e^-42 is 6e-19."""

_SPARE, _MOST_SPARE = 1e5, 1e3
"""Factor by which a tilt below the saddle point may raise the error: the first over the copies, at most the second."""

_SURE, _SLOWER = 40.0, 2.0 ** -np.arange(0.0, 6.0)
"""Loss above an epsilon from which a point counts nearly whole, and the exponents of Chernoff's bound that are tried."""

_SHORTER = 0.6
"""Share of the length below which such a tilt is worth it."""


class _Law(NamedTuple):
    """k copies of a measure on the losses ``(first + i) h``, with bins of it for the search of a tilt."""

    first: int
    mass: FloatArray
    log_mass: FloatArray
    k: int
    bin_loss: FloatArray
    bin_mass: FloatArray
    rest: float


class _Tilted(NamedTuple):
    """A tilt, the tilted laws, the sum of k log M, and the roundings: of the masses in total, and of the exponent."""

    tilt: float
    weights: list[FloatArray]
    exponent: float
    spread: float
    scale: float


@dataclass(frozen=True, slots=True)
class _Window:
    """One tilted product: the finite part of delta for epsilons from `low` to `high`."""

    low: float
    high: float
    tilt: float
    exponent: float
    reference: float
    loss: FloatArray
    table: profile.Tables
    noise: float
    absolute: float
    outside: float
    relative: float
    step: float
    length: int

    @property
    def weight(self) -> int:
        """Bytes it holds."""
        return self.loss.nbytes + self.table.delta.nbytes + self.table.discounted.nbytes

    def evaluate(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the finite part of delta and a bound of its error; in an empty window all of it is error."""
        with np.errstate(over="ignore", invalid="ignore"):  # after an overflow of the error nothing is known here
            return self._evaluated(epsilon)

    def _evaluated(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not self.loss.size:
            lost = np.exp(self.exponent - self.tilt * epsilon) * (self.noise * self.length + self.outside)
            return np.zeros(epsilon.size), lost
        sums = profile.delta_at(epsilon, self.loss, self.table)
        # half of the factor at a time: the whole of it may exceed doubles although the product does not
        half = np.exp(0.5 * (self.exponent - self.tilt * self.reference))
        value = sums * half * half
        after = np.searchsorted(self.loss, epsilon, side="right")
        x = self.loss[np.minimum(after, self.loss.size - 1)] - epsilon
        x = np.clip(x, 0.0, self.step)
        t, h = self.tilt, self.step
        weight = np.exp(-t * x) / -np.expm1(-t * h) - np.exp(-(t + 1.0) * x) / -np.expm1(-(t + 1.0) * h)
        weight = np.minimum(np.abs(weight) * (1 + 1e-9) + 1.0, float(self.length))
        near = self.absolute + UNIT * (2.0 * np.abs(epsilon) + 6.0)
        lost = np.exp(self.exponent - t * epsilon) * (self.noise * weight + near + self.outside)
        return value, lost * _SECOND + (self.relative + 8.0 * UNIT * t * np.abs(epsilon)) * value


class Values(NamedTuple):
    """Deltas, bounds of their errors, points of transforms for each, the longest one, and whether it is too short."""

    value: FloatArray
    error: FloatArray
    points: FloatArray
    length: FloatArray
    cramped: NDArray[np.bool_]

    def take(self, at: NDArray[np.intp], window: _Window, value: FloatArray, error: FloatArray) -> None:
        """Adopt the values of a window for some of them."""
        self.value[at], self.error[at] = value, error
        self.points[at] = self.length[at] = window.length
        self.cramped[at] = window.outside >= 1.0


class Fold:
    """The product of k copies of each measure."""

    def __init__(self, parts: Sequence[tuple[Measure, int]], h: float) -> None:
        self.h = h
        self.laws = [_law(measure, k, h) for measure, k in parts]
        self.span = sum(law.k * (law.mass.size - 1) for law in self.laws)
        finite = [float(measure.mass.sum()) for measure, _ in parts]
        self.empty = any(total <= 0.0 for total in finite)
        logs = sum(k * np.log(total) for total, (_, k) in zip(finite, parts, strict=True)) if not self.empty else 0.0
        grow = (
            sum(k * np.log1p(measure.rest / total) for total, (measure, k) in zip(finite, parts, strict=True))
            if not self.empty
            else 0.0
        )
        with np.errstate(over="ignore"):  # masses under the tilt may be huge; nothing grows where nothing is left out
            if grow > _FAR:  # the finite masses are next to nothing: the whole product in front
                whole = sum(k * np.log(total + measure.rest) for total, (measure, k) in zip(finite, parts, strict=True))
                self.infinite = float(np.exp(whole) * -np.expm1(-grow))
            else:
                self.infinite = float(np.exp(logs) * np.expm1(grow)) if grow > 0.0 else 0.0
        self.top = h * sum(law.k * (law.first + law.mass.size - 1) for law in self.laws)
        self._windows: dict[int, _Window] = {}

    @property
    def weight(self) -> int:
        """Bytes it holds."""
        laws = sum(law.mass.nbytes + law.log_mass.nbytes for law in self.laws)
        return laws + sum(window.weight for window in list(self._windows.values()))

    def delta(self, epsilon: FloatArray, tolerance: float) -> Values:
        """Return delta and a bound of its error, which is below tolerance times delta where roundings allow.

        The epsilons of one stretch share a window; one for which it is not good enough gets its own. The choice depends on
        the epsilon alone.
        """
        zeros = np.zeros((4, epsilon.size))
        out = Values(zeros[0], zeros[1], zeros[2], zeros[3], np.zeros(epsilon.size, dtype=np.bool_))
        live = np.flatnonzero((epsilon < self.top) & (not self.empty))
        if live.size:
            number = self._numbers(epsilon[live])
            for n in np.unique(number).tolist():
                at = live[number == n]
                window = self._shared_window(n)
                out.take(at, window, *window.evaluate(epsilon[at]))
                away = (epsilon[at] < window.low) | (epsilon[at] > window.high)
                out.error[at[away]] = np.inf
                for i in at[~(out.error[at] <= tolerance * out.value[at])].tolist():
                    self._own_windows(out, i, epsilon, tolerance)
                    effort.checkpoint(i / epsilon.size)
                effort.checkpoint(float(at[-1]) / epsilon.size)
        # sums of masses, their logarithms, k times, and a few calls
        slack = UNIT * (64.0 + sum(law.k * (PAIRS + 8.0 + 8.0 * np.log2(law.mass.size + 1.0)) for law in self.laws))
        return out._replace(value=out.value + self.infinite, error=out.error + slack * self.infinite)

    def floor(self, epsilon: FloatArray) -> FloatArray:
        r"""Return a lower bound of delta that needs no transform: close to 1 far below the losses of the product.

        With t = epsilon + 40 every loss above t counts all but e^-40 of its mass, and Chernoff bounds the mass Q up to t:
        :math:`\delta \ge (W - Q(L \le t))(1 - e^{-40})`, where W is the whole mass, that at infinity included.
        """
        out = np.zeros(epsilon.size)
        if self.empty:
            return out
        mean, variance, whole, slack = self._moments
        below = np.flatnonzero(epsilon + _SURE < mean)
        for i in below.tolist():
            effort.checkpoint()
            t = float(epsilon[i]) + _SURE
            trials = (mean - t) / max(variance, (mean - t) * self.h) * _SLOWER
            best = min(self._below(t, rate) for rate in trials.tolist())
            mass = np.exp(min(best, 0.0))
            out[i] = max(0.0, (whole * (1.0 - slack) - mass) * -np.expm1(-_SURE) * (1.0 - 4.0 * UNIT))
        return out

    @Lazy
    def _moments(self) -> tuple[float, float, float, float]:
        """Return mean and variance of the finite losses, the whole mass, and a bound of its relative rounding."""
        mean = variance = whole = slack = 0.0
        for law in self.laws:
            total = float(law.mass.sum())
            place = (law.first + np.arange(law.mass.size)) * self.h
            own = float(law.mass @ place) / total
            mean += law.k * own
            variance += law.k * float(law.mass @ (place - own) ** 2) / total
            whole += law.k * np.log(total + law.rest)
            slack += law.k * UNIT * (PAIRS + 16.0 + np.log2(law.mass.size))
        return mean, variance, float(np.exp(min(whole, 0.0))), min(1.0, slack)

    def _below(self, t: float, rate: float) -> float:
        """Return the logarithm of Chernoff's bound of the mass of the losses up to t, rounded up."""
        logs = slack = 0.0
        for law in self.laws:
            place = np.asarray((law.first + np.arange(law.mass.size)) * self.h, dtype=np.float64)
            logs += law.k * float(log_mean(law.mass, np.multiply(-rate, place, dtype=np.float64)))
            # a product of vectors may be one chain of additions
            slack += law.k * UNIT * (16.0 + law.mass.size + 4.0 * rate * float(np.abs(place).max()))
        return logs + rate * t + slack + 8.0 * UNIT * (abs(logs) + abs(rate * t))

    def _own_windows(self, out: Values, i: int, epsilon: FloatArray, tolerance: float) -> None:
        """Try windows for one epsilon alone: a short one, then one at the saddle point."""
        for spare in (True, False):
            window = self._window(float(epsilon[i]), spare=spare)
            value, error = window.evaluate(epsilon[i : i + 1])
            if not error[0] >= out.error[i]:
                out.value[i], out.error[i], out.cramped[i] = value[0], error[0], window.outside >= 1.0
            out.points[i] += window.length
            out.length[i] = max(out.length[i], window.length)
            if out.error[i] <= tolerance * out.value[i]:
                break

    def _shared_window(self, number: int) -> _Window:
        """Return the window of a stretch of epsilons, tilted to its middle; a few are cached."""
        window = self._windows.get(number)
        if window is None:
            steps, mean = self._steps
            place = np.interp(0.0, mean, steps) + (number + np.array([0.0, 0.5, 1.0])) * _STRETCH
            low, middle, high = np.clip(np.interp(place, steps, mean), 0.0, self.top).tolist()
            window = self._window(middle, spare=True, low=low, high=high)
            others = {name: old for name, old in list(self._windows.items()) if name != number}
            while (
                others and window.weight + sum(old.weight for old in others.values()) > _CACHED
            ):  # each round drops one
                others.pop(next(iter(others)))
            self._windows = {**others, number: window}
        return window

    def _numbers(self, epsilon: FloatArray) -> NDArray[np.int64]:
        """Return the number of the stretch of each epsilon, counted from 0."""
        steps, mean = self._steps
        distance = np.interp(epsilon, mean, steps) - np.interp(0.0, mean, steps)
        return np.floor(distance / _STRETCH).astype(np.int64)

    @Lazy
    def _steps(self) -> tuple[FloatArray, FloatArray]:
        """Return standard deviations of the tilted loss, counted along the epsilons, and these epsilons."""
        tilt, mean, _ = self._saddles
        return np.concatenate(([0.0], np.cumsum(np.sqrt(np.diff(mean) * np.diff(tilt))))), mean

    @Lazy
    def _saddles(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Tilts, the epsilons whose saddle points they are (both ascending), and sum of k log M, from the bins."""
        tilt = np.geomspace(1e-3, 30.0 / self.h, _TILTS)
        mean, cumulant = np.zeros(tilt.size), np.zeros(tilt.size)
        for law in self.laws:
            exponent = tilt[:, None] * law.bin_loss
            weight = tilted(law.bin_mass, exponent)
            mean += law.k * (weight @ law.bin_loss)
            total = float(law.bin_mass.sum())
            cumulant += law.k * (np.log(total) + log_mean(law.bin_mass / total, exponent))
        mean -= 1.0 / tilt + 1.0 / (1.0 + tilt)
        return tilt, np.maximum.accumulate(mean), cumulant

    def _start(self, epsilon: float, *, spare: bool) -> float:
        """Return the saddle point, or a smaller tilt if that shortens the transform and costs few digits.

        With rare large losses the law tilted to its saddle point is concentrated on them, far beyond epsilon.
        """
        tilt, mean, cumulant = self._saddles
        saddle = float(np.exp(np.interp(epsilon, mean, np.log(tilt))))
        below = np.flatnonzero(tilt < saddle)
        if below.size == 0 or not spare:
            return saddle
        exponent = cumulant - tilt * epsilon - np.log(tilt) - np.log1p(tilt)
        cost = np.log(np.clip(_SPARE / sum(law.k for law in self.laws), 1.0, _MOST_SPARE))
        allowed = below[exponent[below] <= exponent[below[-1]] + cost]
        ahead = tilt[None, :] - tilt[allowed][:, None]
        with np.errstate(divide="ignore"):
            ends = np.where(ahead > 0, (cumulant - cumulant[allowed][:, None] + _TAIL) / np.abs(ahead), np.inf)
        end = ends.min(axis=1)
        best = int(np.argmin(end))
        return float(tilt[allowed[best]]) if end[best] < _SHORTER * end[-1] else saddle

    def _tilt(self, epsilon: float, *, spare: bool) -> _Tilted:
        """Return the tilt for an epsilon, the tilted laws and the sum of k log M, with their roundings."""
        theta = self._start(epsilon, spare=spare)
        for _ in range(_HALVINGS):
            weights, logs, spread, scale = [], 0.0, 0.0, 0.0
            for law in self.laws:
                at = np.arange(float(law.first), float(law.first + law.mass.size)) * (theta * self.h)
                # the largest term becomes one, half of the factor at a time, so that nothing overflows or loses digits
                best = int(np.argmax(law.log_mass + at))
                half, top = -0.5 * float(law.log_mass[best]), float(at[best])
                raw = (law.mass * np.exp(half)) * np.exp(np.minimum(at - top + half, 700.0))
                total = float(raw.sum())
                weights.append(raw / total)
                logs += law.k * (float(np.log(total)) + top - 2.0 * half)
                spread += law.k * weight_units(weights[-1], at, top, half)
                scale += law.k * exponent_units(law.mass.size, top, half) + abs(logs)
            # delta is at most one: a positive exponent means that the tilt, estimated from bins, is too large
            if logs - theta * epsilon <= 1.0:
                return _Tilted(theta, weights, logs, UNIT * spread, UNIT * scale)
            theta *= 0.5
        msg = f"The losses of this product are beyond the range of doubles: a lattice of step {nearest(self.h, 3)} has no tilt."
        raise BudgetError(msg)

    def _window(self, epsilon: float, *, spare: bool, low: float = np.inf, high: float = -np.inf) -> _Window:
        """Return the product tilted to an epsilon, for all epsilons from `low` to `high`."""
        h = self.h
        lowest = min(low, epsilon)
        theta, weights, logs, spread, relative = self._tilt(epsilon, spare=spare)
        steps, spreads = [], []
        for law, weight in zip(self.laws, weights, strict=True):
            place = np.arange(law.mass.size)
            mean_at = float(weight @ place)
            variance = float(weight @ (place - mean_at) ** 2)
            steps.append(mean_at)
            spreads.append(law.k * variance)
        absolute = float(np.expm1(min(spread, _FAR))) * kernel(theta)
        sigma = max(float(np.sqrt(sum(spreads))), 0.5)
        centre = sum(law.k * (law.first + mean_at) for law, mean_at in zip(self.laws, steps, strict=True))
        first = int(np.floor(min(centre - _REACH * sigma, lowest / h - 1.0)))
        base, extent = self._stretch(theta, sigma, centre, weights, first)
        length = fast_length(min(extent, LONGEST, self.span + 2))
        outside = 0.0 if length > self.span else (1.0 if extent > length else 2.1 * np.exp(-_TAIL))
        if outside >= 1.0:  # a transform that wraps around says no more than Chernoff's bound
            nothing = np.empty(0)
            table = profile.Tables(np.zeros(1), np.zeros(1))
            return _Window(
                lowest, max(epsilon, high), theta, logs, epsilon, nothing, table, 0.0, 0.0, outside, 0.0, h, 0
            )
        # position 0 of the transform is the sum of all first losses
        raw, noise = self._masses(weights, length)
        start = sum(law.k * law.first for law in self.laws)
        base = max(base, start)
        reference, reach = float(epsilon), _DOUBLES / theta
        bottom = max(min(lowest, (centre - _REACH * sigma) * h), reference - reach)
        loss = np.asarray(np.arange(base, min(base + length, start + self.span + 1)) * h, dtype=np.float64)
        cut = int(np.searchsorted(loss, bottom - h, side="right"))
        scaled = wrapped(raw, (base - start) % length, loss.size)[cut:]
        loss = loss[cut:].copy()
        del raw
        np.maximum(scaled, 0.0, out=scaled)
        span = float(loss[-1] - loss[0]) if loss.size else 0.0
        relative += UNIT * (value_units(logs, theta * reference) + profile.rounding(loss.size, span))
        with np.errstate(under="ignore"):
            tilt = loss - reference
            tilt *= -theta
            scaled *= np.exp(tilt, out=tilt)
        del tilt
        return _Window(
            max(min(lowest, (centre - 0.9 * _REACH * sigma) * h), bottom),
            min(max(epsilon, high, (centre + 0.9 * _REACH * sigma) * h), reference + reach),
            theta,
            logs,
            reference,
            loss,
            profile.tables(loss, scaled),
            noise,
            absolute,
            outside,
            relative,
            h,
            length,
        )

    def _stretch(
        self, theta: float, sigma: float, centre: float, weights: list[FloatArray], low: int
    ) -> tuple[int, int]:
        """Return the first position and the number of positions to resolve: from `low`, and all but 2 e^-42 of the law."""
        up, down = self._tail(theta, sigma, weights, 1.0), self._tail(theta, sigma, weights, -1.0)
        first = min(low, int(np.floor(centre - down)))
        return first, int(np.ceil(centre + up)) - first + 2

    def _tail(self, theta: float, sigma: float, weights: list[FloatArray], sign: float) -> float:
        """Return a distance from the tilted mean that is exceeded with probability at most e^-42 (Chernoff).

        The exponent is chosen with the bins; the bound itself comes from the whole law.
        """
        s = sign * np.geomspace(0.02, 40.0, 32) / sigma
        rise = np.zeros(s.size)
        for law in self.laws:
            place = law.bin_loss / self.h
            weight = tilted(law.bin_mass, theta * law.bin_loss)
            rise += law.k * log_mean(weight, s[:, None] * (place - weight @ place))
        best = s[int(np.argmin((rise + _TAIL) / np.abs(s)))]
        exact = 0.0
        for law, weight in zip(self.laws, weights, strict=True):
            place = np.arange(weight.size, dtype=np.float64)
            exact += law.k * float(log_mean(weight, best * (place - float(weight @ place))))
        return (max(exact, 0.0) + _TAIL) / abs(float(best))

    def _masses(self, weights: list[FloatArray], length: int) -> tuple[FloatArray, float]:
        """Return the tilted masses of the product, modulo the length, and a bound of the error of each of them."""
        effort.claim(_POINT_BYTES * length, f"A transform of length {length}")
        folds = max(-(-weight.size // length) for weight in weights)
        each = UNIT * transform_units(length, folds)
        product, size, share = np.ones(1, dtype=np.complex128), np.ones(1), np.ones(1)
        for number, (law, weight) in enumerate(zip(self.laws, weights, strict=True)):
            z = np.fft.rfft(folded(weight, length), length)
            above = np.abs(z)
            above += each
            share = share + law.k / above
            size = size * _power(above, law.k) if number else _power(above, law.k)
            z = _power(z, law.k)
            product = np.multiply(product, z, out=product) if number else z
            effort.checkpoint(0.5)
        # the other half of the frequencies mirrors this one
        share *= size
        noise = each * float(np.sum(share)) * (2.0 / length) * _SECOND
        del share, size, above, z
        return np.fft.irfft(product, length), noise


def _law(measure: Measure, k: int, h: float) -> _Law:
    support = np.flatnonzero(measure.mass > 0)
    if support.size == 0:
        return _Law(measure.first, np.zeros(1), np.zeros(1), k, np.zeros(1), np.ones(1), measure.rest)
    mass = measure.mass[support[0] : support[-1] + 1]
    first = measure.first + int(support[0])
    width = max(1, -(-mass.size // _BINS))
    starts = np.arange(0, mass.size, width)
    bins = np.add.reduceat(mass, starts)
    loss = np.add.reduceat(mass * (first + np.arange(mass.size)), starts)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.where(bins > 0, loss / bins, 0.0) * h
    with np.errstate(divide="ignore"):
        log_mass = np.log(mass)
    return _Law(first, mass, log_mass, k, middle[bins > 0], bins[bins > 0], measure.rest)


def _power(z: NDArray[_Number], k: int) -> NDArray[_Number]:
    """Return z^k by squaring: the library's power of an array takes several times as long."""
    result = z
    for bit in bin(k)[3:]:
        result = result * result if result is z else np.multiply(result, result, out=result)
        if bit == "1":
            result *= z
    return result

r"""Epsilon at one delta of k copies of a statement, from the few masses that decide it.

The worst case of a statement has the losses :math:`-\varepsilon, (0,) +\varepsilon`; the total loss of k copies is
:math:`h S - k\varepsilon`, S a sum of k integers, and

.. math:: \delta_k(e) = \sum_j q_j \left(1 - e^{e - hj + k\varepsilon}\right)^+ .

Only the masses near the answer and above it matter. Few copies are convolved. Many are tilted: with
:math:`K(\theta) = k \log E e^{\theta X}` the law :math:`\tilde q_j = q_j e^{\theta j - K(\theta)}` has its mean at
:math:`K'(\theta)`, which is put where the answer must be, and one Fourier transform gives it there with all digits. All
that is left out or rounded is subtracted from delta, so that the answer is never below the true epsilon.

References
----------
.. [1] P. Kairouz, S. Oh, P. Viswanath, "The composition theorem for differential privacy", 2015, Theorem 3.3.
.. [2] E. Ghazi, I. Issa, "Total variation meets differential privacy", 2023, Theorem 2.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core.effort import claim
from dpcore.engine import profile

if TYPE_CHECKING:
    from dpcore.curves.base import ComplexArray, FloatArray
    from dpcore.curves.polygon import Polygon

_FEW = 300  # copies up to which all masses are listed; more are tilted
_SMALLEST = 1e-280  # delta: masses 1e-20 below it are still normal doubles
_ULP = 2.0**-52
_LEFT = 4.2  # standard deviations below the tilted mean; further out the noise of the transform shows in the masses
_TAIL = 46.0  # what wraps around in a transform is below e^-46, about 1e-20, of the whole
_NARROWEST = 3.0  # standard deviation from which a tilted law is a bell
_LONGEST = 1 << 22  # 600 MB of a transform; the composition itself answers longer ones


class _MassWindow(NamedTuple):
    """Masses of S at `first`, `first` + 1, ..., up to a factor e^scale, and their relative error."""

    first: int
    mass: FloatArray
    scale: float
    error: float


def epsilon_of_copies(curve: Polygon, k: int, delta: float) -> float | None:
    """Return the smallest epsilon >= 0 with delta(epsilon) <= `delta` for k copies, rounded up.

    Parameters
    ----------
    curve : Polygon
        The worst case of a statement: losses -epsilon and epsilon, or these and 0, and equal masses at infinity.
    k : int
        Number of copies, at least 1.
    delta : float
        By how much all together may exceed e^epsilon, in [0, 1].

    Returns
    -------
    float or None
        inf if the failures alone exceed `delta`. None if the composition itself must answer: for one copy, if masses
        below 1e-280 decide, if the failures leave hardly anything of `delta`, or if the answer lies at an end of the
        losses.
    """
    if k == 1 or curve.loss.size not in {2, 3} or curve.q_inf >= 1:
        return None
    epsilon, lost = curve.max_loss, -math.expm1(k * math.log1p(-curve.q_inf))
    if delta >= 1:
        return 0.0
    if delta < lost:
        return math.inf
    goal = (delta - lost - 2 * _ULP * lost) / (1 - lost)
    if not goal > max(_SMALLEST, 0.01 * lost):
        return None
    weight = curve.q / curve.q.sum()
    window = (
        _all_masses(weight, k) if k <= _FEW else _tilted(weight, k, math.log(goal), epsilon * 2 / (weight.size - 1))
    )
    return None if window is None else _solved(window, goal, k, epsilon, weight.size)


def _solved(window: _MassWindow, goal: float, k: int, epsilon: float, points: int) -> float | None:
    r"""Return where delta falls to the goal: between two losses it is :math:`\delta_j + (1-e^{e-L_j}) S_j`."""
    place = window.first + np.arange(window.mass.size)
    loss = np.asarray((place * 2 - k if points == 2 else place - k) * epsilon, dtype=np.float64)
    tables = profile.tables(loss, window.mass)
    target = goal * math.exp(-window.scale) * (1 - window.error)
    after = int(np.searchsorted(-tables.delta, -target))  # deltas fall: the first at most `wanted`
    if after >= loss.size:
        return None  # above the largest loss listed: only rounding could say so
    top, fallen = float(loss[after]), float(tables.delta[after])
    if after == 0 and window.first > 0 and top > 0:
        return None  # it lies below the window
    answer = top + math.log1p(-min((target - fallen) / float(tables.discounted[after]), 1 - _ULP))
    return max(0.0, min(answer + 2 * _ULP * abs(top), k * epsilon))


def _all_masses(weight: FloatArray, k: int) -> _MassWindow:
    """Convolve k copies by repeated squaring; all terms are positive, so the errors add up to about 2k roundings."""
    total = weight
    with np.errstate(under="ignore"):
        for digit in bin(k)[3:]:
            total = np.convolve(total, total)
            if digit == "1":
                total = np.convolve(total, weight)
    return _MassWindow(0, total / total.sum(), 0.0, (20 + 2 * k) * _ULP)


# ---- tilted ------------------------------------------------------------------------------------------------------


class _TiltedLaw(NamedTuple):
    """The law of S under a tilt: K and its first two derivatives."""

    theta: float
    cumulant: float
    mean: float
    variance: float


def _law(weight: list[float], k: int, theta: float) -> _TiltedLaw:
    parts = [w * math.exp(theta * place) for place, w in enumerate(weight)]
    total = sum(parts)
    mean = sum(place * part for place, part in enumerate(parts)) / total
    spread = sum((place - mean) ** 2 * part for place, part in enumerate(parts)) / total
    # The sum of the weights is 1, but k times its rounding would be visible: only the growth is added up.
    growth = sum(w * math.expm1(theta * place) for place, w in enumerate(weight))
    return _TiltedLaw(theta, k * math.log1p(growth), k * mean, k * spread)


def _tilted(weight: FloatArray, k: int, level: float, step: float) -> _MassWindow | None:
    """Return the masses around the answer by one transform; None if the tilted law is too narrow."""
    weights = weight.tolist()
    law = _aimed(weights, k, level, step)
    sigma = math.sqrt(law.variance)
    if sigma < _NARROWEST:
        return None
    middle, most = round(law.mean), k * (weight.size - 1)
    reach = _reach(weights, k, law)
    length = _fast(min(2 * reach + 2, most + 1))
    if length > _LONGEST:
        return None
    claim(150.0 * length, f"A transform of length {length}")
    raw = np.fft.irfft(_transform(weights, k, law, middle, length), length)
    low, high = max(0, middle - int(_LEFT * sigma)), min(most, middle + reach)
    place = np.arange(low - middle, high - middle + 1)
    noise = 8 * _ULP * float(raw.max())  # of the transform, at every place the same
    mass = (np.maximum(raw[place], 0.0) + noise) * np.exp(-law.theta * place)
    rough = abs(law.cumulant) + abs(law.theta) * middle + 60 + 10 * sigma
    return _MassWindow(low, mass, law.cumulant - law.theta * middle, _ULP * rough)


def _aimed(weight: list[float], k: int, level: float, step: float) -> _TiltedLaw:
    """Return the tilt whose mean lies about where delta is e^level, by the saddle point; no tilt if that is central."""
    low, high = 0.0, 1.0  # beyond 64 nearly all of a tilted law is at its end
    while _depth(_law(weight, k, high), step) > level and high < 64:  # doubles to 64
        low, high = high, 2 * high
    for _ in range(40):
        theta = 0.5 * (low + high)
        low, high = (theta, high) if _depth(_law(weight, k, theta), step) > level else (low, theta)
        if high - low <= 1e-3 * high:
            break
    return _law(weight, k, low)


def _depth(law: _TiltedLaw, step: float) -> float:
    """Return about log delta at the tilted mean: a bell's mass times the sum of e^(-theta j) (1 - e^(-step j))."""
    theta = max(law.theta, 0.5 / math.sqrt(law.variance + 1))
    tail = (1 - math.exp(-step)) * math.exp(-theta) / (-math.expm1(-theta) * -math.expm1(-theta - step))
    return law.cumulant - law.theta * law.mean + math.log(tail) - 0.5 * math.log(2 * math.pi * (law.variance + 0.2))


def _reach(weight: list[float], k: int, law: _TiltedLaw) -> int:
    """Return a distance from the tilted mean beyond which less than e^-46 lies on either side (Chernoff)."""
    distance = []
    for sign in (1, -1):
        tries = [sign * size / math.sqrt(law.variance) for size in (7.0, 9.6, 13.0)]
        laws = [(s, _law(weight, k, law.theta + s)) for s in tries]
        distance.append(min((tilted.cumulant - law.cumulant - s * law.mean + _TAIL) / abs(s) for s, tilted in laws))
    return int(max(distance)) + 2


def _fast(least: int) -> int:
    """Return an even length of at least `least` that transforms fast."""
    power = 1 << max(1, (least - 1).bit_length())
    return next((n for n in (5 * power // 8, 3 * power // 4) if n >= least and n % 2 == 0), power)


def _transform(weight: list[float], k: int, law: _TiltedLaw, middle: int, length: int) -> ComplexArray:
    """Return E e^(-it (S - middle)) under the tilt at t = 2 pi n / length; 0 where it is below rounding.

    It is formed around the mean of one copy: 1 - cos without cancellation, and k times the rest of the mean as one phase.
    """
    tilted = np.array([w * math.exp(law.theta * place) for place, w in enumerate(weight)])
    tilted /= tilted.sum()
    mean = float(tilted @ np.arange(tilted.size))
    out = np.zeros(length // 2 + 1, dtype=np.complex128)
    # |E e^(itX)|^2 <= 1 - 4 sum of v_i v_j sin^2(t (i - j) / 2) over pairs
    gaps = [2 * k * float(tilted[gap:] @ tilted[:-gap]) for gap in range(1, tilted.size)]
    t = 2 * math.pi / length * np.arange(out.size)
    damped = sum((rate * np.sin(0.5 * gap * t) ** 2 for gap, rate in enumerate(gaps, 1)), np.zeros_like(t))
    places = np.flatnonzero(damped < _TAIL)
    t = t[places]
    real, imaginary = np.zeros_like(t), np.zeros_like(t)
    for place, share in enumerate(tilted.tolist()):
        real -= 2 * share * np.sin(0.5 * (place - mean) * t) ** 2
        imaginary -= share * np.sin((place - mean) * t)
    size = 0.5 * k * np.log1p(2 * real + real * real + imaginary * imaginary)
    phase = k * np.arctan2(imaginary, 1 + real) - (k * mean - middle) * t
    out[places] = np.exp(size) * (np.cos(phase) + 1j * np.sin(phase))
    return out

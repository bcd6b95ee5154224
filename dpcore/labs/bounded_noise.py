r"""Laplace noise cut to the interval [l, u] of possible answers: its scale, its loss, its bias.

The density around the true answer q is :math:`e^{-|v-q|/b}/(2bC_q)` on [l, u] with

.. math:: C_q(b) = 1-\tfrac12\bigl(e^{-(q-l)/b}+e^{-(u-q)/b}\bigr).

Cutting makes answers near an end more revealing. The scale b that restores (epsilon, delta)-privacy appears
on both sides of

.. math:: b \ge \frac{\Delta}{\varepsilon-\log\Delta C(b)-\log(1-\delta)},\qquad \Delta C(b)=\frac{C_{l+\Delta}(b)}{C_l(b)}.

Reference: Holohan, Antonatos, Braghin, Mac Aonghusa (2020).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from dpcore.core.domains import POSITIVE, REAL
from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.mechanisms.bounded_laplace import BoundedLaplace
from dpcore.mechanisms.law import least


class Bounds(NamedTuple):
    """The smallest and the largest possible answer."""

    lower: float
    upper: float


def check(bounds: Bounds, sensitivity: float) -> None:
    """Refuse an empty interval, and a sensitivity that no two answers inside can have."""
    if not bounds.lower < bounds.upper:
        msg = f"lower must be below upper, got {numeral(bounds.lower)} and {numeral(bounds.upper)}."
        raise DomainError(msg)
    POSITIVE.but(name="sensitivity", high=bounds.upper - bounds.lower).check(sensitivity)


def norm(answer: float, scale: float, bounds: Bounds) -> float:
    """Return C_q: the probability that uncut Laplace noise stays inside the interval."""
    return -0.5 * (math.expm1(-(answer - bounds.lower) / scale) + math.expm1(-(bounds.upper - answer) / scale))


def printed_norm(answer: float, scale: float, bounds: Bounds) -> float:
    """Return C_q with the printed second term exp(-(u - q))/b, whose closing bracket comes one place too early."""
    first, second = math.exp(-(answer - bounds.lower) / scale), math.exp(-(bounds.upper - answer)) / scale
    return 1 - 0.5 * (first + second)


def norm_ratio(scale: float, sensitivity: float, bounds: Bounds) -> float:
    """Return C at one sensitivity inside the interval over C at its end: 2 for little noise, near 1 for much."""
    return norm(bounds.lower + sensitivity, scale, bounds) / norm(bounds.lower, scale, bounds)


def right_side(scale: float, epsilon: float, sensitivity: float, bounds: Bounds, delta: float = 0.0) -> float:
    """Return sensitivity / (epsilon - log ratio - log(1 - delta)), infinite where the bracket is not positive."""
    room = epsilon - math.log(norm_ratio(scale, sensitivity, bounds)) - math.log1p(-delta)
    return sensitivity / room if room > 0 else math.inf


def required_scale(epsilon: float, sensitivity: float, bounds: Bounds, delta: float = 0.0) -> float:
    """Return the smallest b with b >= right_side(b), by bisection and rounded up.

    The ratio falls from 2 to 1 as b grows, so that the right side falls while the left one rises: there is one
    crossing. For delta = 0 the largest loss is then exactly epsilon.
    """
    check(bounds, sensitivity)
    low = sensitivity / (epsilon - math.log1p(-delta))

    def enough(scale: float) -> bool:
        return scale >= right_side(scale, epsilon, sensitivity, bounds, delta)

    if enough(low):
        return low
    high = 2 * low
    while not enough(high):  # doubles; the right side falls towards `low`
        low, high = high, 2 * high
    return least(enough, low, high)


def exact_scale(epsilon: float, sensitivity: float, bounds: Bounds, delta: float, accuracy: float = 1e-9) -> float:
    """Return the smallest b whose region over the worst pair of answers is (epsilon, delta)-private.

    Not below it, and above it by at most the relative `accuracy`.
    """
    check(bounds, sensitivity)
    high = required_scale(epsilon, sensitivity, bounds, delta)

    def enough(scale: float) -> bool:
        return float(mechanism(scale, sensitivity, bounds).delta(epsilon)) <= delta

    low, floor = high / 2, 1e-9 * high
    while low > floor and enough(low):  # halves, at most 30 times
        low, high = low / 2, low
    for _ in range(math.ceil(-math.log2(accuracy))):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def mechanism(scale: float, sensitivity: float, bounds: Bounds) -> BoundedLaplace:
    """Return the cut noise of this scale, its region over every pair of answers in the interval."""
    return BoundedLaplace(scale, bounds.lower, bounds.upper, sensitivity)


def largest_loss(scale: float, sensitivity: float, bounds: Bounds) -> float:
    """Return the largest loss over all pairs of answers, sensitivity/scale + log ratio: what pure privacy costs."""
    return sensitivity / scale + math.log(norm_ratio(scale, sensitivity, bounds))


def bias(answer: float, scale: float, bounds: Bounds) -> float:
    r"""Return the mean release minus the answer, :math:`\frac{(h+b)A-(k+b)B}{2-A-B}`.

    h = q - l and k = u - q are the distances to the ends, :math:`A=e^{-h/b}`, :math:`B=e^{-k/b}`: releases lean away
    from the nearer end; 0 in the middle.
    """
    h, k, a, b, rest = _ends(answer, scale, bounds)
    return ((h + scale) * a - (k + scale) * b) / rest


def mean_square(answer: float, scale: float, bounds: Bounds) -> float:
    r"""Return the mean squared error, :math:`\frac{4b^2-(2b^2+2bh+h^2)A-(2b^2+2bk+k^2)B}{2-A-B}` (names as in `bias`)."""
    h, k, a, b, rest = _ends(answer, scale, bounds)
    double = 2 * scale * scale
    cut = (double + 2 * scale * h + h * h) * a + (double + 2 * scale * k + k * k) * b
    return (2 * double - cut) / rest


def clamped_bias(answer: float, scale: float, bounds: Bounds) -> float:
    """Return the bias of uncut Laplace noise whose release is moved to the nearer end if outside: b (A - B) / 2."""
    _, _, a, b, _ = _ends(answer, scale, bounds)
    return scale * (a - b) / 2


def clamped_mean_square(answer: float, scale: float, bounds: Bounds) -> float:
    """Return the mean squared error of clamped Laplace noise, 2b^2 - (b^2 + bh) A - (b^2 + bk) B.

    Clamping is post-processing: the release keeps the epsilon of the uncut noise, at its smaller scale.
    """
    h, k, a, b, _ = _ends(answer, scale, bounds)
    return 2 * scale * scale - scale * (scale + h) * a - scale * (scale + k) * b


def _ends(answer: float, scale: float, bounds: Bounds) -> tuple[float, float, float, float, float]:
    REAL.but(name="The answer", low=bounds.lower, high=bounds.upper).check(answer)
    h, k = answer - bounds.lower, bounds.upper - answer
    return h, k, math.exp(-h / scale), math.exp(-k / scale), -math.expm1(-h / scale) - math.expm1(-k / scale)


def printed_deviation_sensitivity(largest: float, n: int) -> float:
    """Return largest/n, printed as the sensitivity of the standard deviation of n records in [0, largest]."""
    return largest / n


def deviation_sensitivity(largest: float, n: int) -> float:
    """Return largest/sqrt(n), by how much one record among n equal ones moves the standard deviation (divisor n - 1).

    Records 0, ..., 0 have deviation 0; with one record moved to the end the variance is largest^2/n. No data set and
    no record moves it further: the deviation is a norm of the centred records over sqrt(n - 1), and moving one record
    by d changes that vector by d times a centred unit vector, of norm sqrt(1 - 1/n).
    """
    return largest / math.sqrt(n)

"""From an accuracy to the privacy parameter: how much noise keeps the error below a bound.

The tails are closed forms of the same laws as in `dpcore.mechanisms.law`. Here they are inverted to the last bit, which tails of
a law, computed from the scale, do not allow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scipy.special import ndtr, ndtri

from dpcore.core.domains import COUNT, POSITIVE, PRIOR
from dpcore.core.numerals import nearest, numeral
from dpcore.core.parameter import one_of
from dpcore.words import of_100, outward

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A parameter that keeps the error within `error` except with probability at most `probability`.

    `value` is the least epsilon, or the largest noise, that does so; `expression` is the mechanism with it.
    """

    mechanism: str
    parameter: str
    value: float
    error: float
    probability: float
    expression: str
    words: str


def laplace_tail(epsilon: float, error: float, sensitivity: float = 1.0) -> float:
    """Return P(|noise| > error) = e^(-epsilon error / sensitivity)."""
    return math.exp(-epsilon * error / sensitivity)


def geometric_tail(epsilon: float, error: float, sensitivity: float = 1.0) -> float:
    """Return P(|noise| > error) = 2 r^m / (1 + r), r = e^(-epsilon / sensitivity), m the next integer above."""
    rate = epsilon / sensitivity
    return 2.0 * math.exp(-rate * (math.floor(error) + 1)) / (1.0 + math.exp(-rate))


def gaussian_tail(sigma: float, error: float, sensitivity: float = 1.0) -> float:  # noqa: ARG001  one form for all
    """Return P(|noise| > error) = 2 Phi(-error / sigma)."""
    return 2.0 * float(ndtr(-error / sigma))


def uniform_tail(halfwidth: float, error: float, sensitivity: float = 1.0) -> float:  # noqa: ARG001  one form for all
    """Return P(|noise| > error) = 1 - error / halfwidth."""
    return max(0.0, 1.0 - error / halfwidth)


def _geometric_guess(error: float, probability: float, sensitivity: float) -> float:
    """Return epsilon by Newton's method on log(2 r^m / (1 + r)) = log p with r = e^-x, from the x without 2/(1 + r)."""
    m = math.floor(error) + 1
    x = -math.log(probability) / m
    for _ in range(60):
        r = math.exp(-x)
        change = (math.log(2.0) - m * x - math.log1p(r) - math.log(probability)) / (m - r / (1.0 + r))
        x += change
        if abs(change) <= 1e-15 * x:
            break
    return x * sensitivity


CLOSED_FORMS: Final[dict[str, tuple[str, Callable[[float, float, float], float], Callable[..., float]]]] = {
    "laplace": ("epsilon", lambda t, p, d: -math.log(p) * d / t, laplace_tail),
    "geometric": ("epsilon", _geometric_guess, geometric_tail),
    "gaussian": ("sigma", lambda t, p, _: t / -float(ndtri(p / 2)), gaussian_tail),
    "uniform": ("halfwidth", lambda t, p, _: t / (1.0 - p), uniform_tail),
}


def epsilon_for_error(mechanism: str, error: float, probability: float = 0.05, *, sensitivity: float = 1.0) -> Accuracy:
    """Return the most private parameter whose error exceeds `error` with probability at most `probability`.

    Parameters
    ----------
    mechanism : str
        ``laplace`` or ``geometric`` (the result is epsilon), ``gaussian`` (sigma) or ``uniform`` (halfwidth).
    error : float
        Bound on the absolute error of one answer, above 0; for geometric noise from 0.
    probability : float, default 0.05
        How often the error may be larger, in (0, 1).
    sensitivity : float, default 1
        How far the answer moves between neighbours; an integer for geometric noise.

    Returns
    -------
    Accuracy
        The parameter, the expression and a sentence.

    Examples
    --------
    >>> round(epsilon_for_error("laplace", 2.0, 0.05).value, 6)
    1.497866
    """
    one_of("mechanism", CLOSED_FORMS).check(mechanism)
    integer = mechanism == "geometric"
    t = POSITIVE.but(name="error", low_open=not integer).check(error)
    whole = COUNT.but(name="The sensitivity of geometric noise", high=1e300)
    d = float((whole if integer else POSITIVE.but(name="sensitivity")).check(sensitivity))
    p = PRIOR.but(name="probability").check(probability)
    name, guess, tail = CLOSED_FORMS[mechanism]
    more = math.inf if name == "epsilon" else 0.0
    value = guess(t, p, d)
    while tail(value, t, d) > p:  # a rounding step or two towards less noise
        value = math.nextafter(value, more)
    expression = _expression(mechanism, name, value, d)
    words = f"With {name} = {outward(value, 4, name == 'epsilon')} the answer is off by more than {nearest(t)} in at most {of_100(p)} answers."
    return Accuracy(mechanism, name, value, t, p, expression, words)


def _expression(mechanism: str, name: str, value: float, sensitivity: float) -> str:
    if mechanism == "laplace":
        return f"laplace({numeral(value)})"
    moved = int(sensitivity) if mechanism == "geometric" else sensitivity
    return f"{mechanism}({name}={numeral(value)}, sensitivity={numeral(moved)})"

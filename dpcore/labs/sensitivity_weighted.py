r"""Weighted sensitivity: noise of scale (2/epsilon)(a local + b global), a + b = 1, and when it is worth it.

The source calls it Candidate 1 of its general sensitivity; neighbours have scales within a factor 1/b.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.registry import DELTA, Parameter
from dpcore.labs.sensitivity import within
from dpcore.mechanisms.law import least
from dpcore.planner.sensitivity.noise import BUDGET
from dpcore.planner.sensitivity.pairs import laplace_delta, laplace_pair

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

WEIGHT: Final = Parameter(
    "weight", low=0.0, high=1.0, low_open=True, label="b", meaning="weight of the global sensitivity", example=0.5
)
RATIO: Final = Parameter("ratio", low=0.0, high=1.0, label="r", meaning="local over global sensitivity", example=0.01)
_OPEN_DELTA: Final = DELTA.but(low_open=True, high_open=True)


def printed_delta(epsilon: float, weight: float) -> float:
    r"""Return :math:`e^{\varepsilon/2-\varepsilon/(2|\ln b|)}`, (5.10) as printed: a loose bound, above 1 for b < 1/e."""
    b = within(WEIGHT, weight)
    return 0.0 if b == 1 else math.exp(within(BUDGET, epsilon) / 2 * (1 + 1 / math.log(b)))


def delta(epsilon: float, weight: float) -> float:
    r"""Return the exact worst delta(epsilon) of the weighted noise.

    .. math:: \delta=(1-b)\,b^{b/(1-b)}\,e^{-\varepsilon b/(1-b)}

    It is the pair of a database whose local sensitivity is the global one against a neighbour where it is 0, both with
    the same answer. With the wider noise on the data every other pair is better: delta rises with the larger scale and
    with the move of the answer; along the largest move a pair of local sensitivities (x, 1) has
    :math:`y\,e^{-(\varepsilon-\ln(1-y))(1-y)/y}\cosh(\frac\varepsilon2(\frac1y-\frac1a))` with y = a (1 - x), whose
    logarithm has a derivative of at least :math:`(\varepsilon/2-\ln(1-y))/y^2>0` in y. With the narrower noise on the
    data the loss stays below epsilon for :math:`b\ge e^{-\varepsilon/2}`; for smaller b delta is below the one above: proved
    for equal answers (their difference is 0 at epsilon = 0, rises, then falls to a positive value where the smaller one
    ends), for answers that move by the certified bound `narrow_bound`.
    """
    b, e = within(WEIGHT, weight), within(BUDGET, epsilon)
    return 0.0 if b == 1 else (1 - b) * math.exp(b / (1 - b) * (math.log(b) - e))


def narrow_bound(epsilon: float, weight: float, steps: int = 256) -> float:
    """Return an upper bound of delta(epsilon) over all pairs with the narrower noise on the data.

    There delta rises with the move and falls with the width of the narrower noise (its set is an interval around the
    centre), so between two neighbouring local sensitivities it is at most that of the smaller width with the larger move.
    """
    b, e = within(WEIGHT, weight), np.array([within(BUDGET, epsilon)])
    grid = np.linspace(0.0, 1.0, steps + 1)
    narrow, move = (1 - b) * grid[:-1] + b, grid[1:] * (epsilon / 2)
    return max(
        float(laplace_delta(e, float(t), 1.0, float(d))[0]) if d - math.log(t) > epsilon else 0.0
        for t, d in zip(narrow, move, strict=True)
    )


def region(epsilon: float, weight: float) -> TradeOff:
    """Return the region of the worst pair: Laplace noise of scale 2/epsilon against b times that, no move."""
    b = within(WEIGHT, weight)
    return laplace_pair(2 / within(BUDGET, epsilon), 2 * b / epsilon, 0.0, f"weighted noise, b = {nearest(b)}")


def printed_variance(epsilon: float, weight: float, ratio: float) -> float:
    """Return (4/epsilon^2)(a r + b)^2 in units of the squared global sensitivity, (5.13) as printed: half of it."""
    return (2 / within(BUDGET, epsilon) * _mixed(weight, ratio)) ** 2


def variance(epsilon: float, weight: float, ratio: float) -> float:
    """Return (8/epsilon^2)(a r + b)^2 in units of the squared global sensitivity: Laplace(1) has the variance 2."""
    return 2 * printed_variance(epsilon, weight, ratio)


def _mixed(weight: float, ratio: float) -> float:
    b = within(WEIGHT, weight)
    return (1 - b) * within(RATIO, ratio) + b


def benchmark(epsilon: float) -> float:
    """Return 2 / epsilon^2: the noise variance of the Laplace mechanism in units of the squared global sensitivity."""
    return 2 / within(BUDGET, epsilon) ** 2


def useful_weight(ratio: float, *, printed: bool = False) -> float:
    r"""Return the largest b whose noise variance is not above the Laplace mechanism's; 0 or less if there is none.

    Correct is :math:`(\frac12-r)/(1-r)<\frac12`; the printed variance gives :math:`(1/\sqrt2-r)/(1-r)`.
    """
    r = within(RATIO, ratio)
    if r == 1:
        msg = "ratio must be below 1 for a gain, got 1."
        raise DomainError(msg)
    return ((1 / math.sqrt(2) if printed else 0.5) - r) / (1 - r)


def fair_weight(epsilon: float, delta_: float, ratio: float) -> float:
    r"""Return the largest b whose noise is not above the Laplace noise that the same (epsilon, delta) allows.

    Laplace noise of loss :math:`\varepsilon_0=\varepsilon-2\ln(1-\delta)` is (epsilon, delta)-private, so its variance
    :math:`2/\varepsilon_0^2` is what a mechanism with a delta competes with: :math:`b\le(\frac{\varepsilon}
    {2\varepsilon_0}-r)/(1-r)`.
    """
    e = within(BUDGET, epsilon)
    larger = e - 2 * math.log1p(-within(_OPEN_DELTA, delta_))
    r = within(RATIO.but(high_open=True), ratio)
    return (e / (2 * larger) - r) / (1 - r)


def private_weight(epsilon: float, delta_: float, *, printed: bool = False) -> float:
    r"""Return the smallest b whose delta is at most the one allowed.

    From the printed (5.10) :math:`\ln b=-\varepsilon/(\varepsilon-2\ln\delta)`. The exact delta falls in b, so bisection
    finds its b, rounded up.
    """
    e, allowed = within(BUDGET, epsilon), within(_OPEN_DELTA, delta_)
    if printed:
        return math.exp(-e / (e - 2 * math.log(allowed)))
    return least(lambda b: delta(e, b) <= allowed, 0.0, 1.0)


def blurred_variance(epsilon: float, weight: float, local: float, mean: float, spread: float) -> float:
    r"""Return :math:`\frac8{\varepsilon^2}\{a^2\mathrm{Var}\,\xi+(a\,E\xi+b\,\Delta^{loc})^2\}`, Candidate 2 corrected.

    Candidate 2 adds a random xi instead of the global sensitivity; for its first condition xi must not fall below the
    local sensitivity, which the source does not ask for.

    Parameters
    ----------
    mean, spread : float
        Expectation and variance of xi.
    """
    b = within(WEIGHT, weight)
    a = 1 - b
    return 8 / within(BUDGET, epsilon) ** 2 * (a * a * spread + (a * mean + b * local) ** 2)


def printed_blurred_variance(epsilon: float, weight: float, local: float, mean: float, spread: float) -> float:
    r"""Return :math:`\frac{4a^2}{\varepsilon^2}\{\mathrm{Var}\,\xi+2(a\,E\xi+b\,\Delta^{loc})^2\}`, (5.14) as printed."""
    b = within(WEIGHT, weight)
    a = 1 - b
    return 4 * a * a / within(BUDGET, epsilon) ** 2 * (spread + 2 * (a * mean + b * local) ** 2)


def blurred_room(weight: float, local: float, blur: float) -> float:
    """Return (a xi + b local) / local: Candidate 2's noise scale over the least one that Definition 5.2.16 allows."""
    b = within(WEIGHT, weight)
    return ((1 - b) * blur + b * local) / local


def printed_blurred_delta(epsilon: float, weight: float, blur: float) -> float:
    r"""Return (5.10) with the beta of (5.12), :math:`\ln\frac{a\xi+b}{a\xi}`, for a constant xi in units of the global one.

    It would be a delta of Candidate 2 if, as said, every xi away from 0 were allowed in Theorem 5.2.17.
    """
    b = within(WEIGHT, weight)
    part = (1 - b) * blur
    return math.exp(within(BUDGET, epsilon) / 2 * (1 - 1 / math.log((part + b) / part)))


def blurred_delta(epsilon: float, weight: float, blur: float) -> float:
    """Return a delta(epsilon) that Candidate 2 cannot go below: two data sets of the largest local sensitivity.

    Both have the noise scale (2/epsilon)(a xi + b) in units of the global sensitivity, and their answers differ by it.
    """
    e = within(BUDGET, epsilon)
    scale = 2 / e * blurred_room(weight, 1.0, blur)
    return float(laplace_delta(np.array([e]), scale, scale, 1.0)[0])

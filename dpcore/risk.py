r"""What an attacker can do, in numbers that need no delta: each on the safe side, each with a sentence.

All follow from the symmetric, published trade-off curve. With a prior pi of being in the data, m = max(pi, 1 - pi):

=======================  ===============================================================================
advantage                delta(0), the total variation: true minus false accusations at their best
true_positive_rate       power(alpha) = inf over e of delta(e) + e^e alpha, at false-positive rate alpha
equal_error_rate         (1 - delta(0)) / 2: a symmetric convex curve meets its diagonal with slope -1
best_posterior           1 / (1 + e^-L (1 - pi) / pi), L the largest loss; 1 where the loss is unbounded
best_accuracy            m + (1 - m) delta(log(m / (1 - m))), from min (1-pi) alpha + pi beta
odds_factor              e^L, what the most telling answer does to the odds
area                     under the curve; 1 minus it is the chance to tell a member from an outsider
=======================  ===============================================================================

References: Kairouz, Oh, Viswanath (2015); Dong, Roth, Su (2022); Kulynych et al. (2024) for attack risk.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import FPR, PRIOR
from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError
from dpcore.core.kinds import EXACT, kind, kinds, settled
from dpcore.core.lazy import LateModule
from dpcore.core.numerals import nearest
from dpcore.curves import tangents
from dpcore.curves.bound import Outer
from dpcore.curves.polygon import Polygon
from dpcore.frames import several
from dpcore.regions import gate
from dpcore.regions.algebra import Assume, Composite, Group, Intersection, Symmetric, factors
from dpcore.words import factor, of_100

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from dpcore.curves.base import FloatArray
    from dpcore.frames import Regions
    from dpcore.regions.tradeoff import TradeOff
else:
    pd = LateModule("pandas")

DEFAULT_FPR = (1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.1)
DEFAULT_PRIOR = (0.01, 0.1, 0.5)
COLUMNS = ("region", "measure", "at", "value", "words", "kind", "theorem", "neighbours")
_LARGEST_EXPONENT = 709.0  # e^709 is still a double

Row = tuple[str, float | None, float, str, str]


def risk(regions: Regions, fpr: ArrayLike | None = None, prior: ArrayLike | None = None) -> pd.DataFrame:
    """Tabulate the attacker's best chances.

    Parameters
    ----------
    regions : Regions
        One region or several.
    fpr : ArrayLike, optional
        False-positive rates in [0, 1]; by default 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.1.
    prior : ArrayLike, optional
        Probabilities in (0, 1) that a person is in the data; by default 0.01, 0.1, 0.5.

    Returns
    -------
    DataFrame
        `region, measure, at, value, words, kind, theorem, neighbours`. `at` is the rate or prior, None for measures
        without one; `words` rounds outward. `kind` is ``exact``, or the side on which `value` is certified: ``upper``
        for what an attacker gains, ``lower`` for the errors that remain.
    """
    rates = FPR.array(DEFAULT_FPR if fpr is None else fpr)
    priors = PRIOR.array(DEFAULT_PRIOR if prior is None else prior)
    parts = []
    for region in several(regions):
        measure, at, value, what, words = zip(*_rows(region, rates, priors), strict=True)
        part = pd.DataFrame({"region": str(region), "measure": list(measure)})
        part["at"] = np.array(at, dtype=object)
        part["value"] = np.array(value, dtype=np.float64) + 0.0
        part["words"], part["kind"] = list(words), list(what)
        parts.append(part.assign(theorem=region.theorem, neighbours=region.neighbours))
    return pd.concat(parts, ignore_index=True)


def _rows(region: TradeOff, rates: FloatArray, priors: FloatArray) -> list[Row]:
    loss, _ = largest_loss(region)
    (gain, what), (error, error_what) = measured(region, "advantage"), measured(region, "equal_error_rate")
    rows: list[Row] = [("advantage", None, gain, what, advantage_words(gain))]
    for rate, value, says in zip(rates.tolist(), *_powers(region, rates), strict=True):
        rows.append(("true_positive_rate", rate, value, says, true_positive_words(rate, value)))
    rows.append(("equal_error_rate", None, error, error_what, equal_error_words(error)))
    for prior, value, says in zip(priors.tolist(), *_posteriors(region, priors), strict=True):
        rows.append(("best_posterior", prior, value, says, posterior_words(prior, value, loss)))
    for prior, value, says in zip(priors.tolist(), *_accuracies(region, priors), strict=True):
        rows.append(("best_accuracy", prior, value, says, accuracy_words(prior, value)))
    rows.append(("odds_factor", None, *measured(region, "odds_factor"), odds_words(loss)))
    below, below_what = measured(region, "area")
    rows.append(("area", None, below, below_what, area_words(below)))
    return rows


def measured(region: TradeOff, measure: str, at: float = 0.0) -> tuple[float, str]:
    """Return one measure of the table of `risk`, at one rate or prior, and its kind."""
    if measure == "advantage":
        low, high = (float(bound[0]) for bound in region.delta_bounds(0.0))
        return high, kind(low, high, "upper")
    if measure == "equal_error_rate":
        with gate.curve_of(region) as curve:
            shared, exact = tangents.overlap(curve)
        gate.rates(region, "equal error rate", shared / 2)
        return shared / 2, EXACT if exact else "lower"
    if measure == "odds_factor":
        loss, exact = largest_loss(region)
        times = odds_factor(region)
        overflow = math.isinf(times) and math.isfinite(loss)
        return times, EXACT if exact and not overflow else "upper"
    if measure == "area":
        low, high = region.area_bounds
        return low, kind(low, high, "lower")
    rows = {"true_positive_rate": _powers, "best_posterior": _posteriors, "best_accuracy": _accuracies}[measure]
    values, what = rows(region, np.array([at]))
    return values[0], what[0]


def _powers(region: TradeOff, rates: FloatArray) -> tuple[list[float], list[str]]:
    """Return the true-positive rates and their kinds: the tangents give the safe side, the curve what is attained."""
    safe = true_positive_rate(region, rates)
    try:
        attained = gate.power_bounds(region, rates)[0]
    except BudgetError:
        checkpoint(0.0)  # raises again if the time ran out
        attained = rates
    scale = np.minimum(safe, 1.0 - safe)
    sides = settled((np.minimum(attained, safe), safe), "upper", exact=region.curve.exact, scale=scale)
    return safe.tolist(), kinds(sides, "upper").tolist()


def _posteriors(region: TradeOff, priors: FloatArray) -> tuple[list[float], list[str]]:
    what = EXACT if largest_loss(region)[1] else "upper"
    return best_posterior(region, priors).tolist(), [what] * priors.size


def _accuracies(region: TradeOff, priors: FloatArray) -> tuple[list[float], list[str]]:
    """Return the shares of right guesses; their kinds are those of the deltas behind them."""
    try:
        what = kinds(region.delta_bounds(_odds_against(priors)), "upper").tolist()
    except BudgetError:
        checkpoint(0.0)  # raises again if the time ran out
        what = ["upper"] * priors.size
    return best_accuracy(region, priors).tolist(), what


# ---- the numbers ---------------------------------------------------------------------------------------------


def advantage(region: TradeOff) -> float:
    """Return the largest true-positive minus false-positive rate: 0 is blind guessing, 1 certain knowledge.

    Parameters
    ----------
    region : TradeOff
        Any region.

    Returns
    -------
    float
        In [0, 1].
    """
    return region.total_variation


def true_positive_rate(region: TradeOff, fpr: ArrayLike) -> FloatArray:
    """Return the largest share of members that an attacker finds at each false-positive rate; small rates keep digits.

    Parameters
    ----------
    region : TradeOff
        Any region.
    fpr : ArrayLike
        False-positive rates in [0, 1].

    Returns
    -------
    ndarray of float
        One per rate, in [0, 1].
    """
    rates = FPR.array(fpr)
    with gate.curve_of(region) as curve:
        power = tangents.power(curve, rates)
    gate.rates(region, "true-positive rate", power)
    return power


def equal_error_rate(region: TradeOff) -> float:
    """Return the least rate at which both errors are equal: 1/2 is blind guessing, 0 certain knowledge.

    Parameters
    ----------
    region : TradeOff
        Any region.

    Returns
    -------
    float
        In [0, 1/2].
    """
    return measured(region, "equal_error_rate")[0]


def best_posterior(region: TradeOff, prior: ArrayLike) -> FloatArray:
    """Return how sure the most telling answer makes an attacker; 1 if the loss has no bound.

    The belief after an answer of likelihood ratio e^L has odds e^L pi / (1 - pi), largest at the largest loss.

    Parameters
    ----------
    region : TradeOff
        Any region.
    prior : ArrayLike
        Probabilities in (0, 1) that a person is in the data.

    Returns
    -------
    ndarray of float
        One per prior, in (0, 1].
    """
    before = PRIOR.array(prior)
    loss, _ = largest_loss(region)
    against = (1.0 - before) / before * math.exp(-loss)
    return np.asarray(1.0 / (1.0 + against), dtype=np.float64)


def best_accuracy(region: TradeOff, prior: ArrayLike) -> FloatArray:
    r"""Return how often the best guess is right if a share `prior` of the people in question is in the data.

    .. math:: 1-\min_\alpha\{(1-\pi)\alpha+\pi f(\alpha)\} = 1-\pi+\pi\,\delta(\log\tfrac{1-\pi}{\pi})

    and, because the region is symmetric, the same with pi and 1 - pi exchanged. It is never below max(pi, 1 - pi), which
    needs no answer at all.

    Parameters
    ----------
    region : TradeOff
        Any region.
    prior : ArrayLike
        Probabilities in (0, 1) that a person is in the data.

    Returns
    -------
    ndarray of float
        One per prior, in [1/2, 1].
    """
    before = PRIOR.array(prior)
    rare = np.minimum(before, 1.0 - before)
    with gate.curve_of(region) as curve:
        value = 1.0 - rare * (1.0 - tangents.upper_deltas(curve, _odds_against(before)))
    return np.asarray(np.minimum(value, 1.0), dtype=np.float64)


def _odds_against(prior: FloatArray) -> FloatArray:
    """Return the epsilon that decides the best guess: the log odds against the rarer case."""
    rare = np.minimum(prior, 1.0 - prior)
    return np.asarray(np.log1p(-rare) - np.log(rare), dtype=np.float64)


def odds_factor(region: TradeOff) -> float:
    """Return by how much the most telling answer multiplies the odds: 1 reveals nothing, infinity everything.

    Parameters
    ----------
    region : TradeOff
        Any region.

    Returns
    -------
    float
        At least 1.
    """
    loss, _ = largest_loss(region)
    return math.exp(loss) if loss <= _LARGEST_EXPONENT else math.inf


def area(region: TradeOff) -> float:
    """Return the area under the trade-off curve, never above the truth: 1/2 is perfect privacy, 0 none.

    Parameters
    ----------
    region : TradeOff
        Any region.

    Returns
    -------
    float
        In [0, 1/2].
    """
    return region.area


def largest_loss(region: TradeOff) -> tuple[float, bool]:
    """Return the largest loss of a region, infinite if it has no bound, and whether it is exact.

    It follows from the expression, not from the curve: losses of a product add, while a polygon leaves out corners whose
    mass is below the smallest double. 0 is perfect privacy.

    Parameters
    ----------
    region : TradeOff
        Any region.

    Returns
    -------
    tuple of (float, bool)
        The loss, and whether it is exact.
    """
    loss = None if region.fails else _loss_of_parts(region)
    if loss is not None:
        return loss
    curve = region.curve
    if curve.q_inf > 0:
        return math.inf, not isinstance(curve, Outer)
    if isinstance(curve, Polygon) and curve.corner_count > curve.loss.size:
        return math.inf, False
    return max(0.0, curve.max_loss), not isinstance(curve, Outer)


def _loss_of_parts(region: TradeOff) -> tuple[float, bool] | None:
    """Return the largest loss from the parts of an expression, None for an atom."""
    if isinstance(region, Composite):
        parts = [(*largest_loss(node), count) for node, count in factors(region)]
        exact = all(sure for _, sure, _ in parts) and not isinstance(region.curve, Outer)
        return math.fsum(count * loss for loss, _, count in parts), exact
    if isinstance(region, Intersection):
        return min((largest_loss(part) for part in region.parts), key=lambda bound: bound[0])
    if isinstance(region, (Symmetric, Assume)):
        return largest_loss(region.region)
    if isinstance(region, Group):
        loss, exact = largest_loss(region.region)
        return region.k * loss, exact
    return None


# ---- the words -----------------------------------------------------------------------------------------------


def advantage_words(value: float) -> str:
    """Say how often the best guess about a coin toss is right."""
    right = of_100(min(1.0, 0.5 + 0.5 * value))
    return (
        f"If half of the people asked about are in the data, the best attacker is right about at most {right}; "
        "tossing a coin is right about 50 of 100."
    )


def true_positive_words(fpr: float, value: float) -> str:
    """Say how many members an attacker finds with this rate of wrong accusations."""
    accused = "nobody" if fpr == 0 else f"at most {of_100(fpr, up=False)} people outside the data"
    return (
        f"An attacker who wrongly accuses {accused} finds at most {of_100(value)} people inside it; "
        "blind guessing finds as many as it accuses."
    )


def equal_error_words(value: float) -> str:
    """Say how often an attacker with equal error rates is wrong."""
    return (
        "An attacker who errs as often about people inside the data as about people outside it is wrong about at "
        f"least {of_100(value, up=False)}; blind guessing is wrong about 50 of 100."
    )


def posterior_words(prior: float, value: float, loss: float) -> str:
    """Say how sure the most telling answer makes an attacker."""
    start = f"An attacker who gives a person a chance of {nearest(prior, 12)} to be in the data"
    if math.isinf(loss) or value >= 1.0:
        return f"{start} can become as good as certain, 100 of 100, by some answers, however rare."
    return f"{start} is never brought above a chance of {of_100(value)} by any answer."


def accuracy_words(prior: float, value: float) -> str:
    """Say how often the best guess is right, beside the guess without any answer."""
    return (
        f"If a share of {nearest(prior, 12)} of the people asked about is in the data, the best attacker is right about at "
        f"most {of_100(value)}; without any answer a guess is right about a share of {nearest(max(prior, 1 - prior), 12)}."
    )


def odds_words(loss: float) -> str:
    """Say what the most telling answer does to the odds."""
    if math.isinf(loss):
        return "There is no limit: some answers, however rare, can make an attacker as good as certain."
    if loss == 0:
        return "No answer changes the odds that a person is in the data."
    return f"No answer multiplies the odds that a person is in the data by more than {factor(loss)}."


def area_words(value: float) -> str:
    """Say how often a member and an outsider are told apart."""
    share = of_100(min(1.0, 1.0 - value))
    return (
        "Shown the answers of one person in the data and of one outside it, the best attacker tells which is which "
        f"in at most {share} cases; tossing a coin is right in 50 of 100."
    )

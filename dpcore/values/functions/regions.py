"""Numbers about a region: delta, epsilon, error rates, Gaussian privacy, and what an attacker can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpcore.core.domains import ALPHA, DELTA, FPR, LOSS, PRIOR, SHARE
from dpcore.core.errors import DomainError
from dpcore.core.kinds import EXACT, kind
from dpcore.core.numerals import nearest
from dpcore.language.problems import quoted
from dpcore.risk import measured
from dpcore.risk import risk as risk_table
from dpcore.theorems.conversion import gaussian_fit
from dpcore.values.evaluation import region_of
from dpcore.values.quantity import NumberValue, RecordValue, RegionValue, TextValue, given
from dpcore.words import attack_sentence

if TYPE_CHECKING:
    from dpcore.core.kinds import Side
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.values.evaluation import Scope

FUNCTIONS: Final = ("deltas", "epsilons", "misses", "mu", "region", "risk")


def bracket(region: TradeOff, bounds: tuple[Any, Any], safe: Side) -> NumberValue:
    """Return a number of a region from its two sides."""
    low, high = (float(np.ravel(side)[0]) + 0.0 for side in bounds)
    return NumberValue(low, high, kind(low, high, safe), region.theorem, region.neighbours)


def deltas(_: Scope, region: Any, epsilon: float) -> NumberValue:
    """Return δ of a region at an ε."""
    one = region_of(region)
    return bracket(one, one.delta_bounds(LOSS.check(float(epsilon))), "upper")


def epsilons(_: Scope, region: Any, delta: float) -> NumberValue:
    """Return ε of a region at a δ."""
    one = region_of(region)
    return bracket(one, one.epsilon_bounds([DELTA.check(float(delta))]), "upper")


def misses(_: Scope, region: Any, alpha: float) -> NumberValue:
    """Return the least share of members that an attacker with this false-positive rate misses."""
    one = region_of(region)
    return bracket(one, one.beta_bounds(ALPHA.check(float(alpha))), "lower")


def mu(_: Scope, region: Any, alpha: float = 1e-12) -> NumberValue:
    """Return the smallest μ of Gaussian privacy for false-positive rates from `alpha` to 1/2."""
    one = region_of(region)
    return gaussian_quantity(one, SHARE.but(name="alpha", high=0.5).check(float(alpha)))


def gaussian_quantity(one: TradeOff, alpha: float = 1e-12) -> NumberValue:
    """Return the bracket of the smallest μ of a region."""
    fit = gaussian_fit(one, alpha)
    if fit is None:
        msg = f"No finite μ of Gaussian privacy holds for {quoted(str(one), 60)}: its loss is infinite with some probability."
        raise DomainError(msg)
    theorem = f"{one.theorem}; smallest μ for false-positive rates from {nearest(alpha)}"
    return NumberValue(*fit.mu, kind(*fit.mu, "upper"), theorem, one.neighbours)


def region(_: Scope, expression: str) -> RegionValue:
    """Return a named region, for other functions."""
    return RegionValue(region_of(expression))


def risk(_: Scope, region: Any, fpr: float = 0.01, prior: float = 0.5) -> RecordValue:
    """Return what an attacker can do: numbers as parts, and a sentence as `words`."""
    one = region_of(region)
    rate, chance = FPR.check(float(fpr)), PRIOR.check(float(prior))

    def number(measure: str, at: float = 0.0) -> NumberValue:
        value, what = measured(one, measure, at)
        sides = (value, value) if what == EXACT else (value, np.inf) if what == "lower" else (-np.inf, value)
        limits = (0.0, np.inf) if measure == "odds_factor" else (0.0, 1.0)  # every other measure is a share
        low, high = max(sides[0], limits[0]), min(sides[1], limits[1])
        return NumberValue(low, high, what, one.theorem, one.neighbours)

    def sentence(measure: str) -> TextValue:
        rows = risk_table(one, [rate], [chance])
        return TextValue(str(rows[rows["measure"] == measure]["words"].iloc[0]))

    return RecordValue(
        attack_sentence(one, rate),
        {
            "advantage": lambda: number("advantage"),
            "true_positive_rate": lambda: number("true_positive_rate", rate),
            "equal_error_rate": lambda: number("equal_error_rate"),
            "best_posterior": lambda: number("best_posterior", chance),
            "best_accuracy": lambda: number("best_accuracy", chance),
            "odds_factor": lambda: number("odds_factor"),
            "fpr": given(rate),
            "prior": given(chance),
            "words": lambda: TextValue(attack_sentence(one, rate)),
            "advantage_words": lambda: sentence("advantage"),
            "posterior_words": lambda: sentence("best_posterior"),
        },
    )

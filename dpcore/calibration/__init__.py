"""Calibration: give all but one of the parameters, get the one left out, rounded to the safe side."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpcore.calibration.accuracy import Accuracy, epsilon_for_error
from dpcore.calibration.solve import Problem
from dpcore.calibration.targets import TargetNumbers
from dpcore.calibration.unknown import locate
from dpcore.core import registry
from dpcore.core.domains import ANY_LOSS
from dpcore.core.errors import DomainError
from dpcore.core.kinds import kind
from dpcore.language.build import build
from dpcore.language.grammar import parse_syntax
from dpcore.language.syntax import PowerNode, unknowns
from dpcore.regions import gate

if TYPE_CHECKING:
    from dpcore.language.syntax import Region
    from dpcore.regions.tradeoff import TradeOff

__all__ = ["COLUMNS", "Accuracy", "calibrate", "epsilon_for_error", "largest_k", "noise_for"]

COLUMNS = ("expression", "parameter", "value", "epsilon", "delta", "k", "kind", "theorem", "neighbours")
"""Columns of a table of calibrated parameters."""
_NOISE = ("sigma", "scale", "halfwidth")


def calibrate(
    expression: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    advantage: float | None = None,
    tpr: float | None = None,
    fpr: float | None = None,
) -> pd.DataFrame:
    """Solve for the parameter that was left out.

    Parameters
    ----------
    expression : str
        An expression with one ``?`` as a number or as an exponent: ``gaussian(?)^10``, ``laplace(0.1)^?``.
        Without ``?`` the missing number of the target is returned: epsilon for a delta, delta for an epsilon, the
        true-positive rate for a false-positive rate, or the least false-positive rate for a true-positive rate.
    epsilon, delta : float, optional
        The target delta(epsilon) <= delta.
    advantage : float, optional
        The target total variation <= advantage, in (0, 1).
    tpr, fpr : float, optional
        The target: a true-positive rate of at most `tpr` at the false-positive rate `fpr`.

    Returns
    -------
    DataFrame
        One row `expression, parameter, value, epsilon, delta, k, kind, theorem, neighbours`. The expression holds the value, the least
        noise or the largest loss that certainly meets the target; `delta` is what it reaches at `epsilon` (for
        attack targets the advantage, at 0); `k` counts the copies of the part that holds the unknown. `kind` is
        ``exact``, or ``upper`` or ``lower`` if the value bounds the true one on the safe side.

    Raises
    ------
    ParseError, DomainError
        If the expression or the target is wrong, or every value meets the target.
    BudgetError
        If no value meets the target.

    Examples
    --------
    >>> calibrate("gaussian(?)", epsilon=1, delta=1e-5).value.round(4).item()
    3.7306
    """
    tree = parse_syntax(expression, allow_unknown=True)
    numbers = TargetNumbers.read(epsilon=epsilon, delta=delta, advantage=advantage, tpr=tpr, fpr=fpr)
    if not unknowns(tree):
        return _left_out(tree, expression, numbers)
    place = locate(tree, expression)
    target = numbers.target()
    solution = Problem(tree, expression, place, target).solve()
    at, reached = target.statement(solution.region, solution.reached)
    gate.rates(solution.region, "delta", reached)
    k = place.copies * int(solution.value) if place.exponent else place.copies
    return _row(solution.region, place.parameter.name, solution.value, at, reached, k, solution.kind)


def _row(region: TradeOff, *cells: Any) -> pd.DataFrame:
    row = (str(region), *cells, region.theorem, region.neighbours)
    return pd.DataFrame({name: [cell] for name, cell in zip(COLUMNS, row, strict=True)})


def _left_out(tree: Region, text: str, numbers: TargetNumbers) -> pd.DataFrame:
    """Return the missing number of the target for an expression without ``?``."""
    region = build(tree, text)
    _ = region.neighbours
    k = tree.exponent if isinstance(tree, PowerNode) and isinstance(tree.exponent, int) else 1
    if numbers.epsilon is not None and numbers.delta is None:
        low, value = (float(bound[0]) for bound in region.delta_bounds(numbers.epsilon))
        return _row(region, "delta", value, numbers.epsilon, value, k, kind(low, value, "upper"))
    if numbers.delta is not None and numbers.epsilon is None:
        low, value = (float(bound[0]) for bound in region.epsilon_bounds(numbers.delta))
        return _row(region, "epsilon", value, value, numbers.delta, k, kind(low, value, "upper"))
    if numbers.fpr is not None and numbers.tpr is None:
        low, value = (float(bound[0]) for bound in region.power_bounds(numbers.fpr))
        return _row(region, "tpr", value, 0.0, region.total_variation, k, kind(low, value, "upper"))
    if numbers.tpr is not None and numbers.fpr is None:
        value, what = _least_fpr(region, numbers.tpr)
        return _row(region, "fpr", value, 0.0, region.total_variation, k, what)
    msg = f"There is no ? to calibrate in {registry.value_text(text)}: write it in the place of one number."
    raise DomainError(msg)


def _least_fpr(region: TradeOff, tpr: float) -> tuple[float, str]:
    """Return the false-positive rate below which no attacker finds the share `tpr`, and its kind.

    A published curve is its own inverse: 1 - f(alpha) reaches `tpr` first at alpha = f(1 - tpr).
    """
    missed = 1.0 - tpr
    rounded = Fraction(missed) != 1 - Fraction(tpr)
    if rounded and Fraction(missed) < 1 - Fraction(tpr):
        missed = math.nextafter(missed, 1.0)
    lower, upper = region.beta_bounds(missed)
    return float(lower[0]), "exact" if lower[0] == upper[0] and not rounded else "lower"


def noise_for(
    mechanism: str,
    epsilon: float | None = None,
    delta: float | None = None,
    k: int = 1,
    *,
    advantage: float | None = None,
    tpr: float | None = None,
    fpr: float | None = None,
    **fixed: Any,
) -> float:
    """Return the smallest noise of a mechanism, used k times, that certainly meets a target.

    Parameters
    ----------
    mechanism : str
        A name with a parameter sigma, scale or halfwidth, such as ``gaussian`` or ``poisson_gaussian``.
    epsilon, delta, advantage, tpr, fpr : float, optional
        The target, as in `calibrate`.
    k : int, default 1
        How many times the mechanism is used.
    fixed : object
        Its other parameters, such as ``q=0.01`` or ``sensitivity=6``.

    Returns
    -------
    float
        The value of that parameter, rounded to the safe side.

    Examples
    --------
    >>> round(noise_for("gaussian", 1, 1e-5, sensitivity=2), 4)
    7.4613
    """
    entry = registry.lookup(mechanism)
    name = next((n for n in _NOISE if n in entry.accepted), None)
    if name is None:
        msg = f"{mechanism} has no noise parameter ({', '.join(_NOISE)}); calibrate one of {', '.join(entry.accepted)}."
        raise DomainError(msg)
    if name in fixed:
        msg = f"{name} of {mechanism} is what is solved for; leave it out."
        raise DomainError(msg)
    arguments = ", ".join([f"{name}=?", *(f"{n}={_text(n, value)}" for n, value in fixed.items())])
    text = f"{mechanism}({arguments})^{registry.COUNT.check(k)}"
    row = calibrate(text, epsilon=epsilon, delta=delta, advantage=advantage, tpr=tpr, fpr=fpr)
    return float(row["value"].iloc[0])


def _text(name: str, value: Any) -> str:
    """Write a number or a list of numbers as the language does."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_text(name, item) for item in value)}]"
    number = ANY_LOSS.but(name=name).check(value)
    return repr(int(value)) if isinstance(value, Integral) else repr(number)


def largest_k(
    expression: str,
    epsilon: float | None = None,
    delta: float | None = None,
    *,
    advantage: float | None = None,
    tpr: float | None = None,
    fpr: float | None = None,
) -> int:
    """Return how many copies of a region certainly meet a target.

    Parameters
    ----------
    expression : str
        The region of one copy.
    epsilon, delta, advantage, tpr, fpr : float, optional
        The target, as in `calibrate`.

    Returns
    -------
    int
        The largest number for which the target is certainly met.

    Examples
    --------
    >>> largest_k("gaussian(10)", 1, 1e-5)
    7
    """
    text = f"({expression})^?"
    row = calibrate(text, epsilon=epsilon, delta=delta, advantage=advantage, tpr=tpr, fpr=fpr)
    return int(row["value"].iloc[0])

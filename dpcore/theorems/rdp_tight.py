"""From Rényi privacy to (epsilon, delta), tighter: only the part of the tail above e^epsilon counts."""

from __future__ import annotations

import math

from dpcore.core.numerals import numeral
from dpcore.core.rounding import UNIT, exp_up, up
from dpcore.theorems.record import SINGLE, Account, Route, Theorem, TheoremOracle


def tight_epsilon(order: float, bound: float, delta: float) -> float:
    """Return epsilon at delta of (order, bound)-RDP, not below 0."""
    shrink = _log_share(order)
    tail, count = math.log(delta) / (order - 1), math.log(order) / (order - 1)
    value = bound + shrink - tail - count
    error = 8 * UNIT * (bound + abs(shrink) + abs(tail) + abs(count))
    return max(0.0, up(value, error))


def tight_delta(order: float, bound: float, point: float) -> float:
    """Return delta at the epsilon `point` of (order, bound)-RDP."""
    main = (order - 1) * (bound - point)
    shrink, count = order * _log_share(order), math.log(order - 1)
    size = (order - 1) * (bound + point) + abs(shrink) + abs(count)
    return exp_up(main + shrink - count, size)


def _log_share(order: float) -> float:
    """Return log((order - 1) / order), precise at both ends."""
    return math.log1p(-1 / order) if order > 2 else math.log((order - 1) / order)


THEOREM = Theorem(
    name="rdp_tight",
    title="From Rényi privacy, tighter",
    formula=r"\varepsilon+\log\tfrac{a-1}{a}-\tfrac{\log\delta+\log a}{a-1},"
    r"\quad\delta=\tfrac{e^{(a-1)(\varepsilon-t)}}{a-1}(1-\tfrac1a)^a",
    meaning="Only the part of the tail above e^epsilon counts; always the smaller of the two.",
    assumptions=SINGLE,
    reference="Balle, Barthe, Gaboardi, Hsu, Sato 2020, Theorem 21; Canonne, Kamath, Steinke 2020, Proposition 12",
    kind="upper",
    oracles=(
        TheoremOracle((10.0, 0.5, 1.0), 1.0, 4.303853e-4, 2e-7, at_epsilon=True),
        TheoremOracle((10.0, 0.5, 4.303853e-4), 1.0, 4.303853e-4, 2e-7),
    ),
    account=Account(
        "Rényi, better conversion",
        r"\min_a\ kD_a+\log\frac{a-1}a-\frac{\log\delta+\log a}{a-1}",
        "The same divergences; only the part of the tail above e^ε counts. What most libraries do today.",
        "Balle, Barthe, Gaboardi, Hsu, Sato 2020; Canonne, Kamath, Steinke 2020",
    ),
    route=Route(
        "rdp",
        "dp",
        r"\varepsilon'=\varepsilon+\log\frac{a-1}{a}-\frac{\log\delta+\log a}{a-1}",
        ("rdp(11, 1)", "epsilon", 1 + math.log(10 / 11) + (math.log(1e5) - math.log(11)) / 10, 1e-12, "formula"),
        lambda order, bound, delta: (tight_epsilon(order, bound, delta), f"order {numeral(order)}"),
        lambda order, bound, epsilon: (tight_delta(order, bound, epsilon), f"order {numeral(order)}"),
    ),
)

"""From concentrated privacy to (epsilon, delta), plain: all moments at once give a Gaussian tail."""

from __future__ import annotations

import math

from dpcore.core.numerals import numeral
from dpcore.core.rounding import UNIT, exp_up, up
from dpcore.theorems.record import SINGLE, Account, Route, Theorem, TheoremOracle


def plain_epsilon(rho: float, xi: float, delta: float) -> float:
    """Return epsilon at delta of (xi, rho)-zCDP."""
    return up(xi + rho + 2 * math.sqrt(-rho * math.log(delta)))


def plain_delta(rho: float, xi: float, point: float) -> float:
    """Return delta at the epsilon `point` of (xi, rho)-zCDP."""
    gap = point - xi - rho - 4 * UNIT * (point + xi + rho)  # rounded down
    if gap <= 0:
        return 1.0
    return exp_up(-gap * gap / (4 * rho), gap * gap / (4 * rho)) if rho > 0 else 0.0


THEOREM = Theorem(
    name="zcdp_bun_steinke",
    title="From concentrated privacy, plain",
    formula=r"\xi+\rho+2\sqrt{\rho\log(1/\delta)},\quad\delta=e^{-(t-\xi-\rho)^2/(4\rho)}",
    meaning="All moments at once give a Gaussian tail.",
    assumptions=SINGLE,
    reference="Bun, Steinke 2016, Lemma 3.5",
    kind="upper",
    oracles=(
        TheoremOracle((0.1, 0.0, 1.0), 1.0, 0.13199384, 1e-7, at_epsilon=True),
        TheoremOracle((0.1, 0.0, 2.0), 2.0, 1.2036e-4, 1e-4, at_epsilon=True),
    ),
    account=Account(
        "zCDP, first conversion",
        r"k\rho+2\sqrt{k\rho\log(1/\delta)}",
        "One number ρ bounds the divergences of all orders.",
    ),
    route=Route(
        "zcdp",
        "dp",
        r"\varepsilon=\xi+\rho+2\sqrt{\rho\log(1/\delta)}",
        ("zcdp(0.25)", "epsilon", 0.25 + math.sqrt(math.log(1e5)), 1e-12, "formula"),
        lambda rho, xi, delta: (plain_epsilon(rho, xi, delta), f"rho {numeral(rho)}, xi {numeral(xi)}"),
        lambda rho, xi, epsilon: (plain_delta(rho, xi, epsilon), f"rho {numeral(rho)}, xi {numeral(xi)}"),
    ),
)

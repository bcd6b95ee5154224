"""From Rényi privacy to (epsilon, delta), plain: a moment of the likelihood ratio limits its tail."""

from __future__ import annotations

import math

from dpcore.core.numerals import numeral
from dpcore.core.rounding import exp_up, up
from dpcore.theorems.record import SINGLE, Account, Route, Theorem, TheoremOracle


def _epsilon(order: float, bound: float, delta: float) -> tuple[float, str]:
    return up(bound - math.log(delta) / (order - 1)), f"order {numeral(order)}"


def _delta(order: float, bound: float, epsilon: float) -> tuple[float, str]:
    return exp_up((order - 1) * (bound - epsilon), (order - 1) * (bound + epsilon)), f"order {numeral(order)}"


THEOREM = Theorem(
    name="rdp_mironov",
    title="From Rényi privacy, plain",
    formula=r"\varepsilon+\tfrac{\log(1/\delta)}{a-1},\quad\delta=e^{(a-1)(\varepsilon-t)}",
    meaning="A moment of the likelihood ratio limits its tail.",
    assumptions=SINGLE,
    reference="Mironov 2017, Proposition 3",
    kind="upper",
    oracles=(
        TheoremOracle((10.0, 0.5, 1.0), 1.0, 0.011108996538242306, 1e-12, at_epsilon=True),
        TheoremOracle((10.0, 0.5, 0.011108996538242306), 1.0, 0.011108996538242306, 1e-12),
    ),
    account=Account(
        "Rényi, first conversion",
        r"\min_a\ kD_a+\frac{\log(1/\delta)}{a-1}",
        "Rényi divergences of the usual 151 orders, turned into ε by Markov's inequality.",
    ),
    route=Route(
        "rdp",
        "dp",
        r"\varepsilon'=\varepsilon+\frac{\log(1/\delta)}{a-1}",
        ("rdp(11, 1)", "epsilon", 1 + math.log(1e5) / 10, 1e-12, "1 + log(1e5)/10"),
        _epsilon,
        _delta,
    ),
)

"""To maximal leakage: by how much an answer helps any guess, in nats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.theorems.conversion.kinds import anything, is_dp
from dpcore.theorems.conversion.records import SINGLE, Check, Conversion, Options, Values

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff


def _leakage(region: TradeOff, _: Options) -> list[Values]:
    """Return log(1 + η), rounded up."""
    return [({"leakage": math.nextafter(math.log1p(region.total_variation), math.inf)}, region.kind)]


CONVERSIONS: tuple[Conversion, ...] = (
    Conversion(
        "dp",
        "leakage",
        r"\mathcal L=\log\bigl(1+\delta+(1-\delta)\tanh(\varepsilon/2)\bigr)",
        "exact",
        SINGLE,
        "Ghazi, Issa 2023, equations (79) to (81), corrected",
        is_dp,
        _leakage,
        Check("dp(2)", "leakage", math.log(2 * math.exp(2) / (1 + math.exp(2))), 1e-14, "log(2e^ε/(1+e^ε))"),
    ),
    Conversion(
        "region",
        "leakage",
        r"\mathcal L=\log(1+\delta(0))",
        "exact",
        SINGLE,
        "Issa, Wagner, Kamath 2020",
        anything,
        _leakage,
        Check("laplace(1)", "leakage", math.log(2 - math.exp(-0.5)), 1e-14, "η = 1 - e^(-1/2)"),
    ),
)

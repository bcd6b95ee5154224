"""To total variation: the largest gain over blind guessing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.regions.guarantees import DPTV, TV
from dpcore.theorems.conversion.kinds import anything, is_a, is_dp, is_gaussian, is_laplace
from dpcore.theorems.conversion.records import SINGLE, Check, Conversion, Options, Values

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff


def _variation(region: TradeOff, _: Options) -> list[Values]:
    return [({"eta": region.total_variation}, region.kind)]


CONVERSIONS: tuple[Conversion, ...] = (
    Conversion(
        "dp",
        "tv",
        r"\eta=\delta+(1-\delta)\tanh(\varepsilon/2)",
        "exact",
        SINGLE,
        "Kairouz, Oh, Viswanath 2015; Ghazi, Issa 2023",
        is_dp,
        _variation,
        Check("dp(0.6, 0.05)", "eta", 0.05 + 0.95 * math.tanh(0.3), 1e-14, "formula"),
    ),
    Conversion(
        "dptv",
        "tv",
        r"\eta=\min\{\eta,\ \delta+(1-\delta)\tanh(\varepsilon/2)\}",
        "exact",
        SINGLE,
        "Ghazi, Issa 2023",
        is_a(DPTV, TV),
        _variation,
        Check("dptv(0.6, 0.05, 0.15)", "eta", 0.15, 1e-14, "by definition"),
    ),
    Conversion(
        "gdp",
        "tv",
        r"\eta=2\Phi(\mu/2)-1",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022",
        is_gaussian,
        _variation,
        Check("gdp(1)", "eta", 0.3829249225480262, 1e-13, "2 Phi(1/2) - 1"),
    ),
    Conversion(
        "laplace",
        "tv",
        r"\eta=1-e^{-\varepsilon/2}",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022",
        is_laplace,
        _variation,
        Check("laplace(1)", "eta", 1 - math.exp(-0.5), 1e-14, "formula"),
    ),
    Conversion(
        "region",
        "tv",
        r"\eta=\max_\alpha\{1-\alpha-f(\alpha)\}=\delta(0)",
        "exact",
        SINGLE,
        "Neyman, Pearson 1933",
        anything,
        _variation,
        Check("histogram(1)", "eta", 0.24183668, 1e-7, "two-dimensional quadrature"),
    ),
)

"""To concentrated privacy: a rate rho that bounds the divergence of every order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.core.rounding import up
from dpcore.regions.guarantees import DP
from dpcore.theorems import divergences
from dpcore.theorems.conversion.kinds import anything, is_dp, is_gaussian, is_laplace, is_pure
from dpcore.theorems.conversion.records import SINGLE, Check, Conversion, Options, Values, no_conversion

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff


def _rate(region: TradeOff, _: Options) -> list[Values]:
    rate = divergences.concentrated(region)
    if rate is None:
        raise no_conversion(region, "zcdp")
    values = {"rho": rate.rho} if rate.xi == 0 else {"rho": rate.rho, "xi": rate.xi}
    return [(values, "exact" if rate.exact else "upper")]


def _bun_steinke(region: TradeOff, _: Options) -> list[Values]:
    epsilon = region.epsilon_ if isinstance(region, DP) else math.inf
    return [({"rho": up(epsilon * epsilon / 2)}, "upper")]


CONVERSIONS: tuple[Conversion, ...] = (
    Conversion(
        "dp",
        "zcdp",
        r"\rho=\varepsilon\tanh(\varepsilon/2)",
        "exact",
        "delta = 0; with delta > 0 no finite rho holds.",
        "Proved in dpcore.theorems.divergences.concentrated; Harrison, Manurangsi 2026",
        is_dp,
        _rate,
        Check("dp(1)", "rho", math.tanh(0.5), 1e-14, "Kullback-Leibler divergence of randomized response"),
    ),
    Conversion(
        "dp",
        "zcdp",
        r"\rho=\varepsilon^2/2",
        "bound",
        "delta = 0.",
        "Bun, Steinke 2016, Proposition 1.4",
        is_pure,
        _bun_steinke,
        Check("dp(1)", "rho", 0.5, 1e-14, "formula"),
    ),
    Conversion(
        "gaussian",
        "zcdp",
        r"\rho=\mu^2/2",
        "exact",
        SINGLE,
        "Bun, Steinke 2016, Proposition 1.6",
        is_gaussian,
        _rate,
        Check("gaussian(2)", "rho", 0.125, 1e-14, "formula"),
    ),
    Conversion(
        "laplace",
        "zcdp",
        r"\rho=\varepsilon+e^{-\varepsilon}-1",
        "exact",
        SINGLE,
        "Harrison, Manurangsi 2026, Exact zCDP characterizations",
        is_laplace,
        _rate,
        Check("laplace(1)", "rho", math.exp(-1.0), 1e-14, "formula"),
    ),
    Conversion(
        "region",
        "zcdp",
        r"\rho=\sum_i\rho_i,\quad\rho_i\le L_i\tanh(L_i/2),\ L_i\text{ the largest loss}",
        "bound",
        "Parts of bounded loss, Gaussian, Laplace or concentrated; exact where every part is.",
        "Bun, Steinke 2016, Lemma 1.7",
        anything,
        _rate,
        Check("dp(1) * gdp(1)", "rho", math.tanh(0.5) + 0.5, 1e-14, "sum of both"),
    ),
)

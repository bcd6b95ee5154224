"""To (epsilon, delta): exact statements of a region, and those of the Rényi and concentrated theorems."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore import theorems
from dpcore.conversion.kinds import anything, is_a, is_gaussian
from dpcore.conversion.records import SINGLE, Check, Conversion, Options, Values
from dpcore.guarantees import RDP, ZCDP

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.tradeoff import TradeOff


def statements(region: TradeOff, options: Options) -> list[Values]:
    """Return the exact statements of the region at each delta and each epsilon asked."""
    rows: list[Values] = []
    if options.delta:
        low, high = region.epsilon_bounds(np.array(options.delta))
        for at, least, most in zip(options.delta, low.tolist(), high.tolist(), strict=True):
            rows.append(({"epsilon": most, "delta": at}, "exact" if least == most else "upper"))
    if options.epsilon:
        low, high = region.delta_bounds(np.array(options.epsilon))
        for at, least, most in zip(options.epsilon, low.tolist(), high.tolist(), strict=True):
            rows.append(({"epsilon": at, "delta": most}, "exact" if least == most else "upper"))
    return rows


def _by_theorem(name: str) -> Callable[[TradeOff, Options], list[Values]]:
    """Return the rows of one of the named Rényi or concentrated theorems; at delta 0 it promises nothing."""

    def rows(region: TradeOff, options: Options) -> list[Values]:
        frames = []
        positive = [d for d in options.delta if d > 0]
        if isinstance(region, RDP):
            frames += [theorems.rdp_to_dp(region.order, region.epsilon_, positive)] if positive else []
            frames += [theorems.rdp_delta(region.order, region.epsilon_, options.epsilon)] if options.epsilon else []
        elif isinstance(region, ZCDP):
            frames += [theorems.zcdp_to_dp(region.rho, region.xi, positive)] if positive else []
            frames += [theorems.zcdp_delta(region.rho, region.xi, options.epsilon)] if options.epsilon else []
        found: list[Values] = [({"epsilon": math.inf, "delta": 0.0}, "upper") for d in options.delta if d == 0]
        for frame in frames:
            mine = frame[frame["theorem"] == name]
            pairs = zip(mine["epsilon"].tolist(), mine["delta"].tolist(), strict=True)
            found += [({"epsilon": e, "delta": d}, "upper") for e, d in pairs]
        return found

    return rows


CONVERSIONS: tuple[Conversion, ...] = (
    Conversion(
        "rdp",
        "dp",
        r"\varepsilon'=\varepsilon+\frac{\log(1/\delta)}{a-1}",
        "bound",
        SINGLE,
        "Mironov 2017, Proposition 3",
        is_a(RDP),
        _by_theorem("rdp_mironov"),
        Check("rdp(11, 1)", "epsilon", 1 + math.log(1e5) / 10, 1e-12, "1 + log(1e5)/10"),
    ),
    Conversion(
        "rdp",
        "dp",
        r"\varepsilon'=\varepsilon+\log\frac{a-1}{a}-\frac{\log\delta+\log a}{a-1}",
        "bound",
        SINGLE,
        "Balle, Barthe, Gaboardi, Hsu, Sato 2020, Theorem 21; Canonne, Kamath, Steinke 2020, Proposition 12",
        is_a(RDP),
        _by_theorem("rdp_tight"),
        Check("rdp(11, 1)", "epsilon", 1 + math.log(10 / 11) + (math.log(1e5) - math.log(11)) / 10, 1e-12, "formula"),
    ),
    Conversion(
        "zcdp",
        "dp",
        r"\varepsilon=\xi+\rho+2\sqrt{\rho\log(1/\delta)}",
        "bound",
        SINGLE,
        "Bun, Steinke 2016, Lemma 3.5",
        is_a(ZCDP),
        _by_theorem("zcdp_bun_steinke"),
        Check("zcdp(0.25)", "epsilon", 0.25 + math.sqrt(math.log(1e5)), 1e-12, "formula"),
    ),
    Conversion(
        "zcdp",
        "dp",
        r"\min_{a>1}\ \xi+\rho a+\log\frac{a-1}{a}-\frac{\log\delta+\log a}{a-1}",
        "bound",
        SINGLE,
        "Canonne, Kamath, Steinke 2020, Proposition 12",
        is_a(ZCDP),
        _by_theorem("zcdp_tight"),
        Check("zcdp(0.5)", "epsilon", 4.728386984943314, 1e-12, "minimum over orders, high precision"),
    ),
    Conversion(
        "gdp",
        "dp",
        r"\delta(\varepsilon)=\Phi(\tfrac\mu2-\tfrac\varepsilon\mu)-e^\varepsilon\Phi(-\tfrac\mu2-\tfrac\varepsilon\mu)",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022, Corollary 2.13; Balle, Wang 2018, Theorem 8",
        is_gaussian,
        statements,
        Check("gdp(1)", "delta", 0.12693673750664397, 1e-12, "dp-accounting tests", Options((), (1.0,))),
    ),
    Conversion(
        "region",
        "dp",
        r"\varepsilon=\min\{t\ge0:\ 1-\inf_\alpha(e^t\alpha+f(\alpha))\le\delta\}",
        "exact",
        SINGLE,
        "Wasserman, Zhou 2010; Dong, Roth, Su 2022, Proposition 2.5",
        anything,
        statements,
        Check("dp(1, 0.001)^30", "epsilon", 21.7096126245, 1e-10, "high precision", Options((0.06,))),
    ),
)

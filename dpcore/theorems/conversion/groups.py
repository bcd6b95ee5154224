"""To groups: what a region says about k people who change their data together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.core.rounding import up
from dpcore.regions.algebra import Group
from dpcore.regions.guarantees import DP, ZCDP
from dpcore.theorems.conversion.kinds import anything, is_a, is_finite_dp, is_gaussian, is_laplace
from dpcore.theorems.conversion.records import SINGLE, Check, Conversion, Options, Values
from dpcore.theorems.conversion.statements import by_theorems, statements

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems import Theorem
    from dpcore.theorems.conversion.records import Rows


def _by_theorem(record: Theorem) -> Rows:
    """Return the rows of a theorem about groups of k of an (epsilon, delta) statement."""

    def rows(region: TradeOff, options: Options) -> list[Values]:
        epsilon, delta = (region.epsilon_, region.delta_) if isinstance(region, DP) else (math.inf, 1.0)
        frame = record.rows(epsilon, delta, options.k)
        cells = zip(frame["epsilon"].tolist(), frame["delta"].tolist(), frame["kind"].tolist(), strict=True)
        return [({"k": options.k, "epsilon": e, "delta": d}, kind) for e, d, kind in cells]

    return rows


def _group_mu(region: TradeOff, options: Options) -> list[Values]:
    mu = math.inf if region.curve.gaussian_mu is None else region.curve.gaussian_mu
    return [({"k": options.k, "mu": options.k * mu}, "exact")]


def _group_laplace(region: TradeOff, options: Options) -> list[Values]:
    epsilon = math.inf if region.curve.laplace_epsilon is None else region.curve.laplace_epsilon
    return [({"k": options.k, "epsilon": options.k * epsilon}, "exact")]


def _group_rate(region: TradeOff, options: Options) -> list[Values]:
    rho, xi = (region.rho, region.xi) if isinstance(region, ZCDP) else (math.inf, 0.0)
    harmonic = math.fsum(1 / i for i in range(1, options.k + 1))
    if xi == 0:
        return [({"k": options.k, "rho": rho * options.k**2}, "exact")]
    return [({"k": options.k, "rho": up(rho * options.k**2), "xi": up(xi * options.k * harmonic)}, "upper")]


def _group_region(region: TradeOff, options: Options) -> list[Values]:
    return [({"k": options.k, **values}, kind) for values, kind in statements(Group(region, options.k), options)]


CONVERSIONS: tuple[Conversion, ...] = (
    *by_theorems("dp", "group", is_finite_dp, _by_theorem),
    Conversion(
        "gdp",
        "group",
        r"\mu_k=k\mu",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022, Theorem 2.14",
        is_gaussian,
        _group_mu,
        Check("gdp(0.5)", "mu", 1.0, 1e-14, "formula, k = 2"),
    ),
    Conversion(
        "laplace",
        "group",
        r"\varepsilon_k=k\varepsilon\ \text{(Laplace noise again)}",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022",
        is_laplace,
        _group_laplace,
        Check("laplace(0.5)", "epsilon", 1.0, 1e-14, "k = 2"),
    ),
    Conversion(
        "zcdp",
        "group",
        r"\rho_k=k^2\rho,\quad\xi_k=\xi\,k\sum_{i\le k}1/i",
        "exact",
        "Exact for xi = 0, where Gaussian noise attains it; a bound otherwise.",
        "Bun, Steinke 2016, Proposition 1.9",
        is_a(ZCDP),
        _group_rate,
        Check("zcdp(0.5)", "rho", 2.0, 1e-14, "formula, k = 2"),
    ),
    Conversion(
        "region",
        "group",
        r"1-(1-f)^{\circ k}",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022, Theorem 2.14",
        anything,
        _group_region,
        Check("tv(0.2)", "delta", 0.4, 1e-14, "k eta", Options((), (0.0,))),
    ),
)

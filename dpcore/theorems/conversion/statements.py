"""To (epsilon, delta): the exact statements of a region, and those of the Rényi and zCDP theorems."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.regions.guarantees import RDP, ZCDP
from dpcore.theorems.catalogue import routes
from dpcore.theorems.conversion.kinds import anything, is_a, is_gaussian
from dpcore.theorems.conversion.records import SINGLE, Check, Conversion, Options, Rows, Values

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems import Theorem


def statements(region: TradeOff, options: Options) -> list[Values]:
    """Return the exact statements of the region at each delta and each epsilon of the options."""
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


def _by_theorem(record: Theorem) -> Rows:
    """Return the rows of one theorem that leads to (epsilon, delta); at delta 0 it promises nothing."""

    def rows(region: TradeOff, options: Options) -> list[Values]:
        values = (region.order, region.epsilon_) if isinstance(region, RDP) else (0.0, 0.0)
        values = (region.rho, region.xi) if isinstance(region, ZCDP) else values
        frames = [record.conversion_rows(*values, at) for at in options.delta if at > 0]
        frames += [record.conversion_rows(*values, at, at_epsilon=True) for at in options.epsilon]
        empty: list[Values] = [({"epsilon": math.inf, "delta": 0.0}, "upper") for at in options.delta if at == 0]
        cells = [(float(frame["epsilon"].iloc[0]), float(frame["delta"].iloc[0])) for frame in frames]
        return empty + [({"epsilon": epsilon, "delta": delta}, "upper") for epsilon, delta in cells]

    return rows


def by_theorems(
    source: str, target: str, applies: Callable[[TradeOff], bool], rows: Callable[[Theorem], Rows]
) -> tuple[Conversion, ...]:
    """Return the conversions that theorems give from one notion to another."""
    conversions = []
    for record in routes(source, target):
        if record.route is not None:
            kind, check = "exact" if record.kind == "exact" else "bound", Check(*record.route.check)
            of = applies, rows(record), check
            conversions.append(Conversion(source, target, record.route.formula, kind, SINGLE, record.reference, *of))
    return tuple(conversions)


CONVERSIONS: tuple[Conversion, ...] = (
    *by_theorems("rdp", "dp", is_a(RDP), _by_theorem),
    *by_theorems("zcdp", "dp", is_a(ZCDP), _by_theorem),
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

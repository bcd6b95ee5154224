"""To Gaussian privacy: the smallest mu whose curve lies below the region's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.algebra import Assume, Composite, Intersection, factors
from dpcore.conversion.kinds import anything, is_gaussian, is_pure
from dpcore.conversion.records import SINGLE, Check, Conversion, Options, Values, no_way
from dpcore.curves.tangents import pure_mu, smallest_mu
from dpcore.guarantees import DP
from dpcore.risk import largest_loss
from dpcore.theorems.rounding import up

if TYPE_CHECKING:
    from dpcore.tradeoff import TradeOff


def gaussian_mu(region: TradeOff) -> tuple[float, bool] | None:
    """Return the smallest known mu for which the region is mu-Gaussian private, and whether none smaller is.

    By the region itself where its loss is bounded; a product has at most the root of the sum of squares of its
    parts, an intersection at most the least of its parts. None where neither says anything.
    """
    if isinstance(region, DP) and region.delta_ == 0:
        return pure_mu(region.epsilon_), True
    own = smallest_mu(region.curve, largest_loss(region)[0])
    if own is not None and own[1]:
        return own
    known = [] if own is None else [own[0]]
    if isinstance(region, Composite):
        parts = [(gaussian_mu(node), count) for node, count in factors(region)]
        squares = [count * found[0] ** 2 for found, count in parts if found is not None]
        if len(squares) == len(parts):
            known.append(up(math.sqrt(math.fsum(squares))))
    elif isinstance(region, Intersection):
        known += [found[0] for found in map(gaussian_mu, region.parts) if found is not None]
    elif isinstance(region, Assume):
        return gaussian_mu(region.region)
    return (min(known), False) if known else None


def _mu_rows(region: TradeOff, _: Options) -> list[Values]:
    found = gaussian_mu(region)
    if found is None:
        raise no_way(region, "gdp")
    return [({"mu": found[0]}, "exact" if found[1] else "upper")]


CONVERSIONS: tuple[Conversion, ...] = (
    Conversion(
        "dp",
        "gdp",
        r"\mu=-2\Phi^{-1}\bigl(\tfrac1{1+e^\varepsilon}\bigr)",
        "exact",
        "delta = 0; with delta > 0 no finite mu holds.",
        "Kulynych et al. 2025, Proposition 6.1",
        is_pure,
        _mu_rows,
        Check("dp(log(3))", "mu", 1.34898, 1e-5, "dp-accounting tests, randomized response with noise 0.5"),
    ),
    Conversion(
        "gdp",
        "gdp",
        r"\mu=\Delta/\sigma",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022, Theorem 2.7",
        is_gaussian,
        _mu_rows,
        Check("gaussian(2)", "mu", 0.5, 1e-14, "formula"),
    ),
    Conversion(
        "region",
        "gdp",
        r"\mu=\sup_\alpha\ \Phi^{-1}(1-f(\alpha))-\Phi^{-1}(\alpha)",
        "exact",
        "Bounded loss, or a product or intersection of parts that have a mu; exact at the corners of a polygon.",
        "Dong, Roth, Su 2022, Definition 2.6",
        anything,
        _mu_rows,
        Check("dp(1) * dp(2)", "mu", 2.358, 1e-3, "dp-accounting tests"),
    ),
)

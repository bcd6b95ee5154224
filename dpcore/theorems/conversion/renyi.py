"""To Rényi privacy: the divergence of an order, the larger of the two directions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.core.numerals import numeral
from dpcore.regions.guarantees import ZCDP
from dpcore.theorems import divergences
from dpcore.theorems.conversion.kinds import anything, is_a, is_dp, is_gaussian, is_laplace
from dpcore.theorems.conversion.records import SINGLE, Check, Conversion, Options, Values, no_conversion

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff


def _divergence(region: TradeOff, options: Options) -> list[Values]:
    rows: list[Values] = []
    for order in options.order:
        divergence = divergences.renyi(region, order)
        if divergence is None:
            raise no_conversion(region, "rdp", f" of order {numeral(order)}")
        rows.append(({"order": order, "epsilon": divergence[0]}, "exact" if divergence[1] else "upper"))
    return rows


CONVERSIONS: tuple[Conversion, ...] = (
    Conversion(
        "laplace",
        "rdp",
        r"\frac1{a-1}\log\bigl(\tfrac{a}{2a-1}e^{(a-1)\varepsilon}+\tfrac{a-1}{2a-1}e^{-a\varepsilon}\bigr)",
        "exact",
        SINGLE,
        "Mironov 2017, Proposition 6",
        is_laplace,
        _divergence,
        Check("laplace(1)", "epsilon", math.log(2 / 3 * math.e + math.exp(-2) / 3), 1e-13, "formula, order 2"),
    ),
    Conversion(
        "gaussian",
        "rdp",
        r"a\mu^2/2",
        "exact",
        SINGLE,
        "Mironov 2017, Proposition 7",
        is_gaussian,
        _divergence,
        Check("gaussian(2)", "epsilon", 0.25, 1e-14, "formula, order 2"),
    ),
    Conversion(
        "dp",
        "rdp",
        r"\frac1{a-1}\log\frac{\cosh((a-1/2)\varepsilon)}{\cosh(\varepsilon/2)}",
        "exact",
        "delta = 0; with delta > 0 every divergence is infinite.",
        "Mironov 2017, Proposition 5 (randomized response)",
        is_dp,
        _divergence,
        Check("dp(1)", "epsilon", math.log(math.cosh(1.5) / math.cosh(0.5)), 1e-13, "formula, order 2"),
    ),
    Conversion(
        "zcdp",
        "rdp",
        r"\xi+\rho a",
        "exact",
        SINGLE,
        "Bun, Steinke 2016, Definition 1.1",
        is_a(ZCDP),
        _divergence,
        Check("zcdp(0.5)", "epsilon", 1.0, 1e-14, "by definition, order 2"),
    ),
    Conversion(
        "region",
        "rdp",
        r"\sum_i D_a^{(i)},\quad D_a=\frac1{a-1}\log\sum_x q_x^a p_x^{1-a}",
        "bound",
        "Parts with closed-form divergence, finite distributions or bounded loss; exact where every part is.",
        "Mironov 2017, Proposition 1; van Erven, Harremoës 2014",
        anything,
        _divergence,
        Check("pmf([0.5, 0.5], [0.6, 0.4])", "epsilon", math.log(0.25 / 0.6 + 0.25 / 0.4), 1e-13, "larger direction"),
    ),
)

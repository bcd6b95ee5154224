"""The table of all conversions and the function that applies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from dpcore.core.domains import COUNT, DELTA, LOSS, ORDER, SHARE
from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.core.parameter import one_of, value_text
from dpcore.curves.gaussian_range import ALPHA
from dpcore.theorems.conversion import concentrated, gaussian, groups, leakage, renyi, statements, variation
from dpcore.theorems.conversion.gaussian import RANGE_FORMULA
from dpcore.theorems.conversion.records import DEFAULT_DELTA, DEFAULT_ORDER, Conversion, Options, no_conversion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.core.parameter import Parameter
    from dpcore.regions.tradeoff import TradeOff

COLUMNS = ("region", "to", "parameters", "formula", "kind", "theorem", "neighbours")
"""Columns of a table of conversions."""
CONVERSIONS: tuple[Conversion, ...] = (
    *statements.CONVERSIONS,
    *variation.CONVERSIONS,
    *leakage.CONVERSIONS,
    *gaussian.CONVERSIONS,
    *concentrated.CONVERSIONS,
    *renyi.CONVERSIONS,
    *groups.CONVERSIONS,
)
"""The records of all conversions between notions of privacy."""


def convert(
    region: TradeOff,
    to: str,
    *,
    delta: float | Sequence[float] | None = None,
    epsilon: float | Sequence[float] | None = None,
    order: float | Sequence[float] | None = None,
    k: int = 2,
    alpha: float = ALPHA,
) -> pd.DataFrame:
    """Tabulate what a region says in terms of another notion.

    Parameters
    ----------
    region : TradeOff
        Any region.
    to : str
        One of dp, tv, leakage, gdp, zcdp, rdp, group.
    delta, epsilon : float, sequence of float, optional
        For dp and group, where to state the other of the two; by default delta = 1e-5.
    order : float, sequence of float, optional
        For rdp, orders from 1 (Kullback-Leibler) to infinity (the largest loss); by default 2.
    k : int, default 2
        For group, how many people.
    alpha : float, default ALPHA
        For gdp of a region of unbounded loss, the smallest false-positive rate looked at, in (0, 1/2).

    Returns
    -------
    DataFrame
        `region, to, parameters, formula, kind, theorem, neighbours`: `parameters` as in ``epsilon=1, delta=1e-5``;
        `kind` is ``exact`` when no smaller parameters hold, otherwise ``upper``; `theorem` names the conversion after
        what the region's own numbers rest on. An infinite parameter means that no finite one holds. If mu is known only
        for a range of rates, the row states the range, brackets, and how far the Gaussian curve is off there.
    """
    if not getattr(region, "is_region", False):
        msg = f"convert takes a region such as dp(1), got {value_text(region)}."
        raise DomainError(msg)
    options = Options(
        _numbers(DELTA, delta, DEFAULT_DELTA if epsilon is None else ()),
        _numbers(LOSS, epsilon, ()),
        _numbers(ORDER, order, DEFAULT_ORDER),
        COUNT.but(high=10_000).check(k),
        SHARE.but(name="alpha", high=0.5).check(alpha),
    )
    conversions = applicable(region, _notion(to))
    rows = [(values, kind, c) for c in conversions for values, kind in c.rows(region, options)]
    columns = {
        "parameters": [
            ", ".join(f"{name}={numeral(value)}" for name, value in values.items()) for values, _, _ in rows
        ],
        "formula": [RANGE_FORMULA if "alpha" in values else c.formula for values, _, c in rows],
        "kind": [kind for _, kind, _ in rows],
        "theorem": [f"{region.theorem}; {c.reference}" for _, _, c in rows],
        "neighbours": region.neighbours,
    }
    return pd.DataFrame({"region": str(region), "to": to, **columns}, columns=list(COLUMNS))


def applicable(region: TradeOff, to: str) -> list[Conversion]:
    """Return the conversions that apply; the general one only if no exact one covers this kind of region.

    Parameters
    ----------
    region : TradeOff
        Any region.
    to : str
        The notion, as in `convert`.

    Returns
    -------
    list of Conversion
        At least one; raises `DomainError` if none applies.
    """
    matches = [c for c in CONVERSIONS if c.target == to and c.applies(region)]
    if any(c.kind == "exact" and c.source != "region" for c in matches):
        matches = [c for c in matches if c.source != "region"]
    if not matches:
        raise no_conversion(region, to)
    return matches


def _numbers(parameter: Parameter, value: object, default: tuple[float, ...]) -> tuple[float, ...]:
    return default if value is None else tuple(parameter.array(value).tolist())


def _notion(to: object) -> str:
    return str(one_of("to", dict.fromkeys(c.target for c in CONVERSIONS)).check(to))

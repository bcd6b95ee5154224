"""The table of all conversions and the function that applies it."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import pandas as pd

from dpcore.conversion import concentrated, gaussian, groups, renyi, statements, variation
from dpcore.conversion.records import DEFAULT_DELTA, DEFAULT_ORDER, Conversion, Options, no_way
from dpcore.errors import DomainError
from dpcore.registry import COUNT, shown
from dpcore.theorems import domain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.tradeoff import TradeOff

COLUMNS = ("region", "to", "parameters", "kind", "formula")
CONVERSIONS: tuple[Conversion, ...] = (
    *statements.CONVERSIONS,
    *variation.CONVERSIONS,
    *gaussian.CONVERSIONS,
    *concentrated.CONVERSIONS,
    *renyi.CONVERSIONS,
    *groups.CONVERSIONS,
)


def convert(
    region: TradeOff,
    to: str,
    *,
    delta: float | Sequence[float] | None = None,
    epsilon: float | Sequence[float] | None = None,
    order: float | Sequence[float] | None = None,
    k: int = 2,
) -> pd.DataFrame:
    """Tabulate what a region says in the words of another notion.

    Parameters
    ----------
    region : any region.
    to : dp, tv, gdp, zcdp, rdp or group.
    delta, epsilon : for dp and group, where to state the other of the two; by default delta = 1e-5.
    order : for rdp, orders above 1; by default 2.
    k : for group, how many people.

    Returns
    -------
    DataFrame
        `region, to, parameters, kind, formula`: `parameters` as in ``epsilon=1.0, delta=1e-05``; `kind` is ``exact``
        when no smaller parameters hold, otherwise ``upper``. An infinite parameter says that no finite one holds.
    """
    if not getattr(region, "is_region", False):
        msg = f"convert takes a region such as dp(1), got {shown(region)}."
        raise DomainError(msg)
    options = Options(
        _numbers(delta, "delta", DEFAULT_DELTA if epsilon is None else (), high=1.0),
        _numbers(epsilon, "epsilon", ()),
        _numbers(order, "order", DEFAULT_ORDER, low=1.0, low_open=True),
        COUNT.but(high=10_000).check(k),
    )
    chosen = applicable(region, _notion(to))
    rows = [(values, kind, c.formula) for c in chosen for values, kind in c.rows(region, options)]
    text = [", ".join(f"{name}={value!r}" for name, value in values.items()) for values, _, _ in rows]
    columns = {"parameters": text, "kind": [kind for _, kind, _ in rows], "formula": [f for _, _, f in rows]}
    return pd.DataFrame({"region": str(region), "to": to, **columns}, columns=list(COLUMNS))


def applicable(region: TradeOff, to: str) -> list[Conversion]:
    """Return the conversions that apply; the one for any region only where no exact one speaks of this kind."""
    found = [c for c in CONVERSIONS if c.target == to and c.applies(region)]
    if any(c.kind == "exact" and c.source != "region" for c in found):
        found = [c for c in found if c.source != "region"]
    if not found:
        raise no_way(region, to)
    return found


def _numbers(value: object, name: str, default: tuple[float, ...], **interval: float | bool) -> tuple[float, ...]:
    return default if value is None else domain.numbers(value, name, **interval)


def _notion(to: object) -> str:
    names = list(dict.fromkeys(c.target for c in CONVERSIONS))
    if isinstance(to, str) and to in names:
        return to
    near = difflib.get_close_matches(to, names, 1) if isinstance(to, str) else []
    hint = f"; did you mean {near[0]}?" if near else "."
    msg = f"to must be one of {', '.join(names)}, got {shown(to)}{hint}"
    raise DomainError(msg)

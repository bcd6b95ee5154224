"""What every composition theorem says about a product, beside the composition of the regions themselves.

At one delta the theorems are those of the Composition page, the ledger and the accountants, and `dpcore.theorems.sharing` says how
delta is shared between the releases and a theorem. Without a delta the theorems about statements list their own (epsilon, delta).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpcore.algebra import factors
from dpcore.composition.parts import statements
from dpcore.composition.table import theorem_table
from dpcore.curves.bound import published
from dpcore.curves.polygon import Polygon
from dpcore.errors import BudgetError, DpcoreError
from dpcore.kinds import EXACT, kind
from dpcore.limits import checkpoint
from dpcore.theorems import advanced_course, advanced_drv, applicable, domain, kov_simplified
from dpcore.theorems.applicable import SLACKS
from dpcore.theorems.sharing import RULE, statement_epsilon
from dpcore.tradeoff import shorten
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpcore.algebra import Factors
    from dpcore.composition.parts import Statements
    from dpcore.tradeoff import TradeOff

COLUMNS = ("region", "theorem", "epsilon", "delta", "kind", "note", "neighbours")
CERTIFIED = "certified"
DELTAS = (1e-9, 1e-6, 1e-3)
_NEED_SLACK = ("kov_simplified", "advanced_drv", "advanced_course")
_OF_STATEMENTS = (*_NEED_SLACK, "basic", "kov_optimal", "dptv")
_LISTED = {
    "gdp": "It is about Gaussian privacy alone; name a δ to have every part put inside a Gaussian region.",
    "dptv": "It is about copies of one mechanism with a total variation below that of (ε, δ).",
    "advanced_course": "It is about copies of one mechanism with δ = 0, as long as log(1/slack) ≥ ε²k.",
    "advanced_drv": "It is about copies of one mechanism.",
    "kov_optimal": "It is about copies of one mechanism; kov_heterogeneous is its form for different ones.",
    "kov_heterogeneous": "It is about different mechanisms; kov_optimal is its form for copies of one.",
}
_ORDER = ("gdp", "dptv", "basic", "kov_optimal", "kov_heterogeneous", *reversed(_NEED_SLACK))

Row = tuple[str, float | None, float | None, str, str]


def theorems(
    region: TradeOff, delta: float | Sequence[float] | None = None, slack: float | Sequence[float] | None = None
) -> pd.DataFrame:
    """Tabulate what every composition theorem says about a product.

    Parameters
    ----------
    region : a product, a power, or a single region.
    delta : by how much the whole may exceed e^epsilon, in [0, 1]: one row per theorem and delta. Without it every theorem
        lists its own (epsilon, delta), beside the composition itself at 1e-9, 1e-6 and 1e-3.
    slack : what is added to delta, in (0, 1], by the theorems that take one; with `delta` by default all that delta
        leaves, without it 1e-9, 1e-6 and 1e-3.

    Returns
    -------
    DataFrame
        `region, theorem, epsilon, delta, kind, note, neighbours`. The composition of the regions comes first: its
        `theorem` is ``exact``, or ``certified`` where it is a bracket of which `epsilon` is the upper side. A theorem
        that does not apply has no epsilon (None), kind ``none``, and the reason in `note`.

    Examples
    --------
    >>> from dpcore import parse
    >>> theorems(parse("laplace(0.1)^100"), 1e-6).epsilon.round(3).iloc[0]
    4.693
    """
    slacks = None if slack is None else domain.numbers(slack, "slack", high=1.0, low_open=True)
    if delta is None:
        rows = [_composed(region, at) for at in DELTAS] + _listed(region, slacks or SLACKS)
    else:
        rows = [row for at in domain.numbers(delta, "delta", high=1.0) for row in _at_delta(region, at, slacks)]
    columns: dict[str, Any] = dict(
        zip(("theorem", "epsilon", "delta", "kind", "note"), map(list, zip(*rows, strict=True)), strict=True)
    )
    for name in ("epsilon", "delta"):
        columns[name] = np.array([None if value is None else value + 0.0 for value in columns[name]], dtype=object)
    return pd.DataFrame({"region": str(region), **columns, "neighbours": region.neighbours}, columns=list(COLUMNS))


def _composed(region: TradeOff, delta: float) -> Row:
    """Return the composition of the regions themselves at one delta."""
    try:
        low, high = (float(bound[0]) for bound in region.epsilon_bounds(delta))
    except BudgetError as error:
        checkpoint(0.0)  # raises again if it was the time that ended
        return CERTIFIED, None, delta, "none", str(error)
    what = kind(low, high, "upper")
    note = region.theorem if what == EXACT else f"{region.theorem}; at least {outward(low, 6, up=False)}"
    return (EXACT if what == EXACT else CERTIFIED), high, delta, what, note


# ---- at one delta --------------------------------------------------------------------------------------------


def _at_delta(region: TradeOff, delta: float, slacks: Sequence[float] | None) -> Iterator[Row]:
    """Yield the rows of one delta: those of the ledger, the composition first."""
    yield _composed(region, delta)
    parts = factors(region)
    frame = theorem_table(region, delta, patience=math.inf)
    shared = any(math.isinf(node.curve.max_loss) for node, _ in parts)
    own = ("exact", *(_NEED_SLACK if slacks else ()))
    columns = (frame[name].tolist() for name in ("theorem", "epsilon", "kind", "note"))
    for name, epsilon, what, said in zip(*columns, strict=True):
        note = "; ".join(filter(None, (said, RULE if shared and what != "none" and name in _OF_STATEMENTS else "")))
        if name not in own:
            yield name, None if what == "none" else epsilon, delta, what, note
    for slack in slacks or ():
        yield from (_with_slack(name, parts, delta, slack) for name in _NEED_SLACK)


def _with_slack(name: str, parts: Factors, delta: float, slack: float) -> Row:
    """Return a theorem that takes a slack, at this one: its statement, stated again at delta if that is larger."""
    try:
        given = statements(parts, delta)
        frame = _stated(name, given, slack)
    except DpcoreError as error:
        return name, None, delta, "none", str(error)
    epsilon, failing = float(frame["epsilon"].iloc[0]), float(frame["delta"].iloc[0])
    if failing > delta:
        why = f"With slack {slack!r} its own δ is {outward(failing, 6)}, more than δ = {delta!r}."
        return name, None, delta, "none", why
    value = statement_epsilon(epsilon, failing, delta)
    note = "; ".join(filter(None, (f"slack {slack!r}", given.note, RULE if given.share else "")))
    return name, value, delta, "upper", note


def _stated(name: str, given: Statements, slack: float) -> pd.DataFrame:
    if name == "kov_simplified":
        return kov_simplified(given.triples, slack)
    if len({(epsilon, failing) for epsilon, failing, _ in given.triples}) > 1:
        msg = "It is about equal mechanisms; the factors of this product differ."
        raise DpcoreError(msg)
    (epsilon, failing, _), k = given.triples[0], sum(count for *_, count in given.triples)
    if name == "advanced_drv":
        return advanced_drv(epsilon, failing, k, slack)
    if failing > 0:
        msg = f"It is about δ = 0 per mechanism, here δ = {outward(failing, 4)}."
        raise DpcoreError(msg)
    return advanced_course(epsilon, k, slack)


# ---- without a delta -----------------------------------------------------------------------------------------


def _listed(region: TradeOff, slacks: Sequence[float]) -> list[Row]:
    """Return the statements of every theorem, and of those that have none the reason."""
    parts = factors(region)
    unbounded = [node for node, _ in parts if math.isinf(node.curve.max_loss) and node.curve.gaussian_mu is None]
    if unbounded:
        why = f"{shorten(str(unbounded[0]))} has unbounded loss: name a δ, and a statement is taken at its share of it."
        return [(name, None, None, "none", why) for name in _ORDER]
    known = [(*_statement(node), count) for node, count in parts]
    if {name for name, *_ in known} > {"gdp"}:
        (node,) = [node for (node, _), (name, *_) in zip(parts, known, strict=True) if name == "gdp"][:1]
        why = f"{shorten(str(node))} has unbounded loss: name a δ, and a statement is taken at its share of it."
        return [(name, None, None, "none", _LISTED["gdp"] if name == "gdp" else why) for name in _ORDER]
    frame = applicable([(name, values, count) for name, values, _, count in known], slacks)
    taken = "".join(dict.fromkeys(f"; {note}" for _, _, note, _ in known if note))
    rows: list[Row] = []
    columns = (frame[name].tolist() for name in ("theorem", "epsilon", "delta", "kind", "note"))
    for name, epsilon, failing, what, said in zip(*columns, strict=True):
        rows.append((name, epsilon, failing, "upper" if taken else what, f"{said}{taken}".removeprefix("; ")))
    spoken = {row[0] for row in rows}
    left_out = "; ".join(frame.attrs["left_out"])
    return rows + [
        (name, None, None, "none", _silence(name, spoken, left_out)) for name in _ORDER if name not in spoken
    ]


def _silence(name: str, spoken: set[str], left_out: str) -> str:
    if spoken == {"gdp"} and name != "gdp":
        return "It is about (ε, δ) statements; Gaussian privacy has one for each δ: name a δ."
    return left_out if left_out and name in ("dptv", "kov_optimal", "kov_heterogeneous") else _LISTED[name]


def _statement(part: TradeOff) -> tuple[str, tuple[float, ...], str]:
    """Return the name and values of the strongest statement the theorems know, and a note if it loses something."""
    curve = part.curve
    if curve.gaussian_mu is not None:
        return "gdp", (curve.gaussian_mu,), ""
    epsilon, delta = max(0.0, curve.max_loss), curve.q_inf
    shape = published(curve)
    corners = shape.loss[shape.loss >= 0] if isinstance(shape, Polygon) else None
    bound = "" if curve.exact else f"{shorten(str(part))} is a bound, {part.theorem}"
    if corners is not None and corners.size <= 1:
        return "dp", (epsilon, delta), bound
    eta = part.total_variation
    tight = corners is not None and corners.size == 2 and corners[0] == 0
    note = bound if tight else f"{shorten(str(part))} taken as dptv({epsilon!r}, {delta!r}, {eta!r})"
    return "dptv", (epsilon, delta, eta), note

"""What every composition theorem says about a product, beside the composition of the regions themselves.

At one delta the numbers are those of the Composition page, the ledger and the accountants; `dpcore.theorems.sharing` says how
delta is shared between the releases and a theorem. Without a delta, theorems about statements list their own (epsilon, delta).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpcore.core.certainty import certainty
from dpcore.core.domains import DELTA, SLACK
from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError, DpcoreError
from dpcore.core.kinds import EXACT, kind
from dpcore.core.numerals import numeral
from dpcore.curves.bound import published
from dpcore.curves.polygon import Polygon
from dpcore.regions.algebra import factors
from dpcore.regions.tradeoff import shorten
from dpcore.theorems import applicable
from dpcore.theorems.catalogue import composing, listing
from dpcore.theorems.composition.theorem_table import theorem_table
from dpcore.theorems.listing import SLACKS
from dpcore.theorems.record import reason
from dpcore.theorems.releases import Releases
from dpcore.theorems.sharing import RULE, statement_epsilon
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems import Theorem

COLUMNS = ("region", "theorem", "epsilon", "delta", "kind", "note", "neighbours")
DELTAS = (1e-9, 1e-6, 1e-3)
Row = tuple[str, float | None, float | None, str, str]


def theorems(
    region: TradeOff, delta: float | Sequence[float] | None = None, slack: float | Sequence[float] | None = None
) -> pd.DataFrame:
    """Tabulate what every composition theorem says about a product.

    Parameters
    ----------
    region : TradeOff
        A product, a power, or a single region.
    delta : float, sequence of float, optional
        By how much the whole may exceed e^epsilon, in [0, 1]: one row per theorem and delta. Without it every theorem
        lists its own (epsilon, delta), beside the composition itself at 1e-9, 1e-6 and 1e-3.
    slack : float, sequence of float, optional
        What is added to delta, in (0, 1], by the theorems that take one; with `delta` by default all that delta
        leaves, without it 1e-9, 1e-6 and 1e-3.

    Returns
    -------
    DataFrame
        `region, theorem, epsilon, delta, kind, note, neighbours`. The composition of the regions comes first: its
        `theorem` is ``exact``, or ``certified`` or ``bracket`` if it lies between two numbers, with `epsilon` its upper side. A theorem that does
        not apply has no epsilon (None), kind ``none``, and the reason in `note`.

    Examples
    --------
    >>> from dpcore import parse
    >>> theorems(parse("laplace(0.1)^100"), 1e-6).epsilon.round(3).iloc[0]
    4.693
    """
    slacks = None if slack is None else tuple(SLACK.array(slack).tolist())
    if delta is None:
        rows = [_composed(region, at) for at in DELTAS] + _listing_rows(region, slacks or SLACKS)
    else:
        rows = [row for at in DELTA.array(delta).tolist() for row in _at_delta(region, at, slacks)]
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
        checkpoint(0.0)  # raises again if the time ran out
        return certainty("none", region), None, delta, "none", str(error)
    what = kind(low, high, "upper")
    note = region.theorem if what == EXACT else f"{region.theorem}; at least {outward(low, 6, up=False)}"
    return certainty(what, region), high, delta, what, note


# ---- at one delta --------------------------------------------------------------------------------------------


def _at_delta(region: TradeOff, delta: float, slacks: Sequence[float] | None) -> Iterator[Row]:
    """Yield the rows of one delta as in the ledger, the composition first."""
    yield _composed(region, delta)
    releases, records = Releases(factors(region)), composing()
    shared = {record.name for record in records if record.of_statements and any(_unbounded(releases))}
    spending = [record for record in records if slacks and record.statement is not None and record.takes_slack]
    own = ("exact", *(record.name for record in spending))
    frame = theorem_table(region, delta)
    columns = (frame[name].tolist() for name in ("theorem", "epsilon", "kind", "note"))
    for name, epsilon, what, text in zip(*columns, strict=True):
        note = "; ".join(filter(None, (text, RULE if what != "none" and name in shared else "")))
        if name not in own:
            yield name, None if what == "none" else epsilon, delta, what, note
    for slack in slacks or ():
        yield from (_with_slack(record, releases, delta, slack) for record in spending)


def _unbounded(releases: Releases) -> list[TradeOff]:
    return [node for node, _ in releases.factors if math.isinf(node.curve.max_loss)]


def _with_slack(record: Theorem, releases: Releases, delta: float, slack: float) -> Row:
    """Return the row of a theorem at one slack: its statement, restated at delta if that is larger."""
    try:
        statements = releases.statements(delta)
        frame = record.statement_rows(statements.triples, slack)
    except DpcoreError as error:
        return record.name, None, delta, "none", reason(error)
    epsilon, failing = float(frame["epsilon"].iloc[0]), float(frame["delta"].iloc[0])
    if failing > delta:
        why = f"With slack {numeral(slack)} its own δ is {outward(failing, 6)}, more than δ = {numeral(delta)}."
        return record.name, None, delta, "none", why
    value = statement_epsilon(epsilon, failing, delta)
    note = "; ".join(filter(None, (f"slack {numeral(slack)}", statements.note, RULE if statements.share else "")))
    return record.name, value, delta, "upper", note


# ---- without a delta -----------------------------------------------------------------------------------------


def _listing_rows(region: TradeOff, slacks: Sequence[float]) -> list[Row]:
    """Return the statements of every theorem, and the reason for each that has none."""
    parts = factors(region)
    gaussian = [node for node, _ in parts if node.curve.gaussian_mu is not None]
    unbounded = [node for node in _unbounded(Releases(parts)) if node.curve.gaussian_mu is None]
    if unbounded or 0 < len(gaussian) < len(parts):
        node = shorten(str((unbounded or gaussian)[0]))
        why = f"{node} has unbounded loss: name a δ, and a statement is taken at its share of it."
        alone = () if unbounded else [record.name for record in listing() if not record.of_statements]
        return [(one.name, None, None, "none", one.unlisted if one.name in alone else why) for one in listing()]
    guarantees = [(*_statement(node), count) for node, count in parts]
    frame = applicable([(name, values, count) for name, values, _, count in guarantees], slacks)
    losses = "".join(dict.fromkeys(f"; {note}" for _, _, note, _ in guarantees if note))
    rows: list[Row] = []
    columns = (frame[name].tolist() for name in ("theorem", "epsilon", "delta", "kind", "note"))
    for name, epsilon, failing, what, text in zip(*columns, strict=True):
        rows.append((name, epsilon, failing, "upper" if losses else what, f"{text}{losses}".removeprefix("; ")))
    spoken = {row[0] for row in rows}
    reasons = {one.name: one.unlisted for one in listing()}
    if gaussian:
        about = "It is about (ε, δ) statements; Gaussian privacy has one for each δ: name a δ."
        reasons |= {one.name: about for one in listing() if one.of_statements}
    reasons |= frame.attrs["left_out"]
    return rows + [(name, None, None, "none", why) for name, why in reasons.items() if name not in spoken]


def _statement(part: TradeOff) -> tuple[str, tuple[float, ...], str]:
    """Return the name and values of the strongest statement the theorems can use, and a note if it loses something."""
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
    note = (
        bound if tight else f"{shorten(str(part))} taken as dptv({numeral(epsilon)}, {numeral(delta)}, {numeral(eta)})"
    )
    return "dptv", (epsilon, delta, eta), note

"""A ledger under privacy filters: what each row costs, what is left, and whether one more release may follow."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import pandas as pd

from dpcore.core.effort import checkpoint, current
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import FACTS, labelled
from dpcore.ledger.filters import Filter, Price, as_float, filters
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from dpcore.ledger.budget import Budget
    from dpcore.ledger.records import Ledger

COLUMNS = (
    "row", "label", "expression", "count", "filter", "cost", "fits", "spent", "limit", "left", "note",
    "kind", "theorem", "neighbours",
)  # fmt: skip
MORE_COLUMNS = ("filter", "title", "unit", "spent", "limit", "left", "cost", "more", "may", "note", *FACTS)
ASSUMPTION = (
    "The number holds for a list of strengths fixed beforehand. Which query uses which entry of the list, in which order, and "
    "whether to stop early may depend on earlier answers; the strengths and their number may not."
)
"""What the number of an odometer assumes."""
CHOICE = (
    "A filter stays valid even if strengths and numbers of releases are chosen after seeing answers. Choose one filter before "
    "the first release; a release that only another filter would allow must not follow."
)
"""What a filter allows, and what it does not."""
GROUPS_IN_FULL = "Filters ignore groups: they count every row in full, so they have spent more than the ledger's own ε."
_EVERY = 500  # rows between two reports of progress


def filter_table(
    ledger: Ledger, budget: Budget, *, order: float | None = None, each: float | None = None
) -> pd.DataFrame:
    """Run every filter over the rows in their order: what each row costs, and how many of its releases are allowed.

    Each filter is run on its own: what it refuses is not released and costs nothing. Parallel groups are ignored and
    every row counts in full, which is safe.

    Parameters
    ----------
    ledger : Ledger
        Rows in the order of their release; the last one may be a plan.
    budget : Budget
        (epsilon, delta) of everything that will ever be released.
    order, each : float, optional
        See `filters`.

    Returns
    -------
    DataFrame
        `row, label, expression, count, filter, cost, fits, spent, limit, left, note, kind, theorem, neighbours`, a row
        for every filter and row of the ledger. `cost` is that of one release in the filter's unit, `fits` how many of
        `count` are allowed, `spent` and `left` are stated after these; `cost` is inf if the filter has no price.
    """
    neighbours, rows = ledger.neighbours, []
    for one in filters(budget, order=order, each=each):
        prices, spent = _Prices(one), Price()
        for place, release in enumerate(ledger.rows):
            if place % _EVERY == 0:
                checkpoint(place / max(1, len(ledger)))
            price, why = prices.of(ledger, place)
            fits = 0
            if price is not None:
                most = one.fits(spent, price)
                fits = release.count if most is None else min(release.count, most)
                spent = spent.plus(price, fits)
                why = _row_note(one, spent, release.count, fits)
            cost = math.inf if price is None else as_float(price.amount)
            used = as_float(spent.amount)
            rows.append(
                (
                    place + 1, release.label, release.expression, release.count, one.name, cost, fits, used,
                    one.limit, max(0.0, one.limit - used), why, "upper", one.title, neighbours,
                )
            )  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))


def may_release(
    ledger: Ledger, row: int, budget: Budget, *, order: float | None = None, each: float | None = None
) -> pd.DataFrame:
    """Say for every filter whether the ledger may be followed by one more release like those of a row.

    Parameters
    ----------
    ledger : Ledger
        What was released; every row counts.
    row : int
        The row (from 0) whose expression is to be released once more.
    budget, order, each : Budget or float
        See `filters`.

    Returns
    -------
    DataFrame
        `filter, title, unit, spent, limit, left, cost, more, may, note, kind, theorem, neighbours`. `more` is how many such releases fit, -1 for
        any number; `may` whether one does. If a filter has no price for a row of the ledger, `note` says so.
    """
    ledger.check(row)
    rows = []
    for one in filters(budget, order=order, each=each):
        prices, spent, trouble = _Prices(one), Price(), ""
        for place, release in enumerate(ledger.rows):
            price, why = prices.of(ledger, place)
            if price is None:
                trouble = f"{ledger.name(place)}: {why}"
                break
            spent = spent.plus(price, release.count)
        price, why = prices.of(ledger, row)
        if trouble or price is None:
            rows.append((one.name, one.title, one.unit, math.inf, one.limit, 0.0, math.inf, 0, False, trouble or why))
            continue
        most = one.fits(spent, price)
        more = -1 if most is None else most
        used, cost, note = as_float(spent.amount), as_float(price.amount), _delta_note(one, spent)
        left = max(0.0, one.limit - used)
        rows.append((one.name, one.title, one.unit, used, one.limit, left, cost, more, more != 0, note))
    frame = pd.DataFrame(rows, columns=list(MORE_COLUMNS[:-3]))
    kind = ["upper" if math.isfinite(cost) else "none" for cost in frame["cost"]]
    return labelled(frame, kind=kind, theorem=frame["title"], neighbours=ledger.neighbours)


def may_words(ledger: Ledger, row: int, answers: pd.DataFrame) -> str:
    """Say which filters allow one more release of a row.

    Parameters
    ----------
    ledger : Ledger
        What was released.
    row : int
        The row, from 0.
    answers : DataFrame
        What `may_release` returns.

    Returns
    -------
    str
        One sentence, and a second one if there are groups.
    """
    name = ledger.name(row)
    name = name[0].lower() + name[1:]
    names = [f"the {_short(r)} ({_count(int(r['more']))})" for _, r in answers[answers["may"]].iterrows()]
    full = f" {GROUPS_IN_FULL}" if ledger.groups else ""
    if not names:
        return f"No: no filter allows one more of {name} after this ledger.{full}"
    return f"Yes, one more of {name} may follow, if the filter chosen beforehand was {_either(names)}.{full}"


def filter_words(row: pd.Series) -> str:
    """Say what one filter has spent, what one more release costs, and how many fit.

    Parameters
    ----------
    row : Series
        A row of `may_release`.

    Returns
    -------
    str
        One sentence.
    """
    name, unit = f"**{row['title']}**", row["unit"]
    if math.isinf(float(row["cost"])):
        return f"{name}: no answer. {row['note']}"
    spent, limit = outward(float(row["spent"]), 4), outward(float(row["limit"]), 4, up=False)
    sentence = f"{name}: {unit} spent is {spent} of {limit}; one more costs {outward(float(row['cost']), 3)}"
    sentence += f": {_count(int(row['more']))}" if row["may"] else ": it does not fit"
    return f"{sentence} ({row['note']})." if row["note"] else f"{sentence}."


def _short(row: pd.Series) -> str:
    title = str(row["title"])
    return title[0].lower() + title[1:] if str(row["filter"]) in ("basic", "zcdp") else title


def _count(more: int) -> str:
    return "any number fits" if more < 0 else f"{grouped(more)} {'fits' if more == 1 else 'fit'}"


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


class _Prices:
    """The prices of one filter, each different release computed once."""

    def __init__(self, one: Filter) -> None:
        self.filter = one
        self._known: dict[str, tuple[Price | None, str]] = {}

    def of(self, ledger: Ledger, row: int) -> tuple[Price | None, str]:
        """Return the price of one release of a row, or None and why."""
        release = ledger.rows[row]
        if release.region.text not in self._known:
            parts = [(node, count // release.count) for node, count in ledger.parts(row)]
            try:
                self._known[release.region.text] = self.filter.price(parts), ""
            except DpcoreError as error:
                if time.monotonic() > current().ends_at:  # out of time, not a verdict about the row
                    raise
                self._known[release.region.text] = None, str(error)
        return self._known[release.region.text]


def _row_note(one: Filter, spent: Price, count: int, fits: int) -> str:
    refusal = "" if fits == count else "does not fit" if fits == 0 else f"only {grouped(fits)} of {grouped(count)} fit"
    return "; ".join(part for part in (refusal, _delta_note(one, spent)) if part)


def _delta_note(one: Filter, spent: Price) -> str:
    if not spent.failing or math.isinf(one.limit_failing):
        return ""
    return f"δ spent {outward(as_float(spent.failing), 4)} of {outward(one.limit_failing, 4, up=False)}"

"""The view of the ledger's page: what is asked, computed once, as figures, tables, words and Python."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dpcore import frames, ledger
from dpcore.app import work
from dpcore.app.listing import LONGEST_LINK
from dpcore.charts import Figure, Look, region_figure
from dpcore.charts.ledger import budget_figure, cost_figure
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import numeral
from dpcore.ledger import Budget, Ledger, LedgerReading, More, read_ledger
from dpcore.ledger.writing import all_cells, cells_to_csv
from dpcore.regions.cost import operations
from dpcore.regions.custom import CustomRegion
from dpcore.regions.guarantees import DP
from dpcore.words import grouped, kind_of, outward

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from dpcore.regions.tradeoff import TradeOff

_T = TypeVar("_T")

FIRST = """label,expression,count
Visits per clinic,laplace(0.1),100
Mean age,gaussian(20),200
Cases per district,geometric(0.1),50
Risk model,"poisson_gaussian(1, 0.01)",1000
"""
AS_ROWS = "as the rows say"
# session keys outlive a page, so no other page may use the same ones
DEFAULTS: dict[str, Any] = {
    "ledger_rows": FIRST,
    "ledger_epsilon": "8",
    "ledger_delta": "1e-6",
    "ledger_relation": AS_ROWS,
    "ledger_more": "3",
}
LONG = "_ledger_long"  # of the session alone: a ledger too long for a link
MOST_LINKED = LONGEST_LINK // 2  # characters of CSV; in a link many become three
MOST_EDITED = 1000
STATUS = "status"
LONGEST_NAME = 2000
SHOWN = ("label", "expression", "count", "group", "group_limit", "date", "note")


@dataclass(frozen=True)
class LedgerView:
    """What is asked about which ledger.

    Attributes
    ----------
    text : str
        The table as CSV.
    reading : LedgerReading
        Its rows, also those that do not count.
    relation : str
        The neighbouring relation stated, or empty.
    budget : Budget
        What may be spent.
    cache : ResultCache
        Where results are kept: a visitor's file stays with the visitor.
    more : int, optional
        The row (from 0) of which more may follow; None if the field is wrong or not asked yet.
    """

    text: str
    reading: LedgerReading
    relation: str
    budget: Budget
    cache: work.ResultCache
    more: int | None = None

    @property
    def asked(self) -> tuple[Any, ...]:
        """What results are kept under."""
        return ("ledger", self.text, self.relation)

    def kept(self, what: tuple[Any, ...], make: Callable[[], _T]) -> _T:
        """Return what was made for the same question before, or make it."""
        return self.cache.get((*self.asked, *what), make)

    @property
    def ledger(self) -> Ledger:
        """The rows that count, under the relation stated."""
        return self.kept((), lambda: replace(self.reading.ledger, relation=self.relation))

    @property
    def region(self) -> TradeOff:
        """The region of the whole ledger; a long one is named by its length, for tables repeat the name in every row."""
        found = self.ledger.region
        if len(found.text) <= LONGEST_NAME:
            return found
        return self.kept(
            ("region",), lambda: CustomRegion(found.curve, f"ledger of {len(self.ledger)} rows", self.ledger.neighbours)
        )


def read(text: str, cache: work.ResultCache) -> LedgerReading:
    """Return the rows of a table written as CSV or JSON."""
    return cache.get(("ledger", "read", text), lambda: read_ledger(text), stoppable=False)


def expect(view: LedgerView) -> None:
    """Say how much work the rows are, so that heavy ones are composed where they can be ended."""
    different = {release.region.text: release.composed for release in view.ledger.rows}
    with suppress(DpcoreError):  # what is wrong with a row is said when it is composed
        work.expect(sum(map(operations, different.values())))


# ---- results -------------------------------------------------------------------------------------------------


def theorems(view: LedgerView) -> pd.DataFrame:
    """Return what every theorem says at the budget's delta."""
    delta = view.budget.delta
    return view.kept(("theorems", delta), lambda: ledger.theorems(view.ledger, delta))


def budget_picture(view: LedgerView, *, dark: bool) -> Figure:
    """Return the budget beside every theorem."""

    def make() -> Figure:
        spending = ledger.spending(view.ledger, view.budget)
        return budget_figure(theorems(view), spending, look=Look(dark=dark))

    return view.kept(("budget", view.budget, dark), make)


def costs(view: LedgerView) -> pd.DataFrame:
    """Return what each row costs."""
    return view.kept(("costs", view.budget.delta), lambda: ledger.costs(view.ledger, view.budget.delta))


def cost_picture(view: LedgerView, *, dark: bool) -> Figure:
    """Return the costs as bars."""
    return view.kept(("cost picture", view.budget.delta, dark), lambda: cost_figure(costs(view), look=Look(dark=dark)))


def region_picture(view: LedgerView, *, dark: bool) -> Figure:
    """Return the region of the ledger beside that of the budget."""
    return view.kept(("region", view.budget, dark), lambda: region_figure(drawn(view), look=Look(dark=dark)))


def drawn(view: LedgerView) -> dict[str, TradeOff]:
    """Return the regions drawn, named."""
    return {"ledger": view.region, "budget": DP(view.budget.epsilon, view.budget.delta)}


def deltas(view: LedgerView) -> pd.DataFrame:
    """Return delta of the ledger at some epsilons, the budget's among them."""

    def make() -> pd.DataFrame:
        table = frames.deltas(view.region, grid(view.budget.epsilon))
        return table.drop(columns="region")

    return view.kept(("deltas", view.budget.epsilon), make)


def grid(epsilon: float) -> list[float]:
    """Return round epsilons up to about one and a half budgets, the budget among them."""
    top = epsilon or 1.0
    found = np.append(np.linspace(0.0, 1.5 * top, 13), epsilon)
    return sorted({float(f"{value:.6g}") for value in found.tolist()} | {epsilon})


def more(view: LedgerView) -> More | None:
    """Return how many more of the chosen row fit."""
    row = view.more
    if row is None:
        return None
    return view.kept(("more", row, view.budget), lambda: ledger.more(view.ledger, row, view.budget))


def may_release(view: LedgerView) -> pd.DataFrame | None:
    """Return what every filter says about one more of the chosen row."""
    row = view.more
    if row is None:
        return None
    return view.kept(("filters", row, view.budget), lambda: ledger.may_release(view.ledger, row, view.budget))


# ---- words ---------------------------------------------------------------------------------------------------


def assumed_words(view: LedgerView) -> str:
    """Say which rows are taken under another relation than their own; empty if there are none."""
    rows = view.ledger.assumed
    if not rows:
        return ""
    names = ", ".join(str(row + 1) for row in rows[:10]) + (" and others" if len(rows) > 10 else "")
    return (
        f"{'Row' if len(rows) == 1 else 'Rows'} {names}: {view.relation} neighbours are assumed, as you stated; the "
        "expression itself speaks of another relation."
    )


def group_words(view: LedgerView) -> str:
    """Say what groups mean, and what they need under substitution; empty if there are none."""
    found = view.ledger
    if not found.groups:
        return ""
    said = [
        f"{name}: {grouped(len(rows))} rows, of which one person's data touch at most {grouped(found.limit(name))}"
        for name, rows in list(found.groups.items())[:5]
    ]
    moves = (
        " Under substitution a changed record must stay in its part; if it may move, two rows see it: then state a limit of 2."
        if found.neighbours != "add/remove"
        else ""
    )
    return f"Parallel groups. {'; '.join(said)}.{moves}"


def total_words(view: LedgerView, table: pd.DataFrame) -> str:
    """Say how many releases there are, under which relation, and their total variation, which is delta at epsilon 0."""
    rows, releases = len(view.ledger), sum(row.count for row in view.ledger.rows)
    relation = {"any": "for any neighbouring relation"}.get(
        view.ledger.neighbours, f"{view.ledger.neighbours} neighbours"
    )
    tv = outward(float(table["delta"].iloc[0]), 4)
    return (
        f"{grouped(rows)} {'row' if rows == 1 else 'rows'}, {grouped(releases)} releases, {relation}. The total variation of "
        f"all together is at most {tv} ({kind_of(view.region)})."
    )


# ---- the table editor ----------------------------------------------------------------------------------------


def editor_table(reading: LedgerReading) -> pd.DataFrame:
    """Return the table as the editor shows it: all columns, and whether each row counts."""
    table = ledger.to_frame(reading)
    extra = [name for name in table.columns if name not in SHOWN]
    words = [entry.problem.split(": ", 1)[-1] if entry.problem else "counted" for entry in reading.entries]
    shown: pd.DataFrame = table.assign(**{STATUS: words})[[*SHOWN[:3], STATUS, *SHOWN[3:], *extra]]
    return shown


def edited(reading: LedgerReading, changes: dict[str, Any]) -> str:
    """Return the table as CSV after the changes that an editor reports; empty new rows are left out."""
    rows = [dict(row) for row in all_cells(reading)]
    for place, cells in changes.get("edited_rows", {}).items():
        if 0 <= int(place) < len(rows):
            rows[int(place)].update({name: _typed(value) for name, value in cells.items() if name != STATUS})
    gone = {int(place) for place in changes.get("deleted_rows", [])}
    kept = [row for place, row in enumerate(rows) if place not in gone]
    for cells in changes.get("added_rows", []):
        new = {name: _typed(value) for name, value in cells.items() if name != STATUS and _typed(value)}
        if new:
            kept.append({"label": "", "expression": "", "count": "1", **new})
    return cells_to_csv(kept)


def _typed(value: Any) -> str:
    return "" if value is None else str(value).strip()


# ---- Python --------------------------------------------------------------------------------------------------


def opening(view: LedgerView) -> list[str]:
    """Return the Python lines that read the ledger; a long one comes from its file."""
    linked = len(view.text) <= MOST_LINKED
    lines = [] if linked else ["from pathlib import Path", ""]
    source = repr(view.text) if linked else 'Path("ledger.csv").read_text(encoding="utf-8")'
    lines += [f"ledger = read_ledger({source}).ledger"]
    if view.relation:
        lines = ["from dataclasses import replace", *lines, f"ledger = replace(ledger, relation={view.relation!r})"]
    return lines


def budget_code(view: LedgerView) -> str:
    """Return the Python lines that make the budget bar."""
    budget = f"Budget({view.budget.epsilon!r}, {view.budget.delta!r})"
    return "\n".join(
        [
            "from dpcore.charts import save",
            "from dpcore.charts.ledger import budget_figure",
            "from dpcore.ledger import Budget, read_ledger, spending, theorems, verdict",
            "from dpcore.core.effort import effort",
            *opening(view),
            f"budget = {budget}",
            f"with effort(tolerance={work.TOLERANCE}):",
            "    rows = theorems(ledger, budget.delta)",
            "    figure = budget_figure(rows, spending(ledger, budget))",
            "print(verdict(rows))",
            'save(figure, "budget.svg")',
        ]
    )


def cost_code(view: LedgerView) -> str:
    """Return the Python lines that make the picture of costs."""
    return "\n".join(
        [
            "from dpcore.charts import save",
            "from dpcore.charts.ledger import cost_figure",
            "from dpcore.ledger import costs, read_ledger",
            "from dpcore.core.effort import effort",
            *opening(view),
            f"with effort(tolerance={work.TOLERANCE}):",
            f"    figure = cost_figure(costs(ledger, {view.budget.delta!r}))",
            "print(figure.table)",
            'save(figure, "costs.svg")',
        ]
    )


def region_code(view: LedgerView) -> str:
    """Return the Python lines that draw the region of the ledger, and count what still fits."""
    lines = [
        "from dpcore import dp, frames",
        "from dpcore.charts import region_figure, save",
        "from dpcore.ledger import Budget, more, read_ledger",
        "from dpcore.core.effort import effort",
        *opening(view),
        f"with effort(tolerance={work.TOLERANCE}):",
        f'    figure = region_figure({{"ledger": ledger.region, "budget": dp({view.budget.epsilon!r}, {view.budget.delta!r})}})',
        f"    table = frames.deltas(ledger.region, {grid(view.budget.epsilon)!r})",
    ]
    if view.more is not None:
        lines += [f"    print(more(ledger, {view.more}, Budget({view.budget.epsilon!r}, {view.budget.delta!r})))"]
    return "\n".join([*lines, "print(figure.takeaway)", 'save(figure, "ledger.svg")'])


def filter_code(view: LedgerView) -> str:
    """Return the Python lines that ask the filters."""
    return "\n".join(
        [
            "from dpcore.ledger import Budget, filter_table, may_release, may_words, read_ledger",
            *opening(view),
            f"budget = Budget({view.budget.epsilon!r}, {view.budget.delta!r})",
            f"answers = may_release(ledger, {view.more or 0}, budget)",
            f"print(may_words(ledger, {view.more or 0}, answers))",
            "print(answers)",
            "print(filter_table(ledger, budget))",
        ]
    )


def filter_command(view: LedgerView) -> str:
    """Return the command line that runs the filters over the rows."""
    return f"{command(view)} --filter --epsilon {numeral(view.budget.epsilon)}"


def command(view: LedgerView) -> str:
    """Return the command line that prints all of it."""
    relation = f' --relation "{view.relation}"' if view.relation else ""
    return f"dpcore ledger ledger.csv --delta {numeral(view.budget.delta)}{relation}"

"""The view of the ledger page: its question, as specs of figures, sentences and the edited table."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpcore import ledger
from dpcore.app import work
from dpcore.app.grid import changed_rows
from dpcore.app.listing import LONGEST_LINK
from dpcore.app.page import presets
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import numeral
from dpcore.core.results import result
from dpcore.ledger import Budget, Ledger, LedgerReading, More, open_ledger, read_ledger, to_csv
from dpcore.ledger.writing import all_cells, cells_to_csv
from dpcore.regions.cost import operations
from dpcore.specs import Spec
from dpcore.theorems.conversion.gaussian import bounded_fit, fit_words
from dpcore.words import grouped, kind_of, outward

if TYPE_CHECKING:
    import pandas as pd

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
LONG = "_ledger_long"  # only in the session: a ledger too long for a link
OWN = "_ledger_own"  # only in the session: the visitor's own table, for the pages that add rows to it
MOST_LINKED = LONGEST_LINK // 2  # characters of CSV; many become three in a link
MOST_EDITED = 1000
STATUS, INCLUDED = "status", "included"
FILE = "ledger.csv"
SHOWN = ("label", "expression", "count", "group", "group_limit", "date", "note")


@dataclass(frozen=True)
class LedgerView:
    """What is asked, and about which ledger.

    Attributes
    ----------
    text : str
        The rows that can be read, as CSV.
    ledger : Ledger
        The same rows, under the stated relation.
    relation : str
        The neighbouring relation stated, or empty.
    budget : Budget
        What may be spent.
    store : ResultCache
        Where results are kept: a visitor's table stays with the visitor.
    """

    text: str
    ledger: Ledger
    relation: str
    budget: Budget
    store: work.ResultCache

    def spec(self, view: str, budget: Budget | None = None, **fields: Any) -> Spec:
        """Return the spec of a picture; a table too long for a link is a file in it."""
        limit = budget or self.budget
        table = {
            "draw": "ledger",
            "view": view,
            **({"file": FILE} if _is_long(self.text) else {"rows": self.text}),
            **({"epsilon": limit.epsilon} if view != "costs" else {}),  # costs are the same for every budget
            "delta": limit.delta,
            **({"relation": self.relation} if self.relation else {}),
            **fields,
        }
        return Spec(table, files={FILE: self.text.encode()} if _is_long(self.text) else {})

    def command(self, *options: str) -> str:
        """Return the command that prints all of it."""
        relation = f' --relation "{self.relation}"' if self.relation else ""
        return " ".join((f"dpcore ledger {FILE} --delta {numeral(self.budget.delta)}{relation}", *options))


def is_public(text: str) -> bool:
    """Whether a table is one of the examples, which all visitors share; any other is a visitor's own."""
    return text in {FIRST, *(preset.state.get("ledger_rows") for preset in presets())}


def read(text: str) -> LedgerReading:
    """Return the rows of a table in CSV or JSON; call it inside `work.progress` with the table's store."""
    return result(read_ledger, _content(text))


def link_state(text: str, relation: str, delta: float, epsilon: float | None) -> dict[str, str]:
    """Return the parameters of a link that opens the page with a table, which is left out if it is too long.

    Parameters
    ----------
    text : str
        The rows, as CSV.
    relation : str
        The neighbouring relation of all of them.
    delta : float
        The delta of the budget.
    epsilon : float or None
        The epsilon of the budget; None leaves it as it is.
    """
    state = {"ledger_relation": relation, "ledger_delta": numeral(delta)}
    budget = {} if epsilon is None else {"ledger_epsilon": numeral(epsilon)}
    return {**state, **budget, **({} if _is_long(text) else {"ledger_rows": text})}


def readable(reading: LedgerReading, text: str) -> str:
    """Return the table without the rows that cannot be read."""
    return to_csv(reading.ledger) if reading.problems else text


def opened(text: str, relation: str) -> Ledger:
    """Return the ledger as the code of the figures does; call it inside `work.progress` with the table's store."""
    return result(open_ledger, _content(text), **({"relation": relation} if relation else {}))


def _content(text: str) -> bytes | str:
    """Return a table in the form used by the specs: a long one is a file."""
    return text.encode() if _is_long(text) else text


def _is_long(text: str) -> bool:
    return len(text) > MOST_LINKED


def expect(view: LedgerView) -> None:
    """Declare how much work the rows are, so that heavy ones are composed where they can be stopped."""
    different = {release.region.text: release.composed for release in view.ledger.rows}
    with suppress(DpcoreError):  # errors in a row are reported when it is composed
        work.expect(sum(map(operations, different.values())))


# ---- results -------------------------------------------------------------------------------------------------


def verdict(view: LedgerView) -> str:
    """Name the best theorem and say why it is best."""
    return ledger.verdict(result(ledger.theorems, view.ledger, view.budget.delta))


def is_within(view: LedgerView) -> bool:
    """Return whether all releases together certainly stay within the budget."""
    return result(ledger.total, view.ledger, view.budget.delta).upper <= view.budget.epsilon


def more(view: LedgerView, row: int) -> More:
    """Return how many more copies of a row (counted from 0) fit."""
    return result(ledger.more, view.ledger, row, view.budget)


# ---- words ---------------------------------------------------------------------------------------------------


def assumed_words(view: LedgerView) -> str:
    """Say which rows are counted under a relation other than their own; return an empty text if there are none."""
    rows = view.ledger.assumed
    if not rows:
        return ""
    names = ", ".join(str(row + 1) for row in rows[:10]) + (" and others" if len(rows) > 10 else "")
    return (
        f"{'Row' if len(rows) == 1 else 'Rows'} {names}: {view.relation} neighbours are assumed, as you stated; the "
        "expression itself states another relation."
    )


def group_words(view: LedgerView) -> str:
    """Say what groups mean and what they need under substitution; return an empty text if there are none."""
    rows = view.ledger
    if not rows.groups:
        return ""
    parts = [
        f"{name}: {grouped(len(members))} rows; one person's data touch at most {grouped(rows.limit(name))}"
        for name, members in list(rows.groups.items())[:5]
    ]
    moves = (
        " Under substitution a changed record must stay in its part; if it may move, two rows see it, so state a limit of 2."
        if rows.neighbours != "add/remove"
        else ""
    )
    return f"Parallel groups. {'; '.join(parts)}.{moves}"


def total_words(view: LedgerView) -> str:
    """Say how many releases there are, under which relation, and their total variation, which is delta at epsilon 0."""
    rows, releases = len(view.ledger), sum(row.count for row in view.ledger.rows)
    relation = {"any": "for any neighbouring relation"}.get(
        view.ledger.neighbours, f"{view.ledger.neighbours} neighbours"
    )
    return (
        f"{grouped(rows)} {'row' if rows == 1 else 'rows'}, {grouped(releases)} releases, {relation}. The total variation of "
        f"all together is at most {outward(result(_total_variation, view.ledger), 4)} ({kind_of(view.ledger.region)})."
    )


def mu_words(view: LedgerView) -> str:
    """State the mu of all releases together, and its regret."""
    return result(_mu_words, view.ledger)


def _mu_words(rows: Ledger) -> str:
    return fit_words(bounded_fit(rows.region))


def _total_variation(rows: Ledger) -> float:
    return float(rows.region.total_variation)


# ---- the table editor ----------------------------------------------------------------------------------------


def editor_table(reading: LedgerReading) -> pd.DataFrame:
    """Return the table as the editor shows it: all columns, and whether each row is included in the numbers."""
    table = ledger.to_frame(reading)
    extra = [name for name in table.columns if name not in SHOWN]
    words = [entry.problem.split(": ", 1)[-1] if entry.problem else INCLUDED for entry in reading.entries]
    shown: pd.DataFrame = table.assign(**{STATUS: words})[[*SHOWN[:3], STATUS, *SHOWN[3:], *extra]]
    return shown


def edited(reading: LedgerReading, changes: dict[str, Any]) -> str:
    """Return the table as CSV after an editor's changes; empty new rows are left out."""
    fresh = {"label": "", "expression": "", "count": "1"}
    return cells_to_csv(changed_rows(all_cells(reading), changes, ignored=(STATUS,), fresh=fresh))

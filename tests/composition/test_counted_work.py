"""Which rows a table of theorems has is decided by a count of operations: no clock, no load, no earlier question."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError
from dpcore.ledger import Ledger, theorems
from dpcore.theorems.composition import ladder, theorem_table

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

ROWS = (("a", "laplace(0.1)", 20), ("b", "geometric(0.2)", 3), ("c", "dp(0.3, 1e-9)", 2))
DEAR = "(staircase(0.1, 0.3) & gdp(0.2))^10"


def tables() -> list[pd.DataFrame]:
    return [
        theorem_table("laplace(0.1)^20 * geometric(0.2)^3 * dp(0.3, 1e-9)^2", 1e-6),
        theorems(Ledger.of(*ROWS), 1e-6),
        ladder("laplace(0.2)", 1e-6, [1, 10]),
    ]


@pytest.mark.parametrize(
    "faster",
    [
        pytest.param(lambda clock: lambda: 4.0 * clock(), id="four times as fast"),
        pytest.param(
            lambda clock: lambda hours=[0.0]: hours.append(hours.pop() + 3600.0) or clock() + hours[0], id="leaping"
        ),
    ],
)
def test_a_faster_clock_changes_no_row(
    faster: Callable[[Callable[[], float]], Callable[[], float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tables()
    for name in ("thread_time", "process_time", "perf_counter", "monotonic"):
        monkeypatch.setattr(time, name, faster(getattr(time, name)))
    for one, other in zip(before, tables(), strict=True):
        assert one.equals(other)


def test_a_row_that_is_too_dear_says_so_and_the_others_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with effort(tolerance=1e-3):
        before = theorem_table(DEAR, 1e-6).set_index("theorem")
        monkeypatch.setattr("dpcore.theorems.record.ROW_WORK", 1e3)
        rows = theorem_table(DEAR, 1e-6).set_index("theorem")
        again = theorems(Ledger.of(("a", "staircase(0.1, 0.3) & gdp(0.2)", 10)), 1e-6).set_index("theorem")
        rung = ladder("staircase(0.1, 0.3) & gdp(0.2)", 1e-6, [1, 10])
    assert before.loc["exact", "kind"] == "upper"
    assert rows.loc["exact", "kind"] == "none"
    assert rows.loc["exact", "note"] == "It takes more than the 1000 operations allowed for it."
    assert (rows["epsilon_lower"] == 0).all()
    named = rows.index.drop("exact")
    assert rows.loc[named, "epsilon"].equals(before.loc[named, "epsilon"])
    assert again["note"].equals(rows["note"])
    assert rung.loc[(rung["theorem"] == "exact") & (rung["k"] == 10), "note"].tolist() == [rows.loc["exact", "note"]]


def test_a_deadline_refuses_the_whole_table() -> None:
    """It never leaves a row out: what is shown does not depend on it."""
    with effort(deadline=0.0), pytest.raises(BudgetError, match="time allowed"):
        theorem_table("subsample(laplace(1), 0.01)^50", 1e-6)

"""Which rows a table of theorems has is decided by a count of the work, known before: no clock, no load, no earlier question."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from dpcore import parse
from dpcore.composition import ladder, theorem_table
from dpcore.effort import MOST_OF_A_ROW, effort, too_dear
from dpcore.errors import BudgetError
from dpcore.ledger import Ledger, theorems
from dpcore.limits import limits

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

ROWS = (("a", "laplace(0.1)", 20), ("b", "geometric(0.2)", 3), ("c", "dp(0.3, 1e-9)", 2))
# twelve parts known by their profile alone: more lattices than one row may make
DEAR = " * ".join(f"subsample(laplace({epsilon / 10}), 0.1)^3" for epsilon in range(1, 13))


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


def test_a_row_that_is_too_dear_says_so_and_the_others_are_there() -> None:
    region = parse(DEAR)
    assert effort(region) > MOST_OF_A_ROW
    rows = theorem_table(region, 1e-6).set_index("theorem")
    assert rows.loc["exact", "kind"] == "none"
    assert rows.loc["exact", "note"] == "It takes about 4e+09 operations; one row of a table may take 3e+09."
    assert rows.loc["basic", "kind"] == rows.loc["kov_optimal", "kind"] == "upper"
    assert (rows["epsilon_lower"] == 0).all()
    again = theorems(Ledger.of(("a", DEAR, 1)), 1e-6).set_index("theorem")
    assert again.loc["exact", "note"] == rows.loc["exact", "note"]


def test_the_count_is_said_in_operations() -> None:
    assert too_dear(MOST_OF_A_ROW) == ""
    assert too_dear(2e10).startswith("It takes about 2e+10 operations")


def test_a_deadline_refuses_the_whole_table() -> None:
    """It never leaves a row out: what is shown does not depend on it."""
    with limits(deadline=0.0), pytest.raises(BudgetError, match="time allowed"):
        theorem_table("subsample(laplace(1), 0.01)^50", 1e-6)

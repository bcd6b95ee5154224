"""Rows and ledgers: what a row may be, which rows are composed, and when relations are refused."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore import parse
from dpcore.core.errors import DomainError, DomainWarning, DpcoreError, ParseError, RelationError
from dpcore.ledger import Ledger, Release, read_ledger

MIXED = (
    ("counts", "laplace(0.1)", 100),
    ("means", "gaussian(20)", 200),
    ("cells", "geometric(0.1)", 50),
    ("training", "poisson_gaussian(1, 0.01)", 1000),
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        (" 1 000 ", 1000),
        ("1e3", 1000),
        ("1000.0", 1000),
        (7, 7),
        (7.0, 7),
        (np.int64(5), 5),
        ("10_000", 10_000),
    ],
)
def test_counts_are_read(text: object, value: int) -> None:
    assert Release("a", "dp(1)", text).count == value  # type: ignore[arg-type]  # what a file may hold


@pytest.mark.parametrize(
    "text", ["0", "-3", "1.5", "1.000", "", "x", "nan", None, True, 2.5, float("inf"), "1e99", [1]]
)
def test_other_counts_are_refused(text: object) -> None:
    with pytest.raises(DomainError, match=r"count must be an integer in \[1, 1000000000000000\], got"):
        Release("a", "dp(1)", text)  # type: ignore[arg-type]  # what a file may hold


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        (("a", "lapl(1)"), ParseError, "did you mean laplace"),
        (("a", "  "), DomainError, "expression is empty"),
        (("a", "dp(-1)"), ParseError, "without a sign"),
        (("a", "dp(1, 2)"), DomainError, "delta must be"),
        (("a", 3), DomainError, "expression must be a text"),
        (("x" * 3000, "dp(1)"), DomainError, "label must be a text"),
        (("a", "dp(1)", 0), DomainError, "count must be"),
        (("a", "dp(1)", 1, "", "", "g", 0), DomainError, "group_limit must be"),
    ],
)
def test_wrong_rows(fields: tuple[object, ...], error: type[DpcoreError], words: str) -> None:
    with pytest.raises(error, match=words):
        Release(*fields)  # type: ignore[arg-type]  # wrong on purpose


def test_a_clamped_value_is_said_every_time() -> None:
    for _ in range(2):
        with pytest.warns(DomainWarning, match="it changes nothing"):
            release = Release("a", "dptv(1, 0, 0.9)")
        assert "it changes nothing" in release.messages[0]
    assert Ledger.of(release).with_count(0, 3).rows[0].count == 3


def test_equal_releases_of_all_rows_are_joined() -> None:
    ledger = Ledger.of(("a", "laplace( 0.1 )", 3), ("b", "laplace(0.1)^2 * dp(1)", 4), ("c", "dp(1.0)"))
    assert str(ledger.region) == "laplace(0.1)^11 * dp(1)^5"
    assert ledger.region.same_region(parse("laplace(0.1)^11 * dp(1)^5"))


def test_a_ledger_without_rows_reveals_nothing() -> None:
    assert Ledger().region.epsilon(0.0) == 0


def test_the_mixed_ledger_has_a_narrow_bracket() -> None:
    low, high = Ledger.of(*MIXED).region.epsilon_bounds([1e-6])
    assert 0 < high[0] - low[0] < 1e-3 * high[0]
    # a second route: the same product under another planner order, at another tolerance
    assert low[0] <= parse(
        "poisson_gaussian(1, 0.01)^1000 * geometric(0.1)^50 * gdp(0.7071067811865476) * laplace(0.1)^100"
    ).epsilon(1e-6)
    assert Ledger.of(*MIXED).neighbours == "add/remove"


def test_relations_that_disagree_are_refused_with_both_rows() -> None:
    mixed = Ledger.of(*MIXED, ("survey", "rr(1)"))
    with pytest.raises(
        RelationError,
        match=r"^Row 4 \(training: poisson_gaussian\(1, 0\.01\)\) speaks of add/remove .*Row 5 \(survey: rr\(1\)\) of substitution",
    ):
        _ = mixed.region
    stated = Ledger(mixed.rows, "add/remove")
    assert stated.assumed == (4,)
    assert 'assume(rr(1), "add/remove")' in str(stated.region)
    assert "add/remove neighbours assumed for rr(1)" in stated.region.theorem
    other = Ledger(mixed.rows, "substitution")
    assert other.assumed == (3,)
    assert other.region.epsilon(1e-6) == pytest.approx(stated.region.epsilon(1e-6), rel=1e-6)
    own = Ledger.of(*MIXED, ("survey", 'assume(rr(1), "add/remove")'))
    assert own.region.epsilon(1e-6) == pytest.approx(stated.region.epsilon(1e-6), rel=1e-6)
    with pytest.raises(DomainError, match="relation must be empty, substitution or add/remove"):
        Ledger(mixed.rows, "bounded")


def test_groups_and_limits() -> None:
    ledger = Ledger.of(("a", "dp(1)", 1, "", "", " g  h "), ("b", "dp(2)", 1, "", "", "g h", 2), ("c", "dp(3)"))
    assert ledger.groups == {"g h": [0, 1]}
    assert ledger.limit("g h") == 2
    clash = Ledger.of(("a", "dp(1)", 1, "", "", "g", 1), ("b", "dp(2)", 1, "", "", "g", 2))
    with pytest.raises(DomainError, match=r"Row 1 .* at most 1 rows of group 'g', Row 2 .* says 2"):
        _ = clash.region


def test_editing() -> None:
    ledger = Ledger.of(*MIXED)
    assert len(ledger.without(1)) == 3
    assert ledger.with_count(0, 7).rows[0].count == 7
    for wrong in (-1, 4):
        with pytest.raises(DomainError, match="rows 1 to 4"):
            ledger.without(wrong)


def test_ten_thousand_equal_rows_are_one_power() -> None:
    ledger = Ledger.of(*[(f"row {i}", "laplace(0.01)", 1 + i % 2) for i in range(10_000)])
    assert str(ledger.region) == "laplace(0.01)^15000"


@pytest.mark.parametrize(
    "value", ["1" * 300, "1" * 309, "9" * 5000, "1e99", 10**400, 10**5000, -(10**400)], ids=range(7)
)
def test_a_count_of_hundreds_of_digits_is_a_sentence(value: object) -> None:
    with pytest.raises(DomainError, match=r"count must be an integer in \[1, 1000000000000000\], got .{4,70}\.$"):
        Release("a", "laplace(1)", value)  # type: ignore[arg-type]  # what a file may hold
    if isinstance(value, str):
        found = read_ledger(f"label,expression,count,group,group_limit\na,laplace(1),{value}\nb,dp(1),1,g,{value}\n")
        assert len(found.problems) == 2
        assert found.problems[1].startswith(
            "Row 2 (b) is not included: group_limit must be an integer in [1, 100000], got"
        )


def test_a_number_of_thousands_of_digits_in_json_is_a_sentence() -> None:
    with pytest.raises(DomainError, match="digits"):
        read_ledger(f'[{{"label": "a", "expression": "dp(1)", "count": {"1" * 5000}}}]')

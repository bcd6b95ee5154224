"""Costs are known before anything is built: of an expression, of a list of definitions, of a ledger's row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dpcore import parse
from dpcore.app.listing import Item, expand
from dpcore.core.errors import BudgetError, DomainError
from dpcore.language import cost
from dpcore.ledger.reading import _joined, read_ledger
from dpcore.mechanisms.geometric import Geometric
from dpcore.regions.cost import operations

if TYPE_CHECKING:
    from typing import SupportsIndex


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dp(1)", (1, 2, 1, 0, 1)),
        ("dp(1)^7 & gdp(2)", (3, 6, 2, 2, 7)),
        ("(dp(1)*dp(2)^3)^5", (4, 7, 2, 2, 20)),
        ("group(dp(1) * gdp(0.5)^3, 2)^10", (5, 9, 3, 2, 40)),
        ("laplace_vector(1, [1, 2, 3])", (2, 6, 1, 3, 1)),
    ],
)
def test_cost_of_an_expression(text: str, expected: tuple[int, ...]) -> None:
    assert tuple(cost(text)) == expected


def test_the_cost_of_deep_texts_is_linear() -> None:
    deep = "subsample(" * 99 + "gdp(1)" + ", 0.5)" * 99
    assert cost(deep) == (100, 200, 100, 0, 1)


def test_too_large_an_expression_is_refused_with_its_cost() -> None:
    with pytest.raises(BudgetError, match="of 12000 items; at most 10000"):
        parse(f"laplace_vector(1, [{','.join('1' * 12000)}])")
    with pytest.raises(BudgetError, match="has 25003 parts in all; at most 20000"):
        parse(f"laplace_vector(1, [{','.join('1' * 25000)}])")


def test_definitions_that_multiply_are_measured_before_they_are_put_in() -> None:
    """Each line names the one before ten times: 10^22 characters if it were written out."""
    items = [Item("dp(1)", "a0")]
    items += [Item("*".join([f"@a{i}"] * 10), f"a{i + 1}") for i in range(22)]
    with pytest.raises(DomainError, match=r"has \d{23} characters with its parts put in; at most 16384"):
        expand("@a22", items)
    assert expand("@a1 & gdp(1)", items) == "(" + "*".join(["(dp(1))"] * 10) + ") & gdp(1)"


def test_circles_and_unknown_names_are_named() -> None:
    with pytest.raises(DomainError, match="in a circle"):
        expand("@a", [Item("@b", "a"), Item("dp(1) & @a", "b")])
    with pytest.raises(DomainError, match="no region named 'c'"):
        expand("@a", [Item("@c", "a")])
    chain = [Item("dp(1)", "a0"), *(Item(f"@a{i}", f"a{i + 1}") for i in range(23))]
    assert expand("@a23", chain) == "(" * 24 + "dp(1)" + ")" * 24


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (["x", "dp(1", "0.1)", "3"], ["x", "dp(1,0.1)", "3"]),
        (["x", "dp(1)", "3"], ["x", "dp(1)", "3"]),
        (["x", "laplace_vector(1", "[1", "2])", "4", ""], ["x", "laplace_vector(1,[1,2])", "4", ""]),
        (["x", "dp(1", "0.1", "3"], ["x", "dp(1", "0.1", "3"]),
        (["x", "dp)1(", "3"], ["x", "dp)1(", "3"]),
        (["x"], ["x"]),
    ],
)
def test_fields_are_joined_while_a_bracket_is_open(row: list[str], expected: list[str]) -> None:
    assert _joined(row, 1, ",") == expected


class Counted(str):
    """A text that counts how often its characters are counted."""

    __slots__ = ()
    looks = 0

    def count(self, sub: str, start: SupportsIndex | None = None, end: SupportsIndex | None = None, /) -> int:
        Counted.looks += 1
        return super().count(sub, start, end)


def test_an_unclosed_bracket_is_looked_at_once() -> None:
    row: list[str] = ["x", Counted("dp(1"), *(Counted("2") for _ in range(2000))]
    Counted.looks = 0
    assert _joined(row, 1, ",") == row
    assert Counted.looks <= 4 * len(row)
    reading = read_ledger("label,expression,count\na,dp(1" + ",2" * 60_000 + "\n")
    assert len(reading.problems) == 1


@pytest.mark.parametrize("text", ["group(geometric(0.16, 1000000), 2)^4", "geometric(1e-300, 1000000)^30 * rr(1)"])
def test_an_estimate_makes_no_large_table(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def table(_: Geometric) -> None:
        pytest.fail("the estimate did the work that it estimates")

    monkeypatch.setattr(Geometric, "_pair", table)
    assert operations(parse(text)) > 1e9  # seconds

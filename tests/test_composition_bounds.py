"""Closed-form theorems as regions: the statement of the theorem, the product as its other side, the text that names it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore import DomainError, ParseError, parse
from dpcore.theorems import basic, kov_simplified

STATEMENTS = st.lists(
    st.tuples(st.just(0.0) | st.floats(1e-300, 1.5), st.floats(0.0, 0.2), st.integers(1, 20)), min_size=1, max_size=3
)


def written(statements: list[tuple[float, float, int]]) -> str:
    return " * ".join(f"dp({e!r}, {d!r})^{k}" for e, d, k in statements)


@settings(max_examples=40, deadline=None)
@given(STATEMENTS, st.sampled_from([1e-9, 1e-4, 0.03, 1.0]))
def test_simplified_is_the_theorem_and_contains_the_product(
    statements: list[tuple[float, float, int]], slack: float
) -> None:
    product, region = parse(written(statements)), parse(f"simplified({written(statements)}, {slack!r})")
    row = kov_simplified(statements, slack).iloc[0]
    assert region.delta(float(row["epsilon"])) == pytest.approx(float(row["delta"]), rel=1e-12)
    grid = np.array([0.0, 0.5, 1.0, float(row["epsilon"])])
    low, high = region.delta_bounds(grid)
    truth = product.delta_bounds(grid)
    assert (high >= truth[0] * (1 - 1e-9)).all()
    assert np.allclose(low, np.minimum(truth[0], high), rtol=1e-9, atol=1e-300)
    alpha = np.array([0.0, 0.05, 0.3])
    assert (region.beta(alpha) <= product.beta_bounds(alpha)[1] * (1 + 1e-9) + 1e-15).all()


@settings(max_examples=20, deadline=None)
@given(STATEMENTS)
def test_basic_is_the_theorem(statements: list[tuple[float, float, int]]) -> None:
    region = parse(f"basic({written(statements)})")
    row = basic(statements).iloc[0]
    assert region.delta(float(row["epsilon"])) == pytest.approx(float(row["delta"]), rel=1e-12, abs=1e-15)


def test_the_name_of_the_language() -> None:
    region = parse("simplified( dp(0.6,0.1)^2 , slack = 0.03 )")
    assert str(region) == "simplified(dp(0.6, 0.1)^2, 0.03)"
    assert parse(str(region)) == region
    assert region.theorem == "simplified optimal composition"
    assert region.kind == "upper"


def test_the_thesis_example() -> None:
    """Theorem 12 with (0.6, 0.1), k = 2 and slack 0.03: the sum of the epsilons wins, and 1 - 0.97 0.9^2 fails."""
    region = parse("simplified(dp(0.6, 0.1)^2, 0.03)")
    assert region.epsilon(0.2143 * (1 + 1e-12)) == pytest.approx(1.2, rel=1e-12)
    assert region.delta_bounds(5.0)[0][0] == pytest.approx(1 - 0.9**2, rel=1e-12)
    many = parse("simplified(dp(0.1)^1000, 1e-6)")
    mean, spread = 1000 * 0.1 * math.tanh(0.05), 0.1 * math.sqrt(1000)
    expected = mean + spread * math.sqrt(2 * min(math.log(1e6), math.log(math.e + spread * 1e6)))
    assert many.epsilon(1e-6 * (1 + 1e-12)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("simplified(gdp(1)^2, 0.1)", "simplified takes a product of dp atoms"),
        ("simplified(dp(1)^2, 0)", "slack"),
        ("simplified(dp(1)^2, 1.5)", "slack"),
        ("simplified(dp(1)^2)", "slack"),
        ("simplified(dp(inf), 0.1)", "epsilon must be a number in"),
        ("basic(gdp(1)^2)", "basic takes a product of dp atoms"),
    ],
)
def test_outside_the_theorem(text: str, words: str) -> None:
    with pytest.raises((DomainError, ParseError), match=words):
        parse(text)

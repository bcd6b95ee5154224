"""Formulas of one's own, maximal leakage, and the exponential mechanism by given scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore import DomainError, ParseError, dp, exponential_scores, leakage, parse, pmf, tradeoff, tv
from dpcore.regions.formula import read_formula
from dpcore.theorems.conversion import convert

LOSSES = np.linspace(-1.5, 3.0, 31)


@given(st.floats(0.01, 3.0), st.floats(0.0, 0.5))
def test_the_lines_of_a_statement_give_its_region_from_above(epsilon: float, delta: float) -> None:
    factor = math.exp(epsilon)
    own = tradeoff(f"max({1 - delta!r}-{factor!r}*a, ({1 - delta!r}-a)/{factor!r}, 0)")
    true = dp(math.log(factor), delta).delta(LOSSES)
    assert np.all(own.delta(LOSSES) >= true)
    assert np.allclose(own.delta(LOSSES), true, rtol=0, atol=1e-11)
    assert own.kind == "upper"


def test_a_curved_formula_is_never_below_the_truth() -> None:
    own, true = tradeoff("(1-a)/(1+(exp(1)-1)*a)"), parse("exponential(1)")
    gaps = own.delta(LOSSES) - true.delta(LOSSES)
    assert gaps.min() >= -1e-15
    assert gaps.max() < 1e-7
    low, high = own.delta_bounds(0.5)
    assert low <= true.delta(0.5) <= high


def test_the_envelope_of_a_formula_lies_below_it() -> None:
    own = tradeoff("min(1-a, max(0.9-a, 0.5))", "convex")
    alpha = np.linspace(0, 1, 101)
    values = read_formula(own.formula).at(alpha)
    assert np.all(own.beta(alpha) <= values + 1e-12)
    assert own.total_variation == pytest.approx(0.1, abs=1e-4)
    assert parse(str(own)) == own


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("2-a", r"between 0 and 1 - a; at a = 0 it is 2"),
        ("0-a", r"between 0 and 1 - a"),
        ("log(a)", r"at a = 0 it is not a number"),
        ("min(1-a, max(0.9-a, 0.5))", r"must be convex; .* envelope"),
        ("min(0.2, 1-a)*a", "must not increase"),
    ],
)
def test_what_is_no_trade_off_function_is_refused(formula: str, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        tradeoff(formula)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1-",
        "max(1)",
        "exp(1,2)",
        "1-b",
        "__import__('os')",
        "1-a^a",
        "1 2",
        "(1-a",
        "a.real",
        "1-a)",
        "(" * 60 + "a" + ")" * 60,
        "1" * 501,
    ],
)
def test_what_is_no_formula_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(ParseError, match="formula"):
        tradeoff(text)


@given(st.integers(0, 10_000))
def test_intervals_contain_the_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    node = read_formula("max((1-a)^2/(1+a) - 0.1*sqrt(a), exp(-3*a)*0.2 - log(1+a)/9, min(a, 0.01))")
    ends = np.sort(rng.random((2, 8)), axis=0)
    low, high = node.within(*ends)
    inside = ends[0] + (ends[1] - ends[0]) * rng.random((20, 8))
    values = np.array([node.at(row) for row in inside])
    assert np.all(values >= low - 1e-12)
    assert np.all(values <= high + 1e-12)


def test_leakage_is_total_variation_in_nats() -> None:
    assert np.array_equal(leakage(math.log(1.2)).delta(LOSSES), tv(math.expm1(math.log(1.2))).delta(LOSSES))
    assert leakage(math.log(2)).total_variation == pytest.approx(1.0)
    assert leakage(5).total_variation == leakage(math.inf).total_variation == 1.0
    row = convert(dp(1), "leakage").iloc[0]
    assert float(row["parameters"].removeprefix("leakage=")) == pytest.approx(math.log(2 * math.e / (1 + math.e)))
    assert row["kind"] == "exact"


def test_leakage_is_the_gain_of_the_best_guess() -> None:
    """By enumeration: a uniform secret among two datasets, guessed with and without the answer."""
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    gain = np.maximum(p, q).sum()
    region = parse("pmf([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])")
    (value,) = convert(region, "leakage")["parameters"]
    assert math.exp(float(value.removeprefix("leakage="))) == pytest.approx(gain)


@given(st.integers(0, 10_000))
def test_scores_give_the_pair_of_the_two_choices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, 4).astype(float)
    other = np.clip(scores + rng.uniform(-1, 1, 4), 0, None)
    epsilon = float(rng.uniform(0.1, 3))
    own = exponential_scores(epsilon, scores.tolist(), other.tolist())
    weights = np.exp(epsilon * scores / 2), np.exp(epsilon * other / 2)
    choices = pmf(*(weight / weight.sum() for weight in weights))
    assert np.allclose(own.delta(LOSSES), choices.delta(LOSSES), rtol=1e-12, atol=1e-15)
    assert own.delta(epsilon) <= 1e-15
    assert np.all(own.delta(LOSSES) <= parse(f"exponential({epsilon!r})").delta(LOSSES) + 1e-12)
    assert parse(str(own)) == own


def test_scores_that_move_too_far_are_refused() -> None:
    with pytest.raises(DomainError, match=r"candidate 2 moves by 1\.5"):
        exponential_scores(1, [3, 1], [3, 2.5])
    with pytest.raises(DomainError, match="same length, got 2 and 1"):
        exponential_scores(1, [3, 1], [3])

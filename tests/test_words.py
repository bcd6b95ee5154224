"""Numbers in words: outward, complete, and labelled."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcore
from dpcore import parse, words
from dpcore.core.errors import DomainError

ROOT = Path(__file__).resolve().parents[1]
FEW = settings(max_examples=50, deadline=None)


@pytest.mark.parametrize(
    ("value", "digits", "up", "text"),
    [
        (12.4, 2, True, "13"),
        (12.4, 2, False, "12"),
        (0.1 + 0.2, 2, True, "0.3"),
        (0.12, 2, True, "0.12"),
        (0.1201, 2, True, "0.13"),
        (99.9, 2, True, "100"),
        (-1.25, 2, True, "-1.2"),
        (-1.25, 2, False, "-1.3"),
        (1e-12, 1, True, "1e-12"),
        (1.01e-12, 1, True, "2e-12"),
        (5e-324, 3, True, "5e-324"),
        (1234567.0, 3, True, "1.24e6"),
        (math.inf, 3, True, "inf"),
        (-math.inf, 3, False, "-inf"),
        (0.0, 3, True, "0"),
        (1.0, 3, True, "1"),
    ],
)
def test_outward_rounds_away_from_the_truth(value: float, digits: int, up: bool, text: str) -> None:
    assert words.outward(value, digits, up=up) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (2.381683, 2.381692, "2.38168 and 2.38170"),
        (1.999995, 2.0, "1.99999 and 2.00000"),
        (1.5, 20.0, "1.5 and 20"),
        (12345.67, 12345.69, "12 345.6 and 12 345.7"),
        (2.0, 2.0, "2 and 2"),
        (1.23456e-9, 1.23457e-9, "1.23456e-9 and 1.23457e-9"),
        (0.0, 0.25, "0 and 0.25"),
        (1.0, math.inf, "1 and inf"),
    ],
)
def test_the_sides_of_a_bracket_can_be_compared_digit_by_digit(low: float, high: float, text: str) -> None:
    assert words.between(low, high) == text


@FEW
@given(st.floats(1e-12, 1e9), st.floats(0.0, 1e-4), st.integers(2, 8))
def test_the_sides_of_a_bracket_are_rounded_outward(low: float, width: float, digits: int) -> None:
    high = low * (1 + width)
    sides = [Decimal(side.replace(" ", "")) for side in words.between(low, high, digits).split(" and ")]
    assert sides[0] <= Decimal(low) * (1 + Decimal("2e-13"))
    assert sides[1] >= Decimal(high) * (1 - Decimal("2e-13"))


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("999", "999"),
        ("1315", "1 315"),
        ("-482810", "-482 810"),
        ("12345.6", "12 345.6"),
        ("1.2e6", "1.2e6"),
        ("1e-5", "1e-5"),
        ("inf", "inf"),
    ],
)
def test_the_whole_part_of_a_number_is_in_groups_of_three(text: str, marked: str) -> None:
    assert words.grouped(text) == marked


@FEW
@given(st.floats(1e-300, 1e300), st.integers(1, 8))
def test_outward_never_crosses_the_value(value: float, digits: int) -> None:
    noise = Decimal(value) * Decimal("2e-13")
    assert Decimal(words.outward(value, digits)) >= Decimal(value) - noise
    assert Decimal(words.outward(value, digits, up=False)) <= Decimal(value) + noise


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0.05, "5 of 100"),
        (0.07, "7 of 100"),
        (0.124, "13 of 100"),
        (0.057, "57 of 1 000"),
        (0.0571, "58 of 1 000"),
        (1e-12, "1 of 1 000 000 000 000"),
        (3.14e-7, "32 of 100 000 000"),
        (0.9997, "9 997 of 10 000"),
        (1 - 1e-16, "1 000 000 000 000 000 of 1 000 000 000 000 000"),
        (1e-300, "1 of 10^300"),
        (0.0, "0 of 100"),
        (1.0, "100 of 100"),
    ],
)
def test_rates_as_people(rate: float, text: str) -> None:
    assert words.of_100(rate) == text


def test_rates_as_people_downwards() -> None:
    assert words.of_100(0.129, up=False) == "12 of 100"


@FEW
@given(st.floats(1e-14, 1.0))
def test_people_are_never_fewer_than_the_rate(rate: float) -> None:
    found, crowd = re.fullmatch(r"([\d ]+) of (.+)", words.of_100(rate)).groups()  # type: ignore[union-attr]  # always matches
    size = 10 ** int(crowd[3:]) if crowd.startswith("10^") else int(crowd.replace(" ", ""))
    share = Decimal(found.replace(" ", "")) / size
    assert share >= Decimal(rate) * (1 - Decimal("2e-13"))
    assert share <= Decimal(rate) * Decimal("1.11") + Decimal("1e-15")


def test_attack_sentence_is_the_promised_one() -> None:
    said = words.attack_sentence(dpcore.dp(math.log(2.31)), 0.05)
    assert said == (
        "An attacker who wrongly accuses 5 of 100 people outside the data finds at most 12 of 100 people inside it "
        "(exact); blind guessing finds 5."
    )


@pytest.mark.parametrize(
    "text", ["dp(1)", "gdp(1)", "dp(0.6,0.05)^5", "laplace(1)", "dp(inf)", "dp(0)", "gdp(3) & dp(1)"]
)
@pytest.mark.parametrize("fpr", [0.0, 1e-12, 1e-3, 0.05, 0.5, 1.0])
def test_attack_sentence_is_true_everywhere(text: str, fpr: float) -> None:
    region = dpcore.parse(text)
    said = words.attack_sentence(region, fpr)
    found, crowd = re.search(r"at most ([\d ]+) of ([\d^ ]+) people inside", said).groups()  # type: ignore[union-attr]  # always there
    share = int(found.replace(" ", "")) / int(crowd.replace(" ", ""))
    assert share >= region.power(fpr) * (1 - 1e-12)
    assert "(exact)" in said  # the intersection's rates are the largest of two formulas


def test_several_attacks_in_one_sentence() -> None:
    said = words.attacks_sentence({"one": dpcore.dp(1.0), "two": dpcore.gdp(1.2)}, 0.05)
    assert "accuses 5 of 100 people" in said
    assert "at most 14 of 100 under one (exact) and 33 of 100 under two (exact); blind guessing finds 5 of 100." in said


def test_a_bound_is_called_one() -> None:
    for text in ("basic(dp(0.6, 0.05)^5)", "simplified(dp(0.6, 0.1)^2, 0.03)", "rdp(2, 0.5)^3"):
        assert "(upper bound)" in words.attack_sentence(dpcore.parse(text))
        assert "(upper bound)" in words.advantage_sentence(dpcore.parse(text))


def test_advantage_is_outward() -> None:
    assert "at most 74 of 100" in words.advantage_sentence(dpcore.dp(1.0))  # (1 + tanh(1/2)) / 2 = 0.7311
    assert "50 of 100 of them (exact)" in words.advantage_sentence(dpcore.dp(0.0))
    assert "100 of 100" in words.advantage_sentence(dpcore.dp(math.inf))


def test_statements() -> None:
    assert "at most 2.72, plus at most 1 of 1 000 000 (upper bound)" in words.statement_sentence(1.0, 1e-6)
    assert "by at most 2.72 (upper bound)" in words.statement_sentence(1.0)
    assert "by at most 5 of 100 (upper bound)" in words.statement_sentence(0.0, 0.05)
    assert words.statement_sentence(0.0).endswith("(exact).")
    assert words.statement_sentence(math.inf).startswith("Nothing is promised")
    assert words.statement_sentence(1.0, 1.0).startswith("Nothing is promised")
    assert "e^1000" in words.statement_sentence(1000.0)


def test_odds() -> None:
    assert "at most 2.72: a belief of 50 of 100 becomes at most 74 of 100" in words.odds(1.0)
    assert "may become certain" in words.odds(math.inf)
    assert "already certain" in words.odds(1.0, prior=1.0)
    assert "factor of at most 1:" in words.odds(0.0)
    assert "e^800" in words.odds(800.0)


def test_odds_with_a_delta_are_exceeded_twice_delta_at_most() -> None:
    """Random pairs, and the pair that attains the bound: all of the excess sits just above twice the factor."""
    rng = np.random.default_rng(7)
    for epsilon in (0.0, 0.3, 1.0, 3.0):
        twice = 2 * math.exp(epsilon)
        for _ in range(300):
            p, q = (rng.dirichlet(np.full(6, 0.2)) for _ in range(2))
            delta = np.maximum(q - math.exp(epsilon) * p, 0).sum()
            assert q[q > twice * p].sum() <= 2 * delta + 1e-12
        mass = 1e-3
        p = np.array([mass / (twice * (1 + 1e-9)), 1 - mass / (twice * (1 + 1e-9))])
        q = np.array([mass, 1 - mass])
        delta = np.maximum(q - math.exp(epsilon) * p, 0).sum()
        assert q[q > twice * p].sum() == pytest.approx(2 * delta, rel=1e-6)
    assert words.odds(1.0, delta=1e-5) == (
        "Except with probability at most 2 of 100 000, odds grow by a factor of at most 5.44: a belief of 50 of 100 "
        "becomes at most 85 of 100 (upper bound)."
    )
    assert "may become certain" in words.odds(1.0, delta=0.5)
    assert words.odds(0.0, delta=1e-3).count("factor of at most 2:") == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: words.of_100(1.5),
        lambda: words.of_100(math.nan),
        lambda: words.outward(math.nan, 3),
        lambda: words.outward(1.0, 0),
        lambda: words.statement_sentence(-1.0),
        lambda: words.statement_sentence(1.0, 2.0),
        lambda: words.odds(math.nan),
        lambda: words.odds(1.0, prior=-0.1),
        lambda: words.odds(1.0, delta=-0.1),
    ],
    ids=["rate", "nan rate", "nan", "digits", "epsilon", "delta", "nan epsilon", "prior", "odds delta"],
)
def test_nonsense_is_refused_in_one_sentence(call: object) -> None:
    with pytest.raises(DomainError, match=r"must be .*\.$"):
        call()  # type: ignore[operator]  # a lambda


@settings(max_examples=60, deadline=None)
@given(
    weights=st.lists(st.tuples(st.floats(1e-6, 1.0), st.floats(-6.0, 6.0)), min_size=2, max_size=8),
    epsilon=st.floats(0.0, 3.0),
    c=st.floats(1.01, 50.0),
)
def test_odds_beyond_c_times_the_factor_are_as_rare_as_the_guide_says(
    weights: list[tuple[float, float]], epsilon: float, c: float
) -> None:
    """Odds grow by more than c e^epsilon with probability at most delta c / (c - 1): any pair, asked of the library."""
    p = np.array([weight for weight, _ in weights])
    q = p * np.exp([loss for _, loss in weights])
    p, q = p / p.sum(), q / q.sum()
    delta = float(parse(f"pmf({p.tolist()}, {q.tolist()})").delta(epsilon))
    for one, other in ((p, q), (q, p)):
        telling = float(one[one > c * math.exp(epsilon) * other].sum())
        assert telling <= delta * c / (c - 1) * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize(("epsilon", "c"), [(1.0, 2.0), (0.5, 1.5), (2.0, 10.0)])
def test_no_smaller_number_holds_for_all_pairs(epsilon: float, c: float) -> None:
    mass, ratio = 1e-4, c * math.exp(epsilon) * (1 + 1e-9)
    region = parse(f"pmf([{mass / ratio!r}, {1 - mass / ratio!r}], [{mass!r}, {1 - mass!r}])")
    delta = float(region.delta(epsilon))
    assert mass == pytest.approx(delta * c / (c - 1), rel=1e-6)
    guide = (ROOT / "data/guide/what_does_1_1e5_mean.md").read_text(encoding="utf-8")
    assert r"by more than $c$ times the factor with probability at most $\delta\,c/(c-1)$" in guide

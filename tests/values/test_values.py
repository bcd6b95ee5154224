"""Values of a text: the numbers of the library, rounded outward, with their kind; conditions decided by both sides."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore import parse
from dpcore.core.errors import DpcoreError
from dpcore.ledger import open_ledger, total
from dpcore.values import NumberValue, Scope, condition, parse_value, shown_value, text_functions, value
from dpcore.values.quantity import GIVEN, combined

REPORTS = Path(__file__).resolve().parents[2] / "data" / "reports"


def number(text: str, scope: Scope | None = None) -> NumberValue:
    one = value(text, scope or Scope())
    assert isinstance(one, NumberValue)
    return one


def test_numbers_are_those_of_the_library() -> None:
    region = parse("laplace(0.1)^100")
    assert number('deltas("laplace(0.1)^100", epsilon=1)').high == region.delta(1.0)
    assert number('epsilons("laplace(0.1)^100", delta=1e-6)').high == region.epsilon(1e-6)
    assert number('misses("dp(1)", alpha=0.05)').low == parse("dp(1)").beta(0.05)
    scope = Scope(folder=REPORTS)
    spent = total(open_ledger(REPORTS / "spring_release.csv"), 1e-6)
    assert number('ledger("spring_release.csv", delta=1e-6).epsilon', scope).high == spent.upper
    assert number('ledger("spring_release.csv", delta=1e-6).epsilon', scope).kind == spent.kind
    assert number('mu("gaussian(2)")').high == pytest.approx(0.5, rel=1e-12)
    assert number('calibrate("gaussian(?)", epsilon=1, delta=1e-5)').high == pytest.approx(3.730631634, abs=1e-8)
    assert scope.read == {"spring_release.csv"}


@pytest.mark.parametrize("name", sorted(text_functions()))
def test_every_function_says_what_it_does(name: str) -> None:
    assert (text_functions()[name].__doc__ or "").startswith("Return")


@pytest.mark.parametrize(
    ("one", "formats", "shown"),
    [
        (NumberValue(0.12340, 0.12341, "upper"), (), "0.1235 (upper bound)"),
        (NumberValue(0.12349, 0.12350, "lower"), (), "0.1234 (lower bound)"),
        (NumberValue(0.12340, 0.12341, "upper"), ("2", "plain"), "0.13"),
        (NumberValue(0.12, 0.12, "exact"), ("percent",), "12 % (exact)"),
        (NumberValue(0.1201, 0.1201, "exact"), ("people", "plain"), "13 of 100"),
        (NumberValue(1.0, 2.0, "upper"), ("both",), "between 1 and 2"),
        (NumberValue(5.0, 5.0), (), "5"),
        (NumberValue(math.inf, math.inf, "upper"), ("plain",), "inf"),
    ],
)
def test_a_number_is_rounded_to_its_safe_side(one: NumberValue, formats: tuple[str, ...], shown: str) -> None:
    assert shown_value(one, *formats) == shown


FINITE = st.floats(-1e6, 1e6)


@given(FINITE, FINITE, FINITE, FINITE, st.sampled_from("+-*/"), st.floats(0, 1), st.floats(0, 1))
def test_arithmetic_contains_the_truth(a: float, b: float, c: float, d: float, sign: str, s: float, t: float) -> None:
    left = NumberValue(min(a, b), max(a, b), "upper")
    right = NumberValue(min(c, d), max(c, d), "upper")
    if sign == "/" and right.low <= 0 <= right.high:
        with pytest.raises(DpcoreError, match="may be 0"):
            combined(sign, left, right)
        return
    if sign == "/" and min(abs(right.low), abs(right.high)) < 1e-200:
        return
    x, y = left.low + s * (left.high - left.low), right.low + t * (right.high - right.low)
    x, y = min(max(x, left.low), left.high), min(max(y, right.low), right.high)
    truth = {"+": x + y, "-": x - y, "*": x * y}[sign] if sign != "/" else x / y
    result = combined(sign, left, right)
    assert result.low <= truth <= result.high


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ('deltas("dp(1)", epsilon=1) <= 0', True),
        ('deltas("dp(1)", epsilon=0.5) <= 0', False),
        ('epsilons("laplace(0.1)^100", delta=1e-6) < 4.7 and 1 < 2', True),
        ("1 + 2 * 3 == 7 and -2 - 3 == -5", True),
        ('"a" == "a"', True),
        ("0.1 + 0.2 == 0.3", True),
        ("1 ≤ 1", True),
        ("2 != 2", False),
    ],
)
def test_conditions_are_decided(text: str, holds: bool) -> None:
    assert condition(text, Scope()).holds is holds


def test_a_condition_that_cannot_be_decided_does_not_hold() -> None:
    scope = Scope(values={"x": NumberValue(1.0, 2.0, "upper"), "y": NumberValue(1.5, 1.5, "approximate")})
    for text in ("x <= 1.5", "x >= 1.5", "x == 1.5", "y <= 3"):
        verdict = condition(text, scope)
        assert not verdict.holds
        assert "is not decided" in verdict.words
    assert condition("x <= 2 and x >= 1", scope).holds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('__import__("os")', "There is no function '__import__'"),
        ("budgt.epsilon", "There is no value 'budgt'"),
        ("deltas(", "at character 8: the text ends"),
        ('delta("dp(1)", epsilon=1)', "did you mean deltas?"),
        ('deltas("dp(1)", epsilom=1)', "did you mean epsilon?"),
        ('deltas("dp(1)")', "deltas takes region, epsilon"),
        ('deltas("dp(1", epsilon=1)', "The expression ends"),
        ('ledger("../../../../etc/passwd")', "leads out of the folder"),
        ('ledger("/etc/passwd")', "leads out of the folder"),
        ("1/0", "may be 0"),
        ("1e999", "too large"),
        ("(" * 60 + "1" + ")" * 60, "brackets more than 40 deep"),
        ("1 + " * 600 + "1", "at most 2000 are read"),
        ("risk(1)", "A region is an expression in quotes"),
        ("x.__class__", "There is no value 'x'"),
    ],
)
def test_mistakes_are_sentences(text: str, words: str) -> None:
    with pytest.raises(DpcoreError) as caught:
        value(text, Scope(folder=REPORTS))
    assert words in str(caught.value)


@given(st.text(max_size=200))
def test_no_text_does_harm(text: str) -> None:
    with contextlib.suppress(DpcoreError):
        parse_value(text)


def test_digits_that_are_asked_for_hold_for_given_numbers_too() -> None:
    rate = NumberValue(256 / 60000, 256 / 60000, GIVEN)
    assert shown_value(rate) == "0.004266666666666667"
    assert shown_value(rate, "4") == "0.004267"
    assert shown_value(rate, "2", "percent") == "0.43 %"

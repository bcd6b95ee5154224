"""The one checker: scalars and arrays have the same verdict, and a refusal names parameter, domain, value and place."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore import dp
from dpcore.core import domains
from dpcore.core.errors import DomainError
from dpcore.core.parameter import Choice, Parameter, value_text

DOMAINS = {name: value for name, value in vars(domains).items() if isinstance(value, Parameter)}
NUMBERS = {name: value for name, value in DOMAINS.items() if value.kind == "number"}
HUGE = 10**400

VALUES: tuple[Any, ...] = (
    0, 0.0, -0.0, 1, 1.0, 0.5, -1.0, 2, 1e6, 1e7, 1e-320, 1e-300, 1e-60, 1e60, 1e300, math.inf, -math.inf, math.nan,
    math.nextafter(0.0, 1.0), math.nextafter(1.0, 0.0), math.nextafter(1.0, 2.0), Fraction(1, 3), HUGE, -HUGE, 10**300,
    True, False, None, "0.5", "x", b"1", 1j, [0.5], [], {}, object(), np.bool_(True), np.float32(0.5), np.float64(0.5),
    np.int64(1), np.uint8(1), np.array(0.5), np.array([0.5]), np.str_("0.5"), np.datetime64("2020-01-01"),
)  # fmt: skip


def verdict(function: Any, value: Any) -> float | None:
    """Return the number a checker accepts, None where it refuses."""
    try:
        found = float(function(value))
    except DomainError:
        return None
    assert not math.isnan(found)
    assert math.copysign(1.0, found) == 1.0 or found != 0.0
    return found


def truth(parameter: Parameter, value: Any) -> bool:
    """Whether a value belongs to a domain, from the meaning of its fields and exact comparisons of Python's numbers."""
    plain = plain_of(value)
    if isinstance(plain, bool) or not isinstance(plain, (int, float, Fraction)) or str(plain)[:3] == "nan":
        return False
    if plain == math.inf:
        return parameter.infinite
    if plain == -math.inf:
        return parameter.infinite and parameter.low == -math.inf
    if abs(plain) > 1.7976931348623157e308:
        return False
    low = parameter.low < plain or (parameter.low == plain and not parameter.low_open)
    high = plain < parameter.high or (parameter.high == plain and not parameter.high_open)
    return low and high and (plain == 0 or abs(plain) >= parameter.least)


def plain_of(value: Any) -> Any:
    """Return a number of numpy as Python's own."""
    return (
        value.item() if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim) else value
    )


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_alone_and_in_an_array_has_the_verdict_of_its_domain(name: str) -> None:
    parameter = NUMBERS[name]
    ends = [parameter.low, parameter.high, *np.nextafter(parameter.low, [-math.inf, math.inf]).tolist()]
    ends += np.nextafter(parameter.high, [-math.inf, math.inf]).tolist()
    for value in (*VALUES, *ends, parameter.least, parameter.least * 0.99):
        expected = truth(parameter, value)
        assert (verdict(parameter.check, value) is not None) == expected, value
        inside = 0.5 if truth(parameter, 0.5) else parameter.example or 2.0
        among = verdict(lambda one: parameter.array([inside, one])[1], value)  # noqa: B023  # called at once
        assert (among is not None) == expected, value
        if expected and isinstance(value, float):
            for many in (np.array([inside, value]), pd.Series([inside, value]), (inside, value)):
                assert parameter.array(many).tolist() == [inside, value]


@pytest.mark.parametrize("name", [name for name in DOMAINS if DOMAINS[name].kind == "integer"])
def test_integers_have_one_verdict(name: str) -> None:
    parameter = DOMAINS[name]
    for value in VALUES:
        plain = plain_of(value)
        number = isinstance(plain, int) or (isinstance(plain, float) and plain.is_integer())
        whole = number and not isinstance(plain, bool) and parameter.low <= plain <= parameter.high
        try:
            found = parameter.check(value)
        except DomainError:
            assert not whole, value
        else:
            assert whole, value
            assert type(found) is int
            assert found == plain


def test_a_refusal_names_the_first_bad_value_and_its_place() -> None:
    cases = [
        ([0.1, 1.5, 2.5], "alpha must be a number in [0, 1], got 1.5 (number 2 of 3)."),
        (np.array([0.1, np.nan]), "alpha must be a number in [0, 1], got nan (number 2 of 2)."),
        ([0.1, "0.2"], "alpha must be a number in [0, 1], got '0.2' (number 2 of 2)."),
        ([True, 0.5], "alpha must be a number in [0, 1], got True (number 1 of 2)."),
        ([[0.1, 0.2]], "alpha must be a number in [0, 1], got [0.1, 0.2]."),
        (np.array([[0.1], [0.2]]), "alpha must be a number in [0, 1], got array([0.1]) (number 1 of 2)."),
        (2, "alpha must be a number in [0, 1], got 2."),
        (np.float64(2), "alpha must be a number in [0, 1], got 2."),
        ("0.5", "alpha must be a number in [0, 1], got '0.5'."),
        ([], "alpha must be a number in [0, 1], got []."),
        (np.zeros((0, 2)), "alpha must be a number in [0, 1], got array([], shape=(0, 2), dtype=float64)."),
        (None, "alpha must be a number in [0, 1], got None."),
        ({0.5: 1}, "alpha must be a number in [0, 1], got {0.5: 1}."),
        ({0.5}, "alpha must be a number in [0, 1], got {0.5}."),
    ]  # fmt: skip
    for values, sentence in cases:
        with pytest.raises(DomainError) as error:
            domains.ALPHA.array(values)
        assert str(error.value) == sentence


def test_a_number_beyond_doubles_is_refused_for_that() -> None:
    sentence = rf"^epsilon must be a number in \[0, inf\) within the range of doubles, got {str(HUGE)[:57]}\.\.\.\.$"
    with pytest.raises(DomainError, match=sentence):
        domains.LOSS.check(HUGE)
    with pytest.raises(
        DomainError, match=r"^epsilon must be a number in \[-inf, inf\] within the range of doubles, got -1000"
    ):
        domains.ANY_LOSS.array([0.5, -HUGE])


def test_lists_have_their_size() -> None:
    scores = Parameter("scores", "numbers", fewest=2, most=3)
    assert scores.check(range(2)) == (0.0, 1.0)
    assert scores.domain_words == "a list of 2 to 3 numbers"
    for bad, words in [
        ([1.0], "scores must be a list of 2 to 3 numbers, got 1."),
        ([1.0] * 4, "scores must be a list of 2 to 3 numbers, got 4."),
        ([], "scores must have at least one item, got an empty list."),
        ([1.0, "x"], "scores must be a number in (-inf, inf), got 'x' (number 2 of 2)."),
        (np.array(1.0), "scores must be a list, got array(1.)."),
        ("12", "scores must be a list, got '12'."),
    ]:
        with pytest.raises(DomainError) as error:
            scores.check(bad)
        assert str(error.value) == words


def test_a_question_is_never_answered_in_part() -> None:
    """Neither numpy nor a type checker takes an iterator for a list: its first answer must not pass for all."""
    region, at = dp(1, 0.01), [0.5, 0.6]
    for ask in (region.delta, region.beta, region.power, region.epsilon):
        assert ask(iter(at)).tolist() == ask(at).tolist()  # type: ignore[call-overload]  # what it does not take


def test_domains_in_words() -> None:
    assert domains.LOSS.domain == "a number in [0, inf)"
    assert domains.LOSS_OR_INF.domain == "a number in [0, inf]"
    assert domains.ANY_LOSS.domain == "a number in [-inf, inf]"
    assert domains.REAL.domain == "a number in (-inf, inf)"
    assert domains.SHARE.domain == "a number in (0, 1]"
    assert domains.PRIOR.domain == "a number in (0, 1)"
    assert domains.EPSILON.domain == "0 or a number in [1e-300, 1000000] or inf"
    assert domains.COUNT.domain == "an integer in [1, inf)"


def test_a_choice_names_the_nearest_text() -> None:
    with pytest.raises(DomainError, match=r"^axes must be one of fdp, thesis, got 'thesi'\. Did you mean thesis\?$"):
        Choice("axes", "text", choices=("fdp", "thesis")).check("thesi")


def test_a_value_is_shown_on_one_line() -> None:
    assert value_text(np.zeros((2, 2))) == "array([[0., 0.], [0., 0.]])"
    assert value_text("a  b\nc") == repr("a  b\nc")
    assert value_text(10**5000).startswith("a number of ")

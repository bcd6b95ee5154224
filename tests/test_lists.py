"""Lists of numbers as typed: every value is the double one would have typed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.core.errors import DomainError, DpcoreError, ParseError
from dpcore.language.lists import MOST, parse_list


def check_one_line(error: DpcoreError) -> None:
    assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,0.5,1", [0, 0.5, 1]),
        (" 1 , 2 ", [1, 2]),
        ("-1,0", [-1, 0]),
        ("inf,-inf,0", [math.inf, -math.inf, 0]),
        ("0:0.3:0.1", [0, 0.1, 0.2, 0.3]),
        ("1:2:0.3", [1, 1.3, 1.6, 1.9]),
        ("-1:1:0.5", [-1, -0.5, 0, 0.5, 1]),
        ("3:1:-1", [3, 2, 1]),
        ("2:2:1", [2]),
        ("1e-3:3e-3:1e-3", [0.001, 0.002, 0.003]),
        ("1e-9..1e-2/8", [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]),
        ("1..4/3", [1, 2, 4]),
        ("1...1/2", [1, 0.1]),
        ("1e2..1e0/3", [100, 10, 1]),
        ("0,1:3:1,1e-2..1/3", [0, 1, 2, 3, 0.01, 0.1, 1]),
    ],
)
def test_values(text: str, expected: list[float]) -> None:
    assert parse_list(text).tolist() == expected


def test_a_range_holds_the_typed_decimals() -> None:
    values = parse_list("0:3:0.1")
    assert values.size == 31
    assert [repr(v) for v in values.tolist()] == [f"{i / 10:.1f}" for i in range(31)]


def test_the_end_of_a_range_is_decided_exactly() -> None:
    assert parse_list("0:0.7:0.1")[-1] == 0.7
    assert parse_list("0:0.69999999999999:0.1")[-1] == 0.6


def test_extreme_numbers() -> None:
    assert parse_list("0:1e300:1e299").tolist() == [float(f"{i}e299") for i in range(11)]
    assert parse_list("0:3e-300:1e-300").tolist() == [0, 1e-300, 2e-300, 3e-300]
    assert parse_list("1e-300..1e300/7")[3] == 1.0


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-200, 1e200), st.floats(1e-200, 1e200), st.integers(2, 40))
def test_log_spacing(first: float, last: float, count: int) -> None:
    values = parse_list(f"{first!r}..{last!r}/{count}")
    assert values[0] == first
    assert values[-1] == last
    by_numpy = np.geomspace(first, last, count)
    assert np.allclose(values, by_numpy, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",",
        "1,",
        "a",
        "nan",
        "1e400",
        "1e-400",
        "0:3",
        "0:3:0",
        "0:3:-1",
        "3:0:1",
        "0:inf:1",
        "0:1:0.1:2",
        "1..2",
        "1../3",
        "0..1/3",
        "-1..1/3",
        "1..2/1",
        "1..2/1.5",
        "1..2/-3",
        "1..2/٣",
        "١,٢",
        "1_0",
        "0x10",
        "1;2",
        "\x00",
        "0:1:1e-7",
        "1..2/1000001",
        "9" * 100_000,
        "1\n2",
    ],
)
def test_a_wrong_list_is_one_sentence(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_list(text)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert len(message) < 300
    assert message.endswith(".")


def test_the_cap_counts_all_pieces() -> None:
    assert parse_list(f"1:{MOST}:1").size == MOST
    with pytest.raises(ParseError, match="1000000 values"):
        parse_list(f"0,1:{MOST}:1")


def test_only_text() -> None:
    with pytest.raises(DomainError, match="type float"):
        parse_list(0.5)  # type: ignore[arg-type]  # the mistake under test


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="0123456789.,:/e-+inf ", max_size=20))
def test_fuzz(text: str) -> None:
    try:
        values = parse_list(text)
    except DpcoreError as error:
        check_one_line(error)
    else:
        assert not np.isnan(values).any()

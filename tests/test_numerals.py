"""The text of a number: short, and the same double again when it is read back."""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dpcore
from dpcore import parse
from dpcore.core.numerals import nearest, numeral
from dpcore.core.parameter import value_text
from dpcore.language.numbers import number

AWKWARD = [
    0.0, 1.0, 0.1 + 0.2, 1e-4, 1e-5, 1.5e-7, 5e-324, 2.2250738585072014e-308, 123456.75, 1e15, 1e16, 1e21, 1e22, 1e23,
    2.0**53 - 1, 2.0**53, 2.0**53 + 2, 9999999999999998.0, 1.7976931348623157e308, math.inf,
]  # fmt: skip


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"), (1, "1"), (0.0, "0"), (-2.0, "-2"), (100000.0, "100000"), (1e6, "1000000"), (1e15, "1000000000000000"), (1e16, "1e16"),
        (1e22, "1e22"), (1.5e300, "1.5e300"), (0.0001, "0.0001"), (1e-5, "1e-5"), (-1.25e-7, "-1.25e-7"), (5e-324, "5e-324"),
        (0.1 + 0.2, "0.30000000000000004"), (math.inf, "inf"), (-math.inf, "-inf"), (2**53 + 1, "9007199254740993"),
        (np.float64(2.0), "2"), (np.int64(7), "7"),
    ],
)  # fmt: skip
def test_the_form_is_what_people_type(value: float, text: str) -> None:
    assert numeral(value) == text


def check(value: float) -> None:
    text = numeral(value)
    assert bits(float(text)) == bits(value)
    assert len(text) <= len(repr(value))
    assert not re.search(r"\.0$|e\+|e-0", text)
    assert number(text) == value


@settings(max_examples=500, deadline=None)
@given(st.floats(allow_nan=False))
def test_a_numeral_reads_back_to_the_same_bits(value: float) -> None:
    check(value)


@pytest.mark.parametrize("value", [sign * x for x in AWKWARD for sign in (1, -1)])
def test_awkward_doubles_read_back_to_the_same_bits(value: float) -> None:
    check(value)


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-50, 1e50), st.floats(1e-50, 1e50))
@example(1e22, 1e16)
@example(0.1 + 0.2, 9007199254740994.0)
@example(2.0**53 + 2, 1e-5)
@example(math.inf, 1.0)
def test_the_text_of_a_region_gives_the_same_region_bit_for_bit(sigma: float, sensitivity: float) -> None:
    region = dpcore.gaussian(sigma, sensitivity)
    again = parse(str(region))
    assert again == region
    assert str(again) == str(region)
    assert bits(again.sigma) == bits(sigma)  # type: ignore[attr-defined]  # a field of this mechanism
    assert bits(again.sensitivity) == bits(sensitivity)  # type: ignore[attr-defined]  # likewise


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5))
@example([5e-324, 1e-5, 0.1 + 0.2, 0.0, 1.0])
def test_lists_read_back_bit_for_bit(rates: list[float]) -> None:
    region = dpcore.points([(rate, 1.0 - rate) for rate in rates])
    again = parse(str(region))
    assert again == region
    assert list(map(repr, map(tuple, again.points))) == list(map(repr, map(tuple, region.points)))  # type: ignore[attr-defined]  # its field


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        ("dp(1.0)", "dp(1)"),
        ("dp(1.0, 1e-05)", "dp(1, 1e-5)"),
        ("dp(1.00)^2", "dp(1)^2"),
        ("gaussian(1e+3)", "gaussian(1000)"),
    ],
)
def test_texts_in_other_forms_mean_the_same_region(typed: str, canonical: str) -> None:
    assert parse(typed) == parse(canonical)
    assert hash(parse(typed)) == hash(parse(canonical))
    assert str(parse(typed)) == canonical


def test_messages_write_numbers_in_the_same_form() -> None:
    assert value_text(2.0) == "2"
    assert value_text(1e-5) == "1e-5"
    assert value_text("2.0") == "'2.0'"  # what a person typed stays as it was typed


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (2.0, 6, "2"), (0.1 + 0.2, 6, "0.3"), (1e-5, 6, "1e-5"), (-1.25e-7, 2, "-1.2e-7"), (0.0001, 6, "0.0001"), (12345.0, 2, "12000"),
        (99999.9, 2, "100000"), (999999.9, 3, "1e6"), (1e22, 6, "1e22"), (1234567.0, 6, "1.23457e6"), (-0.0, 6, "0"),
        (math.inf, 6, "inf"), (-math.inf, 6, "-inf"), (1000, 2, "1000"),
    ],
)  # fmt: skip
def test_rounded_numbers_have_the_same_form(value: float, digits: int, text: str) -> None:
    assert nearest(value, digits) == text


@settings(max_examples=300, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 17))
def test_rounding_is_to_the_nearest(value: float, digits: int) -> None:
    text = nearest(value, digits)
    assert float(text) == float(f"{value:.{digits}g}")
    assert not re.search(r"\.\d*0$|\.\d*0e|e\+|e-0", text)


SOURCES = sorted((Path(__file__).resolve().parents[1] / "dpcore").rglob("*.py"))
NOT_FOR_READERS = {
    "numerals.py",
    "notebook.py",
    "svg.py",
    "sections.py",
    "words.py",
}  # the formatters, and coordinates of a drawing


def test_numbers_for_readers_are_written_by_one_formatter() -> None:
    """Python's own formats write 1e-05 and 1.23e+04; `nearest`, `outward` and `numeral` write what everything else writes."""
    found = [
        f"{path.name}:{number}: {line.strip()}"
        for path in SOURCES
        if path.name not in NOT_FOR_READERS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r":\.?\d*[ge,]\}", line) and 'float(f"' not in line and ">>>" not in line
    ]
    assert found == []

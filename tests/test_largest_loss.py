"""The largest loss of products and groups: never rounded below what was written, and delta is 0 from there on only."""

from __future__ import annotations

import math
from decimal import Decimal

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore import parse
from dpcore.curves.base import largest_loss
from dpcore.curves.bounded_range import BoundedRange
from dpcore.curves.combined import Grouped
from dpcore.regions import gate

PURE = [
    "dp(0.1)*dp(0.7)",
    "dp(0.3)^3",
    "laplace(0.1)*dp(0.7)",
    "laplace(0.1)*laplace(0.7)",
    "laplace(0.7)^3",
    "laplace(0.3)^3*dp(0.1)",
    "rr(0.6, 3)^3",
    "rr(0.1, 3)*rr(0.7, 3)*dp(1.1)",
    "group(dp(0.7), 3)",
    "group(laplace(0.6), 3)",
    "group(exponential(0.01), 100)",
    "group(exponential(0.3), 3)",
    pytest.param("exponential(0.3)^3", marks=pytest.mark.long),
    pytest.param("group(laplace(0.1)*dp(0.7), 3)", marks=pytest.mark.long),
    "dp(0.011)^300*laplace(0.1)",
]


@pytest.mark.parametrize("text", PURE)
def test_delta_is_zero_from_the_largest_loss_on_only(text):
    region = parse(text)
    top = region.curve.max_loss
    for at in (math.nextafter(top, 0.0), top * (1 - 3e-16), top * (1 - 1e-15)):
        assert gate.delta_bounds(region, np.array([at]))[1][0] > 0.0, at
    assert gate.delta_bounds(region, np.array([top]))[1][0] == 0.0
    assert gate.epsilon_bounds(region, np.array([0.0]))[1][0] == top


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("dp(0.1)*dp(0.7)", "0.8"),
        ("dp(0.3)^3", "0.9"),
        ("laplace(0.7)^3", "2.1"),
        ("group(dp(0.6), 3)", "1.8"),
        ("group(laplace(0.7), 3)", "2.1"),
        ("group(exponential(0.3), 3)", "0.9"),
        ("group(exponential(0.01), 100)", "1.0"),
    ],
)
def test_a_pure_statement_is_not_below_the_sum_of_what_was_written(text, written):
    """0.1 + 0.7 is 0.7999999999999999 in doubles: that was published as the epsilon of a pure statement."""
    assert parse(text).epsilon(0.0) == float(written)


@given(st.lists(st.tuples(st.decimals("0.0001", "9", places=4), st.integers(1, 1000)), min_size=1, max_size=5))
def test_the_largest_loss_holds_the_written_sum(parts):
    total = largest_loss((float(loss), count) for loss, count in parts)
    exact = sum((loss * count for loss, count in parts), Decimal(0))
    assert Decimal(repr(total)) >= exact
    assert float(exact) <= total <= float(exact) * (1 + 1e-15)


def test_losses_of_any_size_are_added():
    assert largest_loss([(math.inf, 2), (1.0, 1)]) == math.inf
    assert largest_loss([(1e-300, 3), (1e6, 1)]) > 1e6
    assert largest_loss([]) == 0.0


@pytest.mark.parametrize(("epsilon", "size"), [(0.01, 100), (0.1, 7), (1.0, 5), (2.0, 20)])
def test_a_group_by_its_orbit_holds_the_truth_up_to_its_end(epsilon, size):
    """The odds of a bounded range are multiplied by e^epsilon: its group is the bounded range of size * epsilon."""
    curve = Grouped(BoundedRange(epsilon), size)
    shares = np.array([0.0, 0.3, 0.9, 0.999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 1 - 1e-15, 1 - 2.0**-52])
    low, high = curve.delta_bounds(shares * size * epsilon)
    with mp.workdps(60):
        end = mp.mpf(epsilon) * size
        for share, lower, upper in zip(shares, low, high, strict=True):
            x = mp.mpf(float(share * size * epsilon))
            exact = (mp.exp(end / 2) - mp.exp(x / 2)) ** 2 / mp.expm1(end) if x < end else mp.mpf(0)
            assert mp.mpf(float(lower)) <= exact * (1 + mp.mpf("1e-30")), share
            assert exact <= mp.mpf(float(upper)), share
    assert np.all((high - low)[:4] <= 1e-8 * high[:4])

"""Epsilons of curves known by their powers: one maximum over the rates, beside closed forms and the search among deltas."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import parse
from dpcore.core.effort import effort
from dpcore.curves.base import Curve
from dpcore.curves.combined import Grouped
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.laplace import LaplaceCurve
from dpcore.curves.steepest_chord import largest_epsilon


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-9, 1e-60])
@pytest.mark.parametrize(
    ("base", "whole"),
    [
        (GaussianCurve(1.0), GaussianCurve(3.0)),
        (GaussianCurve(0.01), GaussianCurve(0.03)),
        (LaplaceCurve(0.7), LaplaceCurve(2.1)),
        (LaplaceCurve(30.0), LaplaceCurve(90.0)),
    ],
)
def test_groups_with_a_closed_form(base: Curve, whole: Curve, delta: float) -> None:
    if whole.delta_bounds(np.zeros(1))[1][0] <= delta:
        pytest.skip("epsilon is 0")
    (lower,), (upper,) = Grouped(base, 3).epsilon_bounds(np.array([delta]))
    truth = float(whole.epsilon_bounds(np.array([delta]))[1][0])
    assert lower <= truth * (1 + 1e-12)
    assert upper >= truth * (1 - 1e-12)
    assert upper - lower <= 1e-9 * truth


@pytest.mark.parametrize("text", ["group(poisson_gaussian(2, 0.5), 2)", "laplace(1) & gaussian(0.9)"])
@pytest.mark.parametrize("delta", [0.01, 1e-5, 1e-10])
def test_the_search_among_deltas_gives_the_same(text: str, delta: float) -> None:
    curve = parse(text).curve
    lower, upper = curve.epsilon_bounds(np.array([delta]))
    least, most = Curve.epsilon_bounds(curve, np.array([delta]))
    assert lower[0] <= most[0]
    assert least[0] <= upper[0]
    assert upper[0] - lower[0] <= 1e-6 * upper[0]
    assert curve.delta_bounds(upper)[0][0] <= delta * (1 + 1e-12)
    assert curve.delta_bounds(lower)[1][0] >= delta * (1 - 1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "group(bounded_laplace(1, 0, 10, 1), 2)",
        "group(thresholded_laplace(1, 20), 2)",
        "group(user_gaussian(1, 0.5, 2), 2)",
    ],
)
def test_groups_of_costly_curves_answer_soon(text: str) -> None:
    with effort(deadline=60.0):
        lower, upper = parse(text).epsilon_bounds([1e-5])
    assert 0.0 < lower[0] <= upper[0] <= lower[0] * (1 + 1e-5)


def test_wide_brackets_of_powers_stay_around_the_truth() -> None:
    curve, blur = GaussianCurve(1.0), 1e-4

    def powers(rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value = curve.power_bounds(rate)[0]
        return value * (1 - blur), np.minimum(value * (1 + blur), 1.0)

    for delta in (0.2, 1e-2, 1e-6):
        lower, upper = largest_epsilon(powers, delta, 1.0)
        truth = float(curve.epsilon_bounds(np.array([delta]))[1][0])
        assert lower <= truth <= upper
        assert math.isfinite(upper)
        assert upper - lower < 0.05

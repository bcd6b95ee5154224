"""Betas at kinks and epsilons from slow deltas: as narrow as asked, or refused with the width that was reached."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpcore
from dpcore import BudgetError, parse
from dpcore.core.effort import effort
from dpcore.curves.duality import _closer

KINKED = (
    "uniform(2) * laplace(1)",
    "laplace_vector(1, [0.5, 0.2, 0.1])",
    "poisson_gaussian(1, 0.1)^9",
    "symmetric(pmf([0.5, 0.5], [0.3, 0.7])) * laplace(1)",
    "geometric(1) * laplace(0.5)",
)


@pytest.mark.parametrize("text", KINKED)
def test_betas_at_kinks_are_narrow_and_no_gain_exceeds_them(text: str) -> None:
    """The supremum is at a kink of the profile for many alphas; gains tried on a fine grid stay below the ceiling."""
    region = parse(text)
    alpha = np.array([1e-3, 0.1, 0.2, 0.39, 0.5, 0.9])
    lower, upper = region.beta_bounds(alpha)
    assert (upper - lower <= 1e-6 * upper).all()
    grid = np.concatenate((np.linspace(-4.0, 4.0, 2001), [-1.0, -0.5, 0.5, 1.0]))
    least, most = region.curve.delta_bounds(grid)
    price = np.exp(grid)[:, None] * alpha
    assert (((1.0 - most)[:, None] - price).max(axis=0) <= upper * (1 + 1e-12)).all()
    assert (((1.0 - least)[:, None] - price).max(axis=0, initial=0.0) >= lower - 1e-4).all()


def test_a_union_is_the_hull_of_its_parts() -> None:
    """The lower convex hull of the points of both curves, taken on a fine grid, is what the duality finds."""
    corner = 1.0 / (1.0 + math.e)
    fine = np.unique(np.concatenate((np.linspace(0.0, 1.0, 20_001), np.linspace(0.2, 0.4, 20_001), [corner])))
    beta = np.minimum(dpcore.dp(1.0).beta(fine), dpcore.gdp(1.0).beta(fine))
    hull: list[int] = []
    for i in range(fine.size):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (beta[b] - beta[a]) * (fine[i] - fine[a]) < (beta[i] - beta[a]) * (fine[b] - fine[a]):
                break
            hull.pop()
        hull.append(i)
    alpha = np.array([0.05, 0.2, 0.25, 0.3, 0.35, 0.6])
    lower, upper = parse("union(dp(1), gdp(1))").beta_bounds(alpha)
    assert (upper - lower <= 1e-6 * upper).all()
    np.testing.assert_allclose(lower, np.interp(alpha, fine[hull], beta[hull]), rtol=2e-6)
    assert parse("union(dp(1), gdp(1))").beta(0.3) == pytest.approx(lower[3], rel=1e-6)


def test_rates_that_underflow_are_bracketed_by_the_smallest_numbers() -> None:
    lower, upper = parse("laplace(0.1)^1000000").beta_bounds(np.array([1e-10, 0.1, 0.5]))
    assert lower.tolist() == [0.0, 0.0, 0.0]
    assert ((upper > 0) & (upper < 1e-300)).all()


def test_the_ceiling_of_five_points_is_never_below_the_concave_function() -> None:
    """A function concave in e^x, known to a little; its maximum lies between what is returned."""
    rng = np.random.default_rng(11)
    for _ in range(200):
        slope, start = rng.uniform(0.1, 3.0, 2)

        def gain(x: np.ndarray, slope: float = slope, start: float = start) -> np.ndarray:
            y = np.exp(x)
            return np.minimum(start * y, start + slope * (1.0 - y))  # a kink at x = 0

        left, right = -rng.uniform(0.05, 1.0), rng.uniform(0.05, 1.0)
        best = rng.uniform(left, right)
        points = np.array([left, 0.5 * (left + best), best, 0.5 * (best + right), right])[:, None]
        error = 1e-9
        low, high, kept = _closer(points, gain(points) - error, gain(points) + error)
        assert low[0] <= start <= high[0]
        assert points[kept[0, 0], 0] <= 0.0 <= points[kept[2, 0], 0]


@pytest.mark.parametrize("text", ["exponential(0.1)^30", pytest.param("exponential(2)^12", marks=pytest.mark.long)])
def test_wide_brackets_are_refused_with_their_width(text: str) -> None:
    with pytest.raises(BudgetError, match=r"bracket of beta at alpha = 0\.1 reached the relative width"):
        parse(text).beta_bounds(np.array([0.1]))
    with effort(tolerance=0.05):
        lower, upper = parse(text).beta_bounds(np.array([0.1]))
    assert 0 < lower[0] <= upper[0] <= lower[0] * 1.06


@pytest.mark.long
def test_a_wide_epsilon_is_refused_with_its_width() -> None:
    with pytest.raises(BudgetError, match=r"bracket of epsilon at delta = 1e-6 reached the relative width"):
        parse("exponential(0.1)^30").epsilon_bounds(np.array([1e-6]))


@pytest.mark.parametrize("k", [2, 3])
def test_a_few_adaptive_choices_are_as_narrow_as_asked(k: int) -> None:
    at = np.array([0.0, 0.5, 1.0])
    with effort(tolerance=1e-4):
        rough_low, rough_high = dpcore.exponential(1.0).__pow__(k).delta_bounds(at)
    low, high = dpcore.exponential(1.0).__pow__(k).delta_bounds(at)
    assert (high - low <= 1e-6 * high).all()
    assert (rough_low <= high).all()
    assert (low <= rough_high).all()


@pytest.mark.parametrize("away", [0.5, 1.0, 2.0, 7.0])
def test_strong_laplace_powers_depend_on_the_distance_from_their_top_alone(away: float) -> None:
    """Beyond e^-400 the law of eps - L is the same for every eps: 600 is out of the splines' reach, 400 is not."""
    exact = dpcore.laplace(400.0) ** 3
    low, high = (dpcore.laplace(600.0) ** 3).delta_bounds(1800.0 - away)
    assert low[0] <= exact.delta(1200.0 - away) * (1 + 1e-9)
    assert high[0] >= exact.delta(1200.0 - away) * (1 - 1e-9)
    assert high[0] - low[0] <= 1e-6 * high[0]
    assert math.isclose(high[0], exact.delta(1200.0 - away), rel_tol=1e-6)


def test_one_rate_asked_many_times_is_one_answer() -> None:
    curve = parse("laplace_vector(7, [0.5, 1]) * geometric(0.001, 3)").curve
    many = curve.beta_bounds(np.full(200, 0.3))
    assert np.all(np.isfinite(many))
    assert [set(side.tolist()) for side in many] == [set(side.tolist()) for side in curve.beta_bounds(np.array([0.3]))]

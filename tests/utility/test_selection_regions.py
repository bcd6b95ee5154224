"""Regions of choices: the data at hand against every neighbour, by enumeration of the neighbours themselves."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dpcore.curves.polygon import Polygon
from dpcore.mechanisms.exponential import Exponential
from dpcore.regions.guarantees import DP, Pmf
from dpcore.utility import Dataset, pair
from dpcore.utility.inverse_sensitivity import QuantileInverse
from dpcore.utility.median import MedianExponential
from dpcore.utility.neighbourhood import RegionBound, hull, region_of_pairs
from dpcore.utility.picking import score_box
from dpcore.utility.quantile import QuantileExponential
from dpcore.utility.samples import sample
from dpcore.utility.winners import winners

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.regions.tradeoff import TradeOff

GRID = np.linspace(-1.5, 2.5, 41)
AGES = Dataset.example(201)


def largest_delta(first: np.ndarray, others: Iterable[np.ndarray]) -> np.ndarray:
    """Return the largest delta of all pairs in both directions, by its definition."""
    best = np.zeros(GRID.size)
    for second in others:
        for p, q in ((first, second), (second, first)):
            best = np.maximum(best, np.maximum(q - np.exp(GRID)[:, None] * p, 0.0).sum(axis=1))
    return best


def substituted(x: np.ndarray, values: Iterable[float]) -> Iterable[np.ndarray]:
    for i, v in itertools.product(range(len(x)), values):
        other = x.astype(float)
        other[i] = v
        if v != x[i]:
            yield other


@pytest.mark.parametrize("mechanism", [MedianExponential, QuantileInverse])
def test_region_on_a_line_is_the_largest_over_all_substitutions(mechanism: type) -> None:
    rng = np.random.default_rng(1)
    for _ in range(15):
        m, n, epsilon = int(rng.integers(2, 8)), int(rng.integers(1, 9)), float(rng.choice([0.3, 1.0, 3.0]))
        x = rng.integers(1, m + 1, n)
        chosen = mechanism(epsilon, size=m)
        if mechanism is QuantileInverse:
            chosen = chosen.but(level=float(rng.choice([0.1, 0.5, 0.8])))
        region = chosen.region_at(Dataset(x, 1, m))
        others = [chosen.chances(Dataset(y, 1, m)) for y in substituted(x, range(1, m + 1))]
        best = largest_delta(chosen.chances(Dataset(x, 1, m)), others)
        assert region.delta(GRID) == pytest.approx(best, abs=1e-14)
        assert region.kind == "exact"
        assert np.all(region.delta(GRID) <= chosen.region.delta(GRID) + 1e-15)


@pytest.mark.parametrize("name", ["majority_exponential", "majority_inverse"])
def test_region_of_the_majority(name: str) -> None:
    chosen = pair(name, epsilon=0.7)
    for n, s in ((1, 0), (4, 2), (5, 2), (7, 7)):
        x = np.array([1] * s + [0] * (n - s))
        others = [chosen.chances(Dataset(y, 0, 1)) for y in substituted(x, (0, 1))]
        region = chosen.region_at(Dataset(x, 0, 1))
        assert region.delta(GRID) == pytest.approx(largest_delta(chosen.chances(Dataset(x, 0, 1)), others), abs=1e-14)
        assert np.all(region.delta(GRID) <= chosen.region.delta(GRID) + 1e-15)


def test_the_majority_without_one_half_uses_the_whole_epsilon() -> None:
    close = Dataset([1] * 4 + [0] * 3, 0, 1)
    assert pair("majority_inverse", epsilon=0.7).region_at(close).total_variation == pytest.approx(
        math.tanh(0.35), rel=1e-12
    )
    exponential = pair("majority_exponential", epsilon=0.7).region
    assert exponential.total_variation == pytest.approx(math.tanh(0.175), rel=1e-12)
    lower, upper = exponential.delta_bounds(GRID[GRID >= 0])
    assert np.all(lower <= upper)
    assert lower[0] == pytest.approx(upper[0], rel=1e-9)  # reached at the middle


@pytest.mark.parametrize("name", ["mode_exponential", "mode_permute", "mode_laplace"])
@pytest.mark.parametrize("relation", ["substitution", "add/remove"])
def test_region_of_the_most_common_value(name: str, relation: str) -> None:
    codes = np.array([0, 0, 0, 1, 1, 3])
    chosen = pair(name, epsilon=0.9, neighbours=relation)
    names = ("a", "b", "c", "d")
    if relation == "substitution":
        sets = list(substituted(codes, range(4)))
    else:
        sets = [np.delete(codes, i) for i in range(6)] + [np.append(codes, v) for v in range(4)]
    others = [chosen.chances(Dataset.coded(y, names)) for y in sets]
    data = Dataset.coded(codes, names)
    region = chosen.region_at(data)
    assert region.delta(GRID) == pytest.approx(largest_delta(chosen.chances(data), others), abs=1e-13)
    assert region.neighbours == relation
    assert np.all(region.delta(GRID) <= chosen.region.delta(GRID) + 1e-15)


@pytest.mark.parametrize("noise", ["gumbel", "exponential", "laplace"])
def test_region_of_given_scores_is_the_largest_over_the_box(noise: str) -> None:
    rng = np.random.default_rng(3)
    scores, epsilon = np.array([2.0, 1.5, 0.3]), 1.0
    moves = [np.array(corner) for corner in itertools.product((-1.0, 0.0, 1.0), repeat=3)]
    moves += list(rng.uniform(-1.0, 1.0, (60, 3)))
    others = [winners((scores + move) * epsilon / 2, noise) for move in moves]
    region = score_box(scores * epsilon / 2, epsilon, noise, epsilon)
    best = largest_delta(winners(scores * epsilon / 2, noise), others)
    assert region.delta(GRID) == pytest.approx(best, abs=1e-13)  # a corner of the box is the worst
    stated: TradeOff = Exponential(epsilon) if noise == "gumbel" else DP(epsilon)
    assert np.all(region.delta(GRID) <= stated.delta(GRID) + 1e-15)


def test_corners_of_the_exponential_mechanism_lie_on_the_bounded_range_curve() -> None:
    alpha, beta = pair("scores_exponential", epsilon=1.0).region_at(AGES).vertices()
    assert beta == pytest.approx(Exponential(1.0).beta(alpha), abs=1e-13)


def test_too_many_candidates_or_neighbours_give_the_bound() -> None:
    many = pair("scores_laplace", scores=tuple(range(9)))
    assert many.region_at(AGES).kind == "upper"
    assert many.region_at(AGES).text == "dp(0.5)"
    assert pair("mode_laplace", bins=50).region_at(AGES).kind == "upper"
    assert pair("mode_exponential", bins=50).region_at(AGES).kind == "exact"


def _steps(x: np.ndarray, level: float, epsilon: float, edges: np.ndarray) -> np.ndarray:
    count = np.searchsorted(np.sort(x), (edges[1:] + edges[:-1]) / 2)
    mass = np.diff(edges) * np.exp(-epsilon / 2 * np.abs(count - level * len(x)))
    return np.asarray(mass / mass.sum())


def test_region_of_a_continuous_quantile_brackets_all_substitutions() -> None:
    rng = np.random.default_rng(11)
    for _ in range(40):
        n, epsilon = int(rng.integers(1, 6)), float(rng.choice([0.1, 1.0, 4.0]))
        level = float(rng.choice([0.5, 0.25, 0.9, rng.uniform(0.02, 0.98)]))
        x = np.round(rng.uniform(0.0, 3.0, n), int(rng.integers(0, 2)))
        best = np.zeros(GRID.size)
        for y in substituted(x, np.unique(np.concatenate((np.linspace(0.0, 3.0, 25), x)))):
            edges = np.unique(np.concatenate(([0.0, 3.0], x, y)))
            first, second = (_steps(z, level, epsilon, edges) for z in (x, y))
            best = np.maximum(best, largest_delta(first, [second]))
        chosen = QuantileExponential(epsilon, level)
        lower, upper = chosen.region_at(Dataset(x, 0, 3)).delta_bounds(GRID)
        assert np.all(upper >= best - 1e-14)
        assert np.all(lower <= upper)
        assert np.max(upper - lower) <= 1e-4
        assert np.max(lower - best) <= 0.02  # the values tried leave gaps
        assert np.all(upper <= chosen.region.delta(GRID) + 1e-4)


def test_hull_keeps_small_masses() -> None:
    p, q = np.array([1e-30, 0.4, 0.6 - 1e-30]), np.array([5e-30, 0.5, 0.5 - 5e-30])
    region = hull(*_points(p, q))
    assert float(region.delta_bounds(np.array([math.log(3.0)]))[1][0]) == pytest.approx(2e-30, rel=1e-12)
    assert region.max_loss == pytest.approx(math.log(5.0), rel=1e-12)


def _points(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    forward = np.cumsum(p), np.cumsum(q)
    backward = np.cumsum(q[::-1]), np.cumsum(p[::-1])
    return np.concatenate((forward[0], backward[0])), np.concatenate((forward[1], backward[1]))


def test_hull_of_one_pair_is_its_closure_and_of_equal_laws_nothing() -> None:
    p, q = (0.2, 0.3, 0.4, 0.1), (0.1, 0.5, 0.2, 0.2)
    curve = region_of_pairs(np.array(p), np.array(q))
    assert curve.delta_bounds(GRID)[1] == pytest.approx(Pmf(p, q).delta(GRID), abs=1e-15)
    assert region_of_pairs(np.array(p), np.array(p)).delta_bounds(GRID[GRID >= 0])[1].max() == 0.0
    disjoint = region_of_pairs(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    assert disjoint.q_inf == 0.5


def test_a_bound_says_so_and_can_be_linked() -> None:
    bound = RegionBound(DP(1.0), "why", "any")
    assert (bound.kind, bound.text, bound.theorem, bound.neighbours) == ("upper", "dp(1)", "why", "any")
    assert bound.delta(0.5) == DP(1.0).delta(0.5)
    assert pair("threshold_list", epsilon=2.0).region.text == "dp(2)"
    assert pair("scores_exponential").region.kind == "exact"


def test_large_alphabets_approach_the_bounded_range_region() -> None:
    region = MedianExponential(0.05, 300).region_at(Dataset.example())
    assert 0.98 * math.tanh(0.0125) < region.total_variation <= math.tanh(0.0125)


def test_the_masses_of_a_region_at_hand_are_those_of_one_law() -> None:
    """Mirror images of the best test seemed to gain more by rounding: masses added up to 1.87."""
    curve = pair("mode_exponential").region_at(sample("ages.age")).curve
    assert isinstance(curve, Polygon)
    assert curve.p.sum() + curve.p_inf == pytest.approx(1.0, abs=1e-14)
    rate = np.array([0.025])
    assert curve.beta_bounds(rate)[0][0] == pytest.approx(1.0 - curve.power_bounds(rate)[1][0], abs=1e-14)
    rng = np.random.default_rng(7)
    for _ in range(200):
        p, q = rng.dirichlet(np.full(9, 0.3), (2, 3))
        curve = region_of_pairs(p, q)
        assert curve.p.sum() + curve.p_inf == pytest.approx(1.0, abs=1e-14)

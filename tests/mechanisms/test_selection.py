"""Selection: every region beside the chances of all choices, by enumeration, quadrature and recursion."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest

from dpcore import (
    above_threshold,
    exponential,
    laplace_sum,
    noisy_max_laplace,
    partition_selection,
    permute_and_flip,
    thresholded_laplace,
    top_k,
)
from dpcore.core.effort import effort
from dpcore.mechanisms.above_threshold import stream_chances

NODE, WEIGHT = np.polynomial.legendre.leggauss(24)
LOSSES = (0.0, 0.2, 0.5, 0.8, 0.97)


def worst(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    """Return delta of two lists of chances, the larger of both directions."""
    grow = math.exp(epsilon)
    return float(max(np.maximum(q - grow * p, 0.0).sum(), np.maximum(p - grow * q, 0.0).sum()))


def flips(scores: np.ndarray, epsilon: float) -> np.ndarray:
    """Return the chances of permute-and-flip over all orders, for sensitivity 1."""
    accept = np.exp(epsilon * (scores - scores.max()) / 2)
    chances = np.zeros(scores.size)
    orders = list(permutations(range(scores.size)))
    for order in orders:
        left = 1.0
        for candidate in order:
            chances[candidate] += left * accept[candidate] / len(orders)
            left *= 1 - accept[candidate]
    return chances


def wins(scores: np.ndarray, epsilon: float) -> np.ndarray:
    """Return the chances of the largest score with Laplace noise of scale 2 / epsilon, by quadrature."""
    scale = 2 / epsilon
    edges = np.unique(np.concatenate((np.arange(-60.0, 60.0, 0.5) * scale, scores)))
    half = np.diff(edges)[:, None] / 2
    x = (edges[:-1, None] + half + half * NODE).ravel()
    away = (x - scores[:, None]) / scale
    density = np.exp(-np.abs(away)) / 2
    below = np.where(away < 0, density, 1 - density)
    mass = (half * WEIGHT).ravel() / scale
    others = [np.prod(np.delete(below, candidate, axis=0), axis=0) for candidate in range(scores.size)]
    return np.array([mass @ (own * other) for own, other in zip(density, others, strict=True)])


def tables(seed: int, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return random tables of two to four scores and neighbours, all of whose scores move by at most 1."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        scores = rng.normal(0.0, 2.0, rng.integers(2, 5))
        moves = rng.choice((-1.0, 1.0), scores.size) if rng.random() < 0.7 else rng.uniform(-1, 1, scores.size)
        found.append((scores, scores + moves))
    return found


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 3.0])
def test_no_table_of_scores_beats_the_regions(epsilon: float) -> None:
    for chances, region in ((flips, permute_and_flip(epsilon)), (wins, noisy_max_laplace(epsilon))):
        for scores, moved in tables(5, 60):
            p, q = chances(scores, epsilon), chances(moved, epsilon)
            assert abs(p.sum() - 1) < 1e-10
            for share in LOSSES:
                assert worst(p, q, share * epsilon) <= region.delta(share * epsilon) + 1e-11


def test_two_candidates_attain_the_whole_curve_of_permute_and_flip() -> None:
    region = permute_and_flip(1.2)
    for loss in (0.0, 0.3, 0.9, 1.1):
        best = max(
            worst(flips(np.array([0.0, gap]), 1.2), flips(np.array([1.0, gap - 1.0]), 1.2), loss)
            for gap in np.linspace(-4.0, 6.0, 2001)
        )
        assert region.delta(loss) * (1 - 1e-5) <= best <= region.delta(loss) * (1 + 1e-12)


def test_two_candidates_with_laplace_noise_are_a_sum_of_two_noises() -> None:
    inner = laplace_sum(1.0)
    for loss in (0.0, 0.4, 0.8):
        best = max(
            worst(wins(np.array([0.0, gap]), 1.0), wins(np.array([1.0, gap - 1.0]), 1.0), loss)
            for gap in np.linspace(-1.0, 21.0, 221)
        )
        assert inner.delta(loss) * (1 - 1e-2) <= best <= inner.delta(loss) * (1 + 1e-9)
        assert noisy_max_laplace(1.0).delta_bounds(loss)[0][0] == pytest.approx(inner.delta(loss), rel=1e-12)


def test_repeated_choices_are_bracketed_by_two_candidates() -> None:
    region = permute_and_flip(1.0) ** 8
    p, q = flips(np.array([0.0, 1.0]), 1.0), flips(np.array([1.0, 0.0]), 1.0)
    rows = [(math.prod(p[list(c)]), math.prod(q[list(c)])) for c in np.ndindex(*(2,) * 8)]
    attained = worst(*np.array(rows).T, 1.0)
    lower, upper = (float(side[0]) for side in region.delta_bounds(1.0))
    assert lower == pytest.approx(attained, rel=1e-9)
    assert attained < upper


@pytest.mark.parametrize(("first", "second"), [(0.5, 0.5), (0.2, 1.0), (1.0, 0.3), (2.0, 2.0)])
def test_no_stream_beats_above_threshold(first: float, second: float) -> None:
    region = above_threshold(first + second, first / (first + second))
    rng = np.random.default_rng(9)
    for _ in range(25):
        p, q = stream_chances(first, second, int(10 ** rng.uniform(0, 2.5)), float(rng.normal(0, 2)))
        assert abs(p.sum() - 1) < 1e-12
        for share in LOSSES:
            assert worst(p, q, share * (first + second)) <= region.delta(share * (first + second)) + 1e-11


def stops(answers: np.ndarray, first: float, second: float) -> np.ndarray:
    """Return the chances of every place to stop in a stream of any answers, and of none; the threshold is 0."""
    wide, narrow = 1 / first, 2 / second
    reach = 45 * max(wide, narrow) + np.abs(answers).max()
    edges = np.unique(np.concatenate((np.arange(-reach, reach, 0.2 * min(wide, narrow)), answers, [0.0])))
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + half + half * NODE).ravel()
    left = (half * WEIGHT).ravel() * np.exp(-np.abs(z) / wide) / (2 * wide)
    chances = []
    for answer in answers:
        away = (z - answer) / narrow
        below = np.where(away < 0, np.exp(-np.abs(away)) / 2, 1 - np.exp(-np.abs(away)) / 2)
        chances.append(np.sum(left * (1 - below)))
        left = left * below
    return np.array([*chances, left.sum()])


@pytest.mark.parametrize(("first", "second"), [(0.5, 0.5), (0.2, 1.0), (1.0, 0.3)])
def test_no_stream_of_any_answers_and_moves_beats_above_threshold(first: float, second: float) -> None:
    region, epsilon = above_threshold(first + second, first / (first + second)), first + second
    rng = np.random.default_rng(31)
    for _ in range(25):
        answers = rng.normal(0.0, rng.uniform(0.5, 6.0), rng.integers(1, 9))
        moves = rng.choice((-1.0, 0.0, 1.0), answers.size, p=(0.45, 0.1, 0.45))
        p, q = stops(answers, first, second), stops(answers + moves, first, second)
        assert abs(p.sum() - 1) < 1e-10
        for share in LOSSES:
            assert worst(p, q, share * epsilon) <= region.delta(share * epsilon) + 1e-11


def test_the_loss_of_above_threshold_is_attained_in_the_limit() -> None:
    """After many queries that did not stop the threshold is high: the last loss comes near epsilon."""
    p, q = stream_chances(0.5, 0.5, 10**6, 0.0)
    assert 0.99 < abs(math.log(q[1]) - math.log(p[1])) <= 1.0 + 1e-9


def test_streams_by_simulation() -> None:
    rng = np.random.default_rng(3)
    size = 400_000
    z = rng.laplace(0.0, 1 / 0.7, size)
    early = rng.laplace(0.0, 2 / 0.9, (4, size)).max(axis=0) - 0.5 * 2 / 0.9 >= z
    last = rng.laplace(0.0, 2 / 0.9, size) + 0.5 * 2 / 0.9 >= z
    seen = np.array([early.mean(), (~early & last).mean(), (~early & ~last).mean()])
    np.testing.assert_allclose(seen, stream_chances(0.7, 0.9, 4, 0.5)[0], atol=4e-3)


@pytest.mark.parametrize(("epsilon", "delta"), [(math.log(2), 0.1), (1.0, 1e-5), (0.3, 1e-3), (2.0, 0.4), (0.0, 0.07)])
def test_partition_selection_is_the_union_over_all_sizes(epsilon: float, delta: float) -> None:
    keep = [0.0]
    while keep[-1] < 1 and len(keep) < 10_000:
        last = keep[-1]
        keep.append(min(math.exp(epsilon) * last + delta, 1 - math.exp(-epsilon) * (1 - last - delta), 1.0))
    region = partition_selection(epsilon, delta)
    for loss in (0.0, 0.1, 0.29, 0.7, 1.5, 2.5):
        true = max(worst(np.array([p, 1 - p]), np.array([q, 1 - q]), loss) for p, q in pairwise(keep))
        assert region.delta(loss) == pytest.approx(true, rel=1e-9)


def test_thresholded_counts() -> None:
    epsilon, cut = 0.8, 5.0
    region = thresholded_laplace(epsilon, cut)
    edges = np.concatenate((np.arange(cut, cut + 60.0, 0.25), [np.inf]))

    def cells(people: int) -> np.ndarray:
        if people == 0:
            return np.append(1.0, np.zeros(edges.size - 1))
        away = epsilon * (edges - people)
        tail = np.where(away >= 0, np.exp(-np.abs(away)) / 2, 1 - np.exp(-np.abs(away)) / 2)
        return np.append(1 - tail[0], -np.diff(tail))

    for loss in (0.0, 0.3, 0.79, 2.0):
        seen = [worst(cells(n), cells(n + 1), loss) for n in (*range(12), 40)]
        assert max(seen) <= region.delta(loss) * (1 + 1e-9)
        assert max(seen) >= 0.97 * region.delta(loss)


def orders(scores: np.ndarray, epsilon: float, k: int) -> np.ndarray:
    """Return the chances of all ordered lists of k candidates, chosen one after the other without replacement."""
    weight = np.exp(epsilon * (scores - scores.max()) / 2)
    chances = []
    for chosen in permutations(range(scores.size), k):
        taken = np.concatenate(([0.0], np.cumsum(weight[list(chosen)])[:-1]))
        chances.append(np.prod(weight[list(chosen)] / (weight.sum() - taken)))
    return np.array(chances)


@pytest.mark.parametrize(("epsilon", "k"), [(1.0, 1), (0.5, 2), pytest.param(2.0, 3, marks=pytest.mark.long)])
def test_no_table_of_scores_beats_top_k(epsilon: float, k: int) -> None:
    at = np.array([0.0, 0.3, 0.8, 0.95]) * k * epsilon
    with effort(tolerance=1e-2):
        bounds = top_k(epsilon, k).delta(at)
    rng = np.random.default_rng(7)
    for _ in range(200):
        scores = rng.normal(0.0, rng.uniform(0.2, 4.0) / epsilon, rng.integers(k, 6))
        moved = scores + rng.choice((-1.0, 1.0), scores.size)
        p, q = orders(scores, epsilon, k), orders(moved, epsilon, k)
        assert p.sum() == pytest.approx(1.0)
        for loss, bound in zip(at, bounds, strict=True):
            assert worst(p, q, loss) <= bound * (1 + 1e-9)


@pytest.mark.long
def test_top_k_is_the_exponential_mechanism_repeated() -> None:
    assert top_k(0.5, 3).delta(0.7) == (exponential(0.5) ** 3).delta(0.7)
    with effort(tolerance=1e-3):
        assert (top_k(0.5, 3) ** 2).delta(0.7) == (exponential(0.5) ** 6).delta(0.7)
    # one draw of Gumbel noise orders the candidates as choices without replacement do
    rng = np.random.default_rng(1)
    scores = np.array([0.0, 1.0, 2.5])
    noisy = scores * 0.5 / 2 + rng.gumbel(0.0, 1.0, (200_000, 3))
    order = np.argsort(-noisy, axis=1)[:, :2]
    weight = np.exp(scores * 0.5 / 2)
    for first, second in combinations(range(3), 2):
        true = weight[first] / weight.sum() * weight[second] / (weight.sum() - weight[first])
        assert np.mean((order[:, 0] == first) & (order[:, 1] == second)) == pytest.approx(true, abs=5e-3)


@pytest.mark.long
@pytest.mark.parametrize("k", [2, 3])
def test_an_epsilon_of_top_k_is_within_the_tolerance(k: int) -> None:
    low, high = (float(side[0]) for side in top_k(1, k).epsilon_bounds([1e-6]))
    assert 0 < low <= high <= min(k, low * (1 + 1e-6))

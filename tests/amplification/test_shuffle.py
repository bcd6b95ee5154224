"""Shuffled answers: beside every dataset of few people, beside published bounds for many."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

from dpcore import dp, gaussian, geometric, laplace, poisson_gaussian, rr, shuffle
from dpcore.core.errors import DomainError, RelationError

Histogram = dict[tuple[int, ...], float]


def mixed(rows: list[np.ndarray]) -> Histogram:
    """Return the law of the histogram of answers, one with each of these laws."""
    law: Histogram = {(0,) * rows[0].size: 1.0}
    for row in rows:
        more: Histogram = {}
        for counts, chance in law.items():
            for answer, own in enumerate(row):
                key = (*counts[:answer], counts[answer] + 1, *counts[answer + 1 :])
                more[key] = more.get(key, 0.0) + chance * own
        law = more
    return law


def exact(channel: np.ndarray, people: int, epsilon: float) -> float:
    """Return delta over all datasets: two inputs of one person, and all inputs of the others."""
    grow, worst = math.exp(epsilon), 0.0
    for others in combinations_with_replacement(range(len(channel)), people - 1):
        laws = [mixed([channel[x], *(channel[other] for other in others)]) for x in range(len(channel))]
        for p in laws:
            for q in laws:
                worst = max(worst, sum(max(0.0, chance - grow * p[key]) for key, chance in q.items()))
    return worst


def responses(epsilon: float, size: int) -> np.ndarray:
    """Return the channel of randomized response."""
    weights = np.ones((size, size)) + np.expm1(epsilon) * np.eye(size)
    return weights / weights.sum(axis=1, keepdims=True)


def random_channel(epsilon: float, inputs: int, outputs: int, seed: int) -> np.ndarray:
    """Return a channel all of whose losses are at most epsilon, with as many at the limit as it has."""
    rng = np.random.default_rng(seed)
    base = rng.dirichlet(np.ones(outputs))
    factor = np.exp(epsilon * rng.integers(0, 2, (inputs, outputs)) / 2)
    rows = base * factor
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("people", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("local", [0.5, 1.0, 2.0])
def test_randomized_response_of_few_people(people: int, local: float) -> None:
    region = shuffle(rr(local), people)
    for share in (0.0, 0.3, 0.8):
        lower, upper = (float(side[0]) for side in region.delta_bounds(share * local))
        true = exact(responses(local, 2), people, share * local)
        assert lower <= true * (1 + 1e-12) + 1e-15
        assert true <= upper * (1 + 1e-12)
        assert upper <= 1.25 * true


@pytest.mark.parametrize("people", [2, 4])
def test_other_channels_of_few_people(people: int) -> None:
    channels = [responses(1.0, 3), responses(1.0, 4), *(random_channel(1.0, 3, 4, seed) for seed in range(6))]
    for channel in channels:
        loss = float(np.max(np.log(channel.max(axis=0) / channel.min(axis=0))))
        assert loss <= 1.0 + 1e-12
        region = shuffle(dp(loss), people)
        for share in (0.0, 0.4, 0.9):
            assert exact(channel, people, share * loss) <= region.delta(share * loss) * (1 + 1e-12)


def first_published(local: float, people: int, delta: float) -> float:
    """Feldman, McMillan, Talwar 2021, Theorem 3.1; inf outside its domain."""
    if local > math.log(people / (16 * math.log(2 / delta))):
        return math.inf
    grow = math.exp(local)
    inner = 8 * math.sqrt(grow * math.log(4 / delta) / people) + 8 * grow / people
    return math.log1p((grow - 1) / (grow + 1) * inner)


def second_published(local: float, people: int, delta: float) -> float:
    """Feldman, McMillan, Talwar 2023, Theorem 3.2 in closed form; inf outside its domain."""
    room = people / (8 * math.log(2 / delta)) - 1
    if room <= 0 or local > math.log(room):
        return math.inf
    grow = math.exp(local)
    return math.log1p((grow - 1) * (4 * math.sqrt(2 * math.log(4 / delta) / ((grow + 1) * people)) + 4 / people))


@pytest.mark.parametrize("people", [10**3, 10**4, 10**5, 10**6])
def test_never_above_published_bounds(people: int) -> None:
    compared = 0
    for local in (0.2, 1.0, 3.0):
        for delta in (1e-5, 1e-10):
            published = min(first_published(local, people, delta), second_published(local, people, delta))
            if math.isinf(published):
                continue
            lower, upper = (float(side[0]) for side in shuffle(dp(local), people).epsilon_bounds(np.array([delta])))
            assert 0 <= lower <= upper < published
            compared += 1
    assert compared >= 3


def test_more_people_hide_more_and_the_channel_is_the_limit() -> None:
    values = [shuffle(laplace(1), people).delta(0.2) for people in (1, 2, 10, 100, 1000)]
    assert values == sorted(values, reverse=True)
    assert shuffle(laplace(1), 1).delta(0.2) == pytest.approx(dp(1).delta(0.2), rel=1e-12)
    assert shuffle(dp(0), 10).delta(0.0) == 0.0
    assert shuffle(dp(1), 50).delta(1.0) == 0.0


def test_regions_of_equal_losses_share_their_bound() -> None:
    assert shuffle(geometric(1), 40).delta(0.1) == shuffle(laplace(1), 40).delta(0.1)


def test_what_has_no_largest_loss_is_refused() -> None:
    with pytest.raises(DomainError, match="needs a region with a largest loss"):
        _ = shuffle(gaussian(1), 100).curve
    with pytest.raises(DomainError, match="needs a region with a largest loss"):
        _ = shuffle(dp(1, 1e-6), 100).curve
    with pytest.raises(RelationError):
        _ = shuffle(poisson_gaussian(1, 0.1), 100).curve

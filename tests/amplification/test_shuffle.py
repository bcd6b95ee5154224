"""Shuffled answers: beside every dataset of few people, beside published bounds for many."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import binom

from dpcore import dp, gaussian, geometric, laplace, poisson_gaussian, rr, shuffle
from dpcore.core.effort import effort
from dpcore.core.errors import DomainError, RelationError
from dpcore.curves.shuffled import Shuffled
from dpcore.curves.shuffled_responses import ShuffledResponses

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


@pytest.mark.parametrize("people", [1, 2, 3, 4, 5, 8, *(pytest.param(n, marks=pytest.mark.long) for n in (6, 7))])
@pytest.mark.parametrize("local", [0.5, 1.0, 2.0])
def test_randomized_response_of_few_people(people: int, local: float) -> None:
    region = shuffle(rr(local), people)
    for share in (0.0, 0.3, 0.8):
        true = exact(responses(local, 2), people, share * local)
        assert region.kind == "exact"
        assert region.delta(share * local) == pytest.approx(true, rel=1e-11)
        lower, upper = (float(side[0]) for side in shuffle(dp(local), people).delta_bounds(share * local))
        assert lower <= true * (1 + 1e-12) + 1e-15
        assert true <= upper * (1 + 1e-12)
        assert upper <= 1.25 * true


def counted(local: float, people: int, epsilon: float) -> mp.mpf:
    """Return delta of randomized response, the largest over all numbers of others with one truth, in 40 digits."""
    grow, truth = mp.exp(mp.mpf(epsilon)), 1 / (1 + mp.exp(-mp.mpf(local)))
    worst = mp.mpf(0)
    for first in range(people):
        chances = [truth] * first + [1 - truth] * (people - 1 - first)
        count = [mp.mpf(1)]
        for chance in chances:
            ends = [mp.mpf(0), *count, mp.mpf(0)]
            count = [chance * ends[i] + (1 - chance) * ends[i + 1] for i in range(len(ends) - 1)]
        ends = [mp.mpf(0), *count, mp.mpf(0)]
        p, q = (
            [chance * ends[i] + (1 - chance) * ends[i + 1] for i in range(people + 1)] for chance in (truth, 1 - truth)
        )
        worst = max(worst, mp.fsum(max(mp.mpf(0), a - grow * b) for a, b in zip(p, q, strict=True)))
    return worst


@pytest.mark.parametrize(("local", "people"), [(0.3, 12), (1.0, 40), (4.0, 25)])
def test_randomized_response_of_more_people(local: float, people: int) -> None:
    region = shuffle(rr(local), people)
    with mp.workdps(40):
        for share in (0.0, 0.02, 0.2, 0.6, 0.95, 0.999):
            true = counted(local, people, share * local)
            assert abs(region.delta(share * local) / true - 1) < 1e-10


def listed(local: float, people: int, epsilon: float) -> float:
    """Return delta of randomized response by listing the count of answers for every number of others with one truth."""
    truth = 1 / (1 + math.exp(-local))
    worst = 0.0
    for first in range(people):
        heads, tails = np.arange(first + 1), np.arange(people - first)
        count = np.convolve(binom.pmf(heads, first, truth), binom.pmf(tails, people - 1 - first, 1 - truth))
        p, q = (np.convolve(count, (1 - chance, chance)) for chance in (1 - truth, truth))
        worst = max(worst, float(np.sum(np.maximum(q - math.exp(epsilon) * p, 0.0))))
    return worst


@pytest.mark.parametrize(("local", "people"), [(1.0, 2), (0.3, 12), (1.0, 40), (4.0, 25)])
def test_the_search_agrees_with_forty_digits(local: float, people: int) -> None:
    curve = ShuffledResponses(local, people)
    with mp.workdps(40):
        for share in (0.0, 0.02, 0.2, 0.6, 0.95, 0.999):
            low, high = (float(side[0]) for side in curve.delta_bounds(np.array([share * local])))
            true = counted(local, people, share * local)
            assert low <= true <= high
            assert high <= low * (1 + 1e-10)


@pytest.mark.parametrize(("local", "people"), [(1.0, 201), (0.05, 400), (3.0, 601), (6.0, 333)])
def test_randomized_response_of_hundreds(local: float, people: int) -> None:
    region = shuffle(rr(local), people)
    for share in (0.0, 0.001, 0.03, 0.2):
        low, high = (float(side[0]) for side in region.delta_bounds(share * local))
        true = listed(local, people, share * local)
        assert low * (1 - 1e-9) <= true <= high * (1 + 1e-9)
        assert high <= low * (1 + 1e-6)


@pytest.mark.parametrize("people", [10**3, 10**4, 10**5, 10**6])
def test_many_people_lie_between_one_dataset_and_the_worst_channel(people: int) -> None:
    region, bound = shuffle(rr(1), people), shuffle(dp(1), people)
    low, high = (side[0] for side in region.epsilon_bounds([1e-6]))
    assert high <= low * (1 + 1e-6)
    assert high < bound.epsilon(1e-6)
    # all others have the same truth: one binomial count
    truth = 1 / (1 + math.exp(-1))
    grow = math.exp(high)
    spread = math.sqrt(people * truth * (1 - truth))
    heads = np.arange(max(0, int(people * truth - 30 * spread)), min(people, int(people * truth + 30 * spread)) + 1)
    others = [binom.pmf(heads - one, people - 1, truth) for one in (0, 1)]
    for ahead, behind in ((truth, 1 - truth), (1 - truth, truth)):
        p, q = ((1 - chance) * others[0] + chance * others[1] for chance in (ahead, behind))
        assert float(np.sum(np.maximum(q - grow * p, 0.0))) <= 1e-6 * (1 + 1e-9)


def test_betas_of_the_search_are_those_of_the_polygon() -> None:
    polygon, curve = rr(1)._union(60), ShuffledResponses(1.0, 60)
    alpha = np.array([0.0, 1e-9, 1e-4, 0.01, 0.1, 0.3, 0.45, 0.5, 0.7, 0.9, 0.99, 0.99999, 1.0])
    low, high = curve.beta_bounds(alpha)
    true = polygon.beta_bounds(alpha)[0]
    assert np.all((low <= true) & (true <= high))
    assert np.all(high - low <= 1e-6 * np.maximum(true, 1e-12))
    region = shuffle(rr(1), 5000)
    below, above = region.beta_bounds([0.01, 0.2])
    assert np.all((below <= above) & (above <= below * (1 + 1e-6)))


@pytest.mark.parametrize(("size", "people"), [(3, 2), (3, 5), (3, 8), (4, 4), (5, 3), (6, 3)])
@pytest.mark.parametrize("local", [0.5, 2.0])
def test_more_letters_of_few_people(size: int, people: int, local: float) -> None:
    region = shuffle(rr(local, size), people)
    assert region.kind == "upper"
    for share in (0.0, 0.3, 0.8):
        low, high = (float(side[0]) for side in region.delta_bounds(share * local))
        true = exact(responses(local, size), people, share * local)
        assert low <= true * (1 + 1e-9)
        assert true <= high * (1 + 1e-12)
        assert high <= 1.25 * true
        assert high < shuffle(dp(local), people).delta(share * local)


@pytest.mark.parametrize(
    ("size", "people", "width"), [(3, 10**3, 2e-3), (10, 10**3, 2e-3), (3, 10**5, 2e-5), (10, 10**5, 2e-5)]
)
def test_more_letters_of_many_people(size: int, people: int, width: float) -> None:
    region = shuffle(rr(1, size), people)
    low, high = (side[0] for side in region.epsilon_bounds([1e-6]))
    assert low < high <= low * (1 + width)
    assert high < shuffle(dp(1), people).epsilon(1e-6)


def test_more_letters_hide_as_simulated() -> None:
    """The dataset of the lower side, simulated: its test is as good as its delta says."""
    size, people, local, epsilon = 4, 50, 1.0, 0.2
    rng, rounds = np.random.default_rng(5), 400_000
    truth = math.exp(local) / (math.exp(local) + size - 1)
    lie = truth * math.exp(-local)
    others = rng.multinomial(people - 1, [lie, lie, 1 - 2 * lie], rounds)[:, :2]
    gains = []
    laws = []
    for chances in ([truth, lie, 1 - truth - lie], [lie, truth, 1 - truth - lie]):
        own = rng.choice(3, rounds, p=chances)
        laws.append(others + np.stack((own == 0, own == 1), axis=1))
    weight = lie / (1 - 2 * lie) * (size - 2)
    grow = math.exp(epsilon)
    for counts in laws:
        a, b = counts.T
        score = (math.e - grow) * a + (1 - grow * math.e) * b + (1 - grow) * weight * (people - a - b)
        gains.append(float(np.mean(score > 0)))
    low = float(shuffle(rr(local, size), people).delta_bounds(epsilon)[0][0])
    assert gains[0] - grow * gains[1] == pytest.approx(low, abs=5e-3)


def test_products_take_the_worst_channel() -> None:
    twice, bound = shuffle(rr(1), 300) ** 2, shuffle(dp(1), 300) ** 2
    with effort(tolerance=0.5):
        assert shuffle(rr(1), 300).delta(0.1) < twice.delta(0.1) <= bound.delta(0.1)
    assert twice.kind == "upper"


def test_kinds_of_shuffled_answers() -> None:
    assert shuffle(rr(1), 200).kind == "exact"
    assert shuffle(rr(1, 3), 5).kind == shuffle(dp(1), 5).kind == "upper"


@pytest.mark.parametrize("local", [0.1, 1.0, 3.3])
def test_the_largest_loss_is_that_of_one_answer(local: float) -> None:
    """All the others gave the same answer: nothing but the person's own is left."""
    for people in (1, 2, 5, 50, 150):
        region = shuffle(rr(local), people)
        assert region.epsilon(0.0) == local
        if people <= 5:  # next to the end delta is a mass times the distance from it
            at = local * (1 - 1e-9)
            with mp.workdps(40):
                assert abs(region.delta(at) / counted(local, people, at) - 1) < 1e-12


@pytest.mark.parametrize("local", [3e-17, 1e-12, 1e-6])
def test_losses_next_to_zero(local: float) -> None:
    for people in (1, 2, 9):
        region = shuffle(rr(local), people)
        with mp.workdps(60):
            for share in (0.0, 0.4, 0.9):
                assert abs(region.delta(share * local) / counted(local, people, share * local) - 1) < 1e-10


def test_too_many_people_or_answers_leave_a_bound() -> None:
    assert shuffle(rr(1), 300).kind == shuffle(rr(1, 3), 5).kind == shuffle(dp(1), 5).kind == "upper"
    assert shuffle(rr(1), 200).delta(0.1) < shuffle(dp(1), 200).delta(0.1)
    assert shuffle(rr(1), 201).delta(0.1) < shuffle(rr(1), 200).delta(0.1)


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


@pytest.mark.parametrize(("people", "local"), [(1, 1.0), (2, 0.5), (40, 2.0), (1000, 1.0), (1000, 7.0)])
def test_the_table_of_coins_has_the_digits_of_exact_fractions(people: int, local: float) -> None:
    curve = Shuffled(local, people)
    first, points, tails = curve._table
    for coins in {first, first + points.shape[0] // 2, first + points.shape[0] - 1}:
        counts = [math.comb(coins, heads) for heads in range(coins + 1)]
        for heads in {0, coins // 3, coins // 2, (2 * coins) // 3, coins}:
            point, tail = points[coins - first, heads], tails[coins - first, heads]
            assert point == pytest.approx(
                float(Fraction(counts[heads], 2**coins)), rel=(8 + 4 * coins) * 2.0**-53, abs=1e-300
            )
            assert tail == pytest.approx(
                float(Fraction(sum(counts[heads:]), 2**coins)), rel=(8 + 8 * coins) * 2.0**-53, abs=1e-300
            )


@pytest.mark.parametrize(("people", "local"), [(3, 1.0), (300, 0.1), (1000, 1.0), (1000, 5.0)])
def test_the_table_of_coins_and_beta_functions_agree(
    monkeypatch: pytest.MonkeyPatch, people: int, local: float
) -> None:
    epsilon = np.linspace(0.0, 0.99 * local, 30)
    low, high = Shuffled(local, people).delta_bounds(epsilon)
    monkeypatch.setattr("dpcore.curves.shuffled._TABLE", 0)
    other = Shuffled(local, people)
    assert other._table is None
    least, most = other.delta_bounds(epsilon)
    assert (low <= most).all()
    assert (least <= high).all()
    assert high == pytest.approx(most, rel=1e-10, abs=1e-299)

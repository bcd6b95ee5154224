"""Weighted sensitivity: the exact delta, the printed one, and which weights are left."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.core.errors import DomainError
from dpcore.labs import sensitivity_weighted as weighted
from dpcore.language import parse
from dpcore.planner.sensitivity.pairs import laplace_delta


@pytest.mark.parametrize(
    ("e", "b", "value"),
    [
        (1, 0.3, 0.272196),
        (1, 0.5, 0.091970),
        (1, 0.7, 0.012657),
        (5, 0.3, 0.049020),
        (5, 0.5, 0.0016845),
        (5, 0.7, 1.1192e-6),
    ],
)
def test_exact_delta_of_the_weighted_noise(e: float, b: float, value: float) -> None:
    exact = weighted.delta(e, b)
    assert exact == pytest.approx(value, rel=3e-5)
    share = b / (1 - b)
    digest = math.exp(-(e - math.log(b)) * share) - math.exp(e - (e - math.log(b)) / (1 - b))
    assert exact == pytest.approx(digest, rel=1e-9)
    assert weighted.region(e, b).delta(float(e)) == pytest.approx(exact, rel=1e-9)
    assert weighted.printed_delta(e, b) >= exact


def largest_delta(e: float, b: float, steps: int) -> float:
    """Return the largest delta over a grid of local sensitivities (x, 1) with the largest move, both directions."""
    largest = 0.0
    for x in np.linspace(0.0, 1.0, steps + 1):
        narrow, wide, move = (1 - b) * x + b, 1.0, x * e / 2  # in units of 2 global / epsilon
        for first, second in ((wide, narrow), (narrow, wide)):
            largest = max(largest, float(laplace_delta(np.array([e]), first, second, move)[0]))
    return largest


def test_no_pair_is_worse_in_either_direction() -> None:
    for e in (0.05, 0.5, 1.0, 5.0, 15.0):
        for b in (0.02, 0.2, 0.5, 0.9):
            assert largest_delta(e, b, 25) <= weighted.delta(e, b) * (1 + 1e-9)
    rng = np.random.default_rng(2)
    for _ in range(100):  # any two local sensitivities, any move they allow
        e, b, x, y = rng.uniform(0.1, 6), rng.uniform(0.05, 0.95), rng.random(), rng.random()
        scales = [2 / e * ((1 - b) * v + b) for v in (x, y)]
        found = laplace_delta(np.array([e]), *scales, min(x, y) * rng.random())[0]
        assert found <= weighted.delta(e, b) * (1 + 1e-9)


@pytest.mark.parametrize(("e", "b"), [(0.5, 0.906703), (1, 0.836602), (2, 0.738752), (10, 0.504247), (15, 0.465285)])
def test_least_weight_by_the_printed_delta(e: float, b: float) -> None:
    least = weighted.private_weight(e, 0.1, printed=True)
    assert least == pytest.approx(b, abs=1e-6)
    assert weighted.printed_delta(e, least) == pytest.approx(0.1)
    exact = weighted.private_weight(e, 0.1)
    assert weighted.delta(e, exact) <= 0.1 < weighted.delta(e, exact * (1 - 1e-9))


@pytest.mark.parametrize(
    ("e", "b", "value"),
    [(1, 0.5, 0.801438), (1, 0.9, 0.014327), (15, 0.45, 0.150691), (15, 0.5, 0.036145), (15, 0.6, 0.000760)],
)
def test_printed_delta_samples(e: float, b: float, value: float) -> None:
    assert weighted.printed_delta(e, b) == pytest.approx(value, abs=6e-7)


def test_the_admissible_set_is_empty_up_to_epsilon_10() -> None:
    for e in (0.5, 1.0, 2.0, 10.0):
        needed = weighted.private_weight(e, 0.1, printed=True)
        assert needed > weighted.useful_weight(0.0)  # corrected
    assert weighted.private_weight(15.0, 0.1, printed=True) < weighted.useful_weight(0.0)
    assert weighted.private_weight(10.0, 0.1, printed=True) < weighted.useful_weight(0.0, printed=True)
    for e in (0.5, 2.0, 8.0):  # by the exact delta a gain costs more than e^-e / 4
        gain = 0.499
        assert weighted.delta(e, gain) > math.exp(-e) / 4
    assert weighted.fair_weight(1.0, 0.1, 0.0) < weighted.private_weight(1.0, 0.1)


def test_variance_of_the_weighted_noise_is_twice_the_printed_one() -> None:
    rng = np.random.default_rng(3)
    draws = (2 * (0.5 * 0.1 + 0.5) * rng.laplace(size=200_000)) ** 2
    error = draws.std() / math.sqrt(draws.size)
    assert abs(draws.mean() - weighted.variance(1.0, 0.5, 0.1)) < 4 * error
    assert abs(draws.mean() - weighted.printed_variance(1.0, 0.5, 0.1)) > 4 * error
    assert weighted.variance(1.0, 1.0, 0.3) == pytest.approx(4 * weighted.benchmark(1.0))
    assert weighted.variance(2.0, weighted.useful_weight(0.1), 0.1) == pytest.approx(weighted.benchmark(2.0))
    assert weighted.printed_variance(2.0, weighted.useful_weight(0.1, printed=True), 0.1) == pytest.approx(0.5)


def test_variance_of_the_blurred_noise() -> None:
    rng = np.random.default_rng(4)
    draws = (2 * (0.5 * rng.uniform(1, 2, 200_000) + 0.5) * rng.laplace(size=200_000)) ** 2
    error = draws.std() / math.sqrt(draws.size)
    asked = (1.0, 0.5, 1.0, 1.5, 1 / 12)
    assert abs(draws.mean() - weighted.blurred_variance(*asked)) < 4 * error
    assert abs(draws.mean() - weighted.printed_blurred_variance(*asked)) > 4 * error


def test_candidate_2_needs_a_blur_above_the_local_sensitivity() -> None:
    """A constant xi of a fifth of the sensitivity, b = 1/10: the promised delta is 0.283, the true one at least 0.544."""
    e, b, xi = 2.0, 0.1, 0.2
    assert weighted.blurred_room(b, 1.0, xi) == pytest.approx(0.28)  # condition 1 of Definition 5.2.16 asks for 1
    scale = 2 / e * ((1 - b) * xi + b)
    noise = parse(f"laplace({1 / scale})")
    assert weighted.blurred_delta(e, b, xi) == pytest.approx(float(noise.delta(e)), rel=1e-12)
    assert weighted.blurred_delta(e, b, xi) > weighted.printed_blurred_delta(e, b, xi) + 0.2
    locals_ = np.linspace(0.0, 1.0, 21)  # (5.12): neighbours' scales within the printed factor
    scales = (1 - b) * xi + b * locals_
    assert scales.min() / scales.max() == pytest.approx((1 - b) * xi / ((1 - b) * xi + b))
    assert weighted.blurred_room(b, 1.0, 1.0) == pytest.approx(1.0)
    for enough in (1.0, 1.5):  # with the missing condition the promise holds
        assert weighted.blurred_delta(e, b, enough) <= weighted.printed_blurred_delta(e, b, enough)


def test_no_pair_with_the_narrower_noise_on_the_data_is_worse() -> None:
    for e in (0.01, 0.1, 0.5, 1.0, 2.0, 4.0):
        for b in (0.01, 0.05, 0.2, 0.45, 0.7, 0.9):
            bound = weighted.narrow_bound(e, b, 128)
            assert bound <= weighted.delta(e, b)
            assert bound == 0 or b < math.exp(-e / 2) + e / 256
    assert weighted.narrow_bound(1.0, 0.2) >= laplace_delta(np.array([1.0]), 0.2, 1.0, 0.0)[0] > 0


def test_the_narrower_noise_on_the_data_is_never_worse() -> None:
    for e in (0.05, 0.5, 1.0, 3.0):
        for t in np.linspace(0.02, 0.98, 25):
            narrow = laplace_delta(np.array([e]), t, 1.0, 0.0)[0]
            assert narrow <= weighted.delta(e, float(t)) * (1 + 1e-9)
    assert laplace_delta(np.array([1.0]), 0.61, 1.0, 0.39)[0] == 0  # b >= e^-1/2: the loss stays below epsilon


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: weighted.delta(1.0, 0.0), "weight must be"),
        (lambda: weighted.delta(0.0, 0.5), "epsilon must be"),
        (lambda: weighted.useful_weight(1.0), "ratio must be below 1"),
        (lambda: weighted.private_weight(1.0, 1.0), "delta must be"),
    ],
)
def test_bad_values_are_refused_with_their_range(call: object, text: str) -> None:
    with pytest.raises(DomainError, match=text):
        call()  # type: ignore[operator]

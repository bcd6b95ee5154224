"""Brackets of training runs contain the truth of `tests.benchmarks.training_truth`, in both directions and up to a million steps."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore import parse, poisson_gaussian
from tests.benchmarks.training_truth import direction, holds


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta"),
    [(10.0, 1e-4, 100, 1e-5), (10.0, 1e-5, 10**6, 1e-5), (2.0, 1e-3, 10**6, 1e-12)],
)
def test_the_truth_is_inside(sigma: float, rate: float, steps: int, delta: float) -> None:
    (lower,), (upper,) = parse(f"poisson_gaussian({sigma}, {rate})^{steps}").epsilon_bounds([delta])
    assert upper - lower <= 1e-6 * upper
    assert holds(sigma, rate, steps, delta, (float(lower), float(upper)))


def user_delta(sigma: float, shares: list[float], steps: int, epsilon: float, c: float) -> float:
    """Return delta with a person of some records added: the contour integral through c in doubles, a sum of 8000 points for each node."""
    x = np.linspace(-14.0, 26.0, 8001)
    ratio = sum(share * np.exp(j * x / sigma - 0.5 * (j / sigma) ** 2) for j, share in enumerate(shares))
    loss = np.log(ratio)
    mass = np.exp(-0.5 * x * x) * ratio * (x[1] - x[0]) / np.sqrt(2.0 * np.pi)
    s = c + 1j * np.arange(0.0, 60.0, 0.02)
    transform = np.array([np.sum(mass * np.expm1(at * loss)) for at in s])
    terms = (np.exp(steps * np.log1p(transform) - s * epsilon) / (s * (s + 1.0))).real
    return float((terms.sum() - 0.5 * terms[0]) * 0.02 / np.pi)


def test_the_published_user_level_epsilon() -> None:
    """3.979: a person with two records in 1000 steps, noise 1, rate 0.01, by the mixture of Gaussians."""
    (lower,), (upper,) = parse("user_gaussian(1, 0.01, 2)^1000").epsilon_bounds([1e-5])
    assert upper == pytest.approx(3.97909, abs=1e-5)
    assert upper - lower <= 1e-6 * upper
    for c in (2.0, 3.0):  # two contours, one integral
        assert user_delta(1.0, [0.99**2, 2 * 0.99 * 0.01, 0.01**2], 1000, upper, c) == pytest.approx(1e-5, rel=1e-6)


def test_what_tensorflow_privacy_states_for_two_records() -> None:
    """10 000 records in batches of 64, 5 epochs, noise 2 with microbatches, which double the sensitivity: 2.532 at 1e-6."""
    (lower,), (upper,) = parse("user_gaussian(1, 0.0064, 2)^782").epsilon_bounds([1e-6])
    assert lower <= upper == pytest.approx(2.532, abs=5e-4)


@pytest.mark.parametrize(
    ("text", "epsilon"), [("poisson_gaussian(10, 0.0001)^100", 6e-5), ("poisson_gaussian(1.1, 1e-5)^100", 1e-4)]
)
def test_the_exchanged_pair_of_a_rare_sample(text: str, epsilon: float) -> None:
    """The record removed: without its far losses the narrow core has a line, and the bracket is narrow."""
    region = parse(text)
    (lower,), (upper,) = region.pair.inverse().delta_bounds([epsilon])
    step, count = text.split("^")
    sigma, rate = (float(number) for number in step.removeprefix("poisson_gaussian(").removesuffix(")").split(","))
    truth = float(direction(sigma, rate, int(count), epsilon, removed=True))
    assert lower <= truth <= upper
    assert upper - lower <= 1e-6 * upper


@pytest.mark.parametrize("apart", [1e-4, 1e-5, 5e-7, 1e-7])
def test_two_steps_with_the_record_removed_next_to_their_largest_loss(apart: float) -> None:
    """There an exponent c makes e^(c L) larger than all doubles. Delta by an integral over the first step: no transform."""
    sigma, rate = 1 / 3, 1e-3
    removed = (poisson_gaussian(sigma, rate) ** 2).pair.inverse()
    step = poisson_gaussian(sigma, rate).pair.inverse()
    node, weight = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(-12.0, 12.0, 961)
    half = 0.5 * (edges[1] - edges[0])
    x = (0.5 * (edges[1:] + edges[:-1])[:, None] + half * node).ravel()
    loss = -np.log1p(rate * np.expm1(x / sigma - 0.5 / sigma**2))
    mass = np.tile(half * weight, 960) * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    epsilon = -2 * np.log1p(-rate) - apart
    truth = float(mass @ step.delta_bounds(epsilon - loss)[0])
    (lower,), (upper,) = removed.delta_bounds(np.array([epsilon]))
    assert lower <= truth * (1 + 1e-6)
    assert upper >= truth * (1 - 1e-6)

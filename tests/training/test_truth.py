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

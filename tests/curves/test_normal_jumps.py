"""Mixtures of moved normal laws: both directions against thresholds and tails in 40 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpcore.curves.normal_jumps import GaussianMixture
from dpcore.engine.normal_jumps import Jumps

EPSILONS = [0.0, 0.01, 0.3, 1.0, 4.0, 16.0]


def true_delta(jumps: Jumps, epsilon: float, flipped: bool) -> mp.mpf:
    parts = list(zip(jumps.moves, jumps.shares, strict=True))
    ratio = mp.exp(-mp.mpf(epsilon) if flipped else mp.mpf(epsilon))
    if ratio <= jumps.rest:
        return mp.mpf(0)
    low, high = mp.mpf(-400), mp.mpf(400)
    for _ in range(160):
        x = (low + high) / 2
        below = jumps.rest + sum(p * mp.exp(m * x - mp.mpf(m) ** 2 / 2) for m, p in parts) < ratio
        low, high = (x, high) if below else (low, x)
    if flipped:
        return mp.ncdf(x) - mp.exp(epsilon) * (jumps.rest * mp.ncdf(x) + sum(p * mp.ncdf(x - m) for m, p in parts))
    moved = jumps.rest * mp.ncdf(-x) + sum(p * mp.ncdf(m - x) for m, p in parts)
    return jumps.lost + moved - mp.exp(epsilon) * mp.ncdf(-x)


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize(
    "jumps",
    [
        Jumps((1.0, 2.0), (0.375, 0.125), 0.5),
        Jumps((0.5,), (0.0625,), 0.9375),
        Jumps((0.1, 3.0), (0.5, 0.5), 0.0),
        Jumps((0.01, 30.0), (0.5, 0.25), 0.1875, 0.0625),
    ],
)
def test_both_directions(jumps: Jumps, flipped: bool) -> None:
    deltas = GaussianMixture(jumps, flipped=flipped).delta_bounds(np.array(EPSILONS))[0]
    with mp.workdps(40):
        for epsilon, delta in zip(EPSILONS, deltas, strict=True):
            truth = true_delta(jumps, epsilon, flipped)
            assert delta == pytest.approx(float(truth), rel=2e-12, abs=1e-300)


@pytest.mark.parametrize("epsilon", [640.0, 655.0, 662.0979548120204, 690.0, 709.5, 720.0])
def test_thresholds_beyond_the_normal_tails_of_full_digits(epsilon: float) -> None:
    """Beyond x = 37 the tail of P0 loses its digits, and was once left out of the difference: delta rose by a fifth."""
    jumps = Jumps((10.3, 20.6, 30.9), (7e-4, 1.5e-7, 1.2e-11), 1 - 7e-4 - 1.5e-7 - 1.2e-11, 0.0)
    with mp.workdps(40):
        truth = float(true_delta(jumps, epsilon, flipped=False))
    value = GaussianMixture(jumps).delta_bounds(np.array([epsilon]))[1]
    assert float(value[0]) == pytest.approx(truth, rel=1e-12)


def test_the_largest_epsilons_have_a_threshold_beyond_every_tail() -> None:
    mixture = GaussianMixture(Jumps((0.0176, 0.1), (0.5, 0.5), 0.0))
    assert mixture.delta_bounds(np.array([1e300, 1e308]))[1].tolist() == [0.0, 0.0]
    assert mixture.threshold(np.array([1e308])).tolist() == mixture.threshold(np.array([1e5])).tolist()

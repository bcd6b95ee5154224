"""Rates where e^epsilon, or e^-epsilon, is no double or has lost digits."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from dpcore import parse
from dpcore.curves.laplace import LaplaceCurve
from dpcore.curves.laplace_fold import LaplaceFold
from dpcore.curves.rates import scaled_rate

ALPHA = np.array([0.0, 5e-324, 1e-318, 1e-312, 1e-309, 1e-300, 1e-20, 0.3, 0.5])


def test_scaled_rate() -> None:
    epsilon = np.array([-math.inf, -3.0, 0.0, 700.0, 715.0, 1400.0, math.inf])
    most = math.exp(709.0)
    assert scaled_rate(np.full(7, 0.5), epsilon) == pytest.approx(
        [0.0, 0.5 * math.exp(-3), 0.5, 0.5 * math.exp(700), most, most, most]
    )
    assert scaled_rate(np.array([1e-310]), 715.0)[0] == pytest.approx(float(mp.exp(715) * mp.mpf(1e-310)), rel=1e-12)
    assert scaled_rate(np.zeros(2), 2000.0).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("epsilon", [0.1, 3.0, 699.0, 709.5, 730.0, 744.0, 750.0, 1400.0])
def test_rates_of_laplace_noise(epsilon: float) -> None:
    curve = LaplaceCurve(epsilon)
    beta, power = curve.beta_bounds(ALPHA)[0], curve.power_bounds(ALPHA)[0]
    with mp.workdps(700):
        shrink = mp.exp(-mp.mpf(epsilon))
        for a, missed, found in zip(ALPHA.tolist(), beta.tolist(), power.tolist(), strict=True):
            rate = mp.mpf(a)
            true = rate / shrink if rate < shrink / 2 else 1 - shrink / (4 * rate)
            assert missed == pytest.approx(float(1 - true), rel=1e-11, abs=1e-300)
            assert found == pytest.approx(float(true), rel=1e-11)


def test_power_of_two_laplace_answers_below_the_first_corner() -> None:
    curve = LaplaceFold(LaplaceCurve(352.5), 352.5, 2)
    power = curve.power_bounds(np.array([1e-310, 1e-307]))[1]
    assert power == pytest.approx([float(mp.exp(705) * mp.mpf(a)) for a in (1e-310, 1e-307)], rel=1e-11)


@pytest.mark.parametrize("text", ["laplace(750) * dp(1)", "rr(750, 2) * laplace(2)"])
def test_duality_at_the_smallest_rates(text: str) -> None:
    """A loss of at least 739 has a probability above 0.9 under P1, so at most e^-739 under P0: beta is at most 0.1."""
    beta = parse(text).beta_bounds([1e-310])[0]
    assert beta[0] <= 0.1

"""Quantiles on one side: beside forty digits, and the hypothesis about the distribution function that they rest on."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy.special import erf, log_ndtr

from dpcore.core.rounding import UNIT
from dpcore.curves.quantiles import (
    NORMAL_UNITS,
    gaussian_above,
    gaussian_below,
    pure_mu,
    pure_mu_above,
    quantile_bounds,
)

LOGS = -np.concatenate((10.0 ** np.linspace(-3, 5, 60), np.linspace(0.5, 60.0, 60)))


def log_normal(z: mp.mpf) -> mp.mpf:
    return mp.log(mp.erfc(-z / mp.sqrt(2)) / 2)


def test_the_distribution_function_keeps_the_accuracy_that_is_assumed() -> None:
    z = np.concatenate((np.linspace(-400.0, 3.0, 300), np.random.default_rng(1).normal(size=300) - 1.0))
    with mp.workdps(60):
        for at, value in zip(z.tolist(), log_ndtr(z).tolist(), strict=True):
            assert abs(mp.mpf(value) - log_normal(mp.mpf(at))) <= NORMAL_UNITS * UNIT * (1 + abs(value)), at
        for at in np.geomspace(1e-9, 0.7, 100).tolist():
            assert abs(mp.mpf(float(erf(at))) / mp.erf(mp.mpf(at)) - 1) <= NORMAL_UNITS * UNIT


def test_quantiles_are_between_their_bounds() -> None:
    low, high = quantile_bounds(LOGS)
    used = LOGS <= -0.5  # quantiles of larger probabilities are taken from the other side
    width = (high - low) / (1.0 + np.abs(low))
    assert width[used & (LOGS > -1e4)].max() <= 1e-13
    assert width[used].max() <= 1e-12  # the library's guess is off by 3e-13 there, and the check sees it
    with mp.workdps(60):
        for wanted, below, above in zip(LOGS.tolist(), low.tolist(), high.tolist(), strict=True):
            assert log_normal(mp.mpf(below)) < wanted < log_normal(mp.mpf(above))


def test_no_probability_and_a_bad_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [side[0] for side in quantile_bounds(np.array([-np.inf]))] == [-np.inf, -np.inf]
    monkeypatch.setattr("dpcore.curves.quantiles.ndtri_exp", lambda log_p: np.full(log_p.shape, -3.0))
    low, high = quantile_bounds(np.array([-0.7, -40.0]))
    assert (log_ndtr(low) < [-0.7, -40.0]).all()
    assert (log_ndtr(high) > [-0.7, -40.0]).all()


@pytest.mark.parametrize("mu", [0.01, 1.0, 6.0])
@pytest.mark.parametrize("z", [-30.0, -6.0, -2.0, -1.0])
def test_the_mu_of_a_point(mu: float, z: float) -> None:
    with mp.workdps(60):
        alpha, power = float(log_normal(mp.mpf(z))), float(log_normal(mp.mpf(z) + mp.mpf(mu)))
    low, high = (
        gaussian_below(np.array([alpha]), np.array([power])),
        gaussian_above(np.array([alpha]), np.array([power])),
    )
    assert low[0] < mu < high[0]
    if z <= -mu / 2:  # the half of the curve that is asked
        assert high[0] - low[0] < 1e-10


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.5, 0.999, 1.0, 3.0, 40.0, 800.0])
def test_pure_privacy(epsilon: float) -> None:
    with mp.workdps(400):
        share = -mp.log1p(mp.exp(mp.mpf(epsilon)))
        above = pure_mu_above(epsilon)
        assert log_normal(-mp.mpf(above) / 2) <= share
    assert above == pytest.approx(pure_mu(epsilon), rel=1e-12)


def test_pure_privacy_at_the_smallest_doubles() -> None:
    """A product of subnormal numbers may be off by all its digits, downwards too."""
    with mp.workdps(40):
        for epsilon in (
            *(n * 5e-324 for n in range(1, 40)),
            4.39651e-318,
            1e-315,
            2.3e-308,
            1e-300,
            9.9e-101,
            1.1e-100,
        ):
            truth = 2 * mp.sqrt(2) * mp.erfinv(mp.tanh(mp.mpf(epsilon) / 2))
            above = pure_mu_above(epsilon)
            assert truth <= above <= truth * (1 + mp.mpf(1e-12)) + 2 * mp.mpf(5e-324)

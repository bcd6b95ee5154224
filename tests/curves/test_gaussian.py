"""The Gaussian curve against sixty digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpcore import parse
from dpcore.curves.gaussian import GaussianCurve

REL = 1e-11


@pytest.mark.parametrize("mu", [1e-4, 0.01, 0.5, 1.0, 3.0, 8.0, 20.0])
def test_profile_keeps_its_digits(mu: float) -> None:
    epsilon = np.array([0.0, 1e-6, 0.01, 0.3, 1.0, 3.0, 10.0, 40.0, 200.0])
    values = GaussianCurve(mu).delta_bounds(epsilon)[0]
    with mp.workdps(60):
        m = mp.mpf(mu)
        for e, value in zip(epsilon.tolist(), values.tolist(), strict=True):
            truth = mp.ncdf(m / 2 - mp.mpf(e) / m) - mp.exp(mp.mpf(e)) * mp.ncdf(-m / 2 - mp.mpf(e) / m)
            if truth > mp.mpf("1e-290"):
                assert value == pytest.approx(float(truth), rel=REL)


@pytest.mark.parametrize("mu", [0.3, 1.0, 4.0])
def test_trade_off_and_power_are_mirror_images(mu: float) -> None:
    curve = GaussianCurve(mu)
    alpha = np.array([0.0, 1e-12, 1e-3, 0.2, 0.7, 1.0])
    beta, power = curve.beta_bounds(alpha)[0], curve.power_bounds(alpha)[0]
    np.testing.assert_allclose(beta + power, 1.0, rtol=0, atol=1e-15)
    inside = slice(1, 5)
    np.testing.assert_allclose(curve.beta_bounds(beta[inside])[0], alpha[inside], rtol=1e-3, atol=1e-9)
    with mp.workdps(40):
        inverse = mp.erfinv(1 - 2 * mp.mpf("1e-12")) * mp.sqrt(2)
        truth = mp.ncdf(mu - inverse)
    assert power[1] == pytest.approx(float(truth), rel=1e-9)


def test_area_is_the_chance_of_a_wrong_order() -> None:
    alpha = (np.arange(200_000) + 0.5) / 200_000
    curve = GaussianCurve(1.3)
    assert curve.area == pytest.approx(float(curve.beta_bounds(alpha)[0].mean()), abs=1e-8)


def test_composition_keeps_a_delta_whose_square_is_no_double() -> None:
    """A published delta is never below the true one: mu^2 of this noise is 0 in doubles."""
    text = "gaussian_classic(2.7698275585638865e-162, 0.1353352832366127)"
    one, four = parse(text).delta(0.0), parse(f"{text}^4").delta(0.0)
    assert one > 0
    assert four == pytest.approx(2 * one, rel=1e-12)

"""The accuracy of library functions that proofs of rounding assume, against ball arithmetic: a platform where one fails has no proved bounds."""

from __future__ import annotations

import numpy as np
import pytest
from flint import acb, arb, ctx
from scipy.special import erfcx, gammaln, log_ndtr, ndtr

from dpcore.engine import few_jumps
from dpcore.engine.mixture_rounding import LIBRARY

UNITS = 2.0**53


@pytest.mark.parametrize(("low", "high"), [(-40.0, -3.0), (-3.0, 0.0), (0.0, 3.0), (3.0, 9.0)])
def test_the_logarithm_of_the_normal_distribution_above_the_axis(low: float, high: float) -> None:
    rng = np.random.default_rng(11)
    place = rng.uniform(low, high, 1500) + 1j * rng.uniform(-0.75, 0.75, 1500)
    place[::5] = place[::5].real
    before, ctx.prec = ctx.prec, 160
    try:
        for p, got in zip(place.tolist(), log_ndtr(place).tolist(), strict=True):
            truth = ((-acb(p.real, p.imag) / acb(2).sqrt()).erfc() / 2).log()
            error = abs(complex(acb(got.real, got.imag) - truth)) * UNITS
            assert error <= few_jumps._LOG_NDTR * (1 + abs(complex(truth)))
        for p, got in zip(place.real.tolist(), ndtr(place.real).tolist(), strict=True):
            if p > -37.0:  # a double of all digits
                share = (-arb(p) / arb(2).sqrt()).erfc() / 2
                units = few_jumps._LOG_NDTR + 3.0 * (p * p + abs(p))
                assert abs(float(arb(got) / share - 1)) * UNITS <= units
    finally:
        ctx.prec = before


def log_gamma_units(step: int) -> float:
    """Return the largest error of log-gamma at every so many integers up to 100 001, in units."""
    before, ctx.prec = ctx.prec, 120
    try:
        n = np.arange(3, 100_002, step)
        return max(
            abs(float(arb(got) / arb(at).lgamma() - 1)) * UNITS
            for at, got in zip(n.tolist(), gammaln(n).tolist(), strict=True)
        )
    finally:
        ctx.prec = before


def test_log_gamma_at_integers() -> None:
    assert gammaln(np.array([1.0, 2.0])).tolist() == [0.0, 0.0]
    assert log_gamma_units(97) <= LIBRARY


@pytest.mark.long
def test_log_gamma_at_every_integer_that_is_used() -> None:
    assert log_gamma_units(1) <= LIBRARY


def test_the_scaled_complementary_error_function() -> None:
    rng = np.random.default_rng(12)
    x = np.concatenate((rng.uniform(-0.2, 30, 800), 10 ** rng.uniform(-9, 2, 400)))
    before, ctx.prec = ctx.prec, 120
    try:
        for at, got in zip(x.tolist(), erfcx(x).tolist(), strict=True):
            truth = (arb(at) * arb(at)).exp() * arb(at).erfc()
            assert abs(float(arb(got) / truth - 1)) * UNITS <= 16.0
    finally:
        ctx.prec = before

"""Sums of two noises: against high precision, against noise given as functions, and against their parts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mpmath as mp
import numpy as np
import pytest

import dpcore
from dpcore import DomainError, parse
from dpcore.mechanisms.log_concave import log_concave

if TYPE_CHECKING:
    from collections.abc import Callable

    Tail = Callable[[mp.mpf], mp.mpf]

SHARES = (0.0, 0.1, 0.9, 0.99999)


def twice_laplace() -> tuple[Tail, Tail]:
    """Return density and tail of Lap(1) + Lap(1)."""

    def density(x: mp.mpf) -> mp.mpf:
        return (1 + abs(x)) * mp.exp(-abs(x)) / 4

    def tail(x: mp.mpf) -> mp.mpf:
        return (2 + x) * mp.exp(-x) / 4 if x >= 0 else 1 - (2 - x) * mp.exp(x) / 4

    return density, tail


def normal_and_laplace(g: float | mp.mpf) -> tuple[Tail, Tail]:
    """Return density and tail of N(0, g^2) + Lap(1)."""
    spread = mp.mpf(g)

    def normal(z: mp.mpf) -> mp.mpf:
        return mp.erfc(-z / mp.sqrt(2)) / 2

    def half(x: mp.mpf) -> mp.mpf:
        return mp.exp(spread**2 / 2 - x) * normal(x / spread - spread) / 2

    return (lambda x: half(x) + half(-x)), (lambda x: normal(-x / spread) + half(x) - half(-x))


def true_delta(noise: tuple[Tail, Tail], shift: float, epsilon: float, reach: float) -> mp.mpf:
    """Return S(t - s) - e^epsilon S(t), t found by bisection in 40 digits."""
    density, tail = noise
    with mp.workdps(40):
        s, e = mp.mpf(shift), mp.mpf(epsilon)
        low, high = s / 2, s + mp.mpf(reach)
        for _ in range(70):
            t = (low + high) / 2
            low, high = (t, high) if mp.log(density(t - s) / density(t)) < e else (low, t)
        return +(tail(low - s) - mp.exp(e) * tail(low))


@pytest.mark.parametrize("shift", [1e-6, 0.5, 2.0, 50.0])
def test_two_laplace_noises_in_high_precision(shift: float) -> None:
    region = dpcore.laplace_sum(1.0, shift)
    for share in SHARES:
        truth = true_delta(twice_laplace(), shift, share * shift, shift / -math.expm1((share - 1) * shift) + 1)
        assert region.delta(share * shift) == pytest.approx(float(truth), rel=1e-12, abs=1e-300), share
    assert region.delta(shift) == 0
    assert region.curve.max_loss == shift


@pytest.mark.parametrize(("g", "shift"), [(0.1, 1.0), (1.0, 0.01), (1.0, 10.0), (3.0, 1.0)])
def test_normal_and_laplace_noise_in_high_precision(g: float, shift: float) -> None:
    region = dpcore.normal_laplace(g, 1.0, shift)
    for share in SHARES:
        truth = true_delta(normal_and_laplace(g), shift, share * shift, g * g + 40 * g)
        assert region.delta(share * shift) == pytest.approx(float(truth), rel=1e-10, abs=1e-300), share


def true_beta(noise: tuple[Tail, Tail], shift: mp.mpf, alpha: float) -> mp.mpf:
    """Return 1 - S(S^-1(alpha) - s), the inverse found by bisection."""
    _, tail = noise
    low, high, s = mp.mpf(0), mp.mpf(2000), mp.mpf(shift)
    for _ in range(200):
        x = (low + high) / 2
        low, high = (x, high) if tail(x) > mp.mpf(alpha) else (low, x)
    return tail(s - low)


@pytest.mark.parametrize("alpha", [1e-280, 1e-292, 1e-300, 1e-307, 3e-308, 1e-308, 3e-310, 5e-324])
def test_betas_at_rates_at_the_end_of_the_doubles(alpha: float) -> None:
    """They were called exact although rates below 1e-290 were not looked at."""
    with mp.workdps(60):
        spread, scale = mp.mpf("0.01") / mp.mpf("0.00134"), mp.mpf("0.00134")
        cases = [
            ("normal_laplace(0.01, 0.00134)", true_beta(normal_and_laplace(spread), 1 / scale, alpha)),
            ("laplace_sum(0.0014)", true_beta(twice_laplace(), 1 / mp.mpf("0.0014"), alpha)),
        ]
        for text, truth in cases:
            region = parse(text)
            (low,), (high,) = region.beta_bounds(alpha)
            assert low * (1 - 1e-9) <= truth <= high * (1 + 1e-9)
            assert (low == high) == (alpha >= 2.3e-308)
            (least,), (most,) = region.power_bounds(alpha)
            assert least * (1 - 1e-9) <= 1 - truth <= most * (1 + 1e-9)


@pytest.mark.parametrize("text", ["laplace_sum(1)", "normal_laplace(1, 2)"])
def test_the_same_noise_as_functions(text: str) -> None:
    """Second route: the generic region of log-concave noise, its inverse distribution by halving."""
    region = parse(text)

    def cdf(x: np.ndarray) -> np.ndarray:
        return region.survival(-np.asarray(x))

    def quantile(u: np.ndarray) -> np.ndarray:
        low, high = np.full(np.shape(u), -800.0), np.full(np.shape(u), 800.0)
        for _ in range(62):
            middle = 0.5 * (low + high)
            below = cdf(middle) < u
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return 0.5 * (low + high)

    given = log_concave(cdf, quantile, 1.0, text, symmetric=True)
    epsilon = np.array([0.0, 0.05, 0.2, 0.4])
    np.testing.assert_allclose(region.delta(epsilon), given.delta(epsilon), rtol=1e-6)
    alpha = np.array([1e-9, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-6])
    np.testing.assert_allclose(region.beta(alpha), given.beta(alpha), rtol=1e-8)


def test_extra_noise_shrinks_the_region_without_lowering_the_largest_loss() -> None:
    one, alpha = dpcore.laplace(scale=1.0), np.linspace(0, 1, 101)[1:-1]
    for more in (dpcore.laplace_sum(1.0), dpcore.normal_laplace(0.5, 1.0)):
        assert np.all(more.beta(alpha) >= one.beta(alpha) - 1e-15)
        assert more.beta(0.3) > one.beta(0.3) + 0.02
        assert more.total_variation < one.total_variation - 0.04
        assert more.epsilon(0.0) == pytest.approx(1.0, rel=1e-12)


def test_the_limits_are_the_parts() -> None:
    epsilon = np.array([0.0, 0.3, 0.9])
    np.testing.assert_allclose(
        dpcore.normal_laplace(1e-6, 1).delta(epsilon), dpcore.laplace(1).delta(epsilon), rtol=1e-5
    )
    np.testing.assert_allclose(
        dpcore.normal_laplace(1, 1e-6).delta(epsilon), dpcore.gaussian(1).delta(epsilon), rtol=1e-9
    )
    for bad in ("laplace_sum(0)", "normal_laplace(0, 1)", "normal_laplace(1, 0)", "laplace_sum(1, 0)"):
        with pytest.raises(DomainError, match="must be a number in"):
            parse(bad)
    with pytest.raises(DomainError, match="width inf"):
        parse("normal_laplace(inf, 1)").sample(np.random.default_rng(0), 2)


def test_two_answers_compose() -> None:
    """Second route: the loss of two answers on a fine grid of both."""
    region, x = parse("laplace_sum(1)^2"), np.linspace(-20, 21, 1026)
    noise, step = parse("laplace_sum(1)"), x[1] - x[0]
    p, q = noise.density(x) * step, noise.density(x, 1.0) * step
    for epsilon in (0.0, 0.5, 1.2):
        brute = np.maximum(np.outer(q, q) - math.exp(epsilon) * np.outer(p, p), 0.0).sum()
        assert region.delta(epsilon) == pytest.approx(brute, abs=1e-3)

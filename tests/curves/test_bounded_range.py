"""The worst case of the exponential mechanism in products: its transform, and the pair that is attained."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate

from dpcore import exponential_scores, parse
from dpcore.curves.bounded_range import BoundedRange, _Recursion
from dpcore.engine.sandwich import Sandwich

UNIT = 2.0**-53


def transform(epsilon: float, s: mp.mpc) -> mp.mpc:
    z, e = s + mp.mpf(1) / 2, mp.mpf(epsilon)
    return mp.sinh(z * e) / (2 * z * mp.sinh(e / 2)) if z != 0 else e / (2 * mp.sinh(e / 2))


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.2, 1.0, 40.0, 300.0])
def test_the_transform_has_the_digits_it_claims_and_fades_as_it_says(epsilon: float) -> None:
    curve = BoundedRange(epsilon)
    with mp.workdps(40):
        for c in (0.0, 1e-6, 0.3, 7.0, 1e3, -0.5, -0.2, -1.0, -3.0):
            at_c = abs(transform(epsilon, mp.mpc(c)))
            for y in (0.0, 1e-8, 0.1, 9.0, 1e4):
                value = complex(curve.log_mgf(np.array([complex(c, y)]))[0])
                error = abs(mp.exp(mp.mpc(value)) - transform(epsilon, mp.mpc(c, y))) / at_c
                assert error <= (curve.mgf_rounding + 4 * abs(value)) * UNIT
                for further in (y, 1.3 * y, 7 * y, 100 * y):
                    size = abs(transform(epsilon, mp.mpc(c, further))) / at_c
                    assert size <= mp.exp(curve.log_decay(c, y)) * (1 + 1e-15)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
def test_the_density_of_the_loss_gives_the_profile(epsilon: float) -> None:
    for x in (-0.7 * epsilon, 0.0, 0.4 * epsilon):
        top = integrate.quad(lambda y, x=x: -math.expm1(x - y) * math.exp(y / 2), x, epsilon)[0]
        value = top / (4 * math.sinh(epsilon / 2))
        assert BoundedRange(epsilon).delta_bounds(np.array([x]))[0][0] == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    ("own", "other"),
    [(0.2, "gaussian(2)"), (3.0, "gaussian(0.7)"), (0.5, "poisson_gaussian(2, 0.1)^20"), (2.0, "laplace(1.5)")],
)
def test_a_product_by_its_transform_is_the_integral_over_the_density(own: float, other: str) -> None:
    product, smooth = parse(f"exponential({own}) * {other}"), parse(other).pair
    for e in (0.0, 0.3, 1.0, 2.5):
        low, high = product.curve.outer.delta_bounds(np.array([e]))  # type: ignore[attr-defined]  # a bound has an outer side
        value = integrate.quad(
            lambda x, e=e: math.exp(x / 2) * float(smooth.delta_bounds(np.array([e - x]))[1][0]),
            -own, own, epsrel=1e-9, epsabs=1e-18,
        )[0] / (4 * math.sinh(own / 2))  # fmt: skip
        assert low[0] * (1 - 1e-5) <= value <= high[0] * (1 + 1e-5)
        assert high[0] == pytest.approx(value, rel=1e-4)


def test_the_transform_and_the_lattice_agree() -> None:
    parts = [(BoundedRange(0.2), 1), (parse("gaussian(3)").pair, 4)]
    at = np.array([0.1, 0.8])
    low, high = Sandwich(parts).delta_bounds(at, 1e-3)
    least, most = parse("exponential(0.2) * gaussian(3)^4").curve.outer.delta_bounds(at)  # type: ignore[attr-defined]  # as above
    assert np.all(least <= high)
    assert np.all(low <= most)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_attained_pair_is_an_exponential_mechanism(epsilon: float) -> None:
    at = np.linspace(0.0, epsilon, 9)
    own = exponential_scores(epsilon, [1.0, 0.0], [0.0, 1.0])
    attained = parse(f"exponential({epsilon})").attained()  # type: ignore[attr-defined]  # a loose region has one
    assert attained.delta_bounds(at)[0] == pytest.approx(own.delta(at), abs=1e-15)
    assert np.all(attained.delta_bounds(at)[0] <= parse(f"exponential({epsilon})").delta(at))


def test_what_a_choice_adds_to_other_releases_is_known_from_both_sides() -> None:
    """The lower side was that of the strongest release alone."""
    low, high = (float(side[0]) for side in parse("exponential(0.2) * gaussian(2)").epsilon_bounds([1e-6]))
    alone = float(parse("gaussian(2)").epsilon(1e-6))
    assert alone < low < high < alone + 0.2
    assert high - low < 0.1


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
@pytest.mark.parametrize("order", [1.5, 2.0, 4.0, 16.0, 64.0])
def test_no_choice_has_a_larger_renyi_divergence_than_the_transform_says(epsilon: float, order: float) -> None:
    """Choices with the losses t and t - epsilon are the extreme ones of a bounded range: each is summed directly."""
    t = np.linspace(1e-6 * epsilon, (1 - 1e-6) * epsilon, 2001)
    high = np.expm1(epsilon - t) / (np.exp(epsilon - t) - np.exp(-t))  # so that the masses under H0 add up to 1
    single = np.log(high * np.exp((order - 1) * t) + (1 - high) * np.exp((order - 1) * (t - epsilon))) / (order - 1)
    worst = float(BoundedRange(epsilon).log_mgf(np.array([order - 1.0 + 0j]))[0].real) / (order - 1)
    assert single.max() <= worst <= epsilon


@pytest.mark.parametrize("epsilon", [699.9, 700.1, 705.0, 1500.0])
def test_rates_where_the_exponential_is_hardly_a_double(epsilon):
    """Beta must not stay at what it is for an epsilon of 700."""
    alpha = np.array([0.0, 1e-320, 1e-300, 1e-200, 0.01, 0.5, 1.0])
    beta, power = BoundedRange(epsilon).beta_bounds(alpha)[0], BoundedRange(epsilon).power_bounds(alpha)[0]
    with mp.workdps(700):
        for a, missed, found in zip(alpha.tolist(), beta.tolist(), power.tolist(), strict=True):
            odds = mp.exp(mp.mpf(epsilon)) * mp.mpf(a)
            assert missed == pytest.approx(float((1 - mp.mpf(a)) / (1 - mp.mpf(a) + odds)), rel=1e-11, abs=1e-320)
            assert found == pytest.approx(float(odds / (1 - mp.mpf(a) + odds)), rel=1e-11)


def plain_step(low, high, step, epsilon, cells):
    """One more choice by every cell of t, one after the other, without a search for the optimum."""
    h, r = epsilon / cells, math.exp(-epsilon)
    x = np.arange(-cells, (step + 1) * cells + 1) * h

    def extended(delta):
        beyond = np.concatenate((delta, np.zeros(2 * cells)))
        below = x[:cells]
        return np.concatenate((-np.expm1(below) + np.exp(below) * beyond[cells:0:-1], beyond))

    def moved(delta, by):
        return extended(delta)[cells - by : cells - by + step * cells + 1]

    least = np.zeros(step * cells + 1)
    most = least.copy()
    for j in range(cells + 1):
        q = np.expm1(j * h - epsilon) / np.expm1(-epsilon)
        rest = np.expm1(j * h) / np.expm1(epsilon)
        least = np.maximum(least, q * moved(low, j) + rest * moved(low, j - cells))
    for j in range(1, cells + 1):
        u, v = math.exp(-(j - 1) * h), math.exp(-j * h)  # both chords at many places in between
        for share in np.linspace(0.0, 1.0, 41):
            w = v + share * (u - v)
            ends = [(moved(high, i) / y, r * moved(high, i - cells) / y) for i, y in ((j, v), (j - 1, u))]
            a, b = (first + share * (second - first) for first, second in zip(*ends, strict=True))
            most = np.maximum(most, ((w - r) * a + (1.0 - w) * b) / (1.0 - r))
    return least, np.minimum(most, 1.0)


@pytest.mark.parametrize(("epsilon", "k", "cells"), [(1.0, 4, 37), (0.05, 3, 40), (12.0, 3, 33), (60.0, 2, 70)])
def test_the_search_for_the_optimum_misses_no_cell(epsilon, k, cells) -> None:
    low, high = np.zeros(1), np.zeros(1)
    for step in range(1, k + 1):
        low, high = plain_step(low, high, step, epsilon, cells)
    _, least, most = _Recursion(epsilon, k, cells).tables
    assert least == pytest.approx(low, rel=1e-11, abs=1e-300)
    assert (most >= high * (1 - 1e-12)).all()
    assert most == pytest.approx(high, rel=2e-3, abs=1e-12)  # the chords at 41 places only

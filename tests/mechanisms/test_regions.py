"""Numbers of single mechanisms: published ones, and the same by brute force."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcore
from dpcore import DomainError, parse
from dpcore.curves.bounded_laplace import BoundedLaplaceCurve
from dpcore.mechanisms import gaussian, randomized_response

FEW = settings(max_examples=30, deadline=None)


def test_the_classical_gaussian_claim_is_false_above_one() -> None:
    region = dpcore.gaussian_classic(10, 1e-5)
    assert region.delta(10) == pytest.approx(2.265e-5, abs=1e-8)
    assert region.delta(10) > 1e-5
    assert dpcore.gaussian_classic(0.9, 1e-5).delta(0.9) < 1e-5


@FEW
@given(st.floats(0.01, 20), st.floats(-12, -0.5))
def test_the_exact_calibration_is_met_and_tight(epsilon: float, exponent: float) -> None:
    delta = 10.0**exponent
    region = dpcore.gaussian_analytic(epsilon, delta)
    assert region.delta(epsilon) <= delta
    assert region.delta(epsilon) == pytest.approx(delta, rel=1e-9)
    assert gaussian.largest_mu(epsilon, delta) == pytest.approx(1 / region.noise, rel=1e-14)


def test_true_positive_rates_of_the_gaussian_far_down() -> None:
    published = [0.01830, 0.003274, 0.0005475, 8.7218e-5, 1.3385e-5, 1.99405e-6, 2.8993e-7, 4.1303e-8]
    rates = 10.0 ** -np.arange(3, 11)
    np.testing.assert_allclose(dpcore.gaussian(1).power(rates), published, rtol=1e-3)
    with mp.workdps(30):
        for rate in (1e-3, 1e-10, 1e-100):
            threshold = mp.findroot(
                lambda x, r=rate: mp.log(mp.erfc(x / mp.sqrt(2)) / 2) - mp.log(r), mp.sqrt(-2 * mp.log(rate))
            )
            truth = mp.erfc((threshold - 1) / mp.sqrt(2)) / 2
            assert dpcore.gaussian(1).power(rate) == pytest.approx(float(truth), rel=1e-10)


@FEW
@given(st.floats(1e-3, 30), st.floats(0, 40))
def test_gaussian_profile_in_high_precision(mu: float, epsilon: float) -> None:
    with mp.workdps(60):
        m, e = mp.mpf(mu), mp.mpf(epsilon)
        truth = mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)
    if truth > 1e-300:
        assert dpcore.gdp(mu).delta(epsilon) == pytest.approx(float(truth), rel=1e-10)


def test_randomized_response_forms() -> None:
    assert dpcore.rr(math.log(1.5)).beta(0.25) == pytest.approx(0.625, abs=1e-15)
    assert randomized_response.from_gamma(0.1).epsilon(0.0) == pytest.approx(math.log(1.5), rel=1e-14)
    assert randomized_response.from_nu(0.2).epsilon(0.0) == pytest.approx(math.log(1.5), rel=1e-14)
    for bad in (0.5, -0.1, math.nan):
        with pytest.raises(DomainError, match="gamma"):
            randomized_response.from_gamma(bad)
    with pytest.raises(DomainError, match="nu"):
        randomized_response.from_nu(1.0)


def test_geometric_is_a_group_of_single_steps() -> None:
    e = np.linspace(0, 2, 21)
    for steps in (2, 3, 7):
        group = dpcore.group(dpcore.dp(2.0 / steps), steps)
        np.testing.assert_allclose(dpcore.geometric(2.0, steps).delta(e), group.delta(e), atol=1e-14)


def test_histogram_is_two_laplace_cells_by_brute_force() -> None:
    """Second route: the loss of one cell has atoms and a density; convolve them on a fine grid."""
    h = 0.5
    region = parse("histogram(1)")
    assert region.total_variation == pytest.approx(0.241837, abs=5e-7)
    node, weight = np.polynomial.legendre.leggauss(400)
    loss, w = h * node, h * weight
    one = [
        (np.array([h]), np.array([0.5])),
        (np.array([-h]), np.array([math.exp(-h) / 2])),
        (loss, w * np.exp((loss - h) / 2) / 4),
    ]
    for epsilon, published in ((0.0, 0.24183668), (0.25, 0.18384398), (0.5, 0.12384912), (0.9, 0.02498984)):
        total = sum(
            float(qa @ np.maximum(-np.expm1(np.minimum(epsilon - a[:, None] - b[None, :], 0.0)), 0.0) @ qb)
            for a, qa in one
            for b, qb in one
        )
        assert region.delta(epsilon) == pytest.approx(published, abs=1e-8)
        assert region.delta(epsilon) == pytest.approx(total, abs=2e-5)


def test_vector_shifts_compose_coordinate_by_coordinate() -> None:
    e = np.linspace(0, 2, 9)
    np.testing.assert_allclose(parse("laplace_vector(2, [1, 1])").delta(e), parse("histogram(1)").delta(e), rtol=1e-12)
    one, zero = parse("laplace_vector(2, [3, 0])").delta(e), parse("laplace(1.5)").delta(e)
    np.testing.assert_allclose(one, zero, rtol=1e-12)


# ---- exponential mechanism -----------------------------------------------------------------------------------


@FEW
@given(st.floats(0.05, 6), st.integers(2, 6), st.integers(0, 2**31))
def test_no_exponential_mechanism_leaves_the_worst_case(epsilon: float, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.uniform(1, 7, size)
    pair = dpcore.exponential_scores(epsilon, scores, scores + rng.uniform(-1, 1, size))
    e = np.linspace(-epsilon, epsilon, 41)
    assert np.all(pair.delta(e) <= dpcore.exponential(epsilon).delta(e) + 1e-14)


def test_the_worst_case_is_attained_by_its_two_point_pairs() -> None:
    epsilon = 1.3
    region = dpcore.exponential(epsilon)
    for x in (-0.9, 0.0, 0.4, 1.2):
        best = 0.0
        for t in np.linspace(0, epsilon, 20_001):
            p = (math.exp(-t) - math.exp(-epsilon)) / -math.expm1(-epsilon)
            q = p * math.exp(t)
            best = max(best, max(0, q - math.exp(x) * p) + max(0, 1 - q - math.exp(x) * (1 - p)))
        assert region.delta(x) == pytest.approx(best, abs=1e-8)


def test_adaptive_choices_in_words_and_numbers() -> None:
    region = parse("exponential(1)^2")
    lower, upper = region.delta_bounds(0.0)
    assert lower[0] <= 0.30345 <= upper[0] + 1e-4
    assert upper[0] == pytest.approx(0.3034, abs=1e-4)
    fixed, tensor = 0.288317, 0.322606
    assert fixed < lower[0] <= upper[0] < tensor


# ---- bounded Laplace -----------------------------------------------------------------------------------------


def deltas_of_pair(epsilon: float, first: float, second: float, width: float) -> float:
    """Return delta of one pair of answers by Gauss-Legendre between the corners, the crossing found by bisection."""

    def density(x: np.ndarray, m: float) -> np.ndarray:
        return np.exp(-np.abs(x - m)) / (2 - math.exp(-m) - math.exp(m - width))

    grid = np.unique(np.concatenate((np.linspace(0, width, 801), [first, second])))
    node, weight = np.polynomial.legendre.leggauss(8)
    half, middle = np.diff(grid) / 2, (grid[1:] + grid[:-1]) / 2
    x, w = (middle[:, None] + half[:, None] * node).ravel(), (half[:, None] * weight).ravel()
    return float(w @ np.maximum(density(x, second) - math.exp(epsilon) * density(x, first), 0.0))


@FEW
@given(st.floats(0.1, 12), st.floats(0.02, 1), st.integers(0, 2**31))
def test_bounded_laplace_is_never_below_any_pair(width: float, share: float, seed: int) -> None:
    shift = share * width
    curve = BoundedLaplaceCurve(width, shift)
    rng = np.random.default_rng(seed)
    epsilon = np.concatenate(([0.0], rng.uniform(0, curve.max_loss, 3)))
    lower, upper = curve.delta_bounds(epsilon)
    assert np.all(lower <= upper)
    for _ in range(6):
        d = shift * rng.choice([1.0, rng.random()])
        a = rng.choice([0.0, width - d, rng.uniform(0, width - d)])
        for e, low, high in zip(epsilon, lower, upper, strict=True):
            for pair in ((a, a + d), (a + d, a)):
                assert deltas_of_pair(e, *pair, width) <= high + 2e-6
            assert low <= high


@pytest.mark.parametrize(("width", "shift"), [(10.0, 1.0), (1.0, 1.0), (1000.0, 0.01), (60.0, 1.0), (0.01, 0.004)])
def test_bounded_laplace_scanned_over_all_places(width: float, shift: float) -> None:
    """The closed form of one pair at many thousand places, none above the published value."""
    curve = BoundedLaplaceCurve(width, shift)
    epsilon = np.concatenate(([0.0], np.linspace(0.02, 1, 40) * curve.max_loss))
    lower, upper = curve.delta_bounds(epsilon)
    away = np.concatenate(([0.0], np.geomspace(1e-12 * width, width - shift, 6000))) if width > shift else np.zeros(1)
    worst = np.array([curve._pair(np.array(e), away).max() for e in epsilon])
    assert np.all(worst <= upper)
    assert np.all(lower <= worst * (1 + 1e-5) + 1e-15)
    np.testing.assert_allclose(upper, worst, rtol=1e-5, atol=1e-15)


def test_bounded_laplace_pair_in_high_precision() -> None:
    width, shift, a = 3.0, 0.8, 1.7
    curve = BoundedLaplaceCurve(width, shift)
    b = a + shift
    with mp.workdps(30):

        def density(x: mp.mpf, m: float) -> mp.mpf:
            return mp.exp(-abs(x - m)) / (2 - mp.exp(-m) - mp.exp(m - width))

        for e in (0.0, 0.3, 0.9):
            kappa = mp.log((2 - mp.exp(-a) - mp.exp(a - width)) / (2 - mp.exp(-b) - mp.exp(b - width)))
            cross = min(max((e - kappa + a + b) / 2, a), b)
            gain = mp.quad(lambda x, e=e: density(x, b) - mp.exp(e) * density(x, a), [cross, b, width])
            assert float(curve._pair(np.array(e), np.array(width - b))) == pytest.approx(float(gain), rel=1e-12)


@pytest.mark.parametrize(("width", "shift"), [(1.0, 1e-12), (48.97035, 0.489703), (1e-9, 1e-20), (30.0, 1e-6)])
def test_bounded_laplace_of_a_small_move_in_high_precision(width: float, shift: float) -> None:
    """The loss of a move of 1e-12 is a difference of two logarithms that agree to twelve digits."""
    curve = BoundedLaplaceCurve(width, shift)
    share = np.array([0.0, 0.3, 0.9, 0.999])
    lower, upper = curve.delta_bounds(share * curve.max_loss)
    with mp.workdps(60):
        w, s = mp.mpf(width), mp.mpf(shift)
        for place, epsilon in enumerate(share * curve.max_loss):
            worst = mp.mpf(0)
            for d in (mp.mpf(0), *((w - s) * mp.exp(-mp.mpf(i) / 10) for i in range(200))):
                first, second = w - d - s, w - d
                norms = [2 - mp.exp(-m) - mp.exp(m - w) for m in (first, second)]
                z = max((s + mp.log(norms[0] / norms[1]) - mp.mpf(float(epsilon))) / 2, 0)
                worst = max(worst, ((1 - mp.exp(-d)) * (1 - mp.exp(-2 * z)) + (1 - mp.exp(-z)) ** 2) / norms[1])
            assert worst <= mp.mpf(float(upper[place]))
            assert lower[place] <= upper[place] <= float(worst) * 1.01


def test_bounded_laplace_limits() -> None:
    wide = dpcore.bounded_laplace(1, 0, 400, 1)
    assert wide.delta(0.0) == pytest.approx(1 - math.exp(-0.5), rel=1e-8)
    assert wide.delta(1.2) > 0  # answers at the edge leak more than the unbounded mechanism, whose loss ends at 1
    assert dpcore.bounded_laplace(math.inf, 0, 1, 1).total_variation == 0
    end = 1 + math.log((2 - math.exp(-1) - math.exp(-9)) / (1 - math.exp(-10)))
    assert dpcore.bounded_laplace(1, 0, 10, 1).epsilon(0.0) == pytest.approx(end, rel=1e-12)
    with pytest.raises(DomainError, match="below upper"):
        dpcore.bounded_laplace(1, 2, 2, 1)

"""Fast routes of composed curves against closed forms: 1 - delta, ceilings, sketches, curves and roots from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr, ndtri

from dpcore import parse
from dpcore.curves.combined import closed
from dpcore.curves.composed import Certified
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.laplace import LaplaceCurve
from dpcore.curves.subsampled import SampledGaussian
from dpcore.engine import mixture_mgf
from dpcore.engine.contour import Contour
from dpcore.engine.contour_product import TransformProduct
from dpcore.engine.contour_table import mirrored, saddle_table
from dpcore.engine.normal_jumps import Jumps

ALPHA = np.concatenate((np.geomspace(1e-25, 0.5, 400), 1 - np.geomspace(0.5, 1e-14, 400)))


def gaussian_sides(mu: float, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return delta and 1 - delta of one Gaussian of mean mu."""
    up, down = epsilon / mu - mu / 2, -epsilon / mu - mu / 2
    rest = ndtr(up) + np.exp(epsilon + log_ndtr(down))
    delta = ndtr(-up) - np.exp(epsilon + log_ndtr(down))
    return delta, rest


def fine_transform(s: np.ndarray, mu: float, q: float) -> np.ndarray:
    """Return M(s) of a subsampled Gaussian on nodes so close that every phase up to |Im s| = 800 is resolved."""
    reach = np.abs(s.real + 1).max() * mu + 12
    x = np.arange(-reach, reach, 0.002)
    ratio = np.log1p(q * np.expm1(mu * x - mu * mu / 2))
    weight = -x * x / 2 - 0.5 * np.log(2 * np.pi) + np.log(0.002)
    return np.array([np.exp(weight + (at + 1) * ratio).sum() for at in s])


class TestContour:
    @pytest.mark.parametrize("mu", [0.5, 3.0, 12.0])
    def test_the_complement_has_its_own_digits(self, mu: float) -> None:
        epsilon = np.linspace(0.0, mu * mu / 2 + 3 * mu, 60)
        engine = Contour([(GaussianCurve(mu / 7), 49)], 1e-6)
        _, (low, high) = engine.two_sided(epsilon)
        _, rest = gaussian_sides(mu, epsilon)
        assert np.all(low <= rest * (1 + 1e-13))
        assert np.all(high >= rest * (1 - 1e-13))
        assert np.max((high - low) / high) < 1e-8

    @pytest.mark.parametrize("mu", [0.5, 3.0])
    def test_the_ceiling_is_above_delta_and_not_far(self, mu: float) -> None:
        epsilon = np.linspace(0.0, mu * mu / 2 + 5 * mu, 40)
        ceiling = Contour([(GaussianCurve(mu / 7), 49)], 1e-6).ceiling(epsilon)
        delta, _ = gaussian_sides(mu, epsilon)
        assert np.all(ceiling >= delta)
        assert np.all(ceiling[-20:] <= 100 * delta[-20:] + 1e-300)

    def test_the_exchanged_pair_has_the_mirrored_saddle_points(self) -> None:
        pair = SampledGaussian(GaussianCurve(1.0), 0.02)
        forward, backward = (TransformProduct([(curve, 300)]) for curve in (pair, pair.inverse()))
        for one, two in zip(mirrored(saddle_table(forward)), saddle_table(backward), strict=True):
            assert one.c == pytest.approx(two.c, rel=1e-9)
            assert one.epsilon == pytest.approx(two.epsilon, rel=1e-7, abs=1e-7)
            assert one.value == pytest.approx(two.value, rel=1e-7, abs=1e-7)

    def test_the_outline_is_close(self) -> None:
        mu = 2.0
        outline = Contour([(GaussianCurve(mu / 10), 100)], 1e-6).outline()
        assert outline is not None
        epsilon = np.linspace(-8, 12, 50)
        exact = log_ndtr(epsilon / mu + mu / 2) - log_ndtr(-epsilon / mu - mu / 2)
        assert np.max(np.abs(np.interp(epsilon, outline.epsilon, outline.score) - exact)) < 0.5
        delta, _ = gaussian_sides(mu, np.linspace(0.5, 12, 50))
        found = np.interp(np.linspace(0.5, 12, 50), outline.epsilon, outline.log_delta)
        assert np.max(np.abs(found - np.log(delta))) < 0.4


class TestCurves:
    @pytest.mark.parametrize(("mu", "k"), [(0.3, 50), (0.02, 10_000), (0.9, 100)])
    def test_gaussian_product_without_its_closed_form(self, mu: float, k: int) -> None:
        curve = Certified([(GaussianCurve(mu), k)])
        low, high = curve.beta_bounds(ALPHA)
        whole = mu * np.sqrt(k)
        # 1 - alpha is exact above one half: the quantile keeps its digits there
        quantile = np.where(ALPHA < 0.5, -ndtri(ALPHA), ndtri(1 - ALPHA))
        truth = ndtr(quantile - whole)
        told = truth > 1e-30
        assert np.all(low[told] <= truth[told] * (1 + 1e-11))
        assert np.all(high[told] >= truth[told] * (1 - 1e-11))
        assert np.max(((high - low) / high)[told]) <= 1e-6
        safe = curve.beta_safe(ALPHA)
        assert np.all(safe[told] <= truth[told] * (1 + 1e-11))
        assert np.all(safe[told] >= truth[told] * (1 - 1e-6))

    def test_a_few_rates_agree_with_many(self) -> None:
        curve = Certified([(LaplaceCurve(0.3), 400), (GaussianCurve(0.5), 1)])
        many = curve.beta_bounds(ALPHA)
        few = curve.beta_bounds(ALPHA[::100])
        assert np.all(few[0] <= many[1][::100] * (1 + 1e-12))
        assert np.all(few[1] >= many[0][::100] * (1 - 1e-12))

    @pytest.mark.parametrize("delta", [0.3, 1e-2, 1e-5, 1e-12, 1e-40])
    def test_roots(self, delta: float) -> None:
        low, high = Certified([(GaussianCurve(0.1), 400)]).epsilon_bounds(np.array([delta]))
        exact = GaussianCurve(2.0).epsilon_bounds(np.array([delta]))[1]
        assert low <= exact * (1 + 1e-12)
        assert high >= exact * (1 - 1e-12)
        assert high - low <= 1e-8 * high

    def test_no_epsilon_is_needed_above_the_delta_at_zero(self) -> None:
        low, high = Certified([(GaussianCurve(0.1), 4)]).epsilon_bounds(np.array([0.5, 1.0]))
        assert np.all(low == 0)
        assert np.all(high == 0)


class TestBothDirections:
    @pytest.mark.parametrize(("k", "epsilon"), [(1000, [0, 0.1, 0.5, 1, 2, 4]), (300, [0, 0.1, 0.5, 1, 3])])
    def test_a_direction_left_out_was_the_smaller_one(self, k: int, epsilon: list[float]) -> None:
        at = np.array(epsilon, dtype=np.float64)
        forward = Certified([(SampledGaussian(GaussianCurve(1.0), 0.01), k)])
        low, high = closed(forward).delta_bounds(at)
        parts = [Certified(list(forward.parts)).delta_bounds(at), Certified(forward.inverse().parts).delta_bounds(at)]
        assert high == pytest.approx(np.maximum(parts[0][1], parts[1][1]), rel=1e-9)
        assert low == pytest.approx(np.maximum(parts[0][0], parts[1][0]), rel=1e-9)

    @pytest.mark.parametrize("q", [0.001, 0.01, 0.2])
    @pytest.mark.parametrize("c", [-9.0, -3.3, -0.5, 0.7, 4.0, 12.0])
    def test_decay_holds_everywhere_above(self, q: float, c: float) -> None:
        mu = 1.0
        rng = np.random.default_rng(5)
        for y in (0.05, 0.5, 3.0, 20.0, 90.0):
            above = np.append(y, y * (1 + rng.exponential(0.5, 20)))
            values = fine_transform(c + 1j * np.append(0.0, above), mu, q)
            bound = mixture_mgf.log_decay(c, y, Jumps.single(mu, q))
            # the sum on the real axis cannot tell less than its own rounding
            assert np.max(np.abs(values[1:])) / abs(values[0]) <= np.exp(bound) + 1e-14
            assert y < 90 or q < 0.01 or bound < -0.005  # not by saying nothing

    def test_scattered_points_agree_with_a_finer_rule(self) -> None:
        points = np.array([-6.0, -1.5, -0.3, 0.4, 7.0, 20.0, 24.0]) + 1j * np.array([0, 1e-20, 0.5, 2, 0, 1, 3])
        scattered = mixture_mgf._scattered(points, Jumps.single(1.3, 0.03))
        for point, found in zip(points, scattered, strict=True):
            value, at_c = fine_transform(np.array([point, point.real + 0j]), 1.3, 0.03)
            assert abs(np.exp(found) - value) <= 1e-12 * abs(at_c)

    def test_a_tiny_step_gives_the_derivative(self) -> None:
        step = mixture_mgf._scattered(np.array([2.5 + 1e-20j]), Jumps.single(1.0, 0.05)).imag[0] / 1e-20
        up, down = fine_transform(np.array([2.5 + 1e-4, 2.5 - 1e-4]) + 0j, 1.0, 0.05).real
        assert step == pytest.approx((np.log(up) - np.log(down)) / 2e-4, rel=1e-6)


@pytest.mark.parametrize("k", [1000, 10_000])
def test_laplace_curve_is_narrow_down_to_tiny_rates(k: int) -> None:
    low, high = parse(f"laplace(0.1)^{k}").beta_bounds(ALPHA)
    told = high > 1e-30
    assert np.all(low <= high)
    assert np.max(((high - low) / high)[told]) <= 1e-6
    # the curve is its own inverse
    inside = told & (high < 1 - 1e-9) & (high > 1e-24)
    back_low, back_high = parse(f"laplace(0.1)^{k}").beta_bounds(low[inside])
    assert np.all(back_high >= ALPHA[inside] * (1 - 1e-9))
    assert np.all(back_low <= ALPHA[inside] * (1 + 1e-3))

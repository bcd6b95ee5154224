"""The best Gaussian curve on a range of rates: brackets by brute force, and the published number of noisy gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dpcore import parse
from dpcore.curves.gaussian_range import ALPHA, best_gaussian

EPSILON = np.linspace(0.0, 32.0, 32_001)


def gaussian_profile(mu: float) -> np.ndarray:
    return np.asarray(ndtr(mu / 2 - EPSILON / mu) - np.exp(EPSILON) * ndtr(-mu / 2 - EPSILON / mu))


def brute_force(delta: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return the power at each alpha up to the diagonal, by the lowest of 32 001 tangents."""
    return np.array([(delta + np.exp(EPSILON) * a).min() for a in alpha])


def mixture_profile(mu: float, p: float) -> np.ndarray:
    """Return delta of (1 - p) N(0, 1) + p N(mu, 1) against N(0, 1), the larger direction, by the place of one loss."""
    spot = (np.log1p((np.exp(EPSILON) - 1) / p)) / mu + mu / 2
    ahead = (1 - p) * ndtr(-spot) + p * ndtr(mu - spot) - np.exp(EPSILON) * ndtr(-spot)
    rest = np.exp(-EPSILON) - 1 + p
    with np.errstate(divide="ignore", invalid="ignore"):
        back = np.where(rest > 0, np.log(rest / p) / mu + mu / 2, -np.inf)
    backward = ndtr(back) - np.exp(EPSILON) * ((1 - p) * ndtr(back) + p * ndtr(back - mu))
    return np.maximum(ahead, backward)


PROFILES = {
    "erase(gdp(1), 0.2)": 0.8 * gaussian_profile(1.0),
    "subsample(gdp(1), 0.1)": mixture_profile(1.0, 0.1),
    "poisson_gaussian(0.5, 0.3)": mixture_profile(2.0, 0.3),
}


@pytest.mark.parametrize("text", PROFILES)
@pytest.mark.parametrize("start", [1e-12, 1e-6])
def test_by_brute_force(text: str, start: float) -> None:
    delta = PROFILES[text]
    curve = parse(text).curve
    found = best_gaussian(curve, start)
    assert found is not None
    half = (1 - delta[0]) / 2
    alpha = np.geomspace(start, half, 1500)
    power = brute_force(delta, alpha)
    mu = float((ndtri(power) - ndtri(alpha)).max())
    assert found.mu[0] <= mu * (1 + 1e-6)
    assert mu <= found.mu[1] * (1 + 1e-6)
    assert found.mu[1] - found.mu[0] <= 1e-5 * found.mu[1]
    regret = float((1 - power - ndtr(-ndtri(alpha) - found.mu[1])).max())
    assert regret <= found.gap[1] + 1e-6
    assert found.gap[1] - found.gap[0] <= 1e-5
    assert found.alpha == start


def test_the_divergence_by_its_definition() -> None:
    """Both rates moved by kappa: at the upper kappa no point of the curve is left above G, below the lower one some is."""
    region = parse("laplace(1)^3")
    found = best_gaussian(region.curve)
    assert found is not None
    alpha = np.linspace(0.02, 0.5, 20_001)
    beta = region.beta(alpha)

    def excess(kappa: float) -> float:
        return float((beta - kappa - ndtr(-ndtri(np.maximum(alpha - kappa, 1e-300)) - found.mu[1])).max())

    assert excess(found.regret[1]) <= 1e-12
    assert excess(found.regret[0] * (1 - 1e-4)) > 0
    assert found.regret[1] - found.regret[0] <= 1e-6


@pytest.mark.parametrize("mu", [1e-3, 0.3, 1.0, 6.0])
def test_a_gaussian_curve_is_its_own(mu: float) -> None:
    found = best_gaussian(parse(f"gdp({mu!r})").curve)
    assert found is not None
    assert found.mu[0] <= mu <= found.mu[1] <= mu * (1 + 2e-6)
    assert found.mu[0] >= mu * (1 - 1e-6)
    assert found.gap[1] <= 1e-5


def test_the_range_goes_down_to_the_mirror_of_one_half() -> None:
    """With mu = 12 the rate missed at alpha = 1/2 is 2e-33: its mirror image is asked as well."""
    found = best_gaussian(parse("gdp(12) & dp(60)").curve)
    assert found is not None
    assert found.mu[0] <= 12.0 <= found.mu[1] <= 12.001


def test_the_published_number_of_noisy_gradients() -> None:
    """Gdpnum publishes mu = 1.56843 to 1.56856 and 0.0010208 for both rates moved at once: its range starts at 1e-10."""
    curve = parse("poisson_gaussian(9.4, 0.328)^2000").curve
    found = best_gaussian(curve, 1e-10)
    assert found is not None
    assert found.mu == pytest.approx((1.56847, 1.56847), abs=1e-5)
    assert found.mu[1] == pytest.approx(1.56843, abs=1e-4)
    assert found.regret[1] == pytest.approx(0.0010208, abs=3e-6)
    wider = best_gaussian(curve)
    assert wider is not None
    assert wider.alpha == ALPHA == 1e-12
    assert wider.mu == pytest.approx((1.56931, 1.56931), abs=1e-5)
    assert wider.mu[0] > found.mu[1]
    assert wider.gap == pytest.approx((0.00277, 0.00277), abs=1e-5)


def test_the_lower_side_is_violated_by_a_smaller_mu() -> None:
    region = parse("gaussian(1) * laplace(1)")
    found = best_gaussian(region.curve)
    assert found is not None
    alpha = np.geomspace(1e-12, 0.3, 200)
    low, high = region.curve.power_bounds(alpha)
    assert (ndtri(low) - ndtri(alpha)).max() <= found.mu[1]
    assert (ndtri(high) - ndtri(alpha)).max() >= found.mu[0] - 1e-4


def test_no_finite_mu() -> None:
    assert best_gaussian(parse("tv(0.6)").curve) is None
    assert best_gaussian(parse("dp(inf)").curve) is None
    assert math.isfinite(best_gaussian(parse("dp(1, 1e-5)").curve).mu[1])  # type: ignore[union-attr]  # it exists

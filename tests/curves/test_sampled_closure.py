"""The border of a sampled region in closed form, beside the duality that needs only its deltas."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.charts.sampling import sample
from dpcore.core.effort import effort
from dpcore.curves import duality
from dpcore.curves.subsampled import SampledClosure
from dpcore.language import parse

RATES = np.unique(
    np.concatenate((np.geomspace(1e-13, 0.5, 60), np.linspace(0, 1, 51), 1 - np.geomspace(1e-12, 0.5, 40)))
)


@pytest.mark.parametrize(
    "text",
    [
        "poisson(gaussian(1), 0.1)",
        "poisson(gaussian(0.1), 0.001)",
        "poisson(gaussian(0.03), 0.999)",
        "poisson(gdp(0.01), 0.3)",
        "poisson(gaussian(1), 1e-12)",
        "poisson(laplace(1), 0.1)",
        "subsample(gaussian(1), 0.9)",
        "subsample(laplace(3), 0.5)",
        "subsample(gaussian(1)^5, 0.2)",
    ],
)
def test_border_by_formula_and_by_duality(text: str) -> None:
    """Every beta lies in the narrow bracket of the duality, powers keep small digits, and the points drawn are exact."""
    region = parse(text)
    curve = region.curve
    assert isinstance(curve, SampledClosure)
    with effort(tolerance=1e-9):
        lower, upper = duality.beta_bounds(curve, RATES)
    beta, power = curve.beta_bounds(RATES)[0], curve.power_bounds(RATES)[0]
    assert np.all(beta >= lower * (1 - 1e-12))
    assert np.all(beta <= upper * (1 + 1e-12) + 2e-16)
    assert np.allclose(power, 1 - beta, rtol=0, atol=1e-15)
    assert region.dual  # betas and deltas belong together
    assert (sample(region)["kind"] == "exact").all()


def test_power_of_a_small_rate() -> None:
    """At a tiny rate the power has all its digits: s times the Gaussian's own, and (1 - s) of blind guessing."""
    curve = parse("poisson(gaussian(1), 0.1)").curve
    assert curve.power_bounds(np.array([1e-15]))[0][0] == pytest.approx(_power_by_mpmath(), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("subsample(gdp(148), 0.36787944117144233)", 0.36787944117144233),
        ("truncated_poisson(0.0111, 0.3, 10, 100)", None),
    ],
)
def test_a_corner_below_all_doubles(text: str, share: float | None) -> None:
    """A base without privacy is found in every sample: 1 - s - alpha up to 1 - s, then 0."""
    alpha = np.array([1e-5, 0.3, 0.65, 0.9, 1.0])
    lower, upper = parse(text).beta_bounds(alpha)
    assert ((lower >= 0) & (lower <= upper)).all()
    if share is not None:
        assert lower == pytest.approx(np.maximum(1 - share - alpha, 0), abs=1e-15)


def _power_by_mpmath() -> float:
    import mpmath

    with mpmath.workdps(30):
        alpha = mpmath.mpf("1e-15")
        place = mpmath.findroot(lambda z: mpmath.erfc(-z / mpmath.sqrt(2)) / 2 - alpha, -7.94)
        return float(mpmath.mpf("0.1") * mpmath.erfc(-(place + 1) / mpmath.sqrt(2)) / 2 + mpmath.mpf("0.9") * alpha)

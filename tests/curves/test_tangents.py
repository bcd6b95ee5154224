"""What tangents say: the smallest Gaussian statement of a curve, and the area under it."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpcore import parse
from dpcore.charts import loss_table
from dpcore.curves.quantiles import pure_mu
from dpcore.curves.tangents import smallest_mu


@pytest.mark.parametrize("epsilon", [1e-308, 1e-12, 1e-3, 0.5, 0.999, 1.0, 3.0, 600.0])
def test_the_mu_of_pure_privacy_in_high_precision(epsilon: float) -> None:
    with mp.workdps(400):
        truth = 2 * mp.sqrt(2) * mp.erfinv(mp.tanh(mp.mpf(epsilon) / 2))
        assert float(abs(pure_mu(epsilon) / truth - 1)) < 1e-13


@pytest.mark.parametrize("text", ["laplace(1e-300)", "laplace(1e-8)", "dp(1e-9) & tv(1e-10)"])
def test_a_tiny_loss_is_not_rounded_to_none(text: str) -> None:
    region = parse(text)
    found = smallest_mu(region.curve)
    assert found is not None
    # a Gaussian curve of this mu has at least the total variation of the region
    assert found[0] / 2.5066282746310002 >= region.total_variation


@pytest.mark.parametrize("text", ["laplace(800)", "laplace(700)", "gaussian(0.02)"])
def test_the_loss_chart_of_no_privacy(text: str) -> None:
    table = loss_table(parse(text))
    assert table["mass"].sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "erase(rdp(1.0117777719827625, 0.05247672138726094), 0.10621998853529091)", marks=pytest.mark.long
        ),
        pytest.param("subsample(rdp(1.01, 0.05), 0.5)", marks=pytest.mark.long),
        "erase(gdp(6), 0.001)",
        "laplace(30) * gdp(1)",
    ],
)
def test_an_area_is_found_where_the_losses_reach_far(text: str) -> None:
    region = parse(text)
    # alpha and its mirror, each as fine near 0 as near 1: the sums of a falling function enclose its area
    alpha = np.geomspace(1e-16, 0.5, 6000)
    alpha = np.unique(np.concatenate(([0.0], alpha, 1.0 - alpha)))
    low, high = region.beta_bounds(alpha)
    middle = 1.0 - region.total_variation
    half = alpha <= middle / 2
    # twice what lies above the diagonal: there the curve is known to all its digits
    run, gap = np.diff(alpha[half]), (low - alpha)[half]
    least = 2.0 * float(np.sum(run * gap[1:]))
    most = 2.0 * float(np.sum(run * (high - alpha)[half][:-1])) + middle * float(alpha[~half][0] - alpha[half][-1])
    assert least * (1 - 1.5e-3) <= region.area <= most

"""The smallest Gaussian statement of a curve keeps its digits where almost nothing is lost."""

from __future__ import annotations

import mpmath as mp
import pytest

from dpcore import parse
from dpcore.charts import loss_table
from dpcore.curves.tangents import pure_mu, smallest_mu


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

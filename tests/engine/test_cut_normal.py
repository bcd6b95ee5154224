"""Transforms of a cut normal variable, off the real axis: beside a quadrature on the axis itself."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.engine.cut_normal import LOWEST, CutNormal
from dpcore.engine.lognormal_sum import LogNormal
from dpcore.engine.normal_jumps import Jumps
from dpcore.engine.trimmed_mixture import ExchangedTrim, Trimmed

PANELS, NODES = 400, 24


def on_the_axis(law: CutNormal, power: float, y: float) -> tuple[complex, float]:
    """Return M(s) / M(Re s), by Gauss and Legendre on short panels of the real axis, and the rounding of the exponents."""
    node, weight = np.polynomial.legendre.leggauss(NODES)
    edges = np.linspace(LOWEST, law.high, PANELS + 1)
    half = 0.5 * np.diff(edges)[:, None]
    x = (edges[:-1, None] + half + half * node).ravel()
    g = law.value(x)
    exponent = power * g - x * x / 2
    mass = (half * weight).ravel() * np.exp(exponent - exponent.max())
    mass /= mass.sum()
    return complex(mass @ np.exp(1j * y * g)), 2.0**-53 * (1e3 + abs(power) * float(np.abs(g[mass > 1e-20]).max()))


@pytest.mark.parametrize("c", [3e4, 7e4, 9e4, 1.3e5])
@pytest.mark.parametrize("share", [0.03, 0.3])
def test_weight_at_the_left_end(c: float, share: float) -> None:
    """The exponent moves the weight by c q m standard deviations to the left, up to the cut and beyond."""
    trimmed = Trimmed(Jumps.single(0.01, 0.01), 1e-25)
    pair, y = ExchangedTrim(trimmed), share * c
    at = np.array([complex(c, 0.0), complex(c, y)])
    start, log_m = pair.log_mgf(at)
    ratio = np.exp(log_m - start)
    truth, slack = on_the_axis(trimmed, -c, -y)
    assert abs(ratio - truth) <= 2.0**-53 * pair.mgf_rounding_along(at)[1] + slack
    assert np.exp(pair.log_decay(c, y)) >= abs(truth) * (1 - 1e-9)


@pytest.mark.parametrize("c", [1e5, 5e5, 2e6, 1e8])
def test_exponents_beyond_those_of_doubles_on_the_left(c: float) -> None:
    """Next to the largest loss of the exchanged pair M is (1 - q)^-c, times the chance of no jump."""
    mu, q = 3.0, 1e-3
    trimmed = Trimmed(Jumps.single(mu, q), 1e-25)
    value, slope = ExchangedTrim(trimmed).cumulants(np.array([c]))
    x = np.linspace(LOWEST, trimmed.high, 400_001)
    exponent = -c * np.log1p(q * np.expm1(mu * x - mu * mu / 2)) - x * x / 2 - 0.5 * np.log(2 * np.pi)
    top = exponent.max()
    truth = top + np.log(np.exp(exponent - top).sum() * (x[1] - x[0]))
    assert value[0] == pytest.approx(truth, rel=1e-9)
    assert 0.0 < slope[0] < -np.log1p(-q)


@pytest.mark.parametrize("c", [-1e3, -1e5, -2e6])
def test_lower_tails_of_lognormal_variables(c: float) -> None:
    law = LogNormal(0.5, 9.0, 0.01)
    at = np.array([complex(c, 0.0), complex(c, 0.3 * c)])
    start, log_m = law.log_mgf(at)
    truth, slack = on_the_axis(law, c, 0.3 * c)
    assert abs(np.exp(log_m - start) - truth) <= 2.0**-53 * law.mgf_rounding_along(at)[1] + slack
    assert np.exp(law.log_decay(c, 0.3 * abs(c))) >= abs(truth) * (1 - 1e-9)


def test_exponents_that_need_shorter_panels_are_refused() -> None:
    """All weight is within a thousandth of the left end, where a panel would miss most of it."""
    law = LogNormal(0.5, 9.0, 0.01)
    assert law.ends[0] > -1e8
    assert np.isnan(law.cumulants(np.array([-1e8]))).all()

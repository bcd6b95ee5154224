"""The profile around a grid: the same numbers as the contour gives one by one, and their slopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from mpmath import mp

from dpcore import parse
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.laplace import LaplaceCurve
from dpcore.engine.contour import Contour

if TYPE_CHECKING:
    from dpcore.engine.contour_local import Local

PRODUCTS = {
    "equal": ([(LaplaceCurve(0.1), 1000)], 30.0, 0.75),
    "many": ([(LaplaceCurve(0.1), 10_000)], 150.0, 2.4),
    "mixed": ([(LaplaceCurve(0.1), 300), (LaplaceCurve(0.3), 100), (GaussianCurve(0.5), 1)], 15.0, 0.9),
    "strong": ([(LaplaceCurve(1.0), 300)], 200.0, 2.6),
}


def expanded(name: str, tolerance: float = 1e-6) -> tuple[Contour, Local]:
    parts, far, step = PRODUCTS[name]
    engine = Contour(parts, tolerance)
    local = engine.expanded(np.linspace(0.0, far, int(far / step) + 2))
    assert local is not None
    return engine, local


RATES = (1e-20, 0.3, 0.8, 1 - 1e-9)


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("alpha", RATES)
def test_gains_between_the_points_are_those_of_the_contour(name: str, alpha: float) -> None:
    engine, local = expanded(name)
    at = np.random.default_rng(3).uniform(-PRODUCTS[name][1], PRODUCTS[name][1], 400)
    found = local.gains(np.full(at.size, alpha), at[None])
    assert found is not None
    safe, free = found[0][0], found[1][0]
    assert (safe <= free).all()
    (low, high), (least, most) = engine.two_sided(np.abs(at))
    price, weight = np.exp(np.maximum(at, 0.0)) * alpha, np.exp(np.minimum(at, 0.0))
    rounded = 1e-15 * (1 + price)
    assert (safe <= weight * (np.minimum(most, 1 - low) - price + rounded)).all()
    assert (free >= weight * (np.maximum(least, 1 - high) - price - rounded)).all()
    assert (free - safe <= weight * (1e-8 * np.minimum(high, most) + 1e-14 * (1 + price))).all()


@pytest.mark.parametrize("alpha", RATES)
def test_the_bracket_holds_the_truth_in_high_precision(alpha: float) -> None:
    """A Gaussian of mean 1 in disguise: the contour does not know its closed form."""
    local = Contour([(GaussianCurve(0.5), 4)], 1e-6).expanded(np.linspace(0.0, 6.0, 28))
    assert local is not None
    at = np.linspace(-6.0, 6.0, 101)
    near = np.stack((at - 1e-3, at, at + 1e-3))  # around 0 a column holds both signs
    found = local.gains(np.full(at.size, alpha), near)
    assert found is not None
    with mp.workdps(40):
        for e, safe, free in zip(near.ravel().tolist(), found[0].ravel(), found[1].ravel(), strict=True):
            x, a = mp.mpf(e), mp.mpf(alpha)
            truth = mp.ncdf(x - mp.mpf("0.5")) + mp.exp(x) * (mp.ncdf(-x - mp.mpf("0.5")) - a)
            assert mp.mpf(safe) <= truth <= mp.mpf(free)


def test_rates_are_tails_of_the_normal_law() -> None:
    """Of a Gaussian of mean 1 the loss is normal with mean -1/2 or 1/2: P0(L > e) and P1(L <= e) are known."""
    local = Contour([(GaussianCurve(0.5), 4)], 1e-6).expanded(np.linspace(0.0, 6.0, 28))
    assert local is not None
    rates = local.rates()
    assert (np.diff(rates.epsilon) > 0).all()
    with mp.workdps(40):
        for e, score, missed, density in zip(*rates, strict=True):
            alarm, other = mp.ncdf(-mp.mpf(e) - mp.mpf("0.5")), mp.ncdf(mp.mpf(e) + mp.mpf("0.5"))
            assert score == pytest.approx(float(mp.log(other / alarm)), rel=1e-8, abs=1e-9)
            assert missed == pytest.approx(float(mp.ncdf(mp.mpf(e) - mp.mpf("0.5"))), rel=1e-7)
            assert density == pytest.approx(float(mp.npdf(mp.mpf(e) - mp.mpf("0.5"))), rel=1e-6)


def test_nothing_is_said_beyond_the_grid() -> None:
    _, local = expanded("equal")
    rates = np.full(2, 0.5)
    assert local.gains(rates, np.array([[1.0, 30.0]])) is not None
    assert local.gains(rates, np.array([[1.0, 32.0]])) is None
    assert local.gains(rates, np.array([[1.0, -32.0]])) is None
    assert local.gains(rates, np.array([[0.0, 29.0], [1.0, 30.0], [2.0, 31.0]])) is None


def test_a_grid_too_wide_for_its_lines_is_refused() -> None:
    parts, far, _ = PRODUCTS["equal"]
    assert Contour(parts, 1e-6).expanded(np.linspace(0.0, far, 5)) is None


@pytest.mark.parametrize("text", ["laplace(0.1)^1000", "laplace(0.1)^300 * laplace(0.3)^100 * gdp(0.5)"])
def test_betas_with_and_without_the_grid_agree(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alpha = np.concatenate((np.geomspace(1e-25, 0.5, 60), 1 - np.geomspace(0.4, 1e-14, 40)))
    low, high = parse(text).beta_bounds(alpha)
    monkeypatch.setattr(Contour, "expanded", lambda *_: None)
    least, most = parse(text).beta_bounds(alpha)
    assert (low <= most).all()
    assert (least <= high).all()
    assert (high - low <= 1e-6 * high).all()

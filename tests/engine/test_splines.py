"""Laplace composed k times, against truncated powers in exact arithmetic, closed forms and quadrature."""

from __future__ import annotations

import math
from functools import cache

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.engine import splines
from dpcore.engine.splines import LaplacePower, cells_above, cost, laplace_power

RELATIVE = 1e-11
TOP_HEAVY = [0.9, 0.99, 0.999]
EVERYWHERE = [0.0, 0.1, 0.5, -0.05, -0.3, -0.95, *TOP_HEAVY]


@cache
def krawtchouk(k: int, j: int, i: int) -> int:
    """Coefficient of w^i in (1 - w)^j (1 + w)^(k - j)."""
    return sum((-1) ** a * math.comb(j, a) * math.comb(k - j, i - a) for a in range(min(i, j) + 1))


def truncated_powers(loss: float, k: int, threshold: mp.mpf | float) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
    """δ, P0(L > threshold), P1(L > threshold) from the alternating sum of (x - i)_+^(j-1), many digits."""
    depth = (k * loss - float(threshold)) / (2 * loss)
    with mp.workdps(80 + k + math.ceil(0.9 * loss * max(depth, 0.0))):
        e0, eps = mp.mpf(loss), mp.mpf(threshold)
        x = (k * e0 - eps) / (2 * e0)
        q = p = mp.mpf(0)
        for i in range(k + 1):
            rest = x - i
            if rest <= 0:
                break
            down, up = mp.exp(-e0 * rest), mp.exp(e0 * rest)
            # integrals of y^(j-1)/(j-1)! e^(-+ e0 y) over (0, rest), by parts from j - 1 to j
            falling, rising = (1 - down) / e0, (up - 1) / e0
            weight = monomial = mp.mpf(1)
            q_i = p_i = mp.mpf(krawtchouk(k, 0, i))
            for j in range(1, k + 1):
                weight *= (k - j + 1) * e0 / j
                if j > 1:
                    monomial *= rest / (j - 1)
                    falling, rising = (falling - monomial * down) / e0, (monomial * up - rising) / e0
                q_i += weight * krawtchouk(k, j, i) * falling
                p_i += weight * krawtchouk(k, j, i) * rising
            q += q_i * mp.exp(-e0 * i)
            p += p_i * mp.exp(e0 * i)
        q, p = q / mp.mpf(2) ** k, p * mp.exp(-k * e0) / mp.mpf(2) ** k
        return q - mp.exp(eps) * p, p, q


def relative_error(value: float, truth: mp.mpf) -> float:
    return 0.0 if truth < mp.mpf(10) ** -290 and value < 1e-289 else abs(float(value / truth - 1))


def check(power: LaplacePower, points: list[float]) -> None:
    delta, alpha, beyond = power.delta(points), power.alpha(points), power.power(points)
    for n, point in enumerate(points):
        truth = truncated_powers(power.epsilon, power.k, point)
        errors = [relative_error(v, t) for v, t in zip((delta[n], alpha[n], beyond[n]), truth, strict=True)]
        assert max(errors) < RELATIVE, (power.epsilon, power.k, point, errors)


@pytest.mark.parametrize("loss", [1e-4, 0.1, 1.0, 10.0, 50.0])
@pytest.mark.parametrize("k", [1, 2, 3, 10, 17])
def test_whole_line_against_truncated_powers(loss: float, k: int) -> None:
    # the factor keeps the points off the atoms, where P(L > ε) is defined up to two ulps of ε only
    check(LaplacePower(loss, k), [share * k * loss * 0.9987 for share in EVERYWHERE])


@pytest.mark.parametrize(
    ("loss", "k", "shares"),
    [
        (0.1, 30, [0.0, 0.5, -0.4]),
        (50.0, 30, [0.51]),
        (1e-4, 100, TOP_HEAVY),
        (0.1, 100, [*TOP_HEAVY, 0.5]),
        (1.0, 100, [0.7]),
        (10.0, 100, TOP_HEAVY),
        (50.0, 100, TOP_HEAVY),
    ],
)
def test_many_steps_against_truncated_powers(loss: float, k: int, shares: list[float]) -> None:
    check(LaplacePower(loss, k), [share * k * loss * 0.9991 for share in shares])


@pytest.mark.parametrize("loss", [0.1, 50.0])
def test_thousand_steps_in_the_top_cell(loss: float) -> None:
    power = LaplacePower(loss, 1000, cells=3)
    check(power, [1000 * loss - 2 * loss * depth for depth in (1e-4, 0.8)])


def test_known_value() -> None:
    assert LaplacePower(10.0, 100).delta(998.9002).item() == pytest.approx(1.538520e-26, rel=1e-6)


@pytest.mark.parametrize("loss", [1e-4, 0.1, 1.0, 10.0, 50.0])
def test_one_step_is_the_closed_form(loss: float) -> None:
    points = np.concatenate([np.linspace(-3, 3, 61) * loss, [-40.0, -1e-9, 0.0, 1e-9]])
    truth = np.maximum(np.maximum(0.0, -np.expm1(points)), -np.expm1((points - loss) / 2))
    np.testing.assert_allclose(LaplacePower(loss, 1).delta(points), truth, rtol=1e-13)


@pytest.mark.parametrize("loss", [0.1, 1.0, 10.0])
def test_two_steps_by_quadrature(loss: float) -> None:
    def one(eps: mp.mpf) -> mp.mpf:
        return max(mp.mpf(0), -mp.expm1(eps), -mp.expm1((eps - loss) / 2))

    for eps in (-0.7 * loss, 0.0, 0.6 * loss, 1.9 * loss):
        cuts = sorted(c for c in {-loss, loss, eps - loss, eps + loss} if -loss <= c <= loss)
        inner = mp.quad(lambda t, at=eps: mp.exp((t - loss) / 2) / 4 * one(at - t), cuts)
        truth = one(mp.mpf(eps) - loss) / 2 + mp.exp(-loss) * one(mp.mpf(eps) + loss) / 2 + inner
        assert LaplacePower(loss, 2).delta(eps).item() == pytest.approx(float(truth), rel=1e-12)


@pytest.mark.parametrize(("loss", "k"), [(0.1, 3), (0.1, 40), (1.0, 7), (3.7, 12)])
def test_thresholds_on_atoms(loss: float, k: int) -> None:
    power = LaplacePower(loss, k)
    for i in (0, 1, k // 2, k - 1, k):
        atom = (k - 2 * i) * loss
        with mp.workdps(60):
            exact = (k - 2 * i) * mp.mpf(loss)
            over, under = exact + mp.mpf(loss) * mp.mpf(10) ** -25, exact - mp.mpf(loss) * mp.mpf(10) ** -25
        for closed, threshold in ((False, over), (True, under)):
            _, p, q = truncated_powers(loss, k, threshold)
            assert power.alpha(atom, at_least=closed).item() == pytest.approx(float(p), rel=RELATIVE, abs=1e-300)
            assert power.power(atom, at_least=closed).item() == pytest.approx(float(q), rel=RELATIVE, abs=1e-300)


@pytest.mark.parametrize(("loss", "k"), [(0.01, 80), (0.1, 150), (1.0, 90)])
def test_order_left_out_is_invisible(loss: float, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.linspace(-0.99, 0.999, 41) * k * loss
    short = LaplacePower(loss, k)
    monkeypatch.setattr(splines, "_OMITTED", 0.0)
    full = LaplacePower(loss, k)
    assert short.order < full.order == k
    np.testing.assert_allclose(short.delta(points), full.delta(points), rtol=1e-12)
    np.testing.assert_allclose(short.alpha(points), full.alpha(points), rtol=1e-12)
    np.testing.assert_allclose(short.power(points), full.power(points), rtol=1e-12)


@pytest.mark.parametrize(("loss", "k", "lowest"), [(0.1, 101, 4.0), (10.0, 60, 470.0), (1.0, 200, 150.0)])
def test_top_cells_agree_with_all_cells(loss: float, k: int, lowest: float) -> None:
    top, full = LaplacePower(loss, k, cells_above(loss, k, lowest)), laplace_power(loss, k)
    assert top.cells < full.cells
    points = np.linspace(lowest, k * loss * 1.001, 30)
    np.testing.assert_allclose(top.delta(points), full.delta(points), rtol=1e-12)
    np.testing.assert_allclose(top.delta(-points), full.delta(-points), rtol=1e-12)
    np.testing.assert_allclose(top.alpha(points), full.alpha(points), rtol=1e-12)
    np.testing.assert_allclose(top.power(points), full.power(points), rtol=1e-12)
    with pytest.raises(DomainError, match="at least"):
        top.delta(0.0)
    with pytest.raises(DomainError, match="at least"):
        top.alpha(-lowest)


def test_extreme_ranges_stay_finite() -> None:
    for loss, k in [(500.0, 160), (50.0, 300), (1e-12, 50), (1e-3, 2000)]:
        power = LaplacePower(loss, k)
        points = np.array([-np.inf, -k * loss, -0.3 * k * loss, 0.0, 0.3 * k * loss, k * loss * (1 + 1e-15), np.inf])
        values = power.delta(points)
        assert np.isfinite(values).all()
        assert np.all(np.diff(values) <= 0)
        assert values[0] == 1.0
        assert values[-2:].tolist() == [0.0, 0.0]
        assert power.power(-np.inf) == pytest.approx(1.0, abs=1e-12)
        assert power.alpha(-np.inf) == pytest.approx(1.0, abs=1e-12)
        assert power.alpha(np.inf) == 0.0


@given(
    loss=st.floats(1e-3, 30.0),
    k=st.integers(1, 40),
    share=st.floats(-1.1, 1.1),
)
@settings(max_examples=50, deadline=None)
def test_laws(loss: float, k: int, share: float) -> None:
    power, eps = laplace_power(loss, k), share * k * loss
    delta, alpha, beyond = (f(eps).item() for f in (power.delta, power.alpha, power.power))
    assert max(0.0, -math.expm1(min(eps, 700.0))) <= delta * (1 + 1e-13) <= 1 + 1e-12
    if eps <= 700.0:  # beyond, alpha is too small for a double with all its digits
        assert delta == pytest.approx(beyond - math.exp(eps) * alpha, rel=1e-9, abs=1e-12)
    assert alpha == pytest.approx(1.0 - power.power(-eps, at_least=True).item(), abs=1e-12)
    assert power.delta(eps + 1e-3 * loss).item() <= delta * (1 + 1e-13)


def test_shapes_and_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    power = laplace_power(1.0, 9)
    points = np.linspace(-10, 10, 60).reshape(3, 4, 5)
    values = [f(points) for f in (power.delta, power.alpha, power.power)]
    monkeypatch.setattr(splines, "_CHUNK", 1)
    for before, f in zip(values, (power.delta, power.alpha, power.power), strict=True):
        assert before.shape == points.shape
        np.testing.assert_allclose(f(points), before, rtol=1e-14)
    assert power.delta([]).shape == (0,)
    assert power.delta(0.5).shape == ()


@pytest.mark.parametrize(
    ("loss", "k", "cells"),
    [
        (0.0, 3, None),
        (-1.0, 3, None),
        (math.nan, 3, None),
        (501.0, 3, None),
        (1.0, 0, None),
        (50.0, 2000, None),
        (1.0, 3, 0),
    ],
)
def test_domain(loss: float, k: int, cells: int | None) -> None:
    with pytest.raises(DomainError, match="got"):
        LaplacePower(loss, k, cells)


def test_refuses_nan_and_too_much_memory() -> None:
    with pytest.raises(DomainError, match="nan"):
        laplace_power(1.0, 3).delta([0.0, math.nan])
    with effort(memory=100_000), pytest.raises(BudgetError, match="memory"):
        LaplacePower(1.0, 300)
    with effort(deadline=0.0), pytest.raises(BudgetError, match="time"):
        LaplacePower(1.0, 300)


def test_cost_orders_the_work() -> None:
    assert cost(10, 5) < cost(100, 50) < cost(400, 200) < cost(1000, 500)
    assert cost(1000, 3) < cost(1000, 500) / 10
    assert cost(1000, 500, 0.1) < cost(1000, 500) / 10
    assert cost(100, 50) < 0.04

"""Many copies with a few far jumps: against one step in closed form, a few steps by direct integration, and another engine."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpcore import parse
from dpcore.curves.composed import Certified
from dpcore.curves.normal_jumps import GaussianMixture
from dpcore.engine import few_jumps
from dpcore.engine.contour import Contour
from dpcore.engine.few_jumps import FewJumps
from dpcore.engine.normal_jumps import Jumps

SEVERAL = Jumps((0.7, 1.4, 2.1), (1e-3, 2e-4, 1e-5), 1.0 - 1.21e-3)
LAWS = [
    (Jumps.single(2.0, 1e-5), (0.1, 0.5, 2.0)),
    (Jumps.single(1.25, 1e-4), (0.02, 0.1, 0.4)),
    (Jumps.single(1 / 1.1, 1e-4), (0.01, 0.1, 0.2)),
    (SEVERAL, (0.1, 0.5)),
]


@pytest.mark.parametrize(("law", "epsilon"), LAWS)
def test_one_step_is_the_closed_form(law: Jumps, epsilon: tuple[float, ...]) -> None:
    at = np.array(epsilon)
    low, high = FewJumps(law, 1, 0.0).delta_bounds(at)
    exact = GaussianMixture(law).delta_bounds(at)[0]
    assert (high - low <= 1e-7 * high).all()
    assert (low <= exact * (1 + 1e-12)).all()
    assert (exact <= high * (1 + 1e-12)).all()


def integrated(law: Jumps, epsilon: float) -> float:
    """Return delta of two steps by integrating over the first one, E_1[delta_1(eps - L)], with panels that shrink towards L = eps."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    grid = np.linspace(-10.0, 14.0, 4001)
    kink = np.interp(epsilon, law.log_ratio(grid), grid)
    around = np.geomspace(1e-7, 1.0, 120)
    edges = np.unique(np.concatenate((np.linspace(-10.0, 14.0, 193), kink - around, kink + around)))
    half = 0.5 * np.diff(edges)[:, None]
    x = (edges[:-1, None] + half * (1.0 + nodes)).ravel()
    loss = law.log_ratio(x)
    mass = (half * weights).ravel() * np.exp(loss - x * x / 2) / np.sqrt(2 * np.pi)
    return float(mass @ GaussianMixture(law).delta_bounds(epsilon - loss)[0])


@pytest.mark.parametrize(
    ("law", "epsilon"), [(Jumps.single(1.25, 1e-3), 0.3), (Jumps.single(2.0, 1e-4), 0.7), (SEVERAL, 0.4)]
)
def test_two_steps_by_direct_integration(law: Jumps, epsilon: float) -> None:
    low, high = FewJumps(law, 2, 0.0).delta_bounds(np.array([epsilon]))
    assert high[0] - low[0] <= 1e-7 * high[0]
    assert integrated(law, epsilon) == pytest.approx(high[0], rel=1e-7)


@pytest.mark.parametrize(
    ("sigma", "q", "steps", "epsilon"), [(0.5, 1e-5, 100, 0.05), (0.8, 1e-4, 100, 0.06), (0.5, 1e-4, 10_000, 2.0)]
)
def test_it_agrees_with_the_lines_that_take_in_the_core(sigma: float, q: float, steps: int, epsilon: float) -> None:
    product = Certified([(parse(f"poisson_gaussian({sigma}, {q})").pair, steps)])
    at, nothing = np.array([epsilon]), (np.zeros(1), np.ones(1))
    (low, high), _ = product._without_jumps(at, 1e-6, ((nothing[0].copy(), nothing[1].copy()), nothing))
    below, above = FewJumps(Jumps.single(1 / sigma, q), steps, 0.0).delta_bounds(at)
    assert above[0] - below[0] <= 1e-6 * above[0]
    assert high[0] - low[0] <= 1e-3 * high[0]
    assert max(low[0], below[0]) <= min(high[0], above[0]) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("mu", "q", "epsilon", "width"),
    [(1 / 1.1, 1e-4, 0.2, 0.1), pytest.param(2.0, 1e-5, 0.1, 0.05, marks=pytest.mark.long)],
)
def test_the_transforms_of_core_and_jumps(mu: float, q: float, epsilon: float, width: float) -> None:
    """A and D on the path, at a few heights, by their definition on the real axis with twenty digits."""
    windows = few_jumps._Windows(Jumps.single(mu, q), 1, width)
    cuts = windows._place(epsilon / 2.5), windows._place(epsilon) + few_jumps._FAR * width
    c = 10.0 / epsilon
    x, weight, size, turn = windows._path(c, cuts[1])
    z = x + 1j * windows.height
    weight = weight + few_jumps.log_ndtr((cuts[1] - z) / width)
    parts = [np.exp(weight + few_jumps.log_ndtr(part / width)) for part in (cuts[0] - z, z - cuts[0])]
    with mp.workdps(20):

        def precise(s: complex, sign: int) -> mp.mpc:
            def inside(x: mp.mpf) -> mp.mpc:
                loss = mp.log1p(mp.mpf(q) * mp.expm1(mp.mpf(mu) * x - mp.mpf(mu) ** 2 / 2))
                near = mp.ncdf(sign * (x - mp.mpf(cuts[0])) / width) * mp.ncdf((mp.mpf(cuts[1]) - x) / width)
                return mp.npdf(x) * near * mp.e ** ((mp.mpc(s) + 1) * loss)

            low, high = (-9.5, cuts[0] + 16 * width) if sign < 0 else (cuts[0] - 12 * width, cuts[1] + 16 * width)
            return mp.quad(inside, mp.linspace(low, high, 49), maxdegree=4)

        for part, sign in zip(parts, (-1, 1), strict=True):
            along = few_jumps._along(part, size, turn, 3.0 / epsilon, 40)
            whole = precise(complex(c), sign).real
            for n in (0, 5):
                error = abs(mp.mpc(along[n]) - precise(complex(c, 3.0 / epsilon * n), sign)) / whole
                assert float(error) <= 1e-12


def without_far(law: Jumps, copies: int, epsilon: float, above: float) -> tuple[float, float]:
    """Return the bracket without the jumps above a multiple of epsilon, less what these lack to infinite losses."""
    trimmed = GaussianMixture(law).trimmed_above(above * epsilon)
    assert trimmed is not None
    at = np.array([epsilon])
    (low,), (high,) = Contour([(trimmed, copies)], 5e-7, fine=True).delta_bounds(at)
    (least,), (most,) = trimmed.far(at, copies)
    return float(low - most), float(high - least)


@pytest.mark.parametrize("above", [1.5, 2.0, 3.0])
@pytest.mark.parametrize(
    ("law", "copies", "epsilon"),
    [
        (Jumps.single(1.25, 1e-3), 2, 0.05),
        (Jumps.single(2.0, 1e-4), 100, 0.1),
        (Jumps.single(1 / 1.1, 1e-4), 10_000, 0.13),
    ],
)
def test_what_far_jumps_lack_to_infinite_losses(law: Jumps, copies: int, epsilon: float, above: float) -> None:
    """Whatever the cut, the bracket holds the value of another route; the far jumps are a large part of it, or nearly none."""
    low, high = without_far(law, copies, epsilon, above)
    if copies == 2:
        value = integrated(law, epsilon)
        assert low * (1 - 1e-7) <= value <= high * (1 + 1e-7)
    else:
        (below,), (most,) = FewJumps(law, copies, 0.0).delta_bounds(np.array([epsilon]))
        assert most - below <= 1e-6 * most
        assert max(low, below) <= min(high, most) * (1 + 1e-12)


def test_without_far_jumps_a_bracket_is_narrow() -> None:
    low, high = without_far(Jumps.single(1 / 1.1, 1e-4), 10_000, 0.08, 2.0)
    assert high - low <= 1e-6 * high


def test_cells_of_training_that_were_refused() -> None:
    """Few steps, a small rate and a small delta: the loss is one far jump, and the product next to T times one step."""
    one = parse("poisson_gaussian(0.5, 1e-5)")
    (low,), (high,) = parse("poisson_gaussian(0.5, 1e-5)^100").epsilon_bounds([1e-12])
    assert high - low <= 1e-6 * high
    assert high == pytest.approx(one.epsilon(1e-14), rel=2e-3)
    for text in (
        "poisson_gaussian(1.1, 1e-5)^100",
        "poisson_gaussian(1.1, 1e-4)^10000",
        "poisson_gaussian(0.8, 1e-5)^1000000",
    ):
        (low,), (high,) = parse(text).epsilon_bounds([1e-12])
        assert high - low <= 1e-6 * high

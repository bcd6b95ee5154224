"""The truth lies inside every bracket: mechanisms, mixtures and counts drawn at random against a second route."""

from __future__ import annotations

import itertools
import math
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcore
from dpcore import BudgetError, parse
from dpcore.core.effort import effort
from dpcore.curves.composed import Certified
from dpcore.curves.composition import compose
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.laplace import LaplaceCurve
from dpcore.curves.laplace_fold import LaplaceFold
from dpcore.engine import contour

if TYPE_CHECKING:
    from dpcore.curves.polygon import Polygon

FEW = settings(max_examples=30, deadline=None)
ROUND = 2e-12  # relative accuracy of the second routes below


def holds(bounds: tuple[np.ndarray, np.ndarray], truth: np.ndarray, rounding: float = ROUND) -> None:
    """Check lower <= truth <= upper, the truth known to `rounding`."""
    lower, upper = bounds
    assert np.all(lower <= truth * (1 + rounding) + 1e-300), (lower, truth)
    assert np.all(truth * (1 - rounding) <= upper), (truth, upper)
    assert np.all(lower <= upper)


# ---- Gaussian products: a closed form ------------------------------------------------------------------------


@FEW
@given(st.lists(st.tuples(st.floats(0.02, 2), st.integers(1, 200)), min_size=1, max_size=3), st.floats(0, 12))
def test_gaussian_products_sent_through_the_contour(parts: list[tuple[float, int]], deviations: float) -> None:
    mu = math.sqrt(sum(k * m * m for m, k in parts))
    epsilon = np.array([mu * mu / 2 + deviations * mu, 0.3 * mu])
    curve = Certified([(GaussianCurve(m), k) for m, k in parts])
    lower, upper = curve.delta_bounds(epsilon)
    holds((lower, upper), GaussianCurve(mu).delta_bounds(epsilon)[0], 1e-10)
    assert np.all(upper - lower <= 1e-6 * upper)


# ---- polygons: exact enumeration -----------------------------------------------------------------------------


@st.composite
def polygons(draw: st.DrawFn) -> tuple[Polygon, int]:
    """Draw a small polygon with its count: two or three losses, perhaps mass at infinity, perhaps lopsided."""
    epsilon, delta = draw(st.floats(0.05, 2.5)), draw(st.sampled_from([0.0, 1e-6, 0.02]))
    kind = draw(st.sampled_from(["dp", "rr", "pmf"]))
    if kind == "dp":
        region = dpcore.dp(epsilon, delta)
    elif kind == "rr":
        region = dpcore.rr(epsilon, 4)
    else:
        raw = np.array(draw(st.lists(st.floats(0.05, 1), min_size=6, max_size=6))).reshape(2, 3)
        p, q = raw / raw.sum(axis=1, keepdims=True)
        region = dpcore.pmf(p.tolist(), q.tolist())
    return region.pair, draw(st.integers(1, 4))


@settings(max_examples=10, deadline=None)
@given(st.lists(polygons(), min_size=2, max_size=3), st.floats(0, 0.97))
def test_polygons_sent_through_the_contour(parts: list[tuple[Polygon, int]], share: float) -> None:
    exact = compose(parts)
    top = exact.max_loss
    epsilon = np.array([0.0, max(share * top, 0.0)])
    for curve, truth in ((Certified(parts), exact), (Certified(parts).inverse(), exact.inverse())):
        holds(curve.delta_bounds(epsilon), truth.delta_bounds(epsilon)[0], 1e-11)


@settings(max_examples=12, deadline=None)
@given(st.floats(0.01, 0.5), st.integers(5, 400), st.floats(0, 0.9))
def test_long_binomial_powers_sent_through_the_contour(epsilon: float, k: int, share: float) -> None:
    region = dpcore.dp(epsilon)
    spread = 6 * epsilon * math.sqrt(k)
    at = np.array([min(share * k * epsilon, spread), 0.0])
    holds(Certified([(region.pair, k)]).delta_bounds(at), (region**k).delta(at), 1e-11)


# ---- Laplace with Gaussian: quadrature over the losses -------------------------------------------------------


def laplace_losses(epsilon: float, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return losses and P1 masses of one Laplace answer: two atoms and a density e^((L - eps)/2)/4 between them."""
    node, weight = np.polynomial.legendre.leggauss(nodes)
    loss = np.concatenate(([epsilon, -epsilon], epsilon * node))
    mass = np.concatenate(
        ([0.5, 0.5 * math.exp(-epsilon)], epsilon * weight * np.exp((epsilon * node - epsilon) / 2) / 4)
    )
    return loss, mass


@FEW
@given(
    st.floats(0.05, 3), st.floats(0.3, 3), st.integers(1, 2), st.integers(1, 20), st.floats(0, 1.5)
)  # fmt: skip
def test_laplace_with_gaussian(epsilon: float, sigma: float, k: int, m: int, share: float) -> None:
    region = dpcore.laplace(epsilon) ** k * dpcore.gaussian(sigma) ** m
    smooth = GaussianCurve(math.sqrt(m) / sigma)
    at = np.array([0.0, share * k * epsilon, k * epsilon + 2 * smooth.mu**2])
    loss, mass = laplace_losses(epsilon, 60)
    if k == 2:
        loss, mass = np.add.outer(loss, loss).ravel(), np.multiply.outer(mass, mass).ravel()
    truth = np.array([mass @ smooth.delta_bounds(e - loss)[0] for e in at])
    lower, upper = region.delta_bounds(at)
    holds((lower, upper), truth, 1e-10)
    assert np.all(upper - lower <= 1e-6 * upper)


def by_cells(rates: tuple[float, ...], at: np.ndarray) -> np.ndarray:
    """Return delta of different Laplace answers: iterated quadrature, cut wherever the inner delta changes its formula."""
    if not rates:
        return np.maximum(-np.expm1(np.minimum(at, 0.0)), 0.0)
    e, rest = rates[-1], rates[:-1]
    node, weight = np.polynomial.legendre.leggauss(16)
    bends = np.array(
        [sum(s * r for s, r in zip(signs, rest, strict=True)) for signs in itertools.product((1, -1), repeat=len(rest))]
    )
    out = np.empty(at.size)
    for n, t in enumerate(at):
        cut = np.unique(np.clip(np.concatenate(([-e, e], t - bends)), -e, e))
        half, middle = np.diff(cut) / 2, (cut[1:] + cut[:-1]) / 2
        x, w = (middle[:, None] + half[:, None] * node).ravel(), (half[:, None] * weight).ravel()
        inner = by_cells(rest, np.concatenate(([t - e, t + e], t - x)))
        out[n] = inner @ np.concatenate(([0.5, 0.5 * math.exp(-e)], w * np.exp((x - e) / 2) / 4))
    return out


@settings(max_examples=8, deadline=None)
@given(st.lists(st.floats(0.1, 2.5), min_size=3, max_size=3, unique=True), st.floats(0, 0.95))
def test_three_different_laplace_answers(rates: list[float], share: float) -> None:
    region = dpcore.laplace(rates[0]) * dpcore.laplace(rates[1]) * dpcore.laplace(rates[2])
    at = np.array([0.0, share * sum(rates)])
    lower, upper = region.delta_bounds(at)
    holds((lower, upper), by_cells(tuple(rates), at), 1e-10)
    assert np.all(upper - lower <= 1e-6 * upper)


# ---- mixtures: with and without one part ---------------------------------------------------------------------


@st.composite
def smooth_parts(draw: st.DrawFn) -> str:
    """Draw a smooth mechanism by its expression."""
    size = draw(st.floats(0.1, 1.5))
    return draw(
        st.sampled_from([f"laplace({size!r})", f"gaussian({1 / size!r})", f"poisson_gaussian(1, {size / 4!r})"])
    )


@settings(max_examples=15, deadline=None)
@given(smooth_parts(), st.floats(0.05, 1), st.integers(1, 6), st.floats(0, 3))
def test_a_polygon_beside_a_smooth_part_is_a_finite_sum(text: str, epsilon: float, k: int, at: float) -> None:
    """Second route: delta of the product is the mean of the smooth delta at `at` minus the polygon's loss."""
    smooth, polygon = parse(text), dpcore.dp(epsilon, 1e-3) ** k
    region = smooth * dpcore.assume(dpcore.dp(epsilon, 1e-3), smooth.neighbours) ** k
    loss, _, q = polygon.atoms()
    truth = [
        1 - (1 - 1e-3) ** k + float(q @ curve.delta_bounds(at - loss)[1])
        for curve in (smooth.pair, smooth.pair.inverse())
    ]
    holds(region.delta_bounds(at), np.array([max(truth)]), 1e-8)


# ---- Laplace powers: splines against the contour, and the grid of the contract -------------------------------

STRESS = [(e, k) for e in (1e-4, 0.01, 0.1, 1.0, 10.0, 50.0) for k in (1, 3, 30, 1000, 100_000)]


@pytest.mark.parametrize(("epsilon", "k"), STRESS)
def test_stress_of_laplace_powers(epsilon: float, k: int) -> None:
    """From delta 0.5 to 1e-30: epsilon's bracket is narrow, and delta at its ends is on both sides of the goal."""
    region = dpcore.laplace(epsilon) ** k
    goal = np.array([0.5, 1e-2, 1e-5, 1e-10, 1e-30])
    lower, upper = region.epsilon_bounds(goal)
    assert np.all(lower <= upper)
    assert np.all(upper - lower <= 1e-5 * upper)
    assert np.all(region.delta(upper) <= goal * (1 + 1e-9))
    inner = upper > 0
    before = np.maximum(lower[inner] * (1 - 1e-5), 0.0)
    assert np.all(region.delta_bounds(before)[1] >= goal[inner] * (1 - 1e-9))
    assert np.all(upper <= k * epsilon)


@pytest.mark.parametrize(
    ("epsilon", "k"), [(0.01, 30), (0.1, 10), (0.1, 100), (1.0, 10), (1.0, 60), (3.0, 40), (10.0, 100)]
)
def test_splines_lie_in_the_contour_bracket(epsilon: float, k: int) -> None:
    base = LaplaceCurve(epsilon)
    exact = LaplaceFold(base, epsilon, k)
    assert exact.exact
    middle = k * epsilon * (1 + math.expm1(-epsilon) / epsilon)
    spread = epsilon * math.sqrt(k)
    at = np.array([max(middle + t * spread, 0.0) for t in (-1.0, 0.0, 1.0, 2.0)])
    at = at[at < 0.9 * k * epsilon]
    lower, upper = contour.Contour([(base, k)], 1e-6).delta_bounds(at)
    holds((lower, upper), exact.delta_bounds(at)[0], 1e-10)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("k", [1, 2, 10, 100])
def test_laplace_powers_up_to_their_last_loss(epsilon: float, k: int) -> None:
    region = dpcore.laplace(epsilon) ** k
    at = np.array([0.1, 0.5, 0.9, 0.99, 0.999]) * k * epsilon
    started = time.monotonic()
    lower, upper = region.delta_bounds(at)
    assert time.monotonic() - started < 5
    assert np.all(upper - lower <= 1e-6 * upper)
    assert np.all(upper > 0)
    if k <= 2:  # second routes: the closed form, and the mean of it over the first loss
        loss, mass = laplace_losses(epsilon, 200)
        one = dpcore.laplace(epsilon)
        truth = one.delta(at)
        if k == 2:
            node, weight = np.polynomial.legendre.leggauss(80)
            truth = np.empty(at.size)
            for n, e in enumerate(at):  # one answer's delta bends at its own epsilon: cut there
                cut = np.array([-epsilon, min(max(e - epsilon, -epsilon), epsilon), epsilon])
                half, centre = np.diff(cut) / 2, (cut[1:] + cut[:-1]) / 2
                x, w = (centre[:, None] + half[:, None] * node).ravel(), (half[:, None] * weight).ravel()
                smooth = (w * np.exp((x - epsilon) / 2) / 4) @ one.delta(e - x)
                truth[n] = smooth + mass[:2] @ one.delta(e - loss[:2])
        holds((lower, upper), truth, 1e-10)


# ---- budgets -------------------------------------------------------------------------------------------------


def test_a_composition_too_large_says_what_it_would_need() -> None:
    with pytest.raises(
        BudgetError, match=r"A lattice law of \d+ losses would need 18\.9 GB of memory; 1\.5 GB are allowed\."
    ):
        parse("geometric(1, 1000)^100000000").delta(1.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dp(0.01)^1000000", "binomial law"),
        ("rr(1, 3)^1000000", "lattice law"),
        ("laplace(0.01)^500", "composed 500 times"),
        ("dp(1.1) * dp(0.31) * dp(0.77) * dp(0.21)^2 * dp(0.93)^3 * dp(0.137)^12 * dp(0.71)", "combinations of losses"),
    ],
)
def test_the_memory_cap_is_asked_before_memory_is_taken(text: str, words: str) -> None:
    with effort(memory=100_000), pytest.raises(BudgetError, match=f"{words}.* would need .* GB of memory"):
        parse(text).delta(1.0)


def test_a_long_computation_stops_soon_after_its_deadline() -> None:
    region = dpcore.bounded_laplace(1, 0, 10, 1) ** 500
    started = time.monotonic()
    with effort(deadline=0.2, tolerance=1e-10), pytest.raises(BudgetError, match="time allowed ended"):
        region.delta([0.5, 1.0, 20.0])
    assert time.monotonic() - started < 3.0


@pytest.mark.parametrize(
    "text",
    [
        "laplace(0.01)^700",
        "rr(1, 3)^1000000",
        "poisson_gaussian(1, 0.01)^1000",
        "exponential(1)^2",
        "laplace(1)^3 * laplace(0.7)^4",
    ],
)
def test_progress_is_told_and_may_stop_the_work(text: str) -> None:
    told: list[float] = []
    with effort(progress=told.append):
        parse(text).delta(1.0)
    assert told
    assert all(0 <= fraction <= 1 for fraction in told)

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with effort(progress=stop), pytest.raises(KeyboardInterrupt):
        parse(text).delta(1.0)


def test_a_width_that_cannot_be_reached_is_named() -> None:
    """A bracket is narrow or refused; the refusal names the width."""
    region = parse("poisson_gaussian(1, 0.01)^1000")
    with effort(tolerance=1e-12), pytest.raises(BudgetError, match=r"relative width .*, not the tolerance of 1e-12"):
        region.delta(2.0)


@pytest.mark.parametrize("text", ["(gdp(1) & dp(1))^100000", "bounded_laplace(1, 0, 10, 1)^100000"])
def test_a_window_without_losses_is_still_a_bracket(text: str) -> None:
    low, high = parse(text).curve.delta_bounds(np.array([5e4]))
    assert 0 <= low[0] <= high[0] <= 1

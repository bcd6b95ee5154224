"""The central limit: moments by a second route, the band, the distance in two languages, arrays, and unsafe numbers."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import dpcore
from dpcore import parse
from dpcore.central_limit.arrays import FAILING, PURE, VARYING, array_distances, arrays
from dpcore.central_limit.convergence import (
    ABOVE,
    BELOW,
    OPEN,
    convergence,
    copies,
    safety,
    unsafe_words,
    verdict,
    warning,
)
from dpcore.central_limit.distance import Goal, _bracketed, distance
from dpcore.central_limit.moments import _of_profile, moments
from dpcore.charts.central_limit import band_table, limit_figure
from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.theorems.composition import limit

NAMES = ("kl", "kappa2", "kappa3", "kappa3_bar")
LAWS = settings(max_examples=80, deadline=None)


# ---- moments -------------------------------------------------------------------------------------------------


def integrals(density: object, loss: object, ends: list[float]) -> tuple[float, ...]:
    """Return kl, kappa2, kappa3 and kappa3_bar of a density under P1 in high precision."""
    mean = mp.quad(lambda x: density(x) * loss(x), ends)  # type: ignore[operator]  # callables of mpmath numbers
    second = mp.quad(lambda x: density(x) * loss(x) ** 2, ends)  # type: ignore[operator]  # as above
    third = mp.quad(lambda x: density(x) * abs(loss(x)) ** 3, ends)  # type: ignore[operator]  # as above
    centred = mp.quad(lambda x: density(x) * abs(loss(x) - mean) ** 3, ends)  # type: ignore[operator]  # as above
    return tuple(map(float, (mean, second, third, centred)))


def test_moments_of_statements_are_those_of_the_papers() -> None:
    found = moments(dpcore.dp(0.5))
    wanted = (0.1224593312018546, 0.25, 0.125, 0.12455022270453478)
    assert [getattr(found, name).upper for name in NAMES] == pytest.approx(wanted, rel=1e-13)
    found = moments(dpcore.dptv(0.5, 0.0, 0.15))
    wanted = (0.075, 0.15311205619025986, 0.07655602809512993, 0.07338627714673013)
    assert [getattr(found, name).upper for name in NAMES] == pytest.approx(wanted, rel=1e-13)
    assert moments(dpcore.dp(0.5, 0.2)).kl.upper == pytest.approx(
        0.1224593312018546, rel=1e-13
    )  # failures take no part


@LAWS
@given(st.floats(0.01, 8), st.floats(0.05, 1))
def test_closed_forms_of_statements(epsilon: float, share: float) -> None:
    t = math.tanh(epsilon / 2)
    pure, eta = moments(dpcore.dp(epsilon)), share * t
    assert pure.kappa3_bar.upper == pytest.approx(epsilon**3 * (1 - t**4), rel=1e-9)
    assert pure.variance.upper == pytest.approx(epsilon**2 * (1 - t * t), rel=1e-9)
    helped = moments(dpcore.dptv(epsilon, 0.0, eta))
    assert helped.kl.upper == pytest.approx(epsilon * eta, rel=1e-9)
    assert helped.kappa2.upper == pytest.approx(eta * epsilon**2 / t, rel=1e-9)
    assert helped.kappa3.upper == pytest.approx(eta * epsilon**3 / t, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.001, 0.7, 9.0])
def test_laplace_moments_by_integration_over_the_noise(epsilon: float) -> None:
    def density(x: mp.mpf) -> mp.mpf:
        return mp.exp(-abs(x - epsilon)) / 2

    def loss(x: mp.mpf) -> mp.mpf:
        return abs(x) - abs(x - epsilon)

    found = moments(dpcore.laplace(epsilon))
    kl = epsilon + float(mp.expm1(-mp.mpf(epsilon)))
    middle = (kl + epsilon) / 2  # where the loss is its mean
    wanted = integrals(density, loss, [-80, 0, epsilon / 2, middle, epsilon, epsilon + 80])
    assert [getattr(found, name).upper for name in NAMES] == pytest.approx(wanted, rel=1e-9)
    e = mp.mpf(epsilon)
    closed = e**2 - 2 * e + 4 - (2 * e + 4) * mp.exp(-e)
    assert found.kappa2.upper == pytest.approx(float(closed), rel=1e-9)


def test_gaussian_moments_by_integration() -> None:
    mu = 1.3

    def density(x: mp.mpf) -> mp.mpf:
        return mp.npdf(x, mu, 1)

    found = moments(dpcore.gdp(mu))
    wanted = integrals(density, lambda x: mu * x - mu * mu / 2, [-12, mu / 2, mu, 15])
    assert [getattr(found, name).upper for name in NAMES] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("text", ["laplace(0.7)", "laplace(8)", "gdp(0.2)", "gdp(1.3)"])
def test_brackets_from_the_profile_hold_the_closed_forms(text: str) -> None:
    region = parse(text)
    exact, found = moments(region), _of_profile(region.curve)
    for name in (*NAMES, "variance"):
        truth, bracket = getattr(exact, name).upper, getattr(found, name)
        assert bracket.lower <= truth <= bracket.upper
        assert bracket.upper - bracket.lower <= 5e-3 * truth


def test_moments_of_a_product_add_up() -> None:
    """Second route: kl and variance of a composition are the sums of the parts'."""
    found, part = moments(parse("histogram(0.7)")), moments(dpcore.laplace(0.35))
    assert found.kind == "bracket"
    for name in ("kl", "variance"):
        bracket, truth = getattr(found, name), 2 * getattr(part, name).upper
        assert bracket.lower <= truth <= bracket.upper
        assert bracket.upper - bracket.lower <= 1e-5 * truth


@pytest.mark.parametrize(
    ("text", "k", "gamma"),
    [
        ("dp(0.1)^50 * dp(0.2)^20", 1, 0.0802),
        ("dp(0.1)^100", 1, 0.0562),
        ("dp(0.1)", 100, 0.0562),
        ("(dp(0.1)^25 * dp(0.2)^10)^2", 1, 0.0802),
        ("dp(0.1)^25 * dp(0.2)^10", 2, 0.0802),
        ('assume(dp(0.1)^100, "substitution")', 1, 0.0562),
    ],
)
def test_different_mechanisms_sum_their_moments(text: str, k: int, gamma: float) -> None:
    """Theorem 3.4 of the Gaussian paper: sums over the factors, not the third moment of the summed loss."""
    assert limit(parse(text)).gamma(k) == pytest.approx(gamma, abs=5e-5)


def test_the_sums_by_hand() -> None:
    """Randomized response: the loss is +-e with mean m = e tanh(e/2), and its three moments are sums of two terms."""
    sums = np.zeros(3)
    for e, count in ((0.1, 50), (0.2, 20)):
        high = 1 / (1 + math.exp(-e))
        m = e * math.tanh(e / 2)
        third = high * (e - m) ** 3 + (1 - high) * (e + m) ** 3
        sums += count * np.array([m, e * e - m * m, third])
    found = limit(parse("dp(0.1)^50 * dp(0.2)^20"))
    assert found.mu == pytest.approx(2 * sums[0] / math.sqrt(sums[1]), rel=1e-12)
    assert found.gamma(1) == pytest.approx(0.56 * sums[2] / sums[1] ** 1.5, rel=1e-12)
    assert found.moments is not None
    assert found.moments.factors == 70


@pytest.mark.parametrize("text", ["poisson_gaussian(1, 0.1)", "dp(0.3, 1e-3)", "dptv(0.5, 0, 0.1)", "laplace(0.5)"])
def test_copies_inside_and_outside_are_the_same(text: str) -> None:
    inside, outside = limit(parse(f"({text})^30")), limit(parse(text))
    assert inside.mu == pytest.approx(outside.mu * math.sqrt(30), rel=1e-9)
    assert inside.failing(1) == pytest.approx(outside.failing(30), rel=1e-12, abs=1e-300)
    assert inside.gamma(1) == pytest.approx(outside.gamma(30), rel=1e-9)


@pytest.mark.parametrize(("sigma", "q"), [(1.0, 0.01), (0.6, 0.001), (0.5, 0.2)])
def test_the_limit_of_an_asymmetric_pair_has_the_moments_of_both_laws(sigma: float, q: float) -> None:
    mu, h = 1 / sigma, 1e-3
    x = np.arange(-14.0, 14.0 + 4 * mu, h)
    normal = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * h
    ratio = 1 - q + q * np.exp(mu * x - mu * mu / 2)
    loss = np.log(ratio)
    means = [float((normal * ratio) @ loss), -float(normal @ loss)]
    spread = [float((normal * ratio) @ loss**2) - means[0] ** 2, float(normal @ loss**2) - means[1] ** 2]
    wanted = sum(means) / math.sqrt(sum(spread) / 2)
    found = limit(dpcore.poisson_gaussian(sigma, q))
    assert found.mu == pytest.approx(wanted, rel=1e-9)
    assert "symmetric" in found.silence(10**6)
    with pytest.raises(DomainError, match="symmetric pairs"):
        moments(dpcore.poisson_gaussian(sigma, q))


# ---- the band ------------------------------------------------------------------------------------------------


@st.composite
def mechanisms(draw: st.DrawFn) -> dpcore.TradeOff:
    kind = draw(st.sampled_from(["dp", "dptv", "rr", "failing", "several"]))
    epsilon = draw(st.floats(0.02, 2.5))
    if kind == "dp":
        return dpcore.dp(epsilon)
    if kind == "dptv":
        return dpcore.dptv(epsilon, 0.0, draw(st.floats(0.3, 1)) * math.tanh(epsilon / 2))
    if kind == "rr":
        return dpcore.rr(epsilon, draw(st.integers(3, 12)))
    if kind == "failing":
        return dpcore.dp(epsilon, draw(st.floats(1e-4, 0.05)))
    return dpcore.dp(epsilon) & dpcore.dp(epsilon / 3, draw(st.floats(0.01, 0.1)))


@LAWS
@given(mechanisms(), st.integers(1, 300))
def test_the_band_holds_and_is_drawn_only_where_gamma_is_below_one_half(mechanism: dpcore.TradeOff, k: int) -> None:
    row = copies(mechanism, k)
    gamma = row.limit.band / math.sqrt(k)
    if gamma >= 0.5:
        assert math.isinf(row.limit.gamma(k))
        assert math.isinf(row.limit.furthest(k))
        assert band_table(row).empty
        with pytest.raises(DomainError, match="no band"):
            row.limit.edges(k, np.array([0.5]))
        return
    low, high = row.limit.span(k)
    kept = 1 - row.goal.lost
    assert (low, high) == pytest.approx((kept * gamma, kept * (1 - gamma)))
    alpha = np.linspace(low, high, 60)
    lower, upper = row.limit.edges(k, alpha)
    exact = row.composed.beta(alpha)
    assert np.all(lower <= exact + 1e-12)
    assert np.all(exact <= upper + 1e-12)
    # the edges are the formula of the theorem around the limit itself, failures taken out
    centre = dpcore.gdp(row.goal.mu)
    wanted = kept * np.maximum(0.0, centre.beta(np.minimum(alpha / kept + gamma, 1.0)) - gamma)
    np.testing.assert_allclose(lower, wanted, atol=1e-9)
    assert row.distance().largest.upper <= row.limit.furthest(k) + 1e-12
    assert len(band_table(row)) > 0


@pytest.mark.parametrize(("text", "k"), [("laplace(0.1)", 100), ("laplace(2)", 30), ("histogram(0.5)", 40)])
def test_the_band_holds_around_smooth_curves(text: str, k: int) -> None:
    row = copies(text, k)
    alpha = np.linspace(*row.limit.span(k), 40)
    lower, upper = row.limit.edges(k, alpha)
    with effort(tolerance=1e-3):
        below, above = row.composed.curve.beta_bounds(alpha)
    assert np.all(lower <= above)
    assert np.all(below <= upper)


def test_rates_outside_the_theorem_are_refused() -> None:
    found = limit(dpcore.dp(0.1))
    with pytest.raises(DomainError, match=r"false-positive rates in \[0\.056"):
        found.edges(100, np.array([0.01]))


def test_the_figure_draws_the_band_only_where_there_is_one() -> None:
    drawn, bare = limit_figure(copies("dp(0.1)", 100)), limit_figure(copies("dp(1)", 2))
    closed = [str(layer.to_dict()["mark"]).count("linear-closed") for layer in drawn.chart.layer]
    assert sum(closed) == 1
    assert "γ = 0.0563" in drawn.takeaway
    assert {"lower", "upper"} <= set(drawn.table["kind"])
    assert not any("linear-closed" in str(layer.to_dict()["mark"]) for layer in bare.chart.layer)
    assert "No band is drawn: γ = 0.54" in bare.takeaway


# ---- distance ------------------------------------------------------------------------------------------------


def gaps(region: dpcore.TradeOff, goal: Goal) -> tuple[float, float]:
    """Return sup(G - f) and sup(f - G) on a dense grid of false-positive rates."""
    kept = 1 - goal.lost
    alpha = np.unique(
        np.concatenate((np.geomspace(1e-20, 0.5, 8000), np.linspace(0, 1, 4001), region.curve.vertices[0]))
    )
    inside = np.minimum(alpha / kept, 1.0)
    smooth = kept * dpcore.gdp(goal.mu).beta(inside)
    exact = region.beta(alpha)
    return float((smooth - exact).max()), float((exact - smooth).max())


@LAWS
@given(mechanisms(), st.integers(1, 60))
@example(dpcore.dp(0.921875, 0.03125), 39)  # the largest gap is at a rate below 1e-9
def test_the_distance_of_curves_is_that_of_profiles(mechanism: dpcore.TradeOff, k: int) -> None:
    row = copies(mechanism, k)
    assume(0.05 < row.goal.mu < 6)
    found = row.distance()
    optimistic, cautious = gaps(row.composed, row.goal)
    assert found.kind == "exact"
    # the grid can only miss a little
    assert optimistic - 1e-12 <= found.optimistic.upper <= optimistic + 2e-3
    assert cautious - 1e-12 <= found.cautious.upper <= cautious + 2e-3
    bracket = _bracketed(row.composed.curve, row.goal)
    for exact, between in ((found.optimistic, bracket.optimistic), (found.cautious, bracket.cautious)):
        assert between.lower - 1e-14 <= exact.upper <= between.upper + 1e-14


def test_brackets_are_narrow() -> None:
    for text, k in (("laplace(0.1)", 100), ("poisson_gaussian(1, 0.01)", 1000)):
        row = copies(text, k)
        with effort(tolerance=1e-3):
            found = row.distance()
        assert found.kind == "bracket"
        assert 0 <= found.largest.upper - found.largest.lower <= 5e-3 * found.largest.upper


def test_the_distance_of_figure_3_10() -> None:
    found = distance(dpcore.dp(0.1) ** 100, Goal(1.0))
    assert found.largest.upper == pytest.approx(0.00125, abs=5e-6)


@pytest.mark.parametrize("mu", [1e-4, 0.5, 3.0, 40.0, 300.0])
def test_the_profile_of_a_limit_is_that_of_gaussian_privacy(mu: float) -> None:
    t = np.linspace(0, mu * (mu / 2 + 9), 501)
    for goal in (Goal(mu), Goal(mu, 0.2)):
        wanted = goal.lost + (1 - goal.lost) * dpcore.gdp(mu).delta(t)
        np.testing.assert_allclose(goal.delta(t), wanted, rtol=0, atol=goal.rounding)


@pytest.mark.parametrize(("mu", "lost"), [(0.0, 0.0), (math.inf, 0.0), (1.0, 1.1), (1.0, -0.1)])
def test_a_limit_has_a_domain(mu: float, lost: float) -> None:
    with pytest.raises(DomainError, match="must be a number"):
        Goal(mu, lost)


def test_a_limit_that_promises_nothing_is_not_optimistic() -> None:
    found = distance(dpcore.dp(0.1, 0.3), Goal(1.0, 1.0))
    assert found.optimistic.upper == 0.0
    assert found.cautious.upper == pytest.approx(0.7)
    assert set(convergence("dp(0.1, 0.0005)", 0.1, [100, 10**5])["kind"]) == {"exact"}


# ---- unsafe numbers ------------------------------------------------------------------------------------------


def test_a_limit_below_the_truth_is_said_loudly() -> None:
    row = copies("rr(1, 10)", 100)
    unsafe, words = warning(row, 1e-5, row.distance())
    assert unsafe
    assert words.startswith("The CLT number is below the truth.")
    assert "says ε ≈ 36.8, but the mechanism needs ε ≥ 37.205 (exact)" in words
    # the truth by the second route: a sum over the numbers of answers that point each way
    assert row.composed.delta(36.8) > 1e-5 > row.region.delta(36.85)
    rows = safety(row)
    assert set(rows["verdict"]) == {BELOW}
    assert unsafe_words(rows) == "Of the δ listed, the CLT number is below the truth at 0.1 down to 1e-12."
    assert not rows.isna().any().any()


def test_a_limit_above_the_truth_is_no_theorem_either() -> None:
    row = copies("dp(0.1)", 100)
    unsafe, words = warning(row, 1e-5, row.distance())
    assert not unsafe
    assert "which no theorem promises" in words
    assert "The limit's δ is furthest below the truth at ε = 0.3009" in words
    assert unsafe_words(safety(row)) == ""


def test_noisy_gradients_show_what_accountants_miss() -> None:
    row = copies("poisson_gaussian(1, 0.01)", 1000)
    with effort(tolerance=1e-3):
        unsafe, words = warning(row, 1e-5, row.distance())
    assert unsafe
    assert "says ε ≈ 1.5846, but the mechanism needs ε ≥ 1.8282 (lower bound)" in words


def test_failures_that_no_epsilon_covers() -> None:
    row = copies("dp(0.1, 0.001)", 100)
    unsafe, words = warning(row, 1e-5, row.distance())
    assert not unsafe
    assert "no ε holds, with or without a limit" in words


def test_the_side_of_the_truth() -> None:
    assert verdict(1.0, 1.1, 1.2) == BELOW
    assert verdict(1.3, 1.1, 1.2) == ABOVE
    assert verdict(1.15, 1.1, 1.2) == OPEN
    assert verdict(1.0, 1.0, 1.0) == OPEN
    assert verdict(1.0, math.inf, math.inf) == BELOW
    assert verdict(math.inf, math.inf, math.inf) == OPEN


def test_convergence_says_what_it_is() -> None:
    frame = convergence("rr(1, 10)", 1e-5, [1, 10, 30, 1000])
    assert frame["k"].tolist() == [1, 10, 30, 1000]
    assert frame["verdict"].tolist() == [ABOVE, ABOVE, BELOW, BELOW]
    assert np.isinf(frame["gamma"].iloc[0])
    assert frame["gamma"].iloc[1] == pytest.approx(0.302656, abs=1e-6)
    assert "γ = 0.957" in frame["note"].iloc[0]
    assert set(frame["kind"]) == {"exact"}
    assert np.all(frame["distance"] <= frame["bound"])
    assert not frame.isna().any().any()


def test_rows_that_are_too_dear_say_so_and_a_deadline_refuses_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcore.central_limit.convergence.ROW_WORK", 1e3)
    with effort(tolerance=1e-3):
        frame = convergence("staircase(0.1, 0.3) & gdp(0.2)", 1e-5, [1, 10])
    assert frame["kind"].tolist()[1] == "none"
    assert frame["distance"].tolist()[1] == 1.0
    assert "more than the 1000 operations allowed" in frame["note"].tolist()[1]
    assert not frame.isna().any().any()
    with pytest.raises(BudgetError, match="time allowed"), effort(deadline=0.0):
        convergence("dp(0.1)", 1e-5, [1, 10])


@pytest.mark.parametrize("text", ["gaussian(1)", "zcdp(0.1)", "exponential(0.1)", "dp(0)", "uniform(0.5)"])
def test_no_limit_says_why(text: str) -> None:
    with pytest.raises(DomainError, match=r"[.]$"):
        copies(text, 10)


# ---- arrays --------------------------------------------------------------------------------------------------


def test_rows_of_the_arrays() -> None:
    pure, failing, varying = arrays(1.2, 0.3, 0.25)
    assert (pure.name, failing.name, varying.name) == (PURE, FAILING, VARYING)
    n = 400
    assert n * pure.mechanism(n).epsilon_ ** 2 == pytest.approx(1.2**2)  # type: ignore[attr-defined]  # a dp statement
    assert n * failing.mechanism(n).delta_ == pytest.approx(0.3)  # type: ignore[attr-defined]  # a dp statement
    assert failing.goal.lost == pytest.approx(1 - math.exp(-0.3))
    one = varying.mechanism(n)
    assert n * one.epsilon_ * one.eta == pytest.approx(1.2**2 / 2)  # type: ignore[attr-defined]  # a dptv statement
    assert one.epsilon_ == pytest.approx(1.2 * n**-0.25)  # type: ignore[attr-defined]  # as above


def test_all_three_arrays_converge() -> None:
    frame = array_distances(arrays(1.0, 0.1, 0.25), [100, 10_000])
    assert set(frame["kind"]) == {"exact"}
    ratio = {name: part["distance"].iloc[0] / part["distance"].iloc[1] for name, part in frame.groupby("array")}
    assert ratio[PURE] == pytest.approx(100, rel=0.02)  # as 1/n
    assert ratio[FAILING] == pytest.approx(100, rel=0.02)
    assert 8 < ratio[VARYING] < 12  # as n^(-2c)
    assert np.all(frame["distance"] == frame[["optimistic", "cautious"]].max(axis=1))


def test_few_mechanisms_have_no_more_total_variation_than_epsilon_allows() -> None:
    one = arrays(2.0, 0.0, 0.5)[2].mechanism(1)
    assert one.total_variation == pytest.approx(math.tanh(1.0))


@pytest.mark.parametrize(
    ("mu", "delta", "c", "name"), [(0, 0.1, 0.2, "mu"), (1, -1, 0.2, "delta"), (1, 0.1, 0.6, "c"), (1, 0.1, 0, "c")]
)
def test_arrays_have_domains(mu: float, delta: float, c: float, name: str) -> None:
    with pytest.raises(DomainError, match=f"^{name} must be"):
        arrays(mu, delta, c)

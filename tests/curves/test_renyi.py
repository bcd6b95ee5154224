"""Rényi and concentrated regions against mpmath, brute force, closed forms and printed oracles."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.core.errors import DomainError
from dpcore.curves import renyi_divergence
from dpcore.curves.renyi import Concentrated, Renyi

REL = 1e-10
BETA_WIDTH = 1e-12
POWER_WIDTH = 1e-11  # down to rates of 1e-300, whose logarithms have an ulp of 1e-13


def divergence(order, p, q):
    """Textbook Rényi divergence of two coins, without any of the rearrangements under test."""
    a, p, q = mp.mpf(order), mp.mpf(p), mp.mpf(q)
    return mp.log(p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)) / (a - 1)


def either(order, p, x):
    p, x = (v if isinstance(v, mp.mpf) else mp.mpf(float(v)) for v in (p, x))
    return max(divergence(order, p, x), divergence(order, x, p))


def largest(order, x, y):
    return either(order, 1 - mp.mpf(float(y)), float(x))


def digits(*values):
    return 60 + sum(int(-math.log10(v)) for v in values if 0 < v < 1)


def excess_over_orders(rho, xi, x, y):
    """Maximum over the orders of D_a - xi - rho a, every local maximum of a fine grid refined, in mpmath."""
    x, p, rho = mp.mpf(float(x)), 1 - mp.mpf(float(y)), mp.mpf(rho)
    up, down = mp.log(p / x), mp.log((1 - p) / (1 - x))

    def gap(log_excess):
        e = mp.exp(mp.mpf(log_excess))
        return mp.log(x * mp.exp((1 + e) * up) + (1 - x) * mp.exp((1 + e) * down)) / e - rho * (1 + e) - xi

    grid = np.linspace(-10, math.log((float(up - down) + 1) / float(rho) + 2), 60)
    values = [gap(v) for v in grid]
    best = [p * up + (1 - p) * down - rho - xi]
    for i in range(1, len(grid) - 1):
        if values[i] >= max(values[i - 1], values[i + 1]):
            low, high = mp.mpf(grid[i - 1]), mp.mpf(grid[i + 1])
            for _ in range(70):
                c, d = low + (high - low) * mp.mpf("0.382"), low + (high - low) * mp.mpf("0.618")
                low, high = (c, high) if gap(c) < gap(d) else (low, d)
            best.append(gap(low))
    return max(best)


@pytest.mark.parametrize(
    ("order", "epsilon", "alpha", "beta"),
    [
        (2, 0.5, 0.1, 0.658370294949),
        (2, 0.5, 0.25, 0.4012375619),
        (2, 0.5, 0.6, 0.12953921),
        (2, 1, 0.1, 0.5067502517),
        (2, 1, 0.25, 0.2131610301),
        (5, 0.5, 0.1, 0.7661953896),
        (1.5, 0.3, 0.1, 0.6812159423),
        (20, 1, 0.1, 0.7098786045),
    ],
)
def test_printed_betas(order, epsilon, alpha, beta):
    lower, upper = Renyi(order, epsilon).beta_bounds(np.array([alpha]))
    printed = 0.6 * 10.0 ** -len(str(beta).split(".")[1])
    assert lower[0] == pytest.approx(beta, abs=printed)
    assert upper[0] - lower[0] <= BETA_WIDTH * upper[0]


@pytest.mark.parametrize(
    ("order", "epsilon", "tv"),
    [(2, 0.5, 0.373561676108), (5, 0.5, 0.294806632445), (1.5, 0.3, 0.318389980415), (20, 1, 0.468486391766)],
)
def test_printed_total_variation(order, epsilon, tv):
    lower, upper = Renyi(order, epsilon).delta_bounds(np.zeros(1))
    assert lower[0] == pytest.approx(tv, abs=6e-13)
    assert upper[0] - lower[0] <= BETA_WIDTH * tv


@pytest.mark.parametrize(
    ("order", "epsilon", "t", "delta"),
    [
        (10, 0.5, 1.0, 4.257453e-4),
        (5, 1.0, 2.0, 1.473849e-3),
        (2, 0.5, 1.5, 4.597387e-2),
        # a difference from 1 in doubles gives 9.742118e-11; the last two digits need the masses
        (32, 0.2, 0.8, 9.742122e-11),
    ],
)
def test_printed_deltas(order, epsilon, t, delta):
    lower, upper = Renyi(order, epsilon).delta_bounds(np.array([t]))
    assert lower[0] == pytest.approx(delta, rel=5e-7)
    assert upper[0] - lower[0] <= REL * upper[0]


@pytest.mark.parametrize("epsilon", [1e-8, 0.3, 2.0, 30.0])
def test_order_two_closed_form(epsilon):
    curve = Renyi(2, epsilon)
    growth = math.expm1(epsilon)
    assert curve.delta_bounds(np.zeros(1))[1][0] == pytest.approx(math.sqrt(growth / (growth + 4)), rel=1e-12)
    corner = float(1 / (1 + math.exp(curve.corner[1])))
    x = corner * np.array([1e-12, 1e-3, 0.3, 0.9])
    power = x + np.sqrt(x * (1 - x) * growth)
    weak, strong = curve.power_bounds(x)
    np.testing.assert_allclose(weak, power, rtol=1e-11)
    np.testing.assert_allclose(strong, power, rtol=1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_beta_brackets_the_root_in_mpmath(seed):
    rng = np.random.default_rng(seed)
    for _ in range(4):
        order, epsilon = 1 + 10 ** rng.uniform(-2, 6), 10 ** rng.uniform(-8, math.log10(700))
        curve = Renyi(order, epsilon)
        corner = 1 / (1 + math.exp(curve.corner[0]))
        alpha = np.array([1e-30, 10 ** rng.uniform(-300, 0), rng.uniform(), 0.5 * corner, corner, 1 - 1e-10])
        lower, upper = curve.beta_bounds(alpha)
        weak, strong = curve.power_bounds(alpha)
        assert np.all(lower <= upper)
        for x, low, high, small, big in zip(alpha, lower, upper, weak, strong, strict=True):
            with mp.workdps(digits(x, high, 1e-20)):
                assert low == 0 or largest(order, x, low) > epsilon
                assert high >= 1 - x or largest(order, x, high) <= epsilon
                assert big >= 1 or either(order, big, x) > epsilon
                assert small <= x or either(order, small, x) <= epsilon


def test_widths_of_beta_on_a_drawn_curve():
    alpha = np.concatenate((np.geomspace(1e-300, 1e-3, 50), np.linspace(0.001, 0.999, 200)))
    for curve in (Renyi(2, 1e-8), Renyi(1.01, 0.5), Renyi(10, 1), Renyi(1e6, 3), Concentrated(1e-8), Concentrated(0.5)):
        lower, upper = curve.beta_bounds(alpha)
        seen = upper > 1e-300
        # near order 1 beta is the power order/(order-1) = 101 of the true-negative rate, and so is its error
        allowed = 1e-11 if getattr(curve, "order", 2) < 1.1 else BETA_WIDTH
        assert np.max((upper - lower)[seen] / upper[seen]) <= allowed
        weak, strong = curve.power_bounds(alpha)
        assert np.max((strong - weak) / strong) <= POWER_WIDTH


def test_small_betas_keep_their_digits():
    lower, upper = Renyi(2, 690.0).beta_bounds(np.array([0.1]))
    with mp.workdps(700):
        x, p = mp.mpf(0.1), mp.mpf(1) - mp.mpf(0.1)
        e = mp.exp(mp.mpf(690)) - 1
        # D(p || y) = 690 at order 2: (p - y)^2 = y (1 - y) e
        exact = ((2 * p + e) - mp.sqrt((2 * p + e) ** 2 - 4 * (1 + e) * p * p)) / (2 * (1 + e))
        assert 0 < lower[0] < 1e-299
        assert mp.mpf(float(lower[0])) <= exact <= mp.mpf(float(upper[0]))
        assert x + p == 1
    assert upper[0] / lower[0] - 1 <= 1e-11


def touching(order, epsilon, t, guess):
    """Solve constraint and slope in mpmath from the textbook formulas; return p - e^t x."""
    a, e, t = mp.mpf(order), mp.mpf(epsilon), mp.mpf(t)

    def coins(log_w, log_v):
        grown, shrunk = mp.exp(t + mp.exp(log_w)), mp.exp(-mp.exp(log_v))
        x = (1 - shrunk) / (grown - shrunk)
        return x * grown, x

    def equations(log_w, log_v):
        p, x = coins(log_w, log_v)
        up, down = p / x, (1 - p) / (1 - x)
        slope = (a - 1) / a * (up**a - down**a) / (up ** (a - 1) - down ** (a - 1))
        return [mp.log(divergence(a, p, x) / e), (mp.log(slope) - t) / mp.exp(log_w)]

    p, x = coins(*mp.findroot(equations, guess, tol=1e-50))
    return p - mp.exp(t) * x


@pytest.mark.parametrize(
    ("order", "epsilon", "t"),
    [
        (2, 0.5, 1.5),
        (32, 0.2, 0.8),
        (10, 0.5, 12.0),
        (1.05, 1e-6, 0.2),
        (1e5, 0.2, 0.201),
        (3, 1e-8, 0.01),
        (4, 50, 90),
    ],
)
def test_delta_brackets_the_optimum_in_mpmath(order, epsilon, t):
    curve = Renyi(order, epsilon)
    lower, upper = curve.delta_bounds(np.array([float(t)]))
    lead = math.log1p(1 / (order - 1))
    x = upper[0] / (math.exp(t) * math.expm1(lead))
    with mp.workdps(digits(upper[0], math.exp(-t), 1e-10)):
        guess = (mp.log(lead), mp.log(x) + mp.log(mp.expm1(t + lead)))
        exact = touching(order, epsilon, t, guess)
        assert mp.mpf(float(lower[0])) <= exact <= mp.mpf(float(upper[0]))
    assert upper[0] - lower[0] <= REL * upper[0]


@pytest.mark.parametrize("curve", [Renyi(3, 0.4), Renyi(1.2, 2.0), Concentrated(0.2), Concentrated(0.05, 0.5)])
def test_delta_is_the_dual_of_beta(curve):
    end = np.geomspace(1e-12, 1e-2, 2000)
    corner = 1 / (1 + math.exp(curve.corner[1]))
    x = np.concatenate((end, np.linspace(0.01, 0.99, 2000), 1 - end, [corner * (1 - 1e-12), 1 - corner]))
    weak = curve.power_bounds(x)[0]
    t = np.array([-3.0, -0.7, -0.01, 0.0, 0.2, 0.5, 1.0, 1.7])
    lower, upper = curve.delta_bounds(t)
    for value, low, high in zip(t, lower, upper, strict=True):
        gain = float(np.max(weak - math.exp(value) * x))
        assert gain <= high * (1 + 1e-13)
        assert gain == pytest.approx(low, rel=1e-4)


def test_no_allowed_coin_lies_outside():
    rng = np.random.default_rng(7)
    x, p = rng.uniform(size=4000) ** 3, rng.uniform(size=4000)
    for order, epsilon in ((1.3, 0.2), (4.0, 0.7), (60.0, 1.0)):
        log = np.log
        one = np.logaddexp(order * log(p) + (1 - order) * log(x), order * log(1 - p) + (1 - order) * log(1 - x))
        two = np.logaddexp(order * log(x) + (1 - order) * log(p), order * log(1 - x) + (1 - order) * log(1 - p))
        allowed = (np.maximum(one, two) / (order - 1) <= epsilon) & (p >= x)
        lower, upper = Renyi(order, epsilon).beta_bounds(x)
        assert allowed.sum() > 100
        assert np.all(1 - p[allowed] >= lower[allowed] * (1 - 1e-12))
        assert np.all(1 - p[~allowed & (p >= x)] <= upper[~allowed & (p >= x)] * (1 + 1e-12))


@settings(max_examples=20, deadline=None)
@given(
    st.floats(-2, 5).map(lambda v: 1 + 10**v),
    st.floats(-6, 2).map(lambda v: 10**v),
    st.lists(st.floats(1e-6, 1 - 1e-6), min_size=3, max_size=8),
)
def test_laws_of_a_region(order, epsilon, rates):
    curve = Renyi(order, epsilon)
    x = np.sort(np.array(rates))
    lower, upper = curve.beta_bounds(x)
    assert np.all(np.diff(lower) <= 1e-12)
    assert np.all(lower <= 1 - x + 1e-15)
    middle = curve.beta_bounds((x[:-1] + x[1:]) / 2)[0]
    assert np.all(middle <= (upper[:-1] + upper[1:]) / 2 + 1e-13)
    inside = (upper > 1e-12) & (upper < 1)
    again = curve.beta_bounds(upper[inside])[0]
    assert np.all(again <= x[inside] * (1 + 1e-9))
    stronger = Renyi(order * 2, epsilon).beta_bounds(x)[1]
    assert np.all(stronger >= lower * (1 - 1e-12))


@pytest.mark.parametrize(
    ("rho", "alpha", "beta"),
    [
        (0.125, 0.01, 0.95988354),
        (0.125, 0.1, 0.74879697),
        (0.125, 0.3, 0.45943270),
        (0.5, 0.01, 0.87541085),
        (0.5, 0.1, 0.51627171),
    ],
)
def test_printed_concentrated_betas(rho, alpha, beta):
    lower, upper = Concentrated(rho).beta_bounds(np.array([alpha]))
    assert lower[0] == pytest.approx(beta, abs=6e-9)
    assert upper[0] - lower[0] <= BETA_WIDTH


def test_concentrated_values_of_a_grid_are_on_the_safe_side():
    # a grid without the orders next to 1 prints .22861634, TV .47910078 and these deltas: all outside, all close
    curve = Concentrated(0.5)
    assert 0.22861634 <= curve.beta_bounds(np.array([0.3]))[0][0] <= 0.22862
    assert 0.47909 <= curve.delta_bounds(np.zeros(1))[1][0] <= 0.47910078
    lower, upper = Concentrated(0.1).delta_bounds(np.array([1.0, 2.0]))
    assert np.all(upper <= [8.757e-3, 4.466e-6])
    assert np.all(lower >= [8.6e-3, 4.2e-6])
    assert np.all(upper - lower <= REL * upper)


@pytest.mark.parametrize(("rho", "xi"), [(0.5, 0.0), (1e-4, 0.0), (2e-7, 0.0), (0.02, 0.7), (20.0, 1e-3)])
def test_concentrated_beta_brackets_the_root_in_mpmath(rho, xi):
    curve = Concentrated(rho, xi)
    corner = 1 / (1 + math.exp(curve.corner[0]))
    alpha = corner * np.array([1e-20, 0.05, 0.5, 0.9])
    lower, upper = curve.beta_bounds(alpha)
    for x, low, high in zip(alpha, lower, upper, strict=True):
        with mp.workdps(digits(x, high, 1e-20) - 30):
            assert excess_over_orders(rho, xi, x, low) > 0
            assert high >= 1 - x or excess_over_orders(rho, xi, x, high) <= 0


@pytest.mark.parametrize(("rho", "xi"), [(0.3, 0.0), (0.01, 0.2), (5.0, 0.0)])
def test_concentrated_is_the_intersection_of_orders(rho, xi):
    curve = Concentrated(rho, xi)
    alpha, t = np.array([1e-6, 0.01, 0.2, 0.6]), np.array([0.0, 1.0, 3.0]) * math.sqrt(rho) + xi
    orders = 1 + np.geomspace(1e-3, 50 / math.sqrt(rho), 24)
    beta = np.max([Renyi(a, xi + rho * a).beta_bounds(alpha)[0] for a in orders], axis=0)
    delta = np.min([Renyi(a, xi + rho * a).delta_bounds(t)[1] for a in orders], axis=0)
    lower, upper = curve.beta_bounds(alpha)
    assert np.all(beta <= upper)
    np.testing.assert_allclose(beta, lower, rtol=5e-2)
    low, high = curve.delta_bounds(t)
    assert np.all(delta >= low)
    np.testing.assert_allclose(delta, high, rtol=5e-2)


def test_concentrated_lies_below_the_gaussian():
    from dpcore.curves.gaussian import GaussianCurve

    alpha = np.geomspace(1e-8, 0.9, 40)
    for rho in (0.01, 0.5, 4.0):
        gaussian = GaussianCurve(math.sqrt(2 * rho)).beta_bounds(alpha)[0]
        assert np.all(Concentrated(rho).beta_bounds(alpha)[1] <= gaussian)


@pytest.mark.parametrize(
    "curve", [Renyi(10, 0.5), Renyi(1.5, 3.0), Renyi(1e4, 1e-3), Concentrated(0.1), Concentrated(3, 1)]
)
def test_epsilon_inverts_delta(curve):
    delta = np.array([1e-200, 1e-12, 1e-5, 1e-3, 0.9, 0.0])
    lower, upper = curve.epsilon_bounds(delta)
    open_ = (upper > 0) & np.isfinite(upper)
    assert open_.sum() >= 2
    assert np.all(curve.delta_bounds(upper[open_])[1] <= delta[open_])
    assert np.all(curve.delta_bounds(lower[open_])[0] >= delta[open_])
    assert np.all(upper[open_] - lower[open_] <= 1e-11 * upper[open_])
    assert upper[-1] == np.inf
    assert np.all(curve.delta_bounds(np.zeros(1))[1] <= delta[(upper == 0.0)])


@pytest.mark.parametrize(
    "curve", [Renyi(2, 1e-8), Renyi(1e6, 700), Renyi(1.01, 700), Concentrated(1e-9), Concentrated(600)]
)
def test_ends_and_extremes(curve):
    lower, upper = curve.beta_bounds(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(lower, [1.0, 0.0])
    np.testing.assert_array_equal(upper, [1.0, 0.0])
    lower, upper = curve.delta_bounds(np.array([-np.inf, -2.0, np.inf]))
    assert lower[0] == upper[0] == 1.0
    assert lower[2] == upper[2] == 0.0
    assert lower[1] >= -math.expm1(-2.0) * (1 - 1e-15)
    lower, upper = curve.beta_bounds(np.array([5e-324, 1e-300, 1 - 2**-53]))
    assert np.all(np.isfinite(lower) & np.isfinite(upper) & (lower <= upper))
    assert curve.inverse() is curve
    assert curve.symmetric


@pytest.mark.parametrize(
    "values", [(1.0, 1.0), (0.5, 1.0), (math.inf, 1.0), (math.nan, 1.0), (2.0, -1.0), (2.0, math.nan)]
)
def test_renyi_domain(values):
    with pytest.raises(DomainError):
        Renyi(*values)


@pytest.mark.parametrize("values", [(0.0,), (-1.0,), (1.0, -0.1), (math.nan,), (math.inf,)])
def test_concentrated_domain(values):
    with pytest.raises(DomainError):
        Concentrated(*values)


ORDERS = [1.0, 1.01, 1.5, 2, 10, 1000.0]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("epsilon", [1e-8, 0.1, 1.0, 5.0, 400.0])
def test_closed_divergences_by_quadrature_and_sum(order, epsilon):
    with mp.workdps(60 + int(epsilon)):
        e = mp.mpf(epsilon)
        a = mp.mpf(order) if order > 1 else 1 + mp.mpf(10) ** -25
        laplace = mp.log(a / (2 * a - 1) * mp.exp((a - 1) * e) + (a - 1) / (2 * a - 1) * mp.exp(-a * e)) / (a - 1)
        assert renyi_divergence.laplace(epsilon, order) == pytest.approx(float(laplace), rel=1e-13)
        coin = mp.exp(e) / (1 + mp.exp(e))
        two = divergence(a, coin, 1 - coin)
        assert renyi_divergence.randomized_response(epsilon, order) == pytest.approx(float(two), rel=1e-13)


@pytest.mark.parametrize("order", [1.5, 2, 6])
def test_closed_divergences_by_integration(order):
    def density(shift):
        return lambda z: mp.exp(-abs(z - shift)) / 2

    first, second = density(1), density(0)
    total = mp.quad(lambda z: first(z) ** order * second(z) ** (1 - order), [-mp.inf, 0, 1, mp.inf])
    assert renyi_divergence.laplace(1.0, order) == pytest.approx(float(mp.log(total)) / (order - 1), rel=1e-10)
    total = mp.quad(lambda z: mp.npdf(z, 0.7) ** order * mp.npdf(z) ** (1 - order), [-mp.inf, 0, 5, mp.inf])
    assert renyi_divergence.gaussian(0.7, order) == pytest.approx(float(mp.log(total)) / (order - 1), rel=1e-10)


@pytest.mark.parametrize("order", [1.0, 1.2, 3, 40.0, math.inf])
def test_divergence_of_vectors(order):
    q, p = [0.5, 0.25, 0.25, 0.0], [0.125, 0.25, 0.5, 0.125]
    if order == 1:
        exact = sum(a * math.log(a / b) for a, b in zip(q, p, strict=True) if a)
    elif math.isinf(order):
        exact = math.log(4)
    else:
        exact = math.log(sum(a**order * b ** (1 - order) for a, b in zip(q, p, strict=True) if a)) / (order - 1)
    assert renyi_divergence.pmf(q, p, order) == pytest.approx(exact, rel=1e-13)
    assert renyi_divergence.pmf(p, q, order) == math.inf
    assert renyi_divergence.pmf(p, p, order) == 0.0


def test_vector_divergence_matches_the_region_and_the_ends():
    near = 1e-7
    got = renyi_divergence.pmf([0.5 + near, 0.5 - near], [0.5, 0.5], 3.0)
    assert got == pytest.approx(6 * near**2, rel=1e-9)
    curve = Renyi(3, 0.4)
    x = 0.05
    y = curve.beta_bounds(np.array([x]))[0][0]
    assert renyi_divergence.pmf([1 - y, y], [x, 1 - x], 3) == pytest.approx(0.4, rel=1e-13)
    assert renyi_divergence.laplace(0.7, math.inf) == 0.7
    assert renyi_divergence.randomized_response(0.7, math.inf) == 0.7
    assert renyi_divergence.gaussian(0.7, math.inf) == math.inf
    assert renyi_divergence.pmf([0.9, 0.1], [0.1, 0.9], 1e5) == pytest.approx(math.log(9), rel=1e-4)


@pytest.mark.parametrize("name", ["laplace", "gaussian", "randomized_response"])
@pytest.mark.parametrize(("value", "order"), [(1, 0.5), (-1, 2), (math.nan, 2), (1, math.nan)])
def test_closed_divergence_domains(name, value, order):
    with pytest.raises(DomainError):
        getattr(renyi_divergence, name)(value, order)


@pytest.mark.parametrize("vectors", [([0.5, 0.5], [1.0]), ([0.5, 0.6], [0.5, 0.5]), ([1.5, -0.5], [0.5, 0.5])])
def test_vector_domains(vectors):
    with pytest.raises(DomainError):
        renyi_divergence.pmf(*vectors, 2)

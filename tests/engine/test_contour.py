"""The contour engine against closed forms, exact enumeration and high-precision integrals."""

from __future__ import annotations

import itertools
import math
import time

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore import parse
from dpcore.engine import laplace_mgf
from dpcore.engine.contour import Contour
from dpcore.engine.contour_atoms import _psi
from dpcore.engine.contour_plan import bump_weight

UNIT = 2.0**-53


def delta_bounds(factors, epsilon, tolerance):
    return Contour(factors, tolerance).delta_bounds(epsilon)


class Laplace:
    q_inf = p_inf = 0.0

    def __init__(self, eps0):
        self.eps0, self.min_loss, self.max_loss = eps0, -eps0, eps0

    def log_mgf(self, s):
        return laplace_mgf.log_mgf(s, self.eps0)

    def log_decay(self, c, y):
        return laplace_mgf.log_decay(c, y, self.eps0)


class LaplaceWithAtoms(Laplace):
    atom_units = 40.0

    def atoms(self):
        return np.array([-self.eps0, self.eps0]), np.array([math.exp(-self.eps0), 1.0]) * (0.5 - 1e-15)


class Gaussian:
    q_inf = p_inf = 0.0
    min_loss, max_loss = -math.inf, math.inf

    def __init__(self, mu):
        self.mu = mu

    def log_mgf(self, s):
        return (self.mu**2 / 2) * s * (s + 1)

    def log_decay(self, c, y):  # noqa: ARG002 (the protocol's signature)
        return -((self.mu * y) ** 2) / 2


class Points:
    """Finitely many losses; masses q under P1 at `loss`, the rest of both laws at infinite loss."""

    def __init__(self, loss, q, q_inf=0.0, p_inf=0.0, known=False):
        self.loss, self.q = np.asarray(loss, dtype=float), np.asarray(q, dtype=float)
        self.q_inf, self.p_inf = q_inf, p_inf
        self.min_loss, self.max_loss = float(self.loss.min()), float(self.loss.max())
        if known:
            self.atoms = lambda: (self.loss, self.q)
            self.atom_units = 8.0

    def log_mgf(self, s):
        power = np.multiply.outer(s, self.loss)
        top = power.real.max(axis=-1)
        with np.errstate(divide="ignore"):
            return top + np.log((self.q * np.exp(power - top[:, None])).sum(axis=-1))

    def log_decay(self, c, y):  # noqa: ARG002 (the protocol's signature)
        return 0.0


def two_points(eps):
    return Points([-eps, eps], [1 / (1 + math.exp(eps)), 1 / (1 + math.exp(-eps))])


def check(factors, epsilon, truth, width, tolerance=1e-6):
    """Assert that every truth is inside its bracket and every bracket is narrow; return the bracket."""
    lower, upper = delta_bounds(factors, np.asarray(epsilon, dtype=float), tolerance)
    for e, low, high, true in zip(epsilon, lower, upper, truth, strict=True):
        assert mp.mpf(float(low)) <= true <= mp.mpf(float(high)), (e, low, high, mp.nstr(true, 25))
        assert high - low <= width * high, (e, low, high)
    return lower, upper


def laplace_truth(parts, eps, points):
    """High-precision trapezoidal rule on the same line integral, but with c and the step chosen apart (D branch)."""

    def log_m(s):
        total = mp.mpf(0)
        for eps0, k in parts:
            e = mp.mpf(eps0)
            total += k * mp.log(((s + 1) * mp.exp(s * e) + s * mp.exp(-(s + 1) * e)) / (2 * s + 1))
        return total

    with mp.workdps(45):
        eps = mp.mpf(eps)

        def slope(c):
            return mp.diff(log_m, c) - eps - 1 / c - 1 / (c + 1)

        low, high = mp.mpf("1e-6"), mp.mpf(1000)
        for _ in range(60):
            middle = mp.sqrt(low * high)
            low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        c = low
        sigma = mp.sqrt(mp.diff(log_m, c, 2))
        reach, step = 13 / sigma, 13 / sigma / points
        total = mp.mpf(0)
        for n in range(points + 1):
            s = mp.mpc(c, n * step)
            total += (mp.mpf(1) if n else mp.mpf("0.5")) * mp.re(mp.exp(log_m(s) - s * eps) / (s * (s + 1)))
        assert n * step >= reach * (1 - mp.mpf(10) ** -30)
        return total * step / mp.pi


def binomial_truth(eps0, k, eps):
    with mp.workdps(60):
        e, x = mp.mpf(eps0), mp.mpf(eps)
        q = 1 / (1 + mp.exp(-e))
        return mp.fsum(
            mp.binomial(k, j) * q**j * (1 - q) ** (k - j) * -mp.expm1(x - (2 * j - k) * e)
            for j in range(k + 1)
            if (2 * j - k) * e > x
        )


def enumerated_truth(factors, eps):
    """Sum the definition over every combination of finite losses."""
    with mp.workdps(50):
        infinite = 1 - mp.fprod((1 - mp.mpf(f.q_inf)) ** k for f, k in factors)
        law = {mp.mpf(0): mp.mpf(1)}
        for factor, k in factors:
            points = [(mp.mpf(float(a)), mp.mpf(float(b))) for a, b in zip(factor.loss, factor.q, strict=True)]
            for _ in range(k):
                sums = {}
                for (at, mass), (a, b) in itertools.product(law.items(), points):
                    sums[at + a] = sums.get(at + a, 0) + mass * b
                law = sums
        total = mp.fsum(mass * -mp.expm1(mp.mpf(eps) - at) for at, mass in law.items() if at > eps)
        return infinite + total


@pytest.mark.parametrize(("mu", "k"), [(1.0, 1), (0.3, 4), (0.01, 10_000), (1e-4, 1), (40.0, 1), (1e-3, 10**9)])
def test_gaussian_closed_form_on_all_branches(mu, k):
    epsilon = np.array([-30, -12, -3, -1, -0.4, -0.01, 0, 0.01, 0.5, 1, 3, 9, 25, 36]) * mu * math.sqrt(k)
    with mp.workdps(60):
        m = mp.mpf(mu) * mp.sqrt(k)
        truth = [gaussian_profile(m, mp.mpf(float(e))) for e in epsilon]
    check([(Gaussian(mu), k)], epsilon, truth, 1e-6 if k > 10**6 else 1e-9)


@pytest.mark.parametrize("factor", [Laplace, LaplaceWithAtoms])
@pytest.mark.parametrize("eps0", [0.1, 1.0, 6.0])
def test_one_laplace_closed_form(factor, eps0):
    epsilon = np.array([-0.99, -0.5, -0.02, 0.01, 0.3, 0.77, 0.99]) * eps0
    truth = [laplace_profile(mp.mpf(eps0), mp.mpf(float(e))) for e in epsilon]
    check([(factor(eps0), 1)], epsilon, truth, 1e-6)


def test_two_laplace_by_quadrature_also_on_atoms():
    eps0 = 1.0
    epsilon = [-1.0, 0.0, 0.5, 1.3, 1.9]
    with mp.workdps(30):
        truth = []
        for e in map(mp.mpf, epsilon):
            knots = sorted({mp.mpf(-1), mp.mpf(1), *(t for t in (e - 1, e + 1) if -1 < t < 1)})
            density = mp.quad(lambda t, e=e: mp.exp((t - 1) / 2) / 4 * laplace_profile(1, e - t), knots)
            truth.append(laplace_profile(1, e - 1) / 2 + mp.exp(-1) / 2 * laplace_profile(1, e + 1) + density)
    check([(LaplaceWithAtoms(eps0), 2)], epsilon, truth, 1e-6)
    check([(Laplace(eps0), 1), (Laplace(eps0), 1)], epsilon[2:], truth[2:], 1e-6)


@pytest.mark.parametrize(
    ("k", "epsilon"),
    [(1000, [5.5, 20.0, 80.0]), (10_000, [50.0, 200.0]), (10**6, [4900.0, 7000.0])],
)
def test_many_laplace_against_a_high_precision_integral(k, epsilon):
    truth = [laplace_truth([(0.1, k)], e, 200) for e in epsilon]
    check([(Laplace(0.1), k)], epsilon, truth, 1e-8)
    assert k != 1000 or truth[-1] < mp.mpf("1e-50")


def test_a_thousand_million_laplace():
    lower, upper = delta_bounds([(Laplace(0.1), 10**9)], 4.8374e6 + 3160.0 * np.arange(-6, 20), 1e-6)
    assert np.all(upper - lower <= 1e-6 * upper)
    epsilon = 4.8374e6 + 3160.0
    truth = laplace_truth([(0.1, 10**9)], epsilon, 200)
    check([(Laplace(0.1), 10**9)], [epsilon], [truth], 1e-6)


def test_known_digits_of_the_thousandfold_laplace():
    lower, upper = delta_bounds([(Laplace(0.1), 1000)], np.array([0.0]), 1e-6)
    assert lower[0] <= 0.88021040446 + 1e-11
    assert upper[0] >= 0.88021040446 - 1e-11
    assert upper[0] - lower[0] < 1e-11


def test_profile_and_its_reflection_agree():
    # delta(-eps) = 1 - e^-eps + e^-eps delta(eps) for a symmetric pair, across the three branches
    epsilon = np.linspace(0, 60, 241)
    engine = Contour([(Laplace(0.1), 1000)], 1e-6)
    low, high = engine.delta_bounds(epsilon)
    left_low, left_high = engine.delta_bounds(-epsilon)
    shift, weight = -np.expm1(-epsilon), np.exp(-epsilon)
    assert np.all(shift + weight * low <= left_high * (1 + 1e-15))
    assert np.all(shift + weight * high >= left_low * (1 - 1e-15))
    assert np.all(high - low <= 1e-9 * high)
    assert np.all(left_high - left_low <= 1e-9 * left_high)


def test_different_laplace_parts_on_and_off_their_atoms():
    parts = [(LaplaceWithAtoms(1.0), 3), (LaplaceWithAtoms(0.5), 2)]
    epsilon = np.array([-1.0, 0.0, 0.7, 1.0, 2.0, 3.3, 3.9])
    lower, upper = delta_bounds(parts, epsilon, 1e-6)
    assert np.all(upper - lower <= 1e-6 * upper)
    # not a second truth: only that brackets with and without the knowledge of atoms overlap
    inner, outer = delta_bounds([(Laplace(1.0), 3), (Laplace(0.5), 2)], epsilon, 1e-3)
    assert np.all(inner <= upper)
    assert np.all(lower <= outer)


def test_binomial_truth_with_two_hundred_equal_parts():
    epsilon = [-3.05, 0.05, 1.01, 3.33, 7.77, 15.03]
    truth = [binomial_truth(0.1, 200, e) for e in epsilon]
    check([(two_points(0.1), 200)], epsilon, truth, 1e-4, 1e-4)


def test_eps_on_an_atom_is_tight_when_the_atoms_are_known():
    factor = two_points(0.1)
    known = Points(factor.loss, factor.q, known=True)
    epsilon = [-0.2, 0.0, 0.2, 0.4]
    truth = [binomial_truth(0.1, 6, e) for e in epsilon]
    check([(known, 6)], epsilon, truth, 1e-6)


def test_twelve_different_parts_enumerated():
    factors = [(two_points(e), 1) for e in np.linspace(0.05, 0.8, 12)]
    epsilon = [-2.02, -0.31, 0.013, 0.77, 2.5, 4.51]
    truth = [enumerated_truth(factors, e) for e in epsilon]
    check(factors, epsilon, truth, 1e-4, 1e-4)


def test_two_hundred_different_parts_reach_their_width():
    rng = np.random.default_rng(1)
    factors = [(two_points(e), 1) for e in rng.uniform(0.01, 0.2, 200)]
    lower, upper = delta_bounds(factors, np.array([0.0, 2.0, 5.0]), 1e-5)
    assert np.all(upper - lower <= 1e-5 * upper)


def test_infinite_losses_and_three_points():
    # P1: 0.1 at +inf, rest on three losses; P0 masses q e^-L leave 1 - sum at -inf
    loss, q = np.array([-0.5, 0.2, 1.0]), np.array([0.2, 0.4, 0.3])
    factor = Points(loss, q, q_inf=0.1, p_inf=1 - float(np.sum(q * np.exp(-loss))))
    epsilon = [-2.6, -2.0, -1.03, 0.0, 1.01, 2.33, 4.97]
    truth = [enumerated_truth([(factor, 5)], e) for e in epsilon]
    truth[0] = 1 - mp.exp(epsilon[0]) * (1 - mp.mpf(factor.p_inf)) ** 5
    lower, upper = delta_bounds([(factor, 5)], np.array(epsilon), 1e-4)
    for low, high, true in zip(lower, upper, truth, strict=True):
        # the masses are doubles, so 0.1 + 0.9 is 1 only up to rounding
        assert low * (1 - 1e-14) <= true <= high * (1 + 1e-14)
        assert high - low <= 1e-4 * high


def gaussian_profile(mu, x):
    return mp.ncdf(mu / 2 - x / mu) - mp.exp(x) * mp.ncdf(-mu / 2 - x / mu)


def laplace_profile(eps0, x):
    if abs(x) >= eps0:
        return mp.mpf(0) if x > 0 else 1 - mp.exp(x)
    return 1 - mp.exp((x - eps0) / 2)


@pytest.mark.parametrize("other", [Gaussian(0.5), Laplace(1.0), LaplaceWithAtoms(1.0)])
def test_a_known_profile_mixed_over_a_binomial(other):
    # conditioning on the two-point parts: delta = sum_j mass_j delta_other(eps - loss_j)
    factor, k = two_points(0.3), 5
    known = Points(factor.loss, factor.q, known=True)
    epsilon = [-1.45, -0.7, 0.02, 0.5, 0.83, 1.5, 2.3]
    with mp.workdps(40):
        q = [mp.mpf(float(x)) for x in factor.q]
        profile = gaussian_profile if isinstance(other, Gaussian) else laplace_profile
        scale = mp.mpf(other.mu if isinstance(other, Gaussian) else other.eps0)
        truth = [
            mp.fsum(
                mp.binomial(k, j) * q[1] ** j * q[0] ** (k - j) * profile(scale, mp.mpf(e) - (2 * j - k) * mp.mpf(0.3))
                for j in range(k + 1)
            )
            for e in epsilon
        ]
    check([(other, 1), (known, k)], epsilon, truth, 1e-6)


def test_ends_are_exact():
    factors = [(Laplace(0.1), 3)]
    lower, upper = delta_bounds(factors, np.array([np.inf, 0.4, 0.3 + 1e-15, -np.inf, -0.5]), 1e-6)
    assert np.array_equal(upper[:3], [0, 0, 0])
    assert np.array_equal(lower[:3], [0, 0, 0])
    assert (lower[3], upper[3]) == (pytest.approx(1, abs=1e-15), 1)
    assert lower[4] <= -math.expm1(-0.5) <= upper[4]
    assert upper[4] - lower[4] < 1e-14
    assert delta_bounds([], np.array([0.0, 1.0, -1.0]), 1e-6)[1][:2].tolist() == [0, 0]
    certain = Points([0.0], [0.0], q_inf=1.0, p_inf=1.0)
    assert delta_bounds([(certain, 2)], np.array([0.0, 5.0]), 1e-6)[0].tolist() == [1, 1]


def test_beyond_the_range_of_doubles():
    lower, upper = delta_bounds([(Laplace(0.1), 10_000)], np.array([600.0, 999.0]), 1e-6)
    assert np.all(lower == 0)
    assert np.all(upper <= 1e-300)


def test_shape_is_kept_and_calls_agree():
    engine = Contour([(Laplace(0.1), 1000)], 1e-6)
    epsilon = np.linspace(-20, 60, 12).reshape(3, 4)
    lower, upper = engine.delta_bounds(epsilon)
    assert lower.shape == upper.shape == (3, 4)
    one_by_one = np.array([engine.delta_bounds(np.array([e])) for e in epsilon.ravel()])[:, :, 0]
    assert np.allclose(one_by_one[:, 0], lower.ravel(), rtol=1e-11, atol=0)
    assert np.allclose(one_by_one[:, 1], upper.ravel(), rtol=1e-11, atol=0)


def test_a_whole_curve_is_monotone_within_its_brackets():
    epsilon = np.sort(np.random.default_rng(3).uniform(-60, 90, 3000))
    start = time.perf_counter()
    lower, upper = delta_bounds([(Laplace(0.1), 1000)], epsilon, 1e-6)
    assert time.perf_counter() - start < 1.0  # a few milliseconds alone; the bound only catches a per-eps loop
    assert np.all(lower[1:] <= upper[:-1])
    assert np.all(upper - lower <= 1e-6 * upper)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.02, 2.0), st.integers(1, 3)), min_size=1, max_size=3),
    st.floats(-1.05, 1.05),
    st.sampled_from([0.0, 1e-12, 1e-3, 0.2]),
    st.booleans(),
)
def test_small_products_hold_their_truth(parts, position, q_inf, known):
    factors = []
    for eps, k in parts:
        base = two_points(eps)
        factors.append((Points(base.loss, base.q * (1 - q_inf), q_inf=q_inf, p_inf=q_inf, known=known), k))
    epsilon = position * sum(eps * k for eps, k in parts)
    truth = enumerated_truth(factors, epsilon)
    lower, upper = delta_bounds(factors, np.array([epsilon]), 1e-2)
    assert lower[0] * (1 - 1e-14) <= truth <= upper[0] * (1 + 1e-14) + 1e-300


@settings(max_examples=30, deadline=None)
@given(st.floats(1e-6, 2.0), st.floats(-8.0, 8.0))
def test_the_smoothing_correction_is_bounded(s, v):
    u = v * s
    with mp.workdps(60):
        x, m = mp.mpf(u), mp.mpf(s)
        psi = mp.ncdf(m / 2 - x / m) - mp.exp(x) * mp.ncdf(-m / 2 - x / m) - max(1 - mp.exp(x), 0)
        bump = mp.erf(m / mp.sqrt(8)) * mp.exp(x / 2 - x**2 / (2 * m**2))
        low, high, bump_low = (mp.mpf(float(a[0])) for a in _psi(np.array([u]), s))
        assert 0 <= psi <= bump * (1 + mp.mpf(10) ** -40)
        assert low <= psi <= high
        assert bump_low <= bump


@pytest.mark.parametrize("s", [1e-6, 0.01, 1.0])
def test_the_weight_of_the_correction_is_its_area(s):
    with mp.workdps(25):
        m = mp.mpf(s)
        area = mp.quad(lambda t: mp.exp(t / 2 - t**2 / (2 * m**2)), [-12 * m, 0, 12 * m]) * mp.erf(m / mp.sqrt(8))
        assert abs(area / bump_weight(s) - 1) < 1e-13


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from([1e-8, 1e-3, 0.1, 1.0, 2.9, 3.1, 10.0, 50.0]),
    st.sampled_from([0.0, -1.0, -0.5]),
    st.floats(-12, 2),
    st.floats(0, 2 * math.pi),
)
def test_laplace_transform_keeps_its_promise(eps0, centre, log_radius, angle):
    s = centre + 10.0**log_radius / max(eps0, 1.0) * complex(math.cos(angle), math.sin(angle))
    value = complex(laplace_mgf.log_mgf(np.array([s]), eps0)[0])
    with mp.workdps(60):
        z, e = mp.mpmathify(s), mp.mpf(eps0)
        m = lambda w: ((w + 1) * mp.exp(w * e) + w * mp.exp(-(w + 1) * e)) / (2 * w + 1)
        error = abs(mp.log(m(z) * mp.exp(-mp.mpmathify(value))))
        ratio = abs(m(mp.re(z)) / m(z)) if 2 * mp.re(z) != -1 else 1 / abs(m(z))
        size = max(abs(value), float(abs(mp.log(m(z)))))
        assert error <= UNIT * ((2 + abs(s) * eps0) * ratio + 4 * size)
        if abs(s) < 0.01 and eps0 < 3:
            assert error <= 20 * UNIT * size + 1e-320  # nothing smaller is a double


@pytest.mark.parametrize("eps0", [0.01, 0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("c", [-3.0, -1.0, -0.5, -0.2, 0.3, 1.0, 10.0, 100.0])
def test_laplace_decay_bounds_every_larger_frequency(eps0, c):
    y = np.concatenate(([0.0], np.geomspace(1e-3, 1e3, 3000) / eps0))
    values = laplace_mgf.log_mgf(c + 1j * y, eps0).real
    largest = np.maximum.accumulate((values - values[0])[::-1])[::-1]
    bound = np.array([laplace_mgf.log_decay(c, t, eps0) for t in y])
    assert np.all(bound >= largest - 1e-15 * (1 + abs(c) * eps0))
    assert np.all(np.diff(bound) <= 1e-15)
    assert bound[-1] < -1e-4


@pytest.mark.parametrize("epsilon", [1e-30, 1e-15, 1e-5, 3.0, 1e10])
def test_nothing_is_left_at_any_distance(epsilon):
    gaussian, tiny = parse("gdp(1e-38)").curve, parse("laplace(1e-69)").curve
    low, high = delta_bounds([(gaussian, 1), (tiny, 100)], np.array([epsilon, 1e-38]), 1e-6)
    assert low[0] == 0.0
    assert high[0] <= 1e-320
    # the smaller loss counts for nothing
    assert low[1] == pytest.approx(parse("gdp(1e-38)").delta(1e-38), rel=1e-9)

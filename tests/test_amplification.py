"""Amplification: subsampling, erasure, groups, and the Poisson-subsampled Gaussian, each by a second route."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

import dpcore
from dpcore import RelationError, parse
from dpcore.core.effort import effort
from dpcore.curves.composed import Certified
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.subsampled import SampledGaussian
from dpcore.engine import mixture_mgf
from dpcore.engine.normal_jumps import Jumps

LAWS = settings(max_examples=40, deadline=None)
GRID = np.linspace(-4, 6, 81)


# ---- fixed-size subsampling ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "delta", "p", "alpha", "beta"),
    [
        (1.0, 0.0, 0.3, [0, 0.268941, 0.592423, 1], [1, 0.592423, 0.268941, 0]),
        (1.0, 0.01, 0.1, [0, 0.266252], [0.999, 0.686998]),
        (2.0, 0.05, 0.5, [0, 0.113243, 0.5, 0.975], [0.975, 0.5, 0.113243, 0]),
    ],
)
def test_corners_of_the_closure(epsilon: float, delta: float, p: float, alpha: list[float], beta: list[float]) -> None:
    region = dpcore.subsample(dpcore.dp(epsilon, delta), p)
    found = region.vertices()
    for a, b in zip(alpha, beta, strict=True):
        assert np.min(np.abs(found[0] - a) + np.abs(found[1] - b)) < 2e-6, (a, b)
    np.testing.assert_allclose(region.beta(np.array(alpha)), beta, atol=2e-6)


@LAWS
@given(st.floats(0.01, 5), st.floats(0, 0.5), st.floats(0.001, 1))
def test_subsampled_dp_is_dp_and_total_variation(epsilon: float, delta: float, p: float) -> None:
    most = delta + (1 - delta) * math.tanh(epsilon / 2)
    small = math.log1p(p * math.expm1(epsilon))
    # at p = 1 the three numbers are the ones of (epsilon, delta) itself, up to rounding of eta above its largest value
    eta = min(p * most, p * delta + (1 - p * delta) * math.tanh(small / 2))
    closed, named = dpcore.subsample(dpcore.dp(epsilon, delta), p), dpcore.dptv(small, p * delta, eta)
    np.testing.assert_allclose(closed.delta(GRID), named.delta(GRID), rtol=1e-10, atol=1e-14)


@LAWS
@given(st.floats(0.05, 3), st.floats(0.01, 0.99), st.sampled_from(["gdp", "laplace"]))
@example(2.411048590082031, 0.76, "gdp")  # the largest rate of a row failed when it was computed alone
def test_smooth_subsampling_is_the_envelope_of_both_mixtures(size: float, p: float, name: str) -> None:
    """Second route: f_p = p f + (1 - p)(1 - a) on a grid, both directions, delta = sup 1 - beta - e^e alpha."""
    base = getattr(dpcore, name)(size)
    region = dpcore.subsample(base, p)
    alpha = np.concatenate((np.geomspace(1e-9, 0.3, 3000), np.linspace(0.3, 1, 3001)))
    mixed = p * base.beta(alpha) + (1 - p) * (1 - alpha)
    for e in (0.0, 0.1, 0.4, 1.0):
        forward = np.max(1 - mixed - math.exp(e) * alpha)
        backward = np.max(1 - alpha - math.exp(e) * mixed)
        best = max(forward, backward, 0.0)
        assert best <= region.delta(e) + 1e-12
        assert region.delta(e) == pytest.approx(best, abs=1e-5)
        assert region.delta(e) <= base.delta(e) + 1e-13
    assert region.total_variation == pytest.approx(p * base.total_variation, rel=1e-12)


def test_closure_composed_is_never_below_what_a_mechanism_attains() -> None:
    """3-ary randomized response on a sample attains 0.5549, composed direction by direction one would claim 0.3978."""
    region = parse("subsample(dp(2), 0.1)^100")
    lower, upper = region.delta_bounds(2.0)
    assert lower[0] <= 0.5549 <= upper[0]
    assert upper[0] == pytest.approx(0.6060, abs=1e-4)


def test_subsampling_is_about_substitution() -> None:
    with pytest.raises(RelationError, match="substitution"):
        parse("subsample(poisson_gaussian(1, 0.1), 0.5)").delta(0.0)


# ---- erasure and groups --------------------------------------------------------------------------------------


@LAWS
@given(st.floats(0, 1), st.sampled_from(["dp(1, 0.1)", "gdp(1)", "laplace(2)", "rr(1, 4)", "poisson_gaussian(1, 0.2)"]))
def test_erasure_scales_every_delta(p: float, text: str) -> None:
    base = parse(text)
    region = dpcore.erase(base, p)
    e = np.linspace(0, 4, 17)
    np.testing.assert_allclose(region.delta(e), (1 - p) * base.delta(e), rtol=1e-13, atol=1e-300)
    assert region.total_variation == pytest.approx((1 - p) * base.total_variation, rel=1e-13)


def test_erasure_composes_by_the_number_of_survivors() -> None:
    """Second route: a binomial number of answers survives, each pattern composes by itself."""
    p, k = 0.3, 4
    region = dpcore.erase(dpcore.gdp(0.8), p) ** k
    e = np.array([0.0, 0.5, 1.5])
    truth = sum(
        math.comb(k, n) * p ** (k - n) * (1 - p) ** n * (dpcore.gdp(0.8) ** n).delta(e) for n in range(1, k + 1)
    )
    lower, upper = region.delta_bounds(e)
    assert np.all(lower <= truth * (1 + 1e-12))
    assert np.all(truth <= upper * (1 + 1e-12))
    np.testing.assert_allclose(upper, truth, rtol=2e-6)


def test_group_examples() -> None:
    assert dpcore.group(dpcore.dp(2, 0.01), 2).beta(0.0) == pytest.approx(0.916109, abs=5e-7)
    assert dpcore.group(dpcore.dp(0.5, 0.01), 3).beta(0.0) == pytest.approx(0.946330, abs=5e-7)
    e = np.linspace(0, 3, 13)
    np.testing.assert_allclose(dpcore.group(dpcore.laplace(0.5), 3).delta(e), dpcore.laplace(1.5).delta(e), rtol=1e-12)
    np.testing.assert_allclose(dpcore.group(dpcore.gdp(0.5), 3).delta(e), dpcore.gdp(1.5).delta(e), rtol=1e-12)


@LAWS
@given(st.floats(0.05, 1.5), st.floats(0, 0.05), st.integers(1, 5))
def test_groups_are_orbits_of_the_power(epsilon: float, delta: float, k: int) -> None:
    """Second route: apply alpha -> 1 - f(alpha) k times."""
    base = dpcore.dp(epsilon, delta)
    region = dpcore.group(base, k)
    alpha = np.linspace(0, 1, 101)
    power = alpha
    for _ in range(k):
        power = 1 - base.beta(np.clip(power, 0, 1))
    np.testing.assert_allclose(region.beta(alpha), 1 - power, atol=1e-12)


def test_beta_of_a_closure_on_its_straight_part() -> None:
    """The closure of a subsampled curve has a segment of slope -1; there the best epsilon is exactly 0."""
    base = dpcore.subsample(dpcore.gdp(1), 0.2)
    alpha = np.linspace(0.01, 0.99, 21)
    epsilon = np.linspace(-3, 3, 6001)
    truth = np.max(1 - base.delta(epsilon) - np.exp(epsilon) * alpha[:, None], axis=1)
    np.testing.assert_allclose(base.beta(alpha), truth, atol=1e-6)
    # every epsilon gives a valid lower beta, so the published one is at least the best of the grid
    assert np.all(base.beta(alpha) >= truth - 1e-9)


def test_groups_of_a_subsampled_curve() -> None:
    base = dpcore.subsample(dpcore.gdp(1), 0.2)
    alpha = np.linspace(0.01, 0.99, 21)
    epsilon = np.linspace(-3, 3, 24_001)
    delta = base.delta(epsilon)

    def power(rate: np.ndarray) -> np.ndarray:
        return np.array([np.min(delta + np.exp(epsilon) * a) for a in rate])

    lower, upper = dpcore.group(base, 2).beta_bounds(alpha)
    truth = 1 - power(power(alpha))
    assert np.all(lower <= truth + 1e-7)
    assert np.all(truth <= upper + 1e-7)


# ---- Poisson-subsampled Gaussian -----------------------------------------------------------------------------


def one_step(t: np.ndarray, q: float, s: float, *, add: bool) -> np.ndarray:
    """Return delta(t) of one step, any real t, straight from the two normal laws."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if add:
            x = s * s * np.log((np.exp(t) - 1 + q) / q) + 0.5
            value = (1 - q) * ndtr(-x / s) + q * ndtr((1 - x) / s) - np.exp(t) * ndtr(-x / s)
            return np.where(np.exp(t) <= 1 - q, -np.expm1(t), value)
        x = s * s * np.log((np.exp(-t) - 1 + q) / q) + 0.5
        value = ndtr(x / s) - np.exp(t) * ((1 - q) * ndtr(x / s) + q * ndtr((x - 1) / s))
        return np.where(np.exp(-t) <= 1 - q, 0.0, value)


@pytest.mark.parametrize(
    ("q", "s", "t", "add", "remove"),
    [
        (0.1, 1, 0, 0.03829249, 0.03829249),
        (0.1, 1, 0.05, 0.02614366, 0.01057258),
        (0.1, 1, 0.2, 0.00988931, 0),
        (0.01, 0.8, 0.05, 0.00088312, 0),
        (0.5, 2, 0.05, 0.08006033, 0.07509789),
        (0.5, 2, 0.2, 0.03982688, 0.02399754),
    ],
)
def test_one_step_in_both_directions(q: float, s: float, t: float, add: float, remove: float) -> None:
    pair = parse(f"poisson_gaussian({s}, {q})").pair
    at = np.array([float(t)])
    assert pair.delta_bounds(at)[1][0] == pytest.approx(add, abs=5e-9)
    assert pair.inverse().delta_bounds(at)[1][0] == pytest.approx(remove, abs=5e-9)
    t_all = np.linspace(-3, 3, 61)
    np.testing.assert_allclose(pair.delta_bounds(t_all)[1], one_step(t_all, q, s, add=True), atol=1e-13)
    np.testing.assert_allclose(pair.inverse().delta_bounds(t_all)[1], one_step(t_all, q, s, add=False), atol=1e-13)


def two_steps(t: float, q: float, s: float, *, add: bool) -> float:
    """Return delta of two steps: the mean, under the first answer's law, of one step's delta at t minus its loss.

    One step's delta changes its formula where the loss left over is that of an absent record; cells shrink there.
    """
    spare = (math.exp(t) if add else math.exp(-t)) / (1 - q) - 1 + q
    bend = s * s * math.log(spare / q) + 0.5 if spare > 0 else -math.inf
    edges = np.concatenate(
        (np.linspace(-12 * s, 1 + 12 * s, 200), [bend], *(bend + w * np.geomspace(1e-9, 9, 80) for w in (-1, 1)))
    )
    edges = np.unique(np.clip(edges, -12 * s, 1 + 12 * s))
    node, weight = np.polynomial.legendre.leggauss(12)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    x, w = (middle[:, None] + half[:, None] * node).ravel(), (half[:, None] * weight).ravel()
    normal = np.exp(-(x**2) / (2 * s * s)) / (s * math.sqrt(2 * math.pi))
    ratio = 1 - q + q * np.exp((2 * x - 1) / (2 * s * s))
    law, loss = (normal * ratio, np.log(ratio)) if add else (normal, -np.log(ratio))
    return float(w @ (law * one_step(t - loss, q, s, add=add)))


def test_two_steps_of_the_theory_table() -> None:
    region = parse("poisson_gaussian(1, 0.2)^2")
    at = np.array([0.0, 0.2, 0.5])
    np.testing.assert_allclose(region.pair.delta_bounds(at)[1], [0.114756, 0.064381, 0.026871], atol=6e-7)
    np.testing.assert_allclose(region.pair.inverse().delta_bounds(at)[1], [0.114756, 0.024983, 0], atol=6e-7)
    closed = parse("symmetric(poisson_gaussian(1, 0.2))^2")
    with effort(tolerance=1e-5):
        np.testing.assert_allclose(closed.delta(at), [0.127560, 0.069815, 0.028658], atol=4e-6)


@settings(max_examples=8, deadline=None)
@given(st.floats(0.4, 3), st.floats(0.005, 0.9), st.floats(0, 2))
def test_two_steps_lie_in_the_bracket(s: float, q: float, t: float) -> None:
    pair = (dpcore.poisson_gaussian(s, q) ** 2).pair
    at = np.array([t])
    for curve, add in ((pair, True), (pair.inverse(), False)):
        truth = two_steps(t, q, s, add=add)
        lower, upper = curve.delta_bounds(at)
        assert lower[0] <= truth * (1 + 1e-9) + 1e-13
        assert upper[0] >= truth * (1 - 1e-9) - 1e-13


def test_a_thousand_steps() -> None:
    region = parse("poisson_gaussian(1, 0.01)^1000")
    lower, upper = region.epsilon_bounds(1e-5)
    assert 1.82823 <= lower[0] <= upper[0] <= 1.82824


def test_two_thousand_steps_of_a_larger_sample() -> None:
    region = parse("poisson_gaussian(1.5, 0.04)^2250")
    lower, upper = region.epsilon_bounds(1e-5)
    assert lower[0] - 1e-3 <= 6.7688 <= upper[0] + 1e-3
    assert upper[0] - lower[0] <= 1e-3 * upper[0]


def by_transform(k: int, q: float, s: float, epsilon: float, c: float) -> float:
    """Return delta of k steps (record added) by the inverse Laplace integral in twenty digits, on Re s = c.

    delta(e) = 1/(2 pi i) times the integral of M(z)^k e^(-z e) / (z (z + 1)) over the line, M by its own quadrature.
    """
    mu = 1 / s
    x = np.arange(-14.0, (c + 1) * mu + 14.0, 0.01)
    log_ratio = np.log1p(q * np.expm1(mu * x - mu * mu / 2))
    weight = np.exp(-(x**2) / 2 + (c + 1) * log_ratio) * 0.01 / math.sqrt(2 * math.pi)
    h, total = 0.05, 0.0
    for start in range(0, 6000, 500):
        y = h * (np.arange(start, start + 500) + 0.5)
        transform = np.exp(1j * np.multiply.outer(y, log_ratio)) @ weight
        z = c + 1j * y
        total += float(np.sum((np.exp(k * np.log(transform) - z * epsilon) / (z * (z + 1))).real))
    return total * h / math.pi


@pytest.mark.parametrize(("k", "epsilon", "c"), [(1000, 1.0, 8.0), (1000, 2.5, 5.0), (10_000, 8.0, 4.0)])
def test_many_steps_by_a_plain_contour(k: int, epsilon: float, c: float) -> None:
    truth = by_transform(k, 0.01, 1.0, epsilon, c)
    lower, upper = parse(f"poisson_gaussian(1, 0.01)^{k}").delta_bounds(epsilon)
    assert lower[0] <= truth * (1 + 2e-7)
    assert truth <= upper[0] * (1 + 2e-7)
    assert upper[0] - lower[0] <= 1e-6 * upper[0]


# ---- its moment generating function --------------------------------------------------------------------------


def transform(c: float, y: np.ndarray, mu: float, q: float) -> tuple[np.ndarray, float]:
    """Return |M(c + iy)| / M(c) and M(c) by a fine trapezoid on the real axis, all in plain doubles."""
    # at most half a radian a step, or the trapezoid takes a high frequency for a low one
    step = 2.0 ** min(-9.0, math.floor(math.log2(0.5 / max(mu * float(np.max(y)), 1e-3))))
    ends = sorted((0.0, (c + 1) * mu))
    x = step * np.arange(math.floor((ends[0] - 10) / step), math.ceil((ends[1] + 10) / step))
    rise = mu * x - mu * mu / 2
    log_ratio = np.logaddexp(math.log1p(-q), math.log(q) + rise)
    exponent = -x * x / 2 + (c + 1) * log_ratio
    weight = np.exp(exponent - exponent.max())
    total = weight.sum()
    value = np.array([abs(np.exp(1j * t * log_ratio) @ weight) / total for t in y])
    return value, float(exponent.max() + math.log(total * step / math.sqrt(2 * math.pi)))


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0.2, 3), st.floats(1e-3, 0.95), st.floats(-6, 25), st.floats(-1, 3), st.integers(0, 2**31)
)  # fmt: skip
@pytest.mark.long
def test_decay_is_never_below_the_truth(mu: float, q: float, c: float, log_y: float, seed: int) -> None:
    y = 10.0**log_y
    bound = mixture_mgf.log_decay(c, y, Jumps.single(mu, q))
    assert bound <= 0
    further = y * np.concatenate(([1.0], 1 + np.random.default_rng(seed).exponential(1.0, 8), [1.01, 1.1]))
    value, _ = transform(c, further, mu, q)
    assert np.all(value <= math.exp(bound) + 1e-12)


def test_decay_says_something() -> None:
    """A bound of 0 would be true and useless: at moderate y it must be a real decay."""
    assert mixture_mgf.log_decay(8.0, 40.0, Jumps.single(1.0, 0.01)) < -0.05
    assert mixture_mgf.log_decay(3.0, 10.0, Jumps.single(1.0, 0.5)) < -0.5


@settings(max_examples=20, deadline=None)
@given(st.floats(0.3, 3), st.floats(1e-3, 0.95), st.floats(-5, 20), st.floats(0, 1))
def test_log_mgf_agrees_with_a_finer_rule(mu: float, q: float, c: float, share: float) -> None:
    y = np.linspace(0, share * 50.0, 5)
    got = mixture_mgf.log_mgf(c + 1j * y, Jumps.single(mu, q))
    value, log_total = transform(c, y, mu, q)
    if np.isnan(got).any():
        assert (abs(c) + 1) * mu * mu > 110
        return
    assert got[0].real == pytest.approx(log_total, rel=1e-13, abs=1e-13)
    np.testing.assert_allclose(np.exp(got.real - got[0].real), value, rtol=0, atol=2e-13)


def test_log_mgf_in_high_precision() -> None:
    mu, q = 1.0, 0.01
    points = np.array([0.5 + 0j, 3 + 2j, 8 + 5j, -2.5 + 1j])
    got = mixture_mgf.log_mgf(points, Jumps.single(mu, q))
    with mp.workdps(25):
        for s, value in zip(points, got, strict=True):
            power = mp.mpc(s) + 1
            truth = mp.quad(
                lambda x, power=power: mp.npdf(x) * (1 - q + q * mp.exp(mu * x - mu * mu / 2)) ** power,
                mp.linspace(-14, 24, 20),
            )
            assert abs(mp.exp(mp.mpc(value)) / truth - 1) < 1e-12


@pytest.mark.parametrize(
    ("mu", "q", "s"), [(1.0, 0.001, 6 + 2500j), (0.5, 0.001, -400 + 900j), (2.0, 0.02, 3 + 300j), (1.0, 0.3, 40 + 5j)]
)
def test_log_mgf_far_up_in_high_precision(mu: float, q: float, s: complex) -> None:
    """On the real axis the integrand turns hundreds of times; the promise is a share of M(Re s)."""
    got, at_c = (
        mixture_mgf.log_mgf(np.array([s]), Jumps.single(mu, q))[0],
        mixture_mgf.log_mgf(np.array([s.real + 0j]), Jumps.single(mu, q))[0],
    )
    with mp.workdps(30):
        # a path of its own: half as high as the engine's, in steps of 1/20 of its height
        height = mp.mpf(min(1.0, 0.75 / mu)) / (2 if s.real > -1 else 8)
        step, power = height / 20, mp.mpc(s) + 1
        ends = sorted((0.0, max(-6.0, (s.real + 1) * mu)))
        count = [int(mp.floor((ends[0] - 13) / step)), int(mp.ceil((ends[1] + 13) / step))]

        def weight(n: int, up: mp.mpf, exponent: mp.mpc) -> mp.mpc:
            x = n * step + 1j * up
            return mp.exp(-x * x / 2) * (1 - q + q * mp.exp(mu * x - mp.mpf(mu) ** 2 / 2)) ** exponent

        truth = mp.fsum(weight(n, height, power) for n in range(*count))
        total = mp.fsum(weight(n, mp.mpf(0), power.real) for n in range(*count))
        units = abs(mp.exp(mp.mpc(got) - mp.mpc(at_c)) - truth / total) * 2**53
    assert units < mixture_mgf.rounding(np.array([s]), Jumps.single(mu, q))[0] / 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("sigma", "q", "k", "epsilon"), [(1.0, 0.001, 25, 0.05), (2.0, 0.01, 25, 0.3), (0.5, 0.001, 25, 1.0)]
)
def test_without_far_jumps_the_bracket_still_holds_the_truth(sigma: float, q: float, k: int, epsilon: float) -> None:
    """Three certified routes to one number must overlap: the plain contour, the trimmed one, the lattice."""
    forward = Certified([(SampledGaussian(GaussianCurve(1 / sigma), q), k)])
    at = np.array([epsilon])
    trimmed = forward._trimmed_engine(1e-18, 1e-6)
    routes = [
        forward._engine(1e-6).delta_bounds(at),
        tuple(trimmed.delta_bounds(at) - np.array([[trimmed.product.delta_inf], [0.0]])),
        forward._sandwich.delta_bounds(at, 1e-4),
    ]
    assert max(float(low[0]) for low, _ in routes) <= min(float(high[0]) for _, high in routes)
    low, high = forward.delta_bounds(at)
    assert high[0] - low[0] <= 1e-3 * high[0]


def test_the_exchanged_pair_has_the_mirrored_transform() -> None:
    curve = SampledGaussian(GaussianCurve(1.0), 0.2)
    s = np.array([0.7 + 1.3j, 2.0 + 0j])
    np.testing.assert_allclose(curve.inverse().log_mgf(s), curve.log_mgf(-1 - s), rtol=1e-14)
    assert curve.inverse().inverse().delta_bounds(np.array([0.3]))[0] == curve.delta_bounds(np.array([0.3]))[0]

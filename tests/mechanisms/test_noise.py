"""Every mechanism's noise: it is a distribution, it is what is sampled, and its region is what an attacker sees."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

import dpcore
from dpcore import DomainError, parse
from dpcore.core import registry
from dpcore.language.examples import example
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.log_concave import LogConcaveRegion
from dpcore.regions.guarantees import Pmf

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.curves.base import FloatArray

# expression, the two true answers, places where the density or the ratio of the two densities jumps, its reach
CONTINUOUS = [
    ("laplace(1)", 1.0, (0.0, 1.0), 45.0),
    ("laplace(0.2)", 1.0, (0.0, 1.0), 220.0),
    ("laplace(4)", 1.0, (0.0, 1.0), 12.0),
    ("gaussian(1)", 1.0, (), 12.0),
    ("gaussian(0.5, 2)", 2.0, (), 8.0),
    ("gaussian_classic(0.8, 1e-5)", 1.0, (), 80.0),
    ("gaussian_analytic(0.8, 1e-5)", 1.0, (), 80.0),
    ("staircase(1, 0.3)", 1.0, tuple(np.arange(-45, 46)[:, None].ravel().tolist()), 45.0),
    ("staircase(0.7, 0.8)", 1.0, (), 60.0),
    ("staircase(2, 0)", 1.0, (), 25.0),
    ("staircase(2, 1)", 1.0, (), 25.0),
    ("laplace_sum(1)", 1.0, (0.0, 1.0), 50.0),
    ("laplace_sum(0.3, 2)", 2.0, (0.0, 2.0), 15.0),
    ("normal_laplace(1, 2)", 1.0, (), 90.0),
    ("normal_laplace(0.5, 0.25, 2)", 2.0, (), 15.0),
    ("uniform(2)", 1.0, (-2.0, -1.0, 2.0, 3.0), 4.0),
    ("uniform(0.25, 1)", 1.0, (-0.25, 0.25, 0.75, 1.25), 2.0),
]
EPSILONS = [0.0, 0.1, 0.3, 0.69, 1.0, 1.7, 3.0]


def cells(mechanism: Mechanism, corners: tuple[float, ...], reach: float) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of Gauss-Legendre on cells between all jumps of the density."""
    steps = np.arange(-math.ceil(reach), math.ceil(reach) + 2).astype(float)
    gamma = getattr(mechanism, "gamma", 0.5)
    edges = np.unique(np.concatenate((steps, steps + gamma, steps - gamma, corners, [-reach, reach + 1])))
    node, weight = np.polynomial.legendre.leggauss(24)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    return (middle[:, None] + half[:, None] * node).ravel(), (half[:, None] * weight).ravel()


@pytest.mark.parametrize(("text", "move", "corners", "reach"), CONTINUOUS)
def test_density_is_one_in_total_and_matches_its_tail(
    text: str, move: float, corners: tuple[float, ...], reach: float
) -> None:
    mechanism = parse(text)
    x, w = cells(mechanism, corners, reach)
    for shift in (0.0, move):
        p = mechanism.density(x, shift)
        assert p.min() >= 0
        assert w @ p == pytest.approx(1.0, abs=1e-11)
        for at in (-1.0, 0.0, 1.0, 2.0):
            assert w[x > at] @ p[x > at] == pytest.approx(
                float(mechanism.survival(np.array([at]), shift)[0]), abs=1e-10
            )


@pytest.mark.parametrize(("text", "move", "corners", "reach"), CONTINUOUS)
def test_region_is_what_the_densities_say(text: str, move: float, corners: tuple[float, ...], reach: float) -> None:
    """Second route: delta is the integral of (p1 - e^eps p0)+, cells cut where the two cross (a fine grid here)."""
    mechanism = parse(text)
    x, w = cells(mechanism, corners, reach)
    p0, p1 = mechanism.density(x), mechanism.density(x, move)
    for epsilon in EPSILONS:
        brute = w @ np.maximum(p1 - math.exp(epsilon) * p0, 0.0)
        assert mechanism.delta(epsilon) == pytest.approx(brute, abs=4e-4), epsilon
        other = w @ np.maximum(p0 - math.exp(epsilon) * p1, 0.0)
        assert mechanism.delta(epsilon) == pytest.approx(other, abs=4e-4), epsilon


@pytest.mark.parametrize(("text", "move"), [(row[0], row[1]) for row in CONTINUOUS])
def test_no_threshold_attacker_beats_the_region_and_the_best_one_meets_it(text: str, move: float) -> None:
    """Second route to beta: thresholds and windows on the output, error rates from the tails."""
    mechanism = parse(text)
    x = np.linspace(-40, 41, 16_201)
    alpha, power = mechanism.survival(x), mechanism.survival(x, move)
    beta = mechanism.beta(np.clip(alpha, 0, 1))
    assert np.all(1 - power >= beta - 1e-12)
    if not text.startswith("staircase"):  # there a threshold is not the best test
        inner = (alpha > 1e-9) & (alpha < 1 - 1e-9)
        np.testing.assert_allclose(1 - power[inner], beta[inner], rtol=0, atol=1e-12)


def kolmogorov_smirnov(draws: FloatArray, survival: Callable[[FloatArray], FloatArray]) -> float:
    """Return sqrt(n) times the largest distance of the empirical distribution from the given one."""
    x = np.sort(draws)
    n = x.size
    cdf = 1 - survival(x)
    above, below = np.arange(1, n + 1) / n - cdf, cdf - np.arange(n) / n
    return float(math.sqrt(n) * max(above.max(), below.max()))


@pytest.mark.parametrize("text", [row[0] for row in CONTINUOUS])
def test_samples_follow_the_density(text: str) -> None:
    mechanism = parse(text)
    draws = mechanism.sample(np.random.default_rng(20), 20_000)
    # 2.5 is exceeded with probability 2 exp(-2 * 2.5^2) = 7e-6
    assert kolmogorov_smirnov(draws, mechanism.survival) < 2.5


@pytest.mark.parametrize("scale", [0.3, 1.0, math.inf])
def test_bounded_laplace_samples_around_the_middle(scale: float) -> None:
    mechanism = dpcore.bounded_laplace(scale, -1, 3, 1)
    draws = mechanism.sample(np.random.default_rng(20), 20_000)
    assert draws.min() >= -1
    assert draws.max() <= 3
    assert kolmogorov_smirnov(draws, lambda x: mechanism.survival(x, 1.0)) < 2.5


def test_poisson_gaussian_samples_with_the_record_in() -> None:
    mechanism = parse("poisson_gaussian(0.5, 0.3)")
    draws = mechanism.sample(np.random.default_rng(3), 20_000)
    assert kolmogorov_smirnov(draws, lambda x: mechanism.survival(x, 1.0)) < 2.5
    assert kolmogorov_smirnov(draws, lambda x: mechanism.survival(x, 0.0)) > 20


@pytest.mark.parametrize("text", ["laplace_vector(2, [1, 1])", "histogram(1)"])
def test_vectors_have_one_noise_per_coordinate(text: str) -> None:
    mechanism, one = parse(text), parse("laplace(0.5)")
    x = np.linspace(-5, 5, 11)
    np.testing.assert_allclose(mechanism.density(x), one.density(x), rtol=1e-15)
    draws = mechanism.sample(np.random.default_rng(1), 20_000)
    assert kolmogorov_smirnov(draws, one.survival) < 2.5


def moments_agree(draws: FloatArray, values: FloatArray, mass: FloatArray) -> None:
    """Compare mean and second moment within four standard errors."""
    for power in (1, 2):
        mean = mass @ values**power
        spread = math.sqrt(mass @ values ** (2 * power) - mean**2)
        assert abs(np.mean(draws**power) - mean) <= 4 * spread / math.sqrt(draws.size) + 1e-12


@pytest.mark.parametrize(("epsilon", "steps"), [(1.0, 1), (0.3, 1), (1.0, 2), (2.5, 5)])
def test_geometric_is_an_integer_law(epsilon: float, steps: int) -> None:
    mechanism = dpcore.geometric(epsilon, steps)
    n = np.arange(-4000.0, 4001.0)
    mass = mechanism.density(n)
    assert mass.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(mechanism.survival(n)[3900:4100], 1 - np.cumsum(mass)[3900:4100], atol=1e-12)
    draws = mechanism.sample(np.random.default_rng(5), 20_000)
    assert draws.dtype == np.int64
    moments_agree(draws, n, mass)
    moved = mechanism.density(n, steps)
    for e in EPSILONS:
        brute = np.maximum(moved - math.exp(e) * mass, 0.0).sum()
        assert mechanism.delta(e) == pytest.approx(brute, abs=1e-13)


@pytest.mark.parametrize(("epsilon", "size"), [(1.0, 2), (math.log(1.5), 2), (2.0, 4), (0.5, 50)])
def test_randomized_response_is_a_law_on_answers(epsilon: float, size: int) -> None:
    mechanism = dpcore.rr(epsilon, size)
    answers = np.arange(size, dtype=float)
    mass, other = mechanism.density(answers), mechanism.density(answers, 1.0)
    assert mass.sum() == pytest.approx(1.0, abs=1e-14)
    draws = mechanism.sample(np.random.default_rng(6), 20_000)
    assert draws.dtype == np.int64
    assert draws.min() >= 0
    assert draws.max() <= size - 1
    moments_agree(draws, answers, mass)
    for e in EPSILONS:
        brute = np.maximum(other - math.exp(e) * mass, 0.0).sum()
        assert mechanism.delta(e) == pytest.approx(brute, abs=1e-14)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_two_mass_functions_are_laws_on_outcomes(shift: float) -> None:
    masses = [0.1, 0.2, 0.3, 0.4], [0.25, 0.15, 0.05, 0.55]
    pair = dpcore.pmf(*masses)
    outcomes = np.arange(4.0)
    expected = np.array(masses[int(shift)])
    np.testing.assert_allclose(pair.density(outcomes, shift), expected, rtol=1e-14)
    assert not pair.density(np.array([-1.0, 0.5, 4.0]), shift).any()
    draws = pair.sample(np.random.default_rng(6), 20_000, shift)
    assert draws.dtype == np.int64
    moments_agree(draws, outcomes, expected)
    with pytest.raises(DomainError, match="shift must be 0"):
        pair.sample(np.random.default_rng(6), 1, 0.5)


def test_a_billion_answers_keep_their_digits() -> None:
    epsilon, size = 1.0, 10**9
    eta = math.expm1(epsilon) / (math.exp(epsilon) + size - 1)
    assert dpcore.rr(epsilon, size).total_variation == pytest.approx(eta, rel=1e-12)
    assert dpcore.staircase(1e-9, 0.5).total_variation == pytest.approx(5e-10, rel=1e-8)


@pytest.mark.parametrize(("scale", "answers"), [(1.0, (0.0, 3.0)), (0.5, (-1.0, 1.0)), (math.inf, (0.0, 2.0))])
def test_bounded_laplace_is_a_law_inside_its_interval(scale: float, answers: tuple[float, float]) -> None:
    mechanism = dpcore.bounded_laplace(scale, *answers, 0.7)
    for shift in (*answers, sum(answers) / 2):
        cut = np.array([answers[0], shift, answers[1]])
        node, weight = np.polynomial.legendre.leggauss(40)
        half, middle = np.diff(cut) / 2, (cut[1:] + cut[:-1]) / 2
        x, w = (middle[:, None] + half[:, None] * node).ravel(), (half[:, None] * weight).ravel()
        assert w @ mechanism.density(x, shift) == pytest.approx(1.0, abs=1e-13)
    assert mechanism.density(np.array([answers[0] - 0.1, answers[1] + 0.1]), answers[0]).tolist() == [0.0, 0.0]
    with pytest.raises(DomainError, match="true answer"):
        mechanism.density(np.zeros(1), answers[1] + 1)


def test_poisson_gaussian_density() -> None:
    mechanism = parse("poisson_gaussian(0.8, 0.25)")
    x = np.linspace(-10, 12, 40_001)
    p0, p1 = mechanism.density(x), mechanism.density(x, 1.0)
    step = x[1] - x[0]
    assert p0.sum() * step == pytest.approx(1.0, abs=1e-12)
    assert p1.sum() * step == pytest.approx(1.0, abs=1e-12)
    for e in (0.0, 0.05, 0.2, 1.0):
        add = np.maximum(p1 - math.exp(e) * p0, 0).sum() * step
        remove = np.maximum(p0 - math.exp(e) * p1, 0).sum() * step
        assert mechanism.pair.delta_bounds(np.array([e]))[1][0] == pytest.approx(add, abs=1e-6)
        assert mechanism.pair.inverse().delta_bounds(np.array([e]))[1][0] == pytest.approx(remove, abs=1e-6)
        assert mechanism.delta(e) == pytest.approx(max(add, remove), abs=1e-6)


# ---- limits and words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "laplace(0)", "laplace(inf)", "laplace(scale=inf)", "gaussian(inf)", "geometric(0)", "geometric(inf)",
        "geometric(0, 3)", "geometric(inf, 3)", "rr(0)", "rr(inf)", "rr(0, 5)", "rr(inf, 5)", "histogram(0)",
        "histogram(inf)", "laplace_vector(inf, [1, 1])", "laplace_vector(1, [0, 0])", "exponential(0)",
        "exponential(inf)", "poisson_gaussian(inf, 0.1)", "poisson_gaussian(1, 0)", "poisson_gaussian(1, 1)",
        "bounded_laplace(inf, 0, 1, 1)", "staircase(800, 0)", "staircase(800, 0.5)", "staircase(1e-9, 0)", "laplace(800)",
        "rr(800, 5)", "geometric(800, 2)", "uniform(0.1)", "laplace_sum(inf)", "laplace_sum(0.001)",
        "normal_laplace(inf, 1)", "normal_laplace(1, inf)", "normal_laplace(1e-9, 1e-3)", "normal_laplace(1e6, 1e-3)", "exponential(800)",
        "gaussian(1e-3)", "gaussian(1e6)",
    ],
)  # fmt: skip
def test_limits_are_regions_too(text: str) -> None:
    region = parse(text)
    e = np.array([-math.inf, -2.0, 0.0, 0.5, 30.0, math.inf])
    delta = region.delta(e)
    assert not np.isnan(delta).any()
    assert np.all((delta >= 0) & (delta <= 1))
    assert np.all(np.diff(delta) <= 0)
    assert not np.isnan(region.beta(np.array([0.0, 1e-9, 0.5, 1.0]))).any()
    assert 0 <= region.total_variation <= 1
    try:
        density = region.density(np.array([0.0, 0.3, 1.0]), 0.5 if "bounded" in text else 0.0)
        draws = region.sample(np.random.default_rng(0), 5)
    except DomainError as error:
        assert "noise" in str(error)  # noqa: PT017  either numbers or one sentence about the noise
        return
    assert not np.isnan(density).any()
    assert not np.isnan(draws).any()


@pytest.mark.parametrize("text", ["laplace(0)", "gaussian(inf)", "geometric(0)", "poisson_gaussian(inf, 0.1)"])
def test_noise_without_a_density_is_refused_in_words(text: str) -> None:
    with pytest.raises(DomainError, match="width inf"):
        parse(text).sample(np.random.default_rng(0), 3)


def test_a_worst_case_has_no_noise() -> None:
    for ask in (
        lambda m: m.sample(np.random.default_rng(0), 3),
        lambda m: m.density(np.zeros(1)),
        lambda m: m.survival(np.zeros(1)),
    ):
        with pytest.raises(DomainError, match="worst case"):
            ask(parse("exponential(1)"))


def test_every_sampler_says_what_it_is_not_for() -> None:
    classes = [type(example(entry)) for entry in registry.entries("mechanism")]
    assert len(classes) >= 13
    for cls in [*classes, Mechanism, Pmf, LogConcaveRegion]:
        words = " ".join((cls.sample.__doc__ or "").split())
        assert "not for releasing data: floating-point noise is attackable" in words, cls


@pytest.mark.parametrize(
    ("text", "eta"),
    [
        ("laplace(0.7)", 1 - math.exp(-0.35)),
        ("gaussian(2, 1.5)", math.erf(0.75 / 2 / math.sqrt(2))),
        ("rr(0.7, 3)", math.expm1(0.7) / (math.exp(0.7) + 2)),
        ("geometric(0.7)", math.tanh(0.35)),
        ("geometric(0.7, 2)", 1 - math.exp(-0.35)),
        ("exponential(0.7)", math.tanh(0.175)),
        ("uniform(3, 1.2)", 0.2),
        ("histogram(1)", 0.24183668),
    ],
)
def test_total_variation_formulas(text: str, eta: float) -> None:
    assert parse(text).total_variation == pytest.approx(eta, abs=5e-9 if "hist" in text else 1e-14)


@pytest.mark.parametrize("gamma", [0.0, 0.2, 0.5, 0.7, 1.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_staircase_total_variation_is_the_mass_within_half_the_sensitivity(epsilon: float, gamma: float) -> None:
    mechanism = dpcore.staircase(epsilon, gamma)
    within = 1 - 2 * float(mechanism.survival(np.array([0.5]))[0])
    assert mechanism.total_variation == pytest.approx(within, abs=1e-14)
    b, g = math.exp(-epsilon), gamma
    top = 2 * g * (1 - b) + b if g < 0.5 else 1.0
    assert within == pytest.approx((1 - b) * top / (2 * (g + b * (1 - g))), abs=1e-14)


@pytest.mark.parametrize(
    "text",
    [
        "laplace(0.7)",
        "gaussian(3)",
        "geometric(0.3)",
        "geometric(2, 3)",
        "staircase(1, 0.3)",
        "uniform(4)",
        "laplace_sum(2)",
    ],
)
def test_the_mean_absolute_noise_is_that_of_its_draws_and_of_its_moments(text: str) -> None:
    mechanism = parse(text)
    assert isinstance(mechanism, Mechanism)
    law = mechanism.law
    assert law.absolute_deviation == pytest.approx(law._moment(np.abs), rel=1e-9)
    drawn = np.abs(law.sample(np.random.default_rng(1), 40_000))
    assert law.absolute_deviation == pytest.approx(drawn.mean(), rel=0.03)
    if not law.integer:
        assert law.scaled(3.0).absolute_deviation == pytest.approx(3 * law.absolute_deviation)


def test_the_mean_absolute_noise_of_tiny_rates_is_a_closed_form() -> None:
    mechanism = parse("geometric(1e-8)")
    assert isinstance(mechanism, Mechanism)
    assert mechanism.law.absolute_deviation == pytest.approx(1e8, rel=1e-9)

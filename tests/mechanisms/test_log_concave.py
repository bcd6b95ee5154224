"""Noise given as functions: against the built-in mechanisms, closed forms and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit, ndtr, ndtri

import dpcore
from dpcore import DomainError
from dpcore.core.effort import effort
from dpcore.mechanisms.log_concave import LogConcaveRegion, log_concave

E = np.array([-3.0, -1.0, -0.2, 0.0, 0.1, 0.5, 0.9, 2.0, 5.0])
ALPHA = np.concatenate((np.geomspace(1e-12, 0.1, 12), np.linspace(0.15, 0.95, 9), 1 - np.geomspace(0.04, 1e-9, 8)))


def laplace_cdf(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.maximum(x, 0)))


def laplace_quantile(u: np.ndarray) -> np.ndarray:
    return np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u)))


def gumbel(sensitivity: float = 1.0, *, digits: bool = True) -> LogConcaveRegion:
    """Return Gumbel noise, asymmetric: one tail is exponential, the other doubly so."""
    more = {
        "survival": lambda x: -np.expm1(-np.exp(-x)),
        "survival_quantile": lambda u: -np.log(-np.log1p(-u)),
    }
    return log_concave(
        lambda x: np.exp(-np.exp(-x)),
        lambda u: -np.log(-np.log(u)),
        sensitivity,
        "Gumbel",
        **(more if digits else {}),
    )


def inside(truth: np.ndarray, lower: np.ndarray, upper: np.ndarray, width: float | np.ndarray) -> None:
    """Check that a bracket holds the truth (to rounding) and is narrow."""
    assert np.all(lower <= truth * (1 + 1e-14) + 1e-18)
    assert np.all(upper >= truth * (1 - 1e-14) - 1e-18)
    assert np.all(upper - lower <= width * upper + 1e-300)


@settings(max_examples=6, deadline=None)
@given(st.floats(0.05, 4))
def test_gaussian_as_functions(move: float) -> None:
    region, built_in = log_concave(ndtr, ndtri, move, "normal", symmetric=True), dpcore.gaussian(1, move)
    inside(built_in.delta(E), *region.delta_bounds(E), 1e-8)
    inside(built_in.beta(ALPHA), *region.beta_bounds(ALPHA), 1e-9)
    np.testing.assert_allclose(region.power(ALPHA), built_in.power(ALPHA), rtol=1e-9)


@settings(max_examples=6, deadline=None)
@given(st.floats(0.05, 4))
@example(2.00001)
@example(2.000001)
@example(2.00000001)
@example(0.1000001)
def test_laplace_as_functions(move: float) -> None:
    """Just below the largest loss delta is about half of what is left to it, and no width can be a millionth of that.

    The gain at a rate is a difference of two values of F near 1/2, and F is taken to be right to 1e-12 of itself. Left of its
    optimum the gain falls only with `left`, so the optimum is known the worse the smaller that is.
    """
    region, built_in = log_concave(laplace_cdf, laplace_quantile, move, "L", symmetric=True), dpcore.laplace(move)
    lower, upper = region.delta_bounds(E)
    left = np.where(move > E, move - E, np.inf)
    known = 8e-12 + 1e-16 / left
    inside(built_in.delta(E), lower, upper, 1e-6 + known / np.maximum(upper, 1e-300))
    inside(built_in.beta(ALPHA), *region.beta_bounds(ALPHA), 1e-9)


@pytest.mark.parametrize(("move", "width"), [(2.00001, 4.2e-12), (2.000001, 7.5e-12), (2.0000001, 1.1e-10)])
def test_a_bracket_beside_the_largest_loss_is_as_wide_as_the_error_of_the_functions(move: float, width: float) -> None:
    region = log_concave(laplace_cdf, laplace_quantile, move, "L", symmetric=True)
    lower, upper = region.delta_bounds(2.0)
    inside(dpcore.laplace(move).delta(np.array([2.0])), lower, upper, 1.0)
    assert upper[0] - lower[0] <= width


def test_logistic_has_a_closed_form() -> None:
    """F(F^-1(1 - a) - D) = 1/(1 + e^D a/(1 - a)); the best alpha for delta solves a quadratic."""
    move = 1.3
    region = log_concave(expit, logit, move, "logistic", symmetric=True)
    beta = 1 / (1 + math.exp(move) * ALPHA / (1 - ALPHA))
    inside(beta, *region.beta_bounds(ALPHA), 1e-9)
    grow = math.expm1(move)
    for e in (0.0, 0.3, 1.0, 1.29):
        # power = e^D a/(1 + (e^D - 1) a), its slope e^D/(1 + (e^D - 1) a)^2 is e^e at the best alpha
        a = (math.exp((move - e) / 2) - 1) / grow
        delta = math.exp(move) * a / (1 + grow * a) - math.exp(e) * a
        lower, upper = region.delta_bounds(e)
        inside(np.array([delta]), lower, upper, 1e-6)
    # the same curve as the worst case of the exponential mechanism with epsilon = D
    np.testing.assert_allclose(region.delta(E), dpcore.exponential(move).delta(E), atol=1e-9)


def test_the_noise_can_be_drawn_and_simulated() -> None:
    """Its density against the closed form, far tails included; its draws by mean and variance (4 standard errors)."""
    x = np.array([-3.0, -1.0, 0.3, 2.0, 9.0, 30.0])
    region = gumbel()
    np.testing.assert_allclose(region.density(x + 2.0, 2.0), np.exp(-x - np.exp(-x)), rtol=2e-6)
    np.testing.assert_allclose(region.survival(x + 2.0, 2.0), -np.expm1(-np.exp(-x)), rtol=1e-12)
    logistic = log_concave(expit, logit, 1.0, "logistic", symmetric=True)
    np.testing.assert_allclose(logistic.density(x), expit(x) * expit(-x), rtol=1e-7)
    n = 40_000
    for noise, mean, variance, fourth in (
        (region, np.euler_gamma, np.pi**2 / 6, 5.4),
        (logistic, 0, np.pi**2 / 3, 4.2),
    ):
        draws = noise.sample(np.random.default_rng(11), n)
        assert abs(draws.mean() - mean) < 4 * math.sqrt(variance / n)
        assert abs(draws.var() - variance) < 4 * variance * math.sqrt((fourth - 1) / n)


def test_gumbel_both_directions_by_brute_force() -> None:
    region = gumbel()
    x = np.linspace(-4, 60, 400_001)
    step = x[1] - x[0]
    p0, p1 = (np.exp(-(x - m) - np.exp(-(x - m))) for m in (0.0, 1.0))
    for e in (0.0, 0.4, 0.9, 1.5, 3.0):
        up, down = (np.maximum(a - math.exp(e) * b, 0).sum() * step for a, b in ((p1, p0), (p0, p1)))
        at = np.array([e])
        assert region.pair.delta_bounds(at)[1][0] == pytest.approx(up, abs=1e-8)
        assert region.pair.inverse().delta_bounds(at)[1][0] == pytest.approx(down, abs=1e-8)
        assert region.delta(e) == pytest.approx(max(up, down), abs=1e-8)
    assert not region.is_symmetric
    # the loss of moving up is at most 1 (exponential upper tail), that of moving down is not bounded
    assert region.pair.delta_bounds(np.array([1.0]))[1][0] < 1e-290
    assert region.delta(1.0) > 0.1


def test_functions_without_their_own_tails_are_safe() -> None:
    full, plain = gumbel(), gumbel(digits=False)
    lower, upper = plain.delta_bounds(E)
    assert np.all(lower <= full.delta_bounds(E)[1])
    assert np.all(upper >= full.delta_bounds(E)[0])
    tiny = np.array([1e-18, 1e-14])
    assert np.all(plain.power(tiny) >= full.power(tiny) * (1 - 1e-9))
    np.testing.assert_allclose(plain.beta(ALPHA), full.beta(ALPHA), rtol=1e-8, atol=1e-11)


def test_bounded_noise_has_mass_at_infinity() -> None:
    uniform = log_concave(lambda x: np.clip((x + 1) / 2, 0, 1), lambda u: 2 * u - 1, 0.5, "uniform", symmetric=True)
    np.testing.assert_allclose(uniform.delta([0, 1, 5]), dpcore.uniform(1, 0.5).delta([0, 1, 5]), rtol=1e-9)
    one_sided = log_concave(lambda x: -np.expm1(-np.maximum(x, 0)), lambda u: -np.log1p(-u), 0.5, "exponential noise")
    # an answer that moved down shows outputs the other never gives: 1 - e^-D of them
    assert one_sided.delta(20.0) == pytest.approx(-math.expm1(-0.5), rel=1e-9)
    np.testing.assert_allclose(one_sided.pair.delta_bounds(np.array([0.2]))[1], -math.expm1(0.2 - 0.5) * 1.0, rtol=1e-5)


def test_scalar_functions_are_enough() -> None:
    region = log_concave(
        lambda x: 1 / (1 + math.exp(-x)),
        lambda u: math.log(u / (1 - u)) if 0 < u < 1 else (u - 0.5) * math.inf,
        symmetric=True,
    )
    assert region.total_variation == pytest.approx(math.tanh(0.25), abs=1e-9)


def test_products_hold_the_truth() -> None:
    normal = log_concave(ndtr, ndtri, 1.0, "normal", symmetric=True)
    with effort(tolerance=1e-4):
        lower, upper = (normal**3).delta_bounds([0.5, 2.0])
        inside(dpcore.gdp(math.sqrt(3)).delta([0.5, 2.0]), lower, upper, 1e-4)
        lower, upper = (normal * dpcore.gaussian(2)).delta_bounds([0.5, 2.0])
        inside(dpcore.gdp(math.sqrt(1.25)).delta([0.5, 2.0]), lower, upper, 1e-4)


def test_asymmetric_noise_closes_before_it_composes() -> None:
    """Two Gumbel answers: the pair that moves up twice and the one that moves once each way both lie inside."""
    region = gumbel() ** 2
    x = np.linspace(-4, 40, 1761)
    step = x[1] - x[0]
    p0, p1 = (np.exp(-(x - m) - np.exp(-(x - m))) for m in (0.0, 1.0))
    with effort(tolerance=1e-3):
        lower, upper = region.delta_bounds([0.5, 1.5])
    for n, e in enumerate((0.5, 1.5)):
        same = np.maximum(np.multiply.outer(p0, p0) - math.exp(e) * np.multiply.outer(p1, p1), 0).sum() * step**2
        mixed = np.maximum(np.multiply.outer(p0, p1) - math.exp(e) * np.multiply.outer(p1, p0), 0).sum() * step**2
        assert upper[n] >= max(same, mixed) - 1e-6
        assert lower[n] <= upper[n]
        assert lower[n] == pytest.approx(same, rel=2e-3)
        assert upper[n] > 1.02 * max(same, mixed)  # one direction alone would be below what the closure allows
    with effort(tolerance=1e-3):
        np.testing.assert_allclose(upper, (gumbel().symmetric() ** 2).delta_bounds([0.5, 1.5])[1], rtol=2e-3)
    assert region.kind == "upper"


def test_it_prints_its_label_and_cannot_be_parsed() -> None:
    region = log_concave(ndtr, ndtri, label="my noise", symmetric=True)
    assert str(region) == "<my noise>"
    assert str(region**2) == "<my noise>^2"
    assert "cannot be linked" in region.theorem
    with pytest.raises(dpcore.ParseError):
        dpcore.parse(str(region))


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"cdf": 1, "quantile": ndtri}, "cdf must be a function"),
        ({"cdf": ndtr, "quantile": logit}, "inverse of cdf"),
        ({"cdf": lambda x: 0.5 + np.arctan(x) / np.pi, "quantile": lambda u: np.tan(np.pi * (u - 0.5))}, "not log-concave"),
        ({"cdf": laplace_cdf, "quantile": lambda u: -laplace_quantile(u)}, "must rise"),
        ({"cdf": lambda x: np.exp(-np.exp(-x)), "quantile": lambda u: -np.log(-np.log(u)), "symmetric": True}, "not symmetric"),
        ({"cdf": ndtr, "quantile": ndtri, "sensitivity": -1}, "sensitivity must be"),
        ({"cdf": ndtr, "quantile": ndtri, "sensitivity": math.nan}, "sensitivity must be"),
        ({"cdf": ndtr, "quantile": ndtri, "label": 3}, "label must be a text"),
        ({"cdf": lambda x: x * np.nan, "quantile": ndtri}, "one number for each number"),
        ({"cdf": ndtr, "quantile": ndtri, "survival": ndtr}, "1 - survival must equal cdf"),
        ({"cdf": ndtr, "quantile": ndtri, "survival_quantile": ndtri}, "must equal 1 - u"),
    ],
)  # fmt: skip
def test_functions_are_checked_in_words(given_: dict[str, object], words: str) -> None:
    with pytest.raises(DomainError, match=words):
        log_concave(**given_)

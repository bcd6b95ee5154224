"""Evidence about the thesis on statistical foundations: divergences, sums of noises, the mixed noise, concentration."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from dpcore.core.numerals import nearest
from dpcore.labs.errata.claims import AT_LEAST, AT_MOST, BESIDE, Evidence, PrintedClaim
from dpcore.labs.errata.moments import absolute_moment, density
from dpcore.language import parse
from dpcore.mechanisms.gaussian import GaussianAnalytic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def variation_of_normals() -> Evidence:
    """Evaluate the printed total variation of two normal laws."""
    printed, true = 4 * float(ndtr(0.5)) - 2, parse("gdp(1)").total_variation
    wide = parse("gaussian(2)").total_variation
    return Evidence.of(
        f"For means 1 apart and σ = 1 the printed formula gives {printed:.5f}, the total variation is {true:.5f}; with σ = 2 it is "
        f"{wide:.6f}.",
        PrintedClaim("total variation, means 1 apart, σ = 1", printed, true),
        PrintedClaim("total variation, means 1 apart, σ = 2", 4 * float(ndtr(1 / 8)) - 2, wide),
    )


def order_of_divergences() -> Evidence:
    """Compare Kullback-Leibler with the Rényi divergence of order one half."""
    x = np.linspace(-12, 13, 50001)
    p, q = (np.exp(-((x - m) ** 2) / 2) / math.sqrt(2 * math.pi) for m in (0.0, 1.0))
    kl = float(np.sum(p * np.log(p / q)) * (x[1] - x[0]))
    half = -2 * math.log(float(np.sum(np.sqrt(p * q)) * (x[1] - x[0])))
    return Evidence.of(
        f"For N(0, 1) and N(1, 1) the KL divergence is {nearest(kl)} and the Rényi divergence of order 1/2 is {nearest(half)}, which is smaller.",
        PrintedClaim("Rényi divergence of order 1/2, means 1 apart", kl, half, AT_LEAST, "approximate"),
    )


def classes_of_the_table() -> Evidence:
    """Count the smallest class of Table 3.3."""
    ages = ("31-45", "31-45", "18-30", "18-30", "31-45", "18-30")
    amounts = ("51-100", "51-100", "0-50", "51-100", "0-50", "0-50")
    together = list(zip(ages, amounts, strict=True))
    smallest = min(together.count(one) for one in together)
    return Evidence.of(
        f"Two of the six rows of Table 3.3 are alone with their age and amount: the smallest class has {smallest} member.",
        PrintedClaim("smallest class of Table 3.3", 3.0, float(smallest), AT_LEAST),
    )


def tail_of_the_normal() -> Evidence:
    """Compare the quoted bound with the normal tail for a small standard deviation."""
    sigma = t = 0.01
    printed, true = sigma / math.sqrt(2 * math.pi) * math.exp(-0.5), float(ndtr(-t / sigma))
    return Evidence.of(
        f"For σ = t = 0.01 the quoted bound is {printed:.5f}, the tail {true:.5f}; the factor 1/t is missing.",
        PrintedClaim("P(N(0, σ²) > t), σ = t = 0.01", printed, true, AT_MOST),
    )


def _two_laplace_tail(x: float) -> float:
    """Return the upper tail at x >= 0 of the sum of two standard Laplace variables, (2 + x) e^-x / 4."""
    return (2 + x) * math.exp(-x) / 4


def sum_of_two_laplace() -> Evidence:
    """Evaluate the log ratio of two shifted densities of a sum of two Laplace noises, at f(y) and everywhere."""

    def log_ratio(q: NDArray[np.float64]) -> NDArray[np.float64]:
        density, shifted = (1 + np.abs(q)) * np.exp(-np.abs(q)), (1 + np.abs(q - 1)) * np.exp(-np.abs(q - 1))
        return np.asarray(np.abs(np.log(density / shifted)), dtype=np.float64)

    near = float(log_ratio(1 + np.array([-1e-3, -1e-6, -1e-9, 0.0, 1e-9, 1e-6, 1e-3])).max())
    largest, bound = float(log_ratio(np.linspace(-60, 60, 24001)).max()), float(parse("laplace_sum(1)").epsilon(0.0))
    return Evidence.of(
        f"For f(x) = 0 and f(y) = 1 the log ratio at and around q = f(y) is at most {near:.4f} in absolute value; on |q| ≤ 60 it reaches "
        f"{largest:.5f}, and the mechanism is ({nearest(bound)}, 0)-private.",
        PrintedClaim("log ratio at q = f(y), answers 1 apart", math.inf, near),
        PrintedClaim("least ε of the sum of two noises, answers 1 apart", math.inf, bound),
    )


def more_noise_helps() -> Evidence:
    """Compare the total variation of one Laplace noise and of a sum of two."""
    one, two = parse("laplace(1)").total_variation, 1 - 2 * _two_laplace_tail(0.5)
    return Evidence.of(
        f"For answers 1 apart one Laplace noise of scale 1 has total variation {one:.6f}, the sum of two {two:.6f}.",
        PrintedClaim("total variation after a second Laplace noise", one, two, AT_LEAST),
    )


def only_laplace() -> Evidence:
    """Give another noise that satisfies pure DP, with less variance."""
    noise = "staircase(5, 0.0758)"
    loss = float(parse(noise).epsilon(0.0))
    x = np.linspace(-40, 40, 800001)
    draws = density(noise, x)
    variance = float(np.sum(x * x * draws) * (x[1] - x[0]))
    return Evidence.of(
        f"Staircase noise with γ = 0.0758 is ({nearest(loss)}, 0)-private and has variance {variance:.4f} at ε = 5; Laplace noise "
        f"has {nearest(2 / 25)}.",
        PrintedClaim("largest loss of staircase noise calibrated for ε = 5", math.inf, loss),
        PrintedClaim("variance, ε = 5, sensitivity 1", 2 / 25, variance, AT_LEAST, "approximate"),
    )


def mixed_noise() -> Evidence:
    """Compute the delta of the normal branch of the mixed noise mechanism."""
    epsilon, delta = 1.0, 0.002
    true = float(parse(f"gdp({epsilon / math.sqrt(2)!r})").delta(epsilon))
    return Evidence.of(
        f"The normal branch has μ = ε/√2 for any sensitivity and threshold: at ε = 1 its δ is {true:.7f}, "
        f"{true / delta:.1f} times the δ = 0.002 of the experiments.",
        PrintedClaim("δ of the normal branch at ε = 1, calibrated for δ = 0.002", delta, true, AT_MOST),
    )


def lemma_of_mixed_noise() -> Evidence:
    """Evaluate the inequality of Lemma 5.3.3 and the delta of the noise at the largest sensitivity that it allows."""
    epsilon, delta, claims = 1.0, 0.01, []
    for sigma in (0.001, 0.01):
        k = 2 * math.sqrt(2) * sigma**3 / (math.sqrt(math.pi) * delta)
        most = 0.999 * (math.sqrt(k + 2 * sigma**2 * epsilon) - math.sqrt(k))
        z = np.linspace(-10 * sigma, 10 * sigma, 20_001)
        here, there = (np.exp(-((z - m) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi)) for m in (0.0, most))
        excess = float(np.max(here - math.exp(epsilon) * there))  # a lower bound of the largest one
        claims.append(
            PrintedClaim(
                f"g(z) - e^ε g(z - Δf), σ = {nearest(sigma)}, Δf just below (5.15)", delta, excess, AT_MOST, "lower"
            )
        )
        true = float(parse(f"gaussian({sigma!r}, {most!r})").delta(epsilon))
        claims.append(PrintedClaim(f"δ at ε = 1 of that noise, σ = {nearest(sigma)}", delta, true, AT_MOST))
    return Evidence.of(
        f"At ε = 1, δ = 0.01 and σ = 0.001 the left side exceeds e^ε times the right one by {nearest(claims[0].true, 4)} just below the "
        f"allowed sensitivity, not by 0.01; the δ of the noise there is {claims[1].true:.4f}.",
        *claims,
    )


def kurtosis() -> Evidence:
    """Compare the mean absolute errors of two noises of equal variance."""
    wide = f"gaussian({math.sqrt(2)!r})"
    normal, laplace = (absolute_moment(noise, 1, 1.5) for noise in (wide, "laplace(1)"))
    squares = [absolute_moment(noise, 2, 1.5) for noise in (wide, "laplace(1)")]
    return Evidence.of(
        f"With variance 2 the mean absolute error of Laplace noise is {laplace:.5f}, of normal noise {normal:.5f}; their mean squared "
        f"errors are {squares[1]:.5f} and {squares[0]:.5f}.",
        PrintedClaim("mean absolute error at variance 2", normal, laplace, AT_LEAST, "approximate"),
    )


def branches_have_one_error() -> Evidence:
    """Compare the mean squared error of both branches of the mixed noise mechanism."""
    normal, laplace = (absolute_moment(noise, 2, 1.5) for noise in (f"gaussian({math.sqrt(2)!r})", "laplace(1)"))
    return Evidence.of(
        f"At ε = 1, in units of Δ, the normal branch has mean squared error {nearest(normal)}, Laplace noise {nearest(laplace)}: the ratio is 1, "
        "and the spread around 1 in the figures is the randomness of 1000 repetitions.",
        PrintedClaim(
            "mean squared error of the normal branch and of Laplace noise", laplace, normal, BESIDE, "approximate"
        ),
    )


def table_of_coverage() -> Evidence:
    """Repeat one cell of Table 5.1 with both intervals."""
    rng, n, runs = np.random.default_rng(51), 500, 1500
    data = rng.exponential(1.0, (runs, n))
    mean = data.mean(axis=1, keepdims=True)
    local = np.abs(data - mean).max(axis=1) / (n - 1)
    noise = rng.normal(0.0, 1.0, runs) * local * math.sqrt(2 * math.log(1.25 * n))
    error = data.std(axis=1, ddof=1) / math.sqrt(n)
    share = {z: float(np.mean(np.abs(noise) <= z * error)) for z in (1.96, 2.576)}
    return Evidence.of(
        f"With exponential data, normal noise and δ = 1/n, {100 * share[1.96]:.1f} % fall into the 95 % interval and {100 * share[2.576]:.1f} "
        "% into the 99 % interval (1500 runs); the table has 95.4 %.",
        PrintedClaim("share inside the 99 % interval, in per cent", 95.4, 100 * share[2.576], AT_MOST, "simulation"),
        PrintedClaim("share inside the 95 % interval, in per cent", 95.4, 100 * share[1.96], BESIDE, "simulation"),
    )


def _concentrated_variance(epsilon: float, log: float) -> float:
    return (math.sqrt(2 * log) + math.sqrt(2 * log + 2 * epsilon)) ** 2 / (4 * epsilon**2)


def variance_by_concentration() -> Evidence:
    """Solve the quadratic equation of Remark 5.8.7."""
    epsilon, log = 1.0, math.log(1e5)
    printed = (math.sqrt(2 * log) + math.sqrt(2 * log + epsilon)) ** 2 / epsilon**2
    true = _concentrated_variance(epsilon, log)
    reached = 1 / (2 * printed) + math.sqrt(2 * log / printed)
    return Evidence.of(
        f"At ε = 1 and δ = 1e-5 the solution of the equation is σ² = {true:.4f}; the printed {printed:.4f} gives ε = {nearest(reached, 4)}.",
        PrintedClaim("σ² with ε₀ = ε = 1, δ = 1e-5", printed, true),
        PrintedClaim("ε₀ at the printed σ²", epsilon, reached),
    )


def concentration_wins() -> Evidence:
    """Compare the variance by concentrated privacy with the classical one at a small epsilon."""
    epsilon, delta = 0.1, 1e-5
    classical = 2 * math.log(1.25 / delta) / epsilon**2
    true = _concentrated_variance(epsilon, -math.log(delta))
    exact = GaussianAnalytic(epsilon, delta).noise ** 2
    return Evidence.of(
        f"At ε = 0.1 and δ = 1e-5 concentrated privacy needs σ² = {true:.3f}, the classical formula {classical:.3f}; the smallest possible is "
        f"{exact:.3f}.",
        PrintedClaim("σ² by concentrated privacy, ε = 0.1, δ = 1e-5", classical, true, AT_LEAST),
    )


def dilation_beyond_one() -> Evidence:
    """Evaluate the dilation property of Laplace noise at epsilon = 10."""
    epsilon, delta = 10.0, 0.1
    beta = epsilon / (2 * math.log(2 / delta))
    edge = (epsilon / 2 + beta) / math.expm1(beta)
    true = math.exp(-edge) - math.exp(epsilon / 2 - math.exp(beta) * edge)
    return Evidence.of(
        f"At ε = 10 and δ′ = 0.1 the two sides differ by {true:.5f}; the property allows δ′/2 = {nearest(delta / 2)}.",
        PrintedClaim("what the dilation property needs, ε = 10, δ′ = 0.1", delta / 2, true, BESIDE),
    )


def dilation_of_the_normal() -> Evidence:
    """Evaluate the dilation property of normal noise at the printed beta."""
    epsilon, delta = 0.5, 1e-5
    beta = epsilon / (2 * math.log(2 / delta))
    edge = math.sqrt((epsilon + 2 * beta) / math.expm1(2 * beta))
    true = 2 * float(ndtr(-edge)) - math.exp(epsilon / 2) * 2 * float(ndtr(-math.exp(beta) * edge))
    return Evidence.of(
        f"At ε = 0.5 and δ = 1e-5 the dilation property would need {nearest(true, 3)}, but it has {nearest(delta / 2, 1)}. This does not decide whether the mechanism "
        "itself keeps its promise.",
        PrintedClaim("what the dilation property needs, ε = 0.5, δ = 1e-5", delta / 2, true, BESIDE),
    )


def _local(data: Sequence[float]) -> float:
    """Return the local sensitivity of the mean on [0, 1] under substitution."""
    return max(max(x, 1 - x) for x in data) / len(data)


def smooth_mean() -> Evidence:
    """Search the neighbours of three records for the largest local sensitivity of the mean."""
    data = (0.25, 0.5, 0.5)
    printed = _local(data)
    true = max(_local((*data[:j], y, *data[j + 1 :])) for j, y in product(range(3), np.linspace(0, 1, 101).tolist()))
    return Evidence.of(
        f"For the records 0.25, 0.5, 0.5 in [0, 1] the printed value at distance 1 is {printed:.4f}; the largest local sensitivity "
        f"among the neighbours is {true:.4f} = Λ/n.",
        PrintedClaim("local sensitivity of the mean at distance 1", printed, true),
    )

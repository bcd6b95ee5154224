"""Evidence about the thesis on statistical foundations: sensitivities, blocks, noise before or after a query, intervals."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.labs.errata.claims import AT_LEAST, AT_MOST, BESIDE, Evidence, PrintedClaim
from dpcore.labs.errata.moments import absolute_moment
from dpcore.language import parse
from dpcore.mechanisms.gaussian import GaussianClassic

if TYPE_CHECKING:
    from numpy.typing import NDArray

AGES = (32, 100, 121, 81, 62, 79, 84, 57, 31, 9, 2, 1)  # records in (19, 24], (24, 29], ... of the data of chapter 3


def sensitivity_of_the_mean() -> Evidence:
    """Substitute one record of a dataset on [-1, 1] by any other value."""
    values = (-1.0, 0.0, 1.0)
    data = list(product(values, repeat=3))
    true = max(abs(float(np.mean(x)) - float(np.mean((y, *x[1:])))) for x in data for y in values)
    return Evidence.of(
        f"On [-1, 1] with n = 3 one substitution moves the mean by up to {true:.4f} = (Λ₁ + Λ₂)/n, not {1 / 3:.4f}.",
        PrintedClaim("global sensitivity of the mean on [-1, 1], n = 3", 1 / 3, true),
    )


def sensitivity_of_the_variance() -> Evidence:
    """Evaluate both lines of Example 2.1.4 for three records."""
    x = np.array([0.2, 0.4, 0.9])
    n = len(x)
    changes, printed = [], []
    for j in range(n):
        rest = np.delete(x, j)
        centre = rest.sum() / n
        changes.append(((x - x.mean()) ** 2).sum() / (n - 1) - ((rest - centre) ** 2).sum() / (n - 1))
        printed.append(x[j] ** 2 * (1 - 1 / n) / (n - 1) - 2 * x[j] * centre / (n - 1))
    first, second = float(max(changes)), float(max(printed))
    return Evidence.of(
        f"For the records 0.2, 0.4, 0.9 the first line is {first:.4f} and the second, which should equal it, {second:.4f}.",
        PrintedClaim("local sensitivity of the variance, first line and second", second, first),
    )


def smooth_table() -> Evidence:
    """Read a(2, 1) off the second dataset."""
    n = 11
    m = (n + 1) // 2
    x = np.array([0.0] * (m + 1) + [1.0] * (n - m - 1))
    true = float(x[m + 2 - 1] - x[m + 2 - 1 - 1 - 1])
    return Evidence.of(
        f"With n = 11 and Λ = 1 the value is x₈ - x₆ = {nearest(true)}, not 0.",
        PrintedClaim("a(2, 1) of Dataset 2 in units of Λ", 0.0, true),
    )


def variance_of_candidate_1() -> Evidence:
    """Multiply the variance of a standard Laplace variable by the square of its factor."""
    printed, true, classical = 4.0, _laplace_variance(2.0), _laplace_variance(1.0)  # N(x) = 2 with a = 0, b = Δ = ε = 1
    return Evidence.of(
        f"At b = 1, Δ = ε = 1 the variance is {nearest(true)}, not {nearest(printed)}: {nearest(true / classical)} times the classical {nearest(classical)}.",
        PrintedClaim("variance at b = 1, Δ = ε = 1", printed, true, "=", "approximate"),
    )


def _laplace_variance(scale: float) -> float:
    """Return the variance of Laplace noise, from its density."""
    return absolute_moment(f"laplace(scale={scale!r}, sensitivity=1)", 2, scale)


def weights_that_help() -> Evidence:
    """Solve for the largest weight with less variance than Laplace noise, and evaluate the exact delta of a smaller one."""
    printed = math.sqrt(1 / 2)  # with a local sensitivity of 0 the printed 4 b^2 is below the classical 2 up to here
    low, high, classical = 0.0, 1.0, _laplace_variance(1.0)
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if _laplace_variance(2 * middle) <= classical else (low, middle)
    epsilon, weight = 10.0, 0.4  # worst pair: the same answer with noise of relative width 1 and b
    leak = (1 - weight) * weight ** (weight / (1 - weight)) * math.exp(-epsilon * weight / (1 - weight))
    saved = _laplace_variance(2 * weight) / classical
    return Evidence.of(
        f"With a local sensitivity of 0 the variance is below that of Laplace noise for b < {nearest(high)}, not {printed:.4f}. Below that, "
        f"weights do help: b = 0.4 at ε = 10 has {saved:.2f} of the Laplace variance and an exact δ of {nearest(leak, 3)}.",
        PrintedClaim("largest weight b that improves the utility", printed, high, "=", "approximate"),
    )


def variance_of_candidate_2() -> Evidence:
    """Evaluate both variances for a uniform blur."""
    a = b = 0.5
    mean, variance, local, epsilon = 1.5, 1 / 12, 0.5, 1.0
    printed = 4 * a**2 / epsilon**2 * (variance + 2 * (a * mean + b * local) ** 2)
    nodes, weights = np.polynomial.legendre.leggauss(8)  # the blur is uniform on [1, 2]; given it the noise is Laplace
    scales = 2 / epsilon * (a * (1.5 + nodes / 2) + b * local)
    true = float(sum(w / 2 * _laplace_variance(float(scale)) for w, scale in zip(weights, scales, strict=True)))
    return Evidence.of(
        f"For ξ uniform on [1, 2], a = b = 1/2, local sensitivity 1/2 and ε = 1 the printed variance is {printed:.4f}, the true one "
        f"{true:.4f}.",
        PrintedClaim("variance of the blurred noise", printed, true, "=", "approximate"),
    )


def blur_too_small() -> Evidence:
    """Check the first condition of general sensitivity for a small blur."""
    a = b = 0.5
    scale, least = 2 * (a * 0.2 + b * 1.0), 2.0
    return Evidence.of(
        f"With ξ = 0.2, local sensitivity 1, a = b = 1/2 and ε = 1 the scale is {nearest(scale)}; the definition requires more than {nearest(least)}.",
        PrintedClaim("scale of the noise", least, scale, AT_LEAST),
    )


def _exponential_quantiles(n: int = 1000) -> NDArray[np.float64]:
    """Return the quantiles of an exponential law with mean 10, cut at 100."""
    return np.asarray(np.minimum(-10 * np.log1p(-(np.arange(n) + 0.5) / n), 100.0), dtype=np.float64)


def mean_of_block_medians() -> Evidence:
    """Compare the error of Block-DP I on skewed data with that of a noisy median without blocks."""
    x, high, m, epsilon = _exponential_quantiles(), 100.0, 20, 10.0
    blocks = [x[(x >= high / m * i) & (x < high / m * (i + 1))] for i in range(m)]
    middles = [high / m * (i + 0.5) for i in range(m)]
    centre = float(np.mean([np.median(b) if len(b) else middle for b, middle in zip(blocks, middles, strict=True)]))
    truth = float(np.median(x))
    least = (high / 2 - high / (2 * m) - truth) ** 2  # every block's median lies in its block
    alone = absolute_moment(f"laplace(scale={high / epsilon!r}, sensitivity=1)", 2, high / epsilon)
    return Evidence.of(
        f"For exponential data with mean 10, truncated at 100, the median is {truth:.2f}; 20 blocks answer {centre:.2f} before noise if an empty "
        f"block answers its middle. For any answer of an empty block within itself, the squared error is at least {least:.0f}; without "
        f"blocks it is {alone:.0f} at ε = 10.",
        PrintedClaim("mean squared error with 20 blocks, ε = 10, beside none", alone, least, AT_MOST, "lower"),
    )


def blocks_under_substitution() -> Evidence:
    """Compose the two blocks that one substituted record touches, for minima and for medians."""
    minima, medians = (float(parse(f"laplace_vector(1, [{move}, {move}])").epsilon(0.0)) for move in (1, 0.5))
    return Evidence.of(
        f"A record that leaves one block and enters another moves two answers. Two minima move by the whole sensitivity each: the largest "
        f"loss is {nearest(minima)}ε; two medians move by half of it: {nearest(medians)}ε.",
        PrintedClaim(
            "largest loss of block minima in units of ε when a record changes its block", 1.0, minima, AT_MOST
        ),
        PrintedClaim("largest loss of block medians in units of ε", 1.0, medians, BESIDE),
    )


def spurious_delta() -> Evidence:
    """Compute the delta of one block whose scale is too small by nearly the factor that (5.21) allows."""
    claims = []
    for epsilon in (10.0, 20.0):
        printed, loss = math.exp(epsilon / 2 - epsilon / (2 * 0.9)), epsilon / 2 * math.exp(0.899)
        true = float(parse(f"laplace({loss!r})").delta(epsilon))
        claims.append(PrintedClaim(f"δ at ε = {nearest(epsilon)}, β = 0.9, one block", printed, true, AT_MOST))
    small = 0.5 * math.exp(0.5)
    return Evidence.of(
        f"With a sensitivity e^0.899 times the scale's, β = 0.9 and ε = 10 the theorem has δ = {claims[0].stated:.4f}, the noise "
        f"{claims[0].true:.4f}. At β = 0.5 and ε = 1 the largest loss is {small:.4f} < 1, and the printed {math.exp(-0.5):.4f} is not needed.",
        *claims,
    )


def sensitivity_of_the_deviation() -> Evidence:
    """Put one record at the upper end of a dataset of zeros."""
    n = 100
    x = np.zeros(n)
    x[0] = 1.0
    true = float(x.std(ddof=1))
    return Evidence.of(
        f"Among {n} zeros, one record at Λ = 1 moves the standard deviation by {true:.4f} = Λ/√n, not {nearest(1 / n)}.",
        PrintedClaim("sensitivity of the standard deviation, n = 100, Λ = 1", 1 / n, true, AT_MOST, "lower"),
    )


def _variance_formulas(n: int, epsilon: float) -> tuple[float, float]:
    """Return the mean squared error of the noisy variance as printed in (5.25), and the true one; data i/n, range 1."""
    x = (np.arange(n) + 0.5) / n
    d = x - x.mean()
    b = 1 / epsilon
    a = 1 - 4 / n + 6 / n**2 - 3 / n**3 + (n - 1) / n**2 * (1 - 1 / n)
    fourth, square = float((d**4).sum()), float((d**2).sum())
    printed = fourth / (n - 1) ** 2 + 24 * n * b**4 * a / (n - 1) ** 2 + 12 * b**2 * square / (n * (n - 1))
    true = 4 * b**4 * (5 * n - 3) / (n * (n - 1)) + 8 * b**2 * square / (n - 1) ** 2 + 4 * b**4
    return printed, true


def error_of_the_noisy_variance() -> Evidence:
    """Evaluate (5.25) and the corrected mean squared error."""
    printed, true = _variance_formulas(50, 2.0)
    return Evidence.of(
        f"For 50 evenly spread records on [0, 1] and ε = 2 the printed mean squared error is {printed:.5f}, the true one {true:.5f}.",
        PrintedClaim("mean squared error of the noisy variance, n = 50, ε = 2", printed, true),
    )


def fourth_moment() -> Evidence:
    """Compute the fourth moment of a centred Laplace variable from its cumulants."""
    n = 5
    c = np.full(n, -1 / n)
    c[0] += 1
    true = 3 * (2 * float((c**2).sum())) ** 2 + 12 * float((c**4).sum())
    printed = 24 * (1 - 4 / n + 6 / n**2 - 3 / n**3 + (n - 1) / n**2 * (1 - 1 / n))
    return Evidence.of(
        f"For n = 5 and b = 1 the printed fourth moment is {printed:.3f}, the true one {true:.3f}.",
        PrintedClaim("E(Z - Z̄)⁴ for n = 5, b = 1", printed, true),
    )


def rate_of_equal_error() -> Evidence:
    """Find the epsilon before the query that matches epsilon = 1 after it, for two sizes."""

    def matching(n: int) -> float:
        low, high = 1.0, 1e4
        for _ in range(80):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if _variance_formulas(n, middle)[1] > 2 / n**2 else (low, middle)
        return high

    first, last = matching(100), matching(10_000)
    return Evidence.of(
        f"Equal error needs ε = {first:.3f} for 100 records and {last:.2f} for 10 000: {last / first:.2f} times as much, about √100.",
        PrintedClaim("factor of ε when n grows from 100 to 10 000", 100.0, last / first),
    )


def sensitivity_of_the_median() -> Evidence:
    """Move the median of three ages from 0 to 110 by changing one of them."""
    true = float(np.median([0, 110, 110]) - np.median([0, 0, 110]))
    return Evidence.of(
        f"Changing one age moves the median of 0, 0, 110 by {nearest(true)}; the code uses 1.",
        PrintedClaim("sensitivity of the median on [0, 110]", 1.0, true, AT_MOST, "lower"),
    )


def median_before_and_after() -> Evidence:
    """Simulate the median of noisy ages and compare it with a noisy median."""
    rng = np.random.default_rng(515)
    ages = np.concatenate([np.linspace(19 + 5 * i, 24 + 5 * i, count) for i, count in enumerate(AGES)])
    truth = float(np.median(ages))
    before = np.median(ages + rng.laplace(0, 110, (400, len(ages))), axis=1)
    error = math.sqrt(float(np.mean((before - truth) ** 2)))
    after = math.sqrt(2) * 110
    return Evidence.of(
        f"With sensitivity 110 and ε = 1 the noisy median is off by {after:.1f} (root mean square, exact); the median of noisy "
        f"ages by {error:.1f} (400 runs), and it is on average {float(np.mean(before)) - truth:.1f} too high.",
        PrintedClaim(
            "root mean square error of the median, noise before the query", after, error, AT_LEAST, "simulation"
        ),
    )


def width_of_the_interval() -> Evidence:
    """Evaluate the variance of the noise in the expanded interval."""
    n, epsilon, c2 = 100, 0.5, 2 * math.log(1.25e5)
    printed, true = c2 / (epsilon * n), (GaussianClassic(epsilon, 1e-5).noise / n) ** 2
    return Evidence.of(
        f"For n = 100, Λ = 1, ε = 0.5 and δ = 1e-5 the display has {printed:.4f} instead of σ_Z² = {true:.6f}.",
        PrintedClaim("σ_Z² in the interval", printed, true),
    )


def noise_until_positive() -> Evidence:
    """Compute the largest loss of Laplace noise drawn again until the answer is positive."""
    x = np.linspace(0.0, 30.0, 30_001)
    laws = [np.exp(-np.abs(x - answer)) / (2 - math.exp(-answer)) for answer in (0.0, 1.0)]
    true = float(np.abs(np.log(laws[0] / laws[1])).max())
    region = float(parse("bounded_laplace(1, 0, 60, 1)").epsilon(0.0))
    return Evidence.of(
        f"At ε₁ = 1 the answers 0 and 1 have densities with a log ratio of up to {true:.5f} = log(2e - 1) (on an interval up to 60: "
        f"{region:.5f}).",
        PrintedClaim("largest loss of noise drawn until the answer is positive, ε₁ = 1", 1.0, true, AT_MOST, "lower"),
    )

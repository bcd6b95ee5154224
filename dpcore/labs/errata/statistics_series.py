"""Evidence about the thesis on statistical foundations: time series, gradient descent and the R code."""

from __future__ import annotations

import math

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.labs.errata.claims import AT_MOST, BESIDE, Evidence, PrintedClaim
from dpcore.language import parse

LOG = math.log(1.26 / 0.05)


def _later_epsilon(rho: float, power: int) -> float:
    """Return epsilon_2' of (6.6) for n = 2, a_11 = a_21 = 1, epsilon = 1, delta = 0.05, with n to the given power."""
    return 1.0 / math.sqrt(0.25 + (2 + 2 * rho) / (2 * 2**power * LOG))


def total_dependence() -> Evidence:
    """Compose a Laplace answer with one about doubled data."""
    true = float(parse("laplace(1) * laplace(2)").epsilon(0.0))
    return Evidence.of(
        f"With a = 2 and ε₁ = ε₂ = 1 the second answer moves twice as far under the same noise: the largest loss is {nearest(true)}, not 1.5.",
        PrintedClaim("largest loss, a = 2, ε₁ = ε₂ = 1", 1.5, true, AT_MOST),
    )


def variance_of_a_mean() -> Evidence:
    """Compute the variance of the mean of two variables from their covariance matrix."""
    covariance = np.eye(2)
    weights = np.full(2, 0.5)
    true = float(weights @ covariance @ weights)
    printed, right = _later_epsilon(0.0, 1), _later_epsilon(0.0, 2)
    return Evidence.of(
        f"For two independent variables of variance 1 the mean has variance {nearest(true)}, not {nearest(covariance.sum() / 2)}; in the setting of "
        f"Figure 6.1 with ρ = 0 the printed ε₂′ is {printed:.6f}, the corrected one {right:.6f}.",
        PrintedClaim("variance of the mean of two", float(covariance.sum()) / 2, true),
        PrintedClaim("ε₂′ at ρ = 0", printed, right, AT_MOST),
    )


def figure_below_one() -> Evidence:
    """Evaluate the printed and the corrected formula where the text reads off less than 1."""
    values = [_later_epsilon(rho, 2) for rho in (-1.0, 0.0, 1.0)]
    printed = [_later_epsilon(rho, 1) for rho in (-1.0, 0.0, 1.0)]
    code = 1 / math.sqrt(1 + 0.25 * math.log(25))
    return Evidence.of(
        f"At ρ = -1, 0, 1 the printed formula gives {printed[0]:.3f}, {printed[1]:.3f}, {printed[2]:.3f} and the corrected one "
        f"{values[0]:.3f}, {values[1]:.3f}, {values[2]:.3f}; the code draws a different formula ({code:.3f} at ρ = 0).",
        *(
            PrintedClaim(f"ε₂′ of (6.6) as printed, ρ = {nearest(rho)}", 1.0, value, AT_MOST)
            for rho, value in zip((-1, 0, 1), printed, strict=True)
        ),
    )


def _earlier_epsilon(rho: float, power: int) -> float:
    """Return epsilon_1' of Theorem 6.3.6 for Figure 6.2: n = 2, epsilon = 1, delta = 0.05, with n to the given power."""
    sums = np.linalg.inv(np.array([[0.5, 0.1], [0.0, 0.5]])).sum(axis=0)
    variance = float(sums @ np.array([[1.0, rho], [rho, 1.0]]) @ sums)
    return float(sums[0]) / 2 / math.sqrt(0.25 + variance / (2 * 2**power * LOG))


def figure_below_one_again() -> Evidence:
    """Evaluate the formula of Theorem 6.3.6 where the text on Figure 6.2 reads off less than 1."""
    printed, corrected = ([_earlier_epsilon(rho, power) for rho in (-1.0, 0.0, 1.0)] for power in (1, 2))
    return Evidence.of(
        f"At ρ = -1, 0, 1 the printed formula gives {printed[0]:.3f}, {printed[1]:.3f}, {printed[2]:.3f} and the corrected one "
        f"{corrected[0]:.3f}, {corrected[1]:.3f}, {corrected[2]:.3f}.",
        *(
            PrintedClaim(f"ε₁′ of Theorem 6.3.6 as printed, ρ = {nearest(rho)}", 1.0, value, AT_MOST)
            for rho, value in zip((-1, 0), printed, strict=False)
        ),
    )


def delta_of_two_answers() -> Evidence:
    """Compare the printed delta with basic and exact composition."""
    printed = 2 * math.e * 0.05 + 0.05**2
    mu = math.sqrt(2) / math.sqrt(2 * LOG)
    exact = float(parse(f"gdp({mu!r})").delta(2.0))
    return Evidence.of(
        f"At ε = 1 and δ = 0.05 each, the printed δ′ is {printed:.4f}; basic composition gives 0.1, the exact δ at 2ε is {nearest(exact, 4)}.",
        PrintedClaim("δ at 2ε", printed, exact, BESIDE),
    )


def all_records_at_once() -> Evidence:
    """Compute the delta of the first answer when all ten records may change."""
    n, epsilon, delta = 10, 0.9, 1e-5
    mu = n * epsilon / math.sqrt(2 * math.log(1.26 / delta))
    true = float(parse(f"gdp({mu!r})").delta(epsilon))
    return Evidence.of(
        f"With n = 10, ε₁ = 0.9, δ = 1e-5 and no dependence at all (A = 0) the statement says (0.9, δ); the answer about all ten "
        f"records has δ = {true:.4f} at 0.9.",
        PrintedClaim("δ at ε₁ = 0.9 when ten records change", delta, true, AT_MOST),
    )


def dependent_noise() -> Evidence:
    """Regress the first value of a series on the second."""
    a, prior = 0.5, 1.0
    mixing = np.array([[1.0, 0.0], [a, 1.0]])  # (X₁, X₂) from (X₁, B)
    covariance = mixing @ np.diag([prior, 1.0]) @ mixing.T
    true = float(covariance[0, 1] / covariance[1, 1])
    return Evidence.of(
        f"With a = 0.5, unit variances and X₂ = aX₁ + B the expected X₁ given X₂ = x is {nearest(true)}x; the proof uses x/a = {nearest(1 / a)}x.",
        PrintedClaim("slope of X₁ given X₂, in the proof and with a prior of variance 1", 1 / a, true, BESIDE),
    )


def constant_rate() -> Evidence:
    """Evaluate the third term of the bound for a constant rate and an exponent below 3/2."""
    kappa = 1.2
    values = [float(np.sum(np.arange(1, n + 1) ** (2 - 2 * kappa))) / n for n in (10**3, 10**6)]
    return Evidence.of(
        f"At κ = 1.2 and a constant rate the third term falls from {values[0]:.4f} (N = 1000) to {values[1]:.6f} (N = 10⁶): it "
        "vanishes for κ > 1.",
        PrintedClaim("third term at N = 10⁶ over that at N = 1000, κ = 1.2", 1.0, values[1] / values[0], BESIDE),
    )


def second_term() -> Evidence:
    """Measure the rate of the second term of the bound for rho = 3/4."""
    rho = 0.75

    def term(n: int) -> float:
        j = np.arange(1, n + 1, dtype=np.float64)
        return float(np.sum(j ** (-2 * rho)) / np.sum(j**-rho))

    rate = math.log(term(10**6) / term(10**4)) / math.log(100)
    return Evidence.of(
        f"For ρ = 3/4 the second term falls like N^{rate:.3f} between N = 10⁴ and 10⁶, towards N^-1/4, not N^-3/4.",
        PrintedClaim("exponent of the second term, ρ = 3/4", -rho, rate, "=", "approximate"),
    )


def norm_of_a_mean() -> Evidence:
    """Average the norm of two opposite gradients."""
    gradients = np.array([1.0, -1.0])
    true, printed = float(np.abs(gradients).mean()), float(abs(gradients.mean()))
    return Evidence.of(
        f"For two gradients 1 and -1 the expected norm is {nearest(true)}, the norm of the expectation {nearest(printed)}.",
        PrintedClaim("expected norm of the gradient", printed, true),
    )


def gradients_at_two_places() -> Evidence:
    """Take a gradient a theta + x at the two points reached by one step with different records."""
    a, rate = 10.0, 1.0
    places = [-rate * record for record in (0.0, 1.0)]  # after one step from theta = 0
    # the second step draws a record that both runs share, or the one in which they differ again
    true = max(abs(a * (places[0] - places[1]) + x - y) for x, y in ((0.0, 0.0), (0.0, 1.0)))
    return Evidence.of(
        f"For the gradient 10θ + x with records in [0, 1] the sensitivity at one θ is 1; after one step with rate 1 the gradients of "
        f"the two runs differ by up to {nearest(true)}.",
        PrintedClaim("difference of the gradients in the second step", 1.0, true, AT_MOST),
    )


def bias_of_two_methods() -> Evidence:
    """Compare the printed biases with their standard errors."""
    records, width = 659, 5.0
    errors = [math.sqrt(width**2 / parts / records) for parts in (6, 12)]
    printed = (0.06881953, 0.03408935)
    return Evidence.of(
        f"With 659 records the standard errors of the two biases are {errors[0]:.4f} and {errors[1]:.4f}; the printed biases are "
        f"{printed[0]:.4f} and {printed[1]:.4f}.",
        *(
            PrintedClaim(f"bias of {name} and its standard error", bias, error, BESIDE)
            for name, bias, error in zip(("k-PRAM", "k-noise"), printed, errors, strict=True)
        ),
    )


def loop_of_the_code() -> Evidence:
    """Repeat the loop of the R code and skip what it skips."""
    x = np.array([100.0, 1, 2, 3, 4, 5])
    without = [abs(float(x.mean() - np.delete(x, i).mean())) for i in range(len(x))]
    by_loop = max(without[1:-1])  # i = 1 removes nothing and i = n is never reached
    return Evidence.of(
        f"For 100, 1, 2, 3, 4, 5 the sensitivity by leaving one out is {max(without):.4f}; the loop finds {by_loop:.4f}.",
        PrintedClaim("sensitivity of the mean of 100, 1, 2, 3, 4, 5", by_loop, max(without)),
    )


def sensitivity_of_the_ages() -> Evidence:
    """Follow the R code that takes the sensitivity of the variance, and move one of 659 ages across the range."""
    grid, n = np.arange(111.0), 659
    code = max(abs(grid.var(ddof=1) - np.delete(grid, i).var(ddof=1)) for i in range(grid.size)) / n
    ages = np.zeros(n)
    moved = ages.copy()
    moved[0] = 110.0
    true = float(moved.var(ddof=1) - ages.var(ddof=1))
    return Evidence.of(
        f"Among 659 ages of 0, changing one to 110 moves the variance by {true:.4f}; the code uses {code:.4f}.",
        PrintedClaim("sensitivity of the variance of 659 ages in [0, 110]", code, true, AT_MOST, "lower"),
    )

"""Evidence about the paper on total variation and differential privacy."""

from __future__ import annotations

import math

from scipy.special import ndtr

from dpcore.constraints import dominating_pair
from dpcore.core.numerals import nearest
from dpcore.labs.errata.claims import AT_MOST, BESIDE, Evidence, PrintedClaim
from dpcore.language import parse


def lost_square() -> Evidence:
    """Compare (57) with the divergence that binary randomized response attains on disjoint hypotheses."""
    epsilon = 5.0
    printed = 2 * min(2.0, math.exp(epsilon)) * math.tanh(epsilon / 2)
    losses, _, masses = parse(f"rr({epsilon!r})").atoms()  # for letters that tell the hypotheses apart
    attained = float(losses @ masses)
    right = printed * math.expm1(epsilon)
    return Evidence.of(
        f"At ε = 5 and for hypotheses with total variation 1, line (57) says at most {printed:.4f}; randomized response attains "
        f"{attained:.4f}. With the square the bound is {right:.1f}.",
        PrintedClaim("largest KL divergence at ε = 5, total variation 1", printed, attained, AT_MOST, "lower"),
    )


def limit_of_the_integral() -> Evidence:
    """Evaluate (72) with the printed limit of integration."""
    epsilon, eta = 1.0, 0.3
    printed = -epsilon * eta / math.expm1(epsilon) + epsilon * eta * math.exp(epsilon) / (math.exp(epsilon) + 1)
    losses, _, masses = parse(f"dptv({epsilon!r}, 0, {eta!r})").atoms()
    true = float(losses @ masses)
    return Evidence.of(
        f"At ε = 1 and η = 0.3 the printed integral is {printed:.4f}; the mean loss of the region is {nearest(true)}, which is εη.",
        PrintedClaim("kl of (1, 0)-DP with η = 0.3", printed, true),
    )


def leakage() -> Evidence:
    """Evaluate the last step of (81) and (80) for randomized response."""
    epsilon = 2.0
    true = parse(f"rr({epsilon!r})").total_variation
    printed = 1 - 2 * epsilon / (math.exp(epsilon) + 1)
    sum_of_largest = 1 + true
    by_80 = 1 - 1 / sum_of_largest
    return Evidence.of(
        f"At ε = 2 randomized response has total variation {true:.4f}; (80) would give it {by_80:.4f}. The expression in (81), as "
        f"printed, is {printed:.4f}.",
        PrintedClaim("total variation of randomized response, ε = 2, by (80)", by_80, true),
        PrintedClaim("total variation allowed at ε = 2, by (81) as it stands", printed, true, BESIDE),
    )


def area_of_a_step() -> Evidence:
    """Evaluate the area between two staircases as printed."""
    epsilon, gamma = 1.0, 0.25
    height = -math.expm1(-epsilon) / (2 * (gamma + math.exp(-epsilon) * (1 - gamma)))
    printed = height * 2 * gamma * (1 - math.exp(epsilon))
    true = height * 2 * gamma * (1 - math.exp(-epsilon))
    total = height * math.exp(-epsilon) + true
    check = parse(f"staircase({epsilon!r}, {gamma!r})").total_variation
    return Evidence.of(
        f"At ε = 1 and γ = 0.25 the printed area is negative, {printed:.4f}; with e^-ε it is {true:.4f}, and both parts add up to "
        f"the total variation {check:.4f}.",
        PrintedClaim("area between the staircases on (-γ, γ]", printed, true),
        PrintedClaim("total variation with the printed area", printed + total - true, check),
    )


def two_values_at_once() -> Evidence:
    """Evaluate two pieces of the printed density at one place for gamma = 2."""
    epsilon, gamma = 1.0, 2.0
    height = -math.expm1(-epsilon) / (2 * (gamma + math.exp(-epsilon) * (1 - gamma)))
    return Evidence.of(
        f"At γ = 2, ε = 1 and x = 1.5Δ the first piece gives {height:.4f}/Δ and the third {height * math.exp(-epsilon):.4f}/Δ.",
        PrintedClaim("density at x = 1.5Δ for γ = 2: first piece, third piece", height, height * math.exp(-epsilon)),
    )


def square_of_a_bracket() -> Evidence:
    """Evaluate the factor in the text and in the display after it."""
    printed, true = 1 / (2 * (math.e + 1)) ** 2, 1 / (2 * (math.e + 1) ** 2)
    return Evidence.of(
        f"At ε = 1 the text gives {printed:.4f}, the display {true:.4f}.",
        PrintedClaim("factor at ε = 1", printed, true),
    )


def scale_of_the_noise() -> Evidence:
    """Evaluate the printed integrals for sensitivity 2."""
    sensitivity, epsilon = 2.0, 1.0
    printed = -math.expm1(-epsilon * sensitivity / 2) / sensitivity
    true = parse(f"laplace(scale={sensitivity / epsilon!r}, sensitivity={sensitivity!r})").total_variation
    return Evidence.of(
        f"With Δ = 2 and ε = 1 the printed integrals add up to {printed:.4f}; the total variation is {true:.4f}.",
        PrintedClaim("total variation of the Laplace mechanism, Δ = 2, ε = 1", printed, true),
    )


def outcomes_of_the_worst_mechanism() -> Evidence:
    """Count the outcomes of the pair that attains the whole (epsilon, delta) region."""
    pieces = len(dominating_pair(parse("dp(1, 0.1)")))
    return Evidence.of(
        f"The region of (1, 0.1) has {pieces} pieces, one for each outcome; a mechanism with two outcomes has at most two.",
        PrintedClaim("outcomes of a mechanism that attains the (1, 0.1) region", 2.0, float(pieces)),
    )


def root_of_a_product() -> Evidence:
    """Compose four Gaussian mechanisms and evaluate the printed total variation."""
    k, mu = 4, 0.5
    printed = 2 * float(ndtr(math.sqrt(k * mu) / 2)) - 1
    true = parse(f"gdp({mu!r})^{k}").total_variation
    return Evidence.of(
        f"Four mechanisms with μ = 0.5 have total variation {true:.4f}; with μ under the root it would be {printed:.4f}.",
        PrintedClaim("total variation of 4 mechanisms, μ = 0.5", printed, true),
    )

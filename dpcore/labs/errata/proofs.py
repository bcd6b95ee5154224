"""Evidence about steps of proofs and side remarks: one counterexample each."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.labs.errata.claims import AT_LEAST, AT_MOST, BESIDE, Evidence, PrintedClaim
from dpcore.language import parse

if TYPE_CHECKING:
    from collections.abc import Sequence


def along_one_coordinate() -> Evidence:
    """Compare a change of two coordinates by one half each with a change of one coordinate by 1."""
    two, one = parse("laplace_vector(1, [0.5, 0.5])"), parse("laplace(1)")
    rates = np.linspace(0.001, 0.999, 999)
    count = int(np.sum(two.beta(rates) >= one.beta(rates) - 1e-12))
    return Evidence.of(
        f"For ε = 1, two coordinates that move by half of Δ each have total variation {two.total_variation:.6f}, one that moves by "
        f"the full Δ {one.total_variation:.6f}; at {count} of {len(rates)} false-positive rates the first misses at least as many.",
        PrintedClaim("total variation, one coordinate beside two", one.total_variation, two.total_variation, BESIDE),
    )


def response_both_ways() -> Evidence:
    """Compute the delta of the mechanism that always gives the opposite answer."""
    epsilon, delta = math.log(3), 0.1
    true = float(parse("pmf([0, 1], [1, 0])").delta(epsilon))
    return Evidence.of(
        f"At p = 1, above the printed threshold {nearest((1 - delta) / (1 + math.exp(epsilon)))}, every answer is the opposite of the truth "
        f"and reveals it: δ = {nearest(true)} at ε = ln 3, not at most 0.1.",
        PrintedClaim("δ at ε = ln 3 of randomized response with p = 1", delta, true, AT_MOST),
    )


def variance_of_a_product() -> Evidence:
    """Multiply a fair sign with itself."""
    x = np.array([-1.0, 1.0])
    printed = float(x.var() * x.var() + x.var() * x.mean() ** 2 + x.var() * x.mean() ** 2)
    true = float((x * x).var())
    return Evidence.of(
        f"For X = Y = ±1 with equal probabilities the product is always 1 and has variance {nearest(true)}; the formula gives {nearest(printed)}.",
        PrintedClaim("variance of XY for X = Y = ±1", printed, true),
    )


def densities_are_no_probabilities() -> Evidence:
    """Let the noise be so wide that its density is below delta everywhere."""
    sigma, sensitivity, epsilon, delta = 1000.0, 10_000.0, 1.0, 0.001
    z = np.linspace(-20 * sigma, 20 * sigma, 40_001)
    here, there = (
        np.exp(-((z - m) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi)) for m in (0.0, sensitivity)
    )
    excess = float(np.max(here - math.exp(epsilon) * there))
    true = float(parse(f"gaussian({sigma!r}, {sensitivity!r})").delta(epsilon))
    return Evidence.of(
        f"With σ = 1000, Δf = 10 000, ε = 1 and δ = 0.001 the inequality for densities holds at every z (largest excess {nearest(excess, 2)}), "
        f"and the true δ is {true:.6f}.",
        PrintedClaim("δ at ε = 1 where the inequality for densities has δ = 0.001", delta, true, AT_MOST),
    )


def variance_transfer() -> Evidence:
    """Take two smooth functions, half the square and its negative; the second is not convex."""
    theta = np.linspace(-2.0, 2.0, 401)
    functions, gradients = np.array([theta**2 / 2, -(theta**2) / 2]), np.array([theta, -theta])
    mean = functions.mean(axis=0)
    noise = float(np.min(gradients.var(axis=0)[mean == mean.min()]))  # over all minima, as Definition 7.9.1 has it
    at = int(np.argmin(np.abs(theta - 1)))
    right, left = 4 * float(mean[at] - mean.min()) + 2 * noise, float((gradients[:, at] ** 2).mean())
    return Evidence.of(
        f"For ψ₁ = θ²/2 and ψ₂ = -θ²/2, both 1-smooth, Ψ is 0 everywhere and the gradient noise {nearest(noise)} (at θ = 0); at θ = 1 the left "
        f"side is {nearest(left)} and the right side {nearest(right)}.",
        PrintedClaim("expected squared gradient of ± θ²/2 at θ = 1", right, left, AT_MOST),
    )


def _local_of_the_median(x: Sequence[float]) -> float:
    """Return the local sensitivity of the median on {0, 1} under substitution."""
    middle = float(np.median(x))
    changed = ([*x[:j], value, *x[j + 1 :]] for j in range(len(x)) for value in (0.0, 1.0))
    return max(abs(middle - float(np.median(y))) for y in changed)


def attained_at_itself() -> Evidence:
    """Search all databases of three records for the one that attains the smooth sensitivity."""
    x, beta = (0.0, 0.0, 1.0), 0.5
    weighted = [
        (_local_of_the_median(y) * math.exp(-beta * sum(a != b for a, b in zip(x, y, strict=True))), y)
        for y in product((0.0, 1.0), repeat=3)
    ]
    best = max(value for value, _ in weighted)
    distance = min(sum(a != b for a, b in zip(x, y, strict=True)) for value, y in weighted if value == best)
    return Evidence.of(
        f"For the median of 0, 0, 1 with values in {{0, 1}} and β = 0.5 the smooth sensitivity {nearest(best)} is attained at distance {distance}: "
        "at the database itself.",
        PrintedClaim("distance to the database that attains the maximum", 1.0, float(distance), AT_LEAST),
    )


def sign_of_the_answer() -> Evidence:
    """Evaluate the last inequality of Example 4.4.1 at a negative answer."""
    here, there, sigma, q = 0.0, 1.0, 1.0, -1.0
    loss = ((q - there) ** 2 - (q - here) ** 2) / (2 * sigma**2)
    bound = -((here - there) * (here + there)) / (2 * sigma**2) + q * abs(here - there) / sigma**2
    return Evidence.of(
        f"With f(x) = 0, f(y) = 1, σ = 1 and q = -1 the loss is {nearest(loss)} and the printed bound {nearest(bound)}.",
        PrintedClaim("privacy loss at q = -1", bound, loss, AT_MOST),
    )


def parts_by_value() -> Evidence:
    """Replace a record among counts per value, and among counts of parts fixed beforehand."""
    two, one = (float(parse(f"laplace_vector(1, {moves})").epsilon(0.0)) for moves in ("[1, 1]", "[1, 0]"))
    return Evidence.of(
        f"Take counts per value with noise for ε. A replaced record moves two of them, and the largest loss is {nearest(two)}ε. If its part is "
        f"fixed beforehand, it moves one, and the loss is {nearest(one)}ε.",
        PrintedClaim("largest loss in units of ε, part fixed beforehand and by value", one, two, BESIDE),
    )

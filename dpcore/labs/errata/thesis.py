"""Evidence about the thesis on privacy visualisation."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from dpcore.constraints import Constraints, conjectured, split
from dpcore.core.numerals import nearest
from dpcore.labs.errata.claims import AT_LEAST, AT_MOST, BESIDE, Evidence, PrintedClaim
from dpcore.language import parse
from dpcore.mechanisms.randomized_response import from_gamma

if TYPE_CHECKING:
    from collections.abc import Sequence


def group_privacy() -> Evidence:
    """Compare the printed delta of a group with an explicit mechanism on three datasets in a row."""
    epsilon, delta, k = 2.0, 0.01, 2
    # the answer "yes" has probability 0, delta, delta + e^epsilon delta: each step keeps the promise
    chance = delta * (1.0 + math.exp(epsilon))
    exact = float(parse(f"group(dp({epsilon!r}, {delta!r}), {k})").delta(k * epsilon))
    printed = k * math.exp(k - 1) * delta
    return Evidence.of(
        f"At ε = 2, δ = 0.01 and k = 2 the printed δ is {printed:.4f}; a mechanism that says yes with probability 0, 0.01 "
        f"and {chance:.4f} on three datasets in a row keeps the promise and attains {exact:.4f}.",
        PrintedClaim("δ of a group of 2 at 2ε, ε = 2, δ = 0.01", printed, exact, AT_MOST),
        PrintedClaim("the same, by the mechanism that says yes or no", printed, chance, AT_MOST),
    )


def gaussian_any_epsilon() -> Evidence:
    """Compute the true delta of the classical noise above epsilon = 1."""
    claims = []
    for epsilon, delta in ((10.0, 1e-5), (5.0, 0.3)):
        true = float(parse(f"gaussian_classic({epsilon!r}, {delta!r})").delta(epsilon))
        claims.append(
            PrintedClaim(
                f"δ at ε = {nearest(epsilon)} of the noise calibrated for δ = {nearest(delta)}", delta, true, AT_MOST
            )
        )
    return Evidence.of(f"At ε = 10 and δ = 1e-5 the true δ is {nearest(claims[0].true, 4)}.", *claims)


def _printed_total_variation(epsilon: float, eta: float, k: int, *, power_of_l: bool) -> float:
    """Return delta_0 of the DP-TV composition as printed, with delta = 0."""
    mu = 1.0 - eta * math.expm1(epsilon) / (math.exp(epsilon) + 1.0)
    total = 0.0
    for i in range(k):
        for ell in range(math.ceil((k - i) / 2)):
            power = mu ** (ell if power_of_l else i)
            change = math.exp((k - ell - i) * epsilon) - math.exp(ell * epsilon)
            total += (
                math.comb(k, i)
                * math.comb(k - i, ell)
                * ((mu - 1.0) / (math.exp(epsilon) + 1.0)) ** (k - i)
                * power
                * change
            )
    return total


def _variation_of_three(*, power_of_l: bool) -> Evidence:
    printed = _printed_total_variation(1.0, 0.3, 3, power_of_l=power_of_l)
    true = parse("dptv(1, 0, 0.3)^3").total_variation
    return Evidence.of(
        f"For three mechanisms with ε = 1, δ = 0, η = 0.3 the printed formula gives the total variation {printed:.4f}; it is "
        f"{true:.4f}.",
        PrintedClaim("total variation of 3 mechanisms, ε = 1, δ = 0, η = 0.3", printed, true),
    )


def variation_theorem() -> Evidence:
    """Evaluate Theorem 29 as printed."""
    return _variation_of_three(power_of_l=True)


def variation_theorem_again() -> Evidence:
    """Evaluate Theorem 53 as printed."""
    return _variation_of_three(power_of_l=False)


def histogram_sensitivity() -> Evidence:
    """Move one of 100 records to another bin and measure the change of the frequencies."""
    n, k, epsilon = 100, 10, 1.0
    data = np.linspace(0.0, 0.999, n)
    moved = data.copy()
    moved[0] = 0.95
    first, second = (np.histogram(x, bins=k, range=(0.0, 1.0))[0] / n for x in (data, moved))
    change = float(np.abs(first - second).sum())
    enough = 8 * k / (n * epsilon) ** 2
    return Evidence.of(
        f"Among {n} records one change moves the frequencies by {nearest(change)}, not 2; noise for that has mean squared error "
        f"{nearest(enough)} over {k} bins at ε = 1, the noise of Definition 45 {nearest(8 * k / epsilon**2)}.",
        PrintedClaim("l1 change of the frequencies of 100 records", 2.0, change),
        PrintedClaim(
            "mean squared error over 10 bins, ε = 1, noise as printed and noise as needed",
            8 * k / epsilon**2,
            enough,
            BESIDE,
        ),
    )


def median_identity() -> Evidence:
    """Count positions and signs for five records."""
    data = np.array([1, 2, 3, 4, 5])
    signs = abs(int(np.sign(5 - data).sum()))
    position = float((data < 5).sum() + (data == 5).sum() / 2)
    return Evidence.of(
        f"For the records 1, 2, 3, 4, 5 and c = 5 the signs add up to {signs}, the position is off by "
        f"{nearest(abs(position - 2.5))}: half as much.",
        PrintedClaim("position of 5 among 1..5, distance from n/2", float(signs), abs(position - 2.5)),
    )


def median_bound() -> Evidence:
    """Compute the chance of a bad median for 70 ones and 30 twos."""
    data, epsilon, t = np.array([1] * 70 + [2] * 30), 1.0, 15.0
    candidates = np.array([1, 2])
    signs = np.abs([int(np.sign(c - data).sum()) for c in candidates])
    weights = np.exp(-epsilon * (signs - signs.min()) / 4)
    position = np.array([(data < c).sum() + (data == c).sum() / 2 for c in candidates])
    chance = float(weights[np.abs(position - 50) >= t].sum() / weights.sum())
    printed = 2 * math.exp(-epsilon * t / 4)
    mended = 2 * math.exp(-epsilon * (2 * t - signs.min()) / 4)
    return Evidence.of(
        f"70 ones and 30 twos, ε = 1, t = 15: every answer is off by at least 15, so the probability is {nearest(chance)}; the printed "
        f"bound is {printed:.4f}, the corrected one {nearest(mended)}.",
        PrintedClaim("probability that the position is off by 15 or more", printed, chance, AT_MOST),
    )


def failures_of_an_array() -> Evidence:
    """Let the squares of the deltas add up to 0.1 and watch how often a loss is infinite."""
    n, limit = 10_000, 0.1
    each = math.sqrt(limit / n)
    true = float(parse(f"tv({each!r})^{n}").total_variation)
    printed = -math.expm1(-limit)
    return Evidence.of(
        f"With 10 000 equal δ whose squares add up to 0.1, some mechanism fails with probability {true:.6f}; the printed limit is "
        f"{printed:.4f}.",
        PrintedClaim("δ of all together, n = 10 000, Σδ² = 0.1", printed, true, AT_MOST),
    )


def response_epsilon() -> Evidence:
    """Put the printed epsilon of randomized response beside the exact one."""
    gamma = 0.1
    exact = from_gamma(gamma).epsilon_
    printed = 2 * gamma + math.log(2)
    return Evidence.of(
        f"At γ = 0.1 the printed ε is {printed:.4f}, the exact one {exact:.4f}.",
        PrintedClaim("ε of randomized response, γ = 0.1", printed, exact, BESIDE),
    )


def guess_for_two() -> Evidence:
    """Compose two mechanisms of Figure 4.1 exactly, and by the hypothesis."""
    pair = Constraints.read("0.6, 0.05; 0, 0.2")
    exact, guess = pair.composed(2).total_variation, conjectured(pair, 2).region.total_variation
    return Evidence.of(
        f"For (0.6, 0.05) and (0, 0.2), twice, the total variation is {exact:.6f}; the hypothesised region has {guess:.6f}.",
        PrintedClaim("total variation of two mechanisms of Figure 4.1, hypothesised and true", guess, exact, BESIDE),
    )


def splitting_decides() -> Evidence:
    """Split a product back into its factors."""
    answer = split(parse("dp(0.2)^3 * dp(0.5, 0.01)"))
    factors = ", ".join(f"{copies} × {nearest(epsilon)}" for epsilon, copies in answer.factors)
    return Evidence.of(
        f"The polygon of dp(0.2)^3 * dp(0.5, 0.01) splits into {factors} with total δ {nearest(answer.total_delta)}."
    )


def reading_of_delta() -> Evidence:
    """Compose two mechanisms that never disclose anything for certain."""
    region = parse("gdp(1)^2")
    never, true = float(region.delta(700.0)), float(region.delta(1.0))
    return Evidence.of(
        f"Gaussian noise with μ = 1 never discloses anything for certain (its δ at ε = 700 is {nearest(never)}); by the printed argument "
        f"two of them would have δ = 0 at every ε, but at ε = 1 it is {true:.4f}.",
        PrintedClaim("δ at ε = 1 of two mechanisms that never disclose", 0.0, true, BESIDE),
    )


def step_of_basic_composition() -> Evidence:
    """Evaluate the factor that the proof of Proposition 10 drops."""
    factor = math.e * 0.9
    return Evidence.of(
        f"With ε₁ = 1 and P(M₁(X′) ∈ T₁) = 0.9 the dropped factor is {factor:.4f}, above 1.",
        PrintedClaim("factor before δ₂, ε₁ = 1, probability 0.9", 1.0, factor, AT_MOST),
    )


def threshold_sets() -> Evidence:
    """Try every deterministic test of a mechanism with three answers."""
    p0, p1, alpha = (0.4, 0.1, 0.5), (0.6, 0.14, 0.26), 0.3

    def misses(tests: Sequence[tuple[int, ...]]) -> float:
        return min(1 - sum(p1[c] for c in t) for t in tests if sum(p0[c] for c in t) <= alpha)

    order = sorted(range(3), key=lambda c: -p1[c] / p0[c])
    thresholds = [tuple(order[:size]) for size in range(4)]
    every = [t for size in range(4) for t in combinations(range(3), size)]
    return Evidence.of(
        f"With P₀ = (0.4, 0.1, 0.5), P₁ = (0.6, 0.14, 0.26) and α = 0.3 the best threshold set misses {nearest(misses(thresholds))}, the "
        f"set of the second answer alone {nearest(misses(every))}.",
        PrintedClaim("false negatives of the best deterministic test", misses(thresholds), misses(every)),
    )


def sensitivity_two() -> Evidence:
    """Change one of two records and see the score of the median move by 2."""

    def score(data: Sequence[int], c: int) -> int:
        return -abs(sum((c > x) - (c < x) for x in data))

    def largest(n: int) -> int:
        data = list(product((1, 2, 3), repeat=n))
        pairs = ((x, (first, *x[1:])) for x in data for first in (1, 2, 3))
        return max(abs(score(x, c) - score(y, c)) for x, y in pairs for c in (1, 2, 3))

    records = next(n for n in (1, 2, 3) if largest(n) == 2)
    return Evidence.of(
        f"By trying all datasets with three values: {records} records are enough for a change of 2; the score of 2 goes from -2 to 0 "
        "between {1, 1} and {3, 1}.",
        PrintedClaim("records needed to attain 2", 3.0, float(records), AT_LEAST),
    )


def not_always_a_product() -> Evidence:
    """Show a polygon that is no product of single constraints."""
    eta = 0.7 * math.tanh(0.5)
    answer = split(parse(f"dptv(1, 0, {eta!r})"))
    alpha = 0.3
    weight = alpha * (1 + math.e) / ((1 - alpha) * math.sqrt(math.e))
    return Evidence.of(
        f"(1, 0)-DP with total variation {eta:.4f} is not a product: {answer.reason}",
        PrintedClaim("number of sign patterns with loss 0, if it were a product", float(round(weight)), weight, BESIDE),
    )


def basic_can_be_improved() -> Evidence:
    """Compute the least delta at the sum of the epsilons."""
    k, delta = 5, 0.05
    true = float(parse(f"dp(0.6, {delta!r})^{k}").delta(3.0))
    return Evidence.of(
        f"Five (0.6, 0.05) mechanisms are (3, {true:.6f}), not only (3, {nearest(k * delta)}).",
        PrintedClaim("least δ at ε = 3 for five (0.6, 0.05)", k * delta, true, AT_LEAST),
    )


def local_neighbours() -> Evidence:
    """Compute the loss between two datasets in which all ten answers differ."""
    true = float(parse("rr(1)^10").epsilon(0.0))
    return Evidence.of(
        f"Randomized response with ε = 1 for each of ten people is 1-locally private, and between two datasets that differ in all "
        f"ten records its largest loss is {nearest(true)}.",
        PrintedClaim("largest loss between any two datasets of ten people, ε = 1 each", 1.0, true, BESIDE),
    )


def active_constraint() -> Evidence:
    """Check which constraint holds at slope 1 in Figure 4.1."""
    without = parse("dp(0.6, 0.05)^2 & dp(0.6, 0.24)").total_variation
    line = 1 - 0.8**2
    together = parse(f"dp(0.6, 0.05)^2 & dp(0.6, 0.24) & tv({line!r})").total_variation
    return Evidence.of(
        f"In the setting of Figure 4.1 the other two constraints allow a total variation of {without:.6f}, the third {line:.6f}: it "
        "is active there. It is active whenever (1 - δ₂)² ≥ (1 - δ₁)² (1 - tanh(ε₁/2)).",
        PrintedClaim("total variation allowed without and with the third constraint", without, together, BESIDE),
    )

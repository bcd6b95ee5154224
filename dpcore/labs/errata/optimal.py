"""Evidence about the supplement of the optimal composition theorem."""

from __future__ import annotations

import math

from dpcore.core.numerals import nearest
from dpcore.labs.errata.claims import AT_MOST, BESIDE, Evidence, PrintedClaim
from dpcore.language import parse
from dpcore.mechanisms.law import least
from dpcore.utility.spread import spread_delta

EPSILON, DELTA, ROWS = 0.5, 1e-5, 50  # the setting in which the Johnson-Lindenstrauss mechanism is examined


def _lemma_weight(epsilon_of_a_row: float) -> float:
    """Return w = 4 log(2 / delta_0) / epsilon_0 of Lemma 1, with delta_0 = delta / 2r."""
    return 4 * math.log(4 * ROWS / DELTA) / epsilon_of_a_row


def weight_of_the_box() -> Evidence:
    """Compute the exact delta of the Johnson-Lindenstrauss mechanism with the weight of its box, and the least weight."""
    log_two, log_rows = math.log(2 / DELTA), math.log(4 * ROWS / DELTA)
    inside = math.sqrt(32 * ROWS * log_two * log_rows) / EPSILON
    outside = math.sqrt(32 * ROWS * log_two) * log_rows / EPSILON
    by_lemma = _lemma_weight(EPSILON / math.sqrt(4 * ROWS * log_two))
    true, enough = _delta_of_weight(inside), least(lambda weight: _delta_of_weight(weight) <= DELTA, 1.0, inside)
    return Evidence.of(
        f"With ε = 0.5, δ = 1e-5 and r = 50 the text's choice needs w = {by_lemma:.1f} by Lemma 1. The box has {inside:.1f} as printed and "
        f"{outside:.1f} with log(4r/δ) outside the root. Neither follows from the lemma, and both are safe: by the distribution of "
        f"the rows, w = {inside:.1f} has δ = {nearest(true, 2)}, and w = {enough:.1f} is enough.",
        PrintedClaim("δ at ε = 0.5 of 50 rows with the weight of the box", DELTA, true, AT_MOST, "upper"),
        PrintedClaim("weight w of the box as it stands, and by Lemma 1", inside, by_lemma, BESIDE),
    )


def _delta_of_weight(weight: float) -> float:
    """Return delta of all rows: every row is normal, and one edge widens it by at most the factor 1 + 2 / w."""
    return spread_delta(ROWS, 2 / weight, EPSILON)


def weight_of_the_text() -> Evidence:
    """Evaluate the bound on the weight in the last display."""
    log_term, log_rows = math.log(math.e + 2 * EPSILON / DELTA), math.log(4 * ROWS / DELTA)
    printed = 4 * math.sqrt(4 * ROWS * log_term * log_rows) / EPSILON
    by_choice = _lemma_weight(EPSILON / math.sqrt(4 * ROWS * log_term))
    return Evidence.of(
        f"With ε = 0.5, δ = 1e-5 and r = 50 the display bounds w by {printed:.1f}; the choice before it gives {by_choice:.1f}.",
        PrintedClaim("weight w for ε = 0.5, δ = 1e-5, r = 50", printed, by_choice, AT_MOST),
    )


def _true_delta(epsilon: float, delta: float) -> float:
    """Return the true delta of the least noise that meets both printed conditions, for one query with sensitivity 1."""
    variance = max(4 / epsilon**2 * math.log(math.e + epsilon / delta), 1 / (4 * epsilon))
    return float(parse(f"gaussian({math.sqrt(variance)!r})").delta(epsilon))


def _edge(delta: float) -> float:
    """Return the epsilon above which the printed conditions miss this delta."""

    def misses(epsilon: float) -> bool:
        return _true_delta(epsilon, delta) > delta

    return least(misses, 20.0, 60.0)


def variance_for_many_queries() -> Evidence:
    """Compute the true delta of noise that meets both printed conditions, and above which epsilon it is too large."""
    settings = ((60.0, 0.1), (60.0, 1e-5))
    true = [_true_delta(epsilon, delta) for epsilon, delta in settings]
    edges = [_edge(delta) for _, delta in settings]
    mended = max(4 / 60**2 * math.log(math.e + 600), 2 / 60)
    corrected = float(parse(f"gaussian({math.sqrt(mended)!r})").delta(60.0))
    return Evidence.of(
        f"For one query with Δ = 1 at ε = 60 the smallest noise that meets both conditions has a true δ of {true[0]:.4f} instead of the "
        f"required 0.1; with 2kΔ²/ε it is {nearest(corrected, 2)}. It misses δ = 0.1 from ε = {edges[0]:.1f}, and δ = 1e-5 from ε = {edges[1]:.1f}.",
        *(
            PrintedClaim(f"δ at ε = {nearest(epsilon)} of the noise for δ = {nearest(delta)}", delta, reached, AT_MOST)
            for (epsilon, delta), reached in zip(settings, true, strict=True)
        ),
    )


def exponent_of_a_tail() -> Evidence:
    """Evaluate the inequality after (24) at x = epsilon = 1, lambda = 1."""
    left, right = 1 - math.exp(-1.0), math.exp(-2 * math.log(2))
    return Evidence.of(
        f"At x = ε = 1 and λ = 1 the left side is {left:.4f} and the right side {right:.4f}; with e^(ε-x) the left side is 0.",
        PrintedClaim("left side at x = ε = 1, λ = 1", right, left, AT_MOST),
    )

"""Evidence about the supplement of the optimal composition theorem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from dpcore.errata.claims import AT_MOST, Claim, found
from dpcore.language import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.errata.claims import Found

EPSILON, DELTA, ROWS = 0.5, 1e-5, 50  # the setting in which the Johnson-Lindenstrauss mechanism is examined


def _needed_weight(epsilon_of_a_row: float) -> float:
    """Return w = 4 log(2 / delta_0) / epsilon_0 of Lemma 1, with delta_0 = delta / 2r."""
    return 4 * math.log(4 * ROWS / DELTA) / epsilon_of_a_row


def weight_of_the_box() -> Found:
    """Compose the rows of the Johnson-Lindenstrauss mechanism with the weight of its box."""
    log_two, log_rows = math.log(2 / DELTA), math.log(4 * ROWS / DELTA)
    inside = math.sqrt(32 * ROWS * log_two * log_rows) / EPSILON
    outside = math.sqrt(32 * ROWS * log_two) * log_rows / EPSILON
    needed = _needed_weight(EPSILON / math.sqrt(4 * ROWS * log_two))
    small, large = (_total(4 * log_rows / weight) for weight in (outside, inside))
    return found(
        f"With ε = 0.5, δ = 1e-5 and r = 50 the text's choice needs w = {needed:.1f}. The box, read as it stands, has {inside:.1f}, "
        f"and by the optimal composition 50 rows then reach ε = {large:.4f}. With log(4r/δ) outside the root it would have "
        f"{outside:.1f} and reach {small:.4f}: enough, but not by the theorem that the text applies.",
        Claim("total ε of 50 rows with the weight of the box", EPSILON, large, AT_MOST),
        Claim("weight w for ε = 0.5, δ = 1e-5, r = 50", inside, needed),
    )


def _total(each: float) -> float:
    """Return epsilon at delta of all rows by the optimal composition."""
    return float(parse(f"dp({each!r}, {DELTA / (2 * ROWS)!r})^{ROWS}").epsilon(DELTA))


def weight_of_the_text() -> Found:
    """Evaluate the bound on the weight in the last display."""
    log_term, log_rows = math.log(math.e + 2 * EPSILON / DELTA), math.log(4 * ROWS / DELTA)
    printed = 4 * math.sqrt(4 * ROWS * log_term * log_rows) / EPSILON
    needed = _needed_weight(EPSILON / math.sqrt(4 * ROWS * log_term))
    return found(
        f"With ε = 0.5, δ = 1e-5 and r = 50 the display bounds w by {printed:.1f}; the choice before it gives {needed:.1f}.",
        Claim("weight w for ε = 0.5, δ = 1e-5, r = 50", printed, needed, AT_MOST),
    )


def variance_for_many_queries() -> Found:
    """Compute the true delta of noise that meets both printed conditions."""
    epsilon, delta = 60.0, 0.1
    first = 4 / epsilon**2 * math.log(math.e + epsilon / delta)
    variance = max(first, 1 / (4 * epsilon))
    true = float(parse(f"gaussian({math.sqrt(variance)!r})").delta(epsilon))
    mended = max(first, 2 / epsilon)
    held = float(parse(f"gaussian({math.sqrt(mended)!r})").delta(epsilon))
    return found(
        f"For one query with Δ = 1, ε = 60, δ = 0.1 both conditions hold at σ² = {variance:.6f}, and the true δ is {true:.4f}; with "
        f"2kΔ²/ε it is {held:.2g}.",
        Claim("δ at ε = 60 of the noise for δ = 0.1", delta, true, AT_MOST),
    )


def exponent_of_a_tail() -> Found:
    """Evaluate the inequality after (24) at x = epsilon = 1, lambda = 1."""
    left, right = 1 - math.exp(-1.0), math.exp(-2 * math.log(2))
    return found(
        f"At x = ε = 1 and λ = 1 the left side is {left:.4f} and the right side {right:.4f}; with e^(ε-x) the left side is 0.",
        Claim("left side at x = ε = 1, λ = 1", right, left, AT_MOST),
    )


EVIDENCE: Final[dict[str, Callable[[], Found]]] = {
    made.__name__: made
    for made in (weight_of_the_box, weight_of_the_text, variance_for_many_queries, exponent_of_a_tail)
}

"""Evidence about the course on differential privacy for machine learning."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.errata.claims import AT_LEAST, BESIDE, Claim, found
from dpcore.language import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.errata.claims import Found


def response_estimator() -> Found:
    """Take the expectation of the printed estimator over both answers."""
    theta, nu = 0.3, 0.5
    rate = (1 - nu) / 2 + nu * theta
    printed, right = rate / nu**2 - (1 - nu) / (2 * nu), rate / nu - (1 - nu) / (2 * nu)
    return found(
        f"With θ = 0.3 and ν = 0.5 the printed estimator has the expectation {printed:.4g}; with 1/(nν) it is {right:.4g}.",
        Claim("expectation of an unbiased estimator of θ = 0.3", printed, theta),
    )


def one_sided_supremum() -> Found:
    """Compare the largest log likelihood ratio with the largest absolute one."""
    p, q = np.array([0.9, 0.1]), np.array([0.5, 0.5])
    loss = np.log(p / q)
    norm, one_sided = float(np.abs(loss).max()), float(loss.max())
    other = float(parse("pmf([0.5, 0.5], [0.9, 0.1])").pair.delta_bounds(np.array([one_sided]))[1][0])
    return found(
        f"For p = (0.9, 0.1) and q = (0.5, 0.5) the norm is {norm:.4f}, the divergence D∞(p‖q) is {one_sided:.4f}: beyond it the "
        f"profile of this direction is {abs(other):.1g}.",
        Claim("D∞ of (0.9, 0.1) from (0.5, 0.5)", norm, one_sided),
    )


def least_error_of_a_mean() -> Found:
    """Put the printed lower bound beside the sharper one for a single record."""
    epsilon = 0.05
    printed, sharp = 1 / (68 * epsilon**2), 1 / (4 * math.sinh(epsilon / 2) ** 2)
    response = math.exp(epsilon) / math.expm1(epsilon) ** 2
    return found(
        f"For one record in [0, 1] and ε = 0.05 the proof would need {math.ceil(1 / (2 * epsilon))} records; the bound {printed:.4g} "
        f"is true nevertheless, because every unbiased private mechanism has mean squared error at least {sharp:.6g}, which "
        f"debiased randomized response attains ({response:.6g}).",
        Claim("least mean squared error, n = 1, ε = 0.05", printed, sharp, BESIDE),
        Claim("mean squared error of debiased randomized response", printed, response, AT_LEAST),
    )


EVIDENCE: Final[dict[str, Callable[[], Found]]] = {
    made.__name__: made for made in (response_estimator, one_sided_supremum, least_error_of_a_mean)
}

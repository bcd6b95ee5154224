"""Evidence about the course on differential privacy for machine learning."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtrc

from dpcore.core.numerals import nearest
from dpcore.labs.errata.claims import AT_LEAST, BESIDE, Evidence, PrintedClaim
from dpcore.language import parse


def response_estimator() -> Evidence:
    """Take the expectation of the printed estimator over both answers."""
    theta, nu = 0.3, 0.5
    rate = (1 - nu) / 2 + nu * theta
    printed, right = rate / nu**2 - (1 - nu) / (2 * nu), rate / nu - (1 - nu) / (2 * nu)
    return Evidence.of(
        f"With θ = 0.3 and ν = 0.5 the printed estimator has expectation {nearest(printed, 4)}; with 1/(nν) it is {nearest(right, 4)}.",
        PrintedClaim("expectation of an unbiased estimator of θ = 0.3", printed, theta),
    )


def one_sided_supremum() -> Evidence:
    """Compare the largest log likelihood ratio with the largest absolute one."""
    p, q = np.array([0.9, 0.1]), np.array([0.5, 0.5])
    loss = np.log(p / q)
    norm, one_sided = float(np.abs(loss).max()), float(loss.max())
    other = float(parse("pmf([0.5, 0.5], [0.9, 0.1])").pair.delta_bounds(np.array([one_sided]))[1][0])
    return Evidence.of(
        f"For p = (0.9, 0.1) and q = (0.5, 0.5) the norm is {norm:.4f}, the divergence D∞(p‖q) is {one_sided:.4f}: beyond it the "
        f"profile of this direction is {nearest(abs(other), 1)}.",
        PrintedClaim("norm of the log ratio of (0.9, 0.1) and (0.5, 0.5), and D∞", norm, one_sided, BESIDE),
    )


def least_error_of_a_mean() -> Evidence:
    """Compare the printed lower bound with the sharper one for a single record."""
    epsilon = 0.05
    printed, sharp = 1 / (68 * epsilon**2), 1 / (4 * math.sinh(epsilon / 2) ** 2)
    response = math.exp(epsilon) / math.expm1(epsilon) ** 2
    return Evidence.of(
        f"For one record in [0, 1] and ε = 0.05 the proof would need {math.ceil(1 / (2 * epsilon))} records. The bound {nearest(printed, 4)} "
        f"is still true, because every unbiased private mechanism has mean squared error at least {nearest(sharp)}, which "
        f"debiased randomized response attains ({nearest(response)}).",
        PrintedClaim("least mean squared error, n = 1, ε = 0.05", printed, sharp, BESIDE),
        PrintedClaim("mean squared error of debiased randomized response", printed, response, AT_LEAST),
    )


def only_when() -> Evidence:
    """Compute the probability that a sample is off by the square root of n, and by Hoeffding's bound."""
    n = 1001
    risks = [2 * float(bdtrc(math.ceil(n / 2 + t * math.sqrt(n)) - 1, n, 0.5)) for t in (1.0, 1.36)]
    return Evidence.of(
        f"For n = 1001 and two equally likely answers the sum is off by √n or more with probability {risks[0]:.4f}, already below 0.05; by "
        f"1.36√n or more with {risks[1]:.4f}.",
        PrintedClaim("probability that |s - n/2| ≥ √n, n = 1001, compared with 5 of 100", 0.05, risks[0], BESIDE),
    )


def histogram_of_nothing() -> Evidence:
    """Compute the probability that all noisy counts of one record in ten bins become 0."""
    epsilon, bins = 0.1, 10
    empty = 0.5 * math.exp(-epsilon / 2) * 0.5 ** (bins - 1)
    return Evidence.of(
        f"For one record in 10 bins and ε = 0.1 all noisy counts become 0 with probability {empty:.6f}, and then the code divides 0 by 0.",
        PrintedClaim("chance that the histogram is not defined", 0.0, empty, BESIDE),
    )


def one_inequality() -> Evidence:
    """Take the largest log ratio of one pair in both directions."""
    with np.errstate(divide="ignore"):
        forward, backward = (
            float(np.max(np.log(np.array(a) / np.array(b)))) for a, b in (((1, 0), (0.5, 0.5)), ((0.5, 0.5), (1, 0)))
        )
    return Evidence.of(
        f"For the outputs (1, 0) and (1/2, 1/2) the pure inequality holds with ε = {forward:.4f} in one direction and with no ε in the "
        f"other ({nearest(backward)}).",
        PrintedClaim("least ε of the two directions of one pair", backward, forward, BESIDE),
    )

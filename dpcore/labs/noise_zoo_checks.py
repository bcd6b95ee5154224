"""Printed against true for the noise zoo at fixed parameters: Figure 4.1, distances of two normal laws, Laplace noise."""

from __future__ import annotations

import math

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.labs import noise_zoo as zoo
from dpcore.labs.base import LabCheck
from dpcore.mechanisms.gaussian import Gaussian
from dpcore.mechanisms.laplace import Laplace
from dpcore.mechanisms.laplace_sum import LaplaceSum
from dpcore.mechanisms.normal_laplace import NormalLaplace
from dpcore.words import outward


def fixed_checks() -> tuple[LabCheck, ...]:
    """Return all rows that have no parameters."""
    return (*_figure(), *_mixed(), *_distances(), *_laplace())


def _figure() -> list[LabCheck]:
    """Return the densities of Figure 4.1: sigma 1, scale 2."""
    mixed = NormalLaplace(1.0, 2.0)
    why = "The two halves are a mixture (printed as a sum U- + U+); the convolution integral gives the same."
    rows = [
        LabCheck("(4.8), Figure 4.1", f"normal-Laplace density at {x}, σ = 1, scale 2", "", value, "holds", why)
        for x, value in zip((0, 1, 3), mixed.density(np.array([0.0, 1.0, 3.0])).tolist(), strict=True)
    ]
    overlays = (("Laplace", Laplace(1 / math.sqrt(4.5))), ("normal", Gaussian(3.0)))
    why = "Variance 9, as the sum has: 1 + 2 * 4."
    for name, noise in overlays:
        value = float(noise.density(np.zeros(1))[0])
        rows.append(LabCheck("Figure 4.1", f"{name} density at 0, variance 9", "", value, "holds", why))
    return rows


def _mixed() -> list[LabCheck]:
    one, more = Laplace(0.5), NormalLaplace(1.0, 2.0)
    words = "no improvement on one noise"
    alone = (one.total_variation, float(one.delta(0.25)))
    why = [f"The Laplace noise of scale 2 alone gives {nearest(value)}." for value in alone]
    rows = [
        LabCheck(
            "Fallacy 4.5.10",
            "total variation of normal-Laplace noise, σ = 1, scale 2",
            words,
            more.total_variation,
            "false",
            why[0],
            row="more-noise-helps",
        ),
        LabCheck(
            "Fallacy 4.5.10",
            "δ of normal-Laplace noise at ε = 0.25, σ = 1, scale 2",
            words,
            float(more.delta(0.25)),
            "false",
            why[1],
            row="more-noise-helps",
        ),
    ]
    reached = "The loss rises to sensitivity / scale and stays below it."
    place, what = "Example 4.5.8", "largest loss of Laplace + Laplace noise, ε = ε' = 1"
    largest = LaplaceSum(1.0).curve.max_loss
    rows.append(LabCheck(place, what, "min(ε, ε')", largest, "holds", reached))
    return rows


def _distances() -> list[LabCheck]:
    """Return the distances of two normal laws."""
    wrong = "The factor is 2 and the distance is counted in standard deviations, 2 Phi(d/2 σ) - 1."
    rows = [
        LabCheck(
            "Example 2.3.7",
            f"total variation of two normal laws 1 apart, σ = {nearest(sigma)}",
            zoo.printed_total_variation(1.0, sigma),
            zoo.normal_total_variation(1.0, sigma),
            "false",
            wrong,
            row="variation-of-normals",
        )
        for sigma in (1.0, 2.0)
    ]
    noise = Gaussian(1.0)
    closed = "Closed form, order d^2 / (2 σ^2)."
    for order, printed in ((1.0, 0.5), (2.0, 1.0)):
        what = f"Rényi divergence of order {nearest(order)} of two normal laws 1 apart, σ = 1"
        rows.append(LabCheck("Example 2.3.7", what, printed, zoo.renyi(noise, order)[0], "holds", closed))
    rows.append(
        LabCheck(
            "(2.6b)",
            "Rényi divergence of order 1/2 of two normal laws 1 apart, σ = 1",
            "at least 0.5",
            -2.0 * math.log(math.exp(-1 / 8)),  # -2 log of the overlap, the integral of the root of both densities
            "false",
            "Rényi divergences grow with the order, so Kullback-Leibler (order 1, 0.5 here) is a lower bound from order 1 on "
            "only; printed for every order above 0.",
            row="order-of-divergences",
        )
    )
    bound = math.sqrt(0.5 / 2)
    why = "Pinsker's inequality."
    rows.append(
        LabCheck("(2.6a)", "total variation of two normal laws 1 apart", f"at most {outward(bound, 6)}", noise.total_variation, "holds",
                 why)
    )  # fmt: skip
    return rows


def _laplace() -> list[LabCheck]:
    """Return the trade-off of the Laplace mechanism at epsilon 1 and a misprint of its characteristic function."""
    noise = Laplace(1.0)
    why = "Theorem 4.3.1 holds, and the region lies inside that of ε-DP without filling it."
    rows = []
    for alpha in (0.05, 0.1, 0.2, 0.5):
        least = max(1 - math.e * alpha, (1 - alpha) / math.e)
        what = f"false negatives at false positives {nearest(alpha)}, Laplace noise, ε = 1"
        words = f"at least {outward(least, 6, up=False)}"
        value = float(noise.beta(alpha))
        rows.append(LabCheck("Theorem 4.3.1", what, words, value, "holds", why))
    rows.append(
        LabCheck(
            "Definition 2.2.2",
            "total mass of the density in the characteristic function, scale 2",
            0.25,
            1.0,
            "reading",
            "exp(-|x - mu| b) has to be exp(-|x - mu| / b); as it stands the mass is 1/b^2.",
            row="characteristic-function",
        )
    )
    return rows

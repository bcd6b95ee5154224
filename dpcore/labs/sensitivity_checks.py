"""Printed sensitivities of fixed examples beside the true ones: the rows that have no parameters."""

from __future__ import annotations

import math

from dpcore.core.numerals import nearest
from dpcore.labs import sensitivity_smooth as smooth
from dpcore.labs import sensitivity_weighted as weighted
from dpcore.labs.base import LabCheck
from dpcore.labs.sensitivity import (
    kept_divisor_variance,
    largest,
    leave_one_out,
    local,
    printed_global_mean,
    printed_leave_one_out,
    printed_local_variance,
    printed_variance_query,
    variance_query,
)

_SKEWED = (100.0, 1.0, 2.0, 3.0, 4.0, 5.0)
_THREE = (0.25, 0.5, 0.5)
_RANK = 6  # of the median of 11 records
_SECOND = (0.0,) * (_RANK + 1) + (1.0,) * (10 - _RANK)  # Dataset 2 of Example 5.2.1 on [0, 1]


def fixed_checks() -> tuple[LabCheck, ...]:
    """Return all rows of fixed examples."""
    return (*_weighted(), *_smooth(), *_plain())


def _weighted() -> tuple[LabCheck, ...]:
    return (
        LabCheck(
            "Example 5.2.19",
            "least b with δ ≤ 0.1 at ε = 15, from the printed (5.10)",
            0.45,
            weighted.private_weight(15.0, 0.1, printed=True),
            "loose",
            "Solved in closed form; 0.45 was read off a figure as an approximation, and δ there is 0.1507.",
        ),
        LabCheck(
            "Example 5.2.19",
            "least b with δ ≤ 0.1 at ε = 10",
            weighted.private_weight(10.0, 0.1, printed=True),
            weighted.private_weight(10.0, 0.1),
            "loose",
            "By the printed bound no b below 1/2, the largest that saves noise, would be left; by the exact δ many are.",
            kind="upper",
        ),
        LabCheck(
            "(5.14)",
            "noise variance of Candidate 2: ε = 1, b = 1/2, local 1, ξ uniform on [1, 2]",
            weighted.printed_blurred_variance(1.0, 0.5, 1.0, 1.5, 1 / 12),
            weighted.blurred_variance(1.0, 0.5, 1.0, 1.5, 1 / 12),
            "false",
            "Var(XZ) = 2 (Var X + (E X)²) for independent X and Laplace(1); the factor a² was drawn before both terms.",
            row="variance-of-candidate-2",
        ),
        LabCheck(
            "Definition 5.2.16 and Candidate 2",
            "noise scale over the least allowed one, ξ a fifth of the local sensitivity, b = 1/10",
            "ξ is a nonnegative random variable",
            weighted.blurred_room(0.1, 1.0, 0.2),
            "false",
            "Condition 1 asks for a ratio above 1, so ξ must not fall below the local sensitivity.",
            row="blur-too-small",
        ),
        LabCheck(
            "Theorem 5.2.17 with Candidate 2",
            "δ at ε = 2, ξ a fifth of the global sensitivity, b = 1/10",
            weighted.printed_blurred_delta(2.0, 0.1, 0.2),
            weighted.blurred_delta(2.0, 0.1, 0.2),
            "false",
            "Two data sets of the largest local sensitivity, answers apart by it: the noise is too narrow for the move.",
            kind="lower",
            row="blur-too-small",
        ),
    )


def _smooth() -> tuple[LabCheck, ...]:
    printed, right = smooth.printed_gaussian_beta(0.5, 1e-5), smooth.gaussian_beta(0.5, 1e-5)
    alone = smooth.dilation(5.0, smooth.laplace_beta(10.0, 0.1))
    return (
        LabCheck(
            "Section 5.2.1, Gaussian noise",
            "δ of the dilation (5.4) with the printed β, ε = 0.5, δ = 1e-5",
            5e-6,
            smooth.dilation(0.25, printed, gaussian=True),
            "loose",
            f"β = ε/(4(1 + ln(2/δ))) makes it {nearest(smooth.dilation(0.25, right, gaussian=True), 2)}; the source states no proof, and the "
            "whole mechanism kept its δ wherever it was tried.",
            row="dilation-of-the-normal",
        ),
        LabCheck(
            "Example 5.2.6 used at ε = 10",
            "δ of the dilation of Laplace noise, δ' = 0.1",
            0.05,
            alone,
            "loose",
            "The inequality is stated for ε below 1 and used for 10 and 15, where it fails; the δ of the noise used is smaller.",
            row="dilation-beyond-one",
        ),
        LabCheck(
            "Remark 5.2.8",
            "δ of Laplace noise by smooth sensitivity, ε = 1, δ' = 0.01: a bound",
            "the original bound δ' is clearly incorrect",
            0.005,
            "loose",
            "Stated for every admissible noise. For Laplace noise the bound does hold: widen first, then move; the move costs no "
            "δ, so even δ'/2 is enough.",
            kind="upper",
        ),
        LabCheck(
            "Lemma 5.2.4, proof",
            "least ratio of the smooth sensitivities of neighbours, β = 0.3",
            math.exp(0.3),
            math.exp(-0.3),
            "misprint",
            "d(y, x̃) is at most d(x, x̃) + 1, printed with - 1; the lemma itself is right.",
            row="smooth-sign",
        ),
        LabCheck(
            "Section 5.2.1, heavy tails",
            "largest loss of the noise 1/(1 + z²), asked for ε = 1",
            1.0,
            smooth.heavy_loss(1.0, 2.0),
            "loose",
            "Slope of log(1 + z²) at most 1, dilation at most β = ε/6: pure privacy holds with a third of ε.",
            kind="upper",
        ),
        LabCheck(
            "Remark 5.2.10",
            "largest ε for δ below 1, δ' = 0.01",
            2 * math.log(200),
            2 * math.log(199),
            "misprint",
            "(δ'/2)(e^(ε/2) + 1) < 1; the 0.01 is δ', not δ.",
            row="limits-of-epsilon",
        ),
        LabCheck(
            "Example 5.2.13",
            "smooth sensitivity of the mean of (0.25, 0.5, 0.5) on [0, 1], β = 0.05",
            smooth.printed_smooth_mean(_THREE, 0.0, 1.0, 0.05),
            smooth.smooth_mean(_THREE, 0.0, 1.0, 0.05),
            "false",
            "The printed A^(k) is the change of the mean by k records; it exceeds the global sensitivity 1/3.",
            row="smooth-mean",
        ),
        LabCheck(
            "Example 5.2.15",
            "a_(2,1) of Dataset 2, as a share of the range",
            0.0,
            _SECOND[_RANK + 1] - _SECOND[_RANK - 1],
            "false",
            "x_(m+2) is the top and x_m is 0; with 0 the smooth sensitivity of Dataset 2 would be e^-2β, not e^-β.",
            row="smooth-table",
        ),
        LabCheck(
            "Example 5.2.1",
            "δ at any ε of noise by local sensitivity, Dataset 1 against Dataset 2",
            "not differentially private",
            1.0,
            "holds",
            "One answer has no noise at all, the other has.",
        ),
    )


def _plain() -> tuple[LabCheck, ...]:
    return (
        LabCheck(
            "Example 2.1.3",
            "global sensitivity of the mean of 10 records in [-1, 1]",
            printed_global_mean(10, -1.0, 1.0),
            largest("mean", 10, -1.0, 1.0),
            "false",
            "A substituted record moves by the whole range; the printed one depends on where 0 is.",
            row="sensitivity-of-the-mean",
        ),
        LabCheck(
            "Example 2.1.3",
            "least record of the data set that shows the median's global sensitivity, records in [-1, 2]",
            -2.0,
            -1.0,
            "misprint",
            "Five records -Λ₂ and six Λ₁ are outside the range [-Λ₁, Λ₂] unless both are equal; five -Λ₁ and six Λ₂ are "
            "meant, and there the median moves by Λ₁ + Λ₂.",
            row="ends-of-the-range",
        ),
        LabCheck(
            "Example 2.1.4",
            "the variance query at (0.25, 0.5, 0.5)",
            printed_variance_query(_THREE),
            variance_query(_THREE),
            "reading",
            "The square of x - mean is lost; as it stands the query is 0 on all data.",
            row="variance-without-a-square",
        ),
        LabCheck(
            "Example 2.1.4",
            "local sensitivity of the variance of (0.25, 0.5, 0.5), a record dropped, divisor kept",
            printed_local_variance(_THREE),
            kept_divisor_variance(_THREE),
            "false",
            "The squared mean of the others was lost; (x - m)²/n with the true mean m of the others.",
            row="sensitivity-of-the-variance",
        ),
        LabCheck(
            "Example 2.1.4",
            "global sensitivity of the variance of 4 records in [0, 1]",
            "proportional to Λ²/n",
            largest("variance", 4, 0.0, 1.0),
            "holds",
            "It is the squared range over n exactly.",
        ),
        LabCheck(
            "Example 2.1.3",
            "local sensitivity of the median of (1, 2, 4) on [0, 10]",
            2.0,
            local("median", (1.0, 2.0, 4.0), 0.0, 10.0),
            "holds",
            "The larger gap beside the median.",
        ),
        LabCheck(
            "R Code A.0.1",
            "largest change of the mean of (100, 1, 2, 3, 4, 5) when a record is dropped",
            printed_leave_one_out(_SKEWED),
            leave_one_out(_SKEWED),
            "false",
            "The loop 2:n-1 never drops the first and the last record.",
            row="loop-of-the-code",
        ),
    )

r"""The pair (P0, s P1 + (1 - s) P0): the record is in the sample with probability s."""

from __future__ import annotations

import numpy as np

from dpcore.core.lazy import Lazy
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray
from dpcore.curves.combined import LeadingClosure, closed
from dpcore.curves.normal_jumps import JumpTransform
from dpcore.engine.normal_jumps import Jumps
from dpcore.engine.sampled_laplace_mgf import (
    LARGEST_EPSILON,
    SMALLEST_EPSILON,
    SMALLEST_SHARE,
    ClosedSampledLaplaceLoss,
    SampledLaplaceLoss,
)

TALLEST, SHORT = 1e5, -20.0
"""The contour is used if log abs(M) of a product at this height is below: else it needs too many nodes."""


class Subsampled(Curve):
    r"""One direction of subsampling a curve f, or (flipped) the other.

    For e >= 0, with x = log(1 + (e^e - 1)/s) and x' = -log(1 + (e^-e - 1)/s):

    .. math:: \delta(e) = s\,\delta_f(x), \qquad \delta_{inverse}(e) = (1-(1-s)e^{e})_+\,\delta_{f^{-1}}(x').

    Both follow from the loss log(1 - s + s e^L): P1'(S) - e^e P0(S) is s (P1(S) - e^x P0(S)), and P0(S) - e^e P1'(S) is
    (1 - (1-s) e^e) (P0(S) - e^x' P1(S)). All terms are positive. For a symmetric f the first is never the smaller one:
    with u = (e^e - 1)/s and v = (1 - e^-e)/s, 1/v - 1/u = s <= 1 gives (1 + u)(1 - v) <= 1, that is x <= x', and
    1 - (1-s) e^e <= s.
    """

    symmetric = False

    def __init__(self, base: Curve, share: float, *, flipped: bool = False) -> None:
        self.base, self.share, self.flipped = base, share, flipped
        self.exchanged = base.inverse()
        self.exact = base.exact
        top = float(np.logaddexp(np.log1p(-share), np.log(share) + base.max_loss)) if share < 1 else base.max_loss
        bottom = float(np.logaddexp(np.log1p(-share), np.log(share) + base.min_loss)) if share < 1 else base.min_loss
        if base.p_inf > 0 and share < 1:
            bottom = float(np.log1p(-share))
        self.max_loss, self.min_loss = (-bottom, -top) if flipped else (top, bottom)
        q_inf = share * base.q_inf
        p_inf = 0.0 if share < 1 else base.p_inf
        self.q_inf, self.p_inf = (p_inf, q_inf) if flipped else (q_inf, p_inf)
        self.work = 0.2 + base.work
        self.leads = base.symmetric and not flipped
        self.method = "subsampling"

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the profile for any real epsilon: negative ones through the other direction."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        forward = self._forward if not self.flipped else self._backward
        backward = self._backward if not self.flipped else self._forward
        up = forward(np.maximum(epsilon, 0.0))
        if np.all(epsilon >= 0):
            return up
        down = backward(np.maximum(-epsilon, 0.0))
        e = np.minimum(epsilon, 0.0)
        lower, upper = (np.where(epsilon >= 0, u, -np.expm1(e) + np.exp(e) * d) for u, d in zip(up, down, strict=True))
        return lower, upper

    def _forward(self, e: FloatArray) -> Bounds:
        with np.errstate(over="ignore", divide="ignore"):
            growth = np.expm1(np.minimum(e, 600.0))
            ratio = growth / self.share
            far = np.where(e > 600, e, np.log(growth)) - np.log(self.share)
        x = np.where(ratio > 1e250, far, np.log1p(np.minimum(ratio, 1e250)))
        lower, upper = self.base.delta_bounds(x)
        return self.share * lower, self.share * upper

    def _backward(self, e: FloatArray) -> Bounds:
        rest = np.expm1(-e) / self.share
        # 1 - (1 - s) e^e, the weight, vanishes at the largest loss
        end = e + np.log1p(-self.share)
        open_ = end < 0.0
        weight = np.where(open_, -np.expm1(np.where(open_, end, -1.0)), 0.0)
        near = rest > -0.5
        far = e + np.log(self.share) - np.log(np.where(open_ & ~near, weight, 1.0))
        x = np.where(near, -np.log1p(np.where(near, rest, 0.0)), np.where(open_, far, 0.0))
        lower, upper = self.exchanged.delta_bounds(x)
        return weight * lower, weight * upper

    def inverse(self) -> Subsampled:
        """Return the other direction."""
        return self.other

    @Lazy
    def other(self) -> Subsampled:
        """Return the same pair exchanged."""
        return type(self)(self.base, self.share, flipped=not self.flipped)


class SampledGaussian(JumpTransform, Subsampled):
    """Gaussian noise on a Poisson sample: its transform is known."""

    def __init__(self, base: Curve, share: float, *, flipped: bool = False) -> None:
        super().__init__(base, share, flipped=flipped)
        self.jumps = Jumps.single(base.gaussian_mu or 0.0, share)


class SampledLaplace(Subsampled):
    """Laplace noise on a Poisson sample: its transform is known."""

    def __init__(self, base: Curve, share: float, *, flipped: bool = False) -> None:
        super().__init__(base, share, flipped=flipped)
        self.transform = SampledLaplaceLoss(base.laplace_epsilon or 0.0, share)
        self.tallest = self.transform.tallest

    @property
    def has_mgf(self) -> bool:
        """It has."""
        return True

    def _own(self, s: ComplexArray) -> ComplexArray:
        return np.asarray(-1.0 - s if self.flipped else s, dtype=np.complex128)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s); the exchanged pair has M(-1 - s)."""
        return self.transform.log_mgf(self._own(s))

    def cumulants(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M and its derivative on the real axis."""
        value, slope = self.transform.cumulants(-1.0 - c if self.flipped else c)
        return value, -slope if self.flipped else slope

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound by the atoms and the ends of the density."""
        return self.transform.log_decay(-1.0 - c if self.flipped else c, y)

    def mgf_rounding_along(self, s: ComplexArray) -> FloatArray:
        """Return the rounding error at each exponent, in units of 2^-53 M(Re s)."""
        return self.transform.units(self._own(s))

    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """Return the two losses with an atom and their masses under P1, rounded down."""
        law = self.transform
        losses, masses = np.array([law.high, law.low]), np.array([0.5 * np.exp(-law.eps0), 0.5])
        if self.flipped:
            return -losses, masses * (1 - 1e-14)
        return losses, masses * np.exp(losses) * (1 - 1e-14)

    def transform_effort(self, copies: int) -> float:
        """Return the work of the transform, or of the lattice of few copies."""
        return _effort(self, copies)

    def closure(self, method: str) -> SampledLaplaceClosure:
        """Return its symmetric closure, whose transform is known as well."""
        return SampledLaplaceClosure(self, method)


class SampledLaplaceClosure(LeadingClosure):
    """The symmetric closure of Laplace noise on a sample, with its transform."""

    def __init__(self, curve: SampledLaplace, method: str) -> None:
        super().__init__(curve, method)
        self.transform = ClosedSampledLaplaceLoss(curve.transform.eps0, curve.share)
        self.tallest = self.transform.tallest

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s)."""
        return self.transform.log_mgf(s)

    def cumulants(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M and its derivative on the real axis."""
        return self.transform.cumulants(c)

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound by the atoms and the ends of the density."""
        return self.transform.log_decay(c, y)

    def mgf_rounding_along(self, s: ComplexArray) -> FloatArray:
        """Return the rounding error at each exponent, in units of 2^-53 M(Re s)."""
        return self.transform.units(s)

    def transform_effort(self, copies: int) -> float:
        """Return the work of the transform, or of the lattice of few copies."""
        return _effort(self, copies)


def _effort(curve: Curve, copies: int) -> float:
    """Return operations: few if the transform of so many copies fades, those of a lattice otherwise."""
    return 3e6 if copies * curve.log_decay(0.0, min(curve.tallest, TALLEST)) < SHORT else 3e8


def subsampled(base: Curve, share: float) -> Curve:
    """Return the pair (P0, share P1 + (1 - share) P0), by its transform where that is known."""
    if share == 1.0:
        return base
    if base.gaussian_mu is not None:
        return SampledGaussian(base, share)
    epsilon = base.laplace_epsilon
    if epsilon is not None and SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON and share >= SMALLEST_SHARE:
        return SampledLaplace(base, share)
    return Subsampled(base, share)


def closed_sample(curve: Curve, method: str) -> Curve:
    """Return the symmetric closure of a pair on a sample, by its transform where that is known."""
    return curve.closure(method) if isinstance(curve, SampledLaplace) else closed(curve, method)

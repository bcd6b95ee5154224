r"""The pair (P0, s P1 + (1 - s) P0): the record is in the sample with probability s."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.lazy import Lazy
from dpcore.core.rounding import UNIT
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray
from dpcore.curves.combined import LeadingClosure, closed
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.laplace import LaplaceCurve
from dpcore.curves.normal_jumps import JumpTransform
from dpcore.engine.normal_jumps import Jumps
from dpcore.engine.sampled_laplace_mgf import (
    LARGEST_EPSILON,
    SMALLEST_EPSILON,
    SMALLEST_SHARE,
    ClosedSampledLaplaceLoss,
    SampledLaplaceLoss,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

TALLEST, SHORT = 1e5, -20.0
"""The contour is used if log abs(M) of a product at this height is below `SHORT`: else it needs too many nodes."""

_DEEPEST, _CUTS, _ROUNDS = 745.0, 16, 15
"""Range of the logarithm of a rate, pieces of each round of a search, and rounds: down to the rounding of a double."""

_MIRROR_WORK = 30.0  # work of one beta of a closure, measured; see `Curve.work`


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

    def leading_closure(self, method: str) -> LeadingClosure:
        """Return the union with the inverse, with its betas where those of the base are formulas."""
        known = isinstance(self.base, (GaussianCurve, LaplaceCurve))
        return SampledClosure(self, method) if known else LeadingClosure(self, method)

    @Lazy
    def other(self) -> Subsampled:
        """Return the same pair exchanged."""
        return type(self)(self.base, self.share, flipped=not self.flipped)


class SampledClosure(LeadingClosure):
    r"""The symmetric closure of a sample of a symmetric curve f whose betas are a formula.

    The sample alone has the trade-off :math:`f_s(\alpha) = s f(\alpha) + (1-s)(1-\alpha)`. Its slope is -1 where that of f is, at the
    corner :math:`a = f(a)`. Up to there it is the border of the closure, since larger slopes belong to epsilons above 0,
    where the sample's own direction has the larger delta. Then follows the line of slope -1, and after it the mirror
    image: the beta with :math:`1 - \alpha = s (1 - f(\beta)) + (1-s) \beta`, whose right side grows with beta.
    """

    def __init__(self, curve: Subsampled, method: str) -> None:
        super().__init__(curve, method)
        self.base, self.share = curve.base, curve.share

    @property
    def rate_work(self) -> float:
        """Work of one beta: a search on the mirrored side."""
        return _MIRROR_WORK

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the three pieces of the border: the sample's own, the line and the mirror image."""
        a = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
        own = self.base.beta_bounds(a)[0]
        line = (1.0 - self.share) + 2.0 * self.share * self.corner - a
        value = np.where(a <= own, self.share * own + (1.0 - self.share) * (1.0 - a), line)
        # the power at the corner, s (1 - f(a)) + (1 - s) a with f(a) = a, also where that rate is below all doubles
        mirror = (a > own) & (self.share + (1.0 - 2.0 * self.share) * self.corner > 1.0 - a)
        if mirror.any():
            value[mirror] = self._mirrored(1.0 - a[mirror])
        return value, value

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return 1 - beta, with all digits of a small one."""
        a = np.asarray(alpha, dtype=np.float64)
        value = np.where(a <= self.base.beta_bounds(a)[0], self._power(a), 1.0 - self.beta_bounds(a)[0])
        return value, value

    def _power(self, alpha: FloatArray) -> FloatArray:
        return np.asarray(self.share * self.base.power_bounds(alpha)[0] + (1.0 - self.share) * alpha, dtype=np.float64)

    @Lazy
    def corner(self) -> float:
        """Return the rate at which f meets the diagonal."""
        high = np.full(1, np.log(0.5))
        return float(_largest(lambda rate: rate <= self.base.beta_bounds(rate.ravel())[0].reshape(rate.shape), high)[0])

    def _mirrored(self, power: FloatArray) -> FloatArray:
        """Return the largest beta at which the sample's own power does not exceed the one asked for."""
        with np.errstate(divide="ignore"):
            high = np.maximum(np.log(power), -2.0 * _DEEPEST)  # a test finds at least as many as it accuses wrongly
        return _largest(lambda rate: self._power(rate.ravel()).reshape(rate.shape) <= power, high)


def _largest(holds: Callable[[FloatArray], NDArray[np.bool_]], high: FloatArray) -> FloatArray:
    """Return the largest rates, up to e^high, for which something holds that holds for all smaller ones; 0 if for none."""
    low, high = high - _DEEPEST, high.copy()
    for _ in range(_ROUNDS):
        rows = np.linspace(low, high, _CUTS + 1)
        last = np.maximum(np.sum(holds(np.exp(rows)), axis=0) - 1, 0)
        low, high = (np.take_along_axis(rows, np.minimum(last + step, _CUTS)[None], axis=0)[0] for step in (0, 1))
    rate = np.exp(low)
    # what holds for a rate in a row may fail for the same rate alone, by the rounding of the exponential
    below = rate * (1.0 - 2.0**-50 * (2.0 + np.abs(low)))
    return np.asarray(
        np.where(holds(rate[None])[0], rate, np.where(holds(below[None])[0], below, 0.0)), dtype=np.float64
    )


class SampledGaussian(JumpTransform, Subsampled):
    """Gaussian noise on a Poisson sample: its transform is known."""

    def __init__(self, base: Curve, share: float, *, flipped: bool = False) -> None:
        super().__init__(base, share, flipped=flipped)
        self.jumps = Jumps.single(base.gaussian_mu or 0.0, share)


class SampledLaplace(Subsampled):
    """Laplace noise on a Poisson sample: its transform is known."""

    takes_rows = True

    def __init__(self, base: Curve, share: float, *, flipped: bool = False) -> None:
        super().__init__(base, share, flipped=flipped)
        self.transform = SampledLaplaceLoss(base.laplace_epsilon or 0.0, share)
        self.tallest = self.transform.tallest

    @property
    def has_mgf(self) -> bool:
        """True: the transform is known."""
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
        losses, masses = self.transform.atoms()
        if self.flipped:
            return -losses, masses * (1 - 1e-14)
        return losses, _tilted_down(losses, masses)

    @property
    def atom_units(self) -> float:
        """How far below the truth the masses of `atoms` may be, in units of 2^-53."""
        return _down_units(self.transform.atoms()[0])

    def log_atoms(self, s: ComplexArray) -> ComplexArray:
        """Return the logarithm of the transform of the atoms alone."""
        return self.transform.log_atoms(self._own(s))

    def split_decay(self, c: float, y: float) -> tuple[float, float] | None:
        """Return the atoms' share, and a bound of the density's."""
        return self.transform.split_decay(-1.0 - c if self.flipped else c, y)

    def transform_effort(self, copies: int) -> float:
        """Return the work of the transform, or of the lattice of few copies."""
        return _effort(self, copies)

    def closure(self, method: str) -> SampledLaplaceClosure:
        """Return its symmetric closure, whose transform is known as well."""
        return SampledLaplaceClosure(self, method)


class SampledLaplaceClosure(SampledClosure):
    """The symmetric closure of Laplace noise on a sample, with its transform."""

    takes_rows = True

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

    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """Return the three losses with an atom and their masses under P1, rounded down."""
        losses, masses = self.transform.atoms()
        return losses, _tilted_down(losses, masses)

    @property
    def atom_units(self) -> float:
        """How far below the truth the masses of `atoms` may be, in units of 2^-53."""
        return _down_units(self.transform.atoms()[0])

    def log_atoms(self, s: ComplexArray) -> ComplexArray:
        """Return the logarithm of the transform of the atoms alone."""
        return self.transform.log_atoms(s)

    def split_decay(self, c: float, y: float) -> tuple[float, float] | None:
        """Return the atoms' share, and a bound of the density's."""
        return self.transform.split_decay(c, y)

    def transform_effort(self, copies: int) -> float:
        """Return the work of the transform, or of the lattice of few copies."""
        return _effort(self, copies)


def _tilted_down(losses: FloatArray, masses: FloatArray) -> FloatArray:
    """Return the masses under P1 of atoms with these masses under P0, rounded down.

    A loss is the logarithm of a logarithm's argument: three library functions and two operations, 14 units of itself at most; half as
    many units as `_down_units` are more than these and those of the mass.
    """
    return np.asarray(masses * np.exp(losses) * (1.0 - UNIT * (90.0 + 16.0 * np.abs(losses))), dtype=np.float64)


def _down_units(losses: FloatArray) -> float:
    """Return how far below the truth such masses may be, in units of 2^-53."""
    return 2.0 * (90.0 + 16.0 * float(np.abs(losses).max()))


def _effort(curve: Curve, copies: int) -> float:
    """Return the number of operations: few if the transform of that many copies fades, otherwise those of a lattice."""
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

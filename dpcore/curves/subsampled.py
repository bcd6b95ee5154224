r"""The pair (P0, s P1 + (1 - s) P0): the record is in the sample with probability s."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.lazy import Lazy
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray
from dpcore.curves.gaussian import GaussianCurve
from dpcore.engine import mixture_mgf
from dpcore.engine.trimmed_mixture import Trimmed

if TYPE_CHECKING:
    from dpcore.engine.contour_table import Factor


class Subsampled(Curve):
    r"""One direction of subsampling a symmetric curve f, or (flipped) the other.

    For e >= 0, with x = log(1 + (e^e - 1)/s) and x' = -log(1 + (e^-e - 1)/s):

    .. math:: \delta(e) = s\,\delta_f(x), \qquad \delta_{inverse}(e) = (1-(1-s)e^{e})_+\,\delta_f(x').

    Both follow from the loss log(1 - s + s e^L); all terms are positive. For a symmetric f the first is never the smaller one:
    with u = (e^e - 1)/s and v = (1 - e^-e)/s, 1/v - 1/u = s <= 1 gives (1 + u)(1 - v) <= 1, that is x <= x', and
    1 - (1-s) e^e <= s.
    """

    symmetric = False
    takes_rows = True

    def __init__(self, base: Curve, share: float, *, flipped: bool = False) -> None:
        self.base, self.share, self.flipped = base, share, flipped
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
        lower, upper = self.base.delta_bounds(x)
        return weight * lower, weight * upper

    def inverse(self) -> Subsampled:
        """Return the other direction."""
        return self.other

    @Lazy
    def other(self) -> Subsampled:
        """Return the same pair exchanged."""
        return Subsampled(self.base, self.share, flipped=not self.flipped)

    @property
    def has_mgf(self) -> bool:
        """Whether the base is Gaussian, with a mu for which its transform is known."""
        if not isinstance(self.base, GaussianCurve) or self.share >= 1:
            return False
        return mixture_mgf.has_transform(self.base.mu, self.share)

    @property
    def loss_scale(self) -> float:
        """Return the order of magnitude of the loss of a Gaussian base: its deviation, to first order in the share."""
        if not isinstance(self.base, GaussianCurve):
            return 0.0
        mu = self.base.mu
        return min(self.share * float(np.sqrt(np.expm1(min(mu * mu, 100.0)))), mu)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s) of a Gaussian base; the exchanged pair has M(-1 - s)."""
        if not isinstance(self.base, GaussianCurve):
            return super().log_mgf(s)
        return mixture_mgf.log_mgf(-1.0 - s if self.flipped else s, self.base.mu, self.share)

    def cumulants(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M and its derivative on the real axis; of the exchanged pair those of M(-1 - c)."""
        if not isinstance(self.base, GaussianCurve):
            raise NotImplementedError
        if not self.flipped:
            return mixture_mgf.cumulants(c, self.base.mu, self.share)
        value, slope = mixture_mgf.cumulants(-1.0 - c, self.base.mu, self.share)
        return value, -slope

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound by paths off the real axis."""
        if not isinstance(self.base, GaussianCurve):
            return 0.0
        return mixture_mgf.log_decay(-1.0 - c if self.flipped else c, y, self.base.mu, self.share)

    @property
    def has_far_jumps(self) -> bool:
        """Whether the record is sampled rarely but reveals much when it is."""
        return not self.flipped and self.has_mgf

    def transform_effort(self, copies: int) -> float:
        """Return the work of the transform: a few rare samples make a law too irregular for a short line."""
        return 3e6 if self.share >= 2e-3 and copies * self.share >= 1.0 else 2e9

    def trimmed(self, mass: float) -> Factor:
        """Return the pair with its far jumps, at most `mass` of P1, removed from the finite losses."""
        if not self.has_far_jumps or not isinstance(self.base, GaussianCurve):
            return self
        return Trimmed(self.base.mu, self.share, mass)

    @property
    def mgf_rounding(self) -> float:
        """Rounding error of the quadrature, in units of 2^-53 M(Re s)."""
        return mixture_mgf.ROUNDING

    def mgf_rounding_at(self, c: FloatArray) -> FloatArray:
        """Return the same at Re s = c."""
        mu = self.base.mu if isinstance(self.base, GaussianCurve) else 0.0
        return mixture_mgf.rounding(-1.0 - c if self.flipped else c, mu)

"""A subsampled Gaussian pair without its rare far jumps, which a soft cut removes from the finite losses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scipy.special import ndtr

from dpcore.engine.mixture_mgf import ROUNDING, TAPER, cumulants, log_decay, log_mgf, rounding

if TYPE_CHECKING:
    from dpcore.engine.mixture_mgf import ComplexArray, FloatArray


def trimmed_mass(mu: float, q: float, cut: float) -> tuple[float, float]:
    """Return the masses that a cut removes from P0 and from P1: Phi of a normal x widened by the taper."""
    wide = math.hypot(1.0, TAPER)
    p, moved = float(ndtr(-cut / wide)), float(ndtr((mu - cut) / wide))
    return p, (1.0 - q) * p + q * moved


class Trimmed:
    r"""A subsampled Gaussian pair whose far jumps, at most a mass of P1, count as infinite losses; a `Factor`.

    Removing mass from both sides lowers delta by at most the mass removed from P1, and counting it as infinite loss raises
    delta by at most that: k copies bracket the true product within 1 - (1 - mass)^k.
    """

    mgf_rounding = ROUNDING
    takes_rows = True

    def __init__(self, mu: float, share: float, mass: float) -> None:
        self.mu, self.share = mu, share
        low, high = 0.0, 60.0 + mu
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if trimmed_mass(mu, share, middle)[1] > mass else (low, middle)
        self.cut = high
        self.p_inf, self.q_inf = trimmed_mass(mu, share, high)
        self.max_loss, self.min_loss = math.inf, math.log1p(-share)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s) of the remaining losses."""
        return log_mgf(s, self.mu, self.share, self.cut)

    def cumulants(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M and its derivative on the real axis."""
        return cumulants(c, self.mu, self.share, self.cut)

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound by paths off the real axis."""
        return log_decay(c, y, self.mu, self.share, self.cut)

    def mgf_rounding_at(self, c: FloatArray) -> FloatArray:
        """Return the rounding error of M at Re s = c, in units of 2^-53 M(c)."""
        return rounding(c, self.mu)

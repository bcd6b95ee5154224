"""A Gaussian pair with random moves without its rare far jumps, in both directions: these count as infinite losses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from dpcore.engine import mixture_mgf, mixture_rounding
from dpcore.engine.cut_normal import LOWEST, CutNormal

if TYPE_CHECKING:
    from dpcore.engine.mixture_mgf import ComplexArray, FloatArray
    from dpcore.engine.normal_jumps import Jumps


_FAR = np.geomspace(0.1, 60.0, 40)  # -1 - c times the loss at the cut, for the sums of jumps beyond it
_LARGEST = 600.0  # epsilon: e^600 times the smallest mass, 1e-300, is below `_BELOW`
_NO_LOSS = 1e-290  # smallest loss at the cut: the exponents, at most 60/loss, stay doubles
_BELOW = 1e-27  # bound of the mass of a normal variable below `LOWEST`, under both laws


class Trimmed(CutNormal):
    r"""The losses log r(x) up to a cut; at most a mass of P1 lies beyond and counts as infinite; a `Factor`.

    Removing mass from both sides lowers delta by at most the mass removed from P1, and counting it as infinite loss raises
    delta by at most that: k copies bracket the true product within 1 - (1 - mass)^k.
    """

    def __init__(self, law: Jumps, mass: float) -> None:
        low, high = 0.0, 60.0 + law.largest
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if law.mass_above(middle, 1.0)[1] > mass else (low, middle)
        super().__init__(high, law.largest, 1.0)
        self.law = law
        below = float(ndtr(LOWEST))
        p_inf, q_inf = law.mass_above(high, 1.0)
        self.p_inf, self.q_inf = p_inf + below, q_inf + below + law.lost
        # the contour counts the rounding of y times a finite largest loss, which the path of this transform does not have
        self.max_loss, self.min_loss = math.inf, law.least_log

    def far(self, epsilon: FloatArray, copies: int) -> tuple[FloatArray, FloatArray]:
        r"""Return bounds of how far k copies with a jump beyond the cut fall short of an infinite loss at each epsilon.

        Let F be the transform of the jumps beyond the cut b alone, and :math:`R=M^k-(M-F)^k` that of all sums with such a jump. As
        infinite losses they add R(0). Their actual part of delta is :math:`R(0)-e^\varepsilon R(-1)`, plus the kernel N
        of those with a sum below epsilon: at most :math:`\kappa(c)R(c)e^{-c\varepsilon}` for every c < -1
        (`contour_table`), where :math:`R(c)\le kF(c)M(c)^{k-1}` and :math:`F(c)\le r(b)^{c+1}P_0(x>b)`.
        """
        law, k = self.law, copies
        loss = float(law.log_ratio(np.array([self.high]))[0])
        known = epsilon < _LARGEST
        if loss <= _NO_LOSS or not known.any():  # no loss is left: all are below doubles
            return np.full(epsilon.size, -math.inf), np.full(epsilon.size, math.inf)
        at = np.minimum(epsilon, _LARGEST)
        beyond = max(law.mass_above(self.high, 1.0)[0], 1e-300)
        lack = np.exp(at) * -math.expm1(k * math.log1p(-beyond))
        power = _FAR / loss
        c = -1.0 - power
        log_kappa = -np.log1p(power) - power * np.log1p(
            1.0 / power
        )  # p log p - (1 + p) log(1 + p) without its cancellation
        bound = log_kappa + math.log(k * beyond) - power * loss + (k - 1) * mixture_mgf.cumulants(c, law)[0]
        usable = np.isfinite(bound)
        least = np.full(epsilon.size, -math.inf)
        slack = 1e-12 * lack + k * _BELOW
        if usable.any():
            log_below = (bound[usable, None] - np.multiply.outer(c[usable], at)).min(axis=0)
            least = np.where(
                log_below < 700.0, lack - np.exp(np.minimum(log_below, 700.0)) * (1.0 + 1e-6) - slack, least
            )
        return np.where(known, least, -math.inf), np.where(known, lack + slack, math.inf)

    def value(self, x: FloatArray) -> FloatArray:
        """Return log r."""
        return self.law.log_ratio(x)

    def turned(self, x: FloatArray, height: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """Return log|r| and arg r above the axis."""
        return self.law.turned_log_ratio(x, height)

    def slope(self, x: float) -> float:
        """Return the derivative of log r, the mean move given x."""
        return self.law.mean_move(x)

    def value_units(self, x: FloatArray, value: FloatArray) -> FloatArray:
        """Bound the error of log r."""
        return mixture_rounding.ratio_units(self.law, x, value)

    def turned_units(
        self,
        x: FloatArray,
        height: FloatArray | float,  # noqa: ARG002  the bound holds at every height
        turned: tuple[FloatArray, FloatArray],
    ) -> FloatArray:
        """Bound the error of log r above the axis."""
        return mixture_rounding.turned_units(self.law, x, self.law.log_ratio(x), turned)

    @property
    def least(self) -> float:
        """Log r where no move is possible."""
        return max(self.law.least_log, -1e300)


class ExchangedTrim:
    """The same law with P0 and P1 exchanged, M(-1 - s); a `Factor`.

    Its far losses are negative ones. Left in, they would allow no path high enough for the exponents of the narrow core. What
    is removed is a mass of the normal law alone, smaller than that of the mixture.
    """

    takes_rows = True

    def __init__(self, trimmed: Trimmed) -> None:
        self.trimmed = trimmed
        self.p_inf, self.q_inf = trimmed.q_inf, trimmed.p_inf
        self.max_loss, self.min_loss = -trimmed.min_loss, -trimmed.max_loss

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s) at complex s; rows of a 2-d array are lines."""
        return self.trimmed.log_mgf(-1.0 - s)

    def cumulants(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M and its derivative on the real axis."""
        value, slope = self.trimmed.cumulants(-1.0 - c)
        return value, -slope

    def cumulant_rounding(self, c: FloatArray) -> FloatArray:
        """Bound the error of `cumulants` beyond four times its size, in units of 2^-53."""
        return self.trimmed.cumulant_rounding(-1.0 - c)

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound of the other direction at -1 - c."""
        return self.trimmed.log_decay(-1.0 - c, y)

    @property
    def mgf_rounding(self) -> float:
        """Rounding error of M(s) near the middle of the axis: that of the other direction."""
        return self.trimmed.mgf_rounding

    def mgf_rounding_along(self, s: ComplexArray) -> FloatArray:
        """Return the rounding error at each exponent, in units of 2^-53 M(Re s)."""
        return self.trimmed.mgf_rounding_along(-1.0 - s)

r"""Two centred normal laws of different spread, r times: N(0, 1)^r against N(0, 1 + c)^r.

The likelihood ratio depends on the sum of squares only, which is chi-square with r degrees of freedom, so with a = r/2,
P and Q the regularised incomplete gamma functions and

.. math:: x_0 = \tfrac{1+c}{c}\,(\varepsilon + a\log(1+c)), \qquad x_1 = x_0/(1+c)

the profile is :math:`\delta(\varepsilon) = Q(a, x_1) - e^\varepsilon Q(a, x_0)`, and with the roles exchanged, at -eps,
:math:`P(a, x_0) - e^\varepsilon P(a, x_1)`. A larger c is worse: shrinking and adding noise makes the pair of c' < c from
that of c.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

from dpcore.curves.base import Bounds, Curve, FloatArray

_TELLING = 1e-6  # laws closer than this differ by little more than rounding, and the profile gets a margin
_ROUNDING = 1e-14  # that margin: the rounding of a difference of two numbers up to 1


class Spread(Curve):
    """P0 = N(0, 1)^rows and P1 = N(0, 1 + excess)^rows, or the two exchanged if `wide_first`."""

    symmetric = False

    def __init__(self, rows: int, excess: float, *, wide_first: bool = False) -> None:
        self.shape, self.excess, self.wide_first = 0.5 * rows, float(excess), wide_first
        self.exact = self.excess * self.shape**0.5 >= _TELLING
        edge = self.shape * float(np.log1p(excess))
        self.max_loss, self.min_loss = (edge, -np.inf) if wide_first else (np.inf, -edge)

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the closed form."""
        e = np.asarray(epsilon, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            sign = -1.0 if self.wide_first else 1.0
            wide = (sign * e + self.shape * np.log1p(self.excess)) / self.excess
            wide = np.maximum(wide, 0.0)
            narrow = wide * (1.0 + self.excess)
            if self.wide_first:
                value = gammainc(self.shape, narrow) - np.exp(e) * gammainc(self.shape, wide)
            else:
                value = gammaincc(self.shape, wide) - np.exp(e) * gammaincc(self.shape, narrow)
        value = np.where(np.isposinf(e), 0.0, np.nan_to_num(value, nan=0.0, neginf=0.0))
        value = np.clip(np.maximum(value, -np.expm1(np.minimum(e, 0.0))), 0.0, 1.0) + 0.0
        if self.exact:
            return value, value
        return np.maximum(value - _ROUNDING, 0.0), np.minimum(value + _ROUNDING, 1.0)

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the closed form: the best test looks at the sum of squares."""
        a = np.asarray(alpha, dtype=np.float64)
        if self.wide_first:
            raw = gammaincc(self.shape, (1.0 + self.excess) * gammaincinv(self.shape, a))
        else:
            raw = gammainc(self.shape, gammainccinv(self.shape, a) / (1.0 + self.excess))
        value: FloatArray = np.asarray(np.where(a <= 0, 1.0, np.where(a >= 1, 0.0, raw)), dtype=np.float64)
        if self.exact:
            return value, value
        inner = (a > 0) & (a < 1)
        return np.where(inner, np.maximum(value - _ROUNDING, 0.0), value), value

    def inverse(self) -> Spread:
        """Return the pair with its roles exchanged."""
        return Spread(round(2 * self.shape), self.excess, wide_first=not self.wide_first)


def spread_delta(rows: int, excess: float, epsilon: float) -> float:
    """Return delta(epsilon) of the worse direction."""
    at = np.array([epsilon])
    return max(float(Spread(rows, excess, wide_first=w).delta_bounds(at)[1][0]) for w in (False, True))

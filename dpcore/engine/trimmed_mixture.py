"""A Gaussian pair with random moves without its rare far jumps: these count as infinite losses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scipy.special import ndtr

from dpcore.engine.cut_normal import LOWEST, CutNormal

if TYPE_CHECKING:
    from dpcore.engine.mixture_mgf import FloatArray
    from dpcore.engine.normal_jumps import Jumps


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

    def value(self, x: FloatArray) -> FloatArray:
        """Return log r."""
        return self.law.log_ratio(x)

    def turned(self, x: FloatArray, height: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """Return log|r| and arg r above the axis."""
        return self.law.turned_log_ratio(x, height)

    def slope(self, x: float) -> float:
        """Return the derivative of log r, the mean move given x."""
        return self.law.mean_move(x)

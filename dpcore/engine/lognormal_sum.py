r"""Certified tails of a sum of independent log-normal variables: E(S - K)+ and E(K - S)+.

With S = Y_1 + ... + Y_n, Y = e^(m x - m^2/2) and x standard normal, cut at `CutNormal`'s ends, both are contour integrals of
M(s)^n, M the transform of Y. The engine of privacy profiles has the kernels E(1 - e^(k-L))+ and E(e^(k-L) - 1)+; with L = h S,
k = h K and a tiny h they are h E(S - K)+ and h E(K - S)+ up to the factors

.. math:: 1-\tfrac12 h n R \le \frac{E(1-e^{-h(S-K)})_+}{h\,E(S-K)_+} \le 1, \qquad
          1 \le \frac{E(e^{h(K-S)}-1)_+}{h\,E(K-S)_+} \le e^{hK},

R the largest Y, since u - u^2/2 <= 1 - e^-u <= u and u <= e^u - 1 <= u e^u.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from dpcore.core.question import question
from dpcore.engine.contour import Contour
from dpcore.engine.contour_plan import plain_line
from dpcore.engine.contour_share import KERNEL_D, KERNEL_N
from dpcore.engine.cut_normal import LOWEST, CutNormal
from dpcore.engine.mixture_rounding import LIBRARY

if TYPE_CHECKING:
    from dpcore.engine.contour_plan import Bucket, Line
    from dpcore.engine.contour_share import Four
    from dpcore.engine.mixture_mgf import FloatArray

    Bounds = tuple[FloatArray, FloatArray]

_SOME, _MOST = 8000, 60_000  # nodes of a line: those for nearly full precision, and the most allowed
_NO_BOUND = 1e300  # larger bounds say nothing
_BEND = 1e-12  # h n R: how far the two factors above may be from 1


class LogNormal(CutNormal):
    """The transform of h Y; a `Factor`.

    Parameters
    ----------
    move : float
        m.
    high : float
        Right end of the normal variable.
    scale : float
        h.
    """

    def __init__(self, move: float, high: float, scale: float) -> None:
        super().__init__(high, move, 0.0)
        self.move, self.scale = move, scale
        self.q_inf = self.removed
        self.p_inf = -math.expm1(float(self.cumulants(np.array([-1.0]))[0][0]))
        self.min_loss, self.max_loss = 0.0, math.inf

    @property
    def loss_scale(self) -> float:
        """Return the order of magnitude of h Y: its deviation."""
        return self.scale * math.sqrt(math.expm1(min(self.move**2, 100.0)))

    def value(self, x: FloatArray) -> FloatArray:
        """Return h Y."""
        return np.asarray(self.scale * np.exp(self.move * x - self.move**2 / 2), dtype=np.float64)

    def turned(self, x: FloatArray, height: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """Return the real and the imaginary part of h Y above the axis."""
        size, angle = self.value(x), self.move * height
        return size * np.cos(angle), size * np.sin(angle)

    def slope(self, x: float) -> float:
        """Return the derivative of h Y."""
        return self.move * float(self.value(np.array([x]))[0])

    def value_units(self, x: FloatArray, value: FloatArray) -> FloatArray:
        """Bound the error of h Y: that of its exponent, two products and the exponential."""
        return np.asarray(value * (3.0 * self.move * np.abs(x) + 2.0 * self.move**2 + LIBRARY + 4.0), dtype=np.float64)

    def turned_units(
        self,
        x: FloatArray,
        height: FloatArray | float,  # noqa: ARG002  the bound holds at every height
        turned: tuple[FloatArray, FloatArray],  # noqa: ARG002  and does not need the values
    ) -> FloatArray:
        """Bound the error of h Y above the axis, with those of its angle, a cosine and a sine."""
        value = self.value(x)
        return np.asarray(self.value_units(x, value) + value * (2.0 * LIBRARY + 6.0), dtype=np.float64)

    @property
    def least(self) -> float:
        """Y is positive."""
        return 0.0


class _Tail(Contour):
    """One kernel alone: no base is added to it, so a small one keeps its digits."""

    def __init__(self, law: LogNormal, count: int, tolerance: float, kind: int) -> None:
        super().__init__([(law, count)], tolerance, fine=True)
        self.kind = kind

    @property
    def _crossings(self) -> tuple[float, float]:
        return (-math.inf, -math.inf) if self.kind == KERNEL_D else (math.inf, math.inf)

    def _base(self, kind: int, eps: FloatArray) -> Four:  # noqa: ARG002  none, whatever the kernel
        return 0.0, 0.0, 1.0, 1.0

    def _relative(self, bucket: Bucket) -> float:  # noqa: ARG002  the kernel is the answer
        return 1.0

    def _line(self, bucket: Bucket, level: int, shrink: float = 1.0) -> Line | None:  # noqa: ARG002  no finer levels
        if bucket.lines or level:
            return bucket.lines[0] if bucket.lines and not level else None
        coarse = min(0.02 * self.tolerance, 1e-2)
        for accuracy, nodes in ((bucket.plan[0], _SOME), (1e-3 * coarse, _MOST), (2.5 * coarse, _MOST)):
            line = plain_line(self.product, bucket, accuracy, nodes)
            if line is not None:
                bucket.lines.append(line)
                return line
        return None

    def kernel(self, eps: FloatArray) -> Bounds:
        """Return bounds of the kernel at each eps."""
        with question():
            order = np.argsort(eps, kind="stable")
            low, high = np.empty(eps.size), np.empty(eps.size)
            low[order], high[order] = self._integrals(eps[order])[0]
        return np.maximum(low, 0.0), high


class LogNormalSum:
    """Tails of the sum of `count` log-normal variables.

    Parameters
    ----------
    move : float
        m.
    count : int
        n.
    mass : float
        Most mass, under the law weighted with S/n, of sums with a variable beyond the ends.
    tolerance : float
        Relative width to aim at.
    """

    def __init__(self, move: float, count: int, mass: float, tolerance: float) -> None:
        self.move, self.count = move, count
        low, high = move, move + 40.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._beyond(middle) > mass else (low, middle)
        self.high = high
        self.lost = self._beyond(high) + count * float(ndtr(LOWEST))
        self.rare = count * float(ndtr(-high) + ndtr(LOWEST))
        self.scale = _BEND / (count * math.exp(move * high - move**2 / 2))
        self.law = LogNormal(move, high, self.scale)
        self._upper = _Tail(self.law, count, tolerance, KERNEL_D)
        self._lower = _Tail(self.law, count, tolerance, KERNEL_N)

    def _beyond(self, x: float) -> float:
        return float(ndtr(self.move - x) + (self.count - 1) * ndtr(-x))

    def above(self, strike: FloatArray, tolerance: float) -> Bounds:
        """Return bounds of E(S - K)+ over sums within the ends, for K > 0.

        It is E(K - S)+ plus the mean of S - K: the lower tail is light and costs next to nothing, but in the far upper tail
        the difference loses its digits, and the upper tail is computed itself.
        """
        inside = math.exp(self.count * math.log1p(-self.law.removed))
        one = float(ndtr(self.high - self.move) - ndtr(LOWEST - self.move))
        mean = self.count * one * math.exp((self.count - 1) * math.log1p(-self.law.removed))
        low, high = self.below(strike)
        slack = 8e-16 * (mean + strike)
        low, high = np.maximum(low + (mean - strike * inside) - slack, 0.0), high + (mean - strike * inside) + slack
        wide = np.flatnonzero(high - low > tolerance * high)
        if wide.size:
            least, most = self._upper.kernel(self.scale * strike[wide])
            most = np.minimum(most, _NO_BOUND * self.scale)
            low[wide] = np.maximum(low[wide], least / self.scale)
            high[wide] = np.minimum(high[wide], most / self.scale * (1.0 + _BEND))
        return np.minimum(low, high), high

    def below(self, strike: FloatArray) -> Bounds:
        """Return bounds of E(K - S)+ over sums within the ends, for K > 0."""
        low, high = self._lower.kernel(self.scale * strike)
        with np.errstate(over="ignore"):  # a bound that is no bound
            return low / self.scale * np.exp(-self.scale * strike), high / self.scale

r"""Moment generating function of the privacy loss of Laplace noise on a Poisson sample, for complex exponents.

With sensitivity over scale ``eps0`` the loss t of Laplace noise has, under P0, an atom 1/2 at -eps0, an atom e^-eps0 / 2 at eps0 and
the density :math:`\tfrac14 e^{-(\epsilon_0+t)/2}` between. A sample of rate q has the likelihood ratio u(t) = 1 - q + q e^t, the loss
v = log u, and

.. math:: M(s) = E_0[u^{s+1}] = \tfrac12 u_-^{s+1} + \tfrac12 e^{-\epsilon_0} u_+^{s+1}
          + \tfrac14 e^{-\epsilon_0/2}\int_{-\epsilon_0}^{\epsilon_0} e^{-t/2}\,u(t)^{s+1}\,dt .

*Quadrature.* The integral is taken by Gauss and Legendre on panels of half width h <= 1. An integrand that is bounded by B on the
ellipse with foci at the ends of a panel and half axes :math:`\sqrt{h^2+1}` and 1 has an error of at most
:math:`\tfrac{64}{15} hB\rho^{-2n}/(1-\rho^{-2})`, :math:`\rho=(1+\sqrt{1+h^2})/h` (Trefethen, SIAM Review 2008, Theorem 4.5). On it
abs(Im t) <= 1, so Re u > 0, abs(u) lies between u at the left end, with q e^t cos 1, and u at the right end, and arg u is at most
:math:`\arctan(qe^x\sin1/(1-q+qe^x\cos1))` at the right end. The number n of nodes is the least for which the bound is below 2^-53 M(Re s).

*Decay.* As for Laplace noise, abs(M(c+iY)) falls up to Y = pi / (v_+ - v_-). Beyond, the atoms and the integral up to some t_0 are at most
what they are at Y = 0. The rest, over v, is an integral of G(v) e^(iYv) with
:math:`G=\tfrac14 e^{-\epsilon_0/2}u^{c+2}e^{-3t/2}/q`, at most twice the sum of G at both ends over Y: log G has the derivative
(c+2) v'(t) - 3/2 with v' increasing, so G falls, or falls and then rises, and varies by no more than that sum. Every t_0 gives a
bound, and the least of some is taken.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import roots_legendre

from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dpcore.curves.base import ComplexArray, FloatArray

LARGEST_EPSILON, SMALLEST_EPSILON, SMALLEST_SHARE = 30.0, 1e-6, 1e-12
"""Beyond these a lattice composes: many panels, or losses whose digits 1 - q + q e^t loses."""

_UNIT = 2.0**-53
_MOST_NODES = 4096  # of a panel: for more, the exponent is too far out and M is given up
_CUTS = np.linspace(0.0, 1.0, 65)  # shares of the range at which the bound of the decay is tried
_CHUNK = 2**19  # entries of a table of exponentials, 8 MB


class TallError(BudgetError):
    """An exponent too far from the real axis for the quadrature."""


@lru_cache(maxsize=64)
def _legendre(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    nodes, weights = roots_legendre(count)
    return np.asarray(nodes, dtype=np.float64), np.asarray(weights, dtype=np.float64)


class SampledLaplaceLoss:
    """The transform of one pair, without record against with it."""

    def __init__(self, eps0: float, share: float) -> None:
        self.eps0, self.share = eps0, share
        self.low, self.high = (math.log1p(share * math.expm1(t)) for t in (-eps0, eps0))
        self._divide(-eps0)
        self._laws: dict[int, tuple[FloatArray, FloatArray]] = {}

    def _divide(self, start: float) -> None:
        """Divide the range of t from `start` into panels."""
        self.start, width = start, self.eps0 - start
        self.panels = max(1, math.ceil(width / 2))
        self.half = width / 2 / self.panels

    def _powers(self, c: FloatArray) -> tuple[FloatArray, ...]:
        """Return the real exponents of u under the integral at Re s = c."""
        return (c + 1.0,)

    def _floor(self, c: FloatArray) -> FloatArray:
        """Return a lower bound of log M(c): one atom alone."""
        a = c + 1.0
        return np.asarray(np.maximum(a * self.low, a * self.high - self.eps0) - math.log(2.0), dtype=np.float64)

    def nodes(self, s: ComplexArray) -> NDArray[np.int64]:
        """Return how many nodes of a panel make the quadrature exact to rounding at each exponent, a power of two from 4."""
        c, y = s.real, np.abs(s.imag)
        floor, powers = self._floor(c), self._powers(c)
        h, reach = self.half, math.hypot(self.half, 1.0)
        step = math.log((1.0 + reach) / h)
        most = np.zeros(s.shape)
        for panel in range(self.panels):
            centre = self.start + (2 * panel + 1) * h
            top = self.share * math.exp(centre + reach)
            largest = math.log1p(top - self.share)
            smallest = math.log1p(self.share * (math.exp(centre - reach) * math.cos(1.0) - 1.0))
            angle = math.atan(top * math.sin(1.0) / (1.0 - self.share + top * math.cos(1.0)))
            size = np.maximum.reduce([a * end for a in powers for end in (largest, smallest)])
            np.maximum(most, size + y * angle - floor - (centre - reach) / 2 - self.eps0 / 2, out=most)
        extra = math.log(64 / 15 * h / 4 * self.panels * len(powers) / -math.expm1(-2 * step)) - math.log(_UNIT)
        least = np.clip((most + max(extra, 0.0)) / (2 * step), 4.0, 2.0 * _MOST_NODES)
        return np.asarray(2 ** np.ceil(np.log2(least)), dtype=np.int64)

    @cached_property
    def tallest(self) -> float:
        """Up to which imaginary part the transform is computed, for moderate real parts."""
        heights = 2.0 ** np.arange(40.0)
        known = self.nodes(np.asarray(1j * heights, dtype=np.complex128)) <= _MOST_NODES
        return float(heights[known].max(initial=0.0))

    def law(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Return losses v and P0 masses: the two atoms, then the nodes of all panels."""
        if count not in self._laws:
            self._laws[count] = self._law(*self._inside(count))
        return self._laws[count]

    def _inside(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Return the losses of the nodes and their P0 masses."""
        nodes, weights = _legendre(count)
        t = self.start + (2 * np.arange(self.panels)[:, None] + 1 + nodes) * self.half
        mass = self.half / 4 * np.exp(-(self.eps0 + t) / 2) * weights
        return np.log1p(self.share * np.expm1(t.ravel())), mass.ravel()

    def _law(self, loss: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
        atoms = [0.5, 0.5 * math.exp(-self.eps0)]
        return np.concatenate(([self.low, self.high], loss)), np.concatenate((atoms, mass))

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s), nan at a real exponent that is too far out; any other is refused."""
        flat = np.asarray(s, dtype=np.complex128).ravel()
        out = np.full(flat.size, np.nan, dtype=np.complex128)
        if np.any(self.nodes(flat[flat.imag != 0.0]) > _MOST_NODES):
            msg = "The transform of Laplace noise on samples would need too many nodes."
            raise TallError(msg)
        for at, loss, mass in self._groups(flat):
            a = flat[at] + 1.0
            peak = np.maximum(a.real * self.low, a.real * self.high)
            out[at] = np.log(np.exp(np.outer(a, loss) - peak[:, None]) @ mass) + peak
        return out.reshape(s.shape)

    def cumulants(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M and its derivative on the real axis, nan where the exponent is too far out."""
        value, slope = np.full(c.size, np.nan), np.full(c.size, np.nan)
        for at, loss, mass in self._groups(c.astype(np.complex128)):
            a = c[at] + 1.0
            peak = np.maximum(a * self.low, a * self.high)
            table = np.exp(np.outer(a, loss) - peak[:, None]) * mass
            total = table.sum(axis=1)
            value[at], slope[at] = np.log(total) + peak, (table @ loss) / total
        return value, slope

    def _groups(self, s: ComplexArray) -> Iterator[tuple[NDArray[np.intp], FloatArray, FloatArray]]:
        """Yield places of exponents that need equally many nodes, a bounded number at a time, with the law of that many."""
        counts = self.nodes(s)
        for count in np.unique(counts[counts <= _MOST_NODES]).tolist():
            places = np.flatnonzero(counts == count)
            loss, mass = self.law(count)
            rows = max(1, _CHUNK // loss.size)
            for start in range(0, places.size, rows):
                checkpoint()
                yield places[start : start + rows], loss, mass

    def log_decay(self, c: float, y: float) -> float:
        """Bound log(abs(M(c+iY))/M(c)) from above for every abs(Y) >= y."""
        turn = math.pi / (self.high - self.low)
        start = max(abs(y), turn)
        line = np.array([complex(c), complex(c, min(abs(y), turn))])
        if np.any(self.nodes(line) > _MOST_NODES):
            return 0.0
        at = self.log_mgf(line).real
        whole = float(at[0])
        cut = self.start + (self.eps0 - self.start) * _CUTS
        loss = np.log1p(self.share * np.expm1(cut))
        share = (
            math.exp(-(self.eps0 + self.start) / 2) * -np.expm1((self.start - cut) / 2) / 2
        )  # P0 mass before the cut
        rest = np.full(_CUTS.size, self._atoms(c, whole))
        with np.errstate(over="ignore"):
            for power in self._powers(np.array([c])):
                a = float(power[0])
                height = np.exp((a + 1.0) * loss - (self.eps0 + 3 * cut) / 2 - whole) / (4 * self.share)
                rest += share * np.exp(np.maximum(a * loss[0], a * loss) - whole) + 2.0 * (height + height[-1]) / start
        near = float(at[1]) - whole if abs(y) < turn else -math.inf
        return min(0.0, max(near, math.log(max(float(rest.min()), 1e-300))) + 1e-12)

    def _atoms(self, c: float, whole: float) -> float:
        """Return the atoms' share of M(c), whose logarithm is `whole`."""
        a = c + 1.0
        return math.exp(a * self.low - whole) / 2 + math.exp(a * self.high - self.eps0 - whole) / 2

    def units(self, s: ComplexArray) -> FloatArray:
        """Return the rounding error of M(s), in units of 2^-53 M(Re s): of each loss and node a few, times the exponent."""
        return np.asarray(32.0 + 8.0 * max(-self.low, self.high) * (1.0 + np.abs(s)), dtype=np.float64)


class ClosedSampledLaplaceLoss(SampledLaplaceLoss):
    r"""The transform of the symmetric closure of the same pair.

    Its losses above 0 are those of the pair, those below their mirror images, and the rest is an atom at 0 of mass
    (1 - q)(1 - x), x = e^(-eps0/2): under P0 the losses above 0 have the mass x/2, under P1 (1 - q) x/2 + q (1 - x/2). So

    .. math:: M(s) = (1-q)(1-x) + E_0[(u^{s+1}+u^{-s})\,1_{t>0}] .
    """

    def __init__(self, eps0: float, share: float) -> None:
        super().__init__(eps0, share)
        self.low = -self.high
        self.middle = (1.0 - share) * -math.expm1(-eps0 / 2)
        self._divide(0.0)

    def _powers(self, c: FloatArray) -> tuple[FloatArray, ...]:
        return c + 1.0, -c

    def _floor(self, c: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(c + 1.0, -c) * self.high - self.eps0 - math.log(2.0), dtype=np.float64)

    def _law(self, loss: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
        above, below = np.append(loss, self.high), np.append(mass, 0.5 * math.exp(-self.eps0))
        return np.concatenate(([0.0], above, -above)), np.concatenate(([self.middle], below, below * np.exp(above)))

    def _atoms(self, c: float, whole: float) -> float:
        ends = math.exp((c + 1.0) * self.high - self.eps0 - whole) + math.exp(-c * self.high - self.eps0 - whole)
        return self.middle * math.exp(-whole) + ends / 2

r"""Moment generating function of the privacy loss of Laplace noise on a Poisson sample, for complex exponents.

With sensitivity over scale ``eps0`` the loss t of Laplace noise has, under P0, an atom 1/2 at -eps0, an atom e^-eps0 / 2 at eps0 and
the density :math:`\tfrac14 e^{-(\epsilon_0+t)/2}` between. A sample of rate q has the likelihood ratio u(t) = 1 - q + q e^t, the loss
v = log u, and

.. math:: M(s) = E_0[u^{s+1}] = \tfrac12 u_-^{s+1} + \tfrac12 e^{-\epsilon_0} u_+^{s+1}
          + \tfrac14 e^{-\epsilon_0/2}\int_{-\epsilon_0}^{\epsilon_0} e^{-t/2}\,u(t)^{s+1}\,dt .

*Quadrature.* The integral is taken by Gauss and Legendre on panels of half width h <= 1. An integrand that is bounded by B on the
ellipse with foci at the ends of a panel and half axes :math:`\sqrt{h^2+b^2}` and b has an error of at most
:math:`\tfrac{64}{15} hB\rho^{-2n}/(1-\rho^{-2})`, :math:`\rho=(b+\sqrt{b^2+h^2})/h` (Trefethen, SIAM Review 2008, Theorem 4.5). On it
abs(Im t) <= b, and for b <= 1 Re u > 0, abs(u) lies between u at the left end, with q e^t cos b, and u at the right end, and arg u is at
most :math:`\arctan(qe^x\sin b/(1-q+qe^x\cos b))` at the right end. The number n of nodes is the least for which the bound of one of a few b
is below 2^-53 M(Re s).
On the real axis, where saddle points need few digits but exponents go far, the integrand peaks at one end, and one rule of panels that
shrink towards both ends (`_graded`) serves all.

*Lines.* Along s = c + i n y, n = aB + b < AB, the exponential is a product of one that depends on a and one that depends on b: A + B
exponentials for each loss, and a product of two matrices, instead of AB.

*Decay.* As for Laplace noise, abs(M(c+iY)) falls up to Y = pi / (v_+ - v_-). Beyond, the atoms are at most what they are at Y = 0. The
density, over v, is the integral of G(v) e^(iYv) with :math:`G=\tfrac14 e^{-\epsilon_0/2}u^{c+2}e^{-3t/2}/q`. log G has the derivative
((c+2) v'(t) - 3/2) / v'(t) with v' increasing, so G falls to some v_*, and then rises. It is the integral over all heights h of the
indicator of {G > h}: the whole range for h below the least value m, an interval at each end for h above. The integral of e^(iYv) over
an interval of length l is at most min(l, L), L = 2/Y. Integrated over h, with r = v_+ - v_-,

.. math:: \Bigl|\int Ge^{iYv}dv\Bigr| \le m\min(r,L) + \int_{v_-}^{\min(v_-+L,v_*)}(G-m)\,dv + \int_{\max(v_+-L,v_*)}^{v_+}(G-m)\,dv ,

which falls with Y. Over t, G dv is e^(-t/2) u^(c+1) dt up to constants, whose logarithm is convex for c >= -1: trapezoids are above it. For
c < -1 it falls, and sums of left ends are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import roots_legendre

from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError
from dpcore.core.lazy import Lazy
from dpcore.engine.gauss_legendre import legendre
from dpcore.engine.products import product

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from dpcore.curves.base import ComplexArray, FloatArray

LARGEST_EPSILON, SMALLEST_EPSILON, SMALLEST_SHARE = 30.0, 1e-6, 1e-12
"""Beyond these the composition uses a lattice: too many panels, or 1 - q + q e^t loses the digits of the losses."""

_UNIT = 2.0**-53
_AXES = (1.0, 0.6, 0.36, 0.2, 0.1, 0.05)  # half axes b of the ellipses: the smaller, the faster the integrand may vary
_MOST_NODES = 1024  # most nodes of a panel: an exponent that needs more is too far out, and M is given up
_CUTS = np.linspace(0.0, 1.0, 65)  # cuts of a range that is summed for a bound
_SLACK = 1e-11  # relative slack for the rounding of a bound and of M(c)
_GRADES = np.concatenate(([0.0], 4.0 ** np.arange(-10.0, 0.0)))  # cuts of half a panel at either end of the range
_GRADED_NODES = 16  # nodes of such a panel: an exponential is then exact to 1e-13 of its sum, however steep
_FARTHEST = 1e6  # largest exponent times range of losses on the real axis: the panels at the ends are as narrow
_TALL = "The transform of Laplace noise on samples would need too many nodes."
_LOW_ORDER = 128  # nodes of a rule up to which Newton's steps take a few milliseconds
_EVEN = 16  # exponents of a line from which products of exponentials pay
_CHUNK = 2**19  # entries of a table of exponentials, 8 MB


class TallError(BudgetError):
    """An exponent too far from the real axis for the quadrature."""


def _rule(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the nodes and weights of a panel; scipy's are quick at high orders, and load a library of linear algebra."""
    nodes, weights = roots_legendre(count) if count > _LOW_ORDER else legendre(count)
    return np.asarray(nodes, dtype=np.float64), np.asarray(weights, dtype=np.float64)


def _even(line: ComplexArray) -> bool:
    """Whether exponents are evenly spaced on a vertical line, to rounding."""
    if line.size < _EVEN or (line.real != line.real[0]).any():
        return False
    y = line.imag
    even = y[0] + (y[-1] - y[0]) / (line.size - 1) * np.arange(line.size)
    return bool((np.abs(y - even) <= 4 * _UNIT * max(abs(y[0]), abs(y[-1]))).all())


class SampledLaplaceLoss:
    """The transform of one pair, without record against with it."""

    def __init__(self, eps0: float, share: float) -> None:
        self.eps0, self.share = eps0, share
        self.low, self.high = (math.log1p(share * math.expm1(t)) for t in (-eps0, eps0))
        self._divide(-eps0)
        self._laws: dict[int, tuple[FloatArray, FloatArray]] = {}
        self._decays: dict[tuple[float, float], tuple[float, float]] = {}
        self._wholes: dict[float, float] = {}

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
        least = np.full(s.shape, 2.0 * _MOST_NODES)
        for step, extra, largest, smallest, angle, weight in self._ellipses:
            size = np.maximum.reduce([a * end for a in powers for end in (largest, smallest)])
            bound = np.maximum((size + y * angle + weight).max(axis=0) - floor, 0.0) + extra
            np.minimum(least, bound / (2 * step), out=least)
        return np.asarray(2 ** np.ceil(np.log2(np.maximum(least, 4.0))), dtype=np.int64)

    @Lazy
    def _ellipses(self) -> list[tuple[float, float, FloatArray, FloatArray, FloatArray, FloatArray]]:
        """Return, for each half axis b, what the bounds of all panels need: log rho, log of the constant, and columns of one per panel."""
        h, out = self.half, []
        centre = self.start + (2 * np.arange(self.panels)[:, None] + 1) * h
        for b in _AXES:
            reach = math.hypot(h, b)
            step = math.log((b + reach) / h)
            top = self.share * np.exp(centre + reach)
            largest = np.log1p(top - self.share)
            smallest = np.log1p(self.share * (np.exp(centre - reach) * math.cos(b) - 1.0))
            angle = np.arctan(top * math.sin(b) / (1.0 - self.share + top * math.cos(b)))
            constant = 64 / 15 * h / 4 * self.panels * 2 / -math.expm1(-2 * step)
            weight = -(centre - reach) / 2 - self.eps0 / 2
            out.append((step, max(math.log(constant / _UNIT), 0.0), largest, smallest, angle, weight))
        return out

    @Lazy
    def tallest(self) -> float:
        """Imaginary part up to which the transform is computed, for moderate real parts."""
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
        nodes, weights = _rule(count)
        t = self.start + (2 * np.arange(self.panels)[:, None] + 1 + nodes) * self.half
        mass = self.half / 4 * np.exp(-(self.eps0 + t) / 2) * weights
        return np.log1p(self.share * np.expm1(t.ravel())), mass.ravel()

    def _law(self, loss: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
        at, weight = self.atoms()
        return np.concatenate((at, loss)), np.concatenate((weight, mass))

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s), nan at a real exponent that is too far out; any other is refused. Rows of a 2-d array are lines."""
        lines = np.asarray(s, dtype=np.complex128)
        lines = lines.reshape(-1, lines.shape[-1])
        return np.concatenate([self._along(line) if _even(line) else self._one_by_one(line) for line in lines]).reshape(
            s.shape
        )

    def _one_by_one(self, flat: ComplexArray) -> ComplexArray:
        """Return log M at any exponents."""
        out = np.full(flat.size, np.nan, dtype=np.complex128)
        if np.any(self.nodes(flat[flat.imag != 0.0]) > _MOST_NODES):
            raise TallError(_TALL)
        for at, loss, mass in self._groups(flat):
            a = flat[at] + 1.0
            peak = np.maximum(a.real * self.low, a.real * self.high)
            out[at] = np.log(product(np.exp(np.outer(a, loss) - peak[:, None]), mass.astype(np.complex128))) + peak
        return out

    def _along(self, line: ComplexArray) -> ComplexArray:
        """Return log M at evenly spaced exponents of a vertical line, all by the rule that the last of them needs."""
        ends = line[[0, -1]]
        count = int(self.nodes(ends).max())
        if count > _MOST_NODES:
            raise TallError(_TALL)
        loss, mass = self.law(count)
        a = float(line[0].real) + 1.0
        peak = max(a * self.low, a * self.high)
        width = math.isqrt(line.size - 1) + 1
        step = (ends[1].imag - ends[0].imag) / (line.size - 1)
        turns = 1j * loss
        fine = np.exp(np.outer(turns, step * np.arange(width)))
        starts = ends[0].imag + step * width * np.arange(-(-line.size // width))
        coarse = np.exp(np.outer(starts, turns))
        coarse *= mass * np.exp(a * loss - peak)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(product(coarse, fine).ravel()[: line.size]) + peak, dtype=np.complex128)

    def cumulants(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M and its derivative on the real axis, nan where the exponent is too far out."""
        value, slope = np.full(c.size, np.nan), np.full(c.size, np.nan)
        known = np.flatnonzero(np.abs(c) * (self.high - self.low) <= _FARTHEST)
        loss, mass = self._graded
        a = c[known] + 1.0
        peak = np.maximum(a * self.low, a * self.high)
        table = np.exp(np.outer(a, loss) - peak[:, None]) * mass
        total = table.sum(axis=1)
        value[known], slope[known] = np.log(total) + peak, product(table, loss) / total
        return value, slope

    @Lazy
    def _graded(self) -> tuple[FloatArray, FloatArray]:
        """Return the law by panels that shrink towards both ends of the range of t."""
        inner = np.linspace(self.start, self.eps0, 2 * self.panels + 1)[1:-1]  # one middle, if there is one panel
        grades = self.half * _GRADES
        edges = np.concatenate((self.start + grades, inner, self.eps0 - grades[::-1]))
        nodes, weights = _rule(_GRADED_NODES)
        half = 0.5 * np.diff(edges)[:, None]
        t = (edges[:-1, None] + half * (1.0 + nodes)).ravel()
        mass = (half * weights).ravel() / 4 * np.exp(-(self.eps0 + t) / 2)
        return self._law(np.log1p(self.share * np.expm1(t)), mass)

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
        ends = self.split_decay(c, max(abs(y), turn))
        if ends is None:
            return 0.0
        near = -math.inf
        if abs(y) < turn:
            at = self.log_mgf(np.array([complex(c), complex(c, abs(y))])).real
            near = float(at[1] - at[0])
        return min(0.0, max(near, math.log(ends[0] + ends[1])) + 1e-12)

    def split_decay(self, c: float, y: float) -> tuple[float, float] | None:
        """Return the atoms' share of M(c), and a bound of the density's share of M(c+iY) for every abs(Y) >= y > 0; None too far out."""
        name = c, y
        if name not in self._decays:
            if c not in self._wholes:
                self._wholes[c] = float(self.cumulants(np.array([c]))[0][0])
            whole = self._wholes[c]
            if math.isnan(whole):
                return None
            density = math.fsum(self._density(float(a[0]), whole, 2.0 / y) for a in self._powers(np.array([c])))
            self._decays[name] = self._atoms(c, whole) * (1 + _SLACK), density * (1 + _SLACK)
        return self._decays[name]

    def _density(self, a: float, whole: float, longest: float) -> float:
        """Bound the transform of the density times u^a e^-whole by intervals of the losses of at most a length."""
        low, high = (math.log1p(self.share * math.expm1(t)) for t in (self.start, self.eps0))
        valley = min(max(self._valley(a), self.start), self.eps0)
        left = min(self._place(low + longest), valley) if longest < high - low else valley
        right = max(self._place(high - longest), valley) if longest < high - low else valley
        least = math.exp(self._log_height(a, valley) - whole) * (1 - _SLACK)
        inside = math.log1p(self.share * math.expm1(left)) - low + high - math.log1p(self.share * math.expm1(right))
        mass = self._mass(a, whole, self.start, left) + self._mass(a, whole, right, self.eps0)
        return mass + least * (min(high - low, longest) - inside * (1 - _SLACK))

    def _place(self, loss: float) -> float:
        """Return the t of a loss."""
        return math.log1p(math.expm1(loss) / self.share)

    def _mass(self, a: float, whole: float, begin: float, end: float) -> float:
        """Bound the integral of the density times u^a e^-whole between two t from above."""
        t = begin + (end - begin) * _CUTS
        value = np.exp(a * np.log1p(self.share * np.expm1(t)) - (self.eps0 + t) / 2 - whole) / 4
        sums = float(value.sum() - 0.5 * (value[0] + value[-1])) if a >= 0.0 else float(value[:-1].sum())
        return sums * (end - begin) / (_CUTS.size - 1)

    def _log_height(self, a: float, t: float) -> float:
        """Return log G at t."""
        loss = math.log1p(self.share * math.expm1(t))
        return (a + 1.0) * loss - (self.eps0 + 3 * t) / 2 - math.log(4 * self.share)

    def _valley(self, a: float) -> float:
        """Return the t at which G is least: it falls before and rises behind."""
        if a <= 0.5:
            return math.inf
        rate = 1.5 / (a + 1.0)  # of v'(t) = q e^t / u
        return math.log(rate * (1.0 - self.share) / ((1.0 - rate) * self.share))

    def _atoms(self, c: float, whole: float) -> float:
        """Return the atoms' share of M(c), whose logarithm is `whole`."""
        loss, mass = self.atoms()
        return math.fsum((mass * np.exp((c + 1.0) * loss - whole)).tolist())

    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """Return the losses with an atom and their masses under P0."""
        return np.array([self.low, self.high]), np.array([0.5, 0.5 * math.exp(-self.eps0)])

    def log_atoms(self, s: ComplexArray) -> ComplexArray:
        """Return the logarithm of the transform of the atoms alone."""
        loss, mass = self.atoms()
        a = s + 1.0
        peak = np.max([a.real * v for v in (self.low, self.high)], axis=0)
        with np.errstate(divide="ignore"):
            return np.asarray(
                np.log(sum(m * np.exp(a * v - peak) for v, m in zip(loss.tolist(), mass.tolist(), strict=True))) + peak,
                dtype=np.complex128,
            )

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
        at, weight = self.atoms()
        return np.concatenate((at, loss, -loss)), np.concatenate((weight, mass, mass * np.exp(loss)))

    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """Return the losses with an atom, both ends and 0, and their masses under P0."""
        end = 0.5 * math.exp(-self.eps0)
        return np.array([self.low, 0.0, self.high]), np.array([end * math.exp(self.high), self.middle, end])

r"""Many copies of a Gaussian pair with rare far jumps, where one or a few of them make up the loss; certified.

With x standard normal under P0 and the ratio r(x) of `normal_jumps`, divide the outcomes of one step softly, at an x where the loss is
well below epsilon and at one where it is well above,

.. math:: \omega_i(x) = \Phi\bigl((x-a_i)/w\bigr), \qquad
          1 = (1-\omega_1)(1-\omega_2) + \omega_1(1-\omega_2) + \omega_2 ,

into a core, middle jumps and far jumps, and let A(s), D(s) and F(s) be the integrals of these weights times phi r^(s+1). The measure of k
copies is the sum of three positive ones:

- no jump, transform A^k: its losses are far below epsilon, and by Chernoff it adds at most
  :math:`\min_{c>0}\kappa(c)A(c)^ke^{-c\varepsilon}`;
- middle jumps only, transform :math:`R=(A+D)^k-A^k`. The core is so narrow that A^k fades only at huge heights, but R fades as soon as D
  does, and its losses are of the order of epsilon: a contour integral of a few thousand nodes;
- at least one far jump, transform :math:`R_F=(A+D+F)^k-(A+D)^k`. Its losses are above epsilon, where the kernel is 1 - e^(eps-L): it adds
  :math:`R_F(0)-e^{\varepsilon}R_F(-1)`, in closed form because F(0) and F(-1) are masses of normal laws, and at most
  :math:`\min_{c<-1}\kappa(c)R_F(c)e^{-c\varepsilon}` more, the kernel N of `contour_table`.

The contour is summed by the trapezoidal rule with the bounds of `contour_plan`: the sum over all nodes is an upper bound, Chernoff's bound
of R limits its excess, and the nodes beyond Y, where :math:`|R|\le k\,d\,(A(c)+d)^{k-1}` with :math:`|D(c+iy)|\le d` for y >= Y, add at
most this over :math:`\pi Y`.

*Quadrature.* The path runs at height t above the real axis with equal steps h. At a height u between 0 and 2t, with 2t times the largest
move below pi, \|phi\| is e^(u^2/2) times its value on the axis, \|r\| is at most r(x), arg r is between 0 and pi, and
:math:`|\Phi(p+iv)| = |\int_{-\infty}^p\varphi(z+iv)dz| \le e^{v^2/2}\Phi(p)`. So both integrands are at most
:math:`e^{2t^2(1+2/w^2)}` times that of A(c) or D(c) for every y >= 0, and the rule misses at most
:math:`\eta = 2e^{2t^2(1+2/w^2)}/(e^{2\pi t/h}-1)` of these (Trefethen and Weideman, SIAM Review 2014, Theorem 5.1). The sum that stands for D
is bounded by that of the moduli of its terms, which fall with y. The sums end where the mass of phi is below 1e-18 on the left, and on
the right where, with a slope of log r of at most the largest move, the rest is below e^-46 of the whole; exponents for
which that fails are not used. On the real axis the same bound holds with a coarser step; for c < -1, where r may turn
smaller off the axis, only exponents are used that leave the integrand wider than the step.

*Rounding*, in units of u = 2^-53, with the hypotheses of `mixture_rounding`, and log Phi right to `_LOG_NDTR` (1 + |log Phi|) units on the
real axis and at heights up to 3/4, Phi to as many of itself; a test compares both with ball arithmetic. The nodes x are
exact: the step has few binary places. Let E bound the error of log r (`mixture_rounding.turned_units`). A window at p =
(a - z)/w has 3 units of p, which change log Phi by at most 3 (|p|^2 + |p|), because |phi/Phi| <= |p| + 1; for Re p > 9
both are below a hundredth, since |phi/Phi| <= 2 e^(-(Re p)^2/2 + 1/3). A weight e^v has, with f = v without its
windows,

    |c+1| (E + 2 |log|r|| + 3 arg r) + 3 x^2 + 3 |x| t + 3 |f| + 2 |v| + LIBRARY (|log step| + 4) + 24

and its windows. A phase e^(iy log r) is a product of two tables: 40 units, and y (E + 12 (|log|r|| + arg r)) of its angle, y at most
1/(e arg r) before the term has faded. A sum of n terms has n. Of R = A^k (e^z - 1), z = k log(1 + D/A), the factor has k (LIBRARY + 2) |log A|
+ 2 |scale|, and z 32 of itself; |e^z - 1| is at most 2 |z| for |z| < 1 and 1 + |e^z| otherwise, and its derivative
|e^z|. How the errors of A and D affect R is explained beside the code. The sum over the nodes of a contour has its
number of terms, of the sum of their sizes. The same count for the sums on the real axis is added to the logarithms, all
of which are upper bounds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr

from dpcore.core.effort import checkpoint
from dpcore.engine.laplace_mgf import complex_log1p
from dpcore.engine.mixture_rounding import LIBRARY, ratio_units, turned_units
from dpcore.engine.products import product

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.engine.normal_jumps import Jumps

    FloatArray = NDArray[np.float64]
    ComplexArray = NDArray[np.complex128]
    Bounds = tuple[FloatArray, FloatArray]

_UNIT = 2.0**-53
_WIDTHS = (
    0.1,
    0.05,
    0.025,
)  # w: a sharper window needs a lower path and more nodes, a softer one lets the core reach further
_HEIGHT, _TURN = 0.75, 0.6  # largest height of the path, over w, and times the largest move
_STEPS = 6.2  # steps of the path per height: the rule then misses 1e-16
_ENDS = 9.0, 10.0  # standard deviations below 0 and beyond the last peak
_FALL = 46.0  # log of 1e-20: no term whose exponent is smaller matters
_COARSE = 2.5  # steps on the real axis per w: the rule misses e^(-2 pi^2 2.5^2) of an entire function
_CUTS = (2.5, 4.0, 9.0, 20.0, 30.0)  # ratios of epsilon to the loss at the first window, tried in turn
_EXPONENTS = np.concatenate((np.zeros(1), np.geomspace(0.05, 160.0, 56)))  # c times epsilon
_FAR = 8.5  # standard deviations w of the second window between epsilon and its middle
_DEVIATIONS = 20.0  # epsilons below this many standard deviations of the sum are left to lines that include the core
_RATIO = 1.12  # ratio of the largest epsilon that shares a line to the smallest
_CORE, _EXCESS, _LEFT = 1e-9, 1e-10, 1e-9  # shares of delta that the core, the images and the omitted nodes may add
_PLACES = 4000  # values of x between which the x of a loss is interpolated
_MOST, _MOST_LINES = 30_000, 64  # nodes of a line, and lines that are cached
_SLACK = 1e-9  # relative slack of a number on the real axis that is part of a bound
_STEEPEST, _WIDE = (
    40.0,
    0.05,
)  # largest |c + 1| times epsilon of the far jumps, and slack of their sums, in the logarithm
_LOG_NDTR = 128.0  # units of log Phi at complex arguments that a platform is tested for, over twice the usual error
_SURE = 9.0  # arguments from which log Phi is below 1e-18 and its error below a hundredth of a unit
_PLACES_OF_A_STEP = 20  # binary places: all nodes are then exact


class _RealAxis(NamedTuple):
    """The real axis: exponents c >= 0, log of A^k and of R at each, log of kappa."""

    c: FloatArray
    core: FloatArray
    rest: FloatArray
    kappa: FloatArray


class _Far(NamedTuple):
    """At least one far jump: R_F(0), R_F(-1), exponents c < -1, and log of kappa R_F at each."""

    at_one: float
    at_zero: float
    c: FloatArray
    below: FloatArray


class _JumpLine(NamedTuple):
    """One line: Re s, distance of the nodes, terms relative to e^(log_scale - c eps), and bounds of their errors."""

    c: float
    step: float
    log_scale: float
    terms: ComplexArray
    cut: float
    rounding: float
    phase: float
    far_units: float
    axis: _RealAxis
    far: _Far


class FewJumps:
    """The profile of many copies of a law with rare far jumps, no move of which is an infinite loss.

    Parameters
    ----------
    law : Jumps
        The moves of one step.
    copies : int
        How many steps.
    deviation : float
        About the standard deviation of the sum of the losses.
    """

    def __init__(self, law: Jumps, copies: int, deviation: float) -> None:
        self._least = _DEVIATIONS * deviation
        self._windows = [_Windows(law, copies, width) for width in _WIDTHS]
        self._lines: dict[int, _JumpLine | None] = {}

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return bounds of delta at each epsilon; 0 and 1 where the core is not far below it."""
        low, high = np.zeros(epsilon.size), np.ones(epsilon.size)
        far = np.flatnonzero(epsilon > self._least)
        if far.size:
            low[far], high[far] = self._far_bounds(epsilon[far])
        return low, high

    def _far_bounds(self, epsilon: FloatArray) -> Bounds:
        low, high = np.zeros(epsilon.size), np.ones(epsilon.size)
        place = np.floor(np.log(epsilon) / math.log(_RATIO)).astype(np.int64)
        for name in np.unique(place).tolist():
            line = self._line(name)
            if line is not None:
                at = np.flatnonzero(place == name)
                lower, upper = _bracket(line, epsilon[at])
                low[at], high[at] = np.maximum(lower, 0.0), np.minimum(upper, 1.0)
        return low, high

    def _line(self, name: int) -> _JumpLine | None:
        """Return the line of a bucket of epsilons, which depends on nothing else."""
        if name not in self._lines:
            if len(self._lines) >= _MOST_LINES:
                self._lines.clear()
            lines = (one.line(_RATIO ** (name + 0.5), share) for share in _CUTS for one in self._windows)
            self._lines[name] = next((line for line in lines if line is not None), None)
        return self._lines[name]


class _Windows:
    """The division of one step by two windows of a width, and the lines that it gives."""

    def __init__(self, law: Jumps, copies: int, width: float) -> None:
        self.law, self.copies, self.width = law, copies, width
        self.height = min(_HEIGHT * width, _TURN / law.largest)
        self.step = _exact_step(self.height / _STEPS)
        grow = 2.0 * self.height**2 * (1.0 + 2.0 * width**-2)
        self.missed = 2.0 * math.exp(grow) / math.expm1(2.0 * math.pi * self.height / self.step) + 1e-18
        self._grid = np.linspace(-_ENDS[0], 60.0 + law.largest, _PLACES)
        self._losses = law.log_ratio(self._grid)

    def line(self, epsilon: float, share: float) -> _JumpLine | None:
        """Return the line of the epsilons around one; None if the core reaches the first window, at a share of it."""
        checkpoint()
        cuts = self._place(epsilon / share), self._place(epsilon) + _FAR * self.width
        axis = self._axis(cuts, _EXPONENTS / epsilon)
        with np.errstate(divide="ignore"):
            size = axis.rest - axis.c * epsilon - np.log(axis.c * (axis.c + 1.0))
        size[0] = np.inf
        best = int(np.argmin(size))
        # the saddle point estimate, without the width of its peak
        likely = float(size[best]) + 0.5 * math.log(axis.c[best] * epsilon + 1.0) - 4.0
        if not math.isfinite(likely):  # at no exponent are all transforms doubles
            return None
        if float((axis.core + axis.kappa - axis.c * epsilon)[1:].min()) > likely + math.log(_CORE):
            return None
        return self._nodes(epsilon, cuts, axis, best, likely)

    def _nodes(
        self, epsilon: float, cuts: tuple[float, float], axis: _RealAxis, best: int, likely: float
    ) -> _JumpLine | None:
        c, k = float(axis.c[best]), self.copies
        step = 2.0 * math.pi / self._period(epsilon, axis, best, likely)
        x, weight, size, turn = self._path(c, cuts[1])
        z = x + 1j * self.height
        places = [(cuts[1] - z) / self.width, (cuts[0] - z) / self.width, (z - cuts[0]) / self.width]
        last, *others = (log_ndtr(place) for place in places)
        fall = np.abs(weight)
        logs = [weight + last + other for other in others]
        core, jump = (np.exp(log) for log in logs)
        at_core, at_jump = float(core.sum().real), float(jump.sum().real)
        scale = float(axis.rest[best])
        most = math.exp(likely + c * epsilon - scale) * _LEFT
        moduli = np.abs(jump)

        def beyond(y: float) -> float:
            """Bound the omitted nodes from height y on, over R(c)."""
            d = float((moduli * np.exp(-y * turn)).sum()) * (1 + _SLACK) + self.missed * at_jump
            whole = math.log(k * d) + (k - 1) * math.log(at_core * (1 + self.missed) + d) - scale
            return math.exp(min(whole, 700.0)) / (math.pi * y)

        y = 8.0 * step
        while beyond(y) > most and y <= _MOST * step:  # a fifth higher each round, to `_MOST` steps
            y *= 1.2
        if y > _MOST * step:
            return None
        count = math.ceil(y / step) + 2
        left_out = beyond((count - 1) * step)
        heights = step * np.arange(count)
        a, d = (_along(part, size, turn, step, count) for part in (core, jump))
        with np.errstate(over="ignore", invalid="ignore"):
            front, more = np.exp(k * np.log(a) - scale), k * complex_log1p(d / a)
            rest = front * np.expm1(more)
            # a product by e^z - 1, whose parts are right to units of these sizes
            sizes = np.abs(front) * np.where(np.abs(more) < 1.0, 2.0 * np.abs(more), 1.0 + np.exp(more.real))
        s = c + 1j * heights
        kernel = (step / math.pi) / (s * (s + 1.0))
        kernel[0] *= 0.5
        # errors of the sums A and D: the roundings of their terms, and what the rule misses
        units = self._term_units(c, heights[-1], (x, size, turn), fall)
        wrong_a, wrong_d = (
            _UNIT
            * float(
                np.abs(part)
                @ (units + _window_units(places[0], last) + _window_units(place, other) + 2.0 * np.abs(log))
            )
            + self.missed * whole
            for part, place, other, log, whole in zip(
                (core, jump), places[1:], others, logs, (at_core, at_jump), strict=True
            )
        )
        both = np.abs(a) + np.abs(d)
        # abs((A+D)^(k-1) - A^(k-1)) is at most (k-1) abs(D) (abs(A) + abs(D))^(k-2)
        wrong = k * np.exp((k - 1) * np.log(both) - scale) * (wrong_d + (k - 1) * np.abs(d) / both * wrong_a)
        own = _UNIT * (64.0 + (LIBRARY + 4.0) * (k * np.abs(np.log(a)) + abs(scale)) + 32.0 * np.abs(more))
        rounding = float((np.abs(kernel) * (wrong + sizes * own)).sum())
        terms = np.asarray(rest * kernel, dtype=np.complex128)
        phase = 8.0 * float((np.abs(terms) * heights).sum())
        rounding += _UNIT * (count + 64.0) * float(np.abs(terms).sum())
        if not np.isfinite(terms).all():
            return None
        # of the normal masses beyond the second window, whose argument has 3 units of itself
        beyond_cut = cuts[1] / math.hypot(1.0, self.width) + self.law.largest
        far_units = _LOG_NDTR + 3.0 * (beyond_cut * beyond_cut + abs(beyond_cut)) + 64.0
        far = self._far(epsilon, cuts)
        return _JumpLine(c, step, scale, terms, left_out, 1.02 * rounding, phase, far_units, axis, far)

    def _term_units(
        self, c: float, highest: float, nodes: tuple[FloatArray, FloatArray, FloatArray], fall: FloatArray
    ) -> FloatArray:
        """Bound the errors of the terms of A and D but for their windows, in units; phases count until they have faded."""
        x, size, turn = nodes
        own = turned_units(self.law, x, self.law.log_ratio(x), (size, turn))
        units = abs(c + 1.0) * (own + 2.0 * np.abs(size) + 3.0 * turn) + 3.0 * x * x + 3.0 * np.abs(x) * self.height
        units = units + 3.0 * fall + (LIBRARY * (abs(math.log(self.step)) + 4.0) + 64.0 + x.size)
        longest = np.minimum(highest, 0.37 / np.maximum(turn, 1e-300))
        return np.asarray(units + (own + 12.0 * (np.abs(size) + turn)) * longest, dtype=np.float64)

    def _period(self, epsilon: float, axis: _RealAxis, best: int, likely: float) -> float:
        """Return a period whose images add little."""
        gap = axis.c - axis.c[best]
        need = axis.rest + axis.kappa - axis.c * epsilon - likely - math.log(_EXCESS)
        with np.errstate(divide="ignore", invalid="ignore"):
            width = np.where(gap == 0.0, np.inf, np.maximum(need, 1.0) / np.abs(gap))
        return float(max(width[gap > 0].min(), width[gap < 0].min()))

    # ---- the real axis and the path ------------------------------------------------------------------------------

    def _place(self, loss: float) -> float:
        """Return an approximate x for each loss."""
        return float(np.interp(loss, self._losses, self._grid))

    def _axis(self, cuts: tuple[float, float], c: FloatArray) -> _RealAxis:
        """Return the transforms of the core and of the middle jumps at real exponents."""
        x, fall, loss = self._real(cuts)
        places = [(cut - x) / self.width for cut in cuts]
        near, far = (log_ndtr(place) for place in places)
        k = self.copies
        # how fast the windows and phi fall at the right end, and how much more an exponent could gain beyond
        bend = 1.0 + self.width**-2
        rise = np.maximum((c + 1.0) * self.law.largest - x[-1] - (x[-1] - cuts[1]) / self.width**2, 0.0)
        room = rise * rise / (2.0 * bend) + _FALL
        own = ratio_units(self.law, x, loss)
        both = _window_units(places[1], far)
        after = log_ndtr(-places[0])
        a, d = (
            _log_sums(c, loss, fall + far + w, (own, both + _window_units(place, w) + 3.0 * x * x), room)
            for w, place in ((near, places[0]), (after, places[0]))
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            kappa = np.where(c > 0, c * np.log(c) - (1.0 + c) * np.log1p(c), 0.0)
        return _RealAxis(c, k * a + _SLACK * (1.0 + k * np.abs(a)), _log_rest(a, d, k), kappa)

    def _far(self, epsilon: float, cuts: tuple[float, float]) -> _Far:
        """Return the sums with at least one far jump."""
        law, wide = self.law, math.hypot(1.0, self.width)
        masses = law.mass_above(cuts[1], wide)
        at_zero, at_one = (-math.expm1(self.copies * math.log1p(-mass)) for mass in masses)
        x, fall, loss = self._real(cuts)
        # off the axis log|r| is smaller by about u^2/2 times (log r)'' <= move^2 min(loss, 1/4)
        bend = (self.width * law.largest) ** 2 * min(float(np.interp(cuts[1], x, loss)), 0.25)
        c = -1.0 - _EXPONENTS[1 : np.searchsorted(_EXPONENTS, _STEEPEST * epsilon / bend)] / epsilon
        place, own = (cuts[1] - x) / self.width, ratio_units(law, x, loss)
        whole, far = (
            _log_sums(c, loss, fall + w, (own, _window_units(place, w) + 3.0 * x * x))
            for w in (log_ndtr(place), log_ndtr(-place))
        )
        b = -1.0 - c
        kappa = b * np.log(b) - (1.0 + b) * np.log1p(b)
        return _Far(at_one, at_zero, c, _log_rest(whole, far + _WIDE, self.copies) + kappa)

    def _real(self, cuts: tuple[float, float]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return steps on the real axis, logarithm of density and step, and losses."""
        step = _exact_step(min(self.width, 1.0 / self.law.largest) / _COARSE)
        x = _nodes_of(step, -_ENDS[0], cuts[1] + _ENDS[1])
        return x, math.log(step / math.sqrt(2.0 * math.pi)) - x * x / 2, self.law.log_ratio(x)

    def _path(self, c: float, cut: float) -> tuple[FloatArray, ComplexArray, FloatArray, FloatArray]:
        """Return x, logarithms of the weights with e^((c+1) log r), log|r| and arg r along the path."""
        x = _nodes_of(self.step, -_ENDS[0], cut + _ENDS[1])
        size, turn = self.law.turned_log_ratio(x, self.height)
        fall = (c + 1.0) * size - (x * x - self.height**2) / 2 + math.log(self.step / math.sqrt(2.0 * math.pi))
        return x, np.asarray(fall + 1j * ((c + 1.0) * turn - x * self.height), dtype=np.complex128), size, turn


def _bracket(line: _JumpLine, epsilon: FloatArray) -> Bounds:
    """Return bounds of delta at epsilons near that of the line."""
    turn = np.exp(-1j * line.step * np.multiply.outer(epsilon, np.arange(line.terms.size)))
    value = product(turn, line.terms).real
    scale = np.exp(line.log_scale - line.c * epsilon)
    own = np.abs(line.c * epsilon) + abs(line.log_scale)
    error = line.cut + line.rounding + _UNIT * (4.0 * own + 8.0) * np.abs(value) + _UNIT * line.phase * epsilon
    excess = _excess(line, epsilon)
    core = np.exp(_least(line.axis.c, line.axis.core + line.axis.kappa, epsilon)) * (1 + _SLACK)
    far, grow = line.far, np.exp(epsilon)
    above = far.at_one - grow * far.at_zero
    margin = line.far_units * _UNIT * (far.at_one + grow * far.at_zero)
    below = np.exp(_least(far.c, far.below, epsilon)) * (1 + _SLACK)
    return scale * (value - error) - excess + above - margin, scale * (value + error) + core + above + margin + below


def _excess(line: _JumpLine, epsilon: FloatArray) -> FloatArray:
    """Bound the images of the rest, e^(c m W) F(eps + m W) over all m but 0, by Chernoff with the best exponents."""
    axis, period = line.axis, 2.0 * math.pi / line.step
    gap = axis.c - line.c
    with np.errstate(divide="ignore"):
        decay = np.abs(gap) * period
        log_sum = np.where(gap == 0.0, np.inf, -decay - np.log(-np.expm1(-decay)))
    bound = axis.rest + axis.kappa + log_sum
    above, below = gap > 0.0, gap < 0.0
    sides = [_least(axis.c[side], bound[side], epsilon) for side in (above, below)]
    return np.asarray((np.exp(sides[0]) + np.exp(sides[1])) * (1 + _SLACK), dtype=np.float64)


def _exact_step(step: float) -> float:
    """Return a step a little smaller, whose multiples are doubles."""
    places = _PLACES_OF_A_STEP - min(0, math.frexp(step)[1])
    return math.floor(math.ldexp(step, places)) / 2.0**places


def _nodes_of(step: float, low: float, high: float) -> FloatArray:
    """Return the multiples of an exact step from about one number to another."""
    return np.asarray(step * np.arange(math.floor(low / step), math.ceil(high / step)), dtype=np.float64)


def _window_units(place: NDArray[Any], log: NDArray[Any]) -> FloatArray:
    """Bound the error of log Phi at p, in units: that of the library, and 3 of its argument."""
    size = np.abs(place)
    units = _LOG_NDTR * (1.0 + np.abs(log)) + 3.0 * (size * size + size)
    return np.asarray(np.where(place.real > _SURE, 0.01, units), dtype=np.float64)


def _log_sums(
    c: FloatArray,
    loss: FloatArray,
    weight: FloatArray,
    units: tuple[FloatArray, FloatArray],
    room: FloatArray | float = _FALL,
) -> FloatArray:
    """Return the logarithm of the sum of e^((c+1) loss + weight) at each c, rounded up, inf where the last term is not below the largest by `room`.

    `units` are the errors of a loss and of a weight, in units of 2^-53.
    """
    total = np.multiply.outer(c + 1.0, loss) + weight
    peak = total.max(axis=1)
    part = np.exp(total - peak[:, None])
    whole = part.sum(axis=1)
    value = peak + np.log(whole)
    power = np.abs(c + 1.0)
    each = (
        (part @ units[0] + 2.0 * (part @ np.abs(loss))) * power + part @ units[1] + (part * np.abs(total)).sum(axis=1)
    )
    own = each / whole + np.abs(peak) + LIBRARY * (np.log(loss.size) + 4.0) + loss.size + 24.0
    value = value + 1.02 * _UNIT * own
    return np.where(total[:, -1] + room <= peak, value, np.inf)


def _log_rest(a: FloatArray, d: FloatArray, k: int) -> FloatArray:
    """Return log((A + D)^k - A^k), rounded up, from the logarithms of A and D."""
    known = np.isfinite(a) & np.isfinite(d)
    a, d = np.where(known, a, 0.0), np.where(known, d, 0.0)
    more = k * np.logaddexp(0.0, d - a)
    rest = k * a + np.where(more > 30.0, more, np.log(np.maximum(np.expm1(np.minimum(more, 30.0)), 1e-300)))
    return np.where(known, rest + _SLACK * (1.0 + k * np.abs(a)), np.inf)


def _least(c: FloatArray, bound: FloatArray, epsilon: FloatArray) -> FloatArray:
    """Return the least of bound - c eps at each epsilon."""
    return np.asarray((bound[:, None] - np.multiply.outer(c, epsilon)).min(axis=0), dtype=np.float64)


def _along(weight: ComplexArray, size: FloatArray, turn: FloatArray, step: float, count: int) -> ComplexArray:
    """Return the sums of weight e^(iy log r) at y = 0, step, 2 step, ...: products of two exponentials each."""
    width = math.isqrt(count - 1) + 1
    rate = 1j * size - turn
    fine = np.exp(np.maximum(np.multiply.outer(rate.real, step * np.arange(width)), -600.0)) * np.exp(
        1j * np.multiply.outer(rate.imag, step * np.arange(width))
    )
    starts = step * width * np.arange(-(-count // width))
    coarse = np.exp(np.maximum(np.multiply.outer(starts, rate.real), -600.0)) * np.exp(
        1j * np.multiply.outer(starts, rate.imag)
    )
    return np.asarray(product(coarse * weight, fine).ravel()[:count], dtype=np.complex128)

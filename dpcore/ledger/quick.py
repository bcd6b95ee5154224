r"""Many small changes of one long list, without certificate: one contour for all of them.

.. math:: \delta(\varepsilon) = q_\infty + \frac{1}{2\pi i}\int_{c-i\infty}^{c+i\infty}
          \frac{e^{K(s)-s\varepsilon}}{s(s+1)}\,ds, \qquad K=\sum_l n_l\log M_l ,

on the same nodes for every change: removing a row subtracts its own log M. K of the whole list is summed once, so ten
thousand rows cost one evaluation each. The larger of the two directions counts. If losses lie on a lattice, or nearly
so, M comes back far up the line, where there is no node; the error is then about that of replacing the lattice by a
smooth law, which is why the answers are approximations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.regions.algebra import Loose, SelfComposing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpcore.curves.base import Curve, FloatArray
    from dpcore.regions.algebra import Factors

    ComplexArray = NDArray[np.complex128]
    Rough = dict[bool, FloatArray]

_GRID = np.geomspace(0.02, 4000.0, 60)  # Re s where the saddle point is looked for
_NODES = (64, 128, 256, 512, 1024)  # the fewest that let the integrand fade
_FADED = 1e-13  # of the first term; what is cut off then is below rounding
_REACH = 24.0  # standard deviations of the tilted loss that one period covers
_ROUNDS = 40  # Newton takes about six, bisection alone the rest
_CLOSE = 1e-12  # relative step at which epsilon has converged
_AGREES = 1e-5  # relative error of epsilon of the whole list above which changes are not trusted
_EVERY = 200  # releases between two reports of progress


@dataclass(frozen=True)
class _Direction:
    """One direction: its nodes, log M of the whole list there, and log M of single parts, computed when needed."""

    s: ComplexArray
    step: float
    whole: ComplexArray
    forward: bool
    logs: dict[str, ComplexArray]


class ListContours:
    """The whole list on its contours, ready for changes."""

    def __init__(self, factors: Factors, delta: float, epsilon: float, rough: Rough | None = None) -> None:
        self.factors, self.delta, self.top = factors, delta, epsilon
        self.rough: Rough = {} if rough is None else rough
        symmetric = all(node.pair.symmetric for node, _ in factors)
        sides = [self._side(forward) for forward in ((True,) if symmetric else (True, False))]
        self.sides = [side for side in sides if side is not None] if None not in sides else []
        self.failing = math.fsum(count * math.log1p(-node.curve.q_inf) for node, count in factors)

    @classmethod
    def of(cls, factors: Factors, delta: float, epsilon: float, rough: Rough | None = None) -> ListContours | None:
        """Return the contours of a list that has about this epsilon at delta; None if a transform is not known.

        `rough` is log M of the list on the grid of exponents, by direction, if that is known already.
        """
        if not cls.knows(factors) or not 0 < epsilon < math.inf or not 0 < delta < 1:
            return None
        contours = cls(factors, delta, epsilon, rough)
        return contours if contours.sides else None

    @staticmethod
    def knows(factors: Factors) -> bool:
        """Whether every transform is known and all asymmetric parts have the same direction."""
        simple = all(node.pair.has_mgf and not isinstance(node, (Loose, SelfComposing)) for node, _ in factors)
        directions = {node.oriented for node, _ in factors if not node.pair.symmetric}
        return simple and len(directions) <= 1 and "" not in directions

    @property
    def agrees(self) -> bool:
        """Whether epsilon of the unchanged list is right: otherwise its changes cannot be trusted."""
        return abs(float(self.epsilons([[]])[0]) - self.top) <= _AGREES * self.top

    def epsilons(self, changes: Sequence[Factors]) -> FloatArray:
        """Return epsilon at delta after each change, a list of (region, copies); negative copies are removed."""
        out = np.empty(len(changes))
        for start in range(0, len(changes), _EVERY):
            checkpoint(start / len(changes))
            part = changes[start : start + _EVERY]
            out[start : start + _EVERY] = np.max([self._solved(side, part) for side in self.sides], axis=0)
        return out

    def most(self, more: Factors, least: int, largest: int) -> int:
        """Return about how many times `more` can be added until delta at the list's epsilon reaches its limit.

        The result lies between `least`, which may be negative, and `largest`.
        """
        log_success = math.fsum(count * math.log1p(-node.curve.q_inf) for node, count in more)
        parts = [(side, sum(k * self._log(side, n.pair, n.text) for n, k in more)) for side in self.sides]

        def fits(copies: int) -> bool:
            lost = -math.expm1(self.failing + copies * log_success)
            return all(lost + _integral(side, side.whole + copies * one, self.top) <= self.delta for side, one in parts)

        low, high, step = (0, largest + 1, 1) if fits(0) else (least, 0, -1)
        while low < step < high and fits(step) == (step > 0):  # doubles, to the ends of the range
            low, high = (step, high) if step > 0 else (low, step)
            step *= 2
        if low < step < high:
            low, high = (low, step) if step > 0 else (step, high)
        while high - low > 1:  # halves
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    # ---- one direction ---------------------------------------------------------------------------------------

    def _side(self, forward: bool) -> _Direction | None:
        """Put the line through the saddle point of the whole list and choose nodes that hold the tilted loss."""
        if forward not in self.rough:
            self.rough[forward] = _sum(self.factors, forward)
        lowest = _lowest(self.rough[forward] - _GRID * self.top - np.log(_GRID) - np.log1p(_GRID))
        if lowest is None:
            return None
        c, bend, _ = lowest
        step = 2 * math.pi / max(_REACH * math.sqrt(bend), 45.0 / c)
        nodes = self._enough(c, step, forward)
        if nodes is None:
            return None
        return self._on(np.asarray(c + 1j * step * np.arange(nodes), dtype=np.complex128), step, forward)

    def _enough(self, c: float, step: float, forward: bool) -> int | None:
        """Return how many nodes let the integrand fade, even without one of the regions; only the last node is checked."""
        s = np.asarray(c + 1j * step * np.array([0, *(nodes - 1 for nodes in _NODES)]), dtype=np.complex128)
        whole, most = np.zeros(s.size), np.zeros(s.size)
        for place, (node, count) in enumerate(self.factors):
            if place % _EVERY == 0:
                checkpoint(place / len(self.factors))
            with np.errstate(all="ignore"):
                logs = _oriented(node.pair, forward).log_mgf(s).real
            fall = count * (logs - logs[0])
            whole += fall
            np.minimum(most, fall, out=most)
        size = np.minimum(0.0, whole - most) - np.log(np.abs(s * (s + 1)))
        faded = np.flatnonzero(size[1:] - size[0] <= math.log(_FADED))
        return _NODES[int(faded[0])] if faded.size else None

    def _on(self, s: ComplexArray, step: float, forward: bool) -> _Direction:
        side = _Direction(s, step, np.zeros(s.size, dtype=np.complex128), forward, {})
        for node, count in self.factors:
            np.add(side.whole, count * self._log(side, node.pair, node.text), out=side.whole)
        return side

    def _log(self, side: _Direction, pair: Curve, name: str) -> ComplexArray:
        if name not in side.logs:
            with np.errstate(all="ignore"):
                side.logs[name] = _oriented(pair, side.forward).log_mgf(side.s)
        return side.logs[name]

    def _solved(self, side: _Direction, changes: Sequence[Factors]) -> FloatArray:
        """Find epsilon of all changes together: Newton's method in log delta, bisection if it leaves the bracket."""
        logs = np.stack([self._changed(side, change) for change in changes])
        lost = np.array([self.failing + math.fsum(k * math.log1p(-n.curve.q_inf) for n, k in c) for c in changes])
        failing, top, c = -np.expm1(lost), logs[:, 0].real, side.s[0].real
        terms = _terms(logs, side.s, top[:, None])
        terms[:, 0] /= 2
        low, high = np.zeros(len(changes)), np.full(len(changes), 2 * self.top)
        at = np.full(len(changes), self.top)
        goal = math.log(self.delta)
        for _ in range(_ROUNDS):
            weights = terms * np.exp(-1j * side.s.imag * at[:, None])
            scale = np.exp(top - c * at) * side.step / math.pi
            delta, slope = failing + scale * weights.real.sum(axis=1), -scale * (weights * side.s).real.sum(axis=1)
            above = delta > self.delta
            low, high = np.where(above, at, low), np.where(above, high, at)
            with np.errstate(all="ignore"):
                moved = at - (np.log(delta) - goal) * delta / slope
            new = np.where((moved > low) & (moved < high), moved, (low + high) / 2)
            if np.all(np.abs(new - at) <= _CLOSE * self.top):
                break
            at = new
        return np.asarray(new, dtype=np.float64)

    def _changed(self, side: _Direction, change: Factors) -> ComplexArray:
        out = side.whole.copy()
        for node, count in change:
            out += count * self._log(side, node.pair, node.text)
        return out


def _integral(side: _Direction, logs: ComplexArray, epsilon: float) -> float:
    """Return the trapezoidal sum at one epsilon; infinite where it overflows."""
    exponent = logs - side.s * epsilon
    top = float(exponent[0].real)
    if top > 700:
        return math.inf
    terms = _terms(exponent, side.s, top)
    return math.exp(top) * float(terms.real.sum() - 0.5 * terms[0].real) * side.step / math.pi


def _terms(logs: ComplexArray, s: ComplexArray, top: FloatArray | float) -> ComplexArray:
    return np.asarray(np.exp(logs - top) / (s * (s + 1)), dtype=np.complex128)


def _sum(factors: Factors, forward: bool) -> FloatArray:
    """Return log M of a list on the grid of exponents."""
    s, out = _GRID.astype(np.complex128), np.zeros(_GRID.size)
    for place, (node, count) in enumerate(factors):
        if place % _EVERY == 0:
            checkpoint(place / len(factors))
        with np.errstate(all="ignore"):
            out += count * _oriented(node.pair, forward).log_mgf(s).real
    return out


def _lowest(phase: FloatArray) -> tuple[float, float, float] | None:
    """Return where on the grid of exponents a convex function is lowest, its second derivative there, and its value.

    A parabola through the three lowest points gives them; None if the lowest is at an end.
    """
    at = int(np.argmin(np.where(np.isfinite(phase), phase, np.inf)))
    if not 0 < at < _GRID.size - 1 or not np.isfinite(phase[at - 1 : at + 2]).all():
        return None
    low, c, high = _GRID[at - 1 : at + 2].tolist()
    left, right = (phase[at] - phase[at - 1]) / (c - low), (phase[at + 1] - phase[at]) / (high - c)
    bend = float(2 * (right - left) / (high - low))
    if not bend > 0:
        return None
    best = min(max(0.5 * (low + c) - float(left) / bend, low), high)
    slope = float(left) + 0.5 * bend * (c - low)  # at c
    return best, bend, float(phase[at]) + slope * (best - c) + 0.5 * bend * (best - c) ** 2


class CopyEstimate:
    """How many more releases fit, to a few per cent: by the saddle point approximation on the grid alone."""

    def __init__(self, factors: Factors, more: Factors, delta: float, epsilon: float) -> None:
        symmetric = all(node.pair.symmetric for node, _ in factors)
        self.directions = (True,) if symmetric else (True, False)
        self.rough = {forward: _sum(factors, forward) for forward in self.directions}
        self.more = {forward: _sum(more, forward) for forward in self.directions}
        self.goal, self.kernel = math.log(delta), _GRID * epsilon + np.log(_GRID) + np.log1p(_GRID)

    def count(self, largest: int) -> int:
        """Return about the largest number, from 0 to `largest`."""
        low, high = 0, 1
        while high <= largest and self._fits(high):  # doubles
            low, high = high, 2 * high
        high = min(high, largest + 1)
        while high - low > max(1, low // 1000):  # halves
            middle = (low + high) // 2
            low, high = (middle, high) if self._fits(middle) else (low, middle)
        return low

    def grown(self, copies: int) -> Rough:
        """Return log M on the grid of the list with `copies` more."""
        return {forward: self.rough[forward] + copies * self.more[forward] for forward in self.directions}

    def _fits(self, copies: int) -> bool:
        lowest = [_lowest(log_mgf - self.kernel) for log_mgf in self.grown(copies).values()]
        return all(one is not None and one[2] - 0.5 * math.log(2 * math.pi * one[1]) <= self.goal for one in lowest)


def _oriented(pair: Curve, forward: bool) -> Curve:
    return pair if forward else pair.inverse()

r"""Many small changes of one long list, without certificate: one contour for all of them.

.. math:: \delta(\varepsilon) = q_\infty + \frac{1}{2\pi i}\int_{c-i\infty}^{c+i\infty}
          \frac{e^{K(s)-s\varepsilon}}{s(s+1)}\,ds, \qquad K=\sum_l n_l\log M_l ,

on the same nodes for every change: a row that leaves takes its own log M away. K of the whole list is summed once, so
that ten thousand rows cost one evaluation each. The largest of the two directions counts. Losses that lie on a lattice,
or nearly so, make M come back far up the line, where no node stands: the error is then about that of replacing the
lattice by a smooth law, which is why the answers are approximations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.algebra import Loose, SelfComposing
from dpcore.limits import checkpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from dpcore.algebra import Factors
    from dpcore.curves.base import Curve, FloatArray

    ComplexArray = NDArray[np.complex128]

_GRID = np.geomspace(0.02, 4000.0, 60)
_NODES = (64, 128, 256, 512, 1024)  # as few as let the integrand fade
_FADED = 1e-13
_REACH = 24.0  # standard deviations of the tilted loss that one period covers
_ROUNDS = 40
_CLOSE = 1e-12
_AGREES = 1e-5  # how well epsilon of the whole list must be found for the changes to be believed
_EVERY = 200


@dataclass(frozen=True)
class _Side:
    """One direction: its nodes, log M of the whole list there, and the parts' own log M as they are asked for."""

    s: ComplexArray
    step: float
    whole: ComplexArray
    forward: bool
    known: dict[str, ComplexArray]


class Quick:
    """The whole list on its contours, ready for changes."""

    def __init__(self, factors: Factors, delta: float, epsilon: float) -> None:
        self.factors, self.delta, self.top = factors, delta, epsilon
        symmetric = all(node.pair.symmetric for node, _ in factors)
        found = [self._side(forward) for forward in ((True,) if symmetric else (True, False))]
        self.sides = [side for side in found if side is not None] if None not in found else []
        self.failing = math.fsum(count * math.log1p(-node.curve.q_inf) for node, count in factors)

    @classmethod
    def of(cls, factors: Factors, delta: float, epsilon: float) -> Quick | None:
        """Return the contours of a list that is to have this epsilon at delta; None where they are not known."""
        simple = all(node.pair.has_mgf and not isinstance(node, (Loose, SelfComposing)) for node, _ in factors)
        ways = {node.oriented for node, _ in factors if not node.pair.symmetric}
        if not simple or len(ways) > 1 or "" in ways or not 0 < epsilon < math.inf or not 0 < delta < 1:
            return None
        found = cls(factors, delta, epsilon)
        return found if found.sides else None

    @property
    def agrees(self) -> bool:
        """Whether epsilon of the list as it is comes out as it should: only then changes of it are to be believed."""
        return abs(float(self.epsilons([[]])[0]) - self.top) <= _AGREES * self.top

    def epsilons(self, changes: Sequence[Factors]) -> FloatArray:
        """Return epsilon at delta after each change, a list of (region, copies more); negative copies leave."""
        out = np.empty(len(changes))
        for start in range(0, len(changes), _EVERY):
            checkpoint(start / len(changes))
            part = changes[start : start + _EVERY]
            out[start : start + _EVERY] = np.max([self._solved(side, part) for side in self.sides], axis=0)
        return out

    def most(self, more: Factors, least: int, largest: int) -> int:
        """Return about how many times `more` may be added until delta at the list's epsilon is what it may be.

        Between `least`, which may be negative, and `largest`.
        """
        kept = math.fsum(count * math.log1p(-node.curve.q_inf) for node, count in more)
        parts = [(side, sum(k * self._log(side, n.pair, n.text) for n, k in more)) for side in self.sides]

        def fits(copies: int) -> bool:
            lost = -math.expm1(self.failing + copies * kept)
            return all(lost + _integral(side, side.whole + copies * one, self.top) <= self.delta for side, one in parts)

        low, high, step = (0, largest + 1, 1) if fits(0) else (least, 0, -1)
        while low < step < high and fits(step) == (step > 0):
            low, high = (step, high) if step > 0 else (low, step)
            step *= 2
        if low < step < high:
            low, high = (low, step) if step > 0 else (step, high)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    # ---- one direction ---------------------------------------------------------------------------------------

    def _side(self, forward: bool) -> _Side | None:
        """Put the line through the saddle point of the whole list and choose nodes that hold the tilted loss."""
        phase = self._sum(_GRID, forward) - _GRID * self.top - np.log(_GRID) - np.log1p(_GRID)
        at = int(np.argmin(np.where(np.isfinite(phase), phase, np.inf)))
        if not 0 < at < _GRID.size - 1:
            return None
        near = np.linspace(_GRID[at - 1], _GRID[at + 1], 21)
        phase = self._sum(near, forward) - near * self.top - np.log(near) - np.log1p(near)
        at = min(max(int(np.argmin(phase)), 1), near.size - 2)
        c, gap = float(near[at]), float(near[1] - near[0])
        spread = math.sqrt(max(float(phase[at - 1] - 2 * phase[at] + phase[at + 1]), 0.0)) / gap
        if not spread > 0:
            return None
        step = 2 * math.pi / max(_REACH * spread, 45.0 / c)
        for nodes in _NODES:
            line = np.asarray(c + 1j * step * np.arange(nodes), dtype=np.complex128)
            side = self._on(line, step, forward)
            if self._faded(side):
                return side
        return None

    def _faded(self, side: _Side) -> bool:
        """Whether the integrand is small at the last node, also without any one of the regions."""
        fall = float((side.whole[-1] - side.whole[0]).real)
        least = min(count * float((side.known[n.text][-1] - side.known[n.text][0]).real) for n, count in self.factors)
        weight = abs(side.s[0] * (side.s[0] + 1)) / abs(side.s[-1] * (side.s[-1] + 1))
        return bool(math.exp(min(0.0, fall - min(0.0, least))) * weight <= _FADED)

    def _on(self, s: ComplexArray, step: float, forward: bool) -> _Side:
        side = _Side(s, step, np.zeros(s.size, dtype=np.complex128), forward, {})
        for node, count in self.factors:
            np.add(side.whole, count * self._log(side, node.pair, node.text), out=side.whole)
        return side

    def _sum(self, s: FloatArray, forward: bool) -> FloatArray:
        with np.errstate(all="ignore"):
            logs = [
                count * _way(node.pair, forward).log_mgf(s.astype(np.complex128)).real for node, count in self.factors
            ]
        return np.asarray(np.sum(logs, axis=0), dtype=np.float64)

    def _log(self, side: _Side, pair: Curve, name: str) -> ComplexArray:
        if name not in side.known:
            with np.errstate(all="ignore"):
                side.known[name] = _way(pair, side.forward).log_mgf(side.s)
        return side.known[name]

    def _solved(self, side: _Side, changes: Sequence[Factors]) -> FloatArray:
        """Find epsilon of all changes together: Newton in log delta, bisection where that leaves the bracket."""
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

    def _changed(self, side: _Side, change: Factors) -> ComplexArray:
        out = side.whole.copy()
        for node, count in change:
            out += count * self._log(side, node.pair, node.text)
        return out


def _integral(side: _Side, logs: ComplexArray, epsilon: float) -> float:
    """Return the trapezoidal sum at one epsilon; infinite where it overflows."""
    exponent = logs - side.s * epsilon
    top = float(exponent[0].real)
    if top > 700:
        return math.inf
    terms = _terms(exponent, side.s, top)
    return math.exp(top) * float(terms.real.sum() - 0.5 * terms[0].real) * side.step / math.pi


def _terms(logs: ComplexArray, s: ComplexArray, top: FloatArray | float) -> ComplexArray:
    return np.asarray(np.exp(logs - top) / (s * (s + 1)), dtype=np.complex128)


def _way(pair: Curve, forward: bool) -> Curve:
    return pair if forward else pair.inverse()

r"""A quick delta without certificate, to start a search from: the contour integral on a few dozen nodes.

.. math:: \delta(\varepsilon) = q_\infty + \frac{1}{2\pi i}\int_{c-i\infty}^{c+i\infty} \frac{M(s)e^{-s\varepsilon}}{s(s+1)}\,ds,
   \qquad c > 0 .

The trapezoidal rule of step 2 pi / T adds the values at epsilon +- T, each damped; T covers many standard deviations
of the tilted loss. If the transform does not fall fast enough the result is nan, and the search does without it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.curves.combined import Either

if TYPE_CHECKING:
    from dpcore.curves.base import Curve, FloatArray
    from dpcore.regions.tradeoff import TradeOff

# None of these decides an answer: a bad estimate costs a longer certified search.
_GRID = np.geomspace(0.02, 4000.0, 24)  # Re s where the saddle point is looked for
_NEAR = np.geomspace(0.5, 2.0, 7)  # the same around the last line, as factors
_ZOOMS = 3
_PERIOD = 16.0  # standard deviations of the tilted loss in one period
_MOST = 256  # nodes
_TAIL, _COARSE_TAIL = 1e-7, 1e-2  # last term over the first: enough, and just tolerable on all nodes
_AGAIN = 0.3  # how far the search moves before a new line is chosen


def _parts(curve: Curve) -> tuple[Curve, ...]:
    return curve.parts if isinstance(curve, Either) else (curve,)


def applies(region: TradeOff) -> bool:
    """Whether every part of the region is a product known through smooth transforms."""
    return all(p.is_product and p.has_mgf for p in _parts(region.curve))


class _Line(NamedTuple):
    """The line of the contour: where the search stood when it was chosen, Re s, standard deviation of the loss."""

    v: float
    c: float
    deviation: float


class DeltaEstimate:
    """delta(epsilon) of a family of regions along the search; keeps the line between neighbouring regions."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self.lead = 0
        self._line_in_use: _Line | None = None
        self._nodes = 0

    def delta(self, region: TradeOff, v: float) -> float:
        """Return delta without certificate, or nan; `v` is where the search is.

        Of several parts, the one with the largest Chernoff bound is used from then on.
        """
        parts = _parts(region.curve)
        if self._line_in_use is None and len(parts) > 1:
            phases = [self._phase(part, _GRID) for part in parts]
            self.lead = int(np.argmax([phase.min() for phase in phases]))
            self._line_in_use = self._line(parts[self.lead], v, phases[self.lead])
        curve = parts[min(self.lead, len(parts) - 1)]
        if self._line_in_use is None or abs(self._line_in_use.v - v) > _AGAIN:
            self._nodes = 0
            self._line_in_use = self._line(curve, v)
        delta = math.nan if self._line_in_use is None else self._integral(curve, self._line_in_use)
        if not math.isnan(delta) or self._line_in_use is None or self._line_in_use.v == v:
            return delta
        # the transform may explode on a line that served a neighbour
        self._nodes = 0
        self._line_in_use = self._line(curve, v)
        return math.nan if self._line_in_use is None else self._integral(curve, self._line_in_use)

    def _line(self, curve: Curve, v: float, phase: FloatArray | None = None) -> _Line | None:
        """Place the line at the saddle point: search a grid, near the last line if there was one, then refine it."""
        grid = _GRID if self._line_in_use is None else self._line_in_use.c * _NEAR
        phase = self._phase(curve, grid) if phase is None else phase
        if not 0 < int(np.argmin(phase)) < grid.size - 1:
            grid = _GRID
            phase = self._phase(curve, grid)
        for _ in range(1 if grid.size == _NEAR.size else _ZOOMS):
            at = int(np.argmin(phase))
            if not 0 < at < grid.size - 1:
                return None
            grid = np.linspace(grid[at - 1], grid[at + 1], _NEAR.size)
            phase = self._phase(curve, grid)
        at = min(max(int(np.argmin(phase)), 1), grid.size - 2)
        bend = float(phase[at - 1] - 2 * phase[at] + phase[at + 1])
        if not 0 < bend < math.inf:
            return None
        step = float(grid[1] - grid[0])
        c = float(grid[at]) + min(1.0, max(-1.0, 0.5 * float(phase[at - 1] - phase[at + 1]) / bend)) * step
        return _Line(v, c, math.sqrt(bend) / step)

    def _phase(self, curve: Curve, s: FloatArray) -> FloatArray:
        """Return log of the integrand on the real axis, infinite where it is not known."""
        with np.errstate(all="ignore"):
            phase = curve.log_mgf(s.astype(np.complex128)).real - s * self.epsilon - np.log(s) - np.log1p(s)
        return np.where(np.isfinite(phase), phase, np.inf)

    def _integral(self, curve: Curve, line: _Line) -> float:
        """Return the trapezoidal sum, on more nodes while its last terms are not small."""
        _, c, deviation = line
        step = 2 * math.pi / max(_PERIOD * deviation, 45.0 / c)
        count = max(min(int(7.0 / (deviation * step)) + 17, _MOST), self._nodes)
        while True:  # four times as many nodes per pass, at most `_MOST`
            s = np.empty(count, dtype=np.complex128)
            s.real, s.imag = c, step * np.arange(count)
            with np.errstate(all="ignore"):
                exponent = curve.log_mgf(s) - s * self.epsilon
                top = float(exponent[0].real)
                terms = np.exp(exponent - top) / (s * (s + 1))
            if not np.isfinite(terms).all():
                return math.nan
            tail = abs(terms[-1]) / abs(terms[0])
            if tail <= _TAIL:
                break
            if count >= _MOST:
                if tail > _COARSE_TAIL:
                    return math.nan
                break
            count = self._nodes = min(4 * count, _MOST)
        total = float(terms.real.sum() - 0.5 * terms[0].real) * step / math.pi
        if not total > 0 or top + math.log(total) > 0:
            return math.nan
        return curve.q_inf + math.exp(top) * total

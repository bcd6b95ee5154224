"""A root finder that keeps a safe point: few evaluations, and the answer is one that was itself evaluated.

The gap is positive where the target is missed and at most 0 where it is met; it falls along the axis v. All evaluated
points are kept. The bracket (last missed, first met) closes by inverse interpolation with a small overshoot towards the
farther end, and by halving whenever interpolation is slow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDS = 200  # halving alone takes fewer than 60
_FIRST_STEP = math.log(2.0)
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
_VALLEY = 1e-4  # a valley of the gap is flat at its bottom: a width of 1e-4 leaves 1e-8 of its depth
_PATIENCE = 3  # interpolations that may shrink the bracket by less than half before it is halved


@dataclass
class Axis:
    """Where a search may go: its ends, how close the bracket must get, and whether only integers count."""

    low: float
    high: float
    close: float
    snap: Callable[[float, float, float], float | None] | None = None
    """For integers: the allowed point nearest to v strictly between two others, or None if there is none."""


@dataclass
class Search:
    """The state of one search; `gap(v)` may be nan if it cannot be computed."""

    gap: Callable[[float], float]
    axis: Axis
    unknown: float = math.inf
    """Replaces a nan once there is a bracket: inf counts as missed, nan gives the search up."""
    trusted: float = 0.0
    """The search stops before the bracket closes once the error of the interpolated root is this small."""
    met: float = math.inf
    missed: float = -math.inf
    points: list[tuple[float, float]] = field(default_factory=list)

    def probe(self, v: float) -> float:
        """Evaluate one point and move the bracket."""
        gap = self.gap(v)
        if math.isnan(gap) and math.isfinite(self.met) and math.isfinite(self.missed):
            gap = self.unknown
        if math.isnan(gap):
            return gap
        if math.isfinite(gap):
            self.points.append((v, gap))
        if gap <= 0:
            self.met = min(self.met, v)
        else:
            self.missed = max(self.missed, v)
        return gap

    def enclose(self, start: float, step: float = _FIRST_STEP, growth: float = 2.0) -> bool:
        """Find one point that meets the target and one that misses it; False if an end of the axis was reached."""
        v = start
        forward = True
        gap = self.probe(v)
        if gap <= 0:
            forward = False
        # one direction until the sign changes, in growing steps, to an end of the axis
        while not (math.isfinite(self.met) and math.isfinite(self.missed)):
            if (v >= self.axis.high and forward) or (v <= self.axis.low and not forward):
                return False
            v = min(v + step, self.axis.high) if forward else max(v - step, self.axis.low)
            step *= growth
            gap = self.probe(v)
            if not math.isnan(gap):
                forward = gap > 0
        return True

    def deepest(self, low: float, high: float) -> float:
        """Return the first point that meets the target in a valley between two others, or its bottom: golden sections."""
        inner, outer = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_inner, at_outer = self.probe(inner), self.probe(outer)
        while high - low > _VALLEY and not math.isfinite(self.met):  # golden sections: 0.62 of the width per pass
            if at_inner <= at_outer:
                high, outer, at_outer = outer, inner, at_inner
                inner = high - _GOLDEN * (high - low)
                at_inner = self.probe(inner)
            else:
                low, inner, at_inner = inner, outer, at_outer
                outer = low + _GOLDEN * (high - low)
                at_outer = self.probe(outer)
        return self.met if math.isfinite(self.met) else 0.5 * (low + high)

    def narrow(self) -> bool:
        """Close the bracket; False if it was given up."""
        slow, width = 0, self.met - self.missed
        for _ in range(_ROUNDS):
            if self.axis.snap is None and (self.met - self.missed <= self.axis.close or self._settled):
                return True
            v = self._next() if slow < _PATIENCE else 0.5 * (self.missed + self.met)
            if self.axis.snap is not None:
                snapped = self.axis.snap(v, self.missed, self.met)
                if snapped is None:
                    return True
                v = snapped
            elif not self.missed < v < self.met:
                return True
            if math.isnan(self.probe(v)):
                return False
            now = self.met - self.missed
            slow = 0 if now <= 0.5 * width or slow >= _PATIENCE else slow + 1
            width = now if slow == 0 else width
        return True

    def _next(self) -> float:
        """Return the interpolated root, moved a little beyond it towards the farther end of the bracket."""
        low, high, close = self.missed, self.met, self.axis.close
        root, error = self._interpolated()
        if not low <= root <= high:
            return 0.5 * (low + high)
        pad = max(0.25 * close, 2.0 * error)
        v = root + pad if high - root > root - low else root - pad
        if not low < v < high:
            v = 0.5 * (low + high)
        return v

    def _interpolated(self) -> tuple[float, float]:
        """Return the root of the interpolation through the smallest gaps, and how far two orders differ."""
        best: list[tuple[float, float]] = []
        for point in sorted(self.points, key=lambda p: abs(p[1])):
            if all(point[1] != other[1] and point[0] != other[0] for other in best):
                best.append(point)
            if len(best) == 3:
                break
        if len(best) < 2:
            return math.nan, math.inf
        (a, fa), (b, fb) = best[:2]
        straight = a - fa * (b - a) / (fb - fa)
        if len(best) < 3:
            return straight, 0.1 * abs(self.met - self.missed)
        c, fc = best[2]
        curved = (
            a * fb * fc / ((fa - fb) * (fa - fc))
            + b * fa * fc / ((fb - fa) * (fb - fc))
            + c * fa * fb / ((fc - fa) * (fc - fb))
        )
        # the two orders differ by the error of the straight line; the curved one is better by about another order
        spread = max(abs(a - straight), abs(b - straight))
        return curved, abs(curved - straight) * min(1.0, 10 * spread)

    @property
    def _settled(self) -> bool:
        """Whether at least three points give the root well enough; only quick searches use it."""
        if self.trusted <= 0 or len(self.points) < 3:
            return False
        root, error = self._interpolated()
        return error <= self.trusted and self.missed <= root <= self.met

    @property
    def root(self) -> float:
        """The interpolated root inside the bracket: nearer than the ends, but not itself evaluated."""
        root, _ = self._interpolated()
        return root if self.missed <= root <= self.met else self.met

    @property
    def slope(self) -> float:
        """Slope of the gap near the root, from the two smallest gaps; nan if unknown."""
        best = sorted(self.points, key=lambda p: abs(p[1]))[:2]
        if len(best) < 2 or best[0][0] == best[1][0]:
            return math.nan
        return (best[1][1] - best[0][1]) / (best[1][0] - best[0][0])

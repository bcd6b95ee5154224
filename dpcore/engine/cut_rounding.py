r"""How far the transforms of `cut_normal` can be off: what their quadrature misses, and roundings in units of u = 2^-53.

*Quadrature.* A rule of n = 28 nodes on a panel of half width d errs by at most (64/15) d B rho^(-2n) / (1 - rho^-2), B a bound of the integrand
on the ellipse with half axes 1.6 d and 1.25 d, rho = 2.85: 1.7e-25 d B (`MISSED`). On that ellipse the height above the real axis is
at most b, and

- \|phi(x + ib)\| <= e^(b^2/2) phi(x);
- for a power w >= 0, \|e^{w g}\| <= e^{w g(x)}, because Re g(x + ib) <= g(x), and g rises: the value at the right end;
- for w < 0, as b times the steepness m is at most 3/2, Re g(x + ib) >= g(x) - 0.735 m g'(x) b^2, and never below the least g. For log r of
  random moves, g - Re g = -log\|r(x+ib)/r(x)\| <= -log(1 - b^2 V)/2 <= 0.735 b^2 V, V the variance of the move given x, at most m times
  its mean g'(x), and b^2 V <= 9/16; for g = e^(mx - m^2/2), g (1 - cos mb) <= g m^2 b^2 / 2;
- \|e^{iyg}\| <= 1, because Im g >= 0 up to the height 3/2/m. In the bound of a decay at the height h, g is replaced by the functions of x that are
  Re g and Im g at that height. At x + i eta these are the means of g at the heights h + eta and h - eta: the first is bounded as before with b = h + eta,
  and the real part of the second is half of Im g(h + eta) + Im g(h - eta), not negative, because Im g is odd in the height and rises with it while
  angles are below pi/2 (and h + eta is below 2.25/m, where Im g >= 0).

`missed` adds this up over the panels. The panels of a vertical piece end at half their distance from the axis, so their ellipses stay above it;
32 nodes there miss below 1e-24 of the end's weight. The last panel, 2^-25 of the height, is like the others as long as
y times the slope there is small; otherwise it adds at most its length times the weight at the end. The piece on the
left that is left out for w >= 0 is at most t e^(t^2/2) phi(LOWEST) of M, 2e-27.

*Roundings*, with the hypotheses of `mixture_rounding`. A node x = middle + half times a node of the rule, itself rounded, is off by at most
3 u (|x| + 1), which moves g by g' times that. Let E be the error of g and its turn at an exact x, and E' = E + 3 g' (|x| + 1). A weight e^f has

    |w| (E' + 2 |Re g| + 3 Im g) + 4 x^2 + 4 |x| (1 + t) + 3 |f| + |log M| + 4 LIBRARY + 40

units: the rule's weight, its logarithm below 20, sums and the exponential. The term is that weight times e^(iyg) - 1, of size at most min(2, y |g|):
relative to that 3 (3 LIBRARY + 6) units, three because e^(a+b) - 1 is put together from e^a - 1 and e^b - 1, and n for the sum. The angle y g is off by
y (E' + 4 |g|), which counts while y Im g is not large: at most 1/e over Im g. M(c) - 1 has terms of weight e^(wg) - 1 with the same count
on the axis, and log M(c) is the mean of the errors of its exponents. The slope g' is that at the next panel's end.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core.rounding import UNIT
from dpcore.engine.mixture_rounding import LIBRARY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

MISSED = 1.7e-25
REACH = 1.6
"""Half width of an ellipse over that of its panel; its height is 1.25 of it."""
OUTSIDE = 1e-26
"""Vertical pieces and what is left out at the left end, of M."""
LOOSEST = 1e12
"""Units from which a transform counts as unknown."""
_BEND = 0.735
_TERM = 3.0 * (3.0 * LIBRARY + 6.0)
SECOND = 1.02


class Panels(NamedTuple):
    """The panels below a path: half widths, g at both ends of the ellipses, the slope at the right one, and the largest log density."""

    half: FloatArray
    left: FloatArray
    right: FloatArray
    slope: FloatArray
    density: FloatArray


def largest_density(middle: FloatArray, half: FloatArray) -> FloatArray:
    """Return the largest logarithm of the normal density on each interval."""
    nearest = np.maximum(np.abs(middle) - half, 0.0)
    return np.asarray(-0.5 * nearest * nearest - 0.5 * math.log(2.0 * math.pi), dtype=np.float64)


def missed(panels: Panels, power: float, height: float, limits: tuple[float, float], log_total: float) -> float:
    """Bound what the rule misses of an integral along panels, over M(c); `limits` are the steepness m and the least g."""
    steepness, least = limits
    if power >= 0.0:
        top = power * panels.right
    else:
        top = power * np.maximum(panels.left - _BEND * steepness * panels.slope * height * height, least)
    exponent = top + panels.density + (0.5 * height * height - log_total)
    return MISSED * float(panels.half @ np.exp(np.minimum(exponent, 600.0))) + OUTSIDE


class PathUnits(NamedTuple):
    """Sizes of the terms of a line and the units of each: of its weight, and of its angle for each unit of y."""

    size: FloatArray
    reach: FloatArray
    weight: FloatArray
    angle: FloatArray
    longest: FloatArray

    def at(self, y: FloatArray) -> FloatArray:
        """Bound the sum of the errors of all terms up to each height y, in units of M(c)."""
        fixed = self.size * (self.weight + _TERM + self.size.size)
        sizes = np.minimum(np.multiply.outer(y, self.reach), 2.0)
        turned = np.minimum(np.multiply.outer(y, np.ones_like(self.longest)), self.longest)
        return np.asarray(SECOND * (sizes @ fixed + turned @ (self.size * self.angle)), dtype=np.float64)


def path_units(
    nodes: tuple[FloatArray, FloatArray, FloatArray],
    own: FloatArray,
    slope: FloatArray,
    scale: tuple[float, float, float],
) -> PathUnits:
    """Count the terms of a line: x with g on the path, E, g', and the power, the height and log M(c); sizes come with `PathUnits`."""
    x, size, turn = nodes
    power, height, log_total = scale
    moved = own + 3.0 * slope * (np.abs(x) + 1.0)
    weight = abs(power) * (moved + 2.0 * np.abs(size) + 3.0 * turn) + 4.0 * x * x + 4.0 * np.abs(x) * (1.0 + height)
    reach = np.hypot(size, turn)
    longest = math.exp(-1.0) / np.maximum(turn, 1e-300)
    return PathUnits(np.empty(0), reach, weight + abs(log_total) + 4.0 * LIBRARY + 40.0, moved + 4.0 * reach, longest)


def axis_units(x: FloatArray, value: FloatArray, own: FloatArray, slope: FloatArray, power: float) -> FloatArray:
    """Bound the error of each term of M(c) on the axis beyond three times its exponent, in units."""
    moved = own + 3.0 * slope * (np.abs(x) + 1.0)
    return np.asarray(abs(power) * (moved + 2.0 * np.abs(value)) + 4.0 * x * x + 4.0 * np.abs(x) + 4.0 * LIBRARY + 40.0)


def unknown(units: float, gap: float) -> float:
    """Return units with what a quadrature misses, the trivial bound where they are too many."""
    total = units + gap / UNIT
    return min(LOOSEST, total)

"""Where to put the contour: saddle points of products of independent parts (`contour_product`).

For a pair with loss L write M(s) = E_1[e^{sL}; L finite]. The three kernels

    D(eps) = E_1[(1 - e^{eps-L})_+]      I(eps) = E_1[min(1, e^{eps-L})]      N(eps) = E_1[(e^{eps-L} - 1)_+]

have one common transform: D, -I and N are (1/2 pi i) times the integral of M(s) e^{-s eps} / (s(s+1)) along
Re s = c for c > 0, -1 < c < 0 and c < -1, and delta = delta_inf + D = 1 - I = 1 - e^eps M(-1) + N. The best c is the
minimum of the function phi(c) = log M(c) - c eps - log|c| - log|c+1|, convex between its poles: its value is the
logarithm of the integrand's size, so the lowest of the three minima loses the fewest digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import BudgetError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.engine.contour_product import FloatArray, TransformProduct

# The table only decides where to put a line: a coarser one costs nodes or width, never truth.
_PER_DECADE = 8
"""Exponents per power of ten in the table of saddle points."""

_LARGEST_EXPONENT = 70.0
"""Decimal logarithm of the largest exponent: the square of c (c + 1) is a double."""

_HANDICAP = 1.0
"""Advantage in log size that N needs over the other kernels for eps >= 0, where it is the larger one of D and N."""

_BETWEEN = 33
"""Points of a cell in which a branch begins, to find the crossing of two branches there."""

_LEAP, _SHARP = 1.5, 1.4
"""Standard deviations between two exponents, and change of log phi'' there, above which more exponents go between."""

_ROUNDS, _PIECES, _MOST_LEAPS = 4, 6, 40
"""Rounds of such refinement, pieces of a cell in each, and most cells: a table with more leaps is used as it is."""

_LEAST = -150.0
"""Logarithm of the integrand's size below which cells are not refined: such kernels are below 1e-65."""


@dataclass(frozen=True)
class Branch:
    """Saddle points on one of the three intervals: at `epsilon` (increasing) phi has its minimum at `c`.

    `steps` counts standard deviations of the tilted loss along the epsilon axis; `value` is phi at its minimum.
    `log_m` is log M(c), and `slope` that of epsilon in c between two nodes.
    """

    c: FloatArray
    epsilon: FloatArray
    steps: FloatArray
    value: FloatArray
    log_m: FloatArray
    slope: FloatArray


def saddle_table(product: TransformProduct) -> tuple[Branch, Branch, Branch]:
    """Tabulate the saddle points right of 0, between -1 and 0, and left of -1 (branches D, I and N)."""
    smallest, whole = product.scales()
    low = math.floor(_PER_DECADE * math.log10(1e-2 / max(whole, 1e-2)))
    high = math.ceil(_PER_DECADE * min(max(3.0, 5.0 - math.log10(smallest)), _LARGEST_EXPONENT))
    grid, first, second = _exponents(low, high)
    if product.symmetric:
        grid = grid[:second]
    table = (grid, *product.cumulants(grid))
    right = _refined(product, *(row[:first] for row in table))
    between = _branch(*(row[first:second] for row in table))
    left = _exchanged(right) if product.symmetric else _refined(product, *(row[second:] for row in table))
    return right, between, left


@lru_cache(maxsize=64)
def _exponents(low: int, high: int) -> tuple[FloatArray, int, int]:
    """Return exponents right of 0, between -1 and 0 and left of -1, and where the second and the third of these begin.

    They are even in the logarithm of the distance from the next pole, from `low` to `high` steps of `_PER_DECADE`.
    """
    outer = 10.0 ** (np.arange(low, high + 1) / _PER_DECADE)
    inner = min(low, -2 * _PER_DECADE)
    # an even number of them: none is the middle, where all odd moments vanish
    middle = -1.0 / (1.0 + 10.0 ** np.linspace(inner / _PER_DECADE, -inner / _PER_DECADE, 2 - 2 * inner))
    middle = np.unique(middle[middle > -1.0])  # next to the pole at -1 there are fewer doubles than steps
    grid = np.concatenate((outer, middle, -1.0 - outer[::-1]))
    grid.setflags(write=False)
    return grid, outer.size, outer.size + middle.size


def _refined(product: TransformProduct, c: FloatArray, log_m: FloatArray, mean: FloatArray) -> Branch:
    """Return a branch with more exponents where epsilon leaps, as for a law with a narrow core and a rare far jump.

    Exponents so far out that the kernel is below 1e-65 are not worth it.
    """
    for _ in range(_ROUNDS):
        branch = _branch(c, log_m, mean)
        if not branch.c.size:
            msg = "The losses of this product are too large for its transform: it overflows at every exponent."
            raise BudgetError(msg)
        leaps = _leaps(branch)
        if not leaps.size or leaps.size > _MOST_LEAPS:
            return branch
        shares = np.arange(1, _PIECES) / _PIECES
        more = (branch.c[leaps, None] + shares * (branch.c[leaps + 1] - branch.c[leaps])[:, None]).ravel()
        cumulants = (more, *product.cumulants(more))
        order = np.argsort(np.concatenate((c, more)), kind="stable")
        c, log_m, mean = (np.concatenate(pair)[order] for pair in zip((c, log_m, mean), cumulants, strict=True))
    return _branch(c, log_m, mean)


def _leaps(branch: Branch) -> NDArray[np.intp]:
    """Return the cells of a branch that span more than a standard deviation or so and whose ends differ in deviation."""
    value = branch.value if branch.c[0] > 0 else branch.value - branch.epsilon  # that of the exchanged pair
    far = np.flatnonzero((branch.steps[1:] - branch.steps[:-1] > _LEAP) & (np.maximum(value[:-1], value[1:]) > _LEAST))
    if not far.size:
        return far
    first = max(int(far[0]) - 1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_slope = np.log(branch.slope[first : int(far[-1]) + 2])
        sharp = np.abs(log_slope[1:] - log_slope[:-1]) > _SHARP
    near = np.zeros(log_slope.size + 1, dtype=np.bool_)
    near[:-2] |= sharp
    near[1:-1] |= sharp
    return np.asarray(far[near[far - first]], dtype=np.intp)


def _exchanged(b: Branch) -> Branch:
    """Return the branch of the exchanged pair, whose transform is M(-1 - s): phi(-1 - c) at -eps is phi(c) - eps."""
    steps, value = b.steps[-1] - b.steps[::-1], (b.value - b.epsilon)[::-1]
    return Branch(-1.0 - b.c[::-1], -b.epsilon[::-1], steps, value, b.log_m[::-1], b.slope[::-1])


def _branch(c: FloatArray, log_m: FloatArray, mean: FloatArray) -> Branch:
    finite = np.isfinite(log_m + mean)
    if not finite.all():
        c, log_m, mean = c[finite], log_m[finite], mean[finite]
    pole = c * (c + 1)
    epsilon = np.maximum.accumulate(mean - (2 * c + 1) / pole)
    value = log_m - c * epsilon - np.log(np.abs(pole))
    rise, run = epsilon[1:] - epsilon[:-1], c[1:] - c[:-1]
    steps = np.zeros(c.size)
    np.cumsum(np.sqrt(rise * run), out=steps[1:])
    return Branch(c, epsilon, steps, value, log_m, rise / run)


def crossings(branches: tuple[Branch, Branch, Branch], *, symmetric: bool) -> tuple[float, float]:
    """Return the epsilons below which N and above which D has the lowest minimum of phi; I has it between.

    The minimum changes with epsilon at the rate -c, so the three follow each other in this order. For eps >= 0 the kernel
    N is the larger one of D and N: there it must be lower by `_HANDICAP`.
    """
    d, i, n = branches
    high = _crossing(i, d)
    low = -high if symmetric and high > 0 else _end_of(n, i)
    if low > high:
        low = high = _end_of(n, d)
    return low, high


def _end_of(n: Branch, other: Branch) -> float:
    """Return the epsilon up to which N is preferred to another branch."""
    end = _crossing(n, other)
    return end if end <= 0 else max(0.0, _crossing(n, other, _HANDICAP))


def _crossing(first: Branch, second: Branch, handicap: float = 0.0) -> float:
    """Return about where the second branch, which falls faster, crosses the first plus its handicap."""
    epsilon, gap = second.epsilon, _gap(first, second, second.epsilon, handicap)
    at = int(np.argmax(gap <= 0))
    if at > 0 and math.isinf(gap[at - 1]):  # the first branch begins in this cell
        epsilon = np.linspace(epsilon[at - 1], epsilon[at], _BETWEEN)
        gap = _gap(first, second, epsilon, handicap)
        at = int(np.argmax(gap <= 0))
    if not gap[at] <= 0:
        return float(epsilon[-1])
    if at == 0 or not math.isfinite(gap[at - 1] - gap[at]):
        return float(epsilon[at])
    share = gap[at] / (gap[at] - gap[at - 1])
    return float(epsilon[at] - share * (epsilon[at] - epsilon[at - 1]))


def _gap(first: Branch, second: Branch, epsilon: FloatArray, handicap: float) -> FloatArray:
    """Return by how much the minimum of the second branch is above that of the first and its handicap."""
    value = second.value if epsilon is second.epsilon else np.interp(epsilon, second.epsilon, second.value)
    return value - np.interp(epsilon, first.epsilon, first.value + handicap, left=-np.inf, right=np.inf)


def mirrored(branches: tuple[Branch, Branch, Branch]) -> tuple[Branch, Branch, Branch]:
    """Return the branches of the exchanged pair."""
    d, i, n = branches
    return _exchanged(n), _exchanged(i), _exchanged(d)

r"""Two lattice measures around a curve, from its profile alone.

In y = e^epsilon a profile is convex, and composition is monotone in it: with P1 masses q at the losses L of a factor,
delta of a product is q_inf + sum q delta_rest(eps - L). So any function above (below) the profile of the form
q_inf + sum q_j (1 - y e^(-jh))_+ with q_j >= 0 may replace the curve on the upper (lower) side. Both are defined by
their values at the lattice points and are linear in y between them:

* above: the profile itself at the lattice points ("connect the dots", Doroshenko et al. 2022);
* below: at each lattice point the smaller of the two tangents at the middles of its cells, so that on each cell the
  line stays under a tangent. Both are off by O(h^2), unless a corner of the profile lies inside a cell.

The lower convex envelope of either set of values is again on its side of the profile, and repairs roundings. Values at
negative losses are those of delta - (1 - y) = y delta_inverse(1/y), which keep their digits; the omitted straight piece
is one unit of mass at loss 0.

Roundings, in units of u = 2^-53, library functions with 4 of them. A profile is asked for at doubles, which are off the lattice by
u |L|: its values are moved by the largest slope times that, and from then on the nodes are exact multiples of h. The slopes of a
cell, drop / (1 - e^-gap) and drop / (e^gap - 1), have at most 7 and 7 + gap units: one each for drop, gap, subtraction and quotient,
4 for the function, and gap e^gap / (e^gap - 1) <= 1 + gap for the rounding of gap. A mass is the difference of two slopes; on the
upper side it is raised by this bound. On the lower side it is lowered; if nothing is left, what is missing is taken from the masses
at larger losses (`_lowered`), whose terms (1 - y e^-L)_+ are larger, so that the whole is lowered by at least as much. Nodes
leave the envelope only if they are above the chord by more than the bound. A tangent is extrapolated to 10.5 times its own width:
the 160 units of `_tangents` cover four roundings of 10.5 times each value, the 4 units of each half width, and the places, off by
two units, times the slope. In `_end` the width is a hundredth of the cell, and 100 (64 + 900) units cover the same there.
What is assumed of a profile is that its bounds hold up to the allowance of `values`, 18 units and 4.5 of its logarithm.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from dpcore.core import effort

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

UNIT = 1.2e-16  # unit roundoff, rounded up
_WIDEST = 700.0  # largest exponent of e that is evaluated
_NARROW = 20.0
"""A tangent is a chord this many times narrower than its cell: narrower ones are lowered more by rounding."""

_SCALES = np.geomspace(1e-9, 1e6, 400)  # losses at which the ends of a lattice are sought, 27 per power of ten
_CHUNK, _PATIENCE = 1 << 13, 2e5
"""Most values between two checkpoints, and most work: a tenth of a second."""

_CHECKPOINTS = 256
"""Nodes of an envelope between two checkpoints, on average."""

# Corners only decide the step of a lattice: a missed one widens the bracket.
_ATOM = 1e-6  # smallest mass of a corner
_SCAN, _ZOOM = 2048, 64  # cells of the first scan and of each zoom into a cell
_MOST_KINKS = 8
_NOTHING = 1e-20  # a delta this small counts as 0, beyond the last loss
_ZOOMS, _PLACES = 13, 17  # rounds that find it, each a sixteenth of the one before: 16^13 is 2^52
_BEFORE = 1e-7  # about the error of the place of an atom, as a share of the range of losses
_THIN = (
    2.2  # power of the profile at its end from which too few losses are near it: the density of the loss vanishes there
)


class Profile(Protocol):
    """The part of a curve that is needed here."""

    @property
    def q_inf(self) -> float:
        """P1 mass at loss +inf."""

    @property
    def work(self) -> float:
        """Work of one delta, in points of a transform."""

    @property
    def max_loss(self) -> float:
        """Largest finite loss."""

    @property
    def min_loss(self) -> float:
        """Smallest finite loss."""

    def delta_bounds(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (lower, upper) of delta."""

    def inverse(self) -> Profile:
        """Return the curve with P0 and P1 exchanged."""


class Measure(NamedTuple):
    """P1 masses ``mass[i]`` at the losses ``(first + i) h`` and ``rest`` at +inf."""

    first: int
    mass: FloatArray
    rest: float


def values(profile: Profile, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (lower, upper) of delta - (1 - e^eps)_+, widened for roundings.

    The allowance, 1e-15 (2 + |log value| / 2), covers a few units in the last place of the value, of its exponent and of
    epsilon itself.
    """
    low, high = np.empty(epsilon.size), np.empty(epsilon.size)
    at_once = int(min(_CHUNK, max(16.0, _PATIENCE / profile.work)))
    for start in range(0, epsilon.size, at_once):
        part = slice(start, start + at_once)
        low[part], high[part] = _raw(profile, epsilon[part])
        effort.checkpoint(start / epsilon.size)
    with np.errstate(divide="ignore"):
        slack = 1e-15 * (2.0 + 0.5 * np.abs(np.log(np.maximum(high, 1e-320))))
    return np.maximum(low * (1.0 - slack) - 1e-322, 0.0), np.where(high > 0, high * (1.0 + slack) + 1e-322, 0.0)


def _raw(profile: Profile, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
    low, high = np.empty(epsilon.size), np.empty(epsilon.size)
    up = epsilon >= 0
    if up.any():
        low[up], high[up] = profile.delta_bounds(epsilon[up])
    if not up.all():
        scale = np.exp(epsilon[~up])
        low[~up], high[~up] = (scale * d for d in profile.inverse().delta_bounds(-epsilon[~up]))
    return low, high


def reach(profile: Profile, level: float, *, discounted: bool) -> float:
    """Return a loss beyond which delta - q_inf (times e^-loss if `discounted`) is at most `level`, or the largest one."""
    top = profile.max_loss
    grid = _SCALES[: int(np.searchsorted(_SCALES, top))]
    if grid.size == 0:
        return max(top, 1e-9)
    delta = profile.delta_bounds(grid)[1] - profile.q_inf
    if discounted:
        delta = delta * np.exp(-grid)
    small = np.flatnonzero(delta <= level)
    if small.size == 0:
        return float(top) if np.isfinite(top) else float(grid[-1])
    return float(grid[small[0]])


def pair(profile: Profile, h: float, low: float, high: float) -> tuple[Measure, Measure]:
    """Return (inner, outer) measures on the lattice h Z for the losses from `low` < 0 to `high` > 0."""
    # one more cell than needed, so that an end that is a lattice point up to rounding lies inside
    first, last = -int(np.ceil(-low / h - 1e-9)) - 1, int(np.ceil(high / h - 1e-9)) + 1
    effort.claim(160.0 * (last - first), f"A lattice of {last - first} losses")
    loss = np.asarray(np.arange(first, last + 1) * h, dtype=np.float64)
    below, above = values(profile, loss)
    effort.checkpoint()
    # a lattice point is right only to a unit in its last place, which matters where the profile is steep
    # in e^epsilon the profile is convex: its slope at a point is below that of the chord on its steeper side
    steep = np.abs(np.diff(above)) / -np.expm1(-h)
    moved = 2.0 * UNIT * np.abs(loss) * np.maximum(np.append(steep, 0.0), np.append(0.0, steep))
    below, above = np.maximum(below - moved, 0.0), above + moved
    effort.checkpoint()
    outer = _outer(first, (loss, above), h)
    effort.checkpoint()
    inner = _inner(profile, first, (loss, below, above), h)
    return inner, outer


def _outer(first: int, samples: tuple[FloatArray, FloatArray], h: float) -> Measure:
    loss, above = samples
    node, value = np.concatenate(([-np.inf], loss)), np.concatenate(([0.0], above))
    turn, slack = _masses(node, value, h)
    return Measure(first, np.maximum(turn + slack, 0.0)[1:], float(above[-1]))


def _inner(profile: Profile, first: int, samples: tuple[FloatArray, FloatArray, FloatArray], h: float) -> Measure:
    loss, below, _ = samples
    # delta - (1 - y) >= p_inf y before the first loss and delta >= q_inf after the last are certain; a line below that
    # on its whole cell is replaced by it
    floor, ground = _limit(profile), _limit(profile.inverse()) * np.exp(np.minimum(loss, 0.0))
    if loss[1] - loss[0] > _WIDEST:
        return _infinite_only(floor)  # a line over a cell whose ends differ by more than any double
    left, right = _tangents(profile, samples, floor)
    effort.checkpoint()
    least = np.where(loss > 0.0, floor, ground)
    least[loss == 0.0] = min(floor, float(ground[loss == 0.0][0]))
    sunk = (left < least[:-1]) & (right < least[1:])
    left, right = np.where(sunk, least[:-1], left), np.where(sunk, least[1:], right)
    value = np.empty(loss.size)
    value[1:-1] = np.minimum(right[:-1], left[1:])
    value[0], value[-1] = left[0], right[-1]
    value = np.minimum(value, below)
    zero = int(np.searchsorted(loss, 0.0))
    ends = np.flatnonzero(value[: zero + 1] <= ground[: zero + 1])
    start = int(ends[-1]) if ends.size else 0
    ends = np.flatnonzero(value[zero + 1 :] <= floor)
    stop = zero + 1 + int(ends[0]) if ends.size else loss.size - 1
    if value[stop] < floor:
        before, here = _end(profile, loss[stop - 1], loss[stop])
        if min(here, left[stop] if stop < left.size else floor) >= floor:
            value[stop - 1] = min(value[stop - 1], before)
        else:
            stop -= 1  # the tangent meets q_inf inside the last cell
    if start >= stop:
        return _infinite_only(floor)
    value[start] = min(value[start], ground[start])
    value[stop] = floor
    node = np.concatenate(([-np.inf], loss[start : stop + 1]))
    value = np.concatenate(([0.0], value[start : stop + 1]))
    turn, slack = _masses(node, value, h)
    mass, rest = _lowered(turn - slack, floor)
    return Measure(first + start, mass[1:], rest)


def _infinite_only(rest: float) -> Measure:
    """Return the measure of a pair that differs only by its infinite losses."""
    return Measure(0, np.ones(1) * (1.0 - rest), rest)


def _limit(profile: Profile) -> float:
    """Return a lower bound of the mass at loss +inf."""
    return min(profile.q_inf, float(profile.delta_bounds(np.array([np.inf]))[0][0])) * (1.0 - 1e-12)


def _tangents(
    profile: Profile, samples: tuple[FloatArray, FloatArray, FloatArray], floor: float
) -> tuple[FloatArray, FloatArray]:
    """Return for each cell the values of a line under the profile at its left and right end.

    The chord over y (1 -+ d), y the middle, is below the profile outside that stretch. Inside, the chord exceeds the
    profile by at most M = d (S_r - S_l) / 2, S the chords from the stretch to the ends of the cell, because these bound
    the slopes of the profile at the ends of the stretch; so the chord is lowered by M. Every value is the side of its
    bracket that lowers the line.
    """
    loss, _, above = samples
    half = 0.5 * float(loss[1] - loss[0])
    to_left, to_right = -float(np.expm1(-half)), float(np.expm1(half))
    d = to_left / _NARROW
    middle = 0.5 * (loss[1:] + loss[:-1])
    low_a, high_a = values(profile, middle + np.log1p(-d))
    low_b, high_b = values(profile, middle + np.log1p(d))
    right_slope = (above[1:] - low_b) / (to_right - d)
    left_slope = (low_a - above[:-1]) / (to_left - d)
    most = np.maximum(high_a, high_b) - np.where(middle > 0.0, floor, 0.0)
    lowered = np.clip(0.5 * d * (right_slope - left_slope), 0.0, np.maximum(most, 0.0))
    left = (low_a * (to_left + d) - high_b * (to_left - d)) / (2.0 * d)
    right = (low_b * (to_right + d) - high_a * (to_right - d)) / (2.0 * d)
    moved = np.abs(high_b - high_a) / d * np.maximum(np.abs(middle), half)
    slack = 8.0 * UNIT * _NARROW * (high_a + high_b + moved)
    return left - lowered - slack, right - lowered - slack


def _end(profile: Profile, low: float, high: float) -> tuple[float, float]:
    """Return the values at both ends of a cell of a line under the profile that is a tangent near the upper end.

    A chord over a hundredth of the cell, lowered as in `_tangents`; for an atom at or just after the upper end.
    """
    point = high - np.array([0.03, 0.02, 0.01, 0.0]) * (high - low)
    below, above = values(profile, point)
    y = np.expm1(point - point[2])
    slope = np.diff(above) / np.diff(y)
    width, slack = y[2] - y[1], 1e-13 * float(above[0]) + 64.0 * UNIT * float(abs(slope[0])) * abs(high)
    lowered = 0.25 * width * max(float((above[3] - below[2]) / y[3] - (below[1] - above[0]) / (y[1] - y[0])), 0.0)
    fall = (above[1] - below[2]) / width
    before = below[1] + (below[1] - above[2]) / width * (y[1] - np.expm1(low - point[2]))
    here = below[2] - fall * y[3]
    return float(before - lowered - 100.0 * slack), float(here - lowered - slack)


def _masses(node: FloatArray, value: FloatArray, h: float) -> tuple[FloatArray, FloatArray]:
    """Return the masses of the convex envelope of the values at the nodes, plus the unit at loss 0, and their roundings.

    The first node is -inf and gets nothing; after the last one the function is constant.
    """
    hull = _envelope(node, value, h)
    effort.checkpoint()
    mass, slack = np.zeros(node.size), np.zeros(node.size)
    mass[hull[1:-1]], slack[hull[1:-1]] = _turns(node[hull], value[hull], h)
    i, j = hull[-2], hull[-1]
    straight = [
        max(-math.expm1(min(float(x), 0.0)), 0.0) if node[i] < 0.0 < node[j] else 0.0 for x in (node[i], node[j])
    ]
    mass[j] = (value[i] - value[j] + straight[0] - straight[1]) / -math.expm1(-_gap(float(node[i]), float(node[j]), h))
    slack[j] = 16.0 * UNIT * abs(mass[j])
    return mass, slack


def _gap(low: float, high: float, h: float) -> float:
    """Return the distance of two nodes, a multiple of the step: their own difference has the roundings of both."""
    return round((high - low) / h) * h if math.isfinite(low) else math.inf


def _lowered(signed: FloatArray, rest: float) -> tuple[FloatArray, float]:
    """Return non-negative masses, and the one at infinity, with no more mass above any loss than the signed ones have.

    What is negative is taken from the next larger losses.
    """
    mass = np.maximum(signed, 0.0)
    missing = 0.0
    owed = np.flatnonzero(signed < 0.0)
    for number, start in enumerate(owed.tolist()):
        end = int(owed[number + 1]) if number + 1 < owed.size else mass.size
        missing -= float(signed[start])
        for j in range(start + 1, end):
            missing, mass[j] = (
                max(missing - mass[j], 0.0) * (1.0 + 2.0 * UNIT),
                max(mass[j] - missing, 0.0) * (1.0 - 2.0 * UNIT),
            )
            if missing == 0.0:
                break
        if number % _CHECKPOINTS == 0:
            effort.checkpoint()
    return mass, max(rest - missing * (1.0 + 1e-12), 0.0)


def _envelope(node: FloatArray, value: FloatArray, h: float) -> NDArray[np.intp]:
    """Return the nodes of the lower convex envelope: nodes surely above the chord of their neighbours are removed repeatedly."""
    turn, slack = _turns(node, value, h)
    bad = np.flatnonzero(turn < -slack) + 1
    if bad.size == 0:
        return np.arange(node.size)
    before, after = np.arange(-1, node.size - 1), np.arange(1, node.size + 1)
    removed = np.zeros(node.size, dtype=bool)
    todo = bad.tolist()
    while todo:  # a round either ends one entry or removes a node and adds two: at most three for each node
        j = todo.pop()
        if j % _CHECKPOINTS == 0:
            effort.checkpoint()
        i, k = int(before[j]), int(after[j])
        if removed[j] or i < 0 or k >= node.size or not _concave(node, value, (i, j, k), h):
            continue
        removed[j] = True
        after[i], before[k] = k, i
        todo += [i, k]
    return np.flatnonzero(~removed)


def _concave(node: FloatArray, value: FloatArray, at: tuple[int, int, int], h: float) -> bool:
    """Return whether the middle one of three nodes is surely above the chord of the others."""
    x, y, z = (float(node[i]) for i in at)
    a, b, c = (float(value[i]) for i in at)
    if x < 0.0 < z:
        a, b, c = (v - math.expm1(min(t, 0.0)) for v, t in ((a, x), (b, y), (c, z)))
    left, right = _gap(x, y, h), min(_gap(y, z, h), _WIDEST)
    fall, then = (a - b) / -math.expm1(-left), (b - c) / math.expm1(right)
    return fall - then < -(16.0 + right) * UNIT * (abs(fall) + abs(then) + (2.0 if x < 0.0 < z else 0.0))


def _turns(node: FloatArray, value: FloatArray, h: float | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the mass at each inner node and a bound of its rounding error; nodes are multiples of h, or as they are."""
    gap = np.diff(node)
    if h is not None:
        gap = np.rint(gap / h) * h
    drop = -np.diff(value)
    with np.errstate(over="ignore"):  # beyond 709 the other end of a cell has no effect
        left, right = (drop / -np.expm1(-gap))[:-1], (drop / np.expm1(gap))[1:]
    turn = left - right
    slack = UNIT * (8.0 * np.abs(left) + (8.0 + np.minimum(gap[1:], _WIDEST)) * np.abs(right))
    around = np.flatnonzero((node[:-2] < 0.0) & (node[2:] > 0.0))
    for i in around.tolist():
        before, here, after = (max(-math.expm1(min(float(x), 1.0)), 0.0) for x in node[i : i + 3])
        ahead = math.expm1(min(float(gap[i + 1]), _WIDEST))
        unit = (before - here) / -math.expm1(-float(gap[i])) - (here - after) / ahead
        turn[i] += unit
        slack[i] += 16.0 * UNIT * (2.0 + abs(unit) + (before + here) / -math.expm1(-float(gap[i])) + here / ahead)
    return turn, slack


# ---- corners of a profile ----------------------------------------------------------------------------------------


class Corner(NamedTuple):
    """Where a profile bends so sharply that the place of the lattice matters.

    Attributes
    ----------
    loss, mass : float
        Its place, and the mass around it.
    after : float
        How far behind a lattice point it is best, in cells.
    blur : float
        Error of the place, in units of loss: the width of the bracket of the profile over the mass.
    """

    loss: float
    mass: float
    after: float = 0.0
    blur: float = 0.0


def corners(profile: Profile, low: float, high: float) -> list[Corner]:
    """Return the main atoms of the loss other than 0, and the end of the losses if much of the mass is close to it."""
    atoms = []
    for place, mass in kinks(profile, low, high):
        # just before the atom, where an error of the profile still shows
        below, above = values(profile, np.array([place - math.copysign(_BEFORE * (high - low), place)]))
        atoms.append(Corner(place, mass, 0.0, 16.0 * float(above[0] - below[0]) / mass))
    end = _end_of_losses(profile, high)
    if end is not None and all(abs(end.loss - atom.loss) > 1e-3 * end.loss for atom in atoms):
        atoms.append(end)
    return atoms


def _end_of_losses(profile: Profile, high: float) -> Corner | None:
    """Return the largest loss E if delta(E - x) grows like x^a there with a up to 2: the density of the loss does not vanish.

    A line under the profile that is 0 at the last lattice point before E, x = g behind it, touches the profile at
    x = g a / (a - 1), which must lie in the cell before and behind the tangent at its middle: (a - 1)/2 <= g <= a - 1 cells.
    """
    near, far = 0.0, high
    for _ in range(_ZOOMS):
        place = np.linspace(near, far, _PLACES)
        gone = np.flatnonzero(profile.delta_bounds(place)[1] - profile.q_inf <= _NOTHING)
        if not gone.size or gone[0] == 0:
            return None
        near, far = float(place[gone[0] - 1]), float(place[gone[0]])
    x = far * np.array([1e-4, 4e-4])
    small, large = (profile.delta_bounds(far - x)[0] - profile.q_inf).tolist()
    mass = large / float(x[1])
    if small <= 0.0 or mass < _ATOM or not (power := math.log(large / small) / math.log(4.0)) < _THIN:
        return None
    return Corner(far, mass, 0.7 * min(max(power - 1.0, 0.0), 1.0))


def kinks(profile: Profile, low: float, high: float) -> list[tuple[float, float]]:
    """Return (loss, mass) of the main corners of the profile, which are the atoms of the loss other than 0."""
    corners: list[tuple[float, float]] = []
    for a, b in _heavy(profile, low, high, _SCAN):
        here: list[tuple[float, float]] = [(a, b)]
        for _ in range(2):
            here = [cell for x, y in here for cell in _heavy(profile, x, y, _ZOOM)][:1]
        for x, y in here:
            place, mass = _crossing(profile, x, y)
            place = next((end for end in (profile.max_loss, profile.min_loss) if abs(end - place) <= 1e-7), place)
            if mass > _ATOM and abs(place) > 1e-6 * (high - low) and all(abs(place - old) > 1e-7 for old, _ in corners):
                corners.append((place, mass))
    return sorted(corners, key=lambda item: -item[1])[:_MOST_KINKS]


def _heavy(profile: Profile, low: float, high: float, cells: int) -> list[tuple[float, float]]:
    """Return the stretches of four cells with much more mass in the middle than around it."""
    step = (high - low) / cells
    loss = np.asarray(low + step * np.arange(-4, cells + 5), dtype=np.float64)
    _, above = values(profile, loss)
    mass = np.zeros(loss.size)
    mass[1:-1] = np.maximum(_turns(loss, above)[0], 0.0)
    two = mass[:-1] + mass[1:]
    around = np.sort(np.stack([mass[:-7], mass[1:-6], mass[6:-1], mass[7:]]), axis=0)[2]
    middle = two[3:-3]
    index = np.flatnonzero((middle > 12.0 * around) & (middle > _ATOM)) + 3
    best = sorted(index.tolist(), key=lambda i: -two[i])
    separate: list[int] = []
    for i in best:
        if all(abs(i - j) > 2 for j in separate):
            separate.append(i)
    return [(float(loss[i - 1]), float(loss[i + 2])) for i in separate[: 2 * _MOST_KINKS]]


def _crossing(profile: Profile, low: float, high: float) -> tuple[float, float]:
    """Return where the chords from the left and from the right meet, and the mass of that corner."""
    width = high - low
    x = np.array([low - width, low, high, high + width])
    _, v = values(profile, x)
    v = v + np.maximum(-np.expm1(np.minimum(x, 0.0)), 0.0)
    y = np.expm1(np.minimum(x - low, _WIDEST))
    if not (y[3] > y[2] and y[1] > y[0]):
        return low, 0.0  # a cell too wide for doubles
    left, right = (v[1] - v[0]) / (y[1] - y[0]), (v[3] - v[2]) / (y[3] - y[2])
    if not right > left:
        return low, 0.0
    at = (v[1] - left * y[1] - v[2] + right * y[2]) / (right - left)
    if not -0.01 * width <= at <= 1.02 * width:
        return low, 0.0
    return low + float(np.log1p(at)), float((right - left) * (1.0 + at))

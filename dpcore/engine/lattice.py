r"""Exact k-fold products of loss distributions whose losses are integer multiples of one step.

DP-TV regions (losses :math:`+\varepsilon, 0, -\varepsilon`), repeated randomized responses and every mixture of them
with a common step live on a lattice: the losses of a product are again on it, and its masses are those of a sum of
independent integers. Small products are convolved directly, with positive terms only; large ones come from the tilted
transforms of `dpcore.engine.lattice_windows`. Either way each mass has its own relative accuracy (about 1e-11 or better
down to 1e-300; for a mass far below its neighbours, relative to them), which a plain Fourier transform, with its floor of
1e-16 of the largest mass, cannot give. `dpcore.engine.lattice_rounding` proves how far a sum of masses can be off.

The masses under P0 and under P1 are computed separately and each set is normalised by its own total: one set derived
from the other would inherit a rounding error k times that of a single step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import exp, fsum, gcd, log, log1p
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core import effort
from dpcore.core.domains import COUNT
from dpcore.core.errors import DomainError
from dpcore.engine import lattice_windows
from dpcore.engine.lattice_parts import Irregular
from dpcore.engine.lattice_rounding import BLOCK, FINE, additions, convolution, copied
from dpcore.engine.mixture_rounding import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    Weights = tuple[IntArray, FloatArray, int]

_COUNT = COUNT.but(name="The number of copies", low=0)
_DIRECT_WIDTH = 4000  # masses up to which products are convolved directly, in milliseconds
_ROUGH_WIDTH = 30_000  # the same where neighbouring masses differ much and transforms are less exact: up to a second
_FEW_COPIES = 64  # up to this many copies a product always counts as rough
_FINE_WIDTH = 512  # masses up to which products are computed in extended precision, a millisecond each
_LEAST_LOG = -746.0  # below this logarithm a mass is zero in double precision
_SAME = 1e-13  # relative rounding of mirrored masses
_INEXACT = "This sum on a lattice is too wide to be added up to ten digits."


@dataclass(frozen=True, slots=True, eq=False)
class LatticeMeasure:
    """A finite loss distribution with the losses ``index * step``.

    Attributes
    ----------
    index : ndarray of int
        Distinct integers, ascending.
    p, q : ndarray of float
        Masses under P0 and P1.
    step : float, default 1
        Distance of the lattice; measures of one product share it.
    p_inf, q_inf : float, optional
        Masses at the infinite losses: the finite masses then add up to exactly one minus them. By default their sum
        counts, and a sum that is one up to rounding counts as one.
    """

    index: IntArray
    p: FloatArray
    q: FloatArray
    step: float = 1.0
    p_inf: float | None = None
    q_inf: float | None = None


class LatticeLaw(NamedTuple):
    """A product on a lattice: losses over the step, ascending, their masses under P0 and P1, and a proved bound of the rounding.

    The `rounding` is the relative error of every sum of masses from either end on, in units of 2^-53: that of everything that is computed
    from the law. Masses that were convolved directly have it one by one.
    """

    losses: IntArray
    p: FloatArray
    q: FloatArray
    rounding: float


class _Stretch(NamedTuple):
    """Masses at neighbouring positions, the first position, and the error of the masses in units of 2^-53."""

    start: int
    mass: FloatArray | NDArray[np.longdouble]
    units: float


def lattice_product(parts: Sequence[tuple[LatticeMeasure, int]], floor: float = 1e-320) -> LatticeLaw:
    """Return the product of k copies of each measure; the losses are ``index * step``, ascending.

    The masses add up to the product of the finite masses of all copies. Indices where both masses are below `floor`
    are left out.
    """
    steps = {measure.step for measure, k in parts if k}
    if len(steps) > 1:
        msg = f"All measures of a lattice product must have the same step, got {sorted(steps)}."
        raise DomainError(msg)
    at_q, q, units = _sum_law([(m.index, m.q, k) for m, k in parts], floor)
    if all(_mirrors(measure) for measure, _ in parts):
        at_p, p = -at_q[::-1], q[::-1]
    else:
        at_p, p, more = _sum_law([(m.index, m.p, k) for m, k in parts], floor)
        units = max(units, more)
    index = np.sort(np.concatenate([at_p, at_q]), kind="stable")  # two sorted runs: merged, much faster than a set
    index = index[np.append(True, np.diff(index) > 0)[: index.size]]
    out_p, out_q = np.zeros(index.size), np.zeros(index.size)
    finite = [_finite([(m.p, m.p_inf, k) for m, k in parts]), _finite([(m.q, m.q_inf, k) for m, k in parts])]
    out_p[np.searchsorted(index, at_p)] = p * finite[0]
    out_q[np.searchsorted(index, at_q)] = q * finite[1]
    # log1p, a product and a sum for each part, and the exponential
    least = min((log(value) for value in finite if value > 0.0), default=0.0)
    return LatticeLaw(index, out_p, out_q, units + (LIBRARY + 2.0 + len(parts)) * abs(least) + LIBRARY + 1.0)


def _mirrors(measure: LatticeMeasure) -> bool:
    """Return whether exchanging P0 and P1 only changes the sign of the losses."""
    index, p, q = measure.index, measure.p, measure.q
    return bool(np.array_equal(index, -index[::-1]) and np.allclose(p, q[::-1], rtol=_SAME, atol=0.0))


def _finite(parts: Sequence[tuple[FloatArray, float | None, int]]) -> float:
    """Return the mass at finite losses of the whole product."""
    total = 0.0
    for mass, infinite, k in parts:
        missing = fsum([1.0, *(-mass).tolist()]) if infinite is None else infinite
        if infinite is None and abs(missing) <= 4e-16 * max(4, mass.size):
            missing = 0.0
        if k and missing >= 1.0:
            return 0.0
        total += k * log1p(-missing) if k else 0.0
    return exp(total)


def _sum_law(parts: Sequence[Weights], floor: float) -> tuple[IntArray, FloatArray, float]:
    """Return the law of the sum of k copies of each part, values shifted and divided so that the lattice is full.

    The weights are normalised to sum to one exactly. Last comes the rounding, in units of 2^-53.
    """
    varying = []
    base = 0
    for index, weight, k in parts:
        _COUNT.check(k)
        if not k:
            continue
        positive = weight > 0
        if not positive.any():
            return np.zeros(0, dtype=np.int64), np.zeros(0), 0.0
        values = np.asarray(index[positive], dtype=np.int64)
        base += int(k) * int(values[0])
        if values.size > 1:
            varying.append((values - values[0], weight[positive], int(k)))
    step = reduce(gcd, (int(value) for values, _, _ in varying for value in values), 0) or 1
    varying = [(values // step, weight, k) for values, weight, k in varying]
    start, mass, units = _masses(varying, log(floor) if floor > 0 else _LEAST_LOG)
    places = np.flatnonzero(mass >= max(floor, 5e-324))
    return np.asarray(base + step * (start + places), dtype=np.int64), np.asarray(mass[places], dtype=np.float64), units


def _masses(parts: Sequence[Weights], level: float) -> _Stretch:
    """Choose the method: direct products if they are cheap, with a wider limit if neighbouring masses differ much."""
    if not parts:
        return _Stretch(0, np.ones(1), 0.0)
    width = lattice_windows.width(parts, level)
    if width <= (_ROUGH_WIDTH if _rough(parts) else _DIRECT_WIDTH):
        return _direct(parts)
    try:
        return _Stretch(*lattice_windows.sum_law(parts, level))
    except Irregular:
        if width > 4 * _ROUGH_WIDTH:
            raise
        return _direct(parts)


def _rough(parts: Sequence[Weights]) -> bool:
    """Return whether neighbouring masses may differ much: too few copies take two neighbouring values about equally often.

    The windows give a mass only relative to the largest one near it.
    """
    mixing = 0.0
    for index, weight, k in parts:
        pairs = (weight[1:] * weight[:-1])[np.diff(index) == 1]
        mixing += 2.0 * k * float(pairs.sum()) / float(weight.sum()) ** 2
    return mixing < 50.0 or sum(k for _, _, k in parts) <= _FEW_COPIES


def _direct(parts: Sequence[Weights]) -> _Stretch:
    """Convolve positive arrays; each result is scaled to the total one, so that roundings do not double at every step."""
    law = _Stretch(0, np.ones(1), 0.0)
    with np.errstate(under="ignore"):
        for index, weight, k in sorted(parts, key=lambda part: int(part[0][-1]) * part[2]):
            # in extended precision, since scaling rounds each weight by itself, and the copies repeat that
            dense = np.zeros(int(index[-1]) + 1, dtype=np.longdouble)
            dense[index] = weight
            power = _power(_trimmed(_Stretch(0, dense, 0.0)), k)
            law = _times(power._replace(units=power.units + copied(FINE, k)), law)
    units = law.units + additions(law.mass.size) + 1.0
    if not units <= lattice_windows.MOST_UNITS:
        raise Irregular(_INEXACT)
    return law._replace(mass=law.mass.astype(np.float64), units=units)


def _times(one: _Stretch, other: _Stretch, copies: int = 1) -> _Stretch:
    """Return the convolution of two laws, scaled to the total one.

    The rounding of the total is common to all masses, and the next scaling removes it. `copies` of the result make
    up the law that is wanted, and the units count for all of them. Narrow laws are those of many copies: they are
    multiplied in extended precision.
    """
    a, b = one.mass, other.mass
    if max(a.size, b.size) <= _FINE_WIDTH:
        fine = np.convolve(a.astype(np.longdouble), b.astype(np.longdouble))
        law = _Stretch(one.start + other.start, fine, 0.0)
        own = FINE * (min(a.size, b.size) + 2.0)
    else:
        law = _Stretch(one.start + other.start, _convolve(a.astype(np.float64), b.astype(np.float64)), 0.0)
        own = convolution(a.size, b.size) + 3.0
    return _trimmed(law._replace(units=one.units + other.units + copied(own, copies)))


def _power(law: _Stretch, k: int) -> _Stretch:
    """Return the k-fold convolution by repeated squaring; a law has no rounding of its own yet."""
    out = law
    for place in reversed(range(k.bit_length() - 1)):
        out = _times(out, out._replace(units=0.0), 1 << place)
        if k >> place & 1:
            out = _times(out, law, 1 << place)
        effort.checkpoint(0.0)
    return out


def _trimmed(law: _Stretch) -> _Stretch:
    """Scale to the total one and cut off ends that are zero for every later product."""
    support = np.flatnonzero(law.mass > 1e-322)
    low, high = int(support[0]), int(support[-1]) + 1
    return _Stretch(law.start + low, law.mass[low:high] / law.mass.sum(), law.units)


def _convolve(a: FloatArray, b: FloatArray) -> FloatArray:
    """Convolve two positive arrays, block by block, without the products that underflow.

    Those cost a hundred times as much as others, and are the majority where masses go down to 1e-300.
    """
    if a.size < b.size:
        a, b = b, a
    if b.size < BLOCK:
        return np.asarray(np.convolve(a, b), dtype=np.float64)
    effort.claim(24.0 * (a.size + b.size), f"A lattice law of {a.size + b.size} losses")
    out = np.zeros(a.size + b.size - 1)
    for start in range(0, a.size, BLOCK):
        block = a[start : start + BLOCK]
        relevant = np.flatnonzero(b * float(block.max()) > 1e-322)
        if relevant.size:
            low, high = int(relevant[0]), int(relevant[-1]) + 1
            out[start + low : start + block.size + high - 1] += np.convolve(block, b[low:high])
    return out

"""Atoms of a product, if there are few: they make a bracket tight when eps is one of them.

Smoothing by a Gaussian part of mean s raises delta by E_1[psi(eps-L)] (`contour_plan`). The contribution of a loss a of
known mass m_a to that expectation is known, so any set of atoms sharpens both sides:

    delta <= smoothed - sum_a m_a psi(eps-a)
    delta >= smoothed - E_1[bump(eps-L)] + sum_a m_a (bump - psi)(eps-a),          bump >= psi >= 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from scipy.special import erfcx, gammaln, xlogy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.engine.contour_table import Factor, FloatArray

    _Law = tuple[FloatArray, FloatArray]

_UNIT = 2.0**-53
_MOST = 100_000
"""More atoms than this are ignored: each then has little mass."""

_REACH = 9.0
"""Beyond this many standard deviations psi is below 1e-18 of its peak."""


@runtime_checkable
class Atomic(Protocol):
    """A factor that knows its atoms."""

    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """Return finite losses of positive probability and their masses under P1, rounded down.

        Returns
        -------
        tuple of (ndarray of float, ndarray of float)
            The losses and their masses.
        """


@dataclass(frozen=True)
class Atoms:
    """Ascending losses, masses under P1 (rounded down) and the error of the losses."""

    loss: FloatArray
    mass: FloatArray
    blur: float

    def corrections(self, epsilon: FloatArray, s: float) -> tuple[FloatArray, FloatArray]:
        """Return the amounts to add to the lower bound and to subtract from the upper bound at each epsilon."""
        add, take = np.zeros(epsilon.size), np.zeros(epsilon.size)
        first = np.searchsorted(self.loss, epsilon - _REACH * s)
        last = np.searchsorted(self.loss, epsilon + _REACH * s)
        for j in np.flatnonzero(last > first):
            u = epsilon[j] - self.loss[first[j] : last[j]]
            mass = self.mass[first[j] : last[j]]
            low, high, bump = _psi(u, s)
            # psi and bump change by at most the distance itself
            add[j] = np.sum(mass * np.maximum(bump - high - 2 * self.blur, 0.0))
            take[j] = np.sum(mass * np.maximum(low - self.blur, 0.0))
        return add, take


def _psi(u: FloatArray, s: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return lower and upper bounds of psi(u) and a lower bound of its majorant `bump`."""
    v = np.abs(u) / s
    near = math.sqrt(math.pi / 2) * erfcx((v - s / 2) / math.sqrt(2))
    rest = math.sqrt(math.pi / 2) * erfcx((v + s / 2) / math.sqrt(2))
    front = np.exp(u / 2 - v * v / 2)
    density = front * (math.exp(-s * s / 8) / math.sqrt(2 * math.pi))
    fall, error = near - rest, 16 * _UNIT * near
    low = density * np.maximum(fall - error, 0.0) * (1 - 1e-12)
    high = density * (fall + error) * (1 + 1e-12)
    return low, high, front * (math.erf(s / math.sqrt(8)) * (1 - 1e-12))


def product_atoms(parts: Sequence[tuple[Factor, int]]) -> Atoms | None:
    """Return the atoms of a product, or None if a part has none or there are too many."""
    scale = max(math.fsum(k * max(abs(part.min_loss), abs(part.max_loss)) for part, k in parts), 1e-300)
    if not math.isfinite(scale):
        return None
    law: _Law | None = (np.zeros(1), np.ones(1))
    for part, count in parts:
        power = _power(*part.atoms(), count, scale) if law is not None and isinstance(part, Atomic) else None
        law = _convolve(law, power, scale)
    if law is None:
        return None
    stages = len(parts) + sum(count.bit_length() for _, count in parts)
    return Atoms(law[0], law[1] * (1 - 1e-11), 64 * _UNIT * scale * (stages + 1))


def _power(loss: FloatArray, mass: FloatArray, count: int, scale: float) -> _Law | None:
    """Return the atoms of `count` independent copies."""
    if loss.size == 2 and count < _MOST:
        j = np.arange(count + 1.0)
        binomial = gammaln(count + 1) - gammaln(j + 1) - gammaln(count - j + 1)
        # log-gamma loses about u times its size
        safe = 1 - 1e-12 - 16 * _UNIT * (count + 2) * math.log(count + 2)
        log_mass = binomial + xlogy(j, mass[1]) + xlogy(count - j, mass[0])
        return _merge((count - j) * loss[0] + j * loss[1], safe * np.exp(log_mass), scale)
    out: _Law | None = (np.zeros(1), np.ones(1))
    base: _Law | None = (loss, mass)
    while count:  # one round for each binary digit
        if count & 1:
            out = _convolve(out, base, scale)
        count >>= 1
        if count:
            base = _convolve(base, base, scale)
    return out


def _convolve(one: _Law | None, other: _Law | None, scale: float) -> _Law | None:
    """Return the sums of two sets of atoms, or None if one is unknown or there are too many or none."""
    if one is None or other is None or not 0 < one[0].size * other[0].size <= 16 * _MOST:
        return None
    loss, mass = _merge(np.add.outer(one[0], other[0]).ravel(), np.outer(one[1], other[1]).ravel(), scale)
    return (loss, mass) if loss.size <= _MOST else None


def _merge(loss: FloatArray, mass: FloatArray, scale: float) -> _Law:
    """Sort the atoms and join those that differ by rounding alone."""
    cell = np.round(loss / (16 * _UNIT * scale))
    order = np.argsort(cell, kind="stable")
    loss, mass, cell = loss[order], mass[order], cell[order]
    starts = np.flatnonzero(np.concatenate(([True], cell[1:] != cell[:-1])))
    return loss[starts], np.add.reduceat(mass, starts)

"""Atoms of a product, if there are few: they make a bracket tight when eps is one of them.

Smoothing by a Gaussian part of mean s raises delta by E_1[psi(eps-L)] (`contour_plan`). The contribution of a loss a of
known mass m_a to that expectation is known, so any set of atoms sharpens both sides:

    delta <= smoothed - sum_a m_a psi(eps-a)
    delta >= smoothed - E_1[bump(eps-L)] + sum_a m_a (bump - psi)(eps-a),          bump >= psi >= 0.

Where every part is a few atoms and a density (`SplitFactor`), the sums of atoms alone are left out of the contour: with the transforms A and D
of the two, M^k - A^k is that of a positive measure, no larger than the whole, so the sum over all nodes is still an upper bound and the
excess no larger. The nodes beyond a height fall faster: by a telescoping sum, with the shares a = A(c)/M(c) and d >= abs(D)/M(c),

    abs(prod M_i^k_i - prod A_i^k_i) <= prod M_i(c)^k_i sum_i k_i d_i / (a_i + d_i) prod_j (a_j + d_j)^k_j,

and d falls with the height while abs(A) never fades. What is left out is a finite sum (`Atoms.kernel`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from scipy.special import erfcx, gammaln, xlogy

from dpcore.core.lazy import Lazy
from dpcore.engine.contour_share import KERNEL_D, KERNEL_I, KERNEL_N
from dpcore.engine.profile import Tables, delta_at, first_above, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.engine.contour_product import ComplexArray, Factor, FloatArray

    _Law = tuple[FloatArray, FloatArray]

_UNIT = 2.0**-53
_MOST = 100_000
"""More atoms than this are ignored: each then has little mass."""

_SMALL, _NEGLIGIBLE = 1e-290, 1e-302
"""Mass that certainly did not underflow, and more than that of all atoms that did."""

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


class SplitFactor(Atomic, Protocol):
    """A factor that is a few atoms and a density."""

    def log_atoms(self, s: ComplexArray) -> ComplexArray:
        """Return the logarithm of the transform A(s) of the atoms alone, as accurate as `Factor.log_mgf`.

        Parameters
        ----------
        s : ndarray of complex
            Any shape.

        Returns
        -------
        ndarray of complex
            log A(s), -inf where A vanishes.
        """

    def split_decay(self, c: float, y: float) -> tuple[float, float] | None:
        """Return A(c)/M(c), and a bound of abs(D(c+iY))/M(c) for every abs(Y) >= y, D the transform of the density.

        Parameters
        ----------
        c, y : float
            Real part, and smallest size of the imaginary part.

        Returns
        -------
        tuple of (float, float) or None
            Both rounded up; None where they are not known.
        """


def is_split(part: object) -> bool:
    """Whether a factor is a `SplitFactor`; the check of a protocol by its class takes a hundred times as long."""
    return all(hasattr(part, name) for name in ("split_decay", "log_atoms", "atoms"))


@dataclass(frozen=True)
class Atoms:
    """Ascending losses, masses under P1 (rounded down), the error of the losses and the relative error of the masses."""

    loss: FloatArray
    mass: FloatArray
    blur: float
    slack: float

    def kernel(self, kind: int, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return bounds of the atoms' part of the kernel: D, -I or, without masses that may have underflowed, N."""
        most: float | FloatArray = self._total
        if kind == KERNEL_D:
            value = delta_at(epsilon, self.loss, self._above)
        elif kind == KERNEL_N:
            below = self.mass * np.exp(-self.loss)
            tables_ = tables(-self.loss[::-1], below[::-1])
            weight = np.exp(epsilon)
            value, most = weight * delta_at(-epsilon, -self.loss[::-1], tables_), weight * float(below.sum())
        else:
            at = first_above(epsilon, self.loss)
            before = np.concatenate(([0.0], np.cumsum(self.mass)))[at]
            nearest = self.loss[np.minimum(at, self.loss.size - 1)]
            value = before + np.exp(np.minimum(epsilon - nearest, 0.0)) * self._above.discounted[at]
        # every kernel changes by at most the distance, times the mass (for N times that of e^(eps-L))
        error = value * 1e-12 + self.blur * most * (1 + self.slack) + _NEGLIGIBLE
        low, high = value - error, value * (1 + self.slack) + error
        return (-high, -low) if kind == KERNEL_I else (low, high)

    def has_kernel(self, kind: int) -> bool:
        """Whether the atoms' part of a kernel is known: N weighs a mass by e^-L, which may be huge."""
        return kind != KERNEL_N or float(self.mass.min()) > _SMALL

    @Lazy
    def _above(self) -> Tables:
        return tables(self.loss, self.mass)

    @Lazy
    def _total(self) -> float:
        return float(self.mass.sum())

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
    # of each copy the rounding of its own masses, and that of log-gamma
    slack = 1e-10 + math.fsum(count * (4e-14 + 40 * _UNIT * math.log(count + 2)) for _, count in parts)
    return Atoms(law[0], law[1] * (1 - 1e-11), 64 * _UNIT * scale * (stages + 1), slack)


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

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

*Rounding*, in units of u = 2^-53, with library functions right to `LIBRARY` units; so is log-gamma at the integers up to `_MOST`, all of which
a test checks. A sum of two laws has the units of both, one for a product, and one for each further product that falls on the same
atom; how many there are is counted. Of `count` copies of two atoms, with g = log count! and x = j log m_1, y = (count-j) log m_0,

    (2 LIBRARY + 4) g + (LIBRARY + 3) (|x| + |y|) + LIBRARY

units: log j! + log (count-j)! <= g. The losses have the errors of both, one unit of the largest, and how far atoms were moved
when they were joined. Products below the doubles are lost: each of at most 64 stages has at most 16 `_MOST` of them, together below 1e-312.
`profile.rounding` bounds the sums of a kernel; 800 units count for an exponential of at most 700 and the products around it.
In psi, erfcx has 16 units (tested) and 3 of its argument, which change it by at most as many (x erfcx'/erfcx is between -1 and 0 for
x >= 0, and near 0 the argument is below s), with the factor and the difference below 32. The exponent u/2 - v^2/2 is at most 41 and has 4 units of itself: 1e-12 counts ten thousand units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from scipy.special import erfcx, gammaln, xlogy

from dpcore.core.lazy import Lazy
from dpcore.engine.contour_share import KERNEL_D, KERNEL_I, KERNEL_N
from dpcore.engine.mixture_rounding import LIBRARY
from dpcore.engine.profile import Tables, delta_at, first_above, rounding, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.engine.contour_product import ComplexArray, Factor, FloatArray

_UNIT = 2.0**-53
_MOST = 100_000
"""More atoms than this are ignored: each then has little mass."""

_SMALL, _NEGLIGIBLE = 1e-290, 1e-302
"""A mass that certainly did not underflow, and a bound of the total mass of all atoms that did."""

_UNDERFLOW = 1e-312
"""Bound of all products that a finite sum loses below the smallest double."""

_REACH = 9.0
"""Beyond this many standard deviations psi is below 1e-18 of its peak."""


_LEAST_LOG = -745.0
"""Logarithm of the smallest double: below it a mass is 0."""

_LOOSEST = 1e-6
"""Relative error of the masses from which atoms are not used."""


@runtime_checkable
class Atomic(Protocol):
    """A factor that knows its atoms; `atom_units` says how far below the truth the masses may be, in units of 2^-53."""

    atom_units: float

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
        units = rounding(self.loss.size, float(self.loss[-1] - self.loss[0])) + 800.0
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
            units += self.loss.size
            nearest = self.loss[np.minimum(at, self.loss.size - 1)]
            value = before + np.exp(np.minimum(epsilon - nearest, 0.0)) * self._above.discounted[at]
        # every kernel changes by at most the distance, times the mass (for N times that of e^(eps-L))
        error = value * _UNIT * units + self.blur * most * (1 + self.slack) + _NEGLIGIBLE
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
        # the sums are of positive terms
        safe = 1.0 - _UNIT * (self.loss.size + 8.0)
        return np.maximum(add * safe - _UNDERFLOW, 0.0), np.maximum(take * safe - _UNDERFLOW, 0.0)


def _psi(u: FloatArray, s: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return lower and upper bounds of psi(u) and a lower bound of its majorant `bump`."""
    v = np.abs(u) / s
    near = math.sqrt(math.pi / 2) * erfcx((v - s / 2) / math.sqrt(2))
    rest = math.sqrt(math.pi / 2) * erfcx((v + s / 2) / math.sqrt(2))
    front = np.exp(u / 2 - v * v / 2)
    density = front * (math.exp(-s * s / 8) / math.sqrt(2 * math.pi))
    fall, error = near - rest, 32 * _UNIT * near
    low = density * np.maximum(fall - error, 0.0) * (1 - 1e-12)
    high = density * (fall + error) * (1 + 1e-12)
    return low, high, front * (math.erf(s / math.sqrt(8)) * (1 - 1e-12))


def product_atoms(parts: Sequence[tuple[Factor, int]]) -> Atoms | None:
    """Return the atoms of a product, or None if a part has none or there are too many."""
    scale = max(math.fsum(k * max(abs(part.min_loss), abs(part.max_loss)) for part, k in parts), 1e-300)
    if not math.isfinite(scale):
        return None
    law: _AtomLaw | None = _AtomLaw(np.zeros(1), np.ones(1), 0.0, 0.0)
    for part, count in parts:
        power = _power(part, count, scale) if law is not None and isinstance(part, Atomic) else None
        law = _convolve(law, power, scale)
    if law is None:
        return None
    # masses rounded down, and by how much the truth may be above; of the losses of the parts a few units
    safe = 1.01 * _UNIT * law.units
    if safe >= _LOOSEST:
        return None
    return Atoms(law.loss, law.mass * (1.0 - safe), law.blur + 16.0 * _UNIT * scale, 2.1 * safe)


class _AtomLaw(NamedTuple):
    """Ascending losses, masses, the relative error of the masses in units of 2^-53 and the error of the losses."""

    loss: FloatArray
    mass: FloatArray
    units: float
    blur: float


def _power(part: Atomic, count: int, scale: float) -> _AtomLaw | None:
    """Return the atoms of `count` independent copies."""
    loss, mass = part.atoms()
    own = count * (part.atom_units + 1.0)
    if loss.size == 2 and count < _MOST:
        j = np.arange(count + 1.0)
        most = float(gammaln(count + 1))
        binomial = most - gammaln(j + 1) - gammaln(count - j + 1)
        x, y = xlogy(j, mass[1]), xlogy(count - j, mass[0])
        log_mass = binomial + x + y
        sizes = np.where(log_mass > _LEAST_LOG, np.abs(x) + np.abs(y), 0.0)
        units = (2.0 * LIBRARY + 4.0) * most + (LIBRARY + 3.0) * float(sizes.max()) + LIBRARY
        blur = 4.0 * _UNIT * count * float(np.abs(loss).max())
        return _merge(_AtomLaw((count - j) * loss[0] + j * loss[1], np.exp(log_mass), units + own, blur), scale)
    out: _AtomLaw | None = _AtomLaw(np.zeros(1), np.ones(1), own, 0.0)
    base: _AtomLaw | None = _AtomLaw(loss, mass, 0.0, 0.0)
    while count:  # one round for each binary digit
        if count & 1:
            out = _convolve(out, base, scale)
        count >>= 1
        if count:
            base = _convolve(base, base, scale)
    return out


def _convolve(one: _AtomLaw | None, other: _AtomLaw | None, scale: float) -> _AtomLaw | None:
    """Return the sums of two sets of atoms, or None if one is unknown or there are too many or none."""
    if one is None or other is None or not 0 < one.loss.size * other.loss.size <= 16 * _MOST:
        return None
    loss, mass = np.add.outer(one.loss, other.loss).ravel(), np.outer(one.mass, other.mass).ravel()
    blur = one.blur + other.blur + _UNIT * float(np.abs(loss).max())
    law = _merge(_AtomLaw(loss, mass, one.units + other.units + 1.0, blur), scale)
    return law if law.loss.size <= _MOST else None


def _merge(law: _AtomLaw, scale: float) -> _AtomLaw:
    """Sort the atoms and join those that differ by rounding alone."""
    cell = np.round(law.loss / (16 * _UNIT * scale))
    order = np.argsort(cell, kind="stable")
    loss, mass, cell = law.loss[order], law.mass[order], cell[order]
    starts = np.flatnonzero(np.concatenate(([True], cell[1:] != cell[:-1])))
    sizes = np.diff(np.append(starts, loss.size))
    moved = float(np.abs(loss - np.repeat(loss[starts], sizes)).max())
    units = law.units + float(sizes.max()) - 1.0
    return _AtomLaw(loss[starts], np.add.reduceat(mass, starts), units, law.blur + moved)

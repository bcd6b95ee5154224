"""Piecewise-linear regions, exact: a finite list of losses with their masses under P0 and P1.

Masses are stored, not coordinates: 1 - delta forgets a delta of 1e-20, a mass does not. The trade-off curve has one
segment per loss L, of width p (P0 mass), drop q (P1 mass) and slope -e^L.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray
from dpcore.engine import profile
from dpcore.engine.exponential_sum import grid_places, sum_rounding, sums_on_grid

if TYPE_CHECKING:
    from collections.abc import Sequence

_MANY = 100_000  # looking up more values takes more than a few milliseconds: the clock is checked first
_CELLS = 2_000_000  # values of s times losses in memory at once, 32 MB
_LINE, _DEAR = 64, 50_000
"""Nodes of a line, and nodes times losses, from which phases come from tables: a direct sum takes 30 ns for each."""
_UNIT = 2.0**-53
_SURPLUS = 1e-12
"""Excess of the mass over 1 that is rounding; a larger one is an error, and shows in betas above guessing."""
_LITTLE = 64.0
"""Rounding of M, in units of 2^-53, that needs no closer bound."""
_FEW, _NARROW, _NEAR = 64, 1e-2, 0.1
"""Most losses, their largest size, and the largest abs(s L) for which M is computed from its difference from M(0)."""
_FELT = 1e-10  # relative change of a delta that its kind must not hide


class Polygon(Curve):
    """The pair with masses ``p`` and ``q`` at the finite, ascending, distinct losses ``loss``.

    Parameters
    ----------
    loss, p, q : ndarray of float or sequence of float
        Columns of one length, kept as they are; q = p e^loss up to underflow.
    p_inf, q_inf : float, default 0
        P0 mass at loss -inf and P1 mass at loss +inf.
    symmetric : bool, optional
        Whether the polygon is its own inverse; determined from the masses by default.
    method : str, default "exact polygon"
        The method of computation, in a few words.
    corners : int, optional
        Number of corners, if `loss` leaves out some whose masses are below the smallest double.
    ends : tuple of (float, float), optional
        Smallest and largest loss, for the same reason.
    rounding : float, default 4
        Relative error of the masses, in units of 2^-53.
    loss_error : float, default 0
        Error of a loss L in units of 2^-53 (1 + abs(L)), where losses are computed; 0 where they are parameters.
    untold : float, default 0
        How much of `q_inf` has a finite loss that is not known.
    """

    one_sum = True

    def __init__(  # noqa: PLR0913  the masses and their properties
        self,
        loss: FloatArray | Sequence[float],
        p: FloatArray | Sequence[float],
        q: FloatArray | Sequence[float],
        p_inf: float = 0.0,
        q_inf: float = 0.0,
        *,
        symmetric: bool | None = None,
        method: str = "exact polygon",
        corners: int | None = None,
        ends: tuple[float, float] | None = None,
        rounding: float = 4.0,
        loss_error: float = 0.0,
        untold: float = 0.0,
    ) -> None:
        self.columns = loss, p, q
        self.size = len(loss)
        self.rounding, self.loss_error = rounding, loss_error
        self.p_inf = float(p_inf)
        self.q_inf, self.untold = float(q_inf), untold
        if ends is None:
            ends = (float(loss[0]), float(loss[-1])) if self.size else (np.inf, -np.inf)
        self.min_loss, self.max_loss = ends
        self.method = method
        self.corner_count = self.size if corners is None else corners
        self.symmetric = self._mirrors_itself() if symmetric is None else symmetric

    @Lazy
    def loss(self) -> FloatArray:
        """Finite losses, ascending and distinct."""
        return np.asarray(self.columns[0], dtype=np.float64)

    @Lazy
    def p(self) -> FloatArray:
        """Their masses under P0."""
        return np.asarray(self.columns[1], dtype=np.float64)

    @Lazy
    def q(self) -> FloatArray:
        """Their masses under P1."""
        return np.asarray(self.columns[2], dtype=np.float64)

    def _mirrors_itself(self) -> bool:
        scale = 1e-13 * (1.0 + np.abs(self.loss).max(initial=0.0))
        return bool(
            abs(self.p_inf - self.q_inf) <= 1e-14 * self.q_inf
            and np.allclose(self.loss, -self.loss[::-1], rtol=0, atol=scale)
            and np.allclose(self.p, self.q[::-1], rtol=1e-12, atol=0)
        )

    @Lazy
    def _tables(self) -> profile.Tables:
        return profile.tables(self.loss, self.q, self.q_inf)

    @Lazy
    def _inverse_tables(self) -> profile.Tables:
        return profile.tables(-self.loss[::-1], self.p[::-1], self.p_inf)

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return delta at each epsilon: q_inf + sum over L > epsilon of q (1 - e^(epsilon - L)).

        It is a bracket where epsilon is so near a loss that its rounding matters, or where some losses are unknown.
        """
        value = self._deltas(epsilon)
        sides = self._beside_losses(epsilon, value) if self.loss_error and self.size else (value, value)
        if not self.untold:
            return sides
        return np.where(epsilon >= 0, np.maximum(sides[0] - self.untold, 0.0), sides[0]), sides[1]

    def _beside_losses(self, epsilon: FloatArray, value: FloatArray) -> Bounds:
        """Return the deltas with a bracket for those that the rounding of a loss affects."""
        inner = (epsilon >= 0) & np.isfinite(epsilon)
        at = np.where(inner, epsilon, 0.0)
        slop = self.loss_error * _UNIT * (1.0 + at)
        after = self.loss[np.minimum(np.searchsorted(self.loss, at - slop), self.size - 1)]
        # farther away delta changes by at most slop / distance
        near = inner & (np.abs(after - at) * _FELT <= slop)
        if not near.any():
            return value, value
        upper, lower = (self._deltas(np.maximum(epsilon[near] + side * slop[near], 0.0)) for side in (-1, 1))
        felt = upper - lower > _FELT * upper
        lower, upper = (np.where(felt, side, value[near]) for side in (lower, upper))
        if felt.any():
            lower[felt], upper[felt] = self._beside_loss(epsilon[near][felt], (lower[felt], upper[felt]))
        sides = value.copy(), value.copy()
        sides[0][near], sides[1][near] = lower, upper
        return sides

    def _beside_loss(self, epsilon: FloatArray, bounds: Bounds) -> Bounds:  # noqa: ARG002  overridden where losses are rational
        """Return the bracket of delta where the rounding of a loss matters."""
        return bounds

    def _deltas(self, epsilon: FloatArray) -> FloatArray:
        """Return delta at each epsilon for the losses as they are."""
        if epsilon.size > _MANY:
            checkpoint()
        value = np.asarray(profile.delta_at(epsilon, self.loss, self._tables), dtype=np.float64)
        below = (epsilon < 0) & np.isfinite(epsilon)
        if below.any():
            mirrored = profile.delta_at(-epsilon[below], -self.loss[::-1], self._inverse_tables)
            value[below] = -np.expm1(epsilon[below]) + np.exp(epsilon[below]) * mirrored
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)

    def tail_from(self, epsilon: FloatArray) -> FloatArray:
        """Return the sum of q e^(epsilon - L) over L >= epsilon: minus the left slope of the profile times e^epsilon."""
        return self._tail(epsilon, "left")

    def tail_above(self, epsilon: FloatArray) -> FloatArray:
        """Return the same sum over L > epsilon: minus the right slope of the profile times e^epsilon."""
        return self._tail(epsilon, "right")

    def _tail(self, epsilon: FloatArray, side: Literal["left", "right"]) -> FloatArray:
        if epsilon.size > _MANY:
            checkpoint()
        if not self.loss.size:
            return np.zeros(epsilon.size)
        first = np.searchsorted(self.loss, epsilon, side=side)
        ahead = epsilon - self.loss[np.minimum(first, self.loss.size - 1)]
        return np.asarray(self._tables.discounted[first] * np.exp(np.minimum(ahead, 0.0)), dtype=np.float64)

    def inverse(self) -> Polygon:
        """Return the polygon of the exchanged pair: losses change sign, p and q change places."""
        return self if self.symmetric else self.flipped()

    def flipped(self) -> Polygon:
        """Return the exchanged pair even when it is the same region."""
        return Polygon(
            -self.loss[::-1],
            self.q[::-1],
            self.p[::-1],
            self.q_inf,
            self.p_inf,
            symmetric=self.symmetric,
            method=self.method,
            corners=self.corner_count,
            ends=(-self.max_loss, -self.min_loss),
            rounding=self.rounding,
            loss_error=self.loss_error,
            untold=self.untold and self.p_inf,
        )

    @Lazy
    def vertices(self) -> tuple[FloatArray, FloatArray]:
        """Corner points (alpha, beta), alpha ascending, from (0, 1 - q_inf) to where beta is 0, then (1, 0)."""
        alpha = profile.suffix_sums(self.p)[::-1]
        beta = profile.suffix_sums(self.q[::-1])
        alpha = np.minimum(alpha, 1.0)
        beta = np.minimum(beta, 1.0)
        # the total of the finite masses comes from their sum or from the mass at infinity, whichever is smaller
        if self.q_inf <= 0.5:
            beta[0] = 1.0 - self.q_inf
        if self.p_inf <= 0.5:
            alpha[-1] = 1.0 - self.p_inf
        alpha = np.minimum.accumulate(alpha[::-1])[::-1]
        beta = np.minimum.accumulate(beta)
        if alpha[-1] < 1.0:
            alpha, beta = np.append(alpha, 1.0), np.append(beta, 0.0)
        return np.asarray(alpha, dtype=np.float64), np.asarray(beta, dtype=np.float64)

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return beta on the segment that contains alpha: its lower end plus e^L times the distance to it."""
        corner, beta_at = self.vertices
        right = np.clip(np.searchsorted(corner, alpha, side="left"), 1, max(1, corner.size - 1))
        if corner.size == 1:
            flat = np.zeros_like(alpha)
            return flat, flat
        width = corner[right] - corner[right - 1]
        share = np.divide(corner[right] - alpha, width, out=np.zeros_like(alpha), where=width > 0)
        value = beta_at[right] + np.clip(share, 0.0, 1.0) * (beta_at[right - 1] - beta_at[right])
        value = np.where(alpha <= 0.0, beta_at[0], np.where(alpha >= 1.0, 0.0, value))
        # a larger excess over blind guessing is an error and is not hidden
        guessing = 1.0 - alpha
        value = np.where(value <= guessing + self._surplus, np.minimum(value, guessing), value)
        return value, value

    @Lazy
    def _surplus(self) -> float:
        """Bound how far rounding lifts a corner above blind guessing.

        A corner has the rate alpha, all p above a loss, and the rate beta, all q below it. If that loss is not negative, no p above
        it exceeds its q, and alpha + beta is at most the sum of all q; else it is at most that of all p. Such a sum may exceed 1 by the
        rounding of the masses, and each rate is a rounded sum near 1.
        """
        most = max(self.p_inf + float(np.sum(self.p)), self.q_inf + float(np.sum(self.q)))
        return min(max(most - 1.0, 0.0), _SURPLUS) + (8.0 + 2.0 * profile.suffix_rounding(self.size)) * _UNIT

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return the true-positive rate: masses of the largest losses first, so that small rates keep their digits."""
        alpha = np.asarray(alpha, dtype=np.float64)
        corner = profile.suffix_sums(self.p)[::-1]
        height = self.q_inf + profile.suffix_sums(self.q)[::-1]
        # losses whose P0 mass underflows still require a rate above 0
        value = np.where(alpha > 0.0, np.interp(alpha, corner, height), self.q_inf)
        value = np.clip(value, 0.0, 1.0)
        return value, value

    def corners(self) -> tuple[FloatArray, FloatArray]:
        """Return the (epsilon, delta) statements at the losses, only from 0 upwards if the region is symmetric."""
        epsilon = self.loss[self.loss >= 0] if self.symmetric else self.loss
        return epsilon, self.delta_bounds(epsilon)[1] + 0.0

    @property
    def area(self) -> float:
        """Area under the curve: for each segment, its width times the mean of its ends."""
        alpha, beta = self.vertices
        return float(np.sum(np.diff(alpha) * (beta[1:] + beta[:-1])) / 2)

    @property
    def atom_units(self) -> float:
        """How far below the truth the masses of `atoms` may be, in units of 2^-53."""
        return 2.0 * self.rounding + 12.0

    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """Return the losses with their P1 masses, rounded down: the contour engine splits them off."""
        return self.loss, self.q * (1 - 1e-15 - _UNIT * self.rounding)

    @Lazy
    def _logs(self) -> tuple[FloatArray, FloatArray]:
        """Losses with a mass above 0, and the logarithms of their P1 masses."""
        use = (self.q > 0) | (self.p > 0)
        loss = self.loss[use]
        with np.errstate(divide="ignore"):
            return loss, np.where(self.q[use] > 0, np.log(self.q[use]), np.log(self.p[use]) + loss)

    @Lazy
    def _operations(self) -> float:
        """Bound the rounding of one term of M except for its exponent, in units of 2^-53: mass, exponential, summation."""
        return self.rounding + 3.0 + min(float(self.size), 20.0 + math.log2(self.size + 1.0))

    @Lazy
    def mgf_rounding(self) -> float:
        """Bound the rounding error of M(s) in units of 2^-53 M(Re s): log q is rounded, added to s L and reduced by the maximum."""
        return self._operations + 3.0 * float(np.abs(self._logs[1]).max(initial=0.0))

    def mgf_rounding_along(self, s: ComplexArray) -> FloatArray | float:
        """Return the rounding error at the nodes of lines, one per row.

        In a large table most of M(c) comes from masses that are not small.

        Where M is near its value at 0 (see `_near`), the terms q (e^(sL) - 1) are at most 1.11 abs(sL) q and M(c) at least
        0.9 of all masses.
        """
        if self._tall(s):
            grid = sum_rounding(s.shape[-1], self._logs[0].size)
            return self._rounding_of_terms(s) + grid + 3.0 * self._reach * np.abs(s)
        return self._rounding_of_terms(s)

    def _rounding_of_terms(self, s: ComplexArray) -> FloatArray | float:
        if self.mgf_rounding <= _LITTLE:
            if not self._narrow:
                return self.mgf_rounding
            size = self._reach * np.abs(s)
            near = 1.25 * (self._operations + 8.0) * size - 2.0 * np.log1p(-self.q_inf)
            return np.where(size <= _NEAR, near, self.mgf_rounding)
        loss, log_q = self._logs
        c = s.real[..., :1]
        out = np.empty(c.size)
        for row, one in enumerate(c.ravel()):
            exponent = one * loss + log_q
            weight = np.exp(exponent - exponent.max())
            out[row] = weight @ np.abs(log_q) / weight.sum()
        return np.asarray(self._operations + 3.0 * out.reshape(c.shape), dtype=np.float64)

    @Lazy
    def _reach(self) -> float:
        return float(np.abs(self._logs[0]).max(initial=0.0))

    @Lazy
    def _narrow(self) -> bool:
        """Whether M is near its value at 0 wherever a product of many copies needs it."""
        return self.size <= _FEW and self._reach <= _NARROW

    def _near(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s) for small abs(s L) from its difference from log M(0), so that many copies keep their digits."""
        change = (np.expm1(s[:, None] * self.loss) @ self.q) / (1.0 - self.q_inf)
        x, y = change.real, change.imag
        out = np.empty(s.shape, dtype=np.complex128)
        out.real = 0.5 * np.log1p(x * (2.0 + x) + y * y) + np.log1p(-self.q_inf)
        out.imag = np.arctan2(y, 1.0 + x)
        return out

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log of the sum of q e^(s L), scaled by its largest term; large tables go in chunks."""
        s = np.asarray(s, dtype=np.complex128)
        if self._narrow:
            near = np.abs(s) * self._reach <= _NEAR
            if near.all():
                return self._near(s.ravel()).reshape(s.shape)
            out = self._far(s)
            out[near] = self._near(s[near])
            return out
        return self._far(s)

    def _far(self, s: ComplexArray) -> ComplexArray:
        if not self._tall(s):
            return self._direct(s)
        out = np.empty(s.shape, dtype=np.complex128)
        rows = out.reshape(-1, s.shape[-1])
        for row, line in enumerate(s.reshape(rows.shape)):
            even = self._along(line)
            rows[row] = self._direct(line) if even is None else even
        return out

    def _tall(self, s: ComplexArray) -> bool:
        """Whether lines of nodes, one per row, are summed by `sums_on_grid` if their nodes are evenly spaced."""
        return s.ndim > 0 and s.shape[-1] >= _LINE and s.shape[-1] * self._logs[0].size >= _DEAR

    def _along(self, line: ComplexArray) -> ComplexArray | None:
        """Return log M at evenly spaced nodes of one vertical line; None for any others."""
        if np.any(line.real != line.real[0]) or (grid := grid_places(line.imag)) is None:
            return None
        loss, log_q = self._logs
        exponent = line.real[0] * loss + log_q
        top = exponent.max()
        return np.asarray(top + np.log(sums_on_grid(np.exp(exponent - top), loss, *grid)), dtype=np.complex128)

    def _direct(self, s: ComplexArray) -> ComplexArray:
        loss, log_q = self._logs
        out = np.empty(s.shape, dtype=np.complex128)
        flat, result = s.ravel(), out.ravel()
        step = max(1, _CELLS // max(1, loss.size))
        for start in range(0, flat.size, step):
            part = flat[start : start + step]
            if start:
                checkpoint(start / flat.size)
            exponent = part[:, None] * loss + log_q
            top = exponent.real.max(axis=1)
            result[start : start + step] = top + np.log(np.exp(exponent - top[:, None]).sum(axis=1))
        return result.reshape(s.shape)

"""Products of independent parts by their moment generating functions: log M on lines, its rounding and its decay.

For a pair with loss L, M(s) = E_1[e^{sL}; L finite]; the transform of a product is the product of the transforms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.core.rounding import UNIT, log_keep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    ComplexArray = NDArray[np.complex128]
    Bounds = tuple[FloatArray, FloatArray]

_STEP = 1e-20
"""Imaginary step of the derivative of log M on the real axis; small enough to leave no truncation error."""

_UNITS = 5e4  # no tabulated log M(c) has an error of more units of 2^-53 (2 + abs(c))

_FLOOR = 40.0
"""A modulus below e^-40 of its value on the real axis is rounding noise and is set to that level."""

_MANY_SLOW, _STRONGEST = 200, 100
"""Number of parts with a costly bound of their decay beyond which only the strongest are used, and how many."""

_GROWTH, _MOST_CELLS = 0.02, 100_000
"""Share by which the first cells of `decay_between` grow, and most cells: more take longer than the nodes they save."""


class Factor(Protocol):
    """One part of a product: masses at infinite loss, ends of the finite losses, and transform of the finite part.

    The numbers must be consistent: M(0) = 1 - q_inf and M(-1) = 1 - p_inf up to rounding. A factor may have
    `cumulants(c)`, which returns log M and its derivative at real c at a lower cost than `log_mgf`, with an error of a few
    units of 2^-53 (1 + abs(c) R); not finite where M is unknown.
    """

    @property
    def q_inf(self) -> float:
        """Mass of P1 at loss +inf."""

    @property
    def p_inf(self) -> float:
        """Mass of P0 at loss -inf."""

    @property
    def min_loss(self) -> float:
        """Lower end of the finite losses, or -inf."""

    @property
    def max_loss(self) -> float:
        """Upper end of the finite losses, or +inf."""

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s) on any branch.

        Required accuracy: abs(error) <= u ((r + abs(s) R) M(Re s)/abs(M(s)) + 4 abs(log M(s))) with u = 2^-53, R
        the largest finite abs(loss) (0 if unbounded) and r = 2, or the factor's own `mgf_rounding` (`mgf_rounding_along(s)`
        if it differs from node to node; of a product, the sum over its `transform_parts`).

        Parameters
        ----------
        s : ndarray of complex
            One dimension; two, with a line in each row, if the factor has a true `takes_rows`.

        Returns
        -------
        ndarray of complex
            log M(s), -inf where M vanishes.
        """

    def log_decay(self, c: float, y: float) -> float:
        """Return an upper bound of log(abs(M(c+iY))/M(c)) for every abs(Y) >= y; 0.0 always holds.

        Parameters
        ----------
        c, y : float
            Real part, and smallest size of the imaginary part.

        Returns
        -------
        float
            The bound, at most 0.
        """


class TransformProduct:
    """Independent parts, each with its number of repetitions, by their transforms."""

    def __init__(self, factors: Sequence[tuple[Factor, int]]) -> None:
        self.parts = tuple((factor, count) for factor, count in factors if count > 0)
        self.log_finite1 = log_keep((factor.q_inf, count) for factor, count in self.parts)
        self.log_finite0 = _log_finite0(self.parts)
        self.delta_inf = -math.expm1(self.log_finite1)
        self.symmetric = all(getattr(factor, "symmetric", False) for factor, _ in self.parts)
        self.max_loss = _total([(factor.max_loss, count) for factor, count in self.parts])
        self.min_loss = -_total([(-factor.min_loss, count) for factor, count in self.parts])
        self.rounding = float(sum(k * getattr(part, "mgf_rounding", 2.0) for part, k in self.parts))
        self.tallest = min((getattr(part, "tallest", math.inf) for part, _ in self.parts), default=math.inf)
        self._decays: dict[tuple[int, float, float], FloatArray] = {}
        self._reach = tuple(_finite(max(abs(part.min_loss), abs(part.max_loss))) for part, _ in self.parts)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return a logarithm of the product's M(s)."""
        total = np.zeros_like(s)
        for factor, count in self.parts:
            total += count * factor.log_mgf(s)
        return total

    def cumulants(self, c: FloatArray) -> Bounds:
        """Return log M(c) and its derivative, the mean of the loss tilted by c; not finite where M is unknown.

        For saddle points and for bounds with a margin of a hundredth: no digit of an answer comes from here.
        """
        value, slope = np.zeros(c.size), np.zeros(c.size)
        with np.errstate(over="ignore", invalid="ignore"):
            for factor, count in self.parts:
                checkpoint()
                own, mean = _cumulants(factor, c)
                value += count * own
                slope += count * mean
        return value, slope

    def cumulant_rounding(self, c: FloatArray) -> FloatArray:
        """Bound the error of log M(c) from `cumulants` beyond four times the sum of abs(log M_i), in units of 2^-53."""
        total = np.zeros(c.size)
        for (factor, count), reach in zip(self.parts, self._reach, strict=True):
            own = getattr(factor, "cumulant_rounding", None)
            units = own(c) if own else 4.0 * (float(getattr(factor, "mgf_rounding", 2.0)) + reach * np.abs(c))
            total += count * units
        return total

    def table_error(self, c: FloatArray, log_m: FloatArray) -> FloatArray | float:
        """Bound the error of log M(c) where a margin of a hundredth does not."""
        if sum(count for _, count in self.parts) * _UNITS * (2.0 + float(np.abs(c).max())) * UNIT <= 0.009:
            return 0.0
        return np.asarray(UNIT * (self.cumulant_rounding(c.ravel()).reshape(c.shape) + 4.0 * np.abs(log_m)))

    def exponent(self, s: ComplexArray) -> tuple[ComplexArray, FloatArray]:
        """Return log M(s) and its rounding error in units of the last place; each row of `s` starts at its real c.

        Near a zero of one M_i only the absolute error of M_i, relative to M_i(c), is small: hence the factor
        M_i(c)/|M_i(s)|.
        """
        total, error = np.zeros_like(s), np.zeros(s.shape)
        for (factor, count), reach in zip(self.parts, self._reach, strict=True):
            checkpoint()
            rows = getattr(factor, "takes_rows", False)
            log_m = factor.log_mgf(s) if rows else factor.log_mgf(s.ravel()).reshape(s.shape)
            error += count * _log_error(log_m, rounding_units(factor, s) + reach * np.abs(s))
            total += count * log_m
        return total, error

    def atoms_exponent(self, s: ComplexArray) -> tuple[ComplexArray, FloatArray]:
        """Return `exponent` for the atoms of split parts alone (`contour_atoms`)."""
        total, error = np.zeros_like(s), np.zeros(s.shape)
        for (factor, count), reach in zip(self.parts, self._reach, strict=True):
            log_a = getattr(factor, "log_atoms")(s)  # noqa: B009  a method that only split parts have
            error += count * _log_error(log_a, rounding_units(factor, s) + reach * np.abs(s))
            total += count * log_a
        return total, error

    def pruned_exponent(
        self, s: ComplexArray, at_c: Sequence[float], floor: FloatArray
    ) -> tuple[ComplexArray, FloatArray, NDArray[np.bool_]]:
        """Return `exponent` along one line, and the nodes for which it is complete.

        No part exceeds its value at the real axis, so a node whose log(|M(s)|/M(c)) has fallen below its `floor` after
        some of the parts needs no others: its entry is that partial value plus log M(c), an upper bound.
        """
        total, error, complete = np.zeros_like(s), np.zeros(s.size), np.ones(s.size, dtype=np.bool_)
        ratio = np.zeros(s.size)
        active = np.arange(s.size)
        nodes, size = s, np.abs(s)
        for i, (factor, count) in enumerate(self.parts):
            checkpoint()
            log_m = factor.log_mgf(nodes)
            real = np.maximum(log_m.real, at_c[i] - _FLOOR)
            fall = real - at_c[i]
            log_m.real = real
            total[active] += count * log_m
            units = rounding_units(factor, nodes)
            error[active] += count * (np.exp(-fall) * (units + self._reach[i] * size) + 4 * np.abs(log_m))
            ratio[active] += count * fall
            if i % 4 == 3:
                keep = ratio[active] >= floor[active]
                if 4 * np.count_nonzero(keep) < 3 * active.size:
                    complete[active[~keep]] = False
                    active, nodes, size = active[keep], nodes[keep], size[keep]
                    if not active.size:
                        break
        if not complete.all():
            total[~complete] = ratio[~complete] + math.fsum(k * at for (_, k), at in zip(self.parts, at_c, strict=True))
        return total, error, complete

    def log_decay(self, c: float, y: float) -> float:
        """Bound log(abs(M(c+iY))/M(c)) for every abs(Y) >= y."""
        if len(self.parts) == 1:
            factor, count = self.parts[0]
            return count * factor.log_decay(c, y)
        return math.fsum(count * factor.log_decay(c, y) for factor, count in self._fading)

    def log_decay_without_atoms(self, c: float, y: float) -> float:
        """Bound the same for the product of split parts without the sums of their atoms alone (`contour_atoms`)."""
        left, whole = 0.0, 0.0
        for factor, count in self.parts:
            split = getattr(factor, "split_decay", None)
            shares = None if split is None else split(c, y)
            if shares is None:
                return 0.0
            both = math.fsum(shares)
            left += count * shares[1] / both
            whole += count * math.log(both)
        return min(0.0, math.log(max(left, 1e-300)) + whole + 1e-9)

    @property
    def has_cells(self) -> bool:
        """Whether some part bounds its decay cell by cell (`decay_between`, with a `decay_cell`)."""
        return any(hasattr(factor, "decay_between") for factor, _ in self.parts)

    def cells(self, start: float, end: float) -> FloatArray | None:
        """Return the ends of cells for `decay_between`, their lengths growing up to `decay_cell`; None if they are too many."""
        longest = max(getattr(factor, "decay_cell", 0.0) for factor, _ in self.parts)
        growing = math.ceil(math.log(max(end / start, 1.0 + _GROWTH)) / math.log1p(_GROWTH))
        first = start * (1.0 + _GROWTH) ** np.arange(growing + 1.0)
        first = first[: 1 + int(np.searchsorted(first * _GROWTH, longest))]
        if first[-1] >= end:
            return first
        count = math.ceil((end - first[-1]) / longest)
        if count > _MOST_CELLS:
            return None
        return np.concatenate((first, first[-1] + longest * np.arange(1.0, count + 1.0)))

    def decay_between(self, c: float, ends: FloatArray) -> FloatArray:
        """Bound log(abs(M(c+iY))/M(c)) for every Y in each cell between two ends."""
        name = ends.size, float(ends[0]), float(ends[-1])
        if name not in self._decays:
            bounds = (k * f.decay_between(ends) for f, k in self.parts if hasattr(f, "decay_between"))
            self._decays = {name: np.asarray(sum(bounds), dtype=np.float64)}
        rest = [(f, k) for f, k in self.parts if not hasattr(f, "decay_between")]
        return self._decays[name] + math.fsum(k * f.log_decay(c, float(ends[0])) for f, k in rest)

    @Lazy
    def _fading(self) -> tuple[tuple[Factor, int], ...]:
        """Return the parts whose decay counts: the strongest, if very many have a costly bound.

        No part has a decay above 0, so the others may be left out.
        """
        slow = {place: k * scale for place, (f, k) in enumerate(self.parts) if (scale := getattr(f, "loss_scale", 0.0))}
        if len(slow) <= _MANY_SLOW:
            return self.parts
        strongest = set(sorted(slow, key=slow.__getitem__)[-_STRONGEST:])
        return tuple(part for place, part in enumerate(self.parts) if place not in slow or place in strongest)

    def scales(self) -> tuple[float, float]:
        """Return the loss scales of the smallest part and of the whole product, for the range of the table."""
        smallest, whole = math.inf, 0.0
        for (factor, count), reach in zip(self.parts, self._reach, strict=True):
            scale = reach or getattr(factor, "loss_scale", 0.0)
            if scale == 0.0:
                low, high = _by_step(factor, np.array([-0.5 - 1e-3, -0.5 + 1e-3]))[1].tolist()
                scale = math.sqrt(max((high - low) / 2e-3, 0.0))
            if scale > 0:
                smallest = min(smallest, scale)
                whole += count * scale
        return (smallest, whole) if whole > 0 else (1.0, 1.0)


def _log_error(log_m: ComplexArray, units: float | FloatArray) -> FloatArray:
    """Return the rounding error of log M on lines, one per row, and raise values that are noise to their floor."""
    at_c = log_m.real[:, :1].copy()
    np.maximum(log_m.real, at_c - _FLOOR, out=log_m.real)
    error = np.exp(at_c - log_m.real)
    error *= units
    error += 4 * np.abs(log_m)
    return np.asarray(error, dtype=np.float64)


def _cumulants(factor: Factor, c: FloatArray) -> Bounds:
    """Return log M(c) and its derivative, by the factor's own method if it has one."""
    own = getattr(factor, "cumulants", None)
    return _by_step(factor, c) if own is None else own(c)


def _by_step(factor: Factor, c: FloatArray) -> Bounds:
    """Return log M(c) and its derivative by an imaginary step."""
    values = factor.log_mgf(np.asarray(c + 1j * _STEP, dtype=np.complex128))
    return values.real, values.imag / _STEP


def rounding_units(factor: Factor, s: ComplexArray) -> float | FloatArray:
    """Return the rounding error of a factor's M at the nodes of lines, one per row, in units of 2^-53 M(Re s).

    Of a product it is the sum over its parts, because no part exceeds its value on the real axis. They are asked line by line,
    as they compute their transforms: a product passes them its lines one after the other.
    """
    along = getattr(factor, "mgf_rounding_along", None)
    if along is not None:
        units: float | FloatArray = along(s)
        return units
    parts: tuple[tuple[Factor, int], ...] = getattr(factor, "transform_parts", ())
    if not parts:
        return float(getattr(factor, "mgf_rounding", 2.0))
    if s.ndim == 2 and len(s) > 1:
        return np.concatenate([np.broadcast_to(rounding_units(factor, row[None]), (1, row.size)) for row in s])
    return sum((count * rounding_units(part, s) for part, count in parts), np.zeros(s.shape))


def _log_finite0(parts: Sequence[tuple[Factor, int]]) -> float:
    """Return log M(-1), from the transform where 1 - p_inf would lose digits."""
    likely = [(factor.p_inf, count) for factor, count in parts if factor.p_inf < 0.5]
    rare = [(factor, count) for factor, count in parts if factor.p_inf >= 0.5 and factor.q_inf < 1]
    at = np.array([-1.0 + 0j])
    return log_keep(likely) + math.fsum(count * float(factor.log_mgf(at).real[0]) for factor, count in rare)


def _total(losses: list[tuple[float, int]]) -> float:
    """Return the smallest double that is not below the exact sum of count times loss."""
    if any(math.isinf(loss) for loss, _ in losses):
        return math.inf if any(loss > 0 for loss, _ in losses if math.isinf(loss)) else -math.inf
    ratios = [(count, *float(loss).as_integer_ratio()) for loss, count in losses]
    common = max((power for _, _, power in ratios), default=1)  # the denominators are powers of 2
    exact = sum(count * top * (common // power) for count, top, power in ratios)
    total = exact / common
    top, power = total.as_integer_ratio()
    return total if top * common >= exact * power else math.nextafter(total, math.inf)


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0

r"""One of several pairs is chosen at random and the choice is visible: the transform of its loss.

With weights w_i, the same under both hypotheses, the masses of all losses are averages: :math:`M = \sum_i w_i M_i`. So
:math:`|M(c+iY)| \le \sum_i w_i M_i(c)\,e^{d_i}` if d_i bounds the decay of part i from y on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.engine.contour_product import rounding_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.engine.contour_product import ComplexArray, Factor, FloatArray


class ChosenTransform:
    """A `Factor`: the average of the transforms of its parts.

    Parameters
    ----------
    parts : sequence of tuple of (float, Factor)
        Weights, which add up to 1, and pairs.
    """

    def __init__(self, parts: Sequence[tuple[float, Factor]]) -> None:
        self.weights = tuple(weight for weight, _ in parts)
        self.options = tuple(part for _, part in parts)
        self.q_inf = math.fsum(w * part.q_inf for w, part in parts)
        self.p_inf = math.fsum(w * part.p_inf for w, part in parts)
        self.max_loss = max(part.max_loss for part in self.options)
        self.min_loss = min(part.min_loss for part in self.options)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return the logarithm of the average; nan where that of a part is not known."""
        logs = [part.log_mgf(s) + math.log(w) for w, part in zip(self.weights, self.options, strict=True)]
        top = np.maximum.reduce([value.real for value in logs])
        total = np.zeros_like(logs[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            for value in logs:
                total += np.exp(value - top)
            return np.asarray(np.log(total) + top, dtype=np.complex128)

    def cumulants(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M and its derivative on the real axis."""
        pairs = [self._own(part, c) for part in self.options]
        logs = np.stack([value + math.log(w) for w, (value, _) in zip(self.weights, pairs, strict=True)])
        top = logs.max(axis=0)
        share = np.exp(logs - top)
        total = share.sum(axis=0)
        slope = np.einsum("ij,ij->j", share, np.stack([slope for _, slope in pairs])) / total
        return np.asarray(top + np.log(total), dtype=np.float64), np.asarray(slope, dtype=np.float64)

    @staticmethod
    def _own(part: Factor, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        own = getattr(part, "cumulants", None)
        if own is not None:
            value, slope = own(c)
            return np.asarray(value, dtype=np.float64), np.asarray(slope, dtype=np.float64)
        step = 1e-20
        values = part.log_mgf(np.asarray(c + 1j * step, dtype=np.complex128))
        return values.real, values.imag / step

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound that follows from those of the parts."""
        at = np.array([c])
        whole = float(self.cumulants(at)[0][0])
        terms = [
            math.log(w) + float(self._own(part, at)[0][0]) + part.log_decay(c, y) - whole
            for w, part in zip(self.weights, self.options, strict=True)
        ]
        if not all(math.isfinite(term) for term in terms):
            return 0.0
        return min(0.0, float(np.logaddexp.reduce(terms)) + 1e-12)

    @property
    def mgf_rounding(self) -> float:
        """Rounding error of M(s): the largest of the parts, plus a few exponentials."""
        return 8.0 + max(float(getattr(part, "mgf_rounding", 2.0)) for part in self.options)

    def mgf_rounding_along(self, s: ComplexArray) -> FloatArray:
        """Return the rounding error at each exponent: an average of the parts', each in units of its own M(Re s)."""
        units = [np.broadcast_to(rounding_units(part, s), s.shape) for part in self.options]
        return np.asarray(8.0 + np.maximum.reduce(units), dtype=np.float64)

    @property
    def takes_rows(self) -> bool:
        """Whether all parts take lines in rows."""
        return all(getattr(part, "takes_rows", False) for part in self.options)

r"""The distance between two output distributions: f-divergences, each a sum of one homogeneous convex term per answer.

.. math:: D_f(M_0\|M_1)=\sum_y M_1(y)\,f\!\left(\frac{M_0(y)}{M_1(y)}\right)

Merging two answers never increases such a sum, and splitting one never decreases it, so the best channels are made of
extremal columns (`dpcore.local.extremal`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.curves.base import FloatArray
    from dpcore.local.hypotheses import Hypotheses

_SERIES_BELOW = 0.01  # of |a/b - 1|; above it the closed form loses at most two digits
_SERIES = [1.0 / (n * (n - 1)) for n in range(2, 11)]


def _variation(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.abs(a - b) / 2, dtype=np.float64)


def _kullback(a: FloatArray, b: FloatArray) -> FloatArray:
    r"""Return a log(a/b) - a + b = b ((1+r) log(1+r) - r), r = a/b - 1; for small r by r^n (-1)^n / (n (n-1))."""
    out = np.where(a > 0, math.inf, 0.0)
    possible = b > 0
    r = (a[possible] - b[possible]) / b[possible]
    safe = np.maximum(r, -1.0 + 1e-300)
    closed = np.where(r <= -1.0, 1.0, (1.0 + r) * np.log1p(np.where(r <= -1.0, 0.0, safe)) - r)
    series = r**2 * np.polynomial.polynomial.polyval(-r, _SERIES)
    out[possible] = b[possible] * np.where(np.abs(r) < _SERIES_BELOW, series, closed)
    return out


def _reverse(a: FloatArray, b: FloatArray) -> FloatArray:
    return _kullback(b, a)


def _symmetric(a: FloatArray, b: FloatArray) -> FloatArray:
    return _kullback(a, b) + _kullback(b, a)


def _hellinger(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return (sqrt a - sqrt b)^2 / 2 without the cancellation."""
    roots = np.sqrt(a) + np.sqrt(b)
    value = np.divide((a - b) ** 2, 2 * roots**2, out=np.zeros_like(roots), where=roots > 0)
    return np.asarray(value, dtype=np.float64)


def _chi_square(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.divide((a - b) ** 2, b, out=np.where(a > 0, math.inf, 0.0), where=b > 0)


@dataclass(frozen=True)
class DivergenceMeasure:
    """A divergence between the outputs under the two hypotheses; 0 if answers reveal nothing.

    Attributes
    ----------
    name, title, formula, meaning : str
        Its name in tables, as a heading, in LaTeX and in plain words.
    terms : callable
        Its terms, one per answer, from the two masses of the answer.
    contracts : bool, default True
        Whether a channel shrinks it by its contraction coefficient of the chi-square (operator convex f).
    """

    name: str
    title: str
    formula: str
    meaning: str
    terms: Callable[[FloatArray, FloatArray], FloatArray] = field(repr=False, compare=False)  # the name identifies it
    contracts: bool = True

    def between(self, first: FloatArray, second: FloatArray) -> float:
        """Return the divergence of two mass vectors; it may be infinite if an answer is possible under only one."""
        return float(math.fsum(self.terms(np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64))))

    def apart(self, question: Hypotheses) -> float:
        """Return the divergence of the two hypotheses themselves, without privacy."""
        return self.between(*question.arrays)


MEASURES: dict[str, DivergenceMeasure] = {
    measure.name: measure
    for measure in (
        DivergenceMeasure(
            "kl",
            "KL divergence",
            r"D(M_0\|M_1)=\sum_y M_0(y)\log\frac{M_0(y)}{M_1(y)}",
            "Stein's exponent: with false alarms fixed, misses fall like e^(-n D) with n people",
            _kullback,
        ),
        DivergenceMeasure(
            "tv",
            "total variation",
            r"d_{TV}(M_0,M_1)=\tfrac12\sum_y|M_0(y)-M_1(y)|",
            "how much better than blind guessing one answer decides",
            _variation,
            contracts=False,
        ),
        DivergenceMeasure(
            "symmetric",
            "symmetrised KL divergence",
            r"D(M_0\|M_1)+D(M_1\|M_0)",
            "both directions together, as the minimax bounds use it",
            _symmetric,
        ),
        DivergenceMeasure(
            "reverse",
            "KL divergence the other way",
            r"D(M_1\|M_0)=\sum_y M_1(y)\log\frac{M_1(y)}{M_0(y)}",
            "Stein's exponent of false alarms, with misses fixed",
            _reverse,
        ),
        DivergenceMeasure(
            "hellinger",
            "squared Hellinger distance",
            r"\tfrac12\sum_y\left(\sqrt{M_0(y)}-\sqrt{M_1(y)}\right)^2",
            "1 minus the overlap of the roots; it bounds the people needed from both sides",
            _hellinger,
        ),
        DivergenceMeasure(
            "chi2",
            "chi-square divergence",
            r"\chi^2(M_0\|M_1)=\sum_y\frac{(M_0(y)-M_1(y))^2}{M_1(y)}",
            "how far an estimate of a proportion can be pulled",
            _chi_square,
        ),
    )
}
"""The records of all divergences, by name."""


def measure_named(name: str) -> DivergenceMeasure:
    """Return a measure by its name.

    Parameters
    ----------
    name : str
        One of `MEASURES`, such as ``kl``.

    Returns
    -------
    DivergenceMeasure
        The measure; an unknown name raises a `DomainError` that lists all names.
    """
    if name not in MEASURES:
        msg = f"A measure is one of {', '.join(MEASURES)}, got {name!r}."
        raise DomainError(msg)
    return MEASURES[name]

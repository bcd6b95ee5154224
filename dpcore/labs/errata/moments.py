"""Moments of a noise, integrated from its density: evidence that does not rely on a formula."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.language import parse
from dpcore.mechanisms.base import Mechanism

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_PANELS: Final = 120  # half a scale each, on which 16 nodes integrate smooth densities to rounding
_REACH: Final = 60.0


def density(mechanism: str, x: FloatArray) -> FloatArray:
    """Return the density of a mechanism's noise at the points x."""
    noise = parse(mechanism)
    if not isinstance(noise, Mechanism):
        msg = f"The mechanism must be noise, such as laplace(1), got {mechanism!r}."
        raise DomainError(msg)
    return np.asarray(noise.density(x), dtype=np.float64)


def absolute_moment(mechanism: str, power: int, scale: float) -> float:
    r"""Return :math:`E|N|^k` of symmetric noise, by Gauss-Legendre panels from 0 to 60 scales.

    Parameters
    ----------
    mechanism : str
        A mechanism with a density, such as ``laplace(1)``.
    power : int
        The order k; 1 is the mean absolute error, 2 the variance.
    scale : float
        How wide the noise is; what lies beyond 60 of them is below 1e-20 for Laplace and normal noise.
    """
    edges = np.linspace(0.0, _REACH * scale, _PANELS + 1)
    half = np.diff(edges)[:, None] / 2
    x = (edges[:-1, None] + half) + half * _NODES
    heights = density(mechanism, x.ravel()).reshape(x.shape)
    return 2.0 * math.fsum((half * _WEIGHTS * x**power * heights).ravel().tolist())

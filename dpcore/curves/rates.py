"""False alarm rates times e^epsilon: the right side of an (epsilon, delta) statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

_LARGEST = 709.0  # exponent of a double


def scaled_rate(alpha: FloatArray, epsilon: FloatArray | float) -> FloatArray:
    """Return e^epsilon alpha, also where e^epsilon alone is no double; at most e^709.

    Parameters
    ----------
    alpha : ndarray of float
        Rates in [0, 1].
    epsilon : float or ndarray of float
        Any, infinite ones included.

    Returns
    -------
    ndarray of float
        The products, those beyond e^709 replaced by it.
    """
    value = alpha * np.exp(np.minimum(epsilon, _LARGEST))
    beyond = np.asarray(epsilon) > _LARGEST
    if beyond.any():
        with np.errstate(over="ignore"):
            more = value * np.exp(np.clip(epsilon - _LARGEST, 0.0, _LARGEST))
        value = np.where(beyond, np.minimum(more, np.exp(_LARGEST)), value)
    return np.asarray(value, dtype=np.float64)

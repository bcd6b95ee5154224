"""Masses under an exponential tilt, and the means of exponentials that bound tails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

_LOST = 1e-280
"""Means of exponentials below this may have lost terms to underflow."""


def tilted(mass: FloatArray, exponent: FloatArray) -> FloatArray:
    """Return the probabilities proportional to mass e^exponent, for positive masses."""
    with np.errstate(under="ignore"):
        exponent = exponent + np.log(mass)
        raw = np.exp(exponent - exponent.max(axis=-1, keepdims=True))
    return np.asarray(raw / raw.sum(axis=-1, keepdims=True), dtype=np.float64)


def log_mean(weight: FloatArray, exponent: FloatArray) -> FloatArray:
    """Return the logarithm of the mean of e^exponent.

    If the largest exponents have next to no weight, the terms that count are far below them, and none may be lost: the
    mean bounds a tail.
    """
    top = exponent.max(axis=-1, keepdims=True)
    with np.errstate(under="ignore", divide="ignore"):
        mean = np.exp(exponent - top) @ weight
        if np.any(mean < _LOST):
            exponent = exponent + np.log(weight)
            top = exponent.max(axis=-1, keepdims=True)
            mean = np.exp(exponent - top).sum(axis=-1)
        return np.asarray(top[..., 0] + np.log(mean), dtype=np.float64)


def folded(weight: FloatArray, length: int) -> FloatArray:
    """Return the weights modulo the length; the transform pads fewer of them with zeros."""
    if weight.size <= length:
        return weight
    rows = -(-weight.size // length)
    padded = np.concatenate((weight, np.zeros(rows * length - weight.size)))
    return np.asarray(padded.reshape(rows, length).sum(axis=0), dtype=np.float64)


def wrapped(values: FloatArray, first: int, count: int) -> FloatArray:
    """Return `count` values starting at position `first`, going on from the beginning after the last."""
    return np.concatenate((values[first : first + count], values[: max(0, first + count - values.size)]))

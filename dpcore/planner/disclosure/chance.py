"""Uniform random numbers for a protected table: from the operating system, so that nobody can reproduce them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray

SEEDED = "Whoever knows the seed can draw the same numbers and undo the protection: use a seed for tests only."
_BITS = 53  # of the fraction of a double


def uniforms(count: int, rng: Generator | None = None) -> FloatArray:
    """Return uniform numbers in [0, 1), all multiples of 2^-53.

    Parameters
    ----------
    count : int
        How many.
    rng : Generator, optional
        A generator, for tests and simulations; by default the operating system's cryptographic source.
    """
    if rng is not None:
        return rng.random(count)
    whole = np.frombuffer(os.urandom(8 * count), dtype=np.uint64)
    return np.asarray((whole >> np.uint64(64 - _BITS)) * 2.0**-_BITS, dtype=np.float64)

"""Symmetric integer noise by a table: the masses of 0, 1, 2, ... as far as they are doubles."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.mechanisms.law import Law

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray


class HalfTable(NamedTuple):
    """The masses of 0, 1, 2, ..., and the mass above each of them; read-only, since tables are cached."""

    masses: FloatArray
    tails: FloatArray


def half_table(masses: FloatArray) -> HalfTable:
    """Return the table of masses, tails summed from the far end."""
    tails = np.append(np.cumsum(masses[:0:-1])[::-1], 0.0)
    masses.setflags(write=False)
    tails.setflags(write=False)
    return HalfTable(masses, tails)


class TabulatedLaw(Law):
    """Symmetric log-concave integer noise, looked up in its table."""

    integer = True
    log_concave = True

    def __init__(self, table: HalfTable) -> None:
        self.table = table

    def density(self, x: FloatArray) -> FloatArray:
        """Return the probability of the integer x."""
        masses = self.table.masses
        distance = np.abs(np.asarray(x, dtype=np.float64))
        place = np.minimum(distance, masses.size - 1.0).astype(np.int64)
        return np.where(distance < masses.size, masses[place], 0.0)

    def above(self, x: FloatArray) -> FloatArray:
        """Return the mass above the integer part of x."""
        tails = self.table.tails
        n = np.floor(np.asarray(x, dtype=np.float64))
        far = np.minimum(np.where(n >= 0, n, -n - 1.0), tails.size - 1.0).astype(np.int64)
        return np.where(n >= 0, tails[far], 1.0 - tails[far])

"""Matrix products in pieces so small that a linear algebra library computes each of them in one thread.

Its threads cost more than they save at these sizes: they wait for each other in a loop, on a busy machine for longer than the
product takes, and the order of their sums would depend on the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dpcore.core.effort import checkpoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = TypeVar("Number", np.float64, np.complex128)

_SMALL = 1 << 15  # multiplications at once: OpenBLAS starts threads from 2^16 complex ones on
_SIDE = 32  # rows and columns of a piece, so that it is about a cube


def product(a: NDArray[Number], b: NDArray[Number]) -> NDArray[Number]:
    """Return the matrix product of two matrices, or of a matrix and a vector.

    Parameters
    ----------
    a : ndarray
        Matrix of m rows and k columns.
    b : ndarray
        Matrix of k rows and n columns, or vector of k numbers.

    Returns
    -------
    ndarray
        Matrix of m rows and n columns, or vector of m numbers.
    """
    if b.ndim == 1 or a.shape[0] == 1 or b.shape[1] == 1:
        # with vectors a library starts threads much earlier; this sum has none
        return np.asarray(np.einsum("ij,j...->i...", a, b), dtype=a.dtype)
    rows, inner = a.shape
    columns = b.shape[1]
    if rows * inner * columns <= _SMALL:
        return a @ b
    out = np.zeros((rows, columns), dtype=a.dtype)
    height, width = min(rows, _SIDE), min(columns, _SIDE)
    depth = max(1, _SMALL // (height * width))
    for row in range(0, rows, height):
        checkpoint()
        down = slice(row, row + height)
        for start in range(0, inner, depth):
            use = slice(start, start + depth)
            left = a[down, use]
            for column in range(0, columns, width):
                across = slice(column, column + width)
                out[down, across] += left @ b[use, across]
    return out

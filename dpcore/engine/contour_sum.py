"""Trapezoidal sums along vertical lines of the complex plane, with bounds of their rounding errors.

A line's sum at eps is Re sum_n a_n e^{-i n tau (eps - reference)} times e^{log_scale - c eps}; the terms a_n do not
depend on eps, so all values of eps on a line share them. Rounding is bounded by the sizes of the terms times the error
of their exponents, k log M above all.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dpcore.engine.contour_plan import bump_weight
from dpcore.limits import checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from dpcore.engine.contour_plan import Line
    from dpcore.engine.contour_table import ComplexArray, FloatArray, Product

UNIT = 2.0**-53
_CHUNK = 1 << 15
"""Nodes evaluated at once: about 10 MB of temporaries."""

_KEEP = 1 << 22
"""Most terms of smoothed lines that are kept for later calls."""

_PRODUCTS = 1 << 18
"""Complex products of one pass of the Fourier sums: 4 MB."""

_MANY = 8
"""Values per line from which a matrix product for each line pays; too small ones for a library's threads."""


class Room:
    """How many terms of smoothed lines may still be kept for later calls."""

    def __init__(self) -> None:
        self.left = _KEEP


def evaluate_terms(product: Product, lines: Sequence[Line], count: int) -> None:
    """Fill in the terms of short lines, `count` nodes each, in one pass.

    More nodes than a line asked for do no harm: they belong to the same infinite sum.
    """
    c, step, reference, log_scale = np.array([(line.c, line.step, line.reference, line.log_scale) for line in lines]).T[
        :, :, None
    ]
    y = np.arange(count) * step
    z = c + 1j * y
    power, error = product.exponent(z)
    error += (4 * np.abs(reference)) * y + 10
    power -= log_scale + 1j * (reference * y)
    term = np.exp(power)
    term *= step / math.pi
    term[:, 0] *= 0.5
    term /= z * (z + 1)
    size = np.abs(term)
    weights = (size.sum(axis=1), np.einsum("rn,rn->r", size, error), np.einsum("rn,rn->r", size, y))
    for line, row, *sums in zip(lines, term, *weights, strict=True):
        line.terms, line.weights = row[None], np.array(sums)


def _smooth_terms(product: Product, line: Line, start: int, at_c: Sequence[float]) -> tuple[ComplexArray, FloatArray]:
    """Return kernel and correction terms of one chunk of a smoothed line, and the sums that bound their errors."""
    y = np.arange(start, min(start + _CHUNK, line.count)) * line.step
    z = np.asarray(line.c + 1j * y, dtype=np.complex128)
    square = z * (z + 1)
    bump = bump_weight(line.smoothing)
    weight = (line.step / math.pi) * (1 / np.abs(square) + bump)
    extra = (0.5 * line.smoothing**2) * square
    at_real = 0.5 * line.smoothing**2 * line.c * (line.c + 1)
    # all nodes given up below this level together weigh less than half the bound of the nodes beyond the cut
    floor = math.log(max(0.5 * line.cut / line.count, 1e-300)) - np.log(weight) - (extra.real - at_real)
    power, error, done = product.pruned_exponent(z, at_c, floor)
    error += 4 * np.abs(extra) + (4 * abs(line.reference)) * y + 10
    power += extra
    power -= line.log_scale + 1j * (line.reference * y)
    term = np.exp(power)
    size = np.abs(term) * weight
    lost = 1.01 * float(size[~done].sum())
    term[~done] = 0
    size[~done] = 0
    term *= line.step / math.pi
    if start == 0:
        term[0] *= 0.5
    weights = np.array([size.sum(), np.einsum("n,n->", size, error) + lost / UNIT, np.einsum("n,n->", size, y)])
    return np.stack((term / square, bump * term)), weights


def short_sums(lines: Sequence[Line], member: NDArray[np.intp], epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the kernel's sum and its error at each epsilon, epsilon[j] on lines[member[j]], terms filled in."""
    rows = [line.terms[0] for line in lines if line.terms is not None]
    count = max(row.size for row in rows)
    width = math.isqrt(count - 1) + 1
    blocks = np.zeros((len(rows), -(-count // width) * width), dtype=np.complex128)
    for block, row in zip(blocks, rows, strict=True):
        block[: row.size] = row
    blocks = blocks.reshape(len(rows), -1, width)
    reference, step, c, log_scale, cut = np.array(
        [(line.reference, line.step, line.c, line.log_scale, line.cut) for line in lines]
    ).T[:, member]
    x = epsilon - reference
    out = np.empty(x.size)
    for part, line in _runs(member, max(1, _PRODUCTS // count)):
        fine, coarse = _phases(x[part] * step[part], blocks.shape[1], width)
        inner = blocks[line] @ fine if line >= 0 else np.einsum("jab,bj->aj", blocks[member[part]], fine)
        inner *= coarse
        out[part] = inner.real.sum(axis=0)
    weights = np.array([line.weights for line in lines])[member].T
    return out, _error(weights, count, x, np.abs(c * epsilon) + np.abs(log_scale)) + cut


def _runs(member: NDArray[np.intp], at_once: int) -> Iterator[tuple[slice | NDArray[np.intp], int]]:
    """Split the values into portions: those of one line (a matrix product each) when many, else mixed ones (-1)."""
    count = np.bincount(member)
    if member.size < _MANY * np.count_nonzero(count):
        for first in range(0, member.size, at_once):
            yield slice(first, first + at_once), -1
        return
    order = np.argsort(member, kind="stable")
    ends = np.cumsum(count)
    for line in np.flatnonzero(count).tolist():
        for first in range(int(ends[line] - count[line]), int(ends[line]), at_once):
            yield order[first : min(first + at_once, int(ends[line]))], line


def long_sums(
    product: Product, line: Line, epsilon: FloatArray, room: Room
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the kernel's sum, the correction's sum and their error, chunk by chunk along a smoothed line."""
    x = epsilon - line.reference
    values = np.zeros((2, x.size))
    weights = np.zeros(3)
    at = np.array([line.c + 0j])
    at_c = [float(factor.log_mgf(at).real[0]) for factor, _ in product.parts]
    for start in range(0, line.count, _CHUNK):
        checkpoint(start / line.count)
        if start in line.chunks:
            terms, chunk_weights = line.chunks[start]
        else:
            terms, chunk_weights = _smooth_terms(product, line, start, at_c)
            if terms.size <= room.left:
                room.left -= terms.size
                line.chunks[start] = terms, chunk_weights
        weights += chunk_weights
        values += _fourier(terms, x, line.step, start)
    error = _error(weights[:, None], line.count, x, np.abs(line.c * epsilon) + abs(line.log_scale))
    return values[0], values[1], error + line.cut


def _error(weights: FloatArray, count: int, x: FloatArray, scale: FloatArray) -> FloatArray:
    """Bound the rounding error of a sum of `count` terms from the sizes, exponent errors and phases of its terms.

    `scale` is the size of the numbers in the exponent of the common factor e^{log_scale - c eps}.
    """
    total, exponent, phase = weights
    operations = 10 * math.isqrt(min(count, _CHUNK)) + count // _CHUNK + 40
    return np.asarray(UNIT * (exponent + (operations + 3 * scale) * total + 8 * np.abs(x) * phase), dtype=np.float64)


def _phases(angle: FloatArray, rows: int, width: int) -> tuple[ComplexArray, ComplexArray]:
    """Return e^{-i b angle}, b < width, and e^{-i a width angle}, a < rows: their products are all the phases."""
    fine = np.empty((width, angle.size), dtype=np.complex128)
    coarse = np.empty((rows, angle.size), dtype=np.complex128)
    turn = np.empty(angle.size, dtype=np.complex128)
    for out, base in ((fine, angle), (coarse, width * angle)):
        turn.real, turn.imag = np.cos(base), np.sin(-base)
        out[0] = 1
        for last, row in pairwise(out):
            np.multiply(last, turn, out=row)
    return fine, coarse


def _fourier(terms: ComplexArray, x: FloatArray, step: float, start: int) -> FloatArray:
    """Return Re sum_n terms[., n] e^{-i (start+n) step x} with about 2 sqrt(n) phases per x."""
    kinds, count = terms.shape
    width = math.isqrt(count - 1) + 1
    blocks = np.zeros((kinds, -(-count // width) * width), dtype=np.complex128)
    blocks[:, :count] = terms
    blocks = blocks.reshape(kinds, -1, width)
    out = np.empty((kinds, x.size))
    for first in range(0, x.size, 1024):
        part = x[first : first + 1024]
        fine, coarse = _phases(part * step, blocks.shape[1], width)
        coarse *= np.exp(-1j * (start * step) * part)
        for row, block in zip(out, blocks, strict=True):
            # einsum, not a matrix product: the threads of a linear algebra library cost more here than they save.
            inner = np.einsum("bj,ab->aj", fine, block)
            row[first : first + 1024] = np.einsum("aj,aj->j", inner, coarse).real
    return out

"""Trapezoidal sums along vertical lines of the complex plane, with bounds of their rounding errors.

The sum of a line at eps is Re sum_n a_n e^{-i n tau (eps - reference)} times e^{log_scale - c eps}; the terms a_n do not
depend on eps, so all values of eps on a line share them. Rounding is bounded by the sizes of the terms times the errors
of their exponents, mainly of k log M.
"""

from __future__ import annotations

import math
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.engine.contour_plan import bump_weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.engine.contour_plan import Line
    from dpcore.engine.contour_product import ComplexArray, FloatArray, TransformProduct

    _Number = float | FloatArray

UNIT = 2.0**-53
_CHUNK = 1 << 15
"""Nodes evaluated at once: about 10 MB of temporaries."""

_CACHED = 3 << 20
"""Most terms of smoothed lines that are cached during one question, 48 MB: the longest line has two million."""

_PRODUCTS = 1 << 15
"""Complex products of one pass of the Fourier sums: few enough for a library to compute them in one thread."""

_CHECKPOINTS = 16
"""Passes between two checkpoints."""

_FEW = 1 << 10
"""Phases that are computed one by one."""


class Room:
    """The cached chunks of smoothed lines, the oldest first: these make room for new ones."""

    def __init__(self) -> None:
        self.left = _CACHED
        self._chunks: deque[tuple[Line, int, int]] = deque()

    def cache(self, line: Line, start: int, chunk: tuple[ComplexArray, FloatArray]) -> None:
        """Keep a chunk of a line for other values of this question."""
        size = chunk[0].size
        while size > self.left and self._chunks:  # each round drops one
            old, place, freed = self._chunks.popleft()
            del old.chunks[place]
            self.left += freed
        if size <= self.left:
            self.left -= size
            line.chunks[start] = chunk
            self._chunks.append((line, start, size))


def evaluate_classes(product: TransformProduct, lines: Sequence[Line], classes: Sequence[int]) -> None:
    """Fill in the terms of short lines, those with node counts up to the same class, and alike with atoms or without, together."""
    for least, most in pairwise((0, *classes)):
        for without in (False, True):
            some = [line for line in lines if least < line.count <= most and line.without_atoms is without]
            if some:
                evaluate_terms(product, some, max(line.count for line in some))


def evaluate_terms(product: TransformProduct, lines: Sequence[Line], count: int) -> None:
    """Fill in the terms of short lines, all with or all without atoms, `count` nodes each, in one pass.

    More nodes than a line needs do no harm: they belong to the same infinite sum.
    """
    facts = np.array([(line.c, line.step, line.reference, line.log_scale) for line in lines])
    c, step, reference, log_scale = facts.T[:, :, None]
    y = np.arange(count) * step
    z = c + 1j * y
    turn = reference * y

    def exponentials(exponent: tuple[ComplexArray, FloatArray]) -> tuple[ComplexArray, FloatArray, FloatArray]:
        """Return terms, their sizes and their errors."""
        power, error = exponent
        error += 4 * np.abs(turn) + 10
        power.real -= log_scale
        power.imag -= turn
        term = np.exp(power)
        term *= step / math.pi
        term[:, 0] *= 0.5
        term /= z * (z + 1)
        size = np.abs(term)
        error *= size
        return term, size, error

    term, size, error = exponentials(product.exponent(z))
    if lines[0].without_atoms:
        atoms, atoms_size, atoms_error = exponentials(product.atoms_exponent(z))
        term -= atoms
        size += atoms_size
        error += atoms_error
    weights = (size.sum(axis=1), error.sum(axis=1), np.einsum("rn,rn->r", size, y))
    rows = zip(lines, _blocks(term), size, error, *(weight.tolist() for weight in weights), strict=True)
    for line, terms, sizes, errors, total, exponent, phase in rows:
        line.terms, line.sizes, line.errors, line.weights = terms, sizes, errors, (total, exponent, phase)


def _blocks(terms: ComplexArray) -> ComplexArray:
    """Return each row of terms as a matrix of about the square root of their number of columns, zeros behind the end."""
    kinds, count = terms.shape
    width = math.isqrt(count - 1) + 1
    blocks = np.zeros((kinds, -(-count // width) * width), dtype=np.complex128)
    blocks[:, :count] = terms
    return blocks.reshape(kinds, -1, width)


def _smooth_terms(
    product: TransformProduct, line: Line, start: int, at_c: Sequence[float]
) -> tuple[ComplexArray, FloatArray]:
    """Return kernel and correction terms of one chunk of a smoothed line, and the sums that bound their errors."""
    y = np.arange(start, min(start + _CHUNK, line.count)) * line.step
    z = np.asarray(line.c + 1j * y, dtype=np.complex128)
    square = z * (z + 1)
    bump = bump_weight(line.smoothing)
    weight = (line.step / math.pi) * (1 / np.abs(square) + bump)
    extra = (0.5 * line.smoothing**2) * square
    at_real = 0.5 * line.smoothing**2 * line.c * (line.c + 1)
    # all nodes dropped below this level together weigh less than half the bound of the nodes beyond the cut
    floor = math.log(max(0.5 * line.cut / line.count, 1e-300)) - np.log(weight) - (extra.real - at_real)
    power, error, complete = product.pruned_exponent(z, at_c, floor)
    error += 4 * np.abs(extra) + (4 * abs(line.reference)) * y + 10
    power += extra
    power -= line.log_scale + 1j * (line.reference * y)
    term = np.exp(power)
    size = np.abs(term) * weight
    lost = 1.01 * float(size[~complete].sum())
    term[~complete] = 0
    size[~complete] = 0
    term *= line.step / math.pi
    if start == 0:
        term[0] *= 0.5
    weights = np.array([size.sum(), np.einsum("n,n->", size, error) + lost / UNIT, np.einsum("n,n->", size, y)])
    return np.stack((term / square, bump * term)), weights


def short_sums(line: Line, epsilon: FloatArray) -> FloatArray:
    """Return the kernel's sum at each epsilon of a line whose terms are filled in."""
    if line.terms is None:
        return np.full(epsilon.size, np.nan)
    x = epsilon - line.reference
    at_once = max(1, _PRODUCTS // line.terms.size)
    if x.size * line.terms.size <= _FEW:
        turn = np.multiply.outer(np.arange(line.terms.size), x * line.step)
        out = np.empty(turn.shape, dtype=np.complex128)
        np.cos(turn, out=out.real)
        np.sin(-turn, out=out.imag)
        return np.asarray((line.terms.ravel() @ out).real, dtype=np.float64)
    if x.size <= at_once:
        return _short_sums(line.terms, x * line.step)
    pieces = []
    for begin in range(0, x.size, at_once):
        if begin % (_CHECKPOINTS * at_once) == 0:
            checkpoint()
        pieces.append(_short_sums(line.terms, x[begin : begin + at_once] * line.step))
    return np.concatenate(pieces)


def _short_sums(terms: ComplexArray, angle: FloatArray) -> FloatArray:
    fine, coarse = phases(angle, *terms.shape)
    inner = terms @ fine
    inner *= coarse
    return np.asarray(inner.real.sum(axis=0), dtype=np.float64)


def short_error(line: Line, low: float, high: float) -> float:
    """Bound the error of `short_sums` for every epsilon between two ends."""
    if line.terms is None:
        return math.inf
    x = max(high - line.reference, line.reference - low)
    scale = abs(line.c) * max(abs(low), abs(high)) + abs(line.log_scale)
    return float(rounding(line.weights, line.terms.size, x, scale)) + line.cut


def long_sums(
    product: TransformProduct, line: Line, epsilon: FloatArray, room: Room
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
            room.cache(line, start, (terms, chunk_weights))
        weights += chunk_weights
        values += _fourier(terms, x, line.step, start)
    sums = float(weights[0]), float(weights[1]), float(weights[2])
    error = rounding(sums, line.count, x, np.abs(line.c * epsilon) + abs(line.log_scale))
    return values[0], values[1], np.asarray(error + line.cut, dtype=np.float64)


def rounding(weights: tuple[float, float, float], count: int, x: _Number, scale: _Number) -> _Number:
    """Bound the rounding error of a sum of `count` terms from the sizes, exponent errors and phases of its terms.

    `scale` is the size of the numbers in the exponent of the common factor e^{log_scale - c eps}.
    """
    total, exponent, phase = weights
    operations = 10 * math.isqrt(min(count, _CHUNK)) + count // _CHUNK + 40
    return UNIT * (exponent + (operations + 3 * scale) * total + 8 * phase * np.abs(x))


def phases(angle: FloatArray, rows: int, width: int) -> tuple[ComplexArray, ComplexArray]:
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
    blocks = _blocks(terms)
    out = np.empty((len(blocks), x.size))
    for first in range(0, x.size, 1024):
        checkpoint()
        part = x[first : first + 1024]
        fine, coarse = phases(part * step, *blocks.shape[1:])
        coarse *= np.exp(-1j * (start * step) * part)
        for row, block in zip(out, blocks, strict=True):
            # einsum, not a matrix product: the threads of a linear algebra library cost more here than they save
            inner = np.einsum("bj,ab->aj", fine, block)
            row[first : first + 1024] = np.einsum("aj,aj->j", inner, coarse).real
    return out

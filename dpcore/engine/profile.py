r"""The privacy profile of a finite loss distribution, from positive terms only.

With atoms :math:`L_0 < \dots < L_{n-1}`, P1-masses :math:`q_i` and P1-mass :math:`q_\infty` at an infinite loss,

.. math:: \delta(\varepsilon) = q_\infty + \sum_{L_i > \varepsilon} q_i (1 - e^{\varepsilon - L_i}).

The textbook difference "P1-sum minus :math:`e^\varepsilon` times P0-sum" loses all digits where the two sums are nearly
equal. Here two numbers per atom are enough, and both come from recurrences without any subtraction, from the largest
loss down with :math:`h_j = L_{j+1} - L_j`:

.. math::
    S_j &= q_j + e^{-h_j} S_{j+1} = \sum_{i \ge j} q_i e^{L_j - L_i}, \\
    \delta_j &= \delta_{j+1} + (1 - e^{-h_j}) S_{j+1} = \delta(L_j).

Between two atoms, with :math:`L_j` the first loss above :math:`\varepsilon`, the definition splits into

.. math:: \delta(\varepsilon) = \delta_j + (1 - e^{\varepsilon - L_j}) S_j ,

again a sum of positive terms, so the relative error stays a few units in the last place however small the profile is.

Use
---
``t = tables(loss, q, q_inf)`` once, O(n); then ``delta_at(epsilon, loss, t)``, O(log n) for each value. ``t.delta[:-1]``
is the profile at the atoms. ``suffix_sums(x)`` gives the tail masses: with ``j = first_above(t, loss)``, ``alpha = P0(L > t)``
is ``suffix_sums(p)[j]``.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


_STRETCH = 1 << 15
"""Atoms handled at once: the working arrays stay in the processor's cache."""


_CHAIN = 1024
"""Terms added up in one chain: a relative error of 1.2e-13 if every rounding went one way, in practice 1e-15."""


_NARROW = 4.0
"""Range of losses over which exponentials from its middle are as exact as those of the gaps."""


class Tables(NamedTuple):
    """The tables of a loss distribution with n atoms that `delta_at` needs.

    Attributes
    ----------
    delta : ndarray of float
        Length n + 1; ``delta[j]`` is the profile at ``loss[j]``, ``delta[n]`` is ``q_inf``.
    discounted : ndarray of float
        Length n + 1; ``discounted[j]`` is S_j = sum of q_i exp(L_j - L_i) over i >= j, ``discounted[n]`` is 0.
    """

    delta: FloatArray
    discounted: FloatArray


def _grid(values: FloatArray) -> FloatArray:
    """Cut a sequence into consecutive rows of about sqrt(n) / 4 values, zeros behind the end."""
    width = _width(values.size)
    full = values.size // width
    if full * width == values.size:
        return values.reshape(full, width)
    out = np.zeros((full + 1, width))
    out[:full] = values[: full * width].reshape(full, width)
    out[full, : values.size - full * width] = values[full * width :]
    return out


def _running(values: FloatArray) -> FloatArray:
    """Return the running sums of a sequence, in short chains so that roundings do not accumulate."""
    if values.size <= _CHAIN:
        return np.asarray(values.cumsum(), dtype=np.float64)
    sums = np.cumsum(_grid(values), axis=1)
    sums[1:] += np.cumsum(sums[:-1, -1])[:, None]
    return np.asarray(sums.reshape(-1)[: values.size], dtype=np.float64)


def suffix_sums(values: FloatArray) -> FloatArray:
    """Return s of length n + 1 with ``s[j] = values[j] + ... + values[n-1]`` and ``s[n] = 0``.

    For non-negative values the relative error is at most `suffix_rounding` units, because above 1024 values the sums run in
    blocks of about sqrt(n) terms instead of one chain.
    """
    out = np.zeros(values.size + 1)
    if values.size <= _CHAIN:
        values[::-1].cumsum(out=out[-2::-1])
    else:
        out[:-1] = _running(np.asarray(values[::-1], dtype=np.float64))[::-1]
    return out


def suffix_rounding(n: int) -> float:
    """Bound the relative error of `suffix_sums` of n non-negative values, in units of 2^-53.

    Each addition costs a unit: those of one chain, or those along a row of the grid and down its rows.
    """
    if n <= _CHAIN:
        return float(n)
    width = _width(n)
    return width + n / width + 2.0


def _width(n: int) -> int:
    return max(1, int(np.sqrt(n) / 4))


def _discounted(loss: FloatArray, q: FloatArray, factor: FloatArray, before: float, carry: float) -> FloatArray:
    """Return S along a stretch of descending losses, where S is `carry` at the loss `before` it.

    The rows of `_grid` are walked side by side with the factors exp(-h); then each row takes over what the one above
    it left. That chain keeps S e^(reference - loss), whose reference moves only every 30 units of loss: thousands of
    equal factors exp(-h), each rounded the same way, would drift.
    """
    fade = np.array(_grid(factor).T, order="C")
    sums = np.array(_grid(q).T, order="C")
    steps = sums.shape[0]
    for step in range(1, steps):
        sums[step] += fade[step] * sums[step - 1]
    np.cumprod(fade, axis=0, out=fade)
    total, carries = carry, [carry]
    for end, low in zip(sums[-1, :-1].tolist(), loss[steps - 1 :: steps].tolist(), strict=False):
        rest = before - low
        if rest > 30.0:
            total, before, rest = total * exp(-rest), low, 0.0
        weight = exp(rest)
        total += end * weight
        carries.append(total / weight)
    sums += fade * np.array(carries)
    return np.asarray(sums.T.reshape(-1)[: q.size], dtype=np.float64)


def tables(loss: FloatArray, q: FloatArray, q_inf: float = 0.0) -> Tables:
    """Prepare the profile of a loss distribution.

    Parameters
    ----------
    loss : ndarray of float
        Finite losses, strictly ascending, any spacing, n >= 0 of them.
    q : ndarray of float
        Their P1-masses, non-negative (zeros from underflow are fine); they need not sum to one.
    q_inf : float, default 0
        P1-mass at an infinite loss.

    Returns
    -------
    Tables
        Profile and discounted mass at every atom, relative error about 1e-15, and at most `rounding` units.
    """
    loss = np.asarray(loss, dtype=np.float64)
    q = np.asarray(q, dtype=np.float64)
    n = loss.size
    if q.size != n:
        msg = f"loss and q must have the same length, got {n} and {q.size}."
        raise DomainError(msg)
    if 0 < n <= _STRETCH and float(loss[-1]) <= float(loss[0]) + _NARROW:
        return _narrow_tables(loss, q, float(q_inf))
    delta = np.full(n + 1, float(q_inf))
    discounted = np.zeros(n + 1)
    before = float(loss[-1]) if n else 0.0
    with np.errstate(over="ignore", under="ignore"):
        for stop in range(n, 0, -_STRETCH):
            checkpoint()
            part = slice(max(0, stop - _STRETCH), stop)
            down = loss[part][::-1]
            gap = np.append(before, down[:-1]) - down
            rise = -np.expm1(-gap)
            factor = 1.0 - rise
            far = rise > 0.5  # where the subtraction loses digits of exp(-h)
            factor[far] = np.exp(-gap[far])
            sums = _discounted(down, q[part][::-1], factor, before, float(discounted[stop]))
            rise[1:] *= sums[:-1]
            rise[0] *= discounted[stop]
            discounted[part] = sums[::-1]
            delta[part] = (delta[stop] + _running(rise))[::-1]
            before = float(down[-1])
    return Tables(delta, discounted)


def _narrow_tables(loss: FloatArray, q: FloatArray, q_inf: float) -> Tables:
    """Return the tables over a short range of losses, with one reference for all: S_j = e^(L_j) sum of q_i e^(-L_i)."""
    rise = -np.expm1(loss[:-1] - loss[1:])
    ratio = np.exp(loss - 0.5 * (loss[0] + loss[-1]))
    discounted = suffix_sums(q / ratio)
    discounted[:-1] *= ratio
    delta = np.full(loss.size + 1, q_inf)
    delta[:-1] += suffix_sums(rise * discounted[1:-1])
    return Tables(delta, discounted)


def rounding(n: int, span: float) -> float:
    """Bound the relative error of `tables` and `delta_at`, in units of 2^-53, if library functions err by at most 4 units.

    All terms are positive, so each addition costs a unit and each factor its own error. A stretch of m atoms is a grid of w =
    sqrt(m)/4 columns and r = 4 sqrt(m) rows. Along a row S has 8 units for each factor e^(-h) with its addition, twice, since the
    factors are multiplied again, and those of the gaps, which add up to the span. The chain over the rows has two units for each
    row, and 36 for each exponential of up to 30, of which it takes over one whenever its reference moves. The running sums of delta
    have r + w + 1 units for each stretch, and 8 for the factor 1 - e^(-h). The narrow form has two sums of r + w units or of
    one chain, and exponentials of at most 2.

    Parameters
    ----------
    n : int
        Atoms.
    span : float
        Largest loss minus the smallest.

    Returns
    -------
    float
        The bound.
    """
    atoms = float(min(max(n, 1), _STRETCH))
    columns, rows = np.sqrt(atoms) / 4.0 + 1.0, 4.0 * np.sqrt(atoms) + 2.0
    stretches = float(-(-max(n, 1) // _STRETCH))
    chain = 2.0 * min(float(n), float(_CHAIN))
    return float(stretches * (18.0 * columns + 3.0 * rows + 96.0) + 36.0 * (span / 30.0 + 1.0) + 4.0 * span + chain)


def refuse_nan(threshold: FloatArray) -> None:
    """Refuse thresholds that are not a number."""
    if np.isnan(threshold).any():
        msg = "A loss threshold must be a real number or an infinity, got nan."
        raise DomainError(msg)


def first_above(threshold: ArrayLike, loss: FloatArray) -> IntArray:
    """Return the position of the first loss strictly above each threshold, n where there is none."""
    values = np.asarray(threshold, dtype=np.float64)
    refuse_nan(values)
    return np.asarray(np.searchsorted(loss, values, side="right"), dtype=np.int64)


def delta_at(epsilon: ArrayLike, loss: FloatArray, table: Tables) -> FloatArray:
    """Evaluate the profile at any real values, and at the infinities.

    Parameters
    ----------
    epsilon : ArrayLike
        Values of any shape; -inf gives the whole mass sum(q) + q_inf, +inf gives q_inf.
    loss : ndarray of float
        The losses `table` was made from.
    table : Tables
        Result of `tables`.

    Returns
    -------
    FloatArray
        delta(epsilon), same shape, positive terms only. The result is not clipped: where the masses sum to one it may
        exceed one by a few units in the last place.
    """
    values = np.asarray(epsilon, dtype=np.float64)
    if not loss.size:
        return np.full(values.shape, table.delta[-1])
    above = first_above(values, loss)
    with np.errstate(over="ignore", under="ignore"):
        exponent = np.minimum(values - loss[np.minimum(above, loss.size - 1)], 0.0)
        return np.asarray(table.delta[above] - np.expm1(exponent) * table.discounted[above], dtype=np.float64)

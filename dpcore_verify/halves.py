"""Meet in the middle: delta of different finite laws with many copies each.

Each law with its copies is a list of losses and masses. The lists are joined to two halves, which are sorted by their losses and run
through together. What is too small to be listed is counted as a ball from 0 to its mass.
"""

from __future__ import annotations

from math import comb, floor
from typing import TYPE_CHECKING

from flint import arb, ctx, fmpq, fmpz

from dpcore_verify.expression import Unproved, ball
from dpcore_verify.sums import MOST_TERMS, losses, multisets, split
from dpcore_verify.work import spend

if TYPE_CHECKING:
    from fractions import Fraction

    from dpcore_verify.laws import Atoms
    from dpcore_verify.regions import Composition

MOST_PAIRS = 2**19
"""Losses of each half."""
MOST_SETS = 5_000
"""Combinations of the copies of one law whose losses have no common step."""
GUARD = 24
"""Bits by which losses are known better than they are compared, and masses better than they are listed."""
Rows = list[tuple[int, arb, arb]]
"""(loss in units of 2^-(bits - GUARD), mass under P0, mass under P1)."""


def halves(composition: Composition, epsilon: Fraction) -> arb:
    """Return delta of finite laws: both halves listed, sorted by their losses, and joined.

    The losses are compared as integers. A pair on the wrong side of epsilon changes the sum by at most its mass times the error of
    the comparison, and a pair that is not listed by at most its mass.
    """
    atoms, rest = split(composition)
    if rest or not atoms:
        msg = "The method 'halves' needs finite laws."
        raise Unproved(msg)
    groups = [_listed(law, k) for law, k in atoms]
    sides: list[list[Rows]] = [[], []]
    sizes = [1, 1]
    for rows, _ in sorted(groups, key=lambda group: -len(group[0])):
        side = 0 if sizes[0] <= sizes[1] else 1
        sides[side].append(rows)
        sizes[side] *= len(rows)
    if max(sizes) > MOST_PAIRS:
        msg = f"Half of the product has more than {MOST_PAIRS} losses."
        raise Unproved(msg)
    spend(10.0 * sum(sizes))
    bits = ctx.prec - GUARD
    first, second = (sorted(_product(side), key=lambda row: row[0]) for side in sides)
    bound = floor(epsilon * 2**bits)
    scale = ball(epsilon).exp()
    total, q_above, p_above, at = arb(0), arb(0), arb(0), len(second)
    for loss, p, q in first:
        while at and loss + second[at - 1][0] > bound:
            at -= 1
            q_above, p_above = q_above + second[at][2], p_above + second[at][1]
        total += q * q_above - scale * p * p_above
    # the loss of a list is off by less than 2 units, epsilon by less than 1
    slack = (arb(2 * len(groups) + 1) * arb(2) ** (-bits)).expm1()
    left_out = sum((mass for _, mass in groups), arb(0))
    return composition.lost + total + arb(0).union((slack + left_out).upper())


def _product(lists: list[Rows]) -> Rows:
    """Return every combination."""
    rows: Rows = [(0, arb(1), arb(1))]
    for factor in lists:
        rows = [(a + b, p * v, q * w) for a, p, q in rows for b, v, w in factor]
    return rows


def _listed(law: Atoms, k: int) -> tuple[Rows, arb]:
    """Return the losses of k copies of a law with their masses, and a bound of the mass under P1 that is left out."""
    if len(law.losses) == 2:
        return _two(law, k)
    if law.keys is not None and k > 1:
        rows, left_out, least = [], arb(0), arb(2) ** (GUARD - ctx.prec)
        for key, loss, q in losses([(law, k)]):
            if q < least:
                left_out += q.upper()
            else:
                rows.append((_unit(loss, key), q * (-loss).exp(), q))
        return rows, left_out
    if comb(k + len(law.losses) - 1, k) > MOST_SETS:
        msg = f"The copies of one law have more than {MOST_SETS} losses."
        raise Unproved(msg)
    return [(_unit(loss, None), q * (-loss).exp(), q) for _, loss, q in multisets(law, k)], arb(0)


def _two(law: Atoms, k: int) -> tuple[Rows, arb]:
    """List k copies of two losses: binomial masses from the largest outwards, until the rest is below a geometric series."""
    (low, high), (less, more), keys = law.losses, law.q, law.keys
    odds = less / more  # of one more copy with the first loss
    start = min(k, int(k * float(odds / (1 + odds))))
    log = arb(k + 1).lgamma() - arb(start + 1).lgamma() - arb(k - start + 1).lgamma()
    top = (log + start * less.log() + (k - start) * more.log()).exp()
    least, left_out, rows = arb(2) ** (-ctx.prec), arb(0), []

    def add(j: int, mass: arb) -> None:
        spend(30)
        loss = j * low + (k - j) * high
        rows.append(
            (_unit(loss, None if keys is None else j * keys[0] + (k - j) * keys[1]), mass * (-loss).exp(), mass)
        )

    add(start, top)
    for up in (True, False):
        mass, j = top, start
        while (j < k) if up else (j > 0):
            ratio = odds * fmpq(k - j, j + 1) if up else fmpq(j, k - j + 1) / odds
            if ratio < 0.999 and mass * ratio < least * (1 - ratio):
                left_out += (mass * ratio / (1 - ratio)).upper()
                break
            mass, j = mass * ratio, j + 1 if up else j - 1
            add(j, mass)
            if len(rows) > MOST_TERMS:
                msg = f"The copies of one law have more than {MOST_TERMS} losses."
                raise Unproved(msg)
    return rows, left_out


def _unit(loss: arb, key: Fraction | None) -> int:
    """Return a loss in units of 2^-(bits - GUARD), off by less than two of them."""
    bits = ctx.prec - GUARD
    if key is not None:
        return (key.numerator << bits) // key.denominator
    if not loss.rad() * arb(2) ** bits < 1:
        msg = "The losses are not known to as many digits as they are compared."
        raise Unproved(msg)
    return int((loss * arb(2) ** bits).mid().floor().unique_fmpz() or fmpz(0))

"""Copies of a law without a common step: every way to share them, however many copies there are."""

from __future__ import annotations

from itertools import product

from flint import arb, ctx

from dpcore_verify.laws import Atoms
from dpcore_verify.sums import MOST_TERMS, multisets

LOSSES, MASSES = (arb("0.3"), arb("-0.2"), arb("0.7")), (arb("0.2"), arb("0.5"), arb("0.3"))


def law(count: int) -> Atoms:
    return Atoms(LOSSES[:count], MASSES[:count], MASSES[:count], arb(0), arb(0))


def test_the_masses_are_those_of_all_sequences():
    found = sorted(multisets(law(3), 4), key=lambda row: float(row[1]))
    sums: dict[tuple[int, ...], tuple[arb, arb]] = {}
    for places in product(range(3), repeat=4):
        loss, mass = arb(0), arb(1)
        for place in places:
            loss, mass = loss + LOSSES[place], mass * MASSES[place]
        key = tuple(sorted(places))
        sums[key] = (loss, sums[key][1] + mass if key in sums else mass)
    wanted = sorted(sums.values(), key=lambda row: float(row[0]))
    assert len(found) == len(wanted)
    for (_, loss, mass), (other, whole) in zip(found, wanted, strict=True):
        assert loss.overlaps(other)
        assert mass.overlaps(whole)


def test_a_billion_copies_of_one_loss_take_no_memory():
    """A list of all copies would have eight gigabytes."""
    ((_, loss, _),) = multisets(law(1), 10**9)
    assert loss.overlaps(LOSSES[0] * 10**9)
    assert multisets(law(0), 10**9) == []


def test_as_many_copies_as_are_allowed_take_a_moment():
    before, ctx.prec = ctx.prec, 128
    try:
        rows = multisets(law(2), MOST_TERMS - 1)
        assert len(rows) == MOST_TERMS
        assert (sum((mass for _, _, mass in rows), arb(0)) - (MASSES[0] + MASSES[1]) ** (MOST_TERMS - 1)).contains(0)
    finally:
        ctx.prec = before

"""The proved rounding of laws on a lattice, against ball arithmetic: no sum of masses from either end is off by more."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb, arb_poly, ctx

from dpcore.engine import lattice, lattice_windows
from dpcore.engine.lattice_parts import Irregular

UNIT = 2.0**-53


def exact(parts: list[tuple[np.ndarray, np.ndarray, int]]) -> list[arb]:
    """Return all masses as balls of 2600 bits: the weights are the doubles given, divided by their sum."""
    law = arb_poly([1])
    for index, weight, k in parts:
        dense = [arb(0)] * (int(index[-1]) + 1)
        for place, mass in zip(index.tolist(), weight.tolist(), strict=True):
            dense[place] = arb(mass)
        law *= (arb_poly(dense) * (1 / sum(dense, arb(0)))) ** k
    return [law[j] for j in range(len(law))]


def worst(start: int, mass: np.ndarray, truth: list[arb]) -> float:
    """Return the largest relative error of a sum of masses above 1e-290 from either end, in units."""
    listed = [arb(0)] * start + [arb(m) for m in mass.tolist()] + [arb(0)] * (len(truth) - start - mass.size)
    most = 0.0
    for way in (1, -1):
        sum_truth = sum_listed = arb(0)
        for one, other in zip(truth[::way], listed[::way], strict=True):
            sum_truth += one
            sum_listed += other
            if sum_truth > 1e-290:
                most = max(most, float(abs(sum_listed / sum_truth - 1)) / UNIT)
    return most


def random_parts(rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray, int]]:
    """Return one or two parts of few values, evenly or very unevenly weighted, with gaps or without."""
    parts = []
    for _ in range(int(rng.integers(1, 3))):
        top = int(rng.choice([1, 2, 3, 7]))
        values = np.unique(np.concatenate(([0, top], rng.integers(0, top + 1, 3))))
        weight = 10.0 ** (rng.uniform(-1, 0, values.size) if rng.random() < 0.7 else rng.uniform(-8, 0, values.size))
        parts.append((values.astype(np.int64), weight, int(rng.integers(60, 2400) // top)))
    return parts


def compared(seed: int) -> int:
    """Compare windows and direct products of one random law; return how many of the two gave one."""
    parts, given = random_parts(np.random.default_rng(seed)), 0
    if np.gcd.reduce(np.concatenate([index for index, _, _ in parts])) != 1:
        return 0
    before, ctx.prec = ctx.prec, 2600
    try:
        truth = exact(parts)
        for law in (lambda: lattice_windows.sum_law(parts, np.log(1e-310)), lambda: lattice._direct(parts)):
            try:
                start, mass, units = law()
            except Irregular:
                continue
            given += 1
            assert worst(start, mass, truth) <= units
    finally:
        ctx.prec = before
    return given


def test_no_sum_of_masses_is_off_by_more_than_the_proved_units() -> None:
    assert sum(compared(seed) for seed in (*range(6), 105)) >= 6  # 105: scaled weights were rounded one by one


@pytest.mark.long
def test_many_random_laws() -> None:
    assert sum(compared(seed) for seed in range(100, 160)) > 60


def test_the_proved_units_are_those_of_an_exact_number() -> None:
    """Below 5e5 units, 5.6e-11, also for a hundred million copies; what is worse is refused."""
    index = np.array([0, 1, 2])
    for weight, k in (([0.3, 0.45, 0.25], 10**8), ([1e-6, 1.0, 1e-7], 10**7), ([0.6, 1e-9, 0.4], 10**5)):
        law = lattice.lattice_product([(lattice.LatticeMeasure(index, np.array(weight), np.array(weight)), k)])
        assert law.rounding <= lattice_windows.MOST_UNITS


def test_an_irregular_law_is_refused_and_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [(np.array([0, 1, 2]), np.array([0.3, 0.3, 0.4]), 4000)]
    assert lattice_windows.sum_law(parts, np.log(1e-310))[2] > 1e3
    monkeypatch.setattr(lattice_windows, "MOST_UNITS", 1e3)
    with pytest.raises(Irregular):
        lattice_windows.sum_law(parts, np.log(1e-310))
    with pytest.raises(Irregular):
        lattice._direct(parts)

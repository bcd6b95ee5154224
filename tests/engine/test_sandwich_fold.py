"""Products of lattice measures by tilted transforms, against their sums in forty digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mpmath as mp
import numpy as np
import pytest

from dpcore.engine.sandwich_fold import Fold
from dpcore.engine.sandwich_measure import Measure

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

SMALLEST = 1e-305


def strange_law(rng: np.random.Generator) -> Measure:
    """Masses of up to 300 orders of magnitude in no order, with gaps."""
    size = int(rng.integers(2, 30))
    mass = 10.0 ** (-rng.random(size) * rng.choice([3, 50, 300]))
    mass *= rng.random(size) < 0.7
    mass[rng.integers(size)] = 1.0
    return Measure(int(rng.integers(-size, 3)), mass / mass.sum(), 0.0)


def convolution(parts: list[tuple[Measure, int]]) -> tuple[int, list[mp.mpf]]:
    first, law = 0, {0: mp.mpf(1)}
    for measure, k in parts:
        each = [(i, mp.mpf(float(x))) for i, x in enumerate(measure.mass) if x]
        for _ in range(k):
            first += measure.first
            after: dict[int, mp.mpf] = {}
            for i, x in law.items():
                for j, y in each:
                    after[i + j] = after.get(i + j, mp.mpf(0)) + x * y
            law = after
    return first, [law.get(i, mp.mpf(0)) for i in range(max(law) + 1)]


def check(parts: list[tuple[Measure, int]], h: float, epsilon: FloatArray) -> None:
    found = Fold(parts, h).delta(epsilon, 1e-3)
    first, law = convolution(parts)
    for e, value, error in zip(epsilon.tolist(), found.value.tolist(), found.error.tolist(), strict=True):
        loss = [mp.mpf(h) * (first + i) - mp.mpf(e) for i in range(len(law))]
        truth = mp.fsum(-x * mp.expm1(-gap) for x, gap in zip(law, loss, strict=True) if gap > 0)
        if truth > SMALLEST:
            # the losses themselves are doubles
            assert (value - error) * (1 - 1e-10) <= truth <= (value + error) * (1 + 1e-10), (e, value, error, truth)


@pytest.mark.parametrize("seed", [36, 44, 75])
def test_what_lies_outside_of_a_transform_is_never_taken_for_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    with mp.workdps(40):
        for _ in range(25):
            parts = [(strange_law(rng), int(rng.integers(1, 4))) for _ in range(2)]
            h = float(10 ** rng.uniform(-3, 1))
            top = h * sum(k * (measure.first + measure.mass.size - 1) for measure, k in parts)
            check(parts, h, np.sort(rng.random(8)) * max(top, h))


@pytest.mark.parametrize("share", [1e-300, 1e-100])
@pytest.mark.parametrize("k", [2, 5])
def test_rare_large_losses(share: float, k: int) -> None:
    measure = Measure(0, np.array([1.0, *np.zeros(20), share]), 0.0)
    with mp.workdps(40):
        check([(measure, k)], 0.5, np.linspace(0.05, 10.4 * k, 30))

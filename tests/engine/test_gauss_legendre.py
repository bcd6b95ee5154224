"""The rule of Gauss and Legendre against high precision."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpcore.engine.gauss_legendre import legendre


def polynomial(degree: int, x: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """Return the Legendre polynomial and its derivative by the recurrence with three terms."""
    before, value = mp.mpf(1), x
    for n in range(2, degree + 1):
        before, value = value, ((2 * n - 1) * x * value - (n - 1) * before) / n
    return value, degree * (before - x * value) / (1 - x**2)


@pytest.mark.parametrize("count", [2, 3, 4, 7, 16, 28, 32, 64, 128])
def test_nodes_and_weights_are_right_to_the_last_digit(count: int) -> None:
    nodes, weights = legendre(count)
    assert nodes.size == weights.size == count
    assert (np.diff(nodes) > 0).all()
    with mp.workdps(40):
        for node, weight in list(zip(nodes.tolist(), weights.tolist(), strict=True))[:: max(1, count // 9)]:
            root = mp.mpf(node)
            for _ in range(3):
                value, slope = polynomial(count, root)
                root -= value / slope
            assert abs(root - node) <= 2.0**-52 * max(abs(root), 2.0**-40)
            assert abs(2 / ((1 - root**2) * slope**2) - weight) <= 2.0**-52 * weight


def test_polynomials_up_to_twice_the_order_are_integrated() -> None:
    nodes, weights = legendre(12)
    for power in range(24):
        exact = 2.0 / (power + 1) if power % 2 == 0 else 0.0
        assert float(weights @ nodes**power) == pytest.approx(exact, abs=1e-15)

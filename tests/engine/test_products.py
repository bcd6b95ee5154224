"""Matrix products in small pieces agree with the whole product."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.engine.products import product


@pytest.mark.parametrize(
    ("rows", "inner", "columns"), [(1, 1, 1), (1, 1500, 40), (128, 700, 1), (33, 1539, 31), (90, 700, 101)]
)
@pytest.mark.parametrize("turned", [False, True])
def test_pieces_add_up(rows: int, inner: int, columns: int, turned: bool) -> None:
    draws = np.random.default_rng(rows + inner + columns)
    a, b = draws.normal(size=(rows, inner)), draws.normal(size=(inner, columns))
    if turned:
        a, b = a * np.exp(1j * a), b * np.exp(2j * b)
    scale = np.abs(a) @ np.abs(b)
    assert np.all(np.abs(product(a, b) - a @ b) <= 1e-14 * scale)
    assert np.all(np.abs(product(a, b[:, 0]) - a @ b[:, 0]) <= 1e-14 * scale[:, 0])

"""Sums of exponentials on a grid: against 30 digits, within the stated rounding, and only where places are evenly spaced."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpcore.curves.polygon import Polygon
from dpcore.engine.exponential_sum import grid_places, sum_rounding, sums_on_grid

UNIT = 2.0**-53


def polygon(size: int, reach: float, seed: int) -> Polygon:
    rng = np.random.default_rng(seed)
    loss = np.sort(rng.uniform(-reach, reach, size))
    q = rng.exponential(size=size)
    q /= q.sum()
    p = q * np.exp(-loss)
    return Polygon(loss, p / (2 * p.sum()), q, p_inf=0.5)


@pytest.mark.parametrize(
    ("size", "nodes", "step", "start"), [(9, 8000, 0.37, 0), (700, 90, 0.05, 0), (300, 400, 1 / 3, 32768)]
)
def test_sums_have_the_stated_rounding(size: int, nodes: int, step: float, start: int) -> None:
    rng = np.random.default_rng(size)
    weight, rate = rng.exponential(size=size), rng.normal(size=size) * 5
    y = np.arange(start, start + nodes) * step
    places = y[np.sort(rng.choice(nodes, nodes // 2, replace=False))]
    grid = grid_places(places)
    assert grid is not None
    sums = sums_on_grid(weight, rate, *grid)
    with mp.workdps(30):
        for n in (0, 1, nodes // 3, nodes // 2 - 1):
            terms = [mp.mpf(w) * mp.expj(mp.mpf(r) * mp.mpf(places[n])) for w, r in zip(weight, rate, strict=True)]
            units = sum_rounding(places.size, size) + 4 * np.abs(rate).max() * places[n]
            assert abs(complex(mp.fsum(terms)) - sums[n]) <= units * UNIT * weight.sum()


def test_uneven_places_are_none() -> None:
    assert grid_places(np.array([0.0, 1.0, 2.0, 3.0 + 1e-12])) is None
    assert grid_places(np.array([0.0, 1.0, 1000.0])) is None  # too few of a long grid
    assert grid_places(np.array([1.0, 1.0])) is None
    assert grid_places(np.array([1.0])) is None


@pytest.mark.parametrize("c", [-0.3, 2.0])
def test_both_ways_of_a_polygon_agree(c: float) -> None:
    one = polygon(900, 6.0, 4)
    lines = np.array([[c], [c + 1]]) + 1j * np.arange(200) * np.array([[0.21], [0.4]])
    lines[1, 7] += 1e-3j  # not evenly spaced: summed directly
    units = one.mgf_rounding_along(lines) + 6.0 * np.abs(lines)
    at_c = one.log_mgf(lines[:, :1].real + 0j)
    error = np.abs(np.exp(one.log_mgf(lines) - at_c) - np.exp(np.array([one._direct(row) for row in lines]) - at_c))
    assert (error <= 2 * units * UNIT).all()
    assert error[0].max() > 0
    assert (error[1] == 0).all()

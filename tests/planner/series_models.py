"""Series that several tests use."""

from __future__ import annotations

import math

import numpy as np

from dpcore.planner.series import SeriesModel

FIRST = ((1.0, 0.0), (1.0, 0.5))
SECOND = ((0.5, 0.1), (0.0, 0.5))
ONE = ((1.0, 0.0), (0.0, 1.0))
SIGMA = 0.5 * math.sqrt(2 * math.log(25.2))  # of the source: n = 2, epsilon 1, delta 0.05, range 1


def random_model(rng: np.random.Generator, size: int) -> SeriesModel:
    a = rng.normal(size=(size, size))
    a *= 0.8 / np.abs(np.linalg.eigvals(a)).max()
    root = rng.normal(size=(size, size))
    return SeriesModel(
        tuple(map(tuple, a.tolist())), tuple(map(tuple, (root @ root.T).tolist())), float(rng.uniform(0.5, 3))
    )

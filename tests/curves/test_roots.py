"""Epsilon of a delta by Newton's steps from a guess, and of a pair and its inverse, against the general search."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.core.question import question
from dpcore.curves import roots, sketch
from dpcore.curves.base import Curve
from dpcore.curves.combined import Either
from dpcore.language import parse

RARE = [
    ("poisson_gaussian(0.5, 0.001)^10000", 1e-8),
    ("poisson_gaussian(0.8, 0.00001)^1000000", 1e-5),
    ("poisson_gaussian(2, 0.0001)^10000", 1e-8),
    ("poisson_gaussian(10, 0.00001)^10000", 1e-5),
]


@pytest.mark.parametrize(("text", "delta"), RARE)
def test_a_guess_leads_to_the_root_of_the_general_search(text: str, delta: float) -> None:
    curve = parse(text).curve
    with question():
        found = sketch.root(curve, delta)
        general = roots._root(curve, delta)
    assert found is not None
    assert found[0] <= general[1]
    assert general[0] <= found[1]
    assert found[1] - found[0] <= 1e-6 * found[1]
    least, most = curve.delta_bounds(np.array(found))
    assert least[0] >= delta >= most[1]


def test_a_root_at_zero_is_left_to_the_general_search() -> None:
    region = parse("poisson_gaussian(10, 0.00001)^100")
    assert sketch.root(region.curve, 1e-5) is None
    assert region.epsilon(1e-5) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "poisson_gaussian(1, 0.01)^100",
        "poisson_gaussian(0.8, 0.00001)^1000000",
        "poisson(laplace(0.25), 0.1)^100",
        "partition_selection(1, 0.01)^10",
    ],
)
def test_the_epsilon_of_a_pair_is_the_larger_one(text: str) -> None:
    """That of the curve whose delta is computed in both directions at every step of the search."""
    curve = parse(text).curve
    delta = np.array([0.2, 1e-5])
    lower, upper = curve.epsilon_bounds(delta)
    least, most = Curve.epsilon_bounds(curve, delta)
    finite = np.isfinite(most)
    assert (np.isfinite(upper) == finite).all()
    assert (lower[finite] <= most[finite]).all()
    assert (least[finite] <= upper[finite]).all()
    lower, upper, least, most = (side[finite] for side in (lower, upper, least, most))
    assert (upper - lower <= most - least + 1e-6 * upper).all()


def test_the_second_direction_counts_where_it_is_larger() -> None:
    small, large = parse("gdp(0.5)").curve, parse("poisson_gaussian(0.6, 0.3)^20").curve
    pair = Either([small, large], symmetric=True, pair=True)
    assert pair.epsilon_bounds(np.array([1e-5]))[1][0] == large.epsilon_bounds(np.array([1e-5]))[1][0]

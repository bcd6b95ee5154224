"""The questions of the benchmark, as plain data: what is asked, of whom, and how fast the answer must be.

Only the standard library is used, because dpcore's environment and the peers' read the same file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One question and what is demanded of the answer.

    Parameters
    ----------
    name : key of the task in every file.
    expression : region in dpcore's language; `?` marks the unknown of a calibration.
    measure : "delta", "corners", "epsilon", "beta" or "calibrate".
    at : where it is asked (ε, δ or α); for "corners" the ε at which the answer is compared.
    words : the question for a reader.
    opponent : (peer, variant) whose time counts for the ratio.
    ratio : how many times faster than the opponent dpcore must be.
    width : the largest relative width (upper - lower) / upper allowed; 0 for "exact" means 1e-10.
    tolerance : the tolerance asked of dpcore.
    """

    name: str
    expression: str
    measure: str
    at: tuple[float, ...]
    words: str
    opponent: str
    ratio: float
    width: float
    tolerance: float = 1e-6


GOLDEN = (math.sqrt(5) - 1) / 2

LAPLACE_EPSILONS = {
    10: (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.95),
    100: (0.0, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 9.9),
    1000: (0.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 80.0),
    10_000: (0.0, 20.0, 40.0, 50.0, 80.0, 100.0, 150.0, 200.0),
}
POISSON_EPSILONS = {1000: (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0), 10_000: (0.0, 1.0, 3.0, 5.0, 7.0, 8.0, 10.0, 14.0)}
KOV_CORNERS = (0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 400.0)
DIFFERENT_EPSILONS = {
    20: (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.3),
    36: (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
    200: (0.0, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0),
}
GRID = "dp-accounting, grid 1e-4"


def different_parts(count: int) -> tuple[tuple[float, float], ...]:
    """Return `count` different (ε, δ), on no lattice coarser than 1e-5, spread evenly over [0.05, 0.3]."""
    parts = []
    for i in range(1, count + 1):
        hundred_thousandths = 5000 + 10 * int(2500 * (i * GOLDEN % 1)) + 1 + i % 9
        parts.append((hundred_thousandths / 100_000, (1 + i % 3) * 1e-7))
    return tuple(parts)


def different_widths(count: int) -> tuple[float, ...]:
    """Return `count` different σ, spread evenly over [20, 80]: those of counts of many tables and levels."""
    return tuple(20.0 + 60.0 * (i * GOLDEN % 1) for i in range(1, count + 1))


def alphas() -> tuple[float, ...]:
    """Return 1000 false-positive rates: 500 from 1e-30 to 1/2, and 500 from 1/2 to 1 - 1e-15."""
    span = [math.log10(0.5) + (-30 - math.log10(0.5)) * (499 - i) / 499 for i in range(500)]
    gaps = [math.log10(0.5) + (-15 - math.log10(0.5)) * (i + 1) / 500 for i in range(500)]
    return tuple([10.0**x for x in span] + [1 - 10.0**x for x in gaps])


def _dp_product(count: int) -> str:
    return " * ".join(f"dp({epsilon!r}, {delta!r})" for epsilon, delta in different_parts(count))


def _laplace(k: int, ratio: float, width: float) -> Task:
    expression = f"laplace(0.1)^{k}"
    words = f"δ at 8 ε of `{expression}`"
    return Task(f"laplace_{k}", expression, "delta", LAPLACE_EPSILONS[k], words, GRID, ratio, width, width)


def _different(count: int, ratio: float, width: float) -> Task:
    words = f"δ at 8 ε of {count} different `dp(ε_i, δ_i)`"
    expression, at = _dp_product(count), DIFFERENT_EPSILONS[count]
    return Task(f"different_{count}", expression, "delta", at, words, GRID, ratio, width, max(width, 1e-6))


def _integers(count: int, ratio: float) -> Task:
    words = f"ε at δ = 1e-5, 1e-10, 1e-20, 1e-35 of {count} different `discrete_gaussian(σ_i)`"
    expression = " * ".join(f"discrete_gaussian({sigma!r})" for sigma in different_widths(count))
    return Task(f"integers_{count}", expression, "epsilon", (1e-5, 1e-10, 1e-20, 1e-35), words, GRID, ratio, 1e-6)


def _poisson(k: int, measure: str) -> Task:
    expression = f"poisson_gaussian(1, 0.01)^{k}"
    at = POISSON_EPSILONS[k] if measure == "delta" else (1e-5,)
    words = f"δ at 8 ε of `{expression}`" if measure == "delta" else f"ε at δ = 1e-5 of `{expression}`"
    return Task(f"poisson_{k}_{measure}", expression, measure, at, words, GRID, 100, 1e-6)


def _curve(k: int, ratio: float) -> Task:
    expression = f"laplace(0.1)^{k}"
    words = f"β at 1000 α of `{expression}`"
    return Task(f"curve_{k}", expression, "beta", alphas(), words, "dp-accounting + riskcal", ratio, 1e-6)


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        _laplace(1000, 50, 1e-6),
        _laplace(10_000, 500, 1e-6),
        _laplace(10, 1, 1e-9),
        _laplace(100, 1, 1e-9),
        Task(
            "kov_1000000",
            "dp(0.01)^1000000",
            "corners",
            KOV_CORNERS,
            "all corners with δ > 1e-300 of `dp(0.01)^1000000`",
            "dp-accounting, grid 1e-3",
            300,
            0,
        ),
        _different(20, 50, 0),
        _different(36, 1, 0),
        _different(200, 1, 1e-5),
        _integers(2000, 50),
        _poisson(1000, "delta"),
        _poisson(10_000, "delta"),
        _poisson(1000, "epsilon"),
        _poisson(10_000, "epsilon"),
        _curve(1000, 100),
        _curve(10_000, 500),
        Task(
            "calibrate",
            "poisson_gaussian(?, 0.01)^1000",
            "calibrate",
            (2.0, 1e-5),
            "smallest σ with δ(2) ≤ 1e-5 in `poisson_gaussian(?, 0.01)^1000`",
            "dp-accounting, smallest noise",
            500,
            1e-6,
        ),
    )
}

"""The pictures of the lab of noise before or after the query."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.labs import before_or_after as both
from dpcore.labs.base import BARS, Plot, series, simulated, standard_error, together
from dpcore.labs.disclosure import ages
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.labs.before_or_after_lab import BeforeOrAfter

_AGES = "659 ages rebuilt from the printed counts per 5 years."
_SHOWN = 200


def median(lab: BeforeOrAfter, rng: Generator) -> Plot:
    """Return the error of the median against epsilon."""
    x = ages()
    grid = lab.epsilon * np.geomspace(0.2, 5.0, 7)
    errors = [
        root_mean_square(
            both.noisy_medians(x, lab.high / e, lab.replications, rng, (i / grid.size, (i + 1) / grid.size))
            - np.median(x)
        )
        for i, e in enumerate(grid)
    ]
    y, error = np.array(errors).T
    limits = [both.median_before_limit(x, lab.high / e) for e in grid]
    approximate = [math.hypot(c - float(np.median(x)), s) for c, s in limits]
    after = [math.sqrt(both.median_after(e, lab.high)) for e in grid]
    middle = grid.size // 2
    return Plot(
        f"Error of the median of 659 ages, noise before or after (Λ = {nearest(lab.high)})",
        f"At ε = {nearest(lab.epsilon)} noise on the records has the error {nearest(y[middle], 3)} years, noise on the answer "
        f"{nearest(after[middle], 4)}; noise for a sensitivity of 1, as in the printed figure, has "
        f"{nearest(math.sqrt(2) / lab.epsilon, 3)} and really costs ε = {nearest(lab.high * lab.epsilon)}.",
        together(
            series("after", grid, after),
            series("after, as printed: sensitivity 1", grid, math.sqrt(2) / grid, kind="printed"),
            series("before, large-n formula", grid, approximate, kind="approximate"),
            simulated("before", grid, y, error, least=y / 1e3),
        ),
        "bound ε on the privacy loss",
        "root mean squared error, years",
        log_x=True,
        log_y=True,
        notes=(BARS, _AGES),
    )


def releases(lab: BeforeOrAfter, rng: Generator) -> Plot:
    """Return Figure 5.15: single releases of the median."""
    x = ages()
    centre, count = float(np.median(x)), min(lab.replications, _SHOWN)
    at = np.arange(1, count + 1)
    before = both.noisy_medians(x, lab.high / lab.epsilon, count, rng, (0.0, 1.0))
    after = centre + rng.laplace(0.0, lab.high / lab.epsilon, count)
    wrong = centre + rng.laplace(0.0, both.printed_median_sensitivity() / lab.epsilon, count)
    return Plot(
        f"{count} releases of the median age (Figure 5.15)",
        f"The true median is {nearest(centre, 3)}. {_inside(before, centre)} releases with noise before lie within 10 years of "
        f"it, {_inside(after, centre)} with noise after; the figure was drawn with the noise of a sensitivity of 1.",
        together(
            series("after", at, after, kind="simulation", mark="point"),
            series("before", at, before, kind="simulation", mark="point"),
            series("after, as printed: sensitivity 1", at, wrong, kind="printed", mark="point"),
        ),
        "release",
        "released median age",
        reference={"true median": centre},
        notes=(_AGES,),
    )


def variance(lab: BeforeOrAfter, rng: Generator) -> Plot:
    """Return the error of the variance against epsilon."""
    n = min(lab.n, 10_000)
    x = both.spread_out(n, lab.high)
    spread = float(x.var(ddof=1))
    grid = lab.epsilon * np.geomspace(0.2, 20.0, 41)
    some = lab.epsilon * np.geomspace(0.2, 20.0, 5)
    errors = []
    for i, e in enumerate(some):
        part = (i / some.size, (i + 1) / some.size)
        squares = (both.noisy_variances(x, lab.high / e, lab.replications, rng, part) - spread) ** 2
        errors.append((float(squares.mean()), standard_error(squares)))
    y, error = np.array(errors).T
    exact = [both.variance_before(e, lab.high, n, spread) for e in grid]
    printed = [both.printed_variance_before(e, lab.high, x) for e in grid]
    here = both.variance_before(lab.epsilon, lab.high, n, spread)
    claimed = both.printed_variance_before(lab.epsilon, lab.high, x)
    return Plot(
        f"Error of the variance of {n} records, noise before or after (Λ = {nearest(lab.high)})",
        f"At ε = {nearest(lab.epsilon)} noise on the records has {nearest(here / claimed, 3)} times the printed error; noise on the "
        f"answer has {nearest(both.variance_after(lab.epsilon, lab.high, n), 3)}.",
        together(
            series("before, exact", grid, exact),
            series("before, as printed (5.25)", grid, printed, kind="printed"),
            series("after, exact", grid, [both.variance_after(e, lab.high, n) for e in grid]),
            simulated("before", some, y, error, least=y / 1e3),
        ),
        "bound ε on the privacy loss",
        "mean squared error",
        log_x=True,
        log_y=True,
        notes=(BARS, "Records spread evenly over the range; at most 10 000 of them."),
    )


def budget(lab: BeforeOrAfter) -> Plot:
    """Return the epsilon at which noise before the query has the error of noise after it."""
    e = lab.epsilon
    sizes = [int(n) for n in np.unique(np.geomspace(10, 10**5, 41).astype(int))]
    exact = [both.equal_epsilon_variance(e, 1.0, n, (n + 1) / (12 * n)) for n in sizes]
    solved = [(n, both.printed_equal_epsilon(1.0, both.spread_out(n, 1.0), e)) for n in sizes if n <= 1000]
    real = [(n, root) for n, root in solved if root is not None]
    parts = [
        series("mean", sizes, [both.equal_epsilon_mean(e, n) for n in sizes]),
        series("variance", sizes, exact),
        series("variance, as printed: rate n", sizes, [e * n for n in sizes], kind="printed"),
    ]
    if real:
        parts.append(series("variance, as printed (5.26)", [n for n, _ in real], [r for _, r in real], kind="printed"))
    ratio = both.equal_epsilon_variance(e, 1.0, 10**4, (10**4 + 1) / (12 * 10**4)) / (100 * e)
    ends = f"ends at n = {real[-1][0]}" if real else "has none"
    return Plot(
        f"ε that noise before needs to be as good as noise after at ε = {nearest(e)}",
        f"Both grow like the square root of n: √n ε for the mean, {outward(ratio, 3)} √n ε or less for the variance of "
        f"10 000 evenly spread records. The printed solution for the variance {ends}.",
        together(*parts),
        "number of records n",
        "ε needed before",
        log_x=True,
        log_y=True,
        notes=("For the median the order is the other way round: see the first picture.",),
    )


def root_mean_square(off: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float]:
    """Return the root mean square and its standard error by the delta method."""
    squares = off**2
    size = math.sqrt(float(squares.mean()))
    return size, standard_error(squares) / (2 * size)


def _inside(values: np.ndarray[tuple[int], np.dtype[np.float64]], centre: float) -> str:
    count = int(np.count_nonzero(np.abs(values - centre) <= 10))
    return f"{count} of {values.size}"

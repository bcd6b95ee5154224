"""The pictures of the lab of sensitivities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.numerals import nearest
from dpcore.labs import sensitivity_smooth as smooth
from dpcore.labs import sensitivity_weighted as weighted
from dpcore.labs.base import Plot, Regions, series, together
from dpcore.labs.sensitivity import kept_divisor_variance, largest, local, printed_local_mean
from dpcore.labs.sensitivity import printed_local_variance as printed_variance
from dpcore.planner.sensitivity.noise import laplace_worst_delta
from dpcore.planner.sensitivity.pairs import laplace_pair
from dpcore.regions.guarantees import DP
from dpcore.words import outward

if TYPE_CHECKING:
    import pandas as pd
    from numpy.random import Generator

    from dpcore.labs.sensitivity_lab import Sensitivity

_FIVE: Final = (0.5, 1.0, 2.0, 10.0, 15.0)
_EXACT: Final = (1.0, 15.0)  # all five would fill the picture
_TINY = 1e-300  # a logarithmic axis has no 0
_NOTE = "Noise variances in units of the squared global sensitivity."


def room(lab: Sensitivity) -> Plot:
    """Return which weights b save noise and keep the delta, as printed and as it is."""
    grid = np.geomspace(0.1, 20.0, 61)
    least = [[weighted.private_weight(e, lab.delta, printed=p) for e in grid] for p in (True, False)]
    fair = [max(0.0, weighted.fair_weight(e, lab.delta, 0.0)) for e in grid]
    crossing = -math.log(4 * lab.delta)
    printed_at = 2 * math.log(1 / lab.delta) * math.log(2) / (1 - math.log(2))
    gain = f"above ε = {outward(crossing, 3)}" if crossing > 0.1 else "at every ε shown"
    return Plot(
        f"Weights b that save noise and keep δ ≤ {nearest(lab.delta)}",
        f"Only b below 1/2 saves noise, not 0.707. The printed δ asks for more than that up to ε = "
        f"{outward(printed_at, 4, up=False)}; by the exact δ a gain is possible {gain}.",
        together(
            series("least b by the printed δ", grid, least[0], kind="printed"),
            series("least b by the exact δ", grid, least[1], kind="upper"),
            series("largest b as printed", grid, np.full(grid.size, math.sqrt(0.5)), kind="printed"),
            series("largest b that saves noise", grid, np.full(grid.size, 0.5)),
            series("largest b, Laplace at this δ", grid, fair),
        ),
        "bound ε on the privacy loss",
        "weight b of the global sensitivity",
        log_x=True,
        notes=(
            "A weight is admissible between a least and a largest b. Local sensitivity 0, the best case.",
            "Laplace at this δ: the noise that the Laplace mechanism needs when it may use the same δ.",
        ),
    )


def noise(lab: Sensitivity, rng: Generator) -> Plot:
    """Return Figs. 5.1 and 5.2: noise variance against b for several data sets."""
    grid = np.linspace(0.02, 1.0, 50)
    ratios = lab.ratios(rng)
    parts = [
        series(f"data set {i + 1}", grid, [weighted.variance(lab.epsilon, b, r) for b in grid])
        for i, r in enumerate(ratios)
    ]
    printed = [weighted.printed_variance(lab.epsilon, b, ratios[0]) for b in grid]
    best = max(weighted.useful_weight(r) for r in ratios)
    return Plot(
        f"Noise variance against the weight b, {lab.population} data (Figs. 5.1-5.2)",
        f"The printed curve crosses the Laplace mechanism at b = "
        f"{outward(weighted.useful_weight(ratios[0], printed=True), 3)}, the true ones at b = {outward(best, 3)} or "
        "less: all printed variances are half of the true ones.",
        together(*parts, series("data set 1 as printed", grid, printed, kind="printed")),
        "weight b of the global sensitivity",
        "noise variance",
        reference={"Laplace mechanism": weighted.benchmark(lab.epsilon)},
        notes=(_NOTE, "Median query; each data set has its own local sensitivity."),
    )


def leak(lab: Sensitivity) -> Plot:
    """Return delta against b at the epsilon of the lab."""
    grid = np.linspace(0.02, 0.99, 98)
    printed = [min(1.0, weighted.printed_delta(lab.epsilon, b)) for b in grid]
    exact = [weighted.delta(lab.epsilon, b) for b in grid]
    return Plot(
        f"The leak δ against the weight b at ε = {nearest(lab.epsilon)}",
        f"At b = 1/2, the largest weight that saves noise, the exact δ is "
        f"{outward(weighted.delta(lab.epsilon, 0.5), 3)} = e^-ε / 4; the printed bound says "
        f"{outward(min(1.0, weighted.printed_delta(lab.epsilon, 0.5)), 3)}.",
        together(series("as printed (5.10)", grid, printed, kind="printed"), series("exact", grid, exact)),
        "weight b of the global sensitivity",
        "δ",
        reference={"allowed": lab.delta},
        notes=("The printed value is drawn as 1 where it is above 1.",),
    )


def all_leaks(lab: Sensitivity) -> Plot:
    """Return Fig. 5.3: delta against b for five epsilon."""
    grid = np.linspace(0.3, 0.99, 70)
    parts = []
    for e in _FIVE:
        parts.append(
            series(
                f"printed, ε = {nearest(e)}",
                grid,
                [min(1.0, weighted.printed_delta(e, b)) for b in grid],
                kind="printed",
            )
        )
        if e in _EXACT:
            parts.append(series(f"exact, ε = {nearest(e)}", grid, [weighted.delta(e, b) for b in grid]))
    least = weighted.private_weight(15.0, lab.delta, printed=True)
    return Plot(
        "The leak δ for five ε (Fig. 5.3)",
        f"At ε = 15 the printed δ needs b of at least {outward(least, 4)} for δ ≤ {nearest(lab.delta)}, the exact one "
        f"{outward(weighted.private_weight(15.0, lab.delta), 4)}.",
        together(*parts),
        "weight b of the global sensitivity",
        "δ",
        reference={"allowed": lab.delta},
        notes=("Printed values are drawn as 1 where they are above 1.",),
    )


def smooth_sensitivity(lab: Sensitivity, rng: Generator) -> Plot:
    """Return the smooth sensitivity of median and mean against beta."""
    x = lab.draw(rng)
    grid = np.geomspace(1e-3, 1.0, 61)
    median = []
    for i, b in enumerate(grid):
        checkpoint(i / grid.size)
        median.append(smooth.smooth_median(x, 0.0, 1.0, float(b)))
    mean = [lab.n * smooth.smooth_mean(x, 0.0, 1.0, b) for b in grid]
    beta = smooth.laplace_beta(lab.epsilon, lab.delta)
    here = smooth.smooth_median(x, 0.0, 1.0, beta)
    return Plot(
        "Smooth sensitivity as a share of the global one",
        f"At ε = {nearest(lab.epsilon)} and δ' = {nearest(lab.delta)} (β = {nearest(beta, 3)}) the median's is {outward(here, 3)} of the "
        f"global sensitivity; the local one is {outward(local('median', x, 0.0, 1.0), 3)}.",
        together(series("median", grid, median), series("mean", grid, mean)),
        "β",
        "smooth / global sensitivity",
        log_x=True,
        reference={"local sensitivity of the median": local("median", x, 0.0, 1.0)},
        notes=(f"One {lab.population} data set of {lab.n} records on [0, 1].",),
    )


def mechanisms(lab: Sensitivity, rng: Generator) -> Plot:
    """Return the typical errors of the three smooth mechanisms beside the Laplace mechanism's."""
    x, grid = lab.draw(rng), np.geomspace(0.05, 1.0, 21)
    parts = []
    for place, name in enumerate(smooth.MECHANISMS):
        checkpoint(place / len(smooth.MECHANISMS))
        errors = [smooth.typical_error(name, x, 0.0, 1.0, e, lab.delta) for e in grid]
        parts.append(series(f"{name}, smooth sensitivity", grid, errors))
    parts.append(series("Laplace, global sensitivity", grid, math.log(2.0) / grid))
    at_one = ", ".join(f"{nearest(part['y'].iloc[-1], 3)} ({part['series'].iloc[0]})" for part in parts)
    return Plot(
        f"Typical errors of a noisy median, {lab.population} data, {lab.n} records",
        f"At ε = 1 half of the errors are below {at_one}.",
        together(*parts),
        "bound ε on the privacy loss",
        "median absolute error",
        log_x=True,
        log_y=True,
        notes=(
            f"By smooth sensitivity Laplace noise has δ ≤ {nearest(lab.delta / 2)} and Gaussian noise δ ≤ {nearest(lab.delta)} here.",
            "Cauchy noise 1/(1 + z²) and the Laplace mechanism have δ = 0.",
            "One data set on [0, 1], a range of length 1.",
        ),
    )


def promises(lab: Sensitivity) -> Plot:
    """Return the deltas promised for smooth sensitivity beside the exact ones."""
    grid = np.geomspace(0.05, 1.0, 41)
    failure = lab.delta
    exact = [laplace_worst_delta(e, smooth.laplace_beta(e, failure)) for e in grid]
    worst = [
        smooth.gaussian_worst_delta(e, smooth.printed_gaussian_beta(e, failure), smooth.gaussian_scale(e, failure), 40)
        for e in grid
    ]
    normal = np.maximum(worst, _TINY)
    printed = [smooth.printed_laplace_delta(e, failure) for e in grid]
    room = int(min(p / x for p, x in zip(printed, exact, strict=True)))
    return Plot(
        f"What smooth sensitivity promises and what it leaks, δ' = {nearest(failure)}",
        f"The printed δ of the Laplace mechanism is at least {outward(room, 2, up=False)} times the exact one for ε "
        "up to 1. δ'/2 is proved by widening first and moving the answer after.",
        together(
            series("Laplace, as printed", grid, printed, kind="printed"),
            series("Laplace, δ'/2", grid, np.full(grid.size, failure / 2), kind="upper"),
            series("Laplace, exact", grid, exact),
            series("Gaussian, worst found", grid, normal, kind="lower"),
        ),
        "bound ε on the privacy loss",
        "δ",
        log_x=True,
        log_y=True,
        notes=(
            "The heavy-tailed noise 1/(1 + |z|^γ) has δ = 0.",
            "Gaussian: with the printed β; the largest δ over many ratios of widths.",
        ),
    )


def queries(lab: Sensitivity, rng: Generator) -> Plot:
    """Return the table of sensitivities as bars."""
    low, high = -1.0, 3.0
    x = low + (high - low) * lab.draw(rng)
    names = ("mean", "median", "variance")
    whole = [largest(q, lab.n, low, high) for q in names]

    def bars(name: str, values: list[float], kind: str = "exact") -> pd.DataFrame:
        shares = [value / top for value, top in zip(values, whole, strict=True)]
        return series(name, names, shares, kind=kind, mark="bar")

    printed = [printed_local_mean(x), local("median", x, low, high), printed_variance(x)]
    return Plot(
        "Local sensitivities as shares of the global one, data on [-1, 3]",
        f"A record can move by 4, the printed mean counts 3. Dropping a record moves the variance by "
        f"{outward(kept_divisor_variance(x), 3)}; the printed formula, which depends on where 0 is, says "
        f"{outward(printed[2], 3)}.",
        together(
            bars("as printed", printed, "printed"),
            bars("substitute", [local(q, x, low, high) for q in names]),
            bars("remove", [local(q, x, low, high, "remove") for q in names]),
            bars("global, remove", [largest(q, lab.n, low, high, "remove") for q in names]),
        ),
        "query",
        "share of the global sensitivity (substitution)",
        notes=(f"One {lab.population} data set of {lab.n} records, stretched to [-1, 3].",),
    )


def pairs(lab: Sensitivity) -> Regions:
    """Return the regions of noise that follows the data."""
    e, d = lab.epsilon, lab.delta
    ratio = math.exp(smooth.laplace_beta(e, d))
    scale = 2 / e
    slow = laplace_pair(scale * ratio, scale, 1.0, "smooth sensitivity, worst pair")
    mixed = weighted.region(e, lab.weight)
    bare = laplace_pair(scale, scale * 1e-9, 0.0, "local sensitivity alone")
    return Regions(
        f"Regions of noise that follows the data, ε = {nearest(e)}",
        f"Weighted noise with b = {nearest(lab.weight)} is ({nearest(e)}, {outward(mixed.delta(e), 3)})-private, noise by smooth "
        f"sensitivity ({nearest(e)}, {outward(slow.delta(e), 3)}); the local sensitivity alone hides nothing.",
        {
            f"promised: ({nearest(e)}, {nearest(d)})": DP(e, d),
            f"weighted, b = {nearest(lab.weight)}": mixed,
            "smooth sensitivity": slow,
            "local sensitivity alone": bare,
        },
        notes=("Worst pairs of neighbours. A local sensitivity of 0 is drawn as a scale of 1e-9 of the global one.",),
    )

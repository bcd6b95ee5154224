"""The pictures of the lab of private confidence intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.labs import intervals
from dpcore.labs.base import BARS, Plot, Regions, series, together
from dpcore.mechanisms.bounded_laplace import BoundedLaplace
from dpcore.mechanisms.gaussian import GaussianAnalytic
from dpcore.mechanisms.laplace import Laplace
from dpcore.planner.interval.laws import normal_quantile
from dpcore.regions.guarantees import DP
from dpcore.words import outward

if TYPE_CHECKING:
    import pandas as pd
    from numpy.random import Generator

    from dpcore.labs.intervals_lab import Intervals

SIZES: Final = (20, 50, 100, 200, 500, 1000, 2000)
_NOTES = (BARS, "Negative noisy variances count as 0, which is post-processing and costs nothing.")


def _simulated(lab: Intervals, rng: Generator) -> list[intervals.IntervalCoverage]:
    """Return the simulated shares at every n."""
    sizes = sorted({*SIZES, lab.n})
    parts = [(i / len(sizes), (i + 1) / len(sizes)) for i in range(len(sizes))]
    return [intervals.simulate(lab.plan, n, lab.replications, rng, part) for n, part in zip(sizes, parts, strict=True)]


def _points(
    name: str, shares: list[intervals.IntervalCoverage], pick: str, across: list[int] | list[str]
) -> pd.DataFrame:
    """Return one of the simulated shares at every n, with two standard errors."""
    share = np.array([getattr(at_n, pick) for at_n in shares])
    reach = np.array([2 * at_n.error(getattr(at_n, pick)) for at_n in shares])
    low, high = np.maximum(share - reach, 0.0), np.minimum(share + reach, 1.0)
    return series(name, across, share, kind="simulation", mark="point", low=low, high=high)


def coverage(lab: Intervals, rng: Generator) -> Plot:
    """Return simulated coverages against n."""
    shares = _simulated(lab, rng)
    sizes = [at_n.n for at_n in shares]
    ignored = [
        intervals.naive_coverage(
            lab.level, lab.variance, n, intervals.noise_deviation(lab.epsilon, lab.delta, lab.high, n)
        )
        for n in sizes
    ]
    here = shares[sizes.index(lab.n)]
    return Plot(
        f"How often an interval of level {nearest(lab.level)} holds the mean, {lab.population} data",
        f"At n = {lab.n} the corrected interval covers in {here.estimated:.1%} of runs, without the noise in "
        f"{here.naive:.1%}, with the printed display in {here.display:.1%}.",
        together(
            _points("corrected, noisy variance", shares, "estimated", sizes),
            _points("noise ignored", shares, "naive", sizes),
            _points("as displayed, c²Λ/(εn)", shares, "display", sizes),
            series("noise ignored, normal approximation", sizes, ignored, kind="approximate"),
        ),
        "number of records n",
        "coverage",
        log_x=True,
        reference={"level claimed": lab.level},
        notes=(*lab.condition, *_NOTES),
    )


def variances(lab: Intervals, rng: Generator) -> Plot:
    """Return the simulated coverages of the two corrected intervals side by side."""
    shares = _simulated(lab, rng)
    sizes = [str(at_n.n) for at_n in shares]
    here = shares[sizes.index(str(lab.n))]
    return Plot(
        f"Known and noisy variance, level {nearest(lab.level)}, {lab.population} data",
        f"At n = {lab.n} the interval with the known variance covers in {here.known:.1%} of runs, that with the noisy "
        f"variance in {here.estimated:.1%}; {here.negative:.1%} of the noisy variances are negative.",
        together(
            _points("known variance", shares, "known", sizes), _points("noisy variance", shares, "estimated", sizes)
        ),
        "number of records n",
        "coverage",
        reference={"level claimed": lab.level},
        notes=(*lab.condition, *_NOTES),
    )


def noise_parts(lab: Intervals, sizes: list[int], *, exact: bool) -> list[float]:
    """Return the deviation of the noise on the mean at every n."""
    unit = intervals.unit_noise(lab.epsilon, lab.delta, exact=exact)
    return [unit * lab.high / n for n in sizes]


def widths(lab: Intervals) -> Plot:
    """Return half-widths against n."""
    sizes = sorted({int(n) for n in np.geomspace(10, 10**5, 41)} | {lab.n})
    z, variance = normal_quantile(lab.level), lab.variance
    classic, least = (noise_parts(lab, sizes, exact=exact) for exact in (False, True))
    whole = [intervals.half_width(lab.level, variance, n, s) for n, s in zip(sizes, classic, strict=True)]
    display = [intervals.printed_half_width(lab.level, variance, n, lab.epsilon, lab.delta, lab.high) for n in sizes]
    at = sizes.index(lab.n)
    return Plot(
        f"Half-widths at level {nearest(lab.level)}, known variance, {lab.population} data",
        f"At n = {lab.n} the corrected half-width is {outward(whole[at], 3)}; the data alone need "
        f"{outward(z * math.sqrt(variance / lab.n), 3)}; the printed display gives {outward(display[at], 3)}.",
        together(
            series("corrected", sizes, whole),
            series(
                "corrected, exactly calibrated noise",
                sizes,
                [intervals.half_width(lab.level, variance, n, s) for n, s in zip(sizes, least, strict=True)],
            ),
            series("as displayed, c²Λ/(εn)", sizes, display, kind="printed"),
            series("no privacy", sizes, [z * math.sqrt(variance / n) for n in sizes]),
        ),
        "number of records n",
        "half-width",
        log_x=True,
        log_y=True,
        notes=lab.condition,
    )


def split(lab: Intervals) -> Plot:
    """Return the share of the squared width that privacy takes."""
    sizes = sorted({int(n) for n in np.geomspace(10, 10**5, 61)})
    parts = []
    for name, exact in (("textbook noise", False), ("exactly calibrated noise", True)):
        noise = np.square(noise_parts(lab, sizes, exact=exact))
        parts.append(series(name, sizes, noise / (noise + lab.variance / np.array(sizes))))
    even = intervals.even_size(lab.epsilon, lab.delta, lab.high, lab.variance)
    return Plot(
        "Share of the squared width that privacy takes",
        f"Up to n = {outward(even, 4, up=False)} the textbook noise makes up more than half of the squared width; its "
        "share falls as n grows.",
        together(*parts),
        "number of records n",
        "share of the noise",
        log_x=True,
        reference={"half": 0.5},
        notes=lab.condition,
    )


def regions(lab: Intervals) -> Regions:
    """Return the regions of the releases."""
    total = lab.epsilon + lab.variance_epsilon
    cut = BoundedLaplace(1 / lab.variance_epsilon, 0.0, 60 / lab.variance_epsilon, 1.0)
    promised, true = DP(total, lab.delta), lab.region
    return Regions(
        "What the interval gives away",
        f"At ε = {nearest(total)} the two releases have δ = {outward(float(true.delta(total)), 3)}, where {nearest(lab.delta)} was "
        f"promised; drawing negative variances again raises the variance's own loss from "
        f"{nearest(lab.variance_epsilon)} to {outward(intervals.resampled_loss(lab.variance_epsilon), 3)}.",
        {
            f"promised: ({nearest(total)}, {nearest(lab.delta)})": promised,
            "mean and variance, exact": true,
            "mean and variance, exactly calibrated": GaussianAnalytic(lab.epsilon, lab.delta)
            * Laplace(lab.variance_epsilon),
            "variance alone": Laplace(lab.variance_epsilon),
            "variance alone, drawn again": cut,
        },
        notes=(*lab.condition, "Noise cut at 0 is drawn with an upper end 60 scales away."),
    )

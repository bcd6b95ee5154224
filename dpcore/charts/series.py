"""Pictures of a series plan: what is learnt about each time, the noise that more releases need, and regions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.charts.lab import lab_figure
from dpcore.charts.theme import PLAIN, Look
from dpcore.core.effort import checkpoint
from dpcore.core.numerals import nearest
from dpcore.labs.base import Plot, Regions, series, together
from dpcore.planner.series.attacks import (
    EVENT,
    GROUP,
    LEVELS,
    MEANINGS,
    USER,
    least_noise,
    noise_at,
    target_shift,
    time_attacks,
    user_attack,
    worst,
)
from dpcore.planner.series.model import RELEASES, STATIONARY
from dpcore.words import outward

if TYPE_CHECKING:
    from dpcore.charts.figure import Figure
    from dpcore.curves.base import FloatArray
    from dpcore.planner.series.model import SeriesModel

TRUE_MODEL: Final = (
    "What the series hides depends on the model being true; all values of one user are hidden by the noise alone."
)
_MOST_BARS: Final = 6  # times that are drawn as bars: a line would suggest times between them
_MOST_POINTS: Final = 16  # numbers of releases of which the least noise is solved


def attack_figure(
    model: SeriesModel,
    releases: int,
    noise: float | None = None,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-5,
    prior: str | float = STATIONARY,
    look: Look = PLAIN,
) -> Figure:
    """Draw what is learnt about the value of one user at each time.

    Parameters
    ----------
    model : SeriesModel
        The series.
    releases : int
        How many means are released.
    noise : float, optional
        Standard deviation of the noise of each; by default the least that keeps one value at the target.
    epsilon, delta : float, default 1 and 1e-5
        The target; epsilons are read at delta.
    prior : str or float, default "stationary"
        Of the first values.
    look : Look, default PLAIN
        Dark or light, and the size.
    """
    sigma = _noise(model, releases, noise, (epsilon, delta), prior)
    all_of_them = time_attacks(model, sigma, prior=prior)
    alone = float(model.sensitivity / sigma[0])
    few = len(all_of_them) <= _MOST_BARS
    times = [str(one.time) if few else float(one.time) for one in all_of_them]
    mark = "bar" if few else "line"
    learnt = [attack.epsilon(delta) for attack in all_of_them]
    own = user_attack(model, sigma[:1]).epsilon(delta)
    user = user_attack(model, sigma)
    whole = user.epsilon(delta)
    frame = together(
        series("one value, all releases", times, learnt, mark=mark),
        series("one value, its own release only", times, [own] * len(times), mark=mark),
        series("all values of one user", times, [whole] * len(times), mark=mark),
    )
    top = max(all_of_them, key=lambda attack: attack.mu)
    says = (
        f"With noise of standard deviation {outward(float(sigma[0]), 4)} on each of {releases} means, all releases reveal at most "
        f"ε = {outward(max(learnt), 3)} about one value (most at time {top.time}), its own release {outward(own, 3)}, and all releases reveal at most "
        f"{outward(whole, 3)} about all values of one user."
    )
    notes = (
        f"At δ = {nearest(delta)}; one user moves a mean by {nearest(model.sensitivity, 4)}, so alone μ = {nearest(alone, 4)}.",
        TRUE_MODEL,
    )
    return lab_figure(
        Plot(
            "What is learnt about each time",
            says,
            frame,
            "time attacked",
            f"ε at δ = {nearest(delta)}",
            reference={"target": float(epsilon)},
            notes=notes,
        ),
        look,
    )


def _noise(
    model: SeriesModel, releases: int, noise: float | None, target: tuple[float, float], prior: str | float
) -> FloatArray:
    count = RELEASES.check(releases)
    if noise is not None:
        return noise_at(noise, count)
    return noise_at(least_noise(model, count, target_shift(*target), EVENT, prior)[0], count)


def least_noise_figure(
    model: SeriesModel,
    releases: int,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-5,
    prior: str | float = STATIONARY,
    look: Look = PLAIN,
) -> Figure:
    """Draw the least noise as the number of releases grows, for one value and for all values of one user.

    Parameters
    ----------
    model : SeriesModel
        The series.
    releases : int
        The most releases.
    epsilon, delta : float, default 1 and 1e-5
        The target of the worst attack.
    prior : str or float, default "stationary"
        Of the first values.
    look : Look, default PLAIN
        Dark or light, and the size.
    """
    most, mu = RELEASES.check(releases), target_shift(float(epsilon), float(delta))
    counts = sorted({round(x) for x in np.geomspace(1, most, _MOST_POINTS).tolist()})
    lines: dict[str, list[float]] = {EVENT: [], USER: []}
    for place, count in enumerate(counts):
        checkpoint(place / len(counts))
        for level, values in lines.items():
            values.append(least_noise(model, count, mu, level, prior)[0])
    frame = together(
        series("one value", counts, lines[EVENT], mark="line"),
        series("all values of one user", counts, lines[USER], mark="line"),
    )
    says = (
        f"For ({nearest(epsilon)}, {nearest(delta)}) one release needs noise of standard deviation {outward(lines[EVENT][0], 3)}; "
        f"{most} releases need {outward(lines[EVENT][-1], 3)} to hide one value and {outward(lines[USER][-1], 3)} to hide all values of one user."
    )
    return lab_figure(
        Plot(
            "The least noise",
            says,
            frame,
            "number of releases",
            "standard deviation of the noise",
            notes=(TRUE_MODEL,),
        ),
        look,
    )


def series_region_figure(
    model: SeriesModel,
    releases: int,
    noise: float | None = None,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-5,
    prior: str | float = STATIONARY,
    look: Look = PLAIN,
) -> Figure:
    """Draw the region of the worst attack of each level.

    Parameters
    ----------
    model : SeriesModel
        The series.
    releases : int
        How many means are released.
    noise : float, optional
        As in `attack_figure`.
    epsilon, delta : float, default 1 and 1e-5
        The target, if there is no noise.
    prior : str or float, default "stationary"
        Of the first values.
    look : Look, default PLAIN
        Dark or light, and the size.
    """
    sigma = _noise(model, releases, noise, (epsilon, delta), prior)
    attacks = {level: worst(model, sigma, level, prior) for level in LEVELS}
    shapes = {MEANINGS[level]: attack.region for level, attack in attacks.items()}
    words = ", ".join(f"{MEANINGS[level]} with μ = {outward(attack.mu, 4)}" for level, attack in attacks.items())
    says = f"Each worst attack is a Gaussian shift: {words}."
    bounded = attacks[GROUP].kind == "upper"
    notes = (TRUE_MODEL, *(["For all users together, μ is an upper bound."] if bounded else []))
    return lab_figure(Regions("What the releases reveal", says, shapes, notes=notes), look)

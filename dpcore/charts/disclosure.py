"""Pictures of a disclosure check: classes by size, counts after PRAM, neighbours after noise, and regions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.charts.lab import lab_figure
from dpcore.charts.theme import PLAIN, Look
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.labs.base import Plot, Regions, series, together
from dpcore.planner.disclosure import NO_REGION, Pram, noise
from dpcore.planner.disclosure.generalisation import words_of
from dpcore.planner.disclosure.plan import METHODS, both_classes
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpcore.charts.figure import Figure
    from dpcore.curves.base import FloatArray
    from dpcore.files.microdata import Microdata
    from dpcore.planner.disclosure import ColumnNoise, EquivalenceClasses, Protection

STEPS: Final = (1, 2, 3, 5, 10, 20, 50, 100)
"""Where a new group of class sizes begins."""

MOST_BARS: Final = 12
_POINTS: Final = 200  # of a curve over the values


def class_figure(data: Microdata, plan: Protection, sensitive: Sequence[str] = (), look: Look = PLAIN) -> Figure:
    """Draw how many records are in classes of each size, as read and as the table would be released.

    Parameters
    ----------
    data : Microdata
        The table.
    plan : Protection
        Its quasi-identifiers, and what makes them coarser.
    sensitive : sequence of str, default ()
        Columns whose diversity the sentence reports.
    look : Look, default PLAIN
        Dark or light, and the size.
    """
    before, after = both_classes(data, plan, sensitive)
    parts = [_sizes("as read", before)]
    if after is not before:
        parts.append(_sizes("as released", after))
    return lab_figure(
        Plot(
            "Records by the size of their class",
            _class_words(data, plan, before, after),
            together(*parts),
            "records in the class",
            "records",
            notes=(NO_REGION, *([f"As released: {words_of(plan.rules)}."] if plan.rules else [])),
        ),
        look,
    )


def _sizes(name: str, classes: EquivalenceClasses) -> pd.DataFrame:
    """Return how many records are in classes of each group of sizes."""
    place = np.searchsorted(np.array(STEPS), classes.sizes, side="right") - 1
    counts = np.bincount(place, weights=classes.sizes, minlength=len(STEPS))
    ends = [*(high - 1 for high in STEPS[1:]), 0]
    labels = [f"{low}" if low == high else f"{low} to {high}" for low, high in zip(STEPS, ends, strict=True)]
    labels[-1] = f"{STEPS[-1]} or more"
    return series(name, labels, counts, mark="bar")


def _class_words(data: Microdata, plan: Protection, before: EquivalenceClasses, after: EquivalenceClasses) -> str:
    names = " and ".join(plan.quasi)
    words = (
        f"By {names}, {grouped(before.uniques)} of {grouped(before.rows)} records are unique, and the smallest class has "
        f"{grouped(before.k)}."
    )
    if after is not before:
        lost = data.rows - after.rows
        words += f" As released, {grouped(after.uniques)} are unique and the smallest class has {grouped(after.k)}" + (
            f"; {grouped(lost)} rows are left out." if lost else "."
        )
    for name, one in after.diversity.items():
        least = int(one.distinct.min())
        poorest = f"{grouped(least)} different values" if least > 1 else "only one value"
        words += f" The least diverse class has {poorest} of {name}."
    return words


def pram_figure(data: Microdata, plan: Protection, look: Look = PLAIN) -> Figure:
    """Draw the counts of a column before and after PRAM, and how sure the corrected counts are.

    Parameters
    ----------
    data : Microdata
        The table.
    plan : Protection
        With a column and a matrix for PRAM.
    look : Look, default PLAIN
        Dark or light, and the size.
    """
    one = plan.randomised(data)
    frame = one.frame()
    shown = frame.sort_values("count", ascending=False, kind="stable").head(MOST_BARS).sort_index()
    names = shown["category"].tolist()
    parts = [
        series("true", names, shown["count"], mark="bar"),
        _bars("released, expected", names, shown["expected"].to_numpy(), shown["sd_released"].to_numpy()),
    ]
    if one.correctable:
        parts.append(_bars("corrected", names, shown["count"].to_numpy(), shown["sd_corrected"].to_numpy()))
    left_out = len(frame) - len(shown)
    notes = [
        "Bars of the released and corrected counts reach two standard deviations of one release to both sides.",
        *([f"Left out: {left_out} categories with fewer records; the table has them."] if left_out else []),
        *([] if one.correctable else ["The matrix has no inverse, so released counts cannot be corrected."]),
    ]
    picture = Plot(
        f"PRAM on {one.column.name}", _pram_words(one), together(*parts), one.column.name, "records", notes=tuple(notes)
    )
    return lab_figure(picture, look)


def _bars(name: str, x: list[str], y: FloatArray, spread: FloatArray) -> pd.DataFrame:
    return series(name, x, y, mark="bar", low=y - 2 * spread, high=y + 2 * spread)


def _pram_words(one: Pram) -> str:
    epsilon = one.channel.epsilon
    privacy = (
        "no local privacy, because some answers cannot come from others"
        if epsilon == np.inf
        else f"local privacy with ε at most {outward(epsilon, 4)}"
    )
    worst = int(np.argmax(np.abs(one.bias)))
    words = f"This is {privacy}. Uncorrected, the count of {one.channel.letters[worst]!r} is off by {nearest(one.bias[worst], 3)} on average"
    if not one.correctable:
        return words + "."
    spread = float(np.sqrt(np.max(np.diag(one.corrected_covariance))))
    return f"{words}; corrected, every count is right on average, with a standard deviation of at most {outward(spread, 3)}."


def noise_figure(data: Microdata, plan: Protection, look: Look = PLAIN) -> Figure:
    """Draw how many records are near each value of a column, before and after its noise.

    Parameters
    ----------
    data : Microdata
        The table.
    plan : Protection
        With noise on a column; of several, the first.
    look : Look, default PLAIN
        Dark or light, and the size.
    """
    if not plan.noises:
        msg = "This picture needs noise on a column of numbers, such as age:2.5."
        raise DomainError(msg)
    one = plan.noises[0]
    values = plan.coarse(data).numbers(one.column)
    picture = _near(one, values) if one.method == METHODS[0] else _bins(one, values)
    return lab_figure(picture, look)


def _near(one: ColumnNoise, values: FloatArray) -> Plot:
    radius, k = 2.0 * one.size, one.group(values)
    places = np.linspace(values.min(), values.max(), _POINTS) if values.min() < values.max() else values[:1]
    frame = together(
        series("noisy records, expected", places, noise.expected_near(places, values, one.size, radius)),
        series("true records", places, noise.near(places, values, radius).astype(float)),
    )
    error = one.errors(values)
    says = (
        f"Around every value between the least and the largest there are at least {grouped(k)} records within {nearest(radius)}; "
        f"noise in [-{nearest(one.size)}, {nearest(one.size)}] adds no bias and a root mean squared error of {nearest(error.rmse, 4)}."
    )
    notes = ("Isolated values stay isolated: a count of neighbours promises nothing about one record.",)
    return Plot(f"k-noise on {one.column}", says, frame, one.column, f"records within {nearest(radius)}", notes=notes)


def _bins(one: ColumnNoise, values: FloatArray) -> Plot:
    low, _ = noise.bins_of(values, one.size, one.start)
    starts, counts = np.unique(low, return_counts=True)
    error = one.errors(values)
    says = (
        f"Every value is drawn again within its bin of {nearest(one.size)}; the emptiest bin has {grouped(int(counts.min()))} "
        f"record{'s' * (int(counts.min()) != 1)}. The root mean squared error is {nearest(error.rmse, 4)}."
    )
    notes = ("The bin of a record is released as it is: nothing hides it.",)
    middles = starts + one.size / 2
    frame = series("records, the same before and after", middles, counts.astype(float), mark="point")
    return Plot(f"k-PRAM on {one.column}", says, frame, f"{one.column}, middle of the bin", "records", notes=notes)


def protection_region_figure(plan: Protection, shift: float = 1.0, look: Look = PLAIN) -> Figure:
    """Draw what one released value tells about the true one, for each method that has a region.

    Parameters
    ----------
    plan : Protection
        With PRAM or noise.
    shift : float, default 1
        Two numbers this far apart are to be told apart.
    look : Look, default PLAIN
        Dark or light, and the size.
    """
    shapes = plan.regions(shift)
    if not shapes:
        raise DomainError(NO_REGION)
    statements = plan.statements(shift)
    words = [
        f"{row['method']} on {row['column']} is {_loss(row['epsilon'], row['delta'])}"
        for row in statements.to_dict("records")
    ]
    picture = Regions("What one released value reveals", "; ".join(words) + ".", shapes, notes=(NO_REGION,))
    return lab_figure(picture, look)


def _loss(epsilon: float, delta: float) -> str:
    if np.isinf(epsilon) or delta >= 1.0:
        return "no protection between some values"
    if epsilon == 0.0 and delta == 0.0:
        return "perfect protection"
    return f"({outward(epsilon, 4)}, {outward(delta, 4)})-private for one value"

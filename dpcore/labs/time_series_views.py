"""The pictures of the time-series lab: Figures 6.1 to 6.5 with every column, and what lies behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.numerals import nearest
from dpcore.labs.base import Plot, Regions, series, together
from dpcore.labs.time_series import code_first, code_last, many, pair
from dpcore.regions.guarantees import DP
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from dpcore.labs.time_series import Autoregression

    Make = Callable[[list[list[float]], float], Autoregression]  # matrix and rho to a series with the lab's noise

PROGRAM, PRINTED, CORRECTED, EXACT = "drawn by the printed program", "formula as printed", "formula corrected", "exact"
COLUMN_ONE: Final = [[1.0, 0.0], [1.0, 0.5]]  # Figure 6.1 needs its first column only
MATRICES: Final = {"figure_6_2": [[0.5, 0.1], [0.0, 0.5]], "figure_6_3": [[0.9, 0.5], [0.0, 0.9]]}
RHO: Final = [round(x, 1) for x in np.linspace(-1.0, 1.0, 21).tolist()]
DIAGONAL: Final = [round(x, 1) for x in np.linspace(0.1, 0.9, 9).tolist()]
CORNER = 0.5
SIZES: Final = (1, 2, 3, 5, 8, 12, 20, 35, 60, 100, 150)
STRICT = 1e-5
PRIORS: Final = [float(10**x) for x in np.linspace(-2, 4, 37)]
SMALL_PRINT = "Program and text disagree: the program takes the sensitivity of the mean as 1 and ln 1.25, the text 1/2 and ln 1.26."


def bound_kind(corrected: list[float], exact: list[float]) -> str:
    """Return upper if the corrected values are at least the exact ones, approximate otherwise.

    The classical theorem is proved for epsilon below 1 only, so it is checked where it is used.
    """
    return "upper" if all(c >= e for c, e in zip(corrected, exact, strict=True)) else "approximate"


def four(
    name: str, x: list[float], models: list[Autoregression], scenario: tuple[str, str], columns: dict[str, list[float]]
) -> pd.DataFrame:
    """Return printed columns with the corrected and the exact one; `name` goes in front of each series."""
    attack, knowledge = scenario
    corrected, exact = [], []
    for at, model in enumerate(models):
        checkpoint(at / len(models))
        epsilon, delta = model.corrected(attack, knowledge)
        corrected.append(epsilon)
        exact.append(model.region(attack, knowledge).epsilon(delta))
    parts = [series(name + label, x, values, kind="printed") for label, values in columns.items()]
    parts.append(series(name + CORRECTED, x, corrected, kind=bound_kind(corrected, exact)))
    parts.append(series(name + EXACT, x, exact))
    return together(*parts)


def _ends(frame: pd.DataFrame, label: str) -> str:
    """Return the least and largest value of a series as a range in words."""
    y = frame.loc[frame["series"] == label, "y"]
    return f"{nearest(y.min(), 3)} to {nearest(y.max(), 3)}"


def first_record(make: Make) -> Plot:
    """Return Figure 6.1: the leak of a record at time 1 through the second release."""
    models = [make(COLUMN_ONE, rho) for rho in RHO]
    delta = models[0].delta[1]
    columns = {
        PROGRAM: [code_first(rho, delta) for rho in RHO],
        PRINTED: [model.printed_first() for model in models],
    }
    frame = four("", RHO, models, ("A1", "N2"), columns)
    says = (
        f"The program's curve runs over {_ends(frame, PROGRAM)}; from it the source reads, at ε = 1, that ε2' stays below 1. Its "
        f"own formula gives {_ends(frame, PRINTED)}, the corrected one {_ends(frame, CORRECTED)}; at δ = {nearest(delta)} the smallest ε "
        f"is {_ends(frame, EXACT)}."
    )
    return Plot(
        "What the second release tells about a record at time 1",
        says,
        frame,
        "correlation of the innovations, ρ",
        "ε at the same δ",
        reference={"claimed never to be exceeded": 1.0},
        notes=(
            "a11 = a21 = 1, two records, as in the source; ε, δ and range from the form.",
            "The program multiplies by the logarithm where formula (6.6) divides; ε = 1 and range 1 are written into it.",
        ),
    )


def last_record(view: str, make: Make) -> Plot:
    """Return Figure 6.2 or 6.3: the leak of a record at time 2 through the first release."""
    matrix = MATRICES[view]
    models = [make(matrix, rho) for rho in RHO]
    frame = four("", RHO, models, ("A2", "N1"), _last_columns(models))
    says = (
        f"With A = [[{nearest(matrix[0][0])}, {nearest(matrix[0][1])}], [0, {nearest(matrix[1][1])}]] the program draws {_ends(frame, PROGRAM)}; "
        f"the formula as printed gives {_ends(frame, PRINTED)}, corrected {_ends(frame, CORRECTED)}, and the smallest ε at "
        f"δ = {nearest(models[0].delta[0])} is {_ends(frame, EXACT)}."
    )
    return Plot(
        "What the first release tells about a record at time 2",
        says,
        frame,
        "correlation of the innovations, ρ",
        "ε at the same δ",
        reference={"said not to be exceeded": 1.0},
        notes=(SMALL_PRINT, "Corrected and exact assume a flat prior for time 1; the view 'prior' shows others."),
    )


def _last_columns(models: list[Autoregression]) -> dict[str, list[float]]:
    """Return the program's and the printed column of the A2+N1 figures."""
    program = []
    for model in models:
        weights, variance = model.backward()
        program.append(code_last(abs(float(weights[0])) / model.n, variance, model.n, model.delta[0]))
    return {PROGRAM: program, PRINTED: [model.printed_last() for model in models]}


def diagonal(view: str, make: Make) -> Plot:
    """Return Figure 6.4 (equal diagonal) or 6.5 (a22 = 1 - a11) against the sensitivity 1 / (2 a11)."""
    opposed = view == "figure_6_5"
    parts, tops = [], []
    for rho in (-1.0, 0.0, 1.0):
        models = [make([[a, CORNER], [0.0, round(1 - a, 1) if opposed else a]], rho) for a in DIAGONAL]
        x = [0.5 / a for a in DIAGONAL]
        part = four(f"ρ = {nearest(rho)}, ", x, models, ("A2", "N1"), {PROGRAM: _last_columns(models)[PROGRAM]})
        largest = part.groupby("series", sort=False)["y"].max().to_list()
        tops.append(
            f"{nearest(largest[0], 3)}, {nearest(largest[1], 3)} and {nearest(largest[2], 3)} for ρ = {nearest(rho)}"
        )
        parts.append(part[~part["series"].str.endswith(EXACT)])
    says = (
        "Largest values as drawn by the program, corrected, and exactly at "
        f"δ = {nearest(models[0].delta[0])}: {'; '.join(tops)}. The release was made for ε = {nearest(models[0].epsilon[0])}."
    )
    return Plot(
        "The leak against the sensitivity, a22 = 1 - a11" if opposed else "The leak against the sensitivity, a11 = a22",
        says,
        together(*parts),
        "sensitivity Δg = 1 / (2 a11)",
        "ε at the same δ",
        log_x=True,
        notes=(
            SMALL_PRINT,
            "a12 = 0.5 as in the text; the program has 0.7, and the text's remarks fit 0.5.",
            "Exact curves are left out for clarity; their largest values are in the sentence above.",
        ),
    )


def sizes(own: float, epsilon: float, delta: float, reach: float) -> Plot:
    """Return the true delta at the printed epsilon2' over the claimed one, as the number of records grows."""
    parts, worst = [], (0.0, 1, delta)
    deltas = tuple(dict.fromkeys((delta, STRICT)))
    for at, claimed in enumerate(deltas):
        ratios = []
        for i, n in enumerate(SIZES):
            checkpoint((at + i / len(SIZES)) / len(deltas))
            model = many(n, own, epsilon=epsilon, delta=claimed, reach=reach)
            true = model.region("A1", "N2").delta_bounds(model.printed_first())[0]
            ratios.append(max(float(np.ravel(true)[0]) / claimed, 1e-12))
        parts.append(series(f"claimed δ = {nearest(claimed)}", SIZES, ratios, kind="lower"))
        top = int(np.argmax(ratios))
        worst = max(worst, (ratios[top], SIZES[top], claimed))
    says = (
        f"With {worst[1]} records and a claimed δ of {nearest(worst[2])} the true δ is at least {outward(worst[0], 3, up=False)} "
        "times the claimed one."
    )
    return Plot(
        "Dividing by n where n² belongs",
        says,
        together(*parts),
        "number of records, n",
        "true δ over claimed δ",
        log_x=True,
        log_y=True,
        reference={"claim just kept": 1.0},
        notes=(
            f"Theorem 6.3.5; every record follows its own past with factor {nearest(own)}, independent innovations of variance 1.",
            "Ratios below 1e-12 are drawn at 1e-12.",
        ),
    )


def priors(model: Autoregression) -> Plot:
    """Return the A2+N1 leak as the prior of time 1 widens."""
    corrected, exact = [], []
    for at, prior in enumerate(PRIORS):
        checkpoint(at / len(PRIORS))
        epsilon, delta = model.corrected("A2", "N1", prior)
        corrected.append(epsilon)
        exact.append(model.region("A2", "N1", prior).epsilon(delta))
    flat = model.corrected("A2", "N1")[0] if model.invertible else None
    kind = bound_kind(corrected, exact)
    frame = together(series(CORRECTED, PRIORS, corrected, kind=kind), series(EXACT, PRIORS, exact))
    limit = f"; the flat prior the source assumes gives {nearest(flat, 4)}" if flat is not None else ""
    says = (
        f"The corrected ε1' is {nearest(corrected[0], 3)} with a prior variance of {nearest(PRIORS[0])} and {nearest(corrected[-1], 4)} with one of "
        f"{nearest(PRIORS[-1])}{limit}."
    )
    return Plot(
        "Learning about time 2 from time 1 depends on the prior",
        says,
        frame,
        "prior variance of a record at time 1, τ²",
        "ε at the same δ",
        log_x=True,
        reference={} if flat is None else {"flat prior": flat},
        notes=("The later value depends on its own innovation, so a statement without a prior is a limit only.",),
    )


def regions(model: Autoregression) -> Regions:
    """Return the exact regions for a record at time 1 beside the printed claim."""
    epsilon, delta = model.printed_first() + model.epsilon[0], (model.printed("A1", "N3") or (0.0, 0.0))[1]
    shapes = {
        "first release only": model.region("A1", "N1"),
        "second release only": model.region("A1", "N2"),
        "both releases": model.region("A1", "N3"),
        "all records, both releases": model.region("A3", "N3"),
        "printed for both releases": DP(epsilon, min(1.0, delta)),
    }
    true = float(np.ravel(shapes["both releases"].delta_bounds(epsilon)[1])[0])
    says = (
        f"Both releases are exactly Gaussian with μ = {nearest(model.mu('A1', 'N3'), 4)}. Printed is ({nearest(epsilon, 4)}, {nearest(delta, 4)}); "
        f"at that ε the true δ is at most {outward(true, 3)}."
    )
    return Regions("What both releases tell about a record at time 1", says, shapes)


def model_of(
    epsilon: tuple[float, float], delta: float, reach: float
) -> Callable[[list[list[float]], float], Autoregression]:
    """Return a function that makes two-record series with this noise."""

    def make(matrix: list[list[float]], rho: float) -> Autoregression:
        return pair(matrix, rho, epsilon=epsilon, delta=(delta, delta), reach=reach)

    return make

"""Charts of amplification by sampling: regions before and after, and what many steps give away."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.charts.figure import Figure
from dpcore.charts.ladder import ladder_figure
from dpcore.charts.regions import region_chart
from dpcore.charts.sampling import sample
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.charts.utility import utility_chart, utility_table
from dpcore.core.kinds import EXACT, WORDS
from dpcore.training import form_table
from dpcore.training.gradients import ACCOUNTANT, CERTIFIED, RENYI, TITLES
from dpcore.words import about, grouped, of_100

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.training import Form


def forms_takeaway(found: Sequence[Form], fpr: float = 0.05) -> str:
    """Say what the best attacker finds before and after sampling, and what a single statement would allow."""
    by_name = {form.name: form for form in found}
    said = {name: of_100(float(form.region.power(fpr))) for name, form in by_name.items()}
    whole, stated, plain = (by_name[name] for name in ("region", "dptv", "dp"))
    words = (
        f"An attacker who wrongly accuses {of_100(fpr, up=False)} people outside the data finds at most {said['before']} people inside "
        f"it before sampling ({WORDS[by_name['before'].kind]}) and {said['region']} after it ({WORDS[whole.kind]})."
    )
    if stated.kind == EXACT:
        more = "" if plain.kind == EXACT else f"; by (ε, δ) alone it would be {said['dp']} (upper bound)"
        return f"{words} The statement (ε, δ, η) says exactly that{more}."
    return f"{words} Known by (ε, δ, η) alone it would be {said['dptv']}, by (ε, δ) alone {said['dp']} (upper bounds)."


def forms_figure(found: Sequence[Form], *, log: bool = False, look: Look = PLAIN) -> Figure:
    """Return the region before sampling and every form of what holds after it.

    Parameters
    ----------
    found : what `dpcore.training.sampling` returns.
    log : both axes logarithmic down to 1e-12, lines only.
    """
    parts = []
    for form in found:
        points = sample(form.region, form.title)
        parts.append(points.assign(kind="lower") if form.kind != EXACT else points)
    points = pd.concat(parts, ignore_index=True)
    takeaway = forms_takeaway(found, 1e-6 if log else 0.05)
    chart = region_chart(points, log=log, filled=not log, look=described(look, takeaway))
    return Figure(chart, form_table(found), takeaway, look.title or "Before and after sampling")


# ---- many steps ----------------------------------------------------------------------------------------------


def rate_figure(rows: pd.DataFrame, *, fpr: float = 1e-6, look: Look = PLAIN) -> Figure:
    """Return true-positive rates against false-positive rates, both logarithmic: certified, bounded and approximated.

    Parameters
    ----------
    rows : what `dpcore.training.rates` returns.
    fpr : the false-positive rate the sentence speaks of, the nearest one in the table.
    """
    series = {
        "certified": ("tpr", "upper bound"),
        "Rényi": ("renyi", "upper bound"),
        "CLT": ("clt", "approximation"),
        "blind guessing": ("fpr", "exact"),
    }
    parts = [
        pd.DataFrame({"parameter": rows["fpr"], "value": rows[column], "kind": kind, "series": name})
        for name, (column, kind) in series.items()
    ]
    drawn = pd.concat(parts, ignore_index=True)
    drawn = utility_table(drawn.assign(low=drawn["value"], high=drawn["value"]))
    at = rows.iloc[int(np.argmin(np.abs(np.log(rows["fpr"] / fpr))))]
    takeaway = (
        f"An attacker who wrongly accuses {of_100(float(at['fpr']))} people outside the data finds at most "
        f"{of_100(float(at['tpr']))} people inside it (upper bound), by Rényi at most {of_100(float(at['renyi']))}; the CLT "
        f"says {about(float(at['clt']))} (approximation, {at['verdict']})."
    )
    chart = utility_chart(
        drawn,
        parameter="False positives (outside the data, accused)",
        value="Found of those inside",
        look=described(look, takeaway),
    )
    return Figure(chart, rows, takeaway, look.title or "Low false-positive rates")


def steps_figure(frame: pd.DataFrame, *, delta: float, steps: int | None = None, look: Look = PLAIN) -> Figure:
    """Return epsilon against the number of steps, a line per way.

    Parameters
    ----------
    frame : what `dpcore.training.gradient_ladder` returns.
    delta : the delta it was asked at.
    steps : the number of steps chosen at the moment, drawn as a dotted line.
    """
    shown = [TITLES[name] for name in (CERTIFIED, RENYI, ACCOUNTANT)]
    figure = ladder_figure(frame, delta=delta, k=steps, titles=shown, look=look)
    takeaway = figure.takeaway.replace("k = ", "T = ")
    chart = figure.chart.copy(deep=True)
    for layer in chart.layer:
        layer.encoding.x.title = "Number of steps T"
    chart.description = look.description or takeaway
    missing = frame.loc[frame["kind"] == "none", "k"]
    silent = f"Not certified within the operations allowed: T = {', '.join(grouped(int(n)) for n in missing)}."
    notes = (*figure.notes, silent) if len(missing) else figure.notes
    return replace(figure, chart=chart, takeaway=takeaway, title=look.title or "ε as T grows", notes=notes)

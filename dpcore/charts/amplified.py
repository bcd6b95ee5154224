"""Charts of amplification by sampling: regions before and after, and what many steps give away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.charts.figure import Figure
from dpcore.charts.ladder import ladder_chart
from dpcore.charts.regions import region_chart
from dpcore.charts.sampling import sample
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.charts.utility import utility_chart, utility_table
from dpcore.core.kinds import EXACT, WORDS
from dpcore.training import form_table
from dpcore.training.gradients import ACCOUNTANT, COMPOSED, RENYI, TITLES
from dpcore.words import about, grouped, of_100, outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.training import Form

STEPS = "Number of steps T"
_MOST_NAMED = 4  # numbers of steps in a sentence


def forms_takeaway(forms: Sequence[Form], fpr: float = 0.05) -> str:
    """Say what the best attacker finds before and after sampling, and what each statement alone would allow."""
    by_name = {form.name: form for form in forms}
    powers = {name: of_100(float(form.region.power(fpr))) for name, form in by_name.items()}
    whole, stated, plain = (by_name[name] for name in ("region", "dptv", "dp"))
    words = (
        f"An attacker who wrongly accuses {of_100(fpr, up=False)} people outside the data finds at most {powers['before']} people inside "
        f"it before sampling ({WORDS[by_name['before'].kind]}) and {powers['region']} after it ({WORDS[whole.kind]})."
    )
    if stated.kind == EXACT:
        more = "" if plain.kind == EXACT else f"; from (ε, δ) alone it would be {powers['dp']} (upper bound)"
        return f"{words} The statement (ε, δ, η) says exactly that{more}."
    return (
        f"{words} From (ε, δ, η) alone it would be {powers['dptv']}, from (ε, δ) alone {powers['dp']} (upper bounds)."
    )


def forms_figure(forms: Sequence[Form], *, log: bool = False, look: Look = PLAIN) -> Figure:
    """Return the region before sampling and every form of what holds after it.

    Parameters
    ----------
    forms : sequence of Form
        What `dpcore.training.sampling` returns.
    log : bool, default False
        Both axes logarithmic down to 1e-12, lines only.
    look : Look, default PLAIN
        Size, title and colours.
    """
    parts = [sample(form.region, form.title, kind=None if form.kind == EXACT else "lower") for form in forms]
    points = pd.concat(parts, ignore_index=True)
    takeaway = forms_takeaway(forms, 1e-6 if log else 0.05)
    chart = region_chart(points, log=log, filled=not log, look=described(look, takeaway))
    return Figure(chart, form_table(forms), takeaway, look.title or "Before and after sampling")


# ---- many steps ----------------------------------------------------------------------------------------------


def rate_figure(rows: pd.DataFrame, *, fpr: float = 1e-6, look: Look = PLAIN) -> Figure:
    """Return true-positive rates against false-positive rates, both logarithmic: certified, bounded and approximated.

    Parameters
    ----------
    rows : DataFrame
        What `dpcore.training.rates` or `dpcore.training.step_rates` returns.
    fpr : float, default 1e-6
        The false-positive rate of the sentence; the nearest one in the table is used.
    look : Look, default PLAIN
        Size, title and colours.
    """
    series = {
        "dpcore": ("tpr", "upper bound"),
        "Rényi": ("renyi", "upper bound"),
        "CLT": ("clt", "approximation"),
        "blind guessing": ("fpr", "exact"),
    }
    parts = [
        pd.DataFrame({"parameter": rows["fpr"], "value": rows[column], "kind": kind, "series": name})
        for name, (column, kind) in series.items()
        if column in rows
    ]
    points = pd.concat(parts, ignore_index=True)
    points = utility_table(points.assign(low=points["value"], high=points["value"]))
    at = rows.iloc[int(np.argmin(np.abs(np.log(rows["fpr"] / fpr))))]
    takeaway = (
        f"An attacker who wrongly accuses {of_100(float(at['fpr']))} people outside the data finds at most "
        f"{of_100(float(at['tpr']))} people inside it (upper bound)"
    )
    if "renyi" in rows:
        takeaway += f", by Rényi at most {of_100(float(at['renyi']))}; the CLT says {about(float(at['clt']))} (approximation, {at['verdict']})"
    takeaway += "."
    chart = utility_chart(
        points,
        parameter="False positives (outside the data, accused)",
        value="True positives (inside the data, found)",
        look=described(look, takeaway),
    )
    return Figure(chart, rows, takeaway, look.title or "Low false-positive rates")


def steps_figure(
    frame: pd.DataFrame, *, delta: float, steps: int | None = None, counts: str = STEPS, look: Look = PLAIN
) -> Figure:
    """Return epsilon against the number of steps, one line per accountant.

    Parameters
    ----------
    frame : DataFrame
        What `dpcore.training.gradient_ladder` or `dpcore.training.step_ladder` returns.
    delta : float
        The delta of the frame.
    steps : int, optional
        The current number of steps, drawn as a dotted line.
    counts : str, default STEPS
        What is counted, the title of the axis.
    look : Look, default PLAIN
        Size, title and colours.
    """
    titles = [title for name in (COMPOSED, RENYI, ACCOUNTANT) if (title := TITLES[name]) in set(frame["title"])]
    rows = frame[frame["title"].isin(titles)]
    takeaway = steps_takeaway(frame, delta=delta)
    chart = ladder_chart(rows, k=steps, titles=titles, counts=counts, look=described(look, takeaway))
    missing = rows[~np.isfinite(rows["epsilon"])].groupby("title", sort=False)
    notes = tuple(
        f"Not drawn: {title} at T = {', '.join(map(grouped, some['k']))}. "
        f"{'That takes more operations than are allowed.' if 'none' in set(some['kind']) else some['note'].iloc[0]}"
        for title, some in missing
    )
    return Figure(chart, frame, takeaway, look.title or "ε as T grows", notes)


def steps_takeaway(frame: pd.DataFrame, *, delta: float) -> str:
    """Say the certified epsilon of a few numbers of steps."""
    rows = frame[(frame["theorem"] == COMPOSED) & (frame["kind"] != "none")]
    at = f"At δ = {outward(delta, 6)},"
    if rows.empty:
        return f"{at} no ε is known for any T shown."
    tens = rows[rows["k"].astype(str).str.rstrip("0") == "1"]
    some = tens.iloc[::2] if len(tens) > 2 else rows.iloc[:: -(-len(rows) // _MOST_NAMED)]
    parts = [f"{outward(float(e), 3)} for T = {grouped(t)}" for t, e in zip(some["k"], some["epsilon"], strict=True)]
    listing = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    kind = EXACT if set(some["kind"]) == {EXACT} else "upper"
    return f"{at} ε is at most {listing} ({WORDS[kind]})."

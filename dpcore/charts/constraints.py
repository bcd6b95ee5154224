"""Several statements as pictures: one mechanism, k of them, the guess of the thesis, and the dominating pair."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series, checked, tooltips
from dpcore.charts.regions import region_figure
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.constraints import Conjecture, Constraints, Gap, conjectured, dominating_pair, gap
from dpcore.core.errors import DomainError
from dpcore.core.kinds import WORDS
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.words import best_power, grouped, of_100, outward

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

MOST_BARS = 120
P0, P1 = "not in the data (P0)", "in the data (P1)"


# ---- regions -------------------------------------------------------------------------------------------------


def constraint_regions(constraints: Constraints, k: int, guess: Conjecture) -> dict[str, TradeOff]:
    """Return the regions of one mechanism, of k by the exact theorem and of k by the guess of the thesis, by name."""
    if k == 1:
        return {"one mechanism": constraints.region, "guess for k = 1": guess.region}
    return {
        "one mechanism": constraints.region,
        f"k = {grouped(k)}, exact": constraints.composed(k),
        f"k = {grouped(k)}, guess": guess.region,
    }


def gap_sentence(distance: Gap, guess: Conjecture) -> str:
    """Say how far the guess is from the truth."""
    if distance.largest <= 1e-12:
        return "The guess of the thesis is right here: both borders are the same."
    part = "" if guess.kind == "exact" else f" It uses {grouped(guess.used)} of {grouped(guess.total)} products."
    return (
        f"The guess of the thesis is safe but too large: its border runs up to {outward(distance.largest, 3)} lower, at "
        f"false positives of {nearest(distance.alpha, 3)}, with an area of {outward(distance.area, 3)} between the two ({WORDS[distance.kind]}).{part}"
    )


def constraints_figure(constraints: Constraints, k: int, *, look: Look = PLAIN, **options: Any) -> Figure:
    """Return the regions of one and of k mechanisms with the guess of the thesis.

    Parameters
    ----------
    constraints, k : Constraints or int
        The statements that every mechanism satisfies, and the number of mechanisms.
    look : Look, default PLAIN
        Size, title and colours.
    options : object
        Those of `region_chart`.
    """
    guess = result(conjectured, constraints, k)
    regions = constraint_regions(constraints, k, guess)
    exact = list(regions)[0 if k == 1 else 1]
    distance = gap(regions[exact], guess)
    words = f"{_attack(constraints.region, regions[exact], k, guess)} {gap_sentence(distance, guess)}"
    figure = region_figure(regions, look=described(look, words), **options)
    return replace(figure, takeaway=words, title=look.title or "Several constraints")


def _attack(one: TradeOff, many: TradeOff, k: int, guess: Conjecture, fpr: float = 0.05) -> str:
    """Say what the best attacker finds from one mechanism, from k, and what the guess would say."""
    powers = [(name, *best_power(region, fpr)) for region, name in _sources(one, many, k)]
    same = len({what for _, _, what in powers}) == 1
    shares = [f"{of_100(power)} from {name}{'' if same else f' ({what})'}" for name, power, what in powers]
    kind = f" ({powers[0][2]})" if same else ""
    part = "" if guess.kind == "exact" else " (from some products only)"
    return (
        f"An attacker who wrongly accuses {of_100(fpr, up=False)} people outside the data finds, of the people inside it, at most "
        f"{' and '.join(shares)}{kind}; the guess of the thesis says {of_100(float(guess.region.power(fpr)))}{part}."
    )


def _sources(one: TradeOff, many: TradeOff, k: int) -> list[tuple[TradeOff, str]]:
    return [(one, "one mechanism"), *([(many, f"{grouped(k)} of them")] if k > 1 else [])]


# ---- the dominating pair -------------------------------------------------------------------------------------


def pair_takeaway(region: TradeOff) -> str:
    """Say how many kinds of answers the worst mechanism has, and how often one proves that a person is in the data."""
    table = dominating_pair(region)
    sure = float(table.loc[table["loss"] == np.inf, "q"].sum())
    finite = table.loc[np.isfinite(table["loss"]), "loss"]
    if finite.empty:
        return "The worst mechanism gives every person away: the statements promise nothing."
    often = (
        f"infinite, which proves that the person is in the data, in {of_100(sure)} answers"
        if sure
        else "never infinite"
    )
    return (
        f"The worst mechanism that the statements allow has {len(table)} kinds of answers; its loss is at most "
        f"{outward(float(finite.max()), 4)} where finite, and {often} (exact)."
    )


def pair_figure(region: TradeOff, *, look: Look = PLAIN) -> Figure:
    """Return the probabilities of the dominating pair by loss, as bars."""
    table = dominating_pair(region)
    if len(table) > MOST_BARS:
        msg = f"The pair has {len(table)} losses; at most {MOST_BARS} are drawn."
        raise DomainError(msg)
    takeaway = pair_takeaway(region)
    return Figure(pair_chart(table, look=described(look, takeaway)), table, takeaway, look.title or "Dominating pair")


def pair_chart(table: pd.DataFrame, *, look: Look = PLAIN) -> alt.LayerChart:
    """Draw two bars per loss: how likely such an answer is without and with the person's data."""
    series = Series([P0, P1], dark=look.dark)
    labels = [nearest(loss, 4).replace("inf", "∞").replace("-", "−") for loss in table["loss"]]
    rows = pd.concat(
        [
            pd.DataFrame({"loss_label": labels, "label": name, "mass": table[column].to_numpy()})
            for name, column in ((P0, "p"), (P1, "q"))
        ],
        ignore_index=True,
    )
    rows = rows.assign(
        mass_text=[nearest(v) for v in rows["mass"]],
        edge=rows["label"].map(series.paint()),
    )
    x = alt.X("loss_label:N", title="Loss (log likelihood ratio)", sort=labels, axis=alt.Axis(labelAngle=0))
    y = alt.Y("mass:Q", title="Probability", axis=alt.Axis(tickCount=5), scale=alt.Scale(zero=True))
    names = {"loss_label": "loss", "label": "person", "mass_text": "probability (exact)"}
    legend = alt.Legend(title=None, orient="bottom", symbolType="square", labelLimit=300, columns=2)
    scale = alt.Scale(domain=[P0, P1], range=[series.fills()[P0], series.paint()[P1]])
    bars = alt.Chart(checked(rows)).encode(x=x, xOffset=alt.XOffset("label:N", sort=[P0, P1]), y=y)
    layers = [
        bars.mark_bar(aria=False, strokeWidth=1.5).encode(
            fill=alt.Fill("label:N", title=None, scale=scale, legend=legend),
            stroke=alt.Stroke("edge:N", scale=None),
            tooltip=tooltips(names),
        )
    ]
    return theme.finish(layers, look, words="Probabilities of the dominating pair by loss.", height=300)

"""A ledger as pictures: each theorem beside the budget, the cost of each row, and what privacy filters allow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, checked, not_drawn, rounded_up, tooltips
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.errors import DomainError
from dpcore.core.kinds import WORDS, labelled
from dpcore.core.numerals import nearest
from dpcore.theorems.composition.verdict import best
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from dpcore.ledger.budget import Budget, Spending

MOST_BARS = 20
WITHIN, OVER, GUESS = "within the budget", "over the budget", "an approximation, no promise"
_CUT = 2.0  # the axis ends at this many budgets; longer bars are cut and say so


# ---- the budget ----------------------------------------------------------------------------------------------


def budget_figure(rows: pd.DataFrame, spending: Spending, *, look: Look = PLAIN) -> Figure:
    """Return the budget chart: epsilon of the ledger by each theorem, beside what may be spent.

    Parameters
    ----------
    rows : DataFrame
        What `dpcore.ledger.theorems` returned at the delta of the budget.
    spending : Spending
        What `dpcore.ledger.spending` returned.
    look : Look, default PLAIN
        Size, title and colours.
    """
    takeaway = budget_takeaway(rows, spending)
    budget = spending.budget
    table = labelled(rows.assign(budget=budget.epsilon, fits=[_fits(row, budget) for _, row in rows.iterrows()]))
    bars = table[(table["kind"] != "none") & np.isfinite(table["epsilon"])].sort_values("epsilon", kind="stable")
    chart = _budget_chart(bars, budget, look=described(look, takeaway))
    return Figure(chart, table, takeaway, look.title or "Budget", _silences(rows))


def budget_takeaway(rows: pd.DataFrame, spending: Spending) -> str:
    """Say what is spent by the best theorem, and what the basic one gives."""
    basic = rows[(rows["theorem"] == "basic") & (rows["epsilon"] < math.inf)]
    sum_ = (
        f" Adding up would give {grouped(outward(float(basic['epsilon'].iloc[0]), 4))} (upper bound)."
        if len(basic)
        else ""
    )
    top = best(rows)
    if top is not None and float(top["epsilon"]) < spending.spent:
        name = f"{top['title']} says ε ≤ {grouped(outward(float(top['epsilon']), 4))} ({WORDS[str(top['kind'])]})."
        return f"{spending.words} {name}{sum_}"
    return spending.words + sum_


def _fits(row: pd.Series, budget: Budget) -> str:
    if row["kind"] == "none":
        return "says nothing"
    if row["kind"] == "approximate":
        return GUESS
    return WITHIN if row["epsilon"] <= budget.epsilon else OVER


def _silences(rows: pd.DataFrame) -> tuple[str, ...]:
    """Say which theorems have no bar; each reason is given once."""
    silent = rows[~np.isfinite(rows["epsilon"])]
    return not_drawn(zip(silent["note"].astype(str), silent["title"].astype(str), strict=True))


def _budget_chart(rows: pd.DataFrame, budget: Budget, *, look: Look) -> alt.LayerChart:
    """Draw a bar per theorem, shortest first, and a line at the budget; very long bars are cut."""
    longest = float(rows["epsilon"].max()) if len(rows) else 0.0
    least = float(rows["epsilon"].min()) if len(rows) else 0.0
    end = min(longest, max(_CUT * budget.epsilon, 1.5 * least)) * 1.04 or budget.epsilon or 1.0
    end = max(end, 1.1 * budget.epsilon)
    paints = {
        WITHIN: theme.colour(0, dark=look.dark),
        OVER: theme.colour(1, dark=look.dark),
        GUESS: theme.quiet(dark=look.dark),
    }
    shares = {WITHIN: 0.5, OVER: 0.5, GUESS: 0.12}
    bars = pd.DataFrame(
        {
            "title": rows["title"],
            "length": np.minimum(rows["epsilon"], end),
            "start": 0.0,
            "state": rows["fits"],
            "paint": rows["fits"].map(paints),
            "fill": [theme.pale(paints[state], dark=look.dark, share=shares[state]) for state in rows["fits"]],
            "words": [_words(row, end) for _, row in rows.iterrows()],
            "kind": rows["kind"].map(WORDS),
            "dash": [[3, 3] if state == GUESS else [1, 0] for state in rows["fits"]],
        }
    )
    scale, axis = alt.Scale(domain=[0, end], nice=False), alt.Axis(tickCount=6)
    x = alt.X("length:Q", title="ε of the whole ledger", scale=scale, axis=axis)
    y = alt.Y("title:N", title=None, sort=list(rows["title"]), axis=alt.Axis(labelLimit=150, minExtent=90))
    tips = {"title": "theorem", "words": "ε", "kind": "ε is", "state": "it is"}
    base = alt.Chart(checked(bars)).encode(y=y)
    words = base.encode(x=alt.XDatum(0), text=alt.Text("words:N"))
    place: dict[str, Any] = {"align": "left", "dx": 6, "aria": False, "fontSize": theme.SMALL}
    layers = [
        base.mark_bar(aria=False, height=16, strokeWidth=1.5).encode(
            x=x,
            x2=alt.X2("start:Q"),
            fill=alt.Fill("fill:N", scale=None),
            stroke=alt.Stroke("paint:N", scale=None),
            strokeDash=alt.StrokeDash("dash:N", scale=None),
            tooltip=tooltips(tips),
        ),
        *_budget_line(budget, x, left=budget.epsilon < 0.4 * end, dark=look.dark),
        words.mark_text(strokeWidth=4, **place).encode(stroke=alt.Stroke("fill:N", scale=None)),
        words.mark_text(color=theme.ink(dark=look.dark), **place),
    ]
    height = 60 + 26 * max(1, len(rows))
    return theme.finish(layers, look, words="ε by every theorem beside the budget.", height=height)


def _words(row: pd.Series, end: float) -> str:
    text = rounded_up(row["epsilon"], row["kind"], 4)
    if row["kind"] == "approximate":
        return text
    return text + (" (bar cut)" if row["epsilon"] > end else "") + (", over" if row["fits"] == OVER else "")


def _budget_line(budget: Budget, x: alt.X, *, left: bool, dark: bool) -> list[alt.Chart]:
    """Draw a line at the budget, with its name above the bars."""
    place = pd.DataFrame({"length": [budget.epsilon], "text": [f"budget ε = {nearest(budget.epsilon)}"]})
    ink = theme.ink(dark=dark)
    mark = alt.Chart(checked(place)).encode(x=x)
    return [
        mark.mark_rule(strokeWidth=2, strokeDash=[6, 3], color=ink, aria=False),
        mark.mark_text(
            align="left" if left else "right", dx=0 if left else -4, dy=-9, y=0, color=ink, aria=False
        ).encode(text=alt.Text("text:N")),
    ]


# ---- costs ---------------------------------------------------------------------------------------------------


def cost_takeaway(rows: pd.DataFrame) -> str:
    """Name the row that costs the most."""
    finite = rows[np.isfinite(rows["cost"])]
    if finite.empty:
        return "No row has a finite cost at this δ."
    top = finite.sort_values("cost", ascending=False, kind="stable").iloc[0]
    kind = WORDS[str(top["kind"])]
    alone = str(top["row"]).isdigit()  # otherwise it is a group of rows
    label, expression = theme.short(str(top["label"]), 40).strip(), theme.short(str(top["expression"]), 60)
    what = ": ".join(filter(None, (label, expression if alone else "")))
    name, rest = (f"row {top['row']} ({what})", "it") if alone else (f"rows {top['row']} ({what})", "them")
    free = int((finite["cost"] == 0).sum())
    more = f" {grouped(free)} {'row costs' if free == 1 else 'rows cost'} nothing." if free else ""
    return (
        f"The most is spent on {name}: without {rest} ε would be smaller by {outward(float(top['cost']), 3)} ({kind}). Costs do not "
        f"add up to ε.{more}"
    )


def cost_figure(rows: pd.DataFrame, *, look: Look = PLAIN) -> Figure:
    """Return what each row or group costs; `rows` is what `dpcore.ledger.costs` returned."""
    finite = rows[np.isfinite(rows["cost"])]
    if finite.empty:
        msg = "No row has a finite cost at this δ: there is nothing to draw."
        raise DomainError(msg)
    takeaway = cost_takeaway(rows)
    bars = finite.sort_values("cost", ascending=False, kind="stable").head(MOST_BARS)
    notes = []
    if len(finite) > len(bars):
        notes.append(f"The {MOST_BARS} most expensive of {grouped(len(rows))} rows are drawn; all are in the table.")
    if len(finite) < len(rows):
        notes.append("Rows without a finite cost are in the table only.")
    chart = _cost_chart(bars, look=described(look, takeaway))
    return Figure(chart, rows, takeaway, look.title or "Cost of each row", tuple(notes))


def _cost_chart(rows: pd.DataFrame, *, look: Look) -> alt.LayerChart:
    strong = theme.colour(0, dark=look.dark)
    names = [f"{row['row']}  {theme.short(str(row['label']), 28)}".strip() for _, row in rows.iterrows()]
    end = float(rows["cost"].max()) or 1.0
    bars = pd.DataFrame(
        {
            "name": names,
            "cost": rows["cost"].to_numpy(),
            "start": 0.0,
            "expression": [theme.short(str(text), 60) for text in rows["expression"]],
            "count": [grouped(int(count)) for count in rows["count"]],
            "words": [rounded_up(*pair, 3) for pair in zip(rows["cost"], rows["kind"], strict=True)],
            "kind": rows["kind"].map(WORDS).to_numpy(),
        }
    )
    scale, axis = alt.Scale(domain=[0, 1.04 * end], nice=False), alt.Axis(tickCount=6)
    x = alt.X("cost:Q", title="What it adds to ε", scale=scale, axis=axis)
    y = alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=150, minExtent=90))
    tips = {"name": "row", "expression": "release", "count": "count", "words": "cost", "kind": "the cost is"}
    base = alt.Chart(checked(bars)).encode(y=y)
    fill = theme.pale(strong, dark=look.dark, share=0.5)
    layers = [
        base.mark_bar(aria=False, height=16, strokeWidth=1.5, fill=fill, stroke=strong).encode(
            x=x, x2=alt.X2("start:Q"), tooltip=tooltips(tips)
        ),
        base.mark_text(align="left", dx=6, aria=False, fontSize=theme.SMALL, color=theme.ink(dark=look.dark)).encode(
            x=alt.XDatum(0), text=alt.Text("words:N")
        ),
    ]
    return theme.finish(layers, look, words="What each row adds to ε.", height=50 + 26 * len(rows))


# ---- filters -------------------------------------------------------------------------------------------------


def filter_figure(answers: pd.DataFrame, words: str, *, look: Look = PLAIN) -> Figure:
    """Return how much of its limit each privacy filter has spent.

    Parameters
    ----------
    answers : DataFrame
        What `dpcore.ledger.may_release` returned.
    words : str
        What `dpcore.ledger.may_words` says about it.
    look : Look, default PLAIN
        Size, title and colours.
    """
    bars = answers[np.isfinite(answers["cost"])]
    silent = answers[~np.isfinite(answers["cost"])]
    notes = not_drawn(zip(silent["note"].astype(str), silent["title"].astype(str), strict=True))
    if bars.empty:
        msg = " ".join((words, *notes))
        raise DomainError(msg)
    chart = _filter_chart(bars, look=described(look, words))
    return Figure(chart, answers, words, look.title or "Filters", notes)


def _filter_chart(rows: pd.DataFrame, *, look: Look) -> alt.LayerChart:
    """Draw a bar per filter, its limit at 100 %; longer bars are cut."""
    allowed, refused = theme.colour(0, dark=look.dark), theme.colour(1, dark=look.dark)
    paints = [allowed if may else refused for may in rows["may"]]
    shares = [_share(float(spent), float(limit)) for spent, limit in zip(rows["spent"], rows["limit"], strict=True)]
    bars = pd.DataFrame(
        {
            "title": rows["title"],
            "share": np.minimum(shares, 100 * _CUT),
            "start": 0.0,
            "paint": paints,
            "fill": [theme.pale(paint, dark=look.dark, share=0.5) for paint in paints],
            "words": [
                f"{row['unit']} {outward(float(row['spent']), 4)} of {outward(float(row['limit']), 4, up=False)}"
                + (" (bar cut)" if share > 100 * _CUT else "")
                for share, (_, row) in zip(shares, rows.iterrows(), strict=True)
            ],
            "cost": [f"{row['unit']} {outward(float(row['cost']), 3)}" for _, row in rows.iterrows()],
            "more": ["any number" if more < 0 else grouped(int(more)) for more in rows["more"]],
            "note": [text or "–" for text in rows["note"]],
        }
    )
    x = alt.X("share:Q", title="Spent, in % of the filter's limit", scale=alt.Scale(domain=[0, 104 * _CUT], nice=False))
    y = alt.Y("title:N", title=None, sort=list(rows["title"]), axis=alt.Axis(labelLimit=170, minExtent=90))
    tips = {"title": "filter", "words": "spent", "cost": "one more costs", "more": "more that fit", "note": "note"}
    base = alt.Chart(checked(bars)).encode(y=y)
    ink = theme.ink(dark=look.dark)
    layers = [
        base.mark_bar(aria=False, height=16, strokeWidth=1.5).encode(
            x=x,
            x2=alt.X2("start:Q"),
            fill=alt.Fill("fill:N", scale=None),
            stroke=alt.Stroke("paint:N", scale=None),
            tooltip=tooltips(tips),
        ),
        base.mark_text(align="left", dx=6, aria=False, fontSize=theme.SMALL, color=ink).encode(
            x=alt.XDatum(0), text=alt.Text("words:N")
        ),
        alt.Chart(checked(pd.DataFrame({"share": [100.0]})))
        .mark_rule(strokeWidth=2, strokeDash=[6, 3], color=ink, aria=False)
        .encode(x=x),
    ]
    return theme.finish(layers, look, words="What each filter has spent.", height=60 + 26 * len(rows))


def _share(spent: float, limit: float) -> float:
    """Return the per cent of a limit that are spent; of a limit of 0, all or nothing."""
    if limit > 0:
        return 100 * spent / limit
    return math.inf if spent > 0 else 100.0

"""The page Several constraints: its question, computed once, as specs of figures, tables and sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpcore.app import inputs, work
from dpcore.constraints import Constraints, ContainingProduct, Split, activity, conjectured, containing, corners, split
from dpcore.core.domains import COUNT
from dpcore.core.errors import DomainError
from dpcore.core.kinds import HEADINGS as KINDS
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.language.numbers import read_value
from dpcore.words import best_advantage, grouped, outward

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.regions.tradeoff import TradeOff

# session keys outlive a page, so no other page may use the same ones
DEFAULTS: dict[str, Any] = {
    "cons_list": "0.6, 0.05; 0, 0.2",
    "cons_k": "2",
    "cons_axes": "f-DP",
    "cons_split": "dp(0.2)^3 * dp(0.5, 0.01)",
    "cons_step": 1,
    "cons_m": 2,
}
MECHANISMS = COUNT.but(high=1000)
KS = inputs.round_values(0, 3)
SLIDERS = ("cons_k_slider",)
LONGEST = 2000
HEIGHT = 420
EPSILON, DELTA, STATUS = "ε", "δ", "status"
HEADINGS = {
    **KINDS,
    "statement": "Statement",
    "epsilon": EPSILON,
    "delta": DELTA,
    "status": "Status",
    "delta_of_others": "δ of the others",
    "by": "Implied by",
    "reason": "Why",
    "delta_of_guess": "δ of the guess",
    "note": "Note",
    "loss": "Loss",
    "step": "Step",
    "drop": "Drop",
    "weight": "Weight",
    "explained": "Explained",
    "excess": "Excess",
    "factor_epsilon": "ε of the factor",
    "copies": "Copies",
    "left_over": "Left over",
    "outcome": "Outcome",
    "start": "Start",
    "first_epsilons": "ε at the start",
    "factor_epsilons": "ε of the factors",
    "total_delta": "Total δ",
    "area_between": "Area between the borders",
}
"""Headings of the page's tables; p and q of the dominating pair are explained above theirs."""


# ---- the list and its compositions ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ConstraintsView:
    """The statements of each mechanism, how many mechanisms, and how they are drawn."""

    constraints: Constraints
    k: int
    axes: str = "fdp"

    @property
    def exact(self) -> TradeOff:
        """The exact region of k mechanisms."""
        return self.constraints.composed(self.k)

    def moved(self, held: Mapping[str, str]) -> ConstraintsView:
        """Return the view with the value of a slider that is held in place of that of its field."""
        if not held:
            return self
        return replace(self, k=int(read_value(MECHANISMS, held["cons_k_slider"], "Number of mechanisms k")))

    def spec(self) -> dict[str, Any]:
        """Return the spec of the regions: one mechanism, k by the exact theorem, k by the guess of the thesis."""
        return {"draw": "constraints", "statements": self.constraints.text, "k": self.k, "axes": self.axes}

    def pair_spec(self) -> dict[str, Any]:
        """Return the spec of the dominating pair of one mechanism."""
        return {"draw": "constraints", "statements": self.constraints.text, "view": "pair"}


def statuses(constraints: Constraints) -> pd.DataFrame:
    """Return which statements are active and which follow from others."""
    return result(activity, constraints)


def corner_table(view: ConstraintsView) -> pd.DataFrame:
    """Return the corners of the exact region, with what the guess would promise at the same ε.

    `epsilon, delta, delta_of_guess, kind, theorem, neighbours`; `kind` is that of `delta`. If there are many corners,
    the table has only a few rows.
    """
    return result(_corner_table, view.constraints, view.k)


def _corner_table(constraints: Constraints, k: int) -> pd.DataFrame:
    table = corners(constraints.composed(k))
    guess = result(conjectured, constraints, k)
    table.insert(2, "delta_of_guess", guess.region.delta(table["epsilon"].to_numpy()))
    return table if table["note"].any() else table.drop(columns="note")


def activity_words(table: pd.DataFrame) -> str:
    """Say how many statements count."""
    active = int((table["status"] == "active").sum())
    if active == len(table):
        return "Every statement counts: without any one of them the region would be larger (exact)."
    if not active:
        return "No statement counts: every mechanism satisfies all of them (exact)."
    names = ", ".join(str(n) for n in table.loc[table["status"] == "active", "statement"])
    which = f"Only statement {names} counts" if active == 1 else f"Statements {names} count"
    others = "the other follows" if len(table) == active + 1 else "the others follow"
    return f"{which}; {others}, as the table proves (exact)."


def answer(view: ConstraintsView) -> str:
    """State the total variation of k mechanisms."""
    tv, what = result(_advantage, view.constraints, view.k)
    many = "One mechanism" if view.k == 1 else f"{grouped(view.k)} mechanisms together"
    return f"{many}: the total variation is at most {outward(tv, 4)} ({what})."


def _advantage(constraints: Constraints, k: int) -> tuple[float, str]:
    return best_advantage(constraints.composed(k))


def corner_words(view: ConstraintsView) -> str:
    """Explain the corners."""
    many = "One mechanism promises" if view.k == 1 else f"{grouped(view.k)} mechanisms together promise"
    return f"{many} all of these at once, and nothing more holds for every mechanism that the list allows."


def corner_command(view: ConstraintsView) -> str:
    """Return the command that prints the corners, if the region is a polygon."""
    return f'dpcore constraints "{view.exact}"' if view.exact.is_polygon else f'dpcore deltas "{view.exact}"'


# ---- the table editor ----------------------------------------------------------------------------------------


def editor_table(constraints: Constraints) -> pd.DataFrame:
    """Return the list as the editor shows it."""
    table = statuses(constraints)
    words = [
        "active" if status == "active" else f"implied by {by}" if by else "says nothing"
        for status, by in zip(table["status"], table["by"], strict=True)
    ]
    return pd.DataFrame({EPSILON: table["epsilon"], DELTA: table["delta"], STATUS: words})


def edited(text: str, changes: dict[str, Any]) -> str:
    """Return the list after an editor's changes; incomplete rows are left out."""
    rows = [[item.epsilon, item.delta] for item in Constraints.read(text).items]
    for place, cells in changes.get("edited_rows", {}).items():
        for column, value in cells.items():
            if column in (EPSILON, DELTA) and _is_number(value) and 0 <= int(place) < len(rows):
                rows[int(place)][0 if column == EPSILON else 1] = float(value)
    gone = {int(place) for place in changes.get("deleted_rows", [])}
    rows = [row for place, row in enumerate(rows) if place not in gone]
    for cells in changes.get("added_rows", []):
        pair = [cells.get(EPSILON), cells.get(DELTA)]
        if all(map(_is_number, pair)):
            rows.append([float(value) for value in pair])
    return Constraints.of(*((row[0], row[1]) for row in rows)).text


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


# ---- splitting -----------------------------------------------------------------------------------------------


def read_region(text: str) -> tuple[TradeOff, tuple[str, ...]]:
    """Return the region that a text names and the library's warnings."""
    if len(text) > LONGEST:
        msg = f"An expression may have at most {LONGEST} characters here, got {len(text)}."
        raise DomainError(msg)
    return work.region(text)


def answer_of(region: TradeOff) -> Split:
    """Return the factors of a region, or why it has none."""
    return result(split, region)


def answer_words(answer: Split) -> str:
    """Say the verdict in one sentence."""
    if answer.is_product is None:
        return "This cannot be decided here."
    if not answer.is_product:
        return "No: this region is not a product of single constraints."
    count = sum(copies for _, copies in answer.factors)
    if not count:
        return "Yes: it is a single constraint."
    named = ", ".join(f"ε = {nearest(e)}" + (f" ({c} times)" if c > 1 else "") for e, c in answer.factors)
    return f"Yes: {grouped(count)} {'factor' if count == 1 else 'factors'}, {named}; δ in total {outward(answer.total_delta, 6)}."


def step_words(answer: Split) -> list[str]:
    """Say what each step found, as numbered lines."""
    lines = []
    for row in answer.steps.to_dict("records"):
        known = f", {nearest(row['explained'], 7)} explained" if row["explained"] else ""
        seen = f"{row['step']}. Loss {nearest(row['loss'])} weighs {nearest(row['weight'], 7)}{known}"
        times = "once" if row["copies"] == 1 else f"{row['copies']} times"
        if row["copies"]:
            lines.append(f"{seen}: ε = {nearest(row['factor_epsilon'])}, {times}; {nearest(row['left_over'])} is left.")
        elif answer.is_product is None:
            lines.append(f"{seen}: a contradiction that rounding may have made.")
        else:
            lines.append(f"{seen}: a contradiction, so there is no product.")
    return lines


def peeling_spec(region: TradeOff, step: int) -> dict[str, Any]:
    """Return the spec of the levels after some steps."""
    return {"draw": "peeling", "region": str(region), "step": step}


def product_around(region: TradeOff, m: int) -> ContainingProduct:
    """Return the smallest containing product that the search finds."""
    return result(containing, region, m)


def product_spec(region: TradeOff, m: int) -> dict[str, Any]:
    """Return the spec of the region inside the product."""
    return {"draw": "containing", "region": str(region), "factors": m}


def product_words(around: ContainingProduct, m: int) -> str:
    """Say what was found, and whether it is provably the smallest."""
    kind = "approximation" if around.outer else "exact"
    area = f"The area between the two borders is {outward(around.area_between, 4)} ({kind})."
    if around.proved:
        return f"No product with at most {m} {'factor' if m == 1 else 'factors'} that contains the region is smaller (proved). {area}"
    return (
        f"The smallest product with at most {m} {'factor' if m == 1 else 'factors'} that a search from {len(around.starts)} starts found; "
        f"nothing proves that none is smaller. It contains the region for certain. {area}"
    )

"""The view of the page of several constraints: what is asked, computed once, as figures, tables, words and Python."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from dpcore.app import work
from dpcore.charts import Figure, Look, region_figure
from dpcore.charts.constraints import constraint_regions, constraints_figure, pair_figure
from dpcore.charts.peeling import peeling_figure
from dpcore.constraints import (
    Conjecture,
    Constraints,
    ContainingProduct,
    Split,
    activity,
    conjectured,
    containing,
    corners,
    split,
)
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.words import best_advantage, grouped, outward

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.regions.tradeoff import TradeOff

_T = TypeVar("_T")

# session keys outlive a page, so no other page may use the same ones
DEFAULTS: dict[str, Any] = {
    "cons_list": "0.6, 0.05; 0, 0.2",
    "cons_k": "2",
    "cons_axes": "f-DP",
    "cons_split": "dp(0.2)^3 * dp(0.5, 0.01)",
    "cons_step": 1,
    "cons_m": 2,
}
LARGEST_K = 1000
KS = ["1", "2", "3", "5", "10", "20", "50", "100", "200", "500", "1000"]
LONGEST = 2000
REGION, PRODUCT = "region", "containing product"
EPSILON, DELTA, STATUS = "ε", "δ", "status"


def kept(key: tuple[Any, ...], make: Callable[[], _T]) -> _T:
    """Return what was made for the same question before, or make it."""
    return work.cache().get(("constraints", *key), make)


# ---- the list and its compositions ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ConstraintsView:
    """The statements of each mechanism, how many mechanisms, and how they are drawn."""

    given: Constraints
    k: int
    thesis_axes: bool = False

    @cached_property
    def guess(self) -> Conjecture:
        """The thesis's guess about k of them."""
        return kept(("guess", self.given.text, self.k), lambda: conjectured(self.given, self.k))

    @cached_property
    def regions(self) -> dict[str, TradeOff]:
        """The regions drawn: one mechanism, k by the exact theorem, k by the guess."""
        return kept(("regions", self.given.text, self.k), lambda: constraint_regions(self.given, self.k, self.guess))

    @property
    def exact(self) -> TradeOff:
        """The exact region of k mechanisms."""
        return list(self.regions.values())[0 if self.k == 1 else 1]


def picture(view: ConstraintsView, *, dark: bool) -> Figure:
    """Return the chart of the regions."""
    options = chart_options(view)

    def make() -> Figure:
        look = Look(dark=dark)
        return constraints_figure(view.given, view.k, regions=view.regions, guess=view.guess, look=look, **options)

    return kept(("picture", view.given.text, view.k, view.thesis_axes, dark), make)


def chart_options(view: ConstraintsView) -> dict[str, Any]:
    """Return the options of the chart that differ from its own defaults."""
    return {"axes": "thesis"} if view.thesis_axes else {}


def pair_picture(view: ConstraintsView, *, dark: bool) -> Figure:
    """Return the dominating pair of one mechanism."""
    return kept(("pair", view.given.text, dark), lambda: pair_figure(view.given.region, look=Look(dark=dark)))


def statuses(given: Constraints) -> pd.DataFrame:
    """Return which statements are active and which follow from others."""
    return kept(("activity", given.text), lambda: activity(given))


def corner_table(view: ConstraintsView) -> pd.DataFrame:
    """Return the corners of the exact region, with what the guess would promise at the same ε.

    `epsilon, delta, delta_of_guess, kind, theorem, neighbours`; what `kind` says is about `delta`. Few rows where the corners are many.
    """

    def make() -> pd.DataFrame:
        table = corners(view.exact)
        table.insert(2, "delta_of_guess", view.guess.region.delta(table["epsilon"].to_numpy()))
        return table if table["note"].any() else table.drop(columns="note")

    return kept(("corners", view.given.text, view.k), make)


def activity_words(table: pd.DataFrame) -> str:
    """Say how many statements count."""
    active = int((table["status"] == "active").sum())
    if active == len(table):
        return "Every statement counts: without any one of them the region would be larger (exact)."
    names = ", ".join(str(n) for n in table.loc[table["status"] == "active", "statement"])
    which = f"Only statement {names} counts" if active == 1 else f"Statements {names} count"
    return f"{which if active else 'No statement counts'}; the others follow, as the table proves (exact)."


def corner_words(view: ConstraintsView) -> str:
    """Say what the corners are."""
    many = "One mechanism promises" if view.k == 1 else f"{grouped(view.k)} mechanisms together promise"
    tv, what = best_advantage(view.exact)
    return f"{many} all of these at once, and nothing more is true of all of them. The total variation is at most {outward(tv, 4)} ({what})."


def code(view: ConstraintsView) -> str:
    """Return the Python lines that make the chart of the regions."""
    extra = "".join(f", {name}={value!r}" for name, value in chart_options(view).items())
    return "\n".join(
        [
            "from dpcore.charts import save",
            "from dpcore.charts.constraints import constraints_figure",
            "from dpcore.constraints import Constraints, activity, corners",
            "from dpcore.core.effort import effort",
            "",
            f"given = Constraints.read({view.given.text!r})",
            "print(activity(given))",
            f"with effort(tolerance={work.TOLERANCE}):",
            f"    figure = constraints_figure(given, {view.k}{extra})",
            f"    table = corners(given.composed({view.k}))",
            "print(figure.takeaway)",
            'save(figure, "constraints.svg")',
        ]
    )


def pair_code(view: ConstraintsView) -> str:
    """Return the Python lines that draw the dominating pair."""
    return "\n".join(
        [
            "from dpcore.charts import save",
            "from dpcore.charts.constraints import pair_figure",
            "from dpcore.constraints import Constraints",
            "",
            f"figure = pair_figure(Constraints.read({view.given.text!r}).region)",
            "print(figure.table)",
            'save(figure, "pair.svg")',
        ]
    )


def corner_command(view: ConstraintsView) -> str:
    """Return the command that prints the corners, where the region is a polygon."""
    return f'dpcore constraints "{view.exact}"' if view.exact.is_polygon else f'dpcore deltas "{view.exact}"'


# ---- the table editor ----------------------------------------------------------------------------------------


def editor_table(given: Constraints) -> pd.DataFrame:
    """Return the list as the editor shows it."""
    table = statuses(given)
    words = [
        "active" if status == "active" else f"implied by {by}" if by else "says nothing"
        for status, by in zip(table["status"], table["by"], strict=True)
    ]
    return pd.DataFrame({EPSILON: table["epsilon"], DELTA: table["delta"], STATUS: words})


def edited(text: str, changes: dict[str, Any]) -> str:
    """Return the list after the changes that an editor reports; rows that are not complete yet are left out."""
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
    """Return the region that a text names and what the library warned about."""
    if len(text) > LONGEST:
        msg = f"An expression is written in at most {LONGEST} characters here, got {len(text)}."
        raise DomainError(msg)
    return work.region(text)


def answer_of(region: TradeOff) -> Split:
    """Return the factors of a region, or why it has none."""
    return kept(("split", str(region)), lambda: split(region))


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


def peeling_picture(answer: Split, step: int, *, dark: bool) -> Figure:
    """Return the levels after some steps."""
    key = ("peeling", str(answer.region), step, dark)
    return kept(key, lambda: peeling_figure(answer, step, look=Look(dark=dark)))


def product_around(region: TradeOff, m: int) -> ContainingProduct:
    """Return the smallest containing product found."""
    return kept(("containing", str(region), m), lambda: containing(region, m))


def product_picture(region: TradeOff, around: ContainingProduct, *, dark: bool) -> Figure:
    """Return the region inside the product."""
    key = ("product", str(region), str(around.region), dark)
    drawn = {REGION: region, PRODUCT: around.region}
    return kept(key, lambda: region_figure(drawn, look=Look(dark=dark)))


def product_words(around: ContainingProduct, m: int) -> str:
    """Say what was found, and whether it is proved to be the smallest."""
    kind = "approximation" if around.outer else "exact"
    area = f"The area between the two borders is {outward(around.area_between, 4)} ({kind})."
    if around.proved:
        return f"No product with at most {m} {'factor' if m == 1 else 'factors'} that contains the region is smaller (proved). {area}"
    return (
        f"The smallest product with at most {m} {'factor' if m == 1 else 'factors'} that a search from {len(around.starts)} starts found; "
        f"nothing proves that none is smaller. It contains the region for certain. {area}"
    )


def split_code(answer: Split, step: int) -> str:
    """Return the Python lines that split the region and draw the step."""
    return "\n".join(
        [
            "from dpcore import parse",
            "from dpcore.charts import save",
            "from dpcore.charts.peeling import peeling_figure",
            "from dpcore.constraints import split",
            "",
            f"answer = split(parse({str(answer.region)!r}))",
            "print(answer.is_product, answer.factors, answer.total_delta, answer.reason)",
            "print(answer.steps)",
            f"figure = peeling_figure(answer, {step})",
            'save(figure, "peeling.svg")',
        ]
    )


def product_code(region: TradeOff, m: int) -> str:
    """Return the Python lines that search for the containing product and draw it."""
    return "\n".join(
        [
            "from dpcore import parse",
            "from dpcore.charts import region_figure, save",
            "from dpcore.constraints import containing",
            "",
            f"region = parse({str(region)!r})",
            f"around = containing(region, {m})",
            "print(around.region, around.area_between, around.proved)",
            "print(around.starts)",
            f"figure = region_figure({{{REGION!r}: region, {PRODUCT!r}: around.region}})",
            'save(figure, "product.svg")',
        ]
    )

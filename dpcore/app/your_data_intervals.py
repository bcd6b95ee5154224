"""Private intervals on the page Your data: the fields, and the specs of the figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import figure, inputs, live, page, uploads, work, your_data_table
from dpcore.core.domains import DELTA, EPSILON, REAL
from dpcore.core.errors import DpcoreError
from dpcore.core.results import kept_by, result
from dpcore.language.numbers import read_value
from dpcore.planner.interval import PLANS, interval_plan, read_indicator
from dpcore.planner.interval.laws import LEVEL, NOISES
from dpcore.planner.interval.tables import AGAINST
from dpcore.utility.reading import read_column
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.app.your_data_table import OpenTable
    from dpcore.planner.interval import IntervalPlan
    from dpcore.specs import Spec

HEIGHT = 400
SLIDERS = ("data_epsilon_slider", "data_delta_slider", "data_level_slider")
_LEVELS = ["0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "0.98", "0.99", "0.995", "0.999"]
_QUANTILES = inputs.even_values(0.05, 0.95, 18)
DEFAULTS: dict[str, Any] = {
    "data_statistic": next(iter(PLANS)),
    "data_probability": "0.5",
    "data_equals": "",
    "data_at_least": "",
    "data_epsilon": "1",
    "data_delta": "1e-6",
    "data_level": "0.95",
    "data_noise": NOISES[0],
    "data_against": AGAINST[0],
}
_EPSILON = EPSILON.but(low_open=True, infinite=False, high=1e4)
_DELTA = DELTA.but(high_open=True)
uploads.hold(read_indicator)


@dataclass(frozen=True)
class IntervalQuestion:
    """A table, and the fields of the specs about it."""

    table: OpenTable
    fields: dict[str, Any]
    against: str

    def width_spec(self) -> Spec:
        """Return the spec of the width."""
        return self.table.spec("interval_width", **self.fields, against=self.against)

    def coverage_spec(self) -> Spec:
        """Return the spec of the simulated intervals."""
        return self.table.spec("interval_coverage", **self.fields)

    def moved(self, held: Mapping[str, str]) -> IntervalQuestion:
        """Return the question with the value of the slider that is held."""
        allowed = {
            "data_epsilon_slider": ("epsilon", _EPSILON),
            "data_delta_slider": ("delta", _DELTA),
            "data_level_slider": ("level", LEVEL),
        }
        changed = {allowed[key][0]: float(read_value(allowed[key][1], text)) for key, text in held.items()}
        return IntervalQuestion(self.table, {**self.fields, **changed}, self.against)

    def plan(self) -> IntervalPlan:
        """Return the plan; what is read from a visitor's file is kept only for that visitor."""
        own = dict(self.fields)
        column, statistic = own.pop("column"), own.pop("statistic")
        condition = {name: own.pop(name) for name in ("equals", "at_least") if name in own}
        bounds = {name: own.pop(name) for name in ("lower", "upper") if name in own}
        with kept_by(work.keeper(self.table.store)):
            reading = (
                result(read_indicator, self.table.sheet, column, **condition)
                if statistic == "proportion"
                else result(read_column, self.table.sheet, column, **bounds)
            )
            made: IntervalPlan = interval_plan(statistic, reading.dataset, **own)
        return made


def section() -> None:
    """Show the tool."""
    left, below, question = your_data_table.places(_ask, "Complete the fields to see the interval.")
    if question is None:
        return
    work.fresh(("intervals", tuple(question.fields.items()), question.table.name, question.table.identity))
    store = question.table.store

    def draw(held: Mapping[str, str]) -> None:
        current = question.moved(held)
        with work.progress("Planning", store=store):
            figure.picture(figure.figure_of(current.width_spec(), height=HEIGHT, store=store), "data_width", apart=True)

    with left:
        live.follow("intervals", SLIDERS, draw)
    with below:
        figure.offer(question.width_spec(), key="data_width", store=store)
        _show_plan(question)
        st.header("Does it keep its level?")
        figure.show(
            question.coverage_spec(),
            key="data_coverage",
            words="Simulating",
            height=HEIGHT,
            link=False,
            store=store,
        )
    page.guide("private_intervals")


def _show_plan(question: IntervalQuestion) -> None:
    """Say how the budget is used."""
    try:
        with work.progress("Planning", store=question.table.store):
            plan = question.plan()
            parts = plan.parts()
    except DpcoreError as error:
        figure.trouble(error, "data_plan")
        return
    words = "; ".join(f"{name} {outward(value, 4)}" for name, value in parts.items())
    promise = (
        f"({outward(plan.epsilon, 4)}, {outward(plan.delta, 3)})"
        if plan.noise == "gaussian"
        else f"{outward(plan.epsilon, 4)}"
    )
    st.markdown(
        figure.plain(
            f"The plan, which needs only n and the bounds: {words}. All of it together is {promise}-private for neighbours that "
            "substitute one record."
        )
    )
    st.caption(
        figure.plain(
            f"Assumed: {plan.assumes}. What the figures say about the data is for you alone; no noise protects it."
        )
    )


# ---- the fields ----------------------------------------------------------------------------------------------


def _ask() -> IntervalQuestion | None:
    """Show the fields and return the question; None, with the reason shown, until it is complete."""
    opened = your_data_table.ask_table_and_column()
    if opened is None:
        return None
    table, column = opened
    statistic = _menu("Statistic", "data_statistic", tuple(PLANS))
    fields: dict[str, Any] = {"column": column, "statistic": statistic}
    bounds = None if statistic == "proportion" else your_data_table.ask_bounds(table, column)
    known = _condition(table, column) if statistic == "proportion" else _known(bounds)
    if known is None:
        return None
    left, right = st.columns(2)
    with left:
        noise = _menu("Noise", "data_noise", NOISES)
    with right:
        against = _menu("Width against", "data_against", AGAINST)
    budget = _budget(statistic, noise)
    reading = None if bounds is None else your_data_table.read(table, column, **known)
    if budget is None or (bounds is not None and reading is None):
        return None
    return IntervalQuestion(table, {**fields, **known, **budget}, against)


def _menu(label: str, key: str, options: tuple[str, ...]) -> str:
    value = st.segmented_control(label, options, default=options[0], required=True, key=key, bind="query-params")
    return str(value)


def _known(bounds: tuple[float, float] | None) -> dict[str, Any] | None:
    return None if bounds is None else {"lower": bounds[0], "upper": bounds[1]}


def _condition(table: OpenTable, column: str) -> dict[str, Any] | None:
    """Ask which rows count."""
    left, right = st.columns(2)
    below = st.container()
    with left:
        equals = st.text_input("Equal to", "", key="data_equals", bind="query-params", placeholder="yes").strip()
    with right:
        least = st.text_input("or at least", "", key="data_at_least", bind="query-params", placeholder="65").strip()
    if bool(equals) == bool(least):
        below.info("Type which rows count: an answer, or the least number.", icon=":material/filter_alt:")
        return None
    try:
        known = {"equals": equals} if equals else {"at_least": float(read_value(REAL, least, "At least"))}
        with work.progress("Reading", store=table.store):
            reading = result(read_indicator, table.sheet, column, **known)
    except DpcoreError as error:
        below.error(figure.plain(str(error)), icon=":material/error:")
        return None
    if reading.unusual:
        below.warning(figure.plain(" ".join(reading.notes)), icon=":material/rule:")
    return known


def _budget(statistic: str, noise: str) -> dict[str, Any] | None:
    """Ask for epsilon, delta and the level."""
    epsilon = inputs.slider_field(
        "ε", "data_epsilon", "1", inputs.LOSSES, _EPSILON, help_text="Budget for everything that is released."
    )
    laplace = noise == "laplace"
    delta = inputs.slider_field(
        "δ", "data_delta", "1e-6", inputs.DELTAS, _DELTA, help_text="Laplace noise needs none.", disabled=laplace
    )
    level = inputs.slider_field("Level", "data_level", "0.95", _LEVELS, LEVEL)
    probability: float | None = 0.5
    if statistic == "quantile":
        share = REAL.but(name="probability", low=0.0, low_open=True, high=1.0, high_open=True)
        probability = inputs.slider_field("Quantile", "data_probability", "0.5", _QUANTILES, share)
    below = st.container()
    if epsilon is None or level is None or probability is None or (delta is None and not laplace):
        return None
    if not laplace and delta == 0:
        below.error("Gaussian noise needs a δ above 0; choose Laplace noise for δ = 0.", icon=":material/error:")
        return None
    values = {"epsilon": epsilon, "delta": None if laplace else delta, "level": level, "noise": noise}
    if statistic == "quantile":
        values["probability"] = probability
    return {name: value for name, value in values.items() if value is not None}

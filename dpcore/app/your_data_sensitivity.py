"""The sensitivity workbench on the page Your data: the fields, and the specs of the figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import figure, inputs, live, page, work, your_data_table
from dpcore.core.domains import DELTA
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import nearest
from dpcore.language.numbers import read_value
from dpcore.planner.sensitivity import QUERIES
from dpcore.planner.sensitivity.noise import BUDGET
from dpcore.planner.sensitivity.queries import LEVEL, TRIM
from dpcore.planner.sensitivity.tables import VALUES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.app.your_data_table import OpenTable
    from dpcore.specs import Spec

HEIGHT = 400
SLIDERS = ("data_epsilon_slider", "data_delta_slider")
DEFAULTS: dict[str, Any] = {
    "data_query": "quantile",
    "data_probability": "0.5",
    "data_trim": "0.1",
    "data_epsilon": "1",
    "data_delta": "1e-6",
}
_DELTA = DELTA.but(high_open=True)


@dataclass(frozen=True)
class SensitivityQuestion:
    """A table, and the fields of the specs about it."""

    table: OpenTable
    fields: dict[str, Any]

    def error_spec(self) -> Spec:
        """Return the spec of the errors."""
        return self.table.spec("sensitivity_errors", **self.fields)

    def smooth_spec(self) -> Spec:
        """Return the spec of the smooth sensitivity."""
        return self.table.spec("smooth_sensitivity", **self.fields)

    def moved(self, held: Mapping[str, str]) -> SensitivityQuestion:
        """Return the question with the value of the slider that is held."""
        allowed = {"data_epsilon_slider": ("epsilon", BUDGET), "data_delta_slider": ("delta", _DELTA)}
        changed = {allowed[key][0]: float(read_value(allowed[key][1], text)) for key, text in held.items()}
        return SensitivityQuestion(self.table, {**self.fields, **changed})


def section() -> None:
    """Show the tool."""
    left, below, question = your_data_table.places(_ask, "Complete the fields to see the sensitivities.")
    if question is None:
        return
    work.fresh(("sensitivity", tuple(question.fields.items()), question.table.name, question.table.identity))
    store = question.table.store

    def draw(held: Mapping[str, str]) -> None:
        current = question.moved(held)
        with work.progress("Comparing", store=store):
            figure.picture(
                figure.figure_of(current.error_spec(), height=HEIGHT, store=store), "data_errors", apart=True
            )

    with left:
        live.follow("sensitivity", SLIDERS, draw)
    with below:
        figure.offer(question.error_spec(), key="data_errors", store=store)
        st.header("Local, smooth and global")
        figure.show(
            question.smooth_spec(), key="data_smooth", words="Measuring", height=HEIGHT, link=False, store=store
        )
        st.header("What each mechanism gives away")
        _show_regions(question)
    page.guide("sensitivity")


def _show_regions(question: SensitivityQuestion) -> None:
    """Draw the region of every mechanism: it holds for all data and may be shared."""
    try:
        with work.progress("Comparing", store=question.table.store):
            rows = figure.figure_of(question.error_spec(), store=question.table.store).table
    except DpcoreError as error:
        figure.trouble(error, "data_regions")
        return
    names: dict[str, list[str]] = {}
    for text, name, kind in zip(rows["region"], rows["mechanism"], rows["kind"], strict=True):
        plain = str(name).removesuffix(f", {VALUES} values")
        names.setdefault(str(text), []).append(plain if kind == "exact" else f"promise of {plain}")
    spec = {
        "draw": "regions",
        "regions": list(names),
        "labels": [" and ".join(group) for group in names.values()],
        "fill": False,
    }
    figure.show(spec, key="data_regions", height=HEIGHT, link=False)
    st.caption(
        figure.plain(
            "Regions hold for all data of this size and these bounds. A promise is an upper bound: the mechanism's own region lies inside "
            "it. By smooth sensitivity Laplace noise is (ε, δ)-private, never ε alone; Cauchy noise keeps "
            f"ε = {nearest(question.fields['epsilon'])} with δ = 0."
        )
    )


def _ask() -> SensitivityQuestion | None:
    """Show the fields and return the question; None, with the reason shown, until it is complete."""
    opened = your_data_table.ask_table_and_column()
    if opened is None:
        return None
    table, column = opened
    bounds = your_data_table.ask_bounds(table, column)
    if bounds is None:
        return None
    left, right = st.columns(2)
    below = st.container()
    with left:
        first = QUERIES.index(DEFAULTS["data_query"])
        query = st.selectbox("Query", QUERIES, index=first, key="data_query", bind="query-params")
    own: dict[str, Any] = {"column": column, "statistic": str(query), "lower": bounds[0], "upper": bounds[1]}
    with right:
        if query == "quantile":
            own["probability"] = inputs.number_field("Probability", "data_probability", "0.5", LEVEL, trouble=below)
        if query == "trimmed mean":
            own["trim"] = inputs.number_field("Share at each end", "data_trim", "0.1", TRIM, trouble=below)
    own["epsilon"] = inputs.slider_field("ε", "data_epsilon", "1", inputs.LOSSES, BUDGET)
    own["delta"] = inputs.slider_field(
        "δ", "data_delta", "1e-6", inputs.DELTAS, _DELTA, help_text="0 leaves out the mechanisms that need a δ."
    )
    reading = your_data_table.read(table, column, lower=bounds[0], upper=bounds[1])
    if reading is None or any(value is None for value in own.values()):
        return None
    return SensitivityQuestion(table, own)

"""The series planner on the page Your data: the fields, the specs of the figures, and the least noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import figure, inputs, live, page, uploads, work, your_data_table
from dpcore.core.domains import DELTA, EPSILON, POSITIVE
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import nearest
from dpcore.core.results import kept_by, result
from dpcore.files.matrices import read_matrix
from dpcore.files.sheet import open_csv
from dpcore.language.numbers import read_value
from dpcore.planner.series import both_plans, plan, range_words, target_shift
from dpcore.planner.series.fit import MODELS, POOLED
from dpcore.planner.series.model import MOST_RELEASES, PRIORS, RELEASES, SeriesModel
from dpcore.planner.series.reading import read_panel
from dpcore.specs import Spec, intermediate

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from dpcore.app.work import ResultCache
    from dpcore.app.your_data_table import OpenTable
    from dpcore.planner.series import Panel, SeriesFit

TABLE, MATRICES = SOURCES = ("a table", "A and Σ")
SAMPLE = "sport"
OPENING = {"data_table": SAMPLE}
HEIGHT = 400
SLIDERS = ("data_epsilon_slider", "data_delta_slider", "data_releases_slider")
_COLUMNS = {
    SAMPLE: {"user": "member", "time": "month", "value": "hours"},
    "homes": {"user": "home", "time": "week", "value": "electricity"},
}  # columns of the samples with times
DEFAULTS: dict[str, Any] = {
    "data_source": TABLE,
    "data_series_model": POOLED,
    "data_releases": "12",
    "data_prior": PRIORS[0],
    "data_series_noise": "",
    "data_a": "0.5, 0.1\n0, 0.5",
    "data_sigma": "1, 0\n0, 1",
    "data_range": "1",
    **{f"data_{name}_{table}": column for table, names in _COLUMNS.items() for name, column in names.items()},
}
_EPSILON = EPSILON.but(low_open=True, infinite=False, high=1e4)
_DELTA = DELTA.but(low_open=True, high_open=True)
_PLANNED = ("releases", "epsilon", "delta", "prior")
_MOST_PARAMETERS = 1000  # rows of a full fit sent to the browser
_NOISE = POSITIVE.but(name="noise", high=1e12)
_RANGE = POSITIVE.but(name="range", high=1e12)
uploads.hold(read_panel)


@dataclass(frozen=True)
class SeriesQuestion:
    """The series, and the fields of the specs about it."""

    table: OpenTable | None
    series: dict[str, Any]
    target: dict[str, Any]
    noise: float | None

    @property
    def store(self) -> ResultCache:
        """Where results are kept: the visitor's own cache for an upload."""
        return work.cache() if self.table is None else self.table.store

    def _spec(self, draw: str, **own: Any) -> Spec:
        values = {**self.series, **self.target, **own}
        if self.table is not None:
            return self.table.spec(draw, **values)
        return Spec({"draw": draw, **{name: value for name, value in values.items() if value is not None}})

    def spec(self) -> Spec:
        """Return the spec of what is learnt about each time."""
        return self._spec("series_attacks", noise=self.noise)

    def region_spec(self) -> Spec:
        """Return the spec of the regions."""
        return self._spec("series_region", noise=self.noise)

    def noise_spec(self) -> Spec:
        """Return the spec of the least noise."""
        return self._spec("series_noise")

    def moved(self, held: Mapping[str, str]) -> SeriesQuestion:
        """Return the question with the value of the slider that is held."""
        allowed = dict(zip(SLIDERS, (("epsilon", _EPSILON), ("delta", _DELTA), ("releases", RELEASES)), strict=True))
        changed = {allowed[key][0]: read_value(allowed[key][1], text) for key, text in held.items()}
        return SeriesQuestion(self.table, self.series, {**self.target, **changed}, self.noise)

    def model(self) -> SeriesModel:
        """Return the series; what is read from a visitor's file is kept only for that visitor."""
        with kept_by(work.keeper(self.store)):
            made: SeriesModel = intermediate(self.spec(), "series")
        return made

    def fitted(self) -> tuple[Panel, SeriesFit] | None:
        """Return the users and times with their fit; None for matrices."""
        if self.table is None:
            return None
        with kept_by(work.keeper(self.store)):
            return intermediate(self.spec(), "panel"), intermediate(self.spec(), "fit")


def section() -> None:
    """Show the tool."""
    left, below, question = your_data_table.places(_ask, "Complete the fields to see what the releases reveal.")
    if question is None:
        return
    work.fresh(("series", repr(question.series), repr(question.target), question.noise, question.store is work.cache()))

    def draw(held: Mapping[str, str]) -> None:
        with work.progress("Planning", store=question.store):
            picture = figure.figure_of(question.moved(held).spec(), height=HEIGHT, store=question.store)
            figure.picture(picture, "data_attacks", apart=True)

    with left:
        live.follow("series", SLIDERS, draw)
    with below:
        figure.offer(question.spec(), key="data_attacks", store=question.store)
        _show_plan(question)
        one, two = st.columns(2, gap="large")
        with one:
            st.header("More releases, more noise")
            figure.show(
                question.noise_spec(),
                key="data_least",
                words="Solving",
                height=HEIGHT,
                link=False,
                store=question.store,
            )
        with two:
            st.header("The worst attacks")
            figure.show(
                question.region_spec(),
                key="data_worst",
                words="Drawing",
                height=HEIGHT,
                link=False,
                store=question.store,
            )
    page.guide("series")


def _show_plan(question: SeriesQuestion) -> None:
    """Show the least noise of each level, and the fit."""
    try:
        with work.progress("Solving", store=question.store), kept_by(work.keeper(question.store)):
            target = question.target
            table = result(
                plan, question.model(), target["releases"], target["epsilon"], target["delta"], target["prior"]
            )
            fitted = question.fitted()
            shift = result(target_shift, target["epsilon"], target["delta"])
            if fitted is not None:
                uncertain = result(range_words, fitted[1], target["releases"], shift, target["prior"])
                plans, notes = result(both_plans, fitted[0], *(target[name] for name in _PLANNED))
    except DpcoreError as error:
        figure.trouble(error, "data_series_plan")
        return
    st.header("The least noise")
    figure.numbers(table[["level", "noise", "mu", "time", "kind", "theorem", "neighbours"]], "data_plan_table")
    if fitted is not None:
        panel, one = fitted
        st.caption(figure.plain(_fit_words(panel, one)))
        st.caption(figure.plain(uncertain))
        _show_fit(one, plans, notes)


def _show_fit(one: SeriesFit, plans: pd.DataFrame, notes: tuple[str, ...]) -> None:
    """Show the parameters with their errors, and the result of the other model."""
    left, right = st.columns(2, gap="large")
    with left:
        st.header("The fit")
        rows = one.frame()
        figure.numbers(rows.head(_MOST_PARAMETERS), "data_fit_table")
        if len(rows) > _MOST_PARAMETERS:
            st.caption(f"The first {_MOST_PARAMETERS} of {len(rows)}; dpcore series --view fit lists all.")
    with right:
        st.header("Pooled beside full")
        columns = ["model", "level", "noise", "parameters", "freedom", "radius", "kind", "theorem", "neighbours"]
        figure.numbers(plans[columns], "data_both_table")
        for text in notes:
            st.caption(figure.plain(text))


def _fit_words(panel: Panel, one: SeriesFit) -> str:
    counts = f"{len(panel.users)} users at {len(panel.times)} times, {one.pairs} steps. "
    if len(one.variance) > 1:
        return (
            f"{counts}The largest eigenvalue of A has size {nearest(one.model.radius, 3)}. The parameters below are for you alone: no noise "
            "protects them."
        )
    value, error, spread = one.estimates[1], one.errors[1], one.variance[0][0]
    return (
        f"{counts}Fitted: each value is {nearest(one.estimates[0], 3)} plus {nearest(value, 3)} times the one before (standard error "
        f"{nearest(error, 2)}), with innovations of standard deviation {nearest(spread**0.5, 3)}. These numbers are for you alone: no noise "
        "protects them."
    )


# ---- the fields ----------------------------------------------------------------------------------------------


def _ask() -> SeriesQuestion | None:
    """Show the fields and return the question; None, with the reason shown, until it is complete."""
    left, right = st.columns(2)
    below = st.container()
    with left:
        source = st.segmented_control(
            "The series is", SOURCES, default=TABLE, required=True, key="data_source", bind="query-params"
        )
    table, series = _ask_table(right, below) if source == TABLE else (None, _ask_matrices())
    if series is None:
        return None
    releases = inputs.slider_field(
        "Releases",
        "data_releases",
        "12",
        [str(t) for t in (*range(1, 25), 30, 36, 48, 60, 100, MOST_RELEASES)],
        RELEASES,
    )
    epsilon = inputs.slider_field(
        "ε", "data_epsilon", "1", inputs.LOSSES, _EPSILON, help_text="What the worst attack must not exceed."
    )
    delta = inputs.slider_field("δ", "data_delta", "1e-6", inputs.DELTAS, _DELTA)
    with st.expander("Model, prior and noise", icon=":material/tune:"):
        below = st.container()
        if table is not None:
            series = {**series, "model": _ask_model()}
        prior = str(
            st.segmented_control(
                "Belief about the first values",
                PRIORS,
                default=PRIORS[0],
                required=True,
                key="data_prior",
                bind="query-params",
                help="Stationary: the series has run for a long time. Flat: no belief. Known: the attacker knows all earlier values.",
            )
        )
        noise = inputs.number_field(
            "Standard deviation of the noise",
            "data_series_noise",
            "",
            _NOISE,
            trouble=below,
            optional=True,
            help_text="If empty, the least noise that keeps one value at the target.",
        )
    if releases is None or epsilon is None or delta is None or noise is None:
        return None
    target = {"releases": int(releases), "epsilon": epsilon, "delta": delta, "prior": prior}
    question = SeriesQuestion(table, series, target, noise if noise == noise else None)  # noqa: PLR0124  # nan: an empty field
    try:
        with work.progress("Fitting", store=question.store):
            model = question.model()
            fit = question.fitted()
    except DpcoreError as error:
        st.error(figure.plain(str(error)), icon=":material/error:")
        return None
    for text in fit[0].notes if fit is not None and table is not None and not table.name else ():
        st.caption(figure.plain(text))
    if model.radius >= 1.0:
        st.warning(figure.plain(model.unstable), icon=":material/trending_up:")
    return question


def _ask_model() -> str:
    """Ask how the users of a table depend on each other."""
    return str(
        st.segmented_control(
            "Users",
            MODELS,
            default=POOLED,
            required=True,
            key="data_series_model",
            bind="query-params",
            help="Pooled: all follow one law, independently. Full: A and Σ in full, which needs more times than users.",
        )
    )


def _ask_table(place: DeltaGenerator, below: DeltaGenerator) -> tuple[OpenTable | None, dict[str, Any] | None]:
    """Ask for the table, its columns and the bounds."""
    with place:
        table = your_data_table.ask(below)
    if table is None:
        return None, None
    if table.name and table.name not in _COLUMNS:
        below.info(f"The sample {table.name} has one row per person and no times.", icon=":material/calendar_month:")
        below.button(
            "Open the hours of a sports club", on_click=page.change, args=("data_table", SAMPLE), key="data_sport"
        )
        return table, None
    columns = table.sheet.columns
    names: dict[str, str] = {}
    for third, (name, label) in zip(
        st.columns(3), (("user", "User"), ("time", "Time"), ("value", "Value")), strict=True
    ):
        key = table.key(f"data_{name}")
        first = DEFAULTS.get(key)
        start = columns.index(first) if first in columns else min(len(names), len(columns) - 1)
        with third:
            names[name] = str(st.selectbox(label, columns, index=start, key=key, **table.bound()))
    if len(set(names.values())) < len(names):
        st.info("User, time and value are three different columns.", icon=":material/view_column:")
        return table, None
    bounds = your_data_table.ask_bounds(table, names["value"])
    if bounds is None:
        return table, None
    return table, {**names, "lower": bounds[0], "upper": bounds[1]}


def _ask_matrices() -> dict[str, Any] | None:
    """Ask for A and the covariance, as rows of comma-separated numbers."""
    left, right = st.columns(2)
    below = st.container()
    texts = []
    for place, key, label in ((left, "data_a", "A"), (right, "data_sigma", "Σ of the innovations")):
        with place:
            texts.append(
                st.text_area(label, DEFAULTS[key], key=key, bind="query-params", height=100, help="A line per row.")
            )
    reach = inputs.number_field(
        "Range of a value",
        "data_range",
        "1",
        _RANGE,
        trouble=below,
        help_text="How far one value can move: upper minus lower bound.",
    )
    if reach is None:
        return None
    try:
        read = [
            read_matrix(open_csv(text.encode()), name)
            for text, name in zip(texts, ("The matrix A", "The covariance"), strict=True)
        ]
        for words in (note for one in read for note in one.notes):
            below.caption(figure.plain(words))
        matrix, covariance = (one.rows for one in read)
        SeriesModel(matrix, covariance, reach)
    except DpcoreError as error:
        below.error(figure.plain(str(error)), icon=":material/error:")
        return None
    return {"matrix": matrix, "covariance": covariance, "reach": reach}

"""What the page Privacy and utility shows of a view: pictures, sentence, facts and the inverse question."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from dpcore.app import figure, navigation, page, work
from dpcore.app.figure import plain, sentence, trouble
from dpcore.app.inputs import choice
from dpcore.app.plan_a_release import DEFAULTS
from dpcore.app.plan_a_release_lists import answers_text, category_list, columns_text, condition_of
from dpcore.app.privacy_and_utility import HEIGHT, KIND, UtilityView, known_facts, movable, numbers_of, read
from dpcore.app.settings import values_of
from dpcore.app.uploads import UPLOAD
from dpcore.charts.theme import PLAIN
from dpcore.core.domains import LOSS
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import nearest, numeral
from dpcore.core.registry import RELATIONS
from dpcore.language.numbers import read_value
from dpcore.specs import recipes
from dpcore.specs.base import drawer_of
from dpcore.utility.bounds import SIDES
from dpcore.utility.dataset import OTHER

if TYPE_CHECKING:
    from dpcore.specs import Spec
    from dpcore.specs.kinds.utility import DataDrawer

_PLANNED = {
    "count": "count",
    "sum": "sum",
    "mean": "mean",
    "histogram": "histogram",
    "median": "quantile",
    "quantile": "quantile",
    "most common value": "top choice",
}
"""Query of a pair -> kind of answer in a plan."""

TARGET = LOSS.but(name="The target", high=1e15)


def show_pictures(view: UtilityView) -> None:
    """Say how far off a release is, and draw the error and the region; if one fails, the others still appear."""
    store = view.source.store
    try:
        with work.progress("Computing", store=store):
            st.markdown(sentence(view.pair.sentence(view.data)))
    except DpcoreError as error:
        trouble(error, "utility_words")
    _picture(view.utility_spec(), "utility_figure", "Simulating", store, apart=True)
    with page.under_controls("region"):
        st.header("Privacy region")
        _picture(view.region_spec(), "utility_region", "Drawing", store)


def _picture(spec: Spec, key: str, words: str, store: work.ResultCache, *, apart: bool = False) -> None:
    try:
        with work.progress(words, store=store):
            figure.picture(figure.figure_of(spec, height=HEIGHT, store=store), key, apart=apart)
    except DpcoreError as error:
        trouble(error, key)


def offer_plan(view: UtilityView) -> None:
    """Show a link to the planner with this query as the first answer of a plan, if query and data are suitable."""
    with suppress(DpcoreError):  # errors in the data are shown where they are drawn
        state = plan_state(view)
        if state:
            navigation.PLANNER.point("Use this in a release plan", **state)


def plan_state(view: UtilityView) -> dict[str, str]:
    """Return the state of the planner page with this query as its only answer; empty if plans have no such answer."""
    kind, fields = _PLANNED.get(view.pair.query, ""), view.source.fields
    table, _, column = str(fields.get("sample") or f"{UPLOAD}.{fields.get('column') or ''}").partition(".")
    if not kind or not column or view.data.d != 1:
        return {}
    parameters = values_of(view.pair)
    answer = {"answer": kind, "column": column}
    if kind == "count":
        text = str(parameters.get("equals") or "")
        where = condition_of(column, text) if text else f"{column} >= {numeral(parameters['at_least'])}"
        answer = {"answer": kind, "where": where}
    answer |= {name: numeral(parameters[name]) for name in ("level", "bins") if name in parameters}
    data = view.data
    facts = {"name": column}
    if data.categories:
        facts["categories"] = category_list([name for name in data.categories if name != OTHER])
    else:
        facts |= {"lower": numeral(data.low), "upper": numeral(data.high)}
    relation = str(parameters.get("neighbours", DEFAULTS["plan_relation"]))
    return {
        "plan_table": table,
        "plan_answers": answers_text([answer]),
        "plan_columns": columns_text([facts]),
        "plan_epsilon": numeral(parameters["epsilon"]),
        "plan_relation": relation if relation in RELATIONS else str(DEFAULTS["plan_relation"]),
        "plan_rows": str(data.n) if fields.get("sample") else "",
    }


def show_facts(view: UtilityView) -> None:
    """List what is known without simulation, with its theorem and formula."""
    with st.expander("What is known without simulation", icon=":material/function:"):
        try:
            rows = known_facts(view)
        except DpcoreError as error:
            st.error(plain(str(error)))
            return
        if not rows:
            st.markdown("No closed form is known here; the points are simulated.")
        for label, value, theorem, formula in rows:
            math_text = f" ${formula}$" if formula else ""
            st.markdown(f"- **{plain(label)}**: {sentence(value)}.{math_text} {plain(theorem)}.")


def show_source(view: UtilityView) -> None:
    """Show the query's formula, assumptions and source; a formula needs the full width."""
    with st.expander("Formula and source", icon=":material/menu_book:"):
        st.latex(view.pair.formula)
        st.markdown(plain(view.pair.assumptions))
        st.caption(plain(f"{view.pair.reference}."))


def show_bounds(view: UtilityView) -> None:
    """Show how the error moves with a bound, where bounds are a choice."""
    if not view.has_bounds:
        return
    st.header("Bounds: bias against noise")
    st.markdown(
        "Values outside the bounds are moved to them, which biases the answer; wider bounds need more noise. The "
        "dotted line is the current bound."
    )
    side = (
        st.segmented_control(
            "Bound to vary", SIDES, default=SIDES[0], required=True, key="utility_side", bind="query-params"
        )
        or SIDES[0]
    )
    options: dict[str, Any] = {"words": "Moving the bound", "height": HEIGHT, "link": False}
    figure.show(view.bound_spec(side), key="utility_bound", store=view.source.store, **options)


def ask_needed(view: UtilityView) -> None:
    """Ask the inverse question: which parameter, or how many records, this error needs."""
    measure = view.pair.measure_of(view.measure)
    least = "at least" if measure.larger_is_better else "at most"
    left, right = st.columns(2)
    with left:
        of = choice("Which value of", "utility_of", movable(view.pair), view.pair.main)
    with right:
        unit = f" ({measure.unit})" if measure.unit else ""
        text = st.text_input(
            f"{measure.label[:1].upper()}{measure.label[1:]}, {least}{unit}",
            "",
            key="utility_target",
            bind="query-params",
            placeholder="type a number",
        ).strip()
    if not text:
        st.caption("Type the largest error you can accept; the closed forms are solved for the parameter.")
        return
    try:
        target = read_value(TARGET, text)
        drawer = cast("DataDrawer", drawer_of(view.region_spec()))
        recipe = recipes.Method(drawer.query, "requirement", (view.measure, target, drawer.data, of))
        with work.progress("Solving", store=view.source.store):
            needed = recipes.run(recipe, PLAIN, view.source.files)
    except DpcoreError as error:
        trouble(error, "utility_results_solving")
        return
    st.markdown(sentence(needed.words))
    if of in numbers_of(view.pair):
        value = int(needed.value) if numbers_of(view.pair)[of].kind == "integer" else needed.value
        st.button(f"Look at {of} = {nearest(value)}", icon=":material/visibility:", on_click=_take, args=(of, value))
    with st.expander("Python that solves this", icon=":material/code:"):
        st.code(recipes.source(recipe, work.TOLERANCE, name="needed"), language="python", wrap_lines=True)


def _take(name: str, value: float) -> None:
    """Set a parameter."""
    chosen = read(st.session_state[KIND.key])
    page.change(KIND.key, KIND.text(chosen.but(**{name: value})))

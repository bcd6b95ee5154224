"""What the page of privacy and utility shows of a view: figures, slider, sentence, facts and the inverse question."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import page, work
from dpcore.app.figure import plain, trouble
from dpcore.app.hand_figure import show_or_say
from dpcore.app.inputs import choice
from dpcore.app.privacy_and_utility import (
    KIND,
    RECORDS,
    UtilityView,
    bound_code,
    bound_picture,
    has_bounds,
    known_facts,
    movable,
    needed_code,
    numbers_of,
    read,
)
from dpcore.app.settings import label_of, meant, said
from dpcore.charts.pairs import pair_grid
from dpcore.core.domains import COUNT, LOSS
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import nearest
from dpcore.language.numbers import read_value
from dpcore.utility.bounds import SIDES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.core.registry import Parameter

STEPS = 61  # of the slider
SLIDER = "utility_slide"
TARGET = LOSS.but(name="The target", high=1e15)


def slider(view: UtilityView) -> None:
    """Show the slider of the parameter across with its exact field; both write the setting."""
    value = view.source.data.n if view.moves == RECORDS else getattr(view.pair, view.moves)
    parameter = numbers_of(view.pair).get(view.moves)
    label = label_of(parameter) if parameter is not None else "Number of records (n)"
    options = _steps(view, parameter, value)
    st.session_state["utility_slide"] = value
    st.session_state["utility_exact"] = str(value) if parameter is None else said(parameter, value)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        st.select_slider(
            f"{label}, on a log scale",
            options,
            key="utility_slide",
            format_func=nearest,
            on_change=_take_slide,
            args=(view.moves,),
        )
    with right:
        st.text_input(
            f"{label}, exactly",
            key="utility_exact",
            on_change=_take_exact,
            args=(view.moves,),
            help="Typed as 0.5, 1e-6, log(3) or 1/3.",
        )
    notices = st.session_state.pop("_utility_told", "")
    if notices:
        st.error(plain(notices), icon=":material/error:")


def moved(view: UtilityView, held: Mapping[str, str]) -> UtilityView:
    """Return the view with the value of the slider while it is held; data stay as they are."""
    parameter = numbers_of(view.pair).get(view.moves)
    if SLIDER not in held or parameter is None:
        return view
    return replace(view, pair=view.pair.but(**{view.moves: meant(parameter, held[SLIDER])}))


def _steps(view: UtilityView, parameter: Parameter | None, value: float) -> list[Any]:
    """Return the values of the slider, the present one among them."""
    places = [x for x in pair_grid(view.pair, view.source.data, view.moves, STEPS) if x != value]
    if parameter is None:
        top = view.source.most
        places = [x for x in places if x <= top] + [float(top)]
    if parameter is None or parameter.kind == "integer":
        return sorted({int(x) for x in places} | {int(value)})
    return sorted({*places, value})


def _take_slide(moves: str) -> None:
    _set(moves, st.session_state["utility_slide"])


def _take_exact(moves: str) -> None:
    """Take a typed value; a wrong one is explained on the page."""
    text = str(st.session_state["utility_exact"])
    try:
        pair = read(st.session_state["utility"])
        known = numbers_of(pair)
        _set(moves, meant(known[moves], text) if moves in known else read_value(COUNT.but(high=10**9), text, "n"), text)
    except DpcoreError as error:
        st.session_state["_utility_told"] = str(error)


def _set(moves: str, value: Any, text: str = "") -> None:
    """Set a parameter, written as it was typed if it was."""
    typed = {moves: text} if text else {}
    try:
        pair = read(st.session_state["utility"])
        if moves == RECORDS and moves not in numbers_of(pair):
            page.change("utility_n", str(value))
        else:
            page.change("utility", KIND.text(pair.but(**{moves: value}), **typed))
    except DpcoreError as error:
        st.session_state["_utility_told"] = str(error)


# ---- what is found -------------------------------------------------------------------------------------------


def show_words(found: str | DpcoreError) -> None:
    """Say how far a release is off, and what an attacker can do."""
    if isinstance(found, DpcoreError):
        st.error(plain(str(found)), icon=":material/error:")
    else:
        st.info(plain(found), icon=":material/balance:")


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
            st.markdown(f"- **{plain(label)}**: {plain(value)}.{math_text} {plain(theorem)}.")


def show_bounds(view: UtilityView, *, dark: bool) -> None:
    """Show how the error moves with a bound, where bounds are a choice."""
    if not has_bounds(view):
        return
    st.header("The bounds: bias against noise")
    st.markdown(
        "Values outside the bounds are moved to them, which biases the answer; wider bounds need more noise. The dotted line is "
        "the present bound."
    )
    side = (
        st.segmented_control(
            "Bound that moves", SIDES, default=SIDES[0], required=True, key="utility_side", bind="query-params"
        )
        or SIDES[0]
    )
    with work.progress("Moving the bound"):
        made = work.attempt(bound_picture, view, side, dark=dark)
    show_or_say(made, code=bound_code(view, side), key="utility_bound", link=False)


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
        st.caption("Type the error you can bear; the closed forms are solved for the parameter.")
        return
    try:
        target = read_value(TARGET, text)
        with work.progress("Solving"):
            found = view.kept(
                ("needed", *view.key, of, target),
                lambda: view.pair.requirement(view.measure, target, view.source.data, of),
            )
    except DpcoreError as error:
        trouble(error, "utility_results_solving")
        return
    st.markdown(plain(found.words))
    if of in numbers_of(view.pair):
        value = int(found.value) if numbers_of(view.pair)[of].kind == "integer" else found.value
        st.button(f"Look at {of} = {nearest(value)}", icon=":material/visibility:", on_click=_set, args=(of, value))
    with st.expander("Python that solves this", icon=":material/code:"):
        st.code(needed_code(view, view.measure, target, of), language="python", wrap_lines=True)

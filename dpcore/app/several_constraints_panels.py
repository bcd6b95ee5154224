"""The parts of the page Several constraints: each shows widgets and returns their input."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import figure, inputs, page, several_constraints, work
from dpcore.app.export import csv_of
from dpcore.app.figure import numbers, plain, sentence
from dpcore.app.several_constraints import DEFAULTS, DELTA, EPSILON, HEADINGS, STATUS, ConstraintsView
from dpcore.constraints import Constraints, dominating_pair
from dpcore.constraints.containing import MOST_FACTORS
from dpcore.core.errors import DpcoreError

if TYPE_CHECKING:
    from dpcore.constraints import Split
    from dpcore.regions.tradeoff import TradeOff


def asked() -> tuple[str, ...]:
    """Return the page's whole current question: stopped work restarts when it changes."""
    return tuple(str(st.session_state.get(key)) for key in DEFAULTS)


# ---- the list ------------------------------------------------------------------------------------------------


def ask() -> ConstraintsView | None:
    """Show the list and k and return them; None, with the error shown, if one is wrong."""
    table, counts, texts = st.container(), st.container(), st.container()
    with texts, st.expander("The list as text", icon=":material/edit_note:"):
        text = st.text_input(
            "Statements ε, δ, joined by ;",
            DEFAULTS["cons_list"],
            key="cons_list",
            bind="query-params",
            help="Pairs such as 0.6, 0.05; 0, 0.2. An ε of 0 bounds the total variation; log(3) and 1/3 are numbers too, "
            "and dp(1, 0.1), tv(0.2) or dptv(1, 0, 0.3) may stand for pairs.",
        )
    constraints = None
    with table:
        st.markdown("**Every mechanism satisfies**")
        try:
            constraints = Constraints.read(text)
            _editor(constraints)
        except DpcoreError as error:
            st.error(plain(str(error)), icon=":material/error:")
    with counts:
        k = inputs.slider_field(
            "k",
            "cons_k",
            DEFAULTS["cons_k"],
            several_constraints.KS,
            several_constraints.MECHANISMS,
            name="Number of mechanisms k",
            help_text="How many such mechanisms are released together, even adaptively.",
        )
        axes = st.segmented_control(
            "Axes",
            ("f-DP", "thesis"),
            default=DEFAULTS["cons_axes"],
            required=True,
            key="cons_axes",
            bind="query-params",
        )
    if constraints is None or k is None:
        return None
    return ConstraintsView(constraints, int(k), "thesis" if axes == "thesis" else "fdp")


def _editor(constraints: Constraints) -> None:
    """Show the list as an editable table; its content goes into the text, which the link carries."""
    key = f"cons_table_{zlib.crc32(constraints.text.encode())}"
    digits: dict[str, Any] = {"required": True, "format": "%.10g", "min_value": 0.0}
    st.data_editor(
        several_constraints.editor_table(constraints),
        num_rows="dynamic",
        hide_index=True,
        width="stretch",
        key=key,
        on_change=_take_edits,
        args=(key, constraints.text),
        disabled=[STATUS],
        column_config={
            EPSILON: st.column_config.NumberColumn(help="From 0 upwards; 0 bounds the total variation.", **digits),
            DELTA: st.column_config.NumberColumn(help="From 0 to 1.", max_value=1.0, **digits),
            STATUS: st.column_config.TextColumn(
                HEADINGS[STATUS], help="Whether the region would be larger without the statement."
            ),
        },
    )


def _take_edits(key: str, text: str) -> None:
    """Write the table into the text; a table that is not a valid list (empty, say) changes nothing."""
    try:
        new = several_constraints.edited(text, st.session_state.get(key) or {})
    except DpcoreError:
        return
    if new != text:
        page.change("cons_list", new)


# ---- what is shown of it -------------------------------------------------------------------------------------


def show_activity(view: ConstraintsView) -> None:
    """Show which statements count and why the others follow."""
    try:
        with work.progress("Checking"):
            table = several_constraints.statuses(view.constraints)
    except DpcoreError as error:
        figure.trouble(error, "constraints_checking")
        return
    st.markdown(sentence(several_constraints.activity_words(table)))
    numbers(table, "cons_activity", HEADINGS)


def show_corners(view: ConstraintsView) -> None:
    """Show the corners of the exact region with the guess beside them."""
    try:
        with work.progress("Listing"):
            table = several_constraints.corner_table(view)
            words = several_constraints.corner_words(view)
    except DpcoreError as error:
        figure.trouble(error, "constraints_listing")
        return
    st.markdown(sentence(words))
    numbers(table, "cons_corners", HEADINGS)
    st.download_button(
        "Corners as CSV",
        data=lambda: csv_of(table),
        file_name="corners.csv",
        mime="text/csv",
        on_click="ignore",
        key="cons_corners_csv",
        icon=":material/download:",
    )
    st.caption("The same on the command line")
    st.code(several_constraints.corner_command(view), language=None, wrap_lines=True)


def show_pair(view: ConstraintsView) -> None:
    """Explain the dominating pair and list it."""
    st.markdown(
        "Each straight piece of the border is one kind of answer: its width is how likely the answer is without the "
        "person's data (p), its drop how likely with it (q), its steepness the loss. No mechanism that satisfies the "
        "list reveals more than a draw from this pair; k of them reveal at most k draws."
    )
    table = dominating_pair(view.constraints.region)
    numbers(table, "cons_pair_numbers", HEADINGS)


# ---- splitting -----------------------------------------------------------------------------------------------


def ask_region(view: ConstraintsView | None) -> TradeOff | None:
    """Show the field for a region and return it; None, with the error shown, if it is wrong."""
    text = st.text_input(
        "Region to split",
        DEFAULTS["cons_split"],
        key="cons_split",
        bind="query-params",
        help="Any expression: dp(0.6, 0.05) & tv(0.2), rr(1, 5), dp(0.3)^4 * dp(1, 0.1), dptv(1, 0, 0.2)^3.",
    )
    if view is not None:
        with st.container(horizontal=True):
            for label, region in (("Take the list above", view.constraints.region), ("Take k of them", view.exact)):
                st.button(label, on_click=page.change, args=("cons_split", str(region)), key=f"cons_take_{label}")
    try:
        region, notices = several_constraints.read_region(text.strip())
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    for warning in notices:
        st.warning(plain(warning))
    return region


def split(region: TradeOff) -> Split | None:
    """Split a region; return None, with the error shown, if that fails."""
    try:
        with work.progress("Splitting"):
            return several_constraints.answer_of(region)
    except DpcoreError as error:
        figure.trouble(error, "constraints_splitting")
        return None


def ask_step(answer: Split) -> int:
    """Ask how many constraints to peel off, and list them."""
    last = len(answer.steps)
    if int(st.session_state.get("cons_step", 0)) > last:
        st.session_state["cons_step"] = last
    step = int(
        st.slider(
            "Peeling steps",
            0,
            last,
            min(DEFAULTS["cons_step"], last),
            key="cons_step",
            bind="query-params",
            help="The smallest factor comes off first; move the slider to go step by step.",
        )
    )
    st.markdown(
        "\n".join(plain_line(line) for line in several_constraints.step_words(answer)[:step]) or "No step taken yet."
    )
    with st.expander("All steps as a table", icon=":material/table_rows:"):
        numbers(answer.steps, "cons_steps", HEADINGS)
    return step


def plain_line(text: str) -> str:
    """Return a text as one numbered line of Markdown; its first word is the number."""
    number, rest = text.split(" ", maxsplit=1)
    return f"{number} {plain(rest)}"


def ask_factors() -> int:
    """Ask how many factors a containing product may have."""
    return int(
        st.slider(
            "Factors of a containing product, at most",
            1,
            MOST_FACTORS,
            DEFAULTS["cons_m"],
            key="cons_m",
            bind="query-params",
            help="More factors can follow the region more closely; the search takes longer.",
        )
    )


def show_answer(answer: Split) -> None:
    """Show the verdict with the list, or with the certificate."""
    words = f"**{plain(several_constraints.answer_words(answer))}**"
    if answer.is_product:
        st.success(f"{words} {sentence(answer.reason)}", icon=":material/check_circle:")
        st.code(str(answer.product), language=None, wrap_lines=True)
    elif answer.is_product is None:
        st.warning(f"{words} {sentence(answer.reason)}", icon=":material/help:")
    else:
        st.info(f"{words} {sentence(answer.reason)}", icon=":material/block:")


def show_product(region: TradeOff, m: int) -> None:
    """Show the smallest containing product found, and where the search started."""
    try:
        with work.progress("Searching"):
            around = several_constraints.product_around(region, m)
            words = several_constraints.product_words(around, m)
    except DpcoreError as error:
        figure.trouble(error, "constraints_searching")
        return
    st.markdown(sentence(words))
    st.code(str(around.region), language=None, wrap_lines=True)
    figure.show(several_constraints.product_spec(region, m), key="cons_product", words="Drawing", link=False)
    with st.expander("Starts of the search", icon=":material/table_rows:"):
        numbers(around.starts, "cons_starts", HEADINGS)

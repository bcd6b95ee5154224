"""The statistics lab as its page shows it: the state in the link, the pictures, and the Python that makes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import page, work
from dpcore.app.export import csv_of
from dpcore.app.figure import numbers, plain, trouble
from dpcore.app.inputs import choice
from dpcore.app.settings import Kind, values_of, written
from dpcore.core.domains import SEED
from dpcore.core.effort import effort
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import nearest
from dpcore.labs import LABS, Lab, lab
from dpcore.language.numbers import read_value

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

ORDER = (
    "noise_zoo",
    "mixed_noise",
    "bounded_noise",
    "concentrated",
    "intervals",
    "sensitivity",
    "blocking",
    "before_or_after",
    "time_series",
    "noisy_sgd",
    "disclosure_control",
    "composition_examples",
)
KIND = Kind("lab", LABS, lab, "a lab, such as mixed_noise")
MOST_SEED = 10**9
TOLERANCE = 1e-6  # that of the library: the numbers beside printed ones are those of the code shown


def names() -> list[str]:
    """Return the labs in the order of the menu."""
    return sorted(LABS, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


# session keys outlive a page, so no other page may use the same ones
DEFAULTS: dict[str, Any] = {"lab": names()[0], "lab_view": "", "lab_seed": "0"}
_VERDICTS = {
    "holds": "✓ holds",
    "false": "✗ false",
    "misprint": "✗ misprint",
    "reading": "? reading",
    "loose": "≈ true but loose",
}


# ---- what is asked -------------------------------------------------------------------------------------------


def ask(texts: DeltaGenerator) -> Lab | None:
    """Show the menu of labs and, in `texts`, the setting as the link carries it; None with the error shown."""
    place = st.container()
    with texts:
        text = st.text_input(
            "Setting",
            DEFAULTS["lab"],
            key="lab",
            bind="query-params",
            help="Name and parameters, as the link carries them: mixed_noise epsilon=1.",
        )
        st.text_input("Picture", "", key="lab_view", bind="query-params", help="Empty: the first of the lab.")
    current: Lab | None = None
    try:
        current = KIND.read(text.strip())
    except DpcoreError as error:
        place.error(plain(str(error)), icon=":material/error:")
    st.session_state["lab_menu"] = None if current is None else current.name
    place.selectbox(
        "Lab",
        names(),
        index=None if current is None else 0,
        key="lab_menu",
        format_func=lambda name: f"{LABS[name].title} ({LABS[name].place})",
        on_change=_take_lab,
        placeholder="Choose a lab",
    )
    return current


def _take_lab() -> None:
    name = st.session_state.get("lab_menu")
    if name is not None:
        page.apply({"lab": name, "lab_view": ""})


def ask_view(current: Lab) -> str:
    """Show the menu of the lab's pictures."""
    return choice("Show", "lab_view", {name: titled(name) for name in current.views}, current.views[0])


def titled(view: str) -> str:
    """Return the name of a picture as a menu shows it: "Figure 6.1" for figure_6_1."""
    words = re.sub(r"(?<=\d)_(?=\d)", ".", view).replace("_", " ")
    return words[:1].upper() + words[1:]


def ask_seed(current: Lab) -> int:
    """Show the seed of the simulation, where there is one."""
    if not current.simulates:
        return 0
    text = st.text_input(
        "Seed of the simulation",
        DEFAULTS["lab_seed"],
        key="lab_seed",
        bind="query-params",
        help="The same seed draws the same numbers, so that the link shows the same picture.",
    )
    try:
        return int(read_value(SEED.but(high=MOST_SEED), text.strip(), "The seed"))
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return int(DEFAULTS["lab_seed"])


# ---- what is shown -------------------------------------------------------------------------------------------


def story(current: Lab) -> None:
    """Say what was claimed, what is true and why it matters."""
    told = current.story
    for column, (heading, words) in zip(
        st.columns(3), {"Claimed": told.claimed, "True": told.true, "Why it matters": told.matters}.items(), strict=True
    ):
        with column, st.container(border=True):
            st.markdown(f"**{heading}**")
            st.markdown(plain(words))
    changed = ", ".join(f"{name} = {getattr(current.source(), name)}" for name in current.changes())
    if changed:
        st.caption(plain(f"Told at the source's own parameters ({changed}); the picture below is at yours."))


def statements(current: Lab) -> list[str]:
    """Return the formulas of the corrected statement one by one: side by side they are wider than a phone."""
    return re.split(r",?\s*\\q?quad\s*", current.formula)


def spec(current: Lab, view: str, seed: int) -> dict[str, Any]:
    """Return the spec of one of the lab's pictures."""
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in values_of(current).items()}
    return {
        "draw": "lab",
        "lab": current.name,
        "parameters": values,
        "view": view,
        "seed": seed,
        "tolerance": TOLERANCE,
    }


def table(current: Lab, seed: int) -> pd.DataFrame:
    """Return what was printed beside what is true, made once."""

    def make() -> pd.DataFrame:
        with effort(tolerance=TOLERANCE):
            return current.table(seed)

    return work.cache().get(("lab checks", written(current), seed), make)


def show_checks(current: Lab, seed: int) -> None:
    """Show the rows of printed against true."""
    try:
        with work.progress("Checking"):
            rows = table(current, seed)
    except DpcoreError as error:
        trouble(error, "lab_checks")
        return
    shown = rows.assign(printed=[_short(text) for text in rows["printed"]])
    own = shown["verdict"] == ""
    judged = shown[~own].assign(verdict=shown["verdict"].map(_VERDICTS))
    numbers(judged[["verdict", "quantity", "printed", "value", "kind", "why", "place", "error", "row"]], "lab_checks")
    st.caption(
        "Judged at the source's own parameters. “Printed” is what the source says: a number it prints, what its formula gives, or its "
        "words; “value” is what is true, and “kind” says whether that is exact, a bound or simulated with the standard error "
        "given. “Row” names the row of the errata about the same place."
    )
    if own.any():
        st.markdown("**At your parameters**: numbers, no verdicts.")
        numbers(shown[own][["quantity", "printed", "value", "kind", "place", "error"]], "lab_numbers")
    st.download_button(
        "These rows as CSV",
        data=lambda: csv_of(rows),
        file_name=f"{current.name}.csv",
        mime="text/csv",
        on_click="ignore",
        key="lab_checks_csv",
        icon=":material/download:",
    )


def _short(text: str) -> str:
    """Return a printed number with six digits; words stay as they are."""
    try:
        return nearest(float(text))
    except ValueError:
        return text

"""The statistics lab page: the state in the link, the stories, the pictures and the table of checks."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from dpcore.app import page, work, your_data
from dpcore.app.export import csv_of
from dpcore.app.figure import numbers, plain, sentence, trouble
from dpcore.app.inputs import choice
from dpcore.app.navigation import Door
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
TOLERANCE = 1e-6  # the library's own, so that the numbers match those of the code shown


def names() -> list[str]:
    """Return the names of the labs in menu order."""
    return sorted(LABS, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


# session keys outlive a page, so no other page may use the same names
DEFAULTS: dict[str, Any] = {"lab": names()[0], "lab_view": "", "lab_seed": "0"}
_VERDICTS = {
    "holds": "✓ holds",
    "false": "✗ false",
    "misprint": "✗ misprint",
    "reading": "? reading",
    "loose": "≈ true but loose",
}


# ---- the fields ----------------------------------------------------------------------------------------------


def ask(texts: DeltaGenerator) -> Lab | None:
    """Show the menu of labs and, in `texts`, the setting as in the link; return None after showing an error."""
    place = st.container()
    with texts:
        text = st.text_input(
            "Setting",
            DEFAULTS["lab"],
            key="lab",
            bind="query-params",
            help="Name and parameters, as in the link: mixed_noise epsilon=1.",
        )
        st.text_input(
            "Picture", "", key="lab_view", bind="query-params", help="Leave it empty for the lab's first picture."
        )
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
    return choice("Show", "lab_view", {name: view_title(name) for name in current.views}, current.views[0])


def view_title(view: str) -> str:
    """Return the menu entry of a picture: "Figure 6.1" for figure_6_1."""
    words = re.sub(r"(?<=\d)_(?=\d)", ".", view).replace("_", " ")
    return words[:1].upper() + words[1:]


def ask_seed(current: Lab) -> int:
    """Show the seed if the lab simulates."""
    if not current.simulates:
        return 0
    text = st.text_input(
        "Seed of the simulation",
        DEFAULTS["lab_seed"],
        key="lab_seed",
        bind="query-params",
        help="The same seed gives the same numbers, so the link shows the same picture.",
    )
    try:
        return int(read_value(SEED.but(high=MOST_SEED), text.strip(), "The seed"))
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return int(DEFAULTS["lab_seed"])


# ---- the page ------------------------------------------------------------------------------------------------


def story(current: Lab) -> None:
    """Show what was claimed, what is true and why it matters."""
    cards = current.story
    for column, (heading, words) in zip(
        st.columns(3),
        {"Claimed": cards.claimed, "True": cards.true, "Why it matters": cards.matters}.items(),
        strict=True,
    ):
        with column, st.container(border=True):
            st.markdown(f"**{heading}**")
            st.markdown(sentence(words))
    changed = ", ".join(f"{name} = {getattr(current.source(), name)}" for name in current.changes())
    if changed:
        st.caption(plain(f"The story uses the source's own parameters ({changed}); the picture below uses yours."))
    if current.tool:
        door = Door(
            "pages/17_Your_data.py", "The same on your own data", "", "table_view", your_data.opening(current.tool)
        )
        with suppress(StreamlitPageNotFoundError):  # a page that runs alone, without the app
            door.link()


def statements(current: Lab) -> list[str]:
    """Return the formulas of the corrected statement one by one: side by side they are too wide for a phone."""
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
    """Return the table of printed and true values, computed once."""

    def make() -> pd.DataFrame:
        with effort(tolerance=TOLERANCE):
            return current.table(seed)

    return work.cache().get(("lab checks", written(current), seed), make)


def show_checks(current: Lab, seed: int) -> None:
    """Show the table of printed and true values."""
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
        "Judged at the source's own parameters. “Printed” is what the source says: a number, the result of its formula, or its "
        "words. “Value” is the true value, and “kind” says whether it is exact, a bound, or simulated with the standard error "
        "in the table. “Row” is the row of the errata about the same place."
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
    """Return a printed number with six digits; words are unchanged."""
    try:
        return nearest(float(text))
    except ValueError:
        return text

"""The disclosure check on the page Your data: the fields, the specs of the figures, and a protected copy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import figure, inputs, live, page, work, your_data_table
from dpcore.app.export import csv_of
from dpcore.core.domains import COUNT, POSITIVE
from dpcore.core.errors import DpcoreError
from dpcore.core.notices import collected
from dpcore.core.numerals import numeral
from dpcore.core.results import kept_by, result
from dpcore.files.matrices import read_matrix
from dpcore.files.microdata import read_microdata
from dpcore.files.sheet import open_csv
from dpcore.language.numbers import read_value
from dpcore.planner.disclosure.generalisation import notes as rule_notes
from dpcore.planner.disclosure.noise import HALFWIDTH
from dpcore.planner.disclosure.plan import METHODS, both_classes, missing_notes
from dpcore.planner.disclosure.post_randomisation import KEEP
from dpcore.specs import Spec, intermediate
from dpcore.utility.reading import declared
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dpcore.app.your_data_table import OpenTable
    from dpcore.files.microdata import Microdata
    from dpcore.planner.disclosure import Protection

    Protections = tuple[dict[str, Any], str]  # fields of a spec, and a matrix

CLASSES, PRAM, NOISE = VIEWS = ("classes", "PRAM", "noise")
HEIGHT = 400
MOST_PILLS = 15  # most columns that are shown side by side
SLIDERS = ("data_suppress_slider", "data_keep_slider", "data_size_slider")
MATRIX = "matrix.csv"
_KINDS = {CLASSES: "disclosure", PRAM: "pram", NOISE: "column_noise"}
_FIRST: dict[str, tuple[list[str], list[str], str, str, str]] = {
    "ages": (["age", "household"], [], "age:10", "household", "age"),
    "survey": (["transport", "study_hours"], ["cheated"], "study_hours:10", "cheated", "study_hours"),
    "staff": (["department", "years"], ["salary"], "years:10", "department", "salary"),
    "sport": (["member"], [], "", "month", "hours"),
    "homes": (["home"], [], "", "home", "electricity"),
}  # sample -> initial quasi-identifiers, sensitive columns, rules, column of PRAM, column of noise
_PARTS = ("data_quasi", "data_sensitive", "data_rules", "data_pram_column", "data_noise_column")
DEFAULTS: dict[str, Any] = {
    "data_protect": CLASSES,
    "data_suppress": "1",
    "data_keep": "0.8",
    "data_categories": "",
    "data_matrix": "",
    "data_method": METHODS[0],
    "data_size": "2.5",
    "data_shift": "1",
    **{f"{part}_{name}": first for name, values in _FIRST.items() for part, first in zip(_PARTS, values, strict=True)},
}
_SUPPRESS = COUNT.but(name="suppress", high=1000)
_SEEN = "_data_protections"  # which table, and the last question in every view
_SHIFT = POSITIVE.but(name="shift", high=1e9)


@dataclass(frozen=True)
class DisclosureQuestion:
    """A table, the current view, and the fields of the specs about it."""

    table: OpenTable
    view: str
    fields: dict[str, Any]
    shift: float
    matrix: str = ""

    def _spec(self, draw: str, **own: Any) -> Spec:
        spec = self.table.spec(draw, **self.fields, **own)
        return replace(spec, files={**spec.files, MATRIX: self.matrix.encode()}) if self.matrix else spec

    def spec(self) -> Spec:
        """Return the spec of the main figure."""
        return self._spec(_KINDS[self.view])

    def region_spec(self) -> Spec:
        """Return the spec of the regions."""
        return self._spec("protection_region", shift=self.shift)

    def with_others(self, others: Iterable[Protections]) -> DisclosureQuestion:
        """Return what is done to a copy that also gets other protections."""
        fields, matrix = dict[str, Any](), self.matrix
        for one, own in (*others, (self.fields, self.matrix)):
            fields |= one
            matrix = own or matrix
        fields.pop("sensitive", None)
        return replace(self, view=PRAM, fields=fields, matrix=matrix)

    def moved(self, held: Mapping[str, str]) -> DisclosureQuestion:
        """Return the question with the value of the slider that is held."""
        changed = dict(self.fields)
        for key, text in held.items():
            if key == SLIDERS[0]:
                changed["suppress"] = int(read_value(_SUPPRESS, text))
            elif key == SLIDERS[1] and "keep" in changed:
                changed["keep"] = float(read_value(KEEP, text))
            elif key == SLIDERS[2] and "noise" in changed:
                start, _, _ = changed["noise"].rpartition(":")
                changed["noise"] = f"{start}:{numeral(read_value(HALFWIDTH, text))}"
        return replace(self, fields=changed)

    def plan(self) -> tuple[Microdata, Protection]:
        """Return the table and what is done to it; what is read from a visitor's file is kept only for that visitor."""
        with kept_by(work.keeper(self.table.store)), collected():
            return intermediate(self.spec(), "data"), intermediate(self.spec(), "plan")


def section() -> None:
    """Show the tool."""
    left, below, question = your_data_table.places(_ask, "Complete the fields to see the check.")
    if question is None:
        return
    work.fresh(("disclosure", repr(question.fields), question.matrix, question.table.name, question.table.identity))
    store, key = question.table.store, f"data_{question.view.lower()}"

    def draw(held: Mapping[str, str]) -> None:
        with work.progress("Checking", store=store):
            figure.picture(figure.figure_of(question.moved(held).spec(), height=HEIGHT, store=store), key, apart=True)

    with left:
        live.follow("disclosure", SLIDERS, draw)
    with below:
        figure.offer(question.spec(), key=key, store=store)
        _show_more(question)
    page.guide("disclosure")


def _show_more(question: DisclosureQuestion) -> None:
    """Show the smallest classes or the regions, and offer the protected copy."""
    try:
        with work.progress("Checking", store=question.table.store):
            data, plan = question.plan()
            if question.view == CLASSES:
                _, after = both_classes(data, plan, question.fields.get("sensitive", ()))
                st.header("The smallest classes")
                figure.numbers(after.frame.head(10), "data_smallest")
                st.caption("Of the table as it would be released. This is for you alone: nothing here is protected.")
    except DpcoreError as error:
        figure.trouble(error, "data_more")
        return
    if question.view != CLASSES:
        st.header("What one released value reveals")
        figure.show(
            question.region_spec(),
            key="data_told",
            words="Drawing",
            height=HEIGHT,
            link=False,
            store=question.table.store,
        )
    st.header("Protected copy")
    try:
        with work.progress("Checking", store=question.table.store):
            _, whole = question.with_others(_ask_others(question)).plan()
    except DpcoreError as error:
        figure.trouble(error, "data_copy")
        return
    st.download_button(
        "Draw and download",
        data=lambda: csv_of(whole.release(data)),
        file_name="protected.csv",
        mime="text/csv",
        on_click="ignore",
        key="data_protected",
        icon=":material/download:",
        help="Every click draws again, with randomness from the operating system. Cells that a spreadsheet would run as formulas are made safe.",
    )
    st.caption(f"All {grouped(data.rows)} rows as the fields above say; columns that are not named stay as they are.")


def _ask_others(question: DisclosureQuestion) -> list[Protections]:
    """Offer to apply the protections set up in the other views of the same table to the copy, too."""
    place = question.table.name or question.table.identity
    table, seen = st.session_state.get(_SEEN, ("", {}))
    own: Protections = (question.fields, question.matrix)
    seen = {**(seen if table == place else {}), question.view: own}
    st.session_state[_SEEN] = (place, seen)
    others = [view for view in seen if view != question.view]
    if not others:
        st.caption("What you set up in the other views can be applied to the same copy: look at them first.")
        return []
    chosen = st.pills("Also applied to the copy", others, selection_mode="multi", key="data_also")
    return [seen[view] for view in chosen]


# ---- the fields ----------------------------------------------------------------------------------------------


def _ask() -> DisclosureQuestion | None:
    """Show the fields and return the question; None, with the reason shown, until it is complete."""
    view = str(
        st.segmented_control(
            "Look at",
            VIEWS,
            default=CLASSES,
            required=True,
            key="data_protect",
            bind="query-params",
            label_visibility="collapsed",
        )
    )
    table = your_data_table.ask()
    below = st.container()
    if table is None:
        return None
    try:
        with work.progress("Reading", store=table.store), kept_by(work.keeper(table.store)):
            data = result(read_microdata, table.sheet)
    except DpcoreError as error:
        below.error(figure.plain(str(error)), icon=":material/error:")
        return None
    if not table.name:
        st.success(
            f"{grouped(data.rows)} rows read. {' '.join(map(figure.plain, data.notes))}", icon=":material/check:"
        )
    question = {CLASSES: _ask_classes, PRAM: _ask_pram, NOISE: _ask_noise}[view](table, data)
    if question is None:
        return None
    try:
        with work.progress("Checking", store=table.store):
            _, plan = question.plan()
    except DpcoreError as error:
        st.error(figure.plain(str(error)), icon=":material/error:")
        return None
    typed = read_matrix(open_csv(question.matrix.encode())).notes if question.matrix else ()
    notes = (
        *typed,
        *missing_notes(data, question.fields.get("quasi", ())),
        *rule_notes(data, plan.rules),
        *data.comma_words(plan.numeric),
    )
    for text in notes:
        st.caption(figure.plain(text))
    return question


def _columns(table: OpenTable, key: str, label: str, help_text: str) -> list[str]:
    """Show a menu for several columns, side by side if there are few of them."""
    name, columns = table.key(key), table.sheet.columns
    first = DEFAULTS.get(name, list(columns[:2]) if key == "data_quasi" else [])
    if len(columns) <= MOST_PILLS:
        chosen = st.pills(
            label, columns, selection_mode="multi", default=first, key=name, help=help_text, wrap=True, **table.bound()
        )
    else:
        chosen = st.multiselect(label, columns, default=first, key=name, help=help_text, **table.bound())
    return [one for one in columns if one in chosen]  # in the order of the table, whatever was clicked first


def _column(table: OpenTable, key: str, label: str) -> str:
    """Show a menu for one column."""
    name, columns = table.key(key), table.sheet.columns
    first = DEFAULTS.get(name)
    place = columns.index(first) if first in columns else 0
    return str(st.selectbox(label, columns, index=place, key=name, **table.bound()))


def _ask_classes(table: OpenTable, data: Microdata) -> DisclosureQuestion | None:
    _ = data
    quasi = _columns(
        table, "data_quasi", "Known to an attacker (quasi-identifiers)", "What somebody may know about a person."
    )
    sensitive = _columns(table, "data_sensitive", "Sensitive", "What an attacker wants to learn; may be empty.")
    key = table.key("data_rules")
    rules = st.text_input(
        "Coarser columns",
        DEFAULTS.get(key, ""),
        key=key,
        placeholder="age:10, zip:2*",
        help="age:10 for intervals of 10, age:18|65 for these ends, zip:2* for the first two characters, zip:* to hide it, "
        "job:medical=nurse|doctor for groups; commas between columns.",
        **table.bound(),
    ).strip()
    suppress = inputs.slider_field(
        "k",
        "data_suppress",
        "1",
        [str(k) for k in (*range(1, 11), 12, 15, 20, 25, 30, 50)],
        _SUPPRESS,
        name="Leave out classes below k",
        help_text="Rows of smaller classes are not released; 1 keeps all.",
    )
    both = set(quasi) & set(sensitive)
    if not quasi or both:
        words = (
            f"{min(both)} is known and sensitive at once; choose one."
            if both
            else "Choose at least one column that an attacker knows."
        )
        st.info(figure.plain(words), icon=":material/badge:")
        return None
    if suppress is None:
        return None
    fields = {
        "quasi": tuple(quasi),
        "sensitive": tuple(sensitive) or None,
        "generalise": rules or None,
        "suppress": int(suppress),
    }
    return DisclosureQuestion(table, CLASSES, {name: value for name, value in fields.items() if value is not None}, 1.0)


def _ask_pram(table: OpenTable, data: Microdata) -> DisclosureQuestion | None:
    column = _column(table, "data_pram_column", "Column whose answers change at random")
    about = table.about(column)
    known = ", ".join(about.categories) if about is not None and about.categories else ""
    with st.expander("Categories and matrix", icon=":material/grid_on:"):
        categories = st.text_input(
            "Categories, separated by commas",
            "",
            key="data_categories",
            bind="query-params",
            placeholder=known or "yes, no",
            help="The possible answers, known without looking at the data. Empty for those of the sample, or of the file.",
        ).strip()
        matrix = st.text_area(
            "Transition matrix instead of a probability",
            "",
            key="data_matrix",
            bind="query-params",
            placeholder=",no,yes\nno,0.9,0.1\nyes,0.3,0.7",
            help="CSV: a row for each true answer, a column for each released one; every row adds up to 1.",
        ).strip()
    keep = inputs.slider_field(
        "Kept with probability", "data_keep", "0.8", inputs.even_values(0.0, 1.0, 50), KEEP, disabled=bool(matrix)
    )
    if keep is None and not matrix:
        return None
    fields: dict[str, Any] = {"pram": column, **({"matrix": MATRIX} if matrix else {"keep": keep})}
    names = categories or known
    if names:
        try:
            declared(names, 200)
        except DpcoreError as error:
            st.error(figure.plain(str(error)), icon=":material/error:")
            return None
        fields["categories"] = names
    elif not matrix:
        st.caption(
            f"The {len(data.column(column).texts)} categories are read off the data; declare them, because a category "
            "in a release reveals that somebody gave that answer."
        )
    return DisclosureQuestion(table, PRAM, fields, 1.0, matrix)


def _ask_noise(table: OpenTable, data: Microdata) -> DisclosureQuestion | None:
    _ = data
    column = _column(table, "data_noise_column", "Column of numbers")
    method = str(
        st.segmented_control(
            "Method",
            METHODS,
            default=METHODS[0],
            required=True,
            key="data_method",
            bind="query-params",
            help="k-noise adds uniform noise in [-a, a]; k-PRAM draws a new value within the bin of width a.",
        )
    )
    size = inputs.slider_field(
        "a",
        "data_size",
        "2.5",
        inputs.round_values(-1, 3),
        HALFWIDTH,
        help_text="Half-width of the noise, or width of the bins.",
    )
    below = st.container()
    shift = inputs.number_field(
        "Two values this far apart",
        "data_shift",
        "1",
        _SHIFT,
        trouble=below,
        help_text="The region below tells two such values apart.",
    )
    if size is None or shift is None:
        return None
    return DisclosureQuestion(table, NOISE, {"noise": f"{method} {column}:{numeral(size)}"}, shift)

"""The form that adds an answer to a plan, or one count for each category of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import page
from dpcore.app.figure import plain
from dpcore.app.plan_a_release_data import public
from dpcore.app.plan_a_release_lists import (
    answer_of,
    answers_text,
    category_list,
    column_cells,
    column_of,
    columns_text,
    condition_of,
)
from dpcore.core.errors import DomainError, DpcoreError
from dpcore.core.numerals import nearest, numeral
from dpcore.planner import ReleasePlan, charges
from dpcore.planner.release.suggestions import NUMBERS, TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpcore.app.plan_a_release import PlanDraft
    from dpcore.planner import PublicColumn
    from dpcore.planner.release.suggestions import ColumnSuggestion, TableSuggestion

NO_COLUMN = "all records, no column"
EACH = "count of each category"
KINDS_OF = {
    "": ("count", "proportion"),
    NUMBERS: ("mean", "sum", "quantile", "variance", "histogram"),
    TEXT: (EACH, "histogram", "top choice", "contingency"),
}
LEAK = {
    NUMBERS: "These bounds are the smallest and the largest value in the file: they belong to real people, and no "
    "noise hides them. If you can, use bounds known without the data, such as a pay scale.",
    TEXT: "These categories come from the file: each one reveals that somebody is in it, and no noise hides that. If "
    "you can, use a list known without the data.",
}
_FIELDS = ("where", "label", "lower", "upper", "categories", "among")
_ERROR = "_plan_form_error"


def ask(draft: PlanDraft, columns: Sequence[str], suggestion: TableSuggestion | None) -> None:
    """Show the form; Add writes the answer and what is public about its column into the plan.

    Parameters
    ----------
    draft : PlanDraft
        The plan so far.
    columns : sequence of str
        The columns of the table.
    suggestion : TableSuggestion or None
        The table's suggestions about them.
    """
    names = list(columns) or [column.name for column in draft.columns]
    column = st.selectbox(
        "About", [NO_COLUMN, *names], key="plan_form_column", help="A column, or the records themselves."
    )
    name = "" if column == NO_COLUMN else str(column)
    known, guess = draft.column(name), suggestion.column(name) if suggestion is not None else None
    sort = _sort(known, guess) if name else ""
    kind = str(st.selectbox("Publish", KINDS_OF[sort], key=f"plan_form_kind_{sort}"))
    cells: dict[str, str] = {"answer": kind, "column": name}
    cells |= _ask_details(kind, [other for other in names if other != name])
    if name and known is None:
        _ask_facts(name, sort, guess)
    elif known is not None:
        st.caption(plain(f"Public: {facts_words(known)}."))
    st.button(
        "Add",
        type="primary",
        icon=":material/add:",
        on_click=_add,
        args=(draft, cells, sort, guess),
        key="plan_form_add",
    )
    if (words := st.session_state.pop(_ERROR, "")) != "":
        st.error(plain(words), icon=":material/error:")


def _sort(known: PublicColumn | None, guess: ColumnSuggestion | None) -> str:
    """Return whether a column holds numbers or text: as stated, otherwise as the file suggests, otherwise numbers."""
    if known is not None:
        return TEXT if known.categories else NUMBERS
    return guess.kind if guess is not None else NUMBERS


def facts_words(column: PublicColumn) -> str:
    """Say what is public about a column."""
    words = category_list(column.categories) if column.categories else " to ".join(map(nearest, column.bounds))
    return f"{words}{' (read off the data)' if column.from_data else ''}"


def _ask_details(kind: str, others: Sequence[str]) -> dict[str, str]:
    """Show the fields for a kind of answer, and return its cells."""
    cells: dict[str, str] = {}
    if kind == "quantile":
        cells["level"] = st.text_input("Which quantile", "0.5", key="plan_form_level", help="0.5 is the median.")
    if kind == "histogram":
        cells["bins"] = st.text_input("Bins of numbers", "10", key="plan_form_bins")
    if kind == "contingency":
        cells["by"] = str(st.selectbox("By", others, key="plan_form_by") or "")
    share = kind == "proportion"
    cells["where"] = st.text_input(
        "Share of the records with" if share else "Only records with",
        key="plan_form_where",
        placeholder="department = Sales and years >= 10",
        help="Comparisons joined by and: =, !=, <, <=, >, >=, in [a, b]. Quote a text of several words.",
    )
    if share:
        cells["among"] = st.text_input("Among the records with", key="plan_form_among", placeholder="all, if empty")
    if kind != EACH:
        cells["label"] = st.text_input("Name", key="plan_form_label", placeholder="made from the answer, if empty")
    return cells


def _ask_facts(name: str, sort: str, guess: ColumnSuggestion | None) -> None:
    """Show the fields for what is public about a column, and what the file suggests."""
    if sort == TEXT:
        st.text_input(
            "Categories, separated by commas", key="plan_form_categories", placeholder="Sales, Support, Research",
            help="All others count as other.",
        )  # fmt: skip
    else:
        left, right = st.columns(2)
        left.text_input("Lower bound", key="plan_form_lower", placeholder="0")
        right.text_input("Upper bound", key="plan_form_upper", placeholder="100000")
    if guess is None or guess.kind != sort or (sort == TEXT and not guess.categories):
        return
    if sort == NUMBERS and guess.lower == guess.upper:
        st.caption("All values of the file are equal: they suggest no bounds.")
        return
    st.button(
        "Use what the file suggests",
        icon=":material/find_in_page:",
        on_click=_take_suggestion,
        args=(guess,),
        key="plan_form_suggest",
        help=f"{facts_words(public(guess))[:300]}. Read off the data.",
    )
    if _is_suggestion(_typed_facts(name, sort), guess):
        st.warning(LEAK[sort], icon=":material/visibility:")


def _take_suggestion(guess: ColumnSuggestion) -> None:
    """Fill the fields with what the file suggests."""
    if guess.kind == TEXT:
        st.session_state["plan_form_categories"] = category_list(guess.categories)
    elif guess.lower is not None and guess.upper is not None:
        st.session_state["plan_form_lower"] = numeral(guess.lower)
        st.session_state["plan_form_upper"] = numeral(guess.upper)


def _typed_facts(name: str, sort: str) -> dict[str, str]:
    """Return what was typed about a column, as a row of the list of public facts."""
    keys = ("categories",) if sort == TEXT else ("lower", "upper")
    typed = {key: str(st.session_state.get(f"plan_form_{key}") or "").strip() for key in keys}
    return {"name": name, **{key: text for key, text in typed.items() if text}}


def _is_suggestion(typed: Mapping[str, str], guess: ColumnSuggestion | None) -> bool:
    """Whether the input is exactly what the file suggests."""
    try:
        return guess is not None and column_of(typed) == public(guess)
    except DpcoreError:
        return False


def _add(draft: PlanDraft, cells: dict[str, str], sort: str, guess: ColumnSuggestion | None) -> None:
    """Write an answer into the plan, or show in the form what is wrong with it."""
    cells = {
        name: str(st.session_state.get(f"plan_form_{name}", text) or "").strip() or text for name, text in cells.items()
    } | {name: cells[name] for name in ("answer", "column") if name in cells}
    try:
        facts, known = [dict(row) for row in draft.facts], draft.column(cells["column"])
        if cells["column"] and known is None:
            typed = _typed_facts(cells["column"], sort)
            if len(typed) < (2 if sort == TEXT else 3):
                msg = "Type the categories of the column." if sort == TEXT else "Type both bounds of the column."
                raise DomainError(msg)
            known = column_of(typed)
            if _is_suggestion(typed, guess) and guess is not None:
                known = public(guess, from_data=True)
            facts = [row for row in facts if row.get("name") != known.name] + [column_cells(known)]
        new = _rows(cells, known)
        columns = (
            *(column for column in draft.columns if known is None or column.name != known.name),
            *filter(None, (known,)),
        )
        charges(ReleasePlan(tuple(map(answer_of, new)), columns, **draft.options))
    except DpcoreError as error:
        st.session_state[_ERROR] = str(error).removeprefix("Answer 1 ")
        return
    rows = [*(dict(row.cells) for row in draft.rows), *new]
    page.apply({"plan_answers": answers_text(rows), "plan_columns": columns_text(facts)})
    for name in _FIELDS:
        st.session_state[f"plan_form_{name}"] = ""


def _rows(cells: Mapping[str, str], known: PublicColumn | None) -> list[dict[str, str]]:
    """Return the new rows of the list: one answer, or one count for each category."""
    filled: dict[str, Any] = {name: text for name, text in cells.items() if text}
    if cells["answer"] != EACH:
        return [filled]
    where = f" and {cells['where']}" if cells.get("where") else ""
    return [
        {"label": name, "answer": "count", "where": condition_of(cells["column"], name) + where}
        for name in (known.categories if known is not None else ())
    ]

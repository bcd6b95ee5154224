"""The controls of the planner page: who is protected, what is public, the answers, and the budget."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import inputs, page
from dpcore.app.figure import plain
from dpcore.app.grid import changed_rows
from dpcore.app.plan_a_release import DEFAULTS, GAUSSIAN_BUDGET, INCLUDED, LOSS_BUDGET, PICTURES, STATUS
from dpcore.app.plan_a_release_lists import ANSWER_FIELDS, COLUMN_FIELDS, answers_text, columns_text
from dpcore.core.domains import COUNT, DELTA, LOSS, MU
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import nearest
from dpcore.language.numbers import read_value
from dpcore.planner.release.catalogue import KINDS
from dpcore.planner.release.plan import SPLITS, WEIGHTS
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.app.plan_a_release import PlanDraft, PlanView
    from dpcore.planner.release.suggestions import TableSuggestion

SLIDERS = ("plan_epsilon_slider", "plan_delta_slider", "plan_mu_slider")
WEIGHT_VALUES = [
    nearest(value, 3) for value in (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
]
MOST_SLIDERS = 12
_EPSILON = LOSS.but(low_open=True, high=1e6)
_MU = MU.but(low_open=True, infinite=False, high=1e6)
_DELTA = DELTA.but(high_open=True)
_ROWS = COUNT.but(high=10**9)
LIST_HEIGHT = 250
HELP = {
    "label": "What the answer is called; made from the answer if empty.",
    "answer": f"What is published: {', '.join(KINDS)}.",
    "column": "The column it is about; empty for a count and a proportion.",
    "where": "Only records with this, such as department = Sales and years >= 10; for a proportion, the records whose share is published.",
    "weight": "For the split by weights: with twice the weight the noise is half as wide.",
    "among": "For a proportion: among which records; empty for all.",
    "by": "For a contingency table: the second column.",
    "bins": "For a histogram of numbers: how many equal bins.",
    "level": "For a quantile: which one; 0.5 is the median.",
    "scale": "For the split by worst error: the error that counts as 1.",
    "size": "A public guess of how many records it is about; it only shares out the budget.",
    "error": "The published number is off by at most this in 95 of 100 releases, by noise alone.",
    "charged": "Which part of the budget it is in; answers about different people share one part.",
    STATUS: "Whether the answer is included, and if not, why.",
    "name": "The column.",
    "lower": "Public lower bound of its numbers.",
    "upper": "Public upper bound of its numbers.",
    "categories": "The possible answers, separated by commas.",
    "from_data": "Filled in if the bounds or categories were read off the data: no noise protects them.",
}
"""What the columns of the two lists mean."""


# ---- who is protected, and what is public ----------------------------------------------------------------------


def ask_public(suggestion: TableSuggestion | None, *, is_shipped: bool) -> dict[str, Any] | None:
    """Show who is protected and the number of records; return these fields of the plan, or None if one is wrong."""
    below = st.container()
    relation = st.segmented_control(
        "Neighbours",
        ("add/remove", "substitution"),
        default=DEFAULTS["plan_relation"],
        required=True,
        key="plan_relation",
        bind="query-params",
        help="Neighbouring tables differ in one person, who is added or removed, or whose records are replaced. With "
        "substitution the number of records is public.",
    )
    records = inputs.integer_field(
        "Records per person, at most", "plan_records", DEFAULTS["plan_records"], low=1, high=10**6, trouble=below,
        help_text="1 protects single records. Above 1, all records of a person are protected together; further "
        "records of that person are left out.",
    )  # fmt: skip
    person: str = st.text_input(
        "Column that says which person a record belongs to",
        DEFAULTS["plan_person"],
        key="plan_person",
        bind="query-params",
        placeholder="only for several records of one person",
        help="For example an employee number. It is never published.",
    ).strip()
    rows = _ask_rows(suggestion, is_shipped=is_shipped, substitution=relation == "substitution")
    if records is not None and records > 1 and not person:
        below.error(
            f"One person has up to {grouped(records)} records: name the column that says which person a record belongs to."
        )
        return None
    if records is None or rows == 0:
        return None
    return {"relation": relation, "records": records, "person_column": person if records > 1 else "", "rows": rows}


def _ask_rows(suggestion: TableSuggestion | None, *, is_shipped: bool, substitution: bool) -> int | None:
    """Show the public number of records; return it, None if it is not stated, or 0 if it is wrong."""
    text: str = st.text_input(
        "Number of records, if it is public",
        DEFAULTS["plan_rows"],
        key="plan_rows",
        bind="query-params",
        placeholder="may be empty" if not substitution else "needed for substitution",
        help="With substitution it is part of the promise. With add/remove it is a guess, used only to share out the "
        "budget by errors; do not take it from the data.",
        on_change=inputs.keep_former,
        args=("plan_rows",),
    ).strip()
    inputs.note_former("plan_rows", text)
    if suggestion is not None and not is_shipped and text != str(suggestion.rows):
        st.caption(f"The file has {grouped(suggestion.rows)} rows. Take it only if this number is public.")
        st.button(
            "Use the file's", on_click=page.change, args=("plan_rows", str(suggestion.rows)), key="plan_take_rows"
        )
    try:
        return int(read_value(_ROWS, text, "Number of records")) if text else None
    except DpcoreError as error:
        st.error(plain(str(error)))
        return 0


def edit_facts(draft: PlanDraft) -> None:
    """Show the public facts of the columns for editing."""
    st.caption(
        "What is known about the columns without the data: bounds of numbers, or the possible categories. Values outside the "
        "bounds are moved to them; other categories count as *other*."
    )
    _editor(
        "plan_columns",
        [dict(cells) for cells in draft.facts],
        COLUMN_FIELDS,
        columns_text,
        COLUMN_FIELDS[:4],
        height=150,
    )
    for words in draft.problems:
        st.error(plain(words), icon=":material/error:")
    leaks = [column.name for column in draft.columns if column.from_data]
    if leaks:
        st.warning(
            plain(f"Read off the data: {', '.join(leaks)}. Such bounds and categories are not protected by any noise.")
        )


def ask_texts() -> tuple[str, str]:
    """Show the two lists as texts, which the link carries, and return them."""
    texts = []
    with st.popover("As text", icon=":material/edit_note:"):
        for key, label in (
            ("plan_answers", f"Answers: {', '.join(ANSWER_FIELDS)}"),
            ("plan_columns", f"Public facts: {', '.join(COLUMN_FIELDS)}"),
        ):
            text = st.text_area(
                label,
                DEFAULTS[key],
                key=key,
                bind="query-params",
                height=170,
                on_change=inputs.keep_former,
                args=(key,),
            )
            inputs.note_former(key, text)
            texts.append(text)
    return texts[0], texts[1]


# ---- the budget ------------------------------------------------------------------------------------------------


def ask_budget() -> tuple[str, dict[str, Any] | None]:
    """Show the choice of picture, the budget and its split; return the picture and these fields of the plan.

    The fields are None if one of them is wrong.
    """
    with st.container(horizontal=True):
        notion = st.segmented_control(
            "Budget for all answers",
            (LOSS_BUDGET, GAUSSIAN_BUDGET),
            default=LOSS_BUDGET,
            required=True,
            key="plan_budget",
            bind="query-params",
            help="(ε, δ) differential privacy, or μ of Gaussian differential privacy.",
        )
        picture = st.segmented_control(
            "Picture",
            PICTURES,
            default=DEFAULTS["plan_picture"],
            required=True,
            key="plan_picture",
            bind="query-params",
            help="How far each answer is off, or what each part of the budget reveals alone.",
        )
    if notion == GAUSSIAN_BUDGET:
        words = "How far one person can shift a Gaussian of standard deviation 1."
        mu = inputs.slider_field("Budget μ", "plan_mu", DEFAULTS["plan_mu"], inputs.LOSSES, _MU, help_text=words)
        own = None if mu is None else {"mu": mu}
    else:
        words = "How much all answers together may reveal."
        epsilon = inputs.slider_field(
            "Budget ε", "plan_epsilon", DEFAULTS["plan_epsilon"], inputs.LOSSES, _EPSILON, help_text=words
        )
        own = None if epsilon is None else {"epsilon": epsilon}
    words = f"{inputs.delta_help('all answers together')} ε is stated at this δ."
    deltas = ["0", *inputs.DELTAS]
    delta = inputs.slider_field("Budget δ", "plan_delta", DEFAULTS["plan_delta"], deltas, _DELTA, help_text=words)
    split = st.segmented_control(
        "Split the budget by",
        SPLITS,
        default=DEFAULTS["plan_split"],
        required=True,
        key="plan_split",
        bind="query-params",
        help="weights: a slider for each part. equal error: the same error in the units of each answer. worst error: the largest "
        "error, each divided by the scale of its answer, is as small as possible.",
    )
    return str(picture), None if own is None or delta is None else {**own, "delta": delta, "split": str(split)}


def ask_weights(view: PlanView, draft: PlanDraft) -> list[str]:
    """Show a slider for the weight of each part of the budget; return their keys."""
    if view.plan.split != WEIGHTS or len(view.charges) < 2:
        return []
    keys = []
    places = [place for place, row in enumerate(draft.rows) if row.answer is not None]
    with st.container(height=230 if len(view.charges) > 2 else "content", border=False):
        for number, charge in enumerate(view.charges[:MOST_SLIDERS]):
            answers = [view.plan.answers[place] for place in charge.places]
            key, weight = f"plan_weight_{number}", nearest(max(answer.weight for answer in answers), 6)
            values = sorted({*WEIGHT_VALUES, weight}, key=float)
            st.session_state[key] = weight
            name = f"{len(answers)} answers by {charge.column}, charged once" if charge.parallel else answers[0].name
            rows = [places[place] for place in charge.places]
            st.select_slider(
                plain(f"Weight: {name}"), values, key=key, on_change=_take_weight, args=(key, [dict(row.cells) for row in draft.rows], rows),
                help="With twice the weight the noise is half as wide, as far as the budget allows.",
            )  # fmt: skip
            keys.append(key)
    return keys


def _take_weight(key: str, rows: list[dict[str, str]], places: Sequence[int]) -> None:
    """Write a weight into the rows of its answers."""
    for place in places:
        rows[place]["weight"] = str(st.session_state[key])
    page.change("plan_answers", answers_text(rows))


# ---- the answers -----------------------------------------------------------------------------------------------


def edit_answers(draft: PlanDraft, view: PlanView | None, errors: Sequence[str]) -> None:
    """Show the list of answers for editing, with the error of each, its charge and what is wrong with it."""
    charged: dict[int, str] = {}
    if view is not None:
        for number, charge in enumerate(view.charges, start=1):
            words = f"part {number}, once for {len(charge.places)}" if charge.parallel else f"part {number}"
            charged |= dict.fromkeys(charge.places, words)
    rows, place = list[dict[str, str]](), 0
    for row in draft.rows:
        good = row.answer is not None
        error = errors[place] if good and place < len(errors) else ""
        part = charged.get(place, "") if good else ""
        rows.append({**row.cells, "error": error, "charged": part, STATUS: row.problem or INCLUDED})
        place += good
    _editor(
        "plan_answers",
        rows,
        ANSWER_FIELDS,
        answers_text,
        ANSWER_FIELDS[:5],
        height=LIST_HEIGHT,
        shown=("error", "charged", STATUS),
    )
    problems = [
        f"- {plain(str(row.cells.get('label') or f'answer {number}'))}: {plain(row.problem)}"
        for number, row in enumerate(draft.rows, start=1)
        if row.problem
    ]
    if problems:
        st.error("\n".join(["All numbers are without these answers:", "", *problems[:10]]), icon=":material/error:")


def _editor(
    key: str,
    rows: list[dict[str, str]],
    fields: Sequence[str],
    text: Any,
    always: Sequence[str],
    *,
    height: int,
    shown: Sequence[str] = (),
) -> None:
    """Show a list that the link carries as text for editing; read-only columns come last."""
    import pandas as pd  # noqa: PLC0415  as slow as Streamlit's own import of it, which has happened by now

    names = [name for name in fields if name in always or any(row.get(name) for row in rows)]
    table = pd.DataFrame(
        [[row.get(name, "") for name in (*names, *shown)] for row in rows], columns=[*names, *shown], dtype=str
    )
    own = [{name: cell for name, cell in row.items() if name not in shown} for row in rows]
    editor = f"{key}_list_{zlib.crc32(text(own).encode())}"
    st.data_editor(
        table,
        num_rows="dynamic",
        hide_index=True,
        width="stretch",
        height=height,
        key=editor,
        on_change=_take_edits,
        args=(key, editor, own, text, tuple(shown)),
        disabled=list(shown),
        column_config={name: st.column_config.TextColumn(help=HELP[name]) for name in table.columns},
    )


def _take_edits(key: str, editor: str, rows: list[dict[str, str]], text: Any, shown: Sequence[str]) -> None:
    """Write an edited list into its text."""
    new = text(changed_rows(rows, st.session_state.get(editor) or {}, ignored=shown))
    if new != text(rows):
        page.change(key, new)

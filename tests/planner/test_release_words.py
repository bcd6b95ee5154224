"""What a file suggests, what a plan says of itself before and beside its data, and how it is drawn."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.charts.plan import plan_errors_figure, plan_figure
from dpcore.core.errors import DomainError
from dpcore.files.data import data_folder
from dpcore.files.sheet import MISSING, open_csv
from dpcore.planner import (
    PlanAnswer,
    PublicColumn,
    ReleasePlan,
    plan_from_toml,
    plan_release,
    plan_report,
    plan_to_toml,
    plan_words,
    planned_frame,
    read_table,
)
from dpcore.planner.release.suggestions import NUMBERS, TEXT, suggest

STAFF = data_folder() / "datasets" / "staff.csv"
DEPARTMENTS = ("Administration", "Production", "Research", "Sales", "Support")
COLUMNS = (PublicColumn("department", categories=DEPARTMENTS), PublicColumn("salary", 20_000, 120_000))
ANSWERS = (
    *(PlanAnswer("count", where=f'department = "{name}"') for name in DEPARTMENTS),
    PlanAnswer("mean", "salary"),
    PlanAnswer("quantile", "salary"),
    PlanAnswer("top choice", "department"),
)
PLAN = ReleasePlan(ANSWERS, COLUMNS, rows=1200)


# ---- suggestions ---------------------------------------------------------------------------------------------


def test_a_file_suggests_bounds_and_categories() -> None:
    found = suggest(open_csv(STAFF.read_bytes()))
    assert found.rows == 1200
    department, salary = found.column("department"), found.column("salary")
    assert department is not None
    assert salary is not None
    assert (department.kind, department.categories) == (TEXT, DEPARTMENTS)
    assert (salary.kind, salary.lower, salary.upper) == (NUMBERS, 29_200.0, 212_000.0)
    assert found.column("age") is None


@given(
    st.lists(st.tuples(st.sampled_from(["A", "B c", "x,y", "", "NA"]), st.one_of(st.integers(-99, 99), st.just(""))))
)
def test_a_suggestion_is_what_the_csv_module_finds(rows: list[tuple[str, object]]) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([("name", "value"), *rows])
    found = suggest(open_csv(out.getvalue().encode()))
    names = sorted({name for name, _ in rows if name.lower() not in MISSING})
    numbers = [float(str(value)) for _, value in rows if value != ""]
    name, value = found.columns
    assert name.categories == (tuple(names) if names else ())
    if numbers:
        assert (value.kind, value.lower, value.upper) == (NUMBERS, min(numbers), max(numbers))


@pytest.mark.parametrize(
    ("content", "kind", "categories"),
    [
        (b"a\n1\n2\nx\n", TEXT, ("1", "2", "x")),
        (b"a\n" + b"1\n" * 99 + b"x\n", NUMBERS, ()),
        (b"a\n" + b"".join(b"name %d\n" % i for i in range(101)), TEXT, ()),
        (b'a\n"say ""hi"""\nb\n', TEXT, ()),
        (b"a,b\n,1\nNA,2\n", TEXT, ()),
    ],
)
def test_a_column_that_is_unusual(content: bytes, kind: str, categories: tuple[str, ...]) -> None:
    first = suggest(open_csv(content)).columns[0]
    assert (first.kind, first.categories) == (kind, categories)


# ---- a plan on its table -------------------------------------------------------------------------------------


def test_errors_on_a_table_are_those_of_the_release() -> None:
    table = read_table(STAFF, PLAN)
    frame, release = planned_frame(PLAN, table), plan_release(STAFF, PLAN).answers_frame()
    assert frame["halfwidth"].tolist() == release["halfwidth"].tolist()
    assert frame["clipping_bias"].tolist() == release["clipping_bias"].tolist()
    largest = {"count": 1200.0, "mean": 100_000.0, "quantile": 100_000.0, "top choice": 1200.0}
    for _, row in frame.iterrows():
        assert row["relative"] == pytest.approx(row["halfwidth"] / largest[row["kind_of_answer"]])
    unknown = planned_frame(replace(PLAN, rows=None), table)
    assert unknown["relative"].tolist() == frame["relative"].tolist()  # the table says how many there are
    assert "clipping_bias" not in planned_frame(PLAN)


def test_the_sentence_names_errors_and_what_is_charged_once() -> None:
    words = plan_words(PLAN, planned_frame(PLAN))
    assert words.startswith("Eight numbers at (1, 1e-6): the 5 counts are off by at most ")
    assert "mean of salary by about" in words
    assert "the 5 answers by department are charged once, because nobody is in two of them." in words
    one = ReleasePlan((PlanAnswer("count", label="Everybody"),), epsilon=2.0, delta=0.0)
    assert plan_words(one, planned_frame(one)) == (
        "One number at (2, 0): Everybody is off by at most 1 record in 95 of 100 releases. It spends ε = 2 at δ = 0 (exact)."
    )
    swapped = replace(PLAN, relation="substitution")
    assert "are charged as two" in plan_words(swapped, planned_frame(swapped))


def test_facts_read_off_the_data_are_named_in_the_report() -> None:
    taken = replace(PLAN, columns=(replace(COLUMNS[0], from_data=True), COLUMNS[1]))
    assert plan_from_toml(plan_to_toml(taken)) == taken
    assert "**This does not hold for department**" in plan_report(taken)
    assert "does not hold" not in plan_report(PLAN)
    with pytest.raises(DomainError, match="from_data in number 1 of columns must be true or false, got 1"):
        plan_from_toml(plan_to_toml(taken).replace("from_data = true", "from_data = 1"))


def test_a_wide_range_gets_no_integer_noise() -> None:
    plan = ReleasePlan((PlanAnswer("variance", "salary"),), COLUMNS, rows=1200)
    assert planned_frame(plan)["noise"].tolist() in (["laplace"], ["gaussian"], ["staircase"])


# ---- pictures ------------------------------------------------------------------------------------------------


def test_intervals_and_clipping_are_drawn_in_per_cent_of_the_range() -> None:
    frame = planned_frame(PLAN, read_table(STAFF, PLAN))
    figure = plan_errors_figure(frame, "Words.")
    bars = next(rows for rows in figure.spec["datasets"].values() if "high" in rows[0])
    assert [row["high"] for row in bars] == pytest.approx([100 * value for value in frame["relative"]])
    (mean,) = [row for row in bars if row["name"] == "mean of salary"]
    bias = frame.loc[5, "clipping_bias"]
    assert mean["bias"] == pytest.approx(bias / 1000)  # the range is 100 000
    assert bias < 0
    assert any("planner's eyes only" in note for note in figure.notes)
    assert figure.table is frame


def test_a_plan_whose_ranges_are_unknown_has_a_budget_but_no_errors() -> None:
    frame = planned_frame(ReleasePlan((PlanAnswer("count"),)))
    with pytest.raises(DomainError, match="state rows"):
        plan_errors_figure(frame, "Words.")
    assert np.allclose(
        [row["share"] for row in next(iter(plan_figure(frame, "Words.").spec["datasets"].values()))], 100
    )

"""The page Plan a release: a plan in the link, its form, its lists, its files and what it gives to take away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.app import plan_a_release as planner
from dpcore.app import plan_a_release_data as data
from dpcore.app import plan_a_release_form as form
from dpcore.app import plan_a_release_lists as lists
from dpcore.app import uploads, work
from dpcore.app.plan_a_release_results import ledger_text, report_page
from dpcore.core.errors import DomainError
from dpcore.ledger import read_ledger, total
from dpcore.planner import parse_condition, plan_report
from dpcore.utility.samples import sample_sheet
from tests.app.visits import ROOT, Page, alts, errors, frame, listing, open_row, said

pytestmark = pytest.mark.usefixtures("quick_charts")
PAGE = Page("pages/16_Plan_a_release.py", "Plan a release")
DEPARTMENTS = ("Administration", "Production", "Research", "Sales", "Support")
CSV = b"department,salary\n" + b"".join(
    f"{DEPARTMENTS[place % 5]},{30_000 + 37 * place}\n".encode() for place in range(1000)
)


def uploaded(content: bytes, **parameters: Any) -> AppTest:
    """Open the page and a file on it."""
    app = PAGE.opened(**parameters)
    app.file_uploader(key="plan_file").upload("people.csv", content, "text/csv")
    return PAGE.ran(app)


def fill(app: AppTest, column: str, kind: str = "", **texts: str) -> AppTest:
    """Fill in the form for a column, and add the answer."""
    app.selectbox(key="plan_form_column").select(column)
    PAGE.ran(app)
    if kind:
        next(box for box in app.selectbox if str(box.key).startswith("plan_form_kind")).select(kind)
        PAGE.ran(app)
    for name, text in texts.items():
        app.text_input(key=f"plan_form_{name}").set_value(text)
    app.button(key="plan_form_add").click()
    return PAGE.ran(app)


# ---- the first screen ----------------------------------------------------------------------------------------


def test_the_first_picture_says_what_the_numbers_cost() -> None:
    app = PAGE.opened()
    assert not errors(app)
    (words,) = alts(app)
    assert words.startswith(
        "Six numbers at (1, 1e-6): the 5 counts are off by at most 6 records, Mean salary by about "
    )
    assert "Together they spend ε = 1 at δ = 1e-6 (exact)" in words
    assert "the 5 answers by department are charged once, because nobody is in two of them" in words
    assert words in said(app)


def test_the_budget_moves_every_error() -> None:
    wide, narrow = (PAGE.opened(plan_epsilon=epsilon) for epsilon in ("0.5", "2"))
    assert "counts are off by at most 12 records" in alts(wide)[0]
    assert "counts are off by at most 3 records" in alts(narrow)[0]
    gaussian = alts(PAGE.opened(plan_budget="μ", plan_mu="0.5"))[0]
    assert gaussian.startswith("Six numbers at μ = 0.5")


def test_the_picture_of_the_budget_says_which_answers_share_it() -> None:
    app = PAGE.opened(plan_picture="budget")
    open_row(app, "plan_figure", "Table")
    table = frame(app, "parallel")
    assert list(table["parallel"]) == [5, 5, 5, 5, 5, 1]
    assert table["share"].nunique() == 2


def test_substitution_charges_the_counts_as_two() -> None:
    app = PAGE.opened(plan_relation="substitution")
    assert not errors(app)
    assert "charged as two, because a replaced record may leave one part and enter another" in alts(app)[0]
    unknown = PAGE.opened(plan_relation="substitution", plan_rows="")
    assert "Under substitution the number of records is public" in errors(unknown)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"plan_epsilon": "0"}, "Budget ε must be"),
        ({"plan_delta": "1"}, "Budget δ must be"),
        ({"plan_records": "3"}, "name the column that says which person a record belongs to"),
        ({"plan_rows": "many"}, "Number of records"),
        ({"plan_answers": "what\ncount\n"}, "The first line of the list of answers names columns"),
        ({"plan_answers": "answer,column\nmean,salary,5,6\n"}, "Row 1 of the list of answers has 4 cells"),
        ({"plan_columns": "name,lower,upper\nsalary,9,1\n"}, "must be below the upper bound"),
        ({"plan_columns": "name,lower,upper\nsalary,0,x\n"}, "upper must be"),
    ],
)
def test_a_wrong_field_is_explained_and_nothing_is_lost(state: dict[str, str], words: str) -> None:
    app = PAGE.opened(**state)
    assert words in errors(app)
    for key, text in state.items():
        kind = app.text_area if key in ("plan_answers", "plan_columns") else app.text_input
        assert kind(key=key).value == text


def test_a_wrong_answer_leaves_the_others() -> None:
    rows = planner.FIRST_ANSWERS + "Mean age,mean,age,\nMode,mode,salary,\nFew,count,,salary > lots\n"
    app = PAGE.opened(plan_answers=rows)
    assert "All numbers are without these answers" in errors(app)
    for words in (
        "Mean age: the file has the columns department, salary, years; there is no column 'age'",
        "Mode: kind must be",
        "Few: salary > compares numbers",
    ):
        assert words in errors(app)
    assert alts(app)[0].startswith("Six numbers")
    table = frame(app, "status")
    assert list(table["status"])[:6] == ["included"] * 6
    assert list(table["error"])[:5] == ["± 6 records"] * 5
    assert list(table["error"])[6:] == [""] * 3
    assert list(table["charged"])[:6] == ["part 1, once for 5"] * 5 + ["part 2"]


# ---- splitting the budget ------------------------------------------------------------------------------------


def test_a_weight_moves_the_budget_from_one_part_to_another() -> None:
    app = PAGE.opened()
    before = alts(app)[0]
    app.select_slider(key="plan_weight_1").set_value("4")
    PAGE.ran(app)
    assert alts(app)[0] != before
    assert "Mean salary,mean,salary,,4" in app.text_area(key="plan_answers").value
    next(button for button in app.button if button.label == "Undo").click()
    PAGE.ran(app)
    assert alts(app)[0] == before


def test_splits_by_errors_need_no_weights() -> None:
    app = PAGE.opened(plan_split="equal error")
    assert not errors(app)
    assert not any(str(slider.key).startswith("plan_weight") for slider in app.select_slider)
    rows = planner.FIRST_ANSWERS.replace("where\n", "where,scale\n").replace(
        "Mean salary,mean,salary,", "Mean salary,mean,salary,,100"
    )
    worst = PAGE.opened(plan_split="worst error", plan_answers=rows)
    assert not errors(worst)
    assert alts(worst) != alts(app)


# ---- a visitor's file ----------------------------------------------------------------------------------------


def test_five_counts_and_a_mean_of_an_own_file() -> None:
    PAGE.opened()  # what everybody sees first is shared
    shared = set(work.cache().kept)
    app = uploaded(CSV)
    assert app.selectbox(key="plan_table").value == uploads.UPLOAD
    assert "Add what you want to publish" in said(app)
    assert not alts(app)
    app.selectbox(key="plan_form_column").select("department")
    PAGE.ran(app)
    app.button(key="plan_form_suggest").click()
    PAGE.ran(app)
    assert "no noise hides that" in said(app, "warning")
    app.button(key="plan_form_add").click()
    PAGE.ran(app)
    assert alts(app)[0].startswith("Five numbers at (1, 1e-6): the 5 counts are off by at most 3 records")
    fill(app, "salary", lower="0", upper="100000")
    assert not errors(app)
    words = alts(app)[0]
    assert words.startswith(
        "Six numbers at (1, 1e-6): the 5 counts are off by at most 6 records, mean of salary by about"
    )
    assert "the 5 answers by department are charged once" in words
    facts = lists.cells_of(app.text_area(key="plan_columns").value, lists.COLUMN_FIELDS, "facts")
    assert [row.get("from_data", "") for row in facts] == [lists.FROM_DATA, ""]
    assert "1 000 rows read" in said(app)
    assert set(work.cache().kept) == shared  # nothing of a visitor's file is shared


def test_the_link_carries_the_plan_and_never_the_data() -> None:
    app = uploaded(CSV)
    fill(app, "salary", lower="0", upper="100000")
    state = {key: app.session_state[key] for key in ("plan_table", "plan_answers", "plan_columns", "plan_rows")}
    shared = set(work.cache().kept)
    again = PAGE.opened(**state)
    assert "Open the file again: a link carries the plan and never the data" in said(again)
    assert "State the number of records" in said(again) or "records" in errors(again)
    known = PAGE.opened(**{**state, "plan_rows": "1000"})
    assert alts(known)[0].startswith("One number at (1, 1e-6): mean of salary is off by about ")
    assert set(work.cache().kept) == shared  # nor is the plan for somebody's file
    known.file_uploader(key="plan_file").upload("people.csv", CSV, "text/csv")
    PAGE.ran(known)
    assert known.text_area(key="plan_answers").value == state["plan_answers"]
    assert "1 000 rows read" in said(known)


def test_one_undo_brings_back_the_plan_of_another_table() -> None:
    app = PAGE.opened()
    before = alts(app)
    app.selectbox(key="plan_table").select("survey")
    PAGE.ran(app)
    assert not alts(app)
    assert "study_hours,0,60" in app.text_area(key="plan_columns").value
    next(button for button in app.button if button.label == "Undo").click()
    PAGE.ran(app)
    assert app.selectbox(key="plan_table").value == "staff"
    assert alts(app) == before


def test_reset_lets_go_of_a_file() -> None:
    app = fill(uploaded(CSV), "salary", lower="0", upper="100000")
    next(button for button in app.button if button.label == "Reset").click()
    PAGE.ran(app)
    assert alts(app)[0].startswith("Six numbers")
    PAGE.ran(app)
    (uploader,) = app.file_uploader
    assert uploader.key != "plan_file"
    assert not uploader.value


def test_persons_with_several_records() -> None:
    content = b"person,pay\n" + b"".join(b"%d,%d\n" % (place % 40, place) for place in range(100))
    app = fill(uploaded(content), "pay", lower="0", upper="100")
    before = alts(app)[0]
    app.text_input(key="plan_records").set_value("2")
    app.text_input(key="plan_person").set_value("person")
    PAGE.ran(app)
    assert not errors(app)
    assert "20 persons have more than 2 records: 20 records beyond are left out (the first in row 81)" in said(app)
    assert alts(app)[0] != before
    app.text_input(key="plan_person").set_value("nobody")
    PAGE.ran(app)
    assert "there is no column 'nobody'" in errors(app)


def test_mixed_decimals_and_undeclared_categories() -> None:
    content = b"team;pay\nA;1,5\nB;2.5\nC;3,5\n"
    app = fill(uploaded(content), "pay", lower="0", upper="10")
    assert not errors(app)
    fill(app, "team", form.EACH, categories="A, B")
    assert not errors(app)
    assert "Three numbers" in alts(app)[0]
    rows = lists.cells_of(app.text_area(key="plan_answers").value, lists.ANSWER_FIELDS, "answers")
    wrong = lists.answers_text([*rows, {"answer": "count", "where": "team = C"}])
    app.text_area(key="plan_answers").set_value(wrong)
    PAGE.ran(app)
    assert "'C' is not among the declared categories of 'team'" in errors(app)
    assert "Three numbers" in alts(app)[0]


BAD = {
    "spreadsheet": (b"PK\x03\x04", "spreadsheet"),
    "empty": (b"", "no row"),
    "zeros": (b"a,b\n\0\0\n", "zero bytes"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read_is_explained(name: str) -> None:
    content, words = BAD[name]
    app = uploaded(content)
    assert words in errors(app)


def test_strange_columns_are_explained_with_their_rows() -> None:
    app = uploaded(("team,pay\n" + "A,1\n" * 30 + "B,\n" + "B,x\n").encode())
    fill(app, "pay", lower="0", upper="10")
    assert "1 not a number (the first in row 32: 'x')" in said(app)
    assert "1 empty (the first in row 31)" in said(app)
    one = uploaded(b"team,pay\nA,5\n")
    fill(one, "pay", lower="0", upper="10")
    assert not errors(one)
    constant = uploaded(b"team,pay\n" + b"A,5\n" * 50)
    constant.selectbox(key="plan_form_column").select("pay")
    PAGE.ran(constant)
    assert "All values of the file are equal: they suggest no bounds" in said(constant)


def test_the_form_says_what_is_wrong_and_keeps_what_was_typed() -> None:
    app = fill(uploaded(CSV), "salary", lower="10", upper="1")
    assert "must be below the upper bound" in errors(app)
    assert app.text_input(key="plan_form_lower").value == "10"
    assert app.text_area(key="plan_answers").value == ""
    app = fill(uploaded(CSV), "salary")
    assert "Type both bounds of the column" in errors(app)
    app = fill(uploaded(CSV), "salary", lower="0", upper="10", where="salary >")
    assert "cannot be read" in errors(app)
    assert app.text_input(key="plan_form_where").value == "salary >"


@pytest.mark.parametrize(
    ("column", "kind", "texts"),
    [
        (form.NO_COLUMN, "count", {"where": "department = Sales and salary >= 40000"}),
        (form.NO_COLUMN, "proportion", {"where": "department = Sales"}),
        ("salary", "sum", {}),
        ("salary", "quantile", {"level": "0.9"}),
        ("salary", "variance", {}),
        ("salary", "histogram", {"bins": "4"}),
        ("department", "histogram", {}),
        ("department", "top choice", {}),
        ("department", "contingency", {}),
    ],
)
def test_every_kind_of_answer_can_be_added(column: str, kind: str, texts: dict[str, str]) -> None:
    app = fill(PAGE.opened(plan_answers=""), column, kind, **texts)
    assert not errors(app), errors(app)
    assert len(alts(app)) == 1
    assert kind in app.text_area(key="plan_answers").value


# ---- what can be taken away ----------------------------------------------------------------------------------


def test_the_code_of_the_figure_makes_its_table() -> None:
    app = PAGE.opened()
    code = listing(app, "plan_figure")
    assert "read_plan(" in code
    assert 'sample_sheet("staff")' in code


def with_panel(name: str, **state: str) -> AppTest:
    """Open the page and one of its panels."""
    app = PAGE.opened(**state)
    row = next(row for row in app.get("button_group") if row.key == "plan_panels")
    row.set_value([name])
    return PAGE.ran(app)


def test_the_report_is_shown_with_its_figures() -> None:
    app = with_panel("Report")
    assert not errors(app)
    assert "## Who is protected" in said(app)
    assert len(alts(app)) == 3
    draft = planner.draft_of(planner.FIRST_ANSWERS, planner.FIRST_COLUMNS, {"rows": 1200})
    assert draft.plan is not None
    page = report_page(plan_report(draft.plan)).decode()
    assert page.lower().startswith("<!doctype html>")
    assert "Who is protected" in page


def test_programs_say_which_of_them_may_release() -> None:
    app = with_panel("Program")
    (opendp,) = [str(block.value) for block in app.code]
    assert "import opendp" in opendp
    app.segmented_control(key="plan_program").set_value("numpy, not for release")
    PAGE.ran(app)
    (numpy,) = [str(block.value) for block in app.code]
    assert "not for release" in numpy.lower()
    compile(opendp, "opendp", "exec")
    compile(numpy, "numpy", "exec")


@pytest.mark.parametrize("panel", ["Program", "Simulate once"])
def test_without_the_file_nothing_is_made_of_the_data(panel: str) -> None:
    app = with_panel(panel, plan_table=uploads.UPLOAD)
    assert "Open the table first" in said(app)
    assert len(alts(app)) == 1


def test_a_simulation_is_marked_as_one() -> None:
    app = with_panel("Simulate once")
    table = frame(app, "simulated")
    assert set(table["status"]) == {
        "simulation only: floating-point noise of a simulator does not protect anybody; do not publish"
    }
    assert "A simulation, for you alone" in said(app)


def test_the_rows_go_to_the_ledger_below_those_already_there() -> None:
    draft = planner.draft_of(planner.FIRST_ANSWERS, planner.FIRST_COLUMNS, {"rows": 1200})
    view = planner.view_of(draft, None, "errors", work.ResultCache())
    assert view is not None
    text = ledger_text(view.solution, "")
    rows = read_ledger(text).ledger
    assert len(rows.rows) == 6
    assert total(rows, 1e-6).upper == pytest.approx(1.0, abs=1e-5)
    both = read_ledger(ledger_text(view.solution, "label,expression,count\nOld,dp(1),2\n")).ledger
    assert [row.label for row in both.rows][:2] == ["Old", "Administration"]


def test_the_ledger_page_opens_with_the_rows() -> None:
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=180)
    app.switch_page("pages/16_Plan_a_release.py").run()
    assert not app.exception
    app.button(key="plan_to_ledger").click().run()
    assert not app.exception
    assert app.title[0].value == "Ledger"
    assert "Mean salary" in app.text_area(key="ledger_rows").value
    assert "6 rows, 6 releases" in said(app)


# ---- texts ---------------------------------------------------------------------------------------------------


def test_lists_read_back() -> None:
    rows = lists.cells_of(planner.FIRST_ANSWERS, lists.ANSWER_FIELDS, "answers")
    assert lists.answers_text(rows) == planner.FIRST_ANSWERS
    facts = lists.cells_of(planner.FIRST_COLUMNS, lists.COLUMN_FIELDS, "public facts")
    assert lists.columns_text(facts) == planner.FIRST_COLUMNS
    columns = [lists.column_of(cells) for cells in facts]
    assert [lists.column_of(lists.column_cells(column)) for column in columns] == columns
    with pytest.raises(DomainError, match="at most 65 536 characters"):
        lists.cells_of("x" * 70_000, lists.ANSWER_FIELDS, "answers")


@pytest.mark.parametrize("category", ["Sales", "Human Resources", "O'Brien", "and", "7", "A, B", "ä"])
def test_the_condition_of_a_category_means_that_category(category: str) -> None:
    (one,) = parse_condition(lists.condition_of("my column", category)).comparisons
    assert (one.column, one.operator, one.values) == ("my column", "=", (category,))


def test_a_table_is_read_once_for_all_budgets() -> None:
    store, sheet = uploads.TableStore(), sample_sheet("staff")
    draft = planner.draft_of(planner.FIRST_ANSWERS, planner.FIRST_COLUMNS, {"rows": 1200})
    assert draft.plan is not None
    first = store.reading(data.read_table, (sheet, draft.plan), {})
    assert store.reading(data.read_table, (sheet, replace(draft.plan, epsilon=3.0)), {}) is first
    fewer = replace(draft.plan, answers=draft.plan.answers[:1])
    assert store.reading(data.read_table, (sheet, fewer), {}) is not first
    assert store.reading(len, ("x",), {}) is None


def test_what_is_read_is_weighed_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    store = uploads.TableStore()
    content = b"a,b\n" + b"1,2\n" * 50_000
    sheet: Any = store.reading(uploads.open_csv, (content,), {"delimiter": None})
    assert store.reading(uploads.open_csv, (content,), {"delimiter": None}) is sheet
    found: Any = store.reading(uploads.read_microdata, (sheet,), {})
    assert store.reading(uploads.read_microdata, (sheet,), {}) is found
    known = len(content) + 2 * 50_000  # the file, and a byte for every cell
    assert known <= store.tables.weight <= known + 10_000
    monkeypatch.setattr(store.tables, "most", 90_000)
    numbers: Any = store.reading(uploads.read_column, (sheet, "a"), {"lower": 0.0, "upper": 1.0})
    assert numbers.dataset.n == 50_000
    assert store.reading(uploads.read_microdata, (sheet,), {}) is found  # 0.4 MB of numbers are too many to be held
    monkeypatch.setattr(store.tables, "most", 10**9)
    store.tables.shrink(0)
    assert store.tables.weight == 0


# ---- from other pages ----------------------------------------------------------------------------------------


def linked(page: str, **state: str) -> dict[str, str]:
    """Open a page inside the app and return the parameters of its link to the planner."""
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=180)
    app.switch_page(page)
    for name, value in state.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    (link,) = [one.proto for one in app.get("page_link") if one.proto.label.startswith("Use this")]
    return {name: values[0] for name, values in parse_qs(link.query_string, keep_blank_values=True).items()}


@pytest.mark.parametrize(
    ("utility", "table", "words"),
    [
        ("histogram_laplace epsilon=0.5", "ages: age in years", "numbers at (0.5, 1e-6)"),
        ("mean_laplace epsilon=1", "survey: hours of study in a week", "One number at (1, 1e-6): mean of study_hours"),
        (
            "count_laplace epsilon=2 at_least=65",
            "ages: age in years",
            "count where age >= 65 is off by at most 1 record in",
        ),
        ("count_laplace equals=bus", "survey: way to the campus", 'count where transport = "bus"'),
        ("quantile_exponential epsilon=1 level=0.9", "ages: age in years", "0.9 quantile of age"),
        ("mode_laplace epsilon=1", "survey: way to the campus", "top choice of transport"),
    ],
)
def test_a_query_of_privacy_and_utility_becomes_a_plan(utility: str, table: str, words: str) -> None:
    state = linked("pages/4_Privacy_and_utility.py", utility=utility, utility_data=table)
    app = PAGE.opened(**state)
    assert not errors(app)
    assert words in alts(app)[0]


def test_a_file_of_people_on_the_ledger_page_is_shown_the_way() -> None:
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=180)
    app.switch_page("pages/9_Ledger.py").run()
    app.file_uploader(key="ledger_file").upload("people.csv", CSV, "text/csv").run()
    assert not app.exception
    assert "must name the columns" in errors(app)
    assert "plan a release from it" in errors(app)
    assert [one for one in app.get("page_link") if one.proto.label == "Plan a release from a table of people"]

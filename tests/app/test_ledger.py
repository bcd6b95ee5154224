"""The ledger's page: its first view, every preset, editing, files, refusals, and code that runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from dpcore import specs
from dpcore.app import figure, ledger, page, work
from dpcore.app.ledger import DEFAULTS, LONG, LedgerView
from dpcore.charts.ledger import budget_figure, cost_figure
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.results import kept_by
from dpcore.ledger import Budget, Ledger, costs, read_ledger, spending, theorems, to_csv, to_json
from tests.app import visits
from tests.app.visits import alts, drawings, errors, frame, open_row, sources_without

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

PAGE = visits.Page("pages/9_Ledger.py", "Ledger")
opened, ran = PAGE.opened, PAGE.ran
PRESETS = {preset.name: preset for preset in page.presets() if preset.page == "Ledger"}
HEAD = "label,expression,count\n"


def said(app: AppTest) -> str:
    return visits.said(app, without="### ")


# ---- the page ------------------------------------------------------------------------------------------------


def test_the_first_view() -> None:
    app = opened()
    assert not errors(app)
    assert len(alts(app)) == 4
    assert "The ledger spends ε = 7.542 (upper bound) at δ = 1e-6: 94.3 % of the budget of ε = 8." in alts(app)[0]
    assert "The most is spent on row 1 (Visits per clinic: laplace(0.1))" in alts(app)[2]
    assert "under ledger (upper bound)" in alts(app)[3]
    assert "**Regions composed** is best: ε ≤ 7.542 (upper bound)." in said(app)
    assert "22 more of row 3 (Cases per district: geometric(0.1)) fit into (ε, δ) = (8, 1e-6)" in said(app)
    assert "The number holds for a list of strengths fixed beforehand" in said(app)
    assert "No: no filter allows one more of row 3 (Cases per district: geometric(0.1)) after" in alts(app)[1]
    assert "D 4.606 of 4.576" in drawings(app)[1][1][0][1]
    assert "Choose one filter before the first release" in said(app)
    assert "4 rows, 1 350 releases, add/remove neighbours." in said(app)
    assert "group_limit** says in how many of them one person can be" in said(app)
    assert frame(app, "status")["status"].tolist() == ["included"] * 4
    table = frame(open_row(app, "ledger_region", "Table"), "delta_lower")
    assert float(table.loc[table["epsilon"] == 8.0, "delta"].iloc[0]) < 1e-6
    assert set(table["kind"]) == {"upper"}
    assert "The mathematics behind this page" in [box.label for box in app.expander]


def test_the_label_is_offered_for_whole_ledgers_within_their_budget() -> None:
    def offers(**state: str) -> bool:
        return "Label as HTML" in [one.proto.label for one in opened(**state).get("download_button")]

    rows = f"{HEAD}a,laplace(0.1),10\n"
    assert offers(ledger_rows=rows, ledger_epsilon="2")
    assert not offers(ledger_rows=rows, ledger_epsilon="0.1")
    assert not offers(ledger_rows=f"{rows}b,laplce(0.1),10\n", ledger_epsilon="2"), "a row is left out"


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset(name: str) -> None:
    preset = PRESETS[name]
    app = opened(**preset.state)
    assert not errors(app)
    assert set(preset.state) <= set(DEFAULTS)
    assert app.text_area(key="ledger_rows").value == preset.state["ledger_rows"]
    promised = {
        "ledger_quarter": "94.3 % of the budget",
        "ledger_statements": "DP-TV gives the same",
        "ledger_sites": "sites: 3 rows; one person's data touch at most 2",
        "ledger_mixed_relations": "Row 1: add/remove neighbours are assumed, as you stated",
    }
    assert promised[name] in said(app)
    assert len(alts(app)) == 4


def test_relations_that_disagree_are_refused_until_one_is_stated() -> None:
    app = opened(ledger_rows=PRESETS["ledger_mixed_relations"].state["ledger_rows"])
    assert "Row 1 (Survey answer: rr(1)) speaks of substitution neighbours and Row 3 (Risk model" in errors(app)
    assert alts(app) == []
    next(button for button in app.button if button.key == "ledger_state_add/remove").click()
    ran(app)
    assert not errors(app)
    assert len(alts(app)) == 4
    assert "add/remove neighbours are assumed" in said(app)


def test_a_preset_button_undo_and_reset() -> None:
    app = opened()
    first = alts(app)
    assert "58.2 %" not in alts(visits.choose_example(app, "ledger_sites"))[0]
    assert "93 % of the budget of ε = 5" in alts(app)[0]
    next(button for button in app.button if button.label == "Undo").click()
    assert alts(ran(app)) == first
    app.text_input(key="ledger_epsilon").set_value("3")
    app.text_input(key="ledger_more").set_value("99")
    ran(app)
    assert "over the budget of ε = 3 by at least 4.54" in alts(app)[0]
    assert "None of row 4" in said(app)
    next(button for button in app.button if button.label == "Reset").click()
    assert alts(ran(app)) == first


@pytest.mark.parametrize(
    ("state", "words", "charts"),
    [
        ({"ledger_rows": "hello"}, "The first line must name the columns", 0),
        ({"ledger_rows": " "}, "no row", 0),
        ({"ledger_rows": HEAD + "a,lapl(1),1\nb,dp(1),2\n"}, "Row 1 (a) is not included: Unknown name 'lapl'", 4),
        ({"ledger_rows": HEAD + "a,dp(1),-2\n"}, "count must be an integer in [1, ", 0),
        ({"ledger_rows": HEAD + "<script>alert(1)</script>,dp(1),2\n"}, "", 4),
        ({"ledger_rows": HEAD + "x,dp(1),2\n" * 12 + "y,dp(,2\n" * 12}, "and 2 more rows", 4),
        ({"ledger_epsilon": "-1"}, "Budget ε must be a number in [0, 1000000], got '-1'", 0),
        ({"ledger_delta": "2"}, "Budget δ must be a number in [0, 1]", 0),
        ({"ledger_more": "x"}, "More of row must be an integer", 3),
        ({"ledger_rows": HEAD[:-1] + ",group,group_limit\na,dp(1),1,g,1\nb,dp(2),1,g,2\n"}, "state one number", 0),
        ({"ledger_delta": "0"}, "", 4),
        ({"ledger_rows": HEAD + "a,gaussian(1),1\n", "ledger_delta": "0"}, "", 3),
        ({"ledger_rows": HEAD + "a,dp(1),1\n", "ledger_epsilon": "0", "ledger_delta": "1"}, "", 4),
        ({"ledger_relation": "nonsense"}, "", 4),
    ],
)
def test_what_is_wrong_is_explained_and_the_rest_stays(state: dict[str, str], words: str, charts: int) -> None:
    app = opened(**state)
    assert words in errors(app)
    if not words and "ledger_delta" not in state:
        assert not errors(app)
    assert len(errors(app)) < 6000
    assert len(alts(app)) == charts or state.get("ledger_delta") == "0"


def test_a_result_that_takes_too_long_says_who_has_time_and_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object, **__: object) -> None:
        msg = "The time allowed ended with 40% of the work done; allow more time or a larger tolerance."
        raise BudgetError(msg)

    monkeypatch.setattr("dpcore.ledger.costs", late)
    app = opened(ledger_rows=HEAD + "late,laplace(0.25),7\n", ledger_more="1")
    assert errors(app).startswith("The time allowed ended with 40% of the work done")
    assert "Nothing is shown in its place. The command line has no time limit" in said(app)
    assert "dpcore ledger ledger.csv --delta 1e-6" in [block.value for block in app.code]
    assert len(alts(app)) == 3
    assert "more of row 1 (late: laplace(0.25)) fit" in said(app)


def test_an_empty_table_waits_for_a_row() -> None:
    app = opened(ledger_rows=HEAD)
    assert "No row counts yet" in said(app)
    assert not errors(app)


# ---- the editor ----------------------------------------------------------------------------------------------


def test_the_editor_writes_the_table() -> None:
    reading = read_ledger(HEAD[:-1] + ",owner\na,dp(1),2,Ann\nb,dp(,1,Bob\nc,dp(3),1,\n")
    changes = {
        "edited_rows": {0: {"count": "5", "status": "x"}, 1: {"expression": "dp(2)"}, 9: {"count": "7"}},
        "deleted_rows": [2],
        "added_rows": [{"expression": "laplace(0.1)"}, {}, {"status": "counted", "label": None}],
    }
    new = read_ledger(ledger.edited(reading, changes))
    assert [(row.label, str(row.region), row.count) for row in new.ledger.rows] == [
        ("a", "dp(1)", 5),
        ("b", "dp(2)", 1),
        ("", "laplace(0.1)", 1),
    ]
    assert new.ledger.rows[1].extra == (("owner", "Bob"),)
    assert ledger.edited(reading, {}) == to_csv(reading)
    shown = ledger.editor_table(reading)
    assert shown.columns.tolist()[2:5] == ["count", "status", "group"]
    assert shown.columns.tolist()[-1] == "owner"
    assert shown["status"][1].startswith("Unexpected") or "expected" in shown["status"][1]


# ---- files ---------------------------------------------------------------------------------------------------


def uploaded(content: bytes, name: str = "rows.csv") -> AppTest:
    app = opened()
    app.file_uploader(key="ledger_file").upload(name, content, "text/csv")
    return ran(app)


def test_a_short_file_becomes_the_table_and_the_link() -> None:
    app = uploaded("\ufefflabel;expression;count\r\nä;dp(1, 1e-9);2\r\n".encode())
    assert "rows.csv: 1 row read. A byte-order mark" in said(app)
    assert "semicolons" in said(app)
    assert app.text_area(key="ledger_rows").value == 'label,expression,count\nä,"dp(1, 1e-9)",2\n'
    assert "1 row, 2 releases" in said(app)
    relation = uploaded(to_json(Ledger.of(("a", "rr(1)"), relation="add/remove")).encode(), "rows.json")
    assert "add/remove neighbours" in said(relation)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"PK\x03\x04", "spreadsheet"), (b"a,b\n1,2\n", "must name the columns"), (b"[1", "cannot be read as JSON")],
)
def test_a_file_that_cannot_be_read_leaves_the_table(content: bytes, words: str) -> None:
    app = uploaded(content)
    assert words in errors(app)
    assert len(alts(app)) == 4
    assert not errors(ran(app))  # said once


def test_a_long_file_stays_in_the_session() -> None:
    rows = HEAD + "".join(f"release number {i} of a long list,dp(0.01),1\n" for i in range(1200))
    before = set(work.cache().kept)
    app = uploaded(rows.encode())
    assert "1 200 rows, 1 200 releases" in said(app)
    assert "The first 1 000 of 1 200 rows" in said(app)
    assert app.text_area(key="ledger_rows").value == DEFAULTS["ledger_rows"]
    assert app.text_area(key="ledger_rows").disabled
    assert not set(work.cache().kept) - before
    next(button for button in app.button if button.key == "ledger_put_away").click()
    ran(app)
    assert "4 rows, 1 350 releases" in said(app)


# ---- code and charts -----------------------------------------------------------------------------------------


def test_the_code_of_a_long_ledger_reads_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = HEAD + "".join(f"r{i},dp(0.01),1\n" for i in range(600))
    (tmp_path / "ledger.csv").write_text(text, encoding="utf-8")
    spec = LedgerView(text, ledger.opened(text, ""), "", Budget(1.0, 1e-6), work.ResultCache()).spec("costs")
    space: dict[str, Any] = {}
    exec(specs.code(spec), space)  # noqa: S102  the lines the page shows
    assert 'open_ledger(Path("ledger.csv"))' in specs.code(spec)
    pd.testing.assert_frame_equal(space["figure"].table, specs.draw(spec).table)
    assert "The 20 most expensive of 600 rows are drawn" in space["figure"].notes[0]


def test_two_long_tables_of_one_session_are_told_apart() -> None:
    store = work.ResultCache()
    sheets = []
    for epsilon in ("0.01", "0.02"):
        text = HEAD + "".join(f"r{i},dp({epsilon}),1\n" for i in range(600))
        spec = LedgerView(text, ledger.opened(text, ""), "", Budget(1.0, 1e-6), store).spec("costs")
        drawn = figure.figure_of(spec, store=store)
        assert figure.table_of(spec, drawn, store=store)["expression"][0] == f"dp({epsilon})"
        sheets.append(figure._sheet(spec, drawn, store))
    assert [sheet["expression"][0] for sheet in sheets] == ["dp(0.01)", "dp(0.02)"]


def test_a_long_table_is_named_by_its_question() -> None:
    text = HEAD + "".join(f"r{i},dp(0.01),1\n" for i in range(600))
    with kept_by(work.keeper(work.ResultCache())):
        first, again = ledger.opened(text, ""), ledger.opened(text, "")
        other = ledger.opened(text, "add/remove")
        names = [repr(work.name_of(rows)) for rows in (first, again, other)]
    assert names[0] == names[1] != names[2]
    assert max(map(len, names)) < 100


def test_rows_that_cannot_be_read_are_not_in_the_code() -> None:
    app = opened(ledger_rows=HEAD + "a,lapl(1),1\nb,dp(1),2\n")
    code = visits.listing(app, "ledger_costs")
    assert "b,dp(1),2" in code
    assert "lapl" not in code


def test_a_long_product_is_named_by_its_length() -> None:
    text = HEAD + "".join(f"r{i},gaussian({i + 1}.5),1\n" for i in range(300))
    rows = read_ledger(text).ledger
    assert str(rows.named_region) == "<ledger of 300 rows>"
    assert rows.named_region.epsilon(1e-6) == rows.region.epsilon(1e-6)


def test_charts_of_extremes() -> None:
    nothing = Ledger.of(("a", "gaussian(1)"))
    with pytest.raises(DomainError, match="nothing to draw"):
        cost_figure(costs(nothing, 0.0))
    silent = budget_figure(theorems(nothing, 0.0), spending(nothing, Budget(1.0, 0.0)))
    assert "no ε holds" in silent.takeaway
    json.loads(silent.chart.to_json())
    zero = budget_figure(
        theorems(Ledger.of(("a", "dp(0)")), 0.0), spending(Ledger.of(("a", "dp(0)")), Budget(0.0, 0.0))
    )
    json.loads(zero.chart.to_json())
    half = cost_figure(costs(Ledger.of(("a", "gaussian(1)"), ("b", "dp(1)")), 1e-6))
    assert half.notes == ()
    group = Ledger.of(("a", "dp(1)", 1, "", "", "g"), ("b", "dp(2)", 1, "", "", "g"))
    assert "1 row costs nothing" in cost_figure(costs(group, 0.0)).takeaway


def test_a_second_run_computes_nothing() -> None:
    shared = set(work.cache().kept)
    app = opened(ledger_rows=HEAD + "a,dp(0.31),3\n")
    own = app.session_state["_ledger_cache"]
    before = set(own.kept)
    assert len(before) > 8
    ran(app)
    for name in visits.figure_names(app):
        open_row(app, name, "Table", "Code")
    assert before <= set(own.kept)
    assert set(work.cache().kept) == shared  # a table of one's own never reaches the cache of all visitors


def test_no_other_page_uses_the_same_keys() -> None:
    other = sources_without("9_Ledger.py", "ledger.py", "ledger_panels.py")
    assert not [key for key in (*DEFAULTS, LONG) if f'"{key}"' in other]


def test_undo_brings_back_a_table_replaced_as_text() -> None:
    app = opened()
    before = app.text_area(key="ledger_rows").value
    app.text_area(key="ledger_rows").set_value("label,expression,count\nmine,laplace(0.3),2\n").run()
    next(button for button in app.button if button.label == "Undo").click().run()
    assert app.text_area(key="ledger_rows").value == before

"""The page of audits: every source, preset and error; an upload stays with its visitor; the code runs."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from dpcore.app import audit, audit_data, composition, mechanisms, page, privacy_and_utility, work
from dpcore.audit import read_audit
from dpcore.audit.examples import example
from tests.app import visits
from tests.app.visits import alts, errors, frame, open_row, said, sources_without

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest

PAGE = visits.Page("pages/12_Audit.py", "Audit")
opened, ran = PAGE.opened, PAGE.ran
PRESETS = {preset.name: preset for preset in page.presets() if preset.page == "Audit"}
CSV = "\ufeffscore;label\n0,5;1\n0,1;0\nabc;1\n0,2;yes\n2,5;1\n0,3;0\n".encode()


# ---- the page ------------------------------------------------------------------------------------------------


def test_the_first_view() -> None:
    app = opened()
    (alt,) = alts(app)
    assert alt.startswith("With 95 % confidence no mechanism with ε below 1.578 at δ = 1e-5 produced this")
    assert "The claim dp(1) is contradicted with 95 % confidence" in alt
    assert "**The claim dp(1) is contradicted.**" in said(app)
    assert "(ε, δ)-DP** (lower bound): ε = 1.5788 (rounded down)" in said(app)
    assert "**μ-GDP** (lower bound): μ = 1.5133 (rounded down)." in said(app)
    assert "even an attack without any error would not prove more than ε = 4.886" in said(app)
    assert "laplace(2) has ε = 2 at δ = 1e-5" in said(app)
    assert "known to be Gaussian" not in said(app)
    table = app.dataframe[-1].value
    assert table.columns.tolist()[:4] == ["measure", "lower bound", "measured", "upper bound"]
    assert table.columns.tolist()[4:] == ["What it is", "Theorem", "Neighbours"]
    assert not errors(app)


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset(name: str) -> None:
    preset = PRESETS[name]
    assert set(preset.state) <= set(audit.DEFAULTS)
    app = opened(**preset.state)
    assert not errors(app)
    (alt,) = alts(app)
    contradicted = name in {"audit_counted_once", "audit_rare_failure", "audit_file"}
    assert ("is contradicted with" in alt) == contradicted
    assert ("is not contradicted" in alt) != contradicted
    if name == "audit_rare_failure":  # by its button
        assert alts(visits.choose_example(PAGE.opened(), name)) == [alt]


def test_fields_change_what_is_shown() -> None:
    app = opened()
    app.text_input(key="audit_claim").set_value("")
    app.text_input(key="audit_confidence").set_value("0.99")
    app.text_input(key="audit_others").set_value("gdp(1); laplace(1)")
    ran(app)
    (alt,) = alts(app)
    assert alt.startswith("With 99 % confidence")
    assert "claim" not in alt
    drawn = frame(open_row(app, "audit_figure", "Table"), "power")
    assert {"Gaussian DP, μ = 1", "Laplace, ε = 1", "proved, 99 % confidence"} <= set(drawn["label"])
    app.toggle(key="audit_smallest").set_value(True)
    ran(app)
    assert {"smallest DP-TV", "smallest μ-GDP"} <= set(frame(app, "power")["label"])
    app.selectbox(key="audit_kind").select("rr")
    ran(app)
    assert app.text_input(key="audit_mechanism").value.startswith("rr(")
    next(button for button in app.button if button.label == "Undo").click()
    assert ran(app).text_input(key="audit_mechanism").value == "laplace(2)"


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("audit_mechanism", "lapalce(1)", "did you mean laplace"),
        ("audit_mechanism", "gaussian(inf)", "noise of width inf"),
        ("audit_mechanism", "x" * 3000, "at most 2000 characters"),
        ("audit_claim", "dp(", "expression ends"),
        ("audit_claim", "<script>alert(1)</script>", "Unexpected '<'"),
        ("audit_trials", "0", "Trials per side must be an integer in [1, 100000]"),
        ("audit_seed", "abc", "Seed must be an integer"),
        ("audit_confidence", "1", "Confidence must be a number in [0.5, 0.999999], got '1'"),
        ("audit_delta", "-1", "At δ must be a number in [0, 1]"),
        ("audit_others", "gdp(1); foo(2)", "foo"),
        ("audit_others", "gdp(1);" * 5, "At most 4 more regions"),
    ],
)
def test_what_is_wrong_is_explained(key: str, value: str, words: str) -> None:
    app = opened(**{key: value})
    assert words in errors(app)
    assert not alts(app)
    assert "Correct or complete the fields" in said(app)


def test_reset_brings_a_broken_page_back_and_unknown_choices_do_no_harm() -> None:
    app = opened(audit_claim="nothing")
    next(button for button in app.button if button.label == "Reset").click()
    assert len(alts(ran(app))) == 1
    assert len(alts(opened(audit_data="elsewhere", audit_view="round", audit_smallest="perhaps"))) == 1


@pytest.mark.parametrize("text", ["laplace(1e-308)", "rr(inf)", "tv(1)", "gdp(0)"])
def test_extreme_mechanisms_do_no_harm(text: str) -> None:
    app = opened(audit_mechanism=text, audit_trials="20", audit_view="log-log", audit_delta="1")
    assert alts(app) or errors(app)


def test_a_second_run_computes_nothing() -> None:
    app = opened(audit_mechanism="geometric(1.25, 2)", audit_trials="77")
    before, hits = set(work.cache().kept), work.cache().hits
    ran(app)
    assert set(work.cache().kept) <= before
    assert work.cache().hits > hits


def test_no_other_page_uses_the_same_keys() -> None:
    other = sources_without("12_Audit.py", "audit.py", "audit_data.py", "audit_panels.py")
    assert not [key for key in audit.DEFAULTS if f'key="{key}"' in other]
    assert not set(audit.DEFAULTS) & {*composition.DEFAULTS, *mechanisms.DEFAULTS, *privacy_and_utility.DEFAULTS}


# ---- an upload -----------------------------------------------------------------------------------------------


def uploaded(content: bytes, **parameters: Any) -> AppTest:
    app = opened(audit_data=audit_data.UPLOAD, **parameters)
    assert "Choose a file" in said(app)
    assert not alts(app)
    app.file_uploader(key="audit_file").upload("secret_attack.csv", content, "text/csv")
    return ran(app)


def test_an_upload_is_read_told_and_drawn() -> None:
    app = uploaded(CSV)
    assert "4 of 6 rows read as scores with labels." in said(app)
    assert "1 row without a score counted as errors of the attacker" in said(app)
    assert "1 row left out." in said(app)
    assert "Line 4: score must be a number, got 'abc', counted as an error; line 5: label must be 0 or 1" in said(app)
    assert "A byte-order mark at the start of the file was removed." in said(app)
    assert len(alts(app)) == 1
    problems = next(frame.value for frame in app.dataframe if "reason" in frame.value.columns)
    assert problems["line"].tolist() == [4, 5]
    assert not errors(app)
    app.toggle(key="audit_reverse").set_value(True)
    assert len(alts(ran(app))) == 1


def test_an_upload_is_kept_by_its_session_alone() -> None:
    before = set(work.cache().kept)
    app = uploaded(b"tp,fp,tn,fn\n80,20,80,20\n")
    assert len(alts(app)) == 1
    for name in visits.figure_names(app):
        open_row(app, name, "Table", "Code")
    assert set(work.cache().kept) <= before
    assert "_audit_own" in app.session_state
    assert not any("secret" in str(value) or "80" in str(value) for value in app.query_params.values())
    assert "secret" not in " ".join(block.value for block in app.code)
    assert not alts(opened(audit_data=audit_data.UPLOAD))
    app.selectbox(key="audit_data").select(audit_data.EXAMPLE)
    ran(app)
    assert "_audit_own" not in app.session_state


def test_files_that_cannot_be_used_are_explained() -> None:
    app = opened(audit_data=audit_data.UPLOAD)
    for content, words in (
        (b"", "The file has no row"),
        (b"a,b\n1,2\n", "this file has a, b"),
        (b"score,label\n1,1\n", "none of them is a scored outsider"),
        (b"tp,fp,tn,fn\n-1,1,1,1\n", "line 2: tp must be an integer in [0, 10000000], got -1"),
        (b"PK\x03\x04", "spreadsheet or an archive"),
    ):
        app.file_uploader(key="audit_file").upload("attack.csv", content, "text/csv")
        assert words in errors(ran(app))
        assert not alts(app)


def test_columns_can_be_chosen() -> None:
    app = uploaded(b"loss,inside\n0.1,0\n0.9,1\n0.2,0\n0.7,1\n")
    assert "this file has loss, inside" in errors(app)
    for what, name in (("scores", "loss"), ("labels", "inside")):
        next(box for box in app.selectbox if box.label == f"Column of the {what}").select(name)
    assert len(alts(ran(app))) == 1
    assert 'score="loss", label="inside"' in visits.listing(app, "audit_figure")


# ---- code and downloads --------------------------------------------------------------------------------------


def test_the_code_of_an_upload_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = visits.listing(uploaded(CSV), "audit_figure")
    (tmp_path / "your.csv").write_bytes(CSV)
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    exec(code, space)  # noqa: S102  the lines the page shows
    assert space["measurement"].members.tolist() == [-np.inf, 0.5, 2.5]
    assert (tmp_path / "audit_figure.svg").stat().st_size > 1000


def test_downloads_can_be_read_again() -> None:
    measured = read_audit(example()).measurement
    again = read_audit(audit.measurement_csv(measured)).measurement
    assert np.array_equal(again.outsiders, measured.outsiders)  # type: ignore[union-attr]  # scores
    counted = read_audit(b"tp,fp,tn,fn\n8,2,8,2\n").measurement
    assert audit.measurement_csv(counted) == b"tp,fp,tn,fn\n8,2,8,2\n"
    view = audit.AuditView(audit_data.AuditSource({}, work.ResultCache()), "gdp(1)", (), 0.95, 1e-5)
    table = pd.read_csv(io.BytesIO(audit.everything(view).to_csv(index=False).encode()))
    assert table["verdict"].dropna().tolist() == ["contradicted"]


def test_one_run_of_many_canaries() -> None:
    app = opened(audit_trials="100")
    assert "90 of 100 guesses are right: with 95 % confidence, ε at δ = 1e-5 is at least 1.626" in said(app)
    assert "The claim dp(1) is contradicted with 95 % confidence: under it, 90 of 100 right guesses" in said(app)
    app.text_input(key="audit_correct").set_value("101")
    ran(app)
    assert "correct must be an integer in [0, 100], got 101" in errors(app)

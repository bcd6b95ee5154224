"""The page of errata: filters, one row with its evidence, the list, the code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore import specs
from dpcore.app import errata as view
from dpcore.app.page import presets
from dpcore.labs.errata import rows
from tests.app import visits

PAGE = Path(__file__).resolve().parents[2] / "pages" / "15_Errata.py"


def opened(**state: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=180)
    for key, value in state.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def said(app: AppTest) -> str:
    return "\n".join(part.value for part in [*app.markdown, *app.caption, *app.subheader])


def test_the_default_row_is_refuted_on_the_page() -> None:
    app = opened()
    assert app.title[0].value == "Errata"
    assert "At ε = 10 and δ = 1e-5 the true δ is 2.265e-5" in said(app)
    evidence = next(frame for frame in app.dataframe if "refuted" in frame.value.columns)
    assert evidence.value["refuted"].all()
    assert visits.headings(evidence) == [
        "Setting", "What it gives", "The source says", "Computed", "What it is", "Contradicts it"
    ]  # fmt: skip
    assert "1e-5" in visits.written(evidence)["stated"].tolist()
    assert "**Where it fails.** At ε = 8.42 and above" in said(app)
    listing = next(frame.value for frame in app.dataframe if "What is wrong" in frame.value.columns)
    assert (listing.loc[listing["Kind"] == "false", "Where it fails"] != "").all()
    assert len(listing) == len(rows())
    assert not listing.isna().any().any()
    assert len(app.get("vega_lite_chart")) == 1


@pytest.mark.parametrize("preset", [p for p in presets() if p.page == "Errata"], ids=lambda p: p.name)
def test_every_example_opens(preset: object) -> None:
    app = opened(**preset.state)  # type: ignore[attr-defined]
    row = next(row for row in rows() if row.name == preset.state["err_row"])  # type: ignore[attr-defined]
    assert row.printed in said(app)
    assert row.corrected in said(app)
    assert not app.error


def test_filters_keep_only_their_rows() -> None:
    app = opened(err_source="Course on private machine learning", err_kind="misprint")
    listing = next(frame.value for frame in app.dataframe if "What is wrong" in frame.value.columns)
    assert len(listing) == len(rows("course", "misprint")) > 0
    assert app.selectbox(key="err_row").value == "gdp-twice"


def test_an_empty_choice_says_so() -> None:
    assert not rows("course", "false")
    app = opened(err_source="Course on private machine learning", err_kind="false")
    assert "No rows for this source and kind." in app.info[0].value


def test_garbage_in_the_link_gives_the_page() -> None:
    app = opened(err_row="nothing", err_source="<b>", err_kind="%00")
    assert app.title[0].value == "Errata"
    assert app.selectbox(key="err_row").value in {row.name for row in rows()}


def test_the_code_under_the_chart_runs() -> None:
    for source, kind in (("All sources", "all"), ("Privacy visualisation thesis", "false")):
        names: dict[str, Any] = {}
        spec = {name: value for name, value in view.spec(source, kind).items() if value is not None}
        exec(specs.code(spec), names)  # noqa: S102  our own text
        assert len(names["figure"].table) == len(view.rows_of(source, kind))


def test_what_the_conversion_may_have_changed_is_called_so() -> None:
    app = opened(err_source="Total variation paper", err_kind="reading", err_row="root-of-a-product")
    assert "**In the converted text**" in said(app)
    assert "**As printed**" not in said(app)
    assert "Kind: **reading**" in said(app)

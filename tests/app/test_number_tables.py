"""Tables of numbers: every cell is written by the app's one formatter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.app import figure
from tests.app import visits

TABLE = pd.DataFrame(
    {
        "number": [1e-5, 0.1 + 0.2, np.inf, np.nan, 1e12],
        "mixed": ["1e-5", 1e-5, None, 3, True],
        "count": [1, 20, 300, 4000, 50000],
    },
    index=[0, 0, 1, 1, 2],
)


def shown(table: pd.DataFrame, **options: Any) -> Any:
    def page(table, options):  # type: ignore[no-untyped-def]  # its source is run alone, without the imports above
        from dpcore.app import figure

        figure.numbers(table, "table", **options)

    app = AppTest.from_function(page, args=(table, options)).run()
    assert not app.exception
    return app.dataframe[0]


def test_numbers_are_written_by_the_one_formatter_and_stay_numbers() -> None:
    element = shown(TABLE)
    cells = visits.written(element)
    assert cells["number"].tolist() == ["1e-5", "0.3", "inf", "", "1e12"]
    assert cells["mixed"].tolist() == ["1e-5", "1e-5", "", "3", "True"]
    assert cells["count"].tolist() == ["1", "20", "300", "4000", "50000"]
    assert element.value["number"].dtype == float


@pytest.mark.parametrize("rows", [0, 30_000])
def test_an_empty_table_and_a_long_one_are_shown_too(rows: int) -> None:
    element = shown(pd.DataFrame({"number": np.full(rows, 0.5), "count": np.arange(rows)}))
    assert len(element.value) == rows
    assert element.proto.arrow_data.HasField("styler") == (2 * rows <= figure._MOST_WRITTEN)


@pytest.mark.parametrize("rows", [3, 30_000])
def test_headings_stand_above_the_columns_and_leave_their_names(rows: int) -> None:
    table = pd.DataFrame({"delta_of_guess": np.full(rows, 0.5), "count": np.arange(rows)})
    element = shown(table, headings={"delta_of_guess": "δ of the guess", "elsewhere": "Elsewhere"})
    assert visits.headings(element) == ["δ of the guess", "count"]
    assert element.value.columns.tolist() == ["delta_of_guess", "count"]


def test_kinds_under_a_heading_are_in_words() -> None:
    kinds = pd.DataFrame({"kind": ["upper", "exact", "no bound"]})
    assert visits.written(shown(kinds))["kind"].tolist() == kinds["kind"].tolist()
    element = shown(kinds, headings={"kind": "What it is"})
    assert visits.written(element)["kind"].tolist() == ["upper bound", "exact", "no bound"]
    assert element.value.equals(kinds)


@pytest.mark.parametrize("file", ["5_Several_constraints.py", "8_Local_privacy.py", "15_Errata.py"])
def test_no_table_of_the_page_is_headed_by_a_name_of_the_code(file: str) -> None:
    app = visits.Page(f"pages/{file}", file[:-3].lstrip("0123456789_").replace("_", " ")).opened()
    words = [word for table in app.dataframe for word in visits.headings(table)]
    assert len(words) > 5
    assert not [word for word in words if not word[0].isupper() and word[0] not in "εδpq"]

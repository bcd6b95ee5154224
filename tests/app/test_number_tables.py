"""Tables of numbers: every cell is written by the app's one formatter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from dpcore.app import figure

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


def texts(element: Any) -> pd.DataFrame:
    return convert_arrow_bytes_to_pandas_df(element.proto.arrow_data.styler.display_values)


def test_numbers_are_written_by_the_one_formatter_and_stay_numbers() -> None:
    element = shown(TABLE)
    cells = texts(element)
    assert cells["number"].tolist() == ["1e-5", "0.3", "inf", "", "1e12"]
    assert cells["mixed"].tolist() == ["1e-5", "1e-5", "", "3", "True"]
    assert cells["count"].tolist() == ["1", "20", "300", "4000", "50000"]
    assert element.value["number"].dtype == float


@pytest.mark.parametrize("rows", [0, 30_000])
def test_an_empty_table_and_a_long_one_are_shown_too(rows: int) -> None:
    element = shown(pd.DataFrame({"number": np.full(rows, 0.5), "count": np.arange(rows)}))
    assert len(element.value) == rows
    assert element.proto.arrow_data.HasField("styler") == (2 * rows <= figure._MOST_WRITTEN)

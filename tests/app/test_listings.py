"""The code under a figure makes that figure: every listing of a page is run, and gives the numbers shown, all digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df, convert_pandas_df_to_arrow_bytes

from dpcore import charts
from dpcore.app.figure import MOST_ROWS
from dpcore.app.page import Preset, presets
from tests.app.visits import ROOT, Page, alts, figure_names, open_row, page_of
from tests.test_tables import check as check_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamlit.testing.v1 import AppTest

PAGES = ("streamlit_app.py", *(f"pages/{file.name}" for file in sorted((ROOT / "pages").glob("*.py"))))
# these take seconds
SLOW = {
    "dp_sgd", "constraints_laplace", "mechanism_cut", "guide_mechanisms", "claimed_cut", "constraints_thousand",
    "ledger_mixed_relations", "ledger_sites", "laplace_1000", "training_small", "constraints_implied",
    "training_long", "training_target", "data_series_full", "data_cheated", "map_composition",
}  # fmt: skip
QUICK = [preset for preset in presets() if preset.name not in SLOW][::3]
EXAMPLES = [
    pytest.param(preset, id=f"{preset.page}-{preset.name}", marks=() if preset in QUICK else (pytest.mark.long,))
    for preset in presets()
]


def takeaways(app: AppTest) -> Iterator[tuple[pd.DataFrame, str]]:
    """Open the table and the code of each figure of a page in turn, and yield them."""
    closed = [table.proto.SerializeToString() for table in app.dataframe]
    for name in figure_names(app):
        open_row(app, name, "Table", "Code")
        tables = [table for table in app.dataframe if table.proto.SerializeToString() not in closed]
        assert len(tables) == 1, f"{name}: {len(tables)} tables"
        listings = [block.value for block in app.code if "figure = " in block.value]
        assert len(listings) == 1, f"{name}: {len(listings)} listings"
        yield tables[0].value, listings[0]
        open_row(app, name)


def as_shown(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table as it comes out of the browser's format."""
    return convert_arrow_bytes_to_pandas_df(convert_pandas_df_to_arrow_bytes(frame.head(MOST_ROWS)))


def check(app: AppTest) -> int:
    """Run every listing of a page and compare what it makes with what the page shows; return how many there are."""
    count = 0
    data = [{table.name for table in chart.proto.datasets} for chart in app.get("vega_lite_chart")]
    for shown, listing in takeaways(app):
        space: dict[str, Any] = {}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(charts, "save", lambda *_: None)  # what is drawn is compared, not its file
            exec(compile(listing, "shown", "exec"), space)  # noqa: S102  the page's own lines, run as a reader would
        made = [space["figure"].table, *(value for value in space.values() if isinstance(value, pd.DataFrame))]
        alike = [table for table in made if list(table.columns) == list(shown.columns)]
        assert alike, f"no table with the columns {list(shown.columns)} is made by\n{listing}"
        assert_frame_equal(as_shown(alike[-1]), shown, check_exact=True)
        drawn = set(space["figure"].outline[1])  # tables are named by their contents
        assert any(drawn <= names for names in data), f"no chart is drawn of what is made by\n{listing}"
        count += 1
    return count


@pytest.mark.parametrize("file", PAGES)
def test_the_listings_of_a_page_make_its_figures(file: str) -> None:
    app = Page(file, "").made()
    app.run()
    assert not app.exception
    assert check(app) == len(alts(app))
    for table in app.dataframe:
        check_columns(table.value, file)


@pytest.mark.parametrize("preset", EXAMPLES)
def test_the_listings_of_an_example_make_its_figures(preset: Preset) -> None:
    app = page_of(preset).opened(**preset.state)
    assert check(app) == len(alts(app))


@pytest.mark.parametrize(
    ("page", "state"),
    [
        (Page("pages/2_Composition.py", "Composition"), {"view": "ratio"}),
        (
            Page("pages/1_Privacy_regions.py", "Privacy regions"),
            {"picture": "ratio of δ", "regions": "gdp(1);laplace(1)"},
        ),
    ],
)
def test_the_listing_of_a_ratio_makes_it(page: Page, state: dict[str, str]) -> None:
    app = page.opened(**state)
    assert "times that of" in alts(app)[0]
    assert check(app) == len(alts(app))

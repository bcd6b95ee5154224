"""What every test of a page does: open it with a link, run it again, read what it shows."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

if TYPE_CHECKING:
    from dpcore.app.page import Preset

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("markdown", "info", "success", "warning", "caption")


@dataclass(frozen=True)
class Page:
    """A page's file, from the top of the repository, and its title."""

    file: str
    title: str

    def opened(self, **parameters: Any) -> AppTest:
        """Open the page with the parameters of a link."""
        return self.ran(self.made(**parameters))

    def made(self, **parameters: Any) -> AppTest:
        """Return the page with the parameters of a link, before it runs."""
        app = AppTest.from_file(str(ROOT / self.file), default_timeout=180)
        for name, value in parameters.items():
            app.query_params[name] = value if isinstance(value, list) else _flat(value)
        return app

    def ran(self, app: AppTest) -> AppTest:
        """Run the page with what was typed, pressed or chosen; it must stay the page, without a traceback."""
        app.run()
        assert not app.exception, [found.stack_trace for found in app.exception]
        assert app.title[0].value == self.title
        return app


def page_of(preset: Preset) -> Page:
    """Return the page that a preset belongs to."""
    file = next((ROOT / "pages").glob(f"*_{preset.page}.py"))
    return Page(f"pages/{file.name}", preset.page.replace("_", " "))


def _flat(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def unescaped(texts: list[str]) -> str:
    """Return texts as a reader sees them: badges in parentheses, without the signs that keep Markdown and line breaks away."""
    return re.sub(r":[a-z]+-badge\[([^]]*)\]", r"(\1)", " ".join(texts)).replace("\\", "").replace("\u00a0", " ")


def said(app: AppTest, *kinds: str, without: str = "") -> str:
    """Return all that the page says in elements of these kinds, less blocks that contain `without`."""
    texts = [str(found.value) for kind in kinds or KINDS for found in getattr(app, kind)]
    return unescaped([text for text in texts if not without or without not in text])


def errors(app: AppTest) -> str:
    """Return all errors that the page shows."""
    return unescaped([str(found.value) for found in app.error])


def alts(app: AppTest) -> list[str]:
    """Return what is said of each chart."""
    return [str(chart.proto.alt) for chart in app.get("vega_lite_chart")]


def drawings(app: AppTest) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the specification of each chart with its data: names, types and every value to the last digit."""
    protos = [chart.proto for chart in app.get("vega_lite_chart")]
    return [(proto.spec, [(data.name, _values(data.data.data)) for data in proto.datasets]) for proto in protos]


def _values(data: bytes) -> str:
    """Return a table as the browser reads it; its bytes may differ by unused room."""
    table = convert_arrow_bytes_to_pandas_df(data)
    return f"{table.dtypes.to_dict()} {table.to_dict('list')}"


def choose_example(app: AppTest, name: str) -> AppTest:
    """Choose an example from the menu."""
    app.button(key=f"preset_{name}").click()
    app.run()
    assert not app.exception, [found.stack_trace for found in app.exception]
    return app


def figure_names(app: AppTest) -> list[str]:
    """Return the names of the figures of a page, each of which has a row of its own."""
    return [str(row.key).removesuffix("_row") for row in app.get("button_group") if str(row.key).endswith("_row")]


def open_row(app: AppTest, name: str, *panels: str) -> AppTest:
    """Open Table, Export, Code or Link of a figure, or close them all."""
    row = next(row for row in app.get("button_group") if row.key == f"{name}_row")
    row.set_value(list(panels))
    app.run()
    assert not app.exception
    return app


def listing(app: AppTest, name: str) -> str:
    """Return the code of a figure; its row is closed again."""
    (code,) = [str(block.value) for block in open_row(app, name, "Code").code if "figure = " in block.value]
    open_row(app, name)
    return code


def frame(app: AppTest, column: str) -> Any:
    """Return the first table that has a column."""
    return next(table.value for table in app.dataframe if column in table.value.columns)


def headings(table: Any) -> list[str]:
    """Return what stands above the columns of a table on the page."""
    configured = json.loads(table.proto.columns or "{}")
    return [configured.get(name, {}).get("label") or name for name in table.value.columns]


def written(table: Any) -> Any:
    """Return the cells of a table as the page writes them."""
    return convert_arrow_bytes_to_pandas_df(table.proto.arrow_data.styler.display_values)


def sources_without(*mine: str) -> str:
    """Return the source text of all pages and of the app's modules, less the files named."""
    files = [*(ROOT / "pages").glob("*.py"), *(ROOT / "dpcore" / "app").glob("*.py"), ROOT / "streamlit_app.py"]
    return "".join(file.read_text(encoding="utf-8") for file in files if file.name not in mine)

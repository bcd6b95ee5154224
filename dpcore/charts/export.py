"""Pictures as files: SVG, PNG, PDF, a page that works offline, and the JSON of the chart."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import altair as alt

from dpcore.charts import theme
from dpcore.charts.figure import Figure
from dpcore.charts.paper import DOTS_PER_INCH, printed, sized, within
from dpcore.core.errors import DomainError, DpcoreError
from dpcore.core.numerals import numeral

if TYPE_CHECKING:
    import types

    import pandas as pd

    from dpcore.charts.paper import Paper, Range

SUFFIXES = (".svg", ".png", ".pdf", ".html", ".json")
"""The kinds of file that a chart can be saved as."""
PRINTED = (".svg", ".pdf", ".png")
EXPORT_WIDTH = 560
MOST_ROWS = 2000
Drawing: TypeAlias = "Figure | alt.LayerChart"


def save(
    drawing: Drawing,
    path: str | Path,
    *,
    width: int = EXPORT_WIDTH,
    table: pd.DataFrame | None = None,
    paper: Paper | None = None,
    x_range: Range | None = None,
    y_range: Range | None = None,
) -> Path:
    """Write a chart or figure to a file in the format of its suffix.

    Parameters
    ----------
    drawing : Drawing
        A `Figure`, or the chart alone.
    path : str or Path
        The file; its suffix is one of `SUFFIXES`.
    width : int, default EXPORT_WIDTH
        Width of a chart that would otherwise fill its container, in points.
    table : DataFrame, optional
        Rows under the chart in HTML; those of the figure by default.
    paper : Paper, optional
        Size in millimetres, font and greys, for SVG, PDF and PNG (300 dots per inch).
    x_range, y_range : pair of float, optional
        Ends of the axes; those of the chart by default.

    Returns
    -------
    Path
        The file.
    """
    target = Path(path)
    suffix = check_suffix(target)
    contents = render(drawing, suffix, width=width, table=table, paper=paper, x_range=x_range, y_range=y_range)
    target.write_bytes(contents)
    return target


def check_suffix(path: str | Path) -> str:
    """Return the suffix of a file name in lower case.

    Parameters
    ----------
    path : str or Path
        The name of a file.

    Returns
    -------
    str
        One of `SUFFIXES`.

    Raises
    ------
    DomainError
        If the suffix is not one of them.

    Examples
    --------
    >>> check_suffix("region.SVG")
    '.svg'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        msg = f"A chart is written to a file that ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, got {str(path)[:80]!r}."
        raise DomainError(msg)
    return suffix


def render(
    drawing: Drawing,
    suffix: str,
    *,
    width: int = EXPORT_WIDTH,
    table: pd.DataFrame | None = None,
    paper: Paper | None = None,
    x_range: Range | None = None,
    y_range: Range | None = None,
) -> bytes:
    """Return a chart or figure as the bytes of a file.

    Parameters
    ----------
    drawing : Drawing
        A `Figure`, or the chart alone.
    suffix : str
        ``.svg``, ``.png`` (two pixels per point), ``.pdf``, ``.html`` or ``.json``.
    width : int, default EXPORT_WIDTH
        Width of a chart that would otherwise fill its container, in points.
    table : DataFrame, optional
        Rows under the chart in HTML; those of the figure by default.
    paper : Paper, optional
        Size in millimetres, font and greys, for SVG, PDF and PNG (300 dots per inch).
    x_range, y_range : pair of float, optional
        Ends of the axes; those of the chart by default.

    Returns
    -------
    bytes
        The contents of the file.
    """
    check_suffix(f"chart{suffix}")
    spec = specification(drawing)
    if x_range is not None or y_range is not None:
        spec = within(spec, x=x_range, y=y_range)
    if paper is not None:
        return _sheet(spec, suffix, paper)
    if suffix == ".json":
        return (json.dumps(spec, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()
    if suffix == ".html":
        rows = table if table is not None or not isinstance(drawing, Figure) else drawing.table
        return _page(spec, drawing, rows, width).encode()
    still, version = _still(spec, width), _version()
    converter = _converter(suffix)
    if suffix == ".svg":
        return renumbered(converter.vegalite_to_svg(still, vl_version=version)).encode()
    if suffix == ".png":
        return bytes(converter.vegalite_to_png(still, vl_version=version, scale=2))
    return bytes(converter.vegalite_to_pdf(still, vl_version=version))


def _sheet(spec: dict[str, Any], suffix: str, paper: Paper) -> bytes:
    """Return a chart in the format of a paper as the bytes of a file."""
    if suffix not in PRINTED:
        msg = f"The format of a paper is for {', '.join(PRINTED[:-1])} and {PRINTED[-1]}, got {suffix}."
        raise DomainError(msg)
    converter = _converter(suffix)
    svg = renumbered(converter.vegalite_to_svg(printed(_still(spec, EXPORT_WIDTH), paper), vl_version=_version()))
    if suffix == ".svg":
        return sized(svg, paper, millimetres=True).encode()
    in_points = sized(svg, paper, millimetres=False)
    if suffix == ".pdf":
        return bytes(converter.svg_to_pdf(in_points))
    return bytes(converter.svg_to_png(in_points, ppi=DOTS_PER_INCH))


def picture(spec: dict[str, Any], *, width: int = EXPORT_WIDTH, prefix: str = "") -> str:
    """Return a specification as SVG of fixed width, with ids that start with `prefix`."""
    svg = _converter(".svg").vegalite_to_svg(_still(spec, width), vl_version=_version())
    return renumbered(svg, prefix)


def specification(drawing: Drawing) -> dict[str, Any]:
    """Return the Vega-Lite specification with its data."""
    chart = drawing.chart if isinstance(drawing, Figure) else drawing
    with alt.data_transformers.enable("default", max_rows=None):
        return dict(chart.to_dict())


def renumbered(svg: str, prefix: str = "") -> str:
    """Return an SVG with ids numbered from 0 after `prefix`; otherwise the numbers run on per process and collide on a page."""
    order = dict.fromkeys(re.findall(r'\bid="([^"]+)"', svg))
    names = {old: f"{prefix}part{index}" for index, old in enumerate(order)}

    def renamed(match: re.Match[str]) -> str:
        return f"{match[1]}{names.get(match[2], match[2])}{match[3]}"

    return re.sub(r'(\bid="|url\(#|href="#)([^")]+)([")])', renamed, svg)


def _dark(spec: dict[str, Any]) -> bool:
    return bool(spec.get("usermeta", {}).get("dpcore", {}).get("dark", False))


def _still(spec: dict[str, Any], width: int) -> dict[str, Any]:
    """Return the specification for a picture: of fixed width, with an opaque background."""
    paper = {"background": theme.paper(dark=_dark(spec))}
    fixed = {"width": width} if spec.get("width") == "container" else {}
    config = {name: value for name, value in spec.get("config", {}).items() if name != "background"}
    # points that only carry tooltips are useless in a picture
    layers = [layer for layer in spec.get("layer", []) if layer["mark"].get("opacity") != 0]
    data = {name: [row for row in rows if row.get("seen", 1) != 0] for name, rows in spec.get("datasets", {}).items()}
    return {**spec, "config": config, "layer": layers, "datasets": data, **paper, **fixed, "padding": 12}


def _version() -> str:
    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def _converter(suffix: str) -> types.ModuleType:
    try:
        import vl_convert  # noqa: PLC0415  an extra, needed only here
    except ModuleNotFoundError:
        msg = f'Writing {suffix} needs vl-convert-python; install it with: pip install "dpcore[report]".'
        raise DpcoreError(msg) from None
    module: types.ModuleType = vl_convert
    return module


def _page(spec: dict[str, Any], drawing: Drawing, table: pd.DataFrame | None, width: int) -> str:
    """Return a self-contained page: picture, live chart, sentence and table."""
    own = str(spec.get("title") or "Chart")
    spec = {name: value for name, value in spec.items() if name != "title"}  # it is the heading of the page
    script, digest = _script()
    title = drawing.title if isinstance(drawing, Figure) else own
    words = [drawing.takeaway, *drawing.notes] if isinstance(drawing, Figure) else [str(spec.get("description", ""))]
    dark = _dark(spec)
    return _PAGE.format(
        title=html.escape(theme.short(title, 200)),
        digest=digest,
        scheme="dark" if dark else "light",
        paper=theme.paper(dark=dark),
        ink=theme.ink(dark=dark),
        picture=picture(spec, width=width),
        words="".join(f"<p>{html.escape(text)}</p>" for text in words if text),
        table="" if table is None else _html_table(table),
        spec=json.dumps(spec, allow_nan=False).replace("<", "\\u003c"),
        script=script,
    )


@cache
def _script() -> tuple[str, str]:
    """Return the script of a page and its digest; a function around the bundle keeps its names local."""
    script = f"(()=>{{{_converter('.html').javascript_bundle()}\n{_BOOT}}})();".replace("</script", "<\\/script")
    return script, base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _html_table(table: pd.DataFrame) -> str:
    """Return at most 2000 rows of the table, with headers for screen readers."""
    head = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in table.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row) + "</tr>"
        for row in table.head(MOST_ROWS).itertuples(index=False, name=None)
    )
    count = f"{len(table)} rows" if len(table) <= MOST_ROWS else f"the first {MOST_ROWS} of {len(table)} rows"
    return (
        f'<details><summary>Table of the numbers drawn ({count})</summary><div class="scroll" tabindex="0" '
        f'role="region" aria-label="Table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div></details>"
    )


def _cell(value: object) -> str:
    return numeral(value) if isinstance(value, float) else str(value)


_BOOT = """
const spec = JSON.parse(document.getElementById("spec").textContent);
const place = document.getElementById("chart");
vegaEmbed(place, spec, {ast: true, actions: false, renderer: "svg"});
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-{digest}'; \
style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
:root {{ color-scheme: {scheme}; }}
body {{ margin: 0; background: {paper}; color: {ink}; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }}
main {{ max-width: 46rem; margin: 0 auto; padding: 1rem; }}
h1 {{ font-size: 1.4rem; }}
#chart, #chart > svg {{ width: 100%; }}
#vg-tooltip-element table tr td.key {{ color: #404040; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .2rem .6rem; text-align: left; border-bottom: 1px solid #8886; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<figure style="margin:0"><div id="chart">{picture}</div><figcaption>{words}</figcaption></figure>
{table}
</main>
<script type="application/json" id="spec">{spec}</script>
<script>{script}</script>
</body>
</html>
"""

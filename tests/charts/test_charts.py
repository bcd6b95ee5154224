"""Every chart built and rendered, light and dark; what it says is true; hostile names do no harm."""

from __future__ import annotations

import json
import re
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pytest

import dpcore
from dpcore import charts
from dpcore.central_limit.convergence import copies
from dpcore.charts import theme
from dpcore.charts.central_limit import limit_figure
from dpcore.charts.export import render, renumbered, specification
from dpcore.charts.regions import region_chart
from dpcore.core.errors import DomainError, DpcoreError

TEXTS = ("dp(0.6, 0.05)", "dp(0.6, 0.05)^5", "gdp(1.2)", "dp(3, 0.25)")
REGIONS = [dpcore.parse(text) for text in TEXTS]
HOSTILE = [
    "\"'; alert(1) //",
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "x" * 1000,
    "a.b:c[0]",
    "",
]


def utility_frame() -> pd.DataFrame:
    epsilon = np.logspace(-1, 1, 9)
    line = pd.DataFrame({"parameter": epsilon, "value": 2 / epsilon, "low": 1 / epsilon, "high": 4 / epsilon})
    dots = line.iloc[::2].assign(kind="simulation")
    return pd.concat([line.assign(kind="exact"), dots], ignore_index=True)


def build(name: str, dark: bool) -> charts.Figure:
    look = charts.Look(dark=dark, title="A title")
    makers: dict[str, Any] = {
        "regions": lambda: charts.region_figure(REGIONS, look=look),
        "regions log thesis": lambda: charts.region_figure(REGIONS, log=True, axes="thesis", look=look),
        "regions lines": lambda: charts.region_figure(
            REGIONS, filled=False, legend=False, selected="gdp(1.2)", look=look
        ),
        "region nothing": lambda: charts.region_figure(dpcore.parse("dp(inf)"), log=True, look=look),
        "profiles": lambda: charts.profile_figure(REGIONS, look=look),
        "loss atoms": lambda: charts.loss_figure(REGIONS[1], look=look),
        "loss many": lambda: charts.loss_figure(dpcore.parse("dp(0.1)^1000"), look=look),
        "loss smooth": lambda: charts.loss_figure(REGIONS[2], look=look),
        "loss all": lambda: charts.loss_figure(dpcore.parse("dp(inf)"), look=look),
        "utility": lambda: charts.utility_figure(utility_frame(), current=1.0, look=look),
    }
    return makers[name]()


NAMES = (
    "regions", "regions log thesis", "regions lines", "region nothing", "profiles", "loss atoms", "loss many",
    "loss smooth", "loss all", "utility",
)  # fmt: skip


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_every_chart_renders(name: str, dark: bool) -> None:
    figure = build(name, dark)
    svg = charts.render(figure, ".svg").decode()
    assert svg.startswith("<svg")
    assert theme.paper(dark=dark) in svg
    assert "A title" in svg
    assert figure.takeaway
    spec = specification(figure)
    assert spec["description"] == figure.takeaway
    assert "NaN" not in json.dumps(spec)
    for rows in spec["datasets"].values():
        for row in rows:
            assert None not in row.values()
            assert not [key for key in row if set(key) & set(".:[]")]


def marks(spec: dict[str, Any], kind: str) -> list[list[dict[str, Any]]]:
    return [spec["datasets"][l["data"]["name"]] for l in spec["layer"] if l["mark"]["type"] == kind]


@pytest.mark.parametrize(
    ("selected", "front"),
    [(None, "dp(0.6, 0.05)"), ("dp(3, 0.25)", "dp(3, 0.25)"), ("DP, ε = 3, δ = 0.25", "dp(3, 0.25)")],
)
def test_larger_regions_lie_behind(selected: str | None, front: str) -> None:
    spec = specification(charts.region_figure(REGIONS, selected=selected))
    (rows,) = marks(spec, "area")
    expression = {region.legend: str(region) for region in REGIONS}
    order = [expression[label] for label in dict.fromkeys(row["label"] for row in rows)]
    assert order[-1] == front
    behind = [label for label in ("dp(3, 0.25)", "dp(0.6, 0.05)^5", "gdp(1.2)", "dp(0.6, 0.05)") if label != front]
    assert order[:-1] == behind


@pytest.mark.parametrize(("axes", "across"), [("fdp", "alpha"), ("thesis", "beta")])
def test_axes_are_where_they_should_be(axes: Any, across: str) -> None:
    table = charts.region_table(dpcore.parse("dp(1, 0.1)"))
    spec = specification(region_chart(table, axes=axes))
    (line,) = [
        layer for layer in spec["layer"] if layer["mark"]["type"] == "line" and "strokeDash" in layer["encoding"]
    ]
    words = "positives" if across == "alpha" else "negatives"
    assert words in line["encoding"]["x"]["title"]
    points = marks(spec, "point")[0]
    for point in points:
        assert float(point[f"{across}_text"]) == pytest.approx(point["x"], abs=1e-4)
    with pytest.raises(DomainError, match="axes must be one of thesis, fdp"):
        region_chart(table, axes="roc")  # type: ignore[arg-type]  # the mistake under test


def test_a_logarithmic_axis_writes_numbers_as_sentences_do() -> None:
    """Without labels of our own Vega writes 0.000001 and then 1e-7."""
    values = np.logspace(-8, 5, 27)
    line = pd.DataFrame({"parameter": values, "value": values, "low": values, "high": values, "kind": "exact"})
    shown = charts.utility_figure(line, parameter="x", value="y")
    texts = set(re.findall(r"<text[^>]*>([^<]*)</text>", render(shown, ".svg").decode()))
    assert {"1e-7", "1e-6", "1e-5", "0.001"} <= texts
    assert not any(re.match(r"0\.0000", text) for text in texts)
    assert any(re.fullmatch("10.000", text) for text in texts), "the thousands mark"


def _bound(text: str, side: str) -> float:
    """Return the number of a tooltip, which names its side unless it is exact."""
    return float(text.removeprefix(side))


def test_the_tooltip_of_an_approximation_names_no_bound() -> None:
    (points,) = marks(specification(limit_figure(copies("laplace(0.1)", 100))), "point")
    own = {kind: [point for point in points if kind in point["kind"]] for kind in ("exact", "approximation")}
    assert all(own.values())
    for point in own["approximation"]:
        assert point["kind"] == "an approximation, no bound"
        assert point["beta_text"].startswith("about ")
        assert point["power_text"].startswith("about ")
    assert not any(re.search("about|at least", point["beta_text"]) for point in own["exact"])


def test_tooltips_hold_what_is_promised_and_are_outward() -> None:
    region = dpcore.parse("gdp(1.2)")
    (points,) = marks(specification(charts.region_figure(region)), "point")
    assert len(points) <= 160
    for point in points:
        alpha = float(point["alpha_text"])
        assert {"beta_text", "power_text", "segment", "kind"} <= set(point)
        if 0 < alpha < 1:
            assert _bound(point["beta_text"], "at least ") <= region.beta(alpha * (1 - 1e-4)) + 1e-12
        missed, found = point["y"], 1 - point["y"]
        assert missed * (1 - 1e-4) <= _bound(point["beta_text"], "at least ") <= missed * (1 + 1e-13)
        assert found - 1e-15 <= _bound(point["power_text"], "at most ") <= found * (1 + 1e-4) + 1e-15
    (tips,) = [
        layer["encoding"]["tooltip"]
        for layer in specification(charts.region_figure(region))["layer"]
        if layer["mark"]["type"] == "point"
    ]
    assert any("ε" in tip["title"] for tip in tips)


def test_corners_are_points_only_up_to_sixty() -> None:
    few = marks(specification(charts.region_figure(REGIONS[1])), "point")[0]
    many = marks(specification(charts.region_figure(dpcore.parse("dp(0.0001, 1e-7)^300"))), "point")[0]
    assert sum(point["seen"] for point in few) == 7  # 8 corners without (1, 0)
    assert sum(point["seen"] for point in many) == 0


def test_colour_and_dash_go_together() -> None:
    spec = specification(charts.region_figure(REGIONS))
    (line,) = [layer for layer in spec["layer"] if "strokeDash" in layer["encoding"]]
    colours, dashes = line["encoding"]["stroke"]["scale"], line["encoding"]["strokeDash"]["scale"]
    assert colours["domain"] == dashes["domain"] == [region.legend for region in REGIONS]
    assert colours["range"] == list(theme.LIGHT[:4])
    assert len({str(dash) for dash in dashes["range"]}) == 4
    assert len({(theme.colour(i), str(theme.dash(i))) for i in range(49)}) == 49


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_read(dark: bool) -> None:
    look, paper = theme.config(dark=dark), theme.paper(dark=dark)
    assert look["background"] == "transparent"
    for part, name in (("axis", "labelColor"), ("axis", "titleColor"), ("legend", "labelColor"), ("title", "color")):
        assert contrast(look[part][name], paper) >= 7
    assert contrast(look["axis"]["domainColor"], paper) >= 3
    for strong in theme.palette(dark):  # text over a fill
        assert contrast(theme.quiet(dark=dark), theme.pale(strong, dark=dark)) >= 4.5


def test_takeaways_are_true() -> None:
    figure = charts.region_figure(dpcore.parse("gdp(1.2)"))
    assert "finds at most 33 of 100" in figure.takeaway  # 1 - f(0.05) = 0.3282
    assert "for δ = 1e-6, ε is at most 6.03 (exact)" in charts.profile_takeaway(REGIONS[2])
    assert 6.02 < REGIONS[2].epsilon(1e-6) <= 6.03
    assert "no ε reaches δ = 1e-6; δ stays at 0.227" in charts.profile_takeaway(REGIONS[1])
    assert "at most 23 of 100 answers" in charts.loss_takeaway(REGIONS[1])
    assert "at ε = 1: 2 (exact)" in charts.utility_takeaway(utility_frame(), current=1.0)
    assert "2 more regions are in the table" in charts.region_takeaway([dpcore.dp(k / 10) for k in range(1, 7)])


def test_profile_table_is_the_profile() -> None:
    table = charts.profile_table(REGIONS)
    for text, rows in table.groupby("region"):
        assert len(rows) <= 400
        assert rows["delta"].to_numpy() == pytest.approx(dpcore.parse(str(text)).delta(rows["epsilon"].to_numpy()))
    assert charts.profile_table(REGIONS[0], epsilon_max=2.0)["epsilon"].max() == 2.0
    with pytest.raises(DomainError, match="epsilon_max"):
        charts.profile_table(REGIONS[0], epsilon_max=0.0)


def test_loss_tables_hold_all_mass_and_name_infinity() -> None:
    atoms = charts.loss_table(REGIONS[1])
    assert atoms["mass"].sum() == pytest.approx(1.0)
    assert atoms["loss_label"].iloc[-1] == "inf"
    assert atoms["mass"].iloc[-1] == pytest.approx(1 - 0.95**5)
    assert set(atoms["kind"]) == {"exact"}
    many = charts.loss_table(dpcore.parse("dp(0.1)^1000"))
    assert len(many) <= 200
    assert many["mass"].sum() == pytest.approx(1.0)


def test_loss_cells_of_a_gaussian() -> None:
    from scipy.special import ndtr

    cells = charts.loss_table(dpcore.parse("gdp(1)"))
    true = ndtr(cells["high"] - 0.5) - ndtr(cells["low"] - 0.5)  # the loss is N(mu^2/2, mu^2)
    assert np.abs(cells["mass"] - true).max() < 2e-3
    assert set(cells["kind"]) == {"approximate"}
    laplace = charts.loss_table(dpcore.parse("laplace(1)"))
    assert laplace["mass"].iloc[-1] == pytest.approx(0.5, abs=0.01)  # the atom at epsilon


def test_utility_wants_its_columns() -> None:
    with pytest.raises(DomainError, match="low, high is missing"):
        charts.utility_table(pd.DataFrame({"parameter": [1.0], "value": [1.0], "kind": ["exact"]}))
    with pytest.raises(DomainError, match="at least one row"):
        charts.utility_table(utility_frame().iloc[:0])
    zero = utility_frame().assign(low=0.0)
    assert charts.render(charts.utility_figure(zero), ".svg")  # falls back to a linear axis


def test_infinity_never_becomes_null() -> None:
    from dpcore.charts.figure import checked

    with pytest.raises(DomainError, match="write infinity as a label"):
        checked(pd.DataFrame({"x": [1.0, np.inf]}))
    with pytest.raises(DomainError, match="must not contain"):
        checked(pd.DataFrame({"a.b": [1.0]}))


# --- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF"), (".html", b"<!doctype html>"), (".json", b"{")],
)
def test_save_by_suffix(tmp_path: Any, suffix: str, start: bytes) -> None:
    target = charts.save(charts.region_figure(REGIONS[0]), tmp_path / f"region{suffix}")
    assert target.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["region.gif", "region", ".svg.exe", "x" * 500])
def test_a_wrong_suffix_lists_the_allowed_ones(tmp_path: Any, name: str) -> None:
    with pytest.raises(DomainError, match=r"\.svg, \.png, \.pdf, \.html or \.json, got"):
        charts.save(charts.region_figure(REGIONS[0]), tmp_path / name)


def test_html_needs_nothing_from_outside() -> None:
    page = charts.render(charts.region_figure(REGIONS, look=charts.Look(title="Four")), ".html").decode()
    assert '<html lang="en">' in page
    assert "<title>Four</title>" in page
    assert "<h1>Four</h1>" in page
    assert "<main>" in page
    assert page.split("<script", maxsplit=1)[0].count("<table>") == 1
    assert 'th scope="col"' in page
    assert not re.findall(r'<(?:script|link|img|iframe)[^>]+(?:src|href)=["\']?(?:https?:)?//', page)
    assert "ast: true, actions: false" in page
    assert "default-src 'none'" in page
    assert "(()=>{" in page


@pytest.mark.parametrize("suffix", [".svg", ".html"])
def test_hostile_names_do_no_harm(suffix: str) -> None:
    regions = {name: dpcore.dp(0.5 + index) for index, name in enumerate(HOSTILE)}
    look = charts.Look(title=" ".join(HOSTILE[1:3] + HOSTILE[:1]))
    figure = charts.region_figure(regions, look=look, selected=HOSTILE[1])
    text = charts.render(figure, suffix).decode()
    body = text if suffix == ".svg" else text[: text.rindex("<script>")]  # before our own script
    assert "<script>alert" not in body
    assert "<img src=x" not in body
    assert list(dict.fromkeys(figure.table["label"])) == HOSTILE
    if suffix == ".svg":
        assert max(map(len, re.findall(r">([^<]+)</text>", text))) <= 150  # titles are cut
    else:
        spec = re.search(r'<script type="application/json" id="spec">(.*?)</script>', text, re.DOTALL)
        assert spec is not None
        assert json.loads(spec[1])["description"] == figure.takeaway


def test_svg_does_not_depend_on_what_was_drawn_before() -> None:
    figure = charts.region_figure(REGIONS)
    first = charts.render(figure, ".svg")
    charts.render(charts.profile_figure(REGIONS[0]), ".svg")
    assert charts.render(figure, ".svg") == first
    assert renumbered('<g id="clip7" clip-path="url(#clip7)">', "a-") == '<g id="a-part0" clip-path="url(#a-part0)">'


def test_many_regions_can_be_written() -> None:
    figure = charts.region_figure([dpcore.gdp(0.1 + k / 10) for k in range(30)])
    assert len(figure.table) > 5000
    assert charts.render(figure, ".json")


def test_missing_extras_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    figure = charts.region_figure(REGIONS[0])
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(DpcoreError, match=r'^Writing \.png needs vl-convert-python; .* "dpcore\[report\]"\.$'):
        charts.render(figure, ".png")
    assert charts.render(figure, ".json")


def test_missing_altair_is_one_sentence() -> None:
    import subprocess
    import sys

    code = (
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'altair' else real(name, *rest)\n"
        "from dpcore.cli import main\n"
        "raise SystemExit(main(['plot', 'dp(1)', '-o', 'x.svg']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stderr == 'error: Charts need altair; install it with: pip install "dpcore[charts]".\n'


def test_themes_are_registered_but_not_enabled() -> None:
    assert {"dpcore_light", "dpcore_dark"} <= set(alt.theme.names())
    assert alt.theme.active not in {"dpcore_light", "dpcore_dark"}


def test_the_command_line_draws(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from dpcore.cli import main

    target = tmp_path / "r.svg"
    assert main(["plot", "dp(1)", "gdp(1)", "-o", str(target), "--axes", "thesis", "--log"]) == 0
    assert target.read_text(encoding="utf-8").startswith("<svg")
    assert "at most" in capsys.readouterr().out
    assert main(["plot", "dp(1)", "-o", str(tmp_path / "p.json"), "--profile"]) == 0
    assert theme.DELTA_TITLE in (tmp_path / "p.json").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["plot", "dp(1)", "-o", str(tmp_path / "r.gif")]) == 2
    assert ".svg, .png, .pdf, .html or .json" in capsys.readouterr().err

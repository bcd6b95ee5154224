"""Figures for a paper: the size asked for, letters of one size, greys that differ, and nothing cut at the edge."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from dpcore import cli, dp, gdp, laplace, specs
from dpcore.charts import Look, Paper, region_figure, render, save, theme
from dpcore.charts.export import specification
from dpcore.charts.paper import GREYS, printed, within
from dpcore.core.errors import DomainError
from tests.specs.test_specs import CASES, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from dpcore.charts.figure import Figure

COLUMN = Paper(width_mm=85, height_mm=60, font="serif", size=8, grey=True)
NAMES = ["regions", "regions in log", "profile", "losses", "noise", "utility", "ledger", "theorems", "curves"]


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    cases = {name: {**case} for name, case in CASES.items() if name in NAMES}
    cases["regions"] |= {"lines": (), "points": ()}
    cases["seven"] = {"draw": "composition", "mechanism": "dp(0.1)", "k": 10, "fill": False}
    for case in cases.values():
        if "file" in case:
            case["file"] = str(ROOT / case["file"])
    return {name: specs.draw({k: v for k, v in case.items() if v != ()}) for name, case in cases.items()}


def inked(png: bytes) -> Any:
    """Return where a picture is not white."""
    return np.asarray(Image.open(io.BytesIO(png)).convert("L")) < 250


@pytest.mark.parametrize("paper", [COLUMN, Paper(), Paper(178, 80, "sans-serif", 10)], ids=["grey", "plain", "wide"])
@pytest.mark.parametrize("name", [*NAMES, "seven"])
def test_nothing_is_cut_at_the_edge(figures: dict[str, Figure], name: str, paper: Paper) -> None:
    picture = inked(render(figures[name], ".png", paper=paper))
    height, width = picture.shape
    assert width == pytest.approx(paper.width_mm / 25.4 * 300, abs=2)
    assert height == pytest.approx(paper.height_mm / 25.4 * 300, abs=2)
    assert picture.mean() > 0.01
    edge = np.concatenate([picture[:2].ravel(), picture[-2:].ravel(), picture[:, :2].ravel(), picture[:, -2:].ravel()])
    assert not edge.any()


@pytest.mark.parametrize(("width", "height"), [(85, 60), (178, 120.5), (50, 50)])
def test_the_page_has_the_size_in_millimetres(width: float, height: float, tmp_path: Path) -> None:
    figure, paper = region_figure(dp(1.0)), Paper(width, height, size=7)
    pdf = save(figure, tmp_path / "a.pdf", paper=paper).read_bytes()
    box = [float(one) for one in re.findall(rb"/MediaBox \[([^\]]*)\]", pdf)[0].split()]
    assert box == pytest.approx([0, 0, width * 72 / 25.4, height * 72 / 25.4], abs=0.5)
    svg = save(figure, tmp_path / "a.svg", paper=paper).read_text(encoding="utf-8")
    head = svg[: svg.index(">")]
    assert f'width="{width:g}mm"' in head
    assert f'height="{height:g}mm"' in head
    left, top, across, up = map(float, re.findall(r'viewBox="([^"]*)"', head)[0].split())
    assert (left, top) == (0, 0)
    assert across / up == pytest.approx(width / height)
    letters = {float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)}
    assert [one * paper.points[0] / across for one in letters] == [pytest.approx(7.0)]
    assert render(figure, ".svg", paper=paper).decode() == svg  # the same bits


def colours(svg: str) -> set[str]:
    return set(re.findall(r'"(#[0-9a-fA-F]{6})"', svg))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["regions", "noise", "utility", "ledger"])
def test_a_grey_figure_has_no_colour_and_white_paper(name: str, dark: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    figure = specs.draw(CASES[name], Look(dark=dark))
    svg = render(figure, ".svg", paper=COLUMN).decode()
    assert all(one[1:3] == one[3:5] == one[5:7] for one in colours(svg))
    assert 'font-family="serif"' in svg
    assert "sans-serif" not in svg
    assert re.search(r'<rect[^>]*fill="#ffffff"', svg)
    light = render(specs.draw(CASES[name]), ".svg", paper=COLUMN).decode()
    assert colours(svg) == colours(light)  # paper is not dark


def test_colours_stay_those_of_the_theme_on_white() -> None:
    regions = [dp(1.0), gdp(1.0), laplace(2.0)]
    strong = {colour.lower() for colour in theme.LIGHT[:3]}
    for dark in (False, True):
        svg = render(
            region_figure(regions, look=Look(dark=dark)), ".svg", paper=Paper(width_mm=120, height_mm=90)
        ).decode()
        assert strong <= {one.lower() for one in colours(svg)}
        assert 'fill="#0e1117"' not in svg


def test_greys_differ_from_each_other_and_from_paper() -> None:
    levels = [int(grey[1:3], 16) for grey in GREYS]
    assert len(set(levels)) == len(theme.LIGHT) == len(levels)
    assert min(abs(a - b) for a, b in pairwise(levels)) >= 0x30  # neighbours
    assert max(levels) <= 0x96  # 2.9:1 on white
    svg = render(region_figure([dp(0.5), gdp(1.0), laplace(2.0)], filled=False), ".svg", paper=COLUMN).decode()
    lines = re.findall(r'<path d="[^"]*" stroke="(#\w+)"[^>]*?(?:stroke-dasharray="([^"]*)")?[^>]*/>', svg)
    assert len({colour for colour, _ in lines if colour in GREYS}) == 3


def test_ranges_of_the_axes_cut_the_chart() -> None:
    figure = region_figure([dp(1.0)], log=True)
    spec = within(specification(figure), x=(1e-4, 0.5), y=(0.1, 1.0))
    for layer in spec["layer"]:
        assert layer["mark"]["clip"] is True
        for channel, ends in (("x", [1e-4, 0.5]), ("y", [0.1, 1.0])):
            scale = layer["encoding"].get(channel, {}).get("scale")
            assert scale is None or scale["domain"] == ends
    svg = render(figure, ".svg", x_range=(1e-4, 0.5)).decode()
    assert re.search(r"X-axis[^\"]*from 0.0001 to 0.5", svg)
    assert re.search(r"Y-axis[^\"]*from 1e-12 to 1", svg)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"width_mm": 0}, "width_mm must be a number in [20, 1000], got 0."),
        ({"height_mm": float("nan")}, "height_mm must be a number in [20, 1000], got nan."),
        ({"size": "8"}, "size must be a number in [4, 40], got '8'."),
        ({"font": 'x" onload="'}, "font must be the name of one family"),
        ({"grey": 1}, "grey must be True or False, got 1."),
        ({"width_mm": 25, "height_mm": 60, "size": 20}, "Letters of 20 pt need a figure of at least 59 mm each way"),
    ],
)
def test_a_wrong_format_is_named(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(DomainError) as error:
        Paper(**wrong)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"x_range": (0.5, 0.1)}, "x_range must rise from its first number to its second, got 0.5 and 0.1."),
        ({"x_range": (0.1,)}, "x_range must be a list of 2 to 2 numbers"),
        ({"y_range": (0.0, float("inf"))}, "y_range must be a number in (-inf, inf), got inf"),
        ({"y_range": (0.0, 1.0), "log": True}, "y_range must start above 0 on a logarithmic axis, got 0."),
    ],
)
def test_a_wrong_range_is_named(options: dict[str, Any], words: str) -> None:
    figure = region_figure([dp(1.0)], log=options.pop("log", False))
    with pytest.raises(DomainError) as error:
        render(figure, ".svg", **options)
    assert words in str(error.value)


def test_what_has_no_room_or_no_range_says_so(figures: dict[str, Figure]) -> None:
    with pytest.raises(DomainError, match=r"leave no room for the picture: height_mm must be at least \d+, got 40"):
        render(figures["seven"], ".pdf", paper=Paper(85, 40))
    with pytest.raises(DomainError, match=r"The y axis of this figure lists names"):
        render(figures["ledger"], ".svg", y_range=(0, 1))
    with pytest.raises(DomainError, match=r"The format of a paper is for .svg, .pdf and .png, got .html"):
        render(figures["profile"], ".html", paper=COLUMN)
    spec = specification(figures["profile"])
    before = repr(spec)
    printed(spec, COLUMN)
    within(spec, x=(0, 1))
    assert repr(spec) == before


def run(*words: str) -> int:
    return int(cli.main(list(words)))


def test_the_command_writes_the_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.pdf"
    words = ["--width-mm", "85", "--height-mm", "60", "--font", "serif", "--font-size", "8", "--grey"]
    assert run("plot", "dp(1)", "gdp(1)", "-o", str(path), *words, "--x-range", "0,0.5", "--y-range", "0.2,1") == 0
    assert b"/MediaBox [0 0 240.9" in path.read_bytes()
    figure = region_figure([dp(1.0), gdp(1.0)])
    assert path.read_bytes() == render(figure, ".pdf", paper=COLUMN, x_range=(0, 0.5), y_range=(0.2, 1))
    capsys.readouterr()
    for wrong in (["--width-mm", "5"], ["--x-range", "1"], ["--font-size", "huge"]):
        assert run("plot", "dp(1)", "-o", str(path), *wrong) == 2
        assert capsys.readouterr().err.count("\n") == 1

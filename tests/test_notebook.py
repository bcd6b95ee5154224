"""What a notebook shows of a region: well-formed, without script, and true."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from dpcore import TradeOff, parse
from dpcore.regions import notebook
from dpcore.regions.custom import CustomRegion
from dpcore.words import attack_sentence

ROOT = Path(__file__).resolve().parent.parent
SVG = "{http://www.w3.org/2000/svg}"
REGIONS = {
    "polygon": "dp(1, 0.1)",
    "composed polygon": "dp(0.6, 0.05)^5",
    "polygon of many corners": "dp(0.01, 1e-6)^1000",
    "smooth": "gdp(1)",
    "steep": "gdp(6)",
    "composed, certified": "poisson_gaussian(1, 0.01)^100",
    "intersection": "laplace(1)^2 & dp(1.5)",
    "bound": "zcdp(0.5)^2",
    "perfect": "dp(0)",
    "no privacy": "dp(inf)",
    "one direction": "pmf([0.2, 0.2, 0.6, 0], [0.5, 0.4, 0, 0.1])",
}
each_region = pytest.mark.parametrize("region", [parse(text) for text in REGIONS.values()], ids=REGIONS)


def shown(region: TradeOff) -> ET.Element:
    """Return the representation as a tree, after checks that hold for all of them."""
    root = ET.fromstring(region._repr_html_())
    assert root.tag == "div"
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    words = {"div", "p", "code", "small", "table", "thead", "tbody", "tr", "th", "td"}
    assert tags <= words | {"svg", "polygon", "polyline", "line", "rect", "text"}
    names = {name for element in root.iter() for name in element.attrib}
    assert not [name for name in names if name.startswith("on") or "href" in name or name in {"src", "id", "class"}]
    assert "nan" not in "".join(root.itertext()).lower()
    return root


def text_of(root: ET.Element) -> str:
    return " ".join(root.itertext())


@each_region
def test_it_has_a_picture_a_sentence_and_a_table(region: TradeOff) -> None:
    root = shown(region)
    picture = root.find(f"{SVG}svg")
    assert picture is not None
    assert picture.get("aria-label") == attack_sentence(region)
    assert attack_sentence(region) in text_of(root)
    assert region.text in text_of(root)
    assert region.theorem in text_of(root)


@each_region
def test_the_table_is_never_below_the_truth(region: TradeOff) -> None:
    rows = [[cell.text or "" for cell in row] for row in shown(region).findall(".//tbody/tr")]
    assert 1 <= len(rows) <= notebook.MOST_ROWS
    assert float(rows[0][0]) == 0.0
    for epsilon, delta, kind in rows:
        truth = region.delta(float(epsilon))
        assert truth <= float(delta) * (1 + 1e-12)
        assert float(delta) <= region.delta(float(epsilon) * (1 - 1e-5)) * (1 + 1e-5)
        assert kind in {"exact", "upper bound"}
        if region.kind == "exact":
            assert kind == "exact"


@each_region
def test_the_picture_is_the_curve(region: TradeOff) -> None:
    line = shown(region).find(f".//{SVG}polyline")
    assert line is not None
    pairs = np.array([[float(number) for number in pair.split(",")] for pair in line.get("points", "").split()])
    x, y = pairs.T
    alpha, beta = (x - notebook._LEFT) / notebook._SIDE, 1.0 - (y - notebook._TOP) / notebook._SIDE
    assert (alpha[0], beta[0], alpha[-1], beta[-1]) == pytest.approx((0, 1, 1, 0), abs=1e-9)
    assert np.all(np.diff(alpha) >= 0)
    assert np.all(np.diff(beta) <= 1e-9)
    # halfway between two points the line is within a pixel of the curve, across or up
    at, line_beta = (alpha[1:] + alpha[:-1]) / 2, (beta[1:] + beta[:-1]) / 2
    pixel = 1.0 / notebook._SIDE
    above = np.where(
        at < pixel, 1.0, region.beta(np.maximum(at - pixel, 0))
    )  # the left edge of the square is part of it
    assert np.all(line_beta <= above + pixel)
    assert np.all(line_beta >= region.beta(np.minimum(at + pixel, 1)) - pixel)


def test_every_text_is_escaped() -> None:
    name = '<script>alert("1")</script> & "more" \'quotes\''
    region = CustomRegion(parse("gdp(1)").pair, name, "any")
    page = region._repr_html_()
    assert "<script" not in page
    assert name in text_of(shown(region))


def test_a_long_name_is_cut() -> None:
    region = parse(" * ".join(f"dp({k / 100})" for k in range(1, 60)))
    code = shown(region).find(".//code")
    assert code is not None
    assert len(code.text or "") == notebook.LONGEST_NAME


def test_what_stops_the_computation_is_shown_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = parse("histogram(1)") * parse("poisson_gaussian(1, 0.1)")
    assert "speaks of substitution neighbours" in text_of(shown(apart))
    monkeypatch.setattr(notebook, "DEADLINE", 0.0)
    long = shown(parse("subsample(laplace(1), 0.01)^1000"))
    assert long.find(f"{SVG}svg") is None
    assert "The time allowed ended" in text_of(long)
    assert "Ask for single numbers instead: region.delta(1.0)." in text_of(long)


def test_it_needs_no_library_for_pictures() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['altair', 'vl_convert', 'matplotlib', 'IPython', 'jinja2'])); "
        "import dpcore; assert 'dpcore.regions.notebook' not in sys.modules; print(dpcore.gdp(1)._repr_html_()[:4]); "
        "assert 'dpcore.charts' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "<div"

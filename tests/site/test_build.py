"""Building: twice the same bytes, nothing twice, nothing lost, and mistakes named."""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import vl_convert
from PIL import Image

from dpcore.charts.export import picture
from dpcore.charts.theme import Look
from dpcore.cli.describe import commands
from dpcore.core.errors import DpcoreError
from dpcore.language import parse
from dpcore.site import build_site
from dpcore.site.colours import counterparts
from dpcore.site.docstrings import as_markdown, signature
from dpcore.site.figures import WIDTH, compact, packed, render, rounded
from dpcore.site.markdown import Writer, read
from dpcore.site.maths import formula
from dpcore.site.pages import gallery_page
from dpcore.site.svg import responsive, shortened
from dpcore.site.tables import parameters_of, table_of
from dpcore.specs import Spec, SpecError
from dpcore.specs.base import draw

ROOT = Path(__file__).resolve().parents[2]

SPEC = """title = "Small"
lead = "A site with one $f$."

[[question]]
text = "Where?"
page = "texts/one.html"

[[section]]
name = "texts"
title = "Texts"
kind = "texts"
folder = "texts"

[[section]]
name = "pictures"
title = "Pictures"
kind = "gallery"
folder = "pictures"
"""
TEXT = """# One text

The *first* paragraph with $x^2$.

## A part

$$\\alpha\\le\\frac12$$

```figure
draw = "live"
title = "Sliders"
families = ["dp", "gdp"]
```

See [the other](two.md#end), `code`, a < b & c.

| a | |
|---|--:|
| 1 | $\\mathcal N$ |
"""
GALLERY = """title = "Figures"
summary = "Two of them."

[[figure]]
name = "first"
draw = "regions"
title = "First"
caption = "With $\\\\varepsilon$."
regions = ["dp(1)"]
preset = "audit_honest"

[[figure]]
name = "second"
draw = "utility"
title = "Second"
caption = "Simulated."
utility = "count_laplace"
releases = 20
"""


def write(folder: Path) -> Path:
    (folder / "texts").mkdir(parents=True)
    (folder / "pictures").mkdir()
    (folder / "site.toml").write_text(SPEC, encoding="utf-8")
    (folder / "texts" / "one.md").write_text(TEXT, encoding="utf-8")
    (folder / "texts" / "two.md").write_text("# Two\n\nAnother.\n\n## End\n\nThe end.\n", encoding="utf-8")
    (folder / "pictures" / "figures.toml").write_text(GALLERY, encoding="utf-8")
    return folder / "site.toml"


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("small")
    spec = write(folder / "source")
    build_site(spec, folder / "out", processes=1, commands=commands())
    return spec, folder / "out"


@pytest.mark.long
def test_two_processes_make_the_same_bytes(small: tuple[Path, Path], tmp_path: Path) -> None:
    spec, out = small
    command = [sys.executable, "-m", "dpcore", "site", "--spec", str(spec), "-o", str(tmp_path / "again"), "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "4 pages; drew 3 figures" in done.stdout
    assert digests(tmp_path / "again") == digests(out)


def test_a_second_build_does_nothing_and_a_third_only_what_changed(small: tuple[Path, Path], tmp_path: Path) -> None:
    source = tmp_path / "source"
    spec = write(source)
    out = tmp_path / "out"
    out.mkdir()
    for path in digests(small[1]):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes((small[1] / path).read_bytes())
    same = build_site(spec, out, processes=1)
    assert (same.written, same.drawn, same.removed) == ((), (), ())
    assert same.words.endswith("nothing changed")
    (source / "texts" / "two.md").write_text("# Two\n\nAnother.\n\n## End\n\nChanged.\n", encoding="utf-8")
    changed = build_site(spec, out, processes=1)
    assert (changed.written, changed.drawn) == (("texts/two.html", "assets/search.js"), ())
    (out / "figures" / "first.csv").write_text("touched", encoding="utf-8")
    mended = build_site(spec, out, processes=1)
    assert mended.drawn == ("first",)
    assert (out / "figures" / "first.csv").read_bytes() == (small[1] / "figures" / "first.csv").read_bytes()
    (source / "texts" / "one.md").unlink()
    (source / "site.toml").write_text(SPEC.replace("texts/one.html", "texts/two.html"), encoding="utf-8")
    less = build_site(spec, out, processes=1)
    assert "texts/one.html" in less.removed
    assert not (out / "texts" / "one.html").exists()


def test_a_text_becomes_a_page(small: tuple[Path, Path]) -> None:
    text = (small[1] / "texts" / "one.html").read_text(encoding="utf-8")
    assert "<h1>One text</h1>" in text
    assert '<p class="lead">The <em>first</em> paragraph with <math' in text
    assert 'href="two.html#end"' in text
    assert "a &lt; b &amp; c" in text
    assert "<mi>𝒩</mi>" in text
    assert '<h2 id="a-part">A part</h2>' in text
    assert "texts-one-figure-1.js" in text
    home = (small[1] / "index.html").read_text(encoding="utf-8")
    assert 'href="texts/one.html">Where?' in home
    gallery = (small[1] / "pictures" / "figures.html").read_text(encoding="utf-8")
    assert "http://localhost:8501/Audit?audit_mechanism=" in gallery


def test_a_gallery_without_a_summary_counts_its_figures(tmp_path: Path) -> None:
    one = '[[figure]]\nname = "{}"\ndraw = "regions"\nregions = "dp(1)"\ntitle = "A"\ncaption = "B"\n'
    file = tmp_path / "g.toml"
    for names, said in (("a", "1 figure."), ("ab", "2 figures.")):
        file.write_text("\n".join(one.format(name) for name in names), encoding="utf-8")
        assert gallery_page(file, "pictures").summary == said


def test_dark_is_light_with_other_colours() -> None:
    cases = (
        {"draw": "regions", "regions": ["dp(1)", "gdp(1)", "laplace(1)"], "lines": [{"alpha": 0.1, "label": "a"}]},
        {"draw": "live", "families": ["dp", "gdp"]},
        {"draw": "ladder", "mechanism": "dp(0.1)", "k": [1, 10, 100]},
        {"draw": "noise", "mechanism": "laplace(1)"},
        {"draw": "losses", "region": "dp(0.6, 0.05)^5"},
    )
    for case in cases:
        light, dark = (_parts(compact(draw(case, Look(dark=dark)).spec)) for dark in (False, True))
        assert [counterparts().get(part, part) for part in light] == dark, case["draw"]


def _parts(spec: str) -> list[str]:
    """Return the texts of a specification; names of data, which come from their content, are counted instead."""
    names = list(dict.fromkeys(re.findall(r"data-[0-9a-f]{32}", spec)))
    for place, name in enumerate(names):
        spec = spec.replace(name, f"data-{place}")
    return spec.replace('"dark":true', '"dark":false').split('"')


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("site.toml", 'kind = "texts"', 'kind = "text"', "site.toml, .*kind is one of texts"),
        ("site.toml", 'title = "Small"', 'titel = "Small"', "site.toml: 'titel' is not a key; .*title"),
        (
            "site.toml",
            'folder = "texts"',
            'folder = "texts"\npages = ["three"]',
            "lists 'three', but there is no three.md",
        ),
        ("texts/one.md", "\\frac12", "\\nonsense12", r"one.md.*\\nonsense"),
        (
            "texts/one.md",
            '["dp", "gdp"]',
            '["dp", "gpd"]',
            "one.md, line 12, figure texts-one-figure-1, families: unknown value 'gpd'.*gdp",
        ),
        ("texts/one.md", "[the other](two.md#end)", "![x](x.png)", "one.md, line 15: There is no file"),
        ("pictures/figures.toml", '"dp(1)"', '"dp(x)"', r"figures.toml, line 9, figure first, regions: 'dp\(x\)'"),
        (
            "pictures/figures.toml",
            '"audit_honest"',
            '"audit_honset"',
            "figures.toml, line 10, figure first, preset: .*audit_honest",
        ),
        ("pictures/figures.toml", 'name = "second"', 'name = "first"', "line 13, figure first, name: .*earlier figure"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, file: str, old: str, new: str, said: str) -> None:
    spec = write(tmp_path / "source")
    path = tmp_path / "source" / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(SpecError, match=said):
        build_site(spec, tmp_path / "out", processes=1)


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    spec = write(tmp_path / "source")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(DpcoreError, match="is not a site of dpcore"):
        build_site(spec, tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


# ---- parts -------------------------------------------------------------------------------------------------------


def test_formulas() -> None:
    assert "<mfrac>" in formula(r"\frac12")[0]
    assert 'display="block"' in formula("x", display=True)[0]
    assert "𝒩" in formula(r"\mathcal N")[0]
    assert "ℝ" in formula(r"\mathbb R")[0]
    with pytest.raises(DpcoreError, match="has the unknown command"):
        formula(r"\unheard x")


def test_tables_round_bounds_to_their_safe_side() -> None:
    rows = [[0.12345651, "upper", 0.12345649], [0.12345651, "exact", 0.12345649], [0.12345659, "lower", 0.12345649]]
    table = table_of(["delta", "kind", "delta_lower"], rows)
    assert [row[0] for row in table.rows] == ["0.123457", "0.123457", "0.123456"]
    assert {row[2] for row in table.rows} == {"0.123456"}
    assert table_of(["delta", "kind", "x"], [[0.1234561, "upper", None]]).rows == (("0.123457", "upper"),)
    assert len(table_of(["x"], [[float(i)] for i in range(50)]).rows) == 50
    many = table_of(["x"], [[float(i)] for i in range(1000)])
    assert (len(many.rows), many.total, many.cut) == (15, 1000, True)


def test_parameters_are_said_in_short() -> None:
    given = {"k": 5, "regions": ["a", "b"], "parameters": {"scale": 0.5}, "at": [float(i) for i in range(30)]}
    assert parameters_of(given) == ["k = 5", "regions = a; b", "scale = 0.5", "at = 0; 1; …; 29 (30)"]


@pytest.mark.parametrize(
    "case",
    [
        {"draw": "noise", "mechanism": "staircase(1, 0.3)", "threshold": 0.3},
        {"draw": "noise", "mechanism": "gaussian(1)", "threshold": 0.5},
        {"draw": "regions", "regions": ["dp(0.6, 0.05)^5"], "points": [{"alpha": 0.1, "beta": 0.5, "label": "P"}]},
    ],
    ids=lambda case: case.get("mechanism", case["draw"]),
)
def test_a_smaller_picture_looks_the_same(case: dict[str, Any]) -> None:
    whole = picture(draw(case).spec, width=WIDTH)
    small = shortened(responsive(picture(rounded(draw(case).spec), width=WIDTH)))
    assert len(small) < 0.8 * len(whole)
    first, second = (
        np.asarray(Image.open(io.BytesIO(vl_convert.svg_to_png(svg))).convert("L"), dtype=float)
        for svg in (whole, small)
    )
    assert first.shape == second.shape
    assert np.abs(first - second).max() < 100  # of 255: edges move by less than a tenth of a point


def test_columns_come_back_from_what_is_packed() -> None:
    texts = {
        "run": ["a"] * 9 + ["b"] * 9,
        "mix": ["a", "b", "b", "a", "b", "a"] * 3,
        "own": [str(i) for i in range(18)],
    }
    chart = {"datasets": {"data": [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]}}
    held = packed(chart, "words")["datasets"]["data"]
    assert held["run"] == {"texts": ["a", "b"], "runs": [[0, 9], [1, 9]]}
    assert (held["mix"]["texts"], held["mix"]["at"][:6]) == (["a", "b"], [0, 1, 1, 0, 1, 0])
    assert held["own"] == texts["own"]


def test_headings_have_ids_of_their_own() -> None:
    text = read("### Same\n\nA.\n\n### Same\n\n#### Deeper $x$\n", file="x.md", folder=Path(), lead=False)
    writer = Writer("x.md")
    made = writer.text(text)
    assert [heading.id for heading in writer.headings] == ["same", "same-2", "deeper-x"]
    assert '<h2 id="same">' in made
    assert "<h3" in made


def test_docstrings_become_markdown() -> None:
    def example(x: float, *, name: str = "a") -> int:
        r"""Return :math:`x^2` of ``x * y``.

        .. math:: y = x^2

        Parameters
        ----------
        x : float
            A number with a * star.

        Returns
        -------
        int
            Rounded.
        """

    made = as_markdown(example.__doc__ or "")
    assert "Return $x^2$ of `x * y`." in made
    assert "$$y = x^2$$" in made
    assert "- `x` (`float`):\n  A number with a \\* star." in made
    assert signature("example", example) == "example(x: float, *, name: str = 'a') -> int"


def test_a_long_expression_stands_once_and_a_column_of_ones_own_stays() -> None:
    long = " * ".join(f"gaussian({sigma})" for sigma in range(20, 30))
    drawn = render(
        Spec({"draw": "regions", "regions": [long, "gdp(1)"], "labels": ["all", "one"], "title": "Two"}), "x"
    )
    rows = pd.read_csv(io.StringIO(drawn.numbers), keep_default_na=False)
    told = rows[rows["expression"] != ""]
    assert told[["region", "expression"]].to_numpy().tolist() == [["all", str(parse(long))], ["one", "gdp(1)"]]
    assert "expression" not in drawn.table.columns
    own = render(Spec({"draw": "table", "title": "Own", "rows": "label,expression\nCounts,laplace(0.1)\n"}), "y")
    assert own.table.columns == ("label", "expression")

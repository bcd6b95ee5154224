"""Figure specs: each kind draws, its code makes the same figure, and mistakes are named with file, line and expression."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dpcore import parse, specs
from dpcore.charts.live import FAMILIES, SLIDERS
from dpcore.charts.measures import MEASURES, measure_table
from dpcore.charts.theme import Look
from dpcore.core.errors import DomainError
from dpcore.specs import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
LEDGER = "data/ledgers/quarter.csv"

CASES: dict[str, dict[str, Any]] = {
    "regions": {
        "draw": "regions",
        "regions": ["dp(0.6, 0.05)", "dp(0.6, 0.05)^5"],
        "labels": ["one", "five"],
        "axes": "thesis",
        "fill": False,
        "lines": [{"start": [0, 0], "end": [1, 1], "label": "equal errors"}, {"alpha": 0.05}],
        "points": [{"alpha": 0.1, "beta": 0.5, "label": "P"}],
    },
    "risk": {"draw": "risk", "regions": ["laplace(1)", "gdp(1)"], "labels": ["a", "b"], "fpr": [0.01]},
    "compare": {"draw": "compare", "a": "dp(1, 1e-5)", "b": "gdp(1)"},
    "convert": {"draw": "convert", "region": "laplace(0.5)^10", "to": "gdp"},
    "calibrate": {"draw": "calibrate", "expression": "gaussian(?)^10", "epsilon": 1, "delta": 1e-5},
    "training": {"draw": "training", "sampler": "poisson", "sigma": 1.1, "rate": 0.01, "steps": 100, "claimed": 2},
    "interval": {
        "draw": "interval",
        "sample": "ages",
        "column": "age",
        "lower": 0,
        "upper": 100,
        "delta": 1e-6,
        "releases": 100,
    },
    "table": {"draw": "table", "rows": "a,b\n1,x\n2,y\n", "columns": ["b", "a"]},
    "deployments": {"draw": "deployments", "measure": "advantage"},
    "Rényi": {"draw": "theorems", "mechanism": "laplace(0.1)", "k": 100, "theorems": ["exact", "rdp"]},
    "width of an interval": {
        "draw": "interval_width",
        "sample": "ages",
        "column": "age",
        "lower": 0,
        "upper": 100,
        "delta": 1e-6,
        "against": "epsilon",
    },
    "errors of mechanisms": {
        "draw": "sensitivity_errors",
        "sample": "staff",
        "column": "salary",
        "lower": 20000,
        "upper": 120000,
        "statistic": "quantile",
        "blocks": 20,
    },
    "smooth sensitivity": {
        "draw": "smooth_sensitivity",
        "sample": "ages",
        "column": "age",
        "lower": 0,
        "upper": 100,
        "statistic": "trimmed mean",
        "trim": 0.2,
    },
    "simulated intervals": {
        "draw": "interval_coverage",
        "sample": "survey",
        "column": "cheated",
        "statistic": "proportion",
        "equals": "yes",
        "noise": "laplace",
        "releases": 300,
        "seed": 3,
    },
    "regions in log": {"draw": "regions", "regions": "gdp(1)", "log": True, "points": [{"alpha": 0, "beta": 1}]},
    "regions with a border": {"draw": "regions", "regions": ["dp(1)", "gdp(1)"], "places": [0, 2], "rows": "border"},
    "no region": {"draw": "blank", "axes": "thesis", "log": True},
    "profile with colours": {"draw": "profile", "regions": ["dp(1)"], "places": [3], "legend": False},
    "profile": {"draw": "profile", "regions": ["laplace(1)^3"], "delta": 1e-5},
    "deltas": {"draw": "deltas", "regions": ["dp(0.1)^100"], "epsilon": "0:5:0.5"},
    "deltas with labels": {
        "draw": "deltas",
        "regions": ["dp(0.1)^100"],
        "labels": ["hundred"],
        "epsilon": [1, "log(3)"],
    },
    "losses": {"draw": "losses", "region": "dp(0.6, 0.05)^5"},
    "errata": {"draw": "errata", "of": "false"},
    "curves": {
        "draw": "curves",
        "regions": ["laplace(?)", "gdp(?)"],
        "values": "0.2:3:0.2",
        "measure": "equal_error_rate",
    },
    "composition": {
        "draw": "composition",
        "mechanism": "dp(0.1)",
        "k": 10,
        "theorems": ["basic", "kov_optimal"],
        "tolerance": 1e-3,
    },
    "theorems": {"draw": "theorems", "mechanism": "dp(0.1)", "k": 100, "delta": 1e-5},
    "ladder": {
        "draw": "ladder",
        "mechanism": "dp(0.1)",
        "k": [1, 10, 100],
        "mark": 10,
        "theorems": ["basic", "kov_optimal"],
    },
    "ratio": {"draw": "ratio", "regions": ["gdp(1)", "gdp(1.01)"], "labels": ["a", "b"], "over": "b"},
    "ratio of ε": {
        "draw": "ratio",
        "regions": ["gdp(1)", "gdp(1.01)"],
        "of": "epsilon",
        "by": "difference",
        "at": "1e-9..1e-2/8",
    },
    "theorem ratio": {"draw": "theorem_ratio", "mechanism": "dp(0.1)", "k": 10, "over": "basic"},
    "ladder ratio": {"draw": "ladder_ratio", "mechanism": "dp(0.1)", "k": [10, 100], "theorems": ["basic", "gdp"]},
    "limit": {"draw": "limit", "mechanism": "dp(0.5)", "k": 10},
    "limit's safety": {"draw": "limit_safety", "mechanism": "rr(1, 50)", "k": 50, "delta": 1e-5},
    "map of a sweep": {
        "draw": "sweep",
        "expression": "gaussian({sigma})^{k}",
        "measure": "epsilon",
        "grid_values": {"sigma": "1:3:0.5", "k": [1, 10, 100]},
        "arguments": {"delta": 1e-5},
        "across": "k",
    },
    "limit's distance": {"draw": "limit_distance", "mechanism": "dp(0.1)", "mark": 30},
    "arrays": {"draw": "arrays", "mu": 1, "n": 30},
    "arrays as regions": {"draw": "arrays", "failing": 0.5, "view": "regions", "axes": "thesis"},
    "noise": {"draw": "noise", "mechanism": "laplace(1)", "threshold": 0.5, "window": [-4, 5]},
    "utility": {"draw": "utility", "utility": "histogram_laplace", "parameters": {"epsilon": 0.5}, "releases": 20},
    "utility of a file": {
        "draw": "utility",
        "utility": "mean_laplace",
        "file": "data/datasets/ages.csv",
        "column": "age",
        "lower": 0,
        "upper": 120,
        "releases": 20,
    },
    "utility of answers": {
        "draw": "utility",
        "utility": "histogram_laplace",
        "file": "data/datasets/survey.csv",
        "column": "transport",
        "categories": "bus, bicycle",
        "others": "drop",
        "n": 50,
        "releases": 20,
        "moves": "bins",
    },
    "a query's region": {"draw": "utility_region", "utility": "histogram_laplace", "sample": "ages.age", "n": 100},
    "a query's release": {"draw": "release", "utility": "count_laplace", "parameters": {"epsilon": 0.5}, "seed": 3},
    "a query's bounds": {"draw": "bounds", "utility": "mean_laplace", "n": 200, "upper": 50.0, "side": "lower"},
    "sampling": {"draw": "sampling", "region": "dp(1, 1e-5)", "p": 0.1},
    "claim": {"draw": "claim", "mechanism": "laplace(0.5)", "k": 3, "epsilon": 1.2, "delta": 1e-5},
    "accountants": {"draw": "accountants", "mechanism": "laplace(0.1)", "k": 30, "claimed": 1},
    "steps": {"draw": "steps", "sigma": 1.5, "q": 0.04, "steps": [1, 100, 1000], "mark": 100},
    "rates": {"draw": "rates", "sigma": 1.5, "q": 0.04, "steps": 100},
    "live": {"draw": "live", "families": ["dp", "gdp", "laplace", "dptv"], "epsilon": 0.5},
    "live profile": {"draw": "live", "families": ["gdp", "pure"], "view": "profile"},
    "ledger": {"draw": "ledger", "file": LEDGER, "epsilon": 8},
    "ledger's costs": {"draw": "ledger", "file": LEDGER, "view": "costs"},
    "ledger's region": {"draw": "ledger", "rows": "label,expression,count\na,dp(0.1),9\n", "view": "region"},
    "ledger's filters": {"draw": "ledger", "file": LEDGER, "view": "filters", "row": 2, "epsilon": 8},
    "plan": {
        "draw": "plan",
        "plan": '{"rows":900,"answers":[{"kind":"count","where":"a < 3"},{"kind":"count","where":"a >= 3"}]}',
    },
    "plan's errors": {
        "draw": "plan",
        "plan": 'rows = 900\n[[answers]]\nkind = "count"\nwhere = "a < 3"\n',
        "view": "errors",
    },
    "plan on a table": {
        "draw": "plan",
        "plan": '[[columns]]\nname = "salary"\nlower = 20000\nupper = 120000\n[[answers]]\nkind = "mean"\ncolumn = "salary"\n',
        "sample": "staff",
        "view": "errors",
    },
    "simulated audit": {"draw": "audit", "mechanism": "laplace(2)", "trials": 200, "seed": 1, "claim": "dp(1)"},
    "audit of a file": {
        "draw": "audit",
        "file": "data/audits/noisy_count.csv",
        "delimiter": ",",
        "others": ["gdp(1)"],
        "smallest": True,
        "confidence": 0.9,
        "log": True,
    },
    "audit of the example": {"draw": "audit"},
    "calibration": {"draw": "calibration", "requirement": {"epsilon": 1, "delta": 1e-5}, "k": 3},
    "calibration ladder": {
        "draw": "calibration",
        "unknown": "k",
        "requirement": {"advantage": 0.3},
        "error": 20,
        "view": "ladder",
    },
    "calibrated error": {"draw": "calibration", "unknown": "privacy", "error": 10, "log": True},
    "channels": {"draw": "channels", "p0": [0.5, 0.3, 0.2], "p1": [0.2, 0.35, 0.45], "epsilon": 7},
    "divergences": {
        "draw": "channels",
        "p0": [0.5, 0.5],
        "p1": [0.6, 0.4],
        "letters": ["heads", "tails"],
        "view": "divergence",
        "measure": "tv",
        "epsilon": 2,
        "delta": 0.01,
        "eta": 0.4,
    },
    "a channel": {"draw": "channels", "p0": [0.5, 0.5], "p1": [0.6, 0.4], "view": "channel", "channel": "binary"},
    "answers of a channel": {"draw": "channels", "p0": [0.5, 0.5], "p1": [0.6, 0.4], "view": "region", "times": 3},
    "constraints": {"draw": "constraints", "statements": "0.6, 0.05; 0, 0.2", "k": 3, "axes": "thesis"},
    "constraints' pair": {"draw": "constraints", "statements": "0.6, 0.05; 0, 0.2", "view": "pair", "k": 2},
    "peeling": {"draw": "peeling", "region": "dp(0.2)^3 * dp(0.5, 0.01)", "step": 1},
    "containing": {"draw": "containing", "region": "dp(0.6, 0.05) & tv(0.2)", "factors": 1},
    "disclosure": {
        "draw": "disclosure",
        "sample": "survey",
        "quasi": ["transport", "study_hours"],
        "sensitive": "cheated",
        "generalise": "study_hours:10",
        "suppress": 3,
    },
    "disclosure of a file": {"draw": "disclosure", "file": "data/datasets/ages.csv", "quasi": ["age", "household"]},
    "pram": {"draw": "pram", "sample": "survey", "pram": "cheated", "keep": 0.8, "categories": "no, yes"},
    "column noise": {"draw": "column_noise", "sample": "ages", "noise": "k-noise age:2.5"},
    "bins of a column": {"draw": "column_noise", "sample": "ages", "noise": ["k-PRAM age:5"]},
    "regions of a protected table": {
        "draw": "protection_region",
        "sample": "survey",
        "pram": "cheated",
        "keep": 0.8,
        "categories": "no, yes",
        "noise": ["k-noise study_hours:2", "k-PRAM satisfaction:1@0.5"],
        "shift": 1.5,
    },
    "series": {
        "draw": "series_attacks",
        "sample": "sport",
        "user": "member",
        "time": "month",
        "value": "hours",
        "lower": 0,
        "upper": 60,
    },
    "series with matrices": {
        "draw": "series_attacks",
        "matrix": [[0.5, 0.1], [0, 0.5]],
        "covariance": [[1, 0], [0, 1]],
        "releases": 4,
        "noise": 2.0,
        "prior": "flat",
    },
    "noise of a series": {
        "draw": "series_noise",
        "matrix": [[0.5]],
        "covariance": [[1]],
        "reach": 2.0,
        "releases": 6,
        "prior": 2.5,
    },
    "regions of a series": {
        "draw": "series_region",
        "matrix": [[0.5]],
        "covariance": [[1]],
        "releases": 3,
        "epsilon": 0.5,
    },
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_code_of_a_figure_makes_the_same_figure(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    figure = specs.draw({**case, "title": "A title"})
    assert figure.title == "A title"
    assert figure.takeaway
    made: dict[str, Any] = {}
    exec(compile(specs.code(case), "figure.py", "exec"), made)  # noqa: S102  our own lines
    assert made["figure"].table.equals(figure.table)
    assert made["figure"].spec == figure.spec
    with alt.data_transformers.enable("dpcore", tables={}):  # Altair itself writes the same layers
        layers = [layer.to_dict(validate=False, context={"top_level": False}) for layer in figure.chart.layer]
    if all(part.params is alt.Undefined for part in (figure.chart, *figure.chart.layer)):  # Altair moves parameters up
        assert figure.outline[0]["layer"] == layers


@pytest.mark.parametrize("name", ["regions", "live"])
def test_new_charts_keep_to_the_schema(name: str) -> None:
    assert specs.draw(CASES[name]).chart.to_dict()


def test_every_drawer_is_tried() -> None:
    own = {name for name, cls in specs.drawers().items() if not cls.__module__.split(".")[-1].startswith("gallery")}
    assert own - {case["draw"] for case in CASES.values()} == {"lab"}
    assert all(drawer.meaning for drawer in specs.drawers().values())


def test_a_look_reaches_every_layer() -> None:
    light, dark = (specs.draw(CASES["regions"], Look(dark=dark)).spec for dark in (False, True))
    assert light != dark
    assert "#0072B2" not in str(dark)


# ---- numbers by a second route -----------------------------------------------------------------------------------

VEGA = {
    "exp": math.exp,
    "max": max,
    "_if": lambda test, yes, no: yes if test else no,
    "cumulativeNormal": ndtr,
    "quantileNormal": ndtri,
}


def vega(formula: str, **values: float) -> float:
    """Evaluate a formula of Vega; what its functions mean is written in `VEGA`."""
    return float(eval(formula.replace("if(", "_if("), {"__builtins__": {}}, {**VEGA, **values}))


@pytest.mark.parametrize("name", FAMILIES)
def test_what_the_sliders_draw_is_what_the_library_says(name: str) -> None:
    family = FAMILIES[name]
    rng = np.random.default_rng(1)
    for _ in range(8):
        values = {p: float(rng.uniform(SLIDERS[p].low, SLIDERS[p].high)) for p in family.parameters}
        region = parse(family.expression.format(**values))
        for alpha in (0.0, 0.001, 0.02, 0.3, 0.5, 0.77, 1.0):
            assert vega(family.beta, alpha=alpha, **values) == pytest.approx(float(region.beta(alpha)), abs=1e-12)
        for x in (0.0, 0.1, 1.0, 2.5) if family.delta else ():
            assert vega(family.delta, x=x, **values) == pytest.approx(float(region.delta(x)), abs=1e-12)


def test_the_axis_of_a_live_profile_follows_the_sliders() -> None:
    chart = specs.draw({"draw": "live", "families": ["gdp", "laplace"], "view": "profile"}).spec
    ends = {layer["encoding"]["x"]["scale"]["domainMax"]["expr"] for layer in chart["layer"]}
    assert len(ends) == 1
    for epsilon, mu in ((0.2, 0.1), (4.0, 0.1), (1.0, 2.0)):
        assert vega(ends.copy().pop(), epsilon=epsilon, mu=mu) == pytest.approx(1.5 * max(epsilon, 3 * mu, 1.0))


def test_measures_agree_with_closed_forms() -> None:
    def value(measure: str, pattern: str, at: float | None = None) -> float:
        return float(measure_table([pattern], [1.3], measure, at)["value"].iloc[0])

    e = math.exp(1.3)
    assert value("equal_error_rate", "dp(?)") == pytest.approx(1 / (1 + e))
    assert value("advantage", "dp(?)") == pytest.approx((e - 1) / (e + 1))
    assert value("advantage", "gdp(?)") == pytest.approx(2 * float(ndtr(0.65)) - 1)
    assert value("delta", "laplace(?)", 0.3) == pytest.approx(1 - math.exp(-0.5))
    assert value("beta", "dp(?)", 0.1) == pytest.approx(1 - 0.1 * e)
    assert value("power", "dp(?)", 0.1) == pytest.approx(0.1 * e)
    assert value("posterior", "dp(?)", 0.5) == pytest.approx(e / (1 + e))
    assert value("accuracy", "dp(?)") == pytest.approx(e / (1 + e))
    assert value("epsilon", "dp(?)", 0.0) == pytest.approx(1.3)
    assert value("area", "dp(?)") == pytest.approx(1 / (1 + e), rel=1e-6)
    assert set(MEASURES) == {
        "epsilon", "delta", "advantage", "equal_error_rate", "beta", "power", "accuracy", "posterior", "area",
    }  # fmt: skip
    with pytest.raises(DomainError, match="advantage takes no value of at"):
        measure_table(["dp(?)"], [1.0], "advantage", 0.5)


# ---- files and mistakes ------------------------------------------------------------------------------------------

FILE = """title = "left alone"

[[figure]]
name = "one"
draw = "regions"
title = "One"
caption = "A caption."
regions = [
  "dp(1)",
  "gdp(2)",
]

[[figure]]
name = "two"
draw = "ladder"
title = "Two"
caption = "Another."
mechanism = "dp(0.1)"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "figures.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_holds_figures_with_their_lines(tmp_path: Path) -> None:
    one, two = specs.read(write(tmp_path, FILE))
    assert (one.name, one.line, one.line_of("regions", "gdp(2)")) == ("one", 3, 10)
    assert (two.name, two.line, two.line_of("mechanism")) == ("two", 13, 18)
    assert one.folder == tmp_path


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"gdp(2)"', '"gpd(2)"', r"figures.toml, line 10, figure one, regions: 'gpd\(2\)': .*gdp"),
        ('"gdp(2)"', '"dp(-1)"', r"figures.toml, line 10, figure one, regions: 'dp\(-1\)': "),
        ('"gdp(2)"', "3", "figures.toml, line 8, figure one, regions: expected a text, got 3"),
        ('draw = "regions"', 'draw = "region"', "figures.toml, line 5, figure one, draw: .*regions"),
        ('draw = "regions"', "drew = 3", "figures.toml, line 3, figure one: draw is missing"),
        ('caption = "A caption."', "", "figures.toml, line 3, figure one: caption is missing"),
        ('title = "One"', "title = 7", "figures.toml, line 6, figure one, title: expected a text, got 7"),
        ('name = "one"', 'name = "One thing"', "line 4, figure One thing, name: a name has lower-case letters"),
        ('name = "two"', 'name = "one"', "line 14, figure one, name: the name one is taken"),
        ('mechanism = "dp(0.1)"', 'mechanisms = "dp(0.1)"', "line 18, figure two, mechanisms: .*mechanism"),
        ('mechanism = "dp(0.1)"', "", "line 13, figure two: mechanism is missing"),
        ('mechanism = "dp(0.1)"', 'mechanism = "dp(0.1)"\ndelta = 2', r"line 19, figure two, delta: .*\[0, 1\], got 2"),
        ('mechanism = "dp(0.1)"', 'mechanism = "dp(0.1)"\nheight = 7', "line 19, figure two, height: .*got 7"),
        ('mechanism = "dp(0.1)"', 'mechanism = "dp(0.1)', "figures.toml, line 18: not TOML"),
        (
            'mechanism = "dp(0.1)"',
            'mechanism = "dp(0.1)"\nlink = { state = 1 }',
            "line 19, figure two, link: expected a table",
        ),
        (
            'mechanism = "dp(0.1)"',
            'mechanism = "dp(0.1)"\ntheorems = ["basik"]',
            "line 19, .*theorems: unknown value 'basik'.*basic",
        ),
    ],
)
def test_a_mistake_names_file_line_and_expression(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = write(tmp_path, FILE.replace(old, new))
    with pytest.raises(SpecError, match=said):
        [specs.draw(spec) for spec in specs.read(path)]


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ({"draw": "regions", "regions": ["dp(1)"], "labels": ["a", "b"]}, "2 names for 1 regions"),
        ({"draw": "regions", "regions": ["dp(1)"], "lines": [{"gamma": 1}]}, "A line has alpha"),
        ({"draw": "regions", "regions": ["dp(1)"], "points": [{"alpha": 2, "beta": 0}]}, r"in \[0, 1\], got 2"),
        ({"draw": "curves", "regions": ["dp(1)"], "values": [1]}, r"exactly one \?"),
        ({"draw": "noise", "mechanism": "dp(1)"}, "a mechanism with noise"),
        ({"draw": "noise", "mechanism": "laplace(1)", "rate": 0.1, "threshold": 1}, "give one"),
        ({"draw": "utility", "utility": "histogram"}, "histogram"),
        ({"draw": "utility", "utility": "mean_laplace", "column": "age"}, "name the file with file"),
        ({"draw": "ledger", "file": "nothing.csv"}, "no file 'nothing.csv'"),
        ({"draw": "constraints", "statements": "0.6, x"}, "0.6"),
        ({"draw": "live", "families": ["dptv"], "view": "profile"}, "view must be region"),
        ({"draw": "live", "families": ["gdp"], "epsilon": 1}, "the sliders mu"),
        ({"draw": "live", "families": ["nothing"]}, "nothing"),
        (
            {"draw": "regions", "regions": ["dp(1)"], "tolerance": 2.0},
            r"tolerance must be a number in \[1e-12, 0.1\], got 2",
        ),
        ({"draw": "regions", "regions": []}, "at least one"),
        ({"draw": "regions", "regions": ["dp(1)"], "log": 1}, "true or false"),
        ({"draw": "lab", "lab": "nothing", "view": "x"}, "nothing"),
    ],
)
def test_a_wrong_spec_is_answered_in_words(case: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        specs.draw({"name": "it", **case})


def test_markdown_holds_figures() -> None:
    text = '# Title\n\n```figure\ndraw = "regions"\nregions = "dp(1)"\n```\n\nwords\n\n```figure\nname = "b"\ndraw = "live"\n```\n'
    first, second = specs.figures_in(text, file="report.md")
    assert (first.name, first.line, second.name, second.line) == ("figure-1", 4, "b", 11)
    assert specs.draw(first).takeaway
    with pytest.raises(SpecError, match=r"report.md, line 5, figure figure-1, regions: 'dp\('"):
        specs.draw(specs.figures_in(text.replace("dp(1)", "dp("), file="report.md")[0])
    with pytest.raises(SpecError, match=r"report.md, line 5: not TOML"):
        specs.figures_in(text.replace('"dp(1)"', '"dp(1)'), file="report.md")


def _marks(part: Any) -> Iterator[dict[str, Any]]:
    """Yield every layer of a chart that has a mark."""
    if isinstance(part, dict):
        if "mark" in part:
            yield part
        for inner in part.values():
            yield from _marks(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _marks(inner)


@pytest.mark.parametrize("case", ["noise of integers", "release"])
def test_bars_have_the_dashes_of_their_legend(case: str) -> None:
    """Vega-Lite drops the dashes of a rect, with a warning in the browser; those of a bar are drawn."""
    spec = {
        "noise of integers": {"draw": "noise", "mechanism": "geometric(1)"},
        "release": {
            "draw": "release",
            "utility": "histogram_laplace",
            "parameters": {"epsilon": 0.5, "bins": 10},
            "seed": 3,
        },
    }[case]
    layers = list(_marks(specs.draw(spec).chart.to_dict()))
    dashed = [layer["mark"]["type"] for layer in layers if "strokeDash" in layer.get("encoding", {})]
    assert "bar" in dashed
    assert "rect" not in dashed

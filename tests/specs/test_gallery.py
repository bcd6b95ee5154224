"""The gallery of thesis, papers and course: every figure draws what its source names, says it, and opens in the app."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import comb, expit, ndtr, ndtri

from dpcore import parse
from dpcore.app import (
    composition,
    listing,
    local_privacy,
    mechanisms,
    privacy_and_utility,
    privacy_and_utility_data,
    privacy_regions,
)
from dpcore.local import Hypotheses
from dpcore.specs import Spec, SpecError, code, draw, read
from dpcore.specs.presets import app_link, presets
from dpcore.utility.samples import sample

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.charts import Figure

GALLERY = Path(__file__).resolve().parents[2] / "data" / "gallery"
FILES = ("thesis", "total_variation", "composition", "course")
SPECS = {spec.name: spec for name in FILES for spec in read(GALLERY / f"{name}.toml")}
EVERY = pytest.mark.parametrize("name", SPECS)


@cache
def figure(name: str) -> Figure:
    return draw(SPECS[name])


def rows(name: str, label: str | None = None) -> pd.DataFrame:
    table = figure(name).table
    return table if label is None else table[table["label"] == label]


def statement(name: str, label: str | None, epsilon: float) -> float:
    """Return the delta that the points drawn for a region say at epsilon."""
    points = rows(name, label)
    return float(np.max(1 - points["beta"] - math.exp(epsilon) * points["alpha"]))


def composed(epsilon: float, delta: float, eta: float | None, k: int, j: int) -> float:
    """Return 1 - (1 - delta)^k (1 - delta_j), equation (5) of the total variation paper; (6) is the case alpha = 0."""
    e = math.exp(epsilon)
    alpha = 0.0 if eta is None else 1 - (eta - delta) * (1 + e) / ((1 - delta) * (e - 1))
    inner = 0.0
    for a in range(k - j):
        for other in range(math.ceil((k - j - a) / 2)):
            mass = comb(k, a) * comb(k - a, other) * ((1 - alpha) / (1 + e)) ** (k - a) * alpha**a
            inner += mass * (e ** (k - other - a) - e ** (other + j))
    return 1 - (1 - delta) ** k * (1 - inner)


def gaussian(epsilon: float, mu: float) -> float:
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def missed(mu: float, alpha: float = 0.05) -> float:
    return float(ndtr(ndtri(1 - alpha) - mu))


E6, E1, LAP = math.exp(0.6), math.e, 1 - math.exp(-0.5)
ETA = 0.7 * math.tanh(0.5)
MU = 0.5 / math.sqrt(2 * math.log(12.5))
STAIR = (1 - 1 / E1) / 2
STAIRCASES = {
    "tv_paper_6": STAIR * (0.6 * (1 - 1 / E1) + 1 / E1) / (0.3 + 0.7 / E1),
    "tv_paper_7": STAIR / (0.7 + 0.3 / E1),
}


def histogram_variation(epsilon: float) -> float:
    """Return the total variation of two Laplace answers for s = epsilon/2 each: the mean of delta(-L) over the loss L of one.

    L = s with probability 1/2, L = -s where delta is 0, and between them the mean is an integral of exponentials.
    """
    s = epsilon / 2
    return 1 - math.exp(-s) - s / 2 * math.exp(-s)


# ---- the figures -------------------------------------------------------------------------------------------------


def test_every_figure_is_there() -> None:
    places = {(spec["source"], spec["place"].split(",")[0]) for spec in SPECS.values()}
    thesis = [f"2.{i}" for i in range(1, 6)] + [f"3.{i}" for i in range(1, 14)] + ["4.1"]
    wanted = {("Privacy visualisation thesis", f"Figure {number}") for number in thesis}
    wanted |= {("Total variation paper", f"Figure {number}") for number in ("1", "2", "3", "4a", "4b", "5", "6", "7")}
    wanted |= {("Optimal composition, supplement", f"Figure {number}") for number in "123"}
    assert wanted <= places
    course = {name for name in SPECS if name.startswith("course_")}
    assert course >= {
        "course_response", "course_equal_error_rate", "course_binary_median",
        "course_laplace_curve", "course_gaussian_curve", "course_trade_off",
    }  # fmt: skip
    assert sum(spec["draw"] == "live" for spec in SPECS.values()) >= 4
    assert all(SPECS[name]["draw"] == "live" for name in SPECS if name.endswith("_live"))


@EVERY
def test_a_figure_draws_and_its_code_makes_the_same(name: str) -> None:
    spec, made = SPECS[name], figure(name)
    found: dict[str, Any] = {}
    exec(compile(code(spec), f"{name}.py", "exec"), found)  # noqa: S102  our own lines
    pd.testing.assert_frame_equal(found["figure"].table, made.table)
    assert made.title == spec["title"]
    assert made.takeaway
    assert spec["differs"].endswith(".")
    assert spec["caption"].endswith(".")


@pytest.mark.parametrize("name", ["thesis_3_3", "tv_paper_4b", "tv_paper_5", "course_response", "course_binary_median"])
def test_new_charts_keep_to_the_schema(name: str) -> None:
    assert figure(name).chart.to_dict()


# ---- links -------------------------------------------------------------------------------------------------------

REGIONS = {"regions", "axes", "draw", "picture", "front", "pick"}


def state_of(spec: Spec) -> tuple[str, Mapping[str, Any]]:
    if "link" in spec:
        return spec["link"]["page"], spec["link"]["state"]
    chosen = {preset.name: preset for preset in presets()}[spec["preset"]]
    return chosen.page, chosen.state


def on_regions(spec: Spec, state: Mapping[str, Any]) -> None:
    assert set(state) <= REGIONS
    assert state.get("axes", "f-DP") in ("f-DP", "thesis")
    assert state.get("draw", "filled") in ("filled", "lines")
    assert state.get("picture", privacy_regions.REGION) in (privacy_regions.REGION, privacy_regions.PROFILE)
    assert listing.read_leniently(state["regions"])[1] == []
    linked = {str(one.region) for one in listing.resolve(listing.read(state["regions"])) if not one.item.hidden}
    if spec["draw"] in ("regions", "profile", "deltas"):
        given = spec["regions"]
        drawn = {str(parse(text)) for text in ([given] if isinstance(given, str) else given)}
        exact = {text: parse(text) for text in linked}
        assert all(any(parse(text).same_region(region) for region in exact.values()) for text in drawn)
        assert (spec["draw"] == "regions") == ("picture" not in state)
        assert (spec.get("axes", "fdp") == "thesis") == (state.get("axes") == "thesis")


def on_mechanisms(spec: Spec, state: Mapping[str, Any]) -> None:
    assert set(state) <= set(mechanisms.DEFAULTS)
    assert state["test_alpha"] in mechanisms.RATES
    assert parse(state["expression"]) == parse(spec["mechanism"])


def on_utility(spec: Spec, state: Mapping[str, Any]) -> None:
    assert set(state) <= set(privacy_and_utility.DEFAULTS)
    chosen = privacy_and_utility.read(state["utility"])
    data = privacy_and_utility_data.options()[state.get("utility_data", privacy_and_utility_data.FIRST)]
    assert int(state.get("utility_n", 1)) <= sample(data).n
    assert state["utility_measure"] in {measure.name for measure in chosen.measures}
    assert state.get("utility_moves", chosen.main) in privacy_and_utility.movable(chosen)
    if spec["draw"] == "window":
        assert (chosen.name, data) == (spec["utility"], spec["sample"])
        assert all(getattr(chosen, key) == value for key, value in spec["parameters"].items())


def on_composition(spec: Spec, state: Mapping[str, Any]) -> None:
    assert set(state) <= set(composition.DEFAULTS)
    linked = parse(f"dptv({state['epsilon']}, {state['delta']}, {state['eta']})^{state['k']}")
    assert linked.same_region(parse(spec["region"]))


def on_local(spec: Spec, state: Mapping[str, Any]) -> None:
    assert set(state) <= set(local_privacy.DEFAULTS)
    assert state["local_show"] in local_privacy.SHOWN
    read_ = Hypotheses(
        local_privacy.read_masses(state["local_p0"], "P0"), local_privacy.read_masses(state["local_p1"], "P1")
    )
    assert read_ == Hypotheses(tuple(spec["p0"]), tuple(spec["p1"]))
    assert float(state["local_epsilon"]) == spec["epsilon"]


PAGES = {
    "Privacy_regions": on_regions,
    "Mechanisms": on_mechanisms,
    "Privacy_and_utility": on_utility,
    "Composition": on_composition,
    "Local_privacy": on_local,
}


@EVERY
def test_the_link_restores_the_figure(name: str) -> None:
    spec = SPECS[name]
    page, state = state_of(spec)
    assert app_link(spec).startswith(page)
    PAGES[page](spec, state)


# ---- what is drawn -----------------------------------------------------------------------------------------------

FIVE = [1, 3, 5]
DRAWN: list[tuple[str, str | None, float, float]] = [
    ("thesis_2_1", None, 0.6, 0.05),
    *(("thesis_2_2", "five mechanisms", 0.6 * j, composed(0.6, 0.05, None, 5, j)) for j in FIVE),
    *(("thesis_2_4", "DP with 0.2-TV", 0.6 * j, composed(0.6, 0.05, 0.2, 5, j)) for j in range(6)),
    ("thesis_3_9", "basic", 3.0, 0.25),
    *(("thesis_3_9", "exact DP", 0.6 * j, composed(0.6, 0.05, None, 5, j)) for j in FIVE),
    *(("thesis_3_9", "exact DP-TV", 0.6 * j, composed(0.6, 0.05, 0.15, 5, j)) for j in range(6)),
    *(("thesis_4_1", "hypothesised", eps, d) for eps, d in ((0.0, 0.36), (0.6, 0.24), (1.2, 0.0975))),
    *(("thesis_4_1", "true", 0.6 * j, composed(0.6, 0.05, 0.2, 2, j)) for j in range(3)),
    ("tv_paper_3", "total variation", 0.0, LAP),
    ("tv_paper_3", "Laplace noise, exact", 0.0, LAP),
    *(("kov_2_pure", f"k = {k}", 0.4 * j, composed(0.4, 0, None, k, j)) for k in range(1, 6) for j in range(k + 1)),
    *(("kov_2_approximate", f"k = {k}", 0.4 * k, 1 - 0.9**k) for k in range(1, 6)),
    ("kov_3", None, 1.2, composed(0.4, 0.1, None, 5, 3)),
    ("thesis_3_11_region", "exact region", 0.0, histogram_variation(0.5)),
    ("thesis_3_2_region", "exact region", 0.5, gaussian(0.5, MU)),
    ("course_trade_off", "μ = 1", 1.0, gaussian(1, 1)),
]


@pytest.mark.parametrize(("name", "label", "epsilon", "delta"), DRAWN)
def test_the_drawn_points_say_the_exact_delta(name: str, label: str | None, epsilon: float, delta: float) -> None:
    corners = rows(name, label)["corner"]
    found = statement(name, label, epsilon)
    # a polygon is drawn by its corners; between points of a smooth curve the largest shift is missed by a hair
    assert found == pytest.approx(delta, abs=1e-12 if corners.iloc[1:-1].any() else 6e-5)
    assert found <= delta + 1e-12


def test_many_small_losses_come_close_to_gaussian_privacy() -> None:
    alpha = np.linspace(0.0, 1.0, 2001)
    limit = ndtr(ndtri(1 - alpha) - 1)
    gaps = []
    for label in ("DP, ε = 1", "dp(0.5)^4", "dp(0.25)^16", "dp(0.1)^100"):
        points = rows("thesis_3_10", label)
        gaps.append(float(np.max(np.abs(np.interp(alpha, points["alpha"], points["beta"]) - limit))))
    for gap, text in zip(gaps, ("0.1270", "0.0321", "0.0079", "0.0013"), strict=True):
        assert text in SPECS["thesis_3_10"]["caption"]
        assert 0 <= float(text) - gap < 1.5e-4


def test_lines_of_the_dominating_mechanism() -> None:
    for name, k in (("tv_paper_4a", 1), ("tv_paper_4b", 5)):
        own = rows(name)[lambda table: table["segment"] >= 0].astype({"j": int})
        assert sorted(set(own["j"])) == list(range(-k, k + 1))
        assert all(label.endswith("odd" if j % 2 else "even") for label, j in zip(own["label"], own["j"], strict=True))
        for j, ends in own.groupby("j"):
            (a0, a1), (b0, b1) = ends["alpha"], ends["beta"]
            assert (b0 - b1) / (a1 - a0) == pytest.approx(math.exp(j), rel=1e-9)
            if j >= 0:  # the line beta = 1 - delta - e^j alpha
                assert 1 - b0 - math.exp(j) * a0 == pytest.approx(composed(1, 0, ETA, k, j), abs=1e-12)
    assert statement("tv_paper_4b", "ε-DP alone", 3.0) == pytest.approx(composed(1, 0, None, 5, 3), abs=1e-12)
    with pytest.raises(SpecError, match="integer power"):
        draw({**SPECS["tv_paper_4a"], "step": 0.7})


@pytest.mark.parametrize(("name", "gamma"), [("tv_paper_6", 0.3), ("tv_paper_7", 0.7)])
def test_staircases_are_shifted_by_the_sensitivity(name: str, gamma: float) -> None:
    table = rows(name)
    top = (1 - 1 / E1) / (2 * (gamma + (1 - gamma) / E1))
    for dataset, shift in (("without you", 0), ("with you", 1)):
        own = table[table["dataset"] == dataset]
        for x in (-2.85, -1.2, -0.1, 0.15, 0.45, 0.85, 1.5, 2.9):
            away = abs(x - shift)
            step = math.floor(away) + (away % 1 >= gamma)
            density = float(own["density"].iloc[int((own["answer"] - x).abs().to_numpy().argmin())])
            assert density == pytest.approx(top * math.exp(-step), rel=1e-12)
    eta = STAIRCASES[name]
    assert parse(SPECS[name]["mechanism"]).total_variation == pytest.approx(eta, abs=1e-12)
    alpha, beta = (float(found) for found in re.findall(r"\w+ (0\.\d+), exact", figure(name).takeaway))
    assert 1 - alpha - beta == pytest.approx(eta, abs=1.1e-4)


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if "points" in spec])
def test_marked_points_lie_on_a_border_or_on_a_line(name: str) -> None:
    spec = SPECS[name]
    given = [spec["regions"]] if isinstance(spec["regions"], str) else spec["regions"]
    borders = [parse(text) for text in given]
    ends = [end for line in spec.get("lines", []) for end in (line["start"], line["end"])]
    for point in spec["points"]:
        on_border = any(abs(float(region.beta(point["alpha"])) - point["beta"]) < 1e-15 for region in borders)
        assert on_border or [point["alpha"], point["beta"]] in ends


def test_the_touching_line_of_the_shift_picture() -> None:
    points = rows("kov_3")
    line = SPECS["kov_3"]["lines"][1]
    (a0, b0), (a1, b1) = line["start"], line["end"]
    assert (a0, b1) == pytest.approx((1 - composed(0.4, 0.1, None, 5, 3), a0 * math.exp(-1.2)), rel=1e-12)
    assert (b0, a1) == (0, 0)
    above = points["alpha"] + math.exp(1.2) * points["beta"] - a0
    assert above.min() == pytest.approx(0, abs=1e-12)


def test_what_captions_say_of_curves() -> None:
    table = rows("course_densities").pivot_table(index="answer", columns="dataset", values="density").dropna()
    odds = np.abs(np.log(table["with you"] / table["without you"]))
    assert odds.max() == pytest.approx(1.0, abs=1e-9)
    # two pure mechanisms have the total variation of one
    assert statement("kov_2_pure", "k = 2", 0.0) == pytest.approx(math.tanh(0.2), abs=1e-12)
    # Laplace noise is inside its DP-TV guarantee at the corners, and on it at equal errors
    guarantee, laplace = (parse(text) for text in SPECS["thesis_3_8"]["regions"])
    corner, middle = (1 - math.exp(-0.3)) / (E6 - 1), math.exp(-0.3) / 2
    assert float(laplace.beta(corner)) > float(guarantee.beta(corner)) + 0.009
    assert float(laplace.beta(middle)) == pytest.approx(float(guarantee.beta(middle)), abs=1e-12)


def test_the_binary_mechanism() -> None:
    table = figure("tv_paper_5").table
    lower = {name: part.set_index("parameter")["value"] for name, part in table.groupby("series")}
    for epsilon in (0.48, 2.0, 5.52):
        e = math.exp(epsilon)
        assert lower["Ghazi, Issa 2023"][epsilon] == pytest.approx(1 / (min(2, e) * (e + 1)), rel=1e-12)
        assert lower["Kairouz et al. 2014"][epsilon] == pytest.approx(1 / (2 * (e + 1) ** 2), rel=1e-12)
        assert lower["binary mechanism / best channel"][epsilon] >= lower["sharper bound"][epsilon]


def test_the_errors_in_the_windows_of_the_thesis() -> None:
    for name, label, at, value in (
        ("thesis_3_2", "exact", 0.1, 2 * math.log(12.5) * 0.16),
        ("thesis_3_11", "exact", 0.5, 320.0),
        ("thesis_3_12", "upper bound: thesis, Proposition 51, as printed", 0.5, 30 * math.exp(-12.5)),
        ("thesis_3_13", "exact", 0.5, 4 / (math.exp(0.5) + 4)),
        ("thesis_3_13", "upper bound", 0.5, 5 / (math.exp(0.5) + 4)),
    ):
        own = rows(name, label).set_index("parameter")["value"]
        assert own[at] == pytest.approx(value, rel=1e-12)
    assert list(figure("thesis_3_3").table["beta"]) == [1.0, 0.0]


def test_the_accuracy_of_randomized_response() -> None:
    table = rows("course_response")
    for _, row in table.iterrows():
        nu, label = row["parameter"], row["label"]
        if label == "fixed data":
            exact = (1 - nu**2) / (4 * 100 * nu**2)
        else:
            said = (1 - nu) / 2 + nu * float(label.split("= ")[1])
            exact = said * (1 - said) / (100 * nu**2)
        assert row["value"] == pytest.approx(exact, rel=1e-12)
        assert row["epsilon"] == pytest.approx(math.log((1 + nu) / (1 - nu)), rel=1e-12)
    for wrong in ({"nu": [0.0, 0.5]}, {"theta": [1.5]}, {"n": 0}):
        with pytest.raises(SpecError, match=r"must be|expected"):
            draw({**SPECS["course_response"], **wrong})


def test_the_private_majority() -> None:
    n, epsilon = 101, 0.2
    table = rows("course_binary_median").set_index(["label", "parameter"])["value"]
    for s in (0, 30, 50, 51, 66, 101):
        assert table["exponential mechanism", s] == pytest.approx(expit((s - n / 2) * epsilon), rel=1e-12)
        assert table["inverse sensitivity", s] == pytest.approx(
            expit((s - 50 if s > 50 else s - 51) * epsilon), rel=1e-12
        )
    for label in ("exponential mechanism", "inverse sensitivity"):
        p = table[label].to_numpy()
        assert np.abs(np.diff(np.log(p))).max() <= epsilon + 1e-12  # it is epsilon-DP, by all pairs of neighbours
        assert np.abs(np.diff(np.log1p(-p))).max() <= epsilon + 1e-12
        inside = table["most that ε-DP allows"].to_numpy()
        assert (np.abs(p - 0.5) <= np.abs(inside - 0.5) + 1e-15).all()
    with pytest.raises(SpecError, match="odd integer"):
        draw({**SPECS["course_binary_median"], "n": 100})


def test_privacy_curves_of_the_course() -> None:
    for label, ratio in (("Δ/b = 0.5", 0.5), ("Δ/b = 1", 1.0), ("Δ/b = 2", 2.0)):
        own = rows("course_laplace_curve", label)
        assert own["delta"].to_numpy() == pytest.approx(-np.expm1(np.minimum(own["epsilon"] - ratio, 0) / 2), abs=1e-12)
    for label, mu in (("σ = Δ/2", 2.0), ("σ = Δ", 1.0), ("σ = 2Δ", 0.5)):
        own = rows("course_gaussian_curve", label)
        exact = [gaussian(epsilon, mu) for epsilon in own["epsilon"]]
        assert own["delta"].to_numpy() == pytest.approx(exact, rel=1e-4, abs=1e-12)
    own = rows("course_equal_error_rate", "(ε, 0.1)-DP: 0.9/(1 + e^ε)")
    assert own["value"].to_numpy() == pytest.approx(0.9 / (1 + np.exp(own["parameter"])), abs=1e-12)
    own = rows("course_equal_error_rate", "Laplace noise: e^(-ε/2)/2")
    assert own["value"].to_numpy() == pytest.approx(np.exp(-own["parameter"] / 2) / 2, abs=1e-9)


def test_the_statements_of_five_mechanisms() -> None:
    for name, label, eps, delta in (
        ("kov_2_statements", "dp(0.4)^5", 0.4, 0.0),
        ("kov_2_statements", "dp(0.4, 0.1)^5", 0.4, 0.1),
        ("thesis_3_9_statements", "dp(0.6, 0.05)^5", 0.6, 0.05),
    ):
        table = figure(name).table
        own = table[table["region"] == label].set_index("epsilon")["delta"]
        for j in range(6):
            at = own.index[np.argmin(np.abs(own.index.to_numpy(dtype=float) - eps * j))]
            assert own[at] == pytest.approx(composed(eps, delta, None, 5, j), abs=1e-12)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sample": "ages.shoe"}, "no sample dataset"),
        ({"labels": ["one"]}, "1 names for 0 regions beside"),
        ({"moves": "calibration"}, "Only a number can move"),
        ({"utility": "mean_gauss"}, "mean_gauss"),
    ],
)
def test_a_wrong_window_is_answered_in_words(change: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        draw({**SPECS["thesis_3_2"], **change})

"""Ratios and differences of curves: closed forms, sides that contain the truth, and nothing divided by 0."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from dpcore import dp, gdp, laplace, parse, specs, tv
from dpcore.charts.export import specification
from dpcore.charts.ratio_figures import ladder_ratio_figure, ratio_figure, theorem_ratio_figure
from dpcore.charts.ratios import ladder_ratio_table, ratio_table
from dpcore.core.effort import effort
from dpcore.core.errors import DomainError
from dpcore.theorems.composition import ladder, theorem_regions

AT = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9]


def dp_delta(epsilon: float, x: float) -> float:
    return max(0.0, (math.exp(epsilon) - math.exp(x)) / (1 + math.exp(epsilon)))


def test_delta_of_pure_privacy_over_pure_privacy() -> None:
    table = ratio_table({"one": dp(1.0), "two": dp(2.0)}, at=AT)
    truth = [dp_delta(2.0, x) / dp_delta(1.0, x) for x in AT]
    assert table["ratio"].to_numpy() == pytest.approx(truth, rel=1e-12)
    assert table["ratio_lower"].tolist() == table["ratio"].tolist()
    assert set(table["kind"]) == {"exact"}
    assert set(table["over"]) == {"one"}
    other = ratio_table({"one": dp(1.0), "two": dp(2.0)}, over="two", at=AT)
    assert other["ratio"].to_numpy() == pytest.approx([1 / value for value in truth], rel=1e-12)


def test_gaussian_over_laplace_by_high_precision() -> None:
    table = ratio_table({"laplace": laplace(1.0), "gauss": gdp(1.0)}, at=AT)
    with mpmath.workdps(40):
        for x, ratio in zip(AT, table["ratio"], strict=True):
            noise = 1 - mpmath.exp((mpmath.mpf(x) - 1) / 2)
            gauss = mpmath.ncdf(mpmath.mpf("0.5") - x) - mpmath.exp(x) * mpmath.ncdf(-mpmath.mpf("0.5") - x)
            assert ratio == pytest.approx(float(gauss / noise), rel=1e-10)


def test_epsilon_and_beta_are_compared_as_well() -> None:
    deltas = [1e-8, 1e-4, 0.1]
    table = ratio_table({"a": gdp(1.0), "b": gdp(1.5)}, of="epsilon", at=deltas)
    own = [float(gdp(1.5).epsilon(d)) / float(gdp(1.0).epsilon(d)) for d in deltas]
    assert table["ratio"].to_numpy() == pytest.approx(own, rel=1e-9)
    alphas = [0.05, 0.2, 0.6]
    table = ratio_table({"a": dp(1.0), "b": tv(0.3)}, of="beta", by="difference", at=alphas)
    truth = [0.7 - a - max(1 - math.e * a, (1 - a) / math.e) for a in alphas]
    assert np.all(table["difference_lower"] <= np.array(truth))
    assert np.all(table["difference"] >= np.array(truth))
    assert table["difference"].to_numpy() == pytest.approx(truth, abs=1e-9)


def test_a_difference_of_near_equal_numbers_is_a_bound() -> None:
    table = ratio_table({"a": gdp(1.0), "b": gdp(1.0 + 1e-12)}, by="difference", at=[0.5])
    assert table["kind"].tolist() == ["upper"]
    with mpmath.workdps(40):

        def delta(mu: Any) -> Any:
            return mpmath.ncdf(mu / 2 - 0.5 / mu) - mpmath.exp(0.5) * mpmath.ncdf(-mu / 2 - 0.5 / mu)

        truth = delta(mpmath.mpf(1.0 + 1e-12)) - delta(mpmath.mpf(1))
        assert table["difference_lower"][0] <= truth <= table["difference"][0]


def test_the_sides_of_brackets_contain_the_ratio() -> None:
    product = parse("laplace(0.3)^7 * gdp(0.5)")
    with effort(tolerance=1e-2):
        rough = ratio_table({"base": gdp(1.0), "rough": product}, at=[0.5, 1.0, 2.0])
        inverse = ratio_table({"base": gdp(1.0), "rough": product}, over="rough", at=[0.5, 1.0, 2.0])
    with effort(tolerance=1e-9):
        lower, upper = parse("laplace(0.3)^7 * gdp(0.5)").delta_bounds([0.5, 1.0, 2.0])
        base = gdp(1.0).delta([0.5, 1.0, 2.0])
    assert set(rough["kind"]) == set(inverse["kind"]) == {"upper"}
    assert np.all(rough["ratio_lower"] <= lower / base)
    assert np.all(upper / base <= rough["ratio"])
    assert np.all(inverse["ratio_lower"] <= base / upper)
    assert np.all(base / lower <= inverse["ratio"])


def test_nothing_is_divided_by_zero() -> None:
    table = ratio_table({"one": dp(1.0), "two": dp(2.0)}, at=[0.5, 1.0, 1.5, 2.0, 3.0])
    assert table["epsilon"].tolist() == [0.5]
    first, second = table.attrs["notes"]
    assert first == "two: 2 places from ε = 1 to 1.5 left out, because there δ of one is 0."
    assert second == "two: 2 places from ε = 2 to 3 left out, because there both are 0."
    assert np.isfinite(table["ratio"]).all()
    zero = ratio_table({"one": dp(1.0), "two": dp(2.0)}, by="difference", at=[3.0])
    assert zero[["difference", "difference_lower", "kind"]].to_numpy().tolist() == [[0.0, 0.0, "exact"]]
    inf = ratio_table({"gauss": gdp(1.0), "pure": dp(1.0)}, of="epsilon", at=[0.0, 1e-3])
    assert inf["delta"].tolist() == [1e-3]
    assert "infinite" in inf.attrs["notes"][0]
    with pytest.raises(DomainError, match="There is no ratio of δ to draw"):
        ratio_figure({"one": dp(1.0), "two": dp(2.0)}, at=[3.0])


def test_theorems_over_the_composition_as_k_grows() -> None:
    frame = ladder("laplace(0.2)", 1e-6, ks=[1, 10, 100])
    table = ladder_ratio_table(frame)
    exact = frame[frame["theorem"] == "exact"].set_index("k")
    assert set(table["over"]) == {exact["title"].iloc[0]}
    for row in table.itertuples():
        own = frame[(frame["theorem"] == row.theorem) & (frame["k"] == row.k)].iloc[0]
        assert row.ratio == own["epsilon"] / exact.loc[row.k, "epsilon"]
        sure = exact.loc[row.k, "kind"] == "exact"
        assert row.kind == ("approximate" if own["kind"] == "approximate" else "exact" if sure else "lower")
    assert table[table["theorem"] == "basic"]["ratio"].min() >= 1.0
    gaps = ladder_ratio_table(frame, by="difference")
    assert set(gaps["kind"]) <= {"upper", "lower", "approximate"}
    for row in gaps.itertuples():
        gap = row.epsilon - exact.loc[row.k, "epsilon"]
        assert row.difference == pytest.approx(gap, abs=3e-10 * (row.epsilon + exact.loc[row.k, "epsilon"]))
        assert row.difference > gap if row.kind == "upper" else row.difference <= gap
    free = ladder_ratio_table(ladder("dp(0.5)", 0.3, ks=[1, 1, 100]))
    assert set(free["k"]) == {100}
    assert free.attrs["notes"] == ["Left out: k = 1, where ε by KOV optimal is 0."]
    with pytest.raises(DomainError, match="nothing to compare: Left out: k = 1"):
        ladder_ratio_figure(ladder("dp(0.5)", 0.3, ks=[1]), delta=0.3)
    statement = ladder_ratio_table(ladder("dp(0.1)", 1e-6, ks=[10, 100]))
    assert set(statement["over"]) == {"KOV optimal"}
    assert set(ladder_ratio_table(ladder("dp(0.1)", 1e-6, ks=[10, 100]), over="basic")["over"]) == {"Basic"}
    with pytest.raises(DomainError, match="over must be one of"):
        ladder_ratio_table(ladder("dp(0.1)", 1e-6, ks=[10]), over="exact")


def test_an_approximation_stays_one() -> None:
    figure = theorem_ratio_figure(theorem_regions("dp(0.1)", 100))
    kinds = {label: set(part["kind"]) for label, part in figure.table.groupby("label")}
    assert kinds["CLT, approximate"] == {"approximate"}
    assert "approximate" not in kinds["Basic"]
    assert "(approximation)" in figure.takeaway or "more are in the table" in figure.takeaway
    rough = theorem_ratio_figure(theorem_regions("dp(0.1)", 100), over="clt")
    assert set(rough.table["kind"]) == {"approximate"}


def test_three_curves_that_look_the_same_are_told_apart() -> None:
    figure = ratio_figure({"exact": gdp(1.0), "PLD": gdp(1.001), "RDP": gdp(1.002)})
    lines = next(layer for layer in specification(figure)["layer"] if layer["mark"]["type"] == "line")
    rows = specification(figure)["datasets"][lines["data"]["name"]]
    ends = {name: [row["y"] for row in rows if row["label"] == name][-1] for name in ("PLD", "RDP")}
    assert ends["RDP"] - ends["PLD"] > 0.02
    assert "PLD: δ is 1" in figure.takeaway
    assert "times that of exact" in figure.takeaway
    below = ratio_figure({"exact": gdp(1.0), "PLD": gdp(1.001)}, by="difference")
    assert "PLD: δ minus that of exact is" in below.takeaway
    assert ladder_ratio_figure(ladder("dp(0.1)", 1e-6, ks=[10, 100]), delta=1e-6).takeaway.startswith("At δ = 1e-6")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"of": "mu"}, "of must be one of delta, epsilon, beta, got 'mu'"),
        ({"by": "quotient"}, "by must be one of ratio, difference, got 'quotient'"),
        ({"over": "c"}, "over must be one of a, b, got 'c'"),
        ({"of": "epsilon", "at": [2.0]}, "delta must be a number in [0, 1], got 2."),
    ],
)
def test_a_wrong_wish_is_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(DomainError) as error:
        ratio_table({"a": dp(1.0), "b": dp(2.0)}, **options)
    assert words in str(error.value)


def test_one_region_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(DomainError, match="at least two regions, got one"):
        ratio_table(dp(1.0))
    with pytest.raises(specs.SpecError, match="at least two regions"):
        specs.draw({"draw": "ratio", "regions": ["dp(1)"]})

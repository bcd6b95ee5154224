"""Attack risk: numbers by a second route, the safe side, simulated attackers, and sentences that round outward."""

from __future__ import annotations

import csv
import io
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from dpcore.calibration import calibrate
from dpcore.cli import main
from dpcore.core.errors import DomainError
from dpcore.curves import tangents
from dpcore.language import parse
from dpcore.risk import (
    COLUMNS,
    area,
    best_accuracy,
    best_posterior,
    equal_error_rate,
    largest_loss,
    odds_factor,
    risk,
    true_positive_rate,
)

REGIONS = [
    "dp(1)",
    "dp(0.6, 0.05)^5",
    "gdp(1.2)",
    "laplace(1)",
    "laplace(1)^3",
    "laplace(1) * gaussian(1)",
    "tv(0.3) * dp(1)",
    "zcdp(0.5)",
    "rdp(10, 0.5)",
    "dp(1) & gdp(0.7)",
    "dp(0)",
    "dp(inf)",
    "gdp(60)",
    "pmf([0.5, 0.5], [0.6, 0.4])",
    "exponential(1)",
    "dp(50)",
]


@pytest.mark.parametrize("text", REGIONS)
def test_table(text: str) -> None:
    frame = risk(parse(text), [0, 1e-12, 1e-6, 0.3, 1], [1e-6, 0.3, 0.999])
    assert tuple(frame) == COLUMNS
    assert not frame["value"].isna().any()
    assert set(frame["kind"]) <= {"exact", "upper", "lower"}
    assert (frame["value"] >= 0).all()
    rates = frame[~frame["measure"].isin(["odds_factor"])]
    assert (rates["value"] <= 1).all()
    assert frame["words"].str.endswith(".").all()
    assert not frame["words"].str.contains("nan|delta|epsilon", regex=True).any()
    power = frame[frame["measure"] == "true_positive_rate"]
    assert (power["value"] >= power["at"].astype(float)).all()
    belief = frame[frame["measure"] == "best_posterior"]
    assert (belief["value"] >= belief["at"].astype(float) * (1 - 1e-15)).all()


@pytest.mark.parametrize(
    ("text", "gain", "rest"),
    [("dp(1, 0.01)^3", "exact", "exact"), ("laplace(1) * gaussian(1)", "upper", "lower")],
)
def test_every_row_is_its_measure_and_says_what_it_is(text: str, gain: str, rest: str) -> None:
    """Of a certified product what an attacker gains is an upper bound, the errors that remain are lower ones."""
    region = parse(text)
    frame = risk(region, [1e-12, 0.3], [0.2])
    loss = largest_loss(region)[0]
    expected = {
        ("advantage", None): (region.total_variation, gain),
        ("true_positive_rate", 1e-12): (true_positive_rate(region, [1e-12])[0], gain),
        ("true_positive_rate", 0.3): (true_positive_rate(region, [0.3])[0], gain),
        ("equal_error_rate", None): (equal_error_rate(region), rest),
        ("best_posterior", 0.2): (best_posterior(region, [0.2])[0], "exact"),
        ("best_accuracy", 0.2): (best_accuracy(region, [0.2])[0], gain),
        ("odds_factor", None): (math.exp(loss) if not region.curve.q_inf else math.inf, "exact"),
        ("area", None): (area(region), rest),
    }
    found = {(row.measure, row.at): (row.value, row.kind) for row in frame.itertuples()}
    assert found.keys() == expected.keys()
    for key, (value, kind) in expected.items():
        assert found[key] == (pytest.approx(value, rel=1e-6), kind), key


@pytest.mark.parametrize("alpha", [0.2, 0.3, 0.35])
def test_a_rate_found_by_search_is_not_called_exact(alpha: float) -> None:
    """The union's deltas are exact, its rates on the common tangent are the safe side of a search."""
    text = "union(dp(1), gdp(1))"
    kink = brentq(lambda e: parse("gdp(1)").delta(e) - parse("dp(1)").delta(e), 0.3, 0.99, xtol=1e-15)
    delta = parse("dp(1)").delta(kink)
    missed = max(1 - delta - math.exp(kink) * alpha, math.exp(-kink) * (1 - delta - alpha))
    row = risk(parse(text), [alpha], [0.5]).set_index("measure").loc["true_positive_rate"]
    assert row["value"] >= (1 - missed) * (1 - 1e-12)
    assert row["value"] == pytest.approx(1 - missed, rel=1e-4)
    if row["value"] > (1 - missed) * (1 + 1e-10):
        assert row["kind"] == "upper"
    assert calibrate(text, fpr=alpha)["kind"].item() == "upper"


class TestTruePositives:
    def test_gaussian_down_to_1e_10(self) -> None:
        # dp-accounting, privacy_loss_distribution_test.py
        known = [0.01830, 0.003274, 0.0005475, 8.7218e-5, 1.3385e-5, 1.99405e-6, 2.8993e-7, 4.1303e-8]
        found = true_positive_rate(parse("gdp(1)"), 10.0 ** -np.arange(3, 11))
        assert np.allclose(found, known, rtol=1e-3, atol=0)

    @pytest.mark.parametrize("fpr", [1e-12, 1e-10, 1e-6, 1e-3, 0.1, 0.4, 0.7])
    def test_tangents_find_the_gaussian(self, fpr: float) -> None:
        # a composition whose curve is not told its power: dp(0) adds nothing, the sum is Gaussian still
        region = parse("pmf([0.5, 0.5], [0.5, 0.5]) * gdp(1)")
        expected = ndtr(ndtri(fpr) + 1)
        assert tangents._lowest(region.curve, np.array([fpr])).item() >= expected * (1 - 1e-12)
        assert true_positive_rate(region, fpr).item() == pytest.approx(expected, rel=1e-10)

    def test_small_rates_of_bounded_loss_grow_by_the_largest_ratio(self) -> None:
        for text, loss in [("laplace(1)^3", 3.0), ("dp(1) * dp(2)", 3.0), ("laplace(2)", 2.0)]:
            found = true_positive_rate(parse(text), [1e-12, 1e-9])
            assert np.allclose(found, math.exp(loss) * np.array([1e-12, 1e-9]), rtol=1e-12, atol=0)

    def test_published_values(self) -> None:
        assert true_positive_rate(parse("dp(1) * dp(2)"), 0.1).item() == pytest.approx(0.828598123992, rel=1e-11)
        assert true_positive_rate(parse("dp(1, 0.1) * dp(2, 0.2)"), 0.1).item() == pytest.approx(
            0.919388181137, rel=1e-11
        )
        assert true_positive_rate(parse("rr(log(3))"), [1e-10, 0.125, 0.25]).tolist() == pytest.approx(
            [3e-10, 0.375, 0.75]
        )

    @given(st.floats(1e-9, 0.999), st.sampled_from(["laplace(1)^3", "dp(0.5, 0.01)^4", "laplace(1) * gaussian(1)"]))
    @settings(max_examples=40, deadline=None)
    def test_never_below_the_bracket(self, fpr: float, text: str) -> None:
        region = parse(text)
        lower, upper = (1 - bound.item() for bound in reversed(region.beta_bounds(fpr)))
        found = true_positive_rate(region, fpr).item()
        assert lower - 1e-15 <= found <= upper + 1e-6 * upper + 1e-15


class TestEqualErrors:
    @pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.3, 0.2), (0.0, 0.4), (40.0, 0.0), (5.0, 1e-9)])
    def test_dp(self, epsilon: float, delta: float) -> None:
        known = (1 - delta) / (1 + math.exp(epsilon))
        assert equal_error_rate(parse(f"dp({epsilon}, {delta})")) == pytest.approx(known, rel=1e-12)

    @pytest.mark.parametrize("text", [t for t in REGIONS if t not in {"dp(inf)", "gdp(60)", "dp(50)"}])
    def test_it_lies_on_the_diagonal(self, text: str) -> None:
        region = parse(text)
        rate = equal_error_rate(region)
        low, high = region.beta_bounds(rate)
        assert low.item() - 1e-9 <= rate <= high.item() + 1e-9

    def test_far_tail_keeps_its_digits(self) -> None:
        assert equal_error_rate(parse("gdp(60)")) == pytest.approx(ndtr(-30.0), rel=1e-12)
        assert equal_error_rate(parse("laplace(200)")) == pytest.approx(math.exp(-100) / 2, rel=1e-12)


class TestBeliefs:
    def test_pure_privacy_bounds_the_odds(self) -> None:
        prior = np.array([0.01, 0.5, 0.9])
        found = best_posterior(parse("dp(2)"), prior)
        odds = found / (1 - found)
        assert np.allclose(odds, math.exp(2) * prior / (1 - prior), rtol=1e-12)
        assert odds_factor(parse("dp(2)")) == pytest.approx(math.exp(2))

    @pytest.mark.parametrize("text", ["gdp(1)", "dp(1, 0.001)", "dp(inf)", "zcdp(0.1)"])
    def test_unbounded_loss_is_certainty(self, text: str) -> None:
        frame = risk(parse(text), [0.1], [0.5])
        assert best_posterior(parse(text), 0.5).item() == 1
        assert frame.set_index("measure")["value"]["odds_factor"] == math.inf
        assert "no limit" in frame.set_index("measure")["words"]["odds_factor"]

    def test_largest_loss_asks_the_expression(self) -> None:
        assert largest_loss(parse("dp(0.0001)^1000000")) == (pytest.approx(100.0), True)
        assert largest_loss(parse("laplace(1)^3 * laplace(0.5)^2")) == (4.0, True)
        assert largest_loss(parse("dp(1) & gdp(1)")) == (1.0, True)
        assert largest_loss(parse("group(dp(1), 3)")) == (3.0, True)
        assert largest_loss(parse("dp(1, 0.1)"))[0] == math.inf

    @pytest.mark.parametrize("prior", [0.001, 0.2, 0.5, 0.7, 0.99])
    @pytest.mark.parametrize("text", ["gdp(1)", "dp(1, 0.05)", "laplace(2)"])
    def test_accuracy_is_the_least_bayes_error(self, text: str, prior: float) -> None:
        region = parse(text)
        corners = region.vertices()[0] if region.is_polygon else np.empty(0)
        alpha = np.concatenate((np.linspace(0, 1, 200_001), np.geomspace(1e-12, 1e-3, 2000), corners))
        by_hand = 1 - ((1 - prior) * alpha + prior * region.beta(alpha)).min()
        found = best_accuracy(region, prior).item()
        assert by_hand - 1e-14 <= found <= by_hand + 1e-7

    def test_simulated_randomized_response(self) -> None:
        rng = np.random.default_rng(20)
        region, prior, n = parse("rr(1.5)"), 0.2, 400_000
        member = rng.random(n) < prior
        answer = (member + region.sample(rng, n)) % 2
        belief = member[answer == 1].mean()
        error = math.sqrt(belief * (1 - belief) / (answer == 1).sum())
        assert belief == pytest.approx(best_posterior(region, prior).item(), abs=5 * error)
        right = max((member == answer).mean(), 1 - prior)
        assert right == pytest.approx(best_accuracy(region, prior).item(), abs=5 * math.sqrt(0.25 / n))

    def test_simulated_gaussian(self) -> None:
        rng = np.random.default_rng(21)
        prior, n = 0.3, 400_000
        member = rng.random(n) < prior
        score = rng.normal(size=n) + member
        threshold = 0.5 + math.log((1 - prior) / prior)
        right = ((score > threshold) == member).mean()
        assert right == pytest.approx(best_accuracy(parse("gdp(1)"), prior).item(), abs=5 * math.sqrt(0.25 / n))
        pairs = (rng.normal(size=n) + 1 > rng.normal(size=n)).mean()
        assert pairs == pytest.approx(1 - area(parse("gdp(1)")), abs=5 * math.sqrt(0.25 / n))


@pytest.mark.parametrize("text", ["laplace(1)^3", "laplace(1) * gaussian(1)", "zcdp(0.5)", "dp(1) & gdp(0.7)"])
def test_area_is_never_above_a_fine_sum(text: str) -> None:
    region = parse(text)
    u = np.linspace(-30, 30, 1201)
    alpha = 1 / (1 + np.exp(-u))
    fine = float(np.sum(region.beta_bounds(alpha)[1] * alpha * (1 - alpha)) * (u[1] - u[0]))
    assert fine * (1 - 5e-3) <= area(region) <= fine * (1 + 1e-6)


@pytest.mark.parametrize("text", ["gdp(1)", "laplace(0.7)"])
def test_tangents_contain_the_region(text: str) -> None:
    curve = parse(text).curve
    _, log_alpha, log_power = tangents.corners(curve, np.linspace(0, min(curve.max_loss, 8), 33))
    alpha, power = np.exp(log_alpha), np.exp(log_power)
    assert (np.diff(alpha) < 0).all()
    assert (power >= curve.power_bounds(alpha)[1] * (1 - 1e-12)).all()
    assert (power <= curve.power_bounds(alpha)[1] * 1.07).all()


class TestWords:
    def test_rounding_is_outward(self) -> None:
        frame = risk(parse("gdp(1)"), [0.05], [0.1]).set_index("measure")
        assert "5 of 100 people outside" in frame["words"]["true_positive_rate"]
        assert "at most 26 of 100" in frame["words"]["true_positive_rate"]  # 0.2595
        assert "at most 70 of 100" in frame["words"]["advantage"]  # 0.6915
        assert "at least 30 of 100" in frame["words"]["equal_error_rate"]  # 0.3085

    @given(st.floats(1e-9, 1.0), st.sampled_from(["gdp(1)", "dp(0.3, 0.01)"]))
    @settings(max_examples=40, deadline=None)
    def test_true_positive_sentence_is_true(self, fpr: float, text: str) -> None:
        region = parse(text)
        row = risk(region, [fpr], [0.5]).set_index("measure").loc["true_positive_rate"]
        accused, found = re.findall(r"([0-9 ]+) of ([0-9 ]+) people", row["words"])
        said_fpr, said_tpr = (int(a.replace(" ", "")) / int(b.replace(" ", "")) for a, b in (accused, found))
        assert said_fpr <= fpr * (1 + 1e-12)
        assert said_tpr >= row["value"] * (1 - 1e-12)


class TestInput:
    @pytest.mark.parametrize("prior", [0, 1, -0.1, 1.5, math.nan, math.inf, "0.5", [], [[0.5]], True, None, [0.5, "a"]])
    def test_prior(self, prior: object) -> None:
        with pytest.raises(DomainError, match=r"^prior must be .*\.$"):
            best_posterior(parse("dp(1)"), prior)  # type: ignore[arg-type]  # wrong on purpose

    @pytest.mark.parametrize("fpr", [-1e-9, 1.1, math.nan, "x", [], {}, 1j])
    def test_fpr(self, fpr: object) -> None:
        with pytest.raises(DomainError, match=r"^fpr must be .*\.$"):
            risk(parse("dp(1)"), fpr)  # type: ignore[arg-type]  # wrong on purpose

    @pytest.mark.parametrize("regions", [[], ["dp(1)"], [None]])
    def test_regions(self, regions: list[object]) -> None:
        with pytest.raises(DomainError, match="regions such as"):
            risk(regions)  # type: ignore[arg-type]  # wrong on purpose


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["risk", "dp(1)", "gdp(1)", "--fpr", "1e-12..1e-2/3", "--prior", "0.5"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert tuple(rows[0]) == COLUMNS
    assert {row["region"] for row in rows} == {"dp(1)", "gdp(1)"}
    assert [row["at"] for row in rows if row["measure"] == "true_positive_rate"][:2] == ["1e-12", "1e-07"]
    assert main(["risk", "dp(1)", "--prior", "0"]) == 2
    assert capsys.readouterr().err == "error: prior must be a number in (0, 1), got 0.\n"

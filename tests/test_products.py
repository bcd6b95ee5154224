"""Every theorem about a product, beside its composition: columns, reasons, and no number below the truth."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from dpcore import ledger
from dpcore.cli.program import main
from dpcore.core.errors import DomainError
from dpcore.language import parse
from dpcore.theorems import advanced_course, advanced_drv, kov_simplified
from dpcore.theorems.composition.products import COLUMNS, DELTAS, theorems
from dpcore.theorems.sharing import RULE

SLACK = ("kov_simplified", "advanced_drv", "advanced_course")


class TestAtDelta:
    def test_the_certified_composition_comes_first(self) -> None:
        frame = theorems(parse("laplace(0.1)^100"), 1e-6)
        assert tuple(frame) == COLUMNS
        assert frame["theorem"].iloc[0] == "exact"
        assert frame["epsilon"].iloc[0] == pytest.approx(4.693, abs=5e-4)
        certified = theorems(parse("gaussian(2) * laplace(1)"), 1e-6).iloc[0]
        assert (certified["theorem"], certified["kind"]) == ("certified", "upper")
        assert "at least" in certified["note"]

    @pytest.mark.parametrize(
        "text",
        [
            "laplace(0.1)^100",
            "dp(0.1, 1e-8)^30",
            "gaussian(20)^200",
            "dp(0.1)^50 * dp(0.2)^20",
            "dp(0.1, 1e-8) * gdp(0.2)",
        ],
    )
    def test_no_theorem_is_below_the_composition(self, text: str) -> None:
        region = parse(text)
        frame = theorems(region, [1e-6, 1e-3])
        truth = dict(zip((1e-6, 1e-3), region.epsilon_bounds([1e-6, 1e-3])[0].tolist(), strict=True))
        held = frame[frame["kind"].isin(["exact", "upper"])]
        assert len(held) > 10
        assert all(e >= truth[d] * (1 - 1e-9) for e, d in zip(held["epsilon"], held["delta"], strict=True))
        silent = frame[frame["kind"] == "none"]
        assert all(value is None for value in silent["epsilon"])
        assert all(len(text) > 20 for text in silent["note"])

    def test_numbers_are_those_of_the_ledger(self) -> None:
        frame = theorems(parse("dp(0.1, 0.01) * gdp(0.2)"), 0.02).set_index("theorem")
        rows = ledger.theorems(ledger.Ledger.of(("a", "dp(0.1, 0.01)", 1), ("b", "gdp(0.2)", 1)), 0.02)
        for name, epsilon in zip(rows["theorem"], rows["epsilon"], strict=True):
            if name != "exact":
                assert frame["epsilon"][name] is None or frame["epsilon"][name] == epsilon
        assert RULE in frame["note"]["basic"]
        assert RULE in frame["note"]["kov_simplified"]
        assert RULE not in "".join(theorems(parse("dp(0.1)^10 * dp(0.2)"), 0.02)["note"])

    def test_a_slack_of_ones_own(self) -> None:
        frame = theorems(parse("dp(0.1)^1000"), 1e-6, 1e-7).set_index("theorem")
        stated = {
            "kov_simplified": kov_simplified([(0.1, 0.0, 1000)], 1e-7),
            "advanced_drv": advanced_drv(0.1, 0.0, 1000, 1e-7),
            "advanced_course": advanced_course(0.1, 1000, 1e-7),
        }
        for name, row in stated.items():
            # (E, 1e-7)-DP promises a slightly smaller epsilon at 1e-6
            assert frame["epsilon"][name] == pytest.approx(float(row["epsilon"].iloc[0]), rel=1e-5)
            assert frame["epsilon"][name] <= float(row["epsilon"].iloc[0])
            assert "slack 1e-7" in frame["note"][name]
        best = theorems(parse("dp(0.1)^1000"), 1e-6).set_index("theorem")
        assert best["epsilon"]["kov_simplified"] < frame["epsilon"]["kov_simplified"]

    def test_a_slack_above_delta_says_so(self) -> None:
        frame = theorems(parse("dp(0.1)^100"), 1e-6, 1e-3).set_index("theorem")
        assert frame["epsilon"]["kov_simplified"] is None
        assert "more than δ = 1e-6" in frame["note"]["kov_simplified"]

    def test_outside_the_domain(self) -> None:
        with pytest.raises(DomainError, match=r"delta must be .* got 2"):
            theorems(parse("dp(1)"), 2.0)
        with pytest.raises(DomainError, match=r"slack must be .* got 0"):
            theorems(parse("dp(1)"), 0.1, 0.0)


class TestListed:
    def test_columns_and_the_exact_one(self) -> None:
        region = parse("dp(0.1, 1e-6)^10")
        frame = theorems(region)
        assert tuple(frame) == COLUMNS
        assert frame["delta"].tolist()[:3] == list(DELTAS)
        assert set(frame["theorem"].iloc[:3]) == {"exact"}
        exact = frame[(frame["kind"] == "exact")].iloc[3:]
        assert len(exact) > 0
        epsilon = exact["epsilon"].to_numpy(dtype=np.float64)
        assert np.allclose(exact["delta"].to_numpy(dtype=np.float64), region.delta(epsilon), rtol=1e-10, atol=0)

    @pytest.mark.parametrize(
        "text",
        [
            "dp(0.1)^10",
            "dptv(1, 0.01, 0.3)^4",
            "laplace(0.5)^6",
            "gdp(0.5)^9",
            "tv(0.1) * dp(1)",
            "basic(dp(0.1)^2) * dp(1)",
        ],
    )
    def test_no_theorem_is_below_the_region(self, text: str) -> None:
        region = parse(text)
        frame = theorems(region)
        held = frame[frame["kind"] != "none"]
        assert len(held) > 3
        epsilon, delta = (held[name].to_numpy(dtype=np.float64) for name in ("epsilon", "delta"))
        finite = np.isfinite(epsilon)
        assert (delta[finite] >= region.delta_bounds(epsilon[finite])[0] * (1 - 1e-6)).all()

    def test_a_mechanism_enters_by_a_statement(self) -> None:
        frame = theorems(parse("laplace(0.5)^6")).iloc[3:]
        held = frame[frame["kind"] != "none"]
        assert set(held["kind"]) == {"upper"}
        assert held["note"].str.contains(r"laplace\(0.5\) taken as dptv\(0.5, 0, ").all()

    @pytest.mark.parametrize(
        "text", ["zcdp(0.1)^2", "dp(1) * gdp(1)", "dp(0.1,0.01)*gdp(0.2)", "poisson_gaussian(1, 0.1)"]
    )
    def test_every_silent_theorem_says_why(self, text: str) -> None:
        frame = theorems(parse(text)).iloc[3:]
        assert len(frame) == 8
        assert set(frame["kind"]) == {"none"}
        assert frame["note"].str.contains("name a δ").all()

    def test_slacks_of_ones_own(self) -> None:
        frame = theorems(parse("dp(0.1)^100"), slack=[1e-4, 1e-5])
        for name in SLACK:
            assert frame[frame["theorem"] == name]["epsilon"].notna().sum() == 2


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["theorems", "dp(0.1,0.01)*gdp(0.2)"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 11
    assert all(row["epsilon"] or row["note"] for row in rows)
    assert main(["theorems", "laplace(0.1)^100", "--delta", "1e-6", "--slack", "1e-7"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows[0]["epsilon"].startswith("4.692")
    assert {row["delta"] for row in rows} == {"1e-06"}

"""Conversions: each record by its own oracle, by a second route, and never on the wrong side."""

from __future__ import annotations

import csv
import io
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from dpcore.cli import main
from dpcore.core.errors import DomainError
from dpcore.curves import renyi_divergence
from dpcore.curves.tangents import smallest_mu
from dpcore.language import parse
from dpcore.theorems import divergences
from dpcore.theorems.conversion import COLUMNS, CONVERSIONS, Conversion, applicable, convert, gaussian_mu


def first(expression: str, to: str, **options: object) -> dict[str, float]:
    """Return the parameters of the first row."""
    frame = convert(parse(expression), to, **options)  # type: ignore[arg-type]  # options differ by notion
    return {n: float(v) for n, v in (part.split("=") for part in frame["parameters"][0].split(", "))}


@pytest.mark.parametrize("record", CONVERSIONS, ids=[f"{i}-{c.source}-{c.target}" for i, c in enumerate(CONVERSIONS)])
def test_oracle(record: Conversion) -> None:
    check = record.oracle
    region = parse(check.expression)
    assert record in applicable(region, record.target)
    values, kind = record.rows(region, check.options)[0]
    assert values[check.parameter] == pytest.approx(check.value, rel=check.tolerance, abs=0)
    assert kind == ("exact" if record.kind == "exact" else kind)
    assert record.formula
    assert record.assumptions
    assert record.reference


@pytest.mark.parametrize("text", ["dp(1)", "gdp(1)", "laplace(1)", "zcdp(0.5)", "rdp(3, 0.5)", "dp(1) * laplace(1)"])
@pytest.mark.parametrize("to", ["dp", "tv", "zcdp", "rdp", "gdp"])
def test_statement_follows_from_the_region(text: str, to: str) -> None:
    """A statement is true exactly if its region contains the region it came from."""
    region = parse(text)
    if (text, to) in {("zcdp(0.5)", "gdp"), ("rdp(3, 0.5)", "gdp")}:
        assert "alpha=1e-12" in convert(region, to)["parameters"].item()  # on a range of rates only
        return
    if (text, to) == ("rdp(3, 0.5)", "zcdp"):
        with pytest.raises(DomainError, match="No conversion leads from"):
            convert(region, to)
        return
    frame = convert(region, to)
    assert tuple(frame) == COLUMNS
    grid = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 4.0])
    everywhere = [parameters for parameters in frame["parameters"] if "alpha=" not in parameters]
    assert everywhere  # a row with alpha holds on a range of rates only
    for parameters in everywhere:
        statement = parse(f"{to}({parameters})")
        assert (region.delta_bounds(grid)[0] <= statement.delta_bounds(grid)[1] * (1 + 1e-9) + 1e-15).all()


class TestGaussian:
    @pytest.mark.parametrize(("noise", "mu"), [(0.5, 1.34898), (0.9, 0.25132), (0.99, 0.025067)])
    def test_randomized_response(self, noise: float, mu: float) -> None:
        # dp-accounting: noise p of two buckets tells the truth with probability 1 - p/2
        epsilon = math.log((1 - noise / 2) / (noise / 2))
        assert first(f"rr({epsilon!r})", "gdp")["mu"] == pytest.approx(mu, rel=2e-5)
        assert first(f"dp({epsilon!r})", "gdp")["mu"] == pytest.approx(
            -2 * ndtri(1 / (math.exp(epsilon) + 1)), rel=1e-12
        )

    def test_heterogeneous(self) -> None:
        assert first("dp(1) * dp(2)", "gdp")["mu"] == pytest.approx(2.358, abs=1e-3)
        assert first("dp(1, 0.1) * dp(2, 0.2)", "gdp")["mu"] == math.inf

    @pytest.mark.parametrize("text", ["laplace(1)^3", "laplace(0.1)^100", "laplace(3)", "exponential(1)"])
    def test_smooth_curves_of_bounded_loss(self, text: str) -> None:
        curve = parse(text).curve
        alpha = np.geomspace(1e-9, 0.4999, 4001)
        attained = float((ndtri(curve.power_bounds(alpha)[0]) - ndtri(alpha)).max())
        found, exact = smallest_mu(curve) or (0.0, True)
        assert attained <= found <= attained * (1 + 1e-5)
        assert not exact

    @given(st.lists(st.floats(0.01, 3.0), min_size=1, max_size=4))
    @settings(max_examples=30, deadline=None)
    def test_polygon_lies_above_its_gaussian_and_no_smaller_one(self, epsilons: list[float]) -> None:
        region = parse(" * ".join(f"dp({e!r})" for e in epsilons))
        found = gaussian_mu(region)
        assert found is not None
        mu, exact = found
        assert exact
        grid = np.linspace(0, sum(epsilons), 60)
        assert (region.delta(grid) <= parse(f"gdp({mu!r})").delta(grid) * (1 + 1e-9) + 1e-300).all()
        alpha, beta = region.vertices()
        inner = (alpha > 0) & (beta > 0) & (alpha <= beta)
        smaller = parse(f"gdp({mu * (1 - 1e-6)!r})").beta(alpha[inner])
        assert (smaller > beta[inner]).any()

    def test_products_and_intersections_of_unbounded_loss(self) -> None:
        mu = first("laplace(1)", "gdp")["mu"]
        assert first("laplace(1) * gaussian(1)", "gdp")["mu"] == pytest.approx(math.hypot(mu, 1), rel=1e-9)
        assert first("dp(0.1)^1000 & gdp(2)", "gdp")["mu"] == 2

    @pytest.mark.parametrize(
        "text", ["zcdp(0.5)", "poisson_gaussian(9.4, 0.328)^2000", "erase(gdp(1), 0.2)", "dp(1, 1e-5)"]
    )
    def test_without_a_bound_of_the_loss_the_range_is_stated(self, text: str) -> None:
        row = convert(parse(text), "gdp").iloc[-1]
        assert row["kind"] == "upper"
        values = {n: float(v) for n, v in (part.split("=") for part in row["parameters"].split(", "))}
        assert values["alpha"] == 1e-12
        assert 0 < values["mu_lower"] <= values["mu"] <= values["mu_lower"] * (1 + 1e-4)
        assert 0 <= values["regret_lower"] <= values["regret"] < 1
        assert 0 <= values["gap_lower"] <= values["gap"]
        assert values["regret"] <= values["gap"]
        alpha = np.geomspace(1e-12, 0.5, 300)
        gaussian = parse(f"gdp({values['mu']!r})").beta(alpha)
        assert (gaussian <= parse(text).curve.beta_bounds(alpha)[1] * (1 + 1e-9)).all()

    @pytest.mark.parametrize("text", ["dp(1)", "laplace(0.1)^1000", "rr(1, 5)"])
    def test_a_bounded_loss_has_a_regret_too(self, text: str) -> None:
        whole, row = (part.split(", ") for part in convert(parse(text), "gdp")["parameters"])
        values = {n: float(v) for n, v in (part.split("=") for part in row)}
        assert values["mu_lower"] <= float(whole[0].removeprefix("mu=")) * (1 + 1e-6)
        assert 0 < values["regret_lower"] <= values["regret"] <= values["gap"]
        alpha = np.geomspace(1e-12, 0.5, 2001)
        curve, moved = parse(text).curve, np.maximum(alpha - values["regret"], 1e-300)
        shifted = np.where(alpha > values["regret"], ndtr(-ndtri(moved) - values["mu"]), 1.0)
        assert (curve.beta_bounds(alpha)[0] - values["regret"] <= shifted + 1e-12).all()
        assert len(convert(parse("gaussian(2)"), "gdp")) == 1

    def test_the_range_is_a_choice(self) -> None:
        frame = convert(parse("poisson_gaussian(9.4, 0.328)^2000"), "gdp", alpha=1e-10)
        assert frame["parameters"].item().endswith("alpha=1e-10")
        with pytest.raises(DomainError, match=r"alpha must be .* got 0.6"):
            convert(parse("zcdp(0.5)"), "gdp", alpha=0.6)

    def test_corners_below_the_smallest_double_are_not_forgotten(self) -> None:
        region = parse("dp(0.0001)^1000000")
        mu = first(str(region), "gdp")["mu"]
        grid = np.linspace(0, 3, 31)
        assert (region.delta(grid) <= parse(f"gdp({mu!r})").delta(grid)).all()


class TestConcentrated:
    @pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 5.0, 30.0])
    def test_no_order_exceeds_the_rate_and_order_one_attains_it(self, epsilon: float) -> None:
        orders = 1 + np.geomspace(1e-9, 1e6, 400)
        for text, divergence in [("dp", renyi_divergence.randomized_response), ("laplace", renyi_divergence.laplace)]:
            rate = divergences.concentrated(parse(f"{text}({epsilon!r})"))
            assert rate is not None
            ratio = np.array([divergence(epsilon, a) / a for a in orders])
            assert (ratio <= rate.rho * (1 + 1e-12)).all()
            assert ratio[0] == pytest.approx(rate.rho, rel=1e-6)

    def test_both_forms_of_pure_privacy(self) -> None:
        frame = convert(parse("dp(1)"), "zcdp")
        assert frame["kind"].tolist() == ["exact", "upper"]
        assert [float(p.split("=")[1]) for p in frame["parameters"]] == pytest.approx([math.tanh(0.5), 0.5])

    def test_products_add(self) -> None:
        assert first("dp(1)^3 * gdp(1) * laplace(1)", "zcdp")["rho"] == pytest.approx(
            3 * math.tanh(0.5) + 0.5 + math.exp(-1)
        )
        assert first("dp(1, 0.1)", "zcdp")["rho"] == math.inf


class TestRenyi:
    @pytest.mark.parametrize("order", [1.5, 2.0, 10.0])
    def test_by_mpmath(self, order: float) -> None:
        a = mp.mpf(order)

        def quadrature(density: object, shift: float, ends: list[float]) -> float:
            total = mp.quad(lambda x: density(x - shift) ** a * density(x) ** (1 - a), ends)  # type: ignore[operator]
            return float(mp.log(total) / (a - 1))

        laplace = quadrature(lambda x: mp.exp(-abs(x)) / 2, 1.0, [-60, 0, 1, 60])
        assert first("laplace(1)", "rdp", order=order)["epsilon"] == pytest.approx(laplace, rel=1e-10)
        q = [mp.mpf(1) / 2, mp.mpf(3) / 10, mp.mpf(2) / 10]
        p = [mp.mpf(1) / 10, mp.mpf(5) / 10, mp.mpf(4) / 10]
        both = [sum(x**a * y ** (1 - a) for x, y in zip(u, v, strict=True)) for u, v in ((p, q), (q, p))]
        expected = float(mp.log(max(both)) / (a - 1))
        assert first("pmf([0.1, 0.5, 0.4], [0.5, 0.3, 0.2])", "rdp", order=order)["epsilon"] == pytest.approx(expected)

    def test_the_ends_of_the_orders(self) -> None:
        """Order 1 is the Kullback-Leibler divergence, infinite order the largest loss."""
        kl = 0.6 * math.log(1.2) + 0.4 * math.log(0.8), 0.5 * math.log(1 / 1.2) + 0.5 * math.log(1 / 0.8)
        assert first("pmf([0.5, 0.5], [0.6, 0.4])", "rdp", order=1)["epsilon"] == pytest.approx(max(kl), rel=1e-12)
        assert first("pmf([0.5, 0.5], [0.6, 0.4])", "rdp", order=math.inf)["epsilon"] == pytest.approx(math.log(1.25))
        assert first("gdp(2)", "rdp", order=1)["epsilon"] == 2.0
        assert first("gdp(2)", "rdp", order=math.inf)["epsilon"] == math.inf
        assert first("laplace(1)", "rdp", order=1)["epsilon"] == pytest.approx(math.exp(-1), rel=1e-12)
        assert first("laplace(1)^3 * dp(2)", "rdp", order=math.inf)["epsilon"] == 5.0
        assert first("dp(1)", "rdp", order=1)["epsilon"] == pytest.approx(math.tanh(0.5), rel=1e-12)
        assert first("zcdp(0, 1)", "rdp", order=math.inf)["epsilon"] == 1.0
        frame = convert(parse("dp(1)"), "rdp", order=[1, 2, math.inf])
        values = [float(text.rpartition("=")[2]) for text in frame["parameters"]]
        assert values == sorted(values)
        assert set(frame["kind"]) == {"exact"}

    def test_sums_and_bounds(self) -> None:
        single = first("rr(1, 4)", "rdp", order=3.0)["epsilon"]
        assert first("rr(1, 4)^5", "rdp", order=3.0)["epsilon"] == pytest.approx(5 * single, rel=1e-12)
        assert convert(parse("rdp(3, 0.5)"), "rdp", order=2.0)["kind"].tolist() == ["upper"]
        with pytest.raises(DomainError, match="order 4"):
            convert(parse("rdp(3, 0.5)"), "rdp", order=4.0)


class TestStatements:
    def test_three_forms_from_renyi_in_order_of_strength(self) -> None:
        for text in ("rdp(8, 0.6)", "zcdp(0.3)"):
            frame = convert(parse(text), "dp", delta=1e-6)
            epsilon = [float(p.split(",")[0].split("=")[1]) for p in frame["parameters"]]
            assert len(epsilon) == 3
            assert epsilon[0] > epsilon[1] >= epsilon[2] * (1 - 1e-9)

    def test_delta_zero_promises_nothing(self) -> None:
        frame = convert(parse("rdp(8, 0.6)"), "dp", delta=0.0)
        assert frame["parameters"].tolist() == ["epsilon=inf, delta=0"] * 3

    def test_gaussian_by_its_profile(self) -> None:
        frame = convert(parse("gdp(1)"), "dp", epsilon=[0.0, 1.0])
        assert len(frame) == 2
        assert first("gdp(1)", "dp", epsilon=1.0)["delta"] == pytest.approx(0.12693673750664397, rel=1e-12)

    def test_groups(self) -> None:
        frame = convert(parse("dp(0.5, 0.01)"), "group", k=3)
        assert frame["kind"].tolist() == ["upper", "exact", "exact"]
        corner = {n: float(v) for n, v in (p.split("=") for p in frame["parameters"].iloc[-1].split(", "))}
        assert parse("group(dp(0.5, 0.01), 3)").delta(corner["epsilon"]) == pytest.approx(corner["delta"], rel=1e-10)
        assert first("zcdp(0.1, 0.2)", "group", k=3) == pytest.approx(
            {"k": 3, "rho": 0.9, "xi": 0.2 * 3 * (1 + 1 / 2 + 1 / 3)}
        )
        assert first("laplace(0.5)", "group", k=4)["epsilon"] == 2


class TestInput:
    @pytest.mark.parametrize("to", ["gpd", "", None, 3])
    def test_notion(self, to: object) -> None:
        with pytest.raises(DomainError, match=r"^to must be one of"):
            convert(parse("dp(1)"), to)  # type: ignore[arg-type]  # wrong on purpose

    @pytest.mark.parametrize(
        "options",
        [
            {"delta": -1},
            {"delta": 2},
            {"delta": math.nan},
            {"delta": "x"},
            {"order": 0.5},
            {"order": []},
            {"epsilon": -1},
            {"k": 0},
            {"k": 1.5},
            {"k": "2"},
        ],
    )
    def test_options(self, options: dict[str, object]) -> None:
        with pytest.raises(DomainError, match=r"must"):
            convert(parse("dp(1)"), "dp", **options)  # type: ignore[arg-type]  # wrong on purpose

    def test_region(self) -> None:
        with pytest.raises(DomainError, match="takes a region"):
            convert("dp(1)", "tv")  # type: ignore[arg-type]  # wrong on purpose


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "gaussian(2)", "--to", "zcdp"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert row == {
        "region": "gaussian(2)",
        "to": "zcdp",
        "parameters": "rho=0.125",
        "formula": r"\rho=\mu^2/2",
        "kind": "exact",
        "theorem": "Gaussian mechanism; Bun, Steinke 2016, Proposition 1.6",
        "neighbours": "any",
    }
    assert main(["convert", "dp(1)", "--to", "dp", "--epsilon", "0,0.5"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert main(["convert", "dp(1)", "--to", "gpd"]) == 2
    assert "Did you mean gdp?" in capsys.readouterr().err

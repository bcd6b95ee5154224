"""Splitting: factors found again, certificates that can be checked, and containing products that contain."""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections import Counter

import numpy as np
import pytest

from dpcore import parse
from dpcore.cli import main
from dpcore.constraints import Constraints, containing, level_table, split
from dpcore.constraints.containing import _Target
from dpcore.constraints.levels import product_polygon
from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DpcoreError
from dpcore.curves.polygon import Polygon
from dpcore.regions.comparison import compare_curves
from dpcore.theorems import kov_optimal

GRID = np.linspace(0.0, 5.0, 51)


def product_text(epsilon: list[float], delta: list[float]) -> str:
    return " * ".join(f"dp({e!r}, {d!r})" for e, d in zip(epsilon, delta, strict=True))


# ---- what splits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_random_lists_are_found_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = 1 + seed % 12
    pool = np.exp(rng.uniform(math.log(0.03), math.log(2.0), size))
    repeated = seed % 2 == 1
    epsilon = sorted(rng.choice(pool[: max(1, size // 3)], size).tolist() if repeated else pool.tolist())
    delta = rng.choice([0.0, 1e-6, 0.01, 0.1], size).tolist()
    answer = split(parse(product_text(epsilon, delta)))
    assert answer.is_product is True
    assert [e for e, copies in answer.factors for _ in range(copies)] == pytest.approx(epsilon, abs=1e-8)
    assert 1.0 - answer.total_delta == pytest.approx(math.prod(1.0 - d for d in delta), abs=1e-12)
    assert answer.product is not None
    assert np.allclose(answer.product.delta(GRID), answer.region.delta(GRID), rtol=1e-9, atol=1e-15)
    counted = answer.steps["copies"].tolist()
    assert counted == [copies for _, copies in answer.factors]
    assert answer.steps["left_over"].iloc[-1] == 0.0


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.05), (0.5, 1e-6), (1.0, 0.0), (0.03, 0.01)])
def test_the_corners_of_the_optimal_theorem_split_into_copies(epsilon: float, delta: float) -> None:
    for k in (1, 2, 3, 7, 12, 13, 15, 22, 29, 30):
        table = kov_optimal(epsilon, delta, k)
        given = Constraints.of(*zip(table["epsilon"].tolist(), table["delta"].tolist(), strict=True))
        answer = split(given.region)
        assert answer.is_product is True, (k, answer.reason)
        ((found, copies),) = answer.factors
        assert copies == k
        assert found == pytest.approx(epsilon, abs=1e-8)
        assert 1.0 - answer.total_delta == pytest.approx((1.0 - delta) ** k, abs=1e-12)


def test_the_masses_decide_not_the_losses() -> None:
    three, two = split(parse("dp(1)^3")), split(parse("dp(1) * dp(2)"))
    assert three.factors == ((1.0, 3),)
    assert two.factors == ((1.0, 1), (2.0, 1))
    assert np.array_equal(np.unique(parse("dp(1)^3").curve.loss), np.unique(parse("dp(1) * dp(2)").curve.loss))  # type: ignore[attr-defined]  # polygons


@pytest.mark.parametrize(
    ("text", "factors", "total"),
    [
        ("tv(0.2)", (), 0.2),
        ("dp(0)", (), 0.0),
        ("dp(inf)", (), 1.0),
        ("dp(2, 0.1)", ((2.0, 1),), 0.1),
        ("geometric(1)", ((1.0, 1),), 0.0),
        ("dp(300) * dp(500)", ((300.0, 1), (500.0, 1)), 0.0),
        ("dp(0.01)^1000", ((0.01, 1000),), 0.0),
        ("dp(0.01, 0.05)^300", ((0.01, 300),), 1 - 0.95**300),
        ("dp(0.1)^50 * dp(2.5)", ((0.1, 50), (2.5, 1)), 0.0),  # C(50, 25) + 1 patterns look like C(50, 25)
        ("dptv(1, 0, 0.24491866240370914)", ((0.5, 2),), 0.0),  # the total variation of dp(0.5)^2
    ],
)
def test_special_products(text: str, factors: tuple[tuple[float, int], ...], total: float) -> None:
    answer = split(parse(text))
    assert answer.is_product is True
    assert answer.factors == tuple((pytest.approx(e, rel=1e-9), c) for e, c in factors)
    assert answer.total_delta == pytest.approx(total, abs=1e-12)


def test_too_many_corners_split_by_their_parts() -> None:
    epsilon = np.random.default_rng(3).uniform(0.1, 1.0, 22).tolist()
    answer = split(parse(product_text(epsilon, [0.001] * 22)))
    assert answer.is_product is True
    assert [e for e, _ in answer.factors] == sorted(epsilon)
    assert answer.total_delta == pytest.approx(1 - 0.999**22, rel=1e-12)


def test_rounded_deltas_split_with_a_tolerance() -> None:
    table = kov_optimal(0.5, 0.01, 6)
    pairs = [(e, float(f"{d:.7g}")) for e, d in zip(table["epsilon"].tolist(), table["delta"].tolist(), strict=True)]
    given = Constraints.of(*pairs)
    assert split(given.region).is_product is not True
    answer = split(given.region, tolerance=1e-6)
    assert answer.factors == ((pytest.approx(0.5), 6),)


# ---- what does not -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_no_to_the_intersection_of_two_random_regions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    while True:
        a, b = (parse(product_text(rng.uniform(0.1, 1.5, 2).tolist(), rng.uniform(0, 0.1, 2).tolist())) for _ in "ab")
        if compare_curves(a.curve, b.curve).relation == "crossing":
            break
    answer = split(a & b)
    assert answer.is_product is False
    assert answer.factors == ()
    assert answer.product is None
    assert answer.steps["outcome"].iloc[-1].startswith("stop")


def test_a_certificate_can_be_checked_by_hand() -> None:
    answer = split(parse("dp(0.6, 0.05) & tv(0.2)"))
    assert answer.is_product is False
    # masses by hand: delta 0.05 at 0.6, total variation 0.2: q(0.6) (1 - e^-0.6) = 0.15
    top = 0.15 / (1 - math.exp(-0.6))
    middle = 0.95 - top - top * math.exp(-0.6)
    assert answer.steps["weight"].iloc[-1] == pytest.approx(middle * math.exp(0.3) / top, rel=1e-12)
    assert "1.76658" in answer.reason
    assert "no whole number" in answer.reason


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gdp(1)", "fill an interval"),
        ("laplace(1)^3", "fill an interval"),
        ("gaussian(1) * dp(1)", "fill an interval"),
        ("rr(1, 5)", "no whole number"),
        ("dptv(1, 0, 0.32015666782980645)", "only 0.5 is left"),  # weight 1 at loss 0: one factor, then too much
        ("points([[0.1, 0.6]])", ""),
    ],
)
def test_reasons_against(text: str, words: str) -> None:
    answer = split(parse(text))
    assert answer.is_product is False
    assert words in answer.reason


@pytest.mark.parametrize("text", ["dp(800) * dp(900)", "exponential(1)^3", "dp(0.1) & gdp(5)", "rdp(2, 0.5) * dp(1)"])
def test_what_cannot_be_decided_is_said(text: str) -> None:
    answer = split(parse(text))
    assert answer.is_product is None
    assert answer.reason
    assert answer.frame["is_product"].tolist() == [None]


def test_a_wrong_tolerance_and_a_deadline() -> None:
    with pytest.raises(DpcoreError, match=r"tolerance must be a number in \[0, 0.01\]"):
        split(parse("dp(1)"), tolerance=0.5)
    with effort(deadline=0.0), pytest.raises(BudgetError):
        split(parse("dp(1) * dp(2)"))


# ---- levels --------------------------------------------------------------------------------------------------


def test_weights_count_sub_collections() -> None:
    epsilon = [0.2, 0.2, 0.5, 0.7]
    table = level_table(parse(product_text(epsilon, [0.0, 0.1, 0.0, 0.02])), [(0.2, 2)])
    sums = Counter(round(sum(c), 9) for r in range(5) for c in itertools.combinations(epsilon, r))
    assert dict(zip(table["drop"].round(9).tolist(), table["weight"].round(6).tolist(), strict=True)) == dict(sums)
    assert table["explained"].sum() == 4
    assert level_table(parse("tv(0.2)")).empty


def test_the_forward_product_agrees_with_the_engine() -> None:
    made = product_polygon([(0.3, 4), (0.7, 2)], 0.05)
    known = parse("dp(0.3)^4 * dp(0.7)^2 * tv(0.05)")
    assert np.allclose(made.delta_bounds(GRID)[0], known.delta(GRID), rtol=1e-13, atol=0)
    assert made.p.sum() + made.p_inf == pytest.approx(1.0, abs=1e-14)


# ---- containing products -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["dp(0.6, 0.05) & tv(0.2)", "rr(1, 5)", "dptv(1, 0, 0.3)^5", "gdp(1)"])
def test_a_containing_product_contains(text: str) -> None:
    region, before = parse(text), math.inf
    for m in (1, 2, 3) if text == "rr(1, 5)" else (1, 2):
        found = containing(region, m)
        assert compare_curves(region.curve, found.region.curve).relation in {"a inside b", "equal"}
        assert np.all(found.region.delta(GRID) >= region.delta(GRID) * (1 - 1e-13))
        assert len(found.factors) <= m
        assert found.area_between == pytest.approx(region.area - found.region.area, abs=1e-8)
        assert found.area_between <= before + 1e-7
        assert found.starts["area_between"].min() >= found.area_between - 1e-7
        before = found.area_between
        assert found.proved == (m == 1 and text != "gdp(1)")


@pytest.mark.parametrize("text", ["dp(0.6, 0.05) & tv(0.2)", "dptv(1, 0, 0.3)^5", "dp(0.3)^2 * dp(0.5, 0.1)"])
def test_one_factor_is_the_best_of_all(text: str) -> None:
    region = parse(text)
    epsilon = np.linspace(0.0, 6.0, 60_001)
    area = (1.0 - region.delta(epsilon)) ** 2 / (1.0 + np.exp(epsilon))
    assert containing(region, 1).region.area >= area.max() - 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_the_mass_at_infinity_is_the_smallest(seed: int) -> None:
    """The minimum over corners against a dense grid of epsilon."""
    rng = np.random.default_rng(seed)
    curve = parse("dptv(1, 0.01, 0.3)^3 & dp(2.2, 0.02)").curve
    assert isinstance(curve, Polygon)
    epsilons = rng.uniform(0.1, 1.2, 3)
    product = product_polygon([(e, 1) for e in epsilons.tolist()], 0.0)
    dense = np.linspace(0.0, 6.0, 20_001)
    ratio = (1.0 - curve.delta_bounds(dense)[0]) / (1.0 - product.delta_bounds(dense)[0])
    target = _Target(curve, curve.area)
    found = 1.0 - target.total_delta(epsilons)
    assert found <= ratio.min() + 1e-12
    assert found == pytest.approx(ratio.min(), abs=1e-4)  # the grid misses the corners by up to 1.5e-4
    assert target.area(epsilons) == pytest.approx(found**2 * product.area, rel=1e-9)


def test_a_product_contains_itself() -> None:
    found = containing(parse("dp(0.3)^2 * dp(0.5, 0.1)"), 3)
    assert found.proved
    assert found.factors == (0.3, 0.3, 0.5)
    assert found.area_between == pytest.approx(0.0, abs=1e-12)
    assert str(found.region) == "dp(0.3)^2 * dp(0.5, 0.1)"


def test_the_search_is_reproducible_and_bounded() -> None:
    region = parse("rr(1, 5)")
    again = [containing(region, 2, rng=np.random.default_rng(7)).factors for _ in range(2)]
    assert again[0] == again[1]
    with pytest.raises(DpcoreError, match="m must be an integer in"):
        containing(region, 7)
    with effort(deadline=0.0), pytest.raises(BudgetError):
        containing(region, 2)


# ---- the command line ----------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[dict[str, str]], str]:
    code = main(words)
    captured = capsys.readouterr()
    return code, list(csv.DictReader(io.StringIO(captured.out))), captured.err


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, rows, _ = run(capsys, "split", "dp(0.2)^3 * dp(0.5, 0.01)")
    assert code == 0
    assert list(rows[0]) == [
        "region",
        "is_product",
        "factor_epsilon",
        "copies",
        "total_delta",
        "reason",
        "kind",
        "theorem",
        "neighbours",
    ]
    assert [(r["factor_epsilon"], r["copies"], r["total_delta"]) for r in rows] == [
        ("0.2", "3", "0.01"),
        ("0.5", "1", "0.01"),
    ]
    assert {r["is_product"] for r in rows} == {"True"}
    assert {r["kind"] for r in rows} == {"exact"}
    bound = run(capsys, "split", "basic(dp(1)^2)")[1][0]
    assert (bound["factor_epsilon"], bound["copies"], bound["kind"]) == ("2.0", "1", "upper")
    code, rows, _ = run(capsys, "split", "dptv(1, 0, 0.2)")
    assert (code, rows[0]["is_product"], rows[0]["factor_epsilon"]) == (0, "False", "")
    assert "no whole number" in rows[0]["reason"]
    assert run(capsys, "split", "tv(0.2)")[1][0]["factor_epsilon"] == "0.0"
    assert run(capsys, "split", "exponential(1)^2")[1][0]["is_product"] == ""
    code, rows, error = run(capsys, "split", "dp(1")
    assert (code, rows) == (2, [])
    assert "expected" in error

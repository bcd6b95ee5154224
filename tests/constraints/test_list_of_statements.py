"""Lists of statements: what they say together, which count, the worst pair, and k mechanisms by a second route."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore import parse
from dpcore.constraints import Constraints, activity, conjectured, corners, dominating_pair, gap
from dpcore.constraints.conjecture import MOST_LOSSES
from dpcore.core.errors import DpcoreError
from dpcore.theorems import dptv as dptv_theorem

GRID = np.linspace(0.0, 4.0, 41)
FIGURE = Constraints.read("0.6, 0.05; 0, 0.2")


def random_list(rng: np.random.Generator, most: int = 5) -> Constraints:
    """Return some statements, sorted so that most of them count: larger epsilon, smaller delta."""
    size = int(rng.integers(1, most + 1))
    epsilon = np.sort(rng.uniform(0.0, 2.0, size))
    delta = np.sort(rng.uniform(0.0, 0.4, size))[::-1]
    if rng.random() < 0.4:
        epsilon[0] = 0.0
    return Constraints.of(*((float(e), float(d)) for e, d in zip(epsilon, delta, strict=True)))


def worst_pair(given: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """Return the masses of the worst pair by a route of its own: the upper envelope of all lines, corner by corner."""
    lines = [(0.0, 0.0)]
    for item in given.items:
        e = math.exp(item.epsilon)
        lines += [(1 - item.delta, -e), ((1 - item.delta) / e, -1 / e)]
    cuts = {0.0, 1.0}
    for (a, b), (c, d) in itertools.combinations(lines, 2):
        if b != d and 0 <= (c - a) / (b - d) <= 1:
            cuts.add((c - a) / (b - d))
    alpha = np.array(sorted(cuts))
    beta = np.max([a + b * alpha for a, b in lines], axis=0)
    slope = np.diff(beta) / np.diff(alpha)
    corner = np.concatenate(([True], np.abs(np.diff(slope)) > 1e-9, [True]))
    p, q = np.diff(alpha[corner]), -np.diff(beta[corner])
    return np.append(p, 0.0), np.append(q, 1.0 - q.sum())


def hockey_stick(p: np.ndarray, q: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
    """Return delta by its definition."""
    return np.maximum(q - np.exp(epsilon)[:, None] * p, 0.0).sum(axis=1)


def powers(p: np.ndarray, q: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all k-tuples of answers with their probabilities."""
    a, b = p, q
    for _ in range(k - 1):
        a, b = np.multiply.outer(a, p).ravel(), np.multiply.outer(b, q).ravel()
    return a, b


# ---- reading -------------------------------------------------------------------------------------------------


def test_reading_and_writing() -> None:
    given = Constraints.read(" log(3), 1/4 ; tv(0.2) & dptv(1, 0, 0.3);0.5 ")
    assert given.text == "1.0986122886681098, 0.25; 0, 0.2; 1, 0; 0, 0.3; 0.5, 0"
    assert Constraints.read(given.text) == given
    assert str(FIGURE.region) == "dp(0.6, 0.05) & tv(0.2)"
    assert str(FIGURE.composed(3)) == "(dp(0.6, 0.05) & tv(0.2))^3"
    assert FIGURE.composed(1) is FIGURE.region


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "1 to 40 statements"),
        ("; ;", "1 to 40 statements"),
        ("; ".join(["1, 0"] * 41), "got 41"),
        ("1, 2", "delta must be"),
        ("-1, 0", "without a sign"),
        ("inf, 0.1", "epsilon must be"),
        ("gdp(1)", "something else"),
        ("dp(1)^2", "something else"),
        ("nan, nan", "nan"),
        ("1, 0, 3", "at most 2"),
        ("x" * 5000, "at most 4000 characters"),
    ],
)
def test_what_is_no_list_is_explained(text: str, words: str) -> None:
    with pytest.raises(DpcoreError, match=words):
        Constraints.read(text)


# ---- which statements count ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_activity_agrees_with_leaving_a_statement_out(seed: int) -> None:
    """The region without a statement, by the algebra of polygons, is larger exactly if the statement is active."""
    rng = np.random.default_rng(seed)
    epsilon, delta = rng.uniform(0, 2, 6).round(1), rng.uniform(0, 0.5, 6)
    given = Constraints.of(*zip(epsilon.tolist(), delta.tolist(), strict=True))
    table = activity(given)
    active = [item for item, status in zip(given.items, table["status"], strict=True) if status == "active"]
    assert Constraints(tuple(active)).region.same_region(given.region, 1e-13)
    for item, others in zip(active, table.loc[table["status"] == "active", "delta_of_others"], strict=True):
        rest = tuple(other for other in active if other != item)
        promised = float(Constraints(rest).region.delta(item.epsilon)) if rest else 1.0
        assert others == pytest.approx(promised, rel=1e-12)
        assert item.delta < promised
    for row in table[table["status"] == "implied"].itertuples():
        named = [given.items[int(name) - 1] for name in row.by.split(" and ")]
        assert len(named) <= 2
        assert float(Constraints(tuple(named)).region.delta(row.epsilon)) <= row.delta * (1 + 1e-12)
        assert row.delta_of_others <= row.delta * (1 + 1e-12)


def test_equal_useless_and_redundant_statements() -> None:
    table = activity(Constraints.read("1, 0.1; 1, 0.1; 2, 1; 0, 0.9; 3, 0.1"))
    assert table["status"].tolist() == ["active", "implied", "implied", "implied", "implied"]
    assert table["by"].tolist() == ["", "1", "1", "1", "1"]
    assert "used in both directions" in table["reason"][3]
    assert activity(Constraints.read("0, 1"))["reason"].tolist() == ["δ = 1 holds for every mechanism."]
    touching = 0.05 + 0.95 * math.tanh(0.3)  # the total variation that (0.6, 0.05)-DP has anyway
    assert activity(Constraints.of((0.6, 0.05), (0.0, touching)))["status"].tolist() == ["active", "implied"]
    assert not table.isna().any().any()


# ---- the worst pair ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_the_dominating_pair_is_one_and_has_the_region(seed: int) -> None:
    given = random_list(np.random.default_rng(seed))
    table = dominating_pair(given.region)
    assert table["p"].sum() == pytest.approx(1.0, abs=1e-13)
    assert table["q"].sum() == pytest.approx(1.0, abs=1e-13)
    assert table["loss"].is_monotonic_increasing
    finite = table[np.isfinite(table["loss"])]
    assert np.allclose(np.log(finite["q"] / finite["p"]), finite["loss"], atol=1e-9)
    found = hockey_stick(table["p"].to_numpy(), table["q"].to_numpy(), GRID)
    assert np.allclose(found, given.region.delta(GRID), rtol=1e-12, atol=1e-15)
    for item in given.items:  # the pair satisfies every statement, both ways
        e = np.array([item.epsilon])
        assert hockey_stick(table["p"].to_numpy(), table["q"].to_numpy(), e)[0] <= item.delta + 1e-14
        assert hockey_stick(table["q"].to_numpy(), table["p"].to_numpy(), e)[0] <= item.delta + 1e-14


def test_a_curve_has_no_pair() -> None:
    with pytest.raises(DpcoreError, match="not a polygon"):
        dominating_pair(parse("gdp(1)"))
    assert dominating_pair(parse("tv(1)"))["loss"].tolist() == [-math.inf, math.inf]


# ---- k mechanisms --------------------------------------------------------------------------------------------


def test_two_statements_are_dp_with_total_variation() -> None:
    for k in range(2, 51):
        found, known = FIGURE.composed(k), parse(f"dptv(0.6, 0.05, 0.2)^{k}")
        table = dptv_theorem(0.6, 0.05, 0.2, k)
        at, delta = table["epsilon"].to_numpy(), table["delta"].to_numpy()
        assert np.allclose(found.delta(at), delta, rtol=1e-12, atol=0), k
        assert np.allclose(found.delta(GRID), known.delta(GRID), rtol=1e-12, atol=0), k


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_exact_composition_by_listing_every_answer(seed: int, k: int) -> None:
    given = random_list(np.random.default_rng(100 + seed))
    listed = hockey_stick(*powers(*worst_pair(given), k), GRID)
    assert np.allclose(given.composed(k).delta(GRID), listed, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_nothing_that_satisfies_the_list_leaves_the_region(seed: int) -> None:
    """Two mechanisms made from the worst pair by random channels, the second chosen by the first one's answer."""
    rng = np.random.default_rng(seed)
    p, q = worst_pair(given := random_list(rng))
    p = np.append(p, max(0.0, 1.0 - p.sum()))  # the answer that only P0 gives
    q = np.append(q, 0.0)
    first = rng.dirichlet(np.full(4, 0.3), size=p.size)
    joint_p, joint_q = [], []
    for answer in range(4):
        second = rng.dirichlet(np.full(3, 0.2), size=p.size)
        joint_p.append((p @ first)[answer] * (p @ second))
        joint_q.append((q @ first)[answer] * (q @ second))
    both = np.concatenate(joint_p), np.concatenate(joint_q)
    limit = given.composed(2).delta(GRID)
    assert np.all(hockey_stick(*both, GRID) <= limit + 1e-12)
    assert np.all(hockey_stick(*both[::-1], GRID) <= limit + 1e-12)


def test_the_corners() -> None:
    table = corners(FIGURE.composed(2))
    assert table["epsilon"].tolist() == [0.0, 0.6, 1.2]
    assert table["delta"].tolist() == pytest.approx([0.3052633853177609, 0.1473683073411196, 0.0975], rel=1e-12)
    assert set(table["kind"]) == {"exact"}
    many = corners(parse("(dp(0.613, 1e-6) & dp(0.271, 1e-4))^20"), longest=30)
    assert len(many) <= 31
    assert many["note"].str.contains("corners").all()


# ---- the guess -----------------------------------------------------------------------------------------------


def test_the_guess_of_figure_4_1() -> None:
    guess = conjectured(FIGURE, 2)
    said = parse("dp(0.6, 0.05)^2 & dp(0.6, 0.05) * tv(0.2) & tv(0.2)^2")
    assert guess.region.same_region(said, 1e-14)
    assert (guess.used, guess.total, guess.kind) == (3, 3, "exact")
    found = gap(FIGURE.composed(2), guess)
    alpha = np.linspace(0, 1, 200_001)
    distance = FIGURE.composed(2).beta(alpha) - said.beta(alpha)
    assert found.kind == "exact"
    assert found.largest == pytest.approx(distance.max(), abs=2e-5)
    assert found.largest >= distance.max() - 1e-15
    assert found.area == pytest.approx(np.trapezoid(distance, alpha), abs=1e-9)
    assert found.beta_exact - found.beta_guess == pytest.approx(found.largest, abs=1e-15)


@pytest.mark.parametrize("seed", range(10))
def test_the_guess_is_the_intersection_of_products_and_contains_the_truth(seed: int) -> None:
    rng = np.random.default_rng(500 + seed)
    given, k = random_list(rng, most=3), int(rng.integers(1, 4))
    guess = conjectured(given, k)
    assert guess.kind == "exact"
    choices = itertools.combinations_with_replacement(given.items, k)
    products = [" * ".join(str(item.region) for item in chosen) for chosen in choices]
    assert guess.region.same_region(parse(" & ".join(products)), 1e-12)
    truth, said = given.composed(k).delta(GRID), guess.region.delta(GRID)
    assert np.all(truth <= said * (1 + 1e-12))
    if k == 1:
        assert guess.region.same_region(given.region, 1e-13)
        assert gap(given.region, guess).largest <= 1e-14


def test_the_guess_for_many_mechanisms_is_marked() -> None:
    given = Constraints.read("1, 0; 0.8, 0.001; 0.6, 0.003; 0.4, 0.006")
    guess = conjectured(given, 60)
    assert guess.kind == "upper"
    assert guess.used < guess.total == math.comb(63, 3)
    truth = given.composed(60).delta_bounds(GRID)[0]
    assert np.all(truth <= guess.region.delta(GRID) * (1 + 1e-9))
    assert gap(given.composed(60), guess).kind in {"upper", "approximate"}
    assert MOST_LOSSES > 0


@pytest.mark.parametrize("k", [0, 10**6, 2.5, True])
def test_a_wrong_count_is_explained(k: object) -> None:
    with pytest.raises(DpcoreError, match="k must be an integer in"):
        conjectured(FIGURE, k)  # type: ignore[arg-type]  # wrong on purpose

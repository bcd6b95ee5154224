"""The noise of a plan: the budget is kept by a second route, errors are those of the noise, and splits do what they say."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from dpcore.core.errors import BudgetError, DomainError
from dpcore.files.data import data_folder
from dpcore.ledger import open_ledger, total
from dpcore.planner import PlanAnswer, PublicColumn, ReleasePlan, charges, plan_release, read_table, solve
from dpcore.planner.release.errors import answer_error, releases
from dpcore.planner.release.noise import split_error

STAFF = data_folder() / "datasets" / "staff.csv"
DEPARTMENTS = ("Administration", "Production", "Research", "Sales", "Support")
COLUMNS = (
    PublicColumn("department", categories=DEPARTMENTS),
    PublicColumn("salary", 0, 200_000),
    PublicColumn("years", 0, 45),
)
EVERY = (
    PlanAnswer("count", where="years < 5"),
    PlanAnswer("count", where="years >= 5"),
    PlanAnswer("histogram", "department"),
    PlanAnswer("sum", "salary", where="department = Sales"),
    PlanAnswer("mean", "salary"),
    PlanAnswer("quantile", "salary", level=0.9),
    PlanAnswer("proportion", where="salary > 60000"),
    PlanAnswer("variance", "years"),
    PlanAnswer("contingency", "department", by="years", bins=3),
    PlanAnswer("top choice", "department"),
)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return epsilon of mu-Gaussian privacy by halving the closed form of delta."""
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        reached = ndtr(mu / 2 - middle / mu) - math.exp(middle) * ndtr(-mu / 2 - middle / mu)
        low, high = (middle, high) if reached > delta else (low, middle)
    return high


@pytest.mark.parametrize("relation", ["add/remove", "substitution"])
@pytest.mark.parametrize("records", [1, 3])
def test_gaussian_plans_by_the_sum_of_squares(relation: str, records: int) -> None:
    answers = [answer for answer in EVERY if answer.kind not in ("quantile", "top choice")]
    person = {"records": records, "person_column": "id"} if records > 1 else {}
    plan = ReleasePlan(tuple(answers), COLUMNS, relation=relation, rows=1200, noise="gaussian", **person)
    solution = solve(plan)
    square = 0.0
    for charge, ratio in zip(solution.charges, solution.ratios, strict=True):
        noise = solution.noise(charge.places[0])
        assert noise.scale / noise.sensitivity == pytest.approx(ratio, rel=1e-5)
        square += charge.copies * (noise.sensitivity / noise.scale) ** 2
    epsilon = gaussian_epsilon(math.sqrt(square), plan.delta)
    assert total(solution.ledger, plan.delta).upper == pytest.approx(epsilon, rel=1e-6)
    assert 0.9999 < epsilon <= 1.0 + 1e-9


def test_pure_plans_add_up() -> None:
    plan = ReleasePlan(EVERY, COLUMNS, epsilon=2.0, delta=0.0)
    solution = solve(plan)
    spent = sum(
        charge.copies * solution.noise(charge.places[0]).value for charge in solution.charges
    )  # all noises of a pure budget are named by their epsilon
    assert total(solution.ledger, 0.0).upper == pytest.approx(spent, rel=1e-12)
    assert 1.9999 < spent <= 2.0


def test_three_counts_by_enumeration() -> None:
    """Products of two-valued losses: all eight of them."""
    answers = tuple(PlanAnswer("count", where=f"x{i} = 1", weight=weight) for i, weight in enumerate((1.0, 2.0, 4.0)))
    plan = ReleasePlan(answers, epsilon=1.0, delta=1e-3, noise="geometric")
    solution = solve(plan)
    losses = [float(row.expression[len("geometric(") : -1]) for row in solution.ledger.rows]
    delta = 0.0
    for signs in itertools.product((1.0, -1.0), repeat=3):
        loss = sum(sign * size for sign, size in zip(signs, losses, strict=True))
        chance = math.prod(1.0 / (1.0 + math.exp(-sign * size)) for sign, size in zip(signs, losses, strict=True))
        delta += chance * max(0.0, -math.expm1(1.0 - loss))
    assert 0.99e-3 < delta <= 1e-3
    deviations = [solution.noise(place).scale for place in range(3)]
    assert deviations[0] == pytest.approx(2 * deviations[1], rel=1e-5) == pytest.approx(4 * deviations[2], rel=1e-5)


@pytest.mark.parametrize("mu", [0.1, 1.0])
def test_a_budget_of_mu(mu: float) -> None:
    plan = ReleasePlan(EVERY[:5], COLUMNS, mu=mu)
    solution = solve(plan)
    squares = [
        (solution.noise(one.places[0]).sensitivity / solution.noise(one.places[0]).scale) ** 2 for one in charges(plan)
    ]
    assert {kind.entry.name for kind in solution.kinds} == {"gaussian"}
    assert mu * (1 - 1e-4) < math.sqrt(sum(squares)) <= mu


@pytest.mark.parametrize("relation", ["add/remove", "substitution"])
@pytest.mark.parametrize("budget", [{}, {"epsilon": 0.3, "delta": 0.0}, {"mu": 0.4}, {"epsilon": 4.0, "delta": 1e-9}])
def test_the_ledger_reads_back_with_the_same_epsilon(relation: str, budget: dict[str, float]) -> None:
    release = plan_release(STAFF, ReleasePlan(EVERY, COLUMNS, relation=relation, **budget))
    again = open_ledger(release.ledger_csv())
    assert total(again, 1e-6) == total(release.ledger, 1e-6)
    spent = total(release.ledger, release.plan.delta)
    assert release.budget_frame()["epsilon"].item() == spent.upper
    if "mu" not in budget:
        assert spent.upper <= release.plan.epsilon
    for frame in (release.answers_frame(), release.parts_frame(), release.budget_frame()):
        assert not frame.isna().any(axis=None)
        assert list(frame.columns[-3:]) == ["kind", "theorem", "neighbours"]


@pytest.mark.parametrize("relation", ["add/remove", "substitution"])
def test_half_widths_cover_95_of_100_simulated_releases(relation: str) -> None:
    plan = ReleasePlan(EVERY, COLUMNS, relation=relation, epsilon=3.0)
    release = plan_release(STAFF, plan)
    count = 4000
    for place, answer in enumerate(release.plan.answers):
        noise = release.solution.noise(place)
        error = answer_error(release.plan, answer, release.table, noise)
        drawn = releases(release.plan, answer, release.table, noise, np.random.default_rng(place), count)
        if answer.kind == "top choice":
            continue  # its error is a loss of records, see the next test
        off = np.abs(drawn - error.clipped)
        inside = (off <= error.halfwidth * (1 + 1e-9)).mean(axis=0)
        spread = 4 * math.sqrt(0.05 * 0.95 / count)
        assert (inside >= 0.95 - spread).all(), answer.name
        if answer.kind == "quantile" or not noise.law.integer:  # integers have no exact 95 %
            assert (inside <= 0.95 + spread + 0.005).all(), answer.name
        assert off.mean(axis=0) == pytest.approx(np.full(off.shape[1], error.expected), rel=0.1), answer.name
        assert (off <= error.halfwidth_all * (1 + 1e-9)).all(axis=1).mean() >= 0.95 - spread


@pytest.mark.parametrize("relation", ["add/remove", "substitution"])
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 3.0])
def test_a_top_choice_is_as_far_behind_as_it_says(relation: str, epsilon: float) -> None:
    """The records by which the chosen category is behind the largest: coverage of its half-width, its mean, and its law."""
    answer = PlanAnswer("top choice", column="department")
    release = plan_release(STAFF, ReleasePlan((answer,), COLUMNS, relation=relation, epsilon=epsilon, delta=0))
    error, noise, count = release.errors[0], release.solution.noise(0), 20_000
    drawn = releases(release.plan, answer, release.table, noise, np.random.default_rng(7), count)[:, 0].astype(int)
    names = release.plan.column("department").names
    cells = pd.read_csv(STAFF)["department"].value_counts().reindex(names, fill_value=0).to_numpy()
    behind = cells.max() - cells
    spread = 4 * math.sqrt(0.05 * 0.95 / count)
    assert (behind[drawn] <= error.halfwidth).mean() >= 0.95 - spread
    smaller = np.max(behind[behind < error.halfwidth], initial=-1)
    assert (behind[drawn] <= smaller).mean() <= 0.95 + spread, "no smaller number covers as much"
    assert behind[drawn].mean() == pytest.approx(error.expected, rel=0.05, abs=0.05)
    moves = 2.0 if relation == "substitution" else 1.0  # the scores of a replaced record move towards each other
    weight = np.exp((cells - cells.max()) * noise.value / moves)
    expected = weight / weight.sum()
    for place, chance in enumerate(expected):
        assert (drawn == place).mean() == pytest.approx(chance, abs=4.5 * math.sqrt(0.25 / count))


def test_splits_by_errors_make_them_equal() -> None:
    answers = (
        PlanAnswer("count", where="years < 5"),
        PlanAnswer("mean", "years"),
        PlanAnswer("proportion", where="years > 9"),
    )
    plan = ReleasePlan(answers, COLUMNS, rows=1000, split="equal error", epsilon=1.0, delta=1e-6)
    solution = solve(plan)
    errors = [split_error(plan, answer, ratio) for answer, ratio in zip(answers, solution.ratios, strict=True)]
    assert errors == pytest.approx([errors[0]] * 3)
    worst = ReleasePlan(answers, COLUMNS, rows=1000, split="worst error", epsilon=1.0, delta=1e-6)
    relative = [
        split_error(worst, answer, ratio) / answer.type.largest(worst, answer)
        for answer, ratio in zip(answers, solve(worst).ratios, strict=True)
    ]
    assert relative == pytest.approx([relative[0]] * 3)
    assert max(relative) < max(
        split_error(plan, answer, ratio) / answer.type.largest(plan, answer)
        for answer, ratio in zip(answers, solution.ratios, strict=True)
    )


def test_a_stated_scale_decides_the_worst_error() -> None:
    answers = (PlanAnswer("count", where="a = 1", scale=10.0), PlanAnswer("count", where="b = 1", scale=1.0))
    solution = solve(ReleasePlan(answers, split="worst error", noise="laplace", delta=0.0))
    assert solution.noise(0).scale == pytest.approx(10 * solution.noise(1).scale, rel=1e-5)


def test_the_size_of_a_mean_is_not_taken_from_the_data() -> None:
    plan = ReleasePlan(
        (PlanAnswer("mean", "years"), PlanAnswer("count", where="years < 5")), COLUMNS, split="equal error"
    )
    with pytest.raises(DomainError, match="public guess of the number of records"):
        solve(plan)


def test_a_noise_that_does_not_suit() -> None:
    with pytest.raises(BudgetError):
        solve(ReleasePlan(EVERY[:1], noise="gaussian", delta=0.0))
    with pytest.raises(DomainError, match="None of the noises geometric suits"):
        solve(ReleasePlan((PlanAnswer("sum", "salary"),), COLUMNS, noise="geometric"))


def test_persons_and_their_records() -> None:
    text = "id,age\n" + "".join(
        f"{person},{age}\n" for person, age in [(1, 3), (2, 30), (1, 4), (1, 5), ("", 9), (3, 80)]
    )
    answers = (PlanAnswer("count", where="age < 18"), PlanAnswer("count", where="age >= 18"))
    plan = ReleasePlan(answers, records=2, person_column="id", delta=0.0)
    table = read_table(text.encode(), plan)
    assert table.rows == 4
    assert any(
        "1 persons have more than 2 records: 1 records beyond are left out (the first in row 4)" in note
        for note in table.notes
    )
    assert any("1 records without a person are left out (the first in row 5)" in note for note in table.notes)
    solution = solve(plan)
    assert [row.group_limit for row in solution.ledger.rows] == [1, 1]
    assert solution.noise(0).sensitivity == 2.0
    assert solution.noise(0).value == pytest.approx(1.0)


def test_signs_that_mix_are_not_joined_for_persons_who_are_replaced() -> None:
    answers = (PlanAnswer("sum", "x", where="g = a"), PlanAnswer("sum", "x", where="g = b"))
    columns = (PublicColumn("x", -1, 1),)
    one = ReleasePlan(answers, columns, relation="substitution", rows=9)
    several = ReleasePlan(answers, columns, relation="substitution", rows=9, records=2, person_column="id")
    assert [len(charge.places) for charge in charges(one)] == [2]
    assert [len(charge.places) for charge in charges(several)] == [1, 1]


@pytest.mark.parametrize(("relation", "copies"), [("add/remove", 1), ("substitution", 2)])
def test_choices_about_disjoint_records_are_charged_together(relation: str, copies: int) -> None:
    answers = tuple(PlanAnswer("quantile", "salary", where=f"department = {name}") for name in DEPARTMENTS)
    plan = ReleasePlan(answers, COLUMNS, relation=relation, rows=1200, delta=0.0)
    (charge,) = charges(plan)
    assert (len(charge.places), charge.copies) == (5, copies)
    solution = solve(plan)
    assert [row.group_limit for row in solution.ledger.rows] == [copies] * 5
    assert copies * solution.noise(0).value == pytest.approx(1.0, rel=1e-5)
    persons = ReleasePlan(answers, COLUMNS, relation=relation, rows=1200, records=2, person_column="id")
    assert len(charges(persons)) == 5


def test_a_condition_that_no_record_satisfies_gives_answers_all_the_same() -> None:
    answers = tuple(
        PlanAnswer(kind, column, where="years > 900")
        for kind, column in (
            ("quantile", "salary"), ("mean", "salary"), ("variance", "years"), ("top choice", "department"),
            ("histogram", "department"), ("sum", "salary"),
        )
    )  # fmt: skip
    release = plan_release(STAFF, ReleasePlan(answers, COLUMNS))
    frame = release.answers_frame()
    assert np.isfinite(frame.select_dtypes(float).to_numpy()).all()
    assert frame["halfwidth"][0] == pytest.approx(0.95 * 100_000)
    assert np.isfinite(release.cells_frame(np.random.default_rng(1))["simulated"]).all()


def test_a_bracket_that_misses_the_tolerance_costs_a_little_noise() -> None:
    answers = (
        PlanAnswer("top choice", "department", where="years < 5", weight=3.3),
        PlanAnswer("proportion", where="years < 5", among="years = 3"),
        PlanAnswer("proportion", where="salary > 60000", among="years = 3", weight=0.01),
    )
    plan = ReleasePlan(answers, COLUMNS, epsilon=0.021845031825279578, delta=1e-9)
    assert 0.98 * plan.epsilon < total(solve(plan).ledger, plan.delta).upper <= plan.epsilon

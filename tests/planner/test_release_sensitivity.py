"""How far one record moves the cells of every kind of answer: by all neighbours of all small tables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dpcore
from dpcore.mechanisms.exponential import Exponential
from dpcore.planner import PlanAnswer, PlanTable, PublicColumn, ReleasePlan, charges
from dpcore.planner.release.choices import ChoiceKind, Quantile, TopChoice
from dpcore.planner.release.kinds import CellKind
from dpcore.planner.release.noise import choice_expression

NAMES = ("a", "b")
COLUMNS = (
    PublicColumn("x", -1.0, 2.0),
    PublicColumn("y", 1.0, 3.0),
    PublicColumn("g", categories=NAMES),
)
# x, y and g of a record; nan and None are empty cells, 9 is outside the bounds
UNIVERSE = [
    (-1.0, 1.0, "a"), (2.0, 3.0, "a"), (0.5, 3.0, "b"), (9.0, 9.0, "c"), (math.nan, math.nan, "b"), (2.0, 1.0, None),
]  # fmt: skip
ANSWERS = [
    PlanAnswer("count", where="g = a"),
    PlanAnswer("count", where="x >= 0.5"),
    PlanAnswer("histogram", "g"),
    PlanAnswer("histogram", "x", bins=3),
    PlanAnswer("contingency", "g", by="x", bins=2),
    PlanAnswer("sum", "x"),
    PlanAnswer("sum", "y"),
    PlanAnswer("sum", "y", where="g = a"),
    PlanAnswer("sum", "x", where="g = a"),
    PlanAnswer("mean", "x"),
    PlanAnswer("mean", "y", where="g = a"),
    PlanAnswer("variance", "x"),
    PlanAnswer("variance", "y", where="g = b"),
    PlanAnswer("proportion", where="x > 0"),
    PlanAnswer("proportion", where="x > 0", among="g = a"),
]


def table_of(records: tuple[tuple[float, float, str | None], ...]) -> PlanTable:
    names = sorted({g for _, _, g in records if g is not None})
    codes = np.array([-1 if g is None else names.index(g) for _, _, g in records], dtype=np.int64)
    numbers = {"x": np.array([x for x, _, _ in records]), "y": np.array([y for _, y, _ in records])}
    return PlanTable(len(records), numbers, {"g": (codes, tuple(names))})


def neighbours(relation: str, size: int) -> list[tuple[tuple, tuple]]:
    """Return all pairs of tables with at most `size` records."""
    pairs = []
    if relation == "add/remove":
        for n in range(1, size):
            for records in itertools.combinations_with_replacement(UNIVERSE, n):
                pairs += [(records, (*records, one)) for one in UNIVERSE]
        return pairs
    for rest in itertools.combinations_with_replacement(UNIVERSE, size - 1):
        pairs += [((*rest, a), (*rest, b)) for a, b in itertools.permutations(UNIVERSE, 2)]
    return pairs


@pytest.mark.parametrize("relation", ["add/remove", "substitution"])
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.name)
def test_the_moves_of_all_neighbours(answer: PlanAnswer, relation: str) -> None:
    if answer.kind == "count" and not answer.where and relation == "substitution":
        pytest.skip("the number of records is public")
    plan = ReleasePlan((answer,), COLUMNS, relation=relation, rows=3 if relation == "substitution" else None)
    kind = answer.type
    assert isinstance(kind, CellKind)
    move, touched = kind.move(plan, answer), kind.touched(plan, answer)
    largest = 0.0
    for one, other in neighbours(relation, 3):
        change = kind.table(plan, answer, table_of(other)) - kind.table(plan, answer, table_of(one))
        gains, losses = change[change > 0].sum(), -change[change < 0].sum()
        if touched == 2:
            assert max(gains, losses) <= move * (1 + 1e-12)
            largest = max(largest, gains, losses)
        else:
            assert gains + losses <= move * (1 + 1e-12)
            largest = max(largest, gains + losses)
    loose = answer.kind == "variance" and relation == "substitution" and not answer.where
    assert largest == pytest.approx(move, rel=0.35 if loose else 1e-9)  # the variance needs an even split of the others


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_variance_of_a_public_number_moves_by_no_more(n: int) -> None:
    """All tables on a grid, one record replaced; the bound is attained by n - 1 equal records and one at the other end."""
    grid = np.linspace(0.0, 1.0, 5)
    largest = 0.0
    for rest in itertools.combinations_with_replacement(grid, n - 1):
        values = [np.var([*rest, x]) for x in grid]
        largest = max(largest, max(values) - min(values))
    assert largest == pytest.approx((n - 1) / n**2, rel=1e-12)


@pytest.mark.parametrize("relation", ["add/remove", "substitution"])
def test_parallel_answers_move_together_as_one(relation: str) -> None:
    answers = (PlanAnswer("sum", "y", where="g = a"), PlanAnswer("sum", "y", where="g = b"))
    plan = ReleasePlan(answers, COLUMNS, relation=relation, rows=3)
    (charge,) = charges(plan)
    assert charge.copies == (2 if relation == "substitution" else 1)
    move, largest = 3.0, 0.0
    for one, other in neighbours(relation, 3):
        before, after = (
            np.concatenate([answer.type.table(plan, answer, table_of(side)) for answer in answers])
            for side in (one, other)
        )
        change = after - before
        gains, losses = change[change > 0].sum(), -change[change < 0].sum()
        assert max(gains, losses) <= move
        assert charge.copies == 2 or gains + losses <= move
        largest = max(largest, gains + losses)
    assert largest == move * charge.copies


@pytest.mark.parametrize("relation", ["add/remove", "substitution"])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_scores_of_a_quantile(relation: str, level: float) -> None:
    answer = PlanAnswer("quantile", "y", level=level)
    plan = ReleasePlan((answer,), COLUMNS, relation=relation, rows=3)
    largest = 0.0
    for one, other in neighbours(relation, 4):
        losses = []
        for side in (one, other):
            values = table_of(side).values("y", answer.condition, (1.0, 3.0))
            cuts = np.array([1.0, 1.5, 2.0, 3.0])
            losses.append(np.abs((values[:, None] < cuts).sum(axis=0) - level * values.size))
        largest = max(largest, float(np.abs(losses[1] - losses[0]).max()))
    assert largest == pytest.approx(Quantile().move(plan, answer))


@pytest.mark.parametrize("relation", ["add/remove", "substitution"])
def test_the_choices_lose_no_more_than_their_region(relation: str) -> None:
    """Exact chances of a top choice on all neighbours: loss, range and total variation."""
    answer = PlanAnswer("top choice", "g")
    plan = ReleasePlan((answer,), COLUMNS, relation=relation, rows=3)
    kind, epsilon = answer.type, 0.8
    assert isinstance(kind, TopChoice)
    region = dpcore.parse(choice_expression(epsilon, rounding="outward"))
    for one, other in neighbours(relation, 4):
        p, q = (
            kind._chances(plan, answer, kind._counts(plan, answer, table_of(side)), epsilon) for side in (one, other)
        )
        loss = np.log(q / p)
        assert loss.max() - loss.min() <= epsilon * (1 + 1e-12)
        for at in (0.0, 0.2, 0.5):
            assert np.maximum(q - math.exp(at) * p, 0).sum() <= float(region.delta(at)) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0])
def test_the_region_of_a_choice_contains_the_worst_exponential_mechanism(epsilon: float) -> None:
    outer, inner = dpcore.parse(choice_expression(epsilon, rounding="")), Exponential(epsilon)
    for at in np.linspace(0.0, epsilon, 21):
        assert float(inner.delta(at)) <= float(outer.delta(at)) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ("laplace(0.9)", ["laplace(0.3)", "laplace(0.6)"]),
        ("laplace(1.2)", ["laplace(0.4)", "laplace(0.4)", "laplace(0.4)"]),
        ("geometric(0.6, 2)", ["geometric(0.3)", "geometric(0.3)"]),
        ("geometric(1.5, 3)", ["geometric(0.5)", "geometric(1, 2)"]),
        ("gaussian(1, 3)", ["gaussian(1)", "gaussian(1, 2)"]),
    ],
)
def test_moves_of_several_cells_reveal_no_more_than_their_sum_in_one(whole: str, parts: list[str]) -> None:
    """The lemma of `kinds`, for each noise with a log-concave law."""
    together, one = dpcore.parse(" * ".join(parts)), dpcore.parse(whole)
    for at in np.linspace(0.0, 1.5, 16):
        assert float(together.delta_bounds(np.array([at]))[0][0]) <= float(one.delta(at)) + 1e-12


def test_every_kind_of_answer_is_a_table_of_cells_or_a_choice() -> None:
    for answer in ANSWERS:
        assert isinstance(answer.type, CellKind | ChoiceKind)

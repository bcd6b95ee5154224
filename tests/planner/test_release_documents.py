"""Plans as texts, typed answers, conditions, and files that are wrong: one sentence with the row and the reason."""

from __future__ import annotations

from typing import Any

import pytest

from dpcore.core.errors import DomainError
from dpcore.planner import (
    PlanAnswer,
    PublicColumn,
    ReleasePlan,
    charges,
    parse_answer,
    parse_condition,
    plan_from_json,
    plan_from_toml,
    plan_release,
    plan_to_json,
    plan_to_toml,
    read_plan,
)
from dpcore.planner.release.conditions import excluding_column

PLAN = ReleasePlan(
    (
        PlanAnswer("count", where='`my column` = "a \\ b" and x in [1, 2]', label="naïve | label"),
        PlanAnswer("quantile", "x", level=0.25, weight=2.5, scale=3.0, size=12),
        PlanAnswer("contingency", "x", by="g", bins=7),
        PlanAnswer("proportion", where="x > -1e3", among="g != a"),
    ),
    (PublicColumn("x", -1.5, 1e9), PublicColumn("g", categories=("a", "b c", "É"))),
    epsilon=0.1 + 0.2,
    delta=1e-9,
    relation="substitution",
    records=3,
    person_column="whose",
    rows=77,
    split="worst error",
    noise="laplace, gaussian",
)


def test_a_plan_reads_back_from_its_texts() -> None:
    for plan in (PLAN, ReleasePlan((PlanAnswer("count"),), mu=0.3)):
        assert plan_from_toml(plan_to_toml(plan)) == plan
        assert plan_from_json(plan_to_json(plan)) == plan
        assert read_plan(plan_to_toml(plan)) == read_plan(plan_to_json(plan)) == plan
        assert hash(plan) == hash(read_plan(plan_to_json(plan)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("epsilon = 1", "The plan lacks answers."),
        ('espilon = 1\n[[answers]]\nkind = "count"', "did you mean epsilon?"),
        ('[[answers]]\nkind = "cont"', "Did you mean count?"),
        ('[[answers]]\nkind = "mean"', "A mean needs column."),
        ('[[answers]]\nkind = "mean"\ncolumn = "x"', "Nothing public is stated about column 'x'"),
        ("[[answers]]\nkind = 3", "kind in number 1 of answers must be a text, got 3."),
        ("answers = 3", "answers of a plan must be a list of tables, got 3."),
        (
            '[[columns]]\nname = "x"\nlower = 3\nupper = 1\n[[answers]]\nkind = "count"',
            "must be below the upper bound, got 3 and 1",
        ),
        ('[[columns]]\nname = "x"\nlower = 3\n[[answers]]\nkind = "count"', "needs a lower and an upper bound"),
        (
            '[[columns]]\nname = "g"\ncategories = ["a"]\n[[answers]]\nkind = "count"\nwhere = "g = z"',
            "'z' is not among the declared",
        ),
        (
            '[[columns]]\nname = "g"\ncategories = ["a"]\n[[answers]]\nkind = "mean"\ncolumn = "g"',
            "choose a column of numbers",
        ),
        ('epsilon = -1\n[[answers]]\nkind = "count"', "epsilon must be"),
        ('delta = 1\n[[answers]]\nkind = "count"', "delta must be"),
        ('records = 2\n[[answers]]\nkind = "count"', "name the column that says which person a record belongs to"),
        ('relation = "swap"\n[[answers]]\nkind = "count"', "relation must be one of"),
        ('noise = "pink"\n[[answers]]\nkind = "count"', "noise must be one of"),
        ('relation = "substitution"\n[[answers]]\nkind = "count"', "the number of all records is public"),
        ("= 3", "The plan cannot be read as TOML"),
        ("{", "The plan cannot be read as JSON"),
        ('[[answers]]\nkind = "count"\nwhere = "a"', "The condition 'a' cannot be read"),
    ],
)
def test_wrong_plans_are_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(DomainError) as caught:
        read_plan(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("count", {"kind": "count"}),
        ("count where a = 1 and b = 2", {"kind": "count", "where": "a = 1 and b = 2"}),
        ("mean of salary", {"kind": "mean", "column": "salary"}),
        ("sum hours worked weight 2", {"kind": "sum", "column": "hours worked", "weight": 2.0}),
        ("median of age where sex = F", {"kind": "quantile", "column": "age", "where": "sex = F"}),
        ("quantile of age level 0.9", {"kind": "quantile", "column": "age", "level": 0.9}),
        ("top choice of party", {"kind": "top choice", "column": "party"}),
        ("histogram age bins 7 label by where", {"kind": "histogram", "column": "age", "bins": 7, "label": "by where"}),
        ("contingency of a by b", {"kind": "contingency", "column": "a", "by": "b"}),
        ("proportion where x > 3 among y = 1", {"kind": "proportion", "where": "x > 3", "among": "y = 1"}),
        ('count where a = "x where y"', {"kind": "count", "where": 'a = "x where y"'}),
    ],
)
def test_typed_answers(text: str, fields: dict[str, Any]) -> None:
    assert parse_answer(text) == PlanAnswer(**fields)


@pytest.mark.parametrize("text", ["", "mena of x", "mean of x level 0.5 level 0.6", "quantile of x level two", "mean"])
def test_wrong_answers(text: str) -> None:
    with pytest.raises(DomainError):
        parse_answer(text)


@pytest.mark.parametrize(
    ("one", "other", "column"),
    [
        ("a < 3", "a >= 3", "a"),
        ("a <= 3", "a >= 3", ""),
        ("a <= 3 and a != 3", "a >= 3", "a"),
        ("a = 1", "a > 1", "a"),
        ("a in [1, 2]", "a in [3, 4]", "a"),
        ("a in [1, 2]", "a in [2, 3]", ""),
        ("a in [1, 2] and a > 1", "a = 1", "a"),
        ("g = x", "g = y", "g"),
        ("g = x", "g != x", "g"),
        ("g != x", "g != y", ""),
        ("g = x", "h = y", ""),
        ("g = x and a < 1", "g = x and a > 1", "a"),
        ("", "g = x", ""),
        ('g = "1"', "g = 1", ""),
    ],
)
def test_conditions_that_exclude_each_other(one: str, other: str, column: str) -> None:
    for first, second in ((one, other), (other, one)):
        assert excluding_column(parse_condition(first), parse_condition(second)) == column


def test_groups_are_apart_on_one_column() -> None:
    def places(*texts: str) -> list[tuple[int, ...]]:
        return [
            charge.places for charge in charges(ReleasePlan(tuple(PlanAnswer("count", where=text) for text in texts)))
        ]

    assert places("g = x", "g = y", "g = z") == [(0, 1, 2)]
    assert places("g = x", "h = y", "g = y", "h = z") == [(0, 2), (1, 3)]
    assert places("g = x", "g = x") == [(0,), (1,)]
    assert places("a < 1", "a >= 1 and g = x", "a >= 1 and g = y") == [
        (0, 1),
        (2,),
    ]  # the third is apart on another column
    assert places("", "g = x") == [(0,), (1,)]


def test_conditions_are_never_run() -> None:
    for text in (
        "__import__('os').system('x')",
        "a = 1; b",
        "(a = 1)",
        "a = 1 or b = 2",
        "a == lambda",
        "not a = 1",
        "a = 1 and",
    ):
        try:
            parsed = parse_condition(text)
        except DomainError:
            continue
        assert parse_condition(parsed.text) == parsed


COLUMNS = (PublicColumn("x", 0, 10), PublicColumn("g", categories=("a", "b")))
ANSWERS = (PlanAnswer("mean", "x"), PlanAnswer("count", where="g = a"), PlanAnswer("top choice", "g"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,g\n", "0 rows of data"),
        ("", "The file has no row"),
        ("x\n1\n", "there is no column 'g'"),
        ("x,g\nhello,a\nworld,b\n", "of its 2 rows, 2 not a number (the first in row 1: 'hello')"),
        ("x,g\n,a\nNA,b\n", "of its 2 rows, 2 empty (the first in row 1)"),
        ("x,g\n1,\n2,\n", "Column 'g' has no text: all its 2 rows are empty."),
    ],
)
def test_wrong_files_are_refused_with_row_and_reason(text: str, words: str) -> None:
    with pytest.raises(DomainError) as caught:
        plan_release(text.encode(), ReleasePlan(ANSWERS, COLUMNS))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("x,g\n1,a\nabc,b\n,a\n", "1 not a number (the first in row 2: 'abc'), 1 empty (the first in row 3)"),
        ("x;g\n1,5;a\n2.5;b\n", ""),
        ("x,g\n5,a\n", ""),
        (
            "x,g\n5,a\n5,b\n5,zzz\n",
            "1 answer of column 'g' not declared (the first in row 3: 'zzz')",
        ),
        ("x,g\n5,a\n6,\n", "1 empty cell in column 'g'"),
        ("x,g\n99,a\n-99,b\n", ""),
    ],
)
def test_odd_files_are_read_and_nothing_is_lost_silently(text: str, note: str) -> None:
    for relation in ("add/remove", "substitution"):
        release = plan_release(text.encode(), ReleasePlan(ANSWERS, COLUMNS, relation=relation))
        assert not release.answers_frame().isna().any(axis=None)
        assert note in " ".join(release.table.notes)
        assert release.table.rows == text.count("\n") - 1


@pytest.mark.parametrize("bad", ["a\rimport os", "a\n```", "a\x00b", "a\u2028b"])
def test_names_stand_on_one_line(bad: str) -> None:
    """A label ends up in a comment of a program, a cell of a ledger and a report."""
    for make in (
        lambda: PlanAnswer("count", label=bad),
        lambda: PlanAnswer("mean", bad),
        lambda: PlanAnswer("count", where=f'g = "{bad}"'),
        lambda: PlanAnswer("count", where=f"`{bad}` = 1"),
        lambda: PublicColumn(bad, 0, 1),
        lambda: ReleasePlan((PlanAnswer("count"),), records=2, person_column=bad),
    ):
        with pytest.raises(DomainError):
            make()

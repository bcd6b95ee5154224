"""A plan for a release: who is protected, what is public, which answers are given and how they share the budget.

A plan holds public facts only. Everything that decides the noise follows from it, never from the data: a noise chosen by
looking at the data would itself reveal something about them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from dpcore.core.domains import COUNT, DELTA, EPSILON, MU, POSITIVE, REAL
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import numeral
from dpcore.core.parameter import one_of, value_text
from dpcore.core.registry import RELATIONS
from dpcore.planner.release.conditions import Condition, parse_condition
from dpcore.utility.dataset import OTHER
from dpcore.utility.reading import declared

if TYPE_CHECKING:
    from dpcore.planner.release.kinds import AnswerKind

_, SUBSTITUTION, ADD_REMOVE = RELATIONS
WEIGHTS, EQUAL, WORST = "weights", "equal error", "worst error"
SPLITS: Final = (WEIGHTS, EQUAL, WORST)
MOST_ANSWERS: Final = 100
MOST_BINS: Final = 1000
LONGEST_LABEL: Final = 200
MISS: Final = 0.05  # share of intervals that miss the true answer
_RECORDS = COUNT.but(name="records", high=10**6, meaning="records of one person at most")
_ROWS = COUNT.but(name="rows", high=10**9, meaning="number of records")
_WEIGHT = POSITIVE.but(name="weight", low=1e-6, high=1e6, low_open=False)
_LEVEL = REAL.but(name="level", low=0.0, high=1.0, low_open=True, high_open=True)
_BINS = COUNT.but(name="bins", low=2, high=MOST_BINS)


@dataclass(frozen=True)
class PublicColumn:
    """What is known about a column without looking at the data: bounds of numbers, or the list of categories.

    Parameters
    ----------
    name : str
        The column.
    lower, upper : float, optional
        Bounds of numbers; values outside are moved to the nearer bound.
    categories : tuple of str, default ()
        The answers there may be. All others are counted as ``other``, which always exists.
    from_data : bool, default False
        Whether they were read off the data after all. Then no noise protects them, and reports say so.

    Examples
    --------
    >>> PublicColumn("salary", 0, 200_000).span
    200000.0
    """

    name: str
    lower: float | None = None
    upper: float | None = None
    categories: tuple[str, ...] = ()
    from_data: bool = False

    def __post_init__(self) -> None:
        """Check the bounds or the categories."""
        if not str(self.name).strip() or not str(self.name).isprintable():
            msg = f"A column needs a name on one line, got {value_text(self.name)}."
            raise DomainError(msg)
        if self.categories:
            if self.lower is not None or self.upper is not None:
                msg = (
                    f"Column {value_text(self.name)} has bounds and categories; it holds numbers or answers, not both."
                )
                raise DomainError(msg)
            object.__setattr__(self, "categories", declared(self.categories))
            return
        if self.lower is None or self.upper is None:
            msg = f"Column {value_text(self.name)} needs a lower and an upper bound, or categories, known without the data."
            raise DomainError(msg)
        low, high = (REAL.but(name=f"{end} of {self.name}").check(getattr(self, end)) for end in ("lower", "upper"))
        if not low < high:
            msg = f"The lower bound of {value_text(self.name)} must be below the upper bound, got {numeral(low)} and {numeral(high)}."
            raise DomainError(msg)
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of numbers."""
        if self.lower is None or self.upper is None:
            msg = f"{value_text(self.name)} holds answers such as {value_text(self.categories[0])}: choose a column of numbers."
            raise DomainError(msg)
        return self.lower, self.upper

    @property
    def span(self) -> float:
        """Upper minus lower bound."""
        low, high = self.bounds
        return high - low

    @property
    def names(self) -> tuple[str, ...]:
        """The categories, including the one for all other answers."""
        if not self.categories:
            msg = f"{value_text(self.name)} holds numbers; declare categories to use it as answers."
            raise DomainError(msg)
        return self.categories if OTHER in self.categories else (*self.categories, OTHER)


@dataclass(frozen=True)
class PlanAnswer:
    """One answer of a plan.

    Parameters
    ----------
    kind : str
        ``count``, ``histogram``, ``sum``, ``mean``, ``proportion``, ``variance``, ``contingency``, ``quantile`` or
        ``top choice``.
    column : str, default ""
        The column it is about; empty for a count or a proportion.
    where : str, default ""
        The condition of the records it is about; of a proportion, the condition whose share is published.
    label : str, default ""
        Its name; if empty, one is generated.
    among : str, default ""
        Of a proportion: the condition of the records among which the share is taken; empty for all.
    by : str, default ""
        Of a contingency table: the second column.
    bins : int, default 10
        Of a histogram of numbers: the number of equal bins between the bounds.
    level : float, default 0.5
        Of a quantile: which one; 0.5 is the median.
    weight : float, default 1
        For the split by weights: with twice the weight the noise is half as wide.
    scale : float, optional
        For the split by worst error: the error, in the units of the answer, that counts as 1; by default the largest
        value (or span) the answer can have with `size` records.
    size : int, optional
        A public guess of how many records it is about, by default `ReleasePlan.rows`. It only helps split the budget.
    """

    kind: str
    column: str = ""
    where: str = ""
    label: str = ""
    among: str = ""
    by: str = ""
    bins: int = 10
    level: float = 0.5
    weight: float = 1.0
    scale: float | None = None
    size: int | None = None
    condition: Condition = field(init=False, repr=False, compare=False)
    base: Condition = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check every field; conditions are parsed once."""
        from dpcore.planner.release.catalogue import KINDS  # noqa: PLC0415  the kinds know this class

        one_of("kind", KINDS).check(self.kind)
        for name in ("column", "label", "by"):
            value = getattr(self, name)
            if not isinstance(value, str) or len(value) > LONGEST_LABEL or not value.isprintable():
                msg = (
                    f"{name} must be a text of at most {LONGEST_LABEL} characters on one line, got {value_text(value)}."
                )
                raise DomainError(msg)
        _BINS.check(self.bins)
        object.__setattr__(self, "level", _LEVEL.check(self.level))
        object.__setattr__(self, "weight", _WEIGHT.check(self.weight))
        if self.scale is not None:
            object.__setattr__(self, "scale", POSITIVE.but(name="scale").check(self.scale))
        if self.size is not None:
            _ROWS.but(name="size").check(self.size)
        object.__setattr__(self, "condition", parse_condition(self.where))
        object.__setattr__(self, "base", parse_condition(self.among))
        KINDS[self.kind].check_fields(self)

    @property
    def type(self) -> AnswerKind:
        """What is known about this kind of answer."""
        from dpcore.planner.release.catalogue import KINDS  # noqa: PLC0415  the kinds know this class

        return KINDS[self.kind]

    @property
    def records(self) -> Condition:
        """The condition of the records that may move the answer."""
        return self.base if self.kind == "proportion" else self.condition

    @property
    def name(self) -> str:
        """Its label, or what it is."""
        return self.label or self.type.words(self)


@dataclass(frozen=True)
class ReleasePlan:
    """Everything that is public about a release.

    Parameters
    ----------
    answers : tuple of PlanAnswer
        What is published.
    columns : tuple of PublicColumn, default ()
        What is public about the columns.
    epsilon, delta : float, default 1 and 1e-6
        The budget for all answers together.
    mu : float, optional
        The budget as Gaussian privacy; then epsilon is not used, and delta says where an epsilon is stated.
    relation : str, default "add/remove"
        Neighbouring tables: ``add/remove`` of one record, or ``substitution``, where the number of records is the same.
    records : int, default 1
        The most records that one person may have; 1 protects single records.
    person_column : str, default ""
        The column that says which person a record belongs to; needed if `records` is above 1. Records beyond `records` of one person
        are left out.
    rows : int, optional
        The number of records, if it is public. Under substitution it is the number of records itself and makes
        means and shares more accurate. Under add/remove it is a guess that only helps to split the budget.
    split : str, default "weights"
        How the budget is shared: by the weights of the answers, ``equal error`` (the same error in the units of each
        answer), or ``worst error`` (the largest error, divided by the scale of its answer, is as small as possible).
        Errors are standard deviations of the noise.
    noise : str, default ""
        The noises that may be used, such as ``laplace, gaussian``; empty for all that are registered.

    Examples
    --------
    >>> plan = ReleasePlan(
    ...     (PlanAnswer("count", where="department = IT"), PlanAnswer("mean", "salary")),
    ...     (PublicColumn("salary", 0, 200000),),
    ... )
    >>> plan.answers[1].name
    'mean of salary'
    """

    answers: tuple[PlanAnswer, ...]
    columns: tuple[PublicColumn, ...] = ()
    epsilon: float = 1.0
    delta: float = 1e-6
    mu: float | None = None
    relation: str = ADD_REMOVE
    records: int = 1
    person_column: str = ""
    rows: int | None = None
    split: str = WEIGHTS
    noise: str = ""

    def __post_init__(self) -> None:
        """Check every field, and every answer against the columns."""
        object.__setattr__(self, "answers", tuple(self.answers))
        object.__setattr__(self, "columns", tuple(self.columns))
        if not 1 <= len(self.answers) <= MOST_ANSWERS:
            msg = f"A plan has 1 to {MOST_ANSWERS} answers, got {len(self.answers)}."
            raise DomainError(msg)
        object.__setattr__(self, "epsilon", EPSILON.but(low_open=True, infinite=False).check(self.epsilon))
        object.__setattr__(self, "delta", DELTA.but(high_open=True).check(self.delta))
        if self.mu is not None:
            object.__setattr__(self, "mu", MU.but(low_open=True, infinite=False).check(self.mu))
        one_of("relation", RELATIONS[1:]).check(self.relation)
        one_of("split", SPLITS).check(self.split)
        _RECORDS.check(self.records)
        if self.rows is not None:
            _ROWS.check(self.rows)
        if not self.person_column.isprintable():
            msg = f"person_column must be a name on one line, got {value_text(self.person_column)}."
            raise DomainError(msg)
        if self.records > 1 and not self.person_column:
            msg = f"One person has up to {self.records} records: name the column that says which person a record belongs to."
            raise DomainError(msg)
        if self.noise:
            from dpcore.planner.release.noise import offered_names  # noqa: PLC0415  only if one is named

            for name in self.noises:
                one_of("noise", offered_names()).check(name)
        names = [column.name for column in self.columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            msg = f"Column {value_text(twice)} is described {names.count(twice)} times; once is enough."
            raise DomainError(msg)
        for place, answer in enumerate(self.answers, start=1):
            try:
                self._check_condition(answer.condition)
                self._check_condition(answer.base)
                answer.type.check(self, answer)
            except DomainError as error:
                msg = f"Answer {place} ({answer.name}): {error}"
                raise DomainError(msg) from None

    def _check_condition(self, condition: Condition) -> None:
        for one in condition.comparisons:
            column = self._by_name.get(one.column)
            if column is None:
                continue
            if bool(column.categories) != one.is_text:
                what = "text" if column.categories else "numbers"
                msg = f"Column {value_text(one.column)} holds {what}, but {one.text} compares it with {value_text(one.values[0])}."
                raise DomainError(msg)
            unknown = next((value for value in one.values if column.categories and value not in column.names), None)
            if unknown is not None:
                known = ", ".join(column.names)
                msg = f"{value_text(unknown)} is not among the declared categories of {value_text(one.column)}: {known[:200]}."
                raise DomainError(msg)

    @property
    def noises(self) -> tuple[str, ...]:
        """The names of the noises that may be used; empty for all."""
        return tuple(name.strip() for name in self.noise.split(",")) if self.noise.strip() else ()

    @Lazy
    def _by_name(self) -> dict[str, PublicColumn]:
        return {column.name: column for column in self.columns}

    def column(self, name: str) -> PublicColumn:
        """Return what is public about a column; raise if nothing is."""
        if name not in self._by_name:
            known = ", ".join(self._by_name) or "none"
            msg = f"Nothing public is stated about column {value_text(name)} (stated: {known[:200]}): give its bounds or categories."
            raise DomainError(msg)
        return self._by_name[name]

    def known_rows(self, answer: PlanAnswer) -> int | None:
        """Return the number of records an answer divides by if all neighbouring tables have it; None if it is protected."""
        if self.relation != SUBSTITUTION or answer.records:
            return None
        if self.rows is None:
            msg = "Under substitution the number of records is public: state it as rows."
            raise DomainError(msg)
        return self.rows

    def size(self, answer: PlanAnswer) -> int:
        """Return the public guess of how many records an answer is about."""
        size = answer.size if answer.size is not None else self.rows
        if size is None:
            msg = (
                f"To share out the budget by errors, the error of {value_text(answer.name)} needs a public guess of the number of "
                "records: state rows (or size of the answer). It must not be counted from the data."
            )
            raise DomainError(msg)
        return size

    def with_rows(self, rows: int) -> ReleasePlan:
        """Return the plan for this many records; what was stated stays."""
        return self if self.rows is not None else replace(self, rows=rows)

"""A ledger: the releases made about the same people, one row each, and the region of all of them together."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from dpcore.core.domains import COUNT
from dpcore.core.errors import DomainError, RelationError
from dpcore.core.notices import collected, notice
from dpcore.core.registry import RELATIONS, shown
from dpcore.language import parse
from dpcore.language.numbers import read_value
from dpcore.ledger.groups import group_factors
from dpcore.regions.algebra import Assume, Power, factors
from dpcore.regions.tradeoff import shorten
from dpcore.theorems.releases import composed
from dpcore.words import grouped

if TYPE_CHECKING:
    from dpcore.regions.algebra import Factors
    from dpcore.regions.tradeoff import TradeOff

COLUMNS = ("label", "expression", "count", "date", "note", "group", "group_limit")
NEEDED = COLUMNS[:3]
MOST_ROWS = 100_000
LARGEST_COUNT = 10**15
LONGEST_TEXT = 2000
_COUNT = COUNT.but(name="count", high=LARGEST_COUNT)
_LIMIT = COUNT.but(name="group_limit", high=MOST_ROWS)


@dataclass(frozen=True)
class Release:
    """One row: `count` releases whose regions are `expression`.

    Parameters
    ----------
    label : what was released.
    expression : the region of one release, in the language of `dpcore.language.parse`.
    count : how many such releases, from 1 to 10^15; each has its own noise.
    date, note : free text.
    group : rows with the same non-empty group act on disjoint parts of the data.
    group_limit : how many rows of the group the data of one person touch at most; None leaves it to the other rows of
        the group, and is 1 if none of them says more.
    extra : further columns, (name, value); they are kept and mean nothing here.
    quiet : do not warn of a value that was clamped; `told` says it in any case.
    """

    label: str
    expression: str
    count: int = 1
    date: str = ""
    note: str = ""
    group: str = ""
    group_limit: int | None = None
    extra: tuple[tuple[str, Any], ...] = ()
    region: TradeOff = field(init=False, repr=False, compare=False)
    told: tuple[str, ...] = field(init=False, repr=False, compare=False)
    quiet: InitVar[bool] = False

    def __post_init__(self, quiet: bool) -> None:
        """Check every field; the expression is read once."""
        for name in ("label", "expression", "date", "note", "group"):
            value = getattr(self, name)
            if not isinstance(value, str) or (name != "expression" and len(value) > LONGEST_TEXT):
                msg = f"{name} must be a text of at most {LONGEST_TEXT} characters, got {shown(value)}."
                raise DomainError(msg)
        object.__setattr__(self, "count", read_value(_COUNT, self.count))
        if self.group_limit is not None:
            object.__setattr__(self, "group_limit", read_value(_LIMIT, self.group_limit))
        object.__setattr__(self, "group", " ".join(self.group.split()))
        region, told = _region(self.expression)
        object.__setattr__(self, "region", region)
        object.__setattr__(self, "told", told)
        for words in () if quiet else told:
            notice(words, stacklevel=3)

    @property
    def composed(self) -> TradeOff:
        """The region of all releases of the row."""
        return self.region if self.count == 1 else Power(self.region, self.count)


@lru_cache(maxsize=256)
def _region(text: str) -> tuple[TradeOff, tuple[str, ...]]:
    """Return the region of an expression and what the language warned about; equal rows share it."""
    if not text.strip():
        msg = "expression is empty; write a region such as laplace(0.1) or dp(1, 1e-6)."
        raise DomainError(msg)
    with collected() as notices:
        region = parse(text)
    return region, tuple(notices)


@dataclass(frozen=True)
class Ledger:
    """Rows in their order, and the neighbouring relation if it was stated by hand.

    Parameters
    ----------
    rows : the releases, at most 100 000 rows.
    relation : ``substitution`` or ``add/remove`` says under which relation all rows hold; empty takes it from the rows,
        and rows that disagree are refused when a number is asked for.

    Examples
    --------
    >>> ledger = Ledger.of(("counts", "laplace(0.1)", 10), ("mean", "gaussian(5)", 2))
    >>> str(ledger.region)
    'laplace(0.1)^10 * gaussian(5.0)^2'
    """

    rows: tuple[Release, ...] = ()
    relation: str = ""

    def __post_init__(self) -> None:
        """Check the number of rows and the name of the relation."""
        if len(self.rows) > MOST_ROWS:
            msg = f"A ledger holds at most {grouped(MOST_ROWS)} rows, got {grouped(len(self.rows))}."
            raise DomainError(msg)
        if self.relation not in ("", *RELATIONS[1:]):
            msg = f"relation must be empty, {' or '.join(RELATIONS[1:])}, got {shown(self.relation)}."
            raise DomainError(msg)

    @classmethod
    def of(cls, *rows: Release | tuple[Any, ...], relation: str = "") -> Ledger:
        """Return the ledger of some rows, each a release or its (label, expression, count, ...)."""
        return cls(tuple(row if isinstance(row, Release) else Release(*row) for row in rows), relation)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def name(self, row: int) -> str:
        """Return how a message names a row: its number from 1, its label and its expression."""
        release = self.rows[row]
        label = f"{shorten(release.label, 40)}: " if release.label.strip() else ""
        return f"Row {row + 1} ({label}{shorten(str(release.region), 60)})"

    def without(self, row: int) -> Ledger:
        """Return the ledger less one row (counted from 0)."""
        self.check(row)
        return replace(self, rows=(*self.rows[:row], *self.rows[row + 1 :]))

    def with_count(self, row: int, count: int) -> Ledger:
        """Return the ledger with another count in one row (counted from 0)."""
        self.check(row)
        changed = replace(self.rows[row], count=count, quiet=True)
        return replace(self, rows=(*self.rows[:row], changed, *self.rows[row + 1 :]))

    def check(self, row: int) -> None:
        """Refuse a row that is not there."""
        if not 0 <= row < len(self.rows):
            msg = f"The ledger has rows 1 to {len(self.rows)}, got row {row + 1}."
            raise DomainError(msg)

    @cached_property
    def memory(self) -> dict[Any, Any]:
        """What was computed about this ledger before; it is forgotten together with it."""
        return {}

    # ---- what the rows are together --------------------------------------------------------------------------

    @cached_property
    def neighbours(self) -> str:
        """The relation of all rows: the one stated, else the one they share; rows that disagree are an error."""
        if self.relation:
            return self.relation
        first: dict[str, int] = {}
        for row, release in enumerate(self.rows):
            if release.region.neighbours != "any":
                first.setdefault(release.region.neighbours, row)
        if len(first) > 1:
            (one, a), (two, b) = first.items()
            msg = (
                f"{self.name(a)} speaks of {one} neighbours and {self.name(b)} of {two} neighbours; state the relation "
                f"under which all rows hold, {one} or {two}."
            )
            raise RelationError(msg)
        return next(iter(first), "any")

    @cached_property
    def assumed(self) -> tuple[int, ...]:
        """The rows (from 0) whose own relation is another one than the one stated by hand."""
        return tuple(
            row for row, release in enumerate(self.rows) if release.region.neighbours not in ("any", self.neighbours)
        )

    @cached_property
    def groups(self) -> dict[str, list[int]]:
        """The rows (from 0) of each parallel group."""
        found: dict[str, list[int]] = {}
        for row, release in enumerate(self.rows):
            if release.group:
                found.setdefault(release.group, []).append(row)
        return found

    def limit(self, group: str) -> int:
        """Return how many rows of a group the data of one person touch at most."""
        stated = [(row, limit) for row in self.groups[group] if (limit := self.rows[row].group_limit) is not None]
        for row, limit in stated[1:]:
            if limit != stated[0][1]:
                msg = (
                    f"{self.name(stated[0][0])} says that one person is in at most {stated[0][1]} rows of group "
                    f"{shown(group)}, {self.name(row)} says {limit}; state one number."
                )
                raise DomainError(msg)
        return stated[0][1] if stated else 1

    def parts(self, row: int) -> Factors:
        """Return the atoms of one row with their counts, under the relation of the ledger."""
        release = self.rows[row]
        return [(self._stated(node), count * release.count) for node, count in factors(release.region)]

    def member(self, row: int) -> TradeOff:
        """Return the region of all releases of one row, under the relation of the ledger."""
        return composed(self.parts(row))

    def _stated(self, node: TradeOff) -> TradeOff:
        return node if node.neighbours in ("any", self.neighbours) else Assume(node, self.neighbours)

    @cached_property
    def factors(self) -> Factors:
        """What is composed: different atoms with their counts, equal ones of all rows joined, groups by their worst rows."""
        listed: Factors = []
        for row, release in enumerate(self.rows):
            if not release.group:
                listed += self.parts(row)
        for group, rows in self.groups.items():
            for region in group_factors([self.member(row) for row in rows], self.limit(group)):
                listed += factors(region)
        found: dict[str, tuple[TradeOff, int]] = {}
        for node, count in listed:
            old = found.get(node.text)
            found[node.text] = (node, count) if old is None else (old[0], old[1] + count)
        return list(found.values())

    @cached_property
    def region(self) -> TradeOff:
        """The region of the whole ledger; perfect privacy where it has no row."""
        return composed(self.factors)

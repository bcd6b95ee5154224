"""A ledger: the releases about the same people, one row each, and the region of all of them together."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpcore.core.domains import COUNT
from dpcore.core.errors import DomainError, RelationError
from dpcore.core.lazy import Lazy
from dpcore.core.notices import collected, notice
from dpcore.core.registry import RELATIONS, value_text
from dpcore.language import parse
from dpcore.language.numbers import read_value
from dpcore.ledger.groups import group_factors
from dpcore.regions.algebra import Assume, Power, factors
from dpcore.regions.custom import CustomRegion
from dpcore.regions.tradeoff import shorten
from dpcore.theorems.releases import composed
from dpcore.words import grouped

if TYPE_CHECKING:
    from dpcore.regions.algebra import Factors
    from dpcore.regions.tradeoff import TradeOff

COLUMNS = ("label", "expression", "count", "date", "note", "group", "group_limit")
"""Columns of the file of a ledger."""
REQUIRED = COLUMNS[:3]
MOST_ROWS = 100_000
LARGEST_COUNT = 10**15  # integers beyond 2^53 are no longer exact as doubles
LONGEST_TEXT = 2000  # characters of a label or a note
_COUNT = COUNT.but(name="count", high=LARGEST_COUNT)
_, SUBSTITUTION, ADD_REMOVE = RELATIONS
_LIMIT = COUNT.but(name="group_limit", high=MOST_ROWS)


class WholeLedger(CustomRegion):
    """All releases of a ledger together, where no expression says so: of groups, or of a long list."""

    @property
    def theorem(self) -> str:
        """How the releases are composed."""
        return self.source.method


@dataclass(frozen=True)
class Release:
    """One row: `count` releases whose regions are `expression`.

    Parameters
    ----------
    label : str
        What was released.
    expression : str
        The region of one release, in the language of `dpcore.language.parse`.
    count : int, default 1
        How many such releases, from 1 to 10^15; each has its own noise.
    date, note : str, default ""
        Free text.
    group : str, default ""
        Rows with the same non-empty group act on disjoint parts of the data.
    group_limit : int, optional
        How many rows of the group the data of one person touch at most. None takes it from the other rows of the
        group. If no row states it, it is 1 for add/remove neighbours, and 2 for substitution: a record that is replaced may
        leave one part and enter another.
    extra : tuple of tuple of (str, object), default ()
        Further columns, (name, value); they are kept and have no effect.
    quiet : bool, default False
        Do not warn about a clamped value; it is in `messages` in any case.
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
    messages: tuple[str, ...] = field(init=False, repr=False, compare=False)
    quiet: InitVar[bool] = False

    def __post_init__(self, quiet: bool) -> None:
        """Check every field; the expression is read once."""
        for name in ("label", "expression", "date", "note", "group"):
            value = getattr(self, name)
            if not isinstance(value, str) or (name != "expression" and len(value) > LONGEST_TEXT):
                msg = f"{name} must be a text of at most {LONGEST_TEXT} characters, got {value_text(value)}."
                raise DomainError(msg)
        object.__setattr__(self, "count", read_value(_COUNT, self.count))
        if self.group_limit is not None:
            object.__setattr__(self, "group_limit", read_value(_LIMIT, self.group_limit))
        object.__setattr__(self, "group", " ".join(self.group.split()))
        region, messages = _region(self.expression)
        object.__setattr__(self, "region", region)
        object.__setattr__(self, "messages", messages)
        for words in () if quiet else messages:
            notice(words, stacklevel=3)

    @property
    def composed(self) -> TradeOff:
        """The region of all releases of the row."""
        return self.region if self.count == 1 else Power(self.region, self.count)


@lru_cache(maxsize=256)
def _region(text: str) -> tuple[TradeOff, tuple[str, ...]]:
    """Return the region of an expression and the warnings of the language; equal rows share it."""
    if not text.strip():
        msg = "expression is empty; write a region such as laplace(0.1) or dp(1, 1e-6)."
        raise DomainError(msg)
    with collected() as notices:
        region = parse(text)
    return region, tuple(notices)


@dataclass(frozen=True)
class Ledger:
    """Rows in their order, and the neighbouring relation if it was stated explicitly.

    Parameters
    ----------
    rows : tuple of Release, default ()
        The releases, at most 100 000 rows.
    relation : str, default ""
        ``substitution`` or ``add/remove``, the relation under which all rows hold. Empty takes it from the rows; if
        they disagree, every number is refused.

    Examples
    --------
    >>> ledger = Ledger.of(("counts", "laplace(0.1)", 10), ("mean", "gaussian(5)", 2))
    >>> str(ledger.region)
    'laplace(0.1)^10 * gaussian(5)^2'
    """

    rows: tuple[Release, ...] = ()
    relation: str = ""

    def __post_init__(self) -> None:
        """Check the number of rows and the name of the relation."""
        if len(self.rows) > MOST_ROWS:
            msg = f"A ledger holds at most {grouped(MOST_ROWS)} rows, got {grouped(len(self.rows))}."
            raise DomainError(msg)
        if self.relation not in ("", *RELATIONS[1:]):
            msg = f"relation must be empty, {' or '.join(RELATIONS[1:])}, got {value_text(self.relation)}."
            raise DomainError(msg)

    @classmethod
    def of(cls, *rows: Release | tuple[Any, ...], relation: str = "") -> Ledger:
        """Return a ledger of rows, each a release or its (label, expression, count, ...)."""
        return cls(tuple(row if isinstance(row, Release) else Release(*row) for row in rows), relation)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def name(self, row: int) -> str:
        """Return how a message names a row: its number from 1, its label and its expression."""
        release = self.rows[row]
        label = f"{shorten(release.label, 40)}: " if release.label.strip() else ""
        return f"Row {row + 1} ({label}{shorten(str(release.region), 60)})"

    def without(self, *rows: int) -> Ledger:
        """Return the ledger without some rows (from 0)."""
        for row in rows:
            self.check(row)
        return replace(self, rows=tuple(release for row, release in enumerate(self.rows) if row not in rows))

    def with_count(self, row: int, count: int) -> Ledger:
        """Return the ledger with another count in one row (from 0)."""
        self.check(row)
        changed = replace(self.rows[row], count=count, quiet=True)
        return replace(self, rows=(*self.rows[:row], changed, *self.rows[row + 1 :]))

    def check(self, row: int) -> None:
        """Refuse a row that does not exist."""
        if not 0 <= row < len(self.rows):
            msg = f"The ledger has rows 1 to {len(self.rows)}, got row {row + 1}."
            raise DomainError(msg)

    @Lazy
    def memory(self) -> dict[Any, Any]:
        """A cache of numbers about this ledger, with the same lifetime."""
        return {}

    # ---- what the rows are together --------------------------------------------------------------------------

    @Lazy
    def neighbours(self) -> str:
        """The relation of all rows: the stated one, or the one they share; rows that disagree are an error.

        Rows that hold for any relation are read as add/remove if a group of them states no limit: that one person is in one
        part only is then all that is said.
        """
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
        return next(iter(first), ADD_REMOVE if any(map(self._is_silent, self.groups)) else "any")

    @Lazy
    def assumed(self) -> tuple[int, ...]:
        """The rows (from 0) whose own relation differs from the stated one."""
        return tuple(
            row for row, release in enumerate(self.rows) if release.region.neighbours not in ("any", self.neighbours)
        )

    @Lazy
    def groups(self) -> dict[str, list[int]]:
        """The rows (from 0) of each parallel group."""
        rows: dict[str, list[int]] = {}
        for row, release in enumerate(self.rows):
            if release.group:
                rows.setdefault(release.group, []).append(row)
        return rows

    def limit(self, group: str) -> int:
        """Return how many rows of a group the data of one person touch at most."""
        limits = [(row, limit) for row in self.groups[group] if (limit := self.rows[row].group_limit) is not None]
        for row, limit in limits[1:]:
            if limit != limits[0][1]:
                msg = (
                    f"{self.name(limits[0][0])} says that one person is in at most {limits[0][1]} rows of group "
                    f"{value_text(group)}, {self.name(row)} says {limit}; state one number."
                )
                raise DomainError(msg)
        if limits:
            return limits[0][1]
        return 2 if self.neighbours == SUBSTITUTION else 1

    def _is_silent(self, group: str) -> bool:
        """Whether no row of a group of several states its limit."""
        rows = self.groups[group]
        return len(rows) > 1 and all(self.rows[row].group_limit is None for row in rows)

    def parts(self, row: int) -> Factors:
        """Return the atoms of one row with their counts, under the relation of the ledger."""
        release = self.rows[row]
        return [(self._related(node), count * release.count) for node, count in factors(release.region)]

    def member(self, row: int) -> TradeOff:
        """Return the region of all releases of one row, under the relation of the ledger."""
        return composed(self.parts(row))

    def _related(self, node: TradeOff) -> TradeOff:
        return node if node.neighbours in ("any", self.neighbours) else Assume(node, self.neighbours)

    @Lazy
    def factors(self) -> Factors:
        """What is composed: different atoms with counts, equal ones of all rows joined; groups by their worst rows."""
        parts: Factors = []
        for row, release in enumerate(self.rows):
            if not release.group:
                parts += self.parts(row)
        for group, rows in self.groups.items():
            for region in group_factors([self.member(row) for row in rows], self.limit(group)):
                parts += factors(region)
        joined: dict[str, tuple[TradeOff, int]] = {}
        for node, count in parts:
            old = joined.get(node.text)
            joined[node.text] = (node, count) if old is None else (old[0], old[1] + count)
        return list(joined.values())

    @Lazy
    def region(self) -> TradeOff:
        """The region of the whole ledger; perfect privacy if it has no rows."""
        return composed(self.factors)

    @Lazy
    def named_region(self) -> TradeOff:
        """The same region, under the relation of the ledger.

        It is called a ledger of n rows if its expression is long, since tables repeat it, or says more than the ledger:
        groups without a limit speak of add/remove neighbours alone.
        """
        says_more = self.region.neighbours == "any" != self.neighbours and any(map(self._is_silent, self.groups))
        if len(self.region.text) <= LONGEST_TEXT and not says_more:
            return self.region
        return WholeLedger(self.region.curve, f"ledger of {len(self)} rows", self.neighbours)

"""What a theorem is: one frozen record in a file of its own, which every page, table, command and text reads.

A file of this folder with a `THEOREM` needs no registration. A theorem about a list of releases needs `statement` (a closed form:
one (epsilon, delta) for a list of them and a slack) or `epsilon` (its smallest epsilon at a delta); everything else has a default.
A theorem that leads from one notion to another has `route`. A theorem without any of them appears in the reference only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dpcore.core.effort import checkpoint, effort
from dpcore.core.errors import BudgetError, DomainError, DpcoreError
from dpcore.core.rounding import sum_up
from dpcore.regions.guarantees import DP
from dpcore.theorems.releases import Releases
from dpcore.theorems.sharing import ROUNDING, statement_epsilon
from dpcore.theorems.table import stack, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    import pandas as pd

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems.domain import Statement
    from dpcore.theorems.listing import Listing

ADAPTIVE = (
    "The mechanisms use fresh randomness. Which mechanism comes next may depend on earlier answers; the list of strengths may "
    "not: it is fixed beforehand."
)
DISJOINT = "The mechanisms read disjoint parts of the data, and a change of one record touches one part only."
SINGLE = "One mechanism that satisfies the statement; nothing else is assumed."
ROW_WORK = 1e8
"""Operations allowed for one row of a table, about ten seconds. They are counted, not timed: every machine shows the same rows."""
BELOW = "No ε reaches this δ by this theorem: what remains at ε = ∞ is already larger."


class Promise(NamedTuple):
    """What one theorem promises at one delta; with kind ``none`` epsilon is inf and `note` says why it does not apply."""

    epsilon: float
    kind: str
    note: str = ""


class ClosedFormBound(NamedTuple):
    """One (epsilon, delta) statement that a closed form derives; `note` says how."""

    epsilon: float
    delta: float
    note: str = ""


class PromisedRegion(NamedTuple):
    """The region that a theorem promises; `kind` is ``exact``, ``upper`` or ``approximate``."""

    region: TradeOff
    kind: str
    note: str = ""


class Account(NamedTuple):
    """How an accountant that uses the theorem k times is described; empty fields are taken from the theorem."""

    title: str = ""
    formula: str = ""
    meaning: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class TheoremOracle:
    """A known value: one of the theorem's rows for these arguments has this epsilon and delta.

    The last argument of a conversion is a delta, or with `at_epsilon` an epsilon.
    """

    arguments: tuple[Any, ...]
    epsilon: float
    delta: float
    tolerance: float = 1e-12
    at_epsilon: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """From a guarantee of the language to (epsilon, delta), or to groups of people.

    Attributes
    ----------
    source, target : str
        Names as in ``dpcore convert``.
    formula : str
        LaTeX, solved for epsilon.
    check : tuple of (str, str, float, float, str)
        Expression, parameter, its value, tolerance, and where the value is from.
    epsilon : callable, optional
        Epsilon at a delta in (0, 1], and a note, from the values of the guarantee: (order, epsilon) of rdp, (rho, xi)
        of zcdp.
    delta : callable, optional
        Delta at an epsilon, and a note.
    """

    source: str
    target: str
    formula: str
    check: tuple[str, str, float, float, str]
    epsilon: Callable[[float, float, float], tuple[float, str]] | None = None
    delta: Callable[[float, float, float], tuple[float, str]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """One named theorem.

    Attributes
    ----------
    name, title : str
        In tables and code, and as a heading.
    label : str, default ""
        Short title in tables and legends; by default the title.
    formula, meaning, assumptions, neighbours, reference : str
        LaTeX, plain words, and who proved it.
    kind : {"exact", "upper", "approximate"}
        The best its numbers can be; each number states its own.
    oracles : tuple of TheoremOracle, default ()
        Known values, which a test checks.
    function : callable, optional
        Its rows from plain numbers; by default those of `statement`.
    statement : callable, optional
        The (epsilon, delta) of a list of statements, given a slack; raises `DomainError` with the reason if it does
        not apply.
    takes_slack : bool, default True
        Whether `statement` depends on the slack.
    epsilon : callable, optional
        What it promises about the releases at delta; by default the promise of `statement` with all the slack that
        delta leaves.
    objection : callable, optional
        Why it does not apply to these releases at this delta, in a sentence; empty if it applies.
    region : callable, optional
        What it promises as a region, given releases, delta and slack; by default the region of `statement`.
    listing : callable, optional
        Its own rows for a list without a delta, None if it does not apply; by default the rows of `statement`.
    unlisted : str, default "It does not apply to these statements."
        Why it has no such rows.
    uses_tv : bool, default False
        Whether it uses bounds on the total variation.
    of_statements : bool, default True
        Whether it is about (epsilon, delta) statements, so that delta is shared among them.
    never_above : tuple of str, default ()
        Theorems that follow from it, given the same statements.
    rough : bool, default False
        Whether it is far above the others and must not set the scale of a picture.
    shown : bool, default True
        Whether it is drawn by default.
    because : str, default ""
        Why it wins where it is best, in a sentence; by default its meaning.
    account : Account or None, optional
        How accountants use it, None if none does.
    route : Route, optional
        From one notion to another.
    """

    name: str
    title: str
    formula: str
    meaning: str
    reference: str
    kind: Literal["exact", "upper", "approximate"]
    assumptions: str = ADAPTIVE
    neighbours: str = "any"
    oracles: tuple[TheoremOracle, ...] = ()
    label: str = ""
    function: Callable[..., pd.DataFrame] | None = None
    statement: Callable[[Sequence[Statement], float], ClosedFormBound] | None = None
    takes_slack: bool = True
    epsilon: Callable[[Releases, float], Promise] | None = None
    objection: Callable[[Releases, float], str] = lambda _releases, _delta: ""
    region: Callable[[Releases, float, float], PromisedRegion] | None = None
    listing: Callable[[Listing, Sequence[float]], pd.DataFrame | None] | None = None
    unlisted: str = "It does not apply to these statements."
    uses_tv: bool = False
    of_statements: bool = True
    never_above: tuple[str, ...] = ()
    rough: bool = False
    shown: bool = True
    because: str = ""
    account: Account | None = Account()
    route: Route | None = None

    # ---- what it is about ------------------------------------------------------------------------------------

    @property
    def composes(self) -> bool:
        """Whether it has a number for a list of releases at a delta."""
        return self.epsilon is not None or self.statement is not None

    @property
    def draws(self) -> bool:
        """Whether it has a region for a list of releases."""
        return self.region is not None or self.statement is not None

    @property
    def lists(self) -> bool:
        """Whether it has statements of its own, without a delta."""
        return self.listing is not None or self.statement is not None

    @property
    def reports(self) -> bool:
        """Whether an accountant of k uses can report its number: it composes, or turns divergences into epsilon."""
        return self.composes or (self.route is not None and self.route.epsilon is not None)

    @property
    def short(self) -> str:
        """The title in tables and legends."""
        return self.label or self.title

    # ---- what it says ----------------------------------------------------------------------------------------

    def rows(self, *arguments: Any, at_epsilon: bool = False) -> pd.DataFrame:
        """Return its rows for plain numbers: the arguments of `function`, of the closed form or of the conversion.

        A theorem without any of these takes regions with their counts, and a delta.
        """
        if self.function is not None or self.statement is not None:
            return (self.function or self.statement_rows)(*arguments)
        if self.route is not None:
            return self.conversion_rows(*arguments, at_epsilon=at_epsilon)
        releases, delta = arguments
        promise = self.promise(Releases(releases), delta)
        return table(self.name, promise.epsilon, delta, promise.kind, promise.note)

    def statement_rows(self, statements: Sequence[Statement], slacks: float | Sequence[float]) -> pd.DataFrame:
        """Return the rows of the closed form, one for each slack."""
        if self.statement is None:
            msg = f"{self.name} has no closed form."
            raise DomainError(msg)
        values = [slacks] if isinstance(slacks, float) else slacks
        bounds = [self.statement(statements, slack) for slack in values]
        return stack(table(self.name, one.epsilon, one.delta, "upper", one.note) for one in bounds)

    def conversion_rows(self, first: float, second: float, at: float, *, at_epsilon: bool = False) -> pd.DataFrame:
        """Return the statement at a delta, or at an epsilon, of a guarantee with these two values."""
        solve = None if self.route is None else self.route.delta if at_epsilon else self.route.epsilon
        if solve is None:
            msg = f"{self.name} is not a conversion to (epsilon, delta)."
            raise DomainError(msg)
        value, note = solve(first, second, at)
        return table(self.name, *((at, value) if at_epsilon else (value, at)), "upper", note)

    def applies(self, releases: Releases, delta: float) -> tuple[bool, str]:
        """Return whether it applies to the releases at delta, and the reason in a sentence if not."""
        try:
            why = self.objection(releases, delta)
        except DpcoreError as error:
            why = reason(error)
        return not why, why

    def promise(self, releases: Releases, delta: float) -> Promise:
        """Return what it promises about the releases at delta, or why it does not apply."""
        if not releases.factors:
            return Promise(0.0, "exact", "nothing was released")
        holds, why = self.applies(releases, delta)
        if not holds:
            return silent(why)
        try:
            if self.of_statements:
                releases.statements(delta)  # outside the count: the first theorem must not pay for all of them
            with row_effort():
                promise = (self.epsilon or self._closed_form)(releases, delta)
        except DpcoreError as error:
            return silent(reason(error))
        return promise._replace(note=BELOW) if math.isinf(promise.epsilon) and promise.kind != "none" else promise

    def _closed_form(self, releases: Releases, delta: float) -> Promise:
        """Return the promise of the closed form with all the slack that delta leaves; inf if it leaves none."""
        statements = releases.statements(delta)
        slack = (delta - sum_up((failing, count) for _, failing, count in statements.triples)) * (1 - ROUNDING)
        if self.statement is None:
            return Promise(math.inf, "upper", statements.note)
        bound = self.statement(statements.triples, slack if slack > 0 else 1.0)  # raises where it does not apply at all
        is_reached = slack > 0 or delta >= 1
        return Promise(statement_epsilon(*bound[:2], delta) if is_reached else math.inf, "upper", statements.note)

    def promised_region(self, releases: Releases, delta: float, slack: float) -> PromisedRegion:
        """Return what it promises as a region; raises `DpcoreError` with the reason if it has none."""
        if self.region is not None:
            if why := self.objection(releases, delta):
                raise DomainError(why)
            return self.region(releases, delta, slack)
        statements = releases.statements(delta)
        if self.statement is None:
            msg = "It has no region."
            raise DomainError(msg)
        bound = self.statement(statements.triples, slack)
        if not math.isfinite(bound.epsilon):
            msg = "Its ε is too large for a number."
            raise DomainError(msg)
        note = "; ".join(filter(None, (bound.note, statements.note)))
        return PromisedRegion(DP(bound.epsilon, bound.delta), "upper", note)

    def listing_rows(self, listing: Listing, slacks: Sequence[float]) -> pd.DataFrame | None:
        """Return its own rows for a list without a delta; None if it does not apply."""
        if self.listing is not None:
            return self.listing(listing, slacks)
        if self.statement is None or not listing.triples:
            return None
        frames = []
        for slack in slacks if self.takes_slack else slacks[:1]:
            try:
                frames.append(self.statement_rows(listing.triples, slack))
            except DomainError:  # it does not hold at this slack
                continue
        return stack(frames) if frames else None


def row_effort() -> AbstractContextManager[object]:
    """Return the context in which one row of a table is computed: too many operations raise `BudgetError`."""
    return effort(work=ROW_WORK)


def reason(error: DpcoreError) -> str:
    """Return why a theorem has no number; an error because the time ran out is raised again."""
    if isinstance(error, BudgetError):
        checkpoint()
    return str(error)


def silent(why: str) -> Promise:
    """Return the promise of a theorem that does not apply."""
    return Promise(math.inf, "none", why)

r"""A list of releases as the theorems see it: regions with counts, and the (epsilon, delta) statement of each.

A release of unbounded loss satisfies many statements; `dpcore.theorems.sharing` decides how delta is shared among them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erf

from dpcore.central_limit.gaussians import epsilons_of
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError, DpcoreError
from dpcore.core.rounding import sum_up
from dpcore.regions.algebra import Power, Product
from dpcore.regions.guarantees import DP, largest_eta
from dpcore.regions.tradeoff import shorten
from dpcore.theorems.sharing import share
from dpcore.theorems.step import Step, step_of, steps_at, taken_as
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dpcore.curves.base import Curve
    from dpcore.regions.algebra import Factors
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems.domain import Statement

MOST_DIFFERENT = 400  # different releases that theorems compose or invert numerically, beside the regions themselves
_EVERY = 200  # releases between two reports of progress


@dataclass(frozen=True)
class Statements:
    """The statements of all releases.

    Attributes
    ----------
    parts : tuple of tuple of (Step, int)
        (step, count), one for each different release.
    share : float, default 0
        The delta assigned to every release of unbounded loss.
    """

    parts: tuple[tuple[Step, int], ...]
    share: float = 0.0

    @property
    def triples(self) -> list[tuple[float, float, int]]:
        """As (epsilon, delta, count)."""
        return [(step.epsilon, step.delta, count) for step, count in self.parts]

    @property
    def attained(self) -> bool:
        """Whether every region is its statement and nothing more."""
        return all(step.attained for step, _ in self.parts)

    @property
    def tv_helps(self) -> bool:
        """Whether some total variation is below that of (epsilon, delta)."""
        return any(step.tv_helps for step, _ in self.parts)

    @property
    def note(self) -> str:
        """What was lost by taking statements."""
        lossy = [step for step, _ in self.parts if not step.attained]
        if not lossy:
            return ""
        if len(self.parts) == 1:
            step = lossy[0]
            sentence = taken_as(step.region, step.epsilon, step.delta, step.eta)
        else:
            names = ", ".join(shorten(str(step.region), 40) for step in lossy[:2])
            more = f" and {len(lossy) - 2} more" if len(lossy) > 2 else ""
            sentence = f"of {names}{more} only one statement is used"
        shared = any(math.isinf(step.region.curve.max_loss) for step in lossy)
        return f"{sentence}; half of δ is shared among the releases of unbounded loss" if shared else sentence


class Releases:
    """A list of releases for the theorems; statements are looked up once.

    Parameters
    ----------
    factors : Factors
        Different regions with their counts.
    statements : mapping of float to Statements or DpcoreError, optional
        By delta, the statements if they are known already, or why there are none.
    """

    def __init__(self, factors: Factors, statements: Mapping[float, Statements | DpcoreError] | None = None) -> None:
        self.factors = factors
        self._statements = {(delta, True): entry for delta, entry in (statements or {}).items()}
        self._bounded: dict[str, Step] = {}

    @classmethod
    def copies(cls, factors: Factors, ks: Sequence[int], delta: float) -> list[Releases]:
        """Return the list repeated k times, for every k; the statements of all k are computed together."""
        lists = zip(ks, statement_lists(factors, ks, delta), strict=True)
        return [cls([(node, count * k) for node, count in factors], {delta: entry}) for k, entry in lists]

    @property
    def region(self) -> TradeOff:
        """All releases composed."""
        return composed(self.factors)

    @property
    def mus(self) -> list[tuple[float, int]] | None:
        """The mu of every release and its count if all are Gaussian, otherwise None."""
        pairs = [(mu, count) for node, count in self.factors if (mu := node.curve.gaussian_mu) is not None]
        return pairs if len(pairs) == len(self.factors) else None

    def attained(self, delta: float) -> Statements | None:
        """Return the statement of copies of one release if nothing else is known about it; otherwise None.

        A theorem that is exact about the statement is then the composition itself.
        """
        try:
            statements = self.statements(delta)
        except DomainError:
            return None
        return statements if statements.attained and len(statements.parts) == 1 else None

    def statements(self, delta: float, *, gaussian: bool = True) -> Statements:
        """Return the statements of all releases; without `gaussian` those of Gaussian releases are left out."""
        key = (delta, gaussian)
        if key not in self._statements:
            try:
                self._statements[key] = statements(self.factors, delta, gaussian=gaussian, cache=self._bounded)
            except DomainError as error:
                self._statements[key] = error
        entry = self._statements[key]
        if isinstance(entry, DpcoreError):
            raise entry
        return entry

    def too_many(self) -> str:
        """Say that there are too many different releases for a theorem that composes them; empty if there are not."""
        if len(self.factors) <= MOST_DIFFERENT:
            return ""
        return (
            f"There are {grouped(len(self.factors))} different releases; with more than {grouped(MOST_DIFFERENT)} only "
            "the regions themselves are composed."
        )


def equal(triples: Sequence[Statement]) -> Statement:
    """Return the one statement that all releases make, with the sum of their counts; raise if they differ."""
    if len({(epsilon, delta) for epsilon, delta, _ in triples}) > 1:
        msg = "It is about equal mechanisms; these releases differ."
        raise DomainError(msg)
    return triples[0][0], triples[0][1], sum(count for *_, count in triples)


def composed(parts: Factors) -> TradeOff:
    """Return the region of all releases together; perfect privacy if there are none."""
    powers = tuple(node if count == 1 else Power(node, count) for node, count in parts)
    return DP(0.0) if not powers else powers[0] if len(powers) == 1 else Product(powers)


def statements(
    factors: Factors, delta: float, *, gaussian: bool = True, cache: dict[str, Step] | None = None
) -> Statements:
    """Return the statement of every release of a list, delta shared as `dpcore.theorems.sharing` says.

    Parameters
    ----------
    factors : Factors
        Different regions with their counts.
    delta : float
        By how much the whole list may exceed e^epsilon.
    gaussian : bool, default True
        Whether Gaussian releases need a statement at all.
    cache : dict of str to Step, optional
        Statements of bounded releases, which are the same for every delta; filled here for the next call.
    """
    (entry,) = statement_lists(factors, (1,), delta, gaussian=gaussian, cache=cache)
    if isinstance(entry, DpcoreError):
        raise entry
    return entry


def statement_lists(
    factors: Factors,
    ks: Sequence[int],
    delta: float,
    *,
    gaussian: bool = True,
    cache: dict[str, Step] | None = None,
) -> list[Statements | DomainError]:
    """Return the statements of a list repeated k times, for every k, or why there are none; see `statements`."""
    bounded = {} if cache is None else cache
    unbounded = [(node, count) for node, count in factors if _needs(node.curve, gaussian=gaussian)]
    slow = sum(node.curve.gaussian_mu is None for node, _ in unbounded)
    if slow > MOST_DIFFERENT:
        msg = (
            f"{grouped(slow)} different releases have unbounded loss; statements are computed for at most "
            f"{grouped(MOST_DIFFERENT)}."
        )
        return [DomainError(msg)] * len(ks)
    copies = sum(count for _, count in unbounded)
    shares = []
    for k in ks:
        failures = sum_up((node.curve.q_inf, count * k) for node, count in factors)
        shares.append(share(delta, failures, copies * k))
    good = [place for place in range(len(ks)) if not unbounded or shares[place] > 0]
    usable = [shares[place] for place in good]
    normal = _gaussians(factors, usable if gaussian else [0.0] * len(usable))
    steps = [normal[node.text] if node.text in normal else _steps(node, usable, bounded) for node in _nodes(factors)]
    lists = {
        place: Statements(
            tuple((own[at], count * ks[place]) for own, (_, count) in zip(steps, factors, strict=True)), shares[place]
        )
        for at, place in enumerate(good)
    }
    return [
        lists[place] if place in lists else _nothing_free(factors, unbounded, delta, k) for place, k in enumerate(ks)
    ]


def _nodes(factors: Factors) -> Iterator[TradeOff]:
    for place, (node, _) in enumerate(factors):
        if place % _EVERY == 0:
            checkpoint(place / len(factors))
        yield node


def _steps(node: TradeOff, shares: list[float], cache: dict[str, Step]) -> list[Step]:
    """Return the statement of one release at every share."""
    if math.isinf(node.curve.max_loss):
        return steps_at(node, shares) if shares else []
    step = cache.get(node.text) or cache.setdefault(node.text, step_of(node))
    return [step] * len(shares)


def _gaussians(factors: Factors, shares: list[float]) -> dict[str, list[Step]]:
    """Return the statements of the Gaussian releases at every share; all at once, because there may be many."""
    nodes = [(node, mu) for node, _ in factors if (mu := node.curve.gaussian_mu) is not None]
    steps: dict[str, list[Step]] = {node.text: [] for node, _ in nodes}
    different, place = np.unique(np.array([mu for _, mu in nodes]), return_inverse=True)
    for free in shares if nodes else ():
        epsilons = epsilons_of(different, np.zeros_like(different), free) if free > 0 else np.zeros(different.size)
        for (node, mu), epsilon in zip(nodes, epsilons[place].tolist(), strict=True):
            steps[node.text].append(_gaussian(node, mu, epsilon, free))
    return steps


def _nothing_free(factors: Factors, unbounded: Factors, delta: float, k: int) -> DomainError:
    name, failures = shorten(str(unbounded[0][0]), 40), sum_up((node.curve.q_inf, count * k) for node, count in factors)
    rest = (
        f"δ = {outward(delta, 4)}" if failures == 0 else f"δ less {outward(failures, 4)}, the failures of all releases,"
    )
    msg = f"{name} has unbounded loss: a statement about it needs δ above 0, and {rest} leaves none."
    return DomainError(msg)


def _needs(curve: Curve, *, gaussian: bool) -> bool:
    return math.isinf(curve.max_loss) and (gaussian or curve.gaussian_mu is None)


def _gaussian(node: TradeOff, mu: float, epsilon: float, share: float) -> Step:
    """Return the statement of a Gaussian release at delta = `share`; with share 0 only its mu is stated."""
    if share == 0:
        return Step(node, 0.0, 0.0, 0.0, attained=True, mu=mu, note="")
    eta = max(min(float(erf(mu / math.sqrt(8.0))) * (1 + 1e-15), largest_eta(epsilon, share)), share)
    return Step(node, epsilon, share, eta, attained=False, mu=mu, note="")

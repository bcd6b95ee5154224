r"""What each release enters the named theorems with: one (epsilon, delta) statement, and its total variation.

A release of unbounded loss satisfies many statements. The failure probability that the total leaves free is shared
equally among all such releases; theorems that need some for themselves share half of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erf

from dpcore.composition.gaussians import epsilons_of
from dpcore.composition.step import Step, step_of
from dpcore.curves.gaussian import Gaussian
from dpcore.errors import DomainError
from dpcore.guarantees import largest_eta
from dpcore.limits import checkpoint
from dpcore.theorems.rounding import sum_up
from dpcore.tradeoff import shorten
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from dpcore.algebra import Factors
    from dpcore.curves.base import Curve, FloatArray
    from dpcore.tradeoff import TradeOff

MOST_DIFFERENT = 400  # different releases that are composed or looked up numerically beside the regions themselves
_EVERY = 200  # releases between two reports of progress
_LESS = 1 - 1e-12  # what is shared stays below what there is, rounding included


@dataclass(frozen=True)
class Statements:
    """The statements of all releases.

    Attributes
    ----------
    parts : (step, count), one for each different release.
    share : failure probability added to every release of unbounded loss.
    """

    parts: tuple[tuple[Step, int], ...]
    share: float

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
        names = ", ".join(shorten(str(step.region), 40) for step in lossy[:2])
        more = f" and {len(lossy) - 2} more" if len(lossy) > 2 else ""
        return f"of {names}{more} only one statement is used"


def statements(
    factors: Factors, delta: float, *, part: float, gaussian: bool = True, known: dict[str, Step] | None = None
) -> Statements:
    """Return the statement of every release, so that all failures together stay within `part` of what delta leaves.

    Parameters
    ----------
    factors : different regions with their counts.
    delta : failure probability of the whole list.
    part : share of the free failure probability that releases of unbounded loss may use, in (0, 1].
    gaussian : whether Gaussian releases need a statement at all.
    known : statements of bounded releases, which are the same for every delta; filled here for the next call.
    """
    kept = {} if known is None else known
    needy = [(node, count) for node, count in factors if _needs(node.curve, gaussian=gaussian)]
    taken = sum_up((node.curve.q_inf, count) for node, count in factors)
    copies = sum(count for _, count in needy)
    free = (delta - taken) * _LESS
    if needy and not free > 0:
        name = shorten(str(needy[0][0]), 40)
        left = f"δ = {outward(delta, 4)}" if taken == 0 else f"δ less {outward(taken, 4)}, the failures of other rows,"
        msg = f"{name} has unbounded loss: a statement about it needs δ above 0, and {left} leaves none."
        raise DomainError(msg)
    _not_too_many(needy)
    share = part * free / copies if copies else 0.0
    mus = np.array([node.curve.mu for node, _ in factors if isinstance(node.curve, Gaussian)])
    normal = iter(zip(mus.tolist(), _epsilons(mus, share if gaussian else 0.0), strict=True))
    found = []
    for place, (node, count) in enumerate(factors):
        if place % _EVERY == 0:
            checkpoint(place / len(factors))
        if isinstance(node.curve, Gaussian):
            step = _gaussian(node, *next(normal), share if gaussian else 0.0)
        elif math.isinf(node.curve.max_loss):
            step = step_of(node, 1, 2 * share)
        else:
            step = kept.get(node.text) or kept.setdefault(node.text, step_of(node))
        found.append((step, count))
    return Statements(tuple(found), share)


def _needs(curve: Curve, *, gaussian: bool) -> bool:
    return math.isinf(curve.max_loss) and (gaussian or not isinstance(curve, Gaussian))


def _not_too_many(needy: Factors) -> None:
    slow = sum(not isinstance(node.curve, Gaussian) for node, _ in needy)
    if slow > MOST_DIFFERENT:
        msg = (
            f"{grouped(slow)} different releases have unbounded loss; statements are looked up for at most "
            f"{grouped(MOST_DIFFERENT)}."
        )
        raise DomainError(msg)


def _epsilons(mus: FloatArray, share: float) -> list[float]:
    """Return epsilon at delta = `share` of Gaussian releases, all at once."""
    if share == 0 or not mus.size:
        return [0.0] * mus.size
    different, place = np.unique(mus, return_inverse=True)
    found: list[float] = epsilons_of(different, np.zeros_like(different), share)[place].tolist()
    return found


def _gaussian(node: TradeOff, mu: float, epsilon: float, share: float) -> Step:
    """Return the statement of a Gaussian release that fails with probability `share`; by its mu alone if that is 0."""
    if share == 0:
        return Step(node, 0.0, 0.0, 0.0, attained=True, mu=mu, note="")
    eta = max(min(float(erf(mu / math.sqrt(8.0))) * (1 + 1e-15), largest_eta(epsilon, share)), share)
    return Step(node, epsilon, share, eta, attained=False, mu=mu, note="")

r"""Groups, repeated answers and disjoint parts: what the printed rules say and what the regions say.

* A group of k people: :math:`(k\varepsilon,\ \delta\sum_{j<k}e^{j\varepsilon})`, one line of the region
  :math:`1-(1-f)^{\circ k}`.
* Answers about the same data: epsilons add; their product has a smaller region.
* Answers about disjoint parts: only the largest epsilon counts if one person touches one part. A record that is
  *replaced* may leave one part and enter another: then two parts change and compose.
* Randomized response with flips of probability p is (epsilon, delta)-private iff
  :math:`p\ge(1-\delta)/(1+e^{\varepsilon})`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.core.domains import COUNT, LOSS, SHARE
from dpcore.core.rounding import sum_up, up
from dpcore.mechanisms.gaussian import largest_mu
from dpcore.mechanisms.laplace import Laplace
from dpcore.mechanisms.randomized_response import RandomizedResponse
from dpcore.regions.algebra import Group
from dpcore.regions.guarantees import DP, GDP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.regions.tradeoff import TradeOff


def group_delta(epsilon: float, delta: float, k: int) -> float:
    """Return delta (1 + e^epsilon + ... + e^((k-1) epsilon)), rounded up; above 1 it promises nothing."""
    COUNT.check(k)
    return up(delta * math.fsum(math.exp(j * epsilon) for j in range(k)))


def group_statement(epsilon: float, delta: float, k: int) -> DP:
    """Return the printed promise to a group of k as a region: (k epsilon, group_delta), a delta above 1 taken as 1."""
    return DP(sum_up([(epsilon, k)]), min(1.0, group_delta(epsilon, delta, k)))


def groups(epsilon: float, delta: float, k: int) -> dict[str, TradeOff]:
    """Return regions of a group of k: the printed line, the worst mechanism, and two concrete ones for (epsilon, delta).

    The concrete ones are normal noise of the least variance and Laplace noise: groups move their answers k times as far.
    """
    COUNT.check(k)
    return {
        "printed statement": group_statement(epsilon, delta, k),
        "worst mechanism": Group(DP(epsilon, delta), k),
        "normal noise": GDP(k * largest_mu(epsilon, delta)),
        "Laplace noise": Laplace(k * epsilon),
    }


def sequence_epsilon(epsilon: float, k: int) -> float:
    """Return k epsilon, rounded up: the printed cost of k answers about the same data."""
    COUNT.check(k)
    return sum_up([(epsilon, k)])


def parts_epsilon(epsilons: Sequence[float]) -> float:
    """Return the largest epsilon: the printed cost of answers about disjoint parts, right if one part changes."""
    return float(LOSS.array(epsilons).max())


def counts(epsilon: float, *, replaced: bool) -> TradeOff:
    """Return the region of counts per part, each with Laplace noise of scale 1/epsilon.

    Adding or removing a record moves one count by one; replacing it by one of another part moves two.
    """
    return Laplace(epsilon) * Laplace(epsilon) if replaced else Laplace(epsilon)


def least_flip(epsilon: float, delta: float) -> float:
    """Return the smallest probability of a flipped answer that is (epsilon, delta)-private: (1 - delta)/(1 + e^epsilon)."""
    return (1.0 - delta) / (1.0 + math.exp(epsilon))


def flipped(flip: float) -> RandomizedResponse:
    """Return randomized response that flips the answer with this probability, in (0, 1/2]."""
    SHARE.but(name="flip", high=0.5).check(flip)
    return RandomizedResponse(math.log1p(-flip) - math.log(flip))


def flipped_delta(flip: float, epsilon: float, k: int) -> float:
    """Return the exact delta at epsilon of k answers to the same question, each flipped independently."""
    COUNT.check(k)
    return float((flipped(flip) ** k).delta(epsilon))

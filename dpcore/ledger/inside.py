r"""Regions that lie inside another one by an argument that needs no numbers.

Within a family more noise is a step of post-processing: Laplace noise of scale b becomes noise of a larger scale c when,
with probability :math:`1-b^2/c^2`, independent Laplace noise of scale c is added (the characteristic functions are
:math:`1/(1+b^2t^2)` and :math:`1/(1+c^2t^2)`); two-sided geometric noise likewise, for the quotient of two generating
functions :math:`(1-az)/(1-bz)`, a < b, has positive coefficients; randomized response becomes a more private one by
answering at random more often; a Poisson sample becomes a smaller one by dropping the signal more often. Fewer copies
are the first copies of more. A product lies inside another one as soon as its factors do, one by one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.regions.algebra import Assume, factors
from dpcore.regions.tradeoff import Atom, parameters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.regions.tradeoff import TradeOff

Size = tuple[float, ...]


def maximal(members: Sequence[TradeOff]) -> list[TradeOff]:
    """Return the members that do not certainly lie inside another one, in their order."""
    fronts: dict[tuple[object, ...], list[tuple[Size, TradeOff]]] = {}
    for member in members:
        family, size = _family(member)
        front = fronts.setdefault(family, [])
        if not any(_at_most(size, other) for other, _ in front):
            front[:] = [*((other, outer) for other, outer in front if not _at_most(other, size)), (size, member)]
    survivors = [member for front in fronts.values() for _, member in front]
    outer = [one for one in survivors if not any(other is not one and _inside(one, other) for other in survivors)]
    places = {id(member): place for place, member in enumerate(members)}
    return sorted(outer, key=lambda member: places[id(member)])


def _at_most(size: Size, other: Size) -> bool:
    return all(a <= b for a, b in zip(size, other, strict=True))


def _family(region: TradeOff) -> tuple[tuple[object, ...], Size]:
    """Return a family whose regions grow with some numbers, and these numbers."""
    parts = [(node.region if isinstance(node, Assume) else node, count) for node, count in factors(region)]
    curves = [node.pair for node, _ in parts]
    mus = [curve.gaussian_mu for curve in curves if curve.gaussian_mu is not None]
    if len(mus) == len(parts):
        return ("Gaussian",), (math.hypot(*(mu * math.sqrt(k) for mu, (_, k) in zip(mus, parts, strict=True))),)
    if len(parts) > 1:
        return ("product", *sorted(node.text for node, _ in parts)), tuple(
            float(count) for _, count in sorted(parts, key=lambda part: part[0].text)
        )
    node, count = parts[0]
    name, size = _parameters(node)
    return name, (*size, float(count))


def _parameters(node: TradeOff) -> tuple[tuple[object, ...], Size]:
    """Return the name of an atom's family and the numbers it grows with; an unknown kind is a family of its own."""
    if isinstance(node, Atom) and node.grows_with:
        signs = dict(node.grows_with)
        fixed = (getattr(node, field) for field, _ in parameters_of(type(node)) if field not in signs)
        size = tuple(sign * float(getattr(node, field)) for field, sign in node.grows_with)
        return (type(node).__name__, *fixed), size
    return (node.text,), ()


def _inside(inner: TradeOff, outer: TradeOff) -> bool:
    """Whether a region certainly lies inside one of another family; of two equal regions, one counts as inside."""
    a, b = inner.curve, outer.curve
    perfect = [curve.max_loss <= 0 and curve.q_inf == 0 for curve in (a, b)]
    if perfect[0]:
        return not perfect[1] or inner.text > outer.text
    if not _is_statement(outer) or a.max_loss > b.max_loss or a.q_inf > b.q_inf:
        return False
    return not _is_statement(inner) or (a.max_loss, a.q_inf) != (b.max_loss, b.q_inf) or inner.text > outer.text


def _is_statement(region: TradeOff) -> bool:
    """Whether the region is (epsilon, delta)-DP itself, which contains every region with no larger loss and delta."""
    loss = getattr(region.curve, "loss", None)
    return bool(loss is not None and len(loss) == 2 and region.curve.symmetric and loss[0] == -loss[1])

"""The size of an expression, from its syntax alone, before anything is built or computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dpcore.core.errors import BudgetError
from dpcore.language.grammar import parse_syntax
from dpcore.language.syntax import CallNode, IntersectionNode, ListNode, PowerNode, ProductNode, UnknownNode

if TYPE_CHECKING:
    from dpcore.language.syntax import Region, Value

MOST_NODES, LONGEST_LIST = 20_000, 10_000  # larger expressions take seconds to build, before any number is computed


class Cost(NamedTuple):
    """How large an expression is.

    Attributes
    ----------
    depth : int
        Regions inside regions, 1 for an atom.
    nodes : int
        Regions, numbers, texts and lists in all.
    regions : int
        Named regions in all.
    longest_list : int
        Items of the longest list, factors of the longest product or parts of the longest intersection.
    copies : int
        The most answers released together: exponents multiply, factors add.
    """

    depth: int
    nodes: int
    regions: int
    longest_list: int
    copies: int


def cost(expression: str | Region) -> Cost:
    """Return the cost of a text or of its syntax tree, in time proportional to its length.

    Parameters
    ----------
    expression : str or Region
        The text, or its tree.

    Returns
    -------
    Cost
        Depth and counts.

    Examples
    --------
    >>> cost("group(dp(1) * gdp(0.5)^3, 2)^10")
    Cost(depth=5, nodes=9, regions=3, longest_list=2, copies=40)
    """
    return _cost(parse_syntax(expression, allow_unknown=True) if isinstance(expression, str) else expression)


def check_cost(tree: Region) -> None:
    """Raise `BudgetError` if an expression is too large."""
    size = cost(tree)
    if size.nodes > MOST_NODES:
        msg = f"The expression has {size.nodes} parts in all; at most {MOST_NODES} are built."
        raise BudgetError(msg)
    if size.longest_list > LONGEST_LIST:
        msg = f"The expression has a list or product of {size.longest_list} items; at most {LONGEST_LIST} are built."
        raise BudgetError(msg)


def _cost(tree: Value) -> Cost:
    match tree:
        case CallNode(_, arguments):
            inner = [_cost(argument.value) for argument in arguments]
            return _around(inner, regions=1, items=0, copies=max([1, *(part.copies for part in inner)]))
        case PowerNode(base, exponent):
            inner = [_cost(base)]
            times = 1 if isinstance(exponent, UnknownNode) else exponent
            return _around(inner, regions=0, items=0, copies=times * inner[0].copies)
        case ProductNode(parts):
            inner = [_cost(part) for part in parts]
            return _around(inner, regions=0, items=len(parts), copies=sum(part.copies for part in inner))
        case IntersectionNode(parts) | ListNode(parts):
            inner = [_cost(part) for part in parts]
            return _around(inner, regions=0, items=len(parts), copies=max([0, *(part.copies for part in inner)]))
        case _:
            return Cost(0, 1, 0, 0, 0)


def _around(inner: list[Cost], *, regions: int, items: int, copies: int) -> Cost:
    """Return the cost of a node around others."""
    return Cost(
        1 + max((part.depth for part in inner), default=0),
        1 + sum(part.nodes for part in inner),
        regions + sum(part.regions for part in inner),
        max([items, *(part.longest_list for part in inner)]),
        copies,
    )

"""The expression language: one text names one region, as in ``dp(0.6, 0.05)^5 & gdp(1.2)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.language.build import build
from dpcore.language.cost import LONGEST_LIST, Cost, check_cost, cost
from dpcore.language.grammar import parse_syntax
from dpcore.language.problems import pointer

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

__all__ = ["Cost", "cost", "parse", "pointer"]

_SHORT = LONGEST_LIST
"""A text this short is never too large: every item takes more than one character."""


def parse(text: str) -> TradeOff:
    """Return the region that a text names.

    Parameters
    ----------
    text : str
        An expression of at most 64 kB, brackets at most 100 deep.

    Returns
    -------
    TradeOff
        The region.

    Raises
    ------
    ParseError
        If the text is not an expression: one line with the reason, the place and what was expected;
        ``pointer(error)`` shows the place in two lines.
    DomainError
        If a value lies outside its domain, or `text` is not a text.
    BudgetError
        If the expression is too large to be built; see `cost`.

    Examples
    --------
    >>> str(parse("dp( log(3), 1/4 ) ^ 2 & gdp(mu = 1)"))
    'dp(1.0986122886681098, 0.25)^2 & gdp(1)'
    """
    tree = parse_syntax(text)
    if len(text) > _SHORT:
        check_cost(tree)
    region = build(tree, text)
    _ = region.neighbours  # raises here, not at the first question, if the parts have different relations
    return region

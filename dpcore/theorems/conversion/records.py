"""What a conversion is: a record of its source and target notion, its formula, reference and check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpcore.core.errors import DomainError
from dpcore.curves.gaussian_range import ALPHA
from dpcore.regions.tradeoff import TradeOff, shorten

DEFAULT_DELTA = (1e-5,)
"""The δ of a conversion to (ε, δ) if none is given."""
DEFAULT_ORDER = (2.0,)
"""The Rényi order of a conversion if none is given."""
SINGLE = "One mechanism inside the region; nothing else is assumed."
"""The assumption of a conversion that is about one mechanism."""
_WHY = {
    "dp": "every region has one",
    "tv": "every region has one",
    "gdp": "no Gaussian curve lies below it, for it promises nothing at some rate of the range",
    "zcdp": "its loss is unbounded and no rate for it is known",
    "rdp": "its loss is unbounded and no closed form of its divergence is known",
    "group": "every region has one",
}


@dataclass(frozen=True, slots=True)
class Options:
    """The delta, epsilon, order or group size of a conversion."""

    delta: tuple[float, ...] = DEFAULT_DELTA
    epsilon: tuple[float, ...] = ()
    order: tuple[float, ...] = DEFAULT_ORDER
    k: int = 2
    alpha: float = ALPHA


Values = tuple[dict[str, float], str]
"""Named parameters of a statement, and ``exact`` or ``upper``."""

Rows = Callable[[TradeOff, Options], list[Values]]


@dataclass(frozen=True, slots=True)
class Check:
    """A known value: `parameter` of the first row for `expression` is `value`; `source` says where it is from."""

    expression: str
    parameter: str
    value: float
    tolerance: float
    source: str
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion from one notion to another; `kind` is ``exact`` (nothing smaller holds) or ``bound``."""

    source: str
    target: str
    formula: str
    kind: str
    assumptions: str
    reference: str
    applies: Callable[[TradeOff], bool]
    rows: Rows
    oracle: Check


def no_conversion(region: TradeOff, to: str, at: str = "") -> DomainError:
    """Return the error that says why no conversion leads from this region to a notion."""
    return DomainError(f"No conversion leads from {shorten(str(region))} to {to}{at}: {_WHY[to]}.")

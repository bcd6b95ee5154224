"""What can be added to a list of regions: the eleven kinds of the thesis first, then every other name of the language."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dpcore import parse
from dpcore.app.forms import example
from dpcore.app.listing import Item
from dpcore.core import registry
from dpcore.core.errors import DpcoreError
from dpcore.regions.algebra import Power
from dpcore.regions.guarantees import DP
from dpcore.regions.tradeoff import exponent
from dpcore.theorems.bound_regions import Simplified


@dataclass(frozen=True, slots=True)
class RegionKind:
    """One menu entry: its title and the item it adds."""

    title: str
    item: Item

    def __str__(self) -> str:
        """Return the menu entry."""
        return f"{self.title}: {self.item.name or self.item.expression}"


def simplified(epsilon: float, delta: float, k: int, slack: float) -> Item:
    """Return the expression for the simplified optimal theorem applied to k copies of one statement."""
    return Item(str(Simplified(DP(epsilon, delta) if k == 1 else Power(DP(epsilon, delta), exponent(k)), slack)))


def simplified_parameters(item: Item) -> tuple[float, float, int, float] | None:
    """Return (epsilon, delta, k, slack) of an item of that form, None for any other."""
    if not item.expression.startswith("simplified("):
        return None
    try:
        node = parse(item.expression)
    except DpcoreError:
        return None
    if not isinstance(node, Simplified):
        return None
    base, k = (node.region.base, node.region.k) if isinstance(node.region, Power) else (node.region, 1)
    return (base.epsilon_, base.delta_, k, node.slack) if isinstance(base, DP) else None


THESIS = (
    ("DP", "dp(0.6, 0.1)"),
    ("DP, basic composition", "basic(dp(0.6, 0.1)^2)"),
    ("DP, optimal composition", "dp(0.6, 0.1)^4"),
    ("DP-TV", "dptv(0.6, 0.15, 0.25)"),
    ("DP-TV composition", "dptv(0.6, 0.05, 0.2)^4"),
    ("Gaussian DP", "gdp(1.5)"),
    ("Gaussian DP composition", "gdp(1.5)^3"),
    ("Laplace mechanism", "laplace(0.6)"),
    ("Gaussian mechanism, classical calibration", "gaussian_classic(0.6, 0.1)"),
    ("Randomized response", "rr(0.6, 5)"),
)


@lru_cache(maxsize=1)
def kinds() -> tuple[RegionKind, ...]:
    """Return everything that can be added, in the order of the menu."""
    own = [RegionKind(title, Item(expression)) for title, expression in THESIS]
    own.insert(3, RegionKind("DP, simplified composition", simplified(0.6, 0.1, 2, 0.03)))
    covered = {"dp", "dptv", "gdp", "laplace", "gaussian_classic", "rr", "basic", "simplified"}
    groups = ("guarantee", "mechanism", "operation")
    entries = [entry for group in groups for entry in registry.entries(group) if entry.name not in covered]
    return (*own, *(RegionKind(_capital(entry.title), Item(example(entry))) for entry in entries))


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]

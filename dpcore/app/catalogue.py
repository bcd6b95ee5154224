"""What can be added to a list of regions: the eleven kinds of the thesis first, then every other name of the language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from dpcore import registry
from dpcore.app.forms import example
from dpcore.app.listing import Item
from dpcore.theorems import kov_simplified
from dpcore.tradeoff import literal

SIMPLIFIED = "KOV simplified"
_SIMPLIFIED = re.compile(rf"{SIMPLIFIED} ([\d.e+-]+), ([\d.e+-]+) k (\d{{1,15}}) slack ([\d.e+-]+)")


@dataclass(frozen=True, slots=True)
class Kind:
    """One line of the menu: its title and the item it adds."""

    title: str
    item: Item

    def __str__(self) -> str:
        """Return the line of the menu."""
        return f"{self.title}: {self.item.name or self.item.expression}"


def simplified(epsilon: float, delta: float, k: int, slack: float) -> Item:
    """Return the statement of the simplified optimal theorem, which is one (epsilon, delta), named by what it is from.

    The name carries the four parameters, so that the list can be edited by them.
    """
    row = kov_simplified([(epsilon, delta, k)], slack).iloc[0]
    name = f"{SIMPLIFIED} {literal(epsilon)}, {literal(delta)} k {k} slack {literal(slack)}"
    return Item(f"dp({literal(row['epsilon'])}, {literal(row['delta'])})", name)


def simplified_parameters(item: Item) -> tuple[float, float, int, float] | None:
    """Return (epsilon, delta, k, slack) of an item that `simplified` made, None for any other."""
    found = _SIMPLIFIED.fullmatch(item.name)
    if not found:
        return None
    try:
        values = (float(found[1]), float(found[2]), int(found[3]), float(found[4]))
        made = simplified(*values)
    except ValueError:  # DomainError included: a name typed by hand
        return None
    return values if made.expression == item.expression else None


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
def kinds() -> tuple[Kind, ...]:
    """Return everything that can be added, in the order of the menu."""
    own = [Kind(title, Item(expression)) for title, expression in THESIS]
    own.insert(3, Kind("DP, simplified composition", simplified(0.6, 0.1, 2, 0.03)))
    covered = {"dp", "dptv", "gdp", "laplace", "gaussian_classic", "rr", "basic"}
    groups = ("guarantee", "mechanism", "operation")
    entries = [entry for group in groups for entry in registry.entries(group) if entry.name not in covered]
    return (*own, *(Kind(_capital(entry.title), Item(example(entry))) for entry in entries))


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]

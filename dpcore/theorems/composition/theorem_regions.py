"""What each theorem promises about k copies of one mechanism, as a region, or the reason why it does not apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.core.domains import COUNT, DELTA, SLACK
from dpcore.core.errors import DpcoreError
from dpcore.language import parse
from dpcore.regions.algebra import factors
from dpcore.theorems.catalogue import drawing, theorem
from dpcore.theorems.record import reason
from dpcore.theorems.releases import Releases

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems import Theorem

TITLES = {"exact": "Actual mechanism", **{record.name: record.short for record in drawing()}}
"""Short titles of the regions by name: the mechanism itself first, then the theorems that draw one."""
DEFAULT_THEOREMS = ("exact", *(record.name for record in drawing() if record.shown))
"""The regions that are drawn unless others are asked for."""
LARGEST_K = 10**9


@dataclass(frozen=True, slots=True)
class TheoremRegion:
    """What one theorem says about the composition.

    Attributes
    ----------
    name, title : str
        Of the theorem.
    region : TradeOff or None
        What it promises; None if it does not apply, with the reason in `note`.
    kind : str
        ``exact``, ``upper`` (a valid bound), ``approximate`` (no promise) or ``none``.
    note : str
        What the region rests on.
    single : bool, default False
        Whether the region is one (epsilon, delta) statement.
    rough : bool, default False
        Whether it is far above the others and must not set the scale of a picture.
    """

    name: str
    title: str
    region: TradeOff | None
    kind: str
    note: str
    single: bool = False
    rough: bool = False


def theorem_regions(
    mechanism: TradeOff | str, k: int, *, slack: float = 1e-6, delta: float = 1e-6
) -> tuple[TheoremRegion, ...]:
    """Return the region that each theorem promises for k copies of a mechanism.

    Parameters
    ----------
    mechanism : TradeOff or str
        A region, or its expression.
    k : int
        How many copies, from 1 to 10^9.
    slack : float, default 1e-6
        What the closed-form theorems add to delta, in (0, 1].
    delta : float, default 1e-6
        The delta of the total; it matters for mechanisms of unbounded loss only.

    Returns
    -------
    tuple of TheoremRegion
        The composition itself first, then the theorems in the order of legends.
    """
    region = parse(mechanism) if isinstance(mechanism, str) else mechanism
    copies = COUNT.but(high=LARGEST_K).check(k)
    extra = SLACK.check(slack)
    target = DELTA.check(delta)
    releases = Releases([(node, count * copies) for node, count in factors(region)])
    return (
        _exact(region, releases, copies, target),
        *(_theorem_region(one, releases, target, extra) for one in drawing()),
    )


def _exact(region: TradeOff, releases: Releases, k: int, delta: float) -> TheoremRegion:
    if why := twin(releases, delta):
        return TheoremRegion("exact", TITLES["exact"], None, "none", why)
    return TheoremRegion("exact", TITLES["exact"], region**k, "exact", "exact composition of the mechanism itself")


def twin(releases: Releases, delta: float) -> str:
    """Say which theorem is the exact composition, if a statement is all that is known; otherwise empty."""
    statements = releases.attained(delta)
    if statements is None:
        return ""
    same = theorem("dptv" if statements.tv_helps else "kov_optimal")
    return f"Nothing but the statement is known: {same.short} is its exact composition."


def _theorem_region(record: Theorem, releases: Releases, delta: float, slack: float) -> TheoremRegion:
    single = record.region is None
    try:
        region, kind, note = record.promised_region(releases, delta, slack)
    except DpcoreError as error:
        return TheoremRegion(record.name, record.short, None, "none", reason(error), single, record.rough)
    return TheoremRegion(record.name, record.short, region, kind, note, single, record.rough)

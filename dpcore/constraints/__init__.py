"""Several (epsilon, delta) statements about one mechanism: together, composed, and split into single ones."""

from __future__ import annotations

from dpcore.constraints.activity import activity
from dpcore.constraints.conjecture import Conjecture, Gap, conjectured, gap
from dpcore.constraints.containing import ContainingProduct, containing
from dpcore.constraints.pair import corners, dominating_pair
from dpcore.constraints.splitting import Split, level_table, split
from dpcore.constraints.statements import Constraint, Constraints

__all__ = [
    "Conjecture",
    "Constraint",
    "Constraints",
    "ContainingProduct",
    "Gap",
    "Split",
    "activity",
    "conjectured",
    "containing",
    "corners",
    "dominating_pair",
    "gap",
    "level_table",
    "split",
]

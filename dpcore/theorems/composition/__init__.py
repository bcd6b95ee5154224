"""One mechanism used k times: what every composition theorem says about it, side by side.

`theorem_regions` gives one region per theorem, `ladder` the epsilon of each as k grows, `statements` the table of deltas, and
`verdict` says which is best and by how much.
"""

from dpcore.central_limit.convergence import KS
from dpcore.central_limit.limit import Limit, limit
from dpcore.theorems.composition.delta_table import statements
from dpcore.theorems.composition.ladder import ladder, rungs
from dpcore.theorems.composition.theorem_regions import DEFAULT_THEOREMS, TITLES, TheoremRegion, theorem_regions
from dpcore.theorems.composition.theorem_table import theorem_table
from dpcore.theorems.composition.verdict import best, gaps, headline, verdict
from dpcore.theorems.step import Step, step_of

__all__ = [
    "DEFAULT_THEOREMS",
    "KS",
    "TITLES",
    "Limit",
    "Step",
    "TheoremRegion",
    "best",
    "gaps",
    "headline",
    "ladder",
    "limit",
    "rungs",
    "statements",
    "step_of",
    "theorem_regions",
    "theorem_table",
    "verdict",
]

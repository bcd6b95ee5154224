"""The theorems, one file and one record each: composition, groups, and from one notion to another.

A file here with a `THEOREM` (`dpcore.theorems.record`) needs no registration; every page, table, command and text is a view of the
list `THEOREMS`. The functions take plain numbers and return tables ``theorem, epsilon, delta, kind, note``.
"""

from dpcore.theorems.advanced_course import advanced_course
from dpcore.theorems.advanced_drv import advanced_drv
from dpcore.theorems.basic import basic
from dpcore.theorems.catalogue import every_theorem, theorem
from dpcore.theorems.dptv import dptv
from dpcore.theorems.gdp import composed_mu, gdp
from dpcore.theorems.group import group
from dpcore.theorems.group_exact import group_exact
from dpcore.theorems.kov_heterogeneous import kov_heterogeneous
from dpcore.theorems.kov_optimal import kov_optimal
from dpcore.theorems.kov_simplified import kov_simplified, kov_simplified_epsilon
from dpcore.theorems.listing import applicable
from dpcore.theorems.parallel import parallel
from dpcore.theorems.parallel_union import parallel_union
from dpcore.theorems.record import Theorem, TheoremOracle
from dpcore.theorems.renyi import rdp_delta, rdp_to_dp, zcdp_delta, zcdp_to_dp

THEOREMS = every_theorem()
"""The records of all theorems."""

__all__ = [
    "THEOREMS",
    "Theorem",
    "TheoremOracle",
    "advanced_course",
    "advanced_drv",
    "applicable",
    "basic",
    "composed_mu",
    "dptv",
    "gdp",
    "group",
    "group_exact",
    "kov_heterogeneous",
    "kov_optimal",
    "kov_simplified",
    "kov_simplified_epsilon",
    "parallel",
    "parallel_union",
    "rdp_delta",
    "rdp_to_dp",
    "theorem",
    "zcdp_delta",
    "zcdp_to_dp",
]

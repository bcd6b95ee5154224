"""The named composition theorems: pure functions of numbers that return tables of (epsilon, delta) statements.

Every table has the columns ``theorem, epsilon, delta, kind, note``; `THEOREMS` describes each theorem as data.
"""

from dpcore.theorems.applicable import applicable
from dpcore.theorems.basic import basic, parallel, parallel_union
from dpcore.theorems.bounds import advanced_course, advanced_drv, kov_simplified, kov_simplified_epsilon
from dpcore.theorems.gaussian import composed_mu, gdp
from dpcore.theorems.group import group, group_exact
from dpcore.theorems.optimal import dptv, kov_heterogeneous, kov_optimal
from dpcore.theorems.records import THEOREMS, Oracle, Theorem, theorem
from dpcore.theorems.renyi import rdp_delta, rdp_to_dp, zcdp_delta, zcdp_to_dp

__all__ = [
    "THEOREMS",
    "Oracle",
    "Theorem",
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

"""Privacy against utility: how far answers are off, in closed form and simulated, beside the exact region.

Every file of this package describes pairs of a query and a mechanism; importing the package fills `PAIRS`.
"""

from importlib import import_module
from pkgutil import iter_modules

from dpcore.core.registry import Choice
from dpcore.utility.base import PAIRS, Fact, UtilityMeasure, UtilityPair, enter, pair
from dpcore.utility.dataset import Dataset
from dpcore.utility.inverse import UtilityRequirement, requirement
from dpcore.utility.simulate import closed_table, facts, simulate, table

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "PAIRS",
    "Choice",
    "Dataset",
    "Fact",
    "UtilityMeasure",
    "UtilityPair",
    "UtilityRequirement",
    "closed_table",
    "enter",
    "facts",
    "pair",
    "requirement",
    "simulate",
    "table",
]

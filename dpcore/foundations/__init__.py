"""The labs of statistical foundations: what a thesis printed, what is true, and why it matters.

``LABS`` holds every lab by name; importing the package enters them all.
"""

from __future__ import annotations

import importlib
import pkgutil

from dpcore.foundations.base import LABS, Check, Lab, Picture, Plot, Regions, Story, enter, lab, series, together

for _module in sorted(found.name for found in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")

__all__ = ["LABS", "Check", "Lab", "Picture", "Plot", "Regions", "Story", "enter", "lab", "series", "together"]

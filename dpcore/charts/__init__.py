"""Pictures of regions (Altair), each with its table and a sentence that says what it shows.

This is the only room of the package that imports altair; the numbers come from the layers below.
"""

from __future__ import annotations

import importlib.util

from dpcore.core.errors import DpcoreError

if importlib.util.find_spec("altair") is None:
    msg = 'Charts need altair; install it with: pip install "dpcore[charts]".'
    raise DpcoreError(msg)

from dpcore.charts.compositions import composition_figure, composition_profile, composition_table
from dpcore.charts.export import SUFFIXES, check_suffix, render, save
from dpcore.charts.figure import Figure
from dpcore.charts.ladder import ladder_chart, ladder_figure
from dpcore.charts.losses import loss_chart, loss_figure, loss_table, loss_takeaway
from dpcore.charts.paper import Paper
from dpcore.charts.profiles import profile_chart, profile_figure, profile_table, profile_takeaway
from dpcore.charts.regions import region_chart, region_figure, region_table, region_takeaway
from dpcore.charts.theme import Look
from dpcore.charts.utility import utility_chart, utility_figure, utility_table, utility_takeaway

__all__ = [
    "SUFFIXES",
    "Figure",
    "Look",
    "Paper",
    "check_suffix",
    "composition_figure",
    "composition_profile",
    "composition_table",
    "ladder_chart",
    "ladder_figure",
    "loss_chart",
    "loss_figure",
    "loss_table",
    "loss_takeaway",
    "profile_chart",
    "profile_figure",
    "profile_table",
    "profile_takeaway",
    "region_chart",
    "region_figure",
    "region_table",
    "region_takeaway",
    "render",
    "save",
    "utility_chart",
    "utility_figure",
    "utility_table",
    "utility_takeaway",
]

"""Private confidence intervals for your own data: mean, proportion, quantile and variance.

An interval says what it covers: values outside the public bounds are moved to them, and the interval is about the values
after that. Sampling is treated as normal for means and variances (central limit theorem), and exactly for proportions
and quantiles; the noise always has its exact law.
"""

from dpcore.planner.interval.base import IntervalPlan, PrivateInterval, ResampledCoverage
from dpcore.planner.interval.conditions import read_indicator
from dpcore.planner.interval.moments import MeanPlan, VariancePlan
from dpcore.planner.interval.proportion import ProportionPlan
from dpcore.planner.interval.quantile import QuantilePlan
from dpcore.planner.interval.tables import PLANS, interval_plan, interval_table, width_table

__all__ = [
    "PLANS",
    "IntervalPlan",
    "MeanPlan",
    "PrivateInterval",
    "ProportionPlan",
    "QuantilePlan",
    "ResampledCoverage",
    "VariancePlan",
    "interval_plan",
    "interval_table",
    "read_indicator",
    "width_table",
]

"""Series planner: what noisy means at several times reveal about a value or a user, and the least noise to limit it."""

from dpcore.planner.series.attacks import (
    LEVELS,
    SeriesAttack,
    least_noise,
    noise_at,
    plan,
    scenarios,
    target_shift,
    time_attacks,
    user_attack,
    worst,
)
from dpcore.planner.series.fit import Panel, SeriesFit, fit
from dpcore.planner.series.model import FLAT, KNOWN, STATIONARY, SeriesModel, pooled_model
from dpcore.planner.series.reading import read_panel
from dpcore.planner.series.uncertainty import both_plans, noise_range, range_words

__all__ = [
    "FLAT",
    "KNOWN",
    "LEVELS",
    "STATIONARY",
    "Panel",
    "SeriesAttack",
    "SeriesFit",
    "SeriesModel",
    "both_plans",
    "fit",
    "least_noise",
    "noise_at",
    "noise_range",
    "plan",
    "pooled_model",
    "range_words",
    "read_panel",
    "scenarios",
    "target_shift",
    "time_attacks",
    "user_attack",
    "worst",
]

"""Disclosure check: who is unique in a table, what their class gives away, and what to change before sharing it."""

from dpcore.planner.disclosure.classes import (
    NO_REGION,
    Diversity,
    EquivalenceClasses,
    equivalence_classes,
    summary,
)
from dpcore.planner.disclosure.generalisation import generalised, rules_of
from dpcore.planner.disclosure.plan import ColumnNoise, Protection, check, noise_frame, pram_frame, protection
from dpcore.planner.disclosure.post_randomisation import Pram, corrected, pram, transition

__all__ = [
    "NO_REGION",
    "ColumnNoise",
    "Diversity",
    "EquivalenceClasses",
    "Pram",
    "Protection",
    "check",
    "corrected",
    "equivalence_classes",
    "generalised",
    "noise_frame",
    "pram",
    "pram_frame",
    "protection",
    "rules_of",
    "summary",
    "transition",
]

"""Local privacy: everyone answers through a channel, and an analyst wants to tell two hypotheses apart.

`Hypotheses` is the question, `LocalPromise` what every answer guarantees, `Channel` how people answer. `optimum` finds the
best channel, `bounds` tabulates what is proved about all channels, `people` says how many answers are needed.
"""

from dpcore.local.bounds import BOUNDS, Case, DivergenceBound
from dpcore.local.channels import Channel, binary, openly, randomized_response, silence
from dpcore.local.checks import bounds, not_applicable
from dpcore.local.hypotheses import Hypotheses, LocalPromise
from dpcore.local.measures import MEASURES, DivergenceMeasure, measure_named
from dpcore.local.optimum import Optimum, optimum, why_not
from dpcore.local.people import People, people, people_words
from dpcore.local.sweeps import grid, ratios, regime_words, regimes, utilities

__all__ = [
    "BOUNDS",
    "MEASURES",
    "Case",
    "Channel",
    "DivergenceBound",
    "DivergenceMeasure",
    "Hypotheses",
    "LocalPromise",
    "Optimum",
    "People",
    "binary",
    "bounds",
    "grid",
    "measure_named",
    "not_applicable",
    "openly",
    "optimum",
    "people",
    "people_words",
    "randomized_response",
    "ratios",
    "regime_words",
    "regimes",
    "silence",
    "utilities",
    "why_not",
]

"""Sensitivities of your own data, and the errors of noise scaled to them.

Local, smooth and global sensitivity of mean, quantiles, variance and trimmed mean, and the errors of noise by smooth sensitivity
beside the exponential and the inverse-sensitivity mechanism and blocking, each with its true (epsilon, delta).
"""

from dpcore.planner.sensitivity.noise import SmoothCauchy, SmoothGaussian, SmoothLaplace, SmoothNoise
from dpcore.planner.sensitivity.queries import (
    MeanQuery,
    QuantileQuery,
    SensitiveQuery,
    TrimmedMeanQuery,
    VarianceQuery,
)
from dpcore.planner.sensitivity.tables import (
    QUERIES,
    mechanism_table,
    sensitive_query,
    sensitivity_table,
    smooth_table,
)

__all__ = [
    "QUERIES",
    "MeanQuery",
    "QuantileQuery",
    "SensitiveQuery",
    "SmoothCauchy",
    "SmoothGaussian",
    "SmoothLaplace",
    "SmoothNoise",
    "TrimmedMeanQuery",
    "VarianceQuery",
    "mechanism_table",
    "sensitive_query",
    "sensitivity_table",
    "smooth_table",
]

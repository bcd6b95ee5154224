"""One small file per mechanism; importing this package makes them all known to the registry."""

from dpcore.mechanisms import (
    bounded_laplace,
    exponential,
    gaussian,
    geometric,
    laplace,
    laplace_sum,
    log_concave,
    normal_laplace,
    poisson_gaussian,
    randomized_response,
    staircase,
    uniform,
)

__all__ = [
    "bounded_laplace",
    "exponential",
    "gaussian",
    "geometric",
    "laplace",
    "laplace_sum",
    "log_concave",
    "normal_laplace",
    "poisson_gaussian",
    "randomized_response",
    "staircase",
    "uniform",
]

"""Numbers that others published, and numbers computed in high precision, asked of dpcore.

The rows are in ``data/oracles/published.toml``; those that cannot apply carry their reason there.
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.special import ndtri

from dpcore import parse
from dpcore.calibration import epsilon_for_error
from dpcore.core.effort import effort
from dpcore.core.errors import DomainWarning
from dpcore.curves.polygon import Polygon
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.poisson_gaussian import PoissonGaussian
from dpcore.theorems import kov_simplified
from dpcore.training.gradients import renyi as divergence

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.regions.tradeoff import TradeOff

FILE = Path(__file__).parents[1] / "data" / "oracles" / "published.toml"
ROWS: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["oracle"]
TESTED = [row for row in ROWS if row["status"] == "tested"]
INVERSE = "crossing"
NOISE = "noise_for_error"
SPECIAL = {INVERSE, NOISE, "clamped", "theorem", "law"}
POLYGONS = ["dp(0.6, 0.05)^5", "dp(1, 0.1) * dp(2, 0.2)", "dptv(0.6, 0.05, 0.15)^5", "rr(1, 4)"]
SMOOTH = ["laplace(1)", "laplace(1)^2", "gaussian(1)", "poisson_gaussian(1, 0.1)^3"]


def label(row: dict[str, Any]) -> str:
    return f"{row['expression']} {row['measure']} {row.get('at', '')} = {row.get('value')}"


def select(*measures: str) -> list[Any]:
    return [pytest.param(row, id=label(row)) for row in TESTED if row["measure"] in measures]


def bounds_of(region: TradeOff, measure: str, at: float) -> tuple[float, float]:
    """Return the lower and upper answer of one question that has a certified bracket."""
    if measure == "tv":
        lower, upper = region.delta_bounds(np.array([0.0]))
    elif measure == "delta":
        lower, upper = region.delta_bounds(np.array([at]))
    elif measure == "epsilon":
        lower, upper = region.epsilon_bounds(np.array([at]))
    elif measure == "tpr":
        lower, upper = region.curve.power_bounds(np.array([at]))
    else:
        lower, upper = region.beta_bounds(np.array([at]))
    return float(lower[0]), float(upper[0])


def smallest_mu(region: TradeOff) -> float:
    """Return the smallest mu of Gaussian DP on the published range of false-positive rates, inf where f(0) < 1."""
    if region.beta_bounds(np.array([0.0]))[1][0] < 1:
        return math.inf
    alpha = np.logspace(math.log10(0.005), math.log10(0.5), 1000)
    if isinstance(region.curve, Polygon):  # the largest value lies at a corner
        corners = region.vertices()[0]
        alpha = np.concatenate([alpha, corners[(corners >= 0.005) & (corners <= 0.5)]])
    beta = region.beta_bounds(alpha)[0]
    return float(np.max(ndtri(1 - alpha) - ndtri(beta)))


def renyi(region: TradeOff, order: float) -> float:
    """Return the Rényi divergence of a symmetric region as an integral of its profile.

    E_0[(dP1/dP0)^a] = 1 + a (a - 1) ∫ e^((a-1) ε) (δ(ε) - max(0, 1 - e^ε)) dε, because x^a is a mixture of hinges.
    """
    epsilon = np.linspace(-30.0, 30.0, 60_001)
    excess = region.delta_bounds(epsilon)[1] + np.minimum(0.0, np.expm1(epsilon))
    total = np.trapezoid(np.exp((order - 1) * epsilon) * excess, epsilon)
    return math.log1p(order * (order - 1) * float(total)) / (order - 1)


def corner_epsilon(region: TradeOff, delta: float) -> float:
    """Return the smallest epsilon among the corners whose delta is at most the given one."""
    epsilons, deltas = region.corners()
    # A published delta of 0 is met by the last corner up to the rounding of its own sum.
    return float(np.min(np.abs(epsilons[(deltas <= delta) & (epsilons >= 0)])))


def error_of_noise(region: TradeOff, probability: float) -> float:
    """Return the error that the noise exceeds, on either side, with the given probability: half of it in each tail."""
    assert isinstance(region, Mechanism)
    low, high = 0.0, 100.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        more = 2 * float(region.survival(np.array([middle]))[0]) > probability
        low, high = (middle, high) if more else (low, middle)
    return high


def renyi_of_the_pair(region: TradeOff, order: float) -> float:
    """Return the Rényi divergence of the mixture from the Gaussian without the record, as it is published."""
    assert isinstance(region, PoissonGaussian)
    return float(divergence(region.sigma, region.q, order)[0])


POINTS: dict[str, Callable[[TradeOff, float], float]] = {
    "mu": lambda region, _: smallest_mu(region),
    "renyi": renyi,
    "corner_epsilon": corner_epsilon,
    "error_of_noise": error_of_noise,
    "renyi_of_the_pair": renyi_of_the_pair,
}


def slack(row: dict[str, Any]) -> float:
    """Return the absolute tolerance of a row."""
    return float(row["tolerance"] * (abs(row["value"]) if row["tolerance_kind"] == "rel" else 1))


@pytest.mark.parametrize("row", select("delta", "epsilon", "beta", "tpr", "tv"))
def test_bracket_meets_the_published_value(row: dict[str, Any]) -> None:
    lower, upper = bounds_of(parse(row["expression"]), row["measure"], row.get("at", 0.0))
    assert lower <= upper
    assert upper == pytest.approx(row["value"], abs=slack(row), rel=0)
    assert lower == pytest.approx(row["value"], abs=slack(row), rel=0)


@pytest.mark.parametrize("row", select(*POINTS))
def test_derived_value(row: dict[str, Any]) -> None:
    found = POINTS[row["measure"]](parse(row["expression"]), row.get("at", 0.0))
    assert found == pytest.approx(row["value"], abs=slack(row), rel=0)


@pytest.mark.parametrize("row", select("delta_at_most", "delta_at_least"))
def test_one_sided_value(row: dict[str, Any]) -> None:
    _, upper = bounds_of(parse(row["expression"]), "delta", row["at"])
    if row["measure"] == "delta_at_most":
        assert upper <= row["value"]
    else:
        assert upper >= row["value"]  # the published side


@pytest.mark.parametrize("row", select(INVERSE))
def test_parameter_where_the_budget_is_met(row: dict[str, Any]) -> None:
    epsilon, delta = row["at"]

    def spent(parameter: float) -> tuple[float, float]:
        return bounds_of(parse(row["expression"].replace("?", repr(parameter))), "delta", epsilon)

    with effort(tolerance=1e-5):  # the sides of a bracket decide, however wide it is
        assert spent(row["value"] + slack(row))[1] <= delta
        assert spent(row["value"] - slack(row))[0] > delta


@pytest.mark.parametrize("row", select(NOISE))
def test_noise_for_an_error(row: dict[str, Any]) -> None:
    """The largest noise whose error stays below a bound but for a given probability."""
    found = epsilon_for_error(row["expression"].split("(")[0], *row["at"])
    scale = 1 / found.value if found.parameter == "epsilon" else found.value
    assert scale == pytest.approx(row["value"], abs=slack(row), rel=0)


@pytest.mark.parametrize("row", select("clamped"))
def test_clamped_with_a_note(row: dict[str, Any]) -> None:
    with pytest.warns(DomainWarning):
        region = parse(row["expression"])
    assert region.same_region(parse(row["value"]), tolerance=row["tolerance"])


def test_simplified_composition() -> None:
    (row,) = [row for row in TESTED if row["measure"] == "theorem"]
    frame = kov_simplified([(0.05, 0.0)] * 20, row["at"])
    assert float(frame["epsilon"].iloc[0]) == pytest.approx(row["value"], abs=slack(row), rel=0)
    assert float(frame["delta"].iloc[0]) == pytest.approx(row["at"], rel=1e-12)


def test_every_row_is_tested_or_explained() -> None:
    known = {"delta", "epsilon", "beta", "tpr", "tv", "delta_at_most", "delta_at_least", *POINTS, *SPECIAL}
    for row in ROWS:
        assert row["status"] in {"tested", "not applicable"}
        if row["status"] == "tested":
            assert row["measure"] in known, row["what"]
        else:
            assert row["reason"].endswith("."), row["what"]


ENDS = sorted({row["expression"] for row in TESTED if row["measure"] not in SPECIAL})


@pytest.mark.parametrize("expression", ENDS)
def test_ends_of_every_curve(expression: str) -> None:
    region = parse(expression)
    infinite_lower, infinite_upper = bounds_of(region, "delta", math.inf)
    start_lower, start_upper = bounds_of(region, "beta", 0.0)
    assert start_lower == pytest.approx(1 - infinite_upper, abs=1e-12)
    assert start_upper == pytest.approx(1 - infinite_lower, abs=1e-12)
    assert bounds_of(region, "beta", 1.0) == (0.0, 0.0)


@pytest.mark.parametrize("expression", [*POLYGONS, *SMOOTH])
def test_shape_and_duality(expression: str) -> None:
    region = parse(expression)
    alpha = np.linspace(0.0, 1.0, 201)
    lower, upper = region.beta_bounds(alpha)
    rounding = 1e-12
    # Each line holds for the true f, hence for a lower bound of the smaller side and an upper one of the larger.
    assert np.all(lower[1:] <= upper[:-1])
    assert np.all(lower[1:-1] <= (upper[:-2] + upper[2:]) / 2 + rounding)
    assert np.all(lower <= 1 - alpha + rounding)
    assert np.all(region.beta_bounds(upper)[0] <= alpha + rounding)
    epsilon = np.linspace(-3.0, 3.0, 13)
    delta_lower, delta_upper = region.delta_bounds(epsilon)
    grid = np.linspace(0.0, 1.0, 4001)
    # δ(ε) = 1 - min_α (e^ε α + f(α)): every α gives a lower bound, a fine grid nearly the value.
    inner = 1 - np.min(np.exp(epsilon)[:, None] * grid + region.beta_bounds(grid)[1], axis=1)
    assert np.all(inner <= delta_upper + 1e-12)
    assert np.all(inner >= delta_lower - 1e-3 * np.exp(np.abs(epsilon)))
    assert np.all(lower <= upper)


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        ("dp(0.6, 0.05)^5", "basic(dp(0.6, 0.05)^5)"),
        ("dp(1)^3", "basic(dp(1)^3)"),
        ("dptv(0.6, 0.05, 0.15)^5", "dp(0.6, 0.05)^5"),
        ("dptv(1, 0, 0.3)^3", "dp(1)^3"),
    ],
)
def test_one_region_lies_in_the_other(smaller: str, larger: str) -> None:
    epsilon = np.linspace(-4.0, 4.0, 81)
    inside, outside = parse(smaller).delta_bounds(epsilon)[1], parse(larger).delta_bounds(epsilon)[1]
    assert np.all(inside <= outside + 1e-14)
    assert np.any(inside < outside - 1e-3)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"dptv(0.6, 0.05, {0.05 + 0.95 * math.tanh(0.3)!r})^4", "dp(0.6, 0.05)^4"),
        ("dp(0.6, 0.05)^1", "dp(0.6, 0.05)"),
        ("laplace(1)^1", "laplace(1)"),
        ("dp(1, 0.1) * dp(2, 0.2)", "dp(2, 0.2) * dp(1, 0.1)"),
        ("dp(1) * dp(0.5) * laplace(1)", "laplace(1) * dp(1) * dp(0.5)"),
    ],
)
def test_two_ways_to_one_region(first: str, second: str) -> None:
    epsilon = np.linspace(-4.0, 4.0, 81)
    ours, other = parse(first).delta_bounds(epsilon), parse(second).delta_bounds(epsilon)
    # Exact regions agree to rounding, certified brackets overlap.
    assert np.all(ours[0] <= other[1] * (1 + 1e-10) + 1e-15)
    assert np.all(other[0] <= ours[1] * (1 + 1e-10) + 1e-15)

"""Every name of the registry, every operation and power: the numbers of one region belong together.

Hypothesis explores; what it found once is kept as an example. `DPCORE_REGIONS` sets how many regions are drawn in all
(see also `make fuzz ARGS=regions`, which walks the language at random for as long as wanted).
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dpcore import TradeOff, parse
from dpcore.core import registry
from tests.fuzz.second_routes import verify
from tests.fuzz.strategies import entry_regions, regions

MANY = int(os.environ.get("DPCORE_REGIONS", "0"))
SHARES = st.lists(st.floats(0.0, 1.2), min_size=1, max_size=4)
ALPHAS = st.lists(st.one_of(st.floats(0.0, 1.0), st.floats(-30, -1).map(lambda u: 10.0**u)), min_size=1, max_size=4)
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
KEPT = (
    "group(dp(0.1), 6)",
    "group(dp(0.2), 10)",
    "group(dp(0.6), 6)^3",
    "subsample(dp(1)^40, 1)",
    "subsample(rr(50, 100002), 1)",
    "subsample(geometric(60), 0.9999999999999999)",
    "exponential(2)^3",
    "normal_laplace(1, 1e-20)",
    "normal_laplace(17, 1e-24)",
    "bounded_laplace(1, 0, 1, 1e-12)",
    "gdp(1e-15)",
    "gaussian_classic(2.7698275585638865e-162, 0.1353352832366127)^2",
    "gaussian_classic(2.7698275585638865e-162, 0.1353352832366127)^2 * gdp(1)",
    "gdp(1000000)",
    "zcdp(0.0003)",
    "skellam(1, 293)^2",
    "skellam(1, 171)^2",
    "banded_gaussian(0.049787068367863944, 0.36787944117144233, 1, 1, 7.38905609893065)",
    "erase(gdp(3544), 0.5)",
    "rr(1000000)^2",
    "symmetric(dp(1000000, 0.4497)^10)",
    "dp(1e-15) & tv(1e-16)",
    "dp(1000) & dp(1e-15)",
    "union(dp(1e-15), tv(1e-16))",
    "tv(0.36787944117144233) & dp(1.1548224173015786e-17, 0.36787944117144233)",
    "symmetric(random_allocation(0.01, 2))",
    "shuffle(rr(3.1391327920480296e-17), 1)",
    "exponential_scores(1, [8, 0.01, 0], [8, 0, 0.01], 8)",
    "exponential(15.018827537387677)",
    "shuffle(rr(1096.6331584284585), 1)",
    "subsample(dptv(2.292073872005286e-50, 0.0006846548764053444, 0.0006846548764053444), 0.6716366440420556)",
)


@pytest.mark.parametrize("text", KEPT)
def test_what_was_found_once(text: str) -> None:
    shares, alphas = [0.0, 1e-308, 0.3, 0.9], [1e-12, 0.05, 0.2, 0.9, 0.9312758389773489]
    assert verify(parse(text), shares, alphas, seconds=60.0) == ""


def test_a_power_at_the_last_rate_is_not_above_1() -> None:
    assert verify(parse("noisy_max_gumbel(37.17445234834917)"), [0.3], [0.9999999999999999], seconds=60.0) == ""


@pytest.mark.parametrize("sample", ["poisson", "fixed_size"])
def test_thousands_of_corners_with_next_to_no_loss_are_not_above_guessing(sample: str) -> None:
    """The masses of 20 000 corners exceed 1 by 2.4e-14: their rounding."""
    region = parse(f'{sample}(tradeoff("(1-a)^2", "convex"), 5e-121)')
    assert verify(region, [0.3], [0.5, 0.975, 0.98, 0.999, 1.0 - 1e-9], seconds=60.0) == ""


@pytest.mark.parametrize(
    "text", ["laplace(1000000)^2", "histogram(1000000)", "histogram(1) * laplace(1000000)", "histogram(2e-181)^3"]
)
def test_betas_below_every_double_are_answered_or_refused(text: str) -> None:
    verify(parse(text), [0.0, 0.3, 0.9, 1.0], [1e-12, 0.05, 0.5, 0.9], seconds=60.0)


@pytest.mark.parametrize("entry", registry.entries(), ids=lambda entry: entry.name)
def test_numbers_of_one_region_belong_together(entry: registry.Entry) -> None:
    @settings(max_examples=max(4, MANY // 60), suppress_health_check=SLOW)
    @given(entry_regions(entry), SHARES, ALPHAS)
    def walk(region: TradeOff, shares: list[float], alphas: list[float]) -> None:
        verify(region, shares, alphas, seconds=0.5)

    walk()


@settings(max_examples=max(25, MANY // 2), suppress_health_check=SLOW)
@given(regions(2), SHARES, ALPHAS)
@example(parse("group(dp(0.2), 10)"), [0.5], [0.2])
def test_the_whole_language(region: TradeOff, shares: list[float], alphas: list[float]) -> None:
    verify(region, shares, alphas, seconds=0.5)

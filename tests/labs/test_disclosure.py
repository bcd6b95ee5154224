"""Disclosure control: the tables and figures of Chapter 3 beside exact counts, moments and regions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.core.errors import DomainError
from dpcore.files.microdata import Microdata
from dpcore.labs import Regions, lab
from dpcore.labs import disclosure as sdc
from dpcore.labs import disclosure_views as views
from dpcore.local.channels import Channel
from dpcore.planner.disclosure import equivalence_classes, noise, pram


def test_table_3_3_is_not_three_anonymous() -> None:
    table = sdc.printed_two()
    assert [sdc.anonymity(table, [name]) for name in (sdc.AGE, sdc.AMOUNT)] == [3, 3]
    assert sdc.anonymity(table, [sdc.AGE, sdc.AMOUNT]) == 1
    both = equivalence_classes(Microdata.of_frame(table), [sdc.AGE, sdc.AMOUNT])
    assert both.frame["size"].tolist() == [1, 1, 2, 2]
    assert sdc.anonymity(sdc.printed_one(), [sdc.AGE]) == 3
    assert sdc.anonymity(sdc.ORIGINAL, [sdc.AGE]) == 1


def test_groups_of_the_toy_table() -> None:
    assert tuple("18-30" if age <= 30 else "31-45" for age in sdc.ORIGINAL[sdc.AGE]) == sdc.AGE_GROUPS
    assert sdc.ORIGINAL[sdc.AMOUNT].max() == 120.0  # in none of the printed groups
    assert len(range(24, 79, 5)) == 11
    assert len(sdc.COUNTS) == 12


def test_pram_is_randomized_response() -> None:
    channel = pram(0.8)
    assert channel.epsilon == pytest.approx(math.log(4), abs=1e-12)
    assert channel.region().delta(0.0) == pytest.approx(0.6)
    assert channel.region().delta(math.log(4)) == pytest.approx(0.0, abs=1e-12)
    uneven = Channel(((0.8, 0.2), (0.4, 0.6)), ("0", "1"), ("0", "1"), "PRAM")
    assert uneven.epsilon == pytest.approx(math.log(3), abs=1e-12), "the largest log ratio in a column"
    for keep, size in ((0.3, 4), (0.1, 4), (0.6, 5)):
        assert pram(keep, size).epsilon == pytest.approx(abs(math.log(keep * (size - 1) / (1 - keep))))
    assert math.isinf(pram(1.0).epsilon)


def test_share_near_a_point() -> None:
    """The probability that one record at a distance comes near, in closed form and by simulation."""
    places = np.array([0, 0.5, 1, 1.5, 2, 2.5, 3])
    assert noise.expected_near(places, np.zeros(1), 1.0, 2.0).tolist() == [1, 1, 1, 0.75, 0.5, 0.25, 0]
    rng = np.random.default_rng(6)
    for distance, a, r in ((0.7, 1.0, 0.4), (2.0, 3.0, 1.5), (0.0, 1.0, 0.2)):
        near = np.abs(distance + rng.uniform(-a, a, 100_000)) <= r
        share = float(noise.expected_near(np.array([distance]), np.zeros(1), a, r)[0])
        assert near.mean() == pytest.approx(share, abs=4 * math.sqrt(0.25 / 100_000))


def test_theorem_3_5_1_on_random_data() -> None:
    rng = np.random.default_rng(10)
    for _ in range(20):
        data = rng.normal(0, 3, 40)
        at = np.linspace(data.min(), data.max(), 200)
        here = noise.near(at, data, 2.0)
        ratio = noise.expected_near(at, data, 1.0, 2.0)[here > 0] / here[here > 0]
        assert ratio.min() > 0.5
    least = noise.expected_near(np.array([0.0]), np.array([1.999999]), 1.0, 2.0)[0]
    assert least == pytest.approx(0.5, abs=1e-6), "the half is attained in the limit"


def test_smallest_group_by_enumeration() -> None:
    """With whole data and radius the count changes at whole numbers only, so they and the halves between are all."""
    rng, found = np.random.default_rng(12), set()
    for _ in range(50):
        data = rng.integers(0, 30, 12).astype(float)
        every = np.arange(data.min(), data.max() + 0.25, 0.5)
        brute = min(int(np.sum(np.abs(data - x) < 4.0)) for x in every)
        assert noise.smallest_group(data, 4.0) == brute
        found.add(brute)
    assert len(found) > 1


def bin_counts(values: np.ndarray, edges: tuple[float, ...] = sdc.EDGES) -> np.ndarray:
    """Return how many values lie in each bin (low, high]; values outside are in none."""
    at = np.searchsorted(np.asarray(edges, dtype=np.float64), values, side="left")
    return np.bincount(at, minlength=len(edges) + 1)[1 : len(edges)].astype(np.int64)


def test_made_up_ages_have_the_printed_facts() -> None:
    data = sdc.ages()
    assert bin_counts(data).tolist() == list(sdc.COUNTS)
    assert sum(sdc.COUNTS) == sum(sdc.NOISY_COUNTS) == 659 == len(data)
    assert data.min() >= 22
    assert data.max() <= 78
    assert np.array_equal(data, sdc.ages(0))
    assert not np.array_equal(data, sdc.ages(1))


def test_table_3_4_within_its_errors() -> None:
    n = 659
    bias_errors = {"k-PRAM": math.sqrt(25 / 6 / n), "k-noise": math.sqrt(25 / 12 / n)}
    assert bias_errors == pytest.approx({"k-PRAM": 0.0795, "k-noise": 0.0562}, abs=6e-5)
    # fourth moments: difference of two uniforms w^4 / 15, uniform a^4 / 5
    mse_errors = {"k-PRAM": 25 * math.sqrt((1 / 15 - 1 / 36) / n), "k-noise": 6.25 * math.sqrt((1 / 5 - 1 / 9) / n)}
    for method, mse in (("k-PRAM", 25 / 6), ("k-noise", 25 / 12)):
        bias, printed, root = sdc.PRINTED[method]
        assert abs(bias) < bias_errors[method], "no evidence of any bias"
        assert printed == pytest.approx(mse, abs=4 * mse_errors[method])
        assert root == pytest.approx(math.sqrt(printed), abs=1e-6)


def test_moments_by_simulation() -> None:
    data, rng = sdc.ages(1), np.random.default_rng(3)
    draws = views.simulations(data, 5.0, 2.5, rng, 400)
    for method, exact in (("k-PRAM", noise.k_pram_moments(data, 5.0, 19.0)), ("k-noise", noise.k_noise_moments(659))):
        bias, mse = draws[method][:, 0], draws[method][:, 1]
        assert bias.mean() == pytest.approx(exact.bias, abs=4 * exact.bias_error / 20)
        assert bias.std() == pytest.approx(exact.bias_error, rel=4 / math.sqrt(800))
        assert mse.mean() == pytest.approx(exact.mse, abs=4 * mse.std() / 20)
    assert noise.k_noise_moments(659).mse == pytest.approx(2.08333, abs=6e-6)


def test_k_pram_stays_in_its_bin_and_noise_within_its_width() -> None:
    data, rng = sdc.ages(1), np.random.default_rng(5)
    released = noise.k_pram(data, rng, 5.0, 19.0)
    assert bin_counts(released).tolist() == list(sdc.COUNTS)
    assert np.abs(noise.k_noise(data, rng) - data).max() <= 2.5


def test_figure_3_3_counts_are_one_plausible_draw() -> None:
    """Given ages uniform in their bins, a record stays in its bin with 3/4 and moves to each neighbour with 1/8."""
    counts = np.array([0, *sdc.COUNTS, 0], dtype=float)
    expected = 0.75 * counts[1:-1] + 0.125 * (counts[:-2] + counts[2:])
    variance = 0.1875 * counts[1:-1] + 0.109375 * (counts[:-2] + counts[2:])
    inner = slice(1, -1)  # the ages at the ends are known not to fill their bins
    off = np.abs(np.array(sdc.NOISY_COUNTS) - expected) / np.sqrt(variance)
    assert off[inner].max() < 4
    many = np.mean([sdc.expected_bins(sdc.ages(seed), 2.5) for seed in range(100)], axis=0)
    assert many[2:-2] == pytest.approx(expected[2:-2], abs=1.5)
    data = sdc.ages(2)
    rng = np.random.default_rng(1)
    seen = np.mean([bin_counts(noise.k_noise(data, rng)) for _ in range(400)], axis=0)
    assert seen == pytest.approx(sdc.expected_bins(data, 2.5), abs=4 * math.sqrt(40 / 400))


def test_expected_group_size() -> None:
    sizes = [noise.expected_near(sdc.ages(seed), sdc.ages(seed), 2.5, 2.5).mean() for seed in range(20)]
    assert abs(np.mean(sizes) - sdc.PRINTED_GROUP) < 4 * np.std(sizes)


def test_the_story_of_disclosure_control() -> None:
    story, n = lab("disclosure_control").story, 659
    assert "called 3-anonymous in two columns" in story.claimed
    assert sdc.anonymity(sdc.printed_two(), [sdc.AGE, sdc.AMOUNT]) == 1
    assert abs(sdc.PRINTED["k-PRAM"][0]) < math.sqrt(25 / 6 / n)
    assert abs(sdc.PRINTED["k-noise"][0]) < math.sqrt(25 / 12 / n)
    apart = lab("disclosure_control", shift=5.0).view("regions")
    assert isinstance(apart, Regions)
    assert apart.regions["k-noise, age moved by 5"].total_variation == 1.0


def test_k_noise_region_is_a_straight_line() -> None:
    picture = lab("disclosure_control").view("regions")
    assert isinstance(picture, Regions)
    region = picture.regions["k-noise, age moved by 1"]
    for alpha in (0.0, 0.1, 0.5, 0.9):
        assert region.beta(alpha) == pytest.approx(max(0.0, 1 - 1 / 5 - alpha), abs=1e-12)
    assert region.delta(3.0) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"keep": 1.5}, r"keep must be a number in \[0, 1\]"),
        ({"halfwidth": 0}, "halfwidth must be"),
        ({"width": -1}, "width must be"),
    ],
)
def test_bad_parameters_are_named(values: dict[str, float], words: str) -> None:
    with pytest.raises(DomainError, match=words):
        lab("disclosure_control", **values)


def test_one_realisation_of_the_ages_is_like_any_other() -> None:
    """Median 38.5, mean 40.4, variance 143.6, ratios .894 and .998, group 79.2 lie within four deviations over draws."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        parts = [rng.uniform(low, low + 5.0, n) for low, n in zip(sdc.EDGES[:-1], sdc.COUNTS, strict=True)]
        data = np.concatenate(parts)
        ratio = noise.expected_near(data, data, 2.5, 5.0) / noise.near(data, data, 5.0)
        group = noise.expected_near(data, data, 2.5, 2.5).mean()
        found.append((np.median(data), data.mean(), data.var(ddof=1), ratio.min(), ratio.mean(), group))
    middle, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
    rounding = [0.05, 0.05, 0.05, 0.0005, 0.0005, 0.05]
    assert (np.abs(np.array([38.5, 40.4, 143.6, 0.894, 0.998, 79.2]) - middle) < 4 * spread + rounding).all()
    assert (spread < [0.5, 0.1, 2.0, 0.1, 0.01, 0.8]).all(), "so narrow that a wrong value would be seen"

"""The noise chart and the test behind it: rates by a second route, every mechanism drawn, light and dark."""

from __future__ import annotations

import json
import math
from typing import Any

import altair as alt
import numpy as np
import pytest

from dpcore import charts, parse
from dpcore.audit.threshold import AnswerPair, pair_of
from dpcore.charts.export import specification
from dpcore.charts.noise import COLUMNS, noise_figure, noise_takeaway
from dpcore.core.errors import DomainError
from dpcore.mechanisms.base import TwoAnswers
from dpcore.mechanisms.law import Masses
from dpcore.words import about
from tests.mechanisms import every

MORE = (
    "gaussian(2, 3)",
    "gaussian_classic(10, 1e-5)",
    "gaussian_analytic(1, 1e-5)",
    "rr(1)",
    "rr(1, 5)",
    "rr(0.5, 3)",
    "geometric(1)",
    "geometric(1, 2)",
    "geometric(0.5, 1000)",
    "staircase(1, 0.4)",
    "staircase(2, 0)",
    "uniform(5)",
    "laplace_vector(2, [1, 0.5])",
)
DRAWN = tuple(dict.fromkeys((*every.DRAWN, *MORE)))
BEST = tuple(text for text in DRAWN if (seen := every.mechanism(text).answers()).rising and not seen.note)
RATES = (0.0, 1e-9, 1e-3, 0.05, 0.3, 0.5, 0.9, 1.0)


@pytest.mark.parametrize("text", BEST)
def test_threshold_tests_reach_the_border(text: str) -> None:
    """The likelihood ratio rises with the answer, so by Neyman and Pearson a threshold is the best test."""
    region: Any = parse(text)
    pair = pair_of(region)
    for rate in RATES:
        test = pair.at_rate(rate)
        assert test.alpha == pytest.approx(rate, rel=1e-9, abs=1e-14)
        assert test.beta == pytest.approx(region.beta(rate), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("text", DRAWN)
def test_no_test_leaves_the_region(text: str) -> None:
    region: Any = parse(text)
    pair = pair_of(region)
    for rate in RATES:
        test = pair.at_rate(rate)
        assert test.beta >= region.beta(min(1.0, test.alpha)) - 1e-9


@pytest.mark.parametrize("text", DRAWN)
def test_rates_are_the_shaded_areas(text: str) -> None:
    """Integrating (or adding up) the densities on either side of the threshold gives the two errors."""
    pair = pair_of(parse(text))  # type: ignore[arg-type]  # all of them are mechanisms
    test = pair.at_rate(0.2)
    low, high = pair.window()
    if pair.labels:
        places = np.arange(len(pair.labels), dtype=np.float64)
    elif pair.discrete:
        places = np.arange(math.floor(low) - 30_000, math.ceil(high) + 30_000, dtype=np.float64)
    else:
        wide = 3 * (high - low)
        places = np.linspace(low - wide, high + wide, 2_000_001)
    step = 1.0 if pair.discrete else places[1] - places[0]
    accused = test.accused(places)
    alpha = float(np.sum(pair.density(places, inside=False) * accused)) * step
    beta = float(np.sum(pair.density(places, inside=True) * (1 - accused))) * step
    tolerance = 1e-9 if pair.discrete else 2e-5
    assert test.alpha == pytest.approx(alpha, abs=tolerance)
    assert test.beta == pytest.approx(beta, abs=tolerance)


def test_small_rates_keep_their_digits() -> None:
    test = pair_of(parse("laplace(1)")).at(-50.0)  # type: ignore[arg-type]  # a mechanism
    assert test.beta == pytest.approx(0.5 * math.exp(-51), rel=1e-12)
    assert test.alpha < 1.0 or test.alpha == 1.0
    far = pair_of(parse("geometric(1)")).at(-40.0)  # type: ignore[arg-type]  # a mechanism
    assert far.beta == pytest.approx(math.exp(-41) / (1 + math.exp(-1)), rel=1e-12)
    mixed = pair_of(parse("poisson_gaussian(1, 0.5)")).at(-9.0)  # type: ignore[arg-type]  # a mechanism
    normal = [0.5 * math.erfc(x / math.sqrt(2)) for x in (9.0, 10.0)]
    assert mixed.beta == pytest.approx(0.5 * sum(normal), rel=1e-9)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("text", DRAWN)
def test_every_mechanism_is_drawn(text: str, dark: bool) -> None:
    region: Any = parse(text)
    figure = noise_figure(pair_of(region).at_rate(0.05), look=charts.Look(dark=dark))
    spec = specification(figure)
    assert isinstance(figure.chart, alt.LayerChart)
    assert spec["description"] == figure.takeaway
    assert json.dumps(spec, allow_nan=False)
    assert tuple(figure.table.columns) == COLUMNS
    assert np.isfinite(figure.table[["answer", "density", "accused"]].to_numpy(dtype=float)).all()
    assert len(figure.table) <= 1000


@pytest.mark.parametrize("text", ["laplace(1)", "rr(1, 5)", "geometric(1, 2)"])
def test_pictures_are_rendered(text: str) -> None:
    figure = noise_figure(pair_of(parse(text)).at_rate(0.3))  # type: ignore[arg-type]  # mechanisms
    svg = charts.render(figure, ".svg").decode()
    assert "<svg" in svg
    assert "accused" in svg


def test_the_words() -> None:
    test = pair_of(parse("laplace(1)"), without=40).at(41)  # type: ignore[arg-type]  # a mechanism
    words = noise_takeaway(test)
    assert words.startswith("Accusing at answers above 41,")
    assert "about 18 of 100" in words  # e^-1 / 2 = 0.1839
    assert "misses 50 of 100" in words
    assert noise_takeaway(test.pair.at_rate(0.0)).startswith("Accusing nobody")
    assert noise_takeaway(test.pair.at_rate(1.0)).startswith("Accusing everybody")
    choice = pair_of(parse("rr(1, 5)"))  # type: ignore[arg-type]  # a mechanism
    assert "answer B, and at one of 3 others with a chance of" in noise_takeaway(choice.at_rate(0.3))
    assert "answer B with a chance of" in noise_takeaway(choice.at_rate(0.05))
    assert noise_takeaway(choice.at_rate(0.0)).startswith("Accusing nobody")


def test_what_lies_outside_is_said() -> None:
    pair = pair_of(parse("laplace(1)"))  # type: ignore[arg-type]  # a mechanism
    assert "outside the picture" in " ".join(noise_figure(pair.at_rate(1e-12)).notes)
    assert not noise_figure(pair.at_rate(0.05)).notes
    assert "drawn as a line" in " ".join(noise_figure(pair_of(parse("geometric(1, 500)")).at_rate(0.1)).notes)  # type: ignore[arg-type]  # a mechanism
    assert "uses both" in " ".join(noise_figure(pair_of(parse("histogram(1)")).at_rate(0.1)).notes)  # type: ignore[arg-type]  # a mechanism


@pytest.mark.parametrize(
    "text",
    [
        "exponential(1)",
        "laplace(0)",
        "laplace(inf)",
        "gaussian(inf)",
        "bounded_laplace(inf, 0, 1, 1)",
    ],
)
def test_what_cannot_be_drawn_says_why(text: str) -> None:
    region: Any = parse(text)
    with pytest.raises(DomainError) as found:
        noise_figure(pair_of(region).at_rate(0.05))
    assert str(found.value).endswith(".")


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan])
def test_rates_outside_the_domain_are_refused(rate: float) -> None:
    with pytest.raises(DomainError, match=r"alpha must be a number in \[0, 1\]"):
        pair_of(parse("laplace(1)")).at_rate(rate)  # type: ignore[arg-type]  # a mechanism


def test_people_are_counted_to_the_nearest() -> None:
    expected = {
        0.0: "0 of 100",
        1.0: "100 of 100",
        0.3033: "about 30 of 100",
        0.05: "5 of 100",
        0.0341: "about 34 of 1 000",
    }
    assert {rate: about(rate) for rate in expected} == expected
    assert about(1 - 1e-16) == "almost 100 of 100"
    assert about(1e-6) == "1 of 1 000 000"


@pytest.mark.parametrize("threshold", [-2.0, -1.0, 0.0, 1.0, 2.0])
def test_tails_of_integer_noise_of_any_kind(threshold: float) -> None:
    """Those missed are those at or below the threshold, and those above are the rest: a die that shows -1, 0 or 1."""
    die = Masses(-1, np.ones(3))
    pair = AnswerPair(TwoAnswers(die, die.moved(1.0)), "a die")
    for inside in (False, True):
        at_most = sum(1 / 3 for answer in (-1, 0, 1) if answer + inside <= threshold)
        assert pair.below(threshold, inside=inside) == pytest.approx(at_most, abs=1e-15)
        assert pair.above(threshold, inside=inside) == pytest.approx(1 - at_most, abs=1e-15)


def test_noise_of_bounded_support_is_accused_beyond_its_end() -> None:
    """At a false-positive rate of 0 the best test accuses what cannot happen without the person."""
    die = Masses(-1, np.ones(3))
    test = AnswerPair(TwoAnswers(die, die.moved(1.0)), "a die").at_rate(0.0)
    assert (test.threshold, test.alpha) == (1.0, 0.0)
    assert test.beta == pytest.approx(2 / 3, abs=1e-15)
    assert noise_takeaway(test).startswith("Accusing at answers above 1,")

"""Local privacy: how many people an answer takes, by counting; tables and charts over epsilon."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.charts.local import channel_figure, sweep_figure
from dpcore.core.errors import DomainError
from dpcore.local import (
    MEASURES,
    Hypotheses,
    LocalPromise,
    binary,
    grid,
    openly,
    people,
    people_words,
    randomized_response,
    ratios,
    silence,
    utilities,
)
from dpcore.local.people import _enough, _least

KL = MEASURES["kl"]
TIED = Hypotheses((0.5, 0.3, 0.2), (0.2, 0.3, 0.5))
THREE = Hypotheses((0.5, 0.3, 0.2), (0.2, 0.35, 0.45))


# ---- people --------------------------------------------------------------------------------------------------


def misses(first: np.ndarray, second: np.ndarray, alarm: float, n: int) -> float:
    """Return the misses of the best test on n answers, by listing every sequence of answers."""
    p, q = first, second
    for _ in range(n - 1):
        p, q = np.outer(p, first).ravel(), np.outer(q, second).ravel()
    order = np.argsort(-(q / p), kind="stable")
    left, missed = alarm, 1.0
    for x in order:
        share = min(1.0, left / p[x])
        left, missed = left - share * p[x], missed - share * q[x]
        if left <= 0:
            break
    return missed


def test_people_by_listing_all_answers() -> None:
    far = Hypotheses((0.9, 0.08, 0.02), (0.05, 0.15, 0.8))
    for channel in (
        binary(far, LocalPromise(2)),
        randomized_response(far, LocalPromise(2)),
        binary(far, LocalPromise(3, 0, 0.6)),
    ):
        found = people(channel, far, 0.1, 0.2, search=True)
        assert found.exact is not None
        n = int(found.exact)
        outputs = channel.outputs(far)
        assert 1 < n <= 12
        assert misses(*outputs, 0.1, n) <= 0.2 < misses(*outputs, 0.1, n - 1)


@pytest.mark.parametrize(("alarm", "miss"), [(0.05, 0.05), (0.3, 0.001), (0.001, 0.2)])
def test_bounds_hold_the_exact_number(alarm: float, miss: float) -> None:
    for question in (THREE, TIED, Hypotheses((0.5, 0.5), (0.6, 0.4))):
        for epsilon in (0.1, 1.0, 4.0):
            channel = binary(question, LocalPromise(epsilon))
            exact = people(channel, question, alarm, miss).exact
            assert exact is not None
            first, second = channel.outputs(question)
            assert _least(first, second, alarm, miss) <= exact <= _enough(first, second, alarm, miss)


def test_stein_is_the_limit() -> None:
    channel = binary(THREE, LocalPromise(1))
    first, second = channel.outputs(THREE)

    limit = 690.775 / KL.between(first, second)  # log(1e300)
    assert _least(first, second, 0.05, 1e-300) == pytest.approx(limit, rel=0.06)
    assert _enough(first, second, 0.05, 1e-300) == pytest.approx(limit, rel=0.2)


def test_tiny_privacy_takes_many_people() -> None:
    found = people(binary(THREE, LocalPromise(1e-3)), THREE)
    assert found.exact is None or found.least <= found.exact <= found.enough
    assert 1e7 < found.least < found.enough < 1e9
    assert people(binary(THREE, LocalPromise(0.01)), THREE).exact == pytest.approx(1_202_481, rel=1e-3)


def test_people_in_words() -> None:
    plain = people(openly(THREE), THREE)
    words = people_words(people(binary(THREE, LocalPromise(1)), THREE), plain, alarm=0.05, miss=0.05)
    assert "needs 138 people (exact" in words
    assert "Without privacy it would be 22 (exact)" in words
    many = people_words(people(binary(THREE, LocalPromise(0.01, 0, 0.002)), THREE), plain, alarm=0.05, miss=0.05)
    assert "lower bound" in many
    assert "upper bound" in many
    assert "the answers say nothing" in people_words(people(silence(THREE), THREE), plain, alarm=0.05, miss=0.05)
    for rates in ((0.0, 0.1), (0.1, 0.5), (math.nan, 0.1)):
        with pytest.raises(DomainError, match="The rate of"):
            people(binary(THREE, LocalPromise(1)), THREE, *rates)


# ---- tables and charts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "promise", [LocalPromise(1), LocalPromise(1, 0, 0.3), LocalPromise(1, 0.05), LocalPromise(8)], ids=str
)
def test_tables_over_epsilon(promise: LocalPromise) -> None:
    points = [0.5, 1.0, 3.0]
    for name in ("kl", "tv", "symmetric"):
        table = utilities(THREE, promise, MEASURES[name], points)
        assert np.isfinite(table[["parameter", "value", "low", "high"]]).all(axis=None)
        assert set(table["kind"]) <= {"exact", "upper", "lower"}
        best = table[table["series"] == "best channel"]["value"].to_numpy()
        assert np.all(np.diff(best) >= -1e-15)
        for series, rows in table.groupby("series"):
            if set(rows["kind"]) == {"upper"}:
                assert np.all(rows["value"].to_numpy() >= best * (1 - 1e-9)), series
        figure = sweep_figure(table, value=MEASURES[name].title, epsilon=1.0, apart=0.2)
        assert "At ε = 1 the best channel keeps" in figure.takeaway
        assert len(figure.chart.to_dict()["layer"]) > 2
    with pytest.raises(DomainError, match=r"^epsilon must be a number in \[0, inf\), got \[\]\.$"):
        utilities(THREE, promise, KL, [])


def test_the_ratio_chart_and_the_grid() -> None:
    points = grid(THREE, LocalPromise(1.234))
    assert 1.234 in points
    assert len(points) == 26
    figure = sweep_figure(
        ratios(THREE, LocalPromise(1), KL, [1.0, 4.0]), value="binary mechanism / best channel", epsilon=1.0
    )
    assert "at least 0.537 (sharper bound), 0.134 (Ghazi, Issa 2023), 0.0361 (Kairouz et al. 2014)" in figure.takeaway


def test_a_channel_as_a_picture() -> None:
    channel = randomized_response(Hypotheses((0.5, 0.5), (0.6, 0.4), ("A.b", "c:d")), LocalPromise(1))
    figure = channel_figure(channel, LocalPromise(1.0))
    assert list(figure.table.columns) == ["letter", "answer", "probability"]
    assert figure.table["probability"].sum() == pytest.approx(2)
    assert figure.chart.to_dict()

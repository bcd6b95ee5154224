"""Calibration: published values, a second route, and the promise that the answer is safe and tight."""

from __future__ import annotations

import csv
import io
import math
import time

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.calibration import COLUMNS, calibrate, epsilon_for_error, largest_k, noise_for
from dpcore.calibration.answers import MOST_DRAWN, NOISE, WANTED, Question, answers, regions
from dpcore.calibration.quick import DeltaEstimate, applies
from dpcore.calibration.requirements import EpsilonDelta
from dpcore.calibration.search import Axis, Search
from dpcore.cli import main
from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError, ParseError
from dpcore.language import parse

STEP = 1e-6


def value(expression: str, **target: float) -> float:
    return float(calibrate(expression, **target)["value"].iloc[0])


def gaussian_delta(sigma: float, epsilon: float) -> float:
    with mpmath.workdps(60):
        mu = 1 / mpmath.mpf(sigma)
        first = mpmath.ncdf(mu / 2 - epsilon / mu)
        return float(first - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu))


def poisson_delta(sigma: float, q: float, k: int, epsilon: float, step: float) -> float:
    """Convolve the loss on a lattice by FFT, each mass split between two points: the error falls with step squared."""
    x = np.linspace(-12 * sigma, 1 + 12 * sigma, 400_001)
    scale = (x[1] - x[0]) / (sigma * np.sqrt(2 * np.pi))
    mass = scale * ((1 - q) * np.exp(-((x / sigma) ** 2) / 2) + q * np.exp(-(((x - 1) / sigma) ** 2) / 2))
    at = np.log1p(q * np.expm1((2 * x - 1) / (2 * sigma**2))) / step
    first = np.floor(at).astype(int)
    size = 2**16
    inside = np.abs(first) < size // 2 - 1
    first, share, mass = first[inside], (at - np.floor(at))[inside], mass[inside]
    law = np.bincount(first % size, mass * (1 - share), size) + np.bincount((first + 1) % size, mass * share, size)
    folded = np.fft.irfft(np.fft.rfft(law) ** k, size)
    loss = step * (np.arange(size) - size * (np.arange(size) >= size // 2))
    above = loss > epsilon
    return float(-(folded[above] * np.expm1(epsilon - loss[above])).sum())


class TestPublishedValues:
    @pytest.mark.parametrize(
        ("expression", "epsilon", "delta", "published", "tolerance"),
        [
            ("gaussian(?)", 1.0, 1e-5, 3.7306, 1e-4),
            ("gaussian(?)", 1.0, 0.78760074, 1 / 3, 1e-8),
            ("gaussian(?, 6)^25", 1.0, 0.78760074, 10.0, 1e-6),
            ("poisson_gaussian(?, 0.01)", 1.0, 1e-5, 0.67379294682, 1e-6),
            ("laplace(scale=?)^20", 1.0, 1e-4, 13.6, 0.1),
            ("laplace(scale=?)^500", 1.0, 1e-4, 71.0, 0.1),
            ("laplace(scale=?, sensitivity=21)^10", 3.0, 0.0, 70.0, 1e-9),
            ("dp(?)^30", 30.0, 0.0, 1.0, 1e-9),
        ],
    )
    def test_smallest_noise(
        self, expression: str, epsilon: float, delta: float, published: float, tolerance: float
    ) -> None:
        assert value(expression, epsilon=epsilon, delta=delta) == pytest.approx(published, abs=tolerance)

    def test_tiny_delta_against_high_precision(self) -> None:
        sigma = value("gaussian(?)", epsilon=1, delta=1e-30)
        assert gaussian_delta(sigma, 1) <= 1e-30 * (1 + 1e-10)
        assert gaussian_delta(sigma * (1 - 1e-9), 1) > 1e-30

    def test_accuracy_of_a_scale(self) -> None:
        assert epsilon_for_error("gaussian", 2.0, 0.05).value == pytest.approx(1.020426913849308, rel=1e-12)
        assert 1 / epsilon_for_error("laplace", 2.0, 0.05).value == pytest.approx(0.6676164013906681, rel=1e-12)
        assert 1 / epsilon_for_error("laplace", 2.995732273553991, 0.05).value == pytest.approx(1.0, rel=1e-12)


class TestFrame:
    def test_columns_and_types(self) -> None:
        frame = calibrate("gaussian(?)^10", epsilon=1, delta=1e-5)
        assert tuple(frame.columns) == COLUMNS
        row = frame.iloc[0]
        assert (row.parameter, row.k, row.kind, row.epsilon) == ("sigma", 10, "exact", 1.0)
        assert str(parse(row.expression)) == row.expression
        assert parse(row.expression).delta(1.0) == row.delta <= 1e-5

    def test_copies_of_the_unknown(self) -> None:
        assert calibrate("(laplace(?)^2 * dp(0.1))^3", epsilon=2, delta=1e-5).k.item() == 6
        assert calibrate("(dp(0.1)^?)^3", epsilon=2, delta=1e-5).k.item() % 3 == 0

    def test_without_unknown_the_rest_of_the_target_is_returned(self) -> None:
        region = parse("gaussian(3)^2")
        assert value("gaussian(3)^2", delta=1e-5) == region.epsilon(1e-5)
        assert value("gaussian(3)^2", epsilon=1) == region.delta(1)
        assert value("gaussian(3)^2", fpr=0.1) == region.power(0.1)

    @pytest.mark.parametrize("text", ["gaussian(3)^2", "dp(1, 0.1)", "laplace(0.1)^1000", "poisson_gaussian(1, 0.1)^9"])
    @pytest.mark.parametrize("tpr", [0.0, 1e-9, 0.05, 0.3, 0.75, 1.0])
    def test_the_least_false_positive_rate_is_left_out(self, text: str, tpr: float) -> None:
        """Nobody reaches the true-positive rate with fewer false positives, and somebody does with a few more."""
        row = calibrate(text, tpr=tpr).iloc[0]
        curve = parse(text).curve
        assert row.parameter == "fpr"
        assert row.kind in {"exact", "lower"}
        if row.value > 0:
            assert curve.power_bounds(np.array([row.value * (1 - 1e-6)]))[0][0] <= tpr
        assert curve.power_bounds(np.array([min(1.0, row.value * (1 + 1e-6) + 1e-300)]))[1][0] >= tpr * (1 - 1e-6)


class TestSafeAndTight:
    @pytest.mark.parametrize(
        "expression",
        [
            "gaussian(?)",
            "gaussian(2, ?)^3",
            "gdp(?)^4",
            "dp(?, 1e-7)^12",
            "dp(0.1, ?)^12",
            "tv(?)^3",
            "laplace(?)^5",
            "laplace(0.2) * gaussian(?)^2",
            "histogram(?)",
            "geometric(?, 2)^4",
            "rr(?, 5)^3",
            "staircase(?, 0.5)^4",
            "uniform(?)^5",
            "erase(dp(2), ?)",
            "subsample(dp(1.5), ?)",
            "poisson_gaussian(?, 0.1)",
            "poisson_gaussian(0.7, ?)",
            "rdp(?, 0.3)",
            "laplace_vector(?, [1, 2])",
            "points([[0.1, ?]])",
        ],
    )
    def test_one_step_further_misses_the_target(self, expression: str) -> None:
        epsilon, delta = 0.8, 2e-3
        row = calibrate(expression, epsilon=epsilon, delta=delta).iloc[0]
        region = parse(row.expression)
        assert float(region.delta_bounds(epsilon)[1][0]) <= delta
        assert row.delta <= delta
        near = [parse(expression.replace("?", repr(float(row.value) * (1 + sign * STEP)))) for sign in (-1.0, 1.0)]
        assert max(float(r.delta_bounds(epsilon)[1][0]) for r in near) > delta

    @pytest.mark.parametrize(
        "expression", ["laplace(0.1)^?", "dp(0.1, 1e-9)^?", "gaussian(9)^?", "geometric(0.1)^?", "rr(0.2, 3)^?"]
    )
    def test_one_more_copy_misses_the_target(self, expression: str) -> None:
        row = calibrate(expression, epsilon=5, delta=1e-6).iloc[0]
        assert row.kind == "exact"
        assert parse(expression.replace("?", str(row.k))).delta(5.0) <= 1e-6
        assert float(parse(expression.replace("?", str(row.k + 1))).delta_bounds(5.0)[0][0]) > 1e-6

    def test_poisson_gaussian(self) -> None:
        row = calibrate("poisson_gaussian(?, 0.01)^1000", epsilon=2, delta=1e-5).iloc[0]
        assert row.kind == "upper"
        assert row.value == pytest.approx(0.9591015525, rel=3e-7)
        coarse, fine = (poisson_delta(row.value, 0.01, 1000, 2.0, step) for step in (8e-4, 4e-4))
        assert fine - (coarse - fine) / 3 == pytest.approx(row.delta, rel=1e-6)
        assert float(parse(row.expression).delta_bounds(2.0)[1][0]) <= 1e-5
        further = parse(f"poisson_gaussian({float(row.value) * (1 - STEP)!r}, 0.01)^1000")
        assert float(further.delta_bounds(2.0)[0][0]) > 1e-5

    def test_poisson_gaussian_copies(self) -> None:
        k = largest_k("poisson_gaussian(1, 0.01)", 2, 1e-5)
        assert parse(f"poisson_gaussian(1, 0.01)^{k}").delta(2.0) <= 1e-5
        assert float(parse(f"poisson_gaussian(1, 0.01)^{k + 1}").delta_bounds(2.0)[0][0]) > 1e-5

    @settings(max_examples=25, deadline=None)
    @given(st.floats(0.05, 20), st.floats(-30, -0.5), st.integers(1, 10**6))
    def test_gaussian_against_high_precision(self, epsilon: float, exponent: float, k: int) -> None:
        delta = 10.0**exponent
        sigma = value(f"gaussian(?)^{k}", epsilon=epsilon, delta=delta)
        assert gaussian_delta(sigma / math.sqrt(k), epsilon) <= delta * (1 + 1e-9)
        assert gaussian_delta(sigma / math.sqrt(k) * (1 - 1e-9), epsilon) > delta * (1 - 1e-9)


class TestAttackTargets:
    def test_advantage(self) -> None:
        row = calibrate("gaussian(?)^3", advantage=0.2).iloc[0]
        assert (row.epsilon, row.kind) == (0.0, "exact")
        # advantage 2 Phi(mu / 2) - 1
        mu = 2 * float(mpmath.mpf(2) ** 0.5 * mpmath.erfinv(0.2))
        assert row.value == pytest.approx(math.sqrt(3) / mu, rel=1e-10)
        assert parse(row.expression).total_variation <= 0.2

    def test_rates(self) -> None:
        row = calibrate("gaussian(?)", tpr=0.1, fpr=0.01).iloc[0]
        with mpmath.workdps(30):
            normal = [mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(str(rate)) - 1) for rate in (0.1, 0.01)]
            assert row.value == pytest.approx(float(1 / (normal[0] - normal[1])), rel=1e-10)
        assert parse(row.expression).power(0.01) <= 0.1
        assert row.delta == parse(row.expression).total_variation

    def test_largest_k_for_an_advantage(self) -> None:
        k = largest_k("dp(0.1)", advantage=0.2)
        assert parse(f"dp(0.1)^{k}").total_variation <= 0.2 < parse(f"dp(0.1)^{k + 1}").total_variation

    def test_rates_of_an_engine_product(self) -> None:
        row = calibrate("laplace(0.2)^3 * gaussian(?)", tpr=0.4, fpr=0.1).iloc[0]
        assert parse(row.expression).power(0.1) <= 0.4
        less = float(row.value) * (1 - 1e-5)
        assert parse(f"laplace(0.2)^3 * gaussian({less!r})").power(0.1) > 0.4


class TestHelpers:
    def test_noise(self) -> None:
        assert noise_for("gaussian", 1, 0.78760074, k=25, sensitivity=6) == pytest.approx(10.0, rel=1e-7)
        assert noise_for("laplace", 3, 0, 10, sensitivity=21) == pytest.approx(70.0, rel=1e-9)
        assert noise_for("laplace_vector", 1, 1e-3, shifts=[1, 1]) > 0
        assert noise_for("uniform", advantage=0.1) == pytest.approx(5.0, rel=1e-10)

    @pytest.mark.parametrize("name", ["rr", "geometric", "dp"])
    def test_names_without_noise(self, name: str) -> None:
        with pytest.raises(DomainError, match="no noise parameter"):
            noise_for(name, 1, 1e-5)

    def test_noise_is_not_given(self) -> None:
        with pytest.raises(DomainError, match="leave it out"):
            noise_for("gaussian", 1, 1e-5, sigma=2)

    def test_largest_k_of_a_product(self) -> None:
        assert largest_k("dp(1)", 7, 0) == 7
        assert largest_k("dp(1) * dp(2)", 7, 0) == 2

    def test_many_copies(self) -> None:
        assert largest_k("gaussian(1e6)", 5, 1e-6) == pytest.approx(1.041128703528e12, rel=1e-9)


class TestImpossible:
    @pytest.mark.parametrize(
        ("expression", "target", "words"),
        [
            ("dp(1) * gaussian(?)", {"epsilon": 0.5, "delta": 0.01}, "No sigma"),
            ("dp(?, 0.1)", {"epsilon": 1, "delta": 0.01}, "No epsilon"),
            ("gaussian(?)", {"epsilon": 1, "delta": 0}, "No sigma"),
            ("dp(1)^?", {"epsilon": 0.5, "delta": 0.01}, "Not even k = 1"),
            ("dp(1e-9)^?", {"epsilon": 5, "delta": 1e-6}, "At least k = 1000000000"),
        ],
    )
    def test_no_value(self, expression: str, target: dict[str, float], words: str) -> None:
        with pytest.raises(BudgetError, match=words):
            calibrate(expression, **target)

    @pytest.mark.parametrize(
        ("expression", "target"),
        [
            ("gaussian(?)", {"epsilon": 1, "delta": 1}),
            ("gaussian(?)", {"advantage": 1}),
            ("gaussian(?)", {"tpr": 1, "fpr": 0.1}),
            ("subsample(dp(0.1), ?)", {"epsilon": 1, "delta": 1e-3}),
            ("erase(gaussian(?), 0.5)", {"epsilon": 1, "delta": 0.6}),
            ("gdp(0)^?", {"epsilon": 1, "delta": 1e-3}),
        ],
    )
    def test_every_value(self, expression: str, target: dict[str, float]) -> None:
        with pytest.raises(DomainError, match="nothing to calibrate"):
            calibrate(expression, **target)

    def test_neither_grows_nor_shrinks(self) -> None:
        with pytest.raises(DomainError, match="gamma of staircase cannot be calibrated"):
            calibrate("staircase(1, ?)", epsilon=0.2, delta=0.3)

    def test_deadline(self) -> None:
        with effort(deadline=1e-9):
            time.sleep(1e-3)
            with pytest.raises(BudgetError, match="time"):
                calibrate("gaussian(?)", epsilon=1, delta=1e-5)


class TestBadInput:
    @pytest.mark.parametrize(
        ("expression", "target", "words"),
        [
            ("gaussian(?) * laplace(?)", {"epsilon": 1, "delta": 0.1}, "Exactly one"),
            ("gaussian(?)^?", {"epsilon": 1, "delta": 0.1}, "Exactly one"),
            ("gaussian(1)", {"epsilon": 1, "delta": 0.1}, "no \\?"),
            ("gaussian(1)", {}, "no \\?"),
            ("subsample(?, 0.1)", {"epsilon": 1, "delta": 0.1}, "a region"),
            ("assume(dp(1), ?)", {"epsilon": 1, "delta": 0.1}, "one of any, substitution, add/remove"),
            ("gaussian(?)", {}, "A target is needed"),
            ("gaussian(?)", {"epsilon": 1}, "epsilon was given without delta"),
            ("gaussian(?)", {"delta": 0.1}, "delta was given without epsilon"),
            ("gaussian(?)", {"tpr": 0.1}, "tpr was given without fpr"),
            ("gaussian(?)", {"epsilon": 1, "delta": 0.1, "advantage": 0.1}, "got several"),
            ("gaussian(?)", {"fpr": 0.1, "advantage": 0.1}, "got several"),
            ("gaussian(?)", {"tpr": 0.1, "fpr": 0.2}, "above fpr"),
            ("gaussian(?)", {"epsilon": math.nan, "delta": 0.1}, "epsilon must be"),
            ("gaussian(?)", {"epsilon": math.inf, "delta": 0.1}, "epsilon must be"),
            ("gaussian(?)", {"epsilon": -1, "delta": 0.1}, "epsilon must be"),
            ("gaussian(?)", {"epsilon": 1, "delta": 1.5}, "delta must be"),
            ("gaussian(?)", {"epsilon": 1, "delta": True}, "delta must be"),
            ("gaussian(?)", {"epsilon": 1, "delta": "x"}, "delta must be"),
            ("gaussian(?)", {"epsilon": 0, "delta": 0}, "both be 0"),
            ("gaussian(?)", {"advantage": 0}, "advantage must be above 0"),
        ],
    )
    def test_one_sentence(self, expression: str, target: dict[str, float], words: str) -> None:
        with pytest.raises(DomainError, match=words) as caught:
            calibrate(expression, **target)
        assert str(caught.value).endswith(".")

    @pytest.mark.parametrize("expression", ["gausian(?)", "gaussian(sigm=?)", "gaussian(1, 1, ?)", "gaussian(?", "?"])
    def test_not_an_expression(self, expression: str) -> None:
        with pytest.raises(ParseError):
            calibrate(expression, epsilon=1, delta=0.1)

    def test_other_arguments_out_of_range(self) -> None:
        with pytest.raises(DomainError, match="sensitivity"):
            calibrate("gaussian(?, 0)", epsilon=1, delta=0.1)


class TestSearch:
    @pytest.mark.parametrize("power", [0.3, 1.0, 3.0, 9.0])
    def test_few_evaluations(self, power: float) -> None:
        calls = []

        def gap(v: float) -> float:
            calls.append(v)
            return math.copysign(abs(v - 0.7) ** power, 0.7 - v) + math.exp(-v) - math.exp(-0.7)

        search = Search(gap, Axis(-50, 50, 1e-11))
        assert search.enclose(-3.0)
        assert search.narrow()
        assert 0.7 - 1e-10 <= search.missed <= 0.7 <= search.met <= 0.7 + 1e-10
        assert len(calls) < 50

    def test_a_step(self) -> None:
        search = Search(lambda v: 1.0 if v < 0.25 else -math.inf, Axis(-50, 50, 1e-9))
        assert search.enclose(0.0)
        search.narrow()
        assert search.missed < 0.25 <= search.met <= search.missed + 1e-9

    def test_ends(self) -> None:
        search = Search(lambda _: 1.0, Axis(-5, 5, 1e-9))
        assert not search.enclose(0.0)
        assert math.isinf(search.met)

    def test_what_cannot_be_evaluated_counts_as_missed(self) -> None:
        search = Search(lambda v: math.nan if v < 1 else 2.0 - v, Axis(-5, 5, 1e-9))
        assert search.enclose(3.0) is False
        search = Search(lambda v: math.nan if 0 < v < 1 else -v, Axis(-5, 5, 1e-9))
        assert search.enclose(3.0)
        search.narrow()
        assert search.met >= 1.0


class TestQuick:
    @pytest.mark.parametrize(
        ("text", "epsilon"),
        [
            ("poisson_gaussian(1, 0.01)^1000", 2.0),
            ("poisson_gaussian(1, 0.1)^1000", 8.0),
            ("laplace(0.1)^1000", 5.0),
            ("laplace(0.1) * gaussian(2)^5", 3.0),
        ],
    )
    def test_near_the_certified_value(self, text: str, epsilon: float) -> None:
        region = parse(text)
        assert applies(region)
        lower, upper = region.delta_bounds(epsilon)
        estimate = DeltaEstimate(epsilon).delta(region, 0.0)
        assert lower[0] * (1 - 1e-6) <= estimate <= upper[0] * (1 + 1e-6)

    def test_unknown_where_there_is_no_saddle(self) -> None:
        assert math.isnan(DeltaEstimate(5.0).delta(parse("laplace(0.001)^64"), 0.0))


class TestCommand:
    def run(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[dict[str, str]], str]:
        code = main(["calibrate", *words])
        captured = capsys.readouterr()
        return code, list(csv.DictReader(io.StringIO(captured.out))), captured.err

    def test_noise(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = ("poisson_gaussian(?, 0.01)^1000", "--epsilon", "2", "--delta", "1e-5")
        code, rows, err = self.run(capsys, *words)
        assert (code, err, len(rows), tuple(rows[0])) == (0, "", 1, COLUMNS)
        assert float(rows[0]["value"]) == pytest.approx(0.95910155, rel=1e-6)
        assert rows[0]["k"] == "1000"

    def test_copies(self, capsys: pytest.CaptureFixture[str]) -> None:
        _, rows, _ = self.run(capsys, "laplace(0.1)^?", "--epsilon", "5", "--delta", "1e-6")
        assert (rows[0]["expression"], rows[0]["parameter"], rows[0]["value"]) == ("laplace(0.1)^111", "k", "111")

    def test_attack(self, capsys: pytest.CaptureFixture[str]) -> None:
        _, by_rate, _ = self.run(capsys, "gaussian(?)", "--tpr", "0.1", "--fpr", "0.01")
        _, by_advantage, _ = self.run(capsys, "uniform(?)", "--advantage", "0.1")
        assert float(by_rate[0]["value"]) == pytest.approx(0.957124, rel=1e-5)
        assert float(by_advantage[0]["value"]) == pytest.approx(5.0)

    def test_mistakes_are_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        for words in (
            ("gaussian(1)", "--epsilon", "1", "--delta", "0.1"),
            ("gaussian(?)",),
            ("gaussian(?)", "--tpr", "x"),
        ):
            code, rows, err = self.run(capsys, *words)
            assert (code, rows, err.count("\n")) == (2, [], 1)


def test_round_numbers_are_found() -> None:
    assert value("laplace(?)^3", epsilon=3, delta=0) == 1.0
    assert value("tv(?)", advantage=0.25) == 0.25
    assert np.isclose(value("dp(?)", epsilon=2, delta=0), 2.0, rtol=0, atol=0)


def test_a_picture_shows_the_answers_with_the_smallest_errors() -> None:
    question = Question(NOISE, EpsilonDelta(1.0, 1e-5))
    every = answers(question)
    drawn = regions(question, every)
    assert next(iter(drawn)) == WANTED
    errors = {one.candidate.short: one.error for one in every if not one.trouble and one.error is not None}
    kept = [errors[name] for name in drawn if name in errors]
    left_out = [error for name, error in errors.items() if name not in drawn]
    assert len(drawn) == 1 + min(MOST_DRAWN, sum(not one.trouble for one in every))
    assert max(kept) <= min(left_out, default=math.inf)


def test_noise_with_a_best_width() -> None:
    """Cut noise is least private at both ends of its width: the least width that is enough, and the best one if none is."""
    open_text, goal = "truncated_discrete_gaussian(?, 10)", 6e-4
    row = calibrate(open_text, epsilon=1.0, delta=goal).iloc[0]
    widths = np.linspace(1.0, 6.0, 501)
    deltas = np.array([parse(f"truncated_discrete_gaussian({w}, 10)").delta(1.0) for w in widths])
    first = int(np.argmax(deltas <= goal))
    assert widths[first - 1] < row["value"] <= widths[first]
    assert deltas[-1] > goal
    with pytest.raises(
        BudgetError, match=r"No sigma .* meets delta <= 0.0001 at epsilon = 1; the best one, near 2.9"
    ) as no:
        calibrate(open_text, epsilon=1.0, delta=1e-4)
    assert float(str(no.value).rstrip(".").rsplit(" ", 1)[1]) == pytest.approx(deltas.min(), rel=0.01)

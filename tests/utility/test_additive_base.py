"""What all pairs stand on: datasets, simulation frames and inverse questions."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.regions.guarantees import DP
from dpcore.utility import Dataset, Fact, UtilityMeasure, UtilityPair, closed_table, facts, pair, simulate, table
from dpcore.utility.base import MAIN_EPSILON
from dpcore.utility.simulate import CLOSED, SIMULATED, TABLE

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

DATA = Dataset.example(100)
SIMULATION = sys.modules["dpcore.utility.simulate"]  # the package offers the function under that name


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


class TestDataset:
    def test_records_are_kept_read_only(self) -> None:
        source = np.array([1.0, 2.0])
        data = Dataset(source, 0, 3, "x")
        source[0] = 9.0
        assert data.values.tolist() == [1.0, 2.0]
        assert (data.n, data.d, data.low, data.high) == (2, 1, 0.0, 3.0)
        with pytest.raises(ValueError, match="read-only"):
            data.values[0] = 5.0

    @pytest.mark.parametrize(
        ("values", "lower", "upper", "words"),
        [
            ([], 0, 1, "at least one record"),
            ([1.0, math.nan, math.inf], 0, 1, "2 of 3 are not"),
            ([1.0, 5.0], 0, 1, "1 of 2 records do not"),
            ([[0.0, 5.0], [0.0, 0.5]], 0, 1, "1 of 2 records do not"),
            ([0.5], 1, 1, "lower must be below upper"),
            ([0.5], 0, math.inf, "upper must be finite"),
            ([0.5], [0, 0], 1, "lower must be one number"),
            (["a"], 0, 1, "values must be numbers"),
            ([[[1.0]]], 0, 1, "one or two dimensions"),
        ],
    )
    def test_what_is_refused(self, values: object, lower: object, upper: object, words: str) -> None:
        with pytest.raises(DomainError, match=words):
            Dataset(values, lower, upper)  # type: ignore[arg-type]  # anything may come in

    def test_clipping_is_counted(self) -> None:
        data, moved = Dataset.clipped([-1.0, 0.5, 2.0], 0.0, 1.0)
        assert (data.values.tolist(), moved) == ([0.0, 0.5, 1.0], 2)
        data, moved = Dataset.clipped([[0.0, 9.0], [0.5, 0.5]], 0.0, [1.0, 2.0])
        assert (data.values.tolist(), moved) == ([[0.0, 2.0], [0.5, 0.5]], 1)

    def test_categories(self) -> None:
        data = Dataset.coded([0, 2, 2], ["no", "maybe", "yes"])
        chosen = pair("histogram_laplace")
        assert chosen.answer(data).tolist() == [1.0, 0.0, 2.0]
        assert chosen.labels(data) == ("no", "maybe", "yes")
        for codes in ([0.5], [3], [-1]):
            with pytest.raises(DomainError):
                Dataset.coded(codes, ["a", "b", "c"])
        with pytest.raises(DomainError, match="two names"):
            Dataset.coded([0], ["a"])

    def test_several_columns_are_refused_where_one_is_meant(self) -> None:
        with pytest.raises(DomainError, match="takes one column"):
            pair("count_laplace").answer(Dataset.example(10, 2))
        with pytest.raises(DomainError, match="d must be the number of columns"):
            pair("mean_laplace").answer(Dataset.example(10, 2))

    def test_the_example_is_always_the_same(self) -> None:
        assert (Dataset.example(50).values == Dataset.example(50).values).all()
        columns = Dataset.example(50, 3).table
        assert (np.sort(columns, axis=0) == np.sort(Dataset.example(50).values)[:, None]).all()
        assert (columns[:, 0] != columns[:, 1]).any()


class TestFrames:
    def test_a_simulation_repeats_with_its_seed_and_its_chunks_do_not_matter_much(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        chosen = pair("histogram_laplace")
        one, two = (simulate(chosen, DATA, rng(3), 500) for _ in range(2))
        assert one.equals(two)
        assert list(one.columns) == SIMULATED
        monkeypatch.setattr(SIMULATION, "_NUMBERS_AT_ONCE", 70)
        assert simulate(chosen, DATA, rng(3), 500)["simulated"].tolist() == pytest.approx(one["simulated"].tolist())

    def test_every_chunk_is_reported_and_time_ends_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(SIMULATION, "_NUMBERS_AT_ONCE", 1000)
        heard: list[float] = []
        with effort(progress=heard.append):
            table(pair("histogram_laplace"), "epsilon", [0.5, 1.0], DATA, rng(), 1000)
        assert len(heard) == 20
        assert heard == sorted(heard)
        with effort(deadline=1e-9), pytest.raises(BudgetError, match="time allowed"):
            simulate(pair("histogram_laplace"), DATA, rng(), 100)

    def test_the_table_has_no_empty_cell(self) -> None:
        frame = table(pair("histogram_laplace"), "epsilon", [0.5, 2], DATA, rng(), 50)
        assert list(frame.columns) == TABLE
        assert not frame.isna().to_numpy().any()
        assert set(frame["kind"]) == {"exact", "lower"}
        closed = closed_table(pair("histogram_laplace"), "bins", [2, 4], DATA)
        assert list(closed.columns) == CLOSED
        assert closed[closed["kind"] == "exact"].groupby("value")["closed_form"].first().tolist() == [64.0, 128.0]
        by_n = closed_table(pair("mean_laplace"), "n", [10, 20], DATA)
        assert by_n[by_n["measure"] == "quantile"]["closed_form"].is_monotonic_decreasing
        with pytest.raises(DomainError, match="closed forms only"):
            table(pair("mean_laplace"), "n", [10], DATA, rng(), 50)

    def test_a_measure_without_closed_form_is_at_least_0(self) -> None:
        known = facts(Bare(), None, DATA)
        assert [(f.measure, f.value, f.kind) for f in known] == [("success", 0.0, "lower")]
        seen = simulate(Bare(), DATA, rng(), 100).iloc[0]
        assert seen["simulated"] == 1.0
        assert seen["standard_error"] == pytest.approx(math.sqrt(101 / 102 / 102 / 100))

    @pytest.mark.parametrize("releases", [1, 0, 2.5, True, 10**9])
    def test_the_number_of_releases(self, releases: object) -> None:
        with pytest.raises(DomainError, match="releases must be"):
            simulate(pair("count_laplace"), DATA, rng(), releases)  # type: ignore[arg-type]  # anything may come in

    def test_quantiles_are_order_statistics(self) -> None:
        seen = simulate(pair("count_laplace", epsilon=1.0), DATA, rng(5), 20000).set_index("measure").loc["quantile"]
        assert seen["simulated"] == pytest.approx(math.log(20), abs=4 * seen["standard_error"])
        # density of |Laplace| at its quantile is 0.05, so the deviation is sqrt(.05 .95 / n) / .05
        assert seen["standard_error"] == pytest.approx(math.sqrt(0.95 / 0.05 / 20000), rel=0.3)


@dataclass(frozen=True)
class Bare(UtilityPair):
    """A pair about which nothing is known."""

    name: ClassVar[str] = "bare"
    title: ClassVar[str] = "nothing known"
    measure: ClassVar[str] = "success"
    epsilon: float = MAIN_EPSILON.field(1.0)

    @property
    def region(self) -> TradeOff:
        return DP(self.epsilon)

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        return (UtilityMeasure("success", "success", statistic="rate", larger_is_better=True),)

    def answer(self, data: Dataset) -> np.ndarray:  # noqa: ARG002
        return np.array(1.0)

    def release(self, data: Dataset, rng: np.random.Generator, count: int) -> np.ndarray:  # noqa: ARG002
        return np.ones(count)

    def errors(self, data: Dataset, releases: np.ndarray) -> dict[str, np.ndarray]:  # noqa: ARG002
        return {"success": releases}

    def closed_forms(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:  # noqa: ARG002
        return ()

    def sentence(self, data: Dataset) -> str:  # noqa: ARG002
        return ""


class TestInverse:
    @pytest.mark.parametrize(
        ("name", "measure", "of"),
        [
            ("count_laplace", "quantile", None),
            ("count_geometric", "quantile", None),
            ("count_gaussian", "l1", "delta"),
            ("sum_laplace", "mse", None),
            ("histogram_laplace", "worst", None),
            ("histogram_geometric", "mse", None),
            ("queries_gaussian", "mse", "k"),
            ("mean_gaussian", "mse", "n"),
            ("mean_laplace", "quantile", "n"),
            ("cuts_johnson_lindenstrauss", "mse", None),
        ],
    )
    def test_the_value_meets_the_target_and_a_little_less_does_not(
        self, name: str, measure: str, of: str | None
    ) -> None:
        chosen = pair(name)
        now = next(f.value for f in chosen.closed_forms(DATA) if f.measure == measure)
        target = now if name == "count_geometric" else 0.8 * now
        answer = chosen.requirement(measure, target, DATA, of)
        assert answer.kind == "exact"

        def at(value: float) -> float:
            whole = answer.parameter in ("n", "k")
            n = int(value) if answer.parameter == "n" else None
            moved = chosen if n else chosen.but(**{answer.parameter: int(value) if whole else value})
            return next(f.value for f in moved.closed_forms(DATA, n) if f.measure == measure)

        assert at(answer.value) <= target
        less = {"n": answer.value - 1, "k": answer.value + 1}.get(answer.parameter, answer.value * (1 - 1e-9))
        assert at(less) > target

    def test_known_answers(self) -> None:
        assert pair("count_laplace").requirement("quantile", 2.0, DATA).value == pytest.approx(1.497866, abs=1e-6)
        assert pair("histogram_laplace").requirement("mse", 80.0, DATA).value == pytest.approx(1.0, rel=1e-12)
        found = pair("mean_laplace", epsilon=1.0).requirement("mse", 2.0, DATA, "n")
        assert found.value == 100  # 2 w^2 / (n eps)^2 with w = 100
        assert (
            found.words
            == "Mean squared error at most 2 (mean with Laplace noise): n from 100 is needed (exact, closed form)."
        )

    @pytest.mark.parametrize(
        ("name", "measure", "target", "of", "words"),
        [
            ("count_laplace", "mse", 1.0, "n", "does not depend on the number of records"),
            ("count_laplace", "quantil", 1.0, None, "did you mean quantile"),
            ("count_laplace", "mse", math.nan, None, r"target must be a number in \(-inf, inf\), got nan"),
            ("count_laplace", "mse", -1.0, None, "No epsilon in"),
            ("sum_laplace", "mse", 1.0, "neighbours", "Only a number can be solved for"),
            ("count_laplace", "mse", 1.0, "sigma", "no parameter 'sigma'"),
        ],
    )
    def test_what_cannot_be_answered(self, name: str, measure: str, target: float, of: str | None, words: str) -> None:
        with pytest.raises(DomainError, match=words):
            pair(name).requirement(measure, target, DATA, of)

    def test_only_a_simulation_can_tell(self) -> None:
        with pytest.raises(DomainError, match="only a simulation can tell"):
            Bare().requirement("success", 0.5, DATA)


def test_more_records_in_words_and_in_fact_are_the_same() -> None:
    twice = Dataset(np.tile(DATA.values, 2), 0.0, 100.0)
    for name, values in (
        ("histogram_laplace", {"after": "clip"}),
        ("histogram_gaussian", {"after": "renormalise"}),
        ("histogram_geometric", {"unit": "frequencies"}),
        ("mean_gaussian", {}),
        ("mean_laplace", {"accuracy": "statistical"}),
    ):
        imagined, real = pair(name, **values).closed_forms(DATA, 200), pair(name, **values).closed_forms(twice)
        assert [f.value for f in imagined] == pytest.approx([f.value for f in real], rel=1e-12)


def test_names_and_values_are_checked() -> None:
    with pytest.raises(DomainError, match="did you mean histogram_laplace"):
        pair("histogram_laplac")
    with pytest.raises(DomainError, match="did you mean epsilon"):
        pair("count_laplace", epsilom=1.0)
    with pytest.raises(DomainError, match="neighbours must be one of substitution, add/remove"):
        pair("sum_laplace", neighbours="addremove")
    with pytest.raises(DomainError, match="number of records is not public"):
        pair("histogram_laplace", neighbours="add/remove", unit="frequencies")
    with pytest.raises(DomainError, match="needs integers; 1 of 2"):
        pair("sum_geometric").answer(Dataset([0.5, 1.0], 0, 2))
    with pytest.raises(DomainError, match="integer bounds"):
        pair("sum_geometric").noise(Dataset([1.0], 0, 2.5))  # type: ignore[attr-defined]
    with pytest.raises(DomainError, match="edges apart"):
        pair("histogram_laplace", bins=10).answer(Dataset([1.0], 1.0, np.nextafter(1.0, 2.0)))


def test_sentences_round_outward() -> None:
    count = pair("count_laplace", epsilon=0.5)
    assert count.sentence(DATA) == (
        "At ε = 0.5 a count is off by at most 6 records in 95 of 100 releases, and by at most 2 records on average "
        "(exact, rounded up)."
    )
    assert "none of the 10 counts is off by more than 33.1 records" in pair("queries_gaussian").sentence(DATA)
    assert "no bin of the histogram is off by more than 21.2 records in 95 of 100" in pair(
        "histogram_laplace"
    ).sentence(DATA)
    assert "upper bound" in pair("histogram_laplace", after="renormalise").sentence(DATA)
    assert "mean of the population" in pair("mean_laplace", accuracy="statistical").sentence(DATA)
    for chosen in (count, pair("sum_gaussian"), pair("cuts_johnson_lindenstrauss")):
        assert "rounded up" in chosen.sentence(DATA)

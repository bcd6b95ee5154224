"""The accountant of a run, Opacus's interface and histories, and events of dp-accounting, none of which is installed here."""

from __future__ import annotations

import json
from collections import OrderedDict
from copy import deepcopy
from dataclasses import dataclass, make_dataclass
from typing import TYPE_CHECKING, Any

import pytest

from dpcore.cli import main
from dpcore.core.errors import DomainError
from dpcore.language import parse
from dpcore.ledger import Budget
from dpcore.training import (
    Accountant,
    StepRecord,
    ledger_from_event,
    ledger_from_opacus,
    ledger_from_opendp,
    read_accounts,
)
from dpcore.training.events import READ, REASONS
from dpcore.training.interop import _adapter

if TYPE_CHECKING:
    from pathlib import Path

HISTORY = [(1.1, 0.01, 500), (1.3, 0.02, 300)]


def counted() -> Accountant:
    accountant = Accountant()
    for noise, rate, steps in HISTORY:
        accountant.step(noise_multiplier=noise, sample_rate=rate, steps=steps)
    return accountant


def test_steps_are_counted_and_composed() -> None:
    accountant = Accountant()
    for _ in range(5):
        accountant.step(noise_multiplier=1.1, sample_rate=0.01)
    accountant.step(noise_multiplier=1.3, sample_rate=0.01)
    assert accountant.history == [(1.1, 0.01, 5), (1.3, 0.01, 1)]
    assert len(accountant) == 6
    assert str(accountant.region) == "poisson_gaussian(1.1, 0.01)^5 * poisson_gaussian(1.3, 0.01)"


def test_epsilon_and_mu_are_those_of_the_region() -> None:
    accountant = counted()
    region = parse("poisson_gaussian(1.1, 0.01)^500 * poisson_gaussian(1.3, 0.02)^300")
    low, high = accountant.epsilon_bounds(1e-5)
    assert low <= high == accountant.epsilon(1e-5) == float(region.epsilon(1e-5))
    fit = accountant.fit()
    assert fit is not None
    assert accountant.mu() == fit.mu[1]
    assert accountant.mu() == pytest.approx(0.476559, abs=1e-5)
    assert Accountant([(10.0, 1.0, 100)]).mu() == pytest.approx(1.0, rel=1e-12)


def test_before_the_first_step_and_without_noise() -> None:
    assert Accountant().epsilon(1e-5) == 0.0
    assert len(Accountant()) == 0
    assert Accountant([(0.0, 0.1, 1)]).epsilon(1e-5) == float("inf")
    assert Accountant([(0.0, 0.1, 1)]).mu() == float("inf")


def test_whether_the_next_step_fits() -> None:
    accountant = counted()
    epsilon = accountant.epsilon(1e-5)
    assert not accountant.would_exceed((epsilon + 0.05, 1e-5))
    assert accountant.would_exceed((epsilon, 1e-5))
    assert not accountant.would_exceed(Budget(epsilon + 0.05, 1e-5), (1.3, 0.02, 3))
    assert accountant.would_exceed((epsilon + 0.05, 1e-5), StepRecord(0.6, 0.1, 50))
    assert accountant.history == HISTORY
    with pytest.raises(DomainError, match="There is no earlier step"):
        Accountant().would_exceed((1.0, 1e-5))


def test_the_state_survives_json() -> None:
    accountant = counted()
    restored = Accountant()
    restored.load_state_dict(json.loads(json.dumps(accountant.state_dict())))
    assert restored.history == accountant.history
    assert restored.epsilon(1e-6) == accountant.epsilon(1e-6)
    for wrong in (None, {}, {"history": 3}, {"history": [[1]]}, {"history": [[1, 2, 3]]}, {"history": [["a", 0.1, 1]]}):
        with pytest.raises(DomainError):
            Accountant().load_state_dict(wrong)  # type: ignore[arg-type]  # what a broken file holds


@pytest.mark.parametrize(
    "entry", [(-1.0, 0.1), (1.0, 0.0), (1.0, 1.5), (1.0, 0.1, 0), (1.0, 0.1, 2.5), (float("nan"), 0.1)]
)
def test_wrong_numbers_are_refused(entry: tuple[Any, ...]) -> None:
    with pytest.raises(DomainError, match="must be"):
        Accountant([entry])


# ---- Opacus --------------------------------------------------------------------------------------------------


class Interface:
    """What Opacus 1.6 documents of the base class of its accountants."""

    history: list[Any]

    def get_optimizer_hook_fn(self, sample_rate: float) -> Any:
        def hook(optimizer: Any) -> None:
            self.step(  # type: ignore[attr-defined]  # of the accountant
                noise_multiplier=optimizer.noise_multiplier,
                sample_rate=sample_rate * optimizer.accumulated_iterations,
            )

        return hook

    def state_dict(self) -> dict[str, Any]:
        return OrderedDict(history=deepcopy(self.history), mechanism=self.mechanism())  # type: ignore[attr-defined]  # as above

    def load_state_dict(self, state: dict[str, Any]) -> None:
        assert state["mechanism"] == self.mechanism()  # type: ignore[attr-defined]  # as above
        self.history = state["history"]


@dataclass
class Optimizer:
    noise_multiplier: float
    accumulated_iterations: int = 1


def test_the_adapter_behind_opacus_interface() -> None:
    accountant = _adapter(Interface)()
    hook = accountant.get_optimizer_hook_fn(sample_rate=0.05)
    for _ in range(60):
        hook(Optimizer(1.1))
    hook(Optimizer(1.2, 2))
    assert accountant.history == [(1.1, 0.05, 60), (1.2, 0.1, 1)]
    assert len(accountant) == 61
    assert accountant.get_epsilon(1e-5, eps_error=0.01) == Accountant(accountant.history).epsilon(1e-5)
    other = _adapter(Interface)()
    other.load_state_dict(accountant.state_dict())
    assert other.get_epsilon(1e-5) == accountant.get_epsilon(1e-5)
    assert accountant.mechanism() == "dpcore"
    assert str(ledger_from_opacus(accountant).region) == str(ledger_from_opacus(accountant.state_dict()).region)


def test_a_history_as_a_ledger() -> None:
    ledger = ledger_from_opacus(HISTORY)
    assert [(row.label, row.expression, row.count) for row in ledger.rows] == [
        ("steps 1 to 500", "poisson_gaussian(1.1, 0.01)", 500),
        ("steps 501 to 800", "poisson_gaussian(1.3, 0.02)", 300),
    ]
    assert ledger.neighbours == "add/remove"
    assert float(ledger.region.epsilon(1e-5)) == Accountant(HISTORY).epsilon(1e-5)
    with pytest.raises(DomainError, match="An Opacus history is a list"):
        ledger_from_opacus({"history": "x"})


# ---- dp-accounting -------------------------------------------------------------------------------------------


def event(name: str, **fields: Any) -> Any:
    """Return an event as the library would make it: an object of that class."""
    return make_dataclass(name, list(fields))(**fields)


GAUSSIAN = event("GaussianDpEvent", noise_multiplier=2.0)
LAPLACE = event("LaplaceDpEvent", noise_multiplier=4.0)


@pytest.mark.parametrize(
    ("source", "expression"),
    [
        (GAUSSIAN, "gaussian(2)"),
        (LAPLACE, "laplace(0.25)"),
        (event("DiscreteLaplaceDpEvent", noise_parameter=0.2, sensitivity=2), "geometric(0.4, 2)"),
        (event("ZCDpEvent", rho=0.1, xi=0.0), "zcdp(0.1)"),
        (event("NonPrivateDpEvent"), "dp(inf)"),
        (event("SelfComposedDpEvent", event=GAUSSIAN, count=7), "gaussian(2)^7"),
        (
            event("ComposedDpEvent", events=[GAUSSIAN, event("NoOpDpEvent"), GAUSSIAN, LAPLACE]),
            "gaussian(2)^2 * laplace(0.25)",
        ),
        (event("PoissonSampledDpEvent", sampling_probability=0.1, event=GAUSSIAN), "poisson_gaussian(2, 0.1)"),
        (event("PoissonSampledDpEvent", sampling_probability=0.1, event=LAPLACE), "poisson(laplace(0.25), 0.1)"),
        (event("PoissonSampledDpEvent", sampling_probability=1.0, event=LAPLACE), "laplace(0.25)"),
        (
            event("PoissonSampledDpEvent", sampling_probability=0.1, event=event("ComposedDpEvent", events=[GAUSSIAN, GAUSSIAN, LAPLACE])),
            "poisson(gaussian(2)^2 * laplace(0.25), 0.1)",
        ),
        (
            event("MixtureOfGaussiansDpEvent", standard_deviation=2.0, sensitivities=[0.0, 1.0], sampling_probs=[0.9, 0.1]),
            "gaussian_mixture(2, [0, 1], [0.9, 0.1])",
        ),
        (
            event("TruncatedSubsampledGaussianDpEvent", dataset_size=100, sampling_probability=0.1, truncated_batch_size=20, noise_multiplier=2.0),
            "truncated_poisson(2, 0.1, 20, 100)",
        ),
        (event("SingleEpochTreeAggregationDpEvent", noise_multiplier=2.0, step_counts=[3, 8]), "tree_aggregation(2, 8)"),
        (event("SingleEpochTreeAggregationDpEvent", noise_multiplier=2.0, step_counts=5), "tree_aggregation(2, 5)"),
        (event("EpsilonDeltaDpEvent", epsilon=1.0, delta=1e-6), "dp(1, 1e-6)"),
        (event("RepeatAndSelectDpEvent", event=GAUSSIAN, mean=5.0, shape=float("inf")), "best_of(gaussian(2), 5, inf)"),
        (
            event("RepeatAndSelectDpEvent", event=event("SelfComposedDpEvent", event=LAPLACE, count=3), mean=5, shape=0),
            "best_of(laplace(0.25)^3, 5, 0)",
        ),
        (
            {"class_name": "SelfComposedDpEvent", "count": 3, "event": {"class_name": "GaussianDpEvent", "noise_multiplier": 2}},
            "gaussian(2)^3",
        ),
    ],
)  # fmt: skip
def test_what_events_mean(source: Any, expression: str) -> None:
    ledger = ledger_from_event(source)
    assert str(ledger.region) == expression
    assert ledger.relation == "add/remove"


def test_randomized_response_is_about_replaced_records() -> None:
    response = event("RandomizedResponseDpEvent", noise_parameter=0.5, num_buckets=4)
    ledger = ledger_from_event(event("SelfComposedDpEvent", event=response, count=2))
    assert ledger.relation == "substitution"
    # P(truth) = 1 - p + p/k against p/k: 0.625 / 0.125
    assert str(ledger.region) == "rr(1.6094379124341003, 4)^2"
    with pytest.raises(DomainError, match="about a record that is replaced"):
        ledger_from_event(event("ComposedDpEvent", events=[response, GAUSSIAN]))
    with pytest.raises(DomainError, match="PoissonSampledDpEvent of an event about a record that is replaced"):
        ledger_from_event(event("PoissonSampledDpEvent", sampling_probability=0.1, event=response))


def test_samples_of_fixed_size_are_about_replaced_records() -> None:
    sampled = event("SampledWithoutReplacementDpEvent", source_dataset_size=100, sample_size=10, event=GAUSSIAN)
    ledger = ledger_from_event(sampled)
    assert (str(ledger.region), ledger.relation) == ("subsample(gaussian(2), 0.1)", "substitution")
    with pytest.raises(DomainError, match="sample_size must be"):
        ledger_from_event(
            event("SampledWithoutReplacementDpEvent", source_dataset_size=10, sample_size=11, event=GAUSSIAN)
        )


def test_every_kind_of_event_is_read_or_has_a_reason() -> None:
    """The classes of dp-accounting 0.6.0."""
    kinds = (
        "NoOp NonPrivate Unsupported RandomizedResponse Gaussian Laplace DiscreteLaplace SelfComposed Composed PoissonSampled "
        "SampledWithReplacement SampledWithoutReplacement SingleEpochTreeAggregation RepeatAndSelect MixtureOfGaussians ZC "
        "TruncatedSubsampledGaussian"
    )
    assert {f"{kind}DpEvent" for kind in kinds.split()} <= {*READ, *REASONS}


def test_every_event_without_a_region_is_named() -> None:
    for name in REASONS:
        with pytest.raises(DomainError, match=name):
            ledger_from_event(event(name))
    both = event("ComposedDpEvent", events=[event("UnsupportedDpEvent"), GAUSSIAN, event("NewDpEvent")])
    with pytest.raises(DomainError, match=r"UnsupportedDpEvent .*; NewDpEvent \(it is not known\)"):
        ledger_from_event(both)
    with pytest.raises(DomainError, match="GaussianDpEvent has no field noise_multiplier"):
        ledger_from_event({"class_name": "GaussianDpEvent"})
    deep: Any = GAUSSIAN
    for _ in range(200):
        deep = event("SelfComposedDpEvent", event=deep, count=1)
    with pytest.raises(DomainError, match="nested 100 deep"):
        ledger_from_event(deep)


@pytest.mark.long
def test_dp_accounting_printed_nearly_the_same() -> None:
    """dp-accounting 0.6.0, PLD, printed 1.6872867960966758 for these events; its grid adds up to 1e-4."""
    steps = event(
        "PoissonSampledDpEvent", sampling_probability=0.01, event=event("GaussianDpEvent", noise_multiplier=1.0)
    )
    sampled = event("PoissonSampledDpEvent", sampling_probability=0.1, event=LAPLACE)
    events = [
        event("SelfComposedDpEvent", event=steps, count=300),
        event("LaplaceDpEvent", noise_multiplier=10.0),
        event("DiscreteLaplaceDpEvent", noise_parameter=0.2, sensitivity=2),
        event("GaussianDpEvent", noise_multiplier=5.0),
        event("SelfComposedDpEvent", event=sampled, count=5),
    ]
    epsilon = float(ledger_from_event(event("ComposedDpEvent", events=events)).region.epsilon(1e-5))
    assert 1.6872867960966758 * (1 - 1e-5) <= epsilon <= 1.6872867960966758


# ---- OpenDP --------------------------------------------------------------------------------------------------


@dataclass
class Measurement:
    """A measurement as OpenDP hands it out: its constructor, its measure and its map."""

    constructor: str
    arguments: dict[str, Any]
    output_measure: str = "MaxDivergence"
    input_metric: str = "SymmetricDistance()"
    slope: float = 1.0

    @property
    def __opendp_dict__(self) -> dict[str, Any]:
        return {"__function__": self.constructor, "__kwargs__": self.arguments}

    def map(self, distance: float) -> float:
        return self.slope * distance


def chain(noise: Measurement, move: float) -> Measurement:
    return Measurement(
        "make_chain_mt", {"measurement1": noise, "transformation0": Measurement("make_sum", {}, slope=move)}
    )


def test_measurements_of_opendp() -> None:
    """The real library runs in `make interop`."""
    laplace = Measurement("make_laplace", {"scale": 4.0, "k": None}, input_metric="AbsoluteDistance(f64)", slope=0.25)
    whole = Measurement("make_laplace", {"scale": 4.0, "k": None}, input_metric="AbsoluteDistance(i32)", slope=0.25)
    normal = Measurement("make_gaussian", {"k": None}, "ZeroConcentratedDivergence", "L2Distance(f64)", slope=0.125)
    other = Measurement("make_noisy_max", {}, slope=0.5)
    both = Measurement("make_composition", {"measurements": [chain(laplace, 2.0), chain(whole, 1), chain(whole, 1)]})
    ledger = ledger_from_opendp(both)
    assert (str(ledger.region), ledger.relation) == ("laplace(0.5) * geometric(0.25)^2", "add/remove")
    assert ledger_from_opendp(both, 2).relation == "substitution"
    assert str(ledger_from_opendp(both, 2).region) == "laplace(1) * geometric(0.5, 2)^2"
    fixed = Measurement("make_fix_delta", {"measurement": chain(normal, 1.0)})
    assert str(ledger_from_opendp(fixed).region).startswith("gdp(0.50000000000000")
    assert str(ledger_from_opendp(other).region) == "dp(0.5)"
    with pytest.raises(DomainError, match=r"make_odd is not read: its loss is stated as RenyiDivergence"):
        ledger_from_opendp(Measurement("make_odd", {}, "RenyiDivergence"))
    with pytest.raises(DomainError, match="distance must be"):
        ledger_from_opendp(both, 3)
    with pytest.raises(DomainError, match="A measurement of OpenDP has input_metric"):
        ledger_from_opendp(3)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"__function__": "system", "__module__": "os"}, "not a constructor"),
        ({"__function__": "make_user_measurement", "__module__": "measurements"}, "not a constructor"),
        ({"__function__": "make_laplace", "__kwargs__": {"x": {"__expr__": "AA"}}}, "may carry code"),
    ],
)
def test_a_file_that_names_other_functions_is_refused(data: dict[str, Any], words: str) -> None:
    with pytest.raises(DomainError, match=words):
        read_accounts(json.dumps(data))


# ---- files ---------------------------------------------------------------------------------------------------


def test_the_command_reads_a_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "opacus.json"
    file.write_text(json.dumps({"history": HISTORY, "mechanism": "prv"}), encoding="utf-8")
    assert main(["ledger", "--from", str(file), "--delta", "1e-5", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert any(row.get("epsilon") == Accountant(HISTORY).epsilon(1e-5) for row in rows)
    assert main(["ledger"]) != 0
    assert "Give one file" in capsys.readouterr().err
    assert main(["ledger", str(file), "--from", str(file)]) != 0
    for text in ("{}", "3", "[1]", '{"class_name": "Nope"}', "[[1e999, 0.1, 1]]", "{"):
        file.write_text(text, encoding="utf-8")
        assert main(["ledger", "--from", str(file)]) != 0
        assert capsys.readouterr().out == ""


def test_a_text_is_a_history_or_an_event() -> None:
    assert str(read_accounts("[[1.5, 0.04, 2250]]").region) == "poisson_gaussian(1.5, 0.04)^2250"
    with pytest.raises(DomainError, match="neither an Opacus history"):
        read_accounts('{"a": 1}')

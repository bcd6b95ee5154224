"""The page Private training: its question, computed once, as specs of figures and as sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpcore.app import inputs
from dpcore.core.domains import COUNT, SHARE, SIGMA
from dpcore.core.errors import BudgetError
from dpcore.core.kinds import FACTS, readable
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.language.numbers import read_fraction
from dpcore.training import (
    gradients,
    judge,
    library_reports,
    rates,
    renyi_epsilon,
    shuffled_run,
    solve_training,
    step_ladder,
    step_rates,
    training_run,
    training_summary,
    tuning_costs,
)
from dpcore.training.gradients import STEPS as LADDER
from dpcore.training.libraries import NOT_COMPUTED
from dpcore.training.run import BATCH, EPOCHS, EXAMPLES, LARGEST_BATCH, UNIT_RECORDS
from dpcore.training.samplers import SHUFFLE
from dpcore.training.summary import epsilon_words
from dpcore.words import of_100, outward

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from dpcore.core.parameter import Parameter
    from dpcore.training import Judgement, ShuffledRun, TrainingRun, TrainingSummary, TrainingTarget

POISSON, TRUNCATED, FIXED, ALLOCATED, FULL = "Poisson", "truncated", "fixed size", "allocated", "full batch"
SHUFFLED = "shuffled"
SAMPLERS = {
    POISSON: "poisson",
    TRUNCATED: "truncated",
    FIXED: "fixed",
    ALLOCATED: "allocation",
    FULL: "full",
    SHUFFLED: SHUFFLE,
}
RECORDS, RATE = "records and epochs", "rate and steps"
GROWTH, ATTACKS = "ε as steps grow", "attacks"
UNKNOWNS = {"noise σ": "sigma", "steps": "steps", "batch": "batch", "records": "examples"}
STEPS = COUNT.but(high=10**5)
NOISE = SIGMA.but(low=0.1, high=100.0, low_open=False, infinite=False)
DEFAULTS: dict[str, Any] = {
    "train_sampler": POISSON,
    "train_by": RECORDS,
    "train_examples": "60000",
    "train_batch": "256",
    "train_epochs": "60",
    "train_rate": "0.04",
    "train_steps": "2250",
    "train_sigma": "1.1",
    "train_largest": "320",
    "train_unit": "1",
    "train_delta": "1e-5",
    "train_view": GROWTH,
    "train_claim": "",
    "train_unknown": "noise σ",
    "train_target": "2",
    "train_runs": "10",
}
FIELDS: dict[str, tuple[str, Parameter]] = {
    "examples": ("Records N", EXAMPLES),
    "batch": ("Batch B", BATCH),
    "epochs": ("Epochs E", EPOCHS),
    "rate": ("Sampling rate q", SHARE),
    "steps": ("Steps T", STEPS),
    "sigma": ("Noise σ", NOISE),
    "largest": ("Largest batch C", LARGEST_BATCH),
    "unit": ("Per person m", UNIT_RECORDS),
    "delta": ("At δ", SHARE),
}
SLIDERS = tuple(f"train_{name}_slider" for name in FIELDS)
VALUES = {
    "examples": inputs.round_values(2, 8),
    "batch": inputs.round_values(0, 5),
    "epochs": inputs.round_values(0, 3),
    "rate": inputs.round_values(-3, 0),
    "steps": inputs.round_values(0, 5),
    "largest": inputs.round_values(0, 5),
    "unit": [str(count) for count in (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)],
    "sigma": [nearest(step / 20) for step in (*range(6, 81), *range(90, 201, 10))],
    "delta": inputs.DELTAS,
}
TUNING = {
    "one": "one run, none chosen",
    "fixed": "fixed",
    "geometric": "geometric, drawn beforehand",
    "logarithmic": "logarithmic, drawn beforehand",
    "poisson": "Poisson, drawn beforehand",
}
DECADES = tuple(10.0**-power for power in range(1, 7))
QUICK = 0.05
"""From this q √T on, a certificate takes a fraction of a second; others wait until the slider is released."""
MANY = 0.2
"""From this q √T on, samplers with slow curves are drawn too."""
EPOCH_LADDER = (1, 2, 3, 5, 10, 20, 50, 100)
"""Numbers of epochs that are drawn if every record is allocated once per epoch."""
HEIGHT = 400


@dataclass(frozen=True, slots=True)
class RunQuery:
    """The numbers in the fields, None if unused, and the delta at which epsilon is stated."""

    sampler: str
    delta: float
    sigma: float
    examples: Fraction | None = None
    batch: Fraction | None = None
    epochs: Fraction | None = None
    rate: Fraction | None = None
    steps: Fraction | None = None
    largest: Fraction | None = None
    unit: Fraction | None = None
    held: bool = False

    def moved(self, held: Mapping[str, str]) -> RunQuery:
        """Return the query with the value of a slider that is held in place of that of its field."""
        for slider, text in held.items():
            name = slider.removeprefix("train_").removesuffix("_slider")
            label, parameter = FIELDS[name]
            value = read_fraction(parameter, text, label)
            changes: dict[str, Any] = {name: float(value) if name in {"sigma", "delta"} else value}
            return replace(self, **changes, held=True)
        return self

    @property
    def known(self) -> dict[str, Any]:
        """The numbers of the run without its noise, as `training_run` takes them."""
        whole = {
            name: None if value is None else int(value)
            for name, value in (("examples", self.examples), ("steps", self.steps))
        }
        rate = None if self.rate is None else float(self.rate)
        return {"batch": self.batch, "epochs": self.epochs, "rate": rate, **whole}

    @property
    def sizes(self) -> dict[str, Any]:
        """The largest batch and the records per person, as `training_run` takes them."""
        return {
            "largest_batch": None if self.largest is None else int(self.largest),
            "unit_records": 1 if self.unit is None else int(self.unit),
        }

    @property
    def run(self) -> TrainingRun:
        """The run; raises `DomainError` for numbers that do not fit together, or a sampler without a certificate."""
        return training_run(SAMPLERS[self.sampler], sigma=self.sigma, **self.known, **self.sizes)

    @property
    def shuffled(self) -> ShuffledRun:
        """The run on shuffled batches."""
        return shuffled_run(sigma=self.sigma, delta=self.delta, **self.known)

    def quick(self, steps: int) -> bool:
        """Whether a number of steps is certified quickly enough for what is shown."""
        return not self.held or (
            self.run.twin is not None and (steps == 1 or self.run.rate * math.sqrt(steps) >= QUICK)
        )


def _evaluated(run: TrainingRun, delta: float) -> TrainingSummary:
    """Return the summary with its certified numbers computed."""
    summary = training_summary(run, delta)
    _ = summary.epsilon, summary.attacks, summary.fit
    return summary


def summary_of(query: RunQuery) -> TrainingSummary:
    """Return the certified numbers."""
    return result(_evaluated, query.run, query.delta)


def numbers(query: RunQuery) -> pd.DataFrame:
    """Return epsilon by every method; by the certified one alone if the steps are not those of Poisson samples."""
    run = query.run
    if run.twin is None:
        return result(step_ladder, run.step, query.delta, (run.rounds,))
    return result(gradients, run.twin.sigma, run.twin.q, run.twin.steps, query.delta)


def _shuffled_answer(sigma: float, delta: float, known: dict[str, Any]) -> tuple[str, pd.DataFrame]:
    run = shuffled_run(sigma=sigma, delta=delta, **known)
    return run.answer(), run.table()


def shuffled_answer(query: RunQuery) -> tuple[str, pd.DataFrame]:
    """Return what is proved about shuffled batches, in words and as a table."""
    return result(_shuffled_answer, query.sigma, query.delta, query.known)


def shuffled_verdict(query: RunQuery, claimed: float) -> str:
    """Say whether a claimed epsilon can be true for shuffled batches."""
    return query.shuffled.judged(claimed)


# ---- specs ---------------------------------------------------------------------------------------------------


def _step_of(query: RunQuery) -> dict[str, Any]:
    """Return how a spec names the step: by noise and rate, or by its region."""
    run = query.run
    return {"step": str(run.step)} if run.twin is None else {"sigma": run.twin.sigma, "q": run.twin.q}


def steps_spec(query: RunQuery) -> dict[str, Any]:
    """Return the spec of epsilon as the number of steps grows."""
    run = query.run
    if query.sampler == ALLOCATED:
        counts = {"counts": "Number of epochs", "steps": sorted({*EPOCH_LADDER, run.rounds}), "mark": run.rounds}
        return {"draw": "steps", **_step_of(query), "delta": query.delta, **counts}
    steps = [count for count in LADDER if query.quick(count)] if query.held else None
    if not run.sampler.whole_curve:  # a few steps of such a sampler take minutes
        steps = sorted({run.steps, *(count for count in LADDER if run.rate * math.sqrt(count) >= MANY)})
    return {"draw": "steps", **_step_of(query), "delta": query.delta, "steps": steps, "mark": run.steps}


def rates_spec(query: RunQuery) -> dict[str, Any]:
    """Return the spec of true positives at low false-positive rates."""
    return {"draw": "rates", **_step_of(query), "steps": query.run.rounds}


def spec(query: RunQuery, view: str) -> dict[str, Any]:
    """Return the spec of the main figure."""
    return rates_spec(query) if view == ATTACKS else steps_spec(query)


# ---- sentences -----------------------------------------------------------------------------------------------


def answer(query: RunQuery) -> str:
    """Say what epsilon is after all steps."""
    run = query.run
    if query.quick(run.steps):
        row = numbers(query).iloc[0]
        if row["kind"] == "none":
            raise BudgetError(str(row["note"]))
        return epsilon_words(run, query.delta, (float(row["epsilon_lower"]), float(row["epsilon"])))
    if run.twin is None:
        return "Release the slider to see ε."
    bound, _ = result(renyi_epsilon, run.twin.sigma, run.twin.q, run.steps, query.delta)
    return f"After {run.words()}, ε at δ = {outward(query.delta, 6)} is at most {outward(bound, 6)} (Rényi bound)."


def conditions(query: RunQuery) -> str:
    """Say under which conditions the numbers hold."""
    return training_summary(query.run, query.delta).conditions()


def judged(query: RunQuery, claimed: float) -> Judgement:
    """Return the verdict about a claimed epsilon."""
    run = query.run
    return result(judge, run.step, run.rounds, claimed, query.delta)


# ---- tables --------------------------------------------------------------------------------------------------


def libraries(query: RunQuery) -> pd.DataFrame:
    """Return what libraries print, as text."""
    rows = result(library_reports, query.run, query.delta)
    shown = [
        NOT_COMPUTED
        if side == NOT_COMPUTED
        else (outward(float(value), 6) if kind == "upper" else f"about {nearest(float(value))}")
        for value, kind, side in zip(rows["epsilon"], rows["kind"], rows["verdict"], strict=True)
    ]
    columns = {
        "Library": rows["library"],
        "Accountant": rows["method"],
        f"ε at δ = {outward(query.delta, 6)}": shown,
        "It is": rows["verdict"],
        "Note": rows["note"],
    }
    return readable(pd.DataFrame({**columns, **rows[list(FACTS)]}))


def rate_table(query: RunQuery) -> pd.DataFrame:
    """Return what an attacker finds at powers of ten of the false-positive rate, as text."""
    run = query.run
    if run.twin is None:
        rows = result(step_rates, run.step, run.rounds)
    else:
        rows = result(rates, run.twin.sigma, run.twin.q, run.steps)
    rows = rows[rows["fpr"].isin(DECADES)]
    columns: dict[str, Any] = {
        "Wrongly accused": [of_100(float(rate)) for rate in rows["fpr"]],
        "Found, at most": [of_100(float(rate)) for rate in rows["tpr"]],
    }
    if run.twin is not None:
        columns |= {
            "By Rényi (bound)": [of_100(float(rate)) for rate in rows["renyi"]],
            "By CLT (approximation)": [f"about {nearest(float(rate), 4)}" for rate in rows["clt"]],
            "The CLT is": rows["verdict"],
        }
    return readable(pd.DataFrame({**columns, **rows[list(FACTS)]}))


def slow_curve(query: RunQuery) -> bool:
    """Whether the full curve of a run is too slow for a page: each delta of an allocated epoch has its own contour."""
    return query.sampler == ALLOCATED and query.run.rounds == 1


def tuning(query: RunQuery, runs: float) -> pd.DataFrame:
    """Return what the best of several runs reveals, by how their number is chosen, as text."""
    rows = result(tuning_costs, query.run.region, runs, query.delta)
    columns = {
        "Number of runs": [TUNING[name] for name in rows["law"]],
        "Runs": [nearest(float(count)) for count in rows["runs"]],
        "ε, at most": [outward(float(value), 5) for value in rows["epsilon"]],
        "some ranking reveals": [f"{outward(float(value), 5, up=False)} or more" for value in rows["epsilon_lower"]],
    }
    return readable(pd.DataFrame({**columns, **rows[list(FACTS)]}))


# ---- a target ------------------------------------------------------------------------------------------------


def target_of(query: RunQuery, unknown: str, epsilon: float) -> TrainingTarget:
    """Return the value of one number that meets a target epsilon, with the others as in the fields."""
    open_ = {"steps": ("steps", "epochs")}.get(UNKNOWNS[unknown], (UNKNOWNS[unknown],))
    known = {**query.known, **query.sizes, "sigma": query.sigma, **dict.fromkeys(open_)}
    return result(solve_training, SAMPLERS[query.sampler], epsilon=epsilon, delta=query.delta, **known)

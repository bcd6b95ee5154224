"""Training runs: rate and steps from what people know, the sampler stated, summaries, statements and the command."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.cli import main
from dpcore.core.errors import DomainError
from dpcore.language import parse
from dpcore.training import SAMPLERS, TrainingRun, training_run, training_summary
from dpcore.training.samplers import sampler_of
from dpcore.training.summary import COLUMNS, RATES


def test_rate_and_steps_follow_from_records_batch_and_epochs() -> None:
    run = training_run("poisson", sigma=1.1, examples=60_000, batch=256, epochs=60)
    assert (run.rate, run.steps) == (256 / 60_000, 14_063)
    assert run.origin == "q = 256/60 000; 60 epochs are 14 063 steps"
    assert training_run("poisson", sigma=1.1, rate=256 / 60_000, steps=14_063).region == run.region
    assert str(run.region) == f"poisson_gaussian(1.1, {256 / 60_000!r})^14063"
    assert training_run("poisson", sigma=1, rate=0.01, epochs=3).steps == 300


@given(st.integers(1, 10**6), st.integers(1, 10**4), st.integers(1, 400))
@settings(max_examples=60, deadline=None)
def test_decimals_are_meant_as_they_are_written(examples: int, batch: int, tenths: int) -> None:
    """With 0.1 epochs of 1000 records in tens there are 10 steps, although the double 0.1 is a little more than a tenth."""
    batch = min(batch, examples)
    wanted = math.ceil(Fraction(tenths, 10) * examples / batch)
    if 1 <= wanted <= 10**6:
        run = training_run("poisson", sigma=1, examples=examples, batch=batch, epochs=tenths / 10)
        assert run.steps == wanted
        exact = training_run("poisson", sigma=1, examples=examples, batch=batch, epochs=Fraction(tenths, 10))
        assert exact.steps == wanted


def test_full_batches() -> None:
    run = training_run("full", sigma=10, epochs=100)
    assert (run.rate, run.steps) == (1.0, 100)
    assert training_run("full", sigma=10, examples=500, batch=500, epochs=100).rate == 1.0
    summary = training_summary(run, 1e-5)
    assert summary.epsilon[1] == pytest.approx(float(parse("gdp(1)").epsilon(1e-5)), rel=1e-12)
    assert summary.epsilon[0] == summary.epsilon[1]
    assert summary.fit is not None
    assert summary.fit.mu == pytest.approx((1.0, 1.0))
    assert summary.fit.regret == (0.0, 0.0)
    assert "(exact)" in summary.answer()
    assert run.region.neighbours == "add/remove"


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"sampler": "guess"}, "How does a step choose its records"),
        ({"sampler": None}, "How does a step choose its records"),
        ({"sampler": "shuffle"}, "Batches cut from a shuffled list have no known ε"),
        ({"rate": None}, "The sampling rate is missing: give rate, or examples and batch"),
        ({"rate": None, "batch": 10}, "The sampling rate is missing"),
        ({"steps": None}, "The number of steps is missing: give epochs or steps"),
        ({"epochs": 2}, "epochs and steps say the same thing"),
        ({"batch": 5, "examples": 50}, "rate and batch say the same thing"),
        ({"batch": 60, "examples": 50, "rate": None}, "batch must be at most the number of examples, 50, got 60"),
        ({"rate": 1.5}, r"rate must be a number in \(0, 1\], got 1.5"),
        ({"steps": 0}, r"steps must be an integer in \[1, 1000000\], got 0"),
        ({"steps": 2.5}, "steps must be an integer"),
        ({"sigma": 0.01}, r"sigma must be a number in \[0.05, 1000\], got 0.01"),
        ({"sampler": "full"}, "rate must be 1, got 0.1"),
        ({"sampler": "full", "rate": None, "examples": 50, "batch": 10}, "leave batch out"),
        ({"steps": None, "epochs": 1e6, "rate": 0.01}, r"steps must be an integer in \[1, 1000000\]"),
    ],
)
def test_what_is_missing_or_wrong_is_named(numbers: dict[str, Any], words: str) -> None:
    given_: dict[str, Any] = {"sampler": "poisson", "sigma": 1.0, "rate": 0.1, "steps": 10, **numbers}
    sampler = given_.pop("sampler")
    with pytest.raises(DomainError, match=words):
        training_run(sampler, **given_)


def test_every_sampler_is_found_by_its_name() -> None:
    assert [sampler_of(one.name) for one in SAMPLERS] == list(SAMPLERS)
    with pytest.raises(DomainError, match="rate must be 1"):
        TrainingRun(sampler_of("full"), 1.0, 0.5, 10)


def test_the_summary_at_the_published_setting() -> None:
    """2250 steps at sigma 1.5 and q 0.04 have epsilon 6.769 at 1e-5 (Opacus prints 6.78 to 7.33)."""
    run = training_run("poisson", sigma=1.5, rate=0.04, steps=2250)
    summary = training_summary(run, 1e-5)
    low, high = summary.epsilon
    assert low <= high <= low * (1 + 1e-6)
    assert high == pytest.approx(6.76878, abs=1e-5)
    table = summary.table(claimed=6.6)
    assert tuple(table) == COLUMNS
    assert not table.isna().any().any()
    rows = table.set_index("quantity")
    assert (table["lower"] <= table["value"]).all()
    assert rows.loc["mu", "at"] == 1e-12
    assert table[table["quantity"] == "true_positive_rate"]["at"].tolist() == list(RATES)
    assert rows.loc["claimed_epsilon", "words"].startswith("The claim is wrong")
    assert training_summary(run, 1e-5).table(7.0)["words"].str.startswith("The claim holds").any()
    assert (table["neighbours"] == "add/remove").all()


def test_mu_is_between_the_curve_and_its_regret() -> None:
    """By hand on a grid: the Gaussian curve lies below the region, and above it once moved by the regret."""
    run = training_run("poisson", sigma=1.0, rate=0.02, steps=300)
    summary = training_summary(run)
    assert summary.fit is not None
    alpha = np.geomspace(1e-9, 0.4, 300)
    beta = run.region.beta(alpha)
    gaussian = parse(f"gdp({summary.fit.mu[1]!r})")
    assert (gaussian.beta(alpha) <= beta + 1e-9).all()
    kappa = summary.fit.regret[1]
    moved = np.maximum(alpha - kappa, 0.0)
    assert (beta - kappa <= np.where(moved > 0, gaussian.beta(moved), 1.0) + 1e-9).all()
    less = 0.99 * summary.fit.regret[0]
    moved = np.linspace(1e-6, 0.4, 4001)
    assert (run.region.beta(moved + less) - less > gaussian.beta(moved)).any()


def test_the_statement_says_what_a_reader_needs() -> None:
    text = training_summary(training_run("poisson", sigma=1.1, examples=60_000, batch=256, epochs=60), 1e-5).statement()
    for words in (
        "(2.382, 1e-5)-differentially private",
        "Unit of privacy: one training record",
        "one record added or removed",
        "Poisson samples of rate q = 0.00426667: each step takes each record independently with probability q",
        "14 063 steps",
        "σ = 1.1",
        "μ = 0.5977",
        "regret 0.00524",
        "Accountant: dpcore",
        "Assumptions:",
    ):
        assert words in text
    full = training_summary(training_run("full", sigma=10, steps=1), 1e-5).statement()
    assert "each step uses all records" in full
    assert "1 step of gradient descent" in full


def run_command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["training", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_reads_expressions(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run_command(
        capsys, "--sampler", "poisson", "--sigma", "1.1", "--rate", "256/60000", "--steps", "60*60000/256"
    )
    assert code == 0
    assert "After 14 063 steps on Poisson samples of rate q = 0.00426667" in out
    code, same, _ = run_command(
        capsys, "--sampler", "poisson", "--sigma", "1.1", "--examples", "60000", "--batch", "256", "--epochs", "60"
    )
    assert same == out


def test_the_command_asks_for_the_sampler(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run_command(capsys, "--sigma", "1", "--rate", "0.1", "--steps", "5")
    assert code != 0
    assert out == ""
    assert "How does a step choose its records?" in err
    code, _, err = run_command(capsys, "--sampler", "poisson", "--rate", "0.1", "--steps", "5")
    assert code != 0
    assert "The noise is missing" in err


def test_the_command_solves_for_what_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--sampler", "poisson", "--rate", "0.01", "--steps", "1000", "--target-epsilon", "2", "--format", "json")
    code, out, _ = run_command(capsys, *words)
    assert code == 0
    assert '"quantity": "sigma"' in out

"""Every sampler of a training run: its region, its target, its words; and what is proved about shuffled batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore.cli import main
from dpcore.core.errors import DomainError
from dpcore.language import parse
from dpcore.theorems.conversion import gaussian_fit
from dpcore.training import (
    library_reports,
    rates,
    shuffled_run,
    solve_training,
    step_ladder,
    step_rates,
    training_run,
    training_summary,
)

KNOWN: dict[str, Any] = {"examples": 60_000, "batch": 256, "epochs": 10}


@pytest.mark.long
@pytest.mark.parametrize(
    ("sampler", "more", "step"),
    [
        ("poisson", {}, f"poisson_gaussian(1.5, {256 / 60_000!r})"),
        ("poisson", {"unit_records": 3}, f"user_gaussian(1.5, {256 / 60_000!r}, 3)"),
        ("truncated", {"largest_batch": 320}, f"truncated_poisson(1.5, {256 / 60_000!r}, 320, 60000)"),
        ("fixed", {}, f"fixed_size(gaussian(1.5, 2), {256 / 60_000!r})"),
    ],
)
def test_each_sampler_has_its_region_and_meets_a_target(sampler: str, more: dict[str, Any], step: str) -> None:
    run = training_run(sampler, sigma=1.5, **KNOWN, **more)
    assert str(run.step) == str(parse(step))
    assert run.steps == 2344
    target = solve_training(sampler, epsilon=2.0, **KNOWN, **more)
    assert training_summary(target.run).epsilon[1] <= 2.0
    assert training_summary(training_run(sampler, sigma=target.value * 0.999, **KNOWN, **more)).epsilon[1] > 2.0
    assert run.sampler.condition in training_summary(run).statement()


def test_full_batches_of_persons() -> None:
    run = training_run("full", sigma=20.0, steps=100, unit_records=2)
    assert training_summary(run).epsilon[1] == pytest.approx(float(parse("gdp(1)").epsilon(1e-5)), rel=1e-9)


def test_samplers_in_their_order() -> None:
    """One record: Poisson reveals less than truncated samples, these less than fixed ones; more records reveal more."""
    known = {"sigma": 1.5, **KNOWN}
    poisson, persons = (training_summary(training_run("poisson", **known, unit_records=m)).epsilon[1] for m in (1, 2))
    cut = training_summary(training_run("truncated", **known, largest_batch=320)).epsilon[1]
    fixed = training_summary(training_run("fixed", **known)).epsilon[1]
    assert poisson < cut < fixed
    assert poisson < persons
    twin = training_summary(training_run("poisson", **{**known, "sigma": 0.75})).epsilon[1]
    assert fixed == pytest.approx(twin, rel=1e-6)


def test_libraries_account_for_poisson_samples_of_single_records() -> None:
    run = training_run("poisson", sigma=1.5, **KNOWN, unit_records=3)
    rows = library_reports(run)
    assert set(rows["kind"]) == {"approximate"}
    assert set(rows["verdict"]) == {"below the truth"}
    assert rows["note"].str.startswith("assumes Poisson samples of single records").all()
    assert set(library_reports(training_run("poisson", sigma=1.5, **KNOWN))["kind"]) == {"approximate", "upper"}


def test_steps_and_rates_of_any_step() -> None:
    ladder = step_ladder("user_gaussian(2, 0.01, 3)", 1e-5, (10, 100, 1000))
    assert ladder["k"].tolist() == [10, 100, 1000]
    for count, value in zip(ladder["k"], ladder["epsilon"], strict=True):
        assert value == float(parse(f"user_gaussian(2, 0.01, 3)^{count}").epsilon(1e-5))
    table = step_rates("poisson_gaussian(1.5, 0.04)", 2250)
    assert table["tpr"].to_numpy() == pytest.approx(rates(1.5, 0.04, 2250)["tpr"].to_numpy(), rel=1e-5)


@pytest.mark.parametrize(
    ("sampler", "numbers", "words"),
    [
        ("truncated", {}, "need the number of records and the largest batch"),
        ("poisson", {"largest_batch": 300}, "belongs to the sampler truncated"),
        ("fixed", {"unit_records": 2}, "accounted for poisson or full only, not for fixed"),
        ("poisson", {"unit_records": 0}, "unit_records must be"),
    ],
)
def test_numbers_that_do_not_fit_the_sampler_are_named(sampler: str, numbers: dict[str, Any], words: str) -> None:
    with pytest.raises(DomainError, match=words):
        training_run(sampler, sigma=1.0, **KNOWN, **numbers)


# ---- shuffled batches ----------------------------------------------------------------------------------------


def _above(cut: float, sigma: float, batches: int) -> tuple[float, float]:
    """Return how likely the largest of all sums but the last exceeds a cut, without a record and with it."""
    from scipy.special import ndtr

    alone, moved = float(ndtr(cut / sigma)), float(ndtr((cut - 2.0) / sigma))
    without = 1.0 - alone ** (batches - 1)
    return without, without / batches + (1.0 - moved * alone ** (batches - 2)) * (1.0 - 1.0 / batches)


def test_shuffled_batches_refute_the_poisson_claim() -> None:
    run = shuffled_run(sigma=0.8, examples=100_000, batch=100, epochs=1)
    # one threshold by hand: P(max > c with) - e^epsilon P(max > c without) at the best of a few c
    by_hand = max(np.log((seen - 1e-5) / false) for false, seen in (_above(cut, 0.8, 1000) for cut in (4.5, 5.0, 5.3)))
    assert run.epsilon_lower >= by_hand - 0.05
    assert run.epsilon_lower > run.poisson_epsilon[1]
    assert (
        run.epsilon_lower
        < run.epsilon[1]
        == pytest.approx(float(parse("gdp(1.25) * gdp(2.5)").epsilon(1e-5)), rel=1e-9)
    )
    assert "too small" in run.answer()
    assert run.judged(0.4).startswith("ε = 0.4 is not true")
    assert "neither proved nor refuted" in run.judged(10.0)
    assert "holds" in run.judged(50.0)
    rows = run.table(0.4)
    assert rows["kind"].iloc[0] == "lower"
    assert set(rows["quantity"]) >= {"epsilon", "epsilon_if_poisson", "claimed_epsilon"}
    more = shuffled_run(sigma=0.8, examples=100_000, batch=100, epochs=2.5)
    assert more.epochs == 2
    assert more.epsilon_lower > run.epsilon_lower
    with pytest.raises(DomainError, match="less than one epoch"):
        shuffled_run(sigma=1.0, examples=1000, batch=10, epochs=0.5)


# ---- random allocation ---------------------------------------------------------------------------------------


def test_allocation_composes_epochs() -> None:
    """One epoch is exactly `random_allocation`; several are bounded without amplification, and a part counts as a whole."""
    one = training_run("allocation", sigma=1.1, examples=60_000, batch=256, epochs=1)
    assert str(one.region) == "random_allocation(1.1, 235)"
    assert (one.steps, one.rounds) == (235, 1)
    low, high = training_summary(one).epsilon
    assert low == pytest.approx(0.270956, abs=1e-5)
    assert high == pytest.approx(low, rel=1e-5)
    # the bound without sampling, and the sampler with the same expected batches, on both sides
    assert training_run("poisson", sigma=1.1, examples=60_000, batch=256, epochs=1).region.epsilon(1e-5) > 0.1
    assert high < parse("gaussian(1.1)").epsilon(1e-5)
    more = training_run("allocation", sigma=1.1, examples=60_000, batch=256, epochs=2.5)
    assert more.rounds == 3
    assert more.region.epsilon(1e-5) == pytest.approx(parse("gaussian(1.1)^3").epsilon(1e-5), rel=1e-9)
    assert "allocated at random, 235 an epoch" in training_summary(more).answer()


def test_allocation_by_simulation() -> None:
    """Balls in bins for real: the average likelihood ratio of three steps, tested against the certified delta."""
    run = training_run("allocation", sigma=0.9, rate=1 / 3, steps=3)
    rng = np.random.default_rng(11)
    tests = 400_000
    sums = rng.normal(scale=0.9, size=(tests, 3))
    sums[np.arange(tests), rng.integers(3, size=tests)] += 1.0
    loss = np.log(np.mean(np.exp((2 * sums - 1.0) / (2 * 0.9**2)), axis=1))
    for epsilon in (0.2, 1.0):
        gain = np.maximum(-np.expm1(epsilon - loss), 0.0)
        assert gain.mean() <= float(run.region.delta(epsilon)) + 5 * gain.std() / np.sqrt(tests)
        assert gain.mean() == pytest.approx(float(run.region.delta(epsilon)), abs=6 * gain.std() / np.sqrt(tests))


def test_targets_of_allocation() -> None:
    noise = solve_training("allocation", epsilon=1.0, rate=0.01, steps=100)
    assert noise.run.region.epsilon(1e-5) <= 1.0
    steps = solve_training("allocation", epsilon=8.0, sigma=2.0, rate=0.01)
    assert steps.run.steps % 100 == 0
    assert steps.run.region.epsilon(1e-5) <= 8.0 < (steps.run.step ** (steps.run.rounds + 1)).epsilon(1e-5)


# ---- published settings --------------------------------------------------------------------------------------


def test_published_settings() -> None:
    """2250 steps at sigma 1.5, q 0.04 have 6.769. The published mu 1.56843 of 2000 steps holds for rates from 1e-10, not from 1e-12."""
    assert training_summary(training_run("poisson", sigma=1.5, rate=0.04, steps=2250)).epsilon[1] == pytest.approx(
        6.769, abs=5e-4
    )
    region = parse("poisson_gaussian(9.4, 0.328)^2000")
    whole, part = gaussian_fit(region), gaussian_fit(region, 1e-10)
    assert whole is not None
    assert part is not None
    assert whole.mu[0] > 1.5693  # no smaller mu lies below the curve: at a single rate it is refuted
    assert part.mu == pytest.approx((1.56847, 1.56847), abs=1e-5)
    assert part.regret == pytest.approx((0.001023, 0.001023), abs=1e-6)
    assert abs(part.mu[1] - 1.56843) < 1e-4


# ---- the command ---------------------------------------------------------------------------------------------


def test_the_command_of_every_sampler(capsys: pytest.CaptureFixture[str]) -> None:
    known = ["--examples", "60000", "--batch", "256", "--epochs", "10", "--sigma", "1.1"]
    for more in (["poisson", "--unit-records", "2"], ["allocation"], ["shuffle"]):
        assert main(["training", *known, "--sampler", *more]) == 0
        assert capsys.readouterr().out.splitlines()[1].startswith("epsilon,1e-05,")
    assert main(["training", *known, "--sampler", "poisson", "--runs", "20"]) == 0
    assert "\ntuning_geometric," in capsys.readouterr().out
    for wrong, words in [
        (["shuffle", "--target-epsilon", "2"], "shuffled batches have only bounds"),
        (["shuffle", "--unit-records", "2"], "shuffled batches have only bounds"),
        (["truncated"], "largest_batch"),
    ]:
        assert main(["training", *known, "--sampler", *wrong]) == 2
        assert words in capsys.readouterr().err

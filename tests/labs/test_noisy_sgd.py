"""Noisy gradient descent: schedule, error terms, costs and runs, each by a second route."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from dpcore.core.effort import effort
from dpcore.core.errors import DomainError
from dpcore.labs import lab
from dpcore.labs import noisy_sgd as sgd
from dpcore.labs import noisy_sgd_runs as runs
from dpcore.labs.base import standard_error
from dpcore.language import parse


def test_noise_levels_by_their_printed_formula() -> None:
    plan = sgd.Schedule(50, 0.3, 0.6, 0.2, 0.7, 3.0)
    assert plan.noise[0] == pytest.approx(3.0 / 0.7)
    for t in (2, 17, 50):
        eta = [0.2 * (1 + j) ** -0.3 for j in range(t)]
        level = (sum(eta[: t - 1]) / eta[t - 1] + 1) * 3.0 / 0.7 / t**0.6
        assert plan.noise[t - 1] == pytest.approx(level)
    a3 = sum((plan.rates[t] * plan.noise[t]) ** 2 for t in range(50)) / sum(plan.rates)
    assert plan.terms[2] == pytest.approx(a3)


@pytest.mark.parametrize(("rho", "kappa"), [(0.0, 0.0), (0.2, 0.3), (0.3, 1.6), (0.8, 0.4), (0.7, 1.5), (0.0, 1.25)])
def test_powers_by_doubling(rho: float, kappa: float) -> None:
    one, two = (sgd.Schedule(n, rho, kappa).terms for n in (2**18, 2**19))
    for power, small, large in zip(sgd.exponents(rho, kappa), one, two, strict=True):
        assert math.log2(large / small) == pytest.approx(power, abs=0.05)


def test_noise_term_vanishes_from_one_not_three_halves() -> None:
    assert sgd.vanishing(0.0) == 1.0 < sgd.PRINTED_CONSTANT
    assert sgd.vanishing(0.5) == 0.75
    ends = [sgd.Schedule(n, 0.0, 1.25).terms for n in (10**3, 10**5)]
    assert ends[1][2] < ends[0][2] / 5, "at kappa = 1.25 it vanishes already"
    assert ends[1][1] == pytest.approx(ends[0][1]), "but the sampling term stays"


def test_printed_power_of_the_sampling_term_is_false_above_one_half() -> None:
    assert sgd.exponents(0.8, 1.0)[1] == pytest.approx(-0.2)
    one, two = (sgd.Schedule(n, 0.8, 1.0).terms[1] for n in (10**4, 10**5))
    assert two / one > 10**-0.4, "the printed N^-0.8 would be 0.16"


def test_all_iterates_cost_the_sum() -> None:
    plan = sgd.Schedule(2, 0.0, 0.0)
    assert plan.joint == pytest.approx(1.5)
    assert parse("laplace(1) * laplace(0.5)").epsilon(0.0) == pytest.approx(plan.joint)
    assert sgd.Schedule(1000, 0.0, 0.0).joint == pytest.approx(sum(1 / t for t in range(1, 1001)))


@pytest.mark.parametrize(("rho", "kappa"), [(0.5, 0.8), (0.2, 1.0), (0.0, 1.1), (0.9, 0.6)])
def test_plain_composition_beats_the_promise_where_the_error_vanishes(rho: float, kappa: float) -> None:
    assert kappa > sgd.vanishing(rho) >= sgd.cheaper(rho)
    plan = sgd.Schedule(20_000, rho, kappa)
    assert plan.joint < plan.promised[-1]
    if rho <= 0.5:  # beyond, the sums of the rates need far more steps to reach their power
        assert plan.joint / plan.promised[-1] == pytest.approx((1 - rho) / kappa, rel=0.02)


def test_hidden_sampling_by_enumeration() -> None:
    """Two steps of Laplace noise on a sum, one of two records a step: the ratio of densities never passes the bound."""
    plan = sgd.Schedule(2, 0.0, 0.0, 1.0)

    def density(at: tuple[float, float], record: float) -> float:
        out = 1.0
        for z, gamma in zip(at, plan.noise.tolist(), strict=True):
            out *= sum(math.exp(-abs(z - value) / gamma) / (2 * gamma) for value in (0.0, record)) / 2
        return out

    points = [(x, y) for x in np.linspace(-4, 4, 41) for y in np.linspace(-6, 6, 41)]
    worst = max(abs(math.log(density(p, a) / density(p, b))) for p in points for a, b in ((0.0, 1.0), (1.0, 0.0)))
    assert worst <= plan.sampled(2) + 1e-12
    assert plan.sampled(1) == pytest.approx(plan.joint)
    strong = sgd.Schedule(1, epsilon=900.0)
    assert strong.sampled(100) == pytest.approx(900 - math.log(100)), "where e^900 is no double"
    assert worst == pytest.approx(plan.sampled(2), rel=0.05)


def test_grid() -> None:
    table = sgd.grid([0.0, 0.5], [0.5, 1.0], 100)
    assert table["vanishes"].tolist() == [False, False, False, True]
    assert table["promised"].tolist() == pytest.approx([10, 100, 10, 100])


@dataclass(frozen=True)
class MeanProblem:
    """Half the squared distance from each of some numbers in [0, 1]; the minimum is their mean."""

    values: tuple[float, ...]

    dimension = 1
    smoothness = 1.0
    sensitivity = 1.0

    @property
    def records(self) -> int:
        """Number of values."""
        return len(self.values)

    @cached_property
    def data(self) -> np.ndarray:
        """The values as an array."""
        return np.array(self.values)

    @cached_property
    def best(self) -> np.ndarray:
        """Their mean."""
        return np.array([self.data.mean()])

    @property
    def spread(self) -> float:
        """Their variance."""
        return float(self.data.var())

    def gradients(self, parameters: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Return parameter minus record."""
        return np.asarray(parameters - self.data[index][:, None], dtype=np.float64)

    def excess(self, parameters: np.ndarray) -> np.ndarray:
        """Return half the squared distance from the mean."""
        return np.asarray((parameters[:, 0] - self.best[0]) ** 2 / 2.0, dtype=np.float64)


def mean_excess(problem: MeanProblem, plan: sgd.Schedule) -> float:
    r"""Return the expected excess of the weighted average for the mean, exactly.

    The recursion is linear: with :math:`\xi_t` the centred record plus noise, of variance :math:`s^2+2\gamma^2`,

    .. math:: \bar\theta-\bar x=g_0(\theta_0-\bar x)+\sum_t w_t\xi_t,\qquad w_t=\eta_tG_t/S_N,\quad
              G_{t-1}=\eta_t+(1-\eta_t)G_t,\ G_{N-1}=0
    """
    weight, total = 0.0, float(plan.sums[-1])
    variance = 0.0
    for rate, noise in zip(plan.rates[::-1].tolist(), plan.noise[::-1].tolist(), strict=True):
        variance += (rate * weight / total) ** 2 * (problem.spread + 2.0 * noise * noise)
        weight = rate + (1.0 - rate) * weight
    off = weight / total * float(problem.best[0])
    return (variance + off * off) / 2.0


def _mean(seed: int = 1) -> MeanProblem:
    return MeanProblem(tuple(np.random.default_rng(seed).uniform(size=100).tolist()))


@pytest.mark.parametrize(
    ("steps", "kappa", "digest", "bound", "promised"),
    [(2000, 0.8, 0.0211, 1.003, 437), (2000, 1.0, 0.00355, 0.143, 2000), (200, 0.0, 45.6, 1306, 1)],
)
def test_mean_runs(steps: int, kappa: float, digest: float, bound: float, promised: float) -> None:
    problem, plan = _mean(), sgd.Schedule(steps, 0.5, kappa, 0.25)
    exact = mean_excess(problem, plan)
    seen = problem.excess(runs.run(problem, plan, np.random.default_rng(3), 400, [steps])[steps])
    error = standard_error(seen)
    assert seen.mean() == pytest.approx(exact, abs=4 * error)
    assert digest == pytest.approx(exact, abs=4 * error), "a simulation of 400 runs as well"
    upper = plan.bound(float(problem.best[0]) ** 2, problem.spread, 1)
    assert exact < upper
    # the digest had another sample: its mean squared and variance are within 4 errors of 1/4 and 1/12
    a1, a2, _ = plan.terms
    sample = a1 * math.sqrt(1 / 1200) + 2 * a2 * math.sqrt(1 / 180 / 100)
    rounded = 0.5 if bound > 1000 else 0.0005
    assert bound == pytest.approx(plan.bound(1 / 4, 1 / 12, 1), abs=4 * sample + rounded)
    assert plan.promised[-1] == pytest.approx(promised, abs=0.5)


def test_mean_excess_by_the_matrix_of_the_recursion() -> None:
    problem, plan = _mean(), sgd.Schedule(12, 0.4, 0.3, 0.2)
    n, weights = plan.steps, plan.rates / plan.rates.sum()
    start, loads = np.ones(n), np.zeros((n, n))  # iterate j as a sum of its start and of earlier noises
    for j in range(1, n):
        start[j] = start[j - 1] * (1 - plan.rates[j - 1])
        loads[j] = loads[j - 1] * (1 - plan.rates[j - 1])
        loads[j, j - 1] = plan.rates[j - 1]
    variance = (weights @ loads) ** 2 @ (problem.spread + 2 * plan.noise**2)
    off = weights @ start * problem.best[0]
    assert mean_excess(problem, plan) == pytest.approx((variance + off**2) / 2, rel=1e-12)


def test_ridge_closed_form_is_the_minimum() -> None:
    problem = runs.points(100, np.random.default_rng(7), 0.3)
    gradient = problem.gradients(np.repeat(problem.best[None], 100, axis=0), np.arange(100))
    assert gradient.mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-12)
    v, u = problem.points
    design = np.array([[1.0, v.mean()], [v.mean(), np.mean(v * v) + 0.3]])
    assert problem.best == pytest.approx(np.linalg.solve(design, [u.mean(), np.mean(u * v)]))
    around = problem.best + np.random.default_rng(0).normal(0, 0.3, (200, 2))
    assert problem.excess(around).min() > 0
    assert np.linalg.norm(gradient, axis=1).mean() > 0.05, "(7.13): the mean length is not the length of the mean"
    near = problem.best + 1e-6 * np.eye(2)
    slope = (problem.value(near) - problem.value(problem.best[None])) / 1e-6
    assert slope == pytest.approx([0, 0], abs=1e-5)


def test_ridge_gradients_move_by_at_most_their_sensitivity() -> None:
    rng = np.random.default_rng(9)
    problem = runs.points(50, rng)
    theta = np.repeat(rng.normal(0, 5, (200, 2)), 50, axis=0)
    rows = problem.gradients(theta, np.tile(np.arange(50), 200)).reshape(200, 50, 2)
    apart = np.abs(rows[:, :, None] - rows[:, None]).sum(axis=-1)
    assert 2.0 < apart.max() <= problem.sensitivity


def test_ridge_runs_stay_below_the_bound_and_reach_the_line() -> None:
    problem = runs.points(100, np.random.default_rng(7))
    plan = sgd.Schedule(1000, 0.5, 1.5, 0.1, 1.0, problem.sensitivity)
    assert plan.rate <= 1 / (4 * problem.smoothness)
    seen = runs.run(problem, plan, np.random.default_rng(1), 100, [100, 1000])
    for steps, average in seen.items():
        cut = sgd.Schedule(steps, 0.5, 1.5, 0.1, 1.0, problem.sensitivity)
        assert problem.excess(average).mean() < cut.bound(float(problem.best @ problem.best), problem.spread, 2)
    calm = runs.run(problem, sgd.Schedule(20_000, 0.5, 0.0), np.random.default_rng(1), 4, [20_000], noisy=False)[20_000]
    assert calm.mean(axis=0) == pytest.approx(problem.best, abs=0.05)


def test_the_numbers_of_the_story() -> None:
    table, story = lab("noisy_sgd").table(), lab("noisy_sgd").story
    assert table.iloc[0]["value"] == pytest.approx(125.692693, abs=1e-6)
    assert float(table.iloc[0]["printed"]) == pytest.approx(177.827941, abs=1e-6)
    assert f"ε = {float(table.iloc[0]['printed']):.0f}" in story.matters
    assert f"gives {table.iloc[0]['value']:.0f} " in story.matters
    chosen = lab("noisy_sgd")
    assert chosen.kappa == sgd.vanishing(chosen.rho), "the edge of convergence"  # type: ignore[attr-defined]
    for rho in np.linspace(0.0, 0.999, 50):  # the promise is N to the kappa
        assert sgd.vanishing(float(rho)) > 0.5, "faster than the square root"
        assert 2 * sgd.vanishing(float(rho)) + rho == pytest.approx(2)


@pytest.mark.parametrize("view", ["ridge", "path", "trade", "grid"])
def test_both_runs_are_parts_of_one_work(view: str) -> None:
    """The fractions told rise by themselves, without the lab holding them up."""
    seen: list[float] = []
    makers = lab("noisy_sgd", replications=20).pictures(np.random.default_rng(0))
    with effort(progress=seen.append):
        makers[view]()
    assert seen == sorted(seen)
    assert len(set(seen)) >= 3
    assert seen[0] == 0 < seen[-1] < 1


def test_the_error_on_many_records_is_that_of_the_mean_loss() -> None:
    """Runs are taken some at a time; the loss of each is the mean over all records."""
    problem = runs.points(300_000, np.random.default_rng(2))
    theta = np.random.default_rng(3).normal(0, 1, (7, 2))
    v, u = problem.points
    off = np.abs(u - theta[:, :1] - theta[:, 1:] * v)
    huber = np.where(off <= problem.clip, off**2 / 2, problem.clip * (off - problem.clip / 2)).mean(axis=1)
    assert problem.value(theta) == pytest.approx(huber + problem.penalty * theta[:, 1] ** 2 / 2, rel=1e-12)
    seen: list[float] = []
    with effort(progress=seen.append):
        problem.excess(theta)
    assert len(seen) == 1 + 3, "one look for the ridge line, and every three runs"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"rho": 1.0}, r"rho must be a number in \[0, 1\)"),
        ({"steps": 1}, "steps must be"),
        ({"kappa": -1}, "kappa must be"),
    ],
)
def test_bad_parameters_are_named(values: dict[str, float], words: str) -> None:
    with pytest.raises(DomainError, match=words):
        lab("noisy_sgd", **values)


def test_bad_problems_are_named() -> None:
    with pytest.raises(DomainError, match=r"numbers in \[-1, 1\]"):
        runs.Ridge((0.0, 2.0), (0.0, 0.0))
    with pytest.raises(DomainError, match="rate must be at most 2 for this problem"):
        runs.run(_mean(), sgd.Schedule(5, rate=2.5), np.random.default_rng(0), 1, [5])
    with pytest.raises(DomainError, match="largest residual"):
        runs.Ridge((0.0, 0.5, 1.0), (0.9, -0.9, 0.9), clip=0.1)

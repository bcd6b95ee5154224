"""The series planner: its privacy by the digest's closed forms, a brute-force covariance and a simulated attack."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

from dpcore.planner.series import (
    FLAT,
    KNOWN,
    STATIONARY,
    SeriesModel,
    least_noise,
    noise_at,
    plan,
    pooled_model,
    scenarios,
    target_shift,
    time_attacks,
    user_attack,
    worst,
)
from dpcore.planner.series.attacks import largest_move
from tests.planner.series_models import FIRST, ONE, SECOND, SIGMA, random_model

# ---- closed forms of the digest --------------------------------------------------------------------------------------


def test_oracles_of_the_digest() -> None:
    noise = np.array([SIGMA, SIGMA])
    first = SeriesModel(FIRST, ONE)
    singles = [time_attacks(first, noise, (time,), prior=FLAT)[0].mu for time in (1, 2)]
    assert singles == pytest.approx([0.393637, 0.687871], abs=6e-7)
    both = time_attacks(first, noise, prior=FLAT)[0]
    assert (both.mu, both.user) == (pytest.approx(0.792538, abs=6e-7), 0)
    assert both.region.delta(2.747475) == pytest.approx(1.94838e-4, rel=1e-5)
    user = user_attack(SeriesModel(SECOND, ONE), noise)
    assert user.mu == pytest.approx(0.556687, abs=6e-7)
    assert [user.epsilon(delta) for delta in (0.05, 0.1)] == pytest.approx([0.616149, 0.367628], abs=6e-7)
    # A2+N1: the source's epsilon is sqrt(2 ln(1.26/delta)) mu, for a flat prior and for variances 0.1, 1, 10, 1000
    second, factor = SeriesModel(SECOND, ONE), math.sqrt(2 * math.log(25.2))
    leaks = [
        factor * math.sqrt(list(second.information(noise, (1,), prior))[1][0, 0])
        for prior in (0.1, 1.0, 10.0, 1e3, FLAT)
    ]
    assert leaks == pytest.approx([0.0574, 0.4145, 1.1274, 1.4049, 1.40843], abs=6e-5)


# ---- a second route: the joint covariance of everything ----------------------------------------------------------------


def states_covariance(model: SeriesModel, start: np.ndarray, times: int) -> np.ndarray:
    """Return the covariance of all states at all times, block by block."""
    a, n = np.array(model.matrix), model.size
    spread = [start]
    for _ in range(times - 1):
        spread.append(a @ spread[-1] @ a.T + np.array(model.covariance))
    joint = np.zeros((n * times, n * times))
    for t in range(times):
        for u in range(t, times):
            block = np.linalg.matrix_power(a, u - t) @ spread[t]
            joint[u * n : (u + 1) * n, t * n : (t + 1) * n] = block
            joint[t * n : (t + 1) * n, u * n : (u + 1) * n] = block.T
    return joint


def brute_information(
    model: SeriesModel, joint: np.ndarray, noise: np.ndarray, at: int, known: list[int]
) -> np.ndarray:
    """Return D' V^-1 D, where the known releases given the states at time `at` have mean D x + const and covariance V."""
    n = model.size
    loads = np.zeros((len(known), len(joint)))
    for row, time in enumerate(known):
        loads[row, (time - 1) * n : time * n] = 1 / n
    mine = slice((at - 1) * n, at * n)
    gain = np.linalg.solve(joint[mine, mine], joint[mine]).T
    left = joint - gain @ joint[mine]
    d = loads @ gain
    v = loads @ left @ loads.T + np.diag(noise[np.array(known) - 1] ** 2)
    return d.T @ np.linalg.solve(v, d)


@pytest.mark.parametrize("seed", range(12))
def test_information_by_the_joint_covariance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, times = int(rng.integers(1, 5)), int(rng.integers(2, 7))
    model, noise = random_model(rng, size), rng.uniform(0.2, 2, times)
    known = sorted(rng.choice(np.arange(1, times + 1), int(rng.integers(1, times + 1)), replace=False).tolist())
    for prior, start in ((STATIONARY, model.stationary()), (2.5, 2.5 * np.eye(size))):
        joint = states_covariance(model, start, times)
        for at, information in enumerate(model.information(noise, known, prior), start=1):
            brute = brute_information(model, joint, noise, at, known)
            assert information == pytest.approx(brute, rel=1e-7, abs=1e-9 * np.abs(brute).max() + 1e-12)


def test_a_flat_prior_runs_the_series_backwards() -> None:
    """Without a prior the past is x_t = A^-k x_s - sum of A^-j b, with innovations that do not depend on x_s."""
    rng = np.random.default_rng(7)
    for _ in range(5):
        model, noise = random_model(rng, 3), rng.uniform(0.3, 1.5, 4)
        a, sigma, h = np.array(model.matrix), np.array(model.covariance), np.full(3, 1 / 3)
        for at, information in enumerate(model.information(noise, prior=FLAT), start=1):
            shifts = np.array([h @ np.linalg.matrix_power(a, t - at) for t in range(1, 5)])
            spread = np.diag(noise**2)
            for k in range(2, 5):  # b_k leads from time k - 1 to k: it moves later times, or earlier ones if k <= at
                reached = [t for t in range(1, 5) if (t >= k > at) or (t < k <= at)]
                for t, u in itertools.product(reached, repeat=2):
                    left, right = (h @ np.linalg.matrix_power(a, one - k) for one in (t, u))
                    spread[t - 1, u - 1] += left @ sigma @ right
            brute = shifts.T @ np.linalg.solve(spread, shifts)
            assert information == pytest.approx(brute, rel=1e-6, abs=1e-7 * np.abs(brute).max())
    stiff = SeriesModel(((0.5, 0.1), (0.0, 0.5)), ONE)
    for one, two in zip(stiff.information(noise, prior=FLAT), stiff.information(noise, prior=1e9), strict=True):
        assert one == pytest.approx(two, rel=1e-5), "the limit of wide priors"


def test_a_known_past_tells_nothing() -> None:
    model, noise = random_model(np.random.default_rng(9), 2), np.array([0.7, 1.0, 1.3])
    for at, information in enumerate(model.information(noise, prior=KNOWN), start=1):
        later = list(model.information(noise, [time for time in (1, 2, 3) if time >= at], FLAT))[at - 1]
        assert information == pytest.approx(later, rel=1e-12)


def test_many_steps_back_stay_accurate() -> None:
    """Powers of A^-1 reach 2^60 here; the information about the last time must still be that of a scalar recursion."""
    model, noise = pooled_model(0.5, 3.0, 1), np.full(60, 0.8)
    past = 0.0
    for _ in range(59):
        own = past + 1 / 0.64
        past = own / (0.25 + own * 3.0)
    last = list(model.information(noise, prior=FLAT))[-1]
    assert last[0, 0] == pytest.approx(past + 1 / 0.64, rel=1e-12)


# ---- a simulated attack ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "prior", "at"), [(1, STATIONARY, 1), (2, STATIONARY, 3), (3, 2.0, 2), (4, 0.5, 3)])
def test_a_simulated_likelihood_ratio_attack(seed: int, prior: str | float, at: int) -> None:
    """Draw series given the states at one time, release noisy means, and let the best test decide between two states."""
    rng, runs, times = np.random.default_rng(seed), 100_000, 4
    model, noise = random_model(rng, 3), rng.uniform(0.3, 1.0, times)
    attack = time_attacks(model, noise, prior=prior)[at - 1]
    n, a, root = model.size, np.array(model.matrix), np.linalg.cholesky(np.array(model.covariance))
    start = model.stationary() if prior == STATIONARY else float(prior) * np.eye(n)
    joint = states_covariance(model, start, times)
    mine = slice((at - 1) * n, at * n)
    gain = np.linalg.solve(joint[mine, mine], joint[mine]).T

    def releases(state: np.ndarray) -> np.ndarray:
        steps = [rng.normal(size=(runs, n)) @ np.linalg.cholesky(start).T]
        for _ in range(times - 1):
            steps.append(steps[-1] @ a.T + rng.normal(size=(runs, n)) @ root.T)
        path = np.concatenate(steps, axis=1)
        path += (state - path[:, mine]) @ gain.T  # series that pass through this state
        means = path.reshape(runs, times, n).mean(axis=2)
        return means + rng.normal(size=(runs, times)) * noise

    zero, moved = np.zeros(n), np.zeros(n)
    moved[attack.user] = model.reach
    loads = np.kron(np.eye(times), np.full((1, n), 1 / n))
    shift = loads @ gain @ (moved - zero)
    covariance = loads @ (joint - gain @ joint[mine]) @ loads.T + np.diag(noise**2)
    direction = np.linalg.solve(covariance, shift)
    cut = float(direction @ shift) / 2
    for state, rate in ((zero, ndtr(-attack.mu / 2)), (moved, ndtr(attack.mu / 2))):
        hits = float((releases(state) @ direction > cut).mean())
        assert hits == pytest.approx(rate, abs=4 * math.sqrt(rate * (1 - rate) / runs))


# ---- levels ------------------------------------------------------------------------------------------------------------


def test_groups_by_trying_all_signs() -> None:
    rng = np.random.default_rng(5)
    for size, rank in ((4, 1), (6, 2), (7, 3), (8, 8)):
        root = rng.normal(size=(rank, size))
        information = root.T @ root
        brute = max(float(np.array(s) @ information @ np.array(s)) for s in itertools.product((-1.0, 1.0), repeat=size))
        length, kind = largest_move(information)
        assert (length, kind) == (pytest.approx(math.sqrt(brute), rel=1e-9), "exact")
    root = rng.normal(size=(5, 40))
    length, kind = largest_move(root.T @ root)
    signs = rng.choice((-1.0, 1.0), (5000, 40))
    assert kind == "upper"
    assert length >= np.sqrt(np.einsum("ij,jk,ik->i", signs, root.T @ root, signs)).max()
    length, kind = largest_move(np.abs(root.T @ root))
    assert (length, kind) == (pytest.approx(math.sqrt(np.abs(root.T @ root).sum())), "exact")


def test_pooled_users_are_full_users_that_are_alike() -> None:
    n, a, v, noise = 4, 0.6, 2.0, np.array([0.5, 0.8, 1.0])
    one = pooled_model(a, v, n, 3.0)
    all_of_them = SeriesModel(
        tuple(map(tuple, (a * np.eye(n)).tolist())), tuple(map(tuple, (v * np.eye(n)).tolist())), 3.0
    )
    for prior in (STATIONARY, FLAT, KNOWN, 1.5):
        for level in ("event", "group"):
            pairs = zip(
                time_attacks(one, noise, level=level, prior=prior),
                time_attacks(all_of_them, noise, level=level, prior=prior),
                strict=True,
            )
            assert all(x.mu == pytest.approx(y.mu, rel=1e-9) for x, y in pairs)
    assert user_attack(one, noise).mu == pytest.approx(user_attack(all_of_them, noise).mu)


@pytest.mark.parametrize("level", ["event", "group", "user"])
@pytest.mark.parametrize("prior", [STATIONARY, FLAT, KNOWN, 4.0])
def test_the_least_noise_is_the_least(level: str, prior: str | float) -> None:
    model, mu = random_model(np.random.default_rng(3), 3), 0.5
    noise, attack = least_noise(model, 5, mu, level, prior)
    assert attack.mu <= mu
    assert attack.mu == pytest.approx(mu, rel=1e-8)
    assert worst(model, noise_at(noise * (1 - 1e-8), 5), level, prior).mu > mu


def test_the_noise_of_users_in_closed_form() -> None:
    model, mu = pooled_model(0.5, 1.0, 200, 10.0), target_shift(1.0, 1e-5)
    noise, _ = least_noise(model, 12, mu, "user")
    assert noise == pytest.approx(10 / 200 * math.sqrt(12) / mu, rel=1e-10)
    assert noise >= 10 / 200 * math.sqrt(12) / mu
    assert least_noise(model, 1, mu, "event")[0] == pytest.approx(10 / 200 / mu, rel=1e-8)


def test_more_releases_need_more_noise() -> None:
    model, mu = pooled_model(0.7, 4.0, 50, 10.0), 0.5
    for level in ("event", "user"):
        noises = [least_noise(model, releases, mu, level)[0] for releases in (1, 2, 4, 8, 16)]
        assert noises == sorted(noises)
    independent = pooled_model(0.0, 4.0, 50, 10.0)
    noises = [least_noise(independent, releases, mu, "event")[0] for releases in (1, 3, 9)]
    assert noises == pytest.approx([noises[0]] * 3, rel=1e-8), "independent times: one release is all there is"


def test_tables_have_no_gaps() -> None:
    table = plan(SeriesModel(SECOND, ONE), 3, 1.0, 1e-5)
    assert table["level"].tolist() == ["event", "group", "user"]
    assert not table.isna().to_numpy().any()
    assert np.all(table["mu"] <= target_shift(1.0, 1e-5))
    rows = scenarios(SeriesModel(SECOND, ONE), noise_at([1.0, 2.0, 3.0], 3), 1e-3, names=("Ann", "Bob"))
    assert len(rows) == 4 * 3 * 2 + 4
    assert set(rows["user"]) == {"Ann", "Bob", "all", "any"}
    whole = rows[rows["releases"] == "all"].groupby(["level", "time"])["mu"].max()
    for (level, time), part in rows[rows["releases"] != "all"].groupby(["level", "time"]):
        assert part["mu"].max() <= whole[level, time] * (1 + 1e-12), "more releases never tell less"

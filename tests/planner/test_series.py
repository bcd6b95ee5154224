"""The series planner: its privacy by the digest's closed forms, a brute-force covariance and a simulated attack; its fit by statsmodels."""

from __future__ import annotations

import importlib.util
import itertools
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import ndtr

from dpcore.cli.program import main
from dpcore.core.errors import DomainError
from dpcore.files.csv_writer import read_frame
from dpcore.files.microdata import read_microdata
from dpcore.files.sheet import open_csv
from dpcore.planner.series import (
    FLAT,
    KNOWN,
    STATIONARY,
    Panel,
    SeriesModel,
    both_plans,
    fit,
    least_noise,
    noise_at,
    noise_range,
    plan,
    pooled_model,
    range_words,
    read_panel,
    scenarios,
    target_shift,
    time_attacks,
    user_attack,
    worst,
)
from dpcore.planner.series.attacks import largest_move
from dpcore.planner.series.fit import crosscheck

if TYPE_CHECKING:
    from pathlib import Path

FIRST = ((1.0, 0.0), (1.0, 0.5))
SECOND = ((0.5, 0.1), (0.0, 0.5))
ONE = ((1.0, 0.0), (0.0, 1.0))
SIGMA = 0.5 * math.sqrt(2 * math.log(25.2))  # of the source: n = 2, epsilon 1, delta 0.05, range 1


def random_model(rng: np.random.Generator, size: int) -> SeriesModel:
    a = rng.normal(size=(size, size))
    a *= 0.8 / np.abs(np.linalg.eigvals(a)).max()
    root = rng.normal(size=(size, size))
    return SeriesModel(
        tuple(map(tuple, a.tolist())), tuple(map(tuple, (root @ root.T).tolist())), float(rng.uniform(0.5, 3))
    )


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


# ---- fits --------------------------------------------------------------------------------------------------------------


def panel_of(users: int, times: int) -> Panel:
    i, t = np.arange(users)[:, None], np.arange(times)[None, :]
    waves = 3 * np.sin(1.7 * i + 0.9 * t) + 2 * np.cos(0.4 * i * t + 0.3 * t * t)
    values = np.round(10 + waves + 0.5 * ((7 * i + 5 * t * t) % 11), 3)
    return Panel(values, tuple(map(str, range(users))), tuple(map(str, range(times))), 0.0, 30.0)


def test_a_full_fit_equals_statsmodels() -> None:
    """Numbers of statsmodels 0.15.0, VAR(1) with a constant, for the panel of this file."""
    fitted = fit(panel_of(3, 25), "full")
    intercepts = [2.653571948742857, 10.837271392935703, 20.604766948616714]
    rows = [
        [0.37690860171951246, 0.44857267399762785, -0.01021331795715109],
        [-0.3800453504182425, 0.2673634715726825, 0.204308864902597],
        [-0.24800791472921363, -0.32610324161187926, -0.09047874131241147],
    ]
    assert fitted.estimates[:3] == pytest.approx(intercepts, rel=1e-10)
    assert np.array(fitted.model.matrix) == pytest.approx(np.array(rows), rel=1e-9)
    assert fitted.errors[:3] == pytest.approx([8.78632547150359, 8.98685171373611, 8.139347970450693], rel=1e-10)
    assert fitted.errors[3:6] == pytest.approx(
        [0.26907042193148106, 0.1935071680956609, 0.35339297794777574], rel=1e-10
    )
    assert fitted.model.covariance[0] == pytest.approx(
        [7.442053318620893, -0.9853704823618179, -3.6063908001698834], rel=1e-10
    )


def test_a_pooled_fit_equals_statsmodels() -> None:
    """Numbers of statsmodels 0.15.0, OLS of each value on the one before."""
    fitted = fit(panel_of(8, 6))
    assert fitted.estimates == pytest.approx([10.463790976590277, 0.15217136530077494], rel=1e-12)
    assert fitted.errors == pytest.approx([2.1599707125102166, 0.16387362944451997], rel=1e-12)
    assert fitted.variance[0][0] == pytest.approx(8.314962591261098, rel=1e-12)
    assert fitted.model.covariance[0][0] == pytest.approx(8.314962591261098 / 8, rel=1e-12)


def test_statsmodels_where_it_is_installed() -> None:
    installed = importlib.util.find_spec("statsmodels") is not None
    for model, panel in (("full", panel_of(3, 25)), ("pooled", panel_of(8, 6))):
        apart = crosscheck(panel, model)
        assert (apart is not None) == installed
        assert apart is None or apart < 1e-10


def test_errors_of_the_variance_by_simulation() -> None:
    rng, found = np.random.default_rng(8), []
    for _ in range(400):
        x = np.zeros((30, 6))
        for t in range(1, 6):
            x[:, t] = 0.5 * x[:, t - 1] + rng.normal(0, 2, 30)
        table = fit(Panel(x, tuple(map(str, range(30))), tuple("012345"), -50.0, 50.0)).frame()
        found.append(table.iloc[2][["value", "standard_error"]].tolist())
    values, errors = np.array(found, dtype=float).T
    assert values.mean() == pytest.approx(4, abs=4 * values.std() / 20)
    assert errors.mean() == pytest.approx(values.std(), rel=4 / math.sqrt(800))


def test_fits_recover_a_simulated_series() -> None:
    rng, users, times = np.random.default_rng(4), 400, 30
    x = np.zeros((users, times))
    for t in range(1, times):
        x[:, t] = 2 + 0.6 * x[:, t - 1] + rng.normal(0, 1.5, users)
    fitted = fit(Panel(x, tuple(map(str, range(users))), tuple(map(str, range(times))), -50.0, 50.0))
    assert abs(fitted.estimates[1] - 0.6) < 4 * fitted.errors[1]
    assert fitted.errors[1] == pytest.approx(math.sqrt((1 - 0.36) / (users * times)), rel=0.1)
    assert fitted.variance[0][0] == pytest.approx(2.25, rel=4 * math.sqrt(2 / (users * times)))


# ---- files and the command ---------------------------------------------------------------------------------------------

LONG = "who,when,hours\nAnn,2,5\nAnn,1,4\nBob,1,7\nBob,2,9.5\nAnn,10,6\nBob,10,3\n"
WIDE = "who,1,2,10\nAnn,4,5,6\nBob,7,9.5,3\n"


def panel_from(text: str, *columns: str, lower: float = 0.0, upper: float = 10.0) -> Panel:
    return read_panel(read_microdata(open_csv(text.encode())), *columns, lower=lower, upper=upper)


def test_long_and_wide_tables_are_the_same() -> None:
    long, wide = panel_from(LONG, "who", "when", "hours"), panel_from(WIDE, "who")
    assert np.array_equal(long.numbers, wide.numbers)
    assert long.times == wide.times == ("1", "2", "10"), "in the order of their numbers"
    assert long.users == ("Ann", "Bob")


def test_clipped_and_missing_values_are_said() -> None:
    panel = panel_from(
        "who,when,hours\nAnn,1,4\nAnn,2,NA\nBob,1,70\nBob,2,9\nAnn,3,1\nBob,3,2\n", "who", "when", "hours"
    )
    assert np.isnan(panel.numbers[0, 1])
    assert panel.numbers[1, 0] == 10.0
    assert panel.notes[-2:] == (
        "1 of 6 values are missing.",
        "1 value outside [0, 10] moved to the nearer bound (clipped).",
    )


@pytest.mark.parametrize(
    ("text", "columns", "words"),
    [
        ("who,when,hours\nAnn,1,x\n", ("who", "when", "hours"), "Row 1: column 'hours' must hold a number, got 'x'"),
        ("who,when,hours\nAnn,1,4\nAnn,1,5\n", ("who", "when", "hours"), "Row 2: user 'Ann' has a value at '1' already, in row 1"),
        ("who,when,hours\nAnn,1,4\n,2,5\n", ("who", "when", "hours"), "Row 2: column 'who' must name a user"),
        ("who,when,hours\nAnn,1,4\nAnn,,5\n", ("who", "when", "hours"), "Row 2: column 'when' must name a time"),
        ("who,when,hours\nAnn,1,4\nBob,1,5\n", ("who", "when", "hours"), "needs 2 to 200 times, got 1"),
        ("who,when,hours\nAnn,1,4\n", ("whom", "when", "hours"), "did you mean who"),
        ("who,when,hours\nAnn,1,4\nAnn,2,5\n", ("who",), "Row 2: user 'Ann' has a row already"),
        ("who,when,hours\nAnn,1,4\nAnn,2,5\n", ("who", "when"), "time and value belong together"),
        ("who,1,2\nAnn,NA,NA\n", ("who",), "every cell is missing"),
    ],
)  # fmt: skip
def test_tables_that_are_no_series(text: str, columns: tuple[str, ...], words: str) -> None:
    with pytest.raises(DomainError, match=re.escape(words)):
        panel_from(text, *columns)


@pytest.mark.parametrize(
    ("text", "model", "words"),
    [
        ("who,1,2,3\nAnn,4,4,4\nBob,4,4,4\n", "pooled", "All values are 4: a constant series"),
        ("who,1,2\nAnn,4,5\n", "pooled", "at least 3 steps"),
        ("who,1,2,3\nAnn,4,5,6\nBob,4,1,2\n", "full", "needs at least 5 times, got 3"),
        ("who,1,2,3,4,5\nAnn,4,5,6,1,2\nBob,4,,2,3,1\n", "full", "no value of user 'Bob' at '2'"),
        ("who,1,2,3,4,5,6\nAnn,4,5,6,1,2,4\nBob,4,5,6,1,2,3\n", "full", "constant or move together"),
    ],
)
def test_tables_that_cannot_be_fitted(text: str, model: str, words: str) -> None:
    with pytest.raises(DomainError, match=re.escape(words)):
        fit(panel_from(text, "who"), model)


def shown(capsys: Any, *words: str) -> tuple[int, pd.DataFrame, str]:
    code = main(["series", *words])
    streams = capsys.readouterr()
    return code, read_frame(streams.out) if streams.out else pd.DataFrame(), streams.err


@pytest.fixture
def matrices(tmp_path: Path) -> list[str]:
    (tmp_path / "a.csv").write_text("0.5,0.1\n0,0.5\n", encoding="utf-8")
    (tmp_path / "s.csv").write_text(",x,y\nx,1,0\ny,0,1\n", encoding="utf-8")
    return ["--matrix", str(tmp_path / "a.csv"), "--covariance", str(tmp_path / "s.csv")]


def test_the_command_plans_and_lists(capsys: Any, matrices: list[str], tmp_path: Path) -> None:
    code, table, _ = shown(capsys, *matrices, "--releases", "3", "--epsilon", "2", "--delta", "1e-6")
    model = SeriesModel(SECOND, ONE)
    assert code == 0
    assert table["noise"].tolist() == plan(model, 3, 2.0, 1e-6)["noise"].tolist()
    code, table, _ = shown(
        capsys, *matrices, "--view", "scenarios", "--noise", str(SIGMA), "--delta", "0.05", "--prior", "flat"
    )
    worst_user = table[(table["level"] == "user") & (table["releases"] == "all")].iloc[0]
    assert worst_user["epsilon"] == pytest.approx(0.616149, abs=6e-7)
    path = tmp_path / "t.csv"
    path.write_text(LONG, encoding="utf-8")
    columns = ("--user", "who", "--time", "when", "--value", "hours", "--lower", "0", "--upper", "10")
    code, table, err = shown(capsys, str(path), *columns, "--view", "fit")
    assert (code, table["parameter"].tolist()) == (0, ["intercept", "a", "innovation variance"])
    code, table, err = shown(capsys, str(path), *columns, "--prior", "flat")
    assert (code, table["releases"].tolist()) == (0, [3, 3, 3])
    assert err.startswith(
        "warning: With parameters of the fit within their 95 % intervals, the least noise at event level"
    )


@pytest.mark.parametrize(
    ("a", "s", "more", "words"),
    [
        ("0.5,0.1\n", "1,0\n0,1\n", (), "The matrix A must be square, got 1 row of 2 numbers"),
        ("0.5,0.1\n0,x\n", "1,0\n0,1\n", (), "The matrix A must hold finite numbers, got 'x' in row 2, column 2"),
        ("0.5,0.1\n0,0.5\n", "1,2\n2,1\n", (), "least eigenvalue must be at least 0, got -1"),
        ("0.5,0.1\n0,0.5\n", "1,0.2\n0.1,1\n", (), "must be symmetric, got 0.2 in row 1, column 2 and 0.1 in row 2, column 1"),
        ("0.5,0.1\n0,0.5\n", "1\n", (), "The covariance must be square, of the same size as A, 2 x 2, got 1 x 1"),
        ("1.2,0\n0,0.5\n", "1,0\n0,1\n", (), "largest eigenvalue of A must have a size below 1, got 1.2"),
        ("1,1\n1,1\n", "1,0\n0,1\n", ("--prior", "flat"), "must be invertible"),
        ("0.5,0.1\n0,0.5\n", "1,0\n0,1\n", ("--prior", "wide"), "A prior is stationary, flat, known or a variance above 0; 'wide' is none of them"),
        ("0.5,0.1\n0,0.5\n", "1,0\n0,1\n", ("--releases", "201"), "releases must be an integer in [1, 200]"),
        ("0.5,0.1\n0,0.5\n", "1,0\n0,1\n", ("--view", "scenarios", "--noise", "1,2,3"), "one for each of the 2 releases, got 3"),
    ],
)  # fmt: skip
def test_bad_matrices(capsys: Any, tmp_path: Path, a: str, s: str, more: tuple[str, ...], words: str) -> None:
    files = []
    for name, text in (("--matrix", a), ("--covariance", s)):
        path = tmp_path / f"{name[2:]}.csv"
        path.write_text(text, encoding="utf-8")
        files += [name, str(path)]
    code, table, err = shown(capsys, *files, *more)
    assert (code, len(table)) == (2, 0)
    assert words in err


def test_an_unstable_series_has_numbers_with_other_priors(capsys: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1.2\n", encoding="utf-8")
    (tmp_path / "s.csv").write_text("1\n", encoding="utf-8")
    words = ("--matrix", str(tmp_path / "a.csv"), "--covariance", str(tmp_path / "s.csv"), "--prior", "flat")
    code, table, err = shown(capsys, *words)
    assert (code, len(table)) == (0, 3)
    assert "unstable" in err


# ---- the errors of a fit -----------------------------------------------------------------------------------------


def _drawn(rng: np.random.Generator, factor: float, users: int = 60, times: int = 8) -> Panel:
    """Return a panel of users who follow their own past."""
    values = np.empty((users, times))
    values[:, 0] = rng.normal(0.0, 1.0 / math.sqrt(1.0 - factor**2), users)
    for time in range(1, times):
        values[:, time] = factor * values[:, time - 1] + rng.normal(0.0, 1.0, users)
    names = tuple(map(str, range(users)))
    return Panel(values, names, tuple(map(str, range(times))), -10.0, 10.0)


def test_the_noise_for_plausible_series_holds_that_of_the_true_one() -> None:
    rng, count, covered = np.random.default_rng(4), 60, 0
    true, _ = least_noise(pooled_model(0.6, 1.0, 60, 20.0), 6, 0.3)
    for _ in range(count):
        fitted = fit(_drawn(rng, 0.6))
        ends = noise_range(fitted, 6, 0.3)
        assert ends is not None
        estimate, _ = least_noise(fitted.model, 6, 0.3)
        assert ends[0] <= estimate <= ends[1]
        covered += ends[0] <= true <= ends[1]
    assert covered >= count * 0.95 - 3 * math.sqrt(count * 0.05 * 0.95)


def test_plausible_series_are_those_of_the_intervals() -> None:
    fitted = fit(_drawn(np.random.default_rng(5), 0.3))
    series = fitted.plausible()
    reach = stats.t.ppf(0.975, fitted.freedom) * fitted.errors[1]
    factors = [one.matrix[0][0] for one in series]
    assert (min(factors), max(factors)) == pytest.approx((fitted.estimates[1] - reach, fitted.estimates[1] + reach))
    spread = [one.covariance[0][0] * 60 for one in series]
    ends = [fitted.variance[0][0] * fitted.freedom / stats.chi2.ppf(p, fitted.freedom) for p in (0.975, 0.025)]
    assert (min(spread), max(spread)) == pytest.approx(tuple(ends))
    ends_of_noise = noise_range(fitted, 4, 0.5)
    assert ends_of_noise is not None
    rng = np.random.default_rng(6)
    for _ in range(20):  # anywhere in the rectangle, not only on the grid
        one = pooled_model(rng.uniform(min(factors), max(factors)), rng.uniform(*sorted(ends)), 60, 20.0)
        noise, _ = least_noise(one, 4, 0.5)
        assert ends_of_noise[0] * (1 - 1e-6) <= noise <= ends_of_noise[1] * (1 + 1e-6)
    near_one = fit(_drawn(np.random.default_rng(7), 0.995))
    assert noise_range(near_one, 4, 0.5) is None or max(one.radius for one in near_one.plausible()) < 1.0


def _homes(rng: np.random.Generator, matrix: np.ndarray, root: np.ndarray, times: int) -> Panel:
    """Return a panel of users who follow each other, after 50 steps from 0."""
    states = [np.zeros(len(matrix))]
    for _ in range(times + 49):
        states.append(matrix @ states[-1] + root @ rng.normal(size=len(matrix)))
    values = np.array(states[-times:]).T
    return Panel(values, tuple(map(str, range(len(matrix)))), tuple(map(str, range(times))), -10.0, 10.0)


COUPLED = np.array([[0.4, 0.2], [-0.1, 0.5]])
ROOT = np.array([[1.0, 0.0], [0.5, 0.8]])


def test_a_full_fit_by_the_normal_equations() -> None:
    """The fit goes by a scaled QR; here by lstsq, one equation at a time, and by the inverse of X'X."""
    rng = np.random.default_rng(11)
    for users, times in ((1, 6), (2, 30), (5, 60)):
        panel = _homes(rng, random_matrix(rng, users), np.eye(users) + 0.3, times)
        fitted, x = fit(panel, "full"), np.column_stack([np.ones(times - 1), panel.numbers[:, :-1].T])
        inverse, left = np.linalg.inv(x.T @ x), np.empty((times - 1, users))
        for user, row in enumerate(panel.numbers[:, 1:]):
            found = np.linalg.lstsq(x, row, rcond=None)[0]
            left[:, user] = row - x @ found
            assert fitted.model.matrix[user] == pytest.approx(found[1:], rel=1e-8, abs=1e-11)
            error = np.sqrt(left[:, user] @ left[:, user] / fitted.freedom * np.diag(inverse))
            assert fitted.errors[users + users * user : 2 * users + users * user] == pytest.approx(error[1:], rel=1e-8)
        assert np.array(fitted.variance) == pytest.approx(left.T @ left / fitted.freedom, rel=1e-8, abs=1e-11)
        assert np.array(fitted.leverage) == pytest.approx(inverse, rel=1e-7, abs=1e-12)


def random_matrix(rng: np.random.Generator, size: int) -> np.ndarray:
    return np.array(random_model(rng, size).matrix)


def test_plausible_full_series_have_the_law_of_the_fit() -> None:
    """Mean and spread of the draws, against the moments of an inverse Wishart and a matrix normal law."""
    fitted = fit(_homes(np.random.default_rng(12), COUPLED, ROOT, 80), "full")
    series = fitted.plausible()
    assert series == fitted.plausible(), "the same table gives the same series"
    count, rest = len(series), fitted.freedom - 3  # n + 1 fewer than the degrees of freedom
    matrices, spreads = (np.array([getattr(one, name) for one in series]) for name in ("matrix", "covariance"))
    mean = np.array(fitted.variance) * fitted.freedom / rest
    assert np.abs(spreads.mean(axis=0) - mean) == pytest.approx(
        0.0, abs=4 * float(spreads.std(axis=0).max()) / count**0.5
    )
    deviation = np.sqrt(np.outer(np.diag(mean), np.diag(np.array(fitted.leverage))[1:]))
    assert np.all(np.abs(matrices.mean(axis=0) - np.array(fitted.model.matrix)) < 4 * deviation / count**0.5)
    assert matrices.std(axis=0) / deviation == pytest.approx(1.0, abs=4 / math.sqrt(2 * count))
    rows = (matrices[:, 0, 0], matrices[:, 1, 0])  # what one user gives to both: correlated as the innovations are
    correlation = mean[0, 1] / math.sqrt(mean[0, 0] * mean[1, 1])
    assert np.corrcoef(*rows)[0, 1] == pytest.approx(correlation, abs=4 / count**0.5)


def test_one_user_in_full_is_one_user_pooled() -> None:
    """For one user the draws must fill the rectangle of Student's and chi-squared intervals to its share."""
    panel = _homes(np.random.default_rng(13), np.array([[0.5]]), np.eye(1), 60)
    full, pooled = fit(panel, "full"), fit(panel)
    assert full.estimates == pytest.approx(pooled.estimates, rel=1e-10)
    ends = [stats.t.ppf(p, pooled.freedom) * pooled.errors[1] + pooled.estimates[1] for p in (0.1, 0.9)]
    inside = np.mean([ends[0] <= one.matrix[0][0] <= ends[1] for one in full.plausible()])
    assert inside == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / 199))
    variances = [pooled.variance[0][0] * pooled.freedom / stats.chi2.ppf(p, pooled.freedom) for p in (0.9, 0.1)]
    inside = np.mean([variances[0] <= one.covariance[0][0] <= variances[1] for one in full.plausible()])
    assert inside == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / 199))


@pytest.mark.long
def test_the_range_of_a_full_fit_holds_the_noise_of_the_true_series() -> None:
    rng, count, covered = np.random.default_rng(14), 40, 0
    covariance = ROOT @ ROOT.T
    true, _ = least_noise(
        SeriesModel(tuple(map(tuple, COUPLED.tolist())), tuple(map(tuple, covariance.tolist())), 20.0), 4, 0.3
    )
    for _ in range(count):
        ends = noise_range(fit(_homes(rng, COUPLED, ROOT, 80), "full"), 4, 0.3)
        assert ends is not None
        covered += ends[0] <= true <= ends[1]
    assert covered >= count * 0.95 - 3 * math.sqrt(count * 0.05 * 0.95)


def test_a_fit_whose_range_cannot_be_said_says_why() -> None:
    rng = np.random.default_rng(15)
    assert "needs at least 6 times and" in range_words(fit(_homes(rng, COUPLED, ROOT, 5), "full"), 4, 0.3)
    near_one = fit(_homes(rng, np.array([[0.98, 0.0], [0.0, 0.9]]), ROOT, 30), "full")
    assert "are unstable" in range_words(near_one, 4, 0.3)
    assert re.search(
        r"plausible after this fit, the least noise at event level is \S+ to \S+\.", range_words(near_one, 3, 0.3, FLAT)
    )
    many = fit(_homes(rng, random_matrix(rng, 31), np.eye(31), 70), "full")
    assert "at most 30 users, got 31" in range_words(many, 4, 0.3)


def test_pooled_beside_full() -> None:
    panel = _homes(np.random.default_rng(16), COUPLED, ROOT, 60)
    table, notes = both_plans(panel, 4, 1.0, 1e-5)
    assert (notes, table["model"].tolist()) == ((), ["pooled"] * 3 + ["full"] * 3)
    assert not table.isna().to_numpy().any()
    for model, rows in table.groupby("model"):
        alone = plan(fit(panel, str(model)).model, 4, 1.0, 1e-5)
        assert rows[list(alone.columns)].to_numpy().tolist() == alone.to_numpy().tolist()
    short = _drawn(np.random.default_rng(4), 0.6)
    table, notes = both_plans(short, 4, 1.0, 1e-5)
    assert set(table["model"]) == {"pooled"}
    assert notes == ("No full fit: A full autoregression of 60 users needs at least 63 times, got 8; choose pooled.",)


def test_the_command_prints_both_models_and_a_range(capsys: Any) -> None:
    words = ("data/datasets/homes.csv", "--user", "home", "--time", "week", "--value", "electricity", "--lower", "0")
    code, table, err = shown(capsys, *words, "--upper", "150", "--releases", "4", "--view", "models")
    assert (code, len(table), err) == (0, 6, "")
    code, table, err = shown(capsys, *words, "--upper", "150", "--releases", "4", "--model", "full")
    assert (code, len(table)) == (0, 3)
    assert "For 95 % of the series that are plausible after this fit" in err

"""Fits of a series: against statsmodels and the normal equations, their errors, and the noise for all plausible series."""

from __future__ import annotations

import importlib.util
import math
import re

import numpy as np
import pytest
from scipy import stats

from dpcore.planner.series import (
    FLAT,
    Panel,
    SeriesModel,
    both_plans,
    fit,
    least_noise,
    noise_range,
    plan,
    pooled_model,
    range_words,
)
from dpcore.planner.series.fit import crosscheck
from tests.planner.series_models import random_model

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


# ---- the errors of a fit -----------------------------------------------------------------------------------------


def _drawn(rng: np.random.Generator, factor: float, users: int = 60, times: int = 8) -> Panel:
    """Return a panel of users who follow their own past."""
    values = np.empty((users, times))
    values[:, 0] = rng.normal(0.0, 1.0 / math.sqrt(1.0 - factor**2), users)
    for time in range(1, times):
        values[:, time] = factor * values[:, time - 1] + rng.normal(0.0, 1.0, users)
    names = tuple(map(str, range(users)))
    return Panel(values, names, tuple(map(str, range(times))), -10.0, 10.0)


@pytest.mark.long
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

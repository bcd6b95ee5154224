r"""Fitting an autoregression to a table of users and times: least squares, with standard errors.

*Full*: every user has their own equation, :math:`x_{t+1}=c+Ax_t+b`; it needs more times than users. *Pooled*: all users
share :math:`x_{i,t+1}=c+ax_{i,t}+b_{i,t+1}` with independent innovations; any number of users. Standard errors are those of
ordinary least squares with the residual degrees of freedom, as statsmodels reports them for ``VAR(1)`` and ``OLS``.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from scipy.special import chdtri, stdtrit

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.parameter import one_of
from dpcore.core.registry import value_text
from dpcore.planner.series.model import MOST_STATES, SeriesModel, pooled_model
from dpcore.words import grouped

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

POOLED, FULL = MODELS = ("pooled", "full")
CHECKED: Final = "statsmodels"
DRAWS: Final = 199  # of plausible full series: the 5th from either end are then the ends of a 95 % interval
MOST_DRAWN: Final = 30  # users of a full fit whose plausible series are drawn: each asks for a least noise of its own
_FACTORS: Final = 7  # of plausible series: the least noise is smooth and almost always monotone in the factor
_SINGULAR: Final = 1e12  # condition of a covariance beyond which its inverse has no correct digit
_SEED: Final = 1  # the same table gives the same plausible series


@dataclass(frozen=True)
class Panel:
    """Values of users at equally spaced times.

    Attributes
    ----------
    numbers : ndarray of float, shape (users, times)
        A cell is missing (not a number) where a user has no value.
    users, times : tuple of str
        Their names.
    lower, upper : float
        Public bounds; values outside were moved to the nearer one.
    notes : tuple of str, default ()
        Anything unusual, in sentences.
    """

    numbers: FloatArray
    users: tuple[str, ...]
    times: tuple[str, ...]
    lower: float
    upper: float
    notes: tuple[str, ...] = ()

    @property
    def reach(self) -> float:
        """How far one value can move."""
        return self.upper - self.lower


@dataclass(frozen=True)
class SeriesFit:
    """An autoregression fitted to a panel.

    Attributes
    ----------
    model : SeriesModel
        The series, for the attacks.
    names : tuple of str
        Names of the parameters: intercepts and entries of A.
    estimates, errors : tuple of float
        Their values and standard errors.
    variance : tuple of tuple of float
        Covariance of the innovations: of one user if pooled.
    pairs : int
        How many steps from one time to the next were used.
    leverage : tuple of tuple of float
        :math:`(X^TX)^{-1}`: times the variance of an equation, the covariance of its coefficients, the intercept first.
    """

    model: SeriesModel
    names: tuple[str, ...] = field(repr=False)
    estimates: tuple[float, ...] = field(repr=False)
    errors: tuple[float, ...] = field(repr=False)
    variance: tuple[tuple[float, ...], ...] = field(repr=False)
    pairs: int
    leverage: tuple[tuple[float, ...], ...] = field(repr=False)

    @property
    def freedom(self) -> int:
        """Residual degrees of freedom of each equation."""
        return self.pairs - len(self.estimates) // len(self.variance)

    def plausible(self, level: float = 0.95) -> tuple[SeriesModel, ...]:
        """Return series that the table does not rule out; none if it is too short to tell.

        Pooled: parameters in their intervals of this level, Student's t for the factor and chi-squared for the variance. Full: 199 draws
        of A and the covariance together, whatever the level.
        """
        if not self.model.pooled:
            return self._drawn()
        tail, freedom = (1.0 - level) / 2.0, self.freedom
        reach = float(stdtrit(freedom, 1.0 - tail)) * self.errors[1]
        factors = np.linspace(self.estimates[1] - reach, self.estimates[1] + reach, _FACTORS).tolist()
        variances = [self.variance[0][0] * freedom / float(chdtri(freedom, end)) for end in (tail, 1.0 - tail)]
        return tuple(
            pooled_model(factor, variance, self.model.users, self.model.reach)
            for factor in factors
            for variance in variances
        )

    def _drawn(self) -> tuple[SeriesModel, ...]:
        r"""Draw A and the covariance from their law given the table, with an uninformative prior.

        The likelihood times :math:`|\Sigma|^{-(n+1)/2}` is an inverse Wishart law of :math:`\Sigma` with the residual degrees of freedom and,
        given it, a normal law of A around its estimate with covariance :math:`\Sigma\otimes(X^TX)^{-1}`. For one user these are
        the laws of Student and chi-squared.
        """
        n, rng = len(self.variance), np.random.default_rng(_SEED)
        if self.freedom < n or n > MOST_DRAWN or np.linalg.cond(np.array(self.variance)) > _SINGULAR:
            return ()
        root = np.linalg.cholesky(np.linalg.inv(np.array(self.variance) * self.freedom))
        design = np.linalg.cholesky(np.array(self.leverage)[1:, 1:])
        series = []
        for _ in range(DRAWS):
            precision = rng.standard_normal((self.freedom, n)) @ root.T
            covariance = np.linalg.inv(precision.T @ precision)
            covariance = (covariance + covariance.T) / 2.0
            moved = design @ rng.standard_normal((n, n)) @ np.linalg.cholesky(covariance).T
            matrix = np.array(self.model.matrix) + moved.T
            series.append(SeriesModel(_rows(matrix), _rows(covariance), self.model.reach))
        return tuple(series)

    def frame(self) -> pd.DataFrame:
        """Return the parameters: ``parameter, value, standard_error``.

        The standard error of a covariance is that of normal innovations, the root of (v_ij² + v_ii v_jj) / degrees of freedom.
        """
        rows = list(zip(self.names, self.estimates, self.errors, strict=True))
        one = len(self.variance) == 1
        for i, row in enumerate(self.variance):
            for j, value in enumerate(row[: i + 1]):
                place = "innovation variance" if one else f"innovation covariance ({i + 1}, {j + 1})"
                square = value * value + self.variance[i][i] * self.variance[j][j]
                rows.append((place, value, math.sqrt(square / self.freedom)))
        return pd.DataFrame(rows, columns=["parameter", "value", "standard_error"])


def fit(panel: Panel, model: str = POOLED) -> SeriesFit:
    """Fit an autoregression of order 1 by least squares.

    Parameters
    ----------
    panel : Panel
        Users and times.
    model : str, default "pooled"
        ``pooled`` (one law for all users, independent of each other) or ``full`` (A and the covariance in full).

    Returns
    -------
    SeriesFit
        The series, its parameters and their standard errors.
    """
    one_of("model", MODELS).check(model)
    least, largest = float(np.nanmin(panel.numbers)), float(np.nanmax(panel.numbers))
    if least == largest:
        msg = f"All values are {nearest(least)}: a constant series has no autoregression to fit."
        raise DomainError(msg)
    return _pooled(panel) if model == POOLED else _full(panel)


def _pooled(panel: Panel) -> SeriesFit:
    before, after = panel.numbers[:, :-1].ravel(), panel.numbers[:, 1:].ravel()
    both = np.isfinite(before) & np.isfinite(after)
    x, y = before[both], after[both]
    if len(x) < 3 or float(x.min()) == float(x.max()):
        msg = (
            "A pooled series needs at least 3 steps from one time to the next, from values that differ, got "
            f"{len(x)} step{'s' * (len(x) != 1)}."
        )
        raise DomainError(msg)
    estimates, errors, covariance, leverage = least_squares(np.column_stack([np.ones_like(x), x]), y[:, None])
    series = pooled_model(float(estimates[1, 0]), float(covariance[0, 0]), len(panel.users), panel.reach)
    numbers = tuple(estimates[:, 0].tolist())
    return SeriesFit(
        series,
        ("intercept", "a"),
        numbers,
        tuple(errors[:, 0].tolist()),
        _rows(covariance),
        len(x),
        _rows(leverage),
    )


def _full(panel: Panel) -> SeriesFit:
    n, times = panel.numbers.shape
    if n > MOST_STATES:
        msg = f"A full autoregression takes at most {MOST_STATES} users, got {grouped(n)}; choose pooled."
        raise DomainError(msg)
    gaps = np.argwhere(~np.isfinite(panel.numbers))
    if len(gaps):
        user, time = panel.users[int(gaps[0][0])], panel.times[int(gaps[0][1])]
        msg = f"A full autoregression needs every user at every time, got no value of user {value_text(user)} at {value_text(time)}."
        raise DomainError(msg)
    if times - 1 <= n + 1:
        msg = f"A full autoregression of {n} users needs at least {n + 3} times, got {times}; choose pooled."
        raise DomainError(msg)
    before, after = panel.numbers[:, :-1].T, panel.numbers[:, 1:].T
    estimates, errors, covariance, leverage = least_squares(np.column_stack([np.ones(times - 1), before]), after)
    series = SeriesModel(_rows(estimates[1:].T), _rows(covariance), panel.reach)
    names = [f"intercept {user}" for user in panel.users]
    names += [f"A[{row}, {column}]" for row in panel.users for column in panel.users]
    values = [*estimates[0].tolist(), *estimates[1:].T.ravel().tolist()]
    spread = [*errors[0].tolist(), *errors[1:].T.ravel().tolist()]
    return SeriesFit(series, tuple(names), tuple(values), tuple(spread), _rows(covariance), times - 1, _rows(leverage))


def _rows(matrix: FloatArray) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, matrix.tolist()))


def least_squares(design: FloatArray, response: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return coefficients, their standard errors (a column per equation), the covariance of the residuals and the leverage.

    Columns are scaled first, so that large and small values in one table lose no digits.
    """
    rows, width = design.shape
    scale = np.sqrt((design * design).sum(axis=0))
    if np.any(scale == 0) or np.linalg.cond(design / scale) > 1e12:
        msg = "The values of some users are constant or move together, so their equations cannot be told apart."
        raise DomainError(msg)
    q, r = np.linalg.qr(design / scale)
    coefficients = np.linalg.solve(r, q.T @ response) / scale[:, None]
    left = response - design @ coefficients
    covariance = left.T @ left / (rows - width)
    inverse = np.linalg.inv(r) / scale[:, None]
    leverage = np.asarray(inverse @ inverse.T, dtype=np.float64)
    errors = np.sqrt(np.outer(np.diag(leverage), np.diag(covariance)))
    return coefficients, errors, np.asarray((covariance + covariance.T) / 2.0, dtype=np.float64), leverage


def crosscheck(panel: Panel, model: str = POOLED) -> float | None:
    """Return the largest relative difference to statsmodels in parameters and standard errors; None where it is not installed."""
    if importlib.util.find_spec(CHECKED) is None:
        return None
    own = fit(panel, model)
    if model == POOLED:
        before, after = panel.numbers[:, :-1].ravel(), panel.numbers[:, 1:].ravel()
        both = np.isfinite(before) & np.isfinite(after)
        package: Any = importlib.import_module("statsmodels.api")
        other = package.OLS(after[both], package.add_constant(before[both])).fit()
        theirs = [*other.params, *other.bse]
    else:
        package = importlib.import_module("statsmodels.tsa.api")
        other = package.VAR(panel.numbers.T).fit(1, trend="c")
        theirs = [*other.params[0], *other.params[1:].T.ravel(), *other.stderr[0], *other.stderr[1:].T.ravel()]
    ours = np.array([*own.estimates, *own.errors])
    size = np.maximum(np.abs(ours), np.array(own.errors * 2))
    return float(np.max(np.abs(ours - np.array(theirs, dtype=np.float64)) / np.where(size > 0, size, math.inf)))

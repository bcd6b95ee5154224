r"""A vector autoregression whose noisy means are released, and what the releases reveal about its records.

The states follow :math:`x_{t+1}=Ax_t+b_{t+1}`, :math:`b\sim N(0,\Sigma)`, and at T times :math:`y_t=h^Tx_t+z_t` is released,
:math:`z_t\sim N(0,\sigma_t^2)`. Given the states at time s the releases are jointly normal with a mean that is linear in
them, so the test between two states is one of a Gaussian shift: :math:`\mu^2=v^TJ_sv` for states that differ by v, where
J is the Fisher information. It is added up along the series, as a Kalman filter does, which stays accurate where
powers of A overflow:

.. math:: G_t=\frac{hh^T}{\sigma_t^2}+A^T(I+G_{t+1}\Sigma)^{-1}G_{t+1}A,\qquad
          P_{t+1}=B_t^T(I+I_tR_t)^{-1}I_tB_t,\quad I_t=P_t+\frac{hh^T}{\sigma_t^2}

G counts the releases from t on, P those before; :math:`x_t\mid x_{t+1}\sim N(B_tx_{t+1},R_t)` needs a prior of the first
states, or its flat limit :math:`B=A^{-1}`, :math:`R=A^{-1}\Sigma A^{-T}`. If the attacker knows all earlier values, earlier
releases tell nothing: P = 0.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.domains import COUNT, POSITIVE, SIGMA
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest, numeral
from dpcore.core.registry import value_text
from dpcore.language.numbers import number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from dpcore.curves.base import FloatArray

    Rows = tuple[tuple[float, ...], ...]

FLAT: Final = "flat"
"""Law of the first values: the limit of ever wider ones."""
STATIONARY: Final = "stationary"
"""Law of the first values: the one that the series keeps."""
KNOWN: Final = "known"
"""The attacker knows all earlier values, so earlier releases tell nothing."""
PRIORS: Final = (STATIONARY, FLAT, KNOWN)
MOST_RELEASES: Final = 200
MOST_STATES: Final = 200
RELEASES = COUNT.but(name="releases", high=MOST_RELEASES, meaning="how many times the mean is released")
REACH = POSITIVE.but(name="range", label="R", meaning="how far one value can move: upper minus lower bound", high=1e12)
_VARIANCE = POSITIVE.but(name="The variance of the prior", high=1e12)
_DOUBLINGS: Final = 80  # a size of 1 - 1e-16 is below 1e-20 after 2^59 steps; the others leave room for large entries
_WORST_CONDITION = 1e12  # beyond it an inverse has no correct digit left worth showing
_NEGATIVE = 1e-12  # of the largest entry: rounding may put an eigenvalue this far below 0


@dataclass(frozen=True)
class SeriesModel:
    """A stable or unstable autoregression of order 1 and its released means.

    Attributes
    ----------
    matrix : tuple of tuple of float
        A; entry (i, j) is the weight of state j in state i one step later.
    covariance : tuple of tuple of float
        Covariance of the innovations, symmetric and positive semidefinite.
    reach : float, default 1
        How far one value of one user can move, R.
    pooled : int, default 0
        0: each state is the value of one user. Otherwise the number of users of which the one state is the mean:
        all users follow the same law, independently, and A and the covariance are those of their mean.
    """

    matrix: Rows
    covariance: Rows
    reach: float = 1.0
    pooled: int = 0

    def __post_init__(self) -> None:
        """Check shapes, signs and sizes."""
        size = len(self.matrix)
        for name, rows in (("The matrix A", self.matrix), ("The covariance", self.covariance)):
            if not 1 <= size <= MOST_STATES or len(rows) != size or any(len(row) != size for row in rows):
                widths = " or ".join(map(str, sorted({len(row) for row in rows})))
                same = (
                    f"of the same size as A, {size} x {size}"
                    if name != "The matrix A"
                    else f"of size 1 to {MOST_STATES}"
                )
                msg = f"{name} must be square, {same}, got {len(rows)} x {widths or 0}."
                raise DomainError(msg)
            if not np.isfinite(rows).all():
                msg = f"{name} must hold finite numbers, got {value_text(rows)}."
                raise DomainError(msg)
        check_covariance(np.array(self.covariance))
        REACH.check(self.reach)
        if self.pooled and size != 1:
            msg = f"A pooled series has one state, the mean of its users, got {size}."
            raise DomainError(msg)

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.matrix)

    @property
    def users(self) -> int:
        """Number of users."""
        return self.pooled or self.size

    @property
    def sensitivity(self) -> float:
        """How far the mean moves with one value of one user, R / n."""
        return self.reach / self.users

    @Lazy
    def load(self) -> FloatArray:
        """How the released mean adds up the states, h."""
        return np.full(self.size, 1.0 / self.size)

    @property
    def move(self) -> float:
        """How far a state moves with one value of one user."""
        return self.sensitivity if self.pooled else self.reach

    @Lazy
    def radius(self) -> float:
        """Largest absolute value of an eigenvalue of A; the series is stable below 1."""
        return float(np.abs(np.linalg.eigvals(np.array(self.matrix))).max())

    @Lazy
    def invertible(self) -> bool:
        """Whether earlier states can be inferred from later ones without a prior."""
        return bool(np.linalg.cond(np.array(self.matrix)) < _WORST_CONDITION)

    @property
    def unstable(self) -> str:
        """A sentence about a series that is not stable."""
        return (
            f"The largest eigenvalue of A has a size of {nearest(self.radius)}, not below 1: the series is unstable and grows or "
            "never forgets, so the numbers are for these releases only."
        )

    def stationary(self) -> FloatArray:
        """Return the covariance of the states of a stable series in the long run: S = A S A^T + covariance."""
        if self.radius >= 1.0:
            msg = (
                f"A stationary prior needs a stable series: the largest eigenvalue of A must have a size below 1, got "
                f"{nearest(self.radius)}. Choose a flat prior or a variance."
            )
            raise DomainError(msg)
        a, total = np.array(self.matrix), np.array(self.covariance)
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(_DOUBLINGS):  # of the number of steps added up
                if np.abs(a).max() <= 1e-20:
                    break
                total = total + a @ total @ a.T
                a = a @ a
        if not (np.isfinite(total).all() and np.abs(a).max() <= 1e-20):
            msg = "The covariance of a series that has run for long is too large for doubles; choose a flat prior or a variance."
            raise DomainError(msg)
        return np.asarray(total, dtype=np.float64)

    def kernels(self, prior: str | float, steps: int) -> list[tuple[FloatArray, FloatArray]]:
        """Return B and a factor of R of each step back in time, from time 2 to 1 first.

        Parameters
        ----------
        prior : str or float
            Of the first values: ``stationary`` (that of a stable series), ``flat`` (its limit for a very wide one), or
            the variance of every user's first value, all independent.
        steps : int
            How many.
        """
        known = self._known_kernels.setdefault(prior, [])
        if len(known) < steps:
            alike = prior in (FLAT, STATIONARY)
            kernels = list(itertools.islice(self._steps_back(prior), 1 if alike else steps))
            known[:] = kernels * steps if alike else kernels
        return known[:steps]

    @Lazy
    def _known_kernels(self) -> dict[str | float, list[tuple[FloatArray, FloatArray]]]:
        """The steps back for each prior: they do not depend on the noise, which is what a search varies."""
        return {}

    def _steps_back(self, prior: str | float) -> Iterator[tuple[FloatArray, FloatArray]]:
        a, sigma = np.array(self.matrix), np.array(self.covariance)
        if prior == FLAT:
            if not self.invertible:
                msg = (
                    "The matrix A must be invertible to learn about a time from earlier releases with a flat prior, got one "
                    "whose columns depend on each other; choose a stationary prior or a variance."
                )
                raise DomainError(msg)
            inverse = np.linalg.inv(a)
            yield inverse, inverse @ self._root
            return
        spread = self.stationary() if prior == STATIONARY else self._variance(prior) * np.eye(self.size)
        while True:  # the caller takes as many steps as it needs
            later = a @ spread @ a.T + sigma
            if np.linalg.cond(later) > _WORST_CONDITION:
                msg = "The prior and the innovations must reach every direction of the states: their covariance is singular."
                raise DomainError(msg)
            back = np.linalg.solve(later, a @ spread).T
            rest = np.eye(self.size) - back @ a
            yield back, np.hstack([rest @ _root(spread), back @ self._root])
            spread = later

    @Lazy
    def _root(self) -> FloatArray:
        """A factor of the covariance of the innovations."""
        return _root(np.array(self.covariance))

    def _variance(self, prior: str | float) -> float:
        """Return the variance of the first state, if the prior is a number."""
        if isinstance(prior, str):
            raise _no_prior(prior)
        variance: float = _VARIANCE.check(prior)
        return variance / self.users if self.pooled else variance

    def information(
        self, noise: FloatArray, known: Collection[int] | None = None, prior: str | float = STATIONARY
    ) -> Iterator[FloatArray]:
        """Yield the information of the known releases about the states at each time, from time 1 on.

        Parameters
        ----------
        noise : ndarray of float, shape (releases,)
            Standard deviation of the noise at each time.
        known : collection of int, optional
            The times whose releases the attacker sees, counted from 1; all by default.
        prior : str or float, default "stationary"
            As in `kernels`, for releases before the time that is attacked; ``known`` if the attacker knows all earlier
            values.
        """
        sigma = SIGMA.but(name="noise").array(noise)
        times = range(1, RELEASES.check(len(sigma)) + 1)
        seen = set(times if known is None else known)
        own = [self.load[:, None] / sigma[time - 1] * np.ones((1, int(time in seen))) for time in times]
        later = [np.zeros((self.size, 0))]
        a = np.array(self.matrix)
        for release in reversed(own[1:]):
            later.append(_through(np.hstack([release, later[-1]]), a, self._root))
        past = np.zeros((self.size, 0))
        for place, release in enumerate(own):
            whole = np.hstack([past, release, later[len(own) - 1 - place]])
            yield whole @ whole.T
            before = np.hstack([past, release])
            if prior != KNOWN and before.size and place + 1 < len(own):  # no prior is needed without an earlier release
                past = _through(before, *self.kernels(prior, len(own) - 1)[place])


def _through(factor: FloatArray, matrix: FloatArray, root: FloatArray) -> FloatArray:
    """Return a factor of the information about x, where `factor` is one of that about matrix x + root noise.

    The information is F F^T. Adding noise makes it :math:`F(I+K^TK)^{-1}F^T`, K = root^T F; the triangle of I + K^T K comes
    from a QR decomposition, so that nothing is squared or subtracted, however large the numbers are.
    """
    width = factor.shape[1]
    if not width:
        return factor
    triangle = np.linalg.qr(np.vstack([root.T @ factor, np.eye(width)])).R
    thinned = matrix.T @ np.linalg.solve(triangle.T, factor.T).T
    if width > len(thinned):
        thinned = np.linalg.qr(thinned.T).R.T
    return np.asarray(thinned, dtype=np.float64)


def _root(covariance: FloatArray) -> FloatArray:
    """Return a factor of a covariance; eigenvalues that rounding made negative count as 0."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), dtype=np.float64)


def check_covariance(sigma: FloatArray) -> None:
    """Raise if a matrix is not a covariance: not symmetric, or with a direction of negative variance."""
    largest = max(1e-300, float(np.abs(sigma).max()))
    apart = np.abs(sigma - sigma.T)
    if float(apart.max()) > _NEGATIVE * largest:
        i, j = np.unravel_index(int(np.argmax(apart)), apart.shape)
        msg = (
            f"The covariance must be symmetric, got {numeral(sigma[i, j])} in row {i + 1}, column {j + 1} and "
            f"{numeral(sigma[j, i])} in row {j + 1}, column {i + 1}."
        )
        raise DomainError(msg)
    least = float(np.linalg.eigvalsh(sigma).min())
    if least < -_NEGATIVE * largest:
        msg = f"The covariance must be positive semidefinite: its least eigenvalue must be at least 0, got {nearest(least)}."
        raise DomainError(msg)


def _no_prior(text: str) -> DomainError:
    return DomainError(f"A prior is {', '.join(PRIORS)} or a variance above 0; {value_text(text)} is none of them.")


def prior_of(text: str) -> str | float:
    """Read a prior: its name, or a variance."""
    word = text.strip().lower()
    if word in PRIORS:
        return word
    value = number(text)
    if value is None:
        raise _no_prior(text)
    variance: float = _VARIANCE.check(value)
    return variance


def pooled_model(factor: float, variance: float, users: int, reach: float = 1.0) -> SeriesModel:
    """Return users who each follow their own past with the same factor and independent innovations.

    Parameters
    ----------
    factor : float
        The weight of a value in the next one.
    variance : float
        Variance of the innovations of one user.
    users : int
        How many, any number: only their mean matters.
    reach : float, default 1
        How far one value can move.
    """
    n = COUNT.but(name="users").check(users)
    spread = POSITIVE.but(name="variance", low_open=False).check(variance)
    if not math.isfinite(factor):
        msg = f"factor must be a finite number, got {numeral(factor)}."
        raise DomainError(msg)
    return SeriesModel(((float(factor),),), ((spread / n,),), reach, n)

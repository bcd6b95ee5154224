"""Who wants to learn what from released means, how much each attacker can learn, and the least noise against all.

An *event* is one value of one user at one time; the attacker knows all other values at that time and sees some releases. A *group*
is all values at one time. A *user* is all values of one user; the attacker knows everybody else's values at all times, so
that the series itself hides nothing.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from dpcore.calibration import calibrate
from dpcore.core.domains import DELTA, LOSS, MU, SIGMA
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.core.parameter import one_of
from dpcore.planner.series.model import RELEASES, STATIONARY
from dpcore.regions.guarantees import GDP

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from dpcore.curves.base import FloatArray
    from dpcore.planner.series.model import SeriesModel
    from dpcore.regions.tradeoff import TradeOff

EVENT, GROUP, USER = LEVELS = ("event", "group", "user")
"""What is attacked: one value, all values at one time, or all values of one user."""
MEANINGS: Final = {
    EVENT: "one value of one user at one time",
    GROUP: "all users' values at one time",
    USER: "all values of one user",
}
THEOREM: Final = "Gaussian shift"
MOST_SHOWN: Final = 12  # times of which every pair of attacked time and single release is a row
_MOST_SIGNS: Final = 16  # users whose moves are tried in every combination of signs
_CLOSE: Final = 1e-10  # relative distance to the target at which the search for the least noise ends
_MOST_STEPS: Final = 200
_SAFE: Final = 1.0 - 1e-12  # the rounding of a shift must not carry it over its target


@dataclass(frozen=True)
class SeriesAttack:
    """What one attacker learns.

    Attributes
    ----------
    level : str
        event, group or user.
    time : int
        The time attacked, counted from 1; 0 for all of them.
    known : tuple of int
        The releases seen.
    user : int
        Index of the user about whom most is learnt, from 0; -1 if all are alike or attacked together.
    mu : float
        The Gaussian shift.
    kind : str
        exact, or upper where the worst moves of a group are only bounded.
    """

    level: str
    time: int
    known: tuple[int, ...]
    user: int
    mu: float
    kind: str = "exact"

    @property
    def region(self) -> TradeOff:
        """The region of the attack."""
        return GDP(self.mu)

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon at this delta, rounded up."""
        return _epsilon(self.mu, delta)


@cache
def _epsilon(mu: float, delta: float) -> float:
    return float(np.ravel(GDP(mu).epsilon_bounds(delta)[1])[0])


def noise_at(noise: float | Sequence[float], releases: int) -> FloatArray:
    """Return the noise of each release, given one number for all of them or one for each."""
    count = RELEASES.check(releases)
    levels = SIGMA.but(name="noise").array(noise)
    if len(levels) not in (1, count):
        msg = f"noise must be one number or one for each of the {count} releases, got {len(levels)}."
        raise DomainError(msg)
    return np.broadcast_to(levels, (count,)).copy()


def user_attack(model: SeriesModel, noise: FloatArray, known: Collection[int] | None = None) -> SeriesAttack:
    """Return what is learnt about all values of one user: only the noise hides them."""
    seen = _seen(noise, known)
    mu = math.sqrt(math.fsum((model.sensitivity / noise[time - 1]) ** 2 for time in seen))
    return SeriesAttack(USER, 0, seen, -1, mu)


def time_attacks(
    model: SeriesModel,
    noise: FloatArray,
    known: Collection[int] | None = None,
    *,
    level: str = EVENT,
    prior: str | float = STATIONARY,
) -> list[SeriesAttack]:
    """Return what is learnt about each time, from the first on: of one user (the worst), or of all together.

    Parameters
    ----------
    model : SeriesModel
        The series.
    noise : ndarray of float, shape (releases,)
        Standard deviation of the noise of each release.
    known : collection of int, optional
        The releases seen, counted from 1; all by default.
    level : str, default "event"
        ``event`` or ``group``.
    prior : str or float, default "stationary"
        Law of the first values; see `SeriesModel.kernels`.
    """
    one_of("level", (EVENT, GROUP)).check(level)
    seen, rows = _seen(noise, known), []
    for place, information in enumerate(model.information(noise, seen, prior), start=1):
        checkpoint(place / len(noise))
        user, mu, kind = _worst_user(model, information) if level == EVENT else _worst_group(model, information)
        rows.append(SeriesAttack(level, place, seen, user, mu, kind))
    return rows


def _seen(noise: FloatArray, known: Collection[int] | None) -> tuple[int, ...]:
    return tuple(range(1, len(noise) + 1)) if known is None else tuple(sorted(known))


def _worst_user(model: SeriesModel, information: FloatArray) -> tuple[int, float, str]:
    diagonal = np.maximum(np.diag(information), 0.0)
    worst = int(np.argmax(diagonal))
    return -1 if model.pooled else worst, model.move * math.sqrt(diagonal[worst]), "exact"


def _worst_group(model: SeriesModel, information: FloatArray) -> tuple[int, float, str]:
    """Return the largest shift over all moves of all users within the range."""
    if model.pooled:
        return -1, model.reach * math.sqrt(max(0.0, float(information[0, 0]))), "exact"
    length, kind = largest_move(information)
    return -1, model.reach * length, kind


def largest_move(information: FloatArray) -> tuple[float, str]:
    r"""Return the largest :math:`\sqrt{s^TJs}` over signs s, and whether it is exact or an upper bound.

    Exact if J has rank 1 or 2 (corners of a polygon), if all entries can be made positive by flipping signs, or for up to
    16 users (all signs); otherwise the smaller of two bounds.
    """
    absolute = float(np.abs(information).sum())
    values, vectors = np.linalg.eigh(information)
    large = values > 1e-14 * max(values[-1], 1e-300)
    if int(large.sum()) <= 2:
        pulls = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0)) if len(values) > 1 else np.sqrt(information)
        return farthest(np.column_stack([pulls, np.zeros(len(pulls))])[:, :2]), "exact"
    signs = np.where(information[np.argmax(np.abs(np.diag(information)))] >= 0, 1.0, -1.0)
    if float(signs @ information @ signs) >= absolute * (1.0 - 1e-12):
        return math.sqrt(absolute), "exact"
    if len(information) <= _MOST_SIGNS:
        corners = itertools.product((1.0, -1.0), repeat=len(information) - 1)
        best = max(float(s @ information @ s) for s in (np.array((1.0, *rest)) for rest in corners))
        return math.sqrt(max(0.0, best)), "exact"
    return math.sqrt(min(absolute, len(information) * float(values[-1]))), "upper"


def farthest(pulls: FloatArray) -> float:
    """Return the largest length of a signed sum of plane vectors, sum of ±pulls[i]: exact, at 2n candidates.

    The sums are the corners of a zonotope; a corner in direction u takes each vector with the sign of its product
    with u, and the signs change only where u is orthogonal to one of them.
    """
    angles = np.sort((np.arctan2(pulls[:, 1], pulls[:, 0]) + np.pi / 2) % np.pi)
    middles = (angles + np.append(angles[1:], angles[:1] + np.pi)) / 2
    looks = np.column_stack([np.cos(middles), np.sin(middles)])
    signs = np.where(looks @ pulls.T >= 0, 1.0, -1.0)
    return float(np.hypot(*(signs @ pulls).T).max())


def worst(model: SeriesModel, noise: FloatArray, level: str, prior: str | float = STATIONARY) -> SeriesAttack:
    """Return the attack at a level that learns most; it sees all releases, because more releases never tell less."""
    one_of("level", LEVELS).check(level)
    if level == USER:
        return user_attack(model, noise)
    return max(time_attacks(model, noise, level=level, prior=prior), key=lambda attack: attack.mu)


# ---- the least noise -----------------------------------------------------------------------------------------------


@cache
def target_shift(epsilon: float, delta: float) -> float:
    """Return the largest mu whose region satisfies (epsilon, delta), rounded down."""
    loss, small = LOSS.check(epsilon), DELTA.check(delta)
    return float(calibrate("gdp(?)", epsilon=loss, delta=small)["value"].iloc[0])


def least_noise(
    model: SeriesModel, releases: int, mu: float, level: str = EVENT, prior: str | float = STATIONARY
) -> tuple[float, SeriesAttack]:
    """Return the smallest standard deviation, the same for every release, at which no attack at a level exceeds mu.

    Parameters
    ----------
    model : SeriesModel
        The series.
    releases : int
        How many times the mean is released.
    mu : float
        The target.
    level : str, default "event"
        ``event``, ``group`` or ``user``.
    prior : str or float, default "stationary"
        Of the first values.

    Returns
    -------
    noise : float
        Rounded up: with it the worst attack is at most mu; with 1e-9 less it is above mu.
    attack : SeriesAttack
        The worst attack at this noise.
    """
    target = MU.but(low_open=True, infinite=False).check(mu)
    count = RELEASES.check(releases)

    def shift(noise: float) -> SeriesAttack:
        return worst(model, np.full(count, noise), level, prior)

    low = model.sensitivity / target * (1.0 - 1e-9)  # the release at the attacked time alone needs this much
    attack = shift(low)
    if attack.mu <= target * _SAFE:
        return low, attack
    high, low_mu = low, attack.mu
    # grows by half each round, and mu is at most the length of all shifts over the noise
    while attack.mu > target * _SAFE:
        low, low_mu = high, attack.mu
        high *= max(1.5, 1.01 * attack.mu / target)
        attack = shift(high)
    best, former = attack, (low, low_mu)
    for step in range(_MOST_STEPS):
        checkpoint(min(0.9, step / 10))
        if high <= low * (1.0 + _CLOSE) or best.mu >= target * (1.0 - _CLOSE):
            break
        middle = _guess(former, (high, best.mu), target * (1.0 - _CLOSE / 2.0))
        if (
            not low < middle < high or step % 8 == 7
        ):  # every eighth step halves, so that the search ends whatever the curve
            middle = math.sqrt(low * high)
        attack = shift(middle)
        if attack.mu <= target * _SAFE:
            former, high, best = (high, best.mu), middle, attack
        else:
            former = low, _ = middle, attack.mu
    return high, best


def _guess(one: tuple[float, float], two: tuple[float, float], goal: float) -> float:
    """Return where the power law through two points (noise, mu) reaches the goal; 0 if there is none."""
    slope = math.log(one[1] / two[1]) / math.log(one[0] / two[0]) if one[0] != two[0] else 0.0
    return two[0] * (goal / two[1]) ** (1.0 / slope) if slope < 0.0 else 0.0


# ---- tables --------------------------------------------------------------------------------------------------------


def scenarios(
    model: SeriesModel,
    noise: FloatArray,
    delta: float,
    prior: str | float = STATIONARY,
    names: Sequence[str] = (),
) -> pd.DataFrame:
    """Return every attack: ``level, time, user, releases, mu, epsilon, delta, kind, theorem, neighbours``.

    The releases seen are all of them, and each alone where there are at most 12. `epsilon` is the smallest at delta.

    Parameters
    ----------
    model : SeriesModel
        The series.
    noise : ndarray of float, shape (releases,)
        Standard deviation of the noise of each release.
    delta : float
        The delta at which epsilons are stated.
    prior : str or float, default "stationary"
        Of the first values.
    names : sequence of str, default ()
        Names of the users; numbers from 1 by default.
    """
    times = range(1, len(noise) + 1)
    sights: list[tuple[int, ...] | None] = [None]
    if 1 < len(noise) <= MOST_SHOWN:
        sights += [(time,) for time in times]
    attacks = [
        attack
        for known in sights
        for level in (EVENT, GROUP)
        for attack in time_attacks(model, noise, known, level=level, prior=prior)
    ]
    attacks += [user_attack(model, noise, known) for known in sights]
    rows = [
        (
            attack.level,
            "all" if attack.time == 0 else str(attack.time),
            _name(attack, model, names),
            "all" if len(attack.known) == len(noise) else " ".join(map(str, attack.known)),
            attack.mu,
            attack.epsilon(delta),
            DELTA.check(delta),
            attack.kind,
            THEOREM,
            MEANINGS[attack.level],
        )
        for attack in sorted(attacks, key=lambda one: LEVELS.index(one.level))
    ]
    columns = ["level", "time", "user", "releases", "mu", "epsilon", "delta", "kind", "theorem", "neighbours"]
    return pd.DataFrame(rows, columns=columns)


def _name(attack: SeriesAttack, model: SeriesModel, names: Sequence[str]) -> str:
    """Return the user that an attack is about."""
    if attack.level == GROUP:
        return "all"
    if attack.user < 0 or model.pooled:
        return "any"
    return str(names[attack.user]) if names else str(attack.user + 1)


def plan(
    model: SeriesModel, releases: int, epsilon: float, delta: float, prior: str | float = STATIONARY
) -> pd.DataFrame:
    """Return the least noise that keeps the worst attack of each level at a target.

    Parameters
    ----------
    model : SeriesModel
        The series. What it hides at event and group level depends on the model being true; user level counts on the
        noise alone.
    releases : int
        How many times the mean is released.
    epsilon, delta : float
        What the worst attack must not exceed.
    prior : str or float, default "stationary"
        Of the first values.

    Returns
    -------
    DataFrame
        Columns ``level, noise, mu, epsilon, delta, releases, prior, time, kind, theorem, neighbours``: `noise` is the standard
        deviation added to every mean, `mu` the shift of the worst attack at it, `time` the time it attacks.
    """
    mu = target_shift(float(epsilon), float(delta))
    rows = []
    for level in LEVELS:
        noise, attack = least_noise(model, releases, mu, level, prior)
        time = "all" if attack.time == 0 else str(attack.time)
        belief = "none" if level == USER else prior if isinstance(prior, str) else numeral(prior)
        rows.append(
            (level, noise, attack.mu, epsilon, delta, releases, belief, time, attack.kind, THEOREM, MEANINGS[level])
        )
    columns = ["level", "noise", "mu", "epsilon", "delta", "releases", "prior", "time", "kind", "theorem", "neighbours"]
    return pd.DataFrame(rows, columns=columns)

"""The noise of a charge: how wide each registered noise must be, what it is called, and how large its errors are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

from dpcore.calibration.candidates import Candidate, offered
from dpcore.core.errors import DomainError
from dpcore.core.parameter import value_text
from dpcore.core.rounding import up
from dpcore.language import parse
from dpcore.mechanisms.exponential import Exponential
from dpcore.planner.release.kinds import CellKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.mechanisms.base import Mechanism
    from dpcore.mechanisms.law import Law
    from dpcore.planner.release.charges import Charge
    from dpcore.planner.release.plan import PlanAnswer, ReleasePlan

DIGITS: Final = 6  # of the parameters of noise: readable, at a price of at most 1e-5
NEAREST, OUTWARD = "nearest", "outward"
_CLOSE: Final = 1e-13  # relative width at which a search for a parameter ends: far below its digits
_FARTHEST: Final = 1e4  # step at which a search gives up: such a parameter is no double


def offered_names() -> tuple[str, ...]:
    """Return the names of the noises a plan may ask for."""
    return tuple(kind.entry.name for kind in offered() if _is_plain(kind))


@lru_cache(maxsize=64)
def _is_plain(kind: type[Mechanism]) -> bool:
    """Return whether a mechanism adds noise to a number and no output reveals a person for certain."""
    one, value = Candidate(kind, 1.0), kind.entry.parameters[0].example
    return not one.sampled and one.deviation(value) is not None and one.mechanism(value).curve.q_inf == 0.0


def suitable(plan: ReleasePlan, charge: Charge) -> tuple[type[Mechanism], ...]:
    """Return the mechanisms that can give a charge its noise, by rank.

    Moves of several cells, or of several answers, need noise with a log-concave law (see `kinds`); integer noise needs
    integer cells. Choices have the exponential mechanism.
    """
    members = [plan.answers[place] for place in charge.places]
    kind = members[0].type
    if not isinstance(kind, CellKind):
        return (Exponential,)
    alone = not charge.parallel and kind.cells(plan, members[0]) == 1
    moves = [plan.records * kind.move(plan, answer) for answer in members]

    def fits(one: type[Mechanism]) -> bool:
        if not _is_plain(one) or any(one.why_not(move) for move in moves):
            return False
        noise = Candidate(one, moves[0])
        try:
            law = noise.mechanism(noise.entry.parameters[0].example).law
        except DomainError:  # integer noise has a maximum sensitivity
            return False
        return (kind.integer or not law.integer) and (alone or law.log_concave)

    chosen = tuple(one for one in offered() if fits(one) and (not plan.noises or one.entry.name in plan.noises))
    if not chosen:
        msg = f"None of the noises {plan.noise or ', '.join(offered_names())} suits {value_text(members[0].name)}."
        raise DomainError(msg)
    return chosen


@dataclass(frozen=True)
class CellNoise:
    """The noise on the cells of one answer.

    Attributes
    ----------
    noise : Candidate
        The mechanism, for cells that one person moves by `noise.sensitivity` together.
    value : float
        Its parameter.
    """

    noise: Candidate
    value: float

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return self.noise.name

    @property
    def parameter(self) -> str:
        """The name of its parameter."""
        return self.noise.parameter

    @property
    def sensitivity(self) -> float:
        """How far one person moves the cells together."""
        return self.noise.sensitivity

    @property
    def scale(self) -> float:
        """The standard deviation of the noise, in the units of the cells."""
        return self.law.deviation

    @property
    def expression(self) -> str:
        """The region of one cell moved by the whole sensitivity."""
        return str(parse(self.noise.written(repr(self.value))))

    @property
    def law(self) -> Law:
        """The law of the noise in the units of the cells."""
        return self.noise.mechanism(self.value).law_at(self.noise.sensitivity)


@dataclass(frozen=True)
class ChoiceNoise:
    """The randomness of a choice.

    Attributes
    ----------
    value : float
        Its epsilon.
    sensitivity : float
        How far one person moves the scores.
    """

    value: float
    sensitivity: float

    name: ClassVar[str] = Exponential.entry.name
    parameter: ClassVar[str] = Exponential.entry.parameters[0].name

    @property
    def scale(self) -> float:
        """By how much a score must be worse for its odds to fall by e, if all scores move the same way."""
        return self.sensitivity / self.value


@lru_cache(maxsize=4096)
def cell_noise(kind: type[Mechanism], ratio: float, sensitivity: float, *, rounding: str = "") -> CellNoise:
    """Return the noise whose standard deviation is `ratio` times the sensitivity.

    Parameters
    ----------
    kind : type of Mechanism
        Which noise.
    ratio : float
        Standard deviation over sensitivity.
    sensitivity : float
        How far one person moves the cells.
    rounding : str, default ""
        ``outward`` rounds the parameter to a few digits towards more noise, ``nearest`` to the nearest; empty keeps it.
    """
    plain = Candidate(kind, sensitivity)
    sign = 1.0 if plain.is_noise else -1.0
    goal = ratio * sensitivity

    def excess(log_value: float) -> float:
        """Return the logarithm of the deviation over the goal."""
        value = math.exp(sign * log_value)
        deviation = plain.shaped(value).deviation(value) or 0.0
        return math.log(deviation / goal) if deviation > 0.0 else -math.inf

    value = math.exp(sign * _least_zero(excess, sign * math.log(goal if sign > 0 else 1.0 / ratio)))
    value = few_digits(value, rounding, up=sign > 0)
    return CellNoise(plain.shaped(value), value)


def _least_zero(excess: Callable[[float], float], start: float) -> float:
    """Return where an increasing function stops being negative, up to rounding.

    The logarithm of a deviation is almost a straight line over that of its parameter: the line through both ends of a bracket
    and a point beside its zero close the bracket in a few steps; a midpoint in each round bounds their number.
    """
    low = high = start
    below = above = excess(start)
    step = 0.5
    while above < 0.0 and step < _FARTHEST:  # steps double, to `_FARTHEST`
        low, below, high, step = high, above, high + step, 2 * step
        above = excess(high)
    while below > 0.0 and step < _FARTHEST:  # steps double, to `_FARTHEST`
        high, above, low, step = low, below, low - step, 2 * step
        below = excess(low)
    while high - low > (width := _CLOSE * max(1.0, abs(high))):  # tries the midpoint each round, so it halves
        rise = above - below
        line = low - below * (high - low) / rise if 0.0 < rise < math.inf else low
        for point in (line, line - 0.5 * width, line + 0.5 * width, 0.5 * (low + high)):
            if low < point < high:
                value = excess(point)
                low, below, high, above = (low, below, point, value) if value >= 0.0 else (point, value, high, above)
    return high


def few_digits(value: float, rounding: str, *, up: bool) -> float:
    """Return a value rounded to `DIGITS` digits: to nearest, up (`up`) or down; empty keeps it."""
    short = float(f"{value:.{DIGITS - 1}e}")
    if not rounding:
        return value
    if rounding == NEAREST or ((short >= value) if up else (short <= value)):
        return short
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - DIGITS + 1)
    return float(f"{value + (unit if up else -unit):.{DIGITS - 1}e}")


def choice_epsilon(ratio: float, *, rounding: str = "") -> float:
    """Return the epsilon of a choice for a ratio: that of Laplace noise of the same ratio."""
    value = math.sqrt(2.0) / ratio
    return few_digits(value, rounding, up=False)


def choice_expression(epsilon: float, *, rounding: str) -> str:
    """Return the region that contains every choice with this epsilon: its largest loss and its total variation."""
    eta = few_digits(up(Exponential(epsilon).total_variation), OUTWARD if rounding else "", up=True)
    return str(parse(f"dptv({epsilon!r}, 0, {eta!r})"))


def expression_of(plan: ReleasePlan, answer: PlanAnswer, kind: type[Mechanism], ratio: float, *, rounding: str) -> str:
    """Return the region of one cell, or of one choice, of an answer."""
    if not isinstance(answer.type, CellKind):
        return choice_expression(choice_epsilon(ratio, rounding=rounding), rounding=rounding)
    move = plan.records * answer.type.move(plan, answer)
    return cell_noise(kind, ratio, move, rounding=rounding).expression


def split_error(plan: ReleasePlan, answer: PlanAnswer, ratio: float) -> float:
    """Return the standard deviation of an answer as far as public numbers tell: what a split by errors compares.

    That of a choice is in ranks or records: the scale at which its probabilities fall.
    """
    per_cell = answer.type.per_cell(plan, answer) if isinstance(answer.type, CellKind) else 1.0
    return plan.records * answer.type.move(plan, answer) * ratio * per_cell

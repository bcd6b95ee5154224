"""What a mechanism adds to a region: its noise and the facts about it.

A mechanism knows the law of its noise, the two answers that an attacker tells apart, what is usually claimed about it, its
divergences, and how it is offered and calibrated. Each of these has a default here that follows from the law or the region;
a mechanism overrides what it knows better.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.numerals import nearest
from dpcore.core.registry import entries
from dpcore.curves.polygon import Polygon
from dpcore.mechanisms.shifted_law import ShiftedLaw
from dpcore.regions.algebra import Loose
from dpcore.regions.guarantees import DP, pmf_polygon
from dpcore.regions.tradeoff import Atom, argument_texts, parameters_of
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray
    from dpcore.mechanisms.law import Draws, Law
    from dpcore.regions.tradeoff import TradeOff

Attacker = Callable[["Generator", int, bool], "FloatArray"]
"""Draws the scores of a number of people with a generator: of members (True) or of outsiders."""
SLIGHTLY = 1e-12  # relative rounding of the two sides of an equality
MOST_INTEGERS = 10**6  # a curve of this many losses is still composed in seconds
_RAREST = 1e-300  # masses below lose their digits as doubles
LAST = 1000  # rank of a mechanism that does not state its place among others


def check_noise(text: str, width: float) -> float:
    """Return the width; refuse noise without a density: of width 0 (no noise at all) or of infinite width."""
    if width == 0 or math.isinf(width):
        msg = (
            f"{text} has noise of width {nearest(width)}; only noise of a positive finite width has a density to draw."
        )
        raise DomainError(msg)
    return width


@dataclass(frozen=True)
class TwoAnswers:
    """One noisy answer on two neighbouring datasets.

    Attributes
    ----------
    without, within : Law
        The law of the answer without and with the person.
    names : tuple of (str, str), optional
        Names of the two datasets.
    labels : tuple of str, default ()
        Names of the answers 0, 1, 2 and so on, where they are categories.
    note : str, default ""
        A sentence for the caption of a picture.
    rising : bool, default True
        Whether the likelihood ratio rises with the answer; then the best tests accuse above a threshold.
    """

    without: Law
    within: Law
    names: tuple[str, str] = ("without you", "with you")
    labels: tuple[str, ...] = ()
    note: str = ""
    rising: bool = True


@dataclass(frozen=True)
class Claim:
    """What is usually claimed: a region, and whether it contains the true one (None: the bracket does not tell)."""

    region: TradeOff
    holds: bool | None
    words: str


@dataclass(frozen=True)
class Offer:
    """How a noise appears where noises are compared: its names, its rank and the symbol of what is solved for."""

    title: str
    short: str
    rank: int = LAST
    symbol: str = ""


class Mechanism(Atom):
    """A region that comes from noise added to an answer.

    A new mechanism defines its `law` and, unless the noise is log-concave or takes integers only, `_pair`.
    `sample` is for simulation, not for releasing data: floating-point noise is attackable.
    """

    offered: ClassVar[bool] = True

    # ---- its noise -------------------------------------------------------------------------------------------

    @property
    def law(self) -> Law:
        """Law of the noise, in the unit in which an answer moves by `move`."""
        msg = f"{self.text} is the worst case of many mechanisms and has no noise of its own."
        raise DomainError(msg)

    @property
    def move(self) -> float:
        """How far one person moves the true answer: the sensitivity, 1 where there is none."""
        return float(getattr(self, "sensitivity", 1.0))

    def law_at(self, sensitivity: float) -> Law:
        """Return the law of the noise in the unit of an answer that moves by `sensitivity`."""
        return self.law.scaled(sensitivity / self.move)

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the density (or probability) of the noisy answer at x when the true answer is `shift`."""
        return self.law.density(np.asarray(x, dtype=np.float64) - shift)

    def survival(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the probability that the noisy answer exceeds x when the true answer is `shift`."""
        return self.law.above(np.asarray(x, dtype=np.float64) - shift)

    def sample(self, rng: Generator, size: int) -> Draws:
        """Return `size` draws of the noise, integers where the noise is.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        return self.law.sample(rng, size)

    def _pair(self) -> Curve:
        """Return the curve of the noise against the same noise moved: of integer masses, or of log-concave noise."""
        law = self.law
        if not law.symmetric and not isinstance(self, Asymmetric):
            msg = f"The noise of {self.text} is asymmetric: {type(self).__name__} must derive from Asymmetric."
            raise TypeError(msg)
        if law.integer:
            return _of_masses(law, self.move)
        if not law.log_concave:
            msg = f"The noise of {self.text} is real and not log-concave: {type(self).__name__} must define _pair."
            raise TypeError(msg)
        return ShiftedLaw(law, self.move)

    # ---- the attacker ----------------------------------------------------------------------------------------

    def answers(self, without: float | None = None) -> TwoAnswers:
        """Return the noisy answer on two neighbouring datasets, of which the attacker sees one.

        Parameters
        ----------
        without : float, optional
            The true answer without the person, 0 by default; with the person it is larger by `move`.

        Returns
        -------
        TwoAnswers
            The laws of both answers.
        """
        law, start = self.law, float(without or 0.0)
        return TwoAnswers(law.moved(start), law.moved(start + self.move), rising=law.log_concave)

    def attack(self) -> tuple[Attacker, str] | None:
        """Return how an audit draws the scores of the best attacker, and what the score is; None: from the curve.

        A worst case of many mechanisms has only its curve. Noise that cannot be drawn raises an error with the reason.
        """
        if type(self).law is Mechanism.law and type(self).answers is Mechanism.answers:
            return None
        answers = self.answers()
        if answers.rising:
            return answer_attacker(answers), "The score is the noisy answer."
        return likelihood_attacker(answers)

    # ---- claims and divergences ------------------------------------------------------------------------------

    @property
    def claimed_epsilon(self) -> float | None:
        """The epsilon usually claimed with delta 0; None where there is no such claim."""
        return None

    def claim(self) -> Claim | None:
        """Return the usual claim and whether it is true; None where there is none."""
        epsilon = self.claimed_epsilon
        if epsilon is None:
            return None
        region = DP(epsilon)
        if math.isinf(epsilon):
            return Claim(region, True, "Nothing is claimed: ε is infinite.")
        loss = max(0.0, self.curve.max_loss)
        tight = abs(loss - epsilon) <= SLIGHTLY * max(1.0, epsilon)
        end = "no smaller ε holds at δ = 0" if tight else f"{outward(loss, 5)} (rounded up) would be enough"
        gain = (
            "the exact region is smaller still"
            if self.total_variation < region.total_variation * (1 - 1e-9)
            else "the claim describes the region completely"
        )
        return Claim(region, True, f"The claim of ε = {nearest(epsilon)} holds: {end}, and {gain}.")

    def renyi(self, order: float) -> float | None:  # noqa: ARG002  overridden where there is a closed form
        """Return the Rényi divergence of an order in [1, inf), the larger of both directions, in closed form; None if unknown."""
        return None

    @property
    def concentrated_rate(self) -> float | None:
        """The least rho such that every Rényi divergence is at most rho times its order; None if unknown."""
        return None

    @property
    def sampled_gaussian(self) -> tuple[float, float] | None:
        """Noise and sampling rate (sigma, q) of normal noise on a Poisson sample; None for anything else."""
        return None

    # ---- calibration -----------------------------------------------------------------------------------------

    @property
    def noise_parameter(self) -> tuple[str, float]:
        """Name and value of the parameter for the amount of noise: the first one."""
        field, parameter = parameters_of(type(self))[0]
        return parameter.name, float(getattr(self, field))

    @property
    def open_text(self) -> str:
        """The expression with ? for the amount of noise, as `calibrate` takes it."""
        return open_expression(self)

    @classmethod
    def offer(cls) -> Offer:
        """Return its entry in a list of noises."""
        title = cls.entry.title[:1].upper() + cls.entry.title[1:]
        return Offer(title, title, symbol=cls.entry.parameters[0].label or cls.entry.parameters[0].name)

    @classmethod
    def why_not(cls, sensitivity: float) -> str:
        """Return why it does not suit an answer that moves by `sensitivity`; empty if it does."""
        whole = any(p.name == "sensitivity" and p.kind == "integer" for p in cls.entry.parameters)
        if whole and sensitivity != math.floor(sensitivity):
            return f"It is for integer answers, which move by an integer, not by {nearest(sensitivity)}."
        return ""

    @property
    def survey_slope(self) -> float | None:
        """For categories: how fast the share of an answer grows with its true share; None for numbers."""
        return None

    def shaped(self) -> Mechanism:
        """Return the same amount of noise with its other parameters set for the least error."""
        return self


class Asymmetric(Mechanism, Loose):
    """Noise that is not symmetric: the closure of both directions composes, one fixed sign of all moves is attained."""

    why_loose: ClassVar[str] = "the sign of the move may differ from query to query"

    def attained(self) -> Curve | None:
        """Return the pair in which every answer moves up."""
        return self.pair

    def answers(self, without: float | None = None) -> TwoAnswers:
        """Return the answers of a move up; a move down is another pair."""
        note = "The picture shows an answer that moves up; the region covers moves in both directions."
        return replace(super().answers(without), note=note)

    def attack(self) -> None:
        """Return nothing: no single direction is the worst at every rate, so audits draw from the curve."""
        return


def kinds() -> tuple[type[Mechanism], ...]:
    """Return every mechanism with a name in the language, in the order of the registry."""
    by_name, stack = {}, [Mechanism]
    while stack:  # every class is taken once for each of its bases
        kind = stack.pop()
        stack += kind.__subclasses__()
        if "entry" in vars(kind):
            by_name[kind.entry.name] = kind
    return tuple(by_name[entry.name] for entry in entries("mechanism") if entry.name in by_name)


def open_expression(atom: Atom) -> str:
    """Return the expression of a named region with ? in place of its first parameter."""
    rest = [(parameter, getattr(atom, field)) for field, parameter in parameters_of(type(atom))[1:]]
    return f"{atom.entry.name}({', '.join(['?', *argument_texts(rest)])})"


def _of_masses(law: Law, move: float) -> Polygon:
    """Return the exact curve of integer noise against the same noise moved by an integer.

    Unbounded noise is summed as far as doubles can hold its masses; what lies beyond counts as lost, which is safe.
    """
    if move != int(move):
        msg = f"Integer noise is for answers that move by an integer, not by {nearest(move)}."
        raise DomainError(msg)
    unbounded = math.isinf(law.low) or math.isinf(law.high)
    rare = np.array([_RAREST])
    low = float(law.lower_quantile(rare)[0]) if math.isinf(law.low) else law.low
    high = float(law.quantile(rare)[0]) if math.isinf(law.high) else law.high
    if high - low > MOST_INTEGERS:
        msg = f"The noise takes more than {MOST_INTEGERS} integers of a probability that doubles can tell from 0."
        raise BudgetError(msg)
    masses, steps = law.density(np.arange(low - move, high + move + 1.0)), int(move)
    p, q = masses[steps:], masses[: masses.size - steps]
    checkpoint()  # a tenth of a second each for a million integers
    if not unbounded:
        exact = pmf_polygon(p, q)
        facts: dict[str, Any] = {
            "symmetric": law.symmetric or None,
            "rounding": law.rounding,
            "loss_error": 2.0 * law.rounding,
        }
        return Polygon(exact.loss, exact.p, exact.q, exact.p_inf, exact.q_inf, **facts)
    told = (p >= _RAREST) & (q >= _RAREST)
    inner = pmf_polygon(p[told], q[told])
    checkpoint()
    # masses whose loss is unknown count as lost, and so does what lies beyond the quantiles
    lost = [float(mass[~told].sum()) + 2 * _RAREST for mass in (p, q)]
    infinite = [max(lost)] * 2 if law.symmetric else lost
    more: dict[str, Any] = {
        "ends": (-math.inf, math.inf),
        "corners": inner.size + 2,
        "symmetric": law.symmetric or None,
        "rounding": law.rounding,
        "loss_error": 2.0 * law.rounding,  # a loss is the logarithm of a ratio of two masses
        # at a true end of the noise the loss is known: it is infinite
        "untold": infinite[1] if math.isinf(law.low) and math.isinf(law.high) else 0.0,
    }
    return Polygon(inner.loss, inner.p, inner.q, *infinite, **more)


def answer_attacker(answers: TwoAnswers) -> Attacker:
    """Return an attacker whose score is the answer."""

    def draw(rng: Generator, size: int, inside: bool) -> FloatArray:
        return np.asarray((answers.within if inside else answers.without).sample(rng, size), dtype=np.float64)

    return draw


def likelihood_attacker(answers: TwoAnswers) -> tuple[Attacker, str]:
    """Return the best attacker, whose score is the logarithm of the likelihood ratio, and that sentence."""
    draw_answer = answer_attacker(answers)

    def draw(rng: Generator, size: int, inside: bool) -> FloatArray:
        answer = draw_answer(rng, size, inside)
        with np.errstate(divide="ignore"):
            loss = np.log(answers.within.density(answer)) - np.log(answers.without.density(answer))
        return np.asarray(np.round(loss, 9), dtype=np.float64)  # makes equal losses equal in spite of rounding

    return draw, "The score is the logarithm of the likelihood ratio of the noisy answer."

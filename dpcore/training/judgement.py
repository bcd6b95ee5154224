r"""A claim of (epsilon, delta) for k uses of a mechanism against the certified truth.

The claim is wrong if the lower side of delta(epsilon) is above the claimed delta, and safe if the upper side is not.
How far it is off is stated in three forms: in epsilon and delta, in noise (`least_noise`), and as an attack that the
claim excludes (`refutation`). With delta(epsilon) > delta some test has

.. math:: \mathrm{TPR} > e^\varepsilon\,\mathrm{FPR} + \delta,\qquad
   \mathrm{FPR} = -\frac{d\,\delta(\varepsilon)}{d\,e^\varepsilon}\ \text{at the best one}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.calibration import calibrate
from dpcore.core.certainty import certainty
from dpcore.core.domains import LOSS
from dpcore.core.effort import current, effort
from dpcore.core.errors import BudgetError, DpcoreError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.mechanisms.base import Mechanism
from dpcore.regions import gate
from dpcore.regions.guarantees import DP
from dpcore.regions.tradeoff import Atom, parameters_of
from dpcore.theorems.conversion.claims import calibration_text
from dpcore.training.reports import ROUNDING, uses
from dpcore.words import between, grouped, of_100, outward

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

SAFE, TIGHT, WRONG, OPEN = "safe", "tight", "wrong", "open"
"""Verdicts on the ε of an accountant or a claim beside the true one."""
NOISES: Final = {"sigma": "σ", "scale": "scale", "halfwidth": "half width"}
LOSSES: Final = {"epsilon": "ε", "mu": "μ"}
_WASTE = 1e-3  # relative: less superfluous noise than this is not mentioned
_STEP = 0.05  # of epsilon, for the slope of delta that locates the best attack
_NARROW = 1e-7  # tolerance of the attack's rates: wide brackets would hide a small gain
_LARGEST_CROWD = 15  # power of ten of people in a sentence
_LARGEST_EXPONENT = 650.0  # e^-650 is near the smallest double
_PLACES = np.geomspace(1 / 16, 16, 17)  # factors around the estimated rate where the attack is tried


# ---- how much noise the claim needs --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LeastNoise:
    """The least noise for which a claim holds.

    Attributes
    ----------
    parameter : str
        Its name, a noise (sigma, scale, halfwidth) or a loss (epsilon, mu).
    present, value : float
        As it is, and as the claim needs it, rounded to the safe side.
    ratio : float
        Present noise over least noise: above 1 there is too much, below 1 too little.
    kind : str
        ``exact``, or ``upper`` or ``lower`` as in `calibrate`.
    expression : str
        All uses with the least noise.
    noisy : bool, default True
        Whether there is noise; a statement such as dp(0.5) has only a loss.
    """

    parameter: str
    present: float
    value: float
    ratio: float
    kind: str
    expression: str
    noisy: bool = True

    @property
    def is_noise(self) -> bool:
        """Whether the parameter is a width of noise; otherwise it is a loss, and the noise its inverse."""
        return self.parameter in NOISES

    @property
    def symbol(self) -> str:
        """The parameter as written in a sentence."""
        return {**NOISES, **LOSSES}[self.parameter]

    def words(self) -> str:
        """Say what the noise is and what it would have to be."""
        kind = certainty(self.kind, self.expression)
        start = (
            f"Its {self.symbol} is {nearest(self.present, 5)} per use; the claim needs {outward(self.value, 5, up=self.is_noise)} "
            f"({kind}, rounded to the safe side)"
        )
        if abs(self.ratio - 1) <= _WASTE:
            return f"{start}: {'the noise' if self.noisy else 'the loss'} is just right."
        if self.ratio > 1:
            more = outward(100 * (self.ratio - 1), 3, up=False)
            end = f"the noise is {more} % wider than necessary" if self.noisy else f"each use may lose {more} % more"
        else:
            more, less = outward(100 * (1 / self.ratio - 1), 3), outward(100 * (1 - self.ratio), 3)
            end = f"{more} % more noise" if self.noisy else f"a loss {less} % smaller per use"
            end += " would make the claim true"
        return f"{start}: {end}."


def least_noise(mechanism: TradeOff, k: int, epsilon: float, delta: float) -> LeastNoise | str:
    """Return the least noise with which k uses satisfy (epsilon, delta), or the reason why there is no answer.

    Parameters
    ----------
    mechanism : TradeOff
        One use.
    k : int
        How many uses.
    epsilon, delta : float
        The claim.

    Returns
    -------
    LeastNoise or str
        The noise, or a sentence.
    """
    atom = mechanism if isinstance(mechanism, Atom) else None
    noise = None if atom is None else _noise(atom)
    if atom is None or noise is None:
        return "There is no single noise parameter to change."
    name, present = noise
    try:
        row = calibrate(calibration_text(atom, k), epsilon=epsilon, delta=delta).iloc[0]
    except DpcoreError as error:
        return str(error)
    except ArithmeticError:
        return "The noise it needs leaves the range of doubles."
    value = float(row["value"])
    ratio = present / value if name in NOISES else value / present
    return LeastNoise(
        name, present, value, ratio, str(row["kind"]), str(row["expression"]), isinstance(atom, Mechanism)
    )


def _noise(atom: Atom) -> tuple[str, float] | None:
    """Return name and value of the parameter that controls the noise; None if there is none."""
    if isinstance(atom, Mechanism):
        name, value = atom.noise_parameter
    elif atom.entry.name in {"dp", "gdp"}:
        field, parameter = parameters_of(type(atom))[0]
        name, value = parameter.name, float(getattr(atom, field))
    else:
        return None
    return (name, value) if name in {**NOISES, **LOSSES} and 0 < value < math.inf else None


# ---- what an attacker gains ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refutation:
    """An attack that a claim excludes: it reaches at least `tpr` at `fpr`, where the claim allows at most `allowed`."""

    fpr: float
    tpr: float
    allowed: float
    word: str
    """How sure the rate is: exact, certified, or a bracket."""

    def words(self) -> str:
        """Say how many people the attacker finds and how many the claim allows, both out of the same crowd."""
        size = next(size for size in range(2, _LARGEST_CROWD + 1) if self._apart(10**size) or size == _LARGEST_CROWD)
        crowd = 10**size
        members, allowed = grouped(math.floor(self.tpr * crowd)), grouped(math.ceil(self.allowed * crowd))
        return (
            f"An attacker who wrongly accuses {of_100(self.fpr)} people outside the data finds at least {members} of "
            f"{grouped(crowd)} people inside it ({self.word}); the claim allows at most {allowed}."
        )

    def _apart(self, crowd: int) -> bool:
        """Whether at least half of the difference remains after both are rounded against it."""
        members, allowed = math.floor(self.tpr * crowd), math.ceil(self.allowed * crowd)
        return members > allowed and members - allowed >= 0.5 * (self.tpr - self.allowed) * crowd


def refutation(total: TradeOff, epsilon: float, delta: float) -> Refutation | None:
    """Return an attack on a region that (epsilon, delta) excludes, the best of a few.

    Parameters
    ----------
    total : TradeOff
        All uses together.
    epsilon, delta : float
        The claim.

    Returns
    -------
    Refutation or None
        None if no attack is certified.
    """
    if epsilon > _LARGEST_EXPONENT:
        return None  # the rates at stake are too small for doubles
    step = max(_STEP, 1e-3 * epsilon)
    before, after = total.delta_bounds(np.array([max(0.0, epsilon - step), epsilon + step]))[1].tolist()
    spread = math.exp(epsilon + step) - math.exp(max(0.0, epsilon - step))
    near = np.clip((before - after) / spread * _PLACES, 1e-300, 0.5)
    fpr = np.unique([0.0, *(float(f"{rate:.1e}") for rate in near)])  # two digits, so that words repeat them exactly
    try:
        with effort(tolerance=min(current().tolerance, _NARROW)):
            power = gate.power_bounds(total, fpr)[0]
    except BudgetError:
        power = gate.power_bounds(total, fpr)[0]
    allowed = np.asarray(DP(epsilon, delta).power(fpr), dtype=np.float64)
    best = int(np.argmax(power - allowed))
    if not power[best] > allowed[best] * (1 + ROUNDING):
        return None
    return Refutation(float(fpr[best]), float(power[best]), float(allowed[best]), certainty(total.kind, total))


# ---- the verdict ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judgement:
    """A claim and the truth about it; see `judge`."""

    mechanism: TradeOff
    k: int
    epsilon: float
    delta: float
    total: TradeOff
    epsilon_bounds: tuple[float, float]
    delta_bounds: tuple[float, float]
    verdict: str

    @property
    def claimed(self) -> TradeOff:
        """The claim as a region."""
        return DP(self.epsilon, self.delta)

    @Lazy
    def least_noise(self) -> LeastNoise | str:
        """The noise the claim needs, or why there is no answer."""
        return least_noise(self.mechanism, self.k, self.epsilon, self.delta)

    @Lazy
    def refutation(self) -> Refutation | None:
        """An attack that the claim excludes, if the claim is wrong."""
        return refutation(self.total, self.epsilon, self.delta) if self.verdict == WRONG else None

    @property
    def kind(self) -> str:
        """The kind of the true numbers."""
        return certainty(self.total.kind, self.total)

    def words(self) -> str:
        """Return the verdict in one or two sentences, all numbers rounded to the safe side."""
        return self.answer() if self.verdict == OPEN else f"{self.answer()} {self._in_delta(low=self.verdict == WRONG)}"

    def answer(self) -> str:
        """Return the verdict and the true epsilon in one sentence."""
        start = {
            SAFE: "The claim holds",
            TIGHT: "The claim holds, and it is the truth itself up to rounding",
            WRONG: "The claim is wrong",
            OPEN: "Not decided, because the claim lies inside the bracket",
        }[self.verdict]
        subject = f"{'one use' if self.k == 1 else f'{grouped(self.k)} uses'} of {self.mechanism}"
        return f"{start}: for {subject} {self._in_epsilon(low=self.verdict == WRONG)}."

    def short(self) -> str:
        """Say where the claim lies, as a point beside the true profile."""
        place = {
            SAFE: "above the true curve: it holds",
            TIGHT: "on the true curve: it holds",
            WRONG: "below the true curve: it is wrong",
            OPEN: "on the true curve, as far as is known: it is not decided",
        }[self.verdict]
        numbers = f"ε = {nearest(self.epsilon)}, δ = {outward(self.delta, 6)}"
        return f"The claim ({numbers}) lies {place}. {self._in_delta(low=self.verdict == WRONG)}"

    def _in_epsilon(self, *, low: bool) -> str:
        """Say the true epsilon at the claimed delta."""
        least, most = self.epsilon_bounds
        at, claimed = f"at δ = {outward(self.delta, 6, up=not low)}", f"the claim says {nearest(self.epsilon)}"
        if math.isinf(least):
            return f"no ε holds {at} ({self.kind}); {claimed}"
        if self.verdict == OPEN:
            return f"the true ε {at} is between {between(least, most)}; {claimed}"
        side = f"at least {outward(least, 5, up=False)}" if low else f"at most {outward(most, 5)}"
        return f"the true ε {at} is {side} ({self.kind}); {claimed}"

    def _in_delta(self, *, low: bool) -> str:
        """Say the true delta at the claimed epsilon."""
        least, most = self.delta_bounds
        at = f"At ε = {outward(self.epsilon, 6, up=not low)} the true δ is"
        if not low:
            return f"{at} at most {outward(most, 4)} ({self.kind})."
        times = f", {grouped(outward(least / self.delta, 3, up=False))} times the claimed" if self.delta > 0 else ""
        return f"{at} at least {outward(least, 4, up=False)} ({self.kind}){times}."


def judge(mechanism: TradeOff | str, k: int, epsilon: float, delta: float) -> Judgement:
    """Compare a claim of (epsilon, delta) for k uses of a mechanism with the certified truth.

    Parameters
    ----------
    mechanism : TradeOff or str
        One use, a region or its expression.
    k : int
        How many uses, from 1 to 10^6.
    epsilon, delta : float
        The claim, in [0, inf) and [0, 1].

    Returns
    -------
    Judgement
        The verdict and the certified brackets.

    Examples
    --------
    >>> judgement = judge("gaussian_classic(10, 1e-5)", 1, 10, 1e-5)
    >>> judgement.verdict, f"{judgement.delta_bounds[0]:.3e}"
    ('wrong', '2.265e-05')
    """
    question = uses(mechanism, k, delta)
    claimed = LOSS.check(epsilon)
    deltas = _delta_bracket(question.total, claimed)
    verdict, bracket = decided(claimed, question.delta, question.bracket, deltas)
    return Judgement(question.region, question.k, claimed, question.delta, question.total, bracket, deltas, verdict)


def _delta_bracket(total: TradeOff, epsilon: float) -> tuple[float, float]:
    """Return the bracket of delta(epsilon), however wide: even a wide one may decide a claim."""
    at = np.array([epsilon])
    try:
        low, high = total.delta_bounds(at)
    except BudgetError:
        low, high = gate.delta_bounds(total, at)
    return float(low[0]), float(high[0])


def decided(
    epsilon: float, delta: float, bracket: tuple[float, float], deltas: tuple[float, float]
) -> tuple[str, tuple[float, float]]:
    """Return the verdict, and the bracket of the true epsilon narrowed by it.

    For delta 0 the largest loss decides: a delta too small for a double is not 0.
    """
    (least, most), (low, high) = bracket, deltas
    value, bounds = (epsilon, bracket) if epsilon > 0 else (delta, deltas)
    if all(abs(bound - value) <= ROUNDING * value for bound in bounds):
        return TIGHT, bracket
    if delta > 0:
        holds, fails = high <= delta, low > delta * (1 + ROUNDING)
    else:
        holds, fails = most <= epsilon, least > epsilon
    if holds:  # delta(epsilon) may decide more narrowly than epsilon(delta)
        return SAFE, (min(least, epsilon), min(most, epsilon))
    if fails:
        return WRONG, (max(least, epsilon), max(most, epsilon))
    return OPEN, bracket

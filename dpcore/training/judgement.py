r"""A claim of (epsilon, delta) for k uses of a mechanism against the certified truth.

The claim is wrong where the lower side of delta(epsilon) is above the claimed delta, safe where the upper side is not.
How far it is off is said in three ways: in epsilon and delta, in noise (`least_noise`) and by an attack that the claim
excludes (`exposed`): with delta(epsilon) > delta some test has

.. math:: \mathrm{TPR} > e^\varepsilon\,\mathrm{FPR} + \delta,\qquad
   \mathrm{FPR} = -\frac{d\,\delta(\varepsilon)}{d\,e^\varepsilon}\ \text{at the best one}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.calibration import calibrate
from dpcore.core.domains import LOSS
from dpcore.core.effort import current, effort
from dpcore.core.errors import BudgetError, DpcoreError
from dpcore.mechanisms.base import Mechanism
from dpcore.regions import gate
from dpcore.regions.guarantees import DP
from dpcore.regions.tradeoff import Atom, parameters_of
from dpcore.theorems.conversion.claims import calibration_text
from dpcore.training.reports import ROUNDING, uses
from dpcore.words import grouped, of_100, outward

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

SAFE, TIGHT, WRONG, OPEN = "safe", "tight", "wrong", "open"
NOISES: Final = {"sigma": "σ", "scale": "scale", "halfwidth": "half width"}
LOSSES: Final = {"epsilon": "ε", "mu": "μ"}
_WASTE = 1e-3  # less superfluous noise than this is not worth a word
_STEP = 0.05
_NARROW = 1e-7
_LARGEST_CROWD = 15
_LARGEST_EXPONENT = 650.0
_PLACES = np.geomspace(1 / 16, 16, 17)


# ---- how much noise the claim needs --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LeastNoise:
    """The least noise for which a claim holds.

    Attributes
    ----------
    parameter : str
        Its name, a noise (sigma, scale, halfwidth) or a loss (epsilon, mu).
    present, value : float
        As it is and as it would have to be, the latter rounded to the safe side.
    ratio : float
        Present noise over needed noise: above 1 there is too much, below 1 too little.
    kind : str
        ``exact``, or ``upper`` or ``lower`` as in `calibrate`.
    expression : str
        All uses with the noise needed.
    noisy : bool, default True
        Whether there is a noise; a statement such as dp(0.5) has a loss only.
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
        """The parameter as it is written in a sentence."""
        return {**NOISES, **LOSSES}[self.parameter]

    def words(self) -> str:
        """Say what the noise is and what it would have to be."""
        kind = "exact" if self.kind == "exact" else "certified"
        start = (
            f"Its {self.symbol} is {self.present:.5g} per use; the claim needs {outward(self.value, 5, up=self.is_noise)} "
            f"({kind}, rounded to the safe side)"
        )
        if abs(self.ratio - 1) <= _WASTE:
            return f"{start}: {'the noise' if self.noisy else 'the loss'} is what it has to be."
        if self.ratio > 1:
            more = outward(100 * (self.ratio - 1), 3, up=False)
            end = f"the noise is {more} % wider than it has to be" if self.noisy else f"each use may lose {more} % more"
        else:
            more, less = outward(100 * (1 / self.ratio - 1), 3), outward(100 * (1 - self.ratio), 3)
            end = f"{more} % more noise" if self.noisy else f"a loss {less} % smaller per use"
            end += " would make the claim true"
        return f"{start}: {end}."


def least_noise(mechanism: TradeOff, k: int, epsilon: float, delta: float) -> LeastNoise | str:
    """Return the noise with which k uses satisfy (epsilon, delta), or the reason why there is no answer."""
    atom = mechanism if isinstance(mechanism, Atom) else None
    found = None if atom is None else _noise(atom)
    if atom is None or found is None:
        return "There is no single noise parameter to change."
    name, present = found
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
    """Return name and value of the parameter that says how much noise there is; None where none does."""
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
class Exposed:
    """An attack that a claim excludes: at `fpr` at least `tpr` is reached, while the claim allows `allowed`."""

    fpr: float
    tpr: float
    allowed: float

    def words(self) -> str:
        """Say what the attacker finds, beside what was promised, both of one crowd."""
        size = next(size for size in range(2, _LARGEST_CROWD + 1) if self._apart(10**size) or size == _LARGEST_CROWD)
        crowd = 10**size
        found, allowed = grouped(math.floor(self.tpr * crowd)), grouped(math.ceil(self.allowed * crowd))
        return (
            f"An attacker who wrongly accuses {of_100(self.fpr)} people outside the data finds at least {found} of "
            f"{grouped(crowd)} people inside it (certified); the claim allows at most {allowed}."
        )

    def _apart(self, crowd: int) -> bool:
        """Whether half of the difference survives when both are rounded against it."""
        found, allowed = math.floor(self.tpr * crowd), math.ceil(self.allowed * crowd)
        return found > allowed and found - allowed >= 0.5 * (self.tpr - self.allowed) * crowd


def exposed(total: TradeOff, epsilon: float, delta: float) -> Exposed | None:
    """Return an attack on a region that (epsilon, delta) excludes, the best of a few; None where none is certified."""
    if epsilon > _LARGEST_EXPONENT:
        return None  # the rates at stake are too small for doubles
    step = max(_STEP, 1e-3 * epsilon)
    before, after = total.delta_bounds(np.array([max(0.0, epsilon - step), epsilon + step]))[1].tolist()
    spread = math.exp(epsilon + step) - math.exp(max(0.0, epsilon - step))
    near = np.clip((before - after) / spread * _PLACES, 1e-300, 0.5)
    fpr = np.unique([0.0, *(float(f"{rate:.1e}") for rate in near)])  # two digits, so that words repeat them exactly
    try:
        with effort(tolerance=min(current().tolerance, _NARROW)):
            found = gate.power_bounds(total, fpr)[0]
    except BudgetError:
        found = gate.power_bounds(total, fpr)[0]
    allowed = np.asarray(DP(epsilon, delta).power(fpr), dtype=np.float64)
    best = int(np.argmax(found - allowed))
    if not found[best] > allowed[best] * (1 + ROUNDING):
        return None
    return Exposed(float(fpr[best]), float(found[best]), float(allowed[best]))


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

    @cached_property
    def least_noise(self) -> LeastNoise | str:
        """The noise the claim needs, or why that cannot be said."""
        return least_noise(self.mechanism, self.k, self.epsilon, self.delta)

    @cached_property
    def exposed(self) -> Exposed | None:
        """An attack that the claim excludes, where it is wrong."""
        return exposed(self.total, self.epsilon, self.delta) if self.verdict == WRONG else None

    @property
    def kind(self) -> str:
        """What the true numbers are."""
        return "exact" if self.total.kind == "exact" else "certified"

    def words(self) -> str:
        """Say the verdict in two or three sentences, all numbers rounded to their safe side."""
        start = {
            SAFE: "The claim holds",
            TIGHT: "The claim holds, and it is the truth itself up to rounding",
            WRONG: "The claim is wrong",
            OPEN: "Not decided, the claim lies inside the certified bracket",
        }[self.verdict]
        asked = f"{'one use' if self.k == 1 else f'{grouped(self.k)} uses'} of {self.mechanism}"
        low = self.verdict == WRONG
        end = "" if self.verdict == OPEN else f" {self._in_delta(low=low)}"
        return f"{start}: for {asked} {self._in_epsilon(low=low)}.{end}"

    def short(self) -> str:
        """Say where the claim lies as a point beside the true profile."""
        place = {
            SAFE: "above the true curve: it holds",
            TIGHT: "on the true curve: it holds",
            WRONG: "below the true curve: it is wrong",
            OPEN: "on the true curve, as far as is known: it is not decided",
        }[self.verdict]
        numbers = f"ε = {self.epsilon:.6g}, δ = {outward(self.delta, 6)}"
        return f"The claim ({numbers}) lies {place}. {self._in_delta(low=self.verdict == WRONG)}"

    def _in_epsilon(self, *, low: bool) -> str:
        """Say the true epsilon at the claimed delta."""
        least, most = self.epsilon_bounds
        at, claimed = f"at δ = {outward(self.delta, 6, up=not low)}", f"claimed is {self.epsilon:.6g}"
        if math.isinf(least):
            return f"no ε holds {at} ({self.kind}); {claimed}"
        if self.verdict == OPEN:
            return f"the true ε {at} is between {outward(least, 6, up=False)} and {outward(most, 6)}; {claimed}"
        side = f"at least {outward(least, 5, up=False)}" if low else f"at most {outward(most, 5)}"
        return f"the true ε {at} is {side} ({self.kind}); {claimed}"

    def _in_delta(self, *, low: bool) -> str:
        """Say the true delta at the claimed epsilon."""
        least, most = self.delta_bounds
        at = f"At ε = {outward(self.epsilon, 6, up=not low)} the true δ is"
        if not low:
            return f"{at} at most {outward(most, 4)} ({self.kind})."
        times = f", {outward(least / self.delta, 3, up=False)} times the claimed" if self.delta > 0 else ""
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
        What is claimed, in [0, inf) and [0, 1].

    Examples
    --------
    >>> found = judge("gaussian_classic(10, 1e-5)", 1, 10, 1e-5)
    >>> found.verdict, f"{found.delta_bounds[0]:.3e}"
    ('wrong', '2.265e-05')
    """
    asked = uses(mechanism, k, delta)
    claimed = LOSS.check(epsilon)
    reached = _reached(asked.total, claimed)
    verdict, bracket = decided(claimed, asked.delta, asked.bracket, reached)
    return Judgement(asked.region, asked.k, claimed, asked.delta, asked.total, bracket, reached, verdict)


def _reached(total: TradeOff, epsilon: float) -> tuple[float, float]:
    """Return the bracket of delta(epsilon), however wide: a claim may be decided by a wide one."""
    at = np.array([epsilon])
    try:
        low, high = total.delta_bounds(at)
    except BudgetError:
        low, high = gate.delta_bounds(total, at)
    return float(low[0]), float(high[0])


def decided(
    epsilon: float, delta: float, bracket: tuple[float, float], reached: tuple[float, float]
) -> tuple[str, tuple[float, float]]:
    """Return the verdict, and the bracket of the true epsilon that it allows.

    For delta 0 the largest loss decides: a delta too small for a double is not 0.
    """
    (least, most), (low, high) = bracket, reached
    value, bounds = (epsilon, bracket) if epsilon > 0 else (delta, reached)
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

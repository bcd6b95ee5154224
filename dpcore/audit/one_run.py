r"""Audits by one training run: many canaries at once, each in the data by the flip of a fair coin.

m canaries are put into the data, each by its own fair coin; the mechanism runs once; an attacker who sees the output guesses r of the
coins, r fixed beforehand, and W guesses are right. Nothing is assumed about the mechanism but the claim itself.

Pure privacy. Given the output and the coins 1..i-1, coin i has odds of at most e^eps (Bayes: the output's law given the coin is a mixture
over the later coins). So W is at most a binomial number B of r trials with p = e^eps / (1 + e^eps) (Steinke, Nasr, Jagielski 2023).

(eps, delta)-privacy. Each pair of laws is a mixture of an eps-private pair and, with probability delta, of one that may reveal the coin. A coin
that is revealed raises P(W >= w) by at most (1-p) b, b the largest probability of a single value of the binomial number of right
guesses that are still to come: the difference of two values of a martingale. A coin is revealed with probability delta, whatever the
coins before, so

.. math:: P(W\ge w)\le P(B\ge w)+(1-p)\,\delta\sum_{n<m}\max_kP(\mathrm{Bin}(n,p)=k),

if all coins are guessed; if the attacker chooses which, b is at most 1, and the last term is (1-p) m delta.

Any region f. Let :math:`p_j=P(W=j)`. Choose a canary at random, and let S be the event that its guess is right and W >= v. With that coin
turned over, the guess is wrong and W >= v-1. By f-privacy and because 1-f is concave,

.. math:: \frac1m\sum_{j\ge v}j\,p_j \le (1-f)\Bigl(\frac1m\sum_{j\ge v-1}(r-j)\,p_j\Bigr)\quad\text{for every } v.

The largest P(W >= w) under these conditions is found greedily: moving mass from above w to w, or from j to j-1 as far as condition j+1
allows, violates none of them, so the least p_(w-1), then the least p_(w-2), ... decide whether a probability is possible
(Mahloujifar, Melis, Chaudhuri 2024). The set of possible probabilities is an interval.

Every bound of P(W >= w) at the number w of right guesses is a p-value of the claim; the smallest of them may be used, since they bound the
same number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc, gammaln, ndtr, ndtri

from dpcore.core.domains import CONFIDENCE, COUNT, DELTA, LOSS
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.regions import gate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from dpcore.audit.measurements import Scores
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

    BoolArray = NDArray[np.bool_]

CANARIES = COUNT.but(name="canaries", high=100_000, meaning="how many coins were tossed")
GUESSES = COUNT.but(name="guesses", high=100_000, meaning="how many coins were guessed, fixed beforehand")
CORRECT = COUNT.but(name="correct", low=0, high=100_000, meaning="how many of the guesses were right")
_ROUNDS, _FAN = 6, 17  # each round of a search narrows the range to a sixteenth
_SLACK = 1e-9  # of a sum of probabilities, above its rounding
_LARGEST = 60.0  # epsilon or mu up to which a bound is looked for; no audit proves as much
_LINES = 400  # tangents of a claimed region
_SMALL = 1e-12  # delta at which they end
_EVERY = 256  # steps between two reports of progress


@dataclass(frozen=True, slots=True)
class OneRun:
    """The result of one run.

    Attributes
    ----------
    canaries : int
        How many canaries, each put into the data or left out by its own fair coin.
    guesses : int
        How many of the coins were guessed; the number was fixed beforehand.
    correct : int
        How many guesses were right.
    """

    canaries: int
    guesses: int
    correct: int

    def __post_init__(self) -> None:
        """Check the numbers."""
        object.__setattr__(self, "canaries", CANARIES.check(self.canaries))
        object.__setattr__(self, "guesses", GUESSES.but(high=self.canaries).check(self.guesses))
        object.__setattr__(self, "correct", CORRECT.but(high=self.guesses).check(self.correct))

    @classmethod
    def of_scores(cls, scores: Scores, guesses: int | None = None) -> OneRun:
        """Guess the coins by the scores of one run: in for the highest half of the guesses, out for the lowest.

        Canaries with equal scores at the border are counted as wrong as far as possible: their order in a file may tell the coin.

        Parameters
        ----------
        scores : Scores
            Canaries outside and inside the data.
        guesses : int, optional
            How many coins to guess, fixed before looking; by default all.

        Returns
        -------
        OneRun
            The number of right guesses.
        """
        out, own = scores.outsiders, scores.members
        total = out.size + own.size
        many = total if guesses is None else GUESSES.but(high=total).check(guesses)
        high, low = many - many // 2, many // 2
        return cls(total, many, _certain(own, out, high) + _certain(-out, -own, low))


def _certain(right: FloatArray, wrong: FloatArray, count: int) -> int:
    """Return how many of the `count` highest are right, ties counted as wrong as far as possible."""
    if count == 0:
        return 0
    every = np.sort(np.concatenate((right, wrong)))
    border = every[every.size - count]
    above_right, above_wrong = int(np.sum(right > border)), int(np.sum(wrong > border))
    at_border = count - above_right - above_wrong
    return above_right + max(0, at_border - int(np.sum(wrong == border)))


@dataclass(frozen=True)
class OneRunAudit:
    """What one run proves, with a confidence that was chosen beforehand.

    Attributes
    ----------
    run : OneRun
        The guesses.
    confidence : float, default 0.95
        In [0.5, 0.999999].
    """

    run: OneRun
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Check the confidence."""
        object.__setattr__(self, "confidence", CONFIDENCE.check(self.confidence))

    # ---- bounds of P(W >= w) ---------------------------------------------------------------------------------

    def chance(self, epsilon: float, delta: float = 0.0) -> float:
        """Return the largest probability of this many right guesses under (epsilon, delta)-privacy, the binomial form.

        Parameters
        ----------
        epsilon : float
            At least 0.
        delta : float, default 0
            In [0, 1].

        Returns
        -------
        float
            A p-value of the claim.
        """
        return float(self._binomial(np.array([LOSS.check(epsilon)]), DELTA.check(delta))[0])

    def chance_of(self, claim: TradeOff) -> float:
        """Return the largest probability of this many right guesses under a claimed region.

        Parameters
        ----------
        claim : TradeOff
            Any region, for neighbours that differ in one canary.

        Returns
        -------
        float
            A p-value of the claim.
        """
        lines = _ClaimLines.of(claim)
        low, high = 0.0, 1.0  # possible, and not known to be possible
        for _ in range(_ROUNDS):
            fan = np.linspace(low, high, _FAN)
            possible = self._possible(fan, lambda y: lines.beta(1.0 - y))
            last = int(np.flatnonzero(possible)[-1])
            low, high = float(fan[last]), float(fan[min(last + 1, _FAN - 1)])
        pure = [self.chance(epsilon, delta) for epsilon, delta in lines.statements()]
        return min([high, *pure])

    def _binomial(self, epsilon: FloatArray, delta: float) -> FloatArray:
        run = self.run
        p = 1.0 / (1.0 + np.exp(-epsilon))
        if run.correct == 0:
            return np.ones(p.size)
        tail = betainc(run.correct, run.guesses - run.correct + 1.0, p)
        if delta > 0.0:
            sums = _peaks(run.canaries, p) if run.guesses == run.canaries else np.full(p.size, float(run.canaries))
            tail = tail + (1.0 - p) * delta * sums
        return np.asarray(np.minimum(tail * (1.0 + _SLACK), 1.0), dtype=np.float64)

    def _possible(self, chance: FloatArray, inverse: Callable[[FloatArray], FloatArray]) -> BoolArray:
        """Return whether P(W >= w) may be `chance`; `inverse` gives a rate below which no test has a power y."""
        m, r, w = float(self.run.canaries), self.run.guesses, self.run.correct
        total = chance.copy()
        right, wrong = chance * (w / m), chance * ((r - w) / m)
        for j in range(w - 1, -1, -1):
            if (w - j) % _EVERY == 0:
                checkpoint()
            need = np.maximum(inverse(np.minimum(right, 1.0)) - wrong, 0.0)  # of guesses that are wrong
            step = need * (m / (r - j))
            total, right, wrong = total + step, right + step * (j / m), wrong + need
            if (total > 1.0 + _SLACK).all():
                break
        return np.asarray(total <= 1.0 + _SLACK, dtype=np.bool_)

    # ---- lower bounds ----------------------------------------------------------------------------------------

    @property
    def risk(self) -> float:
        """The probability with which a bound may be wrong."""
        return 1.0 - self.confidence

    def epsilon(self, delta: float = 0.0) -> float:
        """Return a lower bound of epsilon at delta, by the better of the two forms; 0 if no loss is shown.

        Parameters
        ----------
        delta : float, default 0
            In [0, 1].

        Returns
        -------
        float
            Every smaller epsilon is contradicted.
        """
        return max(self.epsilon_binomial(delta), self.epsilon_region(delta))

    def epsilon_binomial(self, delta: float = 0.0) -> float:
        """Return the lower bound of epsilon by the binomial form."""
        failing = DELTA.check(delta)
        return self._largest(lambda epsilon: self._binomial(epsilon, failing) <= self.risk)

    def epsilon_region(self, delta: float = 0.0) -> float:
        """Return the lower bound of epsilon by the form for any region."""
        failing = DELTA.check(delta)

        def contradicted(epsilon: FloatArray) -> BoolArray:
            def inverse(power: FloatArray) -> FloatArray:  # the smaller of the rates that both lines allow, at least 0
                low = np.maximum(power - failing, 0.0)
                lines = low * np.exp(-epsilon), 1.0 - failing - np.exp(epsilon) * (1.0 - power)
                return np.asarray(np.maximum(*lines), dtype=np.float64)

            return ~self._possible(np.full(epsilon.size, self.risk), inverse)

        return self._largest(contradicted)

    @Lazy
    def mu(self) -> float:
        """A lower bound of the mu of Gaussian privacy; 0 if no loss is shown."""

        def contradicted(mu: FloatArray) -> BoolArray:
            chance = np.full(mu.size, self.risk)
            return ~self._possible(chance, lambda power: ndtr(ndtri(power) - mu))

        return self._largest(contradicted)

    def ceiling(self, delta: float = 0.0) -> float:
        """Return the largest epsilon that this many guesses could prove: if all were right."""
        return OneRunAudit(OneRun(self.run.canaries, self.run.guesses, self.run.guesses), self.confidence).epsilon(
            delta
        )

    def _largest(self, contradicted: Callable[[FloatArray], BoolArray]) -> float:
        """Return the largest parameter that is certainly contradicted, by narrowing a range of values."""
        low, high = 0.0, _LARGEST
        for step in range(_ROUNDS):
            checkpoint(step / _ROUNDS)
            fan = np.linspace(low, high, _FAN)
            against = contradicted(fan)
            last = int(np.argmin(against)) if not against.all() else _FAN  # the first that is not contradicted
            if last == 0:
                return 0.0
            low, high = float(fan[last - 1]), float(fan[min(last, _FAN - 1)])
        return low


def _peaks(count: int, p: FloatArray) -> FloatArray:
    """Return the sum over n < count of the largest probability of a value of Bin(n, p), rounded up."""
    n = np.arange(count, dtype=np.float64)[:, None]
    k = np.floor((n + 1.0) * p)  # a mode
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.where(p < 1.0, k * np.log(p) + (n - k) * np.log1p(-np.minimum(p, 1.0 - 1e-16)), 0.0)
    logs = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0) + odds
    return np.asarray(np.minimum(np.exp(logs) * (1.0 + _SLACK), 1.0).sum(axis=0), dtype=np.float64)


@dataclass(frozen=True)
class _ClaimLines:
    """Statements (epsilon, delta) of a claim: the lines that bound its curve from below."""

    at: FloatArray
    delta: FloatArray

    @classmethod
    def of(cls, claim: TradeOff) -> _ClaimLines:
        if not getattr(claim, "is_region", False):
            msg = "A claim is a region, such as dp(1) or gdp(0.5)."
            raise DomainError(msg)
        most = claim.curve.max_loss
        end = most if math.isfinite(most) else float(gate.epsilon_bounds(claim, np.array([_end(claim)]))[1][0])
        at = np.unique(np.append(np.linspace(0.0, min(end, _LARGEST), _LINES), min(end, _LARGEST)))
        return cls(at, gate.delta_bounds(claim, at)[1])

    def beta(self, alpha: FloatArray) -> FloatArray:
        """Return a lower bound of the curve."""
        x, y = np.exp(self.at)[:, None], 1.0 - self.delta[:, None]
        a = np.asarray(alpha)[None, :]
        return np.asarray(np.maximum(np.maximum(y - x * a, (y - a) / x).max(axis=0), 0.0), dtype=np.float64)

    def statements(self) -> list[tuple[float, float]]:
        """Return a few of the statements, for the binomial form."""
        keep = np.unique(np.linspace(0, self.at.size - 1, 25).astype(int))
        return list(zip(self.at[keep].tolist(), np.minimum(self.delta[keep], 1.0).tolist(), strict=True))


def _end(claim: TradeOff) -> float:
    return min(1.0, max(_SMALL, 2.0 * claim.curve.q_inf))

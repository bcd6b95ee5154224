"""Channels: how people answer, given their private letter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.registry import value_text
from dpcore.local.hypotheses import SUM_TOLERANCE
from dpcore.regions.algebra import Union
from dpcore.regions.guarantees import Pmf
from dpcore.regions.tradeoff import exponent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray
    from dpcore.local.hypotheses import Hypotheses, LocalPromise
    from dpcore.regions.tradeoff import TradeOff

ERASED = "erased"
_DIGITS = 13  # pairs of rows that agree to this many digits share a region


@dataclass(frozen=True)
class Channel:
    """A conditional distribution Q(answer | letter), one row per letter.

    Parameters
    ----------
    rows : tuple of tuple of float
        Probabilities of the answers, each row adding up to 1 within 1e-9 (it is then divided by its sum).
    letters, answers : tuple of str
        Names of rows and columns.
    title : str, default "channel"
        What the channel is called.
    """

    rows: tuple[tuple[float, ...], ...]
    letters: tuple[str, ...]
    answers: tuple[str, ...]
    title: str = "channel"

    def __post_init__(self) -> None:
        """Check shape, signs and sums."""
        if len(set(self.answers)) < len(self.answers):
            msg = f"Every answer must have its own name, got {value_text(list(self.answers))}."
            raise DomainError(msg)
        if len(self.rows) != len(self.letters) or any(len(row) != len(self.answers) for row in self.rows):
            msg = f"A channel needs one row per letter and one column per answer, got {value_text([len(r) for r in self.rows])}."
            raise DomainError(msg)
        for name, row in zip(self.letters, self.rows, strict=True):
            total = math.fsum(row)
            if not all(value >= 0 for value in row) or abs(total - 1) > SUM_TOLERANCE:
                msg = f"The answers of letter {name} must be probabilities that add up to 1, got {value_text(row)}."
                raise DomainError(msg)
        rows = tuple(tuple(float(value) / math.fsum(row) + 0.0 for value in row) for row in self.rows)
        object.__setattr__(self, "rows", rows)

    @Lazy
    def matrix(self) -> FloatArray:
        """The rows as an array."""
        return np.array(self.rows)

    def outputs(self, question: Hypotheses) -> tuple[FloatArray, FloatArray]:
        """Return M0 and M1: the probability of each answer under either hypothesis."""
        first, second = question.arrays
        return first @ self.matrix, second @ self.matrix

    @Lazy
    def epsilon(self) -> float:
        """The smallest epsilon of pure local privacy: the largest log ratio in a column; infinite if one side is 0."""
        low, high = self.matrix.min(axis=0), self.matrix.max(axis=0)
        possible = high > 0
        if np.any(low[possible] == 0):
            return math.inf
        return max(0.0, float(np.max(np.log(high[possible]) - np.log(low[possible]), initial=0.0)))

    def delta(self, epsilon: float) -> float:
        """Return the smallest delta at `epsilon`: the largest sum of (Q(y|x) - e^epsilon Q(y|x'))_+ over x, x'."""
        grown = math.exp(epsilon) * self.matrix
        return max(float(np.maximum(row - grown, 0.0).sum(axis=1).max()) for row in self.matrix)

    @Lazy
    def total_variation(self) -> float:
        """Dobrushin's coefficient: the largest total variation between two rows."""
        return self.delta(0.0)

    def region(self, times: int = 1) -> TradeOff:
        """Return what an attacker learns about the letter from `times` answers of one person, exactly.

        The letter is the same each time, so the region is the union over pairs of letters of the composed pair; the
        composition of the union would be larger.
        """
        count = exponent(times)
        pairs = [Pmf(*pair) for pair in self._pairs()] or [Pmf((1.0,), (1.0,))]
        parts = [pair if count == 1 else pair**count for pair in pairs]
        return parts[0] if len(parts) == 1 else Union(tuple(parts))

    def _pairs(self) -> Iterator[tuple[tuple[float, ...], tuple[float, ...]]]:
        """Yield the distinct pairs of rows that differ."""
        keys = set()
        rounded = np.round(self.matrix, _DIGITS)
        for i in range(len(self.rows)):
            for j in range(i):
                one, two = rounded[i].tolist(), rounded[j].tolist()
                key = min(tuple(sorted(zip(one, two, strict=True))), tuple(sorted(zip(two, one, strict=True))))
                if one != two and key not in keys:
                    keys.add(key)
                    masses = [(a, b) for a, b in zip(self.rows[i], self.rows[j], strict=True) if a + b > 0]
                    yield tuple(a for a, _ in masses), tuple(b for _, b in masses)

    def sample(self, rng: Generator, letters: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return one answer (its column) for each letter (its row).

        For simulation only, not for collecting data: floating-point noise can be attacked.
        """
        edges = np.take(np.cumsum(self.matrix, axis=1), letters, axis=0)
        chance = rng.random((len(letters), 1))
        return np.asarray((chance >= edges[:, :-1]).sum(axis=1), dtype=np.int64)

    def frame(self) -> pd.DataFrame:
        """Return the table: a row per letter, a column per answer."""
        table = pd.DataFrame(self.matrix, columns=list(self.answers))
        table.insert(0, "letter", list(self.letters))
        return table


def binary(question: Hypotheses, promise: LocalPromise, *, ties: Literal[0, 1] = 0) -> Channel:
    r"""Return the binary mechanism: say which hypothesis the letter supports, with noise and, for eta, erasure.

    .. math:: Q(0|x)=(1-\alpha)\frac{e^{\varepsilon}}{1+e^{\varepsilon}}\ \text{if}\ P_0(x)\ge P_1(x),\qquad
              Q(e|x)=\alpha,\qquad \alpha=1-\eta\frac{e^{\varepsilon}+1}{e^{\varepsilon}-1}

    With delta > 0 the truth is shown openly with probability delta. Its region is exactly that of the promise, and
    no channel keeps more total variation: eta |P0 - P1|.

    References: Kairouz, Oh, Viswanath (2014), Theorem 6; Ghazi, Issa (2023), Theorem 5.

    Parameters
    ----------
    question : Hypotheses
        What is to be decided.
    promise : LocalPromise
        What every answer guarantees.
    ties : {0, 1}, default 0
        The side of letters with P0(x) = P1(x). The definition says 0; for divergences other than the total
        variation the other side can be better at every epsilon.

    Returns
    -------
    Channel
        Answers 0 and 1, also shown openly if delta > 0, and a mark for erased ones.
    """
    first, second = question.arrays
    zero = first >= second if ties == 0 else first > second
    high = 1.0 / (1.0 + math.exp(-promise.epsilon))
    low = high * math.exp(-promise.epsilon)
    noisy = (1.0 - promise.delta) * promise.open_share
    columns = {"0": np.where(zero, noisy * high, noisy * low), "1": np.where(zero, noisy * low, noisy * high)}
    if promise.delta > 0:
        columns |= {"0, open": np.where(zero, promise.delta, 0.0), "1, open": np.where(zero, 0.0, promise.delta)}
    lost = (1.0 - promise.delta) * (1.0 - promise.open_share)
    if lost > 0:
        columns[ERASED] = np.full(question.size, lost)
    title = "binary mechanism with erasure" if lost > 0 else "binary mechanism"
    return _stacked(columns, question, title)


def randomized_response(question: Hypotheses, promise: LocalPromise) -> Channel:
    r"""Return randomized response over all letters: the true letter is e^epsilon times as likely as any other.

    .. math:: Q(y|x)=\frac{e^{\varepsilon}}{e^{\varepsilon}+k-1}\ \text{if } y=x,\qquad \frac{1}{e^{\varepsilon}+k-1}\ \text{otherwise}

    With delta > 0 the letter is shown openly with probability delta; answers are erased only as far as eta requires.
    References: Warner (1965); Kairouz, Oh, Viswanath (2014), Section 3.

    Parameters
    ----------
    question : Hypotheses
        What is to be decided.
    promise : LocalPromise
        What every answer guarantees.

    Returns
    -------
    Channel
        One answer per letter.
    """
    k, shrink = question.size, math.exp(-promise.epsilon)
    truth = 1.0 / (1.0 + (k - 1) * shrink)
    own = truth * -math.expm1(-promise.epsilon)  # its total variation
    most = (promise.total_variation - promise.delta) / ((1.0 - promise.delta) * own) if own > 0 else 1.0
    share = (1.0 - promise.delta) * min(1.0, most)
    noisy = share * truth * np.where(np.eye(k, dtype=bool), 1.0, shrink)
    columns = {name: noisy[:, x] for x, name in enumerate(question.letters)}
    if promise.delta > 0:
        columns |= {f"{name}, open": promise.delta * np.eye(k)[:, x] for x, name in enumerate(question.letters)}
    lost = 1.0 - promise.delta - share
    if lost > 1e-15:
        columns[ERASED] = np.full(k, lost)
    return _stacked(columns, question, "randomized response")


def openly(question: Hypotheses) -> Channel:
    """Return the channel without privacy: the letter itself.

    Parameters
    ----------
    question : Hypotheses
        Its letters.

    Returns
    -------
    Channel
        One answer per letter.
    """
    columns = {name: np.eye(question.size)[:, x] for x, name in enumerate(question.letters)}
    return _stacked(columns, question, "no privacy")


def silence(question: Hypotheses) -> Channel:
    """Return the channel that always gives the same answer.

    Parameters
    ----------
    question : Hypotheses
        Its letters.

    Returns
    -------
    Channel
        One answer.
    """
    return _stacked({"nothing": np.ones(question.size)}, question, "nothing")


def _stacked(columns: dict[str, FloatArray], question: Hypotheses, title: str) -> Channel:
    rows = np.column_stack(list(columns.values()))
    return Channel(tuple(map(tuple, rows.tolist())), question.letters, tuple(columns), title)

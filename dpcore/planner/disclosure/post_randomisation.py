r"""PRAM: every answer is changed at random by a known transition matrix, and counts are corrected afterwards.

With :math:`p_{kl}=P(\text{released }l\mid\text{true }k)` and true counts t the released counts y have

.. math:: E\,y=P^Tt,\qquad \operatorname{Cov}(y)=\sum_kt_k(\operatorname{diag}(p_k)-p_kp_k^T),\qquad \hat t=P^{-T}y

so :math:`\hat t` is unbiased with covariance :math:`P^{-T}\operatorname{Cov}(y)P^{-1}`. As local privacy PRAM is randomized
response: :math:`\varepsilon=\max_l\max_{k,k'}\ln(p_{kl}/p_{k'l})`. References: Gouweleeuw and others (1998); Warner (1965).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.registry import Parameter, value_text
from dpcore.files.columns import CodedColumn
from dpcore.local.channels import Channel
from dpcore.local.hypotheses import SUM_TOLERANCE
from dpcore.planner.disclosure.chance import uniforms
from dpcore.regions.guarantees import DP
from dpcore.words import grouped

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray
    from dpcore.files.matrices import NamedMatrix
    from dpcore.files.microdata import Microdata
    from dpcore.regions.tradeoff import TradeOff

KEEP = Parameter("keep", low=0.0, high=1.0, label="p", meaning="probability that an answer is left as it is")
MOST_CATEGORIES = 200
MOST_DRAWN = 20  # categories up to which the region is the union over all pairs; above, the pure statement replaces it
_CATEGORIES = Parameter("categories", "integer", low=2, high=MOST_CATEGORIES)
_WORST_CONDITION = 1e12  # beyond it the inverse has no correct digit left worth showing
READ_OFF = (
    "The categories were read off the data: a category that occurs in the release reveals that somebody gave that answer. "
    "Declare them from what is known without the data."
)


def pram(keep: float, categories: int | tuple[str, ...] = 2) -> Channel:
    r"""Return PRAM that keeps a category with probability p and otherwise picks another one, all equally likely.

    It is randomized response: as local privacy :math:`\varepsilon=|\ln\frac{p(m-1)}{1-p}|` for m categories. Any transition
    matrix is a `Channel`, whose `epsilon` is the largest log ratio in a column.

    Parameters
    ----------
    keep : float
        Probability p that an answer stays.
    categories : int or tuple of str, default 2
        How many there are, or their names.

    Examples
    --------
    >>> round(pram(0.8).epsilon, 5)
    1.38629
    """
    names = tuple(map(str, range(_CATEGORIES.check(categories)))) if isinstance(categories, int) else categories
    p, m = KEEP.check(keep), _CATEGORIES.check(len(names))
    other = (1.0 - p) / (m - 1)
    rows = tuple(tuple(p if i == j else other for j in range(m)) for i in range(m))
    return Channel(rows, names, names, "PRAM")


def transition(matrix: NamedMatrix, categories: tuple[str, ...] = ()) -> Channel:
    """Return PRAM with a matrix from a file.

    Parameters
    ----------
    matrix : NamedMatrix
        Rows of probabilities: entry (k, l) is that of releasing l for k.
    categories : tuple of str, default ()
        The names of rows and columns, if the matrix has none.

    Raises
    ------
    DomainError
        If a row does not consist of probabilities that add up to 1; the message names it.
    """
    if not matrix.names and len(categories) != len(matrix.rows):
        msg = f"A matrix without names needs a category for each of its {len(matrix.rows)} rows, got {len(categories)}."
        raise DomainError(msg)
    names = matrix.names or categories
    _CATEGORIES.check(len(names))
    for name, row in zip(names, matrix.rows, strict=True):
        wrong = next((value for value in row if not 0.0 <= value <= 1.0 + SUM_TOLERANCE), None)
        total = math.fsum(row)
        if wrong is not None or abs(total - 1.0) > SUM_TOLERANCE:
            got = f"the entry {value_text(wrong)}" if wrong is not None else f"a sum of {value_text(total)}"
            msg = f"Row {name!r} of the matrix must hold probabilities that add up to 1, got {got}."
            raise DomainError(msg)
    return Channel(matrix.rows, names, names, "PRAM")


@dataclass(frozen=True)
class Pram:
    """PRAM of one column.

    Attributes
    ----------
    column : CodedColumn
        The true answers; each is a letter of the channel.
    channel : Channel
        The transition matrix; its letters and answers are the same categories.
    """

    column: CodedColumn
    channel: Channel

    @classmethod
    def of(cls, data: Microdata, name: str, channel: Channel) -> Pram:
        """Return PRAM of a column of a table; an answer missing from the matrix is an error that names its row."""
        column = data.column(name)
        strange = [place for place, text in enumerate(column.texts) if text not in channel.letters]
        if strange:
            row, text = grouped(data.row_number(column.row_of(strange[0]))), column.texts[strange[0]]
            msg = (
                f"Row {row}: column {name!r} must hold one of the categories "
                f"{', '.join(channel.letters)[:120]}, got {value_text(text) if text else 'a missing value'}."
            )
            raise DomainError(msg)
        return cls(column, channel)

    @property
    def counts(self) -> NDArray[np.int64]:
        """True number of records per category, in the order of the channel."""
        places = [self.channel.letters.index(text) for text in self.column.texts]
        counts = np.zeros(len(self.channel.letters), dtype=np.int64)
        np.add.at(counts, places, self.column.counts)
        return counts

    @property
    def expected(self) -> FloatArray:
        """Expected number of records per category after PRAM."""
        return np.asarray(self.counts @ self.channel.matrix, dtype=np.float64)

    @property
    def bias(self) -> FloatArray:
        """Expected minus true number: the bias of an uncorrected count."""
        return self.expected - self.counts

    @Lazy
    def covariance(self) -> FloatArray:
        """Covariance of the released counts for fixed data: sum of t_k (diag(p_k) - p_k p_k^T)."""
        return released_covariance(self.channel, self.counts.astype(np.float64))

    @property
    def correctable(self) -> bool:
        """Whether the matrix can be inverted, so that counts can be corrected."""
        return correctable(self.channel)

    @Lazy
    def corrected_covariance(self) -> FloatArray:
        """Covariance of the corrected counts for fixed data."""
        inverse = _inverse(self.channel)
        return np.asarray(inverse @ self.covariance @ inverse.T, dtype=np.float64)

    def frame(self) -> pd.DataFrame:
        """Return one row per category: true count, what is released, its bias, and the error of the corrected count."""
        columns: dict[str, Any] = {
            "category": list(self.channel.letters),
            "count": self.counts,
            "expected": self.expected,
            "bias": self.bias,
            "sd_released": np.sqrt(np.diag(self.covariance)),
        }
        if self.correctable:
            columns["sd_corrected"] = np.sqrt(np.maximum(0.0, np.diag(self.corrected_covariance)))
        return pd.DataFrame(columns)

    def covariance_frame(self) -> pd.DataFrame:
        """Return the covariance matrix of the corrected counts, a row and a column per category."""
        frame = pd.DataFrame(self.corrected_covariance, columns=list(self.channel.letters))
        frame.insert(0, "covariance of" if "category" in self.channel.letters else "category", self.channel.letters)
        return frame

    def release(self, rng: Generator | None = None) -> CodedColumn:
        """Return the column with every answer redrawn; without a generator, by the operating system's randomness."""
        places = np.array([self.channel.letters.index(text) for text in self.column.texts], dtype=np.int64)
        edges = np.cumsum(self.channel.matrix, axis=1)[:, :-1]
        chance, drawn = uniforms(len(self.column.codes), rng), np.empty(len(self.column.codes), dtype=np.int64)
        for place, letter in enumerate(places.tolist()):
            mine = self.column.codes == place
            drawn[mine] = np.searchsorted(edges[letter], chance[mine], side="right")
        return CodedColumn(self.column.name, drawn.astype(np.uint8), tuple(self.channel.answers))


def correctable(channel: Channel) -> bool:
    """Return whether a transition matrix has a usable inverse."""
    return bool(np.linalg.cond(channel.matrix) < _WORST_CONDITION)


def released_covariance(channel: Channel, counts: FloatArray) -> FloatArray:
    """Return the covariance of the released counts, given these true counts."""
    matrix = channel.matrix
    return np.diag(counts @ matrix) - matrix.T @ (counts[:, None] * matrix)


def corrected(channel: Channel, released: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corrected counts of a release and their covariance, both unbiased and from the release alone.

    Parameters
    ----------
    channel : Channel
        The published transition matrix.
    released : ndarray of float, shape (categories,)
        Released number of records per category.

    Returns
    -------
    counts : ndarray of float, shape (categories,)
        Unbiased; an entry may be negative.
    covariance : ndarray of float, shape (categories, categories)
        Linear in the corrected counts, hence unbiased too.
    """
    inverse = _inverse(channel)
    counts = inverse @ np.asarray(released, dtype=np.float64)
    return counts, inverse @ released_covariance(channel, counts) @ inverse.T


def _inverse(channel: Channel) -> FloatArray:
    if not correctable(channel):
        msg = "The matrix has no inverse, so released counts cannot be corrected: rows of it are mixtures of others."
        raise DomainError(msg)
    return np.asarray(np.linalg.inv(channel.matrix.T), dtype=np.float64)


def region(channel: Channel) -> TradeOff:
    """Return what one released answer tells about the true one: exact up to 20 categories, the pure statement above."""
    return channel.region() if len(channel.letters) <= MOST_DRAWN else DP(channel.epsilon, 0.0)

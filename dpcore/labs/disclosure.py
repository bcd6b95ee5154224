"""Disclosure control before differential privacy: k-anonymity and randomised answers (PRAM), checked.

A table is k-anonymous in some columns if every combination of their values that occurs, occurs at least k times.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from dpcore.core.errors import DomainError
from dpcore.core.registry import Parameter, shown, unknown
from dpcore.local.channels import Channel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

KEEP = Parameter("keep", low=0.0, high=1.0, label="p", meaning="probability that an answer is left as it is")
_CATEGORIES = Parameter("categories", "integer", low=2, high=200)

AGE, AMOUNT = "customer_age", "transaction_amount"
ORIGINAL: Final = pd.DataFrame(
    {AGE: [32, 45, 27, 19, 31, 25], AMOUNT: [75.50, 120.00, 16.75, 85.00, 50.00, 40.50]}
)  # Table 3.1
AGE_GROUPS: Final = ("31-45", "31-45", "18-30", "18-30", "31-45", "18-30")
PRINTED_AMOUNTS: Final = ("51-100", "51-100", "0-50", "51-100", "0-50", "0-50")
CLAIMED_K = 3


def printed_one() -> pd.DataFrame:
    """Return Table 3.2 as printed: ages grouped, amounts open; 3-anonymous in the age."""
    return pd.DataFrame({AGE: list(AGE_GROUPS), AMOUNT: ORIGINAL[AMOUNT].tolist()})


def printed_two() -> pd.DataFrame:
    """Return Table 3.3 as printed: called 3-anonymous in both columns, with 120.00 in the group 51-100."""
    return pd.DataFrame({AGE: list(AGE_GROUPS), AMOUNT: list(PRINTED_AMOUNTS)})


def classes(table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Return the combinations of values that occur and how often: the columns and ``size``, smallest class first."""
    names = _known(table, columns)
    found = table.groupby(names, sort=True, dropna=False).size().rename("size").reset_index()
    return found.sort_values(["size", *names], kind="stable").reset_index(drop=True)


def anonymity(table: pd.DataFrame, columns: Iterable[str]) -> int:
    """Return the largest k for which the table is k-anonymous in these columns together: its smallest class.

    1: someone is alone in the class; the number of rows: nobody can be told apart. The chance to pick a person's row is at
    most 1/k. It takes all columns an attacker knows together; each column alone says nothing of the pair.
    """
    return int(classes(table, columns)["size"].min())


def generalise(values: Iterable[float], groups: Sequence[tuple[float, float]]) -> list[str]:
    """Return for each value the name "low-high" of the group [low, high] it lies in; a value in none is refused."""
    out = []
    for value in values:
        inside = [f"{low:g}-{high:g}" for low, high in groups if low <= value <= high]
        if not inside:
            msg = f"{value!r} lies in none of the groups {shown(list(groups))}."
            raise DomainError(msg)
        out.append(inside[0])
    return out


def _known(table: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or not len(table):
        msg = f"k-anonymity needs at least one column and one row, got {shown(names)} and {len(table)} rows."
        raise DomainError(msg)
    for name in names:
        if name not in table.columns:
            raise DomainError(unknown("column", name, [str(column) for column in table.columns]))
    return names


def pram(keep: float, categories: int = 2) -> Channel:
    r"""Return PRAM that keeps a category with probability p and else moves to any other equally likely.

    It is randomized response: as local privacy :math:`\varepsilon=|\ln\frac{p(m-1)}{1-p}|` for m categories, whatever
    the source says of posterior odds. Any transition matrix is a `Channel`, whose `epsilon` is the largest log ratio in
    a column.
    """
    p, m = KEEP.check(keep), _CATEGORIES.check(categories)
    other = (1.0 - p) / (m - 1)
    rows = tuple(tuple(p if i == j else other for j in range(m)) for i in range(m))
    names = tuple(str(i) for i in range(m))
    return Channel(rows, names, names, "PRAM")


def pram_epsilon(keep: float, categories: int = 2) -> float:
    """Return the local epsilon of `pram` in closed form; infinite if an answer rules a category out."""
    p, m = KEEP.check(keep), _CATEGORIES.check(categories)
    if p == 1.0 or (p == 0.0 and m > 1):
        return math.inf
    return abs(math.log(p * (m - 1) / (1.0 - p)))


def pram_counts(channel: Channel, counts: Sequence[float]) -> FloatArray:
    """Return the expected counts after randomising: the counts times the transition matrix."""
    return np.asarray(np.asarray(counts, dtype=np.float64) @ channel.matrix, dtype=np.float64)


def pram_covariance(channel: Channel, counts: Sequence[float]) -> FloatArray:
    r"""Return the covariance of the unbiased estimate :math:`P^{-T}y` of the true counts, the data being fixed.

    .. math:: P^{-T}\Big\{\sum_k n_k(\mathrm{diag}\,p_k-p_kp_k^T)\Big\}P^{-1}

    For two categories its diagonal is :math:`n\,p(1-p)/(2p-1)^2`. The source announces variance formulas but has none.
    """
    matrix = channel.matrix
    if matrix.shape[0] != matrix.shape[1] or np.linalg.cond(matrix) > 1e12:
        msg = "The transition matrix must be square and invertible for an unbiased estimate of the counts."
        raise DomainError(msg)
    noise: Any = sum(n * (np.diag(row) - np.outer(row, row)) for n, row in zip(counts, matrix, strict=True))
    inverse = np.linalg.inv(matrix)
    return np.asarray(inverse.T @ noise @ inverse, dtype=np.float64)

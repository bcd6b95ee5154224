"""Disclosure control before differential privacy: k-anonymity and randomised answers (PRAM), checked.

A table is k-anonymous in some columns if every combination of their values that occurs, occurs at least k times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from dpcore.core.errors import DomainError
from dpcore.core.registry import Parameter, shown, unknown
from dpcore.local.channels import Channel

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    names = _columns(table, columns)
    sizes = table.groupby(names, sort=True, dropna=False).size().rename("size").reset_index()
    return sizes.sort_values(["size", *names], kind="stable").reset_index(drop=True)


def anonymity(table: pd.DataFrame, columns: Iterable[str]) -> int:
    """Return the largest k for which the table is k-anonymous in these columns together: its smallest class.

    1: someone is alone in the class; the number of rows: nobody can be told apart. The chance to pick a person's row is at
    most 1/k. It takes all columns an attacker knows together; each column alone says nothing of the pair.
    """
    return int(classes(table, columns)["size"].min())


def _columns(table: pd.DataFrame, columns: Iterable[str]) -> list[str]:
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

r"""Equivalence classes: which records look the same to an attacker, and what a class gives away nevertheless.

A table is k-anonymous in its quasi-identifiers if every combination of values that occurs does so at least k times
(Samarati, Sweeney 1998). A class is l-diverse if at least l different sensitive values occur in it; by entropy, if
:math:`e^{H}\ge l` (Machanavajjhala and others 2007). Neither bounds a ratio of probabilities, so neither has a region.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.core.domains import COUNT
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray
    from dpcore.files.columns import CodedColumn
    from dpcore.files.microdata import Microdata

NO_REGION = (
    "k-anonymity and l-diversity have no privacy region: they count rows of this table and do not limit an attacker "
    "who knows other columns, another release or the method."
)
"""Why these measures have no region."""


@dataclass(frozen=True)
class Diversity:
    """The sensitive values of each class; missing ones do not count, and a class without any value has l = 1.

    Attributes
    ----------
    distinct : ndarray of int, shape (classes,)
        Number of different values.
    entropy : ndarray of float, shape (classes,)
        Effective number of values, the exponential of the entropy of their shares.
    top : ndarray of float, shape (classes,)
        Share of the most common value: the chance that an attacker's best guess is right; 0 for a class without any.
    """

    distinct: NDArray[np.int64]
    entropy: FloatArray
    top: FloatArray


@dataclass(frozen=True)
class EquivalenceClasses:
    """The classes of a table in some columns.

    Attributes
    ----------
    quasi : tuple of CodedColumn
        The columns that an attacker knows.
    members : ndarray of int, shape (rows,)
        The class of every row, counted from 0.
    sizes : ndarray of int, shape (classes,)
        How many rows each class has.
    diversity : mapping of str to Diversity
        Sensitive column -> its values in each class.
    """

    quasi: tuple[CodedColumn, ...]
    members: NDArray[np.int64]
    sizes: NDArray[np.int64]
    diversity: Mapping[str, Diversity]

    @property
    def rows(self) -> int:
        """Number of records."""
        return len(self.members)

    @property
    def k(self) -> int:
        """The largest k for which the table is k-anonymous: its smallest class."""
        return int(self.sizes.min())

    @property
    def uniques(self) -> int:
        """Number of records that are alone in their class."""
        return int((self.sizes == 1).sum())

    def below(self, k: int) -> int:
        """Return how many records are in classes of fewer than k."""
        COUNT.check(k)
        return int(self.sizes[self.sizes < k].sum())

    def exposed(self, sensitive: str) -> int:
        """Return how many records are in classes with a single sensitive value: finding the class reveals it."""
        one = self.diversity[sensitive]
        return int(self.sizes[(one.distinct == 1) & (one.top > 0)].sum())

    @Lazy
    def frame(self) -> pd.DataFrame:
        """The classes, smallest first: the quasi-identifiers, ``size`` and, per sensitive column, its diversity."""
        first = np.empty(len(self.sizes), dtype=np.int64)
        first[self.members[::-1]] = np.arange(self.rows)[::-1]
        cells = {one.name: np.array(one.texts, dtype=object)[one.codes[first]] for one in self.quasi}
        measures: dict[str, NDArray[np.int64] | FloatArray] = {"size": self.sizes}
        for name, one in self.diversity.items():
            measures |= {f"distinct {name}": one.distinct, f"entropy {name}": one.entropy, f"top share {name}": one.top}
        table = pd.DataFrame(cells)
        for name, values in measures.items():
            table[_free(name, cells)] = values
        order = [_free("size", cells), *cells]
        return table.sort_values(order, kind="stable").reset_index(drop=True)


def _free(name: str, taken: Iterable[str]) -> str:
    """Return the name of a measure, marked if a column of the file has the same name."""
    return f"{name} (measured)" if name in set(taken) else name


def equivalence_classes(data: Microdata, quasi: Iterable[str], sensitive: Iterable[str] = ()) -> EquivalenceClasses:
    """Return the classes of a table.

    Parameters
    ----------
    data : Microdata
        The table; a missing value counts as a value of its own.
    quasi : iterable of str
        The columns that an attacker knows, taken together: single columns say nothing about combinations.
    sensitive : iterable of str, default ()
        The columns whose values the attacker wants to learn.

    Returns
    -------
    EquivalenceClasses
        The classes, their sizes and diversity.

    Examples
    --------
    >>> import pandas as pd
    >>> from dpcore.files.microdata import Microdata
    >>> table = Microdata.of_frame(pd.DataFrame({"age": [31, 31, 40], "town": ["A", "A", "A"]}))
    >>> equivalence_classes(table, ["age"]).k, equivalence_classes(table, ["town"]).k
    (1, 3)
    """
    columns = data.some(quasi, "The quasi-identifiers")
    if not columns or not data.rows:
        msg = f"Equivalence classes need at least one quasi-identifier and one row, got {len(columns)} and {data.rows}."
        raise DomainError(msg)
    secrets = data.some(sensitive, "The sensitive columns")
    both = {one.name for one in columns} & {one.name for one in secrets}
    if both:
        msg = f"A column is either a quasi-identifier or sensitive, got {min(both)!r} as both."
        raise DomainError(msg)
    members = np.zeros(data.rows, dtype=np.int64)
    for one in columns:  # renumbered after each column, so that products stay small
        _, members = np.unique(members * len(one.texts) + one.codes, return_inverse=True)
    sizes = np.bincount(members)
    return EquivalenceClasses(columns, members, sizes, {one.name: _diversity(one, members, sizes) for one in secrets})


def _diversity(column: CodedColumn, members: NDArray[np.int64], sizes: NDArray[np.int64]) -> Diversity:
    known = ~column.missing[column.codes]
    pairs, counts = np.unique(members[known] * len(column.texts) + column.codes[known], return_counts=True)
    owner = pairs // len(column.texts)
    distinct = np.bincount(owner, minlength=len(sizes))
    totals = np.bincount(owner, weights=counts, minlength=len(sizes))
    share = counts / totals[owner]
    entropy = np.bincount(owner, weights=-share * np.log(share), minlength=len(sizes))
    top = np.zeros(len(sizes))
    np.maximum.at(top, owner, share)
    return Diversity(np.maximum(distinct, 1), np.exp(entropy), top)


def summary(classes: EquivalenceClasses, k: int = 5, table: str = "as read") -> pd.DataFrame:
    """Return the measures of a table in its quasi-identifiers: ``table, measure, column, value, meaning``.

    Parameters
    ----------
    classes : EquivalenceClasses
        What `equivalence_classes` returned.
    k : int, default 5
        Classes of fewer rows count as small.
    table : str, default "as read"
        What to call the table.
    """
    names = " and ".join(one.name for one in classes.quasi)
    rows = [
        ("rows", names, classes.rows, "records in the table"),
        ("classes", names, len(classes.sizes), "combinations of the quasi-identifiers that occur"),
        ("k", names, classes.k, "k-anonymity: records in the smallest class"),
        ("uniques", names, classes.uniques, "records that are alone in their class"),
        (f"below {k}", names, classes.below(k), f"records in classes of fewer than {k}"),
        ("risk_highest", names, 1.0 / classes.k, "chance of picking the right row of a person in the smallest class"),
        ("risk_average", names, len(classes.sizes) / classes.rows, "the same chance, averaged over all records"),
    ]
    for name, one in classes.diversity.items():
        rows += [
            ("l", name, int(one.distinct.min()), "l-diversity: least number of different values in a class"),
            ("l_entropy", name, float(one.entropy.min()), "entropy l-diversity: least effective number of values"),
            ("top_share", name, float(one.top.max()), "largest share of one value in a class"),
            ("exposed", name, classes.exposed(name), "records in classes where all have the same value"),
        ]
    frame = pd.DataFrame(rows, columns=["measure", "column", "value", "meaning"])
    frame.insert(0, "table", table)
    return frame.astype({"value": float})

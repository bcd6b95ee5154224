"""The data behind a query: numbers with public bounds, checked once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from scipy.special import ndtri

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.registry import value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

MOST_RECORDS = 10**7
EXAMPLE_RECORDS = 1000
OTHER = "other"  # the bin of answers that were not declared
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Records with public bounds.

    Parameters
    ----------
    values : ndarray
        One number per record, or a row of d numbers per record; finite and within the bounds. Kept as a read-only
        float64 array of shape (n,) or (n, d).
    lower, upper : ndarray
        Bounds known before the data are seen, one number or one per column; lower < upper. Kept as arrays of
        shape (d,). They are part of the mechanism (they fix the sensitivity) and must not be computed from the data.
    name : str, default "data"
        What the data are, for titles and sentences.
    categories : tuple of str, default ()
        For categorical data the names of the values 0, 1, ..., m - 1, declared before the data are seen; empty
        for numbers.
    original : ndarray, optional
        The records as they came, where some lie outside the bounds: `values` are these moved to the nearer bound,
        or these without those outside. The mechanism sees `values` only; a true answer is that of `raw`, the original
        records. None: the values themselves.
    """

    values: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    name: str = "data"
    categories: tuple[str, ...] = ()
    original: NDArray[np.float64] | None = None
    _cache: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the values against the bounds and freeze the arrays."""
        values = _records(self.values)
        lower, upper = _bounds(self.lower, self.upper, 1 if values.ndim == 1 else values.shape[1])
        outside = _outside(values, lower, upper)
        if outside:
            msg = f"values must lie within [{_bound_text(lower)}, {_bound_text(upper)}]; {outside} of {len(values)} records do not."
            raise DomainError(msg)
        if self.categories:
            _check_categories(values, self.categories)
        arrays = {"values": values, "lower": lower, "upper": upper}
        if self.original is not None:
            arrays["original"] = _original(self.original, values, lower, upper)
        for name, array in arrays.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def clipped(cls, values: Any, lower: Any, upper: Any, name: str = "data") -> tuple[Dataset, int]:
        """Return the data moved into the bounds, and how many records had to be moved.

        The number is for the message to the owner of the data; it depends on the data and must not be published.
        """
        array = _records(values)
        low, high = _bounds(lower, upper, 1 if array.ndim == 1 else array.shape[1])
        moved = np.clip(array, *_aligned(array, low, high))
        outside = _outside(array, low, high)
        return (cls(moved, low, high, name, original=array) if outside else cls(moved, low, high, name)), outside

    def within(self, lower: Any, upper: Any) -> Dataset:
        """Return the same records with other public bounds: those outside are moved, or left out if they were before."""
        if self.categories:
            msg = f"Answers from a list have no bounds, got {value_text(lower)} and {value_text(upper)}."
            raise DomainError(msg)
        if len(self.raw) == self.n:
            return Dataset.clipped(self.raw, lower, upper, self.name)[0]
        inside = (self.raw >= lower) & (self.raw <= upper)
        return Dataset(self.raw[inside], lower, upper, self.name, original=self.raw)

    def in_order(self) -> Dataset:
        """Return the records of one column in ascending order, so that they need not be sorted for every other bound."""
        raw = self.raw_ordered
        if len(raw) == self.n:
            return Dataset.clipped(raw, self.lower, self.upper, self.name)[0]
        return Dataset(self.ordered, self.lower, self.upper, self.name, original=raw)

    def first(self, n: int) -> Dataset:
        """Return the first n records, with what lies outside the bounds between them."""
        if n >= self.n:
            return self
        if self.original is None:
            return Dataset(self.values[:n], self.lower, self.upper, self.name, self.categories)
        last = n
        if len(self.raw) != self.n:
            low, high = _aligned(self.raw, self.lower, self.upper)
            last = int(np.flatnonzero((self.raw >= low) & (self.raw <= high))[n - 1]) + 1
        return Dataset(self.values[:n], self.lower, self.upper, self.name, self.categories, self.raw[:last])

    def unclipped(self) -> Dataset:
        """Return the values alone, as if no record lay outside the bounds: what is left is the noise."""
        if not self.moved:
            return self
        return self.cached(
            "unclipped", lambda: Dataset(self.values, self.lower, self.upper, self.name, self.categories)
        )

    def check_numbers(self, query: str) -> None:
        """Refuse text where a query, such as "a mean", is about numbers."""
        if self.categories:
            msg = f"{query} is of numbers; {value_text(self.name)} holds answers such as {value_text(self.categories[0])}: choose a column of numbers."
            raise DomainError(msg)

    @classmethod
    def coded(cls, codes: Any, categories: Sequence[str], name: str = "data") -> Dataset:
        """Return categorical data: `codes` are 0, ..., m - 1, the places of the answers among `categories`."""
        names = tuple(categories)
        if len(names) < 2:
            msg = f"categories must be at least two names, got {value_text(names)}."
            raise DomainError(msg)
        return cls(codes, np.array(0.0), np.array(len(names) - 1.0), name, names)

    @classmethod
    def example(cls, n: int = EXAMPLE_RECORDS, d: int = 1) -> Dataset:
        """Return n made-up ages between 0 and 100 (the same ones each time), or n rows of d of them."""
        if n < 1 or d < 1 or n * d > MOST_RECORDS:
            msg = f"n and d must be integers from 1 with n d at most {MOST_RECORDS}, got n = {n!r}, d = {d!r}."
            raise DomainError(msg)
        ages = np.clip(np.rint(42.0 + 18.0 * ndtri((np.arange(n) + 0.5) / n)), 0.0, 100.0)
        if d == 1:
            return cls(ages, np.array(0.0), np.array(100.0), "made-up ages")
        # the records in another order for every column
        orders = [np.argsort((np.arange(n) * (0.6180339887498949 + 0.1 * j)) % 1.0, kind="stable") for j in range(d)]
        return cls(np.stack([ages[o] for o in orders], axis=1), np.zeros(d), np.full(d, 100.0), "made-up ages")

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` computes from these data, computed once; it is forgotten together with the data."""
        if key not in self._cache:
            self._cache[key] = make()
        return cast("T", self._cache[key])

    @property
    def n(self) -> int:
        """How many records the mechanism sees."""
        return len(self.values)

    @property
    def moved(self) -> int:
        """How many records lie outside the bounds, and were moved to them or left out; for the owner of the data."""
        return self.cached("moved", lambda: 0 if self.original is None else _outside(self.raw, self.lower, self.upper))

    @property
    def raw(self) -> NDArray[np.float64]:
        """The records as they came."""
        return self.values if self.original is None else self.original

    @property
    def raw_table(self) -> NDArray[np.float64]:
        """The records as they came, as rows of d columns."""
        return self.raw.reshape(len(self.raw), self.d)

    @property
    def raw_column(self) -> NDArray[np.float64]:
        """The records of data with one column as they came; several columns are refused."""
        self._one(self.lower)
        return self.raw.reshape(len(self.raw))

    @property
    def ordered(self) -> NDArray[np.float64]:
        """The values of one column in ascending order."""
        return self.cached("ordered", lambda: _ascending(self.column))

    @property
    def raw_ordered(self) -> NDArray[np.float64]:
        """The records of one column as they came, in ascending order."""
        return self.ordered if self.original is None else self.cached("raw", lambda: _ascending(self.raw_column))

    @property
    def d(self) -> int:
        """How many columns there are."""
        return 1 if self.values.ndim == 1 else self.values.shape[1]

    @property
    def table(self) -> NDArray[np.float64]:
        """The values as n rows of d columns."""
        return self.values.reshape(self.n, self.d)

    @property
    def column(self) -> NDArray[np.float64]:
        """The values of data with one column; several columns are refused."""
        if self.d != 1:
            msg = f"This query takes one column, got data with {self.d}."
            raise DomainError(msg)
        return self.values.reshape(self.n)

    @property
    def low(self) -> float:
        """Lower bound of data with one column."""
        return self._one(self.lower)

    @property
    def high(self) -> float:
        """Upper bound of data with one column."""
        return self._one(self.upper)

    def _one(self, bound: NDArray[np.float64]) -> float:
        if self.d != 1:
            msg = f"This query takes one column, got data with {self.d}."
            raise DomainError(msg)
        return float(bound[0])


def _records(values: Any) -> NDArray[np.float64]:
    """Return a fresh float64 array of shape (n,) or (n, d), finite, n >= 1."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"values must be numbers, one per record or one row per record, got {value_text(values)}."
        raise DomainError(msg) from None
    if array.ndim not in (1, 2) or array.size == 0:
        msg = f"values must be at least one record in one or two dimensions, got an array of shape {array.shape}."
        raise DomainError(msg)
    bad = int(np.count_nonzero(~np.isfinite(array)))
    if bad:
        msg = f"values must be finite numbers; {bad} of {array.size} are not."
        raise DomainError(msg)
    return array


def _bounds(lower: Any, upper: Any, d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds, one per column; lower < upper."""
    pair = []
    for name, bound in (("lower", lower), ("upper", upper)):
        try:
            array = np.array(np.broadcast_to(np.asarray(bound, dtype=np.float64), (d,)))
        except (TypeError, ValueError):
            msg = f"{name} must be one number, or one for each of the {d} columns, got {value_text(bound)}."
            raise DomainError(msg) from None
        if not np.isfinite(array).all():
            msg = f"{name} must be finite, got {value_text(bound)}."
            raise DomainError(msg)
        pair.append(array)
    if not (pair[0] < pair[1]).all():
        msg = f"lower must be below upper, got {_bound_text(pair[0])} and {_bound_text(pair[1])}."
        raise DomainError(msg)
    return pair[0], pair[1]


def _original(
    records: Any, values: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the records as they came; the values must be these clipped, or these within the bounds."""
    array = _records(records)
    low, high = _aligned(array, lower, upper)
    inside = (array >= low) & (array <= high)
    expected = (
        np.clip(array, low, high) if len(array) == len(values) else array[inside if inside.ndim == 1 else inside.all(1)]
    )
    if not np.array_equal(expected, values):
        msg = (
            f"values must be the {len(array)} original records moved to the bounds, or those of them within the bounds."
        )
        raise DomainError(msg)
    return array


def _ascending(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values if (values[1:] >= values[:-1]).all() else np.sort(values)


def _aligned(values: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Any:
    """Return the bounds in the shape in which they compare with the values."""
    return (lower[0], upper[0]) if values.ndim == 1 else (lower, upper)


def _outside(values: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> int:
    """Return how many records lie outside the bounds in some column."""
    low, high = _aligned(values, lower, upper)
    out = (values < low) | (values > high)
    return int(np.count_nonzero(out if out.ndim == 1 else out.any(axis=1)))


def _check_categories(values: NDArray[np.float64], categories: tuple[str, ...]) -> None:
    if values.ndim != 1 or (values != np.floor(values)).any() or values.min() < 0 or values.max() > len(categories) - 1:
        msg = f"Categorical values must be integers from 0 to {len(categories) - 1}, one per record."
        raise DomainError(msg)


def _bound_text(bound: NDArray[np.float64]) -> str:
    return ", ".join(nearest(x) for x in bound[:3]) + (", ..." if len(bound) > 3 else "")

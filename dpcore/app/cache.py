"""Finished results as bytes, with their true size and one limit for the whole process; and columns of visitors' tables.

A result is packed (`pack`) before it is stored, so its size in the cache is its true size: no regions with their curves,
no errors with their stack frames, nothing that one visitor could change for another. Only what is read from a visitor's
own table, which no other visitor sees, is not packed: a million rows would take longer to unpack than to use.
"""

from __future__ import annotations

import itertools
import os
import pickle
import threading
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable

    from dpcore.core.errors import DpcoreError

MOST_BYTES: Final = 64_000_000
"""Bytes that all caches of the process may hold together."""

LARGEST: Final = 8_000_000
"""Maximum bytes of one result; a larger one is computed again each time."""

MOST_READ: Final = 256_000_000
"""Bytes that the columns of all visitors' tables may take together."""

_TEXT: Final = 80  # bytes of a short text and its entry in a list


class Cache:
    """The latest results by key; the oldest are dropped first.

    Parameters
    ----------
    most : int, default MOST_BYTES
        Bytes that this cache may hold.
    """

    bound: ClassVar[int] = MOST_BYTES  # of all caches of this class together
    largest: ClassVar[int] = LARGEST
    _all: ClassVar[weakref.WeakSet[Any]] = weakref.WeakSet()
    _lock: ClassVar = threading.Lock()  # shared by all caches, because they share one limit

    _numbers: ClassVar = itertools.count()

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most = most
        self.number = next(Cache._numbers)
        self.entries: OrderedDict[Hashable, Any] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        self.weight = self.hits = 0
        with Cache._lock:
            self._all.add(self)

    def get(self, key: Hashable) -> Any:
        """Return the packed result of a key, or None."""
        with Cache._lock:
            packed = self.entries.get(key)
            if packed is not None:
                self.entries.move_to_end(key)
                self.hits += 1
            return packed

    def put(self, key: Hashable, packed: Any) -> None:
        """Store a packed result, dropping the oldest ones to make room."""
        size = self.size(packed)
        if size > min(self.largest, self.most):
            return
        with Cache._lock:
            self._let_go(key)
            self.entries[key], self._sizes[key] = packed, size
            self.weight += size
            while self.weight > self.most:  # an entry less each round
                self._let_go(next(iter(self.entries)))
            self._fit(self.bound)

    def size(self, packed: Any) -> int:
        """Return the bytes of an entry."""
        return len(packed)

    def _let_go(self, key: Hashable) -> None:
        self.entries.pop(key, None)
        self.weight -= self._sizes.pop(key, 0)

    @classmethod
    def _fit(cls, most: int) -> None:
        """Drop the oldest results of the largest caches until all together hold at most `most` bytes."""
        while cls._total() > most:  # an entry less each round
            heaviest = max(cls._all, key=lambda cache: cache.weight)
            heaviest._let_go(next(iter(heaviest.entries)))

    @classmethod
    def shrink(cls, most: int) -> None:
        """Keep at most `most` bytes of the latest results in all caches together."""
        with Cache._lock:
            cls._fit(most)

    @classmethod
    def _total(cls) -> int:
        return sum(cache.weight for cache in cls._all)

    @classmethod
    def numbered(cls, number: int) -> Cache | None:
        """Return the cache with this number, if it still exists; a worker uses the same numbers."""
        with Cache._lock:
            return next((cache for cache in cls._all if cache.number == number), None)

    @classmethod
    def unlock(cls) -> None:
        """Give a forked process its own lock: the thread that held the old one may not exist there."""
        cls._lock = threading.Lock()

    @classmethod
    def total(cls) -> int:
        """Return the number of bytes in all caches of the process."""
        with Cache._lock:
            return cls._total()


class TableCache(Cache):
    """What was read from a visitor's table, unpacked."""

    bound, largest = MOST_READ, MOST_READ // 2
    _all: ClassVar[weakref.WeakSet[Any]] = weakref.WeakSet()

    def __init__(self) -> None:
        super().__init__(self.largest)

    def size(self, packed: Any) -> int:
        """Return roughly how many bytes the arrays, texts and files in an object take, each counted once."""
        return _size(packed, set())


def _size(value: Any, seen: set[int]) -> int:
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, (np.ndarray, bytes)):
        return value.nbytes if isinstance(value, np.ndarray) else len(value)
    if isinstance(value, dict):
        return sum(_size(one, seen) for one in value.values())
    if isinstance(value, (list, tuple)):
        return _TEXT * len(value) + sum(_size(one, seen) for one in value if not isinstance(one, (str, int, float)))
    return _size(vars(value), seen) if hasattr(value, "__dict__") and not isinstance(value, type) else _TEXT


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=Cache.unlock)


def pack(result: object) -> bytes | None:
    """Return a result as bytes, or None if it cannot be packed, such as a region built from a function."""
    try:
        return pickle.dumps(result, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


def pack_error(error: DpcoreError) -> bytes:
    """Return an error as bytes: its class and message, without stack frames."""
    # some libraries make pickle write tracebacks: a stored error has none, and no cause
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return pickle.dumps(error, protocol=pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> object:
    """Return an object packed by this process; a packed error is returned, not raised."""
    return pickle.loads(packed)

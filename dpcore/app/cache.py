"""Finished results as bytes, with a true size and one limit for the whole process.

A result is packed (`pack`) before it is stored, so its size in the cache is its true size: no regions with their curves,
no errors with their stack frames, nothing that one visitor could change for another.
"""

from __future__ import annotations

import itertools
import os
import pickle
import threading
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Hashable

    from dpcore.core.errors import DpcoreError

MOST_BYTES: Final = 64_000_000
"""Bytes that all caches of the process may hold together."""

LARGEST: Final = 8_000_000
"""Maximum bytes of one result; a larger one is computed again each time."""


class Cache:
    """The latest results by key; the oldest are dropped first.

    Parameters
    ----------
    most : int, default MOST_BYTES
        Bytes that this cache may hold.
    """

    _all: ClassVar[weakref.WeakSet[Cache]] = weakref.WeakSet()
    _lock: ClassVar = threading.Lock()  # shared by all caches, because they share one limit

    _numbers: ClassVar = itertools.count()

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most = most
        self.number = next(Cache._numbers)
        self.entries: OrderedDict[Hashable, bytes] = OrderedDict()
        self.weight = 0
        self.hits = 0
        with Cache._lock:
            Cache._all.add(self)

    def get(self, key: Hashable) -> bytes | None:
        """Return the packed result of a key, or None."""
        with Cache._lock:
            packed = self.entries.get(key)
            if packed is not None:
                self.entries.move_to_end(key)
                self.hits += 1
            return packed

    def put(self, key: Hashable, packed: bytes) -> None:
        """Store a packed result, dropping the oldest ones to make room."""
        if len(packed) > min(LARGEST, self.most):
            return
        with Cache._lock:
            self._let_go(key)
            self.entries[key] = packed
            self.weight += len(packed)
            while self.weight > self.most:
                self._let_go(next(iter(self.entries)))
            Cache._fit(MOST_BYTES)

    def _let_go(self, key: Hashable) -> None:
        self.weight -= len(self.entries.pop(key, b""))

    @classmethod
    def _fit(cls, most: int) -> None:
        """Drop the oldest results of the largest caches until all together hold at most `most` bytes."""
        while cls._total() > most:
            heaviest = max(cls._all, key=lambda cache: cache.weight)
            heaviest._let_go(next(iter(heaviest.entries)))

    @classmethod
    def shrink(cls, most: int) -> None:
        """Keep at most `most` bytes of the latest results in all caches together."""
        with cls._lock:
            cls._fit(most)

    @classmethod
    def _total(cls) -> int:
        return sum(cache.weight for cache in cls._all)

    @classmethod
    def numbered(cls, number: int) -> Cache | None:
        """Return the cache with a number, if it still exists; a worker uses the same numbers."""
        with cls._lock:
            return next((cache for cache in cls._all if cache.number == number), None)

    @classmethod
    def unlock(cls) -> None:
        """Give a forked process its own lock: the thread that held the old one may not exist there."""
        cls._lock = threading.Lock()

    @classmethod
    def total(cls) -> int:
        """Return the number of bytes in all caches of the process."""
        with cls._lock:
            return cls._total()


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
    # some libraries teach pickle to write tracebacks: an error that is kept has none, nor what it came from
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return pickle.dumps(error, protocol=pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> object:
    """Return an object packed by this process; a packed error is returned, not raised."""
    return pickle.loads(packed)

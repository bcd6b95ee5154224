"""Finished results, kept as bytes: weighed truly, bounded for the whole process, and never alive.

A result is packed (`pack`) before it is kept, so that what the cache holds is what it weighs: no region with its curves,
no error with the frames it came through, nothing that one visitor could change under another.
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
"""Bytes that all caches of the process hold together."""

LARGEST: Final = 8_000_000
"""Bytes of one result; a larger one is made again when it is asked for again."""


class Cache:
    """The latest results by what was asked, the oldest let go first.

    Parameters
    ----------
    most : bytes that this cache may hold by itself.
    """

    _all: ClassVar[weakref.WeakSet[Cache]] = weakref.WeakSet()
    _lock: ClassVar = threading.Lock()  # one for all caches: they share one bound

    _numbers: ClassVar = itertools.count()

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most = most
        self.number = next(Cache._numbers)
        self.kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self.weight = 0
        self.hits = 0
        with Cache._lock:
            Cache._all.add(self)

    def get(self, key: Hashable) -> bytes | None:
        """Return what was kept under a key; None if nothing is."""
        with Cache._lock:
            packed = self.kept.get(key)
            if packed is not None:
                self.kept.move_to_end(key)
                self.hits += 1
            return packed

    def put(self, key: Hashable, packed: bytes) -> None:
        """Keep a packed result, and let the oldest go until there is room for it."""
        if len(packed) > min(LARGEST, self.most):
            return
        with Cache._lock:
            self._let_go(key)
            self.kept[key] = packed
            self.weight += len(packed)
            while self.weight > self.most:
                self._let_go(next(iter(self.kept)))
            Cache._fit(MOST_BYTES)

    def _let_go(self, key: Hashable) -> None:
        self.weight -= len(self.kept.pop(key, b""))

    @classmethod
    def _fit(cls, most: int) -> None:
        """Let the oldest results of the heaviest caches go until all together hold no more than `most` bytes."""
        while cls._total() > most:
            heaviest = max(cls._all, key=lambda cache: cache.weight)
            heaviest._let_go(next(iter(heaviest.kept)))

    @classmethod
    def shrink(cls, most: int) -> None:
        """Keep no more than `most` bytes of the latest results of all caches together."""
        with cls._lock:
            cls._fit(most)

    @classmethod
    def _total(cls) -> int:
        return sum(cache.weight for cache in cls._all)

    @classmethod
    def numbered(cls, number: int) -> Cache | None:
        """Return the cache of a number, if there still is one; a worker knows it by the same number."""
        with cls._lock:
            return next((cache for cache in cls._all if cache.number == number), None)

    @classmethod
    def unlock(cls) -> None:
        """Give a copy of the process a lock of its own: the thread that held the old one may not exist in it."""
        cls._lock = threading.Lock()

    @classmethod
    def total(cls) -> int:
        """Return the bytes that all caches of the process hold."""
        with cls._lock:
            return cls._total()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=Cache.unlock)


def pack(result: object) -> bytes | None:
    """Return a result as bytes; None if it cannot be packed, such as a region made of a function."""
    try:
        return pickle.dumps(result, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


def pack_error(error: DpcoreError) -> bytes:
    """Return an error as bytes: its class and what it says; the frames it came through are never part of that."""
    return pickle.dumps(error, protocol=pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes) -> object:
    """Return what was packed by this process; a packed error is returned, not raised."""
    return pickle.loads(packed)

"""The cache of lattices between questions: bounded in bytes for the whole process, least recently used dropped first."""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

MOST_BYTES = 48_000_000
"""Enough for one fine lattice or a dozen coarse ones; more would only fill the memory of the app."""

_serials = count()


class LatticeStore:
    """Objects with their sizes, stored by the number of their owner and a name; safe to use from several threads.

    An entry is dropped with its owner, or when space is needed.

    Parameters
    ----------
    most : int, default MOST_BYTES
        Most bytes of all entries together; a larger object is not stored.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most = most
        self.size = 0
        # a finaliser may run in the middle of a call of the same thread
        self._lock = RLock()
        self._entries: OrderedDict[tuple[int, Hashable], tuple[object, int]] = OrderedDict()

    def owner(self, region: object) -> int:
        """Return a number that no other owner has or ever had; its entries disappear when `region` does."""
        number = next(_serials)
        weakref.finalize(region, self.forget, number).atexit = False
        return number

    def get(self, owner: int, name: Hashable) -> object | None:
        """Return the object under a name, or None."""
        key = owner, name
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def store(self, owner: int, name: Hashable, value: object, weight: int) -> None:
        """Store a value of `weight` bytes, in place of an earlier one of this name."""
        key = owner, name
        with self._lock:
            self._drop(key)
            if weight > self.most:
                return
            self._entries[key] = value, weight
            self.size += weight
            while self.size > self.most and self._entries:  # each round drops an entry
                self._drop(next(iter(self._entries)))

    def forget(self, owner: int) -> None:
        """Drop everything of an owner."""
        with self._lock:
            for key in [key for key in self._entries if key[0] == owner]:
                self._drop(key)

    def unlock(self) -> None:
        """Give a forked process its own lock: the thread that held the old one may not exist there."""
        self._lock = RLock()

    def _drop(self, key: tuple[int, Hashable]) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.size -= entry[1]


STORE = LatticeStore()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=STORE.unlock)

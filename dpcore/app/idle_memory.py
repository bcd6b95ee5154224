"""Collect garbage while pages run, and release memory to the system when the app has been idle for a while.

Results stay in the cache for the next visitor, and the C library keeps an arena of freed memory for each thread that
ever ran. Without this module a server would stay as large as it was in its busiest minute.
"""

from __future__ import annotations

import ctypes
import gc
import math
import sys
import threading
import time
from typing import Final

from dpcore.app.cache import Cache, TableCache

QUIET: Final = 150.0
"""Seconds without a page run before memory is released; Streamlit drops departed visitors after 120."""

KEPT: Final = 16_000_000
"""Bytes of the latest results that stay in the cache."""


EVERY: Final = 2.0
"""Seconds between garbage collections while pages run: with many visitors one takes over a tenth of a page's time."""

ARENAS: Final = 2
"""Arenas of the C library for all threads. By default there are eight for each core; on a busy machine every page run
may get another one, and each keeps the memory of its largest computation."""

_M_ARENA_MAX: Final = -8  # of malloc.h


class IdleTimer:
    """Waits until the app has been idle for some time, releases memory, and then sleeps until the next page run.

    Parameters
    ----------
    quiet : float, default QUIET
        Seconds without a page run.
    """

    def __init__(self, quiet: float = QUIET) -> None:
        self.quiet = quiet
        self.lock = threading.Lock()
        self.last = 0.0
        self.thread: threading.Thread | None = None

    def note(self) -> None:
        """Record a page run."""
        with self.lock:
            self.last = time.monotonic()
            if self.thread is None:
                self.thread = threading.Thread(target=self._wait, name="idle memory", daemon=True)
                self.thread.start()

    def _wait(self) -> None:
        while True:  # until nobody has come for a while; sleeps in between
            with self.lock:
                left = self.last + self.quiet - time.monotonic()
                if left <= 0:
                    self.thread = None
                    break
            time.sleep(left)
        give_back()


def give_back() -> None:
    """Keep only the latest results, and return free memory to the system."""
    Cache.shrink(KEPT)
    TableCache.shrink(KEPT)
    exclude_modules()
    _allocator("malloc_trim", 0)


def exclude_modules() -> None:
    """Collect garbage, and from now on exclude what is left, most of which belongs to modules.

    Other live objects, those of current visitors, are excluded with it. They are looked at again
    here; otherwise reference cycles would never be freed.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def share_arenas() -> bool:
    """Make all threads share a few arenas; return whether the C library supports it."""
    return _allocator("mallopt", _M_ARENA_MAX, ARENAS) == 1


def _allocator(name: str, *values: int) -> int:
    """Call a function of the GNU C library; return 0 on systems without it."""
    function = None if sys.platform == "win32" else getattr(ctypes.CDLL(None), name, None)
    return 0 if function is None else int(function(*values))


class Collector:
    """Collects garbage for all visitors together, and excludes modules from it.

    Streamlit would collect after every page run (`runner.postScriptGC`, switched off) and scan the objects of every
    visitor each time: with thirty visitors in a process, that is a third of its processor time. The objects of
    numpy, scipy and pandas live as long as the process; scanning all of them takes longer than drawing a page.

    Parameters
    ----------
    every : float, default EVERY
        Minimum number of seconds between two collections.
    """

    def __init__(self, every: float = EVERY) -> None:
        self.every = every
        self.modules = 0
        self.last = -math.inf

    def note(self) -> None:
        """Collect if it is time, and freeze all live objects if modules have been imported since the last call."""
        now, imported = time.monotonic(), len(sys.modules) > self.modules
        if now < self.last + self.every and not imported:
            return
        self.last = now
        if imported:
            self.modules = len(sys.modules)
            exclude_modules()
        else:
            gc.collect()


idle_timer: Final = IdleTimer()
collector: Final = Collector()
share_arenas()

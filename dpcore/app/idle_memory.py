"""Memory given back to the system when nobody has asked for anything for a while.

Results stay in the cache for the next visitor, and the system's own store of freed memory, one for each thread that ever
ran, is not given back by itself: a server would stay as large as it was in its busiest minute.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import time
from typing import Final

from dpcore.app.cache import Cache

QUIET: Final = 150.0
"""Seconds without a run of a page after which memory is given back; Streamlit forgets who left after 120."""

KEPT: Final = 16_000_000
"""Bytes of results, the latest ones, that are kept all the same."""


class IdleTimer:
    """Waits until nobody has asked for anything for some time, and gives memory back; then it rests until somebody does.

    Parameters
    ----------
    quiet : float, default QUIET
        Seconds without a run of a page.
    """

    def __init__(self, quiet: float = QUIET) -> None:
        self.quiet = quiet
        self.lock = threading.Lock()
        self.last = 0.0
        self.thread: threading.Thread | None = None

    def note(self) -> None:
        """Take notice of a run of a page."""
        with self.lock:
            self.last = time.monotonic()
            if self.thread is None:
                self.thread = threading.Thread(target=self._wait, name="idle memory", daemon=True)
                self.thread.start()

    def _wait(self) -> None:
        while True:
            with self.lock:
                left = self.last + self.quiet - time.monotonic()
                if left <= 0:
                    self.thread = None
                    break
            time.sleep(left)
        give_back()


def give_back() -> None:
    """Keep the latest results only, and give the system what is free."""
    Cache.shrink(KEPT)
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of the GNU C library
    if trim is not None:
        trim(0)


class ModuleFreezer:
    """Leaves modules out of garbage collection, which Streamlit starts after every run of a page.

    The objects of numpy, scipy and pandas live as long as the process; to look at all of them takes longer than to draw a
    page.
    """

    def __init__(self) -> None:
        self.modules = 0

    def note(self) -> None:
        """Freeze what is alive if modules have been imported since the last time."""
        if len(sys.modules) > self.modules:
            self.modules = len(sys.modules)
            gc.collect()
            gc.freeze()


idle_timer: Final = IdleTimer()
module_freezer: Final = ModuleFreezer()

"""The server's event loop: threads that send many small messages wake it once for several of them.

Streamlit hands each element of a page to the loop from the thread of the page's script, and asyncio writes to a pipe for
every one of them. On a page of eighty elements these system calls are a quarter of the processor time of a change.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Final

NAP: Final = 0.003
"""Seconds after a wake-up in which the loop needs no second one, because it looks for itself at the end. A page is drawn in 20 to
100 ms, and Streamlit itself collects messages for 10 ms before it sends them, so nobody sees the difference."""


class CollectingEventLoop(asyncio.SelectorEventLoop):
    """An event loop that other threads wake at most every `NAP` seconds.

    A thread first appends its callback and then wakes the loop, and the loop takes back the mark before it looks at its
    callbacks, so none is forgotten: either the thread sees no mark and wakes the loop, or the loop has yet to look.
    """

    _is_awake = False

    def _write_to_self(self) -> None:
        if not self._is_awake:
            self._is_awake = True
            super()._write_to_self()  # type: ignore[misc]  # of asyncio's own loops, not in its types

    def _read_from_self(self) -> None:
        super()._read_from_self()  # type: ignore[misc]  # of asyncio's own loops, not in its types
        if self._is_awake:
            self.call_later(NAP, self._doze)

    def _doze(self) -> None:
        self._is_awake = False


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a loop for the server; Windows has another kind, which stays as it is."""
    return asyncio.new_event_loop() if sys.platform == "win32" else CollectingEventLoop()

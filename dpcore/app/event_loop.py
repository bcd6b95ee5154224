"""The server's event loop: threads that send many small messages wake it once for several messages.

Streamlit passes each element of a page to the loop from the page's script thread, and asyncio writes to a pipe for
every one of them. On a page with eighty elements these system calls take a quarter of the processor time of a change.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Final

NAP: Final = 0.003
"""Seconds after a wake-up during which the loop needs no other, because it checks by itself at the end. A page takes 20
to 100 ms to draw, and Streamlit itself collects messages for 10 ms before it sends them, so nobody notices."""


class CollectingEventLoop(asyncio.SelectorEventLoop):
    """An event loop that other threads wake at most every `NAP` seconds.

    A thread first appends its callback and then wakes the loop, and the loop clears the mark before it looks at its
    callbacks, so none is missed: either the thread sees no mark and wakes the loop, or the loop has yet to look.
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
    """Return a loop for the server; on Windows, which has another kind of loop, the usual one."""
    return asyncio.new_event_loop() if sys.platform == "win32" else CollectingEventLoop()

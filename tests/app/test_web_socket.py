"""The server's websocket: what is ready together is written together, in order, and before the end."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from dpcore.app.web_socket import CollectingTransport

if TYPE_CHECKING:
    from collections.abc import Coroutine

_T = TypeVar("_T")


def run(visit: Coroutine[None, None, _T]) -> _T:
    """Run it in a thread of its own: a browser of another test may have a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, visit).result()


class _Line(asyncio.Transport):
    """A connection that remembers what was written."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed


def test_one_write_in_a_turn() -> None:
    """Messages of one turn of the loop leave in one write, those of the next turn in another."""

    async def visit() -> list[bytes]:
        line = _Line()
        collector = CollectingTransport(line, asyncio.get_running_loop())
        for part in (b"a", b"b", b"c"):
            collector.write(part)
        assert line.writes == []
        await asyncio.sleep(0)
        collector.write(b"d")
        await asyncio.sleep(0)
        return line.writes

    assert run(visit()) == [b"abc", b"d"]


def test_nothing_is_lost_at_the_end() -> None:
    """Closing writes first what has been collected, and nothing is written after it."""

    async def visit() -> _Line:
        line = _Line()
        collector = CollectingTransport(line, asyncio.get_running_loop())
        collector.write(b"last")
        collector.close()
        assert collector.is_closing()  # all else is the connection's own
        collector.write(b"late")
        await asyncio.sleep(0)
        return line

    line = run(visit())
    assert line.writes == [b"last"]
    assert line.is_closed

"""A class opens the app at once: ``python -m tests.benchmarks.load [VISITORS]``.

Every visitor opens a page and then changes a number of it every five seconds, to a value that nobody asked for. Printed are the seconds
from a change to the end of its run (half, 95 and 99 of 100), errors, processor time of server and visitors, and the memory of
the server with all its processes, minute by minute. The visitors share the machine with the server.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import time
from contextlib import suppress
from typing import Final

import numpy as np
from websockets.asyncio.client import connect

from tests.benchmarks.changes import CHANGES
from tests.benchmarks.visitors import PATIENCE, OpenPage, megabytes, processes, seconds, server

PORT: Final = 8795
PAUSE: Final = 5.0  # seconds from one change to the next, half a second more or less
ARRIVAL: Final = 20.0  # seconds in which all come
MOST_SIZE: Final = 2**26


class Tally:
    """What all visitors saw."""

    def __init__(self) -> None:
        self.first: list[float] = []
        self.changes: list[float] = []
        self.errors: list[str] = []

    def line(self, name: str, times: list[float]) -> str:
        """Return the times of one kind in words."""
        if not times:
            return f"{name}: none"
        half, most, rare = np.percentile(times, [50, 95, 99])
        return f"{name}: {len(times)}, median {half:.2f} s, 95 % {most:.2f} s, 99 % {rare:.2f} s, longest {max(times):.2f} s"


async def visit(address: str, number: int, ends: float, tally: Tally) -> None:
    """Open a page, and change a number of it until the time is over."""
    turn = random.Random(number)
    await asyncio.sleep(turn.uniform(0, ARRIVAL))
    name, key, text, start, step = CHANGES[number % len(CHANGES)]
    page = OpenPage(name)
    try:
        async with connect(
            f"ws://{address}/_stcore/stream",
            subprotocols=["streamlit"],  # type: ignore[list-item]  # a name of its own for str
            max_size=MOST_SIZE,
            open_timeout=PATIENCE,
            ping_interval=None,
        ) as socket:
            begun = time.monotonic()
            await socket.send(page.request())
            while not page.take(await socket.recv()):
                pass
            tally.first.append(time.monotonic() - begun)
            count = 0
            while time.monotonic() < ends:
                await asyncio.sleep(turn.uniform(PAUSE - 0.5, PAUSE + 0.5))
                count += 1
                value = round(start + step * (number + count) + 1e-5 * number, 6)
                begun = time.monotonic()
                await socket.send(page.change(key, value if text is None else text.format(value)))
                while not page.take(await asyncio.wait_for(socket.recv(), PATIENCE)):
                    pass
                tally.changes.append(time.monotonic() - begun)
                tally.errors += page.errors
    except (OSError, TimeoutError, ConnectionError, KeyError) as error:
        tally.errors.append(f"{type(error).__name__}: {error}")


async def watch(pid: int, ends: float, tally: Tally) -> float:
    """Print the memory now and then; return the most that was seen."""
    most, begun, told = 0.0, time.monotonic(), 0.0
    while time.monotonic() < ends:
        now = await asyncio.to_thread(megabytes, pid)
        most = max(most, now)
        if time.monotonic() - told > 30:
            told = time.monotonic()
            print(f"{told - begun:6.0f} s  {now:5.0f} MB  {len(tally.changes)} changes", flush=True)
        await asyncio.sleep(1.0)
    return most


async def load(address: str, pid: int, visitors: int, duration: float) -> None:
    """Let all visitors in, and print what they saw."""
    tally = Tally()
    ends = time.monotonic() + ARRIVAL + duration
    before = {one: seconds(one) for one in processes(pid)}
    begun, own = time.monotonic(), time.process_time()
    looking = asyncio.create_task(watch(pid, ends, tally))
    await asyncio.gather(*(visit(address, number, ends, tally) for number in range(visitors)))
    work = 0.0
    for one in processes(pid):
        with suppress(FileNotFoundError):
            work += seconds(one) - before.get(one, 0.0)
    passed = time.monotonic() - begun
    print(f"{visitors} visitors, {passed:.0f} s, {os.cpu_count()} cores; load of the machine {os.getloadavg()[0]:.1f}")
    print(tally.line("first pages", tally.first))
    print(tally.line("changes", tally.changes))
    print(
        f"processor time: server {work:.0f} s ({1000 * work / max(len(tally.changes), 1):.0f} ms a change, first pages included)"
    )
    print(f"                visitors {time.process_time() - own:.0f} s")
    print(f"memory of the server: at most {await looking:.0f} MB; errors: {len(tally.errors)} {tally.errors[:3]}")


def main() -> None:
    """Start a server, unless one is named, and visit it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("visitors", nargs="?", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--processes", type=int, default=3)
    chosen = parser.parse_args()
    with server(PORT, chosen.processes) as pid:
        asyncio.run(load(f"127.0.0.1:{PORT}", pid, chosen.visitors, 60 * chosen.minutes))


if __name__ == "__main__":
    main()

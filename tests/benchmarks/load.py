"""A class opens the app at once: ``python -m tests.benchmarks.load [VISITORS]``.

Every visitor opens a page and then changes a number of it every five seconds, to a value that nobody asked for. Printed are the seconds
from a change to the end of its run (half, 95 and 99 of 100), errors, processor time of app, nginx and visitors, how many cores other
programs took meanwhile, and the curve of the memory of the server with all its processes. The visitors share the machine with the
server: where app, nginx, visitors and others together come near the number of cores, changes wait for a core and the longest times
tell about the machine, not about the app. With ``--minutes 30`` it shows whether the memory grows.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import random
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from tests.benchmarks.changes import CHANGES
from tests.benchmarks.visitors import PATIENCE, OpenPage, megabytes, processes, seconds, server

PORT: Final = 8795
PAUSE: Final = 5.0  # seconds from one change to the next, half a second more or less
ARRIVAL: Final = 20.0  # seconds in which all come
LOOK: Final = 2.0  # seconds between two looks at the memory
LINES: Final = 30  # of the memory's curve
MOST_SIZE: Final = 2**26


class Tally:
    """What all visitors saw.

    Parameters
    ----------
    visitors : int
        How many will come.
    pid : int
        The server, with all that it started.
    """

    def __init__(self, visitors: int, pid: int) -> None:
        self.visitors, self.pid = visitors, pid
        self.first: list[float] = []
        self.changes: list[float] = []
        self.pages: dict[str, list[float]] = {}  # changes by page
        self.errors: list[str] = []
        self.begun = Costs(pid)
        self.gathered: tuple[int, Costs] | None = None  # changes and costs when the last one had seen a page

    def welcome(self, seconds: float) -> None:
        """Note the first page of a visitor."""
        self.first.append(seconds)
        if len(self.first) == self.visitors:
            self.gathered = len(self.changes), Costs(self.pid)

    def change(self, page: str, seconds: float) -> None:
        """Note a change on a page."""
        self.changes.append(seconds)
        self.pages.setdefault(page or "Start", []).append(seconds)

    def tell(self) -> None:
        """Print all."""
        print(line("first pages", self.first))
        print(line("changes", self.changes))
        for page, times in self.pages.items():
            print(line(f"  {page}", times))
        whole = Costs(self.pid)
        print(f"processor time, all: {whole.since(self.begun)}")
        if self.gathered is not None:
            count, before = self.gathered
            print(line("changes after all had come", self.changes[count:]))
            later = max(len(self.changes) - count, 1)
            print(f"processor time of one of them: {whole.since(before, later)}")


class Costs:
    """Processor time until now, in seconds: of the app's processes, of nginx, of the visitors, and of the whole machine."""

    def __init__(self, pid: int) -> None:
        self.app = self.nginx = 0.0
        for one in processes(pid):
            with suppress(OSError):
                if b"nginx" in Path(f"/proc/{one}/cmdline").read_bytes():
                    self.nginx += seconds(one)
                else:
                    self.app += seconds(one)
        self.visitors = time.process_time()
        self.machine = machine_seconds()
        self.when = time.monotonic()

    def since(self, earlier: Costs, changes: int = 0) -> str:
        """Return the time since then in words, of one change if their number is given."""
        parts = {name: getattr(self, name) - getattr(earlier, name) for name in ("app", "nginx", "visitors")}
        unit, scale = ("ms", 1000 / changes) if changes else ("s", 1.0)
        words = ", ".join(f"{name} {scale * value:.0f} {unit}" for name, value in parts.items())
        passed, ours = self.when - earlier.when, sum(parts.values())
        others = max(self.machine - earlier.machine - ours, 0.0) / passed
        return f"{words}; {ours / passed:.2f} of {os.cpu_count()} cores, others {others:.2f}"


def machine_seconds() -> float:
    """Return the processor time of all programs since the machine started, in seconds; waiting does not count."""
    user, nice, system, _, _, *interrupts = map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def line(name: str, times: list[float]) -> str:
    """Return the times of one kind in words."""
    if not times:
        return f"{name}: none"
    half, most, rare = np.percentile(times, [50, 95, 99])
    return (
        f"{name}: {len(times)}, median {half:.2f} s, 95 % {most:.2f} s, 99 % {rare:.2f} s, longest {max(times):.2f} s"
    )


async def visit(address: str, number: int, ends: float, tally: Tally) -> None:
    """Open a page, and change a number of it until the time is over."""
    turn = random.Random(number)
    await asyncio.sleep(turn.uniform(0, ARRIVAL))
    name, key, text, start, step, width = CHANGES[number % len(CHANGES)]
    page = OpenPage(name)
    try:
        begun = time.monotonic()
        async with connect(
            f"ws://{address}/_stcore/stream",
            subprotocols=["streamlit"],  # type: ignore[list-item]  # a name of its own for str
            max_size=MOST_SIZE,
            open_timeout=PATIENCE,
            ping_interval=None,
            compression=None,
        ) as socket:
            await socket.send(page.request())
            await _answer(socket, page)
            tally.welcome(time.monotonic() - begun)
            tally.errors += page.errors
            count = 0
            while time.monotonic() < ends:
                await asyncio.sleep(turn.uniform(PAUSE - 0.5, PAUSE + 0.5))
                count += 1
                value = round(start + (step * (number + count) + 1e-5 * number) % width, 6)
                begun = time.monotonic()
                await socket.send(page.change(key, value if text is None else text.format(value)))
                await _answer(socket, page)
                tally.change(name, time.monotonic() - begun)
                tally.errors += page.errors
    except (OSError, TimeoutError, WebSocketException, KeyError) as error:
        tally.errors.append(f"{type(error).__name__}: {error}")


async def _answer(socket: ClientConnection, page: OpenPage) -> None:
    """Take messages until a run has ended."""
    async with asyncio.timeout(PATIENCE):
        while not page.take(await socket.recv()):
            pass


async def watch(pid: int, ends: float, tally: Tally) -> list[tuple[float, float]]:
    """Print the memory now and then; return all that was seen: seconds and megabytes."""
    begun, told, curve = time.monotonic(), -math.inf, []
    every = max(15.0, (ends - begun) / LINES)
    while (now := time.monotonic()) < ends:
        curve.append((now - begun, await asyncio.to_thread(megabytes, pid)))
        if now - told > every:
            told = now
            print(f"{curve[-1][0]:6.0f} s  {curve[-1][1]:5.0f} MB  {len(tally.changes)} changes", flush=True)
        await asyncio.sleep(LOOK)
    return curve


async def load(address: str, pid: int, visitors: int, duration: float) -> None:
    """Let all visitors in, and print what they saw."""
    tally = Tally(visitors, pid)
    ends = time.monotonic() + ARRIVAL + duration
    looking = asyncio.create_task(watch(pid, ends, tally))
    await asyncio.gather(*(visit(address, number, ends, tally) for number in range(visitors)))
    print(f"{visitors} visitors, load of the machine {os.getloadavg()[0]:.1f}")
    tally.tell()
    times, sizes = np.array(await looking).T
    late = times > times[-1] / 2
    slope = 60 * np.polyfit(times[late], sizes[late], 1)[0]
    print(f"memory of the server: at most {sizes.max():.0f} MB, in the second half {slope:+.2f} MB a minute")
    print(f"errors: {len(tally.errors)} {tally.errors[:3]}")


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

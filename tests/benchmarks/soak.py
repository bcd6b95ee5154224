"""Memory of the app while visitors change numbers and after they left: ``python -m tests.benchmarks.soak [RERUNS]``.

Five visitors take turns on Privacy regions, Composition and Subsampling; each rerun asks for numbers that were never asked
before, many for a region whose lattices take tens of megabytes. With ``--greedy`` one of them asks for all that can be had
at once. Printed are the megabytes of the server and of its workers: now, and at most since the line before; and each
error that a page shows, with its page and what was typed into which field.
"""

from __future__ import annotations

import argparse
import threading
import time
from typing import Final

from dpcore.regions.tradeoff import shorten
from tests.benchmarks.visitors import Visitor, megabytes, server

PORT: Final = 8791
LINES: Final = 20  # of the curve
EVERY: Final = 0.25  # seconds between two looks
# page, field, text, and the number that moves
VISITS: Final = (
    ("Privacy_regions", "regions", "subsample(laplace({0}), 0.1)^100", 1.0),
    ("Composition", "mechanism", "laplace({0})", 0.1),
    ("Subsampling", "sub_base", "gaussian({0})", 1.0),
    ("Privacy_regions", "regions", "dp({0});gdp({0});laplace({0})^20", 0.5),
    ("Private_training", "train_sigma", "{0}", 1.0),
)
GREEDY: Final = (
    ";".join(f"subsample(laplace({{0}}{digit}), 0.1)^100" for digit in range(1, 9)),
    ";".join(f"poisson_gaussian({{0}}{digit}, 0.01)^1000 * laplace({{0}}{digit})" for digit in range(1, 9)),
    ";".join(f"(subsample(laplace({{0}}{digit}), 0.3) * normal_laplace({{0}}, 0.5))^50" for digit in range(1, 9)),
    ";".join(f"pmf([{', '.join(['0.0001'] * 9999)}, 0.0001], [{', '.join(['0.0001'] * 10000)}])^{{0}}" for _ in "ab"),
)


class Watch(threading.Thread):
    """Looks at the memory of a process several times a second."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.begun = time.monotonic()
        self.now = self.most = self.peak = megabytes(pid)
        self.start()

    def run(self) -> None:
        """Look until the program ends."""
        while True:
            self.now = megabytes(self.pid)
            self.most, self.peak = max(self.most, self.now), max(self.peak, self.now)
            time.sleep(EVERY)

    def tell(self, words: str) -> None:
        """Print what there is, and the most since it was last told."""
        most, self.most = self.most, self.now
        seconds = time.monotonic() - self.begun
        print(f"{seconds:6.0f} s  {self.now:5.0f} MB  at most {most:5.0f} MB  {words}", flush=True)


def errors(visitor: Visitor, asked: str) -> int:
    """Wait until the page is drawn; print the errors that it shows, and return 1 if there are any."""
    wrong = visitor.shown()
    for text in wrong:
        print(f"          {visitor.page}: {asked}: {' '.join(text.split())}", flush=True)
    return int(bool(wrong))


def soak(reruns: int, minutes: float, *, greedy: bool, port: int) -> None:
    """Start a server, let the visitors in and out, and print the curve."""
    with server(port) as pid:
        watch = Watch(pid)
        watch.tell("nobody was there yet")
        address = f"127.0.0.1:{port}"
        visitors = [Visitor(address, page) for page, *_ in VISITS]
        failed = sum(errors(visitor, "first page") for visitor in visitors)
        watch.tell("every visitor has seen the page")
        for number in range(reruns):
            visitor = number % len(VISITS)
            _, field, text, start = VISITS[visitor]
            if greedy and visitor == 0:
                text = GREEDY[number // len(VISITS) % len(GREEDY)]
            text = text.format(round(start + 0.0007 * (number + 1), 6))
            visitors[visitor].put(field, text)
            wrong = errors(visitors[visitor], f"{field} = {shorten(text, 200)}")
            failed += wrong and not (greedy and visitor == 0)
            if (number + 1) * LINES // reruns > number * LINES // reruns:
                watch.tell(f"{number + 1} reruns")
        print(f"peak {watch.peak:.0f} MB, {failed} of {reruns} runs with an error", flush=True)
        for visitor in visitors:
            visitor.leave()
        for minute in range(round(minutes)):
            time.sleep(60.0)
            watch.tell(f"{minute + 1} min after they left")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reruns", nargs="?", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to look after the visitors left (10)")
    parser.add_argument("--greedy", action="store_true", help="one visitor asks for all that can be had")
    parser.add_argument("--port", type=int, default=PORT, help=f"where the server listens ({PORT})")
    chosen = parser.parse_args()
    soak(chosen.reruns, chosen.minutes, greedy=chosen.greedy, port=chosen.port)

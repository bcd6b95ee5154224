"""Many inputs in processes of their own, watched: one that hangs is ended, one that dies or grows is seen."""

from __future__ import annotations

import logging
import multiprocessing
import resource
import time
from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from tests.fuzz.kinds import (
    ANSWERED,
    DIED,
    HUNG,
    LARGE,
    PROBLEMS,
    REFUSED,
    SLOW,
    Finding,
    Kind,
    Outcome,
    strict_warnings,
    tried,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

HANG: Final = 20.0
"""Seconds beyond its deadline after which an input is taken to hang; a busy machine is no hang."""

MOST_MEMORY: Final = 1_000_000_000
ALLOWED: Final = 3_000_000_000
"""Bytes that the system grants, so that a finding does not take the machine with it."""

TELL: Final = 0.5  # seconds between two reports of a process
OFTEN: Final = 20
"""Inputs after which the memory is looked at, and after each one that took long."""

DRAWING, ASKING, PAUSE = 0.0, 1.0, 2.0
_spawn = multiprocessing.get_context("spawn")


@dataclass
class Report:
    """What came of the inputs of one kind."""

    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    memory: int = 0
    seconds: float = 0.0

    @property
    def inputs(self) -> int:
        """How many were tried."""
        return self.outcomes.total()

    @property
    def problems(self) -> int:
        """How many of them something went wrong on."""
        return sum(self.outcomes[name] for name in PROBLEMS)

    def add(self, other: Report) -> None:
        """Add what another process reports."""
        self.outcomes += other.outcomes
        self.findings += other.findings
        self.memory = max(self.memory, other.memory)


def kind_of(module: str, name: str) -> Kind:
    """Return a kind by the module that lists it, since functions do not travel between processes."""
    return cast("Kind", import_module(module).KINDS[name])


def peak() -> int:
    """Return the most bytes that this process or one it started has held at once."""
    started = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    status = Path("/proc/self/status")
    if not status.exists():
        return max(started, 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    # a process begins with the peak of the one that started it, as getrusage counts; its own does not
    own = next(row for row in status.read_text().splitlines() if row.startswith("VmHWM:"))
    return max(started, 1024 * int(own.split()[1]))


def work(module: str, name: str, seed: int, indices: list[int], pipe: Connection, beat: Any) -> None:
    """Try inputs, and report now and then how far it is; `beat` says at once what is being done, and since when."""
    resource.setrlimit(resource.RLIMIT_DATA, (ALLOWED, resource.RLIM_INFINITY))
    strict_warnings()
    logging.disable()  # a traceback is a finding, and printed there
    kind = kind_of(module, name)
    report, told = Report(), time.monotonic()

    def begin(index: int, state: float) -> None:
        beat[:] = [index, time.monotonic(), state]

    for number, index in enumerate(indices, start=1):
        begin(index, DRAWING)
        given = kind.draw(seed, index)
        begin(index, ASKING)
        outcome = tried(kind, given)
        before = report.memory
        if number % OFTEN == 0 or time.monotonic() - beat[1] > TELL / 10 or number == len(indices):
            report.memory = peak()
        if outcome.name in (ANSWERED, REFUSED, SLOW) and before <= MOST_MEMORY < report.memory:
            outcome = Outcome(LARGE, f"The process has taken {report.memory / 1e6:.0f} MB.")
        report.outcomes[outcome.name] += 1
        if outcome.name in PROBLEMS:
            report.findings.append(Finding(name, repr(given), outcome))
        if time.monotonic() - told > TELL or number == len(indices):
            begin(index, PAUSE)
            pipe.send((number, report))
            report, told = Report(memory=report.memory), time.monotonic()
    pipe.close()


class Worker:
    """A process that tries some inputs of a kind, and who watches it."""

    def __init__(self, kind: Kind, seed: int, indices: list[int]) -> None:
        self.kind, self.seed, self.indices = kind, seed, indices
        self.start()

    def start(self) -> None:
        """Start the process with what is left to be tried."""
        self.done = 0
        self.beat = _spawn.Array("d", [-1.0, time.monotonic(), PAUSE])
        self.pipe, theirs = _spawn.Pipe(duplex=False)
        given = (self.kind.draw.__module__, self.kind.name, self.seed, self.indices, theirs, self.beat)
        self.process: SpawnProcess = _spawn.Process(target=work, args=given, daemon=False)
        self.process.start()
        theirs.close()

    def watch(self, report: Report) -> bool:
        """Take the reports that have come, and look after the process; whether anything is left to do."""
        try:
            while self.pipe.poll():
                self.done, part = self.pipe.recv()
                report.add(part)
        except EOFError:
            if self.done == len(self.indices):
                self.end()
                return False
            self.go_on(report, Outcome(DIED, f"The process ended with {self.ended()}."))
            return bool(self.indices)
        _, since, state = self.beat[:]
        waits = time.monotonic() - since
        if state != PAUSE and waits > self.kind.deadline + self.kind.late + HANG:
            words = "answering" if state == ASKING else "drawing"
            self.end()
            self.go_on(report, Outcome(HUNG, f"It was still {words} after {waits:.0f} s and was ended."))
        return bool(self.indices)

    def go_on(self, report: Report, outcome: Outcome) -> None:
        """Report the input that ended the process, and try the others: those not reported yet once more."""
        index, _, state = self.beat[:]
        left = self.indices[self.done :]
        if state == PAUSE or int(index) not in left:
            index = left[0]
        given = (
            repr(self.kind.draw(self.seed, int(index)))
            if state == ASKING
            else f"# input {int(index)} of seed {self.seed}"
        )
        report.outcomes[outcome.name] += 1
        report.findings.append(Finding(self.kind.name, given, outcome))
        self.indices = [one for one in left if one != int(index)]
        if self.indices:
            self.start()

    def ended(self) -> str:
        """Wait for the end of the process, and name its exit code."""
        self.process.join(10.0)
        return f"exit code {self.process.exitcode}"

    def end(self) -> None:
        """End the process whatever it is doing."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run(
    kind: Kind, indices: list[int], seed: int, *, seconds: float, jobs: int, tell: Callable[[Report], None] = id
) -> Report:
    """Try inputs of a kind.

    Parameters
    ----------
    kind : one of ``KINDS`` of the module that draws its inputs.
    indices : which inputs.
    seconds : after which no more are tried.
    jobs : processes at the same time.
    tell : called several times a second with the report so far.
    """
    report, begun = Report(), time.monotonic()
    parts = [indices[job::jobs] for job in range(jobs)]
    workers = [Worker(kind, seed, part) for part in parts if part]
    try:
        while workers and time.monotonic() - begun < seconds:
            workers = [worker for worker in workers if worker.watch(report)]
            report.seconds = time.monotonic() - begun
            tell(report)
            time.sleep(0.05)
    finally:
        for worker in workers:
            worker.end()
    return report

"""The matrix of cliffs: every operation on every mechanism, composed once to 100 000 times.

Each cell is one question, epsilon at delta = 1e-5 at the default tolerance, in a copy of this process: its CPU time, its peak memory, and
the answer or the words of the refusal; a cell that takes more than five seconds is ended. `python -m tests.benchmarks.cliffs NAME ...` runs the rows whose expression holds one of
the names; without names all rows run.
"""

from __future__ import annotations

import math
import multiprocessing
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

from dpcore import DpcoreError, parse
from dpcore.curves import composition  # noqa: F401  loaded before the first measurement

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

COPIES = (1, 10, 1000, 100_000)
OPERATIONS = (
    "{}",
    "poisson({}, 0.01)",
    "subsample({}, 0.01)",
    "fixed_size({}, 0.01)",
    "group({}, 2)",
    "erase({}, 0.1)",
    "symmetric({})",
    "best_of({}, 10)",
    "shuffle({}, 1000)",
    'assume({}, "any")',
    "integer_vector({}, 2, 1)",
    "basic({})",
    "simplified({}, 1e-6)",
)
"""The mechanism itself, and every operation of the language on one region."""

SECONDS, MEMORY, LIMIT = 1.0, 300e6, 5


def expressions() -> list[str]:
    """Return the rows: one setting of every mechanism under every operation."""
    from tests.mechanisms.every import ONE

    return [operation.format(text) for text in ONE for operation in OPERATIONS]


def _answer(text: str, answers: Connection) -> None:
    """Send the measurement of one question; the system ends a process that takes more than the limit."""
    used = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used) + LIMIT, math.ceil(used) + LIMIT))
    try:
        lower, upper = parse(text).epsilon_bounds([1e-5])
        words, answered = f"{lower[0]:.8g} {upper[0]:.8g}", True
    except DpcoreError as error:
        words, answered = str(error), False
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    answers.send({"seconds": time.process_time() - used, "memory": memory, "words": words, "answered": answered})


def cell(text: str) -> dict[str, Any]:
    """Return the measurement of one question, asked in a copy of this process."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    worker = context.Process(target=_answer, args=(text, send))
    worker.start()
    send.close()
    try:
        row: dict[str, Any] = receive.recv()
    except EOFError:  # ended by the system, or by an error that is no refusal
        row = {"seconds": float(LIMIT), "memory": 0.0, "words": "no answer within the limit", "answered": False}
    worker.join()
    return row


def main() -> None:
    """Print the matrix, one line per expression, and the cells that miss the targets."""
    names = sys.argv[1:]
    rows = [text for text in expressions() if not names or any(name in text for name in names)]
    missed: list[str] = []
    total = 0
    for text in rows:
        entries = []
        for k in COPIES:
            composed = text if k == 1 else f"({text})^{k}"
            row = cell(composed)
            total += 1
            mark = "" if row["answered"] else "r"
            entries.append(f"{row['seconds']:.2f}{mark}")
            if row["seconds"] > SECONDS or row["memory"] > MEMORY:
                missed.append(f"{composed}: {row['seconds']:.1f} s, {row['memory'] / 1e6:.0f} MB, {row['words'][:90]}")
        print(f"{text:60s} {' '.join(entries)}", flush=True)
    print(
        f"{total - len(missed)} of {total} cells within {SECONDS:g} s and {MEMORY / 1e6:.0f} MB (r: refused). The others:"
    )
    print("\n".join(missed))


if __name__ == "__main__":
    main()

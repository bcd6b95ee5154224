"""The matrix of cliffs: every operation on every mechanism, composed once to 100 000 times.

Each cell is one question, epsilon at delta = 1e-5 at the default tolerance, in a process of its own: its CPU time, its peak memory, and
the answer or the words of the refusal. `python -m tests.benchmarks.cliffs NAME ...` runs the rows whose expression holds one of
the names; without names all rows run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

COPIES = (1, 10, 1000, 100_000)
OPERATIONS = (
    "{}",
    "poisson({}, 0.01)",
    "subsample({}, 0.01)",
    "fixed_size({}, 0.01)",
    "group({}, 2)",
    "erase({}, 0.1)",
    "symmetric({})",
)
SECONDS, MEMORY, LIMIT = 1.0, 300e6, 20.0

_ONE = """
import json, resource, sys, time
from dpcore import DpcoreError, parse
text = sys.argv[1]
start = time.process_time()
try:
    lower, upper = parse(text).epsilon_bounds([1e-5])
    words = f"{lower[0]:.8g} {upper[0]:.8g}"
    answered = True
except DpcoreError as error:
    words, answered = str(error), False
seconds = time.process_time() - start
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"seconds": seconds, "memory": memory, "words": words, "answered": answered}))
"""


def expressions() -> list[str]:
    """Return the rows: one setting of every mechanism under every operation."""
    from tests.mechanisms.every import ONE

    return [operation.format(text) for text in ONE for operation in OPERATIONS]


def cell(text: str) -> dict[str, Any]:
    """Return the measurement of one question."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _ONE, text], capture_output=True, text=True, timeout=10 * LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return {"seconds": 10 * LIMIT, "memory": 0.0, "words": "no answer", "answered": False}
    if done.returncode:
        return {"seconds": 0.0, "memory": 0.0, "words": done.stderr.strip().splitlines()[-1][:120], "answered": False}
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
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

"""Fuzz everything that a stranger may write: ``make fuzz``, or ``python -m tests.fuzz [KIND ...]``.

Each input is asked in a process of its own kind, with a deadline. Each finding is printed at once with its input, a line for
``tests/fuzz/corpus/KIND.txt``; a table at the end says what came of all. The exit code is 1 if there is any.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from tests.fuzz.fuzzers import KINDS
from tests.fuzz.kinds import ANSWERED, PROBLEMS, REFUSED, Finding
from tests.fuzz.watch import Report, run

COLUMNS = ("kind", "inputs", ANSWERED, REFUSED, *PROBLEMS, "peak MB", "seconds")


def main() -> int:
    """Fuzz the kinds asked for, print what was found, and return 1 if anything was."""
    chosen = _options()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core for each process
    reports: dict[str, Report] = {}
    for name in chosen.kinds or KINDS:
        count = KINDS[name].count if chosen.count is None else chosen.count
        indices = list(range(chosen.first, chosen.first + count))
        progress = Progress(name, count, chosen.findings)
        report = run(KINDS[name], indices, chosen.seed, seconds=chosen.seconds, jobs=chosen.jobs, tell=progress.tell)
        progress.end(report)
        reports[name] = report
    sys.stdout.write(_table(reports))
    return int(any(report.problems for report in reports.values()))


def _options() -> argparse.Namespace:
    kinds = "\n".join(f"  {kind.name:10} {kind.count:>7}  {kind.about}" for kind in KINDS.values())
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description=__doc__,
        epilog=f"kinds, and how many inputs each has by default:\n{kinds}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="what to fuzz (everything)")
    parser.add_argument("--count", type=int, help="inputs of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first input, to go on with a seed (0)")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws other inputs (1)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop each kind after so long")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at the same time (all cores)")
    parser.add_argument(
        "--findings", type=Path, metavar="FOLDER", help="write the inputs found there, a file for each kind"
    )
    chosen = parser.parse_args()
    if wrong := [name for name in chosen.kinds if name not in KINDS]:
        parser.error(f"there is no kind {wrong[0]!r}; there are {', '.join(KINDS)}")
    return chosen


class Progress:
    """The findings of a kind as soon as there are any, and on a terminal one line that says how far it is."""

    def __init__(self, name: str, count: int, folder: Path | None) -> None:
        self.name, self.count, self.folder, self.last, self.told = name, count, folder, 0.0, 0

    def tell(self, report: Report) -> None:
        """Print what is new, and how far it is at most once a second."""
        new = report.findings[self.told :]
        self.told += len(new)
        if new:
            self._clear()
            sys.stdout.write("".join(map(_words, new)))
            sys.stdout.flush()
        if new and self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / f"{self.name}.txt").open("a", encoding="utf-8") as file:
                file.writelines(f"{finding.given}\n" for finding in new)
        if sys.stderr.isatty() and time.monotonic() - self.last > 1.0:
            self.last = time.monotonic()
            words = f"{self.name}: {report.inputs} of {self.count}, {report.problems} findings"
            sys.stderr.write(f"\r{words:60}")

    def end(self, report: Report) -> None:
        """Print what has not been printed, the row of the table, and clear the line."""
        self.tell(report)
        self._clear()
        numbers = ", ".join(f"{number} {name}" for name, number in report.outcomes.items())
        sys.stdout.write(f"{self.name}: {numbers}; {report.seconds:.0f} s, {report.memory / 1e6:.0f} MB\n")
        sys.stdout.flush()

    def _clear(self) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r" + " " * 60 + "\r")


def _words(finding: Finding) -> str:
    return f"{finding.kind}: {finding.outcome.name}: {finding.outcome.words.rstrip()}\n    {finding.given}\n"


def _table(reports: dict[str, Report]) -> str:
    """Return the table of all kinds, with their sum."""
    whole = Report()
    rows = [COLUMNS]
    for name, report in reports.items():
        whole.add(report)
        whole.seconds += report.seconds
        rows.append(_row(name, report))
    rows.append(_row("all", whole))
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    return "".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        + "\n"
        for row in rows
    )


def _row(name: str, report: Report) -> tuple[str, ...]:
    numbers = [report.inputs, *(report.outcomes[column] for column in COLUMNS[2:-2])]
    return (name, *map(str, numbers), f"{report.memory / 1e6:.0f}", f"{report.seconds:.0f}")


if __name__ == "__main__":
    sys.exit(main())

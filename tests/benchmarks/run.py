"""Compare dpcore with its peers in one run and write ``RESULTS.md`` beside this file.

The peers live in an environment of their own, made on the first run. Every measurement is a process with a time
limit. Times are medians of five, libraries imported and warmed up (``clock``); errors are relative to ``benchmark_truth.json``.
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

from peers_environment import peers_python
from tasks import TASKS, Task

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TRUTH = ROOT / "data" / "oracles" / "benchmark_truth.json"
RESULTS = HERE / "RESULTS.md"
TIME_LIMIT = 180
ROUNDS, LONG = 3, 10.0
"""Processes in which dpcore and its opponent are measured in turn, the opponent once if it takes longer than LONG."""

MOST_MEMORY = 100e6
EXACT = 1e-10
PREFACE = (
    "Written by `make benchmark`. Seconds are medians of five runs, libraries imported and each side warmed up by a "
    "quarter of a second of its own questions (one run where it takes longer than 5 s). dpcore and the opponent that counts "
    "are measured in turn in three processes each, and the smallest of the three medians counts for either: this machine's "
    "processor is shared with others. dpcore builds a new region in each run. Width is (upper − lower) / upper of dpcore's "
    "certified bracket, the largest of all values; 0 means exact. Errors and gaps are relative to the truth in "
    "`data/oracles/benchmark_truth.json`. Memory is the peak above the size after the import. “Met” asks for the ratio, the "
    "width, the truth inside the bracket (or an error up to 1e-10 where exact) and less than 100 MB."
)
HEADER = (
    "task | dpcore, seconds | width | error to truth | memory, MB | opponent | seconds | gap to truth | ratio "
    "| required | met"
)


def ours(name: str) -> dict[str, Any]:
    """Measure dpcore on one task in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(HERE / "ours.py"), name]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False, env=environment, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        return {"task": name, "error": f"no answer within {TIME_LIMIT} s"}
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        return {"task": name, "error": f"not available ({_plain(last[0])})"}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def theirs(python: Path, *arguments: str) -> list[dict[str, Any]]:
    """Measure every peer on one task, or one of them."""
    command = [str(python), str(HERE / "peers.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def rounds(python: Path, task: Task) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Measure dpcore and every peer, dpcore and the opponent that counts in turn, and keep the quietest of each."""
    own, peers = ours(task.name), theirs(python, task.name)
    for _ in range(ROUNDS - 1):
        own = quieter(own, ours(task.name))
        for place, peer in enumerate(peers):
            if peer["peer"] == task.opponent and peer.get("seconds", math.inf) < LONG:
                peers[place] = quieter(peer, *theirs(python, "--one", task.name, task.opponent))
    return own, peers


def quieter(*rows: dict[str, Any]) -> dict[str, Any]:
    """Return the fastest of several measurements of the same, what failed last."""
    return min(rows, key=lambda row: row.get("seconds", math.inf))


def _plain(message: str) -> str:
    return message.replace(str(ROOT), "").replace("|", "/")[:120]


def _errors(values: list[float], truth: list[Decimal]) -> list[float]:
    """Return signed errors relative to the truth."""
    return [float((Decimal(value) - true) / true) for value, true in zip(values, truth, strict=True)]


def _sampled(task: Task, values: list[float], at: list[float]) -> list[float]:
    """Return the values at the places where the truth is known."""
    if task.measure == "calibrate":
        return values
    place = {x: i for i, x in enumerate(task.at)}
    return [values[place[x]] for x in at]


def judge(task: Task, row: dict[str, Any], truth: list[Decimal], at: list[float]) -> dict[str, Any]:
    """Return dpcore's largest width and error, and whether the answer is right: inside, narrow, small."""
    lower, upper = _sampled(task, row["lower"], at), _sampled(task, row["upper"], at)
    pairs = list(zip(row["lower"], row["upper"], strict=True))
    width = max((high - low) / high for low, high in pairs if high > 0)
    error = max(abs(x) for x in (*_errors(lower, truth), *_errors(upper, truth)))
    inside = all(Decimal(low) <= true <= Decimal(high) for low, high, true in zip(lower, upper, truth, strict=True))
    if task.measure == "calibrate":
        # The parameter is rounded to the safe side: never below the truth.
        right = Decimal(lower[0]) >= truth[0] and error <= task.width
    elif width == 0:
        right = error <= EXACT
    else:
        right = inside and width <= max(task.width, EXACT)
    return {"width": width, "error": error, "right": right and row["memory"] < MOST_MEMORY}


def _gap(values: list[float], truth: list[Decimal]) -> str:
    errors = _errors(values, truth)
    sizes = [abs(x) for x in errors]
    below = " (below the truth)" if min(errors) < -1e-12 else ""
    negative = " (negative)" if min(values) < 0 else ""
    return f"{min(sizes):.0e} … {max(sizes):.0e}{below}{negative}"


def _seconds(value: float) -> str:
    return f"{value:.3g}"


def lines(task: Task, own: dict[str, Any], peers: list[dict[str, Any]], known: dict[str, Any]) -> list[str]:
    """Return the table's lines for one task: one for each peer, the opponent that counts first."""
    truth, at = [Decimal(x) for x in known["values"]], known["at"]
    verdict = None
    if "error" in own:
        start = [task.words, own["error"], "-", "-", "-"]
    else:
        verdict = judge(task, own, truth, at)
        start = [task.words, _seconds(own["seconds"]), f"{verdict['width']:.1e}", f"{verdict['error']:.1e}"]
        start.append(f"{own['memory'] / 1e6:.0f}")
    found = []
    for peer in sorted(peers, key=lambda row: row["peer"] != task.opponent):
        counts = peer["peer"] == task.opponent
        if "error" in peer:
            rest = [peer["peer"], _plain(peer["error"]), "-", "-", f"{task.ratio:g}" if counts else "-", "-"]
        else:
            ratio = peer["seconds"] / own["seconds"] if verdict else None
            met = "yes" if verdict and verdict["right"] and ratio >= task.ratio else "**no**"
            rest = [
                peer["peer"],
                _seconds(peer["seconds"]),
                _gap(_sampled(task, peer["values"], at), truth),
                f"{ratio:.3g}" if ratio else "-",
                f"{task.ratio:g}" if counts else "-",
                met if counts else "-",
            ]
        found.append("| " + " | ".join([*start, *rest]) + " |")
    return found


def machine() -> str:
    """Return what the times depend on: processor, cores, memory, versions; nothing that names the machine."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8") if info.exists() else ""
    models = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    processor = models[0] if models else platform.machine()
    python = f"Python {platform.python_version()}"
    return f"{processor}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, {python}"


def report(table: list[str], versions: dict[str, str], imports: dict[str, float], grows: dict[str, Any]) -> str:
    """Return the text of the results file."""
    columns = HEADER.count("|") + 1
    if "error" in grows:
        growth = grows["error"]
    else:
        first, second = grows["seconds"]
        verdict = "met" if second <= 3 * first else "**not met**"
        growth = f"{first:.2g} s and {second:.2g} s, ratio {second / first:.2g} (at most 3: {verdict})"
    parts = [
        "# Benchmark",
        PREFACE,
        f"Machine: {machine()}.",
        "Versions: " + ", ".join(f"{name} {version}" for name, version in sorted(versions.items())) + ".",
        "Import, seconds: " + ", ".join(f"{name} {value:.2f}" for name, value in sorted(imports.items())) + ".",
        f"One δ of `laplace(0.1)^k`, k = 10^3 and 10^9: {growth}.",
        "\n".join([f"| {HEADER} |", "|" + "---|" * columns, *table]),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Run every task, dpcore first and then its peers, and write the results."""
    python = peers_python()
    known = json.loads(TRUTH.read_text(encoding="utf-8"))["tasks"]
    table: list[str] = []
    versions: dict[str, str] = {}
    imports: dict[str, list[float]] = {}
    for name in sys.argv[1:] or list(TASKS):
        start = time.perf_counter()
        own, peers = rounds(python, TASKS[name])
        for row, library in [(own, "dpcore"), *((peer, peer["library"]) for peer in peers)]:
            if "version" in row:
                versions[library] = row["version"]
            if "import_seconds" in row:
                imports.setdefault(library, []).append(row["import_seconds"])
        table += lines(TASKS[name], own, peers, known[name])
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    typical = {name: sorted(values)[len(values) // 2] for name, values in imports.items()}
    RESULTS.write_text(report(table, versions, typical, ours("growth")), encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()

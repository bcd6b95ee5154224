"""A million cells of private training: cells per second of a sweep, of single questions, and of dp-accounting.

``python -m tests.benchmarks.sweeps`` takes a fixed sample that reaches every part of the grid: rows (all numbers of steps at
one noise and rate), several cells of each as single questions, and one cell of each for dp-accounting (in the environment of the
peers), one core, CPU time. ``--all`` computes the million on all cores and keeps finished parts in a folder, where it continues
if it was interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore import poisson_gaussian
from dpcore.sweeps import sweep
from tests.benchmarks.peers_environment import peers_python

if TYPE_CHECKING:
    import pandas as pd

DELTA: Final = 1e-6
SIGMAS: Final = np.round(np.geomspace(0.6, 10.0, 100), 6)
RATES: Final = np.round(np.geomspace(1e-3, 0.2, 100), 8)
STEPS: Final = np.unique(np.geomspace(100, 1e6, 100).astype(int))
SINGLE: Final = 5
"""Single questions of every row."""

Cell = tuple[float, float, int]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=40, help="rows of the sample (40)")
    parser.add_argument("--all", action="store_true", help="all 1 000 000 cells, on all cores")
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="for --all")
    parser.add_argument("--folder", type=Path, default=Path("build/million"), help="for --all: of the finished parts")
    parser.add_argument("--peers", type=Path, help="a Python that has dp-accounting; made if there is none")
    chosen = parser.parse_args()
    if chosen.all:
        whole(chosen.cores, chosen.folder)
    else:
        sample(chosen.rows, chosen.peers or peers_python())


def latin(rows: int) -> list[Cell]:
    """Return cells that reach every part of the grid: each axis is cut into as many stretches, and each stretch is used once."""
    rng = np.random.default_rng(24)
    places = [(rng.permutation(rows) + 0.5) * values.size // rows for values in (SIGMAS, RATES, STEPS)]
    axes = [values[at.astype(int)] for values, at in zip((SIGMAS, RATES, STEPS), places, strict=True)]
    return [(float(sigma), float(rate), int(steps)) for sigma, rate, steps in zip(*axes, strict=True)]


def sample(rows: int, peers: Path) -> None:
    """Print the speed of all three on the sample."""
    cells = latin(rows)
    begun, tables = time.process_time(), []
    for sigma, rate, _ in cells:
        axes = {"sigma": [sigma], "rate": [rate], "steps": STEPS}
        tables.append(sweep("poisson_gaussian({sigma}, {rate})^{steps}", "epsilon", axes, delta=DELTA, cores=1))
    speed = rows * STEPS.size / (time.process_time() - begun)
    tell("sweep", sum(map(len, tables)), speed, tables)

    rng, seconds = np.random.default_rng(25), 0.0
    for (sigma, rate, _), table in zip(cells, tables, strict=True):
        for row in table.iloc[rng.choice(len(table), SINGLE, replace=False)].itertuples():
            begun = time.process_time()
            lower, upper = (poisson_gaussian(sigma, rate) ** int(row.steps)).epsilon_bounds(DELTA)
            seconds += time.process_time() - begun
            assert row.lower <= upper[0], row
            assert lower[0] <= row.upper, row
    single = rows * SINGLE / seconds
    print(
        f"single questions: {rows * SINGLE} cells, {single:.0f} a second; the sweep is {speed / single:.1f} times as fast"
    )

    times, excess = np.zeros(rows), np.zeros(rows)
    for place, (epsilon, taken) in enumerate(peer(peers, cells)):
        at = tables[place]["steps"] == cells[place][2]
        lower, upper = (float(tables[place].loc[at, side].item()) for side in ("lower", "upper"))
        times[place], excess[place] = taken, epsilon / upper - 1
        assert epsilon >= lower, (
            cells[place],
            epsilon,
            lower,
        )  # theirs is an upper bound, so it is not below the truth
    print(
        f"dp-accounting: {rows} cells, {rows / times.sum():.2f} a second (median {np.median(times):.2f} s, longest {times.max():.1f} s), "
        f"epsilon larger by {excess.min():.0e} to {excess.max():.0e}; the sweep is {speed * times.mean():.0f} times as fast, "
        f"{speed * np.median(times):.0f} times by the median cell"
    )


def whole(cores: int, folder: Path) -> None:
    """Compute all cells, and print the speed on the clock of the wall."""
    axes = {"sigma": SIGMAS, "rate": RATES, "steps": STEPS}
    begun, told, before = time.monotonic(), 0.0, -1

    def progress(done: int, parts: int, left: float) -> None:
        nonlocal told, before
        if before < 0:
            before = done - 1
        if time.monotonic() > told + 20 or done == parts:
            told = time.monotonic()
            print(f"{told - begun:6.0f} s  {done} of {parts} parts, {left:.0f} s left", flush=True)

    table = sweep(
        "poisson_gaussian({sigma}, {rate})^{steps}",
        "epsilon",
        axes,
        delta=DELTA,
        cores=cores,
        folder=folder,
        progress=progress,
    )
    seconds = time.monotonic() - begun
    if before > 0:
        print(f"{before} parts had been there before; the speed counts them as computed now.")
    tell(f"sweep on {cores} cores, {seconds:.0f} s of the wall", len(table), len(table) / seconds, [table])
    if (errors := table.loc[table["error"] != "", "error"]).size:
        print(errors.value_counts().head(5).to_string())


def tell(name: str, cells: int, speed: float, tables: list[pd.DataFrame]) -> None:
    """Print what a sweep gave."""
    answered = sum(int(table["value"].notna().sum()) for table in tables)
    width = max(float(((table["upper"] - table["lower"]) / table["upper"]).max()) for table in tables)
    print(
        f"{name}: {cells} cells, {speed:.0f} a second, {answered} answered, largest relative width {width:.1e}",
        flush=True,
    )


def peer(python: Path, cells: list[Cell]) -> list[tuple[float, float]]:
    """Return epsilon and CPU seconds of dp-accounting for every cell."""
    script = Path(__file__).with_name("sweeps_peer.py")
    asked = json.dumps({"delta": DELTA, "cells": cells})
    done = subprocess.run([python, script], input=asked, stdout=subprocess.PIPE, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [(epsilon, seconds) for epsilon, seconds in answers[1:]]  # without the one that warmed up


if __name__ == "__main__":
    main()

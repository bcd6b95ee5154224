"""A million cells of private training: cells per second of a sweep, of single questions, and of dp-accounting.

``python -m tests.benchmarks.sweeps`` takes a sample of the rows of the grid (every row is all numbers of steps at one noise
and rate); ``--rows 10000`` computes all of them. dp-accounting is asked if it is installed here (`make benchmark` has an
environment with it).
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib.util import find_spec

import numpy as np

from dpcore import poisson_gaussian
from dpcore.sweeps import sweep

DELTA = 1e-6
SIGMAS = np.round(np.geomspace(0.6, 10.0, 100), 6)
RATES = np.round(np.geomspace(1e-3, 0.2, 100), 8)
STEPS = np.unique(np.geomspace(100, 1e6, 100).astype(int))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=12, help="rows of the grid, of 10000")
    parser.add_argument("--cores", type=int, default=1)
    chosen = parser.parse_args()
    rng = np.random.default_rng(24)
    places = rng.permutation(SIGMAS.size * RATES.size)[: chosen.rows]
    axes = {"row": [f"poisson_gaussian({SIGMAS[p // RATES.size]}, {RATES[p % RATES.size]})" for p in places]}
    begun = time.process_time() if chosen.cores == 1 else time.monotonic()
    table = sweep("{row}^{steps}", "epsilon", {**axes, "steps": STEPS}, delta=DELTA, cores=chosen.cores)
    seconds = (time.process_time() if chosen.cores == 1 else time.monotonic()) - begun
    answered = table["value"].notna()
    width = ((table["upper"] - table["lower"]) / table["upper"])[answered].max()
    _say(
        f"sweep: {len(table)} cells, {len(table) / seconds:.0f} a second, {int(answered.sum())} answered, width {width:.1e}"
    )
    sample = table[answered].sample(min(40, int(answered.sum())), random_state=1)
    begun = time.process_time()
    for row in sample.itertuples():
        sigma, rate = (float(text) for text in str(row.row)[len("poisson_gaussian(") : -1].split(","))
        lower, upper = (poisson_gaussian(sigma, rate) ** int(row.steps)).epsilon_bounds(DELTA)
        assert lower[0] <= row.upper
        assert row.lower <= upper[0]
    single = len(sample) / (time.process_time() - begun)
    _say(f"single questions: {single:.1f} a second; the sweep is {len(table) / seconds / single:.1f} times as fast")
    if find_spec("dp_accounting") is None:
        _say("dp-accounting is not installed here.")
        return
    few = sample.head(5)
    begun = time.process_time()
    for row in few.itertuples():
        sigma, rate = (float(text) for text in str(row.row)[len("poisson_gaussian(") : -1].split(","))
        _peer(sigma, rate, int(row.steps))
    peer = len(few) / (time.process_time() - begun)
    _say(f"dp-accounting: {peer:.2f} a second; the sweep is {len(table) / seconds / peer:.0f} times as fast")


def _peer(sigma: float, rate: float, steps: int) -> float:
    """Return what dp-accounting's PLD accountant says, with its defaults."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
    return float(PLDAccountant().compose(step, steps).get_epsilon(DELTA))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

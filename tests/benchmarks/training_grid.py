"""The grid of training runs: noise, rate, steps and delta; CPU time and certified width of every cell.

`python -m tests.benchmarks.training_grid` prints one line per cell; `--quick` takes every fifth.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time

from dpcore import DpcoreError, parse

GRID = list(
    itertools.product((0.5, 0.8, 1.1, 2, 10), (1e-5, 1e-4, 1e-3, 0.01, 0.1), (100, 10**4, 10**6), (1e-5, 1e-8, 1e-12))
)


def main() -> None:
    """Time every cell in this process, each region fresh."""
    cells = GRID[:: 5 if "--quick" in sys.argv else 1]
    seconds, refused = [], 0
    for sigma, q, steps, delta in cells:
        region = parse(f"poisson_gaussian({sigma}, {q})^{steps}")
        start = time.process_time()
        try:
            (lower,), (upper,) = region.epsilon_bounds([delta])
            words = f"{lower:.9g} {upper:.9g} width {(upper - lower) / upper if upper else 0.0:.1e}"
        except DpcoreError as error:
            words, refused = f"refused: {error}", refused + 1
        seconds.append(time.process_time() - start)
        print(f"sigma {sigma} q {q:g} steps {steps} delta {delta:g}: {1e3 * seconds[-1]:.0f} ms, {words}", flush=True)
    print(
        f"{len(cells)} cells, {refused} refused, median {1e3 * statistics.median(seconds):.0f} ms, "
        f"{sum(s > 1 for s in seconds)} above 1 s, largest {max(seconds):.1f} s"
    )


if __name__ == "__main__":
    main()

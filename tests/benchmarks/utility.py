"""Time 10^5 simulated releases of a 100-bin histogram of 10^6 records: at most 10 s and 1 GB are allowed."""

from __future__ import annotations

import resource
import time

import numpy as np

from dpcore.utility import Dataset, pair, simulate

RECORDS, BINS, RELEASES = 10**6, 100, 10**5
MOST_SECONDS, MOST_GIGABYTES = 10.0, 1.0


def main() -> None:
    """Print the time of each mechanism and the largest memory of the whole run."""
    values = np.random.default_rng(1).beta(2.0, 3.0, RECORDS)
    for name in ("histogram_laplace", "histogram_geometric", "histogram_gaussian"):
        for after in ("nothing", "renormalise"):
            data = Dataset(values, 0.0, 1.0)
            start = time.perf_counter()
            simulate(pair(name, bins=BINS, after=after), data, np.random.default_rng(2), RELEASES)
            seconds = time.perf_counter() - start
            print(f"{name}, after {after}: {RELEASES} releases of {BINS} bins, {RECORDS} records: {seconds:.2f} s")
            if seconds > MOST_SECONDS:
                print(f"  too slow: at most {MOST_SECONDS:g} s are allowed")
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(f"largest memory: {gigabytes:.2f} GB (allowed: {MOST_GIGABYTES:g} GB)")


if __name__ == "__main__":
    main()

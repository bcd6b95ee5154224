"""Write the example of the page "Audit": scores of an attack on a noisy count, the same bytes on every run.

The noise is Gaussian with standard deviation 0.7, drawn by Python's own generator, whose uniform numbers are the same in
every version; the normal numbers are made of them by the inverse distribution function. Nobody's data are in it.
"""

from __future__ import annotations

import random
from pathlib import Path
from statistics import NormalDist

HERE = Path(__file__).resolve().parent
SEED = 1934  # year of the limits of Clopper and Pearson
TRIALS = 400  # of outsiders, and of members
SIGMA = 0.7


def scores() -> bytes:
    """Return the file: the attacker's score is the noisy count, rounded to three decimals."""
    source = random.Random(SEED)
    noise = NormalDist(0.0, SIGMA)
    rows = [(round(label + noise.inv_cdf(source.random()), 3), label) for _ in range(TRIALS) for label in (0, 1)]
    return "\n".join(["score,label", *(f"{score:.3f},{label}" for score, label in rows), ""]).encode()


def main() -> None:
    """Write the file beside this script."""
    (HERE / "noisy_count.csv").write_bytes(scores())


if __name__ == "__main__":
    main()

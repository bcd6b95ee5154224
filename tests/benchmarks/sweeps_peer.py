"""Ask dp-accounting for the epsilons of private training; the cells come as JSON, and epsilon and CPU seconds of each go back.

Runs inside the environment of the peers and imports nothing of dpcore.
"""

from __future__ import annotations

import json
import sys
import time

import dp_accounting  # type: ignore[import-not-found]  # in the environment of the peers only
from dp_accounting.pld import PLDAccountant  # type: ignore[import-not-found]  # as above


def main() -> None:
    """Answer all cells with the PLD accountant and its defaults."""
    asked = json.load(sys.stdin)
    for sigma, rate, steps in [asked["cells"][0], *asked["cells"]]:  # the first one twice: libraries warm up
        begun = time.process_time()
        step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
        epsilon = float(PLDAccountant().compose(step, steps).get_epsilon(asked["delta"]))
        sys.stdout.write(json.dumps([epsilon, time.process_time() - begun]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

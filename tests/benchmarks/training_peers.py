"""Ask the peers for the epsilons of training runs; one JSON line per question. Runs in the peers' environment, without dpcore.

`python training_peers.py QUESTIONS.json`: a list of {"peer", "arguments", "delta"}. Times are CPU seconds of the question alone, the
library imported; a question ends after LIMIT of them.
"""

from __future__ import annotations

import importlib
import json
import resource
import signal
import sys
import time
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

LIMIT = 60
MEMORY = 6_000_000_000
GRID = 1e-4
"""dp-accounting's default grid of losses."""


def google(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Return the epsilon of dp-accounting's loss distribution."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    one = pld.from_gaussian_mechanism(sigma, sampling_prob=rate, value_discretization_interval=GRID)
    return float(one.self_compose(steps).get_epsilon_for_delta(delta))


def prv(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Return the upper epsilon of prv-accountant."""
    from prv_accountant.dpsgd import DPSGDAccountant

    accountant = DPSGDAccountant(sigma, rate, steps, eps_error=1e-2, delta_error=delta / 1000)
    return float(accountant.compute_epsilon(delta, steps)[2])


def opacus(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Return the epsilon of Opacus's Rényi accountant."""
    from opacus.accountants import RDPAccountant

    accountant = RDPAccountant()
    accountant.history = [(sigma, rate, steps)]
    return float(accountant.get_epsilon(delta))


def event(kind: str, arguments: list[Any], steps: int, delta: float) -> float:
    """Return the epsilon of dp-accounting's accountant for an event of its own."""
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant

    if kind == "laplace":
        one = dp_event.PoissonSampledDpEvent(arguments[1], dp_event.LaplaceDpEvent(arguments[0]))
    else:
        one = getattr(dp_event, kind)(*arguments)
    return float(PLDAccountant().compose(dp_event.SelfComposedDpEvent(one, steps)).get_epsilon(delta))


PEERS = {
    "dp-accounting PLD": ("dp-accounting", google),
    "prv-accountant": ("prv-accountant", prv),
    "Opacus RDP": ("opacus", opacus),
    "dp-accounting event": ("dp-accounting", event),
}


def main() -> None:
    """Answer every question; a peer that fails or takes too long gets its reason as the answer."""
    for module in ("dp_accounting.pld.pld_privacy_accountant", "opacus.accountants", "prv_accountant.dpsgd"):
        importlib.import_module(module)  # before any clock starts
    warnings.filterwarnings("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for question in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        library, ask = PEERS[question["peer"]]
        answer: dict[str, Any] = {"library": library, "version": metadata.version(library)}
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        start = time.process_time()
        try:
            answer["epsilon"] = ask(*question["arguments"], question["delta"])
        except BaseException as error:  # noqa: BLE001  whatever a peer raises is its answer
            answer["error"] = (str(error) or type(error).__name__).splitlines()[0][:60]
        signal.setitimer(signal.ITIMER_PROF, 0)
        answer["seconds"] = time.process_time() - start
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _late(*_: object) -> None:
    msg = f"no answer in {LIMIT} s of CPU time"
    raise TimeoutError(msg)


if __name__ == "__main__":
    signal.signal(signal.SIGPROF, _late)
    main()

"""Ask the peer libraries the questions of the benchmark; one JSON line per peer and task on standard output.

Runs inside an environment that holds the peers (``requirements.txt``) and nothing of dpcore. Every
measurement has a process of its own and a time limit, so that a peer that hangs, runs out of memory or
is missing becomes a row with its error text and spoils no other.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import subprocess
import sys
import time
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any

from clock import median_time
from tasks import DIFFERENT_EPSILONS, LAPLACE_EPSILONS, POISSON_EPSILONS, TASKS, different_parts, different_widths

if TYPE_CHECKING:
    from collections.abc import Callable

TIME_LIMIT = 180.0
MEMORY_LIMIT = 8_000_000_000

Answer = list[float]


def _pld_laplace(k: int, grid: float = 1e-4) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_laplace_mechanism(10.0, value_discretization_interval=grid).self_compose(k)


def _pld_poisson(k: int, sigma: float = 1.0, grid: float = 1e-4) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    one = pld.from_gaussian_mechanism(sigma, sampling_prob=0.01, value_discretization_interval=grid)
    return one.self_compose(k)


def _pld_dp(epsilon: float, delta: float, grid: float) -> Any:
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    parameters = common.DifferentialPrivacyParameters(epsilon, delta)
    return pld.from_privacy_parameters(parameters, value_discretization_interval=grid)


def _deltas(composed: Any, at: Answer) -> Answer:
    # One call per ε: the library's vector form is a slower loop (2 s instead of 0.05 s at k = 1000).
    return [float(composed.get_delta_for_epsilon(epsilon)) for epsilon in at]


def google_laplace(k: int, grid: float, at: Answer) -> Answer:
    """δ of a k-fold Laplace mechanism."""
    return _deltas(_pld_laplace(k, grid), at)


def google_kov(at: Answer) -> Answer:
    """δ of 10^6 pure mechanisms with ε = 0.01, at eight corners only."""
    return _deltas(_pld_dp(0.01, 0.0, 1e-3).self_compose(1_000_000), at)


def google_kov_corners(at: Answer) -> Answer:
    """δ of the same at all 21 000 corners with δ > 1e-300, as dpcore lists them; the eight asked are returned."""
    composed = _pld_dp(0.01, 0.0, 1e-3).self_compose(1_000_000)
    deltas = composed.get_delta_for_epsilon([i / 50 for i in range(21_000)])
    return [float(deltas[round(epsilon * 50)]) for epsilon in at]


def google_different(count: int, at: Answer) -> Answer:
    """δ of a product of different (ε, δ) guarantees."""
    total = None
    for epsilon, delta in different_parts(count):
        part = _pld_dp(epsilon, delta, 1e-4)
        total = part if total is None else total.compose(part)
    return _deltas(total, at)


def google_integers(count: int, at: Answer) -> Answer:
    """Return ε of a product of discrete Gaussians of different widths at given δ, at the library's own grid of 1e-4."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    total = None
    for sigma in different_widths(count):
        part = pld.from_discrete_gaussian_mechanism(sigma)
        total = part if total is None else total.compose(part)
    return [float(total.get_epsilon_for_delta(delta)) for delta in at]


def google_poisson(k: int, at: Answer) -> Answer:
    """δ of the Poisson-subsampled Gaussian."""
    return _deltas(_pld_poisson(k), at)


def google_poisson_epsilon(k: int, at: Answer) -> Answer:
    """Return ε of the Poisson-subsampled Gaussian at given δ."""
    composed = _pld_poisson(k)
    return [float(composed.get_epsilon_for_delta(delta)) for delta in at]


def google_calibrate(at: Answer) -> Answer:
    """Smallest σ by the accountant-driven search, default grid 1e-4 and default tolerance 1e-6 in σ."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    def event(sigma: float) -> Any:
        step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(sigma))
        return dp_accounting.SelfComposedDpEvent(step, 1000)

    return [float(dp_accounting.calibrate_dp_mechanism(PLDAccountant, event, at[0], at[1]))]


def google_smallest_noise(at: Answer) -> Answer:
    """Smallest σ by the function made for this mechanism (it chooses the grid 2e-4)."""
    from dp_accounting.pld import accountant, common

    wanted = common.DifferentialPrivacyParameters(at[0], at[1])
    found = accountant.get_smallest_subsampled_gaussian_noise(wanted, num_queries=1000, sampling_prob=0.01)
    return [float(found)]


def _prv_deltas(parts: list[Any], counts: list[int], eps_error: float, at: Answer) -> Answer:
    from prv_accountant import PRVAccountant

    accountant = PRVAccountant(parts, eps_error=eps_error, delta_error=1e-10, max_self_compositions=counts)
    composed = accountant.compute_composition(counts)
    # The certified upper side, as compute_delta forms it, with one composition for all ε.
    return [float(composed.compute_delta_estimate(epsilon - eps_error)) + 1e-10 for epsilon in at]


def prv_laplace(k: int, eps_error: float, at: Answer) -> Answer:
    """δ of a k-fold Laplace mechanism, the library's upper side."""
    from prv_accountant import LaplaceMechanism

    return _prv_deltas([LaplaceMechanism(0.1)], [k], eps_error, at)


def prv_different(count: int, at: Answer) -> Answer:
    """δ of a product of different (ε, δ) guarantees, the library's upper side."""
    from prv_accountant import ApproximateDPMechanism

    parts = [ApproximateDPMechanism(epsilon, delta) for epsilon, delta in different_parts(count)]
    return _prv_deltas(parts, [1] * count, 1e-2, at)


def prv_kov(at: Answer) -> Answer:
    """δ of 10^6 pure mechanisms with ε = 0.01, the library's upper side."""
    from prv_accountant import PureDPMechanism

    return _prv_deltas([PureDPMechanism(0.01)], [1_000_000], 1e-1, at)


def prv_poisson(k: int, at: Answer) -> Answer:
    """δ of the Poisson-subsampled Gaussian, the library's upper side."""
    from prv_accountant import PoissonSubsampledGaussianMechanism

    return _prv_deltas([PoissonSubsampledGaussianMechanism(0.01, 1.0)], [k], 1e-2, at)


def prv_poisson_epsilon(k: int, at: Answer) -> Answer:
    """Return ε of the Poisson-subsampled Gaussian at given δ, the library's upper side."""
    from prv_accountant.dpsgd import DPSGDAccountant

    accountant = DPSGDAccountant(1.0, 0.01, k, eps_error=1e-2, delta_error=1e-9)
    return [float(accountant.compute_epsilon(delta, k)[2]) for delta in at]


def prv_calibrate(at: Answer) -> Answer:
    """σ found by the library's search, with an error of 0.01 in ε."""
    from prv_accountant.dpsgd import find_noise_multiplier

    return [float(find_noise_multiplier(0.01, 1000, at[0], at[1], eps_error=1e-2))]


def riskcal_curve(k: int, at: Answer) -> Answer:
    """Trade-off curve: composed by dp-accounting, read by riskcal."""
    import numpy as np
    from riskcal.analysis import get_beta_from_pld

    return [float(x) for x in get_beta_from_pld(_pld_laplace(k), alpha=np.array(at))]


def riskcal_poisson_epsilon(k: int, at: Answer) -> Answer:
    """Return ε of the Poisson-subsampled Gaussian by riskcal's accountant."""
    from riskcal.accountants import CTDAccountant

    accountant = CTDAccountant()
    accountant.history = [(1.0, 0.01, k)]
    return [float(accountant.get_epsilon(delta=delta)) for delta in at]


MODULES = {
    "dp-accounting": ("dp_accounting.pld.accountant", "dp_accounting.mechanism_calibration"),
    "prv-accountant": ("prv_accountant.dpsgd",),
    "riskcal": ("riskcal.analysis", "riskcal.accountants"),
}
"""What has to be imported before a peer's clock starts."""

GOOGLE, PRV, RISKCAL = "dp-accounting", "prv-accountant", "riskcal"
COARSE = "prv-accountant, ε error 1e-2"


def _jobs() -> dict[tuple[str, str], tuple[str, Callable[[Answer], Answer]]]:
    jobs: dict[tuple[str, str], tuple[str, Callable[[Answer], Answer]]] = {}
    for k in LAPLACE_EPSILONS:
        jobs[f"laplace_{k}", "dp-accounting, grid 1e-4"] = GOOGLE, partial(google_laplace, k, 1e-4)
        jobs[f"laplace_{k}", COARSE] = PRV, partial(prv_laplace, k, 1e-2)
    jobs["laplace_1000", "dp-accounting, grid 1e-5"] = GOOGLE, partial(google_laplace, 1000, 1e-5)
    jobs["laplace_1000", "prv-accountant, ε error 1e-3"] = PRV, partial(prv_laplace, 1000, 1e-3)
    jobs["kov_1000000", "dp-accounting, grid 1e-3"] = GOOGLE, google_kov_corners
    jobs["kov_1000000", "dp-accounting, grid 1e-3, eight corners"] = GOOGLE, google_kov
    jobs["kov_1000000", "prv-accountant, ε error 1e-1"] = PRV, prv_kov
    for count in DIFFERENT_EPSILONS:
        jobs[f"different_{count}", "dp-accounting, grid 1e-4"] = GOOGLE, partial(google_different, count)
        jobs[f"different_{count}", COARSE] = PRV, partial(prv_different, count)
    jobs["integers_2000", "dp-accounting, grid 1e-4"] = GOOGLE, partial(google_integers, 2000)
    for k in POISSON_EPSILONS:
        jobs[f"poisson_{k}_delta", "dp-accounting, grid 1e-4"] = GOOGLE, partial(google_poisson, k)
        jobs[f"poisson_{k}_delta", COARSE] = PRV, partial(prv_poisson, k)
        jobs[f"poisson_{k}_epsilon", "dp-accounting, grid 1e-4"] = GOOGLE, partial(google_poisson_epsilon, k)
        jobs[f"poisson_{k}_epsilon", COARSE] = PRV, partial(prv_poisson_epsilon, k)
        jobs[f"poisson_{k}_epsilon", "riskcal"] = RISKCAL, partial(riskcal_poisson_epsilon, k)
    for k in (1000, 10_000):
        jobs[f"curve_{k}", "dp-accounting + riskcal"] = RISKCAL, partial(riskcal_curve, k)
    jobs["calibrate", "dp-accounting, calibrate"] = GOOGLE, google_calibrate
    jobs["calibrate", "dp-accounting, smallest noise"] = GOOGLE, google_smallest_noise
    jobs["calibrate", COARSE] = PRV, prv_calibrate
    return jobs


JOBS = _jobs()


def _version(peer: str) -> str:
    try:
        return metadata.version(peer)
    except metadata.PackageNotFoundError:
        return "not installed"


def measure(job: Callable[[Answer], Answer], at: Answer) -> tuple[float, Answer]:
    """Return the time of a job and the values it gave last."""
    values: Answer = []

    def question(_number: int) -> None:
        nonlocal values
        values = job(at)

    return median_time(question), values


def one_row(task: str, variant: str) -> dict[str, Any]:
    """Measure one peer on one task in this process."""
    peer, job = JOBS[task, variant]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    row: dict[str, Any] = {"peer": variant, "library": peer, "version": _version(peer), "task": task}
    start = time.perf_counter()
    for module in MODULES[peer]:
        importlib.import_module(module)
    row["import_seconds"] = time.perf_counter() - start
    row["seconds"], row["values"] = measure(job, list(TASKS[task].at))
    row["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return row


def row_in_own_process(task: str, variant: str, limit: float) -> dict[str, Any]:
    """Measure one peer on one task in a fresh process, stopped after `limit` seconds."""
    peer = JOBS[task, variant][0]
    row: dict[str, Any] = {"peer": variant, "library": peer, "version": _version(peer), "task": task}
    command = [sys.executable, __file__, "--one", task, variant]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return row | {"error": f"no answer within {limit:.0f} s"}
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        return row | {"error": last[0][:300]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    """Measure the tasks named on the command line, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--one", nargs=2, metavar=("TASK", "PEER"))
    parser.add_argument("--limit", type=float, default=TIME_LIMIT, help="seconds allowed for one peer on one task")
    options = parser.parse_args()
    if options.one:
        sys.stdout.write(json.dumps(one_row(*options.one)) + "\n")
        return
    for task, variant in JOBS:
        if task in options.tasks:
            sys.stdout.write(json.dumps(row_in_own_process(task, variant, options.limit)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Ask dpcore the questions of the benchmark; the counterpart of ``peers.py``, in the project's environment.

Every repetition builds a new region whose first parameter is moved by some units in the last place, so that no
result of an earlier one can be reused. The values compared with the truth come from the unmoved parameters.
"""

from __future__ import annotations

import json
import math
import re
import resource
import sys
import time
from functools import reduce
from operator import mul
from pathlib import Path
from typing import Any

from clock import median_time
from tasks import TASKS, Task, different_parts, different_widths

SMALLEST_CORNER = 1e-300
FIRST_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
GROWTH = (10**3, 10**9)
"""The two k between which the time for one δ may at most triple."""


def shifted(value: float, units: int) -> float:
    """Return the number some units in its last place further up."""
    return value + units * math.ulp(value)


def moved(expression: str, units: int) -> str:
    """Return the expression with its first number `units` floating-point numbers further up."""
    if units == 0:
        return expression
    found = FIRST_NUMBER.search(expression)
    if found is None:
        msg = f"{expression!r} holds no number."
        raise ValueError(msg)
    value = shifted(float(found.group()), units)
    return expression[: found.start()] + repr(value) + expression[found.end() :]


def product(task: Task, units: int) -> Any:
    """Return the product of different parts, made from numbers as the peers get them and not from a long text; None for others."""
    from dpcore import discrete_gaussian
    from dpcore.regions.algebra import Product
    from dpcore.regions.guarantees import DP

    kind, _, count = task.name.partition("_")
    if kind == "integers":
        first, *widths = different_widths(int(count))
        return Product.of(*(discrete_gaussian(sigma) for sigma in (shifted(first, units), *widths)))
    if kind == "different":
        (epsilon, delta), *others = different_parts(int(count))
        return reduce(mul, [DP(shifted(epsilon, units), delta), *(DP(*numbers) for numbers in others)])
    return None


def ask(task: Task, units: int, at: Any) -> tuple[Any, Any]:
    """Return the lower and the upper answers at an array of places; equal where dpcore says exact."""
    import numpy as np

    from dpcore import parse
    from dpcore.core.effort import effort

    region = product(task, units)
    expression = moved(task.expression, units) if region is None else task.expression
    with effort(tolerance=task.tolerance):
        if task.measure == "calibrate":
            from dpcore.calibration import calibrate

            found = calibrate(expression, epsilon=task.at[0], delta=task.at[1])
            value = float(found["value"].iloc[0])
            return [value], [value]
        region = parse(expression) if region is None else region
        if task.measure == "corners":
            epsilon, delta = region.corners()
            kept = delta > SMALLEST_CORNER
            nearest = [int(np.argmin(np.abs(epsilon[kept] - place))) for place in at]
            values = [float(delta[kept][i]) for i in nearest]
            return values, values
        bounds = {"delta": region.delta_bounds, "epsilon": region.epsilon_bounds, "beta": region.beta_bounds}
        lower, upper = bounds[task.measure](at)
    return lower, upper


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def row(name: str) -> dict[str, Any]:
    """Measure one task in this process: values, time, and memory above the size after the import."""
    start = time.perf_counter()
    import dpcore

    after_import = time.perf_counter() - start
    resident = _resident()
    task = TASKS[name]
    import numpy as np

    at = np.array(task.at)
    lower, upper = (np.asarray(side).tolist() for side in ask(task, 0, at))
    return {
        "task": name,
        "version": dpcore.__version__,
        "import_seconds": after_import,
        "lower": lower,
        "upper": upper,
        "seconds": median_time(lambda units: ask(task, units, at)),
        "memory": max(0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - resident),
    }


def growth() -> dict[str, Any]:
    """Measure one δ of k Laplace mechanisms, two standard deviations above the mean loss, for both k."""
    from dpcore import parse

    mean, variance = 0.1 + math.expm1(-0.1), 0.00983
    seconds = []
    for k in GROWTH:
        epsilon = k * mean + 2 * math.sqrt(k * variance)

        def question(units: int, k: int = k, epsilon: float = epsilon) -> Any:
            return parse(moved(f"laplace(0.1)^{k}", units)).delta_bounds([epsilon])

        question(0)
        seconds.append(median_time(question))
    return {"task": "growth", "seconds": seconds}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(growth() if sys.argv[1] == "growth" else row(sys.argv[1])) + "\n")

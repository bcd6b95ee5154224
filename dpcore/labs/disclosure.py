"""The data of Chapter 3: its toy table as printed, and made-up ages with its bin counts.

What is counted and computed on them is in `dpcore.planner.disclosure`, which takes any table.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from dpcore.core.errors import DomainError
from dpcore.files.microdata import Microdata
from dpcore.planner.disclosure import equivalence_classes
from dpcore.planner.disclosure import noise as any_noise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.curves.base import FloatArray

AGE, AMOUNT = "customer_age", "transaction_amount"
ORIGINAL: Final = pd.DataFrame(
    {AGE: [32, 45, 27, 19, 31, 25], AMOUNT: [75.50, 120.00, 16.75, 85.00, 50.00, 40.50]}
)  # Table 3.1
AGE_GROUPS: Final = ("31-45", "31-45", "18-30", "18-30", "31-45", "18-30")
PRINTED_AMOUNTS: Final = ("51-100", "51-100", "0-50", "51-100", "0-50", "0-50")
CLAIMED_K = 3

EDGES: Final = tuple(range(19, 80, 5))
COUNTS: Final = (32, 100, 121, 81, 62, 79, 84, 57, 31, 9, 2, 1)
NOISY_COUNTS: Final = (39, 96, 119, 72, 73, 77, 74, 64, 31, 11, 2, 1)  # one draw of k-noise, as printed
PRINTED_GROUP = 81.40651  # mean number of noisy ages within 2.5 years, 1000 draws
PRINTED: Final = {"k-PRAM": (0.06881953, 4.398563, 2.097275), "k-noise": (0.03408935, 2.060666, 1.435502)}  # Table 3.4
YOUNGEST, OLDEST = 22.0, 78.0  # ages 22 to 77, with a fraction of a year added
HALFWIDTH = any_noise.HALFWIDTH.but(low=0.01, high=50.0)
WIDTH = any_noise.WIDTH.but(low=0.1, high=100.0)


def printed_one() -> pd.DataFrame:
    """Return Table 3.2 as printed: ages grouped, amounts open; 3-anonymous in the age."""
    return pd.DataFrame({AGE: list(AGE_GROUPS), AMOUNT: ORIGINAL[AMOUNT].tolist()})


def printed_two() -> pd.DataFrame:
    """Return Table 3.3 as printed: called 3-anonymous in both columns, with 120.00 in the group 51-100."""
    return pd.DataFrame({AGE: list(AGE_GROUPS), AMOUNT: list(PRINTED_AMOUNTS)})


def anonymity(table: pd.DataFrame, columns: Iterable[str]) -> int:
    """Return the largest k for which a printed table is k-anonymous in these columns together."""
    return equivalence_classes(Microdata.of_frame(table), columns).k


def ages(seed: int = 0) -> FloatArray:
    """Return 659 made-up ages with the printed bin counts, drawn uniformly in each bin, none below 22 or above 78.

    The source's data are not public under a name; their bin counts, least and largest age are known.
    """
    rng = np.random.default_rng(seed)
    parts = [
        rng.uniform(max(low, YOUNGEST), min(low + 5.0, OLDEST), count)
        for low, count in zip(EDGES[:-1], COUNTS, strict=True)
    ]
    return np.concatenate(parts)


def expected_bins(data: FloatArray, halfwidth: float, edges: tuple[float, ...] = EDGES) -> FloatArray:
    """Return the expected bin counts after k-noise, exactly: the sum of the shares of noise that end in each bin."""
    cuts = np.asarray(edges, dtype=np.float64)
    below = np.clip((cuts - data[:, None] + halfwidth) / (2.0 * halfwidth), 0.0, 1.0)
    return np.asarray(np.diff(below.sum(axis=0)), dtype=np.float64)


def simulated(data: FloatArray, release: FloatArray) -> tuple[float, float, float]:
    """Return bias (true minus released), mean squared error and its root of one release: a row of Table 3.4."""
    if data.shape != release.shape:
        msg = f"data and release must have the same length, got {len(data)} and {len(release)}."
        raise DomainError(msg)
    off = data - release
    mse = float(np.mean(off * off))
    return float(off.mean()), mse, math.sqrt(mse)

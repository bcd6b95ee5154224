"""How a question is timed, the same for dpcore and its peers; the standard library only."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 5
LONG_RUN = 5.0
"""Seconds above which a question is asked once."""

WARM = 0.25
"""Seconds of the same questions before any is timed: a processor just woken up is no library's fault."""


def median_time(question: Callable[[int], object]) -> float:
    """Return the median time of five questions after a quarter of a second of them; one run where it is long.

    The question gets a number, another one each time, so that nobody can answer from an earlier result.
    """
    begun, asked, seconds = time.perf_counter(), 0, 0.0
    while time.perf_counter() - begun < WARM or not asked:
        asked += 1
        seconds = _timed(question, asked)
    if seconds > LONG_RUN:
        return seconds
    return statistics.median(_timed(question, asked + more) for more in range(1, REPEATS + 1))


def _timed(question: Callable[[int], object], number: int) -> float:
    start = time.perf_counter()
    question(number)
    return time.perf_counter() - start

"""A kind on which everything goes wrong that can, so that the tests see that it is seen."""

from __future__ import annotations

import os
import time
from typing import Final

import numpy as np

from dpcore.core.errors import DomainError, InternalError
from tests.fuzz.kinds import ANSWERED, PROBLEMS, REFUSED, Answer, Kind

WAYS: Final = (ANSWERED, REFUSED, *PROBLEMS)


def draw(_: int, index: int) -> str:
    """Return what shall go wrong."""
    return WAYS[index % len(WAYS)]


def ask(way: str) -> Answer:
    """Go wrong in the way asked for."""
    match way:
        case "refused":
            raise DomainError("epsilon must be at least 0, got -1.")  # noqa: EM101, TRY003  the sentence is the point
        case "traceback":
            return Answer([1 / 0])
        case "warning":
            return Answer((np.array([np.inf]) - np.inf).tolist())
        case "hung":
            time.sleep(3600)
        case "NaN":
            return Answer([0.5], [float("nan")])
        case "outside":
            return Answer([0.5, 1.0 + 1e-15], [7.0])
        case "died":
            os._exit(3)
        case "contradiction":
            raise InternalError("The delta came out as 2.")  # noqa: EM101, TRY003  the sentence is the point
        case "message":
            raise DomainError("x" * 5000)
        case "late":
            end = time.process_time() + 0.7
            while time.process_time() < end:
                pass
        case "memory":
            return Answer([float(len(b"x" * 1_100_000_000) > 0)])
    return Answer([0.0, 1.0], [float("inf")])


KINDS: Final = {"misbehaviour": Kind("misbehaviour", "everything that can go wrong", draw, ask, 11, 0.1)}

"""What a fuzzer found, and how it tries one input."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.errors import DpcoreError

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_MESSAGE = 4000
SHOWN = 2000


@dataclass(frozen=True)
class Finding:
    """An input on which something went wrong.

    Attributes
    ----------
    fuzzer : which one tried it.
    given : the input, cut.
    problem : a traceback, or what was slow.
    """

    fuzzer: str
    given: str
    problem: str


def tried(fuzzer: str, read: Callable[[bytes], object], data: bytes, seconds: float | None = None) -> list[Finding]:
    """Try one input: an answer or one sentence is right, everything else is a finding.

    Parameters
    ----------
    seconds : what takes longer is a finding, too; not asked by default, for a busy machine is no error.
    """
    start = time.monotonic()
    problem = ""
    try:
        read(data)
    except DpcoreError as error:
        if len(str(error)) > LONGEST_MESSAGE or "\n\n" in str(error):
            problem = f"The message has {len(str(error))} characters."
    except Exception:  # noqa: BLE001  # that is what is looked for
        problem = traceback.format_exc(limit=-4)
    took = time.monotonic() - start
    if seconds is not None and took > seconds and not problem:
        problem = f"It took {took:.1f} s."
    return [Finding(fuzzer, repr(data[:SHOWN]), problem)] if problem else []

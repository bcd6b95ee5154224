"""What a fuzzer is: how it draws an input, what it asks, and how one input is tried."""

from __future__ import annotations

import math
import os
import time
import traceback
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dpcore import DomainWarning
from dpcore.core.effort import effort
from dpcore.core.errors import DpcoreError, InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LATE: Final = 0.5
"""Seconds that an answer may come after its deadline."""

MEMORY: Final = 450_000_000
"""Bytes that one question may ask for, as in a worker of the app."""

LONGEST_MESSAGE: Final = 4000
ANSWERED, REFUSED = "answered", "refused"
TRACEBACK, WARNING, NAN, OUTSIDE = "traceback", "warning", "NaN", "outside"
CONTRADICTION, MESSAGE, SLOW = "contradiction", "message", "late"
HUNG, DIED, LARGE = "hung", "died", "memory"
PROBLEMS: Final = (TRACEBACK, WARNING, NAN, OUTSIDE, CONTRADICTION, MESSAGE, SLOW, HUNG, DIED, LARGE)


@dataclass(frozen=True)
class Answer:
    """Numbers of an answer: probabilities lie in [0, 1], the others may be infinite; none is NaN."""

    probabilities: Sequence[float] = ()
    others: Sequence[float] = ()


@dataclass(frozen=True)
class Kind:
    """A fuzzer.

    Attributes
    ----------
    name : its name, also that of its file in ``tests/fuzz/corpus``.
    about : one line that says what an input is and what is asked.
    draw : returns input number `index` of a seed; it depends on nothing else, so that each input can be had again.
    ask : asks one input; it may return an `Answer`, and raises a `DpcoreError` for a refusal.
    count : how many inputs `make fuzz` draws.
    deadline : seconds that one input may take.
    late : seconds that it may take beyond them.
    """

    name: str
    about: str
    draw: Callable[[int, int], Any]
    ask: Callable[[Any], Answer | None]
    count: int
    deadline: float = 1.0
    late: float = LATE


@dataclass(frozen=True)
class Outcome:
    """What came of an input: `answered`, `refused` or one of `PROBLEMS`, and the words that go with it."""

    name: str
    words: str = ""


@dataclass(frozen=True)
class Finding:
    """An input on which something went wrong; `given` is a line for the corpus."""

    kind: str
    given: str
    outcome: Outcome


def attempt(kind: Kind, given: Any) -> Outcome:
    """Ask one input: an answer or one sentence is right, everything else is a problem."""
    try:
        with effort(tolerance=1e-3, deadline=kind.deadline, memory=MEMORY):
            answer = kind.ask(given)
    except InternalError as error:
        return Outcome(CONTRADICTION, str(error))
    except DpcoreError as error:
        words = str(error)
        fits = 0 < len(words) <= LONGEST_MESSAGE and "\n\n" not in words
        return Outcome(REFUSED, words) if fits else Outcome(MESSAGE, f"The message has {len(words)} characters.")
    except AssertionError as error:
        return Outcome(CONTRADICTION, str(error) or traceback.format_exc(limit=-2))
    except RuntimeWarning:
        return Outcome(WARNING, traceback.format_exc(limit=-4))
    except Exception:  # noqa: BLE001  that is what is looked for
        return Outcome(TRACEBACK, traceback.format_exc(limit=-4))
    return judgement(answer or Answer())


def judgement(answer: Answer) -> Outcome:
    """Look at the numbers of an answer."""
    numbers = [*answer.probabilities, *answer.others]
    if any(math.isnan(x) for x in numbers):
        return Outcome(NAN, f"The answer is {numbers}.")
    if not all(0.0 <= x <= 1.0 for x in answer.probabilities):
        return Outcome(OUTSIDE, f"The answer is {list(answer.probabilities)}.")
    return Outcome(ANSWERED)


class Pace:
    """What share of a core this process has had of late, with those that it started and ended.

    To ask the system costs as much as to read a short text: it is asked ten times a second.
    """

    EVERY: Final = 0.1

    def __init__(self) -> None:
        self.since, self.work = -math.inf, 0.0

    def begin(self, now: float) -> None:
        """Measure from now on, or from the last tenth of a second."""
        if now - self.since > self.EVERY:
            self.since, self.work = now, sum(os.times()[:4])

    def share(self) -> float:
        """Return the seconds of work for each second that has passed, at most 1."""
        return min(1.0, (sum(os.times()[:4]) - self.work) / (time.monotonic() - self.since))


_pace = Pace()


def tried(kind: Kind, given: Any) -> Outcome:
    """Ask one input; an answer that comes too late is a problem, too.

    A busy machine is no error: seconds beyond the deadline count by the share of a core that the process had. On an idle
    machine that is 1; what waits without working is left to whoever watches the process.
    """
    start = time.monotonic()
    _pace.begin(start)
    outcome = attempt(kind, given)
    seconds = time.monotonic() - start
    if outcome.name in PROBLEMS or seconds <= kind.deadline + kind.late:
        return outcome
    share = _pace.share()
    if (seconds - kind.deadline) * share <= kind.late:
        return outcome
    return Outcome(SLOW, f"It took {seconds:.1f} s with {share:.0%} of a core; {kind.deadline} s are allowed.")


def strict_warnings() -> None:
    """Make a warning of numpy an error, in this process; notices of the library are no problem.

    What overflows to infinity is judged by what comes of it.
    """
    warnings.simplefilter("error", RuntimeWarning)
    warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)
    warnings.simplefilter("ignore", DomainWarning)

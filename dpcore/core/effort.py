"""How hard to work: the width of a bracket, the time, memory and operations allowed, and the listener for progress.

The settings live in a context variable, so a page or a script sets them once around a whole computation and no
function needs to pass them on.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dpcore.core.domains import TOLERANCE
from dpcore.core.errors import BudgetError
from dpcore.core.numerals import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Allowance:
    """The operations that may still be spent."""

    __slots__ = ("left", "whole")

    def __init__(self, whole: float) -> None:
        self.whole = self.left = whole


@dataclass(frozen=True, slots=True)
class Effort:
    """The settings: relative width of brackets, end time, memory limit, operations and progress listener."""

    tolerance: float = 1e-6
    ends_at: float = float("inf")
    memory: int = 1_500_000_000
    progress: Callable[[float], None] | None = None
    work: Allowance | None = None


_current: ContextVar[Effort] = ContextVar("effort")
_fraction: ContextVar[float] = ContextVar("fraction", default=0.0)
_DEFAULT, _NEVER = Effort(), float("inf")


def current() -> Effort:
    """Return the effort in force here."""
    return _current.get(_DEFAULT)


@contextmanager
def effort(
    *,
    tolerance: float | None = None,
    deadline: float | None = None,
    memory: int | None = None,
    progress: Callable[[float], None] | None = None,
    work: float | None = None,
) -> Iterator[Effort]:
    """Set the effort of everything computed inside the ``with`` block.

    Parameters
    ----------
    tolerance : float, optional
        Largest relative width of a certified bracket, in [1e-12, 1); default 1e-6.
    deadline : float, optional
        Seconds from now after which the computation stops with a `BudgetError`.
    memory : int, optional
        Bytes a computation may allocate; more is refused before it is allocated.
    progress : callable, optional
        Called with a fraction in [0, 1] at least every 0.2 s of work; it may raise to stop.
    work : float, optional
        Operations of lattices (points of their transforms) after which the computation stops with a `BudgetError`.
        Unlike a deadline it refuses the same questions on every machine; about 10^7 are done in a second.

    Yields
    ------
    Effort
        The settings in effect.
    """
    now = current()
    changed = replace(
        now,
        tolerance=now.tolerance if tolerance is None else TOLERANCE.check(tolerance),
        ends_at=now.ends_at if deadline is None else min(now.ends_at, time.monotonic() + deadline),
        memory=now.memory if memory is None else memory,
        progress=now.progress if progress is None else progress,
        work=now.work if work is None else Allowance(work),
    )
    token, before = _current.set(changed), _fraction.set(0.0)
    try:
        yield changed
    finally:
        _current.reset(token)
        _fraction.reset(before)


def impose(*, tolerance: float, deadline: float, memory: int, progress: Callable[[float], None]) -> None:
    """Replace the effort of everything that this thread or task computes from now on.

    Parameters
    ----------
    tolerance, deadline, memory, progress : float or int or callable
        As in `effort`.
    """
    _current.set(Effort(TOLERANCE.check(tolerance), time.monotonic() + deadline, memory, progress))


def checkpoint(fraction: float | None = None) -> None:
    """Report the progress to the listener, and stop the work when its time has run out.

    A deadline can only refuse: no answer depends on it. Work between two checkpoints takes at most a fifth of a second.

    Parameters
    ----------
    fraction : float, optional
        Share of the work done, in [0, 1]; None, where the share is unknown, repeats the last one.
    """
    now = current()
    if now.progress is None and now.ends_at == _NEVER:
        return
    if fraction is None:
        fraction = _fraction.get()
    else:
        _fraction.set(fraction)
    if now.progress is not None:
        now.progress(min(1.0, max(0.0, fraction)))
    if time.monotonic() > now.ends_at:
        msg = f"The time allowed ended with {fraction:.0%} of the work done; allow more time or a larger tolerance."
        raise BudgetError(msg)


def spend(operations: float) -> None:
    """Count operations, also those whose result is cached from an earlier question, and stop once the allowance is spent."""
    allowance = current().work
    if allowance is None:
        return
    allowance.left -= operations
    if allowance.left < 0:
        msg = f"It takes more than the {nearest(allowance.whole, 2)} operations allowed for it."
        raise BudgetError(msg)


@contextmanager
def stage(begin: float, end: float) -> Iterator[None]:
    """Map the fractions reported inside the ``with`` block to the part from `begin` to `end` of the whole work."""
    listener = current().progress
    if listener is None:
        yield
        return
    with effort(progress=lambda fraction: listener(begin + (end - begin) * fraction)):
        yield


def claim(size: float, what: str) -> None:
    """Refuse an allocation of more bytes than allowed before it happens."""
    limit = current().memory
    if size > limit:
        msg = f"{what} would need {nearest(size / 1e9, 3)} GB of memory; {nearest(limit / 1e9, 3)} GB are allowed."
        raise BudgetError(msg)

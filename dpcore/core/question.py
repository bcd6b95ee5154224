"""One question at a time: what is worked out on the way to an answer ends with it.

An answer is a function of the region, the question and the tolerance alone. Intermediate results whose last digits
depend on what was asked together, such as the nodes of a contour, are therefore kept for one question and no longer:
neither earlier questions nor other threads can change a digit. What is the same whoever asks (tables of saddle
points, coefficients, lattices of a fixed step) may be kept with the region.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

Kept = TypeVar("Kept")

_notes: ContextVar[dict[Hashable, Any] | None] = ContextVar("notes", default=None)


@contextmanager
def question() -> Iterator[None]:
    """Make everything asked inside the ``with`` block one question, whose parts share their intermediate results.

    Inside another question it changes nothing. A question belongs to the thread that asks it.
    """
    if _notes.get() is not None:
        yield
        return
    token = _notes.set({})
    try:
        yield
    finally:
        _notes.reset(token)


def shared(owner: Hashable, make: Callable[[], Kept]) -> Kept:
    """Return what `make` returned earlier in this question for this owner; outside a question it is made each time."""
    notes = _notes.get()
    if notes is None:
        return make()
    if owner not in notes:
        notes[owner] = make()
    kept: Kept = notes[owner]
    return kept

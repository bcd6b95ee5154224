"""One question at a time: intermediate results live as long as the question.

An answer is a function of the region, the question and the tolerance alone. Intermediate results whose last digits
depend on which values a question combines, such as the nodes of a contour, are therefore cached for one question only:
neither earlier questions nor other threads can change a digit. Results that are the same for every question (tables of
saddle points, coefficients, lattices of a fixed step) may be cached with the region.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

Result = TypeVar("Result")

_cache: ContextVar[dict[Hashable, Any] | None] = ContextVar("cache", default=None)


@contextmanager
def question() -> Iterator[None]:
    """Treat the ``with`` block as one question, whose parts share their intermediate results.

    Inside another question it changes nothing. A question belongs to one thread.
    """
    if _cache.get() is not None:
        yield
        return
    token = _cache.set({})
    try:
        yield
    finally:
        _cache.reset(token)


def shared(owner: Hashable, make: Callable[[], Result]) -> Result:
    """Return the result of `make` for this owner, called once per question; outside a question it is called each time."""
    cache = _cache.get()
    if cache is None:
        return make()
    if owner not in cache:
        cache[owner] = make()
    result: Result = cache[owner]
    return result


def remark(seconds: float) -> None:
    """Keep how long reaching the tolerance would have taken, the last time it was given up in this question."""
    cache = _cache.get()
    if cache is not None:
        cache[remark] = seconds


def remarked() -> float | None:
    """Return the time kept by `remark` in this question, if there is one."""
    cache = _cache.get()
    return None if cache is None else cache.get(remark)

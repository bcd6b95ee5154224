"""Work a visitor waits for: done once, bounded in time, with a bar and a Stop when it takes long."""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import pandas as pd
import streamlit as st

from dpcore.charts.figure import Figure
from dpcore.errors import BudgetError, DomainWarning, DpcoreError
from dpcore.language import parse
from dpcore.limits import current, limits
from dpcore.tradeoff import TradeOff

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

DEADLINE = 20.0
TOLERANCE = 1e-3
LONG = 2.0  # seconds after which the bar and the Stop appear
MOST_KEPT = 256
MOST_BYTES = 100_000_000
CELL = 60  # bytes of one cell of a table, texts included
STOPPED = "Stopped before the end; change something, or press Try again."
_T = TypeVar("_T")
_WAITS = "_waits"
_warning_lock = threading.Lock()


class Shelf:
    """The latest results, kept by what was asked; errors are results too, unless only the time had ended.

    Streamlit's own cache cannot be used where the work itself moves a progress bar.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.kept: OrderedDict[Hashable, object] = OrderedDict()
        self.lock = threading.Lock()
        self.hits = 0

    def get(self, key: Hashable, make: Callable[[], _T], *, stoppable: bool = True) -> _T:
        """Return the result kept under `key`, or make and keep it, unless the visitor has pressed Stop."""
        with self.lock:
            found = self.kept.get(key)
            if found is not None:
                self.kept.move_to_end(key)
                self.hits += 1
        if found is None:
            if stoppable and st.session_state.get("_stopped"):
                raise BudgetError(STOPPED)
            found = self._made(make)
            with self.lock:
                self.kept[key] = found
                self._make_room()
        if isinstance(found, DpcoreError):
            raise found.with_traceback(None)
        return cast("_T", found)

    def _make_room(self) -> None:
        """Let the oldest results go while there are too many or they weigh too much."""
        weight = sum(map(weigh, self.kept.values()))
        while len(self.kept) > self.most or (weight > MOST_BYTES and len(self.kept) > 1):
            weight -= weigh(self.kept.popitem(last=False)[1])

    @staticmethod
    def _made(make: Callable[[], object]) -> object:
        try:
            return make()
        except DpcoreError as error:
            if time.monotonic() > current().ends_at:
                raise
            return error


def weigh(kept: object) -> int:
    """Return about how many bytes a result holds: its tables, and the arrays of curves computed so far."""
    if isinstance(kept, pd.DataFrame):
        return CELL * kept.size
    if isinstance(kept, Figure):
        return 4 * weigh(kept.table)  # the chart holds the points again, with texts
    if isinstance(kept, tuple):
        return sum(map(weigh, kept))
    curves = [vars(kept).get(name) for name in ("pair", "curve")] if isinstance(kept, TradeOff) else []
    arrays = [part for curve in curves for part in getattr(curve, "__dict__", {}).values()]
    return 1000 + sum(part.nbytes for part in arrays if isinstance(part, np.ndarray))


_SHELF = Shelf(MOST_KEPT)  # of the module, so that reloaded code never meets results of its former self


def shelf() -> Shelf:
    """Return the shelf that all visitors share; what is on it is never changed."""
    return _SHELF


def region(text: str) -> tuple[TradeOff, tuple[str, ...]]:
    """Return the region of an expression and what the library warned about while reading it, such as a clamped value."""

    def make() -> tuple[TradeOff, tuple[str, ...]]:
        with _warning_lock, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DomainWarning)
            found = parse(text)
        return found, tuple(str(one.message) for one in caught if issubclass(one.category, DomainWarning))

    return shelf().get(("region", text), make, stoppable=False)


def attempt(make: Callable[..., _T], *given: Any, **options: Any) -> _T | DpcoreError:
    """Return what was made, or the error that it ended with: one result that fails does not keep the others away."""
    try:
        return make(*given, **options)
    except DpcoreError as error:
        return error


@contextmanager
def patience(words: str = "Computing") -> Iterator[None]:
    """Bound the work of the block in time; after 0.3 s it shows a spinner, after 2 s a bar and a Stop."""
    place = st.empty()
    begun = time.monotonic()
    waits: dict[str, int] = st.session_state.setdefault(_WAITS, {})
    waits[words] = waits.get(words, 0) + 1  # two blocks may use the same words: each has a Stop of its own
    key = f"_stop_{words}_{waits[words]}"
    bar: list[Any] = []

    def tell(fraction: float) -> None:
        if time.monotonic() - begun < LONG:
            return
        if not bar:
            with place.container(horizontal=True, vertical_alignment="center"):
                bar.append(st.progress(0.0, words))
                st.button("Stop", icon=":material/stop:", on_click=stop, key=key)
        bar[0].progress(fraction, f"{words}: {time.monotonic() - begun:.0f} s")

    with st.spinner(words), limits(deadline=DEADLINE, tolerance=TOLERANCE, progress=tell):
        yield
    if bar:
        place.empty()


@contextmanager
def half_of_the_time() -> Iterator[None]:
    """Leave the block half of the time that remains, so that slow work does not starve what comes after it."""
    remains = current().ends_at - time.monotonic()
    with limits(deadline=max(0.0, remains / 2) if math.isfinite(remains) else None):
        yield


def begin() -> None:
    """Count the waits of a page anew: called once at the start of its script."""
    st.session_state[_WAITS] = {}


def stop() -> None:
    """Keep unfinished work from starting again until something changes."""
    st.session_state["_stopped"] = True


def fresh(asked: Hashable) -> None:
    """Allow work again if something else is asked than when it was stopped."""
    if st.session_state.get("_asked") != asked:
        st.session_state["_stopped"] = False
    st.session_state["_asked"] = asked


def try_again() -> None:
    """Start stopped work once more."""
    st.session_state["_stopped"] = False

"""Work that a visitor waits for: done once, bounded in time and memory, with a progress bar and a Stop button."""

from __future__ import annotations

import hashlib
import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]  # it has no types
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpcore.app import worker
from dpcore.app.cache import MOST_BYTES, Cache, pack, pack_error, unpack
from dpcore.app.idle_memory import collector, idle_timer
from dpcore.core.domains import POSITIVE
from dpcore.core.effort import current, effort, impose
from dpcore.core.errors import BudgetError, DpcoreError
from dpcore.core.notices import collected
from dpcore.core.numerals import nearest
from dpcore.core.results import install, kept_by
from dpcore.language import parse
from dpcore.language.numbers import read_value
from dpcore.ledger import Ledger, LedgerReading
from dpcore.regions.cost import PER_SECOND, operations, parts
from dpcore.regions.tradeoff import TradeOff

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator

    from streamlit.delta_generator import DeltaGenerator

    from dpcore.core.results import Keeper

DEADLINE = read_value(POSITIVE, os.environ.get("DPCORE_PAGE_SECONDS", "30"), "DPCORE_PAGE_SECONDS")
"""Seconds for all work of one rerun together; set the environment variable to allow more on a slow machine."""

SHARE = 2 / 3
"""Share of the remaining time that one wait may use, so that a slow result leaves some for the next ones."""

TOLERANCE = 1e-3
LONG = 2.0  # seconds before the bar and the Stop button appear
LIGHT = 3e7
"""Operations (`dpcore.regions.cost`) up to which the server itself does the work: a third of a second."""

MOST = 1e12
"""Work with more operations is refused at once: it would take hours."""

SLACK = 1.0
"""Processor seconds after which work that was estimated as light moves to a worker."""

NOTICE = 0.1
"""Seconds to show the notice of a Stop before the page is redrawn; otherwise the browser would draw both together."""

SHORT = 0.1
"""Seconds of light work before its spinner is prepared, which starts a thread and takes longer than a small step."""

LOOK = 0.02
"""Seconds between two checks whether anybody is still waiting: each takes as long as a small step of the work."""

pd.options.mode.string_storage = "python"  # columns of texts are short: Arrow's take a sixth of a change to build
pa.set_cpu_count(1)  # tables of charts are small: starting threads takes longer than converting them

MOST_LIVE = 64
_LONG = 1_000_000  # bytes of objects that are named once per run
STOPPED = "Stopped before the end; change something, or press Try again."
_T = TypeVar("_T")
_WAITS = "_waits"


class Rerun(threading.local):
    """State of one run of a page's script: results in use, parsed regions, time left and amount of work."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Reset for a new run."""
        self.results: OrderedDict[Hashable, object] = OrderedDict()
        self.names: dict[int, tuple[object, Hashable]] = {}
        self.operations = 0.0
        self.ends_at = time.monotonic() + DEADLINE
        self.stop_is_shown = False
        self.spinner: Callable[[], None] | None = None
        self.is_held = False
        self.followers: dict[str, str] = {}

    def wait(self) -> None:
        """Show the spinner of the block, if it has one and it is not there yet."""
        if self.spinner is not None:
            show, self.spinner = self.spinner, None
            show()

    def keep(self, key: Hashable, result: object) -> None:
        """Store a result for the rest of the run."""
        self.results[key] = result
        if len(self.results) > MOST_LIVE:
            self.results.popitem(last=False)


_rerun = Rerun()


class ResultCache:
    """Results by key: from this run, from an earlier one, or computed now; errors are results too.

    Streamlit's own cache does not work if the computation itself moves a progress bar. Light work runs here. Work that
    is heavy by the estimate of `dpcore.regions.cost`, or turns out to be heavy, runs in a worker, which can be stopped at any
    time.

    Parameters
    ----------
    most : int, default MOST_BYTES
        Maximum size of the stored results in bytes.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.cache = Cache(most)

    @property
    def kept(self) -> Collection[Hashable]:
        """Keys of the stored results."""
        return self.cache.entries.keys()

    @property
    def hits(self) -> int:
        """Number of cache hits."""
        return self.cache.hits

    def get(self, key: Hashable, make: Callable[[], _T], *, stoppable: bool = True) -> _T:
        """Return the result stored under `key`, or compute and store it, unless the visitor has pressed Stop."""
        own = (self.cache.number, key)
        packed = self.cache.get(key)
        if own in _rerun.results:
            result = _rerun.results[own]
        elif packed is not None:
            result = unpack(packed)
        else:
            if stoppable and not worker.inside() and st.session_state.get("_stopped"):  # a Stop ends a worker anyway
                raise BudgetError(STOPPED)
            result = self._compute(key, make)
        if isinstance(result, DpcoreError):
            raise result.with_traceback(None)
        _rerun.keep(own, result)
        return cast("_T", result)

    def reading(self, function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> object | None:  # noqa: ARG002  see below
        """Return what a function reads from a visitor's table, None for other functions; see `dpcore.app.uploads`."""
        return None

    def _compute(self, key: Hashable, make: Callable[[], object]) -> object:
        """Compute a result here or in a worker, and store it; raise an error that only says that time is up."""
        if worker.inside() or not worker.AVAILABLE:
            return self._compute_here(key, make)
        if _rerun.operations > MOST:
            hours = _rerun.operations / PER_SECOND / 3600
            msg = f"This would take about {nearest(_rerun.operations, 1)} operations, {nearest(hours, 2)} hours; a page does at most {nearest(MOST)}."
            raise BudgetError(msg)
        if _rerun.operations <= LIGHT and not _rerun.stop_is_shown:  # a visible Stop must work at any moment
            try:
                with effort(progress=_listener(SLACK)):
                    return self._compute_here(key, make)
            except TooLongError:
                pass  # heavier than estimated
        _rerun.wait()
        packed, nested = worker.run(make, _listener())
        for number, inner, part in nested:
            if (cache := Cache.numbered(number)) is not None:
                cache.put(inner, part)
        result = unpack(packed)
        if isinstance(result, DpcoreError):
            return self._store_error(key, result)
        if not _late():
            self.cache.put(key, packed)
        return result

    def _compute_here(self, key: Hashable, make: Callable[[], object]) -> object:
        try:
            result = make()
        except DpcoreError as error:
            return self._store_error(key, error)
        packed = None if _late() else pack(result)
        if packed is not None and worker.inside():
            worker.hand_back(self.cache.number, key, packed)
        elif packed is not None:
            self.cache.put(key, packed)
        return result

    def _store_error(self, key: Hashable, error: DpcoreError) -> DpcoreError:
        if _late():
            raise error
        self.cache.put(key, pack_error(error))
        return error


class TooLongError(Exception):
    """Work was heavier than estimated; not a `DpcoreError`, because parts of the library catch those and continue."""


def _late() -> bool:
    """Whether time is up; a result may then be incomplete and is not stored."""
    return time.monotonic() > current().ends_at


def _listener(seconds: float = math.inf) -> Callable[[float], None]:
    """Return the progress callback; it ends work that nobody waits for or that takes over `seconds` of processor time.

    Time in which other work had the processor does not count: starting again in a worker would only take more of it.
    """
    tell, begun, looked, worked = current().progress, time.monotonic(), 0.0, time.thread_time()

    def listen(fraction: float) -> None:
        nonlocal looked
        now = time.monotonic()
        if now > looked + LOOK:
            looked = now
            _look()
            if now > begun + SHORT:
                _rerun.wait()
        if now > begun + seconds and time.thread_time() > worked + seconds:
            raise TooLongError
        if tell is not None:
            tell(fraction)

    return listen


def _look() -> None:
    """Stop a run that was replaced or whose visitor has left: Streamlit does this on any access to the session state."""
    st.session_state.get("_stopped")


_SHARED = ResultCache()  # in the module, so that reloaded code never sees results of its older version


def cache() -> ResultCache:
    """Return the cache that all visitors share; its contents are never modified."""
    return _SHARED


def keeper(store: ResultCache) -> Keeper:
    """Return the function behind the library's `result`, backed by a cache: the visitor's own for uploaded data."""

    def keep(function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        if function is parse:  # regions live as long as the run of the page
            return region(*args)[0]
        if (reading := store.reading(function, args, options)) is not None:
            return reading
        try:
            key = (function.__module__, function.__qualname__, name_of(args), name_of(options), current().tolerance)
        except TypeError:  # tables and functions have no name
            return function(*args, **options)

        def make() -> Any:
            with collected():  # notices about the fields appear next to them
                return function(*args, **options)

        value = store.get(key, make)
        if isinstance(value, (Ledger, LedgerReading)):  # they may be long: their name is the question they answer
            _rerun.names[id(value)] = (value, ("result", hashlib.sha256(repr(key).encode()).hexdigest()))
        return value

    return keep


def name_of(value: object) -> Hashable:
    """Return a name that is equal if and only if the arguments are equal; a region is named by its expression."""
    if isinstance(value, TradeOff) and _in_language(value):
        return ("region", type(value).__name__, str(value))
    if id(value) in _rerun.names:
        return _rerun.names[id(value)][1]
    if value is None or isinstance(value, (str, int, float, Fraction)):
        return (type(value).__name__, repr(value))
    if isinstance(value, bytes) or (isinstance(value, np.ndarray) and value.dtype != object):
        return _content_name(value)
    if isinstance(value, (list, tuple, Mapping)):
        return tuple(map(name_of, value.items() if isinstance(value, Mapping) else value))
    if is_dataclass(value) and not isinstance(value, (type, TradeOff)):
        parts = ((field.name, name_of(getattr(value, field.name))) for field in fields(value) if field.compare)
        return (type(value).__qualname__, *parts)
    msg = f"A value of type {type(value).__name__} has no name."
    raise TypeError(msg)


def _content_name(value: bytes | np.ndarray[Any, Any]) -> Hashable:
    """Return the name of bytes or numbers; that of a long array is computed once per run."""
    content, layout = (value, ()) if isinstance(value, bytes) else (value.tobytes(), (value.dtype.str, value.shape))
    name = (type(value).__name__, *layout, hashlib.sha256(content).hexdigest())
    if len(content) > _LONG:
        _rerun.names[id(value)] = (value, name)
    return name


def _in_language(region: TradeOff) -> bool:
    """Whether a region's expression describes it completely."""
    return region.in_language and all(map(_in_language, parts(region)))


def region(text: str) -> tuple[TradeOff, tuple[str, ...]]:
    """Return the region of an expression and the library's notices while parsing it, such as a clamped value.

    Regions live as long as the run of the page. From here on, the work of the page counts as that of its heaviest
    region.
    """
    key = ("region", text)
    if key not in _rerun.results:
        with collected() as notices:
            region_ = parse(text)
        _rerun.keep(key, (region_, tuple(notices)))
        with suppress(DpcoreError):  # errors in its parts appear when its numbers are computed
            expect(operations(region_))
    return cast("tuple[TradeOff, tuple[str, ...]]", _rerun.results[key])


def expect(operations: float) -> None:
    """Declare how much work the page will do, if no region determines it."""
    _rerun.operations = max(_rerun.operations, operations)


@contextmanager
def progress(words: str = "Computing", *, store: ResultCache | None = None) -> Iterator[None]:
    """Limit the time of the block; show a spinner after 0.5 s, and a progress bar with a Stop button after 2 s.

    Parameters
    ----------
    words : str, default "Computing"
        What the visitor is waiting for.
    store : ResultCache, optional
        Where to store results; by default in the cache that all visitors share.
    """
    place = st.empty()
    begun = time.monotonic()
    waits: dict[str, int] = st.session_state.setdefault(_WAITS, {})
    waits[words] = waits.get(words, 0) + 1  # two blocks may use the same words, but each has its own Stop
    key = f"_stop_{words}_{waits[words]}"
    bar: list[Any] = []

    def tell(fraction: float) -> None:
        if time.monotonic() - begun < LONG:
            return
        if not bar:
            with place.container(horizontal=True, vertical_alignment="center"):
                bar.append(st.progress(0.0, words))
                st.button("Stop", icon=":material/stop:", on_click=stop, key=key)
            _rerun.stop_is_shown = True
        bar[0].progress(fraction, f"{words}: {time.monotonic() - begun:.0f} s")

    remains = max(0.0, _rerun.ends_at - begun)
    waiting, outer = ExitStack(), _rerun.spinner
    _rerun.spinner = lambda: waiting.enter_context(st.spinner(words))
    try:
        with (
            waiting,
            effort(deadline=SHARE * remains, tolerance=TOLERANCE, memory=worker.MEMORY, progress=tell),
            kept_by(keeper(store if store is not None else cache())),
        ):
            yield
    except DpcoreError:
        _end(place, bar)
        raise
    finally:
        _rerun.spinner = outer
    _end(place, bar)


def _end(place: DeltaGenerator, bar: list[Any]) -> None:
    """Remove the bar and its Stop, if shown."""
    if bar:
        place.empty()
        _rerun.stop_is_shown = False


@contextmanager
def half_of_the_time() -> Iterator[None]:
    """Give the block half of the remaining time, so that slow work does not starve what follows."""
    remains = current().ends_at - time.monotonic()
    with effort(deadline=max(0.0, remains / 2) if math.isfinite(remains) else None):
        yield


def begin() -> None:
    """Reset the waits, the time and the work of a page; called once at the start of its script.

    Work belongs in a cache, inside `progress`. Work outside of it stops when the visitor leaves or changes something, and
    after twice the time at the latest.
    """
    st.session_state[_WAITS] = {}
    _rerun.begin()
    if get_script_run_ctx() is not None:  # otherwise this thread does not belong to a page
        idle_timer.note()
        collector.note()
        impose(tolerance=TOLERANCE, deadline=2 * DEADLINE, memory=worker.MEMORY, progress=lambda _: _look())
        install(keeper(cache()))


@st.fragment
def part(run: Callable[[], None]) -> None:
    """Run a part of a page that can rerun alone, with its own time and work limits."""
    if alone():
        begin()
    run()


def alone() -> bool:
    """Whether only a part of the page runs."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


def hold(*, held: bool) -> None:
    """Record whether this run follows a slider that is still held."""
    _rerun.is_held = held


def is_held() -> bool:
    """Whether this run follows a slider that is still held: the next picture comes soon."""
    return _rerun.is_held


def note_follower(slider: str, part: str) -> str:
    """Record the part of the page that follows a slider; return the first one in this run."""
    return _rerun.followers.setdefault(slider, part)


def stop() -> None:
    """Block unfinished work until something changes, and say so before the page is redrawn."""
    st.session_state["_stopped"] = True
    st.toast("Stopped.", icon=":material/stop_circle:")
    time.sleep(NOTICE)


def fresh(query: Hashable) -> None:
    """Allow work again if the query has changed since it was stopped."""
    if st.session_state.get("_asked") != query:
        st.session_state["_stopped"] = False
    st.session_state["_asked"] = query


def try_again() -> None:
    """Restart stopped work."""
    st.session_state["_stopped"] = False

"""Work a visitor waits for: done once, bounded in time and memory, with a bar and a Stop when it takes long."""

from __future__ import annotations

import hashlib
import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]  # it has no types
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpcore.app import worker
from dpcore.app.cache import MOST_BYTES, Cache, pack, pack_error, unpack
from dpcore.app.idle_memory import idle_timer, module_freezer
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
"""Seconds that all work of one rerun may take together; a slower machine may be given more by the environment."""

SHARE = 2 / 3
"""Part of what remains of that time that one wait may take: a slow result leaves some to those after it."""

TOLERANCE = 1e-3
LONG = 2.0  # seconds after which the bar and the Stop appear
LIGHT = 3e7
"""Operations (`dpcore.regions.cost`) up to which work is done in the server itself: a third of a second."""

MOST = 1e12
"""Operations that are refused before they are begun: hours."""

SLACK = 1.0
"""Seconds after which work that was taken for light is given to a worker."""

NOTICE = 0.1
"""Seconds for the notice of a Stop to be shown: a browser draws what comes at once together, and a page takes it longer."""

LOOK = 0.02
"""Seconds between two looks whether anybody still waits: each takes as long as a small step of the work."""

pa.set_cpu_count(1)  # tables of charts are small: to start threads for each of them takes longer than to convert it

MOST_LIVE = 64
STOPPED = "Stopped before the end; change something, or press Try again."
_T = TypeVar("_T")
_WAITS = "_waits"


class Rerun(threading.local):
    """What lives for one run of a page's script: results in use, regions read, time left, how heavy the work is."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start anew."""
        self.results: OrderedDict[Hashable, object] = OrderedDict()
        self.names: dict[int, tuple[object, Hashable]] = {}
        self.operations = 0.0
        self.ends_at = time.monotonic() + DEADLINE
        self.stop_is_shown = False

    def keep(self, key: Hashable, result: object) -> None:
        """Keep a result for the rest of the run."""
        self.results[key] = result
        if len(self.results) > MOST_LIVE:
            self.results.popitem(last=False)


_rerun = Rerun()


class ResultCache:
    """Results by what was asked: of this run, of an earlier one, or made now; errors are results too.

    Streamlit's own cache cannot be used where the work itself moves a progress bar. Light work is done here; heavy work,
    by the estimate of `dpcore.regions.cost`, and work that turns out to be heavy, is done by a worker, which can be ended
    whatever it is doing.

    Parameters
    ----------
    most : int, default MOST_BYTES
        Bytes of results that are kept.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.cache = Cache(most)

    @property
    def kept(self) -> Collection[Hashable]:
        """What the results are kept under."""
        return self.cache.kept.keys()

    @property
    def hits(self) -> int:
        """How many results were found ready."""
        return self.cache.hits

    def get(self, key: Hashable, make: Callable[[], _T], *, stoppable: bool = True) -> _T:
        """Return the result kept under `key`, or make and keep it, unless the visitor has pressed Stop."""
        own = (self.cache.number, key)
        packed = self.cache.get(key)
        if own in _rerun.results:
            result = _rerun.results[own]
        elif packed is not None:
            result = unpack(packed)
        else:
            if stoppable and st.session_state.get("_stopped"):
                raise BudgetError(STOPPED)
            result = self._made(key, make)
        if isinstance(result, DpcoreError):
            raise result.with_traceback(None)
        _rerun.keep(own, result)
        return cast("_T", result)

    def _made(self, key: Hashable, make: Callable[[], object]) -> object:
        """Make a result where its work belongs, and keep it; an error that only says that time has ended is raised."""
        if worker.inside() or not worker.AVAILABLE:
            return self._made_here(key, make)
        if _rerun.operations > MOST:
            hours = _rerun.operations / PER_SECOND / 3600
            msg = f"This would take about {nearest(_rerun.operations, 1)} operations, {nearest(hours, 2)} hours; a page does at most {nearest(MOST)}."
            raise BudgetError(msg)
        if _rerun.operations <= LIGHT and not _rerun.stop_is_shown:  # who sees a Stop may press it at any moment
            try:
                with effort(progress=_listener(SLACK)):
                    return self._made_here(key, make)
            except TooLongError:
                pass  # not so light after all
        packed, nested = worker.run(make, _listener())
        for number, inner, part in nested:
            if (cache := Cache.numbered(number)) is not None:
                cache.put(inner, part)
        result = unpack(packed)
        if isinstance(result, DpcoreError):
            return self._ended(key, result)
        if not _late():
            self.cache.put(key, packed)
        return result

    def _made_here(self, key: Hashable, make: Callable[[], object]) -> object:
        try:
            result = make()
        except DpcoreError as error:
            return self._ended(key, error)
        packed = None if _late() else pack(result)
        if packed is not None and worker.inside():
            worker.hand_back(self.cache.number, key, packed)
        elif packed is not None:
            self.cache.put(key, packed)
        return result

    def _ended(self, key: Hashable, error: DpcoreError) -> DpcoreError:
        if _late():
            raise error
        self.cache.put(key, pack_error(error))
        return error


class TooLongError(Exception):
    """Work that was taken for light has become heavy; not an error of the library, whose parts may do without one another."""


def _late() -> bool:
    """Whether the time allowed has ended: then a result may lack what had no time left, and is not kept."""
    return time.monotonic() > current().ends_at


def _listener(seconds: float = math.inf) -> Callable[[float], None]:
    """Return who is told about progress, and ends work that nobody waits for, or that takes longer than `seconds`."""
    tell, begun, looked = current().progress, time.monotonic(), 0.0

    def listen(fraction: float) -> None:
        nonlocal looked
        now = time.monotonic()
        if now > looked + LOOK:
            looked = now
            _look()
        if now > begun + seconds:
            raise TooLongError
        if tell is not None:
            tell(fraction)

    return listen


def _look() -> None:
    """End a run that was replaced by another or whose visitor has left: Streamlit does, when asked for the session's state."""
    st.session_state.get("_stopped")


_SHARED = ResultCache()  # of the module, so that reloaded code never meets results of its former self


def cache() -> ResultCache:
    """Return the cache that all visitors share; what is in it is never changed."""
    return _SHARED


def keeper(store: ResultCache) -> Keeper:
    """Return who answers the library's `result`: from a cache, which is the visitor's own where their data are used."""

    def keep(function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        if function is parse:  # a region lives as long as the run of the page
            return region(*args)[0]
        try:
            key = (function.__module__, function.__qualname__, name_of(args), name_of(options), current().tolerance)
        except TypeError:  # of a table or a function nobody knows the name
            return function(*args, **options)

        def make() -> Any:
            with collected():  # what is noted about the fields is said beside them
                return function(*args, **options)

        made = store.get(key, make)
        if isinstance(made, (Ledger, LedgerReading)):  # they may be long: their name is the question they answer
            _rerun.names[id(made)] = (made, ("result", hashlib.sha256(repr(key).encode()).hexdigest()))
        return made

    return keep


def name_of(value: object) -> Hashable:
    """Return a name that is equal exactly for equal arguments; a region is named by its expression."""
    if isinstance(value, TradeOff) and _in_language(value):
        return ("region", type(value).__name__, str(value))
    if id(value) in _rerun.names:
        return _rerun.names[id(value)][1]
    if value is None or isinstance(value, (str, int, float)):
        return (type(value).__name__, repr(value))
    if isinstance(value, bytes) or (isinstance(value, np.ndarray) and value.dtype != object):
        numbers = np.ascontiguousarray(value)
        return (type(value).__name__, numbers.dtype.str, numbers.shape, hashlib.sha256(numbers.tobytes()).hexdigest())
    if isinstance(value, (list, tuple, Mapping)):
        return tuple(map(name_of, value.items() if isinstance(value, Mapping) else value))
    if is_dataclass(value) and not isinstance(value, (type, TradeOff)):
        parts = ((field.name, name_of(getattr(value, field.name))) for field in fields(value) if field.compare)
        return (type(value).__qualname__, *parts)
    msg = f"A value of type {type(value).__name__} has no name."
    raise TypeError(msg)


def _in_language(region: TradeOff) -> bool:
    """Whether a region's expression says all about it."""
    return region.in_language and all(map(_in_language, parts(region)))


def region(text: str) -> tuple[TradeOff, tuple[str, ...]]:
    """Return the region of an expression and what the library warned about while reading it, such as a clamped value.

    Regions live as long as the run of the page. From here on the work of the page is taken to be that of its heaviest
    region.
    """
    key = ("region", text)
    if key not in _rerun.results:
        with collected() as notices:
            region_ = parse(text)
        _rerun.keep(key, (region_, tuple(notices)))
        with suppress(DpcoreError):  # what is wrong with its parts is said when it is asked for its numbers
            expect(operations(region_))
    return cast("tuple[TradeOff, tuple[str, ...]]", _rerun.results[key])


def expect(operations: float) -> None:
    """Say how much work the page is going to do, where no region tells it."""
    _rerun.operations = max(_rerun.operations, operations)


def attempt(make: Callable[..., _T], *arguments: Any, **options: Any) -> _T | DpcoreError:
    """Return what was made, or the error that it ended with: one result that fails does not keep the others away."""
    try:
        return make(*arguments, **options)
    except DpcoreError as error:
        return error


@contextmanager
def progress(words: str = "Computing", *, store: ResultCache | None = None) -> Iterator[None]:
    """Bound the work of the block in time; after 0.3 s it shows a spinner, after 2 s a bar and a Stop.

    Parameters
    ----------
    words : str, default "Computing"
        What the visitor waits for.
    store : ResultCache, optional
        Where results of the library are kept; with all visitors' by default.
    """
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
            _rerun.stop_is_shown = True
        bar[0].progress(fraction, f"{words}: {time.monotonic() - begun:.0f} s")

    remains = max(0.0, _rerun.ends_at - begun)
    try:
        with (
            st.spinner(words),
            effort(deadline=SHARE * remains, tolerance=TOLERANCE, memory=worker.MEMORY, progress=tell),
            kept_by(keeper(store if store is not None else cache())),
        ):
            yield
    except DpcoreError:
        _end(place, bar)
        raise
    _end(place, bar)


def _end(place: DeltaGenerator, bar: list[Any]) -> None:
    """Take the bar and its Stop away, if they have come."""
    if bar:
        place.empty()
        _rerun.stop_is_shown = False


@contextmanager
def half_of_the_time() -> Iterator[None]:
    """Leave the block half of the time that remains, so that slow work does not starve what comes after it."""
    remains = current().ends_at - time.monotonic()
    with effort(deadline=max(0.0, remains / 2) if math.isfinite(remains) else None):
        yield


def begin() -> None:
    """Count the waits, the time and the work of a page anew: called once at the start of its script.

    Work belongs into a cache, inside `progress`. What is done outside all the same ends when the visitor leaves or asks for
    something else, and after twice the time at the latest.
    """
    st.session_state[_WAITS] = {}
    _rerun.begin()
    if get_script_run_ctx() is not None:  # otherwise this thread is not that of a page
        idle_timer.note()
        module_freezer.note()
        impose(deadline=2 * DEADLINE, memory=worker.MEMORY, progress=lambda _: _look())
        install(keeper(cache()))


@st.fragment
def part(run: Callable[[], None]) -> None:
    """Run a part of a page that can run again by itself, with a time and a share of work of its own."""
    if alone():
        begin()
    run()


def alone() -> bool:
    """Whether only a part of the page runs."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


def stop() -> None:
    """Keep unfinished work from starting again until something changes; say so before the page is drawn again."""
    st.session_state["_stopped"] = True
    st.toast("Stopped.", icon=":material/stop_circle:")
    time.sleep(NOTICE)


def fresh(asked: Hashable) -> None:
    """Allow work again if something else is asked than when it was stopped."""
    if st.session_state.get("_asked") != asked:
        st.session_state["_stopped"] = False
    st.session_state["_asked"] = asked


def try_again() -> None:
    """Start stopped work once more."""
    st.session_state["_stopped"] = False

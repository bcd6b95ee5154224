"""Work of a page: where it is done, how it ends, and what is kept of it."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
import time
import tomllib
import weakref
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore import dp, parse
from dpcore.app import idle_memory, work, worker
from dpcore.app.cache import Cache, pack, unpack
from dpcore.charts.sampling import sample
from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.curves.polygon import Polygon
from dpcore.engine.lattice_store import STORE
from dpcore.regions.cost import operations
from dpcore.specs.presets import presets

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAVY = 1e9


@pytest.fixture(autouse=True)
def _run_of_its_own() -> Iterator[None]:
    work._rerun.begin()
    yield
    work._rerun.begin()


def quiet(_: float) -> None:
    """Hear how far the work is and let it go on."""


def endless() -> None:
    """Work that no checkpoint ends."""
    while True:
        pass


class LeftError(Exception):
    """The visitor went away."""


# ---- workers -------------------------------------------------------------------------------------------------


def children() -> set[int]:
    """Return the processes that this one has started and that have not ended."""
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def test_a_worker_gives_the_same_bits() -> None:
    def make() -> Any:
        return sample(parse("subsample(laplace(1), 0.1)^20"))

    with effort(tolerance=1e-3):
        packed, _ = worker.run(make, quiet)
        here = make()
    there: Any = unpack(packed)
    for column in here.columns:
        assert here[column].tolist() == there[column].tolist(), column


def test_endless_work_ends_with_its_time() -> None:
    before = children()  # a browser of other tests may be among them
    with effort(deadline=0.2), pytest.raises(BudgetError, match="time allowed"):
        worker.run(endless, quiet)
    assert children() == before


def test_endless_work_ends_when_the_visitor_leaves() -> None:
    heard: list[float] = []
    before = children()

    def leave(fraction: float) -> None:
        heard.append(fraction)
        if len(heard) == 3:
            raise LeftError

    with pytest.raises(LeftError):
        worker.run(endless, leave)
    assert children() == before


def test_a_worker_does_not_wait_for_threads_that_it_does_not_have() -> None:
    """Of another visitor's run: one that computes a property or holds the store of lattices when the worker is copied."""
    begun, end = threading.Event(), threading.Event()

    class Slow(Polygon):
        @property
        def p(self) -> np.ndarray[Any, Any]:  # type: ignore[override]  # it waits
            begun.set()
            assert end.wait(20)
            return np.ones(1)

    def hold() -> None:
        with STORE._lock:
            _ = Slow([0.0], [1.0], [1.0], symmetric=True).vertices

    thread = threading.Thread(target=hold)
    thread.start()
    assert begun.wait(20)
    try:
        with effort(deadline=10.0):
            packed, _ = worker.run(lambda: (parse("dp(1)").beta(0.1), STORE.get(-1, "nothing")), quiet)
    finally:
        end.set()
        thread.join(20)
    assert unpack(packed) == (parse("dp(1)").beta(0.1), None)


def test_a_worker_asks_nothing_of_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lock may be held by a thread that the worker does not have."""

    class Session:
        def get(self, _: str) -> None:
            assert not worker.inside()

    monkeypatch.setattr(work.st, "session_state", Session())
    packed, _ = worker.run(lambda: work.ResultCache().get("a", lambda: 1), quiet)
    assert unpack(packed) == 1


def test_a_worker_answers_a_server_with_a_thousand_connections() -> None:
    with ExitStack() as stack:
        for _ in range(1050):
            stack.callback(os.close, os.dup(0))
        assert unpack(worker.run(lambda: 1, quiet)[0]) == 1


def test_a_worker_is_not_copied_while_a_module_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The import would never end in the copy, nor would its own import of the same module."""
    (tmp_path / "imported_slowly.py").write_text("import time\ntime.sleep(0.5)\nVALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    thread = threading.Thread(target=importlib.import_module, args=("imported_slowly",))
    thread.start()
    while "imported_slowly" not in sys.modules:
        time.sleep(0.01)
    with effort(deadline=10.0):
        packed, _ = worker.run(lambda: importlib.import_module("imported_slowly").VALUE, quiet)
    thread.join(20)
    assert unpack(packed) == 1


def test_memory_is_bounded_by_the_system() -> None:
    def greedy() -> list[Any]:
        return [np.ones(10**7) for _ in range(100)]  # 8 GB

    packed, _ = worker.run(greedy, quiet)
    error = unpack(packed)
    assert isinstance(error, BudgetError)
    assert "450 MB" in str(error)


def test_an_error_keeps_its_class_and_its_words() -> None:
    def wrong() -> None:
        dp(-1)

    packed, _ = worker.run(wrong, quiet)
    error = unpack(packed)
    assert isinstance(error, DomainError)
    assert "-1" in str(error)


def test_a_mistake_of_ours_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        worker.run(lambda: 1 // 0, quiet)


def test_progress_is_told_from_the_worker() -> None:
    from dpcore.core.effort import checkpoint

    heard: list[float] = []

    def steps() -> str:
        for step in range(4):
            checkpoint(step / 4)
            time.sleep(0.12)
        return "done"

    packed, _ = worker.run(steps, heard.append)
    assert unpack(packed) == "done"
    assert {0.25, 0.5} <= set(heard)


def test_results_made_on_the_way_come_back_too() -> None:
    cache = work.ResultCache()
    work.expect(HEAVY)
    made = cache.get("sum", lambda: cache.get("part", lambda: 20) + 1)
    assert made == 21
    assert set(cache.kept) == {"sum", "part"}


def test_work_that_turns_out_to_be_heavy_is_given_to_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcore.core.effort import checkpoint

    monkeypatch.setattr(work, "SLACK", 0.05)

    def busy() -> int:
        ends = time.thread_time() + 0.1
        while not worker.inside() and time.thread_time() < ends:
            checkpoint(0.5)
        return os.getpid()

    def waiting() -> int:  # while others have the processor
        time.sleep(0.1)
        checkpoint(0.5)
        return os.getpid()

    assert work.ResultCache().get("pid", busy) != os.getpid()
    assert work.ResultCache().get("pid", waiting) == os.getpid()


def test_light_work_stays_here_and_heavy_work_does_not() -> None:
    assert work.ResultCache().get("pid", os.getpid) == os.getpid()
    work.expect(HEAVY)
    assert work.ResultCache().get("pid", os.getpid) != os.getpid()


def test_while_a_stop_is_shown_all_work_is_done_where_it_can_be_ended() -> None:
    work._rerun.stop_is_shown = True
    assert work.ResultCache().get("pid", os.getpid) != os.getpid()


def _page_with_work_outside() -> None:
    import streamlit as st

    from dpcore.app import work
    from dpcore.core.effort import checkpoint
    from dpcore.core.errors import BudgetError

    work.begin()
    try:
        while True:
            checkpoint()
    except BudgetError as error:
        st.error(str(error))


def test_work_outside_of_every_wait_ends_with_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "DEADLINE", 0.1)
    (shown,) = AppTest.from_function(_page_with_work_outside, default_timeout=30).run().error
    assert "The time allowed ended" in shown.value


def _page_that_fails_late() -> None:
    import streamlit as st

    from dpcore.app import figure, work
    from dpcore.core.effort import checkpoint
    from dpcore.core.errors import BudgetError, DpcoreError

    work.begin()
    try:
        with work.progress("Trying"):
            checkpoint(0.5)
            st.caption(f"{work._rerun.stop_is_shown}")
            msg = "Not so."
            raise BudgetError(msg)
    except DpcoreError as error:
        figure.trouble(error, "tried")


def test_an_error_takes_the_bar_and_its_stop_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "LONG", 0.0)
    app = AppTest.from_function(_page_that_fails_late, default_timeout=30).run()
    assert [caption.value for caption in app.caption] == ["True"]
    assert [button.label for button in app.button] == ["Try again"]
    assert [error.value for error in app.error] == ["Not so."]


def test_work_of_hours_is_refused_with_its_cost() -> None:
    work.expect(1e13)
    with pytest.raises(BudgetError, match=r"about 1e13 operations, 28 hours; a page does at most 1e12"):
        work.ResultCache().get("never", lambda: None)


# ---- the estimate --------------------------------------------------------------------------------------------

LIGHT = (
    "dp(0.6, 0.05)^5",
    "dptv(0.6, 0.15, 0.25)",
    "gaussian(1)^100",
    "laplace(0.1)^1000",
    "dp(0.01)^1000000",
    "poisson_gaussian(1, 0.01)^1000",
    "laplace(1)^10 * gaussian(1) * dp(1)^5",
    "subsample(gdp(1), 0.1)",
    "subsample(laplace(1), 0.1)^100",
    "gaussian(1) & laplace(1)",
    "rr(1, 5)^100",
)
HEAVY_ONES = (
    "subsample(laplace(1), 0.1)^10",
    "subsample(normal_laplace(1, 1), 0.1)^100",
    "(gaussian(1) & laplace(1))^5",
    "exponential(0.5)^50",
    "normal_laplace(1, 1)^10",
    "laplace_sum(1, 2)^10",
    "group(gdp(0.1) & dp(0.2, 0.0001), 3)^10",
    "poisson_gaussian(0.5, 0.001)^5",
)


@pytest.mark.parametrize("text", LIGHT)
def test_what_takes_milliseconds_is_light(text: str) -> None:
    assert operations(parse(text)) <= work.LIGHT


@pytest.mark.parametrize("text", HEAVY_ONES)
def test_what_takes_seconds_is_heavy(text: str) -> None:
    assert operations(parse(text)) > work.LIGHT


# ---- what is kept --------------------------------------------------------------------------------------------


def test_a_cache_weighs_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Cache(1000)
    for number in range(50):
        kept.put(number, bytes(100))
    assert kept.weight == sum(map(len, kept.entries.values())) == 1000
    assert list(kept.entries) == list(range(40, 50)), "the oldest went first"
    kept.put("large", bytes(1001))
    assert "large" not in kept.entries
    monkeypatch.setattr(Cache, "bound", Cache.total() + 500)
    other = Cache()
    for number in range(50):
        other.put(number, bytes(100))
    assert Cache.total() <= Cache.bound, "one bound for all caches of the process"


def test_memory_is_given_back_when_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    given_back = threading.Event()
    monkeypatch.setattr(idle_memory, "give_back", given_back.set)
    idle_memory.IdleTimer(quiet=600.0).note()
    assert not given_back.wait(0.1)
    keeper = idle_memory.IdleTimer(quiet=0.1)
    for _ in range(2):  # the memory of the next visitor is given back, too
        given_back.clear()
        keeper.note()
        assert given_back.wait(20)


def test_the_latest_results_outlive_the_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cache, "_all", weakref.WeakSet())  # no results of other tests
    kept = Cache()
    for number in range(20):
        kept.put(number, bytes(100_000))
    monkeypatch.setattr(idle_memory, "KEPT", 500_000)
    idle_memory.give_back()
    assert Cache.total() <= idle_memory.KEPT
    assert 19 in kept.entries
    assert 0 not in kept.entries


def test_no_region_and_no_curve_outlives_its_run() -> None:
    cache = work.ResultCache()

    def ask() -> weakref.ref[Any]:
        region, _ = work.region("laplace(0.1)^100")
        cache.get("points", lambda: sample(region))
        cache.get("region", lambda: (region, 1))
        return weakref.ref(region.curve)

    curve = ask()
    assert curve() is not None
    work._rerun.begin()
    gc.collect()
    assert curve() is None
    packed = cache.cache.get("region")
    assert packed is not None
    assert len(packed) < 1000, "a region is kept by its name"


def test_a_kept_error_has_no_frames() -> None:
    cache = work.ResultCache()

    def fail() -> None:
        secret = "of a visitor"  # noqa: F841  what a traceback would hold
        dp(-1)

    for _ in range(2):
        with pytest.raises(DomainError):
            cache.get("wrong", fail)
    packed = cache.cache.get("wrong")
    assert packed is not None
    error = unpack(packed)
    assert isinstance(error, DomainError)
    assert error.__traceback__ is None
    assert error.__context__ is None
    assert b"of a visitor" not in packed


@pytest.mark.parametrize("text", ["dp(1)", "laplace(1)^3 * gdp(1)", "dp(1) & gdp(2)", "group(rr(1, 3), 2)"])
def test_a_packed_region_is_the_same_region(text: str) -> None:
    region = parse(text)
    before = region.delta(0.3)
    packed = pack(region)
    assert packed is not None
    copy: Any = unpack(packed)
    assert str(copy) == str(region)
    assert copy.delta(0.3) == before


# ---- pages ---------------------------------------------------------------------------------------------------


def two_waits() -> None:
    """Show a page whose two waits share one deadline."""
    import time

    import streamlit as st

    from dpcore.app import work
    from dpcore.core.effort import current

    work.begin()
    st.text(repr(time.monotonic()))
    for words in ("Computing", "Drawing"):
        with work.progress(words):
            st.text(repr(current().ends_at))


def test_one_deadline_for_all_waits_of_a_run() -> None:
    app = AppTest.from_function(two_waits).run()
    assert not app.exception
    begun, first, second = (float(text.value) for text in app.text)
    assert max(first, second) <= begun + work.DEADLINE


@pytest.mark.parametrize("key", ["mechanism", "expression", "base", "limits_mechanism"])
def test_no_preset_needs_hours(key: str) -> None:
    for preset in presets():
        if preset.state.get(key):
            assert operations(parse(str(preset.state[key]))) < work.MOST, preset.name


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="arenas are those of the GNU C library")
def test_threads_share_a_few_arenas() -> None:
    """Each arena keeps what its largest computation took: a server whose threads all had their own would stay that large."""
    assert idle_memory.share_arenas()


def test_modules_are_left_out_of_collection_once() -> None:
    freezer = idle_memory.Collector()
    freezer.note()
    frozen = gc.get_freeze_count()
    assert frozen > 100_000  # numpy, scipy, pandas and altair
    kept = [[number] for number in range(1000)]
    freezer.note()
    assert gc.get_freeze_count() <= frozen
    assert len(kept) == 1000
    gc.unfreeze()


class Circle:
    """An object that refers to itself: only a collection frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.parametrize("idle", [False, True])
def test_what_was_there_when_a_module_was_imported_is_freed_in_the_end(
    monkeypatch: pytest.MonkeyPatch, idle: bool
) -> None:
    """What a visitor had open at that moment was excluded from collection for ever."""
    monkeypatch.setattr(Cache, "_all", weakref.WeakSet())  # results of other tests stay
    collector = idle_memory.Collector(every=0.0)
    circle = Circle()
    kept = weakref.ref(circle)
    try:
        collector.note()  # modules are new to it
        del circle
        if idle:
            idle_memory.give_back()
        else:
            monkeypatch.setitem(sys.modules, "a_module_imported_later", sys)
            collector.note()
        assert kept() is None
    finally:
        gc.unfreeze()


def test_garbage_is_collected_for_all_visitors_together() -> None:
    """Streamlit's own collection after every run scanned every visitor's objects for each of them."""
    settings = tomllib.loads(
        (Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    )
    assert settings["runner"]["postScriptGC"] is False
    collector = idle_memory.Collector(every=3600.0)
    collector.note()
    kept = weakref.ref(Circle())
    gc.disable()
    try:
        collector.note()
        assert kept() is not None, "not after every run"
        collector.every = 0.0
        collector.note()
        assert kept() is None
    finally:
        gc.enable()
        gc.unfreeze()

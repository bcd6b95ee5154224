"""The same question has the same bits: whatever was asked before, by however many threads, however fast the clock runs."""

from __future__ import annotations

import gc
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dpcore import parse
from dpcore.core.effort import effort
from dpcore.core.errors import DpcoreError
from dpcore.curves.subsampled import Subsampled
from dpcore.engine.lattice_store import STORE, LatticeStore
from dpcore.engine.sandwich import Sandwich

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.regions.tradeoff import TradeOff

REGIONS = {
    "laplace(0.1)^1000": 20.0,
    "laplace(0.7)^40": 10.0,
    "laplace(0.3)*laplace(0.5)*gdp(0.2)*dp(0.4,1e-6)": 1.0,
    "*".join(f"laplace({0.05 + 0.01 * i:.2f})" for i in range(8)): 0.5,
    "*".join(f"dp({0.05 + 0.01 * i:.2f}, 1e-6)" for i in range(45)): 4.0,
    "*".join(f"dp({0.05 + 0.017 * i:.3f})" for i in range(14)): 3.0,
    "poisson_gaussian(1, 0.01)^1000": 2.0,
    "poisson_gaussian(0.6, 0.05)^50": 4.0,
    "group(gdp(0.3) & laplace(0.4), 3)": 1.0,
    "subsample(laplace(1)^3, 0.1)": 0.5,
    "exponential(0.3)^4": 1.0,
    "subsample(laplace(1), 0.1)^10": 0.3,
    "erase(laplace(1), 0.2)^3": 1.0,
    "gdp(1)*dp(0.5)^3": 2.0,
    "union(gdp(0.5), laplace(0.7))": 0.5,
}
Question = tuple[str, tuple[float, ...], float]


def questions(top: float, count: int, seed: int) -> list[Question]:
    rng = random.Random(seed)
    out: list[Question] = []
    for _ in range(count):
        name = rng.choice(["delta", "delta", "epsilon", "beta"])
        size = rng.choice([1, 1, 3])
        if name == "delta":
            out.append((name, tuple(rng.uniform(0, top) for _ in range(size)), rng.choice([1e-3, 1e-6])))
        elif name == "epsilon":
            out.append((name, (10 ** rng.uniform(-6, -1),), 1e-4))
        else:
            out.append((name, tuple(rng.uniform(0.01, 0.9) for _ in range(size)), 1e-4))
    return out


def answer(region: TradeOff, question: Question) -> bytes | str:
    name, at, tolerance = question
    try:
        with effort(tolerance=tolerance):
            return np.asarray(getattr(region, name)(np.array(at))).tobytes()
    except DpcoreError as error:
        return str(error)


@pytest.mark.long
@pytest.mark.parametrize("text", REGIONS)
def test_earlier_questions_and_other_threads_change_no_bit(text: str) -> None:
    # the recursion of exponential mechanisms takes seconds for every new region
    asked = questions(REGIONS[text], 2 if "exponential" in text else 12, seed=len(text))
    alone = [answer(parse(text), question) for question in asked]
    one = parse(text)
    backwards = [answer(one, question) for question in reversed(asked)][::-1]
    assert backwards == alone
    shared = parse(text)
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda question: answer(shared, question), asked)) == alone


@pytest.mark.long
def test_sixteen_threads_ask_one_region_ten_thousand_questions() -> None:
    text, epsilons = "poisson_gaussian(1.1, 0.01)^100", np.random.default_rng(1).uniform(0.0, 3.0, 10_000).tolist()
    alone, shared = parse(text), parse(text)
    serial = [alone.delta(epsilon) for epsilon in epsilons]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(shared.delta, epsilons)) == serial


def test_a_lattice_answers_an_epsilon_alone_as_among_others() -> None:
    region = parse("subsample(laplace(1), 0.1)^10")
    together = region.delta(np.array([0.05, 0.3, 0.8, 1.1]))
    assert [region.delta(at) for at in (0.05, 0.3, 0.8, 1.1)] == together.tolist()


def test_a_faster_clock_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "group(gdp(0.1) & dp(0.2, 0.0001), 3)^10"
    before = parse(text).delta(1.0)

    def faster(clock: Callable[[], float]) -> Callable[[], float]:
        return lambda: 4.0 * clock()

    for name in ("thread_time", "process_time", "perf_counter", "monotonic"):
        monkeypatch.setattr(time, name, faster(getattr(time, name)))
    assert parse(text).delta(1.0) == before
    assert before == pytest.approx(0.106737465, rel=1e-6)


def test_the_first_answer_is_the_last_one() -> None:
    """After three other epsilons this one was refused once."""
    text = "(gaussian(1) & laplace(1))^5"
    first = parse(text).delta(1.0)
    region = parse(text)
    for other in (0.3, 0.6, 1.4):
        with effort(tolerance=1e-4):
            region.delta(other)
    assert region.delta(1.0) == first == pytest.approx(0.486176051, rel=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "group(bounded_laplace(1, 0, 10, 2), 2)",
        "group(normal_laplace(1, 1), 40)",
        "group(laplace(0.5)^50, 5)",
        "subsample(group(laplace(0.5)^5, 2) & gdp(1), 0.2)^10",
    ],
)
def test_dear_work_looks_at_the_clock_all_the_time(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: between two looks at the clock lies little work, so that a deadline is kept."""
    now = [0.0]

    def tick() -> float:
        now[0] += 0.01
        return now[0]

    monkeypatch.setattr(time, "monotonic", tick)
    region = parse(text)
    with effort(deadline=2.0), pytest.raises(DpcoreError):
        region.delta(1.0)


def test_nesting_costs_one_delta_a_level() -> None:
    text = "subsample(" * 24 + "gdp(1)" + ", 0.5)" * 24
    curve = parse(text).curve
    assert curve.work < 24
    inner = parse(f"subsample(gdp(1), {0.5**24!r})")
    assert parse(text).delta(0.0) == pytest.approx(inner.delta(0.0), rel=1e-12)


def test_the_other_direction_of_a_sample_is_never_the_larger() -> None:
    for text, share in (("laplace(1)^3", 0.1), ("gdp(1)", 0.7), ("gdp(2) & laplace(1)", 0.3)):
        curve = Subsampled(parse(text).curve, share)
        at = np.linspace(0.0, 4.0, 41)
        assert np.all(curve.inverse().delta_bounds(at)[1] <= curve.delta_bounds(at)[1] * (1 + 1e-9) + 1e-15)


def test_lattices_are_kept_within_a_bound_and_go_with_their_region() -> None:
    for i in range(6):
        parse(f"subsample(laplace({1 + i / 100}), 0.1)^100").delta(1.0)
        assert STORE.size <= STORE.most
    region = parse("subsample(laplace(1), 0.1)^20")
    region.delta(0.5)
    before = STORE.size
    assert before > 0
    del region
    gc.collect()
    assert STORE.size < before


def test_the_store_drops_what_was_unused_longest() -> None:
    class Owner:
        pass

    store, owner = LatticeStore(most=10), Owner()
    number = store.owner(owner)
    for name in ("a", "b", "c"):
        store.store(number, name, name, 4)
    assert store.get(number, "a") is None
    assert store.get(number, "b") == "b"
    store.store(number, "d", "d", 4)
    assert store.get(number, "c") is None
    store.store(number, "heavy", "heavy", 11)
    assert store.get(number, "heavy") is None
    assert store.size == 8
    del owner
    assert store.size == 0


def test_a_product_too_dear_is_refused_with_its_cost() -> None:
    region = parse("group(bounded_laplace(1, 0, 10, 2), 3)^2")
    with pytest.raises(DpcoreError, match=r"needs about .* operations"):
        region.delta(1.0)


def test_a_product_of_profiles_that_doubles_cannot_hold_ends() -> None:
    """Once an endless loop: no tilt makes sense of losses of 5e-324."""

    class Narrow:
        q_inf, p_inf, work, max_loss, min_loss = 0.0, 0.0, 0.5, 5e-324, -5e-324

        def delta_bounds(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            value = np.where(epsilon < 5e-324, 1e-323, 0.0)
            return value, value

        def inverse(self) -> Narrow:
            return self

    try:
        lower, upper = Sandwich([(Narrow(), 3)]).delta_bounds(np.array([0.0]), 1e-6)
    except DpcoreError:
        return
    assert 0.0 <= lower[0] <= upper[0] <= 1.0

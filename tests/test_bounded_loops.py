"""Why every loop ends stands beside it; and searches that once went on for ever, or for a thousand rounds, at rare numbers."""

from __future__ import annotations

import ast
import math
import signal
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
import pytest

import dpcore
from dpcore import parse
from dpcore.charts.movable import _Facts
from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.curves.roots import _around, _step_down
from dpcore.labs.bounded_noise import Bounds, exact_scale
from dpcore.mechanisms.exact_sampling import draw_skellam
from dpcore.mechanisms.geometric import Geometric
from dpcore.planner.interval.allowance import allowance
from dpcore.planner.sensitivity.blocking import noisy_quantile
from dpcore.planner.series import SeriesModel
from dpcore.utility.noise import GeometricNoise, least_reach, worst_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(dpcore.__file__).parent
SECONDS = 8  # each takes a hundredth
ENDLESS = {"count", "cycle", "repeat", "iter"}  # what a `for` may draw from without end


def _name(call: ast.expr) -> str:
    """Return the last name of the function that is called, empty for what is no call."""
    return ast.unparse(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""


def open_ended(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Yield the first line of each loop without a length known before it starts, and the first line of its body."""
    for node in ast.walk(tree):
        if isinstance(node, ast.While):
            yield node.lineno, node.body[0].lineno
        elif isinstance(node, ast.For | ast.comprehension) and _name(node.iter) in ENDLESS:
            yield node.iter.lineno, node.iter.lineno + 1


def unexplained(source: str) -> list[int]:
    """Return the lines of loops without a comment beside or above them that says why they end."""
    lines = source.splitlines()
    return [
        first
        for first, body in open_ended(ast.parse(source))
        if not any("  # " in line for line in lines[first - 1 : body - 1])
        and not lines[first - 2].lstrip().startswith("# ")
    ]


def test_why_a_loop_ends_stands_beside_it() -> None:
    """A new ``while`` fails here until a comment at its head names its bound, or what counts its rounds."""
    files = sorted(PACKAGE.rglob("*.py"))
    missing = [f"{file.relative_to(PACKAGE)}:{line}" for file in files for line in unexplained(file.read_text("utf-8"))]
    assert missing == []


def test_a_loop_without_a_reason_is_seen() -> None:
    assert unexplained("while x:\n    x = half(x)\n") == [1]
    assert unexplained("while x:  # halves\n    x = half(x)\n") == []
    assert unexplained("# halves\nwhile x:\n    x = half(x)\n") == []
    assert unexplained("for n in itertools.count():\n    use(n)\n") == [1]
    assert unexplained("for n in range(3):\n    use(n)\n") == []


@contextmanager
def bounded() -> Iterator[None]:
    """Fail instead of waiting."""

    def late(*_: object) -> None:
        pytest.fail("the search does not end")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-17, 1e-30, 1e-49])
@pytest.mark.parametrize("miss", [0.3, 0.05, 1e-3, 1e-9])
def test_the_reach_of_wide_integer_noise(epsilon: float, miss: float) -> None:
    """Beyond 2^53 the next integer is the same double: one more was no step."""
    with bounded():
        reach = Geometric(epsilon).law.reach(miss)
        many = worst_quantile(GeometricNoise(epsilon), 3, miss)
    assert reach == pytest.approx(-np.log(miss) / epsilon, rel=1e-6)
    assert many >= reach * (1 - 1e-12)


def test_an_allowance_below_all_digits() -> None:
    """The least one was searched down to the smallest double."""
    with bounded():
        assert 0.0 <= allowance("laplace", 0.95, 1e-9) <= 1e-14


def test_a_quantile_of_noise_that_is_nearly_nothing() -> None:
    """Twice nothing is nothing."""
    with bounded():
        assert 0.0 <= noisy_quantile(np.zeros(3), 1e-30, 1e-300) < 1e-30


def test_a_guess_below_every_other_double() -> None:
    """A third more than the smallest double is the smallest double."""
    with bounded():
        low, high = _around(lambda x: 1.0 - x, 5e-324, math.inf)
        assert low == high < 1.0
        assert _around(lambda x: 1.0 - x, 0.9, math.inf) == (0.9, pytest.approx(1.17))
        assert _around(lambda x: 2.0 - x, 0.9, 1.0) == (1.0, 1.0)
        assert _around(lambda x: 1.0 - x, 1e9, math.inf)[0] == 0.0


def test_a_step_below_every_double() -> None:
    """A thousandth of a tolerance of a tiny loss is 0, and three times that, too."""
    with bounded():
        assert _step_down(lambda _: (-1.0, -1.0), 1e-320) == 0.0


def test_a_value_that_is_no_number_has_a_name() -> None:
    """It differs from itself, and no other name made that better."""
    with bounded():
        assert _Facts().expression("height", math.nan)["expr"].endswith(".height")


@pytest.mark.parametrize("off", [1e-15, 1e-9, 0.5])
def test_a_reach_that_starts_too_low(off: float) -> None:
    """It went up by one double at a time: a relative 1e-9 took ten million rounds."""
    with bounded():
        found = least_reach(lambda t: float(t < 1.0), 0.5, 0.0, 1.0 - off)
    assert found == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize("far", [1e155, 1e200, 1e308])
@pytest.mark.parametrize("back", [0.0, 1e-300])
def test_a_series_whose_long_run_is_beyond_doubles(far: float, back: float) -> None:
    """Powers of a stable matrix with a large entry became infinite, and stayed so for ever."""
    model = SeriesModel(((0.5, far), (back, 0.5)), ((1.0, 0.0), (0.0, 1.0)), 1.0)
    with bounded(), pytest.raises(DomainError):
        model.stationary()


def test_a_series_that_forgets_slowly() -> None:
    factor = 1.0 - 2.0**-10
    (row,) = SeriesModel(((factor,),), ((1.0,),), 1.0).stationary()
    assert row[0] == pytest.approx(1.0 / (1.0 - factor**2), rel=1e-9)


def test_a_scale_of_cut_noise_is_searched_down_to_a_part_of_itself() -> None:
    """The part was taken of the falling end, and so was no bound; noise that always suffices ended in an error."""
    bounds = Bounds(0.0, 1.0)
    with bounded(), mock.patch("dpcore.labs.bounded_noise.mechanism") as always:
        always.return_value.delta.return_value = 0.0
        assert exact_scale(1.0, 1.0, bounds, 0.1) < 2e-9
    assert always.call_count < 100


def test_a_large_draw_looks_at_the_clock() -> None:
    with bounded(), effort(deadline=0.2), pytest.raises(BudgetError):
        draw_skellam(1e12, Random(1))


@pytest.mark.parametrize(
    ("text", "looks"),
    [("rounded_gaussian(8491.756079505365, 8)", 20), ("above_threshold(0.4450052578236546, 0.011056588482057324)", 6)],
)
def test_long_sums_look_at_the_clock_on_their_way(text: str, looks: int) -> None:
    """They took half a second without a look, several of a page's slow moments."""
    seen: list[float] = []
    with effort(progress=seen.append):
        parse(text).delta(0.5)
    assert len(seen) >= looks

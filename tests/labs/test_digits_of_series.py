"""Every closed-form number of the digest that belongs to the labs of records, series, steps and composition, to its last digit.

Sections 2.3, 2.6, 2.8, 2.13, 2.14, 2.17 and 2.18; the labs of noise and intervals have theirs in `test_digits`. Numbers that
the digest simulated are compared within the error of its runs, those of one random sample through what the sample must have been.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dpcore.labs import before_or_after as both
from dpcore.labs import blocking, lab
from dpcore.labs import composition_examples as rules
from dpcore.labs import disclosure as sdc
from dpcore.labs import noisy_sgd as sgd
from dpcore.labs import time_series as ts
from dpcore.labs.time_series_scenarios import programmed
from dpcore.planner.disclosure import noise, pram
from tests.labs.test_digits import Rows, each, half_unit

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST = [[1.0, 0.0], [1.0, 0.5]]  # Figure 6.1 needs the first column only
SECOND = [[0.5, 0.1], [0.0, 0.5]]
THIRD = [[0.9, 0.5], [0.0, 0.9]]
OPPOSED, EQUAL = "a22 = 1 - a11", "a11 = a22"
LOG3 = math.log(3)


def disclosure() -> Rows:
    """Section 2.3."""
    n, filled = 659, np.concatenate([19 + 5 * (i + (np.arange(2000) + 0.5) / 2000) for i in range(12)])
    printed = sdc.PRINTED
    return [
        *each("2.3", "epsilon of PRAM", "1.38629", lambda: pram(0.8).epsilon, ()),
        *each("2.3", "swapped", "100.000000", lambda: 500 * pram(0.8).matrix[0, 1], ()),
        *each("2.3", "after PRAM", "500.000000", lambda: (np.array((500, 500)) @ pram(0.8).matrix)[0], ()),
        *each("2.3", "error of k-PRAM", "4.1667", lambda: noise.k_pram_moments(filled, 5.0, 19.0).mse, ()),
        *each("2.3", "error of k-noise", "2.08333", lambda: noise.k_noise_moments(n).mse, ()),
        *each("2.3", "bias error of k-PRAM", "0.0795", lambda: math.sqrt(2) * noise.k_pram_moments(sdc.ages(), 5.0, 19.0).bias_error, ()),
        *each("2.3", "bias error of k-noise", "0.0562", lambda: noise.k_noise_moments(n).bias_error, ()),
        *each("2.3", "share near", "1.000000 1.000000 1.000000 0.750000 0.500000 0.250000 0.000000", lambda d: float(noise.expected_near(np.array([d]), np.zeros(1), 1.0, 2.0)[0]), *((d / 2,) for d in range(7))),
        *each("2.3", "root of the printed error", "2.097275 1.435502", lambda m: math.sqrt(printed[m][1]), ("k-PRAM",), ("k-noise",)),
        *each("2.3", "delta of k-noise", "0.200000", lambda: lab("disclosure_control").view("regions").regions["k-noise, age moved by 1"].delta(7.0), ()),  # type: ignore[union-attr]
    ]  # fmt: skip


def compositions() -> Rows:
    """Sections 2.6 and 2.8."""
    return [
        *each("2.6", "least flip", "0.225000", rules.least_flip, (LOG3, 0.1)),
        *each("2.6", "delta of two answers", "0.375000", rules.flipped_delta, (0.25, LOG3, 2)),
        *each("2.6", "delta of one answer", "0.000000", rules.flipped_delta, (0.25, LOG3, 1)),
        *each("2.8", "delta of a group", "5.36700e-5", rules.group_delta, (0.5, 1e-5, 3)),
    ]


def blocks() -> Rows:
    """Section 2.13."""
    sizes = ((5,), (10,), (15,), (20,))
    value = {m: blocking.noise_by_value(100.0, m, 1.0) for (m,) in sizes}
    index = {m: blocking.noise_by_index(100.0, m, 1.0) for (m,) in sizes}
    return [
        *each("2.13", "noise by value", "640.000000 80.000000 23.70 10.000000", value.__getitem__, *sizes),
        *each("2.13", "noise by index", "800.000000 200.000000 88.89 50.000000", index.__getitem__, *sizes),
        *each("2.13", "half the noise", "160.000000", lambda: blocking.noise_by_value(100.0, 5, 1.0, factor=1.0), ()),
        *each("2.13", "error by value", "33 3.8 1.1 0.46", lambda m: blocking.table_error(value[m], 0, m), *sizes),
        *each("2.13", "error by index", "57 14 6.3 3.5", lambda m: blocking.table_error(index[m], 0, 1), *sizes),
        *each("2.13", "median of the skewed data", "6.93", lambda: lab("blocking").median, ()),  # type: ignore[attr-defined]
        *each("2.13", "printed delta", "0.801438", blocking.printed_blocking_delta, (1.0, math.log(2))),
    ]


def queries() -> Rows:
    """Section 2.14."""
    return [
        *each("2.14", "fourth moment", "12.672000", both.fourth_moment, (5,)),
        *each("2.14", "printed fourth moment", "13.056000", both.printed_fourth_moment, (5,)),
        *each("2.14", "growth", "1.261", lambda: both.equal_epsilon_variance(1.0, 1.0, 10**8, 1 / 12) / 10**4, ()),
        *each("2.14", "deviation of the median", "155.6", lambda: math.sqrt(both.median_after(1.0, 110.0)), ()),
        *each("2.14", "sensitivity in the program", "1.000000", both.printed_median_sensitivity, ()),
    ]


def leaks() -> Rows:
    """Section 2.17."""

    def corrected(matrix: list[list[float]], rho: float, attack: str, known: str) -> float:
        return ts.pair(matrix, rho).corrected(attack, known)[0]

    def drawn(matrix: list[list[float]], rho: float, attack: str, known: str) -> float:
        return programmed(ts.pair(matrix, rho), attack, known) or math.nan

    def printed(matrix: list[list[float]], rho: float, attack: str, known: str) -> float:
        return (ts.pair(matrix, rho).printed(attack, known) or (math.nan,))[0]

    one = ts.pair(FIRST, 0.0)
    both_times, both_releases = one.region("A4", "N3"), one.region("A1", "N3")
    figures = [
        (m, rho, *("A1N2" if m is FIRST else "A2N1",)) for m in (FIRST, SECOND, THIRD) for rho in (-1.0, 0.0, 1.0)
    ]
    places = [(m, rho, name[:2], name[2:]) for m, rho, name in figures]
    program = "1.000000 0.744381 0.619051 0.993844 0.813925 0.705950 0.547513 0.526168 0.507139"
    formula = "2.000000 1.571445 1.336425 1.952187 1.148412 0.892972 1.050800 0.920140 0.828576"
    right = "2.000000 1.747475 1.571445 1.975660 1.408425 1.153134 1.079694 1.002229 0.939354"
    shifts = (("A1", "N1"), ("A1", "N2"), ("A1", "N3"), ("A4", "N3"))
    flat = ts.pair(SECOND, 0.0)
    priors = ((0.1,), (1.0,), (10.0,), (1e3,), (math.inf,))
    return [
        *each("2.17", "logarithms", "3.226844 3.218876", ts.logarithm, (0.05,), (0.05, 1.25)),
        *each("2.17", "drawn", program, drawn, *places),
        *each("2.17", "printed", formula, printed, *places),
        *each("2.17", "corrected", right, corrected, *places),
        *each("2.17", "shift", "0.393637 0.687871 0.792538 0.556687", one.mu, *shifts),
        *each("2.17", "delta of both releases", "1.94838e-4", lambda: both_releases.delta(2.747475), ()),
        *each("2.17", "printed delta", "0.274328", lambda: (one.printed("A4", "N3") or (0.0, 0.0))[1], ()),
        *each("2.17", "delta of both times", "5.889e-5", lambda: both_times.delta(2.0), ()),
        *each("2.17", "epsilon of both times", "0.616149 0.367628", both_times.epsilon, (0.05,), (0.1,)),
        *each("2.17", "prior", "0.0574 0.4145 1.1274 1.4049 1.40843", lambda t: flat.corrected("A2", "N1", t)[0], *priors),
        *diagonals(),
    ]  # fmt: skip


def diagonals() -> Rows:
    """Figures 6.4 and 6.5: the corner of the matrix is 0.5."""

    def models(kind: str, rho: float) -> list[ts.Autoregression]:
        return [ts.pair([[a / 10, 0.5], [0.0, 1 - a / 10 if kind == OPPOSED else a / 10]], rho) for a in range(1, 10)]

    def curve(kind: str, rho: float) -> list[float]:
        return [programmed(model, "A2", "N1") or math.nan for model in models(kind, rho)]

    def largest(rho: float) -> float:
        return max(model.corrected("A2", "N1")[0] for model in models(EQUAL, rho))

    rhos = ((-1.0,), (0.0,), (1.0,))
    return [
        *each("2.17", "Figure 6.4 drawn", "0.943 1.112 2.051", lambda rho: max(curve(EQUAL, rho)), *rhos),
        *each("2.17", "Figure 6.4 largest at", "0.4 0.3 0.2", lambda r: (1 + np.argmax(curve(EQUAL, r))) / 10, *rhos),
        *each("2.17", "Figure 6.4 corrected", "1.577 1.785 3.564", largest, *rhos),
        *each("2.17", "Figure 6.5 begins", "1.205 1.558 2.713", lambda rho: curve(OPPOSED, rho)[0], *rhos),
        *each("2.17", "Figure 6.5 ends", "0.407 0.343 0.301", lambda rho: curve(OPPOSED, rho)[-1], *rhos),
    ]


def steps() -> Rows:
    """Section 2.18."""

    def term(at: int, n: int, rho: float, kappa: float) -> float:
        return sgd.Schedule(n, rho, kappa).terms[at]

    def last(rho: float, kappa: float) -> float:
        return float(sgd.Schedule(1000, rho, kappa).noise[-1])

    thousand = ((2, 1000, 0.0, 0.0), (2, 1000, 0.0, 1.0), (2, 1000, 0.5, 0.75), (2, 1000, 0.5, 1.0))
    more = ((2, 10_000, 0.5, 0.75), (2, 10_000, 0.5, 0.8), (2, 10_000, 0.5, 1.0), (2, 10_000, 0.0, 0.0))
    return [
        *each("2.18", "A1", "0.010000 0.16181", term, (0, 1000, 0.0, 0.0), (0, 1000, 0.5, 0.75)),
        *each("2.18", "A2", "0.100000 0.01211", term, (1, 1000, 0.0, 0.0), (1, 1000, 0.5, 0.75)),
        *each("2.18", "A3", "33383.35 0.100000 0.34276 0.0325", term, *thousand),
        *each("2.18", "A3 of more", "0.3755 0.18086 0.01463 3333833.35", term, *more),
        *each("2.18", "last noise", "1000.000000 10.9899 1.9543", last, (0.0, 0.0), (0.5, 0.75), (0.5, 1.0)),
        *each("2.18", "promised", "437 2000", lambda k: sgd.Schedule(2000, 0.5, k, 0.25).promised[-1], (0.8,), (1.0,)),
        *each("2.18", "vanishing", "1.000000 0.750000", sgd.vanishing, (0.0,), (0.5,)),
    ]


ROWS = [*disclosure(), *compositions(), *blocks(), *queries(), *leaks(), *steps()]


@pytest.mark.parametrize(("what", "text", "value"), ROWS, ids=[f"{i} {row[0][:60]}" for i, row in enumerate(ROWS)])
def test_to_the_last_digit(what: str, text: str, value: Callable[[], float]) -> None:
    assert abs(value() - float(text)) <= half_unit(text) * (1 + 1e-6), (what, text, value())

"""The lab of blocking: why Table 5.2 looks good, and what Block-DP I estimates on other data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.core.registry import EPSILON, Parameter
from dpcore.labs import blocking
from dpcore.labs.base import (
    BARS,
    REPLICATIONS,
    Lab,
    LabCheck,
    Makers,
    Plot,
    Regions,
    Story,
    series,
    simulated,
    together,
)
from dpcore.labs.catalogue import enter
from dpcore.mechanisms.laplace import Laplace, LaplaceVector
from dpcore.regions.guarantees import DP
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray
    from dpcore.labs.blocking import BlockErrors

M_VALUES: Final = (5, 7, 10, 15, 20)
HIGH: Final = Parameter("high", low=0.0, low_open=True, high=1e9, label="Λ", meaning="records lie between 0 and this")
RECORDS: Final = Parameter("n", "integer", low=100, high=20000, label="n", meaning="number of records")
SHARE: Final = Parameter(
    "share", low=0.01, high=1.0, label="mean", meaning="mean of the skewed data, as a share of the range"
)
_WIDE, _BETA = 10.0, 0.9  # where the δ of Theorem 5.4.3 is too small
_CLAIM = "an improvement in terms of data utility for the median query, at the price of a bias"
_NOISE = "Bars extend two standard errors in both directions; the noise variance is added exactly, not simulated."


@enter
@dataclass(frozen=True)
class Blocking(Lab):
    """Block-DP I (blocks by value) and Block-DP II (blocks by index), for the median."""

    name = "blocking"
    title = "Averaging over blocks"
    place = "Section 5.4"
    story = Story(
        "Splitting the range into m blocks and averaging their noisy medians was said to estimate the median with "
        "far less error than sample and aggregate, as Table 5.2 shows for uniform data.",
        "The median of every block lies in its block, so for any data the average is within half a block of the "
        "middle of the range; it wins on uniform data because the median of uniform data is that middle.",
        "A method that always returns the same value needs little noise; an experiment on data where that value "
        "happens to be the truth cannot tell it from a good method.",
    )
    formula = (
        r"\left|T_I-\tfrac\Lambda2\right|\le\frac{\Lambda}{2m}\ \text{for any data},\qquad \mathrm{Var}_I=\frac{8\Lambda^2}{m^3\varepsilon^2},\qquad "
        r"\mathrm{Var}_{II}=\frac{2\Lambda^2}{m^2\varepsilon^2}"
    )
    assumptions = (
        "The records lie in [0, Λ] and neighbours substitute one. Block-DP I has m parts of equal width, fixed "
        "beforehand, and its first inequality is about the average before the noise; an empty block answers its "
        "middle. The variances are those of the Laplace noise alone."
    )
    reference = "Block-DP II: Smith 2008; order statistics of uniforms; counter-example by simulation"
    tool = "Sensitivity"
    simulates = True

    epsilon: float = EPSILON.but(low=0.01, high=100.0, infinite=False).field(1.0)
    high: float = HIGH.field(100.0)
    n: int = RECORDS.field(1000)
    share: float = SHARE.field(0.1)
    replications: int = REPLICATIONS.field(200)

    @property
    def median(self) -> float:
        """Median of the skewed population min(exponential, Λ)."""
        return min(self.share * math.log(2), 1.0) * self.high

    def skewed(self, rng: Generator, shape: tuple[int, int]) -> FloatArray:
        """Return exponential records, clipped at Λ."""
        return np.minimum(rng.exponential(self.share * self.high, shape), self.high)

    def summaries(self, rng: Generator) -> dict[int, tuple[BlockErrors, BlockErrors]]:
        """Return the summaries of both methods on skewed data, noise included."""
        estimates = blocking.estimates(self.skewed, self.n, self.high, M_VALUES, self.replications, rng)
        return {
            m: (
                blocking.summarise(one, self.median, blocking.noise_by_value(self.high, m, self.epsilon)),
                blocking.summarise(two, self.median, blocking.noise_by_index(self.high, m, self.epsilon)),
            )
            for m, (one, two) in estimates.items()
        }

    def checks(self, rng: Generator) -> tuple[LabCheck, ...]:
        """Return the counter-example first, then Table 5.2 at its own parameters, then privacy."""
        privacy = self._privacy()
        one = self.summaries(rng)[10][0]
        return (
            LabCheck(
                "Example 5.4.5",
                f"centre of Block-DP I, m = 10, skewed data of median {nearest(self.median, 4)}",
                _CLAIM,
                one.centre,
                "false",
                "Blocks of equal width get equal weights, however few records they hold; empty blocks answer their middle.",
                kind="simulation",
                error=one.centre_error,
                row="mean-of-block-medians",
            ),
            LabCheck(
                "Example 5.4.5",
                f"largest distance of Block-DP I (before noise, m = 10) from {nearest(self.high / 2)}, over all data",
                _CLAIM,
                blocking.reach(self.high, 10),
                "false",
                "A median lies in its block, at most half a width from the block's middle; the middles average to Λ/2.",
                row="mean-of-block-medians",
            ),
            *_table_checks(),
            *privacy,
        )

    def _privacy(self) -> tuple[LabCheck, ...]:
        e = self.epsilon
        both = LaplaceVector(1 / e, (1.0, 1.0))
        halves = LaplaceVector(1 / e, (0.5, 0.5))
        return (
            LabCheck(
                "Theorem 5.4.2",
                f"largest loss of block minima when a record changes blocks, noise for ε = {nearest(e)}",
                e,
                float(both.epsilon(0.0)),
                "false",
                "A substituted record can leave one block and enter another; both minima may move by the block's width.",
                row="blocks-under-substitution",
            ),
            LabCheck(
                "Theorem 5.4.2",
                f"largest loss of block medians when a record changes blocks, noise for ε = {nearest(e)}",
                e,
                float(halves.epsilon(0.0)),
                "holds",
                "A median that answers the middle of two middle records moves by half the width when a record is added or "
                "removed, so medians are safe; they do not need the doubled noise of R Code A.0.2.",
            ),
            LabCheck(
                "Theorem 5.4.3",
                f"δ at ε = {nearest(e)}, β = ln 2, one block changes",
                blocking.printed_blocking_delta(e, math.log(2)),
                0.0,
                "loose",
                "The noise does not depend on the data: the loss is at most (ε/2) e^β = ε, with no δ.",
            ),
            LabCheck(
                "Theorem 5.4.3",
                f"δ at ε = {nearest(_WIDE)}, β = {nearest(_BETA)}, one block changes",
                blocking.printed_blocking_delta(_WIDE, _BETA),
                float(Laplace(_WIDE / 2 * math.exp(0.999 * _BETA)).delta(_WIDE)),
                "false",
                "A sensitivity larger than the scale's by nearly e^β meets (5.21), and the loss is (ε/2) e^β, above ε for β > ln 2.",
                row="spurious-delta",
            ),
            LabCheck(
                "Example 5.4.4",
                f"loss of a block mean with one record, n = {self.n}, m = 10, noise for ε = {nearest(e)}",
                e,
                blocking.small_block_loss(self.n, 10, e),
                "loose",
                "Promised for blocks with enough records, as the source says; the number of records in a block is random, and "
                "(5.21) cannot hold for all data.",
            ),
            LabCheck(
                "Theorem 5.4.7",
                f"largest loss of Block-DP II, ε = {nearest(e)}",
                e,
                float(Laplace(e).epsilon(0.0)),
                "holds",
                "One substituted record changes one group; the answers must be clipped to the range.",
            ),
        )

    def pictures(self, rng: Generator) -> Makers:
        """Return the functions that draw the pictures."""
        return {
            "error": lambda: self._mse(rng),
            "centre": lambda: self._centre(rng),
            "table": self._table,
            "regions": self._regions,
        }

    def _uniform(self) -> tuple[list[float], list[float]]:
        one = [blocking.uniform_by_value(self.high, self.n, m, self.epsilon) for m in M_VALUES]
        two = [blocking.uniform_by_index(self.high, self.n, m, self.epsilon) for m in M_VALUES]
        return one, two

    def _mse(self, rng: Generator) -> Plot:
        errors = self.summaries(rng)
        one, two = self._uniform()
        parts = [
            series("by value, uniform data", M_VALUES, one),
            series("by index, uniform data", M_VALUES, two),
        ]
        for at, name in enumerate(("by value, skewed data", "by index, skewed data")):
            y = np.array([errors[m][at].mse for m in M_VALUES])
            error = [errors[m][at].mse_error for m in M_VALUES]
            parts.append(simulated(name, M_VALUES, y, error, least=y / 1e3))
        last = M_VALUES[-1]
        return Plot(
            "Mean squared error of the median by blocks",
            f"With {last} blocks the method by value has error {nearest(one[-1], 3)} on uniform data, by index {nearest(two[-1], 3)}; "
            f"on skewed data with median {nearest(self.median, 3)} it has {nearest(errors[last][0].mse, 4)}, by index {nearest(errors[last][1].mse, 3)}.",
            together(*parts),
            "number of blocks m",
            "mean squared error",
            log_y=True,
            reference={"no blocks": 2 * (self.high / self.epsilon) ** 2},
            notes=(
                _NOISE,
                f"Skewed: exponential with mean {nearest(self.share * self.high)}, truncated at {nearest(self.high)}.",
            ),
        )

    def _centre(self, rng: Generator) -> Plot:
        errors = self.summaries(rng)
        parts = []
        for at, name in enumerate(("by value", "by index")):
            y, error = zip(*((errors[m][at].centre, errors[m][at].centre_error) for m in M_VALUES), strict=True)
            parts.append(simulated(name, M_VALUES, y, error))
        return Plot(
            "What the two methods answer on skewed data, before noise",
            f"Blocks by value answer {nearest(errors[20][0].centre, 3)} with 20 blocks, and can never be more than "
            f"{outward(blocking.reach(self.high, 20), 3)} from the middle {nearest(self.high / 2)} of the range; blocks by index answer {nearest(errors[20][1].centre, 3)}; the median is {nearest(self.median, 3)}.",
            together(*parts),
            "number of blocks m",
            "mean answer",
            reference={"true median": self.median, "middle of the range": self.high / 2},
            notes=(f"{BARS} Empty blocks answer their middle.",),
        )

    def _table(self) -> Plot:
        printed = sorted(blocking.TABLE.items())
        m_values = [m for m, _ in printed]
        one = [blocking.uniform_by_value(100.0, 1000, m, 1.0) for m in m_values]
        two = [blocking.uniform_by_index(100.0, 1000, m, 1.0) for m in m_values]
        far = max(
            abs(both[at] - (one, two)[at][i]) / _error(m, at) for i, (m, both) in enumerate(printed) for at in (0, 1)
        )
        return Plot(
            "Table 5.2: uniform data on [0, 100], n = 1000, ε = 1",
            f"All eight printed errors lie within {outward(far, 2)} standard errors of the exact ones: the table is "
            "right for data with a median in the middle of the range.",
            together(
                series("by value, exact", m_values, one),
                series("by index, exact", m_values, two),
                series("by value, printed", m_values, [both[0] for _, both in printed], kind="printed", mark="point"),
                series("by index, printed", m_values, [both[1] for _, both in printed], kind="printed", mark="point"),
            ),
            "number of blocks m",
            "mean squared error about 50",
            log_y=True,
            notes=("The printed values are averages of 1000 runs.",),
        )

    def _regions(self) -> Regions:
        e = self.epsilon
        return Regions(
            f"One substituted record, Laplace noise for ε = {nearest(e)} on every block",
            f"Block minima can lose {nearest(2 * e)} when a record changes blocks, twice the promise; block medians keep {nearest(e)}.",
            {
                f"promised: ε = {nearest(e)}": DP(e),
                "minima, a record changes blocks": LaplaceVector(1 / e, (1.0, 1.0)),
                "medians, a record stays in its block": Laplace(e),
                "medians, a record changes blocks": LaplaceVector(1 / e, (0.5, 0.5)),
            },
        )


def _error(m: int, at: int) -> float:
    exact = (blocking.uniform_by_value, blocking.uniform_by_index)[at](100.0, 1000, m, 1.0)
    noise = (blocking.noise_by_value, blocking.noise_by_index)[at](100.0, m, 1.0)
    return blocking.table_error(noise, exact - noise, 1 if at else m)


def _table_checks() -> tuple[LabCheck, ...]:
    rows = []
    for m, both in sorted(blocking.TABLE.items()):
        for at, name in enumerate(("I", "II")):
            exact = (blocking.uniform_by_value, blocking.uniform_by_index)[at](100.0, 1000, m, 1.0)
            rows.append(
                LabCheck(
                    "Table 5.2",
                    f"mean squared error of Block-DP {name}, uniform data, m = {m}",
                    both[at],
                    exact,
                    "holds",
                    f"Within {outward(abs(both[at] - exact) / _error(m, at), 2)} standard errors of 1000 runs.",
                )
            )
    return tuple(rows)

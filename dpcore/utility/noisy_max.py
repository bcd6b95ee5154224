"""The most common value: report noisy max over the counts of a histogram.

Under substitution one count falls by 1 and another rises by 1: noise of scale 2/eps. When a record is added or removed a
single count moves: scale 1/eps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.utility.additive import NEIGHBOURS, SUBSTITUTION
from dpcore.utility.base import Fact, enter
from dpcore.utility.choosing import BINS, cells
from dpcore.utility.median import AT_HAND
from dpcore.utility.neighbourhood import DataRegion, RegionBound, region_of_pairs
from dpcore.utility.picking import ByExponential, ByGumbel, ByLaplace, Picking
from dpcore.utility.winners import MOST, winners

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

# neighbours whose union is taken: Gumbel chances are closed forms, the others cost one integration per neighbour
_MOST_NEIGHBOURS = {"gumbel": 40_000, "exponential": 150, "laplace": 150}


@dataclass(frozen=True)
class MostCommon(Picking):
    """The fullest of `bins` cells of equal width, or the most common category."""

    query = "most common value"
    clips = True
    assumptions = "Scale 2/ε under substitution, 1/ε when a record is added or removed. Cells are public."

    bins: int = BINS.field(10, high=MOST, meaning="number of cells, for data without categories")
    neighbours: str = NEIGHBOURS.field(SUBSTITUTION)

    def table(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return the counts; records moved to a bound are in the cell beside it."""
        return cells(data, self.bins, n)

    def true_table(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return the counts of the records as they came: one outside the bounds is in no cell."""
        return cells(data, self.bins, n, raw=True)

    @property
    def scale(self) -> float:
        """Scale of the noise: 2/ε under substitution, 1/ε when a record is added or removed."""
        return (2.0 if self.neighbours == SUBSTITUTION else 1.0) / self.epsilon

    @property
    def relation(self) -> str:
        """The relation chosen."""
        return self.neighbours

    def promises(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Add the success as the records become more: each gap is at least its share of n, less 2."""
        if parameter != "n":
            return super().promises(measure, parameter, data, n)
        if measure != "success":
            return ()
        counts = self.table(data)
        best = int(np.argmax(counts))
        behind = np.maximum(0.0, (counts[best] - counts) * ((n or data.n) / data.n) - 2.0)
        value = float(winners(-behind / self.scale, self.noise)[best])
        return (Fact("success", value, "lower", "gaps at least their share of n, less 2: only grows with n"),)

    def region_at(self, data: Dataset) -> TradeOff:
        """Return the exact region of the counts at hand against those of every neighbour."""
        counts = self.table(data)
        moves = _moves(counts, self.neighbours)
        if len(moves) > _MOST_NEIGHBOURS[self.noise]:
            reason = f"{AT_HAND}: {len(moves)} neighbours are too many, the worst case is given"
            return RegionBound(self.region, reason, self.neighbours)
        first = winners(counts / self.scale, self.noise)
        if self.noise == "gumbel":
            p, q = _classes(first, moves, 1.0 / self.scale)
        else:
            p = np.tile(first, (len(moves), 1))
            q = np.array([winners(_after(counts, move) / self.scale, self.noise) for move in moves])
        reason = AT_HAND.replace("substitution of one record", f"{self.neighbours} of one record")
        return DataRegion(region_of_pairs(p, q), "counts at hand", self.neighbours, reason)

    def labels(self, data: Dataset) -> tuple[str, ...]:  # noqa: ARG002  one answer
        """Return the name of the one coordinate."""
        return ("most common cell",)


Move = tuple[int, int]  # the cell that loses a record and the one that gains it; -1 for none


def _moves(counts: FloatArray, relation: str) -> list[Move]:
    """Return the neighbours of the counts; cells with the same count are interchangeable only in name, so all of them."""
    full = [int(a) for a in np.flatnonzero(counts > 0)]
    if relation == SUBSTITUTION:
        return [(a, b) for a in full for b in range(counts.size) if a != b]
    return [(a, -1) for a in full] + [(-1, b) for b in range(counts.size)]


def _after(counts: FloatArray, move: Move) -> FloatArray:
    new = counts.copy()
    for cell, change in zip(move, (-1.0, 1.0), strict=True):
        if cell >= 0:
            new[cell] += change
    return new


def _classes(first: FloatArray, moves: list[Move], rate: float) -> tuple[FloatArray, FloatArray]:
    """Return the masses of (cell that loses, cell that gains, all others) before and after each move."""
    padded = np.append(first, 0.0)
    lose, gain = padded[[a for a, _ in moves]], padded[[b for _, b in moves]]
    member = np.ones((len(moves), first.size + 1))
    for column in range(2):
        member[np.arange(len(moves)), [move[column] for move in moves]] = 0.0
    p = np.stack((lose, gain, member @ padded), axis=1)
    q = p * np.exp([-rate, rate, 0.0])
    return p, q / q.sum(axis=1, keepdims=True)


@enter
@dataclass(frozen=True)
class ModeExponential(ByGumbel, MostCommon):
    """Exponential mechanism, which is report noisy max with Gumbel noise."""

    name = "mode_exponential"
    title = "most common value with the exponential mechanism"


@enter
@dataclass(frozen=True)
class ModePermute(ByExponential, MostCommon):
    """Permute and flip, which is report noisy max with exponential noise."""

    name = "mode_permute"
    title = "most common value with permute and flip"


@enter
@dataclass(frozen=True)
class ModeLaplace(ByLaplace, MostCommon):
    """Report noisy max with Laplace noise."""

    name = "mode_laplace"
    title = "most common value with Laplace noisy max"

"""A trade-off function of one's own, written as a formula: checked, and published from below.

A convex function lies above the line through any two of its points, outside of the stretch between them. Between two
neighbouring points of a grid it is therefore at least the larger of the lines through the pairs to the left and to the
right: a polygon that touches the function at the grid and lies below it elsewhere, so its deltas are never too small. For
straight pieces it is the function itself. Straight lines between the points lie above the function and give the other side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.core.parameter import Choice, value_text
from dpcore.core.registry import Oracle, Parameter, register
from dpcore.curves import polygon_algebra
from dpcore.curves.bound import Outer
from dpcore.regions.formula import FormulaNode, read_formula
from dpcore.regions.tradeoff import Atom

if TYPE_CHECKING:
    from dpcore.curves.base import Curve, FloatArray

CELLS: Final = 2000
"""Cells of the first grid. A smooth function then differs from its polygon by about 3e-8 of its curvature; more cost more."""
ROUNDS: Final = 3  # of refinement at corners: one finds the corners of straight pieces, the others those of curved ones
ENDS: Final = 1e-9  # the grid grows by half from here to 1/CELLS at both ends, where a slope may be infinite
SLACK: Final = 1e-12  # by which rounding may break a condition
ROUNDING: Final = 4e-15
"""For each operation: rounding of the formula and of lines between close points, with room to leave out corners."""
ENVELOPE_CELLS: Final = 20_000  # of the grid of intervals; the envelope is off by the slope over this number
FORMULA: Final = Parameter(
    "formula", "text", meaning="false negatives as a formula of the false positives a", example="max(1-2*a-0.1, 0)"
)
CLOSE: Final = Choice(
    "close", "text", choices=("no", "convex"), default="no", meaning="convex: take the convex envelope of the formula"
)


@register(
    "tradeoff",
    title="a formula of one's own",
    group="guarantee",
    symbol=r"f",
    formula=r"f(\alpha)=\text{the formula, with } a \text{ for } \alpha",
    meaning="Every test with false positives a has at least the false negatives that the formula gives.",
    assumptions="The formula is convex, does not increase, and lies between 0 and 1 - a: checked at more than 2000 points. "
    'With "convex" it is replaced by its convex envelope, which is a weaker statement.',
    reference="Dong, Roth, Su 2022, Proposition 1",
    kind="upper",
    oracles=(
        Oracle(('"0.8-0.8*a"',), "delta", 0.0, 0.2, 1e-12, "1 - a - f(a) at a = 0"),
        Oracle(('"max(0.9-2*a, 0.45-a/2, 0)"',), "delta", float(np.log(2)), 0.1, 1e-12, "the lines of (log 2, 0.1)-DP"),
        Oracle(('"(1-a)/(1+(exp(1)-1)*a)"',), "delta", 0.0, float(np.tanh(0.25)), 1e-7, "bounded range, tanh(ε/4)"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class FormulaRegion(Atom):
    """A trade-off function given by a formula of the false-positive rate."""

    formula: str = FORMULA.field()
    close: str = CLOSE.field("no")

    def __post_init__(self) -> None:
        """Read the formula, and check that it is a trade-off function or asked to be closed."""
        super().__post_init__()
        values = self._values(np.linspace(0.0, 1.0, CELLS + 1))
        if self.close == "no":
            self._check_convex(np.linspace(0.0, 1.0, CELLS + 1), values)

    @Lazy
    def node(self) -> FormulaNode:
        """The tree of the formula."""
        return read_formula(self.formula)

    def _values(self, a: FloatArray) -> FloatArray:
        """Return the formula at points; refuse values that no trade-off function has."""
        values = self.node.at(a)
        bad = ~np.isfinite(values) | (values < -SLACK) | (values > 1 - a + SLACK)
        if bad.any():
            at, value = float(a[bad][0]), float(values[bad][0])
            said = nearest(value) if np.isfinite(value) else "not a number"
            msg = f"The formula {value_text(self.formula)} must be between 0 and 1 - a; at a = {nearest(at)} it is {said}."
            raise DomainError(msg)
        return np.clip(values, 0.0, 1 - a)

    @property
    def margin(self) -> float:
        """By how much the polygon is lowered, so that rounding cannot lift it above the formula."""
        return ROUNDING * (8 + self.node.size)

    def _check_convex(self, a: FloatArray, values: FloatArray) -> None:
        rises = np.diff(values) > SLACK
        if rises.any():
            msg = f"The formula {value_text(self.formula)} must not increase; it does after a = {nearest(float(a[:-1][rises][0]))}."
            raise DomainError(msg)
        share = (a[1:-1] - a[:-2]) / (a[2:] - a[:-2])
        chord = values[:-2] * (1 - share) + values[2:] * share
        above = values[1:-1] > chord + SLACK
        if above.any():
            msg = (
                f"The formula {value_text(self.formula)} must be convex; it is not at a = {nearest(float(a[1:-1][above][0]))}. "
                f'Write tradeoff("...", "convex") for its convex envelope.'
            )
            raise DomainError(msg)

    def _pair(self) -> Curve:
        if self.close == "convex":
            return Outer(self._envelope(), (), self.entry.title)
        a = _grid()
        for _ in range(ROUNDS):
            values = self._values(a)
            corner, below = _outer(a, values)
            gap = self._values(corner) - below
            a = np.unique(np.concatenate((a, corner[gap > SLACK])))
        values = self._values(a)
        x, below = _outer(a, values)
        outer = _thinned(x, np.clip(below - self.margin, 0.0, None), self.margin / 2)
        inner = _thinned(a, values, 0.0)
        return Outer(polygon_algebra.from_points(*outer), (polygon_algebra.from_points(*inner),), self.entry.title)

    def _envelope(self) -> Curve:
        """Return the convex envelope of the formula's lower bounds on small intervals."""
        edges = np.linspace(0.0, 1.0, ENVELOPE_CELLS + 1)
        low, _ = self.node.within(edges[:-1], edges[1:])
        exact = self._values(edges)
        low = np.minimum(np.where(np.isfinite(low), low, 0.0), np.minimum(exact[:-1], exact[1:]))
        low = np.clip(low - self.margin, 0.0, None)
        return polygon_algebra.from_points(np.concatenate((edges[:-1], edges[1:])), np.concatenate((low, low)))


def _grid() -> FloatArray:
    """Return points in [0, 1]: evenly spaced, and closer at both ends."""
    count = int(np.log(1 / (CELLS * ENDS)) / np.log(1.5)) + 1
    near = ENDS * 1.5 ** np.arange(count)
    return np.unique(np.concatenate((np.linspace(0.0, 1.0, CELLS + 1), near, 1 - near)))


def _outer(a: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the polygon below a convex function: where the lines beside each cell meet."""
    slope = np.diff(values) / np.diff(a)
    left, right = slope[:-2], slope[2:]  # the lines beside the cells 1 ... n - 2
    start, end, first, last = a[1:-2], a[2:-1], values[1:-2], values[2:-1]
    width = end - start
    with np.errstate(all="ignore"):
        share = (last - right * width - first) / ((left - right) * width)
    share = np.clip(np.where(np.isfinite(share), share, 0.5), 0.0, 1.0)
    corner = start + share * width
    below = np.maximum(first + left * share * width, last - right * (1 - share) * width)
    below = np.minimum(below, first * (1 - share) + last * share)
    ends = np.array([0.0, 1.0])
    at_ends = np.array([values[1] - slope[1] * a[1], values[-2] + slope[-2] * (1 - a[-2])])
    x = np.concatenate((ends, a[1:-1], corner))
    y = np.concatenate((np.minimum(at_ends, values[[0, -1]]), values[1:-1], below))
    order = np.argsort(x, kind="stable")
    return x[order], np.clip(y[order], 0.0, None)


def _thinned(x: FloatArray, y: FloatArray, margin: float) -> tuple[FloatArray, FloatArray]:
    """Return corners of a convex line such that the line through them is nowhere more than `margin` above the given one.

    Close points on a straight piece would have slopes of rounding errors only.
    """
    keep, start, largest = [0], 0, np.inf
    for place in range(1, x.size):
        if x[place] <= x[start]:
            continue
        slope = (y[place] - y[start]) / (x[place] - x[start])
        if slope > largest:
            start = place - 1
            keep.append(start)
            largest, slope = np.inf, (y[place] - y[start]) / max(x[place] - x[start], 5e-324)
        largest = min(largest, slope + margin / (x[place] - x[start]))
    keep.append(x.size - 1)
    return x[keep], y[keep]

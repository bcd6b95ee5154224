"""Sums over a binary tree of steps, each with Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.registry import COUNT, SIGMA, Oracle, register
from dpcore.curves.gaussian import GaussianCurve
from dpcore.mechanisms.base import Mechanism
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from dpcore.curves.base import Curve


@register(
    "tree_aggregation",
    title="tree aggregation",
    group="mechanism",
    symbol=r"G_{\sqrt h/\sigma}",
    formula=r"G_{\sqrt{h}/\sigma},\quad h=\lfloor\log_2 T\rfloor+1",
    meaning="Running sums of T steps are released by the nodes of a binary tree, each with normal noise σ; a record is in one step.",
    assumptions="A record takes part in one step and moves its sum by at most 1; only complete subtrees are released.",
    reference="Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011; Kairouz et al. 2021",
    oracles=(
        Oracle((2.0, 1), "delta", 1.0, 0.00682959, 1e-8, "one step: gaussian(2)"),
        Oracle((2.0, 8), "delta", 1.0, 0.12693674, 1e-8, "four nodes: gdp(1)"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class TreeAggregation(Mechanism):
    """Noisy sums of a binary tree over the steps."""

    sigma: float = SIGMA.field()
    steps: int = COUNT.but(name="steps").field(high=10**15, meaning="steps, the leaves of the tree", label="T")

    offered: ClassVar[bool] = False
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("sigma", -1), ("steps", 1))

    @property
    def height(self) -> int:
        """Number of released sums that hold the first step: the complete subtrees above it."""
        return int(self.steps).bit_length()

    def _pair(self) -> Curve:
        if np.isinf(self.sigma):
            return three_point(0.0, 0.0, 1.0)
        return GaussianCurve(math.sqrt(self.height) / self.sigma, "Gaussian composition")

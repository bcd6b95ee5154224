"""Correlated Gaussian noise from a banded matrix, with Poisson sampling inside groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.registry import COUNT, PROBABILITY, SENSITIVITY, SIGMA, Oracle, register
from dpcore.curves.composition import directed
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.subsampled import subsampled
from dpcore.mechanisms.base import Mechanism
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from dpcore.curves.base import Curve


@register(
    "banded_gaussian",
    title="banded matrix noise on samples",
    group="mechanism",
    symbol=r"\left(G_{\kappa/\sigma}^{bq}\right)^{\lceil T/b\rceil}",
    formula=r"\left(G_{\kappa/\sigma}^{bq}\right)^{\otimes\lceil T/b\rceil},\quad \kappa=\max_i\lVert C_{\cdot i}\rVert_2",
    meaning="The steps are released as Cx plus normal noise σ, C lower triangular with b bands; group i mod b is sampled at step i.",
    assumptions="The records form b fixed groups of equal size; a batch is a q-th of all records; each record moves its step by at most 1.",
    reference="Choquette-Choo et al. 2023 (BandMF), Theorem 4",
    neighbours="add/remove",
    oracles=(
        Oracle((1.0, 0.1, 1, 1), "delta", 0.05, 0.02614366, 1e-8, "one band, one step: poisson_gaussian(1, 0.1)"),
        Oracle((2.0, 0.25, 4, 16, 1.0), "delta", 1.0, 0.12693674, 1e-8, "whole groups, four times: gdp(1)"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class BandedGaussian(Mechanism):
    """Noise with a banded correlation over all steps of a training run."""

    sigma: float = SIGMA.field()
    q: float = PROBABILITY.but(name="q", example=0.5).field(
        least=1e-300, meaning="size of a batch over that of the dataset"
    )
    bands: int = COUNT.but(name="bands").field(high=10**9, meaning="bands of the matrix C", label="b")
    steps: int = COUNT.but(name="steps").field(high=10**9, meaning="steps of the training", label="T")
    norm: float = SENSITIVITY.but(name="norm").field(1.0, meaning="largest norm of a column of C", label="κ")

    offered: ClassVar[bool] = False
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("sigma", -1), ("q", 1), ("steps", 1), ("norm", 1))

    def __post_init__(self) -> None:
        """Check that a batch fits into a group."""
        super().__post_init__()
        if self.bands * self.q > 1.0 + 1e-12:
            msg = (
                f"A batch of {nearest(self.q)} of the records does not fit into one of {self.bands} groups: "
                f"bands times q must be at most 1, got {nearest(self.bands * self.q)}."
            )
            raise DomainError(msg)

    @property
    def oriented(self) -> str:
        """The record is in under H1 in every part."""
        return "add/remove"

    @property
    def rounds(self) -> int:
        """How often a group takes part, at most."""
        return -(-self.steps // self.bands)

    def _pair(self) -> Curve:
        if self.q == 0.0 or np.isinf(self.sigma):
            return three_point(0.0, 0.0, 1.0)
        part = subsampled(GaussianCurve(self.norm / self.sigma), min(1.0, self.bands * self.q))
        return part if self.rounds == 1 else directed([(part, self.rounds)])

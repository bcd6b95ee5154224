"""What a mechanism adds to a region: its noise, to draw and to simulate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from dpcore.errors import DomainError
from dpcore.tradeoff import Atom

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray

    Draws = FloatArray | NDArray[np.int64]


def check_noise(text: str, width: float) -> None:
    """Refuse noise without a density: of width 0 (no noise at all) or of infinite width."""
    if width == 0 or math.isinf(width):
        msg = f"{text} has noise of width {width:g}; only noise of a positive finite width has a density to draw."
        raise DomainError(msg)


class Mechanism(Atom):
    """A region that comes from noise added to an answer.

    `support` says what the noise takes: real numbers, integers or categories. `sample` is for simulation, not for
    releasing data: floating-point noise is attackable.
    """

    support: ClassVar[str] = "real"

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:  # noqa: ARG002  for those that have noise
        """Return the density (or probability) of the noisy answer at x when the true answer is `shift`."""
        raise DomainError(self._no_noise)

    def survival(self, x: FloatArray, shift: float = 0.0) -> FloatArray:  # noqa: ARG002  for those that have noise
        """Return the probability that the noisy answer exceeds x when the true answer is `shift`."""
        raise DomainError(self._no_noise)

    def sample(self, rng: Generator, size: int) -> Draws:  # noqa: ARG002  for those that have noise
        """Return `size` draws of the noise, integers where the noise is.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        raise DomainError(self._no_noise)

    @property
    def _no_noise(self) -> str:
        return f"{self.text} is the worst case of many mechanisms and has no noise of its own."

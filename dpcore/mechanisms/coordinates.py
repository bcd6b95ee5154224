"""Noise on several coordinates at once: every coordinate has noise of its own, and the attacker sees all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.mechanisms.base import Mechanism, TwoAnswers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator

    from dpcore.curves.base import FloatArray
    from dpcore.mechanisms.base import Attacker

_MOST_DRAWN = 1000  # coordinates that an audit draws one by one; of more it takes the curve


class Coordinates(Mechanism):
    """Noise of one law on several coordinates; the law is that of one coordinate, the attacker uses all of them."""

    offered: ClassVar[bool] = False

    @property
    def moves(self) -> Sequence[float]:
        """How far each coordinate moves, on the pair that the attacker tells apart."""
        raise NotImplementedError

    @property
    def move(self) -> float:
        """The largest move of a coordinate."""
        return max(self.moves)

    @property
    def one_of_many(self) -> str:
        """What a picture of one coordinate leaves out; empty if there is no other one."""
        return (
            "The picture shows the coordinate that moves most; the best attacker uses all of them."
            if len(self.moves) > 1
            else ""
        )

    def answers(self, without: float | None = None) -> TwoAnswers:
        """Return the answers of the coordinate that moves most."""
        return replace(super().answers(without), note=self.one_of_many)

    def loss(self, answer: FloatArray, shift: float) -> FloatArray:
        """Return the logarithm of the likelihood ratio of one coordinate."""
        law = self.law
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(law.density(answer - shift)) - np.log(law.density(answer)), dtype=np.float64)

    def attack(self) -> tuple[Attacker, str] | None:
        """Return the attacker whose score is the logarithm of the likelihood ratio: the losses of the coordinates add."""
        law, moves = self.law, self.moves
        if len(moves) > _MOST_DRAWN:
            return None

        def draw(rng: Generator, size: int, inside: bool) -> FloatArray:
            total = np.zeros(size)
            for shift in moves:
                total += self.loss(
                    np.asarray(law.sample(rng, size) + (shift if inside else 0.0), dtype=np.float64), shift
                )
            return np.asarray(np.round(total, 9), dtype=np.float64)  # makes equal losses equal in spite of rounding

        return draw, "The score is the logarithm of the likelihood ratio of all noisy answers together."

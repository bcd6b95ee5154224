"""The exact samplers: every draw of their source is followed, so that probabilities are sums over branches, not frequencies."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from scipy.special import ive

from dpcore.core.errors import DomainError
from dpcore.mechanisms import exact_sampling
from dpcore.mechanisms.exact_sampling import (
    draw_discrete_gaussian,
    draw_discrete_laplace,
    draw_exponential_coin,
    draw_skellam,
)

if TYPE_CHECKING:
    from collections.abc import Callable


LARGEST = 60  # of the discrete Laplace noise in one fork; the rest has a mass below 1e-12


class ForkError(Exception):
    """The script is at its end: one of these chances comes next."""

    def __init__(self, chances: tuple[float, ...]) -> None:
        super().__init__(chances)
        self.chances = chances


class AnotherRoundError(Exception):
    """The first round rejected what it drew."""


class Script:
    """A source that returns given integers; a coin is one of them, so that its branches are two."""

    def __init__(self, integers: tuple[int, ...]) -> None:
        self.left, self.chosen = list(integers), False

    def randrange(self, stop: int, /) -> int:
        """Return the next integer, or ask for more."""
        return 0 if stop == 1 else self._next((1 / stop,) * stop)

    def coin(self, chance: Fraction | float) -> bool:
        """Return the next coin, or ask for more."""
        return bool(chance == 1 or (chance > 0 and self._next((1.0 - chance, float(chance)))))

    def choice(self, chances: tuple[float, ...]) -> int:
        """Return the place of the only choice, or ask for it; a second one is another round."""
        if self.chosen:
            raise AnotherRoundError
        place = self._next(chances)
        self.chosen = True
        return place

    def _next(self, chances: tuple[float, ...]) -> int:
        if not self.left:
            raise ForkError(chances)
        return self.left.pop(0)


def one_coin(chance: Fraction, source: Script) -> bool:
    """Toss a coin in one fork of two branches; `test_a_coin` follows the integers behind one."""
    return source.coin(chance)


def one_chain(gamma: Fraction, source: Script) -> bool:
    """Toss the coin of a whole chain in one fork; `test_a_chain` follows the coins behind one."""
    return source.coin(math.exp(-gamma))


def one_laplace(scale: int, source: Script) -> int:
    """Draw discrete Laplace noise in one fork; `test_discrete_laplace` follows the draws behind one."""
    ratio = math.exp(-1 / scale)
    inner = [(1 - ratio) / (1 + ratio) * ratio ** abs(n) for n in range(-LARGEST, LARGEST + 1)]
    return source.choice(tuple(inner)) - LARGEST


def followed(draw: Callable[[Script], int], least: float) -> tuple[dict[int, float], float]:
    """Return the exact probability of each result over all branches that are not rarer than `least`, and of the rest."""
    chances: dict[int, float] = defaultdict(float)
    rest, open_ = 0.0, [((), 1.0)]
    while open_:
        integers, chance = open_.pop()
        if chance < least:
            rest += chance
            continue
        try:
            chances[int(draw(Script(integers)))] += chance
        except AnotherRoundError:
            rest += chance
        except ForkError as fork:
            open_ += [((*integers, way), chance * share) for way, share in enumerate(fork.chances)]
    assert abs(sum(chances.values()) + rest - 1) < 1e-9
    return chances, rest


def test_a_coin() -> None:
    heads = sum(exact_sampling._coin(Fraction(3, 7), _Fixed(value)) for value in range(7))
    assert heads == 3


class _Fixed:
    """A source of one integer."""

    def __init__(self, value: int) -> None:
        self.value = value

    def randrange(self, stop: int, /) -> int:
        """Return the integer."""
        assert self.value < stop
        return self.value


def check(chances: dict[int, float], rest: float, true: dict[int, float], enough: float) -> None:
    """Each probability lies between what was followed and that plus the rest, and the rest is small."""
    assert rest < enough
    for result, probability in true.items():
        assert chances[result] <= probability * (1 + 1e-9), result
        assert probability <= chances[result] + rest * (1 + 1e-9) + 1e-12, result


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(5, 3)])
def test_a_chain(gamma: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_sampling, "_coin", one_coin)
    chances, rest = followed(lambda source: draw_exponential_coin(gamma, source), 1e-7)
    check(chances, rest, {1: math.exp(-gamma), 0: -math.expm1(-gamma)}, 1e-4)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 2), Fraction(3, 2)])
def test_discrete_laplace(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_sampling, "_chain", one_chain)
    ratio = math.exp(-1 / scale)
    true = {n: (1 - ratio) / (1 + ratio) * ratio ** abs(n) for n in range(-2, 3)}
    chances, rest = followed(lambda source: draw_discrete_laplace(scale, source), 1e-5)
    check(chances, rest, true, 0.05)


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1, 2), Fraction(9, 4)])
def test_discrete_gaussian(variance: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_sampling, "_chain", one_chain)
    monkeypatch.setattr(exact_sampling, "draw_discrete_laplace", one_laplace)
    total = sum(math.exp(-(n**2) / (2 * variance)) for n in range(-40, 41))
    true = {n: math.exp(-(n**2) / (2 * variance)) / total for n in range(-2, 3)}
    chances, rest = followed(lambda source: draw_discrete_gaussian(variance, source), 1e-12)
    for n, probability in true.items():  # what the first round accepts has the wanted law
        assert abs(chances[n] / (1 - rest) / probability - 1) < 1e-6


def test_skellam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_sampling, "_coin", one_coin)
    true = {n: float(ive(abs(n), 1.0)) for n in range(-2, 3)}
    chances, rest = followed(lambda source: draw_skellam(1, source), 1e-5)
    check(chances, rest, true, 0.1)


def test_the_operating_system_is_the_default() -> None:
    draws = [draw_discrete_gaussian(Fraction(9, 4)) for _ in range(50)]
    assert all(isinstance(draw, int) for draw in draws)
    assert len(set(draws)) > 1


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(DomainError, match="variance must be"):
        draw_discrete_gaussian(0)
    with pytest.raises(DomainError, match="gamma must be"):
        draw_exponential_coin(-1)

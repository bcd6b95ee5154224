r"""Exact samplers of integer noise: rational arithmetic and uniform integers, no floating point at all.

Every function draws from exactly the law that it names, if its source of integers is uniform. For a release two things are
still needed: a source of cryptographic quality (`random.SystemRandom()`, the default, asks the operating system), and
protection against an observer of the running time, since all of these draw until something is accepted. Parameters are
fractions: a float stands for the fraction that it is, 0.1 for 3602879701896397/2^55.

The idea: e^{-gamma} is an alternating sum of gamma^k / k!, and a chain of coins with chances gamma, gamma/2, gamma/3, ... has
at least k heads in a row with probability gamma^k / k!. So the chain ends after an even number of heads with probability
e^{-gamma}. Everything else is rejection by such coins.

References
----------
.. [1] C. Canonne, G. Kamath and T. Steinke, The discrete Gaussian for differential privacy, 2020: the chain of coins and the
   rejection from discrete Laplace noise.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial, isqrt
from random import SystemRandom
from typing import TYPE_CHECKING, Protocol

from dpcore.core.domains import POSITIVE
from dpcore.core.effort import checkpoint

if TYPE_CHECKING:
    from dpcore.core.parameter import Parameter

__all__ = [
    "UniformIntegers",
    "draw_discrete_gaussian",
    "draw_discrete_laplace",
    "draw_exponential_coin",
    "draw_skellam",
]

_SYSTEM = SystemRandom()
_CHECKPOINTS = 4096  # draws between two checks of the clock, a few milliseconds
_EXPONENT = POSITIVE.but(name="gamma", low_open=False, meaning="a finite number from 0 upwards")
Rational = Fraction | int | float


class UniformIntegers(Protocol):
    """A source of uniform integers: `random.SystemRandom()`, or `random.Random(seed)` for tests."""

    def randrange(self, stop: int, /) -> int:
        """Return one of 0, ..., stop - 1, each with the same probability."""


def _fraction(parameter: Parameter, value: Rational) -> Fraction:
    parameter.check(float(value))
    return Fraction(value)


def _coin(chance: Fraction, source: UniformIntegers) -> bool:
    """Return True with the probability `chance`."""
    return source.randrange(chance.denominator) < chance.numerator


def draw_exponential_coin(gamma: Rational, source: UniformIntegers = _SYSTEM) -> bool:
    """Return True with probability e^-gamma, exactly.

    Parameters
    ----------
    gamma : Fraction, int or float
        A number from 0 upwards.
    source : UniformIntegers, optional
        The uniform integers; the operating system's by default.

    Returns
    -------
    bool
        The coin.
    """
    left = _fraction(_EXPONENT, gamma)
    while left > 1:  # at most gamma rounds; e rounds are rare
        if not _chain(Fraction(1), source):
            return False
        left -= 1
    return _chain(left, source)


def _chain(gamma: Fraction, source: UniformIntegers) -> bool:
    """Return True with probability e^-gamma for gamma in [0, 1]: whether the number of heads in a row is even."""
    heads = 0
    while _coin(gamma / (heads + 1), source):  # k rounds have probability gamma^k / k!
        heads += 1
    return heads % 2 == 0


def draw_discrete_laplace(scale: Rational, source: UniformIntegers = _SYSTEM) -> int:
    """Return an integer n with probability proportional to e^(-abs(n) / scale), exactly.

    With scale = t / s in lowest terms a geometric number X of ratio e^(-1/t) is drawn as its remainder modulo t (uniform,
    accepted with chance e^(-remainder/t)) and its quotient (coins of chance 1/e); X // s has ratio e^(-s/t). A sign is
    drawn, and -0 is rejected.

    Parameters
    ----------
    scale : Fraction, int or float
        A number above 0.
    source : UniformIntegers, optional
        The uniform integers; the operating system's by default.

    Returns
    -------
    int
        The noise.
    """
    ratio = _fraction(POSITIVE.but(name="scale"), scale)
    t, s = ratio.numerator, ratio.denominator
    while True:  # a draw is accepted with probability 0.63 at least
        remainder = source.randrange(t)
        if not _chain(Fraction(remainder, t), source):
            continue
        quotient = 0
        while _chain(Fraction(1), source):  # k rounds have probability e^-k
            quotient += 1
        size, negative = (remainder + t * quotient) // s, source.randrange(2)
        if not (negative and size == 0):
            return -size if negative else size


def draw_discrete_gaussian(variance: Rational, source: UniformIntegers = _SYSTEM) -> int:
    """Return an integer n with probability proportional to e^(-n^2 / (2 variance)), exactly.

    `variance` is sigma^2, the number in the exponent. Discrete Laplace noise of an integer scale t next to sigma is
    accepted with chance e^(-(abs(n) - variance/t)^2 / (2 variance)), which turns e^(-abs(n)/t) into the wanted masses.

    Parameters
    ----------
    variance : Fraction, int or float
        A number above 0.
    source : UniformIntegers, optional
        The uniform integers; the operating system's by default.

    Returns
    -------
    int
        The noise.
    """
    square = _fraction(POSITIVE.but(name="variance"), variance)
    t = isqrt(square.numerator // square.denominator) + 1
    while True:  # the rejection of the reference: accepted with a constant probability at least
        n = draw_discrete_laplace(t, source)
        if draw_exponential_coin((abs(n) - square / t) ** 2 / (2 * square), source):
            return n


def draw_skellam(mu: Rational, source: UniformIntegers = _SYSTEM) -> int:
    """Return the difference of two Poisson numbers of mean mu / 2, exactly.

    A Poisson number of mean 1 is a number of heads k of a fair coin, accepted with chance 2^(k-1) / k!; means add, and a
    fraction of 1 thins the number by coins.

    Parameters
    ----------
    mu : Fraction, int or float
        The variance, above 0.
    source : UniformIntegers, optional
        The uniform integers; the operating system's by default.

    Returns
    -------
    int
        The noise.
    """
    half = _fraction(POSITIVE.but(name="mu"), mu) / 2
    return _poisson(half, source) - _poisson(half, source)


def _poisson(mean: Fraction, source: UniformIntegers) -> int:
    whole = mean.numerator // mean.denominator
    total = 0
    for unit in range(whole):
        if unit % _CHECKPOINTS == 0:
            checkpoint(unit / whole)
        total += _unit_poisson(source)
    rest = mean - whole
    return total + sum(_coin(rest, source) for _ in range(_unit_poisson(source) if rest else 0))


def _unit_poisson(source: UniformIntegers) -> int:
    while True:  # accepted with probability e/4
        heads = 0
        while source.randrange(2):  # k rounds have probability 2^-k
            heads += 1
        if _coin(Fraction(2**heads, 2 * factorial(heads)), source):
            return heads

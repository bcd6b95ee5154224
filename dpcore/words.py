"""Numbers in plain words, rounded outward: never "at most 12" for 12.4, nor "at least 12" for 11.6."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from dpcore.core.domains import ALPHA, ANY_LOSS, COUNT, DELTA, LOSS_OR_INF
from dpcore.core.kinds import WORDS, kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.regions.tradeoff import TradeOff

_DIGITS = COUNT.but(name="digits", high=10**6)
_VALUE = ANY_LOSS.but(name="A number in words")
_RATE = ALPHA.but(name="A rate")
_PRIOR = ALPHA.but(name="prior")
_SNAP = Decimal("1e-13")  # rounding noise of a double: a value this close to a round number is that number
_CLOSE = 1e-3  # sides of a bracket that are this close share their first digits
_LARGEST_WRITTEN = 15  # above 10^15 people a power of ten reads better than its zeros
_LARGEST_EXPONENT = 700.0  # e^700 is still a double


def outward(value: float, digits: int, up: bool = True) -> str:
    """Return `value` with `digits` significant digits, rounded up (or down), never to the nearest.

    Parameters
    ----------
    value : float
        Any real number; infinity is written ``inf``.
    digits : int
        How many significant digits, from 1 upwards.
    up : bool, default True
        Round towards +infinity, as "at most" needs; otherwise towards -infinity, as "at least" needs.

    Returns
    -------
    str
        The number.

    Examples
    --------
    >>> outward(0.12341, 3), outward(0.12341, 3, up=False)
    ('0.124', '0.123')
    """
    nearest, ceiling, floor = _contexts(digits)
    _VALUE.check(value)
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == 0:
        return "0"
    exact = Decimal(repr(float(value)))
    near = nearest.create_decimal(exact)
    if abs(near - exact) > _SNAP * abs(exact):
        near = (ceiling if up else floor).create_decimal(exact)
    return _plain(near)


@lru_cache(maxsize=64, typed=True)
def _contexts(digits: int) -> tuple[Context, Context, Context]:
    """Return the contexts that round decimals to this many digits: to the nearest, up, down."""
    digits = _DIGITS.check(digits)
    nearest, ceiling, floor = (
        Context(prec=digits, rounding=way) for way in (ROUND_HALF_EVEN, ROUND_CEILING, ROUND_FLOOR)
    )
    return nearest, ceiling, floor


def of_100(rate: float, *, up: bool = True) -> str:
    """Return a rate as people: ``12 of 100``; small rates need a larger crowd, ``1 of 1 000 000``.

    0 is ``0 of 100``: it cannot happen; 1 is ``100 of 100``: it always happens.
    """
    return _people(rate, _crowd(rate, up=up), up=up)


def about(rate: float) -> str:
    """Return a known rate as people, rounded to the nearest: ``about 30 of 100``, ``12 of 100`` where that is exact.

    A rate above 0 is never written as 0, and a rate below 1 never as everybody: the crowd grows instead.
    """
    size = _crowd(rate, up=True)
    people = _count_exactly(rate, size)
    near = people.to_integral_value()
    if near == Decimal(10) ** size and rate < 1:
        return "almost 100 of 100"
    crowd = grouped(10**size) if size <= _LARGEST_WRITTEN else f"10^{size}"
    return f"{'' if near == people else 'about '}{grouped(int(near))} of {crowd}"


def attack_sentence(region: TradeOff, fpr: float = 0.05) -> str:
    """Say what the best attacker with this false-positive rate finds, compared with blind guessing.

    The rate is rounded down and the power up: an attacker who accuses fewer people finds no more.
    """
    power, what = best_power(region, fpr)
    size, power_size = _crowd(fpr, up=False), _crowd(power, up=True)
    if abs(size - power_size) <= 1:
        size = power_size = max(size, power_size)
    blind = _count(fpr, size, up=False) if size == power_size else _people(fpr, size, up=False)
    return (
        f"An attacker who wrongly accuses {_people(fpr, size, up=False)} people outside the data finds at most "
        f"{_people(power, power_size)} people inside it ({what}); blind guessing finds {blind}."
    )


def attacks_sentence(regions: Mapping[str, TradeOff], fpr: float = 0.05) -> str:
    """Say in one sentence what the best attacker finds under each of several named regions."""
    parts = []
    for name, region in regions.items():
        power, what = best_power(region, fpr)
        parts.append(f"{of_100(power)} under {name} ({what})")
    listing = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
    accused = of_100(fpr, up=False)
    return (
        f"An attacker who wrongly accuses {accused} people outside the data finds, of the people inside it, at most "
        f"{listing}; blind guessing finds {accused}."
    )


def advantage_sentence(region: TradeOff) -> str:
    """Say how often the best guess is right when being in the data is a coin toss: (1 + total variation) / 2."""
    advantage, what = best_advantage(region)
    return (
        "If half of the people asked about are in the data, the best attacker is right about at most "
        f"{of_100(min(1.0, 0.5 + 0.5 * advantage))} of them ({what}); tossing a coin is right about 50 of 100."
    )


def best_advantage(region: TradeOff) -> tuple[float, str]:
    """Return the attacker's advantage over blind guessing, delta(0), and what that number is."""
    low, high = (float(bound[0]) for bound in region.delta_bounds(0.0))
    return high, WORDS[kind(low, high, "upper")]


def best_power(region: TradeOff, fpr: float) -> tuple[float, str]:
    """Return the attacker's power at a false-positive rate and what that number is."""
    low, high = (float(bound[0]) for bound in region.power_bounds(fpr))
    return high, WORDS[kind(low, high, "upper")]


def statement_sentence(epsilon: float, delta: float = 0.0) -> str:
    """Say what (epsilon, delta) promises: P1(S) <= e^epsilon P0(S) + delta for every set of answers S."""
    LOSS_OR_INF.check(epsilon)
    DELTA.check(delta)
    if delta == 1 or math.isinf(epsilon):
        return "Nothing is promised: the answer may give one person's data away."
    if epsilon == 0 and delta == 0:
        return "The answer says nothing about any one person: it is as likely with their data as without (exact)."
    extra = "" if delta == 0 else f", plus at most {of_100(delta)}"
    if epsilon == 0:
        return f"One person's data changes the probability of any outcome by at most {of_100(delta)} (upper bound)."
    return f"One person's data multiplies the probability of any outcome by at most {factor(epsilon)}{extra} (upper bound)."


def odds(epsilon: float, prior: float = 0.5, delta: float = 0.0) -> str:
    """Say how far one answer under an (epsilon, delta) promise can move an attacker's belief.

    With delta = 0 posterior odds are at most e^epsilon times the prior odds, whatever the answer. With delta > 0 no answer
    is excluded for certain. Let S be the answers that multiply the odds by more than 2 e^epsilon. On S the probability
    without the person is below e^-epsilon / 2 times that with them, so the promise P1(S) <= e^epsilon P0(S) + delta leaves
    P1(S) <= P1(S) / 2 + delta, hence P1(S) <= 2 delta (and P0(S) is smaller still).

    Parameters
    ----------
    epsilon : float
        From 0 to infinity.
    prior : float, default 0.5
        The belief that the person is in the data, before the answer.
    delta : float, default 0
        From 0 to 1.

    Returns
    -------
    str
        One sentence.
    """
    LOSS_OR_INF.check(epsilon)
    _PRIOR.check(prior)
    DELTA.check(delta)
    if prior in (0.0, 1.0):
        return f"An attacker who is already certain stays so: {of_100(prior)} (exact)."
    if math.isinf(epsilon) or delta >= 0.5:
        return f"An attacker whose belief was {of_100(prior)} may become certain: 100 of 100 (upper bound)."
    growth = epsilon + (math.log(2.0) if delta else 0.0)
    # e^growth prior / (1 - prior + e^growth prior), in a form that cannot overflow
    belief = 1.0 / (1.0 + math.exp(-growth) * (1.0 - prior) / prior)
    start = f"Except with probability at most {of_100(2 * delta)}, odds grow" if delta else "Odds grow"
    return (
        f"{start} by a factor of at most {factor(growth)}: a belief of {of_100(prior)} becomes at most {of_100(belief)} "
        "(upper bound)."
    )


def factor(epsilon: float, digits: int = 3) -> str:
    """Return e^epsilon rounded up, or as a power of e where it is too large for a double."""
    if math.isinf(epsilon):
        return "inf"
    return outward(math.exp(epsilon), digits) if epsilon <= _LARGEST_EXPONENT else f"e^{outward(epsilon, digits)}"


def kind_of(region: TradeOff) -> str:
    """Return ``exact`` or ``upper bound``: what the region is as a whole."""
    return WORDS[region.kind]


def grouped(number: int | str) -> str:
    """Return an integer, or a number as `outward` and `nearest` write it, with its whole part in groups of three: 1 000 000.

    Examples
    --------
    >>> grouped(1000), grouped("1315.5"), grouped("1.2e6"), grouped("inf")
    ('1 000', '1 315.5', '1.2e6', 'inf')
    """
    if isinstance(number, int):
        return f"{number:,}".replace(",", " ")
    whole, point, rest = number.partition(".")
    plain = whole.removeprefix("-").isdigit() and "e" not in rest
    return f"{int(whole):,}".replace(",", " ") + point + rest if plain and len(whole) > 3 else number


def between(low: float, high: float, digits: int = 6) -> str:
    """Return the two sides of a bracket, rounded outward: ``2.38168 and 2.38170``.

    Sides that differ only in their last digits have the same number of digits, a last zero included, so that they can be compared.

    Examples
    --------
    >>> between(2.381683, 2.381692), between(1.5, 20)
    ('2.38168 and 2.38170', '1.5 and 20')
    """
    sides = outward(low, digits, up=False), outward(high, digits)
    places = [len(side.partition(".")[2]) for side in sides]
    if sides[0] != sides[1] and abs(high - low) < _CLOSE * abs(high) and not any("e" in side for side in sides):
        filled = (f"{Decimal(side):.{max(places)}f}" for side in sides)
        return " and ".join(map(grouped, filled))
    return " and ".join(map(grouped, sides))


def _crowd(rate: float, *, up: bool) -> int:
    """Return the power of ten of the crowd in which a rate is best counted, from 2 upwards.

    It is the smallest that gives a whole number or at least two digits and does not round a rate below 1 to everybody.
    """
    if _RATE.check(rate) in (0.0, 1.0):
        return 2
    size = 2
    while True:  # to `_LARGEST_WRITTEN`, or the first digits of the rate: some 330 rounds
        people = _count_exactly(rate, size)
        whole = people == people.to_integral_value()
        rounded = people.to_integral_value(ROUND_CEILING if up else ROUND_FLOOR)
        if (whole or people >= 10) and 0 < rounded < Decimal(10) ** size:
            return size
        if people >= 10 and size >= _LARGEST_WRITTEN:
            return size  # so close to 1 that rounding up gives everybody
        size += 1


def _count_exactly(rate: float, size: int) -> Decimal:
    """Return rate * 10^size, with a double's rounding noise removed."""
    people = Decimal(repr(float(rate))).scaleb(size)
    whole = people.to_integral_value()
    return whole if whole > 0 and abs(people - whole) <= _SNAP * people else people


def _count(rate: float, size: int, *, up: bool = True) -> str:
    people = int(_count_exactly(rate, size).to_integral_value(ROUND_CEILING if up else ROUND_FLOOR))
    return grouped(people)


def _people(rate: float, size: int, *, up: bool = True) -> str:
    crowd = grouped(10**size) if size <= _LARGEST_WRITTEN else f"10^{size}"
    return f"{_count(rate, size, up=up)} of {crowd}"


def _plain(number: Decimal) -> str:
    """Return a decimal without trailing zeros: plain from 1e-4 to 1e6, scientific outside."""
    if -5 < number.adjusted() < 6:
        text = f"{number:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{number.normalize():e}".replace("e+", "e")

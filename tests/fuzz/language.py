"""Fuzzers of the language: texts that may name a region, one question to a region, and all questions to a region."""

from __future__ import annotations

import random
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from dpcore.core import registry
from dpcore.core.errors import BudgetError
from dpcore.language import parse, pointer
from dpcore.language.problems import PlacedError
from dpcore.regions.cost import operations
from tests.fuzz.kinds import Answer, Kind
from tests.fuzz.second_routes import verify
from tests.fuzz.walk import Walker

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.regions.tradeoff import TradeOff

Question: TypeAlias = tuple[str, str, str]
"""An expression, what is asked of it, and where."""

BLOCK: Final = 500  # inputs in a row that start from the same expressions
STARTS: Final = 60
QUICK: Final = 2e6
"""Operations (`dpcore.regions.cost`) up to which a text that names a region is asked, too."""

NUMBERS: Final = (
    "0", "1", "2", "-1", "0.5", ".5", "5.", "1e-6", "1e-300", "5e-324", "1e-400", "1e308", "1e309", "1e+5", "1e", "0x10", "1_0", "inf",
    "nan", "1/3", "1/0", "0/5", "1e300/1e-300", "log(3)", "log(0)", "log(1/2)", "sqrt(2)", "sqrt(sqrt(2))", "log(inf)", "1" * 31,
    "9" * 400, "0." + "0" * 400 + "1", "0.99999999999999999", "1000000", "?",
)  # fmt: skip
SIGNS: Final = (
    "(", ")", "[", "]", ",", "=", "&", "*", "^", "/", "?", '"', "'", ";", "|", "-", "+", "**", "^^", "^2", "^0", "^1000000", "^?", " ", "\n",
    "\t", "\0", "\u00a0", "\u202e", "\ufeff", "ε", "𝟙", "٣", "²", "é", "😀", "\ud800", "#", "\\", "{", "}", "<b>", "$", "%s", "((((", "))))",
    "[[[[", '"substitution"', '"any"', '""', "union(", "union()", "log", "sqrt(", "x=", "epsilon=", "sigma=",
)  # fmt: skip


def _walker(name: str, seed: int, number: int) -> Walker:
    return Walker(random.Random(f"{name} {seed} {number}").getrandbits(63))


@lru_cache(maxsize=2)
def _starts(seed: int, block: int) -> tuple[str, ...]:
    """Return expressions of the language, the same for a block of inputs."""
    walker = _walker("texts", seed, block)
    return tuple(walker.region(int(walker.rng.integers(0, 3))).text for _ in range(STARTS))


@lru_cache(maxsize=1)
def _names() -> tuple[str, ...]:
    return tuple(entry.name for entry in registry.entries())


def _piece(turn: random.Random) -> str:
    """Return a piece that may stand somewhere in a text: a number, a sign, a name or a call."""
    way = turn.randrange(5)
    if way == 0:
        return f"{turn.choice(_names())}({turn.choice(NUMBERS)})"
    return turn.choice((NUMBERS, SIGNS, _names(), NUMBERS, SIGNS)[way])


def _changed(text: str, turn: random.Random) -> str:
    """Return a text with a piece put in, taken out, doubled, exchanged or put into many brackets."""
    at = turn.randrange(len(text) + 1)
    end = min(len(text), at + turn.randint(0, 10))
    ways: tuple[Callable[[], str], ...] = (
        lambda: text[:at] + _piece(turn) + text[at:],
        lambda: text[:at] + _piece(turn) + text[end:],
        lambda: text[:at] + text[end:],
        lambda: text[:at] + text[at:end] * turn.choice((2, 3, 40)) + text[end:],
        lambda: _number_exchanged(text, turn),
        lambda: _number_exchanged(text, turn),
        lambda: f"{text} {turn.choice('&*')} {turn.choice((text, _piece(turn)))}",
        lambda: f"{turn.choice(_names())}({text}, {turn.choice(NUMBERS)})",
        lambda: "(" * (depth := turn.choice((1, 2, 5, 99, 101, 300))) + text + ")" * depth,
    )
    return turn.choice(ways)()


def _number_exchanged(text: str, turn: random.Random) -> str:
    """Return a text with one of its arguments exchanged for a number."""
    places = [at for at, sign in enumerate(text) if sign in "(,["]
    if not places:
        return text + turn.choice(NUMBERS)
    at = turn.choice(places) + 1
    end = min((found for sign in ",)]" if (found := text.find(sign, at)) >= 0), default=len(text))
    return text[:at] + turn.choice(NUMBERS) + text[end:]


def draw_text(seed: int, index: int) -> str:
    """Return a text: an expression, an expression changed in up to three places, or a heap of pieces."""
    turn = random.Random(f"language {seed} {index}")
    if turn.random() < 0.15:
        return turn.choice(("", " ", ", ")).join(_piece(turn) for _ in range(turn.choice((0, 1, 2, 5, 20, 300))))
    text = turn.choice(_starts(seed, index // BLOCK))
    for _ in range(turn.randint(0, 3)):
        text = _changed(text, turn)
    return text


def ask_text(text: str) -> Answer:
    """Read a text; a region is written and read again, and asked one question if that is quick."""
    try:
        region = parse(text)
    except PlacedError as error:
        if "\n" in str(error) or len(pointer(error).splitlines()) != 2:
            raise AssertionError(str(error)) from error
        raise
    again = parse(region.text)
    assert again.text == region.text, f"read again as {again.text}"
    return _asked(region, "delta", 0.5) if operations(region) <= QUICK else Answer()


QUESTIONS: Final = ("delta", "epsilon", "beta", "power", "total_variation", "area", "corners", "atoms", "operations")
PLACES: Final = (
    "0",
    "1",
    "-1",
    "0.5",
    "1e-300",
    "5e-324",
    "0.9999999999999999",
    "700",
    "1e308",
    "-745",
    "inf",
    "-inf",
    "nan",
)


def draw_question(seed: int, index: int) -> Question:
    """Return a region and one question about it."""
    walker = _walker("questions", seed, index)
    turn = random.Random(f"places {seed} {index}")
    region = walker.region(turn.choice((0, 1, 1, 2)))
    place = (
        turn.choice(PLACES) if turn.random() < 0.2 else repr(turn.choice((turn.random(), 10 ** turn.uniform(-20, 1.5))))
    )
    return region.text, turn.choice(QUESTIONS[:4] * 3 + QUESTIONS), place


def ask_question(given: Question) -> Answer:
    """Ask a region of the language one question."""
    text, question, place = given
    return _asked(parse(text), question, float(place))


def _asked(region: TradeOff, question: str, place: float) -> Answer:
    if question in ("delta", "beta", "power"):
        return Answer([float(np.atleast_1d(side)[0]) for side in getattr(region, f"{question}_bounds")(place)])
    if question == "epsilon":
        return Answer(others=[float(np.atleast_1d(side)[0]) for side in region.epsilon_bounds(place)])
    if question == "operations":
        return Answer(others=[operations(region)])
    if question == "corners":
        losses, deltas = region.corners()
        return Answer(deltas.tolist(), losses.tolist())
    if question == "atoms":
        losses, *masses = region.atoms()
        return Answer([x for side in masses for x in side.tolist()], losses.tolist())
    return Answer([float(getattr(region, question))])


def draw_region(seed: int, index: int) -> tuple[str, list[float], list[float]]:
    """Return a region, deltas and betas to ask."""
    walker = _walker("regions", seed, index)
    return walker.region(2).text, *walker.questions()


def ask_region(given: tuple[str, list[float], list[float]]) -> None:
    """Ask a region everything, and compare the answers with each other."""
    text, shares, alphas = given
    if refusal := verify(parse(text), shares, alphas, seconds=REGIONS.deadline):
        raise BudgetError(refusal)


LANGUAGE: Final = Kind("language", "texts, read or refused, and asked if quick", draw_text, ask_text, 783_000, 0.25)
QUESTION: Final = Kind("questions", "one question to a region", draw_question, ask_question, 50_000, 0.2)
REGIONS: Final[Kind] = Kind("regions", "all questions to a region", draw_region, ask_region, 1_000, 2.0)
KINDS: Final = {kind.name: kind for kind in (LANGUAGE, QUESTION, REGIONS)}

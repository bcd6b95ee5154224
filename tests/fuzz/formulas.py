"""A fuzzer of trade-off functions that strangers write as formulas."""

from __future__ import annotations

import random
from typing import Final

from dpcore.language import parse
from tests.fuzz.kinds import Answer, Kind

ATOMS: Final = ("a", "1", "0", "2", "0.5", "1e-9", "1e300", "1e-320", "3", "0.1", "1e999", ".5")
EPSILONS: Final = (0.0, 1.0, 5.0, -1.0, 700.0, 1e-9)
DEEPEST: Final = 4


def _term(turn: random.Random, depth: int = 0) -> str:
    if depth > DEEPEST or turn.random() < 0.25:
        return turn.choice(ATOMS)
    inner, way = _term(turn, depth + 1), turn.randrange(8)
    if way < 4:
        return f"{inner}{turn.choice('+-*/')}{_term(turn, depth + 1)}"
    if way == 4:
        return f"({inner})^{turn.choice(('2', '0.5', '1e9', '0', '1e-300', '3'))}"
    if way == 5:
        return f"{turn.choice(('max', 'min'))}({inner},{_term(turn, depth + 1)})"
    return f"{turn.choice(('exp', 'log', 'sqrt', '-'))}({inner})"


def draw_formula(seed: int, index: int) -> tuple[str, float, float, float]:
    """Return a formula of one's own, often cut to a possible one and closed, and what is asked: epsilon, alpha and delta."""
    turn = random.Random(f"formula {seed} {index}")
    ways = (
        lambda: _term(turn),
        lambda: f"max(min({_term(turn)},1-a),0)",
        lambda: f"max(1-{turn.choice('23')}*a-{turn.random():.2f},0,{_term(turn)}*0)",
        lambda: f"(1-a^{turn.choice(('0.5', '0.1', '0.01'))})^{turn.choice(('2', '10', '1e5'))}",
    )
    text = turn.choice((*ways, ways[1]))()
    close = ', "convex"' if turn.random() < 0.7 else ""
    rest = turn.choice(("^2", " & dp(1)", " * gdp(1)", "^10")) if turn.random() < 0.3 else ""
    asked = turn.choice(EPSILONS), turn.choice((0.0, 0.1, 0.5, 1.0)), turn.choice((0.0, 1e-6, 0.5))
    return f'tradeoff("{text}"{close}){rest}', *asked


def ask_formula(given: tuple[str, float, float, float]) -> Answer:
    """Ask the region of a formula."""
    text, epsilon, alpha, delta = given
    region = parse(text)
    return Answer([float(region.delta(epsilon)), float(region.beta(alpha))], [float(region.epsilon(delta))])


FORMULA: Final = Kind("formula", "trade-off functions of one's own", draw_formula, ask_formula, 2_000, 2.0)
KINDS: Final = {FORMULA.name: FORMULA}

"""A comparison of two regions in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore import frames
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.words import outward

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.regions.tradeoff import TradeOff

MOST_CROSSINGS = 3


def compared(first: str, a: TradeOff, second: str, b: TradeOff) -> tuple[str, pd.DataFrame]:
    """Return how two named regions compare, in words and as a table.

    Parameters
    ----------
    first, second : str
        What the regions are called.
    a, b : TradeOff
        The regions.
    """
    table = result(frames.compare, a, b)
    relation = str(table["relation"].iloc[0])
    if relation == "equal":
        sentence = f"{first} and {second} are the same region."
    elif relation == "crossing":
        sentence = _crossing(first, a, second, b, table)
    else:
        inner, outer = (first, second) if relation == "a inside b" else (second, first)
        sentence = (
            f"{inner} lies inside {outer}: every attack on {inner} works on {outer} too, so {inner} promises more."
        )
    sizes = [float(table[f"area_{side}"].iloc[0]) for side in "ab"]
    return f"{sentence} {_areas(first, second, sizes)}", table


def _crossing(first: str, a: TradeOff, second: str, b: TradeOff, table: pd.DataFrame) -> str:
    """Say where the borders cross and who promises more before the first crossing."""
    rows = list(zip(table["crossing_alpha"], table["crossing_beta"], strict=True))
    alpha = float(rows[0][0])
    left = alpha / 2
    better = first if float(a.beta(left)) > float(b.beta(left)) else second
    places = ", ".join(f"(α {_near(x)}, β {_near(y)})" for x, y in rows[:MOST_CROSSINGS])
    more = f" and {len(rows) - MOST_CROSSINGS} more" if len(rows) > MOST_CROSSINGS else ""
    return (
        f"Neither contains the other: the borders of {first} and {second} cross at {places}{more}. "
        f"Against attackers with fewer false positives than {_near(alpha)}, {better} promises more."
    )


def _areas(first: str, second: str, sizes: list[float]) -> str:
    """Say how large the regions are: the share of the triangle below blind guessing that they cover."""
    shares = [max(0.0, min(1.0, 1.0 - 2.0 * size)) for size in sizes]
    parts = [f"{name} covers {outward(100 * share, 4)} %" for name, share in zip((first, second), shares, strict=True)]
    return f"Of the triangle below blind guessing, {' and '.join(parts)} (rounded up; 0 % is perfect privacy)."


def _near(value: float) -> str:
    return nearest(float(value), 4)

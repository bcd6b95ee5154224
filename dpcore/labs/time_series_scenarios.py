"""Every attack on the time series with everything an attacker may know: printed, programmed, corrected and exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.core.effort import checkpoint
from dpcore.core.numerals import nearest
from dpcore.labs.base import Plot, series, together
from dpcore.labs.time_series import ATTACKS, KNOWLEDGE, code_first, code_last
from dpcore.labs.time_series_views import CORRECTED, EXACT, PRINTED, PROGRAM, bound_kind
from dpcore.words import outward

if TYPE_CHECKING:
    from dpcore.labs.time_series import Autoregression

_LIKE_FIGURE = (1.0, 1.0)  # the column of A that the program of Figure 6.1 has written into it


@dataclass(frozen=True, slots=True)
class Scenario:
    """What one attack learns from what is known.

    Parameters
    ----------
    attack, knowledge : str
        Keys of `ATTACKS` and `KNOWLEDGE`.
    printed : tuple of (float, float) or None
        (epsilon, delta) of the source's theorem, None where it has none.
    program : float or None
        Epsilon of the curve the source's program draws, None where it draws none.
    corrected : tuple of (float, float)
        (epsilon, delta) by the source's route with its slips repaired.
    mu : float
        The exact Gaussian shift.
    epsilon : float
        The exact smallest epsilon at the corrected delta.
    """

    attack: str
    knowledge: str
    printed: tuple[float, float] | None
    program: float | None
    corrected: tuple[float, float]
    mu: float
    epsilon: float

    @property
    def name(self) -> str:
        """As the source writes it, such as A1+N3."""
        return f"{self.attack}+{self.knowledge}"


def programmed(model: Autoregression, attack: str, knowledge: str) -> float | None:
    """Return what the source's program would draw for this series, None where it has no curve.

    It draws A1+N2 for two records with a11 = a21 = 1 (Figure 6.1) and A2+N1 for any matrix (Figures 6.2 to 6.5).
    """
    if (attack, knowledge) == ("A2", "N1"):
        weights, variance = model.backward()
        return code_last(abs(float(weights[0])) / model.n, variance, model.n, model.delta[0])
    if (attack, knowledge) == ("A1", "N2") and tuple(row[0] for row in model.matrix) == _LIKE_FIGURE:
        return code_first(model.covariance[0][1], model.delta[1])
    return None


def every(model: Autoregression) -> list[Scenario]:
    """Return all twelve scenarios; those that need the inverse of A are left out where it has none."""
    rows = []
    for at, (attack, knowledge) in enumerate((a, k) for a in ATTACKS for k in KNOWLEDGE):
        checkpoint(at / (len(ATTACKS) * len(KNOWLEDGE)))
        if attack == "A2" and knowledge != "N2" and not model.invertible:
            continue
        corrected = model.corrected(attack, knowledge)
        region = model.region(attack, knowledge)
        rows.append(
            Scenario(
                attack,
                knowledge,
                model.printed(attack, knowledge),
                programmed(model, attack, knowledge),
                corrected,
                model.mu(attack, knowledge),
                float(region.epsilon(corrected[1])),
            )
        )
    return rows


def scenarios(model: Autoregression) -> Plot:
    """Return the epsilons of every scenario as bars: exact, corrected, as printed and as the program draws them."""
    rows = every(model)
    names = [row.name for row in rows]
    corrected, exact = [row.corrected[0] for row in rows], [row.epsilon for row in rows]
    printed = [(row.name, row.printed[0]) for row in rows if row.printed is not None]
    curves = [(row.name, row.program) for row in rows if row.program is not None]
    parts = [
        series(EXACT, names, exact, mark="bar"),
        series(CORRECTED, names, corrected, kind=bound_kind(corrected, exact), mark="bar"),
        series(PRINTED, [x for x, _ in printed], [y for _, y in printed], kind="printed", mark="bar"),
    ]
    if curves:
        parts.append(series(PROGRAM, [x for x, _ in curves], [y for _, y in curves], kind="printed", mark="bar"))
    worst = max(rows, key=lambda row: row.epsilon)
    says = (
        f"{worst.name} learns the most ({ATTACKS[worst.attack]}, {KNOWLEDGE[worst.knowledge]}): at most "
        f"ε = {outward(worst.epsilon, 3)} exactly, where adding classical statements gives {nearest(worst.corrected[0], 4)}."
    )
    return Plot("Who learns what", says, together(*parts), "attack and knowledge", "ε", notes=_notes(rows))


def _notes(rows: list[Scenario]) -> tuple[str, ...]:
    there = {row.name for row in rows}
    left_out = [name for name in (f"{a}+{k}" for a in ATTACKS for k in KNOWLEDGE) if name not in there]
    shifts = ", ".join(f"{row.name} {nearest(row.mu, 4)}" for row in rows)
    gap = max((row.printed[1] for row in rows if row.printed is not None), default=math.nan)
    return (
        *(f"{key}: {words}." for key, words in (ATTACKS | KNOWLEDGE).items()),
        f"Exact Gaussian shift μ: {shifts}.",
        f"Corrected and exact at δ1, δ2 or, for both releases, δ1 + δ2; printed for both is δ = {outward(gap, 4)}.",
        *([f"Left out, as A has no inverse: {', '.join(left_out)}."] if left_out else []),
    )

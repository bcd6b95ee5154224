"""A mechanism for its page: the specs of its pictures, and the statements about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpcore.app import work
from dpcore.audit.threshold import Test, pair_of
from dpcore.charts import theme
from dpcore.core.errors import DomainError
from dpcore.core.kinds import WORDS, kind, labelled, readable
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.mechanisms.base import Mechanism
from dpcore.theorems.conversion.claims import Claim, NotionStatement, claim, statements
from dpcore.words import best_advantage, grouped, outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.regions.tradeoff import TradeOff

# session keys outlive a page, so no other page may use the same ones
DEFAULTS: dict[str, Any] = {
    "expression": "laplace(1)",
    "test_alpha": "0.05",
    "stated_delta": "1e-5",
    "goal_epsilon": "1",
    "goal_delta": "1e-6",
    "goal_k": "1",
}
RATES = (0.0, 1e-6, 1e-5, 1e-4, 0.001, 0.002, 0.005, *(round(0.01 * i, 2) for i in range(1, 101)))
LONGEST = 2000
LEAST_DELTA = 1e-12  # what a logarithmic axis can show of δ = 0
_SAME = 1e-9  # relative difference below which a test is the best one
_ROUNDING = 1e-15
_GOAL_DIGITS, _ALL_DIGITS = 6, 17  # of the number that meets a goal: as a rule, and every digit of a double


# ---- what is looked at ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MechanismView:
    """A mechanism as written, the test chosen on its region, and the delta at which statements are made."""

    text: str
    alpha: float
    delta: float

    @Lazy
    def mechanism(self) -> Mechanism:
        """The mechanism."""
        return read(self.text)[0]

    @property
    def no_noise(self) -> str:
        """Why there is no noise to draw; empty if there is."""
        try:
            pair_of(self.mechanism)
        except DomainError as error:
            return str(error)
        return ""

    @Lazy
    def test(self) -> Test | None:
        """The test at the chosen false-positive rate; None where the mechanism has no noise of its own."""
        return None if self.no_noise else pair_of(self.mechanism).at_rate(self.alpha)

    @property
    def border(self) -> tuple[float, float]:
        """The fewest false negatives of any test at the chosen rate: a bracket, the lower side safe."""
        ((low, high),) = result(border, self.mechanism, (self.alpha,))
        return low, high

    @property
    def statements(self) -> list[NotionStatement]:
        """The smallest statement of each kind."""
        return result(statements, self.mechanism, self.delta)

    @property
    def claim(self) -> Claim | None:
        """The usual claim about it."""
        return result(claim, self.mechanism)

    @property
    def points(self) -> list[dict[str, Any]]:
        """The points on the region: the test drawn, and the best one if it differs."""
        best = {"alpha": self.alpha, "beta": self.border[0], "label": "best test"}
        if self.test is None:
            return [best]
        test = {"alpha": self.test.alpha, "beta": self.test.beta, "label": "this test"}
        return [test] if self.is_best else [test, {**best, "open": True}]

    @property
    def is_best(self) -> bool:
        """Whether no test with as few false positives has fewer false negatives."""
        return self.test is not None and self.test.beta <= self.border[1] * (1 + _SAME) + _ROUNDING

    def best_words(self) -> str:
        """Say how the test drawn compares with the best one."""
        what = WORDS[kind(*self.border, "lower")]
        if self.is_best:
            return "No test with as few false positives misses fewer people: the point lies on the region's border."
        share = outward(self.border[0], 4, up=False)
        return f"The best attacker with as few false positives misses at least a share of {share} ({what})."

    def regions(self, *, statements: bool = True) -> dict[str, str]:
        """Return the exact region, the statements about it and the claim: name on the chart -> expression."""
        exact = "exact region" if self.mechanism.kind == "exact" else "region, safe side"
        regions = {exact: self.text}
        for statement in self.statements if statements else ():
            if statement.region is not None:
                regions[statement.notion] = str(statement.region)
        if self.claim is not None and str(self.claim.region) not in {str(self.mechanism), *regions.values()}:
            regions["claimed"] = str(self.claim.region)
        return regions


def border(mechanism: TradeOff, rates: Sequence[float]) -> list[tuple[float, float]]:
    """Return the fewest false negatives of any test at some false-positive rates, as brackets."""
    low, high = mechanism.beta_bounds(np.array(rates))
    return list(zip(low.tolist(), high.tolist(), strict=True))


def read(text: str) -> tuple[Mechanism, tuple[str, ...]]:
    """Return the mechanism that a text names, and the library's warnings."""
    if len(text) > LONGEST:
        msg = f"A mechanism may have at most {LONGEST} characters, got {len(text)}."
        raise DomainError(msg)
    region, notices = work.region(text)
    if not isinstance(region, Mechanism):
        msg = f"Type one mechanism, such as laplace(1) or rr(1, 5); {theme.short(str(region))} is not one. Privacy regions draws any expression."
        raise DomainError(msg)
    return region, notices


# ---- pictures ------------------------------------------------------------------------------------------------


def noise_spec(view: MechanismView) -> dict[str, Any]:
    """Return the spec of the noise on two neighbouring datasets with the threshold of the test."""
    return {"draw": "noise", "mechanism": view.text, "rate": view.alpha}


def region_spec(view: MechanismView) -> dict[str, Any]:
    """Return the spec of the exact region among its statements, with the test on it."""
    regions = view.regions()
    return {
        "draw": "regions",
        "regions": list(regions.values()),
        "labels": list(regions),
        "selected": next(iter(regions)),
        "fpr": view.alpha,
        "points": view.points,
    }


def profile_spec(view: MechanismView) -> dict[str, Any]:
    """Return the spec of delta(epsilon) of the mechanism and of the claim."""
    regions = view.regions(statements=False)
    labels = list(regions)
    return {"draw": "profile", "regions": list(regions.values()), "labels": labels, "delta": view.delta or LEAST_DELTA}


def loss_spec(view: MechanismView) -> dict[str, Any]:
    """Return the spec of the distribution of the loss."""
    return {"draw": "losses", "region": view.text}


# ---- words and tables ----------------------------------------------------------------------------------------


def statement_table(view: MechanismView) -> pd.DataFrame:
    """Return one row per statement: what holds, how it is written, the kind of the number and its region."""
    rows = [(s.notion, "" if s.region is None else str(s.region), s.words, s.kind) for s in view.statements]
    tv, what = best_advantage(view.mechanism)
    rows.append(("total variation", f"tv({tv!r})", f"η = {outward(tv, 5)} (rounded up).", what))
    frame = pd.DataFrame(rows, columns=["statement", "expression", "value", "kind"])
    return readable(labelled(frame, view.mechanism))


def goal_words(row: pd.Series[Any], epsilon: float, delta: float, k: int) -> str:
    """Say what calibration found."""
    name, value = str(row["parameter"]), float(row["value"])
    noise = name in {"sigma", "scale", "halfwidth"}
    least = "the least" if noise else "the largest"
    what = "epsilon of the mechanism" if name == "epsilon" else name
    shown = outward(value, _GOAL_DIGITS, up=True) if noise else _beside(value, epsilon)
    kinds = {"exact": "exact", "upper": "upper bound", "lower": "lower bound"}
    answers = "one answer" if k == 1 else f"{grouped(k)} answers"
    return (
        f"For {answers} within ε = {nearest(epsilon)} and δ = {nearest(delta)}, {least} {what} is **{shown}** "
        f"({kinds[str(row['kind'])]}, rounded to the safe side): `{row['expression']}` reaches δ = "
        f"{outward(float(row['delta']), 4)} at ε = {nearest(float(row['epsilon']))}."
    )


def _beside(value: float, epsilon: float) -> str:
    """Return a number rounded down, with more digits where fewer would show the goal's epsilon in place of a larger number."""
    texts = (outward(value, digits, up=False) for digits in range(_GOAL_DIGITS, _ALL_DIGITS))
    return next(
        (text for text in texts if value <= epsilon or float(text) > epsilon), outward(value, _ALL_DIGITS, up=False)
    )

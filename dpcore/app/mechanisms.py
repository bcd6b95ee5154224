"""A mechanism as its page shows it: pictures, statements and the Python that makes them; every part computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import altair as alt
import numpy as np
import pandas as pd

from dpcore.app import work
from dpcore.audit.threshold import AnswerPair, Test, pair_of
from dpcore.charts import Figure, Look, loss_figure, profile_figure, region_chart, region_table, theme
from dpcore.charts.noise import noise_figure
from dpcore.charts.references import with_references
from dpcore.charts.sampling import note
from dpcore.core.errors import DomainError
from dpcore.core.kinds import WORDS, kind, labelled, readable
from dpcore.core.numerals import nearest
from dpcore.mechanisms.base import Mechanism
from dpcore.theorems.conversion.claims import Claim, NotionStatement, claim, statements
from dpcore.words import attack_sentence, best_advantage, of_100, outward

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

_T = TypeVar("_T")

# session keys outlive a page, so no other page may use the same ones
DEFAULTS: dict[str, Any] = {
    "expression": "laplace(1)",
    "test_alpha": 0.05,
    "stated_delta": "1e-5",
    "goal_epsilon": "1",
    "goal_delta": "1e-6",
    "goal_k": "1",
}
RATES = (0.0, 1e-6, 1e-5, 1e-4, 0.001, 0.005, 0.01, 0.02, *(round(0.05 * i, 2) for i in range(1, 20)), 0.98, 1.0)
LONGEST = 2000
PICK = "point"
LEAST_DELTA = 1e-12  # what a logarithmic axis can show of δ = 0
_SAME = 1e-9  # relative difference below which a test is the best one
_ROUNDING = 1e-15


# ---- what is looked at ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MechanismView:
    """A mechanism, the test chosen on its region, and the delta at which statements are made."""

    mechanism: Mechanism
    alpha: float
    delta: float

    @cached_property
    def name(self) -> str:
        """Its expression."""
        return str(self.mechanism)

    @cached_property
    def pair(self) -> AnswerPair | None:
        """The two answers it is tested on; None where it has no noise of its own (`no_noise` says why)."""
        try:
            return pair_of(self.mechanism)
        except DomainError:
            return None

    @property
    def no_noise(self) -> str:
        """Why there is no noise to draw."""
        try:
            pair_of(self.mechanism)
        except DomainError as error:
            return str(error)
        return ""

    @cached_property
    def test(self) -> Test | None:
        """The test at the chosen false-positive rate."""
        return None if self.pair is None else self.pair.at_rate(self.alpha)

    @property
    def border(self) -> tuple[float, float]:
        """The fewest false negatives of any test at the chosen rate: a bracket, the lower side safe."""
        low, high = kept(("border", self.name, self.alpha), lambda: self.mechanism.beta_bounds(np.array([self.alpha])))
        return float(low[0]), float(high[0])

    @property
    def statements(self) -> list[NotionStatement]:
        """The smallest statement of each kind."""
        return kept(("statements", self.name, self.delta), lambda: statements(self.mechanism, self.delta))

    @property
    def claim(self) -> Claim | None:
        """What is usually claimed about it."""
        return kept(("claim", self.name), lambda: (claim(self.mechanism),))[0]

    @property
    def points(self) -> list[dict[str, Any]]:
        """The points on the region: the test drawn, and the best one where that is another."""
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
        words = f"The best attacker with false positives of {nearest(self.alpha)} misses at least a share of"
        return f"{words} {outward(self.border[0], 4, up=False)} ({what})."

    @property
    def takeaway(self) -> str:
        """What the best attacker finds, and what one would have to fear if only a statement were known."""
        parts = [
            f"{of_100(float(s.region.power(self.alpha)))} by {s.notion}"
            for s in self.statements
            if s.region is not None
        ]
        bounds = f" Known only by a statement, it would be at most {', '.join(parts)} (upper bounds)." if parts else ""
        return f"{attack_sentence(self.mechanism, self.alpha)}{bounds}"

    def regions(self, *, statements: bool = True) -> dict[str, TradeOff]:
        """Return the exact region, the statements about it and what is claimed, by their names on the chart."""
        kind = "exact region" if self.mechanism.kind == "exact" else "region, safe side"
        found: dict[str, TradeOff] = {kind: self.mechanism}
        for statement in self.statements if statements else ():
            if statement.region is not None:
                found[statement.notion] = statement.region
        if self.claim is not None and str(self.claim.region) not in {str(r) for r in found.values()}:
            found["claimed"] = self.claim.region
        return found


def kept(key: tuple[Any, ...], make: Callable[[], _T]) -> _T:
    """Return what was made for the same question before, or make it.

    Noise at the ends of the doubles overflows on the way; what is not a finite number is refused where it is drawn.
    """

    def quietly() -> _T:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return make()

    return work.cache().get(("mechanism", *key), quietly)


def read(text: str) -> tuple[Mechanism, tuple[str, ...]]:
    """Return the mechanism that a text names and what the library warned about, or say what is wanted."""
    if len(text) > LONGEST:
        msg = f"A mechanism is written in at most {LONGEST} characters, got {len(text)}."
        raise DomainError(msg)
    region, notices = work.region(text)
    if not isinstance(region, Mechanism):
        msg = f"One mechanism is wanted, such as laplace(1) or rr(1, 5); {theme.short(str(region))} is not one."
        raise DomainError(msg)
    return region, notices


# ---- pictures ------------------------------------------------------------------------------------------------


def noise_picture(view: MechanismView, *, dark: bool) -> Figure | None:
    """Return the noise on two neighbouring datasets with the threshold of the test."""
    if view.test is None:
        return None
    test = view.test
    return kept(("noise", view.name, view.alpha, dark), lambda: noise_figure(test, look=Look(dark=dark)))


def region_picture(view: MechanismView, *, dark: bool) -> Figure:
    """Return the exact region among its statements, with the test on it; a click on the border chooses a test."""
    regions = view.regions()
    names = tuple((label, str(region)) for label, region in regions.items())
    table = kept(("points", names), lambda: region_table(regions))

    def make() -> Figure:
        chart = region_chart(table, selected=next(iter(regions)), look=Look(dark=dark, description=view.takeaway))
        rates = kept(("rates", view.name), lambda: view.mechanism.beta_bounds(np.array(RATES))[0])
        found = [note(region, table[table["label"] == label]) for label, region in regions.items()]
        notes = tuple(text for text in found if text)
        figure = Figure(_clickable(chart, rates), table, view.takeaway, "The region and what is said about it", notes)
        return with_references(figure, points=view.points, look=Look(dark=dark))

    return kept(("regions", names, view.alpha, dark), make)


def _clickable(chart: alt.LayerChart, border: FloatArray) -> alt.LayerChart:
    """Add unseen points on the border at the rates that a test can have."""
    rows = pd.DataFrame({"x": RATES, "y": border, "rate": RATES})
    pick = alt.selection_point(name=PICK, fields=["rate"], on="click", empty=False, nearest=False)
    points = (
        alt.Chart(rows).mark_point(filled=True, size=160, opacity=0, aria=False).encode(x=alt.X("x:Q"), y=alt.Y("y:Q"))
    )
    return theme.over(chart, points.add_params(pick))


def profile_picture(view: MechanismView, *, dark: bool) -> Figure:
    """Return delta(epsilon) of the mechanism and of what is claimed."""
    regions = view.regions(statements=False)
    delta = view.delta or LEAST_DELTA
    key = ("profile", view.name, delta, dark)
    return kept(key, lambda: profile_figure(regions, delta=delta, look=Look(dark=dark)))


def loss_picture(view: MechanismView, *, dark: bool) -> Figure:
    """Return how the loss is distributed."""
    return kept(("loss", view.name, dark), lambda: loss_figure(view.mechanism, look=Look(dark=dark)))


# ---- words and tables ----------------------------------------------------------------------------------------


def statement_table(view: MechanismView) -> pd.DataFrame:
    """Return one row per statement: what holds, how it is written, what the number is and of which region."""
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
    kinds = {"exact": "exact", "upper": "upper bound", "lower": "lower bound"}
    answers = "one answer" if k == 1 else f"{k} answers"
    return (
        f"For {answers} within ε = {nearest(epsilon)} and δ = {nearest(delta)}, {least} {name} is **{outward(value, 6, up=noise)}** "
        f"({kinds[str(row['kind'])]}, rounded to the safe side): `{row['expression']}` reaches δ = "
        f"{outward(float(row['delta']), 4)} at ε = {nearest(float(row['epsilon']))}."
    )


# ---- code ----------------------------------------------------------------------------------------------------


def noise_code(view: MechanismView) -> str:
    """Return the Python lines that draw the noise."""
    return "\n".join(
        [
            "from dpcore import parse",
            "from dpcore.charts import save",
            "from dpcore.charts.noise import noise_figure",
            "from dpcore.audit.threshold import pair_of",
            "",
            f"mechanism = parse({view.name!r})",
            f"test = pair_of(mechanism).at_rate({view.alpha!r})",
            "print(test.threshold, test.alpha, test.beta)",
            "figure = noise_figure(test)",
            'save(figure, "noise.svg")',
        ]
    )


def region_code(view: MechanismView) -> str:
    """Return the Python lines that draw the regions with the test."""
    rows = [f"    {name!r}: parse({str(region)!r})," for name, region in view.regions().items()]
    return "\n".join(
        [
            "from dpcore import parse",
            "from dpcore.charts import region_figure, save",
            "from dpcore.charts.references import with_references",
            "",
            "regions = {",
            *rows,
            "}",
            f"figure = region_figure(regions, fpr={view.alpha!r}, selected={next(iter(view.regions()))!r})",
            f"figure = with_references(figure, points={view.points!r})",
            "print(figure.takeaway)",
            'save(figure, "mechanism.svg")',
        ]
    )


def profile_code(view: MechanismView) -> str:
    """Return the Python lines that draw the profile."""
    rows = [f"    {name!r}: parse({str(region)!r})," for name, region in view.regions(statements=False).items()]
    return "\n".join(
        [
            "from dpcore import parse",
            "from dpcore.charts import profile_figure, save",
            "",
            "regions = {",
            *rows,
            "}",
            f"figure = profile_figure(regions, delta={view.delta or LEAST_DELTA!r})",
            'save(figure, "profile.svg")',
        ]
    )


def loss_code(view: MechanismView) -> str:
    """Return the Python lines that draw the losses."""
    return "\n".join(
        [
            "from dpcore import parse",
            "from dpcore.charts import loss_figure, save",
            "",
            f"figure = loss_figure(parse({view.name!r}))",
            'save(figure, "loss.svg")',
        ]
    )


def goal_code(text: str, epsilon: float, delta: float) -> str:
    """Return the Python lines that calibrate."""
    return (
        f"from dpcore.calibration import calibrate\n\nprint(calibrate({text!r}, epsilon={epsilon!r}, delta={delta!r}))"
    )

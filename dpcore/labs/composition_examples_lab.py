"""The lab of composition: groups, sequences, disjoint parts and an answer asked twice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import stage
from dpcore.core.numerals import nearest
from dpcore.core.registry import COUNT, DELTA, EPSILON, PROBABILITY
from dpcore.labs import composition_examples as rules
from dpcore.labs.base import Lab, LabCheck, Makers, Plot, Regions, Story, series, together
from dpcore.labs.catalogue import enter
from dpcore.mechanisms.gaussian import Gaussian
from dpcore.mechanisms.laplace import Laplace
from dpcore.regions.guarantees import DP
from dpcore.words import about, outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.regions.tradeoff import TradeOff

EACH = EPSILON.but(low=0.01, high=5.0, infinite=False, meaning="ε of one answer")
FAILING = DELTA.but(low=1e-12, high=0.1)
PEOPLE = COUNT.but(high=30, label="k", meaning="people in a group, or answers about the same data")
FLIP = PROBABILITY.but(
    name="flip", low=0.01, high=0.5, label="flip", meaning="chance of a flipped answer", example=0.25
)
PROMISED = DELTA.but(name="rr_delta", label="δ of the flips", high=0.5, meaning="δ promised for the flipped answer")

_MANY, _MOST = 100, 300


@enter
@dataclass(frozen=True)
class CompositionExamples(Lab):
    """The rules of composition and where they need care."""

    name = "composition_examples"
    title = "Groups, sequences and disjoint parts"
    place = "Sections 4.5.1, 4.5.3 and 4.5.4"
    story = Story(
        claimed="Groups of k cost k ε, answers about the same data add up their ε, and answers about disjoint parts of the "
        "data cost only the largest one.",
        true="The first two hold; they are tight for small numbers and far from tight for large ones; the third holds "
        "for parts fixed beforehand, but when parts are formed by value, a replaced record leaves one part and "
        "enters another, and two losses add up.",
        matters="Histograms and blocks are the usual disjoint parts: noise for ε gives 2 ε there, unless neighbours differ "
        "by adding or removing a record or the parts are fixed before the values are seen.",
    )
    formula = (
        r"\bigl(k\varepsilon,\ \delta\tfrac{e^{k\varepsilon}-1}{e^\varepsilon-1}\bigr),\qquad \sum_i\varepsilon_i,\qquad "
        r"\max_i\varepsilon_i\ \text{(one part changes)},\quad \varepsilon_{(1)}+\varepsilon_{(2)}\ \text{(a record moves)}"
    )
    assumptions = (
        "A group: one (ε, δ)-private mechanism and k changed records. A sum: mechanisms on the same data with "
        "independent noise. The largest: parts fixed beforehand, of which one changes. The two largest: parts formed "
        "by value, and a substituted record."
    )
    reference = "Vadhan 2017, Lemma 2.2; McSherry 2009, Theorem 4; Dong, Roth, Su 2022, Theorem 2.14"

    epsilon: float = EACH.field(0.5)
    delta: float = FAILING.field(1e-5)
    k: int = PEOPLE.field(3)
    flip: float = FLIP.field(0.25)
    rr_delta: float = PROMISED.field(0.1)

    def checks(self, rng: Generator) -> tuple[LabCheck, ...]:  # noqa: ARG002  nothing is simulated
        """Return printed against true."""
        return (*self._parts(), *self._groups(), *self._sequences(), *self._flips())

    def _parts(self) -> list[LabCheck]:
        e = self.epsilon
        two = rules.counts(e, replaced=True)
        return [
            LabCheck(
                "Lemma 4.5.14",
                f"ε of counts per value, each with noise for {nearest(e)}, a record replaced",
                rules.parts_epsilon((e, e)),
                float(two.epsilon(0.0)),
                "loose",
                "True for parts fixed beforehand, which the proof assumes. With parts by value, the record leaves one part and "
                "enters another; both counts move and their losses add up.",
                row="parts-by-value",
            ),
            LabCheck(
                "Lemma 4.5.14",
                f"δ of counts per value at ε = {nearest(e)}, a record replaced",
                0.0,
                float(two.delta(e)),
                "loose",
                "The region of two Laplace answers; 0 for parts fixed beforehand.",
                row="parts-by-value",
            ),
            LabCheck(
                "Lemma 4.5.14",
                f"ε of counts per value, each with noise for {nearest(e)}, a record added or removed",
                rules.parts_epsilon((e, e)),
                float(rules.counts(e, replaced=False).epsilon(0.0)),
                "holds",
                "One part changes; the same holds for replaced records if parts do not depend on the values.",
            ),
        ]

    def _groups(self) -> list[LabCheck]:
        e, d, k = self.epsilon, self.delta, self.k
        regions = rules.groups(e, d, k)
        at = f"groups of {k}, ε = {nearest(e)}, δ = {nearest(d)}"
        return [
            LabCheck("Lemma 4.5.12", f"δ at ε = {nearest(k * e)}, {at}", rules.group_delta(e, d, k),
                     float(regions["worst mechanism"].delta(rules.sequence_epsilon(e, k))), "holds",
                     "The printed line touches the region of the worst mechanism at k ε."),
            LabCheck("Lemma 4.5.12", f"δ at ε = {nearest(k * e)}, {at}, normal noise", rules.group_delta(e, d, k),
                     float(regions["normal noise"].delta(k * e)), "loose",
                     "The noise with the smallest variance for one person; the group moves the answer k times as far."),
            LabCheck("Lemma 4.5.12", f"advantage against {at}", regions["printed statement"].total_variation,
                     regions["worst mechanism"].total_variation, "loose",
                     "The whole region of the chain is smaller than its one line at k ε."),
            LabCheck("Lemma 4.5.11", f"largest loss of groups of {k}, Laplace noise for {nearest(e)}", k * e,
                     float(regions["Laplace noise"].epsilon(0.0)), "holds", "The answer moves k times as far."),
        ]  # fmt: skip

    def _sequences(self) -> list[LabCheck]:
        e, d, k = self.epsilon, self.delta, self.k
        rows = [
            LabCheck("Lemma 4.5.13", f"largest loss of {k} answers, ε = {nearest(e)} each", rules.sequence_epsilon(e, k),
                     float((DP(e) ** k).epsilon(0.0)), "holds", "Losses add."),
        ]  # fmt: skip
        why = "The sum is needed only for δ = 0; at this δ the product is cheaper, and more so for more answers."
        for count in sorted({k, _MANY}):
            for name, region in (("worst mechanism", DP(e) ** count), ("Laplace noise", Laplace(e) ** count)):
                what = f"ε of {count} answers at δ = {nearest(d)}, {name}, ε = {nearest(e)} each"
                value = float(region.epsilon(d))
                printed = rules.sequence_epsilon(e, count)
                rows.append(LabCheck("Lemma 4.5.13", what, printed, value, "loose", why, kind=region.kind))
        return rows

    def _flips(self) -> list[LabCheck]:
        e, once = math.log(3.0), rules.flipped_delta(0.25, math.log(3.0), 1)
        twice = rules.flipped_delta(0.25, e, 2)
        excess = 9 / 16 - 3 * (1 / 16)
        return [
            LabCheck("Example 4.5.3", "least flip probability for ε = log 3, δ = 0.1", 0.225, rules.least_flip(e, 0.1), "holds",
                     "(1 - δ)/(1 + e^ε)."),
            LabCheck("Example 4.5.3", "δ at ε = log 3 of one answer flipped with 1/4", 0.1, once, "holds", "Even 0 would do."),
            LabCheck("Example 4.5.3", "δ at ε = log 3 of two answers flipped with 1/4", "more than 0.1", twice, "holds",
                     f"The source shows one set of answers with {nearest(excess)}; it is the worst one."),
        ]  # fmt: skip

    def pictures(self, rng: Generator) -> Makers:  # noqa: ARG002  nothing is simulated
        """Return the functions that draw the pictures."""
        return {
            "parallel": self._parallel,
            "group": self._group,
            "sequential": self._sequential,
            "randomized_response": self._randomized_response,
            "dependent": self._dependent,
        }

    def _parallel(self) -> Regions:
        e = self.epsilon
        one, two = rules.counts(e, replaced=False), rules.counts(e, replaced=True)
        regions = {
            "claimed": DP(e),
            "a record added or removed": one,
            "a record replaced": two,
            "two parts add": DP(2 * e),
        }
        takeaway = (
            f"Counts per value with noise for ε = {nearest(e)} have a largest loss of {nearest(float(two.epsilon(0.0)))} when a record "
            f"is replaced, and δ = {nearest(float(two.delta(e)), 4)} at ε = {nearest(e)} instead of 0 (exact)."
        )
        return Regions("Disjoint parts of the data", takeaway, regions)

    def _group(self) -> Plot:
        sizes = list(range(1, max(self.k, 10) + 1))
        rows = [{name: r.total_variation for name, r in self._groups_of(k).items()} for k in sizes]
        kinds = {"printed statement": "upper"}
        frame = together(
            *(series(name, sizes, [row[name] for row in rows], kind=kinds.get(name, "exact")) for name in rows[0])
        )
        printed = rules.group_delta(self.epsilon, self.delta, self.k)
        here = self._groups_of(self.k)
        takeaway = (
            f"For groups of {self.k} the printed statement is ({nearest(self.k * self.epsilon)}, {outward(printed, 6)}); the best "
            f"attacker's advantage is at most {outward(here['printed statement'].total_variation, 4)} by it, and "
            f"{nearest(here['normal noise'].total_variation, 4)} with normal noise (exact)."
        )
        return Plot("Groups of people", takeaway, frame, "People in the group", "Attacker's advantage")

    def _groups_of(self, k: int) -> dict[str, TradeOff]:
        return rules.groups(self.epsilon, self.delta, k)

    def _sequential(self) -> Plot:
        sizes = sorted({self.k, _MANY, *np.geomspace(1, _MOST, 20).round().astype(int).tolist()})
        worst, laplace, kinds = [], [], set()
        for at, k in enumerate(sizes):
            with stage(at / len(sizes), (at + 1) / len(sizes)):
                worst.append(float((DP(self.epsilon) ** k).epsilon(self.delta)))
                composed = Laplace(self.epsilon) ** k
                laplace.append(float(composed.epsilon(self.delta)))
                kinds.add(composed.kind)
        frame = together(
            series("epsilons added", sizes, [rules.sequence_epsilon(self.epsilon, k) for k in sizes], kind="upper"),
            series("worst mechanism, composed", sizes, worst),
            series("Laplace noise, composed", sizes, laplace, kind="exact" if kinds == {"exact"} else "upper"),
        )
        few, many = sizes.index(self.k), sizes.index(_MANY)
        takeaway = (
            f"At δ = {nearest(self.delta)}, {self.k} answers at ε = {nearest(self.epsilon)} cost {nearest(worst[few], 5)} with the worst "
            f"mechanism and {_MANY} cost {nearest(worst[many], 5)} (exact), not the sum {nearest(_MANY * self.epsilon)}; with Laplace noise "
            f"at most {outward(laplace[many], 5)}."
        )
        return Plot("Answers about the same data", takeaway, frame, "Number of answers", "ε",
                    log_x=True, log_y=True)  # fmt: skip

    def _randomized_response(self) -> Regions:
        once = rules.flipped(self.flip)
        e = once.epsilon_
        regions = {"claimed": DP(e, self.rr_delta), "asked once": once, "asked twice": once**2}
        delta = rules.flipped_delta(self.flip, e, 2)
        verdict = "more than" if delta > self.rr_delta else "within"
        takeaway = (
            f"Flipped with probability {nearest(self.flip)}, an answer has ε = {nearest(e, 4)}; asked twice it needs δ = {nearest(delta, 4)} "
            f"(exact) at that ε, {verdict} the promised {nearest(self.rr_delta)}."
        )
        right = float((once**2).power(0.1))
        notes = (f"An attacker who wrongly accuses 10 of 100 finds {about(right)} after two answers.",)
        return Regions("The same question twice", takeaway, regions, notes=notes)

    def _dependent(self) -> Regions:
        noise = Gaussian(1.0 / self.epsilon)
        regions = {"Laplace answer": Laplace(self.epsilon), "after dependent noise": noise}
        takeaway = (
            f"Noise that undoes the first one is not post-processing: a Laplace answer with ε = {nearest(self.epsilon)} becomes a "
            f"normal one with δ = {nearest(float(noise.delta(self.epsilon)), 4)} at that ε (exact)."
        )
        notes = (
            "Example 4.5.6: the second noise is minus the first plus a normal one, here of standard deviation 1/ε.",
        )
        return Regions("Noise that depends on the first one", takeaway, regions, notes=notes)

"""The lab of the mixed noise mechanism: one function of epsilon decides, not the sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.core.registry import SENSITIVITY, Choice, Parameter
from dpcore.labs import mixed_noise as mix
from dpcore.labs import mixed_noise_checks as checked
from dpcore.labs import mixed_noise_trials as trials
from dpcore.labs.base import LAB_DELTA, LAB_EPSILON, Lab, LabCheck, Makers, Plot, Story, series, together
from dpcore.labs.catalogue import enter
from dpcore.mechanisms.laplace import Laplace
from dpcore.regions.guarantees import DP
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

MOVE = SENSITIVITY.but(low=1e-6, high=1e6, low_open=False)
FAMILY = Choice("family", "text", label="data", meaning="law of the records", choices=trials.FAMILIES, example="normal")
SHAPE = Parameter(
    "shape",
    low=0.5,
    high=100.0,
    label="parameter",
    meaning="Pareto shape, exponential rate, normal variance or degrees of freedom",
    example=10.0,
)
QUERY = Choice("query", "text", label="query", meaning="what is released", choices=trials.QUERIES, example="mean")
SIZE = Parameter("n", "integer", low=10, high=5000, label="n", meaning="records in a data set", example=500)
RUNS = Parameter(
    "replications", "integer", low=100, high=20_000, label="data sets", meaning="simulated data sets", example=1000
)
_EPSILONS = np.geomspace(0.05, 10.0, 121)
_DELTAS = np.geomspace(1e-6, 0.5, 41)
_EXPERIMENTS = 200


@enter
@dataclass(frozen=True)
class MixedNoise(Lab):
    """The printed switch on the sensitivity against the exact one on delta."""

    name = "mixed_noise"
    title = "The mixed noise mechanism"
    place = "Section 5.3"
    story = Story(
        claimed="Below a threshold on the sensitivity, normal noise with the variance of Laplace noise is (ε, δ)-private, "
        "so mixing the two improves utility at no cost.",
        true="Its true δ depends only on ε and is 0.0396 at ε = 1, about 20 times the claimed 0.002; the switch must "
        "depend on δ.",
        matters="Users of the mechanism promised a protection that was not there, and the gain in utility is due to "
        "chance: both noises have the same variance by construction.",
    )
    formula = (
        r"\delta^*(\varepsilon)=\Phi(a-\sqrt2)-e^{\varepsilon}\Phi(-a-\sqrt2),\qquad a=\tfrac{\varepsilon}{2\sqrt2},"
        r"\qquad\text{normal noise iff }\delta>\delta^*(\varepsilon)"
    )
    assumptions = (
        "One answer of sensitivity Δ; the normal noise has the variance 2Δ²/ε² of the Laplace noise that it replaces."
    )
    reference = "Balle, Wang 2018, Theorem 8, at σ = sqrt(2) sensitivity / ε"
    simulates = True

    epsilon: float = LAB_EPSILON.field(1.0)
    delta: float = LAB_DELTA.field(0.002)
    sensitivity: float = MOVE.field(0.001)
    family: str = FAMILY.field("exponential")
    shape: float = SHAPE.field(10.0)
    query: str = QUERY.field("mean")
    n: int = SIZE.field(500)
    replications: int = RUNS.field(1000)

    def checks(self, rng: Generator) -> tuple[LabCheck, ...]:
        """Return printed against true; Table 5.1 is simulated at the printed sizes."""
        cells = checked.table(self.replications, rng)
        return (
            *checked.theorem(self.epsilon, self.delta, self.sensitivity),
            *checked.lemma(),
            *checked.table_rows(cells),
            *checked.figures(),
        )

    def numbers(self, rng: Generator) -> tuple[LabCheck, ...]:  # noqa: ARG002  the table has sizes of its own
        """Return the theorem at these parameters; nothing else depends on them."""
        return tuple(checked.theorem(self.epsilon, self.delta, self.sensitivity))

    def pictures(self, rng: Generator) -> Makers:
        """Return the functions that draw the pictures."""
        return {
            "delta_star": self._delta_star,
            "attack": self._attack,
            "switch": self._switch,
            "lemma": self._lemma,
            "table": lambda: _table(checked.table(self.replications, rng)),
            "ratios": lambda: self._ratios(rng),
            "box": lambda: self._box(rng),
        }

    def _delta_star(self) -> Plot:
        true = mix.branch_delta(self.epsilon)
        values = [mix.branch_delta(e) for e in _EPSILONS.tolist()]
        frame = together(
            series("true δ of the normal branch", _EPSILONS, values),
            series("at this ε", [self.epsilon], [true], mark="point"),
            series("claimed", _EPSILONS, np.full(_EPSILONS.size, self.delta), kind="printed"),
        )
        verdict = "above" if true > self.delta else "not above"
        takeaway = (
            f"At ε = {nearest(self.epsilon)} the normal branch has δ = {nearest(true)} (exact), {verdict} the claimed "
            f"{nearest(self.delta)}; no sensitivity changes that, although the printed algorithm takes the "
            f"{mix.printed_branch(self.epsilon, self.delta, self.sensitivity)} branch at {nearest(self.sensitivity)}."
        )
        notes = (f"The printed threshold is {nearest(mix.printed_threshold(self.epsilon, self.delta))}.",)
        return Plot("What the normal branch really gives", takeaway, frame, "ε", "δ",
                    log_x=True, log_y=True, notes=notes)  # fmt: skip

    def _attack(self) -> Plot:
        claimed, true = DP(self.epsilon, self.delta), mix.branch(self.epsilon)
        rates = np.geomspace(1e-5, 0.5, 81)
        frame = together(
            series("claimed", rates, claimed.power(rates), kind="printed"),
            series("normal branch", rates, true.power(rates)),
            series("Laplace branch", rates, Laplace(self.epsilon).power(rates)),
        )
        rate = 0.001
        power, most = float(true.power(rate)), float(claimed.power(rate))
        if mix.branch_delta(self.epsilon) > self.delta:
            takeaway = "The normal branch leaves the claimed region where false positives are rare"
        else:
            takeaway = "At this δ the normal branch stays inside the claimed region"
        takeaway += f": at false positives {nearest(rate)} the attacker finds {nearest(power, 4)} (exact); the claim allows at most {outward(most, 4)}."
        notes = (f"The advantage of the normal branch is {nearest(true.total_variation, 4)} (exact).",)
        return Plot("Claimed and true attack", takeaway, frame, "False positives", "True positives found",
                    log_x=True, log_y=True, notes=notes)  # fmt: skip

    def _switch(self) -> Plot:
        laplace = mix.laplace_variance(self.epsilon, self.sensitivity)
        true = mix.branch_delta(self.epsilon)
        exact = [mix.exact_variance(self.epsilon, d, self.sensitivity) for d in _DELTAS.tolist()]
        classical = [mix.classical_variance(self.epsilon, d, self.sensitivity) for d in _DELTAS.tolist()]
        frame = together(
            series("normal, least variance", _DELTAS, exact, kind="upper"),
            series("normal, classical (Figure 5.4)", _DELTAS, classical, kind="printed"),
            series("Laplace", _DELTAS, np.full(_DELTAS.size, laplace)),
            series("where they meet", [true], [laplace], mark="point"),
        )
        best = mix.corrected_switch(self.epsilon, self.delta, self.sensitivity)
        takeaway = (
            f"Normal noise needs less variance than Laplace noise exactly for δ above {nearest(true)}; at δ "
            f"{nearest(self.delta)} take {best.noise} noise of variance {outward(best.variance, 5)}."
        )
        notes = ("The classical variance is proven only for ε below 1.",)
        return Plot("The switch on δ", takeaway, frame, "δ", "Variance of the noise",
                    log_x=True, log_y=True, notes=notes)  # fmt: skip

    def _lemma(self) -> Plot:
        sigma = np.geomspace(1e-4, 0.1, 61)
        true = [mix.lemma_delta(self.epsilon, self.delta, s) for s in sigma.tolist()]
        frame = together(
            series("true δ", sigma, np.maximum(true, 1e-12)),
            series("claimed", sigma, np.full(sigma.size, self.delta), kind="printed"),
        )
        takeaway = (
            f"Where Lemma 5.3.3 promises δ = {nearest(self.delta)} the true δ goes up to {nearest(max(true), 4)} (exact), for small "
            "noise: its bound ignores that a normal tail is measured in standard deviations."
        )
        notes = ("At the largest sensitivity that the lemma allows.", "Values below 1e-12 are drawn at 1e-12.")
        return Plot("The lemma behind the threshold", takeaway, frame, "Standard deviation of the noise", "δ",
                    log_x=True, log_y=True, notes=notes)  # fmt: skip

    def _data(self, rng: Generator) -> trials.Samples:
        return trials.samples(
            self.family, self.shape, self.n, self.replications, rng, query=self.query, part=(0.0, 0.6)
        )

    def _ratios(self, rng: Generator) -> Plot:
        data = self._data(rng)
        deltas = [1 / self.n, 1 / (2 * self.n), self.n**-1.5, self.n**-2.0]
        parts = [series("expected for normal", deltas, [mix.expected_ratio(d) for d in deltas])]
        rows: dict[str, list[list[float]]] = {"Laplace / mixed": [], "Laplace / normal": []}
        for place, delta in enumerate(deltas):
            part = (0.6 + 0.1 * place, 0.7 + 0.1 * place)
            ratios = trials.ratios(data.sensitivity, self.epsilon, delta, _EXPERIMENTS, rng, part=part)
            for name, values in zip(rows, ratios, strict=True):
                rows[name].append(np.quantile(values, [0.5, 0.025, 0.975]).tolist())
        for name, triples in rows.items():
            middle, low, high = zip(*triples, strict=True)
            parts.append(series(name, deltas, middle, kind="simulation", mark="point", low=low, high=high))
        centre, bottom, top = rows["Laplace / mixed"][0]
        takeaway = (
            f"Of {_EXPERIMENTS} experiments the ratio of the squared errors of Laplace and mixed noise has median "
            f"{centre:.3f}, and 95 of 100 lie between {bottom:.3f} and {top:.3f} (simulation): the expected ratio is 1 at "
            "every δ."
        )
        share = trials.normal_share(data.sensitivity, self.epsilon, deltas[0])
        band = mix.chance_band(self.replications)
        notes = (
            "Bars contain 95 of 100 experiments; each experiment adds fresh noise to the same data sets.",
            f"With equal sensitivities the ratio of two Laplace sums would lie in [{band[0]:.3f}, {band[1]:.3f}].",
            f"At δ = 1/n the normal branch is taken for {share:.1%} of the data sets (simulation).",
            "Local sensitivity: none of the mechanisms is private here.",
        )
        return Plot(f"Ratios of squared errors, {self.query} (Figures 5.6 to 5.14)", takeaway, together(*parts),
                    "δ", "Ratio", log_x=True, reference={"equal": 1.0}, notes=notes)  # fmt: skip

    def _box(self, rng: Generator) -> Plot:
        noises = trials.noises(self._data(rng).sensitivity, self.epsilon, self.delta, rng)
        parts = []
        for name, low, high in (("middle half", 0.25, 0.75), ("90 of 100", 0.05, 0.95)):
            rows = [np.quantile(values, [0.5, low, high]).tolist() for values in noises.values()]
            middle, bottom, top = zip(*rows, strict=True)
            parts.append(series(name, list(noises), middle, kind="simulation", mark="point", low=bottom, high=top))
        width = {name: float(np.subtract(*np.quantile(values, [0.75, 0.25]))) for name, values in noises.items()}
        takeaway = (
            f"The middle half of the errors is {nearest(width['Laplace'], 3)} wide with Laplace, {nearest(width['mixed'], 3)} with mixed and "
            f"{nearest(width['normal'], 3)} with classical normal noise (simulation, {self.replications} data sets)."
        )
        notes = ("Points are medians; bars contain the middle 50 % and 90 % of the errors.",
                 "Local sensitivity: none of the mechanisms is private here.")  # fmt: skip
        return Plot(f"Errors of the noisy {self.query} (Figures 5.7 to 5.13)", takeaway, together(*parts),
                    "Mechanism", "Noisy answer minus answer", notes=notes)  # fmt: skip


def _table(cells: tuple[checked.Cell, ...]) -> Plot:
    plain = [cell for cell in cells if not cell.outlier]
    named = [cell for cell in cells if cell.outlier]
    groups = (
        ("read as 95 % intervals", plain, [cell.at_95.value for cell in plain]),
        ("the two outliers, read as 95 %", named, [cell.at_95.value for cell in named]),
        ("read as 99 % intervals", plain, [cell.at_99.value for cell in plain]),
    )
    parts = [series("printed = simulated", [35.0, 100.0], [35.0, 100.0])]
    for name, members, shares in groups:
        y = np.array([cell.printed for cell in members])
        spread = 200 * np.sqrt(np.maximum(y / 100 * (1 - y / 100), 0.0) / trials.PRINTED_RUNS)
        low, high = y - spread, np.minimum(y + spread, 100.0)
        x = [100 * share for share in shares]
        parts.append(series(name, x, y, kind="printed", mark="point", low=low, high=high))
    off = sum(abs(checked.surprise(cell, cell.at_95)) > 4 for cell in cells)
    far = sum(abs(checked.surprise(cell, cell.at_99)) > 4 for cell in cells)
    takeaway = (
        f"Of the 108 printed percentages {108 - off} are within 4 standard errors of what 95 % intervals give; {far} are "
        "further than that from what 99 % intervals give, which the table says it shows (simulation)."
    )
    notes = (
        "Horizontal: the simulated percentage of noisy means inside. Vertical: the printed one with 2 standard errors of its runs.",
        "The outliers: exponential data with rate 10 and normal noise at n^-2 fit 99 %; Pareto data with shape 2 and mixed noise fit neither.",
    )
    return Plot("Table 5.1 again", takeaway, together(*parts), "Simulated percentage", "Printed percentage",
                notes=notes)  # fmt: skip

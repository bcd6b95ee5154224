"""The answers about a training run: certified epsilon, mu with its regret, attacks, libraries, a claim, and a statement."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from dpcore.core.certainty import certainty
from dpcore.core.domains import LOSS, SHARE
from dpcore.core.effort import effort
from dpcore.core.kinds import FACTS, kind
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.curves.gaussian_range import ALPHA
from dpcore.regions import gate
from dpcore.theorems.conversion.gaussian import FIT_REFERENCE, NO_MU, bounded_fit, fit_words
from dpcore.training.judgement import judge
from dpcore.training.libraries import library_reports, library_words
from dpcore.training.tuning import tuning_costs
from dpcore.words import between, grouped, of_100, outward

if TYPE_CHECKING:
    from dpcore.curves.gaussian_range import BestGaussian
    from dpcore.training.judgement import Judgement
    from dpcore.training.run import TrainingRun

RATES: Final = (1e-3, 1e-2)
"""False-positive rates at which the true-positive rate is stated."""
COLUMNS = ("quantity", "at", "value", "lower", "words", *FACTS)
EPSILON, MU, REGRET, ATTACK, CLAIM, STATEMENT = (
    "epsilon",
    "mu",
    "regret",
    "true_positive_rate",
    "claimed_epsilon",
    "statement",
)
_METHOD = "dpcore, composition"

Row = tuple[str, float, float, float, str, str, str]


@dataclass(frozen=True)
class TrainingSummary:
    """What holds for a run at one delta; every number is computed when it is asked for.

    Attributes
    ----------
    run : TrainingRun
        What `training_run` returns.
    delta : float
        Where epsilon is asked, in (0, 1].
    """

    run: TrainingRun
    delta: float

    def __post_init__(self) -> None:
        """Check delta."""
        object.__setattr__(self, "delta", SHARE.but(name="delta").check(self.delta))

    @Lazy
    def epsilon(self) -> tuple[float, float]:
        """The certified bracket of epsilon at delta."""
        low, high = gate.epsilon_bounds(self.run.region, np.array([self.delta]))
        return float(low[0]), float(high[0])

    @Lazy
    def fit(self) -> BestGaussian | None:
        """The smallest mu for false-positive rates from 1e-12 to 1/2, and its regret; None if it takes too much work."""
        if not self.run.sampler.whole_curve:
            return None
        return bounded_fit(self.run.region)

    @Lazy
    def attacks(self) -> tuple[tuple[float, float, float], ...]:
        """The certified bracket of the true-positive rate at each of `RATES`: (rate, lower, upper)."""
        with effort(tolerance=self.run.training.tolerance):
            low, high = gate.power_bounds(self.run.region, np.array(RATES))
        return tuple(zip(RATES, low.tolist(), high.tolist(), strict=True))

    @Lazy
    def libraries(self) -> pd.DataFrame:
        """What libraries print; see `library_reports`."""
        return library_reports(self.run, self.delta)

    def judged(self, claimed: float) -> Judgement:
        """Return the verdict about a claimed epsilon at delta."""
        return judge(self.run.step, self.run.rounds, LOSS.but(name="claimed epsilon").check(claimed), self.delta)

    # ---- sentences -------------------------------------------------------------------------------------------

    def answer(self) -> str:
        """Return the certified epsilon in one sentence."""
        return epsilon_words(self.run, self.delta, self.epsilon)

    @property
    def unit(self) -> str:
        """Whom the guarantee protects."""
        many = self.run.unit_records
        return "one training record" if many == 1 else f"one person with up to {grouped(many)} training records"

    @property
    def neighbours(self) -> str:
        """What two neighbouring datasets differ in."""
        many = self.run.unit_records
        return "one record added or removed" if many == 1 else "all records of one person added or removed"

    def conditions(self) -> str:
        """Say when the numbers hold."""
        return (
            f"Holds if {self.run.sampler.condition}, the gradient of every record is clipped to the norm that σ is a multiple of, and "
            f"datasets differ in {self.neighbours}. Batches from a shuffled list are not covered: they can reveal more."
        )

    def statement(self) -> str:
        """Return a statement for a paper or model card: unit, sampler, relation, delta, mu, accountant, assumptions."""
        version = vars(sys.modules["dpcore"])["__version__"]  # set by the facade, a layer above this package
        run = self.run
        low, high = self.epsilon
        bracket = "" if low == high else f" (the true ε lies between {between(low, high)})"
        many = f"{grouped(run.steps)} {'step' if run.steps == 1 else 'steps'}"
        mechanism = (
            f"Mechanism: {many} of gradient descent; gradients clipped per record, Gaussian noise with multiplier "
            f"σ = {nearest(run.sigma)} on their sum; {run.sampler.samples(run)}: {run.sampler.condition}."
        )
        accountant = (
            f"Accountant: dpcore {version}, composition of {_pair_words(run)} ({run.region}), with the numerical error "
            "bounded on both sides."
        )
        assumptions = (
            "Assumptions: the sampling above is the sampling that was run; all noise is independent and of full precision; noise, rate "
            "and number of steps were chosen without looking at the data; every step may be published. Runs for tuning count as well "
            "and are not included."
        )
        lines = [
            f"Privacy: the training run is ({outward(high, 4)}, {outward(self.delta, 4)})-differentially private{bracket}.",
            f"Unit of privacy: {self.unit}. Neighbouring datasets: {self.neighbours}.",
            mechanism,
            self.mu_words(),
            *(
                f"An attacker who wrongly accuses {of_100(rate)} people outside the data finds at most {of_100(power)} people inside it."
                for rate, _, power in self.attacks
            ),
            accountant,
            assumptions,
        ]
        return "\n".join(lines)

    def mu_words(self) -> str:
        """Return mu and its regret in one sentence."""
        return fit_words(self.fit)

    # ---- the table -------------------------------------------------------------------------------------------

    def table(self, claimed: float | None = None, runs: float | None = None) -> pd.DataFrame:
        """Tabulate every answer.

        Parameters
        ----------
        claimed : float, optional
            An epsilon that somebody claims at delta; its verdict is added.
        runs : float, optional
            How many such runs are made to choose the best one; the cost of the choice is added, by every law of their number.

        Returns
        -------
        DataFrame
            `quantity, at, value, lower, words, kind, theorem, neighbours`: the truth lies between `lower` and `value`. `at` is the delta
            of an epsilon, the false-positive rate of an attack, or the smallest false-positive rate for mu and regret.
        """
        rows: list[Row] = [self._epsilon_row(), *self._mu_rows(), *self._attack_rows(), *self._library_rows()]
        if claimed is not None:
            rows.append(self._claim_row(claimed))
        if runs is not None:
            rows += self._tuning_rows(runs)
        low, high = self.epsilon
        rows.append((STATEMENT, self.delta, high, low, self.statement(), kind(low, high, "upper"), _METHOD))
        frame = pd.DataFrame(rows, columns=list(COLUMNS[:-1]))
        frame["neighbours"] = self.run.region.neighbours
        return frame

    def _epsilon_row(self) -> Row:
        low, high = self.epsilon
        return EPSILON, self.delta, high, low, self.answer(), kind(low, high, "upper"), self.run.region.theorem

    def _mu_rows(self) -> list[Row]:
        fit = self.fit
        if fit is None:
            return [(name, ALPHA, math.inf, 0.0, NO_MU, "none", FIT_REFERENCE) for name in (MU, REGRET)]
        words = {
            MU: self.mu_words(),
            REGRET: f"Both error rates of the best attack are off by at most {outward(fit.regret[1], 3)}.",
        }
        sides = {MU: fit.mu, REGRET: fit.regret}
        return [
            (name, fit.alpha, high, low, words[name], kind(low, high, "upper"), FIT_REFERENCE)
            for name, (low, high) in sides.items()
        ]

    def _attack_rows(self) -> list[Row]:
        return [
            (
                ATTACK,
                rate,
                high,
                low,
                f"Wrongly accusing {of_100(rate)} people outside the data, an attacker finds at most {of_100(high)} inside it.",
                kind(low, high, "upper"),
                self.run.region.theorem,
            )
            for rate, low, high in self.attacks
        ]

    def _library_rows(self) -> list[Row]:
        rows: list[Row] = []
        for _, row in self.libraries.iterrows():
            name = f"{row['library']} {row['method']}"
            lower = 0.0 if row["kind"] == "upper" else float(row["epsilon"])
            words = library_words(row, self.epsilon)
            rows.append((name, self.delta, float(row["epsilon"]), lower, words, str(row["kind"]), str(row["theorem"])))
        return rows

    def _tuning_rows(self, runs: float) -> list[Row]:
        table = tuning_costs(self.run.region, runs, self.delta)
        rows: list[Row] = []
        for _, row in table.iloc[1:].iterrows():
            sides = float(row["epsilon"]), float(row["epsilon_lower"])
            name, words, facts = f"tuning_{row['law']}", str(row["words"]), (str(row["kind"]), str(row["theorem"]))
            rows.append((name, self.delta, *sides, words, *facts))
        return rows

    def _claim_row(self, claimed: float) -> Row:
        judgement = self.judged(claimed)
        return CLAIM, self.delta, judgement.epsilon, judgement.epsilon, judgement.words(), "none", _METHOD


def _pair_words(run: TrainingRun) -> str:
    return "the exact pair of a step" if run.step.kind == "exact" else "a pair that bounds every step"


def epsilon_words(run: TrainingRun, delta: float, bracket: tuple[float, float]) -> str:
    """Say between which numbers epsilon lies after all steps.

    Parameters
    ----------
    run : TrainingRun
        What `training_run` returns.
    delta : float
        Where epsilon is asked.
    bracket : tuple of (float, float)
        The certified bracket of epsilon.

    Returns
    -------
    str
        A sentence.
    """
    low, high = bracket
    at = f"After {run.words()}, ε at δ = {outward(delta, 6)}"
    if low == high:
        return f"{at} is {outward(high, 6)} (exact)."
    return f"{at} lies between {between(low, high)} ({certainty('upper', run.region)})."


def training_summary(run: TrainingRun, delta: float = 1e-5) -> TrainingSummary:
    """Return the answers about a training run at one delta.

    Parameters
    ----------
    run : TrainingRun
        What `training_run` returns.
    delta : float, default 1e-5
        In (0, 1].

    Returns
    -------
    TrainingSummary
        Numbers, sentences and the table of all of them.

    Examples
    --------
    >>> from dpcore.training import training_run
    >>> summary = training_summary(training_run("poisson", sigma=1.5, rate=0.04, steps=2250))
    >>> round(summary.epsilon[1], 3), round(summary.fit.mu[1], 3)
    (6.769, 1.47)
    """
    return TrainingSummary(run, delta)

r"""What is proved about every channel that keeps a promise, compared with the best one.

All bounds rest on two facts about an output y of an epsilon-locally private channel with Dobrushin coefficient eta. With
t the total variation of (P0, P1):

* :math:`|M_0(y)-M_1(y)|\le t\,(\max_x Q(y|x)-\min_x Q(y|x))\le t\,(e^{\varepsilon}-1)\min_x Q(y|x)`, hence
  :math:`M_0/M_1` and :math:`M_1/M_0` are at most :math:`R=1+(e^{\varepsilon}-1)t`;
* :math:`d_{TV}(M_0,M_1)\le\eta t` (Dobrushin).

With :math:`\varphi(r)=r\log r-r+1`, both :math:`\varphi(r)/(r-1)` above 1 and :math:`\varphi(r)/(1-r)` below 1 are largest
at the ends R and 1/R, and the two add up to log R: :math:`D(M_0\|M_1)\le\eta\,t\,\log R`. The factor min(2, e^epsilon) of
the published bounds is not needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.core.lazy import Lazy
from dpcore.local.channels import Channel, binary
from dpcore.local.measures import MEASURES, DivergenceMeasure
from dpcore.local.optimum import Optimum, optimum, why_not

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.local.hypotheses import Hypotheses, LocalPromise

NEIGHBOURS = "substitution"
"""In local privacy, neighbouring datasets differ in the letter of one person."""
_PAPER = "Ghazi, Issa 2023"
_OURS = "derived here, see the guide"


@dataclass(frozen=True)
class Case:
    """One question under one promise, with the numbers that the bounds use."""

    question: Hypotheses
    promise: LocalPromise
    measure: DivergenceMeasure

    @Lazy
    def t(self) -> float:
        """Total variation of the hypotheses."""
        return self.question.total_variation

    @property
    def eta(self) -> float:
        """Largest total variation of a channel that keeps the promise."""
        return self.promise.total_variation

    @property
    def growth(self) -> float:
        """Return e^epsilon - 1."""
        return math.expm1(self.promise.epsilon)

    @property
    def factor(self) -> float:
        """Return min(2, e^epsilon)."""
        return min(2.0, math.exp(self.promise.epsilon))

    @property
    def log_ratio(self) -> float:
        """Return log R, the largest log likelihood ratio of an output."""
        return math.log1p(self.growth * self.t)

    @Lazy
    def apart(self) -> float:
        """The measure of the hypotheses themselves."""
        return self.measure.apart(self.question)

    @Lazy
    def best(self) -> Optimum | None:
        """The best channel, if it can be computed."""
        return None if why_not(self.question, self.promise) else optimum(self.question, self.promise, self.measure)

    @Lazy
    def free(self) -> Optimum | None:
        """The best channel without the bound on the total variation."""
        plain = self.promise.without_eta()
        return None if why_not(self.question, plain) else optimum(self.question, plain, self.measure)

    @Lazy
    def two(self) -> Channel:
        """The binary mechanism."""
        return binary(self.question, self.promise)

    @property
    def two_value(self) -> float:
        """What the binary mechanism attains."""
        return self.measure.between(*self.two.outputs(self.question))


@dataclass(frozen=True)
class DivergenceBound:
    """A published or derived bound.

    Attributes
    ----------
    name, title, source, formula : str
        Its name in code, its heading, its reference and its formula (t is the total variation of P0 and P1).
    of : str
        What it bounds: ``optimum``, ``channel`` (its total variation) or ``ratio`` (binary mechanism / optimum).
    measures : tuple of str
        For which measures it is stated.
    side : str
        ``upper`` or ``lower``.
    value : callable
        The bound in a case; None if its condition fails (`needs` says which condition).
    proved : bool, default True
        False for a formula that was printed but is wrong.
    """

    name: str
    title: str
    source: str
    formula: str
    of: str
    measures: tuple[str, ...]
    side: str
    value: Callable[[Case], float | None]
    needs: str = ""
    proved: bool = True

    @property
    def kind(self) -> str:
        """``upper``, ``lower`` or, for a printed formula that is wrong, ``no bound``."""
        return self.side if self.proved else "no bound"


def _pure(formula: Callable[[Case], float]) -> Callable[[Case], float | None]:
    """Return the formula for delta = 0 only."""
    return lambda case: formula(case) if case.promise.delta == 0 else None


def _contraction(case: Case) -> float | None:
    """Return the chi-square contraction coefficient of the dominating pair times the divergence of the hypotheses."""
    if math.isinf(case.apart):
        return None
    delta = case.promise.delta
    return (delta + (case.eta - delta) * math.tanh(case.promise.epsilon / 2)) * case.apart


def _erasure(case: Case) -> float | None:
    if case.promise.delta > 0 or not case.promise.binds or case.free is None:
        return None
    return case.promise.open_share * case.free.value


_KL = ("kl", "reverse")
_CONTRACTED = tuple(name for name, measure in MEASURES.items() if measure.contracts)
_DELTA = "needs δ = 0"

BOUNDS: tuple[DivergenceBound, ...] = (
    DivergenceBound(
        "ceiling",
        "largest total variation",
        f"{_PAPER}, Proposition 2; with δ: the dominating pair",
        "min(η, δ + (1 - δ) tanh(ε/2))",
        "channel",
        tuple(MEASURES),
        "upper",
        lambda case: case.eta,
    ),
    DivergenceBound(
        "dobrushin",
        "Theorem 5, attained",
        f"{_PAPER}, Theorems 4 and 5",
        "η t",
        "optimum",
        ("tv",),
        "upper",
        lambda case: case.eta * case.t,
    ),
    DivergenceBound(
        "sharp",
        "sharper bound",
        _OURS,
        "η t log(1 + (e^ε - 1) t)",
        "optimum",
        _KL,
        "upper",
        _pure(lambda case: case.eta * case.t * case.log_ratio),
        _DELTA,
    ),
    DivergenceBound(
        "sharp_symmetric",
        "sharper bound",
        _OURS,
        "2 η t log(1 + (e^ε - 1) t)",
        "optimum",
        ("symmetric",),
        "upper",
        _pure(lambda case: 2 * case.eta * case.t * case.log_ratio),
        _DELTA,
    ),
    DivergenceBound(
        "sharp_chi2",
        "sharper bound",
        _OURS,
        "η t (R - 1/R), R = 1 + (e^ε - 1) t",
        "optimum",
        ("chi2",),
        "upper",
        _pure(lambda case: 2 * case.eta * case.t * math.sinh(case.log_ratio)),
        _DELTA,
    ),
    DivergenceBound(
        "contraction",
        "contraction bound",
        "Asoodeh, Zhang 2024, for δ = 0 without η; with them: derived here",
        "(δ + (η - δ) tanh(ε/2)) D(P0, P1)",
        "optimum",
        _CONTRACTED,
        "upper",
        _contraction,
        "needs a finite divergence of P0 and P1",
    ),
    DivergenceBound(
        "variation",
        "Theorem 7, with η",
        f"{_PAPER}, Theorem 7",
        "2 η min(2, e^ε) (e^ε - 1) t²",
        "optimum",
        ("kl", "reverse", "symmetric"),
        "upper",
        _pure(lambda case: 2 * case.eta * case.factor * case.growth * case.t**2),
        _DELTA,
    ),
    DivergenceBound(
        "corollary",
        "Corollary 2",
        f"{_PAPER}, Corollary 2",
        "2 min(2, e^ε) (e^ε - 1)²/(e^ε + 1) t²",
        "optimum",
        ("kl", "reverse", "symmetric"),
        "upper",
        _pure(lambda case: 2 * case.factor * case.growth * math.tanh(case.promise.epsilon / 2) * case.t**2),
        _DELTA,
    ),
    DivergenceBound(
        "duchi",
        "Duchi et al.",
        "Duchi, Jordan, Wainwright 2013, Theorem 1",
        "min(4, e^(2ε)) (e^ε - 1)² t²",
        "optimum",
        ("kl", "reverse", "symmetric"),
        "upper",
        _pure(lambda case: case.factor**2 * case.growth**2 * case.t**2),
        _DELTA,
    ),
    DivergenceBound(
        "printed",
        "(57) as printed",
        f"{_PAPER}, (57), a misprint",
        "2 min(2, e^ε) (e^ε - 1)/(e^ε + 1) t²",
        "optimum",
        ("kl",),
        "upper",
        _pure(lambda case: 2 * case.factor * math.tanh(case.promise.epsilon / 2) * case.t**2),
        _DELTA,
        proved=False,
    ),
    DivergenceBound(
        "pinsker",
        "Pinsker, binary mechanism",
        f"{_PAPER}, (55)",
        "2 (η t)²",
        "optimum",
        _KL,
        "lower",
        lambda case: 2 * (case.eta * case.t) ** 2,
    ),
    DivergenceBound(
        "erasure",
        "Theorem 8, erasing",
        f"{_PAPER}, Theorem 8",
        "η/tanh(ε/2) OPT(ε)",
        "optimum",
        tuple(MEASURES),
        "lower",
        _erasure,
        "needs δ = 0 and an η below tanh(ε/2)",
    ),
    DivergenceBound(
        "ratio_sharp",
        "sharper bound",
        _OURS,
        "2/(e^ε + 1)",
        "ratio",
        ("kl",),
        "lower",
        _pure(lambda case: 2.0 / (math.exp(case.promise.epsilon) + 1.0)),
        _DELTA,
    ),
    DivergenceBound(
        "ratio_new",
        "Ghazi, Issa 2023",
        f"{_PAPER}, (58)",
        "1/(min(2, e^ε) (e^ε + 1))",
        "ratio",
        ("kl",),
        "lower",
        _pure(lambda case: 1.0 / (case.factor * (math.exp(case.promise.epsilon) + 1.0))),
        _DELTA,
    ),
    DivergenceBound(
        "ratio_old",
        "Kairouz et al. 2014",
        "Kairouz, Oh, Viswanath 2014, Theorem 7",
        "1/(2 (e^ε + 1)²)",
        "ratio",
        ("kl",),
        "lower",
        _pure(lambda case: 0.5 / (math.exp(case.promise.epsilon) + 1.0) ** 2),
        _DELTA,
    ),
)
"""The records of all bounds on the divergence of private answers."""

"""Local privacy: the channel through which a person answers, what it keeps and what it gives away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.local import MEASURES, Hypotheses, LocalPromise, why_not
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import Method, Variable, call, draws

BEST, BINARY, RESPONSE = "best", "binary", "randomized_response"
RATIO = "binary mechanism / best channel"


@enter
@dataclass(frozen=True, kw_only=True)
class ChannelsDrawer(Drawer):
    """The best channel between private letters and an analyst's question."""

    kind: ClassVar[str] = "channels"
    meaning: ClassVar[str] = (
        "private answers to a question with two hypotheses: the divergence that channels keep or its share that the "
        "binary mechanism keeps, with proved bounds, a channel itself, or what one of its answers gives away"
    )

    p0: tuple[float, ...] = fields.numbers()
    p1: tuple[float, ...] = fields.numbers()
    letters: tuple[str, ...] = fields.texts(words="names of the letters")
    epsilon: float = fields.number(1.0, low=0.0, high=20.0)
    delta: float = fields.number(0.0, low=0.0, high=1.0, high_open=True)
    eta: float | None = fields.rate()
    view: str = fields.choice("ratio", "divergence", "channel", "region")
    measure: str = fields.choice(*MEASURES)
    channel: str = fields.choice(BEST, BINARY, RESPONSE)
    times: int = fields.integer(1, low=1, high=1000)

    def __post_init__(self) -> None:
        """Check the hypotheses and the promise."""
        _ = self._hypotheses, self._promise

    @property
    def _hypotheses(self) -> Hypotheses:
        return Hypotheses(tuple(self.p0), tuple(self.p1), self.letters)

    @property
    def _promise(self) -> LocalPromise:
        return LocalPromise(self.epsilon, self.delta, self.eta)

    @property
    def question(self) -> Variable:
        """The hypotheses."""
        names = {"letters": self.letters} if self.letters else {}
        return Variable("question", call("dpcore.local:Hypotheses", tuple(self.p0), tuple(self.p1), **names))

    @property
    def promise(self) -> Variable:
        """What every answer guarantees."""
        return Variable("promise", call("dpcore.local:LocalPromise", self.epsilon, **self.options("delta", "eta")))

    @property
    def divergence(self) -> Variable:
        """What is compared."""
        return Variable("measure", call("dpcore.local:measure_named", self.measure))

    @property
    def answering(self) -> Variable:
        """How people answer; by the binary mechanism where the best channel is not known."""
        if self.channel == BEST and not why_not(self._hypotheses, self._promise):
            best = call("dpcore.local:optimum", self.question, self.promise, self.divergence)
            return Variable("channel", Method(best, "channel"))
        name = RESPONSE if self.channel == RESPONSE else BINARY
        return Variable("channel", call(f"dpcore.local:{name}", self.question, self.promise))

    def target(self) -> tuple[str, float]:
        """Return the epsilon of the promise."""
        return "epsilon", self.epsilon

    def recipe(self) -> Any:
        """Return the picture of the view."""
        if self.view == "channel":
            return draws("dpcore.charts.local:channel_figure", self.answering, self.promise)
        if self.view == "region":
            return draws("dpcore.charts.local:answer_figure", self.answering, self.promise, **self.options("times"))
        points = call("dpcore.local:grid", self.question, self.promise)
        function = "ratios" if self.view == "ratio" else "utilities"
        rows = call(f"dpcore.local:{function}", self.question, self.promise, self.divergence, points)
        value, apart = RATIO, None
        if self.view == "divergence":
            value, apart = MEASURES[self.measure].title, Method(self.divergence, "apart", (self.question,))
        options = {"value": value, "epsilon": Method(self.promise, "epsilon"), "apart": apart}
        return draws("dpcore.charts.local:sweep_figure", rows, **options)

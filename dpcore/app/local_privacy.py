"""Local privacy for its page: the question, the specs of the figures, and sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpcore.app import work
from dpcore.core.domains import PROBABILITY
from dpcore.core.errors import DomainError
from dpcore.core.kinds import HEADINGS as KINDS
from dpcore.core.results import result
from dpcore.language.numbers import read_value
from dpcore.local import (
    MEASURES,
    Channel,
    DivergenceMeasure,
    Hypotheses,
    LocalPromise,
    bounds,
    grid,
    openly,
    people,
    people_words,
    regime_words,
    regimes,
    why_not,
)
from dpcore.local.hypotheses import MOST_LETTERS
from dpcore.specs import intermediate
from dpcore.specs.kinds.channels import RATIO

if TYPE_CHECKING:
    import pandas as pd

SHOWN = {measure.title: measure.name for measure in MEASURES.values()} | {RATIO: "kl"}
HEADINGS = {
    **KINDS,
    "bound": "Bound",
    "formula": "Formula",
    "value": "Value",
    "truth": "True value",
    "holds": "Holds",
    "of": "About",
    "note": "Note",
}
"""Headings of the table of bounds."""
BEST, TWO, MANY = "best channel", "binary mechanism", "randomized response"
CHANNELS = {BEST: "best", TWO: "binary", MANY: "randomized_response"}
MOST_TIMES = 1000
MOST_PAGE_EPSILON = 20.0
LONGEST = 4000  # characters in a list of probabilities
DEFAULTS: dict[str, Any] = {
    "local_p0": "0.5, 0.3, 0.2",
    "local_p1": "0.2, 0.35, 0.45",
    "local_names": "",
    "local_epsilon": "1",
    "local_delta": "0",
    "local_eta": "",
    "local_show": "KL divergence",
    "local_channel": BEST,
    "local_times": "1",
    "local_alarm": "0.05",
    "local_miss": "0.05",
    "local_search": False,
}


@dataclass(frozen=True)
class LocalPrivacyView:
    """The question: the hypotheses, the promise, what is drawn, and which channel is shown."""

    question: Hypotheses
    promise: LocalPromise
    show: str = "KL divergence"
    channel: str = BEST
    times: int = 1
    alarm: float = 0.05
    miss: float = 0.05
    search: bool = False

    @property
    def measure(self) -> DivergenceMeasure:
        """The measure drawn; a ratio is one of KL divergences."""
        return MEASURES[SHOWN[self.show]]

    @property
    def is_ratio(self) -> bool:
        """Whether the ratio of two channels is drawn."""
        return self.show == RATIO

    def spec(self, kind: str) -> dict[str, Any]:
        """Return the spec of a figure: ``divergence`` (or the ratio in its place), ``channel`` or ``region``."""
        return {
            "draw": "channels",
            "view": "ratio" if kind == "divergence" and self.is_ratio else kind,
            "p0": self.question.p0,
            "p1": self.question.p1,
            "letters": self.question.letters if self.has_names else None,
            "epsilon": self.promise.epsilon,
            "delta": self.promise.delta,
            "eta": self.promise.eta,
            "measure": self.measure.name,
            "channel": CHANNELS[self.channel],
            "times": self.times,
        }

    @property
    def has_names(self) -> bool:
        """Whether the letters have names of their own."""
        return self.question.letters != tuple(str(i + 1) for i in range(self.question.size))


def read_masses(text: str, name: str) -> tuple[float, ...]:
    """Return probabilities typed as 0.5, 1/3, 2e-1; raise if something is wrong with them."""
    if len(text) > LONGEST:
        msg = f"{name} may have at most {LONGEST} characters, got {len(text)}."
        raise DomainError(msg)
    parts = [part.strip() for part in text.replace(";", ",").split(",")]
    if len(parts) > MOST_LETTERS:
        msg = f"{name} must have 2 to {MOST_LETTERS} letters, got {len(parts)}."
        raise DomainError(msg)
    return tuple(read_value(PROBABILITY, part, f"A probability of {name}") for part in parts)


def read_names(text: str) -> tuple[str, ...]:
    """Return the comma-separated names; none if the field is empty."""
    return tuple(part.strip() for part in text[:LONGEST].split(",")) if text.strip() else ()


# ---- sentences: inside `work.progress` -----------------------------------------------------------------------


def channel_of(view: LocalPrivacyView) -> Channel:
    """Return the channel shown, made by the calls of the figure's own recipe."""
    spec = {name: value for name, value in view.spec("channel").items() if value is not None}
    channel: Channel = intermediate(spec, "answering")
    return channel


def checks(view: LocalPrivacyView) -> pd.DataFrame:
    """Return every bound with its check."""
    return result(bounds, view.question, view.promise, view.measure)


def regime_sentence(view: LocalPrivacyView) -> str:
    """Say where the simple channels are as good as the best one; return an empty text if that is unknown."""
    if why_not(view.question, view.promise):
        return ""
    points = grid(view.question, view.promise)
    return regime_words(result(regimes, view.question, view.promise, view.measure, points), view.question)


def people_sentence(view: LocalPrivacyView) -> str:
    """Say how many people an analyst needs with this channel, and without privacy."""
    channels = (channel_of(view), openly(view.question))
    with work.half_of_the_time():
        counts = [result(people, one, view.question, view.alarm, view.miss, search=view.search) for one in channels]
    return people_words(*counts, alarm=view.alarm, miss=view.miss)

"""Local privacy as its page shows it: what is asked, pictures, words and the Python that makes them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from dpcore.app import work
from dpcore.charts import Look, region_figure
from dpcore.charts.local import channel_figure, sweep_figure
from dpcore.core.domains import PROBABILITY
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.language.numbers import read_value
from dpcore.local import (
    MEASURES,
    Channel,
    DivergenceMeasure,
    Hypotheses,
    LocalPromise,
    People,
    binary,
    bounds,
    grid,
    openly,
    optimum,
    people,
    people_words,
    randomized_response,
    ratios,
    regime_words,
    regimes,
    utilities,
    why_not,
)
from dpcore.local.hypotheses import MOST_LETTERS
from dpcore.words import best_power, of_100, outward

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from dpcore.charts import Figure
    from dpcore.local import Optimum
    from dpcore.regions.tradeoff import TradeOff

_T = TypeVar("_T")

RATIO = "binary mechanism / best channel"
SHOWN = {measure.title: measure.name for measure in MEASURES.values()} | {RATIO: "kl"}
BEST, TWO, MANY = "best channel", "binary mechanism", "randomized response"
CHANNELS = (BEST, TWO, MANY)
MOST_TIMES = 1000
MOST_PAGE_EPSILON = 20.0
LONGEST = 4000  # characters of a list of probabilities
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
    """What the page is asked: the hypotheses, the promise, what is drawn, and which channel is looked at."""

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

    @property
    def top(self) -> float:
        """The largest epsilon drawn."""
        return 6.0 if self.promise.epsilon <= 5 else math.ceil(1.25 * self.promise.epsilon)


def read_masses(text: str, name: str) -> tuple[float, ...]:
    """Return probabilities typed as 0.5, 1/3, 2e-1, or say what is wrong with them."""
    if len(text) > LONGEST:
        msg = f"{name} is written in at most {LONGEST} characters, got {len(text)}."
        raise DomainError(msg)
    parts = [part.strip() for part in text.replace(";", ",").split(",")]
    if len(parts) > MOST_LETTERS:
        msg = f"{name} must have 2 to {MOST_LETTERS} letters, got {len(parts)}."
        raise DomainError(msg)
    return tuple(read_value(PROBABILITY, part, f"A probability of {name}") for part in parts)


def read_names(text: str) -> tuple[str, ...]:
    """Return the names typed between commas; none if the field is empty."""
    return tuple(part.strip() for part in text[:LONGEST].split(",")) if text.strip() else ()


def kept(key: tuple[Any, ...], make: Callable[[], _T]) -> _T:
    """Return what was made for the same question before, or make it."""
    return work.cache().get(("local", *key), make)


# ---- numbers -------------------------------------------------------------------------------------------------


def best(view: LocalPrivacyView) -> Optimum:
    """Return the best channel for the measure drawn."""
    key = ("best", view.question, view.promise, view.measure.name)
    return kept(key, lambda: optimum(view.question, view.promise, view.measure))


def chosen(view: LocalPrivacyView) -> Channel:
    """Return the channel looked at; the binary mechanism where the best one is not known."""
    if view.channel == BEST and not why_not(view.question, view.promise):
        return best(view).channel
    make = randomized_response if view.channel == MANY else binary
    return make(view.question, view.promise)


def sweep(view: LocalPrivacyView) -> pd.DataFrame:
    """Return the table over epsilon."""
    key = ("sweep", view.question, view.promise, view.show)
    make = ratios if view.is_ratio else utilities
    points = grid(view.question, view.promise, view.top)
    return kept(key, lambda: make(view.question, view.promise, view.measure, points))


def checks(view: LocalPrivacyView) -> pd.DataFrame:
    """Return every bound with its check."""
    key = ("checks", view.question, view.promise, view.measure.name)
    return kept(key, lambda: bounds(view.question, view.promise, view.measure))


def regions(view: LocalPrivacyView) -> dict[str, TradeOff]:
    """Return what one answer of the channel tells, what several tell, and what the promise allows."""
    channel = chosen(view)
    found: dict[str, TradeOff] = {f"one answer, {channel.title}": channel.region()}
    if view.times > 1:
        found[f"{view.times} answers of one person"] = channel.region(view.times)
    found[f"promise: {view.promise}"] = view.promise.region
    return found


# ---- pictures ------------------------------------------------------------------------------------------------


def sweep_picture(view: LocalPrivacyView, *, dark: bool) -> Figure:
    """Return what the channels keep, against epsilon."""
    apart = None if view.is_ratio else view.measure.between(*view.question.arrays)
    key = ("sweep_picture", view.question, view.promise, view.show, dark)
    return kept(
        key,
        lambda: sweep_figure(
            sweep(view), value=view.show, epsilon=view.promise.epsilon, apart=apart, look=Look(dark=dark)
        ),
    )


def channel_picture(view: LocalPrivacyView, *, dark: bool) -> Figure:
    """Return the channel as a picture."""
    channel = chosen(view)
    words = channel_words(view, channel)
    key = ("channel_picture", channel, words, dark)
    return kept(key, lambda: channel_figure(channel.frame(), title=channel.title, words=words, look=Look(dark=dark)))


def region_picture(view: LocalPrivacyView, *, dark: bool) -> Figure:
    """Return the channel's region beside that of the promise."""
    key = ("region_picture", chosen(view), view.promise, view.times, dark)
    words = region_words(view)
    return kept(
        key, lambda: replace(region_figure(regions(view), look=Look(dark=dark, description=words)), takeaway=words)
    )


# ---- words ---------------------------------------------------------------------------------------------------


def channel_words(view: LocalPrivacyView, channel: Channel) -> str:
    """Say what the channel is and what it keeps of its promise."""
    count = sum(any(row[y] > 0 for row in channel.rows) for y in range(len(channel.answers)))
    answers = "one answer" if count == 1 else f"{count} answers"
    spent = "infinite (some answer excludes a letter)" if math.isinf(channel.epsilon) else outward(channel.epsilon, 5)
    extra = ""
    if view.promise.delta > 0:
        extra = f", δ at ε = {nearest(view.promise.epsilon)} at most {outward(channel.delta(view.promise.epsilon), 4)}"
    return (
        f"{channel.title[:1].upper()}{channel.title[1:]}: {answers}. Its own smallest pure ε is {spent}{extra}, its total variation "
        f"{outward(channel.total_variation, 4)} (exact, rounded up)."
    )


def region_words(view: LocalPrivacyView) -> str:
    """Say what an attacker who guesses between two letters of one person finds."""
    rate = 0.05
    known = {name: best_power(region, rate) for name, region in regions(view).items()}
    parts = [f"{of_100(power)} by {name} ({what})" for name, (power, what) in known.items()]
    return (
        f"Someone guesses which of two letters a person has. Wrong about the first in {of_100(rate)} cases, such a guess is "
        f"right about the second in at most {', '.join(parts)}; blind guessing in {of_100(rate)}."
    )


def regime_sentence(view: LocalPrivacyView) -> str:
    """Say where the simple channels are as good as the best one; empty where that is not known."""
    if why_not(view.question, view.promise):
        return ""
    points = grid(view.question, view.promise, view.top)
    key = ("regimes", view.question, view.promise, view.measure.name)
    table = kept(key, lambda: regimes(view.question, view.promise, view.measure, points))
    return regime_words(table, view.question)


def people_sentence(view: LocalPrivacyView) -> str:
    """Say how many people an analyst needs with this channel, and without privacy."""
    return people_words(*_people(view), alarm=view.alarm, miss=view.miss)


def _people(view: LocalPrivacyView) -> tuple[People, People]:
    channel = chosen(view)
    rates = (view.alarm, view.miss)

    def make() -> tuple[People, People]:
        with work.half_of_the_time():
            found = people(channel, view.question, *rates, search=view.search)
            return found, people(openly(view.question), view.question, *rates, search=view.search)

    return kept(("people", view.question, channel, rates, view.search), make)


# ---- code ----------------------------------------------------------------------------------------------------


def _question_lines(view: LocalPrivacyView) -> list[str]:
    named = f", {view.question.letters!r}" if view.question.letters != Hypotheses(*_masses(view)).letters else ""
    eta = "" if view.promise.eta is None else f", eta={view.promise.eta!r}"
    delta = f", {view.promise.delta!r}" if view.promise.delta > 0 else ""
    return [
        f"question = Hypotheses({view.question.p0!r}, {view.question.p1!r}{named})",
        f"promise = LocalPromise({view.promise.epsilon!r}{delta}{eta})",
    ]


def _masses(view: LocalPrivacyView) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return view.question.p0, view.question.p1


def _channel_lines(view: LocalPrivacyView) -> tuple[str, str]:
    """Return the name to import and the line that makes the channel looked at."""
    if view.channel == BEST and not why_not(view.question, view.promise):
        return "MEASURES, optimum", f'channel = optimum(question, promise, MEASURES["{view.measure.name}"]).channel'
    name = "randomized_response" if view.channel == MANY else "binary"
    return name, f"channel = {name}(question, promise)"


def sweep_code(view: LocalPrivacyView) -> str:
    """Return the Python lines that draw the table over epsilon."""
    name = "ratios" if view.is_ratio else "utilities"
    apart = "" if view.is_ratio else ", apart=measure.between(*question.arrays)"
    return "\n".join(
        [
            "from dpcore.charts import save",
            "from dpcore.charts.local import sweep_figure",
            f"from dpcore.local import MEASURES, Hypotheses, LocalPromise, grid, {name}",
            "",
            *_question_lines(view),
            f'measure = MEASURES["{view.measure.name}"]',
            f"table = {name}(question, promise, measure, grid(question, promise, {view.top!r}))",
            f"figure = sweep_figure(table, value={view.show!r}, epsilon=promise.epsilon{apart})",
            "print(figure.takeaway)",
            'save(figure, "local.svg")',
        ]
    )


def channel_code(view: LocalPrivacyView) -> str:
    """Return the Python lines that make the channel, draw it and count people."""
    name, line = _channel_lines(view)
    return "\n".join(
        [
            "from dpcore.charts import save",
            "from dpcore.charts.local import channel_figure",
            f"from dpcore.local import Hypotheses, LocalPromise, people, {name}",
            "",
            *_question_lines(view),
            line,
            "table = channel.frame()",
            "print(table.to_string(index=False))",
            f"print(people(channel, question, {view.alarm!r}, {view.miss!r}))",
            f"figure = channel_figure(table, title=channel.title, words={channel_words(view, chosen(view))!r})",
            'save(figure, "channel.svg")',
        ]
    )


def region_code(view: LocalPrivacyView) -> str:
    """Return the Python lines that draw the channel's region."""
    name, line = _channel_lines(view)
    several = [f'    "{view.times} answers of one person": channel.region({view.times}),'] if view.times > 1 else []
    return "\n".join(
        [
            "from dpcore.charts import region_figure, save",
            f"from dpcore.local import Hypotheses, LocalPromise, {name}",
            "",
            *_question_lines(view),
            line,
            "regions = {",
            '    f"one answer, {channel.title}": channel.region(),',
            *several,
            '    f"promise: {promise}": promise.region,',
            "}",
            "figure = region_figure(regions)",
            'save(figure, "region.svg")',
        ]
    )

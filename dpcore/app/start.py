"""The story of the start page: one count, noisy answers, a guess and its two errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.app.live import Handle
from dpcore.audit.threshold import Test, pair_of
from dpcore.core import domains
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.core.parameter import Parameter
from dpcore.mechanisms.laplace import Laplace
from dpcore.words import about, outward

WITHOUT, WITHIN = 40, 41
WINDOW = (33.0, 48.0)
EPSILONS = [nearest(0.05 * step) for step in (*range(1, 41), *range(42, 101, 2))]
"""Values of the slider for ε: even steps up to 5, above which nobody is protected."""
THRESHOLDS = [nearest(low / 10) for low in range(round(10 * WINDOW[0]), round(10 * WINDOW[1]) + 1)]
"""Values of the slider for the threshold: the window of the picture."""
EPSILON, THRESHOLD = 1.0, 40.5
DEFAULTS: dict[str, Any] = {"eps": nearest(EPSILON), "t": nearest(THRESHOLD), "_answers": 0}
BOUND = domains.EPSILON.but(high=20.0, least=0.001, low_open=True, infinite=False)
"""What the field takes: below this range the noise is flat, above it none is visible."""
LINE = Parameter("threshold", low=WINDOW[0], high=WINDOW[1], meaning="accuse above it")
THIS_GUESS = "this guess"
ALL_ANSWERS = "all answers"
HUNDRED = 100
MOST_ANSWERS = 2000
"""Answers that a visitor may ask for: twenty dots still leave the region visible."""
_PLACES = 61  # positions of the point on the region, from one end of the slider to the other
HEIGHT = 330  # both pictures and the sliders fit on one screen


@dataclass(frozen=True)
class StartStory:
    """A count of 41 people with you and 40 without you, published with Laplace noise; an attacker accuses above t."""

    epsilon: float = EPSILON
    threshold: float = THRESHOLD

    @Lazy
    def mechanism(self) -> Laplace:
        """The noise: its scale is 1 / epsilon because you move the count by 1."""
        return Laplace(self.epsilon)

    @Lazy
    def test(self) -> Test:
        """The guess."""
        return pair_of(self.mechanism, WITHOUT).at(self.threshold)

    def inside(self, number: int) -> bool:
        """Whether you are in the data for answer number 1, 2, ...: a fair coin decides."""
        return bool(np.random.default_rng(number).random() < 0.5)

    def answer(self, number: int) -> float:
        """Return noisy answer number 1, 2, ...; the same number always gives the same answer."""
        draw = self.mechanism.sample(np.random.default_rng([number, 1]), 1)
        return float((WITHIN if self.inside(number) else WITHOUT) + draw[0])

    def answer_words(self, number: int) -> str:
        """Say what the guess is for one answer, and whether it is right."""
        answer, inside = self.answer(number), self.inside(number)
        accused = answer > self.threshold
        guess = "accuses you" if accused else "does not accuse you"
        ends = {
            (True, True): "You are in the data, so the guess is right.",
            (True, False): "You are not in the data, so this is a false positive.",
            (False, True): "You are in the data, so this is a false negative.",
            (False, False): "You are not in the data, so the guess is right.",
        }
        return (
            f"A coin decided whether you are in the data. The published answer is {answer:.1f}, "
            f"{'above' if accused else 'not above'} {nearest(self.threshold)}: the guess {guess}. {ends[accused, inside]}"
        )

    def errors(self, first: int, last: int) -> tuple[int, int, int, int]:
        """Count in the answers `first` to `last`: not in the data, of these accused, in the data, of these missed."""
        numbers = range(first, last + 1)
        inside = np.array([self.inside(number) for number in numbers])
        accused = np.array([self.answer(number) for number in numbers]) > self.threshold
        return int((~inside).sum()), int((accused & ~inside).sum()), int(inside.sum()), int((~accused & inside).sum())

    def tally_words(self, number: int) -> str:
        """Say how well the guess did in the first `number` answers."""
        outside, accused, inside, missed = self.errors(1, number)
        return (
            f"In {number} answers so far, you were not in the data {outside} times, and accused in {accused} of these; "
            f"you were in the data {inside} times, and missed in {missed} of these. "
            "Each ring stands for a hundred answers, and chance scatters the rings. The point of all answers together comes "
            "closer to the guess the more there are."
        )

    def dots(self, number: int) -> list[tuple[float, float]]:
        """Return the share of wrong accusations and the share of misses for every hundred answers."""
        shares = []
        for last in range(HUNDRED, number + 1, HUNDRED):
            outside, accused, inside, missed = self.errors(last - HUNDRED + 1, last)
            shares.append((accused / max(outside, 1), missed / max(inside, 1)))
        return shares

    def errors_words(self) -> tuple[str, str]:
        """Return one sentence for each of the two kinds of error."""
        outside = "of the people who are not in the data, the guess wrongly accuses"
        inside = "of the people who are in the data, the guess misses"
        alpha, beta = self.test.alpha, self.test.beta
        return (
            f"**False positives:** {outside} **{about(alpha)}** ({nearest(alpha, 4)}).",
            f"**False negatives:** {inside} **{about(beta)}** ({nearest(beta, 4)}).",
        )

    def verdict(self) -> str:
        """Compare the sum of the two errors with blind guessing and with the best possible guess."""
        both = 100 * (self.test.alpha + self.test.beta)
        best = 100 * (1 - self.mechanism.total_variation)
        start = f"Together that is {nearest(both, 3)} of 100 (exact, rounded). Blind guessing always gives 100."
        if self.test.alpha + self.test.beta >= 1 - self.mechanism.total_variation + 1e-9:
            return (
                f"{start} This threshold is not the best one: at ε = {nearest(self.epsilon)} no threshold gets below "
                f"{outward(best, 3, up=False)}, and one reaches it. Only that number says how well you are protected; a bad "
                "guess protects nobody."
            )
        return (
            f"{start} At ε = {nearest(self.epsilon)} no other threshold does better, so this sum says how well you are protected: "
            "the closer to 100, the better."
        )

    def handles(self) -> list[Handle]:
        """Return the draggable handles: the line in the noise and the point on the region."""
        pair, (low, high) = pair_of(self.mechanism, WITHOUT), WINDOW
        tests = [pair.at(float(threshold)) for threshold in np.linspace(low, high, _PLACES)]
        curve = tuple((test.alpha, test.beta) for test in tests)
        line = ((low, None), (high, None))
        return [
            Handle("noisy_count_frame", "t_slider", line, x=WINDOW),
            Handle("count_region_frame", "t_slider", curve),
        ]

    def noise(self, number: int = 0) -> dict[str, Any]:
        """Return the spec of both densities with the threshold, and with answer `number` if there is one."""
        return {
            "draw": "noise",
            "mechanism": str(self.mechanism),
            "threshold": self.threshold,
            "window": WINDOW,
            "without": WITHOUT,
            "observed": self.answer(number) if number else None,
        }

    def region(self, number: int = 0) -> dict[str, Any]:
        """Return the spec of the privacy region with the point of this guess and a ring for every hundred answers."""
        guess = {"alpha": self.test.alpha, "beta": self.test.beta, "label": THIS_GUESS}
        rings = [{"alpha": alpha, "beta": beta, "open": True} for alpha, beta in self.dots(number)]
        average = []
        if number >= HUNDRED:
            outside, accused, inside, missed = self.errors(1, number - number % HUNDRED)
            average = [{"alpha": accused / max(outside, 1), "beta": missed / max(inside, 1), "label": ALL_ANSWERS}]
        return {
            "draw": "regions",
            "regions": [str(self.mechanism)],
            "labels": ["the count"],
            "legend": False,
            "points": [*rings, *average, guess],
        }

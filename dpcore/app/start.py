"""The story of the start page: one count, noisy answers, a guess and its two errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpcore.app import work
from dpcore.audit.threshold import Test, pair_of
from dpcore.charts import Look, region_figure
from dpcore.charts.noise import marked, noise_figure
from dpcore.core.numerals import nearest
from dpcore.mechanisms.laplace import Laplace
from dpcore.words import about, outward

if TYPE_CHECKING:
    from dpcore.charts.figure import Figure

WITHOUT, WITHIN = 40, 41
WINDOW = (33.0, 48.0)
EPSILONS = tuple(round(0.05 * step, 2) for step in (*range(1, 41), *range(42, 101, 2)))
"""Even steps up to 5: beyond, nobody is hidden."""
EPSILON, THRESHOLD = 1.0, 40.5
THIS_GUESS = "this guess"
HUNDRED = 100
MOST_ANSWERS = 2000
"""Answers that one visitor may ask for: twenty dots, and the region is still to be seen."""
HEIGHT = 330  # both pictures and the sliders below them fit one screen


@dataclass(frozen=True)
class StartStory:
    """A count of 41 people with you and 40 without you, published with Laplace noise; somebody accuses above t."""

    epsilon: float = EPSILON
    threshold: float = THRESHOLD

    @cached_property
    def mechanism(self) -> Laplace:
        """The noise: its scale is 1 / epsilon because you move the count by 1."""
        return Laplace(self.epsilon)

    @cached_property
    def test(self) -> Test:
        """The guess."""
        return pair_of(self.mechanism, WITHOUT).at(self.threshold)

    def inside(self, number: int) -> bool:
        """Whether you are in the data of answer number 1, 2, ...: as likely as not."""
        return bool(np.random.default_rng(number).random() < 0.5)

    def answer(self, number: int) -> float:
        """Return the noisy answer number 1, 2, ...; the same number is the same answer."""
        draw = self.mechanism.sample(np.random.default_rng([number, 1]), 1)
        return float((WITHIN if self.inside(number) else WITHOUT) + draw[0])

    def answer_words(self, number: int) -> str:
        """Say what one answer leads to, and then what was true."""
        answer, inside = self.answer(number), self.inside(number)
        accused = answer > self.threshold
        guess = "accuses you" if accused else "does not accuse you"
        ends = {
            (True, True): "You are in the data: it is right.",
            (True, False): "You are not in the data: it is wrong, a false positive.",
            (False, True): "You are in the data: it is wrong, a false negative.",
            (False, False): "You are not in the data: it is right.",
        }
        return (
            f"A coin decided whether you are in the data. The published answer is {answer:.1f}, "
            f"{'above' if accused else 'not above'} {nearest(self.threshold)}: the guess {guess}. {ends[accused, inside]}"
        )

    def errors(self, first: int, last: int) -> tuple[int, int, int, int]:
        """Count, over the answers from number `first` to `last`: outside, of them accused; inside, of them missed."""
        numbers = range(first, last + 1)
        inside = np.array([self.inside(number) for number in numbers])
        accused = np.array([self.answer(number) for number in numbers]) > self.threshold
        return int((~inside).sum()), int((accused & ~inside).sum()), int(inside.sum()), int((~accused & inside).sum())

    def tally_words(self, number: int) -> str:
        """Say how the guess did in the first `number` answers."""
        outside, accused, inside, missed = self.errors(1, number)
        return (
            f"In {number} answers so far, you were not in the data {outside} times and accused {accused} times of these; "
            f"you were in the data {inside} times and missed {missed} times of these. "
            "Each open dot is a hundred answers: chance moves it around the point of the guess."
        )

    def dots(self, number: int) -> list[tuple[float, float, str]]:
        """Return, for every hundred answers, the share of wrong accusations and the share of misses."""
        found = []
        for last in range(HUNDRED, number + 1, HUNDRED):
            outside, accused, inside, missed = self.errors(last - HUNDRED + 1, last)
            found.append((accused / max(outside, 1), missed / max(inside, 1), ""))
        return found

    def errors_words(self) -> tuple[str, str]:
        """Return the two kinds of error, each in a sentence."""
        outside = "of the people who are not in the data, the guess wrongly accuses"
        inside = "of the people who are in the data, the guess misses"
        alpha, beta = self.test.alpha, self.test.beta
        return (
            f"**False positives:** {outside} **{about(alpha)}** ({nearest(alpha, 4)}, exact).",
            f"**False negatives:** {inside} **{about(beta)}** ({nearest(beta, 4)}, exact).",
        )

    def verdict(self) -> str:
        """Say what the two errors add up to, beside blind guessing and beside the best guess possible."""
        both = 100 * (self.test.alpha + self.test.beta)
        best = 100 * (1 - self.mechanism.total_variation)
        start = f"Both together are {nearest(both, 3)} of 100 (exact, rounded). Blind guessing always makes 100."
        if self.test.alpha + self.test.beta >= 1 - self.mechanism.total_variation + 1e-9:
            return (
                f"{start} This threshold is not the best one: at ε = {nearest(self.epsilon)} no threshold gets below "
                f"{outward(best, 3, up=False)}, and one reaches it. Only that number tells how well you are hidden; a bad "
                "guess hides nobody."
            )
        return (
            f"{start} At ε = {nearest(self.epsilon)} no other threshold does better, so this sum tells how well you are hidden: "
            "the closer to 100, the better."
        )

    def noise(self, number: int = 0, *, dark: bool = False) -> Figure:
        """Return both densities with the threshold, and the drawn answer if there is one."""
        words = (
            f"Shaded: the two errors. Right of the line, without you: {about(self.test.alpha)} wrongly accused. "
            f"Left of the line, with you: {about(self.test.beta)} missed."
        )
        seen = self.answer(number) if number else None
        look = Look(dark=dark, description=words, height=HEIGHT)
        key = ("story noise", self.epsilon, self.threshold, number, dark)
        return work.cache().get(
            key, lambda: replace(noise_figure(self.test, window=WINDOW, observed=seen, look=look), takeaway=words)
        )

    def region(self, number: int = 0, *, dark: bool = False) -> Figure:
        """Return the privacy region with the point this guess makes, and with a dot for every hundred answers."""
        words = (
            f"The point is this guess: {about(self.test.alpha)} wrongly accused, {about(self.test.beta)} missed. It lies "
            "on the border: whoever accuses as few people wrongly misses at least as many (exact)."
        )
        point = (self.test.alpha, self.test.beta, THIS_GUESS)

        def make() -> Figure:
            look = Look(dark=dark, description=words, height=HEIGHT)
            figure = region_figure({"the count": self.mechanism}, look=look, legend=False)
            return replace(marked(figure, [point, *self.dots(number)], dark=dark), takeaway=words)

        return work.cache().get(("story region", self.epsilon, self.threshold, number // HUNDRED, dark), make)

    def noise_code(self, number: int = 0) -> str:
        """Return the Python lines that draw the noise."""
        seen = f", observed={self.answer(number)!r}" if number else ""
        return "\n".join(
            [
                "from dpcore import laplace",
                "from dpcore.charts import save",
                "from dpcore.charts.noise import noise_figure",
                "from dpcore.audit.threshold import pair_of",
                "",
                f"guess = pair_of(laplace({self.epsilon!r}), without={WITHOUT}).at({self.threshold!r})",
                "print(guess.alpha, guess.beta)",
                f"figure = noise_figure(guess, window={WINDOW!r}{seen})",
                'save(figure, "noise.svg")',
            ]
        )

    def region_code(self, number: int = 0) -> str:
        """Return the Python lines that draw the region with the point and the dots."""
        points = [(self.test.alpha, self.test.beta, THIS_GUESS), *self.dots(number)]
        dots = "".join(f", {point!r}" for point in points[1:])
        return "\n".join(
            [
                "from dpcore import laplace",
                "from dpcore.charts import region_figure, save",
                "from dpcore.charts.noise import marked",
                "from dpcore.audit.threshold import pair_of",
                "",
                f"mechanism = laplace({self.epsilon!r})",
                f"guess = pair_of(mechanism, without={WITHOUT}).at({self.threshold!r})",
                f'point = (guess.alpha, guess.beta, "{THIS_GUESS}")',
                f'figure = marked(region_figure({{"the count": mechanism}}, legend=False), [point{dots}])',
                'save(figure, "region.svg")',
            ]
        )

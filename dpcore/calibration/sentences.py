"""The answers to an inverse question in words, and which one is best."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.calibration.answers import COUNT, NOISE, PRIVACY, RECORDS
from dpcore.core.kinds import WORDS
from dpcore.core.numerals import nearest
from dpcore.words import grouped, of_100, outward

if TYPE_CHECKING:
    from dpcore.calibration.answers import NoiseAnswer, Question


def words(question: Question, answer: NoiseAnswer) -> str:
    """Say what one noise answers."""
    if answer.trouble:
        return f"{answer.candidate.title}: no answer. {answer.trouble}"
    parts = [_noise_words(question, answer), _worth_words(question, answer)]
    return f"{answer.candidate.title}: {' '.join(parts)}"


def _noise_words(question: Question, answer: NoiseAnswer) -> str:
    """Say the noise, and how far an answer is off."""
    symbol = answer.candidate.symbol
    up = answer.candidate.is_noise
    value = f"{symbol} = {grouped(outward(answer.value, 5, up=up if question.requirement is not None else not up))}"
    each = value if answer.k == 1 else f"{value} per answer"
    if question.unknown == RECORDS and up:
        each += " on the sum"
    if question.unknown == COUNT:
        start = f"{grouped(answer.k)} answer{'s' if answer.k > 1 else ''} ({WORDS[answer.kind]}) with {each}"
    elif question.unknown == RECORDS:
        enough = "are enough (upper bound)" if answer.kind != "exact" else "are needed (exact)"
        start = f"{grouped(answer.n)} records {enough} with {each}"
    else:
        start = f"{each} ({WORDS[answer.kind]}, rounded to the safe side)"
    if answer.error is None:
        return f"{start}."
    whose = "the mean" if question.unknown == RECORDS else "one answer"
    return f"{start}; {whose} is off by at most {grouped(outward(answer.error, 4))} in all but {of_100(question.probability)} cases."


def _worth_words(question: Question, answer: NoiseAnswer) -> str:
    """Say what all answers together are worth."""
    who = "It has" if answer.k == 1 else "All together have"
    epsilon = "no ε" if math.isinf(answer.epsilon) else f"ε at most {grouped(outward(answer.epsilon, 4))}"
    return (
        f"{who} {epsilon} at δ = {outward(question.delta, 6)} ({WORDS[answer.worth_kind]}); an attacker who wrongly accuses "
        f"{of_100(question.fpr)} people outside the data finds at most {of_100(answer.tpr)} inside it."
    )


def best(question: Question, results: tuple[NoiseAnswer, ...]) -> NoiseAnswer | None:
    """Return the best answer: the least error, the least epsilon, the most answers or the fewest records."""
    usable = [one for one in results if not one.trouble and not one.candidate.sampled]
    if question.unknown == NOISE and question.requirement is not None:
        usable = [one for one in usable if one.error is not None]
        return min(usable, key=lambda one: one.error or math.inf, default=None)
    if question.unknown in (NOISE, PRIVACY):
        return min(usable, key=lambda one: (one.epsilon, one.tpr), default=None)
    if question.unknown == COUNT:
        return max(usable, key=lambda one: one.k, default=None)
    return min(usable, key=lambda one: one.n, default=None)


def verdict(question: Question, results: tuple[NoiseAnswer, ...]) -> str:
    """Name the answer to prefer, and why."""
    usable = [one for one in results if not one.trouble and not one.candidate.sampled]
    top = best(question, results)
    sampled = next((one for one in results if one.candidate.sampled and not one.trouble), None)
    if sampled is not None:
        return f"{_verdict(question, top, usable)} On samples of {nearest(question.q)}, σ = {outward(sampled.value, 5)} is enough."
    return _verdict(question, top, usable)


def _verdict(question: Question, top: NoiseAnswer | None, usable: list[NoiseAnswer]) -> str:
    if top is None:
        return "No noise has an answer to this question."
    name = top.candidate.title
    if question.unknown == NOISE and question.requirement is not None:
        return (
            f"{name} has the smallest error: at most {grouped(outward(top.error or 0.0, 4))} in all but "
            f"{of_100(question.probability)} answers (exact, rounded up)."
        )
    if question.unknown in (NOISE, PRIVACY):
        epsilon = "no ε" if math.isinf(top.epsilon) else f"ε at most {outward(top.epsilon, 4)}"
        least = min(usable, key=lambda one: one.tpr)
        if of_100(least.tpr) == of_100(top.tpr):
            return f"{name} reveals the least: {epsilon} at δ = {outward(question.delta, 6)} ({WORDS[top.worth_kind]})."
        return (
            f"{name} has the least ε: {epsilon} at δ = {outward(question.delta, 6)} ({WORDS[top.worth_kind]}). An attacker who wrongly "
            f"accuses {of_100(question.fpr)} people finds fewest with {least.candidate.title}: at most {of_100(least.tpr)}, "
            f"against {of_100(top.tpr)}."
        )
    if question.unknown == COUNT:
        return f"{name} answers most often: {grouped(top.k)} times."
    return f"{name} needs the fewest records: {grouped(top.n)}."

r"""A test for one's own code: run a mechanism on two neighbouring datasets, and fail if the outputs contradict a claim.

The first half of the outputs trains a score, the second half is judged, so the score may be chosen by looking. The limits of
`dpcore.audit.confidence` hold for all thresholds of the score at once, with the confidence that is asked for: a mechanism
that keeps its promise fails with probability 1 - confidence at most, whatever the mechanism and the score. A mechanism that breaks
its promise fails if the outputs show it; a test that passes proves nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.audit.bounds import audit
from dpcore.audit.measurements import Scores
from dpcore.audit.statements import verdict
from dpcore.core.domains import CONFIDENCE, COUNT
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.parameter import value_text
from dpcore.language import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpcore.audit.statements import Verdict
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

TRIALS = COUNT.but(
    name="trials", low=100, high=1_000_000, meaning="runs on either dataset, half of them to train the score"
)
_BINS = 40  # of a score made of a single number: quantiles of all outputs
_DISTINCT = 64  # outputs with at most this many values are compared value by value
_EVERY = 256  # runs between two checkpoints


def assert_private(
    mechanism: Callable[[Any, Generator], Any],
    region: TradeOff | str,
    without: Any,
    within: Any,
    *,
    trials: int = 20_000,
    confidence: float = 0.999999,
    score: Callable[[Any], float] | None = None,
    seed: int = 0,
) -> Verdict:
    """Fail if a mechanism's outputs on two neighbouring datasets contradict a claimed region.

    A mechanism that keeps the claim fails with probability 1 - `confidence` at most, by default once in a million. If it takes all
    its randomness from the generator, the same seed gives the same answer: the test is never flaky.

    Parameters
    ----------
    mechanism : callable
        ``mechanism(data, generator)`` returns a number, an array of numbers, or anything that can be compared for equality.
    region : TradeOff or str
        What it promises: ``"laplace(1)"``, ``"dp(0.5, 1e-5)"``.
    without, within : object
        Two neighbouring datasets.
    trials : int, default 20000
        Runs on either dataset, from 100; half of them train the score.
    confidence : float, default 0.999999
        In [0.5, 0.999999].
    score : callable, optional
        From an output to a number, larger for `within`; by default it is learned from the first half of the outputs.
    seed : int, default 0
        Of the generator that the mechanism gets.

    Returns
    -------
    Verdict
        What was found, if nothing contradicts the claim.

    Raises
    ------
    AssertionError
        With the claim, the test that contradicts it and the confidence.

    Examples
    --------
    >>> def count(data, generator):
    ...     return sum(data) + generator.laplace(scale=1.0)
    >>> assert_private(count, "laplace(1)", [1, 0, 1], [1, 0, 1, 1], trials=2000).contradicted
    False
    """
    claim = parse(region) if isinstance(region, str) else region
    if not getattr(claim, "is_region", False):
        msg = f"region must be a region or its expression, such as 'dp(1)', got {value_text(region)}."
        raise DomainError(msg)
    count, sure = TRIALS.check(trials), CONFIDENCE.check(confidence)
    generator = np.random.default_rng(seed)
    out, own = (_outputs(mechanism, data, generator, count) for data in (without, within))
    half = count // 2
    rule = _learned(out[:half], own[:half]) if score is None else score
    scores = [np.array([float(rule(one)) for one in part[half:]], dtype=np.float64) for part in (out, own)]
    judgement = _telling(scores[0], scores[1], claim, sure)
    if judgement.contradicted:
        raise AssertionError(judgement.words)
    return judgement


def _outputs(mechanism: Callable[[Any, Generator], Any], data: Any, generator: Generator, count: int) -> list[Any]:
    outputs = []
    for run in range(count):
        if run % _EVERY == 0:
            checkpoint()
        outputs.append(mechanism(data, generator))
    return outputs


def _telling(outsiders: FloatArray, members: FloatArray, claim: TradeOff, confidence: float) -> Verdict:
    """Return the verdict about scores; those that are not numbers count as errors of the attacker."""
    missing = tuple(int(np.isnan(part).sum()) for part in (outsiders, members))
    numbers = [part[~np.isnan(part)] for part in (outsiders, members)]
    return verdict(audit(Scores(numbers[0], numbers[1], (missing[0], missing[1])), confidence), claim)


# ---- a score from outputs ------------------------------------------------------------------------------------


def _learned(out: list[Any], own: list[Any]) -> Callable[[Any], float]:
    """Return the score of an output: the logarithm of how much likelier it is with the person, from these outputs."""
    keys = [[_key(one) for one in part] for part in (out, own)]
    values = set(keys[0]) | set(keys[1])
    if len(values) <= _DISTINCT:
        weights = {value: _log_ratio(keys[0].count(value), keys[1].count(value)) for value in values}
        return lambda one: weights.get(_key(one), 0.0)
    try:
        numbers = [np.array([np.asarray(one, dtype=np.float64).ravel() for one in part]) for part in (out, own)]
    except (TypeError, ValueError):
        msg = "Outputs must be numbers, arrays of one length, or take few values; otherwise give a score."
        raise DomainError(msg) from None
    numbers = [np.where(np.isfinite(part), part, 0.0) for part in numbers]
    way = _direction(numbers[0], numbers[1])
    first, second = numbers[0] @ way, numbers[1] @ way
    edges = np.unique(np.quantile(np.concatenate((first, second)), np.linspace(0.0, 1.0, _BINS + 1)[1:-1]))
    counts = [np.bincount(np.searchsorted(edges, part), minlength=edges.size + 1) for part in (first, second)]
    weights_of = [_log_ratio(int(a), int(b)) for a, b in zip(*counts, strict=True)]

    def score(one: Any) -> float:
        place = np.asarray(one, dtype=np.float64).ravel()
        place = np.where(np.isfinite(place), place, 0.0)
        return weights_of[int(np.searchsorted(edges, float(place @ way)))]

    return score


def _log_ratio(out: int, own: int) -> float:
    """Return the logarithm of a ratio of counts; half an output is added to each, so that none is 0."""
    return float(np.log((own + 0.5) / (out + 0.5)))


def _direction(out: FloatArray, own: FloatArray) -> FloatArray:
    """Return the direction in which two clouds differ most, in units of their spread."""
    gap = own.mean(axis=0) - out.mean(axis=0)
    spread = 0.5 * (own.var(axis=0) + out.var(axis=0))
    way = np.where(spread > 0.0, gap / np.where(spread > 0.0, spread, 1.0), gap)
    return np.asarray(way if np.any(way) else np.ones(way.size), dtype=np.float64)


def _key(one: Any) -> Any:
    """Return an output as something that can be compared and counted."""
    if isinstance(one, np.ndarray):
        return one.tobytes()
    if isinstance(one, list):
        return tuple(one)
    return one

"""From an accuracy to the privacy parameter: how much noise keeps the error below a bound."""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.calibration.candidates import Candidate, offered
from dpcore.core.domains import POSITIVE, PRIOR
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.core.parameter import one_of
from dpcore.words import of_100, outward


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A parameter that keeps the error within `error` except with probability at most `probability`.

    `value` is the least epsilon, or the largest noise, that does so; `expression` is the mechanism with it.
    """

    mechanism: str
    parameter: str
    value: float
    error: float
    probability: float
    expression: str
    words: str


def epsilon_for_error(mechanism: str, error: float, probability: float = 0.05, *, sensitivity: float = 1.0) -> Accuracy:
    """Return the most private parameter whose error exceeds `error` with probability at most `probability`.

    Parameters
    ----------
    mechanism : str
        Name of a mechanism that adds noise, such as ``laplace`` or ``geometric`` (the result is epsilon), ``gaussian``
        (sigma) or ``uniform`` (halfwidth).
    error : float
        Bound on the absolute error of one answer, above 0; for integer noise from 0.
    probability : float, default 0.05
        How often the error may be larger, in (0, 1).
    sensitivity : float, default 1
        How far the answer moves between neighbours; an integer for integer noise.

    Returns
    -------
    Accuracy
        The parameter, the expression and a sentence.

    Examples
    --------
    >>> round(epsilon_for_error("laplace", 2.0, 0.05).value, 6)
    1.497866
    """
    kinds = {kind.entry.name: kind for kind in offered()}
    one_of("mechanism", kinds).check(mechanism)
    candidate = Candidate(kinds[mechanism], POSITIVE.but(name="sensitivity").check(sensitivity))
    if candidate.why_not:
        raise DomainError(candidate.why_not)
    t = POSITIVE.but(name="error", low_open=not candidate.integer).check(error)
    p = PRIOR.but(name="probability").check(probability)
    candidate, value = candidate.for_error(t, p)
    name = candidate.parameter
    words = (
        f"With {name} = {outward(value, 4, not candidate.is_noise)} an answer is off by at most {nearest(t)} "
        f"in all but {of_100(p)} cases."
    )
    return Accuracy(mechanism, name, value, t, p, candidate.written(numeral(value)), words)

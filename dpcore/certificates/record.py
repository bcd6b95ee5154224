"""Certificates of deltas, epsilons, false-negative rates and calibrated parameters."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb

from dpcore.calibration import calibrate
from dpcore.certificates.proof import Proof
from dpcore.core.domains import ALPHA, ANY_LOSS, DELTA, LOSS
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.notices import collected
from dpcore.language import parse
from dpcore_verify.claims import ALONE, FORMAT, LARGEST, digest, verify
from dpcore_verify.expression import Unproved
from dpcore_verify.work import limited

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpcore.regions.tradeoff import TradeOff

_ROUNDING = 1e-10
"""Relative error that the word exact allows; see `dpcore.core.kinds`."""
_SPACINGS = tuple(10.0**-n for n in range(3, 15))
"""Distances, in epsilon, between the three points tried for a false-negative rate."""
_CLOSE = 2e-13
"""Absolute width of deltas for a false-negative rate; the safe side of the published one is as close as its deltas."""
_TINY = 1e-290
"""A false-negative rate below this is proved by one delta far out, or not at all."""
_STEPS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
"""How far from a calibrated value to look for one that misses the target, relative."""


@dataclass(frozen=True)
class Certificate:
    """A claim with its proof, accepted by the checker."""

    document: dict[str, Any]
    """The content of the file."""
    claim: str
    """The claim in one line."""

    @property
    def digest(self) -> str:
        """SHA-256 of the content, by which a label or a report can cite it."""
        return str(self.document["digest"])

    def text(self) -> str:
        """Return the file: JSON, one line for each evaluation."""
        parts = []
        for key, value in self.document.items():
            if isinstance(value, list):
                rows = ",\n  ".join(json.dumps(row) for row in value)
                parts.append(f" {json.dumps(key)}: [\n  {rows}\n ]" if value else f" {json.dumps(key)}: []")
            else:
                parts.append(f" {json.dumps(key)}: {json.dumps(value)}")
        return "{\n" + ",\n".join(parts) + "\n}\n"


def certify(
    region: TradeOff | str, *, epsilon: float | None = None, delta: float | None = None, alpha: float | None = None
) -> Certificate:
    """Return a certificate of one number of a region: delta at an epsilon, epsilon at a delta, or beta at an alpha.

    Parameters
    ----------
    region : TradeOff or str
        A region or its expression.
    epsilon : float, optional
        Where delta is claimed.
    delta : float, optional
        Where epsilon is claimed.
    alpha : float, optional
        Where the smallest false-negative rate is claimed.

    Returns
    -------
    Certificate
        The bracket of the table with its proof. A number called exact is claimed to a relative error of 1e-10.

    Raises
    ------
    BudgetError
        If the checker cannot prove it; the message says why. The number itself is not affected.

    Examples
    --------
    >>> certify("dp(0.6, 0.05)^5", epsilon=1.8).claim
    '0.2868901117559197 <= delta(1.8) <= 0.2868901118132977 for dp(0.6, 0.05)^5'
    """
    values = {
        name: value for name, value in (("epsilon", epsilon), ("delta", delta), ("alpha", alpha)) if value is not None
    }
    if len(values) != 1:
        msg = f"A certificate is about one of epsilon, delta and alpha, got {len(values)} of them."
        raise DomainError(msg)
    if isinstance(region, str):
        with collected():
            region = parse(region)
    try:
        ALONE.acquire()
        with limited("The search for a proof asks"):  # the search for a proof may not compute more than a check
            Proof(str(region))  # what the checker does not know is rejected before anything is computed
            if epsilon is not None:
                return _delta(region, float(ANY_LOSS.check(epsilon)))
            if delta is not None:
                return _epsilon(region, float(DELTA.check(delta)))
            return _beta(region, float(ALPHA.check(alpha)))
    except Unproved as reason:
        raise refused(reason) from reason
    finally:
        ALONE.release()


def refused(reason: Unproved) -> BudgetError:
    """Return the error for a number without a certificate."""
    return BudgetError(f"No certificate: {reason}")


def certify_calibration(expression: str, *, epsilon: float, delta: float) -> Certificate:
    """Return a certificate of a calibrated parameter: its value meets delta(epsilon) <= delta, a less private one does not.

    Parameters
    ----------
    expression : str
        A region with one ?.
    epsilon, delta : float
        The target.

    Returns
    -------
    Certificate
        Both values with their proofs.

    Raises
    ------
    BudgetError
        If the checker cannot prove it.
    """
    epsilon, delta = float(LOSS.check(epsilon)), float(DELTA.check(delta))
    value = calibrate(expression, epsilon=epsilon, delta=delta)["value"].iloc[0]
    text = expression.replace("?", _written(value))
    proof = Proof(text)
    try:
        proof.between(epsilon, 0.0, delta, rough=True)
        claim = {
            "quantity": "parameter",
            "epsilon": _written(epsilon),
            "delta": _written(delta),
            "meets": _written(value),
        }
        misses = _miss(expression, value, epsilon, delta)
        others: list[dict[str, Any]] = []
        if misses is not None:
            other = Proof(expression.replace("?", misses))
            other.between(epsilon, math.nextafter(delta, 1.0), 1.0, rough=True)
            claim, others = {**claim, "misses": misses}, other.evaluations
        return _sealed(expression, claim, proof.evaluations, others)
    except Unproved as reason:
        raise refused(reason) from reason


def _miss(expression: str, value: float, epsilon: float, delta: float) -> str | None:
    """Return a value near the calibrated one that certainly misses the target, or None if none was found."""
    integer = isinstance(value, (int, np.integer))
    near = [int(value) + 1, int(value) - 1] if integer else [value * (1 + s * t) for t in _STEPS for s in (1, -1)]
    for candidate in near:
        try:
            with collected():
                (low,), _ = parse(expression.replace("?", _written(candidate))).delta_bounds([epsilon])
        except (BudgetError, DomainError):
            continue
        if low > delta:
            return _written(candidate)
    return None


def _written(value: float) -> str:
    """Return a number as the language and certificates write it; the claim is about the text, not the double."""
    return str(int(value)) if isinstance(value, (int, np.integer)) else repr(float(value))


def _sealed(
    expression: str,
    claim: dict[str, Any],
    evaluations: list[dict[str, Any]],
    others: list[dict[str, Any]] | None = None,
) -> Certificate:
    """Return the certificate if the checker accepts it."""
    document: dict[str, Any] = {"format": FORMAT, "expression": expression, "claim": claim, "evaluations": evaluations}
    if others is not None:
        document["others"] = others
    document["digest"] = digest(document)
    certificate = Certificate(document, verify(document))
    if len(certificate.text()) > LARGEST:
        msg = f"The certificate would have more than {LARGEST} bytes."
        raise Unproved(msg)
    return certificate


def _widened(lower: float, upper: float, exact: bool) -> tuple[float, float]:
    """Return the bracket that is claimed: the published one, or a number called exact with its rounding."""
    return (lower * (1 - _ROUNDING), upper * (1 + _ROUNDING)) if exact else (lower, upper)


def _delta(region: TradeOff, epsilon: float) -> Certificate:
    lower, upper = (float(side[0]) for side in region.delta_bounds([epsilon]))
    lower, upper = _widened(lower, upper, lower == upper)
    upper = min(upper, 1.0)
    proof = Proof(str(region))
    proof.between(epsilon, lower, upper)
    claim = {"quantity": "delta", "epsilon": _written(epsilon), "lower": _written(lower), "upper": _written(upper)}
    return _sealed(str(region), claim, proof.evaluations)


def _epsilon(region: TradeOff, delta: float) -> Certificate:
    lower, upper = (float(side[0]) for side in region.epsilon_bounds([delta]))
    lower, upper = _widened(lower, upper, lower == upper)
    proof = Proof(str(region))
    # enclosures of delta that are narrower than the range over the bracket of epsilon decide
    close = (
        max(0.1 * (upper - lower) * _steepness(region, upper, upper - lower), 1e-14) if math.isfinite(upper) else 1e-10
    )
    if math.isfinite(upper):
        proof.between(upper, 0.0, delta, rough=True, close=close)
    if 0.0 < lower < math.inf:
        proof.between(lower, math.nextafter(delta, 1.0), 1.0, rough=True, close=close)
    claim = {"quantity": "epsilon", "delta": _written(delta), "lower": _written(lower), "upper": _written(upper)}
    return _sealed(str(region), claim, proof.evaluations)


def _steepness(region: TradeOff, epsilon: float, width: float) -> float:
    """Return about how steeply log delta falls at an epsilon; 1 if that is unknown."""
    step = max(1e-3 * epsilon, 10.0 * width)
    try:
        with collected():
            first, second = (float(value) for value in region.delta_bounds([max(epsilon - step, 0.0), epsilon])[1])
    except BudgetError:
        return 1.0
    return math.log(first / second) / step if first > second > 0.0 < step else 1.0


def _beta(region: TradeOff, alpha: float) -> Certificate:
    lower, upper = (float(side[0]) for side in region.beta_bounds([alpha]))
    lower, upper = _widened(lower, upper, lower == upper)
    if not 0.0 < alpha < 1.0:
        msg = "The checker proves false-negative rates at alpha between 0 and 1."
        raise Unproved(msg)
    claim = {"quantity": "beta", "alpha": _written(alpha), "lower": _written(lower), "upper": _written(upper)}
    if lower <= 0.0 and upper < _TINY:
        proof, texts = Proof(str(region)), []
        if upper > 0.0:
            far = math.ceil(-math.log(upper))
            texts = [_written(far)]
            proof.between(float(far), 1.0 - alpha, 1.0, rough=True, close=1e-6)
        return _sealed(str(region), {**claim, "places": texts}, proof.evaluations)
    width = min(0.01 * (upper - lower), _CLOSE)
    reason = Unproved("No three places prove the false-negative rate.")
    centre = _best_place(region, alpha)
    for centre, spacing in _trials(str(region), alpha, centre, width):  # noqa: B020  it starts there
        try:
            proof, places = _three(str(region), centre, spacing, width)
            return _sealed(str(region), {**claim, "places": [_written(place) for place in places]}, proof.evaluations)
        except Unproved as error:
            reason = error
    raise reason


def _three(text: str, centre: float, spacing: float, width: float) -> tuple[Proof, list[float]]:
    """Return enclosures of delta at three points."""
    proof, places = Proof(text), [centre - spacing, centre, centre + spacing]
    for place in places:
        proof.between(place, 0.0, 1.0, width=width)
    return proof, places


def _trials(text: str, alpha: float, centre: float, width: float) -> Iterator[tuple[float, float]]:
    """Yield centres and spacings: first by a parabola through three gains, then by trial, as kinks require."""
    start, spacing = centre, 1e-2
    for _ in range(2):
        try:
            proof, places = _three(text, centre, spacing, width)
        except Unproved:
            break
        deltas = proof.deltas()
        x = [math.exp(place) for place in places]
        gains = [
            1.0 - float(sum(deltas.bounds(Fraction(repr(at))), arb(0)) / 2) - e * alpha
            for at, e in zip(places, x, strict=True)
        ]
        bend = (gains[0] - 2 * gains[1] + gains[2]) / spacing**2
        shift = (gains[0] - gains[2]) / (2 * spacing) / bend if bend < 0 else math.inf
        if not abs(shift) < 2 * spacing:
            break
        centre, spacing = centre + shift, 1e-3
        best = math.sqrt(40 * width / -bend)
        yield from ((centre, best * factor) for factor in (1.0, 0.5, 2.0, 0.25))
    yield from ((start, step) for step in _SPACINGS)


def _best_place(region: TradeOff, alpha: float) -> float:
    """Return roughly the epsilon of the largest gain 1 - delta(epsilon) - e^epsilon alpha, by ever finer grids."""
    low, high = -40.0, min(40.0, math.log(1 / alpha) + 1.0)
    grid = np.linspace(low, high, 161)
    for _ in range(14):
        gains = 1.0 - region.delta_bounds(grid)[1] - np.exp(grid) * alpha
        best = int(np.argmax(gains))
        grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)], 21)
    return float(grid[10])

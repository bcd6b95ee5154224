"""What a certificate claims, and whether its evaluations prove it.

An evaluation encloses delta of one part of the expression at one epsilon. Everything else follows: delta falls with epsilon, the
region takes the worse direction, epsilon at a delta needs delta at two places, and a false-negative rate needs it at three.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import arb, ctx

from dpcore_verify import contour, cut, halves, sums
from dpcore_verify.expression import Refuted, Unproved, ball, decimal, read
from dpcore_verify.regions import Composition, Erased, Sample, Worst, region
from dpcore_verify.work import limited

if TYPE_CHECKING:
    from dpcore_verify.regions import Region

    Place = Fraction | arb
    """An epsilon, exact or as a ball."""

FORMAT = "dpcore certificate 1"
LARGEST = 100_000
"""Bytes of a certificate."""
MOST_BITS = 20_000
MOST_EVALUATIONS = 40
SUMS = {"sum": sums.closed, "binomial": sums.binomial, "halves": halves.halves, "residues": sums.residues}
CONTOURS = {"line": contour.on_line, "lattice": contour.on_lattice, "cut": cut.on_cut}
ALONE = threading.RLock()
"""The precision belongs to the process: one thread at a time. (At another precision balls are wider, never wrong.)"""
DIRECTIONS = ("forward", "backward")
_LINE = ("line", "window", "above", "below")
_ODD = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True)
class Enclosure:
    """Delta of one composition in one direction at one epsilon."""

    epsilon: Fraction
    backward: bool
    low: arb
    high: arb


def verify(certificate: Any) -> str:
    """Return the claim in words if the certificate proves it.

    Parameters
    ----------
    certificate : Any
        As read from its JSON file.

    Returns
    -------
    str
        One sentence.

    Raises
    ------
    Unproved
        With the reason in one sentence.
    """
    if not isinstance(certificate, dict) or certificate.get("format") != FORMAT:
        msg = f"This is not a certificate: its format must be {FORMAT!r}."
        raise Unproved(msg)
    with ALONE:
        before = ctx.prec
        try:
            with limited():
                return _proved(certificate)
        except _ODD as error:
            msg = f"The certificate cannot be followed ({type(error).__name__}: {error})."
            raise Unproved(msg) from error
        finally:
            ctx.prec = before


def _proved(certificate: dict[str, Any]) -> str:
    """Return the claim in words; other errors than `Unproved` say that the document has an odd shape."""
    if certificate.get("digest") != digest(certificate):
        msg = "The certificate was changed: its digest is not that of its content."
        raise Unproved(msg)
    claim = certificate.get("claim")
    known = {"delta": _delta, "epsilon": _epsilon, "beta": _beta, "parameter": _parameter}
    if not isinstance(claim, dict) or claim.get("quantity") not in known:
        msg = f"A claim must be about {', '.join(known)}."
        raise Unproved(msg)
    return known[claim["quantity"]](certificate, claim)


def digest(certificate: dict[str, Any]) -> str:
    """Return the SHA-256 of the content, keys in order, without the digest itself."""
    content = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


# ---- evaluations ---------------------------------------------------------------------------------------------------


def enclose(composition: Composition, evaluation: dict[str, Any]) -> Enclosure:
    """Return delta of a composition as one evaluation says it, at the precision in force."""
    epsilon, method = decimal(evaluation["epsilon"]), evaluation["method"]
    backward = DIRECTIONS.index(evaluation["direction"]) == 1
    pair = composition.reversed() if backward else composition
    if method in SUMS:
        value = SUMS[method](pair, epsilon)
        return Enclosure(epsilon, backward, value.lower(), value.upper())
    if method not in CONTOURS:
        msg = f"A method must be one of {', '.join([*SUMS, *CONTOURS])}, got {method!r}."
        raise Unproved(msg)
    c, window, above, below = (decimal(evaluation[name]) for name in _LINE)
    nodes = evaluation["nodes"]
    if not isinstance(nodes, int) or nodes < 1 or c <= 0 or window <= 0:
        msg = "Line and window must be positive, and there must be nodes."
        raise Unproved(msg)
    result = CONTOURS[method](pair, epsilon, contour.Line(c, window, nodes, above, below))
    return Enclosure(epsilon, backward, result.low.lower(), result.high.upper())


class Deltas:
    """The evaluations of one expression, and the deltas of its region that follow."""

    def __init__(self, text: object, evaluations: object) -> None:
        tree = read(text)
        if not isinstance(evaluations, list) or len(evaluations) > MOST_EVALUATIONS:
            msg = f"The evaluations must be a list of at most {MOST_EVALUATIONS}."
            raise Unproved(msg)
        self.known: dict[int, list[Enclosure]] = {}
        most = 64
        for evaluation in evaluations:
            bits = evaluation["bits"]
            if not isinstance(bits, int) or not 53 <= bits <= MOST_BITS:
                msg = f"The precision must be 53 to {MOST_BITS} bits."
                raise Unproved(msg)
            ctx.prec = bits
            most = max(most, bits)
            leaves = compositions(region(tree))
            part = evaluation.get("part", 0)
            self.known.setdefault(part, []).append(enclose(leaves[part], evaluation))
        ctx.prec = most
        self.region = region(tree)
        self.leaves = compositions(self.region)

    def bounds(self, epsilon: Place) -> tuple[arb, arb]:
        """Return a lower and an upper bound of delta(epsilon)."""
        return self._bounds(self.region, epsilon)

    def limit(self, node: Region | None = None) -> arb:
        """Return a lower bound of delta at every epsilon: what is lost for certain."""
        node = self.region if node is None else node
        if isinstance(node, Composition):
            return _largest([node.lost.lower(), node.reversed().lost.lower()])
        if isinstance(node, Worst):
            return _largest([self.limit(part) for part in node.inner])
        return (1 - node.p if isinstance(node, Erased) else node.p) * self.limit(node.inner)

    def _bounds(self, node: Region, epsilon: Place) -> tuple[arb, arb]:
        if isinstance(node, Composition):
            return self._composed(node, epsilon)
        if isinstance(node, Worst):
            parts = [self._bounds(part, epsilon) for part in node.inner]
            return _largest([low for low, _ in parts]), _largest([high for _, high in parts])
        if not epsilon >= 0:  # both operations are stated for epsilon >= 0, and their regions are symmetric
            low, high = self._bounds(node, -epsilon)
            factor = (ball(epsilon) if isinstance(epsilon, Fraction) else epsilon).exp()
            return 1 - factor * (1 - low), 1 - factor * (1 - high)
        if isinstance(node, Erased):
            low, high = self._bounds(node.inner, epsilon)
            return (1 - node.p) * low, (1 - node.p) * high
        low, high = self._bounds(node.inner, inside(node, epsilon))
        return node.p * low, node.p * high

    def _composed(self, node: Composition, epsilon: Place) -> tuple[arb, arb]:
        """Use that delta falls: a value is a lower bound at every smaller epsilon, an upper one at every larger."""
        known = self.known.get(next(i for i, leaf in enumerate(self.leaves) if leaf is node), [])
        lows, highs = [], {False: [arb(1)], True: [arb(1)]}
        for row in known:
            if isinstance(epsilon, Fraction):
                right, left = row.epsilon >= epsilon, row.epsilon <= epsilon
            else:
                right, left = ball(row.epsilon) >= epsilon, ball(row.epsilon) <= epsilon
            if right:
                lows.append(row.low)
            if left:
                highs[row.backward].append(row.high)
        tops = [_least(highs[False]), _least(highs[True])] if node.orientation else [_least(highs[False] + highs[True])]
        lost = [node.lost, node.reversed().lost]
        return _largest([*lows, *(value.lower() for value in lost)]), _largest(tops)


def inside(node: Sample, epsilon: Place) -> arb:
    """Return the epsilon at which the delta of the sampled region is needed."""
    at = ball(epsilon) if isinstance(epsilon, Fraction) else epsilon
    return (at.expm1() / node.p).log1p()


def compositions(node: Region) -> list[Composition]:
    """Return the compositions of a region, in the order of the text."""
    if isinstance(node, Composition):
        return [node]
    if isinstance(node, Worst):
        return [leaf for part in node.inner for leaf in compositions(part)]
    return compositions(node.inner)


def _largest(values: list[arb]) -> arb:
    """Return the largest of several bounds, as an exact number or a ball around it."""
    result = values[0]
    for value in values[1:]:
        result = result.max(value)
    return result


def _least(values: list[arb]) -> arb:
    result = values[0]
    for value in values[1:]:
        result = result.min(value)
    return result


# ---- claims --------------------------------------------------------------------------------------------------------


def _require(holds: bool, what: str, bound: arb, claim: object) -> None:
    if not holds:
        msg = f"Not proved: {what} {bound.str(20, radius=False)}, and the claim is {claim}."
        raise Unproved(msg)


def _delta(certificate: dict[str, Any], claim: dict[str, Any]) -> str:
    deltas = Deltas(certificate["expression"], certificate["evaluations"])
    epsilon, lower, upper = (decimal(claim[name]) for name in ("epsilon", "lower", "upper"))
    _within(deltas.bounds(epsilon), lower, upper, "delta")
    return f"{claim['lower']} <= delta({claim['epsilon']}) <= {claim['upper']} for {certificate['expression']}"


def _probability(claim: dict[str, Any], name: str) -> Fraction:
    """Return a number of a claim that must be a probability: a claim about any other would mean nothing."""
    value = decimal(claim[name])
    if not 0 <= value <= 1:
        msg = f"The {name} of a claim must be between 0 and 1, got {claim[name]}."
        raise Unproved(msg)
    return value


def _within(found: tuple[arb, arb], lower: Fraction, upper: Fraction, name: str) -> None:
    """Require that a probability, enclosed by two bounds, lies in [lower, upper]."""
    low, high = found
    said = f"{name} is between {low.str(20, radius=False)} and {high.str(20, radius=False)}"
    if low > ball(upper) or high < ball(lower):
        msg = f"The claim is false: {said}."
        raise Refuted(msg)
    if not ((low >= ball(lower) or lower <= 0) and (high <= ball(upper) or upper >= 1)):
        msg = f"Not proved: {said}."
        raise Unproved(msg)


def _epsilon(certificate: dict[str, Any], claim: dict[str, Any]) -> str:
    deltas = Deltas(certificate["expression"], certificate["evaluations"])
    delta = _probability(claim, "delta")
    if claim["upper"] != "inf":
        if decimal(claim["upper"]) < 0:
            msg = "An epsilon at a delta is never below 0."
            raise Unproved(msg)
        _, high = deltas.bounds(decimal(claim["upper"]))
        _require(bool(high <= ball(delta)), f"at epsilon = {claim['upper']} delta is at most", high, claim["delta"])
    if claim["lower"] == "inf":
        lost = deltas.limit()
        _require(bool(lost > ball(delta)), "delta is never below", lost, claim["delta"])
    elif decimal(claim["lower"]) > 0:
        low, _ = deltas.bounds(decimal(claim["lower"]))
        _require(bool(low > ball(delta)), f"at epsilon = {claim['lower']} delta is at least", low, claim["delta"])
    return f"{claim['lower']} <= epsilon({claim['delta']}) <= {claim['upper']} for {certificate['expression']}"


def _beta(certificate: dict[str, Any], claim: dict[str, Any]) -> str:
    """Prove a false-negative rate: sup of the gains 1 - delta(e) - e^e alpha, which are concave in e^e."""
    deltas = Deltas(certificate["expression"], certificate["evaluations"])
    alpha, (lower, upper) = _probability(claim, "alpha"), (decimal(claim[name]) for name in ("lower", "upper"))
    places = [decimal(text) for text in claim["places"]]
    if len(places) < 2:
        ceiling = _tiny_beta(deltas, alpha, places)
        _within((arb(0), ceiling), lower, upper, "beta")
        return f"{claim['lower']} <= beta({claim['alpha']}) <= {claim['upper']} for {certificate['expression']}"
    if len(places) != 3 or not places[0] < places[1] < places[2]:
        msg = "A false-negative rate needs three ascending places."
        raise Unproved(msg)
    x = [ball(place).exp() for place in places]
    bounds = [deltas.bounds(place) for place in places]
    least = [1 - high - at * ball(alpha) for at, (_, high) in zip(x, bounds, strict=True)]
    most = [1 - low - at * ball(alpha) for at, (low, _) in zip(x, bounds, strict=True)]
    safe, ceiling = _largest([arb(0), *(value.lower() for value in least)]), arb(1)
    if least[1] >= most[0] and least[1] >= most[2]:  # the gain in the middle is the largest of the three
        right, left = (
            (most[1] - least[2]) * (x[1] - x[0]) / (x[2] - x[1]),
            (most[1] - least[0]) * (x[2] - x[1]) / (x[1] - x[0]),
        )
        ceiling = (most[1] + right.max(left)).max(arb(0)).upper()
    _within((safe, ceiling), lower, upper, "beta")
    return f"{claim['lower']} <= beta({claim['alpha']}) <= {claim['upper']} for {certificate['expression']}"


def _tiny_beta(deltas: Deltas, alpha: Fraction, places: list[Fraction]) -> arb:
    """Return a bound of a false-negative rate near 0: e^-e if delta(e) >= 1 - alpha, 0 if delta is so large everywhere."""
    if not places:
        return arb(0) if deltas.limit() >= 1 - ball(alpha) else arb(1)
    if places[0] < 0:
        msg = "The place of a false-negative rate near 0 must not be negative."
        raise Unproved(msg)
    low, _ = deltas.bounds(places[0])
    return (-ball(places[0])).exp().upper() if low >= 1 - ball(alpha) else arb(1)


def _parameter(certificate: dict[str, Any], claim: dict[str, Any]) -> str:
    """Prove that a value meets a target delta(E) <= D, and that another one does not."""
    epsilon, delta = decimal(claim["epsilon"]), _probability(claim, "delta")
    text = certificate["expression"]
    if not isinstance(text, str) or text.count("?") != 1:
        msg = "An expression with one ? is needed."
        raise Unproved(msg)
    decimal(claim["meets"])
    _, high = Deltas(text.replace("?", f" {claim['meets']} "), certificate["evaluations"]).bounds(epsilon)
    _require(bool(high <= ball(delta)), f"with {claim['meets']} delta is at most", high, claim["delta"])
    said = f"with ? = {claim['meets']} delta({claim['epsilon']}) <= {claim['delta']}"
    if claim.get("misses") is not None:
        decimal(claim["misses"])
        low, _ = Deltas(text.replace("?", f" {claim['misses']} "), certificate["others"]).bounds(epsilon)
        _require(bool(low > ball(delta)), f"with {claim['misses']} delta is at least", low, claim["delta"])
        said += f", with ? = {claim['misses']} it is larger"
    return f"{said}, for {text}"

"""The plan of a proof: which method encloses delta of a composition tightly enough, with which line, window and nodes.

A plan is found by trial. Nothing depends on how it was found: the checker proves or rejects what it says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, ctx

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest, numeral
from dpcore_verify import contour
from dpcore_verify.claims import compositions, enclose
from dpcore_verify.cut import Cut, divided
from dpcore_verify.expression import Refuted, Unproved, decimal
from dpcore_verify.laws import Atoms
from dpcore_verify.regions import region
from dpcore_verify.sampled import Sampled
from dpcore_verify.sums import laplace_steps, lattice, split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dpcore.curves.base import FloatArray
    from dpcore_verify.claims import Enclosure
    from dpcore_verify.expression import Node
    from dpcore_verify.laws import Law
    from dpcore_verify.regions import Composition

_BITS = (128, 320, 1200, 3000)  # of a sum; more only if the enclosure is too wide
_HALVES = (128, 320)
_FEW_STEPS, _MOST_STEPS = 150, 1000  # Laplace steps whose residues are summed before a line is tried, and after it
_MOST_NODES = 40_000
_IDLE, _DEAR = 0.9, 2000  # a line is dropped if more nodes do not narrow it; where they are cheap, the second time
_COARSE, _FINE = 60.0, 4000.0  # lattices before and after the halves are tried: their fineness
_MOST_DIGITS = 600.0  # nats by which the largest term of a sum may exceed the goal
_FACTORS = (0.15, 0.25, 0.4, 0.6, 0.8, 1.0, 1.4, 2.0, 3.0, 5.0, 9.0)  # lines tried, in units of the saddle point
_ABOVE = (
    0.02,
    0.04,
    0.07,
    0.12,
    0.2,
    0.3,
    0.5,
    1.0,
    2.0,
    3.0,
    5.0,
    8.0,
    12.0,
    20.0,
)  # places of Chernoff's bound right of the line, in units of 1 / spread
_BELOW = (0.0, 0.1, 0.3, 0.5, 0.7, 0.85)  # and left of it, in units of the line


@dataclass(frozen=True)
class CertificateQuestion:
    """Delta of one part of an expression at one epsilon, in one direction, to be enclosed in [lower, upper]."""

    tree: Node
    part: int
    epsilon: str
    backward: bool
    lower: float
    upper: float
    width: float = math.inf
    """How wide the enclosure may be in any case."""
    margin: float = 0.0
    """Relative error of the bounds themselves, where they were computed from those of a larger region."""

    def composition(self) -> Composition:
        """Return the part at the current precision, in its direction."""
        leaf = compositions(region(self.tree))[self.part]
        return leaf.reversed() if self.backward else leaf

    def evaluation(self, method: str, bits: int, **more: Any) -> dict[str, Any]:
        """Return an evaluation as written in the certificate."""
        direction = "backward" if self.backward else "forward"
        start = {"part": self.part} if self.part else {}
        return {**start, "epsilon": self.epsilon, "direction": direction, "method": method, "bits": bits, **more}

    def attempt(self, evaluation: dict[str, Any]) -> Enclosure:
        """Return what an evaluation encloses."""
        checkpoint()
        ctx.prec = evaluation["bits"]
        pair = self.composition()
        return enclose(pair.reversed() if self.backward else pair, evaluation)

    def settled(self, found: Enclosure) -> bool:
        """Whether an enclosure lies inside the bounds."""
        inside = bool(found.low >= self.lower or self.lower <= 0) and bool(found.high <= self.upper or self.upper >= 1)
        return inside and bool(found.high - found.low <= self.width)

    def refuted(self, found: Enclosure) -> bool:
        """Whether an enclosure shows that the bracket is wrong; a lower bound may be that of the other direction."""
        above = bool(found.low > self.upper * (1 + self.margin))
        return above or (bool(found.high < self.lower * (1 - self.margin)) and not self.composition().orientation)


def plan(question: CertificateQuestion) -> dict[str, Any]:
    """Return an evaluation that settles a question.

    Parameters
    ----------
    question : CertificateQuestion
        What to enclose, and how tightly.

    Returns
    -------
    dict
        An evaluation as written in a certificate.

    Raises
    ------
    Unproved
        If no method settles it; the message is that of the last method.
    """
    reason = Unproved("No method of the checker applies.")
    before, skipped, last, width, idle = ctx.prec, "", "", math.inf, 0
    try:
        for evaluation in _tries(question):
            line = str(evaluation.get("line", ""))
            if line and line == skipped:
                continue
            try:
                if question.settled(found := question.attempt(evaluation)):
                    return evaluation
                if question.refuted(found):  # raised at once: no other method changes it
                    msg = f"Refuted: delta({question.epsilon}) lies in {found.low.str(20)} to {found.high.str(20)}, not in [{question.lower!r}, {question.upper!r}]."
                    raise Refuted(msg)  # noqa: TRY301  it leaves the loop
                now = float(found.high - found.low)
                if line != last:
                    last, width, idle = line, math.inf, 0
                idle = idle + 1 if now > _IDLE * width else 0
                width = min(width, now)
                if line and idle >= (1 if evaluation["nodes"] > _DEAR else 2):
                    skipped = line
                reason = Unproved(
                    f"The checker finds delta({question.epsilon}) between {found.low.str(17, radius=False)} and "
                    f"{found.high.str(17, radius=False)}, which does not lie within [{question.lower!r}, {question.upper!r}]."
                )
            except Refuted:
                raise
            except Unproved as error:
                reason = error
    finally:
        ctx.prec = before
    raise reason


def _tries(question: CertificateQuestion) -> Iterator[dict[str, Any]]:
    """Yield evaluations, the quickest to check first."""
    ctx.prec = 64
    composition = question.composition()
    _, rest = split(composition)
    laplace = sum(k for _, k in laplace_steps(rest))
    if not rest:
        yield from (question.evaluation("binomial", bits) for bits in _BITS[:2])
    if not laplace:
        yield from (question.evaluation("sum", bits) for bits in _BITS[:3])
    elif laplace <= _FEW_STEPS:
        yield from (question.evaluation("residues", bits) for bits in _BITS if bits >= 3 * laplace)
    if not rest:
        fine = _fineness(composition)
        if fine <= _COARSE:
            yield from _lines(question, "lattice")
        yield from (question.evaluation("halves", bits) for bits in _HALVES)
        if _COARSE < fine <= _FINE:
            yield from _lines(question, "lattice")
    else:
        yield from _lines(question, "line", "cut") if _may_be_cut(composition) else _lines(question, "line")
        if _FEW_STEPS < laplace <= _MOST_STEPS:
            yield from (question.evaluation("residues", bits) for bits in _BITS if bits >= 3 * laplace)


def _may_be_cut(composition: Composition) -> bool:
    """Whether the method `cut` applies: sampled Gaussian noise, and finite laws beside it."""
    return all(isinstance(law, (Sampled, Atoms)) for law, _ in composition.parts)


def _fineness(composition: Composition) -> float:
    """Return roughly how many intervals a lattice needs: the widest law in lattice steps; inf without a lattice."""
    if not contour.is_lattice(composition):
        return math.inf
    atoms, _ = split(composition)
    step = lattice(atoms)[0]
    widest = max((max(law.keys) - min(law.keys) for law, _ in atoms if law.keys), default=Fraction(0))
    return float(widest / step) if step else math.inf


# ---- lines -----------------------------------------------------------------------------------------------------------


@dataclass
class _Shape:
    """log M of a composition on the real axis, cached."""

    composition: Composition
    known: dict[float, float] = field(default_factory=dict)

    def log(self, c: float) -> float:
        """Return log M(c)."""
        key = float(f"{c:.9g}")
        if key not in self.known:
            self.known[key] = sum(k * _log(law, key) for law, k in self.composition.parts)
        return self.known[key]

    @Lazy
    def core(self) -> float:
        """The spread near c = 0: without the rare far jumps of a small sample, which a line weights and no |phi| shows."""
        if not any(isinstance(law, Sampled) for law, _ in self.composition.parts):
            return math.inf
        return math.inf if self.cut else self.spread(1.0)

    @Lazy
    def cut(self) -> bool:
        """Whether its losses are cut."""
        return any(isinstance(law, Cut) for law, _ in self.composition.parts)

    def height(self, c: float, digits: float) -> float:
        """Return about where |M(c + iy)| / M(c) of a composition with cut losses has fallen by so many nats."""
        y = np.geomspace(0.3, 1e5, 60) / self.spread(c)
        logs = np.zeros(y.size)
        for law, k in self.composition.parts:
            losses, masses = _table(law, c)
            logs += k * np.log(np.abs(np.exp(1j * np.outer(y, losses)) @ masses) / masses.sum() + 1e-300)
        high = np.nonzero(logs >= -digits)[0]
        last = int(high[-1]) + 1 if high.size else 0
        return float(y[last]) if last < y.size else math.inf

    def spread(self, c: float) -> float:
        """Return the root of the second derivative."""
        h = 0.01 * c
        second = (self.log(c + h) - 2 * self.log(c) + self.log(c - h)) / (h * h)
        return math.sqrt(max(second, 1e-12))


def _log(law: Law, c: float) -> float:
    """Return log M(c), for a sampled Gaussian by a sum in doubles: a plan needs no proof."""
    if not isinstance(law, Sampled):
        return float(law.real(arb(c)).log())
    logs = _terms(law, c)[1]
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def _table(law: Law, c: float) -> tuple[FloatArray, FloatArray]:
    """Return losses and their masses in the law tilted to c, in doubles, up to a factor."""
    if isinstance(law, Sampled):
        losses, logs = _terms(law, c, 1500)
        return losses, np.exp(logs - logs.max())
    assert isinstance(law, Atoms)
    losses = np.array([float(loss) for loss in law.losses])
    logs = np.array([float(q.log()) for q in law.q]) + c * losses
    return losses, np.exp(logs - logs.max())


def _terms(law: Sampled, c: float, most: int = 20_000) -> tuple[FloatArray, FloatArray]:
    """Return losses of a sampled Gaussian at equal steps, and the logarithms of the terms of M(c)."""
    sigma, q, power = float(law.sigma), float(law.q), float(law.exponent(arb(c)))
    high = float(law.end) if isinstance(law, Cut) else 12 * sigma + max(power, 0.0)
    x, step = np.linspace(-12 * sigma, high, min(most, int((high / sigma + 12) * 50) + 2), retstep=True)
    ratio = np.logaddexp(math.log1p(-q), math.log(q) + (2 * x - 1) / (2 * sigma**2))
    logs = power * ratio - x * x / (2 * sigma**2) + math.log(float(step) / sigma / math.sqrt(2 * math.pi))
    return (ratio if law.forward else -ratio), logs


Candidate = tuple[float, float, float, float, float, float]
"""(nodes, line, window, above, below, nats of the largest term over the goal)."""


def _lines(question: CertificateQuestion, *methods: str) -> Iterator[dict[str, Any]]:
    """Yield sums over lines with more and more nodes, starting with the method that needs fewer."""
    ctx.prec = 64
    candidates = {method: _candidates(question, method) for method in methods}
    for method in sorted(candidates, key=lambda method: candidates[method][0][0]):
        yield from _on_lines(question, method, candidates[method])


def _candidates(question: CertificateQuestion, method: str) -> list[Candidate]:
    """Return the lines to try: the two that need the fewest nodes, then finer ones."""
    composition, epsilon, certain = question.composition(), float(question.epsilon), 0.0
    if method == "cut":
        composition, beyond = divided(composition, decimal(question.epsilon))
        certain = float(beyond)
    shape = _Shape(composition)
    size = max((question.upper if question.upper < 1 else question.lower or 1.0) - float(composition.lost), 1e-300)
    goal = max(0.02 * min(question.upper - question.lower, size, question.width), 1e-18 * size)
    size = max(size - certain, 1e-9 * size)  # what is left for the integral
    c0 = _saddle(lambda c: shape.log(c) - c * epsilon - math.log(c) - math.log1p(c), 2.0**24 if shape.cut else 2.0**12)

    def best(at: Iterable[float], goal: float) -> list[Candidate]:
        # more digits need more bits, and more points in a cut law
        return sorted((_candidate(shape, epsilon, c, goal) for c in at), key=lambda row: row[0] * (1 + row[5] / 20))

    first = best((c0 * factor for factor in _FACTORS), goal)[:2]
    places = [c for _, c, *_ in first]
    return [*first, *best(places, goal * 1e-3)[:1], *best(places, max(goal * 1e-6, 1e-20 * size))[:1]]


def _on_lines(question: CertificateQuestion, method: str, candidates: list[Candidate]) -> Iterator[dict[str, Any]]:
    """Yield sums over some lines with more and more nodes."""
    ctx.prec = 64
    composition = question.composition()
    sampled = any(isinstance(law, Sampled) for law, _ in composition.parts)
    step = float(_step(composition)) if method == "lattice" else 0.0
    for nodes, c, window, above, below, digits in candidates:
        if digits > _MOST_DIGITS:
            continue
        if not math.isfinite(nodes):
            msg = "The terms of a line of this product are beyond the largest doubles."
            raise Unproved(msg)
        bits = 80 + int(digits / math.log(2)) + int(math.log2(sum(k for _, k in composition.parts) + 1))
        written = str(math.ceil(window / step)) if step else _short(window)
        # nodes of a sampled Gaussian are expensive, and its bounds need more of them
        for more in (
            (1.1, 1.8, 3.0, 5.0, 9.0, 20.0) if sampled else (0.6, 0.8, 1.0, 1.3, 1.8, 2.6, 4.0, 8.0, 30.0, 120.0)
        ):
            count = max(8, int(nodes * more))
            if step:
                count = min(count, (int(written) - 1) // 2)
            if count > _MOST_NODES:
                break
            yield question.evaluation(
                method, bits, line=_short(c), window=written, nodes=count, above=_short(above), below=_short(below)
            )


def _step(composition: Composition) -> Fraction:
    return lattice(split(composition)[0])[0]


def _candidate(shape: _Shape, epsilon: float, c: float, goal: float) -> Candidate:
    """Return the window and the nodes for one line."""
    spread = shape.spread(c)
    height = shape.log(c) - c * epsilon - math.log(c) - math.log1p(c) - math.log(goal)
    digits = max(4.0, height)
    right = min((_window(shape, epsilon, c + t / spread, goal) / (t / spread), c + t / spread) for t in _ABOVE)
    left = min((_window(shape, epsilon, c * share, goal) / (c * (1 - share)), c * share) for share in _BELOW)
    window = max(right[0], left[0], 1e-9)
    last = shape.height(c, digits) if shape.cut else math.sqrt(2 * digits) / min(spread, shape.core) * 1.6
    nodes = last * window / (2 * math.pi)
    return nodes, c, window, right[1], left[1], digits


def _window(shape: _Shape, epsilon: float, place: float, goal: float) -> float:
    """Return how many nats the aliases must fall so that those on one side stay below the goal."""
    worst = place * math.log(place) - (place + 1) * math.log1p(place) if place > 0 else 0.0
    return max(1.0, worst + (shape.log(place) if place > 0 else 0.0) - place * epsilon - math.log(goal) + 1.0)


def _saddle(function: Callable[[float], float], most: float) -> float:
    """Return approximately where a function of c > 0, convex in log c near its minimum, is smallest."""
    at = 1.0
    while at < most and function(2 * at) < function(at):  # doubles up to the maximum
        at *= 2
    while at > 2.0**-16 and function(at / 2) < function(at):  # halves to 2^-16
        at /= 2
    low, high = math.log(at / 2), math.log(at * 2)
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(18):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        if function(math.exp(a)) < function(math.exp(b)):
            high = b
        else:
            low = a
    return math.exp((low + high) / 2)


def _short(value: float) -> str:
    """Return a few digits of a parameter, which need not be exact."""
    return numeral(float(nearest(value)))

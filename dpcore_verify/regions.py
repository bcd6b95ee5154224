"""From trees to laws: which pair of distributions each name of the language stands for.

A region is a composition of laws, or a simple function of one (erasure, a fixed-size sample, the worst of several).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb, ctx

from dpcore_verify.expression import Call, Number, Power, Product, Sequence, Text, Unproved, ball
from dpcore_verify.laws import Atoms, Laplace, Normal
from dpcore_verify.sampled import Sampled
from dpcore_verify.scope import require
from dpcore_verify.work import spend

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore_verify.expression import Node
    from dpcore_verify.laws import Law

_LARGEST_LIST = 10_000


@dataclass(frozen=True)
class Composition:
    """Independent laws, each with its number of copies; equal ones are joined."""

    parts: tuple[tuple[Law, int], ...]
    orientation: str = ""
    """'' if every law is symmetric, else what fixes the direction of all of them."""

    @property
    def lost(self) -> arb:
        """The mass at infinite loss."""
        kept = arb(1)
        for law, k in self.parts:
            if not law.lost.is_zero():
                kept *= (1 - law.lost) ** k
        return 1 - kept if not (kept - 1).is_zero() else arb(0)

    def reversed(self) -> Composition:
        """Return the exchanged pair."""
        return Composition(tuple((law.reversed(), k) for law, k in self.parts), self.orientation)

    def real(self, c: arb) -> arb:
        """Return M(c)."""
        value = arb(1)
        for law, k in self.parts:
            value *= law.real(c) ** k
        return value


@dataclass(frozen=True)
class Erased:
    """delta' = (1 - p) delta for epsilon >= 0."""

    inner: Region
    p: arb


@dataclass(frozen=True)
class Sample:
    """A fixed-size sample: delta'(e) = p delta(log(1 + (e^e - 1) / p)) for epsilon >= 0."""

    inner: Region
    p: arb


@dataclass(frozen=True)
class Worst:
    """The envelope of several regions: the largest delta."""

    inner: tuple[Region, ...]


Region = Composition | Erased | Sample | Worst


def region(tree: Node) -> Region:
    """Return the region of a tree, at the precision in force; raise `Unproved` with the reason if it is not known."""
    require(tree)
    if isinstance(tree, Call):
        if tree.name == "union":
            return Worst(tuple(region(part) for part in tree.arguments))
        if tree.name == "erase":
            inner, p = tree.given("region p")
            return Erased(region(inner), _share(p, "p"))
        if tree.name == "subsample":
            inner, p = tree.given("region p")
            return Sample(region(inner), _positive(p, "p", most=1))
        if tree.name == "symmetric":
            return region(tree.given("region")[0])
        if tree.name == "assume":
            return region(_assumed(tree))
    laws: list[tuple[str, Law, int, str]] = []
    _collect(tree, 1, laws)
    counts: dict[str, tuple[Law, int]] = {}
    for name, law, k, _ in laws:
        counts[name] = (law, k + counts[name][1] if name in counts else k)
    labels = {label for _, _, _, label in laws if label}
    if len(labels) > 1:
        msg = "This checker does not compose pairs of different orientation."
        raise Unproved(msg)
    return Composition(_joined(list(counts.values())), labels.pop() if labels else "")


def _joined(parts: list[tuple[Law, int]]) -> tuple[tuple[Law, int], ...]:
    """Join the Gaussian factors to one: mu^2 add."""
    square, gaussian, rest = arb(0), False, []
    for law, k in parts:
        if isinstance(law, Normal):
            square, gaussian = square + k * law.square, True
        else:
            rest.append((law, k))
    return (*rest, (Normal(square), 1)) if gaussian else tuple(rest)


def _collect(tree: Node, k: int, laws: list[tuple[str, Law, int, str]]) -> None:
    """Add the laws of a product to a list of (key, law, copies, orientation)."""
    if isinstance(tree, Power):
        _collect(tree.base, k * tree.k, laws)
    elif isinstance(tree, Product):
        for part in tree.parts:
            _collect(part, k, laws)
    elif isinstance(tree, Call) and tree.name in {"laplace_vector", "histogram"}:
        laws += [(f"laplace {key}", law, k, "") for key, law in _coordinates(tree)]
    elif isinstance(tree, Call) and tree.name == "assume":
        _collect(_assumed(tree), k, laws)
    elif isinstance(tree, Call) and tree.name in _NAMES:
        law, label = _NAMES[tree.name](tree)
        name = f"laplace {law.key}" if isinstance(law, Laplace) and law.key is not None else repr(tree)
        laws.append((name, law, k, label))
    else:
        msg = "This checker does not know what is composed here."
        raise Unproved(msg)


# ---- names -------------------------------------------------------------------------------------------------------


def _number(node: Node) -> arb:
    if not isinstance(node, Number) or node.infinite:
        msg = "This checker takes finite numbers only."
        raise Unproved(msg)
    value = node.ball()
    if not value >= 0:
        msg = "Numbers must not be negative."
        raise Unproved(msg)
    return value


def _positive(node: Node, name: str, most: int | None = None) -> arb:
    value = _number(node)
    if not value > 0 or not (most is None or value <= most):
        msg = f"{name} must be above 0{'' if most is None else f' and at most {most}'}."
        raise Unproved(msg)
    return value


def _share(node: Node, name: str) -> arb:
    value = _number(node)
    if not value <= 1:
        msg = f"{name} must be at most 1."
        raise Unproved(msg)
    return value


def _integer(node: Node, name: str, least: int) -> int:
    value = _fraction(node, name)
    if value.denominator != 1 or value < least:
        msg = f"{name} must be an integer from {least}."
        raise Unproved(msg)
    return int(value)


def _assumed(call: Call) -> Node:
    """Return the region whose relation is said: the pair is the same."""
    inner, relation = call.given("region relation")
    if not isinstance(relation, Text) or relation.text not in {"any", "substitution", "add/remove"}:
        msg = "assume takes a region and one of any, substitution, add/remove."
        raise Unproved(msg)
    return inner


def _exact(node: Node) -> Fraction | None:
    return node.exact if isinstance(node, Number) else None


def _fraction(node: Node, name: str) -> Fraction:
    value = _exact(node)
    if value is None:
        msg = f"{name} must be a decimal or a fraction here."
        raise Unproved(msg)
    return value


def _numbers(node: Node) -> list[Node]:
    if not isinstance(node, Sequence) or len(node.items) > _LARGEST_LIST:
        msg = f"A list of at most {_LARGEST_LIST} numbers was expected."
        raise Unproved(msg)
    return list(node.items)


def three(epsilon: Node, delta: arb, middle: arb) -> Atoms:
    """Return losses +-epsilon, a share `middle` of the finite mass at 0, and delta at infinity."""
    e, key = _number(epsilon), _exact(epsilon)
    finite = 1 - delta
    if key == 0:
        return Atoms((arb(0),), (finite,), (finite,), delta, delta, (Fraction(0),), symmetric=True)
    high = finite * (1 - middle) / (1 + (-e).exp())
    low = high * (-e).exp()
    if middle.is_zero():
        keys = None if key is None else (-key, key)
        return Atoms((-e, e), (high, low), (low, high), delta, delta, keys, symmetric=True)
    keys3 = None if key is None else (-key, Fraction(0), key)
    centre = finite * middle
    return Atoms((-e, arb(0), e), (high, centre, low), (low, centre, high), delta, delta, keys3, symmetric=True)


def _dp(call: Call) -> Atoms:
    epsilon, delta = call.given("epsilon delta", Number(Fraction(0)))
    return three(epsilon, _share(delta, "delta"), arb(0))


def _tv(call: Call) -> Atoms:
    return three(Number(Fraction(0)), _share(call.given("eta")[0], "eta"), arb(0))


def _dptv(call: Call) -> Atoms:
    epsilon, delta, eta = call.given("epsilon delta eta")
    d, t = _share(delta, "delta"), _share(eta, "eta")
    if _fraction(epsilon, "epsilon") == 0 or _fraction(eta, "eta") < _fraction(delta, "delta"):
        least = min(_fraction(eta, "eta"), _fraction(delta, "delta"))
        return three(Number(Fraction(0)), Number(least).ball(), arb(0))
    half = (_number(epsilon) / 2).tanh()
    share = 1 - (t - d) / ((1 - d) * half)  # of the finite mass at 0: the total variation is d + (1-d)(1-share) tanh
    if share > 0:
        return three(epsilon, d, share)
    if share < 0:
        return three(epsilon, d, arb(0))
    msg = "This checker cannot decide whether eta changes anything."
    raise Unproved(msg)


def _uniform(call: Call) -> Atoms:
    halfwidth, move = call.given("halfwidth sensitivity", Number(Fraction(1)))
    _positive(move, "sensitivity")
    _positive(halfwidth, "halfwidth")
    eta = min(Fraction(1), _fraction(move, "sensitivity") / (2 * _fraction(halfwidth, "halfwidth")))
    return three(Number(Fraction(0)), Number(eta).ball(), arb(0))


def _rr(call: Call) -> Atoms:
    epsilon, size = call.given("epsilon size", Number(Fraction(2)))
    m, e = _integer(size, "size", 2), _number(epsilon)
    total = 1 + (m - 1) * (-e).exp()
    return three(epsilon, arb(0), (m - 2) * (-e).exp() / total if m > 2 else arb(0))


def _staircase(call: Call) -> Atoms:
    epsilon, gamma = call.given("epsilon gamma")
    _share(gamma, "gamma")
    e, width = _positive(epsilon, "epsilon"), _fraction(gamma, "gamma") or Fraction(1)
    b, g = (-e).exp(), Number(width).ball()
    top = 2 * g * (1 - b) + b if width < Fraction(1, 2) else arb(1)
    eta = (1 - b) * top / (2 * (g + b * (1 - g)))
    share = 1 - eta / (e / 2).tanh()
    return three(epsilon, arb(0), share if share > 0 or width != Fraction(1, 2) else arb(0))


def _geometric(call: Call) -> Atoms:
    epsilon, steps_ = call.given("epsilon sensitivity", Number(Fraction(1)))
    steps = _integer(steps_, "sensitivity", 1)
    if steps == 1:
        return three(epsilon, arb(0), arb(0))
    if steps > _LARGEST_LIST:
        msg = f"This checker takes sensitivities up to {_LARGEST_LIST}."
        raise Unproved(msg)
    e, key = _number(epsilon), _exact(epsilon)
    r = (-e / steps).exp()
    inner = [(1 - r) / (1 + r) * (-e * (steps - x) / steps).exp() for x in range(1, steps)]
    q = ((-e).exp() / (1 + r), *inner, 1 / (1 + r))
    places = [Fraction(2 * x - steps, steps) for x in range(steps + 1)]
    losses = tuple(e * (2 * x - steps) / steps for x in range(steps + 1))
    keys = None if key is None else tuple(key * place for place in places)
    return Atoms(losses, q[::-1], q, arb(0), arb(0), keys, symmetric=True)


def _discrete_laplace(call: Call) -> Atoms:
    scale, steps = call.given("scale sensitivity", Number(Fraction(1)))
    _positive(scale, "scale")
    epsilon = _fraction(steps, "sensitivity") / _fraction(scale, "scale")
    return _geometric(Call("geometric", (Number(epsilon), steps)))


def _discrete(call: Call) -> Atoms:
    """Return discrete Gaussian noise: P0 around 0, P1 around the sensitivity, on the integers.

    The masses beyond some integer are not listed. They are a ball [0, t] at infinite loss, which encloses delta from both sides.
    """
    sigma_, steps_ = call.given("sigma sensitivity", Number(Fraction(1)))
    _positive(sigma_, "sigma")
    sigma, steps = _fraction(sigma_, "sigma"), _integer(steps_, "sensitivity", 1)
    square = sigma * sigma
    far = int(float(sigma) * math.sqrt(2 * math.log(2) * (ctx.prec + 20))) + steps + 1
    if far > _LARGEST_LIST:
        msg = f"This checker lists at most {_LARGEST_LIST} integers of discrete noise."
        raise Unproved(msg)
    spend(20.0 * far)
    weights = {x: ball(-(x * x) / (2 * square)).exp() for x in range(far + steps + 2)}
    ratio = ball(-(2 * Fraction(far) + 1) / (2 * square)).exp()
    rest = weights[far] * ratio / (1 - ratio)  # neighbours beyond `far` fall at least by this ratio
    total = weights[0] + 2 * sum((weights[x] for x in range(1, far + 1)), arb(0)) + 2 * arb(0).union(rest.upper())
    places = range(steps - far, far + 1)  # within `far` of both centres
    p = tuple(weights[abs(x)] / total for x in places)
    keys = tuple((2 * steps * x - steps * steps) / (2 * square) for x in places)
    # mass of either law outside: its own far tail, and what lies beyond the other one's
    tail = (sum((weights[x] for x in range(far - steps + 1, far + 1)), arb(0)) + 2 * rest.upper()) / total
    lost = arb(0).union(tail.upper())
    return Atoms(tuple(ball(key) for key in keys), p, p[::-1], lost, lost, keys, symmetric=True)


def _pmf(call: Call) -> Atoms:
    first, second = (_masses(node, name) for node, name in zip(call.given("p q"), "pq", strict=True))
    losses, p, q, p_lost, q_lost = [], [], [], arb(0), arb(0)
    for a, b in zip(first, second, strict=True):
        if a and b:
            losses.append(ball(b / a).log())
            p.append(ball(a))
            q.append(ball(b))
        else:
            p_lost, q_lost = p_lost + ball(a), q_lost + ball(b)
    return Atoms(tuple(losses), tuple(p), tuple(q), p_lost, q_lost)


def _masses(node: Node, name: str) -> list[Fraction]:
    """Return a distribution; what its decimals leave of 1 is shared out, as long as it is below 1e-9."""
    masses = [_fraction(item, name) for item in _numbers(node)]
    total = sum(masses, Fraction(0))
    if not abs(total - 1) <= Fraction(1, 10**9):
        msg = f"{name} must add up to 1."
        raise Unproved(msg)
    return [mass / total for mass in masses]


def _poisson(call: Call) -> tuple[Law, str]:
    inner, share = call.given("region q")
    laws: list[tuple[str, Law, int, str]] = []
    _collect(inner, 1, laws)
    _, law, k, label = laws[0]
    q = _positive(share, "q", most=1)
    if len(laws) > 1 or k > 1 or label not in {"", "add/remove"}:
        msg = "This checker samples single mechanisms only."
        raise Unproved(msg)
    if isinstance(law, Normal):
        return Sampled(1 / law.square.sqrt(), q), "add/remove"
    if not isinstance(law, Atoms):
        msg = "This checker samples Gaussian noise and finite laws only."
        raise Unproved(msg)
    losses = tuple((1 - q + q * loss.exp()).log() for loss in law.losses)
    mixed = tuple((1 - q) * a + q * b for a, b in zip(law.p, law.q, strict=True))
    # what P1 alone shows is shown with probability q; what P0 alone shows becomes a finite loss log(1 - q)
    if not law.p_lost.is_zero():
        return Atoms(
            (*losses, (1 - q).log()), (*law.p, law.p_lost), (*mixed, (1 - q) * law.p_lost), arb(0), q * law.lost
        ), "add/remove"
    return Atoms(losses, law.p, mixed, arb(0), q * law.lost), "add/remove"


def _laplace(call: Call) -> Laplace:
    if dict(call.named).keys() & {"scale"}:
        scale, move = call.given("scale sensitivity", Number(Fraction(1)))
        _positive(move, "sensitivity")
        _positive(scale, "scale")
        key = _fraction(move, "sensitivity") / _fraction(scale, "scale")
        return Laplace(Number(key).ball(), key)
    (epsilon,) = call.given("epsilon")
    return Laplace(_number(epsilon), _exact(epsilon))


def _coordinates(call: Call) -> list[tuple[Fraction, Laplace]]:
    if call.name == "histogram":
        keys = [_fraction(call.given("epsilon")[0], "epsilon") / 2] * 2
    else:
        scale, shifts = call.given("scale shifts")
        _positive(scale, "scale")
        keys = [_fraction(shift, "shift") / _fraction(scale, "scale") for shift in _numbers(shifts)]
    return [(key, Laplace(Number(key).ball(), key)) for key in keys if key]


def _gaussian(call: Call) -> Normal:
    sigma, move = call.given("sigma sensitivity", Number(Fraction(1)))
    return Normal((_positive(move, "sensitivity") / _positive(sigma, "sigma")) ** 2)


def _gdp(call: Call) -> Normal:
    return Normal(_number(call.given("mu")[0]) ** 2)


def _classic(call: Call) -> Normal:
    epsilon, delta = call.given("epsilon delta")
    return Normal(_number(epsilon) ** 2 / (2 * (ball(Fraction(5, 4)) / _positive(delta, "delta", most=1)).log()))


def _sampled(call: Call) -> tuple[Law, str]:
    sigma_, q = call.given("sigma q")
    sigma, share = _positive(sigma_, "sigma"), _fraction(q, "q")
    if share == 0:
        return three(Number(Fraction(0)), arb(0), arb(0)), ""
    return (Sampled(sigma, _share(q, "q")), "add/remove") if share != 1 else (Normal(1 / sigma**2), "")


def _plain(make: Callable[[Call], Law]) -> Callable[[Call], tuple[Law, str]]:
    return lambda call: (make(call), "")


_NAMES: dict[str, Callable[[Call], tuple[Law, str]]] = {
    "dp": _plain(_dp),
    "tv": _plain(_tv),
    "dptv": _plain(_dptv),
    "uniform": _plain(_uniform),
    "rr": _plain(_rr),
    "staircase": _plain(_staircase),
    "geometric": _plain(_geometric),
    "laplace": _plain(_laplace),
    "gaussian": _plain(_gaussian),
    "gdp": _plain(_gdp),
    "gaussian_classic": _plain(_classic),
    "discrete_gaussian": _plain(_discrete),
    "discrete_laplace": _plain(_discrete_laplace),
    "pmf": lambda call: (_pmf(call), "pair"),
    "poisson": _poisson,
    "poisson_gaussian": _sampled,
}

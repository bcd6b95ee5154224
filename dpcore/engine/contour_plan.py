r"""Certified trapezoidal sums along one vertical line of the complex plane.

With step tau and W = 2 pi / tau, Poisson summation turns the sum over all nodes c + i n tau into
sum_m e^{c m W} F(eps + m W), F one of the kernels D, I, N (all non-negative): the sum is never below F(eps), and
the excess is bounded by F(x) <= kappa(c') M(c') e^{-c' x} for every c' in the closed interval of the kernel, with
kappa(c') = b^b/(1+b)^{1+b} for b = c' > 0 or b = -1-c' > 0, and kappa = 1 between -1 and 0. Nodes beyond T are
bounded by the decay of abs(M).

Where abs(M) does not decay (atoms in the loss) one Gaussian part of mean s is added: M_s(z) = e^{s^2 (z^2+z)/2}. A
product is never more private than a part of it, so this only raises delta, by E_1[psi(eps-L)] with
psi(u) = delta_{G_s}(u) - (1-e^u)_+. With Mills' ratio R and v = abs(u)/s,
psi(u) e^{-u/2} = phi(v) e^{-s^2/8} (R(v-s/2) - R(v+s/2)), and R is convex, so the bracket is largest at v = 0:

    psi(u) <= (2 Phi(s/2) - 1) e^{u/2} e^{-u^2/(2 s^2)}, with equality at u = 0.

The transform of the right side is B M_s(z) with B = (2 Phi(s/2) - 1) s sqrt(2 pi) e^{s^2/8}: the same nodes with
the kernel 1/(z(z+1)) - B give a lower bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpcore.engine.contour_product import ComplexArray, FloatArray, TransformProduct

_ONE_SIDE = np.array([0.06, 0.15, 0.25, 0.4, 0.6, 1.0, 1.6])
SPREAD = np.concatenate((np.zeros(1), _ONE_SIDE, -_ONE_SIDE))
"""Candidates for the exponent c' of the excess bound, in multiples of the best one of a Gaussian, c itself first; the small
ones serve losses far from normal, whose M explodes soon beyond c."""

_FINE, _SPARE = 1e-10, 0.05
"""With a coarser accuracy the omitted nodes may use only this share of it: the kernel may be smaller than estimated."""

_FLAT = 40.0
"""Multiple of the accuracy that the omitted nodes of a line without atoms may use."""

_SHORTEST, _LONGEST = 1.04, 6.0
"""Factors between the heights at which the decay is evaluated."""


def bump_weight(s: float) -> float:
    """Return B, the weight of the correction of a Gaussian part of mean s."""
    return math.erf(s / math.sqrt(8)) * s * math.sqrt(2 * math.pi) * math.exp(s * s / 8)


def _images(log_ratio: float, decay: float) -> float:
    """Return the sum over m >= 1 of e^{log_ratio - m decay}."""
    return math.exp(log_ratio - decay) / -math.expm1(-decay) if log_ratio - decay < 700 else math.inf


@dataclass(slots=True)
class Bucket:
    """Neighbouring values of epsilon, `low` to `high`, that share one line Re s = c.

    `log_bound` is log(kappa(c) M(c)). `others` serve the excess bound with another exponent c': a row of c' - c, and one of
    the logarithm of kappa(c') M(c') / M(c) e^{-(c'-c) eps} at its largest. `size` estimates
    kernel(eps) / (M(c) e^{-c eps}) and `relative` how much larger delta is than the kernel.
    `plan` holds an accuracy with its period and excess, see `windows`. `lines` holds the levels of refinement so far.
    """

    kind: int
    c: float
    log_m: float
    log_bound: float
    low: float
    high: float
    curvature: float
    others: tuple[FloatArray, FloatArray]
    relative: float = 1.0
    plan: tuple[float, float, float] = (0.0, 0.0, 0.0)
    lines: list[Line] = field(default_factory=list)

    @property
    def size(self) -> float:
        """Return the saddle point estimate of the kernel over M(c) e^{-c eps}."""
        return 1 / (abs(self.c * (self.c + 1)) * math.sqrt(2 * math.pi * self.curvature))

    @property
    def density(self) -> float:
        """Return the same estimate for the density of the loss at eps, the kernel 1 in place of 1/(s(s+1))."""
        return 1 / math.sqrt(2 * math.pi * self.variance)

    @property
    def variance(self) -> float:
        """Return an estimate of the variance of the loss tilted by c: the curvature without that of the poles."""
        poles = 1 / self.c**2 + 1 / (self.c + 1) ** 2
        return max(self.curvature - poles, 0.02 * self.curvature)

    def window(self, s: float, target: float) -> tuple[float, float]:
        """Return a period W whose relative excess is about `target`, and a certified bound of that excess."""
        log_target = math.log(target)
        sides: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
        widths = [math.inf, math.inf]
        for apart, ratio in zip(*(row.tolist() for row in self.others), strict=True):
            side = apart > 0
            log_ratio = ratio + 0.5 * s * s * apart * (apart + 2 * self.c + 1)
            if not math.isfinite(log_ratio) or apart == 0:
                continue
            gap = abs(apart)
            sides[side].append((gap, log_ratio))
            need = log_ratio - log_target
            need = need if need > 30 else math.log1p(math.exp(need))
            widths[side] = min(widths[side], max(need, 1e-3) / gap)
        period = max(widths)
        if not math.isfinite(period):
            return period, math.inf
        excess = sum(min(_images(ratio, gap * period) for gap, ratio in side) for side in sides)
        return period, 1.01 * excess


def windows(apart: FloatArray, ratio: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return `Bucket.window` without smoothing for many buckets: a row of exponents, larger ones first, for each."""
    gap = np.abs(apart)
    half = apart.shape[1] // 2
    with np.errstate(all="ignore"):
        usable = np.isfinite(ratio) & (gap > 0)
        need = np.maximum(np.logaddexp(0.0, ratio - np.log(target)[:, None]), 1e-3)
        width = np.where(usable, need / gap, np.inf)
        period = np.maximum(width[:, :half].min(axis=1), width[:, half:].min(axis=1))
        decay = gap * period[:, None]
        images = np.where(usable, np.exp(ratio - decay) / -np.expm1(-decay), np.inf)
    return period, 1.01 * (images[:, :half].min(axis=1) + images[:, half:].min(axis=1))


@dataclass(slots=True)
class Line:
    """Equally spaced nodes on Re s = c: enough to bracket the kernel at every epsilon of a bucket.

    `cut` and `excess` bound the omitted nodes and the periodic images, both relative to e^{log_scale - c eps}. The sums of atoms alone
    are not in the terms of a line `without_atoms`.
    `terms` (a matrix, row by row), their `sizes` and `errors` (in units of the last place) and the sums of these belong to
    a line without smoothing; the terms of a smoothed one (kernel and correction) come in `chunks`, by their first node.
    """

    c: float
    reference: float
    step: float
    count: int
    smoothing: float
    log_scale: float
    cut: float
    excess: float
    without_atoms: bool = False
    terms: ComplexArray | None = None
    sizes: FloatArray | None = None
    errors: FloatArray | None = None
    weights: tuple[float, float, float] = (0.0, 0.0, 0.0)
    chunks: dict[int, tuple[ComplexArray, FloatArray]] = field(default_factory=dict)


def plain_line(
    product: TransformProduct, bucket: Bucket, accuracy: float, cap: int, *, without_atoms: bool = False
) -> Line | None:
    """Return nodes without smoothing that reach the relative accuracy, or None if `cap` nodes are too few.

    Without atoms the omitted nodes fall by a power of the height alone, and may use more than the images, whose bound falls fast.
    """
    log_decay = product.log_decay_without_atoms if without_atoms else product.log_decay
    target = accuracy * bucket.size
    most = _FLAT * target if without_atoms else target if accuracy < _FINE else _SPARE * target
    period, excess = bucket.plan[1:] if accuracy == bucket.plan[0] else bucket.window(0.0, target)
    if not math.isfinite(period):
        return None
    step = 2 * math.pi / period
    y = math.sqrt(2 * -math.log(min(accuracy, 0.1)) / bucket.curvature)
    # a normal law would need as much; a little more saves another trial
    likely = 1.02 * math.sqrt(2 * max(0.0, -math.log(most * math.pi * y)) / bucket.variance)
    y = max(y, min(likely, cap * step))
    before = (0.0, 0.0)
    while y <= min(cap * step, product.tallest):  # y grows by `_SHORTEST` at least: about 300 rounds at most
        decay = -log_decay(bucket.c, y)
        cut = math.exp(-decay) / (math.pi * y)
        if cut <= most:
            count = max(8, math.ceil(y / step) + 2)
            middle = 0.5 * (bucket.low + bucket.high)
            return Line(bucket.c, middle, step, count, 0.0, bucket.log_m, 1.01 * cut, excess, without_atoms)
        if without_atoms and decay > 0:
            y *= min(
                _LONGEST, max(_SHORTEST, 1.02 * math.sqrt(cut / most))
            )  # both the bound and the kernel fall like 1/y
            continue
        target_decay = -math.log(most * math.pi * y)
        before, y = (y, decay), y * _stride(before, (y, decay), target_decay)
    return None


def _stride(before: tuple[float, float], now: tuple[float, float], target: float) -> float:
    """Return the factor by which to go up until the decay reaches the target, by a power law through two points.

    Near the axis the decay is a square; a normal law keeps to that, atoms make it level off.
    """
    power = 2.0
    if 0 < before[1] < now[1]:
        power = min(2.0, max(0.5, math.log(now[1] / before[1]) / math.log(now[0] / before[0])))
    growth = (target / max(now[1], 1e-3 * target)) ** (1 / power)
    return float(min(_LONGEST, max(_SHORTEST, 1.03 * growth)))


def fading_line(product: TransformProduct, bucket: Bucket, s: float, accuracy: float, cap: int) -> Line | None:
    """Return the nodes up to where a product of lattice laws has faded, a Gaussian part of mean `s` far beyond them.

    Such a product revives near common periods of its parts, so its decay is bounded cell by cell (`decay_between`) up to
    where the Gaussian part has faded; a cell holds at most its length over the step, plus one, nodes. None where the
    parts give no such bound, or where it is not enough.
    """
    if not product.has_cells:
        return None
    target = accuracy * bucket.size
    period, excess = bucket.window(s, target)
    if not math.isfinite(period):
        return None
    step, bump = 2 * math.pi / period, bump_weight(s)
    # beyond the end the Gaussian part alone is below a hundredth of the target
    end = math.sqrt(2 * max(1.0, math.log((1 + bump / s**2) / (0.01 * target)))) / s
    ends = product.cells(min(1.0 / math.sqrt(bucket.variance), 0.1 * end), end)
    if ends is None:
        return None
    begin, length = ends[:-1], ends[1:] - ends[:-1]
    log_size = product.decay_between(bucket.c, ends) - 0.5 * (s * begin) ** 2
    weight = (length + step) * (1 / begin**2 + bump) / math.pi * np.exp(np.maximum(log_size, -745.0))
    behind = np.cumsum(weight[::-1])[::-1] + 0.01 * target
    enough = int(np.argmax(behind <= target))
    count = max(8, math.ceil(begin[enough] / step) + 2)
    if behind[enough] > target or count > cap:
        return None
    log_scale = bucket.log_m + 0.5 * s * s * bucket.c * (bucket.c + 1)
    cut = 1.01 * float(behind[enough])
    return Line(bucket.c, 0.5 * (bucket.low + bucket.high), step, count, s, log_scale, cut, excess)


def smooth_line(product: TransformProduct, bucket: Bucket, s: float, accuracy: float, cap: int) -> Line | None:
    """Return nodes with a Gaussian part of mean `s`, or of the smallest larger mean that `cap` nodes can afford."""
    target = accuracy * bucket.size
    period, excess = bucket.window(s, target)
    if not math.isfinite(period):
        return None
    step = 2 * math.pi / period
    decay, y = 0.0, 1 / s
    for _ in range(3):
        target_decay = max(1.0, decay - math.log(target * math.pi * y / 2))
        y = math.sqrt(2 * target_decay) / s
        decay = product.log_decay(bucket.c, y)
    count = max(8, math.ceil(y / step) + 2)
    if count > cap:
        s *= count / cap
        count = cap
        period, excess = bucket.window(s, target)
        step = 2 * math.pi / period
    y = (count - 1) * step
    decay = product.log_decay(bucket.c, y) - 0.5 * (s * y) ** 2
    cut = math.exp(decay) / (math.pi * y) * (1 + bump_weight(s) / (s * s))
    log_scale = bucket.log_m + 0.5 * s * s * bucket.c * (bucket.c + 1)
    return Line(bucket.c, 0.5 * (bucket.low + bucket.high), step, count, s, log_scale, 1.01 * cut, excess)

"""The evaluations of one expression: which deltas of its parts are needed, and a plan for each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flint import ctx

from dpcore.certificates.plan import CertificateQuestion, plan
from dpcore_verify.claims import Deltas
from dpcore_verify.expression import Unproved, read
from dpcore_verify.regions import Composition, Erased, Worst, region

if TYPE_CHECKING:
    from dpcore_verify.regions import Region

_MARGIN = 4e-16  # a few roundings of doubles
_LARGE = 40.0  # from here on e^epsilon - 1 and e^epsilon are the same double
_TINY = 1e-300  # a delta of 0 is proved or not, whatever the width
_NEAR = 1e-15  # of an epsilon inside a sample, which is not a decimal


class Proof:
    """Collects the evaluations that prove brackets of delta."""

    def __init__(self, text: str) -> None:
        before = ctx.prec
        try:
            ctx.prec = 96
            self.text, self.tree = text, read(text)
            self.region = region(self.tree)
        finally:
            ctx.prec = before
        self.evaluations: list[dict[str, Any]] = []

    def between(
        self,
        epsilon: float,
        lower: float,
        upper: float,
        *,
        rough: bool = False,
        close: float = 1e-13,
        width: float = math.inf,
    ) -> None:
        """Add evaluations that prove lower <= delta(epsilon) <= upper.

        Parameters
        ----------
        epsilon : float
            Any real number.
        lower, upper : float
            The bracket; 0 and 1 ask for nothing on that side.
        rough : bool, default False
            Whether only one side is wanted: the enclosure is then as narrow as `close` says.
        close : float, default 1e-13
            Relative width of such an enclosure.
        width : float, optional
            How wide the enclosure may be in any case.
        """
        side = upper if upper < 1.0 else lower
        if rough and side > _TINY:
            width = close * side
        self._part(self.region, (epsilon, epsilon), (lower, upper, width), [0])

    def _part(
        self, node: Region, epsilon: tuple[float, float], wanted: tuple[float, float, float], at: list[int]
    ) -> None:
        """Add evaluations for one part; `at` counts the compositions so far, `epsilon` is a bracket of a place."""
        lower, upper, width = wanted
        if isinstance(node, Composition):
            self._composed(node, epsilon, wanted, at[0])
            at[0] += 1
        elif isinstance(node, Worst):
            self._worst(node, epsilon, wanted, at)
        elif min(epsilon) < 0 and lower <= 0 and upper >= 1:  # delta(-e) = 1 - e^-e (1 - delta(e))
            self._part(node, (-epsilon[0], -epsilon[1]), wanted, at)
        elif min(epsilon) < 0:
            msg = "Below epsilon = 0 only deltas of compositions can be proved."
            raise Unproved(msg)
        elif isinstance(node, Erased):
            keep = 1.0 - float(node.p)
            self._part(
                node.inner, epsilon, (_up(lower / keep), _down(upper / keep) if upper < 1 else 1.0, width / keep), at
            )
        else:
            share = float(node.p)
            inner = _inside(epsilon[0], share)
            places = (inner * (1 - _NEAR), inner * (1 + _NEAR)) if inner else (0.0, 0.0)
            self._part(
                node.inner, places, (_up(lower / share), _down(upper / share) if upper < 1 else 1.0, width / share), at
            )

    def _worst(
        self, node: Worst, epsilon: tuple[float, float], wanted: tuple[float, float, float], at: list[int]
    ) -> None:
        """Prove the upper bound for every part, and the lower one for a part that has it."""
        lower, upper, width = wanted
        proved = lower <= 0
        for part in node.inner:
            start, here = len(self.evaluations), at[0]
            if not proved:
                try:
                    self._part(part, epsilon, wanted, at)
                    proved = True
                    continue
                except Unproved:
                    del self.evaluations[start:]
                    at[0] = here
            self._part(part, epsilon, (0.0, upper, width if lower <= 0 else math.inf), at)
        if not proved:
            msg = "No part of the union reaches the lower bound."
            raise Unproved(msg)

    def _composed(
        self, node: Composition, epsilon: tuple[float, float], wanted: tuple[float, float, float], part: int
    ) -> None:
        lower, upper, width = wanted
        if epsilon[0] != epsilon[1]:  # the upper bound from the left end, the lower one from the right
            self._composed(node, (epsilon[0], epsilon[0]), (0.0, upper, min(width, 0.1 * (upper - lower))), part)
            if lower > 0:
                self._composed(node, (epsilon[1], epsilon[1]), (lower, 1.0, min(width, 0.1 * (upper - lower))), part)
            return
        place = repr(float(epsilon[0]))

        def add(backward: bool, low: float) -> None:
            high = upper if node.orientation == "" or upper < 1.0 or low > 0 else 1.0
            # the better direction only has to stay below the upper bound
            narrow = width if low > 0 or (lower <= 0 and not (backward and upper < 1.0)) else math.inf
            margin = 0.0 if node is self.region else 4 * _MARGIN
            question = CertificateQuestion(self.tree, part, place, backward, low, high, narrow, margin)
            self.evaluations.append(plan(question))

        if not node.orientation:
            add(False, lower)
            return
        try:
            add(False, lower)
        except Unproved:
            if lower <= 0:
                raise
            add(True, lower)
            if upper < 1.0:
                add(False, 0.0)
            return
        if upper < 1.0 or lower <= 0:
            add(True, 0.0)

    def deltas(self) -> Deltas:
        """Return what the evaluations prove."""
        return Deltas(self.text, self.evaluations)


def _inside(epsilon: float, share: float) -> float:
    """Return log(1 + (e^epsilon - 1) / share), even where e^epsilon exceeds all doubles."""
    if epsilon < _LARGE:
        return math.log1p(math.expm1(epsilon) / share)
    return epsilon + math.log1p(-(1 - share) * math.exp(-epsilon)) - math.log(share)


def _up(value: float) -> float:
    return value * (1 + _MARGIN) if value > 0 else 0.0


def _down(value: float) -> float:
    """Return slightly less; return 1, which asks for nothing, if rounding left 1."""
    return value * (1 - _MARGIN) if value < 1 - 2 * _MARGIN else 1.0

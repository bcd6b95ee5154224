"""Evidence: the printed number, the true one, and whether they contradict each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import pandas as pd

from dpcore.core.errors import DomainError
from dpcore.core.parameter import one_of

EQUAL, AT_MOST, AT_LEAST, BESIDE = "=", "at most", "at least", "beside"
SAYS: Final = (EQUAL, AT_MOST, AT_LEAST, BESIDE)
KINDS: Final = ("exact", "upper", "lower", "approximate", "simulation")
MARGIN = 1e-9


@dataclass(frozen=True, slots=True)
class PrintedClaim:
    """What a statement gives, and the true number.

    Parameters
    ----------
    setting : str
        What is computed, with its parameters.
    stated : float
        The number that is printed, or follows from what is printed in this setting.
    true : float
        The true number.
    says : str, default "="
        What the source claims about the true number: that it is equal to the stated one, at most, or at least; ``beside``
        claims nothing and puts two numbers side by side.
    kind : str, default "exact"
        What `true` is. A bound refutes on its own side only: a lower bound above "at most", an upper bound below "at least".
    """

    setting: str
    stated: float
    true: float
    says: str = EQUAL
    kind: str = "exact"

    def __post_init__(self) -> None:
        """Reject unknown relations and kinds, and values that are not numbers."""
        one_of("says", SAYS).check(self.says)
        one_of("kind", KINDS).check(self.kind)
        if math.isnan(self.stated) or math.isnan(self.true):
            msg = f"A claim needs two numbers, got {self.stated!r} and {self.true!r}."
            raise DomainError(msg)

    @property
    def refuted(self) -> bool:
        """Whether the two numbers contradict what was printed, by more than rounding."""
        if self.says == BESIDE or self.stated == self.true:
            return False
        margin = MARGIN * max(abs(self.true), min(abs(self.stated), 1e300))
        above, below = self.true > self.stated + margin, self.true < self.stated - margin
        if self.kind == "upper":  # the true number is at most this
            return below and self.says != AT_MOST
        if self.kind == "lower":
            return above and self.says != AT_LEAST
        return (above and self.says != AT_LEAST) or (below and self.says != AT_MOST)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence: a sentence with the numbers, and the numbers.

    Parameters
    ----------
    text : str
        The sentence.
    claims : tuple of PrintedClaim
        The numbers.
    """

    text: str
    claims: tuple[PrintedClaim, ...]

    @classmethod
    def of(cls, text: str, *claims: PrintedClaim) -> Evidence:
        """Return a sentence and its numbers together."""
        return cls(text, claims)

    @property
    def frame(self) -> pd.DataFrame:
        """The claims as a table: setting, stated, says, true, kind, refuted."""
        rows = [(c.setting, c.stated, c.says, c.true, c.kind, c.refuted) for c in self.claims]
        return pd.DataFrame(rows, columns=["setting", "stated", "says", "true", "kind", "refuted"])

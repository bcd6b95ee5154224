"""What evidence is made of: numbers of a printed statement beside the true ones, and whether they contradict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import pandas as pd

from dpcore.errors import DomainError

EQUAL, AT_MOST, AT_LEAST, BESIDE = "=", "at most", "at least", "beside"
SAYS: Final = (EQUAL, AT_MOST, AT_LEAST, BESIDE)
KINDS: Final = ("exact", "upper", "lower", "approximate", "simulation")
MARGIN = 1e-9


@dataclass(frozen=True, slots=True)
class Claim:
    """One printed number beside the true one.

    `says` is what the source claims about the true number: that it is equal to the printed one, at most, or at least;
    ``beside`` claims nothing and puts two numbers side by side. `kind` says what the true number is; a lower bound that
    exceeds a printed upper bound refutes it just as well as an exact number does.
    """

    setting: str
    printed: float
    true: float
    says: str = EQUAL
    kind: str = "exact"

    def __post_init__(self) -> None:
        """Refuse what no reader could make sense of."""
        if self.says not in SAYS or self.kind not in KINDS:
            msg = f"says must be one of {', '.join(SAYS)} and kind one of {', '.join(KINDS)}, got {self.says!r}, {self.kind!r}."
            raise DomainError(msg)
        if math.isnan(self.printed) or math.isnan(self.true):
            msg = f"A claim needs two numbers, got {self.printed!r} and {self.true!r}."
            raise DomainError(msg)

    @property
    def refuted(self) -> bool:
        """Whether the two numbers contradict what was printed, by more than rounding."""
        if self.says == BESIDE:
            return False
        if self.printed == self.true:
            return False
        margin = MARGIN * max(abs(self.true), min(abs(self.printed), 1e300))
        if self.says == AT_MOST:
            return self.true > self.printed + margin
        if self.says == AT_LEAST:
            return self.true < self.printed - margin
        return math.isinf(self.printed) or abs(self.true - self.printed) > margin


@dataclass(frozen=True, slots=True)
class Found:
    """Evidence: a sentence with the numbers, and the numbers."""

    text: str
    claims: tuple[Claim, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """The claims as a table: setting, printed, says, true, kind, refuted."""
        rows = [(c.setting, c.printed, c.says, c.true, c.kind, c.refuted) for c in self.claims]
        return pd.DataFrame(rows, columns=["setting", "printed", "says", "true", "kind", "refuted"])


def found(text: str, *claims: Claim) -> Found:
    """Put a sentence and its numbers together."""
    return Found(text, claims)

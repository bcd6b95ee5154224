"""The record of one deployment: who publishes what, how much privacy it promises to whom, and how it is made.

Three tiers, after the OpenDP registry but in our own words and names: what it is; what it promises; how it is done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from dpcore.core.domains import DELTA, LOSS, POSITIVE
from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.core.parameter import one_of
from dpcore.core.registry import value_text
from dpcore.files.paths import link
from dpcore.language.numbers import read_value

if TYPE_CHECKING:
    from dpcore.core.parameter import Parameter
    from dpcore.regions.tradeoff import TradeOff

TIERS: Final = {
    1: {
        "name": "what the deployment is called",
        "curator": "who is responsible for it",
        "product": "what is published",
        "use": "what it is for",
        "published": "since when, as a date or a year",
        "sources": "addresses of public statements",
    },
    2: {
        "flavor": "pure, approximate, zcdp, gdp or rdp",
        "epsilon": "ε as published",
        "delta": "δ as published",
        "rho": "ρ of concentrated privacy as published",
        "mu": "μ of Gaussian privacy as published",
        "unit": "what one unit of protection is",
        "period": "the time after which the promise starts again",
        "model": "central, local or shuffle",
    },
    3: {
        "mechanism": "the noise, as an expression of dpcore or in words",
        "neighbours": "add/remove, substitution or any",
        "unprotected": "what is published without noise",
        "accounting": "how losses are added up",
        "implementation": "the code and its generator of noise",
        "note": "anything else",
    },
}
"""The fields of a record by tier, each with its meaning."""

FIELDS: Final = tuple(name for fields in TIERS.values() for name in fields)
"""The fields of a record, in order."""
NUMBERS: Final[dict[str, Parameter]] = {
    "epsilon": LOSS.but(name="epsilon"),
    "delta": DELTA.but(name="delta"),
    "rho": POSITIVE.but(name="rho"),
    "mu": POSITIVE.but(name="mu"),
}
FLAVORS: Final = ("pure", "approximate", "zcdp", "gdp", "rdp")
MODELS: Final = ("central", "local", "shuffle")
REQUIRED: Final = ("name", "curator", "product", "sources")
LONGEST: Final = 2000


@dataclass(frozen=True)
class Stated:
    """A number as published: its text shows to how many digits.

    Attributes
    ----------
    text : str
        As written.
    value : float
        The number.
    """

    text: str
    value: float

    @property
    def ends(self) -> tuple[float, float]:
        """The range of numbers that round to it at its last digit."""
        exact = Decimal(self.text.strip().lower())
        exponent = exact.as_tuple().exponent
        half = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0) / 2
        return max(0.0, float(exact - half)), float(exact + half)


@dataclass(frozen=True)
class Deployment:
    """One deployment.

    Attributes
    ----------
    texts : mapping of str to str
        The text fields.
    numbers : mapping of str to Stated
        ε, δ, ρ and μ as published.
    sources : tuple of str
        Addresses.
    line : int, default 0
        The line where its record starts, for messages.
    """

    texts: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, Stated] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    line: int = 0

    def __post_init__(self) -> None:
        """Check every field."""
        for name in REQUIRED:
            if not (self.sources if name == "sources" else self.texts.get(name, "").strip()):
                msg = f"{name} is missing: {TIERS[1][name]}."
                raise DomainError(msg)
        for name, text in self.texts.items():
            if name not in FIELDS or name in NUMBERS or len(text) > LONGEST:
                msg = f"{name} must be a text of at most {LONGEST} characters, got {value_text(text)}."
                raise DomainError(msg)
        for name, allowed in (("flavor", FLAVORS), ("model", MODELS)):
            if name in self.texts:
                one_of(name, allowed).check(self.texts[name])
        for address in self.sources:
            link(address, ("http", "https"), relative=False)

    @property
    def name(self) -> str:
        """Its name."""
        return self.texts["name"]

    def number(self, name: str) -> float | None:
        """Return a published number; None if there is none."""
        stated = self.numbers.get(name)
        return None if stated is None else stated.value

    @property
    def region(self) -> TradeOff | None:
        """The promise of the record as a region, from its strongest statement; None if it states no numbers.

        ρ takes precedence over μ, and both over (ε, δ), which usually follows from them.
        """
        from dpcore.language import parse  # noqa: PLC0415  # the language needs every mechanism

        rho, mu, epsilon = (self.number(name) for name in ("rho", "mu", "epsilon"))
        if mu is not None:
            return parse(f"gdp({numeral(mu)})")
        if rho is not None:
            return parse(f"zcdp({numeral(rho)})")
        if epsilon is not None:
            return parse(f"dp({numeral(epsilon)}, {numeral(self.number('delta') or 0.0)})")
        return None


def stated(name: str, text: str) -> Stated:
    """Return a number from a record; the error names what is allowed."""
    value = float(read_value(NUMBERS[name], text))
    return Stated(text.strip(), value)


def tier(deployment: Deployment) -> int:
    """Return the highest tier whose facts the record has.

    Parameters
    ----------
    deployment : Deployment
        The record.

    Returns
    -------
    int
        1: what it is; 2: also its flavor, its numbers, its unit and its model; 3: also mechanism, neighbours and accounting.
    """
    has = {*deployment.texts, *deployment.numbers}
    second = {"flavor", "unit", "model"} <= has and bool(deployment.numbers)
    third = second and {"mechanism", "neighbours", "accounting"} <= has
    return 3 if third else 2 if second else 1

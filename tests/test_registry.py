"""Every entry of the registry is complete, and its oracles hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

from dpcore import DomainError, TradeOff, parse
from dpcore.core import registry
from dpcore.core.registry import Entry, Oracle, Parameter
from dpcore.language.grammar import FUNCTIONS

ENTRIES = registry.entries()
NAMES = {
    "dp", "tv", "dptv", "gdp", "rdp", "zcdp", "points", "pmf", "union", "laplace", "laplace_vector", "histogram",
    "gaussian", "gaussian_classic", "gaussian_analytic", "rr", "geometric", "staircase", "uniform", "bounded_laplace",
    "exponential", "subsample", "poisson", "fixed_size", "poisson_gaussian", "erase", "group", "symmetric", "basic", "assume", "laplace_sum",
    "best_of", "integer_vector", "leakage", "normal_laplace", "shuffle", "simplified", "tradeoff",
}  # fmt: skip


def test_the_language_has_every_name_of_its_contract() -> None:
    """A mechanism may be added as a file; every other name is listed here."""
    assert {entry.name for entry in ENTRIES} >= NAMES
    assert {entry.name for entry in ENTRIES if entry.group != "mechanism"} <= NAMES


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.name)
def test_entries_are_complete(entry: Entry) -> None:
    for text in (entry.title, entry.symbol, entry.formula, entry.meaning, entry.reference, entry.assumptions):
        assert text.strip()
    assert entry.group in {"guarantee", "mechanism", "operation"}
    assert entry.kind in {"exact", "upper"}
    assert entry.neighbours in registry.RELATIONS
    assert entry.oracles
    assert entry.parameters
    for parameter in entry.parameters:
        assert parameter.meaning, (entry.name, parameter.name)
        assert parameter.example is not None or parameter.kind in {"region", "regions", "text"}


def argument(value: Any) -> Any:
    """Return an oracle's argument: regions and texts are written as expressions."""
    if isinstance(value, str):
        return value.strip('"') if value.startswith('"') else parse(value)
    return value


def measured(region: TradeOff, oracle: Oracle) -> float:
    """Return the measure an oracle speaks of."""
    return float({"delta": region.delta, "beta": region.beta, "epsilon": region.epsilon}[oracle.measure](oracle.at))


@pytest.mark.parametrize(
    ("entry", "oracle"), [pytest.param(e, o, id=f"{e.name}-{i}") for e in ENTRIES for i, o in enumerate(e.oracles)]
)
def test_oracles_hold(entry: Entry, oracle: Oracle) -> None:
    region = entry.build(*(argument(a) for a in oracle.arguments))
    assert measured(region, oracle) == pytest.approx(oracle.value, abs=oracle.tolerance)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.name)
def test_canonical_text_survives_parsing(entry: Entry) -> None:
    region = entry.build(*(argument(a) for a in entry.oracles[0].arguments))
    assert parse(str(region)) == region
    assert str(parse(str(region))) == str(region)


@pytest.mark.parametrize("bad", [math.nan, -1.0, "x", True, 1j, None, [], math.inf])
def test_numbers_outside_their_domain_are_named(bad: object) -> None:
    parameter = Parameter("sensitivity", low=0.0, low_open=True)
    with pytest.raises(DomainError, match=r"sensitivity must be a number in \(0, inf\)"):
        parameter.check(bad)


def test_calls_are_checked_in_words() -> None:
    dp = registry.lookup("dp")
    for call, words in [
        (dp.build, "needs epsilon"),
        (lambda: dp.build(1, 0, 3), "at most 2"),
        (lambda: dp.build(1, epsilon=2), "twice"),
        (lambda: dp.build(1, detla=2), "Did you mean delta"),
        (lambda: registry.lookup("laplac"), "did you mean laplace"),
        (lambda: registry.lookup("union").build(), "at least one"),
    ]:
        with pytest.raises(DomainError, match=words):
            call()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *[(word, f"not be log or sqrt or inf; got '{word}'") for word in (*FUNCTIONS, "inf")],
        ("Sech noise", "lower-case letters"),
        ("laplace", r"The name 'laplace' is taken by dpcore\.mechanisms\.laplace"),
    ],
)
def test_a_name_that_means_something_else_is_refused(name: str, words: str) -> None:
    entry = registry.lookup("laplace")
    facts = {"title": "t", "group": "mechanism", "symbol": "t", "formula": "t", "meaning": "t", "reference": "t"}

    @dataclass
    class Stranger:
        epsilon_: float = registry.EPSILON.field()

    with pytest.raises(DomainError, match=words):
        registry.register(name, **facts)(Stranger)
    assert registry.lookup("laplace") is entry


def test_the_matrix_of_cliffs_has_every_operation_on_one_region() -> None:
    from tests.benchmarks.cliffs import OPERATIONS

    unary = {entry.name for entry in ENTRIES if [p.kind for p in entry.parameters].count("region") == 1}
    assert unary == {text.partition("(")[0] for text in OPERATIONS} - {"{}"}

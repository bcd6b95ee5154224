"""Certificates that try to have a false claim accepted, and those that would never end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from dpcore_verify import Unproved, verify, work
from dpcore_verify.__main__ import main as check
from dpcore_verify.claims import FORMAT, LARGEST, digest
from dpcore_verify.expression import Refuted, read

if TYPE_CHECKING:
    from pathlib import Path


def evaluation(epsilon: str, method: str = "sum", bits: int = 100, direction: str = "forward", **more: Any) -> Any:
    return {"epsilon": epsilon, "direction": direction, "method": method, "bits": bits, **more}


def at(epsilon: str, upper: str, lower: str = "0") -> dict[str, Any]:
    return {"quantity": "delta", "epsilon": epsilon, "lower": lower, "upper": upper}


def sealed(expression: str, claim: Any, evaluations: Any, **more: Any) -> dict[str, Any]:
    document = {"format": FORMAT, "expression": expression, "claim": claim, "evaluations": evaluations, **more}
    return {**document, "digest": digest(document)}


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("dp(5, epsilon=0.1)", "dp takes epsilon, delta"),
        ("dp(epsilon=5, epsilon=0.1)", "twice"),
        ("union(dp(0.1), region=dp(5))", "without names"),
        ("union()", "without names"),
        ("geometric(1, 1.9)", "integer from 1"),
        ("discrete_gaussian(1, 1.9)", "integer from 1"),
        ("discrete_laplace(1, 1.9)", "integer from 1"),
        ("rr(1, 1)", "integer from 2"),
        ("rr(1, 2.5)", "integer from 2"),
        ("dp(1, 2)", "at most 1"),
        ("tv(2)", "at most 1"),
        ("dptv(1, 0.1, 2)", "at most 1"),
        ("staircase(1, 3)", "at most 1"),
        ("staircase(0, 0.5)", "above 0"),
        ("erase(dp(1), 2)", "at most 1"),
        ("subsample(dp(1), 2)", "at most 1"),
        ("subsample(dp(1), 0)", "above 0"),
        ("poisson(dp(1), 2)", "at most 1"),
        ("poisson_gaussian(1, 1.5)", "at most 1"),
        ("poisson_gaussian(0, 0.5)", "above 0"),
        ("uniform(0.5, 0)", "above 0"),
        ("gaussian(1, 0)", "above 0"),
        ("gaussian_classic(1, 0)", "above 0"),
        ("laplace(scale=0)", "above 0"),
        ("laplace_vector(0, [1])", "above 0"),
        ("pmf([0.1, 0.1], [0.2, 0.1])", "add up to 1"),
        ("dp(log(0.5))", "negative"),
        ("assume(dp(1), 5)", "assume takes"),
        ("dp(٥)", "unexpected"),
        ("dp(" + "log(" * 5000 + "2" + ")" * 5001, "inside each other"),
        ("dp(1e9999)", "lacks"),
    ],
)
def test_an_expression_that_is_none_proves_nothing(expression: str, reason: str) -> None:
    evaluations = [evaluation("0.2"), evaluation("0.2", direction="backward")]
    with pytest.raises(Unproved, match=reason):
        verify(sealed(expression, at("0.2", "1"), evaluations))


def test_claims_that_are_none() -> None:
    below = {"quantity": "epsilon", "delta": "0.99", "lower": "-2", "upper": "-1"}
    with pytest.raises(Unproved, match="never below 0"):
        verify(sealed("dp(0.1)", below, [evaluation("-1")]))
    glued = {"quantity": "parameter", "epsilon": "1", "delta": "0.1", "meets": "25"}
    with pytest.raises(Unproved, match="lacks"):
        verify(sealed("dp(0.?)", glued, [evaluation("1")]))
    one_side = at("0.05", "0.09")  # of an asymmetric pair
    with pytest.raises(Unproved, match="between"):
        verify(sealed("poisson_gaussian(1, 0.2)", one_side, [evaluation("0.05")]))
    assert verify(
        sealed("poisson_gaussian(1, 0.2)", one_side, [evaluation("0.05"), evaluation("0.05", direction="backward")])
    )
    with pytest.raises(Unproved):  # delta at a larger epsilon is no upper bound, at a smaller one no lower bound
        verify(sealed("dp(1)", at("0.5", "0.3"), [evaluation("0.9")]))
    with pytest.raises(Unproved):
        verify(sealed("dp(1)", at("0.5", "1", "0.2"), [evaluation("0.1")]))


@pytest.mark.parametrize(
    "claim",
    [
        at("0.5", "0.28"),
        at("0.5", "0.9", "0.29"),
        {"quantity": "beta", "alpha": "0.1", "lower": "0", "upper": "0.7", "places": ["0.9", "1", "1.1"]},
        {"quantity": "beta", "alpha": "0.1", "lower": "0.78", "upper": "1", "places": ["0.9", "1", "1.1"]},
    ],
)
def test_a_false_claim_is_called_false(claim: dict[str, Any]) -> None:
    """True are delta(0.5) = (e - e^0.5) / (1 + e) = 0.2876... and beta(0.1) = 1 - 0.1 e = 0.7281...."""
    with pytest.raises(Refuted, match="The claim is false"):
        verify(sealed("dp(1)", claim, [evaluation(place) for place in ("0.5", "0.9", "1", "1.1")]))


LINE = {"line": "0.1", "window": "1000", "above": "0.2", "below": "0.05"}


@pytest.mark.parametrize(
    ("expression", "method", "bits", "more"),
    [
        ("laplace(0.1)^1000000000", "residues", 100, {}),
        ("laplace(0.1)^19000", "residues", 20_000, {}),
        ("laplace(0.1)^190 * laplace(0.2)^190", "residues", 20_000, {}),
        ("laplace(0.1)^1000", "line", 20_000, {**LINE, "nodes": 60_000}),
        ("poisson_gaussian(1, 0.01)^1000", "line", 20_000, {**LINE, "nodes": 60_000}),
        ("poisson_gaussian(1, 0.01)^1000", "line", 100, {**LINE, "nodes": 10, "line": "1e18", "above": "1e19"}),
        ("poisson_gaussian(1e-40, 0.01)^1000", "line", 100, {**LINE, "nodes": 10}),
        ("geometric(1, 1999)^100", "lattice", 20_000, {**LINE, "nodes": 10, "window": "100000"}),
        ("geometric(1, 1000)^20 * geometric(1, 500)^20", "sum", 20_000, {}),
    ],
)
def test_what_would_never_end_is_refused(monkeypatch, expression: str, method: str, bits: int, more: Any) -> None:
    monkeypatch.setattr(work, "MOST", 1e6)  # the ordinary limit takes a thousand times longer
    with pytest.raises(Unproved, match="more than"):
        verify(sealed(expression, at("1", "0.5"), [evaluation("1", method, bits, **more)] * 40))


def test_files_of_any_length_and_depth(tmp_path, capsys) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text("[" * LARGEST)
    long = tmp_path / "long.json"
    long.write_text('"' + "x" * LARGEST + '"')
    for path in (deep, long, tmp_path):
        assert check([str(path)]) == 1
    assert check(["/dev/zero"]) == 1
    error = capsys.readouterr().err
    assert error.count("cannot be read") == 2
    assert error.count("at most 100000 bytes") == 2
    nest: Any = []
    for _ in range(5000):
        nest = [nest]
    with pytest.raises(Unproved, match="cannot be followed"):
        verify({"format": FORMAT, "claim": nest})


def test_a_long_text_is_not_quoted_whole() -> None:
    with pytest.raises(Unproved) as caught:
        read("dp(" + "7" * 90_000 + "x)")
    assert 0 < len(str(caught.value)) <= 500


BETA = {"quantity": "beta", "alpha": "0.1", "lower": "0", "upper": "1", "places": ["0.9", "1", "1.1"]}
EPSILON = {"quantity": "epsilon", "delta": "0.1", "lower": "0", "upper": "5"}
THREE = [evaluation(place) for place in ("0.9", "1", "1.1")]


@pytest.mark.parametrize(
    ("expression", "claim", "evaluations"),
    [
        ("dp(1)", {**BETA, "alpha": "1.5"}, THREE),
        ("dp(1)", {**BETA, "alpha": "-0.5"}, THREE),
        ("dp(1)", {**BETA, "places": ["1.1", "1", "0.9"], "upper": "0.73"}, THREE),
        ("dp(1)", {**BETA, "places": ["1", "1", "1"], "upper": "0.73"}, THREE),
        ("dp(1)", {**BETA, "places": ["0.9", "1"], "upper": "0.73"}, THREE),
        ("dp(1)", {**BETA, "places": ["-1"], "upper": "0.1"}, THREE),
        ("dp(1)", {**BETA, "places": [], "upper": "0"}, []),
        ("dp(1)", {**EPSILON, "delta": "-0.5", "lower": "inf", "upper": "inf"}, []),
        ("dp(1)", {**EPSILON, "delta": "1.5", "upper": "0"}, []),
        ("dp(1)", {**EPSILON, "delta": "0.9", "lower": "inf", "upper": "inf"}, []),
        ("dp(1, 0.2)", {**EPSILON, "delta": "0.1", "upper": "9"}, [evaluation("9")]),
        ("dp(1)", at("0.5", "0.2"), [evaluation("0.5", part=1)]),
        ("dp(1)", at("0.5", "0.2"), [evaluation("0.5", part=-1)]),
        ("union(dp(2), dp(1))", at("0.5", "0.3"), [evaluation("0.5", part=1)]),
        ("union(dp(2), dp(1))", at("0.5", "0.3"), [evaluation("0.5", part=1), evaluation("0.5", part=-1)]),
        ("dp(1)", at("0.5", "0.2"), [evaluation("0.5", method="sums")]),
        ("dp(1)", at("0.5", "0.2"), [evaluation("0.5", bits=8)]),
        ("dp(1)", at("0.5", "0.2"), [evaluation("nan")]),
        ("dp(1)", at("0.5", "1e-9999"), [evaluation("0.5")]),
        ("dp(1)", at("0.5", "inf", "nan"), [evaluation("0.5")]),
        (
            "gaussian(1)",
            at("1", "0.1"),
            [evaluation("1", "line", nodes=4, line="1", window="0.01", above="2", below="0.5")],
        ),
        (
            "gaussian(1)",
            at("1", "0.1"),
            [evaluation("1", "line", nodes=4, line="1", window="30", above="0.5", below="2")],
        ),
        (
            "gaussian(1)",
            at("1", "0.1"),
            [evaluation("1", "line", nodes=True, line="1", window="30", above="2", below="0.5")],
        ),
        (
            "gaussian(1)",
            at("1", "0.1"),
            [evaluation("1", "line", nodes=4, line="-2", window="30", above="2", below="-3")],
        ),
        ("erase(dp(2), 0.5)", at("0.5", "0.28"), [evaluation("0.6")]),
        ("subsample(dp(2), 0.5)", at("0.5", "0.1"), [evaluation("2")]),
    ],
)
def test_forged_claims_are_not_proved(expression: str, claim: dict[str, Any], evaluations: list[Any]) -> None:
    with pytest.raises(Unproved):
        verify(sealed(expression, claim, evaluations))


def test_a_key_that_stands_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The digest counts the last of two claims; a person may read the first."""
    document = sealed("dp(1)", at("0.5", "0.3"), [evaluation("0.5")])
    text = json.dumps(document)
    path = tmp_path / "twice.json"
    path.write_text(text, encoding="utf-8")
    assert check([str(path)]) == 0
    path.write_text(
        text.replace('{"format"', '{"claim": {"quantity": "delta", "upper": "0.01"}, "format"', 1), encoding="utf-8"
    )
    assert check([str(path)]) == 1
    assert "twice" in capsys.readouterr().err

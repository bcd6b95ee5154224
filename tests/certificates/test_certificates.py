"""Certificates of ordinary and hard questions are accepted; a changed one is not."""

from __future__ import annotations

import copy
import json
import subprocess
import sys

import pytest

from dpcore import parse
from dpcore.certificates import certify, certify_calibration
from dpcore.cli import main
from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore_verify import Unproved, verify, work
from dpcore_verify.__main__ import main as check
from dpcore_verify.claims import LARGEST, digest

DIFFERENT = " * ".join(f"dp({0.05 + 0.0137 * i + 0.00113 * i * i:.6f}, {0.0001 * (i + 1):.4f})" for i in range(24))
QUESTIONS = [
    ("dp(0.6, 0.05)^5", {"epsilon": 1.8}),
    ("dp(0.6, 0.05)^5", {"alpha": 0.05}),
    ("dp(0.01)^1000000", {"epsilon": 60.0}),
    ("dp(0.01)^1000000", {"delta": 1e-5}),
    ("laplace(0.1)^1000", {"delta": 0.5}),
    ("laplace(0.1)^1000", {"delta": 1e-50}),
    ("laplace(1)^3", {"epsilon": 0.4}),
    ("laplace(0.1)^1000 * gaussian(5)", {"epsilon": 8.0}),
    ("laplace(0.5)^20 * dp(0.1, 0.001)^50", {"epsilon": 3.0}),
    ("dptv(0.01, 1e-6, 0.004)^100000", {"epsilon": 4.0}),
    ("poisson_gaussian(1, 0.01)^1000", {"epsilon": 1.8}),
    ("poisson_gaussian(2, 0.001)^20000 * laplace(0.01)^10", {"epsilon": 0.32}),
    ("gaussian(1)", {"alpha": 0.05}),
    ("rr(1, 5)^20 * geometric(0.5, 3)^10", {"epsilon": 6.0}),
    ("erase(laplace(1)^3, 0.5)", {"epsilon": 1.0}),
    ("subsample(gaussian(1), 0.1)", {"delta": 1e-6}),
    ("union(dp(1), gdp(1))", {"epsilon": 0.3}),
    ("pmf([0.2, 0.8], [0.5, 0.5])^30", {"epsilon": 1.0}),
    (DIFFERENT, {"epsilon": 2.0}),
    ("dp(0.163)^2451 * dp(0.0371, 1e-9)^1479 * rr(0.7, 3)^20", {"epsilon": 60.0}),
    ("discrete_gaussian(3.3)^20 * discrete_gaussian(2.1)^10 * dp(0.3)^5", {"delta": 1e-6}),
    ("discrete_gaussian(10)^1000", {"delta": 1e-6}),
    ("discrete_gaussian(9.46)", {"epsilon": 3.903}),
    ("gaussian(5) * laplace(0.1)^100 * dp(0.1, 1e-6)^10 * rr(0.5, 3)^5", {"delta": 1e-5}),
]
SMALL_SAMPLE = ("poisson_gaussian(0.5, 0.000001)^100", {"epsilon": 0.0000386})


@pytest.fixture(scope="module")
def certificates():
    return [certify(text, **at) for text, at in QUESTIONS]


def test_certificates_are_small_and_proved(certificates):
    for certificate, (text, _) in zip(certificates, QUESTIONS, strict=True):
        written = certificate.text()
        assert len(written) < LARGEST
        assert json.loads(written) == certificate.document
        claim = verify(json.loads(written))
        assert claim == certificate.claim
        assert claim.endswith(f"for {parse(text)}")


def paths(value, at=()):
    """Every leaf of a document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*at, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, (*at, index))
    else:
        yield at


def changed(document, path, value):
    copied = copy.deepcopy(document)
    inner = copied
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value(inner[path[-1]])
    return copied


def one_digit(value):
    if isinstance(value, int):
        return value + 1
    for at in range(len(value) - 1, -1, -1):
        if value[at].isdigit():
            return value[:at] + str((int(value[at]) + 1) % 10) + value[at + 1 :]
    return value + "x"


def test_a_changed_digit_anywhere_is_rejected(certificates):
    for certificate in certificates:
        for path in paths(certificate.document):
            with pytest.raises(Unproved):
                verify(changed(certificate.document, path, one_digit))


def sealed_again(document):
    return {**document, "digest": digest(document)}


@pytest.mark.parametrize("which", range(len(QUESTIONS)))
def test_a_false_claim_with_a_fresh_digest_is_rejected(certificates, which):
    document = certificates[which].document
    lower, upper = float(document["claim"]["lower"]), float(document["claim"]["upper"])
    width = upper - lower
    shifts = [("lower", upper + width / 10), ("upper", lower - width / 10)]
    shifts = [
        (side, value)
        for side, value in shifts
        if value > 0 and (side != "upper" or value < 1 or "delta" in document["claim"])
    ]
    for side, value in shifts:
        forged = changed(document, ("claim", side), lambda _, value=value: repr(value))
        with pytest.raises(Unproved):
            verify(sealed_again(forged))


@pytest.mark.long
def test_a_changed_expression_with_a_fresh_digest_is_rejected(certificates):
    for certificate in certificates:
        text = certificate.document["expression"]
        places = [at for at, sign in enumerate(text) if sign.isdigit() and sign != "0"][: 1 if len(text) > 300 else 3]
        for at in places:
            forged = text[:at] + str(int(text[at]) % 9 + 1) + text[at + 1 :]
            with pytest.raises(Unproved):
                verify(sealed_again({**certificate.document, "expression": forged}))


@pytest.mark.long
def test_changed_parameters_prove_nothing_false(certificates):
    """With another line, window or number of nodes the claim is proved again or rejected: never another claim."""
    rejected = 0
    for certificate in certificates:
        for index, evaluation in enumerate(certificate.document["evaluations"]):
            for name in ("line", "window", "nodes", "above", "below"):
                if name not in evaluation:
                    continue
                for factor in (0.2, 7):
                    value = evaluation[name]
                    new = max(1, int(value * factor)) if isinstance(value, int) else repr(float(value) * factor)
                    if evaluation["method"] == "lattice" and name == "window":
                        new = str(int(int(value) * factor))
                    if "poisson_gaussian" in certificate.claim:
                        continue  # slow, and no other code
                    forged = changed(certificate.document, ("evaluations", index, name), lambda _, new=new: new)
                    try:
                        assert verify(sealed_again(forged)) == certificate.claim
                    except Unproved:
                        rejected += 1
    assert rejected > 10


def test_strange_documents_are_rejected():
    good = certify("dp(1)", epsilon=0.5).document
    for bad in (
        None,
        [],
        {},
        {**good, "format": "dpcore certificate 2"},
        sealed_again({**good, "claim": []}),
        sealed_again({**good, "claim": {**good["claim"], "quantity": "gamma"}}),
        sealed_again({**good, "claim": {**good["claim"], "lower": 0.1}}),
        sealed_again({**good, "claim": {**good["claim"], "upper": "nan"}}),
        sealed_again({**good, "claim": {**good["claim"], "upper": "1e-99999"}}),
        sealed_again({**good, "evaluations": {}}),
        sealed_again({**good, "evaluations": []}),
        sealed_again({**good, "evaluations": [{}]}),
        sealed_again({**good, "evaluations": [{**good["evaluations"][0], "bits": 10**9}]}),
        sealed_again({**good, "evaluations": [{**good["evaluations"][0], "method": "faith"}]}),
        sealed_again({**good, "evaluations": [{**good["evaluations"][0], "part": 3}]}),
        sealed_again({**good, "expression": "dp(" * 200}),
    ):
        with pytest.raises(Unproved):
            verify(bad)


def test_calibrated_value():
    certificate = certify_calibration("gaussian(?)^10", epsilon=1.0, delta=1e-5)
    assert certificate.claim.startswith("with ? = 11.79729307712538")
    assert "misses" in certificate.document["claim"]
    swapped = copy.deepcopy(certificate.document)
    claim = swapped["claim"]
    claim["meets"], claim["misses"] = claim["misses"], claim["meets"]
    with pytest.raises(Unproved):
        verify(sealed_again(swapped))
    counted = certify_calibration("dp(0.1, 0.0001)^?", epsilon=2.0, delta=0.01)
    assert int(counted.document["claim"]["misses"]) == int(counted.document["claim"]["meets"]) + 1


def test_false_negative_rates_near_0():
    """One is above 0 and below every double, the other one is 0: no test that misses less is needed."""
    tiny = certify("gaussian(0.638)^797", alpha=0.35).document
    none = certify("dptv(0.06, 0.001, 0.011)^745", alpha=0.498).document
    assert (tiny["claim"]["upper"], none["claim"]["upper"]) == ("2.2250738585072014e-308", "0.0")
    assert parse("gaussian(0.638)^797").beta_bounds([0.35, 1.0])[1].tolist() == [2.2250738585072014e-308, 0.0]
    claims = (
        (tiny, ("claim", "upper"), "0.0"),
        (tiny, ("claim", "lower"), "1e-300"),
        (tiny, ("claim", "places"), []),
        (tiny, ("claim", "places"), ["-3"]),
        (tiny, ("evaluations",), []),
        (tiny, ("expression",), "gaussian(6.38)^797"),
        (none, ("claim", "alpha"), "0.474"),
        (none, ("expression",), "dptv(0.06, 0.0009, 0.011)^745"),
    )
    for document, path, value in claims:
        with pytest.raises(Unproved):
            verify(sealed_again(changed(document, path, lambda _, value=value: value)))


def test_what_cannot_be_proved_is_said():
    with pytest.raises(BudgetError, match="No certificate: This checker does not know bounded_laplace"):
        certify("bounded_laplace(1, 0, 1, 1)", epsilon=0.5)
    with pytest.raises(DomainError, match="one of epsilon, delta and alpha, got 2"):
        certify("dp(1)", epsilon=0.5, delta=0.1)


def test_commands(tmp_path, capsys):
    file = tmp_path / "proof.json"
    assert main(["certify", "laplace(0.1)^1000", "--epsilon", "20", "-o", str(file)]) == 0
    table = capsys.readouterr().out
    assert table.startswith("file,claim,bytes,digest\n")
    assert check([str(file)]) == 0
    assert capsys.readouterr().out.startswith("proved: 1.78890277797")
    assert check([str(file), "--expression", "laplace( 0.1 ) ^1000"]) == 0
    assert check([str(file), "--expression", "laplace(0.1)^1001"]) == 1
    file.write_text(file.read_text().replace("1.7889", "1.7888"))
    assert check([str(file)]) == 1
    assert "was changed" in capsys.readouterr().err
    assert check([str(tmp_path / "none.json")]) == 1
    done = subprocess.run(
        [sys.executable, "-m", "dpcore_verify", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert main(["certify", "gaussian(?)", "--epsilon", "1", "-o", str(file)]) == 2


@pytest.mark.parametrize("at", [{"epsilon": 1.0}, {"delta": 1e-6}, {"alpha": 0.1}])
def test_what_the_checker_does_not_know_is_refused_before_any_work(at):
    """The engine itself would need more operations than are allowed here."""
    with effort(work=1.0), pytest.raises(BudgetError, match="does not know bounded_laplace"):
        certify("bounded_laplace(1, 0, 1, 1)^2", **at)
    with effort(work=1.0), pytest.raises(BudgetError, match="operations"):
        parse("bounded_laplace(1, 0, 1, 1)^2").epsilon_bounds([1e-6])


FIELDS = {
    "format",
    "expression",
    "digest",
    "quantity",
    *("epsilon", "delta", "alpha", "lower", "upper", "places", "meets", "misses"),  # of a claim
    *("part", "direction", "method", "bits", "line", "window", "nodes", "above", "below"),  # of an evaluation
}
METHODS = {"sum", "binomial", "halves", "residues", "line", "lattice", "cut"}


def other(value):
    """Return another first digit, or another word."""
    words = [("forward", "backward"), *zip(sorted(METHODS), [*sorted(METHODS)[1:], min(METHODS)], strict=True)]
    words += [("delta", "epsilon"), ("epsilon", "beta"), ("beta", "delta"), ("parameter", "delta")]
    if isinstance(value, int):
        return value + 1 if value < 10 else value // 2
    if value in dict(words):
        return dict(words)[value]
    for at, sign in enumerate(value):
        if sign.isdigit() and sign != "0":
            return value[:at] + str(int(sign) % 9 + 1) + value[at + 1 :]
    return value + "1"


def weaker(claim, mutated):
    """Whether a changed claim follows from the true one."""
    down, up = {"lower", "misses"}, {"upper", "meets"}  # more noise meets a target, less misses it
    if any(claim[name] != mutated[name] for name in claim if name not in {*down, *up, "places"}):
        return False
    return all(
        float(mutated[name]) <= float(claim[name]) if name in down else float(mutated[name]) >= float(claim[name])
        for name in claim
        if name in down | up
    )


@pytest.mark.long
def test_every_field_of_every_method_with_a_fresh_digest(certificates, monkeypatch):
    """Whatever is changed and sealed again is rejected, or it is a proof of what was true before."""
    rows = {frozenset(row["method"] for row in c.document["evaluations"]): c for c in reversed(certificates)}
    small = certify(SMALL_SAMPLE[0], **SMALL_SAMPLE[1])
    assert json.loads(small.text()) == small.document
    asked = [
        small,
        *rows.values(),
        *(c for c in certificates if "alpha" in c.document["claim"]),
        *(c for c in certificates if "union" in c.claim or "pmf" in c.claim),
        certify_calibration("gaussian(?)^10", epsilon=1.0, delta=1e-5),
    ]
    fields, methods, rejected = set(), set(), 0
    for certificate in asked:
        monkeypatch.setattr(work, "MOST", 3e7 if certificate is small else 1e7)
        document = certificate.document
        methods |= {row["method"] for row in document["evaluations"]}
        for path in paths(document):
            name = next(key for key in reversed(path) if isinstance(key, str))
            fields.add(name)
            forged = changed(document, path, other)
            if name != "digest":
                forged = sealed_again(forged)
            try:
                said = verify(forged)
            except Unproved:
                rejected += 1
                continue
            if path[0] == "claim":
                assert weaker(document["claim"], forged["claim"]), (said, certificate.claim)
            else:
                assert path[0] in {"evaluations", "others"}, path
                assert said == certificate.claim
    assert fields == FIELDS
    assert methods == METHODS
    assert rejected > 100


def test_the_search_for_a_proof_is_bounded(monkeypatch):
    """Lines of very small samples may be too long, or overflow: the search ends with a sentence."""
    monkeypatch.setattr(work, "MOST", 2e7)
    with pytest.raises(BudgetError, match="No certificate"):
        certify("poisson_gaussian(1, 1e-6)^3", epsilon=1e-5)

"""Deployments: records read and written, and what follows from them judged rightly."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore import specs
from dpcore.charts.answers import LETTERS
from dpcore.cli import main
from dpcore.core.errors import DpcoreError
from dpcore.deployments import (
    Deployment,
    Stated,
    check,
    comparison,
    read_deployments,
    record_schema,
    tier,
    write_deployments,
)

FILE = Path(__file__).resolve().parents[1] / "data" / "deployments" / "published.yaml"
RECORDS = read_deployments(FILE.read_text(encoding="utf-8"), FILE.name)
BY_NAME = {one.name: one for one in RECORDS}


def concentrated_epsilon(rho: float, delta: float) -> float:
    """Return the tight conversion on a fine grid of orders: Canonne, Kamath, Steinke 2020, Proposition 12."""
    order = 1 + np.exp(np.linspace(-2, 5, 200_001))
    return float(np.min(rho * order + np.log1p(-1 / order) - (math.log(delta) + np.log(order)) / (order - 1)))


def verdict(name: str, quantity: str) -> tuple[str, float]:
    rows = check(BY_NAME[name])
    row = rows[rows["quantity"] == quantity].iloc[0]
    return str(row["verdict"]), float(row["value"])


def test_the_census_is_judged_rightly() -> None:
    persons = "US Census 2020, redistricting data, persons"
    judged, value = verdict(persons, "epsilon")
    assert value == pytest.approx(concentrated_epsilon(2.56, 1e-10), rel=1e-6)
    assert 17.15 < value < 17.16, "ρ = 2.56 itself gives more than the published 17.14"
    assert judged == "follows if rounded", "a ρ of 2.555, which rounds to 2.56, gives 17.14"
    assert concentrated_epsilon(2.555, 1e-10) < 17.145
    judged, value = verdict(persons, "epsilon if Gaussian")
    assert judged == "follows"
    assert value < 17.14
    judged, value = verdict("US Census 2020, redistricting data, housing units", "epsilon")
    assert value == pytest.approx(concentrated_epsilon(0.07, 1e-10), rel=1e-6)
    assert judged == "follows", "2.47 is above the 2.388 that ρ = 0.07 gives"


def test_the_way_back_from_epsilon_to_rho() -> None:
    """The published ε of housing units is that of ρ = 0.0747, which rounds to 0.07 and not to 0.08."""
    for name, rho, epsilon, wanted in (
        ("US Census 2020, redistricting data, persons", 2.56, 17.14, "follows if rounded"),
        ("US Census 2020, redistricting data, housing units", 0.07, 2.47, "follows"),
    ):
        judged, largest = verdict(name, "rho")
        assert judged == wanted
        assert (largest >= rho) == (wanted == "follows")
        assert concentrated_epsilon(largest, 1e-10) == pytest.approx(epsilon, rel=1e-6)
    assert 0.0745 < largest < 0.075
    record = read_deployments(HEAD + "rho: 1.0\ndelta: 1e-6\nepsilon: 2\n")[0]
    rows = check(record).set_index("quantity")
    assert rows.loc["rho", "verdict"] == "does not follow"
    assert "follows from every ρ up to 0.0" in rows.loc["rho", "words"]


def test_a_rounded_mu_is_judged_as_a_rounded_rho_is() -> None:
    """μ = 0.8 has ε = 3.797 at δ = 1e-6, and the smallest μ that rounds to it, 0.75, has 3.532."""
    for epsilon, wanted in ((3.798, "follows"), (3.6, "follows if rounded"), (3.4, "does not follow")):
        record = read_deployments(HEAD + f"mu: 0.8\ndelta: 1e-6\nepsilon: {epsilon}\n")[0]
        assert check(record).set_index("quantity").loc["epsilon", "verdict"] == wanted


def test_wikipedia_says_roughly_and_it_is_so() -> None:
    judged, value = verdict("Wikipedia page views by country, current", "epsilon")
    assert (judged, value < 1) == ("follows", True)


def test_a_wrong_record_does_not_follow() -> None:
    record = read_deployments(
        "name: a\ncurator: b\nproduct: c\nsources: https://x.example\nrho: 1.0\ndelta: 1e-6\nepsilon: 2\n"
    )[0]
    rows = check(record)
    assert rows["verdict"].iloc[0] == "does not follow"
    assert "above the published 2" in rows["words"].iloc[0]


def test_every_published_record_has_its_source_and_numbers() -> None:
    assert len(RECORDS) >= 12
    for one in RECORDS:
        assert one.sources
        assert tier(one) >= 2
        assert one.texts["period"]
        rows = check(one)
        assert set(rows["kind"]) <= {"exact", "upper", "lower"}
        assert rows["value"].map(math.isfinite).all()
    table = comparison(RECORDS, "advantage")
    assert table["value"].is_monotonic_increasing
    row = table[table["name"] == "Apple health types"].iloc[0]
    assert row["value"] == pytest.approx(math.tanh(1.0), rel=1e-12)
    assert row["kind"] == "exact"


def test_the_schema_is_the_file_and_holds_for_all_records() -> None:
    text = (FILE.parent / "schema.json").read_text(encoding="utf-8")
    assert text == json.dumps(record_schema(), indent=1, ensure_ascii=False) + "\n"
    judge = jsonschema.Draft202012Validator(json.loads(text))
    judge.check_schema(json.loads(text))
    rows = [
        one.texts | {name: number.text for name, number in one.numbers.items()} | {"sources": list(one.sources)}
        for one in RECORDS
    ]
    assert judge.is_valid(rows)
    assert judge.is_valid(rows[0])
    for wrong in ({"epsilom": "1"}, {"model": "cloud"}, {"sources": "ftp://x.example"}, {"name": 3}):
        assert not judge.is_valid(rows[0] | wrong)


def test_what_is_written_reads_the_same() -> None:
    again = read_deployments(write_deployments(RECORDS))
    assert [(one.texts, one.numbers, one.sources) for one in again] == [
        (one.texts, one.numbers, one.sources) for one in RECORDS
    ]


TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Cn", "Zl", "Zp")), min_size=1, max_size=60
).filter(str.strip)


@given(TEXT, TEXT)
def test_any_text_survives(name: str, note: str) -> None:
    one = Deployment(
        {"name": name, "curator": "c", "product": "p", "note": note},
        {"epsilon": Stated("1.50", 1.5)},
        ("https://x.example",),
    )
    again = read_deployments(write_deployments([one]))[0]
    assert again.texts == one.texts
    assert again.numbers == one.numbers


HEAD = "name: a\ncurator: b\nproduct: c\nsources: https://x.example\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + "epsilom: 1\n", "x.yaml, line 5: 'epsilom' is not a field; did you mean epsilon?"),
        (HEAD + "epsilon: -1\n", "x.yaml, line 5: epsilon must be"),
        (HEAD + "delta: 2\n", "x.yaml, line 5: delta must be"),
        (HEAD + "model: cloud\n", "model must be one of central, local, shuffle"),
        (HEAD + "epsilon: [1]\n", "epsilon must be a text or a number, got a list"),
        (HEAD + "name: b\n", "x.yaml, line 5: 'name' stands twice"),
        ("name: a\n", "x.yaml, line 1: curator is missing"),
        (HEAD.replace("https://x.example", "javascript:alert(1)"), "is not allowed"),
        ("a: &x 1\nb: *x\n", "anchors, aliases and tags are not read"),
        ("a: !!python/object/apply:os.system [x]\n", "anchors, aliases and tags are not read"),
        ("[" * 100, "nested more than 64 deep"),
        ("a: " + "[" * 100 + "]" * 100, "nested more than 64 deep"),
        ("- 3\n", "a record is a mapping"),
        ("a: [\n", "not YAML"),
        ("", "the file is empty"),
        ("---\na: 1\n---\nb: 1\n", "a file holds one document"),
    ],
)
def test_mistakes_name_file_line_and_remedy(text: str, words: str) -> None:
    with pytest.raises(DpcoreError) as caught:
        read_deployments(text, "x.yaml")
    assert words in str(caught.value)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.yaml").write_text(HEAD + "epsilon: 1\n", encoding="utf-8")
    assert main(["deployment", "check", str(tmp_path / "r.yaml")]) == 0
    assert "advantage" in capsys.readouterr().out
    assert main(["deployment", "list", "--measure", "true_positive_rate"]) == 0
    assert capsys.readouterr().out.count("\n") == len(RECORDS) + 1


def test_the_picture_names_every_record_with_its_unit_on_lines_that_fit() -> None:
    figure = specs.draw({"draw": "deployments", "measure": "mu", "title": "All", "caption": "All."})
    chart = figure.chart.to_dict()
    labels = [row["lines"] for row in next(iter(chart["datasets"].values()))]
    frame = comparison(read_deployments(FILE.read_text(encoding="utf-8")), "mu")
    assert [label.replace("\n", " ") for label in labels] == [
        f"{name} ({unit})" for name, unit in zip(frame["name"], frame["unit"], strict=True)
    ]
    assert max(len(line) for label in labels for line in label.split("\n")) <= LETTERS

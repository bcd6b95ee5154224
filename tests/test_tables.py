"""Every table says what its numbers are: `kind, theorem, neighbours` at the end, whoever makes it.

The tables come from the lists themselves: every command, every kind of figure, every page with its examples. What holds
no number of a region is listed by its columns, with the reason; a new table is held to the rule until it is listed.
"""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from dpcore import specs
from dpcore.cli.program import command_names, load, main
from dpcore.core.kinds import FACTS, HEADINGS
from tests.specs.test_gallery import SPECS, figure
from tests.specs.test_specs import CASES

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parents[1]
AGES = ROOT / "data" / "datasets" / "ages.csv"
HEADED = tuple(HEADINGS[name] for name in FACTS)
REGION = {"region", "epsilon", "delta", "eta", "beta", "mu", "power", "tpr", "advantage", "loss", "distance", "gamma",
          "total_variation", "ε", "δ", "μ"}  # fmt: skip
KINDS = {"exact", "upper", "lower", "approximate", "none"}

# one row per theorem: its name is the key of the row, and stands where the contract of the command line has it
BY_THEOREM = {
    ("region", "theorem", "epsilon", "delta", "kind", "note", "neighbours"),
    ("scope", "label", "theorem", "delta", "epsilon", "epsilon_lower", "kind", "neighbours"),
    ("k", "theorem", "title", "epsilon", "kind", "note", "neighbours"),
    ("theorem", "title", "epsilon", "delta", "kind", "note", "neighbours"),
    ("theorem", "title", "delta", "epsilon", "epsilon_lower", "kind", "note", "neighbours"),
    ("Theorem", "ε at δ", "What it is", "Note", "Neighbours"),
}
# tables without a number of a region
OTHER = {
    ("statistic", "sensitivity", "beta", "value", "share_of_global", "kind", "note"): "sensitivities of a column",
    ("statistic", "quantity", "value", "error", "kind", "note"): "a plan of a private interval, and its simulation",
    ("answer", "true", "released", "difference"): "one release beside the data",
    ("option", "chance", "kind", "true", "released"): "chances of the options of one release",
    ("dataset", "answer", "density", "accused", "kind"): "the law of the answers, drawn",
    ("label", "parameter", "value", "kind", "low", "high"): "how far answers are off",
    ("label", "parameter", "value", "kind", "low", "high", "theorem"): "how far answers are off",
    ("letter", "answer", "probability"): "a channel as it was chosen",
    ("letter", "p0", "p1"): "the hypotheses as they were typed",
    ("label", "expression", "count", "status", "group", "group_limit", "date", "note"): "the ledger as it was typed",
    ("ε", "δ", "status"): "the statements as they were typed",
    ("name", "source", "place", "printed", "corrected", "kind", "why", "evidence", "added", "fails"): "rows of the errata",
    ("Source", "Place", "Kind", "What is wrong", "Where it fails", "Found here"): "rows of the errata",
    ("setting", "stated", "says", "true", "kind", "refuted"): "evidence of an erratum",
    ("verdict", "quantity", "printed", "value", "kind", "why", "place", "error", "row"): "what a source printed",
    ("quantity", "printed", "value", "kind", "place", "error"): "what a source printed",
    ("place", "quantity", "printed", "value", "error", "kind", "verdict", "why", "row"): "what a source printed",
    ("parameter", "value", "measure", "closed_form", "simulated", "standard_error", "kind", "theorem", "about"): "how far answers are off",
    ("series", "x", "y", "low", "high", "kind", "mark"): "a picture of a source drawn again",
}  # fmt: skip


def columns_of(table: pd.DataFrame) -> tuple[str, ...]:
    """Return the names of the columns; values asked for are no part of a name."""
    return tuple(re.sub(r" = .*", "", str(name)) for name in table.columns)


def holds_numbers_of_a_region(columns: Iterable[str]) -> bool:
    """Whether a table is under the rule: it calls its numbers something, or has a number that only regions have."""
    words = {word for name in columns for word in re.split(r"[^a-zε-ωΔ]+", name.lower())}
    return "kind" in words or bool(words & REGION) or HEADINGS["kind"] in columns


def check(table: pd.DataFrame, where: str) -> None:
    columns = columns_of(table)
    if columns in OTHER or not holds_numbers_of_a_region(columns):
        return
    if columns in BY_THEOREM:
        assert columns[-1].lower() == "neighbours"
    else:
        assert columns[-3:] in (FACTS, HEADED), f"{where}: {', '.join(columns)}"
    if not len(table) or "kind" not in columns:
        return
    assert set(table["kind"]) <= KINDS | {"claimed", "no bound"}, where
    assert table["neighbours"].astype(bool).all() or "none" in set(table["kind"]), where
    assert table["theorem"].astype(bool).all(), where


# ---- the command line ----------------------------------------------------------------------------------------

SPORT = ["data/datasets/sport.csv", "--user", "member", "--time", "month", "--value", "hours"]
ASKED: dict[str, list[list[str]]] = {
    "audit": [["data/audits/noisy_count.csv", "--claim", "gdp(1)"]],
    "calibrate": [["laplace(?)", "--epsilon", "1", "--delta", "0"], ["gaussian(?)^3", "--advantage", "0.2"]],
    "compare": [["dp(1)", "gdp(1)"]],
    "constraints": [["dp(0.6, 0.05)^3"], ["basic(dp(0.6, 0.05)^3)"]],
    "convert": [["gdp(1)", "--to", "dp"], ["laplace(1)", "--to", "rdp"]],
    "curve": [["dp(1)", "gdp(1)"]],
    "deltas": [["dp(1)", "rdp(2, 0.5)^3"]],
    "disclosure": [
        ["data/datasets/survey.csv", "--quasi", "transport", "--sensitive", "cheated"],
        [
            "data/datasets/survey.csv",
            "--pram",
            "cheated",
            "--keep",
            "0.8",
            "--k-noise",
            "study_hours:2",
            "--view",
            "regions",
        ],
    ],
    "epsilons": [["laplace(1)"]],
    "lab": [["noise_zoo"]],
    "ledger": [
        ["data/ledgers/quarter.csv"],
        ["data/ledgers/quarter.csv", "--more", "1", "--epsilon", "20"],
        ["data/ledgers/quarter.csv", "--filter", "--epsilon", "20", "--delta", "1e-5"],
    ],
    "plan": [
        [
            "data/datasets/staff.csv",
            "--answers",
            "count where years >= 10",
            "mean of salary",
            "--bounds",
            "salary=20000:120000",
            "--table",
            table,
        ]
        for table in ("answers", "parts", "budget", "numbers")
    ],
    "risk": [["dp(1, 1e-5)"]],
    "series": [
        [*SPORT, "--lower", "0", "--upper", "60"],
        [*SPORT, "--lower", "0", "--upper", "60", "--releases", "3", "--view", "scenarios"],
    ],
    "split": [["dp(0.6, 0.05)^3"], ["gdp(1)"]],
    "interval": [
        [str(AGES), "--lower", "0", "--upper", "100", "--releases", "50"],
        [str(AGES), "--lower", "0", "--upper", "100", "--epsilon", "1,2"],
    ],
    "sensitivity": [
        [str(AGES), "--lower", "0", "--upper", "100"],
        [str(AGES), "--lower", "0", "--upper", "100", "--statistic", "quantile"],
    ],
    "sweep": [["data/sweeps/training.toml", "--cores", "1"]],
    "deployment": [["check", "data/deployments/published.yaml"], ["list"]],
    "certify": [["dp(1)^10", "--epsilon", "2", "-o", str(Path(tempfile.gettempdir()) / "dpcore_proof.json")]],
    "theorems": [["laplace(0.1)^10", "--delta", "1e-6"], ["dp(0.1, 0.01)*gdp(0.2)"]],
    "training": [
        ["--sampler", "poisson", "--examples", "60000", "--batch", "256", "--epochs", "60", "--sigma", "1.1"],
        ["--sampler", "full", "--steps", "100", "--sigma", "20", "--claimed", "2"],
    ],
    "utility": [["count_laplace", "--releases", "20"]],
    "vertices": [["dp(0.6, 0.05)^3"]],
}


def test_every_command_is_asked() -> None:
    without = {name for name in command_names() if not getattr(load(name), "TABLE", True)}
    assert without | set(ASKED) == set(command_names())
    assert not without & set(ASKED)


@pytest.mark.parametrize("words", [(name, *words) for name, lists in ASKED.items() for words in lists], ids=" ".join)
def test_a_command_says_what_its_numbers_are(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(list(words)) == 0
    check(pd.read_csv(io.StringIO(capsys.readouterr().out), keep_default_na=False), " ".join(words))


# ---- figures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_figure_says_what_its_numbers_are(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    check(specs.draw(case).table, case["draw"])


@pytest.mark.parametrize("name", SPECS)
def test_a_figure_of_the_gallery_says_what_its_numbers_are(name: str) -> None:
    check(figure(name).table, name)


# ---- the rule itself -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "columns",
    [
        ("epsilon", "delta"), ("epsilon", "delta", "kind"), ("delta", "kind", "neighbours", "theorem"), ("total_delta",),
        ("Way", "ε at δ = 1e-5", "What it is", "Note"), ("series", "value", "kind"), ("beta_upper",), ("μ", "value"),
    ],
    ids=",".join,
)  # fmt: skip
def test_a_table_without_the_columns_is_caught(columns: tuple[str, ...]) -> None:
    with pytest.raises(AssertionError):
        check(pd.DataFrame([["x"] * len(columns)], columns=list(columns)), "here")

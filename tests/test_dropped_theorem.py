"""A theorem nobody has seen: a file dropped into the folder is served by every face, and nothing else is touched.

Two theorems are tried on a copy of the package, in a process of its own:

* *Pure privacy through concentrated privacy.* An ε-DP mechanism is ε²/2-zCDP (Bun, Steinke 2016, Proposition 1.4), rates add (Lemma 1.7), and
  ρ-zCDP is (ρ + 2√(ρ log(1/s)), s)-DP (Lemma 3.5). With B = Σ ε², ε-DP mechanisms are together (B/2 + √(2 B log(1/s)), s)-DP.
* *Pinsker.* Rényi divergences grow with the order, so KL ≤ ε for (a, ε)-RDP with a > 1, and Pinsker's inequality gives the total variation
  √(ε/2). A mechanism of total variation η is (0, η)-DP.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

SQUARES = '''"""Composition of pure privacy through concentrated privacy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.core.errors import DomainError
from dpcore.core.rounding import up
from dpcore.theorems.record import ClosedFormBound, Theorem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.theorems.domain import Statement


def _statement(statements: Sequence[Statement], slack: float) -> ClosedFormBound:
    if any(failing > 0 for _, failing, _ in statements):
        msg = "It is about pure privacy."
        raise DomainError(msg)
    squares = up(math.fsum(count * epsilon * epsilon for epsilon, _, count in statements))
    return ClosedFormBound(up(squares / 2 + math.sqrt(-2 * squares * math.log(slack))), slack, f"slack {slack!r}")


THEOREM = Theorem(
    name="pure_squares",
    title="Pure privacy through concentrated privacy",
    label="Squares",
    formula=r"\\tfrac B2+\\sqrt{2B\\log(1/\\delta)},\\ B=\\sum\\varepsilon_l^2",
    meaning="Half the sum of squares is a rate of concentrated privacy.",
    reference="Bun, Steinke 2016, Proposition 1.4 and Lemma 3.5",
    kind="upper",
    statement=_statement,
)
'''

PINSKER = '''"""From Rényi privacy to a total variation."""

from __future__ import annotations

import math

from dpcore.core.rounding import up
from dpcore.theorems.record import SINGLE, Route, Theorem


def _epsilon(order: float, bound: float, delta: float) -> tuple[float, str]:
    return (0.0, "small") if delta >= up(math.sqrt(bound / 2)) else (math.inf, "too small a delta")


def _delta(order: float, bound: float, epsilon: float) -> tuple[float, str]:
    return min(1.0, up(math.sqrt(bound / 2))), "total variation"


THEOREM = Theorem(
    name="rdp_pinsker",
    title="From Rényi privacy to total variation",
    formula=r"(0,\\sqrt{\\varepsilon/2})",
    meaning="A small divergence is a small total variation.",
    assumptions=SINGLE,
    reference="Pinsker's inequality",
    kind="upper",
    route=Route("rdp", "dp", r"\\delta=\\sqrt{\\varepsilon/2}", ("rdp(2, 0.02)", "delta", 0.1, 1e-12, "sqrt(0.01)"), _epsilon, _delta),
)
'''

ASK = """
import contextlib, io, json, math, sys
from types import SimpleNamespace
from dpcore import parse
from dpcore.training import reports
from dpcore.app.composition import DEFAULTS
from dpcore.theorems.composition import TITLES, best, ladder, statements, theorem_regions, theorem_table
from dpcore.theorems.conversion import convert
from dpcore.ledger import Ledger, reason, theorems as of_ledger
from dpcore.theorems.composition.products import theorems
from dpcore.cli.program import main
from dpcore.site.reference.theorems import _compose
from dpcore.specs.kinds.compositions import NAMES
from dpcore.theorems import THEOREMS, applicable, rdp_to_dp, theorem

out, name = {}, "pure_squares"
of = lambda frame: frame.set_index("theorem").loc[name]
text, k, delta = "laplace(0.1)", 100, 1e-6
out["table"] = float(of(theorem_table(f"{text}^{k}", delta))["epsilon"])
out["ledger"] = float(of(of_ledger(Ledger.of(("a", text, k)), delta))["epsilon"])
out["command"] = float(of(theorems(parse(f"{text}^{k}"), delta))["epsilon"])
out["ladder"] = float(of(ladder(text, delta, [k]))["epsilon"])
rows = reports(text, k, delta).set_index("accountant").loc[name]
out["accountants"], out["verdict"], out["accountant title"] = float(rows["epsilon"]), rows["verdict"], rows["title"]
way = {way.name: way for way in theorem_regions(text, k, slack=delta, delta=delta)}[name]
out["drawn"] = [way.title, way.region.epsilon_, way.region.delta_, way.kind]
own = statements([way])
out["deltas"] = [float(own["epsilon"].iloc[0]), float(own["delta"].iloc[0])]
with_slack = of(theorems(parse(f"{text}^{k}"), delta, 1e-7))
out["slack"] = [float(with_slack["epsilon"]), with_slack["note"]]
listed = theorems(parse("dp(0.1)^100"))
out["listed"] = listed[listed["theorem"] == name]["epsilon"].astype(float).tolist()
out["silent"] = of(theorem_table("dp(0.1, 1e-9)^10", delta))["note"]
out["unlisted"] = of(theorems(parse("dp(0.1, 1e-9)^10")))["note"]
out["titles"] = [TITLES[name], name in NAMES, TITLES[name] in DEFAULTS["show"]]
only = theorem_table("dp(0.01)^10", delta)
only = only[only["theorem"] == name]
out["reason"] = reason(only)

class Notes:
    site = SimpleNamespace(config=SimpleNamespace(code=""))  # of a site that names no address of its code
    def heading(self, title, name=""):
        return title
    def place(self, kind, name):
        return ""
    def html(self, file, **values):
        return " ".join([file, values["theorem"].name, values["python"]])

out["page"] = _compose(Notes())
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    main(["theorems", f"{text}^{k}", "--delta", "1e-6"])
out["printed"] = [line for line in printed.getvalue().splitlines() if name in line]
shown = convert(parse("rdp(2, 0.02)"), "dp", delta=0.2)
out["convert"] = shown[shown["theorem"].str.contains("Pinsker")]["parameters"].tolist()
out["function"] = rdp_to_dp(2.0, 0.02, 0.2)["theorem"].tolist()
out["renyi accountant"] = float(reports("gaussian(40)", 1, 0.2).set_index("accountant").loc["rdp_pinsker"]["epsilon"])
out["names"] = [record.name for record in THEOREMS][-2:]
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Return what every face of a copy of the package with two more files says."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "dpcore", folder / "dpcore", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "data", folder / "data")
    (folder / "dpcore" / "theorems" / "pure_squares.py").write_text(SQUARES, encoding="utf-8")
    (folder / "dpcore" / "theorems" / "rdp_pinsker.py").write_text(PINSKER, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASK],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    answers: dict[str, object] = json.loads(run.stdout.splitlines()[-1])
    return answers


def test_its_number_is_the_formula_on_every_face(served: dict[str, object]) -> None:
    squares = 100 * 0.1**2
    truth = squares / 2 + math.sqrt(2 * squares * math.log(1e6))
    assert served["table"] == pytest.approx(truth, rel=1e-12)
    for face in ("ledger", "command", "ladder", "accountants"):
        assert served[face] == served["table"], face
    assert served["deltas"] == [pytest.approx(truth, rel=1e-12), pytest.approx(1e-6)]
    assert served["drawn"] == ["Squares", served["deltas"][0], 1e-6, "upper"]  # type: ignore[index]  # a list, from JSON


def test_with_a_slack_of_ones_own_and_without_a_delta(served: dict[str, object]) -> None:
    at_slack, note = served["slack"]  # type: ignore[misc]  # a pair, from JSON
    assert at_slack == pytest.approx(0.5 + math.sqrt(2 * math.log(1e7)), rel=1e-5)
    assert "slack 1e-7" in note
    assert served["listed"] == pytest.approx([0.5 + math.sqrt(2 * math.log(1 / s)) for s in (1e-9, 1e-6, 1e-3)])


def test_where_it_does_not_apply_it_says_why(served: dict[str, object]) -> None:
    assert served["silent"] == "It is about pure privacy."
    assert served["unlisted"] == "It does not apply to these statements."


def test_it_has_its_titles_and_reason(served: dict[str, object]) -> None:
    assert served["titles"] == ["Squares", True, True]
    assert served["reason"] == "Half the sum of squares is a rate of concentrated privacy."
    assert (served["accountant title"], served["verdict"]) == ("Squares", "above the truth")
    assert "Pure privacy through concentrated privacy" in str(served["page"])
    assert 'theorem.html pure_squares dpcore.theorems.theorem("pure_squares")' in str(served["page"])
    assert repr(served["table"]) in str(served["printed"])
    assert served["names"] == ["pure_squares", "rdp_pinsker"]


def test_a_conversion_is_served_too(served: dict[str, object]) -> None:
    assert served["convert"] == ["epsilon=0, delta=0.2"]
    assert served["function"] == ["rdp_mironov", "rdp_tight", "rdp_pinsker"]
    assert served["renyi accountant"] == 0.0

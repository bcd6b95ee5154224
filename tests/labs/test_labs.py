"""What every lab keeps: pictures that can be drawn, tables without holes, the same numbers for the same seed, work that can be stopped."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from dpcore.core.effort import checkpoint, effort, stage
from dpcore.core.errors import BudgetError, DomainError
from dpcore.labs import LABS, Plot, errata, lab
from dpcore.labs.base import COLUMNS, KINDS, MARKS, UNJUDGED, VERDICTS

if TYPE_CHECKING:
    from dpcore.labs import Picture

# the first setting of a lab is the default one, with fewer runs where it simulates; the others are far from it
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "noise_zoo": (
        {},
        {"sensitivity": 10.0, "scale": 0.1, "sigma": 0.01, "order": 50.0},
        {"sensitivity": 0.01, "scale": 10.0, "sigma": 10.0, "order": 1.0},
    ),
    "mixed_noise": (
        {"replications": 200},
        {
            "replications": 100,
            "epsilon": 0.05,
            "delta": 0.4,
            "family": "student",
            "shape": 1.0,
            "query": "median",
            "n": 11,
        },
        {"replications": 100, "epsilon": 8.0, "delta": 1e-9, "family": "pareto", "shape": 3.0, "sensitivity": 50.0},
    ),
    "bounded_noise": (
        {},
        {"epsilon": 0.2, "sensitivity": 10.0, "upper": 110.0, "delta": 0.0},
        {"epsilon": 5.0, "sensitivity": 3.0, "lower": -2.0, "upper": 1.0, "delta": 0.01},
    ),
    "concentrated": (
        {},
        {"epsilon": 5.0, "delta": 0.2, "k": 1, "each_delta": 0.1, "sensitivity": 7.0},
        {"epsilon": 0.01, "delta": 1e-12, "k": 5000, "each_delta": 1e-12},
    ),
    "intervals": (
        {"replications": 200},
        {"replications": 100, "n": 10, "epsilon": 10.0, "population": "skewed", "level": 0.5, "delta": 0.5},
        {"replications": 100, "n": 5000, "variance_epsilon": 0.01, "delta": 1e-12, "high": 1e6, "level": 0.999},
    ),
    "sensitivity": (
        {},
        {"epsilon": 0.05, "delta": 1e-12, "population": "exponential", "beside": 1, "weight": 0.99},
        {"epsilon": 15.0, "delta": 0.7, "replications": 1, "weight": 0.01, "beside": 200},
    ),
    "blocking": (
        {"replications": 40},
        {"replications": 20, "n": 100, "share": 1.0, "high": 1e-3, "epsilon": 100.0},
        {"replications": 20, "n": 2001, "share": 0.01, "high": 1e6, "epsilon": 0.01},
    ),
    "before_or_after": (
        {"replications": 50},
        {"replications": 20, "n": 10, "epsilon": 0.01, "high": 1e6},
        {"replications": 20, "n": 10**6, "epsilon": 100.0, "high": 80.0},
    ),
    "time_series": (
        {},
        {"epsilon_1": 0.3, "delta": 1e-6, "rho": -1.0},
        {"a11": 0.0, "a21": 0.0, "reach": 3.0},
    ),
    "noisy_sgd": (
        {"replications": 50},
        {"rho": 0.0, "kappa": 0.0, "steps": 3, "replications": 10},
        {"rho": 0.9, "kappa": 2.0, "steps": 200, "epsilon": 5.0, "rate": 0.5, "penalty": 2.0, "records": 20},
    ),
    "disclosure_control": (
        {"replications": 50},
        {"keep": 1.0, "halfwidth": 0.3, "width": 0.5, "replications": 10, "shift": 40.0},
        {"keep": 0.5, "halfwidth": 20.0, "width": 30.0, "replications": 20, "sample": 7},
    ),
    "composition_examples": (
        {},
        {"epsilon": 5.0, "delta": 0.1, "k": 30, "flip": 0.5},
        {"epsilon": 0.01, "delta": 1e-12, "k": 1, "flip": 0.01},
    ),
}
EVERY = [(name, at) for name, settings in SETTINGS.items() for at in range(len(settings))]


def drawn(picture: Picture) -> pd.DataFrame:
    """Return the numbers of a picture after checking that each of them can be drawn."""
    assert picture.title
    assert picture.takeaway
    if not isinstance(picture, Plot):
        for region in picture.regions.values():
            assert 0 <= region.total_variation <= 1
            assert 0 <= region.beta(0.1) <= 1
        return pd.DataFrame({name: [region.beta(0.1)] for name, region in picture.regions.items()})
    frame = picture.frame
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) > 0
    assert set(frame["kind"]) <= set(KINDS)
    assert set(frame["mark"]) <= set(MARKS)
    heights = frame[["low", "y", "high"]].to_numpy(float)
    assert np.isfinite(heights).all()
    assert (np.diff(heights, axis=1) >= 0).all(), "an error bar holds its value"
    assert np.isfinite(list(picture.reference.values())).all()
    assert not picture.log_y or (heights > 0).all()
    if pd.api.types.is_numeric_dtype(frame["x"]):
        assert np.isfinite(frame["x"]).all()
        assert not picture.log_x or (frame["x"] > 0).all()
    return frame


def told(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a lab's table after checking that no cell is a hole."""
    assert len(rows) > 0
    assert np.isfinite(rows[["value", "error"]].to_numpy(float)).all()
    assert (rows["error"] >= 0).all()
    assert set(rows["kind"]) <= set(KINDS)
    assert set(rows["verdict"]) <= {*VERDICTS, ""}
    assert (rows[["place", "quantity", "why"]] != "").all().all()
    return rows


def test_settings_for_every_lab() -> None:
    assert set(SETTINGS) == set(LABS)


SIMULATED = {
    "mixed_noise": {"table", "ratios", "box"},
    "intervals": {"coverage", "variances"},
    "sensitivity": {"noise", "smooth", "queries", "mechanisms"},
    "blocking": {"error", "centre"},
    "before_or_after": {"median", "releases", "variance"},
    "noisy_sgd": {"ridge", "path"},
    "disclosure_control": {"table_3_4", "figure_3_4"},
}
FEW = {("sensitivity", "noise"), ("sensitivity", "queries"), ("disclosure_control", "figure_3_4")}
"""Pictures of a handful of draws, whatever is asked: at most eight data sets, or one release."""


def test_what_simulates() -> None:
    assert set(SIMULATED) == {name for name, cls in LABS.items() if cls.simulates}


@pytest.mark.parametrize(("name", "at"), EVERY)
def test_every_picture_can_be_drawn_and_comes_again_with_its_seed(name: str, at: int) -> None:
    """Another seed changes what is simulated and nothing else."""
    chosen = lab(name, **SETTINGS[name][at])
    for view in chosen.views:
        made = chosen.view(view, 3)
        frame, simulated = drawn(made), view in SIMULATED.get(name, ())
        assert not simulated or frame.equals(drawn(chosen.view(view, 3))), view
        if chosen.simulates and at == 0:
            assert simulated != frame.equals(drawn(chosen.view(view, 4))), view
    rows = told(chosen.table(1))
    assert rows.equals(chosen.table(1 if chosen.simulates else 2))


# ---- verdicts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "at"), [(name, at) for name, at in EVERY if at])
def test_statements_are_judged_at_the_parameters_of_the_source(name: str, at: int) -> None:
    """A reader's parameters add numbers without a verdict and change no verdict."""
    chosen = lab(name, **SETTINGS[name][at])
    rows, source = chosen.table(3), chosen.source().table(3)
    own = rows["verdict"] == ""
    assert rows[~own].equals(source)
    assert (source["verdict"] != "").all()
    assert own.any()
    assert (rows.loc[own, "why"] == UNJUDGED).all()
    assert (rows.loc[own, "row"] == "").all()
    changed = set(chosen.changes())
    assert changed == {
        key for key, value in SETTINGS[name][at].items() if key != "replications" and getattr(lab(name), key) != value
    }
    for quantity in rows.loc[own, "quantity"]:
        assert all(f"{key} = " in quantity for key in changed)


@pytest.mark.parametrize(
    ("name", "given", "quantity", "value"),
    [
        ("disclosure_control", {"width": 10.0, "halfwidth": 10.0}, "mean squared error of k-PRAM", 16.18),
        (
            "time_series",
            {"epsilon_1": 5.0, "epsilon_2": 5.0},
            "ε2' of a record at time 1, with the variance corrected",
            3.381,
        ),
        ("intervals", {"epsilon": 10.0}, "δ of the noise on the mean at ε = 10", 2.265e-5),
    ],
)
def test_fixed_sentences_are_not_judged_again(name: str, given: dict[str, float], quantity: str, value: float) -> None:
    rows = lab(name, **given).table()
    own = rows[rows["verdict"] == ""].set_index("quantity")
    words = ", ".join(f"{key} = {number:g}" for key, number in given.items())
    found = own.loc[f"{quantity} ({words})"]
    assert found["value"] == pytest.approx(value, rel=1e-2)
    assert "25/6" not in found["why"]
    judged = rows[rows["verdict"] != ""]
    assert judged.equals(lab(name).table())


def test_a_printed_number_of_the_source_stands_beside_its_own_parameters_only() -> None:
    rows = lab("disclosure_control", width=10.0, replications=20).table()
    about = rows[rows["quantity"].str.startswith("mean squared error of k-PRAM")].reset_index(drop=True)
    assert about["printed"].tolist() == ["4.398563", ""]
    assert about["verdict"].tolist() == ["holds", ""]


# ---- the errata -----------------------------------------------------------------------------------------------------

KIND_OF = {"false": "false", "misprint": "misprint", "reading": "reading", "loose": "note"}


@pytest.mark.parametrize("name", sorted(LABS))
def test_a_lab_and_the_errata_judge_a_place_alike(name: str) -> None:
    """What does not hold has a row of the errata, named by the check, and row and check have one verdict."""
    rows = {row.name: row for row in errata.rows(source="statistics")}
    table = lab(name, **SETTINGS[name][0]).table(1)
    for check in table.itertuples():
        if check.verdict in ("false", "misprint", "reading"):
            assert check.row, f"{check.place}: {check.quantity}"
        if check.row:
            assert rows[check.row].kind == KIND_OF[check.verdict], (check.row, check.verdict, check.place)
            ours, theirs = (set(re.findall(r"\d+(?:\.\d+)+", place)) for place in (check.place, rows[check.row].place))
            assert not ours or not theirs or _near(ours, theirs), (check.row, check.place, rows[check.row].place)


def _near(ours: set[str], theirs: set[str]) -> bool:
    """Whether two places are about the same chapter: "Figure 6.1" and "Theorem 6.3.4"."""
    return bool({place.split(".")[0] for place in ours} & {place.split(".")[0] for place in theirs})


def test_the_labs_treat_most_of_the_false_rows_of_their_thesis() -> None:
    """The link is by name, so a renamed row or check is noticed."""
    linked = {row for name in LABS for row in lab(name, **SETTINGS[name][0]).table(1)["row"]} - {""}
    false = {row.name for row in errata.rows(source="statistics", kind="false")}
    assert linked <= {row.name for row in errata.rows(source="statistics")}
    assert false - linked == NO_LAB


NO_LAB = {
    "only-laplace",
    "response-both-ways",
    "variance-of-a-product",
    "densities-are-no-probabilities",
    "variance-transfer",
    "attained-at-itself",
    "sign-of-the-answer",
}
"""False statements of the thesis that no lab is about: side remarks and steps of proofs."""


def test_a_bound_refutes_on_its_own_side_only() -> None:
    """No statement is called false by an upper bound of the true value."""
    for name in LABS:
        table = lab(name, **SETTINGS[name][0]).table(1)
        assert not ((table["verdict"] == "false") & (table["kind"] == "upper")).any(), name


# ---- progress and Stop ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(SIMULATED))
def test_simulations_tell_how_far_they_are_and_can_be_stopped(name: str) -> None:
    chosen = lab(name, **SETTINGS[name][0])
    makers = {view: partial(chosen.view, view) for view in SIMULATED[name] if (name, view) not in FEW}
    if name != "sensitivity":
        makers["the table"] = chosen.table
    for view, make in makers.items():
        seen: list[float] = []
        with effort(progress=seen.append):
            make()
        assert seen, view
        assert seen == sorted(seen), view
        assert 0 <= seen[0] <= seen[-1] <= 1, view
        with effort(deadline=-1.0), pytest.raises(BudgetError, match="time allowed ended"):
            make()


def test_a_stage_is_a_part_of_the_whole() -> None:
    seen: list[float] = []
    with effort(progress=seen.append):
        with stage(0.5, 1.0), stage(0.0, 0.5):
            checkpoint(0.0)
            checkpoint(1.0)
        checkpoint(1.0)
    assert seen == [0.5, 0.75, 1.0]
    with stage(0.0, 0.5):
        checkpoint(1.0)  # nobody listens


def test_progress_never_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after a simulation counts its own work from 0 on."""
    cls, makers = LABS["time_series"], lab("time_series").pictures(np.random.default_rng(0))

    def steps() -> Picture:
        for fraction in (0.2, 0.9, 0.0, 1.0):
            checkpoint(fraction)
        return makers["prior"]()

    def checks(_self: object, _rng: object) -> tuple[()]:
        steps()
        return ()

    seen: list[float] = []
    monkeypatch.setattr(cls, "pictures", lambda _self, _rng: {**makers, "prior": steps})
    with effort(progress=seen.append):
        lab("time_series").view("prior")
    assert seen[:4] == [0.2, 0.9, 0.9, 1.0]
    assert set(seen[4:]) == {1.0}
    monkeypatch.setattr(cls, "checks", checks)
    again: list[float] = []
    with effort(progress=again.append):
        lab("time_series").table()
    assert again == seen


# ---- words ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(LABS))
def test_a_story_is_three_sentences(name: str) -> None:
    story = LABS[name].story
    for sentence in (story.claimed, story.true, story.matters):
        assert sentence.endswith(".")
        assert ". " not in sentence
        assert 8 <= len(sentence.split()) <= 60


def test_a_wrong_picture_is_answered_with_the_nearest() -> None:
    with pytest.raises(DomainError, match="did you mean figure_6_1"):
        lab("time_series").view("figure_61")

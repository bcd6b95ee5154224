"""The page of local privacy: default, every preset, every error; the code it shows runs; no link breaks it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from dpcore.app import composition, local_privacy, local_privacy_panels, mechanisms, page, work
from dpcore.core.errors import DomainError
from dpcore.local import MEASURES, Hypotheses, LocalPromise, binary, optimum
from tests.app import visits
from tests.app.visits import alts, errors, said, sources_without

PAGE = visits.Page("pages/8_Local_privacy.py", "Local privacy")
opened, ran = PAGE.opened, PAGE.ran
PRESETS = {preset.name: preset for preset in page.presets() if preset.page == "Local_privacy"}
QUESTION = Hypotheses((0.5, 0.3, 0.2), (0.2, 0.35, 0.45))


def test_the_default_page_says_what_the_library_finds() -> None:
    app = opened()
    assert not errors(app)
    best = optimum(QUESTION, LocalPromise(1.0), MEASURES["kl"])
    words = alts(app)
    assert len(words) == 3
    assert f"keeps a KL divergence of {best.value:.4g} (exact)" in words[0]
    assert "14 of 100 (one answer, best channel; exact)" in words[2]
    assert "an analyst needs 138 people (exact" in said(app)
    assert "up to ε = 2.4 and randomized response from ε = 2.64 on" in said(app)
    table = next(frame.value for frame in app.dataframe if "holds" in frame.value.columns)
    assert set(table["holds"]) == {"yes"}
    assert set(table["kind"]) == {"upper", "lower", "no bound"}


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name: str) -> None:
    app = opened(**PRESETS[name].state)
    assert not errors(app)
    assert len(alts(app)) == 3
    assert PRESETS[name].title in said(app)


def test_figure_5_shows_all_four_lines() -> None:
    words = alts(opened(**PRESETS["local_figure_5"].state))[0]
    assert "keeps 0.2864 of what the best channel keeps (exact)" in words
    for value in ("0.238 (sharper bound)", "0.0596 (Ghazi, Issa 2023)", "0.0071 (Kairouz et al. 2014)"):
        assert value in words


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (
            {
                "local_p0": "0.5, 0.4, 0.2",
                "local_epsilon": "-1",
                "local_delta": "1",
                "local_eta": "2",
                "local_times": "0",
                "local_alarm": "0.7",
                "local_miss": "<script>",
            },
            (
                "P0 must add up to 1 within 1e-9",
                "ε must be a number in [0, 20], got '-1'.",
                "δ must be a number in [0, 0.999], got '1'.",
                "η must be a number in [0, 1], got '2'.",
                "Answers per person must be an integer in [1, 1000], got '0'.",
                "False alarms must be a number in (0, 0.499], got '0.7'.",
                "Misses must be a number in (0, 0.499], got '<script>'.",
            ),
        ),
        (
            {"local_p1": "0.5, x, 0.5", "local_delta": "0.1", "local_eta": "0.05"},
            ("A probability of P1 must be a number in [0, 1], got 'x'.", "eta must be a number in [0.1, 1], got 0.05"),
        ),
        ({"local_names": "a, b"}, ("as many names as letters (3), got 2",)),
    ],
    ids=["numbers", "lists", "names"],
)
def test_what_cannot_be_read_is_explained(state: dict[str, str], words: tuple[str, ...]) -> None:
    app = opened(**state)
    for text in words:
        assert text in errors(app)
    assert "Correct the field" in said(app)
    assert not alts(app)
    next(button for button in app.button if button.label == "Reset").click()
    assert len(alts(ran(app))) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must be a number"),
        (",".join(["0.001"] * 1000), "at most 4000 characters"),
        (",".join(["0"] * 300), "2 to 64 letters, got 300"),
        ("1e400, 0", "must be a number"),
        ("-1, 2", "must be a number"),
        ("nan, 1", "must be a number"),
    ],
)
def test_lists_that_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        local_privacy.read_masses(text, "P0")


@pytest.mark.parametrize(
    "state",
    [
        {"local_show": "garbage", "local_channel": "garbage", "local_search": "garbage", "local_epsilon": "0"},
        {"local_epsilon": "1e-9", "local_eta": "0", "local_show": "chi-square divergence"},
        {"local_p0": "1, 0", "local_p1": "0, 1", "local_delta": "0.1", "local_epsilon": "20"},
        {"local_p0": "0.4, 0.6", "local_p1": "0.4, 0.6", "local_show": local_privacy.RATIO},
    ],
    ids=["garbage", "tiny", "infinite", "equal"],
)
def test_extreme_questions_do_no_harm(state: dict[str, str]) -> None:
    app = opened(**state)
    assert "Traceback" not in errors(app)
    assert not [word for word in ("nan", "inf ") if word in " ".join(alts(app))]


def test_many_letters_get_a_sentence_and_the_other_channels() -> None:
    first = [1 + i for i in range(14)]
    text = ", ".join(f"{v}/105" for v in first)
    app = opened(local_p0=text, local_p1=", ".join(reversed(text.split(", "))))
    assert not errors(app)
    assert "at most 12 letters with different likelihood ratios; these hypotheses have 14" in said(app)
    assert "Binary mechanism" in said(app)
    assert len(alts(app)) == 3


def test_the_table_writes_into_the_texts() -> None:
    state = {"local_p0": "0.5, 0.3, 0.2", "local_p1": "0.2, 0.35, 0.45"}
    frame = pd.DataFrame({"letter": ["1", "2", "3"], "p0": ["0.5", "0.3", "0.2"], "p1": ["0.2", "0.35", "0.45"]})
    session: dict[str, Any] = {
        **state,
        "t": {"edited_rows": {0: {"p0": "0.4"}}, "added_rows": [{"letter": "x", "p0": "0.1"}], "deleted_rows": [1]},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_privacy_panels.st, "session_state", session)
        local_privacy_panels._take_table("t", frame)
    assert session["local_p0"] == "0.4, 0.2, 0.1"
    assert session["local_p1"] == "0.2, 0.45, 0"
    assert session["local_names"] == "1, 3, x"


def test_fractions_and_names_are_read() -> None:
    assert local_privacy.read_masses("1/3, 2/3", "P0") == pytest.approx((1 / 3, 2 / 3))
    assert local_privacy.read_names(" a , b c ") == ("a", "b c")
    assert local_privacy.read_names("  ") == ()


def test_counting_exactly_narrows_the_bounds() -> None:
    view = local_privacy.LocalPrivacyView(QUESTION, LocalPromise(1.0), channel=local_privacy.MANY)
    assert "people (exact" in local_privacy.people_sentence(view)
    wide = local_privacy.LocalPrivacyView(QUESTION, LocalPromise(0.5), channel=local_privacy.MANY)
    assert "lower bound" in local_privacy.people_sentence(wide)
    assert binary(QUESTION, LocalPromise(0.5)) == local_privacy.channel_of(
        local_privacy.LocalPrivacyView(QUESTION, LocalPromise(0.5), channel=local_privacy.TWO)
    )


def test_a_second_run_computes_nothing() -> None:
    app = opened(local_epsilon="1.25")
    before = set(work.cache().kept)
    ran(app)
    assert set(work.cache().kept) <= before


def test_no_other_page_uses_the_same_keys() -> None:
    other = sources_without("8_Local_privacy.py", "local_privacy.py", "local_privacy_panels.py")
    assert not [key for key in local_privacy.DEFAULTS if f'"{key}"' in other]
    assert not set(local_privacy.DEFAULTS) & {*composition.DEFAULTS, *mechanisms.DEFAULTS}

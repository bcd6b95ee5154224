"""The home page: the story's numbers are right, its link restores it, its code runs, and doors lead to every page."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dpcore.app import navigation, start
from tests.app import visits
from tests.app.visits import ROOT, alts, listing

if TYPE_CHECKING:
    from pathlib import Path

    from streamlit.testing.v1 import AppTest
    from streamlit.testing.v1.element_tree import Button

PAGE = visits.Page("streamlit_app.py", "Privacy you can see")


def opened(**parameters: str) -> AppTest:
    return fine(PAGE.opened(**parameters))


def ran(app: AppTest) -> AppTest:
    return fine(PAGE.ran(app))


def fine(app: AppTest) -> AppTest:
    assert not app.error
    return app


def said(app: AppTest) -> str:
    return " ".join(str(found.value) for found in app.markdown)


def button(app: AppTest, label: str) -> Button:
    return next(found for found in app.button if found.label == label)


# ---- the numbers ---------------------------------------------------------------------------------------------


def test_errors_are_those_of_the_laplace_tail() -> None:
    test = start.StartStory(1.0, 41.0).test
    assert test.alpha == pytest.approx(math.exp(-1) / 2, rel=1e-14)
    assert test.beta == pytest.approx(0.5, rel=1e-14)


def test_errors_are_those_of_a_simulation() -> None:
    told = start.StartStory(0.5, 40.5)
    noise = np.random.default_rng(7).laplace(0.0, 2.0, 200_000)
    assert told.test.alpha == pytest.approx(np.mean(40 + noise > 40.5), abs=5e-3)
    assert told.test.beta == pytest.approx(np.mean(41 + noise <= 40.5), abs=5e-3)


@pytest.mark.parametrize("epsilon", start.EPSILONS)
def test_the_point_lies_on_the_border(epsilon: str) -> None:
    for threshold in (33.0, 39.2, 40.5, 41.0, 48.0):
        told = start.StartStory(float(epsilon), threshold)
        assert told.test.beta == pytest.approx(told.mechanism.beta(told.test.alpha), abs=1e-12)


def test_the_verdict_knows_the_best_threshold() -> None:
    best = start.StartStory(1.0, 40.5).verdict()
    assert "no other threshold does better" in best
    assert "60.7 of 100" in best  # e^-1/2
    other = start.StartStory(1.0, 43.0).verdict()
    assert "no threshold gets below 60.6" in other
    assert min(
        s.test.alpha + s.test.beta for s in (start.StartStory(1.0, t / 10) for t in range(330, 480))
    ) == pytest.approx(math.exp(-0.5))


def test_answers_are_the_same_for_the_same_number() -> None:
    told = start.StartStory(1.0, 40.5)
    assert told.answer(3) == told.answer(3)
    assert told.answer(3) != told.answer(4)
    for number in range(1, 30):
        accused = told.answer(number) > 40.5
        words = told.answer_words(number)
        assert ("the guess accuses you" in words) == accused
        assert words.endswith("the guess is right.") == (accused == told.inside(number))
    assert 30 < sum(told.inside(number) for number in range(1, 101)) < 70


def test_a_bad_threshold_is_not_called_privacy() -> None:
    words = start.StartStory(5.0, 48.0).verdict()
    assert words.startswith("Together that is 100 of 100")
    assert "no threshold gets below 8.2" in words  # 100 e^-5/2
    assert "a bad guess protects nobody" in words
    assert "the closer to 100" not in words


# ---- the page ------------------------------------------------------------------------------------------------


def test_the_first_view() -> None:
    app = opened()
    assert app.title[0].value == "Privacy you can see"
    assert [found.value for found in app.header] == ["Where do you want to go?", "What you see"]
    assert "wrongly accuses **about 30 of 100** (0.3033)" in said(app)
    assert "misses **about 30 of 100** (0.3033)" in said(app)


def test_both_charts_say_what_they_show() -> None:
    noise, region = alts(opened(eps="1.0", t="41.0"))
    assert "wrongly accuses about 18 of 100 people" in noise
    assert "misses 50 of 100 people" in noise
    assert "an attacker who wrongly accuses 5 of 100" in region
    for chart in opened().get("vega_lite_chart"):
        assert json.loads(chart.proto.spec)["layer"]


def test_a_link_restores_the_view() -> None:
    app = opened(eps="0.5", t="42.3")
    assert app.text_input(key="eps").value == app.select_slider(key="eps_slider").value == "0.5"
    assert app.text_input(key="t").value == app.select_slider(key="t_slider").value == "42.3"
    assert "(0.1583)" in said(app)  # e^(-0.5 * 2.3) / 2


def test_moving_the_sliders_moves_the_errors() -> None:
    app = opened()
    app.select_slider(key="t_slider").set_value("48")
    assert "(0.0001677)" in said(ran(app))  # e^-8 / 2
    app.select_slider(key="eps_slider").set_value("0.05")
    assert "(0.3352)" in said(ran(app))  # e^-0.4 / 2


def test_exact_fields_take_what_no_slider_has() -> None:
    app = opened()
    app.text_input(key="eps").set_value("log(2)")
    app.text_input(key="t").set_value("41.25")
    assert "(0.2102)" in said(ran(app))  # 2^-1.25 / 2
    assert app.select_slider(key="t_slider").value == "41.25"


def test_undo_and_reset_bring_back_numbers_and_answers() -> None:
    app = opened()
    app.select_slider(key="t_slider").set_value("43")
    ran(app)
    button(app, "Ask 100 times").click()
    assert "In 100 answers so far" in said(ran(app))
    button(app, "Undo").click()
    assert "answers so far" not in said(ran(app))
    assert app.text_input(key="t").value == "43"
    button(app, "Ask once").click()
    ran(app)
    button(app, "Reset").click()
    assert "The published answer is" not in said(ran(app))
    assert app.text_input(key="t").value == "40.5"


def test_asking_draws_an_answer() -> None:
    app = opened()
    button(app, "Ask once").click()
    first = said(ran(app))
    assert "The published answer is" in first
    button(app, "Ask once").click()
    assert said(ran(app)) != first


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "99", "<script>alert(1)</script>", "1e400", "x" * 10_000])
def test_a_broken_link_is_explained_beside_the_default_picture(value: str) -> None:
    app = PAGE.opened(eps=value, t=value)
    assert "about 30 of 100" in said(app)
    assert len(app.error) == 2
    assert str(app.error[0].value).startswith("Bound ε must be a number")
    assert str(app.error[1].value).startswith("Threshold t must be a number")
    assert all(len(found.value) < 300 for found in app.error)


def test_the_code_saves_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = opened(eps="0.7", t="41.5")
    button(app, "Ask 100 times").click()
    app.run()
    for name in ("noisy_count", "count_region"):
        exec(listing(app, name), {})  # noqa: S102  the lines the page shows
        assert (tmp_path / f"{name}.svg").stat().st_size > 1000


def test_asking_a_hundred_times_puts_a_dot_on_the_region() -> None:
    app = opened()
    button(app, "Ask 100 times").click()
    words = said(ran(app))
    assert "In 100 answers so far" in words
    story = start.StartStory(1.0, 40.5)
    assert story.dots(99) == []
    ((alpha, beta),) = story.dots(100)
    outside, accused, inside, missed = story.errors(1, 100)
    assert outside + inside == 100
    assert (alpha, beta) == (accused / outside, missed / inside)
    assert f"accused in {accused} of these" in words


def test_the_dots_lie_where_chance_puts_them() -> None:
    story = start.StartStory(1.0, 40.5)
    dots = np.array(story.dots(2000))
    assert len(dots) == 20
    spread = math.sqrt(story.test.alpha * (1 - story.test.alpha) / 1000)  # about 1000 answers of each kind
    assert dots[:, 0].mean() == pytest.approx(story.test.alpha, abs=4 * spread)
    assert dots[:, 1].mean() == pytest.approx(story.test.beta, abs=4 * spread)


# ---- the doors -----------------------------------------------------------------------------------------------


def test_every_page_has_a_door_with_a_purpose() -> None:
    doors = [door for group in navigation.GROUPS for door in group.doors]
    files = {f"pages/{file.name}" for file in (ROOT / "pages").glob("*.py")}
    assert {door.file for door in doors} == {"streamlit_app.py", *files}
    assert all(door.purpose.endswith((".", "?")) for door in (*doors, *navigation.FOUR))
    shown = [link.proto.label.strip("*") for link in opened().get("page_link")]
    assert sorted(shown) == sorted(door.label for door in (*doors, *navigation.FOUR))


def test_a_page_without_the_app_around_it_has_no_sidebar() -> None:
    app = visits.Page("pages/6_Limits.py", "Limits").opened()
    assert not app.exception
    assert not app.get("page_link")

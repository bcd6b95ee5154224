"""What was found once, and some inputs of every kind: an answer or one sentence, in time, and numbers that can be."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from dpcore.app import work
from tests.fuzz import links, misbehaviour, watch
from tests.fuzz.corpus import FOLDER, corpus, value_of
from tests.fuzz.fuzzers import KINDS
from tests.fuzz.kinds import ANSWERED, HUNG, PROBLEMS, REFUSED, Kind, Outcome, attempt

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.filterwarnings(  # as in `make fuzz`
    "ignore::dpcore.DomainWarning", "ignore:overflow encountered:RuntimeWarning"
)
COUNTS = {"language": 600, "questions": 40, "regions": 2, "links": 8}
COUNT = 150


@pytest.fixture(autouse=True)
def deadline_of_pages() -> Iterator[None]:
    """Give the pages their time back: a link is asked with less of it."""
    before = work.DEADLINE
    yield
    work.DEADLINE = before


def problem(kind: Kind, given: Any) -> tuple[str, Outcome] | None:
    """Return the input and what went wrong; the clock of a busy machine is not asked here."""
    outcome = attempt(kind, given)
    return (repr(given), outcome) if outcome.name in PROBLEMS else None


@pytest.mark.parametrize(
    ("name", "count"),
    [*((name, COUNTS.get(name, COUNT)) for name in KINDS), pytest.param("links", 30, marks=pytest.mark.long)],
)
def test_an_answer_or_one_sentence(name: str, count: int) -> None:
    kind = KINDS[name]
    found = [problem(kind, kind.draw(1, index)) for index in range(count)]
    assert [one for one in found if one] == []


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.txt")))
def test_what_was_found_once(name: str) -> None:
    found = [problem(KINDS[name], given) for given in corpus(name)]
    assert [one for one in found if one] == []


def test_a_million_inputs() -> None:
    assert sum(kind.count for kind in KINDS.values()) == 1_000_000


@pytest.mark.parametrize("name", [name for name in KINDS if name != "links"])
def test_an_input_can_be_had_again_from_its_line(name: str) -> None:
    draw = KINDS[name].draw
    for index in range(40):
        assert repr(value_of(repr(draw(3, index)))) == repr(draw(3, index))
    assert len({repr(draw(3, index)) for index in range(40)}) > 20


def test_a_line_of_the_corpus() -> None:
    assert value_of('b"a" + b"[" * 3 + b"]"') == b"a[[[]"
    assert value_of("('x', {'a': [-inf, -1.5, True]})") == ("x", {"a": [float("-inf"), -1.5, True]})
    with pytest.raises(ValueError, match="malformed"):
        value_of("open('x')")


@pytest.mark.long
def test_links_go_to_every_page() -> None:
    drawn = [links.draw_link(1, index) for index in range(len(links.pages()))]
    assert [file for file, _ in drawn] == links.pages()
    assert all(query for _, query in drawn)


def test_a_link_is_followed() -> None:
    shown = links.visit(("pages/1_Privacy_regions.py", {"regions": ["dp(0.25"]}))
    assert "dp(0.25" in " ".join(str(error.value) for error in shown.error)


def test_everything_that_goes_wrong_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "HANG", 600.0)  # on a busy machine a second of work may take many
    (kind,) = misbehaviour.KINDS.values()
    ways = [way for way in misbehaviour.WAYS if way != HUNG]
    report = watch.run(kind, [misbehaviour.WAYS.index(way) for way in ways], seed=1, seconds=300.0, jobs=1)
    assert report.outcomes == Counter(ways)
    assert {(finding.given, finding.outcome.name) for finding in report.findings} == {
        (repr(way), way) for way in ways if way in PROBLEMS
    }
    assert report.memory > watch.MOST_MEMORY
    assert any("exit code 3" in finding.outcome.words for finding in report.findings)


def test_what_hangs_is_ended_and_the_others_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "HANG", 5.0)
    (kind,) = misbehaviour.KINDS.values()
    given = [misbehaviour.WAYS.index(way) for way in (REFUSED, HUNG, ANSWERED)]
    report = watch.run(kind, given, seed=1, seconds=300.0, jobs=1)
    assert report.outcomes == Counter((REFUSED, HUNG, ANSWERED))
    (finding,) = report.findings
    assert (finding.given, finding.outcome.name) == ("'hung'", HUNG)


def test_the_time_asked_for_is_kept() -> None:
    (kind,) = misbehaviour.KINDS.values()
    report = watch.run(kind, [misbehaviour.WAYS.index(HUNG)] * 5, seed=1, seconds=0.5, jobs=2)
    assert report.inputs == 0

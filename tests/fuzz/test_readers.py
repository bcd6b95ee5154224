"""A few hundred changed files for every reader: an answer or one sentence, never a traceback."""

from __future__ import annotations

import pytest

from tests.fuzz.findings import tried
from tests.fuzz.readers import READERS, fuzz_reader, fuzz_report_specs

COUNT = 150


@pytest.mark.parametrize("name", READERS)
def test_a_reader_answers_or_says_why_not(name: str) -> None:
    assert fuzz_reader(name, COUNT, seed=1) == []


def test_a_report_spec_is_drawn_or_says_why_not() -> None:
    assert fuzz_report_specs(COUNT, seed=1) == []


def test_a_fuzzer_sees_what_goes_wrong() -> None:
    def wrong(data: bytes) -> None:
        raise KeyError(data)

    (found,) = tried("wrong", wrong, b"abc")
    assert (found.fuzzer, found.given) == ("wrong", "b'abc'")
    assert "KeyError" in found.problem
    (slow,) = tried("slow", len, b"abc", seconds=-1.0)
    assert slow.problem.startswith("It took")

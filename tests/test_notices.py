"""Notices: ordinary warnings for a script, values for whoever collects them, never those of another thread."""

from __future__ import annotations

import doctest
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

import dpcore
from dpcore import dptv, parse
from dpcore.core import notices
from dpcore.core.errors import DomainWarning
from dpcore.core.notices import collected, notice


def test_without_a_collector_a_notice_is_a_warning() -> None:
    with pytest.warns(DomainWarning, match="it changes nothing") as caught:
        dptv(0.6, 0.1, 0.9)
    assert len(caught) == 1


def test_a_collector_hears_its_own_block_and_no_warning_is_given() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with collected() as outer:
            parse("dptv(0.6, 0.1, 0.9)")
            with collected() as inner:
                notice("Inside.")
            notice("Outside.")
    assert inner == ["Inside."]
    assert len(outer) == 2
    assert outer[1] == "Outside."


def test_no_thread_hears_what_is_said_to_another() -> None:
    together = Barrier(8)

    def visit(number: int) -> list[str]:
        with collected() as heard:
            for _ in range(50):
                together.wait(30)
                parse(f"dptv(0.6, 0.1, 0.9{number})")
        return heard

    with ThreadPoolExecutor(8) as visitors:
        for number, heard in enumerate(visitors.map(visit, range(8))):
            assert len(heard) == 50
            assert {text.split(" is above")[0] for text in heard} == {f"eta {float(f'0.9{number}')!r}"}


def test_only_the_command_line_speaks_to_the_whole_process() -> None:
    """A filter of Python's warnings is one for all visitors of the app; the site runs its examples in a process of its own."""
    package = Path(dpcore.__file__).parent
    speaking = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if re.search(r"\bwarnings\.\w", file.read_text(encoding="utf-8"))
    }
    alone = {"core/notices.py", "site/reference/examples.py"}
    assert {file for file in speaking if not file.startswith("cli/")} == alone


def test_the_example_of_the_module() -> None:
    assert doctest.testmod(notices, optionflags=doctest.ELLIPSIS).failed == 0

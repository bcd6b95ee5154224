"""Attributes and modules made when first asked for."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import dpcore
from dpcore.core.lazy import LateModule, Lazy


class Counted:
    def __init__(self, gate: threading.Event | None = None) -> None:
        self.made = 0
        self.begun = threading.Event()
        self.gate = gate

    @Lazy
    def value(self) -> int:
        """How often it was made."""
        self.begun.set()
        if self.gate is not None:
            assert self.gate.wait(20)
        self.made += 1
        return self.made


def test_a_value_is_made_once_and_kept_in_the_object() -> None:
    first, second = Counted(), Counted()
    assert "value" not in vars(first)
    assert (first.value, first.value, first.made) == (1, 1, 1)
    assert vars(first)["value"] == 1
    assert second.made == 0


def test_the_class_shows_the_attribute_and_its_words() -> None:
    assert isinstance(Counted.value, Lazy)
    assert Counted.value.__doc__ == "How often it was made."


def test_a_long_computation_holds_up_no_other_object() -> None:
    gate = threading.Event()
    slow, quick = Counted(gate), Counted()
    worker = threading.Thread(target=lambda: slow.value)
    other = threading.Thread(target=lambda: quick.value)
    worker.start()
    assert slow.begun.wait(20)
    other.start()
    other.join(5)
    done = quick.made
    gate.set()
    worker.join(20)
    other.join(20)
    assert (done, slow.made) == (1, 1)


def test_no_object_waits_for_the_lock_of_another_one() -> None:
    """One visitor's training run would hold up the Stop of everybody else, and its lock would be held for ever in a forked worker."""
    with_a_lock = [
        str(file)
        for file in Path(dpcore.__file__).parent.rglob("*.py")
        if file.name != "lazy.py" and "cached_property" in file.read_text(encoding="utf-8")
    ]
    assert with_a_lock == []


def test_a_module_is_imported_when_something_of_it_is_asked_for() -> None:
    assert LateModule("math").pi == 3.141592653589793
    code = "import sys, dpcore.cli.commands.report; print('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "False\n"

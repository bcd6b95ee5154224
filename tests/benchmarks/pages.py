"""Time every page from a changed parameter to the finished chart, and show that a rerun does nothing twice.

The script of a page is run as Streamlit runs it, without a browser; the time is that of the whole script, widgets and
charts included. Results go to PAGES.md beside this file.
"""

from __future__ import annotations

import logging
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

from streamlit.testing.v1 import AppTest

from dpcore.app import work

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

logging.disable(logging.WARNING)  # a script run without a server says so each time

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 3
CHANGES = {
    # page -> (parameter in the link, its text, numbers it takes in turn, what they move by from round to round)
    "streamlit_app.py": ("t", "{}", (38.3, 39.7, 41.1, 42.6, 44.2), 0.1),
    "1_Privacy_regions.py": ("regions", "dp({0});laplace({0})", (0.3, 0.7, 1.1, 1.6, 2.2), 0.01),
    "2_Composition.py": ("epsilon", "{}", (0.03, 0.07, 0.11, 0.16, 0.22), 0.001),
    "2_Composition.py, k = 1000": ("k", "{}", (1000, 1001, 1003, 1007, 1013), 20),
    "7_Subsampling.py": ("sub_p", "{}", (0.013, 0.027, 0.041, 0.066, 0.082), 0.0001),
    "3_Mechanisms.py": ("expression", "laplace({})", (0.3, 0.7, 1.1, 1.6, 2.2), 0.01),
}


class Clock:
    """Adds up the milliseconds that go into results made anew: the library's numbers and the charts."""

    def __init__(self) -> None:
        self.spent, self._inside = 0.0, False
        self._compute = work.ResultCache._compute
        work.ResultCache._compute = self._timed  # type: ignore[method-assign,assignment]  # measured where the work is done

    def _timed(self, key: Hashable, make: Callable[[], object]) -> object:
        cache = work.cache()
        if self._inside:
            return self._compute(cache, key, make)
        self._inside, start = True, time.process_time()
        try:
            return self._compute(cache, key, make)
        finally:
            self._inside = False
            self.spent += 1000 * (time.process_time() - start)


def timed(app: AppTest) -> float:
    """Run a page and return the milliseconds of the processor it took."""
    start = time.process_time()
    app.run()
    if app.exception:
        raise RuntimeError(app.exception[0].message)
    return 1000 * (time.process_time() - start)


def measured(name: str, clock: Clock) -> list[float]:
    """Return first run, computation and whole script after a change, rerun, and results found ready in it.

    Computation and script are medians over five values, the smallest of three such medians: others use the processor too.
    """
    key, text, numbers, move = CHANGES[name]
    file = name.split(",", maxsplit=1)[0]
    path = ROOT / file if file == "streamlit_app.py" else ROOT / "pages" / file
    app = AppTest.from_file(str(path), default_timeout=60)
    first, computed, changed = timed(app), [], []
    for turn in range(ROUNDS):
        before, rows = clock.spent, []
        for number in numbers:
            value = round(number + turn * move, 6)
            app.session_state[key] = text.format(value)
            whole = timed(app)
            rows.append((clock.spent - before, whole))
            before = clock.spent
        made, whole_script = (statistics.median(row) for row in zip(*rows, strict=True))
        computed.append(made)
        changed.append(whole_script)
    hits = work.cache().hits
    again = timed(app)
    return [first, min(computed), min(changed), again, work.cache().hits - hits]


def main() -> None:
    """Measure all pages and write the table."""
    lines = [
        "# Pages",
        "",
        (
            "Written by `make benchmark`: milliseconds of the processor, medians over five values of one parameter that were "
            "never asked before, the smallest of three such medians. “Computed” is the time for the numbers and charts, “script” that of the whole page with its "
            "widgets, run without a browser; “again” runs the last value once more."
        ),
        "",
        "| page | first run | computed | script | again | results found ready |",
        "|---|---|---|---|---|---|",
    ]
    clock = Clock()
    for name in CHANGES:
        row = measured(name, clock)
        lines.append(f"| {name} | " + " | ".join(f"{value:.0f}" for value in row) + " |")
        print(lines[-1], flush=True)
    (Path(__file__).parent / "PAGES.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Count the files that four questions walk through, and how often a walk goes from one file to another.

``python -m tests.benchmarks.walks`` asks each question once, so that everything is imported, and counts while it is asked
again; ``cold`` counts the first time as well, imports included. A newcomer who follows a question reads these files.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

ROOT: Final = Path(__file__).resolve().parents[2]
OURS: Final = tuple(str(ROOT / part) for part in ("dpcore", "pages", "streamlit_app.py"))


class Walk:
    """Files of ours whose functions are called, and the changes from one to another, in all threads."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.switches = 0
        self._last: str | None = None

    def __enter__(self) -> Self:
        """Begin to count."""
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        return self

    def __exit__(self, *error: object) -> None:
        """Stop counting."""
        sys.setprofile(None)
        threading.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        file = frame.f_code.co_filename
        if not file.startswith(OURS):
            return
        self.files.add(file)
        if file != self._last:
            self.switches += 1
            self._last = file


def command(*words: str) -> Callable[[], None]:
    """Return a call of the command line whose output is not shown."""
    from dpcore.cli import main

    def run() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            status = main(list(words))
        assert status == 0, words

    return run


def regions_page() -> None:
    """Open the page Privacy regions as a new visitor."""
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "pages" / "1_Privacy_regions.py"), default_timeout=120).run()
    assert not app.exception


def report(folder: Path) -> Callable[[], None]:
    """Return a build of the office's report that ships with the package, into a new file each time."""
    text = folder / "report.md"
    command("report", "new", "office", "-o", str(text))()
    pages = iter(range(10))

    def build() -> None:
        command("report", "build", str(text), "-o", str(folder / f"report_{next(pages)}.html"))()

    return build


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        walks: dict[str, Callable[[], None]] = {
            "deltas": command("deltas", "dp(0.6, 0.05)^5"),
            "page Privacy regions": regions_page,
            "ledger": command("ledger", str(ROOT / "data" / "ledgers" / "quarter.csv")),
            "report": report(Path(folder)),
        }
        rows = []
        for name, walk in walks.items():
            with Walk() as cold:
                walk()
            with Walk() as warm:
                walk()
            rows.append((name, len(warm.files), warm.switches, len(cold.files), cold.switches))
    columns = ["walk", "files", "switches", "files cold", "switches cold"]
    sys.stdout.write(pd.DataFrame(rows, columns=columns).to_string(index=False) + "\n")


if __name__ == "__main__":
    main()

"""PDF files, printed by Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING, Final

from dpcore.core.errors import DpcoreError

if TYPE_CHECKING:
    from pathlib import Path

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
SECONDS: Final = 120  # then a browser that hangs is given up


def find_chromium() -> str:
    """Return the path of Chromium or a related browser."""
    for name in BROWSERS:
        path = shutil.which(name)
        if path is not None:
            return path
    msg = (
        "A PDF needs Chromium, which was not found (on Debian: apt-get install chromium); "
        "an .html report can be printed from any browser."
    )
    raise DpcoreError(msg)


def print_pdf(page: Path, target: Path) -> None:
    """Print a page to a PDF file."""
    browser = find_chromium()
    with tempfile.TemporaryDirectory() as profile:
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            f"--user-data-dir={profile}",
            "--no-pdf-header-footer",
            f"--print-to-pdf={target.resolve()}",
            page.resolve().as_uri(),
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:  # Chromium's sandbox refuses to run as root
            command.insert(1, "--no-sandbox")
        try:
            process = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            msg = f"Chromium did not print the page within {SECONDS} s."
            raise DpcoreError(msg) from None
    if process.returncode != 0 or not target.is_file():
        last = (process.stderr.strip().splitlines() or ["no message"])[-1]
        msg = f"Chromium could not print the page: {last[:200]}"
        raise DpcoreError(msg)

"""The example that comes with the package: scores of an attack on a noisy count (``data/audits``)."""

from __future__ import annotations

from pathlib import Path

NAME = "noisy_count.csv"


def example() -> bytes:
    """Return the file of the example: 400 outsiders and 400 members, invented; the mechanism is ``gaussian(0.7)``."""
    package = Path(__file__).resolve().parents[1]
    bundled = package / "_bundle" / "data"  # inside the package in a wheel, beside it in a checkout
    return ((bundled if bundled.is_dir() else package.parent / "data") / "audits" / NAME).read_bytes()

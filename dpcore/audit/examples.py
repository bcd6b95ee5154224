"""The example that comes with the package: scores of an attack on a noisy count (``data/audits``)."""

from __future__ import annotations

from dpcore.files.data import data_folder

NAME = "noisy_count.csv"


def example() -> bytes:
    """Return the file of the example: 400 invented outsiders and 400 members; the mechanism is ``gaussian(0.7)``."""
    return (data_folder() / "audits" / NAME).read_bytes()

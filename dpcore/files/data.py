"""The data of the package: presets, texts, datasets and errata."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def data_folder() -> Path:
    """Return the folder of the data: inside the package in a wheel, beside it in a checkout."""
    bundled = _PACKAGE / "_bundle" / "data"
    return bundled if bundled.is_dir() else _PACKAGE.parent / "data"


def default_site() -> Path:
    """Return the spec of the site of dpcore itself."""
    return data_folder() / "site.toml"

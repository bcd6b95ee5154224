"""Presets: named states of the pages of the app, and the links that open them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from dpcore.files.data import data_folder
from dpcore.language.problems import nearest, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.specs.base import Spec


@dataclass(frozen=True)
class Preset:
    """A named state of a page, which its link restores."""

    name: str
    page: str
    title: str
    meaning: str
    source: str = ""
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def query(self) -> str:
        """The state as a query string."""
        return query(self.state)


def query(state: Mapping[str, Any]) -> str:
    """Return the state of a page as a query string."""
    pairs = [(key, text) for key, value in state.items() for text in parameters(value)]
    return urlencode(pairs, quote_via=quote)


def parameters(value: Any) -> list[str]:
    """Return a value as the texts of a link."""
    return [_flat(item) for item in several(value)]


def several(value: Any) -> list[Any]:
    """Return a value of a state as a list: a field may hold several."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _flat(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():  # 1, not 1.0, as sliders write it
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


@lru_cache(maxsize=1)
def presets() -> tuple[Preset, ...]:
    """Return all presets of all pages, from data/presets/*.toml."""
    files = sorted((data_folder() / "presets").glob("*.toml"))
    tables = (tomllib.loads(file.read_text(encoding="utf-8")) for file in files)
    return tuple(Preset(**row) for table in tables for row in table.get("preset", []))


def app_link(spec: Spec) -> str:
    """Return the link, relative to the app, that restores a figure; empty if there is none."""
    if "link" in spec:
        return _address(spec["link"]["page"], query(spec["link"].get("state", {})))
    if "preset" not in spec:
        return ""
    by_name = {preset.name: preset for preset in presets()}
    if spec["preset"] not in by_name:
        spec.fail(f"there is no preset {quoted(spec['preset'])}; {nearest(spec['preset'], by_name)}".strip(), "preset")
    match = by_name[spec["preset"]]
    return _address(match.page, match.query)


def _address(page: str, query_: str) -> str:
    return f"{page}?{query_}" if query_ else page

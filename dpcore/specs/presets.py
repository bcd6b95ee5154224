"""Presets: named states of the app's pages, and the links that open them."""

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
    """A named state of a page: what its link sets."""

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
    """Return a page's state as the query string that sets it."""
    pairs = [(key, text) for key, value in state.items() for text in parameters(value)]
    return urlencode(pairs, quote_via=quote)


def parameters(value: Any) -> list[str]:
    """Return the texts that stand for a value in a link."""
    return [_flat(item) for item in several(value)]


def several(value: Any) -> list[Any]:
    """Return a value of a state as a list: a field may hold some."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _flat(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():  # as sliders write them: 1, not 1.0
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


@lru_cache(maxsize=1)
def presets() -> tuple[Preset, ...]:
    """Return all presets of all pages, from data/presets/*.toml."""
    found: list[Preset] = []
    for file in sorted((data_folder() / "presets").glob("*.toml")):
        found += [Preset(**row) for row in tomllib.loads(file.read_text(encoding="utf-8")).get("preset", [])]
    return tuple(found)


def app_link(spec: Spec) -> str:
    """Return the page of the app with the state that restores a figure, relative to the app; empty if there is none."""
    if "link" in spec:
        return _address(spec["link"]["page"], query(spec["link"].get("state", {})))
    if "preset" not in spec:
        return ""
    by_name = {preset.name: preset for preset in presets()}
    if spec["preset"] not in by_name:
        spec.fail(f"there is no preset {quoted(spec['preset'])}; {nearest(spec['preset'], by_name)}".strip(), "preset")
    chosen = by_name[spec["preset"]]
    return _address(chosen.page, chosen.query)


def _address(page: str, query_: str) -> str:
    return f"{page}?{query_}" if query_ else page

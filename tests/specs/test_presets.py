"""The presets of all pages: names of their own, since figures link to them by name."""

from __future__ import annotations

from dpcore.specs.presets import presets


def test_every_preset_has_a_name_of_its_own() -> None:
    names = [preset.name for preset in presets()]
    assert len(names) > 60
    assert sorted({name for name in names if names.count(name) > 1}) == []

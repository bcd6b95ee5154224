"""What the tests of pages share: what does not change between two visits is done once, as on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from altair.utils.schemapi import debug_mode
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import local_script_runner

from dpcore.app import work

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def done_once() -> Iterator[None]:
    """Compile each page's script once and look once for components among the packages, and not for every visit anew."""
    shared, found = ScriptCache(), manifest_scanner.scan_component_manifests()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "DEADLINE", 120.0)  # what a page shows is tested, not how fast this machine is
        patch.setattr(local_script_runner, "ScriptCache", lambda: shared)
        patch.setattr(manifest_scanner, "scan_component_manifests", lambda: found)
        yield


@pytest.fixture(scope="module")
def quick_charts() -> Iterator[None]:
    """Skip Altair's check of every chart against its schema, which tests/charts makes, and which takes most of the time."""
    with debug_mode(False):
        yield

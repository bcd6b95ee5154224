"""What the tests of pages share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import local_script_runner

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Iterator[None]:
    """Compile each page's script once, as a server does, and not for every visit anew."""
    shared = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "ScriptCache", lambda: shared)
        yield

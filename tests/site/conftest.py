"""The whole site, built once for all tests."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from dpcore.cli.describe import commands
from dpcore.site import build_site, default_file

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 300  # s that a worker waits for another one's build


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the whole site as long: building it takes a minute of a core."""
    for item in items:
        if "site" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.long)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what reports keep between builds in a folder of the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build dpcore's own site, or wait for the worker that does; all workers share one folder."""
    root = tmp_path_factory.getbasetemp()
    shared = root.parent if os.environ.get("PYTEST_XDIST_WORKER") else root
    folder, done, lock = shared / "site", shared / "site.done", shared / "site.building"
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        for _ in range(10 * PATIENCE):
            if done.exists():
                assert done.read_text() == "built", "another worker could not build the site"
                return folder
            time.sleep(0.1)
        pytest.fail("The site was not built in time.")
    try:
        build_site(default_file(), folder, processes=1, commands=commands())
        done.write_text("built")
    except BaseException:
        done.write_text("failed")
        raise
    return folder

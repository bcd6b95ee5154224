"""Carry the app into the wheel: what lies beside the package in a checkout lies in ``dpcore/_bundle`` once installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# never a folder that may hold secrets
BUNDLED = ("serve.py", "streamlit_app.py", "pages", "data", "CHANGELOG.md", ".streamlit/config.toml")


class BundleHook(BuildHookInterface):  # type: ignore[type-arg]  # its parameter is hatchling's own builder configuration
    """Force-include the parts of the app that exist; hatchling's static table fails on a missing path."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the parts, except to an editable install, which uses the checkout itself."""
        if version == "editable":
            return
        root = Path(self.root)
        parts = (name for name in BUNDLED if (root / name).exists())
        build_data["force_include"].update({str(root / name): f"dpcore/_bundle/{name}" for name in parts})

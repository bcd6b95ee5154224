"""The static site and reports: the same tables and charts as pages that need no server and no network."""

from __future__ import annotations

import importlib.util

from dpcore.core.errors import DpcoreError

for _name, _package in (
    ("jinja2", "jinja2"),
    ("markdown_it", "markdown-it-py"),
    ("mdit_py_plugins", "mdit-py-plugins"),
    ("latex2mathml", "latex2mathml"),
    ("vl_convert", "vl-convert-python"),
):
    if importlib.util.find_spec(_name) is None:
        _msg = f'Sites and reports need {_package}; install it with: pip install "dpcore[report]".'
        raise DpcoreError(_msg)

from dpcore.site.build import Built, build_site
from dpcore.site.config import default_file
from dpcore.site.report import build_report, is_report

__all__ = ["Built", "build_report", "build_site", "default_file", "is_report"]

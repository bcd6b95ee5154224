"""``dpcore app``: start the Streamlit app, from a checkout or from an installed wheel."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.core.errors import DpcoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPT = "serve.py"


def find_app() -> Path:
    """Return the app's script: beside the package in a checkout, inside it in a wheel.

    A checkout must have a ``pyproject.toml``, so that an unrelated file with the same name next to an installed package
    is never started.
    """
    package = Path(__file__).resolve().parent.parent
    bundled = package / "_bundle" / SCRIPT
    beside = package.parent / SCRIPT
    if bundled.is_file():
        return bundled
    if beside.is_file() and (package.parent / "pyproject.toml").is_file():
        return beside
    msg = f"This installation of dpcore has no {SCRIPT}; install dpcore from its wheel or run it from a checkout."
    raise DpcoreError(msg)


def run_app(arguments: Sequence[str] = ()) -> int:
    """Run ``python serve.py`` in place of this process.

    Parameters
    ----------
    arguments : sequence of str, default ()
        Options of ``streamlit run``, such as ``--server.port 8600``.

    Returns
    -------
    int
        The exit code.
    """
    missing = [name for name in ("streamlit", "altair") if importlib.util.find_spec(name) is None]
    if missing:
        msg = f'The app needs {" and ".join(missing)}; install them with: pip install "dpcore[app]".'
        raise DpcoreError(msg)
    # Python looks for imports in the script's folder, not in the working directory: no file there can shadow a module.
    command = [sys.executable, str(find_app()), *arguments]
    if sys.platform == "win32":
        return subprocess.call(command)
    # The server keeps the process id of dpcore, so that this id can be used to stop the app.
    sys.stdout.flush()
    return os.execv(sys.executable, command)

"""The environment of the peers: libraries that dpcore is compared with, apart from its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
ENVIRONMENT: Final = HERE / ".venv"


def peers_python() -> Path:
    """Return the interpreter of the peers' environment; make it, or bring it up to date, first."""
    python = ENVIRONMENT / "bin" / "python"
    wanted = HERE / "requirements.txt"
    stamp = ENVIRONMENT / ".ready"
    if stamp.exists() and stamp.stat().st_mtime >= wanted.stat().st_mtime:
        return python
    subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*install, "-r", str(wanted)], check=False).returncode:
        # One peer may be impossible to install here; the others shall still be compared.
        for line in wanted.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                subprocess.run([*install, line], check=False)
    stamp.touch()
    return python

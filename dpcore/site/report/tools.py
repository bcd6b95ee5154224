"""Pandoc, Typst and a converter of pictures, each in a process of its own: no network, no file but those handed over, and a limit of time and memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dpcore.core.errors import DpcoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS: Final = 60  # a report of a hundred pages takes two
MEMORY: Final = 1_500_000_000  # bytes; Typst keeps its fonts and pictures in memory
INSTALL: Final = 'pip install "dpcore[documents]"'
NOWHERE: Final = "http://127.0.0.1:9"  # the discard port: whatever asks for a proxy reaches nobody
_TYPST: Final = """
import json, sys, typst
facts = json.loads(sys.stdin.read())
try:
    data = typst.compile("main.typ", root=".", format="pdf", ignore_system_fonts=facts["bare"])
except Exception as error:
    sys.stderr.write(str(error))
    sys.exit(3)
sys.stdout.buffer.write(data)
"""


_SVG: Final = """
import sys, vl_convert
form, ppi = sys.argv[1:]
svg = sys.stdin.buffer.read().decode()
try:
    data = vl_convert.svg_to_png(svg, ppi=float(ppi)) if form == "png" else vl_convert.svg_to_pdf(svg)
except Exception as error:
    sys.stderr.write(str(error).partition("\\n")[0])
    sys.exit(3)
sys.stdout.buffer.write(data)
"""


def has(name: str) -> bool:
    """Return whether a wheel is installed."""
    return find_spec(name) is not None


def need(module: str, what: str) -> None:
    """Refuse if a wheel is missing; the error says what to install."""
    if not has(module):
        msg = f"{what} needs {module}, which is not installed: {INSTALL}."
        raise DpcoreError(msg)


def pandoc(options: list[str], data: bytes, files: Mapping[str, bytes] | None = None) -> bytes:
    """Run Pandoc in its sandbox on some bytes and return what it writes.

    Parameters
    ----------
    options : list of str
        Formats and options; they name no file except our own template or target.
    data : bytes
        Its input.
    files : mapping of str to bytes, optional
        Files that the options name, such as a bibliography or a template.

    Returns
    -------
    bytes
        Its output.
    """
    need("pypandoc", "Citations, docx, tex, md and ipynb" if "typst" not in options else "A PDF")
    import pypandoc  # type: ignore[import-untyped]  # noqa: PLC0415  # an optional dependency, without types

    command = [pypandoc.get_pandoc_path(), "--sandbox", *options, "+RTS", "-M1g", "-RTS"]
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (files or {}).items():
            (Path(folder) / name).write_bytes(content)
        return _run(command, data, Path(folder), "Pandoc")


def typst_pdf(folder: Path) -> bytes:
    """Return the PDF of ``main.typ`` in a folder; nothing outside of the folder can be read."""
    need("typst", "A PDF")
    return _run([sys.executable, "-I", "-c", _TYPST], b'{"bare": true}', folder, "Typst")


def picture_of(svg: str, form: str, ppi: float) -> bytes:
    """Return a user's SVG as ``png`` or ``pdf``; what is too large or not an SVG is an error in one sentence."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-I", "-c", _SVG, form, str(ppi)]
        return _run(command, svg.encode(), Path(folder), "The converter of SVG pictures")


def _run(command: list[str], data: bytes, folder: Path, name: str) -> bytes:
    environment = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP") if key in os.environ}
    environment |= dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), NOWHERE)
    environment |= {
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "SOURCE_DATE_EPOCH": "0",
        "TYPST_PACKAGE_PATH": str(folder),
    }
    try:
        process = subprocess.run(
            command,
            input=data,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            cwd=folder,
            env=environment,
            preexec_fn=_limit if os.name == "posix" else None,
        )
    except subprocess.TimeoutExpired:
        msg = f"{name} did not finish within {SECONDS} s."
        raise DpcoreError(msg) from None
    if process.returncode != 0:
        last = " ".join(process.stderr.decode("utf-8", "replace").split())[:400] or f"exit code {process.returncode}"
        msg = f"{name} could not write the document: {last}"
        raise DpcoreError(msg)
    return process.stdout


def _limit() -> None:
    """Bound time and memory of the process that starts now; it runs before its program."""
    import resource  # noqa: PLC0415  # not on every system

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

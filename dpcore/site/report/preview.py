"""A preview of a report: a local server that rebuilds it when one of its files changes, and tells the browser."""

from __future__ import annotations

import contextlib
import html
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dpcore.core.errors import DomainError, DpcoreError
from dpcore.files.paths import inside
from dpcore.site.progress import Progress
from dpcore.site.report.build import drawn_figures
from dpcore.site.report.citations import citations_of
from dpcore.site.report.document import load_document
from dpcore.site.report.page import report_page
from dpcore.site.report.typed import typed_statements

if TYPE_CHECKING:
    from collections.abc import Mapping

ADDRESS: Final = "127.0.0.1"
POLL: Final = 0.25  # seconds between two checks of the files
WAIT: Final = 15.0  # seconds after which an idle connection of a browser is answered
MOST_WAITING: Final = 16  # browsers that wait for a change at the same time
_RELOAD: Final = """
(() => {
  const listen = () => {
    const source = new EventSource("/events?%d");
    source.onmessage = () => location.reload();
    source.onerror = () => { source.close(); setTimeout(listen, 500); };
  };
  listen();
})();
"""
_ERROR: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A mistake in the report</title>
<style>body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 45rem; margin: 3rem auto; padding: 0 1rem; }
.said { border-left: 4px solid #d55e00; padding-left: 1rem; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee; } }</style></head>
<body><main><h1>A mistake in the report</h1><p class="said">%s</p><p>Correct it and save: this page reloads by itself.</p></main>
<script>%s</script></body></html>
"""


@dataclass
class Preview:
    """The page of a report as it is now.

    Attributes
    ----------
    source : Path
        The report.
    settings : mapping of str to str
        Its parameters.
    version : int
        Grows with every change.
    page : str
        Its page, or a page with what is wrong.
    drawn : tuple of str
        The figures that the last build had to draw.
    notes : tuple of str
        What its author should look at: numbers that were typed.
    """

    source: Path
    settings: Mapping[str, str]
    cache: Path
    version: int = 0
    page: str = ""
    problem: str = ""
    drawn: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seen: dict[Path, float] = field(default_factory=dict)
    changed: threading.Condition = field(default_factory=threading.Condition)
    waiting: int = 0

    def build(self) -> None:
        """Build the page; a mistake becomes a page that says it."""
        self.version += 1
        reload = _RELOAD % self.version
        paths = [self.source, *self.seen]
        try:
            document = load_document(self.source, self.settings)
            figures, self.drawn = drawn_figures(document, self.cache, Progress(quiet=True))
            self.page = report_page(document, figures, citations_of(document), reload=reload)
            self.problem = ""
            self.notes = tuple(typed_statements(document))
            paths = [self.source, *(inside(document.folder, name) for name in document.inputs)]
        except DpcoreError as error:
            self.problem = str(error)
            self.page = _ERROR % (html.escape(self.problem), reload)
        self.seen = {path: _time(path) for path in paths}
        with self.changed:
            self.changed.notify_all()

    def look(self) -> bool:
        """Build again if a file has changed; return whether one had."""
        if all(_time(path) == seen for path, seen in self.seen.items()):
            return False
        self.build()
        return True


def _time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return -1.0


def server_of(preview: Preview, port: int) -> ThreadingHTTPServer:
    """Return a preview server for this machine alone; port 0 takes a free port."""

    class Handler(BaseHTTPRequestHandler):
        """Answers with the page, and with an event when it has changed."""

        def do_GET(self) -> None:  # the name that the server looks for
            """Answer one request."""
            host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
            if host not in (ADDRESS, "localhost"):  # a page of another name must not read the report
                self.send_error(HTTPStatus.FORBIDDEN)
                return
            path, _, query = self.path.partition("?")
            if path == "/":
                self._answer("text/html; charset=utf-8", preview.page.encode())
            elif path == "/events" and query.isdigit() and len(query) < 10:
                self._wait(int(query))
            else:
                self.send_error(HTTPStatus.NOT_FOUND)

        def _wait(self, version: int) -> None:
            with preview.changed:
                if preview.waiting >= MOST_WAITING:
                    self.send_error(HTTPStatus.SERVICE_UNAVAILABLE)
                    return
                preview.waiting += 1
                preview.changed.wait_for(lambda: preview.version != version, timeout=WAIT)
                preview.waiting -= 1
            self._answer("text/event-stream", b"data: changed\n\n" if preview.version != version else b": idle\n\n")

        def _answer(self, kind: str, data: bytes) -> None:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            with contextlib.suppress(ConnectionError):  # the browser has left
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Log no requests."""

    ThreadingHTTPServer.daemon_threads = True
    return ThreadingHTTPServer((ADDRESS, port), Handler)


def serve(source: Path, port: int, settings: Mapping[str, str]) -> int:
    """Serve a report until the command is interrupted.

    Parameters
    ----------
    source : Path
        The report.
    port : int
        Of this machine.
    settings : mapping of str to str
        Parameters of the report.

    Returns
    -------
    int
        The exit code.
    """
    if not source.is_file():
        msg = f"There is no file {str(source)[-80:]!r}."
        raise DomainError(msg)
    with tempfile.TemporaryDirectory() as cache:
        preview = Preview(source, settings, Path(cache))
        preview.build()
        try:
            server = server_of(preview, port)
        except OSError as error:
            msg = f"The port {port} of {ADDRESS} cannot be used: {error.strerror}; choose another with --port."
            raise DpcoreError(msg) from None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdout.write(f"{source}: http://{ADDRESS}:{port}/ (Ctrl+C ends)\n")
        sys.stdout.flush()
        try:
            while True:  # until Ctrl+C
                for note in preview.notes:
                    sys.stderr.write(f"note: {note}\n")
                if preview.problem:
                    sys.stderr.write(f"error: {preview.problem}\n")
                preview.notes, preview.problem = (), ""
                time.sleep(POLL)
                if preview.look() and not preview.problem:
                    sys.stdout.write(f"built again; drew {len(preview.drawn)} figures\n")
                    sys.stdout.flush()
        finally:
            server.shutdown()
            server.server_close()

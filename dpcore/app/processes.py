"""Several processes of the app behind nginx, with one health address: ``dpcore app --processes 3``.

One process of Python uses one core. With several, nginx (``data/server/nginx.conf``) listens at the address of the app and
sends each visitor to one of them; a process that ends is restarted. The processes are copies (``os.fork``) of one that
has loaded everything and serves nobody: loaded code is in memory only once, and a new process answers immediately.
"""

from __future__ import annotations

import ctypes
import gc
import json
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from string import Template
from typing import TYPE_CHECKING, Final

from dpcore.app.web import headers
from dpcore.core.errors import DpcoreError
from dpcore.files.data import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST: Final = 64
"""Maximum number of processes."""

CONNECTIONS: Final = 4096
"""Maximum open connections of nginx; a visitor needs two while a page is open, one on each side."""

LOOK: Final = 1.0  # seconds between two checks of the processes
PAUSE: Final = 30.0  # longest wait in seconds before a process that ends at once is restarted
HEALTH_TIMEOUT: Final = 2.0  # seconds for the processes to answer a health request
_READY: Final = 0.05  # seconds after that to read an answer that has arrived
STARTING: Final = 60.0  # seconds that a process may take to start
ENDING: Final = 10.0  # seconds that a process may take to end


class Process:
    """One process of the app, restarted whenever it ends.

    Parameters
    ----------
    serve : callable
        Serves the app at a port on 127.0.0.1; called in the new process.
    port : int
        Where it listens.
    """

    def __init__(self, serve: Callable[[int], None], port: int) -> None:
        self.serve = serve
        self.port = port
        self.starts = 0
        self.begun = 0.0
        self.wait = LOOK
        self.start()

    def start(self) -> None:
        """Start it."""
        self.starts += 1
        self.begun = time.monotonic()
        self.running = multiprocessing.get_context("fork").Process(target=self._run)
        self.running.start()

    def _run(self) -> None:
        """Serve, in the new process."""
        _end_with_parent()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)  # its own address is of no use: visitors use that of nginx
        os.close(nothing)
        self.serve(self.port)

    def look(self) -> None:
        """Restart it if it has ended, after a pause that doubles while it keeps ending at once."""
        if self.running.is_alive():
            return
        lived = time.monotonic() - self.begun
        if lived < self.wait:
            return
        self.wait = LOOK if lived > PAUSE else min(2 * self.wait, PAUSE)
        sys.stderr.write(f"The process at port {self.port} ended with code {self.running.exitcode}; it starts again.\n")
        self.start()

    def stop(self) -> None:
        """Ask it to end."""
        self.running.terminate()

    def end(self) -> None:
        """Ask it to end, and wait until it has."""
        self.stop()
        self.running.join(ENDING)
        if self.running.is_alive():
            self.running.kill()
            self.running.join()


def answering(processes: Sequence[Process]) -> list[bool]:
    """Return which processes answer.

    All are asked before the first answer is read, and all answers share one deadline: several that hang take no longer
    than one. Proxies named in the environment are ignored.
    """
    asked = [HTTPConnection("127.0.0.1", process.port, timeout=HEALTH_TIMEOUT) for process in processes]
    for connection in asked:
        with suppress(OSError):  # then nothing is read from it below
            connection.request("GET", "/_stcore/health")
    ends = time.monotonic() + HEALTH_TIMEOUT
    return [_is_healthy(connection, ends) for connection in asked]


def _is_healthy(connection: HTTPConnection, ends: float) -> bool:
    """Return whether a process answers the request, and close the connection."""
    try:
        if connection.sock is None:
            return False
        connection.sock.settimeout(max(ends - time.monotonic(), _READY))
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def serve_several(
    count: int, listen: str, serve: Callable[[int], None], megabytes: int, folder: Path | None = None
) -> None:
    """Run several processes behind nginx until SIGTERM or SIGINT.

    They share what the calling process has loaded, so that process must have no Python thread but the calling one.

    Parameters
    ----------
    count : int
        How many.
    listen : str
        Where nginx listens: a port, or an address with a port.
    serve : callable
        Serves the app at a port on 127.0.0.1; called in every new process.
    megabytes : int
        Largest upload.
    folder : Path, optional
        Where the configuration and the logs go; by default a temporary folder.
    """
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        msg = "Several processes need nginx, which is not installed (Debian: apt install nginx-light)."
        raise DpcoreError(msg)
    if not hasattr(os, "fork"):
        msg = "Several processes need a system that can copy a process, such as Linux or macOS."
        raise DpcoreError(msg)
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with ExitStack() as stack:
        place = (folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dpcore-")))).resolve()
        place.mkdir(parents=True, exist_ok=True)
        ports = free_ports(count)
        gc.collect()
        gc.freeze()  # a collection would write to the shared memory and so copy it
        processes: list[Process] = []
        health = stack.enter_context(Health(processes))

        def run(port: int) -> None:
            health.server_close()
            serve(port)

        for port in ports:
            processes.append(Process(run, port))
            stack.callback(processes[-1].end)
        for process in processes:  # before the first one is waited for
            stack.callback(process.stop)
        _await(lambda: all(answering(processes)), "The processes", stopped)
        file = place / "nginx.conf"
        file.write_text(configuration(ports, health.server_port, listen, megabytes, place), encoding="utf-8")
        front = subprocess.Popen(
            [nginx, "-p", str(place), "-e", str(place / "error.log"), "-c", str(file)],
            preexec_fn=_end_with_parent,  # noqa: PLW1509  # this process has one thread
        )
        stack.callback(front.wait, ENDING)
        stack.callback(front.terminate)
        _await(lambda: _listens(listen, front), "nginx", stopped)
        sys.stdout.write(f"{count} processes answer at {listen}; configuration and logs are in {place}.\n")
        sys.stdout.flush()
        while not stopped.is_set():  # as long as the server runs
            health.handle_request()
            for process in processes:
                process.look()
            if front.poll() is not None:
                msg = f"nginx ended with code {front.returncode}; see {place / 'error.log'}."
                raise DpcoreError(msg)


def load_all() -> None:
    """Import what a page may need, so that the processes that are copied from this one share it."""
    for package in ("app", "charts", "labs", "specs"):
        home = import_module(f"dpcore.{package}")
        for module in walk_packages(home.__path__, f"{home.__name__}."):
            import_module(module.name)
    import scipy.optimize  # noqa: F401, PLC0415  # for pages with several constraints


def _await(ready: Callable[[], bool], name: str, stopped: threading.Event) -> None:
    """Wait until something is ready."""
    ends = time.monotonic() + STARTING
    while not ready() and not stopped.wait(LOOK / 4):  # at most `STARTING` seconds
        if time.monotonic() > ends:
            msg = f"{name} did not answer within {STARTING:.0f} seconds."
            raise DpcoreError(msg)


def _listens(listen: str, front: subprocess.Popen[bytes]) -> bool:
    """Return whether nginx listens, or has ended, which the watching loop reports."""
    address, _, port = listen.rpartition(":")
    name = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "::1"}.get(address, address.strip("[]"))
    try:
        socket.create_connection((name, int(port)), HEALTH_TIMEOUT).close()
    except OSError:
        return front.poll() is not None
    return True


def configuration(ports: Sequence[int], health: int, listen: str, megabytes: int, folder: Path) -> str:
    """Return the configuration of nginx.

    Parameters
    ----------
    ports : sequence of int
        The ports of the processes.
    health : int
        The port that answers for all of them.
    listen : str
        Where nginx listens.
    megabytes : int
        Largest upload.
    folder : Path
        Folder of its files.

    Returns
    -------
    str
        The text of the file.
    """
    template = Template((data_folder() / "server" / "nginx.conf").read_text(encoding="utf-8"))
    addresses = [f"127.0.0.1:{port}" for port in ports]
    homes = []
    for number, own in enumerate(addresses):
        others = "".join(f" server {other} backup;" for other in addresses if other != own)
        homes.append(f"  upstream process{number} {{ server {own} fail_timeout=2s;{others} }}")
    return template.substitute(
        folder=folder,
        connections=CONNECTIONS,
        listen=listen,
        health=health,
        megabytes=megabytes,
        servers="\n".join(f"    server {address} fail_timeout=2s;" for address in addresses),
        homes="\n".join(homes),
        cookies="\n".join(f"    {number} process{number};" for number in range(len(ports))),
        numbers="\n".join(f'    "~{address}$" {number};' for number, address in enumerate(addresses)),
        missing="\n".join(
            f'  map $upstream_http_{name.lower().replace("-", "_")} $missing{number} {{ default ""; "" "{value}"; }}'
            for number, (name, value) in enumerate(headers().items())
        ),
        headers="\n".join(f"      add_header {name} $missing{number} always;" for number, name in enumerate(headers())),
    )


class Health(HTTPServer):
    """Answers for all processes: 200 if each of them answers, otherwise 503.

    Parameters
    ----------
    processes : list of Process
        The processes.
    """

    timeout = LOOK  # of `handle_request`

    def __init__(self, processes: list[Process]) -> None:
        super().__init__(("127.0.0.1", 0), HealthQuestion)
        self.processes = processes


class HealthQuestion(BaseHTTPRequestHandler):
    """One request about the health of the processes."""

    timeout = HEALTH_TIMEOUT  # for whoever asks
    server: Health

    def do_GET(self) -> None:
        """Ask every process."""
        processes = self.server.processes
        healthy = answering(processes)
        state = {"processes": len(processes), "answering": sum(healthy), "starts": [p.starts for p in processes]}
        body = json.dumps(state).encode()
        self.send_response(200 if all(healthy) else 503)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


def _end_with_parent() -> None:
    """Ask the system to end this process if its parent is killed; only Linux supports this."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def free_ports(count: int) -> list[int]:
    """Return ports on 127.0.0.1 that are free now."""
    with ExitStack() as stack:
        taken = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [listener.getsockname()[1] for listener in taken]

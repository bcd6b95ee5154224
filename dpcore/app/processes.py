"""Several processes of the app behind nginx, with one health address: ``dpcore app --processes 3``.

One process of Python uses one core. With several, nginx (``data/server/nginx.conf``) listens at the address of the app and
sends each visitor to one of them; a process that ends is started again.
"""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

from dpcore.core.errors import DpcoreError
from dpcore.files.data import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST: Final = 64
"""Maximum number of processes."""

CONNECTIONS: Final = 4096
"""Maximum open connections of nginx; a visitor needs two while a page is open, one on each side."""

LOOK: Final = 1.0  # seconds between two looks at the processes
PAUSE: Final = 30.0  # longest wait in seconds before a process that ends at once is started again
PATIENCE: Final = 2.0  # seconds that a process has to answer a question about its health
STARTING: Final = 60.0  # seconds that a process may take to start
ENDING: Final = 10.0  # seconds that a process may take to end


class Process:
    """One process of the app, started again whenever it ends.

    Parameters
    ----------
    command : sequence of str
        What starts it; its port is added.
    port : int
        Where it listens, on 127.0.0.1.
    """

    def __init__(self, command: Sequence[str], port: int) -> None:
        self.command = [*command, "--server.port", str(port)]
        self.port = port
        self.starts = 0
        self.begun = 0.0
        self.wait = LOOK
        self.start()

    def start(self) -> None:
        """Start it."""
        self.starts += 1
        self.begun = time.monotonic()
        self.running = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)

    def look(self) -> None:
        """Start it again if it has ended, after a pause that doubles while it ends at once."""
        if self.running.poll() is None:
            return
        lived = time.monotonic() - self.begun
        if lived < self.wait:
            return
        self.wait = LOOK if lived > PAUSE else min(2 * self.wait, PAUSE)
        sys.stderr.write(
            f"The process at port {self.port} ended with code {self.running.returncode}; it starts again.\n"
        )
        self.start()

    def answers(self) -> bool:
        """Return whether it answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_stcore/health", timeout=PATIENCE) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def end(self) -> None:
        """End it."""
        self.running.terminate()
        try:
            self.running.wait(ENDING)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait()


def serve_several(count: int, listen: str, command: Sequence[str], megabytes: int, folder: Path | None = None) -> None:
    """Run several processes behind nginx until SIGTERM or SIGINT.

    Parameters
    ----------
    count : int
        How many.
    listen : str
        Where nginx listens: a port, or an address with a port.
    command : sequence of str
        What starts one process; its port is added.
    megabytes : int
        Largest upload.
    folder : Path, optional
        Where the configuration and the logs go; by default a temporary folder.
    """
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        msg = "Several processes need nginx, which is not installed (Debian: apt install nginx-light)."
        raise DpcoreError(msg)
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with ExitStack() as stack:
        place = (folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dpcore-")))).resolve()
        place.mkdir(parents=True, exist_ok=True)
        *ports, health = free_ports(count + 1)
        processes = [Process(command, port) for port in ports]
        for process in processes:
            stack.callback(process.end)
        stack.callback(_health(processes, health).shutdown)
        _await(lambda: all(process.answers() for process in processes), "The processes", stopped)
        file = place / "nginx.conf"
        file.write_text(configuration(ports, health, listen, megabytes, place), encoding="utf-8")
        front = subprocess.Popen([nginx, "-p", str(place), "-e", str(place / "error.log"), "-c", str(file)])
        stack.callback(front.wait, ENDING)
        stack.callback(front.terminate)
        _await(lambda: _listens(listen, front), "nginx", stopped)
        sys.stdout.write(f"{count} processes answer at {listen}; configuration and logs are in {place}.\n")
        sys.stdout.flush()
        while not stopped.wait(LOOK):
            for process in processes:
                process.look()
            if front.poll() is not None:
                msg = f"nginx ended with code {front.returncode}; see {place / 'error.log'}."
                raise DpcoreError(msg)


def _await(ready: Callable[[], bool], name: str, stopped: threading.Event) -> None:
    """Wait until something is ready."""
    ends = time.monotonic() + STARTING
    while not ready() and not stopped.wait(LOOK / 4):
        if time.monotonic() > ends:
            msg = f"{name} did not answer within {STARTING:.0f} seconds."
            raise DpcoreError(msg)


def _listens(listen: str, front: subprocess.Popen[bytes]) -> bool:
    """Return whether nginx listens, or has ended, which is told later."""
    address, _, port = listen.rpartition(":")
    name = "127.0.0.1" if address in ("", "0.0.0.0", "[::]") else address.strip("[]")
    try:
        socket.create_connection((name, int(port)), PATIENCE).close()
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
    )


def _health(processes: Sequence[Process], port: int) -> ThreadingHTTPServer:
    """Answer for all processes: 200 if each one answers, else 503."""

    class Health(BaseHTTPRequestHandler):
        """One question."""

        def do_GET(self) -> None:
            """Ask every process."""
            answering = [process.answers() for process in processes]
            state = {"processes": len(processes), "answering": sum(answering), "starts": [p.starts for p in processes]}
            body = json.dumps(state).encode()
            self.send_response(200 if all(answering) else 503)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Health)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def free_ports(count: int) -> list[int]:
    """Return ports on 127.0.0.1 that nobody uses now."""
    with ExitStack() as stack:
        taken = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [listener.getsockname()[1] for listener in taken]

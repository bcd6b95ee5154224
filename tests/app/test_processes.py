"""Several processes behind nginx: visitors stay with theirs, one that ends is replaced, and the log knows nobody."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, closing, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dpcore.app import processes
from dpcore.app.web import headers
from dpcore.core.errors import DpcoreError
from tests.benchmarks.visitors import Visitor
from tests.benchmarks.visitors import processes as family

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


@needs_nginx
def test_nginx_takes_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "nginx.conf"
    ports = processes.free_ports(5)
    file.write_text(
        processes.configuration(ports[:3], ports[3], f"127.0.0.1:{ports[4]}", 51, tmp_path), encoding="utf-8"
    )
    tried = subprocess.run(
        [str(NGINX), "-t", "-p", str(tmp_path), "-e", "stderr", "-c", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert tried.returncode == 0, tried.stderr


def test_without_nginx_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(DpcoreError, match="apt install nginx-light"):
        processes.serve_several(2, "8899", print, 50)


class Well(BaseHTTPRequestHandler):
    """Answers every question with 200."""

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write nothing."""


class Strange(socketserver.BaseRequestHandler):
    """Speaks another language than HTTP."""

    def handle(self) -> None:
        """Answer."""
        self.request.recv(1000)
        self.request.sendall(b"220 ready\r\n")


def test_one_deadline_for_all_answers_and_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "HEALTH_TIMEOUT", 0.5)
    (closed,) = processes.free_ports(1)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed}")
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(3)]
        servers = [
            stack.enter_context(socketserver.TCPServer(("127.0.0.1", 0), handler)) for handler in (Strange, Well)
        ]
        for server in servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
        ports = [*silent, closed, *(server.server_address[1] for server in servers)]
        asked: Any = [SimpleNamespace(port=port) for port in ports]
        assert processes.answering(asked) == [False, False, False, False, False, True]


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run two processes as `make serve` does; give the address and the parent."""
    (port,) = processes.free_ports(1)
    words = ["--processes", "2", "--folder", str(folder), "--server.port", str(port), "--server.address", "127.0.0.1"]
    command = [sys.executable, "serve.py", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout is not None
            assert "2 processes answer" in parent.stdout.readline()
            yield f"127.0.0.1:{port}", parent
        finally:
            parent.terminate()


def gone(pids: list[int]) -> bool:
    """Wait until processes have ended."""
    ends = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        if time.monotonic() > ends:
            return False
        time.sleep(0.1)
    return True


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int, Path]]:
    """Run two processes; give the address, the number of the parent and the folder of the logs."""
    folder = tmp_path_factory.mktemp("served")
    with serving(folder) as (address, parent):
        yield address, parent.pid, folder
        children = family(parent.pid)
        parent.terminate()
        assert parent.wait(30) == 0
        assert not any(Path(f"/proc/{child}").exists() for child in children), "nothing outlives the parent"


def get(address: str, path: str, cookie: str = "") -> tuple[int, dict[str, str], bytes]:
    asked = urllib.request.Request(f"http://{address}{path}", headers={"Cookie": cookie} if cookie else {})
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def health(address: str) -> tuple[int, dict[str, Any]]:
    status, _, body = get(address, "/health")
    return status, json.loads(body)


@needs_nginx
@pytest.mark.long
def test_visitors_take_turns_and_stay(served: tuple[str, int, Path]) -> None:
    address, _, folder = served
    cookies = [get(address, "/Composition?k=7654321")[1]["Set-Cookie"].split(";")[0] for _ in range(4)]
    assert sorted(cookies) == ["dpcore_process=0"] * 2 + ["dpcore_process=1"] * 2
    for cookie in cookies:
        status, answer, _ = get(address, "/Composition", cookie)
        assert status == 200
        assert "Set-Cookie" not in answer
        assert "default-src 'none'" in answer["content-security-policy"]
    log = (folder / "access.log").read_text(encoding="utf-8")
    assert log.count("GET Composition") == 8
    assert "7654321" not in log
    assert "127.0.0.1" not in log


@needs_nginx
@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "path", "length", "status"),
    [
        ("GET", "/", "0", 200),
        ("GET", "/health", "0", 200),
        ("POST", "/", "99999999999", 413),
        ("GET", f"/{'x' * 70_000}", "0", 414),
    ],
    ids=["the app", "health", "too large", "too long"],
)
def test_every_answer_has_the_headers_once(
    served: tuple[str, int, Path], method: str, path: str, length: str, status: int
) -> None:
    with closing(http.client.HTTPConnection(served[0], timeout=20)) as line:
        line.putrequest(method, path)
        line.putheader("Content-Length", length)
        line.endheaders()
        answer = line.getresponse()
        assert answer.status == status
        for name, value in headers().items():
            assert answer.headers.get_all(name) == [value]


@needs_nginx
@pytest.mark.long
def test_a_page_works_through_it(served: tuple[str, int, Path]) -> None:
    visitor = Visitor(served[0], "Composition")
    assert visitor.shown() == []
    visitor.put("k", "77")
    assert visitor.shown() == []
    visitor.leave()


@needs_nginx
@pytest.mark.long
def test_what_is_loaded_is_in_memory_once(served: tuple[str, int, Path]) -> None:
    address, parent, _ = served
    for _ in range(2):
        visitor = Visitor(address, "Mechanisms")
        visitor.shown()
        visitor.leave()
    for one in family(parent):
        if b"serve.py" in Path(f"/proc/{one}/cmdline").read_bytes():
            rows = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
            kilobytes = {name: int(value.split()[0]) for name, _, value in (row.partition(":") for row in rows[1:])}
            assert kilobytes["Shared_Dirty"] > 60_000, "most modules are those of the parent"


@needs_nginx
@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has ended")
def test_nothing_outlives_a_parent_that_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, parent):
        children = family(parent.pid)[1:]
        assert len(children) >= 4, "two processes, and nginx with its worker"
        parent.kill()
        parent.wait(10)
        assert gone(children)


@needs_nginx
@pytest.mark.long
def test_a_process_that_ends_is_replaced(served: tuple[str, int, Path]) -> None:
    address, parent, _ = served
    assert health(address) == (200, {"processes": 2, "answering": 2, "starts": [1, 1]})
    victim = next(
        one for one in family(parent) if one != parent and b"serve.py" in Path(f"/proc/{one}/cmdline").read_bytes()
    )
    os.kill(victim, signal.SIGKILL)
    status, _, _ = get(address, "/Composition", "dpcore_process=0")
    assert status == 200, "the other process answers meanwhile"
    for _ in range(240):
        status, state = health(address)
        if state["answering"] == 2 and sum(state["starts"]) == 3:
            break
        time.sleep(0.25)
    assert (status, state["answering"], sum(state["starts"])) == (200, 2, 3)

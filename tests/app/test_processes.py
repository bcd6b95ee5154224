"""Several processes behind nginx: visitors stay with theirs, one that ends is replaced, and the log knows nobody."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dpcore.app import processes
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
    monkeypatch.setattr(processes.shutil, "which", lambda *_, **__: None)
    with pytest.raises(DpcoreError, match="apt install nginx-light"):
        processes.serve_several(2, "8899", [], 50)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int, Path]]:
    """Run two processes as `make serve` does; give the address, the number of the parent and the folder of the logs."""
    folder = tmp_path_factory.mktemp("served")
    (port,) = processes.free_ports(1)
    words = ["--processes", "2", "--folder", str(folder), "--server.port", str(port), "--server.address", "127.0.0.1"]
    command = [sys.executable, "serve.py", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert "2 processes answer" in parent.stdout.readline()
        yield f"127.0.0.1:{port}", parent.pid, folder
        children = family(parent.pid)
        parent.terminate()
        parent.wait(30)
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
def test_a_page_works_through_it(served: tuple[str, int, Path]) -> None:
    visitor = Visitor(served[0], "Composition")
    assert visitor.shown() == []
    visitor.put("k", "77")
    assert visitor.shown() == []
    visitor.leave()


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

"""Visitors without a browser: the messages that one would send over a websocket, for the load tests."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import ClientConnection, connect

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
FIELDS = ("text_input", "text_area", "number_input", "slider")
PATIENCE = 120.0  # seconds


class Visitor:
    """One visitor at one page.

    Parameters
    ----------
    address : str
        Of the server, such as ``127.0.0.1:8791``.
    page : str
        Name of the page in its address.
    """

    def __init__(self, address: str, page: str, **query: str) -> None:
        self.page = page
        self.socket: ClientConnection = connect(
            f"ws://{address}/_stcore/stream",
            subprotocols=["streamlit"],  # type: ignore[list-item]  # a name of its own for str
            max_size=None,
            open_timeout=PATIENCE,
            close_timeout=0.5,  # who leaves does not wait
        )
        self.fields: dict[str, str] = {}  # the key of a field -> how Streamlit calls it
        self.values: dict[str, WidgetState] = {}
        self.script = ""  # how Streamlit calls the page
        self.send(query)

    def send(self, query: dict[str, str] | None = None) -> None:
        """Ask for a run of the page's script, as after a move of the hand; what runs already is replaced."""
        message = BackMsg()
        if self.script:
            message.rerun_script.page_script_hash = self.script
        else:
            message.rerun_script.page_name = self.page
        message.rerun_script.query_string = urlencode(query or {})
        message.rerun_script.widget_states.widgets.extend(self.values.values())
        message.rerun_script.context_info.is_embedded = False
        self.socket.send(message.SerializeToString())

    def put(self, key: str, value: str | float) -> None:
        """Type a text into the field of a key, or move its slider to a number, and ask for a run."""
        name = self.fields[key]
        state = WidgetState(id=name)
        if isinstance(value, str):
            state.string_value = value
        else:
            state.double_array_value.data.append(value)
        self.values[name] = state
        self.send()

    def shown(self) -> list[str]:
        """Wait until the last run has ended; return the errors that the page shows."""
        errors: list[str] = []
        ends_at = time.monotonic() + PATIENCE
        while True:
            data = self.socket.recv(timeout=ends_at - time.monotonic())
            message = ForwardMsg.FromString(data if isinstance(data, bytes) else data.encode())
            kind = message.WhichOneof("type")
            if kind == "new_session":
                errors = []
            elif kind == "navigation":
                self.script = message.navigation.page_script_hash
            elif kind == "delta":
                errors += self.note(message)
            elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return errors

    def note(self, message: ForwardMsg) -> list[str]:
        """Remember the fields that are drawn; return what is said to be wrong."""
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind in FIELDS:
            name = getattr(element, kind).id
            self.fields[name.rpartition("-")[2]] = name
        if kind == "exception":
            return [element.exception.message]
        return [element.alert.body] if kind == "alert" and element.alert.format == element.alert.ERROR else []

    def leave(self) -> None:
        """Close the page."""
        self.socket.close()


@contextmanager
def server(port: int) -> Iterator[int]:
    """Run the app as `make app` does and give the number of its process."""
    options = ["--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true"]
    process = subprocess.Popen(
        [sys.executable, "serve.py", *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    )
    try:
        for _ in range(200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.3)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def processes(pid: int) -> list[int]:
    """Return a process and all that it started."""
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        try:
            for task in Path(f"/proc/{found[-1]}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def seconds(pid: int) -> float:
    """Return the processor time that a process and its finished children have taken, in steps of the system's clock."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid: int) -> float:
    """Return the proportional set size of a process and of all that it started: pages shared by both count once."""
    total = 0
    for process in processes(pid):
        try:
            rows = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(row.split()[1]) for row in rows if row.startswith("Pss:"))
    return total / 1000

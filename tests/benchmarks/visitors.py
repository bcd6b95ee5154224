"""Visitors without a browser: the messages that one would send over a websocket, for the load tests."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack, contextmanager
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
ENDED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


class OpenPage:
    """What a browser knows of a page: the messages to send, and what comes back; no connection.

    Parameters
    ----------
    page : str
        Name of the page in its address.
    """

    def __init__(self, page: str) -> None:
        self.page = page
        self.fields: dict[str, str] = {}  # the key of a field -> how Streamlit calls it
        self.fragments: dict[str, str] = {}  # what Streamlit calls a field -> the part of the page that runs with it
        self.values: dict[str, WidgetState] = {}
        self.script = ""  # how Streamlit calls the page
        self.errors: list[str] = []  # of the last run

    def request(self, query: dict[str, str] | None = None, fragment: str = "") -> bytes:
        """Return the message that asks for a run of the page's script or of a part of it, as after a move of the hand."""
        message = BackMsg()
        if self.script:
            message.rerun_script.page_script_hash = self.script
        else:
            message.rerun_script.page_name = self.page
        message.rerun_script.query_string = urlencode(query or {})
        message.rerun_script.widget_states.widgets.extend(self.values.values())
        message.rerun_script.context_info.is_embedded = False
        message.rerun_script.fragment_id = fragment
        return bytes(message.SerializeToString())

    def change(self, key: str, value: str | float) -> bytes:
        """Return the message after a text is typed into the field of a key, or its slider is moved to a number."""
        name = self.fields[key]
        state = WidgetState(id=name)
        if isinstance(value, str):
            state.string_value = value
        else:
            state.double_array_value.data.append(value)
        self.values[name] = state
        return self.request(fragment=self.fragments[name])

    def take(self, data: bytes | str) -> bool:
        """Take a message of the server; return whether it ends a run."""
        message = ForwardMsg.FromString(data if isinstance(data, bytes) else data.encode())
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.errors = []
        elif kind == "navigation":
            self.script = message.navigation.page_script_hash
        elif kind == "delta":
            self.errors += self._note(message)
        return kind == "script_finished" and message.script_finished in ENDED

    def _note(self, message: ForwardMsg) -> list[str]:
        """Remember the fields that are drawn; return what is said to be wrong."""
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind in FIELDS:
            name = getattr(element, kind).id
            self.fields[name.rpartition("-")[2]] = name
            self.fragments[name] = message.delta.fragment_id
        if kind == "exception":
            return [element.exception.message]
        return [element.alert.body] if kind == "alert" and element.alert.format == element.alert.ERROR else []


class Visitor(OpenPage):
    """One visitor at one page, connected.

    Parameters
    ----------
    address : str
        Of the server, such as ``127.0.0.1:8791``.
    page : str
        Name of the page in its address.
    """

    def __init__(self, address: str, page: str, **query: str) -> None:
        super().__init__(page)
        self.stack = ExitStack()
        self.socket: ClientConnection = self.stack.enter_context(
            connect(
                f"ws://{address}/_stcore/stream",
                subprotocols=["streamlit"],  # type: ignore[list-item]  # a name of its own for str
                max_size=None,
                open_timeout=PATIENCE,
                close_timeout=0.5,  # who leaves does not wait
            )
        )
        self.send(query)

    def send(self, query: dict[str, str] | None = None) -> None:
        """Ask for a run of the page's script; what runs already is replaced."""
        self.socket.send(self.request(query))

    def put(self, key: str, value: str | float) -> None:
        """Type a text into the field of a key, or move its slider to a number, and ask for a run."""
        self.socket.send(self.change(key, value))

    def shown(self) -> list[str]:
        """Wait until the last run has ended; return the errors that the page shows."""
        ends_at = time.monotonic() + PATIENCE
        while not self.take(self.socket.recv(timeout=ends_at - time.monotonic())):
            pass
        return self.errors

    def leave(self) -> None:
        """Close the page."""
        self.stack.close()


@contextmanager
def server(port: int, processes: int = 1) -> Iterator[int]:
    """Run the app as `make app` or `make serve` does and give the number of its process."""
    options = ["--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true"]
    options += ["--processes", str(processes)]
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

"""HTTP with limits on the size of a request's head, the time it may take, and the number of pending heads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import unquote

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from dpcore.app.web import headers, short_link

if TYPE_CHECKING:
    import asyncio

LONGEST_HEAD: Final = 2**16
"""Maximum bytes of a request's head; links work up to 8000 characters, and a browser adds about 2000."""

LONGEST_LINE: Final = 4 * 2**20
"""Maximum bytes of a head that are counted but not stored, to report the length of a link; browsers send at most 2 MB."""

HEAD_SECONDS: Final = 15.0
BODY_SECONDS: Final = 420.0
"""From the head to the last byte of an upload: 50 MB at a megabit per second."""

MOST_CONNECTIONS: Final = 1000
"""Maximum open connections; a page needs about seven while it loads and one afterwards."""

MOST_WAITING: Final = 200
"""Maximum connections without a complete head; the oldest one is dropped to make room."""

_END: Final = re.compile(rb"\n\r?\n")
_LINE: Final = re.compile(rb"GET (/[^? \r\n]*)\?")
_LONGEST_PATH: Final = 1000
_REASONS: Final = {
    303: "See Other",
    400: "Bad Request",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


class BoundedProtocol(H11Protocol):
    """A uvicorn connection with a timer, a byte count, and a response to links that are too long.

    uvicorn limits the size of a head (``h11_max_incomplete_event_size``), but neither its time nor the number of pending
    heads: a hundred clients that each send half a head could hold memory as long as they like.
    """

    waiting: ClassVar[dict[BoundedProtocol, None]] = {}  # oldest first

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.timer: asyncio.TimerHandle | None = None
        self.begin()

    def begin(self) -> None:
        """Start counting the next head."""
        self.start = b""  # the part of its first line that contains the path
        self.line, self.ended = 0, False  # bytes of the first line so far, and whether it is complete
        self.received = 0
        self.last, self.complete = b"", False  # the last bytes received, and whether the head is complete
        self.counting = False  # too large: count it, but do not store it

    # ---- events of the connection ----

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the class above
        """Wait for the first head."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self.answer(503)
        else:
            self.wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.rest()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes of a head, and pass the data to uvicorn."""
        if self.conn.their_state is h11.IDLE:
            if self.timer is None:
                self.wait()
            self.note(data)
        if self.counting:
            self.count()
            return
        if self.line > LONGEST_HEAD:
            self.discard()
            return
        super().data_received(data)
        if self.transport.get_protocol() is not self:  # now a websocket, with its own limits and pings
            self.rest()
            return
        if self.transport.is_closing():
            return
        state = self.conn.their_state
        if state is not h11.IDLE:
            self.begin()
            if self in self.waiting or state is not h11.SEND_BODY:
                self.rest()
            if state is h11.SEND_BODY and self.timer is None:
                self.timer = self.loop.call_later(BODY_SECONDS, self.late)

    # ---- time and number ----

    def wait(self) -> None:
        """Start the timer of a head and add it to the pending ones."""
        self.timer = self.loop.call_later(HEAD_SECONDS, self.late)
        self.waiting[self] = None
        if len(self.waiting) > MOST_WAITING:
            next(iter(self.waiting)).late()

    def rest(self) -> None:
        """Stop the timer: the data has arrived, or the client has gone."""
        self.waiting.pop(self, None)
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def late(self) -> None:
        """Close a connection that took too long."""
        self.rest()
        if self.received or self.conn.their_state is h11.SEND_BODY:
            self.answer(408)
        else:
            self.transport.close()

    # ---- size ----

    def note(self, data: bytes) -> None:
        """Count the bytes of a head and of its first line, and look for the end of the head."""
        self.received += len(data)
        self.start += data[: max(0, _LONGEST_PATH - len(self.start))]
        if not self.ended:
            end = data.find(b"\n")
            self.ended = end >= 0
            self.line += end if self.ended else len(data)
        near = self.last + data
        self.complete = self.complete or _END.search(near) is not None
        self.last = near[-3:]

    def discard(self) -> None:
        """Store nothing more of this head: it is too large, and is read to its end only to send a response."""
        self.counting = True
        self.conn = h11.Connection(h11.SERVER)  # drops the stored data
        self.count()

    def count(self) -> None:
        """Respond to a head that is too large once it is complete: the browser does not listen earlier."""
        path = _LINE.match(self.start) if self.line > LONGEST_HEAD else None
        if self.complete and path:
            length = self.line - len(path[0]) - len(b" HTTP/1.1\r")
            self.answer(303, short_link(unquote(path[1].decode("latin-1")), length))
        elif self.complete or self.received > LONGEST_LINE:
            self.answer(431)

    def send_400_response(self, msg: str) -> None:
        """Respond to an invalid request or a head that is too large."""
        if self.received > LONGEST_HEAD:
            self.discard()
        else:
            self.answer(400, text=msg)

    def answer(self, status: int, location: str = "", text: str = "") -> None:
        """Write a response and close the connection."""
        self.rest()
        if self.transport.is_closing():
            return
        body = (text or _REASONS[status]).encode("ascii", "replace")
        fields = {**headers(), "Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}
        fields |= {"Connection": "close"} | ({"Location": location} if location else {})
        lines = [
            f"HTTP/1.1 {status} {_REASONS[status]}",
            *(f"{name}: {value}" for name, value in fields.items()),
            "",
            "",
        ]
        self.transport.write("\r\n".join(lines).encode("ascii") + body)
        self.transport.close()

"""HTTP with bounds: how large the head of a request may be, how long it may take, and how many may be on their way."""

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
"""Bytes of a request's head that are kept; links work up to 8000 characters, and a browser adds about 2000."""

LONGEST_LINE: Final = 4 * 2**20
"""Bytes of a head that are counted, though not kept, to say how long a link was; a browser sends at most 2 MB."""

HEAD_SECONDS: Final = 15.0
BODY_SECONDS: Final = 180.0
"""From the head to the last byte of what is uploaded: 20 MB at a megabit per second."""

MOST_CONNECTIONS: Final = 1000
"""Open connections; a page needs about seven while it loads, and one after that."""

MOST_WAITING: Final = 200
"""Connections without a complete head; the oldest makes room for the next."""

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
    """One connection: uvicorn's own, with a timer, a count, and an answer to links that are too long.

    uvicorn bounds the size of a head (``h11_max_incomplete_event_size``), but neither its time nor the number of heads on
    their way: a hundred clients that send half of one hold their memory for as long as they like.
    """

    waiting: ClassVar[dict[BoundedProtocol, None]] = {}  # the oldest first

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.timer: asyncio.TimerHandle | None = None
        self.begin()

    def begin(self) -> None:
        """Start to count the next head."""
        self.start = b""  # as much of its first line as tells the page
        self.line, self.ended = 0, False  # bytes of the first line so far, and whether it is complete
        self.received = 0
        self.last, self.complete = b"", False  # the end of what was received, and whether it ends the head
        self.counting = False  # too large, so that it is counted and not kept

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
        """Take what came: count it while a head is on its way, and hand it to uvicorn."""
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
        if self.transport.get_protocol() is not self:  # now a websocket, with bounds and pings of its own
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
        """Give the head its time, and a place among those that are on their way."""
        self.timer = self.loop.call_later(HEAD_SECONDS, self.late)
        self.waiting[self] = None
        if len(self.waiting) > MOST_WAITING:
            next(iter(self.waiting)).late()

    def rest(self) -> None:
        """Stop the timer: what was waited for is there, or nobody is."""
        self.waiting.pop(self, None)
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def late(self) -> None:
        """End a connection that took too long."""
        self.rest()
        if self.received or self.conn.their_state is h11.SEND_BODY:
            self.answer(408)
        else:
            self.transport.close()

    # ---- size ----

    def note(self, data: bytes) -> None:
        """Count the bytes of a head and of its first line, and look for its end."""
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
        """Keep nothing of this head from now on: it is too large, and read to its end only to be answered."""
        self.counting = True
        self.conn = h11.Connection(h11.SERVER)  # lets go of what it kept
        self.count()

    def count(self) -> None:
        """Answer a head that is too large once it has ended: before that the browser would not listen."""
        path = _LINE.match(self.start) if self.line > LONGEST_HEAD else None
        if self.complete and path:
            length = self.line - len(path[0]) - len(b" HTTP/1.1\r")
            self.answer(303, short_link(unquote(path[1].decode("latin-1")), length))
        elif self.complete or self.received > LONGEST_LINE:
            self.answer(431)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, or has too large a head."""
        if self.received > LONGEST_HEAD:
            self.discard()
        else:
            self.answer(400, text=msg)

    def answer(self, status: int, location: str = "", text: str = "") -> None:
        """Write an answer of our own and close the connection."""
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

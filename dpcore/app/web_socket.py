"""Websocket messages: those that are ready together are sent together.

Streamlit passes a page to the server as a hundred messages, and uvicorn makes a system call for each of them. Here the
messages of one turn of the event loop are written at its end, in one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    import asyncio


class CollectingTransport:
    """A connection that writes once per turn of the event loop; everything else is delegated to the original.

    Parameters
    ----------
    transport : asyncio.Transport
        The connection.
    loop : asyncio.AbstractEventLoop
        Its event loop.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the connection itself."""
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write some bytes at the end of this turn."""
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(data)

    def flush(self) -> None:
        """Write what has been collected."""
        if self._parts and not self._transport.is_closing():
            self._transport.write(b"".join(self._parts))
        self._parts.clear()

    def close(self) -> None:
        """Write what has been collected and close the connection."""
        self.flush()
        self._transport.close()


class CollectingProtocol(WebSocketsSansIOProtocol):
    """A websocket of uvicorn that collects the messages of one turn of the event loop."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Put the collector between the protocol and its connection."""
        super().connection_made(transport)
        self.transport = cast("asyncio.Transport", CollectingTransport(self.transport, self.loop))

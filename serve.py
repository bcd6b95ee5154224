"""The app as a server: ``streamlit run serve.py``, what ``make app`` starts.

Streamlit alone answers an address of more than half a megabyte with the bare number 431, or leaves out what follows
the question mark without a word. Here such a link leads to its page, which says what is wrong with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from streamlit.starlette import App
from uvicorn.protocols.http import h11_impl

from dpcore.app.page import LENGTH

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HOME: Final = Path(__file__).resolve().parent / "streamlit_app.py"
LONGEST_REQUEST: Final = 4 * 2**20
"""Bytes of a request's head; a browser sends at most 2 MB of address."""

MOST_CHARACTERS, MOST_FIELDS = 500_000, 1000
"""Above these Streamlit leaves out the whole query of a link."""


class LongLinks:
    """Lead links that are too long to the page itself, with nothing but their length."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        query = scope.get("query_string", b"")
        if scope["type"] == "http" and (len(query) > MOST_CHARACTERS or query.count(b"&") >= MOST_FIELDS):
            answer = RedirectResponse(f"{scope['path']}?{LENGTH}={len(query)}", 303)
            await answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)


# Streamlit hands no setting for it on to its server.
h11_impl.DEFAULT_MAX_INCOMPLETE_EVENT_SIZE = LONGEST_REQUEST  # type: ignore[attr-defined]  # a name it imports
app = App(HOME, middleware=[Middleware(LongLinks)])

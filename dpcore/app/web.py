"""What the app's server adds to every answer: headers that tell a browser to trust nobody else, and short links."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse

from dpcore.app.page import LENGTH

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_FIELDS: Final = 1000
"""From so many on Streamlit leaves out the whole query of a link."""

_INLINE: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@cache
def headers() -> dict[str, str]:
    """Return the headers of every answer.

    The policy is as strict as Streamlit 1.67 works under: its pages hold one script of their own, which is named by its
    digest; its styles are written by scripts (``unsafe-inline``), and a font of its formulas stands inside one of them
    (``data:``); the script of a component, such as `dpcore.app.live`, is handed to the browser as a ``blob:``, which only
    scripts of the page itself can make. Nothing may come from, or be sent to, any other place than this server, and no text becomes a script.
    """
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in _INLINE.findall(page)]
    policy = {
        "default-src": "'none'",
        "script-src": " ".join(["'self'", "blob:", *(f"'sha256-{digest}'" for digest in digests)]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'self'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }


def short_link(path: str, length: int) -> str:
    """Return the address of a page on this server that says how long the link was that led to it."""
    return f"/{quote(path.lstrip('/'))}?{LENGTH}={length}"


class SecurityHeaders:
    """Send the headers with every answer; one that an answer has already is left alone."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                fields = MutableHeaders(scope=message)
                for name, value in headers().items():
                    fields.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class LongLinks:
    """Lead links with too many fields to the page itself, with nothing but their length.

    A path that starts with two slashes would be another host; Streamlit refuses it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        query = scope.get("query_string", b"")
        long = query.count(b"&") >= MOST_FIELDS
        if scope["type"] == "http" and long and not scope["path"].startswith("//"):
            answer = RedirectResponse(short_link(scope["path"], len(query)), 303)
            await answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)

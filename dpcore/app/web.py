"""What the app's server adds to responses: security headers, scripts to preload, and redirects for overlong links."""

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
"""With this many fields or more, Streamlit drops the whole query of a link."""

_INLINE: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@cache
def headers() -> dict[str, str]:
    """Return the headers of every response.

    The policy is as strict as Streamlit 1.67 allows: its pages have one inline script, which is allowed by its digest;
    scripts write its styles (``unsafe-inline``), and one of them embeds a font for formulas (``data:``); the script of a
    component, such as `dpcore.app.live`, reaches the browser as a ``blob:``, which only scripts of the page itself can
    create. Nothing may be loaded from or sent to any other server, and no text can become a script.
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


@cache
def early_scripts() -> str:
    """Return the header that makes the browser preload the script for notices.

    Streamlit loads it with the first notice, which may be the answer to Stop: nobody should wait for a file then.
    """
    folder = Path(streamlit.__file__).parent / "static" / "static" / "js"
    return ", ".join(f"<./static/js/{file.name}>; rel=modulepreload" for file in sorted(folder.glob("Toast.*.js")))


def short_link(path: str, length: int) -> str:
    """Return the address of a page on this server, with the length of the original link."""
    return f"/{quote(path.lstrip('/'))}?{LENGTH}={length}"


class SecurityHeaders:
    """Add the headers to every response, unless it already has them."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                fields = MutableHeaders(scope=message)
                for name, value in headers().items():
                    fields.setdefault(name, value)
                if fields.get("Content-Type", "").startswith("text/html") and early_scripts():
                    fields.setdefault("Link", early_scripts())
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class LongLinks:
    """Redirect links with too many fields to the page itself, keeping only their length.

    A path that starts with two slashes would mean another host; Streamlit refuses it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        query = scope.get("query_string", b"")
        long = query.count(b"&") >= MOST_FIELDS
        if scope["type"] == "http" and long and not scope["path"].startswith("//"):
            answer = RedirectResponse(short_link(scope["path"], len(query)), 303)
            await answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)

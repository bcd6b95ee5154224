"""The app as a server: ``python serve.py``, what ``make app`` and ``dpcore app`` start.

Streamlit alone sends no security headers, waits for a request as long as it takes, and answers an address that is too long
with a bare number, or leaves out what follows the question mark without a word. Here such a link leads to its page, which
says what is wrong with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from starlette.middleware import Middleware
from streamlit.starlette import App

from dpcore.app.web import LongLinks, SecurityHeaders

HOME: Final = Path(__file__).resolve().parent / "streamlit_app.py"

app = App(HOME, middleware=[Middleware(SecurityHeaders), Middleware(LongLinks)])

if __name__ == "__main__":
    from dpcore.app.web_server import run

    run(app)

"""The app's server: ``python serve.py``; ``make app`` and ``dpcore app`` start it.

Streamlit alone sends no security headers, waits for a request without a time limit, and answers an address that is too
long with a bare status code or silently drops its query. Here such a link leads to its page, which says what is wrong.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

# Threads of the linear algebra wait for each other in a loop: products as small as ours are faster on one, and other
# visitors need the cores. It is read when numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from starlette.middleware import Middleware
from streamlit.starlette import App

from dpcore.app.web import LongLinks, SecurityHeaders

HOME: Final = Path(__file__).resolve().parent / "streamlit_app.py"

app = App(HOME, middleware=[Middleware(SecurityHeaders), Middleware(LongLinks)])

if __name__ == "__main__":
    from dpcore.app.web_server import run

    run(app)

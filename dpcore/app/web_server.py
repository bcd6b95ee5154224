"""The app's server: uvicorn with limits on requests, started with ``python serve.py`` and Streamlit's options.

``streamlit run serve.py`` also works, with the same headers and redirects, but it passes no settings to uvicorn: the time
and the number of pending heads are then not limited.
"""

from __future__ import annotations

import errno
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import uvicorn
from streamlit import config
from streamlit.web.bootstrap import load_config_options
from streamlit.web.cli import configurator_options

from dpcore.app.processes import MOST, load_all, serve_several
from dpcore.app.web import SecurityHeaders
from dpcore.app.web_protocol import LONGEST_HEAD, BoundedProtocol
from dpcore.app.web_socket import CollectingProtocol
from dpcore.core.errors import DpcoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp

LONGEST_MESSAGE: Final = 8 * 2**20
"""Maximum bytes of a message from a browser: the values of a page's fields. Files are uploaded separately."""

PING_SECONDS: Final = 20
PORTS: Final = 100
"""Number of ports to try, starting at the default, if the user did not choose one."""

PLAIN: Final = {"server_headless": True, "logger_level": "error", "server_fileWatcherType": "none"}
"""Options for several processes: open no browser, log only errors, and do not watch for edited pages."""


def run(app: ASGIApp, arguments: Sequence[str] | None = None) -> None:
    """Serve an app until it is stopped.

    Parameters
    ----------
    app : ASGIApp
        The app to serve, from `serve.py`.
    arguments : sequence of str, optional
        Options of ``streamlit run``, such as ``--server.port 8600``; by default those from the command line.
    """

    @click.command(help="Start the app; other options are those of streamlit run.")
    @click.option("--processes", type=click.IntRange(1, MOST), default=1, help="several, behind nginx")
    @click.option("--folder", type=click.Path(path_type=Path), help="for nginx: where its configuration and logs go")
    @configurator_options
    def command(processes: int, folder: Path | None, **options: Any) -> None:
        load_config_options(options if processes == 1 else {**options, **PLAIN})
        if processes == 1:
            _serve(app)
        else:
            _serve_several(app, processes, folder)

    words = sys.argv[1:] if arguments is None else list(arguments)
    command.main(words, prog_name="serve.py")


def _serve_several(app: ASGIApp, processes: int, folder: Path | None) -> None:
    """Start processes with the same options, each at a port of its own on this machine, and nginx at the app's address."""
    port, address = config.get_option("server.port"), (config.get_option("server.address") or "").strip("[]")
    name = f"[{address}]" if ":" in address else address  # of IPv6
    listen = f"{name}:{port}" if name else str(port)

    def serve(port: int) -> None:
        config.set_option("server.address", "127.0.0.1")
        config.set_option("server.port", port)
        _serve(app)

    load_all()
    try:
        serve_several(processes, listen, serve, int(config.get_option("server.maxUploadSize")) + 1, folder)
    except DpcoreError as error:
        sys.exit(str(error))


def _serve(app: ASGIApp) -> None:
    listener = _listener()
    host, port = listener.getsockname()[:2]
    config.set_option("server.port", port)
    interval = config.get_option("server.websocketPingInterval") or PING_SECONDS
    settings = uvicorn.Config(
        SecurityHeaders(app),  # outermost, so that error responses have the headers too
        http=BoundedProtocol,
        loop="dpcore.app.event_loop:new_event_loop",
        h11_max_incomplete_event_size=LONGEST_HEAD,
        ws=CollectingProtocol,
        ws_max_size=LONGEST_MESSAGE,
        ws_ping_interval=interval,
        ws_ping_timeout=interval,
        ws_per_message_deflate=config.get_option("server.enableWebsocketCompression"),
        ssl_certfile=config.get_option("server.sslCertFile"),
        ssl_keyfile=config.get_option("server.sslKeyFile"),
        access_log=False,
        server_header=False,
        log_level="warning",
    )
    scheme = "https" if settings.is_ssl else "http"
    name = "localhost" if host in ("::", "0.0.0.0") else host
    click.echo(f"The app runs at {scheme}://{name}:{port}/{config.get_option('server.baseUrlPath').strip('/')}")
    uvicorn.Server(settings).run(sockets=[listener])


def _listener() -> socket.socket:
    """Return a socket at the configured address and port; without a configured port, at the next free one."""
    address, first = config.get_option("server.address"), int(config.get_option("server.port"))
    wanted = config.is_manually_set("server.port")
    for port in [first] if wanted else range(first, first + PORTS):
        try:
            return _bound(address, port)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
    sys.exit(f"Port {first} is not available." if wanted else f"No port from {first} to {first + PORTS - 1} is free.")


def _bound(address: str | None, port: int) -> socket.socket:
    """Return a listening socket; without an address, one for all IPv4 and IPv6 addresses of this machine."""
    if address is None and socket.has_dualstack_ipv6():
        return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=2048)
    family = socket.AF_INET6 if ":" in (address or "") else socket.AF_INET
    return socket.create_server((address or "", port), family=family, backlog=2048)

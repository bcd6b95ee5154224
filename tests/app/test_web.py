"""The app's server: where it leads, what it sends with every answer, and how long it listens."""

from __future__ import annotations

import http.client
import re
import socket
import threading
import time
import tomllib
from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from starlette.middleware.errors import ServerErrorMiddleware
from websockets.sync.client import connect

from dpcore.app import uploads, web, web_protocol
from dpcore.app.web import LongLinks, SecurityHeaders
from dpcore.app.web_protocol import LONGEST_HEAD, MOST_WAITING, BoundedProtocol
from tests.browser.visitor import ROOT, start_server, stop_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import Receive, Scope, Send

MEGABYTE = 10**6


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the path and the lengths of query and body; fail on request."""
    if scope["type"] == "websocket":
        await listen(receive, send)
    if scope["type"] != "http":
        return
    if scope["path"] == "/fail":
        msg = "a failure inside"
        raise RuntimeError(msg)
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    text = f"{scope['path']} {len(scope['query_string'])} {len(body)}".encode()
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(text)).encode())]}
    )
    await send({"type": "http.response.body", "body": text})


async def listen(receive: Receive, send: Send) -> None:
    """Repeat what a websocket says until it closes."""
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[str, int]]]:
    """Give a starter of servers, ``start(HEAD_SECONDS=0.3)``, with the bounds of the real one."""
    servers: list[tuple[uvicorn.Server, threading.Thread]] = []

    def make(**bounds: float) -> tuple[str, int]:
        for name, value in bounds.items():
            monkeypatch.setattr(web_protocol, name, value)
        settings = uvicorn.Config(
            SecurityHeaders(ServerErrorMiddleware(LongLinks(echo))),
            http=BoundedProtocol,
            h11_max_incomplete_event_size=LONGEST_HEAD,
            ws="websockets-sansio",
            lifespan="off",
            log_level="critical",
        )
        listener = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        servers.append((server, thread))
        return listener.getsockname()

    yield make
    for server, thread in servers:
        server.should_exit = True
        thread.join(10)


def talk(address: tuple[str, int], data: bytes, *, seconds: float = 20) -> bytes:
    """Send bytes and return all that comes back until the server closes."""
    with closing(socket.create_connection(address, seconds)) as line:
        line.sendall(data)
        parts = []
        while part := line.recv(65536):
            parts.append(part)
        return b"".join(parts)


def get(path: str, host: str = "localhost", extra: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{extra}Connection: close\r\n\r\n".encode()


def fields(answer: bytes) -> dict[str, str]:
    """Return the status and the headers of an answer."""
    head = answer.partition(b"\r\n\r\n")[0].decode("ascii").split("\r\n")
    found = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
    return {"status": head[0].split(" ")[1], **found}


# ---- headers -------------------------------------------------------------------------------------------------

ANSWERS = {
    "a page": get("/Composition?a=1"),
    "an error inside": get("/fail"),
    "no request": b"nonsense\r\n\r\n",
    "a long link": get("/Composition?" + "a" * MEGABYTE),
    "many fields": get("/Composition?" + "&" * 1001),
    "a large header": get("/Composition", extra=f"X: {'a' * 200_000}\r\n"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_has_the_headers(start: Callable[..., tuple[str, int]], name: str) -> None:
    found = fields(talk(start(), ANSWERS[name]))
    missing = {name: value for name, value in web.headers().items() if found.get(name.lower()) != value}
    assert missing == {}, found["status"]


def test_the_policy_lets_nothing_in_from_elsewhere() -> None:
    policy = dict(part.split(" ", 1) for part in web.headers()["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'self'"
    assert re.fullmatch(r"'self' blob: 'sha256-[A-Za-z0-9+/]{43}='", policy["script-src"]), (
        "Streamlit's page holds one script"
    )
    allowed = {source for sources in policy.values() for source in sources.split() if not source.startswith("'sha256-")}
    assert allowed == {"'none'", "'self'", "'unsafe-inline'", "blob:", "data:"}
    assert [name for name, sources in policy.items() if "blob:" in sources] == ["script-src"], "scripts of components"
    assert "'unsafe-inline'" not in policy["script-src"]


# ---- long links ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/Composition", "/Composition"),
        ("//evil.example/", "/evil.example/"),
        ("///evil.example", "/evil.example"),
        ("/\\evil.example", "/%5Cevil.example"),
        ("/%0d%0aSet-Cookie:a", "/%0D%0ASet-Cookie%3Aa"),
        ("/%2F%2Fevil.example", "/evil.example"),
    ],
)
def test_no_link_leads_to_another_host(start: Callable[..., tuple[str, int]], path: str, place: str) -> None:
    address = start()
    long = fields(talk(address, get(f"{path}?" + "a" * MEGABYTE)))
    assert (long["status"], long["location"]) == ("303", f"{place}?link_length={MEGABYTE}")
    many = fields(talk(address, get(f"{path}?" + "a&" * 1001)))
    if many["status"] == "303":
        assert many["location"] == f"{place}?link_length=2002"
    else:
        assert path.startswith(("//", "/%2F"))
        assert "location" not in many


def test_what_is_no_page_gets_no_redirect(start: Callable[..., tuple[str, int]]) -> None:
    address = start()
    for request in (
        get("http://evil.example/?" + "a" * MEGABYTE),
        get("/Composition?" + "a" * MEGABYTE).replace(b"GET", b"POST"),
        get("/" + "a" * MEGABYTE),
        get("/a", extra=f"X: {'a' * MEGABYTE}\r\n"),
    ):
        found = fields(talk(address, request))
        assert (found["status"], "location" in found) == ("431", False)


@pytest.mark.parametrize("size", [10, 8000, 60_000])
def test_a_link_that_can_be_read_is_left_alone(start: Callable[..., tuple[str, int]], size: int) -> None:
    answer = talk(start(), get(f"/a?{'b' * size}"))
    assert answer.endswith(f"/a {size} 0".encode())


def test_a_long_link_in_pieces_is_counted_to_the_last_byte(start: Callable[..., tuple[str, int]]) -> None:
    request = get("/Composition?" + "a" * 200_001)
    with closing(socket.create_connection(start(), 20)) as line:
        for at in range(0, len(request), 7001):
            line.sendall(request[at : at + 7001])
        assert fields(line.recv(65536))["location"] == "/Composition?link_length=200001"


# ---- time, number, memory ------------------------------------------------------------------------------------


def test_half_a_request_is_not_waited_for(start: Callable[..., tuple[str, int]]) -> None:
    address = start(HEAD_SECONDS=0.3)
    assert fields(talk(address, b"GET /a HTTP/1.1\r\nHost: x\r\n"))["status"] == "408"
    assert fields(talk(address, b"GET /a?" + b"a" * MEGABYTE))["status"] == "408"
    assert talk(address, b"") == b"", "who says nothing hears nothing"


def test_the_second_request_of_a_connection_has_the_same_time(start: Callable[..., tuple[str, int]]) -> None:
    with closing(socket.create_connection(start(HEAD_SECONDS=0.5), 20)) as line:
        line.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        while not line.recv(65536).endswith(b"/a 0 0"):
            pass
        line.sendall(b"GET /b HTTP/1.1\r\n")
        assert fields(line.recv(65536))["status"] == "408"


def test_half_an_upload_is_not_waited_for(start: Callable[..., tuple[str, int]]) -> None:
    address = start(BODY_SECONDS=0.3)
    head = b"PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
    assert fields(talk(address, head + b"x" * 50))["status"] == "408"


def test_an_upload_arrives_whole(start: Callable[..., tuple[str, int]]) -> None:
    connection = http.client.HTTPConnection(*start(HEAD_SECONDS=5), timeout=20)
    for size in (0, 10, 3 * MEGABYTE):
        connection.request("PUT", "/a", body=b"x" * size)
        assert connection.getresponse().read() == f"/a 0 {size}".encode()
    connection.close()


def test_a_websocket_outlives_the_times_of_requests(start: Callable[..., tuple[str, int]]) -> None:
    """After the time of an upload the answer 408 was written into it, and every visitor was cut off after three minutes."""
    host, port = start(HEAD_SECONDS=0.2, BODY_SECONDS=0.2)
    with connect(f"ws://{host}:{port}/") as line:
        for word in ("a", "b", "c"):
            line.send(word)
            assert line.recv(timeout=20) == word
            time.sleep(0.3)
        assert not BoundedProtocol.waiting


def test_many_half_requests_hold_little(start: Callable[..., tuple[str, int]]) -> None:
    address = start()
    with ExitStack() as stack:
        for _ in range(MOST_WAITING + 50):
            line = stack.enter_context(closing(socket.create_connection(address, 20)))
            with suppress(OSError):  # the server may have closed it already, to make room
                line.sendall(b"GET /a?" + b"a" * 300_000)
        _look_at_the_bounds(address)


def test_too_many_connections_are_told_so(start: Callable[..., tuple[str, int]]) -> None:
    address = start(MOST_CONNECTIONS=3)
    with ExitStack() as stack:
        for _ in range(3):
            line = stack.enter_context(closing(socket.create_connection(address, 20)))
            line.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
            assert line.recv(12) == b"HTTP/1.1 200"
        found = fields(talk(address, b""))
        assert (found["status"], found["x-content-type-options"]) == ("503", "nosniff")


def _look_at_the_bounds(address: tuple[str, int]) -> None:
    answer = talk(address, get("/b"))
    assert answer.endswith(b"/b 0 0"), "others are served meanwhile"
    held = list(BoundedProtocol.waiting)
    assert len(held) <= MOST_WAITING
    kept: list[Any] = [len(bytes(one.conn.trailing_data[0])) + len(one.start) for one in held]
    assert max(kept) <= LONGEST_HEAD
    assert sum(one.counting for one in held) > MOST_WAITING / 2, "the bound was at work"


# ---- the real one --------------------------------------------------------------------------------------------


def test_the_upload_limit_is_one_number() -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["server"]["maxUploadSize"] == uploads.MEGABYTES


def test_the_server_itself_holds_to_all_of_it() -> None:
    server, address = start_server()
    try:
        host, port = address.removeprefix("http://").split(":")
        place = (host, int(port))
        page = fields(talk(place, get("/", host=f"{host}:{port}")))
        assert page["status"] == "200"
        assert {name: page.get(name.lower()) for name in web.headers()} == web.headers()
        assert "server" not in page
        early = re.fullmatch(r"<\.(/static/js/Toast\.[\w-]+\.js)>; rel=modulepreload", page["link"])
        assert early, "a browser that was never here has the script of a notice before it needs one"
        script = fields(talk(place, get(early[1])))
        assert (script["status"], "link" in script) == ("200", False)
        evil = fields(talk(place, get("//evil.example/?" + "a&" * 1001)))
        assert (evil["status"], evil.get("location")) == ("400", None)
        long = fields(talk(place, get("/Composition?" + "a" * MEGABYTE)))
        assert long["location"] == f"/Composition?link_length={MEGABYTE}"
    finally:
        stop_server(server)

"""Heavy work in a separate process, which can be stopped at any time.

The worker is a copy of the server (`os.fork`), so it can run any closure. It computes one result, sends it back as
bytes and exits. It is killed when its time is up, when the visitor changes something and when the visitor leaves. The
system limits its memory. The server's threads do not exist in the copy, and the worker touches nothing that they may
have locked: it closes their connections and only computes, no copy is made while a module is imported, and result
stores get new locks. If it hangs all the same, it runs out of time like any other work.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import selectors
import signal
import struct
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias, cast

from dpcore.app.cache import pack, pack_error
from dpcore.core.effort import current, effort
from dpcore.core.errors import BudgetError, DpcoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Nested: TypeAlias = "tuple[int, Hashable, bytes]"
"""An intermediate result: the number of its cache, its key, and the packed result."""

MEMORY: Final = 450_000_000
"""Bytes that one worker may use in addition to what it shares with the server."""

TICK: Final = 0.05
"""Seconds between two checks whether the visitor is still waiting."""

KINDLY: Final = 5
"""Niceness of the workers (`os.nice`): the server, which serves all visitors, has priority."""

AVAILABLE: Final = hasattr(os, "fork")
PROGRESS, RESULT, FAILURE = b"p", b"r", b"f"
_HEAD = struct.Struct("!cI")
_nested: list[Nested] = []
_slots = threading.BoundedSemaphore(max(1, os.cpu_count() or 1))
_inside = False


def inside() -> bool:
    """Whether this process is itself a worker."""
    return _inside


def hand_back(cache: int, key: Hashable, packed: bytes) -> None:
    """Send an intermediate result back together with the requested one."""
    _nested.append((cache, key, packed))


def run(make: Callable[[], object], tell: Callable[[float], None]) -> tuple[bytes, list[Nested]]:
    """Compute a result in a worker and return it packed, with the intermediate results.

    Parameters
    ----------
    make : callable
        Computes the result, under the current limits.
    tell : callable
        Called about every 0.05 s with the fraction done; if it raises, the worker is stopped.

    Returns
    -------
    tuple[bytes, list[Nested]]
        The packed result, or the packed `DpcoreError` it ended with, and the intermediate results.

    Raises
    ------
    BudgetError
        If the time or memory limit is exceeded.
    """
    _wait_for_slot(tell)
    try:
        _wait_for_imports(tell)
        return _run(make, tell)
    finally:
        _slots.release()


def _wait_for_slot(tell: Callable[[float], None]) -> None:
    """Wait until there are fewer workers than cores; first come, first served."""
    while not _slots.acquire(timeout=TICK):  # looks at the clock
        tell(0.0)
        _check_time()


def _wait_for_imports(tell: Callable[[float], None]) -> None:
    """Wait until no other thread imports a module: in the copy, imports of that module would never end."""
    while any(_is_imported(module) for module in list(sys.modules.values())):  # looks at the clock
        time.sleep(TICK)
        tell(0.0)
        _check_time()


def _is_imported(module: object) -> bool:
    """Whether a module is being imported right now, as recorded by Python in its specification."""
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def _check_time() -> None:
    if time.monotonic() > current().ends_at:
        msg = "The time allowed for this page has ended; change something, or press Try again."
        raise BudgetError(msg)


def _run(make: Callable[[], object], tell: Callable[[float], None]) -> tuple[bytes, list[Nested]]:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _work(make, writer)
    os.close(writer)
    try:
        return _result(reader, tell)
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _result(reader: int, tell: Callable[[float], None]) -> tuple[bytes, list[Nested]]:
    """Read the worker's messages until its result arrives."""
    with selectors.DefaultSelector() as ready:  # `select.select` supports only 1024 files; each connection is one
        ready.register(reader, selectors.EVENT_READ)
        return _read(reader, ready, tell)


def _read(reader: int, ready: selectors.BaseSelector, tell: Callable[[float], None]) -> tuple[bytes, list[Nested]]:
    received, fraction = bytearray(), 0.0
    while True:  # looks at the clock every `TICK`, and ends with the worker
        if ready.select(TICK):
            chunk = os.read(reader, 1 << 20)
            if not chunk:
                msg = f"The computation was ended: it needed more than the {MEMORY // 1_000_000} MB of memory allowed."
                raise BudgetError(msg)
            received += chunk
        while len(received) >= _HEAD.size:  # one message per round
            kind, length = _HEAD.unpack_from(received)
            if len(received) < _HEAD.size + length:
                break
            body = bytes(received[_HEAD.size : _HEAD.size + length])
            del received[: _HEAD.size + length]
            if kind == RESULT:
                return cast("tuple[bytes, list[Nested]]", pickle.loads(body))
            if kind == FAILURE:
                raise pickle.loads(body)
            fraction = float(body)
        tell(fraction)
        _check_time()


# ---- inside the worker ---------------------------------------------------------------------------------------


def _work(make: Callable[[], object], writer: int) -> NoReturn:
    """Compute, send and exit; close everything that belongs to the server, and run none of its code again."""
    global _inside  # noqa: PLW0603  a property of the process
    _inside = True
    try:
        os.nice(KINDLY)
        os.closerange(3, writer)
        os.closerange(writer + 1, os.sysconf("SC_OPEN_MAX"))
        gc.disable()
        _bound_memory()
        _send(writer, *_outcome(make, writer))
    except BaseException:  # noqa: BLE001  this copy of the server must exit here in any case
        os._exit(1)
    os._exit(0)


def _outcome(make: Callable[[], object], writer: int) -> tuple[bytes, bytes]:
    """Return the kind and the body of the last message."""
    last = 0.0

    def tell(fraction: float) -> None:
        nonlocal last
        if time.monotonic() - last > TICK:
            last = time.monotonic()
            _send(writer, PROGRESS, repr(fraction).encode())

    try:
        with effort(progress=tell):
            packed = pack(make())
    except DpcoreError as error:
        return RESULT, pickle.dumps((pack_error(error), _nested))
    except MemoryError:
        msg = f"This needs more than the {MEMORY // 1_000_000} MB of memory that one view may take."
        return RESULT, pickle.dumps((pack_error(BudgetError(msg)), []))
    except Exception as error:  # noqa: BLE001  a bug of ours appears where it would have appeared without a worker
        return FAILURE, pack(error.with_traceback(None)) or pickle.dumps(RuntimeError(repr(error)))
    if packed is None:
        msg = "The result of a worker cannot be packed."
        return FAILURE, pickle.dumps(TypeError(msg))
    return RESULT, pickle.dumps((packed, _nested))


def _bound_memory() -> None:
    """Make the system refuse memory beyond the limit of one worker."""
    try:
        import resource  # noqa: PLC0415  not on every system
    except ImportError:
        return
    statm = Path("/proc/self/statm")
    taken = int(statm.read_text().split()[5]) * resource.getpagesize() if statm.exists() else 0
    resource.setrlimit(resource.RLIMIT_DATA, (taken + MEMORY, resource.RLIM_INFINITY))


def _send(writer: int, kind: bytes, body: bytes) -> None:
    message = memoryview(_HEAD.pack(kind, len(body)) + body)
    while message:  # ends with the pipe at the latest
        message = message[os.write(writer, message) :]

"""The server's event loop: no callback of another thread is forgotten, and many of them wake it a few times only."""

from __future__ import annotations

import asyncio
import threading
import time

from dpcore.app.event_loop import CollectingEventLoop, new_event_loop

PATIENCE = 60.0  # seconds; a callback that is forgotten would never come
THREADS, CALLS = 4, 500


class CountingLoop(CollectingEventLoop):
    """Counts how often it is really woken."""

    wakes = 0

    def _read_from_self(self) -> None:
        self.wakes += 1
        super()._read_from_self()


def gathered(loop: CollectingEventLoop, pause: float) -> list[tuple[int, int]]:
    """Return what some threads hand to the loop, in the order in which it came."""
    received: list[tuple[int, int]] = []

    async def wait() -> None:
        done = asyncio.Event()

        def receive(thread: int, number: int) -> None:
            received.append((thread, number))
            if len(received) == THREADS * CALLS:
                done.set()

        def send(thread: int) -> None:
            for number in range(CALLS):
                loop.call_soon_threadsafe(receive, thread, number)
                time.sleep(pause * (number % 50 == 0))

        threads = [threading.Thread(target=send, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        await asyncio.wait_for(done.wait(), PATIENCE)
        for thread in threads:
            thread.join()

    try:
        loop.run_until_complete(wait())
    finally:
        loop.close()
    return received


def test_every_callback_arrives_in_the_order_of_its_thread() -> None:
    loop = CountingLoop()
    received = gathered(loop, 0.01)  # longer than a nap: the loop falls asleep in between
    for thread in range(THREADS):
        assert [number for one, number in received if one == thread] == list(range(CALLS))
    assert 0 < loop.wakes < THREADS * CALLS / 2


def test_a_sleeping_loop_wakes_up_again_and_again() -> None:
    loop = CollectingEventLoop()

    async def ask() -> list[int]:
        answers = []
        for number in range(5):
            answers.append(await asyncio.wait_for(loop.run_in_executor(None, lambda n=number: n), PATIENCE))
            await asyncio.sleep(0.01)
        return answers

    try:
        assert loop.run_until_complete(ask()) == list(range(5))
    finally:
        loop.close()


def test_the_server_has_a_loop() -> None:
    loop = new_event_loop()
    assert isinstance(loop, asyncio.AbstractEventLoop)
    loop.close()

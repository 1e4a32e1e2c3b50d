"""Keeps holds open while their work goes on, and has work done to its end though its caller is gone."""

import asyncio
import logging
import threading
import time
import weakref
from collections.abc import Awaitable, Coroutine
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar

from .errors import ScripError

if TYPE_CHECKING:
    from ._async.hold import AsyncRunningHold
    from ._sync.hold import RunningHold

T = TypeVar("T")

log = logging.getLogger("scrip")

CLOSED = ("hold_closed", "hold_not_found")


def wait(stopped: threading.Event, seconds: float) -> bool:
    """Waits, unless it is stopped. Tests have another."""
    return stopped.wait(seconds)


async def pause(seconds: float) -> None:
    """Waits. Tests have another."""
    await asyncio.sleep(seconds)


class Keeper:
    """Extends a hold every so many seconds, beside its work: in a thread. A hold that nobody has any more is not
    kept open.
    """

    def __init__(self, hold: "RunningHold", period: float) -> None:
        self._stopped = threading.Event()
        arguments = (weakref.ref(hold), self._stopped, period)
        self._thread = threading.Thread(target=keep, args=arguments, name="scrip-hold", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()


def keep(running: "weakref.ref[RunningHold]", stopped: threading.Event, period: float) -> None:
    while not wait(stopped, period):
        hold = running()
        if hold is None:
            return
        try:
            hold.extend(hold._seconds)
        except ScripError as error:
            # Closed under the work, by a rotation of the code say. Anything else may pass until the next time.
            if error.code in CLOSED:
                hold.lost = error
                return
        del hold


class AsyncKeeper:
    """The same in a task."""

    def __init__(self, hold: "AsyncRunningHold", period: float) -> None:
        self._hold = weakref.ref(hold)
        self._period = period
        self._task: Optional[asyncio.Task[None]] = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(async_keep(self._hold, self._period))

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()


async def async_keep(running: "weakref.ref[AsyncRunningHold]", period: float) -> None:
    while True:
        await pause(period)
        hold = running()
        if hold is None:
            return
        try:
            await hold.extend(hold._seconds)
        except ScripError as error:
            if error.code in CLOSED:
                hold.lost = error
                return
        del hold


def to_end(done: T, undo: Any, pending: Any) -> T:
    """What `async_to_end` is where nothing is cancelled."""
    return done


async def async_to_end(
    work: Coroutine[Any, Any, T],
    undo: "Optional[Callable[[T], Awaitable[None]]]",
    pending: "set[asyncio.Task[Any]]",
) -> T:
    """Does the work to its end. Where its caller is cancelled it goes on among `pending`, and is undone
    afterwards where there is a way.
    """
    task = asyncio.get_running_loop().create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        rest = asyncio.get_running_loop().create_task(finish(task, undo))
        pending.add(rest)
        rest.add_done_callback(pending.discard)
        raise


async def finish(task: "asyncio.Task[T]", undo: "Optional[Callable[[T], Awaitable[None]]]") -> None:
    try:
        result = await task
        if undo is not None:
            await undo(result)
    except ScripError as error:
        # No caller is left to report to: the credits come back when the hold expires.
        log.warning("What a cancelled task left undone: %s", error)


def nap(seconds: float) -> None:
    """Waits before the next attempt."""
    time.sleep(seconds)


async def async_nap(seconds: float) -> None:
    """The same, while others go on."""
    await asyncio.sleep(seconds)


def join(pending: Any) -> None:
    """What `async_join` is where nothing goes on by itself."""


async def async_join(pending: "set[asyncio.Task[Any]]") -> None:
    """Waits for all that goes on though its caller is gone."""
    await asyncio.gather(*pending, return_exceptions=True)

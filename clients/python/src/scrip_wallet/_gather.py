"""Gathers calls of one kind, deductions say: those that come while requests are under way go together with the next
one, as a batch. It waits for no timer, so a lone one is sent at once. Those of one wallet, or of one hold, are sent in
their order, and each has an answer and retries of its own.

`Gathering` decides and neither waits nor asks. Below it is who asks: with threads one of the callers that wait, for all
of its request; with asyncio a task.
"""

import asyncio
import json
import re
import threading
import time
from collections import deque
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, Union

from ._types import BatchResult, ListedItem
from .errors import ScripError
from .usage import whole_of

MAX_ITEMS = 1_000
MAX_BATCH_BYTES = 512 * 1024
"""Half of what a server takes."""
MAX_REQUESTS = 2
"""Requests at a time."""
MAX_WAITING_BYTES = 64 * 1024 * 1024
"""What all calls without an answer may take of the memory: some 60,000 plain ones."""
CALL_BYTES = 1024
"""What a call takes beside its text, roughly."""
MAX_ITEM_BYTES = 16 * 1024
"""A longer call goes by itself."""
SINGLES_SECONDS = 60.0
"""How long a server that has no batches is asked without them."""

Results = Sequence[Any]


@dataclass(eq=False)
class Line:
    """The calls of one wallet or one hold that are not under way, in their order."""

    name: str
    calls: "list[GatheredCall]" = field(default_factory=list)
    blocks: int = 0
    """What they wait for: requests with calls of this line, and calls that failed and may come again."""


@dataclass(eq=False)
class GatheredCall:
    """A call without an answer."""

    item: ListedItem
    key: str
    size: int
    is_alone: bool
    """Whether it goes by itself."""
    line: Line
    order: int
    wake: Callable[[], None] = lambda: None
    """Called where there is something to do for its caller: an outcome to take, or a request to make."""
    attempt: int = 0
    has_wallet: bool = False
    """Whether its user's wallet was made for it."""
    request: "Optional[GatheredRequest]" = None
    outcome: Optional[BatchResult] = None
    """Where it is an error, the line waits until the caller decides what comes of it."""


@dataclass(eq=False)
class GatheredRequest:
    calls: list[GatheredCall]
    is_counted: bool


class Gathering:
    """Which calls go together, and when."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.lock = threading.RLock()
        self.on_idle: Callable[[], None] = lambda: None
        self.is_closed = False
        self.count = 0
        self._clock = clock
        self._order = 0
        self._bytes = 0
        self._lines: dict[str, Line] = {}
        # Lines whose first call may be sent, in the order in which they became so.
        self._ready: dict[Line, None] = {}
        self._alone: deque[GatheredCall] = deque()
        self._requests = 0
        # Less than the maximum behind a proxy that takes less.
        self._batch_bytes = MAX_BATCH_BYTES
        self._singles_until = float("-inf")

    @property
    def is_open(self) -> bool:
        """Whether calls are gathered now."""
        return not self.is_closed and self._clock() >= self._singles_until

    def call(self, item: ListedItem, key: str) -> GatheredCall:
        """A new call, the last of its wallet."""
        item, size, is_alone = prepared(item, key)
        with self.lock:
            if self._bytes + size + CALL_BYTES > MAX_WAITING_BYTES:
                message = "Too many calls wait for an answer."
                raise ScripError("overloaded", message, status=503, idempotency_key=key)
            name = line_of(item)
            line = self._lines.setdefault(name, Line(name))
            call = GatheredCall(item, key, size, is_alone, line, self._order)
            self._order += 1
            self.count += 1
            self._bytes += size + CALL_BYTES
            line.calls.append(call)
            self._offer(line)
            return call

    def again(self, call: GatheredCall) -> None:
        """A call that failed is sent again."""
        with self.lock:
            call.outcome = None
            self._put_back(call)
            self._unblock(call.line)

    def expire(self, call: GatheredCall, failure: ScripError) -> None:
        """Fails a call that was not sent, since its time is over."""
        with self.lock:
            if call.outcome is None and call.request is None:
                self._remove(call)
                self._answer(call, failure)
                self._offer(call.line)

    def leave(self, call: GatheredCall) -> None:
        """Ends a call, and nothing but it."""
        with self.lock:
            if isinstance(call.outcome, ScripError):
                call.line.blocks -= 1
            elif call.outcome is not None:
                return
            elif call.request is None:
                self._remove(call)
            call.request = None
            self._end(call)
            self._offer(call.line)

    def take(self) -> Optional[GatheredRequest]:
        """The next request to be made, if one may be."""
        with self.lock:
            is_counted = not self._alone
            if self._alone:
                calls = [self._alone.popleft()]
            elif self._requests < MAX_REQUESTS and self._ready:
                calls = self._batch()
                self._requests += 1
                for line in dict.fromkeys(call.line for call in calls):
                    line.blocks += 1
            else:
                return None
            request = GatheredRequest(calls, is_counted)
            for call in calls:
                call.request = request
            return request

    def wake_next(self) -> None:
        """Wakes the caller who is to make the next request, if one may be made."""
        with self.lock:
            if self._alone:
                self._alone[0].wake()
            elif self._requests < MAX_REQUESTS and self._ready:
                next(iter(self._ready)).calls[0].wake()

    def finish(self, request: GatheredRequest, outcome: Union[Results, ScripError]) -> None:
        """Has the calls of a request know what came of it."""
        with self.lock:
            calls = request.calls
            if request.is_counted:
                self._requests -= 1
            is_undecided = False
            if isinstance(outcome, ScripError) and len(calls) > 1:
                is_undecided = outcome.status in (400, 404, 405, 413)
                self._learn(outcome, calls)
            for at, call in enumerate(calls):
                # Those that gave up ask no more of it.
                if call.request is not request:
                    continue
                call.request = None
                if is_undecided:
                    self._put_back(call)
                else:
                    self._answer(call, outcome[at] if not isinstance(outcome, ScripError) else keyed(outcome, call.key))
            for line in dict.fromkeys(call.line for call in calls):
                self._unblock(line)

    def _batch(self) -> list[GatheredCall]:
        """As much of what may be sent as a batch has room for: at least one call."""
        taken: list[GatheredCall] = []
        size = 0
        for line in list(self._ready):
            count = 0
            for call in line.calls:
                is_over = len(taken) == MAX_ITEMS or (taken and size + call.size > self._batch_bytes)
                if call.is_alone or is_over:
                    break
                taken.append(call)
                size += call.size
                count += 1
            if count == 0:
                break
            del line.calls[:count]
            del self._ready[line]
        return taken

    def _learn(self, failure: ScripError, calls: list[GatheredCall]) -> None:
        """What a refusal of a whole batch says about its calls: they are sent again, under their keys, and lose no
        attempt.
        """
        if failure.status == 413:
            self._batch_bytes = sum(call.size for call in calls) // 2
        elif failure.status in (404, 405):
            self._singles_until = self._clock() + SINGLES_SECONDS
            for line in list(self._ready):
                self._offer(line)
        elif failure.status == 400:
            # The one at fault is asked about by itself, and its refusal is what a lone call gets.
            found = re.match(r"items\[(\d+)\]", failure.param or "")
            at = int(found[1]) if found else len(calls)
            for call in calls[at : at + 1] or calls:
                call.is_alone = True

    def _offer(self, line: Line) -> None:
        """Has a line's calls sent, if they wait for nothing."""
        if line.blocks > 0:
            self._ready.pop(line, None)
            return
        are_alone = self._clock() < self._singles_until
        if line.calls and not (are_alone or line.calls[0].is_alone):
            self._ready[line] = None
            return
        self._ready.pop(line, None)
        if not line.calls:
            self._lines.pop(line.name, None)
            return
        count = 1 if line.calls[0].is_alone else len(line.calls)
        self._alone.extend(line.calls[:count])
        line.blocks += count
        del line.calls[:count]

    def _unblock(self, line: Line) -> None:
        line.blocks -= 1
        self._offer(line)

    def _put_back(self, call: GatheredCall) -> None:
        calls = call.line.calls
        at = next((at for at, other in enumerate(calls) if other.order > call.order), len(calls))
        calls.insert(at, call)

    def _remove(self, call: GatheredCall) -> None:
        if call in self._alone:
            self._alone.remove(call)
            call.line.blocks -= 1
        else:
            call.line.calls.remove(call)

    def _answer(self, call: GatheredCall, outcome: BatchResult) -> None:
        call.outcome = outcome
        if isinstance(outcome, ScripError):
            call.line.blocks += 1
        else:
            self._end(call)
        call.wake()

    def _end(self, call: GatheredCall) -> None:
        self.count -= 1
        self._bytes -= call.size + CALL_BYTES
        if self.count == 0:
            self.on_idle()


def keyed(failure: ScripError, key: str) -> ScripError:
    """The failure of a request as that of one of its calls."""
    if failure.idempotency_key == key:
        return failure
    known = {name: getattr(failure, name) for name in ("status", "request_id", "param", "retry_after", "body")}
    error = ScripError(failure.code, failure.message, idempotency_key=key, **known)
    error.__cause__ = failure.__cause__
    return error


def is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) < 256 and not re.search("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", value)


def prepared(item: ListedItem, key: str) -> tuple[ListedItem, int, bool]:
    """What is sent, an upper bound of its length, and whether it goes by itself: what a batch would be refused for."""
    fields = vars(item)
    amount, card = fields["amount"], fields.get("rate_card")
    product = fields.get("product_id")
    copies: dict[str, Any] = {}
    length, are_objects = 0, True
    for name in OBJECTS:
        value = fields.get(name)
        if value is None:
            continue
        try:
            # As it is now: the caller may change it before it is sent.
            text = json.dumps(whole_of(value) if name == "usage" else value, allow_nan=False)
            copies[name] = json.loads(text)
        except (TypeError, ValueError):
            text = ""
        length += len(text)
        are_objects = are_objects and text.startswith("{")
    if copies:
        # `replace` would take as long as the rest of this.
        item = object.__new__(type(item))
        vars(item).update(fields, **copies)
    target = next((fields[name] for name in TARGETS if fields.get(name) is not None), None)
    others = (product, card, fields.get("usage_format"), fields.get("on_shortfall"), fields.get("member"))
    names = [target, key] + [name for name in others if name is not None]
    # Escaped, a character is six bytes at most.
    size = (240 if card is None else 360) + length + 6 * sum(len(str(name)) for name in names)
    is_charge = amount is None
    if card is None:
        is_charge = type(amount) is int and (0 if "hold_id" in fields else 1) <= amount < 2**53
    is_plain = (
        all(is_name(name) for name in names)
        and (fields.get("code") is None or product is not None or card is not None)
        and are_objects
        and is_charge
    )
    return item, size, not is_plain or size > MAX_ITEM_BYTES


OBJECTS = ("meta", "attributes", "quantities", "usage")
TARGETS = ("hold_id", "external_user_id", "code")


def line_of(item: ListedItem) -> str:
    """The same for all spellings of a code."""
    fields = vars(item)
    if fields.get("code") is None:
        return next((f"{name} {fields[name]}" for name in TARGETS if fields.get(name) is not None), "")
    code = re.sub("[^0-9A-Za-z]", "", str(fields["code"])).upper()
    return f"code {re.sub('[IL]', '1', code).replace('O', '0')}"


Send = Callable[[list[GatheredCall]], Results]
AsyncSend = Callable[[list[GatheredCall]], Awaitable[Results]]


def late(call: GatheredCall, timeout: float) -> ScripError:
    return ScripError("timeout", f"No answer within {timeout:g} s.", idempotency_key=call.key)


INTERRUPTED = ScripError("network_error", "The request was interrupted.")


def answer(gathering: Gathering, call: GatheredCall, send: Send, pending: Any, timeout: float) -> BatchResult:
    """What comes of a call. While there is a request to make, and none of its other callers makes it, its own thread
    does."""
    event = threading.Event()
    call.wake = event.set
    while True:
        event.clear()
        with gathering.lock:
            if call.outcome is not None:
                return call.outcome
            request = gathering.take()
            gathering.wake_next()
        if request is None:
            if not event.wait(timeout):
                gathering.expire(call, late(call, timeout))
            continue
        outcome: Union[Results, ScripError] = INTERRUPTED
        try:
            outcome = send(request.calls)
        except ScripError as failure:
            outcome = failure
        finally:
            gathering.finish(request, outcome)
            gathering.wake_next()


def leave(gathering: Gathering, call: GatheredCall, send: Send, pending: Any) -> None:
    """Ends a call; another caller makes the request that it would have made."""
    gathering.leave(call)
    gathering.wake_next()


def drain(gathering: Gathering) -> None:
    """Waits until all calls have their answers."""
    gathering.is_closed = True
    event = threading.Event()
    gathering.on_idle = event.set
    if gathering.count > 0:
        event.wait()


async def async_answer(
    gathering: Gathering,
    call: GatheredCall,
    send: AsyncSend,
    pending: "set[asyncio.Task[Any]]",
    timeout: float,
) -> BatchResult:
    """What comes of a call. Tasks of their own make the requests: who is cancelled takes nothing along."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[None] = loop.create_future()
    call.wake = lambda: None if answered.done() else answered.set_result(None)
    # After the other calls of this turn, so that they go together.
    loop.call_soon(async_flush, gathering, send, pending)
    while call.outcome is None:
        await asyncio.wait([answered], timeout=timeout)
        gathering.expire(call, late(call, timeout))
    return call.outcome


def async_flush(gathering: Gathering, send: AsyncSend, pending: "set[asyncio.Task[Any]]") -> None:
    """Makes the requests that may be made."""
    while (request := gathering.take()) is not None:
        task = asyncio.get_running_loop().create_task(async_request(gathering, request, send, pending))
        pending.add(task)
        task.add_done_callback(pending.discard)


async def async_request(
    gathering: Gathering, request: GatheredRequest, send: AsyncSend, pending: "set[asyncio.Task[Any]]"
) -> None:
    outcome: Union[Results, ScripError] = INTERRUPTED
    try:
        outcome = await send(request.calls)
    except ScripError as failure:
        outcome = failure
    finally:
        gathering.finish(request, outcome)
        asyncio.get_running_loop().call_soon(async_flush, gathering, send, pending)


def async_leave(gathering: Gathering, call: GatheredCall, send: AsyncSend, pending: "set[asyncio.Task[Any]]") -> None:
    """Ends a call, and has made what it kept from being made: after others that are cancelled with it have left."""
    gathering.leave(call)
    asyncio.get_running_loop().call_soon(async_flush, gathering, send, pending)


async def async_drain(gathering: Gathering) -> None:
    """Waits until all calls have their answers."""
    gathering.is_closed = True
    event = asyncio.Event()
    gathering.on_idle = event.set
    if gathering.count > 0:
        await event.wait()

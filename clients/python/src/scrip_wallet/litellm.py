"""Charges what passes through a LiteLLM proxy to wallets: `callbacks: custom_callbacks.meter` in its configuration,
and there `meter = CreditMeter(AsyncScrip(…))`.

Before a call credits are held for what it may cost; its success is charged what it did cost, its failure nothing. A
stream is charged as it goes, so that what was streamed is charged even if the reader leaves, and the rest is released.
A call without any further callback (its client left before the first word) gives its hold back when it is forgotten,
and at the latest when the hold expires.
"""

import asyncio
import logging
import math
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from typing import Any, Optional
from weakref import WeakValueDictionary

from fastapi import HTTPException
from litellm.integrations.custom_logger import CustomLogger

from ._async.client import AsyncScrip
from ._async.hold import AsyncRunningHold
from ._keeper import async_to_end
from ._tokens import Stream, Usage, about, expected, prompt_tokens
from .errors import InsufficientCreditsError, ScripError

__all__ = ["CreditMeter", "OutOfCreditsError", "Usage", "payer_of"]

log = logging.getLogger("scrip_wallet.litellm")

MARK = "scrip_call"
"""Where a call is marked, in the metadata that LiteLLM keeps of it."""
ESTIMATED = {"estimated": True}
"""How the ledger says that an amount comes from an estimate."""
MAX_PAUSE = 300.0
"""Seconds between attempts to settle, once they have grown to it."""
ATTEMPTS = 300
"""How often a settlement is tried: for about a day."""


class OutOfCreditsError(Exception):
    """Ends a stream whose next words cannot be paid."""

    status_code = 402

    def __init__(self) -> None:
        self.message = "Out of credits."
        super().__init__(self.message)


def payer_of(data: dict[str, Any], user_api_key_dict: Any) -> Optional[str]:
    """The user that a key belongs to; for a key without a user (a back end's), the `user` that the request names.
    So no user spends another's credits.
    """
    owner = getattr(user_api_key_dict, "user_id", None)
    if owner and owner != "default_user_id":
        return str(owner)
    named = getattr(user_api_key_dict, "end_user_id", None) or data.get("user")
    return str(named) if named else None


class CreditMeter(CustomLogger):  # type: ignore[misc, unused-ignore]
    """A callback for LiteLLM's proxy.

    `cost` says how many credits a usage costs; a credit is a token where it is left out. `estimate` says how many to
    hold for a request; where it is left out, its prompt and `max_tokens` (1,024 where it does not say). `payer` says
    whose wallet pays, or None: no charge. A stream is charged in tenths of its hold, or by `draw_every` credits.

    LiteLLM does not call inherited hooks: give functions instead of making a subclass.
    """

    def __init__(
        self,
        scrip: AsyncScrip,
        *,
        cost: Callable[[Usage], float] = lambda usage: usage.total_tokens,
        estimate: Optional[Callable[[dict[str, Any]], int]] = None,
        payer: Callable[[dict[str, Any], Any], Optional[str]] = payer_of,
        product_id: Optional[str] = None,
        hold_seconds: int = 900,
        draw_every: Optional[int] = None,
    ) -> None:
        super().__init__()
        self.scrip = scrip
        self.cost = cost
        self.estimate = estimate
        self.payer = payer
        self.product_id = product_id
        self.hold_seconds = hold_seconds
        self.draw_every = draw_every
        self.calls: WeakValueDictionary[str, Metered] = WeakValueDictionary()

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> Optional[dict[str, Any]]:
        """Holds credits for the call, or refuses it."""
        payer = self.payer(data, user_api_key_dict)
        if payer is None:
            if self.payer is payer_of:
                raise HTTPException(400, {"error": "Say whose credits pay: `user`, or a key that belongs to one."})
            return None
        prompt = about(str(data.get("model") or ""), prompt_tokens(data), 0)
        amount = self.estimate(data) if self.estimate else math.ceil(self.cost(expected(prompt, data, str(call_type))))
        hold = self.scrip.hold(
            external_user_id=payer,
            amount=max(amount, 1),
            product_id=self.product_id,
            expires_in_seconds=self.hold_seconds,
            meta={"feature": prompt.model},
            keep_open=False,
        )
        try:
            await hold.__aenter__()
        except InsufficientCreditsError as error:
            detail = {
                "error": error.message,
                "code": error.code,
                "balance": error.balance,
                "shortfall": error.shortfall,
            }
            raise HTTPException(402, detail) from error
        except ScripError as error:
            log.error("No hold could be placed for a call of %s: %s", payer, error)
            raise HTTPException(503, {"error": "Credits cannot be asked for now.", "code": error.code}) from error
        metered = Metered(self, hold, prompt)
        name = "litellm_metadata" if isinstance(data.get("litellm_metadata"), dict) else "metadata"
        if not isinstance(data.get(name), dict):
            data[name] = {}
        data[name][MARK] = metered.mark
        self.calls[metered.mark] = metered
        # It lives as long as what LiteLLM itself knows of the call. After that there are no more callbacks.
        keeper = data.get("litellm_logging_obj")
        if keeper is not None and hasattr(keeper, "__dict__"):
            keeper.scrip_metered = metered
        else:
            metered.keep_alive()
        return data

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> None:
        """Charges what the call cost."""
        metered = self.metered(data)
        if metered is not None:
            await metered.finish(metered.answered(response))

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        original_exception: Exception,
        user_api_key_dict: Any,
        traceback_str: Optional[str] = None,
    ) -> None:
        """Gives back what was held; of a stream, all but what was streamed."""
        metered = self.metered(request_data)
        if metered is not None:
            await metered.finish(metered.streamed())

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        """Charges a stream as it goes, and the rest at its end, however it ends."""
        metered = self.metered(request_data)
        if metered is None:
            async for chunk in response:
                yield chunk
            return
        whole = False
        try:
            async for chunk in response:
                await metered.charge(chunk)
                yield chunk
            whole = True
        finally:
            await metered.finish(metered.stream.whole() if whole else metered.streamed())

    def metered(self, data: dict[str, Any]) -> "Optional[Metered]":
        for name in ("litellm_metadata", "metadata"):
            found = data.get(name)
            if isinstance(found, dict) and isinstance(found.get(MARK), str) and found[MARK] in self.calls:
                return self.calls[found[MARK]]
        return None


class Metered:
    """A call, from its hold to its end. It ends once, by what comes first."""

    def __init__(self, meter: CreditMeter, hold: AsyncRunningHold, prompt: Usage) -> None:
        self.mark = uuid.uuid4().hex
        self.meter = meter
        self.hold = hold
        self.prompt = prompt
        self.stream = Stream(prompt)
        self.over = False
        self.loop = asyncio.get_running_loop()
        self.step = meter.draw_every or max(hold.amount // 10, 1)
        self.extended = time.monotonic()

    def __del__(self) -> None:
        # Forgotten: the client went away before LiteLLM called back, say.
        if not self.over and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.abandon)

    def abandon(self) -> None:
        spawn(self.finish(self.streamed()))

    def keep_alive(self) -> None:
        """Without anything to live as long as: until its hold has expired."""
        self.loop.call_later(self.meter.hold_seconds, lambda: self.over)

    def answered(self, response: Any) -> Usage:
        """The usage of a whole answer."""
        # A stream that is reported as a whole was seen already.
        stream = Stream(self.prompt)
        stream.see(response)
        return stream.whole(response)

    def cost_of(self, usage: Usage) -> int:
        try:
            # Part of a credit counts as one.
            cost = math.ceil(self.meter.cost(usage))
            if cost >= 0:
                return cost
            log.error("The cost of a call is negative: what was held is charged.")
        except Exception:
            # Neither free nor the client's trouble.
            log.exception("The cost of a call is unknown: what was held is charged.")
        return self.hold.amount

    def streamed(self) -> Optional[Usage]:
        """The usage of what has been passed on so far, if anything was."""
        return self.stream.passed() if self.stream.passed_on else None

    async def charge(self, chunk: Any) -> None:
        """Before a chunk goes out: draws what it takes. Raises where there are no credits for it."""
        if self.over:
            return
        self.stream.see(chunk)
        due = self.cost_of(self.stream.running()) - self.hold.drawn
        if due >= self.step:
            # Pieces of words are fewer tokens together: it is counted again where it matters.
            self.stream.recount()
            due = self.cost_of(self.stream.running()) - self.hold.drawn
        if due >= self.step:
            try:
                await self.hold.draw(due, meta=ESTIMATED)
            except InsufficientCreditsError as error:
                raise OutOfCreditsError from error
            except ScripError as error:
                # The end settles for all of it.
                log.warning("A draw from %s failed: %s", self.hold.hold_id, error)
        self.stream.pass_on()
        if time.monotonic() - self.extended > self.meter.hold_seconds / 3:
            self.extended = time.monotonic()
            try:
                await self.hold.extend(self.meter.hold_seconds)
            except ScripError as error:
                log.warning("The hold %s was not extended: %s", self.hold.hold_id, error)

    async def finish(self, used: Optional[Usage]) -> None:
        """Charges this in all and gives back the rest: to its end, though the caller be cancelled."""
        if self.over:
            return
        self.over = True
        cost = self.cost_of(used) if used else 0
        if used and used.estimated:
            self.hold.meta = ESTIMATED
        await async_to_end(self.settle(cost), None, self.meter.scrip._http.pending)

    async def settle(self, cost: int) -> None:
        try:
            if cost or self.hold.drawn:
                await self.hold._settle(cost, "drain")
            else:
                await self.hold.release()
        except ScripError as error:
            log.error("The hold %s is not settled for %d yet: %s", self.hold.hold_id, cost, error)
            # Released it comes back by itself. What was used is paid, also after the hold has expired.
            if cost and error.passing:
                spawn(self.settle_later(cost))

    async def settle_later(self, cost: int) -> None:
        for attempt in range(ATTEMPTS):
            await self.meter.scrip._http.sleep(min(float(2**attempt), MAX_PAUSE))
            try:
                await self.hold._settle(cost, "drain")
                return
            except ScripError as error:
                if not error.passing:
                    break
        log.critical("The hold %s was never settled for %d.", self.hold.hold_id, cost)


tasks: "set[asyncio.Task[None]]" = set()


def spawn(work: Any) -> None:
    """Does it in the background; a task without a reference may be collected."""
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)

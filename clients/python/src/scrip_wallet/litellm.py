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
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Literal, Optional
from weakref import WeakValueDictionary

from fastapi import HTTPException
from litellm.integrations.custom_logger import CustomLogger

from ._async.client import AsyncScrip
from ._async.hold import AsyncRunningHold
from ._keeper import async_to_end
from ._tokens import Stream, Usage, about, expected, prompt_tokens
from .errors import InsufficientCreditsError, LimitExceededError, ScripError

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
    """Ends a stream whose next words cannot be paid, or would go over a limit (403)."""

    def __init__(self, cause: Optional[ScripError] = None) -> None:
        is_limited = isinstance(cause, LimitExceededError)
        self.status_code = 403 if is_limited else 402
        self.message = "A limit is reached." if is_limited else "Out of credits."
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


def member_of(kind: Optional[str], data: dict[str, Any], user_api_key_dict: Any) -> Optional[str]:
    """Whose use it is; a key is named by its hash."""
    if kind == "user":
        return payer_of(data, user_api_key_dict)
    named = kind and getattr(user_api_key_dict, {"team": "team_id", "key": "token"}[kind], None)
    return str(named) if named else None


class CreditMeter(CustomLogger):  # type: ignore[misc, unused-ignore]
    """A callback for LiteLLM's proxy.

    `cost` says how many credits a usage costs; a credit is a token where it is left out. `estimate` says how many to
    hold for a request; where it is left out, its prompt and `max_tokens` (1,024 where it does not say). `payer` says
    whose wallet pays, or None: no charge. A stream is charged in tenths of its hold, or by `draw_every` credits.

    With a `rate_card` that prices what the provider counted, and what is estimated where it counted nothing, in place
    of `cost` and `estimate`. Its rates match `attributes`, the model where they are left out; `draw_every` counts
    tokens then.

    `member` says whose use the wallet's limits count: of the `user` (as `payer_of` finds them), of the key's `team`, or
    of the `key` itself.

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
        rate_card: Optional[str] = None,
        attributes: Callable[[Usage], Mapping[str, str]] = lambda usage: {"model": usage.model},
        member: Optional[Literal["user", "team", "key"]] = None,
    ) -> None:
        super().__init__()
        self.scrip = scrip
        self.cost = cost
        self.estimate = estimate
        self.payer = payer
        self.product_id = product_id
        self.hold_seconds = hold_seconds
        self.draw_every = draw_every
        self.rate_card = rate_card
        self.attributes = attributes
        self.member = member
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
        most = expected(prompt, data, str(call_type))
        price: dict[str, Any]
        if self.rate_card is None:
            price = {"amount": max(self.estimate(data) if self.estimate else math.ceil(self.cost(most)), 1)}
        else:
            # What has no price is refused before it is asked for.
            quantities = most.units or {"input": 1}
            price = {"rate_card": self.rate_card, "attributes": self.attributes(prompt), "quantities": quantities}
        hold = self.scrip.hold(
            external_user_id=payer,
            member=member_of(self.member, data, user_api_key_dict),
            **price,
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
        except LimitExceededError as error:
            limit = error.limit.raw
            raise HTTPException(403, {"error": error.message, "code": error.code, "limit": limit}) from error
        except ScripError as error:
            if error.code in ("rate_not_found", "rate_card_not_found"):
                raise HTTPException(400, {"error": error.message, "code": error.code}) from error
            log.error("No hold could be placed for a call of %s: %s", payer, error)
            raise HTTPException(503, {"error": "Credits cannot be asked for now.", "code": error.code}) from error
        metered = Metered(self, hold, prompt, hold.amount if self.rate_card is None else most.total_tokens)
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

    def __init__(self, meter: CreditMeter, hold: AsyncRunningHold, prompt: Usage, most: int) -> None:
        self.mark = uuid.uuid4().hex
        self.meter = meter
        self.hold = hold
        self.prompt = prompt
        self.stream = Stream(prompt)
        self.over = False
        self.loop = asyncio.get_running_loop()
        self.step = meter.draw_every or max(most // 10, 1)
        # By a rate card: what draws were for, and what was used in all.
        self.drawn: dict[str, int] = {}
        self.units: dict[str, int] = {}
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
        self.stream = Stream(self.prompt)
        self.stream.see(response)
        return self.stream.whole(response)

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
        due = self.due()
        if sum(due.values()) >= self.step:
            # Pieces of words are fewer tokens together: it is counted again where it matters.
            self.stream.recount()
            due = self.due()
        if sum(due.values()) >= self.step:
            try:
                if self.meter.rate_card is None:
                    await self.hold.draw(due["credits"], meta=ESTIMATED)
                else:
                    await self.hold.draw(quantities=due, meta=ESTIMATED)
                    self.drawn = {unit: self.drawn.get(unit, 0) + due.get(unit, 0) for unit in {*self.drawn, *due}}
            except (InsufficientCreditsError, LimitExceededError) as error:
                raise OutOfCreditsError(error) from error
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

    def due(self) -> dict[str, int]:
        """What was not drawn yet: credits, or the tokens that a rate card prices."""
        now = self.stream.running()
        if self.meter.rate_card is None:
            return {"credits": self.cost_of(now) - self.hold.drawn}
        due = {unit: count - self.drawn.get(unit, 0) for unit, count in now.units.items()}
        return {unit: count for unit, count in due.items() if count > 0}

    async def finish(self, used: Optional[Usage]) -> None:
        """Charges this in all and gives back the rest: to its end, though the caller be cancelled."""
        if self.over:
            return
        self.over = True
        cost: Optional[int] = 0
        if used and self.meter.rate_card is None:
            cost = self.cost_of(used)
        elif used and used.units:
            cost = None
            if used.estimated:
                self.hold.quantities = used.units
            else:
                self.hold.usage = self.stream.usages
        if used and used.estimated:
            self.hold.meta = ESTIMATED
        self.units = used.units if used else {}
        await async_to_end(self.settle(cost), None, self.meter.scrip._http.pending)

    async def take(self, cost: Optional[int]) -> None:
        """Charges this, or where it is None what the rate card says."""
        try:
            await self.hold._settle(cost, "drain")
        except ScripError as error:
            if error.status != 400 or self.hold.usage is None:
                raise
            # The service makes nothing of that usage: what was read in it here is not free.
            self.hold.quantities, self.hold.usage = self.units, None
            await self.hold._settle(cost, "drain")

    async def settle(self, cost: Optional[int]) -> None:
        try:
            if cost != 0 or self.hold.drawn:
                await self.take(cost)
            else:
                await self.hold.release()
        except ScripError as error:
            log.error("The hold %s is not settled for %s yet: %s", self.hold.hold_id, cost or self.units, error)
            # Released it comes back by itself. What was used is paid, also after the hold has expired.
            if cost != 0 and error.passing:
                spawn(self.settle_later(cost))

    async def settle_later(self, cost: Optional[int]) -> None:
        for attempt in range(ATTEMPTS):
            await self.meter.scrip._http.sleep(min(float(2**attempt), MAX_PAUSE))
            try:
                await self.take(cost)
                return
            except ScripError as error:
                if not error.passing:
                    break
        log.critical("The hold %s was never settled for %s.", self.hold.hold_id, cost or self.units)


tasks: "set[asyncio.Task[None]]" = set()


def spawn(work: Any) -> None:
    """Does it in the background; a task without a reference may be collected."""
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)

"""Credits set aside for work whose cost is known only afterwards."""

from collections.abc import Iterable, Mapping
from typing import Any, Optional, Union

from .._call import segment
from .._types import HoldItem, OnShortfall, SettleItem, UsageFormat
from ..errors import ScripError
from ..models import Deduction, Draw, Hold, PlacedHold, Released
from .calls import AsyncCalls
from .hold import AsyncRunningHold


class AsyncHolds(AsyncCalls):
    """Credits set aside for work whose cost is known only afterwards."""

    def hold(
        self,
        *,
        amount: Optional[int] = None,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        product_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        expires_in_seconds: Optional[int] = None,
        max_overrun: Optional[int] = None,
        meta: Optional[Mapping[str, Any]] = None,
        on_shortfall: OnShortfall = "drain",
        resume: bool = False,
        keep_open: bool = True,
        rate_card: Optional[str] = None,
        attributes: Optional[Mapping[str, str]] = None,
        quantities: Optional[Mapping[str, int]] = None,
        usage: Any = None,
        usage_format: Optional[UsageFormat] = None,
        member: Optional[str] = None,
    ) -> AsyncRunningHold:
        """Work under a hold: `async with scrip.hold(…) as hold`.

        Credits are set aside on entering, and kept aside for as long as the work goes on. On leaving the work is
        paid for: `hold.cost` where it was set, else the sum of the draws; the rest comes back. Work that raises is
        paid for what was drawn, and costs nothing where nothing was. `on_shortfall` says what happens where hold
        and balance do not cover the cost.

        With a key of your own work is begun once (`hold_replayed`); `resume` takes up an open hold that was placed
        under it before, as a queue does that gives a job out again after a crash; should it then fail, that hold stays
        open, as the other run may work against it. A key whose hold ended without a charge may be used again: the next
        hold is placed under `key#2`, `key#3` and so on. Without `keep_open` the hold
        expires in its time, though the work goes on; the cost is then deducted without it.

        In place of an `amount` a `rate_card` prices what may be used, and `hold.usage` or `hold.quantities` in the end.
        """
        charge = (rate_card, attributes, quantities, usage, usage_format, member)
        item = HoldItem(
            amount, external_user_id, code, product_id, idempotency_key, expires_in_seconds, max_overrun, meta, *charge
        )
        return AsyncRunningHold(
            self,
            item,
            own_key=idempotency_key is None,
            seconds=expires_in_seconds,
            on_shortfall=on_shortfall,
            resume=resume,
            keep_open=keep_open,
        )

    async def place_hold(
        self,
        *,
        amount: Optional[int] = None,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        product_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        expires_in_seconds: Optional[int] = None,
        max_overrun: Optional[int] = None,
        meta: Optional[Mapping[str, Any]] = None,
        rate_card: Optional[str] = None,
        attributes: Optional[Mapping[str, str]] = None,
        quantities: Optional[Mapping[str, int]] = None,
        usage: Any = None,
        usage_format: Optional[UsageFormat] = None,
        member: Optional[str] = None,
    ) -> PlacedHold:
        """Sets credits aside for work whose cost is known only afterwards, and nothing more; see `hold`."""
        charge = (rate_card, attributes, quantities, usage, usage_format, member)
        item = HoldItem(
            amount, external_user_id, code, product_id, idempotency_key, expires_in_seconds, max_overrun, meta, *charge
        )
        placed: PlacedHold = await self._gathered(item)
        return placed

    async def hold_batch(
        self, items: Iterable[Union[HoldItem, Mapping[str, Any]]]
    ) -> list[Union[PlacedHold, ScripError]]:
        """Places up to 1,000 holds, as `deduct_batch` takes credits."""
        return await self._batch(HoldItem, items)

    async def settle_batch(
        self, items: Iterable[Union[SettleItem, Mapping[str, Any]]]
    ) -> list[Union[Deduction, Draw, ScripError]]:
        """Settles up to 1,000 holds, or draws from them, as `deduct_batch` takes credits."""
        return await self._batch(SettleItem, items)

    async def get_hold(self, hold_id: str) -> Hold:
        """A hold's state."""
        return await self._get(f"/holds/{segment(hold_id, 'hold')}", Hold)

    async def draw(
        self,
        hold_id: str,
        amount: Optional[int] = None,
        *,
        idempotency_key: Optional[str] = None,
        meta: Optional[Mapping[str, Any]] = None,
        rate_card: Optional[str] = None,
        attributes: Optional[Mapping[str, str]] = None,
        quantities: Optional[Mapping[str, int]] = None,
        usage: Any = None,
        usage_format: Optional[UsageFormat] = None,
    ) -> Draw:
        """Charges a part of an open hold, which stays open. `meta` is laid over that of the hold."""
        charge = (rate_card, attributes, quantities, usage, usage_format)
        draw: Draw = await self._gathered(SettleItem(hold_id, amount, True, idempotency_key, None, meta, *charge))
        return draw

    async def settle(
        self,
        hold_id: str,
        amount: Optional[int] = None,
        *,
        on_shortfall: Optional[OnShortfall] = None,
        meta: Optional[Mapping[str, Any]] = None,
        rate_card: Optional[str] = None,
        attributes: Optional[Mapping[str, str]] = None,
        quantities: Optional[Mapping[str, int]] = None,
        usage: Any = None,
        usage_format: Optional[UsageFormat] = None,
    ) -> Deduction:
        """Charges what the work cost, draws included, and gives back the rest. `meta` is laid over that of the hold."""
        charge = (rate_card, attributes, quantities, usage, usage_format)
        item = SettleItem(hold_id, amount, None, None, on_shortfall, meta, *charge)
        settled: Deduction = await self._gathered(item)
        return settled

    async def release(self, hold_id: str) -> Released:
        """Gives back all of it."""
        return await self._post(f"/holds/{segment(hold_id, 'hold')}/release", Released, repeatable=True)

    async def extend(self, hold_id: str, expires_in_seconds: int) -> Hold:
        """Keeps it open for so long from now."""
        path = f"/holds/{segment(hold_id, 'hold')}/extend"
        return await self._post(path, Hold, {"expiresInSeconds": expires_in_seconds}, repeatable=True)

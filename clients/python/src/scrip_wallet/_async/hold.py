"""Work under a hold: what it cost is charged, and the rest is released, however the work ends."""

from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional

from .._call import Call, new_key
from .._deductions import placing
from .._keeper import AsyncKeeper, async_to_end
from .._types import HoldItem, OnShortfall, Outcome, SettleItem, UsageFormat
from ..errors import ScripError, UnsettledError
from ..models import Deduction, Draw, Hold, PlacedHold

if TYPE_CHECKING:
    from .holds import AsyncHolds

DEFAULT_SECONDS = 900
"""The service's default."""
MAX_CREDITS = 2**53 - 1
MAX_ATTEMPTS = 20
"""How often work may be begun under a key, while none of its holds is charged."""


def renamed(call: "Call[tuple[PlacedHold, bool]]", key: str) -> "Call[tuple[PlacedHold, bool]]":
    """The same under another key."""
    return replace(call, key=key, body={**(call.body or {}), "idempotencyKey": key})


class AsyncSettlementError(UnsettledError):
    """Work under a hold was done, and could not be paid for: `resume` tries again."""

    _hold: "AsyncRunningHold"

    async def resume(self, *, on_shortfall: Optional[OnShortfall] = None) -> Outcome:
        """Settles the hold for the work's cost. May be called again and again: it is paid for once."""
        return await self._hold._settle(self.cost, on_shortfall)


class AsyncRunningHold:
    """The hold that work runs against: what `hold` gives to a `with` block."""

    hold_id: str
    """The hold's identifier: `hold_…`"""
    amount: int
    """Credits set aside."""
    balance: int
    """Credits that could be spent when it was placed."""
    key: str
    """The key under which it was placed."""
    cost: Optional[int]
    """What the work cost in all, draws included: set it before the end. Otherwise the draws are its cost."""
    rate_card: Optional[str]
    """The card that prices draws and `usage` or `quantities`."""
    attributes: Optional[Mapping[str, str]]
    """What its rates match."""
    quantities: Optional[Mapping[str, int]]
    """In place of `cost`: what the work used in all, by unit."""
    usage: Any
    """In place of `cost`: what the work used in all, as the model's provider reports it."""
    usage_format: Optional[UsageFormat]
    """Whose usage object it is, where its shape does not say."""
    meta: Optional[Mapping[str, Any]]
    """A note for the ledger entry of the settlement: it is laid over that of the hold, whose other keys stay."""
    value: Any
    """What the work made, if you like: the error of a hold that could not be settled has it."""
    lost: Optional[ScripError]
    """Why the hold can no longer be kept open: it was closed while the work ran."""
    outcome: Optional[Outcome]
    """What it came to, once it is settled."""

    def __init__(
        self,
        scrip: "AsyncHolds",
        item: HoldItem,
        *,
        own_key: bool,
        seconds: Optional[int],
        on_shortfall: OnShortfall,
        resume: bool,
        keep_open: bool,
    ) -> None:
        self._scrip = scrip
        self._call = call = placing(item)
        self._own_key = own_key
        self._seconds = seconds or DEFAULT_SECONDS
        self._on_shortfall: OnShortfall = on_shortfall
        self._resume = resume
        self._keep_open = keep_open
        self._begun = False
        self._keeper: Optional[AsyncKeeper] = None
        self._closed = False
        self.key = self._named_key = call.key or ""
        self.cost = None
        self.rate_card = item.rate_card
        self.attributes = item.attributes
        self.quantities = self.usage = self.usage_format = None
        self.meta = None
        self.value = None
        self._drawn = 0
        self._before = False
        # Draws by keys that may come again: each counts once.
        self._named: dict[str, int] = {}
        # Whether what a draw came to is not known.
        self._unsure = False
        self.lost = None
        self.outcome = None

    async def __aenter__(self) -> "AsyncRunningHold":
        if self._begun:
            raise ScripError("invalid_options", "A hold is for one run of work.")
        self._begun = True
        at = 1
        while True:
            if at > 1:
                self._call = renamed(self._call, f"{self._named_key}#{at}")
                self.key = self._call.key or ""
            # To its end, though the task may be cancelled: a hold whose id is unknown could not be released.
            placing = self._scrip._spend(self._call)
            placed, replayed = await async_to_end(placing, self._abandon, self._scrip._http.pending)
            # A key that the caller gave and that was used before: work for which another run is charged, or was. With
            # a key of our own it is our own retry.
            if not replayed or self._own_key or await self._take_up(placed, last=at == MAX_ATTEMPTS):
                break
            at += 1
        self.hold_id, self.amount, self.balance = placed.hold_id, placed.amount, placed.balance
        if self._keep_open:
            self._keeper = AsyncKeeper(self, self._seconds / 3)
            self._keeper.start()
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._keeper is not None:
            self._keeper.stop()
        if not self._closed:
            self._closed = True
            await async_to_end(self._end(error), None, self._scrip._http.pending)

    async def draw(
        self,
        amount: Optional[int] = None,
        *,
        idempotency_key: Optional[str] = None,
        meta: Optional[Mapping[str, Any]] = None,
        quantities: Optional[Mapping[str, int]] = None,
        usage: Any = None,
        usage_format: Optional[UsageFormat] = None,
    ) -> Draw:
        """Charges a part now, which stays charged; the hold stays open. Past what is held it takes from
        the balance; where that does not do, `insufficient_credits` says to stop. `meta` is laid over that of the hold.
        In place of an amount the hold's rate card prices `quantities` or `usage`.
        """
        key = idempotency_key or new_key()
        try:
            charge = self._charge(quantities, usage, usage_format)
            item = SettleItem(self.hold_id, amount, True, idempotency_key, None, meta, *charge)
            draw: Draw = await self._scrip._gathered(item, key)
        except ScripError as error:
            # It was not refused, so it may have been done: the work that it is for is not free.
            if error.status < 300 or (error.status >= 500 and error.code != "overloaded"):
                self._named[key] = amount or 0
                self._unsure = self._unsure or amount is None
            raise
        came_to = draw.amount if amount is None else amount
        if idempotency_key is None:
            self._drawn += came_to or 0
        elif draw.deducted or not self._before:
            self._named[key] = came_to or 0
        return draw

    def _charge(self, quantities: Any, usage: Any, usage_format: Optional[UsageFormat]) -> tuple[Any, ...]:
        """What the card of the hold prices, as items take it."""
        if quantities is None and usage is None:
            return ()
        return self.rate_card, self.attributes, quantities, usage, usage_format

    async def _all_drawn(self) -> int:
        """What was drawn, also where only the service knows that."""
        return (await self._scrip.get_hold(self.hold_id)).drawn if self._unsure else self.drawn

    @property
    def drawn(self) -> int:
        """What was drawn so far. A draw whose answer was lost counts, too."""
        return self._drawn + sum(self._named.values())

    async def release(self) -> None:
        """Gives back all that was not drawn, and ends the hold: nothing more is charged on leaving."""
        await self._scrip.release(self.hold_id)
        self._closed = True

    async def extend(self, expires_in_seconds: int) -> Hold:
        """Keeps it open for so long from now. While the block runs it is kept open without this."""
        return await self._scrip.extend(self.hold_id, expires_in_seconds)

    async def _take_up(self, placed: PlacedHold, *, last: bool) -> bool:
        """Goes on with a hold that another run placed; False where it ended without a charge, and another may be
        placed.
        """
        hold = await self._scrip.get_hold(placed.hold_id)
        unpaid = hold.status in ("released", "expired") and not hold.settled_amount and not hold.drawn
        if unpaid and not last:
            return False
        if not unpaid and not self._resume:
            message = "Work was begun under this key before."
            raise ScripError("hold_replayed", message, idempotency_key=self.key)
        if hold.status != "open":
            raise ScripError("hold_closed", "The work of this key is over.", idempotency_key=self.key)
        self._drawn, self._before = hold.drawn, True
        return True

    async def _abandon(self, placing: tuple[PlacedHold, bool]) -> None:
        """Gives back what was set aside for work that does not begin."""
        placed, replayed = placing
        if self._own_key or not replayed:
            await self._scrip.release(placed.hold_id)

    async def _end(self, error: Optional[BaseException]) -> Optional[Outcome]:
        if error is not None:
            await self._end_failed()
            return None
        cost = self.cost
        is_rated = self.rate_card is not None and bool(self._charge(self.quantities, self.usage, None))
        if cost is None and not is_rated and (self.drawn or self._unsure):
            cost = await self._all_drawn()
        is_whole = isinstance(cost, int) and not isinstance(cost, bool) and 0 <= cost <= MAX_CREDITS
        if not is_whole and not (is_rated and cost is None):
            await self._end_failed()
            message = "The work has to say what it cost: hold.cost, a whole number, draws, or with a card hold.usage."
            raise ScripError("invalid_request", message, param="cost")
        try:
            return await self._settle(cost, None)
        except ScripError as problem:
            unsettled = AsyncSettlementError(problem, hold_id=self.hold_id, key=self.key, cost=cost, value=self.value)
            unsettled._hold = self
            raise unsettled from problem

    async def _end_failed(self) -> None:
        """After work that raised: what was drawn is paid. Its own error matters more than one from here, and what
        cannot be given back now comes back when the hold expires. A hold that another run placed is not ended: that
        run may work against it.
        """
        if self._before:
            return
        try:
            drawn = await self._all_drawn()
            if drawn:
                self.quantities = self.usage = None
                await self._settle(drawn, "drain")
            else:
                await self._scrip.release(self.hold_id)
        except ScripError:
            pass

    async def _settle(self, cost: Optional[int], on_shortfall: Optional[OnShortfall]) -> Outcome:
        """Settles for this, or where it is None for what was used."""
        how = on_shortfall or self._on_shortfall
        charge = self._charge(self.quantities, self.usage, self.usage_format) if cost is None else ()
        item = SettleItem(self.hold_id, cost, None, None, how, self.meta, *charge)
        settled: Deduction = await self._scrip._gathered(item)
        known = (each for each in (settled.charged, settled.amount, cost) if each is not None)
        self.outcome = Outcome(
            settled.balance,
            next(known, 0),
            settled.owed or 0,
            settled.uncovered or 0,
            late=bool(settled.late),
            cost=settled.cost,
            rate_version=settled.rate_version,
            unpriced_usage=settled.unpriced_usage,
        )
        return self.outcome

"""All that a back end may do: with any wallet, order and subscription of its project."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Optional, TypeVar

import httpx

from .._call import Answer, Call, given, new_key, refusal, segment
from .._read import Unreadable, instant_text, read, rows
from .._types import Ability, BatchItem, BatchResult, Interval, LedgerReason, OnShortfall, Page
from .._wallets import anything, code_header, named, placing, wallet_path
from ..errors import ScripError
from ..events import Event, read_event
from ..models import (
    Bucket,
    Checkout,
    Credit,
    Debt,
    Deduction,
    Draw,
    ExternalWallet,
    Forgiveness,
    Hold,
    Identity,
    LedgerEntry,
    Order,
    PlacedHold,
    Product,
    Released,
    Session,
    Subscription,
    Wallet,
)
from .hold import AsyncRunningHold
from .http import AsyncHttp

T = TypeVar("T")


class AsyncScrip:
    """Calls one Scrip server with a secret key, over shared connections: make one, and keep it.

    `timeout` is how many seconds one attempt may take, `retries` how often a call is made again at most: one that
    had no effect (429, `overloaded`, no connection) always, and one that may be done twice without harm (a read, or
    one with an idempotency key) also where no answer came, or 500, 502, 503 or 504. `Retry-After` is honoured up to
    30 s; a longer one is on the error. `transport` and `sleep` stand in for the network and for time.
    """

    def __init__(
        self,
        secret_key: str,
        *,
        base_url: str,
        timeout: float = 15.0,
        retries: int = 3,
        transport: Optional[httpx.AsyncBaseTransport] = None,
        sleep: Optional[Callable[[float], Awaitable[None]]] = None,
    ) -> None:
        self._http = AsyncHttp(secret_key, base_url, timeout=timeout, retries=retries, transport=transport, sleep=sleep)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._http.base_url}>"

    async def __aenter__(self) -> "AsyncScrip":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes its connections."""
        await self._http.aclose()

    async def me(self) -> Identity:
        """What the key is, and of which project."""
        return await self._get("/me", Identity)

    async def products(self) -> list[Product]:
        """What is for sale."""
        return await self._rows("/products", Product, "products")

    # Wallets

    async def wallet(self, external_user_id: str) -> ExternalWallet:
        """A user's wallet. That of a user who has none is empty, and its `wallet_id` None."""
        try:
            return await self._get("/wallets/external", ExternalWallet, {"externalUserId": external_user_id})
        except ScripError as error:
            if error.code != "wallet_not_found":
                raise
        return ExternalWallet(balances=[], external_user_id=external_user_id, features=[], subscriptions=[])

    async def code_wallet(self, code: str) -> Wallet:
        """The wallet that a recovery code opens; `wallet_not_found` where it opens none."""
        return await self._get("/wallets/code", Wallet, headers=code_header(code))

    async def ensure_wallet(self, external_user_id: str) -> ExternalWallet:
        """A user's wallet, made if there is none."""
        body = {"externalUserId": external_user_id}
        return await self._post("/wallets/external", ExternalWallet, body, repeatable=True)

    async def create_wallet(self) -> Wallet:
        """Makes a wallet that belongs to whoever has its code."""
        return await self._post("/wallets", Wallet)

    async def rotate(self, code: str, *, idempotency_key: Optional[str] = None) -> str:
        """Replaces a recovery code that leaked: the new one."""
        key = idempotency_key or new_key()
        return await self._do(
            Call(
                "POST",
                "/wallets/code/rotate",
                lambda answer: str(named(answer, "code", str)),
                body={"idempotencyKey": key},
                headers=code_header(code),
                key=key,
                repeatable=True,
            )
        )

    async def recover(self, email: str) -> None:
        """Has the codes of wallets that were paid for with this address mailed to it. Says nothing else."""
        await self._do(Call("POST", "/wallets/recover", lambda answer: None, body={"email": email}))

    async def ledger(
        self,
        *,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        product_id: Optional[str] = None,
        reason: Optional[LedgerReason] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page[LedgerEntry]:
        """A page of a wallet's ledger, newest first. A user without a wallet has an empty one."""
        path, headers = wallet_path(external_user_id, code)
        query = given(externalUserId=external_user_id, productId=product_id, reason=reason, limit=limit, cursor=cursor)
        try:
            return await self._page(f"{path}/ledger", LedgerEntry, "entries", query, headers)
        except ScripError as error:
            if error.code != "wallet_not_found" or external_user_id is None:
                raise
        return Page([], None)

    async def ledger_entries(
        self,
        *,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        product_id: Optional[str] = None,
        reason: Optional[LedgerReason] = None,
    ) -> AsyncIterator[LedgerEntry]:
        """All of a wallet's ledger, newest first, read 100 at a time as they are asked for."""
        cursor: Optional[str] = None
        while True:
            page = await self.ledger(
                external_user_id=external_user_id,
                code=code,
                product_id=product_id,
                reason=reason,
                limit=100,
                cursor=cursor,
            )
            for entry in page.items:
                yield entry
            # A cursor that does not move would go round for ever.
            if page.next_cursor in (None, cursor):
                return
            cursor = page.next_cursor

    async def session(
        self,
        *,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        expires_in_seconds: Optional[int] = None,
        can: Optional[Sequence[Ability]] = None,
    ) -> Session:
        """A token with which this user's browser may read this wallet, and buy for it; an hour where nothing is
        said. A user without a wallet gets one.
        """
        wallet_path(external_user_id, code)
        body = given(
            externalUserId=external_user_id,
            code=code,
            expiresInSeconds=expires_in_seconds,
            can=None if can is None else list(can),
        )
        return await self._post("/sessions", Session, body, repeatable=True)

    async def revoke_sessions(self, *, external_user_id: Optional[str] = None, code: Optional[str] = None) -> None:
        """Ends all sessions of a wallet that were made so far."""
        wallet_path(external_user_id, code)
        body = given(externalUserId=external_user_id, code=code)
        await self._do(Call("POST", "/sessions/revoke", lambda answer: None, body=body, repeatable=True))

    async def grant_feature(
        self, feature: str, *, external_user_id: Optional[str] = None, code: Optional[str] = None
    ) -> list[str]:
        """Unlocks a feature by hand. All that the wallet unlocks."""
        return await self._feature(feature, "grant", external_user_id, code)

    async def revoke_feature(
        self, feature: str, *, external_user_id: Optional[str] = None, code: Optional[str] = None
    ) -> list[str]:
        """Takes back what was granted by hand; what was bought stays. All that the wallet unlocks."""
        return await self._feature(feature, "revoke", external_user_id, code)

    # Credits

    async def credit(
        self,
        *,
        product_id: str,
        amount: int,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        expires_at: Optional[datetime] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> Credit:
        """Gives credits, once for each key. A user without a wallet gets one.

        Without a key each call is a new grant: give one that names the reason (`welcome-ann`).
        """
        wallet_path(external_user_id, code)
        key = idempotency_key or new_key()
        body = given(
            externalUserId=external_user_id,
            code=code,
            productId=product_id,
            amount=amount,
            idempotencyKey=key,
            expiresAt=None if expires_at is None else instant_text(expires_at),
            meta=meta,
        )
        return await self._post("/credit", Credit, body, key=key, own=idempotency_key is None and "credited")

    async def deduct(
        self,
        *,
        amount: int,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        product_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        meta: Optional[Mapping[str, Any]] = None,
        on_shortfall: Optional[OnShortfall] = None,
    ) -> Deduction:
        """Takes credits, once for each key: all of them or none, unless `on_shortfall` says otherwise."""
        path, headers = wallet_path(external_user_id, code)
        key = idempotency_key or new_key()
        body = given(
            externalUserId=external_user_id,
            productId=product_id,
            amount=amount,
            idempotencyKey=key,
            meta=meta,
            onShortfall=on_shortfall,
        )
        own = idempotency_key is None and "deducted"
        return await self._post(f"{path}/deduct", Deduction, body, headers=headers, key=key, own=own)

    async def deduct_batch(self, items: Iterable[BatchItem]) -> list[BatchResult]:
        """Takes credits from up to 1,000 wallets; each item is applied or refused on its own. The results are in
        the items' order: deductions, and errors for what was refused.
        """
        keyed = [(item, item.idempotency_key or new_key()) for item in items]
        body = {"items": [item.body(key) for item, key in keyed]}

        def results(answer: Answer) -> list[BatchResult]:
            found = answer.body.get("results")
            if not isinstance(found, list) or len(found) != len(keyed):
                raise Unreadable("results are missing")
            all_results: list[BatchResult] = []
            for result, (item, key) in zip(found, keyed):
                error = result.get("error") if isinstance(result, dict) else None
                if isinstance(error, dict) and isinstance(error.get("code"), str):
                    all_results.append(refusal({"message": "", **error}, key))
                    continue
                # A key of this call's own: whoever did it, it was one of its attempts.
                if item.idempotency_key is None and answer.retried and isinstance(result, dict):
                    result = {**result, "deducted": anything(result)}
                all_results.append(read(Deduction, result))
            return all_results

        return await self._do(Call("POST", "/deductions/batch", results, body=body, repeatable=True))

    async def set_debt_limit(self, *, external_user_id: str, product_id: str, debt_limit: Optional[int]) -> Debt:
        """How much this user may owe of a product; None: as the product says. A user without a wallet gets one."""
        body = {"externalUserId": external_user_id, "productId": product_id, "debtLimit": debt_limit}
        return await self._post("/wallets/external/debt-limit", Debt, body, repeatable=True)

    async def forgive(
        self,
        *,
        external_user_id: str,
        product_id: str,
        note: str,
        amount: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> Forgiveness:
        """Ends a debt, all of it or a part, once for each key."""
        key = idempotency_key or new_key()
        body = given(
            externalUserId=external_user_id, productId=product_id, note=note, amount=amount, idempotencyKey=key
        )
        own = idempotency_key is None and "forgiven"
        return await self._post("/wallets/external/forgive", Forgiveness, body, key=key, own=own)

    # Holds

    def hold(
        self,
        *,
        amount: int,
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
    ) -> AsyncRunningHold:
        """Work under a hold: `async with scrip.hold(…) as hold`.

        Credits are set aside on entering, and kept aside for as long as the work goes on. On leaving the work is
        paid for: `hold.cost` where it was set, else the sum of the draws; the rest comes back. Work that raises is
        paid for what was drawn, and costs nothing where nothing was. `on_shortfall` says what happens where hold
        and balance do not cover the cost.

        With a key of your own work is begun once (`hold_replayed`); `resume` takes up an open hold that was placed
        under it before, as a queue does that gives a job out again after a crash. Without `keep_open` the hold
        expires in its time, though the work goes on; the cost is then deducted without it.
        """
        call = placing(
            amount=amount,
            external_user_id=external_user_id,
            code=code,
            product_id=product_id,
            idempotency_key=idempotency_key,
            expires_in_seconds=expires_in_seconds,
            max_overrun=max_overrun,
            meta=meta,
        )
        return AsyncRunningHold(
            self,
            call,
            own_key=idempotency_key is None,
            seconds=expires_in_seconds,
            on_shortfall=on_shortfall,
            resume=resume,
            keep_open=keep_open,
        )

    async def place_hold(
        self,
        *,
        amount: int,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        product_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        expires_in_seconds: Optional[int] = None,
        max_overrun: Optional[int] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> PlacedHold:
        """Sets credits aside for work whose cost is known only afterwards, and nothing more; see `hold`."""
        call = placing(
            amount=amount,
            external_user_id=external_user_id,
            code=code,
            product_id=product_id,
            idempotency_key=idempotency_key,
            expires_in_seconds=expires_in_seconds,
            max_overrun=max_overrun,
            meta=meta,
        )
        return (await self._do(call))[0]

    async def get_hold(self, hold_id: str) -> Hold:
        """How a hold stands."""
        return await self._get(f"/holds/{segment(hold_id, 'hold')}", Hold)

    async def draw(self, hold_id: str, amount: int, *, idempotency_key: Optional[str] = None) -> Draw:
        """Charges a part of an open hold, which stays open."""
        return await self._draw(hold_id, amount, idempotency_key or new_key(), own=idempotency_key is None)

    async def settle(self, hold_id: str, amount: int, *, on_shortfall: Optional[OnShortfall] = None) -> Deduction:
        """Charges what the work cost, draws included, and gives back the rest."""
        path = f"/holds/{segment(hold_id, 'hold')}/settle"
        return await self._post(path, Deduction, given(amount=amount, onShortfall=on_shortfall), repeatable=True)

    async def release(self, hold_id: str) -> Released:
        """Gives back all of it."""
        return await self._post(f"/holds/{segment(hold_id, 'hold')}/release", Released, repeatable=True)

    async def extend(self, hold_id: str, expires_in_seconds: int) -> Hold:
        """Keeps it open for so long from now."""
        path = f"/holds/{segment(hold_id, 'hold')}/extend"
        return await self._post(path, Hold, {"expiresInSeconds": expires_in_seconds}, repeatable=True)

    # Buying

    async def checkout(
        self,
        *,
        price_id: str,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        success_url: Optional[str] = None,
        cancel_url: Optional[str] = None,
        customer_email: Optional[str] = None,
        quantity: Optional[int] = None,
        metadata: Optional[Mapping[str, str]] = None,
        locale: Optional[str] = None,
        allow_promotion_codes: Optional[bool] = None,
        discount_code: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Checkout:
        """Opens a checkout. Where to send the buyer is in `url`. A key of yours opens one checkout, however often
        it is asked for within a day.
        """
        key = idempotency_key or new_key()
        body = given(
            priceId=price_id,
            externalUserId=external_user_id,
            code=code,
            successUrl=success_url,
            cancelUrl=cancel_url,
            customerEmail=customer_email,
            quantity=quantity,
            metadata=metadata,
            locale=locale,
            allowPromotionCodes=allow_promotion_codes,
            discountCode=discount_code,
            idempotencyKey=key,
        )
        return await self._post("/checkout", Checkout, body, key=key)

    async def order(self, order_id: str) -> Order:
        """An order, by its own id or its checkout's."""
        return await self._get(f"/orders/{segment(order_id, 'order')}", Order)

    async def orders(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> Page[Order]:
        """A page of the project's orders, newest first."""
        return await self._page("/orders", Order, "orders", given(limit=limit, cursor=cursor))

    async def all_orders(self) -> AsyncIterator[Order]:
        """All of the project's orders, newest first, read 100 at a time as they are asked for."""
        cursor: Optional[str] = None
        while True:
            page = await self.orders(limit=100, cursor=cursor)
            for order in page.items:
                yield order
            if page.next_cursor in (None, cursor):
                return
            cursor = page.next_cursor

    async def refund(
        self, order_id: str, *, amount_cents: Optional[int] = None, idempotency_key: Optional[str] = None
    ) -> Order:
        """Gives money back, all that is left or a part, once for each key."""
        key = idempotency_key or new_key()
        body = given(amountCents=amount_cents, idempotencyKey=key)
        return await self._post(f"/orders/{segment(order_id, 'order')}/refund", Order, body, key=key)

    async def cancel_subscription(
        self,
        *,
        product_id: str,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        at_period_end: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> Subscription:
        """Ends a subscription, with its period unless it is to end at once."""
        wallet_path(external_user_id, code)
        key = idempotency_key or new_key()
        body = given(
            externalUserId=external_user_id,
            code=code,
            productId=product_id,
            atPeriodEnd=at_period_end,
            idempotencyKey=key,
        )
        return await self._post("/subscriptions/cancel", Subscription, body, key=key)

    async def resume_subscription(
        self,
        *,
        product_id: str,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Subscription:
        """Lets a subscription go on that was to end with its period."""
        wallet_path(external_user_id, code)
        key = idempotency_key or new_key()
        body = given(externalUserId=external_user_id, code=code, productId=product_id, idempotencyKey=key)
        return await self._post("/subscriptions/resume", Subscription, body, key=key)

    async def portal(
        self, *, return_url: str, external_user_id: Optional[str] = None, code: Optional[str] = None
    ) -> str:
        """The address of the provider's page where a customer sees invoices and changes subscriptions."""
        path, headers = wallet_path(external_user_id, code)
        body = {"returnUrl": return_url, **given(externalUserId=external_user_id)}

        def url(answer: Answer) -> str:
            return str(named(answer, "url", str))

        if code is not None:
            return await self._do(Call("GET", f"{path}/portal", url, query=body, headers=headers, repeatable=True))
        return await self._do(Call("POST", f"{path}/portal", url, body=body, repeatable=True))

    # What happened

    async def usage(
        self,
        *,
        product_id: Optional[str] = None,
        from_: Optional[datetime] = None,
        to: Optional[datetime] = None,
        interval: Optional[Interval] = None,
        by_feature: bool = False,
    ) -> list[Bucket]:
        """What was granted and used, in stretches of time, oldest first."""
        query = given(
            productId=product_id,
            to=None if to is None else instant_text(to),
            interval=interval,
            groupBy="feature" if by_feature else None,
        )
        if from_ is not None:
            query["from"] = instant_text(from_)
        return await self._rows("/usage", Bucket, "buckets", query)

    async def events(
        self, *, after: Optional[str] = None, types: Sequence[str] = (), limit: Optional[int] = None
    ) -> Page[Event]:
        """A page of what happened, oldest first. To go on, pass `next_cursor` as `after`. 30 days are kept."""
        query = given(after=after, types=",".join(types) or None, limit=limit)

        def page(answer: Answer) -> Page[Event]:
            found = answer.body.get("events")
            if not isinstance(found, list):
                raise Unreadable("events are missing")
            return Page([read_event(each) for each in found], answer.body.get("nextCursor"))

        return await self._do(Call("GET", "/events", page, query=query, repeatable=True))

    async def all_events(self, *, after: Optional[str] = None, types: Sequence[str] = ()) -> AsyncIterator[Event]:
        """All that happened until now, oldest first, read 100 at a time as they are asked for."""
        while True:
            page = await self.events(after=after, types=types, limit=100)
            for event in page.items:
                yield event
            # A page always says where to go on: it is the empty one that ends.
            if not page.items:
                return
            after = page.next_cursor

    async def poll_events(
        self, *, after: Optional[str] = None, types: Sequence[str] = (), interval: float = 5.0
    ) -> AsyncIterator[Event]:
        """All that happened, and then whatever happens, for as long as it is listened to. Remember the `id` of the
        last event that was worked off, and begin `after` it the next time. It asks every `interval` seconds, also
        through trouble that passes.
        """
        while True:
            wait = interval
            try:
                page = await self.events(after=after, types=types, limit=100)
                for event in page.items:
                    yield event
                after = page.next_cursor or after
                if page.items:
                    wait = 0.0
            except ScripError as error:
                if not error.passing:
                    raise
                wait = max(interval, error.retry_after or 0.0)
            if wait:
                await self._http.sleep(wait)

    # How it is asked

    async def _do(self, call: Call[T]) -> T:
        return await self._http.call(call)

    async def _get(
        self,
        path: str,
        kind: type[T],
        query: Optional[dict[str, Any]] = None,
        headers: Optional[dict[str, str]] = None,
    ) -> T:
        call = Call("GET", path, lambda answer: read(kind, answer.body), query=query, headers=headers, repeatable=True)
        return await self._do(call)

    async def _rows(self, path: str, kind: type[T], name: str, query: Optional[dict[str, Any]] = None) -> list[T]:
        call = Call("GET", path, lambda answer: rows(kind, answer.body, name), query=query, repeatable=True)
        return await self._do(call)

    async def _page(
        self,
        path: str,
        kind: type[T],
        name: str,
        query: dict[str, Any],
        headers: Optional[dict[str, str]] = None,
    ) -> Page[T]:
        def page(answer: Answer) -> Page[T]:
            return Page(rows(kind, answer.body, name), answer.body.get("nextCursor"))

        return await self._do(Call("GET", path, page, query=query, headers=headers, repeatable=True))

    async def _post(
        self,
        path: str,
        kind: type[T],
        body: Optional[dict[str, Any]] = None,
        *,
        headers: Optional[dict[str, str]] = None,
        key: Optional[str] = None,
        own: Any = None,
        repeatable: bool = False,
    ) -> T:
        def answered(answer: Answer) -> T:
            # A key of this call's own: whoever did it, it was one of its attempts.
            done = {own: anything(answer.body)} if own and answer.replayed else {}
            return read(kind, {**answer.body, **done})

        return await self._do(
            Call(
                "POST",
                path,
                answered,
                body=body,
                headers=headers,
                key=key,
                repeatable=repeatable or key is not None,
            )
        )

    async def _draw(self, hold_id: str, amount: int, key: str, *, own: bool) -> Draw:
        path = f"/holds/{segment(hold_id, 'hold')}/draw"
        body = {"amount": amount, "idempotencyKey": key}
        return await self._post(path, Draw, body, key=key, own=own and "deducted")

    async def _feature(
        self, feature: str, action: str, external_user_id: Optional[str], code: Optional[str]
    ) -> list[str]:
        wallet_path(external_user_id, code)
        body = given(externalUserId=external_user_id, code=code, feature=feature, action=action)
        call = Call("POST", "/features", lambda answer: named(answer, "features", list), body=body, repeatable=True)
        return await self._do(call)

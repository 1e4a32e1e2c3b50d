"""Checkouts, orders, refunds, subscriptions, cards on file and automatic top-up."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Optional

from .._call import Answer, Call, given, new_key, segment
from .._read import instant_text, read
from .._types import Page
from .._wallets import named, wallet_path
from ..models import AutoTopUp, Checkout, Order, Subscription
from .calls import AsyncCalls


class AsyncBuying(AsyncCalls):
    """Checkouts, orders, refunds, subscriptions, cards on file and automatic top-up."""

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
        save_card: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> Checkout:
        """Opens a checkout. Where to send the buyer is in `url`. A key of yours opens one checkout, however often
        it is asked for within a day. With `save_card` a user's card is kept for payments without them.
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
            saveCard=save_card,
            idempotencyKey=key,
        )
        return await self._post("/checkout", Checkout, body, key=key)

    async def order(self, order_id: str) -> Order:
        """An order, by its own id or its checkout's."""
        return await self._get(f"/orders/{segment(order_id, 'order')}", Order)

    async def orders(
        self,
        *,
        status: Optional[str] = None,
        product_id: Optional[str] = None,
        email: Optional[str] = None,
        from_: Optional[datetime] = None,
        to: Optional[datetime] = None,
        min_cents: Optional[int] = None,
        max_cents: Optional[int] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page[Order]:
        """A page of the project's orders, newest first: all, or those that fit."""
        query = given(
            status=status,
            productId=product_id,
            email=email,
            to=None if to is None else instant_text(to),
            minCents=min_cents,
            maxCents=max_cents,
            limit=limit,
            cursor=cursor,
        )
        if from_ is not None:
            query["from"] = instant_text(from_)
        return await self._page("/orders", Order, "orders", query)

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
        product_id: Optional[str] = None,
        subscription_id: Optional[str] = None,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        at_period_end: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> Subscription:
        """Ends a subscription, with its period unless it is to end at once: the one to a product that goes on, or the
        one with this id."""
        wallet_path(external_user_id, code)
        key = idempotency_key or new_key()
        body = given(
            externalUserId=external_user_id,
            code=code,
            productId=product_id,
            subscriptionId=subscription_id,
            atPeriodEnd=at_period_end,
            idempotencyKey=key,
        )
        return await self._post("/subscriptions/cancel", Subscription, body, key=key)

    async def resume_subscription(
        self,
        *,
        product_id: Optional[str] = None,
        subscription_id: Optional[str] = None,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Subscription:
        """Lets a subscription go on that was to end with its period."""
        wallet_path(external_user_id, code)
        key = idempotency_key or new_key()
        body = given(
            externalUserId=external_user_id,
            code=code,
            productId=product_id,
            subscriptionId=subscription_id,
            idempotencyKey=key,
        )
        return await self._post("/subscriptions/resume", Subscription, body, key=key)

    async def portal(
        self,
        *,
        return_url: str,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        subscription_id: Optional[str] = None,
    ) -> str:
        """The address of the provider's page where a customer sees invoices and changes subscriptions: that of this
        subscription's customer, or of the current one's."""
        path, headers = wallet_path(external_user_id, code)
        body = {"returnUrl": return_url, **given(externalUserId=external_user_id, subscriptionId=subscription_id)}

        def url(answer: Answer) -> str:
            return str(named(answer, "url", str))

        if code is not None:
            return await self._do(Call("GET", f"{path}/portal", url, query=body, headers=headers, repeatable=True))
        return await self._do(Call("POST", f"{path}/portal", url, body=body, repeatable=True))

    async def set_up_payment_method(
        self, *, external_user_id: str, return_url: str, locale: Optional[str] = None
    ) -> str:
        """The address of the provider's page where a user enters a card that may be charged without them."""
        body = given(externalUserId=external_user_id, returnUrl=return_url, locale=locale)
        return await self._do(
            Call(
                "POST",
                "/wallets/external/payment-method",
                lambda answer: str(named(answer, "url", str)),
                body=body,
                repeatable=True,
            )
        )

    async def remove_payment_method(self, *, external_user_id: str) -> None:
        """Forgets a user's card, at the provider too. Automatic top-up stops with it."""
        query = {"externalUserId": external_user_id}
        await self._do(
            Call("DELETE", "/wallets/external/payment-method", lambda answer: None, query=query, repeatable=True)
        )

    async def read_auto_top_up(self, *, external_user_id: str) -> AutoTopUp:
        """What is bought when a user's credits run low, and how that goes."""
        return await self._get("/wallets/external/auto-top-up", AutoTopUp, {"externalUserId": external_user_id})

    async def set_auto_top_up(
        self,
        *,
        external_user_id: str,
        enabled: bool,
        price_id: Optional[str] = None,
        threshold: Optional[int] = None,
        target: Optional[int] = None,
        quantity: Optional[int] = None,
        monthly_limit_cents: Optional[int] = None,
        max_per_day: Optional[int] = None,
        consent: Optional[str] = None,
        charge_now: Optional[bool] = None,
    ) -> AutoTopUp:
        """Has credits bought with a user's card once fewer than `threshold` can be spent, or no more: that needs
        nothing but `enabled=False`. `quantity` of the price are bought, or as many as reach `target`; for at most
        `monthly_limit_cents` in a calendar month of UTC. `consent` are the words that the buyer agreed to, as they saw
        them. `charge_now` charges at once where there are already fewer credits.
        """
        body = given(
            externalUserId=external_user_id,
            enabled=enabled,
            priceId=price_id,
            threshold=threshold,
            target=target,
            quantity=quantity,
            monthlyLimitCents=monthly_limit_cents,
            maxPerDay=max_per_day,
            consent=None if consent is None else {"text": consent},
            chargeNow=charge_now,
        )
        return await self._do(
            Call(
                "PUT",
                "/wallets/external/auto-top-up",
                lambda answer: read(AutoTopUp, answer.body),
                body=body,
                repeatable=True,
            )
        )

# Made by generate.py from _async/buying.py: do not change it by hand.
"""Checkouts, orders, refunds and subscriptions."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Optional

from .._call import Answer, Call, given, new_key, segment
from .._read import instant_text
from .._types import Page
from .._wallets import named, wallet_path
from ..models import Checkout, Order, Subscription
from .calls import Calls


class Buying(Calls):
    """Checkouts, orders, refunds and subscriptions."""

    def checkout(
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
        return self._post("/checkout", Checkout, body, key=key)

    def order(self, order_id: str) -> Order:
        """An order, by its own id or its checkout's."""
        return self._get(f"/orders/{segment(order_id, 'order')}", Order)

    def orders(
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
        return self._page("/orders", Order, "orders", query)

    def all_orders(self) -> Iterator[Order]:
        """All of the project's orders, newest first, read 100 at a time as they are asked for."""
        cursor: Optional[str] = None
        while True:
            page = self.orders(limit=100, cursor=cursor)
            for order in page.items:
                yield order
            if page.next_cursor in (None, cursor):
                return
            cursor = page.next_cursor

    def refund(
        self, order_id: str, *, amount_cents: Optional[int] = None, idempotency_key: Optional[str] = None
    ) -> Order:
        """Gives money back, all that is left or a part, once for each key."""
        key = idempotency_key or new_key()
        body = given(amountCents=amount_cents, idempotencyKey=key)
        return self._post(f"/orders/{segment(order_id, 'order')}/refund", Order, body, key=key)

    def cancel_subscription(
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
        return self._post("/subscriptions/cancel", Subscription, body, key=key)

    def resume_subscription(
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
        return self._post("/subscriptions/resume", Subscription, body, key=key)

    def portal(
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
            return self._do(Call("GET", f"{path}/portal", url, query=body, headers=headers, repeatable=True))
        return self._do(Call("POST", f"{path}/portal", url, body=body, repeatable=True))

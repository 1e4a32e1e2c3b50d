"""Against the service itself."""

import uuid
from datetime import datetime, timedelta, timezone
from typing import Any, Callable

import pytest
from conftest import Service

from scrip_wallet import (
    BatchItem,
    CreditItem,
    HoldItem,
    InsufficientCreditsError,
    Scrip,
    ScripError,
    SettleItem,
    models,
)

MakeUser = Callable[[int], str]
State = Callable[[str], dict[str, int]]


def refused(call: Callable[[], Any]) -> ScripError:
    with pytest.raises(ScripError) as caught:
        call()
    return caught.value


class TestKey:
    @pytest.mark.parametrize("key", ["pay_pk_1234567890", "", "sk_live_x", "pay_sk_a-b", "pay_sk_ä"])
    def test_has_to_be_a_secret_one_and_is_not_repeated(self, service: Service, key: str) -> None:
        error = refused(lambda: Scrip(key, base_url=service.base_url))
        assert error.code == "invalid_options"
        assert not key or key not in str(error)

    @pytest.mark.parametrize("address", ["", "pay.example", "ftp://pay.example", "http://", "http://x:y"])
    def test_is_sent_to_an_address_only(self, address: str) -> None:
        assert refused(lambda: Scrip("pay_sk_x", base_url=address)).code == "invalid_options"

    def test_does_not_show_when_a_client_is_printed(self, service: Service, scrip: Scrip) -> None:
        assert service.base_url in repr(scrip)
        assert service.secret_key not in repr(scrip) + repr(vars(scrip)) + repr(vars(scrip._http))

    def test_that_is_unknown_is_a_refusal(self, service: Service) -> None:
        with Scrip("pay_sk_00000000000000000000000000000000", base_url=service.base_url + "/") as stranger:
            error = refused(stranger.me)
        assert (error.code, error.status, error.passing) == ("invalid_api_key", 401, False)
        assert error.request_id and error.request_id.startswith("req_") and error.request_id in str(error)

    def test_says_whose_it_is(self, service: Service, scrip: Scrip) -> None:
        me = scrip.me()
        assert (me.project_id, me.key_kind) == (service.project, "secret")


class TestWallet:
    def test_of_an_unknown_user_is_empty(self, scrip: Scrip, service: Service) -> None:
        name = f"user-{uuid.uuid4()}"
        wallet = scrip.wallet(name)
        assert (wallet.wallet_id, wallet.balances, wallet.features, wallet.balance(service.product)) == (
            None,
            [],
            [],
            0,
        )
        assert scrip.ledger(external_user_id=name).items == []
        assert list(scrip.ledger_entries(external_user_id=name)) == []
        made = scrip.ensure_wallet(name)
        assert made.wallet_id and made.wallet_id.startswith("wal_")
        assert scrip.ensure_wallet(name) == made == scrip.wallet(name)

    def test_is_opened_by_a_code_which_no_address_has(self, service: Service) -> None:
        paths = []
        with Scrip(service.secret_key, base_url=service.base_url) as scrip:
            scrip._http._client.event_hooks["request"] = [lambda request: paths.append(str(request.url))]
            code = scrip.create_wallet().code
            for spelled in (f" {code.lower()} ", code.replace("-", ""), code.replace("-", " \u2013 ") + ".\r\n"):
                assert scrip.code_wallet(spelled).code == code
            scrip.credit(code=code, product_id=service.product, amount=10)
            assert scrip.deduct(code=code, product_id=service.product, amount=4).balance == 6
            assert [entry.delta for entry in scrip.ledger_entries(code=code)] == [-4, 10]
            replaced = scrip.rotate(code, idempotency_key="leaked")
            assert scrip.rotate(code, idempotency_key="leaked") == replaced
            assert refused(lambda: scrip.code_wallet(code)).code == "wallet_not_found"
            assert scrip.code_wallet(replaced).balance() == 6
        assert paths and not [path for path in paths if code in path or replaced in path]

    @pytest.mark.parametrize("code", ["..", "x/../external", "external?externalUserId=ann", "", "a\x00b"])
    def test_is_not_another_path(self, scrip: Scrip, code: str) -> None:
        assert refused(lambda: scrip.code_wallet(code)).code == "invalid_request"
        assert refused(lambda: scrip.order(code)).code == "invalid_request"

    def test_is_named_once(self, scrip: Scrip, service: Service) -> None:
        names: list[dict[str, Any]] = [{}, {"external_user_id": "ann", "code": "A-B"}]
        for named in names:
            assert refused(lambda: scrip.deduct(amount=1, **named)).code == "conflicting_wallet"
            assert refused(lambda: scrip.grant_feature("pro", **named)).code == "conflicting_wallet"
            assert refused(lambda: scrip.deduct_batch([BatchItem(1, **named)])).code == "conflicting_wallet"

    def test_unlocks_what_is_granted_by_hand(self, scrip: Scrip, user: MakeUser) -> None:
        name = user(0)
        assert scrip.grant_feature("exports", external_user_id=name) == ["exports"]
        assert scrip.wallet(name).has_feature("exports")
        assert scrip.revoke_feature("exports", external_user_id=name) == []

    def test_is_mailed_without_a_word_of_whether_there_is_one(self, scrip: Scrip) -> None:
        scrip.recover("nobody@shop.example")
        assert refused(lambda: scrip.recover("nobody")).param == "email"


class TestCredits:
    def test_are_given_and_taken_once_for_each_key(self, scrip: Scrip, service: Service, user: MakeUser) -> None:
        name = user(0)
        grant: dict[str, Any] = {"external_user_id": name, "product_id": service.product, "amount": 100}
        assert scrip.credit(**grant, idempotency_key="welcome").credited
        assert scrip.credit(**grant, idempotency_key="welcome") == models.Credit(balance=100, credited=False)
        use: dict[str, Any] = {"external_user_id": name, "idempotency_key": "image-1", "meta": {"feature": "image"}}
        assert scrip.deduct(**use, amount=3) == models.Deduction(balance=97, deducted=True)
        assert scrip.deduct(**use, amount=3) == models.Deduction(balance=97, deducted=False)
        error = refused(lambda: scrip.deduct(**use, amount=4))
        assert (error.code, error.idempotency_key) == ("idempotency_key_reused", "image-1")
        # Without a key each call is a new deduction.
        scrip.deduct(external_user_id=name, amount=1)
        assert scrip.deduct(external_user_id=name, amount=1) == models.Deduction(balance=95, deducted=True)
        entry = scrip.ledger(external_user_id=name, reason="deduction", limit=1).items[0]
        assert (entry.delta, entry.balance_after, entry.created_at.tzinfo) == (-1, 95, timezone.utc)
        assert [entry.meta for entry in scrip.ledger_entries(external_user_id=name)][-2] == {"feature": "image"}

    def test_expire_when_they_are_to(self, scrip: Scrip, service: Service, user: MakeUser) -> None:
        name = user(0)
        grant: dict[str, Any] = {"external_user_id": name, "product_id": service.product, "amount": 7}
        at = datetime.now(timezone(timedelta(hours=5))).replace(microsecond=0) + timedelta(days=3)
        scrip.credit(**grant, expires_at=at)
        (balance,) = scrip.wallet(name).balances
        assert balance.next_expiry and (balance.next_expiry.amount, balance.next_expiry.at) == (7, at)
        with pytest.raises(ValueError):
            scrip.credit(**grant, expires_at=datetime(2099, 1, 1))

    def test_that_are_missing_are_a_refusal_that_says_what_would_cover_them(
        self, scrip: Scrip, service: Service, user: MakeUser
    ) -> None:
        name = user(5)
        with pytest.raises(InsufficientCreditsError) as caught:
            scrip.deduct(external_user_id=name, amount=500)
        error = caught.value
        assert (error.status, error.balance, error.requested, error.shortfall) == (402, 5, 500, 495)
        assert error.product_id == service.product and service.price in [price.id for price in error.prices]
        assert error.docs == "/docs/errors#insufficient_credits" and uuid.UUID(error.idempotency_key)

    @pytest.mark.parametrize("amount", [0, -1, 1.5, float("nan"), float("inf"), 2**53, "5", True, None, b"5"])
    def test_that_are_no_whole_number_are_refused(self, scrip: Scrip, user: MakeUser, amount: Any) -> None:
        name = user(5)
        assert refused(lambda: scrip.deduct(external_user_id=name, amount=amount)).code == "invalid_request"
        assert scrip.wallet(name).balance() == 5

    def test_of_many_wallets_are_taken_each_on_its_own(self, scrip: Scrip, user: MakeUser) -> None:
        rich, poor = user(50), user(1)
        done = scrip.deduct_batch(
            [
                BatchItem(5, external_user_id=rich),
                BatchItem(5, external_user_id=poor, idempotency_key="b"),
                BatchItem(6, external_user_id=rich, idempotency_key="c", meta={"feature": "x"}),
            ]
        )
        assert done[0] == models.Deduction(balance=45, deducted=True)
        assert done[2] == models.Deduction(balance=39, deducted=True)
        assert isinstance(done[1], InsufficientCreditsError)
        assert (done[1].shortfall, done[1].idempotency_key) == (4, "b")
        assert refused(lambda: scrip.deduct_batch([])).code == "invalid_request"

    def test_are_granted_held_drawn_and_settled_in_batches(self, scrip: Scrip, service: Service) -> None:
        name, nobody = f"user-{uuid.uuid4()}", f"user-{uuid.uuid4()}"
        grant = CreditItem(service.product, 10, external_user_id=name)
        granted = scrip.credit_batch([grant, CreditItem("prod_x", 1, external_user_id=name)])
        assert granted[0] == models.Credit(balance=10, credited=True)
        assert isinstance(granted[1], ScripError) and granted[1].code == "product_not_found"
        held, short, unknown = scrip.hold_batch(
            [HoldItem(6, external_user_id=name), {"amount": 6, "external_user_id": name}, HoldItem(1, nobody)]
        )
        assert isinstance(held, models.PlacedHold) and (held.amount, held.balance) == (6, 4)
        assert isinstance(short, InsufficientCreditsError) and isinstance(unknown, InsufficientCreditsError)
        charged = scrip.settle_batch(
            [SettleItem(held.hold_id, 2, keep_open=True), SettleItem(held.hold_id, 5), SettleItem("hold_x", 1)]
        )
        assert charged[0] == models.Draw(balance=4, deducted=True, drawn=2, held=4)
        assert charged[1] == models.Deduction(balance=5, deducted=True)
        assert isinstance(charged[2], ScripError) and charged[2].code == "hold_not_found"

    def test_are_given_back_and_put_out_of_reach(self, scrip: Scrip, user: MakeUser) -> None:
        name = user(5)
        scrip.deduct(external_user_id=name, amount=4)
        taken = scrip.ledger(external_user_id=name, reason="deduction").items[0]
        given = scrip.reverse_deduction(taken.id, amount=3, idempotency_key="failed", note="The picture was black.")
        assert given == models.Reversal(balance=4, reversed=True, amount=3)
        assert scrip.ledger(external_user_id=name).items[0].reverses == taken.id
        more = refused(lambda: scrip.reverse_deduction(taken.id, amount=2, idempotency_key="more"))
        assert more.code == "already_reversed"
        assert scrip.freeze(external_user_id=name, frozen=True, reason="A leak.").frozen_reason == "A leak."
        assert refused(lambda: scrip.deduct(external_user_id=name, amount=1)).code == "wallet_frozen"
        scrip.freeze(external_user_id=name, frozen=False)
        assert scrip.deduct(external_user_id=name, amount=1).balance == 3

    def test_are_counted_by_feature(self, scrip: Scrip, user: MakeUser) -> None:
        name = user(50)
        feature = f"f-{uuid.uuid4()}"
        scrip.deduct(external_user_id=name, amount=3, meta={"feature": feature})
        now = datetime.now(timezone.utc)
        buckets = scrip.usage(from_=now - timedelta(days=1), to=now, interval="day", by_feature=True)
        assert len(buckets) == 2 and buckets[0].start < buckets[1].start
        uses = [use for bucket in buckets for use in bucket.features or [] if use.feature == feature]
        assert [(use.credits, use.deductions) for use in uses] == [(3, 1)]


class TestBuying:
    def test_is_paid_refunded_and_reported(self, scrip: Scrip, service: Service, user: MakeUser) -> None:
        name = user(0)
        before = [event.id for event in scrip.all_events()]
        checkout = scrip.checkout(external_user_id=name, price_id=service.price, quantity=2, metadata={"cart": "7"})
        assert scrip.order(checkout.order_id).status == "pending"
        service.press(checkout.url, "pay")
        order = scrip.order(checkout.checkout_id)
        assert (order.status, order.metadata, order.quantity) == ("paid", {"cart": "7"}, 2)
        assert order.paid_at and order.paid_at >= order.created_at and order.payment and order.payment.payment_id
        assert scrip.wallet(name).balance(service.product) == order.balance > 0
        assert order in list(scrip.all_orders()) and scrip.orders(limit=1).items == [order]
        assert scrip.portal(external_user_id=name, return_url="https://shop.example").startswith("http")
        half = scrip.refund(order.id, amount_cents=order.amount_cents // 2, idempotency_key="half")
        again = scrip.refund(order.id, amount_cents=order.amount_cents // 2, idempotency_key="half")
        assert half.refunded_cents == again.refunded_cents == order.amount_cents // 2
        assert scrip.refund(order.id).status == "refunded"
        over = refused(lambda: scrip.refund(order.id))
        assert over.code == "already_refunded" and over.body["refundableCents"] == 0
        events = list(scrip.all_events(after=before[-1] if before else None))
        assert not set(before) & {event.id for event in events}
        assert [event.type for event in events if event.type.startswith("order.")] == ["order.paid", "order.refunded"]
        for event in events:
            if event.type == "order.paid":
                assert (event.data.order.id, event.data.order.status) == (order.id, "paid")
            elif event.type == "wallet.credited":
                assert (event.data.delta, event.data.reason, event.data.order_id) == (2000, "purchase", order.id)
        assert {"wallet.credited", "wallet.depleted"} <= {event.type for event in events}

    def test_of_a_tier_is_ended_and_resumed(self, scrip: Scrip, service: Service, user: MakeUser) -> None:
        name = user(0)
        service.press(scrip.checkout(external_user_id=name, price_id=service.tier).url, "pay")
        (subscription,) = scrip.wallet(name).subscriptions
        assert (subscription.status, subscription.price_id) == ("active", service.tier)
        ended = scrip.cancel_subscription(external_user_id=name, product_id=subscription.product_id)
        assert ended.cancel_at_period_end
        resumed = scrip.resume_subscription(external_user_id=name, subscription_id=subscription.id)
        assert (resumed.id, resumed.cancel_at_period_end) == (subscription.id, False)
        back = "https://shop.example/"
        assert scrip.portal(external_user_id=name, subscription_id=subscription.id, return_url=back)
        unknown = refused(lambda: scrip.portal(external_user_id=name, subscription_id="sub_1", return_url=back))
        assert unknown.code == "subscription_not_found"
        again = refused(lambda: scrip.checkout(external_user_id=name, price_id=service.tier))
        assert again.code == "already_subscribed"

    def test_is_of_what_is_for_sale(self, scrip: Scrip, service: Service) -> None:
        products = scrip.products()
        prices = [price for product in products for price in product.prices]
        assert {service.price, service.tier} <= {price.id for price in prices}
        assert all(price.amount_cents > 0 and len(price.currency) == 3 for price in prices)
        assert refused(lambda: scrip.checkout(price_id="price_no")).code == "price_not_found"


class TestLists:
    def test_are_read_a_hundred_at_a_time_and_whole(self, service: Service, user: MakeUser) -> None:
        name = user(1000)
        asked = []
        with Scrip(service.secret_key, base_url=service.base_url) as scrip:
            scrip.deduct_batch([BatchItem(1, external_user_id=name) for _ in range(250)])
            scrip._http._client.event_hooks["request"] = [lambda request: asked.append(request.url.params.get("limit"))]
            entries = list(scrip.ledger_entries(external_user_id=name))
            assert [entry.balance_after for entry in entries] == [*range(750, 1000), 1000]
            assert asked == ["100", "100", "100"]
            assert len(list(scrip.ledger_entries(external_user_id=name, reason="manual"))) == 1
            assert [event.type for event in scrip.events(types=["order.paid", "wallet.created"], limit=1).items]

    def test_that_are_polled_go_on_after_the_last_one(self, service: Service, user: MakeUser) -> None:
        naps: list[float] = []
        with Scrip(service.secret_key, base_url=service.base_url, sleep=naps.append) as scrip:
            *_, last = scrip.all_events()
            events = scrip.poll_events(after=last.id, types=["wallet.created"], interval=3)
            first, second = user(0), user(0)
            found = [next(events), next(events)]
            assert [event.data.external_user_id for event in found if event.type == "wallet.created"] == [first, second]
            assert naps == []

            # Nothing new: it waits, and asks again.
            def nap(seconds: float) -> None:
                naps.append(seconds)
                user(0)

            scrip._http.sleep = nap
            assert next(events).type == "wallet.created"
            assert naps == [3]


def test_a_user_without_a_wallet_gets_one_by_any_first_call(service: Service) -> None:
    with Scrip(service.secret_key, base_url=service.base_url) as scrip:
        verbs: list[Callable[[str], Any]] = [
            lambda user: scrip.deduct(external_user_id=user, amount=1),
            lambda user: scrip.hold(external_user_id=user, amount=1).__enter__(),
            lambda user: scrip.place_hold(external_user_id=user, amount=1),
        ]
        for ask in verbs:
            user = uuid.uuid4().hex
            with pytest.raises(ScripError) as refused:
                ask(user)
            assert refused.value.code == "insufficient_credits"
            assert scrip.wallet(user).wallet_id is not None
        user = uuid.uuid4().hex
        results = scrip.deduct_batch([{"external_user_id": user, "amount": 1}, {"external_user_id": user, "amount": 2}])
        assert [isinstance(each, ScripError) and each.code for each in results] == ["insufficient_credits"] * 2
        with pytest.raises(ScripError) as refused:
            scrip.deduct_batch([{"externalUserId": user, "amount": 1}])
        assert refused.value.code == "invalid_request"

"""Cards on file and automatic top-up, against the service itself."""

import asyncio
import time
from typing import Any, Callable

import httpx
import pytest
from conftest import MakeUser, Service

from scrip_wallet import AsyncScrip, Event, Scrip, ScripError

CONSENT = "I allow Atelier to charge my card."
MakeBuyer = Callable[[str], str]
# Its bank wants to be asked each time.
ASKS = "4000002760003184"


def until(found: Callable[[], Any]) -> Any:
    """What is found, as soon as it is."""
    ends = time.monotonic() + 30
    while not (what := found()):
        assert time.monotonic() < ends, "it never came"
        time.sleep(0.1)
    return what


@pytest.fixture
def buyer(scrip: Scrip, user: MakeUser) -> MakeBuyer:
    """Makes a user with twenty credits and a card."""

    def make(card: str) -> str:
        name = user(20)
        url = scrip.set_up_payment_method(external_user_id=name, return_url="http://localhost/billing")
        assert httpx.post(f"{url}/pay", data={"card": card}, trust_env=False).is_success
        if card == ASKS:
            assert httpx.post(f"{url}/authenticate", trust_env=False).is_success
        until(lambda: scrip.wallet(name).payment_method)
        return name

    return make


@pytest.fixture
def reported(scrip: Scrip) -> Callable[[str, str], Event]:
    """The event of a type about a user."""

    def find(name: str, kind: str) -> Event:
        def look() -> Any:
            events = scrip.events(types=[kind], limit=100).items
            return next((event for event in events if event.raw["data"].get("externalUserId") == name), None)

        event: Event = until(look)
        return event

    return find


def arm(scrip: Scrip, service: Service, name: str) -> Any:
    return scrip.set_auto_top_up(
        external_user_id=name,
        enabled=True,
        price_id=service.price,
        threshold=10,
        monthly_limit_cents=100_000,
        consent=CONSENT,
    )


def test_a_card_is_kept_shown_and_forgotten(scrip: Scrip, buyer: MakeBuyer) -> None:
    name = buyer("4242424242424242")
    card = scrip.wallet(name).payment_method
    assert card is not None
    assert (card.brand, card.last4) == ("visa", "4242")
    scrip.remove_payment_method(external_user_id=name)
    scrip.remove_payment_method(external_user_id=name)
    assert scrip.wallet(name).payment_method is None


def test_it_buys_when_credits_run_low(scrip: Scrip, service: Service, buyer: MakeBuyer, reported: Any) -> None:
    name = buyer("4242424242424242")
    assert scrip.read_auto_top_up(external_user_id=name).state == "off"
    armed = arm(scrip, service, name)
    assert (armed.state, armed.threshold, armed.quantity, armed.max_per_day) == ("armed", 10, 1, 3)
    assert armed.consent is not None
    assert armed.consent.text == CONSENT
    scrip.deduct(external_user_id=name, amount=15)
    event = reported(name, "top_up.succeeded")
    assert event.type == "top_up.succeeded"
    assert (event.data.credits, event.data.balance, event.data.external_user_id) == (1000, 1005, name)
    assert scrip.read_auto_top_up(external_user_id=name).charged_this_month_cents == event.data.amount_cents
    assert scrip.order(event.data.order_id).status == "paid"
    assert not scrip.set_auto_top_up(external_user_id=name, enabled=False).enabled


def test_a_decline_says_when_it_is_tried_again(scrip: Scrip, service: Service, buyer: MakeBuyer, reported: Any) -> None:
    name = buyer("4000000000009995")
    arm(scrip, service, name)
    scrip.deduct(external_user_id=name, amount=15)
    event = reported(name, "top_up.failed")
    assert event.type == "top_up.failed"
    assert (event.data.reason, event.data.retryable) == ("insufficient_funds", True)
    assert scrip.read_auto_top_up(external_user_id=name).next_attempt_at == event.data.next_attempt_at


def test_a_lost_card_suspends_it_and_a_bank_may_ask(
    scrip: Scrip, service: Service, buyer: MakeBuyer, reported: Any
) -> None:
    lost, asked = buyer("4000000000009987"), buyer(ASKS)
    for name in (lost, asked):
        arm(scrip, service, name)
        scrip.deduct(external_user_id=name, amount=15)
    suspended, waits = reported(lost, "top_up.suspended"), reported(asked, "top_up.action_required")
    assert suspended.data.reason == "card_unusable"
    assert scrip.read_auto_top_up(external_user_id=asked).action_url == waits.data.url


def test_it_needs_a_card(scrip: Scrip, service: Service, user: MakeUser) -> None:
    with pytest.raises(ScripError) as caught:
        arm(scrip, service, user(0))
    assert caught.value.code == "payment_method_required"


def test_mails_have_an_address(scrip: Scrip, user: MakeUser) -> None:
    name = user(0)
    assert scrip.update_wallet(name, email="ann@mail.example").email == "ann@mail.example"
    assert scrip.update_wallet(name, email=None).email is None


def test_asyncio_does_the_same(service: Service, buyer: MakeBuyer) -> None:
    async def run(name: str) -> None:
        async with AsyncScrip(service.secret_key, base_url=service.base_url) as scrip:
            saved = await scrip.set_auto_top_up(
                external_user_id=name,
                enabled=True,
                price_id=service.price,
                threshold=10,
                target=500,
                monthly_limit_cents=100_000,
                consent=CONSENT,
            )
            assert (saved.target, saved.quantity) == (500, None)
            await scrip.remove_payment_method(external_user_id=name)

    asyncio.run(run(buyer("4242424242424242")))

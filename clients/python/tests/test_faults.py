"""Answers that are lost, cut or wrong: nothing is done twice, and what can be done is done."""

import json
from typing import Any, Callable

import httpx
import pytest
from conftest import Faulty, Service
from faults import Trouble

from scrip_wallet import BatchItem, Scrip, ScripError, models

MakeUser = Callable[[int], str]

INTERNAL: Trouble = (500, {}, b'{"code":"internal_error","message":"A defect."}')
GATEWAY = (502, {"content-type": "text/html"}, b"<h1>Bad gateway</h1>")
BUSY = (503, {"retry-after": "2"}, b'{"code":"overloaded","message":"Too much."}')
STOPPING = (503, {"retry-after": "1"}, b'{"code":"unavailable","message":"Stopping."}')
LIMITED = (429, {"retry-after": "7"}, b'{"code":"rate_limited","message":"Slower."}')
PORTAL = (200, {"content-type": "text/html"}, b"<h1>Welcome to the hotel</h1>")

PASSING: list[Any] = ["lost", "cut", "half", "unsent", INTERNAL, GATEWAY, BUSY, STOPPING, LIMITED, PORTAL]
NAMES = ["lost", "cut", "half", "unsent", "500", "502", "503", "unavailable", "429", "portal"]


@pytest.mark.parametrize("trouble", PASSING, ids=NAMES)
def test_a_deduction_is_made_once_and_says_so(faulty: Faulty, user: MakeUser, trouble: Any) -> None:
    name = user(100)
    faulty.proxy.troubles.extend([trouble, trouble])
    done = faulty.scrip.deduct(external_user_id=name, amount=3)
    # Whichever of its attempts did it: it was this call.
    assert done == models.Deduction(balance=97, deducted=True)
    assert len(faulty.waits) == 2 and faulty.waits[1] > faulty.waits[0]
    assert len({json.loads(body)["idempotencyKey"] for body in faulty.proxy.bodies}) == 1
    assert len(faulty.proxy.bodies) == 3


@pytest.mark.parametrize("trouble", PASSING, ids=NAMES)
def test_a_grant_is_made_once_and_says_so(faulty: Faulty, service: Service, user: MakeUser, trouble: Any) -> None:
    name = user(0)
    faulty.proxy.troubles.append(trouble)
    grant = faulty.scrip.credit(external_user_id=name, product_id=service.product, amount=50)
    assert grant == models.Credit(balance=50, credited=True)


def test_a_key_of_the_callers_says_what_the_service_says(faulty: Faulty, user: MakeUser) -> None:
    # Another run may have done it: that looks like an own attempt.
    name = user(100)
    faulty.proxy.troubles.append("lost")
    done = faulty.scrip.deduct(external_user_id=name, amount=3, idempotency_key="image-1")
    assert done == models.Deduction(balance=97, deducted=False)


def test_a_batch_is_made_once_and_says_so(faulty: Faulty, user: MakeUser) -> None:
    name = user(100)
    faulty.proxy.troubles.append("lost")
    items = [BatchItem(1, external_user_id=name), BatchItem(2, external_user_id=name, idempotency_key="b")]
    first, second = faulty.scrip.deduct_batch(items)
    assert first == models.Deduction(balance=97, deducted=True)
    assert second == models.Deduction(balance=97, deducted=False)


@pytest.mark.parametrize(
    "trouble", ["lost", "cut", INTERNAL, GATEWAY, STOPPING], ids=["lost", "cut", "500", "502", "503"]
)
def test_a_wallet_that_might_be_made_twice_is_not_asked_for_again(faulty: Faulty, trouble: Any) -> None:
    faulty.proxy.troubles.append(trouble)
    with pytest.raises(ScripError) as caught:
        faulty.scrip.create_wallet()
    assert caught.value.passing and faulty.waits == []
    assert faulty.proxy.seen == ["POST /api/v1/wallets"]


@pytest.mark.parametrize("trouble", [BUSY, LIMITED], ids=["overloaded", "429"])
def test_what_was_refused_undone_is_asked_for_again(faulty: Faulty, trouble: Any) -> None:
    faulty.proxy.troubles.append(trouble)
    assert faulty.scrip.create_wallet().code
    assert faulty.waits[0] >= int(trouble[1]["retry-after"])


def test_no_connection_is_no_attempt(service: Service) -> None:
    waits: list[float] = []
    refused = httpx.MockTransport(lambda request: (_ for _ in ()).throw(httpx.ConnectError("refused")))
    with Scrip("pay_sk_x", base_url="http://pay.example", transport=refused, sleep=waits.append) as scrip:
        with pytest.raises(ScripError) as caught:
            scrip.create_wallet()
    assert (caught.value.code, caught.value.status, len(waits)) == ("network_error", 0, 3)
    assert isinstance(caught.value.__cause__, httpx.ConnectError)


def test_it_ends_with_the_key_to_ask_again_under(faulty: Faulty, user: MakeUser) -> None:
    name = user(100)
    faulty.proxy.troubles.extend(["lost"] * 4)
    with pytest.raises(ScripError) as caught:
        faulty.scrip.deduct(external_user_id=name, amount=3)
    error = caught.value
    assert (error.code, error.status, len(faulty.waits)) == ("network_error", 0, 3)
    assert json.loads(faulty.proxy.bodies[0])["idempotencyKey"] == error.idempotency_key
    again = faulty.scrip.deduct(external_user_id=name, amount=3, idempotency_key=error.idempotency_key)
    assert again == models.Deduction(balance=97, deducted=False)


def test_waits_grow_and_a_long_one_is_the_callers(faulty: Faulty, user: MakeUser) -> None:
    name = user(0)
    faulty.proxy.troubles.extend(["unsent"] * 3)
    faulty.scrip.wallet(name)
    assert [low <= wait <= low * 2 for low, wait in zip([0.125, 0.25, 0.5], faulty.waits)] == [True] * 3
    faulty.waits.clear()
    faulty.proxy.troubles.append((429, {"retry-after": "3600"}, LIMITED[2]))
    with pytest.raises(ScripError) as caught:
        faulty.scrip.wallet(name)
    assert (caught.value.retry_after, caught.value.passing, faulty.waits) == (3600.0, True, [])


def test_other_refusals_stand(faulty: Faulty, user: MakeUser) -> None:
    name = user(1)
    for status, code in [(400, "invalid_request"), (402, "insufficient_credits"), (409, "balance_limit")]:
        faulty.proxy.troubles.append((status, {}, json.dumps({"code": code, "message": "No."}).encode()))
        with pytest.raises(ScripError) as caught:
            faulty.scrip.deduct(external_user_id=name, amount=1)
        assert (caught.value.code, caught.value.status) == (code, status)
    assert faulty.waits == []


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b"null",
        b'{"balance":"97","deducted":true}',
        b'{"deducted":true}',
        b'{"balance":true,"deducted":true}',
        b"\xff",
        b"{" * 100,
        b"[" * 100_000,
    ],
)
def test_what_is_no_answer_of_the_service_is_not_taken_for_one(answer: bytes) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=answer))
    with Scrip("pay_sk_x", base_url="http://pay.example", transport=transport, retries=0) as scrip:
        with pytest.raises(ScripError) as caught:
            scrip.deduct(external_user_id="ann", amount=3)
    assert (caught.value.code, caught.value.status) == ("unexpected_response", 200)


def test_a_redirect_is_not_followed_with_the_key() -> None:
    asked: list[str] = []

    def elsewhere(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(307, headers={"location": "https://elsewhere.example/"})

    with Scrip("pay_sk_x", base_url="http://pay.example", transport=httpx.MockTransport(elsewhere)) as scrip:
        with pytest.raises(ScripError) as caught:
            scrip.me()
    assert (caught.value.code, caught.value.status, asked) == ("unexpected_response", 307, ["pay.example"])


def test_new_fields_and_values_of_a_newer_service_are_no_trouble() -> None:
    order: dict[str, Any] = {
        "id": "ord_1", "status": "paused_by_moon", "processing": False, "kind": "voucher", "balance": 1,
        "amountCents": 2, "currency": "EUR", "refundedCents": 0, "createdAt": "2026-11-22T08:00:00.000Z",
        "priceId": "price_1", "productId": "prod_1", "quantity": 1, "metadata": {}, "moon": {"phase": "full"},
    }  # fmt: skip
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=order))
    with Scrip("pay_sk_x", base_url="http://pay.example", transport=transport) as scrip:
        read = scrip.order("ord_1")
    assert (read.status, read.kind, read.paid_at, read.raw["moon"]) == (
        "paused_by_moon",
        "voucher",
        None,
        {"phase": "full"},
    )


def test_an_answer_that_drips_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("scrip_wallet._sync.http.time.monotonic", lambda: now[0])

    class Drip(httpx.SyncByteStream):
        def __iter__(self) -> Any:
            while True:
                now[0] += 4.0
                yield b" "

    transport = httpx.MockTransport(lambda request: httpx.Response(200, stream=Drip()))
    with Scrip("pay_sk_x", base_url="http://pay.example", transport=transport, timeout=10, retries=0) as scrip:
        with pytest.raises(ScripError) as caught:
            scrip.me()
    assert (caught.value.code, now[0]) == ("timeout", 12.0)


def test_events_are_polled_through_trouble(faulty: Faulty, user: MakeUser) -> None:
    *_, last = faulty.scrip.all_events()
    events = faulty.scrip.poll_events(after=last.id, types=["wallet.created"], interval=5)
    name = user(0)
    faulty.proxy.troubles.extend(["lost"] * 4 + [(429, {"retry-after": "99"}, LIMITED[2])])
    event = next(events)
    assert event.type == "wallet.created" and event.data.external_user_id == name
    assert faulty.waits[3:] == [5.0, 99.0]
    faulty.proxy.troubles.append((403, {}, b'{"code":"secret_key_required","message":"No."}'))
    with pytest.raises(ScripError):
        next(events)

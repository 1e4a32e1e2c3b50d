"""Deductions that go together: the machine by itself, and both clients against the service through a faulty proxy."""

import asyncio
import json
import random
import threading
from typing import Any, Callable, Optional

import httpx
import pytest
from conftest import Faulty, Service
from faults import Proxy

from scrip_wallet import AsyncScrip, BatchItem, Scrip, ScripError, models
from scrip_wallet._gather import (
    MAX_ITEMS,
    MAX_WAITING_BYTES,
    SINGLES_SECONDS,
    GatheredCall,
    GatheredRequest,
    Gathering,
    late,
)

MakeUser = Callable[[int], str]

DONE = models.Deduction(balance=1, deducted=True)
OFFLINE = ScripError("network_error", "No.")


def refusal(status: int, param: Optional[str] = None) -> ScripError:
    return ScripError("refused", "No.", status=status, param=param)


class Bench:
    """The machine, and calls by their keys: the first letter is the user's."""

    def __init__(self) -> None:
        self.now = 0.0
        self.machine = Gathering(lambda: self.now)
        self.calls: dict[str, GatheredCall] = {}

    def add(self, *keys: str, **fields: Any) -> None:
        for key in keys:
            item = BatchItem(**{"amount": 1, "external_user_id": key[0], **fields})
            self.calls[key] = self.machine.call(item, key)

    def take(self) -> GatheredRequest:
        request = self.machine.take()
        assert request is not None
        return request

    def sent(self) -> "list[str]":
        """What may be sent now, a word for each request."""
        requests = iter(self.machine.take, None)
        return [" ".join(call.key for call in request.calls) for request in requests]

    def busy(self) -> "tuple[GatheredRequest, GatheredRequest]":
        """Takes up both places, so that what comes next is gathered."""
        self.add("y")
        one = self.take()
        self.add("z")
        return one, self.take()

    def done(self, request: GatheredRequest) -> None:
        self.machine.finish(request, [DONE] * len(request.calls))


def test_it_is_sent_at_once_where_nothing_is_under_way_and_with_others_where_requests_are() -> None:
    bench = Bench()
    one, other = bench.busy()
    bench.add("a", "b", "c")
    assert bench.sent() == []
    bench.done(one)
    request = bench.take()
    short = refusal(402)
    bench.machine.finish(request, [DONE, short, DONE])
    assert [bench.calls[key].outcome for key in "abc"] == [DONE, short, DONE]
    bench.done(other)
    bench.machine.leave(bench.calls["b"])
    assert bench.machine.count == 0 and bench.sent() == []


def test_a_batch_has_a_thousand_items_at_most_and_half_a_mebibyte() -> None:
    bench = Bench()
    bench.add(*(chr(0x4E00 + n) for n in range(MAX_ITEMS + 1)))
    first, second = bench.take(), bench.take()
    assert [len(first.calls), len(second.calls)] == [MAX_ITEMS, 1]
    bench.add(*(chr(0x6E00 + n) for n in range(100)), meta={"note": "x" * 12_000})
    bench.done(first)
    assert 40 <= len(bench.take().calls) <= 43


def test_the_order_within_a_wallet_holds_and_keeps_nobody_else() -> None:
    bench = Bench()
    bench.add("a1")
    one = bench.take()
    bench.add("a2", "b1", "a3")
    assert bench.sent() == ["b1"]
    bench.machine.finish(one, OFFLINE)
    # It may come again before those behind it.
    assert bench.sent() == []
    bench.machine.again(bench.calls["a1"])
    assert bench.sent() == ["a1 a2 a3"]
    codes = ["OLIVE-0000-1111-2222", "olive-oooo-IlLi-2222", "OLIVE 0000 1111 2222."]
    bench = Bench()
    for number, code in enumerate(codes):
        bench.add(f"{number}", external_user_id=None, code=code, product_id="prod_1")
        bench.machine.take()
    assert len({call.line for call in bench.calls.values()}) == 1


def test_who_gives_up_takes_nothing_along() -> None:
    bench = Bench()
    one, _ = bench.busy()
    bench.add("a1", "a2", "a3", "b1")
    bench.machine.leave(bench.calls["a2"])
    bench.done(one)
    request = bench.take()
    assert [call.key for call in request.calls] == ["a1", "a3", "b1"]
    bench.machine.leave(bench.calls["a1"])
    bench.machine.finish(request, OFFLINE)
    assert bench.calls["a1"].outcome is None
    assert [str(bench.calls[key].outcome) for key in ("a3", "b1")] == [str(OFFLINE)] * 2
    # One that will not come again holds its wallet up no longer.
    bench.add("a4")
    assert bench.sent() == []
    bench.machine.leave(bench.calls["a3"])
    assert bench.sent() == ["a4"]


def test_what_was_not_sent_in_time_fails_alone() -> None:
    bench = Bench()
    one, _ = bench.busy()
    bench.add("a1", "a2", "b1")
    for key in ("a1", "y"):
        bench.machine.expire(bench.calls[key], late(bench.calls[key], 15))
    assert isinstance(bench.calls["a1"].outcome, ScripError) and bench.calls["y"].outcome is None
    bench.done(one)
    # Those behind it wait for what comes of it.
    assert bench.sent() == ["b1"]


def test_an_ill_formed_item_fails_alone() -> None:
    bench = Bench()
    bench.add("a", "b", "c")
    bench.machine.finish(bench.take(), refusal(400, "items[1].externalUserId"))
    alone, others = bench.take(), bench.take()
    assert [[call.key for call in each.calls] for each in (alone, others)] == [["b"], ["a", "c"]]
    bench.machine.finish(alone, refusal(400, "externalUserId"))
    assert isinstance(bench.calls["b"].outcome, ScripError) and bench.calls["b"].outcome.param == "externalUserId"
    bench = Bench()
    bench.add("a", "b")
    bench.machine.finish(bench.take(), refusal(400))
    assert bench.sent() == ["a", "b"]


@pytest.mark.parametrize(
    "fields",
    [
        {"amount": 0}, {"amount": 1.5}, {"amount": True}, {"amount": 2**53}, {"amount": "5"}, {"external_user_id": ""},
        {"external_user_id": 7}, {"external_user_id": "a\n"}, {"external_user_id": "\ud800"}, {"meta": [1]},
        {"meta": {"n": float("nan")}}, {"meta": {"n": b"1"}}, {"meta": {"note": "x" * 20_000}}, {"on_shortfall": 3},
        {"external_user_id": None, "code": "OLIVE-0000-0000-0000"},
    ],
    ids=str,
)  # fmt: skip
def test_what_a_batch_would_be_refused_for_goes_by_itself(fields: "dict[str, Any]") -> None:
    bench = Bench()
    bench.busy()
    bench.add("a", **fields)
    assert bench.sent() == ["a"]


def test_a_batch_that_is_too_large_is_halved() -> None:
    bench = Bench()
    bench.add("a", "b", "c", "d")
    bench.machine.finish(bench.take(), refusal(413))
    one, other = bench.take(), bench.take()
    assert [len(each.calls) for each in (one, other)] == [2, 2]
    for each in (one, other):
        bench.machine.finish(each, refusal(413))
    lone = bench.take()
    bench.machine.finish(lone, refusal(413))
    assert isinstance(bench.calls["a"].outcome, ScripError) and bench.sent() == ["b", "c"]


@pytest.mark.parametrize("status", [404, 405])
def test_an_older_server_is_asked_one_by_one_for_a_minute(status: int) -> None:
    bench = Bench()
    bench.add("a1", "a2", "b")
    bench.machine.finish(bench.take(), refusal(status))
    assert bench.sent() == ["a1", "a2", "b"] and not bench.machine.is_open
    bench.now = SINGLES_SECONDS
    assert bench.machine.is_open


def test_more_than_a_client_remembers_is_refused() -> None:
    bench = Bench()
    bench.busy()
    meta = {"note": "x" * 12_000}
    with pytest.raises(ScripError) as caught:
        for _ in range(MAX_WAITING_BYTES // 12_000):
            bench.add("a", meta=meta)
    assert (caught.value.code, caught.value.status, caught.value.idempotency_key) == ("overloaded", 503, "a")


def test_each_is_done_once_and_in_order_in_every_kind_of_trouble() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        bench = Bench()
        machine, calls = bench.machine, bench.calls
        under_way: list[GatheredRequest] = []
        applied: dict[str, list[str]] = {}
        left: set[str] = set()

        def finish(request: GatheredRequest, luck: float) -> None:
            under_way.remove(request)
            if luck < 0.2:
                return machine.finish(request, OFFLINE)
            if len(request.calls) > 8:
                return machine.finish(request, refusal(413))
            if luck < 0.3:
                return machine.finish(request, refusal(400, f"items[{len(request.calls) - 1}].meta"))
            for call in request.calls:
                keys = applied.setdefault(call.key[0], [])
                if call.key not in keys:
                    keys.append(call.key)
            # The answer may be lost though it was done.
            machine.finish(request, [DONE] * len(request.calls) if luck > 0.4 else OFFLINE)

        def step(luck: float) -> None:
            live = [call for call in calls.values() if call.key not in left and call.outcome is None]
            failed = [call for call in calls.values() if call.key not in left and isinstance(call.outcome, ScripError)]
            if luck < 0.3 and len(calls) < 80:
                bench.add(f"{chance.choice('abcdefgh')}{len(calls):02}")
            elif luck < 0.6:
                request = machine.take()
                if request is not None:
                    users = {call.key[0] for call in request.calls}
                    assert not users & {call.key[0] for other in under_way for call in other.calls}, seed
                    under_way.append(request)
            elif luck < 0.8 and under_way:
                finish(chance.choice(under_way), chance.random())
            elif luck < 0.95 and failed:
                machine.again(chance.choice(failed))
            elif luck < 0.97 and live:
                call = chance.choice(live)
                left.add(call.key)
                machine.leave(call)
            elif live:
                call = chance.choice(live)
                machine.expire(call, late(call, 1))

        for _ in range(1_000):
            step(chance.random())
        # At last all goes well.
        for _ in range(100):
            for call in calls.values():
                if call.key not in left and isinstance(call.outcome, ScripError):
                    machine.again(call)
            under_way.extend(iter(machine.take, None))
            for request in list(under_way):
                finish(request, 1.0)
        assert (under_way, machine.count, machine._lines, machine._bytes) == ([], 0, {}, 0), seed
        for user, keys in applied.items():
            assert keys == sorted(keys) and len(keys) == len(set(keys)), seed
            assert {key for key in calls if key[0] == user} - left <= set(keys), seed


def batches(proxy: Proxy) -> int:
    return sum(path.endswith("/batch") for path in proxy.seen)


def in_threads(count: int, work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(at,)) for at in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


TROUBLES: "dict[str, list[Any]]" = {
    "lost": ["lost", "lost"],
    "cut": ["cut"],
    "limited": [(429, {"retry-after": "1"}, b'{"code":"rate_limited","message":"No."}')],
    "stopping": [(503, {}, b'{"code":"unavailable","message":"No."}')] * 2,
    "gateway": [(502, {}, b"<h1>Bad gateway</h1>")],
}
INSTEAD: "dict[str, list[Any]]" = {
    "large": [(413, {}, b"<h1>Too large</h1>")],
    "old": [(404, {}, b'{"code":"not_found","message":"No."}')],
    "older": [(405, {}, b'{"code":"method_not_allowed","message":"No."}')],
    "ill-formed": [(400, {}, b'{"code":"invalid_request","message":"No.","param":"items[0].amount"}')],
}


@pytest.mark.parametrize("name", [*TROUBLES, *INSTEAD])
def test_threads_deduct_once_each_through_trouble(faulty: Faulty, scrip: Scrip, user: MakeUser, name: str) -> None:
    users = [user(100) for _ in range(4)]
    faulty.proxy.only = "/batch"
    faulty.proxy.troubles.extend(TROUBLES.get(name) or INSTEAD[name])
    together = threading.Barrier(32)
    done: list[models.Deduction] = []

    def work(at: int) -> None:
        together.wait()
        for n in range(5):
            done.append(faulty.scrip.deduct(external_user_id=users[at % 4], amount=1, meta={"n": n}))

    in_threads(32, work)
    assert len(done) == 160 and all(each.deducted for each in done)
    assert [scrip.wallet(each).balances[0].balance for each in users] == [60] * 4
    assert not faulty.proxy.troubles and batches(faulty.proxy) > 0


@pytest.mark.parametrize("name", [*TROUBLES, *INSTEAD])
def test_tasks_deduct_once_each_through_trouble(
    service: Service, proxy: Proxy, scrip: Scrip, user: MakeUser, name: str
) -> None:
    users = [user(100) for _ in range(4)]
    proxy.only = "/batch"
    proxy.troubles.extend(TROUBLES.get(name) or INSTEAD[name])

    async def deduct() -> "list[models.Deduction]":
        async def no_wait(seconds: float) -> None:
            await asyncio.sleep(0)

        async with AsyncScrip(service.secret_key, base_url=proxy.base_url, sleep=no_wait) as client:
            calls = (client.deduct(external_user_id=users[at % 4], amount=1) for at in range(80))
            return await asyncio.gather(*calls)

    done = asyncio.run(deduct())
    assert all(each.deducted for each in done)
    assert [scrip.wallet(each).balances[0].balance for each in users] == [80] * 4
    assert not proxy.troubles and batches(proxy) > 0


def test_ten_thousand_callers_at_once_are_served_in_order(service: Service, proxy: Proxy, user: MakeUser) -> None:
    users = [user(1_000) for _ in range(20)]

    async def deduct() -> "list[models.Deduction]":
        async with AsyncScrip(service.secret_key, base_url=proxy.base_url) as client:
            calls = (client.deduct(external_user_id=users[at % 20], amount=1) for at in range(10_000))
            return await asyncio.gather(*calls)

    done = asyncio.run(deduct())
    for at in range(20):
        assert [each.balance for each in done[at::20]] == list(range(999, 499, -1))
    assert len(proxy.seen) < 20


def test_tasks_that_are_cancelled_take_nothing_along(service: Service, scrip: Scrip, user: MakeUser) -> None:
    users = [user(1_000), user(1_000)]

    async def deduct() -> "list[Any]":
        async with AsyncScrip(service.secret_key, base_url=service.base_url) as client:
            calls = [
                asyncio.ensure_future(client.deduct(external_user_id=users[at % 4 // 2], amount=1)) for at in range(200)
            ]
            # Each has been called, and none is sent.
            await asyncio.sleep(0)
            for call in calls[::2]:
                call.cancel()
            return await asyncio.gather(*calls, return_exceptions=True)

    done = asyncio.run(deduct())
    assert all(isinstance(each, asyncio.CancelledError) for each in done[::2])
    assert all(isinstance(each, models.Deduction) for each in done[1::2])
    left = sum(scrip.wallet(each).balances[0].balance for each in users)
    # What was on its way when its caller was cancelled may have been taken.
    assert 1_800 <= left <= 1_900


def test_a_loop_that_ends_sends_nothing_more() -> None:
    asked: list[str] = []

    async def silence(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        await asyncio.Event().wait()
        raise AssertionError

    async def deduct() -> None:
        client = AsyncScrip("pay_sk_x", base_url="http://pay.example", transport=httpx.MockTransport(silence))
        calls = []
        for user in ["ann", "bob", *(f"user-{at}" for at in range(100))]:
            calls.append(asyncio.ensure_future(client.deduct(external_user_id=user, amount=1)))
            while len(asked) < min(len(calls), 2):
                await asyncio.sleep(0)
        raise RuntimeError("the end")

    with pytest.raises(RuntimeError):
        asyncio.run(deduct())
    assert len(asked) == 2


def test_a_cancelled_task_ends_no_request_of_others(service: Service, proxy: Proxy, user: MakeUser) -> None:
    users = [user(10) for _ in range(6)]

    async def deduct() -> "list[Any]":
        async with AsyncScrip(service.secret_key, base_url=proxy.base_url) as client:
            calls = [asyncio.ensure_future(client.deduct(external_user_id=each, amount=1)) for each in users]
            while not proxy.seen:
                await asyncio.sleep(0)
            calls[0].cancel()
            return await asyncio.gather(*calls, return_exceptions=True)

    first, *others = asyncio.run(deduct())
    assert isinstance(first, (asyncio.CancelledError, models.Deduction))
    assert [each.balance for each in others] == [9] * 5


def test_each_has_the_answer_and_the_error_that_it_has_by_itself(
    service: Service, scrip: Scrip, user: MakeUser
) -> None:
    name, new = user(10), f"{user(0)}-new"
    code = scrip.create_wallet().code or ""
    scrip.credit(code=code, product_id=service.product, amount=10, idempotency_key="first")
    items: list[dict[str, Any]] = [
        {"external_user_id": name, "amount": 1, "idempotency_key": "once"},
        {"external_user_id": name, "amount": 1, "idempotency_key": "once"},
        {"external_user_id": name, "amount": 2, "idempotency_key": "once"},
        {"external_user_id": name, "amount": 100},
        {"external_user_id": name, "amount": 100, "on_shortfall": "drain"},
        {"external_user_id": name, "amount": 0},
        {"external_user_id": name, "amount": 1, "product_id": "prod_none"},
        {"external_user_id": new, "amount": 5},
        {"code": code.lower(), "product_id": service.product, "amount": 4},
        {"code": code, "amount": 4},
    ]

    async def deduct() -> "list[Any]":
        async with AsyncScrip(service.secret_key, base_url=service.base_url) as client:
            return await asyncio.gather(*(client.deduct(**item) for item in items), return_exceptions=True)

    done = asyncio.run(deduct())
    what = [(each.code, each.status) if isinstance(each, ScripError) else each.balance for each in done]
    assert what == [
        9, what[1], ("idempotency_key_reused", 409), ("insufficient_credits", 402), 0, ("invalid_request", 400),
        ("product_not_found", 404), ("insufficient_credits", 402), 6, ("invalid_request", 400),
    ]  # fmt: skip
    assert [done[0].deducted, done[1].deducted] == [True, False]
    assert (done[3].shortfall, done[4].charged, done[4].uncovered) == (91, 9, 91)
    assert [done[5].param, done[9].param] == ["amount", "productId"]
    for each in done:
        if isinstance(each, ScripError):
            assert each.request_id and each.idempotency_key and each.docs


def test_holds_draws_settlements_and_grants_go_together_too(service: Service, proxy: Proxy, user: MakeUser) -> None:
    users = [user(0) for _ in range(5)]
    proxy.only = "/batch"

    async def work() -> "tuple[list[int], list[Any]]":
        async def no_wait(seconds: float) -> None:
            await asyncio.sleep(0)

        async with AsyncScrip(service.secret_key, base_url=proxy.base_url, sleep=no_wait) as scrip:

            async def each(call: Callable[[int], Any]) -> "list[Any]":
                proxy.troubles.append("cut")
                return await asyncio.gather(*(call(at) for at in range(50)))

            def grant(at: int) -> Any:
                return scrip.credit(
                    external_user_id=users[at % 5], product_id=service.product, amount=20, idempotency_key=f"g{at}"
                )

            await each(grant)
            holds = await each(lambda at: scrip.place_hold(external_user_id=users[at % 5], amount=7))
            assert len({hold.hold_id for hold in holds}) == 50
            draws = await each(lambda at: scrip.draw(holds[at].hold_id, 2))
            assert all(draw.deducted and draw.held == 5 for draw in draws)
            await each(lambda at: scrip.settle(holds[at].hold_id, 5 if at < 25 else 0))
            wallets = [await scrip.wallet(each) for each in users]
            refused = (
                scrip.settle(holds[0].hold_id, 6),
                scrip.draw(holds[0].hold_id, 0),
                scrip.settle("hold_none", 1),
                scrip.place_hold(external_user_id=users[0], amount=1_000),
                scrip.credit(external_user_id=users[0], product_id="prod_none", amount=1, idempotency_key="x"),
            )
            errors = await asyncio.gather(*refused, return_exceptions=True)
            return [wallet.balances[0].balance for wallet in wallets], list(errors)

    balances, errors = asyncio.run(work())
    assert balances == [200 - 5 * 5] * 5
    assert [error.code for error in errors] == [
        "hold_closed", "invalid_request", "hold_not_found", "insufficient_credits", "product_not_found",
    ]  # fmt: skip
    assert not proxy.troubles and {each for each in proxy.seen if "batch" in each} == {
        f"POST /api/v1/{name}/batch" for name in ("credit", "holds", "settlements")
    }


def test_it_is_left_out_where_it_is_not_wanted(service: Service, proxy: Proxy, user: MakeUser) -> None:
    users = [user(10) for _ in range(5)]

    async def deduct(gather: bool) -> None:
        async with AsyncScrip(service.secret_key, base_url=proxy.base_url, gather=gather) as client:
            await asyncio.gather(*(client.deduct(external_user_id=each, amount=1) for each in users))

    asyncio.run(deduct(False))
    assert proxy.seen == ["POST /api/v1/wallets/external/deduct"] * 5
    asyncio.run(deduct(True))
    assert proxy.seen[5:] == ["POST /api/v1/deductions/batch"]
    assert len(json.loads(proxy.bodies[5])["items"]) == 5


def test_closing_waits_for_what_was_gathered(service: Service, proxy: Proxy, user: MakeUser) -> None:
    users = [user(10) for _ in range(5)]

    async def deduct() -> "list[models.Deduction]":
        client = AsyncScrip(service.secret_key, base_url=proxy.base_url)
        calls = [asyncio.ensure_future(client.deduct(external_user_id=each, amount=1)) for each in users]
        await asyncio.sleep(0)
        await client.aclose()
        return await asyncio.gather(*calls)

    assert [each.balance for each in asyncio.run(deduct())] == [9] * 5

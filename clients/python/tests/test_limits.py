"""Limits and members, against the service itself."""

import asyncio
import uuid
from typing import Any, Callable

import pytest
from conftest import Faulty, MakeUser, Service

from scrip_wallet import AsyncScrip, BatchItem, HoldItem, LimitExceededError, NewLimit, Scrip

EACH = NewLimit("member:*", 10, "month", time_zone="Europe/Berlin", alerts_at=[80])


@pytest.fixture
def team(scrip: Scrip, user: MakeUser) -> str:
    """Credits that several share, of which each may use ten a month."""
    name = user(1000)
    scrip.set_limits([EACH], external_user_id=name)
    return name


def exceeded(call: Callable[[], Any]) -> LimitExceededError:
    with pytest.raises(LimitExceededError) as caught:
        call()
    return caught.value


def used(scrip: Scrip, team: str, member: str) -> tuple[int, int, int]:
    (limit,) = scrip.limits(external_user_id=team, member=member)
    return limit.used, limit.held, limit.remaining


def test_are_set_and_read(scrip: Scrip) -> None:
    name = f"team-{uuid.uuid4()}"
    each, own = scrip.set_limits([EACH, NewLimit("wallet", 20, "lifetime", "operations")], external_user_id=name)
    assert (each.scope, each.amount, each.window, each.time_zone, each.alerts_at) == (
        "member:*", 10, "month", "Europe/Berlin", [80],
    )  # fmt: skip
    assert each.resets_at is not None and each.window_start is not None and each.resets_at > each.window_start
    assert (own.unit, own.resets_at, own.source, own.remaining) == ("operations", None, "wallet", 20)
    assert scrip.set_limits([], external_user_id=name) == []
    code = scrip.create_wallet().code
    scrip.set_limits([EACH], code=code)
    assert [limit.scope for limit in scrip.limits(code=code)] == ["member:*"]


@pytest.mark.parametrize("gather", [True, False])
def test_refuse_a_member_who_used_their_share(service: Service, team: str, gather: bool) -> None:
    with Scrip(service.secret_key, base_url=service.base_url, gather=gather) as scrip:
        scrip.deduct(external_user_id=team, amount=9, member="bob")
        error = exceeded(lambda: scrip.deduct(external_user_id=team, amount=2, member="bob", idempotency_key="k"))
        assert (error.code, error.status, error.passing, error.requested) == ("limit_exceeded", 403, False, 2)
        assert (error.limit.scope, error.limit.used, error.limit.remaining) == ("member:*", 9, 1)
        assert error.limit.resets_at is not None and error.idempotency_key == "k"
        scrip.deduct(external_user_id=team, amount=2, member="ann", idempotency_key="k")
        assert scrip.ledger(external_user_id=team, limit=1).items[0].member == "ann"


def test_are_no_reason_to_ask_again(faulty: Faulty, team: str) -> None:
    faulty.scrip.ledger(external_user_id=team)
    before = len(faulty.proxy.seen)
    exceeded(lambda: faulty.scrip.deduct(external_user_id=team, amount=11, member="bob"))
    assert (len(faulty.proxy.seen) - before, faulty.waits) == (1, [])


def test_count_batches_and_holds(scrip: Scrip, team: str) -> None:
    members = ("ann", "ann", "bob")
    results = scrip.deduct_batch([BatchItem(6, team, member=member) for member in members])
    assert [getattr(result, "code", None) for result in results] == [None, "limit_exceeded", None]
    assert isinstance(results[1], LimitExceededError) and results[1].limit.used == 6
    scrip.place_hold(external_user_id=team, amount=4, member="ann")
    assert isinstance(scrip.hold_batch([HoldItem(1, team, member="ann")])[0], LimitExceededError)
    assert used(scrip, team, "ann") == (6, 4, 0)
    with scrip.hold(external_user_id=team, amount=4, member="bob") as hold:
        hold.draw(1)
    assert used(scrip, team, "bob") == (7, 0, 3)
    exceeded(lambda: scrip.hold(external_user_id=team, amount=4, member="bob").__enter__())
    (bucket,) = scrip.usage(external_user_id=team, interval="month", group_by="member")[-1:]
    assert {(group.key, group.credits) for group in bucket.groups or []} == {("ann", 6), ("bob", 7)}


def test_count_each_call_for_its_own_member_though_they_go_together(service: Service, scrip: Scrip, team: str) -> None:
    async def work() -> list[Any]:
        async with AsyncScrip(service.secret_key, base_url=service.base_url) as client:
            calls = [client.deduct(external_user_id=team, amount=1, member=f"m{n % 20}") for n in range(240)]
            return await asyncio.gather(*calls, return_exceptions=True)

    assert sum(isinstance(answer, LimitExceededError) for answer in asyncio.run(work())) == 40
    assert {used(scrip, team, f"m{n}") for n in range(20)} == {(10, 0, 0)}


def test_are_events(scrip: Scrip, team: str) -> None:
    scrip.deduct(external_user_id=team, amount=10, member="ann")
    for _ in range(2):
        exceeded(lambda: scrip.deduct(external_user_id=team, amount=1, member="ann"))
    found = []
    for event in scrip.all_events(types=["limit.alert", "limit.reached"]):
        assert event.type == "limit.alert" or event.type == "limit.reached"
        if event.data.external_user_id == team:
            found.append((event.type, event.data.percent, event.data.member, event.data.limit.used))
    assert found == [("limit.alert", 80, "ann", 10), ("limit.reached", None, "ann", 10)]

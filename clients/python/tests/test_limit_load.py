"""Limits of many at once, of names that nobody expects, and of amounts that are not there."""

import asyncio
import random
import uuid
from collections import Counter
from typing import Any, Optional

import aiohttp
import pytest
from conftest import MakeUser, Server, Service

from scrip_wallet import BatchItem, LimitExceededError, NewLimit, Scrip, ScripError

WINDOWS: list[Any] = ["hour", "day", "week", "month", "year", "lifetime"]
UNITS: list[Any] = ["credits", "operations"]
MEMBERS = 5_000
TIMES = 2
"""Each member asks so often."""
CONNECTIONS = 256


class Team:
    """A wallet whose members ask for a credit each, over many connections, until they have an answer."""

    def __init__(self, server: Server, service: Service) -> None:
        self.server, self.service = server, service
        self.name = f"team-{uuid.uuid4()}"
        self.is_up = asyncio.Event()
        self.is_up.set()
        self.answers: dict[str, tuple[str, str]] = {}
        """What each key was answered."""

    async def ask(self, session: aiohttp.ClientSession, key: str, member: str) -> None:
        body = {"externalUserId": self.name, "amount": 1, "idempotencyKey": key, "member": member}
        while True:
            await self.is_up.wait()
            try:
                async with session.post("/api/v1/wallets/external/deduct", json=body) as reply:
                    answer = await reply.json()
            except aiohttp.ClientError:
                continue
            if reply.status == 200:
                self.answers[key] = member, "accepted"
            else:
                assert (reply.status, answer["code"]) == (403, "limit_exceeded"), answer
                self.answers[key] = member, answer["limit"]["scope"]
            return

    async def kill(self, after: int) -> None:
        while len(self.answers) < after:
            await asyncio.sleep(0)
        self.is_up.clear()
        port = int(self.service.base_url.rsplit(":", 1)[1])
        self.server.kill()
        self.server.start(port)
        self.is_up.set()

    async def all_ask(self, kill_after: Optional[int]) -> None:
        calls = [(f"{member}.{time}", f"m{member}") for member in range(MEMBERS) for time in range(TIMES)]
        random.Random(1).shuffle(calls)
        left = iter(calls)
        headers = {"Authorization": f"Bearer {self.service.secret_key}"}
        connector = aiohttp.TCPConnector(limit=CONNECTIONS)
        async with aiohttp.ClientSession(self.service.base_url, headers=headers, connector=connector) as session:

            async def connection() -> None:
                for key, member in left:
                    await self.ask(session, key, member)

            killer = [self.kill(kill_after)] if kill_after else []
            await asyncio.gather(*[connection() for _ in range(CONNECTIONS)], *killer)


@pytest.mark.parametrize(("each", "in_all", "kill_after"), [(1, 1_000_000, None), (2, 6_000, None), (1, 4_000, 3_000)])
def test_five_thousand_members_stop_exactly(server: Server, each: int, in_all: int, kill_after: Optional[int]) -> None:
    service = server.start()
    team = Team(server, service)
    with Scrip(service.secret_key, base_url=service.base_url) as scrip:
        scrip.ensure_wallet(team.name)
        scrip.credit(external_user_id=team.name, product_id=service.product, amount=100_000, idempotency_key="first")
        limits = [NewLimit("member:*", each, "lifetime"), NewLimit("wallet", in_all, "lifetime")]
        scrip.set_limits(limits, external_user_id=team.name)
        asyncio.run(team.all_ask(kill_after))
        print("\n", Counter(answer for _, answer in team.answers.values()))
        accepted = Counter(member for member, answer in team.answers.values() if answer == "accepted")
        total = min(MEMBERS * each, in_all)
        assert len(team.answers) == MEMBERS * TIMES
        assert (sum(accepted.values()), max(accepted.values())) == (total, each)
        assert Counter(e.member for e in scrip.ledger_entries(external_user_id=team.name) if e.delta < 0) == accepted
        for member in ["m0", "m1", *random.Random(2).sample(sorted(accepted), 50)]:
            each_used, all_used = scrip.limits(external_user_id=team.name, member=member)
            assert (each_used.used, each_used.held, all_used.used, all_used.held) == (accepted[member], 0, total, 0)
        usage = scrip.usage(external_user_id=team.name, interval="month", group_by="member")[-1]
        assert sum(group.credits for group in usage.groups or []) == total


NAMES = [
    "\u202eecila", "\u2066a\u2069", "a\u200bb", "\ufeffa", "\U0001f600" * 255, "\U0001f600" * 256, "e\u0301", "\u00e9",
    " a", "a ", "..", "a/b?c=d&e", "%2e", "*", "member:*", "a\u0000b", "a\u007fb", "a\u0085b", "a\u2028b", "\ufdd0",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=lambda name: f"{name[:12]!a} {len(name)}")
def test_members_are_named_as_users_are(scrip: Scrip, user: MakeUser, name: str) -> None:
    team = user(10)
    scrip.set_limits([NewLimit("member:*", 1, "day")], external_user_id=team)
    try:
        scrip.ensure_wallet(name)
    except ScripError as error:
        assert error.status == 400
        with pytest.raises(ScripError) as caught:
            scrip.deduct(external_user_id=team, amount=1, member=name)
        assert (caught.value.status, caught.value.param) == (400, "member")
        return
    scrip.deduct(external_user_id=team, amount=1, member=name)
    with pytest.raises(LimitExceededError):
        scrip.deduct(external_user_id=team, amount=1, member=name)
    assert scrip.ledger(external_user_id=team, limit=1).items[0].member == name
    (limit,) = scrip.limits(external_user_id=team, member=name)
    assert limit.used == 1
    # Names are compared as they are.
    scrip.deduct(external_user_id=team, amount=1, member="e\u0301 and \u00e9")


def test_ten_thousand_invented_members_are_still_too_many_after_a_kill(server: Server) -> None:
    service = server.start()
    with Scrip(service.secret_key, base_url=service.base_url) as scrip:
        scrip.credit(external_user_id="team", product_id=service.product, amount=20_000, idempotency_key="first")
        scrip.set_limits([NewLimit("member:*", 1, "lifetime")], external_user_id="team")
        for start in range(0, 10_000, 1_000):
            items = [BatchItem(1, "team", member=f"m{start + number}") for number in range(1_000)]
            assert not any(isinstance(result, ScripError) for result in scrip.deduct_batch(items))
    server.kill()
    service = server.start()
    with Scrip(service.secret_key, base_url=service.base_url) as scrip:
        for member, code in (("one more", "too_many_scopes"), ("m0", "limit_exceeded"), ("m9999", "limit_exceeded")):
            with pytest.raises(ScripError) as caught:
                scrip.deduct(external_user_id="team", amount=1, member=member)
            assert caught.value.code == code
        scrip.deduct(external_user_id="team", amount=1)


def test_fifty_limits_are_one_decision(scrip: Scrip, service: Service, user: MakeUser) -> None:
    team = user(100)
    scopes = ["wallet", "member:*", "feature:image", f"key:{scrip.me().key_id}"]
    limits = [
        NewLimit(scope, 10, window, unit, product_id=product)
        for product in (None, service.product)
        for scope in scopes
        for window in WINDOWS
        for unit in UNITS
    ][:50]
    scrip.set_limits(limits, external_user_id=team)
    how: dict[str, Any] = {"external_user_id": team, "amount": 3, "member": "ann", "meta": {"feature": "image"}}
    scrip.deduct(**how)

    def used() -> Counter[tuple[Optional[str], int]]:
        return Counter((limit.unit, limit.used) for limit in scrip.limits(external_user_id=team, member="ann"))

    assert sum(used().values()) == 50
    assert {count for unit, count in used() if unit == "operations"} == {1}
    assert {count for unit, count in used() if unit != "operations"} == {3}
    before = used()
    limits[-1] = NewLimit("wallet", 1, limits[-1].window, limits[-1].unit, product_id=service.product)
    scrip.set_limits(limits, external_user_id=team)
    with pytest.raises(LimitExceededError) as caught:
        scrip.deduct(**how)
    assert (caught.value.limit.amount, caught.value.limit.product_id) == (1, service.product)
    assert used() == before


def test_a_limit_below_what_is_used_keeps_its_count(scrip: Scrip, user: MakeUser) -> None:
    team = user(100)
    scrip.set_limits([NewLimit("wallet", 10, "day")], external_user_id=team)
    scrip.deduct(external_user_id=team, amount=8)
    (limit,) = scrip.set_limits([NewLimit("wallet", 5, "day")], external_user_id=team)
    assert (limit.used, limit.remaining) == (8, 0)
    with pytest.raises(LimitExceededError):
        scrip.deduct(external_user_id=team, amount=1)
    entry = scrip.ledger(external_user_id=team, limit=1).items[0]
    scrip.reverse_deduction(entry.id, amount=4, idempotency_key="back")
    with pytest.raises(LimitExceededError):
        scrip.deduct(external_user_id=team, amount=2)
    scrip.deduct(external_user_id=team, amount=1)


@pytest.mark.parametrize("unit", ["credits", "operations"])
def test_a_limit_of_zero_lets_nothing_pass(scrip: Scrip, user: MakeUser, unit: Any) -> None:
    team = user(100)
    limits = [NewLimit("member:ann", 0, "day", unit, alerts_at=[80]), NewLimit("member:*", 5, "day", unit)]
    scrip.set_limits(limits, external_user_id=team)
    for ask in (
        lambda: scrip.deduct(external_user_id=team, amount=1, member="ann"),
        lambda: scrip.deduct(external_user_id=team, amount=1, member="ann", on_shortfall="drain"),
        lambda: scrip.place_hold(external_user_id=team, amount=1, member="ann"),
    ):
        with pytest.raises(LimitExceededError) as caught:
            ask()
        assert (caught.value.limit.amount, caught.value.limit.used) == (0, 0)
    scrip.deduct(external_user_id=team, amount=1, member="bob")

"""What has been reported of budgets elsewhere, as scenarios: in LiteLLM's own proxy first, and here.

LiteLLM's part goes over HTTP to the proxy of the installed package. Its budgets are rows that it has read from its
database, in its cache; the database knows nothing else. The model answers without a network, counts the words that it
answers with, and each costs one dollar, or one credit. What is asserted of LiteLLM is so in the version that
`requirements.txt` names: where a later one does better, the test fails, and says so.
"""

import asyncio
import json
import logging
import os
import re
import threading
import time
import types
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Optional, Protocol
from zoneinfo import ZoneInfo

import httpx
import pytest
from conftest import ROOT, MakeUser, Service

from scrip_wallet import AsyncScrip, BatchItem, LimitExceededError, NewLimit, Scrip, ScripError

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
litellm = pytest.importorskip("litellm", reason="LiteLLM is not installed: pip install scrip-wallet[litellm]")
proxy_server = pytest.importorskip("litellm.proxy.proxy_server", reason="LiteLLM's proxy is not installed")

import uvicorn  # noqa: E402
from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER  # noqa: E402
from litellm.proxy._types import LiteLLM_TeamTableCachedObj, UserAPIKeyAuth, hash_token  # noqa: E402
from litellm.proxy.agent_endpoints.agent_registry import global_agent_registry  # noqa: E402
from litellm.proxy.common_utils.reset_budget_job import ResetBudgetJob  # noqa: E402
from litellm.types.agents import AgentResponse  # noqa: E402

Payer = Literal["key", "team", "session", "stranger"]
"""Whose budget it is: of a key, of its team, of each session, of each end user, who are not known before."""
ITEMS = 20
"""The requests of a batch."""


class Model:
    def __init__(self) -> None:
        self.words = 0
        self.stops_after: Optional[int] = None
        self.stopped = asyncio.Event()

    async def answer(self, words: int, pay: Optional[Callable[[], Awaitable[Any]]] = None) -> AsyncIterator[None]:
        # All who ask at once are answered at once.
        await asyncio.sleep(0.1)
        for word in range(words):
            if word == self.stops_after:
                self.stopped.set()
                await asyncio.get_running_loop().create_future()
            if pay is not None:
                await pay()
            self.words += 1
            yield


class Budget(Protocol):
    model: Model

    async def allow(self, words: int, payer: Payer = "key") -> None:
        """Sets it."""

    async def ask(self, words: int, most: Optional[int] = None) -> bool:
        """Has the model answer in so many words, of which only `most` is known before. False: refused, or cut off."""

    async def batch(self) -> int:
        """Gives a batch. How many of its requests are accepted."""

    async def stream(self, path: str, words: int, leaves: bool = False) -> None:
        """Reads so many words of a stream of up to 20, at this path of LiteLLM's; `leaves`: without its end."""

    async def counted(self) -> float:
        """What is used, as it is enforced."""


class Here:
    """A wallet's limit. Where only the most is known, words are drawn one by one from a hold of one."""

    def __init__(self, scrip: AsyncScrip, wallet: str) -> None:
        self.scrip, self.wallet, self.model = scrip, wallet, Model()
        self.member: Optional[str] = None

    async def allow(self, words: int, payer: Payer = "key") -> None:
        if payer in ("session", "stranger"):
            self.member = "somebody"
        scope = "member:*" if self.member else "wallet"
        await self.scrip.set_limits([NewLimit(scope, words, "lifetime")], external_user_id=self.wallet)

    async def ask(self, words: int, most: Optional[int] = None) -> bool:
        amount = words if most is None else 1
        try:
            async with self.scrip.hold(external_user_id=self.wallet, amount=amount, member=self.member) as hold:
                async for _ in self.model.answer(words, None if most is None else lambda: hold.draw(1)):
                    pass
                hold.cost = words
        except LimitExceededError:
            return False
        return True

    async def batch(self) -> int:
        results = await self.scrip.deduct_batch([BatchItem(1, self.wallet)] * ITEMS)
        accepted = sum(not isinstance(result, ScripError) for result in results)
        self.model.words += accepted
        return accepted

    async def stream(self, path: str, words: int, leaves: bool = False) -> None:
        placed = await self.scrip.place_hold(external_user_id=self.wallet, amount=20)
        async for _ in self.model.answer(words, lambda: self.scrip.draw(placed.hold_id, 1)):
            pass
        await self.scrip.release(placed.hold_id)

    async def counted(self) -> float:
        (limit,) = await self.scrip.limits(external_user_id=self.wallet, member=self.member)
        return limit.used + limit.held


class Words(litellm.CustomLLM):  # type: ignore[misc, name-defined]
    def __init__(self, elsewhere: "Elsewhere") -> None:
        super().__init__()
        self.elsewhere = elsewhere

    async def acompletion(self, *args: Any, **kwargs: Any) -> Any:
        words = self.elsewhere.words
        async for _ in self.elsewhere.model.answer(words):
            pass
        usage = litellm.Usage(prompt_tokens=1, completion_tokens=words, total_tokens=words + 1)
        return litellm.ModelResponse(choices=[{"message": {"role": "assistant", "content": "Yes."}}], usage=usage)

    async def astreaming(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        async for _ in self.elsewhere.model.answer(self.elsewhere.words):
            yield {
                "text": "word", "is_finished": False, "finish_reason": "", "index": 0, "tool_use": None, "usage": None,
            }  # fmt: skip


class Database:
    """Knows a default budget of end users, and nothing else."""

    default_budget = 0

    def __init__(self, is_table: bool = False) -> None:
        self.is_table = is_table
        self._spend_log_transactions_lock = asyncio.Lock()
        self.spend_log_transactions: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ("db", "reader_db", "writer_db") or name.startswith("litellm_"):
            return Database(name == "litellm_budgettable")

        async def found(*_: Any, where: Any = None, **__: Any) -> Any:
            if name in ("find_many", "query_raw"):
                return []
            if self.is_table and name == "find_unique":
                row = {"budget_id": where["budget_id"], "max_budget": Database.default_budget}
                return types.SimpleNamespace(dict=lambda **_: row)
            return None

        return found


@dataclass
class Elsewhere:
    """LiteLLM's proxy."""

    client: httpx.AsyncClient
    patch: pytest.MonkeyPatch
    model: Model = field(default_factory=Model)
    words: int = 1
    """In which the model answers."""
    counter: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    async def allow(self, words: int, payer: Payer = "key") -> None:
        key, who = f"sk-{uuid.uuid4()}", str(uuid.uuid4())
        token = hash_token(key)
        self.client.headers["authorization"] = f"Bearer {key}"
        row = UserAPIKeyAuth(token=token, api_key=token)
        self.counter = f"spend:key:{token}"
        if payer == "key":
            row.max_budget = words
        elif payer == "team":
            row.team_id, row.team_max_budget = who, words
            self.counter = f"spend:team:{who}"
            team = LiteLLM_TeamTableCachedObj(team_id=who, max_budget=words, spend=0)
            await proxy_server.user_api_key_cache.async_set_cache(key=f"team_id:{who}", value=team)
        elif payer == "session":
            row.agent_id = who
            self.more["metadata"] = {"session_id": who}
            params: dict[str, object] = {"max_budget_per_session": words}
            agent = AgentResponse(agent_id=who, agent_name=who, litellm_params=params, agent_card_params={})
            global_agent_registry.register_agent(agent)
        else:
            # With the settings of the report, which its own keys' path does not need.
            row.end_user_id = self.more["user"] = who
            self.counter = f"spend:end_user:{who}"
            self.patch.setattr(Database, "default_budget", words)
            self.patch.setattr(litellm, "max_end_user_budget_id", who)
            self.patch.setattr(litellm, "enable_post_custom_auth_checks", True, raising=False)
            self.patch.setitem(proxy_server.general_settings, "custom_auth_run_common_checks", True)

            async def authenticated(request: Any, api_key: str) -> UserAPIKeyAuth:
                return row.model_copy()

            self.patch.setattr(proxy_server, "user_custom_auth", authenticated)
        await proxy_server.user_api_key_cache.async_set_cache(key=token, value=row)

    def body(self, most: int, **more: Any) -> dict[str, Any]:
        messages = [{"role": "user", "content": "Count."}]
        return {"model": "words", "messages": messages, "max_tokens": most, **self.more, **more}

    async def ask(self, words: int, most: Optional[int] = None) -> bool:
        self.words = words
        reply = await self.client.post("/v1/chat/completions", json=self.body(most or words))
        assert reply.is_success or "udget" in reply.text, reply.text
        return reply.is_success

    async def batch(self) -> int:
        body = {"input_file_id": "file-1", "endpoint": "/v1/chat/completions", "completion_window": "24h"}
        reply = await self.client.post("/v1/batches", json=body)
        assert reply.is_success or "udget" in reply.text, reply.text
        accepted = ITEMS if reply.is_success else 0
        self.model.words += accepted
        return accepted

    async def stream(self, path: str, words: int, leaves: bool = False) -> None:
        self.words = 20 if leaves else words
        self.model.stops_after = words if leaves else None

        async def read() -> None:
            async with self.client.stream("POST", path, json=self.body(20, stream=True)) as reply:
                assert reply.is_success, await reply.aread()
                async for _ in reply.aiter_lines():
                    pass

        if not leaves:
            return await read()
        reading = asyncio.create_task(read())
        await self.model.stopped.wait()
        self.model.stopped.clear()
        reading.cancel()
        await self.counted()

    async def counted(self) -> float:
        # It counts after it has answered.
        deadline = time.monotonic() + 5
        while True:
            await GLOBAL_LOGGING_WORKER.flush()
            found = float(proxy_server.spend_counter_cache.in_memory_cache.get_cache(self.counter) or 0)
            if found <= self.model.words or time.monotonic() > deadline:
                return found
            await asyncio.sleep(0)


class Provider(BaseHTTPRequestHandler):
    """Accepts batches."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        batch = {
            "id": f"batch_{uuid.uuid4()}", "object": "batch", "endpoint": "/v1/chat/completions", "created_at": 1,
            "input_file_id": "file-1", "completion_window": "24h", "status": "validating",
        }  # fmt: skip
        content = json.dumps(batch).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@asynccontextmanager
async def gateway(config: Path, patch: pytest.MonkeyPatch) -> AsyncIterator[Elsewhere]:
    params = {"model": "words/words", "input_cost_per_token": 0, "output_cost_per_token": 1}
    model_list = [{"model_name": "words", "litellm_params": params}]
    settings = {"num_retries": 0, "callbacks": []}
    config.write_text(
        json.dumps(
            {"model_list": model_list, "general_settings": {"master_key": "sk-master"}, "litellm_settings": settings}
        ),
        "utf-8",
    )
    async with httpx.AsyncClient(trust_env=False, timeout=60, limits=httpx.Limits(max_connections=100)) as client:
        elsewhere = Elsewhere(client, patch)
        litellm.custom_provider_map = [{"provider": "words", "custom_handler": Words(elsewhere)}]
        litellm.utils.custom_llm_setup()
        await proxy_server.initialize(config=str(config))
        patch.setattr(proxy_server, "prisma_client", Database())
        proxy_server.cost_tracking()
        proxy_server.proxy_logging_obj._init_litellm_callbacks(llm_router=proxy_server.llm_router)
        server = uvicorn.Server(uvicorn.Config(proxy_server.app, port=0, lifespan="off", log_level="critical"))
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0)
        port = server.servers[0].sockets[0].getsockname()[1]
        client.base_url = httpx.URL(f"http://127.0.0.1:{port}")
        try:
            yield elsewhere
        finally:
            server.should_exit = True
            await serving


Scenario = Callable[[Budget], Awaitable[Any]]


@dataclass
class Outcome:
    result: Any
    words: int
    """What the model answered, and is paid for."""
    counted: float
    """What the budget says is used."""


Judge = Callable[[Scenario], Outcome]


async def outcome(scenario: Scenario, budget: Budget) -> Outcome:
    result = await scenario(budget)
    found = Outcome(result, budget.model.words, await budget.counted())
    print(f"\n{type(budget).__name__}: {found}")
    return found


@pytest.fixture
def here(service: Service, user: MakeUser) -> Judge:
    async def run(scenario: Scenario) -> Outcome:
        async with AsyncScrip(service.secret_key, base_url=service.base_url) as scrip:
            return await outcome(scenario, Here(scrip, user(1000)))

    return lambda scenario: asyncio.run(asyncio.wait_for(run(scenario), 60))


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    provider = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{provider.server_port}/v1")
    # It logs each refusal with a traceback.
    logging.disable(logging.CRITICAL)

    async def run(scenario: Scenario) -> Outcome:
        async with gateway(tmp_path / "config.yaml", monkeypatch) as budget:
            return await outcome(scenario, budget)

    yield lambda scenario: asyncio.run(asyncio.wait_for(run(scenario), 60))
    logging.disable(logging.NOTSET)
    provider.shutdown()
    provider.server_close()


async def at_once(budget: Budget, count: int, words: int, most: Optional[int] = None) -> int:
    """How many were answered in full."""
    return sum(await asyncio.gather(*[budget.ask(words, most) for _ in range(count)]))


def test_requests_at_once_use_no_more_than_the_budget(elsewhere: Judge, here: Judge) -> None:
    """BerriAI/litellm#26672"""

    async def scenario(budget: Budget) -> int:
        await budget.allow(8)
        return await at_once(budget, 32, 3)

    # 1.82.3 answered all 32 with 96 words. Now the last one is admitted for what is left, and costs what it costs.
    assert elsewhere(scenario) == Outcome(3, 9, 9)
    assert here(scenario) == Outcome(2, 6, 6)


def test_requests_of_one_session_at_once_use_no_more_than_its_budget(elsewhere: Judge, here: Judge) -> None:
    """BerriAI/litellm#34732"""

    async def scenario(budget: Budget) -> int:
        await budget.allow(8, "session")
        return await at_once(budget, 32, 1)

    found = elsewhere(scenario)
    assert (found.result, found.words) == (32, 32)
    assert here(scenario) == Outcome(8, 8, 8)


def test_a_batch_is_held_to_the_budget(elsewhere: Judge, here: Judge) -> None:
    """BerriAI/litellm#12794"""

    async def scenario(budget: Budget) -> list[int]:
        await budget.allow(10, "team")
        return [await budget.batch() for _ in range(3)]

    assert elsewhere(scenario) == Outcome([ITEMS] * 3, 60, 0)
    assert here(scenario) == Outcome([10, 0, 0], 10, 10)


def test_the_first_requests_of_somebody_new_are_held_to_the_budget(elsewhere: Judge, here: Judge) -> None:
    """BerriAI/litellm#40095"""

    async def scenario(budget: Budget) -> int:
        await budget.allow(8, "stranger")
        return await at_once(budget, 32, 1)

    # As reported all were admitted; this is mended.
    assert elsewhere(scenario) == Outcome(8, 8, 8)
    assert here(scenario) == Outcome(8, 8, 8)


STREAMS = pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])


@STREAMS
def test_what_was_set_aside_for_who_leaves_comes_back(elsewhere: Judge, here: Judge, path: str) -> None:
    """BerriAI/litellm#30522"""

    async def scenario(budget: Budget) -> bool:
        await budget.allow(40)
        for _ in range(4):
            await budget.stream(path, 1, leaves=True)
        budget.model.stops_after = None
        return await budget.ask(20)

    # As reported nothing came back; this is mended.
    assert elsewhere(scenario) == Outcome(True, 24, 24)
    assert here(scenario) == Outcome(True, 24, 24)


@STREAMS
def test_what_is_counted_is_what_was_used(elsewhere: Judge, here: Judge, path: str) -> None:
    """BerriAI/litellm#40050"""

    async def scenario(budget: Budget) -> None:
        await budget.allow(100)
        await asyncio.gather(*[budget.stream(path, 3) for _ in range(5)])

    # As reported twice as much was counted; this is mended.
    assert elsewhere(scenario) == Outcome(None, 15, 15)
    assert here(scenario) == Outcome(None, 15, 15)


def test_answers_that_could_be_long_do_not_keep_short_ones_out(elsewhere: Judge, here: Judge) -> None:
    """BerriAI/litellm#38647"""

    async def scenario(budget: Budget) -> int:
        await budget.allow(25)
        return await at_once(budget, 6, 1, most=10)

    assert elsewhere(scenario) == Outcome(3, 3, 3)
    assert here(scenario) == Outcome(6, 6, 6)


def test_answers_that_turn_out_long_use_no_more_than_the_budget(elsewhere: Judge, here: Judge) -> None:
    """BerriAI/litellm#38647"""

    async def scenario(budget: Budget) -> int:
        await budget.allow(25)
        return await at_once(budget, 6, 10, most=10)

    assert elsewhere(scenario) == Outcome(3, 30, 30)
    found = here(scenario)
    assert (found.words, found.counted) == (25, 25)


def test_a_month_begins_at_midnight_of_its_zone(scrip: Scrip, user: MakeUser) -> None:
    """BerriAI/litellm#34896"""
    zone = ZoneInfo("Asia/Tokyo")
    window = {"budget_duration": "30d", "reset_at": datetime(2026, 8, 1, tzinfo=zone).isoformat()}
    an_hour_later: Any = [window, "", proxy_server.spend_counter_cache, datetime(2026, 7, 31, 16), None, None, None, ""]
    assert not asyncio.run(ResetBudgetJob._reset_expired_window(*an_hour_later))
    (limit,) = scrip.set_limits([NewLimit("wallet", 1, "month", time_zone="Asia/Tokyo")], external_user_id=user(0))
    for instant in (limit.window_start, limit.resets_at):
        assert instant is not None
        assert instant.astimezone(zone).strftime("%d %H:%M:%S") == "01 00:00:00"


def exceeded(call: Callable[[], Any]) -> LimitExceededError:
    with pytest.raises(LimitExceededError) as caught:
        call()
    return caught.value


def test_a_user_may_spend_less_than_they_have_and_never_more(scrip: Scrip, user: MakeUser) -> None:
    """danny-avila/LibreChat#15029"""
    name = user(500_000)
    scrip.set_limits([NewLimit("wallet", 100_000, "lifetime")], external_user_id=name)
    scrip.deduct(external_user_id=name, amount=100_000)
    assert exceeded(lambda: scrip.deduct(external_user_id=name, amount=1)).limit.remaining == 0
    assert scrip.wallet(name).balance() == 400_000
    scrip.set_limits([NewLimit("wallet", 1_000_000, "lifetime")], external_user_id=name)
    with pytest.raises(ScripError) as caught:
        scrip.deduct(external_user_id=name, amount=400_001)
    assert caught.value.code == "insufficient_credits"


def test_members_have_months_limits_of_their_own_and_see_what_is_left(scrip: Scrip, user: MakeUser) -> None:
    """Bike4Mind/bike4mind#1465"""
    team = user(1000)
    limits = [NewLimit("member:*", 10, "month"), NewLimit("member:ann", 50, "month")]
    scrip.set_limits(limits, external_user_id=team)
    for member in ("ann", "bob"):
        scrip.deduct(external_user_id=team, amount=8, member=member)
    left = {}
    for member in ("ann", "bob"):
        (limit,) = scrip.limits(external_user_id=team, member=member)
        assert limit.resets_at is not None
        left[member] = limit.remaining
    assert left == {"ann": 42, "bob": 2}


def test_keys_of_one_wallet_share_its_credits(scrip: Scrip, service: Service, user: MakeUser) -> None:
    """unkeyed/unkey#4106"""
    wallet = user(1000)
    other = service.admin("POST", "/keys", {"kind": "secret"})
    own, key = f"key:{scrip.me().key_id}", str(other["key"])
    limits = [NewLimit("wallet", 10, "day"), NewLimit(own, 6, "day")]
    scrip.set_limits(limits, external_user_id=wallet)
    with Scrip(key, base_url=service.base_url) as second:
        scrip.deduct(external_user_id=wallet, amount=6)
        assert exceeded(lambda: scrip.deduct(external_user_id=wallet, amount=1)).limit.scope == own
        second.deduct(external_user_id=wallet, amount=4)
        assert exceeded(lambda: second.deduct(external_user_id=wallet, amount=1)).limit.scope == "wallet"


def test_the_documentation_names_these_tests_and_this_version() -> None:
    page = (ROOT / "docs/budgets.md").read_text("utf-8")
    assert f"LiteLLM {version('litellm')} " in page
    named = set(re.findall(r"`(test_\w+)`", page))
    assert named == {name for name in globals() if name.startswith("test_") and "documentation" not in name}

"""The hook for LiteLLM, inside LiteLLM's own proxy, whose models answer without a network."""

import asyncio
import gc
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

import httpx
import pytest
from conftest import MakeUser, Service, State
from faults import Proxy

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
litellm = pytest.importorskip("litellm", reason="LiteLLM is not installed: pip install scrip-wallet[litellm]")
proxy_server = pytest.importorskip("litellm.proxy.proxy_server", reason="LiteLLM's proxy is not installed")

import uvicorn  # noqa: E402
from litellm.proxy._types import UserAPIKeyAuth, hash_token  # noqa: E402

from scrip_wallet import AsyncScrip, NewLimit, Scrip  # noqa: E402
from scrip_wallet._tokens import count, prompt_tokens  # noqa: E402
from scrip_wallet.litellm import CreditMeter, Usage, member_of  # noqa: E402

pytestmark = pytest.mark.usefixtures("draws")

ANSWER = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
CACHED = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 2000,
    "cache_read_input_tokens": 10000,
    "output_tokens": 140,
}
CALL = {"type": "function", "function": {"name": "write", "arguments": '{"path":"a/b.txt","lines":[1,2,3]}' * 112}}
KEY = "sk-litellm-master"
PROMPT = 10
"""What every prompt costs here, so that figures are round."""
ASKED = prompt_tokens({"model": "words", "messages": [{"role": "user", "content": "Count."}]})
"""The tokens that it has."""


STREAMS: dict[str, tuple[list[dict[str, Any]], int]] = {
    "Anthropic messages": (
        [
            {
                "type": "message_start",
                "message": {"type": "message", "content": [], "usage": {**CACHED, "output_tokens": 1}},
            },
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "ping"},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello, "}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "you there!"}},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": 15},
            },
            {"type": "message_stop"},
        ],
        12_025,
    ),
    "Anthropic messages, a tool": (
        [
            {
                "type": "message_start",
                "message": {"type": "message", "content": [], "usage": {"input_tokens": 472, "output_tokens": 2}},
            },
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": '{"location":'},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": ' "San Francisco, CA"}'},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 89}},
            {"type": "message_stop"},
        ],
        561,
    ),
    "OpenAI chat": (
        [
            {
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}],
                "usage": None,
            },
            {
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": {"content": "Hello, you there!"}}],
                "usage": None,
            },
            {
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                "usage": None,
            },
            {
                "object": "chat.completion.chunk",
                "choices": [],
                "usage": {
                    "prompt_tokens": 1006,
                    "completion_tokens": 10,
                    "total_tokens": 1016,
                    "prompt_tokens_details": {"cached_tokens": 900},
                },
            },
        ],
        1_016,
    ),
    "OpenAI responses": (
        [
            {"type": "response.created", "response": {"status": "in_progress", "output": [], "usage": None}},
            {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "Hello, "},
            {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "you there!"},
            {"type": "response.output_text.done", "item_id": "msg_1", "text": "Hello, you there!"},
            {
                "type": "response.completed",
                "response": {
                    "status": "completed",
                    "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello, you there!"}]}],
                    "usage": {
                        "input_tokens": 37,
                        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                        "output_tokens": 11,
                        "output_tokens_details": {"reasoning_tokens": 0},
                        "total_tokens": 48,
                    },
                },
            },
        ],
        48,
    ),
    "Gemini": (
        [
            {
                "candidates": [{"content": {"role": "model", "parts": [{"text": "Hello, "}]}}],
                "usageMetadata": {"promptTokenCount": 8, "totalTokenCount": 8},
            },
            {
                "candidates": [
                    {"content": {"role": "model", "parts": [{"text": "you there!"}]}, "finishReason": "STOP"}
                ],
                "usageMetadata": {
                    "promptTokenCount": 8,
                    "candidatesTokenCount": 7,
                    "thoughtsTokenCount": 30,
                    "totalTokenCount": 45,
                },
            },
        ],
        45,
    ),
}
"""What providers stream, as their references show it, and how many tokens that is."""


def without_usage(piece: Any) -> Any:
    if not isinstance(piece, dict):
        return piece
    return {name: without_usage(each) for name, each in piece.items() if name not in ("usage", "usageMetadata")}


def cost(usage: Usage) -> int:
    return PROMPT + usage.completion_tokens


@dataclass
class Reply:
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    chunks: list[bytes] = field(default_factory=list)

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    def words(self) -> str:
        """What a stream said."""
        found = ""
        for line in self.body.decode().splitlines():
            if line.startswith("data: {"):
                for choice in json.loads(line[6:]).get("choices", []):
                    found += (choice.get("delta") or {}).get("content") or choice.get("text") or ""
        return found


class Words(litellm.CustomLLM):  # type: ignore[misc, name-defined]
    """A model that thinks for as long as the test likes, and may fail in the midst of its answer."""

    thinking: asyncio.Event
    answer: asyncio.Event
    fails_after: Optional[int]
    rests_after: Optional[int]

    async def astreaming(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        self.thinking.set()
        await self.answer.wait()
        for at, word in enumerate(ANSWER.split()):
            if at == self.fails_after:
                raise RuntimeError("the model is on fire")
            if at == self.rests_after:
                await asyncio.get_running_loop().create_future()
            last = at == 15
            yield {
                "text": word + " ",
                "is_finished": last,
                "finish_reason": "stop" if last else "",
                "index": 0,
                "tool_use": None,
                "usage": None,
            }

    async def acompletion(self, *args: Any, **kwargs: Any) -> Any:
        self.thinking.set()
        await self.answer.wait()
        return litellm.ModelResponse(choices=[{"message": {"role": "assistant", "content": ANSWER}}])


class Gateway:
    """LiteLLM's proxy, called as its server would call it, by clients that may leave."""

    def __init__(self, scrip: AsyncScrip, meter: CreditMeter) -> None:
        self.scrip = scrip
        self.meter = meter

    async def call(self, path: str, body: dict[str, Any], leave_after: Optional[int] = None) -> Reply:
        """`leave_after`: so many pieces of the answer have arrived when the client goes away; none: before the model
        answers.
        """
        reply = Reply()
        gone = asyncio.Event()
        asked = False
        content = json.dumps(body).encode()

        async def receive() -> dict[str, Any]:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": content, "more_body": False}
            if leave_after == 0:
                await Words.thinking.wait()
            else:
                await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                reply.status = message["status"]
            elif message["type"] == "http.response.body" and message.get("body"):
                reply.chunks.append(message["body"])
                if leave_after and len(reply.chunks) >= leave_after:
                    gone.set()
                    # The server receives it now.
                    await asyncio.get_running_loop().create_future()

        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
            "path": path, "raw_path": path.encode(), "root_path": "", "query_string": b"", "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "headers": [
                (b"authorization", f"Bearer {KEY}".encode()), (b"content-type", b"application/json"),
                (b"content-length", str(len(content)).encode()), (b"host", b"gateway"),
            ],
        }  # fmt: skip
        await proxy_server.app(scope, receive, send)
        return reply

    async def chat(self, user: str, *, leave_after: Optional[int] = None, **more: Any) -> Reply:
        body = {
            "model": "words",
            "user": user,
            "messages": [{"role": "user", "content": "Count."}],
            "max_tokens": 50,
            **more,
        }
        return await self.call("/v1/chat/completions", body, leave_after)


Within = Callable[[Callable[[Gateway], Coroutine[Any, Any, None]]], None]


@pytest.fixture
def within(service: Service, proxy: Proxy, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Within]:
    """Runs something against the gateway, whose hook goes through the faulty proxy."""
    config = {
        "model_list": [
            model("words", mock_response=ANSWER),
            model("broken", mock_response="litellm.InternalServerError"),
            model("embedding", mock_response=[0.1, 0.2]),
            {"model_name": "thinker", "litellm_params": {"model": "words/thinker"}},
        ],
        "general_settings": {"master_key": KEY},
        "litellm_settings": {"num_retries": 0, "callbacks": []},
    }
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps(config), "utf-8")

    def run(work: Callable[[Gateway], Coroutine[Any, Any, None]]) -> None:
        async def all_of_it() -> None:
            async def no_time(seconds: float) -> None:
                await asyncio.sleep(0)

            async with AsyncScrip(service.secret_key, base_url=proxy.base_url, sleep=no_time) as scrip:
                meter = CreditMeter(scrip, cost=cost, draw_every=2)
                Words.thinking, Words.answer = asyncio.Event(), asyncio.Event()
                Words.fails_after = Words.rests_after = None
                litellm.custom_provider_map = [{"provider": "words", "custom_handler": Words()}]
                litellm.utils.custom_llm_setup()
                await proxy_server.initialize(config=str(path))
                litellm.callbacks.append(meter)
                try:
                    await work(Gateway(scrip, meter))
                finally:
                    litellm.callbacks.remove(meter)
                    await settled()

        asyncio.run(asyncio.wait_for(all_of_it(), 300))

    yield run


def model(name: str, **more: Any) -> dict[str, Any]:
    return {"model_name": name, "litellm_params": {"model": f"openai/{name}", "api_key": "none", **more}}


async def settled() -> None:
    """Until what goes on by itself is over."""
    from scrip_wallet import litellm as hook

    await asyncio.sleep(0)
    while hook.tasks:
        await asyncio.gather(*hook.tasks)


def streamed(words: str) -> int:
    return count("words", words)


class TestAnswer:
    def test_is_charged_what_it_took(self, within: Within, user: MakeUser, state: State) -> None:
        name = user(100)

        async def work(gateway: Gateway) -> None:
            reply = await gateway.chat(name)
            assert reply.status == 200, reply.body
            answer = json.loads(reply.body)
            assert answer["choices"][0]["message"]["content"] == ANSWER
            assert state(name) == {"balance": 90 - answer["usage"]["completion_tokens"], "held": 0}

        within(work)

    def test_is_refused_where_credits_are_missing(self, within: Within, user: MakeUser, state: State) -> None:
        name = user(20)

        async def work(gateway: Gateway) -> None:
            for stream in (False, True):
                reply = await gateway.chat(name, stream=stream)
                assert reply.status == 402 and b"insufficient_credits" in reply.body, reply.body
            assert (await gateway.chat("nobody")).status == 402

        within(work)
        assert state(name) == {"balance": 20, "held": 0}

    def test_of_a_new_user_is_paid_by_their_free_credits(
        self, within: Within, service: Service, generous_key: str
    ) -> None:
        async def work(gateway: Gateway) -> None:
            gateway.meter.cost = lambda usage: 2
            async with AsyncScrip(generous_key, base_url=service.base_url) as generous:
                gateway.meter.scrip = generous
                assert (await gateway.chat("gateway")).status == 200
                assert (await generous.wallet("gateway")).balance() == 3

        within(work)

    def test_that_fails_costs_nothing(self, within: Within, user: MakeUser, state: State) -> None:
        name = user(100)

        async def work(gateway: Gateway) -> None:
            for stream in (False, True):
                assert (await gateway.chat(name, model="broken", stream=stream)).status == 500
                assert state(name) == {"balance": 100, "held": 0}

        within(work)

    def test_of_another_kind_is_charged_too(self, within: Within, user: MakeUser, state: State) -> None:
        name = user(1000)

        async def work(gateway: Gateway) -> None:
            body: dict[str, Any] = {"model": "embedding", "user": name, "input": "One, two, three."}
            reply = await gateway.call("/v1/embeddings", body)
            assert reply.status == 200, reply.body
            balance = state(name)["balance"]
            assert state(name) == {"balance": 1000 - PROMPT, "held": 0}
            body = {"model": "words", "user": name, "prompt": "Count.", "max_tokens": 50}
            reply = await gateway.call("/v1/completions", body)
            assert reply.status == 200, reply.body
            assert state(name)["held"] == 0 and state(name)["balance"] <= balance - PROMPT - 10
            balance = state(name)["balance"]
            body = {"model": "words", "max_tokens": 50, "messages": [{"role": "user", "content": "Count."}]}
            reply = await gateway.call("/v1/messages", {**body, "user": name})
            assert reply.status == 200, reply.body
            assert state(name)["held"] == 0 and state(name)["balance"] <= balance - PROMPT - 10

        within(work)

    def test_whose_cost_is_unknown_is_charged_what_was_held(self, within: Within, user: MakeUser, state: State) -> None:
        name = user(100)

        def broken(usage: Usage) -> int:
            raise KeyError(usage.model)

        async def work(gateway: Gateway) -> None:
            gateway.meter.cost, gateway.meter.estimate = broken, lambda data: 30
            assert (await gateway.chat(name)).status == 200
            assert state(name) == {"balance": 70, "held": 0}

        within(work)

    def test_of_nobody_is_refused_and_of_whom_it_may_be_free(self, within: Within) -> None:
        body = {"model": "words", "messages": [{"role": "user", "content": "Count."}]}

        async def work(gateway: Gateway) -> None:
            assert (await gateway.call("/v1/chat/completions", body)).status == 400
            gateway.meter.payer = lambda data, key: None
            for stream in (False, True):
                assert (await gateway.call("/v1/chat/completions", {**body, "stream": stream})).status == 200

        within(work)

    def test_is_paid_where_settling_works_only_later(
        self, within: Within, proxy: Proxy, user: MakeUser, state: State
    ) -> None:
        name = user(100)

        async def work(gateway: Gateway) -> None:
            proxy.only = "/settle"
            proxy.troubles.extend(["unsent"] * 11)
            reply = await gateway.chat(name)
            assert reply.status == 200
            await settled()
            spent = PROMPT + json.loads(reply.body)["usage"]["completion_tokens"]
            assert state(name) == {"balance": 100 - spent, "held": 0}

        within(work)

    def test_is_not_given_where_credits_cannot_be_asked_for(
        self, within: Within, proxy: Proxy, user: MakeUser, state: State
    ) -> None:
        name = user(100)

        async def work(gateway: Gateway) -> None:
            proxy.troubles.extend(["unsent"] * 4)
            assert (await gateway.chat(name)).status == 503

        within(work)
        assert state(name) == {"balance": 100, "held": 0}


class TestMember:
    def test_who_used_their_share_is_refused_and_others_are_not(
        self, within: Within, scrip: Scrip, user: MakeUser, state: State
    ) -> None:
        team = user(1000)
        scrip.set_limits([NewLimit("member:*", 80, "month")], external_user_id=team)

        async def work(gateway: Gateway) -> None:
            gateway.meter.payer = lambda data, key: team
            gateway.meter.member = "user"
            reply = await gateway.chat("ann")
            spent = {"ann": PROMPT + json.loads(reply.body)["usage"]["completion_tokens"]}
            for stream in (False, True):
                reply = await gateway.chat("ann", stream=stream)
                assert reply.status == 403 and b"limit_exceeded" in reply.body and b"resetsAt" in reply.body
            assert (await gateway.chat("bob", stream=True)).status == 200
            await settled()
            spent["bob"] = PROMPT + streamed(ANSWER)
            for member in spent:
                (limit,) = scrip.limits(external_user_id=team, member=member)
                assert (limit.used, limit.held) == (spent[member], 0)
            assert state(team) == {"balance": 1000 - sum(spent.values()), "held": 0}

        within(work)

    def test_a_stream_ends_where_it_would_go_over_a_limit(self, within: Within, scrip: Scrip, user: MakeUser) -> None:
        team = user(1000)
        scrip.set_limits([NewLimit("member:*", PROMPT + 8, "day")], external_user_id=team)

        async def work(gateway: Gateway) -> None:
            gateway.meter.payer, gateway.meter.member = lambda data, key: team, "user"
            gateway.meter.estimate = lambda data: 5
            reply = await gateway.chat("ann", stream=True)
            assert reply.words() != ANSWER and b"A limit is reached" in reply.body

        within(work)
        (limit,) = scrip.limits(external_user_id=team, member="ann")
        assert (limit.remaining, limit.held) == (0, 0)

    def test_a_key_is_named_by_its_hash_and_a_team_by_its_id(self) -> None:
        key = UserAPIKeyAuth(api_key="sk-virtual", team_id="red")
        assert member_of("key", {}, key) == hash_token("sk-virtual")
        assert member_of("team", {}, key) == "red"
        assert member_of("team", {}, UserAPIKeyAuth()) is member_of(None, {"user": "ann"}, key) is None


class TestStream:
    def test_is_charged_what_it_said(self, within: Within, user: MakeUser, state: State) -> None:
        name = user(100)

        async def work(gateway: Gateway) -> None:
            reply = await gateway.chat(name, stream=True)
            assert (reply.status, reply.words()) == (200, ANSWER)
            assert state(name) == {"balance": 90 - streamed(ANSWER), "held": 0}

        within(work)

    @pytest.mark.parametrize("path", ["/v1/completions", "/v1/messages", "/v1/responses"])
    def test_of_another_kind_is_charged_too(self, within: Within, user: MakeUser, state: State, path: str) -> None:
        whole, left = user(3000), user(3000)

        async def work(gateway: Gateway) -> None:
            Words.answer.set()
            asked = {"/v1/completions": {"prompt": "Count."}, "/v1/responses": {"input": "Count."}}
            chat = {"messages": [{"role": "user", "content": "Count."}]}
            body: dict[str, Any] = {"model": "thinker", "max_tokens": 50, "stream": True, **asked.get(path, chat)}
            reply = await gateway.call(path, {**body, "user": whole})
            assert reply.status == 200, reply.body
            await settled()
            assert streamed(ANSWER) <= 2990 - state(whole)["balance"] <= streamed(ANSWER) + 2
            assert state(whole)["held"] == 0
            Words.rests_after = 5
            await gateway.call(path, {**body, "user": left}, leave_after=5)
            while state(left)["held"]:
                await asyncio.sleep(0)
            assert streamed("one") <= 2990 - state(left)["balance"] <= streamed("one two three four five ")

        within(work)

    def test_that_is_left_at_any_chunk_is_paid_as_far_as_it_came(
        self, within: Within, user: MakeUser, state: State
    ) -> None:
        async def work(gateway: Gateway) -> None:
            name = user(100)
            whole = await gateway.chat(name, stream=True)
            came = []
            for leave_after in range(1, len(whole.chunks) + 1):
                name = user(100)
                reply = await gateway.chat(name, stream=True, leave_after=leave_after)
                await settled()
                assert len(reply.chunks) == leave_after
                spent = 100 - state(name)["balance"]
                assert state(name)["held"] == 0
                assert spent == PROMPT + streamed(reply.words()), reply.words()
                came.append(spent)
            assert len(set(came)) > 10

        within(work)

    @pytest.mark.parametrize(
        ("stream", "cancels", "spent"), [(True, False, 0), (False, True, 0), (False, False, PROMPT + 16)]
    )
    def test_that_is_left_while_the_model_thinks_is_paid_only_where_it_goes_on(
        self,
        within: Within,
        user: MakeUser,
        state: State,
        monkeypatch: pytest.MonkeyPatch,
        stream: bool,
        cancels: bool,
        spent: int,
    ) -> None:
        name = user(100)

        async def work(gateway: Gateway) -> None:
            monkeypatch.setitem(proxy_server.general_settings, "cancel_on_disconnect", cancels)
            call = asyncio.create_task(gateway.chat(name, model="thinker", stream=stream, leave_after=0))
            await Words.thinking.wait()
            assert state(name)["held"] > 0
            await asyncio.sleep(0)
            Words.answer.set()
            await call
            await settled()
            assert state(name) == {"balance": 100 - spent, "held": 0}

        within(work)

    def test_that_is_left_over_a_real_connection_is_paid_as_far_as_it_came(
        self, within: Within, user: MakeUser, state: State
    ) -> None:
        name = user(100)

        async def work(gateway: Gateway) -> None:
            server = uvicorn.Server(uvicorn.Config(proxy_server.app, port=0, lifespan="off", log_level="error"))
            serving = asyncio.create_task(server.serve())
            while not server.started:
                await asyncio.sleep(0)
            port = server.servers[0].sockets[0].getsockname()[1]
            address = f"http://127.0.0.1:{port}/v1/chat/completions"
            Words.answer.set()
            Words.rests_after = 5
            messages = [{"role": "user", "content": "Count."}]
            body = {"model": "thinker", "user": name, "messages": messages, "max_tokens": 50, "stream": True}
            came = ""
            async with httpx.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {KEY}"}) as client:
                async with client.stream("POST", address, json=body) as reply:
                    async for line in reply.aiter_lines():
                        came += Reply(chunks=[line.encode()]).words()
                        if len(came.split()) == 5:
                            break
            while state(name)["held"]:
                await asyncio.sleep(0)
            assert came.split() == ANSWER.split()[:5]
            assert state(name) == {"balance": 90 - streamed(came), "held": 0}
            server.should_exit = True
            await serving

        within(work)

    def test_that_breaks_is_paid_as_far_as_it_came(self, within: Within, user: MakeUser, state: State) -> None:
        name = user(100)

        async def work(gateway: Gateway) -> None:
            Words.answer.set()
            Words.fails_after = 5
            reply = await gateway.chat(name, model="thinker", stream=True)
            await settled()
            assert reply.words().split() == ANSWER.split()[:5]
            assert state(name) == {"balance": 90 - streamed(reply.words()), "held": 0}

        within(work)

    def test_that_nobody_can_pay_on_ends_there(self, within: Within, user: MakeUser, state: State) -> None:
        name = user(20)

        async def work(gateway: Gateway) -> None:
            gateway.meter.estimate = lambda data: 12
            Words.answer.set()
            reply = await gateway.chat(name, model="thinker", stream=True)
            await settled()
            assert b"Out of credits" in reply.body, reply.body
            assert 0 <= state(name)["balance"] <= 1 and state(name)["held"] == 0
            assert 8 <= len(reply.words().split()) <= 10

        within(work)

    def test_goes_on_while_draws_fail_and_is_paid_at_its_end(
        self, within: Within, proxy: Proxy, user: MakeUser, state: State
    ) -> None:
        name = user(100)

        async def work(gateway: Gateway) -> None:
            proxy.only = "/draw"
            proxy.troubles.extend(["lost", "unsent", "lost", "lost"] * 3)
            reply = await gateway.chat(name, stream=True)
            assert reply.words() == ANSWER
            assert state(name) == {"balance": 90 - streamed(ANSWER), "held": 0}

        within(work)


class TestHooks:
    """As LiteLLM might call them: twice, in another order, or not at all."""

    def test_that_all_come_charge_once(
        self, within: Within, user: MakeUser, state: State, caplog: pytest.LogCaptureFixture
    ) -> None:
        name = user(200)

        async def work(gateway: Gateway) -> None:
            meter = gateway.meter
            answer = litellm.ModelResponse(usage=litellm.Usage(prompt_tokens=3, completion_tokens=7, total_tokens=10))
            data = await begin(meter, name)
            other = await begin(meter, name)
            for _ in range(2):
                await meter.async_post_call_success_hook(data, None, answer)
            await meter.async_post_call_failure_hook(data, RuntimeError(), None)
            async for _ in meter.async_post_call_streaming_iterator_hook(None, chunks(), data):
                pass
            assert state(name) == {"balance": 200 - 17 - 60, "held": 60}
            await meter.async_post_call_failure_hook(other, RuntimeError(), None)
            await meter.async_post_call_success_hook(other, None, answer)
            assert state(name) == {"balance": 183, "held": 0}
            assert not [record for record in caplog.records if record.name == "scrip_wallet.litellm"]

        within(work)

    @pytest.mark.parametrize(
        ("answer", "least", "most"),
        [
            ({"type": "message", "content": [{"type": "text", "text": ANSWER}], "usage": CACHED}, 12_150, 12_150),
            ({"choices": [{"message": {"content": ANSWER}}]}, 17, 40),
            (
                {"choices": [{"message": {"content": ANSWER}}], "usage": {"prompt_tokens": 0, "completion_tokens": 0}},
                17,
                40,
            ),
            ({"choices": [{"message": {"tool_calls": [CALL]}}], "usage": {"prompt_tokens": 100}}, 600, 2_200),
            ({"output": [{"type": "message", "content": [{"type": "output_text", "text": ANSWER}]}]}, 17, 40),
        ],
    )
    def test_charge_what_was_measured_and_estimate_what_was_not(
        self, within: Within, user: MakeUser, state: State, answer: dict[str, Any], least: int, most: int
    ) -> None:
        name = user(20_000)

        async def work(gateway: Gateway) -> None:
            usages: list[Usage] = []

            def total(usage: Usage) -> int:
                usages.append(usage)
                return usage.total_tokens

            gateway.meter.cost = total
            data = await begin(gateway.meter, name)
            await gateway.meter.async_post_call_success_hook(data, None, answer)
            assert least <= 20_000 - state(name)["balance"] <= most
            assert state(name)["held"] == 0
            assert usages[-1].estimated == (least != most) and sum(usages[-1].units.values()) == usages[-1].total_tokens
            entry = (await gateway.scrip.ledger(external_user_id=name)).items[0]
            estimated = {"estimated": True} if usages[-1].estimated else {}
            assert entry.meta == {"feature": "words", **estimated}

        within(work)

    @pytest.mark.parametrize("measured", [True, False])
    @pytest.mark.parametrize("kind", STREAMS)
    def test_charge_a_stream_as_its_provider_sends_it(
        self, within: Within, user: MakeUser, state: State, kind: str, measured: bool
    ) -> None:
        name = user(20_000)
        pieces, cost = STREAMS[kind]
        least, most = (cost, cost) if measured else (6, 60)

        async def stream() -> AsyncIterator[Any]:
            for piece in pieces:
                sent = piece if measured else without_usage(piece)
                # Anthropic's own form is passed on as it came.
                sse = kind.startswith("Anthropic")
                yield f"event: {piece['type']}\ndata: {json.dumps(sent)}\n\n".encode() if sse else sent

        async def work(gateway: Gateway) -> None:
            gateway.meter.cost = lambda usage: usage.total_tokens
            data = await begin(gateway.meter, name)
            hook = gateway.meter.async_post_call_streaming_iterator_hook
            assert len([piece async for piece in hook(None, stream(), data)]) == len(pieces)
            assert least <= 20_000 - state(name)["balance"] <= most
            assert state(name)["held"] == 0
            entry = (await gateway.scrip.ledger(external_user_id=name)).items[0]
            assert (entry.meta or {}).get("estimated", False) is not measured

        within(work)

    @pytest.mark.parametrize("unusable", [float("nan"), float("inf"), -1])
    def test_charge_what_was_held_where_the_cost_is_no_number(
        self, within: Within, user: MakeUser, state: State, unusable: float
    ) -> None:
        name = user(100)

        async def work(gateway: Gateway) -> None:
            gateway.meter.estimate = lambda data: 30
            data = await begin(gateway.meter, name)
            gateway.meter.cost = lambda usage: unusable
            await gateway.meter.async_post_call_success_hook(data, None, {"choices": []})
            assert state(name) == {"balance": 70, "held": 0}

        within(work)

    def test_of_one_client_do_not_reach_another_call(self, within: Within, user: MakeUser, state: State) -> None:
        name = user(200)

        async def work(gateway: Gateway) -> None:
            # What a client may send along: the identifier of a call, and metadata.
            mine = {"litellm_call_id": "same", "metadata": {"scrip_call": "same"}}
            one, two = await begin(gateway.meter, name, **mine), await begin(gateway.meter, name, **mine)
            await gateway.meter.async_post_call_failure_hook(one, RuntimeError(), None)
            assert state(name)["held"] == 60
            await gateway.meter.async_post_call_failure_hook(
                {**two, "metadata": {"scrip_call": "same"}}, RuntimeError(), None
            )
            assert state(name)["held"] == 60
            await gateway.meter.async_post_call_failure_hook(two, RuntimeError(), None)
            assert state(name)["held"] == 0

        within(work)

    def test_that_never_come_give_it_back_once_the_call_is_forgotten(
        self, within: Within, user: MakeUser, state: State
    ) -> None:
        name = user(100)

        async def work(gateway: Gateway) -> None:
            data: Optional[dict[str, Any]] = await begin(gateway.meter, name)
            assert state(name)["held"] == 60
            data = None
            gc.collect()
            await settled()
            assert state(name) == {"balance": 100, "held": 0}
            data = await begin(gateway.meter, name)
            stream: Any = gateway.meter.async_post_call_streaming_iterator_hook(None, chunks(), data)
            assert await stream.__anext__() == words("one")
            assert await stream.__anext__() == words(" two")
            data = stream = None
            gc.collect()
            # The loop closes what is no longer read.
            while state(name)["held"]:
                await asyncio.sleep(0)
            assert state(name) == {"balance": 90 - streamed("one two"), "held": 0}

        within(work)


class Logging:
    """What LiteLLM keeps of a call."""


async def begin(meter: CreditMeter, user: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Count."}]
    data = {
        "model": "words",
        "user": user,
        "messages": messages,
        "max_tokens": 50,
        "litellm_logging_obj": Logging(),
        **more,
    }
    data["metadata"] = dict(data.get("metadata", {}))
    begun = await meter.async_pre_call_hook(None, None, data, "acompletion")
    assert begun is data
    return data


def words(text: str) -> Any:
    return {"choices": [{"delta": {"content": text}}]}


async def chunks() -> AsyncIterator[Any]:
    for text in ("one", " two", " three", " four"):
        yield words(text)


class TestRateCard:
    """Prices are whole credits, so that balances tell tokens."""

    @pytest.fixture(autouse=True)
    def card(self, service: Service) -> None:
        rates = [
            {"match": {"model": "words"}, "unitPrices": {"input": "1", "cachedInput": "0.5", "output": "2"}},
            {"match": {"model": "thinker"}, "unitPrices": {"input": "1", "output": "2"}},
        ]
        service.admin("PUT", "/rate-cards/lite", {"productId": service.product, "rates": rates})

    def by_card(self, gateway: Gateway) -> CreditMeter:
        gateway.meter.rate_card = "lite"
        return gateway.meter

    def test_an_answer_costs_what_the_provider_counted(self, within: Within, scrip: Scrip, user: MakeUser) -> None:
        name = user(1000)

        async def work(gateway: Gateway) -> None:
            self.by_card(gateway)
            reply = await gateway.chat(name)
            usage = json.loads(reply.body)["usage"]
            (entry, *others) = scrip.ledger(external_user_id=name, reason="deduction").items
            assert others == [] and entry.rate is not None
            assert entry.rate.attributes == {"model": "words"}
            counted = {"input": usage["prompt_tokens"], "output": usage["completion_tokens"], "request": 1}
            assert entry.rate.quantities == counted
            assert entry.delta == -(usage["prompt_tokens"] + 2 * usage["completion_tokens"])
            assert entry.meta == {"feature": "words"}

        within(work)

    def test_a_stream_is_drawn_on_the_way_and_ends_at_what_was_counted(
        self, within: Within, scrip: Scrip, user: MakeUser, state: State
    ) -> None:
        name = user(1000)

        async def work(gateway: Gateway) -> None:
            self.by_card(gateway)
            assert (await gateway.chat(name, stream=True)).words() == ANSWER
            # What was drawn too much on the way came back.
            *entries, _ = scrip.ledger(external_user_id=name).items
            assert len(entries) > 3
            assert [bool(entry.meta and entry.meta.get("estimated")) for entry in entries] == [False] + [True] * 9
            whole = entries[0].rate
            assert whole is not None and whole.quantities == {"input": ASKED, "output": streamed(ANSWER), "request": 1}
            assert sum(entry.delta for entry in entries) == -ASKED - 2 * streamed(ANSWER)
            assert state(name)["held"] == 0

        within(work)

    def test_a_stream_that_is_left_is_paid_as_far_as_it_came(
        self, within: Within, user: MakeUser, state: State
    ) -> None:
        async def work(gateway: Gateway) -> None:
            self.by_card(gateway)
            for leave_after in (1, 5, 9):
                name = user(1000)
                reply = await gateway.chat(name, stream=True, leave_after=leave_after)
                await settled()
                spent = ASKED + 2 * streamed(reply.words())
                assert state(name) == {"balance": 1000 - spent, "held": 0}

        within(work)

    @pytest.mark.parametrize(
        ("usage", "spent"),
        [
            ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 80}}, 70),
            # A side that is in contradiction to itself, or missing, is estimated.
            ({"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 80}}, ASKED + 10),
            (None, ASKED + 2 * streamed(ANSWER)),
            # The service finds more claimed than there is in all.
            ({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 50}, 110),
        ],
    )
    def test_usage_is_priced_or_never_free(
        self, within: Within, user: MakeUser, state: State, usage: Any, spent: int
    ) -> None:
        name = user(1000)

        async def work(gateway: Gateway) -> None:
            meter = self.by_card(gateway)
            data = await begin(meter, name)
            answer = {"choices": [{"message": {"content": ANSWER}}], "usage": usage}
            await meter.async_post_call_success_hook(data, None, answer)
            assert state(name) == {"balance": 1000 - spent, "held": 0}

        within(work)

    def test_a_model_without_a_price_is_refused(self, within: Within, user: MakeUser, state: State) -> None:
        name = user(1000)

        async def work(gateway: Gateway) -> None:
            self.by_card(gateway).attributes = lambda usage: {"model": f"other-{usage.model}"}
            reply = await gateway.chat(name)
            assert reply.status == 400 and b"rate_not_found" in reply.body
            assert state(name) == {"balance": 1000, "held": 0}

        within(work)

    def test_a_settlement_that_is_lost_is_made_once(
        self, within: Within, proxy: Proxy, user: MakeUser, state: State
    ) -> None:
        name = user(1000)

        async def work(gateway: Gateway) -> None:
            self.by_card(gateway)
            proxy.only = "/settle"
            proxy.troubles.extend(["lost"] * 6)
            usage = json.loads((await gateway.chat(name)).body)["usage"]
            await settled()
            spent = usage["prompt_tokens"] + 2 * usage["completion_tokens"]
            assert state(name) == {"balance": 1000 - spent, "held": 0}

        within(work)

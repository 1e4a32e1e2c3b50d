"""The hook for LiteLLM, inside LiteLLM's own proxy, whose models answer without a network."""

import asyncio
import gc
import json
import logging
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

import pytest
from conftest import MakeUser, Service, State
from unkind import Proxy

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
litellm = pytest.importorskip("litellm", reason="LiteLLM is not installed: pip install scrip-client[litellm]")
proxy_server = pytest.importorskip("litellm.proxy.proxy_server", reason="LiteLLM's proxy is not installed")

from scrip import AsyncScrip  # noqa: E402
from scrip.litellm import CreditMeter, Usage, count  # noqa: E402

pytestmark = pytest.mark.usefixtures("draws")

ANSWER = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
KEY = "sk-litellm-master"
PROMPT = 10
"""What every prompt costs here, so that figures are round."""


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


class Gateway:
    """LiteLLM's proxy, called as its server would call it, by clients that may leave."""

    def __init__(self, scrip: AsyncScrip, meter: CreditMeter) -> None:
        self.scrip = scrip
        self.meter = meter

    async def call(self, path: str, body: dict[str, Any], leave_after: Optional[int] = None) -> Reply:
        """`leave_after`: so many pieces of the answer have arrived when the client goes away."""
        reply = Reply()
        gone = asyncio.Event()
        asked = False
        content = json.dumps(body).encode()

        async def receive() -> dict[str, Any]:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": content, "more_body": False}
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                reply.status = message["status"]
                if leave_after == 0:
                    gone.set()
                    await asyncio.sleep(0)
            elif message["type"] == "http.response.body" and message.get("body"):
                reply.chunks.append(message["body"])
                if leave_after is not None and len(reply.chunks) >= leave_after:
                    gone.set()
                    # The server hears of it now.
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
        body = {"model": "words", "user": user, "messages": [{"role": "user", "content": "Count."}], "max_tokens": 50, **more}
        return await self.call("/v1/chat/completions", body, leave_after)


Within = Callable[[Callable[[Gateway], Coroutine[Any, Any, None]]], None]


@pytest.fixture
def within(service: Service, proxy: Proxy, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Within]:
    """Runs something against the gateway, whose hook stands behind the unkind proxy."""
    config = {
        "model_list": [
            model("words", mock_response=ANSWER),
            model("broken", mock_response="litellm.InternalServerError"),
            model("embedding", mock_response=[0.1, 0.2]),
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
                await proxy_server.initialize(config=str(path))
                litellm.callbacks.append(meter)
                try:
                    await work(Gateway(scrip, meter))
                finally:
                    litellm.callbacks.remove(meter)
                    await settled()

        asyncio.run(asyncio.wait_for(all_of_it(), 120))

    yield run


def model(name: str, **more: Any) -> dict[str, Any]:
    return {"model_name": name, "litellm_params": {"model": f"openai/{name}", "api_key": "none", **more}}


async def settled() -> None:
    """Until what goes on by itself is over."""
    from scrip import litellm as hook

    for _ in range(3):
        gc.collect()
        await asyncio.sleep(0)
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

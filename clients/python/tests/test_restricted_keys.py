"""Keys that may do less, against the service itself."""

import asyncio
from typing import Any, Callable

import pytest
from conftest import MakeUser, Service, State

from scrip_wallet import AsyncScrip, Scrip, ScripError


@pytest.fixture
def key(service: Service) -> Callable[..., str]:
    """Makes a key that can do this."""

    def make(*can: str) -> str:
        body = {"kind": "restricted", "name": "Worker", "can": can}
        return str(service.admin("POST", "/keys", body)["key"])

    return make


def lacks(call: Callable[[], Any]) -> Any:
    """What the key lacks for the call."""
    with pytest.raises(ScripError) as caught:
        call()
    error = caught.value
    assert (error.code, error.status, error.passing) == ("permission_missing", 403, False)
    return error.permission


def test_say_what_they_can_do(service: Service, scrip: Scrip, key: Callable[..., str]) -> None:
    with Scrip(key("deduct", "read"), base_url=service.base_url) as restricted:
        me = restricted.me()
    assert (me.project_id, me.key_kind, sorted(me.can or [])) == (service.project, "restricted", ["deduct", "read"])
    assert scrip.me().can is None


@pytest.mark.parametrize("gather", [True, False])
def test_do_that_and_nothing_else(service: Service, user: MakeUser, key: Callable[..., str], gather: bool) -> None:
    name = user(10)
    with Scrip(key("deduct"), base_url=service.base_url, gather=gather) as restricted:
        assert restricted.deduct(external_user_id=name, amount=3).balance == 7
        to: dict[str, Any] = {"external_user_id": name, "product_id": service.product}
        assert lacks(lambda: restricted.credit(**to, amount=5, idempotency_key="more")) == "grant"
        assert lacks(lambda: restricted.wallet(name)) == "read"


def test_do_it_or_are_refused_call_by_call_though_calls_go_together(
    service: Service, user: MakeUser, state: State, key: Callable[..., str]
) -> None:
    name = user(100)

    async def work(secret: str) -> list[Any]:
        async with AsyncScrip(secret, base_url=service.base_url) as restricted:
            calls = [restricted.deduct(external_user_id=name, amount=1, idempotency_key=f"k{n}") for n in range(50)]
            return await asyncio.gather(*calls, return_exceptions=True)

    refused = asyncio.run(work(key("read")))
    assert [(error.permission, error.idempotency_key) for error in refused] == [("deduct", f"k{n}") for n in range(50)]
    assert all(answer.deducted for answer in asyncio.run(work(key("deduct"))))
    assert state(name) == {"balance": 50, "held": 0}

"""All that a back end may do: with any wallet, order and subscription of its project."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Optional

import httpx

from .._call import given
from .._deductions import BATCHES
from .._types import UsageFormat, formatted
from ..errors import ScripError
from ..models import Estimate, Identity, Product, RateCard
from .buying import AsyncBuying
from .credits import AsyncCredits
from .gather import AsyncGatherer
from .history import AsyncHistory
from .holds import AsyncHolds
from .http import AsyncHttp
from .wallets import AsyncWallets


class AsyncScrip(AsyncWallets, AsyncCredits, AsyncHolds, AsyncBuying, AsyncHistory):
    """Calls one Scrip server with a secret key, over shared connections: make one, and keep it.

    `timeout` is how many seconds one attempt may take, `retries` how often a call is made again at most: one that
    had no effect (429, `overloaded`, no connection) always, and one that may be done twice without harm (a read, or
    one with an idempotency key) also where no answer came, or 500, 502, 503 or 504. `Retry-After` is honoured up to
    30 s; a longer one is on the error. With `gather`, deductions, grants, holds and charges of holds that are made
    while others are under way go together, as batches. `transport` and `sleep` stand in for the network and for time.
    """

    def __init__(
        self,
        secret_key: str,
        *,
        base_url: str,
        timeout: float = 15.0,
        retries: int = 3,
        gather: bool = True,
        transport: Optional[httpx.AsyncBaseTransport] = None,
        sleep: Optional[Callable[[float], Awaitable[None]]] = None,
    ) -> None:
        self._http = AsyncHttp(secret_key, base_url, timeout=timeout, retries=retries, transport=transport, sleep=sleep)
        self._gatherers = {kind: AsyncGatherer(self._http, path) for kind, path in BATCHES.items() if gather}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._http.base_url}>"

    async def __aenter__(self) -> "AsyncScrip":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes its connections, once all calls that were gathered have their answers."""
        for gatherer in self._gatherers.values():
            await gatherer.aclose()
        await self._http.aclose()

    async def me(self) -> Identity:
        """What the key is, and of which project."""
        return await self._get("/me", Identity)

    async def products(self) -> list[Product]:
        """What is for sale."""
        return await self._rows("/products", Product, "products")

    async def rate_cards(self) -> list[RateCard]:
        """What things cost."""
        return await self._rows("/rate-cards", RateCard, "rateCards")

    async def rate_card(self, slug: str) -> RateCard:
        """What things cost by one card."""
        # A full stop is a letter of these names.
        if not re.fullmatch(r"[\w.-]*[\w-][\w.-]*", slug, re.ASCII):
            raise ScripError("invalid_request", "This is no rate card.", param="rate_card")
        return await self._get(f"/rate-cards/{slug}", RateCard)

    async def estimate(
        self,
        *,
        rate_card: str,
        attributes: Optional[Mapping[str, str]] = None,
        quantities: Optional[Mapping[str, int]] = None,
        usage: Any = None,
        usage_format: Optional[UsageFormat] = None,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
    ) -> Estimate:
        """What a use would cost by a rate card, in whole credits and exactly; with a wallet, whether it has enough.
        Charges nothing.
        """
        use = formatted({"usage": usage, "usageFormat": usage_format})
        body = given(rateCard=rate_card, attributes=attributes, quantities=quantities, **use)
        who = given(externalUserId=external_user_id, code=code)
        return await self._post("/estimate", Estimate, {**body, **who}, repeatable=True)

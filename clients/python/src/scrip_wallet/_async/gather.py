"""Calls that go together, for those who make them one at a time."""

import random
from typing import Any

from .._call import wait_before
from .._deductions import alone, batch
from .._gather import GatheredCall, Gathering, Results, async_answer, async_drain, async_leave
from .._types import ListedItem
from .._wallets import making
from ..errors import ScripError
from .http import AsyncHttp


class AsyncGatherer:
    """Of one kind of calls, whose batches go to `path`."""

    def __init__(self, http: AsyncHttp, path: str) -> None:
        self._http = http
        self._path = path
        self._gathering = Gathering()

    @property
    def is_open(self) -> bool:
        """Whether calls are gathered now."""
        return self._gathering.is_open

    async def call(self, item: ListedItem, key: str) -> Any:
        """What comes of an item, with as many attempts as it takes."""
        call = self._gathering.call(item, key)
        gathering, http = self._gathering, self._http
        try:
            while True:
                result = await async_answer(gathering, call, self._send, http.pending, http.timeout)
                if not isinstance(result, ScripError):
                    return result
                await self._prepare_next(call, result)
                gathering.again(call)
        except BaseException:
            async_leave(gathering, call, self._send, http.pending)
            raise

    async def _prepare_next(self, call: GatheredCall, failure: ScripError) -> None:
        """Waits before the next attempt, or makes the wallet that it lacked; raises where there should be none."""
        user = vars(call.item).get("external_user_id")
        if failure.code == "wallet_not_found" and user is not None and not call.has_wallet:
            call.has_wallet = True
            return await self._http.call(making(user))
        wait = wait_before(failure, repeatable=True, unsent=False, attempt=call.attempt, chance=random.random())
        if wait is None or call.attempt >= self._http.retries:
            raise failure
        call.attempt += 1
        await self._http.sleep(wait)

    async def _send(self, calls: list[GatheredCall]) -> Results:
        """One attempt."""
        items = [(call.item, call.key) for call in calls]
        if len(items) == 1:
            return [await self._http.call(alone(*items[0]), retries=0)]
        return await self._http.call(batch(self._path, items), retries=0)

    async def aclose(self) -> None:
        """Waits until all have their answers."""
        await async_drain(self._gathering)

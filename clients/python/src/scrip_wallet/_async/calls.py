"""How endpoints are asked. It knows none."""

from collections.abc import Iterable, Mapping
from typing import Any, Optional, TypeVar, Union

from .._call import Answer, Call, new_key
from .._deductions import BATCHES, alone, batch
from .._read import read, rows
from .._types import Listed, ListedItem, Page
from .._wallets import anything, making
from ..errors import ScripError
from .gather import AsyncGatherer
from .http import AsyncHttp

T = TypeVar("T")


class AsyncCalls:
    """What the parts of a client share."""

    _http: AsyncHttp
    _gatherers: dict[type[ListedItem], AsyncGatherer]

    async def _do(self, call: Call[T]) -> T:
        return await self._http.call(call)

    async def _spend(self, call: Call[T]) -> T:
        """Takes from a wallet, or sets aside in it. A user who has none gets one: it may begin with free credits."""
        try:
            return await self._do(call)
        except ScripError as error:
            user = (call.body or {}).get("externalUserId")
            if user is None or error.code != "wallet_not_found":
                raise
        await self._do(making(user))
        return await self._do(call)

    async def _gathered(self, item: ListedItem, own_key: Optional[str] = None) -> Any:
        """Does it, together with others that are asked for at the same time where calls are gathered."""
        key: str = own_key or vars(item)["idempotency_key"] or new_key()
        call = alone(item, key)
        gatherer = self._gatherers.get(type(item))
        if gatherer is None or not gatherer.is_open:
            return await self._spend(call)
        return await gatherer.call(item, key)

    async def _batch(self, kind: type[Listed], items: Iterable[Union[Listed, Mapping[str, Any]]]) -> list[Any]:
        path = BATCHES[kind]
        keyed = [(item, vars(item)["idempotency_key"] or new_key()) for item in map(kind.of, items)]
        results = await self._do(batch(path, keyed))
        lacking = {}
        for at, (result, (item, _)) in enumerate(zip(results, keyed)):
            user = vars(item).get("external_user_id")
            if user is not None and isinstance(result, ScripError) and result.code == "wallet_not_found":
                lacking[at] = user
        for user in dict.fromkeys(lacking.values()):
            await self._do(making(user))
        # They have keys: what was applied is not sent again, and could not be applied twice.
        again = await self._do(batch(path, [keyed[at] for at in lacking])) if lacking else []
        for at, result in zip(lacking, again):
            results[at] = result
        return results

    async def _get(
        self,
        path: str,
        kind: type[T],
        query: Optional[dict[str, Any]] = None,
        headers: Optional[dict[str, str]] = None,
    ) -> T:
        call = Call("GET", path, lambda answer: read(kind, answer.body), query=query, headers=headers, repeatable=True)
        return await self._do(call)

    async def _rows(self, path: str, kind: type[T], name: str, query: Optional[dict[str, Any]] = None) -> list[T]:
        call = Call("GET", path, lambda answer: rows(kind, answer.body, name), query=query, repeatable=True)
        return await self._do(call)

    async def _page(
        self,
        path: str,
        kind: type[T],
        name: str,
        query: dict[str, Any],
        headers: Optional[dict[str, str]] = None,
    ) -> Page[T]:
        def page(answer: Answer) -> Page[T]:
            return Page(rows(kind, answer.body, name), answer.body.get("nextCursor"))

        return await self._do(Call("GET", path, page, query=query, headers=headers, repeatable=True))

    async def _post(
        self,
        path: str,
        kind: type[T],
        body: Optional[dict[str, Any]] = None,
        *,
        headers: Optional[dict[str, str]] = None,
        key: Optional[str] = None,
        own: Any = None,
        repeatable: bool = False,
        spends: bool = False,
    ) -> T:
        def answered(answer: Answer) -> T:
            # A key of this call's own: one of its attempts did it.
            done = {own: anything(answer.body)} if own and answer.replayed else {}
            return read(kind, {**answer.body, **done})

        call = Call(
            "POST", path, answered, body=body, headers=headers, key=key, repeatable=repeatable or key is not None
        )
        return await (self._spend(call) if spends else self._do(call))

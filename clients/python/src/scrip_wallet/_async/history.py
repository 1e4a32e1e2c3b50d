"""Events and usage."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Optional

from .._call import Answer, Call, given
from .._read import Unreadable, instant_text
from .._types import GroupBy, Interval, Page
from ..errors import ScripError
from ..events import Event, read_event
from ..models import Bucket
from .calls import AsyncCalls


class AsyncHistory(AsyncCalls):
    """Events and usage."""

    async def usage(
        self,
        *,
        product_id: Optional[str] = None,
        external_user_id: Optional[str] = None,
        from_: Optional[datetime] = None,
        to: Optional[datetime] = None,
        interval: Optional[Interval] = None,
        by_feature: bool = False,
        group_by: Optional[GroupBy] = None,
    ) -> list[Bucket]:
        """What was granted and used by interval, oldest first: of the project, or of one user's wallet. `group_by`
        adds it by each feature, rate card or model.
        """
        query = given(
            productId=product_id,
            externalUserId=external_user_id,
            to=None if to is None else instant_text(to),
            interval=interval,
            groupBy="feature" if by_feature else group_by,
        )
        if from_ is not None:
            query["from"] = instant_text(from_)
        return await self._rows("/usage", Bucket, "buckets", query)

    async def events(
        self, *, after: Optional[str] = None, types: Sequence[str] = (), limit: Optional[int] = None
    ) -> Page[Event]:
        """A page of what happened, oldest first. To go on, pass `next_cursor` as `after`. 30 days are kept."""
        query = given(after=after, types=",".join(types) or None, limit=limit)

        def page(answer: Answer) -> Page[Event]:
            found = answer.body.get("events")
            if not isinstance(found, list):
                raise Unreadable("events are missing")
            items = [read_event(each) for each in found]
            # Without a cursor, the last event is where to go on: else the same ones would come again for ever.
            last = items[-1].id if items else None
            return Page(items, answer.body.get("nextCursor") or last)

        return await self._do(Call("GET", "/events", page, query=query, repeatable=True))

    async def all_events(self, *, after: Optional[str] = None, types: Sequence[str] = ()) -> AsyncIterator[Event]:
        """All that happened until now, oldest first, read 100 at a time as they are asked for."""
        while True:
            page = await self.events(after=after, types=types, limit=100)
            for event in page.items:
                yield event
            # A page always says where to go on: it is the empty one that ends.
            if not page.items:
                return
            after = page.next_cursor

    async def poll_events(
        self, *, after: Optional[str] = None, types: Sequence[str] = (), interval: float = 5.0
    ) -> AsyncIterator[Event]:
        """All events so far, and then the new ones, for as long as you listen. Remember the `id` of the
        last event that was worked off, and begin `after` it the next time. It asks every `interval` seconds, also
        through trouble that passes.
        """
        while True:
            wait = interval
            try:
                page = await self.events(after=after, types=types, limit=100)
                for event in page.items:
                    yield event
                after = page.next_cursor or after
                if page.items:
                    wait = 0.0
            except ScripError as error:
                if not error.passing:
                    raise
                wait = max(interval, error.retry_after or 0.0)
            if wait:
                await self._http.sleep(wait)

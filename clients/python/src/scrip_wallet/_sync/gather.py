# Made by generate.py from _async/gather.py: do not change it by hand.
"""Calls that go together, for those who make them one at a time."""

import random
from typing import Any

from .._call import wait_before
from .._deductions import alone, batch
from .._gather import GatheredCall, Gathering, Results, answer, drain, leave
from .._types import ListedItem
from .._wallets import making
from ..errors import ScripError
from .http import Http


class Gatherer:
    """Of one kind of calls, whose batches go to `path`."""

    def __init__(self, http: Http, path: str) -> None:
        self._http = http
        self._path = path
        self._gathering = Gathering()

    @property
    def is_open(self) -> bool:
        """Whether calls are gathered now."""
        return self._gathering.is_open

    def call(self, item: ListedItem, key: str) -> Any:
        """What comes of an item, with as many attempts as it takes."""
        call = self._gathering.call(item, key)
        gathering, http = self._gathering, self._http
        try:
            while True:
                result = answer(gathering, call, self._send, http.pending, http.timeout)
                if not isinstance(result, ScripError):
                    return result
                self._prepare_next(call, result)
                gathering.again(call)
        except BaseException:
            leave(gathering, call, self._send, http.pending)
            raise

    def _prepare_next(self, call: GatheredCall, failure: ScripError) -> None:
        """Waits before the next attempt, or makes the wallet that it lacked; raises where there should be none."""
        user = vars(call.item).get("external_user_id")
        if failure.code == "wallet_not_found" and user is not None and not call.has_wallet:
            call.has_wallet = True
            return self._http.call(making(user))
        wait = wait_before(failure, repeatable=True, unsent=False, attempt=call.attempt, chance=random.random())
        if wait is None or call.attempt >= self._http.retries:
            raise failure
        call.attempt += 1
        self._http.sleep(wait)

    def _send(self, calls: list[GatheredCall]) -> Results:
        """One attempt."""
        items = [(call.item, call.key) for call in calls]
        if len(items) == 1:
            return [self._http.call(alone(*items[0]), retries=0)]
        return self._http.call(batch(self._path, items), retries=0)

    def close(self) -> None:
        """Waits until all have their answers."""
        drain(self._gathering)

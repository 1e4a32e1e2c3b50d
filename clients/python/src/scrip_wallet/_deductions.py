"""What batches take, as it is asked for: one, or many."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ._call import Answer, Call, new_key, refusal, segment
from ._read import Unreadable, read
from ._types import BatchItem, CreditItem, HoldItem, ListedItem, SettleItem
from ._wallets import wallet_path
from .errors import ScripError
from .models import STATUSES, PlacedHold

BATCHES: dict[type[ListedItem], str] = {
    BatchItem: "/deductions/batch",
    CreditItem: "/credit/batch",
    HoldItem: "/holds/batch",
    SettleItem: "/settlements/batch",
}
"""Where each kind of item goes as a batch."""


def alone(item: ListedItem, key: str) -> "Call[Any]":
    """An item by itself."""
    body = item.body(key)
    headers = None
    if isinstance(item, SettleItem):
        path = f"/holds/{segment(body.pop('holdId'), 'hold')}/{'draw' if body.pop('keepOpen', False) else 'settle'}"
    elif isinstance(item, CreditItem):
        path = "/credit"
    else:
        # The code is in a header.
        wallet, headers = wallet_path(body.get("externalUserId"), body.pop("code", None))
        path = f"{wallet}/{'holds' if isinstance(item, HoldItem) else 'deduct'}"
    done: Any = lambda answer: item.done(answer.body)  # noqa: E731
    return Call("POST", path, done, body=body, headers=headers, key=key, repeatable=True)


def placing(item: HoldItem) -> "Call[tuple[PlacedHold, bool]]":
    """A hold to be placed; the answer says whether it was there before."""
    call = alone(item, item.idempotency_key or new_key())
    return replace(call, read=lambda answer: (read(PlacedHold, answer.body), answer.replayed))


def batch(path: str, keyed: "Sequence[tuple[ListedItem, str]]") -> "Call[list[Any]]":
    """A batch: what came of each item, a model or its refusal."""
    body = {"items": [item.body(key) for item, key in keyed]}

    def results(answer: Answer) -> list[Any]:
        found = answer.body.get("results")
        if not isinstance(found, list) or len(found) != len(keyed):
            raise Unreadable("results are missing")
        all_results: list[Any] = []
        for result, (item, key) in zip(found, keyed):
            error = result.get("error") if isinstance(result, dict) else None
            if isinstance(error, dict) and isinstance(error.get("code"), str):
                status = STATUSES.get(error["code"], 0)
                refused: ScripError = refusal(
                    {"message": "", **error}, key, status=status, request_id=answer.request_id
                )
                all_results.append(refused)
            else:
                all_results.append(item.done(result))
        return all_results

    return Call("POST", path, results, body=body, repeatable=True)

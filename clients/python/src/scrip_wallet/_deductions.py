"""Deductions as they are asked for, one or many, and other batches."""

from collections.abc import Sequence
from typing import Any

from ._call import Answer, Call, refusal
from ._read import Unreadable, read
from ._types import BatchItem, BatchResult, ListedItem
from ._wallets import wallet_path
from .errors import ScripError
from .models import STATUSES, Deduction

Keyed = tuple[BatchItem, str]
"""A deduction, and the key that it is sent under: its own, or one that is made up."""


def deducting(item: BatchItem, key: str) -> "Call[Deduction]":
    path, headers = wallet_path(item.external_user_id, item.code)
    body = item.body(key)
    # The code is in a header.
    body.pop("code", None)

    def deduction(answer: Answer) -> Deduction:
        return item.done(answer.body) if answer.replayed else read(Deduction, answer.body)

    return Call("POST", f"{path}/deduct", deduction, body=body, headers=headers, key=key, repeatable=True)


def deducting_many(keyed: "list[Keyed]") -> "Call[list[BatchResult]]":
    return batch("/deductions/batch", keyed)


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

"""Deductions as they are asked for, one or many."""

from typing import Any

from ._call import Answer, Call, refusal
from ._read import Unreadable, read
from ._types import BatchItem, BatchResult
from ._wallets import anything, wallet_path
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
        return read(Deduction, own(item, answer.body) if answer.replayed else answer.body)

    return Call("POST", f"{path}/deduct", deduction, body=body, headers=headers, key=key, repeatable=True)


def deducting_many(keyed: "list[Keyed]") -> "Call[list[BatchResult]]":
    body = {"items": [item.body(key) for item, key in keyed]}

    def results(answer: Answer) -> list[BatchResult]:
        found = answer.body.get("results")
        if not isinstance(found, list) or len(found) != len(keyed):
            raise Unreadable("results are missing")
        all_results: list[BatchResult] = []
        for result, (item, key) in zip(found, keyed):
            error = result.get("error") if isinstance(result, dict) else None
            if isinstance(error, dict) and isinstance(error.get("code"), str):
                status = STATUSES.get(error["code"], 0)
                refused: ScripError = refusal(
                    {"message": "", **error}, key, status=status, request_id=answer.request_id
                )
                all_results.append(refused)
            else:
                all_results.append(read(Deduction, own(item, result)))
        return all_results

    return Call("POST", "/deductions/batch", results, body=body, repeatable=True)


def own(item: BatchItem, result: Any) -> Any:
    """A result under a key that was made up for this call: where it is a repeat, this call did it before."""
    if item.idempotency_key is not None or not isinstance(result, dict) or result.get("deducted") is not False:
        return result
    return {**result, "deducted": anything(result)}

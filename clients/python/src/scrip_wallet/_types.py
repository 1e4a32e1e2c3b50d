"""What calls take and give beside the models."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Generic, Literal, Optional, TypeVar, Union

from ._call import given
from ._read import instant_text, read
from ._wallets import anything, wallet_path
from .errors import ScripError
from .models import Credit, Deduction, Draw, PlacedHold

T = TypeVar("T")

OnShortfall = Literal["refuse", "drain", "owe"]
"""What happens where the credits do not cover a cost: nothing is taken; what there is; the rest becomes debt, as far
as it may."""
LedgerReason = Literal["purchase", "deduction", "free_grant", "manual", "refund", "expiry", "reversal", "forgiveness"]
Interval = Literal["hour", "day", "month"]
Ability = Literal["read", "checkout", "portal", "subscriptions"]
"""What a session may do."""


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list. `next_cursor` is None on the last one."""

    items: list[T]
    next_cursor: Optional[str]


Listed = TypeVar("Listed", bound="ListedItem")


@cache
def camel(name: str) -> str:
    return re.sub("_(.)", lambda match: match[1].upper(), name)


class ListedItem:
    """What the items of all batches share."""

    @classmethod
    def of(cls: type[Listed], item: Union[Listed, Mapping[str, Any]]) -> Listed:
        """The same from a dictionary. A misspelled field is refused: of a misspelled key each run would be a new
        operation.
        """
        if isinstance(item, cls):
            return item
        try:
            return cls(**item)  # type: ignore[arg-type]
        except TypeError as error:
            raise ScripError("invalid_request", f"This is no item of a batch: {error}.", param="items") from error

    def body(self, key: str) -> dict[str, Any]:
        """What is sent for it, under this key."""
        sent = {camel(name): value for name, value in vars(self).items()}
        if "externalUserId" in sent:
            wallet_path(sent["externalUserId"], sent["code"])
        if isinstance(sent.get("expiresAt"), datetime):
            sent["expiresAt"] = instant_text(sent["expiresAt"])
        return given(**{**sent, "idempotencyKey": key})

    def done(self, result: Any) -> Any:
        """What came of it, as a model. Under a key that was made up for this call, a repeat is this call's own."""
        raise NotImplementedError

    def _own(self, result: Any, word: str) -> Any:
        if vars(self)["idempotency_key"] is not None or not isinstance(result, dict) or result.get(word) is not False:
            return result
        return {**result, word: anything(result)}


@dataclass(frozen=True)
class BatchItem(ListedItem):
    """One deduction of a batch."""

    amount: int
    external_user_id: Optional[str] = None
    code: Optional[str] = None
    product_id: Optional[str] = None
    idempotency_key: Optional[str] = None
    """Names it: it is applied once. Without one it is applied once in this call."""
    meta: Optional[Mapping[str, Any]] = None
    on_shortfall: Optional[OnShortfall] = None

    def done(self, result: Any) -> Deduction:
        return read(Deduction, self._own(result, "deducted"))


@dataclass(frozen=True)
class CreditItem(ListedItem):
    """One grant of a batch."""

    product_id: str
    amount: int
    external_user_id: Optional[str] = None
    code: Optional[str] = None
    idempotency_key: Optional[str] = None
    """Names it: it is applied once. Without one it is applied once in this call."""
    expires_at: Optional[datetime] = None
    meta: Optional[Mapping[str, Any]] = None

    def done(self, result: Any) -> Credit:
        return read(Credit, self._own(result, "credited"))


@dataclass(frozen=True)
class HoldItem(ListedItem):
    """One hold of a batch."""

    amount: int
    external_user_id: Optional[str] = None
    code: Optional[str] = None
    product_id: Optional[str] = None
    idempotency_key: Optional[str] = None
    """Names it: it is placed once. Without one it is placed once in this call."""
    expires_in_seconds: Optional[int] = None
    max_overrun: Optional[int] = None
    meta: Optional[Mapping[str, Any]] = None

    def done(self, result: Any) -> PlacedHold:
        return read(PlacedHold, result)


@dataclass(frozen=True)
class SettleItem(ListedItem):
    """One settlement of a batch, or with `keep_open` one draw."""

    hold_id: str
    amount: int
    keep_open: Optional[bool] = None
    idempotency_key: Optional[str] = None
    """Names a draw: it is made once. Without one it is made once in this call."""
    on_shortfall: Optional[OnShortfall] = None
    meta: Optional[Mapping[str, Any]] = None

    def body(self, key: str) -> dict[str, Any]:
        sent = super().body(key)
        # A settlement is named by its hold.
        return sent if self.keep_open else {name: sent[name] for name in sent if name != "idempotencyKey"}

    def done(self, result: Any) -> Union[Deduction, Draw]:
        return read(Draw, self._own(result, "deducted")) if self.keep_open else read(Deduction, result)


BatchResult = Union[Deduction, ScripError]
"""What came of an item: a deduction or its refusal."""


@dataclass(frozen=True)
class Outcome:
    """What work under a hold came to."""

    balance: int
    """Credits that can be spent now."""
    charged: int
    """Credits that were taken, draws included."""
    owed: int = 0
    """Credits that became debt."""
    uncovered: int = 0
    """Credits that the work cost and that are not charged."""
    late: bool = False
    """Whether the hold had expired, and the cost was deducted without it."""

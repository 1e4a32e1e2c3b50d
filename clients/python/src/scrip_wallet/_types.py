"""What calls take and give beside the models."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Generic, Literal, Optional, TypeVar, Union

from ._read import instant_text, read
from ._wallets import anything, wallet_path
from .errors import ScripError
from .models import Credit, Deduction, Draw, PlacedHold
from .usage import shape_of, whole_of

T = TypeVar("T")

OnShortfall = Literal["refuse", "drain", "owe"]
"""What happens where the credits do not cover a cost: nothing is taken; what there is; the rest becomes debt, as far
as it may."""
LedgerReason = Literal["purchase", "deduction", "free_grant", "manual", "refund", "expiry", "reversal", "forgiveness"]
Interval = Literal["hour", "day", "month"]
UsageFormat = Literal["openai.chat", "openai.responses", "anthropic", "gemini", "ai-sdk"]
"""Whose usage object it is. Where it is left out its shape says so."""
GroupBy = Literal["feature", "rateCard", "attribute:model", "member"]
Ability = Literal["read", "checkout", "portal", "subscriptions"]
"""What a session may do."""
LimitWindow = Literal["hour", "day", "week", "month", "year", "lifetime"]
LimitUnit = Literal["credits", "operations"]


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list. `next_cursor` is None on the last one."""

    items: list[T]
    next_cursor: Optional[str]


Listed = TypeVar("Listed", bound="ListedItem")


@cache
def camel(name: str) -> str:
    return re.sub("_(.)", lambda match: match[1].upper(), name)


def formatted(sent: dict[str, Any]) -> dict[str, Any]:
    """What is sent, with its usage as one object, and the format of that."""
    if sent.get("usage") is None:
        return sent
    usage, name = whole_of(sent["usage"]), sent.get("usageFormat")
    if name is None:
        shape = shape_of(usage)
        if shape is None:
            message = "No usage_format has the shape of this usage."
            raise ScripError("invalid_request", message, param="usage_format")
        # A model's own usage in the AI SDK has a shape of its own, and the same format.
        name = str(shape["name"]).replace(".model", "")
    return {**sent, "usage": usage, "usageFormat": name}


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
        fields = vars(self)
        if "external_user_id" in fields:
            wallet_path(fields["external_user_id"], fields["code"])
        sent = formatted({camel(name): value for name, value in fields.items() if value is not None})
        if isinstance(sent.get("expiresAt"), datetime):
            sent["expiresAt"] = instant_text(sent["expiresAt"])
        return {**sent, "idempotencyKey": key}

    def done(self, result: Any) -> Any:
        """What came of it, as a model. Under a key that was made up for this call, a repeat is this call's own."""
        raise NotImplementedError

    def _own(self, result: Any, word: str) -> Any:
        if vars(self)["idempotency_key"] is not None or not isinstance(result, dict) or result.get(word) is not False:
            return result
        return {**result, word: anything(result)}


@dataclass(frozen=True)
class BatchItem(ListedItem):
    """One deduction of a batch: of an amount, or of what a rate card prices."""

    amount: Optional[int] = None
    external_user_id: Optional[str] = None
    code: Optional[str] = None
    product_id: Optional[str] = None
    idempotency_key: Optional[str] = None
    """Names it: it is applied once. Without one it is applied once in this call."""
    meta: Optional[Mapping[str, Any]] = None
    on_shortfall: Optional[OnShortfall] = None
    rate_card: Optional[str] = None
    attributes: Optional[Mapping[str, str]] = None
    quantities: Optional[Mapping[str, int]] = None
    usage: Any = None
    usage_format: Optional[UsageFormat] = None
    member: Optional[str] = None
    """Who of those who share the wallet uses them."""

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
    """One hold of a batch: of an amount, or of what a rate card prices."""

    amount: Optional[int] = None
    external_user_id: Optional[str] = None
    code: Optional[str] = None
    product_id: Optional[str] = None
    idempotency_key: Optional[str] = None
    """Names it: it is placed once. Without one it is placed once in this call."""
    expires_in_seconds: Optional[int] = None
    max_overrun: Optional[int] = None
    meta: Optional[Mapping[str, Any]] = None
    rate_card: Optional[str] = None
    attributes: Optional[Mapping[str, str]] = None
    quantities: Optional[Mapping[str, int]] = None
    usage: Any = None
    usage_format: Optional[UsageFormat] = None
    member: Optional[str] = None
    """Who of those who share the wallet uses them."""

    def done(self, result: Any) -> PlacedHold:
        return read(PlacedHold, result)


@dataclass(frozen=True)
class SettleItem(ListedItem):
    """One settlement of a batch, or with `keep_open` one draw: of an amount, or of what a rate card prices."""

    hold_id: str
    amount: Optional[int] = None
    keep_open: Optional[bool] = None
    idempotency_key: Optional[str] = None
    """Names a draw: it is made once. Without one it is made once in this call."""
    on_shortfall: Optional[OnShortfall] = None
    meta: Optional[Mapping[str, Any]] = None
    rate_card: Optional[str] = None
    attributes: Optional[Mapping[str, str]] = None
    quantities: Optional[Mapping[str, int]] = None
    usage: Any = None
    usage_format: Optional[UsageFormat] = None

    def body(self, key: str) -> dict[str, Any]:
        sent = super().body(key)
        # A settlement is named by its hold.
        return sent if self.keep_open else {name: sent[name] for name in sent if name != "idempotencyKey"}

    def done(self, result: Any) -> Union[Deduction, Draw]:
        return read(Draw, self._own(result, "deducted")) if self.keep_open else read(Deduction, result)


BatchResult = Union[Deduction, ScripError]
"""What came of an item: a deduction or its refusal."""


@dataclass(frozen=True)
class NewLimit:
    """How much may be used of a wallet, by whom, for what, in which time."""

    scope: str
    """`wallet`, `member:ann`, `member:*` (each), `feature:image`, `feature:*`, `key:*`."""
    amount: int
    window: LimitWindow
    """In which time, by the calendar of `time_zone`."""
    unit: Optional[LimitUnit] = None
    """What is counted: credits where it is left out."""
    time_zone: Optional[str] = None
    """`Europe/Berlin`; UTC where it is left out."""
    product_id: Optional[str] = None
    alerts_at: Optional[Sequence[int]] = None
    """At which percentages of the amount there is an event, once a window; at most five."""


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
    cost: Optional[str] = None
    """The exact cost by a rate card; with one, as are the next two."""
    rate_version: Optional[int] = None
    """The version of the card."""
    unpriced_usage: Optional[list[str]] = None
    """Counts in the usage that have no price, since the service does not know them."""

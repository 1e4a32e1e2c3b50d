"""What calls take and give beside the models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, Optional, TypeVar, Union

from ._call import given
from ._wallets import wallet_path
from .errors import ScripError
from .models import Deduction

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


@dataclass(frozen=True)
class BatchItem:
    """One deduction of a batch."""

    amount: int
    external_user_id: Optional[str] = None
    code: Optional[str] = None
    product_id: Optional[str] = None
    idempotency_key: Optional[str] = None
    """Names it: it is applied once. Without one it is applied once in this call."""
    meta: Optional[Mapping[str, Any]] = None
    on_shortfall: Optional[OnShortfall] = None

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> "BatchItem":
        """The same from a dictionary. A misspelled field is refused: of a misspelled key each run would be a new
        deduction.
        """
        try:
            return cls(**item)
        except TypeError as error:
            raise ScripError("invalid_request", f"This is no item of a batch: {error}.", param="items") from error

    def body(self, key: str) -> dict[str, Any]:
        wallet_path(self.external_user_id, self.code)
        return given(
            externalUserId=self.external_user_id,
            code=self.code,
            productId=self.product_id,
            amount=self.amount,
            idempotencyKey=key,
            meta=self.meta,
            onShortfall=self.on_shortfall,
        )


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

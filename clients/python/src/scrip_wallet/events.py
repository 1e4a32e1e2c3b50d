"""Events of a project, in the feed and in webhooks: one class for each shape of `data`, distinguished by
`type`, which a type checker narrows. A type that a newer server tells is an `UnknownEvent`.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Optional, Union, get_args, get_type_hints

from ._read import Unreadable, instant, read
from .models import Dispute, Limit, Order, Subscription


@dataclass(frozen=True)
class OrderData:
    order: Order
    """The order as it stood then, as a secret key reads it."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class DisputeData:
    order: Order
    """The order as it stood then, as a secret key reads it."""
    dispute: Dispute
    won: Optional[bool] = None
    """Once it is closed: whether the money is back, or was never taken."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class SubscriptionData:
    wallet_id: str
    subscription: Subscription
    external_user_id: Optional[str] = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class WalletData:
    wallet_id: str
    external_user_id: Optional[str] = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class CreditedData:
    wallet_id: str
    product_id: str
    balance: int
    """Credits that could be spent then."""
    delta: int
    """Credits that came."""
    reason: str
    """Why they came."""
    external_user_id: Optional[str] = None
    order_id: Optional[str] = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class BalanceData:
    wallet_id: str
    product_id: str
    balance: int
    """Credits that could be spent then."""
    external_user_id: Optional[str] = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class DebtData:
    wallet_id: str
    product_id: str
    balance: int
    """Credits that could be spent then."""
    owed: int
    """Credits that were owed then."""
    external_user_id: Optional[str] = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class FrozenData:
    wallet_id: str
    frozen_reason: Optional[str] = None
    """Why, if a reason was given."""
    external_user_id: Optional[str] = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class LimitData:
    wallet_id: str
    limit: Limit
    """The limit, with what its window counted then."""
    percent: Optional[int] = None
    """The percentage of the amount that was passed, with `limit.alert`."""
    member: Optional[str] = None
    """Whose use it was, if it was a member's."""
    external_user_id: Optional[str] = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class ToppedUpData:
    wallet_id: str
    order_id: str
    amount_cents: int
    currency: str
    credits: int
    """Credits that came."""
    product_id: str
    balance: int
    """Credits that could be spent then."""
    external_user_id: Optional[str] = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class TopUpTroubleData:
    wallet_id: str
    reason: Optional[str] = None
    """Why it failed, in the provider's word, or is suspended."""
    order_id: Optional[str] = None
    retryable: bool = False
    """Whether the card is tried again by itself."""
    next_attempt_at: Optional[datetime] = None
    url: Optional[str] = None
    """Where the buyer confirms the payment, with `top_up.action_required`."""
    external_user_id: Optional[str] = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class FeaturesData:
    wallet_id: str
    added: Optional[list[str]] = None
    removed: Optional[list[str]] = None
    features: Optional[list[str]] = None
    """All that it unlocks after it; None where they are more than 12 KiB."""
    external_user_id: Optional[str] = None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class _Event:
    id: str
    """The same in every delivery: do nothing the second time."""
    timestamp: datetime
    """When it happened, by the project's clock."""
    recorded_at: datetime
    """When it was recorded, by the server's: much later where a wallet was not touched for long."""
    raw: dict[str, Any] = field(repr=False, compare=False)
    """All of it, as it was sent."""


@dataclass(frozen=True)
class OrderEvent(_Event):
    type: Literal["order.paid", "order.failed", "order.expired", "order.refunded"]
    data: OrderData


@dataclass(frozen=True)
class DisputeEvent(_Event):
    type: Literal["order.disputed", "order.dispute_closed"]
    data: DisputeData


@dataclass(frozen=True)
class SubscriptionEvent(_Event):
    type: Literal[
        "subscription.started",
        "subscription.renewed",
        "subscription.updated",
        "subscription.past_due",
        "subscription.canceled",
    ]
    data: SubscriptionData


@dataclass(frozen=True)
class WalletCreatedEvent(_Event):
    type: Literal["wallet.created"]
    data: WalletData


@dataclass(frozen=True)
class WalletCreditedEvent(_Event):
    type: Literal["wallet.credited"]
    data: CreditedData


@dataclass(frozen=True)
class BalanceEvent(_Event):
    type: Literal["wallet.balance_low", "wallet.depleted"]
    data: BalanceData


@dataclass(frozen=True)
class DebtEvent(_Event):
    type: Literal["wallet.owing", "wallet.repaid"]
    data: DebtData


@dataclass(frozen=True)
class FrozenEvent(_Event):
    type: Literal["wallet.frozen"]
    data: FrozenData


@dataclass(frozen=True)
class ThawedEvent(_Event):
    type: Literal["wallet.thawed"]
    data: WalletData


@dataclass(frozen=True)
class LimitEvent(_Event):
    type: Literal["limit.alert", "limit.reached"]
    data: LimitData


@dataclass(frozen=True)
class ToppedUpEvent(_Event):
    type: Literal["top_up.succeeded"]
    data: ToppedUpData


@dataclass(frozen=True)
class TopUpTroubleEvent(_Event):
    type: Literal["top_up.failed", "top_up.suspended", "top_up.action_required"]
    data: TopUpTroubleData


@dataclass(frozen=True)
class FeaturesEvent(_Event):
    type: Literal["features.changed"]
    data: FeaturesData


@dataclass(frozen=True)
class UnknownEvent(_Event):
    """One that this client does not know. Answer 2xx to it."""

    type: Literal["unknown"]
    name: str
    """Its type, as it was sent."""
    data: dict[str, Any]


KnownEvent = Union[
    OrderEvent,
    DisputeEvent,
    SubscriptionEvent,
    WalletCreatedEvent,
    WalletCreditedEvent,
    BalanceEvent,
    DebtEvent,
    FrozenEvent,
    ThawedEvent,
    LimitEvent,
    ToppedUpEvent,
    TopUpTroubleEvent,
    FeaturesEvent,
]
Event = Union[KnownEvent, UnknownEvent]
"""Any event. `if event.type == "order.paid"` makes `event.data` an order's."""


def _kinds() -> dict[str, tuple[Any, type[Any]]]:
    found: dict[str, tuple[Any, type[Any]]] = {}
    for kind in get_args(KnownEvent):
        hints = get_type_hints(kind)
        found.update({name: (kind, hints["data"]) for name in get_args(hints["type"])})
    return found


KINDS = _kinds()


def read_event(value: Any, event_id: Optional[str] = None) -> Event:
    """An event as it is sent. A webhook has its id in a header, not in its body."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str) or not isinstance(value.get("data"), dict):
        raise Unreadable("this is no event")
    name, data = value["type"], value["data"]
    happened = instant(value.get("timestamp"))
    common: dict[str, Any] = {
        "id": event_id if event_id is not None else str(value.get("id", "")),
        "timestamp": happened,
        "recorded_at": instant(value["recordedAt"]) if value.get("recordedAt") else happened,
        "raw": value,
    }
    if name in KINDS:
        kind, of = KINDS[name]
        try:
            event: Event = kind(**common, type=name, data=read(of, data))
            return event
        except Unreadable:
            # An event in a shape that this client does not know is acknowledged all the same.
            pass
    return UnknownEvent(**common, type="unknown", name=name, data=data)

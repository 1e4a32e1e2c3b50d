# Made by generate.py from docs/openapi/api.json: do not change it by hand.
"""What the service answers. Fields that a newer server adds are in `raw`, where all is as it was sent."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Optional

from ._holdings import Holdings


@dataclass(frozen=True)
class Session:
    """A session of a wallet."""

    can: list[str]
    """What it may do: `read`, `checkout`, `portal`, `subscriptions`"""
    expires_at: datetime
    """When it ends."""
    external_user_id: Optional[str]
    """The caller's own id of the user; null where a recovery code opens the wallet."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Identity:
    """Whose key or session it is."""

    key_kind: str
    """`publishable`, `secret`, `restricted` or `session`"""
    mode: str
    """`credit_codes` or `external_users`"""
    project: str
    """The project's name."""
    project_id: str
    """The project's identifier: `proj_…`"""
    can: Optional[list[str]] = None
    """What a restricted key may do; left out for all others."""
    key_id: Optional[str] = None
    """The key's identifier: `key_…`; left out for a session."""
    session: Optional[Session] = None
    """The session; left out for a key."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class FreeGrant:
    """Credits that are granted for free."""

    credits: int
    """Credits of each grant."""
    period: str
    """`once`, `daily`, `weekly`, `monthly` or `yearly`"""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Price:
    """A price of a product; of a subscription, a tier."""

    amount_cents: int
    """In the currency's minor unit."""
    credits_granted: int
    """Credits that it grants; for a subscription tier, each cycle."""
    currency: str
    """ISO 4217, upper case."""
    features: list[str]
    """Features that it unlocks."""
    id: str
    """The price's identifier: `price_…`"""
    interval: str
    """`one_time`, `month` or `year`"""
    credits_expire_after_days: Optional[int] = None
    """Days until the credits expire; left out: never."""
    credits_product_id: Optional[str] = None
    """The product whose balance it fills, where that is not its own."""
    label: Optional[str] = None
    """The tier's name, for a subscription."""
    repeatable: bool = False
    """Whether a wallet that has bought what it unlocks may buy it again."""
    rollover: bool = False
    """Whether a cycle's unused credits stay."""
    trial_credits: Optional[int] = None
    """Credits for those days; left out without them."""
    trial_days: Optional[int] = None
    """Days for which a subscription is free at first; left out: none."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Product:
    """A product with its active prices."""

    id: str
    """The product's identifier: `prod_…`"""
    name: str
    """The product's name."""
    prices: list[Price]
    """Its active prices."""
    type: str
    """`credits`, `subscription` or `one_time`"""
    credit_unit: Optional[str] = None
    """What its credits are called; null when it holds none."""
    description: Optional[str] = None
    """A sentence about it."""
    free_grant: Optional[FreeGrant] = None
    """Credits that every wallet gets each period; null when there are none."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class NextExpiry:
    """Credits that will expire."""

    amount: int
    """How many credits expire."""
    at: datetime
    """When they expire."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Balance:
    """A product's balance in a wallet."""

    balance: int
    """Credits that can be spent now."""
    product_id: str
    """The product of the credits."""
    credit_unit: Optional[str] = None
    """What the credits are called."""
    held: int = 0
    """Credits that open holds set aside; left out when there are none."""
    next_expiry: Optional[NextExpiry] = None
    """What expires next; left out when nothing will."""
    owed: int = 0
    """Credits that are owed: new credits pay them first. Left out when there are none."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class OpenInvoice:
    """A bill of a subscription that waits for the buyer."""

    amount_cents: int
    """What is left to pay, in the currency's minor unit."""
    currency: str
    """ISO 4217, in capitals."""
    next_attempt_at: Optional[datetime]
    """When the provider tries again by itself; null: it does not."""
    url: str
    """The provider's page on which the buyer pays it."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Subscription:
    """A subscription of a wallet."""

    current_period_end: datetime
    """When the cycle that is paid ends."""
    id: str
    """Its identifier, which stays the same for as long as it is there: `sub_…`"""
    price_id: str
    """The price of its tier."""
    product_id: str
    """The subscription's product."""
    status: str
    """`active`, `past_due` or `paused`; `canceled` only where it was asked for by itself"""
    cancel_at_period_end: bool = False
    """Whether it ends with the cycle that is paid; left out when it does not."""
    collection_paused: bool = False
    """Whether its collection is paused for the time being, though it keeps its features; left out where it is
    not.
    """
    label: Optional[str] = None
    """The tier's name."""
    open_invoice: Optional[OpenInvoice] = None
    """The bill that waits for the buyer, whose card was declined or whose bank asks them to confirm; left out
    where none does.
    """
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Wallet(Holdings):
    """A wallet that its recovery code opens."""

    balances: list[Balance]
    """Balances, one for each product."""
    code: str
    """The recovery code: it alone opens the wallet. A session reads `code`, the word for its wallet's code in
    paths.
    """
    features: list[str]
    """Features that the wallet unlocked."""
    subscriptions: list[Subscription]
    """Active and past-due subscriptions."""
    frozen: bool = False
    """Whether the wallet is frozen: its credits cannot be used for now. Left out where it is not."""
    frozen_at: Optional[datetime] = None
    """Since when it is frozen; to secret keys only."""
    frozen_reason: Optional[str] = None
    """Why it is frozen, if a reason was given; to secret keys only."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class PaymentMethod:
    """A card on file, as far as it is shown."""

    brand: str
    """The network of the card."""
    exp_month: int
    """The last month in which it is valid, 1 to 12."""
    exp_year: int
    """The year of that month."""
    last4: str
    """The last four digits of its number."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class ExternalWallet(Holdings):
    """A wallet of a user of the caller's."""

    balances: list[Balance]
    """Balances, one for each product."""
    external_user_id: str
    """The caller's own id of the user."""
    features: list[str]
    """Features that the wallet unlocked."""
    subscriptions: list[Subscription]
    """Active and past-due subscriptions."""
    email: Optional[str] = None
    """The address that was set for mails about the wallet; left out where there is none."""
    frozen: bool = False
    """Whether the wallet is frozen: its credits cannot be used for now. Left out where it is not."""
    frozen_at: Optional[datetime] = None
    """Since when it is frozen; to secret keys only."""
    frozen_reason: Optional[str] = None
    """Why it is frozen, if a reason was given; to secret keys only."""
    payment_method: Optional[PaymentMethod] = None
    """The card on file; left out where there is none."""
    wallet_id: Optional[str] = None
    """The wallet's identifier: `wal_…`"""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Payment:
    """The provider's ids of what belongs to an order."""

    livemode: bool
    """Whether it was real money."""
    provider: str
    """`sandbox` or `stripe`"""
    customer_id: Optional[str] = None
    """The customer's identifier."""
    invoice_id: Optional[str] = None
    """The invoice's identifier."""
    payment_id: Optional[str] = None
    """The payment's identifier."""
    subscription_id: Optional[str] = None
    """The subscription's identifier."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Order:
    """A checkout, a subscription's renewal or its switch to another tier."""

    amount_cents: int
    """The price, and once it is paid what was charged; in the currency's minor unit."""
    balance: int
    """Credits that the wallet can spend now of the product that the order fills."""
    created_at: datetime
    """When it was placed."""
    currency: str
    """ISO 4217, upper case."""
    id: str
    """The order's identifier: `ord_…`"""
    kind: str
    """`checkout`, `renewal` or `switch`"""
    metadata: dict[str, str]
    """The pairs that the checkout was created with."""
    price_id: str
    """The price's identifier."""
    processing: bool
    """Whether the buyer is done and the money is on its way, as with a bank debit. It may be true of an order
    that has expired since: the payment then makes it paid.
    """
    product_id: str
    """The product's identifier."""
    quantity: int
    """How many were bought."""
    refunded_cents: int
    """What was refunded to the buyer, in the currency's minor unit."""
    status: str
    """`pending`, `paid`, `failed`, `refunded` or `expired`"""
    checkout_id: Optional[str] = None
    """The provider's checkout session; null for a renewal or a switch."""
    code: Optional[str] = None
    """The recovery code of the anonymous wallet that it fills. Null for a user's wallet and until the payment
    has made the wallet. A publishable key reads it where the payment made the wallet, or the buyer named the
    code at the checkout; it reads null once the code was replaced, and from a day after the payment on if it
    reads the order by its checkout. A session reads null.
    """
    customer_email: Optional[str] = None
    """The buyer's e-mail address. Left out for a publishable key."""
    external_user_id: Optional[str] = None
    """The caller's own id of the user; null for an anonymous wallet."""
    invoice_url: Optional[str] = None
    """The provider's page about the invoice; null where there is none."""
    paid_at: Optional[datetime] = None
    """When it was paid."""
    payment: Optional[Payment] = None
    """The payment. Left out for a publishable key."""
    receipt_url: Optional[str] = None
    """The provider's page about the payment; null where there is none."""
    wallet_id: Optional[str] = None
    """`wal_…`; null until a payment has made the wallet."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class RatedUse:
    """What was used, and what it cost by a rate card."""

    attributes: dict[str, str]
    """What was used, such as its `model`."""
    card: str
    """The rate card's name."""
    cost: str
    """The exact cost, as a decimal number of credits: of a settlement that of all the work."""
    quantities: dict[str, int]
    """How much of each unit."""
    version: int
    """The number of the card's version."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class LedgerEntry:
    """One change of a balance. An entry never changes."""

    balance_after: int
    """The sum of all deltas of this product up to and with this one: credits that can be spent and those that
    are held, less those that are owed.
    """
    created_at: datetime
    """When the change was made."""
    delta: int
    """Credits added (positive) or removed (negative)."""
    id: str
    """The entry's identifier: `led_…`"""
    product_id: str
    """The product of the credits."""
    reason: str
    """Why: `purchase`, `deduction`, `free_grant`, `manual`, `refund`, `expiry`, `reversal` or `forgiveness`."""
    credit_unit: Optional[str] = None
    """What the credits are called."""
    expires_at: Optional[datetime] = None
    """When the granted credits expire."""
    idempotency_key: Optional[str] = None
    """The key that the caller gave."""
    member: Optional[str] = None
    """The member who used them, if the request named one."""
    meta: Optional[dict[str, Any]] = None
    """The caller's note."""
    order_id: Optional[str] = None
    """The order behind the change."""
    rate: Optional[RatedUse] = None
    """What was used, if a rate card priced it."""
    reverses: Optional[str] = None
    """The deduction that the credits were taken by, of a reversal by hand: `led_…`"""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Deduction:
    """The result of a deduction or of settling a hold. `charged`, `owed` and `uncovered` are there where the
    request said what to do with a shortfall, and where there was one.
    """

    balance: int
    """Credits that can be spent now."""
    deducted: bool
    """Whether this very request took credits; false on a repeat."""
    amount: Optional[int] = None
    """What a rate card charged, in whole credits; with a `rateCard`, as are the next two."""
    charged: Optional[int] = None
    """Credits that were charged, those drawn from the hold before included. With the next two it adds up to the
    amount.
    """
    cost: Optional[str] = None
    """The exact cost, as a decimal number of credits."""
    late: bool = False
    """Whether the hold had expired, and this was done as a deduction under its key; left out where it had not."""
    owed: Optional[int] = None
    """Credits that are owed for it: what it added to the debt."""
    rate_version: Optional[int] = None
    """The version of the card that priced it."""
    uncovered: Optional[int] = None
    """Credits that could neither be charged nor owed."""
    unpriced_usage: Optional[list[str]] = None
    """Counts in `usage` that this server does not know, and so did not price; left out where there were none.
    The entry's `meta` names them, too.
    """
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Credit:
    """The result of a grant."""

    balance: int
    """Credits that can be spent now."""
    credited: bool
    """Whether this very request granted them; false on a repeat."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class PlacedHold:
    """A hold that was placed."""

    amount: int
    """Credits set aside."""
    balance: int
    """Credits that can be spent now."""
    expires_at: datetime
    """When it expires and its credits come back."""
    hold_id: str
    """The hold's identifier: `hold_…`"""
    status: str
    """`open`, unless a repeat finds it `settled`, `released` or `expired`"""
    cost: Optional[str] = None
    """The exact cost by a rate card, as a decimal number of credits; with a `rateCard`, as is the next."""
    rate_version: Optional[int] = None
    """The version of the card that priced it, and prices what is drawn and settled."""
    replayed: bool = False
    """Whether an earlier request placed it: in the results of a batch, which have no header to say so. Left out
    where none did.
    """
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Hold:
    """A hold with its status."""

    amount: int
    """Credits set aside when it was placed."""
    expires_at: datetime
    """When it expires and its credits come back, or when it expired."""
    hold_id: str
    """The hold's identifier: `hold_…`"""
    product_id: str
    """The product of the credits."""
    settled_amount: int
    """Credits deducted when it was settled, those that are owed and those that were drawn included; else 0."""
    status: str
    """`open`, `settled`, `released` or `expired`"""
    drawn: int = 0
    """Credits that were drawn from it while it was open: they stay charged however it ends. Left out when there
    are none.
    """
    max_overrun: int = 0
    """How much the work may come to owe; left out when nothing."""
    owed: int = 0
    """What of the settlement is owed; left out when nothing."""
    uncovered: int = 0
    """What of the cost the settlement could not take; left out when nothing."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Draw:
    """What a draw left of its hold."""

    balance: int
    """Credits that can be spent now."""
    deducted: bool
    """Whether this very request charged credits; false on a repeat."""
    drawn: int
    """Credits drawn from the hold so far."""
    held: int
    """Credits that the hold still sets aside."""
    amount: Optional[int] = None
    """What a rate card charged, in whole credits; with a `rateCard`, as are the next two."""
    cost: Optional[str] = None
    """The exact cost, as a decimal number of credits."""
    rate_version: Optional[int] = None
    """The version of the card that priced it."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Released:
    """The balance after the release."""

    balance: int
    """Credits that can be spent now."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Debt:
    """What is owed, and may be."""

    balance: int
    """Credits that can be spent now."""
    credit_available: int
    """How much more may come to be owed: the limit less what is owed and what open holds reserve."""
    debt_limit: int
    """The limit in force."""
    owed: int
    """Credits that are owed."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Forgiveness:
    """The debt afterwards."""

    amount: int
    """Credits that were forgiven, at most what was owed; on a repeat, those of the first request."""
    balance: int
    """Credits that can be spent now."""
    forgiven: bool
    """Whether this very request forgave them; false on a repeat, and where nothing was owed: then the key is not
    used up.
    """
    owed: int
    """Credits that are still owed."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Checkout:
    """A checkout that waits for its buyer."""

    checkout_id: str
    """The checkout's identifier: `cs_…`"""
    order_id: str
    """The order's identifier: `ord_…`"""
    url: str
    """Where to send the buyer."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class SessionToken:
    """A session, for the browser of the wallet's owner."""

    expires_at: datetime
    """When it ends."""
    token: str
    """The bearer token. It is shown here alone."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class FeatureUse:
    """Credits used for one feature."""

    credits: int
    """Credits that were used for it."""
    deductions: int
    """How often credits were used for it."""
    feature: Optional[str] = None
    """`meta.feature`; null where there was none. At most 200 are kept apart, the rest is `other`."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class UsageGroup:
    """Credits used for one feature, by one rate card or for one model."""

    credits: int
    """Credits that were used."""
    deductions: int
    """How often credits were used."""
    key: Optional[str] = None
    """Which one; null where there was none. At most 200 are kept apart, the rest is `other`."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Bucket:
    """The usage of one interval."""

    deducted: int
    """Credits that were used."""
    deductions: int
    """How often credits were used."""
    expired: int
    """Credits that expired."""
    granted: int
    """Credits bought, given by hand and for free."""
    refunded: int
    """Credits taken for refunds and disputes, less what was given back."""
    start: datetime
    """Its first instant, UTC."""
    features: Optional[list[FeatureUse]] = None
    """What they were used for; with `groupBy=feature`."""
    groups: Optional[list[UsageGroup]] = None
    """The same by what `groupBy` says, the most used first."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Dispute:
    """A buyer's bank asks for an order's money back, or asks what the payment was for."""

    amount_cents: int
    """The disputed amount, in the minor unit of its own currency."""
    currency: str
    """The currency as in ISO 4217, upper case."""
    inquiry: bool
    """Whether it is only an inquiry, for which the bank takes nothing."""
    reason: str
    """The reason, in the provider's word."""
    respond_by: Optional[datetime]
    """Until when an answer is expected; null: none is."""
    won: Optional[bool] = None
    """Once it is closed: whether the money is back, or was never taken."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class FrozenWallet:
    """Whether a wallet is frozen now."""

    frozen: bool
    """Whether it is frozen."""
    wallet_id: str
    """The wallet's identifier: `wal_…`"""
    frozen_at: Optional[datetime] = None
    """Since when it is frozen."""
    frozen_reason: Optional[str] = None
    """Why it is frozen, where that was said."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Reversal:
    """The result of a reversal."""

    amount: int
    """Credits that were given back; on a repeat, those of the first request."""
    balance: int
    """Credits that can be spent now."""
    reversed: bool
    """Whether this very request gave them back; false on a repeat."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class PriceTier:
    """Prices of a rate above a quantity of one unit."""

    from_: int
    """The quantity that has to be passed."""
    unit: str
    """The unit; `input` counts cached and written input as well."""
    unit_prices: dict[str, str]
    """Credits of `per` units. A unit that they leave out keeps its price."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Rate:
    """What units cost for things with some attributes. Of those that match, the one that names most attributes
    counts; then the one with most exact ones; then the one whose texts are longest together.
    """

    match: dict[str, str]
    """The attributes that it is for, at most 8, each exact or with a `*` at its end; `{}` is for all things."""
    above: Optional[list[PriceTier]] = None
    """Prices for all that was used where the quantity of a unit passes a bound: the greatest that applies."""
    free: bool = False
    """Whether it costs nothing, which only this says."""
    minimum: Optional[str] = None
    """The least credits of a deduction or a whole settlement."""
    per: int = 0
    """A power of ten up to 10^9; 1 when left out."""
    unit_prices: Optional[dict[str, str]] = None
    """Credits of `per` units: decimal numbers with at most nine digits after the point, for 1 to 32 units."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class RateCard:
    """A version of a rate card: what things cost in credits."""

    created_at: datetime
    """When it was made."""
    effective_from: datetime
    """When it begins to count."""
    product_id: str
    """The product whose credits these are."""
    rates: list[Rate]
    """What things cost by it."""
    slug: str
    """The card's name."""
    version: int
    """The version's number, from 1."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class EstimateLine:
    """What one unit contributes to a cost."""

    cost: str
    """Exactly, as a decimal number of credits."""
    per: int
    """What the price is for."""
    quantity: int
    """How much of it."""
    unit: str
    """The unit's name."""
    unit_price: str
    """Credits of `per` units."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Estimate:
    """What a use would cost. Nothing is charged."""

    amount: int
    """In whole credits, rounded up."""
    cost: str
    """Exactly, as a decimal number of credits."""
    lines: list[EstimateLine]
    """What each unit contributes."""
    rate_version: int
    """The version of the card."""
    affordable: Optional[bool] = None
    """Whether they cover the amount."""
    balance: Optional[int] = None
    """Credits of the wallet that can be spent now, if one is named."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Limit:
    """A limit with what its window counts so far."""

    amount: int
    """The most that may be used in a window."""
    held: int
    """What open holds set aside."""
    remaining: int
    """How much more may be used."""
    resets_at: Optional[datetime]
    """When the next one begins; null for `lifetime`."""
    scope: str
    """Whose use counts together, or for what: `wallet`, `member:alice`, `member:*` (each), `feature:image`,
    `feature:*`, `key:key_…`, `key:*`.
    """
    source: str
    """Where it comes from: `wallet`, `subscription` or `product`."""
    used: int
    """What was used in the window. A pattern by itself has none."""
    window: str
    """In which time."""
    window_start: Optional[datetime]
    """When the window began; null for `lifetime`."""
    alerts_at: Optional[list[int]] = None
    """At which percentages of the amount to alert."""
    product_id: Optional[str] = None
    """The product whose credits count; of all where it is left out."""
    time_zone: Optional[str] = None
    """Where its calendar is."""
    unit: Optional[str] = None
    """What is counted: `credits` or `operations`."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Consent:
    """What a buyer agreed to."""

    at: datetime
    """When the buyer agreed."""
    text: str
    """The text that the buyer saw."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class AutoTopUp:
    """A wallet's automatic top-up."""

    attempts_today: int
    """The attempts of this day, failed ones included."""
    charged_this_month_cents: int
    """What attempts of this month charged or may yet charge."""
    consent: Optional[Consent]
    """What the buyer agreed to."""
    currency: Optional[str]
    """The currency of what is charged."""
    enabled: bool
    """Whether it is switched on."""
    max_per_day: Optional[int]
    """The most attempts in a day (UTC)."""
    monthly_limit_cents: Optional[int]
    """The most that is charged in a month (UTC), in the currency's minor unit."""
    next_attempt_at: Optional[datetime]
    """Before when no attempt is made."""
    price_id: Optional[str]
    """What is bought; null where it is off, as are the others."""
    reason: Optional[str]
    """Why it is suspended (`declined`, `card_unusable`, `disputed`, `price_changed`, `card_missing`,
    `action_required`), or which ceiling an attempt waits for (`monthly_limit`, `daily_limit`).
    """
    state: str
    """`armed`, `charging`, `cooling_down`, `action_required`, `suspended` or `off`."""
    threshold: Optional[int]
    """The card is charged when fewer credits than these can be spent."""
    action_url: Optional[str] = None
    """The page on which the buyer pays what the bank wants them for; with `action_required`."""
    quantity: Optional[int] = None
    """How many of the price are bought; left out with `target`."""
    target: Optional[int] = None
    """As many of the price are bought as bring what can be spent to this; left out where `quantity` are bought."""
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

ServiceErrorCode = Literal[
    "already_owned",
    "already_refunded",
    "already_reversed",
    "already_subscribed",
    "anonymous_wallets_disabled",
    "balance_limit",
    "body_too_large",
    "conflicting_wallet",
    "currency_mismatch",
    "deduction_not_found",
    "event_not_found",
    "hold_closed",
    "hold_not_found",
    "hold_open",
    "idempotency_key_reused",
    "insufficient_credits",
    "internal_error",
    "invalid_api_key",
    "invalid_discount_code",
    "invalid_request",
    "limit_exceeded",
    "missing_api_key",
    "no_purchase",
    "order_not_found",
    "overloaded",
    "payment_method_confirmation_required",
    "payment_method_required",
    "permission_missing",
    "price_not_found",
    "product_not_found",
    "product_required",
    "project_archived",
    "provider_error",
    "provider_not_configured",
    "rate_card_not_found",
    "rate_limited",
    "rate_not_found",
    "redirect_not_allowed",
    "secret_key_required",
    "session_expired",
    "session_forbidden",
    "subscription_ambiguous",
    "subscription_not_found",
    "too_many_holds",
    "too_many_invalid_codes",
    "too_many_lots",
    "too_many_pending_orders",
    "too_many_scopes",
    "unavailable",
    "unsupported_media_type",
    "wallet_creation_limit",
    "wallet_frozen",
    "wallet_not_found",
]
"""The codes with which the service refuses. A newer one may have others."""

STATUSES: dict[str, int] = {
    "already_owned": 409,
    "already_refunded": 409,
    "already_reversed": 409,
    "already_subscribed": 409,
    "anonymous_wallets_disabled": 403,
    "balance_limit": 409,
    "body_too_large": 413,
    "conflicting_wallet": 400,
    "currency_mismatch": 409,
    "deduction_not_found": 404,
    "event_not_found": 404,
    "hold_closed": 409,
    "hold_not_found": 404,
    "hold_open": 409,
    "idempotency_key_reused": 409,
    "insufficient_credits": 402,
    "internal_error": 500,
    "invalid_api_key": 401,
    "invalid_discount_code": 400,
    "invalid_request": 400,
    "limit_exceeded": 403,
    "missing_api_key": 401,
    "no_purchase": 409,
    "order_not_found": 404,
    "overloaded": 503,
    "payment_method_confirmation_required": 409,
    "payment_method_required": 409,
    "permission_missing": 403,
    "price_not_found": 404,
    "product_not_found": 404,
    "product_required": 400,
    "project_archived": 403,
    "provider_error": 502,
    "provider_not_configured": 409,
    "rate_card_not_found": 404,
    "rate_limited": 429,
    "rate_not_found": 404,
    "redirect_not_allowed": 403,
    "secret_key_required": 403,
    "session_expired": 401,
    "session_forbidden": 403,
    "subscription_ambiguous": 409,
    "subscription_not_found": 404,
    "too_many_holds": 409,
    "too_many_invalid_codes": 429,
    "too_many_lots": 409,
    "too_many_pending_orders": 409,
    "too_many_scopes": 409,
    "unavailable": 503,
    "unsupported_media_type": 415,
    "wallet_creation_limit": 429,
    "wallet_frozen": 403,
    "wallet_not_found": 404,
}
"""The HTTP status of each code."""

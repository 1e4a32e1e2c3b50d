//! Everything that can happen to a wallet. Events are logged, in a form of the log's own.

use super::{
    Owner,
    instruction::Instructed,
    order::{ArchivedOrder, OrderKind, Receipt, Reversal},
    subscription::Subscription,
};
use crate::{
    amount::{Amount, Quantity},
    id::{CodeHash, HoldId, OrderSerial, ProductId, ProjectId, WalletId},
    metadata::Metadata,
    terms::Terms,
    text::{
        CheckoutId, CustomerId, Email, Feature, IdempotencyKey, InvoiceId, Meta, PaymentId,
        SubscriptionId,
    },
    time::{Period, Timestamp},
};
use serde::{Deserialize, Serialize};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// What.
    pub change: Change,
}

/// A wallet's first event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// What callers see.
    pub id: WalletId,
    /// The tenant.
    pub project: ProjectId,
    /// Who may address it.
    pub owner: Owner,
}

/// An order came to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderPlaced {
    /// Names it within the wallet.
    pub order: OrderSerial,
    /// The wallet's tenant.
    pub project: ProjectId,
    /// Why it is there.
    pub kind: OrderKind,
    /// What it buys.
    pub terms: Terms,
    /// How many of it.
    pub quantity: Quantity,
    /// What the caller wrote on it.
    pub metadata: Metadata,
    /// The provider's checkout session.
    pub checkout: Option<CheckoutId>,
    /// The buyer's address.
    pub email: Option<Email>,
    /// When it expires if it is still pending.
    pub expires_at: Timestamp,
}

/// An order was paid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderPaid {
    /// Which.
    pub order: OrderSerial,
    /// The wallet's tenant.
    pub project: ProjectId,
    /// Why it is there.
    pub kind: OrderKind,
    /// When the order would have expired.
    pub expires_at: Timestamp,
    /// What was charged, in the currency's minor unit.
    pub amount_cents: i64,
    /// Credits for it; 0: none.
    pub credits: i64,
    /// When they expire.
    pub credits_expire_at: Option<Timestamp>,
    /// The provider's payment.
    pub payment: Option<PaymentId>,
    /// The provider's invoice.
    pub invoice: Option<InvoiceId>,
    /// The provider's subscription.
    pub subscription: Option<SubscriptionId>,
    /// The provider's name for the buyer.
    pub customer: Option<CustomerId>,
    /// The buyer's address, from the payment or as it was known before.
    pub email: Option<Email>,
    /// Where it was paid.
    pub receipt: Receipt,
}

/// A pending order was not paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderClosed {
    /// Which.
    pub order: OrderSerial,
    /// The wallet's tenant.
    pub project: ProjectId,
    /// When the order would have expired, or did.
    pub expires_at: Timestamp,
}

/// What there is to tell about a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SubscriptionNews {
    /// Its first cycle was paid.
    Started,
    /// Its next cycle was paid.
    Renewed,
    /// Another tier, another end, or a missing payment was made good.
    Updated,
    /// A payment is missing.
    PastDue,
    /// It is over.
    Canceled,
}

/// A subscription started, or is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionChanged {
    /// The wallet's tenant.
    pub project: ProjectId,
    /// When its period was to end before, if it was there.
    pub former_end: Option<Timestamp>,
    /// What there is to tell; `None`: nothing that anybody sees.
    pub news: Option<SubscriptionNews>,
    /// As it is now.
    pub subscription: Subscription,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// The wallet came to be.
    Created(Box<Created>),
    /// A leaked code was replaced.
    CodeRotated {
        /// How the new code is found.
        hash: CodeHash,
        /// The new code, encrypted.
        sealed: Box<[u8]>,
        /// The code that it replaces, if there was one.
        former: Option<CodeHash>,
    },
    /// A period's free credits.
    FreeGranted {
        /// Whose credits.
        product: ProductId,
        /// How many.
        credits: Amount,
        /// Which kind of period.
        period: Period,
        /// The period's first instant.
        start: Timestamp,
        /// The period's end, when the credits expire; never for `once`.
        end: Timestamp,
    },
    /// What nobody held of a lot when its time came.
    LotExpired {
        /// Whose credits.
        product: ProductId,
        /// The lot's number in its account.
        lot: u64,
        /// How many.
        amount: Amount,
    },
    /// A grant by secret key.
    Granted {
        /// Whose credits.
        product: ProductId,
        /// How many.
        amount: Amount,
        /// When they expire.
        expires_at: Option<Timestamp>,
        /// The caller's key.
        key: IdempotencyKey,
        /// The caller's note.
        meta: Option<Meta>,
    },
    /// Credits used.
    Deducted {
        /// Whose credits.
        product: ProductId,
        /// How many.
        amount: Amount,
        /// The caller's key.
        key: IdempotencyKey,
        /// The caller's note.
        meta: Option<Meta>,
    },
    /// Credits set aside.
    HoldPlaced {
        /// The new hold.
        hold: HoldId,
        /// Whose credits.
        product: ProductId,
        /// How many.
        amount: Amount,
        /// When they come back by themselves.
        expires_at: Timestamp,
        /// The caller's key.
        key: IdempotencyKey,
        /// The caller's note.
        meta: Option<Meta>,
        /// Whether a publishable key placed it.
        publishable: bool,
    },
    /// A hold was given more time.
    HoldExtended {
        /// Which.
        hold: HoldId,
        /// Its new end.
        expires_at: Timestamp,
    },
    /// A hold was closed by its cost.
    HoldSettled {
        /// Which.
        hold: HoldId,
        /// Credits deducted; 0 or more, also more than were held.
        amount: i64,
    },
    /// A hold was given back by the caller.
    HoldReleased {
        /// Which.
        hold: HoldId,
    },
    /// A hold was given back by the clock.
    HoldExpired {
        /// Which.
        hold: HoldId,
    },
    /// A feature was unlocked by hand.
    FeatureGranted {
        /// Which.
        feature: Feature,
    },
    /// A manual unlock was taken back.
    FeatureRevoked {
        /// Which.
        feature: Feature,
    },
    /// An order was placed.
    OrderPlaced(Box<OrderPlaced>),
    /// An order was paid and fulfilled.
    OrderPaid(Box<OrderPaid>),
    /// A pending order's payment failed.
    OrderFailed(OrderClosed),
    /// A pending order was not paid in time.
    OrderExpired(OrderClosed),
    /// How much of a payment went back or is disputed was heard of. Also of an order that is not
    /// known yet.
    OrderReversed {
        /// Which.
        order: OrderSerial,
        /// As it stands now.
        reversal: Reversal,
        /// Credits taken (negative) or given back (positive).
        credits: i64,
    },
    /// A subscription started, or is not as it was.
    SubscriptionChanged(Box<SubscriptionChanged>),
    /// A subscription is over and leaves the wallet for its history, or it ended before its first
    /// payment was heard of.
    SubscriptionGone {
        /// Which.
        subscription: SubscriptionId,
    },
    /// A subscription's paid cycles are over: what they left ends, unless it rolls over.
    CycleEnded {
        /// Which.
        subscription: SubscriptionId,
        /// When their credits end.
        ends_at: Timestamp,
    },
    /// A settled order leaves the wallet for its history.
    OrderArchived {
        /// Which.
        order: OrderSerial,
    },
    /// An archived order is back, as it was archived last: what follows changes it.
    OrderRecalled(Box<ArchivedOrder>),
    /// The provider is to do something, or did it, or refused to.
    Instructed(Box<Instructed>),
    /// The money of an order that is not paid is on its way, or is not any more.
    OrderProcessing {
        /// Which.
        order: OrderSerial,
        /// Whether it is.
        on_its_way: bool,
    },
}

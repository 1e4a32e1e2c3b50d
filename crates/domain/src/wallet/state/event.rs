//! Everything that can happen to a wallet. Events are logged, in an encoding of the log's own.

use super::{
    debt::Charged,
    instruction::InstructionRecord,
    order::{ArchivedOrder, OrderErased, OrderKind, Receipt, Reversal},
    owner::Owner,
    reversed::DeductionReversed,
    subscription::Subscription,
};
use crate::{
    amount::{Amount, Quantity},
    history::Taker,
    id::{CodeHash, HoldId, OrderSerial, ProductId, ProjectId, WalletId},
    metadata::Metadata,
    terms::Terms,
    text::{
        CheckoutId, CustomerId, Email, Feature, FreezeReason, IdempotencyKey, InvoiceId, Meta,
        PaymentId, SubscriptionId,
    },
    time::{Period, Timestamp},
};
use serde::{Deserialize, Serialize};

/// One thing that happened to a wallet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When it happened.
    pub at: Timestamp,
    /// What happened, without the instant.
    pub change: Change,
}

/// A wallet's first event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// The wallet's identifier for callers.
    pub id: WalletId,
    /// The project that it belongs to.
    pub project: ProjectId,
    /// Who may address it.
    pub owner: Owner,
}

/// An order was placed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderPlaced {
    /// The order's serial, unique within the wallet.
    pub order: OrderSerial,
    /// The wallet's project.
    pub project: ProjectId,
    /// What led to the order.
    pub kind: OrderKind,
    /// What it buys.
    pub terms: Terms,
    /// The quantity that it buys.
    pub quantity: Quantity,
    /// The caller's own data about it.
    pub metadata: Metadata,
    /// The provider's checkout session.
    pub checkout: Option<CheckoutId>,
    /// The buyer's email address.
    pub email: Option<Email>,
    /// When it expires if it is still pending.
    pub expires_at: Timestamp,
    /// Whether whoever opened the checkout named the wallet by its code.
    pub names_code: bool,
    /// How often the wallet's code had been replaced by then; 0 where the order is first heard of with its payment, and
    /// nobody knows which code its buyer knew.
    pub rotations: u32,
}

/// An order was paid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderPaid {
    /// The order that was paid.
    pub order: OrderSerial,
    /// The wallet's project.
    pub project: ProjectId,
    /// What led to the order.
    pub kind: OrderKind,
    /// When the order would have expired.
    pub expires_at: Timestamp,
    /// What was charged, in the currency's minor unit.
    pub amount_cents: i64,
    /// Credits that it brings, 0 or more.
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
    /// The buyer's email address, from the payment or as it was known before.
    pub email: Option<Email>,
    /// Where it was paid, and the provider's pages about it.
    pub receipt: Receipt,
}

/// A pending order failed or expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderClosed {
    /// The order that failed or expired.
    pub order: OrderSerial,
    /// The wallet's project.
    pub project: ProjectId,
    /// When the order would have expired, or did.
    pub expires_at: Timestamp,
}

/// What a project event says about a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SubscriptionEvent {
    /// Its first cycle was paid.
    Started,
    /// Its next cycle was paid.
    Renewed,
    /// Its tier or its end changed, or a missing payment was made.
    Updated,
    /// A payment is missing.
    PastDue,
    /// It is over.
    Canceled,
}

/// A subscription started or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionChanged {
    /// The wallet's project.
    pub project: ProjectId,
    /// When its period was to end before the change, if it existed.
    pub former_end: Option<Timestamp>,
    /// What a project event says; `None`: nothing visible changed.
    pub subscription_event: Option<SubscriptionEvent>,
    /// The subscription after the change.
    pub subscription: Subscription,
}

/// What happened to a wallet, without the instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// The wallet was created.
    Created(Box<Created>),
    /// A leaked code was replaced.
    CodeRotated {
        /// The keyed hash by which the new code is found.
        hash: CodeHash,
        /// The new code, encrypted.
        sealed: Box<[u8]>,
        /// The code that it replaces, if there was one.
        former: Option<CodeHash>,
    },
    /// A period's free credits were granted.
    FreeGranted {
        /// The product whose credits these are.
        product: ProductId,
        /// Credits that were granted.
        credits: Amount,
        /// The kind of period.
        period: Period,
        /// The period's first instant.
        start: Timestamp,
        /// The period's end, when the credits expire; never for `once`.
        end: Timestamp,
    },
    /// The credits of a lot that no hold had set aside expired.
    LotExpired {
        /// The product whose credits these are.
        product: ProductId,
        /// The lot's number in its account.
        lot: u64,
        /// Credits that expired.
        amount: Amount,
    },
    /// Credits were granted with a secret key.
    Granted {
        /// The product whose credits these are.
        product: ProductId,
        /// Credits that were granted.
        amount: Amount,
        /// When they expire.
        expires_at: Option<Timestamp>,
        /// The caller's key.
        key: IdempotencyKey,
        /// The caller's note.
        meta: Option<Meta>,
    },
    /// Credits were used.
    Deducted {
        /// The product whose credits these are.
        product: ProductId,
        /// Credits that were used.
        amount: Amount,
        /// The caller's key.
        key: IdempotencyKey,
        /// The caller's note.
        meta: Option<Meta>,
    },
    /// Credits were set aside for a hold.
    HoldPlaced {
        /// The new hold.
        hold: HoldId,
        /// The product whose credits these are.
        product: ProductId,
        /// Credits that were set aside.
        amount: Amount,
        /// When the hold expires and they come back.
        expires_at: Timestamp,
        /// The caller's key.
        key: IdempotencyKey,
        /// The caller's note.
        meta: Option<Meta>,
        /// Whether a publishable key placed it.
        publishable: bool,
        /// How often the wallet's code had been replaced by then.
        rotations: u32,
        /// How much the work may come to owe.
        max_overrun: i64,
    },
    /// A hold was given more time.
    HoldExtended {
        /// The hold that was extended.
        hold: HoldId,
        /// Its new end.
        expires_at: Timestamp,
    },
    /// A hold was settled for the cost of the work.
    HoldSettled {
        /// The hold that was settled.
        hold: HoldId,
        /// The whole cost, 0 or more: with what was drawn before, and perhaps more than was held.
        amount: i64,
        /// The part of the cost that is owed.
        owed: i64,
        /// The part of the cost that could neither be charged nor owed.
        uncovered: i64,
        /// The note for the ledger entry, where it is not the hold's.
        meta: Option<Meta>,
    },
    /// A hold was released by the caller.
    HoldReleased {
        /// The hold that was released.
        hold: HoldId,
    },
    /// A hold expired.
    HoldExpired {
        /// The hold that expired.
        hold: HoldId,
    },
    /// A feature was unlocked by hand.
    FeatureGranted {
        /// The feature that was unlocked.
        feature: Feature,
    },
    /// A manual unlock was taken back.
    FeatureRevoked {
        /// The feature that was taken back.
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
    /// The refunded or disputed amount of a payment was reported, possibly for an order that is not known yet.
    OrderReversed {
        /// The order whose payment it is.
        order: OrderSerial,
        /// The amounts as they stand now.
        reversal: Reversal,
        /// Credits taken (negative) or given back (positive).
        credits: i64,
    },
    /// A subscription started or changed.
    SubscriptionChanged(Box<SubscriptionChanged>),
    /// A subscription is over and moves to the wallet's history, or it ended before its first payment was reported.
    SubscriptionGone {
        /// The subscription that is over.
        subscription: SubscriptionId,
    },
    /// A subscription's paid cycles are over: credits left from them end, unless they roll over.
    CycleEnded {
        /// The subscription whose cycles are over.
        subscription: SubscriptionId,
        /// When their credits end.
        ends_at: Timestamp,
    },
    /// A settled order moves from the wallet to its history.
    OrderArchived {
        /// The order that was archived.
        order: OrderSerial,
    },
    /// An archived order is back in the wallet as it was archived last, because what follows changes it.
    OrderRecalled(Box<ArchivedOrder>),
    /// An instruction to the provider was requested, done or refused.
    Instructed(Box<InstructionRecord>),
    /// The money of an unpaid order is on its way, or is not any more.
    OrderProcessing {
        /// The order that is not paid.
        order: OrderSerial,
        /// Whether the money is on its way now.
        on_its_way: bool,
    },
    /// All sessions of the wallet were ended.
    SessionsRevoked,
    /// A part of a hold was charged; the hold stays open.
    HoldDrawn {
        /// The hold that it was drawn from.
        hold: HoldId,
        /// Credits that were charged.
        amount: Amount,
        /// The caller's key.
        key: IdempotencyKey,
        /// The note for the ledger entry, where it is not the hold's.
        meta: Option<Meta>,
    },
    /// Credits were used for a cost that they did not cover, or for work whose hold had expired.
    Charged(Box<Charged>),
    /// A debt was forgiven.
    Forgiven {
        /// The product whose credits were owed.
        product: ProductId,
        /// What the caller asked for; `None`: all of it.
        requested: Option<Amount>,
        /// Credits that are not owed any more.
        amount: Amount,
        /// The caller's key.
        key: IdempotencyKey,
        /// The caller's note.
        meta: Option<Meta>,
    },
    /// The wallet got a limit of debt of its own, or lost it.
    DebtLimitChanged {
        /// The product whose credits may be owed.
        product: ProductId,
        /// The limit; `None`: the product's.
        limit: Option<i64>,
    },
    /// The wallet was frozen, or the reason for that changed.
    Frozen {
        /// Why, if it was said.
        reason: Option<FreezeReason>,
    },
    /// The wallet is not frozen any more.
    Unfrozen,
    /// Credits of a deduction were given back.
    DeductionReversed(Box<DeductionReversed>),
    /// How much of a deduction, or of what a hold was charged, has been given back in all.
    ReversedInAll {
        /// The deduction or the hold.
        of: Taker,
        /// Credits that were given back.
        credits: Amount,
    },
    /// An order's email address and metadata were erased.
    OrderErased(Box<OrderErased>),
}

impl Change {
    /// The order whose state it may change, where it concerns one in the wallet.
    #[must_use]
    pub const fn order(&self) -> Option<OrderSerial> {
        match self {
            Self::OrderPlaced(placed) => Some(placed.order),
            Self::OrderPaid(paid) => Some(paid.order),
            Self::OrderFailed(closed) | Self::OrderExpired(closed) => Some(closed.order),
            Self::OrderErased(erased) => Some(erased.order),
            Self::OrderReversed { order, .. } | Self::OrderProcessing { order, .. } => Some(*order),
            _ => None,
        }
    }

    /// Whether it follows from the clock alone: reading a wallet is enough for it, and nobody used the wallet.
    #[must_use]
    pub const fn is_by_clock(&self) -> bool {
        matches!(
            self,
            Self::FreeGranted { .. }
                | Self::LotExpired { .. }
                | Self::HoldExpired { .. }
                | Self::OrderExpired(_)
                | Self::OrderArchived { .. }
                | Self::SubscriptionGone { .. }
                | Self::CycleEnded { .. }
        )
    }
}

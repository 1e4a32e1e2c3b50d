//! The events of a wallet, which are logged in the log's own encoding.

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
    catalog::MailLocale,
    history::Taker,
    id::{CodeHash, HoldId, OrderSerial, ProductId, ProjectId, WalletId},
    limit::{Counted, Limit},
    metadata::Metadata,
    rate_card::RatedUse,
    terms::Terms,
    text::{
        CheckoutId, CustomerId, Email, Feature, FreezeReason, IdempotencyKey, InvoiceId, Meta,
        PaymentId, SubscriptionId,
    },
    time::{Period, Timestamp},
    top_up::TopUpChange,
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
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct OrderPlaced {
    pub order: OrderSerial,
    pub project: ProjectId,
    pub kind: OrderKind,
    pub terms: Terms,
    pub quantity: Quantity,
    pub metadata: Metadata,
    pub checkout: Option<CheckoutId>,
    pub email: Option<Email>,
    /// The language of mails to the buyer, where it is known.
    pub locale: Option<MailLocale>,
    /// When it expires if it is still pending.
    pub expires_at: Timestamp,
    /// Whether the checkout was opened with the wallet's code.
    pub names_code: bool,
    /// How often the code had been replaced by then; 0 if unknown, because the order is first reported with its
    /// payment.
    pub rotations: u32,
}

/// An order was paid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct OrderPaid {
    pub order: OrderSerial,
    pub project: ProjectId,
    pub kind: OrderKind,
    /// When the order would have expired.
    pub expires_at: Timestamp,
    /// What was charged, in the currency's minor unit.
    pub amount_cents: i64,
    /// Credits that it brings, 0 or more.
    pub credits: i64,
    pub credits_expire_at: Option<Timestamp>,
    pub payment: Option<PaymentId>,
    pub invoice: Option<InvoiceId>,
    pub subscription: Option<SubscriptionId>,
    /// The provider's name for the buyer.
    pub customer: Option<CustomerId>,
    /// The buyer's email address, from the payment or the order.
    pub email: Option<Email>,
    /// Where it was paid, and the provider's pages about it.
    pub receipt: Receipt,
}

/// A pending order failed or expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct OrderClosed {
    pub order: OrderSerial,
    pub project: ProjectId,
    /// When the order would have expired, or did.
    pub expires_at: Timestamp,
}

/// A subscription's change, as a project event reports it.
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
    /// What the project event reports; `None` if nothing visible changed.
    pub subscription_event: Option<SubscriptionEvent>,
    /// The subscription after the change.
    pub subscription: Subscription,
}

/// What happened to a wallet, without the instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Change {
    /// The wallet was created.
    Created(Box<Created>),
    /// A leaked code was replaced.
    CodeRotated {
        hash: CodeHash,
        sealed: Box<[u8]>,
        former: Option<CodeHash>,
    },
    /// A period's free credits were granted.
    FreeGranted {
        product: ProductId,
        credits: Amount,
        period: Period,
        start: Timestamp,
        /// When the period and the credits end; never for `once`.
        end: Timestamp,
    },
    /// The credits of a lot that no hold had set aside expired.
    LotExpired {
        product: ProductId,
        lot: u64,
        amount: Amount,
    },
    /// Credits were granted with a secret key.
    Granted {
        product: ProductId,
        amount: Amount,
        expires_at: Option<Timestamp>,
        key: IdempotencyKey,
        meta: Option<Meta>,
    },
    /// Credits were used.
    Deducted {
        product: ProductId,
        /// 1 or more; 0 where what was used by a rate card stays below a credit.
        amount: i64,
        key: IdempotencyKey,
        meta: Option<Meta>,
        rate: Option<Box<RatedUse>>,
        counted: Option<Box<Counted>>,
    },
    /// Credits were set aside for a hold.
    HoldPlaced {
        hold: HoldId,
        product: ProductId,
        /// 1 or more; 0 for what is free by a rate card.
        amount: i64,
        expires_at: Timestamp,
        key: IdempotencyKey,
        meta: Option<Meta>,
        publishable: bool,
        rotations: u32,
        /// How much the work may owe.
        max_overrun: i64,
        rate: Option<Box<RatedUse>>,
        counted: Option<Box<Counted>>,
    },
    /// A hold was given more time.
    HoldExtended { hold: HoldId, expires_at: Timestamp },
    /// A hold was settled for the cost of the work.
    HoldSettled {
        hold: HoldId,
        /// The whole cost: with what was drawn before, and perhaps more than was held. Below 0 only by a rate card,
        /// where what draws carried below a credit was charged for with other deductions.
        amount: i64,
        owed: i64,
        uncovered: i64,
        /// The note for the ledger entry, where it is not the hold's.
        meta: Option<Meta>,
        rate: Option<Box<RatedUse>>,
        counted: Option<Box<Counted>>,
    },
    /// A hold was released by the caller.
    HoldReleased { hold: HoldId },
    /// A hold expired.
    HoldExpired { hold: HoldId },
    /// A feature was unlocked by hand.
    FeatureGranted { feature: Feature },
    /// A manual grant was revoked.
    FeatureRevoked { feature: Feature },
    /// An order was placed.
    OrderPlaced(Box<OrderPlaced>),
    /// An order was paid and fulfilled.
    OrderPaid(Box<OrderPaid>),
    /// A pending order's payment failed.
    OrderFailed(OrderClosed),
    /// A pending order was not paid in time.
    OrderExpired(OrderClosed),
    /// The refunded or disputed amount of a payment was reported, possibly for an unknown order.
    OrderReversed {
        order: OrderSerial,
        reversal: Reversal,
        /// Credits taken (negative) or given back (positive).
        credits: i64,
    },
    /// A subscription started or changed.
    SubscriptionChanged(Box<SubscriptionChanged>),
    /// A subscription is over and moves to the wallet's history, or it ended before its first payment was reported.
    SubscriptionGone { subscription: SubscriptionId },
    /// A subscription's paid cycles are over: their remaining credits expire, unless they roll over.
    CycleEnded {
        subscription: SubscriptionId,
        /// When their credits end.
        ends_at: Timestamp,
    },
    /// A completed order moves from the wallet to its history.
    OrderArchived { order: OrderSerial },
    /// An archived order returns to the wallet, because the following event changes it.
    OrderRecalled(Box<ArchivedOrder>),
    /// An instruction to the provider was requested, done or refused.
    Instructed(Box<InstructionRecord>),
    /// The payment of an unpaid order is processing, or no longer is.
    OrderProcessing {
        order: OrderSerial,
        on_its_way: bool,
    },
    /// All sessions of the wallet were ended.
    SessionsRevoked,
    /// A part of a hold was charged; the hold stays open.
    HoldDrawn {
        hold: HoldId,
        /// 1 or more; 0 where what was used by a rate card stays below a credit.
        amount: i64,
        key: IdempotencyKey,
        /// The note for the ledger entry, where it is not the hold's.
        meta: Option<Meta>,
        rate: Option<Box<RatedUse>>,
        counted: Option<Box<Counted>>,
    },
    /// Credits were used for a cost that they did not cover, or for work whose hold had expired.
    Charged(Box<Charged>),
    /// A debt was forgiven.
    Forgiven {
        product: ProductId,
        /// What the caller asked for; `None`: all of it.
        requested: Option<Amount>,
        amount: Amount,
        key: IdempotencyKey,
        meta: Option<Meta>,
    },
    /// The wallet's own debt limit was set or removed.
    DebtLimitChanged {
        product: ProductId,
        /// The limit; `None`: the product's.
        limit: Option<i64>,
    },
    /// The wallet was frozen, or the reason for that changed.
    Frozen { reason: Option<FreezeReason> },
    /// The wallet is not frozen any more.
    Unfrozen,
    /// Credits of a deduction were given back.
    DeductionReversed(Box<DeductionReversed>),
    /// The total given back of a deduction or of a hold's charge.
    ReversedInAll { of: Taker, credits: Amount },
    /// An order's email address and metadata were erased.
    OrderErased(Box<OrderErased>),
    /// The wallet's own limits were replaced.
    LimitsSet {
        limits: Vec<Limit>,
        /// The limits that others set for it: what counts for none is forgotten.
        others: Vec<Limit>,
    },
    /// A limit refused a use for the first time in its window.
    LimitRefused(Box<Counted>, ProductId),
    /// The card on file or the automatic top-up changed.
    TopUp(Box<TopUpChange>),
    /// The address for the wallet's mails was set or removed.
    EmailSet(Option<Email>),
}

impl Change {
    /// The order of the wallet that it may change.
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

    /// What limits counted, with the alerts that are due.
    pub(in crate::wallet) fn counted(&self) -> Option<&Counted> {
        match self {
            Self::Deducted { counted, .. }
            | Self::HoldPlaced { counted, .. }
            | Self::HoldSettled { counted, .. }
            | Self::HoldDrawn { counted, .. } => counted.as_deref(),
            Self::Charged(charged) => charged.counted.as_deref(),
            Self::LimitRefused(counted, _) => Some(counted),
            _ => None,
        }
    }

    /// Whether it follows from the clock alone, without anybody using the wallet.
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

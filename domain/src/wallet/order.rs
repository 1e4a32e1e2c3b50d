//! An order: what was bought, how its payment stands, and how much of it went back. Nothing here
//! changes anything; where an order stands is derived, never stored twice. A wallet keeps those that
//! are pending; a settled one is a fact of its history.

use serde::{Deserialize, Serialize};

use super::{dispute::Dispute, lots::CycleTag};
use crate::{
    Quantity,
    catalog::Interval,
    id::{OrderSerial, WalletKey},
    metadata::Metadata,
    terms::Terms,
    text::{CheckoutId, CustomerId, Email, InvoiceId, PageUrl, PaymentId, SubscriptionId},
    time::Timestamp,
};

/// Why there is an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderKind {
    /// A buyer went to the provider's checkout.
    Checkout,
    /// A subscription's next cycle was paid.
    Renewal,
    /// A subscription was switched to another tier, and that was paid.
    Switch,
}

/// Which kind of provider took the money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// The one that is built in and moves no money.
    Sandbox,
    /// Stripe.
    Stripe,
}

/// Where a payment was made, and the provider's pages about it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// Which provider; `None` before the payment.
    pub provider: Option<ProviderKind>,
    /// Whether it was real money.
    pub livemode: bool,
    /// Its page about the payment.
    pub receipt_url: Option<PageUrl>,
    /// Its page about the invoice.
    pub invoice_url: Option<PageUrl>,
}

/// How an order stands, as callers see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderStatus {
    /// The provider completes the checkout.
    Pending,
    /// Paid and fulfilled.
    Paid,
    /// The payment failed.
    Failed,
    /// Paid; all of it went back or is disputed, for now at least.
    Refunded,
    /// Not paid in time. A late payment still counts.
    Expired,
}

/// How far an order's payment came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// The provider completes the checkout.
    Pending,
    /// The payment failed.
    Failed,
    /// Not paid in time.
    Expired,
    /// Paid, whatever went back since.
    Paid,
}

/// What of a payment is not with the seller: as it stands, whatever was reported on the way there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reversal {
    /// Refunds that succeeded or are under way, in the currency's minor unit.
    pub refunded_cents: i64,
    /// What disputes withhold or took, apart from refunds.
    pub disputed_cents: i64,
    /// The newest dispute of it.
    pub dispute: Option<Dispute>,
    /// When the provider was asked; an older answer is old news.
    pub as_of: Timestamp,
}

impl Reversal {
    /// All that is away, of several refunds and disputes together.
    const fn cents(self) -> i64 {
        let Self {
            refunded_cents,
            disputed_cents,
            ..
        } = self;
        // Neither takes from the other, should one ever be below zero.
        at_least_zero(refunded_cents).saturating_add(at_least_zero(disputed_cents))
    }
}

/// Money that callers asked to be given back and that is not seen in the payment yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedBack {
    /// What is back of the payment once all of it went through, in the currency's minor unit.
    pub cents: i64,
    /// When some was last asked for.
    pub at: Timestamp,
}

const fn at_least_zero(cents: i64) -> i64 {
    if cents > 0 { cents } else { 0 }
}

/// One checkout, one renewal or one switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
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
    /// When it was placed.
    pub created_at: Timestamp,
    /// When it expires if it is still pending.
    pub expires_at: Timestamp,
    /// When it was paid and fulfilled.
    pub paid_at: Option<Timestamp>,
    /// The price, and once it is paid what was charged; in the currency's minor unit.
    pub amount_cents: i64,
    /// The buyer's address.
    pub email: Option<Email>,
    /// The provider's payment.
    pub payment: Option<PaymentId>,
    /// The provider's invoice.
    pub invoice: Option<InvoiceId>,
    /// The provider's subscription that it started, renewed or switched.
    pub subscription: Option<SubscriptionId>,
    /// The provider's name for who paid.
    pub customer: Option<CustomerId>,
    /// Where it was paid.
    pub receipt: Receipt,
    /// What went back to the buyer.
    pub reversal: Reversal,
    /// What was asked to go back and is not seen there yet.
    pub asked: Option<AskedBack>,
    /// Credits that its payment added.
    pub granted: i64,
    /// Credits that refunds and disputes took out of them again.
    pub taken: i64,
    /// When its credits expire, or their cycle ended; [`Timestamp::NEVER`]: not yet, or never.
    pub credits_end: Timestamp,
    /// How far its payment came.
    pub stage: Stage,
    /// Whether the provider last said that the money is on its way. See [`Order::is_processing`].
    pub on_its_way: bool,
    /// The lot that its payment filled.
    pub lot: Option<u64>,
    /// Cycles of its subscription that had ended when it was paid.
    pub cycle: u32,
    /// How often its wallet's code had been replaced when it was placed.
    pub rotations: u32,
}

/// A settled order as the wallet's history keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedOrder {
    /// Names it within the wallet.
    pub serial: OrderSerial,
    /// As it stood.
    pub order: Order,
}

impl Order {
    /// Whether it was paid, and not by this: by another payment, or as the start of another subscription. A
    /// bill may be paid by several payments, so a subscription's order goes by that.
    #[must_use]
    pub fn is_paid_by_another(
        &self,
        payment: Option<&PaymentId>,
        subscription: Option<&SubscriptionId>,
    ) -> bool {
        let differs = match (&self.subscription, subscription) {
            (None, None) => self
                .payment
                .as_ref()
                .zip(payment)
                .is_some_and(|(a, b)| a != b),
            (known, told) => known.as_ref() != told,
        };
        self.stage == Stage::Paid && differs
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self) -> OrderStatus {
        match self.stage {
            Stage::Pending => OrderStatus::Pending,
            Stage::Failed => OrderStatus::Failed,
            Stage::Expired => OrderStatus::Expired,
            Stage::Paid if self.is_reversed(self.reversal) => OrderStatus::Refunded,
            Stage::Paid => OrderStatus::Paid,
        }
    }

    /// Whether refunds alone gave all of it back.
    #[must_use]
    pub fn is_refunded(&self) -> bool {
        let back = self.reversal.refunded_cents;
        self.stage == Stage::Paid && back > 0 && back >= self.amount_cents
    }

    /// Whether its money is on its way: the buyer is done and the provider waits for the bank. Also of
    /// one that expired meanwhile.
    #[must_use]
    pub fn is_processing(&self) -> bool {
        self.on_its_way && matches!(self.stage, Stage::Pending | Stage::Expired)
    }

    /// Credits for all of what it buys. More than anybody can count are as many as there can be.
    pub(super) fn credits(&self) -> i64 {
        let all = self.terms.times(self.quantity);
        all.map_or(crate::MAX_CREDITS, |(_, credits)| credits)
    }

    /// Whether it unlocks its features for good, now.
    #[must_use]
    pub fn unlocks(&self) -> bool {
        self.terms.interval == Interval::OneTime && self.status() == OrderStatus::Paid
    }

    /// The cycle that its credits end with, if they end with one.
    pub(super) fn cycle_tag(&self, wallet: &WalletKey) -> Option<CycleTag> {
        let subscription = self.subscription.as_ref();
        let subscription = subscription.filter(|_| !self.terms.rollover)?;
        Some(CycleTag::of(wallet, subscription))
    }

    /// Credits that a reversal is worth.
    pub(super) fn worth(&self, reversal: Reversal) -> i64 {
        if self.is_reversed(reversal) {
            return self.granted;
        }
        // Both factors fit 64 bits. Where nothing was charged, nothing can go back in part.
        let product = i128::from(self.granted).saturating_mul(reversal.cents().into());
        let credits = product.checked_div(self.amount_cents.into()).unwrap_or(0);
        i64::try_from(credits).map_or(self.granted, |credits| {
            credits.clamp(0, self.granted.max(0))
        })
    }

    /// Whether all of it went back, or counts so while it is disputed.
    const fn is_reversed(&self, reversal: Reversal) -> bool {
        let away = reversal.cents();
        away > 0 && (away >= self.amount_cents || self.is_disputed_whole(reversal))
    }

    /// Whether disputes are about nearly all that refunds left: a bank's sum differs a little from what was
    /// charged, by its rates and fees.
    const fn is_disputed_whole(&self, reversal: Reversal) -> bool {
        let left = self
            .amount_cents
            .saturating_sub(at_least_zero(reversal.refunded_cents));
        let disputed = reversal.disputed_cents;
        disputed > 0 && disputed.saturating_mul(10) >= left.saturating_mul(9)
    }
}

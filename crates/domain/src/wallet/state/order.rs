//! An order: what was bought, the state of its payment, and how much was refunded or disputed. Nothing here changes
//! anything; the status is derived, never stored twice. A wallet keeps pending orders; completed ones are in its
//! history.

use serde::{Deserialize, Serialize};

use super::{
    dispute::{Currency, Dispute},
    lots::{CycleTag, LotPrice},
};
use crate::{
    Quantity,
    catalog::Interval,
    id::{OrderSerial, ProjectId, WalletKey},
    metadata::Metadata,
    terms::Terms,
    text::{CheckoutId, CustomerId, Email, InvoiceId, PageUrl, PaymentId, SubscriptionId},
    time::Timestamp,
    top_up::DeclineCode,
};

/// A requested refund that the payment does not show after this time did not happen: no request to the provider takes
/// that long.
const REFUND_TIMEOUT_SECONDS: i64 = 3600;

/// What led to an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderKind {
    /// A buyer went to the provider's checkout.
    Checkout,
    /// A subscription's next cycle was paid.
    Renewal,
    /// A subscription was switched to another tier, and that was paid.
    Switch,
    /// The card on file was charged without the buyer.
    TopUp,
}

/// Which kind of provider took the money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// The sandbox, which is built in and moves no money.
    Sandbox,
    /// A Stripe account.
    Stripe,
}

/// Where a payment was made, and the provider's pages about it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The provider; `None` before the payment.
    pub provider: Option<ProviderKind>,
    /// Whether it was real money.
    pub livemode: bool,
    /// The provider's page about the payment.
    pub receipt_url: Option<PageUrl>,
    /// The provider's page about the invoice.
    pub invoice_url: Option<PageUrl>,
}

/// The status of an order, as callers see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderStatus {
    /// Waiting for the provider to complete the checkout.
    Pending,
    /// Paid and fulfilled.
    Paid,
    /// The payment failed.
    Failed,
    /// Paid, and all of it is refunded or disputed at present.
    Refunded,
    /// Not paid in time. A late payment still counts.
    Expired,
}

/// The stage of an order's payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Waiting for the provider to complete the checkout.
    Pending,
    /// The payment failed.
    Failed,
    /// Not paid in time.
    Expired,
    /// Paid, even if refunded or disputed since.
    Paid,
}

/// How much of a payment is refunded or disputed at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reversal {
    /// Succeeded or pending refunds, in the currency's minor unit.
    pub refunded_cents: i64,
    /// What disputes withhold or took, without refunds.
    pub disputed_cents: i64,
    /// The newest dispute of it.
    pub dispute: Option<Dispute>,
    /// When the provider answered this; older answers are ignored.
    pub as_of: Timestamp,
}

impl Reversal {
    const fn cents(self) -> i64 {
        let Self {
            refunded_cents,
            disputed_cents,
            ..
        } = self;
        // A negative one must not reduce the other.
        at_least_zero(refunded_cents).saturating_add(at_least_zero(disputed_cents))
    }
}

/// Refunds that callers requested and that the payment does not show yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingRefunds {
    /// The total refunded once all of them succeed, in the currency's minor unit.
    pub cents: i64,
    /// When the last one was requested.
    pub at: Timestamp,
}

const fn at_least_zero(cents: i64) -> i64 {
    if cents > 0 { cents } else { 0 }
}

/// One checkout, one renewal or one switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct Order {
    pub kind: OrderKind,
    pub terms: Terms,
    pub quantity: Quantity,
    pub metadata: Metadata,
    pub checkout: Option<CheckoutId>,
    pub created_at: Timestamp,
    /// When it expires if it is still pending.
    pub expires_at: Timestamp,
    /// When it was paid and fulfilled.
    pub paid_at: Option<Timestamp>,
    /// The price, or the charged amount once it is paid, in the currency's minor unit.
    pub amount_cents: i64,
    pub email: Option<Email>,
    pub payment: Option<PaymentId>,
    pub invoice: Option<InvoiceId>,
    /// The provider's subscription that it started, renewed or switched.
    pub subscription: Option<SubscriptionId>,
    pub customer: Option<CustomerId>,
    /// Where it was paid, and the provider's pages about it.
    pub receipt: Receipt,
    /// What is refunded or disputed of the payment.
    pub reversal: Reversal,
    /// Requested refunds that the payment does not show yet.
    pub pending_refunds: Option<PendingRefunds>,
    /// Credits that its payment added.
    pub granted_credits: i64,
    /// Credits that refunds and disputes took out of them again.
    pub reclaimed_credits: i64,
    /// When its credits expire, or their cycle ended; [`Timestamp::NEVER`] if not yet, or never.
    pub credits_end: Timestamp,
    pub stage: Stage,
    /// Whether the provider last reported the payment as processing. See [`Order::is_processing`].
    pub on_its_way: bool,
    /// Why the card on file was declined.
    pub decline: Option<DeclineCode>,
    /// The lot that its payment filled.
    pub lot: Option<u64>,
    /// How many cycles of its subscription had ended when it was paid.
    pub cycle: u32,
    /// Whether the checkout was opened with the wallet's code.
    pub names_code: bool,
    /// How often its wallet's code had been replaced when it was placed; 0 where that is not known.
    pub rotations: u32,
}

/// A completed order in the wallet's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedOrder {
    /// The order's serial, unique within the wallet.
    pub serial: OrderSerial,
    /// The order at that moment.
    pub order: Order,
}

/// An order's personal data was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderErased {
    /// The order within its project.
    pub order: OrderSerial,
    /// The wallet's project.
    pub project: ProjectId,
    /// The address under which the wallet is no longer found, if it had one.
    pub email: Option<Email>,
}

impl Order {
    /// Whether it was paid by another payment or for another subscription. An order of a subscription is compared by
    /// that alone, because an invoice may have several payments.
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
            (own, other) => own.as_ref() != other,
        };
        self.stage == Stage::Paid && differs
    }

    /// The status, derived from the payment, its refunds and its disputes.
    pub fn status(&self) -> OrderStatus {
        match self.stage {
            Stage::Pending => OrderStatus::Pending,
            Stage::Failed => OrderStatus::Failed,
            Stage::Expired => OrderStatus::Expired,
            Stage::Paid if self.is_reversed(self.reversal) => OrderStatus::Refunded,
            Stage::Paid => OrderStatus::Paid,
        }
    }

    /// Whether all of it was refunded, without disputes.
    pub fn is_refunded(&self) -> bool {
        let back = self.reversal.refunded_cents;
        self.stage == Stage::Paid && back > 0 && back >= self.amount_cents
    }

    /// Whether its payment is processing: the buyer is done and the provider waits for the bank. The order may have
    /// expired since.
    pub fn is_processing(&self) -> bool {
        self.on_its_way && matches!(self.stage, Stage::Pending | Stage::Expired)
    }

    /// Credits for the whole quantity, at most [`crate::MAX_CREDITS`].
    pub(in crate::wallet) fn credits(&self) -> i64 {
        let all = self.terms.times(self.quantity);
        all.map_or(crate::MAX_CREDITS, |(_, credits)| credits)
    }

    /// Whether it unlocks its features for good, now.
    pub fn unlocks(&self) -> bool {
        self.terms.interval == Interval::OneTime && self.status() == OrderStatus::Paid
    }

    /// The cycle that its credits end with, if they end with one.
    pub(in crate::wallet) fn cycle_tag(&self, wallet: &WalletKey) -> Option<CycleTag> {
        let subscription = self.subscription.as_ref();
        let subscription = subscription.filter(|_| !self.terms.rollover)?;
        Some(CycleTag::of(wallet, subscription))
    }

    pub(in crate::wallet) fn lot_price(&self) -> Option<LotPrice> {
        let price = LotPrice {
            amount_cents: self.amount_cents,
            currency: Currency::new(&self.terms.currency)?,
            credits: self.granted_credits,
        };
        (price.amount_cents > 0 && price.credits > 0).then_some(price)
    }

    /// Credits that a reversal takes in total, in proportion to the money.
    pub(in crate::wallet) fn worth(&self, reversal: Reversal) -> i64 {
        if self.is_reversed(reversal) {
            return self.granted_credits;
        }
        // Both factors fit 64 bits. If nothing was charged, nothing can be refunded.
        let product = i128::from(self.granted_credits).saturating_mul(reversal.cents().into());
        let credits = product.checked_div(self.amount_cents.into()).unwrap_or(0);
        i64::try_from(credits).map_or(self.granted_credits, |credits| {
            credits.clamp(0, self.granted_credits.max(0))
        })
    }

    const fn is_reversed(&self, reversal: Reversal) -> bool {
        let returned = reversal.cents();
        returned > 0 && (returned >= self.amount_cents || self.is_disputed_whole(reversal))
    }

    /// Whether disputes take at least nine tenths of what refunds left: a bank's sum differs a little by rates and
    /// fees.
    const fn is_disputed_whole(&self, reversal: Reversal) -> bool {
        let left = self
            .amount_cents
            .saturating_sub(at_least_zero(reversal.refunded_cents));
        let disputed = reversal.disputed_cents;
        disputed > 0 && disputed.saturating_mul(10) >= left.saturating_mul(9)
    }
}

impl Order {
    /// How much of the charge can still be refunded: not refunded, requested or disputed yet. 0 without a payment at
    /// the provider.
    pub fn refundable_cents(&self) -> i64 {
        if self.stage != Stage::Paid || self.payment.is_none() {
            return 0;
        }
        let disputed = self.reversal.disputed_cents.max(0);
        let unavailable = self.requested_cents().saturating_add(disputed);
        self.amount_cents.saturating_sub(unavailable).max(0)
    }

    /// The total refunded once all requested refunds succeed.
    fn requested_cents(&self) -> i64 {
        let pending = self.pending_refunds.map_or(0, |pending| pending.cents);
        self.reversal.refunded_cents.max(pending).max(0)
    }

    /// The requested refunds with one more; `None` if the sum overflows.
    pub(in crate::wallet) fn with_refund(
        &self,
        cents: i64,
        at: Timestamp,
    ) -> Option<PendingRefunds> {
        let cents = self.requested_cents().checked_add(cents)?;
        Some(PendingRefunds { cents, at })
    }

    pub(in crate::wallet) fn without_refund(&self, cents: i64) -> Option<PendingRefunds> {
        let pending = self.pending_refunds?;
        let cents = pending.cents.saturating_sub(cents);
        let left = PendingRefunds { cents, ..pending };
        Some(left).filter(|left| left.cents > self.reversal.refunded_cents.max(0))
    }

    /// The requested refunds that this state of the payment does not show.
    pub(in crate::wallet) fn unseen(&self, reversal: Reversal) -> Option<PendingRefunds> {
        self.pending_refunds.filter(|pending| {
            let awaited_until = pending.at.plus_seconds(REFUND_TIMEOUT_SECONDS);
            pending.cents > reversal.refunded_cents && reversal.as_of < awaited_until
        })
    }
}

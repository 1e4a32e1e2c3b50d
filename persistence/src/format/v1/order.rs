//! Orders and what they buy.

use domain::{
    Timestamp, catalog,
    id::{OrderSerial, PriceId, ProductId},
    terms,
    text::{CheckoutId, CustomerId, Email, Feature, InvoiceId, PageUrl, PaymentId, SubscriptionId},
    wallet,
};
use serde::{Deserialize, Serialize};

use super::{
    kind::{Interval, OrderKind, ProviderKind, Stage},
    read::{self, Pairs, broken, instant, millis, some_text, text},
};
use crate::contract::Error;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Terms<'a> {
    price: u128,
    product: u128,
    fills: u128,
    credits: i64,
    expire_after_days: Option<u32>,
    rollover: bool,
    #[serde(borrow)]
    features: Vec<&'a str>,
    interval: Interval,
    trial_days: Option<u32>,
    trial_credits: i64,
    repeatable: bool,
    label: Option<&'a str>,
    amount_cents: i64,
    currency: &'a str,
}

impl<'a> From<&'a terms::Terms> for Terms<'a> {
    fn from(from: &'a terms::Terms) -> Self {
        let terms::Terms {
            price: PriceId(price),
            product: ProductId(product),
            fills: ProductId(fills),
            credits,
            expire_after_days,
            rollover,
            features,
            interval,
            trial_days,
            trial_credits,
            repeatable,
            label,
            amount_cents,
            currency,
        } = from;
        Self {
            price: *price,
            product: *product,
            fills: *fills,
            credits: *credits,
            expire_after_days: *expire_after_days,
            rollover: *rollover,
            features: features.iter().map(Feature::as_str).collect(),
            interval: (*interval).into(),
            trial_days: *trial_days,
            trial_credits: *trial_credits,
            repeatable: *repeatable,
            label: label.as_deref(),
            amount_cents: *amount_cents,
            currency,
        }
    }
}

impl TryFrom<Terms<'_>> for terms::Terms {
    type Error = Error;

    fn try_from(from: Terms<'_>) -> Result<Self, Error> {
        let features = from.features.into_iter();
        Ok(Self {
            price: PriceId(from.price),
            product: ProductId(from.product),
            fills: ProductId(from.fills),
            credits: from.credits,
            expire_after_days: from.expire_after_days,
            rollover: from.rollover,
            features: features
                .map(|slug| text(slug, Feature::new))
                .collect::<Result<_, _>>()?,
            interval: catalog::Interval::from(from.interval),
            trial_days: from.trial_days,
            trial_credits: from.trial_credits,
            repeatable: from.repeatable,
            label: from.label.map(Box::from),
            amount_cents: from.amount_cents,
            currency: from.currency.into(),
        })
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Reversal {
    refunded_cents: i64,
    disputed_cents: i64,
    dispute: Option<Dispute>,
    as_of: i64,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Dispute {
    opened_at: i64,
    amount_cents: i64,
    currency: [u8; 3],
    reason: u8,
    respond_by: Option<i64>,
    inquiry: bool,
    won: Option<bool>,
}

impl From<wallet::Reversal> for Reversal {
    fn from(from: wallet::Reversal) -> Self {
        let wallet::Reversal {
            refunded_cents,
            disputed_cents,
            dispute,
            as_of,
        } = from;
        Self {
            refunded_cents,
            disputed_cents,
            dispute: dispute.map(|of| Dispute {
                opened_at: of.opened_at.0,
                amount_cents: of.amount_cents,
                currency: of.currency.bytes(),
                reason: of.reason.place(),
                respond_by: of.respond_by.map(|at| at.0),
                inquiry: of.inquiry,
                won: of.won,
            }),
            as_of: as_of.0,
        }
    }
}

impl TryFrom<Reversal> for wallet::Reversal {
    type Error = Error;

    fn try_from(from: Reversal) -> Result<Self, Error> {
        Ok(Self {
            refunded_cents: from.refunded_cents,
            disputed_cents: from.disputed_cents,
            dispute: from.dispute.map(Dispute::read).transpose()?,
            as_of: Timestamp(from.as_of),
        })
    }
}

impl Dispute {
    fn read(self) -> Result<wallet::Dispute, Error> {
        let currency = wallet::Currency::from_bytes(self.currency);
        let reason = wallet::DisputeReason::at(self.reason);
        Ok(wallet::Dispute {
            opened_at: Timestamp(self.opened_at),
            amount_cents: self.amount_cents,
            currency: currency.ok_or_else(|| broken("a dispute's currency is no three letters"))?,
            reason: reason.ok_or_else(|| broken("a dispute's reason is not in the list"))?,
            respond_by: self.respond_by.map(Timestamp),
            inquiry: self.inquiry,
            won: self.won,
        })
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Receipt<'a> {
    provider: Option<ProviderKind>,
    livemode: bool,
    receipt_url: Option<&'a str>,
    invoice_url: Option<&'a str>,
}

impl<'a> From<&'a wallet::Receipt> for Receipt<'a> {
    fn from(from: &'a wallet::Receipt) -> Self {
        let wallet::Receipt {
            provider,
            livemode,
            receipt_url,
            invoice_url,
        } = from;
        Self {
            provider: provider.map(ProviderKind::from),
            livemode: *livemode,
            receipt_url: receipt_url.as_ref().map(PageUrl::as_str),
            invoice_url: invoice_url.as_ref().map(PageUrl::as_str),
        }
    }
}

impl TryFrom<Receipt<'_>> for wallet::Receipt {
    type Error = Error;

    fn try_from(from: Receipt<'_>) -> Result<Self, Error> {
        Ok(Self {
            provider: from.provider.map(wallet::ProviderKind::from),
            livemode: from.livemode,
            receipt_url: some_text(from.receipt_url, PageUrl::new)?,
            invoice_url: some_text(from.invoice_url, PageUrl::new)?,
        })
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Order<'a> {
    kind: OrderKind,
    #[serde(borrow)]
    terms: Terms<'a>,
    quantity: u32,
    metadata: Pairs<'a>,
    checkout: Option<&'a str>,
    created_at: i64,
    expires_at: i64,
    paid_at: Option<i64>,
    amount_cents: i64,
    email: Option<&'a str>,
    payment: Option<&'a str>,
    invoice: Option<&'a str>,
    subscription: Option<&'a str>,
    customer: Option<&'a str>,
    receipt: Receipt<'a>,
    reversal: Reversal,
    /// Cents, and since when.
    asked: Option<(i64, i64)>,
    granted: i64,
    taken: i64,
    credits_end: i64,
    stage: Stage,
    on_its_way: bool,
    lot: Option<u64>,
    cycle: u32,
    rotations: u32,
}

impl<'a> From<&'a wallet::Order> for Order<'a> {
    fn from(from: &'a wallet::Order) -> Self {
        let wallet::Order {
            kind,
            terms,
            quantity,
            metadata,
            checkout,
            created_at,
            expires_at,
            paid_at,
            amount_cents,
            email,
            payment,
            invoice,
            subscription,
            customer,
            receipt,
            reversal,
            asked,
            granted,
            taken,
            credits_end,
            stage,
            on_its_way,
            lot,
            cycle,
            rotations,
        } = from;
        Self {
            kind: (*kind).into(),
            terms: terms.into(),
            quantity: quantity.get(),
            metadata: metadata.iter().collect(),
            checkout: checkout.as_ref().map(CheckoutId::as_str),
            created_at: created_at.0,
            expires_at: expires_at.0,
            paid_at: millis(*paid_at),
            amount_cents: *amount_cents,
            email: email.as_ref().map(Email::as_str),
            payment: payment.as_ref().map(PaymentId::as_str),
            invoice: invoice.as_ref().map(InvoiceId::as_str),
            subscription: subscription.as_ref().map(SubscriptionId::as_str),
            customer: customer.as_ref().map(CustomerId::as_str),
            receipt: receipt.into(),
            reversal: (*reversal).into(),
            asked: asked.map(|wallet::AskedBack { cents, at }| (cents, at.0)),
            granted: *granted,
            taken: *taken,
            credits_end: credits_end.0,
            stage: (*stage).into(),
            on_its_way: *on_its_way,
            lot: *lot,
            cycle: *cycle,
            rotations: *rotations,
        }
    }
}

impl TryFrom<Order<'_>> for wallet::Order {
    type Error = Error;

    fn try_from(from: Order<'_>) -> Result<Self, Error> {
        if !(0..=from.granted).contains(&from.taken) {
            return Err(broken("a refund passes its order's credits"));
        }
        Ok(Self {
            kind: from.kind.into(),
            terms: from.terms.try_into()?,
            quantity: read::quantity(from.quantity)?,
            metadata: read::metadata(from.metadata)?,
            checkout: some_text(from.checkout, CheckoutId::new)?,
            created_at: Timestamp(from.created_at),
            expires_at: Timestamp(from.expires_at),
            paid_at: instant(from.paid_at),
            amount_cents: from.amount_cents,
            email: some_text(from.email, Email::new)?,
            payment: some_text(from.payment, PaymentId::new)?,
            invoice: some_text(from.invoice, InvoiceId::new)?,
            subscription: some_text(from.subscription, SubscriptionId::new)?,
            customer: some_text(from.customer, CustomerId::new)?,
            receipt: from.receipt.try_into()?,
            reversal: from.reversal.try_into()?,
            asked: from.asked.map(|(cents, at)| wallet::AskedBack {
                cents,
                at: Timestamp(at),
            }),
            granted: from.granted,
            taken: from.taken,
            credits_end: Timestamp(from.credits_end),
            stage: from.stage.into(),
            on_its_way: from.on_its_way,
            lot: from.lot,
            cycle: from.cycle,
            rotations: from.rotations,
        })
    }
}

/// A settled order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Archived<'a> {
    serial: u128,
    #[serde(borrow)]
    order: Order<'a>,
}

impl<'a> From<&'a wallet::ArchivedOrder> for Archived<'a> {
    fn from(from: &'a wallet::ArchivedOrder) -> Self {
        let wallet::ArchivedOrder { serial, order } = from;
        Self {
            serial: serial.0,
            order: order.into(),
        }
    }
}

impl TryFrom<Archived<'_>> for wallet::ArchivedOrder {
    type Error = Error;

    fn try_from(from: Archived<'_>) -> Result<Self, Error> {
        Ok(Self {
            serial: OrderSerial(from.serial),
            order: from.order.try_into()?,
        })
    }
}

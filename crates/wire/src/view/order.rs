//! An order as the API shows it. Every field is always present, and null where it is not known.

use std::collections::BTreeMap;

use actors::{OrderAnswer, OrderPage};
use domain::{
    catalog::KeyKind,
    code::RecoveryCode,
    text::{CustomerId, InvoiceId, PageUrl, PaymentId, SubscriptionId},
    wallet::{OrderKind, OrderStatus, ProviderKind},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::Instant;
use crate::cursor::OrderCursor;

/// A checkout, a subscription's renewal or its switch to another tier.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// The order's identifier: `ord_…`
    id: String,
    /// `pending`, `paid`, `failed`, `refunded` or `expired`
    #[schema(value_type = String, example = "paid")]
    status: OrderStatus,
    /// Whether the buyer is done and the money is on its way, as with a bank debit. It may be true of an
    /// order that has expired since: the payment then makes it paid.
    processing: bool,
    /// `checkout`, `renewal` or `switch`
    #[schema(value_type = String, example = "checkout")]
    kind: OrderKind,
    /// The recovery code of the anonymous wallet that it fills. Null for a user's wallet and until the payment has
    /// made the wallet. A publishable key reads it where the payment made the wallet, or the buyer named the code at
    /// the checkout; it reads null once the code was replaced, and from a day after the payment on if it reads the order by
    /// its checkout. A session reads null.
    code: Option<String>,
    /// Credits that the wallet can spend now of the product that the order fills.
    balance: i64,
    /// The price, and once it is paid what was charged; in the currency's minor unit.
    amount_cents: i64,
    /// ISO 4217, upper case.
    currency: String,
    /// What was refunded to the buyer, in the currency's minor unit.
    refunded_cents: i64,
    created_at: Instant,
    paid_at: Option<Instant>,
    /// The provider's checkout session; null for a renewal or a switch.
    checkout_id: Option<String>,
    price_id: String,
    product_id: String,
    /// The caller's own id of the user; null for an anonymous wallet.
    external_user_id: Option<String>,
    /// `wal_…`; null until a payment has made the wallet.
    wallet_id: Option<String>,
    /// How many were bought.
    quantity: u32,
    /// The pairs that the checkout was created with.
    metadata: BTreeMap<String, String>,
    /// The provider's page about the payment; null where there is none.
    receipt_url: Option<String>,
    /// The provider's page about the invoice; null where there is none.
    invoice_url: Option<String>,
    /// The payment. Left out for a publishable key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Payment>)]
    payment: Option<Option<Payment>>,
    /// The buyer's e-mail address. Left out for a publishable key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    customer_email: Option<Option<String>>,
}

/// The provider's ids of what belongs to an order.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Payment {
    /// `sandbox` or `stripe`
    #[schema(value_type = String, example = "stripe")]
    provider: ProviderKind,
    /// Whether it was real money.
    livemode: bool,
    payment_id: Option<String>,
    invoice_id: Option<String>,
    subscription_id: Option<String>,
    customer_id: Option<String>,
}

impl Payment {
    /// What is known of an order's payment; `None` before the order is paid.
    fn of(order: &domain::wallet::Order) -> Option<Self> {
        let provider = order.receipt.provider?;
        let id = |text: Option<&str>| text.map(str::to_owned);
        Some(Self {
            provider,
            livemode: order.receipt.livemode,
            payment_id: id(order.payment.as_ref().map(PaymentId::as_str)),
            invoice_id: id(order.invoice.as_ref().map(InvoiceId::as_str)),
            subscription_id: id(order.subscription.as_ref().map(SubscriptionId::as_str)),
            customer_id: id(order.customer.as_ref().map(CustomerId::as_str)),
        })
    }
}

/// A page of a project's orders, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Orders {
    orders: Vec<Order>,
    /// Pass as `cursor` for the next page; null on the last one.
    next_cursor: Option<String>,
}

impl Order {
    /// The order as a key of this kind may read it.
    pub fn of(answer: &OrderAnswer, kind: KeyKind) -> Self {
        let order = &answer.order;
        let link = |url: Option<&PageUrl>| url.map(|url| url.as_str().to_owned());
        let email = || order.email.as_ref().map(|email| email.as_str().to_owned());
        Self {
            id: answer.id.to_string(),
            status: order.status(),
            processing: order.is_processing(),
            kind: order.kind,
            code: readable_code(answer, kind).map(|code| code.reveal().to_owned()),
            balance: answer.balance,
            amount_cents: order.amount_cents,
            currency: order.terms.currency.to_string(),
            refunded_cents: order.reversal.refunded_cents,
            created_at: Instant(order.created_at),
            paid_at: order.paid_at.map(Instant),
            checkout_id: order
                .checkout
                .as_ref()
                .map(|checkout| checkout.as_str().to_owned()),
            price_id: order.terms.price.to_string(),
            product_id: order.terms.product.to_string(),
            external_user_id: answer
                .external_user
                .as_ref()
                .map(|user| user.as_str().to_owned()),
            wallet_id: answer.wallet.map(|wallet| wallet.to_string()),
            quantity: order.quantity.get(),
            metadata: order
                .metadata
                .iter()
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            receipt_url: link(order.receipt.receipt_url.as_ref()),
            invoice_url: link(order.receipt.invoice_url.as_ref()),
            payment: (kind == KeyKind::Secret).then(|| Payment::of(order)),
            customer_email: match kind {
                KeyKind::Secret => Some(email()),
                KeyKind::Publishable => None,
            },
        }
    }

    /// The order without its recovery code: for a session, and for a publishable key that looks it up by its checkout
    /// more than a day after the payment: others may have seen the checkout's id, in the address of the success page.
    pub fn without_code(self) -> Self {
        Self { code: None, ..self }
    }
}

/// The recovery code that a key of this kind may read: a publishable key does not learn a code that replaced a leaked
/// one, or that the buyer did not know at the checkout.
fn readable_code(answer: &OrderAnswer, kind: KeyKind) -> Option<&RecoveryCode> {
    let code = answer.code.as_ref();
    code.filter(|_| kind == KeyKind::Secret || answer.is_original_code)
}

impl Orders {
    /// The page as a key of this kind may read it.
    pub fn of(page: &OrderPage, kind: KeyKind) -> Self {
        let orders = page.orders.iter();
        Self {
            orders: orders.map(|order| Order::of(order, kind)).collect(),
            next_cursor: page
                .next
                .map(|(at, order)| OrderCursor(at, order).to_string()),
        }
    }

    /// The page without recovery codes, for a session.
    pub fn without_codes(self) -> Self {
        let orders = self.orders.into_iter().map(Order::without_code);
        Self {
            orders: orders.collect(),
            ..self
        }
    }
}

//! An order as the API shows it. Every field is always present, and null where it is not known.

use actors::{OrderAnswer, OrderPage};
use api_types::{Order, Payment};
use domain::{
    catalog::KeyKind,
    code::RecoveryCode,
    text::{CustomerId, InvoiceId, PageUrl, PaymentId, SubscriptionId},
};
use serde::{Serialize, Serializer, ser::Error as _};
use utoipa::ToSchema;

use super::{instant, word};
use crate::cursor::OrderCursor;

/// What is known of an order's payment; `None` before the order is paid.
fn payment(order: &domain::wallet::Order) -> Option<Payment> {
    let provider = order.receipt.provider?;
    let id = |text: Option<&str>| text.map(str::to_owned);
    Some(Payment {
        provider: word(provider),
        livemode: order.receipt.livemode,
        payment_id: id(order.payment.as_ref().map(PaymentId::as_str)),
        invoice_id: id(order.invoice.as_ref().map(InvoiceId::as_str)),
        subscription_id: id(order.subscription.as_ref().map(SubscriptionId::as_str)),
        customer_id: id(order.customer.as_ref().map(CustomerId::as_str)),
    })
}

/// The order as a key of this kind may read it.
pub fn order(answer: &OrderAnswer, kind: KeyKind) -> Order {
    let order = &answer.order;
    let link = |url: Option<&PageUrl>| url.map(|url| url.as_str().to_owned());
    let email = order.email.as_ref().map(|email| email.as_str().to_owned());
    Order {
        id: answer.id.to_string(),
        status: word(order.status()),
        processing: order.is_processing(),
        kind: word(order.kind),
        code: readable_code(answer, kind).map(|code| code.reveal().to_owned()),
        balance: answer.balance,
        amount_cents: order.amount_cents,
        currency: order.terms.currency.to_string(),
        refunded_cents: order.reversal.refunded_cents,
        created_at: instant(order.created_at),
        paid_at: order.paid_at.map(instant),
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
        payment: payment(order).filter(|_| kind == KeyKind::Secret),
        customer_email: email.filter(|_| kind == KeyKind::Secret),
    }
}

/// The order as a secret key reads it, with its recovery code or without.
pub fn full_order(answer: &OrderAnswer, with_code: bool) -> Order {
    let order = order(answer, KeyKind::Secret);
    let code = order.code.filter(|_| with_code);
    Order { code, ..order }
}

/// An order as a publishable key reads it: of the payment and the buyer's address it learns nothing, not even `null`.
#[derive(Debug)]
pub struct PublicOrder(pub Order);

impl Serialize for PublicOrder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut shown = serde_json::to_value(&self.0).map_err(S::Error::custom)?;
        if let Some(fields) = shown.as_object_mut() {
            fields.remove("payment");
            fields.remove("customerEmail");
        }
        shown.serialize(serializer)
    }
}

/// The recovery code that a key of this kind may read: a publishable key does not learn a code that replaced a leaked
/// one, or that the buyer did not know at the checkout.
fn readable_code(answer: &OrderAnswer, kind: KeyKind) -> Option<&RecoveryCode> {
    let code = answer.code.as_ref();
    code.filter(|_| kind == KeyKind::Secret || answer.is_original_code)
}

/// A page of a project's orders, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(bound = "")]
pub struct Orders<O = Order> {
    #[schema(value_type = Vec<Order>)]
    orders: Vec<O>,
    /// Pass as `cursor` for the next page; null on the last one.
    next_cursor: Option<String>,
}

impl Orders {
    /// The page as a secret key reads it, with recovery codes or without.
    pub fn of(page: &OrderPage, with_codes: bool) -> Self {
        Self::with(page, |answer| full_order(answer, with_codes))
    }
}

impl Orders<PublicOrder> {
    /// The page as a session reads it, without recovery codes.
    pub fn of_session(page: &OrderPage) -> Self {
        Self::with(page, |answer| {
            PublicOrder(Order {
                code: None,
                ..order(answer, KeyKind::Publishable)
            })
        })
    }
}

impl<O> Orders<O> {
    fn with(page: &OrderPage, shown: impl Fn(&OrderAnswer) -> O) -> Self {
        let next = page.next.map(|(at, order)| OrderCursor(at, order));
        Self {
            orders: page.orders.iter().map(shown).collect(),
            next_cursor: next.map(|cursor| cursor.to_string()),
        }
    }
}

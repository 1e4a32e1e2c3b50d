//! Lists as CSV (RFC 4180), for spreadsheets: what a stranger may have chosen is never a formula.

use actors::{LedgerLine, ListedWallet, OrderAnswer};
use catalog::ProjectCatalog;
use domain::id::ProductId;
use serde::Serialize;

use crate::view::instant;

/// A column of a list: its name, and what an entry has in it.
pub type Column<T> = (&'static str, fn(&T) -> String);

/// The columns of a ledger.
pub const LEDGER: [Column<LedgerLine>; 10] = [
    ("at", |line| instant(line.at).to_string()),
    ("id", |line| line.id.to_string()),
    ("reason", |line| name(line.entry.reason)),
    ("productId", |line| line.entry.product.to_string()),
    ("delta", |line| line.entry.delta.to_string()),
    ("balanceAfter", |line| line.entry.balance_after.to_string()),
    ("orderId", |line| written(line.order)),
    ("reverses", |line| written(line.reverses)),
    ("meta", |line| {
        typed(line.entry.meta.as_ref().map(|it| it.as_str()))
    }),
    ("idempotencyKey", |line| {
        typed(line.entry.key.as_ref().map(|it| it.as_str()))
    }),
];

/// The columns of a list of orders.
pub const ORDERS: [Column<OrderAnswer>; 20] = [
    ("createdAt", |it| instant(it.order.created_at).to_string()),
    ("id", |it| it.id.to_string()),
    ("status", |it| name(it.order.status())),
    ("processing", |it| it.order.is_processing().to_string()),
    ("kind", |it| name(it.order.kind)),
    ("productId", |it| it.order.terms.product.to_string()),
    ("priceId", |it| it.order.terms.price.to_string()),
    ("quantity", |it| it.order.quantity.get().to_string()),
    ("amountCents", |it| it.order.amount_cents.to_string()),
    ("currency", |it| it.order.terms.currency.to_string()),
    ("refundedCents", |it| {
        it.order.reversal.refunded_cents.to_string()
    }),
    ("paidAt", |it| written(it.order.paid_at.map(instant))),
    ("externalUserId", |it| {
        typed(it.external_user.as_ref().map(|it| it.as_str()))
    }),
    ("walletId", |it| written(it.wallet)),
    ("customerEmail", |it| {
        typed(it.order.email.as_ref().map(|it| it.as_str()))
    }),
    ("checkoutId", |it| {
        typed(it.order.checkout.as_ref().map(|it| it.as_str()))
    }),
    ("paymentId", |it| {
        typed(it.order.payment.as_ref().map(|it| it.as_str()))
    }),
    ("invoiceId", |it| {
        typed(it.order.invoice.as_ref().map(|it| it.as_str()))
    }),
    ("subscriptionId", |it| {
        typed(it.order.subscription.as_ref().map(|it| it.as_str()))
    }),
    ("customerId", |it| {
        typed(it.order.customer.as_ref().map(|it| it.as_str()))
    }),
];

/// The first columns of a list of wallets; the balances of [`balance_products`] follow.
const WALLET_COLUMNS: [&str; 5] = [
    "lastUsedAt",
    "walletId",
    "ref",
    "externalUserId",
    "createdAt",
];

/// Escapes a text that a stranger may have chosen, so that a spreadsheet does not run it as a formula.
#[must_use]
pub fn harmless(text: &str) -> String {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

/// A row of fields.
pub fn row<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let mut row = String::new();
    for (place, field) in fields.into_iter().enumerate() {
        if place > 0 {
            row.push(',');
        }
        if field.contains(['"', ',', '\r', '\n']) {
            row.push('"');
            row.push_str(&field.replace('"', "\"\""));
            row.push('"');
        } else {
            row.push_str(field);
        }
    }
    row.push_str("\r\n");
    row
}

/// The head of a list with these columns.
#[must_use]
pub fn head<T>(columns: &[Column<T>]) -> String {
    row(columns.iter().map(|(name, _)| *name))
}

/// The rows of such a list.
pub fn rows<'a, T: 'a>(columns: &[Column<T>], all: impl IntoIterator<Item = &'a T>) -> String {
    let of = |entry| {
        let fields: Vec<_> = columns.iter().map(|(_, field)| field(entry)).collect();
        row(fields.iter().map(String::as_str))
    };
    all.into_iter().map(of).collect()
}

fn written(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text that a stranger may have chosen.
fn typed(text: Option<&str>) -> String {
    text.map(harmless).unwrap_or_default()
}

/// The products whose balances a list of wallets has, in the order of its columns.
#[must_use]
pub fn balance_products(project: &ProjectCatalog) -> Vec<ProductId> {
    let products = project.products();
    let products = products.filter(|product| product.credit_unit.is_some());
    products.map(|product| product.id).collect()
}

/// The head of a list of wallets with these products' balances.
#[must_use]
pub fn wallet_head(products: &[ProductId]) -> String {
    let balances = products.iter().map(|product| format!("balance:{product}"));
    let balances: Vec<_> = balances.collect();
    let columns = WALLET_COLUMNS.into_iter();
    row(columns.chain(balances.iter().map(String::as_str)))
}

/// A wallet's row.
#[must_use]
pub fn wallet(wallet: &ListedWallet, products: &[ProductId]) -> String {
    let view = &wallet.view;
    let user = view
        .external_user
        .as_ref()
        .map(|user| harmless(user.as_str()));
    let mut fields = vec![
        instant(wallet.used_at).to_string(),
        view.id.to_string(),
        view.key.to_string(),
        user.unwrap_or_default(),
        instant(view.created_at).to_string(),
    ];
    fields.extend(products.iter().map(|product| {
        let balance = view.balances.iter().find(|it| it.product == *product);
        balance.map_or(0, |it| it.balance).to_string()
    }));
    row(fields.iter().map(String::as_str))
}

/// What a value is called in JSON.
fn name(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).ok();
    let name = value.as_ref().and_then(|value| value.as_str());
    name.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula() {
        assert_eq!(harmless("=1+1"), "'=1+1");
        assert_eq!(harmless("@user"), "'@user");
        assert_eq!(harmless("ann-1"), "ann-1");
    }

    #[test]
    fn a_field_may_hold_anything() {
        assert_eq!(row(["a", "", "b c"]), "a,,b c\r\n");
        assert_eq!(
            row(["a,b", "say \"no\"", "x\ny"]),
            "\"a,b\",\"say \"\"no\"\"\",\"x\ny\"\r\n"
        );
    }
}

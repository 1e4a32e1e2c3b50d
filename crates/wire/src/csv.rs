//! Lists as CSV (RFC 4180), for spreadsheets: what a stranger may have chosen is never a formula.

use actors::{LedgerLine, ListedWallet, OrderAnswer};
use catalog::ProjectCatalog;
use domain::id::ProductId;
use serde::Serialize;

use crate::view::instant;

/// The columns of a ledger.
pub const LEDGER_COLUMNS: [&str; 10] = [
    "at",
    "id",
    "reason",
    "productId",
    "delta",
    "balanceAfter",
    "orderId",
    "reverses",
    "meta",
    "idempotencyKey",
];

/// The columns of a list of orders.
pub const ORDER_COLUMNS: [&str; 20] = [
    "createdAt",
    "id",
    "status",
    "processing",
    "kind",
    "productId",
    "priceId",
    "quantity",
    "amountCents",
    "currency",
    "refundedCents",
    "paidAt",
    "externalUserId",
    "walletId",
    "customerEmail",
    "checkoutId",
    "paymentId",
    "invoiceId",
    "subscriptionId",
    "customerId",
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

/// The row of a line of a ledger.
#[must_use]
pub fn ledger(line: &LedgerLine) -> String {
    let entry = &line.entry;
    let text = |text: Option<&str>| text.map(harmless).unwrap_or_default();
    let fields = [
        instant(line.at).to_string(),
        line.id.to_string(),
        name(entry.reason),
        entry.product.to_string(),
        entry.delta.to_string(),
        entry.balance_after.to_string(),
        line.order.map(|it| it.to_string()).unwrap_or_default(),
        line.reverses.map(|it| it.to_string()).unwrap_or_default(),
        text(entry.meta.as_ref().map(|meta| meta.as_str())),
        text(entry.key.as_ref().map(|key| key.as_str())),
    ];
    row(fields.iter().map(String::as_str))
}

/// An order's row.
#[must_use]
pub fn order(answer: &OrderAnswer) -> String {
    let order = &answer.order;
    let id = |text: Option<&str>| text.map(harmless).unwrap_or_default();
    let fields = [
        instant(order.created_at).to_string(),
        answer.id.to_string(),
        name(order.status()),
        order.is_processing().to_string(),
        name(order.kind),
        order.terms.product.to_string(),
        order.terms.price.to_string(),
        order.quantity.get().to_string(),
        order.amount_cents.to_string(),
        order.terms.currency.to_string(),
        order.reversal.refunded_cents.to_string(),
        order
            .paid_at
            .map(|at| instant(at).to_string())
            .unwrap_or_default(),
        id(answer.external_user.as_ref().map(|user| user.as_str())),
        answer
            .wallet
            .map(|wallet| wallet.to_string())
            .unwrap_or_default(),
        id(order.email.as_ref().map(|email| email.as_str())),
        id(order.checkout.as_ref().map(|it| it.as_str())),
        id(order.payment.as_ref().map(|it| it.as_str())),
        id(order.invoice.as_ref().map(|it| it.as_str())),
        id(order.subscription.as_ref().map(|it| it.as_str())),
        id(order.customer.as_ref().map(|it| it.as_str())),
    ];
    row(fields.iter().map(String::as_str))
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

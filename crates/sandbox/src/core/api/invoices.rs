//! The endpoints of invoices, invoice items and invoice payments.

use super::read::{self, Paging};
use crate::core::prelude::*;

pub(super) fn invoice(db: &mut Database, params: &Params, id: &str, word: &str) -> Result<Value> {
    params.flag("auto_advance")?;
    params.text("payment_method")?;
    read::changed(db, params, id, |invoice: Invoice, db| {
        match word {
            "finalize" => invoice.finalize(db)?,
            "pay" => invoice.pay(db)?,
            "void" => invoice.void(db)?,
            _ => return Err(Refusal::no_route("POST", &format!("invoices/{id}/{word}"))),
        }
        db.find(id)
    })
}

pub(super) fn invoice_payments(db: &Database, params: &Params) -> Result<Value> {
    const RULES: [&str; 4] = [
        "invoice",
        "status=open|paid|canceled",
        "payment[type]=payment_intent|charge",
        "payment[payment_intent]",
    ];
    let kind = params.text("payment[type]")?;
    let intent = params.text("payment[payment_intent]")?;
    Refusal::missing("payment[payment_intent]")
        .when(kind.as_deref() == Some("payment_intent") && intent.is_none())?;
    Refusal::missing("payment[type]").when(intent.is_some() && kind.is_none())?;
    read::some::<InvoicePayment>(db, params, "invoice_payments", &RULES, |_| true)
}

/// All lines of an invoice, which itself embeds the first ten.
pub(super) fn lines(db: &Database, params: &Params, id: &str) -> Result<Value> {
    let paging = Paging::read(params)?;
    params.finish()?;
    let lines = db.find::<Invoice>(id)?.line_views(db);
    paging.views(&lines, &format!("/v1/invoices/{id}/lines"))
}

pub(super) fn create_item(db: &mut Database, params: &Params) -> Result<Value> {
    let customer = params.required("customer")?;
    db.named::<Customer>(&customer, "customer")?;
    let subscription = params.object::<Subscription>(db, "subscription")?;
    let quantity = params.integer::<i64>("quantity")?.unwrap_or(1);
    let price = params.object::<Price>(db, "pricing[price]")?;
    let (currency, unit_amount, price, product) = match price {
        Some(price) => (
            price.currency,
            price.unit_amount,
            price.head.id,
            price.product,
        ),
        None => {
            let currency = money::currency(&params.required("currency")?, "currency")?;
            let amount = need(params.integer("amount")?, "amount")?;
            (currency, amount, String::new(), String::new())
        }
    };
    let start = params.integer("period[start]")?.unwrap_or(db.now);
    let line = InvoiceLine {
        description: match params.bounded("description", 500)? {
            Some(text) => text,
            None => db.product_name(&product),
        },
        amount: unit_amount.saturating_mul(quantity),
        quantity,
        price,
        product,
        start,
        end: params.integer("period[end]")?.unwrap_or(start),
        ..InvoiceLine::default()
    };
    let metadata = params.metadata("metadata")?;
    params.finish()?;
    let item = InvoiceItem {
        head: db.head("ii_"),
        customer,
        subscription: subscription.map(|subscription| subscription.head.id),
        currency,
        line,
        metadata,
    };
    let item = db.wait(item)?;
    db.emit("invoiceitem.created", &item);
    Ok(item.view(db))
}

pub(super) fn items(db: &Database, params: &Params) -> Result<Value> {
    let pending = params.flag("pending")?;
    let rules = ["customer", "invoice"];
    read::some::<InvoiceItem>(db, params, "invoiceitems", &rules, |item| {
        pending.is_none_or(|pending| pending == item.invoice(db).is_none())
    })
}

pub(super) fn delete_item(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    params.finish()?;
    let item: InvoiceItem = db.find(id)?;
    let message = "This invoice item is already attached to an invoice.";
    Refusal::invalid(message).when(item.invoice(db).is_some())?;
    Ok(read::deleted::<InvoiceItem>(db, id))
}

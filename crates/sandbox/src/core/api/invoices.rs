//! The endpoints of invoices, invoice items and invoice payments.

use super::read::{self, Paging};
use crate::core::prelude::*;

pub(super) fn invoice(books: &mut Books, params: &Params, id: &str, word: &str) -> Result<Value> {
    params.flag("auto_advance")?;
    params.text("payment_method")?;
    read::changed(books, params, id, |invoice: Invoice, books| {
        match word {
            "finalize" => invoice.finalize(books)?,
            "pay" => invoice.pay(books)?,
            "void" => invoice.void(books)?,
            _ => return Err(Refusal::no_route("POST", &format!("invoices/{id}/{word}"))),
        }
        books.find(id)
    })
}

pub(super) fn invoice_payments(books: &Books, params: &Params) -> Result<Value> {
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
    read::some::<InvoicePayment>(books, params, "invoice_payments", &RULES, |_| true)
}

/// All lines of an invoice, which itself embeds the first ten.
pub(super) fn lines(books: &Books, params: &Params, id: &str) -> Result<Value> {
    let paging = Paging::read(params)?;
    params.finish()?;
    let lines = books.find::<Invoice>(id)?.line_views(books);
    paging.views(&lines, &format!("/v1/invoices/{id}/lines"))
}

/// Creates an item for a customer's next invoice.
pub(super) fn create_item(books: &mut Books, params: &Params) -> Result<Value> {
    let customer = params.required("customer")?;
    books.named::<Customer>(&customer, "customer")?;
    let subscription = params.object::<Subscription>(books, "subscription")?;
    let quantity = params.integer::<i64>("quantity")?.unwrap_or(1);
    let price = params.object::<Price>(books, "pricing[price]")?;
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
    let start = params.integer("period[start]")?.unwrap_or(books.now);
    let line = InvoiceLine {
        description: match params.bounded("description", 500)? {
            Some(text) => text,
            None => books.product_name(&product),
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
        head: books.head("ii_"),
        customer,
        subscription: subscription.map(|subscription| subscription.head.id),
        currency,
        line,
        metadata,
    };
    let item = books.wait(item)?;
    books.emit("invoiceitem.created", &item);
    Ok(item.view(books))
}

pub(super) fn items(books: &Books, params: &Params) -> Result<Value> {
    let pending = params.flag("pending")?;
    let rules = ["customer", "invoice"];
    read::some::<InvoiceItem>(books, params, "invoiceitems", &rules, |item| {
        pending.is_none_or(|pending| pending == item.invoice(books).is_none())
    })
}

pub(super) fn delete_item(books: &mut Books, params: &Params, id: &str) -> Result<Value> {
    params.finish()?;
    let item: InvoiceItem = books.find(id)?;
    let message = "This invoice item is already attached to an invoice.";
    Refusal::invalid(message).when(item.invoice(books).is_some())?;
    Ok(read::deleted::<InvoiceItem>(books, id))
}

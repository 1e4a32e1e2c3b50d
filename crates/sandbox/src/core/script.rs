//! Routes for scripts that play the bank: `POST /script/...`, with the project's key and forms like Stripe's. Stripe
//! has no such routes; the resulting events are the same.

use super::api::{changed, refunds::charge_of};
use crate::core::prelude::*;

/// Answers `POST /script/<path>`.
pub(crate) fn call(books: &mut Books, method: &str, path: &str, params: &Params) -> Result<Value> {
    let segments: Vec<&str> = path.split('/').collect();
    match (method, segments.as_slice()) {
        ("POST", ["charges", id]) => charge(books, params, id),
        ("POST", ["customers", id]) => customer(books, params, id),
        ("POST", ["invoices", id, "pay_part"]) => pay_part(books, params, id),
        ("POST", ["refunds", id, word]) => refund(books, params, id, word),
        ("POST", ["subscriptions", id, word]) => subscription(books, params, id, word),
        ("POST", ["webhook_endpoints", id, "disable"]) => disable(books, params, id),
        ("POST", ["disputes"]) => dispute(books, params),
        ("POST", ["disputes", id, word]) => decide(books, params, id, word),
        _ => Err(Refusal {
            message: format!("There is no such script ({method}: /script/{path})."),
            ..Refusal::no_route(method, path)
        }),
    }
}

/// Sets the first status of a payment's refunds, by the id of the charge or the payment.
fn charge(books: &mut Books, params: &Params, id: &str) -> Result<Value> {
    let begins = params.word("refunds", &["succeeded", "pending", "failed"])?;
    let begins = need(begins.and_then(RefundStatus::of), "refunds")?;
    params.finish()?;
    let named = Some(id.to_owned());
    let mut charge = match id.starts_with("pi_") {
        true => charge_of(books, None, named)?,
        false => charge_of(books, named, None)?,
    };
    charge.refunds = begins;
    Ok(books.stored(charge).view(books))
}

/// Sets whether the customer's card declines.
fn customer(books: &mut Books, params: &Params, id: &str) -> Result<Value> {
    let declines = need(params.flag("declines")?, "declines")?;
    changed(books, params, id, |mut customer: Customer, books| {
        customer.declines = declines;
        Ok(books.stored(customer))
    })
}

/// Pays a part of an invoice, by a payment of its own.
fn pay_part(books: &mut Books, params: &Params, id: &str) -> Result<Value> {
    let amount = need(params.integer("amount")?, "amount")?;
    changed(books, params, id, |invoice: Invoice, books| {
        invoice.pay_part(books, amount)?;
        books.find(id)
    })
}

/// Disables an endpoint, as Stripe does after days of failures.
fn disable(books: &mut Books, params: &Params, id: &str) -> Result<Value> {
    changed(books, params, id, |mut endpoint: Endpoint, books| {
        endpoint.enabled = false;
        Ok(books.stored(endpoint))
    })
}

/// Lets a subscription's trial end without a card, or stay unpaid after all retries failed.
fn subscription(books: &mut Books, params: &Params, id: &str, word: &str) -> Result<Value> {
    changed(
        books,
        params,
        id,
        |mut subscription: Subscription, books| match word {
            "pause" => subscription.suspend(books),
            "lose_card" => {
                subscription.no_card = true;
                Ok(books.stored(subscription))
            }
            "stay_unpaid" => {
                subscription.stays_unpaid = true;
                Ok(books.stored(subscription))
            }
            _ => Err(Refusal::no_such("script", word)),
        },
    )
}

fn refund(books: &mut Books, params: &Params, id: &str, word: &str) -> Result<Value> {
    let failure = params.word("failure_reason", &refunds::FAILURES)?;
    let status = match word {
        "succeed" => RefundStatus::Succeeded,
        "fail" => RefundStatus::Failed,
        "cancel" => RefundStatus::Canceled,
        _ => return Err(Refusal::no_such("script", word)),
    };
    changed(books, params, id, |refund, books| {
        refunds::turn(books, refund, status, failure)
    })
}

fn dispute(books: &mut Books, params: &Params) -> Result<Value> {
    let charge = params.text("charge")?;
    let intent = params.text("payment_intent")?;
    let wanted = disputes::DisputeParams {
        amount: params.integer("amount")?,
        reason: params.word("reason", &disputes::REASONS)?,
        inquiry: params.flag("inquiry")? == Some(true),
    };
    params.finish()?;
    let charge = charge_of(books, charge, intent)?;
    let dispute = disputes::open(books, charge, wanted)?;
    Ok(dispute.view(books))
}

fn decide(books: &mut Books, params: &Params, id: &str, word: &str) -> Result<Value> {
    changed(books, params, id, |dispute, books| match word {
        "win" => disputes::close(books, dispute, true),
        "lose" | "close" => disputes::close(books, dispute, false),
        "escalate" => disputes::escalate(books, dispute),
        "answer" => disputes::answer(books, dispute),
        _ => Err(Refusal::no_such("script", word)),
    })
}

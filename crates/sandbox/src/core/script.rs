//! Routes for scripts that play the bank: `POST /script/...`, with the project's key and forms like Stripe's. Stripe
//! has no such routes; the resulting events are the same.

use super::api::{changed, refunds::charge_of};
use crate::core::prelude::*;

/// Answers `POST /script/<path>`.
pub(crate) fn call(db: &mut Database, method: &str, path: &str, params: &Params) -> Result<Value> {
    let segments: Vec<&str> = path.split('/').collect();
    match (method, segments.as_slice()) {
        ("POST", ["charges", id]) => charge(db, params, id),
        ("POST", ["customers", id]) => customer(db, params, id),
        ("POST", ["invoices", id, "pay_part"]) => pay_part(db, params, id),
        ("POST", ["refunds", id, word]) => refund(db, params, id, word),
        ("POST", ["subscriptions", id, word]) => subscription(db, params, id, word),
        ("POST", ["webhook_endpoints", id, "disable"]) => disable(db, params, id),
        ("POST", ["disputes"]) => dispute(db, params),
        ("POST", ["disputes", id, word]) => decide(db, params, id, word),
        _ => Err(Refusal {
            message: format!("There is no such script ({method}: /script/{path})."),
            ..Refusal::no_route(method, path)
        }),
    }
}

/// Sets the first status of a payment's refunds, by the id of the charge or the payment.
fn charge(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let begins = params.word("refunds", &["succeeded", "pending", "failed"])?;
    let begins = need(begins.and_then(RefundStatus::of), "refunds")?;
    params.finish()?;
    let named = Some(id.to_owned());
    let mut charge = match id.starts_with("pi_") {
        true => charge_of(db, None, named)?,
        false => charge_of(db, named, None)?,
    };
    charge.refunds = begins;
    Ok(db.stored(charge).view(db))
}

/// Sets whether the customer's card declines.
fn customer(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let declines = need(params.flag("declines")?, "declines")?;
    changed(db, params, id, |mut customer: Customer, db| {
        customer.declines = declines;
        Ok(db.stored(customer))
    })
}

/// Pays a part of an invoice, by a payment of its own.
fn pay_part(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let amount = need(params.integer("amount")?, "amount")?;
    changed(db, params, id, |invoice: Invoice, db| {
        invoice.pay_part(db, amount)?;
        db.find(id)
    })
}

/// Disables an endpoint, as Stripe does after days of failures.
fn disable(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    changed(db, params, id, |mut endpoint: Endpoint, db| {
        endpoint.enabled = false;
        Ok(db.stored(endpoint))
    })
}

/// Lets a subscription's trial end without a card, or stay unpaid after all retries failed.
fn subscription(db: &mut Database, params: &Params, id: &str, word: &str) -> Result<Value> {
    changed(
        db,
        params,
        id,
        |mut subscription: Subscription, db| match word {
            "pause" => subscription.suspend(db),
            "lose_card" => {
                subscription.no_card = true;
                Ok(db.stored(subscription))
            }
            "stay_unpaid" => {
                subscription.stays_unpaid = true;
                Ok(db.stored(subscription))
            }
            _ => Err(Refusal::no_such("script", word)),
        },
    )
}

fn refund(db: &mut Database, params: &Params, id: &str, word: &str) -> Result<Value> {
    let failure = params.word("failure_reason", &refunds::FAILURES)?;
    let status = match word {
        "succeed" => RefundStatus::Succeeded,
        "fail" => RefundStatus::Failed,
        "cancel" => RefundStatus::Canceled,
        _ => return Err(Refusal::no_such("script", word)),
    };
    changed(db, params, id, |refund, db| {
        refunds::turn(db, refund, status, failure)
    })
}

fn dispute(db: &mut Database, params: &Params) -> Result<Value> {
    let charge = params.text("charge")?;
    let intent = params.text("payment_intent")?;
    let wanted = disputes::DisputeParams {
        amount: params.integer("amount")?,
        reason: params.word("reason", &disputes::REASONS)?,
        inquiry: params.flag("inquiry")? == Some(true),
    };
    params.finish()?;
    let charge = charge_of(db, charge, intent)?;
    let dispute = disputes::open(db, charge, wanted)?;
    Ok(dispute.view(db))
}

fn decide(db: &mut Database, params: &Params, id: &str, word: &str) -> Result<Value> {
    changed(db, params, id, |dispute, db| match word {
        "win" => disputes::close(db, dispute, true),
        "lose" | "close" => disputes::close(db, dispute, false),
        "escalate" => disputes::escalate(db, dispute),
        "answer" => disputes::answer(db, dispute),
        _ => Err(Refusal::no_such("script", word)),
    })
}

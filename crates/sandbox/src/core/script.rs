//! Routes for scripts that play the bank: `POST /script/...`, with the project's key and forms like Stripe's. Stripe
//! has no such routes; the resulting events are the same.

use super::api::{changed, refunds::charge_of};
use crate::core::prelude::*;

pub(crate) fn call(db: &mut Database, method: &str, path: &str, params: &Params) -> Result<Value> {
    let segments: Vec<&str> = path.split('/').collect();
    match (method, segments.as_slice()) {
        ("POST", ["charges", id]) => charge(db, params, id),
        ("POST", ["customers", id]) => customer(db, params, id),
        // A bank that took its time answers at once.
        ("POST", ["payment_intents", id, word]) => {
            changed(db, params, id, |mut intent: PaymentIntent, db| {
                intent.declines = match *word {
                    "settle" => None,
                    "fail" => Some("insufficient_funds".into()),
                    _ => return Err(Refusal::no_such("script", word)),
                };
                let message = "This payment is not processing.";
                Refusal::invalid(message).when(intent.status != IntentStatus::Processing)?;
                intent.answer(db);
                db.find(id)
            })
        }
        // Pays a part by a payment of its own.
        ("POST", ["invoices", id, "pay_part"]) => {
            let amount = need(params.integer("amount")?, "amount")?;
            changed(db, params, id, |invoice: Invoice, db| {
                invoice.pay_part(db, amount)?;
                db.find(id)
            })
        }
        ("POST", ["refunds", id, word]) => refund(db, params, id, word),
        ("POST", ["subscriptions", id, word]) => {
            changed(db, params, id, |mut subscription: Subscription, db| {
                match *word {
                    "pause" => return subscription.suspend(db),
                    "lose_card" => subscription.no_card = true,
                    "stay_unpaid" => subscription.stays_unpaid = true,
                    _ => return Err(Refusal::no_such("script", word)),
                }
                Ok(db.stored(subscription))
            })
        }
        // As Stripe does after days of failures.
        ("POST", ["webhook_endpoints", id, "disable"]) => {
            changed(db, params, id, |endpoint: Endpoint, db| {
                let enabled = false;
                Ok(db.stored(Endpoint {
                    enabled,
                    ..endpoint
                }))
            })
        }
        ("POST", ["disputes"]) => dispute(db, params),
        ("POST", ["disputes", id, word]) => changed(db, params, id, |dispute, db| match *word {
            "win" => disputes::close(db, dispute, true),
            "lose" | "close" => disputes::close(db, dispute, false),
            "escalate" => disputes::escalate(db, dispute),
            "answer" => disputes::answer(db, dispute),
            _ => Err(Refusal::no_such("script", word)),
        }),
        _ => Err(Refusal {
            message: format!("There is no such script ({method}: /script/{path})."),
            ..Refusal::no_route(method, path)
        }),
    }
}

/// Sets whether a customer's cards decline, or which test card their saved cards behave like from now on.
fn customer(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let (declines, card) = (params.flag("declines")?, params.text("card")?);
    let card = card.map(|number| cards::typed(Some(&number))).transpose()?;
    Refusal::missing("declines").when(declines.is_none() && card.is_none())?;
    changed(db, params, id, |customer: Customer, db| {
        if let Some(card) = card {
            let theirs = |method: &PaymentMethod| method.customer.as_deref() == Some(id);
            for method in db.copies(theirs) {
                db.put(PaymentMethod {
                    number: card.0.into(),
                    ..method
                });
            }
        }
        let declines = declines.unwrap_or(customer.declines);
        Ok(db.stored(Customer {
            declines,
            ..customer
        }))
    })
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
    let amount = params.integer("amount")?;
    let reason = params.word("reason", &disputes::REASONS)?;
    let is_inquiry = params.flag("inquiry")? == Some(true);
    params.finish()?;
    let charge = charge_of(db, charge, intent)?;
    let dispute = disputes::open(db, charge, amount, reason, is_inquiry)?;
    Ok(dispute.view(db))
}

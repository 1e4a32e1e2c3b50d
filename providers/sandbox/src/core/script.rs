//! What happens at a bank, said by a script: `POST /script/...`, with the project's key and in forms
//! as Stripe's API has them. Nothing here is Stripe's; what comes of it is.

use serde_json::Value;

use super::{
    api::refunds::charge_of,
    billing,
    books::{Desk, Kept as _},
    disputes,
    objects::{Charge, Customer, Dispute, Endpoint, Invoice, Refund, RefundStatus, Subscription},
    params::Params,
    refunds,
    refusal::Refusal,
};

/// Answers `POST /script/<path>`.
pub(crate) fn call(
    desk: &mut Desk<'_>,
    method: &str,
    path: &str,
    params: &Params,
) -> Result<Value, Refusal> {
    let segments: Vec<&str> = path.split('/').collect();
    match (method, segments.as_slice()) {
        ("POST", ["charges", id]) => charge(desk, params, id),
        ("POST", ["customers", id]) => customer(desk, params, id),
        ("POST", ["invoices", id, "pay_part"]) => pay_part(desk, params, id),
        ("POST", ["refunds", id, word]) => refund(desk, params, id, word),
        ("POST", ["subscriptions", id, word]) => subscription(desk, params, id, word),
        ("POST", ["webhook_endpoints", id, "disable"]) => disable(desk, params, id),
        ("POST", ["disputes"]) => dispute(desk, params),
        ("POST", ["disputes", id, word]) => decide(desk, params, id, word),
        _ => Err(Refusal {
            message: format!("There is no such script ({method}: /script/{path})."),
            ..Refusal::no_route(method, path)
        }),
    }
}

/// How refunds of a payment begin: by the charge's name or the payment's.
fn charge(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    let word = params.word("refunds", &["succeeded", "pending", "failed"])?;
    let word = word.ok_or_else(|| Refusal::missing("refunds"))?;
    params.finish()?;
    let (charge, intent) = if id.starts_with("pi_") {
        (None, Some(id.to_owned()))
    } else {
        (Some(id.to_owned()), None)
    };
    let mut charge: Charge = charge_of(desk, charge, intent)?;
    charge.refunds = match word {
        "pending" => RefundStatus::Pending,
        "failed" => RefundStatus::Failed,
        _ => RefundStatus::Succeeded,
    };
    desk.books.put(charge.clone());
    Ok(charge.view(desk.books))
}

/// Whether their card declines.
fn customer(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    let declines = params.flag("declines")?;
    let declines = declines.ok_or_else(|| Refusal::missing("declines"))?;
    params.finish()?;
    let mut customer: Customer = desk.books.find(id)?;
    customer.declines = declines;
    desk.books.put(customer.clone());
    Ok(customer.view(desk.books))
}

/// A part of an invoice is paid, by a payment of its own.
fn pay_part(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    let amount = params.integer("amount")?;
    let amount = amount.ok_or_else(|| Refusal::missing("amount"))?;
    params.finish()?;
    let invoice: Invoice = desk.books.find(id)?;
    billing::pay_part(desk, invoice, amount)?;
    let invoice: Invoice = desk.books.find(id)?;
    Ok(invoice.view(desk.books))
}

/// Days of failures: nothing more is sent there.
fn disable(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    params.finish()?;
    let mut endpoint: Endpoint = desk.books.find(id)?;
    endpoint.enabled = false;
    desk.books.put(endpoint.clone());
    Ok(endpoint.view(desk.books))
}

/// A trial that ended without a card, or will.
fn subscription(
    desk: &mut Desk<'_>,
    params: &Params,
    id: &str,
    word: &str,
) -> Result<Value, Refusal> {
    params.finish()?;
    let mut subscription: Subscription = desk.books.find(id)?;
    match word {
        "pause" => subscription = billing::suspend(desk, subscription)?,
        "lose_card" => {
            subscription.no_card = true;
            desk.books.put(subscription.clone());
        }
        _ => return Err(Refusal::no_such("script", word)),
    }
    Ok(subscription.view(desk.books))
}

fn refund(desk: &mut Desk<'_>, params: &Params, id: &str, word: &str) -> Result<Value, Refusal> {
    let failure = params.word("failure_reason", &refunds::FAILURES)?;
    params.finish()?;
    let status = match word {
        "succeed" => RefundStatus::Succeeded,
        "fail" => RefundStatus::Failed,
        "cancel" => RefundStatus::Canceled,
        _ => return Err(Refusal::no_such("script", word)),
    };
    let refund: Refund = desk.books.find(id)?;
    let refund = refunds::turn(desk, refund, status, failure)?;
    Ok(refund.view(desk.books))
}

fn dispute(desk: &mut Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let charge = params.text("charge")?;
    let intent = params.text("payment_intent")?;
    let wanted = disputes::Wanted {
        amount: params.integer("amount")?,
        reason: params.word("reason", &disputes::REASONS)?,
        inquiry: params.flag("inquiry")? == Some(true),
    };
    params.finish()?;
    let charge = charge_of(desk, charge, intent)?;
    let dispute = disputes::open(desk, charge, wanted)?;
    Ok(dispute.view(desk.books))
}

fn decide(desk: &mut Desk<'_>, params: &Params, id: &str, word: &str) -> Result<Value, Refusal> {
    params.finish()?;
    let dispute: Dispute = desk.books.find(id)?;
    let dispute = match word {
        "win" => disputes::close(desk, dispute, true)?,
        "lose" | "close" => disputes::close(desk, dispute, false)?,
        "escalate" => disputes::escalate(desk, dispute)?,
        "answer" => disputes::answer(desk, dispute)?,
        _ => return Err(Refusal::no_such("script", word)),
    };
    Ok(dispute.view(desk.books))
}

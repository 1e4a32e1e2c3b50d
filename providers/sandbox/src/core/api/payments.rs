//! Payments and disputes about them.

use serde_json::Value;

use super::read;
use crate::core::{
    books::Desk,
    disputes,
    params::Params,
    records::{Charge, Dispute, Intent},
    refusal::Refusal,
    views::View as _,
};

fn fits<T: PartialEq>(wanted: &Option<T>, found: Option<&T>) -> bool {
    wanted.as_ref().is_none_or(|wanted| Some(wanted) == found)
}

pub(super) fn charges(desk: &Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let customer = params.text("customer")?;
    let intent = params.text("payment_intent")?;
    read::some::<Charge>(desk, params, "/v1/charges", |charge| {
        fits(&customer, charge.customer.as_ref()) && fits(&intent, Some(&charge.intent))
    })
}

pub(super) fn intents(desk: &Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let customer = params.text("customer")?;
    read::some::<Intent>(desk, params, "/v1/payment_intents", |intent| {
        fits(&customer, intent.customer.as_ref())
    })
}

pub(super) fn disputes(desk: &Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let charge = params.text("charge")?;
    let intent = params.text("payment_intent")?;
    read::some::<Dispute>(desk, params, "/v1/disputes", |dispute| {
        fits(&charge, Some(&dispute.charge)) && fits(&intent, Some(&dispute.intent))
    })
}

/// Evidence is not kept; sending some is.
pub(super) fn update_dispute(
    desk: &mut Desk<'_>,
    params: &Params,
    id: &str,
) -> Result<Value, Refusal> {
    let mut dispute: Dispute = desk.books.find(id)?;
    params.change_metadata("metadata", &mut dispute.metadata)?;
    let submit = params.flag("submit")?;
    let names = params.below("evidence");
    for name in &names {
        params.text(&format!("evidence[{name}]"))?;
    }
    params.finish()?;
    desk.books.put(dispute.clone());
    // Evidence is submitted unless it is staged.
    let sends = submit.unwrap_or(!names.is_empty());
    if sends {
        dispute = disputes::answer(desk, dispute)?;
    }
    Ok(dispute.view(desk.books))
}

/// The shop gives in.
pub(super) fn close_dispute(
    desk: &mut Desk<'_>,
    params: &Params,
    id: &str,
) -> Result<Value, Refusal> {
    params.finish()?;
    let dispute: Dispute = desk.books.find(id)?;
    if !dispute.status.is_open() {
        let message = "This dispute is already closed.";
        return Err(Refusal::invalid(message).with_code("dispute_closed"));
    }
    let dispute = disputes::close(desk, dispute, false)?;
    Ok(dispute.view(desk.books))
}

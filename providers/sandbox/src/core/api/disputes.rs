//! Disputes.

use serde_json::Value;

use crate::core::{
    books::{Desk, Kept as _},
    disputes,
    objects::Dispute,
    params::Params,
    refusal::Refusal,
};

/// Evidence is not kept; sending some is.
pub(super) fn update(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
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
pub(super) fn close(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    params.finish()?;
    let dispute: Dispute = desk.books.find(id)?;
    if !dispute.status.is_open() {
        let message = "This dispute is already closed.";
        return Err(Refusal::invalid(message).with_code("dispute_closed"));
    }
    let dispute = disputes::close(desk, dispute, false)?;
    Ok(dispute.view(desk.books))
}

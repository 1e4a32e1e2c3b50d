//! The endpoints of disputes.

use super::read;
use crate::core::prelude::*;

/// Evidence itself is not stored, only that it was sent.
pub(super) fn update(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let mut dispute: Dispute = db.find(id)?;
    params.change_metadata("metadata", &mut dispute.metadata)?;
    let submit = params.flag("submit")?;
    let names = params.below("evidence");
    for name in &names {
        params.text(&format!("evidence[{name}]"))?;
    }
    params.finish()?;
    db.put(dispute.clone());
    // Evidence is submitted unless it is staged.
    let sends = submit.unwrap_or(!names.is_empty());
    if sends {
        dispute = disputes::answer(db, dispute)?;
    }
    Ok(dispute.view(db))
}

/// The shop accepts the dispute as lost.
pub(super) fn close(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    read::changed(db, params, id, |dispute: Dispute, db| {
        disputes::closed().when(!dispute.status.is_open())?;
        disputes::close(db, dispute, false)
    })
}

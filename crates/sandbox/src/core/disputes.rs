//! Disputes and inquiries of a buyer's bank: opened, answered, won or lost. A charge may have several, never above its
//! amount.

use super::money::written;
use crate::core::prelude::*;

pub(crate) const REASONS: [&str; 8] = [
    "credit_not_processed",
    "duplicate",
    "fraudulent",
    "general",
    "product_not_received",
    "product_unacceptable",
    "subscription_canceled",
    "unrecognized",
];

/// The disputes of a charge, newest first.
pub(crate) fn of<'a>(db: &'a Database, charge: &str) -> Vec<&'a Dispute> {
    db.newest::<Dispute>(|dispute| dispute.charge == charge)
}

/// The part of a charge that is neither refunded nor disputed.
pub(crate) fn left(db: &Database, charge: &Charge) -> i64 {
    let held = of(db, &charge.head.id)
        .into_iter()
        .filter(|dispute| dispute.status.holds());
    held.fold(charge.left(), |left, dispute| {
        left.saturating_sub(dispute.amount)
    })
}

/// Opens a dispute, which withholds the money, or an inquiry; over all that is left without an amount.
pub(crate) fn open(
    db: &mut Database,
    mut charge: Charge,
    amount: Option<i64>,
    reason: Option<&'static str>,
    inquiry: bool,
) -> Result<Dispute> {
    let left = left(db, &charge);
    Refusal::invalid("There is nothing left of this payment to dispute.").when(left <= 0)?;
    let amount = amount.unwrap_or(left);
    let message = format!("At most {} is left of it.", written(left, &charge.currency));
    Refusal::param("amount", message).when(!(1..=left).contains(&amount))?;
    let mut dispute = Dispute {
        head: db.head("du_"),
        amount,
        currency: charge.currency.clone(),
        charge: charge.head.id.clone(),
        intent: charge.intent.clone(),
        reason: reason.unwrap_or("fraudulent").into(),
        ..Dispute::default()
    };
    if !inquiry {
        withdraw(db, &mut dispute);
    }
    charge.dispute = Some(dispute.head.id.clone());
    db.put(charge);
    db.put_and_emit("charge.dispute.created", &dispute);
    if !inquiry {
        db.emit("charge.dispute.funds_withdrawn", &dispute);
    }
    Ok(dispute)
}

fn withdraw(db: &mut Database, dispute: &mut Dispute) {
    dispute.status = DisputeStatus::NeedsResponse;
    dispute.withdrawn = Some(Movement {
        id: db.ids.usual("txn_"),
        at: db.now,
    });
}

pub(crate) fn escalate(db: &mut Database, mut dispute: Dispute) -> Result<Dispute> {
    match dispute.status {
        DisputeStatus::WarningNeedsResponse | DisputeStatus::WarningUnderReview => {}
        DisputeStatus::NeedsResponse => return Ok(dispute),
        _ => return Err(Refusal::invalid("Only an open inquiry becomes a dispute.")),
    }
    let charge: Charge = db.find(&dispute.charge)?;
    Refusal::invalid("There is less left of this payment than the inquiry was about.")
        .when(dispute.amount > left(db, &charge))?;
    withdraw(db, &mut dispute);
    db.put_and_emit("charge.dispute.updated", &dispute);
    db.emit("charge.dispute.funds_withdrawn", &dispute);
    Ok(dispute)
}

pub(crate) fn closed() -> Refusal {
    Refusal::invalid("This dispute is already closed.").with_code("dispute_closed")
}

/// The shop submits evidence: the dispute is under review.
pub(crate) fn answer(db: &mut Database, mut dispute: Dispute) -> Result<Dispute> {
    dispute.status = match dispute.status {
        DisputeStatus::NeedsResponse => DisputeStatus::UnderReview,
        DisputeStatus::WarningNeedsResponse => DisputeStatus::WarningUnderReview,
        DisputeStatus::UnderReview | DisputeStatus::WarningUnderReview => return Ok(dispute),
        _ => return Err(closed()),
    };
    dispute.answers += 1;
    db.put_and_emit("charge.dispute.updated", &dispute);
    Ok(dispute)
}

/// Closes a dispute; a lost one may be won later. Repeating a decision changes nothing. A closed inquiry is neither won
/// nor lost.
pub(crate) fn close(db: &mut Database, mut dispute: Dispute, won: bool) -> Result<Dispute> {
    let status = match (dispute.status.is_inquiry(), won) {
        (true, _) => DisputeStatus::WarningClosed,
        (false, true) => DisputeStatus::Won,
        (false, false) => DisputeStatus::Lost,
    };
    if dispute.status == status {
        return Ok(dispute);
    }
    let overturned = dispute.status == DisputeStatus::Lost && won;
    Refusal::invalid("This dispute was already decided differently.")
        .when(!dispute.status.is_open() && !overturned)?;
    dispute.status = status;
    if status == DisputeStatus::Won {
        dispute.reinstated = Some(Movement {
            id: db.ids.usual("txn_"),
            at: db.now,
        });
    }
    db.put_and_emit("charge.dispute.closed", &dispute);
    if status == DisputeStatus::Won {
        db.emit("charge.dispute.funds_reinstated", &dispute);
    }
    Ok(dispute)
}

//! Refunds, full or partial, one or several of a charge. Never above its amount, and none during a dispute. A refund
//! may be pending for days, and may fail.

use super::{disputes, money::written};
use crate::core::prelude::*;

/// Stripe's codes for why a refund fails.
pub(crate) const FAILURES: [&str; 6] = [
    "charge_for_pending_refund_disputed",
    "declined",
    "expired_or_canceled_card",
    "insufficient_funds",
    "lost_or_stolen_card",
    "unknown",
];

#[derive(Default)]
pub(crate) struct RefundParams {
    /// `None` for all that is left.
    pub(crate) amount: Option<i64>,
    pub(crate) reason: Option<&'static str>,
    pub(crate) metadata: Metadata,
    /// Its first status; `None` for the charge's setting.
    pub(crate) status: Option<RefundStatus>,
}

pub(crate) fn refund(
    db: &mut Database,
    mut charge: Charge,
    wanted: RefundParams,
) -> Result<Refund> {
    let id = &charge.head.id;
    let disputed = disputes::of(db, id)
        .iter()
        .any(|dispute| dispute.status.holds());
    let message = format!("Charge {id} has been charged back; cannot issue a refund.");
    Refusal::invalid(message)
        .with_code("charge_disputed")
        .when(disputed)?;
    let left = charge.left();
    let message = format!("Charge {id} has already been refunded.");
    Refusal::invalid(message)
        .with_code("charge_already_refunded")
        .when(left == 0)?;
    let amount = wanted.amount.unwrap_or(left);
    if amount <= 0 {
        let refusal = Refusal::not_positive("amount");
        return Err(refusal.with_code("parameter_invalid_integer"));
    }
    let message = format!(
        "Refund amount ({}) is greater than unrefunded amount on charge ({})",
        written(amount, &charge.currency),
        written(left, &charge.currency),
    );
    Refusal::param("amount", message).when(amount > left)?;
    let status = wanted.status.unwrap_or(charge.refunds);
    let refund = Refund {
        head: db.head("re_"),
        amount,
        currency: charge.currency.clone(),
        charge: charge.head.id.clone(),
        intent: charge.intent.clone(),
        reason: wanted.reason.map(Into::into),
        metadata: wanted.metadata,
        status,
        failure: (status == RefundStatus::Failed).then(|| "unknown".into()),
    };
    db.put_and_emit("refund.created", &refund);
    if status.takes() {
        charge.amount_refunded = charge.amount_refunded.saturating_add(amount);
        db.put_and_emit("charge.refunded", &charge);
    } else {
        db.emit("refund.failed", &refund);
    }
    Ok(refund)
}

/// Changes the status of a refund. Repeating it changes nothing.
pub(crate) fn turn(
    db: &mut Database,
    mut refund: Refund,
    status: RefundStatus,
    failure: Option<&'static str>,
) -> Result<Refund> {
    if refund.status == status {
        return Ok(refund);
    }
    let possible = match (refund.status, status) {
        (RefundStatus::Pending, _) => status != RefundStatus::Pending,
        // A bank may return a refund that it seemed to accept.
        (RefundStatus::Succeeded, RefundStatus::Failed) => true,
        _ => false,
    };
    let message = format!(
        "This refund is {} and cannot become {}.",
        refund.status.word(),
        status.word()
    );
    Refusal::invalid(message).when(!possible)?;
    refund.status = status;
    if status == RefundStatus::Failed {
        refund.failure = Some(failure.unwrap_or("unknown").into());
    }
    if !status.takes() {
        let mut charge: Charge = db.find(&refund.charge)?;
        charge.amount_refunded = charge.amount_refunded.saturating_sub(refund.amount).max(0);
        db.put(charge);
    }
    db.put_and_emit("refund.updated", &refund);
    db.emit("charge.refund.updated", &refund);
    if status == RefundStatus::Failed {
        db.emit("refund.failed", &refund);
    }
    Ok(refund)
}

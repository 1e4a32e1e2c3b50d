//! The endpoints of refunds.

use crate::core::{
    prelude::*,
    refunds::{RefundParams, refund},
};

pub(super) fn create(db: &mut Database, params: &Params) -> Result<Value> {
    let charge = params.text("charge")?;
    let intent = params.text("payment_intent")?;
    let wanted = RefundParams {
        amount: params.integer("amount")?,
        reason: params.word(
            "reason",
            &["duplicate", "fraudulent", "requested_by_customer"],
        )?,
        metadata: params.metadata("metadata")?,
        status: None,
    };
    params.finish()?;
    let charge = charge_of(db, charge, intent)?;
    let refund = refund(db, charge, wanted)?;
    Ok(refund.view(db))
}

/// The charge that a request names, by its id or its payment intent's.
pub(in crate::core) fn charge_of(
    db: &Database,
    charge: Option<String>,
    intent: Option<String>,
) -> Result<Charge> {
    match (charge, intent) {
        (Some(charge), None) => db.named(&charge, "charge"),
        (None, Some(intent)) => {
            const PARAM: &str = "payment_intent";
            let intent: PaymentIntent = db.named(&intent, PARAM)?;
            let message = "This PaymentIntent does not have a successful charge to refund.";
            let is_paid = intent.status == IntentStatus::Succeeded;
            let charge = intent.latest_charge.filter(|_| is_paid);
            let charge = charge.ok_or_else(|| Refusal::param(PARAM, message))?;
            db.named(&charge, PARAM)
        }
        _ => {
            let message = "One of the following params should be provided for this request: \
                           payment_intent or charge.";
            Err(Refusal::invalid(message))
        }
    }
}

/// Changes only a refund's metadata.
pub(super) fn update(db: &mut Database, params: &Params, id: &str) -> Result<Value> {
    let mut refund: Refund = db.find(id)?;
    params.change_metadata("metadata", &mut refund.metadata)?;
    params.finish()?;
    db.put_and_emit("refund.updated", &refund);
    db.emit("charge.refund.updated", &refund);
    Ok(refund.view(db))
}

/// Always refuses: refunds to cards are sent at once, so none can be canceled.
pub(super) fn cancel(db: &Database, params: &Params, id: &str) -> Result<Value> {
    params.finish()?;
    let refund: Refund = db.find(id)?;
    let message = format!(
        "You can only cancel a refund with the status requires_action. This refund is {}.",
        refund.status.word()
    );
    Err(Refusal::invalid(message))
}

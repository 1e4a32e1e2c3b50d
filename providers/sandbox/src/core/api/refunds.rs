//! Refunds.

use serde_json::Value;

use crate::core::{
    books::{Desk, Kept as _},
    objects::{Charge, Intent, Refund},
    params::Params,
    refunds::{Wanted, refund},
    refusal::Refusal,
};

pub(super) fn create(desk: &mut Desk<'_>, params: &Params) -> Result<Value, Refusal> {
    let charge = params.text("charge")?;
    let intent = params.text("payment_intent")?;
    let wanted = Wanted {
        amount: params.integer("amount")?,
        reason: params.word(
            "reason",
            &["duplicate", "fraudulent", "requested_by_customer"],
        )?,
        metadata: params.metadata("metadata")?,
        status: None,
    };
    params.finish()?;
    let charge = charge_of(desk, charge, intent)?;
    let refund = refund(desk, charge, wanted)?;
    Ok(refund.view(desk.books))
}

/// The charge that a request names, by itself or by its payment.
pub(in crate::core) fn charge_of(
    desk: &Desk<'_>,
    charge: Option<String>,
    intent: Option<String>,
) -> Result<Charge, Refusal> {
    let (id, param) = match (charge, intent) {
        (Some(charge), None) => (charge, "charge"),
        (None, Some(intent)) => {
            let intent: Intent = desk
                .books
                .find(&intent)
                .map_err(|refusal| refusal.of_param("payment_intent"))?;
            let nothing = || {
                let message = "This PaymentIntent does not have a successful charge to refund.";
                Refusal::param("payment_intent", message)
            };
            (intent.latest_charge.ok_or_else(nothing)?, "payment_intent")
        }
        _ => {
            let message = "One of the following params should be provided for this request: \
                           payment_intent or charge.";
            return Err(Refusal::invalid(message));
        }
    };
    let charge = desk.books.find(&id);
    charge.map_err(|refusal| refusal.of_param(param))
}

/// Only what is written on it changes.
pub(super) fn update(desk: &mut Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    let mut refund: Refund = desk.books.find(id)?;
    params.change_metadata("metadata", &mut refund.metadata)?;
    params.finish()?;
    desk.books.put(refund.clone());
    desk.emit("refund.updated", &refund);
    desk.emit("charge.refund.updated", &refund);
    Ok(refund.view(desk.books))
}

/// Refunds to cards are on their way at once, so none waits to be called off.
pub(super) fn cancel(desk: &Desk<'_>, params: &Params, id: &str) -> Result<Value, Refusal> {
    params.finish()?;
    let refund: Refund = desk.books.find(id)?;
    let message = format!(
        "You can only cancel a refund with the status requires_action. This refund is {}.",
        refund.status.word()
    );
    Err(Refusal::invalid(message))
}

//! Giving money back, all of it or a part, once or several times. Never more than was taken, and
//! nothing while a bank decides about it.

use super::{
    books::Desk,
    money::written,
    params::Metadata,
    records::{Charge, Dispute, DisputeStatus, Refund},
    refusal::Refusal,
};

/// What is to go back.
#[derive(Default)]
pub(crate) struct Wanted {
    /// `None`: all that is left.
    pub(crate) amount: Option<i64>,
    pub(crate) reason: Option<&'static str>,
    pub(crate) metadata: Metadata,
}

/// Gives it back.
pub(crate) fn refund(
    desk: &mut Desk<'_>,
    mut charge: Charge,
    wanted: Wanted,
) -> Result<Refund, Refusal> {
    let id = &charge.head.id;
    let dispute = charge
        .dispute
        .as_deref()
        .and_then(|id| desk.books.get::<Dispute>(id));
    if dispute.is_some_and(|dispute| dispute.status != DisputeStatus::Won) {
        let message = format!("Charge {id} has been charged back; cannot issue a refund.");
        return Err(Refusal::invalid(message).with_code("charge_disputed"));
    }
    let left = charge.left();
    if left == 0 {
        let message = format!("Charge {id} has already been refunded.");
        return Err(Refusal::invalid(message).with_code("charge_already_refunded"));
    }
    let amount = wanted.amount.unwrap_or(left);
    if amount <= 0 {
        let message = "This value must be greater than or equal to 1.";
        let refusal = Refusal::param("amount", message);
        return Err(refusal.with_code("parameter_invalid_integer"));
    }
    if amount > left {
        let message = format!(
            "Refund amount ({}) is greater than unrefunded amount on charge ({})",
            written(amount, &charge.currency),
            written(left, &charge.currency),
        );
        return Err(Refusal::param("amount", message));
    }
    let refund = Refund {
        head: desk.head("re_"),
        amount,
        currency: charge.currency.clone(),
        charge: charge.head.id.clone(),
        intent: charge.intent.clone(),
        reason: wanted.reason.map(Into::into),
        metadata: wanted.metadata,
    };
    charge.amount_refunded = charge.amount_refunded.saturating_add(amount);
    desk.books.put(refund.clone());
    desk.books.put(charge.clone());
    desk.emit("charge.refunded", &charge);
    Ok(refund)
}

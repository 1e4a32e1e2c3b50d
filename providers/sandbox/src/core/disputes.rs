//! A buyer's bank asks for the money back: opened, then won or lost. Once for each charge.

use super::{
    books::Desk,
    records::{Charge, Dispute, DisputeStatus},
    refusal::Refusal,
};

/// The bank withholds the money.
pub(crate) fn open(desk: &mut Desk<'_>, mut charge: Charge) -> Result<(), Refusal> {
    if charge.dispute.is_some() {
        return Err(Refusal::invalid("This payment was disputed already."));
    }
    if charge.left() == 0 {
        return Err(Refusal::invalid(
            "There is nothing left of this payment to dispute.",
        ));
    }
    let dispute = Dispute {
        head: desk.head("du_"),
        amount: charge.left(),
        currency: charge.currency.clone(),
        charge: charge.head.id.clone(),
        intent: charge.intent.clone(),
        status: DisputeStatus::NeedsResponse,
    };
    charge.dispute = Some(dispute.head.id.clone());
    desk.books.put(charge);
    desk.books.put(dispute.clone());
    desk.emit("charge.dispute.created", &dispute);
    desk.emit("charge.dispute.funds_withdrawn", &dispute);
    Ok(())
}

/// The bank decides. Saying again what it decided changes nothing.
pub(crate) fn close(desk: &mut Desk<'_>, charge: &Charge, won: bool) -> Result<(), Refusal> {
    let Some(id) = &charge.dispute else {
        return Err(Refusal::invalid("This payment is not disputed."));
    };
    let mut dispute: Dispute = desk.books.find(id)?;
    let status = if won {
        DisputeStatus::Won
    } else {
        DisputeStatus::Lost
    };
    if dispute.status == status {
        return Ok(());
    }
    if dispute.status != DisputeStatus::NeedsResponse {
        return Err(Refusal::invalid("This dispute was decided otherwise."));
    }
    dispute.status = status;
    desk.books.put(dispute.clone());
    desk.emit("charge.dispute.closed", &dispute);
    if won {
        desk.emit("charge.dispute.funds_reinstated", &dispute);
    }
    Ok(())
}

//! A buyer's bank asks for the money back, or only asks: opened, answered, then won or lost. Several
//! for one charge, never for more than there is of it.

use super::money::written;
use crate::core::prelude::*;

/// What a bank may say.
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

/// What the bank wants.
#[derive(Default)]
pub(crate) struct Wanted {
    /// `None`: all that is left.
    pub(crate) amount: Option<i64>,
    pub(crate) reason: Option<&'static str>,
    /// It only asks, for now.
    pub(crate) inquiry: bool,
}

/// Those of a charge, the newest first.
pub(crate) fn of<'a>(books: &'a Books, charge: &str) -> Vec<&'a Dispute> {
    books.newest::<Dispute>(|dispute| dispute.charge == charge)
}

/// What of a charge is neither refunded nor in a bank's hands.
pub(crate) fn left(books: &Books, charge: &Charge) -> i64 {
    let held = of(books, &charge.head.id)
        .into_iter()
        .filter(|dispute| dispute.status.holds());
    held.fold(charge.left(), |left, dispute| {
        left.saturating_sub(dispute.amount)
    })
}

/// The bank withholds the money, or asks.
pub(crate) fn open(books: &mut Books, mut charge: Charge, wanted: Wanted) -> Result<Dispute> {
    let left = left(books, &charge);
    Refusal::invalid("There is nothing left of this payment to dispute.").when(left <= 0)?;
    let amount = wanted.amount.unwrap_or(left);
    let message = format!("At most {} is left of it.", written(left, &charge.currency));
    Refusal::param("amount", message).when(!(1..=left).contains(&amount))?;
    let mut dispute = Dispute {
        head: books.head("du_"),
        amount,
        currency: charge.currency.clone(),
        charge: charge.head.id.clone(),
        intent: charge.intent.clone(),
        reason: wanted.reason.unwrap_or("fraudulent").into(),
        ..Dispute::default()
    };
    if !wanted.inquiry {
        withdraw(books, &mut dispute);
    }
    charge.dispute = Some(dispute.head.id.clone());
    books.put(charge);
    books.tell("charge.dispute.created", &dispute);
    if !wanted.inquiry {
        books.emit("charge.dispute.funds_withdrawn", &dispute);
    }
    Ok(dispute)
}

fn withdraw(books: &mut Books, dispute: &mut Dispute) {
    dispute.status = DisputeStatus::NeedsResponse;
    dispute.withdrawn = Some(Movement {
        id: books.ids.usual("txn_"),
        at: books.now,
    });
}

/// The question becomes a demand.
pub(crate) fn escalate(books: &mut Books, mut dispute: Dispute) -> Result<Dispute> {
    match dispute.status {
        DisputeStatus::WarningNeedsResponse | DisputeStatus::WarningUnderReview => {}
        DisputeStatus::NeedsResponse => return Ok(dispute),
        _ => return Err(Refusal::invalid("Only an open inquiry becomes a dispute.")),
    }
    let charge: Charge = books.find(&dispute.charge)?;
    Refusal::invalid("There is less left of this payment than the inquiry was about.")
        .when(dispute.amount > left(books, &charge))?;
    withdraw(books, &mut dispute);
    books.tell("charge.dispute.updated", &dispute);
    books.emit("charge.dispute.funds_withdrawn", &dispute);
    Ok(dispute)
}

/// The bank has decided already.
pub(crate) fn closed() -> Refusal {
    Refusal::invalid("This dispute is already closed.").with_code("dispute_closed")
}

/// The shop sends evidence: now the bank has to look.
pub(crate) fn answer(books: &mut Books, mut dispute: Dispute) -> Result<Dispute> {
    dispute.status = match dispute.status {
        DisputeStatus::NeedsResponse => DisputeStatus::UnderReview,
        DisputeStatus::WarningNeedsResponse => DisputeStatus::WarningUnderReview,
        DisputeStatus::UnderReview | DisputeStatus::WarningUnderReview => return Ok(dispute),
        _ => return Err(closed()),
    };
    dispute.answers = dispute.answers.saturating_add(1);
    books.tell("charge.dispute.updated", &dispute);
    Ok(dispute)
}

/// The bank decides, and may find for the shop after all. Saying again what it decided changes nothing.
/// A question that is closed is neither won nor lost: nothing was taken.
pub(crate) fn close(books: &mut Books, mut dispute: Dispute, won: bool) -> Result<Dispute> {
    let status = match (dispute.status.is_inquiry(), won) {
        (true, _) => DisputeStatus::WarningClosed,
        (false, true) => DisputeStatus::Won,
        (false, false) => DisputeStatus::Lost,
    };
    if dispute.status == status {
        return Ok(dispute);
    }
    let overturned = dispute.status == DisputeStatus::Lost && won;
    Refusal::invalid("This dispute was decided otherwise.")
        .when(!dispute.status.is_open() && !overturned)?;
    dispute.status = status;
    if status == DisputeStatus::Won {
        dispute.reinstated = Some(Movement {
            id: books.ids.usual("txn_"),
            at: books.now,
        });
    }
    books.tell("charge.dispute.closed", &dispute);
    if status == DisputeStatus::Won {
        books.emit("charge.dispute.funds_reinstated", &dispute);
    }
    Ok(dispute)
}

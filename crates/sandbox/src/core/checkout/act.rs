//! The actions on a session. A repeat is fine; an action that is no longer possible is refused with the reason.

use super::create::one_currency;
use crate::core::{cards::Bank, prelude::*};

words! {
    Action {
        Pay,
        PayLater,
        Settle,
        Fail,
        /// The bank returns a debit, days later.
        FailLate,
        Decline,
        Expire,
        Promotion,
        /// Pays with a card that needs 3-D Secure.
        Challenge,
        /// Passes 3-D Secure.
        Authenticate,
        /// Fails 3-D Secure.
        FailAuthentication,
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Buyer {
    pub(crate) email: Option<String>,
    pub(crate) code: Option<String>,
    /// The number of the card, if it is not the usual one.
    pub(crate) card: Option<String>,
    /// Whether the box for the terms is unticked; a script has none.
    pub(crate) disagrees: bool,
}

pub(crate) fn act(db: &mut Database, id: &str, action: Action, buyer: &Buyer) -> Result<Session> {
    let mut session: Session = db.find(id)?;
    if session.status == SessionStatus::Open && session.expires_at <= db.now {
        session = close(db, session);
    }
    if let Some(text) = &buyer.email {
        email::checked(text, "email")?;
    }
    match session.status {
        SessionStatus::Open => on_open(db, session, action, buyer),
        SessionStatus::Complete => on_complete(db, session, action),
        SessionStatus::Expired if action == Action::Expire => Ok(session),
        SessionStatus::Expired => Err(Refusal::impossible("This checkout has expired.")),
    }
}

fn on_open(
    db: &mut Database,
    mut session: Session,
    action: Action,
    buyer: &Buyer,
) -> Result<Session> {
    match action {
        Action::Settle => {
            return Err(Refusal::impossible(
                "This checkout is still open: nothing was paid yet.",
            ));
        }
        Action::Expire => return Ok(close(db, session)),
        Action::Decline => return Ok(session),
        Action::Promotion if buyer.code.is_none() => {
            return Err(Refusal::missing("promotionCode"));
        }
        _ => {}
    }
    let challenged = session.challenge.is_some();
    match action {
        Action::Authenticate | Action::FailAuthentication if !challenged => {
            return Err(Refusal::impossible("No 3-D Secure check is pending here."));
        }
        Action::Authenticate => return session.authenticated(db),
        Action::FailAuthentication => return Ok(session.not_authenticated(db)),
        Action::Challenge if challenged => return Ok(session),
        _ => {}
    }
    let pays = matches!(action, Action::Pay | Action::PayLater | Action::Challenge);
    let message = "Agree to the terms of service to go on.";
    Refusal::param("terms", message).when(pays && session.options.terms && buyer.disagrees)?;
    if let Some(code) = &buyer.code {
        enter(db, &mut session, code)?;
    }
    one_currency(db, &session)?;
    let bank = cards::typed(buyer.card.as_deref())?.1;
    match action {
        Action::Pay if bank == Bank::Asks => Ok(session.challenge(db, buyer)),
        Action::Pay => {
            let declines = match bank {
                Bank::Declines(reason) => Some(reason),
                Bank::DeclinesLater => Some("generic_decline"),
                Bank::Pays | Bank::Asks | Bank::Waits(_) => None,
            };
            match declines.filter(|_| session.total() > 0) {
                Some(reason) => Err(Refusal::declined_for(reason)),
                None => session.pay(db, buyer),
            }
        }
        Action::Challenge => Ok(session.challenge(db, buyer)),
        Action::PayLater => session.pay_later(db, buyer),
        Action::Fail | Action::FailLate if session.total() == 0 => Err(Refusal::impossible(
            "There is nothing to pay here, so no payment can fail.",
        )),
        Action::Fail | Action::FailLate => {
            let session = session.pay_later(db, buyer)?;
            session.fail(db, action == Action::FailLate)
        }
        _ => Ok(db.stored(session)),
    }
}

fn on_complete(db: &mut Database, session: Session, action: Action) -> Result<Session> {
    let paid = session.payment_status != PaymentStatus::Unpaid;
    match (action, session.later) {
        (Action::Settle, Some(LaterPayment::Outstanding)) => session.settle(db),
        (Action::Fail | Action::FailLate, Some(LaterPayment::Outstanding)) => {
            session.fail(db, action == Action::FailLate)
        }
        (Action::Settle, Some(LaterPayment::Settled))
        | (Action::Fail | Action::FailLate, Some(LaterPayment::Failed))
        | (Action::PayLater, Some(_)) => Ok(session),
        (Action::Pay | Action::Authenticate, _) if paid => Ok(session),
        (Action::PayLater, None) if session.payment_status == PaymentStatus::NoPaymentRequired => {
            Ok(session)
        }
        (_, Some(LaterPayment::Outstanding)) => Err(Refusal::impossible(
            "This checkout is complete and waits for its payment.",
        )),
        (_, Some(LaterPayment::Failed)) => Err(Refusal::impossible(
            "The payment of this checkout has failed.",
        )),
        _ => Err(Refusal::impossible("This checkout is complete and paid.")),
    }
}

/// Applies a promotion code that a buyer typed.
fn enter(db: &Database, session: &mut Session, text: &str) -> Result<()> {
    const PARAM: &str = "promotionCode";
    let message = "This checkout does not accept promotion codes.";
    Refusal::param(PARAM, message).when(!session.codes_allowed)?;
    let code = promotions::typed(db, text, session.customer.as_deref());
    let code = code.ok_or_else(|| Refusal::param(PARAM, "This promotion code is not valid."))?;
    let applied = promotions::apply_code(db, session, &code);
    applied.map_err(|refusal| refusal.of_param(PARAM))
}

/// Expires a session, in time or by the shop.
pub(crate) fn close(db: &mut Database, mut session: Session) -> Session {
    session.status = SessionStatus::Expired;
    db.put_and_emit("checkout.session.expired", &session);
    session
}

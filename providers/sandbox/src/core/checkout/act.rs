//! What can be done with a session, and when. Doing again what was done is fine; what cannot be
//! done any more is said plainly.

use super::{complete, create::one_currency};
use crate::core::{
    books::Desk,
    email,
    objects::{Later, PaymentStatus, Session, Status},
    promotions,
    refusal::Refusal,
};

/// What a buyer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Pay,
    PayLater,
    Settle,
    Fail,
    /// A debit is given back by a bank, days later.
    FailLate,
    Decline,
    Expire,
    Promotion,
    /// Pays with a card whose bank asks who they are.
    Challenge,
    /// Says it.
    Authenticate,
    /// Does not.
    FailAuthentication,
}

/// What a buyer typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buyer {
    pub(crate) email: Option<String>,
    pub(crate) code: Option<String>,
    /// Whether they left the box unticked by which they agree to the terms. A script has no box.
    pub(crate) disagrees: bool,
}

/// Does it.
pub(crate) fn act(
    desk: &mut Desk<'_>,
    id: &str,
    action: Action,
    buyer: &Buyer,
) -> Result<Session, Refusal> {
    let mut session: Session = desk.books.find(id)?;
    if session.status == Status::Open && session.expires_at <= desk.now {
        session = close(desk, session);
    }
    if let Some(text) = &buyer.email {
        email::checked(text, "email")?;
    }
    match session.status {
        Status::Open => on_open(desk, session, action, buyer),
        Status::Complete => on_complete(desk, session, action),
        Status::Expired if action == Action::Expire => Ok(session),
        Status::Expired => Err(Refusal::impossible("This checkout has expired.")),
    }
}

fn on_open(
    desk: &mut Desk<'_>,
    mut session: Session,
    action: Action,
    buyer: &Buyer,
) -> Result<Session, Refusal> {
    match action {
        Action::Settle => {
            return Err(Refusal::impossible(
                "This checkout is still open: nothing was paid yet.",
            ));
        }
        Action::Expire => return Ok(close(desk, session)),
        Action::Decline => return Ok(session),
        Action::Promotion if buyer.code.is_none() => {
            return Err(Refusal::missing("promotionCode"));
        }
        _ => {}
    }
    let challenged = session.challenge.is_some();
    match action {
        Action::Authenticate | Action::FailAuthentication if !challenged => {
            return Err(Refusal::impossible("Nobody asks this buyer who they are."));
        }
        Action::Authenticate => return complete::authenticated(desk, session),
        Action::FailAuthentication => return Ok(complete::not_authenticated(desk, session)),
        Action::Challenge if challenged => return Ok(session),
        _ => {}
    }
    let pays = matches!(action, Action::Pay | Action::PayLater | Action::Challenge);
    if pays && session.wishes.terms && buyer.disagrees {
        let message = "Agree to the terms of service to go on.";
        return Err(Refusal::param("terms", message));
    }
    if let Some(code) = &buyer.code {
        enter(desk, &mut session, code)?;
    }
    one_currency(desk.books, &session)?;
    match action {
        Action::Pay => complete::at_once(desk, session, buyer.email.as_deref()),
        Action::Challenge => Ok(complete::challenge(desk, session, buyer.email.clone())),
        Action::PayLater => complete::later(desk, session, buyer.email.as_deref()),
        Action::Fail | Action::FailLate if session.total() == 0 => Err(Refusal::impossible(
            "Nothing is to be paid here, so no payment can fail.",
        )),
        Action::Fail | Action::FailLate => {
            let session = complete::later(desk, session, buyer.email.as_deref())?;
            complete::fail(desk, session, action == Action::FailLate)
        }
        _ => {
            desk.books.put(session.clone());
            Ok(session)
        }
    }
}

fn on_complete(desk: &mut Desk<'_>, session: Session, action: Action) -> Result<Session, Refusal> {
    let paid = session.payment_status != PaymentStatus::Unpaid;
    match (action, session.later) {
        (Action::Settle, Some(Later::Outstanding)) => complete::settle(desk, session),
        (Action::Fail | Action::FailLate, Some(Later::Outstanding)) => {
            complete::fail(desk, session, action == Action::FailLate)
        }
        (Action::Settle, Some(Later::Settled))
        | (Action::Fail | Action::FailLate, Some(Later::Failed))
        | (Action::PayLater, Some(_)) => Ok(session),
        (Action::Pay | Action::Authenticate, _) if paid => Ok(session),
        (Action::PayLater, None) if session.payment_status == PaymentStatus::NoPaymentRequired => {
            Ok(session)
        }
        (_, Some(Later::Outstanding)) => Err(Refusal::impossible(
            "This checkout is complete and waits for its payment.",
        )),
        (_, Some(Later::Failed)) => Err(Refusal::impossible(
            "The payment of this checkout has failed.",
        )),
        _ => Err(Refusal::impossible("This checkout is complete and paid.")),
    }
}

/// A buyer typed a promotion code.
fn enter(desk: &Desk<'_>, session: &mut Session, text: &str) -> Result<(), Refusal> {
    const PARAM: &str = "promotionCode";
    if !session.codes_allowed {
        let message = "This checkout takes no promotion codes.";
        return Err(Refusal::param(PARAM, message));
    }
    let code = promotions::typed(desk.books, desk.now, text, session.customer.as_deref())
        .ok_or_else(|| Refusal::param(PARAM, "This promotion code is not valid."))?
        .clone();
    promotions::apply_code(desk.books, desk.now, session, &code)
        .map_err(|refusal| refusal.of_param(PARAM))
}

/// Nobody paid in time, or the shop called it off.
pub(crate) fn close(desk: &mut Desk<'_>, mut session: Session) -> Session {
    session.status = Status::Expired;
    desk.books.put(session.clone());
    desk.emit("checkout.session.expired", &session);
    session
}

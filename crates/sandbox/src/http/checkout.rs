//! The checkout page and its actions. The session's unguessable URL is the only secret, so forms need no token against
//! forgery: anybody with the URL may pay.

use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
};

use super::{PageAt, Sent, absent, acted, drawn, ended, fields::fields, is_browser, status};
use crate::{
    Sandbox,
    core::{
        checkout::{self, Action, Buyer},
        prelude::*,
    },
    pages::{self, Notice},
    store::Failure,
};

const DECLINED: &str = "Your card was declined. Nothing was charged: try again or pay another way.";

pub(super) async fn show(State(sandbox): State<Sandbox>, Path(at): Path<PageAt>) -> Response {
    page(&sandbox, at, StatusCode::OK, Notice::default()).await
}

async fn page(sandbox: &Sandbox, at: PageAt, status: StatusCode, notice: Notice) -> Response {
    let (project, id) = at;
    let draw = move |db: &mut Database, shop: &str| {
        let session: Session = db.find(&id)?;
        Ok(pages::checkout(&session, db, shop, &notice).answer(status))
    };
    drawn(sandbox, &project, draw).await
}

pub(super) async fn act(
    State(sandbox): State<Sandbox>,
    Path((project_text, id, word)): Path<(String, String, String)>,
    sent: Sent,
) -> Response {
    let browser = is_browser(&sent);
    let named = sandbox.project(&project_text).zip(Action::of(&word));
    let Some(((project, _), action)) = named else {
        return absent(browser, "checkout", &id);
    };
    let fields = fields(&sent, &["card", "email", "promotionCode", "terms"]);
    let buyer = {
        let typed = |name: &str| fields.as_ref().ok()?.text(name).ok()?;
        Buyer {
            email: typed("email"),
            code: typed("promotionCode"),
            card: typed("card"),
            disagrees: browser && typed("terms").is_none(),
        }
    };
    let (typed, session_id) = (buyer.clone(), id.clone());
    let project_state = sandbox.0.project_state(project);
    let work = move |db: &mut Database| {
        fields?;
        let is_debit = action == Action::Pay
            && project_state
                .injector
                .lock()
                .begin_debit(&session_id, db.now);
        let action = if is_debit { Action::PayLater } else { action };
        checkout::act(db, &session_id, action, &buyer)
    };
    let session = match acted(&sandbox, project, work).await {
        Ok(session) => session,
        Err(Failure::Refused(refusal)) if browser => {
            let status = status(&refusal);
            let notice = Notice::new(action, refusal.message, typed);
            return page(&sandbox, (project_text, id), status, notice).await;
        }
        Err(failure) => return ended(browser, &failure),
    };
    let success_url = session.success_page();
    if !browser {
        return Json(json!({
            "id": session.head.id,
            "status": session.status.word(),
            "paymentStatus": session.payment_status.word(),
            "successUrl": success_url,
        }))
        .into_response();
    }
    let here = format!("/sandbox/{project}/checkout/{}", session.head.id);
    let unpaid = session.payment_status == PaymentStatus::Unpaid;
    let to = match action {
        Action::Pay | Action::PayLater | Action::Authenticate
            if session.status == SessionStatus::Complete =>
        {
            success_url
        }
        Action::Expire if session.status == SessionStatus::Expired => {
            session.cancel_url.unwrap_or(here)
        }
        Action::Decline | Action::FailAuthentication if unpaid => {
            let notice = Notice::new(action, DECLINED.into(), typed);
            let status = StatusCode::PAYMENT_REQUIRED;
            return page(&sandbox, (project_text, id), status, notice).await;
        }
        _ => here,
    };
    Redirect::to(&to).into_response()
}

//! The checkout page, and what its buttons and scripts do. There is no other secret than the
//! session's unguessable address, so a form needs no token against forgery: who can name the address
//! may pay there.

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse as _, Redirect, Response},
};

use super::{failed, fields::Fields, is_browser, refused};
use crate::core::prelude::*;
use crate::{
    Sandbox,
    core::checkout::{self, Action, Buyer},
    courier, pages,
    till::Failure,
};

/// Where the shop wants the session's identifier.
const PLACE: &str = "{CHECKOUT_SESSION_ID}";

fn action(word: &str) -> Option<Action> {
    Some(match word {
        "pay" => Action::Pay,
        "pay_later" => Action::PayLater,
        "settle" => Action::Settle,
        "fail" => Action::Fail,
        "fail_late" => Action::FailLate,
        "decline" => Action::Decline,
        "expire" => Action::Expire,
        "promotion" => Action::Promotion,
        "challenge" => Action::Challenge,
        "authenticate" => Action::Authenticate,
        "fail_authentication" => Action::FailAuthentication,
        _ => return None,
    })
}

fn success_url(session: &Session) -> String {
    session.success_url.replace(PLACE, &session.head.id)
}

pub(super) async fn show(
    State(sandbox): State<Sandbox>,
    Path((project, id)): Path<(String, String)>,
) -> Response {
    page(
        &sandbox,
        &project,
        id,
        StatusCode::OK,
        pages::Notice::default(),
    )
    .await
}

/// An action's address in a browser's bar is the page's.
pub(super) async fn back(Path((project, id, _)): Path<(String, String, String)>) -> Response {
    Redirect::to(&format!("/sandbox/{project}/checkout/{}", encoded(&id))).into_response()
}

/// An identifier from an address, as a part of one.
pub(super) fn encoded(id: &str) -> String {
    url::form_urlencoded::byte_serialize(id.as_bytes()).collect()
}

async fn page(
    sandbox: &Sandbox,
    project: &str,
    id: String,
    status: StatusCode,
    notice: pages::Notice,
) -> Response {
    let Some((project, settings)) = sandbox.project(project) else {
        return pages::nothing();
    };
    if sandbox.0.catch_up(project).await.is_err() {
        return pages::unavailable();
    }
    let work = move |books: &mut Books| {
        let session: Session = books.find(&id)?;
        Ok(pages::checkout(&session, books, &settings.name, &notice))
    };
    match sandbox.0.at(project, work).await {
        Ok(page) => page.answer(status),
        Err(Failure::Refused(_)) => pages::nothing(),
        Err(Failure::Broken(_)) => pages::unavailable(),
    }
}

pub(super) async fn act(
    State(sandbox): State<Sandbox>,
    Path((project_text, id, word)): Path<(String, String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let browser = is_browser(&headers);
    let Some(((project, _), action)) = sandbox.project(&project_text).zip(action(&word)) else {
        return if browser {
            pages::nothing()
        } else {
            refused(&Refusal::no_such("checkout", &id))
        };
    };
    let mut buyer = Buyer::default();
    let read =
        Fields::read(&headers, &body, &["email", "promotionCode", "terms"]).map(|mut fields| {
            buyer.email = fields.take("email");
            buyer.code = fields.take("promotionCode");
            buyer.disagrees = browser && fields.take("terms").is_none();
        });
    let typed = buyer.clone();
    let outcome = match read {
        Ok(()) => {
            let id = id.clone();
            let till = sandbox.0.till(project);
            let work = move |books: &mut Books| {
                let begun = action == Action::Pay && till.unkind.lock().begin_debit(&id, books.now);
                let action = if begun { Action::PayLater } else { action };
                checkout::act(books, &id, action, &buyer)
            };
            sandbox.0.at(project, work).await
        }
        Err(refusal) => Err(Failure::Refused(refusal)),
    };
    let session = match outcome {
        Ok(session) => session,
        Err(Failure::Refused(refusal)) if browser => {
            let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
            let notice = pages::Notice::refused(action, &refusal, typed);
            return page(&sandbox, &project_text, id, status, notice).await;
        }
        Err(Failure::Broken(_)) if browser => return pages::unavailable(),
        Err(failure) => return failed(&failure),
    };
    // What they are told is durable already; the shop hears of it before they come back to it.
    let _: Result<(), _> = courier::deliver(&sandbox.0, project).await;
    if !browser {
        return Json(json!({
            "id": session.head.id,
            "status": session.status.word(),
            "paymentStatus": session.payment_status.word(),
            "successUrl": success_url(&session),
        }))
        .into_response();
    }
    let here = format!("/sandbox/{project}/checkout/{}", session.head.id);
    match action {
        Action::Pay | Action::PayLater | Action::Authenticate => {
            Redirect::to(&success_url(&session)).into_response()
        }
        Action::Expire => {
            let back = session
                .cancel_url
                .filter(|_| session.status == Status::Expired);
            Redirect::to(&back.unwrap_or(here)).into_response()
        }
        Action::Decline | Action::FailAuthentication
            if session.payment_status == PaymentStatus::Unpaid =>
        {
            let notice = pages::Notice::declined(typed);
            page(
                &sandbox,
                &project_text,
                id,
                StatusCode::PAYMENT_REQUIRED,
                notice,
            )
            .await
        }
        _ => Redirect::to(&here).into_response(),
    }
}

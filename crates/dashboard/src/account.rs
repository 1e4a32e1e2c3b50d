//! `/dashboard/account`: who is signed in, and where else.

use axum::response::{IntoResponse as _, Redirect};
use domain::id::UserId;
use identity::SessionView;
use operator::EndOwnSessions;

use super::{page_request::SIGN_IN, prelude::*};

const ACCOUNT: &str = "/dashboard/account";

/// The sessions of a user; `None`: of the administrator's token.
pub(super) fn sessions_of(
    request: &PageRequest<NoProject>,
    user: Option<UserId>,
) -> Vec<SessionView> {
    let edge = &request.app.edge;
    let mut sessions = edge.people.sessions.list(edge.clock.now());
    sessions.retain(|it| it.user == user);
    sessions
}

pub(super) async fn show(request: PageRequest<NoProject>) -> Response {
    let sessions = sessions_of(&request, request.authority.user());
    let body = html! {
        h1 { (verbatim(request.authority.label())) }
        p.lead { "Role: " (request.authority.role.name()) }
        section.card {
            h2 { "Sessions" }
            (session_table(&request, &sessions, ACCOUNT))
        }
    };
    request.show("Account", &body)
}

/// Sessions, with forms that end one or all of them.
pub(super) fn session_table(
    request: &PageRequest<NoProject>,
    sessions: &[SessionView],
    action: &str,
) -> Markup {
    html! {
        @if sessions.is_empty() { p.empty { "None." } } @else {
            (table("Sessions", &["Since", "Last seen", "Address", "Browser", "~End"], &html! { @for session in sessions { tr {
                td.time { (layout::when(session.since)) }
                td.time { (layout::when(session.seen)) }
                td { (session.origin.address) }
                td.wrap { (verbatim(&session.origin.browser)) }
                td { form method="post" action=(action) {
                    (form::token(request))
                    button name="session" value=(session.id) type="submit" {
                        @if session.id == request.signed.id { "End this one…" } @else { "End…" }
                    }
                } }
            } } }))
            form method="post" action=(action) {
                (form::token(request))
                button type="submit" { "Sign out everywhere…" }
            }
        }
    }
}

pub(super) async fn end(request: FormPost<EndOwnSessions, NoProject>) -> PageResult {
    let session = request.fields.parsed("session", "a session")?;
    let is_over = session.is_none_or(|session| session == request.signed.id);
    let page = |(), _| match is_over {
        true => Redirect::to(SIGN_IN).into_response(),
        false => layout::done(ACCOUNT, "saved"),
    };
    request.answer(EndOwnSessions(session), ACCOUNT, page).await
}

//! `/dashboard/account`: who is signed in, and where else.

use axum::{
    extract::State,
    response::{IntoResponse as _, Redirect, Response},
};
use domain::id::SessionId;
use edge::{Read, refused};
use identity::SessionView;
use maud::{Markup, html};
use wire::{Error, ErrorCode};

use super::{
    confirm::confirm,
    fields::{CONFIRMED, Fields},
    form,
    layout::{self, At},
    page_request::{FormPost, PageRequest, SIGN_IN},
    verbatim::verbatim,
};
use crate::state::App;

const ACCOUNT: &str = "/dashboard/account";

fn own(request: &PageRequest, app: &App) -> Vec<SessionView> {
    let all = app
        .edge
        .people
        .sessions
        .list(app.edge.clock.now())
        .into_iter();
    all.filter(|it| it.user == request.authority.user())
        .collect()
}

/// `GET /dashboard/account`: one's own sessions.
pub(super) async fn show(request: PageRequest, State(app): State<App>) -> Response {
    let sessions = own(&request, &app);
    let body = html! {
        h1 { (verbatim(request.authority.label())) }
        p.lead { "Role: " (request.authority.role.name()) }
        section.card {
            h2 { "Sessions" }
            (session_table(&request, &sessions, ACCOUNT))
        }
    };
    layout::page(&request, At::Account, "Account", &body)
}

/// Sessions, with forms that end one or all of them.
pub(super) fn session_table(
    request: &PageRequest,
    sessions: &[SessionView],
    action: &str,
) -> Markup {
    html! {
        @if sessions.is_empty() { p.empty { "None." } } @else {
            div.scroll tabindex="0" role="region" aria-label="Sessions" { table {
                thead { tr { th { "Since" } th { "Last seen" } th { "Address" } th { "Browser" } th { span.hidden { "End" } } } }
                tbody { @for session in sessions { tr {
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
                } } }
            } }
            form method="post" action=(action) {
                (form::token(request))
                button type="submit" { "Sign out everywhere…" }
            }
        }
    }
}

pub(super) fn ending(fields: &Fields) -> &'static str {
    match fields.some("session") {
        Some(_) => "End this session?",
        None => "End all sessions?",
    }
}

/// Which of these sessions would end: the one that the form names, or all.
pub(super) fn session_facts(sessions: &[SessionView], fields: &Fields) -> Result<Markup, Error> {
    let one: Option<SessionId> = fields.parsed("session", "a session")?;
    let ends = sessions.iter();
    let ends: Vec<_> = ends
        .filter(|it| one.is_none_or(|one| it.id == one))
        .collect();
    if one.is_some() && ends.is_empty() {
        return Err(Error::new(ErrorCode::SessionNotFound));
    }
    Ok(html! {
        p { "Its user has to sign in again; a form that was not sent is lost." }
        dl { @for session in ends { div {
            dt { (session.origin.address) }
            dd { (verbatim(&session.origin.browser)) ", last seen " (layout::when(session.seen)) }
        } } }
    })
}

/// `POST /dashboard/account`: ends one of one's own sessions, or all.
pub(super) async fn end(State(app): State<App>, posted: FormPost<Read>) -> Result<Response, Error> {
    let (request, fields) = posted.split();
    if !fields.is_on(CONFIRMED) {
        let facts = session_facts(&own(&request, &app), &fields)?;
        let title = ending(&fields);
        let paths = (ACCOUNT, ACCOUNT);
        return Ok(confirm(
            &request,
            At::Account,
            &fields,
            paths,
            title,
            &facts,
        ));
    }
    let (people, now) = (&app.edge.people, app.edge.clock.now());
    let (did, is_over) = match fields.parsed("session", "a session")? {
        Some(session) => {
            if !own(&request, &app).iter().any(|it| it.id == session) {
                return Err(Error::new(ErrorCode::SessionNotFound));
            }
            people.sessions.end(&[session]).await.map_err(refused)?;
            (
                format!("Ended session {session}"),
                session == request.signed.id,
            )
        }
        None => {
            let user = request.authority.user();
            people.end_sessions_of(user, now).await.map_err(refused)?;
            ("Signed out everywhere".to_owned(), true)
        }
    };
    match is_over {
        true => Ok(request.audited(Redirect::to(SIGN_IN).into_response(), did)),
        false => Ok(request.done(ACCOUNT, "saved", did)),
    }
}

//! Sessions of the dashboard: list and end them.

use axum::{Json, extract::State, http::StatusCode};
use edge::{Authorized, Context, Own, refused};
use serde::Serialize;
use utoipa::ToSchema;
use wire::{Error, ErrorCode, view::instant};

use super::path::Segments;
use crate::admin::App;

/// A session of the dashboard.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Session {
    /// The identifier of the session, by which it can be ended.
    #[schema(example = "ses_01jd3v8q6pf6r9x3v1m2k4c5d7")]
    id: String,
    /// Whose it is; null: of somebody who signed in with the administrator's token.
    user_id: Option<String>,
    /// The address that the user signed in from.
    address: String,
    /// What the browser calls itself.
    browser: String,
    /// When the user signed in.
    created_at: String,
    /// When it was last used, to the minute.
    last_seen_at: String,
    /// When it ends at the latest.
    expires_at: String,
}

/// All sessions of the dashboard.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Sessions {
    /// The last begun first.
    sessions: Vec<Session>,
}

impl Session {
    fn of(session: identity::SessionView) -> Self {
        Self {
            id: session.id.to_string(),
            user_id: session.user.map(|user| user.to_string()),
            address: session.origin.address,
            browser: session.origin.browser,
            created_at: instant(session.since).to_string(),
            last_seen_at: instant(session.seen).to_string(),
            expires_at: instant(session.until).to_string(),
        }
    }
}

pub(super) async fn list(
    _: Authorized<Own>,
    State(app): State<App>,
    context: Context,
) -> Json<Sessions> {
    let sessions = app.edge.people.sessions.list(context.now).into_iter();
    Json(Sessions {
        sessions: sessions.map(Session::of).collect(),
    })
}

pub(super) async fn end(
    caller: Authorized<Own>,
    State(app): State<App>,
    context: Context,
    path: Segments,
) -> Result<StatusCode, Error> {
    let id = path.session()?;
    let sessions = &app.edge.people.sessions;
    if !sessions.list(context.now).iter().any(|it| it.id == id) {
        return Err(Error::new(ErrorCode::SessionNotFound));
    }
    sessions.end(&[id]).await.map_err(refused)?;
    caller.did(format!("Ended session {id}"));
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn end_all(
    caller: Authorized<Own>,
    State(app): State<App>,
    context: Context,
    path: Segments,
) -> Result<StatusCode, Error> {
    let people = &app.edge.people;
    let user = people.user(path.user()?).map_err(refused)?;
    let who = format!("{} ({})", user.name, user.id);
    let user = user.id;
    let sessions = people.sessions.list(context.now);
    let is_one = sessions.iter().any(|it| it.user == Some(user));
    people
        .end_sessions_of(Some(user), context.now)
        .await
        .map_err(refused)?;
    caller.did_if(is_one, format!("Ended all sessions of {who}"));
    Ok(StatusCode::NO_CONTENT)
}

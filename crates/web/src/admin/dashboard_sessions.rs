//! Sessions of the dashboard: list and end them.

use axum::{Json, http::StatusCode};
use edge::{Context, Own};
use operator::{EndSession, EndSessionsOfUser, NoProject};
use serde::Serialize;
use utoipa::ToSchema;
use wire::{Error, view::instant};

use super::call::AdminCall;

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

pub(super) async fn list(call: AdminCall<Own>, context: Context) -> Json<Sessions> {
    let sessions = call.app.edge.people.sessions.list(context.now).into_iter();
    Json(Sessions {
        sessions: sessions.map(Session::of).collect(),
    })
}

pub(super) async fn end(call: AdminCall<EndSession>) -> Result<StatusCode, Error> {
    call.run(NoProject, EndSession(call.path.session()?))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn end_all(call: AdminCall<EndSessionsOfUser>) -> Result<StatusCode, Error> {
    let end = EndSessionsOfUser(call.path.user()?);
    call.run(NoProject, end).await?;
    Ok(StatusCode::NO_CONTENT)
}

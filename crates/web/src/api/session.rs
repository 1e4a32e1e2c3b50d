//! `POST /sessions` and `POST /sessions/revoke`: lets a user's browser at the user's own wallet for a while, and ends
//! that.

use actors::Address;
use api_types::Session;
use axum::{extract::State, response::Response};
use domain::session::{Permission, SessionOwner};
use edge::{
    Body, Context,
    caller::{MaySessions, SecretKey},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{CodeText, PermissionText, Seconds, Text, UserText},
    respond,
    view::instant,
};

use crate::{api::App, http::subject::NamedWallet};

/// How long a session lasts when nothing else is asked for: an hour.
const LASTS_SECONDS: i64 = 3600;

/// Whose session, how long, and what for. The wallet is named by exactly one of `externalUserId` and `code`; a user's is
/// made if there is none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewSession {
    #[schema(ignore)]
    external_user_id: Option<UserText>,
    #[schema(ignore)]
    code: Option<CodeText>,
    /// Seconds until it ends, at most a day; an hour when left out.
    expires_in_seconds: Option<Seconds>,
    /// What it may do; everything when left out.
    #[schema(min_items = 1)]
    can: Option<Vec<PermissionText>>,
}

/// The wallet whose sessions end. It is named by exactly one of `externalUserId` and `code`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RevokedSessions {
    #[schema(ignore)]
    external_user_id: Option<UserText>,
    #[schema(ignore)]
    code: Option<CodeText>,
}

/// That the sessions have ended.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Revoked {
    /// True in every answer.
    revoked: bool,
}

pub(super) async fn start_session(
    State(app): State<App>,
    key: SecretKey<MaySessions>,
    context: Context,
    body: Body,
) -> Result<Response, Error> {
    let request: NewSession = body.parse()?;
    let wallet = NamedWallet::one_of(request.external_user_id, request.code)?;
    let can = request.can.map_or_else(
        || Permission::ALL.into(),
        |can| can.into_iter().map(|Text(one)| one).collect::<Vec<_>>(),
    );
    if can.is_empty() {
        return Err(Error::invalid(
            "can",
            "A session has to be good for something.",
        ));
    }
    let seconds = request.expires_in_seconds.map_or(LASTS_SECONDS, |it| it.0);
    let expires_at = context.now.plus_seconds(seconds);
    let owner = match wallet.into_address()? {
        Address::External(user) => SessionOwner::User(user),
        Address::Code(code) => SessionOwner::Code(code),
        Address::Stored(_) | Address::Session(_) => {
            return Err(Error::new(ErrorCode::WalletNotFound));
        }
    };
    let can = can.into_iter().collect();
    let started = app.handle.start_session(&key.scope, owner, can, expires_at);
    let token = started
        .await
        .map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&Session {
        token,
        expires_at: instant(expires_at),
    })
}

pub(super) async fn revoke_sessions(
    State(app): State<App>,
    key: SecretKey<MaySessions>,
    body: Body,
) -> Result<Response, Error> {
    let request: RevokedSessions = body.parse()?;
    let wallet = NamedWallet::one_of(request.external_user_id, request.code)?;
    let wallet = wallet.into_address()?;
    let revoked = app.handle.revoke_sessions(&key.scope, &wallet).await;
    revoked.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&Revoked { revoked: true })
}

//! `POST /wallets`: a new anonymous wallet. `POST /wallets/external`: get or create a user's wallet.

use axum::{extract::State, response::Response};
use domain::catalog::{KeyKind, Mode};
use edge::{AnyKey, SecretKey, body::Body, context::Context};
use scrip_http::limits::Creation;
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{Text, UserText},
    respond,
    view::{self, CodeWallet, ExternalWallet, Holdings},
};

use crate::api::App;

/// Create a code wallet
///
/// The answer is the only place where the new recovery code is shown. Takes no body. With a
/// publishable key new wallets are limited per project and per client address.
#[utoipa::path(
    post,
    path = "/api/v1/wallets",
    tag = "Code wallets",
    responses((status = 200, description = "The new, empty wallet", body = CodeWallet)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!(["project_archived", "anonymous_wallets_disabled", "wallet_creation_limit"])))
)]
pub(super) async fn create_wallet(
    State(app): State<App>,
    key: AnyKey,
    context: Context,
) -> Result<Response, Error> {
    key.require_not_archived()?;
    if key.project.mode == Mode::ExternalUsers {
        return Err(Error::new(ErrorCode::AnonymousWalletsDisabled));
    }
    let counted = key.kind() == KeyKind::Publishable;
    if counted {
        let allowed = app.edge.limits.create_wallet(
            &key.project,
            (context.client, Creation::Free),
            context.now,
        );
        allowed.map_err(|refusal| Error::limited(ErrorCode::WalletCreationLimit, refusal))?;
    }
    match app.handle.create_code(&key.scope).await {
        // A new wallet is shown empty, as specified; a free grant shows at the next read.
        Ok((code, _)) => respond::json(&CodeWallet {
            code: code.reveal().to_owned(),
            holdings: Holdings::default(),
        }),
        Err(error) => {
            if counted {
                app.edge
                    .limits
                    .wallet_not_created(key.project.id, (context.client, Creation::Free));
            }
            Err(Error::from_wallet(error, &key))
        }
    }
}

/// The user whose wallet to get or create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct OpenExternalWallet {
    external_user_id: UserText,
}

/// Get or create an external wallet
///
/// Idempotent by `externalUserId`.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/external",
    tag = "External wallets",
    request_body = OpenExternalWallet,
    responses((status = 200, description = "The wallet", body = ExternalWallet)),
    security(("secret" = []))
)]
pub(super) async fn open_external_wallet(
    State(app): State<App>,
    key: SecretKey,
    body: Body,
) -> Result<Response, Error> {
    let OpenExternalWallet {
        external_user_id: Text(user),
    } = body.parse()?;
    let view = app.handle.open_external(&key.scope, user.clone()).await;
    let view = view.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&view::external_wallet(
        &view,
        user.as_str(),
        &key,
        key.kind(),
    ))
}

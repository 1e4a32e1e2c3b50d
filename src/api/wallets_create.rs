//! `POST /wallets`: a new anonymous wallet.

use axum::{extract::State, response::Response};
use domain::catalog::{KeyKind, Mode};

use crate::{
    http::{
        Error, ErrorCode,
        auth::AnyKey,
        context::Context,
        respond,
        view::{CodeWallet, Holdings},
    },
    state::App,
};

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
    extensions(("x-errors" = json!(["anonymous_wallets_disabled", "wallet_creation_limit"]))),
)]
pub(super) async fn create_wallet(
    State(app): State<App>,
    key: AnyKey,
    context: Context,
) -> Result<Response, Error> {
    if key.project.mode == Mode::ExternalUsers {
        return Err(Error::new(ErrorCode::AnonymousWalletsDisabled));
    }
    let counted = key.kind() == KeyKind::Publishable;
    if counted {
        let allowed = app
            .limits
            .create_wallet(&key.project, context.client, context.now);
        allowed.map_err(|refusal| Error::limited(ErrorCode::WalletCreationLimit, refusal))?;
    }
    match app.handle.create_code(&key.scope).await {
        // A new wallet is shown empty, as specified; a free grant shows at the next read.
        Ok((code, _)) => respond::json(&CodeWallet {
            code: code.reveal(),
            holdings: Holdings::default(),
        }),
        Err(error) => {
            if counted {
                app.limits
                    .wallet_not_created(key.project.id, context.client);
            }
            Err(Error::from_wallet(error, &key))
        }
    }
}

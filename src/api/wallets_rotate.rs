//! `POST /wallets/{code}/rotate`: a new code for a wallet whose code leaked.

use axum::{extract::State, response::Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::{auth::AnyKey, code_path::CodePath, error::Error, respond};
use crate::app::App;

/// The code that opens the wallet from now on.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Rotated<'a> {
    /// The new recovery code, told only here.
    #[schema(example = "OLIVE-7K2M-9QXP-4TBD")]
    code: &'a str,
}

/// Replace a leaked recovery code
///
/// The old code stops opening the wallet at once. Takes no body.
#[utoipa::path(
    post,
    path = "/api/v1/wallets/{code}/rotate",
    tag = "Code wallets",
    params(("code" = String, Path, description = "The recovery code, in any case")),
    responses((status = 200, description = "The new code", body = Rotated)),
    security(("publishable" = []), ("secret" = [])),
    extensions(("x-errors" = json!(["wallet_not_found", "too_many_invalid_codes"]))),
)]
pub(super) async fn rotate_code(
    State(app): State<App>,
    key: AnyKey,
    code: CodePath,
) -> Result<Response, Error> {
    let rotated = app.handle.rotate(&key.scope, code.code()?).await;
    let rotated = rotated.map_err(|error| code.refused(error, &key))?;
    respond::json(&Rotated {
        code: rotated.reveal(),
    })
}

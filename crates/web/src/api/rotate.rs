//! `POST /wallets/{code}/rotate`: a new code for a wallet whose code leaked.

use axum::{extract::State, response::Response};
use edge::{
    body::MaybeBody,
    caller::{AnyKey, MaySessions},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{Error, field::KeyText, respond};

use crate::{
    api::App,
    http::{code_path::CodePath, idempotency::KeyHeader},
};

/// The body of a rotation, which may be left out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RotateCode)]
pub(super) struct Request {
    /// Names the operation: it is applied once. Make it unguessable: with it the old code is answered the
    /// new one. The header `Idempotency-Key` may stand in for it.
    idempotency_key: Option<KeyText>,
}

/// The code that opens the wallet from now on.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Rotated<'a> {
    /// The new recovery code.
    #[schema(example = "OLIVE-7K2M-9QXP-4TBD")]
    code: &'a str,
}

pub(super) async fn rotate_code(
    State(app): State<App>,
    key: AnyKey<MaySessions>,
    code: CodePath,
    header: KeyHeader,
    body: MaybeBody,
) -> Result<Response, Error> {
    let request: Option<Request> = body.parse()?;
    let field = request.and_then(|request| request.idempotency_key);
    let named = header.resolve_optional(field)?;
    let by = key.kind();
    let rotated = app
        .handle
        .rotate(&key.scope, code.code()?, named.as_ref(), by);
    let rotated = rotated.await.map_err(|error| code.refused(error, &key))?;
    let answer = Rotated {
        code: rotated.code.reveal(),
    };
    respond::replayable(&answer, rotated.replayed)
}

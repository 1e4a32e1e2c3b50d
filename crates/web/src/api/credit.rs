//! `POST /credit`: granting credits by hand.

use axum::{extract::State, response::Response};
use edge::{SecretKey, body::Body};
use wire::Error;

use crate::{
    api::App,
    http::{
        grant::{self, Credit},
        idempotency::KeyHeader,
        subject::NamedWallet,
    },
};

pub(super) async fn credit(
    State(app): State<App>,
    key: SecretKey,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let mut request: Credit = body.parse()?;
    key.require_not_archived()?;
    let wallet = NamedWallet::one_of(request.external_user_id.take(), request.code.take())?;
    let command = request.command(&header, &key)?;
    let applied = app
        .handle
        .credit(&key.scope, &wallet.into_address()?, command)
        .await;
    let applied = applied.map_err(|error| Error::from_wallet(error, &key))?;
    grant::answer(&applied)
}

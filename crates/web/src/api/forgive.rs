//! `POST /wallets/external/forgive`: ending a debt, or a part of one, without credits.

use actors::Address;
use api_types::Forgiven;
use axum::{extract::State, response::Response};
use domain::{text::Meta, wallet::forgive::Forgive};
use edge::{
    body::Body,
    caller::{MayGrant, SecretKey},
};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{KeyText, NoteText, Positive, ProductName, Text, UserText, line},
    respond,
};

use crate::{
    api::App,
    http::{idempotency::KeyHeader, subject::product},
};

/// A debt to forgive.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ForgiveDebt {
    external_user_id: UserText,
    /// The product whose credits are owed.
    product_id: ProductName,
    /// The most to forgive; left out: all of it.
    amount: Option<Positive>,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    /// Why it is forgiven: the ledger entry's `meta` has it as `note`.
    note: NoteText,
}

pub(super) async fn forgive_debt(
    State(app): State<App>,
    key: SecretKey<MayGrant>,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    let ForgiveDebt {
        external_user_id: Text(user),
        product_id,
        amount,
        idempotency_key,
        note,
    } = body.parse()?;
    let meta = serde_json::json!({ "note": line(note) }).to_string();
    let command = Forgive {
        key: header.or(idempotency_key)?,
        product: product(&product_id, &key)?,
        amount: amount.map(|amount| amount.0),
        meta: Some(Meta::new(meta).map_err(|error| Error::text("note", error))?),
    };
    let address = Address::External(user);
    let answer = app.handle.forgive(&key.scope, &address, command).await;
    let answer = answer.map_err(|error| Error::from_wallet(error, &key))?;
    let forgiven = Forgiven {
        balance: answer.debt.balance,
        owed: answer.debt.owed,
        forgiven: answer.applied,
        amount: answer.amount,
    };
    respond::replayable(&forgiven, answer.replayed)
}

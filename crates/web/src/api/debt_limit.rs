//! `POST /wallets/external/debt-limit`: how much one wallet may come to owe.

use actors::Address;
use api_types::DebtState;
use axum::{extract::State, response::Response};
use domain::wallet::debt_limit::SetDebtLimit;
use edge::{
    body::Body,
    caller::{MayLimits, SecretKey},
};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{Credits, ProductName, Text, UserText},
    respond,
};

use crate::{
    api::App,
    http::{grant::holds_credits, patch::Field, subject::product},
};

/// A limit of debt for one wallet.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DebtLimit {
    external_user_id: UserText,
    /// The product whose credits may be owed.
    product_id: ProductName,
    /// The most that the wallet may owe, in place of the product's `debtLimit`; null: the product's again.
    #[schema(value_type = Option<Credits>, required)]
    #[serde(default)]
    debt_limit: Field<Credits>,
}

pub(super) async fn set_debt_limit(
    State(app): State<App>,
    key: SecretKey<MayLimits>,
    body: Body,
) -> Result<Response, Error> {
    let DebtLimit {
        external_user_id: Text(user),
        product_id,
        debt_limit,
    } = body.parse()?;
    let limit = debt_limit.nullable();
    let limit = limit.ok_or_else(|| Error::missing("debtLimit"))?;
    let product = product(&product_id, &key)?;
    holds_credits(&key, &product)?;
    let command = SetDebtLimit {
        product,
        limit: limit.map(|credits| credits.0),
    };
    let address = Address::External(user);
    let debt = app.handle.limit_debt(&key.scope, &address, command).await;
    let debt = debt.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&DebtState {
        balance: debt.balance,
        owed: debt.owed,
        debt_limit: debt.limit,
        credit_available: debt.available,
    })
}

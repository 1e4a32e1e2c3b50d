//! Wallets that have several subscriptions to one product.

use actors::DoubledWallet;
use axum::{Json, extract::State};
use edge::{Authorized, Read};
use serde::Serialize;
use utoipa::ToSchema;
use wire::{Error, view::Subscription};

use super::path::Segments;
use crate::admin::App;

/// Wallets that are shown.
const SHOWN: usize = 100;

/// Wallets with several subscriptions to one product.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DoubledSubscriptions {
    /// At most 100 of them.
    wallets: Vec<WalletWithDoubled>,
    /// How many others there are.
    besides: usize,
}

/// A wallet with several subscriptions to one product that go on.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WalletWithDoubled {
    /// The wallet's name in the administration: `wref_…`.
    r#ref: String,
    /// The wallet's identifier: `wal_…`
    wallet_id: String,
    /// The project's own user; null for a wallet that its recovery code opens.
    external_user_id: Option<String>,
    /// Those subscriptions, in the order in which they started.
    subscriptions: Vec<Subscription>,
}

impl From<DoubledWallet> for WalletWithDoubled {
    fn from(wallet: DoubledWallet) -> Self {
        let subscriptions = wallet.subscriptions.iter().map(Subscription::from);
        Self {
            r#ref: wallet.key.to_string(),
            wallet_id: wallet.id.to_string(),
            external_user_id: wallet.user.map(|user| user.as_str().to_owned()),
            subscriptions: subscriptions.collect(),
        }
    }
}

/// List wallets that have several subscriptions to one product which go on, as two checkouts that are paid at once make
/// them: their buyers pay for each.
#[utoipa::path(
    get,
    path = "/projects/{projectId}/doubled-subscriptions",
    operation_id = "listDoubledSubscriptions",
    tag = "Wallets",
    params(("projectId" = String, Path, description = "The project.")),
    responses((status = 200, description = "The wallets.", body = DoubledSubscriptions)),
    extensions(("x-errors" = json!(["project_not_found"])))
)]
pub(super) async fn list(
    _: Authorized<Read>,
    State(app): State<App>,
    path: Segments,
) -> Result<Json<DoubledSubscriptions>, Error> {
    let project = app.catalog.project(path.project()?)?;
    let found = app.payments.doubled().of(&project, SHOWN).await;
    let (wallets, besides) = found.map_err(|error| Error::from_wallet(error, &project))?;
    Ok(Json(DoubledSubscriptions {
        wallets: wallets.into_iter().map(WalletWithDoubled::from).collect(),
        besides,
    }))
}

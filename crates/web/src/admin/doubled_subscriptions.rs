//! Wallets that have several subscriptions to one product.

use actors::DoubledWallet;
use axum::Json;
use edge::Read;
use serde::Serialize;
use utoipa::ToSchema;
use wire::{
    Error,
    view::{self, Subscription},
};

use super::call::AdminCall;

/// Wallets that are shown.
const MAX_SHOWN: usize = 100;

/// Wallets with several subscriptions to one product.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DuplicateSubscriptions {
    /// At most 100 of them.
    wallets: Vec<WalletWithDuplicates>,
    /// How many other wallets have several.
    omitted: usize,
}

/// A wallet with several subscriptions to one product that go on.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WalletWithDuplicates {
    /// The wallet's name in the administration: `wref_…`.
    r#ref: String,
    /// The wallet's identifier: `wal_…`
    wallet_id: String,
    /// The project's own user; null for a wallet that its recovery code opens.
    external_user_id: Option<String>,
    /// Those subscriptions, in the order in which they started.
    subscriptions: Vec<Subscription>,
}

impl From<DoubledWallet> for WalletWithDuplicates {
    fn from(wallet: DoubledWallet) -> Self {
        let subscriptions = wallet.subscriptions.iter().map(view::subscription);
        Self {
            r#ref: wallet.key.to_string(),
            wallet_id: wallet.id.to_string(),
            external_user_id: wallet.user.map(|user| user.as_str().to_owned()),
            subscriptions: subscriptions.collect(),
        }
    }
}

pub(super) async fn list(call: AdminCall<Read>) -> Result<Json<DuplicateSubscriptions>, Error> {
    let project = call.project()?;
    let found = call.app.payments.doubled().of(&project, MAX_SHOWN).await;
    let (wallets, omitted) = found.map_err(|error| Error::from_wallet(error, &project))?;
    Ok(Json(DuplicateSubscriptions {
        wallets: wallets
            .into_iter()
            .map(WalletWithDuplicates::from)
            .collect(),
        omitted,
    }))
}

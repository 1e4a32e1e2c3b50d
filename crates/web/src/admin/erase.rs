//! Erases what is known of the person behind a wallet.

use axum::Json;
use operator::Erase;
use serde::Serialize;
use utoipa::ToSchema;
use wire::Error;

use super::call::AdminCall;

/// What is kept of a wallet, by name; `docs/erasure.md` says why.
const RETAINED: [&str; 7] = [
    "ledger",
    "meta",
    "externalUserId",
    "providerCustomer",
    "events",
    "history",
    "backups",
];

/// What was erased of a wallet, and what was not.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErasedWallet {
    /// The wallet's identifier: `wal_…`
    wallet_id: String,
    /// Orders that this request took a buyer's address or metadata from; 0 where there were none left.
    orders: usize,
    /// Operators' notes that it deleted.
    deleted_notes: usize,
    /// What is kept: `ledger` (sums and credits), `meta` (callers' notes in it), `externalUserId`, `providerCustomer` (refunds
    /// need it), `events` (webhooks that were sent, and events for 30 days), `history` (superseded records on the disk, which
    /// nothing shows), `backups` (until they are deleted).
    retained: [&'static str; 7],
}

pub(super) async fn erase(call: AdminCall<Erase>) -> Result<Json<ErasedWallet>, Error> {
    let project = call.project()?;
    let wallet = call.path.wallet(&call.app, &project)?;
    let erased = call.run(project, Erase(wallet)).await?;
    Ok(Json(ErasedWallet {
        wallet_id: erased.wallet,
        orders: erased.orders,
        deleted_notes: erased.notes,
        retained: RETAINED,
    }))
}

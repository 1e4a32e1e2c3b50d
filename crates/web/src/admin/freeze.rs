//! Puts a wallet's credits out of reach, and back.

use api_types::FrozenWallet;
use axum::{Json, extract::State};
use edge::{Authorized, Support, body::Body};
use operations::audit::Proof;
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{Error, field::NoteText, view::frozen_wallet};

use super::path::Segments;
use crate::{admin::App, http::freeze::command};

/// Whether a wallet is to be frozen.
#[derive(Deserialize, ToSchema)]
struct FreezeWallet {
    /// True freezes the wallet, false lets it be used again.
    frozen: bool,
    /// Why. Refusals of the wallet show it.
    reason: Option<NoteText>,
}

/// Freeze or unfreeze a wallet
///
/// What would take credits of a frozen wallet is refused (`wallet_frozen`), and so is its checkout; reads, grants,
/// refunds and payments under way go on. Repeating a request changes nothing.
#[utoipa::path(
    post,
    path = "/projects/{projectId}/wallets/{walletRef}/freeze",
    operation_id = "freezeProjectWallet",
    tag = "Wallets",
    request_body = FreezeWallet,
    responses((status = 200, description = "The wallet as it is now.", body = FrozenWallet))
)]
pub(super) async fn freeze(
    caller: Authorized<Support>,
    State(app): State<App>,
    path: Segments,
    body: Body,
) -> Result<Json<FrozenWallet>, Error> {
    let FreezeWallet { frozen, reason } = body.parse()?;
    let command = command(frozen, reason)?;
    let project = app.catalog.project(path.project()?)?;
    let address = path.wallet_of(&app, &project)?;
    let refused = |error| Error::from_wallet(error, &project);
    let before = app.handle.read(&project.scope, &address).await;
    let before = before.map_err(refused)?;
    let verb = if frozen { "Freeze" } else { "Thaw" };
    let words = format!("{verb} {}", before.id);
    let wallet = before.key;
    let proof = Proof::Freeze { wallet, frozen };
    // A later try may find it changed by others: only the wallet itself tells what became of this one.
    let once = app.edge.clock.now().0.to_string();
    caller
        .announce_once(&app.edge, &words, Some(proof), &once)
        .await?;
    let view = app.handle.set_frozen(&project.scope, &address, command);
    let view = view.await.map_err(refused)?;
    let reason = view.frozen.as_ref().map(|freeze| freeze.reason.as_ref());
    let what = match reason {
        Some(Some(reason)) => format!("Froze {}: {}", view.id, reason.as_str()),
        Some(None) => format!("Froze {}", view.id),
        None => format!("Unfroze {}", view.id),
    };
    caller.did_if(before.frozen != view.frozen, what);
    Ok(Json(frozen_wallet(&view)))
}

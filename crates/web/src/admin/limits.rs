//! How much may be used of one wallet.

use actors::Address;
use api_types::Limits;
use axum::Json;
use domain::limit::LimitState;
use edge::{Read, body::Body};
use operator::SetWalletLimits;
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{Error, field::Object, view::limit_state};

use super::call::AdminCall;
use crate::http::limits::{LimitFields, limits};

/// The limits of one wallet.
#[derive(Deserialize, ToSchema)]
pub(super) struct WalletLimits {
    /// All of the wallet's own limits, in place of those that it had.
    #[schema(value_type = Vec<LimitFields>, max_items = 50)]
    limits: Vec<Object<LimitFields>>,
}

pub(super) async fn put(
    call: AdminCall<SetWalletLimits>,
    body: Body,
) -> Result<Json<Limits>, Error> {
    let body: WalletLimits = body.parse()?;
    let project = call.project()?;
    let action = SetWalletLimits {
        limits: limits(body.limits, &project)?,
        wallet: call.path.wallet(&call.app, &project)?,
    };
    Ok(shown(&call.run(project, action).await?))
}

pub(super) async fn read(call: AdminCall<Read>) -> Result<Json<Limits>, Error> {
    let project = call.project()?;
    let address = Address::Stored(call.path.wallet(&call.app, &project)?);
    let states = call.app.handle.limits(&project.scope, &address, None).await;
    let states = states.map_err(|error| Error::from_wallet(error, &project))?;
    Ok(shown(&states))
}

fn shown(states: &[LimitState]) -> Json<Limits> {
    Json(Limits {
        limits: states.iter().map(limit_state).collect(),
    })
}

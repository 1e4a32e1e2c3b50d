//! `GET /wallets/{code}/portal` and `POST /wallets/external/portal`: the provider's pages on which
//! customers see bills, change cards, switch tiers and cancel.

use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::catalog::KeyKind;
use edge::{
    body::Body,
    caller::{AnyKey, MayPortal, SecretKey},
};
use payments;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{SubscriptionName, Text, UserText},
    respond,
};

use crate::{
    api::App,
    http::{
        code_path::CodePath,
        query::Params,
        redirect::UrlText,
        subject::{NamedWallet, users_wallet},
    },
};

/// Where a portal leads back to.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct OpenPortal {
    /// The address that the portal leads back to.
    #[param(inline)]
    return_url: UrlText,
    /// The subscription whose customer's portal it is, by the `id` that the wallet shows; the current one without.
    #[param(inline)]
    subscription_id: Option<SubscriptionName>,
}

/// Where a portal leads back to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenPortalExternal {
    /// The address that the portal leads back to.
    return_url: UrlText,
    /// The user, unless it is the session's own.
    external_user_id: Option<UserText>,
    /// The subscription whose customer's portal it is, by the `id` that the wallet shows; the current one without.
    subscription_id: Option<SubscriptionName>,
}

/// A portal for one customer.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Portal {
    /// Where to send the customer, soon: the address works for a short time.
    url: String,
}

pub(super) async fn open_portal(
    State(app): State<App>,
    key: AnyKey<MayPortal>,
    code: CodePath,
    Params(wanted): Params<OpenPortal>,
) -> Result<Response, Error> {
    answer(&app, &key, key.kind(), &code.into(), wanted).await
}

pub(super) async fn open_external_portal(
    State(app): State<App>,
    key: SecretKey<MayPortal>,
    body: Body,
) -> Result<Response, Error> {
    let OpenPortalExternal {
        return_url,
        external_user_id,
        subscription_id,
    } = body.parse()?;
    let address = users_wallet(external_user_id, key.session())?;
    let wanted = OpenPortal {
        return_url,
        subscription_id,
    };
    answer(&app, &key, key.kind(), &address.into(), wanted).await
}

async fn answer(
    app: &App,
    project: &ProjectCatalog,
    kind: KeyKind,
    wallet: &NamedWallet,
    OpenPortal {
        return_url,
        subscription_id,
    }: OpenPortal,
) -> Result<Response, Error> {
    let Text(typed) = return_url;
    let target = typed.allowed("returnUrl", kind, &project.project.allowed_origins)?;
    let target = Some(target.into_string());
    let address = wallet.address()?;
    let unknown = || Error::new(ErrorCode::SubscriptionNotFound);
    let of = subscription_id.map(|Text(named)| named.0.ok_or_else(unknown));
    let of = of.transpose()?;
    let opened = app.payments.open_portal(project, address, of, target);
    let url = opened.await.map_err(|error| match error {
        payments::Error::Wallet(error) => wallet.refused(error, project),
        other => Error::from_payments(other, project),
    })?;
    respond::json(&Portal { url })
}

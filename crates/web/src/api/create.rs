//! `POST /wallets`: a new anonymous wallet. `POST /wallets/external`: get or create a user's wallet.

use axum::{extract::State, response::Response};
use domain::{
    catalog::{KeyKind, Mode},
    id::ProjectId,
};
use edge::{
    body::Body,
    caller::{AnyKey, MayCreate, MayReadAll, SecretKey},
    context::Context,
};
use scrip_http::limits::{Client, Creation, Limits};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error, ErrorCode,
    field::{Text, UserText},
    respond,
    view::{self, CodeWallet, Holdings},
};

use crate::api::App;

pub(super) async fn create_wallet(
    State(app): State<App>,
    key: AnyKey<MayCreate>,
    context: Context,
) -> Result<Response, Error> {
    key.require_not_archived()?;
    if key.project.mode == Mode::ExternalUsers {
        return Err(Error::new(ErrorCode::AnonymousWalletsDisabled));
    }
    let counted = CountedWallet::new(&app, &key, &context, Creation::Free)?;
    match app.handle.create_code(&key.scope).await {
        // A new wallet is shown empty, as specified; a free grant shows at the next read.
        Ok((code, _)) => respond::json(&CodeWallet {
            code: code.reveal().to_owned(),
            holdings: Holdings::default(),
        }),
        Err(error) => {
            if let Some(counted) = counted {
                counted.not_made();
            }
            Err(Error::from_wallet(error, &key))
        }
    }
}

/// A wallet that a caller with a publishable key makes: it counts towards the limits.
pub(super) struct CountedWallet<'a> {
    limits: &'a Limits,
    project: ProjectId,
    made: (Client, Creation),
}

impl<'a> CountedWallet<'a> {
    /// Counts one; `None` for a caller with a secret key.
    pub(super) fn new<P>(
        app: &'a App,
        key: &AnyKey<P>,
        context: &Context,
        how: Creation,
    ) -> Result<Option<Self>, Error> {
        if key.kind() == KeyKind::Secret {
            return Ok(None);
        }
        let (limits, made) = (&*app.edge.limits, (context.client, how));
        let allowed = limits.create_wallet(&key.project, made, context.now);
        allowed.map_err(|refusal| Error::limited(ErrorCode::WalletCreationLimit, refusal))?;
        Ok(Some(Self {
            limits,
            project: key.project.id,
            made,
        }))
    }

    /// None was made, so it does not count.
    pub(super) fn not_made(self) {
        self.limits.wallet_not_created(self.project, self.made);
    }
}

/// The user whose wallet to get or create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenExternalWallet {
    external_user_id: UserText,
}

pub(super) async fn open_external_wallet(
    State(app): State<App>,
    key: SecretKey<MayReadAll>,
    body: Body,
) -> Result<Response, Error> {
    let OpenExternalWallet {
        external_user_id: Text(user),
    } = body.parse()?;
    let view = app.handle.open_external(&key.scope, user.clone()).await;
    let view = view.map_err(|error| Error::from_wallet(error, &key))?;
    respond::json(&view::external_wallet(
        &view,
        user.as_str(),
        &key,
        key.kind(),
    ))
}

//! `GET /wallets/{code}/ledger` and `GET /wallets/external/ledger`: a wallet's changes, newest
//! first.

use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use edge::caller::{AnyKey, MayRead, SecretKey};
use wire::Error;

use super::read::UserQuery;
use crate::{
    api::App,
    http::{
        code_path::CodePath,
        ledger::{self, PageQuery},
        query::{Both, Params},
        subject::{NamedWallet, users_wallet},
    },
};

pub(super) async fn read_ledger(
    State(app): State<App>,
    key: AnyKey<MayRead>,
    code: CodePath,
    Params(part): Params<PageQuery>,
) -> Result<Response, Error> {
    answer(&app, &key, &code.into(), &part).await
}

pub(super) async fn read_external_ledger(
    State(app): State<App>,
    key: SecretKey<MayRead>,
    Params(Both(user, part)): Params<Both<UserQuery, PageQuery>>,
) -> Result<Response, Error> {
    let UserQuery { external_user_id } = user;
    let address = users_wallet(external_user_id, key.session())?;
    answer(&app, &key, &address.into(), &part).await
}

async fn answer(
    app: &App,
    project: &ProjectCatalog,
    wallet: &NamedWallet,
    part: &PageQuery,
) -> Result<Response, Error> {
    let query = part.query(project)?;
    let page = app
        .handle
        .ledger(&project.scope, wallet.address()?, query)
        .await;
    let page = page.map_err(|error| wallet.refused(error, project))?;
    ledger::answer(&page, project)
}

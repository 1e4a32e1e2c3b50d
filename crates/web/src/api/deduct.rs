//! `POST /wallets/{code}/deduct` and `POST /wallets/external/deduct`: using credits up.

use actors::{Address, BatchAnswer, CommandResult, Scope};
use api_types::Deducted;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{
    text::IdempotencyKey,
    wallet::{ProductRef, deduct::Deduct, shortfall::OnShortfall},
};
use edge::{AnyKey, SecretKey, body::Body};
use serde::Deserialize;
use utoipa::ToSchema;
use wire::{
    Error,
    field::{
        CodeText, KeyText, MetaObject, OnShortfallText, Positive, ProductName, Text, UserText,
    },
    respond, view,
};

use crate::{
    api::{
        App,
        batch::{BatchItem, Checked, named},
    },
    http::{
        code_path::CodePath,
        idempotency::KeyHeader,
        subject::{NamedWallet, Unknown, WalletChoice, product, product_or_only},
    },
};

/// Credits to use up.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Deduct, bound = "")]
pub(super) struct Deduction<P = Option<ProductName>, U = Unknown, C = Unknown> {
    amount: Positive,
    /// Names the operation: it is applied once. The header `Idempotency-Key` may stand in for it,
    /// except in a batch.
    #[schema(value_type = KeyText, required)]
    idempotency_key: Option<KeyText>,
    /// The product whose credits to use; may be left out where the project has exactly one product
    /// that holds credits.
    #[schema(value_type = Option<ProductName>)]
    product_id: P,
    /// A note for the ledger.
    meta: Option<MetaObject>,
    /// What to do where the balance does not cover the amount: `refuse` (when left out), `drain` takes what can be
    /// spent, `owe` makes a debt of the rest as far as that may be. A code wallet never owes.
    on_shortfall: Option<OnShortfallText>,
    #[schema(ignore)]
    #[serde(default)]
    external_user_id: U,
    #[schema(ignore)]
    #[serde(default)]
    code: C,
}

impl<P, U, C> Deduction<P, U, C> {
    /// The command for the wallet, and the user whose it is.
    fn command(self, key: IdempotencyKey, product: ProductRef) -> (Deduct, U) {
        let command = Deduct {
            key,
            product,
            amount: self.amount.0,
            meta: self.meta.map(|MetaObject(meta)| meta),
            on_shortfall: shortfall(self.on_shortfall.as_ref()),
        };
        (command, self.external_user_id)
    }
}

pub(super) async fn deduct(
    State(app): State<App>,
    key: AnyKey,
    code: CodePath,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    by_code(&app, &key, code, &header, &body).await
}

pub(super) async fn deduct_external(
    State(app): State<App>,
    key: SecretKey,
    header: KeyHeader,
    body: Body,
) -> Result<Response, Error> {
    by_user(&app, &key, &header, &body).await
}

/// A deduction by code, for the router and for the fast path.
pub(crate) async fn by_code(
    app: &App,
    key: &AnyKey,
    code: CodePath,
    header: &KeyHeader,
    body: &Body,
) -> Result<Response, Error> {
    let mut request: Deduction<ProductName> = body.parse()?;
    key.require_not_archived()?;
    let name = header.or(request.idempotency_key.take())?;
    let product = ProductRef::Named(product(&request.product_id, key)?);
    let names_shortfall = request.on_shortfall.is_some();
    let (command, _) = request.command(name, product);
    answer(app, key, &code.into(), command, names_shortfall).await
}

/// A deduction by user, for the router and for the fast path.
pub(crate) async fn by_user(
    app: &App,
    key: &SecretKey,
    header: &KeyHeader,
    body: &Body,
) -> Result<Response, Error> {
    let mut request: Deduction<Option<ProductName>, Option<UserText>> = body.parse()?;
    key.require_not_archived()?;
    let name = header.or(request.idempotency_key.take())?;
    let product = product_or_only(request.product_id.as_ref(), key)?;
    let names_shortfall = request.on_shortfall.is_some();
    let (command, user) = request.command(name, product);
    let Text(user) = user.ok_or_else(|| Error::missing("externalUserId"))?;
    answer(app, key, &user.into(), command, names_shortfall).await
}

async fn answer(
    app: &App,
    project: &ProjectCatalog,
    wallet: &NamedWallet,
    command: Deduct,
    names_shortfall: bool,
) -> Result<Response, Error> {
    let cost = command.amount.get();
    let outcome = app
        .handle
        .deduct(&project.scope, wallet.address()?, command)
        .await;
    app.edge.metrics.deducted(outcome.as_ref());
    let applied = outcome.map_err(|error| wallet.refused(error, project))?;
    respond::replayable(
        &view::deducted(&applied, cost, names_shortfall),
        applied.replayed,
    )
}

/// A deduction of a batch.
pub(super) type ListedDeduction =
    Deduction<Option<ProductName>, Option<UserText>, Option<CodeText>>;

impl BatchItem for ListedDeduction {
    const NAMES: (&str, &str) = ("Deduct", "Deduct");
    type Schema = WalletChoice<Self>;
    type Command = (Address, Deduct);
    /// What it costs, and whether it says what to do with a shortfall.
    type Note = (i64, bool);
    type Answer = CommandResult;
    type Done = Deducted;

    fn check(mut self, _: &App, project: &ProjectCatalog) -> Result<Checked<Self>, Error> {
        let names = (self.external_user_id.take(), self.code.take());
        let (wallet, key) = named(names, self.idempotency_key.take())?;
        let note = (self.amount.0.get(), self.on_shortfall.is_some());
        let product = product_or_only(self.product_id.as_ref(), project);
        Ok(product
            .and_then(|product| Ok(((wallet.into_address()?, self.command(key, product).0), note))))
    }

    async fn send(
        app: &App,
        scope: &Scope,
        items: Vec<Self::Command>,
    ) -> BatchAnswer<CommandResult> {
        app.handle.deduct_batch(scope, items).await
    }

    fn done(
        app: &App,
        outcome: Result<CommandResult, actors::Error>,
        (cost, names_shortfall): Self::Note,
    ) -> Result<Deducted, actors::Error> {
        app.edge.metrics.deducted(outcome.as_ref());
        outcome.map(|applied| view::deducted(&applied, cost, names_shortfall))
    }
}

/// What to do with a shortfall: refuse it, unless the request says otherwise.
pub(super) fn shortfall(choice: Option<&OnShortfallText>) -> OnShortfall {
    choice.map_or_else(OnShortfall::default, |Text(choice)| *choice)
}
